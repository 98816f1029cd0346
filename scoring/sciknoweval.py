"""SciKnowEval: which metric a row has, its score in [0, 1], and the overall figure.

===============  =================================================  ==============================
metric           rows                                               score of a row
===============  =================================================  ==============================
``choice``       multiple choice with 4 or 2 options                1 if the option is the key
``truth``        true or false                                      1 if yes or no is the answer
``exact``        balancing a chemical equation (filling)            1 if equal without blanks
``relations``    drug-drug, compound-disease, gene-disease          F1 of the document's tuples
``rating``       summaries, procedures, derivations, designs, ...   a judge's 1 to 5, mapped
``grade``        extraction of dopings and of components            a judge's A to E, mapped
``refusal``      questions that are to be declined                  1 if a judge says it declines
===============  =================================================  ==============================

Whatever the answer, the row stays in the denominator: an empty answer, one that can't be read and
one that declines score 0 (a question that is to be declined apart). A judge's reply that can't be
read is *unscored*: no fault of the answer, hence by default in no mean, and counted.

The benchmark's code has no map from ratings to [0, 1] and no average over tasks. Both are settings
here, and the figures are not comparable with its leaderboard.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from .breakdown import Aggregate, Aggregates, Sample, TaskKey, aggregate
from .choice_answers import read_choice, read_truth
from .errors import BadRow, InputError, SettingsError
from .graded_reply import read_graded
from .rating_reply import FRACTIONS, RATING_MAPS, Fractions, RatingMap, map_rating, read_rating
from .records import NO_SYSTEM, Item, item_id
from .refusal import refuses
from .sciknoweval_rows import (
    ASKED_OF,
    JUDGED,
    METRICS,
    TUPLE_SIZES,
    ZERO_SHOT,
    Metric,
    few_shot_rows,
    is_missing,
    listed_texts,
    metric_of,
    question_of,
    row_ids,
    task_of,
    text_of,
)
from .tuples import RelationScore, pooled_relations, read_tuples, relation_score
from .verdict import REFUSED

__all__ = [
    "RowScore",
    "SciKnowEvalRecipe",
    "SciKnowEvalScores",
    "judge_items",
    "row_ids",
    "score_row",
    "sciknoweval_figures",
    "sciknoweval_scores",
]

NO_TUPLE = "no tuple"

GRADES: Mapping[str, float] = {"A": 0.5, "B": 0.75, "C": 1.0, "D": 0.25, "E": 0.0}
"""What a judge's choice is worth: subset, superset, the same, small disagreement, none of these."""


@dataclass(frozen=True)
class SciKnowEvalRecipe:
    """The conventions that shape a score, which the benchmark leaves open.

    Parameters
    ----------
    rating_map
        What a rating is worth: ``(r-1)/4`` or ``r/5``.
    fractions
        A rating such as 4.5: ``keep``, ``unscored``, ``down`` or ``nearest``.
    unscored
        A row whose judge reply could not be read: ``missing`` (in no mean) or ``incorrect`` (0).
    relations
        ``document``: a relation task is the mean of its documents' F1; ``pooled``: one F1 from
        their counts. Matches never cross documents.
    aggregate
        Which overall figure is the score; all three are given.
    """

    name: str = "sciknoweval"
    rating_map: RatingMap = "(r-1)/4"
    fractions: Fractions = "keep"
    unscored: Literal["missing", "incorrect"] = "missing"
    relations: Literal["document", "pooled"] = "document"
    aggregate: Aggregate = "task-level-overall"

    def __post_init__(self) -> None:
        known: Mapping[str, tuple[str, ...]] = {
            "rating_map": RATING_MAPS,
            "fractions": FRACTIONS,
            "unscored": ("missing", "incorrect"),
            "relations": ("document", "pooled"),
            "aggregate": get_args(Aggregate),
        }
        for name, values in known.items():
            if getattr(self, name) not in values:
                raise SettingsError(
                    f"the recipe's {name} can't be {getattr(self, name)!r}",
                    cure=f"use one of {', '.join(values)}",
                )

    def block(self) -> dict[str, Any]:
        """Every convention by name: what makes two scores comparable."""
        return dataclasses.asdict(self)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the block, 64 hex digits."""
        return hashlib.sha256(json.dumps(self.block(), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RowScore:
    """The score of one row: a value in [0, 1], NaN where a judge's reply could not be read.

    ``state`` is ``given``, ``empty``, ``abstained`` or ``unreadable``; ``reason`` says what was
    wrong with the answer or the judge's reply; ``relations`` is there for relation rows.
    """

    key: TaskKey
    metric: Metric
    value: float
    state: str
    reason: str | None = None
    relations: RelationScore | None = None

    @property
    def unscored(self) -> bool:
        """Whether the judge's reply could not be read."""
        return math.isnan(self.value)


def score_row(
    row: Mapping[str, Any],
    response: str | None,
    *,
    judge_reply: str | None = None,
    judge_reason: str | None = None,
    recipe: SciKnowEvalRecipe | None = None,
    metric: Metric | None = None,
) -> RowScore:
    """Score the response to one row.

    Parameters
    ----------
    row
        As the benchmark has it.
    response
        The answer; None or blank is an empty answer and scores 0.
    judge_reply
        What the judge said, for the metrics ``rating``, ``grade`` and ``refusal``; None or a reply
        that can't be read is unscored. An empty answer needs none.
    judge_reason
        Why there is no reply, where that is known.
    recipe
        The conventions.
    metric
        Another metric than the row's own.

    Raises
    ------
    InputError
        When the row has no gold answer of its kind.
    SettingsError
        When the metric can't be used for the row: exact match, or an offline metric, on a
        generative task.
    """
    conventions = recipe or SciKnowEvalRecipe()
    key = task_of(row)
    own = metric_of(row)
    used = own if metric is None else metric
    if used not in METRICS:
        raise SettingsError(f"metric can't be {used!r}", cure=f"use one of {', '.join(METRICS)}")
    if used != own:
        _refuse_metric(used, own, key[2])
    answer = response or ""
    if not answer.strip():
        if used == "relations":
            return RowScore(key, used, 0.0, "empty", "empty", _relations(row, "", key[2]))
        return RowScore(key, used, 0.0, "empty", "empty")
    if used == "choice":
        labels, options, gold = _options(row)
        choice = read_choice(answer, labels, options=options)
        return _answered(key, used, choice.label, gold, choice.reason)
    if used == "truth":
        choice = read_truth(answer)
        return _answered(key, used, choice.label, _truth(row), choice.reason)
    if used == "exact":
        equal = _squeezed(answer) == _squeezed(_gold(row))
        if not equal and refuses(answer.strip()):
            return RowScore(key, used, 0.0, "abstained", REFUSED)
        return RowScore(key, used, float(equal), "given")
    if used == "relations":
        found = _relations(row, answer, key[2])
        if found.predicted:
            return RowScore(key, used, found.prf.f1, "given", relations=found)
        declined = refuses(answer.strip())
        why = ("abstained", REFUSED) if declined else ("unreadable", NO_TUPLE)
        return RowScore(key, used, found.prf.f1, *why, found)
    value, reason = _judged(used, judge_reply, conventions)
    if judge_reply is None:
        reason = judge_reason or reason
    state = "abstained" if refuses(answer.strip()) else "given"
    if value is None:
        value = 0.0 if conventions.unscored == "incorrect" else math.nan
    return RowScore(key, used, value, state, reason)


def judge_items(
    rows: Sequence[Mapping[str, Any]],
    responses: Sequence[str | None],
    *,
    system: str = NO_SYSTEM,
) -> dict[int, Item]:
    """What a judge, or a person, needs to grade: question, gold answer and answer.

    Returns
    -------
    dict
        Row position → item, for the answers whose metric needs a judge and that are not empty.
    """
    identities = row_ids(rows)
    items: dict[int, Item] = {}
    for place, (row, response) in enumerate(zip(rows, responses, strict=True)):
        answer = "" if is_missing(response) else str(response)
        if metric_of(row) not in JUDGED or not answer.strip():
            continue
        gold = text_of(row.get("answer")) or None
        items[place] = Item(
            item_id=item_id(
                unit="response",
                question_id=identities[place],
                system=system,
                reference_index=None,
                reference=gold,
                predicted_index=None,
                predicted=answer,
                occurrence=0,
            ),
            question_id=identities[place],
            question=question_of(row),
            reference=gold,
            predicted=answer,
            system=system,
        )
    return items


def _refuse_metric(used: Metric, own: Metric, task: str) -> None:
    if own in JUDGED and used not in JUDGED:
        raise SettingsError(
            f"the metric {used} can't score {task}: two good answers need not share a word",
            cure=f"use its own metric, {own}, with a judge's replies",
        )
    raise SettingsError(f"the metric of {task} is {own}, not {used}", cure=f"use {own}")


def _answered(
    key: TaskKey, metric: Metric, label: str | None, gold: str, reason: str | None
) -> RowScore:
    if label is None:
        return RowScore(
            key, metric, 0.0, "abstained" if reason == REFUSED else "unreadable", reason
        )
    return RowScore(key, metric, float(label == gold), "given")


def _judged(
    metric: Metric, reply: str | None, conventions: SciKnowEvalRecipe
) -> tuple[float | None, str | None]:
    if metric == "rating":
        rating = read_rating(reply, fractions=conventions.fractions)
        if rating.value is None:
            return None, rating.reason
        return map_rating(rating.value, conventions.rating_map), None
    label, reason = read_graded(ASKED_OF[metric], reply)
    if label is None:
        return None, reason
    return GRADES[label] if metric == "grade" else float(label == "Yes"), None


def _options(row: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, str], str]:
    choices = row.get("choices")
    choices = choices if isinstance(choices, Mapping) else {}
    labels, texts = (tuple(listed_texts(choices.get(name))) for name in ("label", "text"))
    key = text_of(row.get("answerKey"))
    apart = {label.strip().casefold() for label in labels} - {""}
    if len(labels) != len(texts) or key not in labels or len(apart) < len(labels):
        raise InputError(
            f"a multiple-choice row has the key {key!r} and the options {labels!r}: "
            f"{text_of(row.get('question'))[:60]!r}",
            cure="give choices.label, choices.text, one label a text, and an answerKey among them",
        )
    return labels, dict(zip(labels, texts, strict=True)), key


def _truth(row: Mapping[str, Any]) -> str:
    for name in ("answer", "answerKey"):
        found = read_truth(text_of(row.get(name))).label
        if found is not None:
            return found
    raise InputError(
        f"a true-or-false row has the answer {_gold(row)!r}", cure="give Yes or No as its answer"
    )


def _gold(row: Mapping[str, Any]) -> str:
    gold = text_of(row.get("answer"))
    if not gold:
        raise InputError(
            f"a row has no answer: {text_of(row.get('question'))[:60]!r}",
            cure="give its answer, or leave it out",
        )
    return gold


def _relations(row: Mapping[str, Any], answer: str, task: str) -> RelationScore:
    size = TUPLE_SIZES[task]
    return relation_score(_gold(row), read_tuples(answer, size=size), size=size)


def _squeezed(text: str) -> str:
    """An equation without blanks and marks around it, its arrow an equals sign."""
    plain = unicodedata.normalize("NFKC", text).strip().strip("`*$. \n")
    plain = re.sub(r"-+>|→|⟶|⇌|=+", "=", plain)
    return "".join(plain.split())


@dataclass(frozen=True, slots=True)
class SciKnowEvalScores:
    """The figures of one system.

    ``aggregates`` holds the three overall figures, the tasks, the levels, and the table of domain
    and level; ``metrics`` says how many rows had which metric, ``states`` what became of the
    answers, ``unread`` why an answer could not be read, ``unscored`` why a judge's reply could not.
    """

    aggregates: Aggregates
    metrics: Mapping[str, int]
    states: Mapping[str, int]
    unread: Mapping[str, int]
    unscored: Mapping[str, int]
    block: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON values."""
        return {
            **self.aggregates.to_dict(),
            "metrics": dict(self.metrics),
            "states": dict(self.states),
            "unread": dict(self.unread),
            "unscored": dict(self.unscored),
            "block": dict(self.block),
        }


def sciknoweval_scores(
    rows: Sequence[Mapping[str, Any]],
    responses: Sequence[str | None] | None = None,
    *,
    judge_replies: Mapping[int, str | None] | None = None,
    judge: Mapping[str, Any] | None = None,
    recipe: SciKnowEvalRecipe | None = None,
) -> SciKnowEvalScores:
    """Score one system's responses.

    Parameters
    ----------
    rows
        The benchmark's rows; with a key ``response`` where ``responses`` is None.
    responses
        One a row, in the same order.
    judge_replies
        Row position (from 0) → what the judge said of it.
    judge
        Name and settings of the judge; part of the block.
    recipe
        The conventions.

    Raises
    ------
    InputError
        When rows were asked with examples, a row can't be scored (all such rows are listed), or
        there is none.
    """
    conventions = recipe or SciKnowEvalRecipe()
    answers = [row.get("response") for row in rows] if responses is None else list(responses)
    scored: list[RowScore] = []
    bad = [BadRow(row.file, row.line, f"{row.reason}; {ZERO_SHOT}") for row in few_shot_rows(rows)]
    for place, (row, answer) in enumerate(zip(rows, answers, strict=True)):
        try:
            scored.append(
                score_row(
                    row,
                    None if is_missing(answer) else str(answer),
                    judge_reply=(judge_replies or {}).get(place),
                    recipe=conventions,
                )
            )
        except InputError as error:
            bad.append(BadRow.of("rows", place + 1, error))
    if bad:
        raise InputError.from_rows(sorted(bad, key=lambda row: row.line or 0))
    return sciknoweval_figures(scored, judge=judge, recipe=conventions)


def sciknoweval_figures(
    scored: Sequence[RowScore],
    *,
    judge: Mapping[str, Any] | None = None,
    recipe: SciKnowEvalRecipe | None = None,
) -> SciKnowEvalScores:
    """The figures of rows that are scored: :func:`sciknoweval_scores` from :func:`score_row`.

    Raises
    ------
    InputError
        When there is no row.
    """
    conventions = recipe or SciKnowEvalRecipe()
    pooled: dict[TaskKey, float] = {}
    if conventions.relations == "pooled":
        of: dict[TaskKey, list[RelationScore]] = {}
        for one in scored:
            if one.relations is not None:
                of.setdefault(one.key, []).append(one.relations)
        pooled = {key: pooled_relations(found).f1 for key, found in of.items()}
    read = [one for one in scored if one.metric not in JUDGED]
    judged = [one for one in scored if one.metric in JUDGED and one.state != "empty"]
    return SciKnowEvalScores(
        aggregates=aggregate(
            [Sample(*one.key, one.value) for one in scored],
            primary=conventions.aggregate,
            pooled=pooled,
        ),
        metrics=dict(sorted(Counter(one.metric for one in scored).items())),
        states=dict(sorted(Counter(one.state for one in scored).items())),
        unread=dict(sorted(Counter(one.reason for one in read if one.reason).items())),
        unscored=dict(sorted(Counter(one.reason for one in judged if one.reason).items())),
        block={"recipe": conventions.block(), "judge": None if judge is None else dict(judge)},
    )
