"""Agreement between raters, plain and corrected for chance: raw, Cohen, Gwet, Krippendorff.

All share one interval: question jackknife on Fisher's z with t, from the table to which one
disagreeing item has been added. Few disagreements, not few questions, are what breaks the usual
intervals; that one item keeps the interval open where hardly anybody disagreed, and vanishes with
data (cf. Agresti & Coull 1998). Where nobody disagreed the interval is open over its whole range,
and says so: raw agreement then has the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import SettingsError
from .cautions import FEW_DISAGREEMENTS, FEW_MINORITY_RATINGS, data_warnings, too_few
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
    without_rounding,
)
from .coincidences import alpha_form, code_values
from .intervals import FISHER, jackknife_limits
from .proportions import clustered_proportion
from .rated import (
    BoolArray,
    Pairs,
    check_cells,
    columns,
    differing_items,
    least_minority,
    positive,
    rating_codes,
    side_by_side,
)
from .result import Estimate

__all__ = ["Level", "cohen_kappa", "gwet_ac1", "krippendorff_alpha", "raw_agreement"]

Level = Literal["nominal", "ordinal", "interval", "ratio"]

_LEAST = 10
"""Fewest questions for which an interval is given."""


def raw_agreement(
    ratings: ArrayLike,
    *,
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """How often do two raters of an item give the same rating?

    With more than two raters an item counts with the share of its pairs of raters that agree.
    Parameters, result and errors as :func:`gwet_ac1`; the interval is
    :func:`~accord.validate.proportions.clustered_proportion`'s. Defined, also when every rating
    falls in one category.
    """
    check_confidence(confidence)
    check_unit(unit)
    x = rating_codes(ratings, n_categories)
    where, w = _where(x, clusters, weights)
    used = np.asarray((x >= 0).sum(axis=1) >= 2)
    if not used.any():
        return _undefined("agreement", "no item has two ratings", confidence, unit, x, used)
    pairs = Pairs.of(x[used])
    share = pairs.agreeing / pairs.pairs
    out = clustered_proportion(
        share,
        clusters=where[used],
        weights=None if weights is None else w[used],
        confidence=confidence,
        unit=unit,
    )
    disagreeing = int((pairs.agreeing < pairs.pairs).sum())
    return replace(
        out,
        name="agreement",
        dropped=_dropped(used, "fewer than two ratings"),
        details={**out.details, "disagreements": disagreeing},
    )


def cohen_kappa(
    a: ArrayLike,
    b: ArrayLike,
    *,
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
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

    References
    ----------
    Cohen 1960, Educ. Psychol. Meas. 20; clustered: Yang & Zhou 2014; interval: module docstring.
    """
    check_confidence(confidence)
    check_unit(unit)
    x = rating_codes(side_by_side(a, b), n_categories)
    where, w = _where(x, clusters, weights)
    used = np.asarray((x >= 0).all(axis=1))
    if not used.any():
        return _undefined("cohen_kappa", "no item has both ratings", confidence, unit, x, used)
    k = n_categories
    x, w = x[used], unit_mean_weights(w[used], int(used.sum()))
    rows = np.arange(len(x))
    differs = np.flatnonzero(x[:, 0] != x[:, 1])
    # columns: disagreement, the first rater's categories, the second's
    items = columns(
        (len(x), 1 + 2 * k),
        [(differs, 0, w[differs]), (rows, 1 + x[:, 0], w), (rows, 1 + k + x[:, 1], w)],
    )

    def f(totals: Any) -> Any:
        first, second = totals[..., 1 : 1 + k], totals[..., 1 + k :]
        n = first.sum(axis=-1)
        chance = n * n - (first * second).sum(axis=-1)
        return 1 - totals[..., 0] * n / positive(chance, n * n)

    def disagreement(totals: FloatArray) -> FloatArray:
        # one item off the diagonal, spread in proportion to the raters' habits
        first, second = totals[1 : 1 + k] + 0.5, totals[1 + k :] + 0.5
        by_first, by_second = first * (second.sum() - second), second * (first.sum() - first)
        mass = by_first.sum()
        return np.concatenate([[1.0], by_first / mass, by_second / mass])

    out = _estimate(
        "cohen_kappa",
        f,
        disagreement,
        items=items,
        x=x,
        where=where[used],
        weights=w,
        confidence=confidence,
        unit=unit,
        one_category="one category only: expected agreement is 1",
        dropped=_dropped(used, "a rating is missing"),
        warned=_minority_warning(x),
    )
    if math.isfinite(out.estimate) and ((x == x[0]).all(axis=0)).any():
        # one disagreement more would open an interval around 0 that narrows with data and means
        # nothing: the estimate can't be anything else
        why = "no interval: a rater gives one category only, so kappa is 0 whatever the items"
        return replace(out, low=math.nan, high=math.nan, reason=why)
    return out


def gwet_ac1(
    ratings: ArrayLike,
    *,
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """How far do raters agree beyond chance, with chance that does not grow with prevalence?

    Parameters
    ----------
    ratings
        ``(n_items, n_raters)`` codes 0..k-1, -1 = missing (never a category). Items without a
        rating are left out and counted; those with one count for the category shares only.
    n_categories
        k, the number of declared categories; chance agreement depends on it.
    clusters, weights, confidence, unit
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
    check_confidence(confidence)
    check_unit(unit)
    x = rating_codes(ratings, n_categories)
    where, w = _where(x, clusters, weights)
    name, k = "gwet_ac1", n_categories
    used = np.asarray((x >= 0).any(axis=1))
    if not ((x >= 0).sum(axis=1) >= 2).any():
        return _undefined(name, "no item has two ratings", confidence, unit, x, used)
    x, w = x[used], unit_mean_weights(w[used], int(used.sum()))
    pairs = Pairs.of(x)
    two = pairs.pairs > 0
    share = np.divide(pairs.agreeing, pairs.pairs, out=np.zeros(len(x)), where=two)
    each = w / pairs.ratings
    rows = np.arange(len(x))
    rated = [np.flatnonzero(x[:, j] >= 0) for j in range(x.shape[1])]
    # columns: agreement, items of two ratings, items of one, shares of the categories
    items = columns(
        (len(x), 3 + k),
        [
            (rows, 0, w * share),
            (rows, 1, w * two),
            (rows, 2, w),
            *((has, 3 + x[has, j], each[has]) for j, has in enumerate(rated)),
        ],
    )

    def f(totals: Any) -> Any:
        shares = totals[..., 3:] / totals[..., 2:3]
        chance = (shares * (1 - shares)).sum(axis=-1) / (k - 1)
        observed = totals[..., 0] / positive(totals[..., 1], totals[..., 2])
        return (observed - chance) / (1 - chance)

    def disagreement(totals: FloatArray) -> FloatArray:
        # an item that splits its raters: shares half way between the marginals and uniform
        shares = 0.5 * totals[3:] / totals[2] + 0.5 / k
        return np.concatenate([[0.0, 1.0, 1.0], shares])

    return _estimate(
        name,
        f,
        disagreement,
        items=items,
        x=x,
        where=where[used],
        weights=w,
        confidence=confidence,
        unit=unit,
        one_category="one category is declared: nothing to agree on",
        dropped=_dropped(used, "no rating"),
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
    clusters, weights, confidence, unit
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
    check_confidence(confidence)
    check_unit(unit)
    if level not in ("nominal", "ordinal", "interval", "ratio"):
        raise SettingsError(
            f"level {level!r} is unknown", cure="nominal, ordinal, interval or ratio"
        )
    x = rating_codes(ratings, n_categories)
    number = code_values(values, n_categories, level)
    where, w = _where(x, clusters, weights)
    name = f"krippendorff_alpha_{level}"
    used = np.asarray((x >= 0).sum(axis=1) >= 2)
    if not used.any():
        return _undefined(name, "no item has two ratings", confidence, unit, x, used)
    x, w = x[used], unit_mean_weights(w[used], int(used.sum()))
    check_cells(int(np.unique(where[used]).size), _width(level, n_categories), f"{level} alpha")
    form = alpha_form(level, Pairs.of(x), w, n_categories, number)
    return _estimate(
        name,
        form.f,
        form.disagreement,
        items=form.items,
        x=x,
        where=where[used],
        weights=w,
        confidence=confidence,
        unit=unit,
        one_category="all pairable ratings are equal: expected disagreement is 0",
        dropped=_dropped(used, "fewer than two ratings"),
        warned=_minority_warning(x),
        details={"pairable": int((x >= 0).sum())},
    )


def _estimate(
    name: str,
    f: Statistic,
    disagreement: Callable[[FloatArray], FloatArray],
    *,
    items: Any,
    x: IntArray,
    where: IntArray,
    weights: FloatArray,
    confidence: float,
    unit: Unit,
    one_category: str,
    dropped: Mapping[str, int],
    warned: list[str],
    details: Mapping[str, object] | None = None,
) -> Estimate:
    """The estimate, and the jackknife interval on Fisher's z with one disagreement added."""
    groups = Clusters.of(where, len(x))
    sums = Sums(items, groups)
    theta = without_rounding(sums.value(f))
    differing = differing_items(x)
    if differing == 0 and math.isfinite(theta):
        theta = 1.0  # no rounding where nobody disagrees
    out = Estimate(
        name,
        theta,
        confidence=confidence,
        unit=unit,
        n=len(x),
        clusters=groups.count,
        dropped=dropped,
        details={
            **(details or {}),
            "disagreements": differing,
            "minority": least_minority(x),
        },
    )

    def raw() -> Estimate:
        return raw_agreement(
            x,
            n_categories=int(x.max()) + 1,
            clusters=where,
            weights=weights,
            confidence=confidence,
            unit=unit,
        )

    if not math.isfinite(theta):
        return replace(
            out,
            estimate=math.nan,
            reason=one_category,
            warnings=tuple(data_warnings(groups, weights, df=None, unit=unit)),
            details={**out.details, "agreement": raw()},
        )
    se, design = sums.linearised(f)
    count = groups.count if unit == "question" else len(x)
    df = groups.df if unit == "question" else float(len(x) - 1)
    reason = too_few(count, _LEAST, unit)
    low = high = math.nan
    if reason is None:
        check_cells(count, sums.total.size, name)
        with_one = np.vstack([sums.by(unit), disagreement(sums.total)])
        low, high = jackknife_limits(
            float(f(with_one.sum(axis=0))),
            leave_one_out(f, with_one),
            scale=FISHER,
            df=df,
            confidence=confidence,
        )
        # the added item moves the centre: the interval still holds what was seen
        low, high = min(low, theta), max(high, theta)
    said = [*data_warnings(groups, weights, df=df, unit=unit), *warned]
    if differing < FEW_DISAGREEMENTS:
        said.append(f"rests on {differing} disagreeing items (fewer than 10)")
    shown = dict(out.details)
    if differing == 0:
        # without the added item the coefficient is 1 exactly, and the jackknife's reach is no
        # measure of anything
        low, high = (round(limit, 9) for limit in (low, high))
        said.append("no disagreement was seen: read the bound of raw agreement instead")
        shown["agreement"] = raw()
    method = "jackknife t on Fisher z, one disagreement added"
    return replace(
        out,
        low=low,
        high=high,
        method=f"question {method}"
        if unit == "question"
        else f"item {method}; items taken as independent",
        design_effect=design,
        reason=reason,
        warnings=tuple(said),
        details={
            **shown,
            "se": se,
            "df": df,
            "effective_n": effective_size(len(x), design),
        },
    )


def _minority_warning(x: IntArray) -> list[str]:
    least = least_minority(x)
    if least >= FEW_MINORITY_RATINGS:
        return []
    return [
        f"a rater gave only {least} ratings outside the commonest category (fewer than 5): "
        "kappa and alpha are not estimable in practice; read AC1 and raw agreement"
    ]


def _width(level: str, k: int) -> int:
    """Columns that alpha's sums have at a level."""
    return {"interval": 4, "ordinal": k * (k + 1) // 2}.get(level, k + 1)


def _where(
    x: IntArray, clusters: ArrayLike, weights: ArrayLike | None
) -> tuple[IntArray, FloatArray]:
    return Clusters.of(clusters, len(x)).codes, unit_mean_weights(weights, len(x))


def _dropped(used: BoolArray, why: str) -> dict[str, int]:
    count = int((~used).sum())
    return {why: count} if count else {}


def _undefined(
    name: str, reason: str, confidence: float, unit: Unit, x: IntArray, used: BoolArray
) -> Estimate:
    return Estimate(
        name,
        math.nan,
        confidence=confidence,
        unit=unit,
        reason=reason if len(x) else "no items",
        dropped={reason: len(x)} if len(x) else {},
    )
