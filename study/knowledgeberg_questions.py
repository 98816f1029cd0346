"""KnowledgeBerg's two kinds of question in a study: which is which, and what a file must say.

An enumeration question has a reference, its universe. A multiple-choice question has a key: the
label of the right option, which is its reference in the study too. Its fields are ``key``,
``options`` (a JSON object: label → text), ``seed_id`` (the enumeration question that it was made
from) and ``needed`` (a JSON list of elements of that universe). The field ``metric`` says which
kind a question is, so that one kind can be drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.errors import AccordError, BadRow, InputError, SettingsError
from .json_cells import json_list, json_texts
from .readers import Table, read_table
from .records import Question

if TYPE_CHECKING:
    from ..scoring.languages import Articles
    from ..scoring.study_recipes import AnyRecipe

__all__ = [
    "ALL",
    "COLUMNS",
    "LABELS",
    "ChoiceQuestion",
    "choice_question",
    "is_choice",
    "knowledgeberg_table",
    "place_of",
    "refuse_choices",
]

ALL = "all"
"""Stands for the domain or the language where questions have no such column."""
UNIVERSE, CHOICE = "universe", "choice"
"""What the field ``metric`` says: an enumeration question, a multiple-choice question."""
LABELS = ("A", "B", "C", "D")
"""The labels of a multiple-choice question whose options are not given."""
COLUMNS = (
    ("question_id", "question"),
    ("reference", "key", "options", "seed_id", "needed", "domain", "language"),
)
"""Required and optional columns of a file of questions."""


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """What a multiple-choice question says besides its text."""

    key: str
    options: Mapping[str, str]
    seed_id: str
    needed: tuple[str, ...] | None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that were offered."""
        return tuple(self.options) or LABELS


def is_choice(question: Question) -> bool:
    """Whether a question of a KnowledgeBerg study is multiple choice."""
    return bool(question.fields.get("key"))


def choice_question(row: Mapping[str, Any]) -> ChoiceQuestion:
    """The parts of a multiple-choice question, from a row of a file or a question's fields.

    Raises
    ------
    InputError
        When options or needed elements are of another form.
    """
    options = json_texts(row.get("options"), "options", cure='write {"A": "…", "B": "…"}')
    needed = json_list(row.get("needed"), "needed", cure='write ["…", "…"]')
    return ChoiceQuestion(
        key=_text(row.get("key")),
        options=options,
        seed_id=_text(row.get("seed_id")),
        needed=None if needed is None else tuple(needed),
    )


def place_of(question: Question, name: str) -> str:
    """A question's domain or language."""
    return question.fields.get(name) or ALL


def knowledgeberg_table(
    source: Table | Path | str,
    known: Sequence[Question],
    articles: Articles,
    *,
    mapping: Mapping[str, str] | None = None,
) -> Table:
    """A file of questions of both kinds as one whose every row has a reference.

    Rows that repeat a question word for word (a file with a row an answer has many) are left out.

    Parameters
    ----------
    known
        The study's questions, among which a seed question may be.
    articles
        As the recipe has it: needed elements are found as names are compared.

    Raises
    ------
    InputError
        With every row that is neither kind, or both; whose key is no option; whose options or
        needed elements can't be read; that needs an element which its universe does not have.
    """
    if isinstance(source, Table):
        table = source
    else:
        table = read_table(source, mapping=mapping, required=COLUMNS[0], optional=COLUMNS[1])
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    bad: list[BadRow] = []
    seen: dict[str, dict[str, Any]] = {}
    choices: list[tuple[int, str, ChoiceQuestion, str]] = []
    universes = {
        q.question_id: (q.reference, place_of(q, "language")) for q in known if not is_choice(q)
    }
    for line, row in _rows(table):
        identity = _text(row.get("question_id"))
        if identity and seen.setdefault(identity, row) is not row and seen[identity] == row:
            continue
        made = dict(row)
        try:
            language = _language(row)
            found = _kind(row)
            if found is None:
                made |= {"key": None, "metric": UNIVERSE}
                universes.setdefault(identity, (row["reference"], language))
            else:
                made |= {"reference": found.key, "key": found.key, "metric": CHOICE}
                choices.append((line, identity, found, language))
        except AccordError as error:
            bad.append(BadRow.of(table.name, line, error))
            continue
        rows.append(made)
        lines.append(line)
    waiting = [
        (None, q.question_id, choice_question(q.fields), place_of(q, "language"))
        for q in known
        if is_choice(q)
    ]
    bad += _unknown_elements(table.name, [*choices, *waiting], universes, articles)
    if bad:
        raise InputError.from_rows(
            sorted(bad, key=lambda row: row.line or 0), cure="correct these rows or leave them out"
        )
    return _with_rows(table, rows, lines)


def refuse_choices(recipe: AnyRecipe, table: Table) -> None:
    """Refuse multiple-choice questions of a format where the recipe scores lists.

    Raises
    ------
    SettingsError
        When there are any: their key would be scored as a list of one element.
    """
    if recipe.name == "knowledgeberg" or "key" not in table.frame.columns:
        return
    if any(table.column("key")):
        raise SettingsError(
            f"{table.name}: multiple-choice questions need a study with recipe 'knowledgeberg', "
            f"and this one has {recipe.name!r}",
            cure="make one: accord init STUDY --recipe knowledgeberg",
        )


def _kind(row: Mapping[str, Any]) -> ChoiceQuestion | None:
    """The parts of a multiple-choice row; None for an enumeration.

    A row with options and no key has it as its reference.
    """
    reference, key = row.get("reference"), _text(row.get("key"))
    blank = reference is None or reference == ""
    if not blank and key and _text(reference) != key:
        raise InputError("give a reference (an enumeration) or a key (multiple choice)")
    if blank and not key:
        raise InputError("it has neither a reference (an enumeration) nor a key (multiple choice)")
    if not key and not _text(row.get("options")):
        return None
    found = choice_question({**row, "key": key or _text(reference)})
    if found.key not in found.labels:
        raise InputError(f"the key {found.key!r} is none of {', '.join(found.labels)}")
    return found


def _language(row: Mapping[str, Any]) -> str:
    for name in ("domain", "language"):
        if name in row and not _text(row[name]):
            raise InputError(f"{name} is blank")
    return _text(row.get("language")) or ALL


def _unknown_elements(
    name: str,
    choices: Sequence[tuple[int | None, str, ChoiceQuestion, str]],
    universes: Mapping[str, tuple[Any, str]],
    articles: Articles,
) -> Iterator[BadRow]:
    """Needed elements that the seed question's universe does not have, where that is there."""
    from ..scoring.knowledgeberg import element_places
    from ..scoring.languages import normalise_name
    from ..scoring.parse import read_reference

    for line, identity, found, language in choices:
        if not found.needed or found.seed_id not in universes:
            continue
        reference, own = universes[found.seed_id]
        if own != language:
            continue
        try:
            elements = read_reference(reference).elements
        except AccordError:
            continue  # the intake says what is wrong with it
        places = element_places(elements, language, articles)
        for text in found.needed:
            if normalise_name(text, language, articles=articles) not in places:
                yield BadRow(
                    name,
                    line,
                    f"question {identity!r} needs {text!r}, which is no element of "
                    f"{found.seed_id!r}",
                )


def _with_rows(table: Table, rows: Sequence[Mapping[str, Any]], lines: Sequence[int]) -> Table:
    import pandas as pd

    names = dict.fromkeys(
        [*(str(name) for name in table.frame.columns), "reference", "key", "metric"]
    )
    if not any(row.get("key") for row in rows):
        del names["key"]
    data = {name: [row.get(name) for row in rows] for name in names}
    return replace(table, frame=pd.DataFrame(data, dtype=object), lines=list(lines))


def _rows(table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    names = [str(name) for name in table.frame.columns]
    for line, row in zip(table.lines, table.frame.itertuples(index=False, name=None), strict=True):
        yield line, dict(zip(names, row, strict=True))


def _text(value: Any) -> str:
    return "" if value is None else value.strip() if isinstance(value, str) else str(value)
