"""Every coefficient is in the panel, on the same items as the function of its name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from accord.study import Ratings
from accord.validate import (
    AgreementReport,
    Estimate,
    agreement,
    brennan_prediger,
    build_report,
    ccc,
    conger_kappa,
    fleiss_kappa,
    gwet_ac2,
    icc,
    kendall_tau_b,
    limits_of_agreement,
    mcc,
    mcnemar,
    rmse,
    weighted_kappa,
)
from accord.validate.agreement_text import agreement_lines
from accord.validate.number_figures import NUMBERS
from accord.validate.reading import SHORT
from small_table import find, make

THREE = {"ann": "annotator", "bob": "annotator", "cat": "annotator", "gpt": "judge"}
N = 80
RNG = np.random.default_rng(11)
TRUTH = RNG.integers(0, 5, N)
GRADES = {
    rater: np.clip(TRUTH + RNG.choice([-1, 0, 0, 0, 1], N), 0, 4).astype(int)
    for rater in ("ann", "bob", "cat", "gpt")
}
GRADES["cat"] = np.where(np.arange(N) < 60, GRADES["cat"], -1)
QUESTION = np.arange(N) // 2
PAIR = ((0, "ann"), (1, "gpt"))


def shown(words: Sequence[str]) -> dict[str, list[str | None]]:
    return {
        rater: [words[int(code)] if code >= 0 else None for code in codes]
        for rater, codes in GRADES.items()
    }


def grades() -> Ratings:
    return make(shown("12345"), THREE)


def verdicts() -> Ratings:
    return make(shown(["INCORRECT", "INCORRECT", "CORRECT", "CORRECT", "CORRECT"]), THREE)


def same(one: Estimate, other: Estimate) -> None:
    for name in ("estimate", "low", "high", "n", "clusters"):
        mine, its = getattr(one, name), getattr(other, name)
        assert mine == pytest.approx(its, rel=1e-12, nan_ok=True), (one.name, name)


def every(report: AgreementReport, name: str, *raters: str, **details: Any) -> Estimate:
    (one,) = [
        one
        for one in report.results
        if (one.name, one.raters, one.level) == (name, raters, "element")
        and all(one.details.get(key) == value for key, value in details.items())
    ]
    return one


def names(report: AgreementReport, *raters: str, level: str = "element") -> list[str]:
    return [one.name for one in report.results if one.raters == raters and one.level == level]


def test_two_raters_on_a_nominal_scale() -> None:
    report = agreement(verdicts(), resamples=0)
    assert sorted(names(report, "ann", "bob")) == [
        *("agreement", "brennan_prediger", "cohen_kappa", "gwet_ac1"),
        *("krippendorff_alpha_nominal", "mcc", "mcnemar"),
    ]
    of_judge = set(names(report, "gpt", "ann")) - set(names(report, "ann", "bob"))
    assert of_judge == {"sensitivity", "specificity", "precision", "f1"}
    # CORRECT is the first of the categories
    a, b = (np.where(GRADES[rater] >= 2, 0, 1) for rater in ("ann", "bob"))
    shared: dict[str, Any] = {"n_categories": 2, "clusters": QUESTION}
    same(find(report, "mcc", "ann", "bob"), mcc(a, b, **shared))
    both = np.stack([a, b], axis=1)
    same(find(report, "brennan_prediger", "ann", "bob"), brennan_prediger(both, **shared))
    raw = find(report, "agreement", "ann", "bob").estimate
    assert find(report, "brennan_prediger", "ann", "bob").estimate == pytest.approx(2 * raw - 1)


@pytest.mark.parametrize("scale", ["ordinal", "interval", "ratio"])
def test_two_raters_on_an_ordered_scale(scale: Any) -> None:
    report = agreement(grades(), scale=scale, resamples=0)
    shared: dict[str, Any] = {"n_categories": 5, "clusters": QUESTION}
    a, b = GRADES["gpt"], GRADES["ann"]
    for weighting in ("linear", "quadratic"):
        one = every(report, "weighted_kappa", "gpt", "ann", weighting=weighting)
        same(one, weighted_kappa(a, b, weighting=weighting, **shared))
    one = every(report, "gwet_ac2", "gpt", "ann", weighting="quadratic")
    same(one, gwet_ac2(np.stack([a, b], axis=1), weighting="quadratic", **shared))
    ranks = {"spearman", "kendall_tau_b"}
    numeric = set(names(report, "gpt", "ann")) & set(NUMBERS)
    assert numeric == (ranks if scale == "ordinal" else set(NUMBERS))
    assert "mcnemar" not in names(report, "gpt", "ann")


def test_the_two_weightings_are_told_apart_everywhere() -> None:
    report = agreement(grades(), scale="ordinal", resamples=0)
    frame = report.to_frame()
    kept = frame[(frame["name"] == "weighted_kappa") & (frame["raters"] == "gpt ~ ann")]
    assert kept["weighting"].tolist() == ["linear", "quadratic"]
    assert kept["estimate"].is_unique
    lines = agreement_lines(report)
    for weighting in ("linear", "quadratic"):
        assert any(line.startswith(f"Weighted κ, {weighting} weights") for line in lines)


def test_values_of_a_numeric_scale_are_the_distances_of_weighted_kappa() -> None:
    words = ["1", "2", "4", "8", "16"]
    report = agreement(make(shown(words), THREE), scale="interval", resamples=0)
    expected = weighted_kappa(
        GRADES["gpt"],
        GRADES["bob"],
        weighting="linear",
        values=[1, 2, 4, 8, 16],
        n_categories=5,
        clusters=QUESTION,
    )
    same(every(report, "weighted_kappa", "gpt", "bob", weighting="linear"), expected)


def test_all_people_together_with_gaps() -> None:
    report = agreement(grades(), scale="ordinal", resamples=0)
    people = ("ann", "bob", "cat")
    assert sorted(names(report, *people)) == [
        *("agreement", "brennan_prediger", "conger_kappa", "fleiss_kappa", "gwet_ac1", "gwet_ac2"),
        *("krippendorff_alpha_nominal", "krippendorff_alpha_ordinal"),
    ]
    codes = np.stack([GRADES[rater] for rater in people], axis=1)
    shared: dict[str, Any] = {"n_categories": 5, "clusters": QUESTION}
    for name, function in (
        ("fleiss_kappa", fleiss_kappa),
        ("conger_kappa", conger_kappa),
        ("brennan_prediger", brennan_prediger),
    ):
        one = find(report, name, *people)
        same(one, function(codes, **shared))
        assert one.details["comparison"] == "people"


def test_the_judge_changes_no_figure_among_people() -> None:
    with_judge = agreement(grades(), scale="ordinal", resamples=0)
    table = {rater: column for rater, column in shown("12345").items() if rater != "gpt"}
    without = agreement(make(table, THREE), scale="ordinal", resamples=0)
    assert without.results
    kept = [one for one in with_judge.results if one.details["comparison"] == "people"]
    alone = [one for one in without.results if one.level == "element"]
    for one, other in zip(kept, alone, strict=True):
        assert (one.name, one.raters) == (other.name, other.raters)
        same(one, other)
    assert not any("gpt" in one.raters for one in kept)


# -- McNemar's test ----------------------------------------------------------------------------


def test_mcnemar_counts_the_positive_label_and_says_that_items_share_a_question() -> None:
    report = agreement(verdicts(), resamples=0)
    one = find(report, "mcnemar", "gpt", "bob")
    judge, person = GRADES["gpt"] >= 2, GRADES["bob"] >= 2
    expected = mcnemar(int((judge & ~person).sum()), int((~judge & person).sum()))
    same(one, expected)
    assert one.details["p"] == expected.details["p"]
    assert one.details["label"] == "CORRECT"
    assert any("takes items as independent" in text for text in one.warnings)
    lines = agreement_lines(report, every=True)
    told = f"CORRECT by {one.details['only_first']} gpt only"
    assert any(told in line and "p = " in line for line in lines)


def test_mcnemar_where_no_two_items_share_a_question_needs_no_caution() -> None:
    report = agreement(verdicts(), unit="item", resamples=0)
    assert find(report, "mcnemar", "gpt", "bob").warnings == ()
    ratings = verdicts()
    frame = ratings.frame.assign(question_id=ratings.frame["item_id"])
    report = agreement(Ratings(frame), resamples=0)
    assert find(report, "mcnemar", "gpt", "bob").warnings == ()


def test_mcnemar_of_raters_who_never_differ_is_undefined_with_p_1() -> None:
    column: list[str | None] = ["CORRECT", "INCORRECT"] * 20
    kinds = {"ann": "annotator", "gpt": "judge"}
    report = agreement(make({"ann": column, "gpt": column}, kinds), resamples=0)
    one = find(report, "mcnemar", "gpt", "ann")
    assert math.isnan(one.estimate) and one.details["p"] == 1.0
    assert one.reason is not None and "no discordant item" in one.reason


# -- response level ----------------------------------------------------------------------------


def scored() -> AgreementReport:
    table = {
        rater: column
        for rater, column in shown(
            ["INCORRECT", "INCORRECT", "CORRECT", "CORRECT", "CORRECT"]
        ).items()
        if rater != "cat"
    }
    ids = [f"r{item // 4:02}" for item in range(N)]
    questions = [f"q{item // 4:02}" for item in range(N)]
    ratings = make(table, THREE, response_id=ids, question_id=questions)
    return agreement(ratings, resamples=199)


def test_scores_of_responses_have_every_figure() -> None:
    report = scored()
    assert tuple(names(report, "gpt", "ann", level="response")) == NUMBERS
    assert tuple(names(report, "ann", "bob", level="response")) == NUMBERS
    judge, person = ((GRADES[rater] >= 2).reshape(-1, 4).mean(axis=1) for rater in ("gpt", "ann"))
    clusters = np.arange(N // 4)
    both = np.column_stack([judge, person])
    drawn: dict[str, Any] = {"clusters": clusters, "rng": 0, "resamples": 199}
    lower, upper = limits_of_agreement(judge, person, clusters=clusters)
    for name, expected in (
        ("kendall_tau_b", kendall_tau_b(judge, person, clusters=clusters)),
        ("rmse", rmse(judge, person, clusters=clusters)),
        ("ccc", ccc(judge, person, **drawn)),
        ("icc_a1", icc(both, form="agreement", **drawn)),
        ("icc_c1", icc(both, form="consistency", **drawn)),
        ("limit_of_agreement_lower", lower),
        ("limit_of_agreement_upper", upper),
    ):
        same(find(report, name, "gpt", "ann", level="response"), expected)


def test_a_share_correct_is_never_called_f1() -> None:
    report = scored()
    for one in report.results:
        if one.level != "element":
            assert one.details["measure"] == "share_correct", one.name
    lines = agreement_lines(report, every=True)
    assert any(line.startswith("Response level: share correct (no F1)") for line in lines)


def test_scores_that_differ_by_rounding_only_are_equal() -> None:
    """1 of 3 is 0.333…, and 0.1 + 0.2 is no 0.3: such differences order no two responses."""
    k = 12
    human = np.tile([0.3, 0.6], k)
    judge = np.tile([0.1 + 0.2, 0.6], k)
    judge[:4] = [0.3, 0.2 + 0.4, 0.3, 0.6]
    table = {"ann": [repr(x) for x in human.tolist()], "gpt": [repr(x) for x in judge.tolist()]}
    rows = [
        {
            "item_id": f"i{item}",
            "question_id": f"q{item}",
            "system": "-",
            "response_id": f"i{item}",
            "rater": rater,
            "kind": THREE[rater],
            "rating": cell,
            "status": "rated",
            "weight": 1.0,
        }
        for rater, cells in table.items()
        for item, cell in enumerate(cells)
    ]
    report = agreement(Ratings(pd.DataFrame(rows)), scale="interval", resamples=0)
    for name in ("agreement", "cohen_kappa", "krippendorff_alpha_interval"):
        assert find(report, name, "gpt", "ann").estimate == 1.0
    assert report.confusion[0].labels == ("0.3", "0.6")
    for level in ("element", "response"):
        assert find(report, "kendall_tau_b", "gpt", "ann", level=level).estimate == 1.0
        assert find(report, "spearman", "gpt", "ann", level=level).estimate == pytest.approx(1)
        assert find(report, "ccc", "gpt", "ann", level=level).estimate == pytest.approx(1)


# -- what a terminal shows ---------------------------------------------------------------------


def test_the_short_table_has_the_wanted_figures_and_says_where_the_others_are() -> None:
    report = scored()
    short, whole = agreement_lines(report), agreement_lines(report, every=True)
    assert any(line.startswith("Lin’s CCC") for line in short)
    assert any(line.startswith("Kendall τ-b") for line in short)
    assert any("--all" in line and "--json and --csv" in " ".join(short) for line in short)
    for start in ("MCC", "Brennan–Prediger", "Exact McNemar", "ICC(A,1)", "RMSE", "Lower limit"):
        assert not any(line.startswith(start) for line in short)
        assert any(line.startswith(start) for line in whole)
    assert not any("--all" in line for line in whole)
    for lines in (short, whole):
        assert any(line.startswith("MAD, mean absolute difference") for line in lines)
        assert max(map(len, lines)) <= 100


def test_what_the_short_table_does_not_show_is_not_computed() -> None:
    report = agreement(verdicts(), resamples=0, figures="main")
    assert {one.name for one in report.results if one.level == "element"} <= set(SHORT)
    whole = agreement(verdicts(), resamples=0)
    assert agreement_lines(report) == agreement_lines(whole)


def test_eight_long_labels_fit_the_terminal() -> None:
    words = [f"a rather long label {number}" for number in range(8)]
    columns = {rater: [words[(item + at) % 8] for item in range(40)] for at, rater in PAIR}
    report = agreement(make(columns, dict.fromkeys(columns, "annotator") | {"gpt": "judge"}))
    lines = agreement_lines(report)
    assert len(report.confusion[0].labels) == 8
    assert max(map(len, lines)) <= 100


def test_the_page_folds_what_the_short_table_leaves_out() -> None:
    content = agreement(grades(), scale="ordinal", resamples=0).to_dict()
    page = build_report(title="t", agreement=content).to_html()
    first, folded = page.split("Further coefficients of the same comparisons")
    assert "Weighted κ, quadratic weights" in first and "Gwet’s AC2" not in first
    assert "Gwet’s AC2, quadratic weights" in folded


def test_numbers_of_any_size_have_their_figures() -> None:
    big = [str(1e300 * (1 + int(code))) for code in GRADES["ann"]]
    other = [str(1e300 * (1 + int(code))) for code in GRADES["gpt"]]
    kinds = {"ann": "annotator", "gpt": "judge"}
    report = agreement(make({"ann": big, "gpt": other}, kinds), scale="ratio", resamples=0)
    small = agreement(grades(), scale="interval", resamples=0)
    for name in ("ccc", "pearson", "kendall_tau_b", "icc_a1"):
        expected = find(small, name, "gpt", "ann").estimate
        assert find(report, name, "gpt", "ann").estimate == pytest.approx(expected)
    assert max(map(len, agreement_lines(report, every=True))) <= 110


def test_an_interval_of_two_responses_never_misses_its_estimate() -> None:
    for first, second in (
        (["1", "3"], ["2", "2"]),
        (["1", "2"], ["3", "1"]),
        (["1", "4"], ["1", "5"]),
    ):
        kinds = {"ann": "annotator", "gpt": "judge"}
        ratings = make({"ann": list(first), "gpt": list(second)}, kinds)
        for one in agreement(ratings, scale="interval", unit="item", resamples=0).results:
            if math.isnan(one.low):
                assert one.reason, one
            else:
                assert one.low - 1e-9 <= one.estimate <= one.high + 1e-9, one
