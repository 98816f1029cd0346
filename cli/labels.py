"""``accord labels``: any Label Studio project's export as a table of ratings."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from .common import JSON, columns, emit, warn

__all__ = ["register"]

_EXPORT = typer.Argument(
    ..., metavar="EXPORT|STUDY", help="JSON (recommended), JSON_MIN or CSV; or a study."
)
_TO = typer.Option(None, "--to", metavar="FILE.csv", help="Where the table goes (standard output).")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "labels",
        help="Read the labels of any Label Studio project into a table that accord agree takes, "
        "and say what became of each annotation. Example: "
        "accord labels export.json --item data.id --control sentiment --to labels.csv. "
        "Of a study: labels of whole responses, parses and gold answers. Example: "
        "accord labels mystudy --template rating --to ratings.csv",
    )
    def labels_command(
        export: Path = _EXPORT,
        template: str = typer.Option(
            None,
            "--template",
            metavar="NAME",
            help="Of a study: the labels made with this template, as rating, choice, refusal or "
            "parse.",
        ),
        item: str = typer.Option(
            None, "--item", metavar="data.KEY", help="What names an item; id: the task's number."
        ),
        control: str = typer.Option(
            None,
            "--control",
            metavar="NAME,…",
            help="The control that rates; others become columns of their names.",
        ),
        several: str = typer.Option(
            "refuse",
            "--several",
            metavar="HOW",
            help="Answers of several values: refuse, invalid (left out), join (one label), "
            "each (an item a value, YES or NO).",
        ),
        keep: str = typer.Option(
            None, "--keep", metavar="data.KEY,…", help="Fields of the tasks that become columns."
        ),
        to: Path = _TO,
        as_json: bool = JSON,
    ) -> None:
        from ..annotate.foreign import read_labels
        from ..scoring.errors import SettingsError
        from ..study.writers import csv_text, write_csv

        if as_json and to is None:
            raise SettingsError(
                "--json prints the report, and the table has no place", cure="add --to FILE.csv"
            )
        if os.path.isdir(export):
            of_exports = {
                "--item": item,
                "--control": control,
                "--several": several != "refuse",
                "--keep": keep,
            }
            for option, value in of_exports.items():
                if value:
                    raise SettingsError(
                        f"{option} is for an export, and {export} is a study", cure="leave it out"
                    )
            _of_study(export, template, to, as_json)
            return
        if template or not item or not control:
            raise SettingsError(
                "--template is for a study, and this is an export"
                if template
                else "--item and --control say what is rated, and with what",
                cure="use --item data.KEY --control NAME",
            )
        frame, report = read_labels(
            export,
            item=item,
            controls=columns(control),
            several=several,  # type: ignore[arg-type]  # read_labels refuses what it does not know
            keep=columns(keep),
        )
        if to is None:
            for line in report.lines():
                warn(line)
            typer.echo(csv_text(frame), nl=False)
            return
        write_csv(to, frame)
        payload = {"command": "labels", **report.to_dict(), "file": to.name}
        emit(payload, as_json, [*report.lines(), f"next: accord agree {to}"])


def _of_study(path: Path, template: str | None, to: Path | None, as_json: bool) -> None:
    """The labels of a study that are no ratings of pairs."""
    from ..annotate.label_tables import unit_labels
    from ..scoring.errors import SettingsError, StudyError
    from ..study import Study
    from ..study.writers import csv_text, write_csv

    if template is None:
        raise SettingsError(
            f"{path} is a study: which labels?",
            cure="use --template rating, choice, refusal, components or parse",
        )
    with Study.open(path) as study:
        frame = unit_labels(study, template)
    if frame.empty:
        raise StudyError(
            f"{path} has no label made with the template {template}",
            cure=f"accord export {path} SAMPLE --template {template}, then accord import {path}"
            " --from label-studio",
        )
    if to is None:
        typer.echo(csv_text(frame), nl=False)
        return
    write_csv(to, frame)
    report = {"rows": len(frame), "template": template, "table": to.name}
    emit(report, as_json, [f"{len(frame)} labels in {to}"])
