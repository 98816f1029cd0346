"""The leave-one-out ceiling against a twin that refits it without each question, by loops."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from drawn_ratings import draw
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from accord.scoring.errors import InputError, SettingsError
from accord.validate import cohen_kappa, leave_one_out_ceiling, raw_agreement
from accord.validate.coding import TIE
from accord.validate.others import majority_without, mean_without
from accord.validate.people import majority

VALUES = np.array([0.0, 0.5, 1.0, math.nan])  # the last stands for a gap, -1
LABELS = ("agreement", "cohen_kappa")
STATISTICS = (*LABELS, "pearson", "mad")


# -- the twin ----------------------------------------------------------------------------------


def other_label(row: list[int], own: int) -> int | None:
    """The commonest label of the others; None with a tie, or nobody."""
    votes = Counter(code for at, code in enumerate(row) if at != own and code >= 0)
    if not votes:
        return None
    most = max(votes.values())
    top = [label for label, n in votes.items() if n == most]
    return top[0] if len(top) == 1 else None


def other_mean(row: list[float], own: int) -> float | None:
    there = [value for at, value in enumerate(row) if at != own and not math.isnan(value)]
    return sum(there) / len(there) if there else None


def slow_statistic(name: str, pairs: list[tuple[float, float]]) -> float:
    n = len(pairs)
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    if name == "agreement":
        return sum(a == b for a, b in pairs) / n
    if name == "mad":
        return sum(abs(a - b) for a, b in pairs) / n
    if name == "cohen_kappa":
        seen = sum(a == b for a, b in pairs) / n
        chance = sum(x.count(k) / n * (y.count(k) / n) for k in set(x) | set(y))
        return (seen - chance) / (1 - chance) if chance < 1 - 1e-12 else math.nan
    if len(set(x)) < 2 or len(set(y)) < 2:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def twin(name: str, judge: Any, people: Any, who: list[int] | None = None) -> Any:
    """People's and the judge's average over annotators, and who is in it."""
    own: list[tuple[float, float]] = []
    columns = []
    for c in range(people.shape[1]) if who is None else who:
        mine, judged = [], []
        for row, j in zip(people.tolist(), judge.tolist(), strict=True):
            other = other_label(row, c) if name in LABELS else other_mean(row, c)
            there = row[c] >= 0 and j >= 0  # false for NaN too
            if other is None or not there:
                continue
            mine.append((row[c], other))
            judged.append((j, other))
        if not mine:
            continue
        pair = slow_statistic(name, mine), slow_statistic(name, judged)
        if all(math.isfinite(value) for value in pair):
            own.append(pair)
            columns.append(c)
    if not own:
        return math.nan, math.nan, []
    return sum(a for a, _ in own) / len(own), sum(b for _, b in own) / len(own), columns


def as_given(name: str, judge: NDArray[Any], people: NDArray[Any]) -> tuple[Any, Any, Any]:
    if name in LABELS:
        return judge, people, {"n_categories": 3}
    return VALUES[judge], VALUES[people], {}


# -- estimates and intervals -------------------------------------------------------------------


@pytest.mark.parametrize("name", STATISTICS)
def test_estimates_are_the_twins(name: str) -> None:
    clusters, people, judge = draw(np.random.default_rng(31), 30, "balanced")
    j, x, more = as_given(name, judge, people)
    out = leave_one_out_ceiling(j, x, statistic=name, clusters=clusters, **more)
    mine, judged, columns = twin(name, j, x)
    assert out.people.estimate == pytest.approx(mine, abs=1e-12)
    assert out.judge.estimate == pytest.approx(judged, abs=1e-12)
    assert out.difference.estimate == pytest.approx(judged - mine, abs=1e-12)
    assert list(out.annotators) == columns == [0, 1, 2]
    for c, (first, second, items) in zip(out.annotators, out.by_annotator, strict=True):
        alone = twin(name, j, x, [c])
        assert (first, second) == pytest.approx(alone[:2], abs=1e-12)
        assert items > 100
    assert out.people.name == f"leave_one_out_{name}"
    assert out.difference.name == f"leave_one_out_{name}_difference"


@pytest.mark.parametrize("name", ["cohen_kappa", "pearson", "mad"])
def test_the_interval_of_a_difference_is_that_of_refits(name: str) -> None:
    clusters, people, judge = draw(np.random.default_rng(32), 20, "balanced")
    j, x, more = as_given(name, judge, people)
    out = leave_one_out_ceiling(j, x, statistic=name, clusters=clusters, **more).difference
    away = []
    for question in range(20):
        left = clusters != question
        mine, judged, _ = twin(name, j[left], x[left])
        away.append(judged - mine)
    spread = sum((value - sum(away) / 20) ** 2 for value in away)
    reach = float(stats.t.ppf(0.975, out.details["df"])) * math.sqrt(19 / 20 * spread)
    limits = (out.estimate - reach, out.estimate + reach)
    assert (out.low, out.high) == pytest.approx(limits, abs=1e-10)


@pytest.mark.parametrize("name", ["pearson", "mad"])
@pytest.mark.parametrize("side", [0, 1])
def test_the_interval_of_a_side_is_that_of_refits_on_its_scale(name: str, side: int) -> None:
    clusters, people, judge = draw(np.random.default_rng(33), 20, "balanced")
    j, x, _ = as_given(name, judge, people)
    found = leave_one_out_ceiling(j, x, statistic=name, clusters=clusters)
    out = (found.people, found.judge)[side]
    there, back = (np.arctanh, np.tanh) if name == "pearson" else (np.log, np.exp)
    away = there([twin(name, j[clusters != q], x[clusters != q])[side] for q in range(20)])
    se = math.sqrt(19 / 20 * float(((away - away.mean()) ** 2).sum()))
    reach = float(stats.t.ppf(0.975, out.details["df"])) * se
    centre = float(there(out.estimate))
    assert out.low == pytest.approx(float(back(centre - reach)), abs=1e-10)
    assert out.high == pytest.approx(float(back(centre + reach)), abs=1e-10)


def test_between_two_people_intervals_are_those_of_the_plain_coefficients() -> None:
    """Each against the other is one table twice, so κ and raw agreement are those of the pair."""
    clusters, people, judge = draw(np.random.default_rng(38), 25, "skewed")
    two = people[(people[:, :2] >= 0).all(axis=1), :2]
    judge, clusters = (part[(people[:, :2] >= 0).all(axis=1)] for part in (judge, clusters))
    shared: dict[str, Any] = {"n_categories": 3, "clusters": clusters}
    kappa = leave_one_out_ceiling(judge, two, statistic="cohen_kappa", **shared).people
    plain = cohen_kappa(two[:, 0], two[:, 1], **shared)
    raw = leave_one_out_ceiling(judge, two, statistic="agreement", **shared).people
    share = raw_agreement(two, **shared)
    for one, other in ((kappa, plain), (raw, share)):
        for name in ("estimate", "low", "high", "n"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-12)


def test_a_judge_that_one_person_misses_by_hand() -> None:
    """54 of 60 pairs agree; a judge who always says what the first says meets the first 60 times
    and the second 54 times: (1 + 0.9) / 2 against people's 0.9."""
    people = np.zeros((60, 2), dtype=np.int64)
    people[:6, 1] = 1
    judge = np.zeros(60, dtype=np.int64)
    out = leave_one_out_ceiling(
        judge, people, statistic="agreement", n_categories=2, clusters=np.arange(60)
    )
    assert out.people.estimate == pytest.approx(0.9)
    assert out.judge.estimate == pytest.approx(0.95)
    assert out.difference.estimate == pytest.approx(0.05)
    assert out.difference.low < 0.05 < out.difference.high
    assert any(text.startswith("INCONCLUSIVE") for text in out.difference.warnings)


def test_with_two_annotators_it_is_each_against_the_other() -> None:
    clusters, people, judge = draw(np.random.default_rng(34), 25, "balanced")
    two = people[:, :2]
    both = (two >= 0).all(axis=1)
    out = leave_one_out_ceiling(
        judge, two, statistic="agreement", n_categories=3, clusters=clusters
    )
    agree = float((two[both, 0] == two[both, 1]).mean())
    hits = float(np.mean([(judge[both] == two[both, c]).mean() for c in (0, 1)]))
    assert out.people.estimate == pytest.approx(agree, abs=1e-12)
    assert out.judge.estimate == pytest.approx(hits, abs=1e-12)
    assert out.people.details["ties"] == 0


rows = st.lists(st.tuples(*[st.integers(-1, 2)] * 4, st.integers(0, 12)), min_size=1, max_size=20)


@settings(max_examples=80, deadline=None)
@given(rows, st.sampled_from(STATISTICS))
def test_any_ratings_give_the_twins_estimate_or_a_reason(
    table: list[tuple[int, ...]], name: str
) -> None:
    codes = np.array(table, dtype=np.int64)
    j, x, more = as_given(name, codes[:, 3], codes[:, :3])
    out = leave_one_out_ceiling(j, x, statistic=name, clusters=codes[:, 4], **more)
    counts = [
        sum(
            (other_label if name in LABELS else other_mean)(row, c) is not None
            and row[c] >= 0
            and one >= 0
            for row, one in zip(x.tolist(), j.tolist(), strict=True)
        )
        for c in range(3)
    ]
    least = max(1, min(10, max(counts)))  # who has fewer items than 10 is out if others have more
    mine, judged, columns = twin(name, j, x, [c for c in range(3) if counts[c] >= least])
    if not columns:
        for one in (out.people, out.judge, out.difference):
            assert math.isnan(one.estimate) and one.reason
        return
    assert list(out.annotators) == columns
    assert out.people.estimate == pytest.approx(mine, abs=1e-9)
    assert out.judge.estimate == pytest.approx(judged, abs=1e-9)
    for one in (out.people, out.judge, out.difference):
        assert math.isnan(one.low) == (one.reason is not None)
        if one.reason is None:
            assert one.low - 1e-9 <= one.estimate <= one.high + 1e-9


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-1, 3)] * 5), min_size=1, max_size=12))
def test_the_majority_of_the_others_follows_the_rule_of_peoples_label(
    table: list[tuple[int, ...]],
) -> None:
    codes = np.array(table, dtype=np.int64)
    found, tied = majority_without(codes, 4)
    for c in range(5):
        rule = majority(np.delete(codes, c, axis=1), 4)
        assert np.array_equal(np.where(rule >= 0, rule, -1), found[:, c])
        assert np.array_equal(rule == TIE, tied[:, c])


def test_the_mean_of_the_others() -> None:
    nan = math.nan
    found = mean_without(np.array([[1.0, 2.0, 6.0], [nan, 2.0, nan], [4.0, nan, nan]]))
    expected = [[4.0, 3.5, 1.5], [2.0, nan, 2.0], [nan, 4.0, 4.0]]
    assert np.array_equal(found, np.array(expected), equal_nan=True)


# -- degenerate --------------------------------------------------------------------------------


def test_ties_and_gaps_are_counted() -> None:
    people = np.array([[0, 0, 1], [0, -1, -1], [1, 1, 1], [0, 1, 2], [0, 0, 0]])
    judge = np.array([0, 0, 1, 0, -1])
    out = leave_one_out_ceiling(
        judge, people, statistic="agreement", n_categories=3, clusters=np.arange(5)
    ).people
    assert out.n == 2  # items 1 (for the third annotator) and 3
    assert out.dropped == {
        "fewer than two annotators": 1,
        "no rating by the judge": 1,
        "tie of the other annotators": 1,
    }
    assert out.details["ties"] == 2 + 3


def test_equal_scores_have_no_interval_and_one_category_no_kappa() -> None:
    same = np.tile(np.linspace(0, 1, 15)[:, None], (1, 2))
    for name in ("pearson", "mad"):
        out = leave_one_out_ceiling(same[:, 0], same, statistic=name, clusters=np.arange(15)).people
        assert math.isnan(out.low) and out.reason == "no interval: all scores are equal"
    one = np.zeros((15, 3), dtype=np.int64)
    kappa = leave_one_out_ceiling(
        one[:, 0], one, statistic="cohen_kappa", n_categories=2, clusters=np.arange(15)
    )
    assert math.isnan(kappa.judge.estimate)
    assert kappa.judge.reason == "one category only: kappa is undefined for every annotator"
    raw = leave_one_out_ceiling(
        one[:, 0], one, statistic="agreement", n_categories=2, clusters=np.arange(15)
    )
    assert raw.people.estimate == 1 and raw.people.low < 1 and raw.people.high == 1
    assert math.isnan(raw.difference.estimate) and raw.difference.reason
    constant = leave_one_out_ceiling(
        np.ones(15), np.ones((15, 2)), statistic="pearson", clusters=np.arange(15)
    )
    assert constant.people.reason == "constant scores: r is undefined for every annotator"


def test_someone_with_hardly_any_items_has_no_say() -> None:
    clusters, people, judge = draw(np.random.default_rng(35), 20, "balanced")
    rare = np.full((len(judge), 1), -1, dtype=np.int64)
    rare[:5] = (judge[:5, None] + 1) % 3
    out = leave_one_out_ceiling(
        judge, np.hstack([people, rare]), statistic="agreement", n_categories=3, clusters=clusters
    )
    assert out.annotators == (0, 1, 2)


def test_mistakes_are_named() -> None:
    x = np.zeros((4, 2), dtype=np.int64)
    with pytest.raises(SettingsError, match="statistic 'rho' is unknown"):
        leave_one_out_ceiling(x[:, 0], x, statistic="rho", clusters=np.arange(4))
    with pytest.raises(SettingsError, match="needs n_categories"):
        leave_one_out_ceiling(x[:, 0], x, statistic="agreement", clusters=np.arange(4))
    with pytest.raises(InputError, match="the judge has 3 ratings"):
        leave_one_out_ceiling(
            x[:3, 0], x, statistic="agreement", n_categories=2, clusters=np.arange(4)
        )
    with pytest.raises(InputError, match="infinite"):
        leave_one_out_ceiling(
            np.full(4, math.inf), x.astype(float), statistic="mad", clusters=np.arange(4)
        )


# -- properties --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STATISTICS)
def test_order_and_weights_times_a_constant_change_nothing(name: str) -> None:
    rng = np.random.default_rng(36)
    clusters, people, judge = draw(rng, 15, "balanced")
    j, x, more = as_given(name, judge, people)
    weights = rng.uniform(1, 3, len(judge))
    base = leave_one_out_ceiling(j, x, statistic=name, clusters=clusters, weights=weights, **more)
    order = rng.permutation(len(judge))
    moved = leave_one_out_ceiling(
        j[order],
        x[order][:, ::-1],
        statistic=name,
        clusters=clusters[order],
        weights=5 * weights[order],
        **more,
    )
    for side in ("people", "judge", "difference"):
        one, two = getattr(base, side), getattr(moved, side)
        for field in ("estimate", "low", "high", "design_effect"):
            assert getattr(one, field) == pytest.approx(getattr(two, field), abs=1e-9)


def test_a_unit_of_score_is_nothing_special() -> None:
    clusters, people, judge = draw(np.random.default_rng(37), 15, "balanced")
    j, x, _ = as_given("mad", judge, people)
    base = leave_one_out_ceiling(j, x, statistic="mad", clusters=clusters)
    tenfold = leave_one_out_ceiling(10 * j, 10 * x, statistic="mad", clusters=clusters)
    for one, two in itertools.zip_longest(
        (base.people, base.difference), (tenfold.people, tenfold.difference)
    ):
        assert two.estimate == pytest.approx(10 * one.estimate, rel=1e-12)
        assert (two.low, two.high) == pytest.approx((10 * one.low, 10 * one.high), rel=1e-9)
