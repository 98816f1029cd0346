"""How wrong is the gold? Errors out of a number of checked gold answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.special import gammaln

from ..scoring.errors import SettingsError
from .clusters import FloatArray, IntArray, check_confidence
from .figures import count, percent
from .proportions import agresti_coull, clopper_pearson, jeffreys, one_sided_upper, wilson
from .result import Estimate

__all__ = ["FEW_ERRORS", "AuditMethod", "audit_counts", "few_errors"]

AuditMethod = Literal["wilson", "clopper_pearson", "jeffreys", "agresti_coull", "hypergeometric"]

_SMALL = 5000
"""Populations below this are counted exactly."""
FEW_ERRORS = 5
"""Below so many errors the one-sided bound is to be read first."""
_HALF = 0.5
"""Up to this confidence a one-sided bound lies below the estimate and bounds nothing."""

_NAMES = {
    "wilson": "Wilson score",
    "clopper_pearson": "Clopper-Pearson exact",
    "jeffreys": "Jeffreys",
    "agresti_coull": "Agresti-Coull",
}

_NAMED: dict[str, Callable[..., Estimate]] = {
    "wilson": wilson,
    "clopper_pearson": clopper_pearson,
    "jeffreys": jeffreys,
    "agresti_coull": agresti_coull,
}


def audit_counts(
    errors: int,
    n: int,
    *,
    confidence: float = 0.95,
    method: AuditMethod = "wilson",
    population: int | None = None,
) -> Estimate:
    """What share of the gold answers is wrong, when a simple random sample of them was checked?

    Parameters
    ----------
    errors, n
        Wrong answers found, and answers checked.
    confidence
        Of the interval, in (0, 1).
    method
        ``wilson`` (default), ``clopper_pearson``, ``jeffreys``, ``agresti_coull``, or
        ``hypergeometric``, which counts exactly in a finite population.
    population
        Answers that the sample was drawn from. Below 5,000 the default becomes the exact
        hypergeometric interval, and says so; a method asked for by another name is kept.

    Returns
    -------
    Estimate
        ``error_rate`` of the dataset, in [0, 1]. ``details``: ``errors``, ``one_sided_upper``
        (at the same confidence, never above ``high``: read it first when errors are few) and
        ``one_sided_method``, both None up to a confidence of 0.5; for the hypergeometric interval
        ``low_count`` and ``high_count``.

    Raises
    ------
    SettingsError
        Counts that are no counts or contradict each other, an unknown method.

    References
    ----------
    Wilson 1927; Clopper & Pearson 1934; Brown, Cai & DasGupta 2001; Agresti & Coull 1998;
    Cochran 1977, Sampling Techniques.

    Examples
    --------
    >>> audit_counts(8, 481)
    <error_rate: 0.0166 [0.0085, 0.0325] 95%, n=481, clusters=481>
    """
    check_confidence(confidence)
    for name, value in (("errors", errors), ("n", n), ("population", population)):
        # Above 2**53 neighbouring counts are one float; the first test is false for NaN.
        if value is not None and not (0 <= value < 2**53 and float(value).is_integer()):
            raise SettingsError(
                f"{name} = {str(value)[:40]} is not a count", cure="give a whole number from 0"
            )
    if n == 0:
        raise SettingsError("n = 0: nothing was checked", cure="give the number of answers read")
    if errors > n:
        raise SettingsError(
            f"{errors} errors in {n} checked answers", cure="exchange the two counts"
        )
    if population is not None and population < n:
        raise SettingsError(
            f"a population of {population} can't hold a sample of {n}",
            cure="give the number of all answers that the sample was drawn from",
        )
    if method not in (*_NAMED, "hypergeometric"):
        raise SettingsError(
            f"method {method!r} is unknown",
            cure="wilson, clopper_pearson, jeffreys, agresti_coull or hypergeometric",
        )
    errors, n = int(errors), int(n)
    warned = []
    details: dict[str, object] = {"errors": errors}
    if method == "hypergeometric" and population is None:
        raise SettingsError("hypergeometric needs the population's size", cure="give population")
    finite = population is not None and population < _SMALL
    if population is not None and (method == "hypergeometric" or (finite and method == "wilson")):
        low, high = _hypergeometric(errors, n, int(population), confidence)
        details |= {"low_count": low, "high_count": high, "population": int(population)}
        named: str | None = "exact hypergeometric"
        bound: float | None = _largest(errors, n, int(population), 1 - confidence) / population
        if confidence <= _HALF:
            bound = named = None
        out = Estimate(
            "error_rate",
            errors / n,
            low / population,
            high / population,
            method="exact hypergeometric interval",
        )
    else:
        if finite:
            warned.append(f"{method} takes the population as infinite; it has {population} answers")
        out = _NAMED[method](errors, n, confidence=confidence)
        bound, named = _one_sided(method, errors, n, confidence, out.high)
    if errors < FEW_ERRORS:
        warned.append(few_errors(errors, bound, confidence))
    return replace(
        out,
        name="error_rate",
        level="dataset",
        confidence=confidence,
        unit="item",
        n=n,
        clusters=n,
        warnings=tuple(warned),
        details={**details, "one_sided_upper": bound, "one_sided_method": named},
    )


def few_errors(errors: int, bound: float | None, confidence: float) -> str:
    """The caution where fewer than 5 errors were found."""
    noun = "error" if errors == 1 else "errors"
    if bound is None:
        return f"{count(errors)} {noun} (fewer than 5)"
    return (
        f"{count(errors)} {noun} (fewer than 5): read the one-sided bound first, "
        f"at most {percent(bound)} at {100 * confidence:g} %"
    )


def _one_sided(
    method: str, errors: int, n: int, confidence: float, high: float
) -> tuple[float | None, str | None]:
    """The method's own one-sided upper bound, and its name.

    The bound at c is the upper limit of the interval at 2c - 1. Wilson's covers too little where no
    error was found (it is 2.71/n, for the 3/n of the rule of three): it is then the exact bound,
    cut at the interval's upper limit, which is lower below 7 answers.
    """
    if confidence <= _HALF:
        return None, None
    if method == "wilson" and errors == 0:
        exact = one_sided_upper(0, n, confidence=confidence)
        return (exact, "exact binomial") if exact <= high else (high, "Wilson's two-sided limit")
    bound = _NAMED[method](errors, n, confidence=2 * confidence - 1).high
    return min(bound, high), _NAMES[method]


def _hypergeometric(x: int, n: int, size: int, confidence: float) -> tuple[int, int]:
    """Smallest and largest number of wrong answers in the population that ``x`` doesn't rule out.

    From the smallest D with P(X >= x | D) > a/2 to the largest with P(X <= x | D) > a/2.
    """
    tail = (1 - confidence) / 2
    # errors and right answers are exchangeable: the lower limit is the upper one of the rest
    return size - _largest(n - x, n, size, tail), _largest(x, n, size, tail)


def _largest(x: int, n: int, size: int, tail: float) -> int:
    """The largest D with P(X <= x | D) > tail, by bisection (the probability falls with D)."""
    low, high = x, size - n + x
    while low < high:
        middle = (low + high + 1) // 2
        if _at_most(x, n, size, middle) > tail:
            low = middle
        else:
            high = middle - 1
    return low


def _at_most(x: int, n: int, size: int, wrong: int) -> float:
    """P(X <= x) when ``wrong`` of ``size`` answers are wrong and n are drawn."""
    k = np.arange(max(0, n - (size - wrong)), min(x, wrong) + 1)
    if k.size == 0:
        return 0.0
    log = (
        _log_choose(wrong, k)
        + _log_choose(size - wrong, n - k)
        - _log_choose(size, np.asarray([n]))
    )
    return float(min(math.fsum(np.exp(log)), 1.0))


def _log_choose(n: int, k: IntArray) -> FloatArray:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), dtype=float)
