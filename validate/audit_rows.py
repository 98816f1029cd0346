"""The rows of an audit table: which gold answer, checked by whom, with what verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scoring.errors import BadRow, InputError, SettingsError
from ..study.readers import Table
from .beyond_chance import raw_agreement
from .clusters import IntArray
from .result import Estimate

__all__ = [
    "CANNOT_VERIFY",
    "DISAGREE",
    "ERROR",
    "OK",
    "AuditRows",
    "audit_columns",
    "filled",
    "read_rows",
    "stratum_counts",
    "weights",
]

OK, ERROR, CANNOT_VERIFY = "OK", "ERROR", "CANNOT VERIFY"
DISAGREE = "reviewers disagree"


@dataclass(frozen=True, slots=True)
class AuditRows:
    """The verdicts of a table: which answer, by whom, what."""

    unit_column: str
    answers: tuple[str, ...]
    raters: tuple[str, ...]
    kinds: tuple[str, ...]
    verdicts: tuple[str | None, ...]

    @property
    def blank(self) -> list[str]:
        """Answers on which no reviewer gave a verdict."""
        final = self.final()
        return [answer for answer in dict.fromkeys(self.answers) if answer not in final]

    def final(self) -> dict[str, str]:
        """One verdict an answer: the adjudicated one, else what all reviewers say."""
        adjudicated: dict[str, str] = {}
        said: dict[str, set[str]] = {}
        for answer, kind, word in zip(self.answers, self.kinds, self.verdicts, strict=True):
            if word is None:
                continue
            if kind == "adjudicated":
                adjudicated[answer] = word
            said.setdefault(answer, set()).add(word)
        return {
            answer: adjudicated.get(answer) or (next(iter(words)) if len(words) == 1 else DISAGREE)
            for answer, words in said.items()
        }

    def agreement(self, confidence: float) -> Estimate | None:
        """How often reviewers say the same of an answer; None where none was reviewed twice."""
        people = sorted(
            {r for r, k in zip(self.raters, self.kinds, strict=True) if k == "annotator"}
        )
        if len(people) < 2:
            return None
        place = {answer: row for row, answer in enumerate(dict.fromkeys(self.answers))}
        codes: IntArray = np.full((len(place), len(people)), -1, dtype=np.int64)
        words = (OK, ERROR, CANNOT_VERIFY)
        for answer, rater, kind, word in zip(
            self.answers, self.raters, self.kinds, self.verdicts, strict=True
        ):
            # who adjudicates an answer has seen what the reviewers said
            if kind == "annotator" and word is not None:
                codes[place[answer], people.index(rater)] = words.index(word)
        found = raw_agreement(
            codes,
            n_categories=3,
            clusters=np.arange(len(place)),
            confidence=confidence,
            unit="item",
        )
        return replace(found, raters=tuple(people), level="dataset")

    def types(self, table: Table, errors: set[str]) -> dict[str, int]:
        """How many wrong answers have which error type (the first row of each answer)."""
        if "error_type" not in table.frame.columns:
            return {}
        first: dict[str, str] = {}
        for answer, cell in zip(self.answers, table.column("error_type"), strict=True):
            if answer in errors and isinstance(cell, str):
                first.setdefault(answer, cell.strip())
        return dict(Counter(first.values()).most_common())


def audit_columns(
    *,
    verdict: str,
    rater: str,
    item: Sequence[str],
    cluster: Sequence[str],
    strata: Sequence[str] = (),
    **_: Any,
) -> tuple[str, ...]:
    """The columns that an audit with these options reads."""
    usual = ("item_id", "question_id", "kind", "weight", "error_type")
    return tuple(dict.fromkeys([verdict, rater, *item, *cluster, *strata, *usual]))


def read_rows(
    table: Table,
    verdict: str,
    item: Sequence[str],
    labels: Mapping[str, str],
    *,
    rater: str = "rater",
) -> AuditRows:
    """The rows, checked: what is wrong in any of them is told at once.

    Raises
    ------
    InputError
        An unknown verdict, an answer that one reviewer checked twice, one with two adjudicated
        verdicts that differ, a blank cell.
    SettingsError
        A label that is translated into no verdict.
    """
    there = set(table.frame.columns)
    for given, target in labels.items():
        if _plain(target) not in _VERDICTS:
            raise SettingsError(
                f"--labels {given}={target}: {target!r} is no verdict",
                cure=f"verdicts are {OK}, {ERROR} and {CANNOT_VERIFY}",
            )
    names = tuple(item) or (("item_id",) if "item_id" in there else ("question_id",))
    parts = [filled(table, name, "--item") for name in names]
    answers = tuple(" / ".join(row) for row in zip(*parts, strict=True))
    raters, kinds = _reviewers(table, rater)
    bad: list[BadRow] = []
    words: list[str | None] = []
    first: dict[tuple[str, str], int] = {}
    settled: dict[str, tuple[str, int]] = {}
    twice = False
    for answer, reviewer, kind, cell, line in zip(
        answers, raters, kinds, table.column(verdict, "--rating"), table.lines, strict=True
    ):
        before = first.setdefault((answer, reviewer), line)
        if before != line:
            twice |= not reviewer
            who = f" by {reviewer!r}" if reviewer else ""
            bad.append(BadRow(table.name, line, f"{answer!r} is checked{who} on line {before} too"))
        text = cell.strip() if isinstance(cell, str) else cell
        word = None if text is None else _VERDICTS.get(_plain(labels.get(text, text)))
        if text is not None and word is None:
            shown = str(text)[:40]
            bad.append(BadRow(table.name, line, f"unknown verdict {shown!r}"))
        if kind == "adjudicated" and word is not None:
            said, above = settled.setdefault(answer, (word, line))
            if said != word:
                why = f"{answer!r} is adjudicated as {word}, and as {said} on line {above}"
                bad.append(BadRow(table.name, line, why))
        words.append(word)
    if bad:
        raise InputError.from_rows(
            bad,
            cure=f"one verdict an answer and reviewer: {OK}, {ERROR} or {CANNOT_VERIFY}"
            " (translate others: --labels bad=ERROR)"
            + ("; with several reviewers name their column: --rater COLUMN" if twice else ""),
        )
    return AuditRows(
        unit_column=names[0] if len(names) == 1 else "",
        answers=answers,
        raters=raters,
        kinds=kinds,
        verdicts=tuple(words),
    )


def _reviewers(table: Table, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Each row's rater and kind; a judge's verdict is no audit."""
    there, rows = set(table.frame.columns), len(table.frame)
    wanted = name in there or name != "rater"
    raters = filled(table, name, "--rater") if wanted else [""] * rows
    kinds = filled(table, "kind", None) if "kind" in there else ["annotator"] * rows
    bad = [
        BadRow(table.name, line, f"the kind {kind!r} does not audit")
        for kind, line in zip(kinds, table.lines, strict=True)
        if kind not in ("annotator", "adjudicated")
    ]
    if bad:
        raise InputError.from_rows(bad, cure="people audit: annotator or adjudicated")
    return tuple(raters), tuple(kinds)


def weights(table: Table, rows: AuditRows) -> dict[str, float]:
    """Answer → 1 / inclusion probability; 1 for all without a column ``weight``."""
    if "weight" not in table.frame.columns:
        return dict.fromkeys(rows.answers, 1.0)
    bad: list[BadRow] = []
    out: dict[str, float] = {}
    cells = filled(table, "weight", None)
    for answer, cell, line in zip(rows.answers, cells, table.lines, strict=True):
        try:
            weight = float(cell)
        except ValueError:
            weight = 0.0
        if not 0 < weight < math.inf:
            bad.append(BadRow(table.name, line, f"the weight {cell[:40]!r} is no positive number"))
        elif out.setdefault(answer, weight) != weight:
            bad.append(BadRow(table.name, line, f"{answer!r} has another weight above"))
    if bad:
        raise InputError.from_rows(bad, cure="a weight is 1 / inclusion probability of the answer")
    return out


def stratum_counts(
    table: Table,
    rows: AuditRows,
    names: Sequence[str],
    weight_of: Mapping[str, float],
    counted: Sequence[str],
    wrong: NDArray[np.bool_],
) -> dict[str, Any]:
    """Errors, checked answers and all answers of each stratum; its size is the sum of weights.

    Raises
    ------
    InputError
        An answer in two strata, weights that differ within one, or no column of weights.
    """
    if "weight" not in table.frame.columns:
        raise InputError(
            f"{table.name} has no column 'weight', which says how many answers a stratum has",
            cure="add 1 / inclusion probability of each answer, or leave --strata out",
        )
    of: dict[str, tuple[str, ...]] = {}
    weight: dict[tuple[str, ...], float] = {}
    bad: list[BadRow] = []
    cells = zip(*(filled(table, name, "--strata") for name in names), strict=True)
    for answer, stratum, line in zip(rows.answers, cells, table.lines, strict=True):
        if of.setdefault(answer, stratum) != stratum:
            bad.append(BadRow(table.name, line, f"{answer!r} lies in another stratum above"))
        elif not math.isclose(
            weight.setdefault(stratum, weight_of[answer]), weight_of[answer], rel_tol=1e-6
        ):
            shown = " / ".join(stratum)
            bad.append(BadRow(table.name, line, f"the stratum {shown!r} has another weight above"))
    if bad:
        raise InputError.from_rows(
            bad, cure="name the columns by which the sample was stratified: one weight a stratum"
        )
    there, order = Counter(of.values()), list(weight)
    read = Counter(of[answer] for answer in counted)
    found = Counter(of[answer] for answer, is_wrong in zip(counted, wrong, strict=True) if is_wrong)
    return {
        "errors": [found[stratum] for stratum in order],
        "checked": [read[stratum] for stratum in order],
        "population": [there[stratum] * weight[stratum] for stratum in order],
        "names": [" / ".join(stratum) for stratum in order],
    }


def filled(table: Table, name: str, option: str | None) -> list[str]:
    """A column in which no cell may be blank."""
    cells = table.column(name, option)
    bad = [
        BadRow(table.name, line, f"{name!r} is blank or no text")
        for cell, line in zip(cells, table.lines, strict=True)
        if not isinstance(cell, str)
    ]
    if bad:
        raise InputError.from_rows(bad, cure=f"fill {name!r} in every row")
    return [cell.strip() for cell in cells]


def _plain(text: Any) -> str:
    """A verdict word without case, blanks, underscores and hyphens."""
    return "".join(char for char in str(text).casefold() if char.isalnum())


_VERDICTS = {_plain(word): word for word in (OK, ERROR, CANNOT_VERIFY)} | {
    _plain("can't verify"): CANNOT_VERIFY,
    _plain("can't be verified"): CANNOT_VERIFY,
    _plain("unsure"): CANNOT_VERIFY,
}
