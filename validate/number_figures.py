"""The figures of two raters' numbers: do they move together, do they agree, how far are they apart?

One never stands for another: a judge that is always 0.2 too high has a correlation of 1, a small
mean distance hides a few large ones, and a mean difference of 0 hides all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .clusters import FloatArray, IntArray
from .concordance import ccc, icc
from .correlation import pearson, spearman
from .differences import bias, limits_of_agreement, mad, rmse
from .panel import Figures
from .panel_settings import PanelSettings
from .rank_correlation import kendall_tau_b
from .result import Estimate

__all__ = ["NUMBERS", "compare_numbers"]

NUMBERS = (
    *("pearson", "spearman", "kendall_tau_b", "ccc", "icc_a1", "icc_c1"),
    *("mad", "rmse", "bias", "limit_of_agreement_lower", "limit_of_agreement_upper"),
)
"""The names of all of them, in order."""


def compare_numbers(
    first: FloatArray,
    second: FloatArray,
    *,
    clusters: IntArray,
    weights: FloatArray | None,
    settings: PanelSettings,
    ranks_only: bool = False,
    figures: Figures = "all",
) -> list[Estimate]:
    """Correlation, concordance and distance of two raters' numbers (signed: first − second).

    Parameters
    ----------
    first, second
        ``(n,)`` numbers of the same items or responses; no NaN.
    clusters, weights
        ``(n,)`` of these.
    settings
        Confidence, resampling unit, method and draws are taken.
    ranks_only
        The numbers are an order only: what needs distances is left out.
    figures
        ``main`` leaves out the two ICC, RMSE and the limits of agreement.

    Returns
    -------
    list of Estimate
        Those of :data:`NUMBERS` that were asked for.
    """
    shared: dict[str, Any] = {
        "clusters": clusters,
        "weights": weights,
        "confidence": settings.confidence,
        "unit": settings.unit,
        **settings.interval,
    }
    ranks = (
        spearman(first, second, **shared),
        kendall_tau_b(first, second, **shared),
    )
    if ranks_only:
        return list(ranks)
    out = [
        pearson(first, second, **shared),
        *ranks,
        ccc(first, second, **shared),
        mad(first, second, **shared),
        bias(first, second, **shared),
    ]
    if figures == "all":
        out += _further(first, second, shared)
    return sorted(out, key=lambda one: NUMBERS.index(one.name))


def _further(first: FloatArray, second: FloatArray, shared: dict[str, Any]) -> Iterator[Estimate]:
    both = np.column_stack([first, second])
    # Papers call these forms by McGraw and Wong's names.
    yield replace(icc(both, form="agreement", **shared), name="icc_a1")
    yield replace(icc(both, form="consistency", **shared), name="icc_c1")
    yield rmse(first, second, **shared)
    yield from limits_of_agreement(first, second, **shared)
