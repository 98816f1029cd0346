"""What the other annotators say of each item: their majority, or the mean of their numbers."""

from __future__ import annotations

import math

import numpy as np

from .clusters import FloatArray, IntArray
from .rated import BoolArray

__all__ = ["majority_without", "mean_without"]


def majority_without(codes: IntArray, k: int) -> tuple[IntArray, BoolArray]:
    """For each annotator the commonest label of the others, ``(n, R)``, -1 without one.

    Parameters
    ----------
    codes
        ``(n, R)`` codes 0..k-1, below 0 where missing.

    Returns
    -------
    majority, tied
        ``(n, R)``: a tie of two labels has no majority.
    """
    rows = np.arange(len(codes))
    votes = np.stack([(codes == label).sum(axis=1) for label in range(k)], axis=1)
    out = np.full(codes.shape, -1, dtype=np.int64)
    tied = np.zeros(codes.shape, dtype=bool)
    for c in range(codes.shape[1]):
        own = codes[:, c] >= 0
        rest = votes.copy()
        rest[rows[own], codes[own, c]] -= 1
        most = rest.max(axis=1)
        tied[:, c] = (most > 0) & ((rest == most[:, None]).sum(axis=1) > 1)
        has = (most > 0) & ~tied[:, c]
        out[has, c] = rest[has].argmax(axis=1)
    return out, tied


def mean_without(values: FloatArray) -> FloatArray:
    """For each annotator the mean of the others' numbers, ``(n, R)``, NaN without one.

    Parameters
    ----------
    values
        ``(n, R)``, NaN where missing.
    """
    rated = ~np.isnan(values)
    given = np.where(rated, values, 0.0)
    count = rated.sum(axis=1, keepdims=True) - rated
    total = given.sum(axis=1, keepdims=True) - given
    out: FloatArray = np.full(values.shape, math.nan)
    np.divide(total, count, out=out, where=count > 0)
    return out
