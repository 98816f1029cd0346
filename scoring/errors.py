"""The errors a user can cause, one tree.

::

    AccordError            a mistake the user can cure; the command line prints it and exits with 2
    ├── InputError         a file or a table that can't be taken as it is (file, row, value, cure)
    ├── SettingsError      study.toml, a recipe, an option or a judge's settings
    ├── StudyError         the study folder: missing, damaged, of another version, already there
    ├── ServiceError       a server: unreachable, refused token, an answer that can't be used
    └── Undefined          a figure that does not exist for these data (never raised by results,
                           which carry NaN and a reason; raised where a number is the only answer)

Anything else that is raised is a bug in accord.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "AccordError",
    "BadRow",
    "InputError",
    "RowLine",
    "ServiceError",
    "SettingsError",
    "StudyError",
    "Undefined",
]


class AccordError(Exception):
    """A mistake the user can cure. ``message`` is one line; ``cure`` says what to do about it."""

    def __init__(self, message: str, *, cure: str | None = None) -> None:
        self.message = one_line(message)
        self.cure = one_line(cure) if cure else None
        super().__init__(self.message if not self.cure else f"{self.message}; {self.cure}")


class RowLine(int):
    """The line of a row in a file that has several rows a line; it is shown with the row's number.

    Benchmarks publish JSON lists on one line, where "line 1" would name every row.

    Examples
    --------
    >>> f"line {RowLine(1, 3)}"
    'line 1, row 3'
    """

    def __new__(cls, line: int, row: int) -> RowLine:
        """``row`` counts from 1."""
        found = super().__new__(cls, line)
        found.row = row
        return found

    row: int

    def __reduce__(self) -> tuple[type[RowLine], tuple[int, int]]:
        return RowLine, (int(self), self.row)

    def __str__(self) -> str:
        return f"{int(self)}, row {self.row}"


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row that can't be taken: the file, the line (1-based, header included), why."""

    file: str
    line: int | None
    reason: str

    @classmethod
    def of(cls, file: str, line: int | None, error: AccordError) -> BadRow:
        """The row that an error is about; what the error says to do goes with the reason."""
        return cls(file, line, f"{error.message}; {error.cure}" if error.cure else error.message)

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{where}: {self.reason}"


class InputError(AccordError):
    """A file or table can't be taken. All bad rows are in ``rows``; the message names the first."""

    def __init__(
        self, message: str, *, cure: str | None = None, rows: Sequence[BadRow] = ()
    ) -> None:
        super().__init__(message, cure=cure)
        self.rows = tuple(rows)

    @classmethod
    def from_rows(cls, rows: Sequence[BadRow], *, cure: str | None = None) -> InputError:
        """One error for all bad rows of an input: the first in full, the others counted."""
        others = len(rows) - 1
        more = f" (and {others} more bad row{'s' * (others > 1)})" if others else ""
        return cls(f"{rows[0]}{more}", cure=cure, rows=rows)


class SettingsError(AccordError):
    """An option, a recipe or study.toml holds a value that can't be used."""


class StudyError(AccordError):
    """The study folder is missing, damaged, of another version, or in the way."""


class ServiceError(AccordError):
    """A server can't be reached, refused the token, or gave an answer that can't be used."""


class Undefined(AccordError):
    """A figure does not exist for these data."""


def one_line(text: str) -> str:
    """Text on one line, with control and bidirectional-override characters shown as escapes.

    Messages quote what was found in files and replies; a terminal must not act on it.
    """
    return visible(_LINE_ENDS.sub(" ", text)).strip()


def visible(text: Any) -> str:
    r"""Text in which control, invisible and bidirectional characters are written out.

    As in ``abc\u202edef``; None is empty, anything else its text. Two texts that differ only in
    what can't be seen would otherwise look equal, and an override of direction would reorder what
    stands around it. Line ends (as ``\n``) and tabs stay. Joiners stay too: scripts and emoji need
    them.
    """
    out = text if isinstance(text, str) else "" if text is None else str(text)
    if out.isascii() and out.isprintable():
        return out
    return _UNSEEN.sub(_escape, out.replace("\r\n", "\n").replace("\r", "\n"))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_LINE_ENDS = re.compile(r"[\r\n\t]")
# Controls; marks, overrides and isolates of direction; the line ends that are no \n; characters of
# no width; tags; halves of a surrogate pair, which no terminal's encoding holds.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
