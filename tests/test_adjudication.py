"""What people left open goes to one more person and comes back as the final label."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from accord import cli
from accord.annotate.adjudication import adjudicate_by_file, adjudicate_on_server
from accord.annotate.annotators import Annotator
from accord.annotate.connection import Connection, connect
from accord.annotate.export import export_to_file, export_to_server
from accord.annotate.importing import ImportReport, import_files, import_from_server
from accord.annotate.people import post_annotations, sign_up
from accord.annotate.progress import progress_of
from accord.annotate.pseudonym import Pseudonyms
from accord.annotate.question_sample import draw_questions
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.scoring.errors import SettingsError, StudyError
from accord.study import Study
from accord.study.anchored import OF_SHOWN, SUFFIX
from accord.study.records import RatingRow
from accord.validate import agreement

PAIR, FINAL = load_template(), load_template("adjudication")
ANN, BOB, CYD, LEAD = (Annotator(f"{name}@x.org") for name in ("ann", "bob", "cyd", "lead"))
# i0 agree, i1 differ, i2 one is unsure, i3 both are, i4 differ and a third is unsure, i5 one label
LABELS: Mapping[str, Mapping[str, str]] = {
    "ann": {"i0": "CORRECT", "i1": "CORRECT", "i2": "CORRECT", "i3": "UNSURE", "i4": "CORRECT"},
    "bob": {"i0": "CORRECT", "i1": "INCORRECT", "i2": "UNSURE", "i3": "UNSURE", "i4": "INCORRECT"},
    "cyd": {"i4": "UNSURE", "i5": "INCORRECT"},
}
OPEN = {"i1": "differ", "i2": "unsure", "i3": "unsure", "i4": "differ"}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    rows = "".join(f"i{n},q{n // 2},Which {n // 2}?,ref {n},pred {n}\n" for n in range(6))
    table = tmp_path / "pairs.csv"
    table.write_text(f"item_id,question_id,question,reference,predicted\n{rows}")
    made = Study.create(tmp_path / "study")
    made.add_pairs(table)
    draw_sample(made, sample_id="s1")
    export_to_file(made, "s1", tmp_path / "pairs.json")
    labelled(made, tmp_path, LABELS)
    return made


def labelled(
    study: Study,
    folder: Path,
    labels: Mapping[str, Mapping[str, str]],
    *,
    tasks: str = "pairs.json",
    flagged: bool = False,
    minute: int = 0,
    **more: Any,
) -> ImportReport:
    """Import a file in which people gave these labels to tasks that were handed out."""
    page = FINAL if tasks != "pairs.json" else PAIR
    found = json.loads((folder / tasks).read_text())
    for number, task in enumerate(found):
        item = task["data"]["item_id"]
        task |= {"id": number, "annotations": []}
        for who, given in labels.items():
            if item in given:
                task["annotations"].append(
                    {
                        "id": len(task["annotations"]),
                        "unique_id": f"{tasks}-{item}-{who}",
                        "completed_by": {"id": 1, "email": f"{who}@x.org"},
                        "result": page.answer(given[item], **more),
                        "was_cancelled": False,
                        "ground_truth": flagged,
                        "updated_at": f"2026-01-05T10:{minute:02d}:00Z",
                    }
                )
    back = folder / f"back-{tasks}"
    back.write_text(json.dumps(found))
    return import_files(study, [back])


def tasks_in(file: Path) -> dict[str, dict[str, Any]]:
    return {task["data"]["item_id"]: task["data"] for task in json.loads(file.read_text())}


def final(study: Study, rater: str = "adjudicated") -> dict[str, str | None]:
    return {r.item_id: r.rating for r in study.ledger.rating_rows() if r.rater == rater}


def test_what_people_left_open_goes_out_and_the_outcome_comes_back(
    study: Study, tmp_path: Path
) -> None:
    before = study.ledger.rating_rows(history=True)
    made = adjudicate_by_file(study, "s1", tmp_path / "a.json")
    counts = Counter(OPEN.values())
    assert (made.differ, made.unsure) == (counts["differ"], counts["unsure"]) == (2, 2)
    tasks = tasks_in(tmp_path / "a.json")
    assert set(tasks) == set(OPEN)
    assert sorted(tasks["i4"]["labels"].splitlines()) == ["• CORRECT", "• INCORRECT", "• UNSURE"]
    assert "annotator" not in json.dumps(tasks), "nobody is named"
    (progress,) = progress_of(study)
    assert set(progress.to_adjudicate) == set(OPEN)

    labelled(study, tmp_path, {"lead": {"i1": "CORRECT", "i2": "INCORRECT"}}, tasks="a.json")
    assert final(study) == {"i1": "CORRECT", "i2": "INCORRECT"}
    rows = study.ledger.rating_rows(history=True)
    assert rows[: len(before)] == before, "every earlier label is kept"
    assert {row.kind for row in rows if row.rater == "adjudicated"} == {"adjudicated"}
    (progress,) = progress_of(study)
    assert set(progress.to_adjudicate) == {"i3", "i4"}

    again = adjudicate_by_file(study, "s1", tmp_path / "b.json")
    assert (again.differ, again.unsure, again.settled) == (1, 1, 2)
    assert set(tasks_in(tmp_path / "b.json")) == {"i3", "i4"}
    labelled(study, tmp_path, {"lead": {"i3": "CORRECT", "i4": "UNSURE"}}, tasks="b.json")
    nothing = adjudicate_by_file(study, "s1", tmp_path / "c.json")
    assert nothing.export is None and nothing.settled == 4
    assert not (tmp_path / "c.json").exists()
    assert list(nothing.lines()) == ["nothing is left to settle: 4 items have an adjudicated label"]


def test_items_that_wait_elsewhere_are_told(study: Study, tmp_path: Path) -> None:
    def waiting(name: str, *people: Annotator) -> list[str]:
        made = adjudicate_by_file(study, "s1", tmp_path / name, people=people).export
        assert made is not None
        return [note for note in made.notes if "already and not settled" in note]

    assert waiting("a.json", LEAD) == []
    assert waiting("a.json", LEAD) == [], "the same file again is no other one"
    (note,) = waiting("b.json")
    assert note.startswith("4 of them are handed out in another project or file")
    labelled(study, tmp_path, {"lead": {"i1": "CORRECT"}}, tasks="a.json")
    (note,) = waiting("c.json")
    assert note.startswith("3 of them ")


def test_the_latest_adjudication_of_an_item_counts(study: Study, tmp_path: Path) -> None:
    adjudicate_by_file(study, "s1", tmp_path / "a.json")
    labelled(study, tmp_path, {"lead": {"i1": "CORRECT"}}, tasks="a.json", minute=1)
    labelled(study, tmp_path, {"dov": {"i1": "INCORRECT"}}, tasks="a.json", minute=2)
    assert final(study) == {"i1": "INCORRECT"}
    raters = {row.rater for row in study.ledger.rating_rows() if row.kind == "adjudicated"}
    assert raters == {"adjudicated"}, "an item has one final label, whoever gave it"
    who = {one.annotator for one in study.ledger.annotations() if one.raw["accord_task"]}
    assert len(who) == 5, "who gave which is kept with the annotations"


def test_nobody_settles_what_he_or_she_labelled(study: Study, tmp_path: Path) -> None:
    made = adjudicate_by_file(study, "s1", tmp_path / "a.json", people=[CYD])
    assert (made.own, made.differ, made.unsure) == (1, 1, 2)
    assert set(tasks_in(tmp_path / "a.json")) == {"i1", "i2", "i3"}
    assert made.annotator == Pseudonyms().of(CYD.email)
    assert any("1 more are left out: annotator-" in line for line in made.lines())
    whole = adjudicate_by_file(study, "s1", tmp_path / "l.json", people=[LEAD])
    assert (whole.own, whole.differ + whole.unsure) == (0, 4)
    with pytest.raises(StudyError, match="labelled all 4 items of sample 's1' that are open"):
        adjudicate_by_file(study, "s1", tmp_path / "b.json", people=[ANN])
    with pytest.raises(SettingsError, match="2 people are named"):
        adjudicate_by_file(study, "s1", tmp_path / "b.json", people=[CYD, LEAD])


def test_a_person_is_known_by_name_in_a_table_of_labels(study: Study, tmp_path: Path) -> None:
    study.ledger.add_ratings([RatingRow("i3", "Dov", "annotator", "CORRECT")])
    dov = Annotator("dov@x.org", {"name": "dov"})
    assert adjudicate_by_file(study, "s1", tmp_path / "a.json", people=[dov]).own == 1


def test_an_import_says_who_settled_their_own(study: Study, tmp_path: Path) -> None:
    adjudicate_by_file(study, "s1", tmp_path / "a.json")
    given = {"ann": {"i1": "CORRECT"}, "lead": {"i2": "CORRECT"}}
    report = labelled(study, tmp_path, given, tasks="a.json")
    assert [note for note in report.notes if "adjudications" in note] == [
        "1 of 2 adjudications are by a person who had labelled the item before; they count, and"
        " somebody else's would say more"
    ]


def test_nothing_open_and_no_file_are_told(study: Study, tmp_path: Path) -> None:
    draw_sample(study, sample_id="s2")
    study.ledger.add_ratings(
        [
            RatingRow(i, Pseudonyms().of(f"{who}@x.org"), "annotator", "CORRECT")
            for i in OPEN
            for who in ("ann", "bob", "cyd")
        ]
    )
    with pytest.raises(StudyError, match="people left no item of sample 's2' open"):
        adjudicate_by_file(study, "s2", tmp_path / "a.json")
    with pytest.raises(SettingsError, match="--to is 'a.csv'"):
        adjudicate_by_file(study, "s1", "a.csv")


def test_a_label_flagged_as_ground_truth_is_a_final_one_beside_the_persons_own(
    study: Study, tmp_path: Path
) -> None:
    assert final(study, "ground-truth") == {}
    star: Mapping[str, Mapping[str, str]] = {"bob": {"i1": "INCORRECT", "i2": "UNSURE"}}
    labelled(study, tmp_path, star, flagged=True, minute=5)
    assert final(study, "ground-truth") == {"i1": "INCORRECT", "i2": "UNSURE"}
    assert final(study, Pseudonyms().of("bob@x.org")) == LABELS["bob"]
    # the flag is taken away from one
    labelled(study, tmp_path, {"bob": {"i2": "UNSURE"}}, minute=6)
    assert final(study, "ground-truth") == {"i1": "INCORRECT", "i2": None}
    # a flag settles nothing: the item still goes to the adjudicator
    assert adjudicate_by_file(study, "s1", tmp_path / "a.json").settled == 0


def test_the_final_labels_stand_for_people_and_their_own_figures_stay(
    study: Study, tmp_path: Path
) -> None:
    def among() -> list[dict[str, Any]]:
        found = agreement(study.ratings(), resamples=0).result_dicts()
        return [one for one in found if one.get("comparison") == "people"]

    before = among()
    adjudicate_by_file(study, "s1", tmp_path / "a.json")
    labelled(study, tmp_path, {"lead": {"i1": "CORRECT", "i4": "INCORRECT"}}, tasks="a.json")
    assert among() == before, "an adjudicator is in no figure among annotators"
    judged = [RatingRow(f"i{n}", "gpt", "judge", "CORRECT") for n in range(6)]
    study.ledger.add_ratings(judged)
    report = agreement(study.ratings(), aggregate="adjudicated", resamples=0)
    assert report.people == "adjudicated"
    (raw,) = [
        one
        for one in report.results
        if one.name == "agreement" and one.raters == ("gpt", "adjudicated")
    ]
    # adjudicated i1 CORRECT and i4 INCORRECT; by majority i0 and i2 CORRECT, i5 INCORRECT
    assert (raw.n, raw.estimate) == (5, 3 / 5)
    assert "elsewhere the majority of annotator-" in raw.details["people"]


def test_a_retest_is_not_adjudicated(study: Study, tmp_path: Path) -> None:
    again = replace(study.ledger.sample("s1"), sample_id="again", purpose="retest")
    study.ledger.add_sample(again)
    with pytest.raises(SettingsError, match="'again' is a retest"):
        adjudicate_by_file(study, "again", tmp_path / "a.json")


def test_the_command(study: Study, tmp_path: Path) -> None:
    lead = tmp_path / "lead.csv"
    lead.write_text("email\nlead@x.org\n")
    arguments = [
        "adjudicate",
        str(study.path),
        "s1",
        "--to",
        str(tmp_path / "a.json"),
        "--annotators",
        str(lead),
    ]
    done = CliRunner().invoke(cli.build(), arguments, catch_exceptions=False)
    first, second, last = done.stdout.splitlines()
    assert first.startswith("4 items to settle for annotator-")
    assert first.endswith("people differ on 2, somebody is unsure of 2")
    assert second.startswith("tasks: a.json; labelling interface: a.config.xml")
    assert last.endswith("--aggregate adjudicated")
    told = CliRunner().invoke(cli.build(), [*arguments, "--json"], catch_exceptions=False)
    content = json.loads(told.stdout)
    assert content["why"] == {"differ": 2, "unsure": 2} and content["items"] == 4
    assert "x.org" not in told.stdout, "people are pseudonyms in JSON"


@pytest.mark.label_studio
def test_a_server_gets_what_is_missing_and_gives_the_outcome_back(
    study: Study, tmp_path: Path, on_label_studio: PrivateServer
) -> None:
    import httpx

    url, token = str(on_label_studio.status().url), on_label_studio.login().token
    lead = Annotator("lead@adjudication.example")

    def hand_out(connection: Connection) -> tuple[int, int]:
        made = adjudicate_on_server(study, "s1", connection, people=[lead]).export
        assert made is not None and made.per_item == 1
        return made.added, made.present

    with connect() as connection:
        assert hand_out(connection) == (4, 0)
        assert hand_out(connection) == (0, 4)
        labelled(study, tmp_path, {"bob": {"i0": "INCORRECT"}}, minute=9)
        assert hand_out(connection) == (1, 4), "a disagreement that came later is added"
        tasks = {
            row.item_id: int(row.task_id or 0)
            for row in study.ledger.exported("s1")
            if row.template == "adjudication"
        }
        account = sign_up(url, token, lead.email)
        post_annotations(url, account, [(tasks["i1"], FINAL.answer("CORRECT"), 5.0)])
        import_from_server(study, connection)
        assert final(study) == {"i1": "CORRECT"}
        assert hand_out(connection) == (0, 4), "what is settled is not handed out again"

        # the star of a label in the pages of pairs
        export_to_server(study, "s1", connection)
        task = next(
            int(row.task_id or 0)
            for row in study.ledger.exported("s1")
            if row.template == "pair" and row.item_id == "i5" and row.task_id
        )
        post_annotations(url, account, [(task, PAIR.answer("UNSURE"), 5.0)])
        client = httpx.Client(base_url=url, headers={"Authorization": f"Token {account.token}"})
        with client:
            (made,) = client.get(f"/api/tasks/{task}/annotations/").json()
            for star, expected in ((True, "UNSURE"), (False, None)):
                where = f"/api/annotations/{made['id']}/"
                client.patch(where, json={"ground_truth": star}).raise_for_status()
                import_from_server(study, connection)
                assert final(study, "ground-truth") == {"i5": expected}


def test_who_labelled_an_item_beside_a_judge_does_not_settle_it(
    study: Study, tmp_path: Path
) -> None:
    study.ledger.add_ratings(
        [
            RatingRow(
                "i1",
                f"{Pseudonyms().of(LEAD.email)}{SUFFIX}",
                "annotator",
                "CORRECT",
                source=OF_SHOWN,
            )
        ]
    )
    made = adjudicate_by_file(study, "s1", tmp_path / "a.json", people=[LEAD])
    assert made.own == 1 and set(tasks_in(tmp_path / "a.json")) == {"i2", "i3", "i4"}


def test_reasons_of_a_table_are_shown_as_text_and_name_nobody(study: Study, tmp_path: Path) -> None:
    row = RatingRow(
        "i3",
        "Dov",
        "annotator",
        "CORRECT",
        reasons=("ask dov@x.org \u202eok",),
        comment="see eve@x.org",
    )
    study.ledger.add_ratings([row])
    adjudicate_by_file(study, "s1", tmp_path / "a.json")
    labels = tasks_in(tmp_path / "a.json")["i3"]["labels"]
    assert "• CORRECT (ask [address] [U+202E]ok): “see [address]”" in labels.splitlines()


def test_a_sample_of_questions_has_no_items_to_settle(study: Study, tmp_path: Path) -> None:
    table = tmp_path / "questions.csv"
    table.write_text("question_id,question,reference\nq,Which?,a\n")
    study.add_questions(table)
    draw_questions(study, sample_id="gold")
    with pytest.raises(StudyError, match="'gold' has no items, only questions; name a sample of"):
        adjudicate_by_file(study, "gold", tmp_path / "a.json")
