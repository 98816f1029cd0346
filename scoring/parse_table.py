"""Markdown tables: each body row is an element, its first cell the text, the others attributes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .parse_source import find_in_order
from .parse_text import clean
from .records import Element

__all__ = ["is_row", "is_rule", "read_table"]

_RULE = frozenset("|+-=: \t")
_PIPE = re.compile(r"(?<!\\)\|")
_BREAK = re.compile(r"<br\s{0,3}/?>", re.I)
_RANK = re.compile(r"(?:#|no\.?|nr\.?|n°|rank|position|pos\.?|序号|排名|番号|順位)$", re.I)


def is_row(line: str) -> bool:
    """Whether a line can be a table's row: it opens with a pipe, or has cells on both sides."""
    stripped = line.strip()
    return stripped.startswith("|") and stripped.count("|") > 1


def read_table(lines: Sequence[str]) -> tuple[list[Element], list[tuple[int, int]]] | None:
    """The elements of a run of table rows, and where they stand; None where they make no table.

    A table has a header and, below it, a rule line and one row at least, or two rows at least.
    """
    rules = [at for at, line in enumerate(lines) if is_rule(line)]
    if 1 not in rules and len(lines) > 2 and _is_thin_rule(lines[1]):
        rules.insert(0, 1)
    rule = rules[0] if rules else None
    dropped = set(rules)
    places = [at for at in range(len(lines)) if at not in dropped]
    rows = [_cells(lines[at]) for at in places]
    if len(rows) < 2 or (rule != 1 and len(rows) < 3):
        return None
    header, body = rows[0], rows[1:]
    width = max(len(row) for row in body)
    if len(header) == width - 1:
        header = ["", *header]
    rank = bool(_RANK.match(clean(header[0]))) and width > 1
    elements: list[Element] = []
    found: list[tuple[int, int]] = []  # line, place in it
    for cells, place in zip(body, places[1:], strict=True):
        row = cells
        names = header
        if rank:
            row, names = row[1:], header[1:]
        while row and not clean(row[0]):
            row, names = row[1:], names[1:]  # an empty first cell names nothing
        if not row:
            continue
        pairs: list[tuple[str, str]] = []
        for at, cell in enumerate(row[1:], 1):
            name = clean(names[at]) if at < len(names) else ""
            pairs += [(name, clean(part)) for part in _BREAK.split(cell)]
        text = clean(_BREAK.sub(" ", row[0]))
        elements.append(Element(text, attributes=tuple(pairs)))
        line = lines[place].strip()
        found.append((place, find_in_order(cells[: len(cells) - len(row) + 1], line)[-1] or 0))
    return (elements, found) if elements else None


def is_rule(line: str) -> bool:
    """Whether a line is the rule below the header, ``|---|:--:|``, or a border, ``+---+---+``."""
    return (
        ("--" in line or "==" in line)
        and ("|" in line or "-+" in line)
        and _RULE.issuperset(line.strip())
    )


def _is_thin_rule(line: str) -> bool:
    """Whether a second line is a rule of single dashes; further down they are cells."""
    stripped = line.strip()
    return stripped.startswith("|") and "-" in stripped and _RULE.issuperset(stripped)


def _cells(line: str) -> list[str]:
    stripped = line.strip()
    if stripped.startswith("|"):
        stripped = stripped[1:]
    if stripped.endswith("|") and not stripped.endswith("\\|"):
        stripped = stripped[:-1]
    return [cell.replace("\\|", "|").strip() for cell in _PIPE.split(stripped)]
