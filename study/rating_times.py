"""When people made their ratings in Label Studio, and how long each took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .anchored import beside_judge
from .records import RatingRow, StoredAnnotation
from .weights import OF_RETEST, RETEST

if TYPE_CHECKING:
    import pandas as pd

    from .ledger import Ledger

__all__ = ["add_times", "lead_time"]

_SOURCES = ("label-studio", OF_RETEST)


def add_times(
    frame: pd.DataFrame, rows: Sequence[RatingRow], ledger: Ledger, times: Sequence[int] = ()
) -> None:
    """Give a frame of ratings ``rated_at`` (ISO, UTC) and ``seconds``, where any is known.

    A rating has those of the annotation that counts: the last one of the person that was not
    cancelled. One given with a judge's verdict in sight has none, nor have pages that grade many
    items at once: their time is not that of an item.

    Parameters
    ----------
    rows
        The ratings of the frame, in its order.
    times
        For the how manieth time each was asked, 2 or more for a retest; by default all for the
        first.
    """
    import pandas as pd

    if not any(row.source in _SOURCES for row in rows) or {"rated_at", "seconds"} & set(frame):
        return  # a stratum of that name keeps it
    retests = [sample.sample_id for sample in ledger.samples() if sample.purpose == RETEST]
    time_of = {name: time for time, name in enumerate(retests, start=2)}
    found: dict[tuple[str, str, int], tuple[datetime, float]] = {}
    for annotation in ledger.annotations():
        at = _moment(annotation.updated_at)
        if at is None or annotation.raw.get("was_cancelled") or beside_judge(annotation.raw):
            continue
        time = time_of.get(annotation.sample_id or "", 1)
        key = (annotation.item_id, annotation.annotator, time)
        if key not in found or found[key][0] <= at:
            found[key] = at, lead_time(annotation)
    known: list[tuple[Any, float]] = []
    for row, time in zip(rows, times or [1] * len(rows), strict=True):
        there = row.source in _SOURCES and (row.item_id, row.rater, time) in found
        known.append(found[row.item_id, row.rater, time] if there else (None, math.nan))
    if any(at is not None for at, _ in known):
        moments = [None if at is None else at.isoformat() for at, _ in known]
        frame["rated_at"] = pd.Series(moments, dtype=object)
    if any(not math.isnan(seconds) for _, seconds in known):
        frame["seconds"] = pd.Series([seconds for _, seconds in known], dtype=float)


def _moment(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def lead_time(annotation: StoredAnnotation) -> float:
    """Seconds with the task open; NaN where the server did not say."""
    seconds = annotation.raw.get("lead_time")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        return math.nan
    return float(seconds) if 0 <= seconds < math.inf else math.nan
