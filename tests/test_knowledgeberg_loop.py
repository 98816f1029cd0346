"""KnowledgeBerg from its files to a report that people validated, through a real Label Studio."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from berg_study import FIGURES, NAMES, model_of_names, write_answers, write_questions
from labelling_loop import Desk, Run, figures

from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.study import Study
from accord.study.unit_items import response_item_id

pytestmark = pytest.mark.label_studio

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


def grade(desk: Desk, sample: str, template: str, said: Graded) -> None:
    """Export a sample with a template, grade all of it, and import the labels."""
    assert desk.hand_out(sample, template).keys() == said.keys()
    page = load_template(template)
    for place, person in enumerate(desk.people):
        desk.label(person, {item: page.answer(own[place]) for item, own in said.items()})
    desk.bring_back(labels=2 * len(said), ratings=2 * len(said))


@pytest.mark.usefixtures("openai_settings")
def test_from_files_to_a_report_that_people_validated(
    on_label_studio: PrivateServer, tmp_path: Path, run_json: Run
) -> None:
    run = run_json
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
    desk = Desk(on_label_studio, run, study, ("ann", "bob"), "berg.example")
    grade(desk, "pairs", "pair", pairs)
    grade(desk, "whole", "choice", choices)
    grade(desk, "whole", "parse", parses)
    ann, bob = desk.names["ann"], desk.names["bob"]

    # Pairs: the model against each of the two on what it was asked, the rules on what they settled.
    found = figures(run("agree", study, "--sample", "pairs")["results"], "element")
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
    found = figures(run("agree", study, "--template", "choice")["results"], "element")
    for raters, same in (((ann, "rule"), 5), ((bob, "rule"), 6), ((ann, bob), 5)):
        one = found["agreement", frozenset(raters)]
        assert (one["n"], one["estimate"]) == (6, pytest.approx(same / 6, abs=1e-12)), raters
    # Nominal, by hand: ann has 3 INCORRECT, 2 CORRECT, 1 NONE; the extractor 2, 2, 1 and 1 SEVERAL:
    # expected (3*2 + 2*2 + 1*1 + 0)/36 = 11/36, kappa (30 - 11)/(36 - 11).
    kappa = found["cohen_kappa", frozenset((ann, "rule"))]
    assert kappa["estimate"] == pytest.approx(19 / 25, abs=1e-12)

    # Parses: people alone; 3 of 4 alike.
    found = figures(run("agree", study, "--template", "parse")["results"], "element")
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
