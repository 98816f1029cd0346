"""The error rate of gold answers that were drawn at different rates in strata.

A stratum in which no error happened to be found shows no variance, and where few answers were
drawn one unseen error weighs most: so an effective sample size is too large there, and the interval
adds the weight of one error that was not found (Fay & Feuer 1997).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv

from ..scoring.errors import SettingsError
from .clusters import FloatArray, check_confidence
from .error_rate import FEW_ERRORS, few_errors
from .proportions import clopper_pearson
from .result import Estimate

__all__ = ["HEAVY", "StrataSums", "gamma_limits", "stratified_rate"]

HEAVY = 5.0
"""The largest weight beside the mean one, over which the interval with the largest is offered."""


@dataclass(frozen=True, slots=True)
class StrataSums:
    """What the interval is made of.

    Parameters
    ----------
    rate, variance
        The weighted error rate, and its design variance with finite population correction.
    added, largest
        The weight of one error not found: that of an error at a random answer of the population,
        and that of an error in the stratum where it weighs most.
    """

    rate: float
    variance: float
    added: float
    largest: float

    @classmethod
    def of(cls, errors: FloatArray, checked: FloatArray, population: FloatArray) -> StrataSums:
        """From ``(H,)`` errors found, answers checked and answers there, in each stratum."""
        share = population / population.sum()
        rates = errors / checked
        left = 1 - checked / population
        spread = rates * (1 - rates) / np.maximum(checked - 1, 1)
        weight = share / checked
        open_ = left > 0  # a stratum that was read whole hides no error
        variance = float((share**2 * left * spread).sum())
        rate = float((share * rates).sum())
        if variance <= 0 and open_.any():
            # every stratum errs alike; where all answers are wrong no right one was seen to vary
            rarer = errors if rate <= 0.5 else checked - errors
            variance = float((rarer * weight**2 * left).sum())
        return cls(
            rate,
            variance,
            float((share * weight)[open_].sum()),
            float(weight[open_].max(initial=0.0)),
        )


def stratified_rate(
    errors: ArrayLike,
    checked: ArrayLike,
    population: ArrayLike,
    *,
    names: Sequence[str] = (),
    confidence: float = 0.95,
    largest: bool = False,
) -> Estimate:
    """What share of all gold answers is wrong, when each stratum was sampled at its own rate?

    Parameters
    ----------
    errors, checked, population
        ``(H,)`` in each stratum: wrong answers found, answers checked (a simple random sample),
        answers that there are.
    names
        Of the strata, for messages and details.
    confidence
        Of the interval, in (0, 1).
    largest
        Add the largest weight that an unseen error can have, instead of the population's mean
        weight: wider, and safe where errors may hide in the stratum that was sampled least.

    Returns
    -------
    Estimate
        ``error_rate`` in [0, 1]. ``details``: ``errors``, ``one_sided_upper``, and in ``strata``
        each stratum's counts, rate and Clopper-Pearson interval, all of which hold together
        (Bonferroni).

    Raises
    ------
    SettingsError
        Counts that contradict each other, or a stratum with fewer than two checked answers that
        was not read whole.

    References
    ----------
    Cochran 1977, ch. 5; Fay & Feuer 1997; Tiwari, Clegg & Zou 2006. Which weight is added was
    chosen by measured coverage.
    """
    check_confidence(confidence)
    x, n, size = (np.asarray(v, dtype=float) for v in (errors, checked, population))
    labels = [str(name) for name in names] or [str(h + 1) for h in range(x.size)]
    _check(x, n, size, labels)
    sums = StrataSums.of(x, n, size)
    added = sums.largest if largest else sums.added
    which = "the largest weight of an unseen error" if largest else "one error"
    method = f"stratified gamma interval, finite population, {which} added"
    bound = None
    if sums.largest == 0:
        low = high = bound = sums.rate
        method = "all answers were checked"
    else:
        low, high = gamma_limits(sums.rate, sums.variance, added, confidence=confidence)
    if bound is None and confidence > 0.5:
        one = gamma_limits(sums.rate, sums.variance, added, confidence=2 * confidence - 1)
        bound = min(one[1], high)
    total = int(x.sum())
    few = total < FEW_ERRORS and sums.largest > 0
    warned = [few_errors(total, bound, confidence)] if few else []
    each = 1 - (1 - confidence) / x.size
    rows: list[dict[str, Any]] = []
    for label, wrong, read, there in zip(labels, x, n, size, strict=True):
        own = clopper_pearson(int(wrong), int(read), confidence=each)
        rows.append(
            {
                "stratum": label,
                "errors": int(wrong),
                "checked": int(read),
                "population": float(there),
                "rate": own.estimate,
                "low": own.low,
                "high": own.high,
            }
        )
    independent = sums.rate * (1 - sums.rate) / float(n.sum())
    return Estimate(
        "error_rate",
        sums.rate,
        low,
        high,
        level="dataset",
        confidence=confidence,
        method=method,
        unit="item",
        n=int(n.sum()),
        clusters=int(n.sum()),
        design_effect=sums.variance / independent if independent > 0 else float("nan"),
        warnings=tuple(warned),
        details={
            "errors": total,
            "one_sided_upper": bound,
            "one_sided_method": None if bound is None else "gamma",
            "largest_to_added": sums.largest / sums.added if sums.added > 0 else 1.0,
            "strata": rows,
        },
    )


def gamma_limits(
    p: float, variance: float, added: float, *, confidence: float = 0.95
) -> tuple[float, float]:
    """The gamma interval of a small weighted rate (Fay & Feuer 1997).

    Parameters
    ----------
    p, variance
        The rate in [0, 1] and its design variance.
    added
        The weight of one error not found.

    Returns
    -------
    tuple of float
        The lower limit from the gamma distribution with mean ``p``, the upper from the one with
        mean ``p + added`` and variance ``variance + added**2``; above one half on the complement.
    """
    if p > 0.5:
        low, high = gamma_limits(1 - p, variance, added, confidence=confidence)
        return 1 - high, 1 - low
    tail = (1 - confidence) / 2
    low = 0.0
    if p > 0 and variance > 0:
        low = float(variance / p * gammaincinv(p * p / variance, tail))
    mean, spread = p + added, variance + added * added
    high = float(spread / mean * gammaincinv(mean * mean / spread, 1 - tail))
    return min(low, p), min(max(high, p), 1.0)


def _check(x: FloatArray, n: FloatArray, size: FloatArray, labels: Sequence[str]) -> None:
    if not x.size or x.shape != n.shape or n.shape != size.shape or x.ndim != 1:
        raise SettingsError(
            "errors, checked and population have other shapes", cure="one a stratum"
        )
    for label, wrong, read, there in zip(labels, x, n, size, strict=True):
        if not 0 <= wrong <= read <= there * (1 + 1e-9):
            raise SettingsError(
                f"stratum {label!r}: {wrong:g} errors in {read:g} checked of {there:g} answers",
                cure="give counts that fit",
            )
        if read < 2 and (read < 1 or read < there):
            raise SettingsError(
                f"stratum {label!r} has {read:g} checked answers, and one shows no variance",
                cure="merge it with another stratum, or check more of its answers",
            )
