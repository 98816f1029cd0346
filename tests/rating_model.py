"""A chat endpoint on loopback that answers what a function of the request says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], str]


class RatingModel(ThreadingHTTPServer):
    """The endpoint; ``bodies`` are the requests so far."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.bodies: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        model = self.server
        assert isinstance(model, RatingModel)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model.bodies.append(body)
        message = {"role": "assistant", "content": model.answer(body)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        content = {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "served",
            "choices": [choice],
            "usage": usage,
        }
        self._send(content)

    def do_GET(self) -> None:
        model = {"id": "m", "object": "model", "created": 1, "owned_by": "somebody"}
        self._send({"object": "list", "data": [model]})

    def _send(self, content: dict[str, Any]) -> None:
        data = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def rating_model(answer: Answer) -> Iterator[RatingModel]:
    """Serve it for as long as the block runs."""
    server = RatingModel(answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def shown(body: dict[str, Any]) -> str:
    """The user's message of a request."""
    return str(body["messages"][1]["content"])
