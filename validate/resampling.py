"""One resampling of questions for every figure of a panel, and figures as what is resampled.

How often each question is in each resample does not depend on the figure, so it is drawn once for a
number of questions, kept in a byte a count, and given to all of them.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..scoring.errors import SettingsError
from .clusters import (
    Clusters,
    FloatArray,
    IntArray,
    Statistic,
    Sums,
    block_rows,
    drawn_counts,
    gradient,
    leave_one_out,
)

__all__ = ["Draws", "Form", "GROUPS", "MEMORY", "Source", "Summed", "item_sums", "resampled_se"]

MEMORY = 256 << 20
"""Bytes of counts that a :class:`Draws` keeps; what is not kept is drawn anew, to the same."""
GROUPS = 200
"""Groups of questions that the delete-a-group jackknife leaves out in turn."""

_ROWS = 32
"""Fewest resamples multiplied at a time, so that the columns are not read for each of them."""
_QUESTIONS = 4096
"""Most questions multiplied at a time, so that what is multiplied stays in the cache."""
_WIDE = 14
"""Columns up to which products of two columns are cheaper than influence values a question."""


class Draws:
    """Which questions are in which resample, the same for every figure that is given it.

    Parameters
    ----------
    seed
        Of the draws: a number, or a generator, which is then moved on by each first use.
    resamples
        Number of resamples B; 0 for none.
    memory
        Bytes of counts that may be kept.

    Notes
    -----
    For a number of questions G the counts are those of ``default_rng(seed).integers(0, G, (B, G))``
    in its rows, whoever asks for them and in whatever blocks.
    """

    def __init__(
        self, seed: int | np.random.Generator, resamples: int, *, memory: int = MEMORY
    ) -> None:
        if resamples < 0:
            raise SettingsError(
                f"{resamples} resamples: there can't be fewer than none",
                cure="199 or more, or 0 for intervals without resampling",
            )
        self.resamples, self.memory = int(resamples), memory
        self._seed = seed
        self._starts: dict[int, np.random.Generator] = {}
        self._kept: dict[int, NDArray[Any]] = {}
        self._folds: dict[int, IntArray] = {}

    @classmethod
    def of(cls, source: Source, resamples: int) -> Draws:
        """A ``Draws`` as it is (with its own number of resamples), or one from a seed."""
        return source if isinstance(source, cls) else cls(source, resamples)  # type: ignore[arg-type]  # a Draws is itself

    @property
    def kept(self) -> int:
        """Bytes of counts that are kept."""
        return sum(counts.nbytes for counts in self._kept.values())

    def blocks(self, count: int, width: int = 0) -> Iterator[FloatArray]:
        """The counts ``(b, count)`` of some resamples at a time, as floats.

        ``width`` is the number of columns of what is made of a row, where that is more than the
        questions; 0 where a row is only multiplied.
        """
        rows = block_rows(count, width)
        if width == 0:
            rows = max(rows, min(_ROWS, self.resamples))
        counts = self._counts(count)
        if counts is not None:
            for start in range(0, self.resamples, rows):
                yield counts[start : start + rows].astype(float)
            return
        rng = copy.deepcopy(self._start(count))
        for start in range(0, self.resamples, rows):
            yield drawn_counts(rng, min(rows, self.resamples - start), count).astype(float)

    def product(self, columns: FloatArray) -> FloatArray:
        """Sums ``(B, q)`` of the resamples from sums ``(G, q)`` of the questions."""
        count = len(columns)
        out = np.zeros((self.resamples, columns.shape[1]))
        kept = self._counts(count)
        if kept is None:
            at = 0
            for counts in self.blocks(count):
                np.matmul(counts, columns, out=out[at : at + len(counts)])
                at += len(counts)
            return out
        wide = min(count, _QUESTIONS)
        rows = max(block_rows(wide, 0), _ROWS)
        for start in range(0, self.resamples, rows):
            for first in range(0, count, wide):
                part = kept[start : start + rows, first : first + wide].astype(float)
                out[start : start + rows] += part @ columns[first : first + wide]
        return out

    def folds(self, count: int) -> IntArray:
        """``(count,)`` the group, of 200 at most and as equal as can be, that each question is in.

        Drawn at random, so that questions that stand together in a file are not left out together.
        """
        if count not in self._folds:
            rng = copy.deepcopy(self._start(count))
            self._folds[count] = rng.permutation(count) % min(GROUPS, count)
        return self._folds[count]

    def without_each_fold(self, count: int, width: int = 0) -> Iterator[FloatArray]:
        """Counts ``(b, count)`` as of resamples: each group left out in turn, the others once."""
        fold = self.folds(count)
        groups = min(GROUPS, count)
        rows = max(block_rows(count, width), min(_ROWS, groups) if width == 0 else 1)
        for start in range(0, groups, rows):
            out = np.arange(start, min(start + rows, groups))
            yield (fold[None, :] != out[:, None]).astype(float)

    def _start(self, count: int) -> np.random.Generator:
        """The generator before its first draw for so many questions."""
        if not isinstance(self._seed, np.random.Generator):
            return np.random.default_rng(self._seed)
        if count not in self._starts:
            self._starts[count] = copy.deepcopy(self._seed)
            rows = block_rows(count, 0)
            for start in range(0, self.resamples, rows):
                # the caller's generator is moved on, so that its next use draws anew
                drawn_counts(self._seed, min(rows, self.resamples - start), count)
        return self._starts[count]

    def _counts(self, count: int) -> NDArray[Any] | None:
        """The counts ``(B, count)`` in a byte each; None where they are too many to be kept."""
        if count in self._kept:
            return self._kept[count]
        if self.resamples * count > self.memory:
            return None
        while self.resamples * count + self.kept > self.memory:
            # figures of as many questions follow one another: the oldest counts go
            del self._kept[next(iter(self._kept))]
        rng = copy.deepcopy(self._start(count))
        rows = block_rows(count, 0)
        out = np.empty((self.resamples, count), dtype=np.uint8)
        for start in range(0, self.resamples, rows):
            part = drawn_counts(rng, min(rows, self.resamples - start), count)
            if part.size and part.max() > np.iinfo(out.dtype).max:
                return None  # one question more than 255 times: next to impossible, never wrong
            out[start : start + rows] = part
        self._kept[count] = out
        return out


Source = Draws | np.random.Generator | int
"""What an interval may draw from."""


class Form(Protocol):
    """A figure under question weights: what every interval is made of."""

    groups: Clusters

    def value(self) -> float:
        """The estimate; NaN where undefined."""
        ...

    def linearised(self) -> tuple[float, float]:
        """Linearised standard error by question, and the design effect."""
        ...

    def influence(self) -> FloatArray:
        """``(G,)`` how far each question moves the estimate, to first order."""
        ...

    def leave_one_out(self) -> FloatArray | None:
        """``(G,)`` without each question in turn; None where that would take too long."""
        ...

    def values(self, counts: FloatArray) -> FloatArray:
        """``(b,)`` with each question as often as ``counts (b, G)`` say."""
        ...

    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same, and the linearised standard error of each."""
        ...

    def drawn(self, draws: Draws) -> FloatArray:
        """``(B,)`` of all resamples."""
        ...

    def studentised(self, draws: Draws) -> tuple[FloatArray, FloatArray]:
        """``(B,)`` of all resamples, and their standard errors."""
        ...

    def without_each_fold(self, draws: Draws) -> FloatArray:
        """Without each group of questions in turn."""
        ...


class Blockwise(ABC):
    """What forms share that are not functions of sums: resamples some at a time."""

    width = 0
    groups: Clusters

    @abstractmethod
    def values(self, counts: FloatArray) -> FloatArray:
        """As :meth:`Form.values`."""

    @abstractmethod
    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As :meth:`Form.resampled`."""

    def drawn(self, draws: Draws) -> FloatArray:
        blocks = draws.blocks(self.groups.count, self.width)
        return np.concatenate([self.values(counts) for counts in blocks])

    def studentised(self, draws: Draws) -> tuple[FloatArray, FloatArray]:
        blocks = draws.blocks(self.groups.count, self.width)
        parts = [self.resampled(counts) for counts in blocks]
        return np.concatenate([v for v, _ in parts]), np.concatenate([e for _, e in parts])

    def without_each_fold(self, draws: Draws) -> FloatArray:
        blocks = draws.without_each_fold(self.groups.count, self.width)
        return np.concatenate([self.values(counts) for counts in blocks])


class Summed(Blockwise):
    """A figure that is a function of per-question sums.

    Parameters
    ----------
    sums
        Columns of items, weights in them, and the questions.
    f
        The figure from totals ``(..., q)``. For standard errors of resamples the columns are to be
        chosen so that nothing of its slope cancels.
    """

    def __init__(self, sums: Sums, f: Statistic) -> None:
        self.sums, self.f, self.groups = sums, f, sums.clusters

    def value(self) -> float:
        return self.sums.value(self.f)

    def linearised(self) -> tuple[float, float]:
        return self.sums.linearised(self.f)

    def influence(self) -> FloatArray:
        return np.asarray(
            self.sums.by_question @ gradient(self.f, self.sums.total), dtype=np.float64
        )

    def leave_one_out(self) -> FloatArray:
        return leave_one_out(self.f, self.sums.by_question)

    def values(self, counts: FloatArray) -> FloatArray:
        return self._of(counts @ self.sums.by_question)

    def drawn(self, draws: Draws) -> FloatArray:
        return self._of(draws.product(self.sums.by_question))

    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        s = self.sums.by_question
        if s.shape[1] > _WIDE:
            totals = counts @ s
            with np.errstate(all="ignore"):
                influence = gradient(self.f, totals) @ s.T
            return self._of(totals), resampled_se(counts, influence)
        return self._from(counts @ self._with_products())

    def studentised(self, draws: Draws) -> tuple[FloatArray, FloatArray]:
        if self.sums.by_question.shape[1] > _WIDE:
            return super().studentised(draws)
        return self._from(draws.product(self._with_products()))

    def _of(self, totals: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return np.asarray(self.f(totals), dtype=float)

    def _with_products(self) -> FloatArray:
        """The sums, and the products of each two of them, ``(G, q + q (q + 1) / 2)``."""
        s = self.sums.by_question
        upper, lower = np.triu_indices(s.shape[1])
        return np.hstack([s, s[:, upper] * s[:, lower]])

    def _from(self, both: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values and standard errors from the sums of :meth:`_with_products` in the resamples.

        The influence of a question is its sums times the slope, so the sum of its squares over a
        resample is a quadratic form in the slope: no (resamples x questions) table of influences.
        """
        g, q = self.sums.by_question.shape
        totals, moments = both[:, :q], both[:, q:]
        upper, lower = np.triu_indices(q)
        with np.errstate(all="ignore"):
            slope = gradient(self.f, totals)
            pairs = slope[:, upper] * slope[:, lower] * np.where(upper == lower, 1.0, 2.0)
            squares = (pairs * moments).sum(axis=1) - (slope * totals).sum(axis=1) ** 2 / g
            error = np.sqrt(g / (g - 1) * np.maximum(squares, 0.0))
        return self._of(totals), np.asarray(error, dtype=float)


def item_sums(sums: Sums) -> Sums:
    """The same columns with each item as a question of its own."""
    return Sums(sums.items, Clusters.each_item(sums.clusters.n))


def resampled_se(counts: FloatArray, influence: FloatArray) -> FloatArray:
    """Linearised standard error in each resample, from influence values ``(b, G)``."""
    g = counts.shape[1]
    with np.errstate(all="ignore"):
        centred = influence - (counts * influence).sum(axis=1, keepdims=True) / g
        return np.asarray(
            np.sqrt(g / (g - 1) * (counts * centred * centred).sum(axis=1)), dtype=float
        )
