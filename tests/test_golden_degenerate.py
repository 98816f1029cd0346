"""Hopeless data: what comes back instead of a number, and why (the golden files' conventions)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from accord.scoring.errors import SettingsError
from accord.validate import (
    Estimate,
    adjust,
    agresti_coull,
    audit_counts,
    brennan_prediger,
    ccc,
    ccc_classical,
    clopper_pearson,
    clustered_proportion,
    cohen_kappa,
    cohen_kappa_classical,
    conger_kappa,
    correlation_test,
    equivalence,
    fisher_interval,
    fleiss_kappa,
    fleiss_null_se,
    gwet_ac1,
    gwet_interval,
    icc_form,
    icc_missing,
    jeffreys,
    krippendorff_alpha,
    limits_of_agreement,
    macro_f1,
    mad,
    mcnemar,
    noninferiority,
    question_jackknife,
    raw_agreement,
    rmse,
    variance_components,
    wilcoxon_signed_rank,
    wilson,
    youden,
)
from accord.validate.icc_forms import ICC_FORMS
from golden_cases import Codes, coded, topic

KAPPA = topic("kappa")


def _table(name: str) -> Codes:
    raters = KAPPA["tables"][name]["raters"].values()
    values = [[math.nan if v is None else v for v in column] for column in raters]
    return coded(np.array(values, dtype=float).T)[0]


def _several(x: Codes, k: int, unit: Any = "item") -> dict[str, Estimate]:
    own: dict[str, Any] = {"n_categories": k, "clusters": np.arange(len(x)), "unit": unit}
    return {
        "raw_agreement": raw_agreement(x, **own),
        "cohen_kappa": cohen_kappa(x[:, 0], x[:, 1], **own),
        "fleiss_kappa": fleiss_kappa(x, **own),
        "conger_kappa": conger_kappa(x, **own),
        "krippendorff_alpha": krippendorff_alpha(x, level="nominal", **own),
        "gwet_ac1": gwet_ac1(x, **own),
        "brennan_prediger": brennan_prediger(x, **own),
    }


# the same by Gwet's formulas, whose interval is not the default
NAMES = {
    "fleiss_kappa": "fleiss",
    "conger_kappa": "conger",
    "krippendorff_alpha": "krippendorff",
    "gwet_ac1": "gwet",
    "brennan_prediger": "brennan_prediger",
}


def test_every_hopeless_table_of_the_golden_file_is_here() -> None:
    assert set(KAPPA["recommended_for_degenerate"]) == {
        "all_one_category",
        "all_agree_two_categories",
        "constant_but_different",
        "one_rater_constant",
        "single_item",
        "no_overlap",
    }


@pytest.mark.parametrize("declared", [1, 2, 5])
def test_one_category_only(declared: int) -> None:
    x = _table("all_one_category")
    found = _several(x, declared)
    expected = KAPPA["recommended_for_degenerate"]["all_one_category"]
    for name in ("cohen_kappa", "fleiss_kappa", "conger_kappa", "krippendorff_alpha"):
        assert expected[name] == "NaN" and math.isnan(found[name].estimate)
        assert "one category only" in str(found[name].reason) or "equal" in str(found[name].reason)
        assert math.isnan(found[name].low)
    for name in ("gwet_ac1", "brennan_prediger"):
        # another category was possible only where it is declared
        assert found[name].estimate == pytest.approx(1.0 if declared > 1 else math.nan, nan_ok=True)
        assert declared > 1 or "nothing to agree on" in str(found[name].reason)
    raw = found["raw_agreement"]
    assert raw.estimate == expected["raw_agreement"]
    assert raw.low == pytest.approx(wilson(len(x), len(x)).low)
    for name, short in NAMES.items():
        again = gwet_interval(x, coefficient=short, n_categories=declared)
        assert again.estimate == pytest.approx(found[name].estimate, nan_ok=True)
        assert math.isnan(again.low) and again.reason
    classical = cohen_kappa_classical(x[:, 0], x[:, 1], n_categories=declared)
    assert math.isnan(classical.estimate) and "one category only" in str(classical.reason)
    assert math.isnan(fleiss_null_se(x, n_categories=declared))


def test_perfect_agreement_has_no_interval_from_one_to_one() -> None:
    x = _table("all_agree_two_categories")
    for name, out in _several(x, 2).items():
        assert out.estimate == 1.0 and not out.low == out.high == 1.0, name
        if name != "raw_agreement":
            assert out.details["agreement"].low == pytest.approx(wilson(len(x), len(x)).low)
    for short in NAMES.values():
        again = gwet_interval(x, coefficient=short, n_categories=2)
        assert again.estimate == pytest.approx(1.0) and again.details["se"] == pytest.approx(0)
        assert math.isnan(again.low) and "nobody disagreed" in str(again.reason)
    classical = cohen_kappa_classical(x[:, 0], x[:, 1], n_categories=2)
    assert classical.estimate == 1.0 and "nobody disagreed" in str(classical.reason)


def test_raters_who_always_say_different_things() -> None:
    expected = KAPPA["recommended_for_degenerate"]["constant_but_different"]
    found = _several(_table("constant_but_different"), 2)
    for name, value in expected.items():
        assert found[name].estimate == pytest.approx(value, abs=1e-12), name


def test_a_constant_rater_makes_kappa_zero_by_construction() -> None:
    x = _table("one_rater_constant")
    expected = KAPPA["recommended_for_degenerate"]["one_rater_constant"]
    found = _several(x, 2)
    assert found["raw_agreement"].estimate == expected["raw_agreement"]
    kappa = found["cohen_kappa"]
    assert kappa.estimate == expected["cohen_kappa"] == 0.0 and math.isnan(kappa.low)
    assert "a rater gives one category only" in str(kappa.reason)
    classical = cohen_kappa_classical(x[:, 0], x[:, 1], n_categories=2)
    assert classical.estimate == 0.0 and math.isnan(classical.low) and classical.reason


def test_one_item_has_an_estimate_and_no_interval() -> None:
    x = _table("single_item")
    for name, out in _several(x, 2, unit="question").items():
        assert math.isfinite(out.estimate) and math.isnan(out.low), name
        # of a single item each rater gives one category
        assert "one question" in str(out.reason) or name == "cohen_kappa"
    for short in NAMES.values():
        again = gwet_interval(x, coefficient=short, n_categories=2)
        assert math.isfinite(again.estimate) and "one item" in str(again.reason)


def test_no_item_with_two_ratings() -> None:
    x = _table("no_overlap")
    for out in _several(x, 2).values():
        assert math.isnan(out.estimate)
        assert out.reason in ("no item has two ratings", "no item has both ratings")
    for short in NAMES.values():
        again = gwet_interval(x, coefficient=short, n_categories=2)
        assert math.isnan(again.estimate) and again.reason == "no item has two ratings"


def test_ac1_depends_on_what_is_declared_and_alpha_does_not() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (40, 2))
    two, five = _several(x, 2), _several(x, 5)
    for name in ("gwet_ac1", "brennan_prediger"):
        assert two[name].estimate != pytest.approx(five[name].estimate)
    for name in ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha"):
        assert two[name].estimate == pytest.approx(five[name].estimate, abs=1e-12)


# -- questions ---------------------------------------------------------------------------------


def test_one_question_has_no_standard_error() -> None:
    y, where = np.array([1.0, 0, 1, 1, 1]), np.zeros(5, dtype=int)
    out = clustered_proportion(y, clusters=where)
    assert out.estimate == 0.8 and math.isnan(out.low) and out.reason == "no interval: one question"
    assert math.isnan(out.details["se"])
    assert noninferiority(y, 1 - y, margin=0, clusters=where).reason == "one question: no spread"
    jack = question_jackknife(lambda rows: float(y[rows].mean()), clusters=where)
    assert jack.estimate == 0.8 and jack.reason == "no interval: one question"
    assert math.isnan(jack.details["se"])


def test_a_refit_that_is_undefined_gives_no_interval() -> None:
    y, where = np.r_[1.0, np.zeros(23)], np.arange(24) // 2
    share = question_jackknife(
        lambda rows: float(y[rows].sum() / (y[rows].sum() or math.nan)), clusters=where, name="x"
    )
    assert share.estimate == 1.0 and share.reason == (
        "no interval: without one question x is undefined"
    )
    empty = question_jackknife(lambda rows: 0.0, clusters=np.zeros(0, dtype=int))
    assert math.isnan(empty.estimate) and empty.reason == "no items"


def test_a_whole_population_that_was_checked_has_no_uncertainty() -> None:
    out = audit_counts(3, 50, population=50, method="hypergeometric")
    assert (out.low, out.estimate, out.high) == (0.06, 0.06, 0.06)


@pytest.mark.parametrize("call", [wilson, clopper_pearson, jeffreys, agresti_coull])
def test_limits_at_none_and_all_are_exact(call: Callable[..., Estimate]) -> None:
    for n in (1, 7, 30, 1234):
        assert call(0, n).low == 0.0 and call(n, n).high == 1.0


# -- scores ------------------------------------------------------------------------------------


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall_tau_b"])
def test_a_constant_score_correlates_with_nothing(coefficient: Any) -> None:
    out = correlation_test(np.ones(6), np.arange(6.0), coefficient=coefficient)
    assert math.isnan(out.estimate) and math.isnan(out.details["p"])
    assert "constant" in str(out.reason)
    none = correlation_test(np.zeros(0), np.zeros(0), coefficient=coefficient)
    assert math.isnan(none.estimate) and none.reason == "no items"


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_three_responses_have_no_interval_and_two_no_p(coefficient: Any) -> None:
    three = correlation_test([1.0, 2, 4], [1.0, 3, 2], coefficient=coefficient)
    assert math.isfinite(three.estimate) and 0 < three.details["p"] < 1
    assert math.isnan(three.low) and "3 responses" in str(three.reason)
    two = correlation_test([1.0, 2], [1.0, 3], coefficient=coefficient)
    assert math.isnan(two.details["p"])
    assert "3 responses" in str(fisher_interval(0.5, 3).reason)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_correlation_has_no_interval(sign: int) -> None:
    x = np.arange(8.0)
    for coefficient in ("pearson", "spearman", "kendall_tau_b"):
        out = correlation_test(x, sign * x, coefficient=coefficient)
        assert out.estimate == sign and math.isnan(out.low) and out.reason
        assert out.details["p"] < 0.01
    assert math.isnan(fisher_interval(float(sign), 100).low)
    with pytest.raises(SettingsError):
        fisher_interval(1.01, 100)


def test_equal_scores_throughout() -> None:
    x = np.full(12, 3.0)
    both, own = np.column_stack([x, x]), {"clusters": np.arange(12)}
    for out in (
        ccc(x, x, rng=0, resamples=0, **own),
        ccc_classical(x, x),
        *(icc_form(both, form=form) for form in ICC_FORMS),
        icc_missing(both, **own),
    ):
        assert math.isnan(out.estimate) and "constant" in str(out.reason), out.name
    for distance in (mad(x, x, **own), rmse(x, x, **own), *limits_of_agreement(x, x, **own)):
        assert distance.estimate == 0.0 and distance.reason
    assert math.isnan(variance_components(both).item)


def test_raters_who_never_differ_have_an_icc_of_one_and_no_interval() -> None:
    x = np.random.default_rng(0).normal(size=20)
    both = np.column_stack([x, x])
    for form in ICC_FORMS:
        out = icc_form(both, form=form)
        assert out.estimate == pytest.approx(1.0) and math.isnan(out.low) and out.reason
    mixed = icc_missing(np.column_stack([both, np.full(20, math.nan)]), clusters=np.arange(20))
    assert mixed.estimate == pytest.approx(1.0) and "never differ" in str(mixed.reason)
    assert ccc_classical(x, x).reason == "ccc is +1 exactly: no interval"


def test_intraclass_correlation_and_alpha_are_negative_where_they_are() -> None:
    x = np.array([[1.0, 5], [5, 1], [2, 4], [4, 2], [1, 4], [5, 2]])
    for form in ("1,1", "C,1", "A,1"):
        assert icc_form(x, form=form).estimate < -0.5
    codes, seen = coded(x)
    alpha = krippendorff_alpha(
        codes, level="interval", values=seen, n_categories=len(seen), clusters=np.arange(6)
    )
    assert alpha.estimate < -0.5
    # a variance is not negative: the likelihood's is 0 there, and says that it has no interval
    mixed = icc_missing(np.tile(x, (3, 1)), clusters=np.arange(18))
    assert mixed.estimate == pytest.approx(0, abs=1e-6) and math.isnan(mixed.low)


@pytest.mark.parametrize(
    ("ratings", "why"),
    [
        (np.zeros((0, 3)), "no items"),
        (np.full((4, 2), math.nan), "no items"),
        (np.array([[1.0, math.nan], [math.nan, 2.0]]), "no item has two ratings"),
        (np.array([[1.0, 2.0]]), "one response: nothing to correlate"),
    ],
)
def test_variances_that_cannot_be_told_apart(ratings: Any, why: str) -> None:
    out = icc_missing(ratings, clusters=np.arange(len(ratings)))
    assert math.isnan(out.estimate) and out.reason == why


# -- tests -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "midp", "chi2", "chi2_corrected"])
def test_no_discordant_pair_is_p_one_with_the_reason(method: Any) -> None:
    out = mcnemar(0, 0, method=method)
    assert out.details["p"] == 1.0 and "no discordant item" in str(out.reason)
    with pytest.raises(SettingsError, match="is unknown"):
        mcnemar(1, 2, method="yates")


def test_a_correction_never_makes_equal_counts_unequal() -> None:
    out = mcnemar(10, 10, method="chi2_corrected")
    assert (out.details["statistic"], out.details["p"]) == (0.0, 1.0)


@pytest.mark.parametrize("shift", [0.0, 0.1, -0.3])
def test_equal_differences_have_no_test(shift: float) -> None:
    y = np.array([0.2, 0.5, 0.9, 0.4])
    for out in (
        noninferiority(y + shift, y, margin=0.2),
        equivalence(y + shift, y, margin=0.2),
    ):
        assert out.estimate == pytest.approx(shift) and math.isnan(out.details["p"])
        assert "no variation" in str(out.reason)
        assert ("not beyond" in str(out.reason)) == (shift < -0.2)


@pytest.mark.parametrize("test", [noninferiority, equivalence])
def test_differences_that_cancel_in_every_question_have_no_test(test: Any) -> None:
    out = test([1, 0, 1, 0], [0, 1, 0, 1], margin=0.1, clusters=[0, 0, 1, 1])
    assert out.estimate == 0 and math.isnan(out.low) and math.isnan(out.details["p"])
    assert out.reason == "no variation between questions: no test"


def test_margins_are_checked() -> None:
    for margin in (-0.1, math.nan, math.inf):
        with pytest.raises(SettingsError, match="margin"):
            noninferiority([1.0, 2], [1.0, 3], margin=margin)
    with pytest.raises(SettingsError, match="never be met"):
        equivalence([1.0, 2], [1.0, 3], margin=0)


def test_an_undefined_p_stays_undefined_and_does_not_count() -> None:
    out = adjust([0.01, math.nan, 0.03], method="bonferroni")
    assert out[[0, 2]] == pytest.approx([0.02, 0.06]) and math.isnan(out[1])


def test_no_pair_differs() -> None:
    out = wilcoxon_signed_rank([1.0, 2], [1.0, 2])
    assert math.isnan(out.estimate) and (out.details["p"], out.reason) == (1.0, "no pair differs")
    assert out.dropped == {"equal scores": 2}


# -- a judge against people's labels -----------------------------------------------------------


def test_macro_f1_and_youden_where_they_are_not() -> None:
    none: Codes = np.zeros(0, dtype=np.int64)
    own = {"n_categories": 3, "clusters": np.arange(30) // 2}
    assert macro_f1(none, none, n_categories=3, clusters=none).reason == "no items"
    ones: Codes = np.ones(30, dtype=np.int64)
    out = youden(ones, ones, positive=1, **own)
    assert math.isnan(out.estimate) and out.reason == "people gave no negative label"
    out = youden(ones, ones, positive=0, **own)
    assert out.reason == "people gave no positive label"
    perfect = macro_f1(ones, ones, **own)
    # the two labels that nobody gave are no part of the mean
    assert perfect.estimate == 1.0 and perfect.details["categories_used"] == 1
    assert "exactly" in str(perfect.reason)
    apart = macro_f1(ones, ones * 2, **own)
    assert apart.estimate == 0.0 and math.isnan(apart.low) and apart.reason
