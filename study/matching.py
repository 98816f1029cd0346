"""Labels that others made, found among the study's items without accord's ids.

A row is joined by its position in the answer, by its exact text, or by its normalised text, in
that order, and only where exactly one item fits. Nothing is joined by guess: what fits several
items, or none, is listed with its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..scoring.errors import BadRow, InputError, SettingsError
from ..scoring.tokens import normalise
from .readers import Table, missing_column

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ELEMENT", "Matching", "match_rows"]

ELEMENT = ("question_id", "system", "element")
"""The columns by which an element of an answer is found; ``variant`` and ``position`` may join."""
_MORE = ("variant", "position")
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Matching:
    """What became of the rows.

    Parameters
    ----------
    items
        One item id a row of the table; None where none, or several, fit.
    how
        ``id``, ``position``, ``exact text``, ``normalised text`` → rows joined so.
    ambiguous, unmatched
        The rows that fit several items, and those that fit none, with their lines.
    """

    items: tuple[str | None, ...]
    how: Mapping[str, int]
    ambiguous: tuple[BadRow, ...]
    unmatched: tuple[BadRow, ...]

    def notes(self) -> Iterator[str]:
        """What a person should read: how rows were joined, and the first that were not."""
        joined = ", ".join(f"{count} by {how}" for how, count in self.how.items() if count)
        yield f"matched: {joined or 'nothing'}"
        left: dict[str, Sequence[BadRow]] = {
            "ambiguous": self.ambiguous,
            "unmatched": self.unmatched,
        }
        for what, rows in left.items():
            if rows:
                more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
                yield f"{len(rows)} rows {what} and left out: {rows[0]}{more}"


def match_rows(table: Table, on: Sequence[str], pairs: pd.DataFrame, fields: Any) -> Matching:
    """Find the item of each row.

    Parameters
    ----------
    table
        The labels, one row an item and rater (or one row an item, in a wide table).
    on
        One column that the items have too, as ``external_id``; or ``question_id,system,element``
        with ``variant`` and ``position`` (counted from 1 in the answer) where there are any.
    pairs
        The study's pairs.
    fields
        Makes the items' further columns (name → values in the order of ``pairs``); called for a
        single column only.

    Raises
    ------
    SettingsError
        Columns that say no item.
    InputError
        A column that the table lacks, or rows of which none could be joined.
    """
    for name in on:
        if name not in table.frame.columns:
            raise missing_column(table.name, name, list(map(str, table.frame.columns)), "--on")
    here = pairs[pairs["item_id"].notna()].reset_index(drop=True)
    if len(on) == 1:
        found = _by_field(table, on[0], here, fields(here))
    elif set(ELEMENT) <= set(on) <= {*ELEMENT, *_MORE}:
        found = _by_element(table, on, here)
    else:
        raise SettingsError(
            f"--on names {', '.join(on)}",
            cure="name one column of the items, or question_id,system,element"
            " (and variant, position)",
        )
    if table.lines and not any(found.items):
        first = [*found.unmatched, *found.ambiguous][0]
        raise InputError(
            f"{table.name}: no row fits an item of the study ({first})",
            cure="check --on, and that the study holds these answers",
        )
    return found


def _by_field(
    table: Table, name: str, here: pd.DataFrame, fields: Mapping[str, Sequence[str | None]]
) -> Matching:
    if name not in fields and name not in here.columns:
        raise SettingsError(
            f"--on names {name!r}, which no item of the study has",
            cure="keep it when items are added: --strata " + name,
        )
    values = fields[name] if name in fields else here[name].tolist()
    of_value: dict[str, list[str]] = {}
    for item, value in zip(here["item_id"], values, strict=True):
        if isinstance(value, str) and value.strip():
            of_value.setdefault(value.strip(), []).append(item)
    steps = [("id", of_value, [_cell(cell) for cell in table.column(name)])]
    return _join(table, steps, lambda row: f"{name} {_short(table.column(name)[row])}")


def _by_element(table: Table, on: Sequence[str], here: pd.DataFrame) -> Matching:
    asked = {name: [_cell(cell) for cell in table.column(name)] for name in on}
    kept = ["question_id", "system", *(["variant"] if "variant" in on else [])]
    answers = list(zip(*(here[name].fillna("") for name in kept), strict=True))
    rows = list(zip(*([cell or "" for cell in asked[name]] for name in kept), strict=True))
    texts = here["predicted"].tolist()
    exact: dict[Any, list[str]] = {}
    loose: dict[Any, list[str]] = {}
    placed: dict[Any, list[str]] = {}
    for item, answer, text, place in zip(
        here["item_id"], answers, texts, here["predicted_index"], strict=True
    ):
        exact.setdefault((answer, text.strip()), []).append(item)
        loose.setdefault((answer, normalise(text)), []).append(item)
        if place == place and place is not None:
            placed.setdefault((answer, int(place) + 1, normalise(text)), []).append(item)
    elements = asked["element"]
    steps: list[tuple[str, Mapping[Any, Sequence[str]], list[Any]]] = []
    if "position" in on:
        places = [_whole(table, row, cell) for row, cell in enumerate(asked["position"])]
        # the text must fit too: an answer that was parsed in another way has other positions
        keys = [
            None if place is None or text is None else (answer, place, normalise(text))
            for answer, place, text in zip(rows, places, elements, strict=True)
        ]
        steps.append(("position", placed, keys))
    for how, index, change in (
        ("exact text", exact, str.strip),
        ("normalised text", loose, normalise),
    ):
        steps.append(
            (
                how,
                index,
                [
                    None if text is None else (answer, change(text))
                    for answer, text in zip(rows, elements, strict=True)
                ],
            )
        )

    def shown(row: int) -> str:
        return ", ".join(f"{name} {_short(asked[name][row])}" for name in (*kept, "element"))

    return _join(table, steps, shown)


def _join(
    table: Table,
    steps: Sequence[tuple[str, Mapping[Any, Sequence[str]], Sequence[Any]]],
    shown: Any,
) -> Matching:
    items: list[str | None] = []
    how = {name: 0 for name, _, _ in steps}
    ambiguous, unmatched = [], []
    for row, line in enumerate(table.lines):
        several = 0
        for name, index, keys in steps:
            fits = index.get(keys[row], ()) if keys[row] is not None else ()
            if len(fits) == 1:
                items.append(fits[0])
                how[name] += 1
                break
            several = max(several, len(fits))
        else:
            items.append(None)
            if several:
                ambiguous.append(BadRow(table.name, line, f"{shown(row)} fits {several} items"))
            else:
                unmatched.append(BadRow(table.name, line, f"{shown(row)} fits no item"))
    return Matching(tuple(items), how, tuple(ambiguous), tuple(unmatched))


def _cell(cell: Any) -> str | None:
    text = "" if cell is None else str(cell).strip()
    return text or None


def _short(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return repr(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def _whole(table: Table, row: int, cell: str | None) -> int | None:
    if cell is None:
        return None
    try:
        place = int(float(cell))
    except (ValueError, OverflowError):
        place = 0
    if place < 1 or str(place) != cell.removesuffix(".0"):
        raise InputError(
            f"{table.name}, line {table.lines[row]}: position {_short(cell)} is no whole number",
            cure="count the elements of an answer from 1",
        )
    return place
