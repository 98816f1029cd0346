"""One question to an OpenAI-compatible endpoint: sent until it is answered or can't be.

The openai package is used over its aiohttp transport (over httpx alone, a hundred requests in
flight cost more time in the connection pool than in the network) and imported on first use. Its own
retries are off: waiting is decided here, for all requests together, so that a busy server is left
alone by all of them.
"""

from __future__ import annotations

import asyncio
import base64
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from .errors import one_line
from .openai_errors import (
    SYSTEM_ROLE,
    TWINS,
    RequestFailed,
    error_text,
    fatal,
    is_passing,
    lost,
    refused_parameter,
    retry_after,
)
from .openai_settings import OpenAISettings
from .prompts import Message
from .redaction import HIDDEN, redact

if TYPE_CHECKING:
    import openai

__all__ = ["Answer", "ChatClient", "RetryPolicy", "is_here"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the fields of :class:`~accord.scoring.replies.Reply` without its key."""

    text: str | None
    served_model: str | None
    fingerprint: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    latency: float
    created_at: str
    omitted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When to ask again after 408, 409, 429, 5xx and lost connections.

    Parameters
    ----------
    tries
        Requests in all.
    base, longest
        Seconds: the wait doubles from ``base`` up to ``longest``; a random half is taken off it.
    patience
        Seconds at most that a server's ``Retry-After`` is honoured for.
    """

    tries: int = 6
    base: float = 0.5
    longest: float = 30.0
    patience: float = 120.0

    def wait(self, tried: int, asked_for: float | None) -> float:
        """Seconds to wait after the ``tried``-th failure (1 for the first)."""
        chance = _JITTER.random()
        if asked_for is not None:
            return min(max(asked_for, 0.0), self.patience) + 0.1 * chance * self.base
        return float(min(self.base * 2 ** (tried - 1), self.longest) * (0.5 + 0.5 * chance))


# Spreads the requests that failed together. No figure depends on it, and it is a generator of its
# own so that a caller's random stream stays where it was.
_JITTER = random.Random()
_NO_WORD = 12
"""A key of so many characters is no word of an answer; shorter ones stand for none (EMPTY)."""


class ChatClient:
    """An endpoint, with what was learned about it: refused parameters, and when to try again.

    Use it as an asynchronous context manager, inside one event loop.

    Parameters
    ----------
    settings
        The judge's.
    retry
        How long to insist.
    """

    def __init__(self, settings: OpenAISettings, retry: RetryPolicy | None = None) -> None:
        self._settings = settings
        self._retry = retry or RetryPolicy()
        self._key = settings.api_key()
        self._credentials = settings.credentials()
        self._basic = _basic(self._credentials) if self._credentials else None
        self._omitted: set[str] = set()
        self._renamed: dict[str, str] = {}
        self._resume_at = 0.0
        self._stack = AsyncExitStack()
        self._client: openai.AsyncOpenAI
        self._stop = asyncio.Event()

    async def __aenter__(self) -> Self:
        from openai import AsyncOpenAI, DefaultAioHttpClient, Timeout

        headers: dict[str, str] = {}
        if self._basic:
            # aiohttp refuses a URL with credentials beside an Authorization header.
            headers["Authorization"] = f"Basic {self._basic}"
        timeout = self._settings.timeout
        # A proxy from the environment is for the world outside; it can't reach this machine.
        http = DefaultAioHttpClient(trust_env=not is_here(self._settings.endpoint))
        self._client = await self._stack.enter_async_context(
            AsyncOpenAI(
                api_key=self._key or "none",
                base_url=self._settings.endpoint,
                default_headers=headers,
                http_client=http,
                max_retries=0,
                timeout=Timeout(timeout, connect=min(timeout, 15.0)),
            )
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    def stop(self) -> None:
        """Let requests that wait for another try give up; those under way may still be answered."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether :meth:`stop` was called."""
        return self._stop.is_set()

    async def ask(self, messages: Sequence[Message], *, patient: bool = True) -> Answer:
        """Send one question and wait for its answer.

        Parameters
        ----------
        messages
            The question.
        patient
            False: do not insist when no server is there (nothing has been answered yet).

        Raises
        ------
        RequestFailed
            When there is no answer after all tries, or this question is refused.
        ServiceError
            When no question can be answered: refused key, unknown model, exhausted quota.
        """
        import openai

        tried = 0
        while True:
            await self._pause()
            if self._stop.is_set():
                raise RequestFailed("the run was stopped")
            sent, merged = self._parameters(), self._merged(messages)
            omitted = tuple(sorted({*self._omitted, *map(_renaming, self._renamed.items())}))
            started = time.perf_counter()
            asked_for: float | None = None
            try:
                # The request itself instead of chat.completions.create: the typed form spends
                # twice the time, and other servers' replies don't fit its types anyway.
                answer: object = await self._client.post(
                    "/chat/completions",
                    body={"model": self._settings.model, "messages": merged, **sent},
                    cast_to=object,
                )
                return self._forgetting(_answer(answer, time.perf_counter() - started, omitted))
            except openai.APIStatusError as error:
                if self._leave_out(error, sent, merged):
                    continue
                said = self._said(error)
                final = fatal(error, self._settings, said=said, with_key=self._key is not None)
                if final is not None:
                    raise final from error
                failed = RequestFailed(f"HTTP {error.status_code}: {said}")
                if not is_passing(error.status_code):
                    raise failed from error
                asked_for = retry_after(error.response.headers)
            except openai.APIConnectionError as error:
                failed = lost(error, timeout=self._settings.timeout, clean=self._clean)
            except (ValueError, openai.APIError) as error:
                failed = RequestFailed(f"unusable answer: {self._clean(str(error))}")
            tried += 1
            if tried >= self._tries(failed, patient) or self._stop.is_set():
                raise failed
            wait = self._retry.wait(tried, asked_for)
            if asked_for is not None:
                self._resume_at = max(self._resume_at, time.monotonic() + wait)
            await self._sleep(wait)

    def _tries(self, failed: RequestFailed, patient: bool) -> int:
        # A second try bridges a hiccup. A server that was never there is not waited for, and a
        # question that has cost the whole timeout twice is given up.
        few = failed.timed_out or (failed.unreachable and not patient)
        return min(self._retry.tries, 2) if few else self._retry.tries

    async def _sleep(self, seconds: float) -> None:
        """Wait, or until the run is stopped."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    async def _pause(self) -> None:
        """Wait while the server has asked not to be asked; then start one after the other."""
        while (left := self._resume_at - time.monotonic()) > 0 and not self._stop.is_set():
            await self._sleep(left + 0.1 * self._retry.base * _JITTER.random())

    def _parameters(self) -> dict[str, Any]:
        return {
            self._renamed.get(name, name): value
            for name, value in self._settings.parameters.items()
            if name not in self._omitted
        }

    def _merged(self, messages: Sequence[Message]) -> list[Message]:
        """The messages, with the system text in the user's message where that role is refused."""
        if SYSTEM_ROLE not in self._omitted or messages[0]["role"] != "system":
            return list(messages)
        text = f"{messages[0]['content']}\n\n{messages[1]['content']}"
        return [{"role": "user", "content": text}, *messages[2:]]

    def _leave_out(
        self, error: openai.APIStatusError, sent: Mapping[str, Any], messages: Sequence[Message]
    ) -> bool:
        """Whether the error refuses a parameter; it is then left out for the rest of the run."""
        has_system = messages[0]["role"] == "system"
        name = refused_parameter(error, sent, has_system=has_system)
        if name is None:
            return False
        original = {new: old for old, new in self._renamed.items()}.get(name, name)
        other = TWINS.get(name)
        if original == name and other and other not in sent and other in error_text(error):
            self._renamed[name] = other
        else:
            self._renamed.pop(original, None)
            self._omitted.add(original)
        return True

    def _said(self, error: openai.APIStatusError) -> str:
        body = error.body
        inner = body.get("message") if isinstance(body, Mapping) else None
        return self._clean(inner if isinstance(inner, str) else error.message)

    def _clean(self, text: str) -> str:
        """Foreign text for a message: one line, short, without keys."""
        return one_line(redact(text, [self._key, *(self._credentials or ())]))[:200]

    def _forgetting(self, answer: Answer) -> Answer:
        """The answer without the key it was asked with, which some gateways give back.

        Replies are kept as they are otherwise: only the whole key is taken out, and only one that
        can be no word of an answer.
        """
        sent = [self._key, self._basic, *(self._credentials or ())[1:]]
        keys = [key for key in sent if key and len(key) >= _NO_WORD]

        def without(text: str | None) -> str | None:
            for key in keys:
                text = text.replace(key, HIDDEN) if text else text
            return text

        return replace(
            answer,
            text=without(answer.text),
            served_model=without(answer.served_model),
            fingerprint=without(answer.fingerprint),
        )


def is_here(endpoint: str) -> bool:
    """Whether the endpoint is on this machine, which no proxy of the environment can reach."""
    host = urlsplit(endpoint).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _basic(credentials: tuple[str, str]) -> str:
    return base64.b64encode(":".join(credentials).encode("utf-8")).decode("ascii")


def _renaming(pair: tuple[str, str]) -> str:
    return f"{pair[0]} (sent as {pair[1]})"


def _answer(answer: object, latency: float, omitted: tuple[str, ...]) -> Answer:
    """The reply in a response's JSON; whatever is not of its form is left out."""
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(answer, Mapping) or not isinstance(message, Mapping) or choice is None:
        # A proxy's page, or another service, answers 200 as well.
        raise ValueError(f"{str(answer)[:80]!r} (does the endpoint end in /v1?)")
    refusal = _text(message.get("refusal"))
    usage = answer.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    return Answer(
        text=_content(message.get("content")) or refusal,
        served_model=_name(answer.get("model")),
        fingerprint=_name(answer.get("system_fingerprint")),
        finish_reason="refusal" if refusal else _name(choice.get("finish_reason")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        latency=latency,
        created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        omitted=omitted,
    )


def _content(value: object) -> str | None:
    """The text of a message, which some servers send in parts."""
    if isinstance(value, list):
        parts = [part.get("text") for part in value if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str)) or None
    return _text(value)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _name(value: object) -> str | None:
    """A name that a store can hold: half of a surrogate pair becomes ``?``."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else None


def _count(value: object) -> int | None:
    """A number of tokens; None where it is none, or more than a store can hold."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < 2**53 else None
