"""The report of a study: what is gathered, the files, the command, and what is refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from accord.cli import report as command
from accord.scoring.errors import AccordError, InputError
from accord.study import Study
from accord.study.records import RatingRow
from accord.validate import audit_counts, study_report, write_report

FORMULA = '=HYPERLINK("http://evil.test/","win")'
N = 60


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """60 pairs in 20 questions, two systems; nobody has graded them."""
    rows = [
        {
            "item_id": f"i{i}",
            "question_id": f"q{i // 3}",
            "question": f"Question {i // 3}?",
            "reference": f"gold {i}",
            "predicted": FORMULA if i == 0 else f"answer {i}",
            "system": "alder" if i % 2 else "birch",
        }
        for i in range(N)
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with Study.create(tmp_path / "river", seed=5) as made:
        made.add_pairs(file)
        yield made


def rate(study: Study, rater: str, kind: Any, wrong: set[int], **more: Any) -> None:
    """Verdicts for all items: item i is right if i is even, except where the rater is wrong."""
    study.ledger.add_ratings(
        [
            replace(
                RatingRow(
                    item_id=f"i{i}",
                    rater=rater,
                    kind=kind,
                    rating="CORRECT" if (i % 2 == 0) != (i in wrong) else "INCORRECT",
                    status="rated",
                    reasons=("reference wrong",) if i in wrong and kind == "annotator" else (),
                    comment=FORMULA if i in wrong and kind == "annotator" else "",
                    guideline="",
                    source="file:test",
                ),
                **more,
            )
            for i in range(N)
        ]
    )


def graded(study: Study) -> Study:
    rate(study, "ann", "annotator", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    rate(study, "bob", "annotator", {10, 11})
    rate(study, "gpt", "judge", {0, 12, 14})
    return study


def test_a_study_without_ratings_says_so(study: Study) -> None:
    report = study_report(study)
    assert report.title == "river"
    assert "No judge has graded what people graded" in report.conclusions[0]
    assert report.to_dict()["results"] == [] and not report.disagreements
    assert "No item has been graded by people and a judge" in report.to_html()
    assert report.recipe["name"] == "listqa" and len(report.recipe["sha256"]) == 64


@pytest.mark.parametrize(
    ("rater", "kind"), [("gpt", "judge"), ("ann", "annotator"), ("final", "adjudicated")]
)
def test_one_rater_alone_is_no_comparison(study: Study, rater: str, kind: str) -> None:
    rate(study, rater, kind, set())
    report = study_report(study)
    assert "not known" in report.conclusions[0]
    assert not report.agreement.get("results")


def test_people_without_a_judge(study: Study) -> None:
    rate(study, "ann", "annotator", {1, 2, 3})
    rate(study, "bob", "annotator", {3})
    report = study_report(study)
    assert report.conclusions[0].startswith("No judge has graded the items that people graded")
    assert {row["item_id"] for row in report.disagreements} == {"i1", "i2"}
    assert "0.967" not in report.conclusions[1] and "96.67 %" in report.conclusions[1]


def test_what_is_gathered(study: Study) -> None:
    report = study_report(graded(study), audit=audit_counts(7, 76).to_dict())
    # ann and bob differ on 1..9 and 11; the judge differs from somebody on 0, 1..12, 14
    assert {row["item_id"] for row in report.disagreements} == {f"i{i}" for i in [*range(13), 14]}
    first = next(row for row in report.disagreements if row["item_id"] == "i3")
    assert first["question"] == "Question 1?" and first["reference"] == "gold 3"
    assert first["judges"] == {"gpt": "INCORRECT"}
    assert first["people"] == {"ann": "CORRECT", "bob": "INCORRECT"}
    assert first["comments"] == [f"ann: reference wrong; {FORMULA}"]
    assert first["system"] == "alder"
    kappa = [one for one in report.agreement["results"] if one["name"] == "cohen_kappa"]
    # ann and bob: 10 of 60 differ; κ from the table of 50 equal items, both near half and half
    assert kappa[0]["raters"] == ["ann", "bob"]
    assert kappa[0]["details"]["disagreements"] == 10
    assert "7 of 76" in report.conclusions[2]
    assert report.provenance["seed"] == 5
    assert report.to_dict()["settings"]["seed"] == 5
    assert report.to_dict()["input"]["rows"] == 3 * N
    assert report.provenance["inputs"][0]["name"] == "pairs.jsonl"
    assert len(report.response_scores) == 40  # 20 questions, 2 systems
    assert "People’s verdict is the majority of the annotators." in report.to_html()
    assert str(study.path.parent) not in json.dumps(report.to_dict()) + report.to_html()


def test_few_differing_items_are_inconclusive(study: Study) -> None:
    rate(study, "ann", "annotator", {1})
    rate(study, "bob", "annotator", {2})
    rate(study, "gpt", "judge", {0, 12, 14})
    first = study_report(study).conclusions[0]
    assert first.startswith("INCONCLUSIVE: only 2 items differ between ann and bob")


def test_a_final_label_is_shown_and_read(study: Study) -> None:
    rate(graded(study), "chief", "adjudicated", {10})
    report = study_report(study)
    assert {row["final"] for row in report.disagreements} == {"CORRECT", "INCORRECT"}
    assert report.agreement["people"] == "chief"
    assert "People’s verdict is the final label chief." in report.to_html()
    page = report.to_html()
    assert "gpt – chief" in page and "each judge with each annotator" in page


def test_only_some_raters(study: Study) -> None:
    rate(graded(study), "bem", "judge", {20, 21})
    report = study_report(study, judges=("bem",))
    assert set(report.agreement["kinds"]) == {"ann", "bob", "bem"}
    assert all(set(row["judges"]) == {"bem"} for row in report.disagreements)
    with pytest.raises(InputError, match="no judge 'llama'"):
        study_report(study, judges=("llama",))


def test_the_three_files(study: Study) -> None:
    written = write_report(graded(study))
    folder = study.path / "reports"
    assert {file.name for file in folder.iterdir()} == {
        "report.html",
        "report.json",
        "disagreements.csv",
    }
    assert (written.html, written.json) == (folder / "report.html", folder / "report.json")
    content = json.loads(written.json.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert content == written.report.to_dict()
    assert written.html.read_text(encoding="utf-8") == written.report.to_html()
    with written.csv.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(content["disagreements"]) == 14
    assert list(rows[0])[-4:] == ["annotator ann", "annotator bob", "final", "comments"]
    cells = [cell for row in rows for cell in row.values()]
    assert f"'{FORMULA}" in cells
    assert not any(cell.startswith(("=", "+", "@")) for cell in cells)


def test_an_empty_table_of_disagreements_still_has_its_header(study: Study) -> None:
    written = write_report(study)
    assert written.csv.read_text(encoding="utf-8").startswith("item_id,question_id,system")


def test_a_page_elsewhere(study: Study, tmp_path: Path) -> None:
    written = write_report(study, tmp_path / "for-paper.html", title="For the paper")
    assert "<h1>For the paper</h1>" in (tmp_path / "for-paper.html").read_text(encoding="utf-8")
    assert not (study.path / "reports" / "report.html").exists()
    assert written.json.is_file()


def test_a_page_that_can_not_be_written_leaves_nothing(study: Study, tmp_path: Path) -> None:
    with pytest.raises(AccordError, match=r"nowhere.*can't be written"):
        write_report(study, tmp_path / "nowhere" / "report.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(AccordError, match="can't be written"):
        write_report(study, tmp_path / "folder.html")
    assert not list(study.path.rglob("*.part")) and not list(tmp_path.glob("*.part"))
    assert not study.path.joinpath("reports").exists()
    study.path.joinpath("reports").write_text("in the way", encoding="utf-8")
    with pytest.raises(AccordError, match="reports can't be written"):
        write_report(study)


def run(*arguments: str) -> Any:
    app = typer.Typer()
    app.callback()(lambda: None)
    command.register(app)
    return CliRunner().invoke(app, ["report", *arguments], catch_exceptions=False)


def test_the_command(study: Study, tmp_path: Path) -> None:
    graded(study)
    study.close()
    done = run(str(study.path))
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("INCONCLUSIVE: ") and len(lines[:3]) == 3 and lines[3] == ""
    assert lines[4].endswith("report.html") and lines[6].endswith("disagreements.csv (14)")
    rate_file = tmp_path / "audit.json"
    envelope = {"results": [audit_counts(8, 481).to_dict()]}
    rate_file.write_text(json.dumps(envelope), encoding="utf-8")
    page = tmp_path / "page.html"
    done = run(str(study.path), "--json", "--audit", str(rate_file), "--html", str(page))
    content = json.loads(done.stdout)
    assert content["command"] == "report" and content["audit"]["n"] == 481
    assert "8 of 481" in page.read_text(encoding="utf-8")


def test_the_command_shows_strata_and_families(study: Study) -> None:
    graded(study)
    study.close()
    families = "gpt=one,alder=one,birch=two"
    done = run(str(study.path), "--strata", "system", "--family", families)
    assert done.exit_code == 0
    page = (study.path / "reports" / "report.html").read_text(encoding="utf-8")
    for title in ("By stratum", "own family of models", "Ceiling: judge and people"):
        assert title in page
    assert "<details><summary>Show the figures" in page and "system alder" in page


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        ("{", "is no JSON"),
        ("[]", "holds no error_rate"),
        ('{"results": 3}', "holds no error_rate"),
        ('{"results": [{"name": "mad"}, 3]}', "holds no error_rate"),
    ],
)
def test_an_audit_that_is_none(
    study: Study, tmp_path: Path, content: str | None, message: str
) -> None:
    file = tmp_path / "audit.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        run(str(study.path), "--audit", str(file))
    assert not (study.path / "reports").exists()
