"""The two halves of Krippendorff's alpha: observed and expected disagreement."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import SettingsError
from .chance import Level
from .clusters import FloatArray
from .coincidences import code_values
from .rated import Pairs, check_cells, rating_codes

__all__ = ["AlphaParts", "alpha_parts"]


@dataclass(frozen=True, slots=True)
class AlphaParts:
    """How alpha comes about.

    Parameters
    ----------
    observed, expected
        Mean disagreement of two ratings of one item, and of any two pairable ratings, in the
        metric of the level (0 or 1; squared differences; of ranks; relative). NaN without pairs.
    pairable
        Ratings in items of two or more.
    """

    observed: float
    expected: float
    pairable: int

    @property
    def alpha(self) -> float:
        """1 - observed / expected; NaN where nothing is expected to differ."""
        return 1 - self.observed / self.expected if self.expected > 0 else math.nan


def alpha_parts(
    ratings: ArrayLike, *, level: Level, values: ArrayLike | None = None, n_categories: int
) -> AlphaParts:
    """Observed and expected disagreement, straight from the coincidences.

    Parameters and errors as :func:`~accord.validate.chance.krippendorff_alpha`, whose point
    estimate this is a second way to. The table of all pairs of categories is held in memory.

    References
    ----------
    Krippendorff 2004, Content Analysis, ch. 11.
    """
    if level not in ("nominal", "ordinal", "interval", "ratio"):
        raise SettingsError(
            f"level {level!r} is unknown", cure="nominal, ordinal, interval or ratio"
        )
    x = rating_codes(ratings, n_categories)
    number = code_values(values, n_categories, level)
    check_cells(n_categories, n_categories, f"{level} alpha")
    x = x[(x >= 0).sum(axis=1) >= 2]
    if not len(x):
        return AlphaParts(math.nan, math.nan, 0)
    often = np.bincount(x[x >= 0], minlength=n_categories).astype(float)
    metric = _metric(level, often, number)
    n = float(often.sum())
    pairs = Pairs.of(x)
    apart = np.zeros(len(x))
    for rows, a, b in pairs.differing():
        apart[rows] += metric[a, b]
    observed = float((2 * apart / (pairs.ratings - 1)).sum()) / n
    return AlphaParts(observed, float(often @ metric @ often) / (n * (n - 1)), int(n))


def _metric(level: str, often: FloatArray, number: FloatArray | None) -> FloatArray:
    """Squared difference of each pair of categories, ``(k, k)``."""
    if level == "nominal":
        return 1.0 - np.eye(often.size)
    if level == "ordinal" or number is None:
        # ratings from one category to the other, half of either end: the distance of mid-ranks
        rank = np.cumsum(often) - often / 2
        return np.asarray((rank[:, None] - rank[None, :]) ** 2, dtype=float)
    apart, total = number[:, None] - number[None, :], number[:, None] + number[None, :]
    if level == "interval":
        return np.asarray(apart**2, dtype=float)
    size = np.divide(apart, total, out=np.zeros_like(apart), where=total != 0)
    return np.asarray(size**2, dtype=float)
