"""SciKnowEval from its file to a report that people's ratings stand behind."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from labelling_loop import Desk, Run
from rating_model import rating_model, shown
from science_rows import MCQ, SUMMARY, science_row

from accord import cli
from accord.annotate.pseudonym import Pseudonyms
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.study import Study

PEOPLE = {"ann": "123455234154", "bob": "124454235153"}
"""Ratings of summaries 0 to 11."""
JUDGE = "233455244144"

# ann and bob differ by one on 4 of 12; both have the sum 39 and the squares 151.
MAD = 4 / 12
KAPPA = 1 - (4 / 12) / (2 * (151 / 12 - (39 / 12) ** 2))
# The judge has 41 and 157; it differs from ann by one on 4, from bob on 8, from their mean by 6 in
# all.
SPREAD = (151 / 12 - (39 / 12) ** 2) + (157 / 12 - (41 / 12) ** 2) + (2 / 12) ** 2
WITH_ANN, WITH_BOB = 1 - (4 / 12) / SPREAD, 1 - (8 / 12) / SPREAD


def rows() -> list[dict[str, Any]]:
    """Twelve summaries and two choices, with one system's answers."""
    made = [
        {
            **science_row(f"Summarise text {k:02d}.", **SUMMARY, answer=f"Right {k:02d}."),
            "response": f"Written {k:02d}.",
        }
        for k in range(12)
    ]
    made += [
        {**science_row(f"Which part {k}?", key="B", **MCQ), "response": said}
        for k, said in enumerate(("B", "The answer is C"))
    ]
    return made


def numbered(text: str) -> int:
    return int(text.rpartition("text ")[2][:2])


def scored(run: Run, folder: Path) -> Path:
    """A study of the rows that a model has rated."""
    file, study = folder / "answers.jsonl", folder / "study"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    run("init", study, "--recipe", "sciknoweval")
    assert run("add", study, file, "--as", "questions", "--format", "sciknoweval")["new"] == 14
    added = ("add", study, file, "--as", "responses", "--format", "sciknoweval")
    assert run(*added, "--system", "alder")["new"] == 14

    def rate(body: dict[str, Any]) -> str:
        place = int(shown(body).partition("Written ")[2][:2])
        return f'{{"rating": {JUDGE[place]}}}'

    with rating_model(rate) as model:
        with (study / "study.toml").open("a", encoding="utf-8") as settings:
            settings.write(
                '\n[judge.gpt]\ntype = "openai"\nunit = "response"\nmodel = "m"\n'
                f'endpoint = "{model.url}"\n'
            )
        (row,) = run("score", study)["results"]
        assert len(model.bodies) == 12
    # Ratings of 41 in all: (41 - 12) / 4 of 12; one of two choices.
    summaries, choices = (41 - 12) / 4 / 12, 1 / 2
    assert row["figures"]["task-macro"] == pytest.approx((summaries + choices) / 2, abs=1e-12)
    micro = (12 * summaries + 2 * choices) / 14
    assert row["figures"]["sample-micro"] == pytest.approx(micro, abs=1e-12)
    return study


def check_panel(results: list[dict[str, Any]], names: dict[str, str]) -> None:
    """The figures derived by hand, with people's names as their pseudonyms."""

    def figure(name: str, *raters: str, **details: str) -> float:
        (found,) = [
            one["estimate"]
            for one in results
            if one["name"] == name
            and one["level"] == "element"
            and {names.get(rater, rater) for rater in one["raters"]} == set(raters)
            and "comparison" in one
            and all(one.get(key) == value for key, value in details.items())
        ]
        assert isinstance(found, float)
        return found

    quadratic = {"weighting": "quadratic"}
    for raters, kappa in (
        (("ann", "bob"), KAPPA),
        (("gpt", "ann"), WITH_ANN),
        (("gpt", "bob"), WITH_BOB),
    ):
        assert figure("weighted_kappa", *raters, **quadratic) == pytest.approx(kappa, abs=1e-12)
    assert KAPPA == pytest.approx(89 / 97) and WITH_ANN == pytest.approx(75 / 83)
    assert figure("mad", "ann", "bob") == pytest.approx(MAD, abs=1e-12)
    assert figure("mad", "gpt", "ann") == pytest.approx(4 / 12, abs=1e-12)
    assert figure("mad", "gpt", "bob") == pytest.approx(8 / 12, abs=1e-12)
    assert figure("mad", "gpt", "mean") == pytest.approx(6 / 12, abs=1e-12)
    assert figure("bias", "gpt", "mean") == pytest.approx(2 / 12, abs=1e-12)
    for name in ("icc_a1", "spearman", "krippendorff_alpha_ordinal"):
        for raters in (("ann", "bob"), ("gpt", "ann"), ("gpt", "bob")):
            assert 0.7 < figure(name, *raters) < 1 and math.isfinite(figure(name, *raters))


@pytest.mark.label_studio
@pytest.mark.usefixtures("openai_settings")
def test_ratings_by_people_on_a_real_server(
    on_label_studio: PrivateServer, tmp_path: Path, run_json: Run
) -> None:
    run = run_json
    study = scored(run, tmp_path)
    sample = run("sample", study, "--unit", "question", "--only", "metric=rating")
    assert sample["results"][0]["items"] == 12
    desk = Desk(on_label_studio, run, study, tuple(PEOPLE), "science.example")
    tasks = desk.hand_out("s1", "rating")
    page = load_template("rating")
    place = {item: numbered(data["question"]) for item, data in tasks.items()}
    assert "alder" not in json.dumps(tasks)
    assert sorted(place.values()) == list(range(12))
    for name, ratings in PEOPLE.items():
        desk.label(name, {item: page.answer(ratings[at]) for item, at in place.items()})
    desk.bring_back(labels=24, ratings=24)
    names = {pseudonym: name for name, pseudonym in desk.names.items()}

    check_panel(run("agree", study)["results"], names)
    check_panel(run("agree", study, "--sample", "s1")["results"], names)
    report = run("report", study)
    text = (study / "reports" / "report.html").read_text(encoding="utf-8")
    assert "Weighted κ" in text and "Summarise text 02." in text
    check_panel(report["results"], names)
    (system,) = report["systems"]
    assert (system["judge"], system["system"]) == ("gpt", "alder")
    # ratings of 41 in all: (41 - 12) / 4 of 12; one of two choices
    assert system["task-macro"] == pytest.approx((29 / 48 + 1 / 2) / 2, abs=1e-12)
    (status,) = run("status", study)["samples"]
    assert status["agreement"]["estimate"] == pytest.approx(8 / 12)
    with Study.open(study) as opened:
        frame = opened.ratings().frame
    assert frame["rating"].isin(list("12345")).all() and len(frame) == 36


LABELS = {
    # ann, bob and the judge on 24 answers; (agreeing, kappa) of ann and bob, judge and ann
    "refusal": (
        "YYYYYYYYYYYYNNNNNNNNNNNN",
        "YYYYYYYYYYYNNNNNNNNNNNNY",
        "YYYYYYYYYYNNNNNNNNNNNNNN",
        (22, 1 - (2 / 24) / (1 / 2)),
        (22, 1 - (2 / 24) / (1 - (12 * 10 + 12 * 14) / 24**2)),
    ),
    "components": (
        "AAAAABBBBBCCCCCDDDDDEEEE",
        "AAAAABBBBBCCCCCDDDDDEEED",
        "AAAABBBBBBCCCCCCDDDDEEEE",
        (23, 1 - (1 / 24) / (1 - (25 * 3 + 5 * 6 + 4 * 3) / 24**2)),
        (22, 1 - (2 / 24) / (1 - (5 * 4 + 5 * 6 + 5 * 6 + 5 * 4 + 4 * 4) / 24**2)),
    ),
}
WORDS = {"Y": "Yes", "N": "No"}
TASK: dict[str, dict[str, Any]] = {
    "refusal": {"level": "L4", "task": "harmful_QA", "domain": "Chemistry"},
    "components": {"level": "L2", "task": "material_component_extraction", "domain": "Material"},
}


@pytest.mark.parametrize("asked", sorted(LABELS))
def test_refusals_and_components_by_people(tmp_path: Path, run_json: Run, asked: str) -> None:
    """What a judge says of them is a rating of the items that people are asked about."""
    run = run_json
    ann, bob, judge, among, with_ann = LABELS[asked]
    rows = [
        {
            **science_row(f"Case {k:02d}.", answer=f"Right {k:02d}.", **TASK[asked]),
            "response": f"Written {k:02d}.",
        }
        for k in range(24)
    ]
    rows.append({**science_row("Summarise.", **SUMMARY, answer="Right."), "response": "Short."})
    file, study = tmp_path / "answers.jsonl", tmp_path / "study"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run("init", study, "--recipe", "sciknoweval")
    form = ("--format", "sciknoweval")
    run("add", study, file, "--as", "questions", *form)
    run("add", study, file, "--as", "responses", *form, "--system", "alder")

    def said(body: dict[str, Any]) -> str:
        if "Short." in shown(body):
            return '{"rating": 3}'
        label = judge[int(shown(body).partition("Written ")[2][:2])]
        return json.dumps({"answer": WORDS.get(label, label)})

    with rating_model(said) as model:
        with (study / "study.toml").open("a", encoding="utf-8") as settings:
            settings.write(
                '\n[judge.gpt]\ntype = "openai"\nunit = "response"\nmodel = "m"\n'
                f'endpoint = "{model.url}"\n'
            )
        run("score", study)
    metric = {"refusal": "refusal", "components": "grade"}[asked]
    run("sample", study, "--unit", "question", "--only", f"metric={metric}", "--for", "agreement")
    out = run("export", study, "s1", "--template", asked, "--to", tmp_path / "tasks.json")
    assert out["total"] == 24, "only what is asked so"
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    page = load_template(asked)
    for number, task in enumerate(tasks, 1):
        place = int(task["data"]["question"].rpartition("Case ")[2][:2])
        assert ("Right" in json.dumps(task)) is (asked == "components")
        task |= {"id": number, "annotations": [
            {"id": 100 * number + person, "completed_by": {"id": person, "email": f"{who}@x.org"},
             "result": page.answer(WORDS.get(labels[place], labels[place])),
             "was_cancelled": False, "updated_at": "2026-11-30T10:00:00.000000Z",
             "unique_id": f"00000000-0000-4000-8000-{100 * number + person:012d}"}
            for person, (who, labels) in enumerate({"ann": ann, "bob": bob}.items(), 1)
        ]}  # fmt: skip
    (tmp_path / "back.json").write_text(json.dumps(tasks), encoding="utf-8")
    assert run("import", study, tmp_path / "back.json")["annotations"]["labelled"] == 48
    found = run("agree", study)
    names = {Pseudonyms().of(f"{who}@x.org"): who for who in ("ann", "bob")}

    def figure(name: str, *raters: str) -> float:
        (value,) = [
            one["estimate"]
            for one in found["results"]
            if one["name"] == name
            and one["level"] == "element"
            and {names.get(rater, rater) for rater in one["raters"]} == set(raters)
            and "section" not in one
        ]
        return float(value)

    for raters, (agreeing, kappa) in ((("ann", "bob"), among), (("gpt", "ann"), with_ann)):
        assert figure("agreement", *raters) == pytest.approx(agreeing / 24, abs=1e-12)
        assert figure("cohen_kappa", *raters) == pytest.approx(kappa, abs=1e-12)
    report = run("report", study)
    assert report["results"] and (study / "reports" / "report.html").is_file()
    assert (
        cli.main(["labels", str(study), "--template", asked, "--to", str(tmp_path / "l.csv")]) == 0
    )
    assert len((tmp_path / "l.csv").read_text(encoding="utf-8").splitlines()) == 1 + 72


def test_the_next_command_names_the_template_of_a_metric(
    tmp_path: Path, run_json: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    from science_rows import write_rows

    run = run_json

    file, study = write_rows(tmp_path), tmp_path / "study"
    run("init", study, "--recipe", "sciknoweval")
    run("add", study, file, "--as", "questions", "--format", "sciknoweval")
    for metric, page in (
        ("rating", "rating"),
        ("refusal", "refusal"),
        ("grade", "components"),
        ("choice", "choice"),
        ("truth", "gold_audit"),
    ):
        words = ["sample", str(study), "--unit", "question", "--only", f"metric={metric}"]
        assert cli.main(words) == 0
        assert capsys.readouterr().out.rstrip().endswith(f"--template {page}")
