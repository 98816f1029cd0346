"""What a figure must say about itself: each condition, and its words, in one place."""

from __future__ import annotations

import numpy as np

from .clusters import Clusters, FloatArray, Unit

__all__ = [
    "FEW_DIFFERING",
    "FEW_DISAGREEMENTS",
    "FEW_MINORITY_ITEMS",
    "FEW_MINORITY_RATINGS",
    "data_warnings",
    "hangs_on_one",
    "too_few",
]

FEW_DISAGREEMENTS = 10
"""Below so many disagreeing items a verdict is INCONCLUSIVE."""
FEW_DIFFERING = 10
"""Below so many responses where the judge differs, r rests on hardly anything."""
FEW_MINORITY_ITEMS = 10
"""Below so many items of the rarer outcome clustering can't be estimated."""
FEW_MINORITY_RATINGS = 5
"""Below so many ratings outside a rater's commonest category kappa and alpha say nothing."""

_FEW_EFFECTIVE = 20
_HEAVY_WEIGHT = 10
_LARGE_QUESTION = 0.10


def too_few(count: int, least: int, unit: Unit) -> str | None:
    """The reason for giving no interval below ``least`` units; None when there are enough."""
    if count >= least:
        return None
    noun = "question" if unit == "question" else "item"
    if count == 1:
        return f"no interval: one {noun}"
    return f"no interval: too few {noun}s ({count}; at least {least})"


def hangs_on_one(low: float, unit: Unit) -> str | None:
    """The reason where a jackknife has no limits though there are units enough; else None."""
    if low == low:
        return None
    return f"no interval: without one {unit} the figure is undefined"


def data_warnings(
    clusters: Clusters, weights: FloatArray, *, df: float | None, unit: Unit
) -> list[str]:
    """Warnings that hold for every coefficient.

    Parameters
    ----------
    df
        The degrees of freedom of the interval; None when it has none.
    """
    out = []
    if unit == "question" and df is not None and df + 1 < _FEW_EFFECTIVE:
        out.append(
            f"fewer than 20 effective questions ({df + 1:.1f}): "
            "the interval is approximate and wide"
        )
    heavy = float(np.max(weights) / np.mean(weights))
    if heavy > _HEAVY_WEIGHT:
        out.append(f"few items dominate: the largest weight is {heavy:.1f} times the mean")
    if unit == "question" and clusters.largest_share > _LARGE_QUESTION:
        out.append(f"one question dominates: it holds {clusters.largest_share:.0%} of the items")
    return out
