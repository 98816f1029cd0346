"""Labels of any Label Studio project as a table of ratings, by the rules of an import.

The project was not made by accord: nothing tells whether a task still shows what it showed when it
was labelled, so every row says ``text not verified``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..scoring.errors import InputError, SettingsError
from ..study.anchored import began_from_prediction
from .foreign_files import read_export
from .foreign_flat import flat_labels
from .foreign_values import Value, read_values
from .pseudonym import Pseudonyms
from .rules import in_time
from .snapshots import NOBODY, drafts_of, edited_by_another, keys_of, person_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FOREIGN_RULES", "LabelsReport", "Several", "read_labels"]

Several = Literal["refuse", "invalid", "join", "each"]

FOREIGN_RULES = {
    "labelled": "has a readable value and counts",
    "no item key": "its task lacks the field that names the item",
    "skipped": "the person skipped the task (what was chosen before does not count)",
    "unknown annotator": "its annotator's account was deleted",
    "superseded": "the same person labelled the item again later",
    "no value": "it holds no value of the control",
    "several values": "it holds more than one value of the control",
    "unreadable": "it holds something that the control can't have made",
}
"""What becomes of an annotation, each falling under one; the counts add up to all annotations."""

NOT_VERIFIED = "text not verified"
_BETWEEN = "; "


@dataclass(frozen=True, slots=True)
class LabelsReport:
    """What an export held.

    Attributes
    ----------
    source, sha256, format
        The file's name and hash; ``JSON``, ``JSON_MIN`` or ``CSV``.
    tasks, annotations
        Counts of tasks, and of annotations by rule (:data:`FOREIGN_RULES`).
    drafts, edited_by_others, prefilled
        Not submitted; changed by somebody else; begun from a prediction. The latter two are used,
        and counted under their rule as well.
    raters
        Pseudonym → ratings.
    notes
        Sentences worth reading.
    """

    source: str
    sha256: str
    format: str
    tasks: int
    annotations: Mapping[str, int]
    drafts: int
    edited_by_others: int
    prefilled: int
    raters: Mapping[str, int]
    rows: int
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "source": self.source,
            "sha256": self.sha256,
            "format": self.format,
            "provenance": NOT_VERIFIED,
            "tasks": self.tasks,
            "annotations": dict(self.annotations),
            "drafts": self.drafts,
            "edited_by_others": self.edited_by_others,
            "prefilled": self.prefilled,
            "raters": dict(self.raters),
            "rows": self.rows,
            "notes": list(self.notes),
        }

    def lines(self) -> Iterator[str]:
        """The report for a person: what there is, and every rule that found something."""
        total = sum(self.annotations.values())
        yield f"{self.tasks} tasks, {total} annotations ({self.source}, {self.format})"
        for rule, count in self.annotations.items():
            if count:
                yield f"  {rule:18s}{count:7d}  {FOREIGN_RULES[rule]}"
        for name, count, meaning in (
            ("drafts", self.drafts, "not submitted; no label"),
            ("edited by others", self.edited_by_others, "used, and counted above as well"),
            ("prefilled", self.prefilled, "began from a prediction: not a blind label; used"),
        ):
            if count:
                yield f"  {name:18s}{count:7d}  {meaning}"
        yield f"{self.rows} ratings by {len(self.raters)} people; {NOT_VERIFIED}"
        yield from (f"note: {note}" for note in self.notes)


@dataclass(frozen=True, slots=True)
class _Annotation:
    """One annotation, whatever format it came in."""

    item: str | None
    rater: str
    skipped: bool
    updated_at: str
    order: tuple[Any, int]
    values: Mapping[str, Value]
    seconds: float | None = None
    kept: Mapping[str, Any] = field(default_factory=dict)


def read_labels(
    path: str | Path,
    *,
    item: str,
    controls: Sequence[str],
    several: Several = "refuse",
    keep: Sequence[str] = (),
    names: Pseudonyms | None = None,
) -> tuple[pd.DataFrame, LabelsReport]:
    """Read an export of a project that accord did not make.

    Parameters
    ----------
    path
        JSON (recommended), JSON_MIN or CSV; the latter two have no skips in them.
    item
        Where a task says which item it is: ``data.KEY``, or ``id`` for the server's own number.
    controls
        Names of the controls. The first gives the rating; the others become columns of their
        names (``reasons``, ``comment``). A control of a Repeater is named without its index.
    several
        Several values in one answer: ``refuse`` the file, count such answers as ``invalid``,
        ``join`` them to one label (sorted), or make an item of ``each`` value, rated YES or NO.
    keep
        Further fields of the tasks' data that become columns: ``data.KEY``.

    Returns
    -------
    tuple
        The ratings in long form (``item_id, question_id, rater, kind, rating``, the other
        controls and ``keep``, ``rated_at, seconds, source``), and the report. ``question_id`` is
        the task: the parts of one task stay together.

    Raises
    ------
    InputError
        When the file is no export, no task has the item's key, the control is in none of the
        annotations or marks regions, or answers hold several values and ``several`` is ``refuse``.
    """
    import pandas as pd

    if not controls:
        raise SettingsError("no control is named", cure="name one: --control NAME")
    if several not in ("refuse", "invalid", "join", "each"):
        raise SettingsError(f"--several is {several!r}", cure="use refuse, invalid, join or each")
    names = names or Pseudonyms()
    file = Path(path)
    export = read_export(file)
    flags: Counter[str] = Counter()
    notes: list[str] = []
    if export.form == "JSON":
        found = list(_nested(export.tasks, file.name, item, controls, keep, names, flags))
    else:
        notes.append(f"skips are not in {export.form}: export JSON to have them counted")
        found = [
            _Annotation(
                row.item,
                names.of(row.person) if row.person else NOBODY,
                False,
                row.at,
                in_time(row.at, row.number),
                row.values,
                row.seconds,
                row.kept,
            )
            for row in flat_labels(export, item, controls, keep)
        ]
    if found and all(one.item is None for one in found):
        raise InputError(
            f"{file.name}: no task has {item}",
            cure=f"name where the item's id is: {', '.join(export.fields[:12]) or 'nowhere'}",
        )
    rules, rows = _decide(found, controls[0], several, file.name)
    frame = pd.DataFrame(
        [_row(one, part, value, controls[1:], file.name) for one, part, value in rows],
        columns=_columns(controls[1:], keep),
    )
    names.save_people()
    if several == "each":
        notes.append("each value is an item of its own, YES where a person gave it, else NO")
    raters = Counter(frame["rater"].tolist())
    return frame, LabelsReport(
        source=file.name,
        sha256=export.sha256,
        format=export.form,
        tasks=export.count,
        annotations={rule: rules.get(rule, 0) for rule in FOREIGN_RULES},
        drafts=flags["drafts"],
        edited_by_others=flags["edited"],
        prefilled=flags["prefilled"],
        raters=dict(sorted(raters.items())),
        rows=len(frame),
        notes=tuple(notes),
    )


def _nested(
    tasks: Sequence[Mapping[str, Any]],
    where: str,
    item: str,
    controls: Sequence[str],
    keep: Sequence[str],
    names: Pseudonyms,
    flags: Counter[str],
) -> Iterator[_Annotation]:
    """The annotations of a JSON export."""
    read = read_values(tasks, controls, where)
    for task in tasks:
        flags["drafts"] += drafts_of(task)
        key = field_of(task, item)
        kept = {name: field_of(task, name) for name in keep}
        for annotation in task["annotations"]:
            flags["edited"] += edited_by_another(annotation)
            flags["prefilled"] += began_from_prediction(annotation)
            person = person_of(annotation, {})
            _, at = keys_of(annotation, None)
            lead = annotation.get("lead_time")
            yield _Annotation(
                item=key,
                rater=NOBODY if person is None else names.of(person),
                skipped=bool(annotation.get("was_cancelled")),
                updated_at=at,
                order=in_time(at, annotation.get("id")),
                values=read(annotation),
                seconds=float(lead) if isinstance(lead, (int, float)) else None,
                kept=kept,
            )


def field_of(task: Mapping[str, Any], name: str) -> str | None:
    """A field of a task as text (``data.KEY``, a path into it, or ``id``); None where blank."""
    if name == "id":
        value: Any = task.get("id")
    else:
        value = task["data"]
        key = name.removeprefix("data.")
        for part in [key] if key in value else key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
    if value is None or isinstance(value, (dict, list)):
        return None
    text = str(value).strip()
    return text or None


_Kept = tuple[_Annotation, str, str]
"""An annotation that counts, the part of its task (a Repeater's index), and its label."""


def _decide(
    found: Sequence[_Annotation], control: str, several: Several, where: str
) -> tuple[Counter[str], list[_Kept]]:
    """The rule of each annotation, and the ratings of those that count."""
    rules: Counter[str] = Counter()
    latest: dict[tuple[str, str], _Annotation] = {}
    for one in sorted(found, key=lambda annotation: annotation.order):
        if one.item is None:
            rules["no item key"] += 1
        elif one.skipped:
            rules["skipped"] += 1
        elif one.rater == NOBODY:
            rules["unknown annotator"] += 1
        else:
            rules["superseded"] += (one.item, one.rater) in latest
            latest[one.item, one.rater] = one
    counted = list(latest.values())
    many = sum(one.values[control].several for one in counted)
    if many and several == "refuse":
        raise InputError(
            f"{where}: {many} of {len(counted)} answers hold several values of {control!r}",
            cure="--several join (one label of them all), each (an item a value), or invalid",
        )
    kept: list[_Kept] = []
    everything = sorted({label for one in counted for _, label in one.values[control].labels()})
    for one in counted:
        value = one.values[control]
        rule = value.rule(several == "invalid")
        rules[rule] += 1
        if rule != "labelled":
            continue
        if several == "each":
            given = {label for _, label in value.labels()}
            kept += [(one, label, "YES" if label in given else "NO") for label in everything]
        else:
            kept += [(one, part, _BETWEEN.join(labels)) for part, labels in value.parts.items()]
    return rules, kept


def _columns(others: Sequence[str], keep: Sequence[str]) -> list[str]:
    kept = [name.removeprefix("data.") for name in keep]
    names = ["item_id", "question_id", "rater", "kind", "rating", *others, *kept]
    return [*dict.fromkeys(names), "rated_at", "seconds", "source"]


def _row(
    one: _Annotation, part: str, label: str, others: Sequence[str], source: str
) -> dict[str, Any]:
    out: dict[str, Any] = {
        "item_id": f"{one.item}#{part}" if part else one.item,
        "question_id": one.item,
        "rater": one.rater,
        "kind": "annotator",
        "rating": label,
        "rated_at": one.updated_at or None,
        "seconds": one.seconds,
        "source": f"label-studio:{source}, {NOT_VERIFIED}",
    }
    for name in others:
        parts = one.values[name].parts
        said = parts.get(part, parts.get("", ()))
        out[name] = _BETWEEN.join(said) or None
    for name, value in one.kept.items():
        out.setdefault(name.removeprefix("data."), value)
    return out
