"""The example study: complete, true to its README, and labelled as it is parsed and aligned."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from functools import cache
from typing import Any

import pytest

from accord import examples
from accord.scoring import Judgement, Prepared, prepare, read_reference, recipe
from accord.scoring.errors import InputError
from accord.scoring.records import MISSING_FROM_REFERENCE, REASONS

RATERS = ("annotator1", "annotator2")
ERROR_TYPES = {
    "wrong_value": 2,
    "missing_element": 1,
    "extra_element": 1,
    "out_of_date": 1,
    "wrong_order": 1,
    "split_element": 1,
}


@cache
def questions() -> dict[str, dict[str, Any]]:
    return {row["question_id"]: row for row in examples.read_jsonl("questions.jsonl")}


@cache
def planted() -> list[dict[str, Any]]:
    text = (examples.files() / "planted.json").read_text(encoding="utf-8")
    errors: list[dict[str, Any]] = json.loads(text)["errors"]
    return errors


@cache
def audit() -> list[dict[str, str]]:
    text = (examples.files() / "gold_audit.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


@cache
def prepared() -> list[Prepared]:
    out = []
    for row in examples.read_jsonl("responses.jsonl"):
        question = questions()[row["question_id"]]
        out.append(
            prepare(
                question_id=row["question_id"],
                question=question["question"],
                reference=question["reference"],
                response=row["response"],
                recipe=recipe("listqa"),
                system=row["system"],
                ordered=question["ordered"],
                multi_faceted=question["type"] == "attributes",
            )
        )
    return out


@cache
def labels() -> list[dict[str, Any]]:
    return examples.labels_of(item for response in prepared() for item in response.items)


def elements(reference: Any) -> list[dict[str, Any]]:
    return [element.to_dict() for element in read_reference(reference).elements]


@pytest.mark.parametrize("name", examples.FILES)
def test_each_file_is_there_in_utf8_and_names_no_place_on_a_machine(name: str) -> None:
    text = (examples.files() / name).read_text(encoding="utf-8")
    assert text.endswith("\n") and "\r" not in text
    assert not re.search(r"(?<![\w.])/(?:home|root|tmp|work|usr|var)/|[A-Z]:\\\\|localhost", text)


def test_questions_have_the_documented_form() -> None:
    rows = examples.read_jsonl("questions.jsonl")
    assert len(rows) == len(questions()) == len({row["question"] for row in rows}) >= 60
    for row in rows:
        assert set(row) - {"source_url"} == {
            "question_id",
            "question",
            "reference",
            "ordered",
            "type",
            "category",
            "as_of",
        }
        assert isinstance(row["ordered"], bool)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", row["as_of"])
        assert row["question"][-1] in ".?"
        found = elements(row["reference"])
        assert 3 <= len(found) <= 8, row["question_id"]
        assert {bool(one.get("attributes")) for one in found} == {row["type"] == "attributes"}
        keys = {tuple(key for key, _ in one.get("attributes", [])) for one in found}
        assert len(keys) == 1, row["question_id"]


def test_no_name_stands_for_two_elements_of_a_reference() -> None:
    for question_id, row in questions().items():
        names = [
            (name.casefold(), json.dumps(one.get("attributes")))
            for one in elements(row["reference"])
            for name in {one["text"], *one.get("aliases", [])}
        ]
        assert len(names) == len(set(names)), question_id


def test_flat_attribute_and_ordered_questions_and_both_forms_of_reference() -> None:
    rows = questions().values()
    types = Counter(row["type"] for row in rows)
    assert set(types) == {"flat", "attributes"}
    assert 0.55 <= types["flat"] / types.total() <= 0.7
    assert sum(row["ordered"] for row in rows) >= 10
    forms = Counter((type(row["reference"]).__name__, row["type"]) for row in rows)
    assert set(forms) == {(form, kind) for form in ("str", "list") for kind in types}


def test_three_systems_answer_every_question_once() -> None:
    rows = examples.read_jsonl("responses.jsonl")
    assert all(set(row) == {"question_id", "system", "response"} for row in rows)
    assert Counter((row["question_id"], row["system"]) for row in rows) == Counter(
        (question_id, system) for question_id in questions() for system in examples.SYSTEMS
    )


def test_the_answers_show_the_faults_that_models_show() -> None:
    states = Counter(response.state for response in prepared())
    assert states["empty"] >= 1
    assert states["abstained"] >= 3
    assert states["unreadable"] >= 3  # sentences where a list was asked for
    markers = {response.parsed.marker for response in prepared()}
    assert {"numbered", "bullet", "nested", "table", "delimiter", "json", "prose"} <= markers
    assert any(0 < len(response.predicted) < 3 for response in prepared())


def test_seven_planted_errors_are_visible_in_the_gold() -> None:
    assert len(planted()) == 7
    assert Counter(error["error_type"] for error in planted()) == ERROR_TYPES
    assert len({error["question_id"] for error in planted()}) == 7
    for error in planted():
        reference = questions()[error["question_id"]]["reference"]
        assert type(reference) is type(error["corrected_reference"])
        wrong, right = elements(reference), elements(error["corrected_reference"])
        there = [one["text"] for one in wrong]
        then = [one["text"] for one in right]
        named = error["elements"]
        match error["error_type"]:
            case "wrong_value":
                assert there == then
                changed = [a["text"] for a, b in zip(wrong, right, strict=True) if a != b]
                assert changed == named
            case "missing_element":
                assert set(then) - set(there) == set(named) and set(there) < set(then)
            case "extra_element" | "out_of_date":
                assert set(there) - set(then) == set(named) and set(then) < set(there)
            case "wrong_order":
                assert sorted(there) == sorted(then) and there != then
                assert [one for one in there if one in named] == named
                assert [one for one in then if one in named] == named[::-1]
                assert questions()[error["question_id"]]["ordered"]
            case "split_element":
                assert set(there) - set(then) == set(named)
                assert set(then) - set(there) == {" and ".join(named)}


def test_the_audit_finds_the_planted_errors_and_no_other() -> None:
    assert [row["question_id"] for row in audit()] == list(questions())
    assert {row["verdict"] for row in audit()} == {"OK", "ERROR"}
    errors = {row["question_id"]: row for row in audit() if row["verdict"] == "ERROR"}
    assert {key: row["error_type"] for key, row in errors.items()} == {
        error["question_id"]: error["error_type"] for error in planted()
    }
    assert all(row["comment"] for row in errors.values())
    assert not any(row["error_type"] for row in audit() if row["verdict"] == "OK")


def test_labels_have_the_documented_form() -> None:
    for row in examples.read_jsonl("labels.jsonl"):
        assert list(row) == [
            "question_id",
            "system",
            "element",
            "reference",
            "occurrence",
            "rater",
            "kind",
            "rating",
            "reasons",
            "comment",
        ]
        assert row["rater"] in RATERS and row["kind"] == "annotator"
        assert row["rating"] in {"CORRECT", "INCORRECT", "UNSURE"}
        assert set(row["reasons"]) <= REASONS.keys()
        assert not (row["rating"] == "CORRECT" and row["reasons"])
        if MISSING_FROM_REFERENCE in row["reasons"]:
            assert row["reference"] is None


def test_every_item_has_both_labels_and_every_label_its_item() -> None:
    items = [item.item_id for response in prepared() for item in response.items]
    assert Counter((row["item_id"], row["rater"]) for row in labels()) == Counter(
        (item_id, rater) for item_id in items for rater in RATERS
    )
    assert len(labels()) == len(examples.read_jsonl("labels.jsonl"))


def test_an_item_without_a_label_is_named() -> None:
    other = prepare(
        question_id="q001",
        question="?",
        reference=["Io"],
        response="1. Amalthea",
        recipe=recipe("listqa"),
        system="alder",
    )
    with pytest.raises(InputError, match="q001.*Amalthea.*Io"):
        examples.labels_of(other.items)


def human_f1(rater: str) -> dict[str, float]:
    """Mean human F1 by system, from the scoring core with one annotator's verdicts."""
    verdicts = {
        row["item_id"]: Judgement(row["item_id"], row["rating"])
        for row in labels()
        if row["rater"] == rater
    }
    out = {}
    for system in examples.SYSTEMS:
        scores = [
            response.score([verdicts[item.item_id] for item in response.items])
            for response in prepared()
            if response.system == system
        ]
        f1 = [score.scores.judge.f1 for score in scores]
        assert len(f1) == len(questions())
        out[system] = sum(f1) / len(f1)
    return out


@pytest.mark.parametrize("rater", RATERS)
def test_the_annotators_put_the_systems_in_the_intended_order(rater: str) -> None:
    f1 = human_f1(rater)
    assert 0.88 <= f1["alder"] <= 0.96
    assert 0.72 <= f1["birch"] <= 0.84
    assert 0.50 <= f1["cedar"] <= 0.66


def test_the_annotators_agree_as_careful_people_do() -> None:
    by_item: dict[str, dict[str, str]] = {}
    for row in labels():
        by_item.setdefault(row["item_id"], {})[row["rater"]] = row["rating"]
    pairs = Counter((one[RATERS[0]], one[RATERS[1]]) for one in by_item.values())
    usable = {pair: count for pair, count in pairs.items() if "UNSURE" not in pair}
    agreed = sum(count for pair, count in usable.items() if pair[0] == pair[1])
    assert 0.85 <= agreed / sum(usable.values()) <= 0.97
    assert usable["CORRECT", "INCORRECT"] >= 10 and usable["INCORRECT", "CORRECT"] >= 10
    assert 3 <= pairs.total() - sum(usable.values()) <= 30


def test_the_readme_counts_what_is_there() -> None:
    readme = " ".join((examples.files() / "README.md").read_text(encoding="utf-8").split())
    rows = questions().values()
    n_elements = sum(len(elements(row["reference"])) for row in rows)
    types = Counter(row["type"] for row in rows)
    ordered = sum(row["ordered"] for row in rows)
    assert f"{len(rows)} questions with {n_elements} reference elements" in readme
    assert f"{types['flat']} ask for a flat list, {types['attributes']} for elements" in readme
    assert f"in {ordered} the order is asked for" in readme
    assert f"{len(prepared())} answers" in readme
    assert f"reports 7 of {len(rows)}" in readme
    assert "illustrative" in readme and "Apache-2.0" in readme
