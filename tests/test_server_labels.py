"""What people and other programs do on a real server, and what an import makes of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from label_studio_sdk.core.api_error import ApiError
from label_studio_sdk.projects.exports.client_ext import ExportsClientExt

from accord.annotate.annotators import Annotator
from accord.annotate.connection import Connection, connect
from accord.annotate.export import export_to_server
from accord.annotate.importing import ImportReport, import_from_server
from accord.annotate.people import Account, post_annotations, sign_up
from accord.annotate.projects import find_project, list_tasks, mark_of
from accord.annotate.pseudonym import Pseudonyms
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.sharing import Share, share_to_server
from accord.annotate.template import load_template
from accord.study import Study

pytestmark = pytest.mark.label_studio

PAGE = load_template()


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    rows = "".join(f"i{n},q{n},Which {n}?,ref {n},pred {n}\n" for n in range(8))
    table = tmp_path / "pairs.csv"
    table.write_text(f"item_id,question_id,question,reference,predicted\n{rows}", encoding="utf-8")
    with Study.create(tmp_path / "study") as made:
        made.add_pairs(table)
        draw_sample(made, sample_id="s1")
        yield made


class Person:
    """Someone with an account who works with the server directly."""

    def __init__(self, connection: Connection, email: str, tasks: dict[str, int]) -> None:
        self.account: Account = sign_up(connection.url, connection.api_key, email)
        self._url, self._tasks = connection.url, tasks

    def send(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = httpx.post(
            f"{self._url}{path}",
            json=body,
            headers={"Authorization": f"Token {self.account.token}"},
            trust_env=False,
            timeout=60,
        )
        found: dict[str, Any] = answer.raise_for_status().json()
        return found

    def label(self, item: str, verdict: str | None, **more: Any) -> int:
        result = [] if verdict is None else PAGE.answer("CORRECT")
        if verdict:
            result[0]["value"]["choices"] = verdict.split("+")
        body = {"result": result, "lead_time": 2.5, **more}
        return int(self.send(f"/api/tasks/{self._tasks[item]}/annotations/", body)["id"])


def found(report: ImportReport) -> dict[str, int]:
    return {rule: count for rule, count in report.annotations.items() if count}


def test_a_working_day(
    study: Study,
    on_label_studio: PrivateServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with connect() as connection:
        out = export_to_server(study, "s1", connection, per_item=2)
        mark = mark_of(study, "s1")
        project = find_project(connection, str(mark))
        assert project is not None and project.project_id == out.project_id
        tasks = {task.item_id: task.task_id for task in list_tasks(connection, project)}
        ann = Person(connection, "ann@day.example", tasks)
        bob = Person(connection, "bob@day.example", tasks)
        ann.label("i0", "CORRECT")
        bob.label("i0", "INCORRECT", was_cancelled=True)
        project_id = project.project_id
        ann.send(f"/api/tasks/{tasks['i1']}/drafts?project={project_id}", {"result": []})
        # The server takes all of these.
        ann.label("i2", "MAYBE")
        bob.label("i2", "CORRECT+INCORRECT")
        bob.label("i3", "CORRECT")
        bob.label("i3", "UNSURE")
        changed = ann.label("i4", "CORRECT")
        client = connection.client
        client.annotations.update(changed, result=PAGE.answer("INCORRECT"))
        ann.label("i5", "CORRECT")
        data = dict(client.tasks.get(id=str(tasks["i5"])).data or {})
        client.tasks.update(id=str(tasks["i5"]), data={**data, "predicted": "something else"})
        gone = Person(connection, "gone@day.example", tasks)
        gone.label("i6", "CORRECT")
        client.users.delete(id=gone.account.user_id)

        # A copy of the study meets a server that makes no snapshots; both find the same.
        study.close()
        shutil.copytree(study.path, tmp_path / "copy")
        expected = {
            "labelled": 3,
            "skipped": 1,
            "superseded": 1,
            "unknown verdict": 1,
            "several verdicts": 1,
            "changed text": 1,
            "unknown annotator": 1,
        }
        with Study.open(study.path) as opened:
            report = import_from_server(opened, connection)
            assert found(report) == expected
            assert (report.drafts, report.edited_by_others, report.tasks["seen"]) == (1, 1, 8)
            names = {Pseudonyms().of(f"{p}@day.example"): p for p in ("ann", "bob")}
            rows = {(r.item_id, names[r.rater]): r.rating for r in opened.ledger.rating_rows()}
            assert rows == {
                ("i0", "ann"): "CORRECT",
                ("i0", "bob"): None,
                ("i3", "bob"): "UNSURE",
                ("i4", "ann"): "INCORRECT",
            }
            assert all(a.raw["lead_time"] for a in opened.ledger.annotations() if a.raw["result"])
        assert not client.projects.exports.list(project_id), "a snapshot was left on the server"

        def no_snapshots(*arguments: Any, **more: Any) -> Any:
            raise ApiError(status_code=404, body="<html>404</html>")

        monkeypatch.setattr(ExportsClientExt, "create", no_snapshots)
        with Study.open(tmp_path / "copy") as copy:
            assert found(import_from_server(copy, connection)) == expected
            assert {r.rater for r in copy.ledger.rating_rows()} == set(names)
            # Deleted on the server: the label stays, and that is said.
            client.annotations.delete(changed)
            report = import_from_server(copy, connection)
            assert report.new_ratings == 0 and len(copy.ledger.rating_rows()) == 4
            assert report.notes == (
                "1 annotations are no longer on the server; their labels are kept",
            )


def test_the_project_is_found_at_another_address(
    study: Study, on_label_studio: PrivateServer
) -> None:
    url, token = str(on_label_studio.status().url), on_label_studio.login().token
    with connect() as connection:
        first = export_to_server(study, "s1", connection)
        tasks = {row.item_id: int(row.task_id or 0) for row in study.ledger.exported("s1")}
        account = sign_up(url, token, "ann@other.example")
        post_annotations(url, account, [(tasks["i0"], PAGE.answer("CORRECT"), 1.0)])
    with connect(url.replace("127.0.0.1", "localhost"), token) as connection:
        again = export_to_server(study, "s1", connection)
        assert (again.added, again.present) == (0, 8)
        assert again.project_id == first.project_id
        assert found(import_from_server(study, connection)) == {"labelled": 1}


KILLED = """
import accord.annotate.tasks as tasks
tasks.BATCH_TASKS = 50
import sys
from accord.cli import main
sys.exit(main(["export", sys.argv[1], "s1"]))
"""


@pytest.mark.soak
def test_an_export_that_is_killed_again_and_again_sends_nothing_twice(
    on_label_studio: PrivateServer, tmp_path: Path
) -> None:
    rows = "".join(f"q{n},Which {n}?,ref {n},pred {n}\n" for n in range(1_500))
    table = tmp_path / "pairs.csv"
    table.write_text(f"question_id,question,reference,predicted\n{rows}", encoding="utf-8")
    folder = tmp_path / "study"
    with Study.create(folder) as made:
        made.add_pairs(table)
        draw_sample(made, sample_id="s1")
    command = [sys.executable, "-c", KILLED, str(folder)]
    for lines in (0, 1, 2, 3, 5, 8):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        said = [process.stderr.readline() for _ in range(lines + 1)]
        process.kill()
        process.communicate()
        assert re.match(r"accord: (project|\d+ of)", said[-1])
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with Study.open(folder) as opened, connect() as connection:
        rows_there = opened.ledger.exported("s1")
        project = find_project(connection, str(mark_of(opened, "s1")))
        assert project is not None
        there = list_tasks(connection, project)
        assert len(there) == len({task.item_id for task in there}) == 1_500
        assert {row.task_id for row in rows_there} == {task.task_id for task in there}
        projects: Any = connection.client.projects.list()
        marks = [project.description for project in projects]
        assert sum(str(mark_of(opened, "s1")) in (text or "") for text in marks) == 1


def test_a_project_whose_description_was_written_over_is_known(
    study: Study, on_label_studio: PrivateServer
) -> None:
    with connect() as connection:
        client = connection.client
        out = export_to_server(study, "s1", connection)
        number = int(out.project_id or 0)
        client.projects.update(id=number, description="Capitals, second round")
        ann = sign_up(connection.url, on_label_studio.login().token, "ann@over.example")
        tasks: Any = client.tasks.list(project=number, page_size=100)
        post_annotations(
            connection.url, ann, [(int(one.id), PAGE.answer("CORRECT"), 1.0) for one in tasks]
        )
        assert import_from_server(study, connection).annotations["labelled"] == 8
        mark = mark_of(study, "s1")
        assert client.projects.get(id=number).description == f"Capitals, second round [{mark}]"
        client.projects.update(id=number, description="")
        again = export_to_server(study, "s1", connection)
        assert (again.project_id, again.added, again.present) == (number, 0, 8)
        # The number alone says nothing: another server may have given it to another project.
        client.projects.update(id=number, description="")
        strange: Any = [{"data": dict([*client.tasks.list(project=number)][-1].data or {})}]
        client.tasks.delete_all_tasks(id=number)
        client.projects.import_tasks(id=number, request=strange)
        new = export_to_server(study, "s1", connection)
        assert new.project_id != number and new.added == 8
        assert "the project of an earlier export is gone; a new one was made" in new.notes


def shared_out(study: Study, connection: Connection, *names: str) -> list[Share]:
    people = [Annotator(f"{name}@gone.example", {}) for name in names]
    return list(share_to_server(study, "s1", connection, people, per_item=2).shares)


def graded_by(connection: Connection, share: Share, account: Account) -> int:
    """A label of every task in somebody's project."""
    listed: list[Any] = list(connection.client.tasks.list(project=share.project_id, page_size=100))
    labels = [(int(task.id), PAGE.answer("CORRECT"), 1.0) for task in listed]
    return post_annotations(connection.url, account, labels)


def test_a_project_that_is_gone_is_named_and_the_others_come_in(
    study: Study, on_label_studio: PrivateServer, accord: Callable[..., tuple[int, str, str]]
) -> None:
    url, token = str(on_label_studio.status().url), on_label_studio.login().token
    with connect() as connection:
        ann, bob, cyd = shared_out(study, connection, "ann", "bob", "cyd")
        accounts = [sign_up(url, token, share.person) for share in (ann, bob)]
        first = graded_by(connection, ann, accounts[0])
        assert import_from_server(study, connection).missing_projects == ()
        second = graded_by(connection, bob, accounts[1])
        for share in (ann, cyd):
            connection.client.projects.delete(id=int(share.project_id or 0))
        # somebody whose project was never made is not told to be gone
        study.ledger.add_provenance("export mark", {"sample": "s1", "template": "x", "mark": "m"})
        report = import_from_server(study, connection)
        assert report.annotations["labelled"] == report.new_ratings == second
        assert len(study.ledger.annotations()) == first + second, "what was here stays"
        assert [one.to_dict() for one in report.missing_projects] == [
            {
                "project_id": share.project_id,
                "server": connection.url,
                "sample": "s1",
                "template": "pair",
                "annotator": share.annotator,
            }
            for share in (ann, cyd)
        ]
        assert "  projects missing        2  not on the server; see the notes" in [*report.lines()]
        assert [note for note in report.notes if note.startswith("project ")] == [
            f"project {share.project_id} of sample 's1' (pair, {share.annotator}) is not at"
            f" {connection.url}; {kept} annotations of it are here and kept; hand its items out"
            f" again, to the same people: accord export {study.path} s1 --template pair"
            " --annotators FILE"
            for share, kept in ((ann, first), (cyd, 0))
        ]
        study.close()
        status, out, said = accord("status", study.path, "--from", "label-studio")
        assert status == 0 and out
        assert f"project {cyd.project_id} of sample 's1' (pair, {cyd.annotator})" in said
        # Handed out again they are there, each under its own mark, and nobody is missing.
        with Study.open(study.path) as opened:
            again = shared_out(opened, connection, "ann", "bob", "cyd")
            assert [share.added for share in again] == [ann.total, 0, cyd.total]
            assert import_from_server(opened, connection).missing_projects == ()
            for share in again:
                connection.client.projects.delete(id=int(share.project_id or 0))
    status, out, said = accord("import", study.path, "--from", "label-studio")
    assert status == 2 and not out and said.count("\n") == 1
    assert all(f"project {share.project_id} of sample 's1'" in said for share in again)


def test_a_project_made_at_another_server_is_named(
    study: Study, on_label_studio: PrivateServer
) -> None:
    with connect() as connection:
        project = int(export_to_server(study, "s1", connection).project_id or 0)
        study.ledger.add_provenance(
            "export mark", {"sample": "s1", "template": "pair+judge:exact", "mark": "far"}
        )
        study.ledger.add_provenance(
            "export project", {"mark": "far", "project_id": project, "server": "http://far.example"}
        )
        report = import_from_server(study, connection)
    (note,) = report.notes
    assert note == (
        f"project {project} of sample 's1' (pair+judge:exact) is not at {connection.url}; it was"
        " made at http://far.example; 0 annotations of it are here and kept; import from there, or"
        f" hand its items out again: accord export {study.path} s1"
        " --template pair --show-judge exact"
    )
