"""``accord parse``: how answers are read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

__all__ = ["register"]

FIELDS = ("text", "response", "answer")
"""Where the text is looked for when no field is named."""


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "parse",
        help="Show how answers are read: one JSON object a line, with the elements, their heads "
        "and attributes, the text before and after, and the rule that read them. A table (CSV, "
        "JSONL, Parquet, xlsx) has one answer a row; any other file, and standard input that is "
        "not JSON lines, is one answer. Example: accord parse responses.jsonl --field response",
    )
    def parse_command(
        file: str = typer.Argument(..., metavar="FILE|-", help="A file; - is standard input."),
        field: str = typer.Option(
            None, "--field", metavar="NAME", help="The column or key that holds the text."
        ),
        recipe: str = typer.Option(
            None,
            "--recipe",
            metavar="NAME",
            help="Show only what this recipe scores, and the answer's state.",
        ),
    ) -> None:
        from ..scoring.answers import scored_elements
        from ..scoring.errors import InputError
        from ..scoring.parse import parse, read_reference
        from ..scoring.recipes import recipe as find

        conventions = find(recipe) if recipe is not None else None
        for identity, answer in _answers(file, field):
            if isinstance(answer, dict):
                raise InputError(
                    f"the answer of {identity} is an object", cure="give a text or a list"
                )
            text = _as_written(answer)
            parsed = read_reference(answer) if isinstance(answer, list) else parse(text)
            row = {"id": identity, **parsed.to_dict()}
            if conventions is not None:
                state, elements, collapsed = scored_elements(parsed, text, conventions)
                row["elements"] = [element.to_dict() for element in elements]
                row |= {"state": state, "collapsed": collapsed, "recipe": conventions.name}
            _print(row)


def _as_written(answer: Any) -> str:
    """An answer as text: a number is what stands there, nothing is an empty answer."""
    if answer is None or isinstance(answer, (str, list)):
        return answer if isinstance(answer, str) else ""
    return json.dumps(answer)


def _print(row: dict[str, Any]) -> None:
    line = json.dumps(row, ensure_ascii=False)
    try:
        sys.stdout.write(line + "\n")
    except UnicodeEncodeError:  # a lone surrogate, or a terminal of another encoding
        sys.stdout.write(json.dumps(row) + "\n")


def _answers(file: str, field: str | None) -> Iterator[tuple[Any, Any]]:
    """Id and answer of each row; the row's number where it has no id."""
    from ..scoring.errors import InputError

    rows: list[dict[str, Any]]
    if file == "-":
        found = _json_lines(sys.stdin.buffer.read(), field)
        if isinstance(found, str):
            yield 1, found
            return
        name, rows = "standard input", found
    else:
        path = Path(file)
        if path.suffix.lower() in (".txt", ".md", ".html", ""):
            yield path.name, _text(path)
            return
        from ..study.readers import read_table

        table = read_table(path)
        name = table.name
        rows = [dict(zip(table.frame.columns, row, strict=True)) for row in table.frame.values]
    names = list(dict.fromkeys(key for row in rows for key in row))
    wanted = field or next((key for key in FIELDS if key in names), None)
    if wanted is None or wanted not in names:
        raise InputError(
            f"{name} has no field {wanted or 'text'!r}",
            cure=f"name one with --field: {', '.join(map(str, names[:12]))}",
        )
    for number, row in enumerate(rows, 1):
        identity = next((row[k] for k in ("id", "item_id") if row.get(k) is not None), number)
        yield identity, row.get(wanted)


def _text(path: Path) -> str:
    from ..scoring.errors import InputError
    from ..scoring.files import read_whole

    try:
        return read_whole(path, cure="name a file that is there").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 (byte {error.start + 1})", cure="save it as UTF-8"
        ) from None


def _json_lines(data: bytes, field: str | None) -> list[dict[str, Any]] | str:
    """The objects of JSON lines; else the text itself, if no field was asked for."""
    from ..scoring.errors import InputError

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"standard input is not UTF-8 (byte {error.start + 1})", cure="send UTF-8"
        ) from None
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            if field is None and (number == 1 or not rows):
                return text
            raise InputError(
                f"standard input, line {number}: no JSON object", cure="send one object a line"
            )
        rows.append(row)
    return rows if rows and (field is not None or any(k in rows[0] for k in FIELDS)) else text
