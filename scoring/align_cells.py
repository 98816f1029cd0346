"""The cells that compete once the exact matches are fixed, settled step by step in NumPy.

Every step settles only what has one lowest best assignment, and keeps the rest for the next: rows
or columns that nobody else wants, lines with one best cell each, groups small enough to try all
assignments, and last the assignment of :mod:`accord.scoring.assignment`.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .align_batch import ROUGE, Batch, Floats, Found, Ints, ranks
from .assignment import TOLERANCE, Cell, assign

__all__ = ["Cells"]


TOGETHER = 1_000
"""Groups tried together: each of five a side takes 60 KB while it is."""


@lru_cache(maxsize=4)
def _ways(few: int) -> Ints:
    """All ways to match some of ``few`` rows one to one with as many columns, lowest first.

    Shape (n_ways, few): the column of each row, ``few`` for none. 209 for 4, 1,546 for 5.
    """
    ways = [
        way
        for way in itertools.product(range(few + 1), repeat=few)
        if all(way.count(column) < 2 for column in range(few))
    ]
    return np.array(ways, dtype=np.int64)


def _tried(gain: Floats) -> tuple[Ints, NDArray[np.bool_]]:
    """The lowest best way to match each group, and which of its rows are tied.

    Parameters
    ----------
    gain
        Shape (n_groups, few, few + 1): F1 of each row with each column, −inf where they have
        none, and 0 for being left over.

    Returns
    -------
    lowest, tied
        Both of shape (n_groups, few). A row is tied if the best ways give it several partners.
    """
    few = gain.shape[1]
    ways = _ways(few)
    total = gain[:, np.arange(few), ways].sum(axis=2)
    best = total > total.max(axis=1, keepdims=True) - TOLERANCE
    partners = np.stack(
        [best.astype(np.float32) @ (ways == k).astype(np.float32) > 0 for k in range(few + 1)]
    )
    return ways[best.argmax(axis=1)], partners.sum(axis=0) > 1


class Cells:
    """The cells that are still open; each step settles some and keeps the others."""

    def __init__(self, batch: Batch, found: Found, predicted: Ints, slot: Ints, f1: Floats) -> None:
        self.batch, self.found = batch, found
        self.predicted, self.slot, self.f1 = predicted, slot, f1

    def _take(self, at: Ints) -> None:
        predicted = self.predicted[at]
        start = self.batch.slot_start[self.batch.response[predicted]]
        self.found.match(predicted, self.slot[at] - start, self.f1[at], ROUGE)

    def _keep(self, keep: NDArray[np.bool_]) -> None:
        self.predicted, self.slot, self.f1 = self.predicted[keep], self.slot[keep], self.f1[keep]

    def _best(self, line: Ints, other: Ints) -> tuple[Ints, Ints]:
        """Of each line the best cell, the lowest of equals, and how many are equal."""
        order = np.lexsort((other, -self.f1, line))
        ordered = line[order]
        head = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        best = order[head]
        top = np.repeat(self.f1[best], np.diff(np.concatenate((head, [len(line)]))))
        equal = np.add.reduceat((self.f1[order] > top - TOLERANCE).astype(np.int64), head)
        return best, equal

    def stars(self) -> None:
        """A row whose columns nobody else wants takes its best, and the other way round."""
        if not len(self.predicted):
            return
        n_row = np.bincount(self.predicted, minlength=len(self.batch.response))
        n_column = np.bincount(self.slot, minlength=len(self.found.taken))
        lonely = (n_column[self.slot] == 1).astype(float)
        row_star = np.bincount(self.predicted, weights=lonely, minlength=len(n_row)) == n_row
        alone = (n_row[self.predicted] == 1).astype(float)
        column_star = np.bincount(self.slot, weights=alone, minlength=len(n_column)) == n_column
        in_row, in_column = row_star[self.predicted], column_star[self.slot]
        star = in_row | in_column
        if not star.any():
            return
        rest = ~star
        others = self.predicted[rest], self.slot[rest], self.f1[rest]
        by_row = in_row[star]
        self._keep(star)
        line = np.where(by_row, self.predicted, len(self.batch.response) + self.slot)
        other = np.where(by_row, self.slot, self.predicted)
        best, equal = self._best(line, other)
        # One row with equal columns is one tied element; a column ties all its equal rows.
        tied = np.where(equal > 1, np.where(by_row[best], 1, equal), 0)
        np.add.at(self.found.ties, self.batch.response[self.predicted[best]], tied)
        self._take(best)
        self.predicted, self.slot, self.f1 = others

    def distinct_best(self, *, by_row: bool) -> None:
        """Responses in which each line has one best cell and no two want the same: no tie."""
        if not len(self.predicted):
            return
        line, other = (self.predicted, self.slot) if by_row else (self.slot, self.predicted)
        best, equal = self._best(line, other)
        response = self.batch.response[self.predicted]
        open_ = np.zeros(self.batch.n, bool)
        open_[response[best[equal > 1]]] = True
        order = np.argsort(other[best], kind="stable")
        ordered = other[best][order]
        twice = order[1:][ordered[1:] == ordered[:-1]]
        open_[response[best[twice]]] = True
        self._take(best[~open_[response[best]]])
        self._keep(open_[response])

    def small_groups(self, few: int) -> None:
        """Groups of at most ``few`` elements a side that compete or tie: all ways are tried."""
        if not len(self.predicted):
            return
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        rows, row = np.unique(self.predicted, return_inverse=True)
        columns, column = np.unique(self.slot, return_inverse=True)
        size = len(rows) + len(columns)
        graph = coo_array(
            (np.ones(len(row), np.int8), (row, len(rows) + column)), shape=(size, size)
        )
        n_groups, labels = connected_components(graph, directed=False)
        group = labels.astype(np.int64)
        row_group, column_group = group[: len(rows)], group[len(rows) :]
        small = (np.bincount(row_group, minlength=n_groups) <= few) & (
            np.bincount(column_group, minlength=n_groups) <= few
        )
        if not small.any():
            return
        cell_group = row_group[row]
        inside = small[cell_group]
        number = np.cumsum(small) - 1
        g = number[cell_group[inside]]
        i, j = ranks(row_group)[row[inside]], ranks(column_group)[column[inside]]
        gain = np.full((int(small.sum()), few, few + 1), -np.inf)
        gain[:, :, few] = 0.0
        gain[g, i, j] = self.f1[inside]
        tried = [_tried(gain[k : k + TOGETHER]) for k in range(0, len(gain), TOGETHER)]
        lowest, tied = (np.concatenate(part) for part in zip(*tried, strict=True))
        chosen = np.flatnonzero(inside)[lowest[g, i] == j]
        mine = small[row_group]
        owner = self.batch.response[rows[mine]]
        np.add.at(self.found.ties, owner, tied[number[row_group[mine]], ranks(row_group)[mine]])
        self._take(chosen)
        self._keep(~inside)

    def rest(self) -> None:
        """Larger groups: one assignment a response."""
        if not len(self.predicted):
            return
        order = np.lexsort((self.slot, self.predicted))
        predicted, slot, f1 = self.predicted[order], self.slot[order], self.f1[order]
        response = self.batch.response[predicted]
        cut = np.flatnonzero(np.concatenate(([True], response[1:] != response[:-1], [True])))
        cells: list[Cell] = list(zip(predicted.tolist(), slot.tolist(), f1.tolist(), strict=True))
        at, where, value = [], [], []
        for start, end in zip(cut[:-1].tolist(), cut[1:].tolist(), strict=True):
            assigned, ties = assign(cells[start:end])
            self.found.ties[response[start]] += ties
            for p, (s, f) in assigned.items():
                at.append(p)
                where.append(s)
                value.append(f)
        if at:
            chosen = np.array(at)
            begin = self.batch.slot_start[self.batch.response[chosen]]
            self.found.match(chosen, np.array(where) - begin, np.array(value), ROUGE)
