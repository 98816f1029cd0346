"""The labels of a panel: which there are, in which order, and whether the raters share them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring.errors import InputError, SettingsError
from ..scoring.records import CORRECT, INCORRECT, UNSURE, VERDICTS, Kind
from ..study.ratings import LARGEST_RATING
from .clusters import FloatArray
from .panel_settings import PanelSettings

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["UNSCORED_LABEL", "are_numbers", "categories_of", "number_of", "place_of"]

UNSCORED_LABEL = "(unscored)"
MANY_LABELS = 50
"""Beyond so many different labels a nominal column is not a label column."""


def categories_of(
    frame: pd.DataFrame, labels: Sequence[Any], kinds: Mapping[str, Kind], settings: PanelSettings
) -> tuple[tuple[str, ...], FloatArray | None]:
    """The labels in order, and their numbers on a numeric scale."""
    seen = {label for label in labels if label is not None} - {UNSURE}
    declared = [label for label in settings.categories if label != UNSURE]
    values: FloatArray | None = None
    if settings.numeric:
        numbers = {number_of(label) for label in (declared or seen)}
        if declared and (foreign := {number_of(label) for label in seen} - numbers):
            raise _undeclared(f"{min(foreign):g}", declared)
        values = np.array(sorted(numbers), dtype=float)
        ordered = [f"{value:.12g}" for value in values.tolist()]
    elif declared:
        foreign_labels = sorted(seen - set(declared))
        if settings.scale == "ordinal":
            foreign_labels = [one for one in foreign_labels if place_of(one, declared) is None]
        if foreign_labels:
            raise _undeclared(foreign_labels[0], declared)
        ordered = declared
    else:
        _check_label_sets(frame, labels, kinds, settings)
        ordered = _order(seen, settings)
    if settings.unsure in ("half", "category") and UNSURE in labels:
        ordered = [*ordered, UNSURE]
    if settings.unscored == "category" and (frame["status"] == "unscored").any():
        ordered = [*ordered, UNSCORED_LABEL]
    if values is not None and len(ordered) > values.size:
        raise SettingsError(
            "UNSURE and unscored can't be categories among numbers", cure="leave them missing"
        )
    if settings.scale == "ordinal":
        if UNSCORED_LABEL in ordered:
            raise SettingsError(
                "unscored has no place in an order of labels", cure="leave it missing"
            )
        if UNSURE in ordered:
            if UNSURE not in settings.categories:
                raise SettingsError(
                    "the place of UNSURE in the order of the labels can't be known",
                    cure="give it (--categories INCORRECT,UNSURE,CORRECT), or leave it missing",
                )
            ordered = list(settings.categories)
    return tuple(ordered), values


def place_of(label: str, categories: Sequence[str]) -> int | None:
    """Where a label stands among the categories: itself, or else the same number, as 1 is 1.0."""
    if label in categories:
        return list(categories).index(label)
    number = _maybe_number(label)
    numbers = [_maybe_number(category) for category in categories]
    return None if number is None or number not in numbers else numbers.index(number)


def are_numbers(categories: Sequence[str]) -> bool:
    """Whether there are more than two labels and all are numbers, so that they have an order."""
    real = [label for label in categories if label not in (UNSURE, UNSCORED_LABEL)]
    return len(real) > 2 and all(_maybe_number(label) is not None for label in real)


def _order(seen: set[str], settings: PanelSettings) -> list[str]:
    if seen <= set(VERDICTS):
        return [CORRECT, INCORRECT]
    numbers = {label: _maybe_number(label) for label in seen}
    all_numbers = all(value is not None for value in numbers.values())
    if settings.scale == "ordinal" and not all_numbers:
        raise SettingsError(
            f"the order of {', '.join(sorted(seen)[:6])} can't be known",
            cure="give it: --categories LOWEST,…,HIGHEST",
        )
    if all_numbers:
        in_order = sorted(seen, key=lambda label: (numbers[label] or 0.0, label))
        # On a nominal scale two spellings of a number are refused before.
        return list({numbers[label]: label for label in reversed(in_order)}.values())[::-1]
    return sorted(seen, key=lambda label: (label != settings.positive, label))


def _check_label_sets(
    frame: pd.DataFrame, labels: Sequence[Any], kinds: Mapping[str, Kind], settings: PanelSettings
) -> None:
    """Refuse raters whose labels can't be the same scale: what differs is the spelling."""
    of: dict[str, set[str]] = {rater: set() for rater in kinds}
    for rater, label in zip(frame["rater"].tolist(), labels, strict=True):
        if label is not None and label != UNSURE:
            of[rater].add(label)
    union = sorted(set[str]().union(*of.values()))
    if len(union) > MANY_LABELS:
        raise InputError(
            f"{len(union)} different labels ({union[0]!r}, {union[1]!r}, …)",
            cure="is this the rating column? numbers need --scale interval, labels --categories",
        )
    numbers = all(_maybe_number(label) is not None for label in union)
    if numbers and settings.scale == "ordinal":
        return  # somebody who gave only 4 used the same scale, and 4 is 4.0
    spelt: dict[object, str] = {}
    for label in union:
        number = _maybe_number(label)
        key = _spelling(label) if number is None else number
        if key in spelt:
            one = spelt[key]
            raise InputError(
                f"the labels {one!r} and {label!r} differ in spelling only",
                cure=f"make them one with --labels {label}={one}, or declare --categories",
            )
        spelt[key] = label
    used = [(rater, found) for rater, found in of.items() if found]
    for at, (rater, found) in enumerate(used):
        for other, others in used[at + 1 :]:
            if len(union) > 2 and not found & others:
                raise InputError(
                    f"{rater!r} and {other!r} have no label in common"
                    f" ({', '.join(sorted(found)[:4])}; {', '.join(sorted(others)[:4])})",
                    cure="translate one set with --labels a=b, or declare --categories"
                    + (", or choose --scale ordinal or interval" if numbers else ""),
                )


def _spelling(label: str) -> str:
    """A label without case, outer and double blanks, and characters that can't be seen."""
    seen = unicodedata.normalize("NFKC", label)
    kept = "".join(" " if char.isspace() else char for char in seen if _is_visible(char))
    return " ".join(kept.casefold().split())


def _is_visible(char: str) -> bool:
    return char.isspace() or not unicodedata.category(char).startswith("C")


def _undeclared(label: str, declared: Sequence[str]) -> InputError:
    return InputError(
        f"the label {label[:40]!r} is not among the categories {', '.join(declared[:12])}",
        cure="add it to --categories, or translate it with --labels",
    )


def _maybe_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def number_of(text: str) -> float:
    """The number that a rating is, to 12 digits: 0.1 + 0.2 is 0.3.

    Raises
    ------
    InputError
        It is no number, or too large a one.
    """
    value = _maybe_number(text)
    if value is None or abs(value) > LARGEST_RATING:
        why = "no number" if value is None else f"beyond {LARGEST_RATING:g}"
        raise InputError(
            f"the rating {text[:40]!r} is {why}", cure="choose --scale nominal or ordinal"
        )
    return float(f"{value:.12g}")
