"""Made-up verdicts: three people and a judge rate elements of list answers, several to a question.

Verdicts are wrong, half or right (0, 0.5, 1), mostly right; difficulty is shared within a question;
a tenth of people's ratings is missing. The judge also gives a score between 0 and 1. No real data
inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Ratings", "make"]


@dataclass(frozen=True, slots=True)
class Ratings:
    """Codes 0, 1, 2 of people ``(n, 3)``, -1 missing, and of the judge ``(n,)``; his scores."""

    people: Any
    judge: Any
    score: Any
    questions: Any

    @property
    def rated(self) -> Any:
        """Items that a person rated."""
        return (self.people >= 0).any(axis=1)

    @property
    def mean(self) -> Any:
        """People's mean verdict in [0, 1] of the items they rated."""
        given = self.people[self.rated]
        return (given.clip(0) / 2).sum(axis=1) / (given >= 0).sum(axis=1)

    @property
    def majority(self) -> Any:
        """People's commonest verdict, the lowest of several; -1 where there is none."""
        counts = np.stack([(self.people == k).sum(axis=1) for k in range(3)], axis=1)
        return np.where(self.rated, counts.argmax(axis=1), -1)


def make(n: int, seed: int = 3) -> Ratings:
    """``n`` items in questions of 2 to 9."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 10, n // 2)
    questions = np.repeat(np.arange(sizes.size), sizes)[:n]
    hard = rng.normal(0, 0.06, sizes.size)[questions]
    right = np.clip(0.82 + hard + rng.normal(0, 0.1, n), 0.02, 0.99)
    u = rng.random(n)
    truth = np.where(u < right, 2, np.where(u < right + (1 - right) * 0.4, 1, 0))

    def noisy(accuracy: float) -> Any:
        return np.where(rng.random(n) < accuracy, truth, rng.integers(0, 3, n))

    people = np.stack([noisy(accuracy) for accuracy in (0.96, 0.93, 0.85)], axis=1)
    people[rng.random((n, 3)) < 0.1] = -1
    judge = noisy(0.93)
    score = np.clip(judge / 2 + rng.normal(0, 0.06, n), 0, 1)
    return Ratings(people, judge, score, questions)
