"""The alignment beside the grading: whether people would have paired the elements as the aligner.

The score of a response can differ from people's for two reasons: the judge graded a pair otherwise,
or the pair was not theirs to begin with. Both are given apart, and add up to the whole difference.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .alignment import alignment_accuracy, rematch
from .beyond_chance import raw_agreement
from .chance import gwet_ac1
from .clusters import FloatArray, IntArray
from .coding import MISSING, TIE, UNSCORED, UNSURE_LEFT_OUT
from .differences import bias
from .figures import counted, value, visible, with_interval
from .panel import finish
from .people import majority
from .responses import Responses
from .result import Estimate, Level
from .section import Section, View

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["alignment_section"]

_DOUBT = 0.25
"""What a verdict that is left out is worth to a reference element: more than a wrong one."""
_WIDTH = 98


def alignment_section(view: View) -> Section | None:
    """How often people place an element as the aligner did, and what the rest costs.

    None where nobody was asked.
    """
    if view.alignment is None:
        return None
    part = _Alignment(view, view.alignment)
    if not part.people:
        return None
    part.compute()
    return Section(
        "alignment",
        "Alignment: did the right elements stand side by side?",
        results=tuple(part.results),
        lines=tuple(part.lines()),
        notes=tuple(part.notes),
        rows=tuple(part.rows()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Person:
    """What one person, or most of them, say of each item.

    ``aligned`` is 1, 0 or below 0 where nothing is said, ``belongs`` NaN where no place is known.
    """

    name: str
    aligned: IntArray
    belongs: FloatArray
    codes: IntArray
    extra: NDArray[np.bool_]
    verdicts: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class _Scores:
    """Of one person: each response under the aligner's matching, under theirs, and the least."""

    name: str
    given: FloatArray
    own: FloatArray
    least: FloatArray
    twice: int
    error: Estimate
    judges: Mapping[str, tuple[Estimate, Estimate]]


class _Alignment:
    def __init__(self, view: View, frame: pd.DataFrame) -> None:
        import pandas as pd

        self.view, self.coded = view, view.coded
        self.results: list[Estimate] = []
        self.notes: list[str] = []
        self.accuracy: dict[str, Estimate] = {}
        self.among: list[Estimate] = []
        self.scored: list[_Scores] = []
        row = pd.Index(self.coded.items["item_id"]).get_indexer(pd.Index(frame["item_id"]))
        # a person whose label is named as the final one is of kind adjudicated there
        annotators = [*self.coded.of("annotator"), *self.coded.of("adjudicated")]
        names = [self.coded.raters[column] for column in annotators]
        place = pd.Index(names).get_indexer(pd.Index(frame["rater"]))
        kept = (row >= 0) & (place >= 0)
        size = len(self.coded.items)
        self.beside: FloatArray = np.full(size, np.nan)
        self.beside[row[kept]] = frame["beside"].to_numpy(dtype=float)[kept]
        aligned = np.full((size, len(names)), MISSING, dtype=np.int64)
        belongs = np.full((size, len(names)), np.nan)
        aligned[row[kept], place[kept]] = frame["aligned"].to_numpy(dtype=np.int64)[kept]
        belongs[row[kept], place[kept]] = frame["belongs"].to_numpy(dtype=float)[kept]
        asked = [at for at in range(len(names)) if (aligned[:, at] >= 0).any()]
        self.people = [
            _Person(
                names[at],
                aligned[:, at],
                belongs[:, at],
                self.coded.codes[:, annotators[at]],
                self.coded.extra[:, annotators[at]],
            )
            for at in asked
        ]
        self.answers = aligned[:, asked]
        if len(asked) > 1:
            self.people.append(self._most(belongs[:, asked]))

    def _most(self, belongs: FloatArray) -> _Person:
        """What most people say; where as many say another place, the element stays put.

        What most people put elsewhere goes to the place that most of these name, and has none
        where they name none or differ.
        """
        votes = majority(self.answers, 2)
        top = int(np.nanmax(belongs, initial=0)) + 1  # numbers of reference elements, and 0
        moved = ~np.isnan(belongs) & (belongs != self.beside[:, None])
        elsewhere = majority(np.where(moved, belongs, MISSING).astype(np.int64), top)
        tied = votes == TIE
        away = votes == 0
        most = np.where((votes == 1) | tied, self.beside, np.nan)
        named = away & (elsewhere >= 0)
        most[named] = elsewhere[named]
        if tied.any():
            self.notes.append(
                f"majority: {int(tied.sum())} elements that as many people put elsewhere stay where"
                " the alignment put them"
            )
        if lost := int((away & ~named).sum()):
            self.notes.append(
                f"majority: {counted(lost, 'element')} put elsewhere by most people, who name no"
                " place or differ: no score of the response under the majority's alignment"
            )
        people = self.view.people
        labels = majority(
            self.coded.codes[:, self.coded.of("annotator")], len(self.coded.categories)
        )
        extra: NDArray[np.bool_] = np.zeros(labels.size, dtype=bool)
        made_of = ""
        if people is not None and people.numbers is None:
            labels, extra, made_of = people.codes, people.extra, people.made_of
        return _Person("majority", votes, most, labels, extra, made_of)

    @property
    def _shared(self) -> dict[str, Any]:
        settings = self.view.settings
        return {"confidence": settings.confidence, "unit": settings.unit}

    def compute(self) -> None:
        """Every figure, in the order in which it is told."""
        for person in self.people:
            self.accuracy[person.name] = self._accuracy(person)
        self.results += self.accuracy.values()
        if self.answers.shape[1] > 1:
            self._among()
        self._scores()

    def _on(self, used: NDArray[np.bool_]) -> dict[str, Any]:
        weights = self.coded.weights
        return {
            **self._shared,
            "clusters": self.coded.clusters[used],
            "weights": None if weights is None else weights[used],
        }

    def _accuracy(self, person: _Person) -> Estimate:
        said = person.aligned >= 0
        right = person.aligned == 1
        paired = said & (self.beside > 0)
        one = alignment_accuracy(
            right[said], **self._on(said), **self.view.settings.interval_of_share
        )
        tied = int(((self.answers >= 0).any(axis=1) & ~said).sum())
        return self._finished(
            one,
            (person.name,),
            "element",
            dropped={"tie of the annotators": tied} if person.name == "majority" and tied else {},
            paired=int(paired.sum()),
            paired_right=int((paired & right).sum()),
            unpaired=int((said & ~paired).sum()),
            unpaired_right=int((said & ~paired & right).sum()),
        )

    def _among(self) -> None:
        two = (self.answers >= 0).sum(axis=1) >= 2
        if not two.any():
            self.notes.append("no element's place was looked at by two people")
            return
        names = tuple(person.name for person in self.people if person.name != "majority")
        settings = self.view.settings
        for one in (
            raw_agreement(
                self.answers[two], n_categories=2, **self._on(two), **settings.interval_of_share
            ),
            gwet_ac1(self.answers[two], n_categories=2, **self._on(two), **settings.interval),
        ):
            self.among.append(self._finished(one, names, "element", about="place"))
        self.results += self.among

    def _scores(self) -> None:
        responses = self.view.responses
        if isinstance(responses, str) or responses.measure != "F1":
            self.notes.append(
                "no score under people's own alignment: it needs responses and the numbers of their"
                " elements"
            )
            return
        for person in self.people:
            scored = self._of_person(person, responses)
            if scored is not None:
                self.scored.append(scored)
        if not self.scored:
            self.notes.append(
                "no score under people's own alignment: nobody placed all elements of a response"
                " (the template response asks for that)"
            )
            return
        self.notes.append(
            "F1 under people's own alignment takes an element that a person put beside another"
            " reference element as right there: the page asks for a verdict on the pair shown. It"
            " is the most that their alignment can give; details have the least (the verdict kept)"
        )

    def _of_person(self, person: _Person, responses: Responses) -> _Scores | None:
        known = ~(np.isnan(person.belongs) | np.isnan(self.beside))
        whole = np.bincount(responses.of_item, known, minlength=responses.sizes.size)
        complete = whole == responses.sizes
        given = np.where(complete, responses.scores(person.codes, person.extra, self.coded), np.nan)
        own, twice = self._rescored(person, responses, complete, "right")
        least, _ = self._rescored(person, responses, complete, "as-said")
        both = ~(np.isnan(given) | np.isnan(own))
        if not both.any():
            return None
        on = self._of_responses(responses, both)
        about: dict[str, Any] = {
            "f1_given_alignment": _mean(given, both, responses),
            "f1_own_alignment": _mean(own, both, responses),
            "least": _mean(least, both, responses) - _mean(given, both, responses),
            "claimed_twice": twice,
        }
        if person.verdicts:
            about["verdicts"] = person.verdicts
        error = self._named(
            "alignment_error", bias(own[both], given[both], **on), (person.name,), **about
        )
        self.results.append(error)
        judges: dict[str, tuple[Estimate, Estimate]] = {}
        for column in self.coded.of("judge"):
            judge = self.coded.raters[column]
            theirs = self.view.scores[judge]
            here = both & ~np.isnan(theirs)
            if not here.any():
                continue
            raters, on = (judge, person.name), self._of_responses(responses, here)
            # on these responses the two errors add up to the whole difference
            cost = {"alignment_error": _mean(own - given, here, responses)}
            pair = (
                self._named("grading_error", bias(theirs[here], given[here], **on), raters, **cost),
                self._named("score_error", bias(theirs[here], own[here], **on), raters, **cost),
            )
            judges[judge] = pair
            self.results += pair
        return _Scores(person.name, given, own, least, twice, error, judges)

    def _rescored(
        self, person: _Person, responses: Responses, complete: NDArray[np.bool_], moved: Any
    ) -> tuple[FloatArray, int]:
        """The responses' scores under a person's matching."""
        coded = self.coded
        worth = coded.worth
        if worth is None or coded.positive is None:
            return np.full(responses.sizes.size, np.nan), 0
        codes = person.codes
        doubt = (codes == UNSURE_LEFT_OUT) | (codes == UNSCORED)
        # an element that is right and not in the reference claims none of it
        elsewhere = self.beside != person.belongs
        value_of = np.where(
            person.extra & ~elsewhere,
            0.0,
            np.where(codes >= 0, worth[np.maximum(codes, 0)], np.where(doubt, _DOUBT, 0.0)),
        )
        there = complete[responses.of_item]
        beside = np.where(there, np.nan_to_num(self.beside), 0).astype(np.int64)
        belongs = np.where(there, np.nan_to_num(person.belongs), 0).astype(np.int64)
        found = rematch(
            value_of, response=responses.of_item, beside=beside, belongs=belongs, moved=moved
        )
        sure = found.moved & found.matched & (found.worth == 1.0) & (codes != MISSING)
        own = np.where(sure, coded.positive, codes)
        extra = person.extra & ~found.moved
        own_responses = replace(responses, unmatched=~found.matched)
        scores = own_responses.scores(own, extra, coded)
        return np.where(complete, scores, np.nan), found.twice

    def _of_responses(self, responses: Responses, used: NDArray[np.bool_]) -> dict[str, Any]:
        return {
            **self._shared,
            "clusters": responses.clusters[used],
            "weights": None if responses.weights is None else responses.weights[used],
            **self.view.settings.interval,
        }

    def _named(self, name: str, one: Estimate, raters: tuple[str, ...], **details: Any) -> Estimate:
        return self._finished(replace(one, name=name), raters, "response", measure="F1", **details)

    def _finished(
        self,
        one: Estimate,
        raters: tuple[str, ...],
        level: Level,
        *,
        dropped: Mapping[str, int] | None = None,
        **details: Any,
    ) -> Estimate:
        return finish(
            one,
            self.coded.noun,
            raters=raters,
            comparison="alignment",
            level=level,
            dropped=dropped,
            details=details,
            weighted=self.coded.weights is not None,
        )

    # -- what comes out ------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        """The figures in sentences."""
        for name, one in self.accuracy.items():
            yield from _wrapped(
                f"{visible(name)}: {with_interval(one.to_dict())} of {one.n} elements stand right:"
                f" {one.details['paired_right']} of {one.details['paired']} with a partner,"
                f" {one.details['unpaired_right']} of {one.details['unpaired']} without"
            )
        if self.among:
            raw, ac1 = self.among
            yield from _wrapped(
                f"people agree whether it does: {with_interval(raw.to_dict())} of {raw.n} elements,"
                f" Gwet's AC1 {with_interval(ac1.to_dict())}"
            )
        for scored in self.scored:
            error = scored.error
            yield from _wrapped(
                f"F1 by {visible(scored.name)} on {error.n} responses:"
                f" {value(error.details['f1_given_alignment'])} as aligned,"
                f" {value(error.details['f1_own_alignment'])} under their own alignment; alignment"
                f" error {with_interval(error.to_dict())}, and {value(error.details['least'])}"
                " where an element that was moved keeps its verdict"
            )
            for judge, (grading, total) in scored.judges.items():
                yield from _wrapped(
                    f"  {visible(judge)} against {visible(scored.name)}: grading error (same"
                    f" alignment) {with_interval(grading.to_dict())}; less the alignment error, in"
                    f" all {with_interval(total.to_dict())}"
                )

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """One row a person: where the elements went, and mean F1 where all were placed."""
        errors = {scored.name: scored.error for scored in self.scored}
        for person in self.people:
            error = errors.get(person.name)
            f1 = {} if error is None else error.details
            said = person.aligned >= 0
            wrong = person.aligned == 0
            named = wrong & ~np.isnan(person.belongs)
            yield {
                "rater": person.name,
                "elements": int(said.sum()),
                "in_place": int((person.aligned == 1).sum()),
                "other_reference": int((named & (self.beside > 0) & (person.belongs > 0)).sum()),
                "no_reference": int((named & (self.beside > 0) & (person.belongs == 0)).sum()),
                "should_have_one": int((named & (self.beside == 0) & (person.belongs > 0)).sum()),
                "place_not_named": int((wrong & np.isnan(person.belongs)).sum()),
                "responses": 0 if error is None else error.n,
                "f1_as_aligned": f1.get("f1_given_alignment"),
                "f1_under_own_alignment": f1.get("f1_own_alignment"),
            }


def _mean(scores: FloatArray, used: NDArray[np.bool_], responses: Responses) -> float:
    weights = None if responses.weights is None else responses.weights[used]
    return float(np.average(scores[used], weights=weights))


def _wrapped(text: str) -> Sequence[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="  ")
