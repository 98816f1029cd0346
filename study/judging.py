"""What a judge says in a scoring run, and the rows that go in the ledger for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..scoring.records import Item, Judgement
from .records import RatingRow

if TYPE_CHECKING:
    from ..scoring.judges import Judge
    from ..scoring.score import Prepared

__all__ = ["OF_ALIGNER", "Source", "judged", "rated", "rating"]

OF_ALIGNER = "judge of an aligner"
"""Source of a verdict on a pair that only an aligner makes which the recipe's was compared with."""


@dataclass(frozen=True, slots=True)
class Source:
    """A judge, what stands for it in the block, the hash of that, and what it had to do."""

    judge: Judge
    block: Mapping[str, Any]
    sha256: str
    work: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, judge: Judge) -> Source:
        block = {"name": judge.name, **judge.settings()}
        text = json.dumps(block, sort_keys=True, ensure_ascii=False)
        return cls(judge, block, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest())


_WORK = ("calls", "asked", "again", "known", "failed", "prompt_tokens", "completion_tokens")


def judged(source: Source, items: Sequence[Item]) -> list[Judgement]:
    """The judge's verdicts for items, in order; a model's work is added up."""
    judge = source.judge
    verdicts = judge.judge(items) if items else []
    summary = getattr(judge, "summary", None)
    if items and summary is not None:
        for name in _WORK:
            source.work[name] = source.work.get(name, 0) + getattr(summary, name)
        unscored = sum(verdict.verdict is None for verdict in verdicts)
        source.work["unscored"] = source.work.get("unscored", 0) + unscored
    if [verdict.item_id for verdict in verdicts] != [item.item_id for item in items]:
        raise RuntimeError(f"the judge {judge.name} answered other items than it was asked")
    return verdicts


def rating(source: Source, verdict: Judgement) -> RatingRow:
    """A verdict as a row of the ledger, with the settings that it was made with."""
    return RatingRow(
        item_id=verdict.item_id,
        rater=source.judge.name,
        kind="judge",
        rating=verdict.verdict,
        status="unscored" if verdict.verdict is None else "rated",
        reasons=(verdict.reason,) if verdict.reason else (),
        guideline=f"settings {source.sha256[:16]}",
        source="judge",
    )


def rated(source: Source, one: Prepared, verdicts: Sequence[Judgement]) -> list[RatingRow]:
    """The verdicts on a response; those on pairs of a compared aligner alone are marked as such."""
    rows = [rating(source, verdict) for verdict in verdicts]
    if not one.others:
        return rows
    made = (*one.pairs, *(one.ordered.pairs if one.ordered else ()))
    own = {one.item_id(pair) for pair in made}
    return [row if row.item_id in own else replace(row, source=OF_ALIGNER) for row in rows]
