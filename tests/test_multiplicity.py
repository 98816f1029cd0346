"""Adjusted p-values: golden values of other programs, a slow twin, what is undefined."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.scoring.errors import InputError, SettingsError
from accord.validate import adjust, simultaneous_confidence
from accord.validate.multiplicity import Adjustment

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tests.json").read_text("utf-8"))
# R 4.2.2 p.adjust and statsmodels 0.15.0 multipletests agree on each; see the file
CASES = [case for case in GOLDEN["cases"] if case["id"].startswith("adjust/")]
METHODS: dict[str, Adjustment] = {
    "BH": "benjamini_hochberg",
    "BY": "benjamini_yekutieli",
    "holm": "holm",
    "hochberg": "hochberg",
    "bonferroni": "bonferroni",
}


def numbers(cells: list[Any]) -> list[float]:
    return [float(cell) for cell in cells]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_as_other_programs(case: dict[str, Any]) -> None:
    found = adjust(numbers(case["inputs"]["p"]), method=METHODS[case["inputs"]["method"]])
    np.testing.assert_allclose(
        found, numbers(case["expected"]["p"]), atol=case["tolerance"], rtol=0, equal_nan=True
    )


def test_there_are_golden_cases_of_every_method() -> None:
    assert {METHODS[case["inputs"]["method"]] for case in CASES} == set(get_args(Adjustment))


def twin(p: list[float], method: str) -> list[float]:
    """Each definition as it stands: the smallest level at which the procedure rejects."""
    m = len(p)
    out = []
    for mine in p:
        less = sorted(p)
        if method == "bonferroni":
            value = m * mine
        elif method == "holm":
            value = max((m - i) * q for i, q in enumerate(less) if q <= mine)
        elif method == "hochberg":
            value = min((m - i) * q for i, q in enumerate(less) if q >= mine)
        else:
            c = sum(1 / i for i in range(1, m + 1)) if method == "benjamini_yekutieli" else 1
            value = min(c * m * q / (i + 1) for i, q in enumerate(less) if q >= mine)
        out.append(min(value, 1.0))
    return out


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from(get_args(Adjustment)))
def test_as_the_slow_twin(p: list[float], method: Adjustment) -> None:
    np.testing.assert_allclose(adjust(p, method=method), twin(p, method), atol=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from(get_args(Adjustment)))
def test_bounds_and_undefined(p: list[float], method: Adjustment) -> None:
    found = adjust(p, method=method)
    assert (found >= np.array(p)).all() and (found <= 1).all()
    # an undefined test changes nothing for the others
    more = adjust([math.nan, *p, math.nan], method=method)
    assert np.isnan(more[[0, -1]]).all()
    assert np.array_equal(more[1:-1], found)


def test_nothing_and_only_undefined() -> None:
    assert adjust([], method="holm").shape == (0,)
    assert np.isnan(adjust([math.nan], method="holm")).all()


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="p-value 2: 1.5 is not between 0 and 1"):
        adjust([0.5, 1.5], method="holm")
    with pytest.raises(InputError, match="not between"):
        adjust([math.inf], method="holm")
    with pytest.raises(InputError, match="one a test"):
        adjust(np.zeros((2, 2)), method="holm")
    with pytest.raises(SettingsError, match="unknown"):
        adjust([0.5], method="sidak")


def test_simultaneous_confidence() -> None:
    assert simultaneous_confidence(0.95, 5) == pytest.approx(0.99)
    assert simultaneous_confidence(0.9, 1) == simultaneous_confidence(0.9, 0) == 0.9
    with pytest.raises(SettingsError):
        simultaneous_confidence(1.0, 2)
