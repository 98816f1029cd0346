"""What every coefficient must say of itself, and refuse, over one table of all of them."""

from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from accord import validate
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
    pearson,
    raw_agreement,
    rmse,
    spearman,
    weighted_kappa,
)

Codes = NDArray[np.int64]
K = 4
VALUES = np.array([0.0, 0.25, 0.5, 1.0])


def _alpha(level: Any) -> Callable[..., Estimate]:
    return lambda x, **kw: krippendorff_alpha(x, level=level, values=VALUES, n_categories=K, **kw)


def _scored(call: Callable[..., Estimate], **more: Any) -> Callable[..., Estimate]:
    return lambda x, **kw: call(VALUES[x[:, 0]], VALUES[x[:, 1]], **kw, **more)


def _several(call: Callable[..., Estimate], weighting: str) -> Callable[..., Estimate]:
    return lambda x, **kw: call(x, weighting=weighting, n_categories=K, **kw)


def _kappa(weighting: Any) -> Callable[..., Estimate]:
    return lambda x, **kw: weighted_kappa(
        x[:, 0], x[:, 1], weighting=weighting, values=VALUES, n_categories=K, **kw
    )


def _icc(form: Any) -> Callable[..., Estimate]:
    return lambda x, **kw: icc(VALUES[x], form=form, rng=0, resamples=0, **kw)


def _limit(side: int) -> Callable[..., Estimate]:
    return lambda x, **kw: limits_of_agreement(VALUES[x[:, 0]], VALUES[x[:, 1]], **kw)[side]


# each takes complete ratings (n, 2) as codes of four values
TABLE: dict[str, Callable[..., Estimate]] = {
    "proportion": lambda x, **kw: clustered_proportion(x[:, 0] == x[:, 1], **kw),
    "agreement": lambda x, **kw: raw_agreement(x, n_categories=K, **kw),
    "cohen_kappa": lambda x, **kw: cohen_kappa(x[:, 0], x[:, 1], n_categories=K, **kw),
    "gwet_ac1": lambda x, **kw: gwet_ac1(x, n_categories=K, **kw),
    "mcc": lambda x, **kw: mcc(x[:, 0], x[:, 1], n_categories=K, **kw),
    "weighted_kappa_linear": _kappa("linear"),
    "weighted_kappa_quadratic": _kappa("quadratic"),
    "gwet_ac2_linear": _several(gwet_ac2, "linear"),
    "gwet_ac2_quadratic": _several(gwet_ac2, "quadratic"),
    "brennan_prediger": _several(brennan_prediger, "identity"),
    "brennan_prediger_quadratic": _several(brennan_prediger, "quadratic"),
    "fleiss_kappa": _several(fleiss_kappa, "identity"),
    "fleiss_kappa_linear": _several(fleiss_kappa, "linear"),
    "conger_kappa": _several(conger_kappa, "identity"),
    "conger_kappa_quadratic": _several(conger_kappa, "quadratic"),
    "krippendorff_alpha_nominal": _alpha("nominal"),
    "krippendorff_alpha_ordinal": _alpha("ordinal"),
    "krippendorff_alpha_interval": _alpha("interval"),
    "krippendorff_alpha_ratio": _alpha("ratio"),
    # a resample is drawn by question number, so the order of questions shows in a bootstrap:
    # its jackknife form has no such memory
    "pearson": _scored(pearson, rng=0, resamples=0),
    "spearman": _scored(spearman, rng=0, resamples=0),
    "ccc": _scored(ccc, rng=0, resamples=0),
    "kendall_tau_b": _scored(kendall_tau_b),
    "icc_agreement": _icc("agreement"),
    "icc_consistency": _icc("consistency"),
    "rmse": _scored(rmse),
    "limit_of_agreement_lower": _limit(0),
    "limit_of_agreement_upper": _limit(1),
    "mad": _scored(mad),
    "bias": _scored(bias),
}
NAMES = sorted(TABLE)


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_says_how_it_was_made(name: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, K, (80, 2))
    out = TABLE[name](x, clusters=np.arange(80) // 4)
    assert out.name == name
    assert out.unit == "question" and out.method and out.confidence == 0.95
    assert (out.n, out.clusters) == (80, 20)
    assert {"se", "df", "effective_n"} <= set(out.details)
    assert out.details["se"] > 0 and out.design_effect > 0
    assert "\n" not in repr(out)
    text = json.dumps(out.to_dict(), allow_nan=False)
    assert json.loads(text)["name"] == name
    frame = out.to_frame()
    assert frame.shape[0] == 1 and frame.loc[0, "estimate"] == out.estimate
    item = TABLE[name](x, clusters=np.arange(80) // 4, unit="item")
    assert item.unit == "item" and "independent" in item.method
    assert item.design_effect == pytest.approx(out.design_effect)


@pytest.mark.parametrize("name", NAMES)
def test_an_undefined_figure_is_null_with_a_reason(name: str) -> None:
    out = TABLE[name](np.zeros((0, 2), dtype=np.int64), clusters=np.zeros(0, dtype=int))
    assert math.isnan(out.estimate)
    shown = json.loads(json.dumps(out.to_dict(), allow_nan=False))
    assert shown["estimate"] is None and shown["low"] is None and shown["reason"] == "no items"
    assert "undefined (no items)" in repr(out)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"confidence": 95}, "confidence"),
        ({"unit": "word"}, "unit"),
        ({"weights": np.zeros(40)}, "weight"),
        ({"weights": np.ones(3)}, "weights"),
        ({"clusters": np.zeros(39, dtype=int)}, "clusters"),
    ],
)
def test_bad_arguments_name_themselves(name: str, change: dict[str, Any], error: str) -> None:
    from accord.scoring.errors import AccordError

    given_: dict[str, Any] = {"clusters": np.arange(40) // 4, **change}
    with pytest.raises(AccordError, match=error):
        TABLE[name](np.tile([[0, 1], [1, 1]], (20, 1)), **given_)


def test_inputs_are_left_as_they_were() -> None:
    rng = np.random.default_rng(0)
    x, clusters, w = rng.integers(0, K, (60, 2)), np.arange(60) // 4, rng.uniform(1, 2, 60)
    copies = (x.copy(), clusters.copy(), w.copy())
    for call in TABLE.values():
        call(x, clusters=clusters, weights=w)
    scores = rng.random((2, 60))
    before = scores.copy()
    pearson(scores[0], scores[1], clusters=clusters, rng=0, resamples=199)
    mad(scores[0], scores[1], clusters=clusters)
    np.testing.assert_array_equal(scores, before)
    for now, then in zip((x, clusters, w), copies, strict=True):
        np.testing.assert_array_equal(now, then)


def test_public_names_are_there_and_importing_them_is_cheap() -> None:
    for name in validate.__all__:
        assert getattr(validate, name) is not None
    code = (
        "import sys, accord.validate as v; v.cohen_kappa, v.audit_counts, v.spearman; "
        "heavy = {'pandas', 'scipy.stats', 'statsmodels', 'matplotlib', 'krippendorff'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    with pytest.raises(AttributeError):
        importlib.import_module("accord.validate").__getattr__("nothing")
