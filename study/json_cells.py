"""Cells that hold JSON: a value of a JSON file, or the text of one in a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..scoring.errors import InputError

__all__ = ["json_list", "json_object", "json_texts"]


def json_object(value: Any, name: str, *, cure: str) -> dict[str, Any]:
    """A cell that holds an object, or the JSON text of one; nothing is an empty one.

    Raises
    ------
    InputError
        When it is anything else; ``cure`` shows what is wanted.
    """
    found = _value(value, {})
    if not isinstance(found, Mapping):
        raise InputError(f"{name} is no JSON object but {_shown(value)}", cure=cure)
    return {str(key): one for key, one in found.items()}


def json_texts(value: Any, name: str, *, cure: str) -> dict[str, str]:
    """As :func:`json_object`, whose values are texts or numbers.

    Raises
    ------
    InputError
        When it is anything else, or one of its values is null, a list or an object.
    """
    found = json_object(value, name, cure=cure)
    return {key: _text(one, f"{name}: {key!r}", cure) for key, one in found.items()}


def json_list(value: Any, name: str, *, cure: str) -> list[str] | None:
    """A cell that holds a list of texts, or the JSON text of one; nothing is None.

    Raises
    ------
    InputError
        When it is anything else; ``cure`` shows what is wanted.
    """
    if value is None or value == "":
        return None
    found = _value(value, None)
    if not isinstance(found, list):
        raise InputError(f"{name} is no JSON list but {_shown(value)}", cure=cure)
    return [_text(one, f"{name}: place {place}", cure) for place, one in enumerate(found, 1)]


def _text(value: Any, where: str, cure: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{where} is no text but {_shown(value)}", cure=cure)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _value(value: Any, nothing: Any) -> Any:
    """What the cell holds; ``nothing`` where it is blank, None where its text is no JSON."""
    if value is None or value == "":
        return nothing
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
