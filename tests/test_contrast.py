"""The difference of two means in the same questions: by hand, its error rate, what is undefined."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from accord.scoring.errors import InputError, SettingsError
from accord.validate.contrast import contrast

Floats = NDArray[np.float64]


def two_halves(n: int) -> NDArray[np.bool_]:
    return np.arange(n) < n // 2


def test_by_hand_with_one_item_a_question() -> None:
    # first part 0 0 0 0 1 1, second 1 1 1 1 1 0: means 1/3 and 5/6, difference -1/2
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0], dtype=float)
    found = contrast("d", y, two_halves(12), clusters=np.arange(12))
    assert found.estimate == pytest.approx(-1 / 2, abs=1e-12)
    assert found.details["first"] == pytest.approx(1 / 3)
    assert found.details["rest"] == pytest.approx(5 / 6)
    # each part: sum of squared residuals / (n (n - 1)), i.e. the usual variance of a mean:
    # (6 * 1/3 * 2/3) / 30 = 2/45 and (6 * 5/6 * 1/6) / 30 = 1/36, and a pair: 2 / 36 each
    variance = 2 / 45 + 1 / 36 + 2 / 36 + 2 / 36
    assert found.details["se"] == pytest.approx(math.sqrt(variance), abs=1e-12)
    # 12 questions that weigh alike: (12 e)^2 / (12 e^2) - 1
    assert found.details["df"] == pytest.approx(11)
    t = -0.5 / math.sqrt(variance)
    assert found.details["p_value"] == pytest.approx(2 * stats.t.sf(-t, 11), abs=1e-12)
    reach = stats.t.ppf(0.975, 11) * math.sqrt(variance)
    assert (found.low, found.high) == pytest.approx((-0.5 - reach, -0.5 + reach), abs=1e-12)
    assert (found.n, found.clusters) == (12, 12)


def test_by_hand_with_both_parts_in_each_question() -> None:
    # 6 questions, an item of each part: the paired t's variance and the pairs
    a = np.array([1, 0, 1, 1, 0, 1], dtype=float)
    b = np.array([0, 0, 1, 0, 0, 1], dtype=float)
    found = contrast("d", np.concatenate([a, b]), two_halves(12), clusters=np.tile(np.arange(6), 2))
    d = a - b
    assert found.estimate == pytest.approx(d.mean())
    variance = d.var(ddof=1) / 6 + 2 / 36 + 2 / 36
    assert found.details["se"] == pytest.approx(math.sqrt(variance), abs=1e-12)
    assert found.details["df"] == pytest.approx(5)


def slow(y: Floats, first: NDArray[np.bool_], g: NDArray[np.int64], w: Floats) -> float:
    """The standard error, question by question."""
    total = 0.0
    for question in set(g.tolist()):
        u = 0.0
        for part, sign in ((first, 1), (~first, -1)):
            mean = (w * y)[part].sum() / w[part].sum()
            here = part & (g == question)
            share = w[here].sum() / w[part].sum()
            u += sign * (w * (y - mean))[here].sum() / w[part].sum() / math.sqrt(1 - share)
        total += u * u
    largest = np.abs(y).max()
    return math.sqrt(total + 2 * largest**2 * (1 / first.sum() ** 2 + 1 / (~first).sum() ** 2))


@pytest.mark.parametrize("seed", range(5))
def test_as_the_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    g = rng.integers(0, 20, 120)
    y = rng.normal(size=120)
    first = rng.random(120) < 0.4
    w = rng.uniform(0.5, 3, 120)
    found = contrast("d", y, first, clusters=g, weights=w)
    assert found.details["se"] == pytest.approx(slow(y, first, g, w), rel=1e-12)
    again = contrast("d", y, first, clusters=g, weights=10 * w)
    assert again.low == pytest.approx(found.low, rel=1e-12)
    turned = contrast("d", y, ~first, clusters=g, weights=w)
    assert turned.estimate == pytest.approx(-found.estimate)
    assert turned.details["p_value"] == pytest.approx(found.details["p_value"])
    larger = contrast("d", 1000 * y, first, clusters=g, weights=w)
    assert larger.high == pytest.approx(1000 * found.high, rel=1e-12)


def one_study(rng: np.random.Generator, parts: tuple[int, int], p: float, icc: float) -> Any:
    """Questions of two parts with 3 to 10 items each and the same share of agreement."""
    questions = sum(parts)
    sizes = rng.integers(3, 11, questions)
    g = np.repeat(np.arange(questions), sizes)
    shares = rng.beta(p * (1 - icc) / icc, (1 - p) * (1 - icc) / icc, questions)
    return (rng.random(g.size) < shares[g]).astype(float), g < parts[0], g


# Measured with 2,000 studies each: 3.9 %, 3.5 %, 0.2 %, 4.2 %
@pytest.mark.parametrize(
    ("parts", "p"), [((6, 30), 0.6), ((6, 30), 0.8), ((6, 30), 0.95), ((20, 20), 0.8)]
)
def test_a_stratum_that_is_like_the_rest_is_seldom_called_worse(
    parts: tuple[int, int], p: float
) -> None:
    rng = np.random.default_rng([400, *parts, round(100 * p)])
    found = [
        contrast("d", y, first, clusters=g)
        for y, first, g in (one_study(rng, parts, p, 0.2) for _ in range(400))
    ]
    values = [one.details["p_value"] for one in found if one.details["p_value"] is not None]
    assert len(values) > 350
    # at most the 0.9995 quantile of Bin(R, 0.05)
    assert sum(x < 0.05 for x in values) <= stats.binom.ppf(0.9995, len(values), 0.05)


def test_the_test_that_takes_items_as_independent_is_wrong_too_often() -> None:
    """The control: what the tests above would miss must be caught by the same bar."""
    rng = np.random.default_rng(401)
    wrong = 0
    for _ in range(400):
        y, first, _ = one_study(rng, (20, 20), 0.8, 0.2)
        wrong += stats.ttest_ind(y[first], y[~first], equal_var=False).pvalue < 0.05
    assert wrong > stats.binom.ppf(0.9995, 400, 0.05)


def test_a_real_difference_is_found() -> None:
    rng = np.random.default_rng(402)
    hits = 0
    for _ in range(50):
        y, first, g = one_study(rng, (20, 20), 0.85, 0.1)
        y[first] *= rng.random(int(first.sum())) < 0.6
        hits += contrast("d", y, first, clusters=g).details["p_value"] < 0.05
    assert hits >= 45


def test_what_is_undefined() -> None:
    y = np.array([0.0, 1, 1, 0, 1, 1])
    none = contrast("d", y, np.ones(6, dtype=bool), clusters=np.arange(6))
    assert math.isnan(none.estimate) and none.reason == "nothing to compare with"
    assert none.details["p_value"] is None
    empty = contrast("d", [], [], clusters=np.empty(0, dtype=np.int64))
    assert math.isnan(empty.estimate) and empty.reason == "no items"
    few = contrast("d", y, two_halves(6), clusters=np.arange(6))
    assert few.estimate == pytest.approx(0) and math.isnan(few.low)
    assert few.reason == "no interval: too few questions (3; at least 6) in a part"
    assert few.details["p_value"] is None
    same = contrast("d", np.ones(20), two_halves(20), clusters=np.arange(20))
    assert same.estimate == 0 and same.reason == "all values are the same: no variation"
    one = contrast("d", y, two_halves(6), clusters=np.zeros(6, dtype=np.int64))
    assert math.isnan(one.low) and one.reason is not None


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="row 2: nan is no finite number"):
        contrast("d", [0, math.nan], [True, False], clusters=np.arange(2))
    with pytest.raises(InputError, match="shape"):
        contrast("d", [0, 1], [True], clusters=np.arange(2))
    with pytest.raises(SettingsError):
        contrast("d", [0, 1], [True, False], clusters=np.arange(2), confidence=1)


def test_items_taken_as_independent_say_so_and_few_that_differ_are_told() -> None:
    y = np.zeros(40)
    y[3] = 1
    g = np.repeat(np.arange(20), 2)
    one = contrast("d", y, two_halves(40), clusters=g, unit="item")
    assert "items taken as independent" in one.method and one.unit == "item"
    assert "rests on 1 items that differ from the others (fewer than 10)" in one.warnings
    # one pair of pseudo-questions keeps a single odd item from being called a difference
    assert contrast("d", y, two_halves(40), clusters=g).details["p_value"] > 0.2
