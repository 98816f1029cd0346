"""One annotator beside the others: against loops, against statsmodels, and by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from drawn_ratings import draw
from numpy.typing import NDArray
from scipy import stats

from accord.validate.rater_quality import PairSums, against_rest, drift, speeds

Codes = NDArray[np.int64]
NUMBER = np.array([0.0, 0.5, 1.0, math.nan])


def slow_pairs(
    table: NDArray[np.float64], clusters: Codes, rater: int, distance: bool
) -> list[tuple[int, float, int, float, int]]:
    """Of each item the annotator rated: the question, own sum and pairs, the others' sum, pairs."""
    rows = []
    for question, item in zip(clusters.tolist(), table.tolist(), strict=True):
        there = [c for c, value in enumerate(item) if not math.isnan(value)]
        if rater not in there:
            continue
        sums = [0.0, 0.0, 0.0, 0.0]
        for a, b in itertools.combinations(there, 2):
            value = abs(item[a] - item[b]) if distance else float(item[a] == item[b])
            at = 0 if rater in (a, b) else 2
            sums[at] += value
            sums[at + 1] += 1
        if sums[1] and sums[3]:
            rows.append((question, sums[0], int(sums[1]), sums[2], int(sums[3])))
    return rows


@pytest.mark.parametrize("distance", [False, True])
@pytest.mark.parametrize("rater", [0, 2])
def test_the_difference_and_its_interval_are_the_twins(distance: bool, rater: int) -> None:
    clusters, people, judge = draw(np.random.default_rng(61), 30, "balanced")
    codes = np.column_stack([people, judge])
    numbers = NUMBER[codes]
    sums = PairSums.of_numbers(numbers) if distance else PairSums.of_labels(codes, 3)
    out = against_rest(sums, rater, clusters=clusters)
    table = numbers if distance else np.where(codes < 0, math.nan, codes)
    rows = slow_pairs(table, clusters, rater, distance)
    own = sum(a for _, a, _, _, _ in rows) / sum(n for _, _, n, _, _ in rows)
    rest = sum(a for *_, a, _ in rows) / sum(n for *_, n in rows)
    assert out.estimate == pytest.approx(own - rest, abs=1e-12)
    assert out.details["own"] == pytest.approx(own) and out.details["rest"] == pytest.approx(rest)
    assert out.n == len(rows) and out.details["same_items"]
    all_own, all_rest = sum(row[2] for row in rows), sum(row[4] for row in rows)
    by: dict[int, float] = {}
    for question, a, n, b, m in rows:
        u = (a - own * n) / all_own - (b - rest * m) / all_rest
        by[question] = by.get(question, 0.0) + u
    g = len(by)
    mean = sum(by.values()) / g
    se = math.sqrt(g / (g - 1) * sum((u - mean) ** 2 for u in by.values()))
    reach = float(stats.t.ppf(0.975, out.details["df"])) * se
    assert (out.low, out.high) == pytest.approx((own - rest - reach, own - rest + reach), abs=1e-10)
    t = (own - rest) / se * (-1 if distance else 1)
    assert out.details["p"] == pytest.approx(float(stats.t.cdf(t, out.details["df"])), abs=1e-10)


def test_by_hand() -> None:
    """Three people, two kinds of item: ten times (0, 0, 1), five times (0, 0, 0).

    The third: pairs 0/2 ten times, 2/2 five times: 10/30. The others: 1/1 fifteen times: 1.
    """
    x = np.array([[0, 0, 1]] * 10 + [[0, 0, 0]] * 5)
    out = against_rest(PairSums.of_labels(x, 2), 2, clusters=np.arange(15))
    assert out.estimate == pytest.approx(1 / 3 - 1, abs=1e-15)
    assert out.details["disagreements"] == 10 and out.details["p"] < 1e-3
    first = against_rest(PairSums.of_labels(x, 2), 0, clusters=np.arange(15))
    assert first.estimate == pytest.approx(20 / 30 - 5 / 15, abs=1e-15)
    assert first.details["p"] > 0.5


def test_nobody_to_compare_with() -> None:
    two = np.array([[0, 1], [1, 1]] * 10)
    out = against_rest(PairSums.of_labels(two, 2), 0, clusters=np.arange(20))
    assert math.isnan(out.estimate)
    assert out.reason == "no two others rated the same item: nobody to compare with"
    alone = np.array([[0, -1, -1], [-1, 1, 1]] * 10)
    out = against_rest(PairSums.of_labels(alone, 2), 0, clusters=np.arange(20))
    assert out.reason == "no item has a rating by another annotator"


def test_few_disagreements_and_few_questions_are_not_tested() -> None:
    x = np.array([[0, 0, 1]] * 9 + [[0, 0, 0]] * 31)
    few = against_rest(PairSums.of_labels(x, 2), 2, clusters=np.arange(40))
    assert math.isnan(few.details["p"]) and any("not tested" in text for text in few.warnings)
    assert few.low < few.estimate < few.high
    short = against_rest(PairSums.of_labels(x, 2), 2, clusters=np.arange(40) // 5)
    assert (
        math.isnan(short.low) and short.reason == "no interval: too few questions (8; at least 10)"
    )
    same = np.array([[0, 0, 0]] * 40)
    none = against_rest(PairSums.of_labels(same, 2), 2, clusters=np.arange(40))
    assert none.estimate == 0 and none.reason == "no interval: no variation"


def test_items_without_three_ratings_are_compared_across_items() -> None:
    """Each item has two of four people: the pairs of the others are on other items."""
    rng = np.random.default_rng(62)
    x = np.full((200, 4), -1)
    for item in range(200):
        x[item, rng.choice(4, 2, replace=False)] = rng.integers(0, 2, 2)
    out = against_rest(PairSums.of_labels(x, 2), 0, clusters=np.arange(200) // 2)
    assert not out.details["same_items"] and math.isfinite(out.details["p"])
    own = [row for row in x.tolist() if row[0] >= 0]
    agree = np.mean([len({v for v in row if v >= 0}) == 1 for row in own])
    assert out.details["own"] == pytest.approx(float(agree)) and out.n == len(own)


def _p(people: Codes, clusters: Codes) -> float:
    out = against_rest(PairSums.of_labels(people, 3), 0, clusters=clusters)
    return float(out.details["p"])


def test_equal_people_are_rarely_flagged_and_a_guesser_is() -> None:
    """At a true difference of 0 at most the 0.9995 quantile of Bin(400, .05) p-values lie below."""
    rng = np.random.default_rng(63)
    wrong = found = 0
    for _ in range(400):
        clusters, people, _ = draw(rng, 40, "balanced")
        wrong += (
            against_rest(PairSums.of_labels(people, 3), 0, clusters=clusters).details["p"] < 0.05
        )
        guesses = np.where(people[:, 0] >= 0, rng.integers(0, 3, len(people)), -1)
        people[:, 0] = np.where(rng.random(len(people)) < 0.3, guesses, people[:, 0])
        found += (
            against_rest(PairSums.of_labels(people, 3), 0, clusters=clusters).details["p"] < 0.05
        )
    assert wrong <= stats.binom.ppf(0.9995, 400, 0.05)
    assert found >= 390


# -- drift -------------------------------------------------------------------------------------


def test_drift_is_least_squares_with_the_sandwich_of_whole_questions() -> None:
    """The twin in matrices: (X'X)^-1 (sum over questions of X'e e'X) (X'X)^-1, times G/(G-1)."""
    rng = np.random.default_rng(64)
    clusters, people, _ = draw(rng, 40, "balanced")
    times = rng.permutation(len(people)).astype(float)
    times[rng.random(len(people)) < 0.2] = math.nan
    sums = PairSums.of_labels(people, 3)
    out = drift(sums, 1, times, clusters=clusters)
    share, given = sums.of(1)
    used = given & ~np.isnan(times)
    y, x = share[used], np.column_stack([np.ones(used.sum()), stats.rankdata(times[used]) / 100])
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    error = y - x @ beta
    bread = np.linalg.inv(x.T @ x)
    parts = [
        x[clusters[used] == q].T @ error[clusters[used] == q] for q in np.unique(clusters[used])
    ]
    variance = bread @ sum(np.outer(part, part) for part in parts) @ bread
    g = len(parts)
    assert out.estimate == pytest.approx(beta[1], abs=1e-10)
    assert out.details["se"] == pytest.approx(math.sqrt(variance[1, 1] * g / (g - 1)), rel=1e-9)
    order = np.argsort(times[used])
    third = int(used.sum()) // 3
    assert out.details["first_third"] == pytest.approx(y[order][:third].mean())
    assert out.details["last_third"] == pytest.approx(y[order][-third:].mean())


def test_a_person_who_tires_is_seen() -> None:
    rng = np.random.default_rng(65)
    truth = rng.integers(0, 2, 300)
    x = np.stack([truth, truth, truth], axis=1)
    tired = rng.random(300) < np.linspace(0, 0.6, 300)
    x[tired, 0] = 1 - x[tired, 0]
    out = drift(
        PairSums.of_labels(x, 2),
        0,
        np.array(range(300), dtype=np.float64),
        clusters=np.arange(300) // 5,
    )
    assert out.estimate == pytest.approx(-0.2, abs=0.08)
    assert out.high < 0 and out.details["p"] < 1e-4
    assert out.details["last_third"] < out.details["first_third"]


def test_no_drift_without_an_order() -> None:
    x = np.zeros((100, 2), dtype=np.int64)
    sums = PairSums.of_labels(x, 2)
    few = drift(
        sums, 0, np.array([*range(29), *[math.nan] * 71], dtype=np.float64), clusters=np.arange(100)
    )
    assert few.reason == "29 items with a time (fewer than 30)"
    batch = drift(sums, 0, np.floor(np.linspace(0, 24.99, 100)), clusters=np.arange(100))
    assert math.isnan(batch.estimate) and batch.reason == "most times are the same: no order"
    flat = drift(sums, 0, np.array(range(100), dtype=np.float64), clusters=np.arange(100))
    assert flat.estimate == 0 and flat.reason == "no interval: no variation"


# -- speed -------------------------------------------------------------------------------------


def test_speed_by_hand() -> None:
    """All known seconds: 30 four times, 6 and 9 and 12; the median is 30, a third of it 10."""
    nan = math.nan
    seconds = np.array([[30, 6, nan], [30, 9, nan], [30, 12, nan], [30, nan, nan]])
    slow, fast, none = speeds(seconds)
    assert (slow.items, slow.median, slow.fast) == (4, 30.0, 0.0)
    assert (fast.items, fast.median) == (3, 9.0) and fast.fast == pytest.approx(2 / 3)
    assert none.items == 0 and math.isnan(none.median) and math.isnan(none.fast)
