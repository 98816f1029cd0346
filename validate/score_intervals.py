"""The intervals that correlations of scores share, and the checks on scores.

The default is the bootstrap-t on Fisher's z over whole questions; without resampling, or where it
can't be had, the jackknife t on the same scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import InputError, SettingsError
from .cautions import FEW_DIFFERING, data_warnings, too_few
from .clusters import (
    Clusters,
    FloatArray,
    Statistic,
    Sums,
    Unit,
    check_confidence,
    check_unit,
    effective_size,
    gradient,
    jackknife_se,
    leave_one_out,
    resample_counts,
    unit_mean_weights,
    without_rounding,
)
from .intervals import FISHER, bootstrap_t_limits, t_quantile
from .proportions import clustered_proportion
from .result import Estimate

__all__ = [
    "Association",
    "Moments",
    "association",
    "equal_share",
    "paired_scores",
    "resampled_se",
    "score_table",
]

_LEAST = 10
"""Fewest questions for which an interval is given."""
_RELIABLE = 20
"""Fewest questions at which the interval was seen to cover well."""
_USABLE = 0.9
"""Share of usable pivots under which the bootstrap-t is given up for the jackknife."""
_FEWEST_RESAMPLES = 199


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


def score_table(ratings: ArrayLike) -> FloatArray:
    """Scores ``(n, raters)`` of two raters or more, finite; rounding taken out.

    Raises
    ------
    InputError
        Another shape, or a score that is NaN or infinite.
    """
    raw = np.asarray(ratings, dtype=float)
    if raw.ndim != 2 or raw.shape[1] < 2:
        raise InputError(f"scores are (responses, 2 or more raters), got shape {raw.shape}")
    rest = [paired_scores(raw[:, 0], raw[:, j])[1] for j in range(1, raw.shape[1])]
    return np.column_stack([raw[:, 0], *rest])


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


class Association(Protocol):
    """A correlation of scores under question weights."""

    width: int

    def value(self) -> float: ...

    def linearised(self) -> tuple[float, float]: ...

    def leave_one_out(self) -> FloatArray | None: ...

    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]: ...


class Moments:
    """A correlation that is a function of per-question sums.

    Parameters
    ----------
    columns
        ``(n, q)`` columns of items, weights in them.
    f
        The correlation from totals ``(..., q)``.
    """

    width = 0

    def __init__(self, columns: FloatArray, f: Statistic, groups: Clusters) -> None:
        self.sums, self.f = Sums(columns, groups), f

    def value(self) -> float:
        return self.sums.value(self.f)

    def linearised(self) -> tuple[float, float]:
        return self.sums.linearised(self.f)

    def leave_one_out(self) -> FloatArray:
        return leave_one_out(self.f, self.sums.by_question)

    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        s = self.sums.by_question
        totals = counts @ s
        with np.errstate(all="ignore"):
            values = np.asarray(self.f(totals), dtype=float)
            influence = gradient(self.f, totals) @ s.T
        return values, resampled_se(counts, influence)


def association(
    name: str,
    symbol: str,
    scores: FloatArray,
    make: Callable[[FloatArray, Clusters], Association],
    *,
    clusters: ArrayLike,
    rng: np.random.Generator | int,
    resamples: int,
    weights: ArrayLike | None,
    confidence: float,
    unit: Unit,
    independent: Callable[[Estimate, FloatArray], Estimate] | None,
) -> Estimate:
    """A correlation with its interval: the bootstrap-t on Fisher's z, or the jackknife t.

    Parameters
    ----------
    name, symbol
        The figure's name, and what a sentence calls it.
    scores
        ``(n, raters)``, of :func:`paired_scores` or :func:`score_table`.
    make
        The correlation from weights of mean 1 ``(n,)`` and the questions.
    independent
        The interval that takes responses as independent, from the estimate and the weights; None
        for the jackknife with each response its own cluster.
    """
    check_confidence(confidence)
    check_unit(unit)
    if resamples != 0 and resamples < _FEWEST_RESAMPLES:
        raise SettingsError(
            f"{resamples} resamples are too few for a bootstrap-t",
            cure=f"{_FEWEST_RESAMPLES} or more, or 0 for the jackknife t",
        )
    n = len(scores)
    groups = Clusters.of(clusters, n)
    w = unit_mean_weights(weights, n)
    out = Estimate(name, math.nan, confidence=confidence, unit=unit, n=n, clusters=groups.count)
    if n < 2:
        why = "no items" if n == 0 else "one response: nothing to correlate"
        return replace(out, reason=why)
    unequal = (scores != scores[:, :1]).any(axis=1)
    differing = int(unequal.sum())
    said = data_warnings(groups, w, df=None, unit=unit)
    out = replace(out, warnings=tuple(said), details={"differing": differing})
    if differing == 0:
        share = clustered_proportion(
            ~unequal, clusters=clusters, weights=weights, confidence=confidence, unit=unit
        )
        out = replace(out, details={**out.details, "equal": replace(share, name="equal")})
    reason = _constant(scores)
    if reason is not None:
        return replace(out, reason=reason)
    form = make(w, groups)
    theta = form.value()
    if not math.isfinite(theta):
        return replace(out, reason="a score is constant but for rounding")
    if abs(theta) < 1 + 1e-9:
        theta = without_rounding(min(max(theta, -1.0), 1.0))
    se, design = form.linearised()
    df = groups.df if unit == "question" else float(n - 1)
    out = replace(
        out,
        estimate=theta,
        design_effect=design,
        warnings=tuple([*data_warnings(groups, w, df=df, unit=unit), *_few(symbol, differing)]),
        details={**out.details, "se": se, "effective_n": effective_size(n, design)},
    )
    if 1 - abs(theta) < 1e-12:
        line = "all scores are equal" if differing == 0 else f"{name} is {theta:+.0f} exactly"
        if theta < -1 - 1e-9:
            line = f"{name} is below -1"
        return replace(out, reason=f"{line}: no interval")
    if unit == "item" and independent is not None:
        return independent(out, w)
    out = replace(out, details={**out.details, "df": df})
    if unit == "item":
        reason = too_few(n, _LEAST, unit)
        if reason is not None:
            return replace(out, reason=reason)
        each = Clusters.each_item(n)
        got = _by_question(out, make(w, each), each, np.random.default_rng(rng), 0, df)
        how = got.method.replace("question", "item") + "; responses taken as independent"
        return replace(got, method=how)
    if groups.count < _RELIABLE:
        said = [*out.warnings, "correlation intervals below 20 questions are unreliable"]
        out = replace(out, warnings=tuple(said))
    reason = too_few(groups.count, _LEAST, unit)
    if reason is not None:
        return replace(out, reason=reason)
    return _by_question(out, form, groups, np.random.default_rng(rng), resamples, df)


def _constant(scores: FloatArray) -> str | None:
    """Why no correlation is defined; None where it is."""
    # what varies in the last digits only is rounding, and would correlate as such
    flat = np.ptp(scores, axis=0) <= 1e-12 * np.abs(scores).max(axis=0)
    if flat.all():
        which = "both scores are" if flat.size == 2 else "all scores are"
    elif flat.any() and flat.size == 2:
        which = f"the {'first' if flat[0] else 'second'} score is"
    else:
        return None
    return f"{which} constant: a correlation is undefined"


def _few(symbol: str, differing: int) -> list[str]:
    if 0 < differing < FEW_DIFFERING:
        return [f"{symbol} rests on {differing} differing responses (fewer than 10)"]
    return []


def _by_question(
    out: Estimate,
    form: Association,
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


def resampled_se(counts: FloatArray, influence: FloatArray) -> FloatArray:
    """Linearised standard error in each resample, from influence values ``(b, G)``."""
    g = counts.shape[1]
    with np.errstate(all="ignore"):
        centred = influence - (counts * influence).sum(axis=1, keepdims=True) / g
        return np.asarray(
            np.sqrt(g / (g - 1) * (counts * centred * centred).sum(axis=1)), dtype=float
        )
