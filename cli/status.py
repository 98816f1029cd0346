"""``accord status``: how far the grading is."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .common import JSON, STUDY, emit, warn

if TYPE_CHECKING:
    from ..annotate.progress import SampleProgress
    from ..study import Study
    from ..validate.result import Estimate

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "status",
        help="How far the grading is: done, skipped and left a person, minutes an item, agreement "
        "so far, items worth adjudicating, expected finish. From what has been imported; "
        "--from label-studio fetches first. Example: accord status mystudy --watch",
    )
    def status_command(
        study: Path = STUDY,
        source: str = typer.Option(
            None, "--from", metavar="label-studio", help="Import what is new there first."
        ),
        watch: bool = typer.Option(
            False, "--watch", help="Import and show again and again until Ctrl-C."
        ),
        every: int = typer.Option(30, "--every", help="With --watch: seconds between two looks."),
        as_json: bool = JSON,
    ) -> None:
        from ..scoring.errors import ServiceError, SettingsError, StudyError

        if source not in (None, "label-studio"):
            raise SettingsError(f"--from is {source!r}", cure="use --from label-studio")
        if not 1 <= every <= 86_400:
            raise SettingsError(f"--every is {every}", cure="give 1 to 86,400 seconds")
        if watch and as_json:
            raise SettingsError("--watch shows pages, and --json is one", cure="leave one out")
        seen, trouble = False, None
        missing: list[str] = []
        while True:
            if watch or source:
                try:
                    missing, trouble = _fetch(study), None
                    seen = True
                except (ServiceError, StudyError) as error:
                    # Who watches for hours outlives a server that is started anew.
                    if not (watch and seen):
                        raise
                    trouble = error.message
            _show(study, as_json, clear=watch)
            for text in missing:
                warn(text)
            if trouble is not None:
                warn(f"{trouble}; asking again in {every} s")
            if not watch:
                return
            time.sleep(every)


def _fetch(study: Path) -> list[str]:
    """Import what is new; what to say of projects that are not on the server."""
    from ..annotate.connection import connect
    from ..annotate.importing import import_from_server
    from ..study import Study

    with Study.open(study) as opened, connect() as connection:
        report = import_from_server(opened, connection, progress=lambda text: None)
        gone = [one.missing(study, connection.url) for one in report.missing_projects]
        return [f"{what}; {cure}" for what, cure in gone]


def _show(study: Path, as_json: bool, *, clear: bool) -> None:
    from ..annotate.progress import progress_of
    from ..study import Study

    payload: list[dict[str, Any]] = []
    lines: list[str] = []
    with Study.open(study) as opened:
        found = progress_of(opened)
        for sample in found:
            among, selves = _agreement(opened, sample)
            payload.append({**sample.to_dict(), "agreement": among, "agreement_with_self": selves})
            lines += sample.lines()
            if among is not None:
                lines.append(f"  people agree on {_agreed(among)}")
            for one in selves:
                lines.append(f"  {one['raters'][0]} repeats their label on {_agreed(one)}")
    if not found:
        lines.append(f"no sample yet; draw one with accord sample {study}")
    if clear:
        if sys.stdout.isatty():
            sys.stdout.write("\x1b[2J\x1b[H")
        lines.append(f"{time.strftime('%H:%M:%S')}; Ctrl-C ends")
    emit({"command": "status", "samples": payload}, as_json, lines)


def _agreement(
    study: Study, sample: SampleProgress
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The raw agreement so far: of people with each other, None where two never met; and of each
    person with themselves, which is what a retest asks for."""
    from ..study.weights import RETEST

    found = _raw_agreement(study, sample)
    if sample.purpose == RETEST:
        return None, [one.to_dict() for one in found if one.details.get("side") == "self"]
    among = [
        one for one in found if one.level == "element" and one.details.get("comparison") == "people"
    ]
    best = max(among, key=lambda one: (len(one.raters), one.n), default=None)
    return None if best is None else best.to_dict(), []


def _raw_agreement(study: Study, sample: SampleProgress) -> list[Estimate]:
    from ..scoring.errors import AccordError
    from ..validate.agreement_report import agreement
    from ..validate.panel_settings import options_of

    if sample.judge_shown:
        return []
    try:
        ratings = study.ratings(sample.sample_id, template=sample.template)
        report = agreement(ratings, **options_of(study, {"resamples": 0}, ratings))
    except AccordError as error:
        if sample.labels > sample.tasks:
            warn(f"{sample.sample_id}: no agreement yet: {error.message}")
        return []
    found = [*report.results, *(one for part in report.sections for one in part.results)]
    return [one for one in found if one.name == "agreement" and one.n]


def _agreed(figure: dict[str, Any]) -> str:
    text = f"{100 * figure['estimate']:.1f} % of {figure['n']} items"
    if figure["low"] is not None:
        return f"{text} [{100 * figure['low']:.1f}, {100 * figure['high']:.1f}]"
    return f"{text} ({figure['reason']})" if figure["reason"] else text
