"""A recipe that was changed in study.toml after the files came in, and does not fit them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from berg_study import NAMES, write_answers, write_questions
from science_rows import write_rows

Runner = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines(name: str, rows: list[dict[str, Any]]) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def berg(accord: Runner) -> None:
    write_questions(Path("questions.csv"))
    write_answers(Path("answers.csv"))
    assert accord("init", "st", "--recipe", "knowledgeberg")[0] == 0
    form = ("--format", "knowledgeberg-csv", "--map")
    assert accord("add", "st", "questions.csv", "--as", "questions", *form, NAMES)[0] == 0
    assert accord("add", "st", "answers.csv", "--as", "responses", *form, "question_id=id")[0] == 0


def science(accord: Runner) -> None:
    assert accord("init", "st", "--recipe", "sciknoweval")[0] == 0
    science_rows(accord)


def science_rows(accord: Runner) -> None:
    file, form = write_rows(Path()), ("--format", "sciknoweval")
    assert accord("add", "st", file, "--as", "questions", *form)[0] == 0
    assert accord("add", "st", file, "--as", "responses", *form, "--system", "m")[0] == 0


def lists(accord: Runner, **fields: str) -> None:
    rows = [
        {"question_id": f"l{n}", "question": f"Which {n}?", "reference": ["a", "b", f"c{n}"]}
        for n in range(3)
    ]
    rows[1] |= fields
    answers = [{"question_id": f"l{n}", "system": "m", "response": "1. a\n2. b"} for n in range(3)]
    assert accord("init", "st", "--recipe", "listqa")[0] == 0
    assert accord("add", "st", lines("q.jsonl", rows), "--as", "questions")[0] == 0
    assert accord("add", "st", lines("r.jsonl", answers), "--as", "responses")[0] == 0


def given(accord: Runner) -> None:
    pair = {"question_id": "p1", "question": "Which?", "reference": "a", "predicted": "b"}
    assert accord("init", "st", "--recipe", "listqa")[0] == 0
    rows = [{**pair, "item_id": name} for name in ("i1", "i2")]
    assert accord("add", "st", lines("p.jsonl", rows), "--as", "pairs")[0] == 0


def with_recipe(name: str) -> None:
    file = Path("st", "study.toml")
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r'(?m)^recipe = ".*"', f'recipe = "{name}"', text), encoding="utf-8")


MISFITS: list[tuple[Callable[..., None], dict[str, str], str, str, str, str]] = [
    (berg, {}, "knowledgeberg", "listqa", "3 of the study's 5 questions are multiple choice", "k"),
    (berg, {}, "knowledgeberg", "sciknoweval", "3 of the study's 5 questions are multiple", "k"),
    (science, {}, "sciknoweval", "listqa", "8 of the study's 9 questions are rows of Sci", ""),
    (science, {}, "sciknoweval", "knowledgeberg", "all of the study's 9 questions are rows", ""),
    (lists, {}, "listqa", "sciknoweval", "all of the study's 3 questions are no rows of", "l0"),
    (lists, {"key": "C minor"}, "listqa", "knowledgeberg", "1 of the study's 3 questions", "l1"),
    (lists, {"options": '{"A": "a"}'}, "listqa", "knowledgeberg", "1 of the study's 3", "l1"),
]


@pytest.mark.parametrize(("make", "fields", "before", "after", "said", "first"), MISFITS)
def test_a_recipe_that_does_not_fit_the_questions_is_refused(
    accord: Runner,
    make: Callable[..., None],
    fields: dict[str, str],
    before: str,
    after: str,
    said: str,
    first: str,
) -> None:
    make(accord, **fields)
    with_recipe(after)
    whole = {path: path.read_bytes() for path in Path("st").rglob("*") if path.is_file()}
    for command in (("score", "st"), ("sample", "st", "--n", "2"), ("score", "st", "--jobs", "2")):
        status, out, err = accord(*command)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert f"study.toml has recipe '{after}', and {said}" in err
        assert re.search(rf"\('{first}\w*' first\)", err)
        assert f'write recipe = "{before}" again' in err
    after_all = {path: path.read_bytes() for path in Path("st").rglob("*") if path.is_file()}
    assert after_all == whole, "nothing is half-written"
    with_recipe(before)
    assert accord("sample", "st", *(("--unit", "question") if make is science else ()))[0] == 0


def test_pairs_that_came_paired_are_for_listqa(accord: Runner) -> None:
    given(accord)
    for name in ("knowledgeberg", "sciknoweval"):
        with_recipe(name)
        status, out, err = accord("score", "st")
        assert (status, out) == (2, "")
        assert f"study.toml has recipe '{name}', which scores no pairs that came paired" in err
        assert "the study has 2 ('i1' first); write recipe = \"listqa\" for them" in err
    with_recipe("listqa")
    assert accord("score", "st")[0] == 0


def test_lists_may_be_scored_as_universes(accord: Runner) -> None:
    """List questions are enumerations as well: nothing is misread, so nothing is refused."""
    lists(accord, category="music")
    with_recipe("knowledgeberg")
    status, out, err = accord("score", "st", "--json")
    assert status == 0, err
    (row,) = json.loads(out)["results"]
    assert row["figures"]["universe_recall"] == pytest.approx(2 / 3, abs=1e-12)


def test_only_enumerations_may_go_back_to_lists(accord: Runner) -> None:
    lists(accord)
    with_recipe("knowledgeberg")
    more = [{"question_id": "u", "question": "Which?", "reference": ["a"]}]
    assert accord("add", "st", lines("more.jsonl", more), "--as", "questions")[0] == 0
    with_recipe("listqa")
    assert accord("score", "st")[0] == 0


def test_rows_that_came_into_a_study_of_lists_are_lists(accord: Runner) -> None:
    """A user may read SciKnowEval's rows as lists from the start."""
    assert accord("init", "st", "--recipe", "listqa")[0] == 0
    science_rows(accord)
    assert accord("score", "st")[0] == 0
