"""Odd files in the formats of other benchmarks: what is taken, what is noted, what is refused."""

from __future__ import annotations

import bz2
import gzip
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from profile_samples import SAMPLES, Role, add

from accord.scoring.errors import BadRow, InputError, RowLine
from accord.scoring.parse import read_reference
from accord.study import Study

Write = Callable[[str, Any], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes rows as JSON lines, any other value as one line of JSON, text as it is."""

    def written(name: str, value: Any) -> Path:
        path = tmp_path / name
        if isinstance(value, str):
            path.write_text(value, encoding="utf-8")
        elif name.endswith(".jsonl"):
            path.write_text("".join(json.dumps(row) + "\n" for row in value), encoding="utf-8")
        else:
            path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return written


def elements(study: Study) -> list[list[str]]:
    """The elements of each question, each with its aliases behind it."""
    return [
        ["|".join((one.text, *one.aliases)) for one in read_reference(question.reference).elements]
        for question in study.ledger.questions()
    ]


def responses(study: Study) -> list[Any]:
    return [
        json.loads(one.response) if one.response_is_json else one.response
        for one in study.ledger.responses()
    ]


def qampari(identity: str, *names: Any, predictions: Any = ()) -> dict[str, Any]:
    answers = [name if isinstance(name, dict) else {"answer_text": name} for name in names]
    return {
        "qid": identity,
        "question_text": f"Question {identity}?",
        "answer_list": answers,
        "predictions": predictions if predictions is None else list(predictions),
    }


# Rows of a file that has several on a line


def test_rows_on_one_line_are_told_apart(empty: Study, write: Write) -> None:
    rows = [
        {"question": "a?", "final_answers": ["x (2010)"]},
        {"question": "b?", "final_answers": None},
        {"question": "c?", "final_answers": []},
        {"question": "", "final_answers": ["y"]},
    ]
    with pytest.raises(InputError) as refused:
        add(empty, "tlqa", "questions", write("tlqa.json", rows))
    # What the format finds and what the intake finds, in the file's order.
    assert list(map(str, refused.value.rows)) == [
        "tlqa.json, line 1, row 2: final_answers is missing; give final_answers a list",
        "tlqa.json, line 1, row 3: the reference has no element",
        "tlqa.json, line 1, row 4: question is blank; give question a text",
    ]
    assert not empty.ledger.questions()


def test_rows_of_an_object_on_one_line_are_told_apart(empty: Study, write: Write) -> None:
    gold = [
        {"id": f"m{at}", "question": "?", "context": ["a"], "label": ["B"], "num_span": 1}
        for at in range(3)
    ]
    add(empty, "multispanqa", "questions", write("gold.json", {"data": gold}))
    with pytest.raises(InputError) as refused:
        add(empty, "multispanqa", "responses", write("p.json", {"m0": ["a"], "m1": "a", "m7": []}))
    assert [str(row).partition(":")[0] for row in refused.value.rows] == [
        "p.json, line 1, row 2",
        "p.json, line 1, row 3",
    ]


def test_an_id_that_stands_twice_names_both_rows(empty: Study, write: Write) -> None:
    rows = [{"id": "d1", "question": "?", "complete_answer": [{"text": "x"}]}] * 2
    with pytest.raises(InputError) as refused:
        add(empty, "romqa", "questions", write("romqa.json", rows))
    assert str(refused.value).startswith(
        "romqa.json, line 1, row 2: question_id 'd1' stands on line 1, row 1 already"
    )


def test_the_line_of_a_row_is_a_number_all_the_same() -> None:
    line = RowLine(3, 7)
    assert (line, line + 1, f"{line}", json.dumps(line)) == (3, 4, "3, row 7", "3")
    error = InputError.from_rows([BadRow("a.json", line, "is blank")], cure="fill it")
    assert str(pickle.loads(pickle.dumps(error)).rows[0]) == "a.json, line 3, row 7: is blank"


# What a system answered is never a fault of the file


@pytest.mark.parametrize("blank", ["", " ", None])
def test_a_blank_in_an_answer_is_no_element(empty: Study, write: Write, blank: str | None) -> None:
    path = write("q.jsonl", [qampari("1", "Rhine", "Birs", predictions=["Rhine", blank])])
    add(empty, "qampari", "questions", path)
    added = add(empty, "qampari", "responses", path)
    assert responses(empty) == [["Rhine"]]
    assert added.notes == ("a response has a blank in its list (left out): 1 row",)
    empty.score(["exact"])
    # 1 of 1 predicted, 1 of 2 gold.
    assert empty.scores()["llm_judge_f1"].tolist() == pytest.approx([2 / 3], abs=1e-12)


@pytest.mark.parametrize(
    ("name", "gold", "answer", "wanted"),
    [
        (
            "quest",
            {"query": "q?", "docs": ["A"]},
            {"query": "q?", "docs": ["", "A", 7]},
            ["A", "7"],
        ),
        (
            "loft-allof",
            {"qid": 1, "query_text": "q?", "answers": ["A"]},
            {"qid": "1", "model_outputs": [[None, "A"]]},
            ["A"],
        ),
        (
            "lmkbc",
            {"SubjectEntity": "S", "Relation": "r", "ObjectEntities": ["A"]},
            {"SubjectEntity": "S", "Relation": "r", "ObjectEntitiesID": [""]},
            [],
        ),
        (
            "bioasq",
            {"id": "b", "type": "list", "body": "q?", "exact_answer": [["A", "a1"]]},
            {"id": "b", "type": "list", "exact_answer": [[], ["A"], "B", [""]]},
            ["A", "B"],
        ),
    ],
)
def test_each_format_s_lists_may_hold_blanks(
    empty: Study, write: Write, name: str, gold: Any, answer: Any, wanted: list[str]
) -> None:
    add(empty, name, "questions", write("gold.jsonl", [gold]))
    added = add(empty, name, "responses", write("answers.jsonl", [answer]))
    assert responses(empty) == [wanted]
    assert "a response has a blank in its list (left out): 1 row" in added.notes


def test_an_answer_that_is_no_list_is_refused(empty: Study, write: Write) -> None:
    add(empty, "qampari", "questions", write("q.jsonl", [qampari("1", "Rhine")]))
    for value, message in (
        (None, "predictions is missing; give predictions a list"),
        ({"a": 1}, 'predictions is no list but {"a": 1}; give predictions a list'),
        ([["Rhine"]], 'predictions[0] is no text but ["Rhine"]; give each element a text'),
    ):
        path = write("a.jsonl", [{**qampari("1", "Rhine"), "predictions": value}])
        with pytest.raises(InputError) as refused:
            add(empty, "qampari", "responses", path)
        assert str(refused.value).startswith(f"a.jsonl, line 1: {message}")


def test_one_turn_that_is_no_list_says_so(empty: Study, write: Write) -> None:
    gold = {"qid": "1", "query_text": "q?", "answers": ["A"]}
    add(empty, "loft-allof", "questions", write("gold.jsonl", [gold]))
    path = write("a.jsonl", [{"qid": "1", "num_turns": 1, "model_outputs": ["A"]}])
    with pytest.raises(InputError, match=r"line 1: model_outputs\[0\] is no list but 'A'; give"):
        add(empty, "loft-allof", "responses", path)


# Gold


def test_numbers_are_elements_and_blank_names_are_none(empty: Study, write: Write) -> None:
    path = write(
        "q.jsonl",
        [
            qampari("1", 7, {"answer_text": "8", "aliases": ["VIII", "", None, 8]}, 1.5),
            qampari("2", {"answer_text": "9", "aliases": None}),
        ],
    )
    added = add(empty, "qampari", "questions", path)
    assert elements(empty) == [["7", "8|VIII", "1.5"], ["9"]]
    assert added.notes == ("a name is blank (left out): 1 row",)


def test_names_of_an_answer_that_are_all_blank_are_refused(empty: Study, write: Write) -> None:
    rows = [{"question": "q?", "answers": [["", "A"], ["", None]]}]
    with pytest.raises(InputError, match=r"line 1: answers\[1\] is no list of names but"):
        add(empty, "alce", "questions", write("alce.json", {"data": rows}))


def test_an_element_that_stands_twice_is_noted(empty: Study, write: Write) -> None:
    """A system that names each thing once can't have full recall of such a list."""
    twice = {"answer_text": "The Rhine", "aliases": ["x"]}
    rows = [qampari("1", "a", "b", "A"), qampari("2", twice, "the rhine."), qampari("3", "a", "b")]
    added = add(empty, "qampari", "questions", write("q.jsonl", rows))
    assert added.notes == ("a reference has an element twice (both are wanted): 2 rows",)
    assert elements(empty)[0] == ["a", "b", "A"]
    teams = {"question": "t?", "final_answers": ["FC (2010)", "FC (2012)"]}
    assert not add(empty, "tlqa", "questions", write("t.json", [teams])).notes


def test_an_object_that_is_a_blank_is_none(empty: Study, write: Write) -> None:
    """LM-KBC writes an empty answer as [] or as [""]."""
    rows = [
        {"SubjectEntity": "a", "Relation": "r", "ObjectEntities": [""], "ObjectEntitiesID": [""]},
        {"SubjectEntity": "b", "Relation": "r", "ObjectEntities": ["B"], "ObjectEntitiesID": ["Q"]},
    ]
    added = add(empty, "lmkbc", "questions", write("lm.jsonl", rows))
    assert elements(empty) == [["B|Q"]]
    assert [row.line for row in added.left_out] == [1]


@pytest.mark.parametrize(
    "cell",
    [
        '["Rhine", "Birs, near Basel"]',
        "['Rhine', 'Birs, near Basel']",
        ' ["Rhine",\n"Birs, near Basel"]',
    ],
)
def test_a_list_in_a_cell_is_json_or_python_s(empty: Study, write: Write, cell: str) -> None:
    quoted = '"' + cell.replace('"', '""') + '"'
    path = write("kb.csv", f"q,a\nWhich rivers?,{quoted}\n")
    add(empty, "knowledgeberg-csv", "questions", path, mapping={"question": "q", "reference": "a"})
    assert elements(empty) == [["Rhine", "Birs, near Basel"]]


@pytest.mark.parametrize("cell", ["['Rhine' 'Birs']", "['Rhine'\n 'Birs']", "[Rhine, Birs]", "[1"])
def test_a_list_that_could_be_another_is_refused(empty: Study, write: Write, cell: str) -> None:
    """An array printed without commas would join its texts."""
    path = write("kb.csv", f'q,a\nWhich rivers?,"{cell}"\n')
    with pytest.raises(InputError, match="line 2: reference .* is no JSON list; write it as"):
        add(
            empty,
            "knowledgeberg-csv",
            "questions",
            path,
            mapping={"question": "q", "reference": "a"},
        )


def test_a_table_row_without_its_key_is_noted(empty: Study, write: Write, tmp_path: Path) -> None:
    (tmp_path / "widesearch_gold").mkdir()
    (tmp_path / "widesearch_gold" / "w1.csv").write_bytes(
        b"\xef\xbb\xbfName,Launch Year\r\nAzalea,1996\r\n,1999\r\n,\r\n"
    )
    evaluation = json.dumps({"required": ["name", "launchyear"], "unique_columns": ["name"]})
    path = write("w.jsonl", [{"instance_id": "w1", "query": "?", "evaluation": evaluation}])
    added = add(empty, "widesearch", "questions", path)
    assert elements(empty) == [["Azalea", "1999"]]
    assert added.notes == ("a row of a gold table has no value in its key columns: 1 row",)


# A mapping file


MAPPING = """list = "all-of"
separator = "|"
[questions]
question_id = "id"
question = "q"
reference = "gold"
strata = ["field"]
[responses]
question_id = "id"
response = "out"
"""


def test_what_a_mapping_file_names_must_be_there(empty: Study, write: Write) -> None:
    form = str(write("own.toml", MAPPING))
    path = write("own.csv", "id,q,gold,out,more\n1,?,a | b||c,a,x\n")
    with pytest.raises(InputError) as refused:
        empty.add_outside(path, form, "questions")
    assert str(refused.value) == (
        "own.csv has no field 'field', which format 'own.toml' has in its questions; its fields "
        "are id, q, gold, out, more"
    )
    path = write("own.csv", "id,q,gold,out,field,more\n1,?,a | b||c,a,x,y\n")
    added = empty.add_outside(path, form, "questions")
    assert added.unused == ("out", "more")
    assert elements(empty) == [["a", "b", "c"]]
    assert dict(empty.ledger.questions()[0].fields) == {"field": "x"}


# Encodings, blank lines, packed and very long lines


@pytest.mark.parametrize("packed", [False, True])
def test_marks_line_ends_and_blank_lines_change_nothing(
    empty: Study, tmp_path: Path, packed: bool
) -> None:
    rows = [qampari(str(at), "Zürich", "東京", predictions=["東京"]) for at in range(3)]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    content = b"\xef\xbb\xbf" + "\r\n\r\n".join(lines).encode() + b"\r\n \r\n"
    path = tmp_path / ("q.jsonl.gz" if packed else "q.jsonl")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert add(empty, "qampari", "questions", path).new == 3
    assert add(empty, "qampari", "responses", path).new == 3
    assert elements(empty) == [["Zürich", "東京"]] * 3
    assert responses(empty) == [["東京"]] * 3


@pytest.mark.parametrize(
    ("encoding", "why"),
    [
        ("utf-16", "is encoded as UTF-16"),
        ("utf-16-le", "a NUL byte; this is no plain text file"),
        ("utf-16-be", "a NUL byte; this is no plain text file"),
        ("latin-1", "byte 0xfc is not UTF-8"),
    ],
)
@pytest.mark.parametrize(("name", "role"), [("qampari", "questions"), ("simpleqa", "questions")])
def test_another_encoding_is_refused_by_name(
    empty: Study, tmp_path: Path, encoding: str, why: str, name: str, role: Role
) -> None:
    row = json.dumps(qampari("1", "Zürich"), ensure_ascii=False)
    text = row if name == "qampari" else "problem,answer,metadata\nWhere?,Zürich,\n"
    path = tmp_path / ("q.jsonl" if name == "qampari" else "q.csv")
    path.write_bytes(text.encode(encoding))
    with pytest.raises(InputError) as refused:
        add(empty, name, role, path)
    assert why in str(refused.value) and "save it as UTF-8" in str(refused.value)
    assert not empty.ledger.questions()


def test_a_packed_file_without_its_ending_is_named(empty: Study, tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    for packed, message in (
        (gzip.compress(b"[]" * 99), "dev.json is packed with gzip; name it dev.json.gz, or unp"),
        (bz2.compress(b"[]" * 99), "dev.json is packed with bzip2; unpack it, or pack it with gz"),
    ):
        path.write_bytes(packed)
        with pytest.raises(InputError) as refused:
            add(empty, "romqa", "questions", path)
        assert str(refused.value).startswith(message)


def test_a_very_long_line_is_one_row(empty: Study, write: Write) -> None:
    names = [f"item {at}" for at in range(40_000)]
    path = write("q.jsonl", [qampari("1", *names, predictions=names[:3])])
    assert path.stat().st_size > 1_000_000
    add(empty, "qampari", "questions", path)
    add(empty, "qampari", "responses", path)
    assert elements(empty) == [names]
    assert responses(empty) == [names[:3]]


# Formats that are refused


@pytest.mark.parametrize(
    ("name", "fields", "answer"),
    [
        ("loft-anyof", 'question_id = "qid"\nquestion = "query_text"\nreference = "answers"', 1),
        ("truthfulqa", 'question = "question"\nreference = "correct_answers"', 1),
    ],
)
def test_the_cure_for_interchangeable_answers_works(
    empty: Study, write: Write, name: str, fields: str, answer: int
) -> None:
    """Any one of the answers is all that is wanted: naming the second is full marks."""
    form = str(write("own.toml", f'list = "any-of"\n[questions]\n{fields}\n'))
    empty.add_outside(SAMPLES / f"{name}.jsonl", form, "questions")
    questions = empty.ledger.questions()
    names = [read_reference(question.reference).elements for question in questions]
    assert [len(one) for one in names] == [1] * len(questions)
    rows = [
        {
            "question_id": question.question_id,
            "system": "alpha",
            "response": [(one.text, *one.aliases)[answer]],
        }
        for question, (one,) in zip(questions, names, strict=True)
    ]
    empty.add_responses(write("answers.jsonl", rows))
    empty.score(["exact"])
    assert empty.scores()["llm_judge_f1"].tolist() == [1] * len(questions)
