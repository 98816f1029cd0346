"""``accord export``: a sample's items as blind tasks for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from .common import JSON, STUDY, columns, emit, warn

__all__ = ["register"]

_ANNOTATORS = typer.Option(
    None,
    "--annotators",
    metavar="FILE",
    help="One project or file a person: a table with a column email.",
)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "export",
        help="Hand out a sample as blind tasks: to Label Studio (LABEL_STUDIO_URL and "
        "LABEL_STUDIO_API_KEY, else the private one), or to a file that it can import. A repeated "
        "export adds what is missing. Examples: accord export mystudy s1 --per-item 2; "
        "accord export mystudy s1 --annotators people.csv --per-item 2 --not-by author",
    )
    def export_command(
        study: Path = STUDY,
        sample: str = typer.Argument(..., metavar="SAMPLE", help="The sample's name."),
        to: str = typer.Option(
            "label-studio", "--to", metavar="label-studio|FILE.json", help="Where to."
        ),
        template: str = typer.Option(
            "pair",
            "--template",
            metavar="NAME|FOLDER",
            help="pair, response, gold_audit, rating, choice, refusal, components, parse, "
            "adjudication, or the folder of your own.",
        ),
        language: str = typer.Option(
            None, "--language", metavar="CODE", help="Of the instructions, as de; default English."
        ),
        per_item: int = typer.Option(
            None, "--per-item", metavar="K", help="People who grade each task (default 1)."
        ),
        annotators: Path = _ANNOTATORS,
        assign: str = typer.Option(
            "balanced",
            "--assign",
            metavar="HOW",
            help="With --annotators: balanced (equal loads, each two share equally many items).",
        ),
        not_by: str = typer.Option(
            None, "--not-by", metavar="COL", help="The column that names an item's author."
        ),
        match: str = typer.Option(
            None,
            "--match",
            metavar="COL,…",
            help="Only people whose column of that name lists the item's value, as a language.",
        ),
        unmatched: str = typer.Option(
            "show", "--unmatched", help="Predicted elements without a partner: show or hide."
        ),
        show_judge: str = typer.Option(
            None,
            "--show-judge",
            metavar="NAME",
            help="Show people this judge's verdicts. Their labels are marked: not blind, and left "
            "out of figures.",
        ),
        as_json: bool = JSON,
    ) -> None:
        from ..annotate.connection import connect
        from ..annotate.export import export_to_file, export_to_server
        from ..scoring.errors import SettingsError
        from ..study import Study

        if unmatched not in ("show", "hide"):
            raise SettingsError(f"--unmatched is {unmatched!r}", cure="use show or hide")
        if assign != "balanced":
            raise SettingsError(f"--assign is {assign!r}", cure="use balanced")
        if annotators is not None:
            if show_judge is not None:
                raise SettingsError(
                    "--show-judge makes one project for everybody, and --annotators one a person",
                    cure="leave one of them out",
                )
            _share(
                study,
                sample,
                to,
                annotators,
                as_json,
                per_item=1 if per_item is None else per_item,
                not_by=not_by,
                match=columns(match),
                template=template,
                language=language,
                unmatched=unmatched,
            )
            return
        if not_by or match:
            raise SettingsError(
                f"{'--not-by' if not_by else '--match'} chooses among people, and none are named",
                cure="name them: --annotators FILE",
            )
        with Study.open(study) as opened:
            opened.ledger.sample(sample)
            if to != "label-studio":
                if per_item is not None:
                    raise SettingsError(
                        "--per-item is a setting of a project, and --to names a file",
                        cure="set it in Label Studio, or export to label-studio",
                    )
                report = export_to_file(
                    opened,
                    sample,
                    to,
                    template=template,
                    language=language,
                    unmatched=unmatched,
                    judge=show_judge,
                )
            else:
                with connect() as connection:
                    report = export_to_server(
                        opened,
                        sample,
                        connection,
                        template=template,
                        language=language,
                        per_item=per_item,
                        unmatched=unmatched,
                        judge=show_judge,
                        progress=warn,
                    )
        if report.url:
            lines = [
                f"{report.added} tasks added, {report.present} were there, {report.total} in all",
                f"project: {report.url} ({report.per_item} person(s) a task)",
                f"next: grade them there, then accord import {study} --from label-studio",
            ]
        else:
            lines = [
                f"{report.total} tasks in {to}",
                f"labelling interface: {report.files[1]}; instructions: {report.files[2]}",
                f"next: accord import {study} EXPORT.json (Label Studio's export, format JSON)",
            ]
        emit(report.to_dict(), as_json, [*lines, *(f"note: {note}" for note in report.notes)])


def _share(
    study: Path,
    sample: str,
    to: str,
    annotators: Path,
    as_json: bool,
    **options: Any,
) -> None:
    """One project or file a person."""
    from ..annotate.annotators import read_annotators
    from ..annotate.connection import connect
    from ..annotate.sharing import share_to_files, share_to_server
    from ..study import Study

    people = read_annotators(annotators)
    with Study.open(study) as opened:
        opened.ledger.sample(sample)
        if to == "label-studio":
            with connect() as connection:
                report = share_to_server(
                    opened, sample, connection, people, progress=warn, **options
                )
            back = "--from label-studio"
        else:
            report = share_to_files(opened, sample, to, people, **options)
            back = "EXPORT.json …"
    lines = [report.sentence]
    for share in report.shares:
        place = share.url or share.files[0]
        lines.append(
            f"{share.person} ({share.annotator}): {share.added} tasks added, {share.present} were"
            f" there, {share.total} in all: {place}"
        )
    lines.append(f"next: each grades their own, then accord import {study} {back}")
    emit(report.to_dict(), as_json, [*lines, *(f"note: {note}" for note in report.notes)])
