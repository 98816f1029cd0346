"""Agreement between raters corrected for chance: Cohen, Gwet, Krippendorff, Matthews.

Raw agreement and the interval that all share are in :mod:`.beyond_chance`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import SettingsError
from .beyond_chance import (
    beyond_chance,
    left_out,
    located,
    minority_warning,
    undefined,
)
from .clusters import FloatArray, Statistic, Unit, unit_mean_weights
from .coincidences import alpha_form, code_values
from .methods import Asked, Method
from .rated import Pairs, check_cells, columns, positive, rating_codes, side_by_side
from .resampling import Source
from .result import Estimate

__all__ = ["Level", "cohen_kappa", "gwet_ac1", "krippendorff_alpha", "mcc", "off_diagonal"]

Level = Literal["nominal", "ordinal", "interval", "ratio"]


def cohen_kappa(
    a: ArrayLike,
    b: ArrayLike,
    *,
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
) -> Estimate:
    """How far do two raters agree beyond what their own habits would give by chance?

    Parameters
    ----------
    a, b
        ``(n,)`` codes 0..k-1 of the two raters, -1 = missing (never a category). Items that lack
        either are left out and counted.
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
    method
        ``default`` is the jackknife of :mod:`.beyond_chance`. By name, of the ratings as they are:
        ``jackknife`` t on Fisher's z, ``grouped-jackknife`` (200 random groups of questions left
        out in turn), ``bootstrap-t``, ``percentile``, ``bca``.
    rng, resamples
        Of a method that draws: seed, generator or the panel's
        :class:`~accord.validate.resampling.Draws`; number of resamples, 199 or more.

    Returns
    -------
    Estimate
        1 is perfect, 0 what chance would give, negative below chance, never under -1. NaN with a
        reason when all ratings lie in one category (chance agreement is then 1); ``details`` then
        hold the raw agreement and its interval. No interval below 10 questions. Other
        ``details``: ``se`` (linearised by question), ``effective_n``, ``df``, ``disagreements``
        (items), ``minority`` (fewest ratings of a rater outside his commonest category).

    Raises
    ------
    InputError
        Arrays of different lengths, codes outside -1..k-1, bad weights.
    SettingsError
        An unknown method, one that draws without ``rng`` or with fewer than 199 resamples.

    References
    ----------
    Cohen 1960, Educ. Psychol. Meas. 20; clustered: Yang & Zhou 2014; interval:
    :mod:`.beyond_chance`.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples)
    k = n_categories

    def f(totals: Any) -> Any:
        first, second = totals[..., 1 : 1 + k], totals[..., 1 + k :]
        n = first.sum(axis=-1)
        chance = n * n - (first * second).sum(axis=-1)
        return 1 - totals[..., 0] * n / positive(chance, n * n)

    return of_two_raters(
        "cohen_kappa",
        f,
        lambda totals: off_diagonal(totals, k),
        side_by_side(a, b),
        k,
        clusters,
        weights,
        asked,
        "one category only: expected agreement is 1",
    )


def mcc(
    a: ArrayLike,
    b: ArrayLike,
    *,
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
) -> Estimate:
    """How closely do two raters' labels correlate (Matthews' coefficient; phi for two labels)?

    Parameters and errors as :func:`cohen_kappa`, whose numerator it shares; with more than two
    categories it is Gorodkin's R_K.

    Returns
    -------
    Estimate
        In [-1, 1]; 1 is perfect, 0 no association; equal to kappa where both raters use the
        categories equally often, farther from 0 elsewhere. NaN with a reason when a rater gives
        one category only. ``details`` as :func:`cohen_kappa`.

    References
    ----------
    Matthews 1975, Biochim. Biophys. Acta 405; Gorodkin 2004, Comput. Biol. Chem. 28.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples)
    k = n_categories

    def f(totals: Any) -> Any:
        first, second = totals[..., 1 : 1 + k], totals[..., 1 + k :]
        n = first.sum(axis=-1)
        one = np.sqrt(positive(n * n - (first * first).sum(axis=-1), n * n))
        two = np.sqrt(positive(n * n - (second * second).sum(axis=-1), n * n))
        # (n^2 - differing n - first . second) / (one two), as 1 less what differs, so that nothing
        # of its slope cancels near 1
        habits = first - second
        uneven = (habits * (first + second)).sum(axis=-1) / (one + two)
        away = totals[..., 0] * n - ((habits * habits).sum(axis=-1) + uneven * uneven) / 2
        return 1 - away / (one * two)

    return of_two_raters(
        "mcc",
        f,
        lambda totals: off_diagonal(totals, k),
        side_by_side(a, b),
        k,
        clusters,
        weights,
        asked,
        "a rater gives one category only: a correlation is undefined",
        kappa=False,
    )


def gwet_ac1(
    ratings: ArrayLike,
    *,
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
) -> Estimate:
    """How far do raters agree beyond chance, with chance that does not grow with prevalence?

    Parameters
    ----------
    ratings
        ``(n_items, n_raters)`` codes 0..k-1, -1 = missing (never a category). Items without a
        rating are left out and counted; those with one count for the category shares only.
    n_categories
        k, the number of declared categories; chance agreement depends on it.
    clusters, weights, confidence, unit, method, rng, resamples
        As :func:`cohen_kappa`.

    Returns
    -------
    Estimate
        1 is perfect, 0 what chance would give, lower below chance. Defined (and 1) when everyone
        uses one of two or more declared categories; NaN with a reason when k = 1 or no item has
        two ratings. ``details`` as :func:`cohen_kappa`, and ``items_with_two``.

    Raises
    ------
    InputError
        Arrays of different lengths, codes outside -1..k-1, bad weights.

    References
    ----------
    Gwet 2008, Br. J. Math. Stat. Psychol. 61; 2014, Handbook of Inter-Rater Reliability, with
    agreement over items of two ratings or more and shares over items of one or more.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples)
    x = rating_codes(ratings, n_categories)
    where, w = located(x, clusters, weights)
    name, k = "gwet_ac1", n_categories
    used = np.asarray((x >= 0).any(axis=1))
    if not ((x >= 0).sum(axis=1) >= 2).any():
        return undefined(name, "no item has two ratings", asked, x)
    x, w = x[used], unit_mean_weights(w[used], int(used.sum()))
    pairs = Pairs.of(x)
    two = pairs.pairs > 0
    apart = np.divide(pairs.pairs - pairs.agreeing, pairs.pairs, out=np.zeros(len(x)), where=two)
    each = w / pairs.ratings
    rows = np.arange(len(x))
    rated = [np.flatnonzero(x[:, j] >= 0) for j in range(x.shape[1])]
    # columns: disagreement, items of two ratings, items of one, shares of the categories
    items = columns(
        (len(x), 3 + k),
        [
            (rows, 0, w * apart),
            (rows, 1, w * two),
            (rows, 2, w),
            *((has, 3 + x[has, j], each[has]) for j, has in enumerate(rated)),
        ],
    )

    def f(totals: Any) -> Any:
        shares = totals[..., 3:] / totals[..., 2:3]
        # with one category there is no chance, and rounding over 0 is not to look like one
        chance = (shares * (1 - shares)).sum(axis=-1) / (k - 1 if k > 1 else math.nan)
        seen = totals[..., 0] / positive(totals[..., 1], totals[..., 2])
        return 1 - seen / (1 - chance)

    def disagreement(totals: FloatArray) -> FloatArray:
        # an item that splits its raters: shares half way between the marginals and uniform
        shares = 0.5 * totals[3:] / totals[2] + 0.5 / k
        return np.concatenate([[1.0, 1.0, 1.0], shares])

    return beyond_chance(
        name,
        f,
        disagreement,
        items=items,
        x=x,
        where=where[used],
        weights=w,
        asked=asked,
        one_category="one category is declared: nothing to agree on",
        dropped=left_out(used, "no rating"),
        warned=[],
        details={"items_with_two": int(two.sum())},
    )


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    level: Level,
    values: ArrayLike | None = None,
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
) -> Estimate:
    """How reliable are ratings by any number of raters, with any of them missing?

    Parameters
    ----------
    ratings
        ``(n_items, n_raters)`` codes 0..k-1, -1 = missing (never a category). Items with fewer
        than two ratings are left out and counted.
    level
        The scale: ``nominal``, ``ordinal`` (the order of the codes), ``interval`` or ``ratio``
        (the differences of ``values``).
    values
        ``(k,)`` distinct numbers that the codes stand for; required for ``interval`` and
        ``ratio`` (there not negative). Interval alpha takes any number of distinct values, so
        continuous scores too.
    n_categories
        k, the number of categories.
    clusters, weights, confidence, unit, method, rng, resamples
        As :func:`cohen_kappa`.

    Returns
    -------
    Estimate
        ``krippendorff_alpha_LEVEL``: 1 - observed / expected disagreement; 1 is perfect, 0 what
        chance would give, negative below chance. NaN with a reason when all pairable ratings
        are equal, or no item has two. ``details`` as :func:`cohen_kappa`, and ``pairable``, the
        number of ratings in items of two or more.

    Raises
    ------
    InputError
        Arrays of different lengths, codes outside -1..k-1, values missing, repeated or not
        numbers, more distinct ordinal or ratio values than can be held, bad weights.

    References
    ----------
    Krippendorff 2004, Content Analysis, ch. 11; 2011, Computing Krippendorff's Alpha-Reliability.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples)
    if level not in ("nominal", "ordinal", "interval", "ratio"):
        raise SettingsError(
            f"level {level!r} is unknown", cure="nominal, ordinal, interval or ratio"
        )
    x = rating_codes(ratings, n_categories)
    number = code_values(values, n_categories, level)
    where, w = located(x, clusters, weights)
    name = f"krippendorff_alpha_{level}"
    used = np.asarray((x >= 0).sum(axis=1) >= 2)
    if not used.any():
        return undefined(name, "no item has two ratings", asked, x)
    x, w = x[used], unit_mean_weights(w[used], int(used.sum()))
    check_cells(int(np.unique(where[used]).size), _width(level, n_categories), f"{level} alpha")
    form = alpha_form(level, Pairs.of(x), w, n_categories, number)
    return beyond_chance(
        name,
        form.f,
        form.disagreement,
        items=form.items,
        x=x,
        where=where[used],
        weights=w,
        asked=asked,
        one_category="all pairable ratings are equal: expected disagreement is 0",
        dropped=left_out(used, "fewer than two ratings"),
        warned=minority_warning(x),
        details={"pairable": int((x >= 0).sum())},
    )


def _width(level: str, k: int) -> int:
    """Columns that alpha's sums have at a level."""
    return {"interval": 4, "ordinal": k * (k + 1) // 2}.get(level, k + 1)


def of_two_raters(
    name: str,
    f: Statistic,
    disagreement: Callable[[FloatArray], FloatArray],
    ratings: ArrayLike,
    k: int,
    clusters: ArrayLike,
    weights: ArrayLike | None,
    asked: Asked,
    one_category: str,
    *,
    apart: FloatArray | None = None,
    kappa: bool = True,
) -> Estimate:
    """A coefficient of two raters from the sums of disagreement and of either rater's categories.

    Parameters
    ----------
    ratings
        ``(n, 2)`` codes, -1 missing; items that lack either are left out and counted.
    apart
        ``(k, k)`` disagreement of each pair of categories; None for 1 wherever they differ.
    kappa
        Whether it is 0 wherever a rater gives one category only.
    """
    x = rating_codes(ratings, k)
    where, w = located(x, clusters, weights)
    used = np.asarray((x >= 0).all(axis=1))
    if not used.any():
        return undefined(name, "no item has both ratings", asked, x)
    x, w = x[used], unit_mean_weights(w[used], int(used.sum()))
    rows = np.arange(len(x))
    differs = np.flatnonzero(x[:, 0] != x[:, 1])
    far = w[differs] if apart is None else w[differs] * apart[x[differs, 0], x[differs, 1]]
    # columns: disagreement, the first rater's categories, the second's
    items = columns(
        (len(x), 1 + 2 * k),
        [(differs, 0, far), (rows, 1 + x[:, 0], w), (rows, 1 + k + x[:, 1], w)],
    )
    out = beyond_chance(
        name,
        f,
        disagreement,
        items=items,
        x=x,
        where=where[used],
        weights=w,
        asked=asked,
        one_category=one_category,
        dropped=left_out(used, "a rating is missing"),
        warned=minority_warning(x),
    )
    if kappa and math.isfinite(out.estimate) and ((x == x[0]).all(axis=0)).any():
        # one disagreement more would open an interval around 0 that narrows with data and means
        # nothing: the estimate can't be anything else
        why = "no interval: a rater gives one category only, so kappa is 0 whatever the items"
        return replace(out, low=math.nan, high=math.nan, reason=why)
    return out


def off_diagonal(totals: FloatArray, k: int) -> FloatArray:
    """One item off the diagonal, spread in proportion to the two raters' habits."""
    first, second = totals[1 : 1 + k] + 0.5, totals[1 + k :] + 0.5
    by_first, by_second = first * (second.sum() - second), second * (first.sum() - first)
    mass = by_first.sum()
    return np.concatenate([[1.0], by_first / mass, by_second / mass])
