"""Do scores agree, and not only rise together: Lin's concordance, intraclass correlation.

Both are functions of per-question sums; the interval is that of Pearson's r, the bootstrap-t on
Fisher's z over whole questions.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from ..scoring.errors import SettingsError
from .clusters import Clusters, FloatArray, Sums, Unit, kish
from .intervals import z_quantile
from .lin_interval import lin_se
from .methods import Asked, Method
from .resampling import Source, Summed
from .result import Estimate
from .score_intervals import association, common_scale, paired_scores, score_table

__all__ = ["Form", "ccc", "icc"]

Form = Literal["agreement", "consistency"]


def ccc(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: ArrayLike,
    rng: Source,
    resamples: int = 1999,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
) -> Estimate:
    """How closely do two scores lie on the line of equality (Lin's concordance correlation)?

    Parameters and errors as :func:`~accord.validate.correlation.pearson`.

    Returns
    -------
    Estimate
        In [-1, 1], nearer to 0 than Pearson's r: a judge that is 0.2 too high has r = 1 and a
        lower concordance. Variances have divisor n. NaN with a reason for fewer than two
        responses or a constant score; no interval where all scores are equal, below 10 questions,
        or where it hangs on one question. ``unit="item"``: Lin's interval, which takes responses
        as independent and normal. ``details`` as Pearson's, and ``pearson`` and
        ``bias_correction``, whose product it is.

    References
    ----------
    Lin 1989, Biometrics 45, and the correction of 2000.
    """
    one, two = paired_scores(x, y)
    scores = np.column_stack([one, two])

    def make(w: FloatArray, groups: Clusters) -> Summed:
        a, b = common_scale(scores, w).T
        u, v = a + b, a - b
        columns = np.column_stack([np.ones_like(u), u, v, u * u, v * v])
        return Summed(Sums(columns * w[:, None], groups), _ccc)

    def lin(out: Estimate, w: FloatArray) -> Estimate:
        how = "Lin's Fisher z on n; assumes independent, normal responses"
        size = kish(w)
        if size < 4:
            return replace(out, method=how, reason=f"no interval: {size:g} responses (at least 4)")
        sx, sy, shift, r = _moments(scores, w)
        rho = out.estimate
        if not abs(r) >= 1e-12:
            return replace(out, method=how, reason="no interval: the scores are uncorrelated")
        reach = z_quantile(out.confidence) * lin_se(rho, r, shift * shift / (sx * sy), size)
        centre, reach = math.atanh(rho), reach / (1 - rho**2)
        return replace(
            out, low=math.tanh(centre - reach), high=math.tanh(centre + reach), method=how
        )

    out = association(
        "ccc",
        "concordance",
        scores,
        make,
        clusters=clusters,
        weights=weights,
        asked=Asked.of(method, confidence, unit, rng, resamples, default="bootstrap-t"),
        independent=lin,
    )
    if not math.isfinite(out.estimate):
        return out
    w = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=float)
    sx, sy, shift, r = _moments(scores, w)
    correction = 2 * sx * sy / (sx * sx + sy * sy + shift * shift)
    return replace(out, details={**out.details, "pearson": r, "bias_correction": correction})


def icc(
    ratings: ArrayLike,
    *,
    form: Form,
    clusters: ArrayLike,
    rng: Source,
    resamples: int = 1999,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
) -> Estimate:
    """What share of the variance of one rater's score is that of the responses?

    Parameters
    ----------
    ratings
        ``(n, raters)`` scores of the same responses by the same two raters or more; no NaN: the
        caller leaves out responses that lack a rating, and counts them.
    form
        ``agreement`` (ICC(A,1): raters who score higher than others lower it) or ``consistency``
        (ICC(C,1): they don't).
    clusters, rng, resamples, weights, confidence, unit, method
        As :func:`~accord.validate.correlation.pearson`.

    Returns
    -------
    Estimate
        ``icc_agreement`` or ``icc_consistency``; 1 at most, 0 when the raters have nothing in
        common, negative below that: ICC(A,1) of few responses can lie below -1, and then has no
        interval. NaN with a reason for fewer than two responses, equal scores throughout or, with
        two raters, a constant one. ``unit="item"``: McGraw and Wong's F interval, which takes
        responses as independent and normal. ``details`` as Pearson's.

    Raises
    ------
    InputError
        Another shape, fewer than two raters, NaN or infinite scores, bad weights.
    SettingsError
        An unknown form, between 1 and 198 resamples.

    References
    ----------
    McGraw & Wong 1996, Psychol. Methods 1, two-way, single rater.
    """
    if form not in ("agreement", "consistency"):
        raise SettingsError(f"form {form!r} is unknown", cure="agreement or consistency")
    scores = score_table(ratings)
    n, r = scores.shape

    def f(totals: Any) -> Any:
        size, by_row, by_rater, error = _mean_squares(totals, r)
        bottom, away = by_row + (r - 1) * error, r * error
        if form == "agreement":
            lenient = r / size * (by_rater - error)
            bottom, away = bottom + lenient, away + lenient
        whole = (by_row + by_rater + error).real
        # 1 less what raters differ by: near 1 nothing of the slope cancels
        return 1 - away / np.where(bottom.real > 1e-12 * whole, bottom, np.nan)

    def columns(w: FloatArray) -> FloatArray:
        v = common_scale(scores, w)
        mean = v.mean(axis=1)
        own = v - mean[:, None]
        return (
            np.column_stack([np.ones(n), mean, mean * mean, own, (own * own).sum(axis=1)])
            * (w[:, None])
        )

    def independent(out: Estimate, w: FloatArray) -> Estimate:
        how = "McGraw-Wong F on n; assumes independent, normal responses"
        _, by_row, by_rater, error = _mean_squares(columns(w).sum(axis=0), r)
        limits = _agreement_limits if form == "agreement" else _consistency_limits
        low, high = limits(
            float(by_row), float(by_rater), float(error), kish(w), r, out.confidence, out.estimate
        )
        if not (math.isfinite(low) and math.isfinite(high)):
            return replace(out, method=how, reason="no interval: no variance is left to compare")
        if not low <= out.estimate <= high:  # Satterthwaite's degrees of freedom break down
            return replace(
                out, method=how, reason="no interval: too few responses for the F limits"
            )
        return replace(out, low=low, high=high, method=how)

    return association(
        f"icc_{form}",
        "ICC",
        scores,
        lambda w, groups: Summed(Sums(columns(w), groups), f),
        clusters=clusters,
        weights=weights,
        asked=Asked.of(method, confidence, unit, rng, resamples, default="bootstrap-t"),
        independent=independent,
    )


def _moments(scores: FloatArray, w: FloatArray) -> tuple[float, float, float, float]:
    """Standard deviations (divisor n), difference of means, Pearson's r; the largest score is 1."""
    scores = scores / np.abs(scores).max()  # no square overflows
    mean = w @ scores / w.sum()
    d = scores - mean
    (xx, xy), (_, yy) = (d * w[:, None]).T @ d / w.sum()
    sx, sy = math.sqrt(xx), math.sqrt(yy)
    r = float(xy / (sx * sy)) if sx * sy > 0 else math.nan
    return sx, sy, float(mean[0] - mean[1]), r


def _ccc(totals: Any) -> Any:
    """From the sums of 1, u, v, u^2, v^2 with u = x + y, v = x - y: 1 less what v takes away."""
    n, u, v, uu, vv = (totals[..., j] for j in range(5))
    u, v, apart = u / n, v / n, vv / n
    both = uu / n - u * u + apart + v * v
    size = ((uu + vv) / n).real
    return 1 - 2 * apart / np.where(both.real > 1e-12 * size, both, np.nan)


def _mean_squares(totals: Any, r: int) -> tuple[Any, Any, Any, Any]:
    """n, and the mean squares of responses, raters and error.

    From the sums of 1, the response's mean, its square, each rater's difference from it, and their
    squares.
    """
    n, mean, squared = totals[..., 0], totals[..., 1], totals[..., 2]
    by_rater, own = totals[..., 3 : 3 + r], totals[..., 3 + r]
    raters = (by_rater * by_rater).sum(axis=-1) / n
    rows = r * (squared - mean * mean / n)
    rest = own - raters
    return n, rows / (n - 1), raters / (r - 1), rest / ((n - 1) * (r - 1))


def _consistency_limits(
    row: float, rater: float, error: float, n: float, r: int, confidence: float, estimate: float
) -> tuple[float, float]:
    if error <= 0:
        return math.nan, math.nan
    q, ratio, df = 0.5 + confidence / 2, row / error, (n - 1) * (r - 1)
    low, high = ratio / fdtri(n - 1, df, q), ratio * fdtri(df, n - 1, q)
    return float((low - 1) / (low + r - 1)), float((high - 1) / (high + r - 1))


def _agreement_limits(
    row: float, rater: float, error: float, n: float, r: int, confidence: float, estimate: float
) -> tuple[float, float]:
    # Satterthwaite's degrees of freedom for the variance of raters and error together
    a = r * estimate / (n * (1 - estimate))
    b = 1 + r * estimate * (n - 1) / (n * (1 - estimate))
    bottom = (a * rater) ** 2 / (r - 1) + (b * error) ** 2 / ((n - 1) * (r - 1))
    if bottom <= 0:
        return math.nan, math.nan
    v = (a * rater + b * error) ** 2 / bottom
    q = 0.5 + confidence / 2
    below, above = fdtri(n - 1, v, q), fdtri(v, n - 1, q)
    rest = r * rater + (r * n - r - n) * error
    low = n * (row - below * error) / (below * rest + n * row)
    high = n * (above * row - error) / (rest + n * above * row)
    return float(low), float(high)
