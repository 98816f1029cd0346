"""Weighted kappa, AC2, Brennan-Prediger, Fleiss, Conger and MCC: golden values, traps, twins.

Golden values (tests/golden/kappa.json): R vcd, psych, irr, DescTools and irrCAC, statsmodels,
irrCAC for Python; every case names the programs and calls that agree on it.
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
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from accord.scoring.errors import InputError, SettingsError
from accord.validate import (
    Estimate,
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    mcc,
    pearson,
    raw_agreement,
    weighted_kappa,
)
from accord.validate.weighted import Weighting, pair_disagreement

KAPPA = json.loads((Path(__file__).parent / "golden" / "kappa.json").read_text())
WEIGHTINGS: tuple[Weighting, ...] = ("identity", "linear", "quadratic")
SEVERAL: dict[str, Callable[..., Estimate]] = {
    "gwet_ac1": gwet_ac2,
    "gwet_ac2": gwet_ac2,
    "fleiss": fleiss_kappa,
    "conger": conger_kappa,
    "brennan_prediger": brennan_prediger,
}
NAMES = ("gwet_ac2", "fleiss", "conger", "brennan_prediger")
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def _coded(values: Floats) -> tuple[Codes, Floats]:
    seen = np.unique(values[~np.isnan(values)])
    codes = np.searchsorted(seen, np.nan_to_num(values))
    return np.where(np.isnan(values), -1, codes).astype(np.int64), seen


def _ratings(case: dict[str, Any], request: pytest.FixtureRequest) -> tuple[Codes, Floats]:
    given_ = case["inputs"]
    if "table" in given_:
        raters = KAPPA["tables"][given_["table"]]["raters"].values()
        columns = [[math.nan if v is None else v for v in column] for column in raters]
        return _coded(np.array(columns, dtype=float).T)
    shared: Path = request.getfixturevalue("shared_data")
    with (shared / "synthetic" / Path(given_["file"]).name).open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    columns = [[float(row[name] or "nan") for row in rows] for name in given_["columns"]]
    return _coded(np.array(columns).T)


def _cases(start: str, end: str = "") -> list[Any]:
    return [
        pytest.param(
            c, id=c["id"], marks=[] if "table" in c["inputs"] else [pytest.mark.shared_data]
        )
        for c in KAPPA["cases"]
        if c["id"].startswith(start) and c["id"].endswith(end)
    ]


def _weighting(case: dict[str, Any]) -> Weighting:
    given_ = case["inputs"].get("weights", "unweighted")
    return "identity" if given_ == "unweighted" else given_


# -- golden values -----------------------------------------------------------------------------


@pytest.mark.parametrize("case", _cases("cohen/"))
def test_weighted_kappa_on_textbook_tables(case: dict[str, Any]) -> None:
    counts = KAPPA["tables"][case["inputs"]["table"]]["counts"]
    cells = [(i, j) for i, row in enumerate(counts) for j, c in enumerate(row) for _ in range(c)]
    x = np.array(cells)
    out = weighted_kappa(
        x[:, 0],
        x[:, 1],
        weighting=_weighting(case),
        n_categories=len(counts),
        clusters=np.arange(len(x)),
    )
    assert out.estimate == pytest.approx(case["expected"]["estimate"], abs=case["tolerance"])
    # Fleiss, Cohen and Everitt's variance divides by n, the sandwich's by n - 1
    n = len(x)
    assert out.details["se"] * math.sqrt((n - 1) / n) == pytest.approx(
        case["expected"]["se"], abs=case["tolerance"]
    )


@pytest.mark.shared_data
@pytest.mark.parametrize("case", _cases("cohen_d300/"))
def test_weighted_kappa_on_d300(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    x, seen = _ratings(case, request)
    out = weighted_kappa(
        x[:, 0],
        x[:, 1],
        weighting=_weighting(case),
        values=seen,
        n_categories=len(seen),
        clusters=np.arange(len(x)),
    )
    expected = case["expected"]
    assert out.n == expected["n"] and out.dropped == {"a rating is missing": len(x) - out.n}
    assert out.estimate == pytest.approx(expected["estimate"], abs=case["tolerance"])
    assert out.details["se"] * math.sqrt((out.n - 1) / out.n) == pytest.approx(
        expected["se"], abs=case["tolerance"]
    )


@pytest.mark.parametrize(
    "case",
    [c for c in _cases("cac/") if "krippendorff" not in str(c.id)],
)
def test_several_raters(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    x, seen = _ratings(case, request)
    call = SEVERAL[case["inputs"]["coefficient"]]
    out = call(
        x,
        weighting=_weighting(case),
        values=seen,
        n_categories=len(seen),
        clusters=np.arange(len(x)),
    )
    expected = case["expected"]
    assert out.estimate == pytest.approx(expected["estimate"], abs=case["tolerance"])
    if (x >= 0).all():
        # with nothing missing Gwet's variance is the sandwich's, each item its own cluster
        assert out.details["se"] == pytest.approx(expected["se"], abs=case["tolerance"])


@pytest.mark.parametrize("case", _cases("complete/"))
def test_complete_rows_only(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    x, seen = _ratings(case, request)
    # the categories are those that the complete rows show (the programs declare none)
    x, seen = _coded(seen[x[(x >= 0).all(axis=1)]])
    call = SEVERAL[case["id"].rsplit("/", 1)[1]]
    out = call(x, n_categories=len(seen), clusters=np.arange(len(x)))
    assert out.n == case["expected"]["n"]
    assert out.estimate == pytest.approx(case["expected"]["estimate"], abs=case["tolerance"])


def test_fleiss_on_the_textbook_counts() -> None:
    case = next(c for c in KAPPA["cases"] if c["id"] == "fleiss/fleiss_counts")
    counts = KAPPA["tables"]["fleiss_counts"]["counts"]
    x = np.array([[k for k, c in enumerate(row) for _ in range(c)] for row in counts])
    out = fleiss_kappa(x, n_categories=5, clusters=np.arange(10))
    assert out.estimate == pytest.approx(case["expected"]["estimate"], abs=case["tolerance"])
    assert out.details["se"] == pytest.approx(case["expected"]["se"], abs=case["tolerance"])


def test_two_labels_brennan_prediger_is_pabak() -> None:
    for name in ("cohen_binary", "cohen_paradox"):
        case = next(c for c in KAPPA["cases"] if c["id"] == f"cohen_extra/{name}")
        (a, b), (c, d) = KAPPA["tables"][name]["counts"]
        x = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [a, b, c, d], axis=0)
        out = brennan_prediger(x, n_categories=2, clusters=np.arange(len(x)))
        assert out.estimate == pytest.approx(case["expected"]["pabak"], abs=case["tolerance"])


def test_mcc_by_hand() -> None:
    # 20, 5 / 10, 15: (20 * 15 - 5 * 10) / sqrt(25 * 25 * 30 * 20) = 250 / sqrt(375000)
    x = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [20, 5, 10, 15], axis=0)
    out = mcc(x[:, 0], x[:, 1], n_categories=2, clusters=np.arange(50))
    assert out.estimate == pytest.approx(250 / math.sqrt(375000), abs=1e-14)
    r = pearson(x[:, 0], x[:, 1], clusters=np.arange(50), rng=0, resamples=0)
    assert out.estimate == pytest.approx(r.estimate, abs=1e-14)
    assert out.details["se"] == pytest.approx(r.details["se"], abs=1e-12)
    # three categories (Gorodkin): diagonal 3, 2, 1 and one item at (0, 1), n = 7, c = 6; the
    # raters' counts 4, 2, 1 and 3, 3, 1: (6 * 7 - 19) / sqrt((49 - 21) (49 - 19))
    x = np.repeat([[0, 0], [1, 1], [2, 2], [0, 1]], [3, 2, 1, 1], axis=0)
    out = mcc(x[:, 0], x[:, 1], n_categories=3, clusters=np.arange(7))
    assert out.estimate == pytest.approx((42 - 19) / math.sqrt(28 * 30), abs=1e-14)


# -- relations between them --------------------------------------------------------------------


def _like(one: Estimate, two: Estimate) -> None:
    for field in ("estimate", "low", "high", "design_effect"):
        assert getattr(one, field) == pytest.approx(getattr(two, field), abs=1e-12, nan_ok=True)


def _draw(seed: int, raters: int, missing: float) -> tuple[Codes, Codes, Floats]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 70))
    truth = rng.choice(4, n, p=rng.dirichlet(np.ones(4)))
    noise = rng.choice([0.05, 0.3, 1.0])
    x = np.where(rng.random((n, raters)) < noise, rng.integers(0, 4, (n, raters)), truth[:, None])
    x = np.where(rng.random((n, raters)) < missing, -1, x)
    clusters = np.concatenate([np.arange(12), rng.integers(0, 16, n - 12)])
    return x.astype(np.int64), clusters, rng.uniform(0.5, 3, n)


@given(seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_identity_weights_give_the_unweighted_coefficient(seed: int) -> None:
    x, clusters, w = _draw(seed, 2, 0.1)
    kw: dict[str, Any] = {"n_categories": 4, "clusters": clusters, "weights": w}
    _like(
        weighted_kappa(x[:, 0], x[:, 1], weighting="identity", **kw),
        cohen_kappa(x[:, 0], x[:, 1], **kw),
    )
    _like(gwet_ac2(x, weighting="identity", **kw), gwet_ac1(x, **kw))


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@given(seed=st.integers(0, 2**31))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_conger_of_two_raters_is_cohen(weighting: Weighting, seed: int) -> None:
    x, clusters, w = _draw(seed, 2, 0.0)
    kw: dict[str, Any] = {"n_categories": 4, "clusters": clusters, "weights": w}
    one = conger_kappa(x, weighting=weighting, **kw)
    two = weighted_kappa(x[:, 0], x[:, 1], weighting=weighting, **kw)
    if two.reason is None:
        _like(one, two)


def test_near_misses_count_in_part() -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 5, 200)
    near = np.clip(a + rng.integers(-1, 2, 200), 0, 4)
    kw: dict[str, Any] = {"n_categories": 5, "clusters": np.arange(200) // 4}
    by = [weighted_kappa(a, near, weighting=w, **kw).estimate for w in WEIGHTINGS]
    assert by[0] < by[1] - 0.1 and by[1] < by[2] - 0.1


def test_values_and_not_codes_carry_the_distance() -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(0, 3, (90, 3))
    kw: dict[str, Any] = {"n_categories": 3, "clusters": np.arange(90) // 3}
    steps = fleiss_kappa(x, weighting="quadratic", values=[0, 0.5, 1], **kw)
    _like(steps, fleiss_kappa(x, weighting="quadratic", **kw))
    _like(steps, fleiss_kappa(x, weighting="quadratic", values=[10, 5, 0], **kw))
    other = fleiss_kappa(x, weighting="quadratic", values=[0, 0.1, 1], **kw)
    assert abs(other.estimate - steps.estimate) > 1e-3
    # with every item rated by all, alpha corrects Fleiss for the size of the sample only
    alpha = krippendorff_alpha(x, level="interval", values=[0, 0.1, 1], **kw)
    assert 1 - alpha.estimate == pytest.approx((1 - other.estimate) * 269 / 270, abs=1e-12)


# -- traps -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_one_category_is_undefined_except_where_chance_does_not_see_it(
    weighting: Weighting,
) -> None:
    x = np.ones((30, 3), dtype=int)
    kw: dict[str, Any] = {"n_categories": 2, "clusters": np.arange(30) // 2}
    for call in (fleiss_kappa, conger_kappa):
        out = call(x, weighting=weighting, **kw)
        assert math.isnan(out.estimate) and out.reason == (
            "one category only: expected agreement is 1"
        )
        assert out.details["agreement"].estimate == 1
    pair = weighted_kappa(x[:, 0], x[:, 1], weighting=weighting, **kw)
    assert math.isnan(pair.estimate) and pair.reason is not None
    for call in (gwet_ac2, brennan_prediger):
        out = call(x, weighting=weighting, **kw)
        assert (out.estimate, out.low, out.high) == (1.0, -1.0, 1.0)
        assert any("no disagreement was seen" in line for line in out.warnings)
        alone = call(
            np.zeros((30, 3), dtype=int),
            weighting=weighting,
            n_categories=1,
            clusters=np.arange(30),
        )
        assert math.isnan(alone.estimate)
        assert alone.reason == "one category is declared: nothing to agree on"
    label = mcc(x[:, 0], np.arange(30) % 2, **kw)
    assert math.isnan(label.estimate) and "one category only" in str(label.reason)


def test_raters_constant_but_different() -> None:
    # golden/kappa.json, recommended for constant_but_different
    x = np.tile([0, 1], (8, 1))
    kw: dict[str, Any] = {"n_categories": 2, "clusters": np.arange(8)}
    assert fleiss_kappa(x, **kw).estimate == pytest.approx(-1)
    assert conger_kappa(x, **kw).estimate == 0
    assert brennan_prediger(x, **kw).estimate == pytest.approx(-1)
    assert gwet_ac2(x, weighting="linear", **kw).estimate == pytest.approx(-1)


def test_a_constant_rater_has_no_interval() -> None:
    b = np.arange(60) % 3
    out = weighted_kappa(
        np.zeros(60, dtype=int),
        b,
        weighting="quadratic",
        n_categories=3,
        clusters=np.arange(60) // 3,
    )
    assert out.estimate == 0 and math.isnan(out.low)
    assert "a rater gives one category only" in str(out.reason)


@pytest.mark.parametrize("name", NAMES)
def test_missing_is_never_a_category(name: str) -> None:
    rng = np.random.default_rng(7)
    x = rng.integers(0, 3, (60, 4))
    x[rng.random(x.shape) < 0.3] = -1
    x[5] = -1
    kw: dict[str, Any] = {"weighting": "linear", "n_categories": 3}
    one = SEVERAL[name](x, clusters=np.arange(60) // 3, **kw)
    assert one.dropped == {"no rating": int((x < 0).all(axis=1).sum())} and one.n < 60
    # a rater who rated nothing at all changes nothing
    empty = np.column_stack([x, np.full(60, -1)])
    _like(one, SEVERAL[name](empty, clusters=np.arange(60) // 3, **kw))
    with pytest.raises(InputError, match="integer codes"):
        SEVERAL[name](x.astype(float), clusters=np.arange(60), **kw)
    none = SEVERAL[name](np.where(np.eye(60, 4) > 0, 1, -1), clusters=np.arange(60), **kw)
    assert math.isnan(none.estimate) and none.reason == "no item has two ratings"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"weighting": "cubic"}, SettingsError, "weighting 'cubic'"),
        ({"values": [0, 1]}, InputError, "values have shape"),
        ({"values": [0, 1, 1]}, InputError, "distinct"),
        ({"values": [0, 1, math.nan]}, InputError, "distinct"),
    ],
)
def test_bad_weights_of_agreement(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    kw: dict[str, Any] = {"weighting": "linear", "n_categories": 3, "clusters": np.arange(4)}
    kw.update(change)
    for call in SEVERAL.values():
        with pytest.raises(error, match=message):
            call(np.zeros((4, 2), dtype=int), **kw)
    with pytest.raises(error, match=message):
        weighted_kappa(np.zeros(4, dtype=int), np.zeros(4, dtype=int), **kw)


def test_disagreement_of_pairs() -> None:
    np.testing.assert_array_equal(
        pair_disagreement("linear", 3), [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]]
    )
    assert pair_disagreement("quadratic", 3)[0].tolist() == [0, 0.25, 1]
    assert pair_disagreement("quadratic", 1).tolist() == [[0.0]]
    with pytest.raises(InputError, match="distinct values"):
        pair_disagreement("linear", 10_000)


# -- the slow twin: agreement weights, loops, a refit without each question --------------------


class Twin:
    """The definitions as they are printed, with agreement weights, from loops over ratings."""

    def __init__(
        self, name: str, weighting: str, x: Codes, clusters: Codes, w: Floats, values: Floats
    ) -> None:
        rated = [i for i in range(len(x)) if max(x[i]) >= 0]
        if name in ("weighted_kappa", "mcc"):
            rated = [i for i in rated if min(x[i]) >= 0]
        self.x, self.clusters, self.w = x[rated], clusters[rated], w[rated] / w[rated].mean()
        self.name, self.k = name, len(values)
        span = max(values) - min(values)
        self.agree = np.eye(self.k)
        for i in range(self.k):
            for j in range(self.k):
                far = abs(values[i] - values[j]) / span
                if weighting != "identity":
                    self.agree[i, j] = 1 - (far if weighting == "linear" else far**2)

    def sums(self, without: int | None) -> dict[str, Any]:
        k, r = self.k, self.x.shape[1]
        s: dict[str, Any] = {"pa": 0.0, "two": 0.0, "one": 0.0}
        s.update(share=np.zeros(k), own=np.zeros((r, k)), table=np.zeros((k, k)))
        for row, w, g in zip(self.x, self.w, self.clusters, strict=True):
            if g == without:
                continue
            has = [int(c) for c in row if c >= 0]
            s["one"] += w
            for c in has:
                s["share"][c] += w / len(has)
            for j, c in enumerate(row):
                if c >= 0:
                    s["own"][j, c] += w
            if len(has) >= 2:
                s["two"] += w
                n = len(has)
                pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
                s["pa"] += w * sum(self.agree[has[a], has[b]] for a, b in pairs) / len(pairs)
            if r == 2 and len(has) == 2:
                s["table"][has[0], has[1]] += w
        return s

    def coefficient(self, s: dict[str, Any]) -> float:
        k, agree = self.k, self.agree
        if self.name in ("weighted_kappa", "mcc"):
            p = s["table"] / s["table"].sum()
            row, col = p.sum(axis=1), p.sum(axis=0)
            if self.name == "mcc":
                top = np.trace(p) - row @ col
                bottom = (1 - row @ row) * (1 - col @ col)
                return float(top / math.sqrt(bottom)) if bottom > 1e-12 else math.nan
            pa, pe = float((agree * p).sum()), float((agree * np.outer(row, col)).sum())
        else:
            if s["two"] < 1e-12:
                return math.nan
            pa, share, total = s["pa"] / s["two"], s["share"] / s["one"], agree.sum()
            if self.name == "fleiss":
                pe = sum(agree[i, j] * share[i] * share[j] for i in range(k) for j in range(k))
            elif self.name == "gwet_ac2":
                pe = total * sum(p * (1 - p) for p in share) / (k * (k - 1))
            elif self.name == "brennan_prediger":
                pe = total / k**2
            else:
                own = [row / row.sum() for row in s["own"] if row.sum() > 1e-9]
                g = len(own)
                if g < 2:
                    return math.nan
                mean = np.mean(own, axis=0)
                pe = 0.0
                for i in range(k):
                    for j in range(k):
                        cov = sum(p[i] * p[j] for p in own) - g * mean[i] * mean[j]
                        pe += agree[i, j] * (mean[i] * mean[j] - cov / (g - 1) / g)
        return (pa - pe) / (1 - pe) if 1 - pe > 1e-12 else math.nan

    def added(self, s: dict[str, Any]) -> dict[str, Any]:
        k, r = self.k, self.x.shape[1]
        out: dict[str, Any] = {}
        out.update({"two": 1.0, "one": 1.0, "table": np.zeros((k, k))})
        share = s["share"] / s["one"] / 2 + 1 / (2 * k)
        out["share"], out["own"] = share, np.zeros((r, k))
        cells = [(i, j) for i in range(k) for j in range(k) if i != j]
        mass = sum(share[i] * share[j] for i, j in cells)
        out["pa"] = sum(share[i] * share[j] * self.agree[i, j] for i, j in cells) / mass
        people = [j for j in range(r) if s["own"][j].sum() > 0]
        if self.name in ("weighted_kappa", "mcc"):
            row, col = s["table"].sum(axis=1), s["table"].sum(axis=0)
            for i, j in cells:
                out["table"][i, j] = (row[i] + 0.5) * (col[j] + 0.5)
            out["table"] /= out["table"].sum()
        if self.name == "conger":
            out["pa"] = 0.0
            pairs = [(g, h) for g in people for h in people if g != h]
            for g, h in pairs:
                m = np.zeros((k, k))
                for i, j in cells:
                    m[i, j] = (s["own"][g, i] + 0.5) * (s["own"][h, j] + 0.5)
                m /= m.sum()
                out["pa"] += float((m * self.agree).sum()) / len(pairs)
                out["own"][g] += m.sum(axis=1) / (len(people) - 1)
        return out

    def interval(self, confidence: float) -> tuple[float, float, float]:
        whole = self.sums(None)
        theta, extra = self.coefficient(whole), self.added(whole)
        groups = sorted(set(self.clusters.tolist()))
        tables = [self.sums(g) for g in groups]
        values = [self.coefficient({n: t[n] + extra[n] for n in t}) for t in tables] + [theta]
        z = [math.atanh(min(max(v, -1 + 1e-9), 1 - 1e-9)) for v in values if math.isfinite(v)]
        mean = sum(z) / len(z)
        se = math.sqrt((len(z) - 1) / len(z) * sum((v - mean) ** 2 for v in z))
        both = self.coefficient({n: whole[n] + extra[n] for n in whole})
        t = float(stats.t.ppf(0.5 + confidence / 2, self.df(groups)))
        centre = math.atanh(min(max(both, -1 + 1e-9), 1 - 1e-9))
        low, high = math.tanh(centre - t * se), math.tanh(centre + t * se)
        return theta, min(low, theta), max(high, theta)

    def df(self, groups: list[int]) -> float:
        m = [int((self.clusters == g).sum()) for g in groups]
        if sum(m) ** 2 / sum(v * v for v in m) >= 0.8 * len(m):
            return len(m) - 1
        a = [v * (1 + 0.2 * (v - 1)) for v in m]
        return max(sum(a) ** 2 / sum(v * v for v in a) - 1, 1)


@pytest.mark.parametrize("name", [*NAMES, "weighted_kappa", "mcc"])
@pytest.mark.parametrize("weighting", WEIGHTINGS)
@given(
    seed=st.integers(0, 2**31),
    raters=st.integers(2, 4),
    missing=st.sampled_from([0.0, 0.2, 0.5]),
    confidence=st.sampled_from([0.9, 0.95]),
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_the_slow_twin_agrees(
    name: str, weighting: Weighting, seed: int, raters: int, missing: float, confidence: float
) -> None:
    pair = name in ("weighted_kappa", "mcc")
    x, clusters, w = _draw(seed, 2 if pair else raters, missing)
    values = np.random.default_rng(seed).permutation([0.0, 0.3, 1.0, 2.5])
    kw: dict[str, Any] = {"n_categories": 4, "clusters": clusters, "weights": w}
    kw["confidence"] = confidence
    if name == "mcc":
        out = mcc(x[:, 0], x[:, 1], **kw)
    elif pair:
        out = weighted_kappa(x[:, 0], x[:, 1], weighting=weighting, values=values, **kw)
    else:
        out = SEVERAL[name](x, weighting=weighting, values=values, **kw)
    if out.n == 0:
        return
    twin = Twin(name, weighting, x, clusters, w, values)
    theta, low, high = twin.interval(confidence)
    assert out.estimate == pytest.approx(theta, abs=1e-10, nan_ok=True)
    if out.reason is None and out.details["disagreements"]:
        assert out.low == pytest.approx(low, abs=1e-10)
        assert out.high == pytest.approx(high, abs=1e-10)
    raw = raw_agreement(x, n_categories=4, clusters=clusters, weights=w)
    assert not raw.estimate > 1
