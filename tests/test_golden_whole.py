"""The golden walks leave nothing out: every case and key of the seven files, by number."""

from __future__ import annotations

import pytest

from golden_cases import EXCEPTIONS, compare, handler, parameters, topic

# cases and expected figures of each file; figures of a key that is a list count one by one
WHOLE = {
    "proportions": (185, 405),
    "kappa": (108, 586),
    "alpha": (33, 126),
    "correlation": (107, 432),
    "scores": (37, 152),
    "cluster": (35, 108),
    "tests": (52, 186),
}


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_file_has_the_cases_and_figures_that_are_walked(name: str) -> None:
    cases = topic(name)["cases"]
    figures = sum(
        len(value) if isinstance(value, list) else 1
        for case in cases
        for value in case["expected"].values()
    )
    assert (len(cases), figures) == WHOLE[name]
    assert len({case["id"] for case in cases}) == len(cases) == len(parameters(name))


def test_no_exception_is_kept_without_need() -> None:
    known = {case["id"]: case["expected"] for name in WHOLE for case in topic(name)["cases"]}
    for (case, key), reason in EXCEPTIONS.items():
        assert key in known[case] and reason


def test_the_walk_fails_on_a_case_or_key_that_nothing_computes() -> None:
    case = {"id": "new/thing", "inputs": {}, "expected": {"a": 1.0, "b": "NaN"}, "tolerance": 1e-9}
    with pytest.raises(AssertionError, match="no handler for 'new'"):
        handler(case, {"old": dict}, "new")
    with pytest.raises(AssertionError, match="nothing computes b"):
        compare(case, {"a": 1.0})
    with pytest.raises(AssertionError, match="a is .*, not"):
        compare(case, {"a": 1.0 + 2e-9, "b": float("nan")})
    compare(case, {"a": 1.0, "b": float("nan")})
    with pytest.raises(AssertionError, match="out of date"):
        compare(case, {"a": 1.0, "b": float("nan")}, {("new/thing", "a"): "a reason"})
