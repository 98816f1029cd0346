"""Reads a file in another benchmark's format into a table of ours.

The table goes through the same intake as any other: the same checks, ids and provenance.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.errors import AccordError, BadRow, InputError, SettingsError
from .intake_rows import CURE
from .profile_fields import FieldError, Fields, LeftOut, Outside, shown
from .profile_files import RowSource, open_rows
from .readers import Conversion, Table, missing_column

if TYPE_CHECKING:
    from .profile_shape import Profile, Role

__all__ = ["key_id", "read_outside"]

_OURS: Mapping[str, tuple[str, ...]] = {
    "questions": ("question_id", "question", "reference"),
    "responses": ("question_id", "system", "response"),
    "pairs": ("item_id", "question_id", "system", "question", "reference", "predicted"),
    "ratings": ("item_id", "rater", "kind", "rating"),
}
_IDS = "give questions and responses ids of their own: --map question_id=COLUMN"


def key_id(key: Sequence[str]) -> str:
    """The id of a question whose format has none: 16 hex digits of what names it.

    Examples
    --------
    >>> key_id(["Which rivers?"]) == key_id([" Which rivers? "])
    True
    """
    text = json.dumps(["accord-question-1", *(part.strip() for part in key)], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_outside(
    path: Path | str,
    profile: Profile,
    role: Role,
    *,
    mapping: Mapping[str, str] | None = None,
    system: str | None = None,
    variant: str | None = None,
    strata: Sequence[str] = (),
    question_ids: frozenset[str] = frozenset(),
    left_ids: frozenset[str] = frozenset(),
) -> Table:
    """The rows of a file as a table of the role's columns.

    Parameters
    ----------
    profile
        The format.
    mapping
        The format's field name → the file's; ``question_id`` names a field of ids for formats
        that have none, or other ids for those that have.
    system, variant
        Who answered, where the rows do not say it.
    strata
        Further fields of the file to keep with responses and pairs.
    question_ids
        The study's questions, by which responses without ids are joined.
    left_ids
        Questions that were left out when their file came in: their responses are left out too.

    Raises
    ------
    SettingsError
        The format can't be brought in as this, or needs ``--map`` or ``--system``.
    InputError
        The file can't be read, is of another format, or no row of it is a list question. Rows
        that can't be converted are in the table's ``conversion``, so that the intake lists them
        with what it finds itself.
    """
    _check(profile, role)
    mapping = dict(mapping or {})
    needed = tuple(
        name for name in profile.fields[role] if not _needless(profile, role, name, mapping)
    )
    _check_map(profile, role, mapping)
    rows = open_rows(
        path, envelope=profile.envelope, keyed=profile.keyed if role == "responses" else None
    )
    work = _Work(profile, role, rows, mapping, system, variant, strata, question_ids, left_ids)
    work.run()
    # Which fields there are is known when all rows were read.
    header = list(rows.header)
    for ours, theirs in mapping.items():
        if theirs not in header:
            raise missing_column(rows.name, theirs, header, f"--map {ours}={theirs}")
    for name in strata:
        if name not in header:
            raise missing_column(rows.name, name, header, "--strata")
    for name in needed:
        _check_field(profile, role, mapping.get(name, name), rows.name, header)
    work.settle()
    used = {mapping.get(name, name) for name in (*needed, *profile.optional, "question_id")}
    taken = {name.partition(".")[0] for name in used} | used | set(strata)
    return work.table([name for name in header if name not in taken])


def _check(profile: Profile, role: Role) -> None:
    if profile.refused is not None and role not in profile.roles:
        reason, cure = profile.refused
        raise SettingsError(f"format {profile.name!r} is not for list scoring: {reason}", cure=cure)
    if role not in profile.roles:
        raise SettingsError(
            f"format {profile.name!r} holds no {role}",
            cure=f"bring it in --as {' or '.join(profile.roles)}",
        )


def _check_map(profile: Profile, role: Role, mapping: Mapping[str, str]) -> None:
    known = [*profile.fields[role], *profile.optional, "question_id"]
    for name in mapping:
        if name not in known:
            raise SettingsError(
                f"--map names {name!r}, which is no field of format {profile.name!r}",
                cure=f"its fields are {', '.join(dict.fromkeys(known))}",
            )
    missing = [
        name
        for name in profile.by_mapping
        if role == "questions"
        and name not in mapping
        and not _needless(profile, role, name, mapping)
    ]
    if missing:
        raise SettingsError(
            f"format {profile.name!r} does not know the file's columns",
            cure=f"name them: --map {','.join(f'{name}=COLUMN' for name in missing)}",
        )


def _needless(profile: Profile, role: Role, name: str, mapping: Mapping[str, str]) -> bool:
    """Whether another field that is mapped stands for this one; a question has its text always."""
    other = profile.instead.get(name)
    return other in mapping and name not in mapping and (role, name) != ("questions", "question")


def _check_field(profile: Profile, role: Role, name: str, file: str, header: list[str]) -> None:
    if name in header or name.partition(".")[0] in header:
        return
    from .profiles import PROFILES

    fitting = [
        other.name
        for other in PROFILES.values()
        if role in other.roles and not other.by_mapping and set(other.fields[role]) <= set(header)
    ]
    shown_fields = ", ".join(header[:30]) + (", …" if len(header) > 30 else "")
    cure = f"the file has the fields of format {fitting[0]!r}; " if fitting else ""
    raise InputError(
        f"{file} has no field {name!r}, which format {profile.name!r} has in its {role}",
        cure=f"{cure}its fields are {shown_fields}",
    )


@dataclass(slots=True)
class _Work:
    """The conversion of one file."""

    profile: Profile
    role: Role
    rows: RowSource
    names: Mapping[str, str]
    system: str | None
    variant: str | None
    strata: Sequence[str]
    question_ids: frozenset[str]
    left_ids: frozenset[str]
    made: list[dict[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    left_out: list[BadRow] = field(default_factory=list)
    out_ids: dict[str, None] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    seen: Counter[Any] = field(default_factory=Counter)

    def run(self) -> None:
        """Convert every row; what can't be converted is collected."""
        convert = self.profile.convert[self.role]
        folder = self.rows.path.parent
        for line, cells in self.rows:
            row = Fields(cells, self.names, folder, self.notes)
            given = None
            try:
                given = row.text("question_id") if "question_id" in self.names else None
                for outside in convert(row):
                    self._take(row, outside, given, line)
            except FieldError as error:
                self._refuse(line, error.reason, error.cure)
            except AccordError as error:
                self._refuse(line, error.message, error.cure)
            except LeftOut as out:
                self.left_out.append(BadRow(self.rows.name, line, out.reason))
                if out.id or out.key:
                    self.out_ids[given or out.id or key_id(out.key)] = None

    def _take(self, row: Fields, outside: Outside, given: str | None, line: int) -> None:
        cells = dict(outside.cells)
        if self.role != "questions":
            cells.setdefault("system", self.system)
            if self.variant is not None:
                cells.setdefault("variant", self.variant)
        elif _has_twice(cells.get("reference")):
            self._note("a reference has an element twice (both are wanted)")
        identity = given or outside.id
        if identity is None:
            identity = self._known(outside, cells, line)
            if identity is None:
                return
        elif self.role == "responses" and identity in self.left_ids:
            self._leave(line)
            return
        cells["question_id"] = identity
        if "place" in cells:
            cells["item_id"] = key_id([identity, str(cells["system"]), cells.pop("place")])
        cells |= {name: value for name, value in row.strata(*self.strata).items()}
        self.made.append(cells)
        self.lines.append(line)

    def _known(self, outside: Outside, cells: Mapping[str, Any], line: int) -> str | None:
        """The id of a question without one; None where a response fits none, or several."""
        whole = outside.record is not None
        first = outside.record or key_id(outside.key)
        if self.role == "questions":
            number = self._number(first)
            if number and not whole:
                self._note("a question has the text of an earlier one (its responses need ids)")
            return f"{first}-{number}" if number else first
        if self.role != "responses":
            return first
        if first in self.left_ids:
            self._leave(line)
            return None
        if first not in self.question_ids:
            what = "as this record has it" if whole else shown(" / ".join(outside.key))
            self._refuse(
                line,
                f"its question is not in the study: {what}",
                "bring its questions in first, from the same release",
            )
            return None
        if not whole:
            if f"{first}-1" in self.question_ids:
                self._refuse(line, "several questions of the study have this text", _IDS)
                return None
            return first
        number = self._number((first, cells.get("system"), cells.get("variant")))
        return f"{first}-{number}" if number else first

    def _number(self, key: Any) -> int:
        """How often a key was there before."""
        self.seen[key] += 1
        return self.seen[key] - 1

    def settle(self) -> None:
        """Say what is wrong with the file as a whole."""
        if not self.made and not self.bad:
            if not self.left_out:
                raise InputError(
                    f"{self.rows.name} holds no {self.role}",
                    cure="give the file as it was published, with rows that hold some",
                )
            raise InputError.from_rows(
                self.left_out, cure="no row of this file can be taken; give one with list questions"
            )
        if self.role != "questions" and any(row.get("system") is None for row in self.made):
            raise SettingsError(
                f"{self.rows.name} does not say which system answered", cure="add --system NAME"
            )
        if self.role == "ratings" and self.bad:
            raise InputError.from_rows(self.bad, cure=CURE)

    def _leave(self, line: int) -> None:
        self.left_out.append(BadRow(self.rows.name, line, "its question was left out"))

    def _refuse(self, line: int, reason: str, cure: str | None) -> None:
        self.bad.append(BadRow(self.rows.name, line, f"{reason}; {cure}" if cure else reason))

    def _note(self, text: str) -> None:
        self.notes[text] = self.notes.get(text, 0) + 1

    def table(self, unused: Iterable[str]) -> Table:
        """The converted rows, with what was said about the others."""
        import pandas as pd

        names = dict.fromkeys([*_OURS[self.role], *(name for row in self.made for name in row)])
        if self.role == "ratings":
            names = dict.fromkeys(_OURS["ratings"])
        data = {name: [row.get(name) for row in self.made] for name in names}
        notes = [f"{text}: {_rows(count)}" for text, count in self.notes.items()]
        if self.left_out:
            first = self.left_out[0]
            notes.append(
                f"{_rows(len(self.left_out))} left out, the first on line {first.line}: "
                f"{first.reason}"
            )
        options = {
            "format": self.profile.name,
            "format_sha256": self.profile.sha256,
            "map": dict(self.names),
            "system": self.system,
            "variant": self.variant,
            "left_out": list(self.out_ids) if self.role == "questions" else [],
        }
        return Table(
            frame=pd.DataFrame(data, dtype=object),
            path=self.rows.path,
            name=self.rows.name,
            sha256=self.rows.sha256,
            lines=self.lines,
            conversion=Conversion(
                options={key: value for key, value in options.items() if value},
                rows=self.rows.total,
                bad=tuple(self.bad),
                left_out=tuple(self.left_out),
                notes=tuple(notes),
                unused=tuple(unused),
            ),
        )


def _has_twice(reference: Any) -> bool:
    """Whether a list of elements holds two that are the same to an exact match."""
    from ..scoring.tokens import normalise

    if not isinstance(reference, list) or len(reference) < 2:
        return False
    seen = [
        json.dumps([normalise(one["text"]), one.get("attributes")])
        if isinstance(one, dict)
        else json.dumps([normalise(str(one)), None])
        for one in reference
    ]
    return len(set(seen)) < len(seen)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
