"""Kendall's tau-b, without ever comparing all responses with all.

Pairs of responses are signed sums over what lies below and above in both scores; those are partial
sums along a merge sort, for all responses at once.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .clusters import Clusters, FloatArray, IntArray, Unit, linearised_se
from .joint_cells import JointCells, levels
from .methods import Asked, Method
from .resampling import Blockwise, Source, resampled_se
from .result import Estimate
from .score_intervals import association, paired_scores

__all__ = ["kendall_tau_b"]


def kendall_tau_b(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
) -> Estimate:
    """How many more pairs of responses do two scores order alike than the other way?

    Parameters
    ----------
    x, y
        ``(n,)`` scores of the same responses; no NaN (the caller drops and counts).
    clusters
        ``(n,)`` integer codes of the responses' questions.
    weights
        ``(n,)`` positive; a pair weighs their product. None means equal.
    confidence
        Of the interval, in (0, 1).
    unit
        ``question``, or ``item``, which takes responses as independent.
    method, rng, resamples
        As :func:`~accord.validate.correlation.pearson`; ``default`` is the ``jackknife``, which
        draws nothing.

    Returns
    -------
    Estimate
        In [-1, 1], ties corrected for (tau-b). NaN with a reason for fewer than two responses or
        a constant score. The interval is the question jackknife's on Fisher's z with t; none for
        |tau| = 1, below 10 questions, or where it hangs on one question. ``details``: ``se``
        (linearised by question), ``effective_n``, ``df``, ``differing``.

    Raises
    ------
    InputError
        Arrays of different lengths, NaN or infinite scores, bad weights.
    SettingsError
        An unknown method, one that draws without ``rng`` or with fewer than 199 resamples.

    References
    ----------
    Kendall 1945, Biometrika 33.
    """
    one, two = paired_scores(x, y)
    return association(
        "kendall_tau_b",
        "tau-b",
        np.column_stack([one, two]),
        lambda w, groups: _Signs(one, two, w, groups),
        clusters=clusters,
        weights=weights,
        asked=Asked.of(method, confidence, unit, rng, resamples),
        default="jackknife",
        independent=None,
    )


class _Signs(Blockwise):
    """tau-b from signed pair sums: q_xy / sqrt(q_x q_y).

    The estimate and the values without each question come from sums over pairs that are made once;
    resamples from cumulative sums along the halves of a merge sort that is made once.
    """

    def __init__(self, x: FloatArray, y: FloatArray, w: FloatArray, groups: Clusters) -> None:
        one, two = levels(x), levels(y)
        self.w, self.groups = w, groups
        self.all = _sign_sums(np.zeros_like(one), one, two, w)
        self.own = _sign_sums(groups.codes, one, two, w)
        self.total = w @ self.all
        self._scores = x, y

    @cached_property
    def cells(self) -> JointCells:
        return JointCells(*self._scores, self.w, self.groups)

    @cached_property
    def passes(self) -> list[_Pass]:
        return _passes(self.cells.in_x, self.cells.in_y)

    @property
    def width(self) -> int:  # type: ignore[override]  # known once it is needed
        return self.cells.size

    def _tau(self, q: FloatArray, size: FloatArray | float) -> FloatArray:
        flat = (q[..., 1:] <= 1e-12 * np.asarray(size)[..., None] ** 2).any(axis=-1)
        with np.errstate(all="ignore"):
            product = np.where(flat, np.nan, q[..., 1] * q[..., 2])
            return np.asarray(q[..., 0] / np.sqrt(product), dtype=float)

    def value(self) -> float:
        return float(self._tau(self.total, float(self.w.sum())))

    def _slopes(self) -> FloatArray:
        """Each response's influence ``(n,)``."""
        # the derivative of q by a weight is twice the response's own sum
        q, tau = self.total, self.value()
        slope = 2 * self.all[:, 0] / math.sqrt(q[1] * q[2])
        slope -= tau * (self.all[:, 1] / q[1] + self.all[:, 2] / q[2])
        return np.asarray(self.w * slope, dtype=float)

    def influence(self) -> FloatArray:
        return np.bincount(self.groups.codes, self._slopes()).astype(float)

    def linearised(self) -> tuple[float, float]:
        se, alone = linearised_se(self.influence()), linearised_se(self._slopes())
        return se, (se / alone) ** 2 if alone > 1e-12 and math.isfinite(se) else math.nan

    def leave_one_out(self) -> FloatArray:
        w, size = self.w[:, None], self.groups.count
        left = self.w.sum() - np.bincount(self.groups.codes, self.w, minlength=size)
        with_all, among = self.groups.sums(w * self.all), self.groups.sums(w * self.own)
        return self._tau(self.total - 2 * with_all + among, left)

    def values(self, counts: FloatArray) -> FloatArray:
        mass = self.cells.mass(counts)
        signs = np.zeros(len(mass))
        for one in self.passes:
            signs += one.signed(mass)
        nx, ny = self.cells.per_x(mass), self.cells.mass_per_y(counts, mass)
        return self._from(2 * signs, nx, ny)[0]

    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        cells = self.cells
        mass = cells.mass(counts)
        own = np.zeros_like(mass)
        for one in self.passes:
            own += one.own(mass)
        nx, ny = cells.per_x(mass), cells.per_y(mass)
        tau, q = self._from(np.einsum("bi,bi->b", mass, own), nx, ny)
        n = ny.sum(axis=1, keepdims=True)
        with np.errstate(all="ignore"):
            own *= (2 / np.sqrt(q[:, 1] * q[:, 2]))[:, None]
            own -= np.take((tau / q[:, 1])[:, None] * (n - nx), cells.in_x, axis=1)
            own -= np.take((tau / q[:, 2])[:, None] * (n - ny), cells.in_y, axis=1)
        return tau, resampled_se(counts, cells.of_questions(own))

    def _from(
        self, signs: FloatArray, nx: FloatArray, ny: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """tau of resamples, and their sums ``(b, 3)``, from the weights by value of x and y."""
        n = ny.sum(axis=1)
        tied_x, tied_y = (np.einsum("bi,bi->b", v, v) for v in (nx, ny))
        q = np.column_stack([signs, n * n - tied_x, n * n - tied_y])
        return self._tau(q, n), q


class _Half:
    """One half of a pass of a merge sort by y: its cells, and where they stand among the other's.

    Parameters
    ----------
    cells
        The half's cells in all nodes of levels, by node, then x.
    before, upto
        For each, how many of the other half come before those of its node with equal x, and before
        those of its node with larger x.
    start
        Where each node that has cells here begins in ``cells``.
    first, last
        How many of the other half come before each such node, and before the next one.
    """

    def __init__(self, cells: IntArray, others: IntArray, node: IntArray, x: IntArray) -> None:
        wide = int(x.max()) + 2
        own, among = (node[at] * wide + x[at] for at in (cells, others))
        new = np.r_[True, np.diff(node[cells]) > 0]
        self.cells, self.start = cells, np.flatnonzero(new)
        self.before = np.searchsorted(among, own)
        upto = np.searchsorted(among, own + 1)
        self.tied = not np.array_equal(self.before, upto)
        self.upto = upto if self.tied else self.before
        nodes = node[cells[self.start]] * wide
        self.first, self.last = (np.searchsorted(among, at) for at in (nodes, nodes + wide))
        self.lengths = np.diff(np.r_[self.start, cells.size])

    def standing(self, sums: FloatArray) -> FloatArray:
        """``(b, cells)`` twice what of the other half is below in x or, by halves, beside.

        ``sums`` are the other half's weights, cumulated ``(b, others + 1)``, so that what stands in
        earlier nodes is in it too.
        """
        out = np.take(sums, self.before, axis=1)
        if self.tied:
            out += np.take(sums, self.upto, axis=1)
        else:
            out *= 2
        return out

    def of_nodes(self, sums: FloatArray) -> FloatArray:
        """``(b, nodes)`` what is to be taken from it: the nodes before, and this node once."""
        return np.take(sums, self.first, axis=1) + np.take(sums, self.last, axis=1)


class _Pass:
    """One pass of a merge sort by y from the top: each node of levels parted into low and high.

    Of a pair of cells with different y there is one pass in which one is in the low and one in the
    high half of a node; how the two stand in x is then a question of place, for all low cells at
    once by a cumulative sum.
    """

    def __init__(self, low: IntArray, high: IntArray, node: IntArray, x: IntArray) -> None:
        self.low, self.high = low, _Half(high, low, node, x)
        self._node, self._x = node, x

    @cached_property
    def _low(self) -> tuple[_Half, IntArray]:
        """The low half against the high one, and where each cell is in low, high, neither."""
        low = _Half(self.low, self.high.cells, self._node, self._x)
        place = np.full(self._x.size, low.cells.size + self.high.cells.size)
        place[low.cells] = np.arange(low.cells.size)
        place[self.high.cells] = low.cells.size + np.arange(self.high.cells.size)
        return low, place

    def signed(self, mass: FloatArray) -> FloatArray:
        """``(b,)`` concordant less discordant pairs of this pass, from weights ``(b, cells)``."""
        half, sums = self.high, _cumulated(np.take(mass, self.low, axis=1))
        own = np.take(mass, half.cells, axis=1)
        out = np.einsum("bi,bi->b", own, half.standing(sums))
        by_node = np.add.reduceat(own, half.start, axis=1)
        return np.asarray(out - np.einsum("bi,bi->b", by_node, half.of_nodes(sums)), dtype=float)

    def own(self, mass: FloatArray) -> FloatArray:
        """``(b, cells)`` the same of each cell with all others."""
        low, place = self._low
        sums_low = _cumulated(np.take(mass, self.low, axis=1))
        sums_high = _cumulated(np.take(mass, self.high.cells, axis=1))
        above = np.repeat(low.of_nodes(sums_high), low.lengths, axis=1) - low.standing(sums_high)
        below = self.high.standing(sums_low)
        below -= np.repeat(self.high.of_nodes(sums_low), self.high.lengths, axis=1)
        both = np.concatenate([above, below, np.zeros((len(mass), 1))], axis=1)
        return np.take(both, place, axis=1)


def _cumulated(v: FloatArray) -> FloatArray:
    """Cumulative sums of rows, from 0: ``(b, n + 1)``."""
    out = np.zeros((v.shape[0], v.shape[1] + 1))
    np.cumsum(v, axis=1, out=out[:, 1:])
    return out


def _passes(x: IntArray, y: IntArray) -> list[_Pass]:
    """The passes for cells sorted by x, with levels ``y``."""
    out: list[_Pass] = []
    wide = 1 << int(y.max()).bit_length()
    while wide > 1:
        node, upper = y // wide, (y % wide) >= wide // 2
        order = np.argsort(node, kind="stable")  # inside a node still by x
        low, high = order[~upper[order]], order[upper[order]]
        if low.size and high.size:
            out.append(_Pass(low, high, node, x))
        wide //= 2
    return out


def _sign_sums(group: IntArray, x: IntArray, y: IntArray, w: FloatArray) -> FloatArray:
    """For each response, over the others of its group: ``(n, 3)``.

    Sums of w sign(x - x') sign(y - y'), of w where x differs, of w where y differs.
    """
    below_x, equal_x, mass = _along(group, x, w)
    below_y, equal_y, _ = _along(group, y, w)
    same_y, both, _ = _along(_paired(group, y), x, w)  # below in x among equal y
    same_x, _, _ = _along(_paired(group, x), y, w)
    both_below = _both_below(group, x, y, w)
    x_below_y_above = below_x - both_below - same_y
    x_above_y_below = below_y - both_below - same_x
    above_x = mass - below_x - equal_x
    both_above = above_x - x_above_y_below - (equal_y - same_y - both)
    signs = both_below + both_above - x_below_y_above - x_above_y_below
    return np.column_stack([signs, mass - equal_x, mass - equal_y])


def _paired(a: IntArray, b: IntArray) -> IntArray:
    return np.asarray(a * (b.max() + 1) + b, dtype=np.int64)


def _along(key: IntArray, v: IntArray, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Among those with the same key: the weight below v, at v, and altogether."""
    cells, cell = np.unique(_paired(key, v), return_inverse=True)
    cell = cell.reshape(-1)
    at = np.bincount(cell, w).astype(float)
    of = cells // (v.max() + 1)
    start = np.flatnonzero(np.r_[True, of[1:] != of[:-1]])
    which = np.cumsum(np.r_[0, of[1:] != of[:-1]])
    before = np.cumsum(at) - at
    mass = np.add.reduceat(at, start)
    below = before - before[start][which]
    return below[cell], at[cell], mass[which][cell]


def _both_below(group: IntArray, x: IntArray, y: IntArray, w: FloatArray) -> FloatArray:
    """The weight of the group's responses that are below in x and in y."""
    n = x.size
    # in this order whoever is below in both comes before; equal x comes after, by falling y
    order = np.lexsort((-y, x, group))
    # and has the lower rank; of equal y, whoever comes first has the higher one
    rank = np.empty(n, dtype=np.int64)
    rank[np.lexsort((-np.arange(n), y[order], group[order]))] = np.arange(n)
    mass, place = w[order], np.arange(n)
    out = np.zeros(n)
    half = 1
    while half < n:
        # blocks of two sorted halves: the right one takes what is lower in the left one
        block, right = place // (2 * half), (place // half) % 2 == 1
        by = np.argsort(block * n + rank)
        left = np.cumsum(np.where(right[by], 0.0, mass[by]))
        before = np.r_[0.0, left][np.searchsorted(block[by], block[by])]
        out[by] += np.where(right[by], left - before, 0.0)
        half *= 2
    # every response of earlier groups was before and lower
    groups, code = np.unique(group[order], return_inverse=True)
    each = np.bincount(code.reshape(-1), mass, minlength=groups.size)
    out -= (np.cumsum(each) - each)[code.reshape(-1)]
    result = np.empty(n)
    result[order] = out
    return result
