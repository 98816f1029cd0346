"""``accord sample``: draw items for people, with known inclusion probabilities."""

from __future__ import annotations

from pathlib import Path

import typer

from .common import JSON, STUDY, columns, emit, envelope

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "sample",
        help="Draw a sample of items for people and keep its design and inclusion probabilities. "
        "Examples: accord sample mystudy --n 300 --by system; "
        "accord sample mystudy --questions 40 (whole questions, all systems)",
    )
    def sample_command(
        study: Path = STUDY,
        n: int = typer.Option(None, "--n", help="Items to draw; all when left out."),
        questions: int = typer.Option(
            None, "--questions", help="Questions to draw, each with all its items."
        ),
        by: str = typer.Option(None, "--by", metavar="COL,…", help="Columns that make strata."),
        purpose: str = typer.Option(
            "agreement", "--for", metavar="PURPOSE", help="agreement, audit or pilot."
        ),
        seed: int = typer.Option(None, "--seed", help="The study's seed when left out."),
        name: str = typer.Option(None, "--name", help="Of the sample; s1, s2, … when left out."),
        as_json: bool = JSON,
    ) -> None:
        from ..annotate.sample import draw_sample
        from ..study import Study

        with Study.open(study) as opened:
            sample = draw_sample(
                opened,
                n=n,
                questions=questions,
                by=columns(by),
                purpose=purpose,
                seed=seed,
                sample_id=name,
            )
        result = {
            "sample": sample.sample_id,
            "purpose": sample.purpose,
            "items": len(sample.items),
            "design": sample.design,
            "seed": sample.seed,
        }
        lines = [
            f"sample {sample.sample_id}: {sample.design}",
            f"next: accord export {study} {sample.sample_id}",
        ]
        emit(envelope("sample", results=[result]), as_json, lines)
