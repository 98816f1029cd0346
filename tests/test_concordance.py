"""Kendall's tau-b, Lin's CCC, ICC, RMSE, limits of agreement, McNemar: golden values and twins.

Golden values: tests/golden/correlation.json (R stats, psych, DescTools, pcaPP; scipy, pingouin),
scores.json (R epiR, DescTools, irr, psych; pingouin; Bland-Altman by formula only), cluster.json
(R survey; closed form) and tests.json (R stats, exact2x2; statsmodels, scipy); every case names the
programs and calls that agree on it.
"""

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
from accord.validate import (
    Estimate,
    ccc,
    icc,
    kendall_tau_b,
    limits_of_agreement,
    mad,
    mcnemar,
    pearson,
    rmse,
)
from accord.validate.clusters import Clusters, jackknife_se
from accord.validate.rank_correlation import _Signs
from accord.validate.resampling import Draws

HERE = Path(__file__).parent / "golden"
GOLDEN = {
    name: json.loads((HERE / f"{name}.json").read_text())
    for name in ("correlation", "scores", "cluster", "tests")
}
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def _cases(topic: str, *ends: str) -> list[Any]:
    return [
        pytest.param(
            c, id=c["id"], marks=[pytest.mark.shared_data] if "file" in c["inputs"] else []
        )
        for c in GOLDEN[topic]["cases"]
        if c["id"].endswith(ends)
    ]


def _rows(case: dict[str, Any], request: pytest.FixtureRequest) -> list[dict[str, str]]:
    shared: Path = request.getfixturevalue("shared_data")
    with (shared / "synthetic" / Path(case["inputs"]["file"]).name).open() as lines:
        return list(csv.DictReader(lines))


def _column(rows: list[dict[str, str]], name: str) -> Floats:
    if not name.startswith("mean of"):
        return np.array([float(row[name] or "nan") for row in rows])
    three = [[float(row[a]) for a in ("ann1", "ann2", "ann3") if row[a]] for row in rows]
    return np.array([float(np.mean(cell)) if cell else math.nan for cell in three])


def _scores(topic: str, case: dict[str, Any], request: pytest.FixtureRequest) -> Floats:
    """Scores ``(n, raters)`` of a case, responses that lack one left out."""
    given_ = case["inputs"]
    if "table" in given_:
        table = GOLDEN[topic]["tables"][given_["table"]]
        if "rows" in table:
            return np.array(table["rows"], dtype=float)
        return np.array([table["x"], table["y"]], dtype=float).T
    rows = _rows(case, request)
    names = given_["columns"] if "columns" in given_ else [given_["x"], given_["y"]]
    v = np.column_stack([_column(rows, name) for name in names])
    return v[~np.isnan(v).any(axis=1)]


# -- golden values -----------------------------------------------------------------------------


@pytest.mark.parametrize("case", _cases("correlation", "/kendall_tau_b"))
def test_tau_b(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    v = _scores("correlation", case, request)
    out = kendall_tau_b(v[:, 0], v[:, 1], clusters=np.arange(len(v)))
    assert out.n == case["expected"]["n"]
    assert out.estimate == pytest.approx(case["expected"]["estimate"], abs=case["tolerance"])
    n, q = len(v), _Signs(v[:, 0], v[:, 1], np.ones(len(v)), Clusters.each_item(len(v))).total
    assert q[0] / 2 == pytest.approx(case["expected"]["s"], abs=1e-6)
    assert (n * (n - 1) - q[1]) / 2 == pytest.approx(case["expected"]["x_ties"], abs=1e-6)
    assert (n * (n - 1) - q[2]) / 2 == pytest.approx(case["expected"]["y_ties"], abs=1e-6)


@pytest.mark.parametrize("case", _cases("scores", "/ccc"))
def test_ccc_and_lins_interval(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    v = _scores("scores", case, request)
    out = ccc(v[:, 0], v[:, 1], clusters=np.arange(len(v)), rng=0, unit="item")
    expected, near = case["expected"], case["tolerance"]
    assert out.estimate == pytest.approx(expected["estimate"], abs=near)
    assert (out.low, out.high) == pytest.approx((expected["low"], expected["high"]), abs=near)
    assert out.details["bias_correction"] == pytest.approx(expected["bias_correction"], abs=near)
    assert "independent, normal" in out.method


@pytest.mark.parametrize("case", _cases("scores", "/icc_a1", "/icc_c1"))
def test_icc_and_the_f_interval(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    v = _scores("scores", case, request)
    form: Any = "agreement" if case["id"].endswith("a1") else "consistency"
    out = icc(v, form=form, clusters=np.arange(len(v)), rng=0, unit="item")
    expected, near = case["expected"], case["tolerance"]
    assert out.estimate == pytest.approx(expected["estimate"], abs=near)
    assert (out.low, out.high) == pytest.approx((expected["low"], expected["high"]), abs=near)


@pytest.mark.parametrize("case", _cases("scores", "/bland_altman"))
def test_limits_of_agreement(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    v = _scores("scores", case, request)
    pair = limits_of_agreement(v[:, 0], v[:, 1], clusters=np.arange(len(v)), unit="item")
    expected = case["expected"]
    for side, out in zip(("lower", "upper"), pair, strict=True):
        assert out.name == f"limit_of_agreement_{side}"
        assert out.estimate == pytest.approx(expected[side], abs=case["tolerance"])
        assert out.low == pytest.approx(expected[f"{side}_low"], abs=case["tolerance"])
        assert out.high == pytest.approx(expected[f"{side}_high"], abs=case["tolerance"])
        assert out.details["sd"] == pytest.approx(expected["sd"], abs=case["tolerance"])


@pytest.mark.parametrize("case", _cases("scores", "/errors"))
def test_rmse(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    v = _scores("scores", case, request)
    out = rmse(v[:, 0], v[:, 1], clusters=np.arange(len(v)))
    assert out.estimate == pytest.approx(case["expected"]["rmse"], abs=case["tolerance"])


@pytest.mark.parametrize("case", _cases("cluster", "0/rmse", "3/rmse", "0/ccc", "3/ccc"))
def test_linearised_by_question(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    rows = [row for row in _rows(case, request) if row["ann1"]]
    a, s = _column(rows, "ann1"), _column(rows, "judge_score")
    _, clusters = np.unique([row["question_id"] for row in rows], return_inverse=True)
    if case["id"].endswith("rmse"):
        out = rmse(s, a, clusters=clusters)
    else:
        out = ccc(a, s, clusters=clusters, rng=0, resamples=0)
    assert out.estimate == pytest.approx(case["expected"]["estimate"], abs=case["tolerance"])
    assert out.details["se"] == pytest.approx(case["expected"]["se"], abs=case["tolerance"])


@pytest.mark.parametrize("case", _cases("cluster", "jackknife/kendall_tau_b"))
def test_tau_b_without_each_question(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    rows = [row for row in _rows(case, request) if row["ann1"]]
    a, s = _column(rows, "ann1"), _column(rows, "judge_score")
    _, clusters = np.unique([row["question_id"] for row in rows], return_inverse=True)
    form = _Signs(a, s, np.ones(a.size), Clusters.of(clusters, a.size))
    assert form.value() == pytest.approx(case["expected"]["estimate"], abs=case["tolerance"])
    assert jackknife_se(form.leave_one_out()) == pytest.approx(
        case["expected"]["se"], abs=case["tolerance"]
    )


@pytest.mark.parametrize(
    "case", [c for c in _cases("tests", "/exact") if str(c.id).startswith("mcnemar")]
)
def test_mcnemar(case: dict[str, Any]) -> None:
    b, c = case["inputs"]["b"], case["inputs"]["c"]
    out = mcnemar(b, c)
    assert out.details["p"] == pytest.approx(case["expected"]["p"], abs=case["tolerance"])
    if b + c == 0:
        assert math.isnan(out.estimate) and "no discordant item" in str(out.reason)
        return
    assert out.estimate == b / (b + c) and out.n == b + c
    # the interval and the test say the same
    assert (out.low > 0.5 or out.high < 0.5) == (out.details["p"] < 0.05)
    back = mcnemar(c, b)
    assert back.details["p"] == out.details["p"]
    assert back.low == pytest.approx(1 - out.high, abs=1e-12)


@given(b=st.integers(0, 40), c=st.integers(0, 40), confidence=st.sampled_from([0.9, 0.95, 0.99]))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_mcnemar_is_its_slow_twin(b: int, c: int, confidence: float) -> None:
    n = b + c
    tail = sum(math.comb(n, k) for k in range(min(b, c) + 1)) / 2**n
    out = mcnemar(b, c, confidence=confidence)
    assert out.details["p"] == pytest.approx(min(1.0, 2 * tail), abs=1e-12)
    if n:
        assert (out.low > 0.5 or out.high < 0.5) == (out.details["p"] < 1 - confidence)


@pytest.mark.parametrize("bad", [-1, 0.5, math.nan, math.inf])
def test_mcnemar_takes_counts_only(bad: Any) -> None:
    with pytest.raises(InputError, match="is not a number of items"):
        mcnemar(bad, 3)
    assert mcnemar(0, 0).details["p"] == 1


# -- slow twins: the definitions by loops, a refit without each question -----------------------


def tau_twin(v: Floats, w: Floats) -> float:
    q = np.zeros(3)
    for i in range(len(v)):
        for j in range(i):
            a, b = np.sign(v[i, 0] - v[j, 0]), np.sign(v[i, 1] - v[j, 1])
            q += w[i] * w[j] * np.array([a * b, abs(a), abs(b)])
    return float(q[0] / math.sqrt(q[1] * q[2])) if q[1] > 1e-12 and q[2] > 1e-12 else math.nan


def ccc_twin(v: Floats, w: Floats) -> float:
    mx, my = (np.average(v[:, j], weights=w) for j in (0, 1))
    cov = np.average((v[:, 0] - mx) * (v[:, 1] - my), weights=w)
    apart = np.average((v[:, 0] - v[:, 1]) ** 2, weights=w)
    # 1 - E(x - y)^2 / (E(x - y)^2 under independence), the definition Lin starts from
    bottom = apart + 2 * cov
    return float(1 - apart / bottom) if bottom > 1e-12 else math.nan


def icc_twin(form: str) -> Callable[[Floats, Floats], float]:
    def fit(v: Floats, w: Floats) -> float:
        n, r = w.sum(), v.shape[1]
        grand = float(np.average(v.mean(axis=1), weights=w))
        row = v.mean(axis=1)
        col = [float(np.average(v[:, j], weights=w)) for j in range(r)]
        msr = r * sum(w[i] * (row[i] - grand) ** 2 for i in range(len(v))) / (n - 1)
        msc = n * sum((c - grand) ** 2 for c in col) / (r - 1)
        mse = sum(
            w[i] * (v[i, j] - row[i] - col[j] + grand) ** 2 for i in range(len(v)) for j in range(r)
        ) / ((n - 1) * (r - 1))
        bottom = msr + (r - 1) * mse
        if form == "agreement":
            bottom += r / n * (msc - mse)
        return float((msr - mse) / bottom) if bottom > 1e-12 else math.nan

    return fit


def rmse_twin(v: Floats, w: Floats) -> float:
    return math.sqrt(float(np.average((v[:, 0] - v[:, 1]) ** 2, weights=w)))


def limit_twin(sign: int) -> Callable[[Floats, Floats], float]:
    def fit(v: Floats, w: Floats) -> float:
        d = v[:, 0] - v[:, 1]
        mean = float(np.average(d, weights=w))
        sd = math.sqrt(float(w @ (d - mean) ** 2) / (w.sum() - 1))
        return float(mean + sign * float(stats.norm.ppf(0.975)) * sd)

    return fit


def _fisher(v: float) -> float:
    return math.atanh(min(max(v, -1 + 1e-9), 1 - 1e-9))


def _df(m: Codes) -> float:
    if m.sum() ** 2 / (m @ m) >= 0.8 * m.size:
        return m.size - 1.0
    a = m * (1 + 0.2 * (m - 1))
    return max(float(a.sum() ** 2 / (a @ a)) - 1, 1.0)


FIGURES: dict[str, tuple[Callable[..., Estimate], Callable[[Floats, Floats], float], str]] = {
    "tau": (lambda v, **kw: kendall_tau_b(v[:, 0], v[:, 1], **kw), tau_twin, "z"),
    "ccc": (lambda v, **kw: ccc(v[:, 0], v[:, 1], rng=0, resamples=0, **kw), ccc_twin, "z"),
    "rmse": (lambda v, **kw: rmse(v[:, 0], v[:, 1], **kw), rmse_twin, "log"),
    "lower": (
        lambda v, **kw: limits_of_agreement(v[:, 0], v[:, 1], **kw)[0],
        limit_twin(-1),
        "plain",
    ),
    "upper": (
        lambda v, **kw: limits_of_agreement(v[:, 0], v[:, 1], **kw)[1],
        limit_twin(1),
        "plain",
    ),
    "icc_a": (
        lambda v, **kw: icc(v, form="agreement", rng=0, resamples=0, **kw),
        icc_twin("agreement"),
        "z",
    ),
    "icc_c": (
        lambda v, **kw: icc(v, form="consistency", rng=0, resamples=0, **kw),
        icc_twin("consistency"),
        "z",
    ),
}
SCALES: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "z": (_fisher, math.tanh),
    "log": (math.log, math.exp),
    "plain": (float, float),
}


def _draw(seed: int, raters: int) -> tuple[Floats, Codes, Floats]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(35, 50))
    v = rng.beta(2, 1, n)[:, None] + rng.normal(0, rng.choice([0.05, 0.4]), (n, raters))
    v = np.clip(v + rng.choice([0.0, 0.1]) * np.arange(raters), 0, 1)
    if rng.random() < 0.5:
        v = np.round(4 * v) / 4
    clusters = np.concatenate([np.arange(12), rng.integers(0, 14, n - 12)])
    return v, clusters, rng.uniform(0.5, 3, n)


@pytest.mark.parametrize("name", sorted(FIGURES))
@given(
    seed=st.integers(0, 2**31), raters=st.integers(2, 4), confidence=st.sampled_from([0.9, 0.95])
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_the_slow_twin_agrees(name: str, seed: int, raters: int, confidence: float) -> None:
    v, clusters, w = _draw(seed, raters if name.startswith("icc") else 2)
    call, fit, scale = FIGURES[name]
    forward, back = SCALES[scale]
    out = call(v, clusters=clusters, weights=w, confidence=confidence)
    assume(out.reason is None)
    w = w / w.mean()
    theta = fit(v, w)
    assert out.estimate == pytest.approx(theta, abs=1e-12)
    groups = np.unique(clusters)
    away = np.array([forward(fit(v[clusters != g], w[clusters != g])) for g in groups])
    se = math.sqrt((groups.size - 1) / groups.size * float(((away - away.mean()) ** 2).sum()))
    t = float(stats.t.ppf(0.5 + confidence / 2, _df(np.bincount(clusters)[groups])))
    assert out.low == pytest.approx(back(forward(theta) - t * se), abs=1e-10)
    assert out.high == pytest.approx(back(forward(theta) + t * se), abs=1e-10)


@pytest.mark.parametrize("name", ["ccc", "icc_a", "icc_c"])
def test_a_resample_is_a_refit_on_the_repeated_questions(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pivots' values and standard errors, against the data written out."""
    from accord.validate import concordance

    seen: list[Any] = []

    def caught(*args: Any, **kw: Any) -> Estimate:
        seen.append(args[3](np.ones(len(args[2])), Clusters.of(kw["clusters"], len(args[2]))))
        return Estimate("none", math.nan)

    monkeypatch.setattr(concordance, "association", caught)
    v, clusters, _ = _draw(5, 2)
    call, fit, _ = FIGURES[name]
    call(v, clusters=clusters)
    counts = next(Draws(1, 5).blocks(np.unique(clusters).size))
    values, errors = seen[0].resampled(counts)
    codes = np.unique(clusters, return_inverse=True)[1]
    for b, row in enumerate(counts):
        draw = np.repeat(np.arange(row.size), row.astype(int))
        rows = np.concatenate([np.flatnonzero(codes == q) for q in draw])
        owner = np.concatenate([np.full((codes == q).sum(), k) for k, q in enumerate(draw)])
        assert values[b] == pytest.approx(fit(v[rows], np.ones(rows.size)), abs=1e-12)
        call(v[rows], clusters=owner)
        assert errors[b] == pytest.approx(seen[-1].linearised()[0], abs=1e-12)


@pytest.mark.parametrize("name", ["ccc", "icc"])
def test_the_default_is_the_bootstrap_t(name: str) -> None:
    v, clusters, _ = _draw(8, 2)
    v = v + np.random.default_rng(0).normal(0, 0.1, v.shape)
    kw: dict[str, Any] = {"clusters": clusters, "resamples": 399}

    def run(seed: int) -> Estimate:
        if name == "ccc":
            return ccc(v[:, 0], v[:, 1], rng=seed, **kw)
        return icc(v, form="agreement", rng=seed, **kw)

    out = run(1)
    assert out.method == "question bootstrap-t on Fisher z, jackknife SE, 399 resamples"
    assert out.low < out.estimate < out.high
    assert (out.low, out.high) == (run(1).low, run(1).high) and out.low != run(2).low


# -- traps -------------------------------------------------------------------------------------


def test_a_generous_judge_correlates_and_does_not_agree() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(60)
    y = x + 0.3
    kw: dict[str, Any] = {"clusters": np.arange(60) // 3, "rng": 0, "resamples": 0}
    assert pearson(x, y, **kw).estimate == pytest.approx(1)
    assert ccc(x, y, **kw).estimate < 0.8
    v = np.column_stack([x, y])
    assert icc(v, form="consistency", **kw).estimate == pytest.approx(1)
    assert icc(v, form="agreement", **kw).estimate < 0.8
    lower, upper = limits_of_agreement(y, x, clusters=kw["clusters"])
    assert lower.estimate == pytest.approx(0.3) and upper.estimate == pytest.approx(0.3)
    assert lower.reason == "all differences are the same: no variation"
    assert rmse(y, x, clusters=kw["clusters"]).estimate == pytest.approx(0.3)


def test_constant_equal_and_single_scores() -> None:
    one, rising = np.ones(30), np.arange(30.0)
    kw: dict[str, Any] = {"clusters": np.arange(30)}
    for out in (
        kendall_tau_b(one, rising, **kw),
        ccc(one, rising, rng=0, **kw),
        icc(np.column_stack([one, rising]), form="agreement", rng=0, **kw),
    ):
        assert math.isnan(out.estimate)
        assert out.reason == "the first score is constant: a correlation is undefined"
    same = icc(np.column_stack([one, one, one]), form="agreement", rng=0, **kw)
    assert same.reason == "all scores are constant: a correlation is undefined"
    for out in (
        kendall_tau_b(rising, rising, **kw),
        ccc(rising, rising, rng=0, **kw),
        icc(np.column_stack([rising] * 3), form="consistency", rng=0, **kw),
    ):
        assert out.estimate == 1 and math.isnan(out.low)
        assert out.reason == "all scores are equal: no interval"
        assert out.details["equal"].estimate == 1
    zero = rmse(rising, rising, **kw)
    assert zero.estimate == 0 and "all scores are equal" in str(zero.reason)
    assert limits_of_agreement([1.0], [0.0], clusters=[0])[0].reason == ("one response: no spread")
    few = kendall_tau_b([0.1, 0.3, 0.2, 0.9], [0.2, 0.1, 0.4, 0.8], clusters=np.arange(4))
    assert few.reason == "no interval: too few questions (4; at least 10)"


def test_agreement_below_minus_one_is_not_hidden() -> None:
    # y = -x: MSR = 0, MSC = 0: -MSE / (MSE - 2 MSE / n) = -1 / (1 - 2 / n)
    x = np.array([-2.0, -1, 1, 2])
    out = icc(np.column_stack([x, -x]), form="agreement", rng=0, clusters=np.arange(4))
    assert (
        out.estimate == pytest.approx(-2) and out.reason == "icc_agreement is below -1: no interval"
    )


def test_tau_b_of_rounded_scores_and_many_responses() -> None:
    x = np.array([0.1 + 0.2, 0.3, 0.5, 0.7, 0.9])
    y = np.array([1.0, 2, 3, 4, 5])
    # 0.1 + 0.2 is 0.3: one tie in x among 10 pairs, 9 concordant
    out = kendall_tau_b(x, y, clusters=np.arange(5))
    assert out.estimate == pytest.approx(9 / math.sqrt(9 * 10), abs=1e-14)
    rng = np.random.default_rng(0)
    a = rng.random(20_000)
    b = a + rng.normal(0, 0.3, 20_000)
    out = kendall_tau_b(a, b, clusters=np.arange(20_000) // 4)
    assert out.estimate == pytest.approx(float(stats.kendalltau(a, b)[0]), abs=1e-12)


def test_refusals() -> None:
    v = np.ones((12, 2))
    unknown: Any = "absolute"
    kw: dict[str, Any] = {"clusters": np.arange(12)}
    with pytest.raises(SettingsError, match="form 'absolute'"):
        icc(v, form=unknown, rng=0, **kw)
    with pytest.raises(InputError, match="2 or more raters"):
        icc(v[:, :1], form="agreement", rng=0, **kw)
    v[3, 1] = math.nan
    with pytest.raises(InputError, match="row 4"):
        icc(v, form="agreement", rng=0, **kw)
    with pytest.raises(InputError, match="row 4"):
        kendall_tau_b(v[:, 0], v[:, 1], **kw)
    with pytest.raises(SettingsError, match="coverage 95"):
        limits_of_agreement(v[:, 0], v[:, 0], coverage=95, **kw)


def test_rmse_is_never_below_mad() -> None:
    for seed in range(20):
        v, clusters, w = _draw(seed, 2)
        one, two = (f(v[:, 0], v[:, 1], clusters=clusters, weights=w) for f in (mad, rmse))
        assert two.estimate >= one.estimate
