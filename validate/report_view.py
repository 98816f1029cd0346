"""What the report's page shows, laid out for its templates: rows, notes, groups and plots.

Only texts, numbers and coordinates come out of here; the templates escape and draw them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import plots
from .figures import (
    HUMAN_HUMAN,
    JUDGE_HUMAN,
    comparison,
    count,
    defined,
    estimate,
    interval,
    label,
    value,
    visible,
)
from .report_rows import (
    Confusion,
    Disagreements,
    cell,
    confusion,
    disagreements,
    system_columns,
)
from .report_words import why_they_differ

if TYPE_CHECKING:
    from .report import Report

__all__ = ["view"]

LEVELS = {
    "element": ("Elements", "One verdict on one predicted element beside its reference element."),
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
    dropped: str
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """All figures of one level: ``groups`` holds (coefficient, its rows)."""

    level: str
    title: str
    says: str
    unit: str
    confidence: str
    axis: plots.Axis
    groups: tuple[tuple[str, tuple[Row, ...]], ...]
    methods: tuple[tuple[str, str], ...]
    warnings: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class View:
    """Everything the page shows besides the texts it holds itself."""

    panels: tuple[Panel, ...]
    explained: tuple[str, ...]
    notes: tuple[str, ...]
    scatters: tuple[plots.Scatter, ...]
    confusions: tuple[Confusion, ...]
    disagreements: Disagreements
    system_columns: tuple[tuple[str, str], ...]
    systems: tuple[tuple[tuple[str, ...], tuple[float | None, float | None] | None], ...]
    system_axis: plots.Axis
    audit: Row | None
    audit_result: Mapping[str, Any] = field(default_factory=dict)
    has_people: bool = False
    measure: str = "F1"
    byline: str = ""
    nothing: str = ""


def view(report: Report) -> View:
    """Lay out a report."""
    results: list[Mapping[str, Any]] = list(report.agreement.get("results") or ())
    kinds: Mapping[str, str] = report.agreement.get("kinds") or {}
    compared = {comparison(result, kinds) for result in results}
    axis = plots.Axis(0.0, 1.0, 8.0, 192.0, (0.0, 0.5, 1.0))
    columns = system_columns(report.systems)
    return View(
        panels=tuple(
            _panel(level, found, kinds)
            for level in LEVELS
            if (found := [result for result in results if result.get("level") == level])
        ),
        explained=tuple(_explained(results, kinds)),
        notes=tuple(visible(note) for note in report.agreement.get("notes") or ()),
        scatters=tuple(_scatters(report.response_scores, results)),
        confusions=tuple(confusion(table) for table in report.agreement.get("confusion") or ()),
        disagreements=disagreements(report.disagreements),
        system_columns=columns,
        systems=tuple(
            (
                tuple(cell(row.get(key)) for key, _ in columns),
                plots.dumbbell(row.get("human"), row.get("judge"), axis),
            )
            for row in report.systems
        ),
        system_axis=axis,
        audit=_row(report.audit, {}, axis, _Notes(), _Notes()) if report.audit else None,
        audit_result=report.audit or {},
        has_people=bool({HUMAN_HUMAN, JUDGE_HUMAN} & compared),
        measure=_measure(results),
        byline=_byline(report),
        nothing=_nothing(compared),
    )


def _measure(results: Iterable[Mapping[str, Any]]) -> str:
    """What a response's score is called: F1, or the share correct without list lengths."""
    for result in results:
        measure = (result.get("details") or {}).get("measure")
        if result.get("level") == "response" and measure:
            return str(measure)
    return "F1"


def _nothing(compared: set[str]) -> str:
    """What of the comparison is missing altogether, in words; empty when nothing is."""
    people, judges = HUMAN_HUMAN in compared, JUDGE_HUMAN in compared
    if people and not judges:
        return "No judge has graded the items that people graded."
    if judges and not people:
        return "No two people graded the same items, so people’s own agreement is not known."
    if not people and not judges:
        return "No item has been graded by people and a judge, or by two people."
    return ""


def _byline(report: Report) -> str:
    when = report.provenance.get("generated_at")
    name = report.recipe.get("name")
    parts = ["Agreement report", f"recipe {name}" if name else "", str(when or "")]
    return " · ".join(part for part in parts if part)


class _Notes:
    """Footnotes of one table: the same text has one mark."""

    def __init__(self, letters: bool = False) -> None:
        self._marks: dict[str, str] = {}
        self._letters = letters

    def mark(self, text: str) -> str:
        number = len(self._marks)
        mark = _letter(number) if self._letters else str(number + 1)
        return self._marks.setdefault(visible(text), mark)

    def all(self) -> tuple[tuple[str, str], ...]:
        return tuple((mark, text) for text, mark in self._marks.items())


def _letter(number: int) -> str:
    return (_letter(number // 26 - 1) if number >= 26 else "") + chr(ord("a") + number % 26)


def _panel(level: str, results: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> Panel:
    axis = plots.strip_axis(results)
    methods, warnings = _Notes(), _Notes(letters=True)
    names = list(dict.fromkeys(str(result.get("name")) for result in results))
    order = {HUMAN_HUMAN: 0, JUDGE_HUMAN: 1, "judge-judge": 2}
    groups = []
    for name in names:
        same = [result for result in results if str(result.get("name")) == name]
        same.sort(key=lambda result: order.get(comparison(result, kinds), 3))
        rows = tuple(_row(result, kinds, axis, methods, warnings) for result in same)
        groups.append((label(name), rows))
    title, says = LEVELS[level]
    measure = next(
        (str(m) for result in results if (m := (result.get("details") or {}).get("measure"))), None
    )
    confidence = results[0].get("confidence")
    return Panel(
        level=level,
        title=f"{title}: {visible(measure)}" if measure else title,
        says=says,
        unit=", ".join(dict.fromkeys(visible(result.get("unit") or "") for result in results)),
        confidence=f"{100 * confidence:g} %" if defined(confidence) else "",
        axis=axis,
        groups=tuple(groups),
        methods=methods.all(),
        warnings=warnings.all(),
    )


def _row(
    result: Mapping[str, Any],
    kinds: Mapping[str, str],
    axis: plots.Axis,
    methods: _Notes,
    warnings: _Notes,
) -> Row:
    is_defined = defined(result.get("estimate"))
    limits = interval(result)
    reason = visible(result.get("reason") or ("no reason given" if not is_defined else ""))
    marks = [methods.mark(method)] if (method := result.get("method")) and is_defined else []
    marks += [warnings.mark(str(text)) for text in result.get("warnings") or ()]
    dropped = [(count(n), visible(why)) for why, n in (result.get("dropped") or {}).items() if n]
    return Row(
        who=" – ".join(visible(rater) for rater in result.get("raters") or ()) or "all",
        kind=_WHO.get(comparison(result, kinds), ""),
        estimate=estimate(result),
        interval=limits,
        reason=reason or None,
        strip=plots.strip(result, axis),
        n=count(result.get("n")),
        clusters=count(result.get("clusters")),
        design_effect=value(result.get("design_effect"), 2),
        dropped=", ".join(f"{n} {why}" for n, why in dropped) or "–",
        marks=tuple(marks),
    )


def _explained(results: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> Iterable[str]:
    """Why raw agreement, κ and AC1 differ, for each comparison with people (a few at most)."""
    seen: dict[tuple[str, ...], None] = {}
    for result in results:
        if comparison(result, kinds) in (HUMAN_HUMAN, JUDGE_HUMAN):
            seen.setdefault(tuple(str(rater) for rater in result.get("raters") or ()))
    texts = [text for raters in seen if (text := why_they_differ(results, raters))]
    return [visible(text) for text in texts[:3]]


def _scatters(
    scores: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]]
) -> Iterable[plots.Scatter]:
    measure = _measure(results)
    raters = list(dict.fromkeys(str(row.get("rater") or "") for row in scores))
    for rater in raters:
        rows = [row for row in scores if str(row.get("rater") or "") == rater]
        yield plots.scatter(
            [row.get("human") for row in rows],
            [row.get("judge") for row in rows],
            title=visible(f"{rater or 'Judge'}: {measure} against people’s {measure}"),
            measure=visible(measure),
        )
