"""JSON_MIN and CSV exports: one row an annotation, the controls beside the task's data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..scoring.errors import InputError
from .foreign_values import Value, plain_value

if TYPE_CHECKING:
    from .foreign_files import Export

__all__ = ["FlatLabel", "flat_labels", "seconds", "whole"]

_KEYS = ("choices", "text", "taxonomy")


@dataclass(frozen=True, slots=True)
class FlatLabel:
    """One row: the item, who, when, what."""

    item: str | None
    person: str | None
    at: str
    number: int
    values: Mapping[str, Value]
    seconds: float | None = None
    kept: Mapping[str, Any] = field(default_factory=dict)


def flat_labels(
    export: Export, item: str, controls: Sequence[str], keep: Sequence[str]
) -> Iterator[FlatLabel]:
    """The rows of a flat export.

    Raises
    ------
    InputError
        When no row has a control.
    """
    for control in controls:
        if not any(row.get(control) not in (None, "") for row in export.tasks):
            raise InputError(
                f"{export.name}: no row has the control {control!r}",
                cure=f"there are {', '.join(export.fields[:20])}",
            )
    for row in export.tasks:
        yield FlatLabel(
            item=_text(row, item),
            person=_person(row.get("annotator")),
            at=str(row.get("updated_at") or row.get("created_at") or ""),
            number=whole(row.get("annotation_id")) or 0,
            values={control: _value(row.get(control)) for control in controls},
            seconds=seconds(row.get("lead_time")),
            kept={name: _text(row, name) for name in keep},
        )


def _text(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name.removeprefix("data."))
    if value is None or isinstance(value, (dict, list)):
        return None
    return str(value).strip() or None


def _person(value: Any) -> str | None:
    """Who: an address, or the server's number (pandas makes it 2.0 in CSV)."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    if isinstance(value, str) and "@" in value:
        return value.strip().lower()
    user = whole(value)
    return None if user is None else f"user {user}"


def whole(value: Any) -> int | None:
    """An id; pandas writes 2.0 in CSV."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else None


def seconds(value: Any) -> float | None:
    """A lead time; None where there is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _value(cell: Any) -> Value:
    """A cell: a text, ``{"choices": […]}``, or a list of objects (numbers, taxonomies)."""
    if cell is None or cell == "":
        return Value()
    if isinstance(cell, str) and cell.lstrip()[:1] in ("{", "["):
        try:
            cell = json.loads(cell)
        except ValueError:
            return Value({"": (cell.strip(),)})
    if isinstance(cell, dict):
        cell = next((cell[key] for key in _KEYS if key in cell), None)
    if isinstance(cell, list):
        labels: list[str] = []
        for one in cell:
            if isinstance(one, dict):
                one = next((v for k, v in one.items() if k in ("number", "rating", *_KEYS)), None)
            if isinstance(one, list):
                nested = all(isinstance(path, list) for path in one)
                paths = one if nested else [one]
                labels += [" > ".join(map(str, path)) for path in paths]
                continue
            read = plain_value(one)
            if read is None:
                return Value(readable=False)
            labels += read
        return Value({"": tuple(sorted(set(labels)))} if labels else {})
    read = plain_value(cell)
    return Value(readable=False) if read is None else Value({"": tuple(read)} if read else {})
