"""Tables that go out: CSV that a spreadsheet shows and never runs, written whole or not at all."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.files import write_whole

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["csv_text", "write_csv"]

# The last four are the full-width forms, which spreadsheets in Asian locales also take as a
# formula's beginning.
_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

EMPTY = '""'
"""A row of one blank cell, which would otherwise read as no row."""


def write_csv(path: str | Path, frame: pd.DataFrame) -> None:
    """Write a frame as CSV (UTF-8, one header line), whole or not at all.

    A text that a spreadsheet would run as a formula gets a leading apostrophe, unless it is a
    number; so ``=HYPERLINK(…)`` in an answer stays text and ``-0.5`` stays a number. Missing cells
    are blank, lists and objects are JSON.

    Raises
    ------
    AccordError
        When the file can't be written; nothing is left behind.
    """
    write_whole(path, csv_text(frame))


def csv_text(frame: pd.DataFrame) -> str:
    """The frame as the CSV text that :func:`write_csv` writes."""
    plain = frame.astype(object).where(frame.notna(), None)
    columns = [plain.iloc[:, position].tolist() for position in range(plain.shape[1])]
    rows = [[str(name) for name in frame.columns], *map(list, zip(*columns, strict=True))]
    lines = (",".join(_quoted(_cell(value)) for value in row) for row in rows)
    return "".join(f"{line or EMPTY}\n" for line in lines)


def _quoted(text: str) -> str:
    # Not the csv module: before Python 3.13 it leaves a lone carriage return unquoted.
    if any(char in text for char in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        # UTF-8 can't hold half of a surrogate pair; a file must be writable all the same.
        text = value.encode("utf-8", "replace").decode("utf-8")
        return f"'{text}" if text.startswith(_STARTS) and not _is_number(text) else text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value)
    if isinstance(value, (list, tuple, dict)):
        return _cell(json.dumps(value, ensure_ascii=False))
    return str(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip() and "_" not in text
