"""What people left open goes to one more person, who settles it; every earlier label is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.errors import SettingsError, StudyError
from ..study.anchored import OF_SHOWN, SUFFIX
from ..study.weights import RETEST
from .annotators import Annotator
from .connection import Connection
from .disputes import Dispute, disputed, settled_items
from .environment import Progress, silent
from .export import ExportReport, fill_project, items_to_grade, task_file, task_files, write_tasks
from .projects import mark_of
from .pseudonym import Pseudonyms
from .template import Template, load_template

if TYPE_CHECKING:
    from ..study import Study
    from ..study.records import ExportedTask, RatingRow, Sample

__all__ = ["Adjudication", "adjudicate_by_file", "adjudicate_on_server"]

_TEMPLATE = "adjudication"


@dataclass(frozen=True, slots=True)
class Adjudication:
    """What was handed out to be settled.

    Attributes
    ----------
    annotator
        The pseudonym of the person who is to settle it; None where anybody may.
    differ, unsure
        Items handed out because two verdicts contradict each other, and because somebody was
        unsure and nobody contradicted.
    settled
        Items that people left open and that have an adjudicated label already; not handed out.
    own
        Items left out because this person labelled them.
    export
        What was sent or written; None where nothing is left to settle.
    """

    sample_id: str
    annotator: str | None
    differ: int
    unsure: int
    settled: int
    own: int
    export: ExportReport | None

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "sample": self.sample_id,
            "annotator": self.annotator,
            "items": self.differ + self.unsure,
            "why": {"differ": self.differ, "unsure": self.unsure},
            "settled_before": self.settled,
            "left_out_own": self.own,
            "export": None if self.export is None else self.export.to_dict(),
        }

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        if self.export is None:
            yield f"nothing is left to settle: {self.settled} items have an adjudicated label"
            return
        whose = f" for {self.annotator}" if self.annotator else ""
        yield (
            f"{self.differ + self.unsure} items to settle{whose}: people differ on {self.differ},"
            f" somebody is unsure of {self.unsure}"
        )
        if self.settled:
            yield f"{self.settled} more have an adjudicated label already"
        if self.own:
            yield f"{self.own} more are left out: {self.annotator} labelled them"
        if self.export.url:
            yield (
                f"{self.export.added} tasks added, {self.export.present} were there:"
                f" {self.export.url}"
            )
        else:
            files = self.export.files
            yield f"tasks: {files[0]}; labelling interface: {files[1]}; instructions: {files[2]}"
        yield from (f"note: {note}" for note in self.export.notes)


@dataclass(frozen=True, slots=True)
class _Plan:
    sample: Sample
    page: Template
    person: str | None
    todo: tuple[Dispute, ...]
    settled: int
    own: int
    notes: tuple[str, ...]

    def report(self, export: ExportReport | None) -> Adjudication:
        why = Counter(one.why for one in self.todo)
        return Adjudication(
            self.sample.sample_id,
            self.person,
            why["differ"],
            why["unsure"],
            self.settled,
            self.own,
            export,
        )


def adjudicate_on_server(
    study: Study,
    sample_id: str,
    connection: Connection,
    *,
    people: Sequence[Annotator] = (),
    names: Pseudonyms | None = None,
    progress: Progress = silent,
) -> Adjudication:
    """Put the items that people left open into a project of their own; add what is missing there.

    The labels come back with the study's others (:func:`accord.annotate.import_from_server`), as
    those of one rater, ``adjudicated``: of each item the latest counts.

    Parameters
    ----------
    people
        The one who settles them, who gets none that he or she labelled before. Nobody: whoever
        opens the project; an import then says how many settled what they had labelled.

    Raises
    ------
    SettingsError
        When several people are named: two final labels of an item would be a disagreement again.
    StudyError
        When people left nothing open, the person labelled all of it, or there is no such sample.
    ServiceError
        When the server fails; what had arrived is in the ledger.
    """
    names = names or Pseudonyms()
    with study.ledger.writing():
        plan = _plan(study, sample_id, people, names)
        if not plan.todo:
            return plan.report(None)
        own = plan.page.name if plan.person is None else f"{plan.page.name}/{plan.person}"
        before = study.ledger.exported()
        mark = mark_of(study, sample_id, own, make=True)
        if mark is None:
            raise StudyError(f"sample {sample_id!r} has no mark", cure="run this again")
        project, present, said = fill_project(
            study,
            plan.sample,
            plan.page,
            connection,
            mark,
            [one.task for one in plan.todo],
            per_item=1,
            part="" if plan.person is None else f"by {plan.person}",
            progress=progress,
        )
    names.save_people()
    return plan.report(
        ExportReport(
            sample_id=sample_id,
            template=plan.page.guideline,
            target=connection.url,
            total=len(plan.todo),
            added=len(plan.todo) - present,
            present=present,
            project_id=project.project_id,
            per_item=project.per_item,
            url=project.url,
            notes=(*plan.notes, *said, *_elsewhere(plan, before, project.project_id)),
        )
    )


def adjudicate_by_file(
    study: Study,
    sample_id: str,
    path: str | Path,
    *,
    people: Sequence[Annotator] = (),
    names: Pseudonyms | None = None,
) -> Adjudication:
    """Write the items that people left open as a file in Label Studio's import format.

    Parameters and errors as :func:`adjudicate_on_server`; also when the file can't be written, or
    is there already and is no export of accord.
    """
    names = names or Pseudonyms()
    file = task_file(path)
    with study.ledger.writing():
        plan = _plan(study, sample_id, people, names)
        if not plan.todo:
            return plan.report(None)
        before = study.ledger.exported()
        tasks = [one.task for one in plan.todo]
        made = task_files(study, plan.sample, plan.page, tasks, file)
        write_tasks(study, [made])
        added = len(made.new)
    names.save_people()
    return plan.report(
        ExportReport(
            sample_id=sample_id,
            template=plan.page.guideline,
            target=file.name,
            total=len(plan.todo),
            added=added,
            present=len(plan.todo) - added,
            files=made.names,
            notes=(*plan.notes, *_elsewhere(plan, before, file.name)),
        )
    )


def _plan(study: Study, sample_id: str, people: Sequence[Annotator], names: Pseudonyms) -> _Plan:
    """What is still open, and who gets it."""
    if len(people) > 1:
        raise SettingsError(
            f"{len(people)} people are named, and one settles what others left open",
            cure="name one person, or none",
        )
    sample = study.ledger.sample(sample_id)
    if sample.purpose == RETEST:
        raise SettingsError(
            f"{sample_id!r} is a retest: its labels say how people agree with themselves",
            cure="adjudicate the sample that it repeats",
        )
    page = load_template(_TEMPLATE)
    _, open_ones, notes = items_to_grade(study, sample_id, "show", page)
    wanted = {one.item_id for one in open_ones}
    items = {item.item_id: item for item in study.items() if item.item_id in wanted}
    ordered = [items[one.item_id] for one in open_ones]
    rows = study.ledger.rating_rows()
    settled = settled_items(rows)
    found = disputed(study, sample, ordered)
    todo = [one for one in found if one.item_id not in settled]
    person, own = None, 0
    if people:
        person = names.of(people[0].email)
        by_them = _labelled_by(people[0], person, rows)
        left = [one for one in todo if one.item_id not in by_them]
        own = len(todo) - len(left)
        if todo and not left:
            raise StudyError(
                f"{person} labelled all {own} items of sample {sample_id!r} that are open",
                cure="name somebody who did not: --annotators FILE",
            )
        todo = left
    return _Plan(sample, page, person, tuple(todo), len(found) - len(todo) - own, own, tuple(notes))


def _elsewhere(plan: _Plan, before: Sequence[ExportedTask], place: int | str) -> list[str]:
    """Says how many items wait in another project or file, where somebody else may settle them."""
    waiting = {
        row.item_id
        for row in before
        if row.template == plan.page.name and place not in (row.project_id, row.target)
    }
    both = sum(one.item_id in waiting for one in plan.todo)
    if not both:
        return []
    return [
        f"{both} of them are handed out in another project or file already and not settled there"
        " yet; of each item the latest adjudication counts"
    ]


def _labelled_by(person: Annotator, pseudonym: str, rows: Sequence[RatingRow]) -> set[str]:
    """The items that a person labelled, by pseudonym or, in a table, by address or name."""
    return {
        row.item_id
        for row in rows
        if row.kind == "annotator"
        and row.status == "rated"
        and ((name := _person(row)) == pseudonym or person.is_called(name))
    }


def _person(row: RatingRow) -> str:
    """Whose rating it is, a repeat or one beside a judge's verdict too."""
    if row.source == OF_SHOWN:
        return row.rater.removesuffix(SUFFIX)
    return row.rater.partition("#")[0]
