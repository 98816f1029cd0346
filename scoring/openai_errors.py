"""What an endpoint's error means: wait, ask without a parameter, give up this request, or stop."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from .errors import ServiceError
from .openai_settings import OpenAISettings

if TYPE_CHECKING:
    import openai

__all__ = [
    "SYSTEM_ROLE",
    "TWINS",
    "RequestFailed",
    "error_text",
    "fatal",
    "is_passing",
    "lost",
    "refused_parameter",
    "retry_after",
]

SYSTEM_ROLE = "system role"
"""Stands among the omitted parameters where the system text went into the user's message."""

TWINS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""One name for the cap on a reply's length was replaced by another; models refuse one of them."""


class RequestFailed(Exception):
    """One request got no usable answer; others still may.

    ``unreachable``: no server was there. ``timed_out``: it was, and did not answer.
    """

    def __init__(self, reason: str, *, unreachable: bool = False, timed_out: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.unreachable = unreachable
        self.timed_out = timed_out


def is_passing(status: int) -> bool:
    """Whether the same request may be answered a little later."""
    return status in (408, 409, 429) or status >= 500


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait, from ``Retry-After`` (seconds or an HTTP date), or None."""
    value = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(value):
        return float(value) / 1000
    value = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(value):
        return float(value)
    try:
        then = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())


_NUMBER = re.compile(r"\d{1,12}(?:\.\d+)?")


def error_text(error: openai.APIStatusError) -> str:
    """All that the error says, for matching; not for showing."""
    body = error.body
    return f"{error.message} {body if isinstance(body, str) else json.dumps(body, default=str)}"


def refused_parameter(
    error: openai.APIStatusError, sent: Mapping[str, Any], *, has_system: bool
) -> str | None:
    """The parameter among those sent that the endpoint does not take, or ``system role``."""
    said = error_text(error)
    if _TOO_LONG.search(said):
        # Names max_tokens, but it is this question that does not fit.
        return None
    status = error.status_code
    if has_system and status in (400, 404, 422, 500) and _SYSTEM_REFUSED.search(said):
        return SYSTEM_ROLE
    if status not in (400, 422, 501):
        return None
    param = getattr(error, "param", None)
    if isinstance(param, str):
        root = re.split(r"[.\[]", param.removeprefix("body."))[0]
        if root in sent:
            return root
    # The one in quotes first: "'temperature' is not supported with this reasoning_effort".
    patterns = [r"['\"`]{}['\"`]"] + ([r"\b{}\b"] if _NOT_TAKEN.search(said) else [])
    for pattern in patterns:
        named = [name for name in sent if re.search(pattern.format(re.escape(name)), said)]
        if named:
            return min(named, key=said.find)
    if "response_format" in sent and _SCHEMA_REFUSED.search(said):
        return "response_format"
    return None


_TOO_LONG = re.compile(
    r"context.{0,20}(?:length|window|size)|too (?:long|large|many)|maximum.{0,20}context", re.I
)
_SYSTEM_REFUSED = re.compile(
    r"system (?:role|message|prompt)s?\b.{0,40}(?:not|n't|un)|roles must alternate", re.I
)
_SCHEMA_REFUSED = re.compile(
    r"json[_ ]?schema|structured output|response[_ ]format|guided|grammar", re.I
)
_NOT_TAKEN = re.compile(
    r"not (?:support|permit|allow|accept|recogni)|unsupported|unknown|unrecogni|unavailable"
    r"|unexpected|deprecated|only .{0,40}support|invalid|extra (?:field|input)",
    re.I,
)


def lost(
    error: openai.APIConnectionError, *, timeout: float, clean: Callable[[str], str]
) -> RequestFailed:
    """What became of a request without a response.

    The transport reports a connection that the server closed as a timeout, so the cause beneath is
    looked at.
    """
    import aiohttp

    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    said = clean(str(cause)) or type(cause).__name__
    nobody = isinstance(cause, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError))
    if nobody or getattr(cause, "errno", None) == errno.ECONNREFUSED:
        return RequestFailed(f"no server there: {said}", unreachable=True)
    if isinstance(cause, TimeoutError):
        return RequestFailed(f"no answer within {timeout:g} s", timed_out=True)
    return RequestFailed(f"connection lost: {said}")


def fatal(
    error: openai.APIStatusError, settings: OpenAISettings, *, said: str, with_key: bool
) -> ServiceError | None:
    """The error that every further request would meet as well, or None.

    Parameters
    ----------
    error
        The endpoint's.
    settings
        The judge's.
    said
        The endpoint's words, redacted.
    with_key
        Whether a key was sent.
    """
    where = f"judge {settings.name}: {settings.endpoint}"
    text, status = error_text(error), error.status_code
    variable = settings.api_key_env or "OPENAI_API_KEY"
    if status in (401, 403):
        held = f"the key in {variable}" if with_key else "a request without a key"
        return ServiceError(
            f"{where} refused {held} (HTTP {status}: {said})",
            cure=f"export {variable} with a key of this endpoint that may use {settings.model}",
        )
    if status == 402 or (status == 429 and _QUOTA.search(text)):
        return ServiceError(
            f"{where}: the quota is used up (HTTP {status}: {said})",
            cure="add credit or wait for the next period, then run again",
        )
    if status == 404 or (status == 400 and _NO_MODEL.search(text)):
        return ServiceError(
            f"{where} has no model {settings.model!r} (HTTP {status}: {said})",
            cure="check model and endpoint of the judge; a base URL usually ends in /v1",
        )
    return None


_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|credit balance", re.I)
_NO_MODEL = re.compile(
    r"model_not_found|(?:no such|unknown|invalid) model|model.{0,80}(?:not exist|not found)", re.I
)
