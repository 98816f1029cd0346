"""ListQA from its files to a report that people validated, through a real Label Studio.

Two systems are compared by whole responses (template ``response``), the third is graded element by
element (template ``pair``). The figures follow from the table of :mod:`listqa_study` by hand.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from labelling_loop import Desk, Run, figures
from listqa_study import (
    GIVEN,
    GRADED,
    PEOPLE,
    QUESTIONS,
    Graded,
    grading_model,
    reference_elements,
    write_answers,
    write_questions,
)
from scipy.stats import t as student

from accord.annotate.controls import part
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.study import Study

pytestmark = pytest.mark.label_studio

# F1 of each response, in the order of the questions: right / predicted, right / reference.
# Verdicts of the model; its unreadable one on birch's Isar takes that pair out of both counts, and
# alder's refusal of the last question is 0.
JUDGE = {
    "alder": (1, 1 / 3, 2 / 3, 4 / 9, 2 / 3, 4 / 5, 0),
    "birch": (1, 6 / 7, 2 / 3, 3 / 4, 2 / 3, 1, 1),
    "cedar": (4 / 5, 2 / 3, 2 / 3, 1, 6 / 7, 1, 1),
}
# The majority of people on the same pairs: it has the Baltic states wrong, accepts Ganymedes, Edwin
# Aldrin (one unsure), A New Hope, Neil A. Armstrong and Lettland, and neither "Red and green" nor
# "The Empire in Star Wars". Nobody grades a refusal.
GIVEN_F1 = {
    "alder": (1, 0, 1, 2 / 3, 1, 2 / 5),
    "birch": (2 / 3, 6 / 7, 1, 3 / 4, 1 / 3, 1, 1),
    "cedar": (4 / 5, 1, 2 / 3, 1, 6 / 7, 1, 1),
}
# Put where they belong, alder's three states are right (+ 1), and birch's film and "A New Hope"
# (+ 2/3). Jupiter IV belongs beside Callisto, which has Callisto already: nothing is won.
OWN_ALIGNMENT = {"alder": 1, "birch": 2 / 3}
PAGES, PAIRS = 42, 22
"""Predicted elements of alder and birch, and of cedar."""


@pytest.mark.usefixtures("openai_settings")
def test_from_files_to_a_report_that_people_validated(
    on_label_studio: PrivateServer, tmp_path: Path, run_json: Run
) -> None:
    run, study = run_json, tmp_path / "lists"
    run("init", study, "--recipe", "listqa")
    added = run("add", study, write_questions(tmp_path / "questions.jsonl"), "--as", "questions")
    assert added["new"] == 7
    added = run("add", study, write_answers(tmp_path / "responses.jsonl"), "--as", "responses")
    assert added["new"] == 21
    check_scores(run, study)
    place = check_alignment(study)

    # The same questions of two systems as pages, and what is left as single pairs.
    drawn = ("--questions", 7, "--paired", "--systems", "alder,birch")
    (pages,) = run("sample", study, "--name", "pages", *drawn)["results"]
    (pairs,) = run("sample", study, "--name", "pairs", "--exclude", "pages")["results"]
    assert (pages["items"], pairs["items"]) == (PAGES, PAIRS)

    desk = Desk(on_label_studio, run, study, PEOPLE, "lists.example")
    label_pages(desk, place)
    label_pairs(desk, place)
    names = {pseudonym: name for name, pseudonym in desk.names.items()}

    check_status(run("status", study))
    everything = run("agree", study)
    check_verdicts(figures(named(everything, names), "element"))
    check_systems(named(everything, names))
    check_places(run, study, names)
    check_scores_under_own_alignment(run, study, names)
    check_report(run, study, names)


def check_scores(run: Run, study: Path) -> None:
    """The model is asked each pair of texts once, and its verdicts give the scores."""
    with grading_model() as model:
        with (study / "study.toml").open("a", encoding="utf-8") as file:
            file.write(
                f'\n[judge.grader]\ntype = "openai"\nmodel = "m"\nendpoint = "{model.url}"\n'
            )
        scored = run("score", study)
        # 61 pairs with both sides, 47 different ones; the unreadable reply is asked for again
        assert len(model.bodies) == 47 + 1
        assert run("score", study)["results"] == scored["results"]
        assert len(model.bodies) == 47 + 1, "nothing is asked twice"
        assert all(name not in json.dumps(model.bodies) for name in JUDGE), "the judge is blind too"
    for row in scored["results"]:
        scores = JUDGE[row["system"]]
        assert row["figures"]["llm_judge_f1"] == pytest.approx(sum(scores) / 7, abs=1e-12)
    assert {row["system"] for row in scored["results"]} == set(JUDGE)


def check_alignment(study: Path) -> dict[str, tuple[str, str, Graded]]:
    """Every element stands where the table has it; item → whose it is, and what is said of it."""
    with Study.open(study) as opened:
        items = list(opened.items())
    place = {}
    for item in items:
        elements = GRADED[item.system, item.question_id]
        (one,) = [one for one in elements if one.predicted == item.predicted]
        beside = reference_elements(item.question_id)[one.beside - 1] if one.beside else None
        assert item.reference == beside, item
        place[item.item_id] = (item.system, item.question_id, one)
    assert len(place) == PAGES + PAIRS == sum(map(len, GRADED.values()))
    return place


def label_pages(desk: Desk, place: Mapping[str, tuple[str, str, Graded]]) -> None:
    tasks = desk.hand_out("pages", "response")
    shown = {item for data in tasks.values() for item in data["rows"]["pairs"]}
    # alder's refusal has nothing on it to grade
    assert len(tasks) == 13 and len(shown) == PAGES
    assert blind(tasks)
    page = load_template("response")
    for at, person in enumerate(PEOPLE):
        answers = {}
        for task, data in tasks.items():
            result: list[dict[str, Any]] = []
            for row, item in enumerate(data["rows"]["pairs"]):
                said = place[item][2].people[at]
                reasons = said.reason and [said.reason]
                result += page.answer(said.verdict, row=row, belongs=said.belongs, reasons=reasons)
            system, question, _ = place[data["rows"]["pairs"][0]]
            for row, missing in enumerate(data["missing"]):
                given = GIVEN.get((system, question, missing["reference"]), ("MISSING",) * 3)
                result.append(part("given", page.controls["given"], [given[at]], row))
            answers[task] = result
        desk.label(person, answers)
    # and what three people say of alder's Green, which no element of the answer stands beside
    desk.bring_back(labels=3 * 13, ratings=3 * (PAGES + 1))


def label_pairs(desk: Desk, place: Mapping[str, tuple[str, str, Graded]]) -> None:
    tasks = desk.hand_out("pairs", "pair")
    assert tasks.keys() == {item for item, (system, _, _) in place.items() if system == "cedar"}
    assert blind(tasks)
    page = load_template("pair")
    for at, person in enumerate(PEOPLE):
        answers = {}
        for item in tasks:
            said = place[item][2].people[at]
            reasons = said.reason and [said.reason]
            answers[item] = page.answer(said.verdict, alignment=said.alignment, reasons=reasons)
        desk.label(person, answers)
    desk.bring_back(labels=3 * PAIRS, ratings=3 * PAIRS)


def blind(tasks: Mapping[str, Any]) -> bool:
    text = json.dumps(tasks)
    return not any(word in text for word in (*JUDGE, "grader", "rouge", "similarity"))


def named(panel: Mapping[str, Any], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """A panel's figures with people's names for their pseudonyms."""
    return [
        {**one, "raters": [names.get(rater, rater) for rater in one["raters"]]}
        for one in panel["results"]
    ]


def check_status(status: Mapping[str, Any]) -> None:
    """Worth settling: Latvija, Edwin Aldrin, A New Hope, Red and green; Litauen and Europe."""
    pages, pairs = status["samples"]
    assert (pages["sample"], pages["template"], pages["tasks"]) == ("pages", "response", 13)
    assert (pairs["sample"], pairs["template"], pairs["tasks"]) == ("pairs", "pair", PAIRS)
    for one, settle in ((pages, 4), (pairs, 2)):
        assert one["tasks_by_labels"] == {"3": one["tasks"]}
        assert [person["done"] for person in one["people"]] == [one["tasks"]] * 3
        assert len(one["to_adjudicate"]) == settle
    # pairs of people: on three of the pages' elements one of three differs, on one of cedar's
    assert pages["agreement"]["estimate"] == pytest.approx(1 - 3 * (2 / 3) / PAGES, abs=1e-12)
    assert pairs["agreement"]["estimate"] == pytest.approx(1 - (2 / 3) / PAIRS, abs=1e-12)


Found = Mapping[tuple[str, frozenset[str]], Mapping[str, Any]]


def check_verdicts(found: Found) -> None:
    """Raw agreement with its denominator, κ and the confusion, of the 64 elements together."""
    expected = {
        # bob is unsure of Edwin Aldrin, cyd of Litauen. ann and bob differ on Red and green and
        # Europe, ann and cyd on Latvija and A New Hope, bob and cyd on all four.
        ("ann", "bob"): (61, 63, {"unsure": 1}),
        ("ann", "cyd"): (61, 63, {"unsure": 1}),
        ("bob", "cyd"): (58, 62, {"unsure": 2}),
        # The model differs from the majority (and ann) on 5 that these accept and 3 that they do
        # not; bob is unsure of one of them, takes its side on Red and green, and not on Europe;
        # cyd takes its side on Latvija and A New Hope. Isar it could not read.
        ("grader", "majority"): (55, 63, {"unscored": 1}),
        ("grader", "ann"): (55, 63, {"unscored": 1}),
        ("grader", "bob"): (55, 62, {"unscored": 1, "unsure": 1}),
        ("grader", "cyd"): (56, 62, {"unscored": 1, "unsure": 1}),
    }
    for raters, (same, n, dropped) in expected.items():
        one = found["agreement", frozenset(raters)]
        assert (one["n"], one["clusters"], one["dropped"]) == (n, 7, dropped), raters
        assert one["estimate"] == pytest.approx(same / n, abs=1e-12), raters
    # The three together: pairs of people agree on 1/3 of 4 elements, and on all of 60.
    together = found["agreement", frozenset(PEOPLE)]
    assert (together["n"], together["estimate"]) == (64, pytest.approx((60 + 4 / 3) / 64))
    # ann: 50 of 63 CORRECT, bob too: expected (50*50 + 13*13) / 63^2 = 2669/3969.
    kappas = {("ann", "bob"): (61 * 63 - 2669) / (3969 - 2669)}
    # the model: 49 of 63, the majority 51: (49*51 + 14*12) / 63^2 = 2667/3969
    kappas["grader", "majority"] = 19 / 31
    assert (55 * 63 - 2667) / (3969 - 2667) == pytest.approx(19 / 31, abs=1e-15)
    for raters, kappa in kappas.items():
        one = found["cohen_kappa", frozenset(raters)]
        assert (one["n"], one["estimate"]) == (63, pytest.approx(kappa, abs=1e-12)), raters
        # seven questions carry no interval
        assert one["low"] is None and "too few questions (7" in one["reason"]
    table = found["confusion", frozenset(("grader", "majority"))]
    assert [table[cell] for cell in ("tp", "fp", "fn", "tn")] == [46, 3, 5, 9]


def check_systems(results: Sequence[Mapping[str, Any]]) -> None:
    """Each system's mean F1 by people, beside the model's on the same responses."""
    means = {
        (one["system"], *one["raters"]): one
        for one in results
        if (one["level"], one["name"]) == ("system", "mean_score")
    }
    assert len(means) == 6
    for system, own in GIVEN_F1.items():
        one = means[system, "majority"]
        assert (one["n"], one["estimate"]) == (len(own), pytest.approx(sum(own) / len(own)))
        # the refusal of alder is no response that people rated
        theirs = JUDGE[system][: len(own)]
        one = means[system, "grader"]
        assert (one["n"], one["estimate"]) == (len(own), pytest.approx(sum(theirs) / len(own)))
    differences = [
        abs(judge - people)
        for system, own in GIVEN_F1.items()
        for judge, people in zip(JUDGE[system], own, strict=False)
    ]
    mad = figures(results, "response")["mad", frozenset(("grader", "majority"))]
    assert (mad["n"], mad["estimate"]) == (20, pytest.approx(sum(differences) / 20, abs=1e-12))


# Elements that stand where each would have put them. On pages ann moves Lietuva, Eesti, Latvija,
# Himalia, Isar, Jupiter IV, The Empire and A New Hope, bob the three states, Jupiter IV and The
# Empire, cyd Lietuva, Eesti, Himalia, Jupiter IV and the two films; of single pairs ann and cyd say
# no of Pete Conrad. cyd leaves the others open, and all leave the phantom open, which has none.
PLACES = {
    "pages": {"ann": (34, 42), "bob": (37, 42), "cyd": (36, 42), "majority": (35, 42)},
    "pairs": {"ann": (20, 21), "bob": (21, 21), "cyd": (0, 1), "majority": (20, 21)},
}
# Of the majority, by question: elements whose place was looked at, and those that stand elsewhere.
BY_QUESTION = [(8, 0), (10, 3), (9, 1), (13, 2), (9, 2), (8, 0), (6, 0)]


def check_places(run: Run, study: Path, names: Mapping[str, str]) -> None:
    together = {
        who: tuple(sum(PLACES[sample][who][k] for sample in PLACES) for k in (0, 1))
        for who in (*PEOPLE, "majority")
    }
    assert together["majority"] == (55, 63) == (63 - 8, sum(n for n, _ in BY_QUESTION))
    everything = figures(named(run("agree", study), names), "element", "alignment")
    for who, (right, n) in together.items():
        one = everything["alignment_accuracy", frozenset((who,))]
        assert (one["n"], one["estimate"]) == (n, pytest.approx(right / n, abs=1e-12)), who
    one = everything["alignment_accuracy", frozenset(("majority",))]
    assert (one["low"], one["high"]) == pytest.approx(wilson_of_questions(BY_QUESTION), abs=1e-12)
    for sample, expected in PLACES.items():
        panel = named(run("agree", study, "--sample", sample, "--unit", "item"), names)
        found = figures(panel, "element", "alignment")
        for who, (right, n) in expected.items():
            one = found["alignment_accuracy", frozenset((who,))]
            assert (one["n"], one["estimate"]) == (n, pytest.approx(right / n, abs=1e-12))
            limits = wilson(right / n, n, 1.959963984540054)
            assert (one["low"], one["high"]) == pytest.approx(limits, abs=1e-12), (sample, who)
        # Do people agree whether it stands right? On pages on all but Latvija, Himalia, Isar and
        # A New Hope; of pairs two or more answered for all 21, and bob differs on Pete Conrad.
        split, n = (4, 42) if sample == "pages" else (1, 21)
        one = found["agreement", frozenset(PEOPLE)]
        assert (one["n"], one["estimate"]) == (n, pytest.approx(1 - split * (2 / 3) / n))


def wilson(p: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson 1927: the solutions of |p - x| = quantile * sqrt(x (1 - x) / n)."""
    a, b, c = 1 + quantile**2 / n, -(2 * p + quantile**2 / n), p * p
    root = math.sqrt(max(b * b - 4 * a * c, 0))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def wilson_of_questions(sizes: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Wilson's interval on n / design effect, with t; as docs/statistics.md says it.

    The design effect is the question jackknife's, at least that of ICC 0.2, which fades out as the
    elements of the rarer kind grow; df are the effective questions less one.
    """
    n, wrong = (sum(column) for column in zip(*sizes, strict=True))
    p = 1 - wrong / n
    away = [1 - (wrong - out) / (n - size) - p for size, out in sizes]
    questions = len(sizes)
    jackknife = (questions - 1) / questions * sum(one * one for one in away)
    lies_in = sum(size * size for size, _ in sizes) / n
    floor = 1 + (lies_in - 1) * 0.2 * 10 / (10 + min(wrong, n - wrong))
    effect = max(1.0, jackknife / (p * (1 - p) / n), floor)
    shares = [size * (1 + 0.2 * (size - 1)) for size, _ in sizes]
    df = sum(shares) ** 2 / sum(one * one for one in shares) - 1
    return wilson(p, n / effect, float(student.ppf(0.975, df)))


def check_scores_under_own_alignment(run: Run, study: Path, names: Mapping[str, str]) -> None:
    """F1 as aligned and under people's own alignment, and the two errors apart, of the pages."""
    found = figures(named(run("agree", study, "--sample", "pages"), names), "response", "alignment")
    judge = sum(JUDGE["alder"][:6]) + sum(JUDGE["birch"])
    people = sum(GIVEN_F1["alder"]) + sum(GIVEN_F1["birch"])
    most = sum(OWN_ALIGNMENT.values())
    expected = {
        # bob accepts Red and green (4/5, not 2/5), and leaves A New Hope beside The Empire Strikes
        # Back, which the other film takes: 1/3 is won there, not 2/3.
        "ann": (people, most),
        "bob": (people + 2 / 5, 1 + 1 / 3),
        # cyd accepts Latvija where it stands, and not A New Hope: 1/3, not 0, and 2/3, not 1. Put
        # right, Lietuva claims the place that Latvija keeps: 2/3.
        "cyd": (people + 1 / 3 - 1 / 3, 1 / 3 + 2 / 3),
        "majority": (people, most),
    }
    for who, (given, won) in expected.items():
        error = found["alignment_error", frozenset((who,))]
        assert (error["n"], error["clusters"], error["measure"]) == (13, 7, "F1")
        assert error["estimate"] == pytest.approx(won / 13, abs=1e-12), who
        details = error["details"]
        assert details["f1_given_alignment"] == pytest.approx(given / 13, abs=1e-12)
        assert details["f1_own_alignment"] == pytest.approx((given + won) / 13, abs=1e-12)
        # a pair that was wrong as shown is wrong elsewhere too if it keeps its verdict
        assert details["least"] == pytest.approx(0, abs=1e-12)
        raters = frozenset(("grader", who))
        grading, total = found["grading_error", raters], found["score_error", raters]
        assert grading["estimate"] == pytest.approx((judge - given) / 13, abs=1e-12)
        assert total["estimate"] == pytest.approx((judge - given - won) / 13, abs=1e-12)
    # ann and cyd put Jupiter IV beside Callisto, and cyd Lietuva beside the place of Latvija; bob
    # leaves A New Hope where The Empire goes.
    twice = {who: found["alignment_error", frozenset((who,))]["details"] for who in expected}
    assert {who: one["claimed_twice"] for who, one in twice.items()} == {
        "ann": 1,
        "bob": 1,
        "cyd": 2,
        "majority": 1,
    }
    # With the single pairs: of cedar's responses two have an element whose place nobody names
    # (Pete Conrad, the phantom); bob keeps Pete Conrad, and cyd left the rest open.
    everything = figures(named(run("agree", study), names), "response", "alignment")
    for who, n in {"ann": 18, "bob": 19, "cyd": 13, "majority": 18}.items():
        error = everything["alignment_error", frozenset((who,))]
        won = expected[who][1]
        assert (error["n"], error["estimate"]) == (n, pytest.approx(won / n, abs=1e-12)), who


def check_report(run: Run, study: Path, names: Mapping[str, str]) -> None:
    report = run("report", study)
    assert json.loads((study / "reports" / "report.json").read_text("utf-8"))["systems"]
    # the tables stand beside the figures there
    tables = {"results": [*report["results"], *report["agreement"]["confusion"]]}
    check_verdicts(figures(named(tables, names), "element"))
    check_systems(named(report, names))
    assert report["conclusions"][0].startswith("INCONCLUSIVE: only 2 items differ")
    scores = {row["system"]: row["llm_judge_f1"] for row in report["systems"]}
    assert scores == pytest.approx({system: sum(own) / 7 for system, own in JUDGE.items()})
    # Where the model or a person differs from somebody or could not say.
    assert {(one["predicted"], one["reference"]) for one in report["disagreements"]} == {
        ("Latvija", "Lithuania"),
        ("Edwin Aldrin", "Buzz Aldrin"),
        ("Ganymedes", "Ganymede"),
        ("A New Hope", "Star Wars"),
        ("Red and green", "Red"),
        ("Neil A. Armstrong", "Neil Armstrong"),
        ("The Empire in Star Wars", "Star Wars"),
        ("Lettland", "Latvia"),
        ("Litauen", "Lithuania"),
        ("Europe", "Europa"),
    }
    page = (study / "reports" / "report.html").read_text(encoding="utf-8")
    text = unescape(
        re.sub(r"\s+", " ", re.sub(r"<style.*?</style>|<[^>]+>", " ", page, flags=re.S))
    )
    shown_as = {name: pseudonym for pseudonym, name in names.items()}
    for figure in (
        "grader – majority 87.30 %",  # 55/63
        "grader – majority 0.613",  # 19/31
        "alder grader 6 0.678 0.652",  # 61/90 and 88/135
        "birch grader 7 0.801 0.849",  # 157/196 and 499/588
        "cedar grader 7 0.903 0.856",  # 664/735 and 629/735
        "grader alder 7 0 0.559",  # 176/315: a refusal counts as 0 there
        "Alignment: did the right elements stand side by side?",
        "Alignment accuracy, majority: 87.30 %",  # 55/63 again
        "majority 0.093",  # the alignment error, 5/3 of 18
        "grader – majority −0.009",  # the grading error on these
        "grader – majority −0.101",  # and the score error
        # elements, in place, beside another, beside none, should have one, not named; responses
        f"{shown_as['bob']} 63 58 4 1 0 0 19 0.805 0.875",
        "majority 63 55 6 1 0 1 18 0.804 0.897",
    ):
        assert figure in text, figure
    assert "lists.example" not in page, "people stand there by their pseudonyms"
    # the questions with a disagreement stand above theirs
    shown = {name for name, (question, _) in QUESTIONS.items() if question in text}
    assert shown == {"baltic", "crew", "moons", "films", "light"}
