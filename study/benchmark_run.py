"""One scoring run over a study with a benchmark's own recipe: read, judge, count.

What is the same for every benchmark is here: chunks of whole questions, the tables, judges that
can't go on. How an answer is read and scored says a :class:`Benchmark`. Replies of model judges
are in the ledger before a verdict is read from them, verdicts before a score is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ..scoring.errors import AccordError, SettingsError, StudyError
from . import columns
from .bench import Bench
from .identity import system_label
from .judging import Source
from .question_chunks import Work, chunks
from .records import RatingRow
from .tables import Tables

if TYPE_CHECKING:
    import pyarrow as pa

    from ..scoring.judges import Judge
    from ..scoring.sciknoweval import SciKnowEvalRecipe
    from ..scoring.study_recipes import AnyRecipe
    from ..scoring.universe import UniverseRecipe
    from .ledger import Ledger

__all__ = [
    "RULE",
    "Benchmark",
    "BenchmarkRun",
    "Figures",
    "Read",
    "for_recipe",
    "rating_by_rule",
    "run_benchmark",
]

CHUNK = 500
"""Responses a chunk, about: each may have as many open pairs as there are elements squared."""

RULE = "rule"
"""The rater whose verdicts come from the recipe's own rules: an extractor, equal names."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Read:
    """Some questions' answers as the rules read them, before any judge.

    ``elements`` and ``pairs`` are rows of these tables; ``ratings`` are the verdicts of the rules;
    ``answers`` is what the benchmark wants back to score them.
    """

    elements: Sequence[Row]
    pairs: Sequence[Row]
    ratings: Sequence[RatingRow]
    answers: Any


class Figures(Protocol):
    """The figures of one system; ``to_dict`` gives them as JSON values."""

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON values."""
        ...


class Benchmark(Protocol):
    """How a benchmark's answers are read and scored; an object serves one run."""

    def schema(self) -> pa.Schema:
        """The columns of its scores table."""
        ...

    def read(self, work: Work) -> Read:
        """Read the answers to some questions by the rules."""
        ...

    def score(self, source: Source, answers: Any) -> tuple[list[Row], list[RatingRow]]:
        """Have a judge settle what the rules left open: rows of the scores table, and its ratings.

        The scores are kept for :meth:`results`.
        """
        ...

    def forget(self, judge: str) -> None:
        """Drop the scores of a judge that did not get to the end."""
        ...

    def results(self) -> Mapping[tuple[str, str, str], tuple[dict[str, Any], Figures]]:
        """(judge, system, variant) → a summary row, and the figures whole."""
        ...


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """What a run needs. Without judges, elements and pairs are made and no scores."""

    ledger: Ledger
    tables: Tables
    recipe: UniverseRecipe | SciKnowEvalRecipe
    state: str
    judges: Sequence[Judge] = ()
    progress: Callable[[int, int], None] | None = None


@dataclass(slots=True)
class BenchmarkOutcome:
    """The figures by judge, system and variant, what models had to do, and who failed."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    figures: dict[tuple[str, str], Figures] = field(default_factory=dict)
    work: dict[str, dict[str, int]] = field(default_factory=dict)
    failed: dict[str, AccordError] = field(default_factory=dict)


def benchmark_of(recipe: UniverseRecipe | SciKnowEvalRecipe) -> Benchmark:
    """The benchmark of a recipe."""
    from ..scoring.universe import UniverseRecipe

    if isinstance(recipe, UniverseRecipe):
        from .knowledgeberg_run import KnowledgeBerg

        return KnowledgeBerg(recipe)
    from .sciknoweval_run import SciKnowEval

    return SciKnowEval(recipe)


def rating_by_rule(item: str, verdict: str, why: str | None) -> RatingRow:
    """What the recipe's own rules say of an item, as a row of the ledger."""
    return RatingRow(
        item_id=item,
        rater=RULE,
        kind="judge",
        rating=verdict,
        reasons=(why,) if why else (),
        guideline=RULE,
        source="judge",
    )


def for_recipe(recipe: AnyRecipe, table: Mapping[str, Any]) -> Mapping[str, Any]:
    """A judge's settings with what the recipe asks a model where they name no prompt."""
    if recipe.name == "knowledgeberg" and table.get("type") == "openai":
        # Whether two names mean the same, not whether the answer is right.
        return {"prompt": "same_name", **table}
    return table


def run_benchmark(work: BenchmarkRun) -> BenchmarkOutcome:
    """Make the tables.

    A judge that can't be used (any more) is left out, and the others go on, as in
    :func:`accord.study.scoring_run.run`.

    Raises
    ------
    StudyError
        When the study has nothing to score, or the tables can't be written.
    SettingsError
        When a judge has the name of the rules.
    ServiceError
        When no judge is left.
    """
    if any(judge.name.partition("#")[0] == RULE for judge in work.judges):
        raise SettingsError(
            f"a judge can't be named {RULE!r}: that is the rater of the recipe's own rules",
            cure="give it another name in study.toml",
        )
    ((total,),) = work.ledger.query("SELECT count(*) FROM response")
    if not total:
        raise StudyError(
            "the study has no responses",
            cure="bring some in: accord add STUDY FILE --as responses",
        )
    benchmark = benchmark_of(work.recipe)
    sources = [Source.of(judge) for judge in work.judges]
    bench = Bench(sources, benchmark.forget)
    schemas = {"elements": columns.elements_schema(), "pairs": columns.pairs_schema()}
    schemas |= {f"scores/{source.judge.name}": benchmark.schema() for source in sources}
    done = 0
    with work.tables.writing(work.state) as writer:
        about = _about(work.recipe)
        for name in ("elements", "pairs"):
            writer.begin(name, about)
        for source in sources:
            judge = {"judge": dict(source.block), "judge_sha256": source.sha256}
            writer.begin(f"scores/{source.judge.name}", {**about, **judge})
        for chunk in chunks(work.ledger, CHUNK):
            read = benchmark.read(chunk)
            writer.add("elements", read.elements, schemas["elements"])
            if read.pairs:
                writer.add("pairs", read.pairs, schemas["pairs"])
            if sources:
                work.ledger.add_ratings(read.ratings)
            for source in bench.present():
                with bench.watching(source, writer):
                    rows, ratings = benchmark.score(source, read.answers)
                    work.ledger.add_ratings(ratings)
                    writer.add(f"scores/{source.judge.name}", rows, benchmark.schema())
            done += sum(len(responses) for _, responses in chunk)
            if work.progress:
                work.progress(done, total)
        for name, parts in writer.parts.items():
            if not parts:
                # A table without rows can be read too.
                writer.add(name, [], schemas[name])
        found = benchmark.results()
    return BenchmarkOutcome(
        rows=[row for row, _ in found.values()],
        figures={(j, system_label(s, v)): whole for (j, s, v), (_, whole) in found.items()},
        work={source.judge.name: source.work for source in sources if source.work},
        failed=bench.failed,
    )


def _about(recipe: AnyRecipe) -> dict[str, Any]:
    from .. import __version__

    return {"accord": __version__, "recipe": recipe.block(), "recipe_sha256": recipe.sha256}
