"""Every coefficient is its slow twin on a thousand small tables, and undefined where that is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
import slow_twins as twin
from numpy.typing import NDArray
from scipy import stats

from accord import validate
from accord.validate import Estimate

COUNT = 1000
Z = 1.959963984540054
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Ratings with gaps, and the complete scores of the same raters on other responses.

    Parameters
    ----------
    x
        ``(n, raters)`` codes 0..k-1, -1 missing.
    k, values
        Declared categories, and what they stand for.
    clusters, weights
        ``(n,)``; weights None when all are equal.
    scores
        ``(n, 2 or more)``, with ties or without.
    """

    x: Codes
    k: int
    values: Floats
    clusters: Codes
    weights: Floats | None
    scores: Floats

    @property
    def rows(self) -> list[list[int]]:
        return [[int(code) for code in row] for row in self.x]

    @property
    def w(self) -> list[float]:
        return [1.0] * len(self.x) if self.weights is None else self.weights.tolist()

    @property
    def pair(self) -> Codes:
        """The first two raters; a lone one has a second who rated nothing."""
        if self.x.shape[1] > 1:
            return self.x[:, :2]
        return np.column_stack([self.x[:, 0], np.full(len(self.x), -1)])

    @property
    def shared(self) -> dict[str, Any]:
        return {"clusters": self.clusters, "weights": self.weights}


P_SIZE = [0.02, 0.04, 0.06, 0.76, 0.12]


def _draw(rng: np.random.Generator) -> Table:
    raters = int(rng.choice([1, 2, 3, 4, 5], p=[0.08, 0.32, 0.3, 0.2, 0.1]))
    k = int(rng.choice([1, 2, 3, 4, 5], p=[0.05, 0.25, 0.35, 0.2, 0.15]))
    sizes = [0, 1, 2, int(rng.integers(3, 13)), int(rng.integers(13, 30))]
    n = int(rng.choice(sizes, p=P_SIZE))
    noise = rng.choice([0.0, 0.1, 0.5, 1.0])
    shares = rng.dirichlet(np.full(k, 1.5))
    truth = rng.choice(k, n, p=shares)
    x = np.where(rng.random((n, raters)) < noise, rng.integers(0, k, (n, raters)), truth[:, None])
    if rng.random() < 0.08:
        x[:] = rng.integers(0, k)
    x[rng.random((n, raters)) < rng.choice([0.0, 0.1, 0.3, 0.8], p=[0.4, 0.3, 0.2, 0.1])] = -1
    if rng.random() < 0.06:
        x[:, rng.integers(0, raters)] = -1  # who rated nothing
    if rng.random() < 0.06:
        x[:, rng.integers(0, raters)] = rng.integers(0, k)  # who says the same of everything
    equal_steps = rng.random() < 0.5
    values = np.arange(k) / 2 if equal_steps else np.sort(rng.choice(60, k, replace=False)) / 4
    weights = rng.choice([1.0, 2.0, 5.0], n) if rng.random() < 0.3 else rng.uniform(0.2, 4, n)
    people = max(raters, 2)
    scores = rng.integers(0, k, (n, people)) / 4.0
    if rng.random() < 0.5:
        scores = rng.normal(0, rng.choice([0.1, 2]), (n, people)) + rng.normal(0, 1, (n, 1))
    if rng.random() < 0.1:
        scores[:, 1] = scores[:, 0]
    return Table(
        x=x.astype(np.int64),
        k=k,
        values=values.astype(float),
        clusters=rng.integers(0, rng.choice([2, 6, 40], p=[0.3, 0.5, 0.2]), n),
        weights=None if rng.random() < 0.5 else weights,
        scores=scores,
    )


@cache
def tables() -> tuple[Table, ...]:
    rng = np.random.default_rng(41)
    return tuple(_draw(rng) for _ in range(COUNT))


def test_the_tables_hold_what_is_hard() -> None:
    seen = tables()
    rated = [t.x >= 0 for t in seen]
    assert {t.x.shape[1] for t in seen} == {1, 2, 3, 4, 5} == {t.k for t in seen}
    assert sum(len(t.x) == 0 for t in seen) > 10 and sum(len(t.x) == 1 for t in seen) > 20
    assert sum(t.weights is not None for t in seen) > 300
    assert sum(bool(r.any() and not r.all()) for r in rated) > 300
    assert sum(np.unique(t.x[t.x >= 0]).size == 1 for t in seen) > 100
    assert (
        sum(len(t.x) > 0 and not r.any(axis=0).all() for t, r in zip(seen, rated, strict=True)) > 50
    )
    assert sum(np.unique(t.clusters).size >= 10 for t in seen) > 25


Pair = tuple[Callable[[Table], Estimate], Callable[[Table], float]]


def _of_two(name: str, weighting: str | None = None) -> Pair:
    def ours(t: Table) -> Estimate:
        more: dict[str, Any] = {}
        if weighting:
            more = {"weighting": weighting, "values": t.values}
        a, b = t.pair.T
        return getattr(validate, name)(a, b, n_categories=t.k, **t.shared, **more)

    def slow(t: Table) -> float:
        if name == "mcc":
            return twin.mcc(t.rows, t.w, t.k)
        return twin.kappa(
            t.rows, t.w, t.k, twin.distance(weighting or "identity", t.values.tolist())
        )

    return ours, slow


def _of_many(name: str, slow: Callable[..., float], *weightings: str) -> Pair:
    """Weightings take turns."""

    def which(t: Table) -> str:
        return weightings[len(t.x) % len(weightings)] if weightings else "identity"

    def ours(t: Table) -> Estimate:
        more: dict[str, Any] = {}
        if weightings:
            more = {"weighting": which(t), "values": t.values}
        return getattr(validate, name)(t.x, n_categories=t.k, **t.shared, **more)

    return ours, lambda t: slow(t.rows, t.w, t.k, twin.distance(which(t), t.values.tolist()))


def _alpha(level: Any) -> Pair:
    return (
        lambda t: validate.krippendorff_alpha(
            t.x, level=level, values=t.values, n_categories=t.k, **t.shared
        ),
        lambda t: twin.alpha(t.rows, t.w, t.k, level, t.values.tolist()),
    )


def _scored(name: str, slow: Callable[..., float], **more: Any) -> Pair:
    return (
        lambda t: getattr(validate, name)(t.scores[:, 0], t.scores[:, 1], **t.shared, **more),
        lambda t: slow(t.scores[:, 0].tolist(), t.scores[:, 1].tolist(), t.w),
    )


def _icc(form: Any) -> Pair:
    return (
        lambda t: validate.icc(t.scores, form=form, rng=0, resamples=0, **t.shared),
        lambda t: twin.icc(t.scores.tolist(), t.w, form),
    )


def _limit(side: int, z: float) -> Pair:
    return (
        lambda t: validate.limits_of_agreement(t.scores[:, 0], t.scores[:, 1], **t.shared)[side],
        lambda t: twin.limit_of_agreement(t.scores[:, 0].tolist(), t.scores[:, 1].tolist(), t.w, z),
    )


def _truth(name: str) -> Pair:
    """The first rater judges, the second has the truth; the highest category is right."""

    def masks(t: Table) -> tuple[Any, Any, Any]:
        used = (t.pair >= 0).all(axis=1)
        judged, true = (t.pair[used] == t.k - 1).T
        return used, judged, true

    def ours(t: Table) -> Estimate:
        used, judged, true = masks(t)
        weights = None if t.weights is None else t.weights[used]
        right, among = {
            "sensitivity": (judged, true),
            "specificity": (~judged, ~true),
            "precision": (true, judged),
            "f1": (judged & true, judged | true),
        }[name]
        return validate.clustered_proportion(
            right,
            among=among,
            hits=2 if name == "f1" else 1,
            clusters=t.clusters[used],
            weights=weights,
        )

    def slow(t: Table) -> float:
        used, judged, true = masks(t)
        w = [v for v, use in zip(t.w, used, strict=True) if use]
        return twin.against_truth(judged.tolist(), true.tolist(), w)[name]

    return ours, slow


def _screening(name: str, slow: Callable[[Table], float]) -> Pair:
    def ours(t: Table) -> Estimate:
        given_ = {"positive": t.k - 1} if name == "youden" else {}
        a, b = t.pair.T
        return getattr(validate, name)(a, b, n_categories=t.k, **t.shared, **given_)

    return ours, slow


def _ceiling(t: Table) -> Estimate:
    """The first column judges the others."""
    return validate.ceiling_difference(t.x[:, 0], t.x[:, 1:], n_categories=t.k, **t.shared)


JACKKNIFE: dict[str, Any] = {"rng": 0, "resamples": 0}
TWINS: dict[str, Pair] = {
    "raw_agreement": _of_many("raw_agreement", lambda rows, w, k, d: twin.raw_agreement(rows, w)),
    "sensitivity": _truth("sensitivity"),
    "specificity": _truth("specificity"),
    "precision": _truth("precision"),
    "f1": _truth("f1"),
    "macro_f1": _screening("macro_f1", lambda t: twin.macro_f1(t.rows, t.w, t.k)),
    "youden": _screening("youden", lambda t: twin.youden(t.rows, t.w, t.k - 1)),
    "ceiling_difference": (
        _ceiling,
        lambda t: twin.ceiling([row[1:] for row in t.rows], t.w, [row[0] for row in t.rows]),
    ),
    "cohen_kappa": _of_two("cohen_kappa"),
    "weighted_kappa, linear": _of_two("weighted_kappa", "linear"),
    "weighted_kappa, quadratic": _of_two("weighted_kappa", "quadratic"),
    "mcc": _of_two("mcc"),
    "fleiss_kappa": _of_many("fleiss_kappa", twin.fleiss),
    "fleiss_kappa, weighted": _of_many("fleiss_kappa", twin.fleiss, "linear", "quadratic"),
    "conger_kappa": _of_many("conger_kappa", twin.conger),
    "conger_kappa, weighted": _of_many("conger_kappa", twin.conger, "linear", "quadratic"),
    "brennan_prediger": _of_many("brennan_prediger", twin.brennan_prediger),
    "brennan_prediger, weighted": _of_many(
        "brennan_prediger", twin.brennan_prediger, "linear", "quadratic"
    ),
    "gwet_ac1": _of_many("gwet_ac1", twin.gwet),
    "gwet_ac2, linear": _of_many("gwet_ac2", twin.gwet, "linear"),
    "gwet_ac2, quadratic": _of_many("gwet_ac2", twin.gwet, "quadratic"),
    "alpha, nominal": _alpha("nominal"),
    "alpha, ordinal": _alpha("ordinal"),
    "alpha, interval": _alpha("interval"),
    "alpha, ratio": _alpha("ratio"),
    "pearson": _scored("pearson", twin.pearson, **JACKKNIFE),
    "spearman": _scored("spearman", twin.spearman, **JACKKNIFE),
    "kendall_tau_b": _scored("kendall_tau_b", twin.kendall),
    "ccc": _scored("ccc", twin.ccc, **JACKKNIFE),
    "icc, agreement": _icc("agreement"),
    "icc, consistency": _icc("consistency"),
    "mad": _scored("mad", twin.mad),
    "rmse": _scored("rmse", twin.rmse),
    "bias": _scored("bias", twin.bias),
    "limit of agreement, lower": _limit(0, -Z),
    "limit of agreement, upper": _limit(1, Z),
}


@pytest.mark.parametrize("name", TWINS)
def test_the_estimate_is_its_twins(name: str) -> None:
    ours, slow = TWINS[name]
    undefined = 0
    for place, table in enumerate(tables()):
        out, value = ours(table), slow(table)
        shown = (place, out, value)
        assert math.isnan(out.estimate) == math.isnan(value), shown
        if math.isnan(value):
            undefined += 1
            assert out.reason and math.isnan(out.low) and math.isnan(out.high), shown
            continue
        assert abs(out.estimate - value) <= 1e-10 * max(1, abs(value)), shown
        assert math.isnan(out.low) == math.isnan(out.high) == bool(out.reason), shown
        assert not out.low > out.estimate and not out.high < out.estimate, shown
    # both a formula and its gaps were met
    assert 10 <= undefined <= 0.7 * COUNT, undefined


def test_mcnemar_is_its_twin() -> None:
    met = set()
    for table in tables():
        used = table.pair[(table.pair >= 0).all(axis=1)] == table.k - 1
        b, c = int((used[:, 0] & ~used[:, 1]).sum()), int((used[:, 1] & ~used[:, 0]).sum())
        met.add((b, c))
        out = validate.mcnemar(b, c)
        assert out.details["p"] == pytest.approx(twin.mcnemar_p(b, c), abs=1e-12)
        if b + c == 0:
            assert math.isnan(out.estimate) and out.reason
            continue
        assert out.estimate == b / (b + c)
        # Clopper and Pearson: at a limit the tail beyond what was seen is 0.025
        if b:
            assert twin.binomial_tail(b, b + c, out.low) == pytest.approx(0.025, abs=1e-10)
        else:
            assert out.low == 0
        if c:
            assert 1 - twin.binomial_tail(b + 1, b + c, out.high) == pytest.approx(0.025, abs=1e-10)
        else:
            assert out.high == 1
    assert len(met) > 20


def test_the_twins_are_what_others_compute() -> None:
    """The twins themselves, against SciPy where it has the coefficient."""
    for table in tables():
        x: Any = table.scores[:, 0]
        y: Any = table.scores[:, 1]
        if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
            continue
        one = [1.0] * len(x)
        a, b = x.tolist(), y.tolist()
        assert twin.pearson(a, b, one) == pytest.approx(float(stats.pearsonr(x, y)[0]), abs=1e-10)
        assert twin.spearman(a, b, one) == pytest.approx(float(stats.spearmanr(x, y)[0]), abs=1e-10)
        assert twin.kendall(a, b, one) == pytest.approx(float(stats.kendalltau(x, y)[0]), abs=1e-10)


def test_an_icc_without_a_divisor_is_not_called_constant() -> None:
    """Two raters, two responses, and each mean the same: nothing is left to divide by."""
    crossed = np.array([[0.0, 1.0], [1.0, 0.0]])
    out = validate.icc(crossed, form="agreement", clusters=np.arange(2), rng=0, resamples=0)
    assert math.isnan(out.estimate) and "cancel" in str(out.reason)
