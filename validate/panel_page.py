"""An agreement panel as one self-contained page: every figure with its interval drawn.

It has the parts of the report of a study that a table of ratings has too, made by the same
templates, and no conclusion: what a panel means for a judge is for the reader to say.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from typing import Any

from .agreement_methods import compared, method_rows, methods_paragraph, peoples_label
from .agreement_report import AgreementReport
from .figures import count, visible
from .report import build_report, template
from .report_view import view

__all__ = ["agreement_page"]

_NAMED = 20
"""So many raters are named, more are only counted."""


def agreement_page(report: AgreementReport, *, title: str = "", generated_at: str = "") -> str:
    """The page: no script, no request, readable on paper, in the dark and on a phone.

    Parameters
    ----------
    report
        The panel.
    title
        Of the page; default the input's name.
    generated_at
        A time in ISO 8601, shown below the title; none where it is blank.
    """
    from .. import __version__

    results = report.result_dicts()
    page = build_report(
        title=title or f"Agreement: {report.source.get('name') or 'ratings'}",
        agreement=report.to_dict(),
        response_scores=report.responses,
        provenance={
            "generated_at": generated_at or None,
            "input": dict(report.source),
            "settings": dict(report.settings),
            "accord": __version__,
            "python": platform.python_version(),
        },
    )
    return template("agreement_page.html.j2").render(
        report=page,
        view=view(page),
        version=__version__,
        facts=list(_facts(report)),
        paragraph=visible(methods_paragraph(report, report.main_dicts())),
        methods=method_rows(results),
    )


def _facts(report: AgreementReport) -> Iterable[tuple[str, str]]:
    """What was compared, in names and numbers."""
    settings: Mapping[str, Any] = report.settings
    yield "Rated by people", compared(report)
    for kind, one, more in (
        ("annotator", "Annotator", "Annotators"),
        ("adjudicated", "Final label", "Final labels"),
        ("judge", "Judge", "Judges"),
    ):
        names = [rater for rater, k in report.kinds.items() if k == kind]
        if names:
            rest = f", … ({len(names)})" if len(names) > _NAMED else ""
            yield (one if len(names) == 1 else more), ", ".join(names[:_NAMED]) + rest
    if made := peoples_label(report):
        yield "People’s label", made
    yield "Scale", str(settings.get("scale", ""))
    if settings.get("positive") is not None:
        yield "Positive label", str(settings["positive"])
    if settings.get("cluster"):
        yield "Clusters", ", ".join(map(str, settings["cluster"]))
    yield "Intervals", f"{100 * float(settings.get('confidence', 0.95)):g} %"
    dropped = [f"{count(n)} {why}" for why, n in report.dropped.items() if n]
    if dropped:
        yield "Left out", ", ".join(dropped)
