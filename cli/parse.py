"""``accord parse``: how answers are read."""

from __future__ import annotations

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("parse", help="Show how answers are read: one JSON object a line.")
    def parse_command() -> None:
        raise typer.Exit(0)
