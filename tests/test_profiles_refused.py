"""Files that a format profile refuses: one line each, with the line, the value and the cure."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from profile_samples import FILES, SAMPLES, Role, add

from accord.scoring.errors import AccordError
from accord.study import Study

CASES: list[tuple[str, Role, str, str, str]] = [
    tuple(json.loads(line).values())
    for line in (SAMPLES / "refused.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Format, role, a text of the sample, what it is replaced with, and the message."""


@pytest.mark.parametrize(("name", "role", "old", "new", "message"), CASES)
def test_a_malformed_file_is_refused_in_one_line(
    empty: Study, tmp_path: Path, name: str, role: Role, old: str, new: str, message: str
) -> None:
    gold, answers = FILES[name]
    folder = tmp_path / "files"
    shutil.copytree(SAMPLES, folder)
    path = folder / (answers if role == "responses" else gold)
    sample = path.read_text(encoding="utf-8")
    assert old in sample
    path.write_text(sample.replace(old, new) if old else sample, encoding="utf-8")
    if role == "responses" and name not in ("loft-anyof", "truthfulqa"):
        add(empty, name, "questions")
    before = empty.ledger.inputs()
    with pytest.raises(AccordError) as refused:
        add(empty, name, role, path)
    assert str(refused.value) == message
    assert empty.ledger.inputs() == before
    assert not empty.ledger.responses() and not empty.ledger.pairs()


def test_every_format_has_three_malformed_variants() -> None:
    counts = {name: sum(case[0] == name for case in CASES) for name in FILES}
    counts["mapping.toml"] += counts.pop("mapping-anyof.json")
    assert min(counts.values()) >= 3, counts
