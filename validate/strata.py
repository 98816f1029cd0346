"""Agreement of each stratum (category, system, …), and whether a judge is worse in one of them.

A stratum is tested against all other items, not against the best one, and the p-values are adjusted
for all tests of a column: among many strata one always looks worst. People's own agreement stands
beside the judge's, since a stratum whose items are hard lowers both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .against_people import comparison_with
from .beyond_chance import left_out, raw_agreement
from .chance import cohen_kappa, gwet_ac1
from .clusters import FloatArray
from .coding import MISSING, Coded
from .contrast import LEAST_QUESTIONS, contrast
from .differences import bias, mad
from .figures import count, counted, defined, p_value, percent, value, visible
from .intervals import t_quantile
from .item_parts import column_of, part_of, part_of_people
from .label_figures import too_many
from .multiplicity import adjust, simultaneous_confidence
from .panel import Comparison, dropped_between, finish
from .people import People
from .rated import Pairs
from .result import Estimate
from .section import Section, View
from .text_cells import pad, right

__all__ = ["strata_section"]

MANY_SMALL = 20
"""Beyond so many strata that are too small only their number is said."""


@dataclass(frozen=True, slots=True, eq=False)
class _Stratum:
    name: str
    rows: NDArray[np.bool_]
    items: int
    questions: int
    large: bool


@dataclass(slots=True, eq=False)
class _Line:
    """What is known of one judge (or of people, where ``judge`` is None) in one stratum."""

    judge: str | None
    stratum: _Stratum
    figures: dict[str, Estimate]
    difference: Estimate | None = None
    adjusted: dict[str, float] = field(default_factory=dict)

    def get(self, name: str) -> float:
        found = self.figures.get(name)
        return math.nan if found is None else found.estimate


def strata_section(view: View) -> Section | None:
    """Agreement by the columns of ``settings.strata``; None where none is named.

    Raises
    ------
    SettingsError
        A column that is not there.
    """
    if not view.settings.strata:
        return None
    results: list[Estimate] = []
    lines: list[str] = []
    notes: list[str] = []
    rows: list[Mapping[str, Any]] = []
    for column in view.settings.strata:
        part = _Column(view, column)
        results += part.results()
        lines += part.lines()
        notes += part.notes()
        rows += part.rows()
    return Section(
        "strata",
        "By stratum",
        results=tuple(results),
        lines=tuple(lines),
        notes=tuple(notes),
        rows=tuple(rows),
    )


class _Column:
    """The strata that one column makes."""

    def __init__(self, view: View, column: str) -> None:
        self.view, self.column = view, column
        coded = view.coded
        self.judges = coded.of("judge") if view.people is not None else []
        self.cells = column_of(coded, column, "--strata")
        self.inside = coded.labelled & np.array([cell is not None for cell in self.cells])
        self.blank = int((coded.labelled & ~self.inside).sum())
        self.strata = self._strata()
        self.large = [one for one in self.strata if one.large]
        self.people = [_Line(None, one, self._among_people(one)) for one in self.large]
        self.by_judge = {
            coded.raters[judge]: [
                _Line(coded.raters[judge], one, self._against(judge, one)) for one in self.large
            ]
            for judge in self.judges
        }
        self.tests = 0
        self._compare()

    def _strata(self) -> list[_Stratum]:
        coded = self.view.coded
        names = sorted(
            {c for c, here in zip(self.cells, self.inside, strict=True) if here and c is not None}
        )
        cells = np.array(self.cells, dtype=object)
        out = []
        for name in names:
            rows = self.inside & np.asarray(cells == name, dtype=bool)
            items, questions = int(rows.sum()), int(np.unique(coded.clusters[rows]).size)
            units = questions if self.view.settings.unit == "question" else items
            out.append(_Stratum(name, rows, items, questions, units >= LEAST_QUESTIONS))
        return out

    def _shared(self, coded: Coded) -> dict[str, Any]:
        return {
            "clusters": coded.clusters,
            "weights": coded.weights,
            "confidence": self.view.settings.confidence,
            "unit": self.view.settings.unit,
        }

    def _among_people(self, stratum: _Stratum) -> dict[str, Estimate]:
        view = self.view
        columns = view.coded.of("annotator")
        if len(columns) < 2 or too_many(view.coded, view.settings):
            return {}
        coded = part_of(view.coded, stratum.rows)
        codes = np.maximum(coded.codes[:, columns], MISSING)
        found = _labels(codes, coded, self._shared(coded))
        raters = tuple(coded.raters[column] for column in columns)
        return self._finished(found, stratum, raters, "people", None)

    def _against(self, judge: int, stratum: _Stratum) -> dict[str, Estimate]:
        assert self.view.people is not None  # there are no judges to compare otherwise
        coded = part_of(self.view.coded, stratum.rows)
        people = part_of_people(self.view.people, stratum.rows)
        codes = coded.codes[:, judge]
        dropped = dropped_between(codes, people.codes)
        if self._in_numbers:
            first, second = _numbers(coded, codes, people)
            both = np.asarray(~(np.isnan(first) | np.isnan(second)), dtype=bool)
            shared = self._shared(part_of(coded, both))
            given, truth = first[both], second[both]
            found = [mad(given, truth, **shared), bias(given, truth, **shared)]
        else:
            pair = np.maximum(np.stack([codes, people.codes], axis=1), MISSING)
            both = np.asarray((pair >= 0).all(axis=1), dtype=bool)
            kept = part_of(coded, both)
            found = _labels(pair[both], kept, self._shared(kept))
        raters = (coded.raters[judge], people.name)
        comparison = comparison_with(self.view, self.view.people)
        return self._finished(found, stratum, raters, comparison, dropped)

    @property
    def _in_numbers(self) -> bool:
        """Whether people's label is a mean, with which no label agrees."""
        people, many = self.view.people, too_many(self.view.coded, self.view.settings)
        return people is not None and (people.numbers is not None or many)

    def _finished(
        self,
        found: Iterable[Estimate],
        stratum: _Stratum,
        raters: tuple[str, ...],
        comparison: Comparison,
        dropped: Mapping[str, int] | None,
    ) -> dict[str, Estimate]:
        return {
            one.name: finish(
                one,
                self.view.coded.noun,
                raters=raters,
                comparison=comparison,
                dropped=dropped,
                details={"strata": self.column, "stratum": stratum.name},
                weighted=self.view.coded.weights is not None,
            )
            for one in found
        }

    def _compare(self) -> None:
        """Each stratum against the others, and the p-values of all judges adjusted together."""
        coded = self.view.coded
        comparison = comparison_with(self.view, self.view.people) if self.view.people else "people"
        for judge in self.judges:
            assert self.view.people is not None  # there are no judges to compare otherwise
            values, given = self._values(judge)
            raters = (coded.raters[judge], self.view.people.name)
            gone = dropped_between(
                coded.codes[self.inside, judge], self.view.people.codes[self.inside]
            )
            for line in self.by_judge[coded.raters[judge]]:
                line.difference = self._difference(values, given, line, raters, comparison, gone)
        columns = coded.of("annotator")
        if self.people and self.people[0].figures:
            codes = np.maximum(coded.codes[:, columns], MISSING)
            given = self.inside & ((codes >= 0).sum(axis=1) >= 2)
            values = np.zeros(len(codes))
            pairs = Pairs.of(codes[given])
            values[given] = pairs.agreeing / pairs.pairs
            names = tuple(coded.raters[column] for column in columns)
            gone = left_out(given[self.inside], "fewer than two ratings")
            for line in self.people:
                line.difference = self._difference(values, given, line, names, "people", gone)
        self._adjust([line for lines in self.by_judge.values() for line in lines])

    def _values(self, judge: int) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Agreement (or distance) item by item, and where it is known."""
        coded, people = self.view.coded, self.view.people
        assert people is not None
        codes = coded.codes[:, judge]
        if self._in_numbers:
            first, second = _numbers(coded, codes, people)
            given = self.inside & ~(np.isnan(first) | np.isnan(second))
            return np.where(given, np.abs(first - second), 0.0), given
        given = self.inside & (codes >= 0) & (people.codes >= 0)
        return np.where(given, codes == people.codes, 0.0).astype(float), given

    def _difference(
        self,
        values: FloatArray,
        given: NDArray[np.bool_],
        line: _Line,
        raters: tuple[str, ...],
        comparison: Comparison,
        dropped: Mapping[str, int],
    ) -> Estimate:
        kept = part_of(self.view.coded, given)
        numbers = comparison != "people" and self._in_numbers
        one = contrast(
            "mad_difference" if numbers else "agreement_difference",
            values[given],
            line.stratum.rows[given],
            **self._shared(kept),
        )
        if not numbers:
            one = replace(one, low=max(one.low, -1.0), high=min(one.high, 1.0))
        return finish(
            one,
            self.view.coded.noun,
            raters=raters,
            comparison=comparison,
            dropped=dropped,
            details={"strata": self.column, "stratum": line.stratum.name},
            weighted=self.view.coded.weights is not None,
        )

    def _adjust(self, lines: Sequence[_Line]) -> None:
        # two strata are one comparison, seen from both sides
        two = len(self.strata) == 2
        tested: dict[tuple[str | None, str], float] = {}
        for line in lines:
            p = line.difference.details["p_value"] if line.difference is not None else None
            tested[line.judge, "" if two else line.stratum.name] = math.nan if p is None else p
        p_values = list(tested.values())
        self.tests = sum(not math.isnan(p) for p in p_values)
        holm = dict(zip(tested, adjust(p_values, method="holm"), strict=True))
        by = dict(zip(tested, adjust(p_values, method="benjamini_yekutieli"), strict=True))
        together = simultaneous_confidence(self.view.settings.confidence, self.tests)
        for line in lines:
            if line.difference is None or line.difference.details["p_value"] is None:
                continue
            key = (line.judge, "" if two else line.stratum.name)
            line.adjusted = {"p_holm": float(holm[key]), "p_by": float(by[key])}
            details = {**line.difference.details, **line.adjusted, "tests": self.tests}
            details |= _simultaneous(
                line.difference, together, math.inf if self._in_numbers else 1.0
            )
            line.difference = replace(line.difference, details=details)

    def results(self) -> list[Estimate]:
        out: list[Estimate] = []
        for line in [*self.people, *(one for lines in self.by_judge.values() for one in lines)]:
            out += line.figures.values()
            if line.difference is not None:
                out.append(line.difference)
        return out

    def rows(self) -> list[Mapping[str, Any]]:
        return [
            {
                "strata": self.column,
                "stratum": one.name,
                "items": one.items,
                "clusters": one.questions,
                "figures": one.large,
            }
            for one in self.strata
        ]

    def lines(self) -> list[str]:
        noun = self.view.coded.noun
        unit = "clusters" if noun == "item" or len(noun) > 8 else f"{noun}s"
        main = "MAD" if self._in_numbers else "agree"
        out: list[str] = []
        shown: list[tuple[str, Sequence[_Line]]] = [*self.by_judge.items()]
        if not shown and self.people and self.people[0].figures:
            shown = [("people", self.people)]
        for name, lines in shown:
            out.append(pad(f"{visible(name)}, by {visible(self.column)}", 96).rstrip())
            head = pad(visible(self.column), 15)
            second, third = ("bias", "") if self._in_numbers else ("κ", "AC1")
            out.append(
                f"{head} {'n':>6} {unit:>9} {main:>7} {'interval':<14} {second:>6} {third:>6}"
                f" {'people':>7} {'− rest':>6} {'p Holm':>6} {'p BY':>6}"
            )
            beside = {line.stratum.name: line for line in self.people}
            out += [self._row(line, beside) for line in lines]
        return out

    def _row(self, line: _Line, beside: Mapping[str, _Line]) -> str:
        first = next(iter(line.figures.values()))
        second, third = ("bias", "") if first.name == "mad" else ("cohen_kappa", "gwet_ac1")
        human = beside[line.stratum.name].get("agreement")
        gap = line.difference.estimate if line.difference is not None else math.nan
        if first.name == "mad":
            main, limits, away = value(first.estimate, 2), _limits(first, value), value(gap, 2)
        else:
            main, limits = percent(first.estimate, 1), _limits(first, _points)
            away = f"{100 * gap:+.1f}".replace("-", "−") if defined(gap) else "–"
        return (
            f"{pad(visible(line.stratum.name), 15)} {count(line.stratum.items):>6}"
            f" {count(line.stratum.questions):>9} {main:>7} {pad(limits, 14)}"
            f"{right(value(line.get(second), 2), 7)}{right(value(line.get(third), 2), 7)}"
            f" {percent(human, 1):>7} {away:>6} {p_value(line.adjusted.get('p_holm')):>6}"
            f" {p_value(line.adjusted.get('p_by')):>6}"
        )

    def notes(self) -> list[str]:
        out = [self._verdict(judge, lines) for judge, lines in self.by_judge.items()]
        if self.tests:
            points = "" if self._in_numbers else "differences are in percentage points, "
            out.append(
                f"{self.column}: {points}p-values are of each stratum against all other"
                f" items, adjusted over {counted(self.tests, 'test')} (Holm; Benjamini–Yekutieli"
                " beside it); intervals are not adjusted"
            )
        if small := [one for one in self.strata if not one.large]:
            noun = self.view.coded.noun if self.view.settings.unit == "question" else "item"
            named = ", ".join(
                f"{one.name} ({counted(one.items, 'item')})" for one in small[:MANY_SMALL]
            )
            more = f", and {len(small) - MANY_SMALL} more" if len(small) > MANY_SMALL else ""
            out.append(
                f"{self.column}: too small for a figure (fewer than {LEAST_QUESTIONS}"
                f" {noun}s): {named}{more}"
            )
        if self.blank:
            out.append(f"{self.column}: {counted(self.blank, 'item')} without a value left out")
        return [text for text in out if text]

    def _verdict(self, judge: str, lines: Sequence[_Line]) -> str:
        """Where the judge is worst, and no more than the tests say."""
        sign = 1 if self._in_numbers else -1
        tested = [line for line in lines if line.difference is not None and line.adjusted]
        if not tested:
            return ""
        level = 1 - self.view.settings.confidence
        worst = max(tested, key=lambda line: sign * _gap(line))
        worse = [
            line for line in tested if sign * _gap(line) > 0 and line.adjusted["p_holm"] < level
        ]
        if not worse:
            smallest = min(line.adjusted["p_holm"] for line in tested)
            return (
                f"{judge}: no stratum of {self.column} is shown to be worse than the other items"
                f" (smallest p after Holm {p_value(smallest)});"
                f" {worst.stratum.name} has the {'largest' if sign > 0 else 'lowest'} figure,"
                " which may be chance"
            )
        worse.sort(key=lambda line: -sign * _gap(line))
        said = "; ".join(self._told(line) for line in worse)
        what = "is farther from people" if sign > 0 else "agrees less with people"
        return f"{judge} {what} than on the other items in {self.column} = {said}"

    def _told(self, line: _Line) -> str:
        assert line.difference is not None
        details = line.difference.details
        write = value if self._in_numbers else _share
        text = (
            f"{line.stratum.name} ({write(details['first'])} against {write(details['rest'])},"
            f" p after Holm {p_value(line.adjusted['p_holm'])})"
        )
        human = next((one for one in self.people if one.stratum is line.stratum), None)
        gap = human.difference if human is not None else None
        if gap is not None and gap.details["p_value"] is not None and gap.high < 0:
            text += (
                f", where people agree less with one another too"
                f" ({_share(gap.details['first'])} against {_share(gap.details['rest'])}),"
                " so its items may be harder rather than the judge worse"
            )
        return text


def _labels(codes: NDArray[Any], coded: Coded, shared: Mapping[str, Any]) -> list[Estimate]:
    """Raw agreement, κ (of two) and AC1 of the columns of ``codes``."""
    k = len(coded.categories)
    found = [raw_agreement(codes, n_categories=k, **shared)]
    if codes.shape[1] == 2:
        found.append(cohen_kappa(codes[:, 0], codes[:, 1], n_categories=k, **shared))
    return [*found, gwet_ac1(codes, n_categories=k, **shared)]


def _numbers(coded: Coded, codes: NDArray[Any], people: People) -> tuple[FloatArray, FloatArray]:
    truth = people.numbers if people.numbers is not None else coded.numbers(people.codes)
    return coded.numbers(codes), truth


def _simultaneous(one: Estimate, confidence: float, most: float) -> dict[str, float]:
    """The limits that hold for all strata at once, from the same SE; ``most`` at most."""
    reach = t_quantile(confidence, one.details["df"]) * one.details["se"]
    low, high = max(one.estimate - reach, -most), min(one.estimate + reach, most)
    return {"low_simultaneous": low, "high_simultaneous": high}


def _gap(line: _Line) -> float:
    return math.nan if line.difference is None else line.difference.estimate


def _limits(one: Estimate, write: Any) -> str:
    if math.isnan(one.low) or math.isnan(one.high):
        return "–"
    return f"[{write(one.low)}, {write(one.high)}]"


def _points(x: float) -> str:
    return f"{100 * x:.1f}"


def _share(x: float) -> str:
    return percent(x, 1)
