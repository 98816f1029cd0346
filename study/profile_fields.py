"""One row of another benchmark's file: reads its fields and says what is wrong with one."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["FieldError", "Fields", "LeftOut", "Outside", "shown"]


class FieldError(Exception):
    """A field can't be taken: ``reason`` names it and its value, ``cure`` says what to do."""

    def __init__(self, reason: str, cure: str) -> None:
        super().__init__(reason)
        self.reason, self.cure = reason, cure


class LeftOut(Exception):
    """A row that is no list question by the format's own rules.

    ``id`` or ``key`` name the question, so that its responses are left out too.
    """

    def __init__(self, reason: str, *, id: str | None = None, key: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason, self.id, self.key = reason, id, key


@dataclass(frozen=True, slots=True)
class Outside:
    """What one outside row became: a row of one of our tables.

    Parameters
    ----------
    cells
        Our columns; lists and objects as Python values.
    id
        The question's id as the file has it, or None where the format has none.
    key
        What names the question where there is no id; the id is then a hash of it.
    record
        A hash of all that makes the question, where gold and answer are one record. Equal records
        are interchangeable: their ids are numbered, and so are those of their responses.
    """

    cells: Mapping[str, Any]
    id: str | None = None
    key: tuple[str, ...] = ()
    record: str | None = None


@dataclass(slots=True)
class Fields:
    """The fields of one row.

    ``names`` maps the format's field names to the file's (``--map``); ``folder`` is where the file
    lies, for formats that keep the gold in files beside it; ``notes`` counts what was noticed.
    """

    row: Mapping[str, Any]
    names: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path()
    notes: dict[str, int] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """The value, or None. A dot goes into an object: ``metadata.domain``."""
        name = self.names.get(name, name)
        if name in self.row:
            return self.row[name]
        value: Any = self.row
        for part in name.split("."):
            if not isinstance(value, Mapping):
                return None
            value = value.get(part)
        return value

    def note(self, text: str) -> None:
        """Count one row of which this is to be said."""
        self.notes[text] = self.notes.get(text, 0) + 1

    def text(self, name: str) -> str:
        """A text that must be there."""
        value = self.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            raise FieldError(f"{name} is blank", f"give {name} a text")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            raise FieldError(f"{name} is no text but {shown(value)}", f"give {name} a text")
        return value

    def answer(self, name: str) -> str:
        """What a system wrote: a text, which may be empty, but the field must be there."""
        value = self.get(name)
        if value is not None and not isinstance(value, str):
            raise FieldError(
                f"{name} is no text but {shown(value)}", f"give {name} the answer as written"
            )
        return value or ""

    def strata(self, *names: str, **renamed: str) -> dict[str, str]:
        """The fields that are there, as text; lists and objects as JSON."""
        pairs = [*((name, name) for name in names), *renamed.items()]
        out = {}
        for ours, theirs in pairs:
            value = self.get(theirs)
            if value is not None and value != "":
                out[ours] = value if isinstance(value, str) else _json(value)
        return out

    def values(self, name: str) -> list[Any]:
        """A list; in CSV, the JSON text of one, or what Python writes for one."""
        value = self.get(name)
        if isinstance(value, str) and value.lstrip().startswith("["):
            read = _list(value)
            if read is None:
                raise FieldError(f"{name} {shown(value)} is no JSON list", 'write it as ["…", "…"]')
            value = read
        if value is None:
            raise FieldError(f"{name} is missing", f"give {name} a list")
        if not isinstance(value, list):
            raise FieldError(f"{name} is no list but {shown(value)}", f"give {name} a list")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts, none of them blank."""
        return [_text(value, f"{name}[{at}]") for at, value in enumerate(self.values(name))]

    def answered(self, name: str) -> list[str]:
        """The list that a system answered: a blank in it is no element, and is counted."""
        kept = [(at, value) for at, value in enumerate(self.values(name)) if not _blank(value)]
        if len(kept) < len(self.values(name)):
            self.note("a response has a blank in its list (left out)")
        return [_text(value, f"{name}[{at}]") for at, value in kept]

    def objects(self, name: str) -> Iterator[tuple[str, Fields]]:
        """The objects of a list, each with its place for messages."""
        for at, value in enumerate(self.values(name)):
            where = f"{name}[{at}]"
            if not isinstance(value, Mapping):
                raise FieldError(
                    f"{where} is no object but {shown(value)}", f"give {name} a list of objects"
                )
            yield where, Fields(value, folder=self.folder, notes=self.notes)

    def groups(self, name: str) -> list[list[str]]:
        """A list of lists of texts, each inner one not empty: any text of it is as good."""
        out = []
        for at, value in enumerate(self.values(name)):
            where = f"{name}[{at}]"
            if not isinstance(value, list) or not value or all(map(_blank, value)):
                raise FieldError(
                    f"{where} is no list of names but {shown(value)}",
                    f"give {name} one list of names an answer",
                )
            out.append(self._names(value, where))
        return out

    def inner(self, where: str, name: str) -> str:
        """A text of an object in a list; the message says which object."""
        return _text(self.get(name), f"{where}.{name}")

    def inner_texts(self, where: str, name: str) -> list[str]:
        """A list of texts of an object in a list; nothing where the key is missing or null."""
        value = self.get(name)
        if value is None:
            return []
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise FieldError(
                f"{where}.{name} is no list but {shown(value)}", f"give {name} a list of texts"
            )
        return self._names(value, f"{where}.{name}")

    def _names(self, values: Sequence[Any], where: str) -> list[str]:
        """Names of one thing; a blank names nothing, and is counted."""
        kept = [(at, value) for at, value in enumerate(values) if not _blank(value)]
        if len(kept) < len(values):
            self.note("a name is blank (left out)")
        return [_text(value, f"{where}[{at}]") for at, value in kept]


def shown(value: Any) -> str:
    """A value in a message: short, on one line."""
    if value is None:
        return "null"
    text = value if isinstance(value, str) else _json(value)
    text = repr(text) if isinstance(value, str) else text
    return text if len(text) <= 40 else f"{text[:39]}…"


def _blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _list(text: str) -> list[Any] | None:
    """A list written as JSON, or as Python writes one of texts and numbers: ``['a', 'b']``."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        # Python joins neighbours: an array printed as ['a' 'b'] would become one text.
        if len(text) > _LONGEST_LITERAL or _NEIGHBOURS.search(text):
            return None
        try:
            read = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    return read if isinstance(read, list) else None


_LONGEST_LITERAL = 1_000_000
_NEIGHBOURS = re.compile(r"""['"]\s+['"]""")


def _text(value: Any, where: str) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise FieldError(f"{where} is no text but {shown(value)}", "give each element a text")
    if not value.strip():
        raise FieldError(f"{where} is blank", "give each element a text, or leave it out")
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
