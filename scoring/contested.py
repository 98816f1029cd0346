"""Elements whose best match another element took: where the one-to-one rule decided.

A list that says one thing twice, or splits what the reference has in one element, has several
elements whose best match is the same. The alignment gives it to one of them; the others are here.
Nothing here changes a score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .align import Aligner, Alignment, Compared, compared_text, rouge_row
from .align import reference_texts as texts
from .assignment import TOLERANCE
from .records import Element
from .tokens import Bag, Tokenizer, forms

if TYPE_CHECKING:
    from .embedding import Embeddings

__all__ = ["Contested", "contested"]

Contested = tuple[frozenset[int], frozenset[int]]
"""Positions of contested predicted elements, and of contested reference elements."""

NOBODY: Contested = (frozenset(), frozenset())

Row = list[tuple[int, float]]
"""What a predicted element has in common with reference elements: position, similarity above 0."""


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
    if all([pair.how == "exact" for pair in pairs]):
        return NOBODY
    partner = {
        pair.predicted: pair.reference
        for pair in pairs
        if pair.predicted is not None and pair.reference is not None
    }
    exact = {p for pair in pairs if pair.how == "exact" if (p := pair.predicted) is not None}
    of = forms(tokenizer, stem).of
    ours = [of(compared_text(element, compared)) for element in predicted]
    theirs = [
        (r, *of(text)) for r, element in enumerate(reference) for text in texts(element, compared)
    ]
    if method == "embedding":
        rows = _cosine_rows(reference, predicted, compared, encoder)
    else:
        columns = [(r, bag, len(bag)) for r, _, bag in theirs]
        rows = _rouge_rows([bag for _, bag in ours], columns)
    # Elements that match exactly have similarity 1, whatever the tokenizer makes of them.
    equal: dict[str, list[int]] = {}
    for r, key, _ in theirs:
        equal.setdefault(key, []).append(r)
    for p, (key, _) in enumerate(ours):
        same = equal.get(key, ())
        if same and (len(same) > 1 or p not in exact):
            rows[p] = list({**dict(rows[p]), **dict.fromkeys(same, 1.0)}.items())
    return _outbid(rows, partner, exact)


def _outbid(rows: Sequence[Row], partner: Mapping[int, int], exact: set[int]) -> Contested:
    """Elements that are more like others than their own partner, all of which are taken."""
    owner = {r: p for p, r in partner.items()}
    settled = {partner[p] for p in exact}
    ours: set[int] = set()
    top: dict[int, float] = {}
    to_be_had: set[int] = set()  # reference elements with a best match that is theirs or nobody's
    for p, row in enumerate(rows):
        mine = partner.get(p)
        best, free = 0.0, True
        for r, similarity in row:
            if similarity > best - TOLERANCE:
                open_here = mine == r or r not in owner
                free = open_here if similarity > best + TOLERANCE else free or open_here
                best = max(best, similarity)
            if r not in settled and similarity > (known := top.get(r, 0.0)) - TOLERANCE:
                if similarity > known + TOLERANCE:
                    top[r] = similarity
                    to_be_had.discard(r)
                if mine == r or mine is None:
                    to_be_had.add(r)
        if not free and p not in exact:
            ours.add(p)
    return frozenset(ours), frozenset(top.keys() - to_be_had)


def _rouge_rows(bags: Sequence[Bag], columns: Sequence[tuple[int, Bag, int]]) -> list[Row]:
    seen: dict[Bag, Row] = {}
    rows = []
    for bag in bags:
        row = seen.get(bag)
        if row is None:
            row = seen[bag] = rouge_row(bag, columns)
        rows.append(row)
    return rows


def _cosine_rows(
    reference: Sequence[Element],
    predicted: Sequence[Element],
    compared: Compared,
    encoder: Embeddings | None,
) -> list[Row]:
    from .embedding import best_cosines, embeddings

    theirs = [(r, text) for r, e in enumerate(reference) for text in texts(e, compared)]
    if not predicted or not theirs:
        return [[] for _ in predicted]
    ours = [compared_text(element, compared) for element in predicted]
    columns, best = best_cosines(encoder or embeddings(), ours, theirs)
    return [
        [(r, cosine) for r, cosine in zip(columns, row, strict=True) if cosine > 0]
        for row in best.tolist()
    ]
