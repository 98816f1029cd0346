"""What comes into a study: questions, responses, pairs and ratings, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accord.scoring.errors import InputError, SettingsError
from accord.scoring.records import INCORRECT
from accord.study import RatingsOptions, Study
from accord.study.intake import COLUMNS, RESERVED
from accord.study.ledger import RatingRow, Sample
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


# Ratings


def test_ratings_long_with_remarks(study: Study, tmp_path: Path) -> None:
    first, second = (item.item_id for item in study.items()[:2])
    rows = [
        {
            "item_id": first,
            "rater": "ann",
            "kind": "annotator",
            "rating": "CORRECT",
            "reasons": ["parse error"],
            "comment": "hm",
            "guideline": "v2",
        },
        {"item_id": second, "rater": "j", "kind": "judge", "rating": None},
    ]
    path = write(tmp_path / "ratings.jsonl", rows)
    assert study.add_ratings(path).new == 2
    assert study.ledger.rating_rows() == [
        RatingRow(
            first,
            "ann",
            "annotator",
            "CORRECT",
            "rated",
            ("parse error",),
            "hm",
            "v2",
            "file:ratings.jsonl",
        ),
        RatingRow(second, "j", "judge", None, "unscored", source="file:ratings.jsonl"),
    ]
    again = study.add_ratings(path)
    assert (again.new, again.already) == (0, 2)


def test_no_field_of_a_question_replaces_what_figures_read(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text "false" in a column of accord's own would be taken as true."""
    from accord.study import intake
    from accord.study.ratings import OWN_MARKS
    from accord.study.tuned import MARK
    from accord.study.universe_places import PLACES

    assert {"unmatched", MARK, *PLACES} | OWN_MARKS <= RESERVED
    item = study.items()[0].item_id
    study.ledger.add_ratings([RatingRow(item, "ann", "annotator", "CORRECT")])
    row = {**QUESTIONS[0], "question_id": "q9", "unmatched": "false", "region": "FR"}
    answer = {"question_id": "q9", "system": "alpha", "response": "1. Lennon"}
    monkeypatch.setattr(intake, "RESERVED", RESERVED - OWN_MARKS)  # as studies of before have it
    study.add_questions(write(tmp_path / "more.jsonl", [row]))
    study.add_responses(write(tmp_path / "answer.jsonl", [answer]))
    (new,) = (one.item_id for one in study.items() if one.question_id == "q9")
    study.ledger.add_ratings([RatingRow(new, "ann", "annotator", "CORRECT")])
    frame = study.ratings().frame
    assert "unmatched" not in frame.columns and frame["region"].tolist() == ["UK", "FR"]


def test_repeats_and_unused_columns_of_ratings_are_told(paired: Study, tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text(
        "item_id,rater,kind,rating,repeat,comment,weight\n"
        "p1,ann,annotator,CORRECT,0,sure,3\np1,ann,annotator,INCORRECT,1,on second thoughts,3\n"
        "p2,ann,annotator,,0,lunch,3\np2,ann,annotator,CORRECT,1,back,3\n"
    )
    added = paired.add_ratings(path)
    assert (added.rows, added.new, added.unused) == (4, 2, ("weight",))
    assert any("1 ratings repeat an item" in n and "left out" in n for n in added.notes)
    assert not any("count only" in note for note in added.notes)
    kept = [(row.item_id, row.rating, row.comment) for row in paired.ledger.rating_rows()]
    assert kept == [("p1", "CORRECT", "sure"), ("p2", "CORRECT", "back")]


@pytest.mark.parametrize(
    ("rater", "kind", "says"),
    [
        ("adjudicated", "annotator", "is known as adjudicated and can't be annotator"),
        ("ground-truth", "judge", "is known as adjudicated and can't be judge"),
        ("rule", "annotator", "is known as judge and can't be annotator"),
        ("ann#2", "annotator", "is what accord calls further ratings of a person"),
        ("ann+judge", "annotator", "is what accord calls further ratings of a person"),
        ("a\x1b[2Jn", "annotator", "holds a control character"),
    ],
)
def test_no_rater_takes_a_name_of_accords_own(
    paired: Study, tmp_path: Path, rater: str, kind: str, says: str
) -> None:
    """Rows are never changed: the import or the run that needs the name could never add its own."""
    paired.ledger.add_ratings([RatingRow("p1", "ann", "annotator", "CORRECT")])
    path = write(
        tmp_path / "names.jsonl",
        [{"item_id": "p2", "rater": rater, "kind": kind, "rating": "CORRECT"}],
    )
    with pytest.raises(InputError) as caught:
        paired.add_ratings(path)
    assert says in str(caught.value) and "another name" in str(caught.value)
    assert len(paired.ledger.rating_rows()) == 1
    judges = [
        {"item_id": "p1", "rater": name, "kind": "judge", "rating": "CORRECT"}
        for name in ("m", "m#2", "rule")
    ]
    assert paired.add_ratings(write(tmp_path / "judges.jsonl", judges)).new == 3


def test_a_slip_in_label_words_is_not_kept(paired: Study, tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("item_id,rater,kind,rating\np1,ann,annotator,yes\n")
    with pytest.raises(SettingsError, match="turns 'yes' into 'CORECT'"):
        paired.add_ratings(path, RatingsOptions(labels={"yes": "CORECT"}))
    assert paired.ledger.rating_rows() == []


def test_ratings_wide_with_label_words(paired: Study, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("item_id,a,b,gpt,final\np1,Yes,No,Yes,Yes\np2,No,,,No\np3,Yes,Yes,No,Yes\n")
    options = RatingsOptions(
        wide=True,
        annotators=("a", "b"),
        judges=("gpt",),
        final="final",
        labels={"Yes": "CORRECT", "No": "INCORRECT"},
    )
    added = paired.add_ratings(path, options)
    assert added.new == 11  # 12 cells, the blank one of a person is no rating
    ratings = paired.ratings()
    kinds = dict(ratings.frame.groupby("rater")["kind"].first())
    assert kinds == {"a": "annotator", "b": "annotator", "gpt": "judge", "final": "adjudicated"}
    unscored = ratings.frame[ratings.frame["status"] == "unscored"]
    assert unscored[["item_id", "rater"]].to_numpy().tolist() == [["p2", "gpt"]]
    assert ratings.frame["question_id"].tolist()[:2] == ["q1", "q1"]
    with pytest.raises(InputError, match="rater 'a' is known as annotator"):
        paired.add_ratings(path, replace(options, annotators=("b",), judges=("a",)))


def test_the_ratings_of_a_study_have_what_the_figures_need(study: Study) -> None:
    study.score()
    ratings = study.ratings()
    frame = ratings.frame
    assert set(frame["kind"]) == {"judge"} and set(frame["rater"]) == {"exact"}
    # q1 alpha 2, beta 3; q2 alpha 3, beta 0 (empty answer), alpha thinking 3: one row an item.
    assert len(frame) == 11 and frame["item_id"].is_unique
    counts = frame.groupby(["question_id", "system", "variant"])[["n_predicted", "n_reference"]]
    assert counts.first().to_dict("index") == {
        ("q1", "alpha", ""): {"n_predicted": 2, "n_reference": 2},
        ("q1", "beta", ""): {"n_predicted": 3, "n_reference": 2},
        ("q2", "alpha", ""): {"n_predicted": 3, "n_reference": 3},
        ("q2", "alpha", "thinking"): {"n_predicted": 3, "n_reference": 3},
    }
    assert frame["response_id"].nunique() == 4
    regions = frame.set_index("question_id")["region"]
    assert set(regions["q1"]) == {"UK"} and set(regions["q2"]) == {None}
    assert (frame["weight"] == 1.0).all()
    # A predicted element without a partner is an item too, and wrong whatever it says.
    unmatched = {item.item_id for item in study.items() if item.reference is None}
    assert len(unmatched) == 1
    assert set(frame[frame["item_id"].isin(unmatched)]["rating"]) == {INCORRECT}


def test_the_latest_rating_is_the_one_that_is_read(paired: Study) -> None:
    for value in ("CORRECT", "INCORRECT"):
        paired.ledger.add_ratings([RatingRow("p1", "ann", "annotator", value)])
    paired.ledger.add_ratings(
        [
            RatingRow("p2", "ann", "annotator", None, "skipped"),
            RatingRow("gone", "ann", "annotator", "CORRECT"),
        ]
    )
    ratings = paired.ratings()
    assert ratings.frame["rating"].tolist() == ["INCORRECT"]
    assert ratings.dropped["skipped"] == 1 and sum(ratings.dropped.values()) == 2


def test_samples_give_weights(paired: Study) -> None:
    for item in ("p1", "p2", "p3"):
        paired.ledger.add_ratings([RatingRow(item, "ann", "annotator", "CORRECT")])
    paired.ledger.add_sample(Sample("s", "agreement", "x", 1, {}, (("p1", 0.25), ("p2", 0.5))))
    paired.ledger.add_sample(Sample("t", "agreement", "x", 1, {}, (("p2", 0.1),)))
    everything = paired.ratings()
    # p2 is in either with probability 1 - (1 - .5)(1 - .1) = .55; t has no item of its own.
    assert everything.frame["weight"].tolist() == pytest.approx([4.0, 1 / 0.55, 1.0], rel=1e-12)
    assert any("2 samples are used together" in note for note in everything.notes)
    assert any("1 items that people rated are in no sample" in note for note in everything.notes)
    one = paired.ratings("t")
    assert one.frame[["item_id", "weight"]].to_numpy().tolist() == [["p2", 10.0]]
    assert one.notes == ()
