"""Agreement between raters, plain and corrected for chance: raw, Cohen, Gwet, Krippendorff.

All share one interval: question jackknife on Fisher's z with t, from the table to which one
disagreeing item has been added. Few disagreements, not few questions, are what breaks the usual
intervals; that one item keeps the interval open where nobody happened to disagree, and vanishes
with data (cf. Agresti & Coull 1998).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..scoring.errors import InputError, SettingsError
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
    leave_one_out,
    unit_mean_weights,
)
from .intervals import FISHER, jackknife_limits
from .proportions import clustered_proportion
from .result import Estimate

__all__ = ["Level", "cohen_kappa", "gwet_ac1", "krippendorff_alpha", "raw_agreement"]

Level = Literal["nominal", "ordinal", "interval", "ratio"]

_LEAST = 10
"""Fewest questions for which an interval is given."""
_LARGEST = 50_000_000
"""Most cells (questions times columns) that a table of sums may have: 400 MB."""


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
    x = _codes(ratings, n_categories)
    where, w = _where(x, clusters, weights)
    used = (x >= 0).sum(axis=1) >= 2
    if not used.any():
        return _undefined("agreement", "no item has two ratings", confidence, unit, x, used)
    pairs = _Pairs.of(x[used], where[used])
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
    x = _codes(_side_by_side(a, b), n_categories)
    where, w = _where(x, clusters, weights)
    used = (x >= 0).all(axis=1)
    if not used.any():
        return _undefined("cohen_kappa", "no item has both ratings", confidence, unit, x, used)
    k = n_categories
    x, w = x[used], unit_mean_weights(w[used], int(used.sum()))
    differs = x[:, 0] != x[:, 1]
    # columns: disagreement, the first rater's categories, the second's
    items = _columns(1 + 2 * k, [(0, w * differs), (1 + x[:, 0], w), (1 + k + x[:, 1], w)])

    def f(totals: NDArray[Any]) -> NDArray[Any]:
        rows, columns = totals[..., 1 : 1 + k], totals[..., 1 + k :]
        n = rows.sum(axis=-1)
        chance = n * n - (rows * columns).sum(axis=-1)
        return 1 - totals[..., 0] * n / _positive(chance, n * n)

    def disagreement(totals: FloatArray) -> FloatArray:
        spread = np.outer(totals[1 : 1 + k] + 0.5, totals[1 + k :] + 0.5)
        np.fill_diagonal(spread, 0.0)
        spread /= spread.sum()
        return np.concatenate([[1.0], spread.sum(axis=1), spread.sum(axis=0)])

    said = [] if k < 2 else _kappa_warnings(x)
    return _estimate(
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
        warned=said,
    )


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
    x = _codes(ratings, n_categories)
    where, w = _where(x, clusters, weights)
    name, k = "gwet_ac1", n_categories
    used = (x >= 0).any(axis=1)
    if not ((x >= 0).sum(axis=1) >= 2).any():
        return _undefined(name, "no item has two ratings", confidence, unit, x, used)
    x, w = x[used], unit_mean_weights(w[used], int(used.sum()))
    pairs = _Pairs.of(x, where[used])
    two = pairs.pairs > 0
    share = np.divide(pairs.agreeing, pairs.pairs, out=np.zeros(len(x)), where=two)
    given = x >= 0
    each = w / given.sum(axis=1)
    # columns: agreement, items of two ratings, items of one, shares of the categories
    items = _columns(
        3 + k,
        [
            (0, w * share),
            (1, w * two),
            (2, w),
            *((3 + np.maximum(x[:, j], 0), each * given[:, j]) for j in range(x.shape[1])),
        ],
    )

    def f(totals: NDArray[Any]) -> NDArray[Any]:
        shares = totals[..., 3:] / totals[..., 2:3]
        chance = (shares * (1 - shares)).sum(axis=-1) / (k - 1)
        observed = totals[..., 0] / _positive(totals[..., 1], totals[..., 2])
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
        one_category=None,
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
    x = _codes(ratings, n_categories)
    number = _values(values, n_categories, level)
    where, w = _where(x, clusters, weights)
    name = f"krippendorff_alpha_{level}"
    used = (x >= 0).sum(axis=1) >= 2
    if not used.any():
        return _undefined(name, "no item has two ratings", confidence, unit, x, used)
    x, w = x[used], unit_mean_weights(w[used], int(used.sum()))
    pairs = _Pairs.of(x, where[used])
    form = _ALPHA[level](pairs, w, n_categories, number)
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
        warned=_kappa_warnings(x),
        details={"pairable": int((x >= 0).sum())},
    )


# -- Krippendorff's alpha as a function of sums, level by level -------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Form:
    """Alpha at one level: item columns, the function of their sums, the added disagreement."""

    items: Any
    f: Statistic
    disagreement: Callable[[FloatArray], FloatArray]


def _marginal_terms(pairs: _Pairs, w: FloatArray, first: int) -> list[_Term]:
    """Terms that add each rating to its category's column, from column ``first`` on."""
    x = pairs.x
    return [(first + np.maximum(x[:, j], 0), w * (x[:, j] >= 0)) for j in range(x.shape[1])]


def _coincidences(marginals: FloatArray) -> FloatArray:
    """Two off-diagonal coincidences (one pair of values) spread as the marginals say."""
    spread = np.outer(marginals + 0.5, marginals + 0.5)
    np.fill_diagonal(spread, 0.0)
    return np.asarray(2 * spread / spread.sum(), dtype=float)


def _alpha_nominal(pairs: _Pairs, w: FloatArray, k: int, number: FloatArray | None) -> _Form:
    # columns: disagreeing coincidences, the categories' coincidences
    apart = w * 2 * (pairs.pairs - pairs.agreeing) / (pairs.ratings - 1)
    items = _columns(1 + k, [(0, apart), *_marginal_terms(pairs, w, 1)])

    def f(totals: NDArray[Any]) -> NDArray[Any]:
        marginals = totals[..., 1:]
        n = marginals.sum(axis=-1)
        expected = n * n - (marginals * marginals).sum(axis=-1)
        return 1 - (n - 1) * totals[..., 0] / _positive(expected, n * n)

    def disagreement(totals: FloatArray) -> FloatArray:
        if k < 2:
            return np.zeros(1 + k)
        u = totals[1:] + 0.5
        marginals = u * (u.sum() - u)
        return np.concatenate([[2.0], 2 * marginals / marginals.sum()])

    return _Form(items, f, disagreement)


def _alpha_interval(pairs: _Pairs, w: FloatArray, k: int, number: FloatArray | None) -> _Form:
    # centred and scaled values lose no digits in sums of squares, and alpha is free of both
    v = _standard(_given(number))
    x = pairs.x
    present = x >= 0
    score = np.where(present, v[np.maximum(x, 0)], 0.0)
    apart = w * 2 * pairs.total(lambda a, b: (v[a] - v[b]) ** 2) / (pairs.ratings - 1)
    # columns: squared differences of coincidences, ratings, their sum, their sum of squares
    items = np.column_stack(
        [apart, w * pairs.ratings, w * score.sum(axis=1), w * (score * score).sum(axis=1)]
    )
    counts = np.zeros(k)
    for j in range(x.shape[1]):
        counts += np.bincount(x[present[:, j], j], w[present[:, j]], minlength=k)

    def f(totals: NDArray[Any]) -> NDArray[Any]:
        apart, n, s, ss = (totals[..., j] for j in range(4))
        expected = 2 * (n * ss - s * s)
        return 1 - (n - 1) * apart / _positive(expected, n * n)

    def disagreement(totals: FloatArray) -> FloatArray:
        if k < 2:
            return np.zeros(4)
        u = counts + 0.5  # one disagreeing pair over all pairs of values, in closed form
        marginals = u * (u.sum() - u)
        mass = marginals.sum()
        squared = 2 * (u.sum() * (u @ (v * v)) - (u @ v) ** 2)
        return 2 / mass * np.array([squared, mass, marginals @ v, marginals @ (v * v)])

    return _Form(items, f, disagreement)


def _alpha_ratio(pairs: _Pairs, w: FloatArray, k: int, number: FloatArray | None) -> _Form:
    v = _given(number)
    _check_cells(k, k, "ratio")
    total = v[:, None] + v[None, :]
    metric = np.divide(v[:, None] - v[None, :], total, out=np.zeros((k, k)), where=total > 0) ** 2
    apart = w * 2 * pairs.total(lambda a, b: metric[a, b]) / (pairs.ratings - 1)
    items = _columns(1 + k, [(0, apart), *_marginal_terms(pairs, w, 1)])

    def f(totals: NDArray[Any]) -> NDArray[Any]:
        marginals = totals[..., 1:]
        n = marginals.sum(axis=-1)
        expected = ((marginals @ metric) * marginals).sum(axis=-1)
        return 1 - (n - 1) * totals[..., 0] / _positive(expected, n * n)

    def disagreement(totals: FloatArray) -> FloatArray:
        if k < 2:
            return np.zeros(1 + k)
        pair = _coincidences(totals[1:])
        return np.concatenate([[(pair * metric).sum()], pair.sum(axis=1)])

    return _Form(items, f, disagreement)


def _alpha_ordinal(pairs: _Pairs, w: FloatArray, k: int, number: FloatArray | None) -> _Form:
    # Krippendorff's ordinal metric is the squared difference of mid-ranks, which depend on the
    # marginals of the whole table: so the coincidences themselves are kept, one column a pair
    # of different categories, and the metric is made anew from each table
    upper, lower = np.triu_indices(k, 1)
    cells = upper.size
    _check_cells(pairs.clusters, cells + k, "ordinal")
    cell = np.zeros((k, k), dtype=np.int64)
    cell[upper, lower] = cell[lower, upper] = np.arange(cells)
    terms: list[_Term] = []
    for a, b, both in pairs.each():
        apart = both & (a != b)
        terms.append((cell[np.maximum(a, 0), np.maximum(b, 0)], w * apart / (pairs.ratings - 1)))
    items = _columns(cells + k, [*terms, *_marginal_terms(pairs, w, cells)])

    def f(totals: NDArray[Any]) -> NDArray[Any]:
        marginals = totals[..., cells:]
        n = marginals.sum(axis=-1)
        rank = np.cumsum(marginals, axis=-1) - marginals / 2 - n[..., None] / 2
        step = rank[..., upper] - rank[..., lower]
        observed = 2 * (totals[..., :cells] * step * step).sum(axis=-1)
        expected = 2 * n * (marginals * rank * rank).sum(axis=-1)
        # the mean of centred mid-ranks is 0, so its square is not subtracted
        return 1 - (n - 1) * observed / _positive(expected, n**4)

    def disagreement(totals: FloatArray) -> FloatArray:
        if k < 2:
            return np.zeros(cells + k)
        pair = _coincidences(totals[cells:])
        return np.concatenate([pair[upper, lower], pair.sum(axis=1)])

    return _Form(items, f, disagreement)


_ALPHA: Mapping[str, Callable[[_Pairs, FloatArray, int, FloatArray | None], _Form]] = {
    "nominal": _alpha_nominal,
    "ordinal": _alpha_ordinal,
    "interval": _alpha_interval,
    "ratio": _alpha_ratio,
}


# -- what they share ---------------------------------------------------------------------------

_Term = tuple["int | IntArray", FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Pairs of raters on each item.

    ``x (n, R)`` codes; ``ratings``, ``pairs`` and ``agreeing`` are counts an item;
    ``clusters`` is the number of questions.
    """

    x: IntArray
    ratings: FloatArray
    pairs: FloatArray
    agreeing: FloatArray
    clusters: int

    @classmethod
    def of(cls, x: IntArray, where: IntArray) -> _Pairs:
        ratings = (x >= 0).sum(axis=1).astype(float)
        agreeing = np.zeros(len(x))
        for i in range(x.shape[1]):
            for j in range(i + 1, x.shape[1]):
                agreeing += (x[:, i] == x[:, j]) & (x[:, i] >= 0)
        return cls(x, ratings, ratings * (ratings - 1) / 2, agreeing, int(np.unique(where).size))

    def each(self) -> list[tuple[IntArray, IntArray, NDArray[np.bool_]]]:
        """Each pair of raters: their codes, and where both rated."""
        x, r = self.x, self.x.shape[1]
        return [
            (x[:, i], x[:, j], (x[:, i] >= 0) & (x[:, j] >= 0))
            for i in range(r)
            for j in range(i + 1, r)
        ]

    def total(self, metric: Callable[[IntArray, IntArray], FloatArray]) -> FloatArray:
        """An item's sum of ``metric`` over its pairs of raters."""
        out = np.zeros(len(self.x))
        for a, b, both in self.each():
            out += np.where(both, metric(np.maximum(a, 0), np.maximum(b, 0)), 0.0)
        return out


def _columns(width: int, terms: list[_Term]) -> Any:
    """A sparse table ``(n, width)``: each term adds a value an item to a column (each)."""
    n = terms[0][1].size
    rows = np.tile(np.arange(n), len(terms))
    place = np.concatenate([np.broadcast_to(np.asarray(where), (n,)) for where, _ in terms])
    value = np.concatenate([np.asarray(term, dtype=float) for _, term in terms])
    kept = value != 0
    return sparse.csr_array(
        sparse.coo_array((value[kept], (rows[kept], place[kept])), shape=(n, width))
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
    one_category: str | None,
    dropped: Mapping[str, int],
    warned: list[str],
    details: Mapping[str, object] | None = None,
) -> Estimate:
    """The estimate, and the plus-one jackknife interval on Fisher's z."""
    groups = Clusters.of(where, len(x))
    sums = Sums(items, groups)
    k = int(x.max()) + 1
    theta = sums.value(f)
    differing = _differing(x)
    minority = _minority(x)
    out = Estimate(
        name,
        theta,
        confidence=confidence,
        unit=unit,
        n=len(x),
        clusters=groups.count,
        dropped=dropped,
        details={**(details or {}), "disagreements": differing, "minority": minority},
    )
    if not math.isfinite(theta):
        raw = raw_agreement(
            x,
            n_categories=k,
            clusters=where,
            weights=weights,
            confidence=confidence,
            unit=unit,
        )
        return replace(
            out,
            estimate=math.nan,
            reason=one_category or "one category is declared: nothing to agree on",
            warnings=tuple(data_warnings(groups, weights, df=None, unit=unit)),
            details={**out.details, "agreement": raw},
        )
    se, design = sums.linearised(f)
    by = sums.by(unit)
    df = groups.df if unit == "question" else float(len(x) - 1)
    reason = too_few(len(by), _LEAST, unit)
    low = high = math.nan
    if reason is None:
        with_one = np.vstack([by, disagreement(sums.total)])
        centre = float(f(with_one.sum(axis=0)))
        low, high = jackknife_limits(
            centre, leave_one_out(f, with_one), scale=FISHER, df=df, confidence=confidence
        )
        low, high = min(low, theta), max(high, theta)
    said = [*data_warnings(groups, weights, df=df, unit=unit), *warned]
    if differing < FEW_DISAGREEMENTS:
        said.append(f"rests on {differing} disagreeing items (fewer than 10)")
    who = "question" if unit == "question" else "item"
    return replace(
        out,
        low=low,
        high=high,
        method=f"{who} jackknife t on Fisher z, one disagreement added"
        + ("" if unit == "question" else "; items taken as independent"),
        design_effect=design,
        reason=reason,
        warnings=tuple(said),
        details={**out.details, "se": se, "df": df, "effective_n": len(x) / design},
    )


def _differing(x: IntArray) -> int:
    """Items on which not all ratings are the same."""
    top = x.max(axis=1)
    return int(((x >= 0) & (x != top[:, None])).any(axis=1).sum())


def _minority(x: IntArray) -> int:
    """Fewest ratings of a rater (who rated at all) outside his own commonest category."""
    out = []
    for j in range(x.shape[1]):
        given = x[x[:, j] >= 0, j]
        if given.size:
            out.append(given.size - int(np.bincount(given).max()))
    return min(out)


def _kappa_warnings(x: IntArray) -> list[str]:
    out = []
    least = _minority(x)
    if least < FEW_MINORITY_RATINGS:
        out.append(
            f"a rater gave only {least} ratings outside the commonest category (fewer than 5): "
            "kappa and alpha are not estimable in practice; read AC1 and raw agreement"
        )
    return out


def _positive(value: NDArray[Any], size: NDArray[Any]) -> NDArray[Any]:
    """A divisor, NaN where it is 0 but for rounding against ``size``."""
    return np.where(value.real > 1e-12 * size.real, value, np.nan)


def _codes(ratings: ArrayLike, n_categories: int) -> IntArray:
    raw = np.asarray(ratings)
    if raw.ndim != 2:
        raise InputError(f"ratings are (n_items, n_raters), got shape {raw.shape}")
    if raw.size and not np.issubdtype(raw.dtype, np.integer):
        raise InputError(
            f"ratings are {raw.dtype}, not integer codes", cure="code a missing rating as -1"
        )
    if n_categories < 1:
        raise InputError(f"{n_categories} categories: there must be one at least")
    x = raw.astype(np.int64)
    bad = (x < -1) | (x >= n_categories)
    if bad.any():
        row, column = (int(v[0]) for v in np.nonzero(bad))
        raise InputError(
            f"row {row + 1}, rater {column + 1}: code {x[row, column]} is not one of the "
            f"{n_categories} categories",
            cure="declare all categories; -1 is a missing rating",
        )
    return x


def _side_by_side(a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    one, two = np.asarray(a), np.asarray(b)
    if one.ndim != 1 or one.shape != two.shape:
        raise InputError(f"the raters' codes have shapes {one.shape} and {two.shape}")
    if one.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    return np.stack([one, two], axis=1)


def _where(
    x: IntArray, clusters: ArrayLike, weights: ArrayLike | None
) -> tuple[IntArray, FloatArray]:
    return Clusters.of(clusters, len(x)).codes, unit_mean_weights(weights, len(x))


def _values(values: ArrayLike | None, k: int, level: str) -> FloatArray | None:
    if level not in ("interval", "ratio"):
        return None
    if values is None:
        raise InputError(f"{level} alpha needs the number that each code stands for")
    v = np.asarray(values, dtype=float)
    if v.shape != (k,) or not np.isfinite(v).all() or np.unique(v).size != k:
        raise InputError(f"values must be {k} distinct numbers, one a category")
    if level == "ratio" and (v < 0).any():
        raise InputError(
            f"ratio alpha has no meaning for the negative value {v.min():g}", cure="use interval"
        )
    return v


def _given(number: FloatArray | None) -> FloatArray:
    if number is None:
        raise InputError("alpha at this level needs the number that each code stands for")
    return number


def _standard(v: FloatArray) -> FloatArray:
    centred = v - v.mean()
    reach = float(np.abs(centred).max())
    return centred / reach if reach > 0 else centred


def _check_cells(rows: int, columns: int, level: str) -> None:
    if rows * columns > _LARGEST:
        raise InputError(
            f"{level} alpha of so many distinct values needs {rows * columns:,} sums",
            cure="use --scale interval, or fewer categories",
        )


def _dropped(used: NDArray[np.bool_], why: str) -> dict[str, int]:
    count = int((~used).sum())
    return {why: count} if count else {}


def _undefined(
    name: str, reason: str, confidence: float, unit: Unit, x: IntArray, used: NDArray[np.bool_]
) -> Estimate:
    why = "no items" if len(x) == 0 else reason
    return Estimate(
        name,
        math.nan,
        confidence=confidence,
        unit=unit,
        reason=why,
        dropped={reason: len(x)} if len(x) else {},
    )
