"""One linear sum assignment, made unique: which of several best ones, and how many elements tie.

``assign`` has the largest total; ``greedy`` takes the best pair that is left, again and again.
scipy returns some assignment with the largest total; which one has changed between its versions.
Here the dual prices of that assignment give all the best ones at once, and the lowest is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

__all__ = ["TOLERANCE", "Cell", "assign", "greedy"]

Cell = tuple[int, int, float]
"""Predicted position, reference position, similarity above 0."""

TOLERANCE = 1e-9
"""Totals that differ by no more are equal: floats of the same fractions differ by 1e-15."""


def assign(cells: Sequence[Cell]) -> tuple[dict[int, tuple[int, float]], int]:
    """The lowest of the assignments with the largest total, and the number of ties.

    Parameters
    ----------
    cells
        ``(predicted, reference, f1)`` with f1 above 0, in rising order of the two positions; what
        has no cell can't be matched.

    Returns
    -------
    assigned, ties
        Predicted position → (reference position, f1); ties as in :class:`Alignment`.
    """
    if not cells:
        return {}, 0
    rows: dict[int, dict[int, float]] = {}
    for p, r, f1 in cells:
        if p in rows:
            rows[p][r] = f1
        else:
            rows[p] = {r: f1}
    only = _distinct_best(rows)
    if only is not None:
        return {p: (r, rows[p][r]) for p, r in only.items()}, 0
    matched: dict[int, int] = {}
    ties = 0
    for part in _components(rows):
        found, tied = _by_trying(part) if _few_ways(part) else _by_prices(part)
        matched.update(found)
        ties += tied
    return {p: (r, rows[p][r]) for p, r in sorted(matched.items())}, ties


def greedy(cells: Iterable[Cell]) -> tuple[dict[int, tuple[int, float]], int]:
    """The best pair first, then the best of what is left; never more pairs than elements of a side.

    Of equal pairs the one with the lowest predicted element comes first, of these the one with the
    lowest reference element. The total can be below that of :func:`assign`.

    Parameters
    ----------
    cells
        As for :func:`assign`, in any order.

    Returns
    -------
    assigned, ties
        Predicted position → (reference position, similarity), by position; and how many pairs were
        taken while an equal pair of one of the two elements was there to take instead.
    """
    assigned: dict[int, tuple[int, float]] = {}
    taken: set[int] = set()
    ties = 0
    in_order = sorted(cells, key=lambda cell: (-cell[2], cell[0], cell[1]))
    for similarity, group in groupby(in_order, key=lambda cell: cell[2]):
        rows: dict[int, list[int]] = {}
        columns: dict[int, list[int]] = {}
        equal = [(p, r) for p, r, _ in group if p not in assigned and r not in taken]
        for p, r in equal:
            rows.setdefault(p, []).append(r)
            columns.setdefault(r, []).append(p)
        # Equal pairs of an element that are still to be had.
        free_p = Counter({p: len(places) for p, places in rows.items()})
        free_r = Counter({r: len(places) for r, places in columns.items()})
        for p, r in equal:
            if p in assigned or r in taken:
                continue
            ties += free_p[p] > 1 or free_r[r] > 1
            assigned[p] = (r, similarity)
            taken.add(r)
            free_r.subtract(rows[p])
            free_p.subtract(columns[r])
    return dict(sorted(assigned.items())), ties


Rows = Mapping[int, Mapping[int, float]]
"""Predicted position → reference position → F1."""

FEW = 100
"""Up to so many ways, trying them is faster than setting up an assignment."""


def _few_ways(rows: Rows) -> bool:
    ways = 1
    for row in rows.values():
        ways *= len(row) + 1
        if ways > FEW:
            return False
    return True


def _components(rows: Rows) -> list[dict[int, Mapping[int, float]]]:
    """The rows in groups that share no column; each group can be assigned by itself."""
    takers: dict[int, list[int]] = {}
    for p, row in rows.items():
        for r in row:
            takers.setdefault(r, []).append(p)
    parts = []
    placed: set[int] = set()
    for start in rows:
        if start in placed:
            continue
        placed.add(start)
        group = [start]
        for p in group:
            for r in rows[p]:
                for other in takers.pop(r, ()):
                    if other not in placed:
                        placed.add(other)
                        group.append(other)
        parts.append({p: rows[p] for p in sorted(group)})
    return parts


def _by_trying(rows: Rows) -> tuple[dict[int, int], int]:
    """A small group: all ways to match it, the lowest first."""
    ways: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for row in rows.values():
        choices = [*sorted(row.items()), (-1, 0.0)]  # being left over comes last
        ways = [
            (total + f1, (*way, r))
            for total, way in ways
            for r, f1 in choices
            if r < 0 or r not in way
        ]
    top = max(ways)[0] - TOLERANCE
    best = [way for total, way in ways if total > top]
    ties = sum([len(set(partners)) > 1 for partners in zip(*best, strict=True)])
    return {p: r for p, r in zip(rows, best[0], strict=True) if r >= 0}, ties


def _by_prices(rows: Rows) -> tuple[dict[int, int], int]:
    """A group of any size: one assignment by scipy, then all the best ones from its prices."""
    matched = _largest(rows)
    choice = _Choice(*_tight(rows, matched), matched)
    tied = choice.tied()
    choice.settle(tied)
    return {p: choice.match[p] for p in rows if choice.match[p] >= 0}, len(tied)


def _distinct_best(rows: Rows) -> dict[int, int] | None:
    """Each row's best column, if it is alone in its row and nobody else's: then nothing ties."""
    best: dict[int, int] = {}
    for p, row in rows.items():
        top = max(row.values())
        where = [r for r, f1 in row.items() if f1 > top - TOLERANCE]
        if len(where) > 1:
            return None
        best[p] = where[0]
    return best if len(set(best.values())) == len(best) else None


def _largest(rows: Rows) -> dict[int, int]:
    """One assignment with the largest total, by scipy; pairs with F1 0 are no pairs."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    columns = sorted({r for row in rows.values() for r in row})
    at = {r: column for column, r in enumerate(columns)}
    matrix = np.zeros((len(rows), len(columns)))
    for line, row in enumerate(rows.values()):
        for r, f1 in row.items():
            matrix[line, at[r]] = f1
    lines, places = linear_sum_assignment(matrix, maximize=True)
    names = list(rows)
    return {
        names[line]: columns[place]
        for line, place in zip(lines.tolist(), places.tolist(), strict=True)
        if columns[place] in rows[names[line]]
    }


Tight = dict[int, list[int]]


def _tight(rows: Rows, matched: Mapping[int, int]) -> tuple[Tight, tuple[set[int], set[int]]]:
    """The cells that can stand in a best assignment, and who must be matched in each of them.

    From a best assignment the prices of the dual problem follow: ``price[r]`` is the least that
    satisfies ``price[r] >= f1(p, r) - gain[p]`` for all cells, where ``gain[p] = f1 - price`` of
    p's own pair and 0 for those left over. By complementary slackness the best assignments are
    exactly those on cells with equality that match everyone with a gain or price above 0.
    """
    price = {r: 0.0 for row in rows.values() for r in row}
    gain = dict.fromkeys(rows, 0.0)
    for p, r in matched.items():
        gain[p] = rows[p][r]
    owner = {r: p for p, r in matched.items()}
    queue = list(rows)
    waiting = set(queue)
    for p in queue:  # grows while prices rise; a best assignment has no rising circle
        waiting.discard(p)
        for r, f1 in rows[p].items():
            if r == matched.get(p):
                continue
            asked = f1 - gain[p]
            if asked > price[r] + TOLERANCE:
                price[r] = asked
                rival = owner[r]
                gain[rival] = rows[rival][r] - asked
                if rival not in waiting:
                    waiting.add(rival)
                    queue.append(rival)
    tight = {
        p: [r for r, f1 in sorted(row.items()) if gain[p] + price[r] < f1 + TOLERANCE]
        for p, row in rows.items()
    }
    must_rows = {p for p in rows if gain[p] > TOLERANCE}
    must_columns = {r for r, value in price.items() if value > TOLERANCE}
    return tight, (must_rows, must_columns)


class _Choice:
    """All best assignments at once, as the perfect matchings of one graph.

    A predicted element that may stay unmatched (p) has the column ``~p`` of its own, a reference
    element that may (r) the row ``~r``; ``~r`` can take ``~p`` where p can take r, so that whoever
    is matched leaves nobody without a partner. Walking from a row over one of its other columns to
    that column's owner, a circle is a change of partners that costs nothing.
    """

    def __init__(
        self, tight: Tight, must: tuple[set[int], set[int]], matched: Mapping[int, int]
    ) -> None:
        must_rows, must_columns = must
        owner = {r: p for p, r in matched.items()}
        self.options: dict[int, list[int]] = {}
        for p, columns in tight.items():
            self.options[p] = columns if p in must_rows else [*columns, ~p]
            for r in columns:
                if ~r not in self.options:
                    self.options[~r] = [] if r in must_columns else [r]
                self.options[~r].append(~p)
        self.takers: dict[int, list[int]] = {}
        for row, columns in self.options.items():
            for column in columns:
                self.takers.setdefault(column, []).append(row)
        self.match = {
            row: matched.get(row, ~row) if row >= 0 else (~owner[~row] if ~row in owner else ~row)
            for row in self.options
        }
        self.owner = {column: row for row, column in self.match.items()}

    def tied(self) -> list[int]:
        """The predicted elements on a circle: strongly connected with another row (Tarjan)."""
        found: list[int] = []
        number: dict[int, int] = {}
        low: dict[int, int] = {}
        stack: list[int] = []
        on_stack: set[int] = set()
        for root in self.options:
            if root in number:
                continue
            walk = [(root, iter(self.options[root]))]
            number[root] = low[root] = len(number)
            stack.append(root)
            on_stack.add(root)
            while walk:
                row, rest = walk[-1]
                for column in rest:
                    following = self.owner[column]
                    if following not in number:
                        number[following] = low[following] = len(number)
                        stack.append(following)
                        on_stack.add(following)
                        walk.append((following, iter(self.options[following])))
                        break
                    if following in on_stack:
                        low[row] = min(low[row], number[following])
                else:
                    walk.pop()
                    if walk:
                        above = walk[-1][0]
                        low[above] = min(low[above], low[row])
                    if low[row] == number[row]:
                        group: list[int] = []
                        while not group or group[-1] != row:
                            group.append(stack.pop())
                        on_stack.difference_update(group)
                        if len(group) > 1:
                            found += [member for member in group if member >= 0]
        return sorted(found)

    def settle(self, rows: Iterable[int]) -> None:
        """Give each of the rows, in order, the lowest column that the rows before it leave."""
        settled: set[int] = set()
        for row in rows:
            current = self.match[row]
            wanted = []
            for column in self.options[row]:  # rising, being left over (negative) last
                if column == current:
                    break
                wanted.append(column)
            if wanted:
                step = self._ways_to(row, settled)
                for column in wanted:
                    if self.owner[column] in step:
                        self._rotate(row, column, step)
                        break
            settled.add(row)

    def _ways_to(self, goal: int, settled: set[int]) -> dict[int, int]:
        """Row → the column it must take to be one step nearer to what ``goal`` gives up."""
        step: dict[int, int] = {}
        queue = [goal]
        for row in queue:
            column = self.match[row]
            for taker in self.takers[column]:
                if taker != goal and taker not in step and taker not in settled:
                    step[taker] = column
                    queue.append(taker)
        return step

    def _rotate(self, row: int, column: int, step: Mapping[int, int]) -> None:
        goal = row
        while True:
            displaced = self.owner[column]
            self.match[row], self.owner[column] = column, row
            if displaced == goal:
                return
            row, column = displaced, step[displaced]
