"""KnowledgeBerg in a study: enumerations by Universe F1, multiple choice by the extractor.

The pairs of an enumeration do not depend on a judge: each prediction that equals a gold element by
the rules beside it (``rule``), each prediction that is left beside each gold element that is left
(``candidate``), and what has nothing to stand beside (``unmatched``). A person grades any of them
as a pair. A multiple-choice answer is graded with the template ``choice``; what the extractor read
is a rating of that item by the rater ``rule``.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ..scoring.choice_answers import Choice
from ..scoring.knowledgeberg import (
    Enumerated,
    KnowledgeBergScores,
    Reasoned,
    knowledgeberg_scores,
    read_reasoned,
)
from ..scoring.records import CORRECT, INCORRECT, NO_SYSTEM, Item, item_id
from ..scoring.universe import Universe, UniverseScore, judge_universes, prepare_universe
from ..scoring.verdict import SEVERAL
from . import columns
from .benchmark_run import Read, rating_by_rule
from .identity import hashed_system, response_id, system_label
from .judging import Source, judged, rating
from .knowledgeberg_questions import choice_question, is_choice, place_of
from .question_chunks import Work
from .records import Question, RatingRow, Response
from .shown_text import answer_text
from .unit_items import response_item_id

if TYPE_CHECKING:
    import pyarrow as pa

    from ..scoring.universe import UniverseRecipe

__all__ = ["CANDIDATE", "EQUAL", "KnowledgeBerg", "choice_verdict"]

EQUAL, CANDIDATE, UNMATCHED = "rule", "candidate", "unmatched"
"""How a pair came about."""

_CHOICE = "choice"
"""The template that asks people about multiple-choice answers."""

Key = tuple[str, str, str]


def choice_verdict(choice: Choice, key: str) -> str:
    """What the extractor read, in the words of the template ``choice``.

    Examples
    --------
    >>> choice_verdict(Choice("B"), "B"), choice_verdict(Choice(None, "refused"), "B")
    ('CORRECT', 'NONE')
    """
    if choice.label is None:
        return "SEVERAL" if choice.reason == SEVERAL else "NONE"
    return CORRECT if choice.label == key else INCORRECT


@dataclass(frozen=True, slots=True)
class _Listed:
    """An answer to an enumeration question."""

    question: Question
    response: Response
    universe: Universe


@dataclass(frozen=True, slots=True)
class _Chosen:
    """An answer to a multiple-choice question."""

    question: Question
    response: Response
    read: Reasoned


@dataclass(frozen=True, slots=True)
class _Answers:
    listed: list[_Listed]
    chosen: list[_Chosen]


class KnowledgeBerg:
    """How KnowledgeBerg's answers are read and scored in one run over a study."""

    def __init__(self, recipe: UniverseRecipe) -> None:
        self._recipe = recipe
        self._enumerated: dict[Key, list[Enumerated]] = defaultdict(list)
        self._reasoned: dict[Key, list[Reasoned]] = defaultdict(list)

    def schema(self) -> pa.Schema:
        """The columns of the scores table."""
        return _schema()

    def read(self, work: Work) -> Read:
        """Both kinds of answers by the rules, with the extractor's and the rules' verdicts."""
        found = _Answers([], [])
        elements: list[Mapping[str, Any]] = []
        pairs: list[Mapping[str, Any]] = []
        ratings: list[RatingRow] = []
        for question, responses in work:
            if is_choice(question):
                for response in responses:
                    one = _chosen(question, response)
                    found.chosen.append(one)
                    ratings.append(_read_rating(one))
                continue
            gold = None
            for response in responses:
                listed = _listed(question, response, self._recipe)
                found.listed.append(listed)
                if gold is None:
                    gold = listed.universe.reference
                    elements += columns.elements_of(
                        gold, question_id=question.question_id, side="reference"
                    )
                elements += columns.elements_of(
                    listed.universe.predicted,
                    question_id=question.question_id,
                    system=response.system,
                    variant=response.variant,
                    response_id=_response_id(response),
                    side="predicted",
                )
                for row in _pair_rows(listed):
                    pairs.append(row)
                    if row["how"] == EQUAL:
                        ratings.append(rating_by_rule(row["item_id"], CORRECT, "equal names"))
        return Read(elements, pairs, ratings, found)

    def score(
        self, source: Source, answers: _Answers
    ) -> tuple[list[Mapping[str, Any]], list[RatingRow]]:
        """Ask the judge about open pairs, match, count; and count the choices beside them."""
        judge = source.judge.name
        said = judge_universes(
            [one.universe for one in answers.listed], lambda items: judged(source, items)
        )
        rows: list[Mapping[str, Any]] = []
        ratings: list[RatingRow] = []
        for one, own in zip(answers.listed, said, strict=True):
            ratings += [rating(source, verdict) for verdict in own]
            score = one.universe.score(own, judge=source.block)
            domain, language = place_of(one.question, "domain"), place_of(one.question, "language")
            key = (judge, one.response.system, one.response.variant)
            self._enumerated[key].append(Enumerated(_light(score), domain, language))
            row = score.to_row()
            named = self._named(source, one.question, one.response, "universe", len(own))
            rows.append({**row, **named, "domain": domain, "language": language})
        for chosen in answers.chosen:
            key = (judge, chosen.response.system, chosen.response.variant)
            self._reasoned[key].append(chosen.read)
            rows.append(self._choice_row(source, chosen))
        return rows, ratings

    def forget(self, judge: str) -> None:
        """Drop the scores of a judge that did not get to the end."""
        for kept in (self._enumerated, self._reasoned):
            for key in [key for key in kept if key[0] == judge]:
                del kept[key]

    def results(self) -> dict[Key, tuple[dict[str, Any], KnowledgeBergScores]]:
        """The figures of each judge and system, in the order in which they came."""
        found: dict[Key, tuple[dict[str, Any], KnowledgeBergScores]] = {}
        for key in dict.fromkeys([*self._enumerated, *self._reasoned]):
            judge, system, variant = key
            scores = knowledgeberg_scores(
                self._enumerated.get(key, []), self._reasoned.get(key, [])
            )
            scores = replace(scores, system=system_label(system, variant))
            found[key] = (_summary(judge, system, variant, scores), scores)
        return found

    def _named(
        self, source: Source, question: Question, response: Response, unit: str, pairs: int | None
    ) -> dict[str, Any]:
        return {
            "judge": source.judge.name,
            "question_id": question.question_id,
            "system": response.system,
            "variant": response.variant,
            "response_id": _response_id(response),
            "unit": unit,
            "n_pairs": pairs,
            "output_tokens": response.output_tokens,
            "recipe": self._recipe.name,
            "recipe_sha256": self._recipe.sha256,
            "judge_sha256": source.sha256,
        }

    def _choice_row(self, source: Source, one: _Chosen) -> dict[str, Any]:
        read = one.read
        return {
            **self._named(source, one.question, one.response, _CHOICE, None),
            "domain": read.domain,
            "language": read.language,
            "state": "read" if read.choice.label is not None else "unread",
            "key": read.key,
            "chosen": read.choice.label,
            "chosen_by": read.choice.rule,
            "unread": read.choice.reason,
            "krq_accuracy": float(read.correct),
        }


_TEXT = (
    *("judge", "question_id", "system", "variant", "response_id", "unit", "domain", "language"),
    *("state", "key", "chosen", "chosen_by", "unread", "recipe", "recipe_sha256", "judge_sha256"),
)
_COUNTS = (
    *("n_reference", "n_predicted", "n_pairs", "duplicates", "by_rule", "by_judge", "judged"),
    *("unscored", "unsure", "output_tokens"),
)
_FIGURES = (
    *("universe_f1", "universe_precision", "universe_recall", "universe_f1_optimal"),
    *("optimal_minus_greedy", "krq_accuracy"),
)


@cache
def _schema() -> pa.Schema:
    """One row an answer and judge; ``unit`` is ``universe`` or ``choice``."""
    return columns.table_schema(_TEXT, _COUNTS, _FIGURES)


def _response_id(response: Response) -> str:
    return response_id(response.question_id, response.system, response.variant)


def _listed(question: Question, response: Response, recipe: UniverseRecipe) -> _Listed:
    universe = prepare_universe(
        question_id=question.question_id,
        question=question.question,
        reference=question.reference,
        response=json.loads(response.response) if response.response_is_json else response.response,
        language=place_of(question, "language"),
        system=hashed_system(response.system, response.variant),
        recipe=recipe,
    )
    if response.variant:
        # Judges know the system by its own name; a variant is part of the hash alone.
        items = tuple(replace(item, system=response.system) for item in universe.items)
        universe = replace(universe, items=items)
    return _Listed(question, response, universe)


def _chosen(question: Question, response: Response) -> _Chosen:
    asked = choice_question(question.fields)
    read = read_reasoned(
        question_id=question.question_id,
        response=answer_text(response).strip(),
        key=asked.key,
        labels=asked.labels,
        options=asked.options,
        seed_id=asked.seed_id,
        domain=place_of(question, "domain"),
        language=place_of(question, "language"),
        needed=asked.needed,
        system=hashed_system(response.system, response.variant),
    )
    return _Chosen(question, response, read)


def _read_rating(one: _Chosen) -> RatingRow:
    choice = one.read.choice
    return rating_by_rule(
        response_item_id("response", _CHOICE, one.response),
        choice_verdict(choice, one.read.key),
        choice.reason or choice.rule or "",
    )


def _pair_rows(one: _Listed) -> Iterator[dict[str, Any]]:
    """The pairs of an enumeration, in the order of the answer, then what no prediction names.

    The numbers of elements are left open: a prediction stands in as many pairs as there are gold
    elements for it, so a count of correct pairs over them would be no precision.
    """
    universe, question, response = one.universe, one.question, one.response
    common = {
        "question_id": question.question_id,
        "system": response.system or NO_SYSTEM,
        "variant": response.variant,
        "response_id": _response_id(response),
        "question": question.question,
        "aliases": [],
        "alignment": "main",
    }
    open_pairs: dict[int, list[Item]] = defaultdict(list)
    beside: set[int] = set(universe.by_rule.values())
    for item in universe.items:
        gold, place = universe.pair_of[item.item_id]
        open_pairs[place].append(item)
        beside.add(gold)
    for place in range(len(universe.predicted)):
        reference = universe.by_rule.get(place)
        if place in open_pairs:
            for item in open_pairs[place]:
                gold, _ = universe.pair_of[item.item_id]
                yield {**common, **_shown(item, gold, place), "how": CANDIDATE}
        else:
            item = _settled(one, reference, place)
            how = UNMATCHED if reference is None else EQUAL
            yield {**common, **_shown(item, reference, place), "how": how}
    for gold, element in enumerate(universe.reference):
        if gold not in beside:
            yield {
                **common,
                "reference": element.display,
                "aliases": list(element.aliases),
                "reference_index": gold,
                "how": UNMATCHED,
            }


def _shown(item: Item, reference: int | None, predicted: int) -> dict[str, Any]:
    return {
        "item_id": item.item_id,
        "reference": item.reference,
        "aliases": list(item.aliases),
        "predicted": item.predicted,
        "reference_index": reference,
        "predicted_index": predicted,
        "content_sha256": item.content_sha256,
    }


def _settled(one: _Listed, reference: int | None, place: int) -> Item:
    """A pair by the rules, or a prediction that every gold element was taken from."""
    universe = one.universe
    gold = None if reference is None else universe.reference[reference]
    given = universe.predicted[place]
    return Item(
        item_id=item_id(
            unit="pair",
            question_id=universe.question_id,
            system=universe.system,
            reference_index=reference,
            reference=None if gold is None else gold.display,
            predicted_index=place,
            predicted=given.display,
            occurrence=0,
        ),
        question_id=universe.question_id,
        question=one.question.question,
        reference=None if gold is None else gold.display,
        predicted=given.display,
        aliases=() if gold is None else gold.aliases,
        system=one.response.system,
    )


def _light(score: UniverseScore) -> UniverseScore:
    """What the figures need of a score; its open pairs, which can be many, are let go."""
    universe = replace(score.universe, items=(), pair_of={}, equal=frozenset())
    return replace(score, universe=universe)


def _summary(judge: str, system: str, variant: str, scores: KnowledgeBergScores) -> dict[str, Any]:
    """One row a judge and system: figures by name, each with the number it is a mean of."""
    figures = {name: mean.value for name, mean in scores.universe.items()}
    n = {name: mean.n for name, mean in scores.universe.items()}
    knowledge = scores.knowledge
    figures |= {
        "krq_accuracy": scores.accuracy.accuracy,
        "missing_knowledge": knowledge.missing_knowledge,
        "not_applied": knowledge.not_applied,
    }
    known = knowledge.wrong_missing + knowledge.wrong_present
    n |= {"krq_accuracy": scores.accuracy.n, "missing_knowledge": known, "not_applied": known}
    return {
        "judge": judge,
        "system": system,
        "variant": variant,
        "unit": "response",
        "responses": sum(scores.states.values()) + scores.accuracy.n,
        "enumerations": sum(scores.states.values()),
        "choices": scores.accuracy.n,
        **scores.states,
        "unscored": scores.counts["unscored"],
        "unsure": scores.counts["unsure"],
        "figures": {name: _number(value) for name, value in figures.items()},
        "n": n,
        "details": scores.to_dict(),
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
