"""Correlation of a judge's scores with people's, the intervals by question.

The default is the bootstrap-t on Fisher's z over whole questions. Pearson is a function of six
sums a question. Spearman needs no sorting per resample: responses are gathered once into their
distinct (x, y) cells, and the mid-ranks of a resample are cumulative sums of the cells' counts.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .clusters import (
    BLOCK,
    Clusters,
    FloatArray,
    IntArray,
    Unit,
    kish,
    linearised_se,
)
from .intervals import z_quantile
from .result import Estimate
from .score_intervals import Moments, association, paired_scores, resampled_se

__all__ = ["pearson", "spearman"]

_EXACT = 100_000_000
"""Questions times cells up to which each question is left out in turn; above it, linearised."""


def pearson(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: ArrayLike,
    rng: np.random.Generator | int,
    resamples: int = 1999,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """How linearly do two scores of the same responses go together?

    Parameters
    ----------
    x, y
        ``(n,)`` scores of the same responses; no NaN (the caller drops and counts).
    clusters
        ``(n,)`` integer codes of the responses' questions; whole questions are resampled.
    rng
        Generator (or seed) of the resampling.
    resamples
        Number of resamples, 199 or more; 0 for the jackknife t, which needs none.
    weights
        ``(n,)`` positive, e.g. inverse inclusion probabilities; None means equal.
    confidence
        Of the interval, in (0, 1).
    unit
        ``question``, or ``item`` for Fisher's z on n, which takes responses as independent and
        normal.

    Returns
    -------
    Estimate
        In [-1, 1]; 1 is a rising line, not agreement. NaN with a reason for fewer than two
        responses or a constant score. |r| = 1 has no interval (``details`` then hold the share of
        equal scores), nor has anything below 10 questions or that hangs on one question (without
        it a score is constant). Where fewer than 90 % of the pivots
        can be used the interval falls back to the jackknife t and says so. ``details``: ``se``
        (linearised by question), ``effective_n``, ``df``, ``differing`` (responses where the
        scores differ), ``resamples`` and ``usable_pivots``.

    Raises
    ------
    InputError
        Arrays of different lengths, NaN or infinite scores, bad weights.
    SettingsError
        Between 1 and 198 resamples.

    References
    ----------
    Fisher 1921; DiCiccio & Efron 1996, Stat. Sci. 11; Davison & Hinkley 1997, ch. 5.
    """

    one, two = paired_scores(x, y)
    return association(
        "pearson",
        "r",
        np.column_stack([one, two]),
        lambda w, groups: _Moments(one, two, w, groups),
        clusters=clusters,
        rng=rng,
        resamples=resamples,
        weights=weights,
        confidence=confidence,
        unit=unit,
        independent=_independent,
    )


def spearman(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: ArrayLike,
    rng: np.random.Generator | int,
    resamples: int = 1999,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """How far do two scores put the same responses in the same order?

    Parameters, result and errors as :func:`pearson`, of mid-ranks (ties share the mean of their
    places; weights count as so many copies). With ``unit="item"`` the standard error on Fisher's z
    is ``sqrt((1 + rho^2 / 2) / (n - 3))``. (Spearman 1904; Bonett & Wright 2000, Psychometrika
    65.)
    """

    one, two = paired_scores(x, y)
    return association(
        "spearman",
        "rho",
        np.column_stack([one, two]),
        lambda w, groups: _Ranks(one, two, w, groups),
        clusters=clusters,
        rng=rng,
        resamples=resamples,
        weights=weights,
        confidence=confidence,
        unit=unit,
        independent=_independent,
    )


class _Moments(Moments):
    """Pearson's r from six sums a question."""

    def __init__(self, x: FloatArray, y: FloatArray, w: FloatArray, groups: Clusters) -> None:
        one, two = _standard(x, w), _standard(y, w)
        columns = (np.ones_like(one), one, two, one * one, two * two, one * two)
        super().__init__(np.column_stack(columns) * w[:, None], _pearson, groups)


class _Ranks:
    """Spearman's rho from the counts of distinct (x, y) cells in each question."""

    def __init__(self, x: FloatArray, y: FloatArray, w: FloatArray, groups: Clusters) -> None:
        one, two = _level(x), _level(y)
        cells, cell = np.unique(one * (two.max() + 1) + two, return_inverse=True)
        self.in_x, self.in_y = cells // (two.max() + 1), cells % (two.max() + 1)
        self.width = int(cells.size)
        self.groups, self.weights, self.cell = groups, w, cell.reshape(-1)
        # (cells, G): the weight of each cell in each question
        self.table: Any = sparse.csr_array(
            sparse.coo_array((w, (self.cell, groups.codes)), shape=(cells.size, groups.count))
        )
        self.total = np.bincount(self.cell, w, minlength=cells.size).astype(float)
        # cells are sorted by x, then y; the second order sorts them by y
        self.by_y = np.argsort(self.in_y, kind="stable")
        self.start_x = _starts(self.in_x)
        self.start_y = _starts(self.in_y[self.by_y])

    def value(self) -> float:
        return float(self._rho(self.total[None, :])[0][0])

    def linearised(self) -> tuple[float, float]:
        _, slope = self._rho(self.total[None, :], influence=True)
        if slope is None:
            return math.nan, math.nan
        se = linearised_se(np.asarray(self.table.T @ slope[0], dtype=float))
        alone = linearised_se(self.weights * slope[0][self.cell])
        design = (se / alone) ** 2 if alone > 1e-12 and math.isfinite(se) else math.nan
        return se, design

    def leave_one_out(self) -> FloatArray | None:
        g = self.groups.count
        if g * self.width > _EXACT:
            return None
        by_question = self.table.T.tocsr()
        rows = max(1, BLOCK // self.width)
        parts = [
            self._rho(self.total - by_question[start : start + rows].toarray())[0]
            for start in range(0, g, rows)
        ]
        return np.concatenate(parts)

    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        values, slope = self._rho(np.ascontiguousarray((self.table @ counts.T).T), influence=True)
        if slope is None:
            return values, np.zeros_like(values)
        return values, resampled_se(counts, np.asarray((self.table.T @ slope.T).T))

    def _rho(
        self, mass: FloatArray, influence: bool = False
    ) -> tuple[FloatArray, FloatArray | None]:
        """rho of each row of cell masses ``(b, cells)``, and its derivatives by cell mass.

        A centred mid-rank is half the mass below less half the mass above, so the derivatives are
        cumulative sums too.
        """
        nx, ny = self._per_x(mass), self._per_y(mass)
        rank_x, rank_y = _midranks(nx), _midranks(ny)
        n = mass.sum(axis=1)
        var_x, var_y = (nx * rank_x**2).sum(axis=1), (ny * rank_y**2).sum(axis=1)
        with np.errstate(all="ignore"):
            flat = (var_x <= 1e-12 * n**3) | (var_y <= 1e-12 * n**3)
            size_x = np.sqrt(np.where(flat, np.nan, var_x))[:, None]
            size_y = np.sqrt(np.where(flat, np.nan, var_y))[:, None]
            x = np.take(rank_x / size_x, self.in_x, axis=1)
            y = np.take(rank_y / size_y, self.in_y, axis=1)
            rho = (mass * x * y).sum(axis=1)
            if not influence:
                return rho, None
            # each cell moves the ranks of all others: a second term for either score
            pull_x = _below_less_above(self._per_x(mass * (rho[:, None] * x - y))) / (2 * size_x)
            pull_y = _below_less_above(self._per_y(mass * (rho[:, None] * y - x))) / (2 * size_y)
            slope = x * y - 0.5 * rho[:, None] * (x * x + y * y)
            slope += np.take(pull_x, self.in_x, axis=1)
            slope += np.take(pull_y, self.in_y, axis=1)
        return rho, slope

    def _per_x(self, v: FloatArray) -> FloatArray:
        """Sums of cells ``(b, cells)`` by value of x ``(b, values)``."""
        if self.start_x.size == self.width:
            return v
        return np.asarray(np.add.reduceat(v, self.start_x, axis=1), dtype=float)

    def _per_y(self, v: FloatArray) -> FloatArray:
        ordered = np.take(v, self.by_y, axis=1)
        if self.start_y.size == self.width:
            return ordered
        return np.asarray(np.add.reduceat(ordered, self.start_y, axis=1), dtype=float)


def _independent(out: Estimate, weights: FloatArray) -> Estimate:
    """Fisher's z on the number of responses."""
    size = kish(weights)
    how = "Fisher z on n; assumes independent, normal responses"
    if size <= 3:
        return replace(out, method=how, reason=f"no interval: {size:g} responses (at least 4)")
    variance = 1 / (size - 3)
    if out.name == "spearman":
        variance *= 1 + out.estimate**2 / 2
        how = "Fisher z on n, Bonett-Wright SE; assumes independent responses"
    centre = math.atanh(out.estimate)
    reach = z_quantile(out.confidence) * math.sqrt(variance)
    return replace(out, low=math.tanh(centre - reach), high=math.tanh(centre + reach), method=how)


def _pearson(totals: Any) -> Any:
    n, x, y, xx, yy, xy = (totals[..., j] for j in range(6))
    x, y = x / n, y / n
    var_x, var_y = xx / n - x * x, yy / n - y * y
    flat = (var_x.real <= 1e-12) | (var_y.real <= 1e-12)  # the columns have variance 1
    return (xy / n - x * y) / np.sqrt(np.where(flat, np.nan, var_x * var_y))


def _standard(v: FloatArray, w: FloatArray) -> FloatArray:
    """Mean 0, variance 1 under the weights: r is free of both, and no digits are lost."""
    centred = v - (w @ v) / w.sum()
    centred = centred / np.abs(centred).max()
    return np.asarray(centred / np.sqrt((w @ (centred * centred)) / w.sum()), dtype=float)


def _level(v: FloatArray) -> IntArray:
    """Codes of the distinct values in order; equal to 12 digits is equal."""
    scaled = np.round(v / np.abs(v).max(), 12) + 0.0
    return np.asarray(np.unique(scaled, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def _starts(ordered: IntArray) -> IntArray:
    return np.asarray(np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]), dtype=np.int64)


def _midranks(mass: FloatArray) -> FloatArray:
    """Centred mid-ranks ``(b, levels)``: half of what is below less half of what is above."""
    rank = np.cumsum(mass, axis=1)
    n = rank[:, -1:].copy()
    rank -= mass / 2
    rank -= n / 2
    return rank


def _below_less_above(t: FloatArray) -> FloatArray:
    c = np.cumsum(t, axis=1)
    return np.asarray(2 * c - t - c[:, -1:], dtype=float)
