"""Ratings of small wide tables, and one figure of a report, for the tests of the panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from accord.study import Ratings
from accord.validate import AgreementReport, Estimate


def make(
    table: Mapping[str, Sequence[str | None]],
    kinds: Mapping[str, str],
    **columns: Sequence[Any],
) -> Ratings:
    """Ratings of a small wide table: rater → one label an item, None where there is none."""
    n = len(next(iter(table.values())))
    rows = []
    for rater, labels in table.items():
        for item, label in enumerate(labels):
            if label is None and kinds[rater] != "judge":
                continue
            row = {
                "item_id": f"i{item}",
                "question_id": f"q{item // 2}",
                "system": "-",
                "response_id": None,
                "rater": rater,
                "kind": kinds[rater],
                "rating": label,
                "status": "rated" if label is not None else "unscored",
                "weight": 1.0,
            }
            rows.append(row | {name: cells[item] for name, cells in columns.items()})
    assert all(len(labels) == n for labels in table.values())
    frame = pd.DataFrame(rows)
    return Ratings(frame.astype({name: object for name in frame.columns if name != "weight"}))


def find(report: AgreementReport, name: str, *raters: str, level: str = "element") -> Estimate:
    found = [
        one
        for one in report.results
        if one.name == name and one.level == level and one.raters == raters
    ]
    assert len(found) == 1, [(one.name, one.raters, one.level) for one in report.results]
    return found[0]
