"""What ``accord doctor`` learns of a model judge's endpoint, without putting a question."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from accord.scoring.openai_check import EndpointCheck, check_endpoint
from accord.scoring.openai_settings import OpenAISettings

KEY = "sk-test-0123456789abcdef"
LISTED = json.dumps({"object": "list", "data": [{"id": "other"}, {"id": "m"}]}).encode()


class Stub(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer: tuple[int, bytes] = (200, LISTED)
        self.seconds = 0.0
        self.seen: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # clients go away in these tests


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        stub = self.server
        assert isinstance(stub, Stub)
        stub.seen.append((self.path, self.headers.get("Authorization")))
        time.sleep(stub.seconds)
        status, body = stub.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # not for this machine
    server = Stub()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def check(endpoint: str, **options: Any) -> EndpointCheck:
    table = {"type": "openai", "endpoint": endpoint, "model": "m"}
    return check_endpoint(OpenAISettings.from_table("gpt", table), **options)


def test_the_model_is_listed_and_the_key_was_sent(stub: Stub) -> None:
    assert check(stub.url) == EndpointCheck("ok", f"{stub.url} answers and has the model m")
    assert stub.seen == [("/v1/models", f"Bearer {KEY}")]


@pytest.mark.parametrize(
    ("status", "body", "found", "says"),
    [
        (401, b"bad key " + KEY.encode(), "bad", "refuses the key in OPENAI_API_KEY (HTTP 401)"),
        (403, b"{}", "bad", "refuses the key"),
        (500, b"", "bad", "answers with HTTP 500"),
        (429, b"", "bad", "answers with HTTP 429"),
        (404, b"not here", "note", "no list of models (HTTP 404): model and key are not checked"),
        (302, b"", "note", "no list of models (HTTP 302)"),
        (200, b"<html>", "note", "no list of models (HTTP 200)"),
        (200, b"[" * 100_000, "note", "no list of models"),
        (200, b'{"data": [{"id": 3}, 4]}', "note", "does not list the model m among its 1"),
    ],
)
def test_what_the_endpoint_says(
    stub: Stub, status: int, body: bytes, found: str, says: str
) -> None:
    stub.answer = (status, body)
    out = check(stub.url)
    assert out.status == found and says in out.detail and out.cure
    assert KEY not in f"{out.detail} {out.cure}"


def test_one_that_does_not_answer_is_not_waited_for(stub: Stub) -> None:
    stub.seconds = 3.0
    out = check(stub.url, timeout=0.3)
    assert out.status == "bad" and "does not answer within 0.3 s" in out.detail


def test_nobody_there_and_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    out = check("http://127.0.0.1:9/v1")
    assert out.status == "bad" and "can't be reached" in out.detail
    out = check("https://api.openai.com/v1")  # needs a key, so nothing is sent without one
    assert out.status == "bad" and "OPENAI_API_KEY" in out.detail and "is not set" in out.detail


def test_user_and_password_of_the_base_url(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", stub.url.replace("://", "://me:geheim@"))
    settings = OpenAISettings.from_table("gpt", {"type": "openai", "model": "m"})
    out = check_endpoint(settings)
    assert out.status == "ok" and "geheim" not in out.detail
    assert stub.seen[0][1] == "Basic bWU6Z2VoZWlt"  # me:geheim
