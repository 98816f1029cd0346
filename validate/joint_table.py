"""Which score by people met which by the judge: the table that stands beside a correlation.

On a coarse scale, or where one score is by far the commonest, a correlation rests on few cells;
the table shows which. It is made where a side has at most 12 distinct scores, or one of them holds
more than 40 % of it; sides with more scores are cut into bands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .against_people import AgainstPeople, against_people
from .clusters import FloatArray, IntArray
from .figures import count, percent, visible
from .section import Section, View
from .text_cells import pad, right

__all__ = ["JointTable", "joint_section", "joint_table"]

COARSE = 12
"""Up to so many distinct scores a scale is coarse."""
SKEWED = 0.4
"""Above this share of one score a scale is skewed."""
BANDS = 5
"""Into so many bands of equal width a side is cut that has more distinct scores than 12."""
_ROOM = 98
"""Columns of a terminal."""


@dataclass(frozen=True, slots=True, eq=False)
class JointTable:
    """Counts of pairs of scores.

    Parameters
    ----------
    rows, columns
        What the rows (people) and columns (judge) stand for, from low to high.
    counts
        ``(len(rows), len(columns))`` responses (or items), unweighted.
    distinct
        Distinct scores of people and of the judge.
    commonest, share
        For people and the judge the commonest score, and the share that has it.
    equal
        Share where both are the same score.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: IntArray
    distinct: tuple[int, int]
    commonest: tuple[float, float]
    share: tuple[float, float]
    equal: float


def joint_table(judge: FloatArray, people: FloatArray) -> JointTable | None:
    """The table of two scores ``(n,)`` without NaN; None where neither is coarse or skewed.

    Scores that agree to 9 digits are one score.
    """
    if not judge.size:
        return None
    x, y = (_to_9_digits(scores) for scores in (people, judge))
    sides = [np.unique(scores, return_counts=True) for scores in (x, y)]
    distinct = [values.size for values, _ in sides]
    share = [float(counts.max() / counts.sum()) for _, counts in sides]
    if min(distinct) > COARSE and max(share) <= SKEWED:
        return None
    rows, at_row = _banded(x, sides[0][0])
    columns, at_column = _banded(y, sides[1][0])
    table = np.zeros((len(rows), len(columns)), dtype=np.int64)
    np.add.at(table, (at_row, at_column), 1)
    commonest = [float(values[counts.argmax()]) for values, counts in sides]
    return JointTable(
        rows=rows,
        columns=columns,
        counts=table,
        distinct=(distinct[0], distinct[1]),
        commonest=(commonest[0], commonest[1]),
        share=(share[0], share[1]),
        equal=float((x == y).mean()),
    )


def _banded(scores: FloatArray, values: FloatArray) -> tuple[tuple[str, ...], IntArray]:
    """Names of the scores, or of bands between the lowest and the highest, and which each is."""
    if values.size <= COARSE:
        names = tuple(f"{one:.3g}" for one in values)
        if len(set(names)) < len(names):
            names = tuple(f"{one:.9g}" for one in values)
        return names, np.searchsorted(values, scores)
    low, high = float(values[0]), float(values[-1])
    edges = np.linspace(low, high, BANDS + 1)
    inner = np.searchsorted(edges[1:-1], scores, side="right") + 1
    at = np.where(scores == low, 0, np.where(scores == high, BANDS + 1, inner))
    bands = [f"{a:.2g}–{b:.2g}" for a, b in zip(edges[:-1], edges[1:], strict=True)]
    return (f"{low:.3g}", *bands, f"{high:.3g}"), at


def _to_9_digits(scores: FloatArray) -> FloatArray:
    """Rounded to 9 digits after the point; a number so large that it has none stays as it is."""
    small = np.abs(scores) < 1e9
    return np.where(small, np.round(np.where(small, scores, 0.0), 9), scores) + 0.0


def joint_section(view: View) -> Section | None:
    """The tables of all judges whose correlation needs one; None where there is none."""
    rows: list[dict[str, Any]] = []
    lines: list[str] = []
    notes: list[str] = []
    for column in view.coded.of("judge"):
        data = against_people(view, column)
        if isinstance(data, str) or not _correlated(view, data):
            continue
        table = joint_table(data.judge, data.people)
        if table is None:
            continue
        rows.append(_as_row(table, data))
        lines += _lines(table, data)
        notes.append(_sentence(table, data))
    if not rows:
        return None
    return Section(
        "joint_table",
        "Scores of people (rows) by scores of the judge (columns)",
        lines=tuple(lines),
        notes=tuple(notes),
        rows=tuple(rows),
    )


def _correlated(view: View, data: AgainstPeople) -> bool:
    """Whether the panel has a correlation here that is not one of two labels alone.

    Where every response is one verdict, the confusion is this table already.
    """
    if view.settings.scale != "nominal":
        return True
    values = np.unique(np.concatenate([data.judge, data.people]))
    return data.level == "response" and values.size > 2


def _as_row(table: JointTable, data: AgainstPeople) -> dict[str, Any]:
    return {
        "raters": list(data.raters),
        "comparison": data.comparison,
        "level": data.level,
        "measure": data.measure,
        "rows": list(table.rows),
        "columns": list(table.columns),
        "counts": table.counts.tolist(),
        "n": int(table.counts.sum()),
        "distinct_people": table.distinct[0],
        "distinct_judge": table.distinct[1],
        "commonest_people": table.commonest[0],
        "commonest_judge": table.commonest[1],
        "share_people": table.share[0],
        "share_judge": table.share[1],
        "equal": table.equal,
    }


def _lines(table: JointTable, data: AgainstPeople) -> list[str]:
    judge, people = (visible(name) for name in data.raters)
    title = f"{judge} (columns) against {people} (rows), {count(data.judge.size)} {data.noun}"
    side = max(map(len, table.rows)) + 1
    largest = len(count(int(table.counts.max())))
    cell = max(largest, *map(len, table.columns)) + 2
    if side + cell * len(table.columns) > _ROOM:
        return [pad(title, _ROOM).rstrip(), "(too wide for a terminal: --json has the table)"]
    out = [pad(title, _ROOM).rstrip()]
    out.append(pad("", side) + "".join(right(name, cell) for name in table.columns))
    for name, row in zip(table.rows, table.counts.tolist(), strict=True):
        out.append(pad(name, side) + "".join(f"{count(number):>{cell}}" for number in row))
    return out


def _sentence(table: JointTable, data: AgainstPeople) -> str:
    judge, people = data.raters
    said: list[str] = []
    sides: Sequence[tuple[str, int, float, float]] = (
        (people, table.distinct[0], table.commonest[0], table.share[0]),
        (judge, table.distinct[1], table.commonest[1], table.share[1]),
    )
    for name, distinct, commonest, share in sides:
        if share > SKEWED:
            said.append(f"{percent(share, 0)} of {name}'s scores are {commonest:g}")
        elif distinct <= COARSE:
            said.append(f"{name} gives {distinct} distinct score{'' if distinct == 1 else 's'}")
    return (
        f"{judge}: {' and '.join(said)}, so a correlation rests on few cells of the table;"
        f" both give the same score to {percent(table.equal, 1)} of the {data.noun}"
    )
