"""Reads a file of outside rows: what the other readers take, and two more forms of JSON.

Benchmarks also publish one JSON object that wraps the rows (``{"data": [{…}]}``) and one that maps
ids to answers (``{"id": […]}``). Both are rewritten as the list of rows that they stand for, line
ends kept, so that the strict reader sees them and its line numbers are the file's.

JSON lines are read a block at a time, packed or not: benchmarks carry whole passages beside each
answer, and what no profile reads need not be in memory at once.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..scoring.errors import BadRow, InputError
from ..scoring.files import read_whole
from .readers import MAX_BYTES, Table, read_table, table_from, unpacked

__all__ = ["RowSource", "open_rows", "read_rows"]

_WHITE = " \t\r\n"
_SCAN = json.JSONDecoder(strict=False)
_BLOCK = 2**23
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(slots=True)
class RowSource:
    """The rows of a file one after the other, each with its line.

    ``header`` and ``total`` are complete when all rows were taken.
    """

    path: Path
    name: str
    sha256: str
    rows: Iterator[tuple[int, dict[str, Any]]]
    header: dict[str, None] = field(default_factory=dict)
    total: int = 0

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, row in self.rows:
            self.header.update(dict.fromkeys(row))
            self.total += 1
            yield line, row


def open_rows(
    path: Path | str, *, envelope: str | None = None, keyed: str | None = None
) -> RowSource:
    """The rows of a file; JSON lines without reading it whole. See :func:`read_rows`.

    Raises
    ------
    InputError
        Now or while the rows are taken: all that :func:`read_rows` refuses.
    """
    file = Path(path)
    endings = [ending.lower() for ending in file.suffixes]
    packed = endings[-1:] == [".gz"]
    if file.is_file() and endings[-2 if packed else -1 :][:1] in ([".jsonl"], [".ndjson"]):
        try:
            with open(file, "rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError:
            read_whole(file)  # says what is wrong
            raise
        return RowSource(file, file.name, digest, _streamed(file, packed))
    table = read_rows(file, envelope=envelope, keyed=keyed)
    names = list(map(str, table.frame.columns))
    columns = [table.frame[name].tolist() for name in names]
    rows = (
        (line, dict(zip(names, cells, strict=True)))
        for line, *cells in zip(table.lines, *columns, strict=True)
    )
    return RowSource(file, table.name, table.sha256, rows)


def _streamed(file: Path, packed: bool) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of JSON lines; every line that is none is listed at the end."""
    from .read_text import read_jsonl

    bad: list[BadRow] = []
    found = False
    for before, text in _blocks(file, packed):
        if not text.strip():
            continue
        found = True
        try:
            table = read_jsonl(text, file.name)
        except InputError as error:
            bad += [replace(row, line=before + (row.line or 0)) for row in error.rows]
            continue
        if bad:
            continue  # the file is refused: only what else is wrong with it is wanted
        names = [name.strip() for name in table.header]
        for line, *cells in zip(table.lines, *table.columns, strict=True):
            yield before + line, dict(zip(names, cells, strict=True))
    if bad:
        raise InputError.from_rows(bad, cure="give one whole JSON object a line")
    if not found:
        raise InputError(f"{file.name} is empty", cure="give a file with rows")


def _blocks(file: Path, packed: bool) -> Iterator[tuple[int, str]]:
    """Whole lines as text, and how many lines stand before them."""
    before = unpacked_bytes = 0
    rest = b""
    try:
        with gzip.open(file) if packed else open(file, "rb") as stream:
            while block := stream.read(_BLOCK):
                unpacked_bytes += len(block)
                if packed and unpacked_bytes > MAX_BYTES:
                    raise InputError(
                        f"{file.name} unpacks to more than {MAX_BYTES // 2**30} GiB",
                        cure="split it",
                    )
                head, cut, tail = block.rpartition(b"\n")
                if not cut:
                    rest += block
                    continue
                yield before, _decoded(rest + head, before, file.name)
                before += rest.count(b"\n") + head.count(b"\n") + 1
                rest = tail
    except EOFError:
        raise InputError(
            f"{file.name} ends in the middle of its gzip data",
            cure="the file was cut off: fetch or pack it again",
        ) from None
    except (gzip.BadGzipFile, zlib.error):
        raise InputError(
            f"{file.name} is no gzip file, or is damaged", cure="pack it again, or remove .gz"
        ) from None
    if rest:
        yield before, _decoded(rest, before, file.name)


def _decoded(block: bytes, before: int, name: str) -> str:
    """A block as text; one that is none is given to the reader that says where and why."""
    from .read_text import decode

    if b"\0" not in block and (before or not block.startswith(_MARKS)):
        try:
            return block.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return decode(b"\n" * before + block, name)


def read_rows(path: Path | str, *, envelope: str | None = None, keyed: str | None = None) -> Table:
    """The rows of a file as a table of the file's own fields.

    Parameters
    ----------
    envelope
        The key of the list of rows, where the file is one JSON object.
    keyed
        The file is one JSON object from ids to values: each becomes the row
        ``{"id": ID, keyed: VALUE}``.

    Raises
    ------
    InputError
        As :func:`~accord.study.readers.read_table`; and an object that lacks the key.
    """
    file = Path(path)
    endings = [ending.lower() for ending in file.suffixes]
    packing = endings.pop() if endings and endings[-1] in (".gz", ".bz2") else ""
    if endings[-1:] != [".json"] or not (envelope or keyed or packing == ".bz2"):
        return read_table(file)
    raw = read_whole(file)
    digest = hashlib.sha256(raw).hexdigest()
    if not raw:
        raise InputError(f"{file.name} is empty", cure="give a file with rows")
    if packing == ".gz":
        raw = unpacked(raw, file.name)
    elif packing == ".bz2":
        raw = _bunzip(raw, file.name)
    from .read_text import decode, read_json

    text = decode(raw, file.name)
    if text.lstrip(_WHITE).startswith("{"):
        if keyed is not None:
            text = _keyed(text, file.name, keyed)
        elif envelope is not None:
            text = _opened(text, file.name, envelope)
    rows = read_json(text, file.name)
    return table_from(rows, file, digest, mapping={}, required=(), optional=())


def _members(text: str, name: str) -> Iterator[tuple[str, int, int, int, int]]:
    """Each member of the object: its key, where that starts and ends, where the value does."""
    at = _skip(text, 0) + 1
    while True:
        at = _skip(text, at)
        if text.startswith("}", at):
            if text[at + 1 :].strip(_WHITE):
                raise InputError(f"{name} has more text after its object", cure="leave it out")
            return
        try:
            key, end = _SCAN.raw_decode(text, at)
            colon = _skip(text, end)
            if not isinstance(key, str) or not text.startswith(":", colon):
                raise ValueError("no key")
            start = _skip(text, colon + 1)
            _, stop = _SCAN.raw_decode(text, start)
        except (ValueError, RecursionError):
            line = text.count("\n", 0, at) + 1
            raise InputError(
                f"{name}, line {line}: no JSON, or cut off, in the member that starts here",
                cure="give the file whole, as it was published",
            ) from None
        yield key, at, end, start, stop
        at = _skip(text, stop)
        if text.startswith(",", at):
            at += 1
        elif not text.startswith("}", at):
            line = text.count("\n", 0, min(at, len(text))) + 1
            raise InputError(
                f"{name}, line {line}: the object is never closed",
                cure="give the file whole, as it was published",
            )


def _opened(text: str, name: str, envelope: str) -> str:
    """The list under the key, on its own lines."""
    found: str | None = None
    keys = []
    for key, _, _, start, stop in _members(text, name):
        if key == envelope and found is not None:
            raise InputError(
                f"{name}: the key {envelope!r} stands twice", cure="leave one of them out"
            )
        if key == envelope:
            found = "\n" * text.count("\n", 0, start) + text[start:stop]
        keys.append(key)
    if found is None:
        raise InputError(
            f"{name} is an object without the key {envelope!r}",
            cure=f"its keys are {', '.join(keys[:12]) or '(none)'}; give the published file, "
            "or its rows as a list or JSON lines",
        )
    return found


def _keyed(text: str, name: str, field: str) -> str:
    """The members as rows, each on the line it stands on."""
    parts = ["["]
    before = 0
    for _, at, end, start, stop in _members(text, name):
        gap = text[before:at]
        parts.append("," if len(parts) > 1 else "")
        parts.append("\n" * gap.count("\n"))
        parts.append(f'{{"id":{text[at:end]}{chr(10) * text.count(chr(10), end, start)}')
        parts.append(f',"{field}":{text[start:stop]}}}')
        before = stop
    return "".join([*parts, "]"])


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _WHITE:
        position += 1
    return position


def _bunzip(raw: bytes, name: str) -> bytes:
    """The streams of a bzip2 file one after the other, refusing one that was cut off."""
    out = bytearray()
    rest = raw
    while rest:
        stream = bz2.BZ2Decompressor()
        try:
            while not stream.eof:
                out += stream.decompress(rest, 2**24)
                rest = b""
                if len(out) > MAX_BYTES:
                    raise InputError(
                        f"{name} unpacks to more than {MAX_BYTES // 2**30} GiB", cure="split it"
                    )
                if stream.needs_input and not stream.eof:
                    raise InputError(
                        f"{name} ends in the middle of its bzip2 data",
                        cure="the file was cut off: fetch or pack it again",
                    )
        except OSError:
            raise InputError(
                f"{name} is no bzip2 file, or is damaged", cure="pack it again, or remove .bz2"
            ) from None
        rest = stream.unused_data
    return bytes(out)
