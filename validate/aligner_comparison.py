"""How much another aligner changes a judge's scores, and how many elements it pairs otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring.errors import InputError
from .clusters import cluster_codes
from .differences import mean_difference
from .proportions import clustered_proportion

if TYPE_CHECKING:
    import pandas as pd

    from .result import Estimate

__all__ = ["aligner_effects"]


def aligner_effects(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    aligners: Sequence[str],
    confidence: float = 0.95,
) -> list[Estimate]:
    """By how much does a mean score change when the elements are put side by side another way?

    Parameters
    ----------
    scores
        A row a judge and response: ``judge, question_id, system``, and a column for each aligner
        with the score in [0, 1]; NaN where it is undefined.
    pairs
        A row a response and aligner but the first: ``question_id, system, aligner, elements,
        differing``: predicted elements, and how many of them have another partner than under the
        first aligner.
    aligners
        Two or more names; the others are compared with the first.
    confidence
        Of the intervals, in (0, 1).

    Returns
    -------
    list of Estimate
        For each aligner but the first, of all systems together (level ``dataset``,
        ``details["system"]`` None) and of each (level ``system``):

        ``pairs_that_differ``
            The share of predicted elements with another partner, with the clustered interval of
            :func:`~accord.validate.proportions.clustered_proportion`. No judge has a part in it.
        ``aligner_difference``
            For each judge (``raters``) the mean score under the aligner less that under the first,
            over the responses that have both, with the interval by question of
            :func:`~accord.validate.differences.mean_difference`; without one where all differences
            are the same. ``details``: ``mean`` and ``mean_first``, ``differing`` (responses).
            ``dropped`` counts responses without one of the two scores.

    Raises
    ------
    InputError
        Fewer than two aligners.
    """
    if len(aligners) < 2:
        raise InputError("one aligner has nothing to be compared with", cure="name two or more")
    first, *others = aligners
    systems = list(dict.fromkeys(pairs["system"].tolist()))
    found: list[Estimate] = []
    for other in others:
        of_other = pairs[pairs["aligner"] == other]
        for system, part in _parts(of_other, systems):
            found.append(_differing(part, system, (first, other), confidence))
        for judge in dict.fromkeys(scores["judge"].tolist()):
            for system, part in _parts(scores[scores["judge"] == judge], systems):
                found.append(_difference(part, judge, system, (first, other), confidence))
    return found


def _parts(
    frame: pd.DataFrame, systems: Sequence[str]
) -> Iterator[tuple[str | None, pd.DataFrame]]:
    """All systems together, then each; a single system is not shown twice."""
    if len(systems) != 1:
        yield None, frame
    for system in systems:
        yield system, frame[frame["system"] == system]


def _named(
    one: Estimate, name: str, system: str | None, of: tuple[str, str], **more: Any
) -> Estimate:
    first, other = of
    return replace(
        one,
        name=name,
        level="dataset" if system is None else "system",
        details={"system": system, "aligner": other, "first": first, **more, **one.details},
    )


def _differing(
    part: pd.DataFrame, system: str | None, of: tuple[str, str], confidence: float
) -> Estimate:
    elements = part["elements"].to_numpy(dtype=np.int64)
    differing = part["differing"].to_numpy(dtype=np.int64)
    # one 1 a differing element, then one 0 a further element of the response
    ones = np.repeat(
        [1.0, 0.0] * len(part), np.column_stack([differing, elements - differing]).flat
    )
    codes = np.repeat(cluster_codes(part["question_id"].tolist()), elements)
    share = clustered_proportion(ones, clusters=codes, confidence=confidence)
    return _named(share, "pairs_that_differ", system, of, count=int(differing.sum()))


def _difference(
    part: pd.DataFrame,
    judge: str,
    system: str | None,
    of: tuple[str, str],
    confidence: float,
) -> Estimate:
    first, other = of
    both = part[first].notna() & part[other].notna()
    part = part[both]
    before, after = (part[name].to_numpy(dtype=float) for name in (first, other))
    one = mean_difference(
        after,
        before,
        clusters=cluster_codes(part["question_id"].tolist()),
        confidence=confidence,
    )
    missing = int((~both).sum())
    dropped = {"no score under one of the two": missing} if missing else {}
    return _named(
        replace(one, raters=(judge,), dropped=dropped),
        "aligner_difference",
        system,
        of,
        mean=float(after.mean()) if after.size else float("nan"),
        mean_first=float(before.mean()) if before.size else float("nan"),
    )
