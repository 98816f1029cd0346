"""One scoring run over a study: parse, align, judge, count, in chunks of whole questions.

Nothing is kept in memory but a chunk and the figures. Replies of model judges are in the ledger
before a verdict is read from them, verdicts before a score is computed; the tables come into force
all at once at the end.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..scoring.align import align
from ..scoring.errors import StudyError
from ..scoring.metrics import precision_recall_f1, verdict_counts
from ..scoring.parse import Parsed, read_reference
from ..scoring.records import INCORRECT, Element, Item, Judgement, Pair
from ..scoring.score import Prepared, ResponseScore, prepare
from . import columns
from .identity import hashed_system, response_id
from .means import MeansTable
from .records import GivenPair, Question, RatingRow, Response
from .tables import Tables, TablesWriter

if TYPE_CHECKING:
    from ..scoring.judges import Judge
    from ..scoring.recipes import Recipe
    from .ledger import Ledger

__all__ = ["CHUNK", "NO_REFERENCE", "Progress", "Run", "prepare_questions", "run"]

CHUNK = 2_000
"""Responses a chunk, about; a question is never split."""

NO_REFERENCE = "no reference element"
"""The reason of a judge's INCORRECT for a predicted element that has no partner."""

Progress = Callable[[int, int], None]
"""Called with how many responses and given pairs are done, and of how many."""

Work = list[tuple[Question, list[Response]]]
Done = list[tuple[Question, Parsed, list[tuple[Response, Prepared]]]]


@dataclass(frozen=True, slots=True)
class Run:
    """What a scoring run needs. Without judges, elements and pairs are made and no scores."""

    ledger: Ledger
    tables: Tables
    recipe: Recipe
    state: str
    judges: Sequence[Judge] = ()
    jobs: int = 1
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class _Source:
    """A judge, what stands for it in the block, and the hash of that."""

    judge: Judge
    block: Mapping[str, Any]
    sha256: str

    @classmethod
    def of(cls, judge: Judge) -> _Source:
        block = {"name": judge.name, **judge.settings()}
        text = json.dumps(block, sort_keys=True, ensure_ascii=False)
        return cls(judge, block, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest())


def run(work: Run) -> MeansTable:
    """Make the tables; returns the mean figures by judge and system.

    Raises
    ------
    StudyError
        When the study has nothing to score, or the tables can't be written.
    """
    given = work.ledger.pairs()
    ((n_responses,),) = work.ledger.query("SELECT count(*) FROM response")
    total = n_responses + len(given)
    if not total:
        raise StudyError(
            "the study has no responses and no pairs",
            cure="bring some in: accord add STUDY FILE --as responses",
        )
    sources = [_Source.of(judge) for judge in work.judges]
    means = MeansTable(work.recipe)
    done = 0
    with work.tables.writing(work.state) as writer:
        _begin(writer, work.recipe, sources)
        for chunk in _prepared(work):
            _write_material(writer, chunk)
            for source in sources:
                _score_chunk(work, writer, source, chunk, means)
            done += sum(len(responses) for _, _, responses in chunk)
            if work.progress:
                work.progress(done, total)
        for pairs in _given_chunks(given):
            similarities = [_similarity(pair, work.recipe) for pair in pairs]
            rows = list(columns.given_rows(pairs, similarities))
            writer.add("pairs", rows, columns.pairs_schema())
            for source in sources:
                _score_given(work, writer, source, pairs, similarities, means)
            done += len(pairs)
            if work.progress:
                work.progress(done, total)
        _fill(writer)
    return means


def _begin(writer: TablesWriter, recipe: Recipe, sources: Sequence[_Source]) -> None:
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


def prepare_questions(work: Work, recipe: Recipe) -> Done:
    """Parse and align the responses of some questions; the unit of a process pool."""
    done: Done = []
    for question, responses in work:
        gold = read_reference(question.reference)
        ordered = question.fields.get("ordered") == "true"
        prepared = [
            (
                response,
                prepare(
                    question_id=question.question_id,
                    question=question.question,
                    reference=gold,
                    response=json.loads(response.response)
                    if response.response_is_json
                    else response.response,
                    recipe=recipe,
                    system=hashed_system(response.system, response.variant),
                    ordered=ordered,
                ),
            )
            for response in responses
        ]
        done.append((question, gold, prepared))
    return done


def _chunks(ledger: Ledger) -> Iterator[Work]:
    counts = dict(ledger.query("SELECT question_id, count(*) FROM response GROUP BY question_id"))
    chunk: list[Question] = []
    size = 0
    for question in ledger.questions():
        count = counts.get(question.question_id, 0)
        if chunk and size + count > CHUNK:
            yield _with_responses(ledger, chunk)
            chunk, size = [], 0
        chunk.append(question)
        # A question without responses has a reference to write, so it is not free.
        size += max(count, 1)
    if chunk:
        yield _with_responses(ledger, chunk)


def _with_responses(ledger: Ledger, questions: Sequence[Question]) -> Work:
    found: dict[str, list[Response]] = defaultdict(list)
    for response in ledger.responses([question.question_id for question in questions]):
        found[response.question_id].append(response)
    return [(question, found[question.question_id]) for question in questions]


def _prepared(work: Run) -> Iterator[Done]:
    """The chunks, parsed and aligned, in order."""
    chunks = _chunks(work.ledger)
    if work.jobs <= 1:
        for chunk in chunks:
            yield prepare_questions(chunk, work.recipe)
        return
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing import get_context

    # Not fork: a child must not inherit the open ledger.
    pool = ProcessPoolExecutor(work.jobs, mp_context=get_context("spawn"))
    waiting: deque[Future[Done]] = deque()
    try:
        for chunk in chunks:
            waiting.append(pool.submit(prepare_questions, chunk, work.recipe))
            if len(waiting) > work.jobs + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


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
    work: Run, writer: TablesWriter, source: _Source, chunk: Done, means: MeansTable
) -> None:
    flat = [(response, one) for _, _, responses in chunk for response, one in responses]
    if not flat:
        return
    items = [item for response, one in flat for item in _items(response, one)]
    verdicts = iter(_judged(source.judge, items))
    rows: list[dict[str, Any]] = []
    ratings: list[RatingRow] = []
    for response, one in flat:
        own = [next(verdicts) for _ in one.to_judge()]
        ratings += [_rating(source, verdict) for verdict in own]
        ratings += [
            _rating(source, Judgement(item.item_id, INCORRECT, NO_REFERENCE))
            for item in one.items
            if item.reference is None
        ]
        score = one.score(own, judge=source.block)
        means.add(source.judge.name, response.system, response.variant, score, source.block)
        rows.append(_score_row(work.recipe, source, response, score))
    work.ledger.add_ratings(ratings)
    writer.add(f"scores/{source.judge.name}", rows, columns.scores_schema())


def _items(response: Response, one: Prepared) -> Sequence[Item]:
    """The items to judge, under the system's own name."""
    if not response.variant:
        return one.to_judge()
    import dataclasses

    return [dataclasses.replace(item, system=response.system) for item in one.to_judge()]


def _judged(judge: Judge, items: Sequence[Item]) -> list[Judgement]:
    verdicts = judge.judge(items) if items else []
    if [verdict.item_id for verdict in verdicts] != [item.item_id for item in items]:
        raise RuntimeError(f"the judge {judge.name} answered other items than it was asked")
    return verdicts


def _rating(source: _Source, verdict: Judgement) -> RatingRow:
    return RatingRow(
        item_id=verdict.item_id,
        rater=source.judge.name,
        kind="judge",
        rating=verdict.verdict,
        status="unscored" if verdict.verdict is None else "rated",
        reasons=(verdict.reason,) if verdict.reason else (),
        guideline=f"settings {source.sha256[:16]}",
        source="judge",
    )


def _score_row(
    recipe: Recipe, source: _Source, response: Response, score: ResponseScore
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


# Pairs that came paired


def _given_chunks(given: Sequence[GivenPair]) -> Iterator[list[GivenPair]]:
    by_question: dict[str, list[GivenPair]] = defaultdict(list)
    for pair in given:
        by_question[pair.question_id].append(pair)
    chunk: list[GivenPair] = []
    for pairs in by_question.values():
        if chunk and len(chunk) + len(pairs) > CHUNK * 5:
            yield chunk
            chunk = []
        chunk += pairs
    if chunk:
        yield chunk


def _similarity(pair: GivenPair, recipe: Recipe) -> float:
    alignment = align(
        [Element(pair.reference or "", aliases=pair.aliases)],
        [Element(pair.predicted)],
        tokenizer=recipe.tokenizer,
        stem=recipe.stem,
        method="positional",
    )
    return alignment.pairs[0].similarity


def _score_given(
    work: Run,
    writer: TablesWriter,
    source: _Source,
    pairs: Sequence[GivenPair],
    similarities: Sequence[float],
    means: MeansTable,
) -> None:
    items = [
        Item(
            item_id=pair.item_id,
            question_id=pair.question_id,
            question=pair.question,
            reference=pair.reference,
            predicted=pair.predicted,
            aliases=pair.aliases,
            system=pair.system,
            content_sha256=pair.content_sha256,
        )
        for pair in pairs
    ]
    verdicts = _judged(source.judge, items)
    groups: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        groups[(pair.question_id, pair.system, pair.variant)].append(place)
    rows = []
    for (question_id, system, variant), places in groups.items():
        members = [pairs[place] for place in places]
        row: dict[str, Any] = {
            "judge": source.judge.name,
            "question_id": question_id,
            "system": system,
            "variant": variant,
            "response_id": response_id(question_id, system, variant),
            "unit": "pairs",
            "state": "given" if any(pair.predicted.strip() for pair in members) else "empty",
            "n_pairs": len(members),
            "recipe": work.recipe.name,
            "recipe_sha256": work.recipe.sha256,
            "judge_sha256": source.sha256,
            **_given_figures(
                work.recipe,
                members,
                [verdicts[place].verdict for place in places],
                [similarities[place] for place in places],
            ),
        }
        rows.append(row)
        means.add_given(source.judge.name, row)
    work.ledger.add_ratings([_rating(source, verdict) for verdict in verdicts])
    writer.add(f"scores/{source.judge.name}", rows, columns.scores_schema())


def _given_figures(
    recipe: Recipe,
    pairs: Sequence[GivenPair],
    verdicts: Sequence[str | None],
    similarities: Sequence[float],
) -> dict[str, Any]:
    """The share correct; precision, recall and F1 only where the numbers of elements are known."""
    shown = [Pair(0, 0, similarity, "given") for similarity in similarities]
    counts = verdict_counts(shown, verdicts, recipe)
    figures: dict[str, Any] = {
        "correct": counts.correct,
        "usable": counts.n_predicted,
        "unscored": counts.unscored,
        "unsure": counts.unsure,
        "share_correct": counts.correct / counts.n_predicted if counts.n_predicted else None,
    }
    known = {(pair.n_predicted, pair.n_reference) for pair in pairs}
    n_predicted, n_reference = next(iter(known))
    if len(known) == 1 and n_predicted is not None and n_reference is not None:
        figures["n_predicted"], figures["n_reference"] = n_predicted, n_reference
        missing = len(pairs) - counts.n_predicted
        if min(n_predicted, n_reference) >= len(pairs):
            prf = precision_recall_f1(counts.correct, n_predicted - missing, n_reference - missing)
            figures["llm_judge_precision"] = prf.precision
            figures["llm_judge_recall"] = prf.recall
            figures["llm_judge_f1"] = prf.f1
    return figures
