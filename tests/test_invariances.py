"""What must not change a figure, over one table of all of them.

Every coefficient is one row of ``TABLE`` that says which changes of the data it doesn't see, and
how it follows the others; every property is then tested over the whole table.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from accord import validate
from accord.validate import Estimate

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Follows = Literal["same", "negated", "times", "otherwise"]
K = 4


@dataclass(frozen=True, slots=True)
class Row:
    """A coefficient.

    Parameters
    ----------
    of
        The public function.
    call
        From codes ``(n, raters)`` 0..k-1 (-1 missing), the k values they stand for and k.
    raters, gaps
        How many it takes; whether ratings may be missing.
    names
        Whether labels are names only, so that any other names do.
    order
        Whether only the order of the values counts.
    reversal, shift, scale
        What happens when the scale is turned round, moved, stretched.
    swap, with_swap
        What happens when the raters change places, and the row that the figure then is.
    copies
        Whether each item twice (or of weight 2) leaves the estimate as it is; ``alpha`` and
        ``spread`` where a divisor of n - 1 follows by a known factor, ``n`` where it does not.
    declared
        Whether it depends on how many categories are declared.
    least, most
        The range.
    """

    of: str
    call: Callable[..., Estimate]
    raters: int = 2
    gaps: bool = False
    names: bool = False
    order: bool = False
    reversal: Follows = "same"
    shift: Follows = "same"
    scale: Follows = "same"
    swap: Follows = "same"
    with_swap: str | None = None
    copies: Literal["same", "alpha", "spread", "n"] = "same"
    declared: bool = False
    least: float = -1.0
    most: float = 1.0


def _two(name: str, **about: Any) -> Row:
    """Two raters' labels."""

    def call(x: Codes, values: Floats, k: int, **shared: Any) -> Estimate:
        return getattr(validate, name)(x[:, 0], x[:, 1], n_categories=k, **shared)

    return Row(name, call, gaps=True, **{"names": True, "order": True, **about})


def _near(name: str, weighting: str, raters: int = 3, **about: Any) -> Row:
    """Labels whose distance counts."""

    def call(x: Codes, values: Floats, k: int, **shared: Any) -> Estimate:
        who = (x,) if raters == 3 else (x[:, 0], x[:, 1])
        more = {"weighting": weighting, "values": values, "n_categories": k}
        return getattr(validate, name)(*who, **more, **shared)

    # distances as shares of the largest do not see the unit
    names = weighting == "identity"
    return Row(name, call, raters=raters, gaps=True, names=names, order=names, **about)


def _many(name: str, **about: Any) -> Row:
    def call(x: Codes, values: Floats, k: int, **shared: Any) -> Estimate:
        return getattr(validate, name)(x, n_categories=k, **shared)

    return Row(name, call, raters=3, gaps=True, names=True, order=True, **about)


def _alpha(level: str, **about: Any) -> Row:
    def call(x: Codes, values: Floats, k: int, **shared: Any) -> Estimate:
        given_: dict[str, Any] = {"level": level, "values": values, "n_categories": k}
        return validate.krippendorff_alpha(x, **given_, **shared)

    return Row("krippendorff_alpha", call, raters=3, gaps=True, copies="alpha", **about)


def _scores(name: str, more: dict[str, Any] | None = None, **about: Any) -> Row:
    """Scores of two; the jackknife's interval, since a resample is drawn by question number."""

    def call(x: Codes, values: Floats, k: int, **shared: Any) -> Estimate:
        return getattr(validate, name)(values[x[:, 0]], values[x[:, 1]], **(more or {}), **shared)

    return Row(name, call, **about)


def _icc(form: Any) -> Row:
    def call(x: Codes, values: Floats, k: int, **shared: Any) -> Estimate:
        return validate.icc(values[x], form=form, rng=0, resamples=0, **shared)

    return Row("icc", call, raters=3, copies="n", least=-math.inf)


def _limit(side: int) -> Row:
    def call(x: Codes, values: Floats, k: int, **shared: Any) -> Estimate:
        return validate.limits_of_agreement(values[x[:, 0]], values[x[:, 1]], **shared)[side]

    other = f"limit of agreement, {('upper', 'lower')[side]}"
    return Row(
        "limits_of_agreement",
        call,
        reversal="negated",
        scale="times",
        swap="negated",
        with_swap=other,
        copies="spread",
        least=-math.inf,
        most=math.inf,
    )


def _share(name: str, with_swap: str | None) -> Row:
    """The first rater judges, the second has the truth; code 3 is right."""

    def call(x: Codes, values: Floats, k: int, **shared: Any) -> Estimate:
        judged, true = x[:, 0] == 3, x[:, 1] == 3
        right, among, hits = {
            "agreement of pairs": (x[:, 0] == x[:, 1], None, 1),
            "sensitivity": (judged, true, 1),
            "specificity": (~judged, ~true, 1),
            "precision": (true, judged, 1),
            "f1": (judged & true, judged | true, 2),
        }[name]
        return validate.clustered_proportion(right, among=among, hits=hits, **shared)

    return Row(
        "clustered_proportion",
        call,
        names=name == "agreement of pairs",
        order=True,
        reversal="same" if name == "agreement of pairs" else "otherwise",
        swap="same" if with_swap else "otherwise",
        with_swap=with_swap,
        least=0.0,
    )


def _youden(x: Codes, values: Floats, k: int, **shared: Any) -> Estimate:
    return validate.youden(x[:, 0], x[:, 1], positive=3, n_categories=k, **shared)


def _ceiling(coefficient: Any) -> Row:
    def call(x: Codes, values: Floats, k: int, **shared: Any) -> Estimate:
        given_: dict[str, Any] = {"coefficient": coefficient, "n_categories": k}
        # the judge stands in the middle, so that only people change places
        return validate.ceiling_difference(x[:, 1], x[:, [0, 2]], **given_, **shared)

    kappa = coefficient == "cohen_kappa"
    return Row(
        "ceiling_difference",
        call,
        raters=3,
        gaps=True,
        names=True,
        order=True,
        least=-2.0 if kappa else -1.0,
        most=2.0 if kappa else 1.0,
    )


def _human(statistic: Any, figure: str, **about: Any) -> Row:
    labels = statistic in ("agreement", "cohen_kappa")

    def call(x: Codes, values: Floats, k: int, **shared: Any) -> Estimate:
        given_: Any = x if labels else np.where(x >= 0, values[x], math.nan)
        more = {"statistic": statistic, "n_categories": k if labels else None}
        found = validate.leave_one_out_ceiling(given_[:, 1], given_[:, [0, 2]], **more, **shared)
        return getattr(found, figure)

    return Row(
        "leave_one_out_ceiling", call, raters=3, gaps=True, names=labels, order=labels, **about
    )


JACKKNIFE: dict[str, Any] = {"rng": 0, "resamples": 0}
SIZE: dict[str, Any] = {"scale": "times", "least": 0.0, "most": math.inf}
TABLE: dict[str, Row] = {
    "agreement of pairs": _share("agreement of pairs", "agreement of pairs"),
    "sensitivity": _share("sensitivity", "precision"),
    "specificity": _share("specificity", None),
    "precision": _share("precision", "sensitivity"),
    "f1": _share("f1", "f1"),
    "macro f1": _two("macro_f1", least=0.0),
    "youden": Row("youden", _youden, gaps=True, order=True, reversal="otherwise", swap="otherwise"),
    "raw agreement": _many("raw_agreement", least=0.0),
    "cohen kappa": _two("cohen_kappa"),
    "mcc": _two("mcc"),
    "gwet ac1": _many("gwet_ac1", declared=True),
    "brennan-prediger": _near("brennan_prediger", "identity", declared=True),
    "brennan-prediger, linear": _near("brennan_prediger", "linear", declared=True),
    "fleiss kappa": _near("fleiss_kappa", "identity"),
    "fleiss kappa, linear": _near("fleiss_kappa", "linear"),
    "conger kappa": _near("conger_kappa", "identity"),
    "conger kappa, quadratic": _near("conger_kappa", "quadratic"),
    "weighted kappa, linear": _near("weighted_kappa", "linear", 2),
    "weighted kappa, quadratic": _near("weighted_kappa", "quadratic", 2),
    "ac2, linear": _near("gwet_ac2", "linear", declared=True),
    "ac2, quadratic": _near("gwet_ac2", "quadratic", declared=True),
    "alpha, nominal": _alpha("nominal", names=True, order=True),
    "alpha, ordinal": _alpha("ordinal", order=True),
    "alpha, interval": _alpha("interval"),
    "alpha, ratio": _alpha("ratio", reversal="otherwise", shift="otherwise"),
    "pearson": _scores("pearson", JACKKNIFE),
    "spearman": _scores("spearman", JACKKNIFE, order=True),
    "kendall tau-b": _scores("kendall_tau_b", order=True),
    "ccc": _scores("ccc", JACKKNIFE),
    "icc, agreement": _icc("agreement"),
    "icc, consistency": _icc("consistency"),
    "mad": _scores("mad", **SIZE),
    "rmse": _scores("rmse", **SIZE),
    "bias": _scores(
        "bias",
        reversal="negated",
        scale="times",
        swap="negated",
        least=-math.inf,
        most=math.inf,
    ),
    "limit of agreement, lower": _limit(0),
    "limit of agreement, upper": _limit(1),
    **{
        f"people's own {statistic}, {figure}": _human(statistic, figure, **about)
        for figure, about in {
            "people": {},
            "difference": {"least": -2.0, "most": 2.0},
        }.items()
        for statistic in ("agreement", "cohen_kappa", "pearson")
    },
    "people's own mad, people": _human("mad", "people", **SIZE),
    "people's own mad, difference": _human("mad", "difference", **{**SIZE, "least": -math.inf}),
    "ceiling": _ceiling("agreement"),
    "ceiling of kappa": _ceiling("cohen_kappa"),
}
ELSEWHERE = {
    "alignment_accuracy": "the clustered proportion under another name",
    "equivalence": "a test of the bias against a margin",
    "noninferiority": "a test of the bias against a margin",
    "question_jackknife": "takes any figure, and is none",
    "icc_missing": "fits by iteration, to fewer digits",
    "mean_score": "one score alone, with nobody to swap it with",
}


def _only(keep: Callable[[Row], bool]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [name for name, row in TABLE.items() if keep(row)])


EVERY = _only(lambda row: True)
EXAMPLES = settings(max_examples=5, deadline=None, derandomize=True)
SEED = st.integers(0, 2**31)


def test_every_coefficient_is_in_the_table() -> None:
    def of_items(name: str) -> bool:
        thing = getattr(validate, name)
        if not inspect.isfunction(thing):
            return False
        return "clusters" in inspect.signature(thing).parameters

    found = {name for name in validate.__all__ if of_items(name)}
    assert found - {row.of for row in TABLE.values()} - set(ELSEWHERE) == set()


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Ratings of three, some missing; 12 to 25 questions; values of even steps or not."""

    rng: np.random.Generator
    x: Codes
    clusters: Codes
    w: Floats
    values: Floats

    def of(self, row: Row) -> Data:
        """What the coefficient can take."""
        x = np.abs(self.x) if not row.gaps else self.x
        return Data(self.rng, x[:, : row.raters], self.clusters, self.w, self.values)

    def __call__(self, row: Row, x: Codes | None = None, **changed: Any) -> Estimate:
        given_: dict[str, Any] = {"values": self.values, "k": K, "clusters": self.clusters}
        given_ |= {"weights": self.w, **changed}
        return row.call(self.x if x is None else x, **given_)


def _data(seed: int, row: Row, even: bool = False) -> Data:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(50, 80))
    truth = rng.choice(K, n, p=rng.dirichlet(np.full(K, 2.0)))
    noise = rng.choice([0.05, 0.3, 0.8])
    x = np.where(rng.random((n, 3)) < noise, rng.integers(0, K, (n, 3)), truth[:, None])
    x[rng.random((n, 3)) < 0.15] = -1
    clusters = np.concatenate([np.arange(12), rng.integers(0, 25, n - 12)])
    steps = np.arange(K) if even else np.sort(rng.choice(40, K, replace=False))
    w = rng.uniform(0.5, 3, n)
    return Data(rng, x.astype(np.int64), clusters, w, steps / 8 + 0.125).of(row)


def _follows(one: Estimate, two: Estimate, how: Follows = "same", factor: float = 1.0) -> None:
    """``two`` is ``one``, or that with its sign or its unit changed."""
    low, high = one.low, one.high
    if how == "negated":
        factor, low, high = -factor, high, low
    expected = [factor * one.estimate, factor * low, factor * high]
    assert [two.estimate, two.low, two.high] == pytest.approx(
        expected, abs=1e-9 * max(1, abs(factor)), nan_ok=True
    ), (one, two)
    assert two.design_effect == pytest.approx(one.design_effect, rel=1e-6, nan_ok=True)
    assert (one.n, one.clusters, one.reason) == (two.n, two.clusters, two.reason)


# -- items and questions -----------------------------------------------------------------------


@EVERY
@given(seed=SEED)
@EXAMPLES
def test_the_order_of_items(name: str, seed: int) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    order = data.rng.permutation(len(data.x))
    for unit in ("question", "item"):
        moved = data(
            row, data.x[order], clusters=data.clusters[order], weights=data.w[order], unit=unit
        )
        _follows(data(row, unit=unit), moved)


@EVERY
@given(seed=SEED)
@EXAMPLES
def test_the_names_of_questions(name: str, seed: int) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    new = data.rng.permutation(1000)[:25] - 500
    _follows(data(row), data(row, clusters=new[data.clusters]))


@_only(lambda row: row.gaps)
@given(seed=SEED)
@EXAMPLES
def test_an_item_that_nobody_rated(name: str, seed: int) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    empty = np.full((2, row.raters), -1)
    one, more = (
        data(row),
        data(
            row,
            np.vstack([data.x, empty]),
            # in a question that is there, and in one of its own
            clusters=np.r_[data.clusters, data.clusters[0], 99],
            weights=np.r_[data.w, 7.0, 7.0],
        ),
    )
    _follows(one, more)
    assert sum(more.dropped.values()) == sum(one.dropped.values()) + 2


# -- weights -----------------------------------------------------------------------------------


@EVERY
@given(seed=SEED, factor=st.sampled_from([0.001, 7.0]))
@EXAMPLES
def test_a_constant_factor_in_the_weights(name: str, seed: int, factor: float) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    for unit in ("question", "item"):
        _follows(data(row, unit=unit), data(row, weights=factor * data.w, unit=unit))
    even = np.full(len(data.w), factor)
    _follows(data(row, weights=None), data(row, weights=even))


@_only(lambda row: row.copies == "same")
@given(seed=SEED)
@EXAMPLES
def test_an_item_of_weight_two_is_the_item_twice(name: str, seed: int) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    often = data.rng.integers(1, 4, len(data.x))
    places = np.repeat(np.arange(len(data.x)), often)
    heavy = data(row, weights=often.astype(float))
    many = data(row, data.x[places], clusters=data.clusters[places], weights=None)
    assert many.estimate == pytest.approx(heavy.estimate, abs=1e-12, nan_ok=True)


@EVERY
@given(seed=SEED)
@EXAMPLES
def test_a_copy_of_each_item_in_its_question(name: str, seed: int) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    one = data(row, weights=None)
    two = data(row, np.vstack([data.x] * 2), clusters=np.tile(data.clusters, 2), weights=None)
    if row.copies == "same":
        expected = one.estimate
        # copies inside a question tell nothing new, and the design effect says so
        twice = one.design_effect * (2 * one.n - 1) / (one.n - 1)
        assert two.design_effect == pytest.approx(twice, rel=1e-6, nan_ok=True)
    elif row.copies == "alpha":
        # expected disagreement is that of pairs drawn without replacement: n (n - 1) of them
        n = one.details["pairable"]
        expected = 1 - (1 - one.estimate) * (2 * n - 1) / (2 * (n - 1))
    elif row.copies == "spread":
        # the standard deviation has divisor n - 1
        n, sd = one.n, one.details["sd"]
        z = math.copysign(1.959963984540054, two.estimate - one.estimate)
        sign = 1 if "upper" in name else -1
        less = math.sqrt(2 * (n - 1) / (2 * n - 1)) - 1
        expected = one.estimate + sign * abs(z) * sd * less
    else:
        assert abs(two.estimate - one.estimate) < 1 / one.n
        return
    assert two.estimate == pytest.approx(expected, abs=1e-10, nan_ok=True)


# -- the scale ---------------------------------------------------------------------------------


@_only(lambda row: row.names)
@given(seed=SEED, new=st.permutations(range(K)))
@EXAMPLES
def test_other_names_for_labels(name: str, seed: int, new: list[int]) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    _follows(data(row), data(row, np.array([*new, -1])[data.x]))


def test_other_names_matter_where_labels_have_an_order() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, K, (80, 3))
    x[:, 1:] = np.where(rng.random((80, 2)) < 0.5, x[:, :1], np.minimum(x[:, :1] + 1, K - 1))
    values, clusters = np.array([0.125, 0.5, 1.0, 2.0]), np.arange(80) // 4
    for name, row in TABLE.items():
        if not row.names:
            one, two = (
                row.call(y[:, : row.raters], values, K, clusters=clusters).estimate
                for y in (x, np.array([2, 0, 3, 1])[x])
            )
            assert abs(one - two) > 1e-3, name


@_only(lambda row: row.reversal != "otherwise")
@given(seed=SEED)
@EXAMPLES
def test_the_scale_turned_round(name: str, seed: int) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    turned = np.where(data.x >= 0, K - 1 - data.x, -1)
    values = data.values.max() + data.values.min() - data.values[::-1]
    other = TABLE[row.with_swap] if row.reversal == "negated" and row.with_swap else row
    _follows(data(row), data(other, turned, values=values), row.reversal)


@EVERY
@given(seed=SEED)
@EXAMPLES
def test_the_scale_moved(name: str, seed: int) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    one, two = data(row), data(row, values=data.values + 3.75)
    if row.shift == "same":
        _follows(one, two)
    elif 0 < abs(one.estimate) < 1:
        assert two.estimate != pytest.approx(one.estimate, abs=1e-6)


@EVERY
@given(seed=SEED, factor=st.sampled_from([0.01, 3.0]))
@EXAMPLES
def test_the_scale_stretched(name: str, seed: int, factor: float) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    two = data(row, values=factor * data.values)
    _follows(data(row), two, row.scale, factor if row.scale == "times" else 1.0)


@_only(lambda row: row.order)
@given(seed=SEED)
@EXAMPLES
def test_the_scale_bent(name: str, seed: int) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    _follows(data(row), data(row, values=data.values**3))


@EVERY
@given(seed=SEED)
@EXAMPLES
def test_a_declared_category_that_nobody_uses(name: str, seed: int) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    # inside the range, so that the largest distance stays
    values = np.r_[data.values, (data.values[0] + data.values[1]) / 2]
    one, two = data(row), data(row, k=K + 1, values=values)
    if row.declared:
        assert abs(two.estimate - one.estimate) > 1e-4 or one.estimate == 1
    else:
        assert two.estimate == pytest.approx(one.estimate, abs=1e-12, nan_ok=True)


# -- raters ------------------------------------------------------------------------------------


@_only(lambda row: row.swap != "otherwise")
@given(seed=SEED)
@EXAMPLES
def test_raters_change_places(name: str, seed: int) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    other = TABLE[row.with_swap] if row.with_swap else row
    _follows(data(row), data(other, data.x[:, ::-1]), row.swap)


# -- bounds ------------------------------------------------------------------------------------


@EVERY
@given(seed=SEED, confidence=st.sampled_from([0.8, 0.95, 0.999]))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_estimate_and_limits_in_range_and_in_order(name: str, seed: int, confidence: float) -> None:
    row = TABLE[name]
    data = _data(seed, row)
    out = data(row, confidence=confidence)
    if math.isnan(out.estimate):
        assert out.reason and math.isnan(out.low) and math.isnan(out.high)
        return
    assert row.least <= out.estimate <= row.most
    if math.isnan(out.low):
        assert math.isnan(out.high) and out.reason
        return
    assert out.reason is None
    assert out.low <= out.estimate <= out.high
    if "ceiling" not in row.of:  # the scale of a difference is the plain one
        assert row.least <= out.low and out.high <= row.most
    wider = data(row, confidence=0.9995)
    assert wider.low <= out.low + 1e-12 and wider.high >= out.high - 1e-12
