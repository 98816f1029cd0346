"""Does a judge's bias change with the length of the response?

Length is the number of tokens where it is known for every response, else the number of elements.
People's scores are taken off, so that it does not matter whether long answers are better ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..scoring.errors import InputError
from .against_people import AgainstPeople, against_people
from .cautions import FEW_DIFFERING, data_warnings, hangs_on_one, too_few
from .clusters import (
    Clusters,
    FloatArray,
    IntArray,
    Sums,
    Unit,
    check_confidence,
    check_unit,
    effective_size,
    jackknife_se,
    leave_one_out,
    unit_mean_weights,
    without_rounding,
)
from .differences import bias
from .figures import count, value, visible
from .intervals import t_quantile
from .panel import finish
from .result import Estimate
from .section import Section, View
from .text_cells import pad

__all__ = ["bias_per_doubling", "length_section"]

TOKENS = "output_tokens"
_LEAST = 10
_THIRDS = ("short", "middle", "long")


def bias_per_doubling(
    difference: Any,
    length: Any,
    *,
    clusters: Any,
    weights: Any = None,
    within: Any = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """By how much does judge − people change where a response is twice as long?

    Parameters
    ----------
    difference
        ``(n,)`` judge − people of each response; no NaN.
    length
        ``(n,)`` above 0.
    clusters
        ``(n,)`` integer codes of the responses' questions.
    weights
        ``(n,)`` positive, e.g. inverse inclusion probabilities; None means equal.
    within
        ``(n,)`` codes of groups (systems) whose own means are taken out of both; None for none.
    confidence
        Of the interval, in (0, 1).
    unit
        ``question``, or ``item``, which takes responses as independent.

    Returns
    -------
    Estimate
        The least-squares slope of the difference on log2 length, in units of the score; 0 means no
        trend. The interval is the question jackknife's with t, its variance enlarged by one pair
        of pseudo-questions one standard deviation of length from the mean that differ by plus and
        minus the largest difference, as that of the mean bias is. NaN with a reason where all
        lengths are the same (in every group); no interval below 10 questions, where all
        differences are the same, nor where one question holds all that varies in length.
        ``details``: ``se``, ``df``, ``differing``, ``effective_n``.

    Raises
    ------
    InputError
        Arrays of different lengths, a length that is not above 0, bad weights.
    """
    check_confidence(confidence)
    check_unit(unit)
    d, sizes = np.asarray(difference, dtype=float), np.asarray(length, dtype=float)
    if d.ndim != 1 or sizes.shape != d.shape:
        raise InputError(f"differences have shape {d.shape}, lengths {sizes.shape}")
    if not (np.isfinite(sizes) & (sizes > 0)).all() or not np.isfinite(d).all():
        raise InputError("a length is not above 0, or a difference is no finite number")
    groups = Clusters.of(clusters, d.size)
    w = unit_mean_weights(weights, d.size)
    name = "bias_per_doubling" if within is None else "bias_per_doubling_within_systems"
    out = Estimate(
        name, math.nan, confidence=confidence, unit=unit, n=d.size, clusters=groups.count
    )
    if not d.size:
        return replace(out, reason="no items")
    x = np.log2(sizes)
    y = d
    if within is not None:
        x, y = (_centred(each, w, np.asarray(within)) for each in (x, y))
    x, y = x - np.average(x, weights=w), y - np.average(y, weights=w)
    spread = float(np.average(x * x, weights=w))
    if spread < 1e-18:
        where = "" if within is None else " within each system"
        return replace(out, reason=f"all responses are of the same length{where}")
    scale = float(np.abs(d).max()) or 1.0
    sums = Sums(np.column_stack([w, w * x, w * y / scale, w * x * x, w * x * y / scale]), groups)
    theta = without_rounding(sums.value(_slope))
    se, design = sums.linearised(_slope)
    by = sums.by(unit)
    df = groups.df if unit == "question" else float(d.size - 1)
    differing = int((d != 0).sum())
    reason = too_few(len(by), _LEAST, unit)
    warned = data_warnings(groups, w, df=df, unit=unit)
    if differing < FEW_DIFFERING:
        warned.append(f"rests on {differing} responses where the judge differs (fewer than 10)")
    out = replace(
        out,
        estimate=theta * scale,
        method=_method(unit),
        design_effect=design,
        reason=reason,
        warnings=tuple(warned),
        details={
            "se": se * scale,
            "df": df,
            "differing": differing,
            "effective_n": effective_size(d.size, design),
        },
    )
    if np.ptp(d) <= 1e-12 * scale:
        return replace(out, reason="all differences are the same: no variation")
    if reason is not None:
        return out
    away = leave_one_out(_slope, by)
    if not np.isfinite(away).all():
        return replace(out, reason=hangs_on_one(math.nan, unit))
    pair = 2 / (d.size**2 * spread)
    reach = t_quantile(confidence, df) * math.hypot(jackknife_se(away), math.sqrt(pair))
    return replace(out, low=(theta - reach) * scale, high=(theta + reach) * scale)


def length_section(view: View) -> Section | None:
    """Bias by length of each judge; None without responses, or where all are equally long."""
    lengths = _lengths(view)
    if lengths is None:
        return None
    results: list[Estimate] = []
    for column in view.coded.of("judge"):
        data = against_people(view, column)
        if isinstance(data, str) or data.level != "response":
            continue
        here = lengths.values[data.rows]
        if np.unique(here).size > 1:
            results += _of_judge(view, data, here, lengths.unit)
    if not results:
        return None
    return Section(
        "length",
        f"Bias by length of the response ({lengths.unit})",
        results=tuple(results),
        lines=tuple(_lines(results)),
        notes=tuple(_verdicts(results, lengths.unit)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Lengths:
    values: FloatArray
    unit: str


def _lengths(view: View) -> _Lengths | None:
    """``(n_responses,)`` lengths above 0, NaN where unknown."""
    responses = view.responses
    if isinstance(responses, str) or view.people is None:
        return None
    tokens = _tokens(view, responses.of_item, responses.sizes.size)
    if tokens is not None:
        return _Lengths(tokens, "tokens")
    if responses.measure == "mean_rating":
        return None  # how many ratings a response has is no length
    sizes = responses.sizes.astype(float)
    if responses.n_predicted is not None:
        sizes = responses.n_predicted
    return _Lengths(np.where(sizes > 0, sizes, np.nan), "elements")


def _tokens(view: View, of_item: IntArray, n: int) -> FloatArray | None:
    """Tokens of each response, where all that people rated have one number of them."""
    items = view.coded.items
    if TOKENS not in items.columns:
        return None
    out = np.full(n, math.nan)
    for response, cell in zip(of_item.tolist(), items[TOKENS].tolist(), strict=True):
        try:
            number = float(cell) if cell is not None else math.nan
        except (TypeError, ValueError):
            return None
        if not number > 0:
            number = math.nan
        if math.isfinite(out[response]) and out[response] != number:
            return None
        out[response] = number
    assert not isinstance(view.responses, str)  # else there is no response to have tokens
    return out if np.isfinite(out[view.responses.labelled]).all() else None


def _of_judge(view: View, data: AgainstPeople, length: FloatArray, unit: str) -> list[Estimate]:
    kept = np.isfinite(length)
    dropped = dict(data.dropped)
    if not kept.all():
        dropped["empty response"] = int((~kept).sum())
    length = length[kept]
    rows = np.flatnonzero(kept)

    def shared(part: IntArray) -> dict[str, Any]:
        return {
            "clusters": data.clusters[part],
            "weights": None if data.weights is None else data.weights[part],
            "confidence": view.settings.confidence,
            "unit": view.settings.unit,
        }

    d = data.difference[kept]
    found: list[tuple[Estimate, dict[str, Any]]] = []
    found.append((bias_per_doubling(d, length, **shared(rows)), {}))
    systems, codes = np.unique(
        np.array([str(one) for one in data.about["system"][kept]], dtype=object),
        return_inverse=True,
    )
    if systems.size > 1:
        found.append((bias_per_doubling(d, length, within=codes, **shared(rows)), {}))
    for third, part in _thirds(length):
        one = bias(data.judge[rows[part]], data.people[rows[part]], **shared(rows[part]))
        ends = [float(length[part].min()), float(length[part].max())]
        found.append((one, {"strata": "length", "stratum": third, "from": ends[0], "to": ends[1]}))
    return [
        finish(
            one,
            view.coded.noun,
            raters=data.raters,
            comparison=data.comparison,
            level="response",
            dropped=dropped,
            details={"measure": data.measure, "length": unit, **more},
            weighted=data.weights is not None,
        )
        for one, more in found
    ]


def _thirds(length: FloatArray) -> list[tuple[str, IntArray]]:
    """Short, middle and long responses; those of one length stay together."""
    low, high = np.quantile(length, [1 / 3, 2 / 3], method="inverted_cdf")
    parts = (length <= low, (length > low) & (length <= high), length > high)
    return [
        (name, np.flatnonzero(part))
        for name, part in zip(_THIRDS, parts, strict=True)
        if part.any()
    ]


def _slope(t: Any) -> Any:
    n, x, y, xx, xy = (t[..., column] for column in range(5))
    across = n * xx - x * x
    # a question that holds all the spread of length leaves nothing to fit without it
    return (n * xy - x * y) / np.where(across.real > 1e-12 * n.real**2, across, np.nan)


def _centred(values: FloatArray, w: FloatArray, group: IntArray) -> FloatArray:
    """Values less the mean of their group."""
    codes = np.unique(group, return_inverse=True)[1]
    means = np.bincount(codes, w * values) / np.bincount(codes, w)
    return np.asarray(values - means[codes], dtype=float)


def _method(unit: Unit) -> str:
    how = "jackknife t of the least-squares slope on log2 length, one pair of pseudo-"
    if unit == "question":
        return f"question {how}questions"
    return f"item {how}items; responses taken as independent"


def _lines(results: Sequence[Estimate]) -> list[str]:
    out = [f"{pad('judge − people', 56)} {'bias':>8}  {'interval':<18} {'responses':>9}"]
    for one in results:
        who, details = visible(one.raters[0]), one.details
        if one.name == "bias":
            ends = f"{count(details['from'])}–{count(details['to'])} {details['length']}"
            what = f"{who}: {details['stratum']}, {ends}"
        elif one.name == "bias_per_doubling":
            what = f"{who}: change a doubling of length"
        else:
            what = f"{who}: the same within systems"
        limits = "–" if math.isnan(one.low) else f"[{value(one.low)}, {value(one.high)}]"
        out.append(f"{pad(what, 56)} {value(one.estimate):>8}  {limits:<18} {count(one.n):>9}")
        if one.reason:
            out.append(f"  ({visible(one.reason)})")
    return out


def _verdicts(results: Sequence[Estimate], unit: str) -> list[str]:
    by_judge: dict[str, dict[str, Estimate]] = {}
    for one in results:
        if one.name != "bias":
            by_judge.setdefault(one.raters[0], {})[one.name] = one
    out = []
    for judge, found in by_judge.items():
        out += _verdict(judge, found, unit)
    return out


def _verdict(judge: str, found: Mapping[str, Estimate], unit: str) -> list[str]:
    plain = found["bias_per_doubling"]
    if math.isnan(plain.low):
        return []
    if plain.low <= 0 <= plain.high:
        bound = value(max(abs(plain.low), abs(plain.high)))
        return [f"{judge}: no trend with length is shown, up to {bound} a doubling either way"]
    way = "more generous" if plain.estimate > 0 else "stricter"
    text = (
        f"{judge} grows {way} than people by {value(abs(plain.estimate))} where a response has"
        f" twice the {unit}"
    )
    inside = found.get("bias_per_doubling_within_systems")
    if inside is not None and inside.low <= 0 <= inside.high:
        text += ", but within systems no trend is shown: it may be the systems that differ"
    return [text]
