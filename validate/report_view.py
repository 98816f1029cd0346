"""What the report's page shows, laid out for its templates: rows, notes, groups and plots.

Only texts, numbers and coordinates come out of here; the templates escape and draw them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import plots
from .figures import (
    count,
    defined,
    estimate,
    heading,
    interval,
    moment,
    percent,
    value,
    visible,
)
from .reading import (
    HUMAN_HUMAN,
    JUDGE_HUMAN,
    SHORT,
    comparison,
    expected_by_chance,
    leading,
    main_figures,
    measure,
    stated,
)
from .report_rows import (
    SYSTEM_AXIS,
    Confusion,
    Disagreements,
    SystemRow,
    cell,
    compared_systems,
    confusion,
    disagreements,
    system_columns,
)

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
    dropped: tuple[tuple[str, str], ...]
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """All figures of one level: ``groups`` holds (coefficient, its rows)."""

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


@dataclass(frozen=True, slots=True)
class View:
    """Everything the page shows besides the texts it holds itself."""

    panels: tuple[Panel, ...]
    further: tuple[Panel, ...]
    more: tuple[Panel, ...]
    explained: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    scatters: tuple[plots.Scatter, ...]
    confusions: tuple[Confusion, ...]
    further_confusions: tuple[Confusion, ...]
    disagreements: Disagreements
    compared_systems: tuple[SystemRow, ...]
    system_columns: tuple[tuple[str, str], ...]
    systems: tuple[tuple[str, ...], ...]
    audit: Row | None
    audit_result: Mapping[str, Any] = field(default_factory=dict)
    has_people: bool = False
    system_axis: plots.Axis = SYSTEM_AXIS
    further_says: str = ""
    measure: str = "F1"
    byline: str = ""
    nothing: str = ""
    people: str = ""


def view(report: Report) -> View:
    """Lay out a report."""
    results = main_figures(report.agreement.get("results") or ())
    kinds: Mapping[str, str] = report.agreement.get("kinds") or {}
    tables: list[Mapping[str, Any]] = list(report.agreement.get("confusion") or ())
    leads = leading(results, kinds)
    compared = {comparison(result, kinds) for result in results}
    below = [result for result in results if not _system(result)]
    in_panels = [result for result in below if result.get("name") in SHORT]
    beyond = [result for result in below if result.get("name") not in SHORT]
    confusions = [(leads(table), confusion(table)) for table in tables]
    columns = system_columns(report.systems)
    return View(
        panels=_panels([result for result in in_panels if leads(result)], kinds, ""),
        further=_panels([result for result in in_panels if not leads(result)], kinds, "further-"),
        more=_panels([result for result in beyond if leads(result)], kinds, "more-"),
        explained=tuple(_explained([result for result in results if leads(result)], kinds)),
        notes=tuple(visible(note) for note in report.agreement.get("notes") or ()),
        scatters=tuple(_scatters(report.response_scores, _measure(results))),
        confusions=tuple(table for first, table in confusions if first),
        further_confusions=tuple(table for first, table in confusions if not first),
        disagreements=disagreements(report.disagreements),
        compared_systems=tuple(compared_systems(results)),
        system_columns=columns,
        systems=tuple(tuple(cell(row.get(key)) for key, _ in columns) for row in report.systems),
        audit=_row(report.audit, {}, plots.strip_axis(()), _Notes()) if report.audit else None,
        audit_result=report.audit or {},
        has_people=bool({HUMAN_HUMAN, JUDGE_HUMAN} & compared),
        further_says=_further(results, leads),
        measure=_measure(results),
        byline=_byline(report),
        nothing=_nothing(compared),
        people=_people(report.agreement),
    )


def _panels(
    results: Sequence[Mapping[str, Any]], kinds: Mapping[str, str], anchor: str
) -> tuple[Panel, ...]:
    return tuple(
        _panel(level, found, kinds, anchor)
        for level in LEVELS
        if (found := [result for result in results if result.get("level") == level])
    )


def _further(
    results: Iterable[Mapping[str, Any]], leads: Callable[[Mapping[str, Any]], bool]
) -> str:
    said = {stated(result) for result in results if not leads(result)}
    if said == {"judge-annotator"}:
        return "each judge with each annotator"
    return "each judge with the label that the annotators give together"


def _system(result: Mapping[str, Any]) -> Any:
    """The one system a result is about; such results have their own table."""
    return result.get("system") or (result.get("details") or {}).get("system")


def _measure(results: Iterable[Mapping[str, Any]]) -> str:
    """What a response's score is called: F1, or the share correct without list lengths."""
    return next((said for result in results if (said := measure(result))), "F1")


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


def _people(agreement: Mapping[str, Any]) -> str:
    """Whose label stands for people in a response's score; empty where it is not said."""
    said = agreement.get("people")
    if not said:
        return ""
    kind = (agreement.get("kinds") or {}).get(said)
    if kind is None and said in ("majority", "mean"):
        return f"the {said} of the annotators"
    return f"{'the final label ' if kind == 'adjudicated' else ''}{said}"


def _byline(report: Report) -> str:
    when = report.provenance.get("generated_at")
    name = report.recipe.get("name")
    when = moment(str(when or ""))
    parts = ["Agreement report", f"recipe {name}" if name else "", when]
    return " · ".join(part for part in parts if part)


class _Notes:
    """Footnotes of one table: methods by number, what was dropped and warnings by letter.

    The same text has one mark.
    """

    def __init__(self) -> None:
        self._marks: dict[tuple[str, str], str] = {}

    def mark(self, kind: str, text: Any) -> str:
        numbered = [key for key in self._marks if (key[0] == "method") == (kind == "method")]
        mark = str(len(numbered) + 1) if kind == "method" else _letter(len(numbered))
        return self._marks.setdefault((kind, visible(text)), mark)

    def all(self, kind: str) -> tuple[tuple[str, str], ...]:
        return tuple((mark, key[1]) for key, mark in self._marks.items() if key[0] == kind)


def _letter(number: int) -> str:
    return (_letter(number // 26 - 1) if number >= 26 else "") + chr(ord("a") + number % 26)


def _panel(
    level: str, results: Sequence[Mapping[str, Any]], kinds: Mapping[str, str], anchor: str
) -> Panel:
    axis = plots.strip_axis(results)
    notes = _Notes()
    names = list(dict.fromkeys(map(heading, results)))
    order = {HUMAN_HUMAN: 0, JUDGE_HUMAN: 1, "judge-judge": 2}
    groups = []
    for name in names:
        same = [result for result in results if heading(result) == name]
        same.sort(key=lambda result: order.get(comparison(result, kinds), 3))
        rows = tuple(_row(result, kinds, axis, notes) for result in same)
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
    )


def _row(
    result: Mapping[str, Any],
    kinds: Mapping[str, str],
    axis: plots.Axis,
    notes: _Notes,
) -> Row:
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
    return Row(
        who=_between(result) or "every comparison",
        kind=_WHO.get(comparison(result, kinds), ""),
        estimate=estimate(result),
        interval=limits,
        reason=reason or None,
        strip=plots.strip(result, axis),
        n=count(result.get("n")),
        clusters=count(result.get("clusters")),
        design_effect=f"{effect:.2f}" if defined(effect := result.get("design_effect")) else "–",
        dropped=dropped,
        marks=tuple(marks),
    )


def _between(result: Mapping[str, Any]) -> str:
    raters = result.get("raters") or ()
    if len(raters) > 3:
        return f"{len(raters)} annotators together"
    return " – ".join(visible(rater) for rater in raters)


def _explained(
    results: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]
) -> Iterable[tuple[str, ...]]:
    """What κ and AC1 take chance to be, for each comparison with people."""
    seen: dict[tuple[str, ...], None] = {}
    for result in results:
        if comparison(result, kinds) in (HUMAN_HUMAN, JUDGE_HUMAN):
            seen.setdefault(tuple(str(rater) for rater in result.get("raters") or ()))
    for raters in seen:
        if chance := expected_by_chance(results, raters):
            raw, by_kappa, kappa, by_ac1, ac1 = chance
            yield (
                " – ".join(map(visible, raters)),
                percent(raw),
                percent(by_kappa),
                value(kappa),
                percent(by_ac1),
                value(ac1),
            )


def _scatters(scores: Sequence[Mapping[str, Any]], measured: str) -> Iterable[plots.Scatter]:
    """One plot a judge, of those that have a response scored by the judge and by people."""
    raters = list(dict.fromkeys(str(row.get("rater") or "") for row in scores))
    for rater in raters:
        rows = [row for row in scores if str(row.get("rater") or "") == rater]
        plot = plots.scatter(
            [row.get("human") for row in rows],
            [row.get("judge") for row in rows],
            title=visible(f"{rater or 'Judge'} against people: {measured}"),
            measure=visible(measured),
        )
        if plot.n:
            yield plot
