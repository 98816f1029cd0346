"""WideSearch: the gold of each question is a table of its own, in a CSV file beside the rows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..scoring.errors import InputError
from .profile_fields import FieldError, Fields, Outside, shown
from .profile_shape import TABLE, Profile, element

__all__ = ["GOLD_FOLDER", "WIDESEARCH"]

GOLD_FOLDER = "widesearch_gold"
"""The folder of the gold tables, beside the file of questions: ``INSTANCE_ID.csv``."""


def _plain(name: str) -> str:
    """A column's name as WideSearch compares it: lower case, without blanks."""
    return "".join(name.split()).lower()


def _evaluation(row: Fields) -> tuple[list[str], list[str]]:
    """The unique columns and the further required ones."""
    value = row.get("evaluation")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise FieldError(
                f"evaluation {shown(value)} is no JSON", "leave it as it was published"
            ) from None
    if not isinstance(value, Mapping):
        raise FieldError(
            f"evaluation is no object but {shown(value)}",
            'give {"required": […], "unique_columns": […]}',
        )
    inner = Fields(value)
    required, unique = inner.texts("required"), inner.texts("unique_columns")
    if not unique or not set(map(_plain, unique)) <= set(map(_plain, required)):
        raise FieldError(
            f"unique_columns {shown(unique)} are not among the required columns",
            "name one of them at least",
        )
    keys = {_plain(name) for name in unique}
    return unique, [name for name in required if _plain(name) not in keys]


def _question(row: Fields) -> Iterator[Outside]:
    identity, query = row.text("instance_id"), row.text("query")
    unique, others = _evaluation(row)
    cells = {
        "question": query,
        "reference": _gold(row, identity, [*unique, *others], len(unique)),
        **row.strata("language"),
    }
    yield Outside(cells, id=identity)


def _gold(row: Fields, identity: str, columns: Sequence[str], n_unique: int) -> list[Any]:
    """The elements of the gold table: the first filled cell and the others as attributes.

    The first ``n_unique`` columns are the key.
    """
    from .readers import read_table

    if (
        not identity.replace("_", "").replace("-", "").replace(".", "").isalnum()
        or ".." in identity
    ):
        raise FieldError(
            f"instance_id {shown(identity)} is no name of a file", "use letters, digits, _ and -"
        )
    file = row.folder / GOLD_FOLDER / f"{identity}.csv"
    if not os.path.exists(file):
        raise FieldError(
            f"its gold table {GOLD_FOLDER}/{file.name} is not there",
            f"put the folder {GOLD_FOLDER} beside the file",
        )
    try:
        table = read_table(file)
    except InputError as error:
        raise FieldError(
            f"its gold table can't be taken: {error.message}",
            error.cure or "give the table as it was published",
        ) from None
    known = {_plain(str(name)): str(name) for name in table.frame.columns}
    missing = [name for name in columns if _plain(name) not in known]
    if missing:
        raise FieldError(
            f"its gold table has no column {missing[0]!r}",
            f"its columns are {', '.join(known.values())}",
        )
    names = [known[_plain(name)] for name in columns]
    keys = set(names[:n_unique])
    reference = []
    for cells in zip(*(table.frame[name].tolist() for name in names), strict=True):
        filled = [
            (name, str(cell))
            for name, cell in zip(names, cells, strict=True)
            if cell is not None and str(cell).strip()
        ]
        if filled and filled[0][0] not in keys:
            row.note("a row of a gold table has no value in its key columns")
        if filled:
            reference.append(element(filled[0][1], (), filled[1:]))
    return reference


def _response(row: Fields) -> Iterator[Outside]:
    cells = {"response": row.answer("response")}
    if row.get("trial_idx") is not None:
        cells["variant"] = f"trial {row.text('trial_idx')}"
    yield Outside(cells, id=row.text("instance_id"))


WIDESEARCH = Profile(
    name="widesearch",
    about=f"WideSearch: JSON lines, the gold tables in {GOLD_FOLDER}/INSTANCE_ID.csv beside them",
    rule=TABLE,
    convert={"questions": _question, "responses": _response},
    fields={
        "questions": ("instance_id", "query", "evaluation"),
        "responses": ("instance_id", "response"),
    },
    optional=("language", "trial_idx"),
    examples={
        "questions": {
            "instance_id": "ws_en_900",
            "query": "Make a table of the ferries of Lake Orta: name, launch year.",
            "evaluation": '{"required": ["name", "launchyear"], "unique_columns": ["name"]}',
            "language": "en",
        },
        "responses": {
            "instance_id": "ws_en_900",
            "response": "| Name | Launch year |\n|---|---|\n| Azalea | 1996 |",
            "trial_idx": 0,
        },
    },
    becomes={
        "questions": "each row of the gold table: its first unique column, the other required "
        "columns as attributes",
        "responses": "the text as written, its Markdown table read as a list; trial_idx is the "
        "variant",
    },
)
"""The format."""
