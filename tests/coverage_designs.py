"""Populations that coverage is measured on, coefficients as functions of sums, counts of hits.

Items lie in questions, which are hard or easy for people and judge alike; the intra-cluster
correlations are those of real data. Figures here are written out from sums, apart from the
package: they give the populations' true values and the intervals that serve as controls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Statistic = Callable[[Any], Any]


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

    @property
    def coverage(self) -> float:
        return self.hits / self.tries


def bar(tries: int, confidence: float = 0.95) -> int:
    """Fewest hits that an interval may have: a right one has fewer once in 2,000 times."""
    return int(stats.binom.ppf(0.0005, tries, confidence))


# -- proportions -------------------------------------------------------------------------------


def answers(
    rng: np.random.Generator, g: int, p: float, icc: float, sizes: str = "even"
) -> tuple[Floats, Codes]:
    """Beta-binomial questions of 3 to 10 items, or of log-normal sizes up to 60.

    With ``uneven, informative`` sizes longer questions are harder.
    """
    m: Any = rng.integers(3, 11, g)
    if sizes != "even":
        m = np.clip(np.round(np.exp(rng.normal(math.log(8), 0.8, g))), 1, 60).astype(int)
    mean: Any = np.full(g, p)
    if "informative" in sizes:
        mean = np.clip(p - 0.04 * np.log(m / 8), 0.02, 0.995)
    own = mean
    if icc > 0:
        c = (1 - icc) / icc
        own = rng.beta(mean * c, (1 - mean) * c)
    clusters = np.repeat(np.arange(g), m)
    return (rng.random(clusters.size) < own[clusters]).astype(float), clusters


@cache
def true_share(p: float, sizes: str) -> float:
    """The share of right items in the population."""
    if "informative" not in sizes:
        return p
    rng = np.random.default_rng(2033)
    m = np.clip(np.round(np.exp(rng.normal(math.log(8), 0.8, 2_000_000))), 1, 60)
    return float((m * np.clip(p - 0.04 * np.log(m / 8), 0.02, 0.995)).sum() / m.sum())


# -- labels ------------------------------------------------------------------------------------

SCENARIOS: dict[str, tuple[tuple[float, float, float], float]] = {
    # shares of the categories, mean error of an annotator
    "balanced": ((0.40, 0.25, 0.35), 0.15),
    "skewed": ((0.12, 0.08, 0.80), 0.12),
    "very skewed": ((0.03, 0.04, 0.93), 0.04),
    "97 % one class": ((0.01, 0.02, 0.97), 0.06),
    "balanced, err .02": ((0.40, 0.25, 0.35), 0.02),
}
NOMINAL = 1 - np.eye(3)
SQUARED = (np.arange(3)[:, None] - np.arange(3)[None, :]) ** 2 / 4.0
APART = {"nominal": NOMINAL, "squared": SQUARED}
# coefficient: its form, and how far categories are apart
LABEL_FIGURES: dict[str, tuple[str, str]] = {
    "kappa": ("kappa", "nominal"),
    "quadratic kappa": ("kappa", "squared"),
    "ac1": ("gwet", "nominal"),
    "quadratic ac2": ("gwet", "squared"),
    "fleiss": ("fleiss", "nominal"),
    "alpha": ("alpha", "nominal"),
    "interval alpha": ("alpha", "squared"),
}


def ratings(rng: np.random.Generator, g: int, scenario: str) -> tuple[Codes, Codes]:
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


def label_sums(name: str, x: Any, clusters: Any) -> tuple[Any, Statistic]:
    """Per-question sums of a coefficient, and the coefficient as their function."""
    form, metric = LABEL_FIGURES[name]
    v = APART[metric]
    count = np.stack([(x[:, :3] == k).sum(axis=1) for k in range(3)], axis=1).astype(float)
    r = count.sum(axis=1)
    apart = ((count @ v) * count).sum(axis=1)  # over ordered pairs of ratings
    if form == "kappa":
        ok = x[:, 0] >= 0
        columns = np.zeros((len(x), 9))
        columns[np.flatnonzero(ok), x[ok, 0] * 3 + x[ok, 3]] = 1

        def f(t: Any) -> Any:
            t = t.reshape(*t.shape[:-1], 3, 3)
            first, second, n = t.sum(-1), t.sum(-2), t.sum((-1, -2))
            return 1 - n * (t * v).sum((-1, -2)) / ((first @ v) * second).sum(-1)

    elif form == "alpha":
        two = r >= 2
        seen = np.where(two, apart / np.maximum(r - 1, 1), 0)
        columns = np.column_stack([seen, count * two[:, None]])

        def f(t: Any) -> Any:
            m = t[..., 1:]
            return 1 - (m.sum(-1) - 1) * t[..., 0] / ((m @ v) * m).sum(-1)

    else:
        seen = np.where(r >= 2, apart / np.maximum(r * (r - 1), 1), 0)
        columns = np.column_stack([seen, r >= 2, r >= 1, count / np.maximum(r, 1)[:, None]])

        def f(t: Any) -> Any:
            share = t[..., 3:] / t[..., 2:3]
            if form == "fleiss":
                chance = ((share @ v) * share).sum(-1)
            else:
                chance = 1 - (9 - v.sum()) / 6 * (share * (1 - share)).sum(-1)
            return 1 - t[..., 0] / t[..., 1] / chance

    codes = np.unique(clusters, return_inverse=True)[1]
    return np.column_stack([np.bincount(codes, column) for column in columns.T]), f


@cache
def true_labels(scenario: str) -> dict[str, float]:
    """Coefficients of a population, from 400,000 questions."""
    rng = np.random.default_rng(2031)
    totals: dict[str, Any] = {}
    functions = {}
    for _ in range(8):
        x, clusters = ratings(rng, 50_000, scenario)
        for name in LABEL_FIGURES:
            sums, functions[name] = label_sums(name, x, clusters)
            totals[name] = totals.get(name, 0) + sums.sum(axis=0)
    return {name: float(f(totals[name])) for name, f in functions.items()}


# -- scores ------------------------------------------------------------------------------------

JUDGES = {
    # the judge's rates of false positives and negatives, base logit of correctness
    "r about .92": (0.10, 0.03, 1.4),
    "r about .97": (0.03, 0.01, 1.4),
    "skewed": (0.12, 0.02, 3.2),
}


def responses(rng: np.random.Generator, g: int, scenario: str) -> tuple[Codes, Floats, Floats]:
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


def moments(clusters: Any, x: Floats, y: Floats) -> Any:
    """Per-question sums of 1, x, y, x², y², xy, |x - y|."""
    columns = (np.ones_like(x), x, y, x * x, y * y, x * y, np.abs(x - y))
    return np.column_stack([np.bincount(clusters, column) for column in columns])


def _spread(t: Any) -> tuple[Any, ...]:
    n, x, y, xx, yy, xy = (t[..., j] for j in range(6))
    x, y = x / n, y / n
    return x - y, xx / n - x * x, yy / n - y * y, xy / n - x * y


def pearson_of(t: Any) -> Any:
    _, xx, yy, xy = _spread(t)
    return xy / np.sqrt(xx * yy)


def ccc_of(t: Any) -> Any:
    shift, xx, yy, xy = _spread(t)
    return 2 * xy / (xx + yy + shift * shift)


def mad_of(t: Any) -> Any:
    return t[..., 6] / t[..., 0]


def rmse_of(t: Any) -> Any:
    return np.sqrt(np.maximum(t[..., 3] - 2 * t[..., 5] + t[..., 4], 0) / t[..., 0])


@cache
def true_scores(scenario: str) -> dict[str, float]:
    """Coefficients of a population, from 300,000 questions."""
    data: Any = responses(np.random.default_rng(2032), 300_000, scenario)
    clusters, x, y = data
    t = moments(clusters, x, y).sum(axis=0)
    return {
        "pearson": float(pearson_of(t)),
        "ccc": float(ccc_of(t)),
        # of many responses the intraclass correlation of two raters is the concordance
        "icc": float(ccc_of(t)),
        "mad": float(mad_of(t)),
        "rmse": float(rmse_of(t)),
        "bias": float((y - x).mean()),
        "spearman": float(np.asarray(stats.spearmanr(x, y)[0])),
        "kendall_tau_b": float(np.asarray(stats.kendalltau(x, y)[0])),
    }


# -- intervals in common use, as controls ------------------------------------------------------


def resampled(rng: np.random.Generator, g: int, resamples: int) -> Floats:
    return rng.multinomial(g, np.full(g, 1 / g), size=resamples).astype(float)


def percentile(
    rng: np.random.Generator, sums: Any, f: Statistic, resamples: int = 399
) -> tuple[float, float]:
    """Percentile bootstrap over questions."""
    with np.errstate(all="ignore"):
        values = f(resampled(rng, len(sums), resamples) @ sums)
    return tuple(np.nanquantile(values, [0.025, 0.975]))


def tau_percentile(
    rng: np.random.Generator, clusters: Any, x: Floats, y: Floats, resamples: int = 399
) -> tuple[float, float]:
    """Percentile bootstrap of tau-b: pairs of questions, weighted as often as both are drawn."""
    sx, sy = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    inside = (clusters == np.unique(clusters)[:, None]).astype(float)
    w = resampled(rng, len(inside), resamples)
    both, one, two = (
        ((w @ (inside @ signs @ inside.T)) * w).sum(axis=1)
        for signs in (sx * sy, np.abs(sx), np.abs(sy))
    )
    with np.errstate(all="ignore"):
        return tuple(np.nanquantile(both / np.sqrt(one * two), [0.025, 0.975]))


def plain_jackknife(sums: Floats, f: Statistic) -> tuple[float, float]:
    """Jackknife t on Fisher's z, nothing added."""
    g = len(sums)
    with np.errstate(all="ignore"):
        theta = float(f(sums.sum(axis=0)))
        away = np.asarray(f(sums.sum(axis=0) - sums))
    z = np.arctanh(np.clip(away[np.isfinite(away)], -1 + 1e-9, 1 - 1e-9))
    if theta >= 1 - 1e-12 or z.size < 2:
        return theta, theta
    reach = stats.t.ppf(0.975, g - 1) * math.sqrt((z.size - 1) * z.var())
    return math.tanh(math.atanh(theta) - reach), math.tanh(math.atanh(theta) + reach)
