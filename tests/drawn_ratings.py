"""Ratings drawn from a known population: elements in questions, three annotators and a judge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]

DESIGNS = {
    "balanced": ((0.40, 0.25, 0.35), 0.15),
    "skewed": ((0.12, 0.08, 0.80), 0.12),
    "very skewed": ((0.03, 0.04, 0.93), 0.04),
}


def draw(rng: np.random.Generator, g: int, design: str) -> tuple[Codes, Codes, Codes]:
    """Clusters, three annotators with gaps, a judge that errs 1.3 times as often as they do."""
    shares, error = DESIGNS[design]
    spread = 4.0  # (1 - ICC) / ICC at 0.2
    sizes = rng.integers(3, 11, g)
    clusters = np.repeat(np.arange(g), sizes)
    n = clusters.size
    own = rng.dirichlet(np.array(shares) * spread, g)[clusters]
    truth = (rng.random(n)[:, None] > own.cumsum(axis=1)[:, :2]).sum(axis=1)
    wrong = rng.beta(error * spread, (1 - error) * spread, g)[clusters]
    x = np.empty((n, 4), dtype=np.int64)
    for rater in range(4):
        errs = rng.random(n) < wrong * (1.3 if rater == 3 else 1.0)
        x[:, rater] = np.where(errs, rng.choice(3, n, p=shares), truth)
    people = np.where(rng.random((n, 3)) < 0.1, -1, x[:, :3])
    return clusters, people, x[:, 3]
