"""``accord score``: parse, align, judge, metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..scoring.errors import InputError, SettingsError
from .common import JSON, STUDY, emit, envelope, grid, warn, with_all_rows
from .score_aligners import aligner_lines, aligner_settings, effects, read_aligners
from .score_slices import BY, read_slices, slice_lines

if TYPE_CHECKING:
    from rich.progress import TaskID

    from ..scoring.judge_progress import ProgressCallback
    from ..study import ScoreReport

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
_SIDES = ("predicted", "reference")
_STATES = ("given", "empty", "abstained", "unreadable")


JUDGE = typer.Option(
    [], "--judge", metavar="NAME", help="A judge of study.toml, exact or rouge; repeatable."
)

VERDICTS = typer.Option(
    None, "--verdicts", metavar="FILE", help="With --recipe: verdicts (judge_reply) by item_id."
)
JUDGES_OF = typer.Option(
    None,
    "--judges-of",
    metavar="STUDY",
    help="With --recipe: the study that has the --judge and keeps its replies.",
)
OPEN = typer.Option(
    None, "--open", metavar="FILE", help="With --recipe: write out what waits for a verdict."
)
ALIGNERS = typer.Option(
    None,
    "--aligners",
    metavar="NAME,NAME",
    help="Compare aligners: rouge (the optimal assignment), greedy, positional, embedding. "
    "Judges are asked about pairs that only these make; no score changes.",
)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "score",
        help="Parse, align, judge and count the responses of a study. A judge is asked nothing "
        "twice. Example: accord score mystudy --judge exact --jobs 2. With --recipe, a benchmark's "
        "own file of answers is scored without a study: accord score answers.jsonl --recipe "
        "sciknoweval --set rating_map=r/5",
    )
    def score_command(
        study: Path = STUDY,
        judge: list[str] = JUDGE,
        jobs: int = typer.Option(
            1, "--jobs", min=1, help="Processes that parse and align (list questions)."
        ),
        repeat: int = typer.Option(
            1, "--repeat", min=1, metavar="K", help="Ask model judges K times: NAME, NAME#2, …"
        ),
        fresh: bool = typer.Option(
            False, "--fresh", help="Ask model judges again; old replies are kept for comparison."
        ),
        retry_unscored: bool = typer.Option(
            False, "--retry-unscored", help="Ask again where the reply could not be read."
        ),
        aligners: str | None = ALIGNERS,
        by: str | None = BY,
        recipe: str | None = typer.Option(
            None,
            "--recipe",
            metavar="NAME",
            help="STUDY is a file of answers: score it as knowledgeberg or sciknoweval does.",
        ),
        conventions: str | None = typer.Option(
            None, "--set", metavar="NAME=VALUE,…", help="With --recipe: conventions to change."
        ),
        mapping: str | None = typer.Option(
            None, "--map", metavar="NAME=COLUMN,…", help="With --recipe: the file's column names."
        ),
        verdicts: Path | None = VERDICTS,
        open_pairs: Path | None = OPEN,
        judges_of: Path | None = JUDGES_OF,
        show_all: bool = typer.Option(
            False, "--show-all", help="With --recipe: list every bad row of the file."
        ),
        as_json: bool = JSON,
    ) -> None:
        given = {
            "--set": conventions,
            "--map": mapping,
            "--verdicts": verdicts,
            "--open": open_pairs,
            "--judges-of": judges_of,
            "--show-all": show_all or None,
        }
        if recipe is None:
            _refuse_options([name for name, value in given.items() if value is not None])
        else:
            from .score_file import score_file

            if study.is_dir():
                raise SettingsError(
                    f"--recipe is for a file, and {study} is a folder",
                    cure="a study's recipe stands in its study.toml",
                )
            _refuse_with_file(
                recipe,
                {
                    "--by": by is not None,
                    "--aligners": aligners is not None,
                    "--jobs": jobs > 1,
                    "--repeat": repeat > 1,
                    "--fresh": fresh,
                    "--retry-unscored": retry_unscored,
                },
            )
            if len(judge) > 1:
                raise SettingsError("a file has one --judge", cure="score it once for each")
            try:
                score_file(
                    study,
                    recipe,
                    conventions=conventions,
                    mapping=mapping,
                    verdicts=verdicts,
                    open_pairs=open_pairs,
                    judge=judge[0] if judge else None,
                    judges_of=judges_of,
                    as_json=as_json,
                )
            except InputError as error:
                raise with_all_rows(error, show_all) from None
            return
        from ..study import Study
        from ..validate.study_slices import check_slices, slices_of

        slices = read_slices(by)
        with Study.open(study) as opened, _Bars() as bars:
            check_slices(opened, slices)
            report = opened.score(
                judge,
                jobs=jobs,
                repeat=repeat,
                fresh=fresh,
                retry_unscored=retry_unscored,
                aligners=read_aligners(aligners),
                progress=bars.responses,
                judge_progress=bars.judge,
            )
            found = effects(report.aligned, opened.settings.confidence) if report.aligned else []
            sliced = slices_of(opened, slices) if slices and not report.failed else {}
        content = report.to_dict()
        figures = [*found, *chain.from_iterable(sliced.values())]
        beside = {"scores": content["results"]} if figures else {}
        settings = {**content["settings"], **aligner_settings(report.aligned)}
        payload = envelope(
            "score",
            results=[one.to_dict() for one in figures] if figures else content["results"],
            settings=settings,
            input={"sha256": report.state},
            work=content["work"],
            failed=content["failed"],
            notes=content["notes"],
            **beside,
        )
        emit(payload, as_json, chain(_lines(report), aligner_lines(found), slice_lines(sliced)))
        _refuse_failed(report)


def _refuse_options(names: Sequence[str]) -> None:
    if names:
        raise SettingsError(
            f"{names[0]} is for a file of answers",
            cure="name its recipe too: --recipe knowledgeberg or --recipe sciknoweval",
        )


def _refuse_with_file(recipe: str, given: Mapping[str, bool]) -> None:
    for option, is_given in given.items():
        if is_given:
            raise SettingsError(
                f"{option} is for a study, not for a file",
                cure=f"leave it out, or make a study: accord init STUDY --recipe {recipe}",
            )


def _refuse_failed(report: ScoreReport) -> None:
    """Leave with the error of a judge that could not be used; what the others said is out."""
    errors = list(dict.fromkeys(report.failed.values()))
    for error in errors[:-1]:
        warn(str(error))
    if errors:
        raise errors[-1]


class _Bars:
    """Progress bars on standard error, where that is a terminal: responses, and each model."""

    def __enter__(self) -> _Bars:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._bar.start()
        self._task = self._bar.add_task("scored", total=None, detail="")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def responses(self, done: int, total: int) -> None:
        self._bar.update(self._task, completed=done, total=total)

    def judge(self, name: str) -> ProgressCallback:
        task: list[TaskID] = []

        def report(done: int, total: int, rate: float, errors: int, tokens: int) -> None:
            if not task:
                # Only a judge that asks a model reports, so only then is there a bar.
                task.append(self._bar.add_task(f"judge {name}", total=total, detail=""))
            detail = f"{rate:.1f}/s  {errors} errors  {tokens:,} tokens"
            self._bar.update(task[0], completed=done, total=total, detail=detail)

        return report


def _lines(report: ScoreReport) -> Iterator[str]:
    if report.figures:
        from .score_file import study_lines

        yield from study_lines(report)
        return
    rows = report.rows
    sha256 = report.recipe_sha256[:12]
    yield f"recipe {report.recipe['name']} ({sha256}); blank answers and refusals count as 0"
    for judge in dict.fromkeys(row["judge"] for row in rows):
        yield ""
        yield f"judge {judge}"
        work = report.work.get(judge)
        if work:
            tokens = work["prompt_tokens"] + work["completion_tokens"]
            yield (
                f"calls: {work['calls']:,} ({tokens:,} tokens), asked again: {work['again']:,}, "
                f"known already: {work['known']:,}, without a reply: {work['failed']:,}, "
                f"unscored: {work['unscored']:,}"
            )
        ours = [row for row in rows if row["judge"] == judge]
        yield from _table(ours, report.recipe.get("averaging"))
    yield from _contested(rows)
    if any(row["unscored"] for row in rows):
        yield ""
        yield "unscored: no verdict could be read; by the recipe they are " + (
            "in no figure" if report.recipe["unscored"] == "missing" else "incorrect"
        )
    for note in report.notes:
        yield ""
        yield f"note: {note}"


def _contested(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How often the one-to-one rule decided; the same for every judge."""
    ours = [row for row in rows if row["judge"] == rows[0]["judge"] and "contested" in row]
    predicted, reference = (sum(row["contested"][side] for row in ours) for side in _SIDES)
    if predicted or reference:
        yield ""
        yield (
            f"one to one: {predicted:,} predicted and {reference:,} reference elements have their "
            "best match in an element that has another partner"
        )


def _table(rows: Sequence[Mapping[str, Any]], averaging: object) -> Iterator[str]:
    """The figures of a judge; the F1 of the other way to average stands last."""
    other, name = ("by_response", "Mean-F1") if averaging == "pooled" else ("pooled", "Pooled-F1")
    there = any(row.get(other, {}).get("llm_judge_f1") is not None for row in rows)
    figures = [
        (name, title)
        for name, title in _FIGURES
        if any(row["figures"].get(name) is not None for row in rows)
    ]
    counts = [name for name in ("responses", *_STATES, "pairs") if any(name in row for row in rows)]
    head = ["system", *counts, "unscored", *(title for _, title in figures)]
    head += [name] if there else []
    body = []
    for row in rows:
        system = f"{row['system']} ({row['variant']})" if row["variant"] else row["system"]
        cells = [_shown(system), *(str(row.get(key, "")) for key in (*counts, "unscored"))]
        for key, _ in figures:
            value = row["figures"].get(key)
            cells.append("" if value is None else f"{value:.4f}")
        if there:
            value = row.get(other, {}).get("llm_judge_f1")
            cells.append("" if value is None else f"{value:.4f}")
        body.append(cells)
    yield from grid([head, *body])


def _shown(text: str) -> str:
    from ..scoring.errors import one_line

    return one_line(text)[:60]
