"""Lin's own standard error and intervals of the concordance correlation, responses independent."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .clusters import check_confidence
from .intervals import z_quantile
from .result import Estimate
from .score_intervals import paired_scores

__all__ = ["ccc_classical", "lin_se"]


def ccc_classical(
    x: ArrayLike, y: ArrayLike, *, fisher_z: bool = True, confidence: float = 0.95
) -> Estimate:
    """Lin's concordance correlation with the interval of his paper.

    For comparison with what papers print: responses are taken as independent and normal. The
    default, by question, is :func:`~accord.validate.concordance.ccc`.

    Parameters
    ----------
    x, y
        ``(n,)`` scores of the same responses; no NaN.
    fisher_z
        Symmetric on Fisher's z; False for the plain scale, which can leave [-1, 1].
    confidence
        In (0, 1).

    Returns
    -------
    Estimate
        ``ccc``, variances with divisor n. ``details``: ``se`` (divisor n - 2), ``pearson`` and
        ``bias_correction``, whose product it is. NaN with a reason for fewer than two responses or
        a constant score; no interval for two responses, at 1 or -1, or where the scores are
        uncorrelated.

    Raises
    ------
    InputError
        Arrays of different lengths, NaN or infinite scores.

    References
    ----------
    Lin 1989, Biometrics 45, with the correction of 2000 (Biometrics 56).
    """
    check_confidence(confidence)
    a, b = paired_scores(x, y)
    n = a.size
    scale = "Fisher z" if fisher_z else "the plain scale"
    out = Estimate(
        "ccc",
        math.nan,
        confidence=confidence,
        method=f"Lin's SE on {scale}; assumes independent, normal responses",
        unit="item",
        n=n,
        clusters=n,
    )
    if n < 2:
        return replace(out, reason="no items" if n == 0 else "one response: nothing to correlate")
    flat = [np.ptp(v) <= 1e-12 * np.abs(v).max() for v in (a, b)]
    if any(flat):
        which = "both scores are" if all(flat) else f"the {'first' if flat[0] else 'second'} is"
        return replace(out, reason=f"{which} constant: a correlation is undefined")
    sx, sy, shift = float(a.std()), float(b.std()), float(a.mean() - b.mean())
    r = float(((a - a.mean()) * (b - b.mean())).mean()) / (sx * sy)
    correction = 2 * sx * sy / (sx * sx + sy * sy + shift * shift)
    rho = r * correction
    details = {"pearson": r, "bias_correction": correction}
    out = replace(out, estimate=rho, details=details)
    if n < 3:
        return replace(out, reason="no interval: two responses")
    if 1 - abs(rho) < 1e-12:
        return replace(out, reason=f"ccc is {rho:+.0f} exactly: no interval")
    if abs(r) < 1e-12:
        return replace(out, reason="no interval: the scores are uncorrelated")
    se = lin_se(rho, r, shift * shift / (sx * sy), n)
    reach = z_quantile(confidence) * se
    out = replace(out, details={**details, "se": se})
    if not fisher_z:
        return replace(out, low=rho - reach, high=rho + reach)
    centre, reach = math.atanh(rho), reach / (1 - rho**2)
    return replace(out, low=math.tanh(centre - reach), high=math.tanh(centre + reach))


def lin_se(rho: float, r: float, shift: float, n: float) -> float:
    """Lin's standard error of the concordance correlation, divisor n - 2.

    Parameters
    ----------
    rho, r
        The concordance and Pearson's correlation, which is not 0.
    shift
        The squared difference of the means over the product of the standard deviations.
    n
        Responses, more than 2; need not be whole.

    References
    ----------
    Lin 1989, Biometrics 45, with the correction of 2000 (Biometrics 56).
    """
    variance = (1 - r * r) * rho**2 * (1 - rho**2) / r**2
    variance += 2 * rho**3 * (1 - rho) * shift / r - rho**4 * shift**2 / (2 * r * r)
    return math.sqrt(max(variance, 0) / (n - 2))
