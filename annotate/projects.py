"""A sample's project on a Label Studio server: found again, listed, made.

A project is known by a random mark in its description, since titles may repeat, addresses change,
and a server that was set up anew gives the same numbers to other projects. Where the mark is gone,
the number counts if a task that was sent there stands in it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..study.anchored import MARK
from .connection import Connection
from .tasks import shown_sha256
from .template import Template

if TYPE_CHECKING:
    from ..study import Study

__all__ = [
    "OVERLAP",
    "SHARED",
    "KnownProject",
    "Listed",
    "Project",
    "create_project",
    "find_project",
    "keep_overlap",
    "keep_project",
    "known_projects",
    "list_tasks",
    "mark_of",
    "recall_project",
]

SHARED = "assignment"
"""The action under which the ledger keeps who grades which items of a sample."""
OVERLAP = "labels per item"
"""The action under which the ledger keeps how many people grade each item of a sample."""
_ACTION = "export mark"
_MADE = "export project"
"""The action under which the ledger keeps where the project of a mark is."""
_LONGEST_TITLE = 50


@dataclass(frozen=True, slots=True)
class Project:
    """A project: its number, where a person opens it, and how many people grade each task."""

    project_id: int
    url: str
    per_item: int


@dataclass(frozen=True, slots=True)
class KnownProject:
    """A project as the ledger knows it, whether or not it is on a server.

    Parameters
    ----------
    template
        The template's name; with ``+judge:NAME`` where people see that judge's verdicts.
    owner
        The person whose project it is; None where everybody grades.
    settles
        The person who settles there what others left open.
    project_id, server
        Where it was made or last found; None where it was never made.
    """

    mark: str
    sample_id: str
    template: str
    owner: str | None = None
    settles: str | None = None
    project_id: int | None = None
    server: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Which project it is and whose, as JSON values."""
        return {
            "project_id": self.project_id,
            "server": self.server,
            "sample": self.sample_id,
            "template": self.template,
            "annotator": self.owner or self.settles,
        }

    def missing(self, study: Path, server: str) -> tuple[str, str]:
        """The sentence that it is not on a server, and what to do."""
        who = self.owner or self.settles
        whose = self.template if who is None else f"{self.template}, {who}"
        made = "" if self.server == server else f"; it was made at {self.server}"
        name, _, judge = self.template.partition(MARK)
        command = f"accord export {study} {self.sample_id} --template {name}"
        if name == "adjudication":
            command = f"accord adjudicate {study} {self.sample_id}"
        elif judge:
            command += f" --show-judge {judge}"
        if who:
            command = f"to the same people: {command} --annotators FILE"
        return (
            f"project {self.project_id} of sample {self.sample_id!r} ({whose}) is not at"
            f" {server}{made}",
            ("" if not made else "import from there, or ")
            + f"hand its items out again{', ' if who else ': '}{command}",
        )


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


def known_projects(study: Study, sample_id: str) -> list[KnownProject]:
    """All projects of a sample, in the order in which it was first handed out so."""
    found: dict[str, KnownProject] = {}
    for row in study.ledger.provenance():
        detail = row.detail
        if row.action == _MADE and detail["mark"] in found:
            mark = str(detail["mark"])
            found[mark] = replace(
                found[mark], project_id=int(detail["project_id"]), server=str(detail["server"])
            )
        elif detail.get("sample") != sample_id:
            continue
        elif row.action == _ACTION:
            template, _, person = str(detail.get("template", "pair")).partition("/")
            mark = str(detail["mark"])
            found[mark] = KnownProject(mark, sample_id, template, settles=person or None)
        elif row.action == SHARED:
            template = str(detail.get("template", "pair"))
            for mark, person in zip(detail["marks"], detail["people"], strict=True):
                found[mark] = KnownProject(mark, sample_id, template, owner=person)
    return list(found.values())


def keep_project(study: Study, mark: str, project: Project, server: str) -> bool:
    """Keep where the project of a mark is, where that is new.

    Returns
    -------
    bool
        Whether the mark had another project on that server before, which is gone then.
    """
    before = _place_of(study, mark)
    place = {"mark": mark, "project_id": project.project_id, "server": server}
    if before != place:
        study.ledger.add_provenance(_MADE, place)
    return before.get("server") == server and before["project_id"] != project.project_id


def _place_of(study: Study, mark: str) -> Mapping[str, Any]:
    """Where the project of a mark was made or last found; empty where it was never made."""
    place: Mapping[str, Any] = {}
    for row in study.ledger.provenance():
        if row.action == _MADE and row.detail["mark"] == mark:
            place = row.detail
    return place


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


def recall_project(study: Study, connection: Connection, mark: str) -> Project | None:
    """The project with that mark, also where somebody wrote another description over it.

    Then it is known by its number and by a task that the ledger knows there, and its mark is put
    back: a second project would ask people for all of it again.
    """
    project = find_project(connection, mark)
    if project is not None:
        return project
    place = _place_of(study, mark)
    if place.get("server") != connection.url:
        return None
    number = int(place["project_id"])
    own = {
        row.task_id: row.item_id
        for row in study.ledger.exported()
        if (row.target, row.project_id) == (connection.url, number)
    }
    found = _numbered(connection, number)
    if found is None:
        return None
    project = _project(connection, found)
    if not any(own.get(task.task_id) == task.item_id for task in list_tasks(connection, project)):
        return None
    with connection.calling("to change a project") as client:
        client.projects.update(id=number, description=f"{found.description or ''} [{mark}]".strip())
    return project


def _numbered(connection: Connection, number: int) -> Any:
    """The project of that number; None where there is none."""
    from label_studio_sdk.core.api_error import ApiError

    with connection.calling("to find a project") as client:
        try:
            return client.projects.get(id=number)
        except ApiError as error:
            if error.status_code != 404:
                raise
            return None


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
