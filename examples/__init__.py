"""A small list-question study, written for the project: the input of ``accord demo``.

``questions.jsonl``, ``responses.jsonl``, ``labels.jsonl``, ``gold_audit.csv`` and ``planted.json``
are package data; ``README.md`` beside them says what each holds. The set is illustrative: the
systems and the annotators are made up, and no figure from it says anything about a real one.
"""

from __future__ import annotations

import importlib.resources
import json
from collections import Counter
from collections.abc import Iterable
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from ..scoring.errors import InputError

if TYPE_CHECKING:
    from ..scoring.records import Item

__all__ = ["FILES", "SYSTEMS", "files", "labels_of", "read_jsonl"]

FILES = (
    "questions.jsonl",
    "responses.jsonl",
    "labels.jsonl",
    "gold_audit.csv",
    "planted.json",
    "README.md",
)
SYSTEMS = ("alder", "birch", "cedar")
"""The three made-up systems, from the best to the worst."""


def files() -> Traversable:
    """The folder with the example files, also from inside a wheel.

    Examples
    --------
    >>> (files() / "questions.jsonl").is_file()
    True
    """
    return importlib.resources.files(__name__)


def read_jsonl(name: str) -> list[dict[str, Any]]:
    """The rows of one of the ``.jsonl`` files."""
    text = (files() / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def labels_of(items: Iterable[Item]) -> list[dict[str, Any]]:
    """The example labels of the items, each row of ``labels.jsonl`` with its ``item_id``.

    Item ids depend on how answers are read and aligned, so the file names no ids: a label belongs
    to a question, a system and the two texts that stood side by side. Items that are equal in all
    of these are told apart by their order.

    Parameters
    ----------
    items
        Items of the example study, the items of one response in the order in which
        :func:`accord.scoring.prepare` gives them.

    Raises
    ------
    InputError
        When an item has no label: the answers were read or aligned in another way.
    """
    found: dict[tuple[str, str, str, str | None, int], list[dict[str, Any]]] = {}
    for row in read_jsonl("labels.jsonl"):
        key = (
            row["question_id"],
            row["system"],
            row["element"],
            row["reference"],
            row["occurrence"],
        )
        found.setdefault(key, []).append(row)
    seen: Counter[tuple[str, str, str, str | None]] = Counter()
    out = []
    for item in items:
        shown = (item.question_id, item.system, item.predicted, item.reference)
        rows = found.get((*shown, seen[shown]))
        seen[shown] += 1
        if rows is None:
            raise InputError(
                f"question {item.question_id!r}, system {item.system!r}: the example labels have "
                f"none for {item.predicted!r} beside {item.reference!r}",
                cure="score the example study with the recipe listqa unchanged",
            )
        out += [{"item_id": item.item_id, **row} for row in rows]
    return out
