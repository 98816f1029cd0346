"""What all figures of a panel share: whose ratings they compare, what took no part, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .clusters import IntArray
from .coding import NOBODY, REASONS, Coded
from .result import Estimate, Level

__all__ = [
    "Comparison",
    "Confusion",
    "Figures",
    "confusion",
    "dropped_between",
    "finish",
]

Comparison = Literal[
    "people", "judge-annotator", "judge-final", "ceiling", "rater-quality", "alignment"
]

Figures = Literal["main", "all"]
"""Those of the short table, or every one."""
LARGE_TABLE = 20


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often which label met which.

    Parameters
    ----------
    raters
        The judge and the person (or two people).
    labels
        The categories, in the order of ``counts``.
    counts
        ``counts[i][j]``: items to which the second rater gave ``labels[i]`` and the first
        ``labels[j]`` (people in rows, the judge in columns). Items, unweighted.
    positive
        The label of the four counts below; None where there is none.
    tp, fp, fn, tn
        Both positive; only the first rater (the judge); only the second; neither.
    """

    raters: tuple[str, str]
    comparison: Comparison
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    positive: str | None = None
    tp: int | None = None
    fp: int | None = None
    fn: int | None = None
    tn: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The table as JSON values."""
        out: dict[str, Any] = {
            "name": "confusion",
            "level": "element",
            "comparison": self.comparison,
            "raters": list(self.raters),
            "labels": list(self.labels),
            "categories": list(self.labels),
            "counts": [list(row) for row in self.counts],
            "rows": self.raters[1],
            "columns": self.raters[0],
            "n": sum(map(sum, self.counts)),
            "dropped": dict(self.dropped),
        }
        if self.positive is not None:
            out |= {"positive": self.positive}
            out |= {name: getattr(self, name) for name in ("tp", "fp", "fn", "tn")}
        return out


def confusion(
    first: IntArray,
    second: IntArray,
    coded: Coded,
    *,
    raters: tuple[str, str],
    comparison: Comparison,
) -> Confusion | None:
    """The table of two raters' labels; None beyond 20 labels."""
    k = len(coded.categories)
    if k > LARGE_TABLE:
        return None
    both = (first >= 0) & (second >= 0)
    a, b = first[both], second[both]
    table = np.bincount(b * k + a, minlength=k * k).reshape(k, k)
    out = Confusion(
        raters=raters,
        comparison=comparison,
        labels=coded.categories,
        counts=tuple(tuple(int(cell) for cell in row) for row in table),
        dropped=dropped_between(first, second),
    )
    if coded.positive is None:
        return out
    judged, true = a == coded.positive, b == coded.positive
    return replace(
        out,
        positive=coded.categories[coded.positive],
        tp=int((judged & true).sum()),
        fp=int((judged & ~true).sum()),
        fn=int((~judged & true).sum()),
        tn=int((~judged & ~true).sum()),
    )


def dropped_between(*columns: NDArray[Any]) -> dict[str, int]:
    """Items without a rating in some column: the first reason that holds → count.

    An item that a person never saw counts as missing, not by what else is wrong with it; one that
    no person saw is not counted.
    """
    left = np.any([column == NOBODY for column in columns], axis=0)
    out: dict[str, int] = {}
    for code, reason in REASONS.items():
        here = np.any([column == code for column in columns], axis=0) & ~left
        if here.any():
            out[reason] = int(here.sum())
        left |= here
    return out


def finish(
    one: Estimate,
    noun: str,
    *,
    raters: tuple[str, ...],
    comparison: Comparison,
    level: Level = "element",
    dropped: Mapping[str, int] | None = None,
    details: Mapping[str, Any] | None = None,
    weighted: bool = False,
) -> Estimate:
    """A coefficient with its raters, level and the name of the resampling unit.

    A weighted one says so in its method, and has ``details["weighted"]``.
    """
    return replace(
        one,
        raters=raters,
        level=level,
        unit=noun if one.unit == "question" else one.unit,
        method=_worded(one.method, noun) + ("; weighted" if weighted and one.method else ""),
        reason=None if one.reason is None else _worded(one.reason, noun),
        warnings=tuple(_worded(text, noun) for text in one.warnings),
        dropped=dict(one.dropped if dropped is None else dropped),
        details={
            "comparison": comparison,
            **({"weighted": True} if weighted else {}),
            **one.details,
            **(details or {}),
        },
    )


def _worded(text: str, noun: str) -> str:
    """Name the clusters as the table does, where they are not questions."""
    # a function, since a column's name may hold what a pattern's replacement acts on
    return text if noun == "question" else re.sub(r"\bquestion(?=s?\b)", lambda _: noun, text)
