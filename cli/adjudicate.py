"""``accord adjudicate``: what people left open, to one person who settles it."""

from __future__ import annotations

from pathlib import Path

import typer

from .common import JSON, STUDY, emit, warn

__all__ = ["register"]

_ANNOTATORS = typer.Option(
    None,
    "--annotators",
    metavar="FILE",
    help="The person who settles it: a table with a column email and one row. Items that this "
    "person labelled are left out.",
)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "adjudicate",
        help="Hand out the items of a sample on which people differ or somebody is unsure, with "
        "what was said of each (no names, in random order), to one person who settles them: to "
        "Label Studio, or to a file that it can import. accord import brings the final labels "
        "back; all others are kept, and accord agree --aggregate adjudicated uses them. Repeated, "
        "it adds what is missing. Example: accord adjudicate mystudy s1 --annotators lead.csv",
    )
    def adjudicate_command(
        study: Path = STUDY,
        sample: str = typer.Argument(..., metavar="SAMPLE", help="The sample's name."),
        to: str = typer.Option(
            "label-studio", "--to", metavar="label-studio|FILE.json", help="Where to."
        ),
        annotators: Path = _ANNOTATORS,
        as_json: bool = JSON,
    ) -> None:
        from ..annotate.adjudication import adjudicate_by_file, adjudicate_on_server
        from ..annotate.annotators import read_annotators
        from ..annotate.connection import connect
        from ..study import Study

        people = read_annotators(annotators) if annotators is not None else []
        with Study.open(study) as opened:
            opened.ledger.sample(sample)
            if to == "label-studio":
                with connect() as connection:
                    report = adjudicate_on_server(
                        opened, sample, connection, people=people, progress=warn
                    )
            else:
                report = adjudicate_by_file(opened, sample, to, people=people)
        lines = list(report.lines())
        if report.export is not None:
            back = "--from label-studio" if report.export.url else "EXPORT.json"
            lines.append(
                f"next: settle them, accord import {study} {back},"
                f" then accord agree {study} --aggregate adjudicated"
            )
        emit(report.to_dict(), as_json, lines)
