"""Whose label stands for people: a final one, an adjudicated one, or what annotators make together.

Annotators together give the majority, the mean, what all agree on, or a model's likeliest label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..scoring.errors import SettingsError
from ..study.records import GROUND_TRUTH
from .clusters import FloatArray, IntArray
from .coding import ALONE, DIFFER, MISSING, NOBODY, TIE, Coded
from .latent_classes import dawid_skene
from .panel_settings import PanelSettings

__all__ = ["People", "majority", "mean_rating", "people_label", "unanimous"]

MOST_NAMES = 10
"""More annotators than these are counted, not named."""


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """The label that stands for people.

    Parameters
    ----------
    name
        The rater's name, ``majority``, ``mean``, ``unanimous`` or ``dawid-skene``.
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
    annotators, final = coded.of("annotator"), coded.of("adjudicated")
    flagged = [column for column in final if coded.raters[column] == GROUND_TRUTH]
    # A flag is set item by item, as a rule on a few: it stands for people only where asked for,
    # or where there is nothing else.
    adjudicated = [column for column in final if column not in flagged]
    adjudicated = adjudicated or ([] if annotators else flagged)
    how = settings.aggregate
    if settings.final is not None:
        if how not in (None, "adjudicated"):
            raise SettingsError(
                f"--final {settings.final} and --aggregate {how} contradict each other",
                cure="leave one of them out",
            )
        column = coded.raters.index(settings.final)
        return _one(coded, column), []
    if how == "ground-truth":
        return _ground_truth(coded, flagged)
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
    if how == "unanimous":
        return _unanimous(coded, annotators)
    if how == "dawid-skene":
        return _likeliest(coded, annotators)
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


def unanimous(codes: IntArray) -> IntArray:
    """The label that everybody gave, ``(n_items,)``.

    DIFFER where they gave several (being unsure is one of them), ALONE where only one gave any.

    Parameters
    ----------
    codes
        ``(n_items, n_raters)``, below 0 where there is no label. What all of an item's raters left
        out for the same reason keeps that reason.
    """
    given = (codes != MISSING) & (codes != NOBODY)
    lowest = np.where(given, codes, np.iinfo(np.int64).max).min(axis=1)
    highest = np.where(given, codes, np.iinfo(np.int64).min).max(axis=1)
    count = given.sum(axis=1)
    out = np.where(lowest == highest, highest, DIFFER)
    out[(count == 1) & (out >= 0)] = ALONE
    out[count == 0] = codes.max(axis=1)[count == 0]
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
    number = int(tied.sum())
    text = f"majority: {_items(number)} {'is tied and has' if number == 1 else 'are tied and have'}"
    text += " no majority label"
    two = (given >= 0).sum(axis=1) == 2
    if (tied & two).any():
        whose = "of two annotators" if given.shape[1] == 2 else "where two annotators rated an item"
        text += (
            f"; {whose} only items they agree on are left, which flatters a judge:"
            " read it against each annotator, or adjudicate (--final NAME)"
        )
    return [text]


def _ground_truth(coded: Coded, flagged: Sequence[int]) -> tuple[People, list[str]]:
    """Only the labels that somebody flagged as ground truth."""
    if not flagged:
        raise SettingsError(
            "--aggregate ground-truth: no label is flagged as ground truth",
            cure="flag annotations in Label Studio (the star) and import again; in a table: a rater"
            f" {GROUND_TRUTH} of kind adjudicated",
        )
    column = flagged[0]
    codes = coded.codes[:, column]
    note = f"{GROUND_TRUTH}: {_items(int((codes >= 0).sum()))} flagged as ground truth"
    if other := int((coded.labelled & (codes < 0)).sum()):
        note += f"; {_items(other, 'other')} that people labelled take no part in what rests on it"
    made_of = "labels flagged as ground truth"
    people = People(coded.raters[column], codes, coded.extra[:, column], made_of=made_of)
    return people, [note]


def _unanimous(coded: Coded, columns: Sequence[int]) -> tuple[People, list[str]]:
    """What all annotators of an item agree on, two at least."""
    name, codes = _free("unanimous", coded.raters), unanimous(coded.codes[:, columns])
    extra = _most_say_extra(codes, coded, columns)
    differ, alone = int((codes == DIFFER).sum()), int((codes == ALONE).sum())
    note = f"{name}: {_items(int((codes >= 0).sum()))} on which two or more annotators all agree"
    if differ:
        note += (
            f"; {differ} on which they differ have no label, so what people find hard is left out,"
            " which flatters a judge"
        )
    if alone:
        note += f"; {alone} with the label of one annotator only have none either"
    made_of = f"unanimous labels of {_named(coded, columns)}"
    return People(name, codes, extra, made_of=made_of), [note]


def _likeliest(coded: Coded, columns: Sequence[int]) -> tuple[People, list[str]]:
    """The likeliest label by Dawid and Skene's model."""
    given = coded.codes[:, columns]
    k = len(coded.categories)
    model = dawid_skene(np.maximum(given, MISSING), n_categories=k, weights=coded.weights)
    rated = (given >= 0).any(axis=1)
    codes = np.where(model.labels >= 0, model.labels, np.where(rated, TIE, given.max(axis=1)))
    codes = np.asarray(codes, dtype=np.int64)
    votes = majority(given, k)
    other = int(((codes >= 0) & (votes >= 0) & (codes != votes)).sum())
    tied = int(((codes >= 0) & (votes == TIE)).sum())
    name = _free("dawid-skene", coded.raters)
    note = (
        f"{name}: a model's labels and nobody's verdict; of {int((codes >= 0).sum())} items it"
        f" decided {tied} on which the annotators are tied and goes against their majority on"
        f" {other}"
    )
    if not model.converged:
        note += f"; the fit did not converge in {model.iterations} steps"
    extra = _most_say_extra(codes, coded, columns)
    made_of = f"likeliest label by Dawid and Skene's model of {_named(coded, columns)}"
    return People(name, codes, extra, made_of=made_of), [note]


def _items(count: int, what: str = "") -> str:
    words = f"{what} " if what else ""
    return f"one {words}item" if count == 1 else f"{count} {words}items"
