"""When a person graded an item and how long it took come from the annotation that counts."""

from __future__ import annotations

import math
from typing import Any

import pytest

from accord.study import Study
from accord.study.records import RatingRow, StoredAnnotation
from accord.validate import agreement


def annotation(number: int, item: str, at: str, **raw: Any) -> StoredAnnotation:
    return StoredAnnotation(
        unique_id=f"u{number}",
        updated_at=at,
        item_id=item,
        content_sha256="",
        sample_id=None,
        annotator="ann",
        raw=raw,
    )


def test_the_last_live_annotation_says_when_and_how_long(paired: Study) -> None:
    items = [item.item_id for item in paired.items()][:3]
    paired.ledger.add_ratings(
        [RatingRow(item, "ann", "annotator", "CORRECT", source="label-studio") for item in items]
        + [RatingRow(items[0], "bob", "annotator", "CORRECT", source="file:labels.csv")]
    )
    paired.ledger.add_annotations(
        [
            annotation(1, items[0], "2026-02-01T10:00:00.250000Z", lead_time=12.5),
            annotation(1, items[0], "2026-02-01T11:00:00+01:00", lead_time=3),  # earlier, in UTC
            annotation(2, items[0], "2026-02-03T10:00:00Z", lead_time=99, was_cancelled=True),
            annotation(3, items[1], "2026-02-02T10:00:00Z"),
            annotation(4, items[2], "no time", lead_time=1),
        ]
    )
    frame = paired.ratings().frame
    rows = {(row["item_id"], row["rater"]): row for row in frame.to_dict("records")}
    first = rows[items[0], "ann"]
    assert (first["rated_at"], first["seconds"]) == ("2026-02-01T10:00:00.250000+00:00", 12.5)
    second = rows[items[1], "ann"]
    assert second["rated_at"] == "2026-02-02T10:00:00+00:00" and math.isnan(second["seconds"])
    for key in ((items[2], "ann"), (items[0], "bob")):
        assert rows[key]["rated_at"] is None and math.isnan(rows[key]["seconds"])


def test_without_annotations_there_are_no_such_columns(paired: Study) -> None:
    item = paired.items()[0].item_id
    paired.ledger.add_ratings([RatingRow(item, "ann", "annotator", "CORRECT", source="file:x")])
    assert not {"rated_at", "seconds"} & set(paired.ratings().frame)


@pytest.mark.parametrize("seconds", [True, "12", -1, math.inf, None])
def test_a_lead_time_that_is_none_is_unknown(paired: Study, seconds: Any) -> None:
    item = paired.items()[0].item_id
    paired.ledger.add_ratings(
        [RatingRow(item, "ann", "annotator", "CORRECT", source="label-studio")]
    )
    paired.ledger.add_annotations([annotation(1, item, "2026-02-01T10:00:00Z", lead_time=seconds)])
    frame = paired.ratings().frame
    assert "seconds" not in frame and frame["rated_at"].notna().all()


def test_the_panel_of_a_study_tells_the_speed(paired: Study) -> None:
    items = [item.item_id for item in paired.items()]
    paired.ledger.add_ratings(
        [
            RatingRow(item, rater, "annotator", "CORRECT", source="label-studio")
            for item in items
            for rater in ("ann", "bob")
        ]
    )
    paired.ledger.add_annotations(
        [
            annotation(n, item, f"2026-02-01T10:{n:02d}:00Z", lead_time=10 + n)
            for n, item in enumerate(items)
        ]
    )
    report = agreement(paired.ratings(), resamples=0)
    (part,) = [part for part in report.sections if part.name == "rater-quality"]
    rows = {row["rater"]: row for row in part.rows if "rater" in row}
    assert rows["ann"]["median_seconds"] == 10 + (len(items) - 1) / 2
    assert math.isnan(rows["bob"]["median_seconds"])
