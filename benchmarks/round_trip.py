"""How long 10,000 tasks take to Label Studio and back, beside the same requests without accord.

    python benchmarks/round_trip.py [--tasks 10000] [--runs 3]

Out: ``export_to_server`` beside the SDK's ``import_tasks`` with the same tasks in batches of 1,000,
the fastest way that the server has. Back: ``import_from_server`` of one label a task beside the
download of the raw snapshot, JSON parsed. The two sides take turns, each run of accord in a process
of its own, and the server is a private one on this machine. Time is that of the export or the
import, without the start of Python and of the server; memory is the largest the process ever had.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from accord.annotate.connection import Connection, connect
from accord.annotate.export import export_to_server
from accord.annotate.importing import import_from_server
from accord.annotate.projects import Project, create_project, list_tasks
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.tasks import blind_task
from accord.annotate.template import load_template
from accord.study import Study

__all__ = ["in_fresh_process", "make_study", "put_labels", "server_environment"]

BATCH = 1_000
PAGE = load_template()
PERSON = {
    "annotations__completed_by": {"only_id": False},
    "drafts": {"only_id": False},
}


def make_study(folder: Path, tasks: int) -> Path:
    """A study of so many items of about 850 bytes a task, all of them in the sample ``s1``."""
    table = folder / "pairs.jsonl"
    with table.open("w", encoding="utf-8") as file:
        for n in range(tasks):
            row = {
                "item_id": f"i{n}",
                "question_id": f"q{n // 5}",
                "question": f"Which {n // 5} are there? " + "It asks for a list of them. " * 6,
                "reference": f"reference élément {n} " + "as it was written down " * 5,
                "predicted": f"predicted élément {n} " + "as it was answered here " * 5,
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    path = folder / "study"
    with Study.create(path) as study:
        study.add_pairs(table)
        draw_sample(study, sample_id="s1")
    return path


def server_environment(server: PrivateServer, folder: Path) -> dict[str, str]:
    """The environment in which a process finds the server."""
    return {
        **os.environ,
        "LABEL_STUDIO_URL": str(server.status().url),
        "LABEL_STUDIO_API_KEY": server.login().token,
        "XDG_CONFIG_HOME": str(folder / "config"),
    }


def in_fresh_process(what: str, study: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """Export or import in a process of its own: its report, seconds, and memory in MiB."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--one", what, str(study)],
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2_000:])
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _one(what: str, path: Path) -> None:
    with Study.open(path) as study, connect() as connection:
        _warm(connection)
        start = time.perf_counter()
        if what == "export":
            report = export_to_server(study, "s1", connection).to_dict()
        else:
            report = import_from_server(study, connection).to_dict()
        seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"report": report, "seconds": seconds, "memory": memory}))


def _warm(connection: Connection) -> None:
    """Load what both sides load once, lazily: the SDK's parts, and the packages behind a study."""
    import markdown_it  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    client = connection.client
    client.projects.exports.list  # noqa: B018
    client.tasks.list  # noqa: B018
    list(client.projects.list(page_size=1))


def put_labels(connection: Connection, project: Project) -> int:
    """Take the project's tasks and give them back with a label each, which is quick."""
    with connection.calling("to exchange tasks") as client:
        listed: list[Any] = list(client.tasks.list(project=project.project_id, page_size=BATCH))
        client.tasks.delete_all_tasks(id=project.project_id)
        who = client.users.whoami().id
        tasks: list[Any] = [
            {
                "data": task.data,
                "annotations": [
                    {
                        "completed_by": who,
                        "result": PAGE.answer("CORRECT", alignment="YES"),
                        "ground_truth": False,
                        "lead_time": 4.0,
                    }
                ],
            }
            for task in listed
        ]
        for start in range(0, len(tasks), BATCH):
            client.projects.import_tasks(
                id=project.project_id, request=tasks[start : start + BATCH]
            )
    return len(tasks)


def _raw_out(connection: Connection, path: Path) -> float:
    """The same tasks by the SDK alone."""
    with Study.open(path) as study:
        tasks: list[Any] = [blind_task(item, PAGE, "s1") for item in study.items()]
    project = create_project(connection, PAGE, "raw", "raw", 1)
    client = connection.client
    start = time.perf_counter()
    for first in range(0, len(tasks), BATCH):
        client.projects.import_tasks(
            id=project.project_id, request=tasks[first : first + BATCH], return_task_ids=True
        )
    seconds = time.perf_counter() - start
    _remove(connection, project.project_id)
    return seconds


def _raw_back(connection: Connection, project_id: int, tasks: int) -> float:
    """The same snapshot by the SDK alone."""
    exports: Any = connection.client.projects.exports
    start = time.perf_counter()
    made = exports.create(project_id, serialization_options=PERSON)
    raw = json.loads(b"".join(exports.download(project_id, export_pk=made.id)))
    exports.delete(project_id, export_pk=made.id)
    seconds = time.perf_counter() - start
    if len(raw) != tasks:
        raise RuntimeError(f"the snapshot holds {len(raw)} of {tasks} tasks")
    return seconds


def _remove(connection: Connection, project_id: int) -> None:
    connection.client.tasks.delete_all_tasks(id=project_id)
    connection.client.projects.delete(id=project_id)


def _measure(tasks: int, runs: int, folder: Path, server: PrivateServer) -> None:
    environment = server_environment(server, folder)
    url, token = environment["LABEL_STUDIO_URL"], environment["LABEL_STUDIO_API_KEY"]
    out: list[tuple[float, float]] = []
    back: list[tuple[float, float]] = []
    memory: dict[str, list[float]] = {"export": [], "import": []}
    for run in range(runs):
        place = folder / str(run)
        place.mkdir()
        study = make_study(place, tasks)
        # A connection that lay idle for minutes may have been closed by the server.
        with connect(url, token) as connection:
            raw = _raw_out(connection, study) if run % 2 == 0 else None
        sent = in_fresh_process("export", study, environment)
        with connect(url, token) as connection:
            raw = _raw_out(connection, study) if raw is None else raw
            project = Project(sent["report"]["project_id"], sent["report"]["url"], 1)
            there = len(list_tasks(connection, project))
            if put_labels(connection, project) != tasks or there != tasks:
                raise RuntimeError(f"{there} of {tasks} tasks arrived")
        out.append((sent["seconds"], raw))
        with connect(url, token) as connection:
            raw = _raw_back(connection, project.project_id, tasks) if run % 2 == 0 else None
        got = in_fresh_process("import", study, environment)
        with connect(url, token) as connection:
            if raw is None:
                raw = _raw_back(connection, project.project_id, tasks)
            _remove(connection, project.project_id)
        if got["report"]["new_ratings"] != tasks:
            raise RuntimeError(f"{got['report']['new_ratings']} of {tasks} labels came back")
        back.append((got["seconds"], raw))
        memory["export"].append(sent["memory"])
        memory["import"].append(got["memory"])
        print(
            f"run {run + 1}: out {out[-1][0]:.2f} / {out[-1][1]:.2f} s, "
            f"back {back[-1][0]:.2f} / {back[-1][1]:.2f} s",
            flush=True,
        )
    print(f"\n{tasks} tasks, medians of {runs} alternating runs")
    print(f"{'':8s}{'accord':>9s}{'SDK alone':>11s}{'ratio':>7s}{'memory':>10s}")
    for name, pairs in (("export", out), ("import", back)):
        ours, raw_side = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{name:8s}{ours:7.2f} s{raw_side:9.2f} s{ratio:7.2f}{max(memory[name]):6.0f} MiB")


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", nargs=2, metavar=("WHAT", "STUDY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        _one(options.one[0], Path(options.one[1]))
        return
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="accord-round-trip-", dir=place) as folder:
        server = PrivateServer(Path(folder) / "data")
        server.up(0)
        try:
            _measure(options.tasks, options.runs, Path(folder), server)
        finally:
            server.down()


if __name__ == "__main__":
    main()
