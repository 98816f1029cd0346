"""Which items a judge's prompt was tuned on: told by a file, a column, a split or their ids.

Figures on such items flatter the judge. They are marked in the ratings, so that a panel can keep
them apart; nothing is guessed from a word that is not known.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..scoring.errors import InputError, SettingsError
from ..scoring.files import read_whole
from .ratings import Ratings

__all__ = ["MARK", "columns_for", "is_file", "mark_tuned"]

MARK = "is_tuned_on"
"""The column of a ratings frame that says so, of bool."""

_TUNED = (
    *("1", "1.0", "true", "yes", "y", "x", "tuned", "tuning", "tune", "train", "training", "dev"),
    *("development", "prompt", "few-shot", "fewshot", "calibration"),
)
_HELD_OUT = (
    *("0", "0.0", "false", "no", "n", "test", "testing", "held-out", "held out", "held_out"),
    *("heldout", "holdout", "hold-out", "eval", "evaluation"),
)


def mark_tuned(
    ratings: Ratings,
    *,
    tuned_on: str | Path | Collection[str] | None = None,
    split: str | None = None,
) -> Ratings:
    """The ratings with a column :data:`MARK`: whether the prompt was tuned on the item.

    Parameters
    ----------
    tuned_on
        A file (``.txt`` with an item id a line, or a table with a column ``item_id``), else a
        column (true or false), or the item ids themselves.
    split
        ``COLUMN`` whose values name splits (train, dev, tune … against test, held-out, eval …), or
        ``COLUMN=VALUE,VALUE`` with the values that were tuned on.

    Raises
    ------
    InputError
        A file that can't be read, a value that is not known, an item that is marked both ways.
    SettingsError
        Neither or both are given, no such column or file, no item of the file is here.
    """
    if (tuned_on is None) == (split is None):
        raise SettingsError(
            "--tuned-on and --split say the same in two ways", cure="give one of them"
        )
    notes: list[str] = []
    if split is not None:
        name, sign, values = split.partition("=")
        if sign and not _listed(values):
            raise SettingsError(
                f"--split {split} names no value", cure=f"write --split {name}=VALUE,…"
            )
        marks = _by_column(ratings, name, "--split", _listed(values) if sign else None)
    elif not isinstance(tuned_on, (str, Path)):
        assert tuned_on is not None  # one of the two is given
        marks, notes = _by_ids(ratings, set(tuned_on))
    elif is_file(tuned_on):
        marks, notes = _by_ids(ratings, _ids(tuned_on))
    else:
        marks = _by_column(ratings, str(tuned_on), "--tuned-on", None)
    count, unrated = len(ratings.frame), ratings.unrated
    return replace(
        ratings,
        frame=ratings.frame.assign(**{MARK: marks[:count]}),
        notes=(*ratings.notes, *notes),
        unrated=None if unrated is None else unrated.assign(**{MARK: marks[count:]}),
    )


def is_file(tuned_on: str | Path) -> bool:
    """Whether this names a file of item ids; else it names a column."""
    return os.path.exists(tuned_on) and not os.path.isdir(tuned_on)


def columns_for(
    tuned_on: str | Path | Collection[str] | None, split: str | None
) -> tuple[str, ...]:
    """The columns that a table must be read with for :func:`mark_tuned`."""
    if split is not None:
        return (split.partition("=")[0],)
    if isinstance(tuned_on, (str, Path)) and not is_file(tuned_on):
        return (str(tuned_on),)
    return ()


def _listed(values: str) -> frozenset[str]:
    return frozenset(value.strip() for value in values.split(",") if value.strip())


def _by_ids(ratings: Ratings, given: set[str]) -> tuple[list[bool], list[str]]:
    there = set(ratings.frame["item_id"])
    found = given & there
    if not found:
        some = next(iter(sorted(given)), None)
        what = "it names none" if some is None else f"{some!r} is no item here"
        raise SettingsError(
            f"--tuned-on: none of its {len(given)} items has a rating ({what})",
            cure="give the item ids of these ratings, or a column",
        )
    notes = []
    if left := len(given) - len(found):
        notes.append(f"--tuned-on: {left} of its {len(given)} items have no rating here")
    return [item in given for item in _of_all(ratings, "item_id")], notes


def _of_all(ratings: Ratings, name: str) -> list[Any]:
    """A column of the ratings, and of the items that nobody rated below."""
    unrated = [] if ratings.unrated is None else ratings.unrated[name].tolist()
    return [*ratings.frame[name].tolist(), *unrated]


def _by_column(
    ratings: Ratings, name: str, option: str, tuned: frozenset[str] | None
) -> list[bool]:
    if name not in ratings.frame.columns:
        there = ", ".join(map(str, ratings.frame.columns))
        what = "column" if option == "--split" else "file and no column"
        raise SettingsError(f"there is no {what} {name!r} for {option}", cure=f"there are {there}")
    cells = [_text(cell) for cell in _of_all(ratings, name)]
    if tuned is not None:
        if missing := sorted(tuned - set(cells)):
            some = ", ".join(sorted(set(cells) - {""})[:12])
            raise SettingsError(
                f"{option} {name}: {missing[0]!r} is no value of it", cure=f"its values are {some}"
            )
        marks = [cell in tuned for cell in cells]
    else:
        marks = [_known(cell, name, option) for cell in cells]
    _refuse_both(_of_all(ratings, "item_id"), marks, name)
    return marks


def _known(cell: str, name: str, option: str) -> bool:
    word = cell.casefold()
    if word in _TUNED:
        return True
    if not word or word in _HELD_OUT:
        return False
    raise InputError(
        f"the column {name!r} ({option}) holds {cell[:40]!r}, which is neither tuned on nor held"
        " out",
        cure=f"write true and false, or name the values that were tuned on: --split {name}=VALUE,…",
    )


def _refuse_both(items: Sequence[str], marks: Sequence[bool], name: str) -> None:
    seen: dict[str, bool] = {}
    for item, mark in zip(items, marks, strict=True):
        if seen.setdefault(item, mark) != mark:
            raise InputError(
                f"the column {name!r} marks the item {item!r} both ways",
                cure="write the same in all rows of an item",
            )


def _ids(path: str | Path) -> set[str]:
    if Path(path).suffix.lower() == ".txt":
        return set(_lines(Path(path)))
    from .readers import read_table

    table = read_table(path)
    names = [str(name) for name in table.frame.columns]
    column = names[0] if len(names) == 1 else "item_id"
    return {cell.strip() for cell in table.column(column) if isinstance(cell, str)}


def _lines(path: Path) -> Iterable[str]:
    try:
        text = read_whole(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path.name} is not UTF-8 (byte {error.start})", cure="save it as UTF-8"
        ) from None
    return (line.strip() for line in text.splitlines() if line.strip())


def _text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return str(cell).strip()
