"""What the report's page shows, laid out for its templates: rows, notes, groups and plots.

Only texts, numbers and coordinates come out of here; the templates escape and draw them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import plots
from .figures import moment, percent, value, visible
from .reading import (
    HUMAN_HUMAN,
    JUDGE_HUMAN,
    MADE,
    SHORT,
    comparison,
    expected_by_chance,
    leading,
    main_figures,
    measure,
    stated,
)
from .report_panels import LEVELS, Notes, Panel, Row, make_panel, make_row
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
from .report_sections import Part, Table, make_parts, slice_table

if TYPE_CHECKING:
    from .report import Report

__all__ = ["view"]

MOST_COMPARISONS = 24
"""Comparisons on the page, of those that lead and of the others each."""


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
    parts: tuple[Part, ...]
    disagreements: Disagreements
    compared_systems: tuple[SystemRow, ...]
    system_columns: tuple[tuple[str, str], ...]
    systems: tuple[tuple[str, ...], ...]
    slices: tuple[Table, ...]
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
    kinds: Mapping[str, str] = report.agreement.get("kinds") or {}
    every = main_figures(report.agreement.get("results") or ())
    leads = leading(every, kinds)
    results, cut = _first(every, leads)
    tables: list[Mapping[str, Any]] = list(report.agreement.get("confusion") or ())
    tables, _ = _first(tables, leads)
    compared = {comparison(result, kinds) for result in results}
    below = [result for result in results if not _system(result)]
    in_panels = [result for result in below if result.get("name") in SHORT]
    beyond = [result for result in below if result.get("name") not in SHORT]
    confusions = [(leads(table), confusion(table)) for table in tables]
    columns = system_columns(report.systems)
    return View(
        panels=_panels([result for result in in_panels if leads(result)], kinds, ""),
        further=_panels([result for result in in_panels if not leads(result)], kinds, "further-"),
        more=_panels(sorted(beyond, key=leads, reverse=True), kinds, "more-"),
        explained=tuple(_explained([result for result in results if leads(result)], kinds)),
        notes=tuple(visible(note) for note in (*(report.agreement.get("notes") or ()), *cut)),
        scatters=tuple(_scatters(report.response_scores, _measure(results))),
        confusions=tuple(table for first, table in confusions if first),
        further_confusions=tuple(table for first, table in confusions if not first),
        parts=make_parts(report.agreement),
        disagreements=disagreements(report.disagreements),
        compared_systems=tuple(compared_systems(results)),
        system_columns=columns,
        systems=tuple(tuple(cell(row.get(key)) for key, _ in columns) for row in report.systems),
        slices=tuple(
            slice_table(table) for one in report.slices for table in one.get("tables") or ()
        ),
        audit=make_row(report.audit, {}, plots.strip_axis(()), Notes()) if report.audit else None,
        audit_result=report.audit or {},
        has_people=bool({HUMAN_HUMAN, JUDGE_HUMAN} & compared),
        further_says=_further(results, leads),
        measure=_measure(results),
        byline=_byline(report),
        nothing=_nothing(compared),
        people=_people(report.agreement),
    )


def _first(
    results: Sequence[Mapping[str, Any]], leads: Callable[[Mapping[str, Any]], bool]
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Those of the first comparisons, of the leading ones and of the others; what was cut.

    Hundreds of annotators make a page that nobody can read, and no browser likes.
    """
    kept: set[tuple[str, ...]] = set()
    notes = []
    for first in (True, False):
        found = [result for result in results if leads(result) is first and not _system(result)]
        raters = dict.fromkeys(tuple(result.get("raters") or ()) for result in found)
        kept |= set(list(raters)[:MOST_COMPARISONS])
        if len(raters) > MOST_COMPARISONS:
            notes.append(
                f"{MOST_COMPARISONS} of {len(raters)} comparisons are shown; the JSON and the CSV"
                " files have all"
            )
    shown = [one for one in results if _system(one) or tuple(one.get("raters") or ()) in kept]
    return shown, notes


def _panels(
    results: Sequence[Mapping[str, Any]], kinds: Mapping[str, str], anchor: str
) -> tuple[Panel, ...]:
    return tuple(
        make_panel(level, found, kinds, anchor)
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
    if kind is None and said in MADE:
        return MADE[said]
    return f"{'the final label ' if kind == 'adjudicated' else ''}{said}"


def _byline(report: Report) -> str:
    when = report.provenance.get("generated_at")
    name = report.recipe.get("name")
    when = moment(str(when or ""))
    parts = ["Agreement report", f"recipe {name}" if name else "", when]
    return " · ".join(part for part in parts if part)


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
