"""``accord import``: people's labels back from Label Studio."""

from __future__ import annotations

from pathlib import Path

import typer

from .common import JSON, STUDY, columns, emit, parse_map, warn

__all__ = ["register"]

_FILES = typer.Argument(
    None, metavar="[FILE …]", help="Exports: JSON (recommended), JSON_MIN or CSV."
)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "import",
        help="Bring labels back, from the server or from Label Studio's JSON export, and say what "
        "became of each. Examples: accord import mystudy --from label-studio; "
        "accord import mystudy project-3.json --annotators 2=ann@example.org",
    )
    def import_command(
        study: Path = STUDY,
        file: list[Path] = _FILES,
        source: str = typer.Option(
            None, "--from", metavar="label-studio", help="Ask the server for the study's projects."
        ),
        sample: str = typer.Option(
            None, "--sample", metavar="SAMPLE,…", help="With --from: only these samples."
        ),
        annotators: str = typer.Option(
            None,
            "--annotators",
            metavar="NUMBER=EMAIL,…",
            help="Who the user numbers of a file are.",
        ),
        as_json: bool = JSON,
    ) -> None:
        from ..annotate.connection import connect
        from ..annotate.importing import import_files, import_from_server
        from ..scoring.errors import SettingsError
        from ..study import Study

        files = list(file or ())
        if source not in (None, "label-studio"):
            raise SettingsError(f"--from is {source!r}", cure="use --from label-studio")
        if bool(files) == bool(source):
            raise SettingsError(
                "name files or a server" if not files else "files and --from are both given",
                cure="use accord import STUDY FILE … or accord import STUDY --from label-studio",
            )
        for option, value, goes in (
            ("--sample", sample, "--from label-studio"),
            ("--annotators", annotators, "files"),
        ):
            if value is not None and (option == "--sample") == bool(files):
                raise SettingsError(f"{option} goes with {goes}", cure="leave it out")
        people = {}
        for key, email in parse_map(annotators, "--annotators").items():
            if not key.isdecimal() or "@" not in email:
                raise SettingsError(
                    f"--annotators has {key}={email}",
                    cure="write NUMBER=EMAIL, as 2=ann@example.org",
                )
            people[int(key)] = email
        with Study.open(study) as opened:
            if files:
                report = import_files(opened, files, people=people)
            else:
                with connect() as connection:
                    report = import_from_server(
                        opened, connection, samples=columns(sample), progress=warn
                    )
        emit(report.to_dict(), as_json, report.lines())
