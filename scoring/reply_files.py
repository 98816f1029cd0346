"""Files of what a judge said elsewhere: one row an item, its id beside one column."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from .errors import InputError
from .files import read_whole

__all__ = ["Row", "read_rows"]

Row = dict[str, str | None]


def read_rows(path: Path, column: str, *, where: str) -> tuple[bytes, Iterator[tuple[int, Row]]]:
    """The file's bytes, and its rows with their lines, as they are asked for.

    Parameters
    ----------
    path
        ``.jsonl`` is read as one JSON object a line, anything else as CSV with a header. UTF-8.
    column
        The column beside ``item_id``.
    where
        What messages begin with.

    Raises
    ------
    InputError
        When the file can't be read; for a line that is no row, at the latest when it is reached.
    """
    cure = f"name a file with the columns item_id and {column}"
    try:
        content = read_whole(path, cure=cure)
    except InputError as error:
        raise InputError(f"{where}: {error.message}", cure=error.cure) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            f"{where}: {path}, line {line}: not UTF-8", cure="save the file as UTF-8"
        ) from error
    rows = _jsonl if path.suffix.lower() in (".jsonl", ".ndjson") else _csv
    return content, rows(text, str(path), column)


def _csv(text: str, path: str, column: str) -> Iterator[tuple[int, Row]]:
    limit = csv.field_size_limit(sys.maxsize)  # a reply that argues can be longer than 128 KiB
    try:
        rows = list(_csv_rows(text, path, column))
    finally:
        csv.field_size_limit(limit)
    return iter(rows)


def _csv_rows(text: str, path: str, column: str) -> Iterator[tuple[int, Row]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        names = [(name or "").strip() for name in reader.fieldnames or ()]
        missing = [name for name in ("item_id", column) if name not in names]
        if missing:
            raise InputError(
                f"{path}, line 1: no column {' and no column '.join(missing)}",
                cure=f"name the columns item_id and {column}",
            )
        if len({name for name in names if name}) < len([name for name in names if name]):
            raise InputError(f"{path}, line 1: a column stands twice", cure="rename one of them")
        reader.fieldnames = names
        for row in reader:
            if None in row or None in row.values():
                raise InputError(
                    f"{path}, line {reader.line_num}: not as many fields as the header",
                    cure="quote fields that hold commas",
                )
            yield reader.line_num, {name: value.strip() for name, value in row.items()}
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.reader.line_num}: {error}", cure="save the file as CSV again"
        ) from error


def _jsonl(text: str, path: str, column: str) -> Iterator[tuple[int, Row]]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        cure = f'write one object a line: {{"item_id": "…", "{column}": "…"}}'
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {line}: no JSON ({error})", cure=cure) from error
        if not isinstance(value, dict) or not {"item_id", column} <= set(value):
            raise InputError(f"{path}, line {line}: no item_id and {column}", cure=cure)
        row: Row = {}
        for key in ("item_id", column, "reason"):
            cell = value.get(key)
            if isinstance(cell, bool) or not isinstance(cell, (str, int, float, type(None))):
                raise InputError(
                    f"{path}, line {line}: {key} is {json.dumps(cell)[:40]}", cure=cure
                )
            # NaN is how a table's writer puts a cell that is missing
            row[key] = None if cell is None or cell != cell else str(cell).strip()
        yield line, row
