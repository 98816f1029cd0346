"""10,000 tasks to a real Label Studio and back: all of them, twice, and in less than 500 MiB."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from accord.annotate.connection import connect
from accord.annotate.projects import Project, list_tasks
from accord.annotate.server import PrivateServer
from accord.study import Study

pytestmark = [pytest.mark.soak, pytest.mark.label_studio]

TASKS = 10_000
MIB = 500
"""The most memory that an export or an import may take, Python and its packages with it."""


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    """The benchmark, which makes the study and measures a process of its own."""
    file = Path(__file__).resolve().parents[1] / "benchmarks" / "round_trip.py"
    spec = importlib.util.spec_from_file_location("round_trip_benchmark", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ten_thousand_tasks(
    benchmark: ModuleType, label_studio: PrivateServer, tmp_path: Path
) -> None:
    path = benchmark.make_study(tmp_path, TASKS)
    environment = benchmark.server_environment(label_studio, tmp_path)
    url, token = environment["LABEL_STUDIO_URL"], environment["LABEL_STUDIO_API_KEY"]

    sent = benchmark.in_fresh_process("export", path, environment)
    assert (sent["report"]["added"], sent["report"]["present"]) == (TASKS, 0)
    assert sent["memory"] < MIB
    again = benchmark.in_fresh_process("export", path, environment)
    assert (again["report"]["added"], again["report"]["present"]) == (0, TASKS)
    assert again["memory"] < MIB

    project = Project(sent["report"]["project_id"], sent["report"]["url"], 1)
    with Study.open(path) as study:
        order = [item for item, _ in study.ledger.sample("s1").items]
    with connect(url, token) as connection:
        assert [task.item_id for task in list_tasks(connection, project)] == order
        assert benchmark.put_labels(connection, project) == TASKS

    got = benchmark.in_fresh_process("import", path, environment)
    counts = {rule: count for rule, count in got["report"]["annotations"].items() if count}
    assert counts == {"labelled": TASKS}
    assert (got["report"]["new_annotations"], got["report"]["new_ratings"]) == (TASKS, TASKS)
    assert got["report"]["notes"] == []
    assert got["memory"] < MIB
    repeated = benchmark.in_fresh_process("import", path, environment)
    assert (repeated["report"]["new_annotations"], repeated["report"]["new_ratings"]) == (0, 0)
    assert repeated["memory"] < MIB
    with Study.open(path) as study:
        rated = {row.item_id for row in study.ledger.rating_rows() if row.rating == "CORRECT"}
    assert rated == set(order)
