"""A sample shared out: one project or file a person, so that nobody sees what others chose.

Who gets what is decided once and kept before anything is sent; an export that is repeated, after an
interruption or a failure, sends exactly what is missing to the same people.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring.errors import StudyError
from ..study.identity import is_other_unit
from ..study.weights import RETEST
from .annotators import Annotator, barred
from .assignment import Assignment, assign
from .catalogue import keep_template
from .connection import Connection
from .environment import Progress, silent
from .export import Unmatched, fill_project, items_to_grade, task_file, task_files, write_tasks
from .frame import frame_of
from .projects import SHARED
from .pseudonym import Pseudonyms
from .tasks import Graded
from .template import Template, load_template

if TYPE_CHECKING:
    from ..study import Study
    from ..study.records import Sample

__all__ = ["CANT_HIDE", "Share", "ShareReport", "share_to_files", "share_to_server"]

CANT_HIDE = (
    "Community Edition hides no project: whoever has an account can open the others' projects too,"
    " so ask each person to open only their own"
)


@dataclass(frozen=True, slots=True)
class Share:
    """What one person gets. ``person`` is the e-mail address, for the one who exports."""

    annotator: str
    person: str
    total: int
    added: int
    present: int
    project_id: int | None = None
    url: str | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShareReport:
    """What a shared export did.

    Attributes
    ----------
    sentence
        The plan in words for a paper.
    shares
        One a person, in the order of the list of people.
    """

    sample_id: str
    template: str
    target: str
    sentence: str
    shares: tuple[Share, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values, people as pseudonyms."""
        return {
            "sample": self.sample_id,
            "template": self.template,
            "target": self.target,
            "assignment": self.sentence,
            "shares": [
                {
                    "annotator": share.annotator,
                    "total": share.total,
                    "added": share.added,
                    "present": share.present,
                    "project_id": share.project_id,
                    "url": share.url,
                    "files": list(share.files),
                }
                for share in self.shares
            ],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class _Plan:
    """An assignment: pseudonyms, their projects' marks, and who grades what.

    ``new`` is what the ledger will hold of it; None where it was kept before.
    """

    people: tuple[str, ...]
    marks: tuple[str, ...]
    of_item: Mapping[str, Sequence[int]]
    sentence: str
    new: Mapping[str, Any] | None = None


def share_to_server(
    study: Study,
    sample_id: str,
    connection: Connection,
    people: Sequence[Annotator],
    *,
    per_item: int,
    not_by: str | None = None,
    match: Sequence[str] = (),
    template: str | Path = "pair",
    language: str | None = None,
    unmatched: Unmatched = "show",
    names: Pseudonyms | None = None,
    progress: Progress = silent,
) -> ShareReport:
    """Give each person a project with their items; add exactly what is missing there.

    Parameters
    ----------
    people
        Who grades (:func:`~accord.annotate.annotators.read_annotators`).
    per_item
        How many of them grade each item.
    not_by, match
        As :func:`~accord.annotate.annotators.barred`.

    Raises
    ------
    SettingsError
        When the people are too few, or the columns are not there.
    StudyError
        When the sample was shared in another way before.
    ServiceError
        When the server fails; what had arrived is in the ledger.
    """
    names = names or Pseudonyms()
    page = load_template(template, language=language)
    with study.ledger.writing():
        keep_template(study.path, template, page)
        sample, items, notes = items_to_grade(study, sample_id, unmatched, page)
        plan = _plan(study, sample, items, page, people, per_item, not_by, match, names)
        _keep(study, plan)
        shares = []
        for place, (pseudonym, person) in enumerate(zip(plan.people, people, strict=True)):
            own = _in_own_order(items, plan, place, sample)
            part = f"part {place + 1} of {len(people)}"
            project, present, said = fill_project(
                study,
                sample,
                page,
                connection,
                plan.marks[place],
                own,
                per_item=1,
                part=part,
                progress=progress,
            )
            notes += [f"{part}: {text}" for text in said]
            shares.append(
                Share(
                    pseudonym,
                    person.email,
                    len(own),
                    len(own) - present,
                    present,
                    project.project_id,
                    project.url,
                )
            )
    names.save_people()
    return ShareReport(
        sample_id,
        page.guideline,
        connection.url,
        plan.sentence,
        tuple(shares),
        (*notes, CANT_HIDE),
    )


def share_to_files(
    study: Study,
    sample_id: str,
    path: str | Path,
    people: Sequence[Annotator],
    *,
    per_item: int,
    not_by: str | None = None,
    match: Sequence[str] = (),
    template: str | Path = "pair",
    language: str | None = None,
    unmatched: Unmatched = "show",
    names: Pseudonyms | None = None,
) -> ShareReport:
    """Write one file a person: ``NAME-1.json``, ``NAME-2.json``, … in the order of the people.

    Parameters and errors as :func:`share_to_server`.
    """
    names = names or Pseudonyms()
    page = load_template(template, language=language)
    file = task_file(path)
    with study.ledger.writing():
        sample, items, notes = items_to_grade(study, sample_id, unmatched, page)
        plan = _plan(study, sample, items, page, people, per_item, not_by, match, names)
        made, shares = [], []
        for place, (pseudonym, person) in enumerate(zip(plan.people, people, strict=True)):
            own = _in_own_order(items, plan, place, sample)
            target = file.with_name(f"{file.stem}-{place + 1}{file.suffix}")
            made.append(one := task_files(study, sample, page, own, target))
            added = len(one.new)
            shares.append(
                Share(pseudonym, person.email, len(own), added, len(own) - added, files=one.names)
            )
        # Nothing is kept and nobody has a file before it is known that everybody gets theirs.
        keep_template(study.path, template, page)
        _keep(study, plan)
        write_tasks(study, made)
    names.save_people()
    return ShareReport(
        sample_id, page.guideline, file.name, plan.sentence, tuple(shares), tuple(notes)
    )


def _plan(
    study: Study,
    sample: Sample,
    items: Sequence[Graded],
    page: Template,
    people: Sequence[Annotator],
    per_item: int,
    not_by: str | None,
    match: Sequence[str],
    names: Pseudonyms,
) -> _Plan:
    """The plan that was kept, or a new one, which :func:`_keep` keeps before anything is sent."""
    who = [names.of(person.email) for person in people]
    wish = {"per_item": per_item, "not_by": not_by, "match": list(match)}
    ids = [item.item_id for item in items]
    for row in study.ledger.provenance():
        detail = row.detail
        if row.action != SHARED or detail.get("sample") != sample.sample_id:
            continue
        if detail.get("template", "pair") != page.name:
            continue
        before = {key: detail["settings"][key] for key in wish}
        if detail["people"] != who or before != wish or set(detail["of"]) != set(ids):
            raise StudyError(
                f"sample {sample.sample_id!r} was shared out before among"
                f" {len(detail['people'])} people in another way ({_words(detail)})",
                cure="repeat that export as it was, or draw further items:"
                f" accord sample {study.path} --extend {sample.sample_id}",
            )
        return _Plan(tuple(who), tuple(detail["marks"]), detail["of"], detail["sentence"])
    of_item: Mapping[str, Sequence[int]]
    if sample.purpose == RETEST:
        of_item, sentence = _again(sample, ids, who)
    else:
        made = _assigned(study, sample, items, people, who, per_item, not_by, match)
        of_item, sentence = made.of_item, made.sentence
    marks = [secrets.token_hex(8) for _ in people]
    new = {
        "sample": sample.sample_id,
        "template": page.name,
        "settings": wish,
        "people": who,
        "marks": marks,
        "of": {item: list(chosen) for item, chosen in of_item.items()},
        "sentence": sentence,
    }
    return _Plan(tuple(who), tuple(marks), of_item, sentence, new)


def _keep(study: Study, plan: _Plan) -> None:
    if plan.new is not None:
        study.ledger.add_provenance(SHARED, plan.new)


def _words(detail: Mapping[str, Any]) -> str:
    """A kept plan's people, by pseudonym in their order, and its options as they are written."""
    wish = detail["settings"]
    options = [f"--per-item {wish['per_item']}"]
    options += [f"--not-by {wish['not_by']}"] if wish["not_by"] else []
    options += [f"--match {','.join(wish['match'])}"] if wish["match"] else []
    return f"{', '.join(detail['people'])}; {' '.join(options)}; {len(detail['of'])} items"


def _again(
    sample: Sample, ids: Sequence[str], who: Sequence[str]
) -> tuple[dict[str, tuple[int, ...]], str]:
    """Of a retest: every person's items are those that were drawn for him or her."""
    assigned: Mapping[str, Sequence[str]] = sample.settings["assigned"]
    asked = [name for name, items in assigned.items() if items]
    unlike = [*(set(asked) - set(who)), *(set(who) - set(assigned))]
    if unlike:
        graded = "graded these items before" if unlike[0] in assigned else "graded none of them"
        raise StudyError(
            f"a retest asks the same people again, and {unlike[0]} {graded}",
            cure=f"name exactly the {len(asked)} people who graded them with --annotators",
        )
    own = {name: frozenset(assigned[name]) for name in who}  # one may have none
    of_item = {
        item: tuple(place for place, name in enumerate(who) if item in own[name]) for item in ids
    }
    counts = ", ".join(str(len(own[name])) for name in who)
    return of_item, f"{len(who)} people grade again what was drawn for each: {counts} items"


def _assigned(
    study: Study,
    sample: Sample,
    items: Sequence[Graded],
    people: Sequence[Annotator],
    who: Sequence[str],
    per_item: int,
    not_by: str | None,
    match: Sequence[str],
) -> Assignment:
    ids = [item.item_id for item in items]
    chosen = _fields(study, items)
    closed = barred(people, chosen, not_by=not_by, match=match)
    return assign(ids, who, per_item, rng=_stream(sample, "assignment"), barred=closed)


def _fields(study: Study, items: Sequence[Graded]) -> dict[str, Mapping[str, str | None]]:
    """The fields of what is graded; a page, a response or a gold answer has its question's."""
    questions = {one.question_id: one.fields for one in study.ledger.questions()}
    found: dict[str, Mapping[str, str | None]] = {}
    if not all(is_other_unit(one.item_id) for one in items):
        frame = frame_of(study)
        for row, item in enumerate(frame.items):
            found[item] = {name: cells[row] for name, cells in frame.columns.items()}
    return {
        one.item_id: found.get(one.item_id)
        or {
            **questions.get(one.question_id, {}),
            "question_id": one.question_id,
            "system": one.system,
        }
        for one in items
    }


def _in_own_order(items: Sequence[Graded], plan: _Plan, place: int, sample: Sample) -> list[Graded]:
    """A person's items, shuffled apart from everybody else's: nobody grades in another's order."""
    own = [item for item in items if place in plan.of_item[item.item_id]]
    order = _stream(sample, plan.people[place]).permutation(len(own))
    return [own[k] for k in order]


def _stream(sample: Sample, name: str) -> np.random.Generator:
    digest = hashlib.sha256(f"{sample.sample_id}\0{name}".encode()).digest()
    return np.random.default_rng([sample.seed % 2**64, int.from_bytes(digest[:8], "big")])
