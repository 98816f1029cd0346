"""Ratings in one long form, whatever table they came in: who rated which item how.

A matrix that could be transposed is not an input, and a missing rating is a missing row: it can
never become a category. The kind of each rater travels with every rating, so that a judge's rating
can't slip into a figure about people.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..scoring.errors import InputError, SettingsError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COLUMNS",
    "SCALES",
    "Ratings",
    "RatingsOptions",
    "Scale",
    "first_of",
    "read_ratings",
    "unrated_items",
]

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio")

COLUMNS = (
    "item_id",
    "question_id",
    "system",
    "response_id",
    "rater",
    "kind",
    "rating",
    "status",
    "weight",
)
"""The columns that every ratings frame has, in this order."""

OWN_MARKS = frozenset(
    ("unmatched", "is_tuned_on", "universe_open", "universe_settled")
    + ("universe_reference", "universe_predicted")
)
"""Further columns that figures read as accord's own: no column of a file may stand in for one."""

LARGEST_RATING = 1e302
"""No rating is larger in size: differences and squares of it must be numbers too."""

OF_STUDY = "study"
"""What the source of a study's own ratings is called."""
ONLY_REPEATS = "they count only as that rater's agreement with themselves"
"""What is said of ratings that repeat an item."""
OWN_CLUSTERS = "no question column: each item is its own cluster (name one with --cluster)"


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings in long form.

    Parameters
    ----------
    frame
        One row a rating: ``item_id, question_id, system, response_id, rater, kind, rating,
        status, weight``, and where known ``n_reference, n_predicted, unmatched`` (a predicted
        element without a reference element), ``reasons``, ``rated_at`` (ISO, UTC), ``seconds``
        (that the rating took), ``family`` (of the system), ``judge_family``, ``output_tokens`` and
        the columns that name the cluster or a stratum. ``rating`` is text, None where ``status`` is
        ``unscored`` (a judge's reply that could not be read); ``response_id`` is None where no
        response is known; ``weight`` is 1 / inclusion probability. No (item, rater) comes twice.
    notes
        What the reader of any figure must be told first.
    dropped
        What was in the input and is not in the frame: reason → count.
    cluster
        The frame's columns that name the resampling unit.
    source
        ``rows`` and ``sha256`` of the input, for provenance.
    repeats
        Further ratings of an item by the same rater, in the same columns and a number ``repeat``;
        None without any. They are in no figure but a rater's agreement with themselves.
    scale, categories
        What the raters were offered, where that is known; None and nothing where it is not.
    template
        The labelling template of a study's ratings that are not of pairs.
    unrated
        Items of the input that nobody rated, a row each in the frame's columns, ``status``
        ``unrated`` and without a rater; None without any. They are in no figure, and a response
        that has one is not rated as a whole.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    cluster: tuple[str, ...] = ("question_id",)
    source: Mapping[str, Any] = field(default_factory=dict)
    repeats: pd.DataFrame | None = None
    scale: Scale | None = None
    categories: tuple[str, ...] = ()
    template: str | None = None
    unrated: pd.DataFrame | None = None

    def select(
        self,
        *,
        annotators: Sequence[str] = (),
        judges: Sequence[str] = (),
        final: str | None = None,
        cluster: Sequence[str] = (),
    ) -> Ratings:
        """Only some raters, or another resampling unit; what is not named stays as it is.

        Raises
        ------
        InputError
            A rater of that kind or a column that is not there.
        """
        frame = self.frame
        kind_of = dict(zip(frame["rater"], frame["kind"], strict=True))
        for names, kind in ((annotators, "annotator"), (judges, "judge")):
            for name in names:
                if kind_of.get(name) != kind:
                    there = sorted(rater for rater, k in kind_of.items() if k == kind)
                    raise InputError(
                        f"no {kind} {name!r} is here",
                        cure=f"there are {', '.join(there) or 'none'}",
                    )
            if names:
                chosen = [*names, final]
                frame = frame[(frame["kind"] != kind) | frame["rater"].isin(chosen)]
        again = self.repeats
        if again is not None:
            again = again[again["rater"].isin(frame["rater"])].reset_index(drop=True)
        for name in cluster:
            if name not in frame.columns:
                raise InputError(
                    f"no column {name!r} for --cluster",
                    cure=f"there are {', '.join(map(str, frame.columns))}",
                )
        return replace(
            self,
            frame=frame.reset_index(drop=True),
            cluster=tuple(cluster) or self.cluster,
            repeats=again if again is not None and len(again) else None,
            unrated=unrated_items(self.items(), frame),
        )

    def items(self) -> pd.DataFrame:
        """All items, those that nobody rated too, each as it stands in its first row."""
        import pandas as pd

        rated = self.frame.drop_duplicates("item_id")
        both = rated if self.unrated is None else pd.concat([rated, self.unrated])
        return both.reset_index(drop=True)

    def digest(self) -> str:
        """SHA-256 of the ratings themselves, independent of the order of the rows."""
        names = ["item_id", "rater", "kind", "rating", "status"]
        rows = sorted(
            "\x1f".join("" if cell is None else str(cell) for cell in row)
            for row in self.frame[names].itertuples(index=False)
        )
        return hashlib.sha256("\x1e".join(rows).encode("utf-8", "surrogatepass")).hexdigest()


def first_of(names: Sequence[str], most: int = 5) -> str:
    """Names for a sentence; beyond so many they are only counted.

    Examples
    --------
    >>> first_of(["i3", "i7", "i9"], most=2)
    'i3, i7 and 1 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def unrated_items(items: pd.DataFrame, rated: pd.DataFrame) -> pd.DataFrame | None:
    """The items that have no rating, as :class:`Ratings` holds them; None where all have one.

    Parameters
    ----------
    items
        Rows with an ``item_id`` and what is known of the item.
    rated
        The ratings that count.
    """
    left = items[~items["item_id"].isin(rated["item_id"])].drop_duplicates("item_id")
    if not len(left):
        return None
    nothing = {name: None for name in ("rater", "kind", "rating")}
    return left.assign(**nothing, status="unrated").reset_index(drop=True)


@dataclass(frozen=True, slots=True)
class RatingsOptions:
    """How to read a ratings table; the fields are the command's options.

    Where several names are wanted, one name may be given as it is: ``item="item_id"``.

    Parameters
    ----------
    item
        The column(s) that name an item; default ``item_id``.
    rater, kind, rating
        Columns of a long table. Without the kind column the raters are named by ``annotators``,
        ``judges`` and ``final``.
    cluster
        The column(s) of the resampling unit; default ``question_id`` where the table has it, else
        each item is its own cluster.
    system, weight
        Default ``system`` and ``weight`` where the table has them.
    response
        The column(s) that name a response; default question and system (and variant).
    strata
        Further columns to keep; a cell may be blank.
    marks
        Columns that say whether a prompt was tuned on the item
        (:func:`~accord.study.tuned.mark_tuned`).
    wide
        One row an item and one column a rater, instead of one row a rating.
    annotators, judges, final
        Raters by kind: column names of a wide table (globs allowed), raters of a long one.
    labels
        Label word in the file → label.
    categories
        The declared set of labels, in order; others are refused.
    scale
        On ``interval`` and ``ratio`` a rating that is no number is refused.
    mapping
        Our column name → the file's.
    """

    item: tuple[str, ...] = ()
    rater: str = "rater"
    kind: str = "kind"
    rating: str = "rating"
    cluster: tuple[str, ...] = ()
    system: str | None = None
    weight: str | None = None
    response: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    wide: bool = False
    annotators: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    final: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    scale: Scale = "nominal"
    mapping: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lists = ("item", "cluster", "response", "strata", "marks", "annotators", "judges")
        for name in (*lists, "categories"):
            given = getattr(self, name)
            # A text is one name, and not its letters.
            names = (given,) if isinstance(given, str) else tuple(given)
            object.__setattr__(self, name, names)

    def columns(self) -> tuple[str, ...]:
        """The columns that are read with these options, which a mapping may name."""
        named = [*self.annotators, *self.judges, *([self.final] if self.final else [])]
        raters = [
            *named,
            *(ours for ours in self.mapping if any(fnmatchcase(ours, glob) for glob in named)),
        ]
        long = [self.rater, self.kind, self.rating, "status", "reasons", "comment", "guideline"]
        long += ["repeat", "rated_at", "seconds"]
        item = ("item_id", "question_id", "system", "variant", "response_id", "weight")
        chosen = [*self.item, *self.cluster, *self.response, *self.strata, *self.marks]
        one = [name for name in (self.system, self.weight) if name]
        counts = ("n_reference", "n_predicted", "family", "judge_family", "output_tokens")
        own = raters if self.wide else long
        return tuple(dict.fromkeys([*item, *counts, *chosen, *one, *own]))

    def check(self) -> None:
        """Refuse options that contradict each other, before any file is opened."""
        if self.scale not in SCALES:
            raise SettingsError(
                f"--scale {self.scale!r} is not known", cure=f"choose from {', '.join(SCALES)}"
            )
        named = [*self.annotators, *self.judges, *([self.final] if self.final else [])]
        for name in named:
            if named.count(name) > 1:
                raise SettingsError(
                    f"{name!r} is named twice among --annotators, --judges and --final",
                    cure="a rater is of one kind",
                )
        if len(set(self.categories)) < len(self.categories):
            raise SettingsError("--categories names a label twice", cure="name it once")
        if self.wide:
            for option in ("rater", "kind", "rating"):
                if getattr(self, option) != option:
                    raise SettingsError(
                        f"--{option} is for long tables, and --wide says that each rater has a"
                        " column",
                        cure="leave one of them out",
                    )
        if self.wide and not named:
            raise SettingsError(
                "--wide needs the rater columns", cure="name them: --annotators a,b --judges j"
            )


def read_ratings(path: str | Path | pd.DataFrame, options: RatingsOptions | None = None) -> Ratings:
    """Read a long or wide table of ratings.

    Parameters
    ----------
    path
        CSV, TSV, JSONL, JSON (also ``.gz``), Parquet or xlsx; or a frame with the same columns.
    options
        Names of columns and raters, label words, scale.

    Returns
    -------
    Ratings
        In a wide table a blank cell of a person is a missing rating (no row) and a blank cell of a
        judge is ``unscored``; in a long table likewise by kind. Items without any rating are in
        ``unrated``. ``NA``, ``NaN``, ``null`` and the
        like are blanks too unless they are declared as labels, and the notes count them.

    Raises
    ------
    InputError
        A file that can't be read, a missing column, an item rated twice by one rater (both lines
        are named), an unknown label, a rating that is no number, a bad weight; every bad row is in
        ``rows``.
    SettingsError
        Options that contradict each other.
    """
    from .rating_tables import from_long, from_wide
    from .readers import read_table

    options = options or RatingsOptions()
    options.check()
    named: dict[str, Any] = {"mapping": options.mapping, "optional": options.columns()}
    if isinstance(path, (str, Path)):
        table = read_table(path, **named)
    else:
        from .read_frame import table_of_frame

        table = table_of_frame(path, **named)
    ratings = (from_wide if options.wide else from_long)(table, options)
    if not len(ratings.frame):
        raise InputError(f"{table.name} holds no rating", cure="every rating cell is blank")
    return ratings
