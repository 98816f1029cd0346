"""Intervals by name, for every coefficient: each against the data written out and fitted again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from accord.scoring.errors import SettingsError
from accord.validate import (
    Estimate,
    bias,
    brennan_prediger,
    ccc,
    clustered_proportion,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    icc,
    kendall_tau_b,
    krippendorff_alpha,
    limits_of_agreement,
    mad,
    mcc,
    methods,
    pearson,
    raw_agreement,
    rmse,
    spearman,
    weighted_kappa,
)
from accord.validate.chance import Level
from accord.validate.clusters import Clusters
from accord.validate.resampling import GROUPS, Draws, Form

Floats = NDArray[np.float64]
K = 4
VALUES = np.array([0.0, 1.0, 2.5, 7.0])


@dataclass(frozen=True)
class Data:
    """Three raters' codes (-1 missing), two scores, questions, weights."""

    x: Any
    s: Any
    clusters: Any
    w: Any

    def rows(self, at: Any, clusters: Any = None) -> Data:
        kept = self.clusters[at] if clusters is None else clusters
        return Data(self.x[at], self.s[at], kept, None if self.w is None else self.w[at])


def draw(seed: int, questions: int = 14, weighted: bool = True, ties: bool = False) -> Data:
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(questions), rng.integers(2, 7, questions))
    n = clusters.size
    truth = rng.integers(0, K, n)
    x = np.where(rng.random((n, 3)) < 0.75, truth[:, None], rng.integers(0, K, (n, 3)))
    x[rng.random((n, 3)) < 0.1] = -1
    x[:, 0] = np.where(x[:, 0] < 0, truth, x[:, 0])
    s = rng.random(n)
    t = np.clip(s + rng.normal(0.02, 0.15, n), 0, 1)
    if ties:
        s, t = np.round(s * 4) / 4, np.round(t * 4) / 4
    w = rng.uniform(0.5, 3, n) if weighted else None
    return Data(x.astype(np.int64), np.column_stack([s, t]), clusters, w)


Call = Callable[..., Estimate]


def _ratings(f: Call, **fixed: Any) -> Call:
    def call(d: Data, **kw: Any) -> Estimate:
        return f(d.x, n_categories=K, clusters=d.clusters, weights=d.w, **fixed, **kw)

    return call


def _pair(f: Call, **fixed: Any) -> Call:
    def call(d: Data, **kw: Any) -> Estimate:
        one, two = d.x[:, 0], d.x[:, 1]
        return f(one, two, n_categories=K, clusters=d.clusters, weights=d.w, **fixed, **kw)

    return call


def _scores(f: Call, drawing: bool = False) -> Call:
    def call(d: Data, **kw: Any) -> Estimate:
        more = {"rng": 0, "resamples": 0} if drawing and "rng" not in kw else {}
        return f(d.s[:, 0], d.s[:, 1], clusters=d.clusters, weights=d.w, **more, **kw)

    return call


def _icc(form: Any) -> Call:
    def call(d: Data, **kw: Any) -> Estimate:
        more = {} if "rng" in kw else {"rng": 0, "resamples": 0}
        return icc(d.s, form=form, clusters=d.clusters, weights=d.w, **more, **kw)

    return call


def _limit(side: int) -> Call:
    def call(d: Data, **kw: Any) -> Estimate:
        pair = limits_of_agreement(d.s[:, 0], d.s[:, 1], clusters=d.clusters, weights=d.w, **kw)
        return pair[side]

    return call


LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
CHANCE: dict[str, Call] = {
    **{f"alpha_{lv}": _ratings(krippendorff_alpha, level=lv, values=VALUES) for lv in LEVELS},
    "ac1": _ratings(gwet_ac1),
    "ac2": _ratings(gwet_ac2, weighting="linear", values=VALUES),
    "brennan": _ratings(brennan_prediger, weighting="quadratic"),
    "fleiss": _ratings(fleiss_kappa),
    "conger": _ratings(conger_kappa),
    "kappa": _pair(cohen_kappa),
    "kappa_quadratic": _pair(weighted_kappa, weighting="quadratic", values=VALUES),
    "mcc": _pair(mcc),
}
CORRELATION: dict[str, Call] = {
    "pearson": _scores(pearson, True),
    "spearman": _scores(spearman, True),
    "ccc": _scores(ccc, True),
    "icc_a": _icc("agreement"),
    "icc_c": _icc("consistency"),
    "tau": _scores(kendall_tau_b),
}
DISTANCE: dict[str, Call] = {"mad": _scores(mad), "rmse": _scores(rmse), "bias": _scores(bias)}
LIMITS: dict[str, Call] = {"lower": _limit(0), "upper": _limit(1)}
ALL = {**CHANCE, **CORRELATION, **DISTANCE, **LIMITS}
DRAWING = ("percentile", "bca", "bootstrap-t")


def scale(name: str) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """The scale on which the figure's interval is symmetrical."""
    if name in CHANCE or name in CORRELATION:
        return math.atanh, math.tanh
    if name in ("mad", "rmse"):
        return math.log, math.exp
    return lambda v: v, lambda v: v


COUNTED = ("alpha_interval", "alpha_nominal", "alpha_ordinal", "alpha_ratio", "icc_a", *LIMITS)
"""They have n - 1 in them, n the sum of weights of mean 1; without a question the mean is not 1."""


def without(d: Data, name: str, gone: Any) -> float:
    # the estimate is that of any unit; by items it costs no resampling
    left = d.rows(~np.isin(d.clusters, gone))
    return float(ALL[name](left, unit="item").estimate)


def repeated(d: Data, row: Floats) -> Data:
    """The data with each question as often as drawn, each copy a question of its own."""
    codes = np.unique(d.clusters, return_inverse=True)[1]
    copies = np.repeat(np.arange(row.size), row.astype(int))
    at = np.concatenate([np.flatnonzero(codes == q) for q in copies])
    owner = np.concatenate([np.full((codes == q).sum(), k) for k, q in enumerate(copies)])
    return d.rows(at, owner)


@pytest.fixture
def form_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Data], tuple[Form, float, float]]:
    """A figure as what intervals are made of, and how its estimate is made of its own."""

    def get(name: str, d: Data) -> tuple[Form, float, float]:
        seen: list[Form] = []
        made = methods.named_limits

        def spy(form: Form, *args: Any, **kw: Any) -> methods.Limits:
            seen.append(form)
            return made(form, *args, **kw)

        with monkeypatch.context() as patch:
            patch.setattr(methods, "named_limits", spy)
            out = ALL[name](d, method="jackknife", rng=0)
        if name in LIMITS:  # told in units of the range of differences, from the first of them
            differences = d.s[:, 0] - d.s[:, 1]
            # both limits are made at each call, the lower one first
            form = seen[sorted(LIMITS).index(name)]
            return form, float(np.ptp(differences)), float(differences[0])
        return seen[0], out.estimate / seen[0].value(), 0.0

    return get


# -- one resampling ----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 7, 250, 301])
def test_draws_are_those_of_the_seed(count: int) -> None:
    whole = np.vstack(list(Draws(3, 211).blocks(count)))
    first = np.random.default_rng(3).integers(0, count, size=(211, count))
    plain = np.array([np.bincount(row, minlength=count) for row in first])
    np.testing.assert_array_equal(whole, plain)
    for draws in (
        Draws(3, 211),
        Draws(3, 211, memory=0),
        Draws(np.random.default_rng(3), 211),
        Draws(np.random.default_rng(3), 211, memory=0),
    ):
        for width in (0, 5, 100_000):
            np.testing.assert_array_equal(np.vstack(list(draws.blocks(count, width))), whole)
        s = np.random.default_rng(1).random((count, 3))
        np.testing.assert_allclose(draws.product(s), whole @ s, rtol=1e-13)


def test_counts_are_kept_in_a_byte_and_under_the_cap() -> None:
    draws = Draws(0, 300, memory=300 * 50)
    # what does not fit beside the others takes their place, the oldest first
    for count, kept in ((30, 30), (40, 40), (20, 20), (30, 50), (60, 50)):
        next(draws.blocks(count))
        assert draws.kept == 300 * kept


def test_a_question_drawn_too_often_for_a_byte_is_counted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from accord.validate import resampling

    def heavy(rng: np.random.Generator, rows: int, count: int) -> Any:
        out = np.zeros((rows, count), dtype=np.int64)
        out[:, 0] = count
        return out

    monkeypatch.setattr(resampling, "drawn_counts", heavy)
    draws = Draws(0, 20)
    assert np.all(draws.product(np.ones((300, 1))) == 300)
    assert draws.kept == 0


@pytest.mark.parametrize("name", sorted(ALL))
def test_draws_or_their_seed_give_the_same(name: str) -> None:
    d = draw(1)
    shared = Draws(5, 199)
    for method in (*DRAWING, "grouped-jackknife", "default"):
        by_seed = ALL[name](d, method=method, rng=5, resamples=199)
        by_generator = ALL[name](d, method=method, rng=np.random.default_rng(5), resamples=199)
        for out in (ALL[name](d, method=method, rng=shared), by_generator):
            assert (out.low, out.high) == (by_seed.low, by_seed.high)
            assert out.method == by_seed.method


def test_a_generator_is_moved_on() -> None:
    d, rng = draw(2), np.random.default_rng(0)
    kw: Any = {"method": "percentile", "rng": rng, "resamples": 199}
    first, second = CHANCE["kappa"](d, **kw), CHANCE["kappa"](d, **kw)
    assert first.low != second.low


# -- values of resamples and without a question ------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", sorted(ALL))
def test_a_resample_is_a_refit_on_the_repeated_questions(
    name: str, weighted: bool, form_of: Callable[[str, Data], tuple[Form, float, float]]
) -> None:
    for ties in (False, True):
        d = draw(3, weighted=weighted and name not in COUNTED, ties=ties)
        form, factor, shift = form_of(name, d)
        counts = next(Draws(2, 6).blocks(form.groups.count))
        plain = form.values(counts)
        values, errors = form.resampled(counts)
        np.testing.assert_allclose(values, plain, atol=1e-12)
        for b, row in enumerate(counts):
            again = ALL[name](repeated(d, row))
            assert again.clusters == form.groups.count
            assert plain[b] * factor + shift == pytest.approx(again.estimate, abs=1e-12)
            assert errors[b] * abs(factor) == pytest.approx(again.details["se"], abs=1e-10)


@pytest.mark.parametrize("name", sorted(ALL))
def test_without_each_question_it_is_fitted_again(
    name: str, form_of: Callable[[str, Data], tuple[Form, float, float]]
) -> None:
    for ties in (False, True):
        d = draw(4, ties=ties, weighted=name not in COUNTED)
        form, factor, shift = form_of(name, d)
        away = form.leave_one_out()
        assert away is not None
        again = [without(d, name, g) for g in np.unique(d.clusters)]
        np.testing.assert_allclose(away * factor + shift, again, rtol=0, atol=1e-12)
        pull = form.influence() * factor
        # to first order the question's influence is what it is missed by
        assert np.corrcoef(pull, np.mean(again) - np.array(again))[0, 1] > 0.95


@pytest.mark.parametrize("name", sorted(ALL))
def test_the_same_with_weights_times_a_constant(name: str) -> None:
    d = draw(5)
    more = Data(d.x, d.s, d.clusters, d.w * 7.3)
    for method in methods.METHODS:
        one, two = (ALL[name](v, method=method, rng=1, resamples=199) for v in (d, more))
        for key in ("estimate", "low", "high"):
            assert getattr(two, key) == pytest.approx(getattr(one, key), abs=1e-10), method


# -- limits ------------------------------------------------------------------------------------


def order_statistic(ordered: list[float], q: float) -> float:
    place = min(max(q * (len(ordered) + 1) - 1, 0), len(ordered) - 1)
    k = int(place)
    after = min(k + 1, len(ordered) - 1)
    return ordered[k] + (place - k) * (ordered[after] - ordered[k])


@pytest.mark.parametrize(
    "name", ["kappa", "alpha_ordinal", "ac1", "pearson", "spearman", "tau", "mad", "bias", "upper"]
)
def test_limits_by_name_from_refits(name: str) -> None:
    """Percentile, BCa, jackknife and bootstrap-t from nothing but the data fitted again."""
    confidence, resamples = 0.9, 199
    d = draw(6, questions=11, weighted=name not in COUNTED)
    forward, back = scale(name)
    theta = ALL[name](d).estimate
    away = np.array([without(d, name, g) for g in np.unique(d.clusters)])
    g = away.size
    on_scale = np.array([forward(v) for v in away])
    se = math.sqrt((g - 1) / g * float(((on_scale - on_scale.mean()) ** 2).sum()))
    counts = np.vstack(list(Draws(9, resamples).blocks(g)))
    again = [ALL[name](repeated(d, row)) for row in counts]
    values = sorted(one.estimate for one in again)
    expected = {
        "percentile": (order_statistic(values, 0.05), order_statistic(values, 0.95)),
    }
    pull = away.mean() - away
    a = float((pull**3).sum()) / (6 * float((pull**2).sum()) ** 1.5)
    z0 = stats.norm.ppf(sum(v < theta for v in values) / resamples)
    levels = []
    for z in (float(stats.norm.ppf(q)) for q in (0.05, 0.95)):
        levels.append(float(stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))))
    expected["bca"] = (order_statistic(values, levels[0]), order_statistic(values, levels[1]))
    out = ALL[name](d, method="jackknife", confidence=confidence)
    t = float(stats.t.ppf(0.95, out.details["df"]))
    expected["jackknife"] = (back(forward(theta) - t * se), back(forward(theta) + t * se))
    slope = 1e-6
    pivots = []
    for one in again:
        h = (forward(one.estimate + slope) - forward(one.estimate - slope)) / (2 * slope)
        pivots.append((forward(one.estimate) - forward(theta)) / (one.details["se"] * h))
    pivots.sort()
    near, far = order_statistic(pivots, 0.05), order_statistic(pivots, 0.95)
    expected["bootstrap-t"] = (back(forward(theta) - far * se), back(forward(theta) - near * se))
    for method, (low, high) in expected.items():
        out = ALL[name](d, method=method, confidence=confidence, rng=9, resamples=resamples)
        near_enough = 1e-6 if method == "bootstrap-t" else 1e-10  # the slope above is numerical
        assert out.reason is None
        assert out.low == pytest.approx(low, abs=near_enough), method
        assert out.high == pytest.approx(high, abs=near_enough), method
        words = {"bca": "BCa"}.get(method, method)
        assert words in out.method and out.method.startswith("question")
        if method in DRAWING:
            assert f"{resamples} resamples" in out.method
            assert out.details["resamples"] == resamples


@pytest.mark.parametrize("name", ["kappa", "alpha_ordinal", "pearson", "spearman", "tau", "mad"])
def test_delete_a_group(name: str) -> None:
    d = draw(7, questions=GROUPS + 23, weighted=name not in COUNTED)
    forward, back = scale(name)
    fold = np.random.default_rng(4).permutation(GROUPS + 23) % GROUPS
    away = np.array([forward(without(d, name, np.flatnonzero(fold == k))) for k in range(GROUPS)])
    se = math.sqrt((GROUPS - 1) / GROUPS * float(((away - away.mean()) ** 2).sum()))
    out = ALL[name](d, method="grouped-jackknife", rng=4)
    reach = float(stats.t.ppf(0.975, GROUPS - 1)) * se
    assert out.low == pytest.approx(back(forward(out.estimate) - reach), abs=1e-10)
    assert out.high == pytest.approx(back(forward(out.estimate) + reach), abs=1e-10)
    assert f"{GROUPS} random groups of questions" in out.method
    assert (out.details["groups"], out.details["df"]) == (GROUPS, GROUPS - 1)


@pytest.mark.parametrize("name", sorted(ALL))
def test_with_few_questions_each_is_a_group(name: str) -> None:
    d = draw(8, questions=20)
    one = ALL[name](d, method="grouped-jackknife", rng=0)
    two = ALL[name](d, method="jackknife")
    # the same standard error; only the degrees of freedom may differ where sizes do
    forward, _ = scale(name)
    t1, t2 = (stats.t.ppf(0.975, v.details["df"]) for v in (one, two))
    width1, width2 = (forward(v.high) - forward(v.low) for v in (one, two))
    assert width1 / t1 == pytest.approx(width2 / t2, rel=1e-9)
    assert "each question a group" in one.method


@pytest.mark.parametrize("name", sorted(ALL))
def test_items_by_name_are_questions_of_one_item(name: str) -> None:
    d = draw(9, weighted=False)
    each = Data(d.x, d.s, np.arange(len(d.x)), None)
    for method in ("percentile", "bca", "bootstrap-t", "jackknife", "grouped-jackknife"):
        kw: Any = {"method": method, "rng": 3, "resamples": 199}
        item, alone = ALL[name](d, unit="item", **kw), ALL[name](each, **kw)
        assert (item.low, item.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
        assert "independent" in item.method and "question" not in item.method


# -- BCa against its definition ----------------------------------------------------------------


def test_bca_without_bias_or_skewness_is_the_percentile() -> None:
    values: Any = np.linspace(-1, 1, 1999)
    pull = np.array([-1.0, 0.0, 1.0])
    assert methods.bca_limits(0.0, values, pull, 0.95) == pytest.approx(
        methods.percentile_limits(values, 0.95), abs=1e-12
    )
    low, _ = methods.bca_limits(0.0, values, np.array([-1.0, -1.0, 2.0]), 0.95)
    assert low > methods.percentile_limits(values, 0.95)[0]  # skewed to the right: both move up


def test_bca_agrees_with_scipy_on_its_own_draws() -> None:
    """The mean of 30 items, each its own question: scipy's interval from 20,000 resamples."""
    rng = np.random.default_rng(0)
    x = rng.exponential(size=40)
    scipy_s = stats.bootstrap((x,), np.mean, n_resamples=20_000, method="BCa", rng=rng)
    low, high = scipy_s.confidence_interval
    out = bias(x, np.zeros(40), clusters=np.arange(40), method="bca", rng=0, resamples=20_000)
    assert (out.low, out.high) == pytest.approx((low, high), abs=0.02)


# -- what can't be had -------------------------------------------------------------------------


def test_unknown_methods_and_idle_ones_are_refused() -> None:
    d = draw(1)
    for name in ALL:
        with pytest.raises(SettingsError, match="one of default, percentile"):
            ALL[name](d, method="wald")
        with pytest.raises(SettingsError, match="one of default"):
            ALL[name](d, method="korn-graubard")
        for method in DRAWING:
            with pytest.raises(SettingsError, match="199 or more, or a jackknife"):
                ALL[name](d, method=method, rng=0, resamples=0)
            with pytest.raises(SettingsError, match="199 or more"):
                ALL[name](d, method=method, rng=Draws(0, 50))
    for name in (*CHANCE, "tau", *DISTANCE):
        for method in (*DRAWING, "grouped-jackknife"):
            with pytest.raises(SettingsError, match="give rng"):
                ALL[name](d, method=method)
    y, clusters = np.ones(20), np.arange(20)
    for other in ("jackknife", "bootstrap-t", "grouped-jackknife"):
        wrong: Any = other
        with pytest.raises(SettingsError, match="korn-graubard, percentile, bca"):
            clustered_proportion(y, clusters=clusters, method=wrong, rng=0)
        with pytest.raises(SettingsError, match="korn-graubard, percentile, bca"):
            raw_agreement(d.x, n_categories=K, clusters=d.clusters, method=wrong, rng=0)


def test_few_questions_have_no_interval_by_any_name() -> None:
    d = draw(1, questions=5)
    for name in ALL:
        for method in methods.METHODS:
            out = ALL[name](d, method=method, rng=0, resamples=199)
            if name == "bias" and method == "default":
                continue
            assert math.isnan(out.low) and "too few questions" in str(out.reason), (name, method)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_few_disagreements_are_a_warning(method: Any) -> None:
    x = np.tile(np.arange(60) % 2, (2, 1)).T.copy()
    x[[3, 17, 40], 0] ^= 1
    clusters = np.arange(60) // 2
    out = cohen_kappa(
        x[:, 0], x[:, 1], n_categories=2, clusters=clusters, method=method, rng=0, resamples=199
    )
    assert any("37 to 93 %" in said for said in out.warnings)
    far = mad(x[:, 0], x[:, 1], clusters=clusters, method=method, rng=0, resamples=199)
    assert any("37 to 93 %" in said for said in far.warnings)
    share = raw_agreement(x, n_categories=2, clusters=clusters, method=method, rng=0, resamples=199)
    assert any("37 to 93 %" in said for said in share.warnings)
    d = draw(1, questions=40)
    many = CHANCE["kappa"](d, method=method, rng=0, resamples=199)
    assert not any("37 to 93 %" in said for said in many.warnings)
    r = CORRELATION["pearson"](d, method=method, rng=0, resamples=199)
    assert any("below 100 questions" in said for said in r.warnings)


def test_nobody_disagrees() -> None:
    x = np.tile(np.arange(60) % 2, (2, 1)).T
    for method in methods.METHODS[1:]:
        out = gwet_ac1(
            x, n_categories=2, clusters=np.arange(60) // 2, method=method, rng=0, resamples=199
        )
        assert out.estimate == 1 and math.isnan(out.low)
        assert "nobody disagrees" in str(out.reason)
        assert isinstance(out.details["agreement"], Estimate)


def test_resamples_that_are_undefined_are_counted() -> None:
    """A label that few questions have is missing from many resamples."""
    rng = np.random.default_rng(1)
    x = np.zeros((60, 2), dtype=np.int64)
    x[[0, 1, 30], 0] = 1
    x[[0, 1, 31], 1] = 1
    clusters = np.arange(60) // 3
    kw: Any = {"n_categories": 2, "clusters": clusters, "rng": rng, "resamples": 499}
    out = cohen_kappa(x[:, 0], x[:, 1], method="percentile", **kw)
    # neither of the two questions with label 1 is drawn: (1 - 2/20)^20 = 0.12 of the resamples
    assert math.isnan(out.low) and "of the resamples only" in str(out.reason)
    assert out.details["undefined_resamples"] > 25
    fallen = cohen_kappa(x[:, 0], x[:, 1], method="bootstrap-t", **kw)
    assert "bootstrap-t given up" in fallen.method and "jackknife t" in fallen.method


def test_what_hangs_on_one_question_has_no_jackknife() -> None:
    x = np.zeros((40, 2), dtype=np.int64)
    x[[0, 1], 0] = 1
    x[[0], 1] = 1
    out = cohen_kappa(
        x[:, 0], x[:, 1], n_categories=2, clusters=np.arange(40) // 2, method="jackknife"
    )
    assert math.isnan(out.low) and "without one question" in str(out.reason)


def test_close_to_one_the_standard_errors_of_resamples_keep_their_digits() -> None:
    """1 - r of 1e-8: the influences are that small, the sums they are made of are not."""
    from accord.validate.correlation import _Moments

    rng = np.random.default_rng(2)
    x: Any = rng.random(80)
    y = x + np.where(rng.random(80) < 0.3, rng.normal(0, 1e-4, 80), 0.0)
    groups = Clusters.of(np.arange(80) // 4, 80)
    counts = next(Draws(rng, 20).blocks(groups.count))
    form = _Moments(x, y, np.ones(80), groups)
    _, errors = form.resampled(counts)
    for b, row in enumerate(counts):
        rows = np.concatenate(
            [
                np.flatnonzero(groups.codes == q)
                for q in np.repeat(np.arange(row.size), row.astype(int))
            ]
        )
        owner = np.repeat(np.arange(groups.count), 4)
        dx, v = x[rows] - x[rows].mean(), y[rows] - x[rows]
        dv = v - v.mean()
        sx, sy = dx.std(), (dx + dv).std()
        zx, zy = dx / sx, (dx + dv) / sy
        # z_y - z_x without cancellation: r = 1 - mean((z_y - z_x)^2) / 2
        apart = dv / sy + dx * ((sx * sx - sy * sy) / (sx * sy * (sx + sy)))
        away = (apart * apart).mean() / 2
        influence = (-apart * apart + away * (zx * zx + zy * zy)) / 2 / rows.size
        u = np.bincount(owner, influence)
        se = math.sqrt(groups.count / (groups.count - 1) * float(((u - u.mean()) ** 2).sum()))
        assert errors[b] == pytest.approx(se, rel=1e-6)
