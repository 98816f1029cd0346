"""The main figures of an agreement panel, gathered comparison by comparison.

People are compared with one another, then each judge with each annotator and with people's label.
Columns are chosen by the kind that every rating carries, so a judge is in no figure about people.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..scoring.errors import InputError
from ..scoring.records import NO_SYSTEM
from ..study.ratings import OF_STUDY, Ratings, first_of
from .clusters import FloatArray, IntArray
from .coding import Coded
from .label_figures import compare_labels, compare_people
from .label_sets import are_numbers
from .methods import PROPORTION_METHODS
from .number_figures import compare_numbers
from .panel import Comparison, Confusion, Figures, confusion, dropped_between, finish
from .panel_settings import PanelSettings
from .people import people_label
from .responses import (
    Responses,
    compare_responses,
    compare_systems,
    gather_responses,
    score_rows,
    undefined,
)
from .result import Estimate
from .section import View
from .system_scores import systems_of_one_rater

__all__ = ["MANY_PEOPLE", "PanelBuilder"]

_Pair = tuple[int, str, IntArray, Comparison]
"""A judge's column, the name and the codes of who it is compared with, and as what."""

MANY_PEOPLE = 10
"""Beyond so many annotators pairs are not listed; they are compared together."""
MANY_QUESTIONS = 20_000
"""Beyond so many questions leaving out groups of them is far cheaper than resampling."""


class PanelBuilder:
    """Fills a panel step by step: ``results``, ``tables``, ``notes``, ``rows`` and ``people``."""

    def __init__(
        self, ratings: Ratings, coded: Coded, settings: PanelSettings, figures: Figures = "all"
    ) -> None:
        self.ratings, self.coded, self.settings = ratings, coded, settings
        self.figures: Figures = figures
        self.annotators, self.judges = coded.of("annotator"), coded.of("judge")
        self.results: list[Estimate] = []
        self.tables: list[Confusion] = []
        self.notes: list[str] = list(ratings.notes)
        self.rows: list[dict[str, Any]] = []
        self.people, said = people_label(coded, settings)
        if self.judges:
            self.notes += said
        self.notes += _without_label(ratings, coded)
        if settings.scale == "nominal" and are_numbers(coded.categories):
            self.notes.append("labels are numbers: --scale ordinal or interval uses their order")
        if coded.weights is not None:
            self.notes.append(
                "figures that say weighted take each item 1 / inclusion probability times;"
                " n and confusion tables count items"
            )
        if coded.implied:
            self.notes.append(
                f"{coded.implied} ratings call an element CORRECT that has no reference element:"
                " taken as correct but missing from the reference"
                f" (--extra {settings.extra})"
            )
        self.notes += _of_method(settings, int(np.unique(coded.clusters[coded.labelled]).size))
        unread = int((ratings.frame["status"] == "unscored").sum())
        if unread and settings.unscored != "missing":
            self.notes.append(
                f"{unread} replies of a judge that could not be read count as"
                f" {_unreadable(settings.unscored)} (--unscored {settings.unscored})"
            )
        if settings.ignore:
            count = int(ratings.frame["rating"].isin(settings.ignore).sum())
            self.notes.append(
                f"{count} ratings are of elements that do not count"
                f" (--ignore {','.join(settings.ignore)})"
            )
        alone = not self.judges and len(self.annotators) < 2 and ratings.repeats is None
        if alone and not self._has_systems():
            raise InputError(
                "there is nothing to compare: one rater",
                cure="name a second annotator (--annotators) or a judge (--judges)",
            )

    def _has_systems(self) -> bool:
        """Whether one rater's labels alone give systems a score."""
        items = self.coded.items
        known = self.coded.worth is not None and bool(items["response_id"].notna().all())
        return known and bool((items["system"] != NO_SYSTEM).any())

    def fill(self) -> View:
        """Make every main figure; what the further parts of the panel are made from comes back."""
        self._among_people()
        pairs = self._judge_pairs()
        for judge, name, codes, comparison in pairs:
            self._labels(judge, name, codes, comparison)
        if self.settings.scale != "nominal":
            self._numbers(pairs)
        of_table = self.ratings.source.get("name") != OF_STUDY
        responses = gather_responses(self.coded, of_table=of_table)
        scores = {} if isinstance(responses, str) else self._scores(responses)
        self._response_level(pairs, responses, scores)
        self.results = [self._of_people(one) for one in self.results]
        return View(self.ratings, self.coded, self.settings, self.people, responses, scores)

    def _of_people(self, one: Estimate) -> Estimate:
        """A figure that compares with people's label says whose labels these are."""
        if self.people is None or one.details.get("comparison") != "judge-final":
            return one
        return replace(one, details={**one.details, "people": self.people.made_of})

    def _among_people(self) -> None:
        coded, settings = self.coded, self.settings
        many = len(self.annotators) > MANY_PEOPLE
        if many:
            self.notes.append(
                f"{len(self.annotators)} annotators: they are compared together, pairs and"
                " judge–annotator figures are not listed"
            )
        if len(self.annotators) > 2:
            self.results += compare_people(self.annotators, coded, settings, figures=self.figures)
        for i, j in [] if many else itertools.combinations(self.annotators, 2):
            raters = (coded.raters[i], coded.raters[j])
            self.results += compare_labels(
                coded.codes[:, i],
                coded.codes[:, j],
                coded,
                settings,
                raters=raters,
                comparison="people",
                figures=self.figures,
            )

    def _judge_pairs(self) -> list[_Pair]:
        """Each judge with each annotator, then with people's label."""
        coded = self.coded
        out: list[_Pair] = []
        for judge in self.judges:
            if len(self.annotators) <= MANY_PEOPLE:
                for column in self.annotators:
                    rater = coded.raters[column]
                    out.append((judge, rater, coded.codes[:, column], "judge-annotator"))
            people = self.people
            if people and not (len(self.annotators) == 1 and people.name in self._names()):
                out.append((judge, people.name, people.codes, "judge-final"))
        return out

    def _names(self) -> set[str]:
        return {self.coded.raters[column] for column in self.annotators}

    def _labels(self, judge: int, name: str, codes: IntArray, comparison: Comparison) -> None:
        if self.people and self.people.numbers is not None and comparison == "judge-final":
            return  # a mean of labels is no label
        coded = self.coded
        raters = (coded.raters[judge], name)
        verdicts = coded.codes[:, judge]
        self.results += compare_labels(
            verdicts,
            codes,
            coded,
            self.settings,
            raters=raters,
            comparison=comparison,
            figures=self.figures,
        )
        table = confusion(verdicts, codes, coded, raters=raters, comparison=comparison)
        if table is not None:
            self.tables.append(table)

    def _numbers(self, pairs: Sequence[_Pair]) -> None:
        """Element level where ratings are numbers (or an order): distances as well as labels."""
        coded = self.coded
        wanted: list[tuple[IntArray, IntArray, tuple[str, str], Comparison]] = []
        if len(self.annotators) <= MANY_PEOPLE:
            for i, j in itertools.combinations(self.annotators, 2):
                raters = (coded.raters[i], coded.raters[j])
                wanted.append((coded.codes[:, i], coded.codes[:, j], raters, "people"))
        for judge, name, codes, comparison in pairs:
            raters = (coded.raters[judge], name)
            wanted.append((coded.codes[:, judge], codes, raters, comparison))
        for a, b, raters, comparison in wanted:
            first = coded.numbers(a)
            second = coded.numbers(b)
            if comparison == "judge-final" and self.people and self.people.numbers is not None:
                second = self.people.numbers
            both = ~(np.isnan(first) | np.isnan(second))
            for one in compare_numbers(
                first[both],
                second[both],
                clusters=coded.clusters[both],
                weights=None if coded.weights is None else coded.weights[both],
                settings=self.settings,
                ranks_only=coded.values is None,
                figures=self.figures,
            ):
                gone = dropped_between(a, b)
                self.results.append(
                    finish(
                        one,
                        coded.noun,
                        raters=raters,
                        comparison=comparison,
                        dropped=gone,
                        weighted=coded.weights is not None,
                    )
                )

    def _response_level(
        self,
        pairs: Sequence[_Pair],
        responses: Responses | str,
        scores: dict[str, FloatArray],
    ) -> None:
        coded, settings = self.coded, self.settings
        compared: list[tuple[tuple[str, str], Comparison]] = []
        if len(self.annotators) <= MANY_PEOPLE:
            for i, j in itertools.combinations(self.annotators, 2):
                compared.append(((coded.raters[i], coded.raters[j]), "people"))
        for j, name, _, which in pairs:
            compared.append(((coded.raters[j], name), which))
        if isinstance(responses, str):
            # Said once: the same holds for every comparison.
            level: Comparison = "judge-final" if self.judges else "people"
            unit = coded.noun if settings.unit == "question" else "item"
            self.results += [
                replace(one, unit=unit) for one in undefined(responses, settings, comparison=level)
            ]
            return
        for raters, which in compared:
            self.results += compare_responses(
                scores[raters[0]],
                scores[raters[1]],
                responses,
                coded.noun,
                settings,
                raters=raters,
                comparison=which,
                figures=self.figures,
            )
        if self.people is None:
            return
        people = self.people.name
        judges = [coded.raters[column] for column in self.judges]
        self.rows = score_rows(
            responses, {name: scores[name] for name in [*judges, people]}, people
        )
        if not compared:
            right = coded.categories[coded.positive] if coded.positive is not None else None
            if right is not None and len(coded.categories) > 2:
                self.notes.append(
                    f"every label but {right!r} counts as 0 in a score (--ignore leaves labels out)"
                )
            self.results += systems_of_one_rater(
                scores[people],
                responses,
                coded.noun,
                settings,
                rater=people,
            )
        for raters, which in compared:
            if raters[0] in judges and raters[1] == people:
                self.results += compare_systems(
                    scores[raters[0]],
                    scores[people],
                    responses,
                    coded.noun,
                    settings,
                    raters=raters,
                    comparison=which,
                )

    def _scores(self, responses: Responses) -> dict[str, FloatArray]:
        coded = self.coded
        scores = {
            rater: responses.scores(coded.codes[:, column], coded.extra[:, column], coded)
            for column, rater in enumerate(coded.raters)
        }
        if self.people and self.people.numbers is not None:
            given = ~np.isnan(self.people.numbers)
            scores[self.people.name] = responses.from_values(
                np.where(given, self.people.numbers, 0.0), given
            )
        elif self.people:
            scores[self.people.name] = responses.scores(self.people.codes, self.people.extra, coded)
        return scores


def _without_label(ratings: Ratings, coded: Coded) -> list[str]:
    """What takes no part: items that only judges rated, and items that nobody did."""
    out = []
    nobody = [] if ratings.unrated is None else ratings.unrated["item_id"].tolist()
    if left := int((~coded.labelled).sum()) - len(nobody):
        out.append(
            f"{left} items have no label by people and take no part"
            if left > 1
            else "one item has no label by people and takes no part"
        )
    if nobody:
        one = len(nobody) == 1
        what = "one item that nobody rated takes"
        what = what if one else f"{len(nobody)} items that nobody rated take"
        response = "its response has" if one else "their responses have"
        scored = coded.items["response_id"].notna().all()
        out.append(
            f"{what} no part{f', and {response} no score' if scored else ''}: {first_of(nobody)}"
        )
    return out


def _of_method(settings: PanelSettings, questions: int) -> list[str]:
    """What must be said of the intervals: which figures lack the method, what would cost less."""
    out = []
    if settings.method == "korn-graubard":
        out.append("--method korn-graubard: shares have it, other figures keep their default")
    elif settings.method not in PROPORTION_METHODS:
        out.append(f"--method {settings.method}: shares don't have it and keep their default")
    if questions > MANY_QUESTIONS and not settings.method.endswith("jackknife"):
        out.append(
            f"{questions:,} questions: --method grouped-jackknife takes a fraction of the time"
        )
    return out


def _unreadable(unscored: str) -> str:
    words = {"incorrect": "wrong", "category": "a label of their own"}
    return words.get(unscored, repr(unscored))
