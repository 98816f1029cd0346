"""SciKnowEval in a study: rules for what has one right answer, a judge for the rest.

A question of the study is a row of the benchmark (``accord add --format sciknoweval``): its fields
say domain, level, task and type, and with them its metric. What a judge says of an answer is a
rating of the item that the labelling template of that name asks people about (``rating``), so the
two can be compared.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.errors import AccordError, BadRow, InputError, SettingsError
from ..scoring.graded_reply import ASKED, Asked
from ..scoring.parse import read_reference
from ..scoring.rating_reply import read_rating
from ..scoring.records import CORRECT, INCORRECT, NO_SYSTEM, Item, Judgement, item_id
from ..scoring.response_judge import NOT_THERE, ResponseJudge
from ..scoring.sciknoweval import (
    RowScore,
    SciKnowEvalRecipe,
    SciKnowEvalScores,
    sciknoweval_figures,
    score_row,
)
from ..scoring.sciknoweval_rows import ASKED_OF, JUDGED, ZERO_SHOT, Metric, few_shot_rows, metric_of
from ..scoring.verdict import SEVERAL
from . import columns
from .benchmark_run import Read, rating_by_rule
from .identity import hashed_system, response_id
from .json_cells import json_texts
from .judging import Source, judged, rating
from .question_chunks import Work
from .readers import Table
from .records import Question, RatingRow, Response
from .shown_text import answer_text
from .unit_items import response_item_id

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SciKnowEval", "check_questions", "refuse_examples", "row_of"]

_NOT_ASKED = "not asked"
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Answer:
    """A response with its benchmark row, and its score where no judge is needed."""

    response: Response
    row: Mapping[str, Any]
    metric: Metric
    text: str
    score: RowScore | None


class SciKnowEval:
    """How SciKnowEval's answers are scored in one run over a study."""

    def __init__(self, recipe: SciKnowEvalRecipe) -> None:
        self._recipe = recipe
        self._scores: dict[Key, list[RowScore]] = defaultdict(list)
        self._blocks: dict[str, Mapping[str, Any]] = {}

    def schema(self) -> pa.Schema:
        """The columns of the scores table."""
        return _schema()

    def read(self, work: Work) -> Read:
        """The answers by their rules; what the rules read of a choice is a rating of it.

        Raises
        ------
        InputError
            With every question that is no row of the benchmark, and every answer that was asked for
            with examples.
        """
        found: list[_Answer] = []
        ratings: list[RatingRow] = []
        bad: list[BadRow] = []
        shots: list[BadRow] = []
        for question, responses in work:
            try:
                row = row_of(question)
                metric = metric_of(row)
                shots += _asked_with_examples(responses)
                for response in responses:
                    found.append(one := _answer(row, metric, response, self._recipe))
                    ratings += _read_ratings(one)
            except InputError as error:
                why = f"question {question.question_id!r}: {error.message}"
                bad.append(BadRow("questions", None, why))
        if bad or shots:
            cure = "make a study of the benchmark's own rows: --format sciknoweval"
            raise InputError.from_rows([*bad, *shots], cure=cure if bad else ZERO_SHOT)
        return Read([], [], ratings, found)

    def score(
        self, source: Source, answers: Sequence[_Answer]
    ) -> tuple[list[Mapping[str, Any]], list[RatingRow]]:
        """Ask the judge what each open answer needs, and score all.

        Raises
        ------
        SettingsError
            When an answer needs a judge of whole responses and this one is none.
        """
        said = self._said(source, [one for one in answers if one.score is None])
        self._blocks[source.judge.name] = source.block
        rows: list[Mapping[str, Any]] = []
        ratings: list[RatingRow] = []
        for one in answers:
            score, label = one.score, None
            if score is None:
                verdict = self._settled(one.metric, said[id(one)])
                label = verdict.verdict
                score = score_row(
                    one.row,
                    one.text,
                    judge_reply=label,
                    judge_reason=verdict.reason,
                    recipe=self._recipe,
                )
                if verdict.reason != _NOT_ASKED:
                    ratings.append(rating(source, verdict))
            key = (source.judge.name, one.response.system, one.response.variant)
            self._scores[key].append(score)
            rows.append(self._row(source, one, score, label))
        return rows, ratings

    def forget(self, judge: str) -> None:
        """Drop the scores of a judge that did not get to the end."""
        for key in [key for key in self._scores if key[0] == judge]:
            del self._scores[key]

    def results(self) -> dict[Key, tuple[dict[str, Any], SciKnowEvalScores]]:
        """The figures of each judge and system, in the order in which they came."""
        found: dict[Key, tuple[dict[str, Any], SciKnowEvalScores]] = {}
        for key, scored in self._scores.items():
            figures = sciknoweval_figures(scored, judge=self._blocks[key[0]], recipe=self._recipe)
            found[key] = (_summary(key, scored, figures), figures)
        return found

    def _said(self, source: Source, waiting: Sequence[_Answer]) -> dict[int, Judgement]:
        """What the judge says of each answer, by its identity."""
        said: dict[int, Judgement] = {}
        by_what: dict[Asked, list[_Answer]] = {asked: [] for asked in ASKED}
        for one in waiting:
            by_what[ASKED_OF[one.metric]].append(one)
        judge = source.judge
        if waiting and not isinstance(judge, ResponseJudge):
            raise SettingsError(
                f"the judge {judge.name} grades elements, and {len(waiting)} answers need a rating:"
                " two good answers need not share a word",
                cure='ask a model: [judge.NAME] with type = "openai" and unit = "response"',
            )
        for asked, answers in by_what.items():
            one_judge = judge.asking(asked) if isinstance(judge, ResponseJudge) else None
            items = [
                _item(one, response_item_id("response", asked, one.response)) for one in answers
            ]
            if one_judge is None:
                verdicts = [Judgement(item.item_id, None, _NOT_ASKED) for item in items]
            else:
                verdicts = judged(dataclasses.replace(source, judge=one_judge), items)
                verdicts = list(_by_either_id(source, one_judge.judge, answers, verdicts))
            said |= {id(one): verdict for one, verdict in zip(answers, verdicts, strict=True)}
        return said

    def _settled(self, metric: Metric, verdict: Judgement) -> Judgement:
        """A rating between two numbers, as the recipe's rule for fractions has it."""
        if metric != "rating" or verdict.verdict is None:
            return verdict
        found = read_rating(verdict.verdict, fractions=self._recipe.fractions)
        label = None if found.value is None else f"{found.value:.12g}"
        return dataclasses.replace(verdict, verdict=label, reason=found.reason)

    def _row(
        self, source: Source, one: _Answer, score: RowScore, label: str | None
    ) -> dict[str, Any]:
        response = one.response
        domain, level, task = score.key
        prf = None if score.relations is None else score.relations.prf
        return {
            "judge": source.judge.name,
            "question_id": response.question_id,
            "system": response.system,
            "variant": response.variant,
            "response_id": response_id(response.question_id, response.system, response.variant),
            "unit": "response",
            "domain": domain,
            "level": level,
            "task": task,
            "metric": score.metric,
            "state": score.state,
            "label": label,
            "reason": score.reason,
            "recipe": self._recipe.name,
            "recipe_sha256": self._recipe.sha256,
            "judge_sha256": source.sha256,
            "unscored": int(score.unscored),
            "output_tokens": response.output_tokens,
            "score": _number(score.value),
            "relation_precision": None if prf is None else _number(prf.precision),
            "relation_recall": None if prf is None else _number(prf.recall),
            "relation_matched": None if prf is None else prf.correct,
            "relation_predicted": None if prf is None else prf.n_predicted,
            "relation_reference": None if prf is None else prf.n_reference,
        }


_TEXT = (
    *("judge", "question_id", "system", "variant", "response_id", "unit", "domain", "level"),
    *("task", "metric", "state", "label", "reason", "recipe", "recipe_sha256", "judge_sha256"),
)
_COUNTS = (
    *("unscored", "output_tokens"),
    *("relation_matched", "relation_predicted", "relation_reference"),
)
_FIGURES = ("score", "relation_precision", "relation_recall")


@cache
def _schema() -> pa.Schema:
    """One row an answer and judge."""
    return columns.table_schema(_TEXT, _COUNTS, _FIGURES)


def check_questions(source: Table | Path | str) -> None:
    """Refuse questions that the recipe can't score, before they are brought in.

    Raises
    ------
    SettingsError
        When they are no rows of the benchmark.
    InputError
        With every row that has no metric, or no gold answer of its kind.
    """
    if not isinstance(source, Table):
        raise SettingsError(
            f"{Path(source).name}: questions of recipe 'sciknoweval' are the benchmark's rows",
            cure="add --format sciknoweval",
        )
    names = [str(name) for name in source.frame.columns]
    bad: list[BadRow] = []
    for line, cells in zip(
        source.lines, source.frame.itertuples(index=False, name=None), strict=True
    ):
        fields = {
            name: str(cell)
            for name, cell in zip(names, cells, strict=True)
            if isinstance(cell, str) or (cell is not None and cell == cell)
        }
        reference = dict(zip(names, cells, strict=True)).get("reference")
        text = reference if isinstance(reference, str) else json.dumps(reference)
        question = Question("", fields.get("question", ""), text, fields)
        try:
            row = row_of(question)
            if metric_of(row) not in JUDGED:
                score_row(row, "-")  # its gold answer is looked at
        except AccordError as error:
            bad.append(BadRow.of(source.name, line, error))
    if bad:
        raise InputError.from_rows(bad, cure="correct these rows or leave them out")


def refuse_examples(responses: Sequence[Response]) -> None:
    """Refuse responses whose variant says that they were asked for with examples.

    Raises
    ------
    InputError
        With every such response.
    """
    bad = _asked_with_examples(responses)
    if bad:
        raise InputError.from_rows(bad, cure=ZERO_SHOT)


def _asked_with_examples(responses: Sequence[Response]) -> list[BadRow]:
    return [
        BadRow("responses", None, f"question {one.question_id!r}: variant {one.variant!r}")
        for one in responses
        if few_shot_rows([{"variant": one.variant}])
    ]


def row_of(question: Question) -> dict[str, Any]:
    """A question of the study as the benchmark's row that it was brought in from.

    Raises
    ------
    InputError
        When its options can't be read.
    """
    fields = question.fields
    elements = read_reference(question.reference).elements
    texts = [element.text for element in elements]
    kind = fields.get("type", "")
    options = json_texts(fields.get("options"), "options", cure='write {"A": "…", "B": "…"}')
    gold = texts[0] if texts else ""
    if kind == "relation_extraction":
        # The tuples of the reference came without their brackets.
        gold = fields.get("answer", gold)
    choice = kind.startswith("mcq")
    return {
        "question_id": question.question_id,
        "question": question.question,
        "type": kind,
        "domain": fields.get("domain", ""),
        "details": {name: fields.get(name, "") for name in ("level", "task", "subtask")},
        "choices": {"label": list(options), "text": list(options.values())},
        "answerKey": gold if choice else "",
        "answer": "" if choice else gold,
    }


def _answer(
    row: Mapping[str, Any], metric: Metric, response: Response, recipe: SciKnowEvalRecipe
) -> _Answer:
    text = answer_text(response).strip()
    settled = metric not in JUDGED or not text
    score = score_row(row, text, recipe=recipe) if settled else None
    return _Answer(response, row, metric, text, score)


def _item(one: _Answer, identity: str) -> Item:
    return Item(
        item_id=identity,
        question_id=one.response.question_id,
        question=one.row["question"],
        reference=one.row["answer"] or None,
        predicted=one.text,
        system=one.response.system,
    )


def _by_either_id(
    source: Source, ask: Any, answers: Sequence[_Answer], verdicts: Sequence[Judgement]
) -> Iterator[Judgement]:
    """Verdicts of a file, which may name answers as ``accord score FILE --open`` does."""
    of_file = source.block.get("type") == "file"
    for one, verdict in zip(answers, verdicts, strict=True):
        named = hashed_system(one.response.system, one.response.variant)
        # a benchmark's file need not name the system
        for system in (named, NO_SYSTEM) if of_file else ():
            if verdict.reason == NOT_THERE:
                (again,) = ask([_item(one, _id_in_file(one, system))])
                verdict = dataclasses.replace(again, item_id=verdict.item_id)
        yield verdict


def _id_in_file(one: _Answer, system: str) -> str:
    return item_id(
        unit="response",
        question_id=one.response.question_id,
        system=system,
        reference_index=None,
        reference=one.row["answer"] or None,
        predicted_index=None,
        predicted=one.text,
        occurrence=0,
    )


def _read_ratings(one: _Answer) -> Iterator[RatingRow]:
    """What the rules read of a multiple-choice answer, in the words of the template ``choice``."""
    if one.metric != "choice" or one.score is None:
        return
    verdict = CORRECT if one.score.value else INCORRECT
    if one.score.state != "given":
        verdict = "SEVERAL" if one.score.reason == SEVERAL else "NONE"
    item = response_item_id("response", "choice", one.response)
    yield rating_by_rule(item, verdict, one.score.reason)


def _summary(key: Key, scored: Sequence[RowScore], figures: SciKnowEvalScores) -> dict[str, Any]:
    """One row a judge and system: the three overall figures, and all figures as ``details``."""
    judge, system, variant = key
    overall = figures.aggregates.figures
    return {
        "judge": judge,
        "system": system,
        "variant": variant,
        "unit": "response",
        "responses": len(scored),
        **figures.states,
        "unscored": sum(figures.unscored.values()),
        "primary": figures.aggregates.primary,
        "figures": {name: _number(mean.value) for name, mean in overall.items()},
        "n": {name: mean.n for name, mean in overall.items()},
        "details": figures.to_dict(),
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
