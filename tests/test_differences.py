"""Mean absolute difference and signed bias."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from accord.scoring.errors import InputError
from accord.validate import Estimate, bias, clustered_proportion, mad, rmse

GOLDEN = json.loads((Path(__file__).parent / "golden" / "scores.json").read_text())
BOTH: dict[str, Callable[..., Estimate]] = {"mad": mad, "bias": bias}
Floats = NDArray[np.float64]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            c,
            id=c["id"],
            marks=[] if "table" in c["inputs"] else [pytest.mark.shared_data],
        )
        for c in GOLDEN["cases"]
        if c["id"].endswith("/errors")
    ],
)
def test_golden(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    given_ = case["inputs"]
    if "table" in given_:
        table = GOLDEN["tables"][given_["table"]]
        x, y = np.array(table["x"], dtype=float), np.array(table["y"], dtype=float)
    else:
        shared: Path = request.getfixturevalue("shared_data")
        with (shared / "synthetic" / Path(given_["file"]).name).open() as lines:
            rows = list(csv.DictReader(lines))
        x, y = (
            np.array([float(row[given_[name]] or "nan") for row in rows]) for name in ("x", "y")
        )
        whole = ~(np.isnan(x) | np.isnan(y))
        x, y = x[whole], y[whole]
    expected = case["expected"]
    size = mad(x, y, clusters=np.arange(x.size))
    sign = bias(x, y, clusters=np.arange(x.size))
    assert size.n == sign.n == expected["n"]
    assert size.estimate == pytest.approx(expected["mad"], abs=case["tolerance"])
    assert sign.estimate == pytest.approx(expected["bias"], abs=case["tolerance"])


# -- the slow twins ----------------------------------------------------------------------------


def _df(codes: NDArray[np.int64]) -> float:
    m = np.bincount(codes)
    if m.sum() ** 2 / (m @ m) >= 0.8 * m.size:
        return float(m.size - 1)
    a = m * (1 + 0.2 * (m - 1))
    return float(max(a.sum() ** 2 / (a @ a) - 1, 1))


def mad_twin(d: Floats, codes: Any, w: Floats, confidence: float) -> tuple[float, float, float]:
    """Every leave-one-out value a refit; the log of each."""

    def value(keep: Any) -> float:
        return float(sum(w[keep] * abs(d[keep])) / sum(w[keep]))

    g = codes.max() + 1
    theta = value(codes >= 0)
    logs = [math.log(value(codes != q)) for q in range(g)]
    mean = sum(logs) / g
    se = math.sqrt((g - 1) / g * sum((v - mean) ** 2 for v in logs))
    t = float(stats.t.ppf(0.5 + confidence / 2, _df(codes)))
    return theta, theta * math.exp(-t * se), theta * math.exp(t * se)


def bias_twin(d: Floats, codes: Any, w: Floats, confidence: float) -> tuple[float, float, float]:
    """s_g = sum of d - b in question g; one pair of pseudo-questions at plus and minus max |d|."""
    w = w / w.mean()
    n, g = d.size, codes.max() + 1
    b = float((w * d).sum() / n)
    s = [float((w * (d - b))[codes == q].sum()) for q in range(g)]
    q = float(abs(d).max())
    se = math.sqrt(g / (g - 1) * (sum(v * v for v in s) + q * q + (-q) * (-q))) / n
    t = float(stats.t.ppf(0.5 + confidence / 2, _df(codes)))
    return b, b - t * se, b + t * se


TWINS = {"mad": mad_twin, "bias": bias_twin}


@st.composite
def scores(draw: st.DrawFn) -> tuple[Floats, Floats, NDArray[np.int64], Floats | None]:
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n = int(rng.integers(30, 80))
    human = np.round(rng.random(n), 1)
    differs = rng.random(n) < draw(st.sampled_from([0.15, 0.5, 1.0]))
    judge = np.where(differs, human + rng.normal(0.1, 0.3, n), human)
    clusters = np.unique(rng.integers(0, 15, n), return_inverse=True)[1]
    w = rng.uniform(0.5, 4, n) if draw(st.booleans()) else None
    return judge, human, clusters.astype(np.int64), w


@pytest.mark.parametrize("name", sorted(BOTH))
@given(data=scores(), confidence=st.sampled_from([0.9, 0.95]))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_the_default_is_its_slow_twin(
    name: str, data: tuple[Floats, Floats, NDArray[np.int64], Floats | None], confidence: float
) -> None:
    judge, human, clusters, w = data
    d = judge - human
    assume(clusters.max() >= 9 and np.unique(clusters[d != 0]).size > 1)
    theta, low, high = TWINS[name](d, clusters, np.ones(d.size) if w is None else w, confidence)
    out = BOTH[name](judge, human, clusters=clusters, weights=w, confidence=confidence)
    assert out.estimate == pytest.approx(theta, abs=1e-12)
    assert out.low == pytest.approx(low, abs=1e-10)
    assert out.high == pytest.approx(high, abs=1e-10)


# -- the sign, the unit ------------------------------------------------------------------------


def test_a_lenient_judge_has_a_positive_bias() -> None:
    human = np.tile([0.2, 0.4, 0.6], 12)
    judge = human + np.tile([0.1, 0.3, 0.2], 12)
    clusters = np.arange(36) // 3
    assert bias(judge, human, clusters=clusters).estimate == pytest.approx(0.2)
    assert bias(human, judge, clusters=clusters).estimate == pytest.approx(-0.2)


def test_by_item_every_item_is_its_own_cluster() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random(60), rng.random(60)
    for name, call in BOTH.items():
        alone = call(x, y, clusters=np.arange(60) // 5, unit="item")
        own = call(x, y, clusters=np.arange(60))
        assert (alone.low, alone.high) == pytest.approx((own.low, own.high), abs=1e-12), name
        assert alone.unit == "item" and "independent" in alone.method
        assert alone.clusters == 12


@pytest.mark.parametrize("unit", [1e-150, 1e-13, 1e6, 1e150])
def test_no_unit_of_score_is_special(unit: float) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.random(60), rng.random(60)
    for name, call in BOTH.items():
        plain = call(x, y, clusters=np.arange(60) // 3)
        other = call(unit * x, unit * y, clusters=np.arange(60) // 3)
        for field in ("estimate", "low", "high"):
            expected = unit * getattr(plain, field)
            assert getattr(other, field) == pytest.approx(expected, rel=1e-9), name
        assert other.design_effect == pytest.approx(plain.design_effect)


# -- degenerate --------------------------------------------------------------------------------


def test_all_equal() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(60)
    clusters = np.arange(60) // 3
    for name, call in BOTH.items():
        out = call(x, x, clusters=clusters)
        assert out.estimate == 0, name
        assert math.isnan(out.low) and math.isnan(out.high)
        assert out.reason is not None
        assert out.details["equal"].low == clustered_proportion(np.ones(60), clusters=clusters).low


def test_the_same_difference_everywhere() -> None:
    x = np.linspace(0, 0.5, 60)
    out = bias(x + 0.25, x, clusters=np.arange(60) // 3)
    assert out.estimate == pytest.approx(0.25)
    assert math.isnan(out.low)
    assert out.reason == "all differences are the same: no variation"


def test_all_differences_in_one_question() -> None:
    x = np.linspace(0, 1, 60)
    y = x.copy()
    y[3:5] += 0.5
    clusters = np.arange(60) // 3
    out = mad(y, x, clusters=clusters)
    assert out.estimate == pytest.approx(1 / 60)
    assert math.isnan(out.low)
    assert out.reason == "no interval: all differing responses belong to one question"
    # the pair of pseudo-questions keeps bias's interval open there
    assert bias(y, x, clusters=clusters).low < 0


def test_differences_that_are_rounding_are_none() -> None:
    x = np.array([0.1 + 0.2, 0.3, 0.7, 0.9] * 10)
    y = np.array([0.3, 0.3, 0.7, 0.9] * 10)
    out = mad(x, y, clusters=np.arange(40) // 2)
    assert out.estimate == 0
    assert out.details["differing"] == 0


@pytest.mark.parametrize(("name", "least"), [("mad", 10), ("bias", 6)])
def test_too_few_questions(name: str, least: int) -> None:
    rng = np.random.default_rng(0)
    for count in (1, least - 1, least):
        x, y = rng.random(count * 4), rng.random(count * 4)
        out = BOTH[name](x, y, clusters=np.arange(count * 4) // 4)
        assert math.isfinite(out.estimate)
        assert math.isfinite(out.low) is (count == least)
        if count == 1:
            assert out.reason == "no interval: one question"
        elif count < least:
            assert out.reason == f"no interval: too few questions ({count}; at least {least})"
        else:
            assert any("20 effective questions" in said for said in out.warnings)


def test_no_items() -> None:
    for call in BOTH.values():
        out = call([], [], clusters=np.array([], dtype=int))
        assert math.isnan(out.estimate) and out.reason == "no items"


def test_a_missing_score_is_refused() -> None:
    for call in BOTH.values():
        with pytest.raises(InputError, match="row 2"):
            call([0.1, math.nan], [0.1, 0.1], clusters=np.arange(2))


@pytest.mark.parametrize(("call", "what"), [(mad, "MAD"), (rmse, "RMSE"), (bias, "the bias")])
def test_few_differing_responses_are_told(call: Any, what: str) -> None:
    human = np.linspace(0, 1, 60)
    for k in (9, 10):
        judge = human.copy()
        judge[6 * np.arange(k)] += 0.25
        out = call(judge, human, clusters=np.arange(60) // 2)
        said = f"{what} rests on {k} differing responses (fewer than 10)"
        assert (said in out.warnings) == (k < 10)
