"""Two scores as their distinct (x, y) cells, whose weights in a resample are looked up, not sorted.

Ranks and orders of a resample are cumulative sums of its cells' weights in an order that is sorted
once.
"""

from __future__ import annotations

import numpy as np

from .clusters import Clusters, FloatArray, IntArray

__all__ = ["JointCells", "levels"]

_FEW = 64
"""Levels of a score up to which its weights by level are a product with the counts."""


def levels(v: FloatArray) -> IntArray:
    """Codes of the distinct values in order; equal to 12 digits is equal."""
    scaled = np.round(v / np.abs(v).max(), 12) + 0.0
    return np.asarray(np.unique(scaled, return_inverse=True)[1].reshape(-1), dtype=np.int64)


class JointCells:
    """The distinct cells of two scores, sorted by x, then y; x is the one with more levels.

    Parameters
    ----------
    x, y
        ``(n,)`` scores; what rank correlations are made of takes them in any order.
    w
        ``(n,)`` weights.
    groups
        The responses' questions.

    Attributes
    ----------
    in_x, in_y
        ``(cells,)`` level of either score.
    cell
        ``(n,)`` the cell of each response.
    total
        ``(cells,)`` weight of each cell.
    """

    def __init__(self, x: FloatArray, y: FloatArray, w: FloatArray, groups: Clusters) -> None:
        one, two = levels(x), levels(y)
        if one.max() < two.max():
            one, two = two, one
        wide = int(two.max()) + 1
        cells, cell = np.unique(one * wide + two, return_inverse=True)
        self.cell = np.asarray(cell.reshape(-1), dtype=np.int64)
        self.in_x, self.in_y = cells // wide, cells % wide
        self.size, self.groups, self.weights = int(cells.size), groups, w
        self.total = np.bincount(self.cell, w, minlength=cells.size).astype(float)
        # what of each cell lies in which question: one entry a pair, sorted by cell
        pairs, entry = np.unique(self.cell * groups.count + groups.codes, return_inverse=True)
        self.entry_cell, self.entry_question = pairs // groups.count, pairs % groups.count
        mass = np.bincount(entry.reshape(-1), w, minlength=pairs.size).astype(float)
        self.entry_mass = None if np.all(mass == 1) else mass
        self.start_cell = _starts(self.entry_cell)
        # and the same sorted by question
        self.by_question = np.argsort(self.entry_question, kind="stable")
        self.start_question = _starts(self.entry_question[self.by_question])
        # the second order sorts the cells by y
        self.by_y = np.argsort(self.in_y, kind="stable")
        self.start_x = _starts(self.in_x)
        self.start_y = _starts(self.in_y[self.by_y])
        self._level_sums = self._by_level() if wide <= _FEW else None

    @property
    def distinct_x(self) -> bool:
        """Whether each cell has a value of x of its own."""
        return self.start_x.size == self.size

    def mass(self, counts: FloatArray) -> FloatArray:
        """Weights of the cells ``(b, cells)`` where questions count ``(b, G)`` times."""
        out = np.take(counts, self.entry_question, axis=1)
        if self.entry_mass is not None:
            out *= self.entry_mass
        return _summed(out, self.start_cell)

    def mass_of(self, questions: IntArray) -> FloatArray:
        """Weights of the cells ``(b, cells)`` in each of some questions."""
        out = np.zeros((questions.size, self.size))
        at = np.full(self.groups.count, -1)
        at[questions] = np.arange(questions.size)
        row = at[self.entry_question]
        here = row >= 0
        value = 1.0 if self.entry_mass is None else self.entry_mass[here]
        out[row[here], self.entry_cell[here]] = value
        return out

    def of_questions(self, v: FloatArray) -> FloatArray:
        """Sums ``(b, G)`` of cells' values ``(b, cells)`` times their weights in each question."""
        out = np.take(v, self.entry_cell[self.by_question], axis=1)
        if self.entry_mass is not None:
            out *= self.entry_mass[self.by_question]
        return np.asarray(np.add.reduceat(out, self.start_question, axis=1), dtype=float)

    def per_x(self, v: FloatArray) -> FloatArray:
        """Sums of cells ``(b, cells)`` by value of x ``(b, values)``."""
        return _summed(v, self.start_x)

    def per_y(self, v: FloatArray) -> FloatArray:
        """Sums of cells ``(b, cells)`` by value of y ``(b, values)``."""
        return _summed(np.take(v, self.by_y, axis=1), self.start_y)

    def mass_per_y(self, counts: FloatArray, mass: FloatArray) -> FloatArray:
        """Weights by value of y; a small product where there are few values."""
        return self.per_y(mass) if self._level_sums is None else counts @ self._level_sums

    def _by_level(self) -> FloatArray:
        """``(G, values of y)`` weight of each level of y in each question."""
        wide = int(self.in_y.max()) + 1
        at = self.groups.codes * wide + self.in_y[self.cell]
        sums = np.bincount(at, self.weights, minlength=self.groups.count * wide)
        return sums.reshape(self.groups.count, wide).astype(float)


def _starts(ordered: IntArray) -> IntArray:
    return np.asarray(np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]), dtype=np.int64)


def _summed(v: FloatArray, start: IntArray) -> FloatArray:
    """Sums over runs of columns; ``v`` itself where each column is its own run."""
    if start.size == v.shape[1]:
        return v
    return np.asarray(np.add.reduceat(v, start, axis=1), dtype=float)
