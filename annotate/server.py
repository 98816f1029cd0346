"""A private Label Studio: one person's, on this machine only, talking to nobody outside.

SQLite, bound to 127.0.0.1, analytics, version check and error reports off. User, password and
token are minted at the first start of a data folder and kept there in ``login.json`` (mode 0600).
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import sqlite3
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..scoring.errors import ServiceError
from .environment import (
    VERSION,
    Progress,
    clean_environment,
    executable,
    locked,
    migrated_database,
    silent,
)
from .processes import free_port, identity, is_alive, port_is_taken, start_detached, stop

__all__ = ["DEFAULT_PORT", "Login", "PrivateServer", "ServerStatus", "default_data"]

DEFAULT_PORT = 8910
_EMAIL = "owner@accord.invalid"
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without those that are mistaken for one another
_DATABASE = "label_studio.sqlite3"
_TASK_LOCK_SECONDS = "7200"


def default_data() -> Path:
    """``ACCORD_LABEL_STUDIO_DATA``, else ``XDG_DATA_HOME/accord/label-studio``."""
    named = os.environ.get("ACCORD_LABEL_STUDIO_DATA")
    if named:
        return Path(named).expanduser().absolute()
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser().absolute() / "accord" / "label-studio"


@dataclass(frozen=True, slots=True, repr=False)
class Login:
    """What a person (e-mail, password) and a program (token) need. Its ``repr`` shows no secret."""

    email: str
    password: str
    token: str

    def __repr__(self) -> str:
        return f"Login(email={self.email!r})"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """Whether the server of a data folder runs, and where."""

    running: bool
    url: str | None
    pid: int | None
    port: int | None
    data: Path
    version: str
    started_at: str | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "running": self.running,
            "url": self.url,
            "pid": self.pid,
            "port": self.port,
            "data": str(self.data),
            "version": self.version,
            "started_at": self.started_at,
        }


class PrivateServer:
    """The Label Studio of one data folder.

    Parameters
    ----------
    data
        The folder; made with mode 0700 when it is not there. Default: :func:`default_data`.
    """

    def __init__(self, data: str | Path | None = None) -> None:
        self.data = Path(data).expanduser().absolute() if data else default_data()

    def up(
        self, port: int | None = None, *, progress: Progress = silent, patience: float = 300.0
    ) -> ServerStatus:
        """Start the server if it does not run, and return when it answers.

        Parameters
        ----------
        port
            Default: the one used last, else 8910. 0 takes any free one.
        patience
            Seconds to wait for its first answer.

        Raises
        ------
        ServiceError
            When the port is taken, the folder is somebody else's, or the server does not start.
        """
        self._claim_folder()
        with locked(self.data / "lock", progress, "waiting for another accord that is starting it"):
            now = self.status()
            if now.running:
                if port and port != now.port:
                    raise ServiceError(
                        f"this Label Studio runs at port {now.port} already",
                        cure="stop it first with: accord label-studio down",
                    )
                self._wait(now, self.login(), progress, patience)
                return now
            chosen = now.port or DEFAULT_PORT if port is None else port or free_port()
            if not 0 < chosen < 65536:
                raise ServiceError(f"{chosen} is no port", cure="name one from 1024 to 65535")
            if port_is_taken(chosen):
                raise ServiceError(
                    f"port {chosen} is taken by another program",
                    cure=f"choose another: accord label-studio up --port {free_port()}",
                )
            program = executable(progress)
            login = self._prepare(program, progress)
            return self._start(program, chosen, login, progress, patience)

    def down(self) -> bool:
        """Stop the server; say whether there was one to stop."""
        if not self.data.is_dir():
            return False
        with locked(self.data / "lock", silent, ""):
            state = self._state()
            if not self._runs(state):
                return False
            stop(state["pid"], state["identity"])
            self._remember({"port": state["port"]})
        return True

    def status(self) -> ServerStatus:
        """Whether the server runs, and where; reads two files and asks the system."""
        state = self._state()
        port = state.get("port")
        if not self._runs(state):
            return ServerStatus(False, None, None, port, self.data, VERSION, None)
        return ServerStatus(
            running=True,
            url=f"http://127.0.0.1:{port}",
            pid=state["pid"],
            port=port,
            data=self.data,
            version=VERSION,
            started_at=state.get("started_at"),
        )

    def login(self) -> Login:
        """E-mail, password and token of the owner.

        Raises
        ------
        ServiceError
            When the folder has none: no server was ever started there.
        """
        values = self._read("login.json")
        try:
            return Login(values["email"], values["password"], values["token"])
        except KeyError:
            raise ServiceError(
                f"{self.data} holds no private Label Studio",
                cure="start one with: accord label-studio up",
            ) from None

    # --- the folder

    def _claim_folder(self) -> None:
        """Make the folder, or make sure that it is ours: a foreign one is not touched."""
        try:
            if self.data.exists() and not (self.data / "login.json").exists():
                strangers = {entry.name for entry in self.data.iterdir()} - {"lock"}
                strangers -= {name for name in strangers if name.endswith(".part")}
                if strangers:
                    raise ServiceError(
                        f"{self.data} holds other files ({sorted(strangers)[0]})",
                        cure="name an empty folder, or one of an earlier up, with --data",
                    )
            self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.data.chmod(0o700)
        except OSError as error:
            raise ServiceError(
                f"{self.data} can't be used: {error.strerror}",
                cure="name another folder with --data",
            ) from None

    def _prepare(self, program: Path, progress: Progress) -> Login:
        """Login and database of the folder, made if need be.

        A first start that was interrupted may have left a database whose token was never set. It
        is made anew as long as the server never answered from it and it holds no project.
        """
        known = self._read("login.json")
        version = known.get("version", VERSION)
        if _number(version) > _number(VERSION):
            raise ServiceError(
                f"{self.data} belongs to Label Studio {version}, newer than {VERSION}",
                cure="update accord, or name another folder with --data",
            )
        database = self.data / _DATABASE
        if not known or not {"email", "password", "token"} <= set(known):
            known = {
                "email": _EMAIL,
                "password": "-".join(
                    "".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(4)
                ),
                "token": secrets.token_hex(20),
                "answered": False,
            }
        self._write("login.json", {**known, "version": VERSION})
        if not database.exists() or (not known.get("answered") and not _has_projects(database)):
            template = migrated_database(program, progress)
            for suffix in ("-wal", "-shm", "-journal"):
                database.with_name(_DATABASE + suffix).unlink(missing_ok=True)
            partial = database.with_name(f"{_DATABASE}.part")
            shutil.copyfile(template, partial)
            partial.chmod(0o600)
            os.replace(partial, database)
        return self.login()

    def _start(
        self, program: Path, port: int, login: Login, progress: Progress, patience: float
    ) -> ServerStatus:
        progress(f"starting Label Studio at http://127.0.0.1:{port} (a few seconds)")
        environment = clean_environment(program, self.data) | {
            "LABEL_STUDIO_USERNAME": login.email,
            "LABEL_STUDIO_PASSWORD": login.password,
            "LABEL_STUDIO_USER_TOKEN": login.token,
            "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
            "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
            # A task that somebody opened and left is offered to others after two hours, not a day.
            "LABEL_STUDIO_TASK_LOCK_TTL": _TASK_LOCK_SECONDS,
        }
        pid = start_detached(
            # It would listen on all addresses, and walk on when the port is taken.
            [program, "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)],
            environment=environment,
            folder=self.data,
            log=self.data / "server.log",
        )
        known_as = identity(pid)
        try:
            if known_as is None:
                raise self._died()
            self._remember(
                {
                    "pid": pid,
                    "identity": known_as,
                    "port": port,
                    "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
                }
            )
            now = self.status()
            self._wait(now, login, progress, patience)
        except BaseException:
            if known_as is not None:
                stop(pid, known_as)
            self._remember({"port": port})
            raise
        self._write("login.json", {**self._read("login.json"), "answered": True})
        return now

    def _wait(self, now: ServerStatus, login: Login, progress: Progress, patience: float) -> None:
        """Until the server answers, and answers to our token."""
        begun, said = time.monotonic(), 0.0
        while True:
            if not self.status().running:
                raise self._died()
            if _get(f"{now.url}/health").get("status") == "UP":
                break
            waited = time.monotonic() - begun
            if waited > patience:
                raise ServiceError(
                    f"Label Studio gave no answer within {patience:.0f} s",
                    cure=f"see {self.data / 'server.log'}, then run this again",
                )
            if waited - said > 10:
                said = waited
                progress(f"still starting ({waited:.0f} s)")
            time.sleep(0.1)
        who = _get(f"{now.url}/api/current-user/whoami", token=login.token)
        if who.get("email") != login.email:
            raise ServiceError(
                f"the server at {now.url} does not take this folder's token",
                cure=f"set it again in Label Studio, or start with another folder than {self.data}",
            )

    def _died(self) -> ServiceError:
        try:
            lines = (self.data / "server.log").read_text("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        said = next((line for line in reversed(lines) if line.strip()), "it said nothing")
        return ServiceError(
            f"Label Studio ended while it was starting: {said[:200]}",
            cure=f"see {self.data / 'server.log'}",
        )

    # --- small files

    def _runs(self, state: Mapping[str, Any]) -> bool:
        pid, known_as = state.get("pid"), state.get("identity")
        if not isinstance(pid, int) or not isinstance(known_as, str):
            return False
        return is_alive(pid, known_as, words="label-studio")

    def _state(self) -> dict[str, Any]:
        return self._read("server.json")

    def _remember(self, state: Mapping[str, Any]) -> None:
        self._write("server.json", state)

    def _read(self, name: str) -> dict[str, Any]:
        # A file that is cut off counts as none: its writer replaces it whole.
        with contextlib.suppress(OSError, ValueError):
            values = json.loads((self.data / name).read_text("utf-8"))
            if isinstance(values, dict):
                return values
        return {}

    def _write(self, name: str, values: Mapping[str, Any]) -> None:
        partial = self.data / f".{name}.{os.getpid()}.part"
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(dict(values), file, indent=1)
        os.replace(partial, self.data / name)


def _has_projects(database: Path) -> bool:
    try:
        with contextlib.closing(sqlite3.connect(database)) as connection:
            return bool(connection.execute("SELECT count(*) FROM project").fetchone()[0])
    except sqlite3.Error:
        return False


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in str(version).split(".") if part.isdigit())


def _get(url: str, *, token: str | None = None) -> dict[str, Any]:
    """The JSON object at a loopback address; empty when there is none (yet)."""
    request = urllib.request.Request(
        url, headers={"Authorization": f"Token {token}"} if token else {}
    )
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(request, timeout=10) as answer:
            values = json.load(answer)
    except (OSError, ValueError, urllib.error.HTTPError):
        return {}
    return values if isinstance(values, dict) else {}
