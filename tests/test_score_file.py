"""``accord score FILE --recipe``: a benchmark's own file from rows to figures, as users run it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rating_model import RatingModel, rating_model, shown

Runner = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def science(**changes: Any) -> dict[str, Any]:
    row = {
        "prompt": {"default": "Answer."},
        "question": "Which?",
        "choices": {"text": ["Nucleus", "Mito"], "label": ["A", "B"]},
        "answerKey": "B",
        "answer": "",
        "type": "mcq-2-choices",
        "domain": "Biology",
        "details": {"level": "L1", "task": "literature_QA", "subtask": "x", "source": "made up"},
    }
    return {**row, **changes}


SUMMARY = {
    "type": "open-ended-qa",
    "answer": "Short.",
    "domain": "Physics",
    "details": {"level": "L2", "task": "L2_General", "subtask": "text_summary", "source": "x"},
}


def write(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_prediction_file_of_sciknoweval(accord: Runner) -> None:
    # Level 1: 2 of 3. Level 2: (3/4 + 0)/2, the third reply can't be read.
    write(
        "answers.jsonl",
        [
            science(response="The answer is **B**"),
            science(question="2", response="A or B"),
            science(question="3", response=r"\boxed{B}"),
            science(**SUMMARY, response="A summary", judge_reply="Rating: 4"),
            science(**SUMMARY, question="5", response=""),
            science(**SUMMARY, question="6", response="Another", judge_reply="Rating: 10"),
        ],
    )
    status, out, _ = accord("score", "answers.jsonl", "--recipe", "sciknoweval", "--json")
    assert status == 0
    payload = json.loads(out)
    (found,) = payload["results"]
    figures = {name: mean["value"] for name, mean in found["figures"].items()}
    assert figures["task-level-overall"] == pytest.approx((2 / 3 + 3 / 8) / 2, abs=1e-12)
    assert figures["sample-micro"] == pytest.approx(2.75 / 5, abs=1e-12)
    assert found["unread"] == {"several labels": 1}
    assert found["unscored"] == {"out of range": 1}
    assert payload["settings"]["recipe"]["rating_map"] == "(r-1)/4"
    assert payload["input"]["rows"] == 6

    changed = ("--set", "rating_map=r/5,aggregate=task-macro")
    status, out, _ = accord("score", "answers.jsonl", "--recipe", "sciknoweval", *changed)
    assert status == 0
    assert "ratings as r/5" in out
    # (2/3 + (4/5 + 0)/2)/2
    (line,) = [line for line in out.splitlines() if "<- the score" in line]
    assert line.split() == ["task-macro", "0.5333", "(n", "2)", "<-", "the", "score"]
    assert "unread answers count 0: several labels 1" in out
    assert "unscored judge replies are in no mean: out of range 1" in out


def test_answers_that_wait_for_a_rating_go_out_and_come_back(accord: Runner) -> None:
    rows = [
        science(response="B"),
        science(**SUMMARY, response="A summary"),
        science(**SUMMARY, question="3", response=""),
        science(**SUMMARY, question="4", response="Rated", judge_reply="Rating: 1"),
    ]
    write("answers.jsonl", rows)
    command = ("score", "answers.jsonl", "--recipe", "sciknoweval")
    status, out, _ = accord(*command, "--open", "open.csv")
    assert status == 0
    assert "answers without a judge's reply: 1; they are in open.csv" in out
    assert "unscored judge replies are in no mean: empty 1" in out
    with Path("open.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["metric"], row["predicted"], row["reference"]) == ("rating", "A summary", "Short.")
    assert row["question"] == "Answer.\nWhich?"
    Path("replies.csv").write_text(f"item_id,judge_reply\n{row['item_id']},4\n", encoding="utf-8")
    status, out, _ = accord(*command, "--verdicts", "replies.csv", "--json")
    assert status == 0
    (found,) = json.loads(out)["results"]
    # 3/4, an empty answer, and a rating of 1: 1/4.
    levels = {name: mean["value"] for name, mean in found["levels"].items()}
    assert levels == {"L1": 1, "L2": pytest.approx(1 / 4, abs=1e-12)}
    assert found["unscored"] == {}
    for content, said in (
        ("item_id,judge_reply\nzzz,4\n", "1 replies belong to no answer of answers.jsonl"),
        ("item_id,judge_reply\na,4\na,5\n", "line 3: item_id 'a' stands twice"),
    ):
        Path("replies.csv").write_text(content, encoding="utf-8")
        status, _, err = accord(*command, "--verdicts", "replies.csv")
        assert (status, said in err) == (2, True), err


def test_several_systems_and_csv_cells_that_hold_json(accord: Runner) -> None:
    with Path("answers.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [science(system="s", response="B"), science(system="t", response="A")]
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()}
            )
    status, out, _ = accord("score", "answers.csv", "--recipe", "sciknoweval", "--json")
    assert status == 0
    overall = {
        one["system"]: one["figures"]["task-macro"]["value"] for one in json.loads(out)["results"]
    }
    assert overall == {"s": 1, "t": 0}


def test_bad_rows_are_named_by_file_and_line(accord: Runner) -> None:
    write(
        "answers.jsonl",
        [
            science(response="B"),
            science(response="B", answerKey="E"),
            science(response="B", num_fewshot="3"),
        ],
    )
    status, _, err = accord("score", "answers.jsonl", "--recipe", "sciknoweval")
    assert status == 2
    assert "answers.jsonl, line 2: a multiple-choice row has the key 'E'" in err
    assert "(and 1 more bad row)" in err
    write("shots.jsonl", [science(response="B", variant="5-shot")])
    status, _, err = accord("score", "shots.jsonl", "--recipe", "sciknoweval")
    assert (status, "shots.jsonl, line 1: variant is '5-shot'" in err) == (2, True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"choices": {"text": 5, "label": ["A"]}}, "the key 'B' and the options ('A',): 'Which?'"),
        ({"choices": {"text": "ab", "label": "AB"}}, "the key 'B' and the options ()"),
        ({"choices": {"text": ["a", "b"], "label": [None, "B"]}}, "the options ()"),
        ({"choices": {"text": ["a", "b"], "label": ["B", "B"]}}, "the options ('B', 'B')"),
        ({"choices": ["a", "b"]}, 'choices is no JSON object but ["a", "b"]; write {"text"'),
        ({"details": None}, "a row has no details.level: 'Which?'; give the benchmark's rows"),
        ({"type": "essay"}, "no metric for the type 'essay'"),
        ({"response": ["B", "A"]}, 'response is a list of 2: ["B", "A"]; give one text'),
        ({"num_fewshot": 5}, "num_fewshot is '5'; ask without examples"),
        ({"id": "7"}, "the id '7' stands twice; give each row its own"),
    ],
)
def test_each_bad_row_is_told_with_its_line_its_value_and_what_to_do(
    changes: dict[str, Any], said: str, accord: Runner
) -> None:
    first = science(response="B", **({"id": "7"} if "id" in changes else {}))
    write("answers.jsonl", [first, {**science(response="B"), **changes}])
    status, out, err = accord("score", "answers.jsonl", "--recipe", "sciknoweval")
    assert (status, out, err.count("\n")) == (2, "", 1), err
    assert "answers.jsonl, line 2: " in err
    assert said in err


def test_all_bad_rows_of_a_file_are_listed_when_asked_for(accord: Runner) -> None:
    bad = [science(response="B", answerKey="E"), science(response="B", type="essay")]
    write("answers.jsonl", [science(response="B"), *bad])
    status, _, err = accord("score", "answers.jsonl", "--recipe", "sciknoweval")
    assert (status, "--show-all lists them" in err) == (2, True)
    status, _, err = accord("score", "answers.jsonl", "--recipe", "sciknoweval", "--show-all")
    assert status == 2
    assert "answers.jsonl, line 2: " in err
    assert "answers.jsonl, line 3: " in err


def test_tuples_may_come_as_a_list_and_variants_are_apart(accord: Runner) -> None:
    details = {"level": "L2", "task": "drug_drug_relation_extraction"}
    row = science(type="relation_extraction", details=details, answer="(a, advise, b)")
    write(
        "answers.jsonl",
        [
            {**row, "system": "s", "variant": "thinking", "response": [["a", "advise", "b"]]},
            {**row, "system": "s", "variant": "", "response": "(a, advise, c)"},
        ],
    )
    status, out, _ = accord("score", "answers.jsonl", "--recipe", "sciknoweval", "--json")
    assert status == 0
    overall = {
        one["system"]: one["figures"]["task-macro"]["value"] for one in json.loads(out)["results"]
    }
    assert sorted(overall.values()) == [0, 1]


@pytest.mark.parametrize("option", [("--jobs", "2"), ("--repeat", "2"), ("--fresh",)])
def test_what_only_a_study_does_is_refused_for_a_file(
    option: tuple[str, ...], accord: Runner
) -> None:
    write("answers.jsonl", [science(response="B")])
    status, _, err = accord("score", "answers.jsonl", "--recipe", "sciknoweval", *option)
    assert (status, f"{option[0]} is for a study, not for a file" in err) == (2, True)


def test_what_waits_is_written_without_formulas_and_never_over_a_file(accord: Runner) -> None:
    write("answers.jsonl", [science(**SUMMARY, response='=HYPERLINK("http://x.example")')])
    command = ("score", "answers.jsonl", "--recipe", "sciknoweval", "--open", "open.csv")
    assert accord(*command)[0] == 0
    content = Path("open.csv").read_text(encoding="utf-8")
    assert "'=HYPERLINK" in content
    status, _, err = accord(*command)
    assert (status, "open.csv is there already; name a new file" in err) == (2, True)
    assert Path("open.csv").read_text(encoding="utf-8") == content


def test_a_system_s_name_can_not_break_the_page(accord: Runner) -> None:
    write("answers.jsonl", [science(response="B", system="a\nsystem b: 9 rows")])
    status, out, _ = accord("score", "answers.jsonl", "--recipe", "sciknoweval")
    assert status == 0
    assert [line for line in out.splitlines() if line.startswith("system")] == [
        "system a system b: 9 rows: 1 rows"
    ]


BERG: list[dict[str, Any]] = [
    {
        "question_id": "q1",
        "question": "Which deserts?",
        "domain": "Geography",
        "language": "English",
        "reference": ["Gobi", "Kalahari", "Namib"],
        "response": "1. The Gobi\n2. Kgalagadi\n3. Mojave",
    },
    {
        "question_id": "k1",
        "domain": "Geography",
        "language": "English",
        "key": "A",
        "options": {"A": "Namib", "B": "Gobi"},
        "response": "B",
        "seed_id": "q1",
        "needed": ["Namib"],
    },
    {
        "question_id": "k2",
        "domain": "Geography",
        "language": "English",
        "key": "A",
        "options": {"A": "Gobi", "B": "Namib"},
        "response": "gobi",
        "seed_id": "q1",
        "needed": ["Gobi"],
    },
]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"options": ["Namib", "Gobi"]}, 'options is no JSON object but ["Namib", "Gobi"]; write'),
        ({"options": {"A": None, "B": "x"}}, "options: 'A' is no text but null"),
        ({"needed": "Namib"}, 'needed is no JSON list but "Namib"; write ["…", "…"]'),
        ({"needed": [None]}, "needed: place 1 is no text but null"),
        ({"needed": ["Sahara"]}, "needs 'Sahara', which is no element of 'q1'; name needed"),
        ({"response": ["B"]}, 'response is a list of 1: ["B"]; give one text'),
        ({"key": ""}, "question 'k1' has neither a reference nor a key; give"),
        ({"reference": ["x"]}, "question 'k1' has a reference and a key; give"),
    ],
)
def test_each_bad_row_of_knowledgeberg_is_told_with_its_line_and_what_to_do(
    changes: dict[str, Any], said: str, accord: Runner
) -> None:
    write("berg.jsonl", [BERG[0], {**BERG[1], **changes}])
    status, out, err = accord("score", "berg.jsonl", "--recipe", "knowledgeberg")
    assert (status, out, err.count("\n")) == (2, "", 1), err
    assert "berg.jsonl, line 2: " in err
    assert said in err


def test_knowledgeberg_from_open_pairs_to_verdicts(accord: Runner) -> None:
    write("berg.jsonl", BERG)
    command = ("score", "berg.jsonl", "--recipe", "knowledgeberg")
    status, out, _ = accord(*command, "--open", "open.csv")
    assert status == 0
    # Kgalagadi and Mojave beside Kalahari and Namib.
    assert "pairs without a judge's verdict, which match nothing: 4" in out
    assert "KRQ accuracy 0.5000 (1 of 2)" in out
    assert "missing knowledge 1.0000, not applied 0.0000 (of 1; unknown: 0)" in out

    with Path("open.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["predicted"], row["reference"]) for row in rows] == [
        ("Kgalagadi", "Kalahari"),
        ("Kgalagadi", "Namib"),
        ("Mojave", "Kalahari"),
        ("Mojave", "Namib"),
    ]
    with Path("verdicts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "verdict"])
        for row in rows:
            same = (row["predicted"], row["reference"]) == ("Kgalagadi", "Kalahari")
            writer.writerow([row["item_id"], "CORRECT" if same else "INCORRECT"])
    status, out, _ = accord(*command, "--verdicts", "verdicts.csv", "--json")
    assert status == 0
    (found,) = json.loads(out)["results"]
    # By rule 1, by verdict 1: 2 of 3 and 3.
    assert found["universe"]["universe_f1"]["value"] == pytest.approx(2 / 3, abs=1e-12)
    assert (found["counts"]["by_rule"], found["counts"]["by_judge"]) == (1, 1)
    assert found["counts"]["unscored"] == 0
    assert found["block"]["judge"]["type"] == "file"

    status, _, err = accord(*command, "--open", "open.csv")
    assert (status, "open.csv is there already" in err) == (2, True)


def test_variants_of_a_system_are_not_averaged_together(accord: Runner) -> None:
    """In a study a system's variants have figures of their own; so they have here."""
    rows = [
        {**science(response=answer), "system": "S\nforged", "variant": variant}
        for variant, answer in (("plain", "B"), ("thinking", "A"))
    ]
    rows += [
        {**science(**SUMMARY, response="Same"), "system": "S", "variant": variant}
        for variant in ("plain", "thinking")
    ]
    write("variants.jsonl", rows)
    command = ("score", "variants.jsonl", "--recipe", "sciknoweval")
    status, out, _ = accord(*command, "--open", "open.csv")
    assert status == 0 and "\nforged" not in out
    with Path("open.csv").open(encoding="utf-8", newline="") as file:
        ids = [row["item_id"] for row in csv.DictReader(file)]
    assert len(set(ids)) == 2
    replies = "".join(f"{name},{n}\n" for name, n in zip(ids, (5, 1), strict=True))
    Path("replies.csv").write_text(f"item_id,judge_reply\n{replies}", encoding="utf-8")
    _, out, _ = accord(*command, "--verdicts", "replies.csv", "--json")
    found = {one["system"]: one["figures"] for one in json.loads(out)["results"]}
    assert list(found) == ["S\nforged (plain)", "S\nforged (thinking)", "S (plain)", "S (thinking)"]
    means = [one["sample-micro"]["value"] for one in found.values()]
    assert means == [1.0, 0.0, 1.0, 0.0]


def test_what_is_written_out_is_no_formula_and_whole(accord: Runner) -> None:
    """A system's answer is opened in a spreadsheet by whoever fills in the verdicts."""
    answer = '=HYPERLINK("http://example.org","x")'
    write("answers.jsonl", [science(**SUMMARY, response=answer)])
    write("berg.jsonl", [{**BERG[0], "response": ["=1+1", "@x"]}])
    for file, recipe in (("answers.jsonl", "sciknoweval"), ("berg.jsonl", "knowledgeberg")):
        status, _, err = accord("score", file, "--recipe", recipe, "--open", f"{recipe}.csv")
        assert status == 0, err
        with Path(f"{recipe}.csv").open(encoding="utf-8", newline="") as opened:
            texts = [row["predicted"] for row in csv.DictReader(opened)]
        assert texts and all(text[:2] in ("'=", "'@") for text in texts)
    status, _, err = accord(
        "score", "berg.jsonl", "--recipe", "knowledgeberg", "--open", "no/o.csv"
    )
    assert status == 2 and "no/o.csv can't be written" in err


@pytest.mark.parametrize("option", [["--fresh"], ["--repeat", "2"], ["--retry-unscored"]])
def test_no_option_of_a_study_is_passed_over(accord: Runner, option: list[str]) -> None:
    write("berg.jsonl", BERG)
    status, _, err = accord("score", "berg.jsonl", "--recipe", "knowledgeberg", *option)
    assert status == 2 and f"{option[0]} is for a study" in err


def _same_initial(body: dict[str, Any]) -> str:
    """Calls two names the same if both begin with K."""
    texts = re.findall(r"<text \w+>\n(.*?)\n</text", shown(body), re.S)
    same = all(text.startswith("K") for text in texts[1:])
    return json.dumps({"verdict": "CORRECT" if same else "INCORRECT"})


@pytest.fixture
def model(openai_settings: None) -> Iterator[RatingModel]:
    with rating_model(_same_initial) as found:
        yield found


def test_a_model_of_a_study_judges_and_is_asked_nothing_twice(
    accord: Runner, model: RatingModel
) -> None:
    write("berg.jsonl", BERG)
    assert accord("init", "judges", "--recipe", "listqa")[0] == 0
    with Path("judges/study.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[judge.m]\ntype = "openai"\nmodel = "m"\nendpoint = "{model.url}"\n')
        file.write('prompt = "same_name"\n')
    command = ("score", "berg.jsonl", "--recipe", "knowledgeberg", "--judge", "m", "--json")
    status, out, err = accord(*command, "--judges-of", "judges")
    assert status == 0, err
    payload = json.loads(out)
    (found,) = payload["results"]
    # By rule 1, by the model 1 (Kgalagadi beside Kalahari): 2 of 3 and 3.
    assert found["universe"]["universe_f1"]["value"] == pytest.approx(2 / 3, abs=1e-12)
    assert found["counts"]["unscored"] == 0
    assert found["block"]["judge"]["model"] == "m"
    assert (len(model.bodies), payload["work"]["m"]["calls"]) == (4, 4)

    status, out, _ = accord(*command, "--judges-of", "judges")
    assert (status, len(model.bodies)) == (0, 4)
    again = json.loads(out)
    assert again["results"] == payload["results"]
    assert again["work"]["m"]["known"] == 4
    status, _, err = accord(*command[:-2], "n", "--judges-of", "judges")
    assert (status, "there is no judge 'n'" in err) == (2, True)


def test_other_column_names_and_conventions(accord: Runner) -> None:
    write(
        "berg.jsonl",
        [
            {"id": "q1", "gold": ["Gobi"], "response": "1. Gobi\n2. gobi"},
            {"id": "q2", "answerKey": "C", "response": "C"},
        ],
    )
    status, out, _ = accord(
        *("score", "berg.jsonl", "--recipe", "knowledgeberg", "--json"),
        *("--map", "question_id=id,reference=gold,key=answerKey", "--set", "duplicates=collapse"),
    )
    assert status == 0
    (found,) = json.loads(out)["results"]
    assert found["universe"]["universe_f1"]["value"] == 1
    assert found["counts"]["duplicates"] == 1
    assert found["accuracy"]["accuracy"] == 1
    assert found["universe_by_domain_and_language"][0]["domain"] == "all"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question_id": "q", "response": "x"}, "give a reference (an enumeration) or a key"),
        ({"question_id": "", "key": "A", "response": "x"}, "question_id is blank"),
        ({"question_id": "q", "key": "Z", "response": "x"}, "the key 'Z' is none of A, B, C, D"),
        ({"question_id": "q", "key": "A", "response": "x", "domain": ""}, "domain is blank"),
        ({"question_id": "q", "key": "A", "response": "x", "options": "no"}, "options is no JSON"),
        ({"question_id": "q", "key": "A", "response": "x", "needed": "no"}, "needed is no JSON"),
        ({"question_id": "q1", "key": "A", "response": "x"}, "'q1' stands twice for '-'"),
    ],
)
def test_bad_rows_of_knowledgeberg(accord: Runner, row: dict[str, Any], said: str) -> None:
    first = {"question_id": "q1", "key": "A", "response": "A"}
    if "domain" in row:
        first["domain"] = "Geography"
    write("berg.jsonl", [first, row])
    status, _, err = accord("score", "berg.jsonl", "--recipe", "knowledgeberg")
    assert status == 2
    assert "berg.jsonl, line 2: " in err and said in err
    assert err.count("\n") == 1


def test_options_that_do_not_belong_together(accord: Runner) -> None:
    write("berg.jsonl", [{"question_id": "q", "key": "A", "response": "A"}])
    Path("folder").mkdir()
    for arguments, said in (
        (("berg.jsonl", "--recipe", "listqa"), "--recipe 'listqa' scores no file"),
        (("folder", "--recipe", "sciknoweval"), "folder is a folder"),
        (("berg.jsonl", "--set", "a=b"), "--set is for a file of answers"),
        (("berg.jsonl", "--recipe", "knowledgeberg", "--judge", "x"), "--judges-of go together"),
        (("berg.jsonl", "--judges-of", "x"), "--judges-of is for a file of answers"),
        (("berg.jsonl", "--recipe", "knowledgeberg", "--set", "a=b"), "no convention 'a'"),
        (("berg.jsonl", "--recipe", "sciknoweval", "--judge", "x"), "are for knowledgeberg"),
        (("berg.jsonl", "--recipe", "sciknoweval"), "has no column 'question'"),
    ):
        status, _, err = accord("score", *arguments)
        assert (status, said in err) == (2, True), err
