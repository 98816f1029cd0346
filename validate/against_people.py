"""A judge's scores beside people's: of responses where they are known, else of elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .clusters import FloatArray, IntArray
from .panel import Comparison, dropped_between
from .people import People
from .responses import NO_POSITIVE
from .result import Level
from .section import View

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AgainstPeople", "against_people", "comparison_with"]

NO_LABEL = "no label stands for people"
NOBODY_BOTH = "no item is rated by both"


@dataclass(frozen=True, slots=True, eq=False)
class AgainstPeople:
    """The scores of one judge and of people, where both have one.

    Parameters
    ----------
    raters
        The judge, and whose label stands for people.
    comparison, level, measure
        As in the panel; ``measure`` is None for elements.
    judge, people
        ``(n,)`` scores, no NaN.
    rows
        ``(n,)`` which response (or item) of the view each is.
    about
        ``(n,)`` rows of the responses' (or items') frame.
    clusters, weights
        ``(n,)``.
    dropped
        Responses (or items) without a score by both: reason → count.
    """

    raters: tuple[str, str]
    comparison: Comparison
    level: Level
    measure: str | None
    judge: FloatArray
    people: FloatArray
    rows: IntArray
    about: pd.DataFrame
    clusters: IntArray
    weights: FloatArray | None
    dropped: Mapping[str, int]

    @property
    def difference(self) -> FloatArray:
        """``(n,)`` judge − people."""
        return self.judge - self.people

    @property
    def noun(self) -> str:
        """What one row is called."""
        return "responses" if self.level == "response" else "items"


def comparison_with(view: View, people: People) -> Comparison:
    """As what a comparison with people's label counts: with one annotator it is his."""
    names = {view.coded.raters[column] for column in view.coded.of("annotator")}
    return "judge-annotator" if people.name in names else "judge-final"


def against_people(view: View, judge: int) -> AgainstPeople | str:
    """The scores of the judge in column ``judge``, or the reason why there are none.

    Responses count where both have rated one as a whole; where no response is, elements do.
    """
    people = view.people
    if people is None:
        return NO_LABEL
    raters = (view.coded.raters[judge], people.name)
    if not isinstance(view.responses, str) and view.scores:
        given, truth = view.scores[raters[0]], view.scores[people.name]
        both = ~(np.isnan(given) | np.isnan(truth))
        if both.any():
            responses = view.responses
            return AgainstPeople(
                raters,
                comparison_with(view, people),
                "response",
                responses.measure,
                given[both],
                truth[both],
                np.flatnonzero(both),
                responses.frame[both].reset_index(drop=True),
                responses.clusters[both],
                None if responses.weights is None else responses.weights[both],
                responses.dropped(given, truth),
            )
    return _elements(view, judge, people, raters)


def _elements(
    view: View, judge: int, people: People, raters: tuple[str, str]
) -> AgainstPeople | str:
    coded = view.coded
    worth = coded.worth
    if worth is None:
        return NO_POSITIVE
    codes = coded.codes[:, judge]
    given = np.where(codes >= 0, worth[np.maximum(codes, 0)], np.nan)
    truth = people.numbers
    if truth is None:
        truth = np.where(people.codes >= 0, worth[np.maximum(people.codes, 0)], np.nan)
    both = ~(np.isnan(given) | np.isnan(truth))
    if not both.any():
        return NOBODY_BOTH
    return AgainstPeople(
        raters,
        comparison_with(view, people),
        "element",
        None,
        given[both],
        truth[both],
        np.flatnonzero(both),
        coded.items[both].reset_index(drop=True),
        coded.clusters[both],
        None if coded.weights is None else coded.weights[both],
        dropped_between(codes, people.codes),
    )
