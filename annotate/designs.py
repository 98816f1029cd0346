"""Sampling designs: which units are drawn, and the probability with which each item is.

Every design here is one thing: a simple random sample without replacement in each stratum, of
items or of whole questions, and within a drawn question all items or some of them. So every
inclusion probability is exact: n_h / N_h, times m / M within a question (Särndal, Swensson &
Wretman 1992, ch. 3-4; Cochran 1977, ch. 5 and 10).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from ..scoring.errors import SettingsError
from .allocation import LEAST, allocate

__all__ = [
    "OTHER",
    "SMALL",
    "Design",
    "Stratum",
    "extended",
    "in_questions",
    "merged",
    "oversampled",
    "stratified",
]

Stratum = tuple[str, ...]
SMALL = "(small strata)"
"""The stratum of those that were merged."""
OTHER = "(other)"
"""The class of what is not oversampled."""


@dataclass(frozen=True, slots=True)
class Design:
    """A stratified random sample without replacement, in one stage or two.

    Parameters
    ----------
    strata
        Stratum → its units, in the frame's order.
    counts
        Stratum → units to draw; 0 only where an earlier sample has taken all.
    cells
        Question → its items in groups; None when the units are items themselves.
    per_cell
        Items to draw in each group of a drawn question; None takes all.
    before
        Units of an earlier sample that this one extends. They are part of the frame and can't be
        drawn again.
    """

    strata: Mapping[Stratum, tuple[str, ...]]
    counts: Mapping[Stratum, int]
    cells: Mapping[str, tuple[tuple[str, ...], ...]] | None = None
    per_cell: int | None = None
    before: Set[str] = field(default_factory=frozenset)

    @property
    def size(self) -> int:
        """Units that are drawn."""
        return sum(self.counts.values())

    @property
    def population(self) -> int:
        """Units of the frame."""
        return sum(len(units) for units in self.strata.values())

    def probabilities(self) -> dict[str, float]:
        """Item → the probability with which this design draws it, for every item of the frame.

        Of a sample that extends another this is the probability over both draws: the earlier
        sample leaves N_h - n1_h units by chance, and n2_h of them are drawn, which is
        (1 - n1_h / N_h) n2_h / (N_h - n1_h) = n2_h / N_h. The two never hold the same item, so
        the probability of being in either is the sum.
        """
        found: dict[str, float] = {}
        for stratum, units in self.strata.items():
            first = self.counts[stratum] / len(units)
            for unit in units:
                if self.cells is None:
                    found[unit] = first
                    continue
                for cell in self.cells[unit]:
                    found.update(dict.fromkeys(cell, first * self._within(cell) / len(cell)))
        return found

    def draw(self, rng: np.random.Generator) -> dict[str, float]:
        """One sample: item → its inclusion probability, by strata and in the frame's order."""
        drawn: dict[str, float] = {}
        for stratum, units in self.strata.items():
            first = self.counts[stratum] / len(units)
            there = [unit for unit in units if unit not in self.before]
            for place in np.sort(rng.choice(len(there), self.counts[stratum], replace=False)):
                if self.cells is None:
                    drawn[there[place]] = first
                    continue
                for cell in self.cells[there[place]]:
                    some = self._within(cell)
                    for item in np.sort(rng.choice(len(cell), some, replace=False)):
                        drawn[cell[item]] = first * some / len(cell)
        return drawn

    def _within(self, cell: Sequence[str]) -> int:
        return len(cell) if self.per_cell is None else min(self.per_cell, len(cell))


def stratified(
    of: Mapping[str, Stratum],
    n: int,
    *,
    shares: Mapping[Stratum, float] | None = None,
    what: str = "items",
    option: str = "--n",
) -> Design:
    """``n`` units, stratified; one stratum for all gives a simple random sample.

    Parameters
    ----------
    of
        Unit → its stratum.
    n
        Units to draw.
    shares
        Stratum → what its number is proportional to; its size by default.
    what, option
        What a unit is called and which option gives ``n``, for messages.

    Raises
    ------
    SettingsError
        When there are fewer units than ``n``, or fewer than two for each stratum.

    Examples
    --------
    >>> design = stratified({"a": ("x",), "b": ("x",), "c": ("y",), "d": ("y",)}, 4)
    >>> design.probabilities()
    {'a': 1.0, 'b': 1.0, 'c': 1.0, 'd': 1.0}
    """
    strata = _groups(of)
    if not 1 <= n <= len(of):
        raise SettingsError(
            f"{option} is {n} and the frame has {len(of)} {what}",
            cure=f"give {option} from 1 to {len(of)}",
        )
    if len(strata) == 1:
        return Design(strata, dict.fromkeys(strata, n))
    needed = sum(min(LEAST, len(units)) for units in strata.values())
    if n < needed:
        raise SettingsError(
            f"{option} is {n} and there are {len(strata)} strata, each of which gives {LEAST} "
            f"{what} or all it has",
            cure=f"draw at least {needed} {what}, use fewer strata, or add --merge-small",
        )
    wanted = None if shares is None else [shares[stratum] for stratum in strata]
    counts = allocate([len(units) for units in strata.values()], n, shares=wanted)
    return Design(strata, dict(zip(strata, counts, strict=True)))


def oversampled(
    of: Mapping[str, Stratum],
    classes: Mapping[str, str],
    wanted: Mapping[str, float],
    n: int,
    *,
    shares: Mapping[Stratum, float] | None = None,
) -> Design:
    """``n`` items, a given share of them from each named class of items.

    The class is a stratum above the others, so the inclusion probabilities are as exact as those
    of any stratified sample, and weights undo the oversampling.

    Parameters
    ----------
    of
        Item → its stratum.
    classes
        Item → its class, for those that are in one; the rest is :data:`OTHER`.
    wanted
        Class → its share of the sample, in (0, 1); the sum is below 1.

    Raises
    ------
    SettingsError
        When a class has too few items for its share, or the rest has.
    """
    whole = {item: (classes.get(item, OTHER), *stratum) for item, stratum in of.items()}
    sizes = {name: 0 for name in (*wanted, OTHER)}
    for name, *_ in whole.values():
        sizes[name] += 1
    numbers = {name: int(share * n + 0.5) for name, share in wanted.items()}
    numbers[OTHER] = n - sum(numbers.values())
    strata: dict[Stratum, tuple[str, ...]] = {}
    counts: dict[Stratum, int] = {}
    for name, number in numbers.items():
        if not sizes[name]:
            raise SettingsError(
                f"no item of the frame is among {name!r}", cure="leave it out of --oversample"
            )
        if not 1 <= number <= sizes[name]:
            raise SettingsError(
                f"{number} of {n} items are to be from {name!r}, which has {sizes[name]} items",
                cure=f"give it a share of at most {sizes[name] / n:.3g}"
                if name != OTHER and number
                else "change --n or the shares of --oversample",
            )
        part = {item: key for item, key in whole.items() if key[0] == name}
        within = None if shares is None else {key: shares[key[1:]] for key in part.values()}
        try:
            one = stratified(part, number, shares=within)
        except SettingsError as error:
            raise SettingsError(f"{name!r}: {error.message}", cure=error.cure) from None
        strata |= one.strata
        counts |= one.counts
    return Design(strata, counts)


def in_questions(
    design: Design, cells: Mapping[str, Sequence[Sequence[str]]], per_cell: int | None = None
) -> Design:
    """A design of questions as one of items: all items of a drawn question, or some of them.

    Parameters
    ----------
    design
        Of questions.
    cells
        Question → its items, in one group or more (one a system, to draw as many of each).
    per_cell
        Items to draw from each group; a smaller group gives all it has. None takes all.
    """
    grouped = {unit: tuple(tuple(cell) for cell in cells[unit]) for unit in cells}
    return replace(design, cells=grouped, per_cell=per_cell)


def extended(design: Design, before: Set[str], n: int, *, what: str, option: str) -> Design:
    """``n`` further units of the frame of ``design``, none of those drawn before.

    Parameters
    ----------
    design
        The design of the samples that are extended, whose counts sum over all of them.
    before
        The units they drew.
    n
        Units to add. Each stratum grows at the rate at which it was drawn, so the samples together
        are one of the same kind; a stratum with units left gives one at least.

    Raises
    ------
    SettingsError
        When there are not so many left, or fewer than strata.
    """
    room = {s: len(units) - design.counts[s] for s, units in design.strata.items()}
    left = sum(room.values())
    least = sum(size > 0 for size in room.values())
    if not max(1, least) <= n <= left:
        strata = f" in {least} strata" if least > 1 else ""
        raise SettingsError(
            f"{option} is {n} and {left} {what}{strata} are left",
            cure=f"give {option} from {least} to {left}" if left else "there is nothing to add",
        )
    counts = allocate(list(room.values()), n, shares=[design.counts[s] for s in room], least=1)
    return replace(design, counts=dict(zip(room, counts, strict=True)), before=frozenset(before))


def merged(of: Mapping[str, Stratum], n: int) -> dict[str, Stratum]:
    """The same units with small strata put together into one.

    Small are those that a sample of ``n`` in proportion to size would give fewer than two.
    """
    groups = _groups(of)
    small = {key for key, units in groups.items() if n * len(units) < LEAST * len(of)}
    if len(small) < 2:
        return dict(of)
    return {unit: (SMALL,) if key in small else key for unit, key in of.items()}


def _groups(of: Mapping[str, Stratum]) -> dict[Stratum, tuple[str, ...]]:
    groups: dict[Stratum, list[str]] = {}
    for unit, stratum in of.items():
        groups.setdefault(stratum, []).append(unit)
    return {stratum: tuple(units) for stratum, units in groups.items()}
