"""The six intraclass correlations of McGraw and Wong, responses taken as independent and normal.

Which one is asked for changes the figure: of one rater or of the mean of all, raters as they come
(one-way), as consistent, or in absolute agreement. A judge's agreement with people is ``A,1``, by
question :func:`~accord.validate.concordance.icc`; the others are here to be compared with what
papers print.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from ..scoring.errors import SettingsError
from .clusters import FloatArray, check_confidence
from .concordance import icc
from .result import Estimate
from .score_intervals import score_table

__all__ = ["ICC_FORMS", "IccForm", "icc_form"]

IccForm = Literal["1,1", "1,k", "C,1", "C,k", "A,1", "A,k"]
ICC_FORMS: tuple[IccForm, ...] = ("1,1", "1,k", "C,1", "C,k", "A,1", "A,k")


def icc_form(ratings: ArrayLike, *, form: IccForm, confidence: float = 0.95) -> Estimate:
    """What share of the variance of a score, or of the mean of the scores, is the responses'?

    Parameters
    ----------
    ratings
        ``(n, k)`` scores of the same responses by two raters or more; no NaN: with cells missing
        see :func:`~accord.validate.mixed_icc.icc_missing`.
    form
        ``1``: raters differ from response to response (one-way); ``C``: the same raters, what
        they differ by on all responses does not count; ``A``: it counts. ``,1``: one rater;
        ``,k``: the mean of the k raters.
    confidence
        In (0, 1).

    Returns
    -------
    Estimate
        Named ``icc_1``, ``icc_k``, ``icc_c1``, ``icc_ck``, ``icc_a1``, ``icc_ak``; 1 at most,
        negative where raters agree less than by chance. F interval (Satterthwaite's degrees of
        freedom for ``A``). NaN with a reason for fewer than two responses or equal scores
        throughout; no interval where raters never differ (the ICC is 1) or the mean of raters has
        no lower end.

    Raises
    ------
    InputError
        Another shape, fewer than two raters, NaN or infinite scores.
    SettingsError
        An unknown form.

    References
    ----------
    McGraw & Wong 1996, Psychol. Methods 1, tables 4 and 7; Shrout & Fleiss 1979, Psychol. Bull. 86.
    """
    check_confidence(confidence)
    if form not in ICC_FORMS:
        raise SettingsError(f"form {form!r} is unknown", cure=", ".join(ICC_FORMS))
    scores = score_table(ratings)
    n, k = scores.shape
    name = "icc_" + form.replace("1,", "").replace(",", "").lower()
    if form.startswith("1"):
        single = _one_way(scores, confidence)
    else:
        kind: Literal["agreement", "consistency"] = (
            "agreement" if form.startswith("A") else "consistency"
        )
        single = icc(
            scores,
            form=kind,
            clusters=np.arange(n),
            rng=0,
            resamples=0,
            confidence=confidence,
            unit="item",
        )
    out = replace(
        single, name=name, details={**single.details, "raters": k, "form": f"ICC({form})"}
    )
    if form.endswith("1") or not math.isfinite(out.estimate):
        return out
    of_mean = _of_mean(out.estimate, k)
    out = replace(out, estimate=of_mean, low=_of_mean(out.low, k), high=_of_mean(out.high, k))
    if not math.isfinite(of_mean):
        why = "the mean of raters has no variance: undefined"
        return replace(out, low=math.nan, high=math.nan, reason=why)
    if out.reason is None and not math.isfinite(out.low):
        return replace(out, high=math.nan, reason="no interval: the low end has no bound")
    return out


def _of_mean(single: float, k: int) -> float:
    """Spearman and Brown's reliability of the mean of k raters from that of one."""
    bottom = 1 + (k - 1) * single
    return k * single / bottom if bottom > 1e-12 else math.nan


def _one_way(scores: FloatArray, confidence: float) -> Estimate:
    n, k = scores.shape
    out = Estimate(
        "icc_1",
        math.nan,
        confidence=confidence,
        method="McGraw-Wong F on n; assumes independent, normal responses",
        unit="item",
        n=n,
        clusters=n,
    )
    if n < 2:
        return replace(out, reason="no items" if n == 0 else "one response: nothing to correlate")
    size = float(np.abs(scores).max()) or 1.0
    v = (scores - scores.mean()) / size
    row = v.mean(axis=1)
    between = k * float((row**2).sum()) / (n - 1)
    within = float(((v - row[:, None]) ** 2).sum()) / (n * (k - 1))
    if between + within < 1e-24:
        return replace(out, reason="all scores are constant: a correlation is undefined")
    estimate = (between - within) / (between + (k - 1) * within)
    out = replace(out, estimate=estimate)
    if within < 1e-24:
        return replace(out, reason="all scores are equal: no interval")
    q, ratio, df = 0.5 + confidence / 2, between / within, n * (k - 1)
    low, high = ratio / float(fdtri(n - 1, df, q)), ratio * float(fdtri(df, n - 1, q))
    return replace(out, low=(low - 1) / (low + k - 1), high=(high - 1) / (high + k - 1))
