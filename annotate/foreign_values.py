"""The values of controls in annotations that any labelling configuration may have made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..scoring.errors import InputError

__all__ = ["Value", "plain_value", "read_values"]

_INDEXED = re.compile(r"(.+)_(\d+)")
_LISTS = {"choices": "choices", "textarea": "text", "taxonomy": "taxonomy"}
_SCALARS = {"rating": "rating", "number": "number", "pairwise": "selected"}
_PATH = " > "
_REGION = frozenset({"x", "start", "points", "startOffset", "vertices"})
"""Keys of a value that belongs to a part of an image, a text or a recording."""


@dataclass(frozen=True, slots=True)
class Value:
    """What one annotation says in one control.

    Parameters
    ----------
    parts
        Part of the task (a Repeater's index, "" without) → its labels, sorted.
    readable
        False where it holds something else than labels.
    """

    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    readable: bool = True

    @property
    def several(self) -> bool:
        """Whether some part has more than one label."""
        return any(len(labels) > 1 for labels in self.parts.values())

    def labels(self) -> Iterator[tuple[str, str]]:
        """Every label with its part."""
        for part, labels in self.parts.items():
            yield from ((part, label) for label in labels)

    def rule(self, refuse_several: bool) -> str:
        """``labelled``, or why it is no label."""
        if not self.readable:
            return "unreadable"
        if not any(self.parts.values()):
            return "no value"
        return "several values" if refuse_several and self.several else "labelled"


def read_values(
    tasks: Sequence[Mapping[str, Any]], controls: Sequence[str], where: str
) -> Callable[[Mapping[str, Any]], dict[str, Value]]:
    """How to read an annotation's controls: by their names, or as a Repeater's ``NAME_0, …``.

    Raises
    ------
    InputError
        When a control is in no annotation, or marks regions instead of rating the task.
    """
    kinds: dict[str, set[str]] = {}
    for task in tasks:
        for annotation in task["annotations"]:
            for part in _parts(annotation):
                value = part.get("value")
                of_region = isinstance(value, dict) and bool(_REGION & value.keys())
                kind = f"{part.get('type')} of a region" if of_region else str(part.get("type"))
                kinds.setdefault(part["from_name"], set()).add(kind)
    places: dict[str, dict[str, str]] = {}
    for control in controls:
        if control in kinds:
            places[control] = {control: ""}
        else:
            matches = ((name, _INDEXED.fullmatch(name)) for name in kinds)
            places[control] = {name: m[2] for name, m in matches if m and m[1] == control}
        if not places[control]:
            there = sorted({(m[1] if (m := _INDEXED.fullmatch(name)) else name) for name in kinds})
            raise InputError(
                f"{where}: no annotation has the control {control!r}",
                cure=f"there are {', '.join(there[:12]) or 'none'}",
            )
        strange = sorted(
            {kind for name in places[control] for kind in kinds[name]} - set(_LISTS) - set(_SCALARS)
        )
        if strange:
            raise InputError(
                f"{where}: the control {control!r} marks regions or spans ({', '.join(strange)}),"
                " which are no rating of the task",
                cure="name a control of choices, taxonomy, rating, number, pairwise or text",
            )

    def read(annotation: Mapping[str, Any]) -> dict[str, Value]:
        return {control: _value(annotation, names) for control, names in places.items()}

    return read


def _parts(annotation: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    result = annotation.get("result")
    for part in result if isinstance(result, list) else ():
        if isinstance(part, dict) and isinstance(part.get("from_name"), str):
            yield part


def _value(annotation: Mapping[str, Any], names: Mapping[str, str]) -> Value:
    parts: dict[str, tuple[str, ...]] = {}
    readable = isinstance(annotation.get("result"), list)
    for one in _parts(annotation):
        if one["from_name"] not in names:
            continue
        labels = _labels(one)
        if labels is None:
            readable = False
            continue
        place = names[one["from_name"]]
        parts[place] = tuple(sorted({*parts.get(place, ()), *labels}))
    return Value(dict(sorted(parts.items(), key=lambda item: (len(item[0]), item[0]))), readable)


def _labels(part: Mapping[str, Any]) -> list[str] | None:
    """The labels of one answered control; None where it has none that can be read."""
    kind, value = str(part.get("type")), part.get("value")
    if not isinstance(value, dict):
        return None
    if kind in _SCALARS:
        return plain_value(value.get(_SCALARS[kind]))
    given = value.get(_LISTS[kind])
    if not isinstance(given, list):
        return None
    if kind == "taxonomy":
        if not all(isinstance(path, list) for path in given):
            return None
        return [_PATH.join(map(str, path)) for path in given if path]
    if not all(isinstance(label, str) for label in given):
        return None
    if kind == "textarea":
        text = "\n".join(label for label in given if label.strip())
        return [text] if text else []
    return list(given)


def plain_value(value: Any) -> list[str] | None:
    """A number or a text as a label; whole numbers without a point."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip()
    return [text] if text else []
