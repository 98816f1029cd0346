"""Questions as clusters: per-question sums, and what is computed from them alone.

Every coefficient here is written ``f(T)``, with ``T`` the sum over questions of a short vector of
per-question sums. The sums are made once; the estimate, the leave-one-question-out values, the
linearised standard error, the design effect and every resample are then array expressions in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..scoring.errors import InputError, SettingsError

__all__ = [
    "ASSUMED_ICC",
    "BLOCK",
    "Clusters",
    "FADE",
    "FloatArray",
    "IntArray",
    "Statistic",
    "Sums",
    "Unit",
    "block_rows",
    "check_confidence",
    "check_unit",
    "cluster_codes",
    "drawn_counts",
    "effective_size",
    "gradient",
    "jackknife_se",
    "kish",
    "leave_one_out",
    "linearised_se",
    "unit_mean_weights",
    "without_rounding",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Statistic = Callable[[Any], Any]
"""``f(totals)``: totals ``(..., q)`` to values ``(...)``, real or complex (so that derivatives are
exact); undefined is NaN."""
Unit = Literal["question", "item"]

ASSUMED_ICC = 0.2
"""Intra-cluster correlation taken where the data can't show it (real data: 0.13 to 0.32)."""

FADE = 10.0
"""Events (items of the rarer outcome, errors) at which what is assumed has half its weight."""

BLOCK = 125_000
"""Cells of an array of resamples held at a time: 1 MB, so that it stays in the cache."""


def cluster_codes(*columns: Sequence[object]) -> IntArray:
    """Codes 0..G-1, in order of appearance, of the distinct rows of one or more columns.

    Parameters
    ----------
    columns
        Equally long sequences; two columns make a cluster of each pair of values.

    Raises
    ------
    InputError
        No column, columns of different lengths, or a blank cell (an item without a question
        belongs to no cluster; guessing one would change the interval).
    """
    if not columns:
        raise InputError("no cluster column given", cure="name one, e.g. question_id")
    if len({len(column) for column in columns}) > 1:
        lengths = ", ".join(str(len(column)) for column in columns)
        raise InputError(f"cluster columns have different lengths ({lengths})")
    seen: dict[tuple[object, ...], int] = {}
    out = np.empty(len(columns[0]), dtype=np.int64)
    for row, key in enumerate(zip(*columns, strict=True)):
        try:
            blank = any(cell is None or cell == "" or cell != cell for cell in key)
        except TypeError:  # pandas' NA, of which nothing is true or false
            blank = True
        if blank:
            raise InputError(
                f"row {row + 1} has no cluster (blank cell)",
                cure="fill the question of each item, or name another cluster column",
            )
        out[row] = seen.setdefault(key, len(seen))
    return out


def check_confidence(confidence: float) -> float:
    """The confidence level, refused outside (0, 1)."""
    if not 0 < confidence < 1:
        raise SettingsError(f"confidence {confidence} is not between 0 and 1", cure="e.g. 0.95")
    return float(confidence)


def check_unit(unit: str) -> None:
    """Refuse a resampling unit that is neither ``question`` nor ``item``."""
    if unit not in ("question", "item"):
        raise SettingsError(f"unit {unit!r} is unknown", cure="question or item")


def unit_mean_weights(weights: ArrayLike | None, n: int) -> FloatArray:
    """Weights ``(n,)`` scaled to mean 1, so that one item of mean weight counts as one item.

    Only the ratios of weights matter: any constant factor gives the same figures.

    Raises
    ------
    InputError
        Another length, or a weight that is not a positive number.
    """
    if weights is None:
        return np.ones(n)
    w = np.asarray(weights, dtype=float)
    if w.shape != (n,):
        raise InputError(f"weights have shape {w.shape}, the items are {n}")
    bad = ~(np.isfinite(w) & (w > 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"row {row + 1}: weight {w[row]:g} is not a positive number"
            + (f" (and {int(bad.sum()) - 1} more)" if bad.sum() > 1 else ""),
            cure="an inclusion probability of 0 or none at all is not a probability sample",
        )
    if not n:
        return w
    w = w / w.max()  # their sum may be more than a float holds
    return np.asarray(w / w.mean(), dtype=float)


def without_rounding(estimate: float, size: float = 1.0) -> float:
    """The estimate, exactly 0 where it is that but for rounding (within 1e-12 of ``size``)."""
    return 0.0 if abs(estimate) <= 1e-12 * size else estimate


def kish(weights: FloatArray) -> float:
    """Kish's effective number of items, (sum w)^2 / sum w^2; n when all weights are equal."""
    if weights.size == 0 or np.all(weights == weights[0]):
        return float(weights.size)
    return float(weights.sum() ** 2 / (weights @ weights))


def effective_size(n: float, design_effect: float) -> float:
    """Items that would tell as much if they were independent; NaN without a design effect."""
    return n / design_effect if design_effect > 0 else float("nan")


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which question each item belongs to.

    Parameters
    ----------
    codes
        ``(n,)``, 0..G-1, every code used.
    sizes
        ``(G,)`` items in each question.
    """

    codes: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, codes: ArrayLike, n: int) -> Clusters:
        """From any integer codes, used or not contiguous.

        Raises
        ------
        InputError
            Another length than ``n``, or codes that aren't integers.
        """
        raw = np.asarray(codes)
        if raw.shape != (n,):
            raise InputError(f"clusters have shape {raw.shape}, the items are {n}")
        if n and not np.issubdtype(raw.dtype, np.integer):
            raise InputError(
                f"clusters are {raw.dtype}, not integer codes", cure="use cluster_codes()"
            )
        _, inverse, sizes = np.unique(raw, return_inverse=True, return_counts=True)
        return cls(inverse.reshape(n).astype(np.int64), sizes.astype(np.int64))

    @classmethod
    def each_item(cls, n: int) -> Clusters:
        """Every item its own cluster."""
        return cls(np.arange(n), np.ones(n, dtype=np.int64))

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.codes.size)

    @property
    def count(self) -> int:
        """Number of questions G."""
        return int(self.sizes.size)

    @property
    def mean_size(self) -> float:
        """Size of the question that a random item lies in, sum m^2 / sum m."""
        m = self.sizes.astype(float)
        return float(m @ m / m.sum())

    @property
    def largest_share(self) -> float:
        """Share of the items in the largest question."""
        return float(self.sizes.max() / self.n)

    @property
    def effective_df(self) -> float:
        """Effective questions less one: Satterthwaite's df with question sizes m under ICC 0.2.

        ``(sum a)^2 / sum a^2 - 1`` with ``a = m (1 + 0.2 (m - 1))``; G - 1 for equal sizes, never
        larger, never below 1.
        """
        m = self.sizes.astype(float)
        a = m * (1 + ASSUMED_ICC * (m - 1))
        return float(max(a.sum() ** 2 / (a @ a) - 1, 1))

    @property
    def df(self) -> float:
        """G - 1, or :attr:`effective_df` when sizes are uneven (Kish n^2 / sum m^2 < 0.8 G)."""
        m = self.sizes.astype(float)
        if m.sum() ** 2 / (m @ m) < 0.8 * self.count:
            return self.effective_df
        return float(self.count - 1)

    @cached_property
    def _indicator(self) -> Any:
        n = self.n
        cells: Any = (np.ones(n), (self.codes, np.arange(n)))
        return sparse.csr_array(sparse.coo_array(cells, shape=(self.count, n)))

    def sums(self, items: Any) -> FloatArray:
        """Per-question sums ``(G, q)`` of item columns ``(n, q)``, dense or sparse."""
        return _dense(self._indicator @ items)


def leave_one_out(f: Statistic, sums: FloatArray) -> FloatArray:
    """``f`` without each question in turn, ``(G,)``, from per-question sums ``(G, q)``."""
    with np.errstate(all="ignore"):
        return np.asarray(f(sums.sum(axis=0) - sums), dtype=float)


def jackknife_se(values: FloatArray) -> float:
    """Jackknife standard error of leave-one-out values, those that are defined.

    ``sqrt((G-1)/G sum (v - mean v)^2)``; NaN with fewer than two values. (Tukey 1958.)
    """
    v = values[np.isfinite(values)]
    if v.size < 2:
        return float("nan")
    d = v - v.mean()
    return float(np.sqrt((v.size - 1) / v.size * (d @ d)))


def gradient(f: Statistic, totals: FloatArray) -> FloatArray:
    """The derivatives of ``f`` at totals ``(..., q)``, by complex steps.

    ``Im f(T + ih) / h`` has no subtraction, so it is exact to rounding (Squire & Trapp 1998).
    A column whose totals are all 0 has nothing in it to be moved; its derivative is left at 0.
    """
    out = np.zeros(totals.shape)
    step = 1e-30
    used = np.flatnonzero(totals.reshape(-1, totals.shape[-1]).any(axis=0))
    with np.errstate(all="ignore"):
        for j in used:
            moved = totals.astype(complex)
            moved[..., j] += 1j * step
            out[..., j] = np.imag(f(moved)) / step
    return out


def linearised_se(influence: FloatArray) -> float:
    """Sandwich standard error from the units' influence values ``(G,)``.

    ``sqrt(G/(G-1) sum (u - mean u)^2)``; NaN with fewer than two units.
    """
    g = influence.size
    if g < 2:
        return float("nan")
    u = influence - influence.mean()
    return float(np.sqrt(g / (g - 1) * (u @ u)))


def _dense(table: Any) -> FloatArray:
    """A table, dense or sparse, as a dense one."""
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table, dtype=float)


@dataclass(frozen=True, eq=False)
class Sums:
    """Item columns and their per-question sums, made once and shared by all that reads them.

    Parameters
    ----------
    items
        ``(n, q)``, dense or sparse; weights are in it.
    clusters
        The question of each item.
    """

    items: Any
    clusters: Clusters

    @cached_property
    def by_question(self) -> FloatArray:
        """``(G, q)``."""
        return self.clusters.sums(self.items)

    @cached_property
    def total(self) -> FloatArray:
        """``(q,)``."""
        return np.asarray(self.by_question.sum(axis=0), dtype=float)

    def by(self, unit: Unit) -> FloatArray:
        """The sums of the resampling unit: ``(G, q)`` for questions, ``(n, q)`` for items."""
        if unit == "question":
            return self.by_question
        return _dense(self.items)

    def value(self, f: Statistic) -> float:
        """The estimate ``f(T)``; NaN where undefined."""
        with np.errstate(all="ignore"):
            return float(f(self.total))

    def linearised(self, f: Statistic) -> tuple[float, float]:
        """Linearised standard error by question, and the design effect.

        The design effect is its square over the square of the same with items taken as
        independent; NaN where that is 0 or undefined.
        """
        slope = gradient(f, self.total)
        se = linearised_se(self.by_question @ slope)
        alone = linearised_se(np.asarray(self.items @ slope, dtype=float))
        # below 1e-12 a standard error is rounding, not variation
        deff = (se / alone) ** 2 if alone > 1e-12 and np.isfinite(se) else float("nan")
        return se, deff


def block_rows(count: int, width: int) -> int:
    """How many resamples are held at a time."""
    return max(1, min(500, BLOCK // max(count, width, 1)))


def drawn_counts(rng: np.random.Generator, rows: int, count: int) -> IntArray:
    """How often each of ``count`` questions is in each of ``rows`` resamples, drawn next."""
    # drawn as 32 bits the numbers are the same as drawn as 64, in half the memory
    cells = rng.integers(0, count, size=(rows, count), dtype=np.int32)
    at = cells + (np.arange(rows) * count)[:, None]
    return np.bincount(at.ravel(), minlength=rows * count).reshape(rows, count)
