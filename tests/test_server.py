"""The private Label Studio: started once, found again, never taken for another, never leaking."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accord import cli
from accord.annotate import environment
from accord.annotate.connection import connect
from accord.annotate.processes import free_port, identity
from accord.annotate.server import PrivateServer
from accord.scoring.errors import ServiceError


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PrivateServer]:
    server = PrivateServer(tmp_path / "data")
    yield server
    server.down()


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "accord.cli", "label-studio", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def listening(port: int) -> set[str]:
    """The local addresses (hexadecimal) at which something listens on a port."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
            address, number = line.split()[1].split(":")
            if int(number, 16) == port and line.split()[3] == "0A":
                found.add(address)
    return found


@pytest.mark.label_studio
def test_the_life_of_a_server(server: PrivateServer, tmp_path: Path) -> None:
    data = server.data
    port = free_port()
    # Two at once: one starts it, the other waits and finds it.
    command = [sys.executable, "-m", "accord.cli", "label-studio", "up", "--data", str(data)]
    both = [
        subprocess.Popen(
            [*command, "--port", str(port), "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    first, second = (json.loads(out) for out, _ in said)
    assert first == second and first["port"] == port and first["running"]
    assert listening(port) == {"0100007F"}, "not on the loopback address alone"

    # Secrets: in files of one's own, shown only when asked for.
    login = server.login()
    secrets = (login.password, login.token)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.iterdir()}
    assert all(mode & 0o077 == 0 for mode in modes.values()), modes
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    quiet = run("status", "--data", data)
    shown = run("status", "--data", data, "--show-login")
    assert quiet.returncode == shown.returncode == 0
    assert all(secret in shown.stdout for secret in secrets)
    texts = [*(text for pair in said for text in pair), quiet.stdout, repr(login)]
    texts.append((data / "server.log").read_text(encoding="utf-8"))
    assert not any(secret in text for secret in secrets for text in texts)
    # Nor in the command line, which everybody on the machine can read.
    words = Path(f"/proc/{first['pid']}/cmdline").read_bytes().decode()
    assert not any(secret in words for secret in secrets)

    other = run("up", "--data", data, "--port", free_port())
    assert other.returncode == 2 and "runs at port" in other.stderr

    with connect(first["url"], login.token) as connection:
        project = connection.client.projects.create(title="stays").id
    assert run("down", "--data", data).stdout == "Label Studio is stopped\n"
    assert run("down", "--data", data).stdout == "Label Studio was not running\n"
    assert run("status", "--data", data).returncode == 1
    assert identity(first["pid"]) is None and not listening(port)

    # Started again: same port, same secrets, same data.
    assert server.up().port == port and server.login() == login
    with connect(str(server.status().url), login.token) as connection:
        assert connection.client.projects.get(id=int(project or 0)).title == "stays"


@pytest.mark.label_studio
def test_an_interrupted_first_start_is_made_good(
    label_studio: PrivateServer, server: PrivateServer
) -> None:
    """The database has the user, but the token was never set: as if killed in between."""
    program = environment.executable()
    template = environment.migrated_database(program)
    server.data.mkdir(mode=0o700)
    database = server.data / "label_studio.sqlite3"
    database.write_bytes(template.read_bytes())
    login = {"email": "owner@accord.invalid", "password": "abcd-efgh-ijkl", "token": "a1" * 20}
    (server.data / "login.json").write_text(json.dumps({**login, "answered": False}))
    connection = sqlite3.connect(database)
    columns = connection.execute("PRAGMA table_info(htx_user)").fetchall()
    values = {
        name: 1 if kind in ("bool", "INTEGER") else "2026-11-30"
        for _, name, kind, required, _, _ in columns
        if required
    } | {"email": login["email"], "custom_hotkeys": "{}"}
    marks = ", ".join("?" for _ in values)
    connection.execute(
        f"INSERT INTO htx_user ({', '.join(values)}) VALUES ({marks})", list(values.values())
    )
    connection.commit()
    connection.close()
    status = server.up(0)
    with connect(str(status.url), server.login().token) as found:
        assert found.email == "owner@accord.invalid"
    assert server.login().token == login["token"]


def test_a_busy_port_is_refused_and_nothing_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        data = tmp_path / "data"
        assert cli.main(["label-studio", "up", "--data", str(data), "--port", str(port)]) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1
    assert f"port {port} is taken by another program" in error
    assert "accord label-studio up --port" in error
    assert sorted(path.name for path in data.iterdir()) == ["lock"]


@pytest.mark.parametrize("port", [-1, 65536, 1_000_000])
def test_a_port_that_is_none(tmp_path: Path, port: int) -> None:
    with pytest.raises(ServiceError, match="is no port"):
        PrivateServer(tmp_path / "data").up(port)


def test_a_foreign_folder_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ServiceError, match=r"holds other files \(thesis.txt\)"):
        PrivateServer(tmp_path).up(0)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("known_as", [None, "", "another boot 1"])
def test_another_process_with_the_number_is_not_ours(
    server: PrivateServer, known_as: str | None
) -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        server.data.mkdir()
        state = {"pid": sleeper.pid, "identity": known_as, "port": 8910}
        (server.data / "server.json").write_text(json.dumps(state), encoding="utf-8")
        assert not server.status().running
        assert server.down() is False
        # The very process, but it is no Label Studio.
        state["identity"] = identity(sleeper.pid)
        (server.data / "server.json").write_text(json.dumps(state), encoding="utf-8")
        assert not server.status().running and server.down() is False
        assert sleeper.poll() is None, "somebody else's process was stopped"
    finally:
        sleeper.kill()
        sleeper.wait()


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"pid": "x"}', '{"pid": 1}'])
def test_a_damaged_state_file_means_not_running(server: PrivateServer, content: str) -> None:
    server.data.mkdir()
    (server.data / "server.json").write_text(content, encoding="utf-8")
    assert not server.status().running


def test_a_newer_folder_is_not_opened(server: PrivateServer) -> None:
    server.data.mkdir()
    login = {"email": "a@b", "password": "p", "token": "t", "version": "99.0", "answered": True}
    (server.data / "login.json").write_text(json.dumps(login), encoding="utf-8")
    if "ACCORD_LABEL_STUDIO_BIN" not in os.environ and not environment.cache_folder().exists():
        pytest.skip("would install Label Studio first")
    with pytest.raises(ServiceError, match="belongs to Label Studio 99.0"):
        server.up(0)


def test_the_login_of_a_folder_without_server(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="holds no private Label Studio; start one with"):
        PrivateServer(tmp_path).login()


def test_nothing_of_the_caller_s_environment_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Label Studio reads these names without any prefix.
    for name in ("HOST", "PORT", "DEBUG", "CI", "USERNAME", "PASSWORD", "SENTRY_DSN", "SECRET"):
        monkeypatch.setenv(name, "from-outside")
    clean = environment.clean_environment(tmp_path / "bin" / "label-studio", tmp_path)
    assert "from-outside" not in clean.values()
    assert clean["LABEL_STUDIO_COLLECT_ANALYTICS"] == "false"
    assert clean["LABEL_STUDIO_LATEST_VERSION_CHECK"] == "false"
    assert clean["LABEL_STUDIO_SENTRY_DSN"] == clean["LABEL_STUDIO_FRONTEND_SENTRY_DSN"] == ""


# The environment in the cache, with stand-ins for the installer and the program

FAKE_PROGRAM = """#!{python}
import os, sqlite3, sys
path = os.path.join(os.environ["LABEL_STUDIO_BASE_DATA_DIR"], "label_studio.sqlite3")
connection = sqlite3.connect(path)
connection.execute("CREATE TABLE htx_user (id INTEGER)")
connection.execute("CREATE TABLE django_migrations (id INTEGER)")
connection.execute("INSERT INTO django_migrations VALUES (1)")
connection.commit()
connection.close()
"""
FAKE_UV = """#!/bin/sh
echo "$@" >> "$CALLS"
if [ "$1" = venv ]; then
  for last; do :; done
  mkdir -p "$last/bin"; cp "$PROGRAM" "$last/bin/label-studio"; chmod +x "$last/bin/label-studio"
elif [ -n "$FAIL" ]; then
  echo "error: could not reach https://me:hunter2@index.example/simple" >&2; exit 1
fi
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    tools = tmp_path / "tools"
    tools.mkdir()
    program = tmp_path / "program.py"
    program.write_text(FAKE_PROGRAM.format(python=sys.executable), encoding="utf-8")
    (tools / "uv").write_text(FAKE_UV, encoding="utf-8")
    (tools / "uv").chmod(0o755)
    calls = tmp_path / "calls.txt"
    calls.touch()
    monkeypatch.delenv("ACCORD_LABEL_STUDIO_BIN", raising=False)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CALLS", str(calls))
    monkeypatch.setenv("PROGRAM", str(program))
    yield {"calls": calls, "monkeypatch": monkeypatch}


def test_the_environment_is_made_once(fake: dict[str, Any]) -> None:
    said: list[str] = []
    program = environment.executable(said.append)
    assert program.is_file() and "installing Label Studio 1.23.2 once" in said[0]
    calls = fake["calls"].read_text(encoding="utf-8").splitlines()
    assert len(calls) == 2 and "label-studio==1.23.2 --constraint" in calls[1]
    constraints = environment.cache_folder() / "constraints.txt"
    assert "label-studio==1.23.2" in constraints.read_text(encoding="utf-8")
    assert environment.executable(said.append) == program
    assert len(fake["calls"].read_text(encoding="utf-8").splitlines()) == 2


def test_a_half_made_environment_is_made_anew(fake: dict[str, Any]) -> None:
    half = environment.cache_folder() / "venv"
    (half / "bin").mkdir(parents=True)
    (half / "bin" / "label-studio").write_text("half", encoding="utf-8")
    (half / "stale").touch()
    program = environment.executable()
    assert "sqlite3" in program.read_text(encoding="utf-8")
    assert not (half / "stale").exists()


def test_a_failed_installation_is_one_line_without_secrets(fake: dict[str, Any]) -> None:
    fake["monkeypatch"].setenv("FAIL", "1")
    with pytest.raises(ServiceError) as error:
        environment.executable()
    text = str(error.value)
    assert "could not be installed: error: could not reach https://…@index.example" in text
    log = environment.cache_folder() / "install.log"
    assert "hunter2" not in text + log.read_text(encoding="utf-8")
    assert not (environment.cache_folder() / "installed.json").exists()
    # The next try starts over, and succeeds.
    fake["monkeypatch"].delenv("FAIL")
    assert environment.executable().is_file()


def test_the_empty_database_is_made_once_and_again_when_damaged(fake: dict[str, Any]) -> None:
    program = environment.executable()
    said: list[str] = []
    template = environment.migrated_database(program, said.append)
    assert len(said) == 1 and "preparing Label Studio's database" in said[0]
    assert environment.migrated_database(program, said.append) == template and len(said) == 1
    template.write_bytes(template.read_bytes()[:2_000])
    environment.migrated_database(program, said.append)
    assert len(said) == 2 and template.stat().st_size > 2_000
    # One that holds a user was not made here: it would give everybody the same token.
    connection = sqlite3.connect(template)
    connection.execute("INSERT INTO htx_user VALUES (1)")
    connection.commit()
    connection.close()
    environment.migrated_database(program, said.append)
    assert len(said) == 3
    assert not list(environment.cache_folder().glob("*.part"))


@pytest.mark.parametrize("missing", [True, False])
def test_a_named_program_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: bool
) -> None:
    program = tmp_path / "label-studio"
    if not missing:
        program.touch()
        # The interpreter of these tests has no label-studio installed.
        (tmp_path / "python").symlink_to(sys.executable)
    monkeypatch.setenv("ACCORD_LABEL_STUDIO_BIN", str(program))
    said = "which is not there" if missing else "of an unknown version, not 1.23.2"
    with pytest.raises(ServiceError, match=said):
        environment.executable()
