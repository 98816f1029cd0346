"""Response and system level: one score a response and rater, from the same function for all.

Where the numbers of reference and predicted elements are known the score is F1. Where they are
not it is the share of elements that are correct, named so: a share is no F1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..scoring.errors import InputError
from ..scoring.metrics import f1_array
from ..scoring.records import NO_SYSTEM
from ..study.identity import system_label
from .clusters import FloatArray, IntArray
from .coding import EXTRA_LEFT_OUT, IGNORED, UNSCORED, UNSURE_LEFT_OUT, Coded
from .differences import bias
from .number_figures import NUMBERS, compare_numbers
from .panel import Comparison, Figures, finish
from .panel_settings import PanelSettings
from .result import Estimate

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Responses", "compare_responses", "compare_systems", "gather_responses", "undefined"]

NO_RESPONSE = "no response is known"
NAME_RESPONSE = f"{NO_RESPONSE}: name its columns with --response COL,COL"
NO_POSITIVE = "no label counts as right: name one with --positive LABEL"


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """Which items make up which response, and how its score is taken.

    Parameters
    ----------
    frame
        One row a response: ``response_id, question_id, system``.
    of_item
        ``(n_items,)`` the response of each item.
    sizes
        ``(n_responses,)`` items in each.
    n_reference, n_predicted
        ``(n_responses,)`` elements, or None where unknown.
    incomplete
        ``(n_responses,)`` whether the table holds fewer items than were predicted.
    unmatched
        ``(n_items,)`` predicted elements without a reference element, as far as is known.
    clusters, weights
        Of the responses; weights are the mean of their items'.
    labelled
        ``(n_responses,)`` whether a person has rated any of its items; others take no part.
    measure
        ``F1``, ``Universe F1`` (:mod:`.one_to_one`), ``share_correct`` or ``mean_rating``.
    shortens
        Whether a verdict that is left out (unsure, unscored) takes its pair out of both counts, as
        in a study's scores. Of a table it is not known which elements have a partner, so there
        the response has no score.
    """

    frame: pd.DataFrame
    of_item: IntArray
    sizes: IntArray
    n_reference: FloatArray | None
    n_predicted: FloatArray | None
    incomplete: NDArray[Any]
    unmatched: NDArray[Any]
    clusters: IntArray
    weights: FloatArray | None
    labelled: NDArray[np.bool_]
    measure: str
    shortens: bool = False

    def scores(self, codes: IntArray, extra: NDArray[np.bool_], coded: Coded) -> FloatArray:
        """``(n_responses,)`` scores from the codes of one rater; NaN unless all items are rated.

        What ``extra`` says is correct but missing from the reference counts as in
        :func:`~accord.scoring.metrics.verdict_counts`: ignored, it is no predicted element;
        credited, the reference has one more.
        """
        if coded.worth is None:
            return np.full(self.sizes.size, math.nan)
        rated = codes >= 0
        ignored = (codes == EXTRA_LEFT_OUT) | (codes == IGNORED)
        value = np.where(rated, coded.worth[np.maximum(codes, 0)], 0.0)
        credited = extra & (value > 0)
        sure = rated | ignored
        if coded.values is None:
            # an element without a partner is wrong, whether or not somebody is sure of it
            value[self.unmatched & ~credited] = 0.0
            doubted = (codes == UNSURE_LEFT_OUT) | (codes == UNSCORED)
            sure |= doubted & (self.unmatched | self.shortens)
            short = doubted & ~self.unmatched if self.shortens else None
            return self.from_values(value, sure, ignored=ignored, credited=credited, short=short)
        return self.from_values(value, sure, ignored=ignored, credited=credited)

    def from_values(
        self,
        value: FloatArray,
        rated: NDArray[Any],
        *,
        ignored: NDArray[Any] | None = None,
        credited: NDArray[Any] | None = None,
        short: NDArray[Any] | None = None,
    ) -> FloatArray:
        """As :meth:`scores`, from each item's worth and whether it has one.

        ``ignored`` items leave the predicted elements, ``short`` ones both sides, and ``credited``
        ones join the reference's.
        """
        count = self.sizes.size
        total: FloatArray = np.asarray(
            np.bincount(self.of_item, value, minlength=count), dtype=np.float64
        )
        whole = (np.bincount(self.of_item, rated, minlength=count) == self.sizes) & ~self.incomplete
        out = np.full(count, math.nan)
        if self.n_reference is None or self.n_predicted is None:
            left = (self.sizes - self._count(ignored) - self._count(short))[whole]
            out[whole] = np.divide(
                total[whole], left, out=np.full(left.size, math.nan), where=left > 0
            )
            return out
        gone = self._count(short)
        reference = (self.n_reference + self._count(credited) - gone)[whole]
        predicted = (self.n_predicted - self._count(ignored) - gone)[whole]
        self._check(total[whole], predicted, reference, np.flatnonzero(whole))
        out[whole] = f1_array(total[whole], predicted, reference)
        out[whole] = np.where((predicted == 0) & (gone[whole] > 0), math.nan, out[whole])
        return out

    def _count(self, items: NDArray[Any] | None) -> FloatArray:
        """``(n_responses,)`` how many of these items each response has."""
        if items is None:
            return np.zeros(self.sizes.size)
        counted = np.bincount(self.of_item, items, minlength=self.sizes.size)
        return np.asarray(counted, dtype=np.float64)

    def _check(
        self, correct: FloatArray, predicted: FloatArray, reference: FloatArray, rows: NDArray[Any]
    ) -> None:
        bad = correct > np.minimum(predicted, reference)
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            name = self.frame["response_id"].iloc[int(rows[at])]
            raise InputError(
                f"response {name!r}: {correct[at]:g} elements are rated correct, but it has"
                f" n_predicted {predicted[at]:g} and n_reference {reference[at]:g}",
                cure="check the two counts, or leave both columns out",
            )

    def dropped(
        self, *columns: FloatArray, among: NDArray[np.bool_] | None = None
    ) -> dict[str, int]:
        """Responses (those ``among``) without a score by all of the raters: reason → count."""
        missing = np.any([np.isnan(column) for column in columns], axis=0) & self.labelled
        if among is not None:
            missing &= among
        out: dict[str, int] = {}
        if self.n_reference is not None:
            empty = missing & (self.n_reference == 0)
            out["empty reference"] = int(empty.sum())
            missing &= ~empty
        out["not all of its items in the table"] = int((missing & self.incomplete).sum())
        out["partly rated"] = int((missing & ~self.incomplete).sum())
        return {reason: number for reason, number in out.items() if number}


def gather_responses(coded: Coded, *, of_table: bool = True) -> Responses | str:
    """The responses, or the reason why there are none; of a table it names the option that helps.

    Raises
    ------
    InputError
        Counts of elements that differ within a response, or a response in several clusters.
    """
    items = coded.items
    if coded.worth is None:
        return NO_POSITIVE
    if items["response_id"].isna().any():
        return NAME_RESPONSE if of_table else NO_RESPONSE
    import pandas as pd

    found, names = pd.factorize(items["response_id"])
    of_item: IntArray = np.asarray(found, dtype=np.int64)
    first = np.unique(of_item, return_index=True)[1]
    frame = items.iloc[first][["response_id", "question_id", "system"]].reset_index(drop=True)
    if "variant" in items.columns:
        variants = items.iloc[first]["variant"]
        frame["system"] = [
            system_label(system, variant if isinstance(variant, str) else "")
            for system, variant in zip(frame["system"], variants, strict=True)
        ]
    sizes = np.bincount(of_item).astype(np.int64)
    counts: dict[str, FloatArray] = {}
    if coded.values is None:
        for name in ("n_reference", "n_predicted"):
            if name in items.columns and items[name].notna().all():
                counts[name] = _one_value(items[name].to_numpy(dtype=float), of_item, names, name)
    both = len(counts) == 2
    incomplete = sizes < counts["n_predicted"] if both else np.zeros(sizes.size, dtype=bool)
    clusters: IntArray = np.arange(sizes.size, dtype=np.int64)
    if coded.noun != "item":  # else each response is its own cluster
        clusters = _one_value(coded.clusters, of_item, names, coded.noun).astype(np.int64)
    weights = None
    if coded.weights is not None:
        weights = np.bincount(of_item, coded.weights) / sizes
    responses = Responses(
        frame=frame,
        of_item=of_item,
        sizes=sizes,
        n_reference=counts["n_reference"] if both else None,
        n_predicted=counts["n_predicted"] if both else None,
        incomplete=incomplete,
        unmatched=items["unmatched"].to_numpy(dtype=bool)
        if "unmatched" in items.columns
        else np.zeros(len(items), dtype=bool),
        clusters=clusters,
        weights=weights,
        labelled=np.bincount(of_item, coded.labelled, minlength=sizes.size) > 0,
        measure="mean_rating" if coded.values is not None else "F1" if both else "share_correct",
        shortens=not of_table,
    )
    from .one_to_one import one_to_one

    return one_to_one(responses, items)


def _one_value(values: NDArray[Any], of_item: IntArray, names: Any, what: str) -> FloatArray:
    """The value that all items of a response share."""
    first = np.unique(of_item, return_index=True)[1]
    out = values[first]
    bad = values != out[of_item]
    if bad.any():
        name = names[of_item[int(np.flatnonzero(bad)[0])]]
        raise InputError(
            f"the items of response {name!r} differ in {what}",
            cure="one response has one; name the response's columns with --response COL,COL",
        )
    return np.asarray(out, dtype=float)


def compare_responses(
    first: FloatArray,
    second: FloatArray,
    responses: Responses,
    noun: str,
    settings: PanelSettings,
    *,
    raters: tuple[str, str],
    comparison: Comparison,
    figures: Figures = "all",
) -> list[Estimate]:
    """Every figure of two raters' response scores, on those that both have."""
    both = ~(np.isnan(first) | np.isnan(second))
    found = compare_numbers(
        first[both],
        second[both],
        clusters=responses.clusters[both],
        weights=None if responses.weights is None else responses.weights[both],
        settings=settings,
        figures=figures,
    )
    dropped = responses.dropped(first, second)
    details = {"measure": responses.measure}
    if (warning := _short_ones(both, responses)) is not None:
        found = [replace(one, warnings=(*one.warnings, warning)) for one in found]
    return [
        finish(
            one,
            noun,
            raters=raters,
            comparison=comparison,
            level="response",
            dropped=dropped,
            details=details,
            weighted=responses.weights is not None,
        )
        for one in found
    ]


def _short_ones(both: NDArray[np.bool_], responses: Responses) -> str | None:
    """Said where items were drawn one by one: a long response is hardly ever rated as a whole."""
    partly = responses.labelled & ~both
    if not both.any() or both.sum() >= partly.sum():
        return None
    size = responses.sizes if responses.n_predicted is None else responses.n_predicted
    kept, left = float(size[both].mean()), float(size[partly].mean())
    if left <= kept:
        return None
    return (
        f"only {int(both.sum())} of {int(responses.labelled.sum())} responses are rated as a whole,"
        f" and these are the short ones ({kept:.1f} items, the others {left:.1f}):"
        " draw whole questions instead"
    )


def compare_systems(
    judge: FloatArray,
    people: FloatArray,
    responses: Responses,
    noun: str,
    settings: PanelSettings,
    *,
    raters: tuple[str, str],
    comparison: Comparison,
) -> list[Estimate]:
    """Each system's mean score by the judge and by people on the same responses, and the bias."""
    both = ~(np.isnan(judge) | np.isnan(people))
    out: list[Estimate] = []
    systems = responses.frame["system"]
    for system in _systems(systems):
        own = (systems == system).to_numpy()
        here, dropped = both & own, responses.dropped(judge, people, among=own)
        details = {"system": system, "measure": responses.measure}
        weights = None if responses.weights is None else responses.weights[here]
        for rater, scores in zip(raters, (judge, people), strict=True):
            out.append(
                Estimate(
                    name="mean_score",
                    estimate=float(np.average(scores[here], weights=weights))
                    if here.any()
                    else math.nan,
                    level="system",
                    raters=(rater,),
                    confidence=settings.confidence,
                    method="mean over responses" + ("; weighted" if weights is not None else ""),
                    unit=noun if settings.unit == "question" else "item",
                    n=int(here.sum()),
                    clusters=int(np.unique(responses.clusters[here]).size),
                    dropped=dropped,
                    reason="the interval is given for the difference"
                    if here.any()
                    else "no response of this system is rated by both",
                    details={
                        "comparison": comparison,
                        **({"weighted": True} if weights is not None else {}),
                        **details,
                    },
                )
            )
        found = bias(
            judge[here],
            people[here],
            clusters=responses.clusters[here],
            weights=weights,
            confidence=settings.confidence,
            unit=settings.unit,
            **settings.interval,
        )
        out.append(
            finish(
                found,
                noun,
                raters=raters,
                comparison=comparison,
                level="system",
                dropped=dropped,
                details=details,
                weighted=weights is not None,
            )
        )
    return out


def undefined(
    reason: str,
    settings: PanelSettings,
    *,
    comparison: Comparison,
    names: Sequence[str] = NUMBERS,
) -> list[Estimate]:
    """The response level where it does not exist: NaN with the reason, which names the cure."""
    return [
        Estimate(
            name=name,
            estimate=math.nan,
            level="response",
            confidence=settings.confidence,
            reason=reason,
            details={"comparison": comparison},
        )
        for name in names
    ]


def _systems(column: pd.Series) -> list[str]:
    return sorted({name for name in column.tolist() if name and name != NO_SYSTEM})


def score_rows(
    responses: Responses, scores: Mapping[str, FloatArray], people: str
) -> list[dict[str, Any]]:
    """One row a judge and response that people rated, with its score by each of the two.

    The keys are ``rater, question_id, system, response_id, judge, human``.
    ``scores`` has each rater's, ``people`` names whose stand for people.
    """
    rated = np.flatnonzero(responses.labelled)
    names = [str(name) for name in responses.frame.columns]
    columns = [responses.frame[name].iloc[rated].tolist() for name in responses.frame.columns]
    about = [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
    human = _known(scores[people][rated])
    return [
        {"rater": rater, **row, "judge": judge, "human": person}
        for rater, column in scores.items()
        if rater != people
        for row, judge, person in zip(about, _known(column[rated]), human, strict=True)
    ]


def _known(scores: FloatArray) -> list[float | None]:
    return [None if math.isnan(score) else score for score in scores.tolist()]
