"""A proxy on loopback that does to one request what networks and servers do."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

__all__ = ["FAULTS", "SECRET_COOKIE", "Fault", "Proxy", "running"]

SECRET_COOKIE = "sessionid=s3cr3t-session"
_PAGE = (
    "<html><head><title>Not found</title></head><body>" + "x" * 170_000 + "</body></html>"
).encode()


@dataclass(frozen=True)
class Answer:
    """What goes back: status, headers, body."""

    status: int
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    body: bytes = b'{"detail": "no"}'


class Gone(Exception):
    """The connection is cut without an answer."""


Forward = Callable[[], Answer]
Fault = Callable[["Exchange", Forward], None]


@dataclass
class Exchange:
    """One request that a fault is done to."""

    handler: BaseHTTPRequestHandler
    patience: float

    def answer(self, answer: Answer, *, send: int | None = None, length: int | None = None) -> None:
        """Send an answer, or only the first bytes of its body; ``length`` is what is claimed."""
        body = answer.body if send is None else answer.body[:send]
        self.handler.send_response_only(answer.status)
        for name, value in answer.headers:
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.handler.send_header(name, value)
        self.handler.send_header("Set-Cookie", SECRET_COOKIE)
        self.handler.send_header("Content-Length", str(len(body) if length is None else length))
        self.handler.end_headers()
        self.handler.wfile.write(body)
        self.handler.wfile.flush()

    def reset(self) -> None:
        """Cut the connection with a reset."""
        sock = self.handler.connection
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
        raise Gone


def says(status: int, body: bytes = b'{"detail": "no"}', **headers: str) -> Fault:
    """An answer of the proxy's own; the server never sees the request."""
    kind = "text/html" if body.startswith(b"<") else "application/json"
    found = (("Content-Type", kind), *((n.replace("_", "-"), v) for n, v in headers.items()))

    def fault(exchange: Exchange, forward: Forward) -> None:
        exchange.answer(Answer(status, found, body))

    return fault


def after(status: int, body: bytes = b'{"detail": "too late"}') -> Fault:
    """The server does what it was asked, and the answer says that it failed."""

    def fault(exchange: Exchange, forward: Forward) -> None:
        forward()
        exchange.answer(Answer(status, body=body))

    return fault


def reset_before(exchange: Exchange, forward: Forward) -> None:
    exchange.reset()


def reset_after(exchange: Exchange, forward: Forward) -> None:
    forward()
    exchange.reset()


def reset_within(exchange: Exchange, forward: Forward) -> None:
    answer = forward()
    exchange.answer(answer, send=len(answer.body) // 2, length=len(answer.body))
    exchange.reset()


def closed_within(exchange: Exchange, forward: Forward) -> None:
    answer = forward()
    exchange.answer(answer, send=len(answer.body) // 2, length=len(answer.body))
    exchange.handler.connection.shutdown(socket.SHUT_RDWR)
    raise Gone


def cut_json(exchange: Exchange, forward: Forward) -> None:
    answer = forward()
    exchange.answer(answer, send=max(len(answer.body) * 2 // 3, 1))


def not_json(exchange: Exchange, forward: Forward) -> None:
    forward()
    exchange.answer(Answer(200, body=b"\xff\xfe{nothing"))


def nothing(exchange: Exchange, forward: Forward) -> None:
    forward()
    exchange.answer(Answer(200, body=b""))


def a_page(exchange: Exchange, forward: Forward) -> None:
    forward()
    exchange.answer(Answer(200, (("Content-Type", "text/html"),), b"<html>Please log in</html>"))


def another_shape(exchange: Exchange, forward: Forward) -> None:
    forward()
    exchange.answer(Answer(200, body=b"[[1, 2], null]"))


def silence(exchange: Exchange, forward: Forward) -> None:
    time.sleep(exchange.patience + 1)
    exchange.reset()


def silence_after(exchange: Exchange, forward: Forward) -> None:
    forward()
    time.sleep(exchange.patience + 1)
    exchange.reset()


def slowly(exchange: Exchange, forward: Forward) -> None:
    """In small pieces, but whole: no fault to the client."""
    answer = forward()
    exchange.answer(answer, send=0, length=len(answer.body))
    for start in range(0, len(answer.body), max(len(answer.body) // 5, 1)):
        time.sleep(0.05)
        exchange.handler.wfile.write(answer.body[start : start + max(len(answer.body) // 5, 1)])
        exchange.handler.wfile.flush()


FAULTS: dict[str, Fault] = {
    "401": says(401),
    "401 legacy tokens off": says(
        401, b'{"detail": "legacy token authentication has been disabled for this organization"}'
    ),
    "403": says(403),
    "404 with a page": says(404, _PAGE),
    "409": says(409),
    "413": says(413, b"<html>Request Entity Too Large</html>"),
    "429": says(429),
    "429 retry after": says(429, Retry_After="3600"),
    "500 before": says(500, b"<html>Server Error</html>"),
    "500 after": after(500),
    "502": says(502, b"<html>Bad Gateway</html>"),
    "503 retry after": says(503, Retry_After="1"),
    "504 after": after(504, b"<html>Gateway Time-out</html>"),
    "redirect to a login": says(302, b"", Location="/user/login/"),
    "reset before": reset_before,
    "reset after": reset_after,
    "reset within the body": reset_within,
    "closed within the body": closed_within,
    "cut JSON": cut_json,
    "no JSON": not_json,
    "an empty answer": nothing,
    "a page instead of JSON": a_page,
    "JSON of another shape": another_shape,
    "silence": silence,
    "silence after": silence_after,
    "slow body": slowly,
}
"""Name → what happens to one request."""


@dataclass
class Proxy:
    """A running proxy.

    Attributes
    ----------
    url
        Its address.
    seen
        ``METHOD path`` of every request, in order.
    hits
        How many requests a fault was done to.
    """

    url: str
    seen: list[str] = field(default_factory=list)
    hits: int = 0
    patience: float = 5.0
    _method: str = ""
    _path: str = "$^"
    _fault: Fault | None = None
    _left: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def arm(self, method: str, path: str, fault: Fault, *, times: int = 1) -> None:
        """Do this to the next requests whose method is this and whose path holds the pattern."""
        self._method, self._path, self._fault, self._left = method, path, fault, times
        self.hits = 0

    def disarm(self) -> None:
        """No more faults."""
        self._fault, self._left = None, 0

    def take(self, method: str, path: str) -> Fault | None:
        """The fault for this request, if it is its turn."""
        with self._lock:
            self.seen.append(f"{method} {path}")
            if self._fault is None or self._left < 1 or method != self._method:
                return None
            if not re.search(self._path, path):
                return None
            self._left -= 1
            self.hits += 1
            return self._fault


@contextlib.contextmanager
def running(upstream: str) -> Iterator[Proxy]:
    """A proxy in front of a server, until the block ends."""
    target = urlsplit(upstream)
    proxy = Proxy("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def _any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)

            def forward() -> Answer:
                connection = http.client.HTTPConnection(
                    str(target.hostname), target.port, timeout=120
                )
                headers = {
                    name: value
                    for name, value in self.headers.items()
                    if name.lower() not in ("connection", "accept-encoding")
                }
                try:
                    connection.request(self.command, self.path, body=body or None, headers=headers)
                    found = connection.getresponse()
                    return Answer(found.status, tuple(found.getheaders()), found.read())
                finally:
                    connection.close()

            exchange = Exchange(self, proxy.patience)
            fault = proxy.take(self.command, self.path)
            try:
                if fault is None:
                    exchange.answer(forward())
                else:
                    fault(exchange, forward)
            except (Gone, ConnectionError):
                self.close_connection = True

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _any  # noqa: N815 (http.server's names)

        def finish(self) -> None:
            with contextlib.suppress(OSError, ValueError):
                super().finish()

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            pass

        def shutdown_request(self, request: object) -> None:
            with contextlib.suppress(OSError):
                super().shutdown_request(request)  # type: ignore[arg-type]

    server = Server(("127.0.0.1", 0), Handler)
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)
