"""How many units of a sample fall to each stratum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

__all__ = ["ALLOCATIONS", "Allocation", "LEAST", "allocate", "spread"]

Allocation = Literal["proportional", "equal", "neyman"]
ALLOCATIONS: tuple[Allocation, ...] = ("proportional", "equal", "neyman")

LEAST = 2
"""Units a stratum gives at least (all of a smaller one): one unit alone shows no variance."""

_PRIOR = 2.0
"""Pilot labels that the pooled rate is worth in a stratum's own rate."""


def allocate(
    sizes: Sequence[int],
    n: int,
    *,
    shares: Sequence[float] | None = None,
    least: int = LEAST,
) -> list[int]:
    """How many to draw from each stratum: in proportion to ``shares``, between the bounds.

    Parameters
    ----------
    sizes
        Units in each stratum, none negative.
    n
        Units to draw, from the sum of the lower bounds to ``sum(sizes)``.
    shares
        What the numbers are proportional to, all positive; ``sizes`` by default. Ones give equal
        allocation, size times standard deviation Neyman's (Neyman 1934; Cochran 1977, ch. 5).
    least
        Lower bound of each stratum; its size where that is smaller.

    Returns
    -------
    list of int
        Sums to ``n``. What a full stratum can't give is shared among the others in proportion;
        rounded by largest remainder (ties: the earlier stratum).

    Examples
    --------
    >>> allocate([60, 30, 10], 10)
    [5, 3, 2]
    >>> allocate([98, 1, 1], 10)
    [8, 1, 1]
    >>> allocate([60, 30, 4], 30, shares=[1, 1, 1])
    [13, 13, 4]
    """
    low = [min(least, size) for size in sizes]
    weights = [float(size) for size in sizes] if shares is None else [float(s) for s in shares]
    # A stratum without a unit to give takes no part, whatever its share.
    open_ = [h for h, size in enumerate(sizes) if size > low[h]]

    def drawn(rate: float) -> list[float]:
        exact = [float(count) for count in low]
        for h in open_:
            exact[h] = min(max(rate * weights[h], float(low[h])), float(sizes[h]))
        return exact

    below, above = 0.0, max((sizes[h] / weights[h] for h in open_), default=0.0)
    for _ in range(200):
        middle = (below + above) / 2
        below, above = (middle, above) if sum(drawn(middle)) < n else (below, middle)
    exact = drawn(above)
    counts = [math.floor(value + 1e-9) for value in exact]
    while sum(counts) < n:
        best = max(
            (h for h in range(len(sizes)) if counts[h] < sizes[h]),
            key=lambda h: (round(exact[h] - counts[h], 9), -h),
        )
        counts[best] += 1
    return counts


def spread(right: Sequence[float], labels: Sequence[float]) -> list[float]:
    """The standard deviation of a 0/1 value in each stratum, from a pilot's labels.

    Parameters
    ----------
    right
        Labels of each stratum whose value is 1.
    labels
        Labels of each stratum; 0 where the pilot has none.

    Returns
    -------
    list of float
        The square root of p (1 - p), never 0: a stratum whose few labels all agree is not taken
        to be without variance. p leans on the rate of all strata, with the weight of two labels,
        and that rate on one half.

    Examples
    --------
    >>> [round(s, 3) for s in spread([10, 5, 0], [10, 10, 0])]
    [0.208, 0.499, 0.445]
    """
    pooled = (sum(right) + 1) / (sum(labels) + 2)
    rates = [(r + _PRIOR * pooled) / (n + _PRIOR) for r, n in zip(right, labels, strict=True)]
    return [math.sqrt(rate * (1 - rate)) for rate in rates]
