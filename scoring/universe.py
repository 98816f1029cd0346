"""Universe F1: how much of an enumerable universe an answer lists (KnowledgeBerg).

1. Both lists are read and normalised by the rules of their language.
2. *Rule.* Each prediction, in the order of the answer, takes the first gold element it equals and
   that is still free.
3. *Judge.* Only the predictions that are left are shown to a judge, each beside the gold elements
   that the rules left free, one pair at a time: the judge says whether two names mean the same
   thing, never whether a name is in a list.
4. *Greedy.* Each of them, in order, takes the first free gold element it was judged equal to. One
   gold element serves one prediction, so the matches m are at most min(\\|P\\|, \\|G\\|).

P = m/\\|P\\|, R = m/\\|G\\|, F1 their harmonic mean. The *optimal* variant takes as many matches as
there can be on the same equalities; the difference says what the greedy order costs.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, get_args

from .align import match_exact
from .answers import read_both, scored_elements
from .errors import InputError, SettingsError
from .languages import Articles, language_code, normalise_name
from .metrics import PRF, State, precision_recall_f1
from .parse import PARSER, Parsed
from .recipes import Recipe, recipe
from .records import CORRECT, NO_SYSTEM, UNSURE, Element, Item, Judgement, item_id

__all__ = [
    "Universe",
    "UniverseRecipe",
    "UniverseScore",
    "judge_universes",
    "prepare_universe",
    "universe_score",
]

Asked = Literal["all", "needed"]


@dataclass(frozen=True)
class UniverseRecipe:
    """The conventions of Universe F1, which its paper leaves open.

    Parameters
    ----------
    articles
        ``drop`` or ``keep`` the article at the beginning of a name.
    compared
        ``text``: the whole element; ``head``: the part before an explanation, where there is one.
    duplicates
        ``count``: a repetition is a prediction of its own and costs precision; ``collapse``: of
        predictions with equal normalised names the first is kept. Both report how many there are.
    aside
        Blocks that comment on the answer: ``drop`` or ``keep`` their elements.
    asked
        Which pairs the judge sees: ``all`` that the rules left open, which the optimal variant
        needs; ``needed``: those against gold elements that are free when the greedy order comes to
        the prediction, and none after its match. Then there is no optimal variant.
    """

    name: str = "knowledgeberg"
    parser: str = PARSER
    articles: Articles = "drop"
    compared: Literal["text", "head"] = "text"
    duplicates: Literal["count", "collapse"] = "count"
    aside: Literal["drop", "keep"] = "drop"
    asked: Asked = "all"

    def __post_init__(self) -> None:
        known: Mapping[str, tuple[str, ...]] = {
            "parser": (PARSER,),
            "articles": get_args(Articles),
            "compared": ("text", "head"),
            "duplicates": ("count", "collapse"),
            "aside": ("drop", "keep"),
            "asked": get_args(Asked),
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
class Universe:
    """An answer after the rules, with the pairs that wait for a judge.

    Parameters
    ----------
    reference, predicted
        The elements; positions count in these.
    equal
        (reference, predicted) positions whose normalised names are equal.
    by_rule
        Predicted position → reference position after step 2.
    items
        The open pairs: each unresolved prediction, in order, beside each free gold element.
    pair_of
        Item id → its (reference, predicted) positions.
    duplicates
        Predictions that repeat an earlier one, after normalisation; counted before any collapse.
    """

    question_id: str
    system: str
    language: str
    reference: tuple[Element, ...]
    predicted: tuple[Element, ...]
    state: State
    equal: frozenset[tuple[int, int]]
    by_rule: Mapping[int, int]
    items: tuple[Item, ...]
    pair_of: Mapping[str, tuple[int, int]]
    duplicates: int
    recipe: UniverseRecipe

    def score(
        self, judgements: Iterable[Judgement], *, judge: Mapping[str, Any] | None = None
    ) -> UniverseScore:
        """Match by the verdicts and count.

        Parameters
        ----------
        judgements
            Verdicts by item id; CORRECT says that the two names mean the same. A pair without a
            verdict, or with UNSURE, matches nothing and is counted.
        judge
            Name and settings of the verdict source; part of the block.

        Raises
        ------
        InputError
            When a judgement belongs to no open pair, or a pair has two.
        """
        verdicts: dict[tuple[int, int], str | None] = {}
        for judgement in judgements:
            pair = self.pair_of.get(judgement.item_id)
            if pair is None:
                raise InputError(
                    f"question {self.question_id!r}: a verdict for the item "
                    f"{judgement.item_id!r}, which is no open pair of it",
                    cure="hand in the verdicts of this answer's open pairs",
                )
            if pair in verdicts:
                raise InputError(
                    f"question {self.question_id!r}: two verdicts for the item "
                    f"{judgement.item_id!r}",
                    cure="hand in one verdict an item",
                )
            verdicts[pair] = judgement.verdict
        same = {pair for pair, verdict in verdicts.items() if verdict == CORRECT}
        greedy = _in_order(same, self.by_rule)
        n_predicted, n_reference = len(self.predicted), len(self.reference)
        whole = self.recipe.asked == "all"
        best = len(_most(self, same)) if whole else 0
        nan = math.nan
        return UniverseScore(
            universe=self,
            greedy=precision_recall_f1(len(greedy), n_predicted, n_reference),
            optimal=precision_recall_f1(best, n_predicted, n_reference)
            if whole
            else PRF(nan, n_predicted, n_reference, nan, nan, nan, "not all pairs were judged"),
            matched=tuple(
                (r, p, "rule" if self.by_rule.get(p) == r else "judge")
                for p, r in sorted(greedy.items())
            ),
            judged=len(verdicts),
            unscored=(len(self.items) - len(verdicts) if whole else 0)
            + sum(verdict is None for verdict in verdicts.values()),
            unsure=sum(verdict == UNSURE for verdict in verdicts.values()),
            block={"recipe": self.recipe.block(), "judge": None if judge is None else dict(judge)},
        )

    def missing(self, matched: Iterable[tuple[int, int, str]]) -> frozenset[int]:
        """The reference positions that no prediction was matched to."""
        return frozenset(range(len(self.reference))) - {r for r, _, _ in matched}


@dataclass(frozen=True, slots=True)
class UniverseScore:
    """Universe F1 of one answer: greedy (the definition), optimal, and what each rests on.

    ``matched`` holds (reference, predicted, ``rule`` or ``judge``) of the greedy variant;
    ``judged`` says how many pairs had a verdict.
    """

    universe: Universe
    greedy: PRF
    optimal: PRF
    matched: tuple[tuple[int, int, str], ...]
    judged: int
    unscored: int
    unsure: int
    block: Mapping[str, Any]

    @property
    def difference(self) -> float:
        """Optimal F1 minus greedy F1, never below 0; NaN without an optimal variant."""
        return self.optimal.f1 - self.greedy.f1

    def to_row(self) -> dict[str, Any]:
        """One flat row: names, state, counts, figures (NaN becomes None)."""
        one = self.universe
        how = [how for _, _, how in self.matched]
        figures = {
            "universe_f1": self.greedy.f1,
            "universe_precision": self.greedy.precision,
            "universe_recall": self.greedy.recall,
            "universe_f1_optimal": self.optimal.f1,
            "optimal_minus_greedy": self.difference,
        }
        return {
            "question_id": one.question_id,
            "system": one.system,
            "language": one.language,
            "state": one.state,
            "n_reference": len(one.reference),
            "n_predicted": len(one.predicted),
            "duplicates": one.duplicates,
            "by_rule": how.count("rule"),
            "by_judge": how.count("judge"),
            "judged": self.judged,
            "unscored": self.unscored,
            "unsure": self.unsure,
            **{name: value if math.isfinite(value) else None for name, value in figures.items()},
        }


def prepare_universe(
    *,
    question_id: str,
    question: str,
    reference: Any,
    response: Any,
    language: str | None = None,
    system: str = NO_SYSTEM,
    recipe: UniverseRecipe | None = None,
    occurrence: int = 0,
) -> Universe:
    """Read, normalise and match one answer by the rules.

    Parameters
    ----------
    question_id, question
        Its id and its text, which a judge is shown.
    reference, response
        As for :func:`accord.scoring.score.prepare`: text, or a list that is taken as read.
    language
        Whose rules normalise the names; see :mod:`accord.scoring.languages`.
    recipe
        The conventions; those of :class:`UniverseRecipe` where None.
    occurrence
        Number of this answer among those of one system to one question, from 0.

    Raises
    ------
    InputError
        When the reference has no element or a value can't be read; the question is named.
    """
    conventions = recipe or UniverseRecipe()
    golds, parsed = read_both(question_id, reference, response)
    state, predicted = _predicted(response, parsed, conventions)

    def form(text: str) -> str:
        return normalise_name(text, language, articles=conventions.articles)

    def name(element: Element) -> str:
        if conventions.compared == "head" and element.head is not None:
            return element.head
        return element.compared

    def names(element: Element) -> set[str]:
        whole = conventions.compared == "text" or element.head is None
        also = [element.compared_as(a) if whole else a for a in element.aliases]
        return {form(text) for text in (name(element), *also)}

    keys = [form(name(element)) for element in predicted]
    duplicates = len(keys) - len(set(keys))
    if conventions.duplicates == "collapse":
        first = {key: place for place, key in reversed(list(enumerate(keys)))}
        kept = sorted(first.values())
        predicted, keys = tuple(predicted[p] for p in kept), [keys[p] for p in kept]
    sides = [names(element) for element in golds]
    places: dict[str, list[int]] = {}
    for r, side in enumerate(sides):
        for key in side:
            places.setdefault(key, []).append(r)
    equal = frozenset((r, p) for p, key in enumerate(keys) for r in places.get(key, ()))
    by_rule = _in_order(equal, {})
    taken = set(by_rule.values())
    free = [r for r in range(len(golds)) if r not in taken]
    items: list[Item] = []
    pair_of: dict[str, tuple[int, int]] = {}
    for p, element in enumerate(predicted):
        for r in free if p not in by_rule else ():
            item = _item(question_id, question, golds[r], r, element, p, system, occurrence)
            items.append(item)
            pair_of[item.item_id] = (r, p)
    return Universe(
        question_id=question_id,
        system=system or NO_SYSTEM,
        language=language_code(language),
        reference=golds,
        predicted=predicted,
        state=state,
        equal=equal,
        by_rule=by_rule,
        items=tuple(items),
        pair_of=pair_of,
        duplicates=duplicates,
        recipe=conventions,
    )


def universe_score(
    *,
    verdicts: Callable[[Sequence[Item]], Sequence[Judgement]],
    judge: Mapping[str, Any] | None = None,
    **answer: Any,
) -> UniverseScore:
    """Universe F1 of one answer: :func:`prepare_universe`, ask ``verdicts``, match, count.

    Parameters
    ----------
    verdicts
        Given open pairs, returns a judgement for each: a judge's ``judge`` method, or a look-up in
        people's labels. With the recipe's ``asked = "needed"`` it is called once a prediction.
    judge
        Name and settings of that source, for the block.
    **answer
        What :func:`prepare_universe` takes.
    """
    one = prepare_universe(**answer)
    (said,) = judge_universes([one], verdicts)
    return one.score(said, judge=judge)


def judge_universes(
    universes: Sequence[Universe], verdicts: Callable[[Sequence[Item]], Sequence[Judgement]]
) -> list[list[Judgement]]:
    """The verdicts that each of many answers needs, asked for in as few batches as can be.

    With ``asked = "all"`` that is one batch; with ``"needed"`` one for each place in the answers:
    what the second predictions need depends on what the first ones were matched to.

    Returns
    -------
    list
        The judgements of each universe, in order.
    """
    said: list[list[Judgement]] = [[] for _ in universes]
    taken = [set(one.by_rule.values()) for one in universes]
    by_place: list[dict[int, list[Item]]] = []
    for one in universes:
        places: dict[int, list[Item]] = {}
        for item in one.items:
            _, p = one.pair_of[item.item_id]
            places.setdefault(p if one.recipe.asked == "needed" else 0, []).append(item)
        by_place.append(places)
    for place in sorted({p for places in by_place for p in places}):
        batch: dict[str, Item] = {}
        askers: dict[str, list[int]] = {}
        for number, one in enumerate(universes):
            for item in by_place[number].get(place, ()):
                r, _ = one.pair_of[item.item_id]
                if one.recipe.asked == "all" or r not in taken[number]:
                    batch[item.item_id] = item
                    askers.setdefault(item.item_id, []).append(number)
        matched: dict[int, int] = {}
        for judgement in verdicts(tuple(batch.values())) if batch else ():
            if judgement.item_id not in askers:
                raise InputError(
                    f"a verdict for the item {judgement.item_id!r}, which was not asked",
                    cure="answer the items that were asked",
                )
            for number in askers[judgement.item_id]:
                said[number].append(judgement)
                if judgement.verdict == CORRECT:
                    r, _ = universes[number].pair_of[judgement.item_id]
                    matched[number] = min(r, matched.get(number, r))
        for number, r in matched.items():
            taken[number].add(r)
    return said


def _predicted(
    response: Any, parsed: Parsed, conventions: UniverseRecipe
) -> tuple[State, tuple[Element, ...]]:
    raw = response if isinstance(response, str) else "\n".join(e.display for e in parsed.elements)
    state, elements, _ = scored_elements(parsed, raw, _reading(conventions.aside))
    return state, elements


@cache
def _reading(aside: Literal["drop", "keep"]) -> Recipe:
    """The list recipe that reads an answer; made once, as its checks cost more than an answer."""
    return recipe(aside=aside)


def _in_order(same: Iterable[tuple[int, int]], settled: Mapping[int, int]) -> dict[int, int]:
    """Each prediction in order takes the first free reference element that is the same."""
    partner = dict(settled)
    taken = set(settled.values())
    for p, r in sorted((p, r) for r, p in same):
        if p not in partner and r not in taken:
            partner[p] = r
            taken.add(r)
    return partner


def _most(one: Universe, same: Iterable[tuple[int, int]]) -> dict[int, int]:
    """As many matches as there can be on all equalities, of rule and judge."""
    sides: list[list[str]] = [[] for _ in one.reference]
    for r, p in sorted({*one.equal, *same}):
        sides[r].append(str(p))
    return match_exact(sides, [str(p) for p in range(len(one.predicted))])


def _item(
    question_id: str,
    question: str,
    gold: Element,
    r: int,
    given: Element,
    p: int,
    system: str,
    occurrence: int,
) -> Item:
    return Item(
        item_id=item_id(
            unit="pair",
            question_id=question_id,
            system=system or NO_SYSTEM,
            reference_index=r,
            reference=gold.display,
            predicted_index=p,
            predicted=given.display,
            occurrence=occurrence,
        ),
        question_id=question_id,
        question=question,
        reference=gold.display,
        predicted=given.display,
        aliases=gold.aliases,
        system=system or NO_SYSTEM,
    )
