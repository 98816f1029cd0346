"""The intervals that correlations of scores share, and the checks on scores.

The default is the bootstrap-t on Fisher's z over whole questions; without resampling, or where it
can't be had, the jackknife t on the same scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import InputError
from ..study.ratings import LARGEST_RATING
from .cautions import FEW_DIFFERING, data_warnings, too_few
from .clusters import (
    Clusters,
    FloatArray,
    Unit,
    effective_size,
    unit_mean_weights,
    without_rounding,
)
from .intervals import FISHER
from .methods import Asked, Method, few_disagreements, with_limits
from .proportions import clustered_proportion
from .resampling import Form
from .result import Estimate

__all__ = [
    "association",
    "common_scale",
    "equal_share",
    "few_differing",
    "paired_scores",
    "score_table",
]

_LEAST = 10
"""Fewest questions for which an interval is given."""
_RELIABLE = 20
"""Fewest questions at which the interval was seen to cover well."""
_BOOTSTRAPS = 100
"""Questions below which percentile and BCa intervals of correlations were seen to cover badly."""


def paired_scores(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Two equally long arrays of finite scores; differences that are rounding are taken out.

    Scores computed in two ways may differ in the last digit and yet be the same score; the second
    is then set to the first.

    Raises
    ------
    InputError
        No numbers, other shapes, or a score that is NaN, infinite or beyond 1e302 in size.
    """
    try:
        a, b = np.asarray(first, dtype=float), np.array(second, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"the scores are no numbers: {error}", cure="give two lists of numbers"
        ) from None
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"the two scores have shapes {a.shape} and {b.shape}")
    bad = ~(np.isfinite(a) & np.isfinite(b))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"row {row + 1}: a score is missing or infinite",
            cure="leave out and count what is missing before scores are compared",
        )
    if a.size:
        largest = max(float(np.abs(a).max()), float(np.abs(b).max()))
        if largest > LARGEST_RATING:
            raise InputError(
                f"a score of {largest:g} is beyond {LARGEST_RATING:g}", cure="give smaller units"
            )
        tiny = 1e-12 * largest
        same = np.abs(a - b) <= tiny
        b[same] = a[same]
    return a, b


def score_table(ratings: ArrayLike) -> FloatArray:
    """Scores ``(n, raters)`` of two raters or more, finite; rounding taken out.

    Raises
    ------
    InputError
        Another shape, or a score that is NaN or infinite.
    """
    raw = np.asarray(ratings, dtype=float)
    if raw.ndim != 2 or raw.shape[1] < 2:
        raise InputError(f"scores are (responses, 2 or more raters), got shape {raw.shape}")
    rest = [paired_scores(raw[:, 0], raw[:, j])[1] for j in range(1, raw.shape[1])]
    return np.column_stack([raw[:, 0], *rest])


def common_scale(scores: FloatArray, w: FloatArray) -> FloatArray:
    """Scores ``(n, raters)`` all moved and scaled alike, so that sums of squares lose no digits."""
    v = scores - (w @ scores).mean() / w.sum()
    return np.asarray(v / np.abs(v).max(), dtype=float)


def equal_share(
    x: FloatArray,
    y: FloatArray,
    clusters: ArrayLike,
    weights: ArrayLike | None,
    confidence: float,
    unit: Unit,
) -> Estimate:
    """The share of responses with equal scores, with its interval: what is left to say of r = 1."""
    share = clustered_proportion(
        x == y, clusters=clusters, weights=weights, confidence=confidence, unit=unit
    )
    return replace(share, name="equal")


def association(
    name: str,
    symbol: str,
    scores: FloatArray,
    make: Callable[[FloatArray, Clusters], Form],
    *,
    clusters: ArrayLike,
    weights: ArrayLike | None,
    asked: Asked,
    default: Method = "bootstrap-t",
    independent: Callable[[Estimate, FloatArray], Estimate] | None,
) -> Estimate:
    """A correlation with its interval on Fisher's z.

    Parameters
    ----------
    name, symbol
        The figure's name, and what a sentence calls it.
    scores
        ``(n, raters)``, of :func:`paired_scores` or :func:`score_table`.
    make
        The correlation from weights of mean 1 ``(n,)`` and the questions.
    asked
        The interval; by default the bootstrap-t, or the jackknife t where 0 resamples are asked
        for or ``default`` says so.
    independent
        The default interval that takes responses as independent, from the estimate and the
        weights; None for the jackknife with each response its own cluster.
    """
    confidence, unit = asked.confidence, asked.unit
    n = len(scores)
    groups = Clusters.of(clusters, n)
    w = unit_mean_weights(weights, n)
    out = Estimate(name, math.nan, confidence=confidence, unit=unit, n=n, clusters=groups.count)
    if n < 2:
        why = "no items" if n == 0 else "one response: nothing to correlate"
        return replace(out, reason=why)
    unequal = (scores != scores[:, :1]).any(axis=1)
    differing = int(unequal.sum())
    said = data_warnings(groups, w, df=None, unit=unit)
    out = replace(out, warnings=tuple(said), details={"differing": differing})
    if differing == 0:
        share = clustered_proportion(
            ~unequal, clusters=clusters, weights=weights, confidence=confidence, unit=unit
        )
        out = replace(out, details={**out.details, "equal": replace(share, name="equal")})
    reason = _constant(scores)
    if reason is not None:
        return replace(out, reason=reason)
    form = make(w, groups)
    theta = form.value()
    if not math.isfinite(theta):
        return replace(
            out,
            reason="no variance to divide by: a score is constant but for rounding, or they cancel",
        )
    if abs(theta) < 1 + 1e-9:
        theta = without_rounding(min(max(theta, -1.0), 1.0))
    se, design = form.linearised()
    df = groups.df if unit == "question" else float(n - 1)
    out = replace(
        out,
        estimate=theta,
        design_effect=design,
        warnings=tuple(
            [*data_warnings(groups, w, df=df, unit=unit), *few_differing(symbol, differing)]
        ),
        details={**out.details, "se": se, "effective_n": effective_size(n, design)},
    )
    if 1 - abs(theta) < 1e-12:
        line = "all scores are equal" if differing == 0 else f"{name} is {theta:+.0f} exactly"
        if theta < -1 - 1e-9:
            line = f"{name} is below -1"
        return replace(out, reason=f"{line}: no interval")
    by_default = asked.method == "default"
    if by_default and unit == "item" and independent is not None:
        return independent(out, w)
    out = replace(out, details={**out.details, "df": df})
    if unit == "question" and groups.count < _RELIABLE:
        said = [*out.warnings, "correlation intervals below 20 questions are unreliable"]
        out = replace(out, warnings=tuple(said))
    count = groups.count if unit == "question" else n
    reason = too_few(count, _LEAST, unit)
    if reason is not None:
        return replace(out, reason=reason)
    chosen = asked.method
    if by_default:
        drawn = asked.draws is not None and asked.draws.resamples > 0 and unit == "question"
        chosen = default if drawn else "jackknife"
    elif chosen in ("percentile", "bca"):
        out = replace(out, warnings=(*out.warnings, *_bootstrapped(chosen, count, differing)))
    if unit == "item":
        form = make(w, Clusters.each_item(n))
    return with_limits(
        out, form, chosen, asked, FISHER, df, "responses", constant="a score is constant"
    )


def _constant(scores: FloatArray) -> str | None:
    """Why no correlation is defined; None where it is."""
    # what varies in the last digits only is rounding, and would correlate as such
    flat = np.ptp(scores, axis=0) <= 1e-12 * np.abs(scores).max(axis=0)
    if flat.all():
        which = "both scores are" if flat.size == 2 else "all scores are"
    elif flat.any() and flat.size == 2:
        which = f"the {'first' if flat[0] else 'second'} score is"
    else:
        return None
    return f"{which} constant: a correlation is undefined"


def few_differing(symbol: str, differing: int) -> list[str]:
    """What a figure of scores says of itself where the judge hardly ever differs from people."""
    if 0 < differing < FEW_DIFFERING:
        return [f"{symbol} rests on {differing} differing responses (fewer than 10)"]
    return []


def _bootstrapped(method: Method, count: int, differing: int) -> list[str]:
    """What a percentile or BCa interval of a correlation must say of itself."""
    said = few_disagreements(method, differing, FEW_DIFFERING)
    if said or count >= _BOOTSTRAPS:
        return said
    return [
        "percentile and BCa intervals of correlations cover badly below 100 questions: 61 to 92 %"
        " measured where they say 95 %"
    ]
