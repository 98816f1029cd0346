"""Fixtures that several test modules share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def numpy_global_state_is_left_alone() -> Iterator[None]:
    """No code may draw from numpy's global generator: a figure would depend on what ran before."""
    before = np.random.get_state(legacy=False)  # noqa: NPY002 (reads the state it guards)
    yield
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    same = before["state"]["pos"] == after["state"]["pos"] and np.array_equal(
        before["state"]["key"], after["state"]["key"]
    )
    assert same, "numpy's global random state was moved"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of reference data that is not part of the project."""
    name = os.environ.get("ACCORD_SHARED_DATA")
    if name and Path(name).is_dir():
        return Path(name)
    pytest.skip("ACCORD_SHARED_DATA names no folder: the reference data is not on this machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The full counts run only when they are asked for."""
    if os.environ.get("ACCORD_SOAK"):
        return
    for item in list(items):
        if item.get_closest_marker("soak"):
            items.remove(item)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """With CI=true a skipped test has failed: nothing may be left out unnoticed."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]  # pluggy's wrapper protocol
    if report.skipped and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"skipped with CI=true: {report.longrepr}"
