"""One scoring run over a study: parse, align, judge, count, in chunks of whole questions.

Nothing is kept in memory but a chunk and the figures. Replies of model judges are in the ledger
before a verdict is read from them, verdicts before a score is computed; the tables come into force
all at once at the end.
"""

from __future__ import annotations

import dataclasses
import json
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..scoring.errors import AccordError, StudyError
from ..scoring.parse import Parsed, read_reference
from ..scoring.records import Element, Item
from ..scoring.score import Prepared, ResponseScore, prepare_many
from ..scoring.tokens import tokeniser
from . import columns
from .aligner_scores import AlignerScores
from .bench import Bench
from .identity import hashed_system, response_id
from .judging import Source, judged, rated
from .means import MeansTable
from .question_chunks import Work, chunks
from .records import Question, RatingRow, Response
from .scoring_given import given_chunks, score_given, similarity
from .tables import Tables, TablesWriter

if TYPE_CHECKING:
    from ..scoring.align import Aligner
    from ..scoring.judges import Judge
    from ..scoring.recipes import Recipe
    from .ledger import Ledger

__all__ = ["CHUNK", "Outcome", "Progress", "Run", "prepare_questions", "run"]

CHUNK = 2_000
"""Responses a chunk, about; a question is never split."""

Progress = Callable[[int, int], None]
"""Called with how many responses and given pairs are done, and of how many."""

Done = list[tuple[Question, Parsed, list[tuple[Response, Prepared]]]]


@dataclass(frozen=True, slots=True)
class Run:
    """What a scoring run needs. Without judges, elements and pairs are made and no scores.

    With ``aligners`` every response is aligned by these too, and their pairs are judged.
    """

    ledger: Ledger
    tables: Tables
    recipe: Recipe
    state: str
    judges: Sequence[Judge] = ()
    jobs: int = 1
    progress: Progress | None = None
    aligners: Sequence[Aligner] = ()


@dataclass(slots=True)
class Outcome:
    """What a run gave: mean figures, what each model judge had to do, and who could not go on.

    ``notes`` are sentences worth reading.
    """

    means: MeansTable
    aligned: AlignerScores
    work: dict[str, dict[str, int]] = field(default_factory=dict)
    failed: dict[str, AccordError] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> Iterator[dict[str, Any]]:
        """The mean figures, one row a judge and system."""
        return self.means.rows()


def run(work: Run) -> Outcome:
    """Make the tables.

    A judge that can't be used (any more) is left out, and the others go on: it has no scores from
    this run, and its verdicts so far are kept.

    Raises
    ------
    StudyError
        When the study has nothing to score, or the tables can't be written.
    ServiceError, SettingsError
        When no judge is left; when an aligner needs a package that is not installed.
    """
    given = work.ledger.pairs()
    ((n_responses,),) = work.ledger.query("SELECT count(*) FROM response")
    total = n_responses + len(given)
    if not total:
        raise StudyError(
            "the study has no responses and no pairs",
            cure="bring some in: accord add STUDY FILE --as responses",
        )
    sources = [Source.of(judge) for judge in work.judges]
    if "embedding" in (work.recipe.aligner, *work.aligners):
        from ..scoring.embedding import embeddings

        embeddings()  # a package that is missing is told before anything is made
    aligned = AlignerScores(work.aligners)
    means = MeansTable(work.recipe)

    def forget(judge: str) -> None:
        means.drop(judge)
        aligned.drop(judge)

    bench = Bench(sources, forget)
    words = _Words(work.recipe)
    done = 0
    with work.tables.writing(work.state) as writer:
        _begin(writer, work.recipe, sources)
        with closing(_prepared(work)) as prepared:
            for chunk in prepared:
                _write_material(writer, chunk)
                for question, gold, responses in chunk:
                    words.add(gold.elements)
                    aligned.add_pairs(question.question_id, responses)
                for source in bench.present():
                    with bench.watching(source, writer):
                        _score_chunk(work, writer, source, chunk, means, aligned)
                done += sum(len(responses) for _, _, responses in chunk)
                if work.progress:
                    work.progress(done, total)
        for pairs in given_chunks(given):
            similarities = [similarity(pair, work.recipe) for pair in pairs]
            rows = list(columns.given_rows(pairs, similarities))
            writer.add("pairs", rows, columns.pairs_schema())
            for source in bench.present():
                with bench.watching(source, writer):
                    score_given(
                        work.ledger, work.recipe, writer, source, pairs, similarities, means
                    )
            done += len(pairs)
            if work.progress:
                work.progress(done, total)
        _fill(writer)
    done_by = {source.judge.name: source.work for source in sources if source.work}
    return Outcome(means, aligned, done_by, bench.failed, words.notes())


class _Words:
    """How many reference elements the recipe's tokenizer reads nothing of, to be told."""

    def __init__(self, recipe: Recipe) -> None:
        self._tokenizer, self._words = recipe.tokenizer, tokeniser(recipe.tokenizer)
        self._all = self._silent = 0

    def add(self, elements: Sequence[Element]) -> None:
        """Count a reference's elements."""
        self._all += len(elements)
        self._silent += sum(not self._words(element.compared) for element in elements)

    def notes(self) -> list[str]:
        """Why scores may be 0 that need not be."""
        if not self._silent:
            return []
        cure = (
            ""
            if self._tokenizer != "rouge"
            else '; tokenizer = "unicode" below [conventions] in study.toml reads every script'
        )
        return [
            f"{self._silent:,} of {self._all:,} reference elements have no word that the tokenizer"
            f" {self._tokenizer} reads, so their ROUGE-1 with anything but themselves is 0{cure}"
        ]


def _begin(writer: TablesWriter, recipe: Recipe, sources: Sequence[Source]) -> None:
    from .. import __version__

    about = {"accord": __version__, "recipe": recipe.block(), "recipe_sha256": recipe.sha256}
    for name in ("elements", "pairs"):
        writer.begin(name, about)
    for source in sources:
        judge = {"judge": dict(source.block), "judge_sha256": source.sha256}
        writer.begin(f"scores/{source.judge.name}", {**about, **judge})


def _fill(writer: TablesWriter) -> None:
    """Give each table that got no row a part without rows, so that it can be read."""
    schemas = {"elements": columns.elements_schema(), "pairs": columns.pairs_schema()}
    for name, parts in writer.parts.items():
        if not parts:
            writer.add(name, [], schemas.get(name) or columns.scores_schema())


# Parse and align


def prepare_questions(work: Work, recipe: Recipe, others: Sequence[Aligner] = ()) -> Done:
    """Parse and align the responses of some questions; the unit of a process pool."""
    golds = [read_reference(question.reference) for question, _ in work]
    prepared = iter(
        prepare_many(
            [
                {
                    "question_id": question.question_id,
                    "question": question.question,
                    "reference": gold,
                    "response": json.loads(response.response)
                    if response.response_is_json
                    else response.response,
                    "system": hashed_system(response.system, response.variant),
                    "ordered": question.fields.get("ordered") == "true",
                }
                for (question, responses), gold in zip(work, golds, strict=True)
                for response in responses
            ],
            recipe=recipe,
            others=others,
        )
    )
    return [
        (question, gold, [(response, next(prepared)) for response in responses])
        for (question, responses), gold in zip(work, golds, strict=True)
    ]


def _prepared(work: Run) -> Generator[Done]:
    """The chunks, parsed and aligned, in order."""
    found = chunks(work.ledger, CHUNK)
    if work.jobs <= 1:
        for chunk in found:
            yield prepare_questions(chunk, work.recipe, work.aligners)
        return
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, get_context

    # Not fork: a child must not inherit the open ledger.
    pool = ProcessPoolExecutor(work.jobs, mp_context=get_context("spawn"))
    others = active_children()
    waiting: deque[Future[Done]] = deque()
    try:
        for chunk in found:
            with _uninterrupted():
                waiting.append(pool.submit(prepare_questions, chunk, work.recipe, work.aligners))
            if len(waiting) > work.jobs + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise StudyError(
            "a process that parses was ended from outside (out of memory?)",
            cure="use fewer --jobs",
        ) from None
    except BaseException:
        # Nobody waits for what they are doing any more.
        for child in active_children():
            if child not in others:
                child.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes started here leave Ctrl-C to their parent, which ends them without a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _write_material(writer: TablesWriter, chunk: Done) -> None:
    elements: list[Mapping[str, Any]] = []
    pairs: list[Mapping[str, Any]] = []
    for question, gold, responses in chunk:
        elements += columns.element_rows(question, gold.elements, responses)
        for response, one in responses:
            pairs += columns.pair_rows(question, response, one)
    writer.add("elements", elements, columns.elements_schema())
    if pairs:
        writer.add("pairs", pairs, columns.pairs_schema())


# Judge and count


def _score_chunk(
    work: Run,
    writer: TablesWriter,
    source: Source,
    chunk: Done,
    means: MeansTable,
    aligned: AlignerScores,
) -> None:
    flat = [(response, one) for _, _, responses in chunk for response, one in responses]
    if not flat:
        return
    items = [item for response, one in flat for item in _items(response, one)]
    verdicts = iter(judged(source, items))
    rows: list[dict[str, Any]] = []
    ratings: list[RatingRow] = []
    for response, one in flat:
        own = [next(verdicts) for _ in one.items]
        ratings += rated(source, one, own)
        score = one.score(own, judge=source.block)
        means.add(source.judge.name, response.system, response.variant, score, source.block)
        aligned.add_scores(source.judge.name, response, score)
        rows.append(_score_row(work.recipe, source, response, score))
    work.ledger.add_ratings(ratings)
    writer.add(f"scores/{source.judge.name}", rows, columns.scores_schema())


def _items(response: Response, one: Prepared) -> Sequence[Item]:
    """The items to judge, under the system's own name; a variant is part of the hash alone."""
    if not response.variant:
        return one.items
    return [dataclasses.replace(item, system=response.system) for item in one.items]


def _score_row(
    recipe: Recipe, source: Source, response: Response, score: ResponseScore
) -> dict[str, Any]:
    row = score.to_row()
    unknown = set(row) - set(columns.scores_schema().names)
    if unknown:
        raise RuntimeError(f"a score has figures that its table has not: {sorted(unknown)}")
    return {
        **row,
        "judge": source.judge.name,
        "question_id": response.question_id,
        "system": response.system,
        "variant": response.variant,
        "response_id": response_id(response.question_id, response.system, response.variant),
        "unit": "response",
        "n_pairs": len(score.pairs),
        "output_tokens": response.output_tokens,
        "recipe": recipe.name,
        "recipe_sha256": recipe.sha256,
        "judge_sha256": source.sha256,
    }
