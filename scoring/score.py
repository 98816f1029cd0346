"""One response from text to figures: parse, align, make items, take verdicts, count.

``prepare`` ends with the items that wait for a verdict, so that those of many responses can be
judged in one go; ``Prepared.score`` takes the verdicts, a judge's or people's, and counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .align import Alignment, align
from .errors import InputError
from .metrics import Counts, ListQAScores, State, listqa_scores, verdict_counts
from .parse import Parsed, parse, read_reference
from .recipes import Recipe
from .records import NO_SYSTEM, Element, Item, Judgement, Pair, item_id
from .refusal import is_refusal
from .tokens import normalise

__all__ = [
    "Prepared",
    "ResponseScore",
    "answer_state",
    "prepare",
    "read_both",
    "score_response",
    "scored_elements",
]

UNIT = "pair"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A response that waits for its verdicts.

    Parameters
    ----------
    question_id, system
        Whose answer to what.
    reference, predicted
        The aligned elements; the positions in the pairs count in these.
    parsed
        The response as read, asides included.
    response
        Its raw text.
    state
        ``given``, ``empty`` (blank), ``abstained`` (a refusal) or ``unreadable`` (no elements).
    alignment, ordered
        The optimal alignment, and for an ordered question the positional one.
    items
        One for each pair with a predicted element, of either alignment, each once.
    collapsed
        Repeated predicted elements that were left out, where the recipe says so.
    """

    question_id: str
    system: str
    reference: tuple[Element, ...]
    predicted: tuple[Element, ...]
    parsed: Parsed
    response: str
    state: State
    alignment: Alignment
    ordered: Alignment | None
    items: tuple[Item, ...]
    item_of: Mapping[tuple[int | None, int], str]
    recipe: Recipe
    multi_faceted: bool | None = None
    collapsed: int = 0

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of the recipe's alignment."""
        return self.alignment.pairs

    def to_judge(self) -> tuple[Item, ...]:
        """The items with both sides: a predicted element without a partner is wrong as it is."""
        return tuple(item for item in self.items if item.reference is not None)

    def item_id(self, pair: Pair) -> str | None:
        """The id of a pair's item; None for a reference element without a partner."""
        if pair.predicted is None:
            return None
        return self.item_of[(pair.reference, pair.predicted)]

    def score(
        self, judgements: Iterable[Judgement], *, judge: Mapping[str, Any] | None = None
    ) -> ResponseScore:
        """Count the verdicts.

        Parameters
        ----------
        judgements
            Verdicts by item id, in any order. An item with both sides and no verdict is unscored.
        judge
            Name and settings of the verdict source; part of the block.

        Raises
        ------
        InputError
            When a judgement belongs to no item of this response, or an item has two.
        """
        known = {item.item_id for item in self.items}
        verdicts: dict[str, Judgement] = {}
        for judgement in judgements:
            if judgement.item_id not in known:
                raise InputError(
                    f"question {self.question_id!r}: a verdict for the item "
                    f"{judgement.item_id!r}, which is not of this response",
                    cure="hand in the verdicts of this response's items",
                )
            if judgement.item_id in verdicts:
                raise InputError(
                    f"question {self.question_id!r}: two verdicts for the item "
                    f"{judgement.item_id!r}",
                    cure="hand in one verdict an item",
                )
            verdicts[judgement.item_id] = judgement

        def of(pairs: Sequence[Pair]) -> list[str | None]:
            ids = [self.item_id(pair) for pair in pairs]
            return [verdicts[i].verdict if i in verdicts else None for i in ids]

        ordered = self.ordered
        ordered_verdicts = [] if ordered is None else of(ordered.pairs)
        return ResponseScore(
            question_id=self.question_id,
            system=self.system,
            prepared=self,
            verdicts=verdicts,
            counts=verdict_counts(self.pairs, of(self.pairs), self.recipe),
            scores=listqa_scores(
                reference=self.reference,
                parsed=self.parsed,
                predicted=self.predicted,
                response=self.response,
                pairs=self.pairs,
                verdicts=of(self.pairs),
                ordered_pairs=None if ordered is None else ordered.pairs,
                ordered_verdicts=ordered_verdicts,
                recipe=self.recipe,
                multi_faceted=self.multi_faceted,
            ),
            block={"recipe": self.recipe.block(), "judge": None if judge is None else dict(judge)},
        )


@dataclass(frozen=True, slots=True)
class ResponseScore:
    """The figures of one response, with everything they rest on.

    ``counts`` holds the judge's counts and how many verdicts were unscored or unsure; ``block`` the
    recipe and the judge's settings, without which the figures mean nothing.
    """

    question_id: str
    system: str
    prepared: Prepared
    verdicts: Mapping[str, Judgement]
    counts: Counts
    scores: ListQAScores
    block: Mapping[str, Any]

    @property
    def items(self) -> tuple[Item, ...]:
        return self.prepared.items

    @property
    def pairs(self) -> tuple[Pair, ...]:
        return self.prepared.pairs

    @property
    def state(self) -> State:
        return self.prepared.state

    def __repr__(self) -> str:
        return (
            f"<score of {self.question_id!r} by {self.system!r}: {self.state}, "
            f"F1 {self.scores.judge.f1:.4f}, {len(self.pairs)} pairs>"
        )

    def to_row(self) -> dict[str, Any]:
        """One flat row of a scores table: names, state, counts, figures (NaN becomes None)."""
        prepared = self.prepared
        return {
            "question_id": self.question_id,
            "system": self.system,
            "state": self.state,
            "marker": prepared.parsed.marker,
            "n_reference": len(prepared.reference),
            "n_predicted": len(prepared.predicted),
            "n_collapsed": prepared.collapsed,
            "ties": prepared.alignment.ties,
            "correct": self.counts.correct,
            "unscored": self.counts.unscored,
            "unsure": self.counts.unsure,
            "extra": self.counts.extra,
            **self.scores.to_dict(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Row, pairs with their verdicts, and block as JSON values."""
        pairs = []
        for pair, plain in zip(self.pairs, self.prepared.alignment.to_dict()["pairs"], strict=True):
            identity = self.prepared.item_id(pair)
            found = self.verdicts.get(identity) if identity else None
            pairs.append(
                {
                    **plain,
                    "item_id": identity,
                    "verdict": found.verdict if found else None,
                    "reason": found.reason if found else None,
                }
            )
        return {**self.to_row(), "pairs": pairs, "block": dict(self.block)}


def prepare(
    *,
    question_id: str,
    question: str,
    reference: Any,
    response: Any,
    recipe: Recipe,
    system: str = NO_SYSTEM,
    ordered: bool = False,
    multi_faceted: bool | None = None,
    occurrence: int = 0,
) -> Prepared:
    """Read, align and number one response, up to the items that wait for a verdict.

    Parameters
    ----------
    question_id, question
        Its id and its text, which judges and people are shown.
    reference
        Elements, a :class:`Parsed`, list text, or a JSON list (see ``read_reference``).
    response
        The answer's text; or elements, a :class:`Parsed` or a list, taken as read.
    recipe
        The conventions.
    system
        Who answered.
    ordered
        Whether the order counts: the elements are then also paired by position.
    multi_faceted
        Whether attributes were asked for; None: if a reference element has some.
    occurrence
        Number of this response among those of one system to one question, from 0, so that two
        equal answers have different items.

    Raises
    ------
    InputError
        When the reference has no element or a value can't be read; the question is named.
    """
    golds, parsed = read_both(question_id, reference, response)
    raw = response if isinstance(response, str) else _as_text(parsed)
    state, predicted, collapsed = scored_elements(parsed, raw, recipe)
    settings: dict[str, Any] = {
        "tokenizer": recipe.tokenizer,
        "stem": recipe.stem,
        "zero_overlap": recipe.zero_overlap,
        "compared": recipe.compared,
    }
    alignment = align(golds, predicted, method=recipe.aligner, **settings)
    positional = align(golds, predicted, method="positional", **settings) if ordered else None
    items: list[Item] = []
    item_of: dict[tuple[int | None, int], str] = {}
    for pair in (*alignment.pairs, *(positional.pairs if positional else ())):
        if pair.predicted is None or (pair.reference, pair.predicted) in item_of:
            continue
        item = _item(golds, predicted, pair, question_id, question, system or NO_SYSTEM, occurrence)
        item_of[(pair.reference, pair.predicted)] = item.item_id
        items.append(item)
    return Prepared(
        question_id=question_id,
        system=system or NO_SYSTEM,
        reference=golds,
        predicted=predicted,
        parsed=parsed,
        response=raw,
        state=state,
        alignment=alignment,
        ordered=positional,
        items=tuple(items),
        item_of=item_of,
        recipe=recipe,
        multi_faceted=multi_faceted,
        collapsed=collapsed,
    )


def read_both(
    question_id: str, reference: Any, response: Any
) -> tuple[tuple[Element, ...], Parsed]:
    """The reference's elements without asides, and the response as it is read.

    Either may be text, a list, or parsed already; a response of None is an empty one.

    Raises
    ------
    InputError
        When the reference has no element or a value can't be read; the question is named.
    """
    try:
        gold = reference if isinstance(reference, Parsed) else read_reference(reference)
        if isinstance(response, Parsed):
            parsed = response
        elif isinstance(response, str) or response is None:
            parsed = parse(response or "")
        else:
            parsed = read_reference(response)
    except InputError as error:
        raise InputError(f"question {question_id!r}: {error.message}", cure=error.cure) from None
    golds = tuple(element for element in gold.elements if not element.aside)
    if not golds:
        raise InputError(
            f"question {question_id!r} has no reference element",
            cure="give it at least one, or leave the question out",
        )
    return golds, parsed


def score_response(
    *,
    question_id: str,
    question: str,
    reference: Any,
    response: Any,
    recipe: Recipe,
    verdicts: Callable[[Sequence[Item]], Sequence[Judgement]],
    judge: Mapping[str, Any] | None = None,
    system: str = NO_SYSTEM,
    ordered: bool = False,
    multi_faceted: bool | None = None,
    occurrence: int = 0,
) -> ResponseScore:
    """Score one response: :func:`prepare`, then ask ``verdicts``, then count.

    Parameters
    ----------
    verdicts
        Given the items with both sides, returns a judgement for each: a judge's ``judge`` method,
        or a look-up in people's labels.
    judge
        Name and settings of that source, for the block.

    Other parameters and errors as in :func:`prepare`.
    """
    prepared = prepare(
        question_id=question_id,
        question=question,
        reference=reference,
        response=response,
        recipe=recipe,
        system=system,
        ordered=ordered,
        multi_faceted=multi_faceted,
        occurrence=occurrence,
    )
    return prepared.score(verdicts(prepared.to_judge()), judge=judge)


def scored_elements(
    parsed: Parsed, response: str, recipe: Recipe
) -> tuple[State, tuple[Element, ...], int]:
    """The state of an answer, the elements that the recipe scores, how many it collapsed.

    A refusal has none; asides and repetitions are left out where the recipe says so.
    """
    state = answer_state(response, parsed)
    elements = [] if state == "abstained" else list(parsed.elements)
    if recipe.aside == "drop":
        elements = [element for element in elements if not element.aside]
    if recipe.duplicates == "count":
        return state, tuple(elements), 0
    first: dict[tuple[str, ...], Element] = {}
    for element in elements:
        values = (normalise(value) for _, value in element.attributes)
        first.setdefault((normalise(element.text), *values), element)
    return state, tuple(first.values()), len(elements) - len(first)


def answer_state(response: str, parsed: Parsed) -> State:
    """Whether an answer was given, is blank, is a refusal, or holds no elements to read."""
    if not response.strip() and not parsed.elements:
        return "empty"
    if is_refusal(response, parsed.elements, parsed.marker):
        return "abstained"
    return "given" if any(not element.aside for element in parsed.elements) else "unreadable"


def _item(
    reference: Sequence[Element],
    predicted: Sequence[Element],
    pair: Pair,
    question_id: str,
    question: str,
    system: str,
    occurrence: int,
) -> Item:
    assert pair.predicted is not None
    gold = None if pair.reference is None else reference[pair.reference]
    given = predicted[pair.predicted]
    return Item(
        item_id=item_id(
            unit=UNIT,
            question_id=question_id,
            system=system,
            reference_index=pair.reference,
            reference=gold.display if gold else None,
            predicted_index=pair.predicted,
            predicted=given.display,
            occurrence=occurrence,
        ),
        question_id=question_id,
        question=question,
        reference=gold.display if gold else None,
        predicted=given.display,
        aliases=gold.aliases if gold else (),
        system=system,
    )


def _as_text(parsed: Parsed) -> str:
    """A list that came already read, as text for Relaxed-Recall."""
    return "\n".join(element.display for element in parsed.elements)
