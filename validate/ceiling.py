"""Does a judge agree with people as people agree with one another, on the same items?

The ceiling of a judge is people's own agreement. Judge–human and human–human agreement are taken
on the same items, so that their difference is one of raters and not of items.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import InputError, SettingsError
from .cautions import FEW_DISAGREEMENTS, data_warnings, hangs_on_one, too_few
from .clusters import (
    Clusters,
    FloatArray,
    IntArray,
    Sums,
    Unit,
    check_confidence,
    check_unit,
    effective_size,
    leave_one_out,
    unit_mean_weights,
    without_rounding,
)
from .intervals import IDENTITY, jackknife_limits, t_quantile
from .rated import (
    BoolArray,
    Pairs,
    Term,
    check_cells,
    columns,
    differing_items,
    positive,
    rating_codes,
)
from .result import Estimate

__all__ = ["Coefficient", "ceiling_difference", "ceiling_of_shares", "shifted_limits"]

Coefficient = Literal["agreement", "cohen_kappa"]

_LEAST_RAW = 6
_LEAST_KAPPA = 10
_SAME = 1e-9
"""Shares of pairs that differ by less are the same share."""


def ceiling_difference(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    coefficient: Coefficient = "agreement",
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """By how much does the judge agree with people more (or less) than people with one another?

    Parameters
    ----------
    judge
        ``(n,)`` codes 0..k-1 of the judge, -1 = missing (never a category).
    people
        ``(n, n_annotators)`` codes of the annotators, -1 = missing.
    coefficient
        ``agreement``: the mean over items of (share of the item's annotators whom the judge
        matches) − (share of its pairs of annotators that agree). ``cohen_kappa``: mean κ of judge
        and annotator minus mean κ of two annotators; pairs without a common item don't count.
    n_categories
        k, the number of declared categories.
    clusters
        ``(n,)`` integer codes of the items' questions.
    weights
        ``(n,)`` positive, e.g. inverse inclusion probabilities; None means equal.
    confidence
        Of the interval, in (0, 1).
    unit
        ``question``, or ``item``, which takes items as independent.

    Returns
    -------
    Estimate
        ``ceiling_difference`` (``ceiling_difference_kappa``), in [-1, 1] (κ: [-2, 2]): 0 is a
        judge at people's own level, negative below it. Only items count that the judge and two
        annotators have rated. NaN with a reason where nobody ever disagrees (there is no ceiling
        to be seen), or a κ is undefined. ``details``: ``judge_human``, ``human_human``,
        ``differing`` (items where the two differ), ``disagreements`` (items on which not all agree,
        the judge among them), ``se`` (linearised by question), ``df``, ``effective_n``.

        Interval of the agreement: linearised t by question, each limit the outer one of that and
        of the same with one pseudo-question added, a single item with a difference of -1 (+1),
        since few differing items make the plain one far too short; none below 6 questions. Of κ:
        question jackknife t on the plain scale, none below 10 questions or where it hangs on one
        question (without it a κ is undefined); it has no such guard, so take a verdict from the
        agreement.

    Raises
    ------
    InputError
        Arrays of different lengths, codes outside -1..k-1, bad weights.
    SettingsError
        An unknown coefficient.

    Notes
    -----
    A judge above 0 is no better than people: it may sit in the middle of their spread.
    Annotators are fixed, the interval speaks for these.
    """
    check_confidence(confidence)
    check_unit(unit)
    if coefficient not in ("agreement", "cohen_kappa"):
        raise SettingsError(
            f"coefficient {coefficient!r} is unknown", cure="agreement or cohen_kappa"
        )
    x = rating_codes(people, n_categories)
    j = rating_codes(np.asarray(judge).reshape(-1, 1), n_categories)[:, 0]
    if len(j) != len(x):
        raise InputError(f"the judge has {len(j)} ratings, the annotators' items are {len(x)}")
    groups, w = Clusters.of(clusters, len(x)), unit_mean_weights(weights, len(x))
    two = np.asarray((x >= 0).sum(axis=1) >= 2)
    used = two & (j >= 0)
    name = "ceiling_difference" + ("_kappa" if coefficient == "cohen_kappa" else "")
    out = Estimate(
        name,
        math.nan,
        confidence=confidence,
        unit=unit,
        n=int(used.sum()),
        dropped=_left_out(two, used),
    )
    if not used.any():
        return replace(out, reason="no item has two annotators and the judge")
    x, j, where = x[used], j[used], groups.codes[used]
    w = unit_mean_weights(w[used], len(x))
    pairs = Pairs.of(x)
    judge_human = (x == j[:, None]).sum(axis=1) / pairs.ratings
    human_human = pairs.agreeing / pairs.pairs
    found = ceiling_of_shares(
        judge_human, human_human, clusters=where, weights=w, confidence=confidence, unit=unit
    )
    details = {
        **found.details,
        "disagreements": differing_items(np.column_stack([x, j])),
        "annotators": int((x >= 0).any(axis=0).sum()),
    }
    found = replace(found, dropped=out.dropped, details=details)
    if coefficient == "agreement" or details["disagreements"] == 0:
        return replace(found, name=name)
    return replace(_kappas(found, x, j, Clusters.of(where, len(x)), w, n_categories), name=name)


def ceiling_of_shares(
    judge_human: ArrayLike,
    human_human: ArrayLike,
    *,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """:func:`ceiling_difference` from each item's two shares of agreement.

    Parameters
    ----------
    judge_human, human_human
        ``(n,)`` in [0, 1]: how often the judge, and how often another person, says what an
        annotator of the item says.
    """
    check_confidence(confidence)
    check_unit(unit)
    a, b = np.asarray(judge_human, dtype=float), np.asarray(human_human, dtype=float)
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"the two shares have shapes {a.shape} and {b.shape}")
    groups, w = Clusters.of(clusters, a.size), unit_mean_weights(weights, a.size)
    out = Estimate("ceiling_difference", math.nan, confidence=confidence, unit=unit, n=a.size)
    if a.size == 0:
        return replace(out, reason="no items")
    d = np.where(np.abs(a - b) < _SAME, 0.0, a - b)
    differing = int((d != 0).sum())
    details: dict[str, object] = {
        "judge_human": float(w @ a / w.sum()),
        "human_human": float(w @ b / w.sum()),
        "differing": differing,
    }
    sums = Sums(np.column_stack([w * d, w]), groups)
    by = sums.by(unit)
    df = groups.df if unit == "question" else float(a.size - 1)
    out = replace(
        out,
        clusters=groups.count,
        warnings=tuple(data_warnings(groups, w, df=df, unit=unit)),
        details=details,
    )
    if differing == 0:
        nobody = bool((a > 1 - _SAME).all())
        why = "nobody ever disagrees" if nobody else "judge and people agree alike on every item"
        return replace(out, reason=f"{why}: the difference has no variation")
    theta = without_rounding(sums.value(_ratio))
    se, design = sums.linearised(_ratio)
    reason = too_few(len(by), _LEAST_RAW, unit)
    if np.ptp(d) < _SAME:
        reason = "no interval: all differences are the same, no variation"
    low = high = math.nan
    if reason is None:
        low, high = shifted_limits(by, t_quantile(confidence, df))
    said = list(out.warnings)
    if differing < FEW_DISAGREEMENTS:
        said.append(
            f"INCONCLUSIVE: rests on {differing} items on which judge and people agree differently"
            " (fewer than 10)"
        )
    noun = "question" if unit == "question" else "item"
    return replace(
        out,
        estimate=theta,
        low=low,
        high=high,
        method=f"linearised t by {noun}, one {noun} shifted"
        + ("" if unit == "question" else "; items taken as independent"),
        design_effect=design,
        reason=reason,
        warnings=tuple(said),
        details={**details, "se": se, "df": df, "effective_n": effective_size(a.size, design)},
    )


def shifted_limits(sums: FloatArray, critical: float) -> tuple[float, float]:
    """Linearised limits of a mean difference, each with one pseudo-unit against it.

    Parameters
    ----------
    sums
        ``(G, 2)`` of each unit: Σ w d and Σ w, weights of mean 1.
    critical
        Student's quantile.
    """

    def limit(table: FloatArray, sign: float) -> float:
        mean = table[:, 0].sum() / table[:, 1].sum()
        u = table[:, 0] - mean * table[:, 1]
        g = len(table)
        se = math.sqrt(g / (g - 1) * float(u @ u)) / table[:, 1].sum()
        return float(mean + sign * critical * se)

    low, high = (
        pick(limit(sums, sign), limit(np.vstack([sums, [sign, 1.0]]), sign))
        for sign, pick in ((-1.0, min), (1.0, max))
    )
    return low, high


def _kappas(
    raw: Estimate, x: IntArray, j: IntArray, groups: Clusters, w: FloatArray, k: int
) -> Estimate:
    """Mean κ of judge and annotator minus mean κ of two annotators, in one vector of sums."""
    persons = range(x.shape[1])
    chosen: list[tuple[IntArray, IntArray]] = [(x[:, c], j) for c in persons]
    chosen += [(x[:, a], x[:, b]) for a, b in itertools.combinations(persons, 2)]
    with_judge = [at < len(persons) for at in range(len(chosen))]
    shared = [np.flatnonzero((a >= 0) & (b >= 0)) for a, b in chosen]
    kept = [at for at, rows in enumerate(shared) if rows.size]
    judged = np.array([with_judge[at] for at in kept])
    width = 1 + 2 * k
    terms: list[Term] = []
    for at, pair in enumerate(kept):
        (a, b), rows, start = chosen[pair], shared[pair], at * width
        differs = rows[a[rows] != b[rows]]
        terms += [
            (differs, start, w[differs]),
            (rows, start + 1 + a[rows], w[rows]),
            (rows, start + 1 + k + b[rows], w[rows]),
        ]
    unit: Unit = "item" if raw.unit == "item" else "question"
    count = groups.count if unit == "question" else len(x)
    check_cells(count, len(kept) * width, "the ceiling difference of kappa")
    sums = Sums(columns((len(x), len(kept) * width), terms), groups)

    def each(totals: Any) -> Any:
        t = totals.reshape(*totals.shape[:-1], len(kept), width)
        first, second = t[..., 1 : 1 + k], t[..., 1 + k :]
        n = first.sum(axis=-1)
        chance = n * n - (first * second).sum(axis=-1)
        return 1 - t[..., 0] * n / positive(chance, n * n)

    def f(totals: Any) -> Any:
        kappas = each(totals)
        return kappas[..., judged].mean(axis=-1) - kappas[..., ~judged].mean(axis=-1)

    with np.errstate(all="ignore"):
        kappas = each(sums.total)
    df = groups.df if unit == "question" else float(len(x) - 1)
    out = replace(
        raw,
        estimate=math.nan,
        low=math.nan,
        high=math.nan,
        method="question jackknife t, plain scale"
        if unit == "question"
        else "item jackknife t, plain scale; items taken as independent",
        details={
            **raw.details,
            "judge_human": float(kappas[judged].mean()),
            "human_human": float(kappas[~judged].mean()),
        },
    )
    if not np.isfinite(kappas).all():
        gone = int((~np.isfinite(kappas)).sum())
        return replace(
            out,
            reason=f"kappa is undefined for {gone} of {len(kept)} pairs of raters"
            " (one category only)",
        )
    theta = without_rounding(sums.value(f))
    se, design = sums.linearised(f)
    reason = too_few(count, _LEAST_KAPPA, unit)
    low = high = math.nan
    if reason is None:
        away = leave_one_out(f, sums.by(unit))
        low, high = jackknife_limits(theta, away, scale=IDENTITY, df=df, confidence=raw.confidence)
        reason = hangs_on_one(low, unit)
    return replace(
        out,
        estimate=theta,
        low=low,
        high=high,
        design_effect=design,
        reason=reason,
        details={**out.details, "se": se, "effective_n": effective_size(len(x), design)},
    )


def _ratio(totals: Any) -> Any:
    return totals[..., 0] / totals[..., 1]


def _left_out(two: BoolArray, used: BoolArray) -> dict[str, int]:
    counts = {
        "fewer than two annotators": int((~two).sum()),
        "no rating by the judge": int((two & ~used).sum()),
    }
    return {why: number for why, number in counts.items() if number}
