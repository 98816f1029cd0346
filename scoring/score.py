"""One response from text to figures: parse, align, make items, take verdicts, count.

``prepare`` ends with the items that wait for a verdict, so that those of many responses can be
judged in one go; ``Prepared.score`` takes the verdicts, a judge's or people's, and counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .align import Aligner, Alignment
from .align_many import align_many
from .answers import as_text, read_both, scored_elements
from .contested import NOBODY, Contested, contested
from .errors import InputError
from .metrics import PRF, Counts, ListQAScores, State, listqa_scores, verdict_counts
from .parse import Parsed
from .recipes import Recipe
from .records import NO_SYSTEM, Element, Item, Judgement, Pair, item_id

__all__ = [
    "Prepared",
    "ResponseScore",
    "prepare",
    "prepare_many",
    "score_response",
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
        One for each pair with a predicted element, of any alignment, each once.
    collapsed
        Repeated predicted elements that were left out, where the recipe says so.
    others
        Alignments by other aligners, to compare with; they are in no figure.
    contested
        Positions of the elements whose best match another element has, see
        :func:`accord.scoring.contested.contested`.
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
    others: Mapping[Aligner, Alignment] = field(default_factory=dict)
    contested: Contested = NOBODY

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
            others={
                name: verdict_counts(other.pairs, of(other.pairs), self.recipe).prf()
                for name, other in self.others.items()
            },
            block={"recipe": self.recipe.block(), "judge": None if judge is None else dict(judge)},
        )


@dataclass(frozen=True, slots=True)
class ResponseScore:
    """The figures of one response, with everything they rest on.

    ``counts`` holds the judge's counts and how many verdicts were unscored or unsure; ``block`` the
    recipe and the judge's settings, without which the figures mean nothing; ``others`` what the
    judge's figures were under other alignments.
    """

    question_id: str
    system: str
    prepared: Prepared
    verdicts: Mapping[str, Judgement]
    counts: Counts
    scores: ListQAScores
    block: Mapping[str, Any]
    others: Mapping[Aligner, PRF] = field(default_factory=dict)

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
            "contested_predicted": len(prepared.contested[0]),
            "contested_reference": len(prepared.contested[1]),
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
    others: Sequence[Aligner] = (),
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
    others
        Aligners to compare the recipe's with: their pairs are items too.

    Raises
    ------
    InputError
        When the reference has no element or a value can't be read; the question is named.
    SettingsError
        When an aligner needs a package that is not installed.
    """
    answer = {
        "question_id": question_id,
        "question": question,
        "reference": reference,
        "response": response,
        "system": system,
        "ordered": ordered,
        "multi_faceted": multi_faceted,
        "occurrence": occurrence,
    }
    (prepared,) = prepare_many([answer], recipe=recipe, others=others)
    return prepared


def prepare_many(
    answers: Iterable[Mapping[str, Any]], *, recipe: Recipe, others: Sequence[Aligner] = ()
) -> list[Prepared]:
    """:func:`prepare` for many responses, which are aligned together.

    Parameters
    ----------
    answers
        What :func:`prepare` takes of each response, by name.
    recipe, others
        As for :func:`prepare`.
    """
    read = [_Read.of(recipe, **answer) for answer in answers]
    shared: dict[str, tuple[Element, ...]] = {}
    for one in read:
        shared.setdefault(one.question_id, one.golds)
    golds = [
        first if (first := shared[one.question_id]) == one.golds else one.golds for one in read
    ]
    settings: dict[str, Any] = {
        "tokenizer": recipe.tokenizer,
        "stem": recipe.stem,
        "compared": recipe.compared,
    }

    def aligned(method: Aligner, some: Iterable[int]) -> list[Alignment]:
        lists = [(golds[k], read[k].predicted) for k in some]
        return align_many(lists, method=method, zero_overlap=recipe.zero_overlap, **settings)

    everyone = range(len(read))
    main = aligned(recipe.aligner, everyone)
    positional = iter(aligned("positional", [k for k in everyone if read[k].ordered]))
    found: dict[Aligner, list[Alignment]] = {recipe.aligner: main}
    taken = [
        contested(one.golds, one.predicted, alignment, method=recipe.aligner, **settings)
        for one, alignment in zip(read, main, strict=True)
    ]
    for other in others:
        if other not in found:
            found[other] = aligned(other, everyone)
    return [
        one.prepared(
            recipe,
            main[k],
            next(positional) if one.ordered else None,
            {other: found[other][k] for other in others},
            taken[k],
        )
        for k, one in enumerate(read)
    ]


@dataclass(frozen=True, slots=True)
class _Read:
    """A response that was read and waits to be aligned."""

    question_id: str
    question: str
    system: str
    ordered: bool
    multi_faceted: bool | None
    occurrence: int
    golds: tuple[Element, ...]
    parsed: Parsed
    response: str
    state: State
    predicted: tuple[Element, ...]
    collapsed: int

    @classmethod
    def of(
        cls,
        recipe: Recipe,
        *,
        question_id: str,
        question: str,
        reference: Any,
        response: Any,
        system: str = NO_SYSTEM,
        ordered: bool = False,
        multi_faceted: bool | None = None,
        occurrence: int = 0,
    ) -> _Read:
        golds, parsed = read_both(question_id, reference, response)
        raw = response if isinstance(response, str) else as_text(parsed)
        state, predicted, collapsed = scored_elements(parsed, raw, recipe)
        return cls(
            question_id=question_id,
            question=question,
            system=system or NO_SYSTEM,
            ordered=ordered,
            multi_faceted=multi_faceted,
            occurrence=occurrence,
            golds=golds,
            parsed=parsed,
            response=raw,
            state=state,
            predicted=predicted,
            collapsed=collapsed,
        )

    def prepared(
        self,
        recipe: Recipe,
        alignment: Alignment,
        positional: Alignment | None,
        others: Mapping[Aligner, Alignment],
        taken: Contested,
    ) -> Prepared:
        """With its alignments, and the items that these make."""
        items: list[Item] = []
        item_of: dict[tuple[int | None, int], str] = {}
        for made in (alignment, positional, *others.values()):
            for pair in () if made is None else made.pairs:
                if pair.predicted is None or (pair.reference, pair.predicted) in item_of:
                    continue
                item = _item(
                    self.golds,
                    self.predicted,
                    pair,
                    self.question_id,
                    self.question,
                    self.system,
                    self.occurrence,
                )
                item_of[(pair.reference, pair.predicted)] = item.item_id
                items.append(item)
        return Prepared(
            question_id=self.question_id,
            system=self.system,
            reference=self.golds,
            predicted=self.predicted,
            parsed=self.parsed,
            response=self.response,
            state=self.state,
            alignment=alignment,
            ordered=positional,
            items=tuple(items),
            item_of=item_of,
            recipe=recipe,
            multi_faceted=self.multi_faceted,
            collapsed=self.collapsed,
            others=others,
            contested=taken,
        )


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
