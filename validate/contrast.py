"""The difference of two means of items that lie in the same questions, with its test.

Both means, their covariance and the design effect come from the same per-question sums, so that it
does not matter whether a question has items of one part or of both.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from ..scoring.errors import InputError
from .cautions import FEW_DIFFERING, data_warnings, too_few
from .clusters import (
    ASSUMED_ICC,
    Clusters,
    FloatArray,
    Unit,
    check_confidence,
    check_unit,
    effective_size,
    unit_mean_weights,
    without_rounding,
)
from .intervals import t_quantile
from .result import Estimate

__all__ = ["LEAST_QUESTIONS", "contrast", "contrast_df"]

LEAST_QUESTIONS = 6
"""Fewest questions of each part for which an interval and a test are given."""


def contrast(
    name: str,
    values: ArrayLike,
    chosen: ArrayLike,
    *,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """By how much do two parts of the items differ in their mean, and may that be chance?

    Parameters
    ----------
    name
        Of the figure.
    values
        ``(n,)``, one an item: whether two raters agree (0 or 1), a difference of scores, ….
    chosen
        ``(n,)`` whether the item is in the first part; all others are in the second.
    clusters
        ``(n,)`` integer codes of the items' questions; a question may have items of both parts.
    weights
        ``(n,)`` positive, e.g. inverse inclusion probabilities; None means equal.
    confidence
        Of the interval, in (0, 1).
    unit
        ``question``, or ``item``, which takes items as independent.

    Returns
    -------
    Estimate
        Mean of the first part less mean of the second, in units of the values. The interval is
        the linearised one by question with t: residuals enlarged by each question's leverage, the
        degrees of freedom those of a common intra-cluster correlation of 0.2, and to each part
        one pair of pseudo-questions added that lie at plus and minus the largest value, since
        values that are mostly 0 make the plain interval too short. NaN with a reason where a part
        is empty; no interval below 6 questions in a part, nor where all values are the same.
        ``details``: ``first``, ``rest`` (the two means), ``n_first``, ``n_rest``, ``se`` (with the
        pairs), ``df``, ``effective_n``, ``p_value`` (two-sided, of no difference; None without
        interval).

    Raises
    ------
    InputError
        Arrays of different lengths, values that are no finite numbers, bad weights.

    References
    ----------
    Bell & McCaffrey 2002, Surv. Methodol. 28 (leverage); Satterthwaite 1946, Biometrics Bull. 2.
    The pairs are accord's, chosen by measured error rates.
    """
    check_confidence(confidence)
    check_unit(unit)
    y = np.asarray(values, dtype=float)
    first = np.asarray(chosen, dtype=bool)
    if y.ndim != 1 or first.shape != y.shape:
        raise InputError(f"values have shape {y.shape}, the parts {first.shape}")
    if not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise InputError(f"row {row + 1}: {y[row]:g} is no finite number", cure="leave it out")
    groups = Clusters.of(clusters, y.size)
    w = unit_mean_weights(weights, y.size)
    n_first, n_rest = int(first.sum()), int((~first).sum())
    out = Estimate(
        name,
        math.nan,
        confidence=confidence,
        unit=unit,
        n=y.size,
        clusters=groups.count,
        details={"n_first": n_first, "n_rest": n_rest, "p_value": None},
    )
    if not n_first or not n_rest:
        return replace(out, reason="no items" if not y.size else "nothing to compare with")
    by = groups if unit == "question" else Clusters.each_item(y.size)
    scale = float(np.abs(y).max()) or 1.0
    parts = [_Part(y / scale, w, part, by) for part in (first, ~first)]
    theta = without_rounding(parts[0].mean - parts[1].mean)
    variance = _variance(parts)
    each = Clusters.each_item(y.size)
    alone = _variance([_Part(y / scale, w, part, each) for part in (first, ~first)])
    design = variance / alone if alone > 1e-24 else math.nan
    variance += sum(2 / part.n**2 for part in parts)
    df = _freedom(parts, by.count)
    details = {
        **out.details,
        "first": parts[0].mean * scale,
        "rest": parts[1].mean * scale,
        "se": math.sqrt(variance) * scale,
        "df": df,
        "effective_n": effective_size(y.size, design),
    }
    fewest = min(part.units for part in parts)
    reason = too_few(fewest, LEAST_QUESTIONS, unit)
    if reason is not None:
        reason = f"{reason} in a part"
    if np.ptp(y) <= 1e-12 * scale:
        reason = "all values are the same: no variation"
    out = replace(
        out,
        estimate=theta * scale,
        method=_method(unit),
        design_effect=design,
        reason=reason,
        warnings=tuple(_warnings(y, groups, w, df, unit)),
        details=details,
    )
    if reason is not None:
        return out
    se = math.sqrt(variance)
    reach = t_quantile(confidence, df) * se
    p = min(2 * float(stdtr(df, -abs(theta) / se)), 1.0)
    return replace(
        out,
        low=(theta - reach) * scale,
        high=(theta + reach) * scale,
        details={**details, "p_value": p},
    )


def contrast_df(first: NDArray[np.bool_], weights: FloatArray, groups: Clusters) -> float:
    """Degrees of freedom of a difference between the items ``first`` ``(n,)`` and the others."""
    nothing = np.zeros(first.size)
    return _freedom(
        [_Part(nothing, weights, part, groups) for part in (first, ~first)], groups.count
    )


class _Part:
    """One part's mean, and each question's influence on it."""

    def __init__(
        self, y: FloatArray, w: FloatArray, part: NDArray[np.bool_], groups: Clusters
    ) -> None:
        inside = np.where(part, w, 0.0)
        sums = groups.sums(np.column_stack([inside * y, inside, inside * inside]))
        self.weight = float(sums[:, 1].sum())
        self.mean = float(sums[:, 0].sum() / self.weight)
        self.share = sums[:, 1] / self.weight
        self.squares = sums[:, 2] / self.weight**2
        self.n = int(part.sum())
        self.units = int(np.count_nonzero(sums[:, 1]))
        residual = sums[:, 0] / self.weight - self.mean * self.share
        # a question that holds a large share of the part has drawn the mean to itself
        left = np.sqrt(np.maximum(1 - self.share, 1e-12))
        self.influence = np.where(self.share < 1, residual / left, 0.0)


def _variance(parts: list[_Part]) -> float:
    u = parts[0].influence - parts[1].influence
    return float(u @ u)


def _freedom(parts: list[_Part], count: int) -> float:
    """Satterthwaite's degrees of freedom, were all items correlated alike within questions."""
    one, two = parts
    expected = (1 - ASSUMED_ICC) * (one.squares + two.squares) + ASSUMED_ICC * (
        one.share - two.share
    ) ** 2
    df = float(expected.sum() ** 2 / (expected @ expected)) - 1
    return max(min(df, count - 1.0), 1.0)


def _warnings(y: FloatArray, groups: Clusters, w: FloatArray, df: float, unit: Unit) -> list[str]:
    out = data_warnings(groups, w, df=df, unit=unit)
    values, counts = np.unique(y, return_counts=True)
    odd = y.size - int(counts.max())
    if values.size > 1 and odd < FEW_DIFFERING:
        out.append(f"rests on {odd} items that differ from the others (fewer than 10)")
    return out


def _method(unit: Unit) -> str:
    if unit == "question":
        return "linearised t on the difference by question, a pair of pseudo-questions in each part"
    return (
        "linearised t on the difference by item, a pair of pseudo-items in each part;"
        " items taken as independent"
    )
