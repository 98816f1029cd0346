"""KnowledgeBerg's two kinds of question, and what ties them together.

An enumeration question (EQ) asks for a whole universe and is scored by Universe F1
(:mod:`accord.scoring.universe`). The multiple-choice questions made from it (KRQ) ask to reason
over the same universe. Where both are there, a wrong KRQ either lacks elements that its answer
needs (*missing knowledge*) or has them all in the enumeration and still goes wrong (*not applied*).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .averages import same_block
from .breakdown import Mean, TwoWay, two_way
from .choice_answers import Choice, read_choice
from .errors import InputError
from .languages import Articles, normalise_name
from .metrics import STATES
from .records import NO_SYSTEM, Element
from .universe import UniverseScore

__all__ = [
    "ChoiceAccuracy",
    "Enumerated",
    "Knowledge",
    "KnowledgeBergScores",
    "Reasoned",
    "choice_accuracy",
    "element_of",
    "element_places",
    "knowledge_of_wrong_answers",
    "knowledgeberg_scores",
    "read_reasoned",
]


@dataclass(frozen=True, slots=True)
class Enumerated:
    """The score of one enumeration question, with its place."""

    score: UniverseScore
    domain: str
    language: str


@dataclass(frozen=True, slots=True)
class Reasoned:
    """One multiple-choice answer.

    Parameters
    ----------
    question_id, seed_id
        Its own id, and that of the enumeration question it was made from.
    choice, key
        The option that was read, and the right one.
    needed
        The elements of the universe that its answer rests on, by their text or an alias; None where
        nobody said.
    """

    question_id: str
    seed_id: str
    domain: str
    language: str
    choice: Choice
    key: str
    needed: tuple[str, ...] | None = None
    system: str = NO_SYSTEM

    @property
    def correct(self) -> bool:
        """Whether the right option was chosen; what could not be read is not."""
        return self.choice.label == self.key


def read_reasoned(
    *,
    question_id: str,
    response: str | None,
    key: str,
    labels: Sequence[str] = ("A", "B", "C", "D"),
    options: Mapping[str, str] | None = None,
    seed_id: str = "",
    domain: str = "",
    language: str = "",
    needed: Sequence[str] | None = None,
    system: str = NO_SYSTEM,
) -> Reasoned:
    """Read one multiple-choice answer (:func:`accord.scoring.choice_answers.read_choice`).

    Raises
    ------
    InputError
        When the key is none of the labels: no answer could be right.
    """
    if key not in labels:
        raise InputError(
            f"question {question_id!r}: the key {key!r} is none of {', '.join(labels)}",
            cure="correct the key, or name the labels",
        )
    return Reasoned(
        question_id=question_id,
        seed_id=seed_id,
        domain=domain,
        language=language,
        choice=read_choice(response, labels, options=options),
        key=key,
        needed=None if needed is None else tuple(needed),
        system=system,
    )


@dataclass(frozen=True, slots=True)
class ChoiceAccuracy:
    """Accuracy of multiple-choice answers.

    ``accuracy`` counts what could not be read as wrong: it stays in the denominator. ``when_read``
    is over the answers that chose an option, NaN where none did. ``unread`` says how many did not,
    by reason.
    """

    correct: int
    n: int
    accuracy: float
    when_read: float
    unread: Mapping[str, int]
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values; NaN becomes None."""
        return {
            "correct": self.correct,
            "n": self.n,
            "accuracy": _number(self.accuracy),
            "when_read": _number(self.when_read),
            "unread": dict(self.unread),
            "reason": self.reason,
        }


def choice_accuracy(choices: Sequence[Choice], keys: Sequence[str]) -> ChoiceAccuracy:
    """Accuracy of choices against their keys; NaN with a reason where there are none.

    Examples
    --------
    >>> found = choice_accuracy([Choice("B"), Choice(None, "refused")], ["B", "A"])
    >>> found.accuracy, found.when_read, dict(found.unread)
    (0.5, 1.0, {'refused': 1})
    """
    pairs = list(zip(choices, keys, strict=True))
    correct = sum(choice.label == key for choice, key in pairs)
    unread = Counter(choice.reason or "no label" for choice, _ in pairs if choice.label is None)
    read = len(pairs) - unread.total()
    return ChoiceAccuracy(
        correct=correct,
        n=len(pairs),
        accuracy=correct / len(pairs) if pairs else math.nan,
        when_read=correct / read if read else math.nan,
        unread=dict(sorted(unread.items())),
        reason=None if pairs else "no multiple-choice answer",
    )


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the enumeration of the same universe says about multiple-choice answers.

    Counts of wrong and right answers whose needed elements were ``missing`` (at least one of them)
    or all ``present`` in the enumeration, and of those of which it is ``unknown``: no enumeration,
    or nobody said what is needed. The shares are of the wrong answers of which it is known.
    """

    wrong_missing: int
    wrong_present: int
    wrong_unknown: int
    right_missing: int
    right_present: int
    right_unknown: int
    missing_knowledge: float
    not_applied: float
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values; NaN becomes None."""
        return {
            "wrong_missing": self.wrong_missing,
            "wrong_present": self.wrong_present,
            "wrong_unknown": self.wrong_unknown,
            "right_missing": self.right_missing,
            "right_present": self.right_present,
            "right_unknown": self.right_unknown,
            "missing_knowledge": _number(self.missing_knowledge),
            "not_applied": _number(self.not_applied),
            "reason": self.reason,
        }


def knowledge_of_wrong_answers(
    enumerated: Sequence[Enumerated], reasoned: Sequence[Reasoned]
) -> Knowledge:
    """Split wrong multiple-choice answers into missing knowledge and knowledge not applied.

    Parameters
    ----------
    enumerated
        The enumeration questions of one system; found by id and language.
    reasoned
        Its multiple-choice answers. A right answer whose elements are missing was guessed or known
        otherwise; both are counted, so that the share of the wrong ones can be compared.

    Raises
    ------
    InputError
        When a needed element is none of its universe, or two enumerations have one id and language.
    """
    universes: dict[tuple[str, str], Enumerated] = {}
    for one in enumerated:
        where = (one.score.universe.question_id, one.language)
        if where in universes:
            raise InputError(
                f"two enumerations of {where[0]!r} in {where[1]!r}", cure="hand in one a system"
            )
        universes[where] = one
    counts: Counter[tuple[bool, bool | None]] = Counter()
    for answer in reasoned:
        found = universes.get((answer.seed_id, answer.language))
        lacks = None if found is None else _lacks(found, answer)
        counts[(answer.correct, lacks)] += 1
    known = counts[(False, True)] + counts[(False, False)]
    return Knowledge(
        wrong_missing=counts[(False, True)],
        wrong_present=counts[(False, False)],
        wrong_unknown=counts[(False, None)],
        right_missing=counts[(True, True)],
        right_present=counts[(True, False)],
        right_unknown=counts[(True, None)],
        missing_knowledge=counts[(False, True)] / known if known else math.nan,
        not_applied=counts[(False, False)] / known if known else math.nan,
        reason=None if known else "no wrong answer whose needed elements are known",
    )


def _lacks(found: Enumerated, answer: Reasoned) -> bool | None:
    """Whether the enumeration lacks an element that the answer needs."""
    if not answer.needed:
        return None
    universe = found.score.universe
    articles = universe.recipe.articles
    place = element_places(universe.reference, found.language, articles)
    missing = universe.missing(found.score.matched)
    lacks = False
    for text in answer.needed:
        lacks = lacks or element_of(text, answer, place, articles) in missing
    return lacks


def element_of(text: str, answer: Reasoned, places: Mapping[str, int], articles: Articles) -> int:
    """The position of an element that an answer needs, among those of :func:`element_places`.

    Raises
    ------
    InputError
        When it is none of them.
    """
    place = places.get(normalise_name(text, answer.language, articles=articles))
    if place is None:
        raise InputError(
            f"question {answer.question_id!r} needs {text!r}, which is no element of "
            f"{answer.seed_id!r}",
            cure="name needed elements as the reference does",
        )
    return place


def element_places(
    elements: Sequence[Element], language: str | None, articles: Articles
) -> dict[str, int]:
    """Normalised name or alias → the position of its element; the first of equal ones."""
    place: dict[str, int] = {}
    for position, element in enumerate(elements):
        for text in (element.text, *element.aliases):
            place.setdefault(normalise_name(text, language, articles=articles), position)
    return place


@dataclass(frozen=True, slots=True)
class KnowledgeBergScores:
    """The figures of one system on KnowledgeBerg.

    ``universe`` holds the means over the enumeration questions by name; an answer that is empty,
    abstained or unreadable counts as 0, and ``states`` says how many there are. The two tables are
    by domain and language.
    """

    system: str
    universe: Mapping[str, Mean]
    states: Mapping[str, int]
    counts: Mapping[str, int]
    accuracy: ChoiceAccuracy
    knowledge: Knowledge
    universe_table: TwoWay
    accuracy_table: TwoWay
    block: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON values."""
        names = ("domain", "language")
        return {
            "system": self.system,
            "universe": {name: mean.to_dict() for name, mean in self.universe.items()},
            "states": dict(self.states),
            "counts": dict(self.counts),
            "accuracy": self.accuracy.to_dict(),
            "knowledge": self.knowledge.to_dict(),
            "universe_by_domain_and_language": self.universe_table.to_rows(names),
            "accuracy_by_domain_and_language": self.accuracy_table.to_rows(names),
            "block": dict(self.block),
        }


def knowledgeberg_scores(
    enumerated: Sequence[Enumerated], reasoned: Sequence[Reasoned] = ()
) -> KnowledgeBergScores:
    """The figures of one system: means over questions, tables, and the two kinds together.

    Raises
    ------
    InputError
        When there is nothing to score, or several systems are mixed.
    SettingsError
        When the enumerations were scored with different conventions or judges.
    """
    systems = {one.score.universe.system for one in enumerated} | {r.system for r in reasoned}
    if len(systems) != 1:
        raise InputError(
            f"{len(systems)} systems in one table: {', '.join(sorted(systems)) or 'none'}",
            cure="score one system at a time",
        )
    block = same_block([one.score.block for one in enumerated]) if enumerated else {}
    rows = [one.score.to_row() for one in enumerated]
    states = Counter(row["state"] for row in rows)
    values = {
        "universe_f1": [one.score.greedy.f1 for one in enumerated],
        "universe_precision": [one.score.greedy.precision for one in enumerated],
        "universe_recall": [one.score.greedy.recall for one in enumerated],
        "universe_f1_optimal": [one.score.optimal.f1 for one in enumerated],
        "optimal_minus_greedy": [one.score.difference for one in enumerated],
    }
    names = ("duplicates", "by_rule", "by_judge", "judged", "unscored", "unsure")
    return KnowledgeBergScores(
        system=systems.pop(),
        universe={
            name: Mean.of(found, nothing="no enumeration question")
            for name, found in values.items()
        },
        states={state: n for state in STATES if (n := states[state])},
        counts={name: sum(row[name] for row in rows) for name in names},
        accuracy=choice_accuracy([r.choice for r in reasoned], [r.key for r in reasoned]),
        knowledge=knowledge_of_wrong_answers(enumerated, reasoned),
        universe_table=two_way((o.domain, o.language, o.score.greedy.f1) for o in enumerated),
        accuracy_table=two_way((r.domain, r.language, float(r.correct)) for r in reasoned),
        block=block,
    )


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
