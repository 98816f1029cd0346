"""Cells of a table for a terminal: cut, filled and aligned by the width that is seen."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence

__all__ = ["pad", "right", "squeezed", "width"]


def width(text: str) -> int:
    """Columns of a terminal that a text takes: two for a wide character, none for a combining."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def pad(text: str, size: int) -> str:
    """On one line, cut to ``size`` columns or filled up to them on the right."""
    text = _cut(_one_line(text), size)
    return text + " " * (size - width(text))


def right(text: str, size: int) -> str:
    """On one line, cut to ``size - 2`` columns and filled up to ``size`` on the left."""
    text = _cut(_one_line(text), size - 2)
    return " " * (size - width(text)) + text


_ROW = re.compile(r"\S {2,}\S")
"""What makes a line a row of a table: cells apart by two blanks or more."""


def squeezed(lines: Sequence[str], size: int) -> list[str]:
    """The lines of a part in ``size`` columns: sentences wrapped, the blanks between cells fewer.

    Cells stay below one another: only columns that are blank in every row are taken out, and one
    is always left. Where rows are too wide even so, the first cell has a line of its own.
    """
    rows = [line for line in lines if _ROW.search(line.strip())]
    gone = _spare(rows, size)
    apart = max(map(width, rows), default=0) - len(gone) > size
    start = body = 0
    if apart:
        start = _second_cell(rows)
        body = start + min(_begin(row[start:]) for row in rows)
        gone = _spare([row[body:] for row in rows], size - 4)
    out: list[str] = []
    for line in lines:
        indent = " " * _begin(line)
        if line not in rows:
            out += textwrap.wrap(line, size, subsequent_indent=f"{indent}  ") or [line]
        elif apart:
            out += [line[:start].rstrip()] if line[:start].strip() else []
            out.append("    " + _without(line[body:], gone))
        else:
            out.append(_without(line, gone))
    return out


def _second_cell(rows: Sequence[str]) -> int:
    """Where the cells after the first begin: behind the longest first cell.

    A header without a first cell begins with the others, and has none to be told apart.
    """
    leads = min(map(_begin, rows)) + 4
    ends = [
        found.start() + 1
        for row in rows
        if _begin(row) <= leads and (found := _ROW.search(row, _begin(row)))
    ]
    return max(ends, default=0)


def _begin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _without(line: str, gone: frozenset[int]) -> str:
    return "".join(char for at, char in enumerate(line) if at not in gone)


def _spare(rows: Sequence[str], size: int) -> frozenset[int]:
    """Columns that can go so that the widest row has ``size``, none where all fit."""
    widest = max(map(width, rows), default=0)
    inked = {at for row in rows for at, char in enumerate(row) if char != " "}
    if widest <= size or not inked:
        return frozenset()
    gone: set[int] = set()
    for left in (2, 1):
        for at in range(min(inked), max(inked)):
            before = [column for column in range(at) if column not in gone][-left:]
            blank = at not in inked and len(before) == left and not inked.intersection(before)
            if blank and at not in gone and widest - len(gone) > size:
                gone.add(at)
    return frozenset(gone)


def _one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")


def _cut(text: str, size: int) -> str:
    used, kept = 0, None
    for at, char in enumerate(text):
        used += width(char)
        if kept is None and used >= size:
            kept = at
        if used > size:
            return f"{text[:kept]}…"
    return text
