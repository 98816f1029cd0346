"""Correlation of a judge's scores with people's, the intervals by question.

The default is the bootstrap-t on Fisher's z over whole questions. Pearson is a function of six
sums a question. Spearman needs no sorting per resample: responses are gathered once into their
distinct (x, y) cells, and the mid-ranks of a resample are cumulative sums of the cells' counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..scoring.errors import InputError, SettingsError
from .cautions import FEW_DIFFERING, data_warnings, too_few
from .clusters import (
    BLOCK,
    Clusters,
    FloatArray,
    IntArray,
    Sums,
    Unit,
    check_confidence,
    check_unit,
    effective_size,
    gradient,
    jackknife_se,
    kish,
    leave_one_out,
    linearised_se,
    resample_counts,
    unit_mean_weights,
    without_rounding,
)
from .intervals import FISHER, bootstrap_t_limits, t_quantile, z_quantile
from .proportions import clustered_proportion
from .result import Estimate

__all__ = ["equal_share", "paired_scores", "pearson", "spearman"]

_LEAST = 10
"""Fewest questions for which an interval is given."""
_RELIABLE = 20
"""Fewest questions at which the interval was seen to cover well."""
_USABLE = 0.9
"""Share of usable pivots under which the bootstrap-t is given up for the jackknife."""
_FEWEST_RESAMPLES = 199
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

    def make(one: FloatArray, two: FloatArray, w: FloatArray, groups: Clusters) -> _Correlation:
        return _Moments(one, two, w, groups)

    return _correlation("pearson", make, x, y, clusters, rng, resamples, weights, confidence, unit)


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

    def make(one: FloatArray, two: FloatArray, w: FloatArray, groups: Clusters) -> _Correlation:
        return _Ranks(one, two, w, groups)

    return _correlation("spearman", make, x, y, clusters, rng, resamples, weights, confidence, unit)


def paired_scores(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Two equally long arrays of finite scores; differences that are rounding are taken out.

    Scores computed in two ways may differ in the last digit and yet be the same score; the second
    is then set to the first.

    Raises
    ------
    InputError
        Other shapes, or a score that is NaN or infinite.
    """
    a, b = np.asarray(first, dtype=float), np.array(second, dtype=float)
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"the two scores have shapes {a.shape} and {b.shape}")
    bad = ~(np.isfinite(a) & np.isfinite(b))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"row {row + 1}: a score is missing or infinite",
            cure="leave out and count what is missing before scores are compared",
        )
    if a.size:
        tiny = 1e-12 * max(float(np.abs(a).max()), float(np.abs(b).max()))
        same = np.abs(a - b) <= tiny
        b[same] = a[same]
    return a, b


def equal_share(
    x: FloatArray,
    y: FloatArray,
    clusters: ArrayLike,
    weights: ArrayLike | None,
    confidence: float,
    unit: Unit,
) -> Estimate:
    """The share of responses with equal scores, with its interval: what is left to say of r = 1."""
    share = clustered_proportion(
        x == y, clusters=clusters, weights=weights, confidence=confidence, unit=unit
    )
    return replace(share, name="equal")


class _Correlation(Protocol):
    """A correlation under question weights."""

    width: int

    def value(self) -> float: ...

    def linearised(self) -> tuple[float, float]: ...

    def leave_one_out(self) -> FloatArray | None: ...

    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]: ...


class _Moments:
    """Pearson's r from six sums a question."""

    width = 0

    def __init__(self, x: FloatArray, y: FloatArray, w: FloatArray, groups: Clusters) -> None:
        one, two = _standard(x, w), _standard(y, w)
        columns = (np.ones_like(one), one, two, one * one, two * two, one * two)
        self.sums = Sums(np.column_stack(columns) * w[:, None], groups)

    def value(self) -> float:
        return self.sums.value(_pearson)

    def linearised(self) -> tuple[float, float]:
        return self.sums.linearised(_pearson)

    def leave_one_out(self) -> FloatArray:
        return leave_one_out(_pearson, self.sums.by_question)

    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        s = self.sums.by_question
        totals = counts @ s
        with np.errstate(all="ignore"):
            values = np.asarray(_pearson(totals), dtype=float)
            influence = gradient(_pearson, totals) @ s.T
        return values, _resampled_se(counts, influence)


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
        return values, _resampled_se(counts, np.asarray((self.table.T @ slope.T).T))

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


def _correlation(
    name: str,
    make: Callable[[FloatArray, FloatArray, FloatArray, Clusters], _Correlation],
    x: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator | int,
    resamples: int,
    weights: ArrayLike | None,
    confidence: float,
    unit: Unit,
) -> Estimate:
    check_confidence(confidence)
    check_unit(unit)
    if resamples != 0 and resamples < _FEWEST_RESAMPLES:
        raise SettingsError(
            f"{resamples} resamples are too few for a bootstrap-t",
            cure=f"{_FEWEST_RESAMPLES} or more, or 0 for the jackknife t",
        )
    one, two = paired_scores(x, y)
    n = one.size
    groups = Clusters.of(clusters, n)
    w = unit_mean_weights(weights, n)
    out = Estimate(name, math.nan, confidence=confidence, unit=unit, n=n, clusters=groups.count)
    if n < 2:
        why = "no items" if n == 0 else "one response: nothing to correlate"
        return replace(out, reason=why)
    differing = int((one != two).sum())
    said = data_warnings(groups, w, df=None, unit=unit)
    out = replace(out, warnings=tuple(said), details={"differing": differing})
    if differing == 0:
        out = replace(
            out,
            details={
                **out.details,
                "equal": equal_share(one, two, clusters, weights, confidence, unit),
            },
        )
    # what varies in the last digits only is rounding, and would correlate as such
    constant = [
        which
        for which, v in (("first", one), ("second", two))
        if np.ptp(v) <= 1e-12 * np.abs(v).max()
    ]
    if constant:
        which = "both scores are" if len(constant) == 2 else f"the {constant[0]} score is"
        return replace(out, reason=f"{which} constant: a correlation is undefined")
    form = make(one, two, w, groups)
    theta = form.value()
    if not math.isfinite(theta):
        return replace(out, reason="a score is constant but for rounding")
    theta = without_rounding(min(max(theta, -1.0), 1.0))
    se, design = form.linearised()
    df = groups.df if unit == "question" else float(n - 1)
    out = replace(
        out,
        estimate=theta,
        design_effect=design,
        warnings=tuple([*data_warnings(groups, w, df=df, unit=unit), *_few(name, differing)]),
        details={**out.details, "se": se, "effective_n": effective_size(n, design)},
    )
    if 1 - abs(theta) < 1e-12:
        line = "all scores are equal" if differing == 0 else f"{name} is {theta:+.0f} exactly"
        return replace(out, reason=f"{line}: no interval")
    if unit == "item":
        return _independent(out, kish(w))
    out = replace(out, details={**out.details, "df": df})
    if groups.count < _RELIABLE:
        said = [*out.warnings, "correlation intervals below 20 questions are unreliable"]
        out = replace(out, warnings=tuple(said))
    reason = too_few(groups.count, _LEAST, unit)
    if reason is not None:
        return replace(out, reason=reason)
    return _by_question(out, form, groups, np.random.default_rng(rng), resamples, df)


def _few(name: str, differing: int) -> list[str]:
    if 0 < differing < FEW_DIFFERING:
        what = "r" if name == "pearson" else "rho"
        return [f"{what} rests on {differing} differing responses (fewer than 10)"]
    return []


def _by_question(
    out: Estimate,
    form: _Correlation,
    groups: Clusters,
    rng: np.random.Generator,
    resamples: int,
    df: float,
) -> Estimate:
    """The bootstrap-t on Fisher's z, or the jackknife t where it can't be had."""
    theta, confidence = out.estimate, out.confidence
    away = form.leave_one_out()
    if away is not None and not np.isfinite(away).all():
        # left out of the jackknife, the one question that matters would make it look certain
        return replace(out, reason="no interval: without one question a score is constant")
    if away is None:
        se = float(out.details["se"]) * float(FISHER.slope(np.asarray(theta)))
        spread = "linearised"
    else:
        se = jackknife_se(np.asarray(FISHER.forward(away), dtype=float))
        spread = "jackknife"
    fell_back = ""
    if resamples:
        parts = [
            form.resampled(counts)
            for counts in resample_counts(rng, resamples, groups.count, width=form.width)
        ]
        low, high, usable = bootstrap_t_limits(
            theta,
            se,
            np.concatenate([values for values, _ in parts]),
            np.concatenate([errors for _, errors in parts]),
            scale=FISHER,
            confidence=confidence,
        )
        details = {**out.details, "resamples": resamples, "usable_pivots": usable}
        out = replace(out, details=details)
        if usable >= _USABLE and math.isfinite(low):
            method = f"question bootstrap-t on Fisher z, {spread} SE, {resamples} resamples"
            return replace(out, low=low, high=high, method=method)
        fell_back = f" (bootstrap-t given up: {usable:.0%} of the pivots usable)"
        out = replace(
            out, warnings=(*out.warnings, f"fell back to {spread} t: {usable:.0%} pivots usable")
        )
    centre = float(FISHER.forward(np.asarray(theta)))
    reach = t_quantile(confidence, df) * se
    return replace(
        out,
        low=float(np.tanh(centre - reach)),
        high=float(np.tanh(centre + reach)),
        method=f"question {spread} t on Fisher z{fell_back}",
    )


def _independent(out: Estimate, size: float) -> Estimate:
    """Fisher's z on the number of responses."""
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


def _resampled_se(counts: FloatArray, influence: FloatArray) -> FloatArray:
    """Linearised standard error in each resample, from influence values ``(b, G)``."""
    g = counts.shape[1]
    with np.errstate(all="ignore"):
        centred = influence - (counts * influence).sum(axis=1, keepdims=True) / g
        return np.asarray(
            np.sqrt(g / (g - 1) * (counts * centred * centred).sum(axis=1)), dtype=float
        )
