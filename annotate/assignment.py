"""Who grades what: each item to so many people, loads equal, all pairs of people equally often.

Pairs matter as much as loads: agreement of two people rests on the items that both graded, so a
plan in which some two people never meet can't say how well they agree. A server that hides nothing
between the people of a project, and draws overlap at random, can't make such a plan; each person
gets a project of his own instead.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..scoring.errors import SettingsError

__all__ = ["Assignment", "assign", "balance"]

_SUBSETS = 2_000
"""Groups of people that are compared for each item; beyond them people are chosen one by one."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which people grade which items.

    Parameters
    ----------
    people
        Names, in the order of the columns of ``pairs``.
    of_item
        Item → the places (in ``people``) of those who grade it, in rising order.
    loads
        Items of each person.
    pairs
        ``pairs[i][j]``: items that both i and j grade; 0 on the diagonal.
    """

    people: tuple[str, ...]
    of_item: Mapping[str, tuple[int, ...]]
    loads: tuple[int, ...] = field(default=())
    pairs: tuple[tuple[int, ...], ...] = field(default=(), repr=False)

    def items_of(self, person: int) -> list[str]:
        """The items of one person, in the order of the sample."""
        return [item for item, chosen in self.of_item.items() if person in chosen]

    @property
    def sentence(self) -> str:
        """The plan in words that can stand in a paper."""
        many = {len(chosen) for chosen in self.of_item.values()}
        each = "1 person" if many == {1} else f"{max(many, default=0)} people"
        text = (
            f"{len(self.of_item)} items, each to {each} of {len(self.people)};"
            f" {_range(self.loads)} items a person"
        )
        if max(many, default=0) < 2:
            return text
        shared = [self.pairs[i][j] for i, j in itertools.combinations(range(len(self.people)), 2)]
        return f"{text}, {_range(shared)} items shared by each two"


def assign(
    items: Sequence[str],
    people: Sequence[str],
    per_item: int,
    *,
    rng: np.random.Generator,
    barred: Mapping[str, Collection[int]] | None = None,
) -> Assignment:
    """Give each item to ``per_item`` people.

    Parameters
    ----------
    items
        Distinct item ids in the order of the sample.
    people
        Distinct names.
    per_item
        People an item, from 1 to ``len(people)``.
    rng
        Breaks ties, so that nobody is preferred for his place in the list.
    barred
        Item → places of the people who must not grade it (its author, another language).

    Returns
    -------
    Assignment
        With nobody barred, loads differ by at most one and, for two people an item, the numbers
        of items that each two share by at most two. Where people are barred both are as equal as
        one pass over the items makes them.

    Raises
    ------
    SettingsError
        More people an item than there are, or than may grade some item.
    """
    if len(set(people)) != len(people):
        twice = next(name for name in people if list(people).count(name) > 1)
        raise SettingsError(f"{twice!r} is named twice among the annotators", cure="name each once")
    if not 1 <= per_item <= len(people):
        raise SettingsError(
            f"--per-item {per_item}, and there are {len(people)} annotators",
            cure=f"1 to {len(people)}",
        )
    closed = {item: frozenset((barred or {}).get(item, ())) for item in items}
    short = [item for item in items if len(people) - len(closed[item]) < per_item]
    if short:
        able = len(people) - len(closed[short[0]])
        raise SettingsError(
            f"{len(short)} items have fewer than {per_item} people who may grade them"
            f" ({short[0]!r} has {able})",
            cure="name more annotators, or lower --per-item",
        )
    chosen = balance([closed[item] for item in items], len(people), per_item, rng)
    loads = np.zeros(len(people), dtype=np.int64)
    pairs = np.zeros((len(people), len(people)), dtype=np.int64)
    for group in chosen:
        _count(group, loads, pairs)
    return Assignment(
        people=tuple(people),
        of_item=dict(zip(items, chosen, strict=True)),
        loads=tuple(int(n) for n in loads),
        pairs=tuple(tuple(int(n) for n in row) for row in pairs),
    )


def balance(
    closed: Sequence[Collection[int]], people: int, per_item: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """For each item the places of its people.

    Items with the fewest people to choose from come first, in random order among equals: they
    leave the rest free to even out. Each item takes the group that keeps the largest load lowest,
    and among those the one whose members have met least.
    """
    loads = np.zeros(people, dtype=np.int64)
    pairs = np.zeros((people, people), dtype=np.int64)
    order = rng.permutation(len(closed))
    order = order[np.argsort([-len(closed[k]) for k in order], kind="stable")]
    out: list[tuple[int, ...]] = [()] * len(closed)
    for k in order.tolist():
        free = [person for person in range(people) if person not in closed[k]]
        if math.comb(len(free), per_item) <= _SUBSETS:
            group = _best_group(free, per_item, loads, pairs, rng)
        else:
            group = _one_by_one(free, per_item, loads, pairs, rng)
        out[k] = tuple(sorted(group))
        _count(out[k], loads, pairs)
    return out


def _best_group(
    free: Sequence[int], size: int, loads: Counts, pairs: Counts, rng: np.random.Generator
) -> tuple[int, ...]:
    groups = np.array(list(itertools.combinations(free, size)), dtype=np.int64)
    load = loads[groups]
    met = pairs[groups[:, :, None], groups[:, None, :]]
    # by the squares, two people who met twice are worse than four who met once
    keys = (
        rng.permutation(len(groups)),
        load.sum(axis=1),
        (met * met).sum(axis=(1, 2)),
        load.max(axis=1),
    )
    return tuple(int(person) for person in groups[np.lexsort(keys)[0]])


def _one_by_one(
    free: Sequence[int], size: int, loads: Counts, pairs: Counts, rng: np.random.Generator
) -> tuple[int, ...]:
    group: list[int] = []
    left = np.array(free, dtype=np.int64)
    for _ in range(size):
        met = pairs[left][:, np.array(group, dtype=np.int64)].sum(axis=1)
        best = np.lexsort((rng.permutation(len(left)), met, loads[left]))[0]
        group.append(int(left[best]))
        left = np.delete(left, best)
    return tuple(group)


def _count(group: Sequence[int], loads: Counts, pairs: Counts) -> None:
    for person in group:
        loads[person] += 1
    for i, j in itertools.permutations(group, 2):
        pairs[i, j] += 1


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers, default=0), max(numbers, default=0)
    return str(low) if low == high else f"{low} to {high}"
