"""The controls of a labelling page, and what an annotation says: read with care, written alike.

The server checks nothing of an annotation, so everything that a page can't have made is refused
here. A control inside a ``<Repeater>`` stands once a row; the row's number is in its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..scoring.errors import SettingsError
from ..study.labelling_page import Control

__all__ = ["ROLES", "Answer", "Reading", "Unreadable", "part", "read"]

ROLES = (
    "verdict",
    "given",
    "alignment",
    "belongs",
    "reasons",
    "mark",
    "missing",
    "corrected",
    "comment",
)
"""What a control can be for. ``verdict`` is the rating itself; ``given`` says of a reference
element without a partner whether the answer gives it; ``alignment`` whether a pair belongs
together; ``belongs`` beside which reference element (its number) it does; ``mark`` what is wrong
with one element of a gold answer; ``missing`` and ``corrected`` are elements, one a line."""

_KEYS = {"choices": "choices", "textarea": "text", "number": "number"}
_MISALIGNED = "misaligned"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one annotation says of one thing.

    ``belongs`` is the number of a reference element (from 1, 0 for none of them), ``marks`` are
    ``(row, mark)``, ``missing`` are texts of elements, ``corrected`` is a whole answer.
    """

    verdict: str
    alignment: str | None = None
    reasons: tuple[str, ...] = ()
    comment: str | None = None
    belongs: int | None = None
    marks: tuple[tuple[int, str], ...] = ()
    missing: tuple[str, ...] = ()
    corrected: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What one annotation says: of the task as a whole, or of each row of the page.

    Attributes
    ----------
    answer
        Of the task; None where the page has a verdict a row.
    rows
        (field of the task, row) → what is said of that row.
    open
        Rows without a verdict.
    """

    answer: Answer | None
    rows: Mapping[tuple[str, int], Answer] = field(default_factory=dict)
    open: int = 0


class Unreadable(Exception):
    """An annotation that is no answer; ``reason`` is the name of the rule, for counting."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def part(role: str, control: Control, values: Sequence[str], row: int | None) -> dict[str, Any]:
    """One answered control, as Label Studio stores it.

    Raises
    ------
    SettingsError
        When a value is not among the choices of the page.
    """
    wrong = [v for v in values if control.values and v not in control.values]
    if wrong:
        raise SettingsError(
            f"{role} can't be {wrong[0]!r}", cure=f"use {', '.join(control.values)}"
        )
    names = [control.name, control.to_name]
    if control.over:
        names = [name.replace(control.flag, str(row)) for name in names]
    value: Any = int(values[0]) if control.kind == "number" else list(values)
    return {
        "from_name": names[0],
        "to_name": names[1],
        "type": control.kind,
        "value": {_KEYS[control.kind]: value},
    }


def read(controls: Mapping[str, Control], result: Any, rows: Mapping[str, int]) -> Reading:
    """What an annotation's ``result`` says.

    Parameters
    ----------
    controls
        Role → control.
    result
        As the server or a file gave it.
    rows
        Field of the task → how many rows the page has of it.

    Raises
    ------
    Unreadable
        With the reason ``no verdict``, ``several verdicts``, ``unknown verdict``, or
        ``unreadable`` for anything of another shape, a choice that the page does not have, a
        control or a row that it does not have.
    """
    found = _collected(controls, result, rows)
    verdicts = [role for role in ("verdict", "given") if role in controls]
    if controls["verdict"].over:
        said = {
            (controls[role].over, row): _answer(found, role, row)
            for role in verdicts
            for row in range(rows.get(controls[role].over, 0))
            if (role, row) in found
        }
        if not said:
            raise Unreadable("no verdict")
        total = sum(rows.get(controls[role].over, 0) for role in verdicts)
        return Reading(None, said, total - len(said))
    if ("verdict", None) not in found:
        raise Unreadable("no verdict")
    return Reading(_answer(found, "verdict", None))


Found = Mapping[tuple[str, int | None], Sequence[str]]


def _collected(controls: Mapping[str, Control], result: Any, rows: Mapping[str, int]) -> Found:
    """(role, row) → the values given, each once; checked against what the page offers."""
    if not isinstance(result, list):
        raise Unreadable("unreadable")
    found: dict[tuple[str, int | None], list[str]] = {}
    for one in result:
        role, row = _place(controls, one, rows)
        texts = _texts(controls[role], one.get("value"))
        known = found.setdefault((role, row), [])
        known += [text for text in texts if text not in known]
    for (role, _), values in found.items():
        control = controls[role]
        if control.values and not set(values) <= set(control.values):
            raise Unreadable("unknown verdict" if role == "verdict" else "unreadable")
    for (role, _), values in found.items():
        if role == "verdict" and len(values) > 1:
            raise Unreadable("several verdicts")
        if role in ("given", "alignment", "belongs") and len(values) > 1:
            raise Unreadable("unreadable")
    return {place: values for place, values in found.items() if values}


def _place(
    controls: Mapping[str, Control], one: Any, rows: Mapping[str, int]
) -> tuple[str, int | None]:
    name = one.get("from_name") if isinstance(one, dict) else None
    if isinstance(name, str):
        for role, control in controls.items():
            if not control.over:
                if name == control.name:
                    return role, None
                continue
            row = control.row_of(name)
            if row is not None and row < rows.get(control.over, 0):
                return role, row
    raise Unreadable("unreadable")


def _texts(control: Control, value: Any) -> list[str]:
    given = value.get(_KEYS[control.kind]) if isinstance(value, dict) else None
    if control.kind == "number":
        if isinstance(given, bool) or not isinstance(given, (int, float)) or given != given // 1:
            raise Unreadable("unreadable")
        return [str(int(given))]
    if control.kind == "textarea" and isinstance(given, str):
        given = [given]
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise Unreadable("unreadable")
    return given


def _answer(found: Found, verdict: str, row: int | None) -> Answer:
    """What is said of a row, or of the task where ``row`` is None."""

    def values(role: str) -> Sequence[str]:
        # What stands beside a verdict says nothing of an element without a partner.
        return found.get((role, row), ()) if verdict == "verdict" else ()

    alignment = next(iter(values("alignment")), None)
    reasons = tuple(values("reasons"))
    if alignment == "NO" and _MISALIGNED not in reasons:
        reasons = (*reasons, _MISALIGNED)
    comment = "\n".join(text.strip() for text in values("comment") if text.strip())
    corrected = "\n".join(text for text in values("corrected") if text.strip())
    belongs = next(iter(values("belongs")), None)
    return Answer(
        found[verdict, row][0],
        alignment,
        reasons,
        comment or None,
        None if belongs is None else int(belongs),
        tuple(_marks(found)) if row is None else (),
        tuple(
            line.strip() for text in values("missing") for line in text.splitlines() if line.strip()
        ),
        corrected or None,
    )


def _marks(found: Found) -> Iterator[tuple[int, str]]:
    for (role, row), marks in sorted(found.items(), key=lambda item: item[0][1] or 0):
        if role == "mark" and row is not None:
            yield from ((row, mark) for mark in marks)
