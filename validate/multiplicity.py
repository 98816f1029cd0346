"""Many tests at once: p-values adjusted, and the confidence of intervals that hold together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..scoring.errors import InputError, SettingsError
from .clusters import FloatArray, check_confidence

__all__ = ["Adjustment", "adjust", "simultaneous_confidence"]

Adjustment = Literal["holm", "hochberg", "bonferroni", "benjamini_hochberg", "benjamini_yekutieli"]
METHODS: tuple[Adjustment, ...] = (
    "holm",
    "hochberg",
    "bonferroni",
    "benjamini_hochberg",
    "benjamini_yekutieli",
)


def adjust(p_values: Sequence[float] | FloatArray, *, method: Adjustment) -> FloatArray:
    """p-values of m tests, each adjusted so that it can be read against one level for all.

    Parameters
    ----------
    p_values
        ``(m,)``, in [0, 1]; NaN where a test is undefined. Those stay NaN and are not counted in m.
    method
        ``holm`` and ``bonferroni`` bound the chance of any false rejection whatever the tests have
        in common (Holm never rejects less), ``hochberg`` under independence or positive dependence.
        ``benjamini_hochberg`` bounds the expected share of false rejections under the same, and
        ``benjamini_yekutieli`` whatever the dependence.

    Returns
    -------
    ndarray
        ``(m,)`` in the order given, in [0, 1], never below the p-value itself.

    Raises
    ------
    InputError
        A p-value outside [0, 1].
    SettingsError
        An unknown method.

    References
    ----------
    Holm 1979, Scand. J. Stat. 6; Hochberg 1988, Biometrika 75; Benjamini & Hochberg 1995, JRSS B
    57; Benjamini & Yekutieli 2001, Ann. Stat. 29.

    Examples
    --------
    >>> adjust([0.01, float("nan"), 0.03], method="holm").tolist()
    [0.02, nan, 0.03]
    """
    if method not in METHODS:
        raise SettingsError(f"method {method!r} is unknown", cure=f"one of {', '.join(METHODS)}")
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1:
        raise InputError(f"p-values are one a test, got shape {p.shape}")
    defined = ~np.isnan(p)
    bad = defined & ~((p >= 0) & (p <= 1))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(f"p-value {row + 1}: {p[row]:g} is not between 0 and 1")
    out = np.full(p.size, np.nan)
    if defined.any():
        out[defined] = _adjusted(p[defined], method)
    return out


def simultaneous_confidence(confidence: float, m: int) -> float:
    """The confidence that each of m intervals needs so that all hold at once (Bonferroni).

    Holm's steps adjust tests, not intervals: the regions that belong to them are no plain
    intervals, so these are Bonferroni's, and a little wider than Holm's tests would ask.
    """
    return 1 - (1 - check_confidence(confidence)) / max(m, 1)


def _adjusted(p: FloatArray, method: Adjustment) -> FloatArray:
    m = p.size
    order = np.argsort(p, kind="stable")
    ranked = p[order]
    left = m - np.arange(m)  # tests not smaller than this one
    if method == "bonferroni":
        stepped = m * ranked
    elif method == "holm":
        stepped = np.maximum.accumulate(left * ranked)
    elif method == "hochberg":
        stepped = np.minimum.accumulate((left * ranked)[::-1])[::-1]
    else:
        harmonic = float((1 / np.arange(1, m + 1)).sum())
        factor = m * (harmonic if method == "benjamini_yekutieli" else 1.0)
        raised = factor * ranked / np.arange(1, m + 1)
        stepped = np.minimum.accumulate(raised[::-1])[::-1]
    out = np.empty(m)
    # p / m * m may fall below p by rounding
    out[order] = np.clip(np.maximum(stepped, ranked), 0.0, 1.0)
    return out
