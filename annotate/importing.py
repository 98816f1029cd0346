"""Labels back from Label Studio: everything raw into the ledger first, then ratings by rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.errors import InputError, StudyError
from ..study.anchored import OF_SHOWN, began_from_prediction, beside_judge
from ..study.records import StoredAnnotation
from ..study.weights import OF_RETEST
from .catalogue import Catalogue
from .connection import Connection
from .environment import Progress, silent
from .flat_export import read_any
from .projects import KnownProject, known_projects, recall_project
from .pseudonym import Pseudonyms
from .rules import RULES, TASK, Decision, decide, retest_times, task_note
from .snapshots import (
    NOBODY,
    Snapshot,
    drafts_of,
    edited_by_another,
    fetch,
    keys_of,
    number,
    numbers_of,
    person_of,
    scrubbed,
)
from .tasks import Graded, shown_sha256
from .template import Template

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["ImportReport", "import_files", "import_from_server", "import_snapshots"]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import found and did.

    Attributes
    ----------
    sources
        Projects and files.
    tasks
        Counts of tasks: ``seen``, ``without item id``, ``unknown item``, ``changed text``,
        ``other template``, ``twice``.
    annotations
        Counts by rule (:data:`accord.annotate.rules.RULES`); they add up to all annotations of
        tasks with an item id, each once however many of the files it is in.
    drafts, edited_by_others, prefilled, judge_shown, by_others
        Drafts that were not submitted; annotations that somebody else changed; annotations that
        began from a prediction; annotations of tasks that were handed out with a judge's verdict;
        annotations in the project of another person. All but drafts are counted under their rule
        as well. Verdicts on items that began from a prediction, or had a judge's verdict in sight,
        are kept apart from blind ones.
    new_annotations, new_ratings
        What the ledger did not have yet.
    annotators
        Pseudonym → counts of ``labelled`` and ``skipped``.
    missing_projects
        Projects that the study made and the server does not have, or no longer. Labels that were
        imported from them before are kept.
    """

    sources: tuple[str, ...]
    tasks: Mapping[str, int]
    annotations: Mapping[str, int]
    drafts: int
    edited_by_others: int
    prefilled: int
    new_annotations: int
    new_ratings: int
    annotators: Mapping[str, Mapping[str, int]]
    notes: tuple[str, ...]
    by_others: int = 0
    judge_shown: int = 0
    missing_projects: tuple[KnownProject, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "sources": list(self.sources),
            "tasks": dict(self.tasks),
            "annotations": dict(self.annotations),
            "drafts": self.drafts,
            "edited_by_others": self.edited_by_others,
            "prefilled": self.prefilled,
            "judge_shown": self.judge_shown,
            "by_others": self.by_others,
            "new_annotations": self.new_annotations,
            "new_ratings": self.new_ratings,
            "annotators": {name: dict(counts) for name, counts in self.annotators.items()},
            "missing_projects": [project.to_dict() for project in self.missing_projects],
            "notes": list(self.notes),
        }

    def lines(self) -> Iterator[str]:
        """The report for a person: what there is, and every rule that found something."""
        yield (
            f"{self.tasks['seen']} tasks, {sum(self.annotations.values())} annotations "
            f"({', '.join(self.sources)})"
        )
        for rule, count in self.annotations.items():
            if count:
                yield f"  {rule:18s}{count:7d}  {RULES[rule]}"
        extra = (
            ("drafts", self.drafts, "not submitted; no label"),
            ("edited by others", self.edited_by_others, "used, and counted above as well"),
            ("prefilled", self.prefilled, "began from a prediction: not blind, kept apart"),
            ("judge shown", self.judge_shown, "a judge's verdict in sight: not blind, kept apart"),
            ("by others", self.by_others, "made in the project of another person; used"),
            ("projects missing", len(self.missing_projects), "not on the server; see the notes"),
        )
        for name, count, meaning in extra:
            if count:
                yield f"  {name:18s}{count:7d}  {meaning}"
        for name, count in self.tasks.items():
            if count and name != "seen":
                yield f"  tasks {name}: {count}"
        yield f"new: {self.new_annotations} annotations, {self.new_ratings} ratings"
        for annotator, counts in self.annotators.items():
            yield f"{annotator}: {counts['labelled']} labelled, {counts['skipped']} skipped"
        yield from (f"note: {note}" for note in self.notes)


def import_from_server(
    study: Study,
    connection: Connection,
    *,
    samples: Sequence[str] = (),
    names: Pseudonyms | None = None,
    progress: Progress = silent,
) -> ImportReport:
    """Fetch the labels of the study's projects on a server.

    A project that was handed out and is not there is named in the report, and the others' labels
    are taken.

    Parameters
    ----------
    samples
        The samples whose projects are asked; all by default.

    Raises
    ------
    StudyError
        When the study has no project on that server, or none is left there.
    ServiceError
        When the server fails; the study is unchanged then.
    """
    wanted = samples or [sample.sample_id for sample in study.ledger.samples()]
    snapshots: list[Snapshot] = []
    missing: list[KnownProject] = []
    for sample_id in wanted:
        study.ledger.sample(sample_id)
        for known in known_projects(study, sample_id):
            project = recall_project(study, connection, known.mark)
            if project is not None:
                progress(f"fetching project {project.project_id} (sample {sample_id})")
                fetched = fetch(connection, project.project_id)
                snapshots.append(replace(fetched, server=connection.url, owner=known.owner))
            elif known.project_id is not None:
                missing.append(known)
    told = [known.missing(study.path, connection.url) for known in missing]
    if not snapshots and missing:
        raise StudyError("; ".join(what for what, _ in told), cure=told[0][1])
    if not snapshots:
        raise StudyError(
            f"{study.path} has no project at {connection.url}",
            cure=f"make one with: accord export {study.path} SAMPLE",
        )
    report = import_snapshots(study, snapshots, names=names)
    kept = Counter(
        (one.source, one.project_id) for one in (study.ledger.annotations() if missing else ())
    )
    notes = [
        f"{what}; {kept[known.server, known.project_id]} annotations of it are here and kept;"
        f" {cure}"
        for known, (what, cure) in zip(missing, told, strict=True)
    ]
    return replace(report, missing_projects=tuple(missing), notes=(*report.notes, *notes))


def import_files(
    study: Study,
    paths: Sequence[str | Path],
    *,
    people: Mapping[int, str] | None = None,
    names: Pseudonyms | None = None,
) -> ImportReport:
    """Read the labels of export files: JSON, or JSON_MIN or CSV, which have no skips in them.

    Parameters
    ----------
    people
        User number → e-mail address. The page's own export names annotators by number only.

    Raises
    ------
    InputError
        When a file can't be taken, or ``people`` names a user number that is in none of them;
        nothing of any file is taken, then.
    """
    find = Catalogue(study).template
    read = [read_any(Path(path), find) for path in paths]
    snapshots = [replace(snapshot, people=dict(people or {})) for snapshot, _ in read]
    there = sorted({user for snapshot in snapshots for user in numbers_of(snapshot.tasks)})
    for user in people or {}:
        if user not in there:
            known = ", ".join(map(str, there)) or "none"
            raise InputError(
                f"--annotators names user {user}, who made no annotation in the files",
                cure=f"the numbers in them: {known}",
            )
    report = import_snapshots(study, snapshots, names=names)
    lacking = dict.fromkeys(note for _, note in read if note)
    return replace(report, notes=(*report.notes, *lacking))


def import_snapshots(
    study: Study,
    snapshots: Sequence[Snapshot],
    *,
    names: Pseudonyms | None = None,
) -> ImportReport:
    """Bring the annotations of snapshots into the study; repeating it changes nothing."""
    names = names or Pseudonyms()
    ledger = study.ledger
    with ledger.writing():
        catalogue = Catalogue(study)
        samples = {sample.sample_id for sample in ledger.samples()}
        known = ledger.annotations()
        found = _Found(catalogue, samples, names, known)
        for snapshot in snapshots:
            found.add(snapshot)
        versions = {(one.unique_id, one.updated_at): one for one in known}
        for one in found.stored:
            versions.setdefault((one.unique_id, one.updated_at), one)
        everything = list(versions.values())
        touched = {item for one in found.stored for item in catalogue.targets(one)}
        rated = {
            (row.item_id, row.rater)
            for row in ledger.rating_rows()
            if row.source in ("label-studio", OF_RETEST, OF_SHOWN) and row.status == "rated"
        }
        # One transaction: an import that breaks off has not begun.
        with ledger.transaction():
            new = ledger.add_annotations(found.stored)
            decision = decide(
                (one for one in everything if not touched.isdisjoint(catalogue.targets(one))),
                catalogue,
                rated=rated,
                retests=retest_times(ledger.samples()),
            )
            # Of what only shares a page with these items, not all annotations were looked at.
            rows = [row for row in decision.ratings if row.item_id in touched]
            ratings = ledger.add_ratings(rows) if rows else 0
            if new or ratings:
                ledger.add_provenance(
                    "import",
                    {
                        "sources": [{"name": s.name, "sha256": s.sha256} for s in snapshots],
                        "annotations": new,
                        "ratings": ratings,
                    },
                )
    names.save_people()
    return found.report(decision, new, ratings, everything)


class _Found:
    """What the snapshots hold, counted; nothing is written here."""

    def __init__(
        self,
        catalogue: Catalogue,
        samples: set[str],
        names: Pseudonyms,
        known: Sequence[StoredAnnotation],
    ) -> None:
        self._catalogue, self._samples = catalogue, samples
        self._names = names
        self._known_version = {(a.unique_id, a.updated_at): a for a in known}
        self._known_annotator = {a.unique_id: a.annotator for a in known}
        self._named: dict[_Trace, str] = {}
        self._nameless: dict[_Trace, str] = {}
        for a in known:
            self._keep_trace(a.item_id, a.raw, a.unique_id)
        self.stored: list[StoredAnnotation] = []
        self.snapshots: list[Snapshot] = []
        self.tasks: Counter[str] = Counter(seen=0)
        self.flags: Counter[str] = Counter()
        self.kept_versions: set[tuple[str, str]] = set()
        self.by_number: dict[str, str] = {}
        self.kept: set[str] = set()

    def add(self, snapshot: Snapshot) -> None:
        """Take a snapshot in.

        Raises
        ------
        InputError
            When none of its tasks is of this study: the wrong file, or the wrong study.
        """
        ids = [task["data"].get("item_id") for task in snapshot.tasks]
        if snapshot.tasks and not any(isinstance(item, str) for item in ids):
            raise InputError(
                f"{snapshot.name} was not exported by accord: no task of it has an item_id "
                f"({len(snapshot.tasks)} looked at)",
                cure="export the items with accord export, or bring the labels in as a table with "
                "accord add STUDY FILE --as ratings",
            )
        if snapshot.tasks and not any(self._look_up(task["data"])[1] for task in snapshot.tasks):
            first = next(item for item in ids if isinstance(item, str))
            raise InputError(
                f"{snapshot.name}: none of its items is in the study ({first!r} first)",
                cure="name the study that they were exported from",
            )
        self.snapshots.append(snapshot)
        aliases = self._aliases(snapshot)
        seen: set[str] = set()
        for task in snapshot.tasks:
            self._add_task(task, snapshot, aliases, seen)

    def _add_task(
        self,
        task: Mapping[str, Any],
        snapshot: Snapshot,
        aliases: Mapping[str, str],
        seen: set[str],
    ) -> None:
        data = task["data"]
        self.tasks["seen"] += 1
        self.flags["drafts"] += drafts_of(task)
        item_id = data.get("item_id")
        if not isinstance(item_id, str):
            self.tasks["without item id"] += 1
            self.flags["without item id"] += len(task["annotations"])
            return
        self.tasks["twice"] += item_id in seen
        seen.add(item_id)
        content = data.get("content_sha256")
        page, one = self._look_up(data)
        shown = () if page is None else page.shown
        as_exported = data.get("shown_sha256") == shown_sha256(data, shown)
        note = task_note(
            data.get("template"), data.get("template_version"), shown_as_exported=as_exported
        )
        known = one is not None
        self.tasks["unknown item"] += not known
        self.tasks["other template"] += known and page is None
        if one is not None and page and not (as_exported and content == one.content_sha256):
            self.tasks["changed text"] += 1
        sample = data.get("sample_id")
        project = number(task.get("project"))
        for annotation in task["annotations"]:
            unique, updated = self._keys(item_id, annotation, project)
            if (unique, updated) in self.kept_versions:
                self.flags["again"] += 1
                continue
            self.kept_versions.add((unique, updated))
            before = self._known_version.get((unique, updated))
            if before is not None and before.item_id != item_id:
                # The label was made for the item that the task named then.
                self.flags["moved"] += 1
                self.stored.append(before)
                continue
            person = person_of(annotation, snapshot.people)
            annotator = NOBODY if person is None else aliases[person]
            # A number whose labels the ledger has under an address is known by that.
            if person and "@" not in person and annotator == self._names.name(person):
                self.by_number[annotator] = person
            self.flags["not the owner"] += snapshot.owner not in (None, annotator)
            self.flags["edited"] += edited_by_another(annotation)
            self.flags["prefilled"] += began_from_prediction(annotation)
            self.flags["judge shown"] += beside_judge({TASK: note})
            self.stored.append(
                StoredAnnotation(
                    unique_id=unique,
                    updated_at=updated,
                    item_id=item_id,
                    content_sha256=content if isinstance(content, str) else "",
                    sample_id=sample
                    if isinstance(sample, str) and sample in self._samples
                    else None,
                    annotator=annotator,
                    raw={**scrubbed(annotation, annotator, self._names), TASK: note},
                    project_id=project,
                    task_id=number(task.get("id")),
                    source=snapshot.server or f"file:{snapshot.name}",
                )
            )

    def _keys(
        self, item_id: object, annotation: Mapping[str, Any], project: int | None
    ) -> tuple[str, str]:
        """What names a version of an annotation: as the ledger names it where it has that one.

        JSON_MIN and CSV have no unique ids; what came from the server as well is still one label.
        """
        unique, updated = keys_of(annotation, project)
        trace = _trace(item_id, annotation)
        known = self._nameless.get(trace)
        if known is None and not annotation.get("unique_id"):
            known = self._named.get(trace)
        if known is None:
            self._keep_trace(item_id, annotation, unique)
        return known or unique, updated

    def _keep_trace(self, item_id: object, annotation: Mapping[str, Any], unique: str) -> None:
        trace = _trace(item_id, annotation)
        if trace is not None:
            (self._named if annotation.get("unique_id") else self._nameless)[trace] = unique

    def _look_up(self, data: Mapping[str, Any]) -> tuple[Template | None, Graded | None]:
        """The template of a task, and what it asks about."""
        item_id = data.get("item_id")
        if not isinstance(item_id, str):
            return None, None
        page = self._catalogue.template(data.get("template"), data.get("template_version"))
        return page, self._catalogue.find(item_id, page)

    def _aliases(self, snapshot: Snapshot) -> dict[str, str]:
        """Each person's name: the one the ledger knows from the same annotations, else a new one.

        A file may name people by number and the server by address; who made an annotation that is
        in both is the same person.
        """
        known: dict[str, set[str]] = {}
        for task in snapshot.tasks:
            for annotation in task["annotations"]:
                person = person_of(annotation, snapshot.people)
                if person is not None:
                    project = number(task.get("project"))
                    unique, _ = self._keys(task["data"].get("item_id"), annotation, project)
                    before = self._known_annotator.get(unique)
                    known.setdefault(person, set()).update({before} if before else ())
        names: dict[str, str] = {}
        for person, stored in known.items():
            earlier = stored - {NOBODY}
            if len(earlier) == 1:
                names[person] = earlier.pop()
                # A label that is stored keeps its annotator: the ledger is never rewritten.
                if "@" in person and names[person] != self._names.name(person):
                    self.kept.add(names[person])
            else:
                names[person] = self._names.of(person)
        return names

    def report(
        self,
        decision: Decision,
        new: int,
        ratings: int,
        everything: Sequence[StoredAnnotation],
    ) -> ImportReport:
        """The counts, with the rule of each annotation."""
        counts = dict.fromkeys(RULES, 0)
        people: dict[str, dict[str, int]] = {}
        left_open = 0
        for annotation in self.stored:
            version = (annotation.unique_id, annotation.updated_at)
            rule = decision.rules[version]
            counts[rule] += 1
            left_open += decision.open.get(version, 0)
            own = people.setdefault(annotation.annotator, {"labelled": 0, "skipped": 0})
            if rule in own:
                own[rule] += 1
        return ImportReport(
            sources=tuple(snapshot.name for snapshot in self.snapshots),
            tasks={name: self.tasks[name] for name in _TASK_COUNTS},
            annotations=counts,
            drafts=self.flags["drafts"],
            edited_by_others=self.flags["edited"],
            prefilled=self.flags["prefilled"],
            by_others=self.flags["not the owner"],
            judge_shown=self.flags["judge shown"],
            new_annotations=new,
            new_ratings=ratings,
            annotators={name: people[name] for name in sorted(people)},
            notes=tuple([*self._notes(everything, left_open), *self._of_own(decision, everything)]),
        )

    def _of_own(self, decision: Decision, everything: Sequence[StoredAnnotation]) -> Iterator[str]:
        """Adjudications by somebody who had labelled the item: that person decides as before."""
        final = [
            one
            for one in self.stored
            if decision.rules[one.unique_id, one.updated_at] == "labelled"
            and self._kind(one) == "adjudicated"
        ]
        if not final:
            return
        before = {
            (item, one.annotator)
            for one in everything
            if self._kind(one) == "annotator" and not one.raw.get("was_cancelled")
            for item in self._catalogue.targets(one)
        }
        own = sum((one.item_id, one.annotator) in before for one in final)
        if own:
            yield (
                f"{own} of {len(final)} adjudications are by a person who had labelled the item"
                " before; they count, and somebody else's would say more"
            )

    def _kind(self, annotation: StoredAnnotation) -> str | None:
        page, _ = self._catalogue.about(annotation)
        return None if page is None else page.kind

    def _notes(self, everything: Sequence[StoredAnnotation], left_open: int) -> Iterator[str]:
        if left_open:
            yield f"{left_open} elements on pages that were submitted have no verdict"
        if self.by_number:
            who = ", ".join(f"{name} is {user}" for name, user in sorted(self.by_number.items()))
            example = sorted(self.by_number.values())[0].removeprefix("user ")
            yield (
                f"known by number only: {who}. Each may be somebody who is here under another name "
                "already; name them at the first import, with "
                f"--annotators {example}=ann@example.org, or import from the server"
            )
        if self.kept:
            yield (
                f"labels of {', '.join(sorted(self.kept))} were here before under that name, which "
                "stays that person's"
            )
        if self.flags["moved"]:
            yield (
                f"{self.flags['moved']} annotations are of tasks that name another item than when "
                "they were imported first; their labels stay with that one"
            )
        if self.flags["again"]:
            yield f"{self.flags['again']} annotations came more than once; each counts once"
        if self.flags["without item id"]:
            yield (
                f"{self.flags['without item id']} annotations are of tasks without an item_id and "
                "were left out"
            )
        here = {annotation.unique_id for annotation in self.stored}
        servers = {
            (snapshot.server, number(task.get("project")))
            for snapshot in self.snapshots
            if snapshot.server
            for task in snapshot.tasks[:1]
        }
        gone = {
            annotation.unique_id
            for annotation in everything
            if (annotation.source, annotation.project_id) in servers
            and annotation.unique_id not in here
        }
        if gone:
            yield f"{len(gone)} annotations are no longer on the server; their labels are kept"


_Trace = tuple[object, int, str] | None


def _trace(item_id: object, annotation: Mapping[str, Any]) -> _Trace:
    """What every format says of an annotation: the server's number, and when it was made."""
    identifier, made = number(annotation.get("id")), annotation.get("created_at")
    if identifier is None or not isinstance(made, str):
        return None
    return item_id, identifier, made


_TASK_COUNTS = (
    "seen",
    "without item id",
    "unknown item",
    "changed text",
    "other template",
    "twice",
)
