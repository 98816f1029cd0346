"""The figures of raters' labels: every coefficient on the same items.

Never one number: raw agreement is high by itself when a label is rare, κ and α fall with skew, AC1
hardly does, and on an ordered scale a near miss is not as wrong as a far one. Each figure carries
whose ratings it compares and how many items took no part, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..study.ratings import SCALES
from .asymmetry import mcnemar
from .beyond_chance import raw_agreement
from .chance import cohen_kappa, gwet_ac1, krippendorff_alpha, mcc
from .clusters import IntArray
from .coding import MISSING, Coded
from .many_raters import conger_kappa, fleiss_kappa
from .panel import Comparison, Figures, dropped_between, finish
from .panel_settings import PanelSettings
from .proportions import clustered_proportion
from .result import Estimate
from .screening import macro_f1
from .weighted import Weighting, brennan_prediger, gwet_ac2, weighted_kappa

__all__ = ["MANY_CATEGORIES", "compare_labels", "compare_people", "too_many"]

MANY_CATEGORIES = 50
"""Beyond so many distinct numbers exact agreement and its kin mean nothing."""
_WEIGHTINGS: tuple[Weighting, ...] = ("linear", "quadratic")


def too_many(coded: Coded, settings: PanelSettings) -> bool:
    """Whether the categories are so many distinct numbers that hardly two ratings are the same.

    Labels without an order are names: they can be equal however many there are.
    """
    return settings.scale != "nominal" and len(coded.categories) > MANY_CATEGORIES


def compare_labels(
    first: IntArray,
    second: IntArray,
    coded: Coded,
    settings: PanelSettings,
    *,
    raters: tuple[str, str],
    comparison: Comparison,
    figures: Figures = "all",
) -> list[Estimate]:
    """Every coefficient of two raters' labels on the items that both rated.

    Parameters
    ----------
    first, second
        ``(n_items,)`` codes, below 0 where missing; for a judge the judge comes first.
    figures
        ``main`` leaves out MCC, Brennan-Prediger, AC2 and McNemar's test.

    Returns
    -------
    list of Estimate
        On an ordered scale also weighted kappa (``details["weighting"]``) and AC2; of two labels
        McNemar's exact test; for a judge with a positive label sensitivity, specificity, precision
        and F1, and with three labels or more macro F1, the second rater being the truth.
    """
    both = (first >= 0) & (second >= 0)
    dropped = dropped_between(first, second)
    a, b = first[both], second[both]
    ratings = np.stack([a, b], axis=1)
    plain = _shared(coded, settings, both)
    shared, share = {**plain, **settings.interval}, {**plain, **settings.interval_of_share}
    k = len(coded.categories)
    named: dict[str, Any] = {"raters": raters, "comparison": comparison, "dropped": dropped}
    found: list[Estimate] = []
    if not too_many(coded, settings):
        found.append(raw_agreement(ratings, n_categories=k, **share))
        kappa = cohen_kappa(a, b, n_categories=k, **shared)
        if k == 2 and a.size:
            kappa = replace(kappa, details={**kappa.details, **_indices(a, b)})
        elif a.size:
            commonest = _commonest(a, b, coded.categories)
            kappa = replace(kappa, details={**kappa.details, **commonest})
        found.append(kappa)
        if settings.scale != "nominal":
            scale = {**shared, "n_categories": k, "values": coded.values}
            found += [
                _weighted(weighted_kappa(a, b, weighting=weighting, **scale), weighting)
                for weighting in _WEIGHTINGS
            ]
        if figures == "all":
            found.append(mcc(a, b, n_categories=k, **shared))
            found.append(brennan_prediger(ratings, n_categories=k, **shared))
    found += _alphas(ratings, coded, settings, shared)
    found += _gwet(ratings, coded, settings, shared, figures)
    if comparison != "people" and coded.positive is not None:
        found += _against_truth(a == coded.positive, b == coded.positive, share)
    if comparison != "people" and settings.scale == "nominal" and k >= 3:
        found.append(macro_f1(a, b, n_categories=k, **plain))
    weighted = coded.weights is not None
    out = [finish(one, coded.noun, weighted=weighted, **named) for one in found]
    if k == 2 and figures == "all":
        out.append(finish(_asymmetry(a, b, coded, settings, both), coded.noun, **named))
    return out


def compare_people(
    columns: Sequence[int], coded: Coded, settings: PanelSettings, *, figures: Figures = "all"
) -> list[Estimate]:
    """Every coefficient of all annotators together, on the items that two of them rated.

    An item with one rating is in no pair; it counts for the label shares of Fleiss' and Conger's
    kappa. ``figures="main"`` leaves those, Brennan-Prediger and AC2 out.
    """
    labelled = coded.labelled
    given = coded.codes[labelled][:, columns]
    codes = np.where(given >= 0, given, MISSING)
    plain = _shared(coded, settings, labelled)
    shared, share = {**plain, **settings.interval}, {**plain, **settings.interval_of_share}
    k = len(coded.categories)
    found: list[Estimate] = []
    if not too_many(coded, settings):
        found.append(raw_agreement(codes, n_categories=k, **share))
        if figures == "all":
            found += [
                coefficient(codes, n_categories=k, **shared)
                for coefficient in (fleiss_kappa, conger_kappa, brennan_prediger)
            ]
    found += _alphas(codes, coded, settings, shared)
    found += _gwet(codes, coded, settings, shared, figures)
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


def _gwet(
    ratings: IntArray,
    coded: Coded,
    settings: PanelSettings,
    shared: Mapping[str, Any],
    figures: Figures,
) -> Iterator[Estimate]:
    if too_many(coded, settings):
        return
    k = len(coded.categories)
    yield gwet_ac1(ratings, n_categories=k, **shared)
    if settings.scale != "nominal" and figures == "all":
        found = gwet_ac2(
            ratings, weighting="quadratic", values=coded.values, n_categories=k, **shared
        )
        yield _weighted(found, "quadratic")


def _weighted(one: Estimate, weighting: Weighting) -> Estimate:
    """The coefficient's own name; its weighting is told beside it."""
    return replace(
        one,
        name=one.name.removesuffix(f"_{weighting}"),
        details={**one.details, "weighting": weighting},
    )


def _asymmetry(
    a: IntArray, b: IntArray, coded: Coded, settings: PanelSettings, both: NDArray[np.bool_]
) -> Estimate:
    """McNemar's test of two labels, with its caution where items share a cluster."""
    label = 0 if coded.positive is None else coded.positive
    first, second = a == label, b == label
    out = mcnemar(
        int((first & ~second).sum()),
        int((~first & second).sum()),
        confidence=settings.confidence,
    )
    details = {**out.details, "label": coded.categories[label]}
    if coded.weights is not None:
        details["unweighted"] = True
    where = coded.clusters[both]
    alone = settings.unit == "item" or np.unique(where).size == where.size
    caution = (
        f"takes items as independent, and several share a {coded.noun}: its p-value is too small;"
        " read the share of each label, or the signed bias of responses",
    )
    return replace(out, details=details, warnings=() if alone else caution)


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
        if too_many(coded, settings) and (counted or level == "ratio"):
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


def _commonest(a: IntArray, b: IntArray, categories: Sequence[str]) -> dict[str, Any]:
    """The label that is commonest with both raters together, and the share each gives it."""
    both = np.bincount(np.concatenate([a, b]), minlength=len(categories))
    label = int(both.argmax())
    shares = [float((codes == label).mean()) for codes in (a, b)]
    return {"commonest_label": categories[label], "commonest_shares": shares}


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
