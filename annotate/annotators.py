"""The list of people who grade: a table with an e-mail address and what decides who gets what."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..scoring.errors import InputError, SettingsError
from ..study.readers import read_table

__all__ = ["Annotator", "barred", "read_annotators"]

_EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+")


@dataclass(frozen=True, slots=True)
class Annotator:
    """One person: the e-mail address, and the file's other columns.

    A cell may list several values, as ``de; fr`` in a column of languages.
    """

    email: str
    fields: Mapping[str, str] = field(default_factory=dict)

    def has(self, column: str, value: str) -> bool:
        """Whether a cell of this person lists the value; case does not matter."""
        cell = self.fields.get(column, "")
        return value.strip().casefold() in {
            part.strip().casefold() for part in re.split(r"[;|]", cell) if part.strip()
        }

    def is_called(self, name: str) -> bool:
        """Whether a name is this person's: the address, or what the column ``name`` says."""
        known = {self.email.casefold(), self.fields.get("name", "").strip().casefold()} - {""}
        return name.strip().casefold() in known


def read_annotators(path: str | Path) -> list[Annotator]:
    """Read a table of people with a column ``email``, one row a person.

    Raises
    ------
    InputError
        When the file can't be read, nobody is in it, an address is none, or somebody is in it
        twice; the message names the line.
    """
    table = read_table(path)
    header = [str(name) for name in table.frame.columns]
    if "email" not in header:
        near = difflib.get_close_matches("email", [name.lower() for name in header], n=1)
        raise InputError(
            f"{table.name} has no column 'email'; its columns are {', '.join(header[:30])}",
            cure=f"rename {header[[name.lower() for name in header].index(near[0])]!r} to email"
            if near
            else "give a first line with the column email",
        )
    columns = [str(name) for name in table.frame.columns if name != "email"]
    out: list[Annotator] = []
    seen: dict[str, int] = {}
    for row, line in enumerate(table.lines):
        cell = table.frame["email"].iloc[row]
        email = cell.strip().lower() if isinstance(cell, str) else ""
        if not _EMAIL.fullmatch(email):
            raise InputError(
                f"{table.name}, line {line}: {cell or 'a blank cell'!r} is no e-mail address",
                cure="give the address with which the person logs in to Label Studio",
            )
        if email in seen:
            raise InputError(
                f"{table.name}, line {line}: {email} stands in line {seen[email]} already",
                cure="give one line a person",
            )
        seen[email] = line
        cells = ((name, table.frame[name].iloc[row]) for name in columns)
        out.append(
            Annotator(email, {name: value for name, value in cells if isinstance(value, str)})
        )
    if not out:
        raise InputError(f"{table.name} names nobody", cure="give a line a person")
    return out


def barred(
    people: Sequence[Annotator],
    items: Mapping[str, Mapping[str, str | None]],
    *,
    not_by: str | None = None,
    match: Sequence[str] = (),
) -> dict[str, set[int]]:
    """Whom each item must not go to.

    Parameters
    ----------
    people
        The annotators.
    items
        Item id → the fields of its question, response or pair; None where blank.
    not_by
        The field that names an item's author (by address or by name), who must not grade it.
        Several authors are parted by a semicolon.
    match
        Fields of items in which a person must be at home: the column of the same name among the
        annotators lists the values. An item without a value goes to anybody.

    Returns
    -------
    dict
        Item id → places of people; items that go to anybody are not in it.

    Raises
    ------
    SettingsError
        A field that no item has, or a column that no annotator has.
    """
    known = {name for fields in items.values() for name in fields}
    for option, name in (("--not-by", not_by), *(("--match", name) for name in match)):
        if name is not None and name not in known:
            raise SettingsError(
                f"{option} names {name!r}, which is no column of the items",
                cure=f"use {', '.join(sorted(known)) or 'no column'}",
            )
    for name in match:
        if not any(name in person.fields for person in people):
            raise SettingsError(
                f"--match names {name!r}, which is no column of the annotators",
                cure=f"add the column {name!r} to their file",
            )
    out: dict[str, set[int]] = {}
    for item, fields in items.items():
        closed: set[int] = set()
        authors = [part for part in (fields.get(not_by or "") or "").split(";") if part.strip()]
        for place, person in enumerate(people):
            if any(person.is_called(author) for author in authors):
                closed.add(place)
            for name in match:
                value = fields.get(name)
                if value and not person.has(name, value):
                    closed.add(place)
        if closed:
            out[item] = closed
    return out
