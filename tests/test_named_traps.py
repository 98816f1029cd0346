"""Traps that other programs fell into, each with the right value.

Most are on the small synthetic set of the reference data: 300 elements in 57 questions, graded 0,
0.5 or 1 by three people with 10 % missing, by a judge on the same grid and by one in decimals.
"""

from __future__ import annotations

import json
import math
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from scipy import stats

from accord import cli
from accord.scoring.errors import InputError
from accord.study import RatingsOptions, read_ratings
from accord.validate import (
    Estimate,
    agreement,
    bias,
    ccc,
    cluster_codes,
    clustered_proportion,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    icc,
    icc_missing,
    krippendorff_alpha,
    mad,
    pearson,
    raw_agreement,
    wilcoxon_signed_rank,
    wilson,
)
from golden_cases import Codes, Floats, coded, column, synthetic

VALUES = np.array([0.0, 0.5, 1.0])


class Small:
    """The small synthetic set."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        rows = synthetic(request, "d300.csv")
        self.people: Floats = np.column_stack(
            [column(rows, name) for name in ("ann1", "ann2", "ann3")]
        )
        self.judge, self.score = column(rows, "judge"), column(rows, "judge_score")
        self.codes: Codes = coded(self.people)[0]
        self.clusters: Codes = cluster_codes([row["question_id"] for row in rows])
        self.own: dict[str, Any] = {"n_categories": 3, "clusters": self.clusters}


@pytest.fixture
def small(request: pytest.FixtureRequest) -> Small:
    return Small(request)


def _as_category(codes: Codes) -> Codes:
    return np.where(codes < 0, 3, codes)


# -- a missing rating is no category -----------------------------------------------------------


@pytest.mark.shared_data
def test_a_missing_rating_is_no_category_of_kappa(small: Small) -> None:
    one, two = small.codes[:, 0], small.codes[:, 1]
    out = cohen_kappa(one, two, **small.own)
    assert (round(out.estimate, 3), out.n) == (0.718, 252)
    assert out.dropped == {"a rating is missing": 48}
    # what comes out when it is one
    four = {"n_categories": 4, "clusters": small.clusters}
    wrong = cohen_kappa(_as_category(one), _as_category(two), **four)
    assert round(wrong.estimate, 3) == 0.453


@pytest.mark.shared_data
def test_a_missing_rating_is_no_category_of_fleiss_kappa(small: Small) -> None:
    out = fleiss_kappa(small.codes, **small.own)
    assert round(out.estimate, 3) == 0.546
    assert out.dropped == {"no rating": 1}
    wrong = fleiss_kappa(_as_category(small.codes), n_categories=4, clusters=small.clusters)
    assert round(wrong.estimate, 3) == 0.369


def test_a_float_table_with_nan_is_refused_as_codes() -> None:
    with pytest.raises(InputError, match="not integer codes"):
        fleiss_kappa(np.array([[0.0, np.nan]]), n_categories=2, clusters=np.zeros(1, dtype=int))


@pytest.mark.shared_data
def test_blanks_of_a_file_are_no_category(shared_data: Path) -> None:
    ratings = read_ratings(
        shared_data / "synthetic" / "d300.csv",
        RatingsOptions(wide=True, annotators=("ann1", "ann2"), judges=("judge",)),
    )
    kappa = next(
        one
        for one in agreement(ratings, resamples=0).results
        if one.name == "cohen_kappa" and one.raters == ("ann1", "ann2")
    )
    assert (round(kappa.estimate, 3), kappa.n) == (0.718, 252)
    assert sum(kappa.dropped.values()) == 47  # and one that no person rated


# -- one coefficient is not another ------------------------------------------------------------


@pytest.mark.shared_data
def test_alpha_at_one_level_is_not_alpha_at_another(small: Small) -> None:
    found = {
        level: krippendorff_alpha(small.codes, level=level, values=VALUES, **small.own).estimate
        for level in ("nominal", "ordinal", "interval")
    }
    assert found == pytest.approx(
        {"nominal": 0.5535405, "ordinal": 0.5598469, "interval": 0.5683018}, abs=1e-7
    )
    fleiss = fleiss_kappa(small.codes, **small.own).estimate
    assert fleiss == pytest.approx(0.5463361, abs=1e-7)
    assert gwet_ac1(small.codes, **small.own).estimate == pytest.approx(0.7906661, abs=1e-7)
    assert len({round(v, 3) for v in (*found.values(), fleiss)}) == 4


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_alpha_is_what_the_package_of_that_name_says(level: Any, missing: float) -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, 60)
    scores = np.clip(truth[:, None] + rng.integers(-1, 2, (60, 4)), 1, 5).astype(float)
    scores[rng.random(scores.shape) < missing] = np.nan
    x, seen = coded(scores)
    out = krippendorff_alpha(
        x, level=level, values=seen, n_categories=len(seen), clusters=np.arange(60)
    )
    expected = krippendorff.alpha(reliability_data=scores.T, level_of_measurement=level)
    assert out.estimate == pytest.approx(expected, abs=1e-12)


# -- scores in decimals: as many values as ratings ---------------------------------------------


@pytest.mark.parametrize("items", [5_000, 25_000])
def test_alpha_of_continuous_scores_needs_no_table_of_values(items: int) -> None:
    rng = np.random.default_rng(items)
    truth = rng.normal(size=items)
    scores = truth[:, None] + rng.normal(scale=0.5, size=(items, 2))
    seen, codes = np.unique(scores, return_inverse=True)
    codes = codes.reshape(scores.shape)
    assert seen.size == 2 * items  # a table of all pairs would be 800 MB and 20 GB
    tracemalloc.start()
    out = krippendorff_alpha(
        codes,
        level="interval",
        values=seen,
        n_categories=seen.size,
        clusters=np.arange(items) // 5,
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # 1 - observed / expected with observed = mean of (a - b)^2 and expected = 2 * variance
    apart = float(((scores[:, 0] - scores[:, 1]) ** 2).mean())
    assert out.estimate == pytest.approx(1 - apart / (2 * scores.var(ddof=1)), abs=1e-12)
    assert peak < 4_000 * items


@pytest.mark.parametrize("level", ["ordinal", "ratio"])
def test_a_level_that_needs_the_table_says_so_before_memory_is_gone(level: Any) -> None:
    codes = np.arange(40_000).reshape(20_000, 2)
    with pytest.raises(InputError, match="sums"):
        krippendorff_alpha(
            codes,
            level=level,
            values=np.arange(40_000) + 1.0,
            n_categories=40_000,
            clusters=np.arange(20_000),
        )


# -- items and raters the wrong way round ------------------------------------------------------


def _wide(path: Path, table: Codes) -> Path:
    header = ",".join(["item_id", *(f"ann{j}" for j in range(table.shape[1]))])
    rows = [",".join([f"i{k}", *map(str, row)]) for k, row in enumerate(table)]
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_a_long_table_has_no_wrong_way_round(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (40, 3))
    x[:, 1:] = np.where(rng.random((40, 2)) < 0.8, x[:, :1], x[:, 1:])
    rows = [(f"i{k}", f"ann{j}", str(x[k, j])) for k in range(40) for j in range(3)]
    found = []
    for order in (rows, sorted(rows, key=lambda row: (row[1], row[0])), rows[::-1]):
        path = tmp_path / "long.csv"
        lines = [f"{item},{rater},annotator,{label}" for item, rater, label in order]
        path.write_text("\n".join(["item_id,rater,kind,rating", *lines]) + "\n")
        report = agreement(read_ratings(path, RatingsOptions()), resamples=0)
        found.append({(r.name, r.raters): r.estimate for r in report.results})
    wide = read_ratings(
        _wide(tmp_path / "wide.csv", x), RatingsOptions(wide=True, annotators=("ann*",))
    )
    found.append({(r.name, r.raters): r.estimate for r in agreement(wide, resamples=0).results})
    # the order of columns and rows names nothing: a rater is named, an item is named
    for other in found[1:]:
        for key in found[0].keys() & other.keys():
            assert other[key] == pytest.approx(found[0][key], abs=1e-12, nan_ok=True)
    alpha = krippendorff_alpha(x, level="nominal", n_categories=2, clusters=np.arange(40))
    assert found[0]["krippendorff_alpha_nominal", ("ann0", "ann1", "ann2")] == pytest.approx(
        alpha.estimate, abs=1e-12
    )


def test_a_matrix_the_wrong_way_round_is_refused() -> None:
    x = np.random.default_rng(0).integers(0, 2, (300, 3))
    own = {"n_categories": 2, "clusters": np.arange(300) // 5}
    assert math.isfinite(fleiss_kappa(x, **own).estimate)
    # a question for every item: 3 rows are not 300 items
    calls: list[Callable[..., Any]] = [fleiss_kappa, gwet_ac1, raw_agreement]
    for call in calls:
        with pytest.raises(InputError, match="clusters have shape"):
            call(x.T, **own)
    with pytest.raises(InputError, match="clusters have shape"):
        krippendorff_alpha(x.T, level="nominal", **own)
    with pytest.raises(InputError, match="clusters have shape"):
        icc_missing(x.T, clusters=np.arange(300))


# -- everybody says the same -------------------------------------------------------------------


def test_unanimity_is_undefined_with_the_bound_of_raw_agreement() -> None:
    x = np.zeros((60, 3), dtype=np.int64)
    own: dict[str, Any] = {"n_categories": 2, "clusters": np.arange(60), "unit": "item"}
    for out in (
        cohen_kappa(x[:, 0], x[:, 1], **own),
        fleiss_kappa(x, **own),
        krippendorff_alpha(x, level="nominal", **own),
    ):
        assert math.isnan(out.estimate) and out.reason
        assert "one category" in out.reason or "equal" in out.reason
        raw = out.details["agreement"]
        assert (raw.estimate, raw.high) == (1.0, 1.0)
        assert raw.low == pytest.approx(wilson(60, 60).low, abs=1e-12) and raw.low < 0.95
    # AC1 knows that another label was possible
    assert gwet_ac1(x, **own).estimate == 1.0
    # two labels, never a disagreement: 1, and no interval [1, 1]
    x[30:] = 1
    for out in (
        cohen_kappa(x[:, 0], x[:, 1], **own),
        fleiss_kappa(x, **own),
        krippendorff_alpha(x, level="nominal", **own),
    ):
        assert out.estimate == 1.0 and out.low < 1.0
        assert any("no disagreement was seen" in text for text in out.warnings)


# -- a judge in decimals against people on a grid ----------------------------------------------


@pytest.mark.shared_data
def test_a_grid_judge_and_the_same_with_rounding_are_one(small: Small) -> None:
    given = ~np.isnan(small.people[:, 0])
    human, judge, where = small.people[given, 0], small.judge[given], small.clusters[given]
    noisy = judge + np.random.default_rng(0).choice([-1, 1], judge.size) * 1e-15
    own: dict[str, Any] = {"clusters": where}
    for call, more in (
        (mad, {}),
        (bias, {}),
        (pearson, {"rng": 0, "resamples": 199}),
        (ccc, {"rng": 0, "resamples": 199}),
    ):
        plain, dithered = call(judge, human, **own, **more), call(noisy, human, **own, **more)
        assert (dithered.estimate, dithered.low, dithered.high) == pytest.approx(
            (plain.estimate, plain.low, plain.high), abs=1e-9
        )
        assert dithered.details["differing"] == plain.details["differing"]


@pytest.mark.shared_data
def test_a_judge_with_noise_of_its_own_is_told_by_distances(small: Small) -> None:
    """Exact agreement is lost by a hair; mean distances hardly move."""
    given = ~np.isnan(small.people[:, 0])
    human, judge, where = small.people[given, 0], small.judge[given], small.clusters[given]
    noisy = judge + np.random.default_rng(0).normal(0, 0.06, judge.size)
    one = ccc(judge, human, clusters=where, rng=0, resamples=199)
    two = ccc(noisy, human, clusters=where, rng=0, resamples=199)
    assert abs(one.estimate - two.estimate) < 0.03
    assert one.low < two.estimate < one.high
    signed = bias(noisy, human, clusters=where)
    assert signed.low < bias(judge, human, clusters=where).estimate < signed.high


# -- few errors, and none ----------------------------------------------------------------------


def test_sixty_labels_of_which_nearly_all_are_right_never_fail_and_cover() -> None:
    """0.96 right of 60: the rarer class is often not seen at all."""
    rng = np.random.default_rng(0)
    covered = unseen = 0
    runs = 400
    for _ in range(runs):
        right = rng.random(60) < 0.96
        unseen += bool(right.all())
        out = clustered_proportion(right, clusters=np.arange(60), unit="item")
        assert 0 <= out.low < out.high <= 1 and out.high - out.low > 0.03
        covered += out.low <= 0.96 <= out.high
        kappa = cohen_kappa(
            right.astype(int), np.ones(60, int), n_categories=2, clusters=np.arange(60)
        )
        assert math.isnan(kappa.low) and kappa.reason
    assert unseen > 0.05 * runs  # one class only
    # 95 % of 400, less three standard deviations
    assert covered / runs > 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize("unit", ["item", "question"])
def test_all_right_is_no_interval_from_one_to_one(unit: Any) -> None:
    out = clustered_proportion(np.ones(100), clusters=np.arange(100) // 4, unit=unit)
    assert (out.estimate, out.high) == (1.0, 1.0)
    assert out.low < 0.97
    assert out.details["one_sided_bound"] < 1
    if unit == "item":
        assert out.low == pytest.approx(wilson(100, 100).low, abs=1e-12)


# -- what is missing is left out and counted, and poisons nothing ------------------------------


def test_one_missing_score_does_not_poison_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, 40)
    judge = [str(v) for v in np.clip(human + rng.integers(-1, 2, 40), 1, 5)]
    judge[7] = "NaN"
    path = tmp_path / "scores.csv"
    lines = [f"i{k},q{k // 2},{h},{j}" for k, (h, j) in enumerate(zip(human, judge, strict=True))]
    path.write_text("\n".join(["item_id,question_id,human,gpt", *lines]) + "\n")
    arguments = ["agree", path, "--wide", "--annotators", "human", "--judges", "gpt"]
    status = cli.main([*map(str, arguments), "--scale", "interval", "--json"])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    payload = json.loads(out)
    found = {r["name"]: r for r in payload["results"] if r["level"] == "element"}
    for name in ("pearson", "mad", "bias", "krippendorff_alpha_interval"):
        assert found[name]["n"] == 39 and found[name]["low"] is not None
        assert sum(found[name]["dropped"].values()) == 1
    assert any("'NaN' read as missing" in note for note in payload["notes"])
    # in the library a gap that nobody counted is refused, never passed on
    with pytest.raises(InputError, match="row 2: a score is missing"):
        mad(np.array([1.0, np.nan]), np.array([1.0, 2.0]), clusters=np.arange(2))
    with pytest.raises(InputError, match="row 2: nan is not between 0 and 1"):
        clustered_proportion(np.array([1.0, np.nan]), clusters=np.arange(2))


@pytest.mark.shared_data
def test_labels_of_some_elements_of_a_question_are_taken(small: Small) -> None:
    """Elements drawn inside questions: a question may be labelled in part."""
    rng = np.random.default_rng(3)
    labelled = rng.random(300) < 0.4
    codes = np.where(labelled[:, None], small.codes, -1)
    partly = sum(
        0 < labelled[small.clusters == q].sum() < (small.clusters == q).sum() for q in range(57)
    )
    assert partly > 40
    judge = np.searchsorted(VALUES, small.judge)
    for out in (
        cohen_kappa(judge, codes[:, 0], **small.own),
        gwet_ac1(np.column_stack([judge, codes[:, 0]]), **small.own),
    ):
        assert math.isfinite(out.low) and out.low < out.estimate < out.high
    kappa = cohen_kappa(judge, codes[:, 0], **small.own)
    there = codes[:, 0] >= 0
    assert (kappa.n, kappa.clusters) == (
        int(there.sum()),
        np.unique(small.clusters[there]).size,
    )
    assert sum(kappa.dropped.values()) == 300 - kappa.n


@pytest.mark.shared_data
def test_listwise_deletion_is_not_silent(small: Small) -> None:
    whole = ~np.isnan(small.people).any(axis=1)
    out = icc_missing(small.people, clusters=small.clusters)
    # every rating of 299 items is used; a deletion would have left 228
    assert (out.n, out.details["complete_items"], int(whole.sum())) == (299, 228, 228)
    assert out.dropped == {"no rating": 1}
    assert out.estimate == pytest.approx(0.5626001, abs=5e-5)  # R lme4
    with pytest.raises(InputError, match="a score is missing"):
        icc(small.people, form="agreement", clusters=small.clusters, rng=0)
    deleted = icc(
        small.people[whole], form="agreement", clusters=small.clusters[whole], rng=0, resamples=0
    )
    assert deleted.n == 228 and abs(deleted.estimate - out.estimate) > 0.001


# -- warnings that must not come, and scales that must not be guessed --------------------------


@pytest.mark.shared_data
def test_a_correlation_like_the_intraclass_one_is_no_sign_of_bias(small: Small) -> None:
    given = ~np.isnan(small.people[:, 0])
    judge, human, where = small.judge[given], small.people[given, 0], small.clusters[given]
    r = pearson(judge, human, clusters=where, rng=0, resamples=199)
    a1 = icc(
        np.column_stack([judge, human]), form="agreement", clusters=where, rng=0, resamples=199
    )
    assert abs(r.estimate - a1.estimate) < 0.02
    assert not any("scale" in text or "bias" in text for text in (*r.warnings, *a1.warnings))
    # a judge that is half a step too high: r does not see it, the others do
    high = judge + 0.25
    moved = icc(
        np.column_stack([high, human]), form="agreement", clusters=where, rng=0, resamples=199
    )
    assert pearson(high, human, clusters=where, rng=0, resamples=199).estimate == pytest.approx(
        r.estimate, abs=1e-12
    )
    assert moved.estimate < a1.estimate - 0.1
    assert bias(high, human, clusters=where).low > 0.15


@pytest.mark.parametrize(("shift", "factor"), [(0.0, 1.0), (1.0, 4.0), (-50.0, 100.0)])
def test_no_scale_is_taken_for_granted(shift: float, factor: float) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 6, 80) / 5
    x = np.column_stack([truth, np.clip(truth + rng.choice([-0.2, 0, 0, 0.2], 80), 0, 1)])
    where = np.arange(80) // 4
    plain, moved = x, shift + factor * x
    calls: tuple[Callable[[Floats], Estimate], ...] = (
        lambda v: pearson(v[:, 0], v[:, 1], clusters=where, rng=0, resamples=199),
        lambda v: ccc(v[:, 0], v[:, 1], clusters=where, rng=0, resamples=199),
        lambda v: icc(v, form="agreement", clusters=where, rng=0, resamples=199),
        lambda v: icc_missing(v, clusters=where),
    )
    for call in calls:
        one, two = call(plain), call(moved)
        assert (two.estimate, two.low, two.high) == pytest.approx(
            (one.estimate, one.low, one.high), abs=1e-6
        )
    distance = mad(moved[:, 0], moved[:, 1], clusters=where)
    assert distance.estimate == pytest.approx(
        factor * mad(plain[:, 0], plain[:, 1], clusters=where).estimate, abs=1e-12 * factor
    )
    codes, seen = coded(moved)
    alpha = krippendorff_alpha(
        codes, level="interval", values=seen, n_categories=len(seen), clusters=where
    )
    expected = krippendorff.alpha(reliability_data=plain.T, level_of_measurement="interval")
    assert alpha.estimate == pytest.approx(expected, abs=1e-9)


def test_the_signs_of_a_wilcoxon_test_are_not_lost_to_rounding() -> None:
    # 0.3 - 0.1 and 0.2 - 0.0 are the same difference, and differ in floating point
    x = np.array([0.3, 0.2, 0.7, 0.9, 0.5, 1.0, 0.4, 0.8])
    y = np.array([0.1, 0.0, 0.5, 0.7, 0.7, 0.8, 0.6, 0.6])
    d = np.round(x - y, 10)
    assert np.unique(np.abs(x - y)).size > np.unique(np.abs(d)).size == 1
    expected = stats.wilcoxon(d, correction=False, method="approx")
    out = wilcoxon_signed_rank(x, y)
    assert out.details["p"] == pytest.approx(float(expected.pvalue), abs=1e-12)
    assert out.estimate == pytest.approx((6 - 2) / 8, abs=1e-12)
