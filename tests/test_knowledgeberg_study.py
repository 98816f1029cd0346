"""KnowledgeBerg in a study: both kinds of question in, figures and items out, as users run it."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from berg_study import FIGURES, NAMES, model_of_names, write_answers, write_flat, write_questions
from rating_model import RatingModel

from accord.scoring.records import CORRECT, INCORRECT
from accord.study import Study
from accord.study.records import RatingRow
from accord.validate import agreement

Runner = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model(openai_settings: None) -> Iterator[RatingModel]:
    with model_of_names() as found:
        yield found


@pytest.fixture
def berg(accord: Runner, model: RatingModel, tmp_path: Path) -> Path:
    """The study with its questions and answers, and the model as its judge."""
    write_questions(tmp_path / "questions.csv")
    write_answers(tmp_path / "answers.csv")
    assert accord("init", "berg", "--recipe", "knowledgeberg")[0] == 0
    form = ("--format", "knowledgeberg-csv")
    status, out, err = accord(
        *("add", "berg", "questions.csv", "--as", "questions", *form, "--map", NAMES, "--json")
    )
    assert (status, json.loads(out)["new"]) == (0, 5), err
    status, out, err = accord(
        *("add", "berg", "answers.csv", "--as", "responses", *form, "--map", "question_id=id"),
        "--json",
    )
    assert (status, json.loads(out)["new"]) == (0, 10), err
    with (tmp_path / "berg" / "study.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[judge.names]\ntype = "openai"\nmodel = "m"\nendpoint = "{model.url}"\n')
    return tmp_path / "berg"


def scored(accord: Runner, *more: str) -> dict[str, Any]:
    status, out, err = accord("score", "berg", "--json", *more)
    assert status == 0, err
    payload: dict[str, Any] = json.loads(out)
    return payload


def test_the_figures_are_those_derived_by_hand(
    accord: Runner, berg: Path, model: RatingModel
) -> None:
    payload = scored(accord)
    for row in payload["results"]:
        assert row["figures"] == pytest.approx(FIGURES[row["system"]], abs=1e-12)
    (one, two) = payload["results"]
    assert (one["judge"], one["enumerations"], one["choices"], one["given"]) == ("names", 2, 3, 2)
    assert (two["abstained"], two["given"], one["unscored"], two["unscored"]) == (1, 1, 0, 0)
    details = one["details"]
    counts = {"by_rule": 3, "by_judge": 1, "judged": 4, "duplicates": 1}
    assert {name: details["counts"][name] for name in counts} == counts
    assert two["details"]["accuracy"]["unread"] == {"refused": 1, "several labels": 1}
    cells = {
        (row["domain"], row["language"]): row["value"]
        for row in details["universe_by_domain_and_language"]
    }
    assert cells["Geography", "English"] == pytest.approx(2 / 3, abs=1e-12)
    assert cells["History", "German"] == pytest.approx(4 / 5, abs=1e-12)
    assert payload["settings"]["recipe"]["name"] == "knowledgeberg"
    # Four pairs are open in all, each is one question, and a second run asks none.
    assert (len(model.bodies), payload["work"]["names"]["calls"]) == (4, 4)
    again = scored(accord)
    assert (len(model.bodies), again["work"]["names"]["known"]) == (4, 4)
    assert again["results"] == payload["results"]

    status, out, _ = accord("score", "berg")
    assert status == 0
    for text in (
        "universe_f1           0.7333 (n 2)",
        "universe_f1_optimal   0.9000 (n 2)",
        "KRQ accuracy 0.3333 (1 of 3); unread, counted wrong: refused 1, several labels 1",
        "wrong answers: missing knowledge 0.5000, not applied 0.5000 (of 2; unknown: 0)",
    ):
        assert text in out


@pytest.mark.parametrize("asked", ["all", "needed"])
def test_a_study_and_a_file_of_the_same_answers_have_the_same_figures(
    accord: Runner, berg: Path, asked: str
) -> None:
    with (berg / "study.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[conventions]\nasked = "{asked}"\n')
    study = {row["system"]: row["details"] for row in scored(accord)["results"]}
    write_flat(Path("flat.csv"))
    status, out, err = accord(
        *("score", "flat.csv", "--recipe", "knowledgeberg", "--set", f"asked={asked}", "--json"),
        *("--judge", "names", "--judges-of", "berg"),
    )
    assert status == 0, err
    payload = json.loads(out)
    # All four open pairs, or those that are free in the greedy order: Alpha River is taken when
    # River B comes. The study has the replies.
    work = payload["work"]["names"]
    assert (work["calls"], work["known"]) == (0, {"all": 4, "needed": 3}[asked])
    for found in payload["results"]:
        assert json.dumps(study[found["system"]]) == json.dumps(found)


def test_pairs_are_items_whoever_judges(accord: Runner, berg: Path) -> None:
    with Study.open(berg) as study:
        before = study.pairs()
        assert not study.ledger.rating_rows()
    scored(accord)
    with Study.open(berg) as study:
        frame = study.pairs()
        assert frame.equals(before)
        names = ["system", "question_id", "how", "reference", "predicted"]
        rows = frame[names].fillna("-")
        assert [tuple(row) for row in rows.itertuples(index=False)] == [
            ("m1", "e1", "rule", "Rhine", "Rhine"),
            ("m1", "e1", "candidate", "Alpha River", "River A"),
            ("m1", "e1", "candidate", "Beta River", "River A"),
            ("m1", "e1", "candidate", "Alpha River", "River B"),
            ("m1", "e1", "candidate", "Beta River", "River B"),
            ("m2", "e1", "unmatched", "Rhine", "-"),
            ("m2", "e1", "unmatched", "Alpha River", "-"),
            ("m2", "e1", "unmatched", "Beta River", "-"),
            ("m1", "e2", "rule", "Schwarzwald", "Schwarzwald"),
            ("m1", "e2", "rule", "Jura", "Jura"),
            ("m1", "e2", "unmatched", "-", "Jura"),
            ("m2", "e2", "rule", "Schwarzwald", "Schwarzwald"),
            ("m2", "e2", "unmatched", "Jura", "-"),
        ]
        graded = frame.loc[frame["item_id"].notna(), "item_id"]
        assert graded.is_unique and len(graded) == 9
        ratings = study.ledger.rating_rows()
        # Open pairs have the model's verdict; equal names and choices have that of the rules.
        by_rater = Counter((row.rater, row.rating) for row in ratings)
        assert by_rater == {
            ("names", CORRECT): 3,
            ("names", INCORRECT): 1,
            ("rule", CORRECT): 4 + 2,
            ("rule", INCORRECT): 2,
            ("rule", "SEVERAL"): 1,
            ("rule", "NONE"): 1,
        }
        assert {row.kind for row in ratings} == {"judge"}
        candidates = set(frame.loc[frame["how"] == "candidate", "item_id"])
        assert {row.item_id for row in ratings if row.rater == "names"} == candidates


def test_a_reply_that_can_not_be_read_is_counted_and_no_verdict(
    accord: Runner, berg: Path, tmp_path: Path
) -> None:
    with Study.open(berg) as study:
        frame = study.pairs()
        chosen = frame[(frame["how"] == "candidate") & (frame["predicted"] == "River A")]
        first = chosen["item_id"].iloc[0]
    with (tmp_path / "verdicts.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("item_id", "verdict"), (first, CORRECT)])
    with (berg / "study.toml").open("a", encoding="utf-8") as file:
        file.write('\n[judge.file]\ntype = "file"\npath = "../verdicts.csv"\n')
    payload = scored(accord, "--judge", "file")
    (one, _) = payload["results"]
    assert one["unscored"] == 3
    assert one["figures"]["universe_f1"] == pytest.approx((2 / 3 + 4 / 5) / 2, abs=1e-12)
    status, out, _ = accord("score", "berg", "--judge", "file")
    assert "pairs without a verdict that can be read, which match nothing: 3" in out
    with Study.open(berg) as study:
        own = [row for row in study.ledger.rating_rows() if row.rater == "file"]
        assert Counter(row.status for row in own) == {"rated": 1, "unscored": 3}


def test_a_sample_holds_more_of_what_the_judge_called_the_same(accord: Runner, berg: Path) -> None:
    scored(accord)
    status, out, err = accord(
        *("sample", "berg", "--n", "4", "--oversample", "judged:CORRECT=0.5", "--json"),
    )
    assert status == 0, err
    with Study.open(berg) as study:
        said = {row.item_id for row in study.ledger.rating_rows() if row.rater == "names"}
        same = {
            row.item_id
            for row in study.ledger.rating_rows()
            if row.rater == "names" and row.rating == CORRECT
        }
        (sample,) = study.ledger.samples()
        chances = dict(sample.items)
        drawn = Counter(item in same for item in chances)
        assert drawn == {True: 2, False: 2} and len(said) == 4
        # 2 of the 3 that the model called the same, 2 of the 6 others.
        for item, chance in chances.items():
            assert chance == pytest.approx(2 / 3 if item in same else 2 / 6, abs=1e-12)
    status, _, err = accord("sample", "berg", "--n", "4", "--oversample", "judged:MAYBE=0.5")
    assert (status, err.count("\n")) == (2, 1)
    assert "no judge's verdict on an item that can be drawn is 'MAYBE'; there are CORRECT" in err
    # One kind of question can be drawn, for the template that is about it.
    status, out, err = accord(
        *("sample", "berg", "--unit", "question", "--only", "metric=choice"),
        *("--for", "agreement", "--name", "choices", "--json"),
    )
    assert (status, json.loads(out)["results"][0]["items"]) == (0, 3), err
    tasks = ("export", "berg", "choices", "--template", "choice", "--to", "choices.json")
    assert accord(*tasks)[0] == 0
    assert len(json.loads(Path("choices.json").read_text(encoding="utf-8"))) == 6
    by_how = ("sample", "berg", "--n", "6", "--by", "how", "--merge-small", "--json")
    assert accord(*by_how)[0] == 0


def label(study: Study, rater: str, verdicts: dict[str, str]) -> None:
    study.ledger.add_ratings(
        [RatingRow(item, rater, "annotator", verdict) for item, verdict in verdicts.items()]
    )


def test_a_person_who_says_what_the_judge_says_has_its_universe_f1(
    accord: Runner, tmp_path: Path
) -> None:
    """Verdicts that want one gold element twice, gold without a prediction, pairs by rule."""
    rng = np.random.default_rng(20)
    questions, answers = [], []
    for number in range(15):
        golds = [f"gold {number} {k}" for k in range(int(rng.integers(1, 5)))]
        said = [f"{k + 1}. name {number} {k}" for k in range(int(rng.integers(1, 5)))]
        if number % 3 == 0:
            said.append(f"{len(said) + 1}. {golds[-1]}")
        questions.append((f"q{number}", f"Which {number}?", json.dumps(golds)))
        answers.append((f"q{number}", "m", "\n".join(said)))
    for name, rows in (("q", questions), ("r", answers)):
        head = {"q": ("question_id", "question", "reference")}
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(head.get(name, ("question_id", "system", "response")))
            writer.writerows(rows)
    assert accord("init", "berg", "--recipe", "knowledgeberg")[0] == 0
    assert accord("add", "berg", "q.csv", "--as", "questions")[0] == 0
    assert accord("add", "berg", "r.csv", "--as", "responses")[0] == 0
    with Study.open(tmp_path / "berg") as study:
        frame = study.pairs()
        items = frame.loc[frame["item_id"].notna() & frame["reference"].notna(), "item_id"]
        same = {item: CORRECT if rng.random() < 0.4 else INCORRECT for item in items}
        settled = set(frame.loc[frame["how"] == "rule", "item_id"])
        same |= dict.fromkeys(settled, CORRECT)
        with (tmp_path / "verdicts.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("item_id", "verdict"), *same.items()])
        with (tmp_path / "berg" / "study.toml").open("a", encoding="utf-8") as file:
            file.write('[judge.file]\ntype = "file"\npath = "../verdicts.csv"\n')
    scored(accord)
    with Study.open(tmp_path / "berg") as study:
        # Pairs by rule are taken as read where nobody graded them.
        label(study, "ann", {item: said for item, said in same.items() if item not in settled})
        label(study, "bob", same)
        scores = study.scores().set_index("response_id")["universe_f1"]
        assert 0 < scores.mean() < 1 and scores.nunique() > 5
        found = agreement(study.ratings().select(annotators=["ann"]), figures="main")
        # What has nothing beside it needs no rating, so nothing is said to lack one.
        assert (frame["how"] == "unmatched").any() and study.ratings().unrated is None
        compared = [one for one in found.responses if one["rater"] == "file"]
        assert len(compared) >= 12
        for one in compared:
            expected = pytest.approx(scores[one["response_id"]], abs=1e-12)
            assert one["judge"] == expected and one["human"] == expected
        # The greedy order comes to the first open pair: without it there is no score by people.
        gone = next(item for item in same if item not in settled)
        study.ledger.add_ratings([RatingRow(gone, "ann", "annotator", None, "skipped")])
        left = agreement(study.ratings().select(annotators=["ann"]), figures="main").responses
        missing = [one for one in left if one["rater"] == "file" and one["human"] is None]
        where = frame.set_index("item_id").loc[gone, "response_id"]
        assert {one["response_id"] for one in missing} == {where}


def test_questions_from_a_plain_table(accord: Runner, tmp_path: Path) -> None:
    head = "question_id,question,reference,key,options,seed_id,needed,language\n"
    universe = 'e1,Which?,"[""Ab"",""Cd""]",,,,,English\n'
    (tmp_path / "q.csv").write_text(
        f'{head}{universe}{universe}k1,Whose?,,B,,e1,"[""The Ab""]",English\n', encoding="utf-8"
    )
    (tmp_path / "r.csv").write_text(
        'question_id,system,variant,response\ne1,m,x,"1. Ab\n2. Zz"\nk1,m,x,(b)\n', encoding="utf-8"
    )
    assert accord("init", "berg", "--recipe", "knowledgeberg")[0] == 0
    status, out, _ = accord("add", "berg", "q.csv", "--as", "questions", "--json")
    assert (status, json.loads(out)["new"]) == (0, 2)
    assert accord("add", "berg", "r.csv", "--as", "responses")[0] == 0
    (row,) = scored(accord)["results"]
    assert (row["system"], row["variant"], row["details"]["system"]) == ("m", "x", "m (x)")
    assert row["figures"]["universe_f1"] == pytest.approx(1 / 2, abs=1e-12)
    assert row["figures"]["krq_accuracy"] == 1
    assert row["details"]["knowledge"]["right_present"] == 1
    with Study.open(tmp_path / "berg") as study:
        (item,) = [i for i in study.items() if i.reference == "Cd"]
        assert item.system == "m (x)"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("e1,Which?,,,,,\n", "line 2: it has neither a reference (an enumeration) nor a key"),
        ("e1,Which?,Ab,B,,,\n", "line 2: give a reference (an enumeration) or a key"),
        ("k1,Which?,,E,,,\n", "line 2: the key 'E' is none of A, B, C, D"),
        ('k1,Which?,,A,"[""x""]",,\n', "line 2: options is no JSON object"),
        ("k1,Which?,,A,,e1,Ab\n", "line 2: needed is no JSON list"),
        ('k1,Which?,,A,,e1,"[""Ab"", null]"\n', "line 2: needed: place 2 is no text but null"),
        ('k1,Which?,,A,"{""A"": null}",,\n', "line 2: options: 'A' is no text but null"),
        (
            'e1,Which?,Ab; Cd,,,,\nk1,Whose?,,A,,e1,"[""Ef""]"\n',
            "line 3: question 'k1' needs 'Ef', which is no element of 'e1'",
        ),
    ],
)
def test_bad_questions_are_refused_in_one_line(
    accord: Runner, tmp_path: Path, rows: str, message: str
) -> None:
    (tmp_path / "q.csv").write_text(
        f"question_id,question,reference,key,options,seed_id,needed\n{rows}", encoding="utf-8"
    )
    assert accord("init", "berg", "--recipe", "knowledgeberg")[0] == 0
    status, _, err = accord("add", "berg", "q.csv", "--as", "questions")
    assert (status, err.count("\n")) == (2, 1)
    assert message in err
    with Study.open(tmp_path / "berg") as study:
        assert not study.ledger.questions()


def test_what_is_for_lists_is_refused(accord: Runner, berg: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text(
        "question_id,question,reference,predicted\nq,Which?,a,b\n", encoding="utf-8"
    )
    scored(accord)
    assert accord("sample", "berg")[0] == 0
    for command, message in (
        (("add", "berg", "pairs.csv", "--as", "pairs"), "a table of pairs is for list questions"),
        (("score", "berg", "--aligners", "rouge,greedy"), "--aligners is for list questions"),
        (("score", "berg", "--jobs", "2"), "--jobs is for list questions, and the study's recipe"),
        (
            ("export", "berg", "s1", "--template", "response", "--to", "t.json"),
            "the template response is for list questions",
        ),
    ):
        status, _, err = accord(*command)
        assert (status, err.count("\n")) == (2, 1), err
        assert message in err


def test_no_judge_has_the_name_of_the_rules(accord: Runner, berg: Path) -> None:
    with (berg / "study.toml").open("a", encoding="utf-8") as file:
        file.write('\n[judge.rule]\ntype = "exact"\n')
    status, _, err = accord("score", "berg", "--judge", "rule")
    assert (status, err.count("\n")) == (2, 1)
    assert "a judge can't be named 'rule'" in err


def test_multiple_choice_is_refused_in_a_study_of_lists(accord: Runner, tmp_path: Path) -> None:
    write_questions(tmp_path / "questions.csv")
    assert accord("init", "lists")[0] == 0
    status, _, err = accord(
        *("add", "lists", "questions.csv", "--as", "questions", "--format", "knowledgeberg-csv"),
        *("--map", NAMES),
    )
    assert (status, err.count("\n")) == (2, 1)
    assert "multiple-choice questions need a study with recipe 'knowledgeberg'" in err


def test_the_report_names_the_figures(accord: Runner, berg: Path) -> None:
    scored(accord)
    assert accord("report", "berg")[0] == 0
    page = (berg / "reports" / "report.html").read_text(encoding="utf-8")
    for name in ("Universe F1", "Universe F1, optimal", "KRQ accuracy", "Universe recall"):
        assert name in page
    report = json.loads((berg / "reports" / "report.json").read_text(encoding="utf-8"))
    (one, two) = report["systems"]
    assert one["universe_f1"] == pytest.approx(FIGURES["m1"]["universe_f1"], abs=1e-12)
    assert two["krq_accuracy"] == pytest.approx(1 / 3, abs=1e-12)
    assert "llm_judge_f1" not in one
