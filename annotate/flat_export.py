"""JSON_MIN and CSV exports of accord's own projects, made into tasks with annotations again.

Both formats put an annotation's controls beside the task's data, one row an annotation, and leave
skips and tasks without a label out. What they keep is enough to join labels by item id and to see
whether the task's text is still what was exported.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..scoring.errors import InputError
from ..study.labelling_page import Control
from .foreign_files import Export, read_export
from .foreign_flat import seconds, whole
from .snapshots import Snapshot, read_file
from .template import Template

__all__ = ["NO_SKIPS", "read_any"]

NO_SKIPS = "skips are not in {form}: export JSON to have them counted"
Find = Callable[[object, object], "Template | None"]
"""The template of that name and version; None where it is not there."""


def read_any(path: Path, find: Find) -> tuple[Snapshot, str | None]:
    """A JSON, JSON_MIN or CSV export of accord's own projects.

    Parameters
    ----------
    find
        Looks a template up, whose controls say what of a row is an answer.

    Returns
    -------
    tuple
        The snapshot, and a note on what the format lacks.

    Raises
    ------
    InputError
        When the file can't be taken.
    """
    name = path.name.lower().removesuffix(".gz")
    if not name.endswith((".csv", ".tsv")):
        try:
            return read_file(path), None
        except InputError as error:
            try:
                export = read_export(path)
            except InputError:
                raise error from None
            if export.form == "JSON":
                raise
    else:
        export = read_export(path)
    if "item_id" not in export.fields:
        raise InputError(
            f"{export.name} was not exported by accord: no row of it has an item_id",
            cure="bring the labels in as a table: accord labels, then accord add --as ratings",
        )
    tasks = _tasks(export, find)
    return (
        Snapshot(export.name, tuple(tasks), sha256=export.sha256),
        NO_SKIPS.format(form=export.form),
    )


def _tasks(export: Export, find: Find) -> list[dict[str, Any]]:
    """One task a task of the server, with its annotations."""
    by_task: dict[object, dict[str, Any]] = {}
    for place, row in enumerate(export.tasks):
        page = find(row.get("template"), row.get("template_version"))
        key = row.get("id", f"row {place}")
        task = by_task.setdefault(
            key,
            {"id": whole(row.get("id")), "data": _data(row, page), "annotations": []},
        )
        if page is None:
            result: list[dict[str, Any]] = []
        else:
            result = [part for control in page.controls.values() for part in _answers(row, control)]
        task["annotations"].append(
            {
                "id": whole(row.get("annotation_id")),
                "completed_by": _person(row.get("annotator")),
                "result": result,
                "was_cancelled": False,
                "created_at": row.get("created_at"),
                "updated_at": row.get("updated_at") or row.get("created_at"),
                "lead_time": seconds(row.get("lead_time")),
            }
        )
    return list(by_task.values())


def _data(row: Mapping[str, Any], page: Template | None) -> dict[str, Any]:
    """The task's data as it was exported: a blank cell of a shown text is an empty text."""
    if page is None:
        return {key: value for key, value in row.items() if isinstance(value, str)}
    out: dict[str, Any] = {}
    for name in page.fields:
        value = row.get(name, "" if name in page.shown else None)
        if isinstance(value, str) and value[:1] in ("[", "{") and not _is_text(name, page):
            value = _parsed(value)
        if value is not None:
            out[name] = value
    return out


def _is_text(name: str, page: Template) -> bool:
    return name not in page.repeated and name != "rows"


def _answers(row: Mapping[str, Any], control: Control) -> list[dict[str, Any]]:
    """What a row says in a control, in each place where the control stands."""
    if control.flag:
        places = [name for name in row if control.row_of(name) is not None]
    else:
        places = [control.name]
    found = []
    for name in places:
        values = _values(row.get(name), control.kind)
        if values is None:
            continue
        number = control.row_of(name) if control.flag else None
        to_name = control.to_name
        if number is not None:
            to_name = to_name.replace(control.flag, str(number))
        found.append({"from_name": name, "to_name": to_name, "type": control.kind, "value": values})
    return found


def _values(cell: Any, kind: str) -> dict[str, Any] | None:
    """A cell as Label Studio's value; None where nothing was answered."""
    if isinstance(cell, str) and cell.lstrip()[:1] in ("{", "["):
        parsed = _parsed(cell)
        # a comment may begin with a bracket
        cell = parsed if kind != "textarea" or isinstance(parsed, dict) else cell
    if cell is None or cell == "" or cell == []:
        return None
    if kind == "number":
        while isinstance(cell, (list, dict)) and cell:
            cell = cell[0] if isinstance(cell, list) else cell.get("number")
        return {"number": _number(cell)}
    key = "choices" if kind == "choices" else "text"
    if isinstance(cell, Mapping):
        cell = cell.get(key, cell)
    values: Sequence[Any] = cell if isinstance(cell, list) else [cell]
    return {key: [value if isinstance(value, str) else json.dumps(value) for value in values]}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _person(value: Any) -> Any:
    if isinstance(value, (dict, int)):
        return value
    if isinstance(value, str) and "@" in value:
        return value
    return whole(value)


def _number(value: Any) -> Any:
    try:
        found = float(value)
    except (TypeError, ValueError):
        return value
    if not math.isfinite(found):
        return value
    return int(found) if found.is_integer() else found
