"""P-values of correlations, and Fisher's interval on a given number of responses.

For comparison with what papers print: items are taken as independent, and a small p says no more
than that a correlation is not 0, which of a judge nobody doubts. The defaults, by question, are
:func:`~accord.validate.correlation.pearson` and its like.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from ..scoring.errors import SettingsError
from .clusters import FloatArray, check_confidence
from .correlation import pearson, spearman
from .intervals import z_quantile
from .rank_correlation import kendall_tau_b
from .result import Estimate
from .score_intervals import paired_scores

__all__ = ["Coefficient", "correlation_test", "fisher_interval"]

Coefficient = Literal["pearson", "spearman", "kendall_tau_b"]


def correlation_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    coefficient: Coefficient,
    exact: bool = False,
    confidence: float = 0.95,
) -> Estimate:
    """Is a correlation of two scores other than 0, responses taken as independent?

    Parameters
    ----------
    x, y
        ``(n,)`` scores of the same responses; no NaN.
    coefficient
        ``pearson`` and ``spearman`` (mid-ranks): Student's t with n - 2; ``kendall_tau_b``: the
        normal approximation with ties corrected for and no continuity correction.
    exact
        Kendall only: from the permutations of ranks without ties.
    confidence
        Of the item-level interval, in (0, 1).

    Returns
    -------
    Estimate
        The coefficient with its item-level interval (Fisher's z; Bonett and Wright's for Spearman;
        Kendall's is the item jackknife). ``details``: two-sided ``p``, and ``statistic`` (t) with
        its ``df``; for tau-b instead ``s`` (concordant less discordant pairs), ``x_ties`` and
        ``y_ties`` (tied pairs).
        Where the coefficient is undefined so is p; with two responses p is undefined.

    Raises
    ------
    InputError
        Arrays of different lengths, NaN or infinite scores; ``exact`` with ties.
    SettingsError
        An unknown coefficient, ``exact`` for another than Kendall's.

    References
    ----------
    Fisher 1921; Kendall 1970, Rank Correlation Methods, ch. 4; Bonett & Wright 2000.
    """
    calls = {"pearson": pearson, "spearman": spearman}
    if coefficient not in (*calls, "kendall_tau_b"):
        raise SettingsError(
            f"coefficient {coefficient!r} is unknown", cure="pearson, spearman or kendall_tau_b"
        )
    if exact and coefficient != "kendall_tau_b":
        raise SettingsError("exact is for kendall_tau_b", cure="leave it out")
    a, b = paired_scores(x, y)
    own = np.arange(a.size)
    if coefficient == "kendall_tau_b":
        out = kendall_tau_b(a, b, clusters=own, confidence=confidence, unit="item")
        return _kendall(out, a, b, exact)
    out = calls[coefficient](
        a, b, clusters=own, rng=0, resamples=0, confidence=confidence, unit="item"
    )
    n, r = a.size, out.estimate
    if math.isnan(r) or n < 3:
        return replace(out, details={**out.details, "p": math.nan})
    t = r * math.sqrt((n - 2) / (1 - r * r)) if abs(r) < 1 else math.copysign(math.inf, r)
    p = 2 * float(stdtr(n - 2, -abs(t))) if math.isfinite(t) else 0.0
    return replace(out, details={**out.details, "p": p, "statistic": t, "df": n - 2})


def fisher_interval(r: float, n: float, *, confidence: float = 0.95) -> Estimate:
    """Fisher's interval of a published correlation, on n or on an effective n.

    Parameters
    ----------
    r
        In [-1, 1].
    n
        Responses; an effective n (n over the design effect) need not be whole.
    confidence
        In (0, 1).

    Returns
    -------
    Estimate
        ``tanh(atanh r +- z / sqrt(n - 3))``; no interval for n of 3 or less, nor for r = 1 or -1.

    Raises
    ------
    SettingsError
        r or n that can't be, a confidence outside (0, 1).

    Examples
    --------
    >>> found = fisher_interval(0.965, 3313)
    >>> round(found.low, 4), round(found.high, 4)
    (0.9626, 0.9673)
    """
    check_confidence(confidence)
    if not -1 <= r <= 1:
        raise SettingsError(f"r = {r} is not between -1 and 1")
    if not 0 < n < math.inf:
        raise SettingsError(f"n = {n} is no number of responses")
    out = Estimate(
        "pearson",
        r,
        confidence=confidence,
        method="Fisher z on n; assumes independent, normal responses",
        unit="item",
        n=round(n),
        details={"effective_n": n},
    )
    if n <= 3:
        return replace(out, reason=f"no interval: {n:g} responses (more than 3)")
    if abs(r) == 1:
        return replace(out, reason=f"r is {r:+.0f} exactly: no interval")
    centre, reach = math.atanh(r), z_quantile(confidence) / math.sqrt(n - 3)
    return replace(out, low=math.tanh(centre - reach), high=math.tanh(centre + reach))


def _kendall(out: Estimate, a: FloatArray, b: FloatArray, exact: bool) -> Estimate:
    if math.isnan(out.estimate):
        return replace(out, details={**out.details, "p": math.nan})
    from scipy import stats

    ties = [float((c * (c - 1.0) / 2).sum()) for c in (_counts(a), _counts(b))]
    if exact and any(ties):
        raise SettingsError("exact: some scores are tied", cure="leave exact out")
    pairs = a.size * (a.size - 1) / 2
    s = out.estimate * math.sqrt((pairs - ties[0]) * (pairs - ties[1]))
    found = stats.kendalltau(a, b, variant="b", method="exact" if exact else "asymptotic")
    details = {"p": float(found.pvalue), "s": round(s), "x_ties": ties[0], "y_ties": ties[1]}
    return replace(out, details={**out.details, **details})


def _counts(v: FloatArray) -> FloatArray:
    return np.unique(v, return_counts=True)[1].astype(float)
