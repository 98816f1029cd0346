"""Proportions: the binomial intervals by name, and the one for items that lie in questions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from ..scoring.errors import InputError, SettingsError
from .cautions import FEW_MINORITY_ITEMS, data_warnings, too_few
from .clusters import (
    ASSUMED_ICC,
    FADE,
    Clusters,
    FloatArray,
    Sums,
    Unit,
    check_confidence,
    kish,
    leave_one_out,
    unit_mean_weights,
)
from .intervals import IDENTITY, t_quantile, wilson_limits, z_quantile
from .methods import PROPORTION_METHODS, Asked, Method, few_disagreements, with_limits
from .resampling import Source, Summed, item_sums
from .result import Estimate

__all__ = [
    "agresti_coull",
    "clopper_pearson",
    "clustered_proportion",
    "fading_floor",
    "jeffreys",
    "one_sided_upper",
    "wilson",
]

_LEAST = 6
"""Fewest questions for which an interval is given."""


def wilson(x: int, n: int, *, confidence: float = 0.95) -> Estimate:
    """What share of independent items has a property? Wilson's score interval with z.

    Parameters
    ----------
    x, n
        Items with the property, and all items; 0 <= x <= n.
    confidence
        Of the interval, in (0, 1).

    Returns
    -------
    Estimate
        In [0, 1]; NaN with a reason when n = 0. The limits are exactly 0 at x = 0 and 1 at x = n.

    Raises
    ------
    SettingsError
        Counts that are no counts, or a confidence outside (0, 1).

    References
    ----------
    Wilson 1927, JASA 22.

    Examples
    --------
    >>> audit = wilson(8, 481)
    >>> round(audit.low, 6), round(audit.high, 6)
    (0.008451, 0.032472)
    """
    _check_counts(x, n)
    check_confidence(confidence)
    limits = wilson_limits(x / n, n, z_quantile(confidence)) if n else None
    return _plain(x, n, limits, confidence, "Wilson score interval, z")


def clopper_pearson(x: int, n: int, *, confidence: float = 0.95) -> Estimate:
    """The exact binomial interval of Clopper and Pearson: never covers less than it says.

    Parameters, result and errors as :func:`wilson`. (Clopper & Pearson 1934, Biometrika 26.)
    """
    _check_counts(x, n)
    tail = (1 - check_confidence(confidence)) / 2
    limits = None
    if n:
        low = 0.0 if x == 0 else float(betaincinv(x, n - x + 1, tail))
        high = 1.0 if x == n else float(betaincinv(x + 1, n - x, 1 - tail))
        limits = (low, high)
    return _plain(x, n, limits, confidence, "Clopper-Pearson exact interval")


def jeffreys(x: int, n: int, *, confidence: float = 0.95) -> Estimate:
    """Jeffreys' interval: beta quantiles with x + 1/2, n - x + 1/2; 0 at x = 0, 1 at x = n.

    Parameters, result and errors as :func:`wilson`. (Brown, Cai & DasGupta 2001, Stat. Sci. 16.)
    """
    _check_counts(x, n)
    tail = (1 - check_confidence(confidence)) / 2
    limits = None
    if n:
        low = 0.0 if x == 0 else float(betaincinv(x + 0.5, n - x + 0.5, tail))
        high = 1.0 if x == n else float(betaincinv(x + 0.5, n - x + 0.5, 1 - tail))
        limits = (low, high)
    return _plain(x, n, limits, confidence, "Jeffreys interval")


def agresti_coull(x: int, n: int, *, confidence: float = 0.95) -> Estimate:
    """Agresti and Coull's interval: Wald's with z^2/2 added to both counts, cut to [0, 1].

    Parameters, result and errors as :func:`wilson`. (Agresti & Coull 1998, Am. Stat. 52.)
    """
    _check_counts(x, n)
    z = z_quantile(check_confidence(confidence))
    limits = None
    if n:
        size = n + z * z
        middle = (x + z * z / 2) / size
        half = z * math.sqrt(middle * (1 - middle) / size)
        limits = (max(middle - half, 0.0), min(middle + half, 1.0))
    return _plain(x, n, limits, confidence, "Agresti-Coull interval")


def one_sided_upper(x: float, n: float, *, confidence: float = 0.95) -> float:
    """The exact one-sided upper bound; at x = 0 it is 1 - (1 - confidence)^(1/n).

    Parameters
    ----------
    x, n
        Counts; need not be whole, so that an effective n can be put in.
    """
    return 1.0 if x >= n else float(betaincinv(x + 1, n - x, check_confidence(confidence)))


def clustered_proportion(
    y: ArrayLike,
    *,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    among: ArrayLike | None = None,
    hits: Literal[1, 2] = 1,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
) -> Estimate:
    """What share of items, several to a question, has a property?

    Wilson's interval with Student's t on the effective number of items. The design effect is the
    largest of 1, the one measured by the question jackknife, and a floor of ICC 0.2 that fades
    out as items of the rarer outcome grow (with few errors the data can't show clustering).

    Parameters
    ----------
    y
        ``(n,)``, each in [0, 1]: whether (or to which share) the item has the property.
    clusters
        ``(n,)`` integer codes of the items' questions.
    weights
        ``(n,)`` positive, e.g. inverse inclusion probabilities; None means equal.
    among
        ``(n,)`` whether the item is one of those that the share is of (all when None). The others
        count only in the standard error and design effect: which items are among them is itself
        left to chance, so a question without any counts there, with 0.
    hits
        How often an item that has the property counts, 1 or (as in F1) 2; unlike a weight it says
        nothing of how items were drawn.
    confidence
        Of the interval, in (0, 1).
    unit
        ``question``, or ``item`` for Wilson with z, which takes items as independent.
    method
        ``default``, or by name ``korn-graubard`` (the exact interval on the effective n, without
        the floor), ``percentile`` or ``bca`` over questions (or items).
    rng, resamples
        Of a method that draws: seed, generator or the panel's
        :class:`~accord.validate.resampling.Draws`; number of resamples, 199 or more.

    Returns
    -------
    Estimate
        In [0, 1]. NaN with a reason without items; no interval below 6 questions. ``details``:
        ``se`` (linearised by question), ``effective_n``, ``design_effect_used``, ``df``,
        ``minority`` (items of the rarer outcome), and at 0 or 1 the one-sided bound.

    Raises
    ------
    InputError
        Arrays of different lengths, values outside [0, 1] or not a number, bad weights.
    SettingsError
        A method that proportions don't have, or one that draws without ``rng``.

    References
    ----------
    Wilson 1927; effective size and t: Korn & Graubard 1998, Dean & Pagano 2015; clustered Wilson:
    Saha, Miller & Wang 2016. The fading floor is accord's, chosen by measured coverage.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples, known=PROPORTION_METHODS)
    share = _shares(y)
    everywhere = Clusters.of(clusters, share.size)
    w = unit_mean_weights(weights, share.size)
    chosen = np.ones(share.size, dtype=bool) if among is None else np.asarray(among, dtype=bool)
    share, n = share[chosen], int(chosen.sum())
    groups = Clusters.of(everywhere.codes[chosen], n)
    w = unit_mean_weights(w[chosen], n)
    if n == 0:
        return Estimate("proportion", math.nan, confidence=confidence, unit=unit, reason="no items")
    mass = w * (1 + (hits - 1) * share)
    sums = Sums(np.column_stack([mass * share, mass]), groups)
    p = min(max(sums.value(_ratio), 0.0), 1.0)
    if np.all(share == share[0]):
        p = float(share[0])  # no rounding where every item says the same
    se, design = sums.linearised(_ratio)
    if 1 < groups.count < everywhere.count:
        # G/(G - 1) of all questions; those without such items have the influence 0
        more = everywhere.count / (everywhere.count - 1) * (groups.count - 1) / groups.count
        se, design = se * math.sqrt(more), design * more
    rare = float(min(share.sum(), n - share.sum()))
    details: dict[str, object] = {"se": se, "minority": round(rare, 12)}
    low = high = math.nan
    size = kish(w) if hits == 1 else _informative(p, share, mass, w)
    df = groups.effective_df if unit == "question" else None
    warned = data_warnings(groups, w, df=df, unit=unit)
    if df is None:
        reason = None
        how = "Wilson score interval, z; items taken as independent"
        effective = size
        low, high = wilson_limits(p, size, z_quantile(confidence))
    else:
        reason = too_few(groups.count, _LEAST, unit)
        how = "Wilson score interval on the effective n, Student t"
        used = _design_effect(p, size, rare, sums, equal_weights=bool(np.all(w == w[0])))
        effective = size / used
        details["design_effect_used"] = used
        details["df"] = df
        if reason is None:
            low, high = wilson_limits(p, effective, t_quantile(confidence, df))
        if rare < FEW_MINORITY_ITEMS and groups.mean_size > 1:
            warned.append(
                f"only {rare:g} items of the rarer outcome (fewer than 10): clustering can't be "
                "estimated, ICC 0.2 assumed"
            )
    details["effective_n"] = effective
    if p in (0.0, 1.0) and reason is None:
        bound = one_sided_upper(0, effective, confidence=confidence)
        details["one_sided_bound"] = bound if p == 0 else 1 - bound
    out = Estimate(
        "proportion",
        p,
        low,
        high,
        confidence=confidence,
        method=how,
        unit=unit,
        n=n,
        clusters=groups.count,
        design_effect=design,
        reason=reason,
        warnings=tuple(warned),
        details=details,
    )
    if asked.method == "default" or reason is not None:
        return out
    if asked.method == "korn-graubard":
        return _korn_graubard(out, sums, size)
    said = few_disagreements(asked.method, math.floor(rare), FEW_MINORITY_ITEMS)
    out = replace(out, warnings=(*out.warnings, *said))
    if p in (0.0, 1.0):
        why = "no interval: all items say the same, so every resample does"
        return replace(out, low=math.nan, high=math.nan, method="", reason=why)
    form = Summed(sums if unit == "question" else item_sums(sums), _ratio)
    return with_limits(out, form, asked.method, asked, IDENTITY, df or n - 1.0, "items")


def _korn_graubard(out: Estimate, sums: Sums, size: float) -> Estimate:
    """Clopper and Pearson's limits on the effective n, adjusted for its degrees of freedom.

    The effective n is that of the measured design effect (1 at least), times the square of the
    ratio of Student's t on n - 1 and on the questions' degrees of freedom, n at most. (Korn &
    Graubard 1998, Surv. Methodol. 24.)
    """
    p, tail = out.estimate, (1 - out.confidence) / 2
    n, how = size, "Korn-Graubard interval on n; items taken as independent"
    if out.unit == "question":
        df = float(out.details["df"])
        deff = max(1.0, _measured_effect(p, size, sums))
        ratio = t_quantile(out.confidence, size - 1) / t_quantile(out.confidence, df)
        n = min(size / deff * ratio**2, size)
        how = "Korn-Graubard interval on the effective n"
    low = 0.0 if p == 0 else float(betaincinv(p * n, n - p * n + 1, tail))
    high = 1.0 if p == 1 else float(betaincinv(p * n + 1, n - p * n, 1 - tail))
    return replace(out, low=low, high=high, method=how, details={**out.details, "effective_n": n})


def _measured_effect(p: float, size: float, sums: Sums) -> float:
    """The design effect that the question jackknife measures; 1 where nothing varies."""
    g = sums.clusters.count
    if not (0 < p < 1 and g > 1):
        return 1.0
    away = leave_one_out(_ratio, sums.by_question) - p
    return float((g - 1) / g * (away @ away) / (p * (1 - p) / size))


def _design_effect(p: float, size: float, rare: float, sums: Sums, *, equal_weights: bool) -> float:
    """The design effect that the interval uses: max(1, measured, fading floor)."""
    groups = sums.clusters
    if groups.mean_size == 1 and equal_weights:
        return 1.0  # no question has two items, so there is nothing to inflate
    return max(1.0, _measured_effect(p, size, sums), fading_floor(groups.mean_size, rare))


def fading_floor(mean_size: float, rare: float) -> float:
    """The least design effect: that of ICC 0.2, fading out as items of the rarer outcome grow.

    Parameters
    ----------
    mean_size
        Size of the question that a random item lies in.
    rare
        Items of the rarer outcome; at 10 the floor has half its weight.
    """
    return 1 + (mean_size - 1) * ASSUMED_ICC * FADE / (FADE + rare)


def _informative(p: float, share: FloatArray, mass: FloatArray, w: FloatArray) -> float:
    """Items of a plain share that would vary as this one does, were items independent.

    ``p (1 - p)`` over the linearised variance. At 1 Kish's n, which is not more than that comes to;
    at 0 half of it where a hit counts twice, which is what it comes to.
    """
    if not 0 < p < 1:
        return kish(w) if p else kish(w) / 2
    u = mass * (share - p) / mass.sum()
    return p * (1 - p) / float(u @ u)


def _ratio(totals: FloatArray) -> FloatArray:
    return totals[..., 0] / totals[..., 1]


def _shares(y: ArrayLike) -> FloatArray:
    share = np.asarray(y, dtype=float)
    if share.ndim != 1:
        raise InputError(f"a proportion takes one value an item, got shape {share.shape}")
    bad = ~((share >= 0) & (share <= 1))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"row {row + 1}: {share[row]:g} is not between 0 and 1",
            cure="leave out and count what is missing before a proportion is taken",
        )
    return share


def _check_counts(x: int, n: int) -> None:
    for name, value in (("x", x), ("n", n)):
        if not float(value).is_integer() or value < 0:
            raise SettingsError(f"{name} = {value} is not a count")
    if x > n:
        raise SettingsError(f"x = {x} is larger than n = {n}", cure="exchange the two counts")


def _plain(
    x: int, n: int, limits: tuple[float, float] | None, confidence: float, method: str
) -> Estimate:
    if limits is None:
        return Estimate(
            "proportion", math.nan, confidence=confidence, unit="item", reason="no items"
        )
    return Estimate(
        "proportion",
        x / n,
        limits[0],
        limits[1],
        confidence=confidence,
        method=method,
        unit="item",
        n=int(n),
        clusters=int(n),
        details={"count": int(x)},
    )
