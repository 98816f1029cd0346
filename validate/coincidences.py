"""Krippendorff's alpha at each level as a function of sums over items.

Alpha is 1 - observed / expected disagreement of coinciding values. At the nominal, interval and
ratio levels the disagreement of two values is fixed, so an item counts with its own disagreement
and its values; at the ordinal level it depends on how often each value was given, so the
coincidences themselves are summed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import InputError
from .clusters import FloatArray, Statistic
from .rated import Pairs, Term, check_cells, columns, positive

__all__ = ["AlphaForm", "alpha_form", "code_values"]


@dataclass(frozen=True, slots=True, eq=False)
class AlphaForm:
    """Alpha at one level.

    Parameters
    ----------
    items
        ``(n, q)`` columns, weights included.
    f
        Alpha of their sums.
    disagreement
        From the sums, the sums of one more item: a single disagreeing pair of values, spread over
        the pairs of different values as their frequencies (each with 1/2 more) say.
    """

    items: Any
    f: Statistic
    disagreement: Callable[[FloatArray], FloatArray]


def alpha_form(
    level: str, pairs: Pairs, weights: FloatArray, k: int, values: FloatArray | None
) -> AlphaForm:
    """The form of alpha at a level.

    Parameters
    ----------
    pairs
        Items of two ratings or more.
    weights
        ``(n,)`` of mean 1.
    k
        Number of categories.
    values
        ``(k,)`` what the codes stand for (interval and ratio).
    """
    number = np.arange(k, dtype=float) if values is None else values
    return _FORMS[level](pairs, weights, k, number)


def code_values(values: ArrayLike | None, k: int, level: str) -> FloatArray | None:
    """The numbers that codes stand for, checked; None at levels that don't use them.

    Raises
    ------
    InputError
        They are needed and missing, not ``k`` distinct numbers, or negative at the ratio level.
    """
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


def _nominal(pairs: Pairs, w: FloatArray, k: int, values: FloatArray) -> AlphaForm:
    # columns: disagreeing coincidences, coincidences of each category
    apart = w * 2 * (pairs.pairs - pairs.agreeing) / (pairs.ratings - 1)
    items = _with_marginals(pairs, w, k, [_first(apart)], 1)

    def f(totals: Any) -> Any:
        marginals = totals[..., 1:]
        n = marginals.sum(axis=-1)
        expected = n * n - (marginals * marginals).sum(axis=-1)
        return 1 - (n - 1) * totals[..., 0] / positive(expected, n * n)

    def disagreement(totals: FloatArray) -> FloatArray:
        return np.concatenate([[2.0], _pair_marginals(totals[1:])])

    return AlphaForm(items, f, disagreement)


def _interval(pairs: Pairs, w: FloatArray, k: int, values: FloatArray) -> AlphaForm:
    # alpha is free of origin and unit; centred values lose no digits in their squares
    v = values - values.mean()
    v = v / (np.abs(v).max() or 1.0)
    x, m = pairs.x, pairs.ratings
    present = x >= 0
    score = np.where(present, v[np.maximum(x, 0)], 0.0)
    total = score.sum(axis=1)
    away = np.where(present, score - (total / m)[:, None], 0.0)
    # an item's squared differences over ordered pairs: 2 m times its squared distances from the
    # mean, so any number of distinct values costs nothing
    apart = w * 2 * m * (away * away).sum(axis=1) / (m - 1)
    # columns: squared differences of coincidences, ratings, their sum, their sum of squares
    items = np.column_stack([apart, w * m, w * total, w * (score * score).sum(axis=1)])
    often = np.zeros(k)
    for j in range(x.shape[1]):
        often += np.bincount(x[present[:, j], j], w[present[:, j]], minlength=k)

    def f(totals: Any) -> Any:
        apart, n, s, ss = (totals[..., j] for j in range(4))
        return 1 - (n - 1) * apart / positive(2 * (n * ss - s * s), n * n)

    def disagreement(totals: FloatArray) -> FloatArray:
        u = often + 0.5
        marginals = _pair_marginals(often)
        # over all pairs of different values, in closed form
        squared = 2 * (u.sum() * (u @ (v * v)) - (u @ v) ** 2) / (u.sum() ** 2 - u @ u)
        return np.array([2 * squared, 2.0, marginals @ v, marginals @ (v * v)])

    return AlphaForm(items, f, disagreement)


def _ratio(pairs: Pairs, w: FloatArray, k: int, values: FloatArray) -> AlphaForm:
    check_cells(k, k, "ratio alpha")
    total = values[:, None] + values[None, :]
    apart = values[:, None] - values[None, :]
    metric = np.divide(apart, total, out=np.zeros((k, k)), where=total > 0) ** 2
    each = w * 2 / (pairs.ratings - 1)
    terms: list[Term] = [(rows, 0, each[rows] * metric[a, b]) for rows, a, b in pairs.differing()]
    items = _with_marginals(pairs, w, k, terms, 1)

    def f(totals: Any) -> Any:
        marginals = totals[..., 1:]
        n = marginals.sum(axis=-1)
        expected = ((marginals @ metric) * marginals).sum(axis=-1)
        return 1 - (n - 1) * totals[..., 0] / positive(expected, n * n)

    def disagreement(totals: FloatArray) -> FloatArray:
        pair = _pair(totals[1:])
        return np.concatenate([[(pair * metric).sum()], pair.sum(axis=1)])

    return AlphaForm(items, f, disagreement)


def _ordinal(pairs: Pairs, w: FloatArray, k: int, values: FloatArray) -> AlphaForm:
    # Krippendorff's ordinal metric, (sum of n_g from k to l, less half of n_k and n_l)^2, is the
    # squared difference of the two categories' mid-ranks
    upper, lower = np.triu_indices(k, 1)
    cells = upper.size
    cell = np.zeros((k, k), dtype=np.int64)
    cell[upper, lower] = cell[lower, upper] = np.arange(cells)
    each = w / (pairs.ratings - 1)
    terms: list[Term] = [(rows, cell[a, b], each[rows]) for rows, a, b in pairs.differing()]
    items = _with_marginals(pairs, w, k, terms, cells)

    def f(totals: Any) -> Any:
        marginals = totals[..., cells:]
        n = marginals.sum(axis=-1)
        rank = np.cumsum(marginals, axis=-1) - marginals / 2 - n[..., None] / 2
        step = rank[..., upper] - rank[..., lower]
        observed = 2 * (totals[..., :cells] * step * step).sum(axis=-1)
        # centred mid-ranks have mean 0, so no square of it is subtracted
        expected = 2 * n * (marginals * rank * rank).sum(axis=-1)
        return 1 - (n - 1) * observed / positive(expected, n**4)

    def disagreement(totals: FloatArray) -> FloatArray:
        pair = _pair(totals[cells:])
        return np.concatenate([pair[upper, lower], pair.sum(axis=1)])

    return AlphaForm(items, f, disagreement)


_FORMS: Mapping[str, Callable[[Pairs, FloatArray, int, FloatArray], AlphaForm]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
    "ratio": _ratio,
}


def _first(value: FloatArray) -> Term:
    return np.arange(value.size), 0, value


def _with_marginals(pairs: Pairs, w: FloatArray, k: int, terms: list[Term], first: int) -> Any:
    """Item columns: the terms given, and from column ``first`` on the categories' ratings."""
    x = pairs.x
    rated = [np.flatnonzero(x[:, j] >= 0) for j in range(x.shape[1])]
    given: list[Term] = [(rows, first + x[rows, j], w[rows]) for j, rows in enumerate(rated)]
    return columns((len(x), first + k), [*terms, *given])


def _pair(marginals: FloatArray) -> FloatArray:
    """Two off-diagonal coincidences (one pair of values) spread as the marginals say."""
    spread = np.outer(marginals + 0.5, marginals + 0.5)
    np.fill_diagonal(spread, 0.0)
    return np.asarray(2 * spread / spread.sum(), dtype=float)


def _pair_marginals(marginals: FloatArray) -> FloatArray:
    """The row sums of :func:`_pair`, without the table."""
    u = marginals + 0.5
    spread = u * (u.sum() - u)
    return np.asarray(2 * spread / spread.sum(), dtype=float)
