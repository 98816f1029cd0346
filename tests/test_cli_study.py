"""The commands ``init``, ``add``, ``score`` and ``doctor``, run as a user runs them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accord.cli import score
from accord.study import ScoreReport, Study
from small_study import write

QUESTIONS = '{"question_id": "q1", "question": "Who?", "reference": ["John", "Paul"]}\n'
RESPONSES = (
    '{"question_id": "q1", "system": "alpha", "response": "1. John\\n2. Paul"}\n'
    '{"question_id": "q1", "system": "beta", "response": "1. John\\n2. Ringo"}\n'
    '{"question_id": "q1", "system": "mute", "response": ""}\n'
)
PAIRS = (
    "id,q,text,gold,answer\n"
    'p1,q1,Capital?,"[""Paris"", ""Paname""]",paris\n'
    "p2,q2,River?,Seine,Rhone\n"
)
WIDE = "item_id,ann,bob,gpt,final\np1,Yes,Yes,Yes,Yes\np2,No,,,No\n"
MAP = "item_id=id,question_id=q,question=text,reference=gold,predicted=answer"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    Path("questions.jsonl").write_text(QUESTIONS)
    Path("responses.jsonl").write_text(RESPONSES)
    Path("pairs.csv").write_text(PAIRS)
    Path("wide.csv").write_text(WIDE)


Runner = Callable[..., tuple[int, str, str]]


@pytest.fixture
def study(accord: Runner) -> str:
    assert accord("init", "s")[0] == 0
    assert accord("add", "s", "questions.jsonl", "--as", "questions")[0] == 0
    assert accord("add", "s", "responses.jsonl", "--as", "responses")[0] == 0
    return "s"


def content(study: str = "s") -> list[Any]:
    """All rows of the ledger, and the other files."""
    raw = sqlite3.connect(Path(study) / "ledger.sqlite")
    names = [row[0] for row in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    rows = [(name, raw.execute(f"SELECT * FROM {name}").fetchall()) for name in names]
    raw.close()
    files = [p for p in sorted(Path(study).rglob("*")) if p.is_file() and "ledger" not in p.name]
    return [rows, [(p.name, p.read_bytes()) for p in files]]


def test_the_way_from_nothing_to_scores(accord: Runner) -> None:
    status, out, err = accord("init", "s", "--recipe", "listqa", "--seed", "4")
    assert (status, err) == (0, "")
    assert out.startswith("s is a study now (recipe listqa)")
    status, out, _ = accord("add", "s", "questions.jsonl", "--as", "questions")
    assert (status, out) == (0, "questions.jsonl: 1 questions added\n")
    status, out, _ = accord("add", "s", "responses.jsonl", "--as", "responses")
    assert (status, out) == (0, "responses.jsonl: 3 responses added\n")
    status, out, _ = accord("add", "s", "responses.jsonl", "--as", "responses")
    assert out == "responses.jsonl: already there, nothing added (3 responses)\n"
    status, out, err = accord("score", "s")
    assert (status, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    head = next(row for row in rows if row[:1] == ["system"])
    table = {row[0]: dict(zip(head, row, strict=True)) for row in rows if len(row) == len(head)}
    assert table["alpha"]["Judge-F1"] == "1.0000"
    assert table["beta"]["Judge-F1"] == "0.5000"  # one of two, on both sides
    assert (table["mute"]["Judge-F1"], table["mute"]["empty"]) == ("0.0000", "1")


def test_json_is_the_envelope_and_nothing_else(accord: Runner, study: str) -> None:
    status, out, err = accord("score", study, "--json")
    payload = json.loads(out)
    assert (status, err, payload["command"]) == (0, "", "score")
    assert {row["system"]: row["figures"]["llm_judge_f1"] for row in payload["results"]} == {
        "alpha": 1.0,
        "beta": 0.5,
        "mute": 0.0,
    }
    assert len(payload["settings"]["recipe_sha256"]) == len(payload["input"]["sha256"]) == 64
    payload = json.loads(accord("init", "t", "--json")[1])
    assert payload["recipe"] == "listqa"
    payload = json.loads(accord("add", "t", "questions.jsonl", "--as", "questions", "--json")[1])
    assert (payload["new"], payload["already"]) == (1, 0)


def test_pairs_and_wide_ratings_with_other_names(accord: Runner) -> None:
    accord("init", "s")
    status, out, _ = accord("add", "s", "pairs.csv", "--as", "pairs", "--map", MAP)
    assert (status, out) == (0, "pairs.csv: 2 pairs added\n")
    wide = ("--wide", "--annotators", "ann,bob", "--judges", "gpt", "--final", "final")
    labels = ("--labels", "Yes=CORRECT,No=INCORRECT")
    status, out, err = accord("add", "s", "wide.csv", "--as", "ratings", *wide, *labels)
    assert (status, err) == (0, "")
    assert out.startswith("wide.csv: 7 ratings added\n")
    with Study.open("s") as opened:
        assert opened.ledger.raters() == {
            "ann": "annotator",
            "bob": "annotator",
            "gpt": "judge",
            "final": "adjudicated",
        }
    status, out, _ = accord("score", "s")
    assert status == 0 and "Share correct" in out and "Judge-F1" not in out


@pytest.mark.shared_data
def test_real_labels_in_a_study_give_the_published_agreement(
    accord: Runner, shared_data: Path
) -> None:
    """Figures of data/openqa_eval/reference.json; the counts are those of its items.csv."""
    items = str(shared_data / "openqa_eval" / "items.csv")
    accord("init", "s")
    names = ("--map", "reference=gold_answers,predicted=answer")
    assert accord("add", "s", items, "--as", "pairs", *names)[0] == 0
    judges = "judge_gpt4,judge_davinci003,judge_bem"
    wide = ("--wide", "--annotators", "annotator1,annotator2", "--judges", judges)
    labels = ("--final", "human", "--labels", "Yes=CORRECT,No=INCORRECT")
    status, out, _ = accord("add", "s", items, "--as", "ratings", *wide, *labels)
    assert status == 0 and "8933 ratings added" in out  # 6 x 1,490 less 7 blanks of annotator2
    with Study.open("s") as study:
        texts = {item.item_id: (item.question, item.predicted) for item in study.items()}
        frame = study.ratings().frame
    assert len(texts) == 1490 and texts["i1115"] == texts["i1117"]
    pivot = frame.pivot(index="item_id", columns="rater", values="rating")
    people = pivot[["annotator1", "annotator2"]].dropna()
    assert len(people) == 1483
    agreement = (people["annotator1"] == people["annotator2"]).mean()
    assert round(100 * agreement, 2) == 86.85
    judged = pivot[["judge_gpt4", "human"]].dropna()
    assert len(judged) == 1488
    counts = judged.value_counts().to_dict()
    assert counts == {
        ("CORRECT", "CORRECT"): 679,
        ("CORRECT", "INCORRECT"): 89,
        ("INCORRECT", "CORRECT"): 137,
        ("INCORRECT", "INCORRECT"): 583,
    }
    unscored = frame[frame["status"] == "unscored"]
    assert set(unscored["rater"]) == {"judge_gpt4"} and len(unscored) == 2


def test_two_processes_give_the_same(accord: Runner, study: str) -> None:
    alone = accord("score", study, "--json")[1]
    assert accord("score", study, "--json", "--jobs", "2")[1] == alone


def test_a_judge_may_be_asked_more_than_once(accord: Runner, study: str) -> None:
    # Only a model may say something else the second time.
    status, out, _ = accord("score", study, "--judge", "rouge", "--judge", "exact", "--repeat", "2")
    assert status == 0
    judges = [line for line in out.splitlines() if line.startswith("judge ")]
    assert judges == ["judge rouge", "judge exact"]


DEAD = """
[judge.dead]
type = "openai"
endpoint = "http://127.0.0.1:9/v1"
model = "m"
[judge.exact]
type = "exact"
"""


def test_a_judge_that_is_not_there_hides_no_other(accord: Runner, study: str) -> None:
    with Path("s/study.toml").open("a") as file:
        file.write(DEAD)
    status, out, err = accord("score", study)
    assert status == 2
    assert [line for line in out.splitlines() if line.startswith("judge ")] == ["judge exact"]
    assert err.count("\n") == 1 and "judge dead: http://127.0.0.1:9/v1 can't be reached" in err
    assert "scores by exact" in accord("doctor", study)[1]
    status, out, err = accord("score", study, "--json")
    payload = json.loads(out)
    assert status == 2 and list(payload["failed"]) == ["dead"]
    assert {row["judge"] for row in payload["results"]} == {"exact"}
    status, out, err = accord("score", study, "--judge", "dead")
    assert (status, out) == (2, "") and err.count("\n") == 1


def test_doctor_asks_each_endpoint(
    accord: Runner, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("GONE_API_KEY", raising=False)
    with Path("s/study.toml").open("a") as file:
        file.write(DEAD + '[judge.keyless]\ntype = "openai"\nendpoint = "http://127.0.0.1:9/v1"\n')
        file.write('model = "m"\napi_key_env = "GONE_API_KEY"\n')
    accord("score", study, "--judge", "exact")
    status, out, _ = accord("doctor", study)
    found = {line.split()[2]: line for line in out.splitlines() if " judge " in line}
    assert status == 1 and set(found) == {"dead", "keyless"}
    assert "can't be reached" in found["dead"] and "start the server" in found["dead"]
    assert "GONE_API_KEY" in found["keyless"] and "is not set" in found["keyless"]


def test_doctor_tells_people_s_ratings_from_judges(accord: Runner, study: str) -> None:
    accord("score", study)
    out = accord("doctor", study)[1]
    assert ", 0 ratings by people, " in out and " ratings by judges, " in out
    assert ", 0 ratings by judges" not in out


def test_an_unscored_verdict_is_said(accord: Runner, study: str) -> None:
    Path("s/verdicts.csv").write_text("item_id,verdict\nnobody,CORRECT\n")
    with Path("s/study.toml").open("a") as file:
        file.write('[judge.file]\ntype = "file"\npath = "verdicts.csv"\n')
    status, out, err = accord("score", study)
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == (
        "unscored: no verdict could be read; by the recipe they are in no figure"
    )


BAD: list[tuple[list[str], list[str]]] = [
    # arguments, what the one line must hold
    (["init", "s"], ["s is not empty", "name a new folder"]),
    (["init", "t", "--recipe", "nope"], ["recipe 'nope' is unknown", "listqa"]),
    (["add", "nowhere", "questions.jsonl", "--as", "questions"], ["no folder nowhere", "init"]),
    (["add", ".", "questions.jsonl", "--as", "questions"], ["no study.toml", "accord init"]),
    (["add", "s", "none.csv", "--as", "questions"], ["none.csv does not exist"]),
    (["add", "s", "questions.jsonl"], ["--as", "accord add --help"]),
    (["add", "s", "questions.jsonl", "--as", "answers"], ["answers", "accord add --help"]),
    (["add", "s", "notes.txt", "--as", "questions"], [".txt", ".csv"]),
    (["add", "s", "pairs.csv", "--as", "pairs"], ["no column 'question_id'", "--map question_id="]),
    (["add", "s", "pairs.csv", "--as", "pairs", "--map", "reference"], ["--map", "name=value"]),
    (["add", "s", "pairs.csv", "--as", "pairs", "--map", "refrence=gold"], ["'refrence'"]),
    (
        ["add", "s", "questions.jsonl", "--as", "questions", "--map", "orderd=type"],
        ["--map names 'orderd'", "columns are question_id, question, reference, ordered"],
    ),
    (
        ["add", "s", "wide.csv", "--as", "ratings", "--map", "itm=item_id"],
        ["--map names 'itm'", "columns are item_id, question_id"],
    ),
    (["add", "s", "pairs.csv", "--as", "pairs", "--map", "reference=gld"], ["'gld'", "'gold'"]),
    (["add", "s", "pairs.csv", "--as", "pairs", "--wide"], ["--wide does not go with --as pairs"]),
    (["add", "s", "questions.jsonl", "--as", "questions", "--strata", "x"], ["--strata does not"]),
    (["add", "s", "wide.csv", "--as", "ratings"], ["no column 'rater'", "--wide"]),
    (["add", "s", "wide.csv", "--as", "ratings", "--wide"], ["--wide needs the rater columns"]),
    (
        ["add", "s", "wide.csv", "--as", "ratings", "--wide", "--annotators", "eve"],
        ["wide.csv has no column 'eve' (--annotators)"],
    ),
    (
        ["add", "s", "wide.csv", "--as", "ratings", "--wide", "--annotators", "ann"],
        ["wide.csv, line 2: unknown label 'Yes'", "--categories"],
    ),
    (["add", "s", "latin1.csv", "--as", "questions"], ["latin1.csv", "UTF-8"]),
    (["add", "s", "cut.json", "--as", "questions"], ["cut.json"]),
    (["add", "s", "cut.csv.gz", "--as", "questions"], ["cut.csv.gz"]),
    (["add", "s", "twice.csv", "--as", "questions"], ["line 3", "'n' stands on line 2 already"]),
    (["add", "s", "blank.csv", "--as", "questions"], ["line 2: the reference is blank"]),
    (["add", "s", "other.csv", "--as", "questions"], ["'q1' is in the study with another"]),
    (["add", "s", "strange.csv", "--as", "responses"], ["line 2: question_id 'q9' is not in"]),
    (["score", "s", "--judge", "gpt"], ["no judge 'gpt'", "[judge.gpt]"]),
    (["score", "s", "--jobs", "0"], ["--jobs", "score --help"]),
    (["score", "s", "--jobs", "many"], ["--jobs", "score --help"]),
    (["score", "s", "--repeat", "0"], ["--repeat", "score --help"]),
    (["score", "."], ["no study.toml"]),
    (["score", "broken"], ["study.toml is no TOML", "line 2"]),
    (["score", "keyed"], ["study.toml", "[judge.m]", "OPENAI_API_KEY"]),
    (["score", "typed"], ["study.toml, [judge.m]", "type", "'openai'"]),
    (["score", "damaged"], ["ledger.sqlite is damaged"]),
    (["score", "newer"], ["newer accord", "install a newer accord"]),
    (["score", "bare"], ["no responses and no pairs", "accord add"]),
]


@pytest.fixture(scope="module")
def made_worse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files and studies with something wrong, made once."""
    folder = tmp_path_factory.mktemp("worse")
    (folder / "notes.txt").write_text("hello")
    text = "question_id,question,reference\nn,Où?,A\n"
    (folder / "latin1.csv").write_bytes(text.encode("latin-1"))
    (folder / "cut.json").write_text('[{"question_id": "n", "question": "?"')
    (folder / "cut.csv.gz").write_bytes(b"\x1f\x8b\x08\x00\x00")
    head = "question_id,question,reference\n"
    (folder / "twice.csv").write_text(f"{head}n,Who?,A\nn,Who?,A\n")
    (folder / "blank.csv").write_text(f"{head}n,Who?,\nm,Who?,\n")
    (folder / "other.csv").write_text(f"{head}q1,Who?,Ringo\nm,Who?,A\n")
    (folder / "strange.csv").write_text("question_id,system,response\nq9,s,A\nq1,s,A\n")
    (folder / "questions.jsonl").write_text(QUESTIONS)
    (folder / "responses.jsonl").write_text(RESPONSES)
    with Study.create(folder / "s") as made:
        made.add_questions(folder / "questions.jsonl")
        made.add_responses(folder / "responses.jsonl")
    settings = {
        "broken": "recipe = [\n!",
        "keyed": '[judge.m]\ntype = "openai"\napi_key = "hidden-value"',
        "typed": '[judge.m]\ntype = "oracle"',
    }
    for name in (*settings, "bare", "damaged", "newer"):
        Study.create(folder / name).close()
        if name in settings:
            (folder / name / "study.toml").write_text(settings[name])
    (folder / "damaged" / "ledger.sqlite").write_bytes(b"\0" * 9000)
    raw = sqlite3.connect(folder / "newer" / "ledger.sqlite")
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    return folder


@pytest.fixture
def worse(made_worse: Path, tmp_path: Path) -> None:
    """A copy of them where the test runs."""
    shutil.copytree(made_worse, tmp_path, dirs_exist_ok=True)


@pytest.mark.usefixtures("worse")
@pytest.mark.parametrize(
    ("arguments", "wanted"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD]
)
def test_a_mistake_is_one_line_with_a_cure_and_changes_nothing(
    accord: Runner, arguments: list[str], wanted: list[str]
) -> None:
    before = content()
    status, out, err = accord(*arguments)
    assert status == 2 and out == ""
    assert err.startswith("accord: ") and err.count("\n") == 1
    assert "; " in err  # what is wrong; what to do
    for part in wanted:
        assert part in err, err
    assert "hidden-value" not in err
    assert content() == before


@pytest.mark.parametrize("terminal", [True, False])
def test_a_table_of_labels_steers_no_terminal(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from accord.cli import labels

    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    labels._print("a,b\n\x1b[31m,2\n")
    shown = r"\u001b" if terminal else "\x1b"
    assert capsys.readouterr().out == f"a,b\n{shown}[31m,2\n"


@pytest.mark.usefixtures("worse")
def test_what_a_listed_row_quotes_steers_no_terminal(accord: Runner) -> None:
    file = Path("e\x1b[31m\nforged: line.csv")
    file.write_text("question_id,system,response\n,S,x\n,S,y\n")
    status, _, err = accord("add", "s", file, "--as", "responses", "--show-all")
    assert status == 2 and len(err.splitlines()) == 3
    assert "\x1b" not in err and r"e\u001b[31m forged: line.csv, line 3" in err


@pytest.mark.usefixtures("worse")
def test_all_bad_rows_are_listed_on_request(accord: Runner) -> None:
    _, _, err = accord("add", "s", "blank.csv", "--as", "questions")
    assert "(and 1 more bad row)" in err and "--show-all" in err
    status, _, err = accord("add", "s", "blank.csv", "--as", "questions", "--show-all")
    assert status == 2
    assert err.splitlines()[:2] == [
        "blank.csv, line 2: the reference is blank",
        "blank.csv, line 3: the reference is blank",
    ]


def test_a_second_writer_is_refused(accord: Runner, study: str) -> None:
    code = (
        "import sys\n"
        "from accord.study import Study\n"
        "with Study.open('s') as study, study.ledger.writing():\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdin is not None and holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        status, _, err = accord("score", study)
        assert status == 2 and f"pid {holder.pid}" in err and "another accord is writing" in err
        assert accord("doctor", study)[0] == 0  # looking is allowed
        holder.communicate("\n", timeout=60)
        assert accord("score", study)[0] == 0
    finally:
        holder.kill()
        holder.wait()


def test_a_kill_in_the_middle_of_scoring_leaves_a_sound_study(accord: Runner, study: str) -> None:
    accord("score", study)
    before = accord("score", study, "--json")[1]
    code = (
        "import os\n"
        "from accord.study import Study\n"
        "with Study.open('s') as study:\n"
        "    study.score(progress=lambda done, total: os.kill(os.getpid(), 9))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -9
    assert (Path("s") / "tables" / ".new").exists()  # it was in the middle
    status, out, _ = accord("doctor", study)
    assert status == 0 and "up to date" in out
    assert accord("score", study, "--json")[1] == before
    assert not (Path("s") / "tables" / ".new").exists()


def test_doctor_finds_nothing_in_a_sound_study(accord: Runner, study: str) -> None:
    accord("score", study)
    before = content()
    status, out, err = accord("doctor", study)
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == "all in order"
    assert "sound; 1 questions, 3 responses" in out and "scores by exact" in out
    assert content() == before
    payload = json.loads(accord("doctor", study, "--json")[1])
    assert payload["verdict"] == "YES"
    assert {row["name"] for row in payload["results"]} >= {"versions", "disk", "ledger", "tables"}
    assert accord("doctor")[0] == 0


@pytest.mark.parametrize(
    ("what", "wanted"),
    [
        ("settings", "unknown key 'seeed'"),
        ("ledger", "integrity"),
        ("no ledger", "does not exist"),
        ("tables", "can't be read"),
    ],
)
def test_doctor_says_what_is_wrong_and_what_to_do(
    accord: Runner, study: str, what: str, wanted: str
) -> None:
    accord("score", study)
    if what == "settings":
        Path("s/study.toml").write_text("seeed = 1\n")
    elif what == "no ledger":
        Path("s/ledger.sqlite").unlink()
    elif what == "tables":
        next(Path("s/tables").glob("pairs*")).write_bytes(b"PAR1")
    else:
        with Path("s/ledger.sqlite").open("r+b") as file:
            file.seek(4096 * 4)
            file.write(b"\xa5" * 4096 * 12)
    status, out, _ = accord("doctor", study)
    assert status == 1
    (line,) = [line for line in out.splitlines() if line.startswith("bad")]
    assert wanted in line and "; " in line
    assert out.splitlines()[-1] == "1 to put right"


def test_doctor_notes_tables_that_are_old_or_gone(accord: Runner, study: str) -> None:
    assert "not made yet; run accord score s" in accord("doctor", study)[1]
    accord("score", study)
    Path("more.jsonl").write_text('{"question_id": "q1", "system": "new", "response": "- John"}\n')
    accord("add", study, "more.jsonl", "--as", "responses")
    status, out, _ = accord("doctor", study)
    assert status == 0 and "older than the study's inputs" in out
    Path("s/tables/manifest.json").write_text("{")
    assert "can't be used; run accord score s; nothing is lost" in accord("doctor", study)[1]


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("0123456789abcdef0123456789abcdef01234567", "a legacy token"),
        ("eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl", "a personal access token"),
        ("something-else-entirely", "of no known kind"),
    ],
)
def test_doctor_names_the_token_s_kind_and_never_the_token(
    accord: Runner, monkeypatch: pytest.MonkeyPatch, token: str, kind: str
) -> None:
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", token)
    status, out, err = accord("doctor")
    assert status == 1
    assert f"LABEL_STUDIO_API_KEY is {kind}" in out
    assert [line for line in out.splitlines() if line.startswith("bad   Label Studio")]
    assert token not in out + err + accord("doctor", "--json")[1]


def test_commands_import_only_what_they_need() -> None:
    """``init`` and help text need neither pandas nor a server's client."""
    code = (
        "import sys\n"
        "from accord.cli import main\n"
        "main(['init', 'light'])\n"
        "heavy = {'pandas', 'scipy', 'pyarrow', 'openai', 'label_studio_sdk', 'statsmodels'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_what_a_model_had_to_do_is_said() -> None:
    """Retries of unreadable replies are calls too, and what stays unscored is counted."""
    row = {"judge": "m", "system": "s", "variant": "", "unscored": 2, "figures": {}}
    work = {"calls": 1203, "asked": 1200, "again": 3, "known": 5, "failed": 1, "unscored": 2}
    tokens = {"prompt_tokens": 900, "completion_tokens": 100}
    report = ScoreReport(
        (row,), {"name": "r", "unscored": "missing"}, "x", "y", {"m": work | tokens}
    )
    assert (
        "calls: 1,203 (1,000 tokens), asked again: 3, known already: 5, without a reply: 1, "
        "unscored: 2"
    ) in list(score._lines(report))


def test_a_blank_in_a_list_that_was_answered_is_left_out_and_told(accord: Runner) -> None:
    row = {"question_id": "q1", "system": "s", "response": ["", "John", " "]}
    Path("list.jsonl").write_text(json.dumps(row) + "\n")
    assert accord("init", "s")[0] == 0
    assert accord("add", "s", "questions.jsonl", "--as", "questions")[0] == 0
    status, out, _ = accord("add", "s", "list.jsonl", "--as", "responses")
    assert (status, "note: 2 blank elements of answers left out" in out) == (0, True)
    status, out, err = accord("score", "s", "--json")
    assert status == 0, err
    (found,) = json.loads(out)["results"]
    assert found["figures"]["llm_judge_f1"] == pytest.approx(2 / 3)


def test_a_script_that_the_tokenizer_does_not_read_is_told(accord: Runner) -> None:
    write(
        Path("q.jsonl"),
        [{"question_id": "q1", "question": "?", "reference": ["दिल्ली शहर", "Rhine", "東京タワー"]}],
    )
    write(Path("r.jsonl"), [{"question_id": "q1", "system": "s", "response": ["दिल्ली", "Rhine"]}])
    accord("init", "s")
    for file, role in (("q.jsonl", "questions"), ("r.jsonl", "responses")):
        assert accord("add", "s", file, "--as", role)[0] == 0
    said = "2 of 3 reference elements have no word that the tokenizer rouge reads"
    status, out, _ = accord("score", "s")
    assert (status, said in out, 'tokenizer = "unicode"' in out) == (0, True, True)
    (note,) = json.loads(accord("score", "s", "--json")[1])["notes"]
    assert note.startswith(said)
    settings = Path("s/study.toml")
    with settings.open("a", encoding="utf-8") as settings_file:
        settings_file.write('\n[conventions]\ntokenizer = "unicode"\n')
    assert json.loads(accord("score", "s", "--json")[1])["notes"] == []
