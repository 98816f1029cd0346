"""The columns of a ratings table that tell about the item, and the checks on rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..scoring.errors import BadRow, InputError, SettingsError
from ..scoring.records import NO_SYSTEM
from .ratings import COLUMNS, OWN_MARKS, RatingsOptions
from .readers import Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ABOUT",
    "ABOUT_RATER",
    "COUNTS",
    "OF_RATING",
    "cells",
    "durations",
    "item_columns",
    "moments",
    "reasons",
    "refuse_contradictions",
    "refuse_doubled_items",
    "refuse_doubled_ratings",
    "repeat_numbers",
]

LARGEST_WEIGHT = 1e50
"""A weight beyond it, or below its inverse, is no design's; squares of it must be numbers too."""
LARGEST_COUNT = 2**53
"""No count is as large; beyond it not every whole number is one of a float."""
LONGEST = 1e10
"""Seconds, three centuries: no rating takes longer."""
BLANK = "(blank)"
"""A blank cell of a cluster that several columns name."""
COUNTS = ("n_reference", "n_predicted")
"""The numbers of elements of a response, without which its score is a share and no F1."""
ABOUT = ("family", "output_tokens")
"""The system's family of models and the response's tokens; kept where an item has one of them."""
ABOUT_RATER = ("judge_family",)
"""What a row says about its rater, and not about the item."""

OF_RATING = ("repeat", "rated_at", "seconds")
"""What a long table may say of each rating: a rater's how manieth of the item, when, how long."""


def item_columns(table: Table, options: RatingsOptions) -> pd.DataFrame:
    """What each row says about its item, and not about a rating of it."""
    import pandas as pd

    there = set(table.frame.columns)
    _refuse_own_names(options)
    item = _joined(table, options.item or ("item_id",), "--item")
    out = pd.DataFrame({"item_id": pd.Series(item, dtype=object)})
    if "question_id" in there:
        question = _joined(table, ("question_id",), None)
    else:
        named = cluster_cells(table, options.cluster)
        question = _keys(list(named.values())) if named else item
    out["question_id"] = pd.Series(question, dtype=object)
    system_known = options.system is not None or "system" in there
    if system_known:
        system = cells(table, options.system or "system", "--system")
    else:
        system = [NO_SYSTEM] * len(item)
    out["system"] = pd.Series(system, dtype=object)
    response: Sequence[str | None]
    if options.response:
        response = _joined(table, options.response, "--response")
    elif "response_id" in there:
        response = _joined(table, ("response_id",), None)
    elif system_known and (options.cluster or "question_id" in there):
        parts = [question, system]
        if "variant" in there:
            variants = cells(table, "variant", None, blank=True)
            parts.append([cell or NO_SYSTEM for cell in variants])
        response = [_key(row) for row in zip(*parts, strict=True)]
    else:
        response = [None] * len(item)
    out["response_id"] = pd.Series(response, dtype=object)
    out["weight"] = _weights(table, options)
    for name in COUNTS:
        if name in there:
            out[name] = _whole_numbers(table, name)
    for name, column in cluster_cells(table, options.cluster).items():
        if name not in out.columns:
            out[name] = pd.Series(column, dtype=object)
    for name in options.strata:
        if name not in out.columns:  # an item with a blank cell is in no stratum, and is counted
            out[name] = pd.Series(cells(table, name, "--strata", blank=True), dtype=object)
    for name in (*ABOUT, *ABOUT_RATER):
        texts = name in there and all(isinstance(x, (str, type(None))) for x in table.column(name))
        if texts and name not in out.columns:
            given = pd.Series(cells(table, name, None, blank=True), dtype=object)
            if name in ABOUT_RATER or (given.groupby(item).nunique(dropna=False) <= 1).all():
                out[name] = given
    for name in options.marks:
        if name not in out.columns:
            column = cells(table, name, "--tuned-on or --split", blank=True)
            out[name] = pd.Series(column, dtype=object)
    return out


def _refuse_own_names(options: RatingsOptions) -> None:
    """A column that is asked for can't have the name of one that is made of something else."""
    made_of = {
        "item_id": options.item or ("item_id",),
        "system": (options.system or "system",),
        "response_id": options.response or ("response_id",),
        "weight": (options.weight or "weight",),
    }
    for name in ("rater", "kind", "rating"):
        made_of[name] = () if options.wide else (getattr(options, name),)
    made_of["status"] = () if options.wide else ("status",)
    asked = {"--strata": options.strata, "--cluster": options.cluster, "a mark": options.marks}
    for option, names in asked.items():
        for name in names:
            other = name in COLUMNS and made_of.get(name, (name,)) != (name,)
            if other or (name in OWN_MARKS and option != "a mark"):
                raise SettingsError(
                    f"{option} names the column {name!r}, which would be taken for accord's own",
                    cure=f"give it another name: --map other={name}",
                )


def _key(parts: Sequence[str]) -> str:
    """Several cells as one id, so that different cells never give the same id."""
    if len(parts) == 1:
        return parts[0]
    return " / ".join(part.replace("/", "//") for part in parts)


def _joined(table: Table, names: Sequence[str], option: str | None) -> list[str]:
    return _keys([cells(table, name, option) for name in names])


def _keys(columns: Sequence[list[str]]) -> list[str]:
    """The rows of columns as ids."""
    return columns[0] if len(columns) == 1 else [_key(row) for row in zip(*columns, strict=True)]


def cluster_cells(table: Table, names: Sequence[str]) -> dict[str, list[str]]:
    """The columns that name the cluster, by name.

    One column has no blank cell: nobody knows which cluster it would be. Where several are named a
    blank says something beside the others (an instruction that comes without an input), and is a
    value of its own, as long as not all are blank.
    """
    found = {name: cells(table, name, "--cluster", blank=len(names) > 1) for name in names}
    bad = [
        BadRow(table.name, line, f"{', '.join(names)} are all blank")
        for line, row in zip(table.lines, zip(*found.values(), strict=True), strict=False)
        if all(cell is None for cell in row)
    ]
    if bad:
        raise InputError.from_rows(bad, cure="an item needs a cluster: fill one of them")
    return {
        name: [BLANK if cell is None else cell for cell in column] for name, column in found.items()
    }


def cells(table: Table, name: str, option: str | None, *, blank: bool = False) -> list[Any]:
    """A column in which no cell may be a list, nor blank unless ``blank`` (it is None then)."""
    bad: list[BadRow] = []
    out: list[Any] = []
    for cell, line in zip(table.column(name, option), table.lines, strict=True):
        if isinstance(cell, str):
            out.append(cell.strip())
        elif cell is None and blank:
            out.append(None)
        else:
            what = "is blank" if cell is None else "holds a list or an object"
            bad.append(BadRow(table.name, line, f"{name!r} {what}"))
    if bad:
        raise InputError.from_rows(bad, cure=f"fill {name!r} in every row")
    return out


def _weights(table: Table, options: RatingsOptions) -> list[float]:
    name = options.weight or "weight"
    if options.weight is None and name not in table.frame.columns:
        return [1.0] * len(table.frame)
    bad: list[BadRow] = []
    out: list[float] = []
    for cell, line in zip(cells(table, name, "--weight"), table.lines, strict=True):
        weight = _number(cell, 0.0)
        if not 0 < weight < math.inf:
            bad.append(BadRow(table.name, line, f"the weight {cell[:40]!r} is no positive number"))
        elif not 1 / LARGEST_WEIGHT <= weight <= LARGEST_WEIGHT:
            limits = f"{1 / LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}"
            bad.append(
                BadRow(table.name, line, f"the weight {cell[:40]!r} is not between {limits}")
            )
        out.append(weight)
    if bad:
        raise InputError.from_rows(bad, cure="a weight is 1 / inclusion probability")
    return out


def _whole_numbers(table: Table, name: str) -> list[int]:
    bad: list[BadRow] = []
    out: list[int] = []
    for cell, line in zip(cells(table, name, None), table.lines, strict=True):
        value = _number(cell, 0.0)
        if not (0 <= value < LARGEST_COUNT and value.is_integer()):
            bad.append(BadRow(table.name, line, f"{name} {cell[:40]!r} is no count"))
            value = 0.0
        out.append(int(value))
    if bad:
        raise InputError.from_rows(bad, cure=f"{name} is the number of elements of the response")
    return out


def reasons(cell: Any) -> tuple[str, ...]:
    """The reasons in a cell: a list, or texts separated by semicolons; a null is none."""
    if cell is None:
        return ()
    parts = cell if isinstance(cell, list) else str(cell).split(";")
    return tuple(str(part).strip() for part in parts if part is not None and str(part).strip())


def repeat_numbers(table: Table) -> list[int]:
    """The column ``repeat``: 0, 1, …; a blank cell (and a table without the column) is 0."""
    if "repeat" not in table.frame.columns:
        return [0] * len(table.frame)
    out: list[int] = []
    bad: list[BadRow] = []
    for cell, line in zip(table.column("repeat"), table.lines, strict=True):
        number = _number(cell, 0.0)
        if not (0 <= number < LARGEST_COUNT and number.is_integer()):
            bad.append(BadRow(table.name, line, f"the repeat {str(cell)[:40]!r} is no count"))
            number = 0.0
        out.append(int(number))
    if bad:
        raise InputError.from_rows(bad, cure="number a rater's ratings of an item: 0, 1, …")
    return out


def moments(table: Table) -> list[str | None]:
    """The column ``rated_at`` in UTC (a time without a zone is UTC), None where blank."""
    out: list[str | None] = []
    bad: list[BadRow] = []
    for cell, line in zip(table.column("rated_at"), table.lines, strict=True):
        try:
            at = None if cell is None else datetime.fromisoformat(str(cell).strip())
            if at is not None:
                at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        except (ValueError, OverflowError):  # in UTC the year may be none that there is
            bad.append(BadRow(table.name, line, f"rated_at {str(cell)[:40]!r} is no ISO time"))
            at = None
        out.append(None if at is None else at.isoformat())
    if bad:
        raise InputError.from_rows(
            bad, cure="write 2026-03-01T09:30:00Z, or give the column another name"
        )
    return out


def durations(table: Table) -> list[float]:
    """The column ``seconds`` that a rating took, NaN where blank."""
    out: list[float] = []
    bad: list[BadRow] = []
    for cell, line in zip(table.column("seconds"), table.lines, strict=True):
        number = _number(cell, math.nan)
        if number < 0 or number > LONGEST or (math.isnan(number) and cell is not None):
            bad.append(BadRow(table.name, line, f"seconds {str(cell)[:40]!r} is no duration"))
        out.append(number)
    if bad:
        raise InputError.from_rows(
            bad, cure="seconds is a number of 0 or more; or give the column another name"
        )
    return out


def _number(cell: Any, blank: float) -> float:
    """A cell as a number; NaN where it is none. ``1_0``, which Python reads as 10, is none."""
    if cell is None:
        return blank
    text = str(cell).strip()
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def refuse_doubled_items(items: Sequence[str], table: Table) -> None:
    first: dict[str, int] = {}
    bad: list[BadRow] = []
    for item, line in zip(items, table.lines, strict=True):
        if item in first:
            reason = f"the item {item!r} stands already on line {first[item]}"
            bad.append(BadRow(table.name, line, reason))
        else:
            first[item] = line
    if bad:
        raise InputError.from_rows(
            bad, cure="give each row its own item id, or name more columns: --item a,b"
        )


def refuse_doubled_ratings(frame: pd.DataFrame, times: pd.Series, table: Table) -> None:
    """One rater rates an item once, or once each of the numbers ``times``; both lines are named."""
    key = ["item_id", "rater", "repeat"]
    frame = frame[["item_id", "rater"]].assign(repeat=times)
    doubled = frame[frame.duplicated(key, keep="first")]
    if not len(doubled):
        return
    first = frame.drop_duplicates(key)
    line_of = dict(
        zip(
            first[key].itertuples(index=False, name=None),
            [table.lines[row] for row in first.index],
            strict=True,
        )
    )
    bad = [
        BadRow(
            table.name,
            table.lines[row],
            f"{rater!r} rated the item {item!r} already on line {line_of[item, rater, number]}",
        )
        for row, item, rater, number in zip(
            doubled.index, doubled["item_id"], doubled["rater"], doubled["repeat"], strict=True
        )
    ]
    raise InputError.from_rows(
        bad,
        cure="keep one row an item and rater; two equal answers need two item ids, and a second"
        " rating on purpose a column repeat (0, 1)",
    )


def refuse_contradictions(frame: pd.DataFrame, table: Table) -> None:
    """What is said about an item must be the same in all its rows."""
    apart = ("item_id", "rater", "kind", *ABOUT_RATER)
    about = [name for name in frame.columns if name not in apart]
    distinct = frame[["item_id", *about]].drop_duplicates()
    doubled = distinct[distinct.duplicated("item_id", keep="first")]
    if not len(doubled):
        return
    bad: list[BadRow] = []
    first = distinct.drop_duplicates("item_id").set_index("item_id").to_dict("index")
    for row, here in doubled.to_dict("index").items():
        item = here["item_id"]
        before = first[item]
        name = next(n for n in about if here[n] != before[n])
        reason = f"the item {item!r} has the {name} {here[name]!r} here and {before[name]!r} above"
        bad.append(BadRow(table.name, table.lines[int(str(row))], reason))
    raise InputError.from_rows(bad, cure="an item has one question, system and weight")
