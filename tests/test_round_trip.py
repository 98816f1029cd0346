"""Real labels out to a real Label Studio and back, equal by id to the file they came from."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from labelling_loop import Desk, Run, figures

from accord.annotate.connection import Connection, connect
from accord.annotate.people import Account, post_annotations
from accord.annotate.projects import Project, list_tasks
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.study import Study

pytestmark = [pytest.mark.label_studio, pytest.mark.shared_data]

SINGLE = 60
"""Tasks whose labels are posted one by one, as two people: 119 or 120 posts."""
WORDS = {"Yes": "CORRECT", "No": "INCORRECT"}
PEOPLE = ("annotator1", "annotator2")


def rows_of(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["item_id"]: row for row in csv.DictReader(file)}


def labelled(row: dict[str, str], accounts: dict[str, Account]) -> list[dict[str, Any]]:
    """The two people's annotations of an item, in Label Studio's import format."""
    page = load_template()
    return [
        {
            "result": page.answer(WORDS[row[name]], alignment="YES"),
            "completed_by": {"email": account.email},
            "lead_time": 4.5,
            # what comes with a task is ground truth to the server unless it says otherwise
            "ground_truth": False,
        }
        for name, account in accounts.items()
        if row[name]
    ]


def put_labels_in_bulk(
    connection: Connection,
    project: Project,
    rows: dict[str, dict[str, str]],
    accounts: dict[str, Account],
) -> int:
    """Take the exported tasks and give all but the last ones back with annotations in them."""
    with connection.calling("to exchange tasks") as client:
        exported = client.projects.exports.as_json(project.project_id)
        assert len(exported) == len(rows)
        client.tasks.delete_all_tasks(project.project_id)
        tasks: list[Any] = [
            {
                "data": task["data"],
                "annotations": labelled(rows[task["data"]["item_id"]], accounts),
            }
            for task in exported[:-SINGLE]
        ]
        for start in range(0, len(tasks), 1_000):
            client.projects.import_tasks(
                id=project.project_id, request=tasks[start : start + 1_000]
            )
    return sum(len(task["annotations"]) for task in tasks)


def test_labels_come_back_by_id(
    on_label_studio: PrivateServer, shared_data: Path, tmp_path: Path, run_json: Run
) -> None:
    run = run_json
    file = shared_data / "openqa_eval" / "items.csv"
    rows = rows_of(file)
    study = tmp_path / "study"
    run("init", study)
    mapping = "reference=gold_answers,predicted=answer"
    added = run("add", study, file, "--as", "pairs", "--map", mapping)
    assert added["rows"] == 1490
    run("sample", study)
    out = run("export", study, "s1", "--per-item", 2)
    assert (out["total"], out["added"], out["present"], out["per_item"]) == (1490, 1490, 0, 2)

    desk = Desk(on_label_studio, run, study, PEOPLE, "example.org")
    accounts = desk.people
    project = Project(out["project_id"], out["url"], 2)
    with connect() as connection:
        posted = put_labels_in_bulk(connection, project, rows, accounts)
        # What is missing now is exactly what the next export adds.
        again = run("export", study, "s1")
        assert (again["added"], again["present"]) == (SINGLE, 1490 - SINGLE)
        assert again["project_id"] == out["project_id"]
        nothing = run("export", study, "s1")
        assert (nothing["added"], nothing["present"]) == (0, 1490)
        tasks = {task.item_id: task.task_id for task in list_tasks(connection, project)}
    assert tasks.keys() == rows.keys()
    page = load_template()
    last = sorted(tasks, key=lambda item: tasks[item])[-SINGLE:]
    singly = 0
    for name, account in accounts.items():
        singly += post_annotations(
            desk.url,
            account,
            [
                (tasks[item], page.answer(WORDS[rows[item][name]]), 3.0)
                for item in last
                if rows[item][name]
            ],
        )
    assert singly >= 100
    assert posted + singly == 1490 + 1483

    back = run("import", study, "--from", "label-studio")
    counts = dict.fromkeys(back["annotations"], 0)
    assert back["annotations"] == counts | {"labelled": 2973}
    assert back["tasks"]["seen"] == 1490 and sum(back["tasks"].values()) == 1490
    assert (back["new_annotations"], back["new_ratings"]) == (2973, 2973)
    assert (back["edited_by_others"], back["prefilled"], back["notes"]) == (0, 0, [])

    names = desk.names
    assert {name: own["labelled"] for name, own in back["annotators"].items()} == {
        names["annotator1"]: 1490,
        names["annotator2"]: 1483,
    }
    with Study.open(study) as opened:
        ratings = {(row.item_id, row.rater): row.rating for row in opened.ledger.rating_rows()}
        assert ratings == {
            (item, names[name]): WORDS[row[name]]
            for item, row in rows.items()
            for name in PEOPLE
            if row[name]
        }
        # The same question, reference and answer twice: two items, each with its own labels.
        twins = [item for item in opened.items() if item.item_id in ("i1115", "i1117")]
        assert len(twins) == 2 and twins[0].content_sha256 == twins[1].content_sha256
        assert {(i, name) for i in ("i1115", "i1117") for name in names.values()} <= set(ratings)
        stored = opened.ledger.annotations()
        assert {a.annotator for a in stored} == set(names.values())
        assert "@" not in json.dumps([dict(a.raw) for a in stored])

    same = run("import", study, "--from", "label-studio")
    assert (same["new_annotations"], same["new_ratings"]) == (0, 0)
    assert same["annotations"] == back["annotations"]

    check_figures(study, file, names, run)


def check_figures(study: Path, file: Path, names: dict[str, str], run: Run) -> None:
    """Agreement of the study, against figures that others computed (reference.json)."""
    reference = json.loads(file.with_name("reference.json").read_text(encoding="utf-8"))
    judges = ("judge_gpt4", "judge_davinci003", "judge_bem")
    run(
        *("add", study, file, "--as", "ratings", "--wide", "--judges", ",".join(judges)),
        *("--final", "human", "--labels", "Yes=CORRECT,No=INCORRECT"),
    )
    panel = run("agree", study, "--final", "human")
    found = figures(panel["results"], "element")

    def figure(name: str, *raters: str) -> Mapping[str, Any]:
        return found[name, frozenset(raters)]

    people = figure("agreement", *names.values())
    assert (people["n"], people["clusters"]) == (1483, 301)
    assert math.isclose(people["estimate"], reference["pct_agree_a1_a2"], rel_tol=1e-12)
    assert f"{people['estimate']:.2%}" == "86.85%"
    kappa = figure("cohen_kappa", *names.values())["estimate"]
    assert math.isclose(kappa, reference["kappa_a1_a2"], rel_tol=1e-12)
    assert f"{kappa:.4f}" == "0.7347"
    for judge in judges:
        own = reference[judge]
        agreed = figure("agreement", judge, "human")
        assert agreed["n"] == own["n"]
        assert math.isclose(agreed["estimate"], own["agreement"], rel_tol=1e-12)
        judged = figure("cohen_kappa", judge, "human")["estimate"]
        assert math.isclose(judged, own["kappa"], rel_tol=1e-12)
    gpt4 = figure("agreement", "judge_gpt4", "human")
    # Wilson on the effective n: scipy.stats on the effective n, design effect 1.74.
    assert [round(100 * gpt4[end], 2) for end in ("low", "high")] == [82.24, 87.07]
    assert round(gpt4["design_effect"], 2) == 1.74
    assert sum(gpt4["dropped"].values()) == 2
    table = figure("confusion", "judge_gpt4", "human")
    assert [table[cell] for cell in ("tp", "fp", "fn", "tn")] == [679, 89, 137, 583]
    by_item = run("agree", study, "--final", "human", "--unit", "item")
    plain = figures(by_item["results"], "element")["agreement", frozenset(("judge_gpt4", "human"))]
    assert [round(100 * plain[end], 2) for end in ("low", "high")] == [82.90, 86.55]
