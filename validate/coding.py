"""Ratings as a matrix of codes, under the options that say what counts as missing.

Codes below 0 are all missing to a coefficient; they differ in the reason that is counted. Only
ratings that exist get a code of 0 or more, so a gap can't become a category.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..scoring.errors import InputError, SettingsError
from ..scoring.records import CORRECT, INCORRECT, MISSING_FROM_REFERENCE, UNSURE, VERDICTS, Kind
from ..study.ratings import Ratings
from .clusters import FloatArray, IntArray, cluster_codes
from .label_sets import UNSCORED_LABEL, categories_of, number_of, place_of
from .panel_settings import PanelSettings

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ALONE",
    "DIFFER",
    "EXTRA_LEFT_OUT",
    "IGNORED",
    "MISSING",
    "NOBODY",
    "REASONS",
    "TIE",
    "UNSCORED",
    "UNSURE_LEFT_OUT",
    "Coded",
    "code_ratings",
    "is_extra",
]

# accord's own value, and what other tools and people write.
_EXTRA_WORDS = (MISSING_FROM_REFERENCE.replace("_", " "), "correct but missing")

MISSING, UNSCORED, UNSURE_LEFT_OUT, EXTRA_LEFT_OUT, TIE, NOBODY, IGNORED = range(-1, -8, -1)
DIFFER, ALONE = -8, -9
REASONS: Mapping[int, str] = {
    MISSING: "missing",
    UNSCORED: "unscored",
    UNSURE_LEFT_OUT: "unsure",
    EXTRA_LEFT_OUT: "correct but missing from the reference",
    TIE: "tie of the annotators",
    IGNORED: "label that does not count",
    DIFFER: "annotators not unanimous",
    ALONE: "label of one annotator only",
}
"""Why an item takes no part: code → reason, the first that holds is counted. ``NOBODY`` is no such
reason: an item that no person has rated is in no comparison, and is counted once for all."""


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Items by raters.

    Parameters
    ----------
    items
        One row an item: ``item_id, question_id, system, response_id, weight``, ….
    raters, kinds
        Annotators first, then adjudicated labels, then judges.
    codes
        ``(n_items, n_raters)``: 0..k-1, or one of :data:`REASONS`; ``NOBODY`` in people's columns
        where none of them rated the item.
    categories, values
        The k labels, and the numbers they stand for on a numeric scale.
    positive
        The code that counts as right; None where none does.
    credit
        ``(k,)`` what each label is worth in a response's score; None without a positive label.
    extra
        ``(n_items, n_raters)`` whether a rating says: correct but missing from the reference.
    implied
        How many say so by CORRECT alone, of an element that has no reference element.
    clusters, noun
        ``(n_items,)`` codes of the resampling unit, and what it is called.
    weights
        ``(n_items,)``, None when all are equal.
    """

    items: pd.DataFrame
    raters: tuple[str, ...]
    kinds: tuple[Kind, ...]
    codes: IntArray
    categories: tuple[str, ...]
    values: FloatArray | None
    positive: int | None
    credit: FloatArray | None
    extra: NDArray[np.bool_]
    implied: int
    clusters: IntArray
    noun: str
    weights: FloatArray | None

    @property
    def worth(self) -> FloatArray | None:
        """``(k,)`` what a label counts in a response's score; None where it counts nothing."""
        return self.credit if self.values is None else self.values

    def numbers(self, codes: IntArray) -> FloatArray:
        """The numbers that codes stand for, NaN where missing; without numbers, their order."""
        values = (
            np.arange(len(self.categories), dtype=float) if self.values is None else self.values
        )
        return np.asarray(np.where(codes >= 0, values[np.maximum(codes, 0)], np.nan), dtype=float)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """``(n_items,)`` whether any person has rated the item."""
        return np.asarray(~(self.codes == NOBODY).any(axis=1))

    def of(self, kind: Kind) -> list[int]:
        """The columns of one kind of rater."""
        return [column for column, k in enumerate(self.kinds) if k == kind]


def code_ratings(ratings: Ratings, settings: PanelSettings) -> Coded:
    """Turn ratings into codes.

    Raises
    ------
    InputError
        No ratings by people, an item rated twice by one rater, labels outside the declared ones,
        raters whose label sets do not belong together, a rating that is no number.
    SettingsError
        A positive or final label that does not exist, an order of labels that can't be known.
    """
    import pandas as pd

    frame = ratings.frame
    kind_of = _kinds(frame, settings.final)
    if not any(kind in ("annotator", "adjudicated") for kind in kind_of.values()):
        raise InputError(
            "no rating here is by a person", cure="name people with --annotators or --final"
        )
    if frame.duplicated(["item_id", "rater"]).any():
        row = frame[frame.duplicated(["item_id", "rater"])].iloc[0]
        raise InputError(
            f"{row['rater']!r} rated the item {row['item_id']!r} twice", cure="keep one rating"
        )
    order: tuple[Kind, ...] = ("annotator", "adjudicated", "judge")
    raters = sorted(kind_of, key=lambda rater: order.index(kind_of[rater]))
    row_extra = _extra(frame)
    labels = _effective_labels(frame, row_extra, settings)
    ignored = _ignored(labels, settings)
    labels = [None if out else label for label, out in zip(labels, ignored, strict=True)]
    categories, values = categories_of(frame, labels, kind_of, settings)
    code_of = {label: code for code, label in enumerate(categories)}
    if values is not None:
        place = {value: code for code, value in enumerate(values.tolist())}
        used = {label for label in labels if label is not None and label != UNSURE}
        code_of |= {label: place[number_of(label)] for label in used}
    elif settings.scale == "ordinal":
        used = {label for label in labels if label is not None} - set(code_of)
        places = {label: place_of(label, categories) for label in used}
        code_of |= {label: code for label, code in places.items() if code is not None}
    row_codes = np.array(
        [MISSING if label is None else code_of.get(label, MISSING) for label in labels],
        dtype=np.int64,
    )
    negative = _negative(categories, settings)
    unreadable = _unreadable(categories, negative, settings)
    row_codes = _special(frame, labels, row_codes, row_extra, unreadable, negative, settings)
    row_codes[ignored] = IGNORED
    # In a fixed order, so that resamples do not depend on the order of the rows.
    order_by = list(dict.fromkeys([*ratings.cluster, "item_id"]))
    items = ratings.items().sort_values(order_by).reset_index(drop=True)
    row = pd.Index(items["item_id"]).get_indexer(pd.Index(frame["item_id"]))
    column = pd.Index(raters).get_indexer(pd.Index(frame["rater"]))
    codes = np.full((len(items), len(raters)), MISSING, dtype=np.int64)
    codes[row, column] = row_codes
    people = [column for column, rater in enumerate(raters) if kind_of[rater] != "judge"]
    unlabelled = (codes[:, people] == MISSING).all(axis=1)
    codes[np.ix_(unlabelled, people)] = NOBODY
    extra = np.zeros(codes.shape, dtype=bool)
    extra[row, column] = row_extra
    weights = items["weight"].to_numpy(dtype=float)
    about = [name for name in items.columns if name not in ("rater", "kind", "rating", "status")]
    positive = _positive(categories, settings)
    return Coded(
        items=items[about],
        raters=tuple(raters),
        kinds=tuple(kind_of[rater] for rater in raters),
        codes=codes,
        categories=categories,
        values=values,
        positive=positive,
        credit=_credit(categories, positive, settings),
        extra=extra,
        implied=int(_implied(frame).sum()),
        clusters=cluster_codes(*(items[name].tolist() for name in ratings.cluster)),
        noun=_noun(ratings.cluster),
        weights=None if np.unique(weights[~unlabelled]).size < 2 else weights,
    )


def is_extra(reasons: Sequence[str] | None) -> bool:
    """Whether a rating's reasons say: correct but missing from the reference."""
    words = [re.sub(r"[\s_,-]+", " ", str(reason)).strip().lower() for reason in reasons or ()]
    return any(word.startswith(_EXTRA_WORDS) for word in words)


def _kinds(frame: pd.DataFrame, final: str | None) -> dict[str, Kind]:
    """Each rater's kind in order of appearance; the rater named final is an adjudicated label."""
    pairs = frame[["rater", "kind"]].drop_duplicates()
    kinds: dict[str, Kind] = {}
    for rater, kind in zip(pairs["rater"], pairs["kind"], strict=True):
        if rater in kinds:
            raise InputError(f"{rater!r} is {kinds[rater]} and {kind}", cure="a rater has one kind")
        kinds[rater] = kind
    if final is not None:
        if final not in kinds:
            raise SettingsError(
                f"--final {final!r} is no rater here", cure=f"raters are {', '.join(kinds)}"
            )
        if kinds[final] == "judge":
            raise SettingsError(
                f"--final {final!r} is a judge", cure="a final label is given by people"
            )
        kinds[final] = "adjudicated"
    return kinds


def _extra(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Which ratings say that an element is correct but missing from the reference.

    By their reason, or because the element has no reference element and is called CORRECT: a
    score counts both alike (:func:`~accord.scoring.metrics.verdict_counts`).
    """
    verdict = frame["rating"].isin(VERDICTS).to_numpy()
    out = np.zeros(len(frame), dtype=bool)
    if "reasons" in frame.columns:
        out |= verdict & np.array([is_extra(said) for said in frame["reasons"]], dtype=bool)
    return out | _implied(frame)


def _ignored(labels: Sequence[str | None], settings: PanelSettings) -> NDArray[np.bool_]:
    """Which ratings are labels of elements that do not count."""
    if absent := sorted(set(settings.ignore) - set(labels)):
        there = sorted({label for label in labels if label is not None})
        raise SettingsError(
            f"--ignore {absent[0]!r} is no label here", cure=f"labels are {', '.join(there[:12])}"
        )
    return np.array([label in settings.ignore for label in labels], dtype=bool)


def _implied(frame: pd.DataFrame) -> NDArray[np.bool_]:
    if "unmatched" not in frame.columns:
        return np.zeros(len(frame), dtype=bool)
    correct = (frame["rating"] == CORRECT).to_numpy(dtype=bool)
    return np.asarray(correct & frame["unmatched"].to_numpy(dtype=bool))


def _effective_labels(
    frame: pd.DataFrame, extra: NDArray[np.bool_], settings: PanelSettings
) -> list[str | None]:
    """Labels after the rule for 'correct but missing from the reference'."""
    # Whatever a frame holds for "no rating" (None, NaN, NA), it is no label.
    labels = [label if isinstance(label, str) else None for label in frame["rating"].tolist()]
    if settings.extra == "ignore":
        return labels
    verdict = CORRECT if settings.extra == "credit" else INCORRECT
    return [verdict if is_so else label for label, is_so in zip(labels, extra, strict=True)]


def _special(
    frame: pd.DataFrame,
    labels: Sequence[Any],
    codes: IntArray,
    extra: NDArray[np.bool_],
    unreadable: int | None,
    negative: int | None,
    settings: PanelSettings,
) -> IntArray:
    """Put unscored, unsure and extra ratings where the options want them."""
    out = codes.copy()
    unscored = (frame["status"] == "unscored").to_numpy()
    unsure = np.array([label == UNSURE for label in labels], dtype=bool)
    if unscored.any():
        out[unscored] = _need(unreadable, "--unscored incorrect")
    if unsure.any():
        if settings.unsure == "incorrect":
            out[unsure] = _need(negative, "--unsure incorrect")
        elif settings.unsure == "missing":
            out[unsure] = UNSURE_LEFT_OUT
    if settings.extra == "ignore":
        out[extra] = EXTRA_LEFT_OUT
    return out


def _unreadable(
    categories: Sequence[str], negative: int | None, settings: PanelSettings
) -> int | None:
    """The code of a reply that could not be read; None where a label that means wrong is needed."""
    if settings.unscored == "missing":
        return UNSCORED
    if settings.unscored == "incorrect":
        return negative
    if settings.unscored == "category":
        return place_of(UNSCORED_LABEL, categories)
    place = place_of(settings.unscored, categories)
    if place is None:
        raise SettingsError(
            f"--unscored {settings.unscored!r} is no label here",
            cure=f"missing, incorrect, category, or one of {', '.join(categories[:12])}",
        )
    return place


def _need(negative: int | None, option: str) -> int:
    if negative is None:
        raise SettingsError(
            f"{option} needs one label that means wrong",
            cure="name the right one: --positive LABEL",
        )
    return negative


def _positive(categories: Sequence[str], settings: PanelSettings) -> int | None:
    if settings.positive is None:
        return categories.index(CORRECT) if CORRECT in categories else None
    if settings.numeric:
        raise SettingsError("--positive is for labels", cure="leave it out on a numeric scale")
    place = place_of(settings.positive, categories)
    if place is None:
        raise SettingsError(
            f"--positive {settings.positive!r} is no label here",
            cure=f"labels are {', '.join(categories[:12])}",
        )
    return place


def _negative(categories: Sequence[str], settings: PanelSettings) -> int | None:
    """The one label that means wrong: INCORRECT, or the other of two."""
    if settings.numeric:
        return None
    if INCORRECT in categories:
        return list(categories).index(INCORRECT)
    positive = _positive(categories, settings)
    real = [c for c in categories if c not in (UNSURE, UNSCORED_LABEL)]
    if positive is None or len(real) != 2:
        return None
    return next(at for at, c in enumerate(categories) if c in real and at != positive)


def _credit(
    categories: Sequence[str], positive: int | None, settings: PanelSettings
) -> FloatArray | None:
    if positive is None:
        return None
    credit = np.zeros(len(categories))
    credit[positive] = 1.0
    if settings.unsure == "half" and UNSURE in categories:
        credit[list(categories).index(UNSURE)] = 0.5
    return credit


def _noun(cluster: Sequence[str]) -> str:
    if tuple(cluster) == ("question_id",):
        return "question"
    if tuple(cluster) == ("item_id",):
        return "item"
    return ", ".join(cluster)
