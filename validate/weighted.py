"""Agreement in which near misses count in part: weighted kappa, Gwet's AC2, Brennan-Prediger.

The weight of a pair of ratings is 1 where they are equal and falls with their distance, on the
values that the categories stand for. Everything is written with disagreements, 1 - weight, so that
perfect agreement is 1 exactly. The interval is that of :mod:`.beyond_chance`; the item that it adds
disagrees by as much as two raters with these habits do who differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import InputError, SettingsError
from .beyond_chance import beyond_chance, left_out, located, minority_warning, undefined
from .chance import of_two_raters, off_diagonal
from .clusters import FloatArray, IntArray, Statistic, Unit, unit_mean_weights
from .methods import Asked, Method
from .rated import BoolArray, Pairs, check_cells, columns, positive, rating_codes, side_by_side
from .resampling import Source
from .result import Estimate

__all__ = [
    "Rated",
    "Weighting",
    "brennan_prediger",
    "finished",
    "gwet_ac2",
    "named",
    "pair_disagreement",
    "shared_chance",
    "weighted_kappa",
]

Weighting = Literal["identity", "linear", "quadratic"]


def pair_disagreement(
    weighting: Weighting, n_categories: int, values: ArrayLike | None = None
) -> FloatArray:
    """1 - agreement weight of each pair of categories, ``(k, k)``: 0 on the diagonal, 1 at most.

    Parameters
    ----------
    weighting
        ``identity`` (1 wherever they differ), ``linear`` (distance over the largest distance) or
        ``quadratic`` (its square).
    n_categories
        k.
    values
        ``(k,)`` distinct numbers that the categories stand for; None means 0..k-1, equal steps.

    Raises
    ------
    InputError
        Values of another number, repeated, or not finite; more categories than a table can hold.
    SettingsError
        An unknown weighting.
    """
    if weighting not in ("identity", "linear", "quadratic"):
        raise SettingsError(
            f"weighting {weighting!r} is unknown", cure="identity, linear or quadratic"
        )
    k = n_categories
    check_cells(k, k, f"{weighting} agreement")
    v = np.arange(k, dtype=float) if values is None else np.asarray(values, dtype=float)
    if v.shape != (k,):
        raise InputError(f"values have shape {v.shape}, the categories are {k}")
    if not np.isfinite(v).all() or np.unique(v).size < k:
        raise InputError("values of the categories are not distinct numbers")
    if weighting == "identity" or k < 2:
        return 1.0 - np.eye(k)
    far = np.abs(v[:, None] - v[None, :]) / np.ptp(v)
    return np.asarray(far if weighting == "linear" else far * far, dtype=float)


def weighted_kappa(
    a: ArrayLike,
    b: ArrayLike,
    *,
    weighting: Weighting,
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
    """How far do two raters agree beyond chance on an ordered scale, near misses counting in part?

    Parameters
    ----------
    a, b
        ``(n,)`` codes 0..k-1 of the two raters, -1 = missing (never a category). Items that lack
        either are left out and counted.
    weighting
        ``linear`` or ``quadratic``; ``identity`` gives Cohen's unweighted kappa.
    values
        ``(k,)`` distinct numbers that the codes stand for; None means equal steps.
    n_categories
        k, the number of declared categories.
    clusters, weights, confidence, unit, method, rng, resamples
        As :func:`~accord.validate.chance.cohen_kappa`; ``weights`` are those of items.

    Returns
    -------
    Estimate
        ``weighted_kappa_WEIGHTING`` (``cohen_kappa`` for ``identity``): 1 is perfect, 0 what chance
        would give, -1 at least. Undefined, and without interval, where Cohen's kappa is; the same
        ``details``.

    Raises
    ------
    InputError
        Arrays of different lengths, codes outside -1..k-1, values that aren't distinct, bad
        weights.
    SettingsError
        An unknown weighting.

    References
    ----------
    Cohen 1968, Psychol. Bull. 70; interval: :mod:`.beyond_chance`.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples)
    k, v = n_categories, pair_disagreement(weighting, n_categories, values)
    name = "cohen_kappa" if weighting == "identity" else f"weighted_kappa_{weighting}"

    def f(totals: Any) -> Any:
        first, second = totals[..., 1 : 1 + k], totals[..., 1 + k :]
        n = first.sum(axis=-1)
        return 1 - totals[..., 0] * n / positive(((first @ v) * second).sum(axis=-1), n * n)

    def disagreement(totals: FloatArray) -> FloatArray:
        out = off_diagonal(totals, k)
        first, second = totals[1 : 1 + k] + 0.5, totals[1 + k :] + 0.5
        out[0] = first @ v @ second / (first.sum() * second.sum() - first @ second)
        return out

    return of_two_raters(
        name,
        f,
        disagreement,
        side_by_side(a, b),
        k,
        clusters,
        weights,
        asked,
        "one category only: expected agreement is 1",
        apart=v,
    )


def gwet_ac2(
    ratings: ArrayLike,
    *,
    weighting: Weighting,
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
    """Gwet's AC1 on an ordered scale: near misses count in part, chance does not grow with skew.

    Parameters, result and errors as :func:`~accord.validate.chance.gwet_ac1` and, for
    ``weighting`` and ``values``, :func:`weighted_kappa`. ``gwet_ac2_WEIGHTING``; ``identity`` gives
    AC1 under its own name.

    References
    ----------
    Gwet 2014, Handbook of Inter-Rater Reliability.
    """
    k = n_categories

    def expected(shares: Any, v: FloatArray) -> Any:
        by_chance = (shares * (1 - shares)).sum(axis=-1) / (k * (k - 1)) if k > 1 else np.nan
        return 1 - (k * k - v.sum()) * by_chance

    return shared_chance(
        named("gwet_ac1", weighting, "gwet_ac2"),
        expected,
        ratings,
        weighting=weighting,
        values=values,
        n_categories=n_categories,
        clusters=clusters,
        weights=weights,
        asked=Asked.of(method, confidence, unit, rng, resamples),
        one_category="one category is declared: nothing to agree on",
    )


def brennan_prediger(
    ratings: ArrayLike,
    *,
    weighting: Weighting = "identity",
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
    """How far do raters agree beyond what ratings drawn evenly from the categories would give?

    Parameters, result and errors as :func:`gwet_ac2`: ``brennan_prediger`` or
    ``brennan_prediger_WEIGHTING``. Chance depends on the number of declared categories only, never
    on the ratings: with two it is 2 x raw agreement - 1 (PABAK).

    References
    ----------
    Brennan & Prediger 1981, Educ. Psychol. Meas. 41.
    """
    k = n_categories

    def expected(shares: Any, v: FloatArray) -> Any:
        return np.full(np.shape(shares)[:-1], v.sum() / (k * k) if k > 1 else np.nan)

    return shared_chance(
        named("brennan_prediger", weighting),
        expected,
        ratings,
        weighting=weighting,
        values=values,
        n_categories=n_categories,
        clusters=clusters,
        weights=weights,
        asked=Asked.of(method, confidence, unit, rng, resamples),
        one_category="one category is declared: nothing to agree on",
    )


def named(plain: str, weighting: str, weighted: str | None = None) -> str:
    """A coefficient's name under a weighting."""
    return plain if weighting == "identity" else f"{weighted or plain}_{weighting}"


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
    """Items with a rating or more, and how far the pairs of ratings of each differ.

    Parameters
    ----------
    x, w, where
        ``(n, R)`` codes, ``(n,)`` weights of mean 1, ``(n,)`` codes of the questions.
    ratings
        ``(n,)`` ratings of an item.
    two
        ``(n,)`` whether there are two or more.
    differing
        ``(n,)`` mean disagreement of the item's pairs; 0 where there is none.
    dropped
        Items without a rating.
    """

    x: IntArray
    w: FloatArray
    where: IntArray
    ratings: FloatArray
    two: BoolArray
    differing: FloatArray
    dropped: Mapping[str, int]

    @classmethod
    def of(
        cls, x: IntArray, v: FloatArray, clusters: ArrayLike, weights: ArrayLike | None
    ) -> Rated | None:
        """From codes and the disagreement of each pair of categories; None without any pair."""
        where, w = located(x, clusters, weights)
        used = np.asarray((x >= 0).any(axis=1))
        if not ((x >= 0).sum(axis=1) >= 2).any():
            return None
        x, w = x[used], unit_mean_weights(w[used], int(used.sum()))
        pairs = Pairs.of(x)
        apart = np.zeros(len(x))
        for rows, one, other in pairs.differing():
            apart[rows] += v[one, other]
        two = pairs.pairs > 0
        share = np.divide(apart, pairs.pairs, out=np.zeros(len(x)), where=two)
        return cls(x, w, where[used], pairs.ratings, two, share, left_out(used, "no rating"))


def shared_chance(
    name: str,
    expected: Callable[[Any, FloatArray], Any],
    ratings: ArrayLike,
    *,
    weighting: Weighting,
    values: ArrayLike | None,
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None,
    asked: Asked,
    one_category: str,
    warn_minority: bool = False,
) -> Estimate:
    """A coefficient whose chance comes from the pooled shares of the categories.

    Parameters
    ----------
    expected
        Disagreement by chance, from shares ``(..., k)`` (an item's weight is parted evenly among
        its ratings) and the disagreement of each pair of categories.
    """
    x = rating_codes(ratings, n_categories)
    v = pair_disagreement(weighting, n_categories, values)
    rated = Rated.of(x, v, clusters, weights)
    if rated is None:
        return undefined(name, "no item has two ratings", asked, x)
    x, w, k = rated.x, rated.w, n_categories
    rows = np.arange(len(x))
    each = w / rated.ratings
    has = [np.flatnonzero(x[:, j] >= 0) for j in range(x.shape[1])]
    # columns: disagreement, items of two ratings, items of one, shares of the categories
    items = columns(
        (len(x), 3 + k),
        [
            (rows, 0, w * rated.differing),
            (rows, 1, w * rated.two),
            (rows, 2, w),
            *((at, 3 + x[at, j], each[at]) for j, at in enumerate(has)),
        ],
    )

    def f(totals: Any) -> Any:
        seen = totals[..., 0] / positive(totals[..., 1], totals[..., 2])
        by_chance = expected(totals[..., 3:] / totals[..., 2:3], v)
        return 1 - seen / positive(by_chance, np.ones_like(by_chance))

    def disagreement(totals: FloatArray) -> FloatArray:
        # an item that splits its raters: shares half way between the marginals and uniform
        shares = 0.5 * totals[3:] / totals[2] + 0.5 / k
        apart = shares @ v @ shares / (1 - shares @ shares)
        return np.concatenate([[apart, 1.0, 1.0], shares])

    return finished(name, f, disagreement, items, rated, asked, one_category, warn_minority)


def finished(
    name: str,
    f: Statistic,
    disagreement: Callable[[FloatArray], FloatArray],
    items: Any,
    rated: Rated,
    asked: Asked,
    one_category: str,
    warn_minority: bool,
) -> Estimate:
    """The estimate and its interval, from the columns of its sums."""
    return beyond_chance(
        name,
        f,
        disagreement,
        items=items,
        x=rated.x,
        where=rated.where,
        weights=rated.w,
        asked=asked,
        one_category=one_category,
        dropped=rated.dropped,
        warned=minority_warning(rated.x) if warn_minority else [],
        details={"items_with_two": int(rated.two.sum())},
    )
