"""``accord score FILE --recipe …``: a benchmark's own file of answers, without a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.errors import SettingsError, one_line
from .common import emit, envelope, grid, parse_map

if TYPE_CHECKING:
    from ..scoring.breakdown import Mean, TwoWay
    from ..scoring.judges import Judge
    from ..scoring.knowledgeberg import KnowledgeBergScores
    from ..scoring.sciknoweval import SciKnowEvalScores
    from ..scoring.study_recipes import AnyRecipe
    from ..study import ScoreReport
    from ..study.benchmark_files import KnowledgeBergFile, SciKnowEvalFile
    from ..study.readers import Table

__all__ = ["score_file", "study_lines"]


def score_file(
    path: Path,
    recipe_name: str,
    *,
    conventions: str | None,
    mapping: str | None,
    verdicts: Path | None,
    open_pairs: Path | None,
    judge: str | None,
    judges_of: Path | None,
    as_json: bool,
) -> None:
    """Score the file and print the figures."""
    from ..scoring.recipes import FILE_RECIPES
    from ..scoring.sciknoweval import SciKnowEvalRecipe
    from ..scoring.study_recipes import study_recipe
    from ..scoring.universe import UniverseRecipe
    from ..study.benchmark_files import (
        KNOWLEDGEBERG_COLUMNS,
        SCIKNOWEVAL_COLUMNS,
        read_judge_replies,
        score_knowledgeberg_file,
        score_sciknoweval_file,
        unused_columns,
    )

    recipe = None
    if recipe_name in FILE_RECIPES:
        recipe = study_recipe(recipe_name, **parse_map(conventions, "--set"))
    if not isinstance(recipe, (SciKnowEvalRecipe, UniverseRecipe)):
        raise SettingsError(
            f"--recipe {recipe_name!r} scores no file",
            cure=f"use one of {', '.join(FILE_RECIPES)}, or score a study",
        )
    columns = parse_map(mapping, "--map")
    results: list[dict[str, Any]]
    work: dict[str, dict[str, int]]
    if isinstance(recipe, SciKnowEvalRecipe):
        if judge is not None or judges_of is not None:
            raise SettingsError(
                "--judge and --judges-of are for knowledgeberg",
                cure="hand in a judge's replies: column judge_reply, or --verdicts FILE",
            )
        table = _read(path, columns, SCIKNOWEVAL_COLUMNS)
        unused = unused_columns(table, SCIKNOWEVAL_COLUMNS)
        replies = None
        if verdicts is not None:
            replies = read_judge_replies(_read(verdicts, {}, (("item_id", "judge_reply"), ())))
        rated = score_sciknoweval_file(table, recipe, replies)
        if open_pairs is not None:
            rated.write_open(open_pairs)
        results = [{"system": system, **one.to_dict()} for system, one in rated.scores.items()]
        lines, work = _science(rated, open_pairs), {}
    else:
        table = _read(path, columns, KNOWLEDGEBERG_COLUMNS)
        unused = unused_columns(table, KNOWLEDGEBERG_COLUMNS)
        with _judge(verdicts, judge, judges_of, recipe) as source:
            file = score_knowledgeberg_file(table, recipe, source)
        if open_pairs is not None:
            file.write_open(open_pairs)
        results = [one.to_dict() for one in file.scores.values()]
        lines = _berg(file, open_pairs)
        work = {judge: dict(file.work)} if judge and file.work else {}
    payload = envelope(
        "score",
        results=results,
        settings={"recipe": recipe.block()},
        input={"rows": len(table.lines), "sha256": table.sha256, "unused": list(unused)},
        work=work,
    )
    told = [f"columns not used: {one_line(', '.join(unused))}"] if unused else []
    emit(payload, as_json, chain(lines, told))


def _read(
    path: Path, mapping: Mapping[str, str], names: tuple[Sequence[str], Sequence[str]]
) -> Table:
    from ..study.readers import read_table

    return read_table(path, mapping=mapping, required=names[0], optional=names[1])


@contextmanager
def _judge(
    verdicts: Path | None, name: str | None, study: Path | None, recipe: AnyRecipe
) -> Iterator[Judge]:
    from ..scoring.judges import ExactJudge, FileJudge
    from ..study.benchmark_files import judge_of_study

    if (name is None) != (study is None):
        raise SettingsError(
            "--judge and --judges-of go together here",
            cure="name a judge and the study whose study.toml has it and keeps its replies",
        )
    if name is not None and verdicts is not None:
        raise SettingsError("--verdicts and --judge are two judges", cure="use one of them")
    if name is not None and study is not None:
        with judge_of_study(study, name, recipe) as judge:
            yield judge
    else:
        yield ExactJudge() if verdicts is None else FileJudge(verdicts)


def _science(rated: SciKnowEvalFile, written: Path | None) -> Iterator[str]:
    for system, scores in rated.scores.items():
        yield from _science_system(system, scores)
    if rated.open_items:
        yield f"answers without a judge's reply: {len(rated.open_items)}" + (
            f"; they are in {written}: fill in the column judge_reply, then --verdicts {written}"
            if written
            else "; write them out with --open FILE"
        )


def _berg(file: KnowledgeBergFile, written: Path | None) -> Iterator[str]:
    n_open, work = len(file.open_pairs), file.work
    if work:
        yield _work(work)
    for system, scores in file.scores.items():
        yield from _berg_system(system, scores)
    if n_open:
        yield f"pairs without a judge's verdict, which match nothing: {n_open}" + (
            f"; they are in {written}: fill in the column verdict, then --verdicts {written}"
            if written
            else "; write them out with --open FILE"
        )


def _berg_system(system: str, scores: KnowledgeBergScores) -> Iterator[str]:
    yield f"system {_named(system)}"
    if scores.states:
        for name, mean in scores.universe.items():
            yield f"  {name:<22}{_shown(mean)}"
        yield f"answers: {_counts(scores.states)}; {_counts(scores.counts)}"
        yield from _table(scores.universe_table)
    if scores.accuracy.n:
        accuracy = scores.accuracy
        yield (
            f"KRQ accuracy {accuracy.accuracy:.4f} ({accuracy.correct} of {accuracy.n}); "
            f"unread, counted wrong: {_counts(accuracy.unread) or 'none'}"
        )
        yield from _table(scores.accuracy_table)
        knowledge = scores.knowledge
        if knowledge.reason is None:
            yield (
                f"wrong answers: missing knowledge {knowledge.missing_knowledge:.4f}, "
                f"not applied {knowledge.not_applied:.4f} "
                f"(of {knowledge.wrong_missing + knowledge.wrong_present}; "
                f"unknown: {knowledge.wrong_unknown})"
            )


def study_lines(report: ScoreReport) -> Iterator[str]:
    """What ``accord score STUDY`` prints where the recipe is a benchmark's own."""
    from ..scoring.knowledgeberg import KnowledgeBergScores
    from ..scoring.sciknoweval import SciKnowEvalScores

    yield f"recipe {report.recipe['name']} ({report.recipe_sha256[:12]})"
    for judge in dict.fromkeys(judge for judge, _ in report.figures):
        yield ""
        yield f"judge {judge}"
        work = report.work.get(judge)
        if work:
            yield _work(work)
        for (whose, system), scores in report.figures.items():
            if whose == judge and isinstance(scores, SciKnowEvalScores):
                yield from _science_system(system, scores)
            if whose != judge or not isinstance(scores, KnowledgeBergScores):
                continue
            yield from _berg_system(system, scores)
            if scores.counts["unscored"]:
                yield (
                    "pairs without a verdict that can be read, which match nothing: "
                    f"{scores.counts['unscored']}"
                )


def _named(system: str) -> str:
    return one_line(system)[:60]


def _science_system(system: str, scores: SciKnowEvalScores) -> Iterator[str]:
    aggregates = scores.aggregates
    recipe = scores.block["recipe"]
    yield f"system {_named(system)}: {sum(scores.metrics.values())} rows"
    yield f"ratings as {recipe['rating_map']}; not comparable with the published leaderboard"
    for name, mean in aggregates.figures.items():
        primary = "  <- the score" if name == aggregates.primary else ""
        yield f"  {name:<20}{_shown(mean)}{primary}"
    yield f"answers: {_counts(scores.states)}"
    if scores.unread:
        yield f"unread answers count 0: {_counts(scores.unread)}"
    if scores.unscored:
        how = "count 0" if recipe["unscored"] == "incorrect" else "are in no mean"
        yield f"unscored judge replies {how}: {_counts(scores.unscored)}"
    yield from _table(aggregates.by_domain_and_level)
    yield ""
    yield from grid(
        [
            ["task", "domain", "level", "score"],
            *([task, d, level, _shown(m)] for (d, level, task), m in aggregates.tasks.items()),
        ]
    )


def _work(work: Mapping[str, int]) -> str:
    return (
        f"calls: {work['calls']:,}, asked again: {work['again']:,}, known already: "
        f"{work['known']:,}, unscored: {work['unscored']:,}"
    )


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.items() if number)


def _shown(mean: Mean) -> str:
    return f"undefined ({mean.reason})" if mean.reason else f"{mean.value:.4f} (n {mean.n})"


def _table(table: TwoWay) -> Iterator[str]:
    yield ""
    head = ["", *table.columns, "all"]
    body = [
        [row, *(_cell(table.cells[(row, c)]) for c in table.columns), _cell(table.row_means[row])]
        for row in table.rows
    ]
    last = [_cell(table.column_means[c]) for c in table.columns]
    yield from grid([head, *body, ["all", *last, _cell(table.overall)]])


def _cell(mean: Mean) -> str:
    return "" if mean.reason else f"{mean.value:.4f}"
