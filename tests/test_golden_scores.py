"""Every case of the golden files on correlation, scores, clusters and tests.

Programs behind the values (each case names those that agree): R stats, psych, DescTools, pcaPP,
epiR, irr, lme4, survey, clubSandwich, exact2x2; scipy, statsmodels, pingouin, scikit-learn,
krippendorff.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from accord.validate import (
    Estimate,
    adjust,
    bias,
    ccc,
    ccc_classical,
    cluster_codes,
    clustered_proportion,
    cohen_kappa,
    correlation_test,
    equivalence,
    fisher_interval,
    icc,
    icc_form,
    icc_missing,
    kendall_tau_b,
    krippendorff_alpha,
    limits_of_agreement,
    mad,
    mcnemar,
    noninferiority,
    pearson,
    question_jackknife,
    raw_agreement,
    rmse,
    spearman,
    wilcoxon_signed_rank,
    youden,
)
from golden_cases import (
    Case,
    Codes,
    Figures,
    Floats,
    coded,
    column,
    compare,
    complete,
    handler,
    parameters,
    synthetic,
    table,
    topic,
)


def _shown(out: Estimate) -> dict[str, Any]:
    return {**out.details, "estimate": out.estimate, "low": out.low, "high": out.high, "n": out.n}


# -- correlation -------------------------------------------------------------------------------


def _fisher(case: Case, request: pytest.FixtureRequest) -> Figures:
    given = case["inputs"]
    return _shown(fisher_interval(given["r"], given["n_effective"], confidence=given["confidence"]))


def _test(coefficient: Any, exact: bool = False) -> Any:
    def figures(case: Case, request: pytest.FixtureRequest) -> Figures:
        v = complete(table("correlation", case, request))
        return _shown(
            correlation_test(
                v[:, 0],
                v[:, 1],
                coefficient=coefficient,
                exact=exact,
                confidence=case["inputs"].get("confidence", 0.95),
            )
        )

    return figures


CORRELATION: dict[str, Any] = {
    "pearson": _test("pearson"),
    "spearman": _test("spearman"),
    "spearman_ci": _test("spearman"),
    "spearman_exact": _test("spearman"),
    "kendall_tau_b": _test("kendall_tau_b"),
    "kendall_exact": _test("kendall_tau_b", exact=True),
    "fisher": _fisher,
}


@pytest.mark.parametrize("case", parameters("correlation"))
def test_correlation(case: Case, request: pytest.FixtureRequest) -> None:
    parts = case["id"].split("/")
    kind = "fisher" if parts[0] == "fisher" else parts[1]
    compare(case, handler(case, CORRELATION, kind)(case, request))


# -- scores ------------------------------------------------------------------------------------


def _ccc(v: Floats) -> Figures:
    out = ccc_classical(v[:, 0], v[:, 1])
    default = ccc(v[:, 0], v[:, 1], clusters=np.arange(len(v)), rng=0, unit="item")
    shown = (default.estimate, default.low, default.high)
    assert shown == pytest.approx((out.estimate, out.low, out.high), rel=0, abs=1e-11)
    return _shown(out)


def _icc(form: Any) -> Any:
    def figures(v: Floats) -> Figures:
        out = icc_form(v, form=form)
        if form in ("A,1", "C,1"):
            kind: Any = "agreement" if form == "A,1" else "consistency"
            same = icc(v, form=kind, clusters=np.arange(len(v)), rng=0, unit="item")
            assert (same.estimate, same.low, same.high) == (out.estimate, out.low, out.high)
        return _shown(out)

    return figures


def _bland_altman(v: Floats) -> Figures:
    own = np.arange(len(v))
    lower, upper = limits_of_agreement(v[:, 0], v[:, 1], clusters=own, unit="item")
    # the mean's own interval is that of a paired t
    mean = noninferiority(v[:, 0], v[:, 1], margin=0, confidence=0.975)
    return {
        "bias": mean.estimate,
        "bias_low": mean.low,
        "bias_high": mean.high,
        "sd": lower.details["sd"],
        "lower": lower.estimate,
        "lower_low": lower.low,
        "lower_high": lower.high,
        "upper": upper.estimate,
        "upper_low": upper.low,
        "upper_high": upper.high,
    }


def _errors(v: Floats) -> Figures:
    own = {"clusters": np.arange(len(v))}
    size = mad(v[:, 0], v[:, 1], **own)
    return {
        "mad": size.estimate,
        "rmse": rmse(v[:, 0], v[:, 1], **own).estimate,
        "bias": bias(v[:, 0], v[:, 1], **own).estimate,
        "n": size.n,
    }


SCORES: dict[str, Any] = {
    "ccc": _ccc,
    "ccc_asymptotic": lambda v: _shown(ccc_classical(v[:, 0], v[:, 1], fisher_z=False)),
    "bland_altman": _bland_altman,
    "errors": _errors,
    "icc_1": _icc("1,1"),
    "icc_k": _icc("1,k"),
    "icc_c1": _icc("C,1"),
    "icc_ck": _icc("C,k"),
    "icc_a1": _icc("A,1"),
    "icc_ak": _icc("A,k"),
}


@pytest.mark.parametrize("case", parameters("scores"))
def test_scores(case: Case, request: pytest.FixtureRequest) -> None:
    v, kind = table("scores", case, request), case["id"].split("/")[1]
    if kind == "icc_a1_reml":
        figures: Figures = _shown(icc_missing(v, clusters=np.arange(len(v)) // 5))
    else:
        figures = handler(case, SCORES, kind)(complete(v))
    compare(case, figures)


# -- by question -------------------------------------------------------------------------------


class Ratings:
    """A synthetic table's rows that the first annotator rated."""

    def __init__(self, case: Case, request: pytest.FixtureRequest) -> None:
        rows = [row for row in synthetic(request, case["inputs"]["file"]) if row["ann1"]]
        self.human, self.judge, self.score = (
            column(rows, name) for name in ("ann1", "judge", "judge_score")
        )
        self.people = np.column_stack([column(rows, name) for name in ("ann1", "ann2", "ann3")])
        self.clusters: Codes = cluster_codes([row["question_id"] for row in rows])
        # 0, 0.5, 1
        self.codes: Codes = coded(np.column_stack([self.human, self.judge]))[0]


def _share(right: Any, among: Any = None, hits: Any = 1) -> Any:
    def figures(r: Ratings) -> Estimate:
        chosen = None if among is None else among(r)
        return clustered_proportion(right(r), among=chosen, hits=hits, clusters=r.clusters)

    return figures


def _kappa(r: Ratings) -> Estimate:
    return cohen_kappa(r.codes[:, 1], r.codes[:, 0], n_categories=3, clusters=r.clusters)


BY_QUESTION: dict[str, Any] = {
    "agreement": _share(lambda r: r.human == r.judge),
    "sensitivity": _share(lambda r: r.judge == 1, lambda r: r.human == 1),
    "specificity": _share(lambda r: r.judge != 1, lambda r: r.human != 1),
    "precision": _share(lambda r: r.human == 1, lambda r: r.judge == 1),
    "f1": _share(
        lambda r: (r.human == 1) & (r.judge == 1), lambda r: (r.human == 1) | (r.judge == 1), 2
    ),
    "youden": lambda r: youden(
        r.codes[:, 1], r.codes[:, 0], positive=2, n_categories=3, clusters=r.clusters
    ),
    "cohen_kappa": _kappa,
    "mad": lambda r: mad(r.score, r.human, clusters=r.clusters),
    "bias": lambda r: bias(r.score, r.human, clusters=r.clusters),
    "rmse": lambda r: rmse(r.score, r.human, clusters=r.clusters),
    "pearson": lambda r: pearson(r.human, r.score, clusters=r.clusters, rng=0, resamples=0),
    "ccc": lambda r: ccc(r.human, r.score, clusters=r.clusters, rng=0, resamples=0),
}


def _ceiling(r: Ratings) -> Figures:
    both = ~np.isnan(r.people[:, 1])
    judge, one, two = r.judge[both], r.human[both], r.people[both, 1]
    where = r.clusters[both]
    out = noninferiority(judge == one, two == one, margin=0, clusters=where)
    found = {}
    for name, other in (("judge_human", judge), ("human_human", two)):
        pair, _ = coded(np.column_stack([other, one]))
        found[name] = raw_agreement(pair, n_categories=3, clusters=where).estimate
    return {**_shown(out), **found}


def _alpha(level: Any) -> Any:
    def figure(r: Ratings, rows: Codes) -> float:
        # the categories are those of the rows kept, as in a fresh fit
        x, seen = coded(r.people[rows])
        out = krippendorff_alpha(
            x, level=level, values=seen, n_categories=len(seen), clusters=r.clusters[rows]
        )
        return float(out.estimate)

    return figure


def _of_scores(call: Any, **more: Any) -> Any:
    return lambda r, rows: (
        call(r.human[rows], r.score[rows], clusters=r.clusters[rows], **more).estimate
    )


LEFT_OUT: dict[str, Any] = {
    "cohen_kappa": lambda r, rows: (
        cohen_kappa(
            r.codes[rows, 0], r.codes[rows, 1], n_categories=3, clusters=r.clusters[rows]
        ).estimate
    ),
    "agreement": lambda r, rows: float((r.human[rows] == r.judge[rows]).mean()),
    "pearson": _of_scores(pearson, rng=0, resamples=0),
    "spearman": _of_scores(spearman, rng=0, resamples=0),
    "kendall_tau_b": _of_scores(kendall_tau_b),
    "rmse": _of_scores(rmse),
    "alpha_nominal": _alpha("nominal"),
    "alpha_ordinal": _alpha("ordinal"),
    "alpha_interval": _alpha("interval"),
}


@pytest.mark.parametrize("case", parameters("cluster"))
def test_by_question(case: Case, request: pytest.FixtureRequest) -> None:
    r, (of, kind) = Ratings(case, request), case["id"].split("/")
    if of == "jackknife":
        figure = handler(case, LEFT_OUT, kind)
        figures: Figures = _shown(
            question_jackknife(lambda rows: figure(r, rows), clusters=r.clusters)
        )
    elif kind == "ceiling_difference":
        figures = _ceiling(r)
    else:
        out = handler(case, BY_QUESTION, kind)(r)
        figures = {**_shown(out), "clusters": out.clusters, "design_effect": out.design_effect}
    compare(case, figures)


# -- tests -------------------------------------------------------------------------------------


def _paired() -> tuple[Floats, Floats]:
    found = topic("tests")["tables"]["paired_16"]
    return np.array(found["x"], dtype=float), np.array(found["y"], dtype=float)


def _mcnemar(case: Case) -> Figures:
    given, method = case["inputs"], case["id"].split("/")[3]
    return _shown(mcnemar(given["b"], given["c"], method=method))


def _noninferiority(case: Case) -> Figures:
    out = noninferiority(*_paired(), margin=case["inputs"]["margin"])
    return {**_shown(out), "mean_difference": out.estimate, "lower_95_one_sided": out.low}


def _tost(case: Case) -> Figures:
    out = equivalence(*_paired(), margin=case["inputs"]["margin"])
    assert out.confidence == pytest.approx(0.9)
    return {**_shown(out), "low_90": out.low, "high_90": out.high}


ADJUSTMENTS = {"BH": "benjamini_hochberg", "BY": "benjamini_yekutieli"}


def _adjusted(case: Case) -> Figures:
    given = case["inputs"]
    p = [float(v) for v in given["p"]]
    method: Any = ADJUSTMENTS.get(given["method"], given["method"])
    return {"p": adjust(p, method=method)}


def _wilcoxon(case: Case) -> Figures:
    alternative = case["inputs"]["alternative"].replace(".", "-")
    return _shown(wilcoxon_signed_rank(*_paired(), alternative=alternative))


TESTS = {
    "mcnemar": _mcnemar,
    "noninferiority": _noninferiority,
    "tost": _tost,
    "adjust": _adjusted,
    "wilcoxon": _wilcoxon,
}


@pytest.mark.parametrize("case", parameters("tests"))
def test_tests(case: Case) -> None:
    compare(case, handler(case, TESTS, case["id"].split("/")[0])(case))
