"""Do two raters err in different directions: McNemar's exact test."""

from __future__ import annotations

import math

from scipy.special import bdtr

from ..scoring.errors import InputError
from .clusters import check_confidence
from .proportions import clopper_pearson
from .result import Estimate

__all__ = ["mcnemar"]


def mcnemar(only_first: int, only_second: int, *, confidence: float = 0.95) -> Estimate:
    """Of the items that two raters judge differently, does one say yes more often?

    Parameters
    ----------
    only_first, only_second
        Items that only the first, and only the second, rater calls correct. Items on which they
        agree say nothing here.
    confidence
        Of the interval, in (0, 1).

    Returns
    -------
    Estimate
        The share of the first rater's among the discordant items; 0.5 is symmetry. The interval is
        Clopper and Pearson's, ``details["p"]`` the exact two-sided p-value
        ``min(1, 2 P(B <= min(b, c)))`` with B binomial (b + c, 1/2); the interval leaves 0.5 out
        where p < 1 - confidence. Without a discordant item the share is NaN, with a reason, and
        p is 1. Items are taken as independent: with several items a question p is too small.

    Raises
    ------
    InputError
        A count that is negative or not whole.

    References
    ----------
    McNemar 1947, Psychometrika 12; Clopper & Pearson 1934.
    """
    check_confidence(confidence)
    for count in (only_first, only_second):
        if not float(count).is_integer() or count < 0:
            raise InputError(f"{count} is not a number of items", cure="whole, 0 or more")
    b, c = int(only_first), int(only_second)
    n = b + c
    p = min(1.0, 2 * float(bdtr(min(b, c), n, 0.5))) if n else 1.0
    details = {"p": p, "only_first": b, "only_second": c}
    how = "Clopper-Pearson, exact McNemar test; items taken as independent"
    if n == 0:
        return Estimate(
            "mcnemar",
            math.nan,
            confidence=confidence,
            method=how,
            unit="item",
            reason="no discordant item: the raters never differ",
            details=details,
        )
    share = clopper_pearson(b, n, confidence=confidence)
    return Estimate(
        "mcnemar",
        b / n,
        share.low,
        share.high,
        confidence=confidence,
        method=how,
        unit="item",
        n=n,
        clusters=n,
        details=details,
    )
