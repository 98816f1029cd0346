"""Where the private Label Studio is installed, and the empty database that new ones start from.

Label Studio pins its own SDK and more than a hundred packages, so it never shares accord's
environment: it lives in the user's cache. Both things here are made once, under a lock, and count
as made only when they are complete; an interrupted run is cleared away by the next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

from ..scoring.errors import ServiceError
from ..templates import server as server_files

__all__ = [
    "Progress",
    "VERSION",
    "cache_folder",
    "clean_environment",
    "executable",
    "locked",
    "migrated_database",
    "silent",
]

VERSION = "1.23.2"
"""The release of Label Studio that accord installs and is tested with."""

Progress = Callable[[str], None]
"""Takes one line that says what is happening."""

_DEAD_PROXY = "http://127.0.0.1:9"


def silent(line: str) -> None:
    """A :data:`Progress` that shows nothing."""


def cache_folder() -> Path:
    """``XDG_CACHE_HOME/accord/label-studio-VERSION``."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "accord" / f"label-studio-{VERSION}"


@contextlib.contextmanager
def locked(path: Path, progress: Progress, waiting: str) -> Iterator[None]:
    """Hold the lock file at ``path``; a second process waits, after saying ``waiting``.

    The system frees the lock when its holder ends, however it ends. The file stays: removing it
    would let two holders in.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ServiceError(
            f"{path.parent} can't be written: {error.strerror}",
            cure="name another place with XDG_CACHE_HOME, XDG_DATA_HOME or --data",
        ) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(waiting)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def clean_environment(program: Path, data: Path) -> dict[str, str]:
    """The whole environment of a Label Studio process that talks to nobody outside.

    Nothing of the caller's is passed on: Label Studio also reads the unprefixed names HOST, PORT,
    DEBUG, CI, USERNAME and PASSWORD. The dead proxy stops the one call that has no switch (made
    when a browser opens a page) before it is even looked up.
    """
    return {
        "PATH": os.pathsep.join([str(program.parent), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": str(data),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "LABEL_STUDIO_COLLECT_ANALYTICS": "false",
        "LABEL_STUDIO_LATEST_VERSION_CHECK": "false",
        "LABEL_STUDIO_SENTRY_DSN": "",
        "LABEL_STUDIO_FRONTEND_SENTRY_DSN": "",
        "LABEL_STUDIO_FEATURE_FLAGS_OFFLINE": "true",
        "LABEL_STUDIO_LOG_LEVEL": "WARNING",
        "HTTPS_PROXY": _DEAD_PROXY,
        "HTTP_PROXY": _DEAD_PROXY,
        "NO_PROXY": "127.0.0.1,localhost,::1",
    }


def executable(progress: Progress = silent) -> Path:
    """The ``label-studio`` program of the right version, installed now if need be.

    ``ACCORD_LABEL_STUDIO_BIN`` may name one that is there already.

    Raises
    ------
    ServiceError
        When the named one is missing or of another version, or the installation fails.
    """
    given = os.environ.get("ACCORD_LABEL_STUDIO_BIN")
    if given:
        return _given_executable(given)
    folder = cache_folder()
    program = folder / "venv" / "bin" / "label-studio"
    if _complete(folder) and program.exists():
        return program
    waiting = "waiting for another accord that is installing Label Studio"
    with locked(folder / "lock", progress, waiting):
        if not (_complete(folder) and program.exists()):
            _install(folder, progress)
    return program


def _given_executable(given: str) -> Path:
    # Not resolved beyond links: the interpreter that runs the program stands beside it.
    program = Path(given).expanduser().resolve()
    cure = (
        f"name the label-studio program of an environment with label-studio {VERSION}, or unset it"
    )
    python = program.parent / "python"
    if not program.is_file() or not python.exists():
        raise ServiceError(f"ACCORD_LABEL_STUDIO_BIN names {given}, which is not there", cure=cure)
    try:
        found = subprocess.run(
            [
                python,
                "-I",
                "-c",
                "import importlib.metadata as m; print(m.version('label-studio'))",
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        found = ""
    if found != VERSION:
        raise ServiceError(
            f"ACCORD_LABEL_STUDIO_BIN is label-studio {found or 'of an unknown version'}, "
            f"not {VERSION}",
            cure=cure,
        )
    return program


def _complete(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / "installed.json").read_text())["label-studio"] == VERSION)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _install(folder: Path, progress: Progress) -> None:
    """Make the environment; ``installed.json`` is written last and only then it counts."""
    target = folder / "venv"
    (folder / "installed.json").unlink(missing_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    uv = _uv()
    how = "about half a minute" if uv else "two to five minutes"
    progress(f"installing Label Studio {VERSION} once in {folder} (about 800 MB, {how})")
    constraints = folder / "constraints.txt"
    constraints.write_text((files(server_files) / "constraints.txt").read_text("utf-8"), "utf-8")
    wanted = [f"label-studio=={VERSION}", "--constraint", str(constraints)]
    python = target / "bin" / "python"
    if uv:
        steps = [
            [uv, "venv", "--quiet", "--python", sys.executable, str(target)],
            [uv, "pip", "install", "--quiet", "--python", str(python), *wanted],
        ]
    else:
        steps = [
            [sys.executable, "-m", "venv", str(target)],
            [str(python), "-m", "pip", "install", "--quiet", "--no-input", *wanted],
        ]
    log = folder / "install.log"
    log.unlink(missing_ok=True)
    for step in steps:
        _run_step(step, log)
    (folder / "installed.json").write_text(json.dumps({"label-studio": VERSION}), "utf-8")
    progress(f"Label Studio {VERSION} is installed")


def _uv() -> str | None:
    """The uv program: on the PATH, or of a package uv in accord's own environment."""
    beside = Path(sys.executable).with_name("uv")
    return shutil.which("uv") or (str(beside) if os.access(beside, os.X_OK) else None)


def _run_step(step: list[str], log: Path) -> None:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX")
    }
    done = subprocess.run(
        step, env=kept, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return
    # An index address may hold a password.
    text = re.sub(r"://[^/\s@]+@", "://…@", f"{done.stdout}\n{done.stderr}")
    log.touch(mode=0o600)
    log.write_text(text, "utf-8")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if re.search(r"error|no module|not available", line, re.I)]
    said = (wrong or lines or ["nothing was said"])[-1]
    venv_missing = "ensurepip" in text
    raise ServiceError(
        f"Label Studio {VERSION} could not be installed: {said[:200]}",
        cure="install the package uv (or your system's python3-venv) and run this again"
        if venv_missing
        else f"see {log}; with the package index in reach run this again, or name an installed "
        "one with ACCORD_LABEL_STUDIO_BIN",
    )


def migrated_database(program: Path, progress: Progress = silent) -> Path:
    """An SQLite file with Label Studio's empty tables: no user, no token, no organisation.

    Label Studio needs half a minute to a minute and a half for its hundreds of migrations; a copy
    of this file makes a new server start in about three seconds. It holds nothing secret, so data
    folders share nothing: key, user and tokens are made at the first start of each copy.
    """
    folder = cache_folder()
    template = folder / "migrated.sqlite3"
    if _sound(template):
        return template
    waiting = "waiting for another accord that is preparing Label Studio's database"
    with locked(folder / "lock", progress, waiting):
        if not _sound(template):
            progress(
                "preparing Label Studio's database once (half a minute to a minute and a half)"
            )
            _migrate(program, template)
    return template


def _migrate(program: Path, template: Path) -> None:
    # SQLite waits for the disk after every one of the migrations; memory does not keep it waiting.
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="accord-migrate-", dir=place) as name:
        data = Path(name)
        # `version` migrates and stops: it is the one command that makes no user and no server.
        done = subprocess.run(
            [program, "version"],
            env=clean_environment(program, data),
            cwd=data,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        made = data / "label_studio.sqlite3"
        if done.returncode != 0 or not _sound(made):
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            said = lines[-1][:200] if lines else "no message"
            raise ServiceError(
                f"Label Studio's database could not be prepared: {said}",
                cure=f"remove {template.parent} and run this again",
            )
        partial = template.with_suffix(f".{os.getpid()}.part")
        try:
            shutil.copyfile(made, partial)
            os.replace(partial, template)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise ServiceError(
                f"{template.parent} can't be written: {error.strerror}",
                cure="free some space or name another place with XDG_CACHE_HOME",
            ) from None


def _sound(path: Path) -> bool:
    """Whether the file is a whole, migrated database without users."""
    if not path.is_file():
        return False
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        ) as connection:
            (check,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            (migrations,) = connection.execute("SELECT count(*) FROM django_migrations").fetchone()
            (users,) = connection.execute("SELECT count(*) FROM htx_user").fetchone()
    except sqlite3.Error:
        return False
    return bool(check == "ok" and migrations > 0 and users == 0)
