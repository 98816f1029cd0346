"""A run of questions to a model: a bounded window of requests, every reply kept as it comes.

The event loop lives in a thread of its own and only talks to the endpoint. The caller's thread
saves replies in batches, reports progress and hears Ctrl-C; so a slow disk does not hold up
requests, a store sees one thread, and it works from a notebook, where a loop is running already.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from .errors import ServiceError
from .graded_reply import ASK_AGAIN, read_graded
from .judge_progress import ProgressCallback
from .openai_client import Answer, ChatClient, RetryPolicy
from .openai_errors import RequestFailed
from .openai_settings import OpenAISettings
from .prompts import Message
from .records import Item
from .replies import Reply, ReplyKey, ReplyStore
from .verdict import read_verdict

__all__ = ["Question", "Run", "RunSummary", "read_reply"]

_BATCH = 100  # replies to a transaction, or what came in _SECONDS
_SECONDS = 1.0
_GLANCE = 0.1  # seconds between looks at what has come in
_GRACE = 3.0  # seconds that requests under way are waited for after Ctrl-C
_LAST = 30.0  # seconds that they are waited for when the endpoint is given up


@dataclass(frozen=True, slots=True)
class Question:
    """An item to ask about. ``before`` is an unreadable reply that was kept: then it is a retry."""

    key: ReplyKey
    item: Item
    before: Reply | None = None


@dataclass(slots=True)
class RunSummary:
    """What a call of the judge did.

    Parameters
    ----------
    known
        Distinct questions whose replies were in the store.
    asked
        Questions to put to the model.
    calls
        Times that a question was put; a request that is sent again after trouble on the way is not
        counted again.
    again
        Calls that put a question once more, since the reply could not be read.
    replies
        Replies that came back and were kept.
    failed
        Questions without a reply; their items are unscored and will be asked again next time.
    settled
        Questions answered or failed.
    prompt_tokens, completion_tokens
        As the endpoint counts them.
    seconds
        The time the run took.
    omitted
        Parameters that the endpoint refused.
    served
        The models that answered, as they name themselves.
    """

    known: int = 0
    asked: int = 0
    calls: int = 0
    again: int = 0
    replies: int = 0
    failed: int = 0
    settled: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    omitted: set[str] = field(default_factory=set)
    served: set[str] = field(default_factory=set)

    @property
    def rate(self) -> float:
        """Questions settled a second."""
        return self.settled / self.seconds if self.seconds else 0.0


def read_reply(reply: Reply, settings: OpenAISettings) -> tuple[str | None, str | None]:
    """The label word of a reply, or the reason why it has none."""
    if settings.asked is not None:
        return read_graded(settings.asked, reply.text, finish_reason=reply.finish_reason)
    return read_verdict(
        reply.text,
        list(settings.words.values()),
        finish_reason=reply.finish_reason,
        json_field=settings.json_field,
    )


class Run:
    """Ask questions until all are settled, or no more can be.

    Parameters
    ----------
    settings, retry
        The judge's, and how long to insist on a reply.
    questions
        Each with a key of its own.
    store
        Where replies go before anything is computed from them.
    on_saved
        Called with the replies of a batch after it has been saved.
    progress
        See :class:`~accord.scoring.judge_progress.ProgressCallback`.
    """

    def __init__(
        self,
        settings: OpenAISettings,
        questions: Sequence[Question],
        *,
        store: ReplyStore,
        on_saved: Callable[[Sequence[Reply]], None],
        progress: ProgressCallback | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.failures: dict[ReplyKey, str] = {}
        self.summary = RunSummary(asked=len(questions))
        self._settings = settings
        self._questions = questions
        self._store = store
        self._on_saved = on_saved
        self._progress = progress
        # Read here, in the caller's thread and before anything is sent.
        self._client = ChatClient(settings, retry)
        self._arrived: deque[Reply] = deque()
        self._pending: list[Reply] = []
        self._saved_at = 0.0
        self._settled = 0
        self._calls = self._again = 0
        self._in_a_row = 0
        self._answered = False
        self._stopped: ServiceError | None = None
        self._bug: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._done = threading.Event()

    def __call__(self) -> None:
        """Run to the end.

        Raises
        ------
        ServiceError
            When the endpoint can't be used (any more). What was answered has been saved.
        KeyboardInterrupt
            After what was answered has been saved.
        """
        started = self._saved_at = time.monotonic()
        thread = threading.Thread(target=self._in_thread, name="accord-judge", daemon=True)
        thread.start()
        try:
            while not self._done.wait(_GLANCE):
                self._save(everything=False)
                self._report(started)
        except BaseException:
            self._abandon(thread)
            raise
        finally:
            thread.join(_GRACE)
            self._save(everything=True)
            self._report(started)
        if self._bug is not None:
            raise self._bug
        if self._stopped is not None:
            kept = self.summary.replies
            raise ServiceError(
                self._stopped.message,
                cure=f"{self._stopped.cure} ({kept} {'reply is' if kept == 1 else 'replies are'} "
                "kept; a rerun asks only for the rest)",
            ) from self._stopped

    # The caller's thread.

    def _save(self, *, everything: bool) -> None:
        """Save what has arrived: whole batches, or all of it when a batch is due."""
        while self._arrived:
            self._pending.append(self._arrived.popleft())
        now = time.monotonic()
        due = everything or now - self._saved_at >= _SECONDS
        while len(self._pending) >= _BATCH or (due and self._pending):
            batch = self._pending[:_BATCH]
            self._store.save(batch)
            # Only now: a store that failed is tried once more at the end.
            del self._pending[:_BATCH]
            self._saved_at = now
            self._count(batch)
            self._on_saved(batch)

    def _count(self, batch: Sequence[Reply]) -> None:
        for reply in batch:
            self.summary.replies += 1
            self.summary.prompt_tokens += reply.prompt_tokens or 0
            self.summary.completion_tokens += reply.completion_tokens or 0
            self.summary.omitted.update(reply.omitted)
            if reply.served_model:
                self.summary.served.add(reply.served_model)

    def _report(self, started: float) -> None:
        summary = self.summary
        summary.seconds = time.monotonic() - started
        summary.failed, summary.settled = len(self.failures), self._settled
        summary.calls, summary.again = self._calls, self._again
        if self._progress is not None:
            waiting = sum(_tokens(reply) for reply in self._pending)
            tokens = summary.prompt_tokens + summary.completion_tokens + waiting
            self._progress(self._settled, summary.asked, summary.rate, summary.failed, tokens)

    def _abandon(self, thread: threading.Thread) -> None:
        """Ask nothing more; what is under way may still be answered for a moment."""
        try:
            self._in_loop(self._client.stop)
            thread.join(_GRACE)
        finally:
            if self._task is not None:
                self._in_loop(self._task.cancel)

    def _in_loop(self, call: Callable[[], object]) -> None:
        try:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(call)
        except RuntimeError:
            pass  # the loop has ended by itself in the meantime

    # The loop's thread.

    def _in_thread(self) -> None:
        try:
            asyncio.run(self._ask_all())
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # handed to the caller's thread, which raises it
            self._bug = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error
        finally:
            self._done.set()

    async def _ask_all(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        async with self._client:
            todo = iter(self._questions)
            # One at a time until the endpoint has answered: a wrong key or a refused parameter
            # then costs one request instead of a window full.
            for question in todo:
                await self._ask(question)
                if self._answered or self._is_over():
                    break
            width = min(self._settings.in_flight, len(self._questions))
            async with asyncio.TaskGroup() as group:
                for _ in range(width):
                    group.create_task(self._work(todo))

    async def _work(self, todo: Iterator[Question]) -> None:
        if self._is_over():
            return
        for question in todo:
            await self._ask(question)
            if self._is_over():
                return

    def _is_over(self) -> bool:
        return self._stopped is not None or self._client.stopped

    async def _ask(self, question: Question) -> None:
        """Put one question, and put it once more where the reply can't be read."""
        settings = self._settings
        messages = settings.prompt.messages(question.item)
        reply = question.before
        try:
            if reply is None:
                reply = await self._reply(question.key, messages, attempt=0)
            if reply.attempt == 0 and read_reply(reply, settings)[1] in ASK_AGAIN:
                self._again += 1
                again = settings.prompt.reminded(messages, reply.text)
                await self._reply(question.key, again, attempt=1)
        except RequestFailed as failed:
            if not self._is_over():
                self._failed(question.key, failed)
        except ServiceError as error:
            self._stop(error)
        else:
            self._settled += 1

    async def _reply(self, key: ReplyKey, messages: Sequence[Message], *, attempt: int) -> Reply:
        self._calls += 1
        answer: Answer = await self._client.ask(messages, patient=self._answered)
        self._answered, self._in_a_row = True, 0
        reply = Reply(
            key=key,
            text=answer.text,
            served_model=answer.served_model,
            fingerprint=answer.fingerprint,
            finish_reason=answer.finish_reason,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            latency=answer.latency,
            created_at=answer.created_at,
            attempt=attempt,
            omitted=answer.omitted,
        )
        self._arrived.append(reply)
        return reply

    def _failed(self, key: ReplyKey, failed: RequestFailed) -> None:
        self.failures[key] = failed.reason
        self._settled += 1
        self._in_a_row += 1
        where = f"judge {self._settings.name}: {self._settings.endpoint}"
        if failed.unreachable and not self._answered:
            self._stop(
                ServiceError(
                    f"{where} can't be reached ({failed.reason})",
                    cure="start the server, or correct endpoint or OPENAI_BASE_URL",
                )
            )
        elif self._in_a_row >= self._settings.stop_after:
            self._stop(
                ServiceError(
                    f"{where}: {self._in_a_row} questions in a row got no answer, "
                    f"the last one: {failed.reason}",
                    cure="run again when the endpoint is well, or lower in_flight",
                )
            )

    def _stop(self, error: ServiceError) -> None:
        """Ask nothing more; requests under way are paid for and are waited for."""
        if self._stopped is None:
            self._stopped = error
            if self._loop is not None and self._task is not None:
                self._loop.call_later(_LAST, self._task.cancel)
        self._client.stop()


def _tokens(reply: Reply) -> int:
    return (reply.prompt_tokens or 0) + (reply.completion_tokens or 0)
