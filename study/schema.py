"""The ledger's SQLite schema: tables, guards, version, opening, integrity.

Rows that cost money or people's time can be added and never changed: triggers refuse it, whatever
program asks.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

from ..scoring.errors import StudyError

__all__ = ["FRAME_TABLE", "SCHEMA_VERSION", "connect", "create_database", "damage", "explained"]

SCHEMA_VERSION = 1
APPLICATION_ID = 0x61636364  # "accd": tells a ledger from any other SQLite file

_TABLES = """
CREATE TABLE input (
    input_key INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    rows INTEGER NOT NULL,
    added_at TEXT NOT NULL,
    options TEXT NOT NULL
);
CREATE TABLE provenance (
    provenance_key INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    action TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE TABLE question (
    question_key INTEGER PRIMARY KEY,
    question_id TEXT NOT NULL UNIQUE,
    question TEXT NOT NULL,
    reference TEXT NOT NULL,
    fields TEXT NOT NULL
);
CREATE TABLE response (
    response_key INTEGER PRIMARY KEY,
    question_id TEXT NOT NULL REFERENCES question (question_id),
    system TEXT NOT NULL,
    variant TEXT NOT NULL,
    response TEXT NOT NULL,
    response_is_json INTEGER NOT NULL,
    output_tokens INTEGER,
    fields TEXT NOT NULL,
    UNIQUE (question_id, system, variant)
);
CREATE TABLE given_pair (
    pair_key INTEGER PRIMARY KEY,
    item_id TEXT NOT NULL UNIQUE,
    question_id TEXT NOT NULL,
    question TEXT NOT NULL,
    reference TEXT,
    aliases TEXT NOT NULL,
    predicted TEXT NOT NULL,
    system TEXT NOT NULL,
    variant TEXT NOT NULL,
    n_reference INTEGER,
    n_predicted INTEGER,
    content_sha256 TEXT NOT NULL,
    fields TEXT NOT NULL
);
CREATE INDEX given_pair_question ON given_pair (question_id);
CREATE TABLE rater (
    rater_key INTEGER PRIMARY KEY,
    rater TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('annotator', 'adjudicated', 'judge'))
);
CREATE TABLE rating (
    rating_key INTEGER PRIMARY KEY,
    item_id TEXT NOT NULL,
    rater_key INTEGER NOT NULL REFERENCES rater (rater_key),
    rating TEXT,
    status TEXT NOT NULL CHECK (status IN ('rated', 'unscored', 'skipped')),
    reasons TEXT,
    comment TEXT,
    guideline TEXT,
    source TEXT NOT NULL,
    at TEXT NOT NULL,
    CHECK ((status = 'rated') = (rating IS NOT NULL))
);
CREATE INDEX rating_latest ON rating (item_id, rater_key, rating_key);
CREATE TABLE sample (
    sample_key INTEGER PRIMARY KEY,
    sample_id TEXT NOT NULL UNIQUE,
    purpose TEXT NOT NULL,
    design TEXT NOT NULL,
    seed INTEGER NOT NULL,
    settings TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE TABLE sample_item (
    sample_key INTEGER NOT NULL REFERENCES sample (sample_key),
    position INTEGER NOT NULL,
    item_id TEXT NOT NULL,
    probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
    PRIMARY KEY (sample_key, position),
    UNIQUE (sample_key, item_id)
);
CREATE TABLE exported (
    exported_key INTEGER PRIMARY KEY,
    sample_id TEXT NOT NULL REFERENCES sample (sample_id),
    item_id TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    template TEXT NOT NULL,
    template_version TEXT NOT NULL,
    target TEXT NOT NULL,
    project_id INTEGER,
    task_id INTEGER,
    at TEXT NOT NULL
);
CREATE INDEX exported_sample ON exported (sample_id);
CREATE TABLE annotation (
    annotation_key INTEGER PRIMARY KEY,
    unique_id TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    item_id TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    sample_id TEXT REFERENCES sample (sample_id),
    annotator TEXT NOT NULL,
    raw TEXT NOT NULL,
    project_id INTEGER,
    task_id INTEGER,
    source TEXT NOT NULL,
    at TEXT NOT NULL,
    UNIQUE (unique_id, updated_at)
);
CREATE INDEX annotation_sample ON annotation (sample_id);
CREATE TABLE asked (
    asked_key INTEGER PRIMARY KEY,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt_sha256 TEXT NOT NULL,
    parameters TEXT NOT NULL,
    UNIQUE (endpoint, model, prompt_sha256, parameters)
);
CREATE TABLE reply (
    reply_key INTEGER PRIMARY KEY,
    asked_key INTEGER NOT NULL REFERENCES asked (asked_key),
    content_sha256 TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    text TEXT,
    served_model TEXT,
    fingerprint TEXT,
    finish_reason TEXT,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    latency REAL,
    created_at TEXT NOT NULL,
    omitted TEXT NOT NULL
);
CREATE INDEX reply_latest ON reply (asked_key, content_sha256, repeat, reply_key);
"""

_FRAME = """
CREATE TABLE IF NOT EXISTS sample_frame (
    sample_key INTEGER NOT NULL REFERENCES sample (sample_key),
    item_id TEXT NOT NULL,
    stratum TEXT NOT NULL,
    probability REAL NOT NULL CHECK (probability >= 0 AND probability <= 1),
    PRIMARY KEY (sample_key, item_id)
) WITHOUT ROWID;
"""

_APPEND_ONLY = (
    "input",
    "provenance",
    "question",
    "response",
    "given_pair",
    "rater",
    "rating",
    "sample",
    "sample_item",
    "exported",
    "annotation",
    "asked",
    "reply",
)

_GUARD = """
CREATE TRIGGER IF NOT EXISTS {table}_{verb}_refused BEFORE {verb} ON {table}
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: {table} rows are never changed'); END;
"""


def _guards(table: str) -> tuple[str, ...]:
    return tuple(_GUARD.format(table=table, verb=verb) for verb in ("UPDATE", "DELETE"))


FRAME_TABLE = (_FRAME, *_guards("sample_frame"))
"""The statements that make the table of frames; a ledger of an earlier time gets it when needed."""


def _script() -> str:
    guards = [guard for table in _APPEND_ONLY for guard in _guards(table)]
    return (
        f"BEGIN;{_TABLES}{''.join(guards)}{''.join(FRAME_TABLE)}"
        f"PRAGMA application_id = {APPLICATION_ID};PRAGMA user_version = {SCHEMA_VERSION};COMMIT;"
    )


def create_database(path: Path) -> None:
    """Make an empty ledger at ``path``; there must be no file yet."""
    if path.exists():
        raise StudyError(f"{path.name} is there already", cure="open the study instead")
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_script())
    except sqlite3.Error as error:
        raise explained(error, path) from error
    finally:
        connection.close()


def connect(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open a ledger; the second value says whether it can be written.

    Raises
    ------
    StudyError
        When there is none, it is damaged, is no ledger, or is of a newer accord.
    """
    if not os.path.isfile(path):  # never raises, whatever the name
        raise StudyError(
            f"{path} does not exist", cure="make a study with: accord init STUDY --recipe listqa"
        )
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    wal = path.with_name(f"{path.name}-wal")
    # A folder that can't be written has no place for SQLite's shared memory file; without a WAL
    # the file is complete and may be read as it stands.
    if writable:
        query = "mode=rw"
    elif wal.exists() and wal.stat().st_size:
        query = "mode=ro"
    else:
        query = "mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?{query}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=10.0,
        )
    except sqlite3.Error as error:
        raise explained(error, path) from error
    try:
        _check(connection, path)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA temp_store = MEMORY")
    except sqlite3.Error as error:
        connection.close()
        raise explained(error, path) from error
    except StudyError:
        connection.close()
        raise
    return connection, writable


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise StudyError(f"{path} is no accord ledger", cure="name the folder of a study")
    if version > SCHEMA_VERSION:
        raise StudyError(
            f"{path} was written by a newer accord (ledger version {version}, this accord reads "
            f"{SCHEMA_VERSION})",
            cure="install a newer accord",
        )
    if version != SCHEMA_VERSION:
        raise StudyError(
            f"{path} has the unknown ledger version {version}", cure="restore it from a backup"
        )
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()


_BUGS = ("no such column", "syntax error", "has no column")
_ROOM = 2**20
"""Bytes that SQLite needs beside a ledger before it can write at all."""


def explained(error: sqlite3.Error, path: Path) -> StudyError:
    """What SQLite complains about, as an error with a cure.

    A statement that SQLite does not understand is a bug of accord and is raised as it is: to call
    the ledger damaged would send its owner to a backup.
    """
    text = str(error)
    name = f"{path.parent.name}/{path.name}"
    lowered = text.lower()
    if "append-only" in lowered:
        return StudyError(f"{name}: {text}", cure="add a new row instead; the latest one counts")
    if "foreign key" in lowered:
        return StudyError(
            f"{name}: a row refers to a question or a sample that is not there",
            cure="add that first",
        )
    if isinstance(error, sqlite3.IntegrityError):
        return StudyError(f"{name}: {text}", cure="add each row once")
    if "locked" in lowered or "busy" in lowered:
        return StudyError(f"{name} is in use by another program", cure="close it and try again")
    if "readonly" in lowered or "read-only" in lowered or "unable to open" in lowered:
        return StudyError(f"{name} can't be written", cure="make the study's folder writable")
    if isinstance(error, sqlite3.ProgrammingError) or any(word in lowered for word in _BUGS):
        raise error
    # A WAL that finds no room for its shared memory file calls it an I/O error.
    if "full" in lowered or ("i/o error" in lowered and _free(path) < _ROOM):
        return StudyError(f"{name}: no space left on the disk", cure="free some and run it again")
    if "i/o error" in lowered:
        return StudyError(
            f"{name} can't be read or written: {text}", cure="check the disk, then run it again"
        )
    return StudyError(
        f"{name} is damaged: {text}", cure="restore it from a backup; accord doctor says more"
    )


def _free(path: Path) -> int:
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return _ROOM


def damage(connection: sqlite3.Connection) -> list[str]:
    """What is wrong with the ledger, one line each; empty when it is sound."""
    try:
        found = [
            f"integrity: {row[0]}"
            for row in connection.execute("PRAGMA integrity_check(20)")
            if row[0] != "ok"
        ]
        broken = connection.execute("PRAGMA foreign_key_check").fetchmany(20)
    except sqlite3.Error as error:
        return [f"integrity: {error}"]
    found += [f"foreign key: {row[0]} row {row[1]} points to no {row[2]}" for row in broken]
    return found
