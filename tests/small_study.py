"""A study of two questions and what goes into it, for the tests of studies."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from accord.study import Study

QUESTIONS: list[dict[str, Any]] = [
    {
        "question_id": "q1",
        "question": "Which Beatles sang?",
        "reference": [{"text": "John Lennon", "aliases": ["Lennon"]}, {"text": "Paul McCartney"}],
        "type": "flat",
        "region": "UK",
    },
    {
        "question_id": "q2",
        "question": "First three letters?",
        "reference": "1. A\n2. B\n3. C",
        "ordered": True,
        "type": "flat",
    },
]
RESPONSES: list[dict[str, Any]] = [
    {"question_id": "q1", "system": "alpha", "response": "1. Lennon\n2. Paul McCartney"},
    {"question_id": "q1", "system": "beta", "response": "- George Harrison\n- Ringo\n- Yoko Ono"},
    {"question_id": "q2", "system": "alpha", "response": "1. A\n2. C\n3. B"},
    {"question_id": "q2", "system": "beta", "response": None},
    {"question_id": "q2", "system": "alpha", "variant": "thinking", "response": ["A", "B", "C"]},
]
PAIRS: list[dict[str, Any]] = [
    {"item_id": "p1", "question_id": "q1", "question": "Capital?", "gold": '["Paris", "Paname"]'},
    {"item_id": "p2", "question_id": "q1", "question": "Capital?", "gold": "Paris"},
    {"item_id": "p3", "question_id": "q2", "question": "River?", "gold": "Seine"},
]
ANSWERS = ["paname", "London", "The Seine"]


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def snapshot(study: Study) -> dict[str, list[Any]]:
    """Everything the ledger holds: equal snapshots are an unchanged study."""
    with sqlite3.connect(study.path / "ledger.sqlite") as raw:
        names = [row[0] for row in raw.execute("SELECT name FROM sqlite_schema WHERE type='table'")]
        content = {name: raw.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    raw.close()
    tables = study.path / "tables"
    content["files"] = [
        (path.name, path.read_bytes()) for path in sorted(tables.rglob("*")) if path.is_file()
    ]
    content["toml"] = [(study.path / "study.toml").read_bytes()]
    return content
