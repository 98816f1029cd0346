"""The figures of one annotator: with the others, and with themselves where items were repeated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring.records import UNSURE
from ..study.ratings import Ratings
from .beyond_chance import raw_agreement
from .chance import cohen_kappa, krippendorff_alpha
from .clusters import FloatArray, IntArray
from .coding import MISSING, code_ratings
from .correlation import pearson
from .differences import mad
from .figures import label, visible, with_interval
from .label_figures import too_many
from .label_sets import UNSCORED_LABEL
from .others import majority_without, mean_without
from .panel import finish
from .panel_settings import PanelSettings
from .rater_quality import PairSums
from .result import Estimate
from .section import View

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RaterFigures"]

MANY_NUMBERS = 100
"""Beyond so many annotators distances of all pairs are not taken."""
_OTHERS = "the other annotators"
_AGAIN = "\x1frepeat "


class RaterFigures:
    """Makes the figures, all with ``comparison`` and ``rater`` in their details."""

    def __init__(self, view: View, columns: Sequence[int]) -> None:
        self.view, self.coded, self.columns = view, view.coded, list(columns)
        settings = view.settings
        self.in_numbers = settings.numeric and settings.aggregate != "majority"
        self.k = len(self.coded.categories)
        self.too_many = too_many(self.coded, settings)
        self.shared: dict[str, Any] = {
            "confidence": settings.confidence,
            "unit": settings.unit,
        }
        self._others: FloatArray | IntArray | None = None

    @property
    def names(self) -> tuple[str, str]:
        """What an annotator's agreement with the others is told by."""
        return ("pearson", "mad") if self.in_numbers else ("agreement", "cohen_kappa")

    def grid(self, column: str) -> FloatArray | None:
        """``(n, R)`` a column of the ratings as numbers, NaN where unknown; None without any."""
        frame = self.view.ratings.frame
        if column not in frame.columns:
            return None
        import pandas as pd

        values = [_as_number(cell) for cell in frame[column].tolist()]
        if all(math.isnan(one) for one in values):
            return None
        names = [self.coded.raters[c] for c in self.columns]
        row = pd.Index(self.coded.items["item_id"]).get_indexer(pd.Index(frame["item_id"]))
        place = pd.Index(names).get_indexer(pd.Index(frame["rater"]))
        out: FloatArray = np.full((len(self.coded.items), len(names)), math.nan)
        kept = (row >= 0) & (place >= 0)
        out[row[kept], place[kept]] = np.array(values)[kept]
        return out

    def pair_sums(self, codes: IntArray) -> PairSums | None:
        """What each pair of annotators comes to on each item; None where that means nothing."""
        if not self.in_numbers:
            return None if self.too_many else PairSums.of_labels(codes, self.k)
        if len(self.columns) > MANY_NUMBERS:
            return None
        return PairSums.of_numbers(self._numbers(codes))

    def with_others(self, at: int, name: str) -> dict[str, Estimate]:
        """Agreement and κ with the majority of the others, or r and MAD with their mean."""
        codes = np.maximum(self.coded.codes[:, self.columns], MISSING)
        own = codes[:, at]
        found: list[Estimate]
        if self.in_numbers:
            numbers = self._numbers(codes)
            if self._others is None:
                self._others = mean_without(numbers)
            mine, rest = numbers[:, at], np.asarray(self._others[:, at], dtype=float)
            both = ~(np.isnan(mine) | np.isnan(rest))
            shared = self._on(both)
            found = [
                pearson(mine[both], rest[both], rng=0, resamples=0, **shared),
                mad(mine[both], rest[both], **shared),
            ]
        elif self.too_many:
            return {}
        else:
            if self._others is None:
                self._others = majority_without(codes, self.k)[0]
            rest = np.asarray(self._others[:, at], dtype=np.int64)
            both = (own >= 0) & (rest >= 0)
            shared = {**self._on(both), "n_categories": self.k}
            pair = np.stack([own[both], rest[both]], axis=1)
            found = [
                raw_agreement(pair, **shared),
                cohen_kappa(pair[:, 0], pair[:, 1], **shared),
            ]
        gone = int(((own >= 0) & ~both).sum())
        dropped = {"no label by the others, or a tie": gone} if gone else {}
        return {
            one.name: self.finished(replace(one, dropped=dropped), name, "others") for one in found
        }

    def themselves(self) -> dict[str, dict[str, Estimate]]:
        """Rater → agreement and α of all ratings of an item by that rater, judges' too."""
        repeats = self.view.ratings.repeats
        if repeats is None or self.too_many:
            return {}
        import pandas as pd

        first = self.view.ratings.frame
        again = repeats.assign(
            rater=[
                f"{rater}{_AGAIN}{number}"
                for rater, number in zip(repeats["rater"], repeats["repeat"], strict=True)
            ]
        ).drop(columns="repeat")
        known = repeats["rater"].isin(first["rater"]) & repeats["item_id"].isin(first["item_id"])
        both = pd.concat([first, again[known]], ignore_index=True)
        coded = code_ratings(
            Ratings(both, cluster=self.view.ratings.cluster), self._settings(again)
        )
        out: dict[str, dict[str, Estimate]] = {}
        for rater in dict.fromkeys(repeats["rater"]):
            mine = [
                c
                for c, name in enumerate(coded.raters)
                if name == rater or name.startswith(f"{rater}{_AGAIN}")
            ]
            codes = np.maximum(coded.codes[:, mine], MISSING)
            used = (codes >= 0).sum(axis=1) >= 2
            if not used.any():
                continue
            shared: dict[str, Any] = {
                **self.shared,
                "clusters": coded.clusters[used],
                "weights": None if coded.weights is None else coded.weights[used],
                "n_categories": len(coded.categories),
            }
            scale = self.view.settings.scale
            values = coded.values if scale in ("interval", "ratio") else None
            found = [
                raw_agreement(codes[used], **shared),
                krippendorff_alpha(codes[used], level=scale, values=values, **shared),
            ]
            out[rater] = {one.name: self.finished(one, rater, "self") for one in found}
        return out

    def _settings(self, again: pd.DataFrame) -> PanelSettings:
        """The panel's, with its labels declared: a few repeats need not hold all of them."""
        settings = self.view.settings
        if settings.scale != "nominal" or settings.categories:
            return settings
        known = [c for c in self.coded.categories if c not in (UNSURE, UNSCORED_LABEL)]
        new = {label for label in again["rating"] if isinstance(label, str)} - {UNSURE}
        return replace(settings, categories=(*known, *sorted(new - set(known))))

    def finished(self, one: Estimate, rater: str, side: str) -> Estimate:
        """A figure of an annotator, by what it is about: others, rest, drift or self."""
        other = rater if side == "self" else _OTHERS
        intra = {"intra": True} if side == "self" else {}
        return finish(
            one,
            self.coded.noun,
            raters=(rater, other),
            comparison="rater-quality",
            dropped=one.dropped,
            details={"rater": rater, "side": side, **intra},
            weighted=self.coded.weights is not None and side != "drift",
        )

    def with_holm(self, one: Estimate, p: float) -> Estimate:
        """The same with its p-value adjusted for all annotators."""
        return replace(one, details={**one.details, "p_holm": p})

    def said(self, rater: str, one: Estimate) -> str:
        """A rater's agreement with themselves in a sentence."""
        whose = "self-consistency" if self._kind(rater) == "judge" else "intra-annotator"
        return (
            f"{visible(rater)} again ({whose}): {label(one.name)} {with_interval(one.to_dict())},"
            f" n {one.n}"
        )

    def _kind(self, rater: str) -> str:
        return dict(zip(self.coded.raters, self.coded.kinds, strict=True)).get(rater, "annotator")

    def _numbers(self, codes: IntArray) -> FloatArray:
        return np.stack([self.coded.numbers(column) for column in codes.T], axis=1)

    def _on(self, used: Any) -> dict[str, Any]:
        weights = self.coded.weights
        return {
            **self.shared,
            "clusters": self.coded.clusters[used],
            "weights": None if weights is None else weights[used],
        }


def _as_number(cell: Any) -> float:
    """Seconds, or a time in ISO 8601 as seconds; NaN where there is none."""
    if cell is None or cell != cell:
        return math.nan
    if isinstance(cell, str):
        try:
            return datetime.fromisoformat(cell).timestamp()
        except ValueError:
            return math.nan
    return float(cell)
