"""accord killed in the midst of an export or an import: the same command again makes it whole.

The points are counted, not timed: before and after every request, and around every transaction of
the ledger. A seed chooses among them; the full counts take a hundred.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accord.annotate.connection import connect
from accord.annotate.export import export_to_server
from accord.annotate.people import post_annotations, sign_up
from accord.annotate.projects import find_project, list_tasks, mark_of
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.study import Study

pytestmark = pytest.mark.label_studio

PAGE = load_template()
COUNT = 15
RUN = """
import contextlib, os, signal, sys, threading
import httpx
import accord.annotate.tasks as tasks
from accord.study.database import Database

last, tasks.BATCH_TASKS, seen = int(sys.argv[1]), int(sys.argv[2]), 0
counting = threading.Lock()  # requests and transactions are made side by side

def point():
    global seen
    with counting:
        seen += 1
        if seen == last:
            os.kill(os.getpid(), signal.SIGKILL)

send, transaction = httpx.Client.send, Database.transaction

def sending(self, *arguments, **more):
    point()
    answer = send(self, *arguments, **more)
    point()
    return answer

@contextlib.contextmanager
def writing(self):
    point()
    with transaction(self) as connection:
        point()
        yield connection
        point()
    point()

httpx.Client.send, Database.transaction = sending, writing
from accord.cli import main
code = main(sys.argv[3:])
print(f"points: {seen}", file=sys.stderr)
sys.exit(code)
"""


def run(point: int, *command: str, batch: int = 4) -> tuple[int, int]:
    """Run a command that is killed at a point (0: never); its status, and the points passed."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(point), str(batch), *command],
        capture_output=True,
        text=True,
        timeout=300,
        env=dict(os.environ),
    )
    found = re.search(r"points: (\d+)", done.stderr)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode, int(found[1]) if found else 0


def points(total: int, wanted: int, seed: int) -> list[int]:
    """Seeded points, the last one among them."""
    drawn = np.random.default_rng(seed).permutation(total - 1)[: wanted - 1] + 1
    return [*sorted(drawn.tolist()), total]


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Path]:
    rows = "".join(f"i{n},q{n},Which {n}?,ref {n},pred {n}\n" for n in range(COUNT))
    table = tmp_path / "pairs.csv"
    table.write_text(f"item_id,question_id,question,reference,predicted\n{rows}")
    with Study.create(tmp_path / "study") as made:
        made.add_pairs(table)
        draw_sample(made, sample_id="s1")
    yield tmp_path / "study"


def _export(study: Path, tmp_path: Path, wanted: int, seed: int, batch: int = 4) -> None:
    shutil.copytree(study, tmp_path / "whole")
    status, total = run(0, "export", str(tmp_path / "whole"), "s1", batch=batch)
    assert status == 0 and total >= 20
    print(f"{min(wanted, total)} of {total} points of an export")
    assert batch > 1 or total >= 100, "the full count is a hundred points or more"
    for point in points(total, wanted, seed):
        folder = tmp_path / f"killed-{point}"
        shutil.copytree(study, folder)
        status, _ = run(point, "export", str(folder), "s1", batch=batch)
        assert status == -9, f"point {point} of {total} was not reached"
        assert run(0, "export", str(folder), "s1")[0] == 0
        with Study.open(folder) as opened, connect() as connection:
            mark = str(mark_of(opened, "s1"))
            everything: list[Any] = list(connection.client.projects.list())
            assert sum(f"[{mark}]" in (one.description or "") for one in everything) == 1
            project = find_project(connection, mark)
            assert project is not None
            there = list_tasks(connection, project)
            assert Counter(task.item_id for task in there) == {f"i{n}": 1 for n in range(COUNT)}
            kept = {(row.item_id, row.task_id) for row in opened.ledger.exported("s1")}
            assert kept == {(task.item_id, task.task_id) for task in there}, f"point {point}"
        shutil.rmtree(folder)


def _import(
    study: Path, server: PrivateServer, tmp_path: Path, wanted: int, seed: int, email: str
) -> None:
    with Study.open(study) as opened, connect() as connection:
        made = export_to_server(opened, "s1", connection)
        tasks = [int(row.task_id or 0) for row in opened.ledger.exported("s1")]
    account = sign_up(str(server.status().url), server.login().token, email)
    answers = [(task, PAGE.answer("CORRECT"), 1.0) for task in tasks]
    post_annotations(str(server.status().url), account, answers)

    def state(folder: Path) -> object:
        with Study.open(folder) as opened:
            return (
                [(a.unique_id, a.updated_at, a.item_id) for a in opened.ledger.annotations()],
                opened.ledger.rating_rows(history=True),
                [row.detail for row in opened.ledger.provenance() if row.action == "import"],
            )

    shutil.copytree(study, tmp_path / "whole")
    status, total = run(0, "import", str(tmp_path / "whole"), "--from", "label-studio")
    assert status == 0 and total >= 10
    print(f"{min(wanted, total)} of {total} points of an import")
    expected = state(tmp_path / "whole")
    for point in points(total, wanted, seed):
        folder = tmp_path / f"killed-{point}"
        shutil.copytree(study, folder)
        status, _ = run(point, "import", str(folder), "--from", "label-studio")
        assert status == -9, f"point {point} of {total} was not reached"
        assert run(0, "import", str(folder), "--from", "label-studio")[0] == 0
        assert state(folder) == expected, f"point {point} of {total}"
        shutil.rmtree(folder)
    with connect() as connection:
        left = connection.client.projects.exports.list(int(made.project_id or 0))
        assert not left, "a snapshot with people's addresses was left on the server"


def test_export_killed(study: Path, on_label_studio: PrivateServer, tmp_path: Path) -> None:
    _export(study, tmp_path, wanted=5, seed=41)


def test_import_killed(study: Path, on_label_studio: PrivateServer, tmp_path: Path) -> None:
    _import(study, on_label_studio, tmp_path, 5, 43, "ann@killed.example")


@pytest.mark.soak
def test_export_killed_everywhere(
    study: Path, on_label_studio: PrivateServer, tmp_path: Path
) -> None:
    _export(study, tmp_path, wanted=10_000, seed=0, batch=1)


@pytest.mark.soak
def test_import_killed_everywhere(
    study: Path, on_label_studio: PrivateServer, tmp_path: Path
) -> None:
    _import(study, on_label_studio, tmp_path, 10_000, 0, "ann@everywhere.example")
