"""Per-question sums and what is made of them: codes, df, jackknife, linearised SE, resamples."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from accord.scoring.errors import InputError, SettingsError
from accord.validate import (
    bias,
    clustered_proportion,
    cohen_kappa,
    krippendorff_alpha,
    mad,
    pearson,
)
from accord.validate import clusters as module
from accord.validate.chance import Level
from accord.validate.clusters import (
    Clusters,
    Sums,
    cluster_codes,
    gradient,
    jackknife_se,
    kish,
    leave_one_out,
    linearised_se,
    unit_mean_weights,
)
from accord.validate.resampling import Draws

Floats = NDArray[np.float64]
GOLDEN = json.loads((Path(__file__).parent / "golden" / "cluster.json").read_text())
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
EXPECTED = {case["id"]: case for case in GOLDEN["cases"]}


# -- codes -------------------------------------------------------------------------------------


def test_codes_follow_the_order_of_appearance() -> None:
    assert cluster_codes(["b", "a", "b", "c"]).tolist() == [0, 1, 0, 2]


def test_two_columns_make_a_cluster_of_each_pair() -> None:
    assert cluster_codes(["a", "a", "b", "a"], [1, 2, 1, 1]).tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize("blank", [None, "", math.nan])
def test_an_item_without_a_question_is_refused(blank: object) -> None:
    with pytest.raises(InputError, match="row 2 has no cluster"):
        cluster_codes(["q1", blank])


def test_bad_columns_are_refused() -> None:
    with pytest.raises(InputError, match="no cluster column"):
        cluster_codes()
    with pytest.raises(InputError, match="different lengths"):
        cluster_codes(["a"], ["b", "c"])


def test_any_integer_codes_will_do() -> None:
    groups = Clusters.of(np.array([7, -3, 7, 100]), 4)
    assert groups.codes.tolist() == [1, 0, 1, 2]
    assert groups.sizes.tolist() == [1, 2, 1]


def test_clusters_of_another_length_or_kind_are_refused() -> None:
    with pytest.raises(InputError, match="shape"):
        Clusters.of(np.array([0, 1]), 3)
    with pytest.raises(InputError, match="cluster_codes"):
        Clusters.of(np.array([0.0, 1.5]), 2)


# -- weights -----------------------------------------------------------------------------------


def test_weights_are_scaled_to_mean_one() -> None:
    np.testing.assert_allclose(unit_mean_weights([1, 2, 3], 3), [0.5, 1.0, 1.5])
    np.testing.assert_array_equal(unit_mean_weights(None, 2), [1, 1])


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_weight_that_is_no_weight_is_refused(bad: float) -> None:
    with pytest.raises(InputError, match="row 2: weight"):
        unit_mean_weights([1.0, bad, 1.0], 3)


def test_weights_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match="items are 3"):
        unit_mean_weights([1.0, 1.0], 3)


def test_kish() -> None:
    # (1 + 3)^2 / (1 + 9)
    assert kish(np.array([1.0, 3.0])) == pytest.approx(1.6)
    assert kish(np.full(7, 0.1)) == 7


# -- degrees of freedom ------------------------------------------------------------------------


def test_equal_questions_give_g_less_one() -> None:
    groups = Clusters.of(np.repeat(np.arange(8), 5), 40)
    assert groups.effective_df == pytest.approx(7)
    assert groups.df == 7


def test_effective_df_by_hand() -> None:
    # sizes 1, 1, 1, 3: a = 1, 1, 1, 3 (1 + 0.2 * 2) = 4.2; (7.2)^2 / (3 + 17.64) - 1
    groups = Clusters.of(np.array([0, 1, 2, 3, 3, 3]), 6)
    assert groups.effective_df == pytest.approx(7.2**2 / 20.64 - 1, abs=1e-12)
    # n^2 / sum m^2 = 36 / 12 = 3 < 0.8 * 4: uneven, so it is taken everywhere
    assert groups.df == groups.effective_df


def test_nearly_even_questions_keep_g_less_one() -> None:
    # sizes 2, 3, 3: n^2 / sum m^2 = 64 / 22 = 2.91 >= 0.8 * 3
    groups = Clusters.of(np.repeat([0, 1, 2], [2, 3, 3]), 8)
    assert groups.df == 2
    assert groups.effective_df < 2


def test_df_is_never_below_one() -> None:
    assert Clusters.of(np.array([0, 1, 1, 1, 1, 1, 1, 1, 1]), 9).effective_df == 1


def test_mean_size_and_largest_share() -> None:
    groups = Clusters.of(np.array([0, 1, 1, 1]), 4)
    assert groups.mean_size == pytest.approx((1 + 9) / 4)
    assert groups.largest_share == pytest.approx(0.75)


# -- jackknife, gradient, linearised SE --------------------------------------------------------


def _ratio(totals: Any) -> Any:
    return totals[..., 0] / totals[..., 1]


def test_the_jackknife_is_a_loop_of_refits() -> None:
    rng = np.random.default_rng(1)
    y, codes = rng.random(60), rng.integers(0, 9, 60)
    sums = Sums(np.column_stack([y, np.ones(60)]), Clusters.of(codes, 60))
    refits = np.array([y[codes != g].mean() for g in range(9)])
    values = leave_one_out(_ratio, sums.by_question)
    np.testing.assert_allclose(values, refits, atol=1e-12)
    slow = math.sqrt(8 / 9 * sum((v - refits.mean()) ** 2 for v in refits))
    assert jackknife_se(values) == pytest.approx(slow, abs=1e-14)


def test_the_jackknife_leaves_out_what_is_undefined() -> None:
    assert jackknife_se(np.array([1.0, math.nan, 3.0])) == pytest.approx(
        math.sqrt(0.5 * 2)  # two values, mean 2: (2 - 1) / 2 * (1 + 1)
    )
    assert math.isnan(jackknife_se(np.array([1.0, math.nan])))


def test_the_gradient_is_exact() -> None:
    totals = np.array([[3.0, 7.0], [1.0, 2.0]])
    # d(a/b) = 1/b, -a/b^2
    np.testing.assert_allclose(
        gradient(_ratio, totals), [[1 / 7, -3 / 49], [1 / 2, -1 / 4]], rtol=1e-15
    )


def test_linearised_se_needs_two_units() -> None:
    assert math.isnan(linearised_se(np.array([1.0])))


def test_no_design_effect_without_variation() -> None:
    sums = Sums(np.ones((10, 2)), Clusters.of(np.repeat(np.arange(5), 2), 10))
    se, design = sums.linearised(_ratio)
    assert se == 0
    assert math.isnan(design)


# -- resampling --------------------------------------------------------------------------------


def test_resamples_are_the_same_however_the_blocks_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.vstack(list(Draws(3, 100).blocks(17)))
    monkeypatch.setattr(module, "BLOCK", 17 * 7)
    parts = list(Draws(3, 100).blocks(17))
    assert len(parts) == 4
    np.testing.assert_array_equal(np.vstack(parts), whole)
    narrow = list(Draws(3, 100).blocks(17, width=119))
    assert len(narrow) == 100
    np.testing.assert_array_equal(np.vstack(narrow), whole)
    assert np.all(whole.sum(axis=1) == 17)


def test_resamples_are_multinomial() -> None:
    counts = np.vstack(list(Draws(4, 4000).blocks(5)))
    # variance of one count: 5 * 1/5 * 4/5; its standard error over 4,000 is about 0.02
    assert counts.mean(axis=0) == pytest.approx(np.ones(5), abs=0.07)
    assert counts.var(axis=0) == pytest.approx(np.full(5, 0.8), abs=0.1)


# -- golden values: linearised and jackknife SE on the reference tables ------------------------


Table = dict[str, Any]


@pytest.fixture(scope="module")
def tables(shared_data: Path) -> dict[str, Table]:
    return {name: _rows(shared_data, name) for name in ("d300", "d3313")}


def _rows(shared_data: Path, name: str) -> Table:
    """Rows of which ann1 is present, columns as floats (NaN missing)."""
    with (shared_data / "synthetic" / f"{name}.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["ann1"]]
    out: Table = {
        column: np.array([float(row[column] or "nan") for row in rows])
        for column in ("ann1", "ann2", "ann3", "judge", "judge_score")
    }
    out["clusters"] = cluster_codes([row["question_id"] for row in rows])
    return out


def _grid(scores: Floats) -> NDArray[np.int64]:
    """0, 0.5, 1 as codes, NaN as -1."""
    return np.where(np.isnan(scores), -1, np.nan_to_num(scores) * 2).astype(np.int64)


def _columns(table: Table) -> tuple[Sums, dict[str, Callable[[Any], Any]]]:
    """One table of sums, and every ratio figure as a function of it."""
    a, j, s = table["ann1"], table["judge"], table["judge_score"]
    g, p = (a == 1) * 1.0, (j == 1) * 1.0
    one = np.ones_like(a)
    sums = Sums(
        np.column_stack([one, g, p, g * p, (s - a) ** 2, a, s, a * a, s * s, a * s]),
        Clusters.of(table["clusters"], a.size),
    )

    def sensitivity(t: Any) -> Any:
        return t[..., 3] / t[..., 1]

    def specificity(t: Any) -> Any:
        return (t[..., 0] - t[..., 1] - t[..., 2] + t[..., 3]) / (t[..., 0] - t[..., 1])

    def ccc(t: Any) -> Any:
        n = t[..., 0]
        x, y = t[..., 5] / n, t[..., 6] / n
        spread = t[..., 7] / n - x * x + t[..., 8] / n - y * y
        return 2 * (t[..., 9] / n - x * y) / (spread + (x - y) ** 2)

    return sums, {
        "sensitivity": sensitivity,
        "specificity": specificity,
        "precision": lambda t: t[..., 3] / t[..., 2],
        "f1": lambda t: 2 * t[..., 3] / (t[..., 1] + t[..., 2]),
        "youden": lambda t: sensitivity(t) + specificity(t) - 1,
        "rmse": lambda t: np.sqrt(t[..., 4] / t[..., 0]),
        "ccc": ccc,
    }


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["d300", "d3313"])
@pytest.mark.parametrize(
    "figure", ["sensitivity", "specificity", "precision", "f1", "youden", "rmse", "ccc"]
)
def test_one_table_of_sums_gives_every_figure(
    tables: dict[str, Table], name: str, figure: str
) -> None:
    case = EXPECTED[f"{name}/{figure}"]
    sums, figures = _columns(tables[name])
    se, _ = sums.linearised(figures[figure])
    assert sums.value(figures[figure]) == pytest.approx(
        case["expected"]["estimate"], abs=case["tolerance"]
    )
    assert se == pytest.approx(case["expected"]["se"], abs=case["tolerance"])


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["d300", "d3313"])
@pytest.mark.parametrize("figure", ["agreement", "mad", "bias", "cohen_kappa", "pearson"])
def test_linearised_se_and_design_effect(tables: dict[str, Table], name: str, figure: str) -> None:
    table = tables[name]
    a, j, s, clusters = (table[key] for key in ("ann1", "judge", "judge_score", "clusters"))
    out = {
        "agreement": lambda: clustered_proportion(a == j, clusters=clusters),
        "mad": lambda: mad(s, a, clusters=clusters),
        "bias": lambda: bias(s, a, clusters=clusters),
        "cohen_kappa": lambda: cohen_kappa(_grid(a), _grid(j), n_categories=3, clusters=clusters),
        "pearson": lambda: pearson(a, s, clusters=clusters, rng=0, resamples=0),
    }[figure]()
    case = EXPECTED[f"{name}/{figure}"]
    expected, tolerance = case["expected"], case["tolerance"]
    assert out.estimate == pytest.approx(expected["estimate"], abs=tolerance)
    assert out.details["se"] == pytest.approx(expected["se"], abs=tolerance)
    if "design_effect" in expected:
        assert out.design_effect == pytest.approx(expected["design_effect"], abs=tolerance)
    if "clusters" in expected:
        assert (out.n, out.clusters) == (expected["n"], expected["clusters"])


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["d300", "d3313"])
def test_a_paired_difference_of_agreements(tables: dict[str, Table], name: str) -> None:
    table = tables[name]
    both = ~np.isnan(table["ann2"])
    a, b, j = (table[key][both] for key in ("ann1", "ann2", "judge"))
    d = (j == a) * 1.0 - (b == a) * 1.0
    sums = Sums(np.column_stack([d, np.ones_like(d)]), Clusters.of(table["clusters"][both], d.size))
    case = EXPECTED[f"{name}/ceiling_difference"]
    assert sums.value(_ratio) == pytest.approx(case["expected"]["estimate"], abs=1e-9)
    assert sums.linearised(_ratio)[0] == pytest.approx(case["expected"]["se"], abs=1e-9)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    "figure",
    ["cohen_kappa", "pearson", "spearman", "agreement", "rmse"]
    + [f"alpha_{level}" for level in ("nominal", "interval", "ordinal")],
)
def test_delete_one_question_jackknife(tables: dict[str, Table], figure: str) -> None:
    """The leave-one-out values behind the intervals, against refits by other programs."""
    from accord.validate.coincidences import alpha_form
    from accord.validate.correlation import _Moments, _Ranks
    from accord.validate.rated import Pairs

    table = tables["d300"]
    a, j, s = table["ann1"], table["judge"], table["judge_score"]
    groups = Clusters.of(table["clusters"], a.size)
    w = np.ones(a.size)
    if figure.startswith("alpha"):
        x = np.column_stack([_grid(table[c]) for c in ("ann1", "ann2", "ann3")])
        used = (x >= 0).sum(axis=1) >= 2
        # every question keeps an item with two ratings, so none is lost
        form = alpha_form(
            figure.removeprefix("alpha_"),
            Pairs.of(x[used]),
            w[used],
            3,
            np.array([0, 0.5, 1]),
        )
        left = Sums(form.items, Clusters.of(groups.codes[used], int(used.sum())))
        estimate, values = left.value(form.f), leave_one_out(form.f, left.by_question)
    elif figure == "cohen_kappa":
        out = cohen_kappa(_grid(a), _grid(j), n_categories=3, clusters=groups.codes)
        estimate = out.estimate
        values = np.array(
            [
                cohen_kappa(
                    _grid(a[groups.codes != g]),
                    _grid(j[groups.codes != g]),
                    n_categories=3,
                    clusters=groups.codes[groups.codes != g],
                ).estimate
                for g in range(groups.count)
            ]
        )
    elif figure in ("pearson", "spearman"):
        form2 = (_Moments if figure == "pearson" else _Ranks)(a, s, w, groups)
        away = form2.leave_one_out()
        assert away is not None
        estimate, values = form2.value(), away
    else:
        y = (a == j) * 1.0 if figure == "agreement" else (s - a) ** 2
        sums = Sums(np.column_stack([y, w]), groups)

        def f(t: Any) -> Any:
            return np.sqrt(_ratio(t)) if figure == "rmse" else _ratio(t)

        estimate, values = sums.value(f), leave_one_out(f, sums.by_question)
    case = EXPECTED[f"jackknife/{figure}"]
    assert estimate == pytest.approx(case["expected"]["estimate"], abs=case["tolerance"])
    assert jackknife_se(values) == pytest.approx(case["expected"]["se"], abs=case["tolerance"])


# -- one resample is a refit on the repeated questions -----------------------------------------


def test_a_resample_is_a_refit_on_the_repeated_questions() -> None:
    from accord.validate.correlation import _Moments, _Ranks

    rng = np.random.default_rng(8)
    codes = rng.integers(0, 12, 70)
    x: Any = np.round(rng.random(70), 1)
    y: Any = np.round(np.clip(x + rng.normal(0, 0.2, 70), 0, 1), 1)
    groups = Clusters.of(codes, 70)
    counts = next(Draws(rng, 5).blocks(groups.count))
    r, _ = _Moments(x, y, np.ones(70), groups).resampled(counts)
    rho, _ = _Ranks(x, y, np.ones(70), groups).resampled(counts)
    for b, row in enumerate(counts):
        rows = np.repeat(np.arange(70), row[groups.codes].astype(int))
        assert r[b] == pytest.approx(stats.pearsonr(x[rows], y[rows]).statistic, abs=1e-12)
        assert rho[b] == pytest.approx(stats.spearmanr(x[rows], y[rows]).statistic, abs=1e-12)


def test_alpha_of_any_level_takes_the_sums_of_repeated_questions() -> None:
    """W S gives alpha of the table with each question as often as W says."""
    from accord.validate.coincidences import alpha_form
    from accord.validate.rated import Pairs

    rng = np.random.default_rng(9)
    x = rng.integers(-1, 4, (80, 3))
    x = x[(x >= 0).sum(axis=1) >= 2]
    groups = Clusters.of(rng.integers(0, 10, len(x)), len(x))
    counts = next(Draws(rng, 3).blocks(groups.count))
    values = np.array([0.0, 1.0, 2.5, 7.0])
    for level in LEVELS:
        form = alpha_form(level, Pairs.of(x), np.ones(len(x)), 4, values)
        got = form.f(counts @ Sums(form.items, groups).by_question)
        for b, row in enumerate(counts):
            rows = np.repeat(np.arange(len(x)), row[groups.codes].astype(int))
            again = krippendorff_alpha(
                x[rows],
                level=level,
                values=values,
                n_categories=4,
                clusters=np.arange(len(rows)),
            )
            assert got[b] == pytest.approx(again.estimate, abs=1e-12)


# -- refusals ----------------------------------------------------------------------------------


def test_confidence_and_unit_are_checked() -> None:
    for confidence in (0.0, 1.0, 95.0):
        with pytest.raises(SettingsError, match="confidence"):
            module.check_confidence(confidence)
    with pytest.raises(SettingsError, match="question or item"):
        module.check_unit("questions")
