"""Bad input on every command that reads it: one line and the cure, exit 2, nothing changed."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from accord.cli import main
from accord.scoring.errors import AccordError, InputError, one_line, visible
from accord.scoring.files import read_whole, write_together, write_whole
from accord.study import Study
from accord.study.ledger import Ledger
from accord.study.readers import read_table
from accord.study.schema import explained

Outcome = tuple[int, str, str]
Runner = Callable[..., Outcome]

QUESTIONS = "question_id,question,reference\nq1,Who?,John\nq2,Where?,Paris\n"
RESPONSES = "question_id,system,response\nq1,a,John\nq2,a,Rome\n"
PAIRS = "item_id,question_id,question,reference,predicted\n{}p1,q1,Who?,John,John\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a sample, an export and ratings, made once."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "questions.csv").write_text(QUESTIONS)
    (folder / "responses.csv").write_text(RESPONSES)
    study = str(folder / "s")
    assert main(["init", study]) == 0
    assert main(["add", study, str(folder / "questions.csv"), "--as", "questions"]) == 0
    assert main(["add", study, str(folder / "responses.csv"), "--as", "responses"]) == 0
    assert main(["sample", study]) == 0
    assert main(["export", study, "s1", "--to", str(folder / "tasks.json")]) == 0
    with Study.open(study) as opened:
        items = [item.item_id for item in opened.items()]
    rows = (f"{item},{rater},annotator,CORRECT\n" for item in items for rater in ("ann", "bob"))
    (folder / "ratings.csv").write_text("item_id,rater,kind,rating\n" + "".join(rows))
    assert main(["add", study, str(folder / "ratings.csv"), "--as", "ratings"]) == 0
    return folder


@pytest.fixture(autouse=True)
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it where the test runs, and no server."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "xdg" / name.lower()))
    return tmp_path


def content(study: str = "s") -> list[Any]:
    """Every row of the ledger and every other file."""
    raw = sqlite3.connect(Path(study) / "ledger.sqlite")
    names = [row[0] for row in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    rows = [(name, raw.execute(f"SELECT * FROM {name}").fetchall()) for name in names]
    raw.close()
    files = [p for p in sorted(Path(study).rglob("*")) if p.is_file() and "ledger" not in p.name]
    return [rows, [(str(p), p.read_bytes()) for p in files]]


def names() -> list[str]:
    """Everything that lies where the test runs, beside the user's own folders."""
    found = (path for path in Path().rglob("*") if "ledger" not in path.name)
    return sorted(str(path) for path in found if path.parts[0] != "xdg")


def refused(accord: Runner, *arguments: str, wanted: tuple[str, ...] = ()) -> str:
    """Run a command that must refuse, and check everything that a refusal promises."""
    before = content()
    there = names()
    status, out, err = accord(*arguments)
    assert (status, out) == (2, ""), err
    assert err.startswith("accord: ") and err.count("\n") == 1 and err.endswith("\n")
    assert "; " in err  # what is wrong; what to do
    assert len(err) < 1000
    assert visible(err) == err
    for part in wanted:
        assert part in err, err
    assert content() == before
    assert names() == there
    return err


# Every command that reads a table or an export; {} is the file.
TABLE_READERS: dict[str, list[str]] = {
    "add questions": ["add", "s", "{}", "--as", "questions"],
    "add responses": ["add", "s", "{}", "--as", "responses"],
    "add pairs": ["add", "s", "{}", "--as", "pairs"],
    "add ratings": ["add", "s", "{}", "--as", "ratings"],
    "add wide ratings": ["add", "s", "{}", "--as", "ratings", "--wide", "--annotators", "ann"],
    "agree": ["agree", "{}"],
    "agree wide": ["agree", "{}", "--wide", "--annotators", "ann,bob"],
    "audit": ["audit", "{}"],
    "parse": ["parse", "{}", "--field", "answer"],
}
JSON_READERS: dict[str, list[str]] = {
    "import": ["import", "s", "{}"],
    "report audit": ["report", "s", "--audit", "{}"],
}
DEEP = "[" * 10_000 + "]" * 10_000
WRONG_COLUMNS = "colour,size\nred,1\n"

# name of the file, its content, what the line must hold
BAD_TABLES: list[tuple[str, bytes, tuple[str, ...]]] = [
    ("columns.csv", WRONG_COLUMNS.encode(), ("columns.csv", "colour, size")),
    ("columns.jsonl", b"{}\n{}\n", ("columns.jsonl has no",)),
    ("doubled.csv", b"item_id,item_id\n1,2\n", ("doubled.csv, line 1", "'item_id'", "rename")),
    ("latin1.csv", "item_id\nOù\n".encode("latin-1"), ("latin1.csv, line 2: byte 0xf9", "UTF-8")),
    ("utf16.csv", "item_id\nOù\n".encode("utf-16"), ("utf16.csv is encoded as UTF-16", "UTF-8")),
    ("nul.csv", b"item_id\n1\n\0\n", ("nul.csv, line 3: a NUL byte",)),
    ("ragged.csv", b"item_id,b\n1\n", ("ragged.csv, line 2: 1 cells where the header has 2",)),
    ("quote.csv", b'item_id,b\n1,"2\n3,4\n', ("quote.csv, line 2", "never closed")),
    ("bare.csv", b"item_id,rating\n", ("bare.csv has a header but no rows",)),
    ("empty.csv", b"", ("empty.csv is empty",)),
    ("cut.json", b'[{"item_id": "1"}, {"item', ("cut.json, line 1",)),
    ("cut.jsonl", b'{"item_id": "1"}\n{"item', ("cut.jsonl, line 2",)),
    ("deep.jsonl", f'{{"item_id": {DEEP}}}\n'.encode(), ("deep.jsonl, line 1",)),
    ("cut.csv.gz", gzip.compress(b"item_id\n" + b"1\n" * 999)[:-9], ("cut.csv.gz", "cut off")),
    ("cut.parquet", b"PAR1\0\0", ("cut.parquet",)),
    ("cut.xlsx", b"PK\3\4\0\0", ("cut.xlsx",)),
    ("table.txt", b"item_id\n", ("table.txt has the ending .txt", ".csv")),
]
BAD_EXPORTS: list[tuple[str, bytes, tuple[str, ...]]] = [
    ("empty.json", b"", ("empty.json",)),
    ("cut.json", b'[{"id": 1, "data"', ("cut.json",)),
    ("latin1.json", b'[{"id": "\xe9"}]', ("latin1.json",)),
    ("deep.json", DEEP.encode(), ("deep.json",)),
    ("number.json", b"3", ("number.json",)),
    ("long.json", b"[" + b"9" * 5_000 + b"]", ("long.json",)),
]


def _cases(
    commands: dict[str, list[str]], files: list[tuple[str, bytes, tuple[str, ...]]]
) -> list[Any]:
    return [
        pytest.param(command, *bad, id=f"{name}-{bad[0]}")
        for name, command in commands.items()
        for bad in files
        # What has no ending of a table is parsed as one answer.
        if not (name == "parse" and bad[0] == "table.txt")
    ]


@pytest.mark.parametrize(
    ("command", "name", "raw", "wanted"),
    [*_cases(TABLE_READERS, BAD_TABLES), *_cases(JSON_READERS, BAD_EXPORTS)],
)
def test_a_bad_file(
    accord: Runner, command: list[str], name: str, raw: bytes, wanted: tuple[str, ...]
) -> None:
    Path(name).write_bytes(raw)
    if command[0] == "parse" and name.startswith("columns"):
        wanted = (name,)  # says the field that is missing
    refused(accord, *(part.format(name) for part in command), wanted=wanted)


@pytest.mark.parametrize("command", [*TABLE_READERS.values(), *JSON_READERS.values()])
@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "loop"])
def test_what_is_no_file(accord: Runner, command: list[str], kind: str) -> None:
    """A named pipe too: to read it would wait for ever."""
    name = f"{kind}.csv" if command[0] in ("add", "agree", "audit") else f"{kind}.json"
    if kind == "folder":
        Path(name).mkdir()
    elif kind == "pipe":
        os.mkfifo(name)
    elif kind == "loop":
        Path(name).symlink_to(name)
    refused(accord, *(part.format(name) for part in command), wanted=(name,))


LONG = "item_id,rater,kind,rating\n"
BAD_ROWS: list[tuple[str, list[str], str, tuple[str, ...]]] = [
    # duplicate ids
    ("q.csv", TABLE_READERS["add questions"], QUESTIONS + "q1,Who?,John\n", ("line 4", "'q1'")),
    ("r.csv", TABLE_READERS["add responses"], RESPONSES + "q1,a,John\n", ("line 4", "q1 a")),
    ("p.csv", TABLE_READERS["add pairs"], PAIRS.format("p1,q1,Who?,A,B\n"), ("line 3", "'p1'")),
    ("v.csv", TABLE_READERS["agree"], f"{LONG}i,a,annotator,X\ni,a,annotator,Y\n", ("line 3",)),
    ("w.csv", TABLE_READERS["agree wide"], "item_id,ann,bob\ni,A,B\ni,B,B\n", ("line 3", "'i'")),
    # empty references
    ("q.csv", TABLE_READERS["add questions"], QUESTIONS + "q3,Who?,\n", ("line 4", "reference")),
    ("q.csv", TABLE_READERS["add questions"], QUESTIONS + "q3,Who?,[]\n", ("line 4", "reference")),
    ("p.csv", TABLE_READERS["add pairs"], PAIRS.format("p0,q1,Who?,,B\n"), ("line 2", "reference")),
    ("p.csv", TABLE_READERS["add pairs"], PAIRS.format("p0,q1,Who?,[],B\n"), ("line 2", "blank")),
    # unknown labels, ids and kinds
    ("v.csv", TABLE_READERS["add ratings"], f"{LONG}x,a,annotator,maybe\n", ("line 2", "'maybe'")),
    ("v.csv", TABLE_READERS["add ratings"], f"{LONG}x,a,annotator,CORRECT\n", ("line 2", "'x'")),
    ("v.csv", TABLE_READERS["add ratings"], f"{LONG}x,a,robot,CORRECT\n", ("line 2", "'robot'")),
    ("r.csv", TABLE_READERS["add responses"], "question_id,system,response\nq9,a,x\n", ("line 2",)),
    ("a.csv", TABLE_READERS["audit"], "item_id,verdict\ni,maybe\n", ("line 2", "'maybe'")),
]


@pytest.mark.parametrize(("name", "command", "text", "wanted"), BAD_ROWS)
def test_a_bad_row_is_named(
    accord: Runner, name: str, command: list[str], text: str, wanted: tuple[str, ...]
) -> None:
    Path(name).write_text(text)
    refused(accord, *(part.format(name) for part in command), wanted=(name, *wanted))


@pytest.mark.parametrize(
    "command", [["export", "s", "s1"], ["import", "s", "--from", "label-studio"]]
)
def test_an_unreachable_server(
    accord: Runner, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "canary-of-a-token")
    assert "canary" not in refused(accord, *command, wanted=("127.0.0.1:9",))


@pytest.fixture
def busy() -> Iterator[int]:
    """A port that a stranger listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


def test_a_busy_port(accord: Runner, monkeypatch: pytest.MonkeyPatch, busy: int) -> None:
    monkeypatch.setenv("ACCORD_LABEL_STUDIO_BIN", "/bin/true")
    refused(accord, "label-studio", "up", "--port", str(busy), wanted=(str(busy), "--port"))


TOO_LONG = "n" * 300
OPTIONS: list[tuple[list[str], tuple[str, ...]]] = [
    (["sample", "s", "--seed", str(2**63)], ("--seed",)),
    (["sample", "s", "--seed", "-1"], ("--seed",)),
    (["sample", "s", "--name", "x" * 5_000], ("--name",)),
    (["sample", "s", "--name", "a\nb"], ("--name",)),
    (["sample", "s", "--name", "\x1b[31m"], ("--name", r"\u001b")),
    (["sample", "s", "--name", "a,b"], ("--name",)),
    (["init", "new", "--seed", str(2**63)], ("--seed",)),
    (["init", TOO_LONG], ("too long",)),
    *[
        ([part.replace("STUDY", TOO_LONG) for part in command], ("no folder",))
        for command in (
            ["add", "STUDY", "questions.csv", "--as", "questions"],
            ["score", "STUDY"],
            ["sample", "STUDY"],
            ["export", "STUDY", "s1"],
            ["import", "STUDY", "tasks.json"],
            ["report", "STUDY"],
        )
    ],
    *[
        ([*command, target], (wanted,))
        for command in (
            ["agree", "s", "--csv"],
            ["report", "s", "--html"],
        )
        for target, wanted in (
            ("s/ledger.sqlite", "belongs to a study"),
            ("s/study.toml", "belongs to a study"),
            ("link/ledger.sqlite", "belongs to a study"),
            ("linked.sqlite", "belongs to a study"),
            ("/dev/null", "device"),
            ("", "folder"),
            ("/", "folder"),
            ("s", "folder"),
            (TOO_LONG, "too long"),
            ("nowhere/x", "No such file"),
        )
    ],
    *[
        (["export", "s", "s1", "--to", target], ())
        for target in ("s/ledger.sqlite", "s/study.toml", f"{TOO_LONG}.json", "nowhere/x.json")
    ],
    (["audit", "--errors", "1", "--n", "5", "--population", f"1{'0' * 400}"], ("population",)),
    (["audit", "--errors", "-1", "--n", "5"], ("errors = -1",)),
    (["audit", "--errors", "1", "--n", "5", "--population", "3"], ("population of 3",)),
]


@pytest.mark.parametrize(("arguments", "wanted"), OPTIONS)
def test_an_option_that_can_t_be(
    accord: Runner, arguments: list[str], wanted: tuple[str, ...]
) -> None:
    Path("link").symlink_to("s")
    Path("linked.sqlite").symlink_to("s/ledger.sqlite")
    refused(accord, *arguments, wanted=wanted)


def test_doctor_of_a_name_that_can_t_be(accord: Runner) -> None:
    status, out, err = accord("doctor", TOO_LONG)
    assert (status, err) == (1, "")
    assert f"{TOO_LONG}/ledger.sqlite does not exist" in out


def test_a_device_is_not_pushed_aside(tmp_path: Path) -> None:
    """os.replace would put an ordinary file where the device was, if run by root."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(AccordError, match="device; name an ordinary file"):
        write_whole(pipe, "text")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_writing_follows_a_link_and_fits_the_longest_name(tmp_path: Path) -> None:
    file = tmp_path / ("n" * 255)
    (tmp_path / "link").symlink_to(file)
    write_whole(tmp_path / "link", "half \ud800\n")
    assert (tmp_path / "link").is_symlink()
    assert file.read_bytes() == b"half ?\n"
    assert sorted(path.name for path in tmp_path.iterdir() if "n" * 99 in path.name) == [file.name]


def test_writing_keeps_permissions_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.json"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o600)
    write_whole(file, "new")
    assert (file.read_text("utf-8"), stat.S_IMODE(file.stat().st_mode)) == ("new", 0o600)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(file, "newer")
    assert not list(tmp_path.glob(".accord-*"))


def test_files_are_written_together_or_not_at_all(
    tmp_path: Path, as_user: Callable[..., str], read_only: Callable[[Path], None]
) -> None:
    kept, late = tmp_path / "kept", tmp_path / "late"
    kept.write_text("old")
    late.mkdir()
    new = tmp_path / "new"
    for bad in (late, tmp_path / "no" / "x", kept / "x", tmp_path / ("n" * 256), Path("a\0b")):
        with pytest.raises(AccordError, match="can't be written"):
            write_together({kept: "new", new: "new", bad: "new"})
        assert kept.read_text() == "old" and not new.exists()
    locked = tmp_path / "locked"
    locked.mkdir()
    read_only(locked)
    code = (
        "import sys, pathlib\n"
        "from accord.scoring.files import write_together\n"
        "from accord.scoring.errors import AccordError\n"
        "try:\n    write_together({pathlib.Path(name): 'new' for name in sys.argv[1:]})\n"
        "except AccordError as error:\n    print(error)\n"
    )
    said = as_user(code, str(kept), str(locked / "x"))
    assert said.startswith(f"{locked / 'x'} can't be written: Permission denied")
    assert kept.read_text() == "old"
    write_together({kept: "new", new: "newer"})
    assert (kept.read_text(), new.read_text()) == ("new", "newer")
    assert not list(tmp_path.rglob(".accord-*"))


def test_a_shell_s_pipe_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    try:
        assert read_whole(f"/dev/fd/{reading}") == b"text"
    finally:
        os.close(reading)


def test_a_very_wide_header_is_read_in_time(tmp_path: Path) -> None:
    """200,000 names: comparing each with all before it would take minutes."""
    file = tmp_path / "wide.csv"
    names = [f"c{number}" for number in range(200_000)]
    file.write_text(f"{','.join(names)}\n{','.join(['x'] * len(names))}\n")
    with pytest.raises(InputError, match="no column 'item_id'"):
        read_table(file, required=["item_id"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m\x9b\x07\x7f", r"\u001b[31m\u009b\u0007\u007f"),
        ("\u202e\u2066\u200f\u061c", r"\u202e\u2066\u200f\u061c"),
        ("a\u200bb\ufeff\u2060\u2028", r"a\u200bb\ufeff\u2060\u2028"),
        ("\U000e0041\ud800", r"\U000e0041\ud800"),
        ("\U0001f468\u200d\U0001f469 می\u200cخواهم", "\U0001f468\u200d\U0001f469 می\u200cخواهم"),
    ],
)
def test_a_terminal_gets_nothing_to_act_on(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible("  a\n\tb") == "  a\n\tb"
    assert one_line(f" {text}\r\n") == shown


def test_a_name_that_is_no_unicode_is_shown(accord: Runner) -> None:
    name = os.fsdecode(b"\xe9tude\x1b[31m")
    status, out, err = accord("init", name)
    assert (status, err) == (0, "")
    assert visible(out) == out and r"\udce9tude\u001b" in out
    assert json.loads(accord("init", f"{name}2", "--json")[1])["study"] == f"{name}2"


@pytest.mark.parametrize(
    ("error", "free", "wanted"),
    [
        (sqlite3.OperationalError("disk I/O error"), 0, "no space left on the disk; free some"),
        (sqlite3.OperationalError("disk I/O error"), 2**30, "disk I/O error; check the disk"),
        (sqlite3.OperationalError("database or disk is full"), 0, "no space left on the disk"),
        (sqlite3.DatabaseError("file is not a database"), 2**30, "is damaged"),
    ],
)
def test_a_full_disk_is_no_damage(
    monkeypatch: pytest.MonkeyPatch, error: sqlite3.Error, free: int, wanted: str
) -> None:
    """A full tmpfs gave "disk I/O error", and the advice was to restore a sound ledger."""
    usage = shutil.disk_usage(".")._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    assert wanted in str(explained(error, Path("s/ledger.sqlite")))


def test_a_statement_that_is_wrong_is_a_bug(
    accord: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the user's mistake, and no reason to fetch a backup."""

    def wrong(ledger: Ledger) -> list[Any]:
        return ledger.query("SELECT no_such FROM sample")

    monkeypatch.setattr(Ledger, "samples", wrong)
    status, _, err = accord("sample", "s")
    assert status == 70 and "no such column" in err and "this is a bug in accord" in err
