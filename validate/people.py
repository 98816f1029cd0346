"""Whose label stands for people: a final label, an adjudicated one, the majority, the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..scoring.errors import SettingsError
from .clusters import FloatArray, IntArray
from .coding import MISSING, TIE, Coded
from .panel_settings import PanelSettings

__all__ = ["People", "majority", "mean_rating", "people_label"]

MOST_NAMES = 10
"""More annotators than these are counted, not named."""


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """The label that stands for people.

    Parameters
    ----------
    name
        The rater's name, ``majority`` or ``mean``.
    codes
        ``(n_items,)``, below 0 where there is none. For a mean only which items have one.
    extra
        ``(n_items,)`` whether the label says: correct but missing from the reference.
    numbers
        ``(n_items,)`` the mean, NaN where nobody rated; None for a label.
    made_of
        In words, whose labels it is: those of one rater, or an aggregate, and whether labels by
        an adjudicator are in it.
    """

    name: str
    codes: IntArray
    extra: NDArray[np.bool_]
    numbers: FloatArray | None = None
    made_of: str = ""


def people_label(coded: Coded, settings: PanelSettings) -> tuple[People | None, list[str]]:
    """Choose by the options; the notes say what was put together and what has no label.

    Raises
    ------
    SettingsError
        Options that contradict each other or the ratings.
    """
    annotators, adjudicated = coded.of("annotator"), coded.of("adjudicated")
    how = settings.aggregate
    if settings.final is not None:
        if how in ("majority", "mean"):
            raise SettingsError(
                f"--final {settings.final} and --aggregate {how} contradict each other",
                cure="leave one of them out",
            )
        column = coded.raters.index(settings.final)
        return _one(coded, column), []
    if how == "adjudicated" and not adjudicated:
        raise SettingsError(
            "--aggregate adjudicated: no rating is adjudicated", cure="name it with --final"
        )
    if adjudicated and how in (None, "adjudicated"):
        if len(adjudicated) > 1:
            names = ", ".join(coded.raters[column] for column in adjudicated)
            raise SettingsError(
                f"several adjudicated labels ({names})", cure="choose one with --final NAME"
            )
        return _adjudicated(coded, adjudicated[0], annotators)
    if not annotators:
        return None, []
    if how == "mean" or (how is None and settings.numeric):
        numbers = mean_rating(coded, annotators)
        given = np.where(np.isnan(numbers), coded.codes[:, annotators].max(axis=1), 0)
        nowhere = np.zeros(len(given), dtype=bool)
        made_of = f"mean of {_named(coded, annotators)}"
        return People(_free("mean", coded.raters), given, nowhere, numbers, made_of), []
    if len(annotators) == 1:
        return _one(coded, annotators[0]), []
    codes = majority(coded.codes[:, annotators], len(coded.categories))
    extra = _most_say_extra(codes, coded, annotators)
    name = _free("majority", coded.raters)
    made_of = f"majority of {_named(coded, annotators)}"
    people = People(name, codes, extra, made_of=made_of)
    return people, _ties(codes, coded.codes[:, annotators])


def _one(coded: Coded, column: int) -> People:
    name, kind = coded.raters[column], coded.kinds[column]
    made_of = f"{'adjudicated labels' if kind == 'adjudicated' else 'labels'} of {name}"
    return People(name, coded.codes[:, column], coded.extra[:, column], made_of=made_of)


def _named(coded: Coded, columns: Sequence[int]) -> str:
    names = [coded.raters[column] for column in columns]
    return ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} annotators"


def _most_say_extra(codes: IntArray, coded: Coded, columns: Sequence[int]) -> NDArray[np.bool_]:
    """Whether most of those who gave the majority's label meant: missing from the reference."""
    voted = coded.codes[:, columns] == codes[:, None]
    said = voted & coded.extra[:, columns]
    return np.asarray(2 * said.sum(axis=1) > voted.sum(axis=1), dtype=bool)


def majority(codes: IntArray, k: int) -> IntArray:
    """The commonest label of each item, ``(n_items,)``; TIE where two are equally common.

    Parameters
    ----------
    codes
        ``(n_items, n_raters)``, below 0 where missing. Without any rating the item keeps the
        reason of one of its raters.
    """
    votes = np.stack([(codes == label).sum(axis=1) for label in range(k)], axis=1)
    most = votes.max(axis=1)
    out = votes.argmax(axis=1)
    out[(votes == most[:, None]).sum(axis=1) > 1] = TIE
    out[most == 0] = codes.max(axis=1)[most == 0]
    return np.asarray(out, dtype=np.int64)


def mean_rating(coded: Coded, columns: Sequence[int]) -> FloatArray:
    """The mean of the raters' numbers, ``(n_items,)``, NaN where nobody rated."""
    values = np.stack([coded.numbers(coded.codes[:, column]) for column in columns], axis=1)
    given = ~np.isnan(values)
    total = np.where(given, values, 0.0).sum(axis=1)
    out = np.full(len(values), np.nan)
    np.divide(total, given.sum(axis=1), out=out, where=given.any(axis=1))
    return out


def _free(name: str, raters: Sequence[str]) -> str:
    """The aggregate's name, other than any rater's."""
    return f"{name} of the annotators" if name in raters else name


def _adjudicated(coded: Coded, column: int, annotators: Sequence[int]) -> tuple[People, list[str]]:
    """The adjudicated label where there is one, else what the annotators say."""
    name, codes = coded.raters[column], coded.codes[:, column].copy()
    gaps = codes == MISSING
    if not annotators or not gaps.any():
        return _one(coded, column), []
    codes[gaps] = majority(coded.codes[:, annotators], len(coded.categories))[gaps]
    extra = np.where(gaps, _most_say_extra(codes, coded, annotators), coded.extra[:, column])
    filled = int((codes[gaps] >= 0).sum())
    note = (
        f"{name}: {int((~gaps).sum())} adjudicated labels, and the annotators' majority on"
        f" {filled} other items"
    )
    made_of = f"adjudicated labels of {name}"
    if filled:
        made_of += f", elsewhere the majority of {_named(coded, annotators)}"
    return People(name, codes, extra, made_of=made_of), [note] if filled else []


def _ties(codes: IntArray, given: IntArray) -> list[str]:
    tied = codes == TIE
    if not tied.any():
        return []
    text = f"majority: {int(tied.sum())} items are tied and have no majority label"
    two = (given >= 0).sum(axis=1) == 2
    if (tied & two).any():
        whose = "of two annotators" if given.shape[1] == 2 else "where two annotators rated an item"
        text += (
            f"; {whose} only items they agree on are left, which flatters a judge:"
            " read it against each annotator, or adjudicate (--final NAME)"
        )
    return [text]
