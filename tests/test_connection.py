"""Reaching a Label Studio: addresses, both kinds of token, errors of one line without secrets."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from accord import cli
from accord.annotate import connection
from accord.annotate.connection import connect
from accord.annotate.export import export_to_server
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.scoring.errors import ServiceError
from accord.study import Study

TOKEN = "0123456789abcdef0123456789abcdef01234567"
Answer = Callable[[str, str], tuple[int, str, bytes]]


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """A server at a loopback address; ``answer(method, path)`` gives status, type and body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(length)
            status, kind, body = answer(self.command, self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Set-Cookie", "sessionid=topsecretcookie; Path=/")
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_DELETE = do_PATCH = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def as_json(value: object) -> tuple[int, str, bytes]:
    return 200, "application/json", json.dumps(value).encode()


def failure(url: str, token: str = TOKEN) -> str:
    with pytest.raises(ServiceError) as error:
        connect(url, token).close()
    text = str(error.value)
    assert "\n" not in text and len(text) < 500
    assert token not in text and "topsecretcookie" not in text
    return text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda method, path: (200, "text/html", b"<html>Hello</html>"), "is no Label Studio"),
        (lambda method, path: (404, "text/plain", b"no"), "is no Label Studio"),
        (lambda method, path: as_json({"version": 3}), "is no Label Studio"),
        (lambda method, path: as_json([1]), "is no Label Studio"),
        (lambda method, path: as_json({"release": "x"}), "is no Label Studio"),
        (lambda method, path: (502, "text/html", b"<html>Bad gateway</html>"), "status 502"),
        (lambda method, path: as_json({"release": "1.15.9"}), "1.15.9, older than 1.16.0"),
        # It says its version, and knows nobody.
        (
            lambda method, path: (
                as_json({"release": "1.23.2"})
                if "version" in path
                else (404, "text/html", b"<html>" + b"x" * 170_000 + b"</html>")
            ),
            "is no Label Studio",
        ),
        (
            lambda method, path: (
                as_json({"release": "1.23.2"})
                if "version" in path
                else (200, "text/html", b"<html>a proxy's page</html>")
            ),
            "status 200, a web page",
        ),
        (
            lambda method, path: (
                as_json({"release": "1.23.2"})
                if "version" in path
                else (
                    500,
                    "text/html",
                    f"<html><title>Oops {TOKEN}</title>sessionid=topsecretcookie</html>".encode(),
                )
            ),
            "status 500, Oops …",
        ),
    ],
)
def test_what_is_no_usable_label_studio(answer: Answer, said: str) -> None:
    with answering(answer) as url:
        assert said in failure(url)


def test_a_server_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_HELLO", 0.3)

    def slow(method: str, path: str) -> tuple[int, str, bytes]:
        time.sleep(1.5)
        return as_json({"release": "1.23.2"})

    with answering(slow) as url:
        assert "no answer within 0.3 s" in failure(url)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:1", "can't be reached"),
        ("http://nobody:hunter2@127.0.0.1:1/sub?token=hunter2", "http://127.0.0.1:1/sub can't be"),
        ("127.0.0.1:1", "http://127.0.0.1:1 can't be reached"),
        ("ftp://host", "is no web address"),
        ("http://", "is no web address"),
        ("http://host:99999", "is no web address"),
        ("http://[::1", "is no web address"),
    ],
)
def test_addresses_that_lead_nowhere(url: str, said: str) -> None:
    text = failure(url)
    assert said in text and "hunter2" not in text


def test_no_server_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABEL_STUDIO_URL", raising=False)
    monkeypatch.setenv("ACCORD_LABEL_STUDIO_DATA", str(tmp_path / "none"))
    with pytest.raises(ServiceError, match="start one with: accord label-studio up"):
        connect()
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:1")
    monkeypatch.delenv("LABEL_STUDIO_API_KEY", raising=False)
    with pytest.raises(ServiceError, match="LABEL_STUDIO_API_KEY is not"):
        connect()


def test_a_token_that_is_none() -> None:
    assert "holds blanks" in failure("http://127.0.0.1:1", "Token with blanks")


# The real server


@pytest.mark.label_studio
def test_the_private_server_is_found_without_settings(
    label_studio: PrivateServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    # A proxy of the environment leads elsewhere; this machine is reached directly.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ACCORD_LABEL_STUDIO_DATA", str(label_studio.data))
    with connect() as connection:
        assert connection.version == "1.23.2"
        assert connection.email == label_studio.login().email
        assert label_studio.login().token not in repr(connection)


@contextmanager
def below_a_path(server: str, prefix: str) -> Iterator[str]:
    """The server behind a proxy at a path, as many institutions run it."""
    target = urlsplit(server)

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if not self.path.startswith(f"{prefix}/"):
                self.send_error(404)
                return
            upstream = http.client.HTTPConnection(str(target.hostname), int(target.port or 80))
            kept = {
                k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection")
            }
            upstream.request(self.command, self.path[len(prefix) :], body, kept)
            answer = upstream.getresponse()
            content = answer.read()
            upstream.close()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"] or "text/plain")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_DELETE = do_PATCH = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server_here = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=server_here.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server_here.server_address[1]}{prefix}"
    finally:
        server_here.shutdown()
        thread.join()
        server_here.server_close()


@pytest.fixture
def personal_token(label_studio: PrivateServer) -> Iterator[str]:
    """A personal access token; the server gives out one at a time."""
    url, headers = str(label_studio.status().url), {}
    headers["Authorization"] = f"Token {label_studio.login().token}"
    answer = httpx.post(f"{url}/api/token/", headers=headers, trust_env=False)
    token = answer.raise_for_status().json()["token"]
    yield token
    httpx.post(
        f"{url}/api/token/blacklist/", headers=headers, json={"refresh": token}, trust_env=False
    )


@pytest.mark.label_studio
def test_both_kinds_of_token_also_below_a_path(
    label_studio: PrivateServer, personal_token: str
) -> None:
    url = str(label_studio.status().url)
    for token in (label_studio.login().token, personal_token):
        with connect(f"{url}/", token) as connection:
            assert connection.url == url
        with below_a_path(url, "/tools/ls") as behind, connect(behind, token) as connection:
            assert connection.url == behind
            assert connection.client.projects.create(title="below a path").id


@pytest.mark.label_studio
def test_a_refused_token_says_which_kind(label_studio: PrivateServer, personal_token: str) -> None:
    url, own = str(label_studio.status().url), label_studio.login().token
    assert "refused the legacy token" in failure(url, TOKEN)
    assert "refused the personal access token" in failure(url, f"{personal_token[:-4]}AAAA")
    assert "is no Label Studio" in failure(f"{url}/elsewhere", own)


@pytest.mark.label_studio
def test_a_kind_that_is_switched_off_is_named(
    label_studio: PrivateServer, personal_token: str
) -> None:
    url, own = str(label_studio.status().url), label_studio.login().token

    def switch(headers: dict[str, str], *, personal: bool, legacy: bool) -> None:
        httpx.post(
            f"{url}/api/jwt/settings",
            headers=headers,
            json={"api_tokens_enabled": personal, "legacy_api_tokens_enabled": legacy},
            trust_env=False,
        ).raise_for_status()

    refreshed = httpx.post(
        f"{url}/api/token/refresh/", json={"refresh": personal_token}, trust_env=False
    )
    short = {"Authorization": f"Bearer {refreshed.json()['access']}"}
    switch({"Authorization": f"Token {own}"}, personal=False, legacy=True)
    try:
        assert "personal access tokens are off there" in failure(url, personal_token)
        switch({"Authorization": f"Token {own}"}, personal=True, legacy=False)
        assert "legacy tokens are switched off there" in failure(url, own)
    finally:
        switch(short, personal=True, legacy=True)
    connect(url, own).close()


# A study meets servers that fail


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rows = "".join(f"q{n},Which {n}?,ref {n},pred {n}\n" for n in range(30))
    table = tmp_path / "pairs.csv"
    table.write_text(f"question_id,question,reference,predicted\n{rows}", encoding="utf-8")
    with Study.create(tmp_path / "study") as made:
        made.add_pairs(table)
        draw_sample(made, sample_id="s1")
    return tmp_path / "study"


@pytest.mark.label_studio
@pytest.mark.parametrize("command", [["export", "s1"], ["import", "--from", "label-studio"]])
@pytest.mark.parametrize("wrong", ["address", "token"])
def test_a_server_that_fails_leaves_the_study_as_it_was(
    study: Path,
    on_label_studio: PrivateServer,
    command: list[str],
    wrong: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if wrong == "address":
        monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:1")
    else:
        monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN)
    before = (study / "ledger.sqlite").read_bytes()
    name, *rest = command
    assert cli.main([name, str(study), *rest]) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1
    assert ("can't be reached" if wrong == "address" else "refused the legacy token") in error
    assert (study / "ledger.sqlite").read_bytes() == before


@pytest.mark.label_studio
def test_nothing_was_exported_yet(
    study: Path, on_label_studio: PrivateServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["import", str(study), "--from", "label-studio"]) == 2
    assert "has no project at" in capsys.readouterr().err


@pytest.mark.label_studio
def test_an_export_that_broke_off_is_completed(
    study: Path, on_label_studio: PrivateServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server takes a request and the answer is lost: nothing may arrive twice."""
    from accord.annotate import tasks

    monkeypatch.setattr(tasks, "BATCH_TASKS", 10)
    with Study.open(study) as opened, connect() as connection:
        take = connection.client.projects.import_tasks
        calls = []

        def failing(**arguments: Any) -> Any:
            calls.append(len(arguments["request"]))
            answer = take(**arguments)
            if len(calls) == 2:
                raise httpx.ReadError("the line went dead")
            return answer

        monkeypatch.setattr(connection.client.projects, "import_tasks", failing)
        with pytest.raises(ServiceError, match=r"not complete; run the same command again"):
            export_to_server(opened, "s1", connection)
        # The second batch had arrived, and is known to have.
        assert len(opened.ledger.exported("s1")) == 20
        report = export_to_server(opened, "s1", connection)
        assert (report.added, report.present, report.total) == (10, 20, 30)
        rows = opened.ledger.exported("s1")
        assert len(rows) == len({row.task_id for row in rows}) == 30
        assert {row.item_id for row in rows} == {item.item_id for item in opened.items()}
        # Tasks that somebody deleted on the server are added again, and only those.
        connection.client.tasks.delete(id=str(rows[0].task_id))
        report = export_to_server(opened, "s1", connection, per_item=3)
        assert (report.added, report.present, report.per_item) == (1, 29, 3)
        # A project that is gone is made anew, and that is said.
        connection.client.projects.delete(id=int(report.project_id or 0))
        report = export_to_server(opened, "s1", connection)
        assert (report.added, report.present) == (30, 0)
        assert report.notes == ("the project of an earlier export is gone; a new one was made",)
