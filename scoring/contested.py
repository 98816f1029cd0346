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
    import numpy as np
    from numpy.typing import NDArray

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
    # Elements that match exactly have similarity 1, whatever the tokenizer makes of them.
    places: dict[str, list[int]] = {}
    for r, key, _ in theirs:
        places.setdefault(key, []).append(r)
    equal = {p: same for p, (key, _) in enumerate(ours) if (same := places.get(key))}
    if method == "embedding":
        from .embedding import best_cosines, embeddings

        if not ours or not theirs:
            return NOBODY
        shown = [compared_text(element, compared) for element in predicted]
        listed = [(r, text) for r, e in enumerate(reference) for text in texts(e, compared)]
        _, cosines = best_cosines(encoder or embeddings(), shown, listed)
        return _outbid_cosines(cosines, equal, partner)
    columns = [(r, bag, len(bag)) for r, _, bag in theirs]
    rows = _rouge_rows([bag for _, bag in ours], columns)
    for p, same in equal.items():
        if len(same) > 1 or p not in exact:
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


def _outbid_cosines(
    like: NDArray[np.float64], equal: Mapping[int, list[int]], partner: Mapping[int, int]
) -> Contested:
    """:func:`_outbid` of a matrix without gaps, shape (predicted, reference)."""
    import numpy as np

    own = np.zeros(like.shape, bool)
    for p, same in equal.items():
        like[p, same] = 1.0
    for p, r in partner.items():
        own[p, r] = True
    found = []
    for axis in (1, 0):
        best = like.max(axis=axis, keepdims=True)
        taken = own.any(axis=1 - axis, keepdims=True)
        free = ((like > best - TOLERANCE) & (own | ~taken)).any(axis=axis)
        found.append(frozenset(np.flatnonzero(~free & (best.ravel() > 0)).tolist()))
    ours, theirs = found
    return ours, theirs
