"""From stored annotations to ratings: which annotation counts, and what becomes of each other one.

Every annotation falls under exactly one rule, so the counts of an import add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ..scoring.records import Kind
from ..study.anchored import OF_SHOWN, SUFFIX, beside_judge
from ..study.records import ADJUDICATED, GROUND_TRUTH, RatingRow, Sample, StoredAnnotation
from ..study.weights import OF_RETEST, RETEST
from .catalogue import TASK, Catalogue
from .snapshots import NOBODY
from .tasks import Graded
from .template import Answer, Template, Unreadable

__all__ = ["RULES", "TASK", "Decision", "decide", "in_time", "retest_times", "task_note"]

RULES = {
    "labelled": "has one readable verdict and counts",
    "unknown item": "its task's item is not in the study",
    "changed text": "its task no longer shows the text that was exported, or the study's changed",
    "other template": "its task was made with another template, or another version of it",
    "skipped": "the person skipped the task (what was chosen before does not count)",
    "unknown annotator": "its annotator's account was deleted",
    "superseded": "the same person graded the item again, or changed this annotation, later",
    "no verdict": "it holds no verdict",
    "several verdicts": "it holds more than one verdict",
    "unknown verdict": "its verdict is not one of the page's",
    "unreadable": "it holds something that the page can't have made",
}
"""The rules in the order in which they are tried (the first one is what is left)."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The rule of each annotation version, and the ratings that follow.

    ``answers`` holds the whole answer behind each rating, by item and rater; ``open`` says how many
    rows an annotation of a page left without a verdict.
    """

    rules: Mapping[tuple[str, str], str]
    ratings: tuple[RatingRow, ...]
    answers: Mapping[tuple[str, str], Answer] = field(default_factory=dict)
    open: Mapping[tuple[str, str], int] = field(default_factory=dict)


def task_note(template: object, version: object, *, shown_as_exported: bool) -> dict[str, Any]:
    """What is kept of a task beside each of its annotations."""
    return {"template": template, "version": version, "shown_as_exported": shown_as_exported}


def decide(
    annotations: Iterable[StoredAnnotation],
    catalogue: Catalogue,
    *,
    rated: Set[tuple[str, str]] = frozenset(),
    retests: Mapping[str, int] | None = None,
) -> Decision:
    """Decide over all stored annotations of some items.

    Parameters
    ----------
    annotations
        Every version that the ledger has of the items.
    catalogue
        What the study has now.
    rated
        ``(item, rater)`` that have a rating already. A person who then withdraws the verdict
        gets a row that says *skipped*: the earlier row stays, and the later one counts. So does a
        label that is no longer flagged as ground truth.
    retests
        Sample → which time its items are graded, 2 or more, for samples that ask the same people
        again. Their labels are ratings of ``NAME#2`` and never take a first label's place; nor do
        those that were given with a judge's verdict in sight, which are ratings of
        ``NAME+judge``.
    """
    rules: dict[tuple[str, str], str] = {}
    latest: dict[str, StoredAnnotation] = {}
    for annotation in sorted(annotations, key=_when):
        older = latest.get(annotation.unique_id)
        if older is not None:
            rules[older.unique_id, older.updated_at] = "superseded"
        latest[annotation.unique_id] = annotation

    groups: dict[tuple[str, str, str, int, bool], list[StoredAnnotation]] = {}
    times = retests or {}
    for annotation in sorted(latest.values(), key=_when):
        page, one = catalogue.about(annotation)
        refused = _of_task(annotation, page, one)
        if refused or page is None:
            rules[annotation.unique_id, annotation.updated_at] = refused or "other template"
        else:
            time = times.get(annotation.sample_id or "", 1)
            items = page.kind == "annotator" and page.unit in ("pair", "pairs")
            shown = items and beside_judge(annotation.raw)
            key = (page.name, annotation.item_id, annotation.annotator, time, shown)
            groups.setdefault(key, []).append(annotation)

    chosen: dict[tuple[str, str], tuple[bool, tuple[datetime, int], RatingRow, Answer | None]] = {}
    left_open: dict[tuple[str, str], int] = {}
    for (_, _, annotator, time, shown), group in groups.items():
        page, one = catalogue.about(group[0])
        if page is None or one is None:
            continue
        said: dict[str, Answer] = {}
        for annotation in group:
            version = (annotation.unique_id, annotation.updated_at)
            if annotation.raw.get("was_cancelled"):
                rules[version] = "skipped"
            elif annotator == NOBODY:
                rules[version] = "unknown annotator"
            elif annotation is not _last_live(group):
                rules[version] = "superseded"
            else:
                try:
                    said, left_open[version] = _said(annotation, page, one)
                    rules[version] = "labelled"
                except Unreadable as error:
                    rules[version] = error.reason
        if annotator == NOBODY:
            continue
        rater = _rater(annotator, page) + (f"#{time}" if time > 1 else "")
        if shown:
            rater = f"{annotator}{SUFFIX}"
        live = _last_live(group)
        at = _when(live or group[-1])
        # Who gives a row, as what kind of rater, and whether an empty one says "skipped".
        given: list[tuple[str, Kind, bool]] = [(rater, page.kind, live is None)]
        if page.kind == "annotator" and page.unit in ("pair", "pairs") and time == 1 and not shown:
            given.append((GROUND_TRUTH, "adjudicated", False))
        flagged = live is not None and live.raw.get("ground_truth") is True
        for item_id in _targets(one, page):
            for name, kind, skipped in given:
                answer = said.get(item_id) if name != GROUND_TRUTH or flagged else None
                if answer is None and not skipped and (item_id, name) not in rated:
                    continue
                row = _row(item_id, name, kind, answer, page)
                if shown:
                    row = replace(row, source=OF_SHOWN)
                elif time > 1:
                    row = replace(row, source=OF_RETEST)
                # The same item may have been graded on a page of its own too; a label that stands
                # counts more than a page that was skipped.
                rank = (answer is not None, at)
                before = chosen.get((item_id, name))
                if before is None or before[:2] <= rank:
                    chosen[item_id, name] = (*rank, row, answer)
    return Decision(
        rules,
        tuple(row for _, _, row, _ in chosen.values()),
        {key: answer for key, (_, _, _, answer) in chosen.items() if answer is not None},
        {version: count for version, count in left_open.items() if count},
    )


def _of_task(annotation: StoredAnnotation, page: Template | None, one: Graded | None) -> str | None:
    """The rule that refuses whatever the task's annotations say."""
    if one is None:
        return "unknown item"
    if page is None:
        return "other template"
    if annotation.content_sha256 != one.content_sha256:
        return "changed text"
    task = annotation.raw.get(TASK) or {}
    return None if task.get("shown_as_exported") else "changed text"


def _last_live(group: Sequence[StoredAnnotation]) -> StoredAnnotation | None:
    return next((a for a in reversed(group) if not a.raw.get("was_cancelled")), None)


def _targets(one: Graded, page: Template) -> Iterator[str]:
    """The items that a label of this task is a rating of."""
    if page.unit != "pairs":
        yield one.item_id
    for ids in one.rows.values():
        yield from ids


def _said(
    annotation: StoredAnnotation, page: Template, one: Graded
) -> tuple[dict[str, Answer], int]:
    """Item → what the annotation says of it, and how many rows have no verdict."""
    lengths = {name: len(one.shown.get(name, ())) for name in page.repeated if page.unit == "gold"}
    lengths |= {name: len(ids) for name, ids in one.rows.items()}
    reading = page.read_rows(annotation.raw.get("result"), lengths)
    if reading.answer is not None:
        return {one.item_id: reading.answer}, 0
    said = {}
    for (name, row), answer in reading.rows.items():
        if answer.belongs is not None:
            if not 0 <= answer.belongs <= one.n_reference:
                raise Unreadable("unreadable")
            if answer.belongs != one.beside[row] and "misaligned" not in answer.reasons:
                answer = replace(answer, reasons=(*answer.reasons, "misaligned"))
        said[one.rows[name][row]] = answer
    return said, reading.open


def _rater(annotator: str, page: Template) -> str:
    """Whoever adjudicates: an item has one adjudicated label, the latest; who gave it is stored
    with the annotation."""
    return ADJUDICATED if page.kind == "adjudicated" else annotator


def _row(item_id: str, rater: str, kind: Kind, answer: Answer | None, page: Template) -> RatingRow:
    if answer is None:
        return RatingRow(
            item_id,
            rater,
            kind,
            None,
            "skipped",
            guideline=page.guideline,
            source="label-studio",
        )
    return RatingRow(
        item_id,
        rater,
        kind,
        answer.verdict,
        "rated",
        reasons=answer.reasons,
        comment=answer.comment,
        guideline=page.guideline,
        source="label-studio",
    )


def _when(annotation: StoredAnnotation) -> tuple[datetime, int]:
    return in_time(annotation.updated_at, annotation.raw.get("id"))


def in_time(updated_at: str, identifier: object) -> tuple[datetime, int]:
    """Where an annotation stands in time; equal times by the server's number."""
    try:
        at = datetime.fromisoformat(updated_at)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
    except ValueError:
        at = datetime.min.replace(tzinfo=UTC)
    return at, identifier if isinstance(identifier, int) else 0


def retest_times(samples: Sequence[Sample]) -> dict[str, int]:
    """Which time each retest asks: the study's first is the second time, and so on."""
    again = [sample.sample_id for sample in samples if sample.purpose == RETEST]
    return {sample_id: number for number, sample_id in enumerate(again, start=2)}
