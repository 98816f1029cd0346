"""Errors out of a number of checked answers."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest

from accord.scoring.errors import SettingsError
from accord.validate import audit_counts

GOLDEN = json.loads((Path(__file__).parent / "golden" / "proportions.json").read_text())


def _cases(method: str) -> list[Any]:
    return [
        pytest.param(case, id=case["id"])
        for case in GOLDEN["cases"]
        if case["id"].split("/")[0] == method
    ]


def test_eight_of_481() -> None:
    out = audit_counts(8, 481)
    # Wilson's formula with z = 1.959964, R binom::binom.confint(8, 481, 0.95, "wilson")
    assert out.estimate == pytest.approx(8 / 481, abs=1e-15)
    assert out.low == pytest.approx(0.008451, abs=5e-7)
    assert out.high == pytest.approx(0.032472, abs=5e-7)
    assert (out.name, out.level, out.unit, out.n) == ("error_rate", "dataset", "item", 481)
    assert out.method == "Wilson score interval, z"
    assert out.warnings == ()
    assert out.details["errors"] == 8


@pytest.mark.parametrize("method", ["wilson", "clopper_pearson", "jeffreys", "agresti_coull"])
def test_named_methods(method: Any) -> None:
    for param in _cases(method):
        case = param.values[0]
        given, expected = case["inputs"], case["expected"]
        out = audit_counts(given["x"], given["n"], confidence=given["confidence"], method=method)
        assert out.low == pytest.approx(expected["low"], abs=case["tolerance"]), case["id"]
        assert out.high == pytest.approx(expected["high"], abs=case["tolerance"]), case["id"]


@pytest.mark.parametrize("case", _cases("one_sided_upper"))
def test_one_sided_bound(case: dict[str, Any]) -> None:
    given = case["inputs"]
    out = audit_counts(
        given["x"], given["n"], confidence=given["confidence"], method="clopper_pearson"
    )
    assert out.details["one_sided_method"] == "Clopper-Pearson exact"
    assert out.details["one_sided_upper"] == pytest.approx(
        case["expected"]["high"], abs=case["tolerance"]
    )


def test_the_one_sided_bound_is_the_methods_own() -> None:
    # Wilson's upper limit with z = 1.644854 by hand: centre (p + z2/2n)/(1 + z2/n) with
    # p = 8/481, z2/n = 0.0056248 -> 0.0193357, half width 0.0099394
    out = audit_counts(8, 481)
    assert out.details["one_sided_upper"] == pytest.approx(0.0292751, abs=5e-7)
    assert out.details["one_sided_method"] == "Wilson score"
    # no error: the exact bound 1 - 0.05^(1/n), about 3/n, by name; below 7 answers it would lie
    # above Wilson's limit z2/(n + z2)
    none = audit_counts(0, 100)
    assert none.details["one_sided_upper"] == pytest.approx(1 - 0.05**0.01, abs=1e-12)
    assert none.details["one_sided_method"] == "exact binomial"
    two = audit_counts(0, 2)
    assert two.details["one_sided_upper"] == two.high == pytest.approx(3.841459 / 5.841459)
    assert two.details["one_sided_method"] == "Wilson's two-sided limit"
    assert audit_counts(1, 9, confidence=0.5).details["one_sided_upper"] is None


@pytest.mark.parametrize(
    "method", ["wilson", "clopper_pearson", "jeffreys", "agresti_coull", "hypergeometric"]
)
@pytest.mark.parametrize("confidence", [0.6, 0.9, 0.95, 0.99])
def test_the_one_sided_bound_is_never_above_the_interval(method: Any, confidence: float) -> None:
    for n in (1, 2, 5, 6, 7, 30):
        for errors in range(n + 1):
            out = audit_counts(errors, n, confidence=confidence, method=method, population=90)
            assert errors / n <= out.details["one_sided_upper"] <= out.high, (errors, n)


@pytest.mark.parametrize("case", _cases("hypergeometric"))
def test_hypergeometric(case: dict[str, Any]) -> None:
    given, expected = case["inputs"], case["expected"]
    out = audit_counts(
        given["x"],
        given["n"],
        confidence=given["confidence"],
        method="hypergeometric",
        population=given["N"],
    )
    assert out.details["low_count"] == expected["low_count"]
    assert out.details["high_count"] == expected["high_count"]
    assert out.low == pytest.approx(expected["low"], abs=case["tolerance"])
    assert out.high == pytest.approx(expected["high"], abs=case["tolerance"])
    assert out.method == "exact hypergeometric interval"


def _exact_upper(x: int, n: int, size: int, tail: Fraction) -> int:
    """Largest D with P(X <= x | D) > tail, in whole numbers, every D tried."""
    total = comb(size, n)
    best = x
    for wrong in range(x, size - n + x + 1):
        ways = sum(
            comb(wrong, k) * comb(size - wrong, n - k)
            for k in range(x + 1)
            if n - k <= size - wrong and k <= wrong
        )
        if Fraction(ways, total) > tail:
            best = wrong
    return best


@pytest.mark.parametrize(("x", "n", "size"), [(0, 7, 30), (3, 12, 40), (12, 12, 40), (5, 5, 5)])
def test_hypergeometric_against_whole_numbers(x: int, n: int, size: int) -> None:
    out = audit_counts(x, n, confidence=0.9, population=size)
    assert out.details["high_count"] == _exact_upper(x, n, size, Fraction(1, 20))
    assert out.details["low_count"] == size - _exact_upper(n - x, n, size, Fraction(1, 20))
    assert out.details["one_sided_upper"] == _exact_upper(x, n, size, Fraction(1, 10)) / size


def test_a_small_population_is_counted_exactly() -> None:
    assert audit_counts(8, 481, population=4999).method == "exact hypergeometric interval"
    assert audit_counts(8, 481, population=5000).method == "Wilson score interval, z"


def test_a_method_asked_for_by_name_is_kept() -> None:
    out = audit_counts(8, 481, method="jeffreys", population=3000)
    assert out.method == "Jeffreys interval"
    assert any("3000" in said for said in out.warnings)


def test_a_census_is_a_point() -> None:
    out = audit_counts(3, 50, population=50)
    assert (out.low, out.estimate, out.high) == (0.06, 0.06, 0.06)


@pytest.mark.parametrize("errors", [0, 4])
def test_few_errors_name_the_one_sided_bound(errors: int) -> None:
    out = audit_counts(errors, 100)
    assert any("one-sided bound" in said for said in out.warnings)
    assert audit_counts(5, 100).warnings == ()


def test_no_error_is_not_a_rate_of_zero() -> None:
    out = audit_counts(0, 100)
    assert (out.estimate, out.low) == (0.0, 0.0)
    assert out.high > 0.03
    # exact rule of three: 1 - 0.05^(1/100)
    assert out.details["one_sided_upper"] == pytest.approx(1 - 0.05**0.01, abs=1e-12)
    wrong = audit_counts(100, 100)
    assert wrong.high == 1.0
    assert wrong.low == pytest.approx(1 - out.high, abs=1e-12)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"errors": 9, "n": 8}, "9 errors in 8"),
        ({"errors": -1, "n": 8}, "not a count"),
        ({"errors": 1.5, "n": 8}, "not a count"),
        ({"errors": 0, "n": 0}, "nothing was checked"),
        ({"errors": 1, "n": 8, "population": 5}, "can't hold"),
        ({"errors": 1, "n": 8, "method": "wald"}, "unknown"),
        ({"errors": 1, "n": 8, "method": "hypergeometric"}, "population"),
        ({"errors": 1, "n": 8, "confidence": 95}, "confidence"),
        ({"errors": math.nan, "n": 8}, "not a count"),
        ({"errors": 1, "n": math.inf}, "not a count"),
    ],
)
def test_what_is_no_audit_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        audit_counts(**given)
