"""Averages of scores, refused where the recipes differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .errors import InputError, SettingsError
from .metrics import STATES, Counts, ListQAScores, Share, State, precision_recall_f1

__all__ = ["MeanScores", "Scored", "mean_scores", "same_block"]


class Scored(Protocol):
    """What of a response's score goes into a mean (:class:`accord.scoring.score.ResponseScore`)."""

    @property
    def state(self) -> State: ...
    @property
    def scores(self) -> ListQAScores: ...
    @property
    def counts(self) -> Counts: ...
    @property
    def block(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class MeanScores:
    """The mean figures of many responses.

    Parameters
    ----------
    figures
        Name → mean over all responses; an answer that is empty, abstained or unreadable counts as
        it was scored (0). NaN where no response has the figure.
    when_given
        The same over the responses with the state ``given``.
    by_response, pooled
        The two ways to average: the mean of the responses' figures, and one figure from all their
        counts. ``figures`` are those that the recipe names.
    n
        Name → responses that have the figure.
    rates
        State → share of the responses.
    responses, unscored, unsure
        How many responses, and pairs whose verdict could not be read or was UNSURE.
    block
        The one recipe block of all of them.
    """

    figures: Mapping[str, float]
    when_given: Mapping[str, float]
    n: Mapping[str, int]
    rates: Mapping[str, float]
    responses: int
    unscored: int
    unsure: int
    block: Mapping[str, Any]
    by_response: Mapping[str, float]
    pooled: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """The means as JSON values; NaN becomes None."""

        def plain(figures: Mapping[str, float]) -> dict[str, float | None]:
            return {k: v if math.isfinite(v) else None for k, v in figures.items()}

        return {
            "figures": plain(self.figures),
            "when_given": plain(self.when_given),
            "by_response": plain(self.by_response),
            "pooled": plain(self.pooled),
            "n": dict(self.n),
            "rates": dict(self.rates),
            "responses": self.responses,
            "unscored": self.unscored,
            "unsure": self.unsure,
            "block": dict(self.block),
        }


def mean_scores(scores: Sequence[Scored]) -> MeanScores:
    """Average the figures of many responses, if they may be averaged.

    Raises
    ------
    SettingsError
        When the scores have different recipe blocks; the first difference is named.
    InputError
        When there is no score.
    """
    if not scores:
        raise InputError("there is no score to average", cure="score some responses first")
    block = same_block([score.block for score in scores])
    given = [score for score in scores if score.state == "given"]
    pooled = block["recipe"]["averaging"] == "pooled"
    by_response, n = _means(scores, pooled=False)
    of_counts = {**by_response, **_pooled(scores)}
    return MeanScores(
        figures=of_counts if pooled else by_response,
        when_given=_means(given, pooled)[0] if given else dict.fromkeys(by_response, math.nan),
        n=n,
        rates={s: sum(score.state == s for score in scores) / len(scores) for s in STATES},
        responses=len(scores),
        unscored=sum(score.counts.unscored for score in scores),
        unsure=sum(score.counts.unsure for score in scores),
        block=block,
        by_response=by_response,
        pooled=of_counts,
    )


def _means(scores: Sequence[Scored], pooled: bool) -> tuple[dict[str, float], dict[str, int]]:
    """The mean of each figure over the responses that have it, and how many those are."""
    rows = [score.scores.figures() for score in scores]
    figures: dict[str, float] = {}
    n: dict[str, int] = {}
    for name in rows[0]:
        values = [row[name] for row in rows if not math.isnan(row[name])]
        n[name] = len(values)
        figures[name] = math.fsum(values) / len(values) if values else math.nan
    if pooled:
        figures.update(_pooled(scores))
    return figures, n


def _pooled(scores: Sequence[Scored]) -> dict[str, float]:
    """Each figure from the summed counts of the responses that have it."""
    out: dict[str, float] = {}
    for name in ("judge", "ordered", "rouge"):
        all_prf = [getattr(score.scores, name) for score in scores]
        known = [prf for prf in all_prf if prf is not None and prf.reason is None]
        if not known:
            continue
        total = precision_recall_f1(
            sum(prf.correct for prf in known),
            sum(prf.n_predicted for prf in known),
            sum(prf.n_reference for prf in known),
        )
        if name == "judge":
            out["llm_judge_precision"] = total.precision
            out["llm_judge_recall"] = total.recall
            out["llm_judge_f1"] = total.f1
        elif name == "ordered":
            out["llm_judge_f1_ordered"] = total.f1
        else:
            out["rouge_precision"] = total.precision
            out["rouge_recall"] = total.recall
            out["rouge_f1"] = total.f1
    for name in ("relaxed_recall", "relaxed_precision", "format_correctness"):
        shares: list[Share] = [getattr(score.scores, name) for score in scores]
        whole = Share(sum(share.hits for share in shares), sum(share.total for share in shares))
        out[name] = whole.value
    return out


def same_block(blocks: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The one recipe block of several scores.

    Raises
    ------
    SettingsError
        When there are several: the figures are then not comparable. The first difference is named.
    """
    first = blocks[0]
    for other in blocks[1:]:
        if other != first:
            raise SettingsError(
                f"scores with different recipes can't be averaged: {_difference(first, other)}",
                cure="score all of them with one recipe, or average each on its own",
            )
    return first


def _difference(one: Any, other: Any, name: str = "") -> str:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}, key=str):
            if one.get(key) != other.get(key):
                return _difference(one.get(key), other.get(key), f"{name}.{key}".lstrip("."))
    return f"{name} is {one!r} in one and {other!r} in another"
