"""Some of the items, and what a column of the ratings says of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scoring.errors import SettingsError
from ..scoring.records import NO_SYSTEM
from .coding import Coded
from .people import People

__all__ = ["column_of", "part_of", "part_of_people"]


def part_of(coded: Coded, rows: NDArray[np.bool_]) -> Coded:
    """The items at ``rows`` ``(n_items,)`` alone; labels, raters and kinds stay as they are."""
    return replace(
        coded,
        items=coded.items[rows].reset_index(drop=True),
        codes=coded.codes[rows],
        extra=coded.extra[rows],
        clusters=coded.clusters[rows],
        weights=None if coded.weights is None else coded.weights[rows],
    )


def part_of_people(people: People, rows: NDArray[np.bool_]) -> People:
    """People's label of the items at ``rows`` alone."""
    return replace(
        people,
        codes=people.codes[rows],
        extra=people.extra[rows],
        numbers=None if people.numbers is None else people.numbers[rows],
    )


def column_of(coded: Coded, name: str, option: str) -> list[str | None]:
    """What a column says of each item, as text; None where the cell is blank.

    Raises
    ------
    SettingsError
        No such column.
    """
    if name not in coded.items.columns:
        there = ", ".join(str(column) for column in coded.items.columns)
        raise SettingsError(f"there is no column {name!r} for {option}", cure=f"there are {there}")
    texts = _texts(coded.items[name].tolist())
    return [None if text == NO_SYSTEM else text for text in texts] if name == "system" else texts


def _texts(cells: Sequence[Any]) -> list[str | None]:
    return [None if _blank(cell) else str(cell).strip() for cell in cells]


def _blank(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell)) or not str(cell).strip()
