"""From stored annotations to ratings: which annotation counts, and what becomes of each other one.

Every annotation falls under exactly one rule, so the counts of an import add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..study.records import RatingRow, StoredAnnotation
from .snapshots import NOBODY
from .template import Answer, Template, Unreadable

__all__ = ["RULES", "TASK", "Decision", "decide", "in_time", "task_note"]

TASK = "accord_task"
"""The key in a stored annotation's raw JSON under which its task is described."""

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
    """The rule of each annotation version, and the ratings that follow."""

    rules: Mapping[tuple[str, str], str]
    ratings: tuple[RatingRow, ...]


def task_note(template: object, version: object, *, shown_as_exported: bool) -> dict[str, Any]:
    """What is kept of a task beside each of its annotations."""
    return {"template": template, "version": version, "shown_as_exported": shown_as_exported}


def decide(
    annotations: Iterable[StoredAnnotation],
    content: Mapping[str, str],
    template: Template,
    *,
    rated: Set[tuple[str, str]] = frozenset(),
) -> Decision:
    """Decide over all stored annotations of some items.

    Parameters
    ----------
    annotations
        Every version that the ledger has of the items.
    content
        Item id → the content hash that the study has now.
    rated
        ``(item, annotator)`` that have a rating already. A person who then withdraws the verdict
        gets a row that says *skipped*: the earlier row stays, and the later one counts.
    """
    rules: dict[tuple[str, str], str] = {}
    latest: dict[str, StoredAnnotation] = {}
    for annotation in sorted(annotations, key=_when):
        older = latest.get(annotation.unique_id)
        if older is not None:
            rules[older.unique_id, older.updated_at] = "superseded"
        latest[annotation.unique_id] = annotation

    groups: dict[tuple[str, str], list[StoredAnnotation]] = {}
    for annotation in sorted(latest.values(), key=_when):
        refused = _of_task(annotation, content, template)
        if refused:
            rules[annotation.unique_id, annotation.updated_at] = refused
        else:
            groups.setdefault((annotation.item_id, annotation.annotator), []).append(annotation)

    ratings = []
    for (item_id, annotator), group in groups.items():
        answer: Answer | None = None
        for annotation in group:
            if annotation.raw.get("was_cancelled"):
                rule = "skipped"
            elif annotator == NOBODY:
                rule = "unknown annotator"
            elif annotation is not _last_live(group):
                rule = "superseded"
            else:
                try:
                    answer = template.read(annotation.raw.get("result"))
                    rule = "labelled"
                except Unreadable as error:
                    rule = error.reason
            rules[annotation.unique_id, annotation.updated_at] = rule
        withdrawn = (item_id, annotator) in rated or _last_live(group) is None
        if annotator != NOBODY and (answer is not None or withdrawn):
            ratings.append(_row(item_id, annotator, answer, template))
    return Decision(rules, tuple(ratings))


def _of_task(
    annotation: StoredAnnotation, content: Mapping[str, str], template: Template
) -> str | None:
    """The rule that refuses whatever the task's annotations say."""
    if annotation.item_id not in content:
        return "unknown item"
    task = annotation.raw.get(TASK) or {}
    if (task.get("template"), task.get("version")) != (template.name, template.version):
        return "other template"
    if annotation.content_sha256 != content[annotation.item_id]:
        return "changed text"
    return None if task.get("shown_as_exported") else "changed text"


def _last_live(group: list[StoredAnnotation]) -> StoredAnnotation | None:
    return next((a for a in reversed(group) if not a.raw.get("was_cancelled")), None)


def _row(item_id: str, annotator: str, answer: Answer | None, template: Template) -> RatingRow:
    if answer is None:
        return RatingRow(
            item_id,
            annotator,
            "annotator",
            None,
            "skipped",
            guideline=template.guideline,
            source="label-studio",
        )
    return RatingRow(
        item_id,
        annotator,
        "annotator",
        answer.verdict,
        "rated",
        reasons=answer.reasons,
        comment=answer.comment,
        guideline=template.guideline,
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
