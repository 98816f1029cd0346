"""The two forms of a ratings table, one row a rating and one column a rater, made into one."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..scoring.errors import BadRow, InputError, SettingsError
from ..scoring.records import KINDS, Kind
from .rating_columns import (
    ABOUT,
    ABOUT_RATER,
    COUNTS,
    cells,
    durations,
    item_columns,
    moments,
    reasons,
    refuse_contradictions,
    refuse_doubled_items,
    refuse_doubled_ratings,
    repeat_numbers,
)
from .rating_labels import LabelReader
from .ratings import COLUMNS, ONLY_REPEATS, OWN_CLUSTERS, Ratings, RatingsOptions, unrated_items
from .readers import Table, missing_column

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["from_long", "from_wide"]


def from_wide(table: Table, options: RatingsOptions) -> Ratings:
    """One row an item, one column a rater."""
    import pandas as pd

    named = options.response + options.strata + options.marks + options.cluster + options.item
    about = {*named, options.system or "system", options.weight or "weight", "question_id"}
    about |= {*COUNTS, *ABOUT, *ABOUT_RATER, "item_id", "response_id", "variant"}
    raters = _wide_raters(table, options, about)
    items = item_columns(table, options)
    refuse_doubled_items(items["item_id"].tolist(), table)
    reader = LabelReader(table.name, options)
    parts: list[pd.DataFrame] = []
    missing = 0
    for rater, kind in raters.items():
        labels = reader.read(table.column(rater), table.lines, rater)
        part = items.assign(rater=rater, kind=kind, rating=pd.Series(labels, dtype=object))
        part["status"] = ["rated" if label is not None else "unscored" for label in labels]
        if kind != "judge":
            rated = part["rating"].notna()
            missing += int((~rated).sum())
            part = part[rated]
        parts.append(part)
    notes = [*_cluster_notes(table, options), *reader.finish()]
    notes += _suspicious(raters)
    frame = pd.concat(parts).sort_index(kind="stable")
    return _ratings(frame, items, table, options, notes, {"missing": missing})


def from_long(table: Table, options: RatingsOptions) -> Ratings:
    """One row a rating."""
    import pandas as pd

    _expect_long(table, options)
    frame = item_columns(table, options)
    raters = cells(table, options.rater, "--rater")
    frame["rater"] = raters
    frame["kind"] = _long_kinds(table, options, raters)
    keep = frame["kind"].notna()
    left_out = sorted({rater for rater, kept in zip(raters, keep, strict=True) if not kept})
    status = _long_status(table)
    refuse_contradictions(frame, table)
    times = pd.Series([0] * len(frame) if "repeat" in _named(options) else repeat_numbers(table))
    refuse_doubled_ratings(frame[keep], times[keep], table)
    reader = LabelReader(table.name, options)
    labels: list[str | None] = [None] * len(frame)
    given = table.column(options.rating, "--rating")
    kept = frame.index[keep]
    for rater, places in frame[keep].groupby("rater", sort=False).indices.items():
        rows = kept[places]
        read = reader.read([given[r] for r in rows], [table.lines[r] for r in rows], str(rater))
        for row, label in zip(rows, read, strict=True):
            labels[row] = label
    frame["rating"] = pd.Series(
        [None if s == "unscored" else label for label, s in zip(labels, status, strict=True)],
        dtype=object,
    )
    frame["status"] = ["rated" if label is not None else "unscored" for label in frame["rating"]]
    if "reasons" in table.frame.columns:
        frame["reasons"] = [reasons(cell) for cell in table.column("reasons")]
    free = set(table.frame.columns) - set(_named(options))
    if "rated_at" in free:
        frame["rated_at"] = pd.Series(moments(table), dtype=object)
    if "seconds" in free:
        frame["seconds"] = pd.Series(durations(table), dtype=float)
    notes = [*_cluster_notes(table, options), *reader.finish()]
    if left_out:
        notes.append(f"raters not named and left out: {', '.join(left_out)}")
    skipped = keep & (pd.Series(status) == "skipped")
    blank = keep & ~skipped & (frame["status"] == "unscored") & (frame["kind"] != "judge")
    dropped = {"missing": int(blank.sum()), "skipped": int(skipped.sum())}
    rated = frame[keep & ~skipped & ~blank]
    number = times[rated.index]
    first = number.groupby([rated["item_id"], rated["rater"]]).transform("min") == number
    again = rated[~first].assign(repeat=number[~first])
    if len(again):
        notes.append(f"{len(again)} ratings repeat an item for the same rater: {ONLY_REPEATS}")
    out = _ratings(rated[first], frame, table, options, notes, dropped)
    return out if not len(again) else replace(out, repeats=_typed(again))


def _ratings(
    frame: pd.DataFrame,
    items: pd.DataFrame,
    table: Table,
    options: RatingsOptions,
    notes: Sequence[str],
    dropped: dict[str, int],
) -> Ratings:
    if options.cluster:
        cluster = tuple(options.cluster)
    else:
        cluster = ("question_id",) if "question_id" in table.frame.columns else ("item_id",)
    unrated = unrated_items(items, frame)
    return Ratings(
        frame=_typed(frame),
        notes=tuple(notes),
        dropped={reason: count for reason, count in dropped.items() if count},
        cluster=cluster,
        source={"name": table.name, "rows": len(table.frame), "sha256": table.sha256},
        unrated=None if unrated is None else _typed(unrated),
    )


def _named(options: RatingsOptions) -> tuple[str, ...]:
    """Columns to which the options give another meaning than their name's."""
    chosen = (*options.item, *options.cluster, *options.response, *options.strata)
    return (options.rater, options.kind, options.rating, *chosen)


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns in their order, texts as objects."""
    extra = [name for name in frame.columns if name not in COLUMNS]
    texts = {name: object for name in COLUMNS if name != "weight"}
    return frame[[*COLUMNS, *extra]].astype(texts).reset_index(drop=True)


def _cluster_notes(table: Table, options: RatingsOptions) -> list[str]:
    if len(options.cluster) > 1:
        blank = {name: sum(cell is None for cell in table.column(name)) for name in options.cluster}
        return [
            f"blank {name!r} of {count} rows: a value of its own in --cluster"
            f" {','.join(options.cluster)}"
            for name, count in blank.items()
            if count
        ]
    if options.cluster or "question_id" in table.frame.columns:
        return []
    return [OWN_CLUSTERS]


def _wide_raters(table: Table, options: RatingsOptions, about: set[str]) -> dict[str, Kind]:
    header = [str(name) for name in table.frame.columns]
    raters: dict[str, Kind] = {}
    asked: tuple[tuple[str, Kind, tuple[str, ...]], ...] = (
        ("--annotators", "annotator", options.annotators),
        ("--judges", "judge", options.judges),
        ("--final", "adjudicated", (options.final,) if options.final else ()),
    )
    literal = {name for _, _, names in asked for name in names if name in header}
    for option, kind, names in asked:
        for name in names:
            found = [name] if name in header else _matching(name, header, about | literal)
            if not found:
                raise _no_rater(table, name, header, option)
            if kind == "adjudicated" and len(found) > 1:
                raise SettingsError(
                    f"--final {name} fits {len(found)} columns ({', '.join(found[:4])})",
                    cure="name the one final label",
                )
            for column in found:
                if column in about:
                    raise SettingsError(
                        f"{option} names {column!r}, which is no rater's column",
                        cure="name the columns that hold ratings",
                    )
                if column in raters and raters[column] != kind:
                    raise SettingsError(
                        f"the column {column!r} is named as {raters[column]} and as {kind}",
                        cure="a rater is of one kind: narrow the pattern",
                    )
                raters[column] = kind
    return raters


def _matching(pattern: str, header: Sequence[str], taken: set[str]) -> list[str]:
    if not any(char in pattern for char in "*?["):
        return []
    return [n for n in header if n not in taken and fnmatch.fnmatchcase(n, pattern)]


def _no_rater(table: Table, name: str, header: Sequence[str], option: str) -> InputError:
    """A rater's column that is not there: say so if the table is long or turned on its side."""
    first = header[0] if header else None  # JSON objects without a key make no column
    for column in header:
        if name in table.frame[column].tolist():
            if column == first:
                cure = "the table lies on its side: give one row an item and one column a rater"
            else:
                cure = (
                    f"it is a value of the column {column!r}: a long table is read without --wide"
                )
            return InputError(f"{table.name} has no column {name!r} ({option})", cure=cure)
    return missing_column(table.name, name, header, option)


def _suspicious(raters: dict[str, Kind]) -> list[str]:
    names = [
        name
        for name, kind in raters.items()
        if kind == "annotator" and name.lower().startswith(("judge", "gpt", "llm", "model"))
    ]
    if not names:
        return []
    return [f"taken as people because --annotators names them: {', '.join(names)}"]


def _expect_long(table: Table, options: RatingsOptions) -> None:
    header = [str(name) for name in table.frame.columns]
    for name, option in ((options.rater, "--rater"), (options.rating, "--rating")):
        if name not in header:
            wide = [n for n in (*options.annotators, *options.judges) if n in header]
            if wide:
                raise InputError(
                    f"{table.name} has no column {name!r}, but a column {wide[0]!r}",
                    cure="one row an item and one column a rater is read with --wide",
                )
            error = missing_column(table.name, name, header, option)
            raise InputError(
                error.message,
                cure=f"name it with {option} COLUMN, or add --wide --annotators a,b --judges j"
                f" if each rater has a column; {error.cure}",
            )


def _long_kinds(table: Table, options: RatingsOptions, raters: Sequence[str]) -> list[Kind | None]:
    """Each row's kind; None for raters that the options leave out."""
    named: dict[str, Kind] = dict.fromkeys(options.annotators, "annotator")
    named |= dict.fromkeys(options.judges, "judge")
    if options.final:
        named[options.final] = "adjudicated"
    present = set(raters)
    for name in named:
        if name not in present:
            shown = ", ".join(sorted(present)[:12])
            raise InputError(
                f"{table.name} has no rating by {name!r}", cure=f"its raters are {shown}"
            )
    if options.kind not in table.frame.columns:
        if options.kind != "kind":
            raise missing_column(table.name, options.kind, list(table.frame.columns), "--kind")
        if not named:
            raise InputError(
                f"{table.name} has no column 'kind', so nothing says who is a person",
                cure="name it with --kind COLUMN, or name the raters: --annotators a,b --judges j",
            )
        return [named.get(rater) for rater in raters]
    kinds = cells(table, options.kind, "--kind")
    bad: list[BadRow] = []
    other: dict[str, dict[str, None]] = {}
    # Another word for a kind is read where the options name raters that have it.
    resolved = {kind for rater, kind in zip(raters, kinds, strict=True) if rater in named}
    by_rater: dict[str, tuple[str, int]] = {}
    for rater, kind, line in zip(raters, kinds, table.lines, strict=True):
        if kind not in KINDS:
            if kind not in resolved:
                bad.append(BadRow(table.name, line, f"the kind {kind[:40]!r} is not known"))
                other.setdefault(kind, {})[rater] = None
            continue
        before, first = by_rater.setdefault(rater, (kind, line))
        if before != kind:
            reason = f"{rater!r} is {kind} here and {before} on line {first}"
            bad.append(BadRow(table.name, line, reason))
        elif named.get(rater, kind) != kind and (kind, named[rater]) != (
            "annotator",
            "adjudicated",
        ):
            reason = f"{rater!r} is of kind {kind}, and the options name it as {named[rater]}"
            bad.append(BadRow(table.name, line, reason))
    if bad:
        cure = f"kinds are {', '.join(KINDS)}, one a rater"
        if other:
            who = "; ".join(f"{kind}: {', '.join(list(of)[:4])}" for kind, of in other.items())
            cure += f"; or name the raters by --annotators, --judges and --final ({who})"
        raise InputError.from_rows(bad, cure=cure)
    return [
        _kept_kind(rater, kind, named, options) for rater, kind in zip(raters, kinds, strict=True)
    ]


def _kept_kind(
    rater: str, kind: str, named: dict[str, Kind], options: RatingsOptions
) -> Kind | None:
    if rater in named:
        return named[rater]
    if kind not in KINDS:
        return None
    listed = {
        "annotator": options.annotators,
        "judge": options.judges,
        "adjudicated": options.final,
    }
    return None if listed[kind] else next(known for known in KINDS if known == kind)


def _long_status(table: Table) -> list[str]:
    if "status" not in table.frame.columns:
        return ["rated"] * len(table.frame)
    bad: list[BadRow] = []
    out: list[str] = []
    for cell, line in zip(table.column("status"), table.lines, strict=True):
        status = cell or "rated"
        if status not in ("rated", "unscored", "skipped"):
            bad.append(BadRow(table.name, line, f"the status {str(status)[:40]!r} is not known"))
        out.append(str(status))
    if bad:
        raise InputError.from_rows(bad, cure="a status is rated, unscored or skipped")
    return out
