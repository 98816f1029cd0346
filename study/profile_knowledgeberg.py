"""KnowledgeBerg's CSV files: enumeration and multiple-choice questions, columns named by the user.

Its columns are not described in public, so each is named with ``--map``. One file may hold both
kinds: a row with a reference is an enumeration, a row with a key is multiple choice. Where one row
holds both, the file is brought in twice, each time with the columns of one kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from .profile_fields import FieldError, Fields, Outside
from .profile_shape import ALL_OF, Profile

__all__ = ["KNOWLEDGEBERG"]

_CHOICE = ("options", "seed_id", "needed")
_FIELDS = ("language", "domain", "type", "category", "as_of")


def _question(row: Fields) -> Iterator[Outside]:
    question = row.text("question")
    key, value = row.get("key"), row.get("reference")
    if key is None or key == "":
        listed = isinstance(value, list) or (
            isinstance(value, str) and value.lstrip().startswith("[")
        )
        cells = {
            "question": question,
            "reference": row.texts("reference") if listed else row.text("reference"),
        }
    else:
        if value is not None and value != "":
            raise FieldError(
                "it has a reference and a key", "name the columns of one kind with --map at a time"
            )
        cells = {"question": question, "reference": row.text("key"), "key": row.text("key")}
        cells |= row.strata(*_CHOICE)
    cells |= row.strata(*_FIELDS)
    yield Outside(cells, key=(question,))


def _response(row: Fields) -> Iterator[Outside]:
    cells = {"response": row.answer("response"), **row.strata("system", "variant", "output_tokens")}
    key = () if "question_id" in row.names else (row.text("question"),)
    yield Outside(cells, key=key)


KNOWLEDGEBERG = Profile(
    name="knowledgeberg-csv",
    about="KnowledgeBerg: one CSV a language, enumeration and multiple-choice questions; columns "
    "named with --map",
    rule=f"{ALL_OF} (a JSON list, or list text)",
    convert={"questions": _question, "responses": _response},
    fields={"questions": ("question", "reference"), "responses": ("question", "response")},
    optional=("key", *_CHOICE, *_FIELDS, "system", "variant", "output_tokens"),
    examples={
        "questions": {"Frage": "Which rivers flow through Basel?", "Antwort": '["Rhine", "Birs"]'},
        "questions (multiple choice)": {
            "Frage": "Which is the longest river through Basel?",
            "Loesung": "B",
            "Optionen": '{"A": "Birs", "B": "Rhine"}',
            "Ursprung": "id of the enumeration question",
            "Gebraucht": '["Birs", "Rhine"]',
        },
        "responses": {"question": "Which rivers flow through Basel?", "response": "Rhine; Wiese"},
    },
    becomes={
        "questions": "a JSON list: an element each; any other text is read as list text; a key: "
        "multiple choice, for recipe knowledgeberg",
        "responses": "the text as written",
    },
    unconfirmed="the columns of the files, which are not described in public: say "
    "--map question=COLUMN,reference=COLUMN, or key=COLUMN,options=COLUMN for multiple choice",
    by_mapping=("question", "reference"),
    instead={"reference": "key", "question": "question_id"},
)
"""The format; its columns are named by the user."""
