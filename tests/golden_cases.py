"""Cases of the golden files: read, computed by the handler of their kind, compared key by key.

Every case must have a handler and every key of ``expected`` a figure: a walk fails on a case that
nothing computes, so none is left out unseen.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Case = dict[str, Any]
Figures = Mapping[str, Any]
EXCEPTIONS: dict[tuple[str, str], str] = {}
"""(case, key) → why accord means to return something else. None is needed."""
_SPECIAL = {"NaN": math.nan, "Inf": math.inf, "-Inf": -math.inf, "NA": math.nan}


@cache
def topic(name: str) -> dict[str, Any]:
    """A golden file."""
    found: dict[str, Any] = json.loads(
        (Path(__file__).parent / "golden" / f"{name}.json").read_text(encoding="utf-8")
    )
    return found


def parameters(name: str) -> list[Any]:
    """Every case of a topic, with the mark of those that need the reference data."""
    return [
        pytest.param(
            case, id=case["id"], marks=[pytest.mark.shared_data] if needs_data(case) else []
        )
        for case in topic(name)["cases"]
    ]


def needs_data(case: Case) -> bool:
    return "file" in case["inputs"]


def compare(
    case: Case, figures: Figures, exceptions: Mapping[tuple[str, str], str] = EXCEPTIONS
) -> None:
    """Each expected key against the figure of its name.

    ``exceptions`` maps (case, key) to the reason for not comparing; a reason for a key that agrees
    is out of date, and fails.
    """
    for key, wanted in case["expected"].items():
        assert key in figures, f"{case['id']}: nothing computes {key}"
        got, expected = _values(figures[key]), _values(wanted)
        # figures of 100,000 and more have no digits left for an absolute 1e-9
        agree = got == pytest.approx(expected, rel=1e-13, abs=case["tolerance"], nan_ok=True)
        if (case["id"], key) in exceptions:
            assert not agree, f"{case['id']}: {key} agrees, the exception is out of date"
        else:
            assert agree, f"{case['id']}: {key} is {got}, not {expected}"


def _values(value: Any) -> list[float]:
    each: Iterable[Any] = value if isinstance(value, (list, tuple, np.ndarray)) else [value]
    return [float(_SPECIAL.get(v, v) if isinstance(v, str) else v) for v in each]


def handler(case: Case, handlers: Mapping[str, Callable[..., Any]], kind: str) -> Any:
    """The handler of a kind of case; a missing one fails by name."""
    assert kind in handlers, f"{case['id']}: no handler for {kind!r}"
    return handlers[kind]


@cache
def _rows(path: Path) -> tuple[dict[str, str], ...]:
    with path.open(encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))


def synthetic(request: pytest.FixtureRequest, file: str) -> tuple[dict[str, str], ...]:
    """Rows of a synthetic table of the reference data."""
    shared: Path = request.getfixturevalue("shared_data")
    return _rows(shared / "synthetic" / Path(file).name)


def column(rows: Iterable[Mapping[str, str]], name: str) -> Floats:
    """A column as numbers, NaN where blank; or the mean of three annotators."""
    if not name.startswith("mean of"):
        return np.array([float(row[name] or "nan") for row in rows])
    three = [[float(row[a]) for a in ("ann1", "ann2", "ann3") if row[a]] for row in rows]
    return np.array([float(np.mean(cell)) if cell else math.nan for cell in three])


def table(name: str, case: Case, request: pytest.FixtureRequest) -> Floats:
    """The case's numbers, ``(n, columns)``, NaN where missing."""
    given = case["inputs"]
    if "table" not in given:
        rows = synthetic(request, given["file"])
        names = given["columns"] if "columns" in given else [given["x"], given["y"]]
        return np.column_stack([column(rows, c) for c in names])
    found = topic(name)["tables"][given["table"]]
    if "rows" in found:
        return np.array(found["rows"], dtype=float)
    columns = found["raters"].values() if "raters" in found else [found["x"], found["y"]]
    return np.array([[math.nan if v is None else v for v in one] for one in columns], dtype=float).T


def complete(values: Floats) -> Floats:
    """The rows without a gap."""
    return values[~np.isnan(values).any(axis=1)]


def coded(values: Floats) -> tuple[Codes, Floats]:
    """Ratings as codes of the distinct values seen (-1 missing), and those values."""
    seen = np.unique(values[~np.isnan(values)])
    codes = np.searchsorted(seen, np.nan_to_num(values))
    return np.where(np.isnan(values), -1, codes).astype(np.int64), seen


def spread_out(counts: list[list[int]]) -> Codes:
    """A square table of counts as two raters' codes, one row an item."""
    cells = [(i, j) for i, row in enumerate(counts) for j, c in enumerate(row) for _ in range(c)]
    return np.array(cells)
