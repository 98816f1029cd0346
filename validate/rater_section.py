"""Each annotator beside the others and beside themselves, over time, and by speed: a panel's part.

All of it is evidence about ratings, not a verdict about people: who agrees less may be the only one
who read the guideline.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .coding import MISSING
from .figures import count, defined, p_value, value, visible
from .latent_classes import DawidSkene, dawid_skene
from .multiplicity import adjust
from .rater_figures import RaterFigures
from .rater_quality import Speed, against_rest, drift, speeds
from .result import Estimate
from .section import Section, View
from .text_cells import pad

__all__ = ["rater_section"]

LARGE_TABLE = 20
"""Beyond so many labels no confusions are fitted."""
MANY_PEOPLE = 50
"""Beyond so many annotators only the comparison with the rest is made, and few are printed."""
_SHOWN = 20
_WIDTH = 98
_LEVEL = 0.05
_FAST_SHARE = 0.25
"""From this share of hasty items on somebody's speed is worth a look."""


@dataclass(slots=True, eq=False)
class _Person:
    """What is known of one annotator."""

    name: str
    column: int
    items: int = 0
    others: dict[str, Estimate] = field(default_factory=dict)
    themselves: dict[str, Estimate] = field(default_factory=dict)
    rest: Estimate | None = None
    p: float = math.nan
    drift: Estimate | None = None
    drift_p: float = math.nan
    speed: Speed = Speed(0, math.nan, math.nan)
    accuracy: float = math.nan
    look: list[str] = field(default_factory=list)


def rater_section(view: View) -> Section | None:
    """The quality of each annotator's ratings; None where there is nothing to tell it by.

    There is something with two annotators of an item, or with repeats, or with times.
    """
    part = _Raters(view)
    if not part.anything:
        return None
    part.compute()
    return Section(
        "rater-quality",
        "Annotators: agreement with the others and with themselves (evidence, not a verdict)",
        results=tuple(part.results()),
        lines=tuple(part.lines()),
        notes=tuple(part.notes()),
        rows=tuple(part.rows()),
    )


class _Raters:
    """All annotators."""

    def __init__(self, view: View) -> None:
        self.view, self.coded = view, view.coded
        self.columns = view.coded.of("annotator")
        self.figures = RaterFigures(view, self.columns)
        self.people = [_Person(self.coded.raters[c], c) for c in self.columns]
        self.codes = np.maximum(self.coded.codes[:, self.columns], MISSING)
        for at, person in enumerate(self.people):
            person.items = int((self.codes[:, at] >= 0).sum())
        self.together = bool(((self.codes >= 0).sum(axis=1) >= 2).any())
        self.seconds = self.figures.grid("seconds")
        self.times = self.figures.grid("rated_at")
        self.again: dict[str, dict[str, Estimate]] = {}
        self.model: DawidSkene | None = None

    @property
    def anything(self) -> bool:
        """Whether there is something to tell."""
        repeats = self.view.ratings.repeats
        timed = self.seconds is not None
        return bool(self.people) and (self.together or repeats is not None or timed)

    def compute(self) -> None:
        """Fill in what is known of each."""
        if self.together:
            self._beside_others()
        self.again = self.figures.themselves()
        for person in self.people:
            person.themselves = self.again.get(person.name, {})
        if self.seconds is not None:
            for person, speed in zip(self.people, speeds(self.seconds), strict=True):
                person.speed = speed
        self._fit_model()
        self._look()

    def _beside_others(self) -> None:
        sums = self.figures.pair_sums(self.codes)
        shared: dict[str, Any] = {
            "clusters": self.coded.clusters,
            "confidence": self.view.settings.confidence,
            "unit": self.view.settings.unit,
        }
        few = len(self.people) <= MANY_PEOPLE
        for at, person in enumerate(self.people):
            if few:
                person.others = self.figures.with_others(at, person.name)
            if sums is None:
                continue
            rest = against_rest(sums, at, weights=self.coded.weights, **shared)
            person.rest = self.figures.finished(rest, person.name, "rest")
            if self.times is not None:
                slope = drift(sums, at, self.times[:, at], **shared)
                person.drift = self.figures.finished(slope, person.name, "drift")
        for what, key in (("rest", "p"), ("drift", "drift_p")):
            found: list[Estimate | None] = [getattr(person, what) for person in self.people]
            raw = [math.nan if one is None else one.details.get("p", math.nan) for one in found]
            for person, p in zip(self.people, adjust(raw, method="holm"), strict=True):
                setattr(person, key, float(p))

    def _fit_model(self) -> None:
        rated = [person for person in self.people if person.items]
        k = len(self.coded.categories)
        if not self.together or len(rated) < 3 or k > LARGE_TABLE:
            return
        if self.view.settings.numeric:
            return
        self.model = dawid_skene(self.codes, n_categories=k, weights=self.coded.weights)
        for person, accuracy in zip(self.people, self.model.accuracy, strict=True):
            person.accuracy = float(accuracy)

    def _look(self) -> None:
        for person in self.people:
            if person.p < _LEVEL and person.rest is not None:
                person.look.append(f"agrees less than the others (Holm p {p_value(person.p)})")
            if person.drift_p < _LEVEL and person.drift is not None:
                details = person.drift.details
                person.look.append(
                    f"agreement changes with time, {value(details['first_third'])} in the first"
                    f" third and {value(details['last_third'])} in the last"
                    f" (Holm p {p_value(person.drift_p)})"
                )
            if person.speed.fast >= _FAST_SHARE:
                person.look.append(
                    f"{100 * person.speed.fast:.0f} % of the items took less than a third of the"
                    " common median time"
                )

    # -- what comes out ------------------------------------------------------------------------

    def results(self) -> Iterable[Estimate]:
        """Every figure, with adjusted p-values in its details."""
        for person in self.people:
            yield from person.others.values()
            for one, p in ((person.rest, person.p), (person.drift, person.drift_p)):
                if one is not None:
                    yield self.figures.with_holm(one, p)
        for found in self.again.values():
            yield from found.values()

    def rows(self) -> Iterable[Mapping[str, Any]]:
        """One row an annotator; the model's confusions."""
        for person in self.people:
            yield {
                "rater": person.name,
                "items": person.items,
                "median_seconds": person.speed.median,
                "fast_share": person.speed.fast,
                "dawid_skene_accuracy": person.accuracy,
                "holm_p": person.p,
                "drift_holm_p": person.drift_p,
                "worth_a_look": list(person.look),
            }
        if self.model is not None:
            yield {
                "model": "dawid_skene",
                **self.model.to_dict(
                    raters=[person.name for person in self.people],
                    categories=self.coded.categories,
                ),
            }

    def lines(self) -> Iterable[str]:
        """A table, and what is worth a look."""
        first, second = self.figures.names
        timed = self.seconds is not None
        repeated = any(person.themselves for person in self.people)
        yield (
            f"{pad('annotator', 18)} {'items':>7} {_SHORT[first]:>10} {_SHORT[second]:>8}"
            f" {'vs rest':>10} {'Holm p':>7}"
            + (f" {'model':>7}" if self.model is not None else "")
            + (f" {'self':>7}" if repeated else "")
            + (f" {'seconds':>8} {'hasty':>6}" if timed else "")
        )
        shown = sorted(self.people, key=lambda person: not person.look)[:_SHOWN]
        for person in [person for person in self.people if person in shown]:
            own = (person.others.get(name) for name in (first, second))
            a, b = (math.nan if one is None else one.estimate for one in own)
            rest = math.nan if person.rest is None else person.rest.estimate
            same = next(iter(person.themselves.values()), None)
            yield (
                f"{pad(visible(person.name), 18)} {count(person.items):>7} {value(a):>10}"
                f" {value(b):>8} {value(rest):>10} {p_value(person.p):>7}"
                + (f" {value(person.accuracy):>7}" if self.model is not None else "")
                + (f" {value(math.nan if same is None else same.estimate):>7}" if repeated else "")
                + (
                    f" {_seconds(person.speed.median):>8} {_share(person.speed.fast):>6}"
                    if timed
                    else ""
                )
            )
        if len(self.people) > len(shown):
            yield f"… and {len(self.people) - len(shown)} further annotators (--json has all)"
        for name, found in self.again.items():
            for one in found.values():
                yield from _wrapped(self.figures.said(name, one))
        for person in self.people:
            for text in person.look:
                yield from _wrapped(f"worth a look: {visible(person.name)}: {text}")

    def notes(self) -> Iterable[str]:
        """How to read it."""
        if self.together:
            kind = "mean" if self.figures.in_numbers else "majority"
            text = f"agreement is with the {kind} of the others"
            if len(self.people) > 2:
                text += (
                    "; vs rest: pairs of ratings that the annotator is in against the pairs of"
                    " the others, tested one-sided, Holm over annotators"
                )
            else:
                text += "; with two annotators a difference is as much the one's as the other's"
            yield text
        if self.model is not None:
            yield (
                "model: how often the annotator meets the class that Dawid and Skene's model finds"
                " most likely; raters who share a mistake are right by it"
                + ("" if self.model.converged else "; the fit did NOT converge")
            )
        if any("changes with time" in text for person in self.people for text in person.look):
            yield (
                "a change with time may be that of the others, or of the items if harder ones came"
                " late"
            )
        if len(self.people) == 1 and self.people[0].themselves:
            yield (
                "one annotator: agreement with themselves (intra-annotator, a retest) is the only"
                " ceiling there is; it says nothing about whether others would agree"
            )


_SHORT = {"agreement": "agreement", "cohen_kappa": "κ", "pearson": "Pearson r", "mad": "MAD"}


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="  ")


def _seconds(x: float) -> str:
    return f"{x:.1f}" if defined(x) else "–"


def _share(x: float) -> str:
    return f"{100 * x:.0f} %" if defined(x) else "–"
