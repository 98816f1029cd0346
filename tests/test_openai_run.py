"""A run of questions to a model: nothing that was answered is lost, whatever ends the run.

The endpoint is replaced by a coroutine; the event loop, its thread and the signal are real.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from accord.scoring import openai_run
from accord.scoring.errors import ServiceError
from accord.scoring.openai_client import Answer, ChatClient
from accord.scoring.openai_errors import RequestFailed
from accord.scoring.openai_judge import OpenAIJudge
from accord.scoring.records import Item
from accord.scoring.replies import MemoryReplies, Reply
from accord.study.ledger import Ledger


class Recorder(MemoryReplies):
    """A store that remembers its transactions and the threads they came from."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []
        self.threads: set[threading.Thread] = set()

    def save(self, replies: Sequence[Reply]) -> None:
        super().save(replies)
        self.batches.append(len(replies))
        self.threads.add(threading.current_thread())

    @property
    def saved(self) -> int:
        return sum(self.batches)


class Model:
    """Stands in for the endpoint: ``script(n)`` is awaited for the n-th question, from 0."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = 0
        self.answered = 0
        self.script: Callable[[int], Awaitable[None]] = self.at_once

        async def ask(client: ChatClient, messages: Any, *, patient: bool = True) -> Answer:
            number, self.asked = self.asked, self.asked + 1
            await self.script(number)
            self.answered += 1
            return Answer(
                "CORRECT", "served", None, "stop", 100, 7, 0.1, "2026-01-01T00:00:00+00:00", ()
            )

        monkeypatch.setattr(ChatClient, "ask", ask)

    async def at_once(self, n: int) -> None:
        await asyncio.sleep(0)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    return Model(monkeypatch)


def make(store: MemoryReplies, progress: Any = None, **settings: Any) -> OpenAIJudge:
    table = {"type": "openai", "endpoint": "http://127.0.0.1:9/v1", "model": "m", **settings}
    return OpenAIJudge.from_table("gpt", table, replies=store, progress=progress)


def items(n: int) -> list[Item]:
    return [Item(f"i{k}", f"q{k}", "Where?", f"Paris {k}", f"paris {k}") for k in range(n)]


@pytest.mark.parametrize("hangs", [False, True], ids=["answered in time", "hanging"])
def test_ctrl_c_keeps_what_was_answered(
    model: Model, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    monkeypatch.setattr(openai_run, "_GRACE", 1.0)

    async def script(n: int) -> None:
        if n == 5:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60 if hangs else 0.3)

    model.script = script
    store = Recorder()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        make(store, in_flight=1).judge(items(50))
    assert time.monotonic() - started < 30  # the hanging answer takes 60 s
    # The sixth was paid for: it is kept if it comes within the time of grace.
    kept = 5 if hangs else 6
    assert store.saved == kept
    assert model.asked == 6, "nothing is asked after the interrupt"
    judge = make(store)
    assert {verdict.verdict for verdict in judge.judge(items(50))} == {"CORRECT"}
    assert judge.summary is not None
    assert (judge.summary.known, judge.summary.asked) == (kept, 50 - kept)


def test_a_second_ctrl_c_does_not_wait(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_run, "_GRACE", 60.0)

    async def script(n: int) -> None:
        if n == 5:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.5)
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)

    model.script = script
    store = Recorder()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        make(store, in_flight=1).judge(items(50))
    assert time.monotonic() - started < 30  # the time of grace and the answer take 60 s
    assert store.saved == 5


def test_batches_and_one_thread(model: Model) -> None:
    store = Recorder()
    make(store, in_flight=32).judge(items(950))
    assert store.saved == 950 and max(store.batches) <= 100
    assert len(store.batches) <= 13
    assert store.threads == {threading.current_thread()}


def test_a_reply_is_saved_within_about_a_second(model: Model) -> None:
    store = Recorder()
    saved: list[int] = []

    async def script(n: int) -> None:
        if n == 1:
            await asyncio.sleep(1.6)
            saved.append(store.saved)

    model.script = script
    make(store, in_flight=1).judge(items(2))
    assert saved == [1]


def test_a_store_that_fails_once_loses_nothing(model: Model) -> None:
    class Locked(Recorder):
        fails = 1

        def save(self, replies: Sequence[Reply]) -> None:
            if self.fails:
                self.fails -= 1
                raise OSError("database is locked")
            super().save(replies)

    async def script(n: int) -> None:
        await asyncio.sleep(0.02)

    model.script = script
    store = Locked()
    with pytest.raises(OSError, match="locked"):
        make(store, in_flight=2).judge(items(500))
    assert store.saved == model.answered < 500


def test_a_bug_surfaces_and_the_replies_are_kept(model: Model) -> None:
    async def script(n: int) -> None:
        if n == 7:
            raise ZeroDivisionError("a bug")

    model.script = script
    store = Recorder()
    with pytest.raises(ZeroDivisionError, match="a bug"):
        make(store, in_flight=2).judge(items(50))
    assert store.saved == model.answered >= 7


def test_when_the_endpoint_is_given_up_requests_under_way_are_waited_for(model: Model) -> None:
    async def script(n: int) -> None:
        if n == 10:
            raise ServiceError("the quota is used up", cure="add credit")
        await asyncio.sleep(0.3 if n > 5 else 0)

    model.script = script
    store = Recorder()
    with pytest.raises(ServiceError, match="quota is used up; add credit .*kept"):
        make(store, in_flight=8).judge(items(100))
    # 6 to 9 were under way when 10 failed; they were answered 0.3 s later, and 11 was never asked.
    assert (model.asked, model.answered, store.saved) == (11, 10, 10)


def test_requests_that_hang_are_not_waited_for_for_ever(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_run, "_LAST", 0.2)

    async def script(n: int) -> None:
        if n == 3:
            raise ServiceError("gone", cure="wait")
        await asyncio.sleep(60 if n > 3 else 0)

    model.script = script
    store = Recorder()
    started = time.monotonic()
    with pytest.raises(ServiceError, match="gone"):
        make(store, in_flight=8).judge(items(100))
    assert time.monotonic() - started < 30  # the hanging answers take 60 s
    assert store.saved == 3


def test_it_works_where_a_loop_is_running(model: Model) -> None:
    async def notebook() -> list[Any]:
        return list(make(MemoryReplies()).judge(items(2)))

    assert [v.verdict for v in asyncio.run(notebook())] == ["CORRECT", "CORRECT"]


def test_progress_and_summary(model: Model) -> None:
    async def script(n: int) -> None:
        if n == 2:
            raise RequestFailed("HTTP 400: bad")

    model.script = script
    calls: list[tuple[int, int, float, int, int]] = []
    judge = make(MemoryReplies(), lambda *call: calls.append(call), in_flight=1)
    verdicts = judge.judge(items(5))
    assert verdicts[2].reason == "no reply: HTTP 400: bad"
    done, total, rate, errors, tokens = calls[-1]
    assert (done, total, errors, tokens) == (5, 5, 1, 4 * 107)
    assert rate > 0
    summary = judge.summary
    assert summary is not None
    assert (summary.replies, summary.failed, summary.served) == (4, 1, {"served"})
    assert (summary.prompt_tokens, summary.completion_tokens) == (400, 28)


def test_the_progress_bar_draws_on_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    import io

    from accord.scoring.judge_progress import progress_bar

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, file = Terminal(), io.StringIO()
    for out in (terminal, file):
        with progress_bar("judge [red]gpt", file=out) as progress:
            progress(3, 10, 1.5, 2, 12345)
            progress(10, 10, 1.5, 2, 12345)
    drawn = terminal.getvalue()
    assert file.getvalue() == ""
    assert "judge [red]gpt" in drawn and "10/10" in drawn and "2 errors" in drawn
    assert capsys.readouterr() == ("", "")


def test_a_key_that_a_server_gives_back_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    import openai

    key, password, pair = "sk-test-0123456789", "s3cret-word-9", "amFuZTpzM2NyZXQtd29yZC05"
    said = f"{key} Basic {pair} {password}"

    async def post(client: Any, path: str, **request: Any) -> Any:
        message = {"role": "assistant", "content": f"{said}\nCORRECT"}
        choice = {"message": message, "finish_reason": "stop"}
        return {"choices": [choice], "model": f"m {said}", "system_fingerprint": said}

    monkeypatch.setattr(openai.AsyncOpenAI, "post", post)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://jane:{password}@127.0.0.1:9/v1")
    store = MemoryReplies()
    judge = OpenAIJudge.from_table("gpt", {"type": "openai", "model": "m"}, replies=store)
    assert [verdict.verdict for verdict in judge.judge(items(1))] == ["CORRECT"]
    (reply,) = store.find([judge.key(items(1)[0])]).values()
    assert reply.text == "[hidden] Basic [hidden] [hidden]\nCORRECT"
    assert reply.served_model == "m [hidden] Basic [hidden] [hidden]"
    assert reply.fingerprint == "[hidden] Basic [hidden] [hidden]"
    # Local servers are given EMPTY or any word: an answer with that word stays as it is.
    monkeypatch.setenv("OPENAI_API_KEY", "CORRECT")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    judge = OpenAIJudge.from_table("gpt", {"type": "openai", "model": "m"}, replies=store)
    assert [verdict.verdict for verdict in judge.judge(items(1))] == ["CORRECT"]


def test_odd_names_and_counts_of_an_endpoint_stop_no_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import openai

    async def post(client: Any, path: str, **request: Any) -> Any:
        return {
            "choices": [{"message": {"content": "CORRECT"}, "finish_reason": "\udc00"}],
            "model": "m\ud83d",
            "system_fingerprint": "\ud800",
            "usage": {"prompt_tokens": 2**70, "completion_tokens": -1},
        }

    monkeypatch.setattr(openai.AsyncOpenAI, "post", post)
    with closing(Ledger.create(tmp_path / "ledger.sqlite")) as store:
        table = {"type": "openai", "endpoint": "http://127.0.0.1:9/v1", "model": "m"}
        judge = OpenAIJudge.from_table("gpt", table, replies=store)
        assert [found.verdict for found in judge.judge(items(2))] == ["CORRECT", "CORRECT"]
        (reply,) = store.find([judge.key(items(1)[0])]).values()
    assert (reply.served_model, reply.fingerprint, reply.finish_reason) == ("m?", "?", "?")
    assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)
