"""The sums behind the leave-one-out ceiling: a block of columns for each annotator.

A block holds what a statistic needs of the annotator and of the judge, both against the aggregate
of the other annotators, on the items that all three have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..scoring.errors import InputError
from .clusters import Clusters, FloatArray, IntArray, Sums, Unit, unit_mean_weights
from .others import majority_without, mean_without
from .rated import BoolArray, Term, check_cells, columns, positive, rating_codes

__all__ = ["OF_LABELS", "AnnotatorSums", "Sides", "Statistic", "label_sides", "number_sides"]

Statistic = Literal["agreement", "cohen_kappa", "pearson", "mad"]
OF_LABELS = ("agreement", "cohen_kappa")
_FEWEST_ITEMS = 10
"""An annotator with fewer items has no say, unless nobody has so many."""


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Values ``(n,)`` and ``(n, R)``, the aggregate of the others ``(n, R)``, who takes part."""

    judge: NDArray[Any]
    people: NDArray[Any]
    others: NDArray[Any]
    used: BoolArray
    tied: BoolArray
    rated: BoolArray
    judged: BoolArray


def label_sides(judge: ArrayLike, people: ArrayLike, k: int) -> Sides:
    x = rating_codes(people, k)
    j = rating_codes(np.asarray(judge).reshape(-1, 1), k)[:, 0]
    _same_length(j, x)
    others, tied = majority_without(x, k)
    rated, judged = np.asarray(x >= 0), np.asarray(j >= 0)
    here = rated & judged[:, None]
    return Sides(j, x, others, here & (others >= 0), here & tied, rated, judged)


def number_sides(judge: ArrayLike, people: ArrayLike) -> Sides:
    x, j = np.asarray(people, dtype=float), np.asarray(judge, dtype=float)
    if x.ndim != 2 or j.ndim != 1:
        raise InputError(f"scores are (n,) and (n, annotators), got {j.shape} and {x.shape}")
    _same_length(j, x)
    if np.isinf(x).any() or np.isinf(j).any():
        raise InputError("a score is infinite", cure="NaN is a missing score")
    rated, judged = ~np.isnan(x), ~np.isnan(j)
    others = mean_without(x)
    used = rated & judged[:, None] & ~np.isnan(others)
    return Sides(j, x, others, used, np.zeros(x.shape, dtype=bool), rated, judged)


def _same_length(judge: NDArray[Any], people: NDArray[Any]) -> None:
    if len(judge) != len(people):
        raise InputError(
            f"the judge has {len(judge)} ratings, the annotators' items are {len(people)}"
        )


class AnnotatorSums:
    """The sums of one statistic over all annotators.

    Attributes
    ----------
    kept, chosen
        The annotators with enough items, and which of these have a figure on both sides.
    any
        ``(n,)`` the items that take part.
    groups, weights, sums
        Their questions, their weights of mean 1, their columns: one block an annotator.
    scale
        What a distance is divided by.
    """

    def __init__(
        self,
        sides: Sides,
        statistic: Statistic,
        *,
        k: int,
        where: IntArray,
        weights: FloatArray,
        confidence: float,
        unit: Unit,
    ) -> None:
        self.statistic, self.k, self.confidence = statistic, k, confidence
        self.unit: Unit = unit
        self.sides = sides
        counts = sides.used.sum(axis=0)
        least = max(1, min(_FEWEST_ITEMS, int(counts.max(initial=0))))
        self.kept = np.flatnonzero(counts >= least)
        self.any = np.asarray(sides.used[:, self.kept].any(axis=1))
        self.counts = counts
        if self.any.any():
            self.groups = Clusters.of(where[self.any], int(self.any.sum()))
            self.weights = unit_mean_weights(weights[self.any], self.groups.n)
            self._lay_out()

    def _lay_out(self) -> None:
        made: dict[str, Callable[..., list[Term]]] = {
            "agreement": self._matches,
            "cohen_kappa": self._tables,
            "pearson": self._moments,
            "mad": self._distances,
        }
        widths = {"agreement": 3, "cohen_kappa": 2 + 4 * self.k, "pearson": 9, "mad": 3}
        self.width = widths[self.statistic]
        self.scale, self.centre = self._unit_of_score()
        terms: list[Term] = []
        for at, c in enumerate(self.kept):
            rows = np.flatnonzero(self.sides.used[self.any, c])
            h, a = self.sides.people[self.any][rows, c], self.sides.others[self.any][rows, c]
            j = self.sides.judge[self.any][rows]
            start = at * self.width
            terms += [
                (who, start + place, value)
                for who, place, value in made[self.statistic](rows, h, j, a, self.weights[rows])
            ]
        cells = self.groups.count if self.unit == "question" else self.groups.n
        check_cells(cells, len(self.kept) * self.width, "the leave-one-out ceiling")
        shape = (self.groups.n, len(self.kept) * self.width)
        self.sums = Sums(columns(shape, terms), self.groups)
        with np.errstate(all="ignore"):
            self.each = [self.each_of(self.sums.total, side) for side in (0, 1)]
        defined = np.isfinite(self.each[0]) & np.isfinite(self.each[1])
        self.chosen = np.flatnonzero(defined)

    # -- columns: what is summed, for one annotator ------------------------------------------

    def _matches(
        self, rows: IntArray, h: IntArray, j: IntArray, a: IntArray, w: FloatArray
    ) -> list[Term]:
        return [(rows, 0, w), (rows, 1, w * (h == a)), (rows, 2, w * (j == a))]

    def _tables(
        self, rows: IntArray, h: IntArray, j: IntArray, a: IntArray, w: FloatArray
    ) -> list[Term]:
        k = self.k
        out: list[Term] = []
        for side, x in enumerate((h, j)):
            start = side * (1 + 2 * k)
            out += [
                (rows, start, w * (x != a)),
                (rows, start + 1 + x, w),
                (rows, start + 1 + k + a, w),
            ]
        return out

    def _moments(
        self, rows: IntArray, h: FloatArray, j: FloatArray, a: FloatArray, w: FloatArray
    ) -> list[Term]:
        h, j, a = ((v - self.centre) / self.scale for v in (h, j, a))
        made = [w, w * a, w * a * a]
        for x in (h, j):
            made += [w * x, w * x * x, w * x * a]
        return [(rows, place, value) for place, value in enumerate(made)]

    def _distances(
        self, rows: IntArray, h: FloatArray, j: FloatArray, a: FloatArray, w: FloatArray
    ) -> list[Term]:
        made = [w, *(w * self.apart(x, a) / self.scale for x in (h, j))]
        return [(rows, place, value) for place, value in enumerate(made)]

    def apart(self, x: NDArray[Any], a: NDArray[Any]) -> FloatArray:
        """Distances; what is rounding of a mean is none."""
        gap = np.abs(x - a)
        return np.asarray(np.where(gap <= 1e-12 * self.scale, 0.0, gap), dtype=float)

    def _unit_of_score(self) -> tuple[float, float]:
        if self.statistic in OF_LABELS:
            return 1.0, 0.0
        seen = self.sides.people[self.any][:, self.kept]
        values = np.concatenate([seen[~np.isnan(seen)], self.sides.judge[self.any]])
        return float(np.ptp(values)) or 1.0, float(values.mean())

    # -- figures of the sums -------------------------------------------------------------------

    def each_of(self, totals: Any, side: int) -> Any:
        """Each annotator's figure ``(..., R)``; side 0 is people's, 1 the judge's."""
        t = totals.reshape(*totals.shape[:-1], -1, self.width)
        if self.statistic in ("agreement", "mad"):
            return t[..., 1 + side] / positive(t[..., 0], np.ones_like(t[..., 0]))
        if self.statistic == "cohen_kappa":
            k = self.k
            t = t[..., side * (1 + 2 * k) : (side + 1) * (1 + 2 * k)]
            first, second = t[..., 1 : 1 + k], t[..., 1 + k :]
            n = first.sum(axis=-1)
            return 1 - t[..., 0] * n / positive(n * n - (first * second).sum(axis=-1), n * n)
        n, a, aa = t[..., 0], t[..., 1], t[..., 2]
        x, xx, xa = (t[..., 3 + 3 * side + i] for i in range(3))
        spread = positive(n * aa - a * a, n * n) * positive(n * xx - x * x, n * n)
        return (n * xa - x * a) / np.sqrt(spread)
