"""Pearson and Spearman, with the bootstrap-t by question."""

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

from accord.scoring.errors import InputError, SettingsError
from accord.validate import Estimate, clustered_proportion, correlation, pearson, spearman

GOLDEN = json.loads((Path(__file__).parent / "golden" / "correlation.json").read_text())
BOTH: dict[str, Callable[..., Estimate]] = {"pearson": pearson, "spearman": spearman}
Floats = NDArray[np.float64]


# -- golden values -----------------------------------------------------------------------------


def _cases(kind: str) -> list[Any]:
    return [
        pytest.param(
            c,
            id=c["id"],
            marks=[] if "table" in c["inputs"] else [pytest.mark.shared_data],
        )
        for c in GOLDEN["cases"]
        if kind in c["id"].split("/") and "exact" not in c["id"]
    ]


def _scores(case: dict[str, Any], request: pytest.FixtureRequest) -> tuple[Any, Any]:
    given_ = case["inputs"]
    if "table" in given_:
        table = GOLDEN["tables"][given_["table"]]
        return np.array(table["x"], dtype=float), np.array(table["y"], dtype=float)
    shared: Path = request.getfixturevalue("shared_data")
    with (shared / "synthetic" / Path(given_["file"]).name).open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    x, y = (_column(rows, given_[name]) for name in ("x", "y"))
    whole = ~(np.isnan(x) | np.isnan(y))
    return x[whole], y[whole]


def _column(rows: list[dict[str, str]], name: str) -> Any:
    if not name.startswith("mean of"):
        return np.array([float(row[name] or "nan") for row in rows])
    three = [[row[a] for a in ("ann1", "ann2", "ann3") if row[a]] for row in rows]
    return np.array([np.mean([float(v) for v in cell]) if cell else math.nan for cell in three])


@pytest.mark.parametrize("case", _cases("pearson"))
def test_pearson_and_fisher(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    x, y = _scores(case, request)
    out = pearson(
        x,
        y,
        clusters=np.arange(x.size),
        rng=0,
        confidence=case["inputs"]["confidence"],
        unit="item",
    )
    expected, tolerance = case["expected"], case["tolerance"]
    assert out.n == expected["n"]
    assert out.estimate == pytest.approx(expected["estimate"], abs=tolerance)
    assert out.low == pytest.approx(expected["low"], abs=tolerance)
    assert out.high == pytest.approx(expected["high"], abs=tolerance)
    assert "assumes independent, normal" in out.method


@pytest.mark.parametrize("case", [*_cases("spearman"), *_cases("spearman_ci")])
def test_spearman_and_bonett_wright(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    x, y = _scores(case, request)
    out = spearman(x, y, clusters=np.arange(x.size), rng=0, unit="item")
    expected, tolerance = case["expected"], case["tolerance"]
    assert out.estimate == pytest.approx(expected["estimate"], abs=tolerance)
    if "low" in expected:
        assert out.low == pytest.approx(expected["low"], abs=tolerance)
        assert out.high == pytest.approx(expected["high"], abs=tolerance)


# -- the slow twin: every resample refitted on its repeated questions --------------------------


def _midranks(v: Floats, w: Floats) -> Floats:
    """Weighted mid-ranks, by comparing all with all."""
    return np.array([w[v < a].sum() + w[v == a].sum() / 2 for a in v])


def _moments(x: Floats, y: Floats, w: Floats) -> tuple[float, Floats]:
    """Weighted r and its influence values, from the definition."""
    mean_x, mean_y = np.average(x, weights=w), np.average(y, weights=w)
    sd_x = math.sqrt(np.average((x - mean_x) ** 2, weights=w))
    sd_y = math.sqrt(np.average((y - mean_y) ** 2, weights=w))
    if sd_x < 1e-9 or sd_y < 1e-9:
        return math.nan, np.zeros_like(x)
    zx, zy = (x - mean_x) / sd_x, (y - mean_y) / sd_y
    r = float(np.average(zx * zy, weights=w))
    return r, w * (zx * zy - r * (zx**2 + zy**2) / 2) / w.sum()


def _ranked(x: Floats, y: Floats, w: Floats) -> tuple[float, Floats]:
    """Weighted rho and its influence values: r of the mid-ranks, which move with each weight."""
    rx, ry = _midranks(x, w), _midranks(y, w)
    n = w.sum()
    a, b = rx - n / 2, ry - n / 2
    dx, dy = float(w @ (a * a)), float(w @ (b * b))
    if dx < 1e-9 or dy < 1e-9:
        return math.nan, np.zeros_like(x)
    rho = float(w @ (a * b)) / math.sqrt(dx * dy)
    # d a_j / d w_i = (1 if x_i < x_j, 1/2 if equal) - 1/2 = sign(x_j - x_i) / 2
    sx = np.sign(x[None, :] - x[:, None]) / 2
    sy = np.sign(y[None, :] - y[:, None]) / 2
    top = a * b + sx @ (w * b) + sy @ (w * a)
    bottom_x, bottom_y = a * a + 2 * sx @ (w * a), b * b + 2 * sy @ (w * b)
    slope = top / math.sqrt(dx * dy) - rho / 2 * (bottom_x / dx + bottom_y / dy)
    return rho, w * slope


def twin(
    fit: Callable[[Floats, Floats, Floats], tuple[float, Floats]],
    x: Floats,
    y: Floats,
    clusters: NDArray[np.int64],
    w: Floats,
    seed: int,
    resamples: int,
    confidence: float,
) -> tuple[str, float, float]:
    """The default interval: each resample is the rows of its questions, repeated."""
    codes = np.unique(clusters, return_inverse=True)[1]
    g = codes.max() + 1
    theta, _ = fit(x, y, w)
    away = [fit(x[codes != q], y[codes != q], w[codes != q])[0] for q in range(g)]

    def fisher(v: float) -> float:
        return math.atanh(min(max(v, -1 + 1e-9), 1 - 1e-9))

    z = np.array([fisher(v) for v in away if math.isfinite(v)])
    se = math.sqrt((z.size - 1) / z.size * float(((z - z.mean()) ** 2).sum()))
    draws = np.random.default_rng(seed).integers(0, g, size=(resamples, g))
    pivots = []
    for draw in draws:
        rows = np.concatenate([np.flatnonzero(codes == q) for q in draw])
        owner = np.concatenate([np.full((codes == q).sum(), k) for k, q in enumerate(draw)])
        value, influence = fit(x[rows], y[rows], w[rows])
        u = np.bincount(owner, influence, minlength=g)
        spread = math.sqrt(g / (g - 1) * float(((u - u.mean()) ** 2).sum()))
        if not math.isfinite(value) or spread <= 1e-12:
            continue
        clipped = min(abs(value), 1 - 1e-9)
        pivots.append((fisher(value) - fisher(theta)) * (1 - clipped**2) / spread)
    centre = fisher(theta)
    if len(pivots) < 0.9 * resamples:
        m = np.bincount(codes)
        df = g - 1.0
        if m.sum() ** 2 / (m @ m) < 0.8 * g:
            a = m * (1 + 0.2 * (m - 1))
            df = max(a.sum() ** 2 / (a @ a) - 1, 1)
        t = float(stats.t.ppf(0.5 + confidence / 2, df))
        return "jackknife", math.tanh(centre - t * se), math.tanh(centre + t * se)
    ordered = sorted(pivots)

    def quantile(q: float) -> float:
        place = min(max(q * (len(ordered) + 1) - 1, 0), len(ordered) - 1)
        k = int(place)
        after = min(k + 1, len(ordered) - 1)
        return ordered[k] + (place - k) * (ordered[after] - ordered[k])

    tail = (1 - confidence) / 2
    return (
        "bootstrap-t",
        math.tanh(centre - quantile(1 - tail) * se),
        math.tanh(centre - quantile(tail) * se),
    )


@st.composite
def scores(draw: st.DrawFn) -> tuple[Floats, Floats, NDArray[np.int64], Floats | None, int]:
    """Scores of judge and people in [0, 1], on a grid or not, often equal; clusters; weights."""
    seed = draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 60))
    x = rng.beta(2, 1, n)
    differs = rng.random(n) < draw(st.sampled_from([0.1, 0.5, 1.0]))
    y = np.where(differs, np.clip(x + rng.normal(0, 0.3, n), 0, 1), x)
    if draw(st.booleans()):
        x, y = np.round(4 * x) / 4, np.round(4 * y) / 4
    clusters = rng.integers(0, 14, n)
    w = rng.uniform(0.5, 3, n) if draw(st.booleans()) else None
    return x, y, clusters, w, seed


@pytest.mark.parametrize("name", sorted(BOTH))
@given(data=scores(), confidence=st.sampled_from([0.9, 0.95]))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_the_default_is_its_slow_twin(
    name: str,
    data: tuple[Floats, Floats, NDArray[np.int64], Floats | None, int],
    confidence: float,
) -> None:
    x, y, clusters, w, seed = data
    assume(np.unique(clusters).size >= 10)
    weights = np.ones(x.size) if w is None else w / w.mean()
    fit = {"pearson": _moments, "spearman": _ranked}[name]
    how, low, high = twin(fit, x, y, clusters, weights, seed, 199, confidence)
    out = BOTH[name](
        x,
        y,
        clusters=clusters,
        rng=np.random.default_rng(seed),
        resamples=199,
        weights=w,
        confidence=confidence,
    )
    assert out.estimate == pytest.approx(fit(x, y, weights)[0], abs=1e-12)
    assert how in out.method
    assert out.low == pytest.approx(low, abs=1e-10)
    assert out.high == pytest.approx(high, abs=1e-10)


def test_whole_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 5, 40) / 4.0, rng.integers(0, 5, 40) / 4.0
    times = rng.integers(1, 4, 40)
    rows = np.repeat(np.arange(40), times)
    clusters = np.arange(40) // 4
    for name, call in BOTH.items():
        weighted = call(x, y, clusters=clusters, rng=0, resamples=0, weights=times)
        repeated = call(x[rows], y[rows], clusters=clusters[rows], rng=0, resamples=0)
        assert weighted.estimate == pytest.approx(repeated.estimate, abs=1e-12), name
        # the sizes of questions, hence the degrees of freedom, are those of real responses
        assert weighted.details["se"] == pytest.approx(repeated.details["se"], abs=1e-12)


# -- the method that was used is the method that is named ---------------------------------------


def _noisy(questions: int, each: int = 3, seed: int = 1) -> tuple[Floats, Floats, Any]:
    rng = np.random.default_rng(seed)
    n = questions * each
    x = rng.random(n)
    return x, x + rng.normal(0, 0.3, n), np.repeat(np.arange(questions), each)


@pytest.mark.parametrize("name", sorted(BOTH))
def test_without_resampling_it_is_the_jackknife(name: str) -> None:
    x, y, clusters = _noisy(30)
    out = BOTH[name](x, y, clusters=clusters, rng=0, resamples=0)
    assert out.method == "question jackknife t on Fisher z"
    assert "resamples" not in out.details
    away = [
        float(np.asarray(getattr(stats, f"{name}r")(x[clusters != g], y[clusters != g])[0]))
        for g in range(30)
    ]
    z = np.arctanh(away)
    se = math.sqrt(29 / 30 * float(((z - z.mean()) ** 2).sum()))
    t = float(stats.t.ppf(0.975, 29))
    assert out.low == pytest.approx(math.tanh(math.atanh(out.estimate) - t * se), abs=1e-12)


@pytest.mark.parametrize("name", sorted(BOTH))
def test_few_usable_pivots_fall_back_by_name(name: str) -> None:
    rng = np.random.default_rng(4)
    x = np.round(rng.random(60), 1)
    y = x.copy()
    y[7] += 0.5  # one response differs: r = 1 in about 35 % of resamples
    out = BOTH[name](x, y, clusters=np.arange(60) // 3, rng=0, resamples=499)
    assert out.method.startswith("question jackknife t on Fisher z (bootstrap-t given up:")
    assert out.details["usable_pivots"] < 0.9
    assert any("fell back" in said for said in out.warnings)
    plain = BOTH[name](x, y, clusters=np.arange(60) // 3, rng=0, resamples=0)
    assert (out.low, out.high) == (plain.low, plain.high)


def test_the_same_seed_gives_the_same_interval() -> None:
    x, y, clusters = _noisy(25)
    for call in BOTH.values():
        one = call(x, y, clusters=clusters, rng=5, resamples=299)
        two = call(x, y, clusters=clusters, rng=np.random.default_rng(5), resamples=299)
        other = call(x, y, clusters=clusters, rng=6, resamples=299)
        assert (one.low, one.high) == (two.low, two.high)
        assert one.low != other.low
        assert one.details["resamples"] == 299


def test_a_table_too_large_to_leave_each_question_out_is_linearised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, y, clusters = _noisy(200, seed=9)
    exact = spearman(x, y, clusters=clusters, rng=1, resamples=399)
    monkeypatch.setattr(correlation, "_EXACT", 100)
    out = spearman(x, y, clusters=clusters, rng=1, resamples=399)
    assert "linearised SE" in out.method and "jackknife SE" in exact.method
    assert out.low == pytest.approx(exact.low, abs=5e-3)
    assert out.high == pytest.approx(exact.high, abs=5e-3)
    plain = spearman(x, y, clusters=clusters, rng=1, resamples=0)
    assert plain.method == "question linearised t on Fisher z"


# -- ties --------------------------------------------------------------------------------------


def test_scores_that_differ_by_rounding_are_tied() -> None:
    rng = np.random.default_rng(3)
    x = np.round(rng.random(60), 1)
    y = np.round(np.clip(x + rng.normal(0, 0.3, 60), 0, 1), 1)
    noise = 1 + rng.integers(-2, 3, 60) * 1e-16
    clusters = np.arange(60) // 4
    one = spearman(x, y, clusters=clusters, rng=0, resamples=199)
    two = spearman(x * noise, y * noise[::-1], clusters=clusters, rng=0, resamples=199)
    assert one.estimate == pytest.approx(two.estimate, abs=1e-14)
    assert one.low == pytest.approx(two.low, abs=1e-12)
    assert one.details["differing"] == two.details["differing"]


def test_scores_far_from_zero_keep_their_digits() -> None:
    x, y, clusters = _noisy(20)
    for call in BOTH.values():
        near = call(x, y, clusters=clusters, rng=0, resamples=199)
        far = call(1e6 + x, 1e6 + y, clusters=clusters, rng=0, resamples=199)
        assert far.estimate == pytest.approx(near.estimate, abs=1e-6)
        assert far.low == pytest.approx(near.low, abs=1e-6)


# -- degenerate --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(BOTH))
@pytest.mark.parametrize("unit", ["question", "item"])
def test_a_constant_score_is_undefined(name: str, unit: Any) -> None:
    table = GOLDEN["tables"]["const_6"]
    x, y = np.array(table["x"], dtype=float), np.array(table["y"], dtype=float)
    out = BOTH[name](x, y, clusters=np.arange(6), rng=0, unit=unit)
    assert math.isnan(out.estimate) and math.isnan(out.low)
    assert out.reason is not None and "constant" in out.reason
    both = BOTH[name](np.full(40, 0.1), np.full(40, 0.7), clusters=np.arange(40), rng=0, unit=unit)
    assert both.reason == "both scores are constant: a correlation is undefined"


@pytest.mark.parametrize("name", sorted(BOTH))
def test_rounding_does_not_correlate(name: str) -> None:
    rng = np.random.default_rng(0)
    x = 0.3 * (1 + rng.integers(-2, 3, 60) * 2e-16)
    assert np.ptp(x) > 0
    out = BOTH[name](x, rng.random(60), clusters=np.arange(60) // 3, rng=0)
    assert math.isnan(out.estimate)
    assert out.reason == "the first score is constant: a correlation is undefined"


@pytest.mark.parametrize("name", sorted(BOTH))
def test_all_equal_is_one_without_an_interval(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.random(60)
    clusters = np.arange(60) // 3
    out = BOTH[name](x, x, clusters=clusters, rng=0)
    assert out.estimate == pytest.approx(1, abs=1e-12)
    assert math.isnan(out.low) and math.isnan(out.high)
    assert out.reason == "all scores are equal: no interval"
    share = clustered_proportion(np.ones(60), clusters=clusters)
    assert out.details["equal"].low == share.low > 0.8
    assert out.to_dict()["details"]["equal"]["name"] == "equal"


@pytest.mark.parametrize("name", sorted(BOTH))
def test_a_straight_line_has_no_interval(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.random(60)
    for slope in (2.0, -2.0):
        out = BOTH[name](x, 1 + slope * x, clusters=np.arange(60) // 3, rng=0)
        assert out.estimate == pytest.approx(math.copysign(1, slope), abs=1e-12)
        assert math.isnan(out.low)
        assert out.reason is not None and "exactly: no interval" in out.reason


def test_fewer_than_two_responses() -> None:
    for call in BOTH.values():
        none = call([], [], clusters=np.array([], dtype=int), rng=0)
        assert math.isnan(none.estimate) and none.reason == "no items"
        one = call([0.5], [0.5], clusters=np.array([0]), rng=0)
        assert math.isnan(one.estimate)
        assert one.reason == "one response: nothing to correlate"


def test_three_responses_have_no_fisher_interval() -> None:
    for call in BOTH.values():
        out = call([0.1, 0.2, 0.9], [0.3, 0.1, 0.8], clusters=np.arange(3), rng=0, unit="item")
        assert math.isfinite(out.estimate) and math.isnan(out.low)
        assert out.reason == "no interval: 3 responses (at least 4)"


@pytest.mark.parametrize(("questions", "has"), [(9, False), (10, True)])
def test_too_few_questions(questions: int, has: bool) -> None:
    x, y, clusters = _noisy(questions, each=6)
    for call in BOTH.values():
        out = call(x, y, clusters=clusters, rng=0, resamples=199)
        assert math.isfinite(out.low) is has
        if not has:
            assert out.reason == "no interval: too few questions (9; at least 10)"


@pytest.mark.parametrize(("questions", "said"), [(19, True), (20, False)])
def test_under_20_questions_is_unreliable(questions: int, said: bool) -> None:
    x, y, clusters = _noisy(questions)
    for call in BOTH.values():
        out = call(x, y, clusters=clusters, rng=0, resamples=199)
        assert any("below 20 questions" in warning for warning in out.warnings) is said


@pytest.mark.parametrize(("differing", "said"), [(9, True), (10, False)])
def test_few_differing_responses_are_counted(differing: int, said: bool) -> None:
    rng = np.random.default_rng(1)
    x = rng.random(90)
    y = x.copy()
    y[:differing] = rng.random(differing)
    for name, call in BOTH.items():
        out = call(x, y, clusters=np.arange(90) // 3, rng=0, resamples=0)
        assert out.details["differing"] == differing
        word = "r" if name == "pearson" else "rho"
        assert (f"{word} rests on 9 differing responses (fewer than 10)" in out.warnings) is said


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        ([0.1, math.nan], [0.1, 0.2], "row 2: a score is missing"),
        ([0.1, 0.2], [math.inf, 0.2], "row 1: a score is missing"),
        ([0.1, 0.2], [0.1], "shapes"),
        ([[0.1, 0.2]], [[0.1, 0.2]], "shapes"),
    ],
)
def test_what_are_no_scores_is_refused(x: Any, y: Any, says: str) -> None:
    for call in BOTH.values():
        with pytest.raises(InputError, match=says):
            call(x, y, clusters=np.arange(2), rng=0)


def test_too_few_resamples_are_refused() -> None:
    x, y, clusters = _noisy(20)
    for wrong in (-1, 1, 198):
        with pytest.raises(SettingsError, match="199 or more, or 0"):
            pearson(x, y, clusters=clusters, rng=0, resamples=wrong)


def test_what_hangs_on_one_question_has_no_interval() -> None:
    # the first score varies in question 0 only: left out, nothing is left to correlate, and the
    # other 19 leave-one-out values are nearly equal, whatever the truth is
    rng = np.random.default_rng(5)
    x, y = np.ones(60), np.where(rng.random(60) < 0.3, 0.5, 1.0)
    x[:3], y[:3] = [0.0, 0.2, 1.0], [0.0, 0.4, 1.0]
    for call in BOTH.values():
        for resamples in (0, 399):
            out = call(x, y, clusters=np.arange(60) // 3, rng=0, resamples=resamples)
            assert math.isfinite(out.estimate) and math.isnan(out.low) and math.isnan(out.high)
            assert out.reason == "no interval: without one question a score is constant"
    x[3:6] = [0.1, 1.0, 0.3]
    for call in BOTH.values():
        out = call(x, y, clusters=np.arange(60) // 3, rng=0, resamples=0)
        assert out.reason is None and out.high - out.low > 0.5
