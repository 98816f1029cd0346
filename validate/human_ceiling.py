"""The leave-one-out ceiling: each person against the others, and the judge against the same.

People's own figure is the level that one more person would be expected to reach; a judge is held
to it on the very same items and the very same aggregates. Both sides stand in one vector of sums
over questions, so that their difference has an interval of its own. Nothing is resampled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import SettingsError
from .cautions import FEW_DISAGREEMENTS, data_warnings, hangs_on_one, too_few
from .ceiling_sums import OF_LABELS, AnnotatorSums, Statistic, label_sides, number_sides
from .chance import off_diagonal
from .clusters import (
    Clusters,
    FloatArray,
    Unit,
    check_confidence,
    check_unit,
    effective_size,
    kish,
    leave_one_out,
    unit_mean_weights,
    without_rounding,
)
from .intervals import (
    FISHER,
    IDENTITY,
    LOG,
    jackknife_limits,
    t_quantile,
    wilson_limits,
    z_quantile,
)
from .proportions import fading_floor
from .result import Estimate

__all__ = ["Ceiling", "leave_one_out_ceiling"]

_LEAST = {"agreement": 6, "cohen_kappa": 10, "pearson": 10, "mad": 10}


@dataclass(frozen=True, slots=True)
class Ceiling:
    """People's leave-one-out figure, the judge's on the same items, and judge − people.

    Parameters
    ----------
    people, judge, difference
        The averages over annotators; the difference is positive where the judge has the larger
        figure (for ``mad``: lies farther off).
    annotators
        Which columns take part in the averages.
    by_annotator
        ``(people, judge, items)`` of each of these.
    """

    people: Estimate
    judge: Estimate
    difference: Estimate
    annotators: tuple[int, ...] = ()
    by_annotator: tuple[tuple[float, float, int], ...] = ()


def leave_one_out_ceiling(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    statistic: Statistic,
    n_categories: int | None = None,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Ceiling:
    """How close does a person come to the others, and the judge to the same others?

    Parameters
    ----------
    judge
        ``(n,)``: codes 0..k-1, -1 = missing (``agreement``, ``cohen_kappa``), or numbers, NaN =
        missing (``pearson``, ``mad``).
    people
        ``(n, n_annotators)`` of the same kind.
    statistic
        Of labels against the majority of the other annotators (a tie has none; such items are
        left out and counted), or of numbers against their mean.
    n_categories
        k; needed for labels.
    clusters
        ``(n,)`` integer codes of the items' questions.
    weights
        ``(n,)`` positive, e.g. inverse inclusion probabilities; None means equal.
    confidence
        Of the intervals, in (0, 1).
    unit
        ``question``, or ``item``, which takes items as independent.

    Returns
    -------
    Ceiling
        For each annotator the items count that he, the judge and an aggregate of the others have;
        the figure is the plain average over annotators (those with fewer than 10 such items are
        left out if others have more). Intervals by question: of the agreement Wilson's on the
        effective n, of κ the jackknife on Fisher's z with one disagreement added for each
        annotator, of r the jackknife on Fisher's z, of the MAD on the log scale; of a difference
        the jackknife t on the plain scale, for the agreement with one shifted question (see
        :func:`~accord.validate.ceiling.ceiling_difference`). NaN with a reason where undefined;
        no interval where it hangs on one question (without it a figure is undefined).
        ``details``: ``annotators``, ``ties`` (items times annotators without a majority),
        ``differing``, ``se``, ``df``, ``effective_n``.

    Raises
    ------
    InputError
        Arrays of different lengths, codes outside -1..k-1, infinite scores, bad weights.
    SettingsError
        An unknown statistic, labels without ``n_categories``.

    Notes
    -----
    No upper bound: a judge may lie closer to the others than any single person does, as their
    mean would. With two annotators it is each against the other. Annotators are fixed.
    """
    check_confidence(confidence)
    check_unit(unit)
    if statistic not in _LEAST:
        raise SettingsError(
            f"statistic {statistic!r} is unknown", cure=f"one of {', '.join(_LEAST)}"
        )
    if statistic in OF_LABELS:
        if n_categories is None:
            raise SettingsError(f"{statistic} needs n_categories", cure="the number of labels")
        sides = label_sides(judge, people, n_categories)
    else:
        sides = number_sides(judge, people)
    return _Averages(
        sides,
        statistic,
        k=n_categories or 0,
        where=Clusters.of(clusters, len(sides.judge)).codes,
        weights=unit_mean_weights(weights, len(sides.judge)),
        confidence=confidence,
        unit=unit,
    ).ceiling()


class _Averages(AnnotatorSums):
    """The averages over annotators with their intervals."""

    def _mean(self, totals: Any, side: int) -> Any:
        return self.each_of(totals, side)[..., self.chosen].mean(axis=-1)

    def ceiling(self) -> Ceiling:
        """All three figures."""
        name = f"leave_one_out_{self.statistic}"
        names = (name, name, f"{name}_difference")
        if not self.any.any() or not self.chosen.size:
            reason = (
                "no item has an annotator, the judge and a label by other annotators"
                if not self.any.any()
                else "one category only: kappa is undefined for every annotator"
                if self.statistic in OF_LABELS
                else "constant scores: r is undefined for every annotator"
            )
            shared: dict[str, Any] = {
                "confidence": self.confidence,
                "unit": self.unit,
                "reason": reason,
                "dropped": self._dropped(),
            }
            first, second, third = (Estimate(one, math.nan, **shared) for one in names)
            return Ceiling(first, second, third)
        return Ceiling(
            self._side(0, name),
            self._side(1, name),
            self._difference(names[2]),
            annotators=tuple(int(self.kept[at]) for at in self.chosen),
            by_annotator=tuple(
                (
                    float(self.each[0][at]) * self._factor,
                    float(self.each[1][at]) * self._factor,
                    int(self.counts[self.kept[at]]),
                )
                for at in self.chosen
            ),
        )

    @property
    def _factor(self) -> float:
        return self.scale if self.statistic == "mad" else 1.0

    @property
    def _df(self) -> float:
        return self.groups.df if self.unit == "question" else float(self.groups.n - 1)

    def _dropped(self) -> dict[str, int]:
        sides = self.sides
        alone = sides.rated.sum(axis=1) < 2
        judged = sides.judged
        tied = ~sides.used.any(axis=1) & sides.tied.any(axis=1)
        counts = {
            "fewer than two annotators": int(alone.sum()),
            "no rating by the judge": int((~alone & ~judged).sum()),
            "tie of the other annotators": int((~alone & judged & tied).sum()),
        }
        return {why: number for why, number in counts.items() if number}

    def _shares(self, side: int) -> FloatArray:
        """``(n,)`` for each item the share of its annotators where this side hits the others."""
        used = self.sides.used[self.any][:, self.kept[self.chosen]]
        x = (
            self.sides.people[self.any][:, self.kept[self.chosen]]
            if side == 0
            else np.broadcast_to(self.sides.judge[self.any][:, None], used.shape)
        )
        others = self.sides.others[self.any][:, self.kept[self.chosen]]
        if self.statistic in OF_LABELS:
            hit = x == others
        else:
            with np.errstate(invalid="ignore"):
                hit = self.apart(x, others) == 0
        return np.asarray((hit & used).sum(axis=1) / np.maximum(used.sum(axis=1), 1), dtype=float)

    def _figure(self, name: str, f: Any, method: str, df: float) -> Estimate:
        """An estimate without its interval, which has ``df`` degrees of freedom."""
        theta = without_rounding(self.sums.value(f))
        se, design = self.sums.linearised(f)
        return Estimate(
            name,
            theta * self._factor,
            confidence=self.confidence,
            method=method
            if self.unit == "question"
            else f"{method.replace('question', 'item')}; items taken as independent",
            unit=self.unit,
            n=self.groups.n,
            clusters=self.groups.count,
            design_effect=design,
            dropped=self._dropped(),
            warnings=tuple(data_warnings(self.groups, self.weights, df=df, unit=self.unit)),
            details={
                "annotators": int(self.chosen.size),
                **({"ties": int(self.sides.tied.sum())} if self.statistic in OF_LABELS else {}),
                "se": se * self._factor,
                "df": df,
                "effective_n": effective_size(self.groups.n, design),
            },
        )

    def _side(self, side: int, name: str) -> Estimate:
        def f(totals: Any) -> Any:
            return self._mean(totals, side)

        methods = {
            "agreement": "Wilson score interval on the effective n, Student t",
            "cohen_kappa": "question jackknife t on Fisher z, one disagreement added",
            "pearson": "question jackknife t on Fisher z",
            "mad": "question jackknife t on the log scale",
        }
        share_of_items = self.statistic == "agreement" and self.unit == "question"
        df = self.groups.effective_df if share_of_items else self._df
        out = self._figure(name, f, methods[self.statistic], df)
        share = self._shares(side)
        differing = int((share < 1).sum())
        out = replace(out, details={**out.details, "differing": differing})
        by = self.sums.by(self.unit)
        reason = too_few(len(by), _LEAST[self.statistic], self.unit)
        if differing < FEW_DISAGREEMENTS:
            out = replace(
                out,
                warnings=(*out.warnings, f"rests on {differing} differing items (fewer than 10)"),
            )
        if differing == 0 and self.statistic in ("pearson", "mad"):
            reason = "no interval: all scores are equal"
        if reason is not None:
            return replace(out, reason=reason)
        theta = self.sums.value(f)
        level = self.confidence
        if self.statistic == "agreement":
            low, high = self._wilson(theta, share, leave_one_out(f, by), df)
        elif self.statistic == "cohen_kappa":
            table = np.vstack([by, self._disagreement()])
            centre = float(f(table.sum(axis=0)))
            away = leave_one_out(f, table)
            low, high = jackknife_limits(centre, away, scale=FISHER, df=df, confidence=level)
            low, high = min(low, theta), max(high, theta)
        else:
            scale = FISHER if self.statistic == "pearson" else LOG
            away = leave_one_out(f, by)
            low, high = jackknife_limits(theta, away, scale=scale, df=df, confidence=level)
        return self._with(out, low, high)

    def _wilson(
        self, p: float, share: FloatArray, away: FloatArray, df: float
    ) -> tuple[float, float]:
        """As :func:`~accord.validate.proportions.clustered_proportion`, of the jackknife's SE."""
        n = kish(self.weights)
        if self.unit == "item":
            return wilson_limits(p, n, z_quantile(self.confidence))
        rare = float(min(share.sum(), share.size - share.sum()))
        floor = fading_floor(self.groups.mean_size, rare)
        measured = 1.0
        if 0 < p < 1:
            off, g = away - p, away.size
            measured = float((g - 1) / g * (off @ off) / (p * (1 - p) / n))
        critical = t_quantile(self.confidence, df)
        return wilson_limits(min(max(p, 0.0), 1.0), n / max(1.0, measured, floor), critical)

    def _disagreement(self) -> FloatArray:
        """One disagreeing item for every annotator and side."""
        t = self.sums.total.reshape(-1, 2, 1 + 2 * self.k)
        return np.concatenate([off_diagonal(part, self.k) for part in t.reshape(-1, t.shape[-1])])

    def _difference(self, name: str) -> Estimate:
        def f(totals: Any) -> Any:
            return self._mean(totals, 1) - self._mean(totals, 0)

        method = "question jackknife t, plain scale"
        agreement = self.statistic == "agreement"
        method = f"{method}, one question shifted" if agreement else method
        out = self._figure(name, f, method, self._df)
        differing = int((np.abs(self._shares(0) - self._shares(1)) > 1e-9).sum())
        out = replace(out, details={**out.details, "differing": differing})
        by = self.sums.by(self.unit)
        reason = too_few(len(by), _LEAST[self.statistic], self.unit)
        if agreement and differing == 0:
            why = "judge and people meet the others alike on every item: no variation"
            return replace(out, estimate=math.nan, reason=why)
        if agreement and differing < FEW_DISAGREEMENTS:
            text = f"INCONCLUSIVE: rests on {differing} items where the two differ (fewer than 10)"
            out = replace(out, warnings=(*out.warnings, text))
        if reason is not None:
            return replace(out, reason=reason)
        low, high = self._limits(f, by)
        if agreement:
            worse, better = (self._limits(f, np.vstack([by, self._shift(up)])) for up in (0, 1))
            low, high = min(low, worse[0]), max(high, better[1])
        return self._with(out, low, high)

    def _with(self, out: Estimate, low: float, high: float) -> Estimate:
        """The estimate with its limits, in units of the score, or why it has none."""
        reason = hangs_on_one(low, self.unit)
        return replace(out, low=low * self._factor, high=high * self._factor, reason=reason)

    def _limits(self, f: Any, by: FloatArray) -> tuple[float, float]:
        with np.errstate(all="ignore"):
            theta = float(f(by.sum(axis=0)))
        away = leave_one_out(f, by)
        return jackknife_limits(
            theta, away, scale=IDENTITY, df=self._df, confidence=self.confidence
        )

    def _shift(self, up: int) -> FloatArray:
        """One item on which, for every annotator, only the judge (or only the person) hits."""
        return np.tile([1.0, 1.0 - up, float(up)], len(self.kept))
