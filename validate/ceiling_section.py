"""People's own level beside each judge's, on the same items: the ceiling of an agreement panel."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .ceiling import Coefficient, ceiling_difference
from .ceiling_sums import Statistic
from .clusters import FloatArray, IntArray
from .coding import MISSING
from .figures import count, defined, interval, value, visible
from .human_ceiling import Ceiling, leave_one_out_ceiling
from .label_figures import too_many
from .panel import finish
from .responses import Responses
from .result import Estimate, Level
from .section import Section, View
from .text_cells import pad

__all__ = ["ceiling_section"]

MANY_PEOPLE = 10
"""Beyond so many annotators κ of every pair is left out."""
LARGE_TABLE = 20
"""Beyond so many labels κ is left out."""

_WHO = 39
_WIDTH = 98
_SPREAD = (
    "a judge above the human–human line may sit in the middle of the people's spread: that it meets"
    " each of them more often than they meet one another does not make it better than they are"
)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the table: what is compared, people's figure, the judge's and their difference."""

    judge: str
    what: str
    people: float
    judged: float
    difference: Estimate


def ceiling_section(view: View) -> Section | None:
    """Judge–human against human–human figures; None without a judge and two annotators."""
    coded = view.coded
    annotators, judges = coded.of("annotator"), coded.of("judge")
    twice = (coded.codes[:, annotators] >= 0).sum(axis=1) >= 2
    if not judges or not twice.any():
        return None
    part = _Ceilings(view, annotators)
    for judge in judges:
        part.add(judge)
    return Section(
        "ceiling",
        "Ceiling: judge and people on the same items",
        results=tuple(part.results),
        lines=tuple(_lines(part.table, view.settings.confidence)),
        notes=tuple(part.notes()),
        rows=tuple(part.rows),
    )


class _Ceilings:
    """The figures of all judges."""

    def __init__(self, view: View, annotators: Sequence[int]) -> None:
        self.view, self.annotators = view, annotators
        coded, settings = view.coded, view.settings
        self.names = [coded.raters[column] for column in annotators]
        self.labelled = coded.labelled
        self.codes: IntArray = np.maximum(coded.codes[self.labelled], MISSING)
        self.shared: dict[str, Any] = {
            "clusters": coded.clusters[self.labelled],
            "weights": None if coded.weights is None else coded.weights[self.labelled],
            "confidence": settings.confidence,
            "unit": settings.unit,
        }
        self.k = len(coded.categories)
        self.in_numbers = settings.numeric and settings.aggregate != "majority"
        self.results: list[Estimate] = []
        self.table: list[_Row] = []
        self.rows: list[Mapping[str, Any]] = []
        self.ties = 0

    def add(self, judge: int) -> None:
        """All figures of one judge."""
        name = self.view.coded.raters[judge]
        given, people = self.codes[:, judge], self.codes[:, self.annotators]
        few = len(self.annotators) <= MANY_PEOPLE and self.k <= LARGE_TABLE
        many = too_many(self.view.coded, self.view.settings)
        if not many:
            self._pairs(name, given, people, "agreement")
            if few and not self.in_numbers:
                self._pairs(name, given, people, "cohen_kappa")
        shared = {**self.shared, "n_categories": self.k}
        if self.in_numbers:
            coded = self.view.coded
            scores = np.stack([coded.numbers(column) for column in people.T], axis=1)
            for statistic in ("pearson", "mad"):
                self._others(name, coded.numbers(given), scores, statistic, shared, "others’ mean")
        elif not many:
            self._others(name, given, people, "agreement", shared, "others’ majority")
            if few:
                self._others(name, given, people, "cohen_kappa", shared, "others’ majority")
        if isinstance(self.view.responses, Responses):
            self._responses(name, self.view.responses)

    def _pairs(
        self, name: str, given: IntArray, people: IntArray, coefficient: Coefficient
    ) -> None:
        one = ceiling_difference(
            given, people, coefficient=coefficient, n_categories=self.k, **self.shared
        )
        one = self._finished(one, name, (name, "the annotators"), "difference", {})
        what = f"pairs of raters: {_SHORT[coefficient]}"
        people_, judge_ = (
            float(one.details.get(key, math.nan)) for key in ("human_human", "judge_human")
        )
        self.table.append(_Row(name, what, people_, judge_, one))

    def _others(
        self,
        name: str,
        given: IntArray | FloatArray,
        people: IntArray | FloatArray,
        statistic: Statistic,
        shared: Mapping[str, Any],
        against: str,
        level: Level = "element",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        found = leave_one_out_ceiling(given, people, statistic=statistic, **shared)
        others = "the other annotators"
        more = details or {}
        mine = self._finished(found.people, name, ("each annotator", others), "people", more, level)
        judged = self._finished(found.judge, name, (name, others), "judge", more, level)
        apart = self._finished(
            found.difference, name, (name, "each annotator"), "difference", more, level
        )
        if statistic == "agreement":
            self.ties += int(mine.details.get("ties", 0))
        what = f"{against}: {_SHORT[statistic]}"
        self.table.append(_Row(name, what, mine.estimate, judged.estimate, apart))
        self.rows += self._by_annotator(found, name, statistic, level)

    def _by_annotator(
        self, found: Ceiling, judge: str, statistic: Statistic, level: Level
    ) -> Iterable[Mapping[str, Any]]:
        for column, (mine, judged, items) in zip(found.annotators, found.by_annotator, strict=True):
            yield {
                "rater": judge,
                "level": level,
                "statistic": statistic,
                "left_out": self.names[column],
                "annotator": mine,
                "judge": judged,
                "n": items,
            }

    def _responses(self, name: str, responses: Responses) -> None:
        scores = self.view.scores
        here = responses.labelled
        people = np.stack([scores[rater][here] for rater in self.names], axis=1)
        if not ((~np.isnan(people)).sum(axis=1) >= 2).any():
            return
        shared = {
            "clusters": responses.clusters[here],
            "weights": None if responses.weights is None else responses.weights[here],
            "confidence": self.view.settings.confidence,
            "unit": self.view.settings.unit,
        }
        more = {"measure": responses.measure}
        for statistic in ("pearson", "mad"):
            self._others(
                name,
                scores[name][here],
                people,
                statistic,
                shared,
                "responses, others’ mean",
                "response",
                more,
            )

    def _finished(
        self,
        one: Estimate,
        judge: str,
        raters: tuple[str, ...],
        side: str,
        details: Mapping[str, Any],
        level: Level = "element",
    ) -> Estimate:
        done = finish(
            one,
            self.view.coded.noun,
            raters=raters,
            comparison="ceiling",
            level=level,
            dropped=one.dropped,
            details={"rater": judge, "side": side, **details},
            weighted=self.view.coded.weights is not None,
        )
        self.results.append(done)
        return done

    @property
    def _has_responses(self) -> bool:
        return any(one.level == "response" for one in self.results)

    def notes(self) -> Iterable[str]:
        """What must be known to read the table."""
        two = len(self.annotators) == 2
        kind = "mean" if self.in_numbers else "majority"
        yield (
            f"others’ {kind}: each annotator, and the judge, against the {kind} of the other"
            " annotators on the same items (leave-one-out), averaged over annotators"
            + (" – with two, each against the other" if two else "")
            + ("; responses: against the mean of their scores" if self._has_responses else "")
            + "; it is no upper bound, and speaks for these annotators"
        )
        if any(
            defined(row.difference.estimate)
            and row.difference.estimate * _BETTER[row.difference.name] > 0
            for row in self.table
        ):
            yield _SPREAD
        if self.ties:
            yield (
                f"{count(self.ties)} comparisons have no majority of the other annotators (ties)"
                " and are left out, so the easier items are left: pairs of raters use all"
            )
        for row in self.table:
            for text in row.difference.warnings:
                if text.startswith("INCONCLUSIVE"):
                    yield f"{row.judge}, {row.what}: {text}"


_SHORT = {
    "agreement": "agreement",
    "cohen_kappa": "Cohen’s κ",
    "pearson": "Pearson r",
    "mad": "MAD",
}
_BETTER = {
    "ceiling_difference": 1,
    "ceiling_difference_kappa": 1,
    "leave_one_out_agreement_difference": 1,
    "leave_one_out_cohen_kappa_difference": 1,
    "leave_one_out_pearson_difference": 1,
    "leave_one_out_mad_difference": -1,
}
"""The sign of a judge that lies nearer to people than they to one another."""


def _lines(table: Sequence[_Row], confidence: float) -> Iterable[str]:
    for judge in dict.fromkeys(row.judge for row in table):
        yield (
            f"{pad(visible(judge), _WHO)} {'people':>8} {'judge':>8} {'judge−people':>13}"
            f"  {f'{100 * confidence:g} % interval':<18} {'n':>6}"
        )
        for row in table:
            if row.judge != judge:
                continue
            one = row.difference
            yield (
                f"  {pad(row.what, _WHO - 2)} {value(row.people):>8} {value(row.judged):>8}"
                f" {value(one.estimate):>13}  {interval(one.to_dict()) or '–':<18}"
                f" {count(one.n):>6}"
            )
            if one.reason:
                yield from textwrap.wrap(
                    f"({one.reason})", _WIDTH, initial_indent="      ", subsequent_indent="      "
                )
