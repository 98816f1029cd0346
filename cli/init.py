"""``accord init``: a new study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from .common import JSON, emit

__all__ = ["register"]


NEW = typer.Argument(..., metavar="STUDY", help="A folder that is not there yet, or is empty.")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("init", help="Make a new study. Example: accord init mystudy --recipe listqa")
    def init_command(
        study: Path = NEW,
        recipe: str = typer.Option("listqa", "--recipe", help="The scoring conventions."),
        seed: int = typer.Option(
            1, "--seed", min=0, max=2**63 - 1, help="Seed of everything that is drawn."
        ),
        as_json: bool = JSON,
    ) -> None:
        from ..study import Study

        with Study.create(study, recipe=recipe, seed=seed) as made:
            payload: dict[str, Any] = {
                "study": str(study),
                "recipe": made.settings.recipe_name,
                "recipe_sha256": made.settings.recipe().sha256,
                "seed": made.settings.seed,
            }
        emit(
            payload,
            as_json,
            [
                f"{study} is a study now (recipe {recipe}); its settings are in study.toml",
                f"next: accord add {study} FILE --as questions|responses|pairs|ratings",
            ],
        )
