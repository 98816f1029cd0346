"""Kappa, AC1, alpha and their intervals against slow, obvious twins, and alpha's package."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from accord.validate import (
    Estimate,
    clustered_proportion,
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
    raw_agreement,
)
from accord.validate.chance import Level

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


# -- the slow twin: every sum by a loop, every leave-one-out value by a refit ------------------


class Twin(ABC):
    """Ratings as lists; weights of mean 1; ``extra`` is the one disagreement that is added."""

    def __init__(self, x: Codes, k: int, clusters: Codes, weights: Floats) -> None:
        self.x, self.k = x, k
        self.clusters = clusters
        self.w = weights / weights.mean()

    def rows(self, without: int | None) -> list[tuple[list[int], float]]:
        return [
            ([int(c) for c in row if c >= 0], w)
            for row, w, g in zip(self.x, self.w, self.clusters, strict=True)
            if g != without
        ]

    @abstractmethod
    def table(self, without: int | None) -> Any: ...

    @abstractmethod
    def added(self) -> Any: ...

    @abstractmethod
    def coefficient(self, table: Any) -> float: ...

    def interval(self, confidence: float) -> tuple[float, float, float]:
        extra = self.added()
        theta = self.coefficient(self.table(None))
        groups = sorted(set(self.clusters.tolist()))
        values = [self.coefficient(self.table(g) + extra) for g in groups] + [theta]
        z = [math.atanh(min(max(v, -1 + 1e-9), 1 - 1e-9)) for v in values if math.isfinite(v)]
        mean = sum(z) / len(z)
        se = math.sqrt((len(z) - 1) / len(z) * sum((v - mean) ** 2 for v in z))
        centre = math.atanh(self.coefficient(self.table(None) + extra))
        t = float(stats.t.ppf(0.5 + confidence / 2, self.df(groups)))
        low, high = math.tanh(centre - t * se), math.tanh(centre + t * se)
        return theta, min(low, theta), max(high, theta)

    def df(self, groups: list[int]) -> float:
        m = [int((self.clusters == g).sum()) for g in groups]
        if sum(m) ** 2 / sum(v * v for v in m) >= 0.8 * len(m):
            return len(m) - 1
        a = [v * (1 + 0.2 * (v - 1)) for v in m]
        return max(sum(a) ** 2 / sum(v * v for v in a) - 1, 1)


class KappaTwin(Twin):
    def table(self, without: int | None) -> Floats:
        out = np.zeros((self.k, self.k))
        for (a, b), w in self.rows(without):
            out[a, b] += w
        return out

    def added(self) -> Floats:
        t = self.table(None)
        r, c = t.sum(1), t.sum(0)
        out = np.zeros_like(t)
        for i in range(self.k):
            for j in range(self.k):
                if i != j:
                    out[i, j] = (r[i] + 0.5) * (c[j] + 0.5)
        out /= out.sum()
        return out

    def coefficient(self, table: Floats) -> float:
        p = table / table.sum()
        po = float(np.trace(p))
        pe = sum(float(p[i].sum() * p[:, i].sum()) for i in range(self.k))
        return (po - pe) / (1 - pe) if 1 - pe > 1e-12 else math.nan


class AlphaTwin(Twin):
    def __init__(
        self, x: Codes, k: int, clusters: Codes, weights: Floats, level: str, values: Floats
    ) -> None:
        super().__init__(x, k, clusters, weights)
        self.level, self.values = level, values

    def table(self, without: int | None) -> Floats:
        out = np.zeros((self.k, self.k))
        for row, w in self.rows(without):
            for i, a in enumerate(row):
                for j, b in enumerate(row):
                    if i != j:
                        out[a, b] += w / (len(row) - 1)
        return out

    def added(self) -> Floats:
        n = self.table(None).sum(1)
        out = np.zeros((self.k, self.k))
        for i in range(self.k):
            for j in range(self.k):
                if i != j:
                    out[i, j] = (n[i] + 0.5) * (n[j] + 0.5)
        out *= 2 / out.sum()
        return out

    def metric(self, marginals: Floats, i: int, j: int) -> float:
        a, b = self.values[i], self.values[j]
        if i == j:
            return 0.0
        if self.level == "nominal":
            return 1.0
        if self.level == "interval":
            return float((a - b) ** 2)
        if self.level == "ratio":
            return float(((a - b) / (a + b)) ** 2)
        lo, hi = min(i, j), max(i, j)
        between = marginals[lo : hi + 1].sum() - (marginals[i] + marginals[j]) / 2
        return float(between**2)

    def coefficient(self, table: Floats) -> float:
        m = table.sum(1)
        n = m.sum()
        cells = [(i, j) for i in range(self.k) for j in range(self.k)]
        observed = sum(table[i, j] * self.metric(m, i, j) for i, j in cells)
        expected = sum(m[i] * m[j] * self.metric(m, i, j) for i, j in cells)
        scale = max(self.metric(np.full(self.k, n), i, j) for i, j in cells)
        if not expected > 1e-11 * n * n * scale:
            return math.nan
        return float(1 - (n - 1) * observed / expected)


class Ac1Twin(Twin):
    def table(self, without: int | None) -> Floats:
        out = np.zeros(3 + self.k)
        for row, w in self.rows(without):
            r = len(row)
            if r >= 2:
                same = sum(row[i] == row[j] for i in range(r) for j in range(r) if i != j)
                out[0] += w * same / (r * (r - 1))
                out[1] += w
            out[2] += w
            for c in row:
                out[3 + c] += w / r
        return out

    def added(self) -> Floats:
        t = self.table(None)
        return np.concatenate([[0.0, 1.0, 1.0], 0.5 * t[3:] / t[2] + 0.5 / self.k])

    def coefficient(self, table: Floats) -> float:
        if table[1] <= 1e-9:
            return math.nan
        pi = table[3:] / table[2]
        pe = float((pi * (1 - pi)).sum()) / (self.k - 1)
        return float((table[0] / table[1] - pe) / (1 - pe))


@st.composite
def tables(draw: st.DrawFn) -> tuple[Codes, int, Codes, Floats | None, int]:
    """Ratings (n, raters) with missing cells, skewed or not; clusters of uneven size; weights."""
    k = draw(st.integers(2, 4))
    raters = draw(st.integers(2, 4))
    seed = draw(st.integers(0, 2**32 - 1))
    skew = draw(st.sampled_from([0.3, 1.0, 20.0]))
    missing = draw(st.sampled_from([0.0, 0.1, 0.5]))
    noise = draw(st.sampled_from([0.02, 0.3, 1.0]))
    weighted = draw(st.booleans())
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 70))
    shares = rng.dirichlet(np.r_[skew, np.ones(k - 1)])
    truth = rng.choice(k, n, p=shares)
    x = np.where(
        rng.random((n, raters)) < noise, rng.choice(k, (n, raters), p=shares), truth[:, None]
    )
    x[rng.random((n, raters)) < missing] = -1
    clusters = rng.integers(0, draw(st.sampled_from([12, 25])), n) * 3 - 5
    w = rng.uniform(0.5, 4, n) if weighted else None
    return x.astype(np.int64), k, clusters, w, seed


def _check(out: Estimate, twin: Twin, confidence: float = 0.95) -> None:
    theta, low, high = twin.interval(confidence)
    assert out.estimate == pytest.approx(theta, abs=1e-10)
    assert out.low == pytest.approx(low, abs=1e-10)
    assert out.high == pytest.approx(high, abs=1e-10)


def _used(x: Codes, clusters: Codes, w: Floats | None, used: Any) -> Any:
    weights = np.ones(len(x)) if w is None else w
    assume(np.unique(clusters[used]).size >= 10)
    return x[used], clusters[used], weights[used]


@given(tables(), st.sampled_from([0.9, 0.95]))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_kappa_is_its_slow_twin(
    table: tuple[Codes, int, Codes, Floats | None, int], confidence: float
) -> None:
    x, k, clusters, w, _ = table
    x = x[:, :2]
    left, groups, weights = _used(x, clusters, w, (x >= 0).all(axis=1))
    assume(not (left == left[0]).all(axis=0).any())
    out = cohen_kappa(
        x[:, 0], x[:, 1], n_categories=k, clusters=clusters, weights=w, confidence=confidence
    )
    _check(out, KappaTwin(left, k, groups, weights), confidence)
    assert (out.n, out.clusters) == (len(left), np.unique(groups).size)


@given(tables())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_ac1_is_its_slow_twin(table: tuple[Codes, int, Codes, Floats | None, int]) -> None:
    x, k, clusters, w, _ = table
    left, groups, weights = _used(x, clusters, w, (x >= 0).any(axis=1))
    out = gwet_ac1(x, n_categories=k, clusters=clusters, weights=w)
    _check(out, Ac1Twin(left, k, groups, weights))


@pytest.mark.parametrize("level", LEVELS)
@given(table=tables())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_alpha_is_its_slow_twin(
    level: Level, table: tuple[Codes, int, Codes, Floats | None, int]
) -> None:
    x, k, clusters, w, seed = table
    left, groups, weights = _used(x, clusters, w, (x >= 0).sum(axis=1) >= 2)
    assume(np.unique(left[left >= 0]).size > 1)
    values = np.sort(np.random.default_rng(seed).choice(50, k, replace=False)).astype(float)
    out = krippendorff_alpha(
        x, level=level, values=values, n_categories=k, clusters=clusters, weights=w
    )
    _check(out, AlphaTwin(left, k, groups, weights, level, values))


@given(tables())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_alpha_is_the_package(table: tuple[Codes, int, Codes, Floats | None, int]) -> None:
    x, k, clusters, _, _ = table
    pairable = x[(x >= 0).sum(axis=1) >= 2]
    assume(pairable.size and np.unique(pairable[pairable >= 0]).size > 1)
    values = np.array([0.0, 0.5, 1.0, 4.0])[:k]
    for level in LEVELS:
        out = krippendorff_alpha(x, level=level, values=values, n_categories=k, clusters=clusters)
        # raters x items: the package's orientation, not ours
        package = krippendorff.alpha(
            reliability_data=np.where(x >= 0, values[np.maximum(x, 0)], np.nan).T,
            level_of_measurement=level,
        )
        assert out.estimate == pytest.approx(package, abs=1e-10)


@given(tables())
@settings(max_examples=30, deadline=None, derandomize=True)
def test_raw_agreement_is_a_proportion(
    table: tuple[Codes, int, Codes, Floats | None, int],
) -> None:
    x, k, clusters, w, _ = table
    used = (x >= 0).sum(axis=1) >= 2
    assume(used.any())
    shares = []
    for row in x[used]:
        r = [c for c in row if c >= 0]
        pairs = [(a, b) for i, a in enumerate(r) for b in r[i + 1 :]]
        shares.append(sum(a == b for a, b in pairs) / len(pairs))
    out = raw_agreement(x, n_categories=k, clusters=clusters, weights=w)
    same = clustered_proportion(
        shares, clusters=clusters[used], weights=None if w is None else w[used]
    )
    assert out.name == "agreement"
    assert out.estimate == pytest.approx(same.estimate, abs=1e-12)
    assert (out.low, out.high) == pytest.approx((same.low, same.high), abs=1e-12, nan_ok=True)
    assert sum(out.dropped.values()) == int((~used).sum())
