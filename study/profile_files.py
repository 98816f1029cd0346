"""Reads a file of outside rows: what the other readers take, and two more forms of JSON.

Benchmarks also publish one JSON object that wraps the rows (``{"data": [{…}]}``) and one that maps
ids to answers (``{"id": […]}``). Both are rewritten as the list of rows that they stand for, line
ends kept, so that the strict reader sees them and its line numbers are the file's.
"""

from __future__ import annotations

import bz2
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from ..scoring.errors import InputError
from ..scoring.files import read_whole
from .readers import MAX_BYTES, Table, read_table, table_from, unpacked

__all__ = ["read_rows"]

_WHITE = " \t\r\n"
_SCAN = json.JSONDecoder(strict=False)


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
