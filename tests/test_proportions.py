"""Binomial intervals by name, and Wilson's on the effective n of items that lie in questions."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from accord.scoring.errors import InputError, SettingsError
from accord.validate import (
    Estimate,
    agresti_coull,
    clopper_pearson,
    cluster_codes,
    clustered_proportion,
    cohen_kappa,
    jeffreys,
    wilson,
)
from accord.validate.intervals import wilson_limits, z_quantile
from accord.validate.proportions import one_sided_upper

GOLDEN = json.loads((Path(__file__).parent / "golden" / "proportions.json").read_text())
NAMED: dict[str, Callable[..., Estimate]] = {
    "wilson": wilson,
    "clopper_pearson": clopper_pearson,
    "jeffreys": jeffreys,
    "agresti_coull": agresti_coull,
}


def _cases(*methods: str) -> list[Any]:
    return [
        pytest.param(case, id=case["id"])
        for case in GOLDEN["cases"]
        if case["id"].split("/")[0] in methods
    ]


@pytest.mark.parametrize("case", _cases(*NAMED))
def test_named_interval(case: dict[str, Any]) -> None:
    given_, expected = case["inputs"], case["expected"]
    out = NAMED[case["id"].split("/")[0]](given_["x"], given_["n"], confidence=given_["confidence"])
    assert out.estimate == given_["x"] / given_["n"]
    assert out.low == pytest.approx(expected["low"], abs=case["tolerance"])
    assert out.high == pytest.approx(expected["high"], abs=case["tolerance"])
    assert out.unit == "item"
    assert out.confidence == given_["confidence"]


@pytest.mark.parametrize("case", _cases("wilson_effective_n"))
def test_wilson_on_a_given_effective_n(case: dict[str, Any]) -> None:
    given_, expected = case["inputs"], case["expected"]
    low, high = wilson_limits(
        given_["estimate"],
        given_["n"] / given_["design_effect"],
        z_quantile(given_["confidence"]),
    )
    assert low == pytest.approx(expected["low"], abs=case["tolerance"])
    assert high == pytest.approx(expected["high"], abs=case["tolerance"])


@pytest.mark.parametrize("name", sorted(NAMED))
def test_ends_are_exact(name: str) -> None:
    assert NAMED[name](0, 37).low == 0
    assert NAMED[name](37, 37).high == 1


@pytest.mark.parametrize("name", sorted(NAMED))
def test_no_items_is_undefined(name: str) -> None:
    out = NAMED[name](0, 0)
    assert math.isnan(out.estimate) and math.isnan(out.low)
    assert out.reason == "no items"


@pytest.mark.parametrize(
    ("x", "n", "says"), [(5, 4, "larger than"), (-1, 4, "count"), (0.5, 4, "count")]
)
def test_counts_that_are_none_are_refused(x: Any, n: Any, says: str) -> None:
    for interval in NAMED.values():
        with pytest.raises(SettingsError, match=says):
            interval(x, n)


# -- the default for items in questions --------------------------------------------------------


def twin(
    y: list[float], clusters: list[int], weights: list[float], confidence: float
) -> tuple[float, float, float]:
    """The rules of ``clustered_proportion`` one by one, in loops: estimate and limits."""
    questions = sorted(set(clusters))
    g, n = len(questions), len(y)
    size = [clusters.count(q) for q in questions]

    def mean(without: int | None) -> float:
        kept = [(v, w) for v, w, c in zip(y, weights, clusters, strict=True) if c != without]
        return sum(w * v for v, w in kept) / sum(w for _, w in kept)

    p = mean(None)
    n_items = sum(weights) ** 2 / sum(w * w for w in weights)
    away = [mean(q) for q in questions]
    v = (g - 1) / g * sum((a - p) ** 2 for a in away)
    deff = v / (p * (1 - p) / n_items) if 0 < p < 1 else 1.0
    typical = sum(m * m for m in size) / n
    rare = min(sum(y), n - sum(y))
    floor = 1 + (typical - 1) * 0.2 * 10 / (10 + rare)
    a = [m * (1 + 0.2 * (m - 1)) for m in size]
    df = max(sum(a) ** 2 / sum(x * x for x in a) - 1, 1)
    size_eff = n_items / max(deff, 1, floor)
    c = float(stats.t.ppf(0.5 + confidence / 2, df))
    middle = (p + c * c / (2 * size_eff)) / (1 + c * c / size_eff)
    half = (
        c / (1 + c * c / size_eff) * math.sqrt(p * (1 - p) / size_eff + c * c / (4 * size_eff**2))
    )
    return p, max(middle - half, 0.0), min(middle + half, 1.0)


questions = st.lists(
    st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=9), min_size=6, max_size=14
).filter(lambda qs: any(len(q) > 1 for q in qs))


@given(questions, st.sampled_from([0.9, 0.95, 0.99]), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=80, deadline=None, derandomize=True)
def test_the_default_is_its_slow_twin(
    answers: list[list[float]], confidence: float, seed: int, weighted: bool
) -> None:
    y = [v for question in answers for v in question]
    clusters = [g for g, question in enumerate(answers) for _ in question]
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.2, 5, len(y)) if weighted else np.ones(len(y))
    p, low, high = twin(y, clusters, list(weights), confidence)
    out = clustered_proportion(
        y,
        clusters=np.array(clusters),
        weights=weights if weighted else None,
        confidence=confidence,
    )
    assert out.estimate == pytest.approx(p, abs=1e-12)
    assert out.low == pytest.approx(low, abs=1e-10)
    assert out.high == pytest.approx(high, abs=1e-10)


def test_shares_of_agreement_count_as_such() -> None:
    """An item on which one of three pairs of raters agrees counts a third."""
    rng = np.random.default_rng(2)
    y = rng.choice([0.0, 1 / 3, 1.0], 60)
    clusters = np.repeat(np.arange(12), 5)
    _, low, high = twin(list(y), list(clusters), [1.0] * 60, 0.95)
    out = clustered_proportion(y, clusters=clusters)
    assert (out.low, out.high) == (
        pytest.approx(low, abs=1e-10),
        pytest.approx(high, abs=1e-10),
    )


def test_one_item_a_question_is_plain_wilson_with_t() -> None:
    y = np.r_[np.ones(30), np.zeros(10)]
    out = clustered_proportion(y, clusters=np.arange(40))
    c = float(stats.t.ppf(0.975, 39))
    assert (out.low, out.high) == pytest.approx(wilson_limits(0.75, 40, c), abs=1e-12)
    assert out.details["effective_n"] == 40
    assert out.details["df"] == pytest.approx(39)


def test_by_item_it_is_plain_wilson_with_z() -> None:
    y = np.r_[np.ones(30), np.zeros(10)]
    out = clustered_proportion(y, clusters=np.arange(40) // 5, unit="item")
    plain = wilson(30, 40)
    assert (out.low, out.high) == pytest.approx((plain.low, plain.high), abs=1e-15)
    assert out.unit == "item"
    assert "independent" in out.method
    assert out.clusters == 8


def test_a_constant_factor_in_the_weights_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    y, w = rng.integers(0, 2, 50), rng.uniform(1, 3, 50)
    one = clustered_proportion(y, clusters=np.arange(50) // 5, weights=w)
    ten = clustered_proportion(y, clusters=np.arange(50) // 5, weights=10 * w)
    assert (one.estimate, one.low, one.high) == pytest.approx(
        (ten.estimate, ten.low, ten.high), abs=1e-14
    )
    # Hajek: sum w y / sum w
    assert one.estimate == pytest.approx(float((w * y).sum() / w.sum()), abs=1e-14)


@pytest.mark.parametrize("unit", ["question", "item"])
def test_no_error_still_has_a_bound(unit: Any) -> None:
    out = clustered_proportion(np.zeros(60), clusters=np.arange(60) // 3, unit=unit)
    assert (out.estimate, out.low) == (0.0, 0.0)
    assert 0.04 < out.high < 0.15
    # exact one-sided bound on the effective n: 1 - 0.05^(1/n)
    n = out.details["effective_n"]
    assert out.details["one_sided_bound"] == pytest.approx(1 - 0.05 ** (1 / n), abs=1e-12)
    full = clustered_proportion(np.ones(60), clusters=np.arange(60) // 3, unit=unit)
    assert full.high == 1.0
    assert full.low == pytest.approx(1 - out.high, abs=1e-12)
    assert full.details["one_sided_bound"] == pytest.approx(1 - out.details["one_sided_bound"])


def test_few_errors_assume_clustering() -> None:
    # 20 questions of 5, 2 errors: floor 1 + 4 * 0.2 * 10 / 12 = 1.6667, more than is measured
    y = np.zeros(100)
    y[[3, 50]] = 1
    out = clustered_proportion(y, clusters=np.arange(100) // 5)
    assert out.details["design_effect_used"] == pytest.approx(1 + 0.8 * 10 / 12, abs=1e-12)
    assert out.details["minority"] == 2
    assert any("ICC 0.2 assumed" in said for said in out.warnings)
    y[::10] = 1
    assert not any(
        "ICC" in said for said in clustered_proportion(y, clusters=np.arange(100) // 5).warnings
    )


@pytest.mark.parametrize(("count", "given_interval"), [(1, False), (5, False), (6, True)])
def test_too_few_questions(count: int, given_interval: bool) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, count * 4)
    out = clustered_proportion(y, clusters=np.repeat(np.arange(count), 4))
    assert out.estimate == pytest.approx(y.mean())
    assert math.isfinite(out.low) is given_interval
    assert (out.reason is None) is given_interval
    if count == 1:
        assert out.reason == "no interval: one question"
    if given_interval:
        assert any("20 effective questions" in said for said in out.warnings)


def test_warnings_of_dominance() -> None:
    y = np.tile([0, 1], 50)
    clusters = np.r_[np.zeros(11), np.arange(11, 100)].astype(int)
    weights = np.ones(100)
    weights[0] = 30
    out = clustered_proportion(y, clusters=clusters, weights=weights)
    assert any("one question dominates: it holds 11%" in said for said in out.warnings)
    assert any("few items dominate" in said for said in out.warnings)
    plain = clustered_proportion(y, clusters=np.arange(100) // 5)
    assert not any("dominate" in said for said in plain.warnings)


def test_no_items() -> None:
    out = clustered_proportion([], clusters=np.array([], dtype=int))
    assert math.isnan(out.estimate)
    assert out.reason == "no items"


@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.1, math.inf])
def test_what_is_no_share_is_refused(bad: float) -> None:
    with pytest.raises(InputError, match="row 2"):
        clustered_proportion([1.0, bad], clusters=np.array([0, 1]))
    with pytest.raises(InputError, match="shape"):
        clustered_proportion([[1.0, 0.0]], clusters=np.array([0]))


def test_one_sided_upper_takes_a_size_that_is_not_whole() -> None:
    assert one_sided_upper(0, 48.5) == pytest.approx(1 - 0.05 ** (1 / 48.5), abs=1e-12)
    assert one_sided_upper(3, 3) == 1


# -- real labels: 1,490 answers to 301 questions -----------------------------------------------


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("judge", "n", "kappa"),
    [("judge_gpt4", 1488, 0.6953), ("judge_davinci003", 1490, 0.6745), ("judge_bem", 1490, 0.6157)],
)
def test_judges_of_real_answers(shared_data: Path, judge: str, n: int, kappa: float) -> None:
    with (shared_data / "openqa_eval" / "items.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row[judge] and row["human"]]
    code = {"No": 0, "Yes": 1}
    a = np.array([code[row[judge]] for row in rows])
    b = np.array([code[row["human"]] for row in rows])
    clusters = cluster_codes([row["question_id"] for row in rows])
    out = clustered_proportion(a == b, clusters=clusters)
    assert (out.n, out.clusters) == (n, 301)
    assert round(cohen_kappa(a, b, n_categories=2, clusters=clusters).estimate, 4) == kappa
    if judge == "judge_gpt4":
        assert (round(out.estimate, 4), round(out.low, 4), round(out.high, 4)) == (
            0.8481,
            0.8224,
            0.8707,
        )
        assert round(out.design_effect, 2) == 1.74
        assert out.details["effective_n"] == pytest.approx(1488 / 1.74, rel=2e-3)
        alone = clustered_proportion(a == b, clusters=clusters, unit="item")
        assert (round(alone.low, 4), round(alone.high, 4)) == (0.8290, 0.8655)


@pytest.mark.shared_data
def test_two_people_on_real_answers(shared_data: Path) -> None:
    with (shared_data / "openqa_eval" / "items.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    code = {"": -1, "No": 0, "Yes": 1}
    pair: NDArray[np.int64] = np.array(
        [[code[row["annotator1"]], code[row["annotator2"]]] for row in rows]
    )
    clusters = cluster_codes([row["question_id"] for row in rows])
    out = cohen_kappa(pair[:, 0], pair[:, 1], n_categories=2, clusters=clusters)
    assert out.n == 1483
    assert round(out.estimate, 4) == 0.7347
    both = (pair >= 0).all(axis=1)
    agreed = clustered_proportion(pair[both, 0] == pair[both, 1], clusters=clusters[both])
    assert round(agreed.estimate, 4) == 0.8685


def test_f1_is_a_share_in_which_a_hit_counts_twice() -> None:
    # 30 hits and 10 errors: F1 = 60/70; the variance with items independent is
    # (30 (2/7)^2 + 10 (6/7)^2) / 70^2, sum of squares of 2 (1 - p) and p; p (1 - p) over it is n
    y = np.r_[np.ones(30), np.zeros(10)]
    out = clustered_proportion(y, hits=2, clusters=np.arange(40), unit="item")
    p, v = 6 / 7, (30 * (2 / 7) ** 2 + 10 * (6 / 7) ** 2) / 70**2
    assert out.estimate == pytest.approx(p, abs=1e-12)
    assert out.details["effective_n"] == pytest.approx(p * (1 - p) / v, abs=1e-9)
    # by delta method on the two counts: n = p (1 - p) / var, var = p (1 - p) (2 - p) / 70
    assert out.details["effective_n"] == pytest.approx(70 / (2 - p), abs=1e-9)
    none = clustered_proportion(np.zeros(40), hits=2, clusters=np.arange(40))
    plain = clustered_proportion(np.zeros(20), clusters=np.arange(20))
    assert none.details["effective_n"] == plain.details["effective_n"] == 20


def test_the_interval_of_f1_covers_without_being_wide() -> None:
    rng, hits, widths, errors = np.random.default_rng(3), 0, 0.0, 0.0
    for _ in range(400):
        judged = rng.random(160) < 0.9  # right where the truth is positive (112 of 160), or not
        y = np.r_[judged[:112], np.zeros(int((~judged[112:]).sum()))].astype(float)
        where = np.r_[np.arange(112), np.arange(112, 160)[~judged[112:]]] // 4
        out = clustered_proportion(y, hits=2, clusters=where)
        truth = 2 * 112 * 0.9 / (2 * 112 * 0.9 + 160 * 0.1)
        hits += out.low <= truth <= out.high
        widths += out.high - out.low
        errors += 2 * 1.96 * float(str(out.details["se"]))
    # exact binomial: 364 is the 0.0005 quantile of Bin(400, 0.95)
    assert hits >= 364 and widths < 1.35 * errors
