"""How a figure is written for a reader: its name, its digits, its interval, why it is undefined.

Results keep full precision; all rounding happens here. Everything works on the dictionaries that
:meth:`accord.validate.result.Estimate.to_dict` gives, so a stored report can be rendered again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

from ..scoring.errors import visible

__all__ = [
    "LABELS",
    "count",
    "counted",
    "defined",
    "estimate",
    "heading",
    "interval",
    "label",
    "moment",
    "p_value",
    "percent",
    "plain",
    "value",
    "visible",
    "with_interval",
]

PROPORTIONS = frozenset(
    {
        "accuracy",
        "agreement",
        "alignment_accuracy",
        "error_rate",
        "precision",
        "sensitivity",
        "specificity",
    }
)
"""Figures that are written in per cent."""

LABELS = {
    "agreement": "Raw agreement",
    "cohen_kappa": "Cohen’s κ",
    "weighted_kappa": "Weighted κ",
    "fleiss_kappa": "Fleiss’ κ",
    "conger_kappa": "Conger’s κ",
    "brennan_prediger": "Brennan–Prediger",
    "gwet_ac1": "Gwet’s AC1",
    "gwet_ac2": "Gwet’s AC2",
    "krippendorff_alpha_nominal": "Krippendorff’s α",
    "krippendorff_alpha_ordinal": "Krippendorff’s α (ordinal)",
    "krippendorff_alpha_interval": "Krippendorff’s α (interval)",
    "krippendorff_alpha_ratio": "Krippendorff’s α (ratio)",
    "pearson": "Pearson r",
    "spearman": "Spearman ρ",
    "kendall_tau_b": "Kendall τ-b",
    "mad": "MAD",
    "bias": "Bias",
    "rmse": "RMSE",
    "ccc": "Lin’s CCC",
    "icc_a1": "ICC(A,1)",
    "icc_c1": "ICC(C,1)",
    "limit_of_agreement_lower": "Lower limit of agreement",
    "limit_of_agreement_upper": "Upper limit of agreement",
    "mcc": "MCC",
    "mcnemar": "Exact McNemar test",
    "error_rate": "Error rate",
    "mean_score": "Mean score",
    "f1": "F1 of the judge’s verdicts",
    "macro_f1": "Macro F1",
    "agreement_difference": "Difference of agreement",
    "kappa_difference": "Difference of κ",
    "bias_difference": "Difference of bias",
    "bias_per_doubling": "Bias per doubling of length",
    "bias_per_doubling_within_systems": "Bias per doubling of length, within systems",
    "ceiling_difference": "Agreement, judge − people",
    "ceiling_difference_kappa": "κ, judge − people",
    "leave_one_out_agreement": "Leave-one-out agreement",
    "leave_one_out_agreement_difference": "Leave-one-out agreement, judge − people",
    "leave_one_out_cohen_kappa": "Leave-one-out κ",
    "leave_one_out_cohen_kappa_difference": "Leave-one-out κ, judge − people",
    "leave_one_out_pearson": "Leave-one-out r",
    "leave_one_out_pearson_difference": "Leave-one-out r, judge − people",
    "leave_one_out_mad": "Leave-one-out MAD",
    "leave_one_out_mad_difference": "Leave-one-out MAD, judge − people",
}
"""The names of figures in a paper; others are their own names."""

_MEANINGS = {
    "mad": "mean absolute difference",
    "rmse": "root mean squared difference",
    "bias": "mean difference, first − second",
    "mcc": "Matthews’ correlation of the labels",
    "brennan_prediger": "two labels: PABAK",
    "macro_f1": "mean over the labels, each counting alike",
    "icc_a1": "absolute agreement",
    "icc_c1": "consistency",
    "limit_of_agreement_lower": "Bland–Altman",
    "limit_of_agreement_upper": "Bland–Altman",
    "mcnemar": "share of the first rater’s among the items on which they differ",
}
"""What a name that a reader may take for something else stands for."""


def heading(result: Mapping[str, Any]) -> str:
    """The figure's name with what it means where that is easily mistaken, and its weighting."""
    name = str(result.get("name"))
    more = _MEANINGS.get(name)
    weighting = result.get("weighting") or (result.get("details") or {}).get("weighting")
    if weighting:
        more = f"{weighting} weights"
    return f"{label(name)}, {more}" if more else label(name)


_LARGE = 1e9
"""From here on a number is written with its power of ten."""


def label(name: str) -> str:
    """The figure's name as it is printed in a paper."""
    return LABELS.get(name, name.replace("_", " ").capitalize())


def defined(x: Any) -> TypeGuard[float]:
    """Whether this is a finite number (a bool is none)."""
    return isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)


def value(x: float | None, digits: int = 3) -> str:
    """A number with a true minus sign; never rounded to 0 or ±1 unless it is exactly that."""
    if not defined(x):
        return "–"
    if abs(x) >= _LARGE:
        return f"{x:.{digits}e}".replace("-", "−").replace("e+", "e")
    text = f"{x:.{digits}f}"
    for more in range(digits, 7):
        text = f"{x:.{more}f}"
        if float(text) not in (0.0, 1.0, -1.0) or float(text) == x:
            break
    if float(text) == 0.0:
        text = text.lstrip("-") if x == 0 else f"{x:.1e}"
    elif float(text) in (1.0, -1.0) and float(text) != x:
        text = f"{x:.12g}"
    return text.replace("-", "−")


def percent(x: float | None, digits: int = 2) -> str:
    """A share as per cent, ``84.81 %``; 100 and 0 only where it is exactly that."""
    return "–" if not defined(x) else f"{_percent(x, digits)} %"


def _percent(x: float, digits: int) -> str:
    scaled = 100 * x
    text = f"{scaled:.{digits}f}"
    if float(text) in (0.0, 100.0) and x not in (0.0, 1.0):
        text = f"{scaled:.{digits + 2}f}"
        if float(text) == 0.0:
            text = f"{scaled:.1e}"
        elif float(text) == 100.0:
            text = f"{scaled:.15g}"
    return text.replace("-", "−")


def count(n: float | None) -> str:
    """A count with thousands separators."""
    return "–" if not defined(n) else f"{n:,.0f}" if n == int(n) else f"{n:,.1f}"


def estimate(result: Mapping[str, Any]) -> str:
    """The point estimate alone, in the figure's own unit; ``undefined`` where there is none."""
    point = result.get("estimate")
    if not defined(point):
        return "undefined"
    return percent(point) if result.get("name") in PROPORTIONS else value(point)


def interval(result: Mapping[str, Any]) -> str:
    """``[low, high]`` in the figure's own unit, or ``""`` where there is no interval."""
    low, high = result.get("low"), result.get("high")
    if not (defined(low) and defined(high)):
        return ""
    if result.get("name") in PROPORTIONS:
        return f"[{_percent(low, 2)}, {_percent(high, 2)}]"
    return f"[{value(low)}, {value(high)}]"


def with_interval(result: Mapping[str, Any]) -> str:
    """Estimate and interval for a sentence: ``0.695 [0.654, 0.733]``, or what is missing and why.

    An undefined figure is never written as 0.
    """
    if not defined(result.get("estimate")):
        return f"undefined ({result.get('reason') or 'no reason given'})"
    limits = interval(result)
    return f"{estimate(result)} {limits or '(no interval)'}"


_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)")


def moment(text: str) -> str:
    """A time in ISO 8601, UTC, as ``2025-06-01 09:30:00 UTC``; other text as it is."""
    found = _MOMENT.fullmatch(text)
    return f"{found[1]} {found[2]} UTC" if found else text


_SURROGATE = re.compile("[\ud800-\udfff]")


def p_value(p: float | None) -> str:
    """``0.012``, ``<0.001``; a dash where there is no test."""
    return "–" if not defined(p) else "<0.001" if p < 0.001 else f"{p:.3f}"


def counted(number: int, noun: str) -> str:
    """``1 item``, ``1,490 items``."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def plain(x: Any) -> Any:
    """Any nested value as strict JSON values: NaN and infinities are None, NumPy scalars numbers.

    Lone surrogates become U+FFFD, since UTF-8 can't carry them.
    """
    if x is None or isinstance(x, (bool, int)):
        return x
    if isinstance(x, str):
        return str(x) if x.isascii() else _SURROGATE.sub("\ufffd", x)
    if isinstance(x, float):
        return float(x) if math.isfinite(x) else None
    if isinstance(x, Mapping):
        return {str(plain(str(key))): plain(item) for key, item in x.items()}
    if hasattr(x, "tolist"):
        return plain(x.tolist())
    if isinstance(x, Iterable):
        return [plain(item) for item in x]
    return plain(str(x))
