"""The report's tables of ratings: confusion, disagreements by question, systems.

Texts only; the templates escape them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import plots
from .figures import count, estimate, interval, value, visible

__all__ = [
    "CLOSED_FROM",
    "MOST_ROWS",
    "Confusion",
    "Disagreements",
    "SYSTEM_AXIS",
    "SystemRow",
    "cell",
    "compared_systems",
    "confusion",
    "disagreements",
    "system_columns",
]

CLOSED_FROM = 25
"""From so many disagreements on the table is closed until it is asked for: it, not the plots,
decides how long the page takes to open."""

MOST_ROWS = 5000
"""Disagreements on the page; the CSV and the JSON beside it hold all."""

SYSTEM_AXIS = plots.Axis(0.0, 1.0, *plots.STRIP, (0.0, 0.5, 1.0))

MOST_COLUMNS = 6
"""Raters that get a column each; of more, the larger group is one cell with counts."""


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
    """The items on which ratings differ, by question.

    ``groups`` holds (question's id, its text, rows); a row is its cells and which of them are
    marked: a judge's verdict that is not people's.
    """

    total: int
    shown: int
    closed: bool
    groups: tuple[tuple[str, str, tuple[tuple[tuple[str, ...], frozenset[int]], ...]], ...]
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    summary: str | None
    marked: bool


def confusion(table: Mapping[str, Any]) -> Confusion:
    raters = [visible(rater) for rater in table.get("raters") or ("judge", "people")]
    categories = tuple(
        visible(name) for name in table.get("categories") or table.get("labels") or ()
    )
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
    apart = _apart(len(judges), len(people))
    final = any(row.get("final") is not None for row in rows)
    comments = any(row.get("comments") for row in rows)
    systems = {row.get("system") for row in rows} - {None, "", "-"}
    by_question: dict[tuple[str, str], list[tuple[tuple[str, ...], frozenset[int]]]] = {}
    for row in rows[:MOST_ROWS]:
        cells = [_reference(row.get("reference")), visible(row.get("predicted"))]
        if systems:
            cells.append(visible(row.get("system")))
        marked = _against(row, judges, len(cells)) if apart[0] else frozenset()
        cells += _verdicts(row.get("judges") or {}, judges, "unscored", apart[0])
        cells += _verdicts(row.get("people") or {}, people, "–", apart[1])
        if final:
            cells.append(visible(row.get("final") or "–"))
        if comments:
            cells.append(visible(_comments(row.get("comments"))))
        key = (str(row.get("question_id") or ""), str(row.get("question") or ""))
        by_question.setdefault(key, []).append((tuple(cells), marked))
    columns = ["Reference", "Predicted", *(["System"] if systems else [])]
    columns += [visible(name) for name in judges] if apart[0] else ["Judges"]
    columns += [visible(name) for name in people] if apart[1] else ["People"]
    columns += (["Final"] if final else []) + (["Comments"] if comments else [])
    return Disagreements(
        total=len(rows),
        shown=min(len(rows), MOST_ROWS),
        closed=len(rows) >= CLOSED_FROM,
        groups=tuple(
            (visible(question), visible(text), tuple(found))
            for (question, text), found in by_question.items()
        ),
        columns=tuple(columns),
        labels=tuple(map(_css_text, columns)),
        summary=_split(rows),
        marked=any(marked for found in by_question.values() for _, marked in found),
    )


def _css_text(text: str) -> str:
    """A string of CSS: all but ASCII letters and digits as escapes, so no text can end it.

    On a narrow page each cell carries its column's name; as a property of the table it costs
    nothing a row.
    """
    safe = "".join(c if c.isascii() and c.isalnum() else f"\\{ord(c):06x}" for c in text)
    return f"'{safe}'"


def _apart(judges: int, people: int) -> tuple[bool, bool]:
    """Whether each judge, and each person, has a column: no more columns than fit."""
    if judges + people <= MOST_COLUMNS:
        return True, True
    if judges >= people:
        return False, people + 1 <= MOST_COLUMNS
    return judges + 1 <= MOST_COLUMNS, False


def _verdicts(
    found: Mapping[str, Any], names: Sequence[str], missing: str, apart: bool
) -> list[str]:
    """A cell a rater, or one cell ``CORRECT 3, INCORRECT 1``."""
    if apart:
        return [visible(missing if (x := found.get(name)) is None else x) for name in names]
    counts: dict[str, int] = {}
    for verdict in found.values():
        text = missing if verdict is None else str(verdict)
        counts[text] = counts.get(text, 0) + 1
    return [visible(", ".join(f"{text} {n}" for text, n in counts.items()))]


def _against(row: Mapping[str, Any], judges: Sequence[str], first: int) -> frozenset[int]:
    """Positions of the judges' verdicts that differ from the final or the one verdict of people."""
    verdicts = {v for v in (row.get("people") or {}).values() if v is not None}
    truth = row.get("final") or (verdicts.pop() if len(verdicts) == 1 else None)
    if truth is None:
        return frozenset()
    given = row.get("judges") or {}
    return frozenset(
        first + i for i, name in enumerate(judges) if given.get(name) not in (None, truth)
    )


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

    The first points at the judge, the second at the guideline or the item; the rest is named, so
    that the numbers add up.
    """
    alone = split = settled = 0
    for row in rows:
        verdicts = [
            verdict for verdict in (row.get("people") or {}).values() if verdict is not None
        ]
        if len(verdicts) < 2:
            continue
        if len(set(verdicts)) > 1:
            split += 1
        elif row.get("final") not in (None, verdicts[0]):
            settled += 1
        elif any(v not in (None, verdicts[0]) for v in (row.get("judges") or {}).values()):
            alone += 1
    if not alone + split:
        return None
    rest = len(rows) - alone - split - settled
    more = f"; on {count(settled)} the final label is not people’s verdict" if settled else ""
    more += f"; on {count(rest)} fewer than two people gave a verdict" if rest else ""
    return (
        f"On {count(alone)} of them the people are at one and a judge differs, which points at the "
        f"judge; on {count(split)} the people differ from one another, which points at the item or "
        f"the guideline{more}."
    )


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system's mean score by a judge and by people, on the responses that both scored."""

    system: str
    judge: str
    n: str
    people: str
    judged: str
    difference: str
    reason: str
    ends: tuple[float | None, float | None] | None


def compared_systems(results: Iterable[Mapping[str, Any]]) -> Iterable[SystemRow]:
    """The system level of the panel, one row a system and judge, in the order of the results."""
    means: dict[tuple[str, str], Mapping[str, Any]] = {}
    differences: list[Mapping[str, Any]] = []
    for result in results:
        if result.get("level") == "system" and _of(result, "system"):
            raters = [str(rater) for rater in result.get("raters") or ()]
            if result.get("name") == "mean_score" and len(raters) == 1:
                means[(str(_of(result, "system")), raters[0])] = result
            elif result.get("name") == "bias" and len(raters) == 2:
                # People's mean is taken on the responses that this judge scored too.
                differences.append({**result, "means": dict(means)})
    for result in differences:
        system = str(_of(result, "system"))
        judge, people = (str(rater) for rater in result["raters"])
        by_judge = (result["means"].get((system, judge)) or {}).get("estimate")
        by_people = (result["means"].get((system, people)) or {}).get("estimate")
        yield SystemRow(
            system=visible(system),
            judge=visible(judge),
            n=count(result.get("n")),
            people=value(by_people),
            judged=value(by_judge),
            difference=f"{estimate(result)} {interval(result)}".strip(),
            reason="" if interval(result) else visible(result.get("reason") or ""),
            ends=plots.dumbbell(by_people, by_judge, SYSTEM_AXIS),
        )


def _of(result: Mapping[str, Any], key: str) -> Any:
    return result.get(key) or (result.get("details") or {}).get(key)


def system_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    names = {
        "judge": "Judge",
        "system": "System",
        "variant": "Variant",
        "responses": "Responses",
        "unscored": "Unscored",
        "llm_judge_f1": "Judge F1",
        "llm_judge_precision": "Precision",
        "llm_judge_recall": "Recall",
        "llm_judge_f1_ordered": "Judge F1, ordered",
        "rouge_f1": "ROUGE F1",
        "relaxed_recall": "Relaxed recall",
        "relaxed_precision": "Relaxed precision",
        "format_correctness": "Format",
        "share_correct": "Share correct",
        "universe_f1": "Universe F1",
        "universe_precision": "Universe precision",
        "universe_recall": "Universe recall",
        "universe_f1_optimal": "Universe F1, optimal",
        "optimal_minus_greedy": "Optimal − greedy",
        "krq_accuracy": "KRQ accuracy",
        "task-level-overall": "Tasks, then levels",
        "task-macro": "Tasks",
        "sample-micro": "Answers",
    }
    keys = list(dict.fromkeys(key for row in rows for key in row))
    keys.sort(key=lambda key: list(names).index(key) if key in names else len(names))
    return tuple((key, names.get(key, visible(key).replace("_", " "))) for key in keys)


def cell(x: Any) -> str:
    if x is None:
        return "–"
    if isinstance(x, float):
        return value(x)
    return count(x) if isinstance(x, int) and not isinstance(x, bool) else visible(x)
