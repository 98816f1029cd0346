"""Labels of whole responses, parses and gold answers: what their agreement is made of."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from accord.annotate.export import export_to_file
from accord.annotate.importing import import_files
from accord.annotate.question_sample import draw_questions
from accord.annotate.sample import draw_sample
from accord.annotate.template import load_template
from accord.scoring.errors import SettingsError
from accord.study import Study
from accord.study.records import RatingRow
from accord.study.unit_items import declared_scale, response_item_id

ANN, BOB, JUDGE = "123455", "124454", "235445"
"""Ratings of questions 0 to 5."""

Runner = Callable[..., tuple[int, str, str]]


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with Study.create(tmp_path / "study") as made:
        files: list[tuple[str, list[dict[str, Any]]]] = [
            (
                "questions",
                [{"question": f"Which {k}?", "reference": [f"ref {k}"]} for k in range(6)],
            ),
            ("responses", [{"system": "alder", "response": f"1. answer {k}"} for k in range(6)]),
        ]
        for name, rows in files:
            file = tmp_path / f"{name}.jsonl"
            lines = [json.dumps({"question_id": f"q{k}", **row}) for k, row in enumerate(rows)]
            file.write_text("\n".join(lines), encoding="utf-8")
        made.add_questions(tmp_path / "questions.jsonl")
        made.add_responses(tmp_path / "responses.jsonl")
        yield made


def label(
    study: Study,
    sample: str,
    template: str,
    labels: Mapping[str, str],
    tmp_path: Path,
    *,
    shown: str | None = None,
) -> None:
    """Hand the sample's tasks out to a file, and bring people's labels of them back.

    ``labels`` has for each person a label a question, by its number.
    """
    target = tmp_path / f"{sample}-{template}.json"
    export_to_file(study, sample, target, template=template)
    page = load_template(template)
    tasks = json.loads(target.read_text(encoding="utf-8"))
    words = {"choice": {"1": "CORRECT", "2": "INCORRECT", "3": "SEVERAL"}}.get(template, {})
    for number, task in enumerate(tasks, 1):
        k = int(task["data"]["question"].split()[1].rstrip("?"))
        task["id"] = number
        task["annotations"] = [
            {
                "id": 100 * number + who,
                "completed_by": {"id": who, "email": f"{name}@x.example"},
                "result": page.answer(words.get(said[k], said[k])),
                "was_cancelled": False,
                "updated_at": f"2026-11-30T10:{number:02d}:0{who}.000000Z",
                "unique_id": f"{sample}-{template}-{number}-{who}",
                "lead_time": 3.0,
            }
            for who, (name, said) in enumerate(labels.items(), 1)
        ]
    target.write_text(json.dumps(tasks), encoding="utf-8")
    import_files(study, [target])


def judge(study: Study, template: str, ratings: str, name: str = "gpt") -> None:
    study.ledger.add_ratings(
        [
            RatingRow(response_item_id("response", template, response), name, "judge", rating)
            for response, rating in zip(
                study.ledger.responses([f"q{k}" for k in range(6)]), ratings, strict=True
            )
        ]
    )


def figure(results: list[dict[str, Any]], name: str, *raters: str, **details: str) -> float:
    """The one element-level estimate of that name of these raters, told by how names begin."""
    (found,) = [
        one["estimate"]
        for one in results
        if one["name"] == name
        and one["level"] == "element"
        and len(one["raters"]) == len(raters)
        and all(any(r.startswith(start) for r in one["raters"]) for start in raters)
        and all(one.get(key) == value for key, value in details.items())
    ]
    assert isinstance(found, float)
    return found


def test_ratings_have_the_figures_of_numbers(study: Study, accord: Runner, tmp_path: Path) -> None:
    draw_questions(study, sample_id="s")
    label(study, "s", "rating", {"ann": ANN, "bob": BOB}, tmp_path)
    judge(study, "rating", JUDGE)
    ratings = study.ratings("s")
    assert (ratings.template, ratings.scale) == ("rating", "interval")
    assert ratings.categories == ("1", "2", "3", "4", "5")
    assert ratings.frame["weight"].eq(1).all() and len(ratings.frame) == 18
    assert ratings.frame["seconds"].notna().sum() == 12
    assert study.ratings().digest() == ratings.digest(), "there is nothing else"
    study.close()
    status, out, error = accord("agree", study.path, "--sample", "s", "--json")
    assert status == 0, error
    results = json.loads(out)["results"]
    people = [one for one in results if one.get("comparison") == "people"]
    # differences 0 0 1 0 0 1; the marginals' expected square is (80 + 68) / 36
    assert figure(people, "mad", "annotator", "annotator") == pytest.approx(1 / 3, abs=1e-12)
    kappa = figure(people, "weighted_kappa", "annotator", "annotator", weighting="quadratic")
    assert kappa == pytest.approx(34 / 37, abs=1e-12)
    # ranks 1 2 3 4 5.5 5.5 and 1 2 4 4 6 4
    spearman = figure(people, "spearman", "annotator", "annotator")
    assert spearman == pytest.approx(14.5 / math.sqrt(17 * 15.5), abs=1e-12)
    # two-way, absolute agreement: the raters' means are equal, squares of the rest 1/2 + 1/2
    rows, error_ss = (80 + 78 + 2 * 78) / 2 - 400 / 3, 1.0
    msr, mse = rows / 5, error_ss / 5
    icc = (msr - mse) / (msr + mse + 2 / 6 * (0 - mse))
    assert figure(people, "icc_a1", "annotator", "annotator") == pytest.approx(icc, abs=1e-12)
    assert figure(people, "krippendorff_alpha_ordinal", "annotator", "annotator") > 0.8
    # the judge against the mean of two: 2 3 5 4 4 5 and 1 2 3.5 4 5 4.5
    of_judge = [one for one in results if one.get("comparison") == "judge-final"]
    assert figure(of_judge, "mad", "gpt", "mean") == pytest.approx(5 / 6, abs=1e-12)
    assert figure(of_judge, "bias", "gpt", "mean") == pytest.approx(1 / 2, abs=1e-12)
    # the judge against each: squares 1 1 4 0 1 0 and (80 + 41 + 9) / 36 with ann
    kappas = {
        round(one["estimate"], 12)
        for one in results
        if one["name"] == "weighted_kappa"
        and one["weighting"] == "quadratic"
        and one.get("comparison") == "judge-annotator"
    }
    assert kappas == {round(44 / 65, 12), round(1 - 36 * (5 / 6) / (68 + 41 + 9), 12)}


def test_report_and_status_have_them_too(study: Study, accord: Runner, tmp_path: Path) -> None:
    draw_questions(study, sample_id="s")
    label(study, "s", "rating", {"ann": ANN, "bob": BOB}, tmp_path)
    judge(study, "rating", JUDGE)
    study.close()
    status, out, error = accord("report", study.path, "--json")
    assert status == 0, error
    report = json.loads(out)
    found = json.dumps(report)
    assert '"weighted_kappa"' in found and '"icc_a1"' in found
    page = (study.path / "reports" / "report.html").read_text(encoding="utf-8")
    assert "answer 2" in page and "Weighted κ" in page
    differing = (study.path / "reports" / "disagreements.csv").read_text(encoding="utf-8")
    # all but question 3, on which all three say 4
    assert differing.count("answer") == 5 and "answer 3" not in differing
    status, out, _ = accord("status", study.path)
    assert status == 0 and "people agree on 66.7 % of 6 items" in out


def test_each_template_is_a_scale_of_its_own(study: Study, accord: Runner, tmp_path: Path) -> None:
    draw_questions(study, sample_id="s")
    label(study, "s", "rating", {"ann": ANN, "bob": BOB}, tmp_path)
    label(study, "s", "choice", {"ann": "112131", "bob": "112111"}, tmp_path)
    with pytest.raises(SettingsError, match="choice and rating") as refused:
        study.ratings("s")
    assert "--template choice" in str(refused.value)
    with pytest.raises(SettingsError, match="no task of the study was made with the template 'x'"):
        study.ratings(template="x")
    choice = study.ratings("s", template="choice")
    assert choice.scale == "nominal"
    assert choice.categories == ("CORRECT", "INCORRECT", "SEVERAL", "NONE", "UNSURE")
    study.close()
    status, _, error = accord("agree", study.path)
    assert status == 2 and error.count("\n") == 1 and "--template choice" in error
    status, out, error = accord("agree", study.path, "--template", "choice", "--json")
    assert status == 0, error
    people = [one for one in json.loads(out)["results"] if one.get("comparison") == "people"]
    assert figure(people, "agreement", "annotator", "annotator") == 5 / 6
    status, _, error = accord("agree", tmp_path / "questions.jsonl", "--template", "choice")
    assert status == 2 and "--template is for a study" in error
    status, out, _ = accord("report", study.path, "--template", "rating", "--json")
    assert status == 0 and '"weighted_kappa"' in out


def test_labels_of_pairs_come_first(study: Study, tmp_path: Path) -> None:
    draw_questions(study, sample_id="s")
    label(study, "s", "rating", {"ann": ANN, "bob": BOB}, tmp_path)
    assert study.ratings().template == "rating"
    item = study.items()[0].item_id
    study.ledger.add_ratings([RatingRow(item, "ann", "annotator", "CORRECT")])
    assert study.ratings().template is None
    assert study.ratings().frame["item_id"].tolist() == [item]
    assert study.ratings(template="rating").frame["rater"].nunique() == 2
    assert study.ratings("s").template == "rating"


def test_a_question_counts_by_its_probability(study: Study, tmp_path: Path) -> None:
    draw_questions(study, n=3, sample_id="half", seed=1)
    label(study, "half", "rating", {"ann": ANN}, tmp_path)
    assert study.ratings("half").frame["weight"].tolist() == [2.0] * 3
    assert study.ratings().frame["weight"].tolist() == [2.0] * 3
    draw_questions(study, n=2, sample_id="third", seed=2)
    label(study, "third", "rating", {"ann": ANN}, tmp_path)
    both = study.ratings()
    # in neither of two independent samples: 1/2 * 2/3
    assert both.frame["weight"].tolist() == pytest.approx([1.5] * len(both.frame))
    assert any("2 samples are used together" in note for note in both.notes)
    assert study.ratings("third").frame["weight"].tolist() == [3.0] * 2


def test_pilots_and_retests_stand_apart(study: Study, tmp_path: Path) -> None:
    draw_sample(study, questions=2, purpose="pilot", sample_id="p", seed=3)
    label(study, "p", "rating", {"ann": ANN, "bob": BOB}, tmp_path)
    apart = study.ratings()
    assert apart.template == "rating" and apart.frame.empty
    assert apart.dropped == {"rating of a pilot": 4}
    assert any("(p)" in note for note in apart.notes)
    assert len(study.ratings("p").frame) == 4
    draw_questions(study, sample_id="main")
    label(study, "main", "rating", {"ann": ANN}, tmp_path)
    ratings = study.ratings()
    # ann graded all in the main sample; bob graded two in the pilot alone
    assert len(ratings.frame) == 6 and ratings.dropped == {"rating of a pilot": 2}
    item = ratings.frame["item_id"][0]
    study.ledger.add_ratings(
        [
            RatingRow(
                item,
                f"{ratings.frame['rater'][0]}#2",
                "annotator",
                "1",
                source="label-studio:retest",
            ),
            RatingRow(item, "cleo+judge", "annotator", "2", source="label-studio:judge-shown"),
        ]
    )
    ratings = study.ratings()
    assert ratings.repeats is not None and ratings.repeats["rating"].tolist() == ["1"]
    assert "cleo" not in set(ratings.frame["rater"])
    assert "cleo" in set(study.ratings(anchored=True).frame["rater"])


def test_a_judge_may_rate_between_the_categories(
    study: Study, accord: Runner, tmp_path: Path
) -> None:
    draw_questions(study, sample_id="s")
    label(study, "s", "rating", {"ann": ANN}, tmp_path)
    responses = study.ledger.responses([f"q{k}" for k in range(6)])
    study.ledger.add_ratings(
        [
            RatingRow(response_item_id("response", "rating", one), "gpt", "judge", said)
            for one, said in zip(responses, ["1", "2", "3", "4.5", "5", "5"], strict=True)
        ]
    )
    study.close()
    status, out, error = accord("agree", study.path, "--json")
    assert status == 0, error
    results = json.loads(out)["results"]
    assert figure(results, "mad", "gpt", "annotator") == pytest.approx(1 / 12, abs=1e-12)
    status, out, error = accord("agree", study.path, "--scale", "ordinal", "--json")
    assert status == 0, error
    ordinal = [one for one in json.loads(out)["results"] if one["level"] == "element"]
    assert not [one for one in ordinal if one["name"] == "mad"]
    assert len([one for one in ordinal if one["name"] == "krippendorff_alpha_ordinal"]) == 1


def test_reviewers_of_gold_answers_and_an_answer_that_changed(study: Study, tmp_path: Path) -> None:
    draw_questions(study, sample_id="s")
    labels = {0: "OK", 1: "OK", 2: "ERROR", 3: "OK", 4: "CANNOT VERIFY", 5: "OK"}
    label(study, "s", "gold_audit", {"ann": labels, "bob": labels}, tmp_path)  # type: ignore[dict-item]
    ratings = study.ratings()
    assert ratings.template == "gold_audit" and ratings.scale == "nominal"
    assert ratings.frame["system"].eq("-").all() and len(ratings.frame) == 12


def test_a_template_that_is_gone_is_nominal(tmp_path: Path) -> None:
    assert declared_scale(tmp_path, "mine", "1") == ("nominal", ())
    assert declared_scale(tmp_path, "rating", "1+judge:gpt")[0] == "interval"
    folder = tmp_path / "templates" / "mine@2"
    folder.mkdir(parents=True)
    (folder / "template.toml").write_text('scale = "ordinal"\n[controls]\nverdict = "v"\n')
    choices = "".join(f'<Choice value="{word}"/>' for word in ("poor", "fair", "good"))
    other = '<Choices name="w"><Choice value="no"/></Choices>'
    (folder / "config.xml").write_text(f'<View><Choices name="v">{choices}</Choices>{other}</View>')
    found = declared_scale(tmp_path, "mine", "2+judge:gpt")
    assert found == ("ordinal", ("poor", "fair", "good"))
    # a page may write its tags in small letters, and an alias is what its labels say
    choices = '<choice value="schlecht" alias="1"/><choice value="gut" alias="2"/>'
    (folder / "config.xml").write_text(f'<View><choices name="v">{choices}</choices></View>')
    assert declared_scale(tmp_path, "mine", "2") == ("interval", ("1", "2"))
    (folder / "config.xml").write_text("<View><Choices name='v'>")
    assert declared_scale(tmp_path, "mine", "2") == ("nominal", ())
