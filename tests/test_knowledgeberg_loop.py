"""KnowledgeBerg from its files to a report that people validated, through a real Label Studio."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from berg_study import FIGURES, NAMES, model_of_names, write_answers, write_questions

from accord import cli
from accord.annotate.connection import connect
from accord.annotate.people import Account, post_annotations, sign_up
from accord.annotate.projects import Project, list_tasks
from accord.annotate.pseudonym import Pseudonyms
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.study import Study
from accord.study.unit_items import response_item_id

pytestmark = pytest.mark.label_studio

Run = Callable[..., dict[str, Any]]
Graded = dict[str, tuple[str, str]]
"""Item → what ann says, what bob says."""

# What each of the two says of (predicted, reference). The model says that the four open pairs are
# CORRECT but for the last; ann doubts one of the pairs by rule.
PAIRS = {
    ("Rhine", "Rhine"): ("CORRECT", "CORRECT"),
    ("River A", "Alpha River"): ("CORRECT", "CORRECT"),
    ("River A", "Beta River"): ("INCORRECT", "INCORRECT"),
    ("River B", "Alpha River"): ("INCORRECT", "CORRECT"),
    ("River B", "Beta River"): ("CORRECT", "INCORRECT"),
    ("Schwarzwald", "Schwarzwald"): ("CORRECT", "CORRECT"),
    ("Jura", "Jura"): ("INCORRECT", "CORRECT"),
    ("Jura", None): ("INCORRECT", "INCORRECT"),
}
# The extractor read: INCORRECT, CORRECT, INCORRECT, SEVERAL, CORRECT, NONE.
CHOICES = {
    ("m1", "k1"): ("INCORRECT", "INCORRECT"),
    ("m2", "k1"): ("CORRECT", "CORRECT"),
    ("m1", "k2"): ("INCORRECT", "INCORRECT"),
    ("m2", "k2"): ("INCORRECT", "SEVERAL"),
    ("m1", "k3"): ("CORRECT", "CORRECT"),
    ("m2", "k3"): ("NONE", "NONE"),
}
PARSES = {
    ("m1", "e1"): ("RIGHT", "RIGHT"),
    ("m2", "e1"): ("RIGHT", "RIGHT"),
    ("m1", "e2"): ("EXTRA", "RIGHT"),
    ("m2", "e2"): ("RIGHT", "RIGHT"),
}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command that must succeed, and returns its JSON."""

    def call(*arguments: object) -> dict[str, Any]:
        status = cli.main([*(str(argument) for argument in arguments), "--json"])
        out, error = capsys.readouterr()
        assert status == 0, error
        answer: dict[str, Any] = json.loads(out)
        return answer

    return call


class Desk:
    """Two people with accounts on the server, who grade what is exported."""

    def __init__(self, server: PrivateServer, run: Run, study: Path) -> None:
        self.url, token = str(server.status().url), server.login().token
        self.people: tuple[Account, ...] = tuple(
            sign_up(self.url, token, f"{name}@berg.example") for name in ("ann", "bob")
        )
        self.run, self.study = run, study

    def grade(self, sample: str, template: str, said: Graded) -> None:
        """Export a sample with a template, grade all of it, and import the labels."""
        out = self.run("export", self.study, sample, "--template", template, "--per-item", 2)
        assert out["total"] == out["added"] == len(said)
        with connect() as connection:
            project = Project(out["project_id"], out["url"], 2)
            tasks = {task.item_id: task.task_id for task in list_tasks(connection, project)}
        assert tasks.keys() == said.keys()
        page = load_template(template)
        for place, account in enumerate(self.people):
            own = [(tasks[item], page.answer(said[item][place]), 3.0) for item in said]
            assert post_annotations(self.url, account, own) == len(said)
        back = self.run("import", self.study, "--from", "label-studio")
        assert back["new_ratings"] == 2 * len(said)
        assert {rule: n for rule, n in back["annotations"].items() if n}.keys() == {"labelled"}


def element_figures(panel: Mapping[str, Any]) -> dict[tuple[str, frozenset[str]], dict[str, Any]]:
    return {
        (result["name"], frozenset(result["raters"])): result
        for result in panel["results"]
        if result["level"] == "element" and "section" not in result
    }


def test_from_files_to_a_report_that_people_validated(
    on_label_studio: PrivateServer, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    study = tmp_path / "berg"
    run("init", study, "--recipe", "knowledgeberg")
    form = ("--format", "knowledgeberg-csv")
    questions, answers = write_questions(tmp_path / "q.csv"), write_answers(tmp_path / "a.csv")
    assert run("add", study, questions, "--as", "questions", *form, "--map", NAMES)["new"] == 5
    assert (
        run("add", study, answers, "--as", "responses", *form, "--map", "question_id=id")["new"]
        == 10
    )
    with model_of_names() as model:
        with (study / "study.toml").open("a", encoding="utf-8") as file:
            file.write(f'[judge.names]\ntype = "openai"\nmodel = "m"\nendpoint = "{model.url}"\n')
        scored = run("score", study)
    for row in scored["results"]:
        assert row["figures"] == pytest.approx(FIGURES[row["system"]], abs=1e-12)

    run("sample", study, "--name", "pairs")
    run("sample", study, "--unit", "question", "--for", "agreement", "--name", "whole")
    with Study.open(study) as opened:
        pairs: Graded = {
            item.item_id: PAIRS[item.predicted, item.reference] for item in opened.items()
        }
        given = {
            (response.system, response.question_id): response
            for response in opened.ledger.responses()
        }
    choices: Graded = {
        response_item_id("response", "choice", given[key]): said for key, said in CHOICES.items()
    }
    parses: Graded = {
        response_item_id("parse", "parse", given[key]): said for key, said in PARSES.items()
    }
    desk = Desk(on_label_studio, run, study)
    desk.grade("pairs", "pair", pairs)
    desk.grade("whole", "choice", choices)
    desk.grade("whole", "parse", parses)
    ann, bob = (Pseudonyms().of(f"{name}@berg.example") for name in ("ann", "bob"))

    # Pairs: the model against each of the two on what it was asked, the rules on what they settled.
    found = element_figures(run("agree", study, "--sample", "pairs"))
    expected = {
        ("names", ann): (1, 4),
        ("names", bob): (3, 4),
        ("rule", ann): (3, 4),
        ("rule", bob): (4, 4),
        # (River B, Alpha), (River B, Beta) and (Jura, Jura) apart, of 9: m2's Schwarzwald is one.
        (ann, bob): (6, 9),
    }
    for raters, (same, n) in expected.items():
        one = found["agreement", frozenset(raters)]
        assert (one["n"], one["estimate"]) == (n, pytest.approx(same / n, abs=1e-12)), raters
    # Responses: Universe F1 by each one's verdicts. m1, e1: ann finds 3 of 3, bob and the model 2;
    # m1, e2: ann finds 1 of 3 and 2 (F1 2/5), bob and the model 4/5; m2, e2: all of them 2/3.
    panel = run("agree", study, "--sample", "pairs")
    mads = {
        frozenset(one["raters"]): (one["n"], one["estimate"], one["measure"])
        for one in panel["results"]
        if (one["name"], one["level"]) == ("mad", "response") and "section" not in one
    }
    mad = pytest.approx((1 / 3 + 2 / 5 + 0) / 3, abs=1e-12)
    assert mads[frozenset(("names", ann))] == (3, mad, "Universe F1")
    assert mads[frozenset(("names", bob))] == (3, 0, "Universe F1")

    # Choices: the extractor is a rater of the same items, in the page's own words.
    found = element_figures(run("agree", study, "--template", "choice"))
    for raters, same in (((ann, "rule"), 5), ((bob, "rule"), 6), ((ann, bob), 5)):
        one = found["agreement", frozenset(raters)]
        assert (one["n"], one["estimate"]) == (6, pytest.approx(same / 6, abs=1e-12)), raters
    # Nominal, by hand: ann has 3 INCORRECT, 2 CORRECT, 1 NONE; the extractor 2, 2, 1 and 1 SEVERAL:
    # expected (3*2 + 2*2 + 1*1 + 0)/36 = 11/36, kappa (30 - 11)/(36 - 11).
    kappa = found["cohen_kappa", frozenset((ann, "rule"))]
    assert kappa["estimate"] == pytest.approx(19 / 25, abs=1e-12)

    # Parses: people alone; 3 of 4 alike.
    found = element_figures(run("agree", study, "--template", "parse"))
    one = found["agreement", frozenset((ann, bob))]
    assert (one["n"], one["estimate"]) == (4, pytest.approx(3 / 4, abs=1e-12))
    assert not any("rule" in raters for _, raters in found)

    run("report", study, "--sample", "pairs")
    page = (study / "reports" / "report.html").read_text(encoding="utf-8")
    report = json.loads((study / "reports" / "report.json").read_text(encoding="utf-8"))
    assert [row["universe_f1"] for row in report["systems"]] == pytest.approx(
        [FIGURES["m1"]["universe_f1"], FIGURES["m2"]["universe_f1"]], abs=1e-12
    )
    assert "KRQ accuracy" in page and "Universe F1" in page
    # Where a judge or a person differs from somebody: all four open pairs but one, and Jura.
    assert {(one["predicted"], one["reference"]) for one in report["disagreements"]} == {
        ("River A", "Beta River"),
        ("River B", "Alpha River"),
        ("River B", "Beta River"),
        ("Jura", "Jura"),
    }
