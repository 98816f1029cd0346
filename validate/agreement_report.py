"""How close are judges to people, and people to one another? The first panel.

Element level (the labels), response level (a score a response) and system level (its mean), since
the three diverge; people's own agreement stands beside the judge's on every coefficient. A judge's
rating never enters a figure about people: columns are chosen by the kind that every rating carries.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring.errors import InputError
from ..scoring.records import Kind
from ..study.ratings import OF_STUDY, Ratings, Scale
from .clusters import FloatArray, IntArray, Unit
from .coding import Coded, code_ratings
from .label_sets import are_numbers
from .panel import (
    Comparison,
    Confusion,
    compare_labels,
    compare_numbers,
    compare_people,
    confusion,
    dropped_between,
    finish,
)
from .panel_settings import Aggregate, Extra, PanelSettings, Unscored, Unsure
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

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AgreementReport", "agreement"]

_COLUMNS = (
    *("name", "level", "comparison", "raters", "system", "measure", "estimate", "low", "high"),
    *("confidence", "method", "unit", "n", "clusters", "design_effect", "dropped"),
    *("reason", "warnings"),
)
_Pair = tuple[int, str, IntArray, Comparison]
"""A judge's column, the name and the codes of who it is compared with, and as what."""

MANY_PEOPLE = 10
"""Beyond so many annotators pairs are not listed; they are compared together."""


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """The panel.

    Parameters
    ----------
    results
        Every figure; ``details["comparison"]`` is ``people``, ``judge-annotator`` or
        ``judge-final``.
    confusion
        The tables of each judge against each person and the final label.
    kinds
        Rater → kind.
    people
        Whose label stands for people: the final rater's name, ``majority``, ``mean``, the only
        annotator, or None where there is none.
    notes
        What the reader must be told first.
    dropped
        What was in the input and is in no figure: reason → count.
    settings, source
        The options, and rows and hash of the input.
    responses
        One row a judge and response that people rated: its score by the judge and by people.
    items, clusters, noun
        How many items people rated, in how many clusters, and what a cluster is called.
    """

    results: tuple[Estimate, ...]
    confusion: tuple[Confusion, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    people: str | None = None
    notes: tuple[str, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    responses: tuple[Mapping[str, Any], ...] = ()
    items: int = 0
    clusters: int = 0
    noun: str = "question"

    def result_dicts(self) -> list[dict[str, Any]]:
        """Every figure as JSON values, ``comparison`` (and ``system``) at the top level."""
        out = []
        for one in self.results:
            plain = one.to_dict()
            for key in ("comparison", "system", "measure"):
                if key in one.details:
                    plain[key] = one.details[key]
            out.append(plain)
        return out

    def to_dict(self) -> dict[str, Any]:
        """The panel as JSON values; ``confusion`` lists the tables."""
        return {
            "results": self.result_dicts(),
            "confusion": [table.to_dict() for table in self.confusion],
            "kinds": dict(self.kinds),
            "people": self.people,
            "notes": list(self.notes),
            "dropped": dict(self.dropped),
            "settings": dict(self.settings),
            "input": dict(self.source),
        }

    def to_frame(self) -> pd.DataFrame:
        """One tidy row a figure."""
        import pandas as pd

        rows = []
        for one in self.result_dicts():
            row = {name: one.get(name) for name in _COLUMNS}
            row["raters"] = " ~ ".join(one["raters"])
            row["dropped"] = "; ".join(f"{n} {why}" for why, n in one["dropped"].items())
            row["warnings"] = "; ".join(one["warnings"])
            rows.append(row)
        return pd.DataFrame(rows, columns=list(_COLUMNS))


def agreement(
    ratings: Ratings,
    *,
    scale: Scale = "nominal",
    positive: str | None = None,
    categories: Sequence[str] = (),
    unit: Unit = "question",
    confidence: float = 0.95,
    resamples: int = 1999,
    seed: int = 0,
    final: str | None = None,
    aggregate: Aggregate | None = None,
    unsure: Unsure = "missing",
    unscored: Unscored = "missing",
    extra: Extra = "incorrect",
) -> AgreementReport:
    """Compare people with one another and each judge with people.

    Parameters
    ----------
    ratings
        From a table (:func:`~accord.study.read_ratings`) or a study.
    scale, positive, categories, unit, confidence, resamples, seed, final, aggregate, unsure, \
unscored, extra
        As the fields of :class:`~accord.validate.coding.PanelSettings`.

    Returns
    -------
    AgreementReport
        At element level raw agreement, Cohen κ, Krippendorff α (at the scale's level and those
        below) and Gwet AC1, for judges with a positive label also sensitivity, specificity,
        precision and F1; on numeric scales and at response level Pearson, Spearman, MAD and bias
        (judge − people); at system level mean scores and their difference.

    Raises
    ------
    InputError, SettingsError
        As :func:`~accord.validate.coding.code_ratings`; also when there is nothing to compare.
    """
    settings = PanelSettings(
        scale=scale,
        positive=positive,
        categories=tuple(categories),
        unit=unit,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
        final=final,
        aggregate=aggregate,
        unsure=unsure,
        unscored=unscored,
        extra=extra,
    )
    coded = code_ratings(ratings, settings)
    return _Panel(ratings, coded, settings).report()


class _Panel:
    """Builds a report step by step."""

    def __init__(self, ratings: Ratings, coded: Coded, settings: PanelSettings) -> None:
        self.ratings, self.coded, self.settings = ratings, coded, settings
        self.annotators, self.judges = coded.of("annotator"), coded.of("judge")
        self.results: list[Estimate] = []
        self.tables: list[Confusion] = []
        self.notes: list[str] = list(ratings.notes)
        self.rows: list[dict[str, Any]] = []
        self.people, said = people_label(coded, settings)
        if self.judges:
            self.notes += said
        if left := int((~coded.labelled).sum()):
            self.notes.append(
                f"{left} items have no label by people and take no part"
                if left > 1
                else "one item has no label by people and takes no part"
            )
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
        if not self.judges and len(self.annotators) < 2:
            raise InputError(
                "there is nothing to compare: one rater",
                cure="name a second annotator (--annotators) or a judge (--judges)",
            )

    def report(self) -> AgreementReport:
        self._among_people()
        pairs = self._judge_pairs()
        for judge, name, codes, comparison in pairs:
            self._labels(judge, name, codes, comparison)
        if self.settings.scale != "nominal":
            self._numbers(pairs)
        self._response_level(pairs)
        return AgreementReport(
            results=tuple(self.results),
            confusion=tuple(self.tables),
            kinds=dict(zip(self.coded.raters, self.coded.kinds, strict=True)),
            people=self.people.name if self.people else None,
            notes=tuple(dict.fromkeys(self.notes)),
            dropped=dict(self.ratings.dropped),
            settings={**self.settings.to_dict(), "cluster": list(self.ratings.cluster)},
            source=self.ratings.source,
            responses=tuple(self.rows),
            items=int(self.coded.labelled.sum()),
            clusters=int(np.unique(self.coded.clusters[self.coded.labelled]).size),
            noun=self.coded.noun,
        )

    def _among_people(self) -> None:
        coded, settings = self.coded, self.settings
        many = len(self.annotators) > MANY_PEOPLE
        if many:
            self.notes.append(
                f"{len(self.annotators)} annotators: they are compared together, pairs and"
                " judge–annotator figures are not listed"
            )
        if len(self.annotators) > 2:
            self.results += compare_people(self.annotators, coded, settings)
        for i, j in [] if many else itertools.combinations(self.annotators, 2):
            raters = (coded.raters[i], coded.raters[j])
            self.results += compare_labels(
                coded.codes[:, i],
                coded.codes[:, j],
                coded,
                settings,
                raters=raters,
                comparison="people",
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
            verdicts, codes, coded, self.settings, raters=raters, comparison=comparison
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

    def _response_level(self, pairs: Sequence[_Pair]) -> None:
        coded, settings = self.coded, self.settings
        of_table = self.ratings.source.get("name") != OF_STUDY
        responses = gather_responses(coded, of_table=of_table)
        compared: list[tuple[tuple[str, str], Comparison]] = []
        if len(self.annotators) <= MANY_PEOPLE:
            for i, j in itertools.combinations(self.annotators, 2):
                compared.append(((coded.raters[i], coded.raters[j]), "people"))
        for j, name, _, which in pairs:
            compared.append(((coded.raters[j], name), which))
        if isinstance(responses, str):
            # Said once: the same holds for every comparison.
            level: Comparison = "judge-final" if self.judges else "people"
            self.results += undefined(responses, settings, comparison=level)
            return
        scores = self._scores(responses)
        for raters, which in compared:
            self.results += compare_responses(
                scores[raters[0]],
                scores[raters[1]],
                responses,
                coded.noun,
                settings,
                raters=raters,
                comparison=which,
            )
        if self.people is None:
            return
        people = self.people.name
        judges = [coded.raters[column] for column in self.judges]
        self.rows = score_rows(
            responses, {name: scores[name] for name in [*judges, people]}, people
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
