"""The mean figures of a scoring run, by judge and system."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ..scoring.averages import mean_scores
from ..scoring.metrics import Counts, ListQAScores, State

if TYPE_CHECKING:
    from ..scoring.recipes import Recipe
    from ..scoring.score import ResponseScore

__all__ = ["MeansTable"]

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Light:
    """What of a response's score goes into a mean; the texts are let go."""

    state: State
    scores: ListQAScores
    counts: Counts
    block: Mapping[str, Any]
    contested: tuple[int, int]


@dataclass(slots=True)
class _Pairs:
    """Sums over pairs that came paired."""

    pairs: int = 0
    responses: int = 0
    empty: int = 0
    correct: float = 0.0
    usable: float = 0.0
    shares: list[float] = field(default_factory=list)
    unscored: int = 0
    unsure: int = 0


class MeansTable:
    """Collects scores during a run; :meth:`rows` gives the means.

    A system whose responses were parsed has the recipe's figures; one whose pairs came paired has
    the share correct, which is no F1: the mean over the responses, or of all pairs where the recipe
    pools its averages.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._scores: dict[Key, list[_Light]] = defaultdict(list)
        self._pairs: dict[Key, _Pairs] = defaultdict(_Pairs)
        self._blocks: dict[str, Mapping[str, Any]] = {}

    def add(
        self,
        judge: str,
        system: str,
        variant: str,
        score: ResponseScore,
        judge_block: Mapping[str, Any],
    ) -> None:
        """Take the score of one response."""
        if judge not in self._blocks:
            self._blocks[judge] = {"recipe": self._recipe.block(), "judge": dict(judge_block)}
        ours, theirs = score.prepared.contested
        taken = (len(ours), len(theirs))
        light = _Light(score.state, score.scores, score.counts, self._blocks[judge], taken)
        self._scores[(judge, system, variant)].append(light)

    def add_given(self, judge: str, row: Mapping[str, Any]) -> None:
        """Take the row of a response whose pairs came paired."""
        sums = self._pairs[(judge, row["system"], row["variant"])]
        sums.pairs += row["n_pairs"]
        sums.responses += 1
        sums.empty += row["state"] == "empty"
        sums.correct += row["correct"]
        sums.usable += row["usable"]
        if row["share_correct"] is not None:
            sums.shares.append(row["share_correct"])
        sums.unscored += row["unscored"]
        sums.unsure += row["unsure"]

    def drop(self, judge: str) -> None:
        """Forget a judge that did not get to the end."""
        for sums in (self._scores, self._pairs):
            for key in [key for key in sums if key[0] == judge]:
                del sums[key]

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row a judge and system, in the order they came; undefined figures are None."""
        for (judge, system, variant), scores in self._scores.items():
            # These four fields are all that a mean reads of a score.
            means = mean_scores(cast("list[ResponseScore]", scores))
            predicted, reference = map(sum, zip(*(one.contested for one in scores), strict=True))
            yield {
                "judge": judge,
                "system": system,
                "variant": variant,
                "unit": "response",
                "responses": means.responses,
                **{s: sum(score.state == s for score in scores) for s in means.rates},
                "unscored": means.unscored,
                "unsure": means.unsure,
                "contested": {"predicted": predicted, "reference": reference},
                "figures": _plain(means.figures),
                "when_given": _plain(means.when_given),
                "by_response": _plain(means.by_response),
                "pooled": _plain(means.pooled),
                "n": dict(means.n),
            }
        for (judge, system, variant), sums in self._pairs.items():
            share, n = self._share(sums)
            yield {
                "judge": judge,
                "system": system,
                "variant": variant,
                "unit": "pairs",
                "responses": sums.responses,
                "pairs": sums.pairs,
                "given": sums.responses - sums.empty,
                "empty": sums.empty,
                "unscored": sums.unscored,
                "unsure": sums.unsure,
                "figures": _plain({"share_correct": share}),
                "n": {"share_correct": n},
            }

    def _share(self, sums: _Pairs) -> tuple[float, int]:
        """The share correct as the recipe averages, and of how many responses (or pairs)."""
        if self._recipe.averaging == "pooled":
            return (sums.correct / sums.usable if sums.usable else math.nan), int(sums.usable)
        n = len(sums.shares)
        return (math.fsum(sums.shares) / n if n else math.nan), n


def _plain(figures: Mapping[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}
