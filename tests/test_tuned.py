"""Which labels a prompt was tuned on: ids, files, columns and splits; nothing is guessed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from accord.scoring.errors import InputError, SettingsError
from accord.study import Ratings, RatingsOptions, read_ratings
from accord.study.tuned import MARK, columns_for, mark_tuned
from small_table import make

KINDS = {"ann": "annotator", "gpt": "judge"}


def ratings(**columns: Sequence[Any]) -> Ratings:
    return make({name: ["CORRECT"] * 4 for name in KINDS}, KINDS, **columns)


def marked(given: Ratings) -> list[bool]:
    frame = given.frame
    first: list[bool] = frame[frame["rater"] == "ann"][MARK].tolist()
    assert first == frame[frame["rater"] == "gpt"][MARK].tolist()
    return first


def test_ids() -> None:
    found = mark_tuned(ratings(), tuned_on={"i1", "i3", "elsewhere"})
    assert marked(found) == [False, True, False, True]
    assert found.notes == ("--tuned-on: 1 of its 3 items have no rating here",)
    assert MARK not in ratings().frame.columns


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ids.txt", "\ufeffi1\n\n  i3 \n"),
        ("ids.csv", "item_id,note\ni1,a\ni3,b\n"),
        ("one.csv", "whatever\ni1\ni3\n"),
        ("ids.jsonl", '{"item_id": "i1"}\n{"item_id": "i3"}\n'),
    ],
)
def test_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert marked(mark_tuned(ratings(), tuned_on=tmp_path / name)) == [False, True, False, True]
    assert marked(mark_tuned(ratings(), tuned_on=str(tmp_path / name)))[1]


def test_a_column_and_a_file_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = ratings(tuned=["no", "Yes", None, "1"])
    assert marked(mark_tuned(given, tuned_on="tuned")) == [False, True, False, True]
    (tmp_path / "tuned.txt").write_text("i0\n")
    assert marked(mark_tuned(given, tuned_on="tuned.txt")) == [True, False, False, False]
    # what is read with a table
    assert columns_for("tuned.txt", None) == columns_for({"i0"}, None) == ()
    assert columns_for("tuned", None) == ("tuned",)
    assert columns_for(None, "split=dev") == ("split",)


def test_splits() -> None:
    given = ratings(split=["train", "dev", "test", "held-out"])
    assert marked(mark_tuned(given, split="split")) == [True, True, False, False]
    assert marked(mark_tuned(given, split="split=dev")) == [False, True, False, False]
    assert marked(mark_tuned(given, split="split=dev, test")) == [False, True, True, False]


def test_what_is_refused(tmp_path: Path) -> None:
    given = ratings(split=["train", "validation", "test", "test"])
    with pytest.raises(InputError, match="holds 'validation', which is neither"):
        mark_tuned(given, split="split")
    with pytest.raises(SettingsError, match="'valid' is no value of it") as error:
        mark_tuned(given, split="split=valid")
    assert "test, train, validation" in str(error.value.cure)
    with pytest.raises(SettingsError, match="no column 'spilt' for --split"):
        mark_tuned(given, split="spilt")
    with pytest.raises(SettingsError, match="no file and no column 'nowhere.txt'"):
        mark_tuned(given, tuned_on="nowhere.txt")
    with pytest.raises(SettingsError, match="none of its 1 items has a rating .'i9' is no item"):
        mark_tuned(given, tuned_on=["i9"])
    with pytest.raises(SettingsError, match="it names none"):
        mark_tuned(given, tuned_on=[])
    neither_nor_both: list[dict[str, Any]] = [{}, {"tuned_on": ["i1"], "split": "split"}]
    for both in neither_nor_both:
        with pytest.raises(SettingsError, match="two ways"):
            mark_tuned(given, **both)
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00i1")
    with pytest.raises(InputError, match="not UTF-8"):
        mark_tuned(given, tuned_on=tmp_path / "bad.txt")
    (tmp_path / "two.csv").write_text("a,b\ni1,i2\n")
    with pytest.raises(InputError, match="item_id"):
        mark_tuned(given, tuned_on=tmp_path / "two.csv")
    both_ways = ratings(split=["train"] * 4)
    both_ways.frame.loc[0, "split"] = "test"
    with pytest.raises(InputError, match="marks the item 'i0' both ways"):
        mark_tuned(both_ways, split="split")


LONG = """item_id,question_id,system,rater,kind,rating,family,output_tokens,judge_family,area
i1,q1,s,ann,annotator,CORRECT,meta,12,,law
i1,q1,s,gpt,judge,CORRECT,meta,12,openai,law
i2,q2,s,ann,annotator,INCORRECT,meta,,,
i2,q2,s,gpt,judge,CORRECT,meta,,openai,
"""


def read(tmp_path: Path, text: str, **options: Any) -> Ratings:
    (tmp_path / "t.csv").write_text(text)
    return read_ratings(tmp_path / "t.csv", RatingsOptions(**options))


def test_families_and_tokens_of_a_table_are_kept(tmp_path: Path) -> None:
    frame = read(tmp_path, LONG, strata=("area",)).frame
    assert frame["family"].tolist() == ["meta"] * 4
    assert frame["output_tokens"].tolist() == ["12", "12", None, None]
    assert frame["judge_family"].tolist() == [None, "openai", None, "openai"]
    # a stratum may be blank, and the item is then in none
    assert frame["area"].tolist() == ["law", "law", None, None]


def test_what_a_column_says_of_the_rater_is_not_taken_for_the_item(tmp_path: Path) -> None:
    """A table whose ``family`` or ``output_tokens`` are the judge's own is read as before."""
    text = LONG.replace("annotator,CORRECT,meta,12", "annotator,CORRECT,,")
    frame = read(tmp_path, text).frame
    assert "family" not in frame.columns and "output_tokens" not in frame.columns
    assert "judge_family" in frame.columns and "area" not in frame.columns


def test_a_wide_table_has_them_once(tmp_path: Path) -> None:
    text = "item_id,family,judge_family,f1,gpt\ni1,meta,openai,CORRECT,CORRECT\n"
    given = read(tmp_path, text, wide=True, annotators=("f*",), judges=("gpt",))
    assert given.frame["rater"].tolist() == ["f1", "gpt"]
    assert given.frame["family"].tolist() == ["meta"] * 2
