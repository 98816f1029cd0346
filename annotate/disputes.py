"""Which items people left open: they gave different verdicts, or somebody was unsure."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..scoring.records import REASONS, UNSURE, Item
from ..study.anchored import is_first_blind
from ..study.records import GROUND_TRUTH
from .pseudonym import EMAIL
from .tasks import Graded, graded_pair, visible

if TYPE_CHECKING:
    from ..study import Study
    from ..study.records import RatingRow, Sample

__all__ = ["Dispute", "Why", "disputed", "mixed", "settled_items"]

Why = Literal["differ", "unsure"]


@dataclass(frozen=True, slots=True)
class Dispute:
    """One item that is worth adjudicating.

    Attributes
    ----------
    why
        ``differ``: two verdicts other than UNSURE contradict each other; ``unsure``: none do, and
        somebody was unsure.
    raters
        Who labelled the item, by the names in the ledger.
    task
        What an adjudicator is shown, the labels of the others with it.
    """

    item_id: str
    why: Why
    raters: tuple[str, ...]
    task: Graded


def disputed(study: Study, sample: Sample, items: Sequence[Item]) -> list[Dispute]:
    """The sample's disputed items in its order, each with what people said of it.

    Nobody is named. A judge's verdict, an earlier adjudication, a retest and what was said with a
    judge's verdict in sight are not among the labels, whose order differs from item to item.
    """
    said: dict[str, list[RatingRow]] = {}
    wanted = {item.item_id for item in items}
    for row in study.ledger.rating_rows():
        if is_first_blind(row) and row.status == "rated" and row.item_id in wanted:
            said.setdefault(row.item_id, []).append(row)
    found = []
    for item in items:
        rows = said.get(item.item_id, [])
        verdicts = {row.rating for row in rows}
        if len(verdicts) < 2 and UNSURE not in verdicts:
            continue
        order = random.Random(mixed(sample, item.item_id))
        shown = order.sample(rows, len(rows))
        found.append(
            Dispute(
                item.item_id,
                "differ" if len(verdicts - {UNSURE}) > 1 else "unsure",
                tuple(row.rater for row in rows),
                graded_pair(item, "\n".join(map(_label, shown))),
            )
        )
    return found


def settled_items(rows: Iterable[RatingRow]) -> frozenset[str]:
    """The items that have an adjudicated label; one flagged as ground truth settles nothing."""
    return frozenset(
        row.item_id
        for row in rows
        if row.kind == "adjudicated" and row.status == "rated" and row.rater != GROUND_TRUTH
    )


def mixed(sample: Sample, item_id: str) -> str:
    """What seeds an order that differs from item to item and is always the same for one."""
    return hashlib.sha256(f"{sample.seed}\0{sample.sample_id}\0{item_id}".encode()).hexdigest()


def _label(row: RatingRow) -> str:
    """One person's label as another one sees it."""
    reasons = [REASONS.get(reason, reason) for reason in row.reasons]
    text = f"• {row.rating}"
    if reasons:
        text += f" ({'; '.join(reasons)})"
    if row.comment:
        text += f": “{row.comment}”"
    return visible(EMAIL.sub("[address]", text))
