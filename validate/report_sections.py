"""The parts of a panel beyond its main figures, laid out for a page.

Strata, a judge's own family, length, tuning, the joint table, the ceiling, annotators: each as its
notes, its figures in tables by level, and the rows that are no figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .figures import LABELS, count, label, visible
from .reading import HUMAN_HUMAN, JUDGE_HUMAN, comparison
from .report_panels import LEVELS, Panel, between, make_panel, p_text
from .report_rows import cell

__all__ = ["Grid", "Part", "Table", "make_parts", "slice_table"]

OPEN_TO = 12
"""A part of up to so many figures and rows is open; a longer one is closed until asked for."""

MOST_FIGURES = 120
"""Figures of one part on the page; the JSON and the CSV have all."""

MOST_ROWS = 60
"""Rows of a table that is no figures."""

_TITLES = {
    "ceiling": "Each annotator left out in turn",
    "rater-quality": "Annotators one by one",
    "strata": "Size of the strata",
}
_SIDES = {"people": "people", "judge": "judge", "others": "people", "self": "people"}
"""``details["side"]`` → whose colour a figure has."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts; ``numeric`` says which columns are numbers, ``notes`` stand below."""

    title: str
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """Counts of people's scores (rows) by the judge's (columns); shares are of the row, in %."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, float, bool], ...], str], ...]
    totals: tuple[str, ...]
    n: str


@dataclass(frozen=True, slots=True)
class Part:
    """One part: ``size`` counts its figures and rows, ``left`` those that are not on the page."""

    anchor: str
    title: str
    notes: tuple[str, ...]
    panels: tuple[Panel, ...]
    grids: tuple[Grid, ...]
    tables: tuple[Table, ...]
    size: int
    left: int = 0

    @property
    def is_open(self) -> bool:
        """Whether it is short enough to be open."""
        return self.size <= OPEN_TO


def make_parts(agreement: Mapping[str, Any]) -> tuple[Part, ...]:
    """Every section of ``AgreementReport.to_dict()``, in its order."""
    kinds: Mapping[str, str] = agreement.get("kinds") or {}
    results: Sequence[Mapping[str, Any]] = agreement.get("results") or ()
    out = []
    for at, section in enumerate(agreement.get("sections") or ()):
        mine = [one for one in results if one.get("section") == section.get("name")]
        out.append(_part(f"part{at + 1}", section, mine, kinds))
    return tuple(out)


def slice_table(table: Mapping[str, Any]) -> Table:
    """Scores by slice (:class:`~accord.validate.study_slices.SliceTable`), for the page."""
    rows, title = table["rows"], visible(table["title"])
    notes = [visible(note) for note in table["notes"]]
    if len(rows) > MOST_ROWS:
        notes.append(f"{len(rows) - MOST_ROWS} more rows are in the JSON file")
    return Table(
        title=title[:1].upper() + title[1:],
        columns=tuple(_named_column(name) for name in table["columns"]),
        numeric=tuple(name not in table["texts"] for name in table["columns"]),
        rows=tuple(tuple(visible(cell) for cell in row) for row in rows[:MOST_ROWS]),
        notes=tuple(notes),
    )


def _part(
    anchor: str,
    section: Mapping[str, Any],
    results: Sequence[Mapping[str, Any]],
    kinds: Mapping[str, str],
) -> Part:
    rows: list[Mapping[str, Any]] = list(section.get("rows") or ())
    grids = tuple(_grid(row) for row in rows if "counts" in row and "columns" in row)
    plain = [] if grids else rows
    shown = results[:MOST_FIGURES]

    def naming(result: Mapping[str, Any]) -> tuple[str, str]:
        return _named(result), _whose(result, kinds)

    panels = tuple(
        make_panel(level, found, kinds, f"{anchor}-", naming)
        for level in LEVELS
        if (found := [one for one in shown if one.get("level") == level])
    )
    return Part(
        anchor=anchor,
        title=visible(section.get("title") or section.get("name")),
        notes=tuple(visible(note) for note in section.get("notes") or ()),
        panels=panels,
        grids=grids,
        tables=tuple(_tables(str(section.get("name")), plain[:MOST_ROWS])),
        size=len(results) + len(rows),
        left=len(results) - len(shown) + max(0, len(plain) - MOST_ROWS),
    )


def _named(result: Mapping[str, Any]) -> str:
    """What the figure is of: the stratum, the split or the family first, then whose ratings."""
    details = result.get("details") or {}
    said = []
    if result.get("stratum") is not None:
        said.append(f"{result.get('strata')} {result['stratum']}")
    if result.get("split"):
        said.append(str(result["split"]))
    if result.get("family"):
        own = details.get("of")
        said.append(f"family {result['family']}" + (f", {own}" if own else ""))
    who = between(result)
    rater = result.get("rater")
    if rater is not None and rater not in (result.get("raters") or ()):
        who += f" (items of {rater})"
    return visible(": ".join([", ".join(said), who] if said else [who]))


def _whose(result: Mapping[str, Any], kinds: Mapping[str, str]) -> str:
    side = (result.get("details") or {}).get("side")
    if side is not None:
        return _SIDES.get(str(side), "")
    return {HUMAN_HUMAN: "people", JUDGE_HUMAN: "judge"}.get(comparison(result, kinds), "")


def _tables(name: str, rows: Sequence[Mapping[str, Any]]) -> Iterable[Table]:
    """Rows of one kind as one table, without columns in which nothing or a record stands."""
    title = _TITLES.get(name, "")
    for kind in dict.fromkeys(tuple(row) for row in rows):
        same = [row for row in rows if tuple(row) == kind]
        filled = [
            key
            for key in kind
            if any(row[key] not in (None, [], "") for row in same)
            and not any(_is_record(row[key]) for row in same)
        ]
        if filled:
            yield Table(
                title=title,
                columns=tuple(_named_column(key) for key in filled),
                numeric=tuple(
                    all(row[key] is None or _is_number(row[key]) for row in same) for key in filled
                ),
                rows=tuple(tuple(_text(row[key], key) for key in filled) for row in same),
            )
        title = ""


def _named_column(key: str) -> str:
    name = visible(key).replace("_", " ")
    return name if len(name) == 1 else name[:1].upper() + name[1:]


def _is_record(x: Any) -> bool:
    return isinstance(x, Mapping) or (isinstance(x, (list, tuple)) and any(map(_is_record, x)))


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def _text(x: Any, key: str = "") -> str:
    """A cell; p-values as the panels write them."""
    if key.endswith("_p") and _is_number(x):
        return p_text(x)
    if isinstance(x, bool):
        return "yes" if x else "no"
    if isinstance(x, (list, tuple)):
        return "; ".join(_text(part) for part in x) or "–"
    if isinstance(x, str) and x in LABELS:
        return label(x)
    return cell(x)


def _grid(row: Mapping[str, Any]) -> Grid:
    judge, people = (visible(name) for name in row["raters"])
    counts: Sequence[Sequence[int]] = row["counts"]
    columns = [visible(name) for name in row["columns"]]
    rows = []
    for name, cells in zip(row["rows"], counts, strict=True):
        total = sum(cells)
        shares = [100 * number / total if total else 0.0 for number in cells]
        same = [visible(name) == column for column in columns]
        numbers = [count(number) for number in cells]
        rows.append(
            (
                visible(name),
                tuple(zip(numbers, (round(share, 1) for share in shares), same, strict=True)),
                count(total),
            )
        )
    return Grid(
        title=f"{judge} against {people}",
        columns=tuple(columns),
        rows=tuple(rows),
        totals=tuple(count(sum(cells)) for cells in zip(*counts, strict=True)),
        n=count(row.get("n")),
    )
