"""Cells that hold JSON: a value of a JSON file, or the text of one in a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..scoring.errors import InputError

__all__ = ["json_list", "json_object", "json_text"]


def json_object(value: Any, name: str) -> dict[str, Any]:
    """A cell that holds an object, or the JSON text of one; nothing is an empty one.

    Raises
    ------
    InputError
        When it is anything else.
    """
    found = _value(value, {})
    if not isinstance(found, Mapping):
        raise InputError(f"{name} is no JSON object")
    return {str(key): one for key, one in found.items()}


def json_list(value: Any, name: str) -> list[str] | None:
    """A cell that holds a list of texts, or the JSON text of one; nothing is None.

    Raises
    ------
    InputError
        When it is anything else, or one of its values is null, a list or an object.
    """
    found = _value(value, None)
    if found is None and value in (None, ""):
        return None
    if not isinstance(found, list):
        raise InputError(f"{name} is no JSON list")
    return [json_text(text, name) for text in found]


def json_text(value: Any, name: str) -> str:
    """A text, or a number as it is written; null in its place would become the word None.

    Raises
    ------
    InputError
        When it is anything else.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(f"{name} holds {json.dumps(value)[:40]} where a text is expected")
    return str(value)


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
