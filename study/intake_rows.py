"""Reads the cells of a table row by row and collects what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..scoring.errors import AccordError, BadRow, InputError, one_line
from ..scoring.records import Element
from .database import storable

if TYPE_CHECKING:
    from .readers import Table

__all__ = ["CURE", "Row", "Rows", "plain"]

_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
_LINE_ENDS = {"\u2028", "\u2029"}
CURE = "correct it and add the file again; nothing was added"


class Rows:
    """The rows of a table one after the other, and what is wrong with them."""

    def __init__(self, table: Table, kept: Sequence[str]) -> None:
        self.table = table
        self.columns = {name: table.frame[name].tolist() for name in map(str, table.frame.columns)}
        self.kept = list(kept)
        made = table.conversion
        self.problems: list[BadRow] = [] if made is None else list(made.bad)
        self.cures: list[str] = []

    def __iter__(self) -> Iterator[Row]:
        for place, line in enumerate(self.table.lines):
            yield Row(self, place, line)

    def finish(self) -> None:
        if self.problems:
            self.problems.sort(key=lambda bad: (bad.line or 0, getattr(bad.line, "row", 0)))
            raise InputError.from_rows(self.problems, cure=self.cures[0] if self.cures else CURE)


class Row:
    """One row: reads its cells and notes what is wrong."""

    def __init__(self, rows: Rows, place: int, line: int) -> None:
        self._rows, self._place, self.line = rows, place, line
        self.good = True

    def bad(self, reason: str, cure: str | None = None) -> None:
        self.good = False
        self._rows.problems.append(BadRow(self._rows.table.name, self.line, reason))
        if cure:
            self._rows.cures.append(cure)

    def value(self, name: str) -> Any:
        cells = self._rows.columns.get(name)
        return None if cells is None else cells[self._place]

    def optional(self, name: str) -> str | None:
        value = self.value(name)
        return None if value is None else plain(value)

    def text(self, name: str) -> str | None:
        """A text that must be there and be no list or object."""
        value = self.value(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            self.bad(f"{name} is blank")
        elif not isinstance(value, str):
            self.bad(f"{name} is no text")
        else:
            return storable(value)
        return None

    def name(self, name: str) -> str:
        """An id that may be blank: of a variant, or of a pair's system."""
        value = self.value(name)
        blank = value is None or (isinstance(value, str) and not value.strip())
        return "" if blank else self.id(name) or ""

    def id(self, name: str) -> str | None:
        """An id: a text on one line, without control characters."""
        value = self.text(name)
        if value is None:
            return None
        value = value.strip()
        if len(value) > 500 or one_line(value) != value or set(value) & _LINE_ENDS:
            self.bad(f"{name} {value[:40]!r} holds a control character or is very long")
            return None
        return value

    def count(self, name: str) -> int | None:
        """A whole number from 0, or nothing."""
        value = self.value(name)
        if value is None:
            return None
        try:
            number = float(value) if "_" not in str(value) else -1.0  # 1_0 is 10 to Python alone
            if number >= 0 and number == int(number) and number < 2**53:
                return int(number)
        except (TypeError, ValueError, OverflowError):
            pass
        self.bad(f"{name} {str(value)[:40]!r} is no whole number from 0")
        return None

    def flag(self, name: str, value: str) -> str:
        if value.strip().lower() not in (*_TRUE, *_FALSE):
            self.bad(f"{name} {value[:40]!r} is neither true nor false")
        return "true" if value.strip().lower() in _TRUE else "false"

    def fields(self) -> dict[str, str]:
        """Further columns as text, without blanks around it: "Art " is the stratum "Art"."""
        found = ((name, self.optional(name)) for name in self._rows.kept)
        return {name: value.strip() for name, value in found if value and value.strip()}

    def reference(self) -> tuple[str | None, tuple[str, ...]]:
        """One element: its text and its aliases, without repetitions."""
        value, more = self.value("reference"), self.value("aliases")
        try:
            first, *others = [Element.from_value(one) for one in _list(value)] or [Element("")]
            texts = [*first.aliases]
            for element in (*others, *(Element.from_value(one) for one in _list(more))):
                texts += [element.display, *element.aliases]
        except AccordError as error:
            self.bad(f"reference: {error}")
            return None, ()
        shown = storable(first.display)
        if not shown.strip():
            self.bad("the reference is blank")
            return None, ()
        aliases = dict.fromkeys(storable(text) for text in texts if text.strip())
        return shown, tuple(alias for alias in aliases if alias != shown)

    def once(self, what: str, key: Any, seen: dict[Any, int]) -> None:
        """Note a key that stands in the file twice."""
        if key in seen:
            shown = " ".join(part for part in key if part) if isinstance(key, tuple) else repr(key)
            self.bad(f"{what} {shown} stands on line {seen[key]} already")
        else:
            seen[key] = self.line


def _list(value: Any) -> list[Any]:
    """A cell as a list: JSON text of a list is one, any other value is a list of one."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):  # no JSON, or brackets beyond any list of texts
            return [value]
        return read if isinstance(read, list) else [value]
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def plain(value: Any) -> str:
    """A cell as text: a list or an object as JSON."""
    if isinstance(value, str):
        return storable(value)
    return storable(json.dumps(value, ensure_ascii=False))
