"""The interval that all chance-corrected coefficients share, and raw agreement beside them.

Question jackknife on Fisher's z with t, from the table to which one disagreeing item has been
added. Few disagreements, not few questions, are what breaks the usual intervals; that one item
keeps the interval open where hardly anybody disagreed, and vanishes with data (cf. Agresti & Coull
1998). Where nobody disagreed the interval is open over its whole range, and says so: raw agreement
then has the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .cautions import FEW_DISAGREEMENTS, FEW_MINORITY_RATINGS, data_warnings, too_few
from .clusters import (
    Clusters,
    FloatArray,
    IntArray,
    Statistic,
    Sums,
    Unit,
    effective_size,
    leave_one_out,
    unit_mean_weights,
    without_rounding,
)
from .intervals import FISHER, jackknife_limits
from .methods import PROPORTION_METHODS, Asked, Method, few_disagreements, with_limits
from .proportions import clustered_proportion
from .rated import BoolArray, Pairs, check_cells, differing_items, least_minority, rating_codes
from .resampling import Source, Summed, item_sums
from .result import Estimate

__all__ = [
    "beyond_chance",
    "left_out",
    "located",
    "minority_warning",
    "raw_agreement",
    "undefined",
]

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
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
) -> Estimate:
    """How often do two raters of an item give the same rating?

    With more than two raters an item counts with the share of its pairs of raters that agree.
    Parameters, result and errors as :func:`~accord.validate.chance.gwet_ac1`; the interval is
    :func:`~accord.validate.proportions.clustered_proportion`'s. Defined, also when every rating
    falls in one category.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples, known=PROPORTION_METHODS)
    x = rating_codes(ratings, n_categories)
    where, w = located(x, clusters, weights)
    used = np.asarray((x >= 0).sum(axis=1) >= 2)
    if not used.any():
        return undefined("agreement", "no item has two ratings", asked, x)
    pairs = Pairs.of(x[used])
    share = pairs.agreeing / pairs.pairs
    out = clustered_proportion(
        share,
        clusters=where[used],
        weights=None if weights is None else w[used],
        confidence=confidence,
        unit=unit,
        method=method,
        rng=asked.draws,
        resamples=resamples,
    )
    disagreeing = int((pairs.agreeing < pairs.pairs).sum())
    return replace(
        out,
        name="agreement",
        dropped=left_out(used, "fewer than two ratings"),
        details={**out.details, "disagreements": disagreeing},
    )


def beyond_chance(
    name: str,
    f: Statistic,
    disagreement: Callable[[FloatArray], FloatArray],
    *,
    items: Any,
    x: IntArray,
    where: IntArray,
    weights: FloatArray,
    asked: Asked,
    one_category: str,
    dropped: Mapping[str, int],
    warned: list[str],
    details: Mapping[str, object] | None = None,
) -> Estimate:
    """The estimate, and the jackknife interval on Fisher's z with one disagreement added.

    Another interval that is asked for by name is made of the ratings as they are.
    """
    confidence, unit = asked.confidence, asked.unit
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
    said = [*data_warnings(groups, weights, df=df, unit=unit), *warned]
    if differing < FEW_DISAGREEMENTS:
        said.append(f"rests on {differing} disagreeing items (fewer than 10)")
    shown = dict(out.details)
    if differing == 0:
        said.append("no disagreement was seen: read the bound of raw agreement instead")
        shown["agreement"] = raw()
    out = replace(
        out,
        design_effect=design,
        reason=reason,
        details={**shown, "se": se, "df": df, "effective_n": effective_size(len(x), design)},
    )
    if reason is None:
        check_cells(count, sums.total.size, name)
    if asked.method != "default":
        said += few_disagreements(asked.method, differing, FEW_DISAGREEMENTS)
        out = replace(out, warnings=tuple(said))
        if reason is not None:
            return out
        if differing == 0:
            return replace(out, reason="no interval: nobody disagrees, so no resample does")
        form = Summed(sums if unit == "question" else item_sums(sums), f)
        return with_limits(out, form, asked.method, asked, FISHER, df, "items")
    low = high = math.nan
    if reason is None:
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
    if differing == 0:
        # without the added item the coefficient is 1 exactly, and the jackknife's reach is no
        # measure of anything
        low, high = (round(limit, 9) for limit in (low, high))
    method = "jackknife t on Fisher z, one disagreement added"
    return replace(
        out,
        low=low,
        high=high,
        method=f"question {method}"
        if unit == "question"
        else f"item {method}; items taken as independent",
        warnings=tuple(said),
    )


def minority_warning(x: IntArray) -> list[str]:
    """What kappa and alpha say of themselves where a rater hardly varies."""
    least = least_minority(x)
    if least >= FEW_MINORITY_RATINGS:
        return []
    return [
        f"a rater gave only {least} ratings outside the commonest category (fewer than 5): "
        "kappa and alpha are not estimable in practice; read AC1 and raw agreement"
    ]


def located(
    x: IntArray, clusters: ArrayLike, weights: ArrayLike | None
) -> tuple[IntArray, FloatArray]:
    """The items' questions as codes, and their weights of mean 1."""
    return Clusters.of(clusters, len(x)).codes, unit_mean_weights(weights, len(x))


def left_out(used: BoolArray, why: str) -> dict[str, int]:
    """How many items are not used, under the reason."""
    count = int((~used).sum())
    return {why: count} if count else {}


def undefined(name: str, reason: str, asked: Asked, x: IntArray) -> Estimate:
    """The figure where no item can be used."""
    return Estimate(
        name,
        math.nan,
        confidence=asked.confidence,
        unit=asked.unit,
        reason=reason if len(x) else "no items",
        dropped={reason: len(x)} if len(x) else {},
    )
