"""Raw agreement, Cohen's kappa, Gwet's AC1 and Krippendorff's alpha."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from numpy.typing import NDArray

from accord.scoring.errors import InputError, SettingsError
from accord.validate import (
    Estimate,
    bias,
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
    raw_agreement,
)
from accord.validate.chance import Level

HERE = Path(__file__).parent / "golden"
KAPPA = json.loads((HERE / "kappa.json").read_text())
ALPHA = json.loads((HERE / "alpha.json").read_text())
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def _coded(values: Floats) -> tuple[Codes, Floats]:
    """Ratings with NaN for missing, as codes of the distinct values seen, and those values."""
    seen = np.unique(values[~np.isnan(values)])
    codes = np.searchsorted(seen, np.nan_to_num(values))
    return np.where(np.isnan(values), -1, codes).astype(np.int64), seen


def _table(name: str, source: dict[str, Any]) -> Floats:
    raters = source["tables"][name]["raters"]
    return np.array(
        [[math.nan if v is None else v for v in column] for column in raters.values()]
    ).T


def _synthetic(shared_data: Path, name: str) -> dict[str, Any]:
    with (shared_data / "synthetic" / f"{name}.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    out: dict[str, Any] = {
        column: np.array([float(row[column] or "nan") for row in rows])
        for column in ("ann1", "ann2", "ann3", "judge", "judge_score")
    }
    _, out["clusters"] = np.unique([row["question_id"] for row in rows], return_inverse=True)
    return out


def _values(case: dict[str, Any], source: dict[str, Any], shared_data: Path | None) -> Floats:
    given_ = case["inputs"]
    if "table" in given_:
        return _table(given_["table"], source)
    assert shared_data is not None
    table = _synthetic(shared_data, Path(given_["file"]).stem)
    return np.column_stack([table[column] for column in given_["columns"]])


def _own(n: int) -> Codes:
    return np.arange(n)


# -- golden values -----------------------------------------------------------------------------


def _counts_to_codes(counts: list[list[int]]) -> Codes:
    """A square table of counts as two columns of codes."""
    rows = [(i, j) for i, row in enumerate(counts) for j, c in enumerate(row) for _ in range(c)]
    return np.array(rows)


@pytest.mark.parametrize(
    "name", ["cohen_binary", "cohen_ordinal3", "cohen_unused_category", "cohen_paradox"]
)
def test_cohen_on_textbook_tables(name: str) -> None:
    case = next(c for c in KAPPA["cases"] if c["id"] == f"cohen/{name}/unweighted")
    counts = KAPPA["tables"][name]["counts"]
    x = _counts_to_codes(counts)
    out = cohen_kappa(x[:, 0], x[:, 1], n_categories=len(counts), clusters=_own(len(x)))
    expected = case["expected"]
    assert out.estimate == pytest.approx(expected["estimate"], abs=case["tolerance"])
    # Fleiss, Cohen and Everitt's variance divides by n, the sandwich's by n - 1
    n = len(x)
    assert out.details["se"] * math.sqrt((n - 1) / n) == pytest.approx(
        expected["se"], abs=case["tolerance"]
    )


@pytest.mark.shared_data
def test_cohen_on_d300(shared_data: Path) -> None:
    case = next(c for c in KAPPA["cases"] if c["id"] == "cohen_d300/unweighted")
    x, _ = _coded(_values(case, KAPPA, shared_data))
    out = cohen_kappa(x[:, 0], x[:, 1], n_categories=3, clusters=_own(len(x)))
    assert out.n == case["expected"]["n"]
    assert out.dropped == {"a rating is missing": 48}
    assert out.estimate == pytest.approx(case["expected"]["estimate"], abs=1e-9)
    assert out.details["se"] * math.sqrt(251 / 252) == pytest.approx(
        case["expected"]["se"], abs=1e-9
    )


def _ac1_cases() -> list[Any]:
    return [
        pytest.param(
            c,
            id=c["id"],
            marks=[] if "table" in c["inputs"] else [pytest.mark.shared_data],
        )
        for c in KAPPA["cases"]
        if c["id"].startswith("cac/") and c["id"].endswith("/gwet/unweighted")
    ]


@pytest.mark.parametrize("case", _ac1_cases())
def test_ac1(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    shared = None if "table" in case["inputs"] else request.getfixturevalue("shared_data")
    x, seen = _coded(_values(case, KAPPA, shared))
    out = gwet_ac1(x, n_categories=len(seen), clusters=_own(len(x)))
    expected = case["expected"]
    assert out.estimate == pytest.approx(expected["estimate"], abs=case["tolerance"])
    if (x >= 0).all():
        # Gwet's own variance is then the sandwich with each item its own cluster. Where ratings
        # are missing he takes the number of items with two as fixed, and the two part
        assert out.details["se"] == pytest.approx(expected["se"], abs=1e-9)
    raw = raw_agreement(x, n_categories=len(seen), clusters=_own(len(x)))
    assert raw.estimate == pytest.approx(expected["pa"], abs=1e-12)


def _alpha_cases() -> list[Any]:
    return [
        pytest.param(
            c,
            id=c["id"],
            marks=[] if "table" in c["inputs"] else [pytest.mark.shared_data],
        )
        for c in ALPHA["cases"]
    ]


@pytest.mark.parametrize("case", _alpha_cases())
def test_alpha(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    shared = None if "table" in case["inputs"] else request.getfixturevalue("shared_data")
    x, seen = _coded(_values(case, ALPHA, shared))
    out = krippendorff_alpha(
        x,
        level=case["inputs"]["level"],
        values=seen,
        n_categories=len(seen),
        clusters=_own(len(x)),
    )
    assert out.estimate == pytest.approx(case["expected"]["alpha"], abs=case["tolerance"])
    assert out.name == f"krippendorff_alpha_{case['inputs']['level']}"
    if "pairable_values" in case["expected"]:
        assert out.details["pairable"] == round(case["expected"]["pairable_values"])


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "nominal", "ordinal", "interval", "ac1"),
    [  # krippendorff 0.9.0 and irrCAC; AC1 on all items with a rating
        ("d300", 0.5535405, 0.5598469, 0.5683018, 0.790666098),
        ("d5000", 0.6085364, 0.6306662, 0.6421475, 0.798932564),
    ],
)
def test_reference_figures(
    shared_data: Path, name: str, nominal: float, ordinal: float, interval: float, ac1: float
) -> None:
    table = _synthetic(shared_data, name)
    x, seen = _coded(np.column_stack([table[c] for c in ("ann1", "ann2", "ann3")]))
    expected = {"nominal": nominal, "ordinal": ordinal, "interval": interval}
    for level in LEVELS[:3]:
        out = krippendorff_alpha(
            x, level=level, values=seen, n_categories=3, clusters=table["clusters"]
        )
        assert out.estimate == pytest.approx(expected[level], abs=1e-6)
        # 1e-12 against the package itself
        package = krippendorff.alpha(
            reliability_data=np.where(x >= 0, seen[x], np.nan).T, level_of_measurement=level
        )
        assert out.estimate == pytest.approx(package, abs=1e-12)
    out = gwet_ac1(x, n_categories=3, clusters=table["clusters"])
    assert out.estimate == pytest.approx(ac1, abs=1e-9)


# -- continuous scores, many raters ------------------------------------------------------------


def test_interval_alpha_of_continuous_scores_needs_no_value_by_value_table() -> None:
    """A table of value by value would hold 10,000 x 10,000 cells (krippendorff asks 272 GiB)."""
    import tracemalloc

    rng = np.random.default_rng(6)
    truth = rng.normal(size=5000)
    scores = truth[:, None] + rng.normal(size=(5000, 2))
    codes, seen = _coded(scores)
    assert len(seen) == 10_000
    tracemalloc.start()
    out = krippendorff_alpha(
        codes,
        level="interval",
        values=seen,
        n_categories=len(seen),
        clusters=np.arange(5000) // 5,
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    # ICC(1) by its definition is alpha's large-sample value: about 1 / (1 + 1)
    assert out.estimate == pytest.approx(0.5, abs=0.03)
    within = ((scores[:, 0] - scores[:, 1]) ** 2).mean()
    assert out.estimate == pytest.approx(1 - within / (2 * scores.var(ddof=1)), abs=1e-12)
    assert out.low < 0.5 < out.high


def test_interval_alpha_keeps_its_digits_far_from_zero() -> None:
    rng = np.random.default_rng(7)
    x = rng.integers(0, 5, (60, 3))
    near = np.array([0.0, 0.1, 0.3, 0.7, 1.0])
    here, there = (
        krippendorff_alpha(
            x, level="interval", values=v, n_categories=5, clusters=np.arange(60) // 4
        )
        for v in (near, 1e6 + near)
    )
    assert here.estimate == pytest.approx(there.estimate, abs=1e-8)
    assert here.low == pytest.approx(there.low, abs=1e-8)


def test_too_many_values_for_a_table_are_refused() -> None:
    codes = np.arange(20_000).reshape(-1, 2)
    for level in ("ordinal", "ratio"):
        with pytest.raises(InputError, match="--scale interval"):
            krippendorff_alpha(
                codes,
                level=level,
                values=np.arange(20_000.0),
                n_categories=20_000,
                clusters=np.arange(10_000),
            )


def test_many_raters_of_few_items() -> None:
    rng = np.random.default_rng(8)
    x = np.where(rng.random((40, 60)) < 0.7, -1, rng.integers(0, 3, (40, 60)))
    x[0] = -1
    x[0, 5] = 1
    values = np.arange(3.0)
    for level in LEVELS[:3]:
        out = krippendorff_alpha(
            x, level=level, values=values, n_categories=3, clusters=np.arange(40) // 2
        )
        package = krippendorff.alpha(
            reliability_data=np.where(x >= 0, x, np.nan).T, level_of_measurement=level
        )
        assert out.estimate == pytest.approx(package, abs=1e-12)
        assert out.dropped == {"fewer than two ratings": 1}


# -- named traps of other programs -------------------------------------------------------------


@pytest.mark.shared_data
def test_a_missing_rating_is_never_a_category(shared_data: Path) -> None:
    """Elsewhere kappa of d300 came out as 0.453 (missing taken as a category), not 0.718."""
    table = _synthetic(shared_data, "d300")
    x, _ = _coded(np.column_stack([table["ann1"], table["ann2"]]))
    out = cohen_kappa(x[:, 0], x[:, 1], n_categories=3, clusters=table["clusters"])
    as_category = cohen_kappa(
        np.where(x[:, 0] < 0, 3, x[:, 0]),
        np.where(x[:, 1] < 0, 3, x[:, 1]),
        n_categories=4,
        clusters=table["clusters"],
    )
    assert round(out.estimate, 7) == 0.7179946
    assert round(as_category.estimate, 3) == 0.453
    with pytest.raises(InputError, match="-1"):
        gwet_ac1(
            np.column_stack([table["ann1"], table["ann2"]]), n_categories=3, clusters=_own(300)
        )


@pytest.mark.shared_data
def test_ordinal_is_not_interval(shared_data: Path) -> None:
    table = _synthetic(shared_data, "d300")
    x, seen = _coded(np.column_stack([table[c] for c in ("ann1", "ann2", "ann3")]))
    ordinal, interval = (
        krippendorff_alpha(
            x, level=level, values=seen, n_categories=3, clusters=table["clusters"]
        ).estimate
        for level in ("ordinal", "interval")
    )
    assert abs(ordinal - interval) > 0.005


def test_raters_by_items_is_refused() -> None:
    """Elsewhere the transposed table silently gives 0.002: here the clusters don't fit."""
    x = np.tile([0, 1], (3, 50))
    with pytest.raises(InputError, match="clusters have shape"):
        gwet_ac1(x, n_categories=2, clusters=np.arange(100) // 5)


# -- degenerate tables -------------------------------------------------------------------------

Call = Callable[..., Estimate]
COEFFICIENTS: dict[str, Call] = {
    "kappa": lambda x, **kw: cohen_kappa(x[:, 0], x[:, 1], **kw),
    "ac1": gwet_ac1,
    "raw": raw_agreement,
    **{
        level: (
            lambda x, level=level, **kw: krippendorff_alpha(
                x, level=level, values=np.arange(1.0, kw["n_categories"] + 1), **kw
            )
        )
        for level in LEVELS
    },
}


def _degenerate(name: str) -> dict[str, Estimate]:
    x, seen = _coded(_table(name, KAPPA))
    k = max(2, len(seen))
    return {
        key: call(x[:, :2] if key == "kappa" else x, n_categories=k, clusters=_own(len(x)))
        for key, call in COEFFICIENTS.items()
    }


def test_one_category_for_all() -> None:
    got = _degenerate("all_one_category")
    for key in ("kappa", *LEVELS):
        out = got[key]
        assert math.isnan(out.estimate) and math.isnan(out.low) and math.isnan(out.high)
        assert out.reason is not None
        raw = out.details["agreement"]
        assert raw.estimate == 1 and 0 < raw.low < 1 and raw.high == 1
    # the list of categories is given, with two: AC1 is 1
    assert got["ac1"].estimate == 1
    assert got["raw"].estimate == 1
    x = np.zeros((8, 3), dtype=int)
    alone = gwet_ac1(x, n_categories=1, clusters=_own(8))
    assert math.isnan(alone.estimate)
    assert alone.reason == "one category is declared: nothing to agree on"


def test_perfect_agreement_keeps_an_open_interval() -> None:
    got = _degenerate("all_agree_two_categories")
    for key, out in got.items():
        assert out.estimate == 1, key
        if key != "raw":
            assert out.reason == "no interval: too few questions (8; at least 10)"
    x = np.tile([[0, 0], [1, 1], [1, 1]], (20, 1))
    for key, call in COEFFICIENTS.items():
        out = call(x, n_categories=2, clusters=np.arange(60) // 3)
        assert out.estimate == 1
        if key == "raw":
            assert 0.8 < out.low < 1 and out.high == 1
        else:
            # without the added item the jackknife has no spread at all: the whole range is open
            assert (out.low, out.high) == (-1, 1)
            assert any("no disagreement was seen" in said for said in out.warnings)
            assert 0.8 < out.details["agreement"].low < 1


def test_what_is_0_but_for_rounding_is_0() -> None:
    # 2 x 2 table 3, 30, 6, 60: independent margins, so kappa is 0; unsnapped it is 5.6e-16
    a, b = np.repeat([[0, 0, 1, 1], [0, 1, 0, 1]], [3, 30, 6, 60], axis=1)
    for weight in (1, 2, 9):
        weights = np.full(a.size, weight / 7)
        out = cohen_kappa(a, b, n_categories=2, clusters=_own(a.size), weights=weights)
        assert out.estimate == 0.0
        assert out.low < 0 < out.high
    # people's and the judge's differences cancel, but for -3e-17 in floating point
    out = bias([0.1, 0.7, 0.0] * 10, [0.0, 0.0, 0.8] * 10, clusters=_own(30))
    assert out.estimate == 0.0


def test_constant_but_different() -> None:
    got = _degenerate("constant_but_different")
    expected = KAPPA["recommended_for_degenerate"]["constant_but_different"]
    assert got["raw"].estimate == expected["raw_agreement"]
    assert got["kappa"].estimate == pytest.approx(expected["cohen_kappa"], abs=1e-12)
    assert got["ac1"].estimate == pytest.approx(expected["gwet_ac1"], abs=1e-12)
    for level in LEVELS:
        assert got[level].estimate == pytest.approx(-0.875, abs=1e-12)


def test_a_constant_rater() -> None:
    got = _degenerate("one_rater_constant")
    assert got["raw"].estimate == 0.75
    assert got["kappa"].estimate == pytest.approx(0, abs=1e-12)
    assert got["nominal"].estimate == pytest.approx(-1 / 14, abs=1e-12)
    a, b = np.zeros(80, dtype=int), np.arange(80) % 4 // 3
    out = cohen_kappa(a, b, n_categories=2, clusters=np.arange(80) // 4)
    assert out.estimate == 0
    assert math.isnan(out.low) and math.isnan(out.high)
    assert out.reason is not None and "one category only" in out.reason


def test_one_item() -> None:
    got = _degenerate("single_item")
    for key, out in got.items():
        assert math.isnan(out.low), key
        assert out.reason == "no interval: one question" or "one category" in str(out.reason)


def test_no_overlap() -> None:
    for key, out in _degenerate("no_overlap").items():
        assert math.isnan(out.estimate), key
        assert out.reason in ("no item has two ratings", "no item has both ratings")
        assert sum(out.dropped.values()) == 4


def test_no_items_and_one_rater() -> None:
    for key, call in COEFFICIENTS.items():
        out = call(np.zeros((0, 2), dtype=int), n_categories=2, clusters=_own(0))
        assert math.isnan(out.estimate), key
        assert out.reason == "no items"
        if key != "kappa":
            out = call(np.zeros((5, 1), dtype=int), n_categories=2, clusters=_own(5))
            assert out.reason == "no item has two ratings"


def test_nine_questions_have_no_interval_and_ten_have() -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 2, (50, 2))
    for key, call in COEFFICIENTS.items():
        if key == "raw":
            continue
        nine = call(x[:45], n_categories=2, clusters=np.arange(45) // 5)
        assert math.isnan(nine.low) and not math.isnan(nine.estimate)
        assert nine.reason == "no interval: too few questions (9; at least 10)"
        ten = call(x, n_categories=2, clusters=np.arange(50) // 5)
        assert ten.reason is None and ten.low < ten.estimate < ten.high


# -- warnings ----------------------------------------------------------------------------------


def _pair(disagreements: int, minority: int) -> Codes:
    """200 items; both raters give category 1 to ``minority``, the second differs in some more."""
    x = np.zeros((200, 2), dtype=np.int64)
    x[:minority] = 1
    x[minority : minority + disagreements, 1] = 1
    return x


@pytest.mark.parametrize(("disagreements", "said"), [(9, True), (10, False)])
def test_few_disagreements_are_counted(disagreements: int, said: bool) -> None:
    x = _pair(disagreements, 20)
    for key, call in COEFFICIENTS.items():
        out = call(x, n_categories=2, clusters=np.arange(200) // 5)
        assert out.details["disagreements"] == disagreements
        if key != "raw":
            assert any("rests on 9 disagreeing items" in w for w in out.warnings) is said


def test_a_missing_rating_disagrees_with_nobody() -> None:
    x = np.tile([[0, -1, 0], [1, 1, -1], [0, 1, -1], [2, -1, -1]], (10, 1))
    clusters = np.arange(40) // 4
    assert gwet_ac1(x, n_categories=3, clusters=clusters).details["disagreements"] == 10
    alpha = krippendorff_alpha(x, level="nominal", n_categories=3, clusters=clusters)
    assert alpha.details["disagreements"] == 10
    raw = raw_agreement(x, n_categories=3, clusters=clusters)
    assert raw.details["disagreements"] == 10 and raw.n == 30


@pytest.mark.parametrize(("minority", "said"), [(4, True), (5, False)])
def test_few_minority_ratings(minority: int, said: bool) -> None:
    x = _pair(30, minority)
    for key, call in COEFFICIENTS.items():
        out = call(x, n_categories=2, clusters=np.arange(200) // 5)
        if key == "raw":
            continue
        assert out.details["minority"] == minority
        warned = any("not estimable in practice" in w for w in out.warnings)
        assert warned is (said and key != "ac1")


def test_few_effective_questions_and_dominance() -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, (100, 2))
    clusters = np.r_[np.zeros(60), np.arange(1, 41)].astype(int)
    out = cohen_kappa(x[:, 0], x[:, 1], n_categories=2, clusters=clusters)
    assert any("20 effective questions" in w for w in out.warnings)
    assert any("holds 60% of the items" in w for w in out.warnings)
    assert out.details["df"] < 5
    even = cohen_kappa(x[:, 0], x[:, 1], n_categories=2, clusters=np.arange(100) // 2)
    assert even.warnings == ()
    assert even.details["df"] == 49
    by_item = cohen_kappa(x[:, 0], x[:, 1], n_categories=2, clusters=clusters, unit="item")
    assert by_item.warnings == ()
    assert by_item.details["df"] == 99


# -- the unit ----------------------------------------------------------------------------------


def test_the_item_level_interval_is_that_of_items_as_clusters() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 80)
    x = np.where(rng.random((80, 3)) < 0.2, rng.integers(0, 3, (80, 3)), truth[:, None])
    x[rng.random((80, 3)) < 0.05] = -1
    clusters = np.arange(80) // 5
    for key, call in COEFFICIENTS.items():
        if key == "raw":
            continue
        alone = call(x, n_categories=3, clusters=clusters, unit="item")
        own = call(x, n_categories=3, clusters=_own(80))
        assert (alone.low, alone.high) == pytest.approx((own.low, own.high), abs=1e-12)
        assert alone.unit == "item" and "independent" in alone.method
        assert alone.clusters == 16
        assert alone.design_effect == pytest.approx(
            call(x, n_categories=3, clusters=clusters).design_effect
        )


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "k", "says"),
    [
        (np.array([[0, 1], [2, 0]]), 2, "row 2, rater 1: code 2"),
        (np.array([[0, -2], [1, 0]]), 2, "row 1, rater 2: code -2"),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), 2, "not integer codes"),
        (np.array([0, 1]), 2, "n_items, n_raters"),
        (np.array([[0, 0], [0, 0]]), 0, "categories"),
    ],
)
def test_what_are_no_codes_is_refused(x: Any, k: int, says: str) -> None:
    for key, call in COEFFICIENTS.items():
        if key == "kappa":
            continue
        with pytest.raises(InputError, match=says):
            call(x, n_categories=k, clusters=_own(2))


def test_kappa_needs_two_equally_long_raters() -> None:
    with pytest.raises(InputError, match="shapes"):
        cohen_kappa([0, 1], [0, 1, 1], n_categories=2, clusters=_own(2))


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (None, "needs the number"),
        ([1.0], "distinct numbers"),
        ([1.0, 1.0], "distinct numbers"),
        ([1.0, math.nan], "distinct numbers"),
        ([-1.0, 1.0], "negative"),
    ],
)
def test_alpha_refuses_values_that_are_none(values: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        krippendorff_alpha(
            np.array([[0, 1], [1, 1]]),
            level="ratio",
            values=values,
            n_categories=2,
            clusters=_own(2),
        )


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(SettingsError, match="nominal, ordinal"):
        krippendorff_alpha(
            np.array([[0, 1]]),
            level="metric",
            n_categories=2,
            clusters=_own(1),
        )
