"""Kendall's tau-b, without ever comparing all responses with all.

Pairs of responses are signed sums over what lies below and above in both scores; those are partial
sums along a merge sort, for all responses at once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .clusters import Clusters, FloatArray, IntArray, Unit, linearised_se
from .result import Estimate
from .score_intervals import association, paired_scores

__all__ = ["kendall_tau_b"]


def kendall_tau_b(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """How many more pairs of responses do two scores order alike than the other way?

    Parameters
    ----------
    x, y
        ``(n,)`` scores of the same responses; no NaN (the caller drops and counts).
    clusters
        ``(n,)`` integer codes of the responses' questions.
    weights
        ``(n,)`` positive; a pair weighs their product. None means equal.
    confidence
        Of the interval, in (0, 1).
    unit
        ``question``, or ``item``, which takes responses as independent.

    Returns
    -------
    Estimate
        In [-1, 1], ties corrected for (tau-b). NaN with a reason for fewer than two responses or
        a constant score. The interval is the question jackknife's on Fisher's z with t; none for
        |tau| = 1, below 10 questions, or where it hangs on one question. ``details``: ``se``
        (linearised by question), ``effective_n``, ``df``, ``differing``.

    Raises
    ------
    InputError
        Arrays of different lengths, NaN or infinite scores, bad weights.

    References
    ----------
    Kendall 1945, Biometrika 33.
    """
    one, two = paired_scores(x, y)
    return association(
        "kendall_tau_b",
        "tau-b",
        np.column_stack([one, two]),
        lambda w, groups: _Signs(one, two, w, groups),
        clusters=clusters,
        rng=0,
        resamples=0,
        weights=weights,
        confidence=confidence,
        unit=unit,
        independent=None,
    )


class _Signs:
    """tau-b from signed pair sums: q_xy / sqrt(q_x q_y)."""

    width = 0

    def __init__(self, x: FloatArray, y: FloatArray, w: FloatArray, groups: Clusters) -> None:
        one, two = _levels(x), _levels(y)
        self.w, self.groups = w, groups
        self.all = _sign_sums(np.zeros_like(one), one, two, w)
        self.own = _sign_sums(groups.codes, one, two, w)
        self.total = w @ self.all

    def _tau(self, q: FloatArray, size: FloatArray | float) -> FloatArray:
        flat = (q[..., 1:] <= 1e-12 * np.asarray(size)[..., None] ** 2).any(axis=-1)
        with np.errstate(all="ignore"):
            product = np.where(flat, np.nan, q[..., 1] * q[..., 2])
            return np.asarray(q[..., 0] / np.sqrt(product), dtype=float)

    def value(self) -> float:
        return float(self._tau(self.total, float(self.w.sum())))

    def linearised(self) -> tuple[float, float]:
        # the derivative of q by a weight is twice the response's own sum
        q, tau = self.total, self.value()
        slope = 2 * self.all[:, 0] / math.sqrt(q[1] * q[2])
        slope -= tau * (self.all[:, 1] / q[1] + self.all[:, 2] / q[2])
        influence = self.w * slope
        se = linearised_se(np.bincount(self.groups.codes, influence).astype(float))
        alone = linearised_se(influence)
        return se, (se / alone) ** 2 if alone > 1e-12 and math.isfinite(se) else math.nan

    def leave_one_out(self) -> FloatArray:
        w, size = self.w[:, None], self.groups.count
        left = self.w.sum() - np.bincount(self.groups.codes, self.w, minlength=size)
        with_all, among = self.groups.sums(w * self.all), self.groups.sums(w * self.own)
        return self._tau(self.total - 2 * with_all + among, left)

    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The interval is the jackknife's: nothing is resampled."""
        none = np.full(len(counts), np.nan)
        return none, none


def _levels(v: FloatArray) -> IntArray:
    """Codes of the distinct values in order; equal to 12 digits is equal."""
    scaled = np.round(v / np.abs(v).max(), 12) + 0.0
    return np.asarray(np.unique(scaled, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def _sign_sums(group: IntArray, x: IntArray, y: IntArray, w: FloatArray) -> FloatArray:
    """For each response, over the others of its group: ``(n, 3)``.

    Sums of w sign(x - x') sign(y - y'), of w where x differs, of w where y differs.
    """
    below_x, equal_x, mass = _along(group, x, w)
    below_y, equal_y, _ = _along(group, y, w)
    same_y, both, _ = _along(_paired(group, y), x, w)  # below in x among equal y
    same_x, _, _ = _along(_paired(group, x), y, w)
    both_below = _both_below(group, x, y, w)
    x_below_y_above = below_x - both_below - same_y
    x_above_y_below = below_y - both_below - same_x
    above_x = mass - below_x - equal_x
    both_above = above_x - x_above_y_below - (equal_y - same_y - both)
    signs = both_below + both_above - x_below_y_above - x_above_y_below
    return np.column_stack([signs, mass - equal_x, mass - equal_y])


def _paired(a: IntArray, b: IntArray) -> IntArray:
    return np.asarray(a * (b.max() + 1) + b, dtype=np.int64)


def _along(key: IntArray, v: IntArray, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Among those with the same key: the weight below v, at v, and altogether."""
    cells, cell = np.unique(_paired(key, v), return_inverse=True)
    cell = cell.reshape(-1)
    at = np.bincount(cell, w).astype(float)
    of = cells // (v.max() + 1)
    start = np.flatnonzero(np.r_[True, of[1:] != of[:-1]])
    which = np.cumsum(np.r_[0, of[1:] != of[:-1]])
    before = np.cumsum(at) - at
    mass = np.add.reduceat(at, start)
    below = before - before[start][which]
    return below[cell], at[cell], mass[which][cell]


def _both_below(group: IntArray, x: IntArray, y: IntArray, w: FloatArray) -> FloatArray:
    """The weight of the group's responses that are below in x and in y."""
    n = x.size
    # in this order whoever is below in both comes before; equal x comes after, by falling y
    order = np.lexsort((-y, x, group))
    # and has the lower rank; of equal y, whoever comes first has the higher one
    rank = np.empty(n, dtype=np.int64)
    rank[np.lexsort((-np.arange(n), y[order], group[order]))] = np.arange(n)
    mass, place = w[order], np.arange(n)
    out = np.zeros(n)
    half = 1
    while half < n:
        # blocks of two sorted halves: the right one takes what is lower in the left one
        block, right = place // (2 * half), (place // half) % 2 == 1
        by = np.argsort(block * n + rank)
        left = np.cumsum(np.where(right[by], 0.0, mass[by]))
        before = np.r_[0.0, left][np.searchsorted(block[by], block[by])]
        out[by] += np.where(right[by], left - before, 0.0)
        half *= 2
    # every response of earlier groups was before and lower
    groups, code = np.unique(group[order], return_inverse=True)
    each = np.bincount(code.reshape(-1), mass, minlength=groups.size)
    out -= (np.cumsum(each) - each)[code.reshape(-1)]
    result = np.empty(n)
    result[order] = out
    return result
