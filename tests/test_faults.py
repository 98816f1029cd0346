"""Whatever goes wrong between accord and a real server, the next run makes it good.

One request of an export or an import meets a fault of a proxy; the run says so in one line that
holds no secret, or ends well. After the same command is run again the server holds each task once,
and the ledger each annotation.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accord.annotate import connection as connecting
from accord.annotate.connection import connect
from accord.annotate.export import export_to_server
from accord.annotate.importing import import_from_server
from accord.annotate.people import Account, post_annotations, sign_up
from accord.annotate.projects import find_project, list_tasks, mark_of
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.scoring.errors import ServiceError
from accord.study import Study
from faulty_proxy import FAULTS, SECRET_COOKIE, Proxy, running

pytestmark = pytest.mark.label_studio

PAGE = load_template()
COUNT = 12
IMPORT_TASKS = r"/api/projects/\d+/import"
SNAPSHOT = r"/api/projects/\d+/exports/?(\?|$)"
DOWNLOAD = r"/api/projects/\d+/exports/\d+/download"


@pytest.fixture(scope="module")
def proxy(label_studio: PrivateServer) -> Iterator[Proxy]:
    with running(str(label_studio.status().url)) as made:
        yield made


@pytest.fixture(scope="module")
def annotator(label_studio: PrivateServer) -> Account:
    url, token = str(label_studio.status().url), label_studio.login().token
    return sign_up(url, token, "ann@faults.example")


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    rows = "".join(f"i{n},q{n},Which {n}?,ref {n},pred {n}\n" for n in range(COUNT))
    table = tmp_path / "pairs.csv"
    table.write_text(f"item_id,question_id,question,reference,predicted\n{rows}")
    with Study.create(tmp_path / "study") as made:
        made.add_pairs(table)
        draw_sample(made, sample_id="s1")
        yield made


@pytest.fixture
def through(
    request: pytest.FixtureRequest,
    proxy: Proxy,
    on_label_studio: PrivateServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> Iterator[Proxy]:
    """accord talks to the server through the proxy; silence is told after seconds, not minutes."""
    monkeypatch.setenv("LABEL_STUDIO_URL", proxy.url)
    silent = "silence" in str(getattr(request.node, "callspec", request.node.name))
    if silent:
        monkeypatch.setattr(connecting, "_TIMEOUT", proxy.patience)
    proxy.disarm()
    proxy.seen.clear()
    with caplog.at_level(logging.DEBUG):
        yield proxy
    proxy.disarm()
    token = on_label_studio.login().token
    assert token not in caplog.text
    assert SECRET_COOKIE.partition("=")[2] not in caplog.text


def told(error: ServiceError, server: PrivateServer) -> str:
    """The error as a person reads it: one short line without secrets."""
    line = str(error)
    assert "\n" not in line and len(line) < 600, line
    assert server.login().token not in line
    assert SECRET_COOKIE.partition("=")[2] not in line and "<html" not in line
    return line


def on_the_server(study: Study) -> Counter[str]:
    with connect() as connection:
        project = find_project(connection, str(mark_of(study, "s1")))
        assert project is not None
        return Counter(task.item_id for task in list_tasks(connection, project))


@pytest.mark.parametrize("name", FAULTS)
def test_export(study: Study, through: Proxy, on_label_studio: PrivateServer, name: str) -> None:
    through.arm("POST", IMPORT_TASKS, FAULTS[name])
    try:
        with connect() as connection:
            export_to_server(study, "s1", connection)
    except ServiceError as error:
        told(error, on_label_studio)
        failed = True
    else:
        failed = False
    assert through.hits == 1, through.seen
    # Only what the client could not notice may pass for success, and then nothing is missing.
    assert failed or on_the_server(study) == {f"i{n}": 1 for n in range(COUNT)}
    sent = sum(request.startswith("POST") and "/import" in request for request in through.seen)
    assert sent == 1, "nothing is sent again before the server was asked what it has"
    with connect() as connection:
        again = export_to_server(study, "s1", connection)
    assert again.total == COUNT == again.added + again.present
    assert on_the_server(study) == {f"i{n}": 1 for n in range(COUNT)}
    assert len({row.task_id for row in study.ledger.exported("s1")}) == COUNT


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", r"/api/projects/?(\?|$)"), ("GET", r"/api/projects/?\?"), ("GET", r"/api/tasks")],
    ids=["making a project", "listing projects", "listing tasks"],
)
@pytest.mark.parametrize("name", ["500 after", "reset after", "cut JSON", "silence", "401"])
def test_export_elsewhere(
    study: Study,
    through: Proxy,
    on_label_studio: PrivateServer,
    method: str,
    path: str,
    name: str,
) -> None:
    if "tasks" in path:  # listed from the second run on
        with connect() as connection:
            export_to_server(study, "s1", connection)
    through.arm(method, path, FAULTS[name])
    with pytest.raises(ServiceError) as error, connect() as connection:
        export_to_server(study, "s1", connection)
    told(error.value, on_label_studio)
    assert through.hits == 1
    with connect() as connection:
        export_to_server(study, "s1", connection)
        mark = f"[{mark_of(study, 's1')}]"
        projects: list[Any] = list(connection.client.projects.list())
        found = [project for project in projects if mark in (project.description or "")]
        assert len(found) == 1, "a project whose making was not answered is found again"
    assert on_the_server(study) == {f"i{n}": 1 for n in range(COUNT)}


_SAME_THERE = ("403", "409", "413", "429", "502", "504 after", "401 legacy tokens off")
"""Faults that a download meets as another request does."""


def labelled(study: Study, server: PrivateServer, account: Account) -> None:
    with connect() as connection:
        export_to_server(study, "s1", connection)
    tasks = [int(row.task_id or 0) for row in study.ledger.exported("s1")]
    answers = [(task, PAGE.answer("CORRECT"), 1.0) for task in tasks[:4]]
    assert post_annotations(str(server.status().url), account, answers) == 4


@pytest.mark.parametrize(
    ("where", "name"),
    [
        *(("snapshot", name) for name in FAULTS),
        *(("download", name) for name in FAULTS if name not in _SAME_THERE),
    ],
)
def test_import(
    study: Study,
    through: Proxy,
    on_label_studio: PrivateServer,
    annotator: Account,
    where: str,
    name: str,
) -> None:
    labelled(study, on_label_studio, annotator)
    path, method = (SNAPSHOT, "POST") if where == "snapshot" else (DOWNLOAD, "GET")
    through.arm(method, path, FAULTS[name])
    before = len(study.ledger.annotations())
    try:
        with connect() as connection:
            import_from_server(study, connection)
    except ServiceError as error:
        told(error, on_label_studio)
        assert len(study.ledger.annotations()) == before, "nothing half-imported"
    assert through.hits == 1, through.seen
    with connect() as connection:
        import_from_server(study, connection)
        again = import_from_server(study, connection)
        assert (again.new_annotations, again.new_ratings) == (0, 0)
        project = find_project(connection, str(mark_of(study, "s1")))
        assert project is not None
        left = connection.client.projects.exports.list(project.project_id)
        assert not left, "a snapshot with people's addresses was left on the server"
    kept = [annotation.unique_id for annotation in study.ledger.annotations()]
    assert len(kept) == 4 == len(set(kept))
    assert len(study.ledger.rating_rows(history=True)) == 4


def test_the_token_is_refused_at_once(through: Proxy, on_label_studio: PrivateServer) -> None:
    for name in ("401", "401 legacy tokens off", "403", "500 before", "a page instead of JSON"):
        through.arm("GET", "/api/current-user/whoami", FAULTS[name])
        with pytest.raises(ServiceError) as error, connect():
            pass
        told(error.value, on_label_studio)
