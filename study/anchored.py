"""Labels that somebody gave with a judge's verdict in sight: kept apart, never counted as blind.

A verdict that is shown draws people towards it, so such a label says little about the judge. It
is a rating of a rater of its own, beside the person's blind label of the item should there be one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .records import RatingRow
from .weights import OF_RETEST

__all__ = [
    "MARK",
    "OF_SHOWN",
    "SUFFIX",
    "TASK",
    "began_from_prediction",
    "beside_judge",
    "is_first_blind",
    "take_anchored",
]

MARK = "+judge:"
"""Stands in a task's template version between the version and the name of the judge shown."""
OF_SHOWN = "label-studio:judge-shown"
"""The source of a rating that was given with a judge's verdict in sight."""
SUFFIX = "+judge"
"""What is added to a person's name for these ratings in the ledger."""
TASK = "accord_task"
"""The key in a stored annotation's raw JSON under which its task is described."""

_ORIGINS = ("prediction", "prediction-changed")
LEFT_OUT = "rating given beside a judge's verdict"


def is_first_blind(row: RatingRow) -> bool:
    """Whether it is a person's own label: no repeat, and no judge's verdict was in sight."""
    return row.kind == "annotator" and row.source not in (OF_RETEST, OF_SHOWN)


def beside_judge(raw: Mapping[str, Any]) -> bool:
    """Whether a stored annotation was made on a page that showed a judge's verdict.

    Either the task was handed out so, or the annotation began from a prediction that somebody had
    put on the server.
    """
    task = raw.get(TASK) or {}
    return MARK in str(task.get("version")) or began_from_prediction(raw)


def began_from_prediction(raw: Mapping[str, Any]) -> bool:
    """Whether an annotation began from a prediction, changed since or not."""
    result = raw.get("result")
    parts = result if isinstance(result, list) else []
    return any(isinstance(part, dict) and part.get("origin") in _ORIGINS for part in parts)


def take_anchored(
    rows: Sequence[RatingRow], *, anchored: bool, dropped: dict[str, int]
) -> tuple[list[RatingRow], str | None]:
    """Ratings without those given beside a judge's verdict, or with them on request.

    Parameters
    ----------
    anchored
        Take them in, under the person's own name, where that person has no blind label of the
        item.
    dropped
        Counts what is left out.

    Returns
    -------
    tuple
        The ratings, and a sentence worth reading.
    """
    shown = [row for row in rows if row.source == OF_SHOWN]
    if not shown:
        return list(rows), None
    blind = [row for row in rows if row.source != OF_SHOWN]
    taken: list[RatingRow] = []
    if anchored:
        there = {(row.item_id, row.rater) for row in blind}
        named = (replace(row, rater=row.rater.removesuffix(SUFFIX)) for row in shown)
        taken = [row for row in named if (row.item_id, row.rater) not in there]
    left = len(shown) - len(taken)
    if left:
        dropped[LEFT_OUT] = dropped.get(LEFT_OUT, 0) + left
    if not anchored:
        return blind, (
            f"{left} ratings were given with a judge's verdict in sight: they are not blind and"
            " enter no figure (--anchored takes them in)"
        )
    also = f"; {left} more give way to the person's own blind label" if left else ""
    return [*blind, *taken], (
        f"{len(taken)} ratings were given with a judge's verdict in sight: they are not blind, and"
        f" flatter that judge{also}"
    )
