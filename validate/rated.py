"""Items with several raters, as codes: checked, paired, and laid out as columns to be summed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..scoring.errors import InputError
from .clusters import FloatArray, IntArray

__all__ = [
    "BoolArray",
    "LARGEST",
    "Pairs",
    "Term",
    "check_cells",
    "columns",
    "differing_items",
    "least_minority",
    "positive",
    "rating_codes",
    "side_by_side",
]

BoolArray = NDArray[np.bool_]
LARGEST = 50_000_000
"""Most cells (units times columns) that a table of sums may have: 400 MB."""


def rating_codes(ratings: ArrayLike, n_categories: int) -> IntArray:
    """Ratings ``(n_items, n_raters)`` as codes -1..k-1.

    Raises
    ------
    InputError
        Another shape, codes that aren't integers (a float table holds NaN, which must not become
        a category), or codes outside the declared categories.
    """
    raw = np.asarray(ratings)
    if raw.ndim != 2:
        raise InputError(f"ratings are (n_items, n_raters), got shape {raw.shape}")
    if raw.size and not np.issubdtype(raw.dtype, np.integer):
        raise InputError(
            f"ratings are {raw.dtype}, not integer codes", cure="code a missing rating as -1"
        )
    if n_categories < 1:
        raise InputError(f"{n_categories} categories: there must be one at least")
    x = raw.astype(np.int64)
    bad = (x < -1) | (x >= n_categories)
    if bad.any():
        row, column = (int(v[0]) for v in np.nonzero(bad))
        raise InputError(
            f"row {row + 1}, rater {column + 1}: code {x[row, column]} is not one of the "
            f"{n_categories} categories",
            cure="declare all categories; -1 is a missing rating",
        )
    return x


def side_by_side(a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    """Two raters' codes ``(n,)`` as one table ``(n, 2)``."""
    one, two = np.asarray(a), np.asarray(b)
    if one.ndim != 1 or one.shape != two.shape:
        raise InputError(f"the raters' codes have shapes {one.shape} and {two.shape}")
    if one.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    return np.stack([one, two], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of raters on each item.

    Parameters
    ----------
    x
        ``(n, R)`` codes, -1 missing.
    ratings, pairs, agreeing
        ``(n,)`` ratings of an item, pairs of them, pairs that are equal.
    """

    x: IntArray
    ratings: FloatArray
    pairs: FloatArray
    agreeing: FloatArray

    @classmethod
    def of(cls, x: IntArray) -> Pairs:
        """Count them: equal codes lie together in a sorted row, so no pair is visited."""
        ratings = (x >= 0).sum(axis=1).astype(float)
        ordered = np.sort(x, axis=1)
        agreeing, run = np.zeros(len(x)), np.zeros(len(x))
        for j in range(1, x.shape[1]):
            same = (ordered[:, j] == ordered[:, j - 1]) & (ordered[:, j] >= 0)
            run = (run + 1) * same
            agreeing += run
        return cls(x, ratings, ratings * (ratings - 1) / 2, agreeing)

    def differing(self) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """For each pair of raters: the items on which they differ, and both codes there."""
        r = self.x.shape[1]
        for i in range(r):
            for j in range(i + 1, r):
                a, b = self.x[:, i], self.x[:, j]
                rows = np.flatnonzero((a >= 0) & (b >= 0) & (a != b))
                yield rows, a[rows], b[rows]


Term = tuple[IntArray, "int | IntArray", FloatArray]
"""Rows, the column of each (or of all), and the value of each."""


def columns(shape: tuple[int, int], terms: Sequence[Term]) -> Any:
    """A sparse table of item columns: every term adds its values to its cells."""
    rows = np.concatenate([rows for rows, _, _ in terms])
    place = np.concatenate([np.broadcast_to(np.asarray(at), rows.shape) for rows, at, _ in terms])
    value = np.concatenate([np.asarray(value, dtype=float) for _, _, value in terms])
    return sparse.csr_array(sparse.coo_array((value, (rows, place)), shape=shape))


def check_cells(rows: int, width: int, what: str) -> None:
    """Refuse a table of sums that no memory would hold."""
    if rows * width > LARGEST:
        raise InputError(
            f"{what} of so many distinct values needs {rows * width:,} sums",
            cure="treat scores as such (--scale interval), or declare fewer categories",
        )


def differing_items(x: IntArray) -> int:
    """Items on which not all ratings are the same."""
    top = x.max(axis=1, initial=-1)
    return int(((x >= 0) & (x != top[:, None])).any(axis=1).sum())


def least_minority(x: IntArray) -> int:
    """Fewest ratings of a rater (who rated at all) outside his own commonest category."""
    least = []
    for j in range(x.shape[1]):
        given = x[x[:, j] >= 0, j]
        if given.size:
            least.append(given.size - int(np.bincount(given).max()))
    return min(least, default=0)


def positive(value: Any, size: Any) -> Any:
    """A divisor; NaN where it is 0 but for rounding against ``size``."""
    return np.where(value.real > 1e-12 * size.real, value, np.nan)
