"""Kappa for any number of raters, with ratings missing: Fleiss and Conger."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .beyond_chance import undefined
from .clusters import FloatArray, Unit
from .methods import Asked, Method
from .rated import check_cells, columns, positive, rating_codes
from .resampling import Source
from .result import Estimate
from .weighted import Rated, Weighting, finished, named, pair_disagreement, shared_chance

__all__ = ["conger_kappa", "fleiss_kappa"]

_ONE_CATEGORY = "one category only: expected agreement is 1"


def fleiss_kappa(
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
    """How far do raters agree beyond what their pooled habits would give by chance?

    It does not matter who gave a rating, so each item may have raters of its own.

    Parameters
    ----------
    ratings
        ``(n_items, n_raters)`` codes 0..k-1, -1 = missing (never a category). Items without a
        rating are left out and counted; those with one count for the category shares only.
    weighting, values
        As :func:`~accord.validate.weighted.weighted_kappa`; the coefficient is then named
        ``fleiss_kappa_WEIGHTING``.
    n_categories
        k, the number of declared categories.
    clusters, weights, confidence, unit, method, rng, resamples
        As :func:`~accord.validate.chance.cohen_kappa`.

    Returns
    -------
    Estimate
        1 is perfect, 0 what chance would give, negative below chance. NaN with a reason when all
        ratings lie in one category, or no item has two. ``details`` as
        :func:`~accord.validate.chance.gwet_ac1`.

    Raises
    ------
    InputError
        Arrays of different lengths, codes outside -1..k-1, values that aren't distinct, bad
        weights.

    References
    ----------
    Fleiss 1971, Psychol. Bull. 76; with missing ratings Gwet 2014.
    """

    def expected(shares: Any, v: FloatArray) -> Any:
        return ((shares @ v) * shares).sum(axis=-1)

    return shared_chance(
        named("fleiss_kappa", weighting),
        expected,
        ratings,
        weighting=weighting,
        values=values,
        n_categories=n_categories,
        clusters=clusters,
        weights=weights,
        asked=Asked.of(method, confidence, unit, rng, resamples),
        one_category=_ONE_CATEGORY,
        warn_minority=True,
    )


def conger_kappa(
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
    """How far do the same raters agree beyond what each one's own habits would give by chance?

    Cohen's kappa for any number of raters: with two and nothing missing it is Cohen's, interval
    included. Parameters, result and errors as :func:`fleiss_kappa`; the columns must be persons.
    Chance disagreement is the mean over pairs of raters of that between their own distributions,
    each over all that he rated; whoever rated nothing is in no pair.

    References
    ----------
    Conger 1980, Psychol. Bull. 88; with missing ratings Gwet 2014.
    """
    asked = Asked.of(method, confidence, unit, rng, resamples)
    name = named("conger_kappa", weighting)
    x = rating_codes(ratings, n_categories)
    v = pair_disagreement(weighting, n_categories, values)
    rated = Rated.of(x, v, clusters, weights)
    if rated is None:
        return undefined(name, "no item has two ratings", asked, x)
    x, w, k = rated.x, rated.w, n_categories
    persons = [j for j in range(x.shape[1]) if (x[:, j] >= 0).any()]
    r = len(persons)
    check_cells(len(np.unique(rated.where)), 2 + r * k, name)
    rows = np.arange(len(x))
    has = [np.flatnonzero(x[:, j] >= 0) for j in persons]
    # columns: disagreement, items of two ratings, then each rater's categories
    items = columns(
        (len(x), 2 + r * k),
        [
            (rows, 0, w * rated.differing),
            (rows, 1, w * rated.two),
            *(
                (at, 2 + i * k + x[at, j], w[at])
                for i, (j, at) in enumerate(zip(persons, has, strict=True))
            ),
        ],
    )

    def f(totals: Any) -> Any:
        counts = totals[..., 2:].reshape(*totals.shape[:-1], r, k)
        given = counts.sum(axis=-1)
        most = given.sum(axis=-1)
        # without a question a rater may have rated nothing: he then is in no pair
        there = given.real > 1e-12 * most.real[..., None]
        shares = np.where(there[..., None], counts / np.where(there, given, 1)[..., None], 0)
        g = there.sum(axis=-1)
        pooled = shares.sum(axis=-2)
        alike = ((shares @ v) * shares).sum(axis=(-1, -2))
        by_chance = (((pooled @ v) * pooled).sum(axis=-1) - alike) / np.where(
            g > 1, g * (g - 1), np.nan
        )
        seen = totals[..., 0] / positive(totals[..., 1], most)
        return 1 - seen / positive(by_chance, np.ones_like(by_chance))

    def disagreement(totals: FloatArray) -> FloatArray:
        # one item off the diagonal, for each pair of raters in proportion to their habits
        a = totals[2:].reshape(r, k) + 0.5
        mass = np.outer(a.sum(axis=1), a.sum(axis=1)) - a @ a.T
        others = 1 / mass
        np.fill_diagonal(others, 0)
        apart = ((a @ v @ a.T) * others).sum() / (r * (r - 1))
        spread = a * (others @ a.sum(axis=1))[:, None] - a * (others @ a)
        return np.concatenate([[apart, 1.0], (spread / (r - 1)).ravel()])

    return finished(name, f, disagreement, items, rated, asked, _ONE_CATEGORY, True)
