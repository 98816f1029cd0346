"""A pandas frame as a text table, so that it is read by the rules of a file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring.errors import InputError
from .read_binary import EXACT, as_text
from .readers import RawTable, Table, table_from

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OF_FRAME", "table_of_frame"]

OF_FRAME = "the frame"
"""What messages and provenance call it; a frame has no file."""


def table_of_frame(
    frame: pd.DataFrame,
    *,
    mapping: Mapping[str, str] | None = None,
    optional: Sequence[str] = (),
) -> Table:
    """The cells of a frame as text, in which NaN, None and NA are blank.

    Whole numbers in a column of floats, into which pandas turns integers with a gap, are written
    as whole numbers. A named index is a column. ``lines`` are row numbers counted from 1, and the
    digest is of the texts.

    Parameters
    ----------
    frame
        One row a rating, or an item.
    mapping, optional
        As :func:`~accord.study.readers.read_table`.

    Raises
    ------
    InputError
        No rows, a doubled column or one that is in no way text.
    """
    named = [name for name in frame.index.names if name is not None]
    for name in named:
        if name in frame.columns:
            raise InputError(
                f"{OF_FRAME} has the column {str(name)!r} and an index of that name",
                cure="drop one of them: frame.reset_index(drop=True)",
            )
    if named:
        frame = frame.reset_index()
    header = tuple(str(name) for name in frame.columns)
    columns = tuple(_texts(frame.iloc[:, at]) for at in range(len(header)))
    if not header:
        raise InputError(f"{OF_FRAME} has no columns", cure="give one row a rating")
    digest = hashlib.sha256()
    for name, cells in zip(header, columns, strict=True):
        digest.update(repr((name, cells)).encode("utf-8", "surrogatepass"))
    return table_from(
        RawTable(header, columns, range(1, len(frame) + 1)),
        Path(OF_FRAME),
        digest.hexdigest(),
        mapping=mapping or {},
        required=(),
        optional=optional,
    )


def _texts(column: pd.Series) -> list[Any]:
    import pandas as pd

    if pd.api.types.is_float_dtype(column.dtype):
        given = column.dropna()
        if len(given) and (given % 1 == 0).all() and (given.abs() < EXACT).all():
            column = column.astype("Int64")
    missing = column.isna().tolist()
    if column.dtype == np.float32 or column.dtype == np.float16:
        cells: list[Any] = list(column.to_numpy())  # as a list they would get false digits
    else:
        cells = column.tolist()
    return [
        None if gap else as_text(_plain(cell), OF_FRAME, row)
        for row, (cell, gap) in enumerate(zip(cells, missing, strict=True), start=1)
    ]


def _plain(cell: Any) -> Any:
    """A cell of NumPy as one of Python; a short float with the digits that it was written with."""
    if isinstance(cell, np.floating) and cell.itemsize < 8:
        return float(str(cell))
    return cell.item() if isinstance(cell, np.generic) else cell
