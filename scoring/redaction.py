"""Keys stay out of settings, logs and messages.

Keys come from environment variables only. A study folder is copied, mailed and committed; a key in
its settings would go with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import SettingsError

__all__ = ["HIDDEN", "redact", "refuse_secrets"]

HIDDEN = "[hidden]"
"""Stands where a key was."""
_CREDENTIALS = re.compile(r"(?<=://)[^/\s\"'<>]+@")  # to the last @: a password may hold one
_KEYS = re.compile(
    r"\b(?:sk|pk|rk|key|gsk|hf|xai|r8)[-_][A-Za-z0-9*._-]{8,}"  # vendors' prefixes, masked ones too
    r"|(?<=\bBearer )[^\s\"',;]+|(?<=\bBasic )[A-Za-z0-9+/=_-]{6,}",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"(\b(?:api[-_ ]?key|access[-_ ]?token|token|secret|password|authorization)\b"
    r"[\"']?\s*[:=]\s*[\"']?)(?!Bearer |Basic |\[hidden\])[^\s\"',;}]+",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(
    r"(?:.*[-_.])?(?:(?:api|access|auth|secret|private)[-_.]?)?keys?"
    r"|(?:.*[-_.])?(?:api|access|auth|secret|private|bearer)[-_.]?tokens?|tokens?"
    r"|(?:.*[-_.])?(?:secrets?|passw(?:or)?d|passphrase|authorization|bearer|credentials?)",
    re.IGNORECASE,
)
_NO_SECRETS = frozenset({"prompt_cache_key"})


def redact(text: str, secrets: Iterable[str | None] = ()) -> str:
    """Text without keys: those given, whatever looks like one, and ``user:password@`` in URLs."""
    for secret in secrets:
        if secret and len(secret) >= 4:
            text = text.replace(secret, HIDDEN)
    text = _CREDENTIALS.sub("", text)
    return _ASSIGNED.sub(rf"\1{HIDDEN}", _KEYS.sub(HIDDEN, text))


def refuse_secrets(table: Mapping[str, Any], *, where: str) -> None:
    """Refuse settings that hold a key, by their name or by their look.

    Parameters
    ----------
    table
        The settings, with tables in tables.
    where
        How the table is called in messages: ``[judge.gpt]``.

    Raises
    ------
    SettingsError
        Naming the setting, never its value.
    """
    for path, value in _leaves(table, ()):
        named = any(_SECRET_NAME.fullmatch(part) for part in path if part not in _NO_SECRETS)
        if named or (isinstance(value, str) and _looks_secret(value)):
            raise SettingsError(
                f"{where}: the setting {'.'.join(path)} holds a key; settings are no place for it",
                cure="remove it and put the key into the environment variable OPENAI_API_KEY "
                '(or another one, named by api_key_env = "NAME_API_KEY")',
            )


def _leaves(value: Any, path: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, (*path, str(key)))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item, path)
    else:
        yield path, value


def _looks_secret(value: str) -> bool:
    return bool(re.fullmatch(r"(?:Bearer\s+)?(?:sk|gsk|hf|xai|r8)[-_][A-Za-z0-9_-]{16,}", value))
