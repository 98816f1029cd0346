"""How far a judge's scores lie from people's: MAD, RMSE, signed bias, limits of agreement."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import SettingsError
from .cautions import FEW_DIFFERING, data_warnings, too_few
from .clusters import (
    Clusters,
    FloatArray,
    Statistic,
    Sums,
    Unit,
    effective_size,
    kish,
    unit_mean_weights,
    without_rounding,
)
from .intervals import IDENTITY, LOG, Scale, t_quantile, z_quantile
from .methods import Asked, Method, few_disagreements, with_limits
from .resampling import Source, Summed, item_sums
from .result import Estimate
from .score_intervals import equal_share, few_differing, paired_scores

__all__ = ["bias", "limits_of_agreement", "mad", "mean_difference", "rmse"]

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
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
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
    method
        ``default`` is the ``jackknife``. By name, of the same unit: ``grouped-jackknife`` (200
        random groups of questions left out in turn), ``bootstrap-t``, ``percentile``, ``bca``.
    rng, resamples
        Of a method that draws: seed, generator or the panel's
        :class:`~accord.validate.resampling.Draws`; number of resamples, 199 or more.

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
    SettingsError
        An unknown method, one that draws without ``rng`` or with fewer than 199 resamples.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples)
    return _size("mad", 1, judge, human, clusters, weights, asked)


def rmse(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
) -> Estimate:
    """By how much do two scores of the same response differ, large differences counting more?

    Parameters, result and errors as :func:`mad`: the root of the mean squared difference, never
    below the mean absolute difference.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples)
    return _size("rmse", 2, judge, human, clusters, weights, asked)


def bias(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
) -> Estimate:
    """Does the judge score higher (positive) or lower (negative) than people, and by how much?

    Parameters and errors as :func:`mad`.

    Returns
    -------
    Estimate
        The mean of judge - human, in units of the score. The interval is the linearised one by
        question with t, the variance enlarged by one pair of pseudo-questions that differ by plus
        and minus the largest difference seen, since errors that are rare and one-sided make the
        plain one too short. Another ``method`` is of the plain mean, on its own scale. No interval
        below 6 questions, nor when all differences are the same.
        ``details``: ``se`` (linearised by question, without the pair), ``effective_n``, ``df``,
        ``differing``.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples)
    return _signed("bias", "bias", judge, human, clusters, weights, asked)


def mean_difference(
    after: ArrayLike, before: ArrayLike, *, clusters: ArrayLike, confidence: float = 0.95
) -> Estimate:
    """By how much does a mean score change between two ways to score, or to make, a response?

    Parameters
    ----------
    after, before
        ``(n,)`` scores of the same responses; no NaN (the caller drops and counts).
    clusters, confidence
        As :func:`mad`.

    Returns
    -------
    Estimate
        ``mean_difference``, the mean of after - before, in units of the score: else as
        :func:`bias`.

    Raises
    ------
    InputError
        Arrays of different lengths, NaN or infinite scores.
    """
    asked = Asked.of("default", confidence, "question", None, 1999)
    return _signed("mean_difference", "difference", after, before, clusters, None, asked)


def limits_of_agreement(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    coverage: float = 0.95,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
) -> tuple[Estimate, Estimate]:
    """Between which two differences does the judge lie from people, for most responses?

    Parameters
    ----------
    coverage
        The share of the differences that lies between the limits if they are normal, in (0, 1).
    judge, human, clusters, weights, confidence, unit, method, rng, resamples
        As :func:`mad`; ``item`` gives by default Bland and Altman's own interval of each limit.

    Returns
    -------
    tuple of two Estimate
        ``limit_of_agreement_lower`` and ``limit_of_agreement_upper``: mean of judge - human less
        and plus z standard deviations (divisor n - 1), in units of the score. The interval of
        each is the question jackknife's with t, on the plain scale; none below 10 questions, nor
        when all differences are the same. Undefined with fewer than two responses. ``details``:
        ``se`` (linearised by question), ``effective_n``, ``df``, ``differing``, ``sd``.

    Raises
    ------
    InputError
        Arrays of different lengths, NaN or infinite scores, bad weights.
    SettingsError
        A coverage outside (0, 1).

    References
    ----------
    Bland & Altman 1986, Lancet 327; 1999, Stat. Methods Med. Res. 8.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples)
    if not 0 < coverage < 1:
        raise SettingsError(f"coverage {coverage} is not between 0 and 1", cure="e.g. 0.95")
    y, x = paired_scores(judge, human)
    groups = Clusters.of(clusters, x.size)
    w = unit_mean_weights(weights, x.size)
    z = z_quantile(coverage)
    return (
        _limit("lower", -z, y, x, groups, w, clusters, weights, asked),
        _limit("upper", z, y, x, groups, w, clusters, weights, asked),
    )


def _signed(
    name: str,
    noun: str,
    after: ArrayLike,
    before: ArrayLike,
    clusters: ArrayLike,
    weights: ArrayLike | None,
    asked: Asked,
) -> Estimate:
    """The mean of after - before; warnings call it by ``noun``."""
    confidence, unit = asked.confidence, asked.unit
    y, x = paired_scores(after, before)
    groups = Clusters.of(clusters, x.size)
    w = unit_mean_weights(weights, x.size)
    if x.size == 0:
        return Estimate(name, math.nan, confidence=confidence, unit=unit, reason="no items")
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
        name,
        theta * scale,
        confidence=confidence,
        method=_by(unit, "linearised t with one pair of pseudo-")
        + ("questions" if unit == "question" else "items"),
        unit=unit,
        n=x.size,
        clusters=groups.count,
        design_effect=design,
        reason=reason,
        warnings=tuple(
            [*data_warnings(groups, w, df=df, unit=unit), *few_differing(f"the {noun}", differing)]
        ),
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
    if asked.method != "default":
        return _scaled(replace(out, estimate=theta), sums, _ratio, asked, IDENTITY, scale)
    residual = by[:, 0] - theta * by[:, 1]
    # the pair lies at plus and minus the largest difference, which is 1 here
    variance = g / (g - 1) * (residual @ residual + 2) / n**2
    reach = t_quantile(confidence, df) * math.sqrt(variance)
    return replace(out, low=(theta - reach) * scale, high=(theta + reach) * scale)


def _limit(
    side: str,
    z: float,
    y: FloatArray,
    x: FloatArray,
    groups: Clusters,
    w: FloatArray,
    clusters: ArrayLike,
    weights: ArrayLike | None,
    asked: Asked,
) -> Estimate:
    """One limit: the mean difference and z standard deviations."""
    confidence, unit, n = asked.confidence, asked.unit, x.size
    out = Estimate(
        f"limit_of_agreement_{side}",
        math.nan,
        confidence=confidence,
        unit=unit,
        n=n,
        clusters=groups.count,
    )
    if n < 2:
        return replace(out, reason="no items" if n == 0 else "one response: no spread")
    d = y - x
    centre, scale = float(d[0]), float(np.ptp(d))
    differing = int((d != 0).sum())
    # scores far apart in size leave rounding in their difference
    if scale <= 1e-12 * max(float(np.abs(x).max()), float(np.abs(y).max())):
        details: dict[str, object] = {"differing": differing, "sd": 0.0}
        if differing == 0:
            details["equal"] = equal_share(y, x, clusters, weights, confidence, unit)
        why = "all differences are the same: no variation"
        return replace(out, estimate=float(d.mean()), reason=why, details=details)
    u = (d - centre) / scale
    sums = Sums(np.column_stack([w, w * u, w * u * u]), groups)

    def variance(t: Any) -> Any:
        return (t[..., 2] - t[..., 1] ** 2 / t[..., 0]) / (t[..., 0] - 1)

    def f(t: Any) -> Any:
        v = variance(t)
        return t[..., 1] / t[..., 0] + z * np.sqrt(np.where(v.real > 1e-15, v, 0))

    theta, sd = sums.value(f), math.sqrt(float(variance(sums.total)))
    se, design = sums.linearised(f)
    df = groups.df if unit == "question" else float(n - 1)
    reason = too_few(groups.count if unit == "question" else n, _LEAST_MAD, unit)
    out = replace(
        out,
        estimate=centre + theta * scale,
        design_effect=design,
        reason=reason,
        warnings=tuple(data_warnings(groups, w, df=df, unit=unit)),
        details={
            "differing": differing,
            "sd": sd * scale,
            "se": se * scale,
            "df": df,
            "effective_n": effective_size(n, design),
        },
    )
    if reason is not None:
        return out
    if unit == "question" or asked.method != "default":
        made = _scaled(replace(out, estimate=theta), sums, f, asked, IDENTITY, scale)
        low, high = made.low + centre, made.high + centre
        return replace(made, estimate=out.estimate, low=low, high=high)
    size = kish(w)
    reach = t_quantile(confidence, n - 1) * sd * math.sqrt(1 / size + z * z / (2 * (size - 1)))
    return replace(
        out,
        low=centre + (theta - reach) * scale,
        high=centre + (theta + reach) * scale,
        method="Bland-Altman t on n; assumes independent, normal differences",
    )


def _scaled(
    out: Estimate,
    sums: Sums,
    f: Statistic,
    asked: Asked,
    on: Scale,
    scale: float,
) -> Estimate:
    """An interval by name, made in units of ``scale`` and told in those of the score."""
    form = Summed(sums if asked.unit == "question" else item_sums(sums), f)
    method = "jackknife" if asked.method == "default" else asked.method
    df = float(out.details["df"])
    said = few_disagreements(method, int(out.details["differing"]), FEW_DIFFERING)
    out = replace(out, warnings=(*out.warnings, *said))
    made = with_limits(out, form, method, asked, on, df, "responses")
    return replace(
        made, estimate=out.estimate * scale, low=made.low * scale, high=made.high * scale
    )


def _size(
    name: str,
    power: int,
    judge: ArrayLike,
    human: ArrayLike,
    clusters: ArrayLike,
    weights: ArrayLike | None,
    asked: Asked,
) -> Estimate:
    """The mean of ``|judge - human| ** power``, its root, and the log jackknife."""
    confidence, unit = asked.confidence, asked.unit
    y, x = paired_scores(judge, human)
    groups = Clusters.of(clusters, x.size)
    w = unit_mean_weights(weights, x.size)
    if x.size == 0:
        return Estimate(name, math.nan, confidence=confidence, unit=unit, reason="no items")
    d = np.abs(y - x)
    scale = float(d.max()) or 1.0  # in units of the largest, so that no unit of score is special
    sums = Sums(np.column_stack([w * (d / scale) ** power, w]), groups)

    def f(totals: Any) -> Any:
        mean = _ratio(totals)
        return mean if power == 1 else np.sqrt(mean)

    theta = sums.value(f)
    se, design = sums.linearised(f)
    by = sums.by(unit)
    df = groups.df if unit == "question" else float(x.size - 1)
    differing = int((d > 0).sum())
    details: dict[str, object] = {"differing": differing}
    reason = too_few(len(by), _LEAST_MAD, unit)
    if differing == 0:
        reason = "all scores are equal: the log scale has no interval at 0"
        details["equal"] = equal_share(y, x, clusters, weights, confidence, unit)
    elif reason is None and np.count_nonzero(by[:, 0]) == 1:
        reason = f"no interval: all differing responses belong to one {unit}"
    out = Estimate(
        name,
        theta,
        confidence=confidence,
        method=_by(unit, "jackknife t on the log scale") if asked.method == "default" else "",
        unit=unit,
        n=x.size,
        clusters=groups.count,
        design_effect=design,
        reason=reason,
        warnings=tuple(
            [*data_warnings(groups, w, df=df, unit=unit), *few_differing(name.upper(), differing)]
        ),
        details={
            **details,
            "se": se * scale,
            "df": df,
            "effective_n": effective_size(x.size, design),
        },
    )
    if reason is not None:
        return replace(out, estimate=theta * scale)
    return _scaled(out, sums, f, asked, LOG, scale)


def _ratio(totals: FloatArray) -> FloatArray:
    return totals[..., 0] / totals[..., 1]


def _by(unit: Unit, how: str) -> str:
    if unit == "question":
        return f"question {how}"
    return f"item {how}; responses taken as independent"
