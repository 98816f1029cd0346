"""The geometry of the report's own plots; the templates draw it as SVG.

Only coordinates and path texts are made here, all from numbers. Titles and names go through the
template's escaping like any other text, and colours come from the style sheet, so that a plot
works in dark mode and printed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .figures import defined

__all__ = [
    "STRIP",
    "Axis",
    "Dots",
    "Scatter",
    "Strip",
    "dumbbell",
    "scatter",
    "strip",
    "strip_axis",
]


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear scale from ``low``..``high`` to ``start``..``end`` of the drawing, and its ticks."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...] = ()

    def at(self, x: float) -> float:
        """The position of a value, cut at the ends, to a tenth of a unit."""
        share = (min(max(x, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def marks(self) -> list[tuple[float, str]]:
        """``(position, text)`` of every tick."""
        return [(self.at(tick), f"{tick:g}".replace("-", "−")) for tick in self.ticks]


@dataclass(frozen=True, slots=True)
class Strip:
    """One interval on an axis: the three positions; ``low`` is None where there is no interval."""

    point: float
    low: float | None = None
    high: float | None = None


ON_UNIT_SCALE = frozenset(
    {
        "accuracy",
        "agreement",
        "alignment_accuracy",
        "cohen_kappa",
        "weighted_kappa",
        "fleiss_kappa",
        "conger_kappa",
        "brennan_prediger",
        "gwet_ac1",
        "gwet_ac2",
        "krippendorff_alpha_nominal",
        "krippendorff_alpha_ordinal",
        "krippendorff_alpha_interval",
        "krippendorff_alpha_ratio",
        "pearson",
        "spearman",
        "kendall_tau_b",
        "leave_one_out_agreement",
        "leave_one_out_cohen_kappa",
        "leave_one_out_pearson",
        "ccc",
        "icc_a1",
        "icc_c1",
        "mcc",
        "f1",
        "macro_f1",
        "precision",
        "sensitivity",
        "specificity",
    }
)
"""Figures on which 1 is perfect; they share one axis. A MAD or a bias does not belong on it."""


STRIP = (5.0, 95.0)
"""Where a strip's axis starts and ends, in per cent of its width: it stretches with its column."""


def strip_axis(results: Iterable[Mapping[str, Any]]) -> Axis:
    """The axis that all intervals of a panel share: up to 1, and from the quarter below the lowest.

    It need not begin at 0: position and length are read against the marks, not as a bar.
    """
    lowest = min(
        (
            bound
            for result in results
            if result.get("name") in ON_UNIT_SCALE
            for bound in (result.get("low"), result.get("estimate"))
            if defined(bound)
        ),
        default=0.0,
    )
    low = max(-1.0, min(0.75, math.floor(lowest * 4) / 4))
    middle = (low + 1.0) / 2
    if low < 0:
        # −0.25 would run into 0 on a narrow page
        ticks: tuple[float, ...] = tuple(sorted({low if low <= -0.5 else 0.0, 0.0, 0.5, 1.0}))
    else:
        ticks = (low, middle, 1.0)
    return Axis(low, 1.0, *STRIP, ticks)


def strip(result: Mapping[str, Any], axis: Axis) -> Strip | None:
    """A result on the shared axis; None where it is undefined or on another scale."""
    point, low, high = (result.get(key) for key in ("estimate", "low", "high"))
    if result.get("name") not in ON_UNIT_SCALE or not defined(point):
        return None
    if not (defined(low) and defined(high)):
        return Strip(axis.at(point))
    return Strip(axis.at(point), axis.at(low), axis.at(high))


def dumbbell(people: Any, judge: Any, axis: Axis) -> tuple[float | None, float | None] | None:
    """Positions of a system's two scores; None where neither is there."""
    both = tuple(axis.at(score) if defined(score) else None for score in (people, judge))
    return None if both == (None, None) else (both[0], both[1])


@dataclass(frozen=True, slots=True)
class Dots:
    """All points of one size as a single path: ``M x y h0`` segments, drawn with round caps."""

    path: str
    width: float


@dataclass(frozen=True, slots=True)
class Scatter:
    """Judge scores against people's; ``equal`` of the ``n`` responses lie on the diagonal."""

    title: str
    description: str
    x: Axis
    y: Axis
    dots: tuple[Dots, ...]
    legend: tuple[tuple[int, float], ...]
    n: int
    places: int
    equal: int
    above: int
    below: int
    left_out: int


SIDE, LEFT, BOTTOM, TOP, RIGHT = 420.0, 50.0, 50.0, 16.0, 16.0
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_SMALLEST, _LARGEST = 5.0, 26.0


def scatter(
    people: Sequence[float | None], judge: Sequence[float | None], *, title: str, measure: str
) -> Scatter:
    """Judge score against people's score of the same responses, one dot a distinct pair of scores.

    List scores take few values and pile up at 0 and 1, so responses with equal scores are one dot
    whose area is their number. Pairs with a missing score are counted in ``left_out``.

    Parameters
    ----------
    people, judge
        Scores (n_responses,), any range; the axes span 0 to 1 and further where the scores do.
    title, measure
        The plot's title and what is plotted (``F1``).
    """
    if len(people) != len(judge):
        raise ValueError(f"{len(people)} scores of people beside {len(judge)} of the judge")
    both = [(x, y) for x, y in zip(people, judge, strict=True) if defined(x) and defined(y)]
    pairs = Counter((round(x, 3), round(y, 3)) for x, y in both)
    n = len(both)
    numbers = [number for pair in pairs for number in pair]
    low, high = min([0.0, *numbers]), max([1.0, *numbers])
    ticks = _TICKS if (low, high) == (0.0, 1.0) else (low, (low + high) / 2, high)
    x_axis = Axis(low, high, LEFT, SIDE - RIGHT, ticks)
    y_axis = Axis(low, high, SIDE - BOTTOM, TOP, ticks)
    most = max(pairs.values(), default=1)
    by_width: dict[float, list[str]] = {}
    for (x, y), number in sorted(pairs.items()):
        # M and h0: a segment of no length, whose round cap is the dot.
        segment = f"M{x_axis.at(x):g} {y_axis.at(y):g}h0"
        by_width.setdefault(_width(number, most), []).append(segment)
    equal = sum(math.isclose(x, y, abs_tol=1e-9) for x, y in both)
    above = sum(y > x for x, y in both if not math.isclose(x, y, abs_tol=1e-9))
    description = (
        f"Each dot is one pair of scores, its area the number of responses. {n} responses: the "
        f"judge’s {measure} equals people’s in {equal}, is higher in {above} and lower in "
        f"{n - equal - above}."
    )
    return Scatter(
        title=title,
        description=description,
        x=x_axis,
        y=y_axis,
        dots=tuple(Dots("".join(by_width[width]), width) for width in sorted(by_width)[::-1]),
        legend=tuple((number, _width(number, most)) for number in _legend(most)),
        n=n,
        places=len(pairs),
        equal=equal,
        above=above,
        below=n - equal - above,
        left_out=len(people) - n,
    )


def _width(number: int, most: int) -> float:
    """A dot's diameter: area proportional to the number, never too small to see; half units."""
    largest = min(_LARGEST, _SMALLEST * math.sqrt(most))
    return round(2 * max(_SMALLEST, largest * math.sqrt(number / most))) / 2


def _legend(most: int) -> list[int]:
    """Up to three round numbers of responses, the largest not above the largest dot."""
    if most == 1:
        return [1]
    step = 10 ** int(math.log10(most))
    top = max(factor * step for factor in (1, 2, 5) if factor * step <= most)
    return sorted({1, max(1, round(math.sqrt(top))), top})
