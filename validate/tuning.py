"""Labels that the judge's prompt was tuned on, kept apart from those that were held out.

A judge looks better on labels that its prompt was fitted to. The panel is made from the held-out
labels alone; here both stand side by side, with the difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..scoring.errors import SettingsError
from ..study.ratings import Ratings
from ..study.tuned import MARK
from .against_people import comparison_with
from .beyond_chance import raw_agreement
from .cautions import FEW_DISAGREEMENTS, data_warnings, too_few
from .chance import cohen_kappa, gwet_ac1
from .clusters import (
    Clusters,
    FloatArray,
    IntArray,
    Sums,
    Unit,
    check_confidence,
    check_unit,
    effective_size,
    leave_one_out,
    unit_mean_weights,
)
from .coding import Coded
from .contrast import contrast, contrast_df
from .differences import bias, mad
from .figures import count, estimate, interval, label, visible
from .intervals import IDENTITY, jackknife_limits
from .item_parts import part_of
from .label_figures import too_many
from .panel import dropped_between, finish
from .people import people_label
from .result import Estimate
from .section import Section, View
from .text_cells import pad

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["hold_out", "kappa_difference", "tuning_section"]

_LEAST_KAPPA = 10
_MANY = 12
"""Beyond so many labels a difference of κ rests on too many cells."""
_TUNED, _HELD_OUT, _DIFFERENCE = "tuned on", "held out", "difference"


def hold_out(ratings: Ratings, coded: Coded) -> tuple[Ratings, Coded, Coded | None]:
    """The held-out items' ratings and codes, and the codes of those the prompt was tuned on.

    None where the ratings do not say which those are.

    Raises
    ------
    SettingsError
        When nothing that a person labelled is left.
    """
    if MARK not in coded.items.columns:
        return ratings, coded, None
    tuned = np.array([bool(cell) for cell in coded.items[MARK]], dtype=bool)
    if coded.labelled[tuned].any() and not coded.labelled[~tuned].any():
        raise SettingsError(
            "every label by people is one that the prompt was tuned on: nothing is held out",
            cure="label items that the prompt has not seen, or leave --tuned-on and --split out",
        )
    held_out = replace(
        ratings,
        frame=_held_out(ratings.frame),
        unrated=None if ratings.unrated is None else _held_out(ratings.unrated),
    )
    return held_out, part_of(coded, ~tuned), part_of(coded, tuned)


def _held_out(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[~frame[MARK].astype(bool)].reset_index(drop=True)


def kappa_difference(
    a: ArrayLike,
    b: ArrayLike,
    chosen: ArrayLike,
    *,
    n_categories: int,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
) -> Estimate:
    """By how much does Cohen's κ of two raters differ between two parts of the items?

    Parameters
    ----------
    a, b
        ``(n,)`` codes 0..k-1 of the two raters; none missing.
    chosen
        ``(n,)`` whether the item is in the first part; all others are in the second.
    n_categories, clusters, weights, confidence, unit
        As :func:`~accord.validate.chance.cohen_kappa`.

    Returns
    -------
    Estimate
        κ of the first part less κ of the second, in [-2, 2]. The interval is the question
        jackknife's with t, one disagreeing item added to each part as for κ itself. NaN with a
        reason where κ of a part is undefined; no interval below 10 questions in a part.
        ``details``: ``first``, ``rest``, ``n_first``, ``n_rest``, ``se``, ``df``, ``effective_n``.
    """
    check_confidence(confidence)
    check_unit(unit)
    x, y = np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)
    first = np.asarray(chosen, dtype=bool)
    k, n = n_categories, x.size
    groups = Clusters.of(clusters, n)
    w = unit_mean_weights(weights, n)
    n_first = int(first.sum())
    out = Estimate(
        "kappa_difference",
        math.nan,
        confidence=confidence,
        unit=unit,
        n=n,
        clusters=groups.count,
        details={"n_first": n_first, "n_rest": n - n_first},
    )
    if not 0 < n_first < n:
        return replace(out, reason="no items" if not n else "nothing to compare with")
    cells = np.zeros((n, 2 * k * k))
    cells[np.arange(n), np.where(first, 0, k * k) + x * k + y] = w
    sums = Sums(cells, groups)

    def f(totals: Any) -> Any:
        return _kappa(totals[..., : k * k], k) - _kappa(totals[..., k * k :], k)

    theta = sums.value(f)
    with np.errstate(all="ignore"):
        one = float(_kappa(sums.total[: k * k], k))
        two = float(_kappa(sums.total[k * k :], k))
    if not math.isfinite(theta):
        return replace(out, reason="one category only in a part: κ is undefined")
    se, design = sums.linearised(f)
    by = sums.by(unit)
    in_part = [np.count_nonzero(by[:, part].any(axis=1)) for part in _halves(k)]
    df = contrast_df(first, w, groups if unit == "question" else Clusters.each_item(n))
    odd = [int((x[part] != y[part]).sum()) for part in (first, ~first)]
    warned = data_warnings(groups, w, df=df, unit=unit)
    if min(odd) < FEW_DISAGREEMENTS:
        warned.append(f"a part rests on {min(odd)} disagreeing items (fewer than 10)")
    reason = too_few(min(in_part), _LEAST_KAPPA, unit)
    low = high = math.nan
    if reason is not None:
        reason = f"{reason} in a part"
    else:
        added = np.zeros((2, 2 * k * k))
        for row, part in enumerate(_halves(k)):
            added[row, part] = _disagreement(sums.total[part], k)
        with_one = np.vstack([by, added])
        low, high = jackknife_limits(
            float(f(with_one.sum(axis=0))),
            leave_one_out(f, with_one),
            scale=IDENTITY,
            df=df,
            confidence=confidence,
        )
        # the added items move the centre: the interval still holds what was seen
        low, high = max(min(low, theta), -2.0), min(max(high, theta), 2.0)
    how = "jackknife t, one disagreement added to each part"
    return replace(
        out,
        estimate=theta,
        low=low,
        high=high,
        method=f"question {how}" if unit == "question" else f"item {how}; items independent",
        design_effect=design,
        reason=reason,
        warnings=tuple(warned),
        details={
            **out.details,
            "first": one,
            "rest": two,
            "se": se,
            "df": df,
            "effective_n": effective_size(n, design),
        },
    )


def _halves(k: int) -> tuple[slice, slice]:
    return slice(0, k * k), slice(k * k, 2 * k * k)


def _kappa(cells: Any, k: int) -> Any:
    """κ of flat tables ``(..., k * k)``; NaN where chance agreement is 1 or there is nothing."""
    table = cells.reshape(*cells.shape[:-1], k, k)
    n = table.sum(axis=(-2, -1))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    same = np.trace(table, axis1=-2, axis2=-1)
    chance = (rows * columns).sum(axis=-1)
    left = n * n - chance
    return (n * same - chance) / np.where(left.real > 1e-12 * np.abs(n) ** 2, left, np.nan)


def _disagreement(cells: FloatArray, k: int) -> FloatArray:
    """One disagreeing item, spread over the cells where it would most likely fall."""
    table = cells.reshape(k, k)
    mass = np.outer(table.sum(axis=1) + 0.5, table.sum(axis=0) + 0.5)
    np.fill_diagonal(mass, 0.0)
    return np.asarray((mass / mass.sum()).reshape(-1), dtype=float)


def tuning_section(view: View) -> Section | None:
    """Each judge on the labels its prompt was tuned on, and held-out ones; None where unknown."""
    if view.tuned is None or view.people is None:
        return None
    joined = _Both(view, view.tuned)
    results = [one for judge in view.coded.of("judge") for one in joined.of_judge(judge)]
    if not results:
        return None
    return Section(
        "tuning",
        "Labels the prompt was tuned on, and held-out labels",
        results=tuple(results),
        lines=tuple(_lines(results)),
        notes=tuple(joined.notes()),
    )


class _Both:
    """The held-out items and those tuned on, one after the other."""

    def __init__(self, view: View, tuned: Coded) -> None:
        self.view, self.tuned = view, tuned
        assert view.people is not None  # there is no section otherwise
        held = view.coded
        people = people_label(tuned, view.settings)[0]
        self.held_out = np.arange(len(held.codes) + len(tuned.codes)) < len(held.codes)
        self.codes = np.concatenate([held.codes, tuned.codes])
        self.clusters = np.concatenate([held.clusters, tuned.clusters])
        self.weights = _stacked(held.weights, tuned.weights)
        none = np.full(len(tuned.codes), -1, dtype=np.int64)
        more = none if people is None else people.codes
        self.people = np.concatenate([view.people.codes, more])
        self.numbers: FloatArray | None = None
        if view.people.numbers is not None:
            unknown = np.full(len(tuned.codes), np.nan)
            values = None if people is None else people.numbers
            self.numbers = np.concatenate(
                [view.people.numbers, unknown if values is None else values]
            )
        elif held.values is not None and too_many(held, view.settings):
            self.numbers = held.numbers(self.people)

    def notes(self) -> list[str]:
        held = set(self.clusters[self.held_out & self._labelled].tolist())
        both = held & set(self.clusters[~self.held_out & self._labelled].tolist())
        noun = self.view.coded.noun
        out = [
            f"all other figures are of the {count(int((self.held_out & self._labelled).sum()))}"
            " held-out items; figures marked “tuned on” flatter the judge"
        ]
        if both and noun != "item":
            out.append(
                f"{len(both)} {noun}{'s have' if len(both) > 1 else ' has'} items of both: what was"
                " held out is not independent of what the prompt was tuned on"
            )
        if not (~self.held_out & self._labelled).any():
            out.append("no label by people is one that the prompt was tuned on")
        return out

    @property
    def _labelled(self) -> NDArray[np.bool_]:
        return np.concatenate([self.view.coded.labelled, self.tuned.labelled])

    def of_judge(self, judge: int) -> list[Estimate]:
        coded = self.view.coded
        codes = self.codes[:, judge]
        if self.numbers is not None:
            given = coded.numbers(codes)
            both = np.asarray(~(np.isnan(given) | np.isnan(self.numbers)), dtype=bool)
            found = self._numbers(given, self.numbers, both)
        else:
            both = np.asarray((codes >= 0) & (self.people >= 0), dtype=bool)
            found = self._labels(codes, both)
        assert self.view.people is not None  # there is no section otherwise
        every = np.ones(codes.size, dtype=bool)
        rows_of = dict(self._parts(every))
        dropped = {
            split: dropped_between(
                codes[rows_of.get(split, every)], self.people[rows_of.get(split, every)]
            )
            for split in (*rows_of, _DIFFERENCE)
        }
        return [
            finish(
                one,
                coded.noun,
                raters=(coded.raters[judge], self.view.people.name),
                comparison=comparison_with(self.view, self.view.people),
                dropped=dropped[split],
                details={"split": split},
                weighted=self.weights is not None,
            )
            for split, one in found
        ]

    def _shared(self, rows: NDArray[np.bool_]) -> dict[str, Any]:
        return {
            "clusters": self.clusters[rows],
            "weights": None if self.weights is None else self.weights[rows],
            "confidence": self.view.settings.confidence,
            "unit": self.view.settings.unit,
        }

    def _parts(self, both: NDArray[np.bool_]) -> Sequence[tuple[str, NDArray[np.bool_]]]:
        return (_TUNED, both & ~self.held_out), (_HELD_OUT, both & self.held_out)

    def _labels(self, codes: IntArray, both: NDArray[np.bool_]) -> list[tuple[str, Estimate]]:
        k = len(self.view.coded.categories)
        pair = np.stack([codes, self.people], axis=1)
        out: list[tuple[str, Estimate]] = []
        for split, rows in self._parts(both):
            shared = self._shared(rows)
            out.append((split, raw_agreement(pair[rows], n_categories=k, **shared)))
            a, b = pair[rows].T
            out.append((split, cohen_kappa(a, b, n_categories=k, **shared)))
            out.append((split, gwet_ac1(pair[rows], n_categories=k, **shared)))
        shared = self._shared(both)
        held = self.held_out[both]
        same = (codes == self.people)[both].astype(float)
        gap = contrast("agreement_difference", same, held, **shared)
        gap = replace(gap, low=max(gap.low, -1.0), high=min(gap.high, 1.0))
        out.append((_DIFFERENCE, gap))
        if k <= _MANY:
            a, b = pair[both].T
            out.append((_DIFFERENCE, kappa_difference(a, b, held, n_categories=k, **shared)))
        return out

    def _numbers(
        self, given: FloatArray, people: FloatArray, both: NDArray[np.bool_]
    ) -> list[tuple[str, Estimate]]:
        out: list[tuple[str, Estimate]] = []
        for split, rows in self._parts(both):
            out.append((split, mad(given[rows], people[rows], **self._shared(rows))))
            out.append((split, bias(given[rows], people[rows], **self._shared(rows))))
        d, held, shared = (given - people)[both], self.held_out[both], self._shared(both)
        out.append((_DIFFERENCE, contrast("mad_difference", np.abs(d), held, **shared)))
        out.append((_DIFFERENCE, contrast("bias_difference", d, held, **shared)))
        return out


def _stacked(a: FloatArray | None, b: FloatArray | None) -> FloatArray | None:
    return None if a is None or b is None else np.concatenate([a, b])


def _lines(results: Sequence[Estimate]) -> list[str]:
    out = [f"{pad('', 60)} {'estimate':>9}  {'interval':<18} {'items':>7}"]
    for one in results:
        plain: Mapping[str, Any] = one.to_dict()
        split = one.details["split"]
        where = "held out − tuned on" if split == _DIFFERENCE else f"labels {split}"
        if split == _TUNED:
            where = "labels the prompt was tuned on"
        name = one.name.removesuffix("_difference")
        name = label("cohen_kappa" if name == "kappa" else name)
        what = f"{visible(one.raters[0])}: {name}, {where}"
        out.append(
            f"{pad(what, 60)} {estimate(plain):>9}  {interval(plain) or '–':<18} {count(one.n):>7}"
        )
        if one.reason:
            out.append(f"  ({visible(one.reason)})")
    return out
