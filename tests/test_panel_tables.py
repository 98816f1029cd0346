"""A panel from a path or a frame is the panel from the file that holds the same."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from accord.scoring.errors import InputError, SettingsError
from accord.study import RatingsOptions, read_ratings
from accord.validate import AgreementReport, agreement

RNG = np.random.default_rng(3)
LABELS = {rater: RNG.integers(1, 4, 40) for rater in ("ann", "bob", "gpt")}


def long() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item_id": f"{item:03}",
            "question_id": item // 4,
            "rater": rater,
            "kind": "judge" if rater == "gpt" else "annotator",
            "rating": int(LABELS[rater][item]),
        }
        for item in range(40)
        for rater in LABELS
    )


def figures(report: AgreementReport) -> list[dict[str, object]]:
    return list(report.result_dicts())


def test_a_frame_a_path_and_its_ratings_give_one_panel(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    long().to_csv(path, index=False)
    expected = figures(agreement(read_ratings(path), scale="ordinal", resamples=0))
    assert len(expected) > 30
    for given in (long(), path, str(path)):
        assert figures(agreement(given, scale="ordinal", resamples=0)) == expected
    shuffled = long().sample(frac=1, random_state=1)
    assert figures(agreement(shuffled, scale="ordinal", resamples=0)) == expected


def test_a_frame_is_read_with_the_options_of_a_table() -> None:
    frame = long().rename(columns={"rating": "grade", "rater": "who"})
    options = RatingsOptions(rater="who", rating="grade")
    report = agreement(frame, options=options, scale="interval", resamples=0)
    plain = agreement(long(), scale="interval", resamples=0)
    assert figures(report) == figures(plain)
    wide = pd.DataFrame({"item_id": [f"{item:03}" for item in range(40)], **LABELS})
    wide["question_id"] = np.arange(40) // 4
    options = RatingsOptions(wide=True, annotators=("ann", "bob"), judges=("gpt",))
    assert figures(agreement(wide, options=options, scale="interval", resamples=0)) == figures(
        plain
    )


def test_a_gap_in_a_frame_is_missing_and_makes_no_other_label_of_a_number() -> None:
    # a column of integers with a gap is a column of floats: 1.0 is the label 1
    wide = pd.DataFrame({"item_id": range(40), **LABELS}).astype({"bob": float})
    wide.loc[:4, "bob"] = np.nan
    options = RatingsOptions(wide=True, annotators=("ann", "bob"), judges=("gpt",))
    report = agreement(wide, options=options, resamples=0)
    assert report.confusion[0].labels == ("1", "2", "3")
    (one,) = [
        one for one in report.results if one.name == "agreement" and one.raters == ("ann", "bob")
    ]
    assert (one.n, one.dropped) == (35, {"missing": 5})
    assert one.estimate == (LABELS["ann"][5:] == LABELS["bob"][5:]).mean()


def test_an_index_with_a_name_is_a_column() -> None:
    frame = long().set_index("item_id")
    expected = figures(agreement(long(), resamples=0))
    assert figures(agreement(frame, resamples=0)) == expected


def test_the_source_of_a_frame_is_its_content() -> None:
    first, again = (agreement(long(), resamples=0).source for _ in range(2))
    assert first == again and first["rows"] == 120 and len(first["sha256"]) == 64
    other = long()
    other.loc[0, "rating"] = 3 if other.loc[0, "rating"] != 3 else 2
    assert agreement(other, resamples=0).source["sha256"] != first["sha256"]


def test_what_a_frame_lacks_is_told_like_that_of_a_file() -> None:
    with pytest.raises(InputError, match="the frame has no column 'rating'"):
        agreement(long().drop(columns="rating"))
    with pytest.raises(InputError, match="header but no rows"):
        agreement(long().iloc[:0])
    with pytest.raises(InputError, match="no columns"):
        agreement(pd.DataFrame())
    with pytest.raises(InputError, match="'ghost' .*not among the categories|ghost"):
        agreement(long().assign(rating="ghost"), categories=("1", "2"))
    with pytest.raises(SettingsError, match="read already"):
        agreement(read_ratings(long()), options=RatingsOptions())


def test_a_report_is_frozen() -> None:
    report = agreement(long(), resamples=0)
    with pytest.raises(FrozenInstanceError):
        report.people = "gpt"
    assert set(report.to_dict()) >= {"results", "confusion", "kinds", "notes", "sections"}
    assert len(report.to_frame()) == len(report.result_dicts())
