"""Every template out to a file and its example annotation back: the ratings that it stands for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from labelled_study import QUESTIONS, example_task, labelled_study, tasks_of

from accord import cli
from accord.annotate.export import export_to_file
from accord.annotate.importing import ImportReport, import_files
from accord.annotate.label_tables import audit_table, corrected_elements, unit_labels
from accord.annotate.question_sample import draw_questions
from accord.annotate.template import example, load_template, template_names
from accord.annotate.units import as_list, graded
from accord.scoring.errors import SettingsError, StudyError
from accord.scoring.parse import read_reference
from accord.study import Study
from accord.study.records import Question, RatingRow
from small_study import QUESTIONS as SMALL_QUESTIONS
from small_study import RESPONSES as SMALL_RESPONSES
from small_study import write

NEW = [name for name in template_names() if name != "pair"]


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with labelled_study(tmp_path) as made:
        yield made


def bring_back(
    study: Study, task: dict[str, Any], *results: Any, tmp_path: Path, **more: Any
) -> ImportReport:
    """Import an export in which a person gave these results, one annotation each."""
    annotations = [
        {
            "id": number,
            "completed_by": {"id": 3, "email": "cleo@x.org"},
            "result": result,
            "was_cancelled": False,
            "updated_at": f"2026-11-30T10:{number:02d}:00.000000Z",
            "unique_id": f"00000000-0000-4000-8000-{task['data']['content_sha256'][:11]}{number}",
            **more,
        }
        for number, result in enumerate(results, 1)
    ]
    file = tmp_path / "back.json"
    file.write_text(json.dumps([{**task, "id": 1, "annotations": annotations}]), encoding="utf-8")
    return import_files(study, [file])


def latest(study: Study) -> dict[str, RatingRow]:
    """The rating that was imported of each item."""
    return {row.item_id: row for row in study.ledger.rating_rows() if row.source == "label-studio"}


def found(report: ImportReport) -> dict[str, int]:
    return {rule: count for rule, count in report.annotations.items() if count}


@pytest.mark.parametrize("name", NEW)
def test_the_example_task_is_what_is_exported(name: str, study: Study, tmp_path: Path) -> None:
    task, _ = example(name)
    assert example_task(study, name, tmp_path) == task


@pytest.mark.parametrize("name", NEW)
def test_no_task_tells_the_system(name: str, study: Study, tmp_path: Path) -> None:
    for task in tasks_of(study, name, tmp_path):
        assert "alder" not in json.dumps(task)
        assert set(task["data"]["item_id"]) <= set("abcdefghijklmnopqrstuvwxyz0123456789:")


@pytest.mark.parametrize(
    ("name", "rating", "reasons", "comment"),
    [
        ("gold_audit", "ERROR", ("wrong_value",), "Looked at the linked page."),
        ("rating", "3", (), "Two of four."),
        ("choice", "CORRECT", (), None),
        ("refusal", "No", (), None),
        ("components", "D", (), "Two of its three are right, Titan is not."),
        ("parse", "RIGHT", (), None),
        ("adjudication", "INCORRECT", ("unverifiable",), "Titan is a moon of Saturn."),
    ],
)
def test_the_example_annotation_is_one_rating(
    name: str,
    rating: str,
    reasons: tuple[str, ...],
    comment: str | None,
    study: Study,
    tmp_path: Path,
) -> None:
    task, annotation = example(name)
    report = bring_back(study, task, annotation["result"], tmp_path=tmp_path)
    assert found(report) == {"labelled": 1} and report.new_ratings == 1
    (row,) = latest(study).values()
    assert (row.item_id, row.rating) == (task["data"]["item_id"], rating)
    assert (row.reasons, row.comment) == (reasons, comment)
    assert row.guideline == load_template(name).guideline
    adjudicates = name == "adjudication"
    assert row.kind == ("adjudicated" if adjudicates else "annotator")
    assert row.rater == "adjudicated" if adjudicates else row.rater.startswith("annotator-")
    again = bring_back(study, task, annotation["result"], tmp_path=tmp_path)
    assert (again.new_annotations, again.new_ratings) == (0, 0)
    # What is rated besides pairs is no rating of a pair that went missing.
    assert not any("not in the study" in reason for reason in study.ratings().dropped)


def test_a_page_rates_the_same_items_as_pairs_do(study: Study, tmp_path: Path) -> None:
    task, annotation = example("response")
    report = bring_back(study, task, annotation["result"], tmp_path=tmp_path)
    assert found(report) == {"labelled": 1} and report.new_ratings == 4
    rows = latest(study)
    items = {item.item_id: item.predicted for item in study.items()}
    said = {items.get(item, item.partition(":")[0]): row for item, row in rows.items()}
    assert {name: row.rating for name, row in said.items()} == {
        "Io\nnumber: Jupiter I": "CORRECT",
        "Ganymedes (III)": "CORRECT",
        "Titan": "INCORRECT",
        "missing": "MISSING",
    }
    # It was put beside Europa and belongs beside nothing.
    assert said["Titan"].reasons == ("unverifiable", "misaligned")
    assert said["Titan"].comment == "Titan is a moon of Saturn."
    in_figures = study.ratings().frame
    assert set(in_figures["item_id"]) == set(rows) & set(items)


def test_rows_left_open_changed_and_taken_back(study: Study, tmp_path: Path) -> None:
    page = load_template("response")
    task, annotation = example("response")
    first = page.answer("CORRECT", row=0) + page.answer("UNSURE", row=2)
    report = bring_back(study, task, first, tmp_path=tmp_path)
    assert report.new_ratings == 2
    assert report.notes[0] == "2 elements on pages that were submitted have no verdict"
    second = page.answer("INCORRECT", row=0, belongs=1)
    report = bring_back(study, task, first, second, tmp_path=tmp_path)
    assert found(report) == {"labelled": 1, "superseded": 1}
    pairs = task["data"]["rows"]["pairs"]
    rows = latest(study)
    assert (rows[pairs[0]].rating, rows[pairs[0]].reasons) == ("INCORRECT", ())
    assert (rows[pairs[2]].rating, rows[pairs[2]].status) == (None, "skipped")
    assert pairs[1] not in rows


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ([], "no verdict"),
        ([("verdict_0", ["CORRECT", "UNSURE"])], "several verdicts"),
        ([("verdict_0", ["MAYBE"])], "unknown verdict"),
        ([("verdict_9", ["CORRECT"])], "unreadable"),
        ([("verdict_-1", ["CORRECT"])], "unreadable"),
        ([("verdict_{{idx}}", ["CORRECT"])], "unreadable"),
        ([("verdict_0", ["CORRECT"]), ("given_0", ["CORRECT"])], "unreadable"),
        ([("verdict_0", ["CORRECT"]), ("belongs_0", 5)], "unreadable"),
        ([("verdict_0", ["CORRECT"]), ("belongs_0", 1.5)], "unreadable"),
        ([("verdict_0", ["CORRECT"]), ("belongs_0", True)], "unreadable"),
        ([("verdict_0", ["CORRECT"]), ("belongs_0", -1)], "unreadable"),
    ],
)
def test_what_no_page_can_have_made(
    change: list[tuple[str, Any]], reason: str, study: Study, tmp_path: Path
) -> None:
    task, _ = example("response")
    result = [
        {
            "from_name": name,
            "to_name": "x",
            "type": "choices" if isinstance(value, list) else "number",
            "value": {"choices" if isinstance(value, list) else "number": value},
        }
        for name, value in change
    ]
    report = bring_back(study, task, result, tmp_path=tmp_path)
    assert found(report) == {reason: 1} and report.new_ratings == 0


@pytest.mark.parametrize("name", NEW)
def test_a_text_changed_on_the_server_is_noticed(name: str, study: Study, tmp_path: Path) -> None:
    task, annotation = example(name)
    changed = {**task, "data": {**task["data"], "question": "Which moons?"}}
    report = bring_back(study, changed, annotation["result"], tmp_path=tmp_path)
    assert found(report) == {"changed text": 1}
    tasks_of(study, name, tmp_path)
    older = {**task, "data": {**task["data"], "template_version": "0"}}
    report = bring_back(study, older, annotation["result"], tmp_path=tmp_path)
    assert report.new_ratings == 0 and report.annotations["labelled"] == 0


def test_the_later_of_a_page_and_a_pair_counts(study: Study, tmp_path: Path) -> None:
    page, (one, *_) = load_template("pair"), tasks_of(study, "pair", tmp_path)
    whole, annotation = example("response")
    item = one["data"]["item_id"]
    assert item in whole["data"]["rows"]["pairs"]
    bring_back(study, one, page.answer("UNSURE"), tmp_path=tmp_path)
    bring_back(study, whole, [], annotation["result"], tmp_path=tmp_path)
    after = latest(study)[item].rating
    assert after in ("CORRECT", "INCORRECT")
    again = bring_back(study, one, page.answer("UNSURE"), tmp_path=tmp_path)
    assert again.new_ratings == 0 and latest(study)[item].rating == after


def test_disagreements_are_shown_without_names(study: Study, tmp_path: Path) -> None:
    (task,) = tasks_of(study, "adjudication", tmp_path)
    labels = task["data"]["labels"]
    assert sorted(labels.splitlines()) == [
        "• INCORRECT",
        "• UNSURE (can't be verified): “It is a moon, though; ask [address].”",
    ]
    assert "annotator" not in json.dumps(task)
    other = labelled_study_without_labels(tmp_path / "other")
    with other, pytest.raises(StudyError, match="people left no item of sample 'example' open"):
        export_to_file(other, "example", tmp_path / "x.json", template="adjudication")


def labelled_study_without_labels(folder: Path) -> Study:
    """The same study, with labels that agree."""
    folder.mkdir()
    made = labelled_study(folder)
    titan = next(item.item_id for item in made.items() if "Titan" in item.predicted)
    made.ledger.add_ratings([RatingRow(titan, "annotator-2", "annotator", "INCORRECT")])
    return made


def test_a_template_needs_a_sample_that_fits(study: Study, tmp_path: Path) -> None:
    from accord.annotate.sample import draw_sample

    draw_sample(study, n=2, sample_id="few")
    for template, cure in (("response", "--questions N"), ("gold_audit", "--unit question")):
        with pytest.raises(SettingsError, match="is one of single items") as error:
            export_to_file(study, "few", tmp_path / "t.json", template=template)
        assert cure in str(error.value)
    with pytest.raises(SettingsError, match="is one of questions"):
        export_to_file(study, "questions", tmp_path / "t.json", template="response")
    with pytest.raises(StudyError, match="has no items, only questions"):
        export_to_file(study, "questions", tmp_path / "t.json", template="pair")


@pytest.mark.parametrize(
    ("systems", "questions", "pages", "ratings", "parses"),
    [
        # alpha answered both questions, once more with a variant; beta's second answer is empty
        ((), 2, 4, 5, 4),
        (("alpha",), 2, 2, 2, 2),
        (("beta",), 1, 1, 1, 1),
        (("alpha (thinking)",), 1, 1, 1, 0),  # its answer came as a list: nothing was parsed
        (("alpha", "alpha (thinking)"), 2, 3, 3, 2),
    ],
)
def test_a_sample_of_some_systems_hands_out_their_answers_alone(
    empty: Study,
    tmp_path: Path,
    systems: tuple[str, ...],
    questions: int,
    pages: int,
    ratings: int,
    parses: int,
) -> None:
    from accord.annotate.sample import draw_sample

    empty.add_questions(write(tmp_path / "questions.jsonl", SMALL_QUESTIONS))
    empty.add_responses(write(tmp_path / "responses.jsonl", SMALL_RESPONSES))
    drawn = draw_sample(empty, questions=questions, systems=systems, sample_id="some")
    mine = {item for item, _ in drawn.items}
    named = set(systems)
    for template, count in (("response", pages), ("rating", ratings), ("parse", parses)):
        file = tmp_path / f"{template}.json"
        if not count:
            with pytest.raises(StudyError, match="nothing for the template"):
                export_to_file(empty, "some", file, template=template)
            continue
        assert export_to_file(empty, "some", file, template=template).total == count
        tasks = [task["data"] for task in json.loads(file.read_text(encoding="utf-8"))]
        whose = {one.item_id: one.system for one in graded(empty, load_template(template))}
        assert {whose[data["item_id"]] for data in tasks} <= (named or set(whose.values()))
        if template == "response":
            assert {item for data in tasks for item in data["rows"]["pairs"]} == mine


OWN = """<View><Text name="q" value="$question"/><Text name="a" value="$response"/>
<Choices name="fluency" toName="a" choice="single-radio">
<Choice value="low" hotkey="1"/><Choice value="middle" hotkey="2"/><Choice value="high" hotkey="3"/>
</Choices></View>"""


def test_a_template_of_one_s_own(study: Study, tmp_path: Path) -> None:
    folder = tmp_path / "fluency"
    folder.mkdir()
    (folder / "config.xml").write_text(OWN, encoding="utf-8")
    (folder / "instructions.md").write_text("How fluent is it?", encoding="utf-8")
    toml = (
        'name = "fluency"\nversion = "1"\ntitle = "Fluency"\nunit = "response"\n'
        'scale = "ordinal"\nshown = ["question", "response"]\n[controls]\nverdict = "fluency"\n'
    )
    (folder / "template.toml").write_text(toml, encoding="utf-8")
    target = tmp_path / "own.json"
    sent = export_to_file(study, "questions", target, template=folder)
    assert (sent.template, sent.total) == ("fluency@1", 2)
    task = json.loads(target.read_text(encoding="utf-8"))[0]
    page = load_template(folder)
    # Another rating of the same response than the template rating's: neither replaces the other.
    ids = {one["data"]["item_id"] for one in tasks_of(study, "rating", tmp_path)}
    assert task["data"]["item_id"] not in ids
    config = folder / "config.xml"
    config.write_text(OWN.replace("low", "bad"), encoding="utf-8")
    with pytest.raises(SettingsError, match="version 1, was used in this study before"):
        export_to_file(study, "questions", target, template=folder)
    config.unlink()  # the study's own copy reads the labels
    report = bring_back(study, task, page.answer("middle"), tmp_path=tmp_path)
    assert found(report) == {"labelled": 1}
    assert latest(study)[task["data"]["item_id"]].guideline == "fluency@1"


# What becomes of the labels


def test_an_audit_of_the_study(
    study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = {task["data"]["question"][:5]: task for task in tasks_of(study, "gold_audit", tmp_path)}
    _, annotation = example("gold_audit")
    page = load_template("gold_audit")
    folder = str(study.path)
    assert cli.main(["audit", folder]) == 2
    assert "nobody has checked a gold answer" in capsys.readouterr().err
    bring_back(study, tasks["Which"], annotation["result"], tmp_path=tmp_path)
    landing = tasks["In wh"]
    prefilled = page.answer("OK", corrected=landing["data"]["gold_text"], missing=["x \n\n y"])
    bring_back(study, landing, prefilled, tmp_path=tmp_path)
    table = audit_table(study)
    rows = {row["question_id"]: row for row in table.frame.to_dict("records")}
    moons = rows["moons"]
    assert (moons["verdict"], moons["error_type"], moons["marks"]) == (
        "ERROR",
        "wrong_value",
        "3 wrong",
    )
    fixed = json.loads(moons["corrected"])
    assert [element["text"] for element in fixed] == ["Io", "Europa", "Ganymede", "Callisto"]
    assert fixed[2] == {
        "text": "Ganymede",
        "aliases": ["Ganymedes"],
        "attributes": [["number", "Jupiter III"]],
    }
    assert (rows["landing"]["verdict"], rows["landing"]["corrected"]) == ("OK", None)
    assert rows["landing"]["missing"] == "x\ny"
    assert cli.main(["audit", folder, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["errors"] == ["moons"]
    assert answer["error_types"] == {"wrong_value": 1}
    assert answer["results"][0]["estimate"] == 0.5


@pytest.mark.parametrize("reference", [question["reference"] for question in QUESTIONS])
def test_the_gold_that_stands_to_be_corrected_is_read_as_it_was(reference: list[Any]) -> None:
    question = Question("q", "Which?", json.dumps(reference))
    elements = read_reference(question.reference).elements
    text = as_list(elements)
    again = read_reference(text).elements
    assert [(e.text, e.attributes) for e in again] == [(e.text, e.attributes) for e in elements]
    assert corrected_elements(text, question) is None
    assert corrected_elements(None, question) is None
    more = corrected_elements(f"{text}\n{len(elements) + 1}. Amalthea", question)
    assert more is not None and len(more) == len(elements) + 1 and more[-1] == {"text": "Amalthea"}


def test_ratings_of_responses_as_a_table(
    study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw_questions(study, n=2, sample_id="two")
    page = load_template("rating")
    tasks = tasks_of(study, "rating", tmp_path)
    for task, rating in zip(tasks, ("2", "5"), strict=True):
        bring_back(study, task, page.answer(rating), tmp_path=tmp_path)
    target = tmp_path / "ratings.csv"
    assert cli.main(["labels", str(study.path), "--template", "rating", "--to", str(target)]) == 0
    capsys.readouterr()
    frame = unit_labels(study, "rating")
    assert dict(zip(frame["item_id"], frame["rating"], strict=True)) == {
        task["data"]["item_id"]: rating for task, rating in zip(tasks, ("2", "5"), strict=True)
    }
    assert set(frame["system"]) == {"alder"} and set(frame["weight"]) == {1.0}
    assert len(target.read_text(encoding="utf-8").splitlines()) == 3
    for template, said in (("pair", "no task of"), ("nope", "no task of")):
        assert cli.main(["labels", str(study.path), "--template", template]) == 2
        assert said in capsys.readouterr().err
    tasks_of(study, "pair", tmp_path)
    assert cli.main(["labels", str(study.path), "--template", "pair"]) == 2
    assert "the study's own ratings" in capsys.readouterr().err
    for option in (
        ["--item", "data.x"],
        ["--control", "v"],
        ["--several", "each"],
        ["--keep", "a"],
    ):
        command = ["labels", str(study.path), "--template", "rating", *option]
        assert cli.main(command) == 2
        assert f"{option[0]} is for an export" in capsys.readouterr().err


def test_gold_answers_are_audited_without_any_response(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder, people = str(tmp_path / "study"), tmp_path / "people.csv"
    people.write_text("email\nann@x.org\nbob@x.org\n", encoding="utf-8")
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS), encoding="utf-8")
    target, template = str(tmp_path / "t.json"), ("--template", "gold_audit")
    for command in (
        ["init", folder],
        ["add", folder, str(questions), "--as", "questions"],
        ["sample", folder, "--for", "audit", "--unit", "question", "--name", "g"],
        ["export", folder, "g", *template, "--to", target],
        ["export", folder, "g", *template, "--to", target, "--annotators", str(people)],
    ):
        assert cli.main(command) == 0, capsys.readouterr().err
    shares = [json.loads((tmp_path / f"t-{k}.json").read_text("utf-8")) for k in (1, 2)]
    assert [len(share) for share in shares] == [1, 1]
    with Study.open(folder) as opened:
        page = load_template("gold_audit")
        report = bring_back(opened, shares[0][0], page.answer("OK"), tmp_path=tmp_path)
        assert found(report) == {"labelled": 1}
    assert cli.main(["audit", folder]) == 0
    assert "0 errors in 1 checked answer" in capsys.readouterr().out


def test_a_study_without_such_labels_gives_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "ratings.csv"
    with labelled_study(tmp_path) as study:
        tasks_of(study, "rating", tmp_path)
        folder = str(study.path)
    assert cli.main(["labels", folder, "--template", "rating", "--to", str(table)]) == 2
    assert "has no label made with the template rating" in capsys.readouterr().err
    assert not table.exists()
