"""Files that come in: CSV, TSV, JSONL, JSON (each also ``.gz``), Parquet and xlsx as text tables.

Every cell is read as text, so ``07`` stays ``07`` and ``1.0`` stays ``1.0``; a blank cell is None.
A file that can't be read whole is refused with its line and the cure; nothing is half-read.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.errors import BadRow, InputError
from ..scoring.files import read_whole

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "FORMATS",
    "MAX_BYTES",
    "Conversion",
    "RawTable",
    "Table",
    "missing_column",
    "read_table",
    "table_from",
    "unpacked",
]

TEXT_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
}
BINARY_FORMATS = {".parquet": "parquet", ".xlsx": "xlsx"}
FORMATS = ".csv, .tsv, .jsonl, .json (each also .gz), .parquet or .xlsx"

MAX_BYTES = 4 * 2**30
"""A compressed file that grows beyond this is refused instead of filling the memory."""


@dataclass(frozen=True, slots=True)
class RawTable:
    """What a format's reader returns: the header, the columns in its order, the rows' lines."""

    header: tuple[str, ...]
    columns: tuple[list[Any], ...]
    lines: Sequence[int]


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of the rows of a file in another benchmark's format.

    ``bad`` rows could not be made into a row of ours and refuse the file. ``left_out`` rows are no
    list questions by the format's own rules. ``unused`` names fields that nothing was taken from;
    ``options`` goes into the input's provenance; ``rows`` are those of the file.
    """

    options: Mapping[str, Any]
    rows: int
    bad: tuple[BadRow, ...] = ()
    left_out: tuple[BadRow, ...] = ()
    notes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A file as a table of text.

    Parameters
    ----------
    frame
        One row a row of the file; object columns whose cells are str or None. A JSON or Parquet
        cell that is a list or an object stays a Python value.
    path, name
        The file and its last part, which messages and provenance show.
    sha256
        Of the file's bytes as they lie on disk (compressed, where it is compressed).
    lines
        The line of each row, counted from 1 with the header; the row number in Parquet.
    conversion
        What was said while rows of another benchmark's format were made into these; None for a
        table that came as it is.
    """

    frame: pd.DataFrame
    path: Path
    name: str
    sha256: str
    lines: Sequence[int] = field(repr=False)
    conversion: Conversion | None = field(default=None, repr=False)

    def column(self, name: str, option: str | None = None) -> list[Any]:
        """The cells of one column.

        Raises
        ------
        InputError
            When there is no such column; the message names the columns there are.
        """
        if name not in self.frame.columns:
            raise missing_column(self.name, name, list(map(str, self.frame.columns)), option)
        cells: list[Any] = self.frame[name].tolist()
        return cells


def read_table(
    path: str | Path,
    *,
    mapping: Mapping[str, str] | None = None,
    required: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> Table:
    """Read one file whole.

    Parameters
    ----------
    path
        The file; its ending says the format.
    mapping
        Our column name → the file's. The named column of the file is renamed; a column that
        already has our name gives way to it.
    required
        Columns (our names) without which the file can't be used.
    optional
        Further columns that the caller knows. With ``required`` or ``optional`` given, a mapping
        to any other name is refused as a slip of the pen.

    Raises
    ------
    InputError
        Missing, empty, unreadable, wrongly encoded, truncated or ragged file; a missing column; a
        doubled header. The message names file, line, value and cure.
    """
    file = Path(path)
    kind, packed = _format(file)
    raw = read_whole(file)
    digest = hashlib.sha256(raw).hexdigest()
    if not raw:
        raise InputError(f"{file.name} is empty", cure="give a file with a header and rows")
    if packed:
        raw = unpacked(raw, file.name)
    if kind in ("parquet", "xlsx"):
        from .read_binary import read_parquet, read_xlsx

        table = (read_parquet if kind == "parquet" else read_xlsx)(raw, file.name)
    else:
        from .read_text import decode, read_delimited, read_json, read_jsonl

        text = decode(raw, file.name)
        del raw
        if kind in ("csv", "tsv"):
            table = read_delimited(text, "," if kind == "csv" else "\t", file.name)
        else:
            table = (read_jsonl if kind == "jsonl" else read_json)(text, file.name)
    return table_from(
        table, file, digest, mapping=mapping or {}, required=required, optional=optional
    )


def table_from(
    raw: RawTable,
    file: Path,
    sha256: str,
    *,
    mapping: Mapping[str, str],
    required: Sequence[str],
    optional: Sequence[str],
) -> Table:
    """Check the header, rename by the mapping, and make the frame."""
    import pandas as pd

    header = _header(raw.header, file.name)
    if not raw.lines:
        raise InputError(f"{file.name} has a header but no rows", cure="give at least one row")
    known = [*required, *optional]
    for ours, theirs in mapping.items():
        if known and ours not in known:
            raise InputError(
                f"--map names {ours!r}, which is no column that is read from {file.name}",
                cure=f"columns are {', '.join(known)}",
            )
        if theirs not in header:
            raise missing_column(file.name, theirs, header, f"--map {ours}={theirs}")
    ours_of = {theirs: ours for ours, theirs in mapping.items()}
    if len(ours_of) < len(mapping):
        doubled = sorted(
            name for name in mapping.values() if list(mapping.values()).count(name) > 1
        )
        raise InputError(f"--map uses the column {doubled[0]!r} twice", cure="use it once")
    data: dict[str, list[Any]] = {}
    for name, cells in zip(header, raw.columns, strict=True):
        if name in mapping and name not in ours_of:
            continue
        data[ours_of.get(name, name)] = cells
    for name in required:
        if name not in data:
            raise missing_column(file.name, name, header)
    frame = pd.DataFrame(data, dtype=object)
    return Table(frame=frame, path=file, name=file.name, sha256=sha256, lines=raw.lines)


def missing_column(
    file: str, name: str, header: Sequence[str], option: str | None = None
) -> InputError:
    """The error for a column that is not there: what was asked, what there is, what to write."""
    asked = f" ({option})" if option else ""
    shown = ", ".join(header[:30]) + (", …" if len(header) > 30 else "")
    near = difflib.get_close_matches(name, header, n=1)
    cure = f"did you mean {near[0]!r}? " if near else ""
    if option is None:
        cure += f"name it with --map {name}=COLUMN; "
    return InputError(
        f"{file} has no column {name!r}{asked}", cure=f"{cure}its columns are {shown}"
    )


def _header(names: Sequence[str], file: str) -> list[str]:
    """The column names without outer blanks; a nameless column gets a name that can't be meant."""
    place: dict[str, int] = {}
    for position, raw in enumerate(names, start=1):
        name = raw.strip() or f"(column {position})"
        if name in place:
            raise InputError(
                f"{file}, line 1: the column {name!r} stands twice"
                f" (columns {place[name]} and {position})",
                cure="rename one of them",
            )
        place[name] = position
    return list(place)


def _format(file: Path) -> tuple[str, bool]:
    endings = [ending.lower() for ending in file.suffixes]
    packed = bool(endings) and endings[-1] == ".gz"
    ending = (endings[-2] if len(endings) > 1 else "") if packed else (endings or [""])[-1]
    kind = TEXT_FORMATS.get(ending) or (None if packed else BINARY_FORMATS.get(ending))
    if os.path.isdir(file):  # never raises, whatever the name
        raise InputError(f"{file} is a folder, not a table", cure=f"name a file: {FORMATS}")
    if kind is None:
        raise InputError(
            f"{file.name} has the ending {''.join(endings[-2:]) or '(none)'}, which is not read",
            cure=f"give {FORMATS}",
        )
    return kind, packed


def unpacked(raw: bytes, name: str) -> bytes:
    """The members of a gzip file one after the other, refusing one that was cut off."""
    out = bytearray()
    rest = raw
    while rest:
        member = zlib.decompressobj(wbits=31)
        try:
            while not member.eof:
                piece = member.decompress(rest, 2**24)
                rest = member.unconsumed_tail if not member.eof else member.unused_data
                out += piece
                if len(out) > MAX_BYTES:
                    raise InputError(
                        f"{name} unpacks to more than {MAX_BYTES // 2**30} GiB",
                        cure="split it, or give Parquet",
                    )
                if not piece and not rest and not member.eof:
                    raise InputError(
                        f"{name} ends in the middle of its gzip data",
                        cure="the file was cut off: fetch or pack it again",
                    )
        except zlib.error:
            raise InputError(
                f"{name} is no gzip file, or is damaged", cure="pack it again, or remove .gz"
            ) from None
        rest = rest.lstrip(b"\0")  # padding after the last member is allowed
    return bytes(out)
