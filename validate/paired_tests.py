"""Tests on pairs of scores: is a judge not worse, are two the same, by name.

A test answers one question asked beforehand; the interval beside it says how large the difference
is, and is what to read first. Without ``clusters`` pairs are taken as independent.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from ..scoring.errors import SettingsError
from .clusters import Clusters, FloatArray, Sums
from .result import Estimate
from .score_intervals import paired_scores

__all__ = ["equivalence", "noninferiority", "wilcoxon_signed_rank"]

_DIGITS = 10
"""Digits of a difference that count; what is equal to so many is a tie."""


def noninferiority(
    x: ArrayLike,
    y: ArrayLike,
    *,
    margin: float,
    clusters: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Is the first score on average not worse than the second by more than a margin?

    Parameters
    ----------
    x, y
        ``(n,)`` scores of the same responses, more is better; no NaN.
    margin
        How much worse is still accepted, 0 or more, chosen before the data are seen; 0 asks
        whether the first is better.
    clusters
        ``(n,)`` integer codes of the responses' questions; None takes pairs as independent.
    confidence
        One-sided, in (0.5, 1).

    Returns
    -------
    Estimate
        ``mean_difference``, mean of x - y in units of the score. ``low`` is the one-sided bound
        (the test passes where it lies above -margin), ``high`` its mirror image, so that both are
        a two-sided interval of ``confidence`` 2c - 1. ``details``: ``t``, ``df``, one-sided ``p``
        of mean(x - y) <= -margin, ``se``, ``margin``. Undefined for fewer than two pairs (or
        questions), and without variation: equal differences have no test.

    Raises
    ------
    InputError
        Arrays of different lengths, NaN or infinite scores.
    SettingsError
        A margin below 0, a confidence outside (0.5, 1).
    """
    out = _mean_difference(x, y, margin, clusters, confidence)
    if out.reason is not None:
        return out
    d, df, se = out.estimate, float(out.details["df"]), float(out.details["se"])
    shift = (d + margin) / se
    p = float(stdtr(df, -shift))
    return replace(out, details={**out.details, "t": shift, "p": p, "margin": margin})


def equivalence(
    x: ArrayLike,
    y: ArrayLike,
    *,
    margin: float,
    clusters: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Do two scores differ on average by less than a margin, either way (TOST)?

    Parameters, result and errors as :func:`noninferiority`; the margin is above 0. Passed where
    the interval lies within the margin. ``details``: ``p_lower``, ``p_upper`` and ``p``, the larger
    of the two.

    References
    ----------
    Schuirmann 1987, J. Pharmacokinet. Biopharm. 15.
    """
    if margin == 0:
        raise SettingsError("a margin of 0 can never be met", cure="a margin above 0")
    out = _mean_difference(x, y, margin, clusters, confidence)
    if out.reason is not None:
        return out
    d, df, se = out.estimate, float(out.details["df"]), float(out.details["se"])
    lower, upper = float(stdtr(df, -(d + margin) / se)), float(stdtr(df, (d - margin) / se))
    found = {"p_lower": lower, "p_upper": upper, "p": max(lower, upper), "margin": margin}
    return replace(out, details={**out.details, **found})


def wilcoxon_signed_rank(
    x: ArrayLike,
    y: ArrayLike,
    *,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
) -> Estimate:
    """Does the first score tend to be higher than the second, by ranks of the differences?

    Parameters
    ----------
    x, y
        ``(n,)`` scores of the same responses; no NaN. Differences are compared to 10 digits of
        the largest score: the same difference computed in two ways is a tie.
    alternative
        ``greater``: x tends to be higher.

    Returns
    -------
    Estimate
        ``rank_biserial``: (ranks of positive - of negative differences) / all ranks, in [-1, 1];
        no interval. ``details``: ``statistic`` (the sum of ranks of positive differences), ``p``
        by the normal approximation with ties corrected for and no continuity correction. Equal
        pairs are left out and counted; where no pair differs the estimate is NaN with the reason
        and p is 1. Pairs are taken as independent.

    Raises
    ------
    InputError
        Arrays of different lengths, NaN or infinite scores.
    SettingsError
        An unknown alternative.

    References
    ----------
    Wilcoxon 1945, Biometrics Bull. 1; Kerby 2014, Compr. Psychol. 3.
    """
    if alternative not in ("two-sided", "greater", "less"):
        raise SettingsError(
            f"alternative {alternative!r} is unknown", cure="two-sided, greater or less"
        )
    a, b = paired_scores(x, y)
    d = _whole_differences(a, b)
    n = int((d != 0).sum())
    out = Estimate(
        "rank_biserial",
        math.nan,
        method="Wilcoxon signed ranks, normal approximation; pairs taken as independent",
        unit="item",
        n=n,
        clusters=n,
        dropped={"equal scores": d.size - n} if n < d.size else {},
        details={"p": 1.0, "alternative": alternative},
    )
    if n == 0:
        return replace(out, reason="no pair differs" if d.size else "no items")
    from scipy import stats

    d = d[d != 0]
    ranks = stats.rankdata(np.abs(d))
    positive, every = float(ranks[d > 0].sum()), float(ranks.sum())
    found = stats.wilcoxon(d, alternative=alternative, correction=False, method="approx")
    return replace(
        out,
        estimate=2 * positive / every - 1,
        reason="no interval: signed ranks have a test only",
        details={**out.details, "statistic": positive, "p": float(found.pvalue)},
    )


def _whole_differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """x - y as whole multiples of the 10th digit of the largest score."""
    largest = float(np.abs(np.concatenate([a, b])).max(initial=0.0))
    unit = 10.0 ** (math.ceil(math.log10(largest)) - _DIGITS) if largest else 1.0
    return np.asarray(np.round((a - b) / unit), dtype=float)


def _mean_difference(
    x: ArrayLike, y: ArrayLike, margin: float, clusters: ArrayLike | None, confidence: float
) -> Estimate:
    """The mean difference with its interval of 2 x confidence - 1; none has a reason."""
    if not 0.5 < confidence < 1:
        raise SettingsError(f"confidence {confidence} is not between 0.5 and 1", cure="e.g. 0.95")
    if not 0 <= margin < math.inf:
        raise SettingsError(f"margin {margin} is below 0 or no number", cure="e.g. 0.05")
    a, b = paired_scores(x, y)
    n = a.size
    groups = Clusters.each_item(n) if clusters is None else Clusters.of(clusters, n)
    unit = "item" if clusters is None else "question"
    how = "paired t; pairs taken as independent" if clusters is None else "paired t, SE by question"
    out = Estimate(
        "mean_difference",
        math.nan,
        confidence=2 * confidence - 1,
        method=f"{how}; one-sided {confidence:g}",
        unit=unit,
        n=n,
        clusters=groups.count,
        details={"margin": margin, "p": math.nan},
    )
    if groups.count < 2:
        few = "no items" if n == 0 else f"one {unit}: no spread"
        return replace(out, reason=few, estimate=float((a - b).mean()) if n else math.nan)
    d = a - b
    mean = float(d.mean())
    rounding = 1e-12 * max(float(np.abs(a).max()), float(np.abs(b).max()))
    if np.ptp(d) <= rounding:
        side = "beyond" if mean > -margin else "not beyond"
        why = f"no variation: all differences are {mean:g}, {side} the margin {-margin:g}"
        return replace(out, estimate=mean, reason=why)
    sums = Sums(np.column_stack([d, np.ones(n)]), groups)
    se, design = sums.linearised(lambda t: t[..., 0] / t[..., 1])
    if not se > rounding:
        # what differs inside each question cancels there: no question tells of another
        return replace(out, estimate=mean, reason=f"no variation between {unit}s: no test")
    df = groups.df
    reach = float(stdtrit(df, confidence)) * se
    return replace(
        out,
        estimate=mean,
        low=mean - reach,
        high=mean + reach,
        design_effect=design,
        details={**out.details, "se": se, "df": df},
    )
