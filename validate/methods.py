"""Intervals by name: what may be asked for, and how each is made of a figure.

Every figure has a default that was seen to cover; these are the others, under their own names, for
comparison with what is printed elsewhere. None is ever taken in place of the one asked for without
saying so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from ..scoring.errors import SettingsError
from .clusters import FloatArray, Unit, check_confidence, check_unit, jackknife_se
from .intervals import (
    FISHER,
    IDENTITY,
    LOG,
    Scale,
    bootstrap_t_limits,
    order_statistic,
    t_quantile,
)
from .resampling import GROUPS, Draws, Form, Source
from .result import Estimate

__all__ = [
    "Asked",
    "FEWEST_RESAMPLES",
    "Limits",
    "METHODS",
    "Method",
    "PROPORTION_METHODS",
    "bca_limits",
    "check_drawing",
    "few_disagreements",
    "named_limits",
    "percentile_limits",
    "with_limits",
]

Method = Literal[
    "default",
    "percentile",
    "bca",
    "jackknife",
    "bootstrap-t",
    "grouped-jackknife",
    "korn-graubard",
]
PROPORTION_METHODS: tuple[Method, ...] = ("default", "korn-graubard", "percentile", "bca")
"""What a proportion takes."""
METHODS: tuple[Method, ...] = tuple(m for m in get_args(Method) if m != "korn-graubard")
"""What every other figure takes."""

FEWEST_RESAMPLES = 199
_USABLE = 0.9
"""Share of usable resamples under which a bootstrap is given up."""
_DRAWING = ("percentile", "bca", "bootstrap-t")
_ON: Mapping[str, str] = {
    FISHER.name: " on Fisher z",
    LOG.name: " on the log scale",
    IDENTITY.name: "",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """The interval that a caller asks for, checked.

    Parameters
    ----------
    method
        Its name; ``default`` for the one that was seen to cover best.
    confidence, unit
        As everywhere.
    draws
        What it resamples; None where nothing is drawn.
    """

    method: Method = "default"
    confidence: float = 0.95
    unit: Unit = "question"
    draws: Draws | None = None

    @classmethod
    def of(
        cls,
        method: str,
        confidence: float,
        unit: Unit,
        rng: Source | None,
        resamples: int,
        *,
        known: Sequence[Method] = METHODS,
        default: Method = "jackknife",
    ) -> Asked:
        """From the arguments of a public function.

        Parameters
        ----------
        known, default
            The names that the figure takes, and how its default draws.

        Raises
        ------
        SettingsError
            A confidence outside (0, 1), an unknown unit or method, a method that draws without
            ``rng`` or with fewer than 199 resamples.
        """
        confidence = check_confidence(confidence)
        check_unit(unit)
        chosen: Method | None = next((name for name in known if name == method), None)
        if chosen is None:
            raise SettingsError(
                f"method {method!r} is not known for this figure", cure=f"one of {', '.join(known)}"
            )
        draws = None if rng is None else Draws.of(rng, resamples)
        count = resamples if draws is None else draws.resamples
        if chosen in (*_DRAWING, "grouped-jackknife") and draws is None:
            raise SettingsError(f"method {chosen!r} draws at random", cure="give rng, e.g. rng=0")
        check_drawing(chosen, count)
        meant = default if chosen == "default" else chosen
        if meant in _DRAWING and 0 < count < FEWEST_RESAMPLES:
            raise SettingsError(
                f"{count} resamples are too few for a {_SPOKEN[meant]}",
                cure=f"{FEWEST_RESAMPLES} or more, or 0 for the jackknife t"
                if chosen == "default"
                else f"{FEWEST_RESAMPLES} or more",
            )
        return cls(chosen, confidence, unit, draws)

    def drawn(self) -> Draws:
        """What is resampled; asked for only where it was checked to be there."""
        if self.draws is None:
            raise SettingsError(f"method {self.method!r} draws at random", cure="give rng")
        return self.draws


def check_drawing(method: Method, resamples: int) -> None:
    """Refuse a method that resamples where nothing is to be resampled."""
    if method in _DRAWING and resamples == 0:
        raise SettingsError(
            f"method {method!r} resamples, and 0 resamples are asked for",
            cure=f"{FEWEST_RESAMPLES} or more, or a jackknife",
        )


_SPOKEN: Mapping[str, str] = {
    "bootstrap-t": "bootstrap-t",
    "percentile": "percentile bootstrap",
    "bca": "BCa bootstrap",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """An interval, how it was made, and what is to be said of it; NaN limits have a ``reason``."""

    low: float = math.nan
    high: float = math.nan
    method: str = ""
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)


def named_limits(
    form: Form,
    theta: float,
    method: Method,
    asked: Asked,
    *,
    scale: Scale,
    df: float,
    constant: str = "it is undefined",
) -> Limits:
    """The limits of a figure by a method of :data:`METHODS` other than ``default``.

    Parameters
    ----------
    form, theta
        The figure over the units that are resampled (questions, or items each on its own), and its
        estimate.
    scale, df
        On which a jackknife or bootstrap-t is symmetrical, and its degrees of freedom.
    constant
        What becomes of the figure where it hangs on one question, for the reason.

    Returns
    -------
    Limits
        NaN with a reason where without one question the figure is undefined, where fewer than 90 %
        of the resamples can be used (the bootstrap-t then falls back to the jackknife t, by name),
        or where nothing varies.
    """
    noun = asked.unit
    if method == "percentile":
        return _percentile(form.drawn(asked.drawn()), asked, noun)
    if method == "grouped-jackknife":
        return _grouped(form, theta, asked, scale, noun)
    away = form.leave_one_out()
    if away is not None and not np.isfinite(away).all():
        # left out of the jackknife, the one question that matters would make it look certain
        return Limits(reason=f"no interval: without one {noun} {constant}")
    if method == "bca":
        pull = form.influence() if away is None else away.mean() - away
        return _bca(theta, form.drawn(asked.drawn()), pull, away is None, asked, noun)
    if away is None:
        slope = float(scale.slope(np.asarray(theta)))
        se, spread = form.linearised()[0] * slope, "linearised"
    else:
        se, spread = jackknife_se(np.asarray(scale.forward(away), dtype=float)), "jackknife"
    fell_back = ""
    said: tuple[str, ...] = ()
    details: dict[str, object] = {}
    if method == "bootstrap-t":
        draws = asked.drawn()
        values, errors = form.studentised(draws)
        low, high, usable = bootstrap_t_limits(
            theta, se, values, errors, scale=scale, confidence=asked.confidence
        )
        details = {"resamples": draws.resamples, "usable_pivots": usable}
        if usable >= _USABLE and math.isfinite(low):
            how = f"{noun} bootstrap-t{_ON[scale.name]}, {spread} SE, {draws.resamples} resamples"
            return Limits(low, high, how, details=details)
        fell_back = f" (bootstrap-t given up: {usable:.0%} of the pivots usable)"
        said = (f"fell back to {spread} t: {usable:.0%} pivots usable",)
    how = f"{noun} {spread} t{_ON[scale.name]}{fell_back}"
    low, high = _t_limits(theta, se, scale, df, asked.confidence)
    return Limits(low, high, how, warnings=said, details=details)


def with_limits(
    out: Estimate,
    form: Form,
    method: Method,
    asked: Asked,
    scale: Scale,
    df: float,
    items: str,
    constant: str = "it is undefined",
) -> Estimate:
    """The estimate with an interval by name; ``items`` are what is taken as independent."""
    limits = named_limits(form, out.estimate, method, asked, scale=scale, df=df, constant=constant)
    how = limits.method
    if asked.unit == "item" and how:
        how += f"; {items} taken as independent"
    return replace(
        out,
        low=limits.low,
        high=limits.high,
        method=how,
        reason=limits.reason,
        warnings=(*out.warnings, *limits.warnings),
        details={**out.details, **limits.details},
    )


def percentile_limits(values: FloatArray, confidence: float) -> tuple[float, float]:
    """The (B + 1) q-th of the sorted values ``(B,)`` at both tails q. (Efron 1979.)"""
    ordered, tail = np.sort(values), (1 - confidence) / 2
    return order_statistic(ordered, tail), order_statistic(ordered, 1 - tail)


def bca_limits(
    theta: float, values: FloatArray, pull: FloatArray, confidence: float
) -> tuple[float, float]:
    """Bias-corrected and accelerated percentiles.

    Parameters
    ----------
    values
        ``(B,)`` of the resamples.
    pull
        ``(G,)`` the mean of the leave-one-out values less each of them (or the influence of each
        unit), whose skewness is the acceleration. A figure that nothing pulls has none.

    References
    ----------
    Efron 1987, JASA 82, eqs. 2.3, 6.6 and 7.3.
    """
    ordered = np.sort(values)
    below, upto = np.searchsorted(ordered, [theta - 1e-12, theta + 1e-12])
    rank = (below + 0.5 * (upto - below)) / ordered.size
    z0 = float(ndtri(np.clip(rank, 0.5 / ordered.size, 1 - 0.5 / ordered.size)))
    bottom = 6 * float((pull * pull).sum()) ** 1.5
    a = float((pull**3).sum()) / bottom if bottom > 0 else 0.0
    limits = []
    for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = z0 + float(ndtri(tail))
        limits.append(order_statistic(ordered, float(ndtr(z0 + z / (1 - a * z)))))
    return limits[0], limits[1]


def few_disagreements(method: Method, count: int, least: int) -> list[str]:
    """What a bootstrap of few disagreements must say of itself."""
    if method not in ("percentile", "bca") or count >= least:
        return []
    return [
        f"{_SPOKEN[method]} intervals cover badly where so few differ: 37 to 93 % measured where"
        " they say 95 %; the default does not"
    ]


def _t_limits(
    theta: float, se: float, scale: Scale, df: float, confidence: float
) -> tuple[float, float]:
    centre = float(scale.forward(np.asarray(theta)))
    reach = t_quantile(confidence, df) * se
    low, high = (float(scale.back(np.asarray(centre + sign * reach))) for sign in (-1, 1))
    return low, high


def _usable(values: FloatArray, details: dict[str, object]) -> tuple[FloatArray, str | None]:
    """The defined values of the resamples, and why they make no interval."""
    defined = values[np.isfinite(values)]
    share = defined.size / values.size
    if share < 1:
        details["undefined_resamples"] = values.size - defined.size
    if share < _USABLE:
        return defined, f"no interval: the figure is defined in {share:.0%} of the resamples only"
    if np.ptp(defined) <= 1e-12 * float(np.abs(defined).max()):
        return defined, "no interval: every resample gives the same"
    return defined, None


def _percentile(values: FloatArray, asked: Asked, noun: str) -> Limits:
    details: dict[str, object] = {"resamples": values.size}
    how = f"{noun} bootstrap percentile, {values.size} resamples"
    defined, reason = _usable(values, details)
    if reason is not None:
        return Limits(method=how, reason=reason, details=details)
    low, high = percentile_limits(defined, asked.confidence)
    return Limits(low, high, how, details=details)


def _bca(
    theta: float, values: FloatArray, pull: FloatArray, linearised: bool, asked: Asked, noun: str
) -> Limits:
    details: dict[str, object] = {"resamples": values.size}
    source = "linearised influence" if linearised else "jackknife"
    how = f"{noun} bootstrap BCa, acceleration from the {noun} {source}, {values.size} resamples"
    defined, reason = _usable(values, details)
    if reason is not None:
        return Limits(method=how, reason=reason, details=details)
    low, high = bca_limits(theta, defined, pull, asked.confidence)
    return Limits(low, high, how, details=details)


def _grouped(form: Form, theta: float, asked: Asked, scale: Scale, noun: str) -> Limits:
    values = form.without_each_fold(asked.drawn())
    groups = values.size
    how = f"delete-a-group jackknife t{_ON[scale.name]}, {groups} random groups of {noun}s"
    if groups < GROUPS:
        how = f"{noun} jackknife t{_ON[scale.name]} (delete-a-group, each {noun} a group)"
    if not np.isfinite(values).all():
        return Limits(
            method=how, reason=f"no interval: without one group of {noun}s it is undefined"
        )
    se = jackknife_se(np.asarray(scale.forward(values), dtype=float))
    low, high = _t_limits(theta, se, scale, groups - 1.0, asked.confidence)
    return Limits(low, high, how, details={"groups": groups, "df": groups - 1.0})
