"""What comes into a study: questions, responses and pairs, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accord.scoring.errors import InputError, SettingsError
from accord.study import Study
from accord.study.intake import COLUMNS, RESERVED
from small_study import ANSWERS, QUESTIONS, RESPONSES, snapshot, write

# Bringing in


def test_questions_keep_their_strata_and_come_in_once(study: Study, tmp_path: Path) -> None:
    first, second = study.ledger.questions()
    assert first.fields == {"type": "flat", "region": "UK"}
    assert second.fields == {"ordered": "true", "type": "flat"}
    before = snapshot(study)
    again = study.add_questions(tmp_path / "questions.jsonl")
    assert (again.rows, again.new, again.already) == (2, 0, 2)
    assert snapshot(study) == before
    more = {**QUESTIONS[0], "question_id": "q3"}
    added = study.add_questions(write(tmp_path / "more.jsonl", [*QUESTIONS, more]))
    assert (added.new, added.already) == (1, 2)
    assert [file.name for file in study.ledger.inputs()] == [
        "questions.jsonl",
        "responses.jsonl",
        "more.jsonl",
    ]


def test_responses_come_in_once_and_a_blank_one_is_an_empty_answer(
    study: Study, tmp_path: Path
) -> None:
    assert [response.response for response in study.ledger.responses(["q2"])] == [
        "1. A\n2. C\n3. B",
        "",
        '["A", "B", "C"]',
    ]
    before = snapshot(study)
    assert study.add_responses(tmp_path / "responses.jsonl").already == 5
    assert snapshot(study) == before


def test_pairs_keep_their_ids_and_aliases(paired: Study) -> None:
    items = paired.items()
    assert [item.item_id for item in items] == ["p1", "p2", "p3"]
    assert (items[0].reference, items[0].aliases) == ("Paris", ("Paname",))
    assert [item.predicted for item in items] == ANSWERS
    before = snapshot(paired)
    again = paired.add_pairs(paired.path.parent / "pairs.jsonl", mapping={"reference": "gold"})
    assert (again.new, again.already) == (0, 3)
    assert snapshot(paired) == before


def test_equal_pairs_without_ids_stay_two_items_and_are_known_again(
    empty: Study, tmp_path: Path
) -> None:
    row = {"question_id": "q1", "question": "?", "reference": "A", "predicted": "a"}
    path = write(tmp_path / "pairs.jsonl", [row, row, {**row, "system": "s"}])
    assert empty.add_pairs(path).new == 3
    ids = [item.item_id for item in empty.items()]
    assert len(set(ids)) == 3
    assert empty.add_pairs(path).already == 3
    assert [item.item_id for item in empty.items()] == ids


def test_a_pair_can_t_have_the_id_of_a_response_s_item(study: Study, tmp_path: Path) -> None:
    item = study.items()[0].item_id
    with pytest.raises(InputError, match=f"'{item}' is an item of a response already"):
        study.add_pairs(write(tmp_path / "p.jsonl", [{**PAIR, "item_id": item}]))
    study.add_pairs(write(tmp_path / "p.jsonl", [{**PAIR, "item_id": "own"}]))
    assert len(study.items()) == 12


def test_strata_are_kept_only_where_they_are_named(empty: Study, tmp_path: Path) -> None:
    row = {"question_id": "q1", "question": "?", "reference": "A", "predicted": "a"}
    path = write(tmp_path / "p.jsonl", [{**row, "human": "yes", "domain": "art"}])
    added = empty.add_pairs(path, strata=["domain"])
    assert added.unused == ("human",)
    assert empty.ledger.pairs()[0].fields == {"domain": "art"}
    with pytest.raises(SettingsError, match="accord's own"):
        empty.add_pairs(path, strata=["rating"])
    with pytest.raises(InputError, match="no column 'domian'.*--strata"):
        empty.add_pairs(path, strata=["domian"])


def test_no_column_of_the_tables_can_be_a_stratum() -> None:
    from accord.study.columns import pairs_schema
    from accord.study.ratings import COLUMNS as RATINGS

    assert {*RATINGS, *pairs_schema().names} <= RESERVED
    assert {name for required, _ in COLUMNS.values() for name in required} <= RESERVED


QUESTION, RESPONSE = QUESTIONS[0], RESPONSES[0]
PAIR: dict[str, Any] = {
    "question_id": "q1",
    "question": "Which Beatles sang?",
    "reference": "A",
    "predicted": "a",
}


def without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


BAD: list[tuple[str, str, list[dict[str, Any]], list[str]]] = [
    # name, role, rows, what the message must hold
    (
        "no reference column",
        "questions",
        [without(QUESTION, "reference")],
        ["no column 'reference'"],
    ),
    ("no id column", "responses", [without(RESPONSE, "question_id")], ["no column 'question_id'"]),
    ("no system", "responses", [without(RESPONSE, "system")], ["no column 'system'"]),
    ("no predicted", "pairs", [without(PAIR, "predicted")], ["no column 'predicted'"]),
    (
        "doubled question",
        "questions",
        [{**QUESTION, "question_id": "n"}, {**QUESTION, "question_id": "n"}],
        ["line 2", "question_id 'n' stands on line 1 already"],
    ),
    (
        "empty reference",
        "questions",
        [
            {**QUESTION, "question_id": "n", "reference": None},
            {**QUESTION, "question_id": "m", "reference": []},
            {**QUESTION, "question_id": "k", "reference": "  "},
        ],
        ["line 1: the reference is blank", "and 2 more bad rows"],
    ),
    (
        "reference of another form",
        "questions",
        [{**QUESTION, "question_id": "n", "reference": [{"txt": "A"}]}],
        ["line 1", "reference: an element"],
    ),
    (
        "attributes that are no pairs",
        "questions",
        [
            {**QUESTION, "question_id": "n", "reference": [{"text": "A", "attributes": ["kv"]}]},
            {**QUESTION, "question_id": "m", "reference": [{"text": "A", "attributes": "kv"}]},
        ],
        ["line 1: reference: attributes must be an object or a list of", "and 1 more bad row)"],
    ),
    (
        "an attribute of several values",
        "questions",
        [
            {
                **QUESTION,
                "question_id": "n",
                "reference": [{"text": "A", "attributes": {"k": ["x", "y"]}}],
            }
        ],
        ['line 1: reference: the attribute \'k\' can\'t be ["x", "y"]; give one text'],
    ),
    (
        "a head that is no text",
        "questions",
        [{**QUESTION, "question_id": "n", "reference": [{"text": "A", "head": 5}]}],
        ["line 1: reference: head must be a text"],
    ),
    (
        "blank question",
        "questions",
        [{**QUESTION, "question_id": "n", "question": None}],
        ["line 1: question is blank"],
    ),
    (
        "blank id",
        "questions",
        [{**QUESTION, "question_id": None}],
        ["line 1: question_id is blank"],
    ),
    (
        "id with a control character",
        "questions",
        [{**QUESTION, "question_id": "a\u202eb"}],
        ["control character"],
    ),
    (
        "neither ordered nor not",
        "questions",
        [{**QUESTION, "question_id": "n", "ordered": "maybe"}],
        ["ordered 'maybe' is neither true nor false"],
    ),
    (
        "changed reference",
        "questions",
        [{**QUESTION, "reference": ["Ringo"]}],
        ["question_id 'q1' is in the study with another content (reference differs)", "new id"],
    ),
    (
        "unknown question",
        "responses",
        [{**RESPONSE, "question_id": "q9"}],
        ["line 1: question_id 'q9' is not in the study"],
    ),
    (
        "doubled response",
        "responses",
        [{**RESPONSE, "system": "n"}, {**RESPONSE, "system": "n"}],
        ["line 2", "q1 n stands on line 1 already"],
    ),
    (
        "changed response",
        "responses",
        [{**RESPONSE, "response": "1. Ringo"}],
        ["another content (response differs)", "new id"],
    ),
    (
        "blank system",
        "responses",
        [{**RESPONSE, "system": None}],
        ["line 1: system is blank"],
    ),
    (
        "no number of tokens",
        "responses",
        [{**RESPONSE, "system": "n", "output_tokens": "many"}],
        ["output_tokens 'many' is no whole number"],
    ),
    (
        "response that is an object",
        "responses",
        [{**RESPONSE, "system": "n", "response": {"a": 1}}],
        ["the response is an object"],
    ),
    (
        "response list of another form",
        "responses",
        [{**RESPONSE, "system": "n", "response": [{"txt": 1}]}],
        ["response: an element"],
    ),
    (
        "pair without a reference",
        "pairs",
        [{**PAIR, "reference": "[]"}],
        ["line 1: the reference is blank"],
    ),
    (
        "pair of another question's text",
        "pairs",
        [{**PAIR, "question": "Which Stones?"}],
        ["question_id 'q1' has another question in the study"],
    ),
    (
        "one question with two texts",
        "pairs",
        [
            {**PAIR, "question_id": "n", "question": "A?"},
            {**PAIR, "question_id": "n", "question": "B?"},
        ],
        ["line 2: question_id 'n' has another question on line 1"],
    ),
    (
        "doubled item",
        "pairs",
        [{**PAIR, "item_id": "i"}, {**PAIR, "item_id": "i"}],
        ["line 2: item_id 'i' stands on line 1 already"],
    ),
    (
        "pair with a list predicted",
        "pairs",
        [{**PAIR, "predicted": ["a", "b"]}],
        ["predicted is no text"],
    ),
    (
        "half a character",
        "pairs",
        [{**PAIR, "predicted": "cut \ud83d"}],
        ["line 1: half of a character"],
    ),
    (
        "reference of asides alone",
        "questions",
        [{**QUESTIONS[0], "question_id": "q9", "reference": [{"text": "a", "aside": True}]}],
        ["line 1: the reference has no element"],
    ),
    (
        "head that is no text",
        "responses",
        [{**RESPONSES[0], "variant": "x", "response": [{"text": "a", "head": 5}]}],
        ["line 1: response: head must be a text"],
    ),
    (
        "aside that is no flag",
        "responses",
        [{**RESPONSES[0], "variant": "x", "response": [{"text": "a", "aside": "perhaps"}]}],
        ["line 1: response: aside must be true or false"],
    ),
    (
        "control character in a variant",
        "responses",
        [{**RESPONSES[0], "variant": "a\x1b[31mb"}],
        ["line 1: variant 'a\\x1b[31mb' holds a control character"],
    ),
    (
        "system of a pair on two lines",
        "pairs",
        [{**PAIR, "system": "a\nb"}],
        ["line 1: system 'a\\nb' holds a control character"],
    ),
    (
        "unknown item",
        "ratings",
        [{"item_id": "i9", "rater": "a", "kind": "annotator", "rating": "CORRECT"}],
        ["line 1: item_id 'i9' is not in the study"],
    ),
    (
        "unknown label",
        "ratings",
        [{"item_id": "ITEM", "rater": "a", "kind": "annotator", "rating": "yes"}],
        ["line 1", "unknown label 'yes'", "--labels|--categories"],
    ),
    (
        "unknown kind",
        "ratings",
        [{"item_id": "ITEM", "rater": "a", "kind": "human", "rating": "CORRECT"}],
        ["line 1", "the kind 'human' is not known"],
    ),
    (
        "rated twice by one",
        "ratings",
        [{"item_id": "ITEM", "rater": "a", "kind": "annotator", "rating": "CORRECT"}] * 2,
        ["line 2", "already on line 1"],
    ),
    (
        "rater of another kind",
        "ratings",
        [{"item_id": "ITEM", "rater": "exact", "kind": "annotator", "rating": "CORRECT"}],
        ["rater 'exact' is known as judge and can't be annotator"],
    ),
]


@pytest.mark.parametrize(
    ("role", "rows", "wanted"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_a_bad_row_is_named_and_the_study_stays_as_it_is(
    study: Study, tmp_path: Path, role: str, rows: list[dict[str, Any]], wanted: list[str]
) -> None:
    study.score()
    item = study.items()[0].item_id
    rows = [{k: item if v == "ITEM" else v for k, v in row.items()} for row in rows]
    if role != "ratings" and len(rows) == 1 and "no column" not in wanted[0]:
        good = {"questions": QUESTIONS[1], "responses": RESPONSES[1], "pairs": PAIR}[role]
        rows = [*rows, {**good, "question_id": "q2" if role == "responses" else "q77"}]
    before = snapshot(study)
    with pytest.raises(InputError) as caught:
        getattr(study, f"add_{role}")(write(tmp_path / "bad.jsonl", rows))
    message = str(caught.value)
    assert "bad.jsonl" in message and caught.value.cure and "\n" not in message
    for part in wanted:
        assert any(option in message for option in part.split("|")), (part, message)
    assert snapshot(study) == before


def test_blanks_around_a_name_make_no_other_system(empty: Study, tmp_path: Path) -> None:
    rows = [{**PAIR, "predicted": str(n), "system": " a" * n or "a"} for n in (0, 1)]
    rows[0]["variant"], rows[1]["variant"] = "x", "x "
    empty.add_pairs(write(tmp_path / "pairs.jsonl", rows))
    assert {(pair.system, pair.variant) for pair in empty.ledger.pairs()} == {("a", "x")}


def test_blanks_around_a_field_make_no_other_stratum(empty: Study, tmp_path: Path) -> None:
    art = [{**QUESTIONS[0], "region": region} for region in (" Art", "Art ")]
    art[1]["question_id"] = "q2"
    path = write(tmp_path / "padded.jsonl", art)
    empty.add_questions(path)
    assert {question.fields["region"] for question in empty.ledger.questions()} == {"Art"}
    # a study of before, which kept them, is not changed by the same file
    with Study.create(tmp_path / "before") as before:
        kept = [replace(q, fields={**q.fields, "region": " Art"}) for q in empty.ledger.questions()]
        before.ledger.add_questions(kept)
        assert before.add_questions(path).already == 2


def test_every_bad_row_is_listed(study: Study, tmp_path: Path) -> None:
    rows = [{**RESPONSE, "question_id": f"n{n}", "system": None} for n in range(3)]
    with pytest.raises(InputError) as caught:
        study.add_responses(write(tmp_path / "bad.jsonl", rows))
    assert [(row.line, row.reason[:13]) for row in caught.value.rows] == [
        (1, "system is bla"),
        (1, "question_id '"),
        (2, "system is bla"),
        (2, "question_id '"),
        (3, "system is bla"),
        (3, "question_id '"),
    ]


def test_responses_before_questions_are_refused(empty: Study, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no questions yet.*--as questions"):
        empty.add_responses(write(tmp_path / "r.jsonl", RESPONSES))


def test_a_crash_while_adding_leaves_the_study_as_it_was(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(study)
    path = write(tmp_path / "more.jsonl", [{**RESPONSE, "system": "n"}])
    for error in (RuntimeError("bug"), KeyboardInterrupt()):
        with monkeypatch.context() as patch:
            # After the responses are written, before the transaction ends.
            patch.setattr(study.ledger, "add_input", _raiser(error))
            with pytest.raises(type(error)):
                study.add_responses(path)
        assert snapshot(study) == before
    assert study.add_responses(path).new == 1


def _raiser(error: BaseException) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail
