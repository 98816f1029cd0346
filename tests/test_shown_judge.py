"""A judge's verdicts are shown on request only, and what people say then is never a blind label."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accord import cli
from accord.annotate.connection import connect
from accord.annotate.export import export_to_file, export_to_server
from accord.annotate.importing import import_files, import_from_server
from accord.annotate.people import post_annotations, sign_up
from accord.annotate.projects import list_tasks
from accord.annotate.retest import draw_retest
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.scoring.errors import SettingsError
from accord.study import Study
from accord.study.records import RatingRow

PAGE = load_template()


@pytest.fixture
def judged(paired: Study, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Study]:
    """A study whose judge says CORRECT of all items but the last of the sample."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    sample = draw_sample(paired, sample_id="s1")
    paired.ledger.add_ratings(
        [RatingRow(item, "strict", "judge", "CORRECT") for item, _ in sample.items[:-1]]
    )
    yield paired


def tasks_of(study: Study, file: Path, **options: Any) -> list[dict[str, Any]]:
    export_to_file(study, "s1", file, **options)
    found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return found


def graded(
    tasks: list[dict[str, Any]], verdict: str, file: Path, *, first: int = 1, **part: str
) -> Path:
    """The tasks as an export in which one person gave every task that verdict."""
    out = []
    for number, task in enumerate(tasks, start=first):
        result = [{**one, **part} for one in PAGE.answer(verdict)]
        annotation = {
            "id": number,
            "unique_id": f"u{number}",
            "completed_by": {"email": "ann@example.org"},
            "result": result,
            "was_cancelled": False,
            "ground_truth": True,
            "lead_time": 5.0,
            "created_at": f"2026-01-01T00:00:{number:02d}Z",
            "updated_at": f"2026-01-01T00:00:{number:02d}Z",
        }
        out.append({"id": number, "data": task["data"], "annotations": [annotation]})
    file.write_text(json.dumps(out), encoding="utf-8")
    return file


def people(study: Study, **options: Any) -> dict[tuple[str, str], str]:
    frame = study.ratings(**options).frame
    frame = frame[frame["kind"] != "judge"]
    return {
        (row["item_id"], row["rater"]): row["rating"]
        for row in frame.to_dict("records")
        if row["rater"] != "ground-truth"
    }


def test_verdicts_are_predictions_and_the_tasks_are_marked(judged: Study, tmp_path: Path) -> None:
    blind = tasks_of(judged, tmp_path / "blind.json")
    report = export_to_file(judged, "s1", tmp_path / "seen.json", judge="strict")
    seen = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))
    assert not any("predictions" in task for task in blind)
    told = [task["predictions"] for task in seen if "predictions" in task]
    assert len(told) == len(seen) - 1 == len(blind) - 1
    assert told[0] == [{"model_version": "strict", "result": PAGE.answer("CORRECT")}]
    versions = {task["data"]["template_version"] for task in seen}
    assert versions == {f"{PAGE.version}+judge:strict"}
    # nothing else that is in the data differs
    assert [{**t["data"], "template_version": PAGE.version} for t in seen] == [
        task["data"] for task in blind
    ]
    assert any("not blind" in note for note in report.notes)
    assert "strict has no verdict on 1 items; they are shown without" in report.notes


def test_labels_beside_a_judge_enter_no_figure_unless_asked(judged: Study, tmp_path: Path) -> None:
    seen = tasks_of(judged, tmp_path / "seen.json", judge="strict")
    report = import_files(judged, [graded(seen, "CORRECT", tmp_path / "g.json")])
    assert report.annotations["labelled"] == report.judge_shown == len(seen)
    assert report.prefilled == 0 and any("judge shown" in line for line in report.lines())
    assert people(judged) == {}
    found = judged.ratings()
    assert found.dropped["rating given beside a judge's verdict"] == len(seen)
    assert any(note.startswith(f"{len(seen)} ratings were given") for note in found.notes)
    asked = judged.ratings(anchored=True)
    assert len(people(judged, anchored=True)) == len(seen)
    assert any("flatter that judge" in note for note in asked.notes)
    # the star makes no ground truth of them
    assert "ground-truth" not in set(asked.frame["rater"])


@pytest.mark.parametrize("blind_first", [True, False])
def test_a_blind_label_of_the_same_person_stands(
    judged: Study, tmp_path: Path, blind_first: bool
) -> None:
    blind, seen = (tasks_of(judged, tmp_path / f"{n}.json", judge=n) for n in (None, "strict"))
    files = [
        graded(blind[:2], "INCORRECT", tmp_path / "b.json", first=1 if blind_first else 40),
        graded(seen, "CORRECT", tmp_path / "s.json", first=10),
    ]
    for file in files if blind_first else reversed(files):
        import_files(judged, [file])
    assert set(people(judged).values()) == {"INCORRECT"} and len(people(judged)) == 2
    both = people(judged, anchored=True)
    assert sorted(both.values()) == ["CORRECT"] * (len(seen) - 2) + ["INCORRECT"] * 2
    assert len({rater for _, rater in both}) == 1
    times = judged.ratings(anchored=True).frame
    assert times["seconds"].notna().sum() >= 2


def test_a_label_that_began_from_a_prediction_is_none(judged: Study, tmp_path: Path) -> None:
    blind = tasks_of(judged, tmp_path / "b.json")
    file = graded(blind, "CORRECT", tmp_path / "p.json", origin="prediction")
    report = import_files(judged, [file])
    assert (report.prefilled, report.judge_shown) == (len(blind), 0)
    assert people(judged) == {} and len(people(judged, anchored=True)) == len(blind)


def test_a_task_that_lost_its_mark_is_noticed(judged: Study, tmp_path: Path) -> None:
    seen = tasks_of(judged, tmp_path / "seen.json", judge="strict")
    for task in seen:
        task["data"]["template_version"] = "4+judge:strict"
    report = import_files(judged, [graded(seen, "CORRECT", tmp_path / "g.json")])
    assert report.annotations["other template"] == len(seen)


def test_a_skip_withdraws_only_its_own(judged: Study, tmp_path: Path) -> None:
    seen = tasks_of(judged, tmp_path / "seen.json", judge="strict")
    file = graded(seen, "CORRECT", tmp_path / "g.json")
    import_files(judged, [file])
    tasks = json.loads(file.read_text(encoding="utf-8"))
    tasks[0]["annotations"][0] |= {"was_cancelled": True, "updated_at": "2026-01-02T00:00:00Z"}
    file.write_text(json.dumps(tasks), encoding="utf-8")
    import_files(judged, [file])
    assert len(people(judged, anchored=True)) == len(seen) - 1


def test_what_can_t_be_shown_is_refused(
    judged: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.json"
    with pytest.raises(SettingsError, match="names 'kind', which has no verdict") as caught:
        export_to_file(judged, "s1", file, judge="kind")
    assert "strict" in str(caught.value.cure)
    with pytest.raises(SettingsError, match="does not grade them one at a time"):
        export_to_file(judged, "s1", file, template="response", judge="strict")
    import_files(judged, [graded(tasks_of(judged, tmp_path / "b.json"), "CORRECT", tmp_path / "g")])
    draw_retest(judged, of="s1", sample_id="again")
    with pytest.raises(SettingsError, match="is a retest"):
        export_to_file(judged, "again", file, judge="strict")
    people_file = tmp_path / "people.csv"
    people_file.write_text("email\nann@example.org\n", encoding="utf-8")
    arguments = ["export", str(judged.path), "s1", "--show-judge", "strict"]
    assert cli.main([*arguments, "--annotators", str(people_file)]) == 2
    assert "leave one of them out" in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.label_studio
def test_on_a_server(judged: Study, on_label_studio: PrivateServer) -> None:
    with connect() as connection:
        blind = export_to_server(judged, "s1", connection)
        seen = export_to_server(judged, "s1", connection, judge="strict")
        again = export_to_server(judged, "s1", connection, judge="strict")
        assert (seen.added, again.added) == (blind.total, 0)
        assert seen.project_id == again.project_id != blind.project_id
        with connection.calling("to show projects") as client:
            shown = client.projects.get(id=int(seen.project_id or 0))
            hidden = client.projects.get(id=int(blind.project_id or 0))
            tasks: list[Any] = list(client.tasks.list(project=int(seen.project_id or 0)))
        assert (shown.show_collab_predictions, hidden.show_collab_predictions) == (True, False)
        assert sum(len(task.predictions or []) for task in tasks) == seen.total - 1
        account = sign_up(connection.url, connection.api_key, "ann@judge.example")
        found = {
            report.project_id: [
                task.task_id
                for task in list_tasks(connection, _project(connection, report.project_id))
            ]
            for report in (blind, seen)
        }
        for number, verdict in ((blind.project_id, "INCORRECT"), (seen.project_id, "CORRECT")):
            answers = [(task, PAGE.answer(verdict), 2.0) for task in found[number]]
            post_annotations(connection.url, account, answers)
        report = import_from_server(judged, connection)
    assert (report.annotations["labelled"], report.judge_shown) == (2 * blind.total, blind.total)
    assert set(people(judged).values()) == {"INCORRECT"}
    assert people(judged) == people(judged, anchored=True)


def _project(connection: Any, project_id: int | None) -> Any:
    from accord.annotate.projects import Project

    return Project(int(project_id or 0), connection.url, 1)
