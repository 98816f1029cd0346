"""The report's tables of ratings: confusion, disagreements by question, systems.

Texts only; the templates escape them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .figures import count, value, visible

__all__ = [
    "CLOSED_FROM",
    "MOST_ROWS",
    "Confusion",
    "Disagreements",
    "cell",
    "confusion",
    "disagreements",
    "system_columns",
]

CLOSED_FROM = 25
"""From so many disagreements on the table is closed until it is asked for: it, not the plots,
decides how long the page takes to open."""

MOST_ROWS = 5000
"""Disagreements on the page; the CSV and the JSON beside it hold all."""

MOST_COLUMNS = 6
"""Raters of one kind that get a column each; more are written in one cell as counts."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts[i][j]: the person's category i, the judge's category j; ``share`` is of the row."""

    judge: str
    person: str
    categories: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, str, float, bool], ...], str], ...]
    totals: tuple[str, ...]
    n: str


@dataclass(frozen=True, slots=True)
class Disagreements:
    """The items on which ratings differ, by question."""

    total: int
    shown: int
    closed: bool
    groups: tuple[tuple[str, str, tuple[tuple[str, ...], ...]], ...]
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    summary: str | None


def confusion(table: Mapping[str, Any]) -> Confusion:
    raters = [visible(rater) for rater in table.get("raters") or ("judge", "people")]
    categories = tuple(visible(name) for name in table.get("categories") or ())
    counts = [[float(cell or 0) for cell in row] for row in table.get("counts") or ()]
    rows = []
    for i, row in enumerate(counts):
        total = sum(row)
        cells = tuple(
            (
                count(cell),
                f"{100 * cell / total:.0f} %" if total else "–",
                _share(cell, total),
                i == j,
            )
            for j, cell in enumerate(row)
        )
        rows.append((categories[i], cells, count(total)))
    totals = tuple(count(sum(column)) for column in zip(*counts, strict=True))
    return Confusion(
        judge=raters[0],
        person=raters[-1],
        categories=categories,
        rows=tuple(rows),
        totals=totals,
        n=count(sum(map(sum, counts))),
    )


def _share(cell: float, total: float) -> float:
    return round(100 * cell / total) if total else 0


def disagreements(rows: Sequence[Mapping[str, Any]]) -> Disagreements:
    judges = list(dict.fromkeys(name for row in rows for name in row.get("judges") or {}))
    people = list(dict.fromkeys(name for row in rows for name in row.get("people") or {}))
    final = any(row.get("final") is not None for row in rows)
    comments = any(row.get("comments") for row in rows)
    systems = {row.get("system") for row in rows} - {None, "", "-"}
    by_question: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for row in rows[:MOST_ROWS]:
        cells = [_reference(row.get("reference")), visible(row.get("predicted"))]
        if systems:
            cells.append(visible(row.get("system")))
        cells += _verdicts(row.get("judges") or {}, judges, "unscored")
        cells += _verdicts(row.get("people") or {}, people, "–")
        if final:
            cells.append(visible(row.get("final") or "–"))
        if comments:
            cells.append(visible(_comments(row.get("comments"))))
        key = (str(row.get("question_id") or ""), str(row.get("question") or ""))
        by_question.setdefault(key, []).append(tuple(cells))
    columns = ["Reference", "Predicted", *(["System"] if systems else [])]
    columns += _headings(judges, "Judges") + _headings(people, "People")
    columns += (["Final"] if final else []) + (["Comments"] if comments else [])
    return Disagreements(
        total=len(rows),
        shown=min(len(rows), MOST_ROWS),
        closed=len(rows) >= CLOSED_FROM,
        groups=tuple(
            (visible(question), visible(text), tuple(cells))
            for (question, text), cells in by_question.items()
        ),
        columns=tuple(columns),
        labels=tuple(map(_css_text, columns)),
        summary=_split(rows),
    )


def _css_text(text: str) -> str:
    """A string of CSS: all but ASCII letters and digits as escapes, so no text can end it.

    On a narrow page each cell carries its column's name; as a property of the table it costs
    nothing a row.
    """
    safe = "".join(c if c.isascii() and c.isalnum() else f"\\{ord(c):06x}" for c in text)
    return f"'{safe}'"


def _headings(names: Sequence[str], together: str) -> list[str]:
    return [visible(name) for name in names] if len(names) <= MOST_COLUMNS else [together]


def _verdicts(found: Mapping[str, Any], names: Sequence[str], missing: str) -> list[str]:
    """A cell a rater, or one cell ``CORRECT 3, INCORRECT 1`` where there are too many."""
    if len(names) <= MOST_COLUMNS:
        return [visible(missing if (x := found.get(name)) is None else x) for name in names]
    counts: dict[str, int] = {}
    for verdict in found.values():
        text = missing if verdict is None else str(verdict)
        counts[text] = counts.get(text, 0) + 1
    return [visible(", ".join(f"{text} {n}" for text, n in counts.items()))]


def _reference(text: Any) -> str:
    return "(none: not in the reference)" if text is None else visible(text)


def _comments(found: Any) -> str:
    if isinstance(found, Mapping):
        return "\n".join(f"{name}: {text}" for name, text in found.items() if text)
    return (
        "\n".join(str(text) for text in found or () if text)
        if not isinstance(found, str)
        else found
    )


def _split(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """How often a judge stands alone against people who are at one, and how often people split.

    The first points at the judge, the second at the guideline or the item.
    """
    alone = split = 0
    for row in rows:
        verdicts = [
            verdict for verdict in (row.get("people") or {}).values() if verdict is not None
        ]
        if len(verdicts) < 2:
            continue
        if len(set(verdicts)) > 1:
            split += 1
        elif any(v not in (None, verdicts[0]) for v in (row.get("judges") or {}).values()):
            alone += 1
    if not alone + split:
        return None
    return (
        f"On {count(alone)} of them the people are at one and a judge differs, which points at the "
        f"judge; on {count(split)} the people differ from one another, which points at the item or "
        "the guideline."
    )


def system_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    names = {"system": "System", "variant": "Variant", "responses": "Responses"}
    names |= {"human": "People", "judge": "Judge"}
    keys = list(dict.fromkeys(key for row in rows for key in row))
    keys.sort(key=lambda key: list(names).index(key) if key in names else len(names))
    return tuple((key, names.get(key, visible(key).replace("_", " "))) for key in keys)


def cell(x: Any) -> str:
    if x is None:
        return "–"
    if isinstance(x, float):
        return value(x)
    return count(x) if isinstance(x, int) and not isinstance(x, bool) else visible(x)
