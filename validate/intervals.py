"""How an interval is made of an estimate and its leave-one-out or resampled values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from .clusters import FloatArray, jackknife_se

__all__ = [
    "FISHER",
    "IDENTITY",
    "LOG",
    "Scale",
    "bootstrap_t_limits",
    "jackknife_limits",
    "order_statistic",
    "t_quantile",
    "wilson_limits",
    "z_quantile",
]

_Map = Callable[[NDArray[Any]], NDArray[Any]]
_CLIP = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale on which an interval is symmetric: its map, the way back, the map's slope."""

    name: str
    forward: _Map
    back: _Map
    slope: _Map


FISHER = Scale(
    "Fisher z",
    lambda t: np.arctanh(np.clip(t, -_CLIP, _CLIP)),
    np.tanh,
    lambda t: 1 / np.maximum(1 - np.minimum(np.abs(t), _CLIP) ** 2, 1e-12),
)
LOG = Scale(
    "log",
    lambda t: np.log(np.maximum(t, 1e-12)),
    np.exp,
    lambda t: 1 / np.maximum(t, 1e-12),
)
IDENTITY = Scale("identity", lambda t: t, lambda t: t, lambda t: np.ones_like(t))


def z_quantile(confidence: float) -> float:
    """Two-sided normal critical value."""
    return float(ndtri(0.5 + confidence / 2))


def t_quantile(confidence: float, df: float) -> float:
    """Two-sided Student critical value; ``df`` may be fractional."""
    return float(stdtrit(df, 0.5 + confidence / 2))


def wilson_limits(p: float, n: float, critical: float) -> tuple[float, float]:
    """Wilson's score interval with size ``n`` (need not be whole) and critical value z or t.

    Exactly 0 at p = 0 and exactly 1 at p = 1. (Wilson 1927.)
    """
    c2 = critical * critical
    middle = (p + c2 / (2 * n)) / (1 + c2 / n)
    half = critical / (1 + c2 / n) * np.sqrt(p * (1 - p) / n + c2 / (4 * n * n))
    low = 0.0 if p <= 0 else max(float(middle - half), 0.0)
    high = 1.0 if p >= 1 else min(float(middle + half), 1.0)
    return low, high


def jackknife_limits(
    theta: float, values: FloatArray, *, scale: Scale, df: float, confidence: float
) -> tuple[float, float]:
    """``h^-1(h(theta) +- t SE)``, SE the jackknife's on the scale h, from leave-one-out values.

    NaN limits where one of the values is undefined: left out of the jackknife, the one question
    that matters would make the figure look certain.
    """
    if not np.isfinite(values).all():
        return float("nan"), float("nan")
    se = jackknife_se(np.asarray(scale.forward(values), dtype=float))
    centre = float(scale.forward(np.asarray(theta)))
    reach = t_quantile(confidence, df) * se
    return float(scale.back(np.asarray(centre - reach))), float(
        scale.back(np.asarray(centre + reach))
    )


def bootstrap_t_limits(
    theta: float,
    se: float,
    resampled: FloatArray,
    resampled_se: FloatArray,
    *,
    scale: Scale,
    confidence: float,
) -> tuple[float, float, float]:
    """Bootstrap-t limits on a scale, and the share of pivots that could be used.

    Parameters
    ----------
    theta, se
        The estimate, and its standard error on the scale.
    resampled, resampled_se
        ``(B,)`` values of the resamples and their standard errors, both on the plain scale. A
        pivot whose standard error is 0 or undefined is dropped.
    """
    with np.errstate(all="ignore"):
        centre = float(scale.forward(np.asarray(theta)))
        pivots = (scale.forward(resampled) - centre) / (resampled_se * scale.slope(resampled))
    pivots = np.sort(pivots[np.isfinite(pivots) & (resampled_se > 1e-12)])
    share = pivots.size / resampled.size if resampled.size else 0.0
    if pivots.size < 20 or not np.isfinite(se):
        return float("nan"), float("nan"), share
    tail = (1 - confidence) / 2
    near, far = order_statistic(pivots, tail), order_statistic(pivots, 1 - tail)
    return (
        float(scale.back(np.asarray(centre - far * se))),
        float(scale.back(np.asarray(centre - near * se))),
        share,
    )


def order_statistic(ordered: FloatArray, q: float) -> float:
    """The (B + 1) q-th value of a sorted array, between two by linear interpolation."""
    place = min(max(q * (ordered.size + 1) - 1, 0), ordered.size - 1)
    k = int(place)
    after = min(k + 1, ordered.size - 1)
    return float(ordered[k] + (place - k) * (ordered[after] - ordered[k]))
