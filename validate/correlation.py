"""Correlation of a judge's scores with people's, the intervals by question.

The default is the bootstrap-t on Fisher's z over whole questions. Pearson is a function of six
sums a question. Spearman needs no sorting per resample: the mid-ranks of a resample are cumulative
sums of the weights of the distinct (x, y) cells.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .clusters import BLOCK, Clusters, FloatArray, Sums, Unit, kish, linearised_se
from .intervals import z_quantile
from .joint_cells import JointCells
from .methods import Asked, Method
from .resampling import Blockwise, Source, Summed, resampled_se
from .result import Estimate
from .score_intervals import association, common_scale, paired_scores

__all__ = ["pearson", "spearman"]

_EXACT = 100_000_000
"""Questions times cells up to which each question is left out in turn; above it, linearised."""


def pearson(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: ArrayLike,
    rng: Source,
    resamples: int = 1999,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
) -> Estimate:
    """How linearly do two scores of the same responses go together?

    Parameters
    ----------
    x, y
        ``(n,)`` scores of the same responses; no NaN (the caller drops and counts).
    clusters
        ``(n,)`` integer codes of the responses' questions; whole questions are resampled.
    rng
        Seed or generator of the resampling, or the
        :class:`~accord.validate.resampling.Draws` of a panel, with its own number of resamples.
    resamples
        Number of resamples, 199 or more; 0 for the jackknife t, which needs none.
    weights
        ``(n,)`` positive, e.g. inverse inclusion probabilities; None means equal.
    confidence
        Of the interval, in (0, 1).
    unit
        ``question``, or ``item`` for Fisher's z on n, which takes responses as independent and
        normal.
    method
        ``default`` is the bootstrap-t (that of Fisher's z for items). By name, of the same unit:
        ``bootstrap-t``, ``jackknife`` t on Fisher's z, ``grouped-jackknife`` (200 random groups of
        questions left out in turn), ``percentile``, ``bca``.

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
        Between 1 and 198 resamples, or an unknown method.

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
        weights=weights,
        asked=Asked.of(method, confidence, unit, rng, resamples, default="bootstrap-t"),
        independent=_independent,
    )


def spearman(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: ArrayLike,
    rng: Source,
    resamples: int = 1999,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
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
        weights=weights,
        asked=Asked.of(method, confidence, unit, rng, resamples, default="bootstrap-t"),
        independent=_independent,
    )


class _Moments(Summed):
    """Pearson's r from six sums a question.

    They are those of u = x + y and v = x - y: as r nears 1 all that v is in vanishes with 1 - r, so
    neither r's slope nor its standard error is the small difference of large sums. Scores that are
    mostly equal keep their common scale, so that v is 0 there; others are standardised each.
    """

    def __init__(self, x: FloatArray, y: FloatArray, w: FloatArray, groups: Clusters) -> None:
        if (x == y).mean() >= 0.5:
            one, two = common_scale(np.column_stack([x, y]), w).T
        else:
            one, two = _standard(x, w), _standard(y, w)
        u, v = one + two, one - two
        columns = np.column_stack([np.ones_like(u), u, v, u * u, v * v, u * v])
        super().__init__(Sums(columns * w[:, None], groups), _pearson)


class _Ranks(Blockwise):
    """Spearman's rho from the weights of distinct (x, y) cells."""

    def __init__(self, x: FloatArray, y: FloatArray, w: FloatArray, groups: Clusters) -> None:
        self.cells = JointCells(x, y, w, groups)
        self.width, self.groups, self.weights = self.cells.size, groups, w

    def value(self) -> float:
        return float(self._rho(self.cells.total[None, :])[0][0])

    def linearised(self) -> tuple[float, float]:
        slope = self._rho(self.cells.total[None, :], influence=True)[1]
        se = linearised_se(self.cells.of_questions(slope)[0])
        alone = linearised_se(self.weights * slope[0][self.cells.cell])
        design = (se / alone) ** 2 if alone > 1e-12 and math.isfinite(se) else math.nan
        return se, design

    def influence(self) -> FloatArray:
        slope = self._rho(self.cells.total[None, :], influence=True)[1]
        return np.asarray(self.cells.of_questions(slope)[0], dtype=np.float64)

    def leave_one_out(self) -> FloatArray | None:
        g = self.groups.count
        if g * self.width > _EXACT:
            return None
        rows = max(1, BLOCK // self.width)
        parts = []
        for start in range(0, g, rows):
            away = self.cells.mass_of(np.arange(start, min(start + rows, g)))
            parts.append(self._rho(self.cells.total - away)[0])
        return np.concatenate(parts)

    def values(self, counts: FloatArray) -> FloatArray:
        mass = self.cells.mass(counts)
        return self._rho(mass, per_y=self.cells.mass_per_y(counts, mass))[0]

    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        values, slope = self._rho(self.cells.mass(counts), influence=True)
        return values, resampled_se(counts, self.cells.of_questions(slope))

    def _rho(
        self, mass: FloatArray, influence: bool = False, per_y: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """rho of each row of cell masses ``(b, cells)``, and its derivatives by cell mass.

        A centred mid-rank is half the mass below less half the mass above, so the derivatives are
        cumulative sums too. They are left out (no columns) unless asked for.
        """
        cells = self.cells
        nx = cells.per_x(mass)
        ny = cells.per_y(mass) if per_y is None else per_y
        rank_x, rank_y = _midranks(nx), _midranks(ny)
        n = ny.sum(axis=1)
        var_x = np.einsum("bi,bi,bi->b", nx, rank_x, rank_x)
        var_y = np.einsum("bi,bi,bi->b", ny, rank_y, rank_y)
        with np.errstate(all="ignore"):
            flat = (var_x <= 1e-12 * n**3) | (var_y <= 1e-12 * n**3)
            size_x, size_y = (np.sqrt(np.where(flat, np.nan, v)) for v in (var_x, var_y))
            x = rank_x if cells.distinct_x else np.take(rank_x, cells.in_x, axis=1)
            y = np.take(rank_y, cells.in_y, axis=1)
            if not influence:
                y *= mass
                return np.einsum("bi,bi->b", x, y) / (size_x * size_y), mass[:, :0]
            size_x, size_y = size_x[:, None], size_y[:, None]
            x, y = x / size_x, y / size_y
            rho = np.einsum("bi,bi,bi->b", mass, x, y)
            # each cell moves the ranks of all others: a second term for either score
            pull_x = _below_less_above(cells.per_x(mass * (rho[:, None] * x - y))) / (2 * size_x)
            pull_y = _below_less_above(cells.per_y(mass * (rho[:, None] * y - x))) / (2 * size_y)
            slope = x * y - 0.5 * rho[:, None] * (x * x + y * y)
            slope += np.take(pull_x, cells.in_x, axis=1)
            slope += np.take(pull_y, cells.in_y, axis=1)
        return rho, slope


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
    """r from the sums of 1, u, v, u^2, v^2, uv with u = x + y, v = x - y.

    With S the centred sums, R^2 = (S_uu + S_vv)^2 - 4 S_uv^2 and r = (S_uu - S_vv) / R, written so
    that 1 - |r| is a quotient of products.
    """
    n, u, v, uu, vv, uv = (totals[..., j] for j in range(6))
    u, v = u / n, v / n
    a, b, c = uu / n - u * u, vv / n - v * v, uv / n - u * v
    var_x, var_y = a + b + 2 * c, a + b - 2 * c  # four times
    least = 1e-12 * ((uu + vv) / n).real
    flat = (var_x.real <= least) | (var_y.real <= least)
    size = np.sqrt(np.where(flat, np.nan, var_x * var_y))
    rising = a.real >= b.real
    apart = np.where(rising, a - b, b - a)
    from_one = 4 * (a * b - c * c) / (size * (size + apart))
    return np.where(rising, 1 - from_one, from_one - 1)


def _standard(v: FloatArray, w: FloatArray) -> FloatArray:
    """Mean 0, variance 1 under the weights: r is free of both, and no digits are lost."""
    centred = v - (w @ v) / w.sum()
    centred = centred / np.abs(centred).max()
    return np.asarray(centred / np.sqrt((w @ (centred * centred)) / w.sum()), dtype=float)


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
