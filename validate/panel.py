"""The panel of one comparison: every coefficient on the same items, with what was left out.

Never one number: raw agreement is high by itself when a label is rare, κ and α fall with skew, AC1
hardly does. Each figure carries whose ratings it compares and how many items took no part, and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..study.ratings import SCALES
from .beyond_chance import raw_agreement
from .chance import cohen_kappa, gwet_ac1, krippendorff_alpha
from .clusters import FloatArray, IntArray
from .coding import MISSING, NOBODY, REASONS, Coded
from .correlation import pearson, spearman
from .differences import bias, mad
from .panel_settings import PanelSettings
from .proportions import clustered_proportion
from .result import Estimate, Level

__all__ = [
    "Comparison",
    "Confusion",
    "compare_labels",
    "compare_numbers",
    "compare_people",
    "confusion",
    "dropped_between",
    "finish",
]

Comparison = Literal["people", "judge-annotator", "judge-final"]

MANY_CATEGORIES = 50
"""Beyond so many distinct numbers exact agreement and its kin mean nothing."""
LARGE_TABLE = 20


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often which label met which.

    Parameters
    ----------
    raters
        The judge and the person (or two people).
    labels
        The categories, in the order of ``counts``.
    counts
        ``counts[i][j]``: items to which the second rater gave ``labels[i]`` and the first
        ``labels[j]`` (people in rows, the judge in columns). Items, unweighted.
    positive
        The label of the four counts below; None where there is none.
    tp, fp, fn, tn
        Both positive; only the first rater (the judge); only the second; neither.
    """

    raters: tuple[str, str]
    comparison: Comparison
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    positive: str | None = None
    tp: int | None = None
    fp: int | None = None
    fn: int | None = None
    tn: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The table as JSON values."""
        out: dict[str, Any] = {
            "name": "confusion",
            "level": "element",
            "comparison": self.comparison,
            "raters": list(self.raters),
            "labels": list(self.labels),
            "categories": list(self.labels),
            "counts": [list(row) for row in self.counts],
            "rows": self.raters[1],
            "columns": self.raters[0],
            "n": sum(map(sum, self.counts)),
            "dropped": dict(self.dropped),
        }
        if self.positive is not None:
            out |= {"positive": self.positive}
            out |= {name: getattr(self, name) for name in ("tp", "fp", "fn", "tn")}
        return out


def compare_labels(
    first: IntArray,
    second: IntArray,
    coded: Coded,
    settings: PanelSettings,
    *,
    raters: tuple[str, str],
    comparison: Comparison,
) -> list[Estimate]:
    """Agreement, κ, α and AC1 of two raters on the items that both rated.

    Parameters
    ----------
    first, second
        ``(n_items,)`` codes, below 0 where missing; for a judge the judge comes first.

    Returns
    -------
    list of Estimate
        For a judge with a positive label also sensitivity, specificity, precision and F1, with
        the second rater as the truth.
    """
    both = (first >= 0) & (second >= 0)
    dropped = dropped_between(first, second)
    a, b = first[both], second[both]
    ratings = np.stack([a, b], axis=1)
    shared = _shared(coded, settings, both)
    k = len(coded.categories)
    found: list[Estimate] = []
    if k <= MANY_CATEGORIES:
        found.append(raw_agreement(ratings, n_categories=k, **shared))
        kappa = cohen_kappa(a, b, n_categories=k, **shared)
        if k == 2 and a.size:
            kappa = replace(kappa, details={**kappa.details, **_indices(a, b)})
        found.append(kappa)
    found += _alphas(ratings, coded, settings, shared)
    if k <= MANY_CATEGORIES:
        found.append(gwet_ac1(ratings, n_categories=k, **shared))
    if comparison != "people" and coded.positive is not None:
        found += _against_truth(a == coded.positive, b == coded.positive, shared)
    return [
        finish(
            one,
            coded.noun,
            raters=raters,
            comparison=comparison,
            dropped=dropped,
            weighted=coded.weights is not None,
        )
        for one in found
    ]


def compare_people(columns: Sequence[int], coded: Coded, settings: PanelSettings) -> list[Estimate]:
    """Agreement, α and AC1 of all annotators together; items with one rating are left out."""
    labelled = coded.labelled
    given = coded.codes[labelled][:, columns]
    codes = np.where(given >= 0, given, MISSING)
    shared = _shared(coded, settings, labelled)
    k = len(coded.categories)
    found: list[Estimate] = []
    if k <= MANY_CATEGORIES:
        found.append(raw_agreement(codes, n_categories=k, **shared))
    found += _alphas(codes, coded, settings, shared)
    if k <= MANY_CATEGORIES:
        found.append(gwet_ac1(codes, n_categories=k, **shared))
    raters = tuple(coded.raters[column] for column in columns)
    return [
        finish(
            one,
            coded.noun,
            raters=raters,
            comparison="people",
            dropped=one.dropped,
            weighted=coded.weights is not None,
        )
        for one in found
    ]


def compare_numbers(
    first: FloatArray,
    second: FloatArray,
    *,
    clusters: IntArray,
    weights: FloatArray | None,
    settings: PanelSettings,
    ranks_only: bool = False,
) -> list[Estimate]:
    """Pearson, Spearman, mean absolute difference and signed bias (first − second); no NaN inside.

    ``ranks_only`` leaves what needs distances out: the numbers are an order only.
    """
    shared: dict[str, Any] = {
        "clusters": clusters,
        "weights": weights,
        "confidence": settings.confidence,
        "unit": settings.unit,
    }
    drawn: dict[str, Any] = {"rng": settings.seed, "resamples": settings.resamples}
    if ranks_only:
        return [spearman(first, second, **shared, **drawn)]
    return [
        pearson(first, second, **shared, **drawn),
        spearman(first, second, **shared, **drawn),
        mad(first, second, **shared),
        bias(first, second, **shared),
    ]


def confusion(
    first: IntArray,
    second: IntArray,
    coded: Coded,
    *,
    raters: tuple[str, str],
    comparison: Comparison,
) -> Confusion | None:
    """The table of two raters' labels; None beyond 20 labels."""
    k = len(coded.categories)
    if k > LARGE_TABLE:
        return None
    both = (first >= 0) & (second >= 0)
    a, b = first[both], second[both]
    table = np.bincount(b * k + a, minlength=k * k).reshape(k, k)
    out = Confusion(
        raters=raters,
        comparison=comparison,
        labels=coded.categories,
        counts=tuple(tuple(int(cell) for cell in row) for row in table),
        dropped=dropped_between(first, second),
    )
    if coded.positive is None:
        return out
    judged, true = a == coded.positive, b == coded.positive
    return replace(
        out,
        positive=coded.categories[coded.positive],
        tp=int((judged & true).sum()),
        fp=int((judged & ~true).sum()),
        fn=int((~judged & true).sum()),
        tn=int((~judged & ~true).sum()),
    )


def dropped_between(*columns: NDArray[Any]) -> dict[str, int]:
    """Items without a rating in some column: the first reason that holds → count.

    An item that a person never saw counts as missing, not by what else is wrong with it; one that
    no person saw is not counted.
    """
    left = np.any([column == NOBODY for column in columns], axis=0)
    out: dict[str, int] = {}
    for code, reason in REASONS.items():
        here = np.any([column == code for column in columns], axis=0) & ~left
        if here.any():
            out[reason] = int(here.sum())
        left |= here
    return out


def finish(
    one: Estimate,
    noun: str,
    *,
    raters: tuple[str, ...],
    comparison: Comparison,
    level: Level = "element",
    dropped: Mapping[str, int] | None = None,
    details: Mapping[str, Any] | None = None,
    weighted: bool = False,
) -> Estimate:
    """A coefficient with its raters, level and the name of the resampling unit.

    A weighted one says so in its method, and has ``details["weighted"]``.
    """
    return replace(
        one,
        raters=raters,
        level=level,
        unit=noun if one.unit == "question" else one.unit,
        method=_worded(one.method, noun) + ("; weighted" if weighted and one.method else ""),
        reason=None if one.reason is None else _worded(one.reason, noun),
        warnings=tuple(_worded(text, noun) for text in one.warnings),
        dropped=dict(one.dropped if dropped is None else dropped),
        details={
            "comparison": comparison,
            **({"weighted": True} if weighted else {}),
            **one.details,
            **(details or {}),
        },
    )


def _worded(text: str, noun: str) -> str:
    """Name the clusters as the table does, where they are not questions."""
    return text if noun == "question" else re.sub(r"\bquestion(?=s?\b)", noun, text)


def _shared(coded: Coded, settings: PanelSettings, used: NDArray[np.bool_]) -> dict[str, Any]:
    return {
        "clusters": coded.clusters[used],
        "weights": None if coded.weights is None else coded.weights[used],
        "confidence": settings.confidence,
        "unit": settings.unit,
    }


def _alphas(
    ratings: IntArray, coded: Coded, settings: PanelSettings, shared: Mapping[str, Any]
) -> Iterable[Estimate]:
    """Alpha at the scale's level and at those below it, since they part on skewed scales."""
    for level in SCALES[: SCALES.index(settings.scale) + 1]:
        counted = level in ("nominal", "ordinal")
        if len(coded.categories) > MANY_CATEGORIES and (counted or level == "ratio"):
            continue
        if level == "ratio" and coded.values is not None and (coded.values < 0).any():
            continue
        yield krippendorff_alpha(
            ratings,
            level=level,
            values=None if counted else coded.values,
            n_categories=len(coded.categories),
            **shared,
        )


def _indices(a: IntArray, b: IntArray) -> dict[str, float]:
    """Prevalence (a − d)/n and bias (b − c)/n of a 2 × 2 table (Byrt, Bishop & Carlin 1993)."""
    n = a.size
    return {
        "prevalence_index": float(((a == 0) & (b == 0)).sum() - ((a == 1) & (b == 1)).sum()) / n,
        "bias_index": float(((a == 0) & (b == 1)).sum() - ((a == 1) & (b == 0)).sum()) / n,
    }


def _against_truth(
    judged: NDArray[np.bool_],
    true: NDArray[np.bool_],
    shared: Mapping[str, Any],
) -> Iterable[Estimate]:
    """Sensitivity, specificity, precision and F1 of the judge, people's label as the truth."""
    figures: tuple[tuple[str, NDArray[np.bool_], NDArray[np.bool_], str], ...] = (
        ("sensitivity", true, judged, "people gave no positive label"),
        ("specificity", ~true, ~judged, "people gave no negative label"),
        ("precision", judged, true, "the judge gave no positive label"),
    )
    for name, among, right, reason in figures:
        part = clustered_proportion(right.astype(float), among=among, **shared)
        yield replace(part, name=name, reason=reason if part.n == 0 else part.reason)
    yield _f1(judged, true, shared)


def _f1(judged: NDArray[np.bool_], true: NDArray[np.bool_], shared: Mapping[str, Any]) -> Estimate:
    """F1 = 2 tp / (2 tp + fp + fn): a share in which a hit counts twice, in the same clusters."""
    given = judged | true
    out = clustered_proportion((judged & true).astype(float), among=given, hits=2, **shared)
    out = replace(out, name="f1")
    if not given.any():
        return replace(out, reason="neither the judge nor people gave a positive label")
    return replace(out, method=f"{out.method}; a hit counts twice")
