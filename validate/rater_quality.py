"""One annotator beside the others: agreement, change over time, speed. Evidence, not a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtr

from .cautions import FEW_DISAGREEMENTS, data_warnings, too_few
from .clusters import (
    Clusters,
    FloatArray,
    IntArray,
    Sums,
    Unit,
    effective_size,
    linearised_se,
    unit_mean_weights,
    without_rounding,
)
from .intervals import t_quantile
from .rated import BoolArray, positive
from .result import Estimate

__all__ = ["PairSums", "Speed", "against_rest", "drift", "speeds"]

_LEAST = 10
"""Fewest questions for an interval, and a test."""
_LEAST_SHARED = 10
"""From so many items on that others rated twice too, people are compared on the same items."""
_LEAST_ITEMS = 30
"""Fewest items in time for a slope."""
_BATCH = 0.5
"""Below this share of distinct times they are those of a batch, and no order."""
_FAST = 1 / 3


@dataclass(frozen=True, slots=True, eq=False)
class PairSums:
    """What each annotator's ratings come to beside each other annotator's of the same item.

    Parameters
    ----------
    value
        ``(n, R)`` sum over the others of whether they agree (or of their distances).
    pairs
        ``(n, R)`` how many others there are; 0 where the annotator did not rate the item.
    distance
        Whether more is worse.
    """

    value: FloatArray
    pairs: FloatArray
    distance: bool

    @classmethod
    def of_labels(cls, codes: IntArray, k: int) -> PairSums:
        """From codes ``(n, R)``, below 0 where missing."""
        rated = codes >= 0
        votes = np.stack([(codes == label).sum(axis=1) for label in range(k)], axis=1)
        same = np.take_along_axis(votes, np.maximum(codes, 0), axis=1) - 1
        others = rated.sum(axis=1, keepdims=True) - 1
        return cls(
            np.where(rated, same, 0).astype(float), np.where(rated, others, 0).astype(float), False
        )

    @classmethod
    def of_numbers(cls, values: FloatArray) -> PairSums:
        """From numbers ``(n, R)``, NaN where missing."""
        rated = ~np.isnan(values)
        given = np.where(rated, values, 0.0)
        total = np.zeros(values.shape)
        for c in range(values.shape[1]):
            apart = np.abs(given - given[:, [c]]) * (rated & rated[:, [c]])
            total[:, c] = apart.sum(axis=1)
        others = rated.sum(axis=1, keepdims=True) - 1
        return cls(total, np.where(rated, others, 0).astype(float), True)

    def of(self, rater: int) -> tuple[FloatArray, BoolArray]:
        """``(n,)`` one annotator's mean beside the others, and where there is one."""
        given = np.asarray(self.pairs[:, rater] > 0)
        share = np.divide(
            self.value[:, rater], self.pairs[:, rater], out=np.zeros(len(given)), where=given
        )
        return share, given


def against_rest(
    sums: PairSums,
    rater: int,
    *,
    clusters: IntArray,
    weights: FloatArray | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """Does an annotator agree with the others less than these agree with one another?

    Parameters
    ----------
    sums
        Of all annotators.
    rater
        The annotator's column.
    clusters, weights, confidence, unit
        As :func:`~accord.validate.chance.cohen_kappa`.

    Returns
    -------
    Estimate
        ``agreement_difference``: share of agreeing pairs that the annotator is in, minus that of
        the other pairs (``mad_difference``: of their mean distances, where more is worse). Where
        enough of the annotator's items have two other ratings both are taken on these items, else
        on all (``same_items`` in ``details``). Linearised t by question. ``details``: ``own``,
        ``rest``, ``disagreements`` (items where the annotator differs from somebody), ``p``
        (one-sided, for "less than the others"; NaN below 10 such items or 10 questions).
        Undefined with two annotators: a disagreement is then as much the one's as the other's.
    """
    name = "mad_difference" if sums.distance else "agreement_difference"
    own, pairs = sums.value[:, rater], sums.pairs[:, rater]
    rest = sums.value.sum(axis=1) / 2 - own
    left = sums.pairs.sum(axis=1) / 2 - pairs
    shared = (pairs > 0) & (left > 0)
    same = int(shared.sum()) >= _LEAST_SHARED
    used = shared if same else (pairs > 0) | (left > 0)
    out = Estimate(name, math.nan, confidence=confidence, unit=unit, n=int((pairs > 0)[used].sum()))
    if not pairs[used].any():
        return replace(out, reason="no item has a rating by another annotator")
    if not left[used].any():
        return replace(out, reason="no two others rated the same item: nobody to compare with")
    n = int(used.sum())
    groups = Clusters.of(clusters[used], n)
    w = unit_mean_weights(None if weights is None else weights[used], n)
    scale = float(sums.value.max()) or 1.0
    table = np.column_stack([own, pairs, rest, left])[used] * w[:, None]
    table[:, [0, 2]] /= scale
    made = Sums(table, groups)

    def f(t: Any) -> Any:
        first, second = positive(t[..., 1], np.ones(())), positive(t[..., 3], np.ones(()))
        return t[..., 0] / first - t[..., 2] / second

    theta = without_rounding(made.value(f))
    se, design = made.linearised(f)
    df = groups.df if unit == "question" else float(n - 1)
    apart = own > 0 if sums.distance else own < pairs
    disagreements = int((apart & used).sum())
    reason = too_few(groups.count if unit == "question" else n, _LEAST, unit)
    said = list(data_warnings(groups, w, df=df, unit=unit))
    p = math.nan
    low = high = math.nan
    if reason is None and not se > 1e-12:
        reason = "no interval: no variation"
    if reason is None:
        reach = t_quantile(confidence, df) * se
        low, high = theta - reach, theta + reach
        t = theta / se
        if disagreements >= FEW_DISAGREEMENTS:
            p = float(stdtr(df, -t if sums.distance else t))
    if disagreements < FEW_DISAGREEMENTS:
        said.append(f"rests on {disagreements} disagreeing items (fewer than 10): not tested")
    total = table.sum(axis=0)
    return replace(
        out,
        estimate=theta * scale,
        low=low * scale,
        high=high * scale,
        method=f"linearised t by {'question' if unit == 'question' else 'item'}",
        clusters=groups.count,
        design_effect=design,
        reason=reason,
        warnings=tuple(said),
        details={
            "own": float(total[0] / total[1]) * scale,
            "rest": float(total[2] / total[3]) * scale,
            "same_items": same,
            "disagreements": disagreements,
            "p": p,
            "se": se * scale,
            "df": df,
            "effective_n": effective_size(out.n, design),
        },
    )


def drift(
    sums: PairSums,
    rater: int,
    times: FloatArray,
    *,
    clusters: IntArray,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """Does an annotator's agreement with the others change as the work goes on?

    Parameters
    ----------
    times
        ``(n,)`` when the annotator rated each item, as numbers; NaN where unknown.
    sums, rater, clusters, confidence, unit
        As :func:`against_rest`.

    Returns
    -------
    Estimate
        ``drift_per_100_items``: the least-squares slope of an item's agreement (or distance) over
        its place in the annotator's own order, times 100; the standard error is linearised by
        question, since a question's items lie near one another in time. ``details``:
        ``first_third``, ``last_third`` (means), ``p`` (two-sided). Undefined below 30 items with a
        time, or where most times are the same. Unweighted: it is about the work, not the items.
        A slope may be the items' doing, if the harder ones came last.
    """
    share, given = sums.of(rater)
    used = given & ~np.isnan(times)
    n = int(used.sum())
    out = Estimate("drift_per_100_items", math.nan, confidence=confidence, unit=unit, n=n)
    if n < _LEAST_ITEMS:
        return replace(out, reason=f"{n} items with a time (fewer than {_LEAST_ITEMS})")
    at = times[used]
    if np.unique(at).size < _BATCH * n:
        return replace(out, reason="most times are the same: no order")
    order = np.argsort(at, kind="stable")
    _, start, size = np.unique(at, return_inverse=True, return_counts=True)
    # equal times share a place
    after = np.cumsum(size)
    place = (after[start] - (size[start] + 1) / 2).astype(float)
    y = share[used]
    x = (place - place.mean()) / 100
    spread = float(x @ x)
    slope = float(x @ (y - y.mean())) / spread
    groups = Clusters.of(clusters[used], n)
    influence = x * (y - y.mean() - slope * x) / spread
    by = groups.sums(influence[:, None])[:, 0] if unit == "question" else influence
    se = linearised_se(by)
    df = groups.df if unit == "question" else float(n - 2)
    third = n // 3
    first, last = y[order[:third]], y[order[n - third :]]
    reason = too_few(groups.count if unit == "question" else n, _LEAST, unit)
    if reason is None and not se > 1e-12:
        reason = "no interval: no variation"
    reach = t_quantile(confidence, df) * se if reason is None else math.nan
    p = float(2 * stdtr(df, -abs(slope) / se)) if reason is None else math.nan
    return replace(
        out,
        estimate=without_rounding(slope),
        low=slope - reach,
        high=slope + reach,
        method=f"least squares, linearised t by {'question' if unit == 'question' else 'item'}",
        clusters=groups.count,
        reason=reason,
        details={
            "first_third": float(first.mean()),
            "last_third": float(last.mean()),
            "p": p,
            "se": se,
            "df": df,
        },
    )


@dataclass(frozen=True, slots=True)
class Speed:
    """How long an annotator took.

    Parameters
    ----------
    items
        With a time.
    median
        Seconds an item; NaN without any.
    fast
        Share of the items that took less than a third of the median of all annotators' items.
    """

    items: int
    median: float
    fast: float


def speeds(seconds: FloatArray) -> list[Speed]:
    """Each annotator's, from seconds ``(n, R)``, NaN where unknown.

    The common median is that of all items of all annotators, so that somebody who is always fast
    stands out too.
    """
    known = ~np.isnan(seconds)
    middle = float(np.median(seconds[known])) if known.any() else math.nan
    out = []
    for c in range(seconds.shape[1]):
        own = seconds[known[:, c], c]
        if not own.size:
            out.append(Speed(0, math.nan, math.nan))
            continue
        fast = float((own < _FAST * middle).mean())
        out.append(Speed(int(own.size), float(np.median(own)), fast))
    return out
