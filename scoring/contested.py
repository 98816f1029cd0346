"""Elements whose best match another element took: where the one-to-one rule decided.

A list that says one thing twice, or splits what the reference has in one element, has several
elements whose best match is the same. The alignment gives it to one of them; the others are here.
Nothing here changes a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .align import Aligner, Alignment, Compared, compared_text, reference_texts, rouge_row
from .assignment import TOLERANCE
from .records import Element
from .tokens import Tokenizer, forms

if TYPE_CHECKING:
    from .embedding import Embeddings

__all__ = ["Contested", "contested"]

Contested = tuple[frozenset[int], frozenset[int]]
"""Positions of contested predicted elements, and of contested reference elements."""

NOBODY: Contested = (frozenset(), frozenset())

Similarities = Mapping[tuple[int, int], float]
"""(predicted, reference) → similarity above 0."""


def contested(
    reference: Sequence[Element],
    predicted: Sequence[Element],
    alignment: Alignment,
    *,
    tokenizer: Tokenizer = "rouge",
    stem: bool = False,
    method: Aligner = "optimal",
    compared: Compared = "text",
    encoder: Embeddings | None = None,
) -> Contested:
    """Which elements are more like an element that has another partner than like their own.

    Parameters
    ----------
    reference, predicted, alignment
        The two lists and their alignment, made with the same settings.
    tokenizer, stem, method, compared, encoder
        As for :func:`accord.scoring.align.align`: similarity is the cosine for ``embedding`` and
        ROUGE-1 F1 for the others; equal elements have 1.

    Returns
    -------
    tuple of two frozensets
        Positions of the predicted elements whose best match among the reference elements has
        another partner (every best match, where several are equal), and the same of the reference
        elements. An element without a partner counts; one that is as much like its own partner as
        like its best match does not.
    """
    pairs = alignment.pairs
    if all(pair.how == "exact" for pair in pairs):
        return NOBODY
    like = (
        _cosines(reference, predicted, compared, encoder)
        if method == "embedding"
        else _rouge(reference, predicted, tokenizer, stem, compared)
    )
    _equal_is_one(like, reference, predicted, compared)
    both = [(x.predicted, x.reference) for x in pairs]
    owner_of_gold = {r: p for p, r in both if p is not None and r is not None}
    partner = {p: r for r, p in owner_of_gold.items()}
    return (
        _outbid(((p, r, f) for (p, r), f in like.items()), partner, owner_of_gold),
        _outbid(((r, p, f) for (p, r), f in like.items()), owner_of_gold, partner),
    )


def _outbid(
    cells: Iterable[tuple[int, int, float]], partner: Mapping[int, int], owner: Mapping[int, int]
) -> frozenset[int]:
    """Elements of the first side whose best matches are all taken and better than their own."""
    best: dict[int, float] = {}
    free: set[int] = set()  # a best match is the element's own, or nobody's
    for one, other, similarity in cells:
        top = best.get(one, 0.0)
        if similarity < top - TOLERANCE:
            continue
        if similarity > top + TOLERANCE:
            best[one] = similarity
            free.discard(one)
        if partner.get(one) == other or other not in owner:
            free.add(one)
    return frozenset(best.keys() - free)


def _rouge(
    reference: Sequence[Element],
    predicted: Sequence[Element],
    tokenizer: Tokenizer,
    stem: bool,
    compared: Compared,
) -> dict[tuple[int, int], float]:
    of = forms(tokenizer, stem).of
    columns = []
    for r, element in enumerate(reference):
        for text in reference_texts(element, compared):
            _, bag = of(text)
            columns.append((r, bag, len(bag)))
    rows: dict[object, list[tuple[int, float]]] = {}
    found = {}
    for p, element in enumerate(predicted):
        _, bag = of(compared_text(element, compared))
        row = rows.get(bag)
        if row is None:
            row = rows[bag] = rouge_row(bag, columns)
        for r, f1 in row:
            found[p, r] = f1
    return found


def _cosines(
    reference: Sequence[Element],
    predicted: Sequence[Element],
    compared: Compared,
    encoder: Embeddings | None,
) -> dict[tuple[int, int], float]:
    from .embedding import best_cosines, embeddings

    theirs = [(r, t) for r, e in enumerate(reference) for t in reference_texts(e, compared)]
    if not predicted or not theirs:
        return {}
    ours = [compared_text(element, compared) for element in predicted]
    columns, best = best_cosines(encoder or embeddings(), ours, theirs)
    rows, at = best.nonzero()
    return {
        (p, columns[r]): cosine
        for p, r, cosine in zip(rows.tolist(), at.tolist(), best[rows, at].tolist(), strict=True)
    }


def _equal_is_one(
    like: dict[tuple[int, int], float],
    reference: Sequence[Element],
    predicted: Sequence[Element],
    compared: Compared,
) -> None:
    """Elements that match exactly have similarity 1, whatever the tokenizer makes of them."""
    places: dict[str, list[int]] = {}
    of = forms("rouge", False).of
    for r, element in enumerate(reference):
        for text in reference_texts(element, compared):
            places.setdefault(of(text)[0], []).append(r)
    for p, element in enumerate(predicted):
        for r in places.get(of(compared_text(element, compared))[0], ()):
            like[p, r] = 1.0
