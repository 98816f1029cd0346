"""The score of each system by one rater's labels, with its interval: nobody to compare with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring.records import NO_SYSTEM
from .clusters import FloatArray
from .differences import bias
from .panel import finish
from .panel_settings import PanelSettings
from .proportions import clustered_proportion

if TYPE_CHECKING:
    from .responses import Responses
    from .result import Estimate

__all__ = ["systems_of_one_rater"]


def systems_of_one_rater(
    scores: FloatArray,
    responses: Responses,
    noun: str,
    settings: PanelSettings,
    *,
    rater: str,
) -> list[Estimate]:
    """Each system's mean score over its responses.

    Parameters
    ----------
    scores
        ``(n_responses,)`` of :meth:`~accord.validate.responses.Responses.scores`; NaN where a
        response has none, and takes no part.
    noun
        What the clusters are called.

    Returns
    -------
    list of Estimate
        ``mean_score`` at system level, ``details["system"]`` and ``details["measure"]``, in the
        order of the systems' names. A share or F1 has the interval of
        :func:`~accord.validate.proportions.clustered_proportion`, a mean rating that of
        :func:`~accord.validate.differences.bias` from 0.
    """
    systems = responses.frame["system"]
    found = []
    for system in sorted({name for name in systems.tolist() if name and name != NO_SYSTEM}):
        own = (systems == system).to_numpy()
        here = ~np.isnan(scores) & own
        shared: dict[str, Any] = {
            "clusters": responses.clusters[here],
            "weights": None if responses.weights is None else responses.weights[here],
            "confidence": settings.confidence,
            "unit": settings.unit,
        }
        if responses.measure == "mean_rating":
            one = bias(scores[here], np.zeros(int(here.sum())), **shared)
        else:
            one = clustered_proportion(scores[here], **shared)
        found.append(
            finish(
                replace(one, name="mean_score"),
                noun,
                raters=(rater,),
                comparison="people",
                level="system",
                dropped=responses.dropped(scores, among=own),
                details={"system": system, "measure": responses.measure},
                weighted=responses.weights is not None,
            )
        )
    return found
