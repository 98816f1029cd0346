"""Intervals by name where they are asked for by name only: shares, and the panel of figures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from accord.scoring.errors import SettingsError
from accord.validate import (
    agreement,
    clopper_pearson,
    clustered_proportion,
    methods,
    raw_agreement,
)
from accord.validate.clusters import drawn_counts
from accord.validate.resampling import Draws

Floats = NDArray[np.float64]
DRAWING = ("percentile", "bca", "bootstrap-t")


# -- proportions -------------------------------------------------------------------------------


def _half(seed: int, g: int = 25) -> tuple[Floats, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(g), rng.integers(2, 6, g))
    own = rng.beta(4, 1, g)[clusters]
    return (rng.random(clusters.size) < own).astype(float), clusters


def test_korn_graubard() -> None:
    y, clusters = _half(1)
    out = clustered_proportion(y, clusters=clusters, method="korn-graubard")
    p, n, g = y.mean(), y.size, 25
    away = np.array([y[clusters != q].mean() for q in range(g)])
    deff = (g - 1) / g * ((away - p) ** 2).sum() / (p * (1 - p) / n)
    assert deff > 1
    df = out.details["df"]
    size = n / deff * (stats.t.ppf(0.975, n - 1) / stats.t.ppf(0.975, df)) ** 2
    assert out.low == pytest.approx(stats.beta.ppf(0.025, p * size, size - p * size + 1))
    assert out.high == pytest.approx(stats.beta.ppf(0.975, p * size + 1, size - p * size))
    assert out.details["effective_n"] == pytest.approx(size)
    assert out.method == "Korn-Graubard interval on the effective n"


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_korn_graubard_without_errors_is_exact(value: float) -> None:
    out = clustered_proportion(
        np.full(30, value), clusters=np.arange(30), method="korn-graubard", unit="item"
    )
    exact = clopper_pearson(int(30 * value), 30)
    assert (out.low, out.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_share_is_resampled(method: Any) -> None:
    y, clusters = _half(2)
    out = clustered_proportion(y, clusters=clusters, method=method, rng=6, resamples=499)
    counts = np.vstack(list(Draws(6, 499).blocks(25)))
    hits, m = np.bincount(clusters, y), np.bincount(clusters)
    values = np.sort((counts @ hits) / (counts @ m))
    if method == "percentile":
        expected = [values[int(q * 500) - 1] / 2 + values[int(q * 500)] / 2 for q in (0.025, 0.975)]
    else:
        away = (hits.sum() - hits) / (m.sum() - m)
        expected = list(methods.bca_limits(out.estimate, values, away.mean() - away, 0.95))
    assert [out.low, out.high] == pytest.approx(expected, abs=1e-12)
    assert "499 resamples" in out.method


def test_a_share_of_one_kind_is_not_resampled() -> None:
    out = clustered_proportion(
        np.ones(40), clusters=np.arange(40) // 2, method="percentile", rng=0, resamples=199
    )
    assert math.isnan(out.low) and "all items say the same" in str(out.reason)
    assert out.details["one_sided_bound"] < 1


def test_raw_agreement_takes_the_names_of_a_share() -> None:
    x = np.random.default_rng(3).integers(0, 3, (90, 3))
    kw: Any = {"n_categories": 3, "clusters": np.arange(90) // 3, "rng": 0, "resamples": 199}
    names = {raw_agreement(x, method=m, **kw).method for m in methods.PROPORTION_METHODS}
    assert len(names) == 4


# -- the panel ---------------------------------------------------------------------------------


def _table(questions: int = 30) -> Any:
    import pandas as pd

    rng = np.random.default_rng(12)
    rows = []
    for k in range(questions * 4):
        truth = rng.random() < 0.7
        for rater, kind in (("ann", "annotator"), ("bob", "annotator"), ("gpt", "judge")):
            label = "CORRECT" if truth == (rng.random() < 0.85) else "INCORRECT"
            rows.append((f"i{k}", f"q{k // 4}", f"s{k % 2}", rater, kind, label))
    names = ["item_id", "question_id", "system", "rater", "kind", "rating"]
    return pd.DataFrame(rows, columns=names)


WORDS = {
    "percentile": "question bootstrap percentile, 199 resamples",
    "bca": "question bootstrap BCa, acceleration from the question jackknife, 199 resamples",
    "jackknife": "question jackknife t on Fisher z",
    "bootstrap-t": "question bootstrap-t on Fisher z, jackknife SE, 199 resamples",
    "grouped-jackknife": "question jackknife t on Fisher z (delete-a-group, each question a group)",
}


@pytest.mark.parametrize("method", [*WORDS, "korn-graubard", "default"])
def test_a_panel_by_name(method: Any) -> None:
    report = agreement(_table(), method=method, resamples=199, seed=3)
    assert report.settings["method"] == method and "draws" not in report.settings
    default = agreement(_table(), resamples=199, seed=3)
    by_name = {(r.name, r.level, r.raters): r for r in default.results}
    for name in ("cohen_kappa", "gwet_ac1", "krippendorff_alpha_nominal", "mcc"):
        for one in (r for r in report.results if r.name == name):
            same = by_name[one.name, one.level, one.raters]
            assert one.method == WORDS.get(method, same.method)
            assert one.estimate == same.estimate
    shares = [r for r in report.results if r.name in ("agreement", "f1", "precision")]
    for one in shares:
        if method in ("percentile", "bca"):
            assert one.method.startswith(WORDS[method])
        elif method == "korn-graubard":
            assert one.method.startswith("Korn-Graubard")
        else:
            assert one.method.startswith("Wilson")
    for one in (r for r in report.results if r.name in ("pearson", "spearman", "kendall_tau_b")):
        if method in WORDS:
            assert one.method == WORDS[method], one
    said = any("--method" in note for note in report.notes)
    assert said == (method not in ("percentile", "bca", "default"))


def test_a_panel_draws_once_for_a_number_of_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    from accord.validate import resampling

    drawn: dict[int, int] = {}
    made = drawn_counts

    def spy(rng: np.random.Generator, rows: int, count: int) -> Any:
        drawn[count] = drawn.get(count, 0) + rows
        return made(rng, rows, count)

    monkeypatch.setattr(resampling, "drawn_counts", spy)
    agreement(_table(), method="percentile", resamples=199)
    assert 30 in drawn and set(drawn.values()) == {199}


def test_many_questions_are_told_of_the_cheaper_way(monkeypatch: pytest.MonkeyPatch) -> None:
    from accord.validate import panel_builder

    monkeypatch.setattr(panel_builder, "MANY_QUESTIONS", 29)
    for method, said in (("default", True), ("percentile", True), ("grouped-jackknife", False)):
        report = agreement(_table(), method=method, resamples=199)
        assert any("takes a fraction of the time" in note for note in report.notes) == said
        assert all("delete-a-group" not in r.method for r in report.results) == said


def test_a_panel_refuses_what_makes_no_sense() -> None:
    with pytest.raises(SettingsError, match="--method 'wald' is not known"):
        agreement(_table(), method="wald")
    for method in DRAWING:
        with pytest.raises(SettingsError, match="or a jackknife"):
            agreement(_table(), method=method, resamples=0)
    report = agreement(_table(), resamples=0)
    assert not any("resamples" in r.method for r in report.results)
