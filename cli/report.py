"""``accord report``: the study on one page, as JSON, and its disagreements as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..scoring.errors import InputError, one_line
from ..scoring.files import read_whole
from .common import EXTRA, JSON, STUDY, UNSCORED, UNSURE, columns, emit, parse_map
from .score_slices import BY, read_slices

if TYPE_CHECKING:
    from ..validate.report_study import Written

__all__ = ["register"]

_HTML = typer.Option(None, "--html", metavar="FILE", help="Where the page goes.")
_AUDIT = typer.Option(None, "--audit", metavar="FILE", help="What accord audit --json printed.")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "report",
        help="Write reports/report.html (one page that loads nothing), reports/report.json and "
        "reports/disagreements.csv. Example: accord report mystudy --html for-the-paper.html",
    )
    def report_command(
        study: Path = STUDY,
        html: Path = _HTML,
        title: str = typer.Option(None, "--title", help="Of the page; default the study's name."),
        audit: Path = _AUDIT,
        sample: str = typer.Option(None, "--sample", help="Only the items of this sample."),
        template: str = typer.Option(
            None,
            "--template",
            metavar="NAME",
            help="The agreement of labels made with this template, as rating, choice, refusal or "
            "parse.",
        ),
        annotators: str = typer.Option(
            None, "--annotators", metavar="NAME,…", help="Only these people."
        ),
        judges: str = typer.Option(None, "--judges", metavar="NAME,…", help="Only these judges."),
        final: str = typer.Option(
            None, "--final", metavar="NAME", help="The adjudicated or consensus label."
        ),
        positive: str = typer.Option(
            None, "--positive", metavar="LABEL", help="The label that counts as right (CORRECT)."
        ),
        aggregate: str = typer.Option(
            None,
            "--aggregate",
            metavar="HOW",
            help="People's label: majority, adjudicated, unanimous, ground-truth, dawid-skene.",
        ),
        unsure: str = UNSURE,
        unscored: str = UNSCORED,
        extra: str = EXTRA,
        strata: str = typer.Option(
            None, "--strata", metavar="COL,…", help="Agreement by category, system, …, too."
        ),
        family: str = typer.Option(
            None,
            "--family",
            metavar="NAME=FAMILY,…",
            help="Families of judges and systems, for a judge's bias towards its own.",
        ),
        by: str | None = BY,
        unit: str = typer.Option(
            "question", "--unit", metavar="UNIT", help="question, or item (taken as independent)."
        ),
        as_json: bool = JSON,
    ) -> None:
        from ..annotate.alignment_labels import alignment_answers
        from ..study import Study
        from ..validate.report_study import write_report

        rate = _audit(audit) if audit is not None else None
        with Study.open(study) as opened:
            written = write_report(
                opened,
                html,
                title=title,
                audit=rate,
                sample_id=sample,
                template=template,
                annotators=columns(annotators),
                judges=columns(judges),
                final=final,
                positive=positive,
                aggregate=aggregate,
                unsure=unsure,
                unscored=unscored,
                extra=extra,
                strata=columns(strata),
                family=parse_map(family, "--family"),
                by=read_slices(by),
                unit=unit,
                alignment=alignment_answers(opened, sample),
            )
        emit(written.report.to_dict(), as_json, _lines(written))


def _audit(path: Path) -> Mapping[str, Any]:
    """The error rate in what ``accord audit --json`` printed."""
    cure = "give a file that accord audit … --json printed"
    try:
        content = json.loads(read_whole(path, cure=cure))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON that can be read: {error}", cure=cure) from None
    results = content.get("results") if isinstance(content, dict) else None
    for result in results if isinstance(results, list) else ():
        if isinstance(result, dict) and result.get("name") == "error_rate":
            return result
    raise InputError(f"{path} holds no error_rate", cure=cure)


def _lines(written: Written) -> Iterator[str]:
    yield from written.report.conclusions
    yield ""
    yield f"report:        {one_line(str(written.html))}"
    yield f"JSON:          {one_line(str(written.json))}"
    yield f"disagreements: {one_line(str(written.csv))} ({len(written.report.disagreements)})"
