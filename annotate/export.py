"""Out to people: a sample's items as blind tasks, to a Label Studio server or to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..scoring.errors import InputError, SettingsError, StudyError
from ..scoring.files import expect_writable, read_whole, write_together
from ..study.anchored import MARK
from ..study.identity import is_other_unit
from ..study.joined import items_of
from ..study.records import ExportedTask, Sample
from .catalogue import keep_template
from .connection import Connection
from .environment import Progress, silent
from .handout import of_sample
from .projects import (
    SHARED,
    Listed,
    Project,
    create_project,
    keep_overlap,
    keep_project,
    list_tasks,
    mark_of,
    recall_project,
    set_per_item,
)
from .sending import Sending, exported_task
from .shown_judge import ShownJudge, show_judge
from .tasks import Graded, blind_task, names, refuse_telling_ids, shown_sha256
from .template import Template, load_template

if TYPE_CHECKING:
    from ..study import Study

__all__ = [
    "ExportReport",
    "TaskFiles",
    "Unmatched",
    "export_to_file",
    "export_to_server",
    "fill_project",
    "items_to_grade",
    "task_file",
    "task_files",
    "write_tasks",
]

Unmatched = Literal["show", "hide"]


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export did.

    Attributes
    ----------
    target
        The server's address, or the file's name.
    total, added, present
        Tasks of the sample; those that this run added; those that were there before.
    per_item
        How many people grade each task; None for a file.
    url
        Where a person opens the project; None for a file.
    files
        Names of the files written.
    notes
        Sentences worth reading.
    """

    sample_id: str
    template: str
    target: str
    total: int
    added: int
    present: int
    project_id: int | None = None
    per_item: int | None = None
    url: str | None = None
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "sample": self.sample_id,
            "template": self.template,
            "target": self.target,
            "total": self.total,
            "added": self.added,
            "present": self.present,
            "project_id": self.project_id,
            "per_item": self.per_item,
            "url": self.url,
            "files": list(self.files),
            "notes": list(self.notes),
        }


def export_to_server(
    study: Study,
    sample_id: str,
    connection: Connection,
    *,
    template: str | Path = "pair",
    language: str | None = None,
    per_item: int | None = None,
    unmatched: Unmatched = "show",
    judge: str | None = None,
    progress: Progress = silent,
) -> ExportReport:
    """Put a sample's items into a project of their own; add exactly what is missing there.

    The server is asked first which items it has, so an export can be repeated: after an
    interruption, or when tasks were deleted there.

    Parameters
    ----------
    per_item
        How many people grade each task. Default: 1, or what the project has already.
    template
        The name of a template of accord, or the folder of a user's own, which is kept with the
        study.
    language
        Of the instructions, where the template has them in several.
    unmatched
        Whether predicted elements without a reference element are graded too (``show``).
    judge
        Shows people this judge's verdicts, in a project of its own. Their labels are marked and
        enter no figure as blind ones.

    Raises
    ------
    StudyError
        When there is no such sample, or items of it are no longer in the study.
    InputError
        When an id or the sample's name would tell the system.
    ServiceError
        When the server fails; what had arrived is in the ledger.
    """
    if per_item is not None and not 1 <= per_item <= 100:
        raise SettingsError(f"--per-item can't be {per_item}", cure="use 1 to 100")
    page = load_template(template, language=language)
    with study.ledger.writing():
        keep_template(study.path, template, page)
        sample, items, notes = items_to_grade(study, sample_id, unmatched, page)
        _refuse_to_mix(sample)
        seen = None if judge is None else show_judge(study, sample, page, judge)
        page = page if seen is None else seen.page
        if seen is not None:
            notes += seen.notes(items)
        own = page.name if seen is None else f"{page.name}{MARK}{seen.name}"
        if page.kind != "adjudicated" and seen is None:
            notes += _shared_too(study, sample_id, page)
        mark = mark_of(study, sample_id, own, make=True)
        if mark is None:
            raise StudyError(f"sample {sample_id!r} has no mark", cure="run this again")
        project, present, said = fill_project(
            study,
            sample,
            page,
            connection,
            mark,
            items,
            seen=seen,
            per_item=per_item,
            progress=progress,
        )
        if page.kind != "adjudicated" and seen is None:
            keep_overlap(study, sample_id, page, project.per_item)
    return ExportReport(
        sample_id=sample_id,
        template=page.guideline,
        target=connection.url,
        total=len(items),
        added=len(items) - present,
        present=present,
        project_id=project.project_id,
        per_item=project.per_item,
        url=project.url,
        notes=(*notes, *said),
    )


def fill_project(
    study: Study,
    sample: Sample,
    page: Template,
    connection: Connection,
    mark: str,
    items: Sequence[Graded],
    *,
    seen: ShownJudge | None = None,
    per_item: int | None = None,
    part: str = "",
    progress: Progress = silent,
) -> tuple[Project, int, list[str]]:
    """Put items as tasks into the project with a mark, which is made where there is none.

    Parameters
    ----------
    items
        All that the project should have, each once; those that are there are not sent again.
    seen
        The judge whose verdicts people see.
    part
        What the project's title says besides the sample, where a sample has several.

    Returns
    -------
    tuple
        The project, how many of the tasks were there, and sentences worth reading.

    Raises
    ------
    ServiceError
        When the server fails; what had arrived is in the ledger.
    """
    notes: list[str] = []
    project = recall_project(study, connection, mark)
    new = project is None
    if project is None:
        title = f"{sample.sample_id} {part}".strip()
        project = create_project(
            connection, page, title, mark, per_item or 1, predictions=seen is not None
        )
        progress(f"project {project.project_id} is made")
    elif per_item is not None and per_item != project.per_item:
        project = set_per_item(connection, project, per_item)
    if keep_project(study, mark, project, connection.url):
        notes.append("the project of an earlier export is gone; a new one was made")
    # What people left open changes with their labels: a project may hold more of that.
    own = None if page.kind == "adjudicated" else {item.item_id for item in items}
    out = Sending(study, sample, page, connection, project, own)
    there = [] if new else list_tasks(connection, project, page.shown)
    present = out.record(there)
    notes += _oddities(there, items, page)
    missing = [item for item in items if item.item_id not in present]
    added = 0
    for sent in out.send(_task(item, page, sample, seen) for item in missing):
        added += sent
        if added < len(missing):
            progress(f"{added} of {len(missing)} tasks are there")
    return project, len(items) - len(missing), notes


def _task(one: Graded, page: Template, sample: Sample, seen: ShownJudge | None) -> dict[str, Any]:
    task = blind_task(one, page, sample.sample_id)
    return task if seen is None else seen.add_to(task)


def export_to_file(
    study: Study,
    sample_id: str,
    path: str | Path,
    *,
    template: str | Path = "pair",
    language: str | None = None,
    unmatched: Unmatched = "show",
    judge: str | None = None,
) -> ExportReport:
    """Write a sample's tasks as a file in Label Studio's import format.

    Beside ``NAME.json`` stand ``NAME.config.xml``, which goes into the project's labelling
    interface, and ``NAME.instructions.html``. All are written whole or not at all.

    Raises
    ------
    StudyError, InputError
        As :func:`export_to_server`; also when the file can't be written, or is there already and
        is no export of accord.
    """
    page = load_template(template, language=language)
    file = task_file(path)
    with study.ledger.writing():
        sample, items, notes = items_to_grade(study, sample_id, unmatched, page)
        _refuse_to_mix(sample)
        seen = None if judge is None else show_judge(study, sample, page, judge)
        kept, page = page, page if seen is None else seen.page
        made = task_files(study, sample, page, items, file, seen)
        keep_template(study.path, template, kept)
        write_tasks(study, [made])
        added = len(made.new)
    return ExportReport(
        sample_id=sample_id,
        template=page.guideline,
        target=file.name,
        total=len(items),
        added=added,
        present=len(items) - added,
        files=made.names,
        notes=(*notes, *made.notes),
    )


def task_file(path: str | Path) -> Path:
    """The file that tasks are written to.

    Raises
    ------
    SettingsError
        When its name does not end in ``.json``.
    """
    file = Path(path)
    if file.suffix.lower() != ".json":
        raise SettingsError(
            f"--to is {str(path)!r}", cure="use label-studio, or the name of a .json file"
        )
    return file


@dataclass(frozen=True, slots=True)
class TaskFiles:
    """Tasks as files that are not written yet, and what the ledger will know of them.

    ``names`` are the files': the tasks, the labelling interface and the instructions; ``new`` are
    the tasks that the ledger does not know in that file.
    """

    names: tuple[str, str, str]
    texts: Mapping[Path, str]
    new: tuple[ExportedTask, ...]
    notes: tuple[str, ...] = ()


def task_files(
    study: Study,
    sample: Sample,
    page: Template,
    items: Sequence[Graded],
    file: Path,
    seen: ShownJudge | None = None,
) -> TaskFiles:
    """Items as tasks, with the labelling interface and the instructions beside them.

    Parameters
    ----------
    seen
        The judge whose verdicts stand in the tasks as predictions.

    Raises
    ------
    InputError
        When the file can't be written, or is there already and is no export of accord; also when
        one of the two beside it is there without it and says something else.
    """
    config = file.with_suffix(".config.xml")
    guide = file.with_suffix(".instructions.html")
    beside = {config: page.config, guide: page.instructions_html + "\n"}
    _refuse_to_replace(file, beside)
    for path in (file, *beside):
        expect_writable(path)
    tasks = [_task(item, page, sample, seen) for item in items]
    known = {
        (row.item_id, row.content_sha256, row.template_version)
        for row in study.ledger.exported(sample.sample_id)
        if row.target == file.name and row.template == page.name
    }
    new = (
        exported_task(sample, page, item.item_id, item.content_sha256, file.name)
        for item in items
        if (item.item_id, item.content_sha256, page.version) not in known
    )
    return TaskFiles(
        names=(file.name, config.name, guide.name),
        texts={**beside, file: json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"},
        new=tuple(new),
        notes=() if seen is None else tuple(seen.notes(items)),
    )


def write_tasks(study: Study, files: Sequence[TaskFiles]) -> None:
    """Write all of the files or none, and keep in the ledger what was handed out.

    Raises
    ------
    AccordError
        When one can't be written; nothing is kept then.
    """
    write_together({path: text for one in files for path, text in one.texts.items()})
    study.ledger.add_exported([task for one in files for task in one.new])


def items_to_grade(
    study: Study, sample_id: str, unmatched: Unmatched = "show", page: Template | None = None
) -> tuple[Sample, list[Graded], list[str]]:
    """What a template asks about of a sample, in presented order, and what to say of it.

    Raises
    ------
    StudyError
        When there is no such sample, or items of it are no longer in the study.
    SettingsError
        When the sample does not fit the template.
    InputError
        When an id or the sample's name would tell the system.
    """
    if unmatched not in ("show", "hide"):
        raise SettingsError(f"--unmatched is {unmatched!r}", cure="use show or hide")
    sample = study.ledger.sample(sample_id)
    single = [item_id for item_id, _ in sample.items if not is_other_unit(item_id)]
    frame = study.pairs() if single else None
    by_id = {} if frame is None else {item.item_id: item for item in items_of(frame)}
    gone = [item_id for item_id in single if item_id not in by_id]
    if gone:
        raise StudyError(
            f"{len(gone)} of {len(sample.items)} items of sample {sample_id!r} are no longer in "
            f"the study, {gone[0]!r} first",
            cure="restore the study's settings, or draw a new sample",
        )
    items = of_sample(
        study, sample, page or load_template(), [by_id[item_id] for item_id in single]
    )
    systems = [
        system
        for (system,) in study.ledger.query(
            "SELECT system FROM response UNION SELECT system FROM given_pair"
        )
    ]
    own = set(single) | {item for one in items for ids in one.rows.values() for item in ids}
    if frame is None and own:
        frame = study.pairs()
    told = {} if frame is None else dict(zip(frame["item_id"], frame["system"], strict=True))
    refuse_telling_ids({item: told[item] for item in own if item in told}, systems, sample_id)
    named = sum(any(names(text, s) for s in systems for text in one.said) for one in items)
    notes = (
        [f"{named} predicted texts name a system themselves; blinding can't take that away"]
        if named
        else []
    )
    if unmatched == "hide":
        shown = [item for item in items if item.matched]
        if hidden := len(items) - len(shown):
            notes.append(f"{hidden} predicted elements without a reference element are not shown")
        items = shown
    return sample, items, notes


def _shared_too(study: Study, sample_id: str, page: Template) -> list[str]:
    """A sample that is shared out has its people already; a further project asks anybody again."""
    for row in study.ledger.provenance():
        about = (row.detail.get("sample"), row.detail.get("template", "pair"))
        if row.action == SHARED and about == (sample_id, page.name):
            return [
                f"sample {sample_id!r} is shared out among {len(row.detail['people'])} people as"
                " well; repeat that export with --annotators FILE"
            ]
    return []


def _refuse_to_mix(sample: Sample) -> None:
    """A retest of several people is no heap of tasks for everybody."""
    asked = [name for name, own in (sample.settings.get("assigned") or {}).items() if own]
    if len(asked) > 1:
        raise SettingsError(
            f"the retest {sample.sample_id!r} gives each of {len(asked)} people their own items",
            cure="name those people with --annotators FILE",
        )


def _oddities(there: Sequence[Listed], items: Sequence[Graded], page: Template) -> list[str]:
    """What is on the server and should not be, in sentences."""
    wanted = {item.item_id: item for item in items}
    notes = []
    twice = len(there) - len({task.item_id for task in there})
    if twice:
        notes.append(f"{twice} tasks are on the server twice; accord import joins their labels")
    if page.kind == "adjudicated":
        # What people left open changes with their labels, and so does what a task shows of these.
        return notes
    strangers = sum(task.item_id not in wanted for task in there)
    if strangers:
        notes.append(f"{strangers} tasks of the project are not of this sample")
    changed = sum(
        item is not None
        and (task.content_sha256, task.shown_sha256)
        != (item.content_sha256, shown_sha256(item.shown, page.shown))
        for task, item in ((task, wanted.get(task.item_id)) for task in there)
    )
    if changed:
        notes.append(
            f"{changed} tasks show a text that the study no longer has; their labels stay out"
        )
    return notes


def _refuse_to_replace(file: Path, beside: Mapping[Path, str]) -> None:
    if not os.path.lexists(file):
        for path, text in beside.items():
            # An export that broke off has left the same text there.
            if os.path.lexists(path) and read_whole(path) != text.encode():
                raise InputError(
                    f"{path} is there already and belongs to no {file.name}",
                    cure="name another file",
                )
        return
    try:
        tasks = json.loads(read_whole(file))
        ours = isinstance(tasks, list) and all("item_id" in task["data"] for task in tasks)
        graded = ours and any("annotations" in task for task in tasks)
    except (InputError, ValueError, TypeError, KeyError, RecursionError):
        ours = graded = False
    if not ours or graded:
        what = "holds labels" if graded else "is no export of accord"
        raise InputError(f"{file} is there already and {what}", cure="name another file")
