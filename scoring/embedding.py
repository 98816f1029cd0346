"""Sentence embeddings for the aligner: what two elements mean, where they share no word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .assignment import Cell
from .encoder import load

__all__ = ["Embeddings", "best_cosines", "cosine_cells", "embeddings"]

Vectors = NDArray[np.float32]

LONGEST = 500
"""So many characters of a text are encoded; the encoder's time grows faster than a text."""

DIGITS = 4
"""Cosines are rounded to so many decimals: what a float loses in a batch changes no pair."""

KNOWN = 65_536
"""So many texts are remembered, 2 KB each."""


class Embeddings:
    """The vectors of texts, of length 1, each text encoded once.

    Parameters
    ----------
    encode
        Given n different texts, returns their vectors, shape (n, d). A vector of zeros means that
        the encoder knows nothing of a text.
    """

    def __init__(self, encode: Callable[[Sequence[str]], NDArray[np.floating]]) -> None:
        self._encode = encode
        self._known: dict[str, Vectors] = {}

    def begin(self, texts: Iterable[str]) -> None:
        """Forget all, and encode these texts in one go.

        The last digits of a vector depend on what it is encoded with; so they depend on these texts
        and not on what came before.
        """
        self._known.clear()
        self._learn(texts)

    def of(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts, shape (len(texts), d); (0, 0) without texts."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        shown = [text[:LONGEST] for text in texts]
        if any(text not in self._known for text in shown):
            if len(self._known) + len(shown) > KNOWN:
                self._known.clear()
            self._learn(shown)
        return np.stack([self._known[text] for text in shown])

    def _learn(self, texts: Iterable[str]) -> None:
        new = [t for t in dict.fromkeys(text[:LONGEST] for text in texts) if t not in self._known]
        if not new:
            return
        # A lone surrogate can come out of a JSON escape; encoders take UTF-8.
        safe = [text.encode("utf-8", "replace").decode() for text in new]
        vectors = np.asarray(self._encode(safe), dtype=np.float32)
        size = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = np.divide(vectors, size, out=np.zeros_like(vectors), where=size > 0)
        self._known.update(zip(new, vectors, strict=True))

    def cosines(self, ours: Sequence[str], theirs: Sequence[str]) -> NDArray[np.float64]:
        """Cosine of each text with each, shape (len(ours), len(theirs)), in [0, 1].

        Rounded; a cosine below 0 is 0, and the cosine of a text without letters or digits is 0,
        since an encoder has a vector for the empty text too.
        """
        if not ours or not theirs:
            return np.zeros((len(ours), len(theirs)))
        found: NDArray[np.float64] = (self.of(ours) @ self.of(theirs).T).astype(np.float64)
        found[[not any(map(str.isalnum, text)) for text in ours], :] = 0
        found[:, [not any(map(str.isalnum, text)) for text in theirs]] = 0
        found.round(DIGITS, out=found)
        return found.clip(0.0, 1.0, out=found)


def best_cosines(
    found: Embeddings, predicted: Sequence[str], reference: Sequence[tuple[int, str]]
) -> tuple[list[int], NDArray[np.float64]]:
    """Cosine of each predicted text with each reference element; of its texts the best counts.

    Parameters
    ----------
    predicted
        Texts, at least one.
    reference
        Position and text, at least one; an element has one entry for each text that stands for
        it, one after the other, in rising order of position.

    Returns
    -------
    list of int, ndarray
        The positions of the reference elements, and shape (len(predicted), number of positions).
    """
    matrix = found.cosines(predicted, [text for _, text in reference])
    places = [r for r, _ in reference]
    columns = list(dict.fromkeys(places))
    return columns, np.maximum.reduceat(matrix, np.searchsorted(places, columns), axis=1)


def cosine_cells(
    found: Embeddings, predicted: Sequence[tuple[int, str]], reference: Sequence[tuple[int, str]]
) -> list[Cell]:
    """Cosines above 0 as cells to assign.

    Parameters
    ----------
    predicted, reference
        Position and text, in rising order of position; ``reference`` as in :func:`best_cosines`.
    """
    if not predicted or not reference:
        return []
    columns, best = best_cosines(found, [text for _, text in predicted], reference)
    keep = best > 0
    # A best assignment has no cell below the k-th best of its line, k being how many compete with
    # the line: some better cell would be free. So a long list stays affordable.
    few = min(best.shape)
    for axis in (0, 1):
        if best.shape[axis] > few:
            last = np.partition(best, -few, axis=axis).take(-few, axis=axis)
            keep &= best >= np.expand_dims(last, axis)
    rows, at = np.nonzero(keep)
    return [
        (predicted[p][0], columns[r], cosine)
        for p, r, cosine in zip(rows.tolist(), at.tolist(), best[rows, at].tolist(), strict=True)
    ]


@cache
def embeddings() -> Embeddings:
    """The vectors of the recipe's encoder, one memory for all calls.

    Raises
    ------
    SettingsError
        When its package is not installed, or in another version.
    """
    return Embeddings(load())
