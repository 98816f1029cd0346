"""Exports of Label Studio in any of its tabular formats: JSON, JSON_MIN, CSV."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..scoring.errors import InputError
from ..study.readers import read_table
from .snapshots import load_json

__all__ = ["Export", "read_export"]

_CURE = "in Label Studio choose Export, format JSON"
_FLAT = {"annotation_id", "annotator"}


@dataclass(frozen=True, slots=True)
class Export:
    """A file's tasks (JSON) or rows (JSON_MIN, CSV).

    Parameters
    ----------
    name, sha256
        Of the file.
    form
        ``JSON``, ``JSON_MIN`` or ``CSV``.
    tasks
        The tasks with their annotations, or one mapping a row.
    fields
        Where an item's id could be: ``data.KEY``, or the columns.
    count
        Distinct tasks.
    """

    name: str
    sha256: str
    form: str
    tasks: tuple[Mapping[str, Any], ...] = field(repr=False)
    fields: tuple[str, ...]
    count: int


def read_export(path: Path) -> Export:
    """Read an export.

    Raises
    ------
    InputError
        When it is none, holds no labels, or is of a version before 1.0.
    """
    if path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv")):
        return _csv(path)
    tasks, sha256 = load_json(path)
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise InputError(f"{path.name} is no export of Label Studio: no list of tasks", cure=_CURE)
    if not tasks:
        raise InputError(f"{path.name} has no task", cure=_CURE)
    if all(not isinstance(task.get("data"), dict) and task.keys() & _FLAT for task in tasks):
        return Export(
            path.name,
            sha256,
            "JSON_MIN",
            tuple(tasks),
            tuple(dict.fromkeys(key for task in tasks for key in task)),
            len({task.get("id") for task in tasks}),
        )
    for place, task in enumerate(tasks, start=1):
        if not isinstance(task.get("data"), dict):
            raise InputError(f"{path.name}, task {place} has no data: no export", cure=_CURE)
        if "annotations" not in task and "completions" in task:
            raise InputError(
                f"{path.name} is of a Label Studio before 1.0 (completions)",
                cure="import it into a newer one and export it there, format JSON",
            )
        annotations = task.get("annotations")
        if not isinstance(annotations, list) or not all(isinstance(a, dict) for a in annotations):
            raise InputError(
                f"{path.name}, task {place} has no annotations: these are tasks, not labels",
                cure=_CURE,
            )
    keys = dict.fromkeys(f"data.{key}" for task in tasks for key in task["data"])
    return Export(path.name, sha256, "JSON", tuple(tasks), ("id", *keys), len(tasks))


def _csv(path: Path) -> Export:
    table = read_table(path)
    columns = tuple(map(str, table.frame.columns))
    if not _FLAT & set(columns):
        raise InputError(
            f"{path.name} is no CSV export of Label Studio: no column annotation_id or annotator",
            cure=_CURE,
        )
    rows = tuple(
        {name: cell for name, cell in zip(columns, row, strict=True) if cell is not None}
        for row in table.frame.itertuples(index=False, name=None)
    )
    ids = {row.get("id", place) for place, row in enumerate(rows)}
    return Export(path.name, table.sha256, "CSV", rows, columns, len(ids))
