"""Labels that others made find their items by position or text; nothing is joined by guess."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from accord.cli import build
from accord.scoring.errors import InputError, SettingsError
from accord.study import RatingsOptions, Study
from small_study import snapshot, write

ON = ("question_id", "system", "element")


def row(question: str, system: str, element: str, rating: str = "CORRECT", **more: Any) -> Any:
    return {
        "question_id": question,
        "system": system,
        "element": element,
        "rater": "ann",
        "kind": "annotator",
        "rating": rating,
        **more,
    }


def rated(study: Study) -> dict[tuple[str, str, str], str | None]:
    pairs = study.pairs().dropna(subset=["item_id"]).set_index("item_id")
    return {
        (pairs.at[r.item_id, "question_id"], pairs.at[r.item_id, "system"],
         pairs.at[r.item_id, "predicted"]): r.rating
        for r in study.ledger.rating_rows()
    }  # fmt: skip


def test_exact_then_normalised_text(study: Study, tmp_path: Path) -> None:
    rows = [
        row("q1", "alpha", "Lennon"),
        row("q1", "beta", "  ringo. ", "INCORRECT"),
        row("q1", "beta", "Pete Best"),
        row("q9", "beta", "Ringo"),
    ]
    added = study.add_ratings(write(tmp_path / "labels.jsonl", rows), on=ON)
    assert rated(study) == {
        ("q1", "alpha", "Lennon"): "CORRECT",
        ("q1", "beta", "Ringo"): "INCORRECT",
    }
    assert (added.rows, added.new) == (4, 2)
    assert added.notes[0] == "matched: 1 by exact text, 1 by normalised text"
    assert [left.line for left in added.left_out] == [3, 4]
    assert "element 'Pete Best' fits no item" in added.notes[1]
    # the same file again adds nothing
    assert study.add_ratings(tmp_path / "labels.jsonl", on=ON).new == 0


def twins(study: Study, tmp_path: Path) -> None:
    twice = {"question_id": "q1", "system": "gamma", "response": "1. Ringo\n2. Paul\n3. Ringo"}
    study.add_responses(write(tmp_path / "more.jsonl", [twice]))


def test_equal_texts_need_their_position(study: Study, tmp_path: Path) -> None:
    twins(study, tmp_path)
    rows = [row("q1", "gamma", "Ringo"), row("q1", "gamma", "Paul")]
    added = study.add_ratings(write(tmp_path / "a.jsonl", rows), on=ON)
    assert (added.new, [left.line for left in added.left_out]) == (1, [1])
    assert "fits 2 items" in added.left_out[0].reason
    rows = [
        row("q1", "gamma", "ringo", "CORRECT", position=1),
        row("q1", "gamma", "ringo", "INCORRECT", position=3),
    ]
    added = study.add_ratings(write(tmp_path / "b.jsonl", rows), on=(*ON, "position"))
    assert added.notes[0] == "matched: 2 by position"
    pairs = study.pairs().set_index("item_id")
    found = {
        int(pairs.at[r.item_id, "predicted_index"]): r.rating
        for r in study.ledger.rating_rows()
        if pairs.at[r.item_id, "predicted"] == "Ringo"
    }
    assert found == {0: "CORRECT", 2: "INCORRECT"}


def test_a_position_whose_text_differs_does_not_count(study: Study, tmp_path: Path) -> None:
    rows = [row("q1", "beta", "Yoko Ono", position=1), row("q1", "beta", "Nobody", position=2)]
    added = study.add_ratings(write(tmp_path / "a.jsonl", rows), on=(*ON, "position"))
    assert rated(study) == {("q1", "beta", "Yoko Ono"): "CORRECT"}
    assert [left.line for left in added.left_out] == [2]


def test_a_column_of_the_items(empty: Study, tmp_path: Path) -> None:
    pairs = [
        {"question_id": "q", "question": "?", "reference": "a", "predicted": str(k),
         "external_id": f"e{min(k, 3)}"}
        for k in range(5)
    ]  # fmt: skip
    empty.add_pairs(write(tmp_path / "pairs.jsonl", pairs), strata=["external_id"])
    rows = [
        {"external_id": f"e{k}", "rater": "ann", "kind": "annotator", "rating": "CORRECT"}
        for k in (0, 2, 3, 7)
    ]
    added = empty.add_ratings(write(tmp_path / "labels.jsonl", rows), on=["external_id"])
    assert added.new == 2
    assert [left.reason for left in added.left_out] == [
        "external_id 'e3' fits 2 items",
        "external_id 'e7' fits no item",
    ]


def test_a_wide_table(study: Study, tmp_path: Path) -> None:
    table = tmp_path / "wide.csv"
    table.write_text(
        "question_id,system,element,ann,bob\n"
        "q1,alpha,lennon,yes,no\nq1,beta,RINGO,no,\nq1,beta,Pete,no,no\n"
    )
    options = RatingsOptions(
        wide=True,
        annotators=("ann", "bob"),
        labels={"yes": "CORRECT", "no": "INCORRECT"},
    )
    added = study.add_ratings(table, options, on=ON)
    assert added.new == 3
    assert [left.line for left in added.left_out] == [4]


@pytest.mark.parametrize(
    ("on", "said"),
    [
        (("question_id", "element"), "--on names question_id, element"),
        (("system",), None),
        (("no_such",), "no_such"),
        ((*ON, "text"), "text"),
    ],
)
def test_columns_that_say_no_item(
    study: Study, tmp_path: Path, on: tuple[str, ...], said: str | None
) -> None:
    study.pairs()  # the tables are there
    before = snapshot(study)
    file = write(tmp_path / "labels.jsonl", [row("q1", "alpha", "Lennon")])
    with pytest.raises((SettingsError, InputError), match=said or "no row fits"):
        study.add_ratings(file, on=on)
    assert snapshot(study) == before


def test_nothing_fits(study: Study, tmp_path: Path) -> None:
    study.pairs()  # the tables are there
    before = snapshot(study)
    file = write(tmp_path / "labels.jsonl", [row("q8", "alpha", "x"), row("q9", "alpha", "y")])
    with pytest.raises(InputError, match="no row fits an item of the study .*line 1"):
        study.add_ratings(file, on=ON)
    bad = write(tmp_path / "bad.jsonl", [row("q1", "alpha", "Lennon", position="first")])
    with pytest.raises(InputError, match="line 1: position 'first' is no whole number"):
        study.add_ratings(bad, on=(*ON, "position"))
    assert snapshot(study) == before


def test_the_command(study: Study, tmp_path: Path) -> None:
    study.close()
    rows = [row("q1", "alpha", "Lennon"), row("q1", "alpha", "Nobody")]
    file = write(tmp_path / "labels.jsonl", rows)
    command = ["add", str(study.path), str(file), "--as", "ratings", "--on", ",".join(ON)]
    done = CliRunner().invoke(build(), [*command, "--show-all"], catch_exceptions=False)
    assert "matched: 1 by exact text" in done.stdout
    assert "labels.jsonl, line 2:" in done.stderr
    found = json.loads(CliRunner().invoke(build(), [*command, "--json"]).stdout)
    assert found["left_out"] == [
        {
            "line": 2,
            "reason": "question_id 'q1', system 'alpha', element 'Nobody' fits no item",
        }
    ]


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("kind", "no column 'kind'.*; name it with --map kind=COLUMN, or name the raters"),
        ("rater", "no column 'rater'; name it with --map rater=COLUMN"),
        ("rating", "no column 'rating'; name it with --map rating=COLUMN"),
        ("item_id", "no column 'item_id'; name it with --map item_id=COLUMN, or match without it"),
    ],
)
def test_a_missing_column_is_named_with_an_option_of_the_command(
    study: Study, tmp_path: Path, gone: str, said: str
) -> None:
    cells = {"item_id": "i1", "rater": "ann", "kind": "annotator", "rating": "CORRECT"}
    del cells[gone]
    table = tmp_path / "labels.csv"
    table.write_text(f"{','.join(cells)}\n{','.join(cells.values())}\n")
    study.close()
    done = CliRunner().invoke(build(), ["add", str(study.path), str(table), "--as", "ratings"])
    assert isinstance(done.exception, InputError)
    assert re.search(said, str(done.exception)), done.exception


def test_rows_that_are_left_out_can_be_listed(study: Study, tmp_path: Path) -> None:
    rows = [row("q1", "alpha", name) for name in ("Lennon", "Pete Best", "Stu")]
    table = write(tmp_path / "labels.jsonl", rows)
    study.close()
    words = ["add", str(study.path), str(table), "--as", "ratings", "--on", ",".join(ON)]
    done = CliRunner().invoke(build(), words, catch_exceptions=False)
    assert "note: --show-all lists the 2 rows that are left out" in done.stdout
    listed = CliRunner().invoke(build(), [*words, "--show-all"], catch_exceptions=False)
    assert listed.stderr.count("fits no item") == 2 and "--show-all" not in listed.stdout
