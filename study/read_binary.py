"""Parquet and xlsx: typed cells written out as the text a person would have typed."""

from __future__ import annotations

import datetime
import decimal
import io
import math
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

from ..scoring.errors import BadRow, InputError
from .readers import RawTable

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EXACT", "as_text", "read_parquet", "read_xlsx"]

EXACT = 2.0**53
"""Below it a float holds every whole number."""


def read_parquet(raw: bytes, name: str) -> RawTable:
    """A Parquet file; lists and structs stay Python values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(io.BytesIO(raw)).read()
    except (pa.ArrowException, OSError, ValueError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{name} is no Parquet file, or is damaged: {why[:80]}", cure="write it again"
        ) from None
    columns = tuple(
        [as_text(cell, name, row) for row, cell in enumerate(_values(column), start=1)]
        for column in table.columns
    )
    return RawTable(tuple(table.column_names), columns, range(1, table.num_rows + 1))


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The cells of a column; floats as a person would have typed them.

    A short float has the digits that it was written with. Whole numbers in a column of floats, into
    which pandas turns integers with a gap, are whole numbers again.
    """
    import pyarrow as pa

    cells: list[Any] = column.to_pylist()
    if not pa.types.is_floating(column.type):
        return cells
    if column.type != pa.float64():
        short = column.type.to_pandas_dtype()
        cells = [cell if cell is None else float(str(short(cell))) for cell in cells]
    given = [cell for cell in cells if cell is not None and not math.isnan(cell)]
    if all(cell.is_integer() and abs(cell) < EXACT for cell in given):
        return [None if cell is None or math.isnan(cell) else int(cell) for cell in cells]
    return cells


def read_xlsx(raw: bytes, name: str) -> RawTable:
    """The one filled sheet of a workbook; ``lines`` are the sheet's row numbers."""
    rows = _sheet(raw, name, formulas=True)
    computed = {
        (line, position)
        for line, cells in rows
        for position, (kind, _) in enumerate(cells)
        if kind == "f"
    }
    if computed:
        rows = _sheet(raw, name, formulas=False)
    bad: list[BadRow] = []
    lines: list[int] = []
    table: list[list[Any]] = []
    for line, cells in rows:
        out: list[Any] = []
        for position, (kind, value) in enumerate(cells):
            if kind == "e":
                bad.append(BadRow(name, line, f"the cell error {value} in column {position + 1}"))
            elif value is None and (line, position) in computed:
                bad.append(
                    BadRow(name, line, f"a formula without a value in column {position + 1}")
                )
            out.append(as_text(value, name, line))
        if any(cell is not None for cell in out):
            lines.append(line)
            table.append(out)
    if bad:
        raise InputError.from_rows(bad, cure="paste the values, or save the sheet as CSV")
    if not table:
        raise InputError(f"{name} is empty", cure="give a sheet with a header and rows")
    width = max(len(row) for row in table)
    while width and all(len(row) < width or row[width - 1] is None for row in table):
        width -= 1  # formatted but empty columns to the right are no columns
    columns = tuple(
        [row[position] if position < len(row) else None for row in table[1:]]
        for position in range(width)
    )
    header = tuple(
        (table[0][position] or "") if position < len(table[0]) else "" for position in range(width)
    )
    return RawTable(header, columns, lines[1:])


def _sheet(raw: bytes, name: str, *, formulas: bool) -> list[tuple[int, list[tuple[str, Any]]]]:
    """Rows of the filled sheet as (row number, [(cell type, value)])."""
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    damaged = InputError(
        f"{name} is no xlsx workbook, or is damaged", cure="save it again as .xlsx, or as CSV"
    )
    filled = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl tells of styles and extensions it passes over
        try:
            book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=not formulas)
            for sheet in book.worksheets:
                # Some programs write a wrong size, and what is beyond it would be passed over.
                sheet.reset_dimensions()
                rows = [
                    (line, [(cell.data_type, cell.value) for cell in row])
                    for line, row in enumerate(sheet.iter_rows(), start=1)
                ]
                if any(value is not None for _, cells in rows for _, value in cells):
                    filled.append((sheet.title, rows))
        except (
            zipfile.BadZipFile,
            InvalidFileException,
            KeyError,
            ValueError,
            TypeError,
            OSError,
            SyntaxError,  # the class of XML parse errors
        ):
            raise damaged from None
    if len(filled) > 1:
        titles = ", ".join(title for title, _ in filled)
        raise InputError(
            f"{name} has {len(filled)} filled sheets ({titles})",
            cure="keep one sheet, or save the wanted one as CSV",
        )
    return filled[0][1] if filled else []


def as_text(value: Any, name: str, line: int) -> Any:
    """One cell as text, None when blank; a list or an object as it is."""
    if value is None or isinstance(value, str):
        return value if value and value.strip() else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return None if math.isnan(value) else repr(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, datetime.timedelta)):
        return str(value)
    if isinstance(value, (list, tuple, dict)):
        return list(value) if isinstance(value, tuple) else value
    raise InputError(
        f"{name}, row {line}: a cell of the type {type(value).__name__}", cure="write it as text"
    )
