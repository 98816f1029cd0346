"""Files of other benchmarks: what becomes of their rows, and what the ledger says about it."""

from __future__ import annotations

import bz2
import gzip
import json
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from profile_samples import FILES, SAMPLES, Role, add

from accord import cli
from accord.scoring.errors import AccordError, InputError, SettingsError
from accord.scoring.parse import read_reference
from accord.scoring.sciknoweval_rows import row_ids
from accord.study import Study, intake, profile_files
from accord.study.profile_files import open_rows, read_rows
from accord.study.profile_read import read_outside
from accord.study.profiles import MAPPING, PROFILES, find_profile, known_profile

NO_LIST = ("loft-anyof", "truthfulqa", "factscore")
ROUND = [name for name in FILES if name not in NO_LIST]


def told(study: Study) -> dict[str, Any]:
    """What a study holds, as the expectations are written down."""
    questions = study.ledger.questions()
    number = {question.question_id: at for at, question in enumerate(questions)}
    return {
        "questions": [
            {
                "question": question.question,
                "elements": [
                    element.to_dict() for element in read_reference(question.reference).elements
                ],
                "fields": dict(question.fields),
            }
            for question in questions
        ],
        "responses": [
            [
                number[response.question_id],
                response.system,
                response.variant,
                json.loads(response.response) if response.response_is_json else response.response,
            ]
            for response in study.ledger.responses()
        ],
    }


@pytest.mark.parametrize("name", ROUND)
def test_a_sample_becomes_questions_and_responses(empty: Study, name: str) -> None:
    expected = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))[name]
    questions, responses = add(empty, name, "questions"), add(empty, name, "responses")
    assert told(empty) == {key: expected[key] for key in ("questions", "responses")}
    for added, key in ((questions, "questions"), (responses, "responses")):
        assert list(added.notes) == expected["notes"][key]
        assert list(added.unused) == expected["unused"][key]
    first, second = empty.ledger.inputs()
    form = "ferries" if name == "mapping.toml" else name
    assert (first.options["format"], second.options["format"]) == (form, form)
    assert first.rows == questions.rows
    # The same file again changes nothing.
    assert add(empty, name, "questions").new == 0 and add(empty, name, "responses").new == 0
    assert len(empty.ledger.inputs()) == 2


def test_ids_are_the_file_s_or_come_from_the_question(empty: Study, tmp_path: Path) -> None:
    add(empty, "qampari", "questions")
    assert [q.question_id for q in empty.ledger.questions()] == ["1__sample", "2__sample"]
    add(empty, "quest", "questions")
    before = {q.question: q.question_id for q in empty.ledger.questions()}
    with Study.create(tmp_path / "other") as other:
        lines = (SAMPLES / "quest.jsonl").read_text(encoding="utf-8").splitlines()
        path = tmp_path / "turned.jsonl"
        path.write_text("\n".join(reversed(lines)), encoding="utf-8")
        add(other, "quest", "questions", path)
        for question in other.ledger.questions():
            assert before[question.question] == question.question_id


def test_equal_records_are_two_questions_with_a_response_each(empty: Study) -> None:
    add(empty, "sciknoweval", "questions")
    add(empty, "sciknoweval", "responses")
    doubled = [q.question_id for q in empty.ledger.questions() if "Water" in q.question]
    assert doubled[1] == f"{doubled[0]}-1"
    answers = {r.question_id: r.response for r in empty.ledger.responses()}
    assert [answers[one] for one in doubled] == ["Yes", "No"]
    # The benchmark's own figures know the rows by the same ids.
    lines = (SAMPLES / "sciknoweval.jsonl").read_text(encoding="utf-8").splitlines()
    assert [q.question_id for q in empty.ledger.questions()] == row_ids(map(json.loads, lines))


def test_responses_are_not_joined_to_one_of_several_questions(empty: Study, tmp_path: Path) -> None:
    rows = [{"query": "Steamers", "docs": ["A"]}, {"query": "Steamers", "docs": ["B"]}]
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    added = add(empty, "quest", "questions", gold)
    assert added.notes == (
        "a question has the text of an earlier one (its responses need ids): 1 row",
    )
    with pytest.raises(InputError) as refused:
        add(empty, "quest", "responses", gold)
    assert [row.line for row in refused.value.rows] == [1, 2]
    assert "several questions of the study have this text" in str(refused.value)
    with_ids = [{**row, "n": f"s{at}"} for at, row in enumerate(rows)]
    gold.write_text("".join(json.dumps(row) + "\n" for row in with_ids), encoding="utf-8")
    with Study.create(tmp_path / "second") as second:
        for role in ("questions", "responses"):
            added = second.add_outside(
                gold,
                "quest",
                role,
                mapping={"question_id": "n"},
                system=None if role == "questions" else "alpha",
            )
            assert added.new == 2
        assert [r.question_id for r in second.ledger.responses()] == ["s0", "s1"]


def test_all_of_and_any_of_are_as_the_format_says(empty: Study) -> None:
    """The same answers score differently, so what the profile declares must reach the figures."""
    add(empty, "qampari", "questions")
    add(empty, "qampari", "responses")
    rows = empty.score(["exact"])
    scores = empty.scores().set_index("question_id")
    # "rhein" is an alias of one of two elements, "Wiese" is wrong: P = R = 1/2.
    assert scores.loc["1__sample", "llm_judge_f1"] == pytest.approx(0.5)
    assert scores.loc["1__sample", "n_reference"] == 2
    assert scores.loc["2__sample", "llm_judge_f1"] == 0
    assert rows.recipe_sha256


def test_one_answer_with_many_names_is_one_element(empty: Study) -> None:
    add(empty, "mapping-anyof.json", "questions")
    add(empty, "mapping-anyof.json", "responses")
    empty.score(["exact"])
    (row,) = empty.scores().to_dict("records")
    assert (row["n_reference"], row["llm_judge_f1"]) == (1, 1.0)


@pytest.mark.parametrize("name", ["qampari", "romqa", "simpleqa", "multispanqa"])
def test_packed_files_are_read_as_they_are(empty: Study, tmp_path: Path, name: str) -> None:
    gold, answers = FILES[name]
    packed = []
    for file in (gold, answers):
        path = tmp_path / f"{file}.gz"
        path.write_bytes(gzip.compress((SAMPLES / file).read_bytes()))
        packed.append(path)
    add(empty, name, "questions", packed[0])
    add(empty, name, "responses", packed[1])
    expected = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))[name]
    assert told(empty)["questions"] == expected["questions"]
    assert told(empty)["responses"] == expected["responses"]


def test_bzip2_is_read_whole_or_not_at_all(empty: Study, tmp_path: Path) -> None:
    raw = (SAMPLES / "romqa.json").read_bytes()
    path = tmp_path / "dev.json.bz2"
    half = len(raw) // 2
    path.write_bytes(bz2.compress(raw[:half]) + bz2.compress(raw[half:]))
    assert add(empty, "romqa", "questions", path).new == 2
    path.write_bytes(bz2.compress(raw)[:-9])
    with pytest.raises(InputError, match="ends in the middle of its bzip2 data"):
        add(empty, "romqa", "questions", path)
    path.write_bytes(b"no bzip2")
    with pytest.raises(InputError, match="is no bzip2 file, or is damaged"):
        add(empty, "romqa", "questions", path)


def test_every_bad_row_is_listed_with_its_line_and_its_cure(empty: Study, tmp_path: Path) -> None:
    """What the format finds and what the intake finds come in one list, in the file's order."""
    rows = [
        {"qid": "a", "question_text": "?", "answer_list": []},
        {"qid": "b", "question_text": "?", "answer_list": [{"answer_text": 7}]},
        {"qid": "c", "question_text": "", "answer_list": [{"answer_text": "x"}]},
        {"qid": "b", "question_text": "?", "answer_list": [{"answer_text": "x"}]},
        {"qid": "d", "question_text": "?", "answer_list": [["x"]]},
    ]
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        add(empty, "qampari", "questions", path)
    assert [(row.line, row.reason) for row in refused.value.rows] == [
        (1, "the reference has no element"),
        (3, "question_text is blank; give question_text a text"),
        (4, "question_id 'b' stands on line 2 already"),
        (5, 'answer_list[0] is no object but ["x"]; give answer_list a list of objects'),
    ]
    assert not empty.ledger.questions()


def test_lines_of_wrapped_rows_are_the_file_s(tmp_path: Path) -> None:
    path = tmp_path / "wrapped.json"
    path.write_text('{"a": [1,\n2],\n"data":\n[{"x": 1},\n\n{"x": 2}], "z": {}}', encoding="utf-8")
    assert list(read_rows(path, envelope="data").lines) == [4, 6]
    path.write_text('{"q1": ["a",\n"b"],\n\n"q2"\n:\n["c"]}', encoding="utf-8")
    table = read_rows(path, keyed="predictions")
    assert list(table.lines) == [1, 4]
    assert table.frame.to_dict("list") == {
        "id": ["q1", "q2"],
        "predictions": [["a", "b"], ["c"]],
    }


STREAM = b'\xef\xbb\xbf{"x": 1}\r\n\n{"x": "\xc3\xa9", "y": [2]}\n\n{"x": 3}'


@pytest.mark.parametrize("block", [1, 5, 11, 1000])
@pytest.mark.parametrize("packed", [False, True])
def test_json_lines_are_streamed_with_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, packed: bool
) -> None:
    monkeypatch.setattr(profile_files, "_BLOCK", block)
    path = tmp_path / ("rows.jsonl.gz" if packed else "rows.jsonl")
    path.write_bytes(gzip.compress(STREAM) if packed else STREAM)
    source = open_rows(path)
    rows = [(line, {key: value for key, value in row.items() if value}) for line, row in source]
    assert rows == [(1, {"x": "1"}), (3, {"x": "é", "y": [2]}), (5, {"x": "3"})]
    assert (list(source.header), source.total) == (["x", "y"], 3)
    whole = read_rows(path)
    assert (source.name, source.sha256) == (whole.name, whole.sha256)


@pytest.mark.parametrize("block", [7, 1000])
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"x": 1}\n{"x": \n[2]\n', "a.jsonl, line 2: the JSON is cut off (and 1 more"),
        ("a.jsonl", b'{"x": 1}\n\n{"x": "\xff"}\n', "a.jsonl, line 3: byte 0xff is not UTF-8"),
        ("a.jsonl", b'{"x": 1}\n\n{"x": "\0"}\n', "a.jsonl, line 3: a NUL byte"),
        ("a.jsonl", b"\xff\xfe{\0", "a.jsonl is encoded as UTF-16"),
        ("a.jsonl", b"", "a.jsonl is empty"),
        ("a.jsonl", b"\n \n", "a.jsonl is empty"),
        (
            "a.jsonl.gz",
            gzip.compress(STREAM)[:-9],
            "a.jsonl.gz ends in the middle of its gzip data",
        ),
        ("a.jsonl.gz", b"{}", "a.jsonl.gz is no gzip file, or is damaged"),
    ],
)
def test_a_stream_that_can_t_be_read_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    block: int,
    name: str,
    content: bytes,
    message: str,
) -> None:
    monkeypatch.setattr(profile_files, "_BLOCK", block)
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        list(open_rows(path))
    assert str(refused.value).startswith(message)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rows.jsonl does not exist"):
        open_rows(tmp_path / "rows.jsonl")
    with pytest.raises(InputError, match="is a folder, not a table"):
        open_rows(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"data": [{"x": 1}', "line 1: no JSON, or cut off, in the member that starts here"),
        ('{"a": 1,\n"data": [{"x": 1}]', "line 2: the object is never closed"),
        ('{"a": 1 "data": []}', "line 1: the object is never closed"),
        ('{"data": [{"x": 1}], "data": []}', "the key 'data' stands twice"),
        ('{"data": [{"x": 1}]} {}', "has more text after its object"),
        ('{"data": {}}', "holds no list of rows"),
        ('{"data": []}', "has no rows"),
        ("{}", r"is an object without the key 'data'; its keys are \(none\)"),
        ('{"data": [{"x": 1, "x": 2}]}', "the key 'x' stands twice in one object"),
    ],
)
def test_a_damaged_wrapper_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrapped.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_rows(path, envelope="data")


def test_labelled_facts_are_pairs_and_their_ratings(empty: Study) -> None:
    pairs = add(empty, "factscore", "pairs")
    assert (pairs.rows, pairs.new, len(pairs.left_out)) == (3, 4, 1)
    ratings = add(empty, "factscore", "ratings")
    assert (ratings.rows, ratings.new) == (3, 3)
    assert ratings.notes[-2:] == (
        "a fact is irrelevant (IR) and has no verdict: 1 row",
        "1 row left out, the first on line 3: annotations is null: the answer was not labelled",
    )
    items = {item.item_id: item for item in empty.items()}
    frame = empty.ratings().frame
    assert [
        (items[item].reference, items[item].predicted, rating)
        for item, rating in zip(frame["item_id"], frame["rating"], strict=True)
    ] == [
        ("Ada Muster", "Ada Muster is a rower.", "CORRECT"),
        ("Ada Muster", "Ada Muster is from Basel.", "INCORRECT"),
        ("Max Beispiel", "Max Beispiel was a mayor.", "CORRECT"),
    ]
    assert set(frame["kind"]) == {"annotator"}
    # Another system's facts about the same topics are other items.
    assert add(empty, "factscore", "pairs", system="beta").new == 4


def test_a_file_of_which_nothing_can_be_taken_is_refused(empty: Study, tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_text('{"input": "?", "topic": "t", "annotations": []}\n', encoding="utf-8")
    with pytest.raises(InputError, match="facts.jsonl holds no pairs; give the file"):
        add(empty, "factscore", "pairs", path)


def test_rows_that_are_no_list_questions_are_left_out_and_told(empty: Study) -> None:
    questions = add(empty, "lmkbc", "questions")
    assert [row.line for row in questions.left_out] == [2]
    responses = add(empty, "lmkbc", "responses")
    assert [row.line for row in responses.left_out] == [2]
    assert len(empty.ledger.responses()) == 2


def test_strata_of_responses_are_kept(empty: Study) -> None:
    add(empty, "loft-allof", "questions")
    add(empty, "loft-allof", "responses", strata=("num_turns",))
    assert [response.fields for response in empty.ledger.responses()] == [{"num_turns": "1"}] * 2
    with pytest.raises(InputError, match=r"has no column 'turns' \(--strata\)"):
        add(empty, "loft-allof", "responses", strata=("turns",))


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_the_example_rows_are_of_the_format(empty: Study, tmp_path: Path, profile: Any) -> None:
    shutil.copytree(SAMPLES / "widesearch_gold", tmp_path / "widesearch_gold")
    for role in profile.roles:
        row = profile.examples.get(role) or profile.examples["pairs"]
        path = tmp_path / f"{role}.json"
        keyed = role == "responses" and profile.keyed
        path.write_text(json.dumps(row if keyed else [row]), encoding="utf-8")
        mapping = (
            {"question": "Frage", "reference": "Antwort"}
            if profile.by_mapping and role == "questions"
            else None
        )
        system = None if role == "questions" else "alpha"
        added = empty.add_outside(path, profile, role, mapping=mapping, system=system)
        assert added.new, role
    assert set(profile.becomes) == set(profile.fields) == set(profile.roles) or profile.refused


def test_formats_are_all_there_and_the_nearest_is_named() -> None:
    assert set(FILES) - {"mapping.toml", "mapping-anyof.json"} == set(PROFILES)
    assert known_profile("mapping") is MAPPING and find_profile(" QAMPARI ").name == "qampari"
    for name, near in (
        ("qampri", "did you mean 'qampari'? "),
        ("loft", "did you mean 'loft-allof' or 'loft-anyof'? "),
        ("zzz", "accord profiles lists"),
    ):
        with pytest.raises(SettingsError) as refused:
            find_profile(name)
        assert str(refused.value).startswith(f"format {name!r} is unknown; {near}")
    with pytest.raises(SettingsError, match="--format mapping names no file"):
        find_profile("mapping")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("list = 'all'", "list is 'all'; say what several texts mean"),
        ("list = 'all-of'", "has neither [questions] nor [responses]"),
        ("list = ", "is no TOML: Invalid value (at end of document)"),
        ("list = 'text'\nquestion = 'q'", "the file has an unknown key 'question'"),
        ("list = 'text'\n[questions]\nquestion = 'q'", "[questions] names no reference"),
        ("list = 'text'\n[questions]\nquery = 'q'", "[questions] has an unknown key 'query'"),
        ("list = 'text'\n[questions]\nquestion = 1", "[questions] question is 1; write question"),
        ("list = 'text'\nquestions = 1", "questions is no table; write it as [questions]"),
        ("list = 'text'\n[questions]\nstrata = 'a'", "strata is 'a'; write strata = [\"a\", "),
        ("list = 'text'\nseparator = ''", "separator is ''; write it as separator"),
        ("list = 'text'\n[responses]\nresponse = 'r'", "names neither question_id nor question"),
    ],
)
def test_a_mapping_file_that_can_t_be_used_is_refused(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        find_profile(str(path))
    assert str(refused.value).startswith("own.toml")
    assert message in str(refused.value)


def test_a_mapping_file_is_toml_or_json(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(SettingsError, match="own.json holds no table"):
        find_profile(str(path))
    path.write_text("{", encoding="utf-8")
    with pytest.raises(SettingsError, match="own.json is no JSON"):
        find_profile(str(path))
    with pytest.raises(AccordError, match="missing.toml does not exist"):
        find_profile(str(tmp_path / "missing.toml"))


@pytest.mark.parametrize(
    ("name", "role", "options", "message"),
    [
        ("qampari", "ratings", {}, "format 'qampari' holds no ratings; bring it in --as questions"),
        ("qampari", "responses", {"system": None}, "does not say which system answered; add --sys"),
        ("qampari", "questions", {"mapping": {"answers": "x"}}, "which is no field of format"),
        ("qampari", "questions", {"mapping": {"qid": "id"}}, r"no column 'id' \(--map qid=id\)"),
        ("knowledgeberg-csv", "questions", {"mapping": {}}, "--map question=COLUMN,reference=COL"),
    ],
)
def test_a_wrong_option_is_refused(
    empty: Study, name: str, role: Role, options: dict[str, Any], message: str
) -> None:
    if role == "responses":
        add(empty, name, "questions")
    with pytest.raises(AccordError, match=message):
        add(empty, name, role, **options)


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    status = cli.main(list(map(str, words)))
    out = capsys.readouterr()
    return status, out.out, out.err


def test_the_command_brings_a_format_in(
    empty: Study, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = SAMPLES / "qampari.jsonl"
    status, out, _ = run(
        capsys, "add", empty.path, path, "--as", "questions", "--format", "qampari"
    )
    assert (status, out.splitlines()[0]) == (0, "qampari.jsonl: 2 questions added")
    options = ("--as", "responses", "--format", "qampari", "--variant", "short")
    status, _, err = run(capsys, "add", empty.path, path, *options)
    assert (status, err) == (
        2,
        "accord: qampari.jsonl does not say which system answered; add --system NAME\n",
    )
    status, out, _ = run(capsys, "add", empty.path, path, *options, "--system", "alpha", "--json")
    assert status == 0 and json.loads(out)["new"] == 2
    assert {(r.system, r.variant) for r in empty.ledger.responses()} == {("alpha", "short")}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("questions", "--system", "a"), "--system goes with --format only; give the file a col"),
        (("questions", "--format", "qampari", "--variant", "a"), "--variant does not go with --as"),
        (("ratings", "--format", "factscore", "--wide"), "--wide does not go with --format"),
        (("questions", "--format", "qampri"), "format 'qampri' is unknown; did you mean 'qampari"),
    ],
)
def test_options_that_do_not_go_together(
    empty: Study, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    status, _, err = run(capsys, "add", empty.path, SAMPLES / "qampari.jsonl", "--as", *words)
    assert status == 2
    assert err.startswith(f"accord: {message}") and err.count("\n") == 1


def test_the_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "profiles")
    listed = {line.split("  ")[0]: line for line in out.splitlines() if "  " in line}
    assert status == 0 and set(PROFILES) | {"mapping"} <= set(listed)
    for profile in PROFILES.values():
        example = json.dumps(next(iter(profile.examples.values())), ensure_ascii=False)
        assert f"  {example}\n" in out, profile.name
    assert "any-of" in listed["truthfulqa"] and "refused" in listed["truthfulqa"]
    assert "all-of" in listed["loft-allof"] and "responses" in listed["loft-allof"]
    status, out, _ = run(capsys, "profiles", "--json")
    assert status == 0 and len(json.loads(out)["profiles"]) == len(PROFILES) + 1


@pytest.mark.parametrize("name", [*PROFILES, "mapping"])
def test_a_format_is_shown(capsys: pytest.CaptureFixture[str], name: str) -> None:
    profile = known_profile(name)
    status, out, _ = run(capsys, "profiles", name)
    assert status == 0
    assert out.startswith(f"{name}: {profile.about}\nlist: {profile.rule}\n")
    for role, row in profile.examples.items():
        assert f"example ({role}): {json.dumps(row, ensure_ascii=False)}" in out
    assert ("not confirmed: " in out) == (profile.unconfirmed is not None)
    assert ("refused for list scoring: " in out) == (profile.refused is not None)
    status, out, _ = run(capsys, "profiles", name, "--json")
    (shown,) = json.loads(out)["profiles"]
    assert (shown["name"], shown["list"]) == (name, profile.rule)


def test_an_unknown_format_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "profiles", "bioask")
    assert (status, out) == (2, "")
    assert err == (
        "accord: format 'bioask' is unknown; did you mean 'bioasq'? accord profiles lists the "
        "formats; a mapping file ends in .toml or .json\n"
    )


def test_unanswerable_questions_and_their_responses_are_left_out(
    empty: Study, tmp_path: Path
) -> None:
    gold = json.loads((SAMPLES / "multispanqa.json").read_text(encoding="utf-8"))
    gold["data"][1] |= {"label": ["O", "O"], "num_span": 0}
    path = tmp_path / "gold.json"
    path.write_text(json.dumps(gold), encoding="utf-8")
    questions = add(empty, "multispanqa", "questions", path)
    assert questions.new == 1
    assert questions.notes == (
        "1 row left out, the first on line 1, row 2: no span is labelled, and a list score needs "
        "an element",
    )
    responses = add(empty, "multispanqa", "responses")
    assert [(row.line, row.reason) for row in responses.left_out] == [
        (2, "its question was left out")
    ]
    # A question that nobody left out is a mistake.
    path = tmp_path / "other.json"
    path.write_text('{"m1": ["a"], "m2": [], "m3": []}', encoding="utf-8")
    with pytest.raises(InputError, match="question_id 'm3' is not in the study") as refused:
        add(empty, "multispanqa", "responses", path, system="beta")
    assert len(refused.value.rows) == 1


def test_whatever_stands_in_a_row_is_taken_or_refused_in_words(tmp_path: Path) -> None:
    """Example rows with values exchanged, dropped, nested: no traceback, and one line."""
    draw = random.Random(20)
    odd = ["", " ", "1", "[", '["a"]', "(a, b), (c", "\u2028", 0, -1.5, True, None, [], [[]], {}]

    def changed(value: Any) -> Any:
        if draw.random() < 0.12:
            return draw.choice(odd)
        if isinstance(value, dict):
            return {key: changed(inner) for key, inner in value.items() if draw.random() > 0.04}
        return [changed(inner) for inner in value] if isinstance(value, list) else value

    path = tmp_path / "rows.json"
    outcomes = Counter[bool]()
    for profile in list(PROFILES.values()) * 12:
        for role in profile.roles:
            row = profile.examples.get(role) or profile.examples["pairs"]
            keyed = profile.keyed and role == "responses"
            path.write_text(json.dumps(changed(row) if keyed else [changed(row), changed(row)]))
            named = profile.by_mapping and role == "questions"
            mapping = {"question": "Frage", "reference": "Antwort"} if named else None
            try:
                table = read_outside(path, profile, role, mapping=mapping, system="alpha")
                if role == "questions":
                    intake.read_questions(table, {}, {})
                outcomes[True] += 1
            except AccordError as error:
                assert "\n" not in str(error)
                outcomes[False] += 1
    assert min(outcomes.values()) > 20
