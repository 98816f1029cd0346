"""What a long table says of each rating beside its label: a repeat, when it was made, how long."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from accord.scoring.errors import InputError
from accord.study import read_ratings
from accord.study.ratings import RatingsOptions
from accord.validate import agreement

HEADER = "item_id,question_id,rater,kind,rating,repeat,rated_at,seconds"


def table(tmp_path: Path, *rows: str, header: str = HEADER) -> Path:
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_repeats_stand_apart_and_the_first_rating_counts(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "i1,q1,ann,annotator,CORRECT,1,2026-03-02T10:00:00+01:00,12.5",
        "i1,q1,ann,annotator,INCORRECT,0,2026-03-01T10:00:00,",
        "i1,q1,bob,annotator,CORRECT,,,3",
        "i1,q1,ann,annotator,CORRECT,2,,4",
        "i2,q1,ann,annotator,CORRECT,5,2026-03-01,0",
    )
    found = read_ratings(path)
    rows = found.frame.to_dict("records")
    assert [(row["item_id"], row["rater"], row["rating"]) for row in rows] == [
        ("i1", "ann", "INCORRECT"),
        ("i1", "bob", "CORRECT"),
        ("i2", "ann", "CORRECT"),
    ]
    assert "repeat" not in found.frame.columns
    assert rows[0]["rated_at"] == "2026-03-01T10:00:00+00:00"
    assert rows[1]["rated_at"] is None and rows[1]["seconds"] == 3
    assert math.isnan(rows[0]["seconds"])
    assert found.repeats is not None
    again = found.repeats.to_dict("records")
    assert [(row["repeat"], row["rating"], row["seconds"]) for row in again] == [
        (1, "CORRECT", 12.5),
        (2, "CORRECT", 4.0),
    ]
    assert again[0]["rated_at"] == "2026-03-02T09:00:00+00:00"
    assert any(note.startswith("2 ratings repeat an item for the same") for note in found.notes)


def test_repeats_change_no_figure(tmp_path: Path) -> None:
    rows = [
        f"i{item},q{item // 2},{rater},annotator,{label},0,,"
        for item in range(24)
        for rater, label in (("ann", "ab"[item % 2]), ("bob", "ab"[item % 3 % 2]))
    ]
    plain = agreement(read_ratings(table(tmp_path, *rows)))
    again = [f"i{item},q{item // 2},ann,annotator,b,1,," for item in range(24)]
    more = agreement(read_ratings(table(tmp_path, *rows, *again)))
    shown = ("name", "estimate", "low", "high", "n")
    assert [[one[key] for key in shown] for one in plain.main_dicts()] == [
        [one[key] for key in shown] for one in more.main_dicts()
    ]


def test_a_blank_first_rating_leaves_the_second_as_the_first(tmp_path: Path) -> None:
    path = table(tmp_path, "i1,q1,ann,annotator,,0,,", "i1,q1,ann,annotator,a,1,,")
    found = read_ratings(path)
    assert found.frame["rating"].tolist() == ["a"] and found.repeats is None
    assert found.dropped == {"missing": 1}


def test_the_same_repeat_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "i1,q1,ann,annotator,a,0,,",
        "i1,q1,ann,annotator,a,1,,",
        "i1,q1,ann,annotator,b,1,,",
    )
    with pytest.raises(InputError, match="already on line 3") as caught:
        read_ratings(path)
    assert "column repeat" in str(caught.value)
    without = table(
        tmp_path, "i1,ann,annotator,a", "i1,ann,annotator,a", header="item_id,rater,kind,rating"
    )
    with pytest.raises(InputError, match="already on line 2"):
        read_ratings(without)


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        ("-1,,", "the repeat '-1' is no count"),
        ("1.5,,", "the repeat '1.5' is no count"),
        ("x,,", "the repeat 'x' is no count"),
        (",yesterday,", "rated_at 'yesterday' is no ISO time"),
        (",,-3", "seconds '-3' is no duration"),
        (",,12s", "seconds '12s' is no duration"),
        (",,inf", "seconds 'inf' is no duration"),
    ],
)
def test_bad_cells_are_named_with_their_line(tmp_path: Path, cells: str, what: str) -> None:
    path = table(tmp_path, "i1,q1,ann,annotator,a,0,,", f"i2,q1,ann,annotator,a,{cells}")
    with pytest.raises(InputError) as caught:
        read_ratings(path)
    assert [(row.line, row.reason) for row in caught.value.rows] == [(3, what)]


def test_a_column_with_another_meaning_keeps_it(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "i1,ann,annotator,slow,first",
        "i1,bob,annotator,fast,first",
        header="item_id,rater,kind,seconds,repeat",
    )
    options: dict[str, Any] = {"rating": "seconds", "strata": ("repeat",)}
    found = read_ratings(path, RatingsOptions(**options))
    assert found.frame["rating"].tolist() == ["slow", "fast"]
    assert found.frame["repeat"].tolist() == ["first", "first"]


def test_choosing_raters_chooses_their_repeats(tmp_path: Path) -> None:
    rows = [f"i1,q1,{name},annotator,a,{k},," for name in ("ann", "bob") for k in (0, 1)]
    found = read_ratings(table(tmp_path, *rows))
    one = found.select(annotators=["ann"])
    assert one.repeats is not None and one.repeats["rater"].tolist() == ["ann"]
