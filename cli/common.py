"""What the commands share: reading options, the JSON envelope, printing."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from ..scoring.errors import BadRow, InputError, SettingsError, one_line, visible

__all__ = [
    "EXTRA",
    "JSON",
    "STUDY",
    "UNSCORED",
    "UNSURE",
    "columns",
    "emit",
    "envelope",
    "expect_apart",
    "grid",
    "list_rows",
    "parse_map",
    "warn",
    "with_all_rows",
]

JSON = typer.Option(False, "--json", help="Print JSON to standard output.")
STUDY = typer.Argument(..., metavar="STUDY", help="A study folder.")
_STUDYS = "A study's recipe says it unless it is given"
UNSURE = typer.Option(
    None,
    "--unsure",
    metavar="HOW",
    help=f"UNSURE: missing, incorrect, half, category. {_STUDYS} (tables: missing).",
)
UNSCORED = typer.Option(
    None,
    "--unscored",
    metavar="HOW",
    help="A judge's unreadable reply: missing, incorrect, category, or the label it counts as. "
    f"{_STUDYS} (tables: missing).",
)
EXTRA = typer.Option(
    None,
    "--extra",
    metavar="HOW",
    help="Correct but missing from the reference: incorrect, ignore, credit. "
    f"{_STUDYS} (tables: incorrect).",
)


def columns(value: str | None) -> tuple[str, ...]:
    """``"a,b"`` as ``("a", "b")``; nothing as ``()``."""
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())


def parse_map(value: str | None, option: str) -> dict[str, str]:
    """``"question=q,reference=gold"`` as a dictionary.

    Raises
    ------
    SettingsError
        When a part is not of the form ``name=value`` or a name stands twice.
    """
    out: dict[str, str] = {}
    for part in columns(value):
        name, sign, text = part.partition("=")
        if not sign or not name.strip() or not text.strip():
            raise SettingsError(
                f"{option} has the part {part!r}", cure=f"write {option} name=value,name=value"
            )
        if name.strip() in out:
            raise SettingsError(f"{option} names {name.strip()!r} twice", cure="name it once")
        out[name.strip()] = text.strip()
    return out


def expect_apart(
    outputs: Iterable[str | Path | None], inputs: Iterable[str | Path | None] = ()
) -> None:
    """Before anything is made: no output replaces what is read, and each has a file of its own.

    What is None was not asked for. Links and other ways to write a path name the same file.

    Raises
    ------
    SettingsError
        A file is named for two outputs, or for an output and an input.
    """
    read = {os.path.realpath(path) for path in inputs if path and os.path.isfile(path)}
    written: set[str] = set()
    for path in outputs:
        if path is None or "\0" in str(path):
            continue
        where = os.path.realpath(path)
        if where in read:
            raise SettingsError(
                f"{path} is read and would be replaced by an output", cure="name another file"
            )
        if where in written:
            raise SettingsError(f"{path} is named for two outputs", cure="name a file for each")
        written.add(where)


def envelope(
    command: str,
    *,
    results: Iterable[Mapping[str, Any]],
    settings: Mapping[str, Any] | None = None,
    input: Mapping[str, Any] | None = None,
    verdict: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """The JSON that every statistics command prints."""
    from .. import __version__

    return {
        "accord": __version__,
        "command": command,
        "input": dict(input or {}),
        "settings": dict(settings or {}),
        "results": [dict(result) for result in results],
        "verdict": verdict,
        **more,
    }


def emit(payload: Mapping[str, Any], as_json: bool, lines: Iterable[str]) -> None:
    """Print the payload as JSON, or the lines for a person."""
    if as_json:
        # NaN is not JSON: a figure that is undefined must have become null before it comes here.
        text = json.dumps(payload, ensure_ascii=False, indent=2, allow_nan=False)
        # Half of a surrogate pair (a file name that is no UTF-8) is an escape in JSON too.
        sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    else:
        for line in lines:
            typer.echo(visible(line))


def with_all_rows(error: InputError, show_all: bool) -> InputError:
    """The error about a file; its bad rows are listed on standard error, or it says how to."""
    if len(error.rows) < 2:
        return error
    if show_all:
        list_rows(error.rows)
        return error
    cure = f"{error.cure}; --show-all lists them" if error.cure else "--show-all lists them"
    return InputError(error.message, cure=cure, rows=error.rows)


def list_rows(rows: Sequence[BadRow]) -> None:
    """A line each on standard error, whatever the rows quote from the file."""
    for row in rows:
        typer.echo(one_line(str(row)), err=True)


def warn(text: str) -> None:
    """One line on standard error that does not stop the command."""
    typer.echo(f"accord: {one_line(text)}", err=True)


def grid(rows: Sequence[Sequence[str]], size: int | None = None) -> Iterator[str]:
    """Rows as lines whose columns stand below each other as they are seen; cells are cut at 60.

    Where a table is wider than ``size`` (the terminal's columns; a file or a pipe has no limit)
    each row goes on below itself, indented, the header too; a long first cell stands alone.
    """
    from ..validate.text_cells import width

    if size is None and sys.stdout.isatty():
        size = shutil.get_terminal_size().columns
    plain = [[one_line(cell)[:60] for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*plain, strict=True)]
    lines: list[list[int]] = [[0]]
    free = math.inf if size is None or sum(widths) + 2 * len(widths) - 2 <= size else size
    apart = free < math.inf and widths[0] > free // 2
    room = 0 if apart else free - widths[0]
    for at in range(1, len(widths)):
        if widths[at] + 2 > room:
            lines.append([])
            room = free - 2
        lines[-1].append(at)
        room -= widths[at] + 2
    for cells in plain:
        for places in lines:
            blank = [" " * (widths[at] - width(cells[at])) for at in places]
            shown = [fill + cells[at] for fill, at in zip(blank, places, strict=True)]
            if places[0] == 0:
                shown[0] = cells[0] + blank[0]
            yield ("" if places[0] == 0 else "    ") + "  ".join(shown).rstrip()
