"""``accord export``: a sample's items as blind tasks for people."""

from __future__ import annotations

from pathlib import Path

import typer

from .common import JSON, STUDY, emit, warn

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "export",
        help="Hand out a sample as blind tasks: to Label Studio (LABEL_STUDIO_URL and "
        "LABEL_STUDIO_API_KEY, else the private one), or to a file that it can import. A repeated "
        "export adds what is missing. Example: accord export mystudy s1 --per-item 2",
    )
    def export_command(
        study: Path = STUDY,
        sample: str = typer.Argument(..., metavar="SAMPLE", help="The sample's name."),
        to: str = typer.Option(
            "label-studio", "--to", metavar="label-studio|FILE.json", help="Where to."
        ),
        template: str = typer.Option("pair", "--template", help="The labelling template."),
        per_item: int = typer.Option(
            None, "--per-item", metavar="K", help="People who grade each task (default 1)."
        ),
        as_json: bool = JSON,
    ) -> None:
        from ..annotate.connection import connect
        from ..annotate.export import export_to_file, export_to_server
        from ..scoring.errors import SettingsError
        from ..study import Study

        with Study.open(study) as opened:
            opened.ledger.sample(sample)
            if to != "label-studio":
                if per_item is not None:
                    raise SettingsError(
                        "--per-item is a setting of a project, and --to names a file",
                        cure="set it in Label Studio, or export to label-studio",
                    )
                report = export_to_file(opened, sample, to, template=template)
            else:
                with connect() as connection:
                    report = export_to_server(
                        opened,
                        sample,
                        connection,
                        template=template,
                        per_item=per_item,
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
