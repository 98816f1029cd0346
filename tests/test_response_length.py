"""Bias by length: the slope by hand, coverage, thirds, what is undefined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from accord.scoring.errors import InputError, SettingsError
from accord.study import Ratings
from accord.validate.coding import code_ratings
from accord.validate.panel_builder import PanelBuilder
from accord.validate.panel_settings import PanelSettings
from accord.validate.response_length import bias_per_doubling, length_section
from accord.validate.section import Section, View
from small_table import make

KINDS = {"person": "annotator", "gpt": "judge"}


def view_of(ratings: Ratings, **options: Any) -> View:
    settings = PanelSettings(resamples=0, **options)
    return PanelBuilder(ratings, code_ratings(ratings, settings), settings).fill()


def test_by_hand() -> None:
    # lengths 1, 2, 4 ten times over: x = 0, 1, 2; d = 0, 0.1, 0.5: slope (0.5 - 0) / 2 = 0.25
    d = np.tile([0.0, 0.1, 0.5], 10)
    length = np.tile([1.0, 2.0, 4.0], 10)
    g = np.repeat(np.arange(10), 3)
    one = bias_per_doubling(d, length, clusters=g)
    assert one.estimate == pytest.approx(0.25, abs=1e-12)
    assert one.details["differing"] == 20 and (one.n, one.clusters) == (30, 10)
    # all questions are alike, so only the pair is left: 2 * 0.5^2 / (30^2 * 2/3)
    reach = stats.t.ppf(0.975, 9) * math.sqrt(2 * 0.25 / (900 * 2 / 3))
    assert (one.low, one.high) == pytest.approx((0.25 - reach, 0.25 + reach), abs=1e-9)
    assert one.name == "bias_per_doubling"


def slow(d: Any, length: Any, g: Any, w: Any) -> tuple[float, float]:
    """Slope by numpy, and the jackknife as a loop of refits with the pair added."""
    x = np.log2(length)

    def fit(keep: Any) -> float:
        return float(np.polyfit(x[keep], d[keep], 1, w=np.sqrt(w[keep]))[0])

    questions = sorted(set(g.tolist()))
    away = np.array([fit(g != question) for question in questions])
    G = len(questions)
    variance = (G - 1) / G * ((away - away.mean()) ** 2).sum()
    w = w / w.mean()
    spread = np.average((x - np.average(x, weights=w)) ** 2, weights=w)
    pair = 2 * np.abs(d).max() ** 2 / (d.size**2 * spread)
    return fit(g >= 0), math.sqrt(variance + pair)


@pytest.mark.parametrize("seed", range(4))
def test_as_the_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(25), 3)
    d, length = rng.normal(size=75), rng.integers(1, 40, 75).astype(float)
    w = rng.uniform(0.5, 2, 75)
    slope, se = slow(d, length, g, w)
    one = bias_per_doubling(d, length, clusters=g, weights=w)
    assert one.estimate == pytest.approx(slope, rel=1e-9)
    assert one.high - one.estimate == pytest.approx(stats.t.ppf(0.975, 24) * se, rel=1e-9)
    # another unit of length changes nothing
    again = bias_per_doubling(d, 7.5 * length, clusters=g, weights=w)
    assert again.low == pytest.approx(one.low, rel=1e-9)


def test_within_systems_only_their_own_trend_counts() -> None:
    # system 0 is short and judged low, system 1 long and judged high; inside there is no trend
    length = np.tile([1.0, 2.0, 16.0, 32.0], 12)
    system = np.tile([0, 0, 1, 1], 12)
    d = np.where(system == 1, 0.4, -0.4) + np.tile([0.01, -0.01, -0.01, 0.01], 12) * np.repeat(
        np.where(np.arange(12) % 2, 1, -1), 4
    )
    g = np.repeat(np.arange(12), 4)
    assert bias_per_doubling(d, length, clusters=g).low > 0.1
    inside = bias_per_doubling(d, length, clusters=g, within=system)
    assert inside.name == "bias_per_doubling_within_systems"
    assert inside.estimate == pytest.approx(0, abs=1e-12) and inside.low < 0 < inside.high


# Measured with 1,000 studies each: 94.2 % and 94.1 %; items as independent 76.6 % and 75.2 %
@pytest.mark.parametrize("questions", [20, 60])
def test_the_interval_covers(questions: int) -> None:
    rng = np.random.default_rng([420, questions])
    hits = 0
    for _ in range(400):
        d, length, g = trend_study(rng, questions)
        one = bias_per_doubling(d, length, clusters=g)
        hits += one.low <= 0.02 <= one.high
    assert hits >= stats.binom.ppf(0.0005, 400, 0.95)


def trend_study(rng: np.random.Generator, questions: int) -> tuple[Any, Any, Any]:
    """Five responses a question whose lengths and differences a question moves together."""
    g = np.repeat(np.arange(questions), 5)
    x = rng.normal(3, 0.7, questions)[g] + rng.normal(0, 0.4, g.size)
    slope = 0.02 + rng.normal(0, 0.05, questions)[g]
    d = slope * (x - 3) + rng.normal(0, 0.1, questions)[g] + rng.normal(0, 0.1, g.size)
    return d, np.exp2(x), g


def test_the_interval_that_takes_responses_as_independent_does_not_cover() -> None:
    """The control of the test above."""
    rng = np.random.default_rng(421)
    hits = 0
    for _ in range(400):
        d, length, g = trend_study(rng, 60)
        one = bias_per_doubling(d, length, clusters=g, unit="item")
        hits += one.low <= 0.02 <= one.high
    assert hits < stats.binom.ppf(0.0005, 400, 0.95)


def test_what_is_undefined_and_refused() -> None:
    g = np.repeat(np.arange(12), 2)
    same = bias_per_doubling(np.arange(24.0), np.full(24, 3.0), clusters=g)
    assert math.isnan(same.estimate) and same.reason == "all responses are of the same length"
    length = np.tile([1.0, 2.0], 12)
    inside = bias_per_doubling(np.arange(24.0), length, clusters=g, within=np.tile([0, 1], 12))
    assert inside.reason == "all responses are of the same length within each system"
    flat = bias_per_doubling(np.full(24, 0.5), length, clusters=g)
    assert flat.estimate == 0 and math.isnan(flat.low)
    assert flat.reason == "all differences are the same: no variation"
    few = bias_per_doubling(np.arange(8.0), length[:8], clusters=g[:8])
    assert math.isfinite(few.estimate) and math.isnan(few.low)
    assert few.reason == "no interval: too few questions (4; at least 10)"
    assert bias_per_doubling([], [], clusters=np.empty(0, dtype=np.int64)).reason == "no items"
    with pytest.raises(InputError, match="not above 0"):
        bias_per_doubling([0.0], [0.0], clusters=np.arange(1))
    with pytest.raises(InputError, match="shape"):
        bias_per_doubling([0.0, 1.0], [1.0], clusters=np.arange(2))
    with pytest.raises(SettingsError):
        bias_per_doubling([0.0], [1.0], clusters=np.arange(1), confidence=2)
    rare = bias_per_doubling(np.eye(24)[0], length, clusters=g)
    assert "rests on 1 responses where the judge differs (fewer than 10)" in rare.warnings


def lists(lengths: Sequence[int], seed: int = 1, trend: float = 0.0, **columns: Any) -> Ratings:
    """A response of each length, two a question; the judge errs upwards, more on long ones."""
    rng = np.random.default_rng(seed)
    person, judge, response = [], [], []
    for at, length in enumerate(lengths):
        for _ in range(length):
            right = rng.random() < 0.5
            person.append("CORRECT" if right else "INCORRECT")
            wrong = rng.random() < min(0.05 + trend * math.log2(length), 1)
            judge.append("CORRECT" if right or wrong else "INCORRECT")
            response.append(at)
    more = {name: [cells[at] for at in response] for name, cells in columns.items()}
    return make(
        {"person": person, "gpt": judge},
        KINDS,
        question_id=[f"q{at // 2}" for at in response],
        system=["a" if at % 2 else "b" for at in response],
        response_id=[f"r{at}" for at in response],
        **more,
    )


def section_of(ratings: Ratings, **options: Any) -> Section:
    found = length_section(view_of(ratings, **options))
    assert found is not None
    return found


LENGTHS = [1, 2, 4, 8, 12, 3, 5, 16, 2, 6] * 8


def test_a_trend_is_told() -> None:
    section = section_of(lists(LENGTHS, trend=0.25))
    slope = next(one for one in section.results if one.name == "bias_per_doubling")
    assert slope.low > 0 and slope.level == "response" and slope.n == 80
    assert slope.details["comparison"] == "judge-annotator"
    assert slope.details["length"] == "elements" and slope.details["measure"] == "share_correct"
    assert section.notes[0].startswith("gpt grows more generous than people by")
    thirds = [one for one in section.results if one.name == "bias"]
    assert [one.details["stratum"] for one in thirds] == ["short", "middle", "long"]
    assert sum(one.n for one in thirds) == 80
    # those of one length stay together
    ends = [(one.details["from"], one.details["to"]) for one in thirds]
    assert ends == [(1, 3), (4, 6), (8, 16)]
    assert thirds[0].estimate < thirds[2].estimate
    assert all(len(line) <= 98 for line in section.lines)


def test_no_trend_is_told_with_its_bound() -> None:
    section = section_of(lists(LENGTHS))
    assert section.notes[0].startswith("gpt: no trend with length is shown, up to 0.")


def test_tokens_are_taken_where_all_are_known() -> None:
    tokens: list[Any] = [str(100 + 7 * at) for at in range(80)]
    known = section_of(lists(LENGTHS, output_tokens=tokens))
    assert known.title.endswith("(tokens)")
    assert known.results[0].details["length"] == "tokens"
    for hole in (None, "many"):
        tokens[3] = hole
        assert section_of(lists(LENGTHS, output_tokens=tokens)).title.endswith("(elements)")


def test_nothing_to_see() -> None:
    assert length_section(view_of(lists([2] * 40))) is None
    flat = lists(LENGTHS)
    flat.frame["response_id"] = None
    assert length_section(view_of(flat)) is None


def test_a_slope_that_hangs_on_one_question_has_no_interval() -> None:
    length = np.full(40, 8.0)
    length[:2] = 16.0  # both in the first question
    difference = np.resize([0.0, 0.1, -0.1, 0.2], 40)
    out = bias_per_doubling(difference, length, clusters=np.arange(40) // 2)
    assert np.isfinite(out.estimate) and np.isnan(out.low) and np.isnan(out.high)
    assert out.reason == "no interval: without one question the figure is undefined"
