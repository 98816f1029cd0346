"""Blind tasks: what a person is shown of an item, and nothing that tells who answered.

Every text is shown as text. What can't be seen, or would turn the order of what is seen, is shown
as an escape such as ``[U+202E]``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..scoring.errors import InputError
from ..scoring.records import NO_SYSTEM, Item
from ..study.shown_text import visible
from .template import Template

__all__ = [
    "EMPTY",
    "NO_REFERENCE",
    "Graded",
    "also_accepted",
    "batches",
    "blind_task",
    "graded_pair",
    "names",
    "refuse_telling_ids",
    "shown_sha256",
    "visible",
]

BATCH_TASKS = 1_000
BATCH_BYTES = 20_000_000

NO_REFERENCE = "(no reference element was matched)"
EMPTY = "(empty)"


@dataclass(frozen=True, slots=True)
class Graded:
    """What one task asks about.

    Attributes
    ----------
    item_id, question_id, system, content_sha256
        As of an :class:`~accord.scoring.records.Item`; the system is never shown.
    shown
        Every field that a page of this unit can show, with visible texts only.
    said
        The texts in which a system might name itself.
    matched
        Whether there is a reference to grade against.
    rows
        On a page with a verdict a row: field of the task → the item id of each row.
    beside
        There, of each row of ``pairs``: the number of its reference element, 0 for none.
    n_reference
        There, the reference's elements.
    """

    item_id: str
    question_id: str
    system: str
    content_sha256: str
    shown: Mapping[str, Any] = field(repr=False)
    said: tuple[str, ...] = field(default=(), repr=False)
    matched: bool = True
    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    beside: tuple[int, ...] = field(default=(), repr=False)
    n_reference: int = 0


def graded_pair(item: Item, labels: str = "") -> Graded:
    """An item as what a task asks about; ``labels`` are what others said of it."""
    return Graded(
        item_id=item.item_id,
        question_id=item.question_id,
        system=item.system,
        content_sha256=item.content_sha256,
        shown=_Pair(item, labels),
        said=(item.predicted,),
        matched=item.reference is not None,
    )


class _Pair(Mapping[str, Any]):
    """What a page can show of an item; each text is made visible when it is asked for."""

    __slots__ = ("_item", "_labels")
    _FIELDS = (
        *("question", "reference", "also_accepted", "reference_note"),
        *("predicted", "predicted_note", "labels"),
    )

    def __init__(self, item: Item, labels: str) -> None:
        self._item, self._labels = item, labels

    def __getitem__(self, name: str) -> str:
        item = self._item
        match name:
            case "question":
                return visible(item.question)
            case "reference":
                return visible(item.reference or "")
            case "also_accepted":
                return also_accepted(item.aliases)
            case "reference_note":
                blank = item.reference is not None and not item.reference.strip()
                return NO_REFERENCE if item.reference is None else EMPTY if blank else ""
            case "predicted":
                return visible(item.predicted)
            case "predicted_note":
                return "" if item.predicted.strip() else EMPTY
            case "labels":
                return self._labels
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._FIELDS)

    def __len__(self) -> int:
        return len(self._FIELDS)


def blind_task(one: Item | Graded, template: Template, sample_id: str) -> dict[str, Any]:
    """The task of an item, in Label Studio's import format.

    ``data`` holds the ids, the hashes and what is shown: no system, no question id, no position,
    no verdict. ``content_sha256`` is of the item, ``shown_sha256`` of the texts as they are shown,
    so that a text that was changed on the server is noticed too.
    """
    if isinstance(one, Item):
        one = graded_pair(one)
    rows = {"rows": {name: list(ids) for name, ids in one.rows.items()}} if one.rows else {}
    shown = {name: one.shown[name] for name in template.shown}
    return {
        "data": {
            "item_id": one.item_id,
            "content_sha256": one.content_sha256,
            "shown_sha256": shown_sha256(shown, template.shown),
            "template": template.name,
            "template_version": template.version,
            "sample_id": sample_id,
            **rows,
            **shown,
        }
    }


def also_accepted(aliases: Sequence[str]) -> str:
    """The aliases of a reference element as a person sees them; empty where there are none."""
    if not aliases:
        return ""
    return "\n".join(["Also accepted:", *(f"• {visible(alias)}" for alias in aliases)])


def shown_sha256(data: Mapping[str, Any], shown: Sequence[str]) -> str:
    """SHA-256 (64 hex digits) of the texts that a task shows."""
    # A database may give the keys of a row back in another order.
    values = [[name, data.get(name)] for name in shown]
    text = json.dumps(values, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def batches(tasks: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """The tasks in order, at most 1,000 and about 20 MB a batch: what one request may hold."""
    batch: list[Mapping[str, Any]] = []
    size = 0
    for task in tasks:
        length = len(json.dumps(task, ensure_ascii=True))
        if batch and (len(batch) >= BATCH_TASKS or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(task)
        size += length
    if batch:
        yield batch


def refuse_telling_ids(
    systems_of: Mapping[str, str], systems: Iterable[str], sample_id: str
) -> None:
    """Refuse ids that name a system: a task carries them, and a person can read them.

    Parameters
    ----------
    systems_of
        Item id → system.
    systems
        All systems of the study.
    sample_id
        The sample's name.

    Raises
    ------
    InputError
        When an item id holds the name of the item's system as a word of its own, or the sample's
        name that of any system.
    """
    telling = [(item, system) for item, system in systems_of.items() if names(item, system)]
    if telling:
        item, system = telling[0]
        raise InputError(
            f"{len(telling)} item ids tell the system: {item!r} names {system!r}",
            cure="leave the ids out when the file is added (accord makes its own), or use others",
        )
    for system in systems:
        if names(sample_id, system):
            raise InputError(
                f"the sample's name {sample_id!r} names the system {system!r}",
                cure="draw it under another name",
            )


def names(text: str, system: str) -> bool:
    """Whether a text holds the name of a system as a word of its own, in any case."""
    if system == NO_SYSTEM or len(system) < 2:
        return False
    pattern = rf"(?<![^\W_]){re.escape(system)}(?![^\W_])"
    return re.search(pattern, text, re.IGNORECASE) is not None
