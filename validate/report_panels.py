"""One table of figures on a page: rows, their notes, and the axis that their intervals share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import plots
from .figures import count, defined, estimate, heading, interval, visible
from .reading import HUMAN_HUMAN, JUDGE_HUMAN, comparison, measure

__all__ = ["LEVELS", "Notes", "Panel", "Row", "between", "make_panel", "make_row", "p_text"]

LEVELS = {
    "element": (
        "Elements",
        "One verdict on one predicted element beside its reference element, or one rating of"
        " whatever else people grade as a whole.",
    ),
    "response": ("Responses", "One score for one system’s answer to one question."),
    "system": ("Systems", "One mean score for one system."),
    "dataset": ("Data set", "One figure for all gold answers."),
}

_WHO = {HUMAN_HUMAN: "people", JUDGE_HUMAN: "judge", "judge-judge": "judges"}


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of one comparison."""

    who: str
    kind: str
    estimate: str
    interval: str
    reason: str | None
    strip: plots.Strip | None
    n: str
    clusters: str
    design_effect: str
    dropped: tuple[tuple[str, str], ...]
    marks: tuple[str, ...]
    p: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """All figures of one level: ``groups`` holds (coefficient, its rows).

    ``tested``: some row has a p-value, which then has a column in place of the design effect.
    ``drawn``: some row is drawn.
    """

    anchor: str
    title: str
    says: str
    unit: str
    confidence: str
    axis: plots.Axis
    groups: tuple[tuple[str, tuple[Row, ...]], ...]
    methods: tuple[tuple[str, str], ...]
    drops: tuple[tuple[str, str], ...]
    warnings: tuple[tuple[str, str], ...]
    tested: bool = False
    drawn: bool = True


class Notes:
    """Footnotes of one table: methods by number, what was dropped and warnings by letter.

    The same text has one mark. So have warnings that differ in their numbers alone, which are then
    told as a range: dozens of them would bury the others.
    """

    def __init__(self) -> None:
        self._marks: dict[tuple[str, str], str] = {}
        self._texts: dict[tuple[str, str], list[str]] = {}

    def mark(self, kind: str, text: Any) -> str:
        """The text's mark, the same whenever it comes again."""
        shown = visible(text)
        key = (kind, _NUMBER.sub("#", shown) if kind == "warning" else shown)
        numbered = [other for other in self._marks if (other[0] == "method") == (kind == "method")]
        mark = str(len(numbered) + 1) if kind == "method" else _letter(len(numbered))
        self._texts.setdefault(key, []).append(shown)
        return self._marks.setdefault(key, mark)

    def all(self, kind: str) -> tuple[tuple[str, str], ...]:
        """``(mark, text)`` of every text of this kind."""
        return tuple(
            (mark, _together(self._texts[key]))
            for key, mark in self._marks.items()
            if key[0] == kind
        )


_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\w)")


def _together(texts: Sequence[str]) -> str:
    """Texts that differ in their numbers alone as one, with the range of each number."""
    ranges = []
    for found in zip(*map(_NUMBER.findall, texts), strict=True):
        low, high = min(found, key=float), max(found, key=float)
        ranges.append(low if float(low) == float(high) else f"{low} to {high}")
    each = iter(ranges)
    return _NUMBER.sub(lambda _: next(each), texts[0])


def _letter(number: int) -> str:
    """``a`` … ``z``, ``aa``, …"""
    return (_letter(number // 26 - 1) if number >= 26 else "") + chr(ord("a") + number % 26)


Naming = Callable[[Mapping[str, Any]], tuple[str, str]]
"""What a row is called, and whose it is: ``people``, ``judge``, ``judges`` or nobody's."""


def make_panel(
    level: str,
    results: Sequence[Mapping[str, Any]],
    kinds: Mapping[str, str],
    anchor: str,
    naming: Naming | None = None,
) -> Panel:
    """The table of the figures of one level, coefficient by coefficient.

    People come first in each, unless ``naming`` names the rows: then they keep their order.
    """
    axis = plots.strip_axis(results)
    notes = Notes()
    names = list(dict.fromkeys(map(heading, results)))
    order = {HUMAN_HUMAN: 0, JUDGE_HUMAN: 1, "judge-judge": 2}
    groups = []
    for name in names:
        same = [result for result in results if heading(result) == name]
        if naming is None:
            same.sort(key=lambda result: order.get(comparison(result, kinds), 3))
        rows = tuple(make_row(result, kinds, axis, notes, naming) for result in same)
        groups.append((name, rows))
    title, says = LEVELS[level]
    said = next((found for result in results if (found := measure(result))), None)
    confidence = results[0].get("confidence")
    return Panel(
        anchor=anchor + level,
        title=f"{title}: {visible(said)}" if said else title,
        says=says,
        unit=", ".join(dict.fromkeys(visible(result.get("unit") or "") for result in results)),
        confidence=f"{100 * confidence:g} %" if defined(confidence) else "",
        axis=axis,
        groups=tuple(groups),
        methods=notes.all("method"),
        drops=notes.all("dropped"),
        warnings=notes.all("warning"),
        tested=any(row.p for _, rows in groups for row in rows),
        drawn=any(row.strip for _, rows in groups for row in rows),
    )


def make_row(
    result: Mapping[str, Any],
    kinds: Mapping[str, str],
    axis: plots.Axis,
    notes: Notes,
    naming: Naming | None = None,
) -> Row:
    """One figure, its methods and warnings marked by number and letter."""
    is_defined = defined(result.get("estimate"))
    limits = interval(result)
    unbounded = is_defined and not limits
    reason = visible(result.get("reason") or ("no reason given" if not is_defined else ""))
    marks = (
        [notes.mark("method", method)] if (method := result.get("method")) and is_defined else []
    )
    said = reason.removeprefix("no interval: ")
    warned = [*(result.get("warnings") or ()), *([f"no interval: {said}"] if unbounded else [])]
    marks += [notes.mark("warning", text) for text in warned]
    dropped = tuple(
        (count(n), notes.mark("dropped", why))
        for why, n in (result.get("dropped") or {}).items()
        if n
    )
    who, kind = between(result), _WHO.get(comparison(result, kinds), "")
    if naming is not None:
        who, kind = naming(result)
    return Row(
        who=who or "every comparison",
        kind=kind,
        estimate=estimate(result),
        interval=limits,
        reason=reason or None,
        strip=plots.strip(result, axis),
        n=count(result.get("n")),
        clusters=count(result.get("clusters")),
        design_effect=f"{effect:.2f}" if defined(effect := result.get("design_effect")) else "–",
        dropped=dropped,
        marks=tuple(marks),
        p=_p_value(result.get("details") or {}),
    )


def _p_value(details: Mapping[str, Any]) -> str:
    """The p-value, after Holm where it was adjusted."""
    for key, after in (("p_holm", " (Holm)"), ("p_value", ""), ("p", "")):
        if defined(p := details.get(key)):
            return f"{p_text(p)}{after}"
    return ""


def p_text(p: float) -> str:
    """A p-value with three digits."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def between(result: Mapping[str, Any]) -> str:
    """Whose ratings are compared; more than three are only counted."""
    raters = result.get("raters") or ()
    if len(raters) > 3:
        return f"{len(raters)} annotators together"
    return " – ".join(visible(rater) for rater in raters)
