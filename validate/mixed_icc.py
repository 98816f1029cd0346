"""ICC(A,1) with ratings missing: variance components by restricted maximum likelihood.

A score is the mean of all, plus what the response is worth, plus how the rater leans, plus the
rest, all normal (two-way crossed, random). Listwise deletion would throw whole responses away; the
likelihood uses every rating. Responses are eliminated in closed form, so that one evaluation costs
the square of the number of raters for each pattern of missing ratings, not for each response.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import InputError
from .cautions import hangs_on_one, too_few
from .clusters import Clusters, FloatArray, IntArray, Unit, check_confidence, check_unit
from .intervals import FISHER, jackknife_limits
from .result import Estimate

__all__ = ["Components", "icc_missing", "variance_components"]

_LEAST = 10
"""Fewest questions for which an interval is given."""
_NOTHING = 1e-9
"""A share of the variance that is rounding."""
_STEPS = 3
"""Newton's steps of a refit without one question."""
_MOST = 1e4
"""Largest standard deviation of responses or raters, in standard deviations of the rest."""


@dataclass(frozen=True, slots=True)
class Components:
    """Variances of responses, of raters and of the rest, in squared units of the score.

    Parameters
    ----------
    item, rater, residual
        0 or more.
    mean
        The generalised least squares mean.
    """

    item: float
    rater: float
    residual: float
    mean: float

    @property
    def agreement(self) -> float:
        """ICC(A,1): the responses' share of the whole variance; NaN without any."""
        whole = self.item + self.rater + self.residual
        return self.item / whole if whole > 0 else math.nan


def variance_components(ratings: ArrayLike) -> Components:
    """REML estimates of the two-way crossed random model with any cells missing.

    Parameters
    ----------
    ratings
        ``(n_items, n_raters)`` scores, NaN = missing.

    Returns
    -------
    Components
        All NaN where the model can't be fitted (:func:`icc_missing` says why).

    Raises
    ------
    InputError
        Another shape, infinite scores.

    References
    ----------
    Patterson & Thompson 1971, Biometrika 58; penalised least squares: Bates et al. 2015, J. Stat.
    Softw. 67.
    """
    v = _table(ratings)
    if _unfit(v) is not None:
        return Components(math.nan, math.nan, math.nan, math.nan)
    centre, scale = float(np.nanmean(v)), float(np.nanstd(v))
    patterns = _Patterns.of_scores((v - centre) / scale)
    return _scaled(patterns.fit(patterns.totals()), centre, scale)


def icc_missing(
    ratings: ArrayLike,
    *,
    clusters: ArrayLike,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """How closely do raters' scores agree (ICC(A,1)), every rating used, whichever are missing?

    Parameters
    ----------
    ratings
        ``(n_items, n_raters)`` scores, NaN = missing. Items without a rating are left out and
        counted; those with one still tell how scores spread and raters lean.
    clusters
        ``(n_items,)`` integer codes of the items' questions.
    confidence
        Of the interval, in (0, 1).
    unit
        ``question``, or ``item``, which takes items as independent.

    Returns
    -------
    Estimate
        ``icc_agreement``, in [0, 1] (a variance is never below 0: where the mean squares of
        complete data give a negative ICC this is 0). The interval is the question jackknife's on
        Fisher's z with t; none below 10 questions or where the responses' variance is 0.
        ``details``: the variances ``item``, ``rater``, ``residual``, ``mean``, and
        ``complete_items``, how many a listwise deletion would have kept. NaN with a reason where
        no item has two ratings, one person gave all ratings, or no score varies.

    Raises
    ------
    InputError
        Another shape, infinite scores, arrays of different lengths.
    """
    check_confidence(confidence)
    check_unit(unit)
    v = _table(ratings)
    where = Clusters.of(clusters, len(v)).codes
    used = ~np.isnan(v).all(axis=1)
    empty = int((~used).sum())
    v, groups = v[used], Clusters.of(where[used], int(used.sum()))
    out = Estimate(
        "icc_agreement",
        math.nan,
        confidence=confidence,
        unit=unit,
        n=len(v),
        clusters=groups.count,
        dropped={"no rating": empty} if empty else {},
        details={"complete_items": int((~np.isnan(v)).all(axis=1).sum())},
    )
    reason = _unfit(v)
    if reason is not None:
        return replace(out, reason=reason)
    centre, scale = float(np.nanmean(v)), float(np.nanstd(v))
    patterns = _Patterns.of_scores((v - centre) / scale)
    whole = patterns.totals()
    relative = patterns.fit(whole)
    found = _scaled(relative, centre, scale)
    out = replace(
        out,
        estimate=found.agreement,
        method="REML, two-way crossed random effects",
        details={
            **out.details,
            "item": found.item,
            "rater": found.rater,
            "residual": found.residual,
            "mean": found.mean,
        },
    )
    count = groups.count if unit == "question" else len(v)
    reason = too_few(count, _LEAST, unit)
    if reason is not None:
        return replace(out, reason=reason)
    if found.item == 0:
        return replace(out, reason="no interval: the responses' variance is estimated as 0")
    if found.residual <= _NOTHING * scale**2:
        return replace(out, reason="no interval: raters never differ but by a constant")
    by = groups if unit == "question" else Clusters.each_item(len(v))
    away = np.array([one.agreement for one in patterns.refits(whole, relative, by)])
    df = groups.df if unit == "question" else float(len(v) - 1)
    low, high = jackknife_limits(found.agreement, away, scale=FISHER, df=df, confidence=confidence)
    noun = "question" if unit == "question" else "item"
    tail = "" if unit == "question" else "; items taken as independent"
    reason = hangs_on_one(low, unit)
    if reason is not None:
        return replace(out, reason=reason)
    return replace(
        out,
        low=max(low, 0.0),
        high=min(high, 1.0),
        method=f"{out.method}; {noun} jackknife t on Fisher z{tail}",
        details={**out.details, "df": df},
    )


def _table(ratings: ArrayLike) -> FloatArray:
    v = np.asarray(ratings, dtype=float)
    if v.ndim != 2:
        raise InputError(f"scores are (items, raters), got shape {v.shape}")
    if np.isinf(v).any():
        row = int(np.nonzero(np.isinf(v))[0][0])
        raise InputError(f"row {row + 1}: a score is infinite")
    return v


def _unfit(v: FloatArray) -> str | None:
    """Why the three variances can't be told apart; None where they can."""
    given = ~np.isnan(v)
    if not given.any():
        return "no items"
    if not (given.sum(axis=1) >= 2).any():
        return "no item has two ratings"
    if (given.any(axis=1)).sum() < 2:
        return "one response: nothing to correlate"
    if np.ptp(v[given]) <= 1e-12 * np.abs(v[given]).max():
        return "all scores are constant: a correlation is undefined"
    return None


def _members(groups: Clusters) -> list[IntArray]:
    order = np.argsort(groups.codes, kind="stable")
    return np.split(order, np.cumsum(groups.sizes)[:-1])


def _scaled(found: Components, centre: float, scale: float) -> Components:
    s = scale * scale
    return Components(
        found.item * s, found.rater * s, found.residual * s, centre + found.mean * scale
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Patterns:
    """Items gathered by who rated them; all that the likelihood needs is sums over items.

    Parameters
    ----------
    seen
        ``(patterns, raters)`` who rated, 1 or 0.
    of
        ``(n,)`` the pattern of each item.
    items
        ``(n, 3 + raters)``: 1, the square of the item's total, its sum of squares, its scores (0
        where missing).
    """

    seen: FloatArray
    of: IntArray
    items: FloatArray

    @classmethod
    def of_scores(cls, v: FloatArray) -> _Patterns:
        given = ~np.isnan(v)
        seen, of = np.unique(given, axis=0, return_inverse=True)
        score = np.where(given, v, 0.0)
        total = score.sum(axis=1)
        columns = (np.ones(len(v)), total * total, (score * score).sum(axis=1))
        return cls(seen.astype(float), of.reshape(-1), np.column_stack([*columns, score]))

    def totals(self, rows: IntArray | None = None) -> FloatArray:
        """Sums of the items ``(patterns, 3 + raters)``, of some rows or of all."""
        chosen = slice(None) if rows is None else rows
        out = np.zeros((len(self.seen), self.items.shape[1]))
        np.add.at(out, self.of[chosen], self.items[chosen])
        return out

    def fit(self, totals: FloatArray) -> Components:
        """The variances that make the restricted likelihood largest."""
        from scipy.optimize import minimize

        seen, sums = self._there(totals)
        same = _no_difference(seen, sums)
        if same is not None:
            return same

        def deviance(sd: FloatArray) -> float:
            return _profile(sd, seen, sums)[0]

        first: FloatArray = np.array([1.0, 0.2])
        options: Any = {"ftol": 1e-14, "gtol": 1e-8, "maxiter": 500}
        best: Any = minimize(
            deviance,
            first,
            method="L-BFGS-B",
            bounds=[(0.0, _MOST), (0.0, _MOST)],
            options=options,
        )
        return _components(np.asarray(best.x, dtype=float), seen, sums)

    def refits(self, whole: FloatArray, found: Components, groups: Clusters) -> list[Components]:
        """The same without each group in turn, by Newton's steps from the whole's optimum.

        The curvature is the whole's throughout; three steps are within 1e-5 of a fresh fit.
        """
        sd: FloatArray = np.sqrt(np.array([found.item, found.rater]) / found.residual)
        step = 1e-4 * np.maximum(sd, 0.1)
        curvature = _curvature(sd, step, *self._there(whole))
        out = []
        for rows in _members(groups):
            seen, sums = self._there(whole - self.totals(rows))
            at: FloatArray = sd
            for _ in range(_STEPS):
                down = np.linalg.solve(curvature, _slope(at, step, seen, sums))
                at = np.asarray(np.clip(at - down, 0.0, _MOST), dtype=float)
            out.append(_components(at, seen, sums))
        return out

    def _there(self, totals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The patterns that any item is left of, and their sums."""
        there = totals[:, 0] > 0.5
        return self.seen[there], totals[there]


def _no_difference(seen: FloatArray, sums: FloatArray) -> Components | None:
    """The components where no two ratings of an item differ; None where some do."""
    count, size = sums[:, 0], seen.sum(axis=1)
    within = float((sums[:, 2] - sums[:, 1] / size).sum())
    if within > _NOTHING * float(sums[:, 2].sum()):
        return None
    n = float(count.sum())
    mean = float((sums[:, 3:].sum(axis=1) / size).sum()) / n
    spread = (float((sums[:, 1] / size**2).sum()) - n * mean**2) / (n - 1)
    return Components(spread, 0.0, 0.0, mean)


def _components(sd: FloatArray, seen: FloatArray, sums: FloatArray) -> Components:
    _, residual, mean = _profile(sd, seen, sums)
    return Components(float(sd[0]) ** 2 * residual, float(sd[1]) ** 2 * residual, residual, mean)


def _slope(sd: FloatArray, step: FloatArray, seen: FloatArray, sums: FloatArray) -> FloatArray:
    """Derivatives of the deviance; it is even in a standard deviation, so 0 at 0."""
    out = np.zeros(2)
    for j in range(2):
        h = np.zeros(2)
        h[j] = step[j]
        out[j] = _profile(sd + h, seen, sums)[0] - _profile(sd - h, seen, sums)[0]
    return np.asarray(out / (2 * step), dtype=float)


def _curvature(sd: FloatArray, step: FloatArray, seen: FloatArray, sums: FloatArray) -> FloatArray:
    rows = []
    for j in range(2):
        h = np.zeros(2)
        h[j] = step[j]
        ahead = _slope(sd + h, step, seen, sums)
        rows.append((ahead - _slope(sd - h, step, seen, sums)) / (2 * step[j]))
    both = np.array(rows)
    return np.asarray((both + both.T) / 2, dtype=float)


def _profile(sd: FloatArray, seen: FloatArray, sums: FloatArray) -> tuple[float, float, float]:
    """REML deviance (but for a constant), residual variance and mean, at given relative SDs.

    With ``a``, ``c`` the variances of responses and raters over the rest, ``V = I + a ZZ' + c RR'``
    over the residual variance. Responses: ``(I + a 11')^-1 = I - a / (1 + a m) 11'`` for each with
    m ratings; raters by Woodbury on what is left.
    """
    a, c = float(sd[0]) ** 2, float(sd[1]) ** 2
    count, squares, own = sums[:, 0], sums[:, 1], sums[:, 2]
    score, size = sums[:, 3:], seen.sum(axis=1)
    grown = 1 + a * size
    shrink = a / grown
    total = score.sum(axis=1)
    raters = np.diag(count @ seen) - seen.T @ ((count * shrink)[:, None] * seen)
    one_rater = (count / grown) @ seen
    rater_y = score.sum(axis=0) - (shrink * total) @ seen
    one_one, one_y = float((count * size / grown).sum()), float((total / grown).sum())
    y_y = float((own - shrink * squares).sum())
    inner = np.eye(len(raters)) + c * raters
    solved = np.linalg.solve(inner, np.column_stack([one_rater, rater_y]))
    one_one -= c * float(one_rater @ solved[:, 0])
    one_y -= c * float(one_rater @ solved[:, 1])
    y_y -= c * float(rater_y @ solved[:, 1])
    cells = float(count @ size)
    mean = one_y / one_one
    residual = max(y_y - one_y * mean, 1e-300) / (cells - 1)
    whole = float((count * np.log(grown)).sum()) + float(np.linalg.slogdet(inner)[1])
    return whole + math.log(one_one) + (cells - 1) * math.log(residual), residual, mean
