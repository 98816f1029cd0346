"""The text formats: delimited (CSV, TSV), JSON Lines and JSON, read strictly and with line numbers.

The standard csv module is used, since a reader that pads short rows hides a lost delimiter.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Iterator
from typing import Any

from ..scoring.errors import BadRow, InputError, RowLine
from .readers import RawTable

__all__ = ["decode", "read_delimited", "read_json", "read_jsonl"]

_CHUNK = 20_000
_WHITE = " \t\r\n"


def decode(raw: bytes, name: str) -> str:
    """UTF-8 text without its byte order mark.

    Raises
    ------
    InputError
        Another encoding, or NUL bytes; the message names the line.
    """
    cure = "save it as UTF-8 (in a spreadsheet: 'CSV UTF-8')"
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{name} is encoded as UTF-16", cure=cure)
    if raw.startswith(b"\x1f\x8b"):
        raise InputError(f"{name} is packed with gzip", cure=f"name it {name}.gz, or unpack it")
    if raw.startswith(b"BZh") and not raw[:200].isascii():
        raise InputError(f"{name} is packed with bzip2", cure="unpack it, or pack it with gzip")
    nul = raw.find(b"\0")
    if nul >= 0:
        line = raw.count(b"\n", 0, nul) + 1
        raise InputError(
            f"{name}, line {line}: a NUL byte", cure=f"this is no plain text file; {cure}"
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8", cure=cure
        ) from None
    if not text.strip():
        raise InputError(f"{name} is empty", cure="give a file with a header and rows")
    return text


def read_delimited(text: str, delimiter: str, name: str) -> RawTable:
    """CSV or TSV: a header line, then rows with exactly as many cells."""
    limit = csv.field_size_limit(sys.maxsize)  # a long answer is more than the default 128 KiB
    try:
        return _read_delimited(text, delimiter, name)
    finally:
        csv.field_size_limit(limit)


def _read_delimited(text: str, delimiter: str, name: str) -> RawTable:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    records = _records(reader, name)
    _, header = next(records)
    _check_delimiter(header, delimiter, name)
    width = len(header)
    columns: tuple[list[Any], ...] = tuple([] for _ in header)
    # Ids and labels repeat: one string object each keeps a large table small.
    known: dict[str, str | None] = {}
    lines: list[int] = []
    bad: list[BadRow] = []
    chunk: list[list[str]] = []

    def take() -> None:
        for cells, values in zip(columns, zip(*chunk, strict=True), strict=False):
            cells += [known.setdefault(text, text if text.strip() else None) for text in values]
        chunk.clear()
        if len(known) > 200_000:
            known.clear()

    for line, row in records:
        if len(row) != width:
            bad.append(BadRow(name, line, f"{len(row)} cells where the header has {width}"))
            continue
        lines.append(line)
        chunk.append(row)
        if len(chunk) == _CHUNK:
            take()
    take()
    if bad:
        raise InputError.from_rows(
            bad, cure="put cells that hold the delimiter or a line end in quotation marks"
        )
    return RawTable(tuple(header), columns, lines)


def _records(reader: Any, name: str) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line it starts on; empty lines are passed over."""
    line = 1
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "end of data" in str(error):
                raise InputError(
                    f"{name}, line {line}: a quotation mark is opened here and never closed",
                    cure="close it, or double the quotation marks inside the cell",
                ) from None
            raise InputError(
                f"{name}, line {line}: {error}",
                cure="double the quotation marks inside a quoted cell",
            ) from None
        if row:
            yield line, row
        line = reader.line_num + 1


def _check_delimiter(header: list[str], delimiter: str, name: str) -> None:
    if len(header) > 1:
        return
    for other, word in ((";", "semicolons"), ("\t", "tabs"), (",", "commas"), ("|", "bars")):
        if other != delimiter and other in header[0]:
            raise InputError(
                f"{name}, line 1: the columns are separated by {word}",
                cure="save tabs as .tsv and commas as .csv; other separators are not read",
            )


class _Number(str):
    """A JSON number as it is written, so that 1.0 and 1 stay apart."""

    __slots__ = ()


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _DoubledKey(next(key for key in keys if keys.count(key) > 1))
    return out


class _DoubledKey(Exception):
    """A JSON object names one key twice; which value is meant can't be known."""


class _NoNumber(Exception):
    """Infinity stands where JSON has no number."""


def _constant(word: str) -> None:
    if word == "NaN":  # what Python and pandas write for a missing value
        return None
    raise _NoNumber(word)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_float=_Number,
    parse_int=_Number,
    parse_constant=_constant,
)


def read_jsonl(text: str, name: str) -> RawTable:
    """One JSON object a line; a key that is missing in a row is a blank cell."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    bad: list[BadRow] = []
    for line, source in enumerate(text.split("\n"), start=1):
        source = source.strip(_WHITE)
        if not source:
            continue
        try:
            row, end = _object(source, 0)
        except InputError as error:
            bad.append(BadRow(name, line, error.message))
            continue
        if source[end:].strip():
            bad.append(BadRow(name, line, f"more text after the object: {source[end:][:30]!r}"))
            continue
        rows.append(row)
        lines.append(line)
    if bad:
        raise InputError.from_rows(bad, cure="give one whole JSON object a line")
    return _from_rows(rows, lines)


def read_json(text: str, name: str) -> RawTable:
    """A JSON list of objects, one a row."""
    cure = "give a list of objects, one a row: [{…}, {…}]"
    position = _skip(text, 0)
    if text[position] != "[":
        raise InputError(f"{name} holds no list of rows", cure=cure)
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    line, counted = 1, 0
    position = _skip(text, position + 1)
    expect_row = not text.startswith("]", position)
    while expect_row:
        line += text.count("\n", counted, position)
        counted = position
        try:
            row, position = _object(text, position)
        except InputError as error:
            raise InputError(f"{name}, line {line}: {error.message}", cure=cure) from None
        rows.append(row)
        lines.append(line)
        position = _skip(text, position)
        expect_row = text.startswith(",", position)
        if expect_row:
            position = _skip(text, position + 1)
    if not text.startswith("]", position):
        line += text.count("\n", counted, position)
        what = "the list is never closed" if position >= len(text) else "no comma between rows"
        raise InputError(f"{name}, line {line}: {what}", cure=f"the file may be cut off; {cure}")
    if text[position + 1 :].strip():
        raise InputError(f"{name} has more text after its list", cure=cure)
    if not rows:
        raise InputError(f"{name} has no rows", cure=cure)
    if len(set(lines)) < len(lines):
        lines = [RowLine(line, row) for row, line in enumerate(lines, start=1)]
    return _from_rows(rows, lines)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _WHITE:
        position += 1
    return position


def _object(text: str, position: int) -> tuple[dict[str, Any], int]:
    """The JSON object that starts here, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, position)
        if isinstance(value, dict):
            escaped = text.find("\\u", position, end) >= 0
            value = {_native(key, escaped): _cell(cell, escaped) for key, cell in value.items()}
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        raise InputError("the JSON is cut off" if cut else f"no JSON: {error.msg}") from None
    except _DoubledKey as error:
        raise InputError(f"the key {str(error)!r} stands twice in one object") from None
    except _NoNumber as error:
        raise InputError(f"{error} is no JSON number") from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply") from None
    if not isinstance(value, dict):
        raise InputError(f"a row must be an object, this is {text[position:end][:30]!r}")
    return value, end


def _from_rows(rows: list[dict[str, Any]], lines: list[int]) -> RawTable:
    header: dict[str, None] = {}
    for row in rows:
        if row.keys() != header.keys():
            header.update(dict.fromkeys(row))
    columns = tuple([row.get(key) for row in rows] for key in header)
    return RawTable(tuple(header), columns, lines)


def _cell(value: Any, escaped: bool) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, _Number):
        return str(value)
    native = _native(value, escaped)
    return None if isinstance(native, str) and not native.strip() else native


def _native(value: Any, escaped: bool) -> Any:
    """The value with its numbers as numbers again; checks texts that came through escapes."""
    if isinstance(value, _Number):
        try:
            number = json.loads(value)
        except ValueError:  # more digits than Python converts
            return str(value)
        return str(value) if number in (math.inf, -math.inf) else number
    if isinstance(value, str):
        if escaped:
            _check_text(value)
        return value
    if isinstance(value, list):
        return [_native(item, escaped) for item in value]
    if isinstance(value, dict):
        return {_native(key, escaped): _native(item, escaped) for key, item in value.items()}
    return value


def _check_text(text: str) -> None:
    """Refuse what JSON escapes can smuggle in and no database or page can hold."""
    if "\0" in text:
        raise InputError("a NUL character (\\u0000) in a text")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise InputError("half of a character (a lone surrogate such as \\ud83d) in a text")
