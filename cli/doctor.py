"""``accord doctor``: is everything in order?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .common import JSON, emit, envelope

if TYPE_CHECKING:
    from ..study.checkup import Finding

__all__ = ["register"]

STUDY = typer.Argument(None, metavar="STUDY", help="A study folder to look at.")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "doctor",
        help="Look at versions, disk, Label Studio, a study and its judges' endpoints; nothing is "
        "changed. Exit status 1 if something needs a cure. Example: accord doctor mystudy",
    )
    def doctor_command(study: Path = STUDY, as_json: bool = JSON) -> None:
        from ..study.checkup import examine_judges, examine_machine, examine_study

        findings = list(examine_machine(Path() if study is None else study))
        findings += _label_studio()
        if study is not None:
            findings += examine_study(study)
            findings += examine_judges(study)
        bad = sum(finding.status == "bad" for finding in findings)
        payload = envelope(
            "doctor",
            results=[finding.to_dict() for finding in findings],
            verdict="NO" if bad else "YES",
        )
        emit(payload, as_json, _lines(findings, bad))
        if bad:
            raise typer.Exit(1)


def _lines(findings: list[Finding], bad: int) -> Iterator[str]:
    from ..scoring.errors import one_line

    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        cure = f"; {finding.cure}" if finding.cure else ""
        yield f"{finding.status:<4}  {finding.name:<{width}}  {one_line(finding.detail)}{cure}"
    yield "all in order" if not bad else f"{bad} to put right"


def _label_studio() -> Iterator[Finding]:
    """The server that the environment names, and the kind of its token; never the token."""
    from ..study.checkup import Finding

    name = "Label Studio"
    url, token = (os.environ.get(f"LABEL_STUDIO_{part}", "").strip() for part in ("URL", "API_KEY"))
    if not url and not token:
        from ..annotate.server import PrivateServer

        status = PrivateServer().status()
        if not status.running:
            start = "start a private one with: accord label-studio up"
            yield Finding(name, "note", "no server is named and none runs", start)
            return
    elif token:
        yield Finding("token", "ok", f"LABEL_STUDIO_API_KEY is {_kind(token)}")
    from ..annotate.connection import connect
    from ..scoring.errors import AccordError

    try:
        with connect() as connection:
            yield Finding(name, "ok", f"{connection.version} at {connection.url}")
    except AccordError as error:
        yield Finding(name, "bad", error.message, error.cure)


def _kind(token: str) -> str:
    if re.fullmatch(r"eyJ[\w-]+\.[\w-]+\.[\w-]+", token):
        return "a personal access token"
    if re.fullmatch(r"[0-9a-f]{40}", token):
        return "a legacy token"
    return "of no known kind"
