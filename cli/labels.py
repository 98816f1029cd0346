"""``accord labels``: any Label Studio project's export as a table of ratings."""

from __future__ import annotations

from pathlib import Path

import typer

from .common import JSON, columns, emit, warn

__all__ = ["register"]

_EXPORT = typer.Argument(..., metavar="EXPORT", help="JSON (recommended), JSON_MIN or CSV.")
_TO = typer.Option(None, "--to", metavar="FILE.csv", help="Where the table goes (standard output).")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "labels",
        help="Read the labels of any Label Studio project into a table that accord agree takes, "
        "and say what became of each annotation. Example: "
        "accord labels export.json --item data.id --control sentiment --to labels.csv",
    )
    def labels_command(
        export: Path = _EXPORT,
        item: str = typer.Option(
            ..., "--item", metavar="data.KEY", help="What names an item; id: the task's number."
        ),
        control: str = typer.Option(
            ...,
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
