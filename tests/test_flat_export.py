"""JSON_MIN and CSV exports of accord's own projects say what JSON says, but for skips."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from accord.annotate.connection import connect
from accord.annotate.export import export_to_file, export_to_server
from accord.annotate.importing import ImportReport, import_files
from accord.annotate.people import post_annotations, sign_up
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.scoring.errors import InputError
from accord.study import Study
from small_study import QUESTIONS, RESPONSES, write

PAGE = load_template()


@pytest.fixture
def study(empty: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    odd = {
        "question_id": "q3",
        "question": 'Which "signs",\nplease?',
        "reference": ["[brackets]", "{braces}", "007"],
    }
    answer = {"question_id": "q3", "system": "alpha", "response": ["[brackets]", "{braces}", "7"]}
    empty.add_questions(write(tmp_path / "questions.jsonl", [*QUESTIONS, odd]))
    empty.add_responses(write(tmp_path / "responses.jsonl", [*RESPONSES, answer]))
    draw_sample(empty, sample_id="s1")
    yield empty


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Labels as JSON_MIN has them: a row an annotation, the controls beside the data."""
    tasks = json.loads(path.read_text())
    out = []
    for number, task in enumerate(tasks, start=1):
        row = {"id": number, **task["data"], "annotator": 1 + number % 2, "annotation_id": number}
        row |= {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
        row |= {"lead_time": 2.5, PAGE.controls["verdict"].name: "CORRECT"}
        if number == 1:
            row[PAGE.controls["reasons"].name] = {
                "choices": list(PAGE.controls["reasons"].values[:2])
            }
            row[PAGE.controls["comment"].name] = "[not sure]"
        out.append(row)
    return out


def test_json_min(study: Study, tmp_path: Path) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    rows = rows_of(tmp_path / "t.json")
    (tmp_path / "min.json").write_text(json.dumps(rows))
    report = import_files(study, [tmp_path / "min.json"])
    assert report.annotations["labelled"] == len(rows) == report.new_ratings
    assert "skips are not in JSON_MIN: export JSON to have them counted" in report.notes
    found = {row.item_id: row for row in study.ledger.rating_rows()}
    first = found[rows[0]["item_id"]]
    assert (len(first.reasons), first.comment) == (2, "[not sure]")
    assert import_files(study, [tmp_path / "min.json"]).new_annotations == 0


def test_a_changed_text_is_seen(study: Study, tmp_path: Path) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    rows = rows_of(tmp_path / "t.json")
    rows[0]["predicted"] = "another text"
    rows[1]["verdict"] = "MAYBE"
    del rows[2]["verdict"]
    (tmp_path / "min.json").write_text(json.dumps(rows))
    counts = import_files(study, [tmp_path / "min.json"]).annotations
    assert (counts["changed text"], counts["unknown verdict"], counts["no verdict"]) == (1, 1, 1)
    assert counts["labelled"] == len(rows) - 3


@pytest.mark.parametrize("odd", ["nan", "inf", "1e400", "x"])
def test_a_number_that_is_none(study: Study, tmp_path: Path, odd: str) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    rows = rows_of(tmp_path / "t.json")
    rows[0] |= {"annotation_id": odd, "annotator": odd, "lead_time": odd}
    (tmp_path / "min.json").write_text(json.dumps(rows))
    counts = import_files(study, [tmp_path / "min.json"]).annotations
    assert (counts["unknown annotator"], counts["labelled"]) == (1, len(rows) - 1)


def test_a_table_of_another_project_is_refused(study: Study, tmp_path: Path) -> None:
    table = tmp_path / "other.csv"
    table.write_text("annotation_id,annotator,id,text,verdict\n1,1,1,a,CORRECT\n")
    with pytest.raises(InputError, match="was not exported by accord: no row of it has an item_id"):
        import_files(study, [table])


def ratings(study: Study) -> set[Any]:
    return {
        (row.item_id, row.rating, row.status, row.reasons, row.comment)
        for row in study.ledger.rating_rows()
    }


@pytest.mark.label_studio
def test_three_formats_of_one_project(
    study: Study, on_label_studio: PrivateServer, tmp_path: Path
) -> None:
    url, token = str(on_label_studio.status().url), on_label_studio.login().token
    with connect() as connection:
        made = export_to_server(study, "s1", connection)
    tasks = [int(row.task_id or 0) for row in study.ledger.exported("s1")]
    account = sign_up(url, token, "ann@flat.example")
    answers = [(task, PAGE.answer("CORRECT"), 1.5) for task in tasks[1:]]
    special = PAGE.answer(
        "INCORRECT",
        alignment="NO",
        reasons=list(PAGE.controls["reasons"].values[:2]),
        comment='a "comment",\nof two lines',
    )
    post_annotations(url, account, [(tasks[0], special, None), *answers])
    study.close()
    found: dict[str, tuple[ImportReport, set[Any]]] = {}
    for form in ("JSON", "JSON_MIN", "CSV"):
        raw = httpx.get(
            f"{url}/api/projects/{made.project_id}/export",
            params={"exportType": form},
            headers={"Authorization": f"Token {token}"},
            trust_env=False,
            timeout=60,
        ).raise_for_status()
        file = tmp_path / f"{form}.{'csv' if form == 'CSV' else 'json'}"
        file.write_bytes(raw.content)
        shutil.copytree(study.path, tmp_path / form)
        with Study.open(tmp_path / form) as copy:
            found[form] = (import_files(copy, [file]), ratings(copy))
    assert len(found["JSON"][1]) == len(tasks)
    for form in ("JSON_MIN", "CSV"):
        assert found[form][0].annotations == found["JSON"][0].annotations
        assert found[form][1] == found["JSON"][1]
        assert found[form][0].annotators == found["JSON"][0].annotators
    files = {form: next(tmp_path.glob(f"{form}.[cj]s*")) for form in found}
    for first, then in (("JSON", "CSV"), ("CSV", "JSON"), ("JSON_MIN", "CSV")):
        # one label, however often and in whatever format it comes
        with Study.open(tmp_path / first) as copy:
            again = import_files(copy, [files[then], files[first]])
            assert (again.new_annotations, again.new_ratings) == (0, 0)
            assert ratings(copy) == found["JSON"][1]
            assert len(copy.ledger.rating_rows()) == len(tasks)


def test_equal_numbers_of_two_servers_are_two_labels(study: Study, tmp_path: Path) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    rows = rows_of(tmp_path / "t.json")
    (tmp_path / "one.json").write_text(json.dumps(rows))
    elsewhere = [{**row, "created_at": "2026-01-01T00:00:07Z", "annotator": 9} for row in rows]
    (tmp_path / "two.json").write_text(json.dumps(elsewhere))
    import_files(study, [tmp_path / "one.json"])
    report = import_files(study, [tmp_path / "two.json"])
    assert (report.new_annotations, report.new_ratings) == (len(rows), len(rows))
    assert report.annotations["labelled"] == len(rows)
