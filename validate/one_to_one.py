"""Universe F1 of a response by one rater's verdicts: the greedy rule of the scores, on labels.

A prediction stands in several pairs, one beside each gold element that could be its, so correct
pairs can't be counted: two of them may want the same gold element. Each prediction in order takes
the first free gold element that the rater called the same; pairs by rule match unless the rater
says otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..scoring.metrics import precision_recall_f1
from .clusters import FloatArray, IntArray
from .coding import UNSCORED, UNSURE_LEFT_OUT, Coded
from .responses import Responses

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MEASURE", "OneToOne", "one_to_one"]

MEASURE = "Universe F1"
_NEEDS = ("how", "reference_index", "predicted_index", "universe_open", "universe_settled")
_SIZES = ("universe_reference", "universe_predicted")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OneToOne(Responses):
    """Responses whose pairs are candidates for a one-to-one match.

    Parameters
    ----------
    order
        Items, response by response, in the order of predictions and then of gold elements.
    bounds
        ``(n_responses + 1,)`` where each response begins in ``order``.
    pairs
        ``(n_items, 2)`` positions of gold element and prediction; -1 without one.
    candidate, settled
        ``(n_items,)`` whether the pair is open, or one by rule.
    n_settled
        ``(n_responses,)`` pairs by rule in the study, in the table or not.
    elements
        ``(n_responses, 2)`` gold elements and predictions.
    """

    order: IntArray
    bounds: IntArray
    pairs: IntArray
    candidate: NDArray[np.bool_]
    settled: NDArray[np.bool_]
    n_settled: IntArray
    elements: IntArray

    def scores(self, codes: IntArray, extra: NDArray[np.bool_], coded: Coded) -> FloatArray:
        """``(n_responses,)`` Universe F1 by one rater's codes.

        A verdict that is unsure or could not be read matches nothing, as in the scores. NaN where
        an open pair is not in the table, or one that the greedy order comes to is not rated.
        """
        out = np.full(self.sizes.size, math.nan)
        if coded.worth is None:
            return out
        rated = codes >= 0
        worth = np.where(rated, coded.worth[np.maximum(codes, 0)], 0.0)
        known = rated | (codes == UNSURE_LEFT_OUT) | (codes == UNSCORED)
        for response in np.flatnonzero(~self.incomplete):
            items = self.order[self.bounds[response] : self.bounds[response + 1]]
            found = self._matches(items, known, worth)
            if found is None:
                continue
            denied = self.settled[items] & rated[items] & (worth[items] == 0)
            matches = found + int(self.n_settled[response]) - int(denied.sum())
            reference, predicted = self.elements[response].tolist()
            out[response] = precision_recall_f1(matches, predicted, reference).f1
        return out

    def _matches(self, items: IntArray, known: NDArray[np.bool_], worth: FloatArray) -> int | None:
        """Open pairs that match in the greedy order; None where a verdict is missing for it."""
        taken: set[int] = set()
        placed: set[int] = set()
        for item in items[self.candidate[items]].tolist():
            reference, predicted = self.pairs[item].tolist()
            if predicted in placed or reference in taken:
                continue
            if not known[item]:
                return None
            if worth[item] > 0:
                taken.add(reference)
                placed.add(predicted)
        return len(placed)

    def from_values(
        self,
        value: FloatArray,
        rated: NDArray[Any],
        *,
        ignored: NDArray[Any] | None = None,
        credited: NDArray[Any] | None = None,
        short: NDArray[Any] | None = None,
    ) -> FloatArray:
        """NaN: the mean of several people's verdicts on a pair matches nothing or something."""
        return np.full(self.sizes.size, math.nan)


def one_to_one(responses: Responses, items: pd.DataFrame) -> Responses:
    """The responses with one-to-one scores, where the items are pairs of an enumeration.

    Parameters
    ----------
    items
        The items in the order of ``responses.of_item``.
    """
    there = {*_NEEDS, *_SIZES} <= set(items.columns) and responses.measure == "share_correct"
    if not there or items[[*_SIZES]].isna().any(axis=None):
        return responses
    count = responses.sizes.size
    first = np.unique(responses.of_item, return_index=True)[1]

    def each(name: str) -> IntArray:
        return np.asarray(items[name].to_numpy()[first], dtype=np.int64)

    candidate = (items["how"] == "candidate").to_numpy(dtype=bool)
    pairs = items[["reference_index", "predicted_index"]].to_numpy(dtype=np.int64)
    order = np.lexsort((pairs[:, 0], pairs[:, 1], responses.of_item))
    held = np.bincount(responses.of_item, candidate, minlength=count)
    own = {one.name: getattr(responses, one.name) for one in fields(responses)}
    own |= {"measure": MEASURE, "incomplete": held < each("universe_open")}
    return OneToOne(
        **own,
        order=np.asarray(order, dtype=np.int64),
        bounds=np.concatenate([[0], np.cumsum(responses.sizes)]).astype(np.int64),
        pairs=pairs,
        candidate=candidate,
        settled=(items["how"] == "rule").to_numpy(dtype=bool),
        n_settled=each("universe_settled"),
        elements=np.stack([each(name) for name in _SIZES], axis=1),
    )
