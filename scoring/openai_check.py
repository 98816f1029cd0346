"""Is a model judge's endpoint there? Asked without putting a question, and without waiting long."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .errors import AccordError, ServiceError, one_line
from .openai_client import is_here
from .openai_settings import OpenAISettings
from .redaction import redact

__all__ = ["EndpointCheck", "check_endpoint"]

_TIMEOUT = 10.0
_MOST = 4 * 2**20
"""A list of models that is longer is cut off and not read."""


@dataclass(frozen=True, slots=True)
class EndpointCheck:
    """What an endpoint said. ``status`` is ``ok``, ``note`` (may surprise) or ``bad``."""

    status: Literal["ok", "note", "bad"]
    detail: str
    cure: str | None = None


def check_endpoint(settings: OpenAISettings, *, timeout: float = _TIMEOUT) -> EndpointCheck:
    """Ask the endpoint for its list of models, with the judge's key.

    Parameters
    ----------
    settings
        The judge's.
    timeout
        Seconds for the connection, and again for the whole answer.

    Returns
    -------
    EndpointCheck
        ``bad`` where it can't be reached, refuses the key, fails, or the key's variable is not
        set; ``note`` where it has no list of models or does not list the judge's. The key is in no
        text.
    """
    try:
        key = settings.api_key()
        status, body = _get(settings, key, timeout)
    except AccordError as error:
        return EndpointCheck("bad", error.message, error.cure)
    variable = settings.api_key_env or "OPENAI_API_KEY"
    where, answers = settings.endpoint, f"{settings.endpoint} answers"
    if status in (401, 403):
        held = f"the key in {variable}" if key else "a request without a key"
        return EndpointCheck(
            "bad", f"{where} refuses {held} (HTTP {status})", f"export {variable} with its key"
        )
    if status >= 500 or status == 429:
        return EndpointCheck("bad", f"{answers} with HTTP {status}", "look at the server, or wait")
    names = _models(body) if status == 200 else None
    if names is None:
        return EndpointCheck(
            "note",
            f"{answers} and gives no list of models (HTTP {status}): model and key are not checked",
            "a base URL usually ends in /v1",
        )
    if settings.model in names:
        return EndpointCheck("ok", f"{answers} and has the model {settings.model}")
    return EndpointCheck(
        "note",
        f"{answers} and does not list the model {settings.model} among its {len(names)}",
        "check model, unless the server takes any name",
    )


def _get(settings: OpenAISettings, key: str | None, timeout: float) -> tuple[int, bytes]:
    """Status and body of the list of models."""
    import httpx

    endpoint = settings.endpoint
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    credentials = settings.credentials()
    ends = time.monotonic() + timeout
    body = bytearray()
    try:
        with (
            httpx.Client(timeout=timeout, trust_env=not is_here(endpoint)) as client,
            client.stream(
                "GET",
                f"{endpoint}/models",
                headers=headers if credentials is None else {},
                auth=credentials,
            ) as answer,
        ):
            for piece in answer.iter_bytes():
                body += piece
                if len(body) > _MOST or time.monotonic() > ends:
                    break
            return answer.status_code, bytes(body)
    except httpx.TimeoutException:
        raise ServiceError(
            f"{endpoint} does not answer within {timeout:g} s",
            cure="start the server, or correct endpoint or OPENAI_BASE_URL",
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = one_line(redact(str(error), [key, *(credentials or ())]))[:200]
        raise ServiceError(
            f"{endpoint} can't be reached ({said or type(error).__name__})",
            cure="start the server, or correct endpoint or OPENAI_BASE_URL",
        ) from None


def _models(body: bytes) -> set[str] | None:
    """The names in a list of models; None where it is none."""
    try:
        read: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    rows = read.get("data") if isinstance(read, Mapping) else None
    if not isinstance(rows, list):
        return None
    return {str(row["id"]) for row in rows if isinstance(row, Mapping) and "id" in row}
