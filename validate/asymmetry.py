"""Do two raters err in different directions: McNemar's test, exact unless another is named."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

from scipy.special import bdtr, chdtrc, gammaln

from ..scoring.errors import InputError, SettingsError
from .clusters import check_confidence
from .proportions import clopper_pearson
from .result import Estimate

__all__ = ["McNemarMethod", "mcnemar"]

McNemarMethod = Literal["exact", "midp", "chi2", "chi2_corrected"]
_NAMES = {
    "exact": "exact McNemar test",
    "midp": "mid-p McNemar test",
    "chi2": "McNemar chi-squared, 1 df",
    "chi2_corrected": "McNemar chi-squared with continuity correction, 1 df",
}


def mcnemar(
    only_first: int, only_second: int, *, method: McNemarMethod = "exact", confidence: float = 0.95
) -> Estimate:
    """Of the items that two raters judge differently, does one say yes more often?

    Parameters
    ----------
    only_first, only_second
        Items that only the first, and only the second, rater calls correct. Items on which they
        agree say nothing here.
    method
        ``exact``: two-sided ``min(1, 2 P(B <= min(b, c)))`` with B binomial (b + c, 1/2).
        ``midp``: that less the chance of just what was seen, which is less conservative. ``chi2``
        and ``chi2_corrected``: for large samples; the correction is cut at 0, so that equal counts
        have the statistic 0.
    confidence
        Of the interval, in (0, 1).

    Returns
    -------
    Estimate
        The share of the first rater's among the discordant items; 0.5 is symmetry. The interval is
        Clopper and Pearson's, whichever the test; it leaves 0.5 out where the exact p is below
        1 - confidence. ``details``: ``p``, the counts, and of a chi-squared test ``statistic`` and
        ``df``. Without a discordant item the share is NaN, with a reason, and p is 1. Items are
        taken as independent: with several items a question p is too small.

    Raises
    ------
    InputError
        A count that is negative or not whole.
    SettingsError
        An unknown method.

    References
    ----------
    McNemar 1947, Psychometrika 12; Edwards 1948, Psychometrika 13; Clopper & Pearson 1934; mid-p:
    Fagerland, Lydersen & Laake 2013, BMC Med. Res. Methodol. 13.
    """
    check_confidence(confidence)
    if method not in _NAMES:
        raise SettingsError(f"method {method!r} is unknown", cure=f"one of {', '.join(_NAMES)}")
    for count in (only_first, only_second):
        if not float(count).is_integer() or count < 0:
            raise InputError(f"{count} is not a number of items", cure="whole, 0 or more")
    b, c = int(only_first), int(only_second)
    n = b + c
    out = Estimate(
        "mcnemar",
        math.nan,
        confidence=confidence,
        method=f"Clopper-Pearson, {_NAMES[method]}; items taken as independent",
        unit="item",
        n=n,
        clusters=n,
        details={**_test(b, c, method), "only_first": b, "only_second": c},
    )
    if n == 0:
        return replace(out, reason="no discordant item: the raters never differ")
    share = clopper_pearson(b, n, confidence=confidence)
    return replace(out, estimate=b / n, low=share.low, high=share.high)


def _test(b: int, c: int, method: McNemarMethod) -> dict[str, Any]:
    """The p-value, and of a chi-squared test its statistic."""
    n, less = b + c, min(b, c)
    if method.startswith("chi2"):
        correction = 1 if method == "chi2_corrected" else 0
        statistic = max(abs(b - c) - correction, 0) ** 2 / n if n else 0.0
        return {"p": float(chdtrc(1, statistic)), "statistic": statistic, "df": 1}
    if n == 0:
        return {"p": 1.0}
    exact = min(1.0, 2 * float(bdtr(less, n, 0.5)))
    if method == "exact":
        return {"p": exact}
    log_seen = gammaln(n + 1) - gammaln(less + 1) - gammaln(n - less + 1) - n * math.log(2)
    # at b = c both tails hold what was seen
    return {"p": (1.0 if b == c else exact) - math.exp(float(log_seen))}
