"""The ledger: append-only, one transaction a batch, one writer, and what it does when damaged."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accord.scoring.errors import AccordError, InputError, StudyError
from accord.scoring.replies import Reply, ReplyKey
from accord.study.ledger import (
    ExportedTask,
    FrameItem,
    GivenPair,
    InputFile,
    Ledger,
    Question,
    RatingRow,
    Response,
    Sample,
    StoredAnnotation,
)
from accord.study.schema import SCHEMA_VERSION

FRAME = [FrameItem("i1", ("a",), 1.0), FrameItem("i2", ("b", "c"), 0.25), FrameItem("i3", (), 0.0)]
SAMPLE = Sample("s1", "agreement", "srs", 3, {"by": ["type"]}, (("i2", 0.25), ("i1", 1.0)))
TASK = ExportedTask("s1", "i1", "hash", "pair", "1", "http://127.0.0.1:8080", 4, 17)
ANNOTATION = StoredAnnotation(
    "u1", "2026-01-01", "i1", "hash", "s1", "ann-1", {"result": ["\ud83d"]}, 4, 17, "label-studio"
)
KEY = ReplyKey("http://x/v1", "m", "p", "{}", "c")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.create(tmp_path / "ledger.sqlite") as made:
        yield made


def rating(rater: str = "ann", value: str | None = "CORRECT", **more: Any) -> RatingRow:
    return RatingRow(more.pop("item_id", "i1"), rater, more.pop("kind", "annotator"), value, **more)


def fill(ledger: Ledger) -> None:
    ledger.add_input(InputFile("gold.csv", "questions", "0" * 64, 1, options={"map": {}}))
    ledger.add_provenance("add", {"file": "gold.csv"})
    ledger.add_questions([Question("q1", "Which?", "1. A", {"type": "x"})])
    ledger.add_responses([Response("q1", "sys", '["A"]', "v", True, 12, {"run": "1"})])
    ledger.add_pairs([GivenPair("g1", "q1", "Which?", "A", "a", "h", ("B",), "s", "", 3, 2)])
    ledger.add_ratings([rating()])
    ledger.add_sample(SAMPLE, FRAME)
    ledger.add_exported([TASK])
    ledger.add_annotations([ANNOTATION])
    ledger.save([Reply(KEY, "CORRECT", "served", "f", "stop", 5, 2, 0.25, "now", 0, ("seed",))])


def test_everything_comes_back_as_it_went_in(ledger: Ledger) -> None:
    fill(ledger)
    (file,) = ledger.inputs()
    assert (file.name, file.role, file.rows, file.options) == (
        "gold.csv",
        "questions",
        1,
        {"map": {}},
    )
    assert [(row.action, row.detail) for row in ledger.provenance()] == [
        ("add", {"file": "gold.csv"})
    ]
    assert ledger.questions() == [Question("q1", "Which?", "1. A", {"type": "x"})]
    assert ledger.responses() == [Response("q1", "sys", '["A"]', "v", True, 12, {"run": "1"})]
    assert ledger.responses(["q1"]) == ledger.responses() and ledger.responses(["q2"]) == []
    assert ledger.pairs() == [GivenPair("g1", "q1", "Which?", "A", "a", "h", ("B",), "s", "", 3, 2)]
    assert ledger.rating_rows() == [rating()]
    assert ledger.raters() == {"ann": "annotator"}
    assert ledger.sample("s1") == SAMPLE and ledger.samples() == [SAMPLE]
    assert ledger.exported() == ledger.exported("s1") == [TASK] and ledger.exported("s2") == []
    assert ledger.annotations() == ledger.annotations("s1") == [ANNOTATION]
    found = ledger.find([KEY, ReplyKey("http://x/v1", "m", "p", "{}", "other")])
    assert found == {
        KEY: Reply(KEY, "CORRECT", "served", "f", "stop", 5, 2, 0.25, "now", 0, ("seed",))
    }
    assert ledger.damage() == []


def test_whatever_a_server_sends_the_replies_are_kept(ledger: Ledger) -> None:
    half, huge = "a\ud83d", 10**30
    ledger.save([Reply(KEY, half, half, half, half, huge, -huge, 0.25, "now")])
    text = "a\ufffd"
    kept = Reply(KEY, text, text, text, text, None, None, 0.25, "now")
    assert ledger.find([KEY]) == {KEY: kept}


def test_a_file_whose_name_is_no_text_can_be_a_source(ledger: Ledger) -> None:
    odd = replace(rating(), source="file:r\udcff.csv")
    assert ledger.add_ratings([odd]) == 1 and ledger.add_ratings([odd]) == 0
    assert [row.source for row in ledger.rating_rows()] == ["file:r\ufffd.csv"]


TABLES = (
    "input provenance question response given_pair rater rating sample sample_item exported "
    "annotation asked reply sample_frame"
).split()


@pytest.mark.parametrize("table", TABLES)
def test_no_row_is_ever_changed_or_deleted_by_whatever_program(ledger: Ledger, table: str) -> None:
    fill(ledger)
    # Not through the ledger: another program's connection meets the same guard.
    other = sqlite3.connect(ledger.path)
    (column,) = other.execute(f"SELECT name FROM pragma_table_info('{table}') LIMIT 1").fetchone()
    before = other.execute(f"SELECT * FROM {table}").fetchall()
    assert before
    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET {column} = {column}"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            other.execute(statement)
    assert other.execute(f"SELECT * FROM {table}").fetchall() == before
    other.close()


def test_the_guarded_tables_are_all_tables(ledger: Ledger) -> None:
    names = ledger.query("SELECT name FROM sqlite_schema WHERE type = 'table'")
    assert {name for (name,) in names} == set(TABLES)


def test_a_frame_is_kept_also_in_a_ledger_made_before_there_were_frames(ledger: Ledger) -> None:
    other = sqlite3.connect(ledger.path)
    other.execute("DROP TABLE sample_frame")
    other.close()
    assert ledger.frame("s1") == []
    ledger.add_sample(SAMPLE, FRAME)
    assert ledger.frame("s1") == FRAME
    with pytest.raises(StudyError, match="append-only"), ledger.transaction() as connection:
        connection.execute("DELETE FROM sample_frame")


def test_settings_of_the_file(ledger: Ledger) -> None:
    assert ledger.query("PRAGMA journal_mode") == [("wal",)]
    assert ledger.query("PRAGMA foreign_keys") == [(1,)]
    assert ledger.query("PRAGMA synchronous") == [(1,)]  # NORMAL


def test_the_latest_rating_counts_and_none_is_lost(ledger: Ledger) -> None:
    first, second = rating(value="CORRECT"), rating(value="INCORRECT", reasons=("r",), comment="c")
    assert ledger.add_ratings([first]) == 1
    assert ledger.add_ratings([first]) == 0
    assert ledger.add_ratings([second]) == 1
    assert ledger.rating_rows() == [second]
    assert ledger.add_ratings([first]) == 1  # changed her mind back: that is a new row
    assert ledger.rating_rows() == [first]
    assert ledger.rating_rows(history=True) == [first, second, first]


def test_one_batch_may_hold_both_a_rating_and_its_correction(ledger: Ledger) -> None:
    first, second = rating(value="CORRECT"), rating(value="INCORRECT")
    assert ledger.add_ratings([first, first, second]) == 2
    assert ledger.rating_rows() == [second]


def test_raters_and_items_are_kept_apart(ledger: Ledger) -> None:
    rows = [
        rating("a", "CORRECT"),
        rating("b", "INCORRECT"),
        rating("a", "UNSURE", item_id="i2"),
        rating("j", None, kind="judge", status="unscored", reasons=("empty",)),
        rating("b", None, item_id="i2", status="skipped"),
    ]
    assert ledger.add_ratings(rows) == 5
    assert ledger.rating_rows() == rows


def test_a_rater_is_of_one_kind(ledger: Ledger) -> None:
    ledger.add_ratings([rating("x")])
    with pytest.raises(InputError, match="'x' is known as annotator and can't be judge"):
        ledger.add_ratings([rating("y"), rating("x", kind="judge")])
    assert ledger.raters() == {"x": "annotator"}  # y is not half-added


@pytest.mark.parametrize(("value", "status"), [("CORRECT", "unscored"), (None, "rated")])
def test_a_rating_without_value_is_not_rated(ledger: Ledger, value: str, status: Any) -> None:
    with pytest.raises(InputError, match="status"):
        ledger.add_ratings([rating(value=value, status=status)])


def test_annotations_are_idempotent_and_edits_are_kept_beside(ledger: Ledger) -> None:
    from dataclasses import replace

    ledger.add_sample(SAMPLE, FRAME)
    edited = replace(ANNOTATION, updated_at="2026-01-02", raw={"result": []})
    assert ledger.add_annotations([ANNOTATION, ANNOTATION]) == 1
    assert ledger.add_annotations([ANNOTATION, edited]) == 1
    assert ledger.annotations() == [ANNOTATION, edited]
    assert ledger.add_annotations([replace(ANNOTATION, unique_id="u2", sample_id=None)]) == 1


def test_a_sample_id_is_taken_once(ledger: Ledger) -> None:
    from dataclasses import replace

    ledger.add_sample(SAMPLE, FRAME)
    ledger.add_sample(SAMPLE, FRAME)
    with pytest.raises(StudyError, match="another sample 's1'"):
        ledger.add_sample(replace(SAMPLE, seed=4))
    with pytest.raises(StudyError, match=r"no sample 's9'.*s1"):
        ledger.sample("s9")


@pytest.mark.parametrize("probability", [0.0, 1.5, float("nan")])
def test_an_inclusion_probability_is_in_0_to_1(ledger: Ledger, probability: float) -> None:
    with pytest.raises(AccordError):
        ledger.add_sample(Sample("s", "audit", "srs", 1, {}, (("i", probability),)))
    assert ledger.samples() == []


def test_rows_that_point_nowhere_are_refused(ledger: Ledger) -> None:
    cases: list[Callable[[], object]] = [
        lambda: ledger.add_responses([Response("q9", "s", "x")]),
        lambda: ledger.add_exported([TASK]),
        lambda: ledger.add_annotations([ANNOTATION]),
    ]
    for case in cases:
        with pytest.raises(StudyError, match="not there"):
            case()


def test_the_last_reply_of_a_key_is_found_among_many(ledger: Ledger) -> None:
    keys = [
        ReplyKey(endpoint, model, "p", "{}", f"c{content}", repeat)
        for endpoint in ("e1", "e2")
        for model in ("m1", "m2")
        for content in range(50)
        for repeat in range(2)
    ]
    ledger.save([Reply(key, f"first of {key}") for key in keys])
    ledger.save([Reply(key, f"second of {key}", attempt=1) for key in keys[::3]])
    ledger.save([])
    found = ledger.find([*keys, ReplyKey("e1", "m1", "p2", "{}", "c0")])
    assert {key: reply.text for key, reply in found.items()} == {
        key: f"{'second' if place % 3 == 0 else 'first'} of {key}" for place, key in enumerate(keys)
    }
    assert ledger.find([]) == {}


def test_half_a_character_in_a_reply_does_not_stop_the_run(ledger: Ledger) -> None:
    ledger.save([Reply(KEY, "cut \ud83d")])
    assert ledger.find([KEY])[KEY].text == "cut \ufffd"


def test_replies_may_be_saved_from_another_thread_during_a_run(ledger: Ledger) -> None:
    failures: list[BaseException] = []

    def save() -> None:
        try:
            for number in range(20):
                ledger.save([Reply(ReplyKey("e", "m", "p", "{}", str(number)), "x")])
        except BaseException as error:
            failures.append(error)

    with ledger.writing():
        threads = [threading.Thread(target=save) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(20):
            ledger.add_ratings([rating(f"r{number}")])
        for thread in threads:
            thread.join()
    assert failures == []
    assert ledger.query("SELECT count(*) FROM reply") == [(60,)]


@pytest.mark.parametrize("error", [RuntimeError("bug"), KeyboardInterrupt()])
def test_a_transaction_is_all_or_nothing(ledger: Ledger, error: BaseException) -> None:
    with pytest.raises(type(error)), ledger.transaction():
        ledger.add_questions([Question("q1", "?", "A")])
        ledger.add_ratings([rating()])
        raise error
    assert ledger.questions() == [] and ledger.rating_rows() == []
    ledger.add_questions([Question("q1", "?", "A")])  # and the ledger is still usable
    assert len(ledger.questions()) == 1


def test_a_process_that_is_killed_in_a_batch_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger.create(path) as ledger:
        ledger.add_ratings([rating()])
    code = (
        "import os, sys\n"
        "from accord.study.ledger import Ledger, Question\n"
        "ledger = Ledger(sys.argv[1])\n"
        "with ledger.transaction():\n"
        "    ledger.add_questions([Question(str(n), '?', 'A') for n in range(5000)])\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -9
    with Ledger(path) as ledger:
        assert ledger.damage() == []
        assert ledger.questions() == [] and ledger.rating_rows() == [rating()]
        ledger.add_questions([Question("q1", "?", "A")])  # its lock died with it


HOLD = (
    "import sys\n"
    "from accord.study.ledger import Ledger\n"
    "with Ledger(sys.argv[1]).writing():\n"
    "    print('held', flush=True)\n"
    "    sys.stdin.readline()\n"
)


def test_a_second_writer_is_told_who_is_writing_and_readers_go_on(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger.create(path).close()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin is not None and holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        with Ledger(path, patience=0.2) as ledger:
            assert ledger.rating_rows() == []
            with pytest.raises(StudyError, match=f"another accord is writing.*pid {holder.pid}"):
                ledger.add_ratings([rating()])
            holder.communicate("\n", timeout=30)
            ledger.add_ratings([rating()])
    finally:
        holder.kill()
        holder.wait()


def test_two_ledgers_of_one_process_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger.create(path) as one, Ledger(path, patience=0.1) as two:
        with one.writing(), pytest.raises(StudyError, match=f"pid {os.getpid()}"):
            two.add_ratings([rating("two")])
        one.add_ratings([rating("one")])
        two.add_ratings([rating("two")])
        assert {row.rater for row in one.rating_rows()} == {"one", "two"}


def test_a_ledger_of_a_newer_accord_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger.create(path).close()
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(StudyError, match="newer accord") as caught:
        Ledger(path)
    assert caught.value.cure == "install a newer accord"
    assert path.read_bytes() == before


def test_what_is_no_ledger_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="does not exist"):
        Ledger(tmp_path / "none.sqlite")
    raw = sqlite3.connect(tmp_path / "other.sqlite")
    raw.execute("CREATE TABLE x (y)")
    raw.close()
    with pytest.raises(StudyError, match="no accord ledger"):
        Ledger(tmp_path / "other.sqlite")
    (tmp_path / "text.sqlite").write_text("not a database, but long enough to have a header" * 9)
    with pytest.raises(StudyError, match="damaged"):
        Ledger(tmp_path / "text.sqlite")
    (tmp_path / "empty.sqlite").touch()
    with pytest.raises(StudyError, match="no accord ledger"):
        Ledger(tmp_path / "empty.sqlite")
    with pytest.raises(StudyError, match="there already"):
        Ledger.create(tmp_path / "empty.sqlite")


def test_damage_inside_the_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger.create(path) as ledger:
        ledger.add_questions([Question(f"q{n}", "?" * 300, "A" * 300) for n in range(500)])
    content = bytearray(path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096 * 4] = b"\xa5" * 4096 * 4
    path.write_bytes(content)
    with Ledger(path) as ledger:
        assert any("integrity" in line for line in ledger.damage())
        with pytest.raises(StudyError, match="damaged"):
            ledger.questions()


def test_a_row_that_points_nowhere_is_found_by_the_check(ledger: Ledger) -> None:
    raw = sqlite3.connect(ledger.path)  # foreign keys are off in a bare connection
    raw.execute("INSERT INTO response VALUES (NULL, 'q9', 's', '', 'x', 0, NULL, '{}')")
    raw.commit()
    raw.close()
    assert ledger.damage() == ["foreign key: response row 1 points to no question"]


READ_ONLY = (
    "import sys\n"
    "from accord.scoring.errors import StudyError\n"
    "from accord.study.ledger import Ledger, RatingRow\n"
    "with Ledger(sys.argv[1]) as ledger:\n"
    "    print(len(ledger.rating_rows()), len(ledger.find([])), ledger.writable)\n"
    "    try:\n"
    "        ledger.add_ratings([RatingRow('i', 'r', 'annotator', 'CORRECT')])\n"
    "    except StudyError as error:\n"
    "        print(error)\n"
)


def test_a_folder_that_cant_be_written_can_still_be_read(
    read_only: Callable[[Path], None], as_user: Callable[..., str], tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    with Ledger.create(folder / "ledger.sqlite") as ledger:
        ledger.add_ratings([rating()])
    read_only(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    lines = as_user(READ_ONLY, str(folder / "ledger.sqlite")).splitlines()
    assert lines[0] == "1 0 False"
    assert "can't be written" in lines[1] and "make the study's folder writable" in lines[1]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_full_disk_says_so(ledger: Ledger) -> None:
    with ledger.transaction() as connection:
        connection.execute("PRAGMA max_page_count = 1")
    big = [Question(f"q{n}", "?" * 4000, "A") for n in range(400)]
    with pytest.raises(StudyError, match="no space left"):
        ledger.add_questions(big)
    assert ledger.questions() == []
