"""Every default interval is the one that the coverage studies measured.

The studies stand beside the reference data (``../simulations``); a default is worth its published
coverage only while it is, to the last digits, the interval that was simulated.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accord import validate
from accord.validate import Estimate

pytestmark = pytest.mark.shared_data
NEAR = 1e-10
STUDIES: tuple[str, ...] = (
    "common",
    "a_default",
    "a_proportion",
    "a_sensitivity",
    "b_agreement",
    "b_few_disagreements",
    "c_response",
    "c_bias",
    "d_ceiling",
    "d_few_differences",
)
CONFIDENCES = (0.95, 0.90)


@pytest.fixture(scope="module")
def studies(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The studies' modules by name; they write nothing here."""
    folder = shared_data.resolve().parent / "simulations"
    if not folder.is_dir():
        pytest.skip(f"the coverage studies are not on this machine ({folder})")
    with pytest.MonkeyPatch.context() as patch:
        # a study makes its folder of results, and sets the number of threads, when it is imported
        patch.setenv("COVER_OUT", str(tmp_path_factory.mktemp("results")))
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            patch.setenv(name, "1")
        patch.syspath_prepend(str(folder))
        yield {name: importlib.import_module(name) for name in STUDIES}
        for name in STUDIES:
            sys.modules.pop(name, None)


def _degrees(sizes: Any) -> float:
    """G - 1; Satterthwaite's under an ICC of 0.2 where question sizes are uneven."""
    m = [float(size) for size in sizes if size]
    if sum(m) ** 2 / sum(v * v for v in m) >= 0.8 * len(m):
        return len(m) - 1
    a = [v * (1 + 0.2 * (v - 1)) for v in m]
    return max(sum(a) ** 2 / sum(v * v for v in a) - 1, 1)


def _same(out: Estimate, theta: float, low: float, high: float) -> None:
    assert out.reason is None, out
    assert out.estimate == pytest.approx(theta, abs=NEAR), out
    assert (out.low, out.high) == pytest.approx((low, high), abs=NEAR), out


# -- proportions -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["even", "uneven", "uneven, informative"])
@pytest.mark.parametrize("p", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_proportion(studies: Any, kind: str, p: float, confidence: float) -> None:
    rng = np.random.default_rng([61, int(100 * p)])
    for g in (10, 20, 40, 100):
        if kind == "even":
            m, y = studies["a_proportion"].draw(rng, 10, g, p, 0.2)
        else:
            m, y, _ = studies["a_sensitivity"].draw(rng, 10, g, p, 0.2, "informative" in kind)
        low, high = studies["a_default"].interval(m, y, confidence)
        for r in range(10):
            sizes, right = m[r].astype(int), y[r].astype(int)
            clusters = np.repeat(np.arange(g), sizes)
            hits = np.concatenate([np.arange(s) < t for s, t in zip(sizes, right, strict=True)])
            out = validate.clustered_proportion(hits, clusters=clusters, confidence=confidence)
            _same(out, right.sum() / sizes.sum(), low[r], high[r])


# -- beyond chance -----------------------------------------------------------------------------


def _of_pair(name: str, **more: Any) -> Callable[..., Estimate]:
    return lambda x, **kw: getattr(validate, name)(x[:, 0], x[:, 3], **kw, **more)


def _of_people(name: str, **more: Any) -> Callable[..., Estimate]:
    return lambda x, **kw: getattr(validate, name)(x[:, :3], **kw, **more)


GRID = np.array([0.0, 0.5, 1.0])
# the sums that the study makes for it, and our coefficient
BEYOND_CHANCE: dict[str, tuple[str, Callable[..., Estimate]]] = {
    "cohen kappa": ("kappa", _of_pair("cohen_kappa")),
    "quadratic kappa": ("kappa", _of_pair("weighted_kappa", weighting="quadratic", values=GRID)),
    "linear kappa": ("kappa", _of_pair("weighted_kappa", weighting="linear", values=GRID)),
    "mcc": ("kappa", _of_pair("mcc")),
    "conger kappa": ("kappa", lambda x, **kw: validate.conger_kappa(x[:, [0, 3]], **kw)),
    "gwet ac1": ("ac", _of_people("gwet_ac1")),
    "ac2, identity": ("ac", _of_people("gwet_ac2", weighting="identity")),
    "fleiss kappa": ("ac", _of_people("fleiss_kappa")),
    "brennan-prediger": ("ac", _of_people("brennan_prediger")),
    "alpha nominal": ("alpha", _of_people("krippendorff_alpha", level="nominal")),
    "alpha interval": ("alpha", _of_people("krippendorff_alpha", level="interval", values=GRID)),
}


def _statistic(study: Any, name: str) -> Callable[[Any], Any]:
    """The study's own function of sums, or the textbook's in its sums where it has none."""
    if name in study.STATS:
        return study.STATS[name][1]  # type: ignore[no-any-return]

    def by_chance(t: Any, chance: Any) -> Any:
        return (t[..., 0] / t[..., 1] - chance) / (1 - chance)

    def mcc(t: Any) -> Any:
        r, c = t @ study.ROW, t @ study.COL
        n, same = r.sum(-1), t @ np.eye(3).ravel()
        spread = (n * n - (r * r).sum(-1)) * (n * n - (c * c).sum(-1))
        return (n * same - (r * c).sum(-1)) / np.sqrt(spread)

    def fleiss(t: Any) -> Any:
        return by_chance(t, ((t[..., 3:] / t[..., 2:3]) ** 2).sum(-1))

    further: dict[str, Callable[[Any], Any]] = {
        "linear kappa": lambda t: study._kappa(t, np.abs(GRID[:, None] - GRID[None, :])),
        "conger kappa": lambda t: study._kappa(t, study.NOM),
        "mcc": mcc,
        "ac2, identity": study._ac1,
        "fleiss kappa": fleiss,
        "brennan-prediger": lambda t: by_chance(t, 1 / 3),
    }
    return further[name]


@pytest.mark.parametrize("name", BEYOND_CHANCE)
@pytest.mark.parametrize("scenario", ["balanced", "skewed", "very skewed"])
def test_beyond_chance(studies: Any, name: str, scenario: str) -> None:
    study, few = studies["b_agreement"], studies["b_few_disagreements"]
    source, ours = BEYOND_CHANCE[name]
    f = _statistic(study, name)
    rng = np.random.default_rng([62, len(scenario)])
    compared = 0
    for g in (10, 20, 40, 100):
        for confidence in CONFIDENCES:
            clusters, x = study.draw(rng, g, scenario)
            if name == "conger kappa":
                x[x[:, 0] < 0, 0] = 0  # with gaps it takes each rater's shares over all of his
            sums = study.cluster_sums(clusters, g, x)[source]
            used = {
                "kappa": x[:, 0] >= 0,
                "ac": (x[:, :3] >= 0).any(axis=1),
                "alpha": (x[:, :3] >= 0).sum(axis=1) >= 2,
            }[source]
            sums = sums[np.bincount(clusters[used], minlength=g) > 0]
            out = ours(x.astype(np.int64), n_categories=3, clusters=clusters, confidence=confidence)
            if out.details["disagreements"] == 0 or out.reason is not None:
                continue  # an interval over the whole range, or none
            df = _degrees(np.bincount(clusters[used]))
            more = np.vstack([sums, few.pseudo(source, sums.sum(axis=0))])
            theta = float(f(sums.sum(axis=0)))
            _, low, high = few.t_fisher(f, more, confidence, df)
            _same(out, theta, min(low, theta), max(high, theta))
            compared += 1
    assert compared >= 5


# -- scores ------------------------------------------------------------------------------------


def _exact_se(f: Callable[[Any], Any], totals: Any, sums: Any, counts: Any) -> Any:
    """The study's linearised SE in each resample, its gradient by complex steps."""
    g = len(sums)
    slope = np.empty(totals.shape)
    for k in range(totals.shape[-1]):
        step = totals.astype(complex)
        step[..., k] += 1e-30j
        slope[..., k] = f(step).imag / 1e-30
    influence = slope @ sums.T
    influence -= (counts * influence).sum(axis=1, keepdims=True) / g
    return np.sqrt(g / (g - 1) * (counts * influence * influence).sum(axis=1))


SCENARIOS = ("r about .92", "r about .97", "skewed")


def _limits(found: Any, method: str) -> dict[float, tuple[float, float]]:
    return {c: (low, high) for c, name, low, high in found if name == method}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", ["pearson", "ccc", "spearman"])
def test_bootstrap_t(studies: Any, name: str, scenario: str) -> None:
    study, common = studies["c_response"], studies["common"]
    rng = np.random.default_rng([63, len(scenario)])
    compared = 0
    for g in (20, 40, 100):
        for seed in range(3):
            clusters, x, y = study.draw(rng, g, scenario)
            counts = common.resample_counts(np.random.default_rng(seed), 399, g)
            if name == "spearman":
                ranks = study.Spearman(clusters, g, x, y)
                theta = float(ranks(np.ones((1, g)))[0])
                away = ranks(1 - np.eye(g))
                values, errors = ranks(counts, influence=True)
            else:
                f, sums = study.RATIO[name][0], study.cluster_sums(clusters, g, x, y)
                theta, away = float(f(sums.sum(0))), f(sums.sum(0) - sums)
                values = f(counts @ sums)
                errors = _exact_se(f, counts @ sums, sums, counts)
                measured = study.gradient_se(f, counts @ sums, sums, counts)
                large = errors > 0.01  # below, its differences are mostly rounding
                assert measured[large] == pytest.approx(errors[large], rel=1e-4)
            scale = {"h": common.FISHER}
            found = common.interval_sets(theta, values, away, g, CONFIDENCES, scale, errors)
            for confidence, (low, high) in _limits(found, "boot-t h").items():
                out = getattr(validate, name)(
                    x, y, clusters=clusters, rng=seed, resamples=399, confidence=confidence
                )
                if out.details["usable_pivots"] < 0.9:
                    assert "given up" in out.method
                    continue
                _same(out, theta, low, high)
                compared += 1
    assert compared >= 12


def _rmse(t: Any) -> Any:
    return np.sqrt((t[..., 3] - 2 * t[..., 5] + t[..., 4]) / t[..., 0])


def _limit(sign: float) -> Callable[[Any], Any]:
    def f(t: Any) -> Any:
        n, mean = t[..., 0], (t[..., 2] - t[..., 1]) / t[..., 0]
        squares = t[..., 3] - 2 * t[..., 5] + t[..., 4]
        return mean + sign * 1.959963984540054 * np.sqrt((squares - n * mean**2) / (n - 1))

    return f


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", ["kendall_tau_b", "mad", "rmse", "lower limit", "upper limit"])
def test_jackknife_t(studies: Any, name: str, scenario: str) -> None:
    study, common = studies["c_response"], studies["common"]
    f: Any = {
        "mad": study.mad,
        "rmse": _rmse,
        "lower limit": _limit(-1),
        "upper limit": _limit(1),
    }.get(name)
    scale, method = {"kendall_tau_b": ("FISHER", "t h"), "lower limit": ("IDENTITY", "t raw")}.get(
        name, ("IDENTITY", "t raw") if name == "upper limit" else ("LOG", "t h")
    )
    rng = np.random.default_rng([64, len(scenario)])
    compared = 0
    for g in (20, 40, 100):
        clusters, x, y = study.draw(rng, g, scenario)
        if f is None:
            pairs = study.Kendall(clusters, g, x, y)
            theta, away = float(pairs(np.ones((1, g)))[0]), pairs.jackknife()
        else:
            sums = study.cluster_sums(clusters, g, x, y)
            theta, away = float(f(sums.sum(0))), f(sums.sum(0) - sums)
        scales = {"h": getattr(common, scale)}
        found = common.interval_sets(theta, np.array([]), away, g, CONFIDENCES, scales)
        for confidence, limits in _limits(found, method).items():
            shared: dict[str, Any] = {"clusters": clusters, "confidence": confidence}
            if "limit" in name:
                pair = validate.limits_of_agreement(y, x, **shared)
                out = pair[name == "upper limit"]
            else:
                out = getattr(validate, name)(y, x, **shared)
            if out.reason is not None:
                # the study has an interval of no use here: next to 0, or to infinity
                assert "differing responses belong to one question" in out.reason
                continue
            _same(out, theta, *limits)
            compared += 1
    assert compared >= 4


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_bias(studies: Any, scenario: str) -> None:
    rng = np.random.default_rng([65, len(scenario)])
    for g in (6, 20, 40, 100):
        for confidence in CONFIDENCES:
            clusters, x, y = studies["c_response"].draw(rng, g, scenario)
            theta, reach = studies["c_bias"].half_widths(clusters, y - x, g, confidence)
            half = reach["t, pair max"]
            out = validate.bias(y, x, clusters=clusters, confidence=confidence)
            if np.array_equal(x, y):
                assert out.reason == "all differences are the same: no variation"
                continue
            _same(out, theta, theta - half, theta + half)


# -- the ceiling -------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", ["balanced", "skewed", "very skewed"])
@pytest.mark.parametrize("coefficient", ["agreement", "cohen_kappa"])
def test_ceiling(studies: Any, coefficient: Any, scenario: str) -> None:
    study, common = studies["d_ceiling"], studies["common"]
    rng = np.random.default_rng([66, len(scenario)])
    compared = 0
    for g in (10, 20, 40, 100) * 3:
        clusters, x = studies["b_agreement"].draw(rng, g, scenario)
        two = (x[:, :3] >= 0).sum(axis=1) >= 2
        sizes = np.bincount(clusters[two], minlength=g)
        if sizes.min() == 0 or _degrees(sizes) != g - 1:
            continue  # the study takes G - 1 degrees of freedom
        sums = study.sums(clusters, g, x)
        for confidence in CONFIDENCES:
            if coefficient == "agreement":
                theta = float(study.f_raw(sums["raw"].sum(axis=0)))
                found = studies["d_few_differences"].intervals(sums["raw"], confidence)
                low, high = found["t, shift"]
            else:
                with np.errstate(all="ignore"):
                    t = sums["kap"]
                    theta, away = float(study.f_kap(t.sum(0))), study.f_kap(t.sum(0) - t)
                if not (math.isfinite(theta) and np.isfinite(away).all()):
                    continue
                none: Any = {}
                sets = common.interval_sets(theta, np.array([]), away, g, (confidence,), none)
                low, high = _limits(sets, "t raw")[confidence]
            out = validate.ceiling_difference(
                x[:, 3].astype(np.int64),
                x[:, :3].astype(np.int64),
                coefficient=coefficient,
                n_categories=3,
                clusters=clusters,
                confidence=confidence,
            )
            if out.reason is not None:
                continue  # nobody disagrees
            _same(out, theta, low, high)
            compared += 1
    assert compared >= 8
