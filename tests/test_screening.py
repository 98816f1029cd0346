"""Macro F1, Youden's index and ICC(A,1) with gaps: slow twins, and whether intervals cover."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.validate import icc_form, icc_missing, macro_f1, variance_components, youden
from accord.validate.clusters import Clusters
from accord.validate.mixed_icc import _Patterns
from golden_cases import Codes, Floats


def _draw(seed: int, questions: int = 14) -> tuple[Codes, Codes, Codes, Floats]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(50, 80))
    truth = rng.choice(4, n, p=rng.dirichlet(np.ones(4)))
    judge = np.where(rng.random(n) < 0.7, truth, rng.integers(0, 4, n))
    for one in (truth, judge):
        one[rng.random(n) < 0.05] = -1
    where = np.concatenate([np.arange(questions), rng.integers(0, questions, n - questions)])
    return judge, truth, where, rng.uniform(0.5, 3, n)


def f1_twin(judge: Codes, truth: Codes, w: Floats) -> float:
    each = []
    for label in range(4):
        rows = [k for k in range(len(judge)) if judge[k] >= 0 and truth[k] >= 0]
        hit = sum(w[k] for k in rows if judge[k] == truth[k] == label)
        wrong = sum(w[k] for k in rows if (judge[k] == label) != (truth[k] == label))
        if hit + wrong > 0:
            each.append(2 * hit / (2 * hit + wrong))
    return float(np.mean(each)) if each else math.nan


def youden_twin(judge: Codes, truth: Codes, w: Floats) -> float:
    rows = [k for k in range(len(judge)) if judge[k] >= 0 and truth[k] >= 0]
    right = {yes: [k for k in rows if bool(truth[k] == 1) == yes] for yes in (True, False)}
    if not all(right.values()):
        return math.nan
    shares = [
        sum(w[k] for k in among if bool(judge[k] == 1) == yes) / sum(w[k] for k in among)
        for yes, among in right.items()
    ]
    return float(sum(shares)) - 1


@given(seed=st.integers(0, 2**31))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_they_are_their_slow_twins(seed: int) -> None:
    judge, truth, where, w = _draw(seed)
    own: dict[str, Any] = {"n_categories": 4, "clusters": where, "weights": w}
    used = (judge >= 0) & (truth >= 0)
    groups = np.unique(where[used])
    for out, twin, forward, back in (
        (
            macro_f1(judge, truth, **own),
            f1_twin,
            lambda v: np.log(v / (1 - v)),
            lambda v: 1 / (1 + np.exp(-v)),
        ),
        (youden(judge, truth, positive=1, **own), youden_twin, np.arctanh, np.tanh),
    ):
        expected = twin(judge, truth, w)
        assert out.estimate == pytest.approx(expected, abs=1e-12, nan_ok=True)
        if math.isnan(out.low):
            assert out.reason
            continue
        away = np.array([twin(judge[where != g], truth[where != g], w[where != g]) for g in groups])
        z = forward(np.clip(away, -1 + 1e-9, 1 - 1e-9))
        se = math.sqrt((len(z) - 1) / len(z) * ((z - z.mean()) ** 2).sum())
        centre = forward(out.estimate)
        assert back(centre - _t(out) * se) == pytest.approx(out.low, abs=1e-8)
        assert back(centre + _t(out) * se) == pytest.approx(out.high, abs=1e-8)


def _t(out: Any) -> float:
    from scipy import stats

    return float(stats.t.ppf(0.975, out.details["df"]))


def test_the_labels_a_macro_f1_is_the_mean_of() -> None:
    judge, truth = np.array([0, 0, 1, 1, 0]), np.array([0, 1, 1, 1, 0])
    out = macro_f1(judge, truth, n_categories=3, clusters=np.arange(5))
    # label 0: tp 2, fp 1, fn 0 -> 4/5; label 1: tp 2, fp 0, fn 1 -> 4/5; nobody gave label 2
    assert out.details["classes"][:2] == pytest.approx([0.8, 0.8])
    assert math.isnan(out.details["classes"][2]) and out.details["categories_used"] == 2
    assert out.estimate == pytest.approx(0.8)


# -- ICC(A,1) with gaps ------------------------------------------------------------------------


@given(seed=st.integers(0, 2**31), raters=st.integers(2, 5))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_without_gaps_it_is_the_mean_squares_one(seed: int, raters: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, 30)[:, None] + rng.normal(0, 1, raters) + rng.normal(0, 0.7, (30, raters))
    expected = icc_form(x, form="A,1").estimate
    out = icc_missing(x, clusters=np.arange(30))
    # they part only where a mean square would make a variance negative
    rater = variance_components(x).rater
    if rater > 1e-4 and expected > 0.02:
        assert out.estimate == pytest.approx(expected, abs=1e-5)


def test_no_better_variances_are_near() -> None:
    """The restricted likelihood by the full covariance matrix, around what was found."""
    rng = np.random.default_rng(4)
    v = rng.normal(0, 1, 24)[:, None] + np.array([-0.5, 0, 0.5]) + rng.normal(0, 0.8, (24, 3))
    v[rng.random(v.shape) < 0.25] = math.nan
    row, col = np.nonzero(~np.isnan(v))
    y, one = v[row, col], np.ones(row.size)

    def deviance(item: float, rater: float, rest: float) -> float:
        cov = item * (row[:, None] == row) + rater * (col[:, None] == col) + rest * np.eye(row.size)
        inverse = np.linalg.inv(cov)
        bottom = one @ inverse @ one
        away = y - (one @ inverse @ y) / bottom
        return float(np.linalg.slogdet(cov)[1] + math.log(bottom) + away @ inverse @ away)

    found = variance_components(v)
    at = (found.item, found.rater, found.residual)
    best = deviance(*at)
    for place in range(3):
        for factor in (0.97, 0.999, 1.001, 1.03):
            moved = [value * (factor if k == place else 1) for k, value in enumerate(at)]
            assert deviance(*moved) > best - 1e-9


def test_a_refit_without_a_question_is_a_fresh_fit() -> None:
    rng = np.random.default_rng(2)
    where = np.arange(120) // 4
    x = rng.normal(0, 0.7, 30)[where] + rng.normal(0, 0.5, 120)
    v = x[:, None] + np.array([-0.2, 0.0, 0.3]) + rng.normal(0, 0.6, (120, 3))
    v[rng.random(v.shape) < 0.2] = math.nan
    v, where = v[~np.isnan(v).all(axis=1)], where[~np.isnan(v).all(axis=1)]
    patterns, groups = _Patterns.of_scores(v), Clusters.of(where, len(v))
    whole = patterns.totals()
    refits = patterns.refits(whole, patterns.fit(whole), groups)
    for g, refit in enumerate(refits):
        fresh = variance_components(v[groups.codes != g])
        assert refit.agreement == pytest.approx(fresh.agreement, abs=5e-5)


# -- do the intervals cover? -------------------------------------------------------------------

RUNS = 150


def _least(runs: int) -> float:
    """95 % less three standard deviations of a share of so many runs."""
    return 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs)


def _labels(rng: np.random.Generator, questions: int, size: int) -> tuple[Codes, Codes, Codes]:
    """A judge whose share of right labels differs from question to question."""
    where = np.repeat(np.arange(questions), size)
    right = np.clip(rng.normal(0.8, 0.12, questions), 0.3, 1)[where]
    truth = rng.choice(3, where.size, p=[0.6, 0.3, 0.1])
    judge = np.where(rng.random(where.size) < right, truth, rng.integers(0, 3, where.size))
    return where, judge, truth


def test_intervals_of_macro_f1_and_youden_cover() -> None:
    rng = np.random.default_rng(1)
    where, judge, truth = _labels(rng, 60_000, 5)
    own: dict[str, Any] = {"n_categories": 3}
    one = {
        "macro_f1": macro_f1(judge, truth, clusters=where, **own).estimate,
        "youden": youden(judge, truth, positive=0, clusters=where, **own).estimate,
    }
    covered = dict.fromkeys(one, 0)
    for _ in range(RUNS):
        where, judge, truth = _labels(rng, 40, 5)
        for out in (
            macro_f1(judge, truth, clusters=where, **own),
            youden(judge, truth, positive=0, clusters=where, **own),
        ):
            covered[out.name] += out.low <= one[out.name] <= out.high
    assert min(covered.values()) / RUNS >= _least(RUNS)


def test_intervals_of_the_icc_with_gaps_cover_for_these_raters() -> None:
    rng = np.random.default_rng(1)
    lean, where = np.array([-0.2, 0.0, 0.2]), np.repeat(np.arange(40), 4)
    one = 0.98 / (0.98 + lean.var(ddof=1) + 0.36)
    covered = 0
    for _ in range(RUNS // 3):
        x = rng.normal(0, 0.7, 40)[where] + rng.normal(0, 0.7, 160)
        v = x[:, None] + lean + rng.normal(0, 0.6, (160, 3))
        v[rng.random(v.shape) < 0.15] = math.nan
        out = icc_missing(v, clusters=where)
        covered += out.low <= one <= out.high
    assert covered / (RUNS // 3) >= _least(RUNS // 3)
