"""Every case of the golden files on proportions, kappa and alpha.

Programs behind the values (each case names those that agree): R binom, DescTools, vcd, psych, irr,
irrCAC, epiR, krippendorffsalpha; statsmodels, scipy, scikit-learn, irrCAC and krippendorff.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from accord.validate import (
    Estimate,
    agresti_coull,
    alpha_parts,
    audit_counts,
    brennan_prediger,
    clopper_pearson,
    cohen_kappa,
    cohen_kappa_classical,
    conger_kappa,
    fleiss_kappa,
    fleiss_null_se,
    gwet_ac1,
    gwet_ac2,
    gwet_interval,
    jeffreys,
    krippendorff_alpha,
    raw_agreement,
    weighted_kappa,
    wilson,
)
from accord.validate.intervals import wilson_limits, z_quantile
from accord.validate.proportions import one_sided_upper
from golden_cases import (
    Case,
    Codes,
    Figures,
    coded,
    compare,
    complete,
    handler,
    parameters,
    spread_out,
    table,
    topic,
)

# -- proportions -------------------------------------------------------------------------------


def _limits(call: Any) -> Any:
    def figures(given: dict[str, Any]) -> Figures:
        out = call(given["x"], given["n"], confidence=given["confidence"])
        return {"low": out.low, "high": out.high}

    return figures


def _hypergeometric(given: dict[str, Any]) -> Figures:
    out = audit_counts(
        given["x"],
        given["n"],
        population=given["N"],
        method="hypergeometric",
        confidence=given["confidence"],
    )
    return {"low": out.low, "high": out.high, **out.details}


def _on_effective_n(given: dict[str, Any]) -> Figures:
    n = given["n"] / given["design_effect"]
    low, high = wilson_limits(given["estimate"], n, z_quantile(given["confidence"]))
    return {"n_effective": n, "low": low, "high": high}


PROPORTIONS: dict[str, Any] = {
    "wilson": _limits(wilson),
    "clopper_pearson": _limits(clopper_pearson),
    "jeffreys": _limits(jeffreys),
    "agresti_coull": _limits(agresti_coull),
    "one_sided_upper": lambda given: {
        "high": one_sided_upper(given["x"], given["n"], confidence=given["confidence"])
    },
    "hypergeometric": _hypergeometric,
    "wilson_effective_n": _on_effective_n,
}


@pytest.mark.parametrize("case", parameters("proportions"))
def test_proportions(case: Case) -> None:
    figures = handler(case, PROPORTIONS, case["id"].split("/")[0])(case["inputs"])
    compare(case, figures)


# -- kappa -------------------------------------------------------------------------------------

WEIGHTING = {
    "unweighted": "identity",
    "equal": "linear",
    "squared": "quadratic",
    "linear": "linear",
    "quadratic": "quadratic",
}
SEVERAL: dict[str, Any] = {
    "gwet": gwet_ac2,
    "fleiss": fleiss_kappa,
    "conger": conger_kappa,
    "brennan_prediger": brennan_prediger,
}


def _own(x: Codes) -> Codes:
    return np.arange(len(x))


def _shown(out: Estimate) -> Figures:
    return {**out.details, "estimate": out.estimate, "low": out.low, "high": out.high, "n": out.n}


def _same(one: float, two: float) -> None:
    assert one == pytest.approx(two, rel=0, abs=1e-11)


def _cohen(case: Case, request: pytest.FixtureRequest) -> Figures:
    counts = topic("kappa")["tables"][case["inputs"]["table"]]["counts"]
    x, k = spread_out(counts), len(counts)
    weighting: Any = WEIGHTING[case["inputs"].get("weights", "unweighted")]
    out = cohen_kappa_classical(x[:, 0], x[:, 1], weighting=weighting, n_categories=k)
    default = weighted_kappa(
        x[:, 0], x[:, 1], weighting=weighting, n_categories=k, clusters=_own(x)
    )
    # the default stands on the same estimate, and its variance divides by n - 1 for n
    _same(default.estimate, out.estimate)
    _same(default.details["se"] * np.sqrt((len(x) - 1) / len(x)), out.details["se"])
    return _shown(out)


def _cohen_of_file(case: Case, request: pytest.FixtureRequest) -> Figures:
    x, seen = coded(table("kappa", case, request))
    weighting: Any = WEIGHTING[case["inputs"]["weights"]]
    out = cohen_kappa_classical(
        x[:, 0], x[:, 1], weighting=weighting, values=seen, n_categories=len(seen)
    )
    assert out.dropped == {"a rating is missing": len(x) - out.n}
    if weighting == "identity":
        default = cohen_kappa(x[:, 0], x[:, 1], n_categories=len(seen), clusters=_own(x))
        _same(default.estimate, out.estimate)
    return _shown(out)


def _several(case: Case, request: pytest.FixtureRequest) -> Figures:
    x, seen = coded(table("kappa", case, request))
    name, weighting = case["id"].split("/")[2], WEIGHTING[case["inputs"]["weights"]]
    asked: dict[str, Any] = {"weighting": weighting, "values": seen, "n_categories": len(seen)}
    out = gwet_interval(x, coefficient=name, **asked)
    if name in SEVERAL:
        default = SEVERAL[name](x, clusters=_own(x), **asked)
        _same(default.estimate, out.estimate)
    elif weighting != "linear":
        level: Any = "nominal" if weighting == "identity" else "interval"
        alpha = krippendorff_alpha(
            x, level=level, values=seen, n_categories=len(seen), clusters=_own(x)
        )
        _same(alpha.estimate, out.estimate)
    if name == "gwet" and weighting == "identity":
        k = len(seen)
        _same(gwet_ac1(x, n_categories=k, clusters=_own(x)).estimate, out.estimate)
        _same(raw_agreement(x, n_categories=k, clusters=_own(x)).estimate, out.details["pa"])
    return _shown(out)


def _complete_rows(case: Case, request: pytest.FixtureRequest) -> Figures:
    # the categories are those that complete rows show: the programs declare none
    x, seen = coded(complete(table("kappa", case, request)))
    name = case["id"].split("/")[2]
    return _shown(SEVERAL[name](x, n_categories=len(seen), clusters=_own(x)))


def _fleiss_counts(case: Case, request: pytest.FixtureRequest) -> Figures:
    counts = topic("kappa")["tables"]["fleiss_counts"]["counts"]
    x = np.array([[k for k, c in enumerate(row) for _ in range(c)] for row in counts])
    out = gwet_interval(x, coefficient="fleiss", n_categories=5)
    default = fleiss_kappa(x, n_categories=5, clusters=_own(x))
    _same(default.estimate, out.estimate)
    _same(default.details["se"], out.details["se"])
    return {**_shown(out), "null_se": fleiss_null_se(x, n_categories=5)}


KAPPA = {
    "cohen": _cohen,
    "cohen_extra": _cohen,
    "cac": _several,
    "complete": _complete_rows,
    "fleiss": _fleiss_counts,
    "cohen_d300": _cohen_of_file,
}


@pytest.mark.parametrize("case", parameters("kappa"))
def test_kappa(case: Case, request: pytest.FixtureRequest) -> None:
    figures = handler(case, KAPPA, case["id"].split("/")[0])(case, request)
    compare(case, figures)


# -- alpha -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", parameters("alpha"))
def test_alpha(case: Case, request: pytest.FixtureRequest) -> None:
    x, seen = coded(table("alpha", case, request))
    asked: dict[str, Any] = {
        "level": case["inputs"]["level"],
        "values": seen if case["inputs"]["level"] in ("interval", "ratio") else None,
        "n_categories": len(seen),
    }
    out = krippendorff_alpha(x, clusters=_own(x), **asked)
    figures = {"alpha": out.estimate, "pairable_values": out.details["pairable"]}
    if "observed" in case["expected"]:
        parts = alpha_parts(x, **asked)
        _same(parts.alpha, out.estimate)
        assert parts.pairable == out.details["pairable"]
        figures |= {"observed": parts.observed, "expected": parts.expected}
    compare(case, figures)
