"""Alignment of many responses at once, in NumPy: the same pairs as :func:`accord.scoring.align`.

What the systems repeat is computed once: a *row* is a distinct (question, predicted text), and each
row meets the reference of its question once. A multiset of tokens is a set in which the k-th copy
of a token has an id of its own, so ROUGE's clipped overlap is a join. Only what ties or competes
goes to the assignment of :mod:`accord.scoring.assignment`, one response at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .align import Aligner, Alignment, Compared, ZeroOverlap, align, check_settings
from .align_batch import HOWS, Batch, Floats, Found, Ints, Words, ragged
from .align_cells import Cells
from .records import Element, Pair
from .tokens import Tokenizer

__all__ = ["HOWS", "FrameAlignment", "align_frame"]

CHUNK = 4_000
"""Responses worked on together: more do not fit the processor's caches."""


@dataclass(frozen=True, slots=True)
class FrameAlignment:
    """The pairs of many responses as columns, in the order of the responses.

    Parameters
    ----------
    response
        Position of the response, shape (n_pairs,).
    reference, predicted
        Positions in the two lists, −1 for the missing side.
    similarity
        ROUGE-1 F1, 1 for an exact match, 0 for an unmatched element.
    how
        Position in :data:`HOWS`.
    ties
        Ties of each response, shape (n_responses,); see :class:`accord.scoring.align.Alignment`.
    """

    response: Ints
    reference: Ints
    predicted: Ints
    similarity: Floats
    how: NDArray[np.int8]
    ties: Ints

    def alignments(self) -> Iterator[Alignment]:
        """The pairs of each response as records."""
        bounds = np.searchsorted(self.response, np.arange(len(self.ties) + 1)).tolist()
        columns = (self.reference, self.predicted, self.similarity, self.how)
        for k, (start, end) in enumerate(zip(bounds, bounds[1:], strict=False)):
            rows = zip(*(column[start:end].tolist() for column in columns), strict=True)
            pairs = tuple(
                Pair(None if r < 0 else r, None if p < 0 else p, similarity, HOWS[how])
                for r, p, similarity, how in rows
            )
            yield Alignment(pairs, int(self.ties[k]))


def align_frame(
    references: Sequence[Sequence[Element]],
    responses: Sequence[tuple[int, Sequence[Element]]],
    *,
    tokenizer: Tokenizer = "rouge",
    stem: bool = False,
    zero_overlap: ZeroOverlap = "judge",
    method: Aligner = "optimal",
    compared: Compared = "text",
) -> FrameAlignment:
    """Align many responses; settings as in :func:`accord.scoring.align.align`.

    Parameters
    ----------
    references
        The reference of each question.
    responses
        For each response its question's position in ``references``, and its elements. Responses of
        one question that stand together are fastest.

    Raises
    ------
    SettingsError
        When a setting is unknown.
    """
    check_settings(zero_overlap=zero_overlap, method=method, compared=compared)
    words = Words(tokenizer, stem)
    parts = []
    for start in range(0, len(responses), CHUNK):
        part = responses[start : start + CHUNK]
        batch = Batch(references, part, compared)
        if method == "positional":
            parts.append((start, batch.positional(words)))
        else:
            whole = method == "optimal"
            found = _optimal(batch, words, zero_overlap) if whole else Found(batch)
            # One response at a time: overlapping aliases, and methods without a form for many.
            for k in batch.irregular if whole else range(len(part)):
                question, elements = part[k]
                found.replace(
                    k,
                    align(
                        references[question],
                        elements,
                        tokenizer=tokenizer,
                        stem=stem,
                        zero_overlap=zero_overlap,
                        method=method,
                        compared=compared,
                    ),
                )
            parts.append((start, found))
    columns = [found.columns(start) for start, found in parts]
    if not columns:
        none = np.zeros(0, np.int64)
        return FrameAlignment(none, none, none, np.zeros(0), np.zeros(0, np.int8), none)
    joined = [np.concatenate(column) for column in zip(*columns, strict=True)]
    response, reference, predicted, similarity, how, ties = joined
    return FrameAlignment(response, reference, predicted, similarity, how, ties)


def _optimal(batch: Batch, words: Words, zero_overlap: ZeroOverlap) -> Found:
    found = Found(batch)
    batch.exact(found)
    free = np.flatnonzero((found.reference < 0) & batch.regular)
    start, reference, f1 = batch.cells(words, np.unique(batch.row[free]))
    rows = batch.row[free]
    counts = start[rows + 1] - start[rows]
    at = ragged(start[rows], counts)
    predicted = np.repeat(free, counts)
    slot = batch.slot_start[batch.response[predicted]] + reference[at]
    keep = ~found.taken[slot]
    cells = Cells(batch, found, predicted[keep], slot[keep], f1[at][keep])
    cells.stars()
    cells.distinct_best(by_row=True)
    cells.distinct_best(by_row=False)
    cells.small_groups(4)
    cells.small_groups(5)
    cells.rest()
    if zero_overlap == "judge":
        found.pair_in_order()
    return found
