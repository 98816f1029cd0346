"""How far the grading of a study is: per sample and person, from what has been imported."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..scoring.records import UNSURE
from ..study.anchored import MARK, OF_SHOWN
from ..study.identity import is_other_unit
from ..study.rating_times import lead_time
from ..study.records import RatingRow, Sample, StoredAnnotation
from ..study.weights import OF_RETEST, RETEST
from .catalogue import Catalogue
from .disputes import settled_items
from .projects import OVERLAP, SHARED
from .rules import TASK, decide, retest_times

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["PersonProgress", "SampleProgress", "progress_of"]

_LONGEST_PAUSE = timedelta(minutes=30)
"""A longer time between two labels is a pause: the page stood open, nobody worked."""
_ADJUDICATION = "adjudication"
"""The template whose tasks settle what the others left open; they are no part of the grading."""
_SHOWN = ", judge shown"
_COUNTED = ("labelled", "skipped")
"""The rules by which an annotation is somebody's word on a task."""
_ENOUGH = 5
"""Labels from which a pace can be told."""


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """One person's part of a sample.

    Parameters
    ----------
    annotator
        The pseudonym.
    share
        Items that are this person's by the plan; None where everybody grades what is free.
    done, skipped
        Items with a label that counts, and items skipped.
    minutes_per_item
        Median of the time that the page took (lead time), in minutes; None where unknown.
    """

    annotator: str
    share: int | None
    done: int
    skipped: int
    minutes_per_item: float | None

    @property
    def left(self) -> int | None:
        """Items of the share without a label or a skip."""
        return None if self.share is None else max(self.share - self.done - self.skipped, 0)

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {
            "annotator": self.annotator,
            "share": self.share,
            "done": self.done,
            "skipped": self.skipped,
            "left": self.left,
            "minutes_per_item": self.minutes_per_item,
        }


@dataclass(frozen=True, slots=True)
class SampleProgress:
    """One sample, as it was handed out with one template.

    Parameters
    ----------
    template
        The template's name; with ``, judge shown`` where people saw a judge's verdict. None where
        the sample was not handed out.
    tasks
        What was handed out: items, or the responses or questions that a template asks about.
    exported
        Whether it was handed out.
    wanted, labels
        Labels that there should be in the end, and those that are there (of each task at most as
        many as wanted).
    by_count
        Number of labels → tasks with so many.
    to_adjudicate
        Items on which people differ, or of which somebody is unsure, and that nobody has settled,
        in the sample's order; none of whole responses, parses, gold answers or a page with a
        judge's verdict.
    hours_left
        The labels that can still come, each at the median time that it takes its person (or,
        where that is not known, all of them); None where no time is known. A skip of somebody with
        a share of their own brings no label any more.
    finish
        When the last of these comes if people go on as they did since the first; None where there
        are too few labels to tell.
    """

    sample_id: str
    purpose: str
    tasks: int
    exported: bool
    wanted: int
    labels: int
    by_count: Mapping[int, int]
    people: tuple[PersonProgress, ...]
    to_adjudicate: tuple[str, ...]
    hours_left: float | None
    finish: datetime | None
    template: str | None = None

    @property
    def judge_shown(self) -> bool:
        """Whether people saw a judge's verdict: their labels are in no figure."""
        return (self.template or "").endswith(_SHOWN)

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {
            "sample": self.sample_id,
            "purpose": self.purpose,
            "template": self.template,
            "tasks": self.tasks,
            "exported": self.exported,
            "labels": self.labels,
            "wanted": self.wanted,
            "tasks_by_labels": {str(count): tasks for count, tasks in self.by_count.items()},
            "people": [person.to_dict() for person in self.people],
            "to_adjudicate": list(self.to_adjudicate),
            "hours_left": self.hours_left,
            "expected_finish": None if self.finish is None else self.finish.isoformat(),
        }

    def lines(self) -> Iterator[str]:
        """The sample for a person."""
        share = f"{100 * self.labels / self.wanted:.0f} %" if self.wanted else "nothing"
        yield (
            f"{self.sample_id} ({', '.join(filter(None, (self.purpose, self.template)))}):"
            f" {self.tasks} tasks, {self.labels} of"
            f" {self.wanted} labels ({share})" + ("" if self.exported else "; not handed out yet")
        )
        for person in self.people:
            left = "" if person.left is None else f", {person.left} left"
            pace = (
                ""
                if person.minutes_per_item is None
                else f", {person.minutes_per_item:.1f} min an item"
            )
            yield (
                f"  {person.annotator}: {person.done} done, {person.skipped} skipped{left}{pace}"
            )
        if self.to_adjudicate:
            yield f"  {len(self.to_adjudicate)} items worth adjudicating (people differ, or UNSURE)"
        if self.hours_left:
            yield f"  about {_duration(self.hours_left)} of grading left"
        if self.finish is not None:
            yield f"  expected finish at this pace: {self.finish:%Y-%m-%d %H:%M} UTC"


def progress_of(study: Study, *, at: datetime | None = None) -> list[SampleProgress]:
    """The progress of every sample and template, from the labels that have been imported.

    Parameters
    ----------
    at
        The present, for the expected finish; by default now.
    """
    everybody = study.ledger.rating_rows()
    rows = [row for row in everybody if row.kind == "annotator" and row.source != OF_SHOWN]
    settled = settled_items(everybody)
    plans: dict[tuple[str, str], Mapping[str, Any]] = {}
    overlap: dict[tuple[str, str], int] = {}
    for entry in study.ledger.provenance():
        detail = entry.detail
        sample, template = str(detail.get("sample")), str(detail.get("template"))
        if entry.action == SHARED:
            plans[sample, template] = detail
        elif entry.action == OVERLAP:
            which = _kind(template, str(detail.get("version")))
            overlap[sample, which] = int(detail["per_item"])
    stored = study.ledger.annotations()
    times = retest_times(study.ledger.samples())
    rules = decide(stored, Catalogue(study), retests=times).rules if stored else {}
    now = at or datetime.now(UTC)
    found = []
    for sample in study.ledger.samples():
        tasks = study.ledger.exported(sample.sample_id)
        kinds = dict.fromkeys(_kind(task.template, task.template_version) for task in tasks)
        graded: list[str | None] = [kind for kind in kinds if kind != _ADJUDICATION]
        for kind in graded or [None]:
            key = (sample.sample_id, kind or "")
            found.append(
                _of_sample(
                    study,
                    sample,
                    kind,
                    stored,
                    rules,
                    rows,
                    settled,
                    plans.get(key),
                    overlap.get(key),
                    now,
                )
            )
    return found


def _kind(template: str, version: str) -> str:
    """A template's name, and whether a judge's verdict was shown with it."""
    return f"{template}{_SHOWN}" if MARK in version else template


def _settles(kind: str | None, tasks: Sequence[str]) -> bool:
    """Whether the labels are blind ratings of the study's items, which an adjudication settles."""
    of_items = all(not is_other_unit(task) or task.startswith("pairs:") for task in tasks)
    return of_items and not (kind or "").endswith(_SHOWN)


def _of_sample(
    study: Study,
    sample: Sample,
    kind: str | None,
    stored: Sequence[StoredAnnotation],
    rules: Mapping[tuple[str, str], str],
    rows: Sequence[RatingRow],
    settled: Set[str],
    plan: Mapping[str, Any] | None,
    overlap: int | None,
    now: datetime,
) -> SampleProgress:
    annotations = []
    for annotation in stored:
        task = annotation.raw.get(TASK) or {}
        version = _kind(str(task.get("template")), str(task.get("version")))
        if annotation.sample_id == sample.sample_id and version == kind:
            annotations.append(annotation)
    exported = [
        task
        for task in study.ledger.exported(sample.sample_id)
        if _kind(task.template, task.template_version) == kind
    ]
    # a page of pairs is one task of several items, a gold answer is none of the sample's items
    tasks = list(dict.fromkeys(task.item_id for task in exported))
    tasks = tasks or [item for item, _ in sample.items]
    again = sample.purpose == RETEST
    own = [row for row in rows if (row.source == OF_RETEST) == again]
    # what was labelled on a server belongs to the sample whose task it was
    tabled = [row for row in own if row.source.startswith("file:")]
    marks = _marks(annotations, rules) if annotations else _marks_of(tabled, set(tasks))
    people: dict[str, Counter[bool]] = {}
    labels: Counter[str] = Counter()
    for (task, person), live in marks.items():
        people.setdefault(person, Counter())[live] += 1
        labels[task] += live
    shares = _shares(plan)
    counted = [one for one in annotations if rules[one.unique_id, one.updated_at] in _COUNTED]
    minutes = {person: _minutes(counted, person) for person in {*people, *shares}}
    per_item = overlap or (1 if exported else max([1, *labels.values()]))
    wanted = sum(shares.values()) if plan else len(tasks) * per_item
    most = per_item if plan is None else wanted
    labels_in = sum(min(labels[task], most) for task in tasks)
    everybody = sorted(
        {*people, *shares}, key=lambda name: (-people.get(name, Counter())[True], name)
    )
    found = tuple(
        PersonProgress(
            name,
            shares.get(name),
            people.get(name, Counter())[True],
            people.get(name, Counter())[False],
            minutes[name],
        )
        for name in everybody
    )
    missing = wanted - labels_in
    if plan is not None:
        missing = sum(person.left or 0 for person in found)
    return SampleProgress(
        sample_id=sample.sample_id,
        purpose=sample.purpose,
        tasks=len(tasks),
        exported=bool(exported),
        wanted=wanted,
        labels=labels_in,
        by_count=dict(sorted(Counter(labels[task] for task in tasks).items())),
        people=found,
        to_adjudicate=tuple(item for item in _disputed(sample, own) if item not in settled)
        if _settles(kind, tasks) and not again
        else (),
        hours_left=_hours(found, missing),
        finish=_finish(counted, missing, now),
        template=kind,
    )


def _marks(
    annotations: Sequence[StoredAnnotation], rules: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str], bool]:
    """Task and person → whether there is a label that counts (True), or only a skip."""
    out: dict[tuple[str, str], bool] = {}
    for annotation in annotations:
        rule = rules[annotation.unique_id, annotation.updated_at]
        if rule in _COUNTED:
            key = (annotation.item_id, annotation.annotator)
            out[key] = out.get(key, False) or rule == "labelled"
    return out


def _marks_of(rows: Sequence[RatingRow], tasks: Set[str]) -> dict[tuple[str, str], bool]:
    """The same from ratings, of labels that came in a table."""
    return {(row.item_id, row.rater): row.status == "rated" for row in rows if row.item_id in tasks}


def _disputed(sample: Sample, rows: Sequence[RatingRow]) -> tuple[str, ...]:
    labels: dict[str, set[str | None]] = {}
    for row in rows:
        if row.status == "rated":
            labels.setdefault(row.item_id, set()).add(row.rating)
    found = ((item, labels.get(item, set())) for item, _ in sample.items)
    return tuple(item for item, given in found if len(given) > 1 or UNSURE in given)


def _shares(plan: Mapping[str, Any] | None) -> dict[str, int]:
    """Items of each person by the plan."""
    if plan is None:
        return {}
    counts = dict.fromkeys(plan["people"], 0)
    for chosen in plan["of"].values():
        for place in chosen:
            counts[plan["people"][place]] += 1
    return counts


def _minutes(counted: Sequence[StoredAnnotation], person: str) -> float | None:
    """Median lead time; the page counts on while nobody looks, so long ones are cut."""
    seconds = [
        min(lead, _LONGEST_PAUSE.total_seconds())
        for annotation in counted
        if annotation.annotator == person
        and not annotation.raw.get("was_cancelled")
        and not math.isnan(lead := lead_time(annotation))
    ]
    return statistics.median(seconds) / 60 if seconds else None


def _hours(people: Sequence[PersonProgress], missing: int) -> float | None:
    """How long the missing labels take: each person's own share at that person's pace."""
    pace = [one.minutes_per_item for one in people if one.minutes_per_item is not None]
    if not pace:
        return None
    usual = statistics.median(pace)
    if all(one.left is None for one in people):
        return missing * usual / 60
    own = (usual if one.minutes_per_item is None else one.minutes_per_item for one in people)
    return sum((one.left or 0) * each for one, each in zip(people, own, strict=True)) / 60


def _duration(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{max(60 * hours, 1):.0f} minutes"


def _finish(counted: Sequence[StoredAnnotation], missing: int, now: datetime) -> datetime | None:
    """When the missing labels are there at the pace since the first one."""
    # An annotation that was changed, or made anew, is one label.
    made = {
        (one.item_id, one.annotator): _time(one.raw.get("created_at") or one.updated_at)
        for one in counted
    }
    times = sorted(time for time in made.values() if time is not None)
    if len(times) < _ENOUGH or missing <= 0 or now <= times[0]:
        return None
    each = (now - times[0]) / len(times)
    try:
        return (now + missing * each).replace(microsecond=0)
    except OverflowError:
        return None


def _time(text: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
