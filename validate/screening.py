"""A judge against people's labels as a screening test is reported: Youden's index, macro F1.

Their question jackknife covered 97 % (nominal 95 %) with 40 questions of 5 items.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .beyond_chance import left_out, located
from .cautions import data_warnings, hangs_on_one, too_few
from .clusters import (
    Clusters,
    FloatArray,
    IntArray,
    Statistic,
    Sums,
    Unit,
    check_confidence,
    check_unit,
    effective_size,
    leave_one_out,
    unit_mean_weights,
)
from .intervals import FISHER, Scale, jackknife_limits
from .rated import columns, rating_codes, side_by_side
from .result import Estimate

__all__ = ["macro_f1", "youden"]

_LEAST = 10
"""Fewest questions for which an interval is given."""
_EDGE = 1e-9
_LOGIT = Scale(
    "logit",
    lambda t: np.log(np.clip(t, _EDGE, 1 - _EDGE)) - np.log1p(-np.clip(t, _EDGE, 1 - _EDGE)),
    lambda t: 1 / (1 + np.exp(-t)),
    lambda t: 1 / np.maximum(t * (1 - t), 1e-12),
)


def macro_f1(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """How well does a judge find each label, rare labels counting as much as common ones?

    Parameters
    ----------
    judge, human
        ``(n,)`` codes 0..k-1, -1 = missing; people's label is the truth. Items that lack either are
        left out and counted: a reply that could not be read is a category only when it is coded as
        one.
    n_categories
        k, the number of declared categories.
    clusters
        ``(n,)`` integer codes of the items' questions.
    weights
        ``(n,)`` positive, e.g. inverse inclusion probabilities; None means equal.
    confidence
        Of the interval, in (0, 1).
    unit
        ``question``, or ``item``, which takes items as independent.

    Returns
    -------
    Estimate
        The plain mean of the F1 (2 tp / (2 tp + fp + fn)) of every category that the judge or
        people used, in [0, 1]. The interval is the question jackknife's on the logit scale with t;
        none below 10 questions nor at 0 or 1. ``details``: ``classes``, the F1 of each category
        (NaN where nobody used it), ``categories_used``, ``se``, ``df``, ``effective_n``. NaN with a
        reason without items.

    Raises
    ------
    InputError
        Arrays of different lengths, codes outside -1..k-1, bad weights.

    References
    ----------
    Opitz & Burst 2019, arXiv:1911.03347: the mean of F1, not the F1 of mean precision and recall.
    """
    check_confidence(confidence)
    check_unit(unit)
    k = n_categories

    def f(totals: Any) -> Any:
        given = totals[..., k:]
        used = given.real > 1e-12
        each = np.where(used, 2 * totals[..., :k] / np.where(used, given, 1), 0)
        return each.sum(axis=-1) / used.sum(axis=-1)

    def terms(x: IntArray, w: FloatArray) -> Any:
        rows, hit = np.arange(len(x)), np.flatnonzero(x[:, 0] == x[:, 1])
        # columns: hits of each category, then how often judge and people gave it
        return columns(
            (len(x), 2 * k),
            [(hit, x[hit, 0], w[hit]), (rows, k + x[:, 0], w), (rows, k + x[:, 1], w)],
        )

    out, totals = _estimate(
        "macro_f1", judge, human, k, clusters, weights, confidence, unit, terms, f, _LOGIT
    )
    if totals is None:
        return out
    given = totals[k:]
    each = np.divide(2 * totals[:k], given, out=np.full(k, math.nan), where=given > 0)
    used = {"classes": each.tolist(), "categories_used": int((given > 0).sum())}
    return replace(out, details={**out.details, **used})


def youden(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    positive: int,
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """How far does a judge tell right from wrong, whatever the share of right ones?

    Parameters
    ----------
    positive
        The code that counts as right.
    judge, human, n_categories, clusters, weights, confidence, unit
        As :func:`macro_f1`.

    Returns
    -------
    Estimate
        Sensitivity + specificity - 1, in [-1, 1]; 0 for a judge whose labels have nothing to do
        with people's. A score corrected for the judge's errors divides by it. The interval is the
        question jackknife's on Fisher's z with t; none below 10 questions nor at 1 or -1.
        ``details``: ``sensitivity``, ``specificity``, ``se``, ``df``, ``effective_n``. NaN with a
        reason where people gave only one of the two.

    References
    ----------
    Youden 1950, Cancer 3.
    """
    check_confidence(confidence)
    check_unit(unit)

    def parts(totals: Any) -> tuple[Any, Any]:
        yes, no = totals[..., 0], totals[..., 1]
        return (
            totals[..., 2] / np.where(yes.real > 0, yes, np.nan),
            totals[..., 3] / np.where(no.real > 0, no, np.nan),
        )

    def f(totals: Any) -> Any:
        found, left = parts(totals)
        return found + left - 1

    def terms(x: IntArray, w: FloatArray) -> Any:
        judged, true = x[:, 0] == positive, x[:, 1] == positive
        cells = (true, ~true, judged & true, ~judged & ~true)
        return np.column_stack([w * cell for cell in cells])

    out, totals = _estimate(
        "youden", judge, human, n_categories, clusters, weights, confidence, unit, terms, f, FISHER
    )
    if totals is None:
        return out
    found, left = (float(part) for part in parts(totals))
    out = replace(out, details={**out.details, "sensitivity": found, "specificity": left})
    if math.isnan(out.estimate):
        which = "positive" if totals[0] <= 0 else "negative"
        return replace(out, reason=f"people gave no {which} label")
    return out


def _estimate(
    name: str,
    judge: ArrayLike,
    human: ArrayLike,
    k: int,
    clusters: ArrayLike,
    weights: ArrayLike | None,
    confidence: float,
    unit: Unit,
    terms: Any,
    f: Statistic,
    scale: Scale,
) -> tuple[Estimate, FloatArray | None]:
    """The estimate with its jackknife interval, and the sums it is a function of."""
    x = rating_codes(side_by_side(judge, human), k)
    where, w = located(x, clusters, weights)
    used = np.asarray((x >= 0).all(axis=1))
    n = int(used.sum())
    groups = Clusters.of(where[used], n)
    out = Estimate(
        name,
        math.nan,
        confidence=confidence,
        unit=unit,
        n=n,
        clusters=groups.count,
        dropped=left_out(used, "a rating is missing"),
    )
    if n == 0:
        return replace(out, reason="no items" if not len(x) else "no item has both ratings"), None
    x, w = x[used], unit_mean_weights(w[used], n)
    sums = Sums(terms(x, w), groups)
    theta = sums.value(f)
    out = replace(out, warnings=tuple(data_warnings(groups, w, df=None, unit=unit)))
    if not math.isfinite(theta):
        return out, sums.total
    se, design = sums.linearised(f)
    df = groups.df if unit == "question" else float(n - 1)
    by = sums.by(unit)
    reason = too_few(len(by), _LEAST, unit)
    edge = theta > 1 - _EDGE or theta < (_EDGE if scale is _LOGIT else _EDGE - 1)
    low = high = math.nan
    if reason is None and edge:
        reason = f"no interval: {name} is {round(theta)} exactly"
    elif reason is None:
        away = leave_one_out(f, by)
        low, high = jackknife_limits(theta, away, scale=scale, df=df, confidence=confidence)
        reason = hangs_on_one(low, unit)
    method = f"{unit} jackknife t on the {scale.name} scale"
    found = replace(
        out,
        estimate=theta,
        low=low,
        high=high,
        method=method if unit == "question" else f"{method}; items taken as independent",
        design_effect=design,
        reason=reason,
        warnings=tuple(data_warnings(groups, w, df=df, unit=unit)),
        details={"se": se, "df": df, "effective_n": effective_size(n, design)},
    )
    return found, sums.total
