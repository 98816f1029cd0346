"""Any figure, refitted without each question in turn.

Slow and sure: nothing is assumed of the figure. It is what the closed forms of the coefficients are
checked against, and, since it draws nothing, what a bootstrap is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .cautions import too_few
from .clusters import Clusters, IntArray, check_confidence, jackknife_se
from .intervals import t_quantile
from .result import Estimate

__all__ = ["question_jackknife"]


def question_jackknife(
    figure: Callable[[IntArray], float],
    *,
    clusters: ArrayLike,
    name: str = "figure",
    confidence: float = 0.95,
) -> Estimate:
    """A figure with its standard error from leaving out each question.

    Parameters
    ----------
    figure
        Takes the numbers of the rows to keep, ``(m,)``, rising, and returns the figure; NaN where
        it is undefined.
    clusters
        ``(n,)`` integer codes of the rows' questions.
    name
        Of the figure.
    confidence
        Of the interval, in (0, 1).

    Returns
    -------
    Estimate
        ``estimate +- t se``, not cut to the figure's range. ``details``: ``se``
        (``sqrt((G-1)/G sum (t_k - mean t)^2)``), ``df`` and ``refits``, the values. No interval
        below 10 questions, nor where a refit is undefined.

    Raises
    ------
    InputError
        Clusters that aren't integer codes.

    References
    ----------
    Tukey 1958, Ann. Math. Stat. 29.
    """
    check_confidence(confidence)
    codes = np.asarray(clusters)
    groups = Clusters.of(codes, codes.size)
    out = Estimate(
        name,
        math.nan,
        confidence=confidence,
        method="question jackknife t, refitted without each question",
        n=groups.n,
        clusters=groups.count,
    )
    if groups.n == 0:
        return replace(out, reason="no items")
    theta = float(figure(np.arange(groups.n)))
    away = np.array(
        [float(figure(np.flatnonzero(groups.codes != g))) for g in range(groups.count)]
        if groups.count > 1
        else []
    )
    se, df = jackknife_se(away), groups.df
    out = replace(out, estimate=theta, details={"se": se, "df": df, "refits": away.tolist()})
    if math.isnan(theta):
        return replace(out, reason=f"{name} is undefined on these rows")
    reason = too_few(groups.count, 10, "question")
    if reason is None and not np.isfinite(away).all():
        reason = f"no interval: without one question {name} is undefined"
    if reason is not None:
        return replace(out, reason=reason)
    reach = t_quantile(confidence, df) * se
    return replace(out, low=theta - reach, high=theta + reach)
