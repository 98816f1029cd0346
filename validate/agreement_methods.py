"""How a panel was made, in words that can stand in a paper: estimators, intervals, clusters, n."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .agreement_report import AgreementReport
from .figures import count, counted, defined, label
from .reading import MADE

__all__ = [
    "MethodRow",
    "compared",
    "interval_sentence",
    "method_rows",
    "methods_paragraph",
    "peoples_label",
    "short_name",
]


@dataclass(frozen=True, slots=True)
class MethodRow:
    """How the intervals of some figures were made: ``figures`` by name, in the panel's order."""

    figures: tuple[str, ...]
    method: str
    unit: str


def method_rows(results: Iterable[Mapping[str, Any]]) -> list[MethodRow]:
    """One row a method and resampling unit, of the figures that are defined."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for result in results:
        if defined(result.get("estimate")) and result.get("method"):
            key = (str(result["method"]), str(result.get("unit") or ""))
            found.setdefault(key, {}).setdefault(short_name(result))
    return [MethodRow(tuple(names), *key) for key, names in found.items()]


def short_name(result: Mapping[str, Any]) -> str:
    """The figure's name and weighting, without what it means."""
    weighting = result.get("weighting") or (result.get("details") or {}).get("weighting")
    name = label(str(result.get("name")))
    return f"{name} ({weighting})" if weighting else name


def compared(report: AgreementReport) -> str:
    """How many items in how many clusters: ``1,490 items in 301 questions``."""
    items = counted(report.items, "item")
    if report.noun == "item":
        return items
    return f"{items} in {counted(report.clusters, _cluster(report))}"


def _cluster(report: AgreementReport) -> str:
    """What a cluster is called; one of several columns has no name of its own."""
    return report.noun if len(report.settings.get("cluster") or ()) < 2 else "cluster"


def interval_sentence(report: AgreementReport, results: Sequence[Mapping[str, Any]]) -> str:
    """Confidence, resampling unit, weights, and the method of each figure's interval."""
    confidence = f"{100 * float(report.settings.get('confidence', 0.95)):g} %"
    names = [str(name) for name in report.settings.get("cluster") or ()]
    columns = f" ({', '.join(names)})" if names else ""
    if report.settings.get("unit") == "item" or report.noun == "item":
        unit = "items are taken as independent"
    else:
        unit = f"the resampling unit is the {_cluster(report)}{columns}"
    weighted = any((result.get("details") or {}).get("weighted") for result in results)
    weights = (
        "items are weighted by 1 / inclusion probability" if weighted else "items are not weighted"
    )
    rows = method_rows(results)
    how = "; ".join(f"{_joined(row.figures)} ({row.method})" for row in rows)
    out = f"Intervals are at {confidence} confidence; {unit}; {weights}."
    if how:
        out += f" How each was made: {how}."
    return out


def methods_paragraph(report: AgreementReport, results: Sequence[Mapping[str, Any]]) -> str:
    """What was compared and how, as a paragraph.

    Parameters
    ----------
    report
        The panel.
    results
        Those of its figures (dictionaries) that the paragraph is about.
    """
    from .. import __version__

    settings = report.settings
    parts = [f"{compared(report)} rated by people were compared."]
    parts += _raters(report)
    parts.append(f"Labels are read on the {settings.get('scale', 'nominal')} scale.")
    if settings.get("positive") is not None:
        parts.append(f"“{settings['positive']}” counts as the positive label.")
    if settings.get("ignore"):
        parts.append(f"Elements labelled {_joined(list(settings['ignore']))} do not count.")
    parts.append(interval_sentence(report, results))
    if any("bootstrap" in str(result.get("method")) for result in results):
        parts.append(
            f"Bootstrap intervals rest on {count(settings.get('resamples'))} resamples, seed"
            f" {settings.get('seed')}."
        )
    parts.append(
        f"UNSURE counts as {settings.get('unsure')}, a judge’s unreadable reply as"
        f" {settings.get('unscored')}, an element that is correct but missing from the reference"
        f" as {settings.get('extra')}; a missing rating is left out and counted."
    )
    dropped = [f"{count(n)} {why}" for why, n in report.dropped.items() if n]
    if dropped:
        parts.append(f"Left out of the input: {_joined(dropped)}.")
    parts.append(f"Computed with accord {__version__}.")
    return " ".join(parts)


def _raters(report: AgreementReport) -> Iterable[str]:
    for kind, one, more in (
        ("annotator", "Annotator", "Annotators"),
        ("adjudicated", "Final label", "Final labels"),
        ("judge", "Judge", "Judges"),
    ):
        names = [rater for rater, k in report.kinds.items() if k == kind]
        if len(names) > 8:
            yield f"{more}: {count(len(names))}."
        elif names:
            yield f"{one if len(names) == 1 else more}: {_joined(names)}."
    if made := peoples_label(report):
        yield f"People’s label: {made}."


def peoples_label(report: AgreementReport) -> str:
    """How people's label was made of the annotators'; blank where a rater gave it."""
    if report.people is None or report.people in report.kinds:
        return ""
    name = report.people.removesuffix(" of the annotators")
    return MADE.get(name, f"{name} of the annotators").removeprefix("the ")


def _joined(names: Sequence[str]) -> str:
    return ", ".join(names)
