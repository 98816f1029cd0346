"""An agreement panel as plain text: people beside judges, coefficient by coefficient.

Fits 100 columns, or 80 without clusters and design effects. All rounding happens here and in
:mod:`~accord.validate.figures`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .agreement_methods import compared, peoples_label
from .agreement_report import AgreementReport
from .figures import count, defined, estimate, heading, interval, label, percent, value, visible
from .number_figures import NUMBERS
from .panel import Confusion
from .reading import SHORT
from .section import Section
from .text_cells import pad, right, squeezed, width

__all__ = ["agreement_lines"]

WIDTH = 100
"""Columns of the whole table."""

NARROW = 80
"""The fewest columns that a table is made for."""

_LEVELS = (("element", "Element level: labels"), ("response", "Response level"))
_PLAIN_NAMES = {"mean_rating": "mean rating", "share_correct": "share correct (no F1)", "F1": "F1"}
_ORDER = (
    *("agreement", "cohen_kappa", "weighted_kappa", "fleiss_kappa", "conger_kappa"),
    *("krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "krippendorff_alpha_interval"),
    *("krippendorff_alpha_ratio", "gwet_ac1", "gwet_ac2", "brennan_prediger", "mcc"),
    *("sensitivity", "specificity", "precision", "f1", "macro_f1", "mcnemar", *NUMBERS),
)
_SHOWN = frozenset({*SHORT, "mean_score"})
_MORE = (
    "More: --all adds MCC, Brennan–Prediger, McNemar’s test, Fleiss’ and Conger’s κ, AC2, ICC, RMSE"
    " and limits of agreement; --json and --csv always have every figure."
)
_PART = 0.1
"""From this distance on κ and AC1 are said to part."""


@dataclass(frozen=True, slots=True)
class _Page:
    """How wide the lines may be, and what follows from it."""

    columns: int

    @property
    def whole(self) -> bool:
        """Whether clusters and design effects have room."""
        return self.columns >= WIDTH

    @property
    def who(self) -> int:
        return 43 if self.whole else self.columns - 40

    @property
    def system(self) -> int:
        return 34 if self.whole else self.columns - 62

    def wrapped(self, texts: Iterable[str], start: str) -> list[str]:
        out: list[str] = []
        for text in texts:
            out += textwrap.wrap(
                f"{start}{visible(text)}",
                self.columns,
                subsequent_indent=" " * max(len(start), 2),
            )
        return out


def agreement_lines(
    report: AgreementReport, *, every: bool = False, columns: int = WIDTH
) -> list[str]:
    """The panel for a person at a terminal: the short table, or ``every`` figure.

    ``columns`` is the terminal's width; below 80 it is taken as 80, above 100 as 100.
    """
    page = _Page(min(max(columns, NARROW), WIDTH))
    results = [result for result in report.main_dicts() if every or result["name"] in _SHOWN]
    lines = [*page.wrapped(report.notes, "Note: "), _heading(report), *_who(page, report)]
    for level, title in _LEVELS:
        found = [result for result in results if result["level"] == level]
        if found:
            lines += ["", *_level(page, found, title)]
    lines += _systems(page, [result for result in results if result["level"] == "system"])
    for table in _shown(report.confusion):
        lines += ["", *_confusion(page, table)]
    lines += ["", *_left_out(page, results, report)]
    lines += _explained(page, results)
    lines += _warnings(page, results)
    if not every:
        lines += page.wrapped([_MORE], "")
    for section in report.sections:
        lines += _section(page, section)
    return [line.rstrip() for line in lines]


def _section(page: _Page, section: Section) -> Iterable[str]:
    """A further part: its heading, what it prints, and what must be told with it."""
    yield ""
    yield from page.wrapped([section.title], "")
    for line in squeezed([visible(line) for line in section.lines], page.columns - 2):
        yield f"  {line}"
    yield from page.wrapped(section.notes, "  Note: ")


def _heading(report: AgreementReport) -> str:
    items, _, inside = compared(report).partition(" in ")
    return f"{items} rated by people{f' in {inside}' if inside else ''}"


def _who(page: _Page, report: AgreementReport) -> Iterable[str]:
    for kind, words in (
        ("annotator", "annotators"),
        ("adjudicated", "final label"),
        ("judge", "judges"),
    ):
        names = [visible(rater) for rater, k in report.kinds.items() if k == kind]
        if names:
            shown = ", ".join(names[:20]) + (f", … ({len(names)})" if len(names) > 20 else "")
            yield from page.wrapped([shown], f"{words}: ")
    if made := peoples_label(report):
        yield f"people's label: {made}"


def _level(page: _Page, results: Sequence[Mapping[str, Any]], title: str) -> Iterable[str]:
    reasons = {result["reason"] for result in results}
    if len(reasons) == 1 and not any(defined(result["estimate"]) for result in results):
        yield from page.wrapped([f"undefined ({reasons.pop()})"], f"{title}: ")
        return
    measure = next((result["measure"] for result in results if "measure" in result), None)
    head = f"{title}: {_PLAIN_NAMES.get(str(measure), measure)}" if measure else title
    limits = f"{100 * results[0]['confidence']:g} % interval"
    more = f" {_unit(results):>9} {'deff':>5}" if page.whole else ""
    yield f"{pad(head, page.who + 2)} {'estimate':>9}  {limits:<18} {'n':>7}{more}"
    groups: dict[tuple[int, str], list[Mapping[str, Any]]] = {}
    for result in results:
        name = result["name"]
        place = _ORDER.index(name) if name in _ORDER else len(_ORDER)
        groups.setdefault((place, heading(result)), []).append(result)
    for (_, name), same in sorted(groups.items()):
        methods = list(dict.fromkeys(result["method"] for result in same if result["method"]))
        yield from page.wrapped([f"{name}{f'  ({methods[0]})' if methods else ''}"], "")
        for result in same:
            yield from _row(page, result)


def _unit(results: Sequence[Mapping[str, Any]]) -> str:
    unit = str(results[0]["unit"])
    return "clusters" if len(unit) > 8 or unit == "item" else f"{unit}s"


def _row(page: _Page, result: Mapping[str, Any]) -> Iterable[str]:
    kind = "people" if result["comparison"] == "people" else "judge"
    who = _between(result) or "all"
    if width(who) > page.who - 8 and len(result["raters"]) > 2:
        who = f"{len(result['raters'])} annotators together"
    design = result["design_effect"]
    effect = f"{design:.2f}" if defined(design) else "–"
    more = f" {count(result['clusters']):>9} {effect:>5}" if page.whole else ""
    yield (
        f"  {pad(f'{kind:<6}  {who}', page.who)} {estimate(result):>9}"
        f"  {interval(result) or '–':<18} {count(result['n']):>7}{more}"
    )
    if result["reason"]:
        yield from page.wrapped([f"({result['reason']})"], "          ")
    elif result["name"] == "mcnemar":
        yield from page.wrapped([f"({_test(result)})"], "          ")


def _test(result: Mapping[str, Any]) -> str:
    """The counts and the p-value of McNemar's test."""
    found, (first, second) = result["details"], result["raters"]
    each = f"{count(found['only_first'])} {first} only, {count(found['only_second'])} {second} only"
    return f"{found['label']} by {each}; p = {value(found['p'])}"


def _between(result: Mapping[str, Any]) -> str:
    """Whose ratings are compared; more than three are only counted."""
    raters = result["raters"]
    if len(raters) > 3:
        return f"{len(raters)} annotators together"
    return " ~ ".join(visible(rater) for rater in raters)


def _systems(page: _Page, results: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    if not results:
        return
    measure = str(results[0].get("measure"))
    limits = f"{100 * results[0]['confidence']:g} % interval"
    yield ""
    differences = [result for result in results if result["name"] == "bias"]
    whose = "rated by both" if differences else f"rated by {visible(results[0]['raters'][0])}"
    yield f"System level: {_PLAIN_NAMES.get(measure, measure)}, mean of the responses {whose}"
    for result in [] if differences else results:
        yield (
            f"    {pad(visible(result['system']), page.system)} {estimate(result):>8}"
            f"  {interval(result) or '–':<18} {count(result['n']):>6}"
        )
    for judge, people in dict.fromkeys(tuple(result["raters"]) for result in differences):
        yield (
            f"  {pad(f'{visible(judge)} ~ {visible(people)}', page.system + 2)} {'people':>8}"
            f" {'judge':>8} {'judge−people':>12}  {limits:<18} {'n':>6}"
        )
        for at, result in enumerate(results):
            if result["name"] != "bias" or result["raters"] != [judge, people]:
                continue
            by_judge, by_people = results[at - 2], results[at - 1]
            yield (
                f"    {pad(visible(result['system']), page.system)} {estimate(by_people):>8}"
                f" {estimate(by_judge):>8} {estimate(result):>12}  {interval(result) or '–':<18}"
                f" {count(result['n']):>6}"
            )
            if result["reason"]:
                yield from page.wrapped([f"({result['reason']})"], "          ")


def _shown(tables: Sequence[Confusion]) -> list[Confusion]:
    """Against the final label where there is one, else against each annotator; small ones only."""
    final = [table for table in tables if table.comparison == "judge-final"]
    return [table for table in final or tables if len(table.labels) <= 8]


def _confusion(page: _Page, table: Confusion) -> Iterable[str]:
    judge, person = (visible(rater) for rater in table.raters)
    total = count(sum(map(sum, table.counts)))
    yield from page.wrapped([f"{judge} (columns) against {person} (rows), {total} items"], "")
    widest = max(min(width(visible(name)), 12) + 2 for name in table.labels)
    cell = min(max(8, widest), (page.columns - 16) // len(table.labels))
    yield f"  {'':14}" + "".join(right(visible(name), cell) for name in table.labels)
    for name, row in zip(table.labels, table.counts, strict=True):
        yield f"  {pad(visible(name), 14)}" + "".join(f"{count(number):>{cell}}" for number in row)
    if table.positive is not None:
        yield (
            f"  {visible(table.positive)}: TP {count(table.tp)}, FP {count(table.fp)},"
            f" FN {count(table.fn)}, TN {count(table.tn)}"
        )


def _left_out(
    page: _Page, results: Sequence[Mapping[str, Any]], report: AgreementReport
) -> Iterable[str]:
    said: dict[str, None] = {}
    # what a system's mean leaves out is told with the responses, where these are compared
    alone = all(result["level"] == "system" for result in results)
    for result in results:
        if result["dropped"] and (alone or result["level"] != "system"):
            what = ", ".join(f"{count(n)} {why}" for why, n in result["dropped"].items())
            who = visible(result["system"]) if alone else _between(result)
            unit = "items" if result["level"] == "element" else "responses"
            said.setdefault(f"{who}: {what} ({unit})")
    shown = list(said)[:12]
    if len(said) > 12:
        shown.append(f"and {len(said) - 12} further comparisons (--json has all)")
    gone = {why: n for why, n in report.dropped.items() if n and why != "skipped"}
    if said:
        yield from page.wrapped(shown, "Left out: ")
    elif gone:
        what = ", ".join(f"{count(n)} {why}" for why, n in gone.items())
        yield from page.wrapped([what], "Left out of the input: ")
    else:
        yield "Left out: nothing"
    if skipped := report.dropped.get("skipped"):
        yield f"Skipped by annotators: {count(skipped)} ratings"


def _explained(page: _Page, results: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """Why κ and AC1 part, where they do: for people, and for each judge with the final label."""
    element = [result for result in results if result["level"] == "element"]
    told = 0
    for result in element:
        if result["name"] != "cohen_kappa" or result["comparison"] == "judge-annotator":
            continue
        same = {
            other["name"]: other["estimate"]
            for other in element
            if other["raters"] == result["raters"]
        }
        kappa, ac1, raw = result["estimate"], same.get("gwet_ac1"), same.get("agreement")
        if not (defined(kappa) and defined(ac1) and defined(raw)) or raw == 1 or told == 3:
            continue
        if abs(ac1 - kappa) >= _PART:
            told += 1
            yield from page.wrapped([_why_they_part(result, raw, kappa, ac1)], "")


def _why_they_part(result: Mapping[str, Any], raw: float, kappa: float, ac1: float) -> str:
    """Both rescale raw agreement by what chance would give, (p − e)/(1 − e), with another e."""
    by_kappa, by_ac1 = ((raw - each) / (1 - each) for each in (kappa, ac1))
    details = result.get("details") or {}
    text = (
        f"{' and '.join(result['raters'])}: κ {value(kappa)} and AC1 {value(ac1)} part over what"
        f" chance would give: {percent(by_kappa, 1)} by each rater's own label shares (κ),"
        f" {percent(by_ac1, 1)} by how evenly the labels are used (AC1), against {percent(raw)} raw"
        " agreement. Read them together, neither alone."
    )
    if "prevalence_index" in details:
        text += (
            f" Prevalence index {value(details['prevalence_index'], 2)} (0: both labels equally"
            f" common), bias index {value(details['bias_index'], 2)} (0: both raters use them"
            " equally often)."
        )
    elif "commonest_label" in details:
        shares = " and ".join(percent(share, 1) for share in details["commonest_shares"])
        text += (
            f" The commonest label, {details['commonest_label']}, has {shares} of their ratings"
            " (the nearer to 100 %, the farther the two part)."
        )
    return text


def _warnings(page: _Page, results: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """Each kind of warning once, with its first wording and whom it concerns."""
    found: dict[str, tuple[str, list[str]]] = {}
    for result in results:
        for text in result["warnings"]:
            who = _between(result)
            key = re.sub(r"[0-9.]+", "#", text)
            found.setdefault(key, (text, []))[1].append(f"{label(result['name'])} {who}".strip())
    for text, named in found.values():
        more = f", and {len(named) - 1} more figures" if len(named) > 1 else ""
        yield from page.wrapped([f"{visible(text)} ({named[0]}{more})"], "Caution: ")
