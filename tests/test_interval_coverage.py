"""Default intervals cover at their nominal level where items lie in questions.

Each design draws studies from a known population and counts how often the interval holds the
truth. The bar is the exact 0.0005 quantile of Bin(R, 0.95), so that a right interval fails once
in 2,000 changes of seed; every design has a negative control, an interval in common use that must
miss the same bar, so that the test is known to bite; and widths are bounded by those of the best
other interval at the design.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit

from accord.validate import (
    Estimate,
    bias,
    clustered_proportion,
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
    mad,
    pearson,
    spearman,
)
from accord.validate.intervals import wilson_limits

Floats = NDArray[np.float64]


class Count:
    """Hits and widths of one interval; studies without one (and a reason) are counted apart."""

    def __init__(self) -> None:
        self.hits = self.tries = self.without = 0
        self.widths: list[float] = []

    def add(self, low: float, high: float, truth: float) -> None:
        if math.isnan(low) or math.isnan(high):
            self.without += 1
            return
        self.tries += 1
        self.hits += low <= truth <= high
        self.widths.append(high - low)

    @property
    def width(self) -> float:
        return float(np.median(self.widths))


def bar(tries: int) -> int:
    """Fewest hits that an interval of 95 % may have."""
    return int(stats.binom.ppf(0.0005, tries, 0.95))


@pytest.mark.parametrize(
    ("tries", "hits"), [(400, 364), (500, 458), (1000, 926), (2000, 1867), (5000, 4698)]
)
def test_the_bar(tries: int, hits: int) -> None:
    assert bar(tries) == hits


def _judge(default: Count, control: Count, width: float, what: str) -> None:
    shown = f"{what}: {default.hits} of {default.tries}, control {control.hits}"
    assert default.without <= 0.05 * default.tries, shown
    assert default.hits >= bar(default.tries), shown
    assert control.hits < bar(control.tries), shown
    assert default.width <= 1.1 * width, f"{what}: width {default.width:.4f}, not {width}"


# -- proportions -------------------------------------------------------------------------------


def _answers(
    rng: np.random.Generator, g: int, p: float, icc: float, uneven: bool
) -> tuple[Floats, NDArray[np.int64]]:
    """Beta-binomial questions of 3 to 10 items, or of log-normal sizes up to 60."""
    if uneven:
        m = np.clip(np.round(np.exp(rng.normal(math.log(8), 0.8, g))), 1, 60).astype(int)
    else:
        m = rng.integers(3, 11, g)
    c = (1 - icc) / icc
    own = rng.beta(p * c, (1 - p) * c, g)
    clusters = np.repeat(np.arange(g), m)
    return (rng.random(clusters.size) < own[clusters]).astype(float), clusters


def _percentile(
    rng: np.random.Generator, sums: Any, f: Callable[[Any], Any], resamples: int = 399
) -> tuple[float, float]:
    """Percentile bootstrap over questions."""
    g = len(sums)
    counts = rng.multinomial(g, np.full(g, 1 / g), size=resamples)
    with np.errstate(all="ignore"):
        values = f(counts @ sums)
    return tuple(np.nanquantile(values, [0.025, 0.975]))


@pytest.mark.parametrize(
    ("g", "p", "icc", "uneven", "control", "width"),
    [
        (40, 0.8, 0.3, False, "Wilson on n", 0.1694),  # measured .951 against .74
        (20, 0.95, 0.1, False, "percentile", 0.1179),  # .977 against .88
        (20, 0.8, 0.3, True, "z", 0.3061),  # .969 against .90: z, no floor
    ],
)
def test_proportion(g: int, p: float, icc: float, uneven: bool, control: str, width: float) -> None:
    default, other = Count(), Count()
    rng = np.random.default_rng([2026, g, int(100 * p)])
    for _ in range(2000):
        y, clusters = _answers(rng, g, p, icc, uneven)
        out = clustered_proportion(y, clusters=clusters)
        default.add(out.low, out.high, p)
        m = np.bincount(clusters)
        if control == "Wilson on n":
            other.add(*wilson_limits(out.estimate, y.size, 1.96), p)
        elif control == "z":
            deff = max(1.0, out.design_effect if math.isfinite(out.design_effect) else 1.0)
            other.add(*wilson_limits(out.estimate, y.size / deff, 1.96), p)
        else:
            sums = np.column_stack([np.bincount(clusters, y), m])
            other.add(*_percentile(rng, sums, lambda t: t[:, 0] / t[:, 1], 199), p)
    _judge(default, other, width, f"proportion, {control}")


# -- kappa, AC1, alpha -------------------------------------------------------------------------

SCENARIOS: dict[str, tuple[tuple[float, float, float], float]] = {
    # shares of the categories, mean error of an annotator
    "skewed": ((0.12, 0.08, 0.80), 0.12),
    "very skewed": ((0.03, 0.04, 0.93), 0.04),
}
AGREEMENT_TRUTH = {
    # population values: _ratings() with 400,000 questions (test_the_populations)
    "skewed": {"kappa": 0.7691, "ac1": 0.9160, "alpha": 0.7943},
    "very skewed": {"kappa": 0.9202, "ac1": 0.9900, "alpha": 0.9294},
}


def _ratings(
    rng: np.random.Generator, g: int, scenario: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Three annotators (10 % missing) and a judge, who errs 1.3 times as often, last.

    Truth varies by question (Dirichlet, ICC 0.2) and so does the rate of errors (Beta, ICC 0.2).
    """
    shares, error = SCENARIOS[scenario]
    p = np.array(shares)
    clusters = np.repeat(np.arange(g), rng.integers(3, 11, g))
    n = clusters.size
    own = rng.dirichlet(4 * p, g)[clusters]
    truth = (rng.random((n, 1)) > np.cumsum(own, axis=1)[:, :-1]).sum(axis=1)
    rate = rng.beta(4 * error, 4 * (1 - error), g)[clusters]
    wrong = rng.random((n, 4)) < rate[:, None] * np.array([1, 1, 1, 1.3])
    guess = (rng.random((n, 4, 1)) > np.cumsum(p)[:-1]).sum(axis=2)
    x = np.where(wrong, guess, truth[:, None])
    x[:, :3][rng.random((n, 3)) < 0.1] = -1
    return x.astype(np.int64), clusters


def _agreement(x: Any, clusters: Any) -> dict[str, Estimate]:
    shared = {"n_categories": 3, "clusters": clusters}
    return {
        "kappa": cohen_kappa(x[:, 0], x[:, 3], **shared),
        "ac1": gwet_ac1(x[:, :3], **shared),
        "alpha": krippendorff_alpha(x[:, :3], level="nominal", **shared),
    }


def _sums(name: str, x: Any, clusters: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Per-question sums and the coefficient, written out for the controls."""
    codes = np.unique(clusters, return_inverse=True)[1]
    count = np.stack([(x[:, :3] == k).sum(axis=1) for k in range(3)], axis=1).astype(float)
    r = count.sum(axis=1)
    if name == "kappa":
        ok = x[:, 0] >= 0
        columns = np.zeros((len(x), 9))
        columns[np.flatnonzero(ok), x[ok, 0] * 3 + x[ok, 3]] = 1

        def f(t: Any) -> Any:
            t = t.reshape(*t.shape[:-1], 3, 3)
            n = t.sum((-1, -2))
            po = np.trace(t, axis1=-2, axis2=-1) / n
            pe = (t.sum(-1) * t.sum(-2)).sum(-1) / n**2
            return (po - pe) / (1 - pe)

    elif name == "ac1":
        two = r >= 2
        same = np.where(two, (count * (count - 1)).sum(axis=1) / np.maximum(r * (r - 1), 1), 0)
        each = count / np.maximum(r, 1)[:, None]
        columns = np.column_stack([same, two, r >= 1, each])

        def f(t: Any) -> Any:
            share = t[..., 3:] / t[..., 2:3]
            pe = (share * (1 - share)).sum(-1) / 2
            return (t[..., 0] / t[..., 1] - pe) / (1 - pe)

    else:
        two = r >= 2
        apart = np.where(two, (r**2 - (count**2).sum(axis=1)) / np.maximum(r - 1, 1), 0)
        columns = np.column_stack([apart, count * two[:, None]])

        def f(t: Any) -> Any:
            m = t[..., 1:]
            n = m.sum(-1)
            return 1 - (n - 1) * t[..., 0] / (n**2 - (m**2).sum(-1))

    sums = np.column_stack([np.bincount(codes, column) for column in columns.T])
    return sums, f


def _plain_jackknife(sums: Floats, f: Callable[[Any], Any]) -> tuple[float, float]:
    """Jackknife t on Fisher's z without the added disagreement."""
    g = len(sums)
    with np.errstate(all="ignore"):
        theta = float(f(sums.sum(axis=0)))
        away = np.asarray(f(sums.sum(axis=0) - sums))
    z = np.arctanh(np.clip(away[np.isfinite(away)], -1 + 1e-9, 1 - 1e-9))
    if theta >= 1 - 1e-12 or z.size < 2:
        return theta, theta
    reach = stats.t.ppf(0.975, g - 1) * math.sqrt((z.size - 1) * z.var())
    return math.tanh(math.atanh(theta) - reach), math.tanh(math.atanh(theta) + reach)


@pytest.mark.parametrize(
    ("scenario", "g", "control", "widths"),
    [
        # measured .94 to .96 against .85 to .88
        ("skewed", 10, "percentile", {"kappa": 0.745, "ac1": 0.268, "alpha": 0.607}),
        # .93 to .95 against .64 to .73
        ("very skewed", 20, "no plus-one", {"kappa": 1.017, "ac1": 0.115, "alpha": 0.728}),
    ],
)
def test_kappa_ac1_alpha(scenario: str, g: int, control: str, widths: dict[str, float]) -> None:
    names = ("kappa", "ac1", "alpha")
    default = {name: Count() for name in names}
    other = {name: Count() for name in names}
    plain = {name: Count() for name in names}
    rng = np.random.default_rng([2027, g])
    for _ in range(500):
        x, clusters = _ratings(rng, g, scenario)
        for name, out in _agreement(x, clusters).items():
            truth = AGREEMENT_TRUTH[scenario][name]
            default[name].add(out.low, out.high, truth)
            sums, f = _sums(name, x, clusters)
            plain[name].add(*_plain_jackknife(sums, f), truth)
            if control == "percentile":
                other[name].add(*_percentile(rng, sums, f, 299), truth)
    for name in names:
        against = other[name] if control == "percentile" else plain[name]
        _judge(default[name], against, widths[name], f"{name}, {scenario}")


# -- response level ----------------------------------------------------------------------------

JUDGES = {
    # the judge's rates of false positives and negatives, base logit of correctness
    "r about .92": (0.10, 0.03, 1.4),
    "r about .97": (0.03, 0.01, 1.4),
    "skewed": (0.12, 0.02, 3.2),
}
SCORE_TRUTH = {
    # population values: _responses() with 300,000 questions (test_the_populations)
    "r about .92": {"pearson": 0.9201, "spearman": 0.9134, "mad": 0.0427, "bias": 0.0039},
    "r about .97": {"pearson": 0.9755, "spearman": 0.9729, "mad": 0.0139, "bias": 0.0005},
    "skewed": {"pearson": 0.9151, "spearman": 0.9004, "mad": 0.0264, "bias": -0.0063},
}


def _responses(
    rng: np.random.Generator, g: int, scenario: str
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """F1 by people and by a judge: three systems a question, difficulty and judge errors shared."""
    fp, fn, base = JUDGES[scenario]
    c = 0.7 / 0.3
    clusters = np.repeat(np.arange(g), 3)
    n = 3 * g
    n_reference = np.repeat(rng.integers(3, 11, g), 3)
    more = rng.choice([0, 0, 0, 0, -1, 1, 2], n)
    n_predicted = np.clip(n_reference + more, 1, 12)
    hard = np.repeat(rng.normal(size=g), 3)
    p = expit(base + np.tile([-0.6, 0.3, 1.0], g) + 1.8 * hard)
    false_positive = np.repeat(rng.beta(fp * c, (1 - fp) * c, g), 3)
    false_negative = np.repeat(rng.beta(fn * c, (1 - fn) * c, g), 3)
    pairs = np.minimum(n_reference, n_predicted)
    right = rng.binomial(pairs, p)
    judged = rng.binomial(right, 1 - false_negative) + rng.binomial(pairs - right, false_positive)
    empty = rng.random(n) < 0.03
    size = n_reference + n_predicted
    return clusters, np.where(empty, 0.0, 2 * right / size), np.where(empty, 0.0, 2 * judged / size)


def _moments(clusters: Any, x: Floats, y: Floats) -> Any:
    columns = (np.ones_like(x), x, y, x * x, y * y, x * y, np.abs(x - y))
    return np.column_stack([np.bincount(clusters, column) for column in columns])


def _r(t: Any) -> Any:
    n, x, y, xx, yy, xy = (t[..., j] for j in range(6))
    x, y = x / n, y / n
    return (xy / n - x * y) / np.sqrt((xx / n - x * x) * (yy / n - y * y))


def test_pearson_and_spearman() -> None:
    truth = SCORE_TRUTH["r about .92"]
    default = {name: Count() for name in ("pearson", "spearman")}
    naive = {name: Count() for name in default}
    percentile = Count()
    rng = np.random.default_rng(2028)
    for _ in range(400):
        clusters, x, y = _responses(rng, 40, "r about .92")
        for name, call in (("pearson", pearson), ("spearman", spearman)):
            out = call(x, y, clusters=clusters, rng=rng, resamples=399)
            default[name].add(out.low, out.high, truth[name])
            out = call(x, y, clusters=clusters, rng=rng, unit="item")
            naive[name].add(out.low, out.high, truth[name])
        percentile.add(*_percentile(rng, _moments(clusters, x, y), _r, 399), truth["pearson"])
    # measured .94 to .95 against .46 (Fisher z on n) and .83 (percentile)
    for name in default:
        _judge(default[name], naive[name], {"pearson": 0.3087, "spearman": 0.2727}[name], name)
    assert percentile.hits < bar(400)


def test_mad() -> None:
    truth = SCORE_TRUTH["r about .97"]["mad"]
    default, percentile = Count(), Count()
    rng = np.random.default_rng(2029)
    for _ in range(400):
        clusters, x, y = _responses(rng, 40, "r about .97")
        out = mad(y, x, clusters=clusters)
        default.add(out.low, out.high, truth)
        sums = _moments(clusters, x, y)[:, [6, 0]]
        percentile.add(*_percentile(rng, sums, lambda t: t[:, 0] / t[:, 1], 399), truth)
    # measured .96 against .81
    _judge(default, percentile, 0.0497, "mad")


def test_bias() -> None:
    truth = SCORE_TRUTH["skewed"]["bias"]
    default, plain = Count(), Count()
    rng = np.random.default_rng(2030)
    for _ in range(1000):
        clusters, x, y = _responses(rng, 20, "skewed")
        out = bias(y, x, clusters=clusters)
        default.add(out.low, out.high, truth)
        reach = stats.t.ppf(0.975, 19) * out.details["se"]
        plain.add(out.estimate - reach, out.estimate + reach, truth)
    # measured .940 against .847
    _judge(default, plain, 0.0681, "bias")


# -- the populations ---------------------------------------------------------------------------


@pytest.mark.soak
def test_the_populations() -> None:
    """The truths above, from 400,000 and 300,000 questions."""
    for scenario, truth in AGREEMENT_TRUTH.items():
        rng = np.random.default_rng(2031)
        parts = [_ratings(rng, 50_000, scenario) for _ in range(8)]
        for name, value in truth.items():
            each = [_sums(name, ratings, questions) for ratings, questions in parts]
            total = sum(sums.sum(axis=0) for sums, _ in each)
            got_one = float(each[0][1](total))
            assert got_one == pytest.approx(value, abs=1e-3), (scenario, name, got_one)
    for scenario, truth in SCORE_TRUTH.items():
        data: Any = _responses(np.random.default_rng(2032), 300_000, scenario)
        clusters, x, y = data
        got = {
            "pearson": float(_r(_moments(clusters, x, y).sum(axis=0))),
            "spearman": float(np.asarray(stats.spearmanr(x, y)[0])),
            "mad": float(np.abs(x - y).mean()),
            "bias": float((y - x).mean()),
        }
        for name, value in truth.items():
            assert got[name] == pytest.approx(value, abs=1e-3), (scenario, name, got[name])
