"""How ``--by`` is read, and how scores by slice, state, length and variant are printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from ..scoring.errors import SettingsError
from .common import columns, grid

if TYPE_CHECKING:
    from ..validate.result import Estimate

__all__ = ["BY", "read_slices", "slice_lines"]

BY = typer.Option(
    None,
    "--by",
    metavar="COL,…",
    help="Scores by slice: fields of questions or responses, list_length, output_tokens, "
    "variant, state.",
)


def read_slices(value: str | None) -> tuple[str, ...]:
    """The names of ``--by``; none where it is not given.

    Raises
    ------
    SettingsError
        When it is given and names nothing, or one thing twice.
    """
    names = columns(value)
    if value is not None and not names:
        raise SettingsError("--by names nothing", cure="e.g. --by category,list_length")
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"--by names {name!r} twice", cure="name it once")
    return names


def slice_lines(found: Mapping[str, Sequence[Estimate]]) -> Iterator[str]:
    """The figures as tables, one for each slice and judge."""
    from ..validate.study_slices import slice_tables

    for table in slice_tables(found):
        yield ""
        yield table.title
        if table.rows:
            yield from grid([table.columns, *table.rows])
        yield from table.notes
