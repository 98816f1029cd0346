"""A sample's project on a Label Studio server: found again, listed, made.

A project is known by a random mark in its description, since titles may repeat, addresses change,
and a server that was set up anew gives the same numbers to other projects.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .connection import Connection
from .tasks import shown_sha256
from .template import Template

if TYPE_CHECKING:
    from ..study import Study

__all__ = [
    "OVERLAP",
    "SHARED",
    "Listed",
    "Project",
    "create_project",
    "find_project",
    "keep_overlap",
    "list_tasks",
    "mark_of",
    "marks_of",
]

SHARED = "assignment"
"""The action under which the ledger keeps who grades which items of a sample."""
OVERLAP = "labels per item"
"""The action under which the ledger keeps how many people grade each item of a sample."""
_ACTION = "export mark"
_LONGEST_TITLE = 50


@dataclass(frozen=True, slots=True)
class Project:
    """A project: its number, where a person opens it, and how many people grade each task."""

    project_id: int
    url: str
    per_item: int


@dataclass(frozen=True, slots=True)
class Listed:
    """One task that is on the server; ``shown_sha256`` is of the texts that it shows there now."""

    task_id: int
    item_id: str
    content_sha256: str
    shown_sha256: str


def mark_of(
    study: Study, sample_id: str, template: str = "pair", *, make: bool = False
) -> str | None:
    """The mark of a sample's project with a template; with ``make`` a new one where there is none.

    It is kept before the project is made, so that an interrupted export finds its project again.
    """
    for row in study.ledger.provenance():
        about = (row.detail.get("sample"), row.detail.get("template", "pair"))
        if row.action == _ACTION and about == (sample_id, template):
            return str(row.detail["mark"])
    if not make:
        return None
    mark = secrets.token_hex(8)
    study.ledger.add_provenance(_ACTION, {"sample": sample_id, "template": template, "mark": mark})
    return mark


def marks_of(study: Study, sample_id: str) -> dict[str, str | None]:
    """The marks of all projects of a sample, each with the person whose it is (None: everybody)."""
    marks: dict[str, str | None] = {}
    for row in study.ledger.provenance():
        if row.detail.get("sample") != sample_id:
            continue
        if row.action == _ACTION:
            marks[str(row.detail["mark"])] = None
        elif row.action == SHARED:
            marks |= dict(zip(row.detail["marks"], row.detail["people"], strict=True))
    return marks


def keep_overlap(study: Study, sample_id: str, page: Template, per_item: int) -> None:
    """Keep how many people grade each task of a sample and template, where that is new."""
    which = {"sample": sample_id, "template": page.name, "version": page.version}
    before = None
    for row in study.ledger.provenance():
        if row.action == OVERLAP and which.items() <= row.detail.items():
            before = row.detail["per_item"]
    if before != per_item:
        study.ledger.add_provenance(OVERLAP, {**which, "per_item": per_item})


def find_project(connection: Connection, mark: str) -> Project | None:
    """The project with that mark; the first one should there be several."""
    found = []
    with connection.calling("to list its projects") as client:
        projects: Iterable[Any] = client.projects.list(page_size=100)
        for project in projects:
            if f"[{mark}]" in (project.description or "") and project.id is not None:
                found.append(project)
    if not found:
        return None
    first = min(found, key=lambda project: int(project.id or 0))
    return _project(connection, first)


def create_project(
    connection: Connection,
    template: Template,
    name: str,
    mark: str,
    per_item: int,
    *,
    predictions: bool = False,
) -> Project:
    """Make a project: nothing in it tells of systems, judges or order.

    ``name`` is what its title says besides the template's: the sample, and which part of it.
    ``predictions``: whether people see those that the tasks bring.
    """
    # "s1" says nothing to the person who grades, and is what accord import asks for.
    title = re.sub(r"\s+", " ", f"{template.title} {name}")[:_LONGEST_TITLE]
    with connection.calling("to make a project") as client:
        project = client.projects.create(
            title=title,
            description=f"Made by accord [{mark}]",
            label_config=template.config,
            expert_instruction=template.instructions_html,
            show_instruction=True,
            show_skip_button=True,
            enable_empty_annotation=False,
            show_annotation_history=False,
            # Predictions sway people; none is uploaded either, unless a judge is to be shown.
            show_collab_predictions=predictions,
            maximum_annotations=per_item,
            overlap_cohort_percentage=100,
            sampling="Sequential sampling",
            skip_queue="REQUEUE_FOR_OTHERS",
        )
    return _project(connection, project)


def set_per_item(connection: Connection, project: Project, per_item: int) -> Project:
    """Let so many people grade each task, those that are there too."""
    with connection.calling("to change a project") as client:
        client.projects.update(id=project.project_id, maximum_annotations=per_item)
    return Project(project.project_id, project.url, per_item)


def list_tasks(
    connection: Connection, project: Project, shown: Sequence[str] | None = None
) -> list[Listed]:
    """Every task of the project that carries an item id, in the server's order.

    ``shown`` names the fields that a person sees; without it the task's own word is taken for what
    it shows.
    """
    with connection.calling("to list a project's tasks") as client:
        if not client.projects.get(id=project.project_id).task_number:
            return []
        tasks: Iterable[Any] = client.tasks.list(
            project=project.project_id, page_size=1_000, fields="task_only", include="id,data"
        )
        listed = []
        for task in tasks:
            data = task.data if isinstance(task.data, dict) else {}
            if task.id is not None and isinstance(data.get("item_id"), str):
                listed.append(
                    Listed(
                        int(task.id),
                        data["item_id"],
                        str(data.get("content_sha256")),
                        str(data.get("shown_sha256"))
                        if shown is None
                        else shown_sha256(data, shown),
                    )
                )
    return sorted(listed, key=lambda task: task.task_id)


def _project(connection: Connection, project: Any) -> Project:
    return Project(
        project_id=int(project.id),
        url=f"{connection.url}/projects/{project.id}",
        per_item=int(project.maximum_annotations or 1),
    )
