"""``accord score``: parse, align, judge, metrics."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .common import JSON, STUDY, emit, envelope

if TYPE_CHECKING:
    from ..study.scoring_run import Progress

__all__ = ["register"]

_FIGURES = (
    ("llm_judge_f1", "Judge-F1"),
    ("llm_judge_precision", "Precision"),
    ("llm_judge_recall", "Recall"),
    ("llm_judge_f1_ordered", "Ordered-F1"),
    ("rouge_f1", "ROUGE-F1"),
    ("relaxed_recall", "Relaxed-R"),
    ("relaxed_precision", "Relaxed-P"),
    ("format_correctness", "Format"),
    ("share_correct", "Share correct"),
)
_STATES = ("given", "empty", "abstained", "unreadable")


JUDGE = typer.Option(
    [], "--judge", metavar="NAME", help="A judge of study.toml, exact or rouge; repeatable."
)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "score",
        help="Parse, align, judge and count the responses of a study. A judge is asked nothing "
        "twice. Example: accord score mystudy --judge exact --jobs 2",
    )
    def score_command(
        study: Path = STUDY,
        judge: list[str] = JUDGE,
        jobs: int = typer.Option(1, "--jobs", min=1, help="Processes that parse and align."),
        repeat: int = typer.Option(
            1, "--repeat", min=1, metavar="K", help="Ask each judge K times: NAME, NAME#2, …"
        ),
        fresh: bool = typer.Option(
            False, "--fresh", help="Ask model judges again; old replies are kept for comparison."
        ),
        as_json: bool = JSON,
    ) -> None:
        from ..study import Study

        with Study.open(study) as opened, _bar() as progress:
            report = opened.score(judge, jobs=jobs, repeat=repeat, fresh=fresh, progress=progress)
        content = report.to_dict()
        payload = envelope(
            "score",
            results=content["results"],
            settings=content["settings"],
            input={"sha256": report.state},
        )
        emit(payload, as_json, _lines(report.rows, report.recipe["name"], report.recipe_sha256))


@contextmanager
def _bar() -> Iterator[Progress | None]:
    """A progress bar on standard error, where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("scored"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("score", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(rows: Sequence[Mapping[str, Any]], recipe: str, sha256: str) -> Iterator[str]:
    yield f"recipe {recipe} ({sha256[:12]}); means over responses, blank answers count as 0"
    for judge in dict.fromkeys(row["judge"] for row in rows):
        yield ""
        yield f"judge {judge}"
        yield from _table([row for row in rows if row["judge"] == judge])
    if any(row["unscored"] for row in rows):
        yield ""
        yield "unscored: the judge's reply could not be read; such pairs are in no figure"


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    figures = [
        (name, title)
        for name, title in _FIGURES
        if any(row["figures"].get(name) is not None for row in rows)
    ]
    counts = ["responses", *_STATES, *(["pairs"] if any("pairs" in row for row in rows) else [])]
    head = ["system", *counts, "unscored", *(title for _, title in figures)]
    body = []
    for row in rows:
        name = f"{row['system']} ({row['variant']})" if row["variant"] else row["system"]
        cells = [_shown(name), *(str(row.get(key, "")) for key in (*counts, "unscored"))]
        for key, _ in figures:
            value = row["figures"].get(key)
            cells.append("" if value is None else f"{value:.4f}")
        body.append(cells)
    widths = [max(len(line[place]) for line in (head, *body)) for place in range(len(head))]
    for line in (head, *body):
        first = line[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))
        yield "  ".join([first, *rest]).rstrip()


def _shown(text: str) -> str:
    from ..scoring.errors import one_line

    return one_line(text)[:60]
