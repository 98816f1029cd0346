"""How far a judge's scores lie from people's: mean absolute difference and signed bias."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .cautions import data_warnings, too_few
from .clusters import (
    Clusters,
    FloatArray,
    Sums,
    Unit,
    check_confidence,
    check_unit,
    effective_size,
    leave_one_out,
    unit_mean_weights,
    without_rounding,
)
from .correlation import equal_share, paired_scores
from .intervals import LOG, jackknife_limits, t_quantile
from .result import Estimate

__all__ = ["bias", "mad"]

_LEAST_MAD = 10
_LEAST_BIAS = 6


def mad(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """By how much do two scores of the same response differ, whichever way?

    Parameters
    ----------
    judge, human
        ``(n,)`` scores of the same responses; no NaN (the caller drops and counts).
    clusters
        ``(n,)`` integer codes of the responses' questions.
    weights
        ``(n,)`` positive, e.g. inverse inclusion probabilities; None means equal.
    confidence
        Of the interval, in (0, 1).
    unit
        ``question``, or ``item``, which takes responses as independent.

    Returns
    -------
    Estimate
        In units of the score, 0 or more; 0 only when all scores are equal, and then without an
        interval (``details`` hold the share of equal scores and its interval). The interval is
        the question jackknife's on the log scale with t; none below 10 questions, nor when all
        differing responses belong to one question. ``details``: ``se`` (linearised by question),
        ``effective_n``, ``df``, ``differing``.

    Raises
    ------
    InputError
        Arrays of different lengths, NaN or infinite scores, bad weights.
    """
    check_confidence(confidence)
    check_unit(unit)
    y, x = paired_scores(judge, human)
    groups = Clusters.of(clusters, x.size)
    w = unit_mean_weights(weights, x.size)
    if x.size == 0:
        return Estimate("mad", math.nan, confidence=confidence, unit=unit, reason="no items")
    d = np.abs(y - x)
    scale = float(d.max()) or 1.0  # in units of the largest, so that no unit of score is special
    sums = Sums(np.column_stack([w * d / scale, w]), groups)
    theta = sums.value(_ratio)
    se, design = sums.linearised(_ratio)
    by = sums.by(unit)
    df = groups.df if unit == "question" else float(x.size - 1)
    differing = int((d > 0).sum())
    details: dict[str, object] = {"differing": differing}
    reason = too_few(len(by), _LEAST_MAD, unit)
    away = leave_one_out(_ratio, by)
    low = high = math.nan
    if differing == 0:
        reason = "all scores are equal: the log scale has no interval at 0"
        details["equal"] = equal_share(y, x, clusters, weights, confidence, unit)
    elif reason is None and np.count_nonzero(by[:, 0]) == 1:
        reason = f"no interval: all differing responses belong to one {unit}"
    elif reason is None:
        low, high = jackknife_limits(theta, away, scale=LOG, df=df, confidence=confidence)
    return Estimate(
        "mad",
        theta * scale,
        low * scale,
        high * scale,
        confidence=confidence,
        method=_by(unit, "jackknife t on the log scale"),
        unit=unit,
        n=x.size,
        clusters=groups.count,
        design_effect=design,
        reason=reason,
        warnings=tuple(data_warnings(groups, w, df=df, unit=unit)),
        details={
            **details,
            "se": se * scale,
            "df": df,
            "effective_n": effective_size(x.size, design),
        },
    )


def bias(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """Does the judge score higher (positive) or lower (negative) than people, and by how much?

    Parameters and errors as :func:`mad`.

    Returns
    -------
    Estimate
        The mean of judge - human, in units of the score. The interval is the linearised one by
        question with t, the variance enlarged by one pair of pseudo-questions that differ by plus
        and minus the largest difference seen, since errors that are rare and one-sided make the
        plain one too short. No interval below 6 questions, nor when all differences are the same.
        ``details``: ``se`` (linearised by question, without the pair), ``effective_n``, ``df``,
        ``differing``.
    """
    check_confidence(confidence)
    check_unit(unit)
    y, x = paired_scores(judge, human)
    groups = Clusters.of(clusters, x.size)
    w = unit_mean_weights(weights, x.size)
    if x.size == 0:
        return Estimate("bias", math.nan, confidence=confidence, unit=unit, reason="no items")
    d = y - x
    scale = float(np.abs(d).max()) or 1.0
    sums = Sums(np.column_stack([w * d / scale, w]), groups)
    theta = without_rounding(sums.value(_ratio))
    se, design = sums.linearised(_ratio)
    n = float(x.size)
    by = sums.by(unit)
    g = len(by)
    df = groups.df if unit == "question" else n - 1
    differing = int((d != 0).sum())
    reason = too_few(g, _LEAST_BIAS, unit)
    out = Estimate(
        "bias",
        theta * scale,
        confidence=confidence,
        method=_by(unit, "linearised t with one pair of pseudo-")
        + ("questions" if unit == "question" else "items"),
        unit=unit,
        n=x.size,
        clusters=groups.count,
        design_effect=design,
        reason=reason,
        warnings=tuple(data_warnings(groups, w, df=df, unit=unit)),
        details={
            "differing": differing,
            "se": se * scale,
            "df": df,
            "effective_n": effective_size(n, design),
        },
    )
    # scores far apart in size leave rounding in their difference
    if np.ptp(d) <= 1e-12 * max(float(np.abs(x).max()), float(np.abs(y).max())):
        details = dict(out.details)
        if differing == 0:
            details["equal"] = equal_share(y, x, clusters, weights, confidence, unit)
        return replace(out, reason="all differences are the same: no variation", details=details)
    if reason is not None:
        return out
    residual = by[:, 0] - theta * by[:, 1]
    # the pair lies at plus and minus the largest difference, which is 1 here
    variance = g / (g - 1) * (residual @ residual + 2) / n**2
    reach = t_quantile(confidence, df) * math.sqrt(variance)
    return replace(out, low=(theta - reach) * scale, high=(theta + reach) * scale)


def _ratio(totals: FloatArray) -> FloatArray:
    return totals[..., 0] / totals[..., 1]


def _by(unit: Unit, how: str) -> str:
    if unit == "question":
        return f"question {how}"
    return f"item {how}; responses taken as independent"
