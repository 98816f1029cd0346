"""The intervals of kappa and its kin as textbooks give them, items taken as independent.

For comparison with what papers and other programs print. They are too short where items share a
question, and close to a point where hardly anybody disagrees; the defaults of
:mod:`~accord.validate.chance` are not.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from ..scoring.errors import SettingsError
from .beyond_chance import left_out
from .clusters import FloatArray, IntArray, check_confidence
from .intervals import t_quantile, z_quantile
from .rated import Pairs, rating_codes, side_by_side
from .result import Estimate
from .weighted import Weighting, pair_disagreement

__all__ = ["Gwets", "cohen_kappa_classical", "fleiss_null_se", "gwet_interval"]

Gwets = Literal["gwet", "fleiss", "conger", "brennan_prediger", "krippendorff"]


def cohen_kappa_classical(
    a: ArrayLike,
    b: ArrayLike,
    *,
    weighting: Weighting = "identity",
    values: ArrayLike | None = None,
    n_categories: int,
    confidence: float = 0.95,
) -> Estimate:
    """Cohen's kappa, weighted or not, with Fleiss, Cohen and Everitt's standard error.

    Parameters
    ----------
    a, b, weighting, values, n_categories, confidence
        As :func:`~accord.validate.weighted.weighted_kappa`; pairs that lack a rating are left out
        and counted.

    Returns
    -------
    Estimate
        With ``estimate +- z se``, which is not cut to [-1, 1]. ``details``: ``se``, ``null_se`` and
        two-sided ``p`` (of kappa = 0), ``po``, ``pe``; for two categories also ``pabak``
        (2 po - 1), ``prevalence_index`` (a - d)/n and ``bias_index`` (b - c)/n, signed. NaN with a
        reason without items or where only one category occurs; no interval for one item, or where
        the standard error is 0 (nobody disagrees, or one rater never varies).

    References
    ----------
    Fleiss, Cohen & Everitt 1969, Psychol. Bull. 72; Byrt, Bishop & Carlin 1993, J. Clin.
    Epidemiol. 46.
    """
    check_confidence(confidence)
    x = rating_codes(side_by_side(a, b), n_categories)
    w = 1 - pair_disagreement(weighting, n_categories, values)
    used = np.asarray((x >= 0).all(axis=1))
    n = int(used.sum())
    name = "cohen_kappa" if weighting == "identity" else f"weighted_kappa_{weighting}"
    out = Estimate(
        name,
        math.nan,
        confidence=confidence,
        method="Fleiss-Cohen-Everitt SE, z; items taken as independent",
        unit="item",
        n=n,
        clusters=n,
        dropped=left_out(used, "a rating is missing"),
    )
    if n == 0:
        return replace(out, reason="no item has both ratings")
    k = n_categories
    p = np.bincount(x[used, 0] * k + x[used, 1], minlength=k * k).reshape(k, k) / n
    first, second = p.sum(axis=1), p.sum(axis=0)
    seen, chance = float((w * p).sum()), float(first @ w @ second)
    details: dict[str, float] = {"po": seen, "pe": chance}
    if k == 2:
        details["pabak"] = 2 * float(np.trace(p)) - 1
        details["prevalence_index"] = float(p[0, 0] - p[1, 1])
        details["bias_index"] = float(p[0, 1] - p[1, 0])
    if 1 - chance < 1e-12:
        why = "one category only: expected agreement is 1"
        return replace(out, reason=why, details=details)
    kappa = 1 - (1 - seen) / (1 - chance)
    # mean weight of each category against the other rater's shares
    by_first, by_second = w @ second, w.T @ first
    edges = by_first[:, None] + by_second[None, :]
    inner = w - edges * (1 - kappa)
    spread = (p * inner**2).sum() - (kappa - chance * (1 - kappa)) ** 2
    by_chance = (np.outer(first, second) * (w - edges) ** 2).sum() - chance**2
    se = math.sqrt(max(float(spread), 0) / n) / (1 - chance)
    null = math.sqrt(max(float(by_chance), 0) / n) / (1 - chance)
    details |= {"se": se, "null_se": null}
    details["p"] = 2 * float(ndtr(-abs(kappa) / null)) if null > 1e-12 else math.nan
    out = replace(out, estimate=kappa, details=details)
    reason = _no_spread(n, se, kappa)
    if reason is not None:
        return replace(out, reason=reason)
    reach = z_quantile(confidence) * se
    return replace(out, low=kappa - reach, high=kappa + reach)


def gwet_interval(
    ratings: ArrayLike,
    *,
    coefficient: Gwets,
    weighting: Weighting = "identity",
    values: ArrayLike | None = None,
    n_categories: int,
    confidence: float = 0.95,
) -> Estimate:
    """Agreement of any number of raters with Gwet's item-level standard error and t interval.

    Parameters
    ----------
    ratings
        ``(n_items, n_raters)`` codes 0..k-1, -1 = missing. Items without a rating are left out and
        counted (of alpha, items with fewer than two).
    coefficient
        ``gwet`` (AC1, AC2 when weighted), ``fleiss``, ``conger``, ``brennan_prediger``, or
        ``krippendorff``: Gwet's form of alpha, which is Krippendorff's at the nominal level and,
        with quadratic weights, the interval level.
    weighting, values, n_categories, confidence
        As :func:`~accord.validate.weighted.gwet_ac2`.

    Returns
    -------
    Estimate
        With ``estimate +- t se``, t with n - 1, the high limit cut at 1. ``details``: ``pa``,
        ``pe``, ``se``, ``df``. The number of items with two ratings is taken as fixed, so that with
        ratings missing ``se`` is not quite the sandwich's. NaN with a reason where no item has two
        ratings or chance agreement is 1; no interval for one item or where ``se`` is 0.

    Raises
    ------
    InputError
        Codes outside -1..k-1, values that aren't distinct.
    SettingsError
        An unknown coefficient or weighting.

    References
    ----------
    Gwet 2014, Handbook of Inter-Rater Reliability, 4th ed., ch. 5.
    """
    check_confidence(confidence)
    if coefficient not in ("gwet", "fleiss", "conger", "brennan_prediger", "krippendorff"):
        raise SettingsError(
            f"coefficient {coefficient!r} is unknown",
            cure="gwet, fleiss, conger, brennan_prediger or krippendorff",
        )
    x = rating_codes(ratings, n_categories)
    w = 1 - pair_disagreement(weighting, n_categories, values)
    least = 2 if coefficient == "krippendorff" else 1
    used = np.asarray((x >= 0).sum(axis=1) >= least)
    x = x[used]
    n = len(x)
    few = "no rating" if least == 1 else "fewer than two ratings"
    out = Estimate(
        coefficient if weighting == "identity" else f"{coefficient}_{weighting}",
        math.nan,
        confidence=confidence,
        method="Gwet's item-level linearisation, t; items taken as independent",
        unit="item",
        n=n,
        clusters=n,
        dropped=left_out(used, few),
    )
    if not ((x >= 0).sum(axis=1) >= 2).any():
        return replace(out, reason="no item has two ratings")
    pairs = Pairs.of(x)
    alike = np.zeros(n)
    for rows, one, other in pairs.differing():
        alike[rows] += w[one, other]
    alike += pairs.agreeing
    two = pairs.pairs > 0
    share = np.divide(alike, pairs.pairs, out=np.zeros(n), where=two)
    seen, chance = _krippendorff(x, w, pairs, share) if least == 2 else (share, None)
    if chance is None:
        pa = float(share.sum() / two.sum())
        pe, of_item = _CHANCE[coefficient](x, w, pairs.ratings)
        # the influence of an item without a pair is what its missing share leaves of the mean
        seen, chance = n / two.sum() * (share - pe * two) + pe, of_item
    else:
        pa, pe = float(seen.mean()), float(chance.mean())
    if not 1 - pe > 1e-12:
        why = (
            "one category is declared: nothing to agree on"
            if n_categories == 1
            else "one category only: expected agreement is 1"
        )
        return replace(out, reason=why, details={"pa": pa, "pe": pe})
    plain = (pa - pe) / (1 - pe)
    each = (seen - pe) / (1 - pe) - 2 * (1 - plain) * (chance - pe) / (1 - pe)
    se = math.sqrt(float(((each - plain) ** 2).sum()) / (n * (n - 1))) if n > 1 else math.nan
    estimate = plain
    if least == 2:
        # of n ratings the share 1/n meets itself: what makes alpha of Fleiss' kappa
        few_ratings = 1 / float(pairs.ratings.sum())
        pa = (1 - few_ratings) * pa + few_ratings
        estimate = (pa - pe) / (1 - pe)
    out = replace(out, estimate=estimate, details={"pa": pa, "pe": pe, "se": se, "df": n - 1})
    reason = _no_spread(n, se, estimate)
    if reason is not None:
        return replace(out, reason=reason)
    reach = t_quantile(confidence, n - 1) * se
    return replace(out, low=estimate - reach, high=min(estimate + reach, 1.0))


def fleiss_null_se(ratings: ArrayLike, *, n_categories: int) -> float:
    """The standard error of Fleiss' kappa if raters agreed by chance only.

    Parameters
    ----------
    ratings
        ``(n_items, n_raters)`` codes, every item with the same number of ratings, two or more.

    Returns
    -------
    float
        NaN where ratings are missing (the formula is for equal numbers) or one category occurs.

    References
    ----------
    Fleiss, Nee & Landis 1979, Psychol. Bull. 86.
    """
    x = rating_codes(ratings, n_categories)
    if x.size == 0 or x.shape[1] < 2 or (x < 0).any():
        return math.nan
    n, m = x.shape
    p = np.bincount(x.ravel(), minlength=n_categories) / x.size
    q = 1 - p
    by_chance = float(p @ q)
    if by_chance < 1e-12:
        return math.nan
    spread = by_chance**2 - float((p * q) @ (q - p))
    return math.sqrt(2) / (by_chance * math.sqrt(n * m * (m - 1))) * math.sqrt(max(spread, 0))


def _no_spread(n: int, se: float, estimate: float) -> str | None:
    if n < 2:
        return "no interval: one item"
    if se > 1e-12:
        return None
    what = "nobody disagreed" if estimate > 1 - 1e-12 else "no item moves the estimate"
    return f"no interval: {what}, and the standard error is 0: read raw agreement's bound"


def _counts(x: IntArray, k: int) -> FloatArray:
    """How many raters put an item into each category, ``(n, k)``."""
    return np.stack([(x == c).sum(axis=1) for c in range(k)], axis=1).astype(float)


def _shares(x: IntArray, k: int, ratings: FloatArray) -> tuple[FloatArray, FloatArray]:
    each = _counts(x, k) / ratings[:, None]
    return each, np.asarray(each.mean(axis=0), dtype=float)


def _fleiss(x: IntArray, w: FloatArray, ratings: FloatArray) -> tuple[float, FloatArray]:
    each, pi = _shares(x, len(w), ratings)
    return float(pi @ w @ pi), np.asarray(each @ (w @ pi + pi @ w) / 2, dtype=float)


def _gwet(x: IntArray, w: FloatArray, ratings: FloatArray) -> tuple[float, FloatArray]:
    k = len(w)
    each, pi = _shares(x, k, ratings)
    factor = float(w.sum()) / (k * (k - 1)) if k > 1 else math.nan
    chance = factor * float((pi * (1 - pi)).sum())
    # half the derivative, since what is added to an item's agreement is twice its chance
    return chance, np.asarray(factor * (each - pi) @ (1 - 2 * pi) / 2 + chance, dtype=float)


def _even(x: IntArray, w: FloatArray, ratings: FloatArray) -> tuple[float, FloatArray]:
    k = len(w)
    chance = float(w.sum()) / (k * k) if k > 1 else 1.0
    return chance, np.full(len(x), chance)


def _conger(x: IntArray, w: FloatArray, ratings: FloatArray) -> tuple[float, FloatArray]:
    k, n = len(w), len(x)
    given = x >= 0
    r = int(given.any(axis=0).sum())
    x, given = x[:, given.any(axis=0)], given[:, given.any(axis=0)]
    if r < 2:
        return math.nan, np.full(n, math.nan)
    own = np.stack([(x == c) for c in range(k)], axis=2).astype(float)  # (n, r, k)
    often = given.sum(axis=0)
    p = own.sum(axis=0) / often[:, None]  # (r, k)
    others = p.sum(axis=0)[None, :] - p
    chance = float(((p @ w) * others).sum()) / (r * (r - 1))
    # how an item moves each rater's own distribution, given that he rates it
    moved = (own - given[:, :, None] * p[None]) * (n / often)[None, :, None]
    towards = (others @ (w + w.T)) / 2
    by_item = (moved * towards[None]).sum(axis=(1, 2)) / (r * (r - 1))
    return chance, np.asarray(by_item + chance, dtype=float)


_CHANCE = {"fleiss": _fleiss, "gwet": _gwet, "brennan_prediger": _even, "conger": _conger}


def _krippendorff(
    x: IntArray,
    w: FloatArray,
    pairs: Pairs,
    share: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """An item counts as many times as it has ratings: agreement and chance of each, linearised."""
    mean = float(pairs.ratings.mean())
    more = pairs.ratings / mean
    pi = _counts(x, len(w)).sum(axis=0) / pairs.ratings.sum()
    few = 1 / float(pairs.ratings.sum())
    pa, pe = float((more * share).mean()), float(pi @ w @ pi)
    seen = more * share - ((1 - few) * pa + few) * (more - 1)
    chance = _counts(x, len(w)) @ (w @ pi + pi @ w) / (2 * mean) - pe * (more - 1)
    return np.asarray(seen, dtype=float), np.asarray(chance, dtype=float)
