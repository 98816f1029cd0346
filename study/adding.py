"""Brings files into a study: read, check all of it, then one transaction.

A file with one bad row changes nothing. Nor does one that was brought in before; only ratings of it
that another file has changed since are in force again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.errors import BadRow, InputError, one_line
from ..scoring.records import VERDICTS
from . import intake
from .anchored import SUFFIX
from .benchmark_run import RULE
from .ledger import InputFile, Ledger, RatingRow, Role
from .rating_columns import repeat_numbers
from .ratings import ONLY_REPEATS, OWN_CLUSTERS, RatingsOptions, first_of
from .readers import Table, read_table
from .records import ADJUDICATED, GROUND_TRUTH

if TYPE_CHECKING:
    import pandas as pd

    from .intake import Intake
    from .matching import Matching
    from .records import Response

__all__ = ["Added", "add_pairs", "add_questions", "add_ratings", "add_responses"]

_OWN_RATERS = {ADJUDICATED: "adjudicated", GROUND_TRUTH: "adjudicated", RULE: "judge"}
"""Raters whose labels come later, from an import or a scoring run, and what they are."""
_OF_A_RATING = ("status", "reasons", "comment", "guideline", "repeat")
"""Further columns of a long table that a study takes."""


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a file: rows in it, records that are new, records that were there already.

    ``unused`` names columns that nothing was taken from; ``left_out`` are rows whose item is not
    known.
    """

    role: Role
    name: str
    rows: int
    new: int
    already: int
    unused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[BadRow, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {
            "role": self.role,
            "file": self.name,
            "rows": self.rows,
            "new": self.new,
            "already": self.already,
            "unused": list(self.unused),
            "notes": list(self.notes),
            "left_out": [{"line": row.line, "reason": row.reason} for row in self.left_out],
        }


def add_questions(
    ledger: Ledger,
    source: Table | Path | str,
    *,
    mapping: Mapping[str, str] | None = None,
    recipe: str = "listqa",
) -> Added:
    """Bring questions in. See :func:`accord.study.intake.read_questions` for what is refused.

    ``recipe`` names the study's, which is kept with the file: another may read it otherwise.
    """
    table = _table(source, "questions", mapping)
    with ledger.writing():
        known = {question.question_id: question for question in ledger.questions()}
        texts = {pair.question_id: pair.question for pair in ledger.pairs()}
        found = intake.read_questions(table, known, texts)
        with ledger.transaction():
            ledger.add_questions(found.new)
            options = {"map": dict(mapping or {}), "recipe": recipe}
            return _noted(ledger, table, "questions", found, options)


def add_responses(
    ledger: Ledger,
    source: Table | Path | str,
    *,
    mapping: Mapping[str, str] | None = None,
    strata: Sequence[str] = (),
    check: Callable[[Sequence[Response]], None] | None = None,
) -> Added:
    """Bring responses in. See :func:`accord.study.intake.read_responses`.

    ``check`` is given the new ones, and refuses them by raising, before any is kept.
    """
    table = _table(source, "responses", mapping, strata)
    with ledger.writing():
        known = {
            (response.question_id, response.system, response.variant): response
            for response in ledger.responses()
        }
        ids = frozenset(question.question_id for question in ledger.questions())
        if not ids:
            raise InputError(
                "the study has no questions yet",
                cure="bring them in first: accord add STUDY FILE --as questions",
            )
        found = intake.read_responses(table, known, ids, strata)
        if check is not None:
            check(found.new)
        with ledger.transaction():
            ledger.add_responses(found.new)
            options = {"map": dict(mapping or {}), "strata": list(strata)}
            return _noted(ledger, table, "responses", found, options)


def add_pairs(
    ledger: Ledger,
    source: Table | Path | str,
    item_ids: Callable[[], frozenset[str]],
    *,
    mapping: Mapping[str, str] | None = None,
    strata: Sequence[str] = (),
) -> Added:
    """Bring pairs in that came paired. See :func:`accord.study.intake.read_pairs`.

    ``item_ids`` gives the items that were made from responses; a pair can't have the id of one.
    """
    table = _table(source, "pairs", mapping, strata)
    with ledger.writing():
        known = {pair.item_id: pair for pair in ledger.pairs()}
        questions = {question.question_id: question.question for question in ledger.questions()}
        found = intake.read_pairs(table, known, questions, strata)
        taken = item_ids() if found.new else frozenset()
        for pair in found.new:
            if pair.item_id in taken:
                raise InputError(
                    f"{table.name}: item_id {pair.item_id!r} is an item of a response already",
                    cure="the responses' pairs are in the study as they are; leave these rows out",
                )
        with ledger.transaction():
            ledger.add_pairs(found.new)
            options = {"map": dict(mapping or {}), "strata": list(strata)}
            return _noted(ledger, table, "pairs", found, options)


def add_ratings(
    ledger: Ledger,
    source: Table | Path | str,
    pairs: Callable[[], pd.DataFrame],
    options: RatingsOptions | None = None,
    *,
    on: Sequence[str] = (),
) -> Added:
    """Bring ratings in, from a long or a wide table.

    Parameters
    ----------
    pairs
        Gives the study's pairs; a rating of any other item is refused. Called when the file has
        been read, since making the items may take a while.
    options
        How to read the table. Labels are CORRECT, INCORRECT and UNSURE unless ``categories``
        declares others; ``labels`` maps the file's words to them.
    on
        Columns by which the rows find their items, for labels without accord's ids
        (:func:`~accord.study.matching.match_rows`); rows that fit no item, or several, are left
        out and told.

    Raises
    ------
    InputError
        With every bad row: an unknown item or label, an item rated twice by one rater, a rater of
        two kinds; nothing is added then.
    """
    from .rating_tables import from_long, from_wide

    options = options or RatingsOptions()
    if not options.categories:
        options = replace(options, categories=VERDICTS)
    options.check()
    if isinstance(source, Table):
        table = source
    else:
        table = read_table(source, mapping=options.mapping, optional=(*options.columns(), *on))
    rows_in_file, matched = len(table.lines), None
    if on:
        table, matched = _matched(table, on, pairs(), ledger)
    ratings = (from_wide if options.wide else from_long)(table, options)
    items = table.column("item_id")
    there = frozenset(items) if on else frozenset(pairs()["item_id"].dropna())
    bad = [
        BadRow(table.name, line, f"item_id {str(item)[:60]!r} is not in the study")
        for item, line in zip(items, table.lines, strict=True)
        if not isinstance(item, str) or item.strip() not in there
    ]
    if bad:
        raise InputError.from_rows(
            bad, cure="bring the items in first (--as pairs, or questions and responses)"
        )
    known = {**_OWN_RATERS, **ledger.raters()}
    frame = ratings.frame
    kinds = dict(zip(frame["rater"], frame["kind"], strict=True))
    _refuse_names(table, {**known, **kinds}, list(kinds))
    for rater, kind in kinds.items():
        if known.get(rater, kind) != kind:
            raise InputError(
                f"{table.name}: rater {rater!r} is known as {known[rater]} and can't be {kind} too",
                cure="give the other one another name",
            )
    more = {} if options.wide else _remarks(table, options)
    reasons = frame["reasons"] if "reasons" in frame.columns else [()] * len(frame)
    rows = [
        RatingRow(
            item_id=item,
            rater=rater,
            kind=kind,
            rating=rating,
            status=status,
            reasons=tuple(why),
            comment=more.get((item, rater), (None, None))[0],
            guideline=more.get((item, rater), (None, None))[1],
            source=f"file:{table.name}",
        )
        for item, rater, kind, rating, status, why in zip(
            frame["item_id"],
            frame["rater"],
            frame["kind"],
            frame["rating"],
            frame["status"],
            reasons,
            strict=True,
        )
    ]
    notes = [note for note in ratings.notes if not note.endswith((OWN_CLUSTERS, ONLY_REPEATS))]
    if ratings.repeats is not None:
        notes.append(
            f"{len(ratings.repeats)} ratings repeat an item for the same rater and are left out: a"
            " study has repeats from a retest of its own, and accord agree reads them in the file"
        )
    notes += [f"{count} cells {reason}" for reason, count in ratings.dropped.items() if count]
    if ratings.unrated is not None:
        blank = ratings.unrated["item_id"].tolist()
        what = "one item of the file has" if len(blank) == 1 else f"{len(blank)} items of it have"
        notes.append(f"{what} no rating: {first_of(blank)}")
    if matched is not None:
        notes = [*matched.notes(), *notes]
    made = table.conversion
    if made is not None:
        notes += made.notes
    with ledger.transaction():
        new = ledger.add_ratings(rows)
        if new:
            words: dict[str, Any] = {
                "labels": dict(options.labels),
                "map": dict(options.mapping),
                **({"on": list(on)} if on else {}),
            }
            _note(ledger, table, "ratings", new, words)
    left = () if matched is None else (*matched.ambiguous, *matched.unmatched)
    if made is not None:
        rows_in_file, left = made.rows, made.left_out
    return Added(
        "ratings",
        table.name,
        rows_in_file,
        new,
        len(rows) - new,
        unused=_unused(table, options, on, frame) if made is None else made.unused,
        notes=tuple(notes),
        left_out=left,
    )


def _refuse_names(table: Table, kinds: Mapping[str, str], raters: Sequence[str]) -> None:
    """No rater has a name that accord makes of a person's, or one that is no line of text."""
    for rater in raters:
        name, _, time = rater.rpartition("#")
        again = time.isdecimal() and kinds.get(name) == kinds[rater] == "annotator"
        if rater.endswith(SUFFIX) or again:
            what = "is what accord calls further ratings of a person"
        elif len(rater) > 500 or one_line(rater) != rater:
            what = "holds a control character or is very long"
        else:
            continue
        raise InputError(
            f"{table.name}: the rater name {rater[:40]!r} {what}", cure="give it another name"
        )


def _unused(
    table: Table, options: RatingsOptions, on: Sequence[str], frame: pd.DataFrame
) -> tuple[str, ...]:
    """Columns that nothing was taken from: what is known of an item is in the study already."""
    if options.wide:
        used = {"item_id", *on, *frame["rater"]}
        used |= {*options.annotators, *options.judges, options.final}
    else:
        used = {"item_id", *on, options.rater, options.kind, options.rating, *_OF_A_RATING}
    return tuple(name for name in map(str, table.frame.columns) if name not in used)


def _matched(
    table: Table, on: Sequence[str], pairs: pd.DataFrame, ledger: Ledger
) -> tuple[Table, Matching]:
    """The rows that fit one item each, with its id."""
    import pandas as pd

    from .joined import strata
    from .matching import match_rows

    found = match_rows(table, on, pairs, lambda here: strata(ledger, here.set_index("item_id")))
    frame = table.frame.copy()
    frame["item_id"] = pd.Series(found.items, dtype=object)
    keep = [row for row, item in enumerate(found.items) if item is not None]
    lines = [table.lines[row] for row in keep]
    return replace(table, frame=frame.iloc[keep].reset_index(drop=True), lines=lines), found


def _remarks(
    table: Table, options: RatingsOptions
) -> dict[tuple[str, str], tuple[str | None, str | None]]:
    """Comment and guideline of each item and rater of a long table; of the rating that counts."""
    there = table.frame.columns
    blank = [None] * len(table.lines)
    comments = table.column("comment") if "comment" in there else blank
    guidelines = table.column("guideline") if "guideline" in there else blank
    # the first of several ratings that repeat the item, and a blank one is none
    times = zip(
        [cell is None for cell in table.column(options.rating)], repeat_numbers(table), strict=True
    )
    remarks = zip(
        times,
        table.column("item_id"),
        table.column(options.rater),
        comments,
        guidelines,
        strict=True,
    )
    return {
        (str(item).strip(), str(rater).strip()): (
            None if comment is None else str(comment),
            None if guideline is None else str(guideline),
        )
        for _, item, rater, comment, guideline in sorted(
            remarks, key=lambda remark: remark[0], reverse=True
        )
    }


def _table(
    source: Table | Path | str,
    role: str,
    mapping: Mapping[str, str] | None,
    strata: Sequence[str] = (),
) -> Table:
    if isinstance(source, Table):
        return source
    required, optional = intake.COLUMNS[role]
    return read_table(source, mapping=mapping, required=required, optional=(*optional, *strata))


def _noted(
    ledger: Ledger, table: Table, role: Role, found: Intake[Any], options: Mapping[str, Any]
) -> Added:
    made = table.conversion
    if found.new:
        _note(ledger, table, role, len(found.new), options)
    return Added(
        role,
        table.name,
        len(table.lines) if made is None else made.rows,
        len(found.new),
        found.already,
        found.unused if made is None else (*found.unused, *made.unused),
        tuple(found.notes) if made is None else (*found.notes, *made.notes),
        () if made is None else made.left_out,
    )


def _note(ledger: Ledger, table: Table, role: Role, new: int, options: Mapping[str, Any]) -> None:
    made = table.conversion
    rows = len(table.lines) if made is None else made.rows
    options = options if made is None else {**options, **made.options}
    ledger.add_input(InputFile(table.name, role, table.sha256, rows, options=options))
    ledger.add_provenance("add", {"role": role, "file": table.name, "new": new})
