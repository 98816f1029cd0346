"""Checks questions, responses and given pairs before anything of them is kept.

Each ``read_…`` takes a table and what the study already has, and returns the records that are new.
Every bad row is found and listed; a table with one bad row is refused whole.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..scoring.errors import AccordError, BadRow, InputError, SettingsError
from ..scoring.records import NO_SYSTEM, Element, content_sha256, item_id
from .database import storable
from .records import GivenPair, Question, Response

if TYPE_CHECKING:
    from .readers import Table

__all__ = ["COLUMNS", "RESERVED", "Intake", "read_pairs", "read_questions", "read_responses"]

COLUMNS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "questions": (
        ("question_id", "question", "reference"),
        ("ordered", "type", "category", "source_url", "as_of"),
    ),
    "responses": (("question_id", "system", "response"), ("variant", "output_tokens")),
    "pairs": (
        ("question_id", "question", "reference", "predicted"),
        ("item_id", "system", "variant", "aliases", "n_reference", "n_predicted"),
    ),
}
"""Each role's required and optional columns."""

RESERVED = frozenset(
    "item_id question_id question system variant response response_id rater kind rating status "
    "weight reference predicted aliases reference_index predicted_index similarity how alignment "
    "n_reference n_predicted content_sha256 reasons comment guideline source judge".split()
)
"""Columns of accord's own tables: no stratum can have one of these names."""

_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
_CURE = "correct it and add the file again; nothing was added"

Record = TypeVar("Record", Question, Response, GivenPair)


@dataclass(slots=True)
class Intake(Generic[Record]):
    """What a table holds: records that are new, how many were there already, unused columns."""

    new: list[Record] = field(default_factory=list)
    already: int = 0
    unused: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def read_questions(
    table: Table, known: Mapping[str, Question], texts: Mapping[str, str]
) -> Intake[Question]:
    """Questions of a table; every other column is kept as a field.

    Parameters
    ----------
    known
        The study's questions by id.
    texts
        The questions of the study's given pairs by id.

    Raises
    ------
    InputError
        With every bad row: blank or doubled id, blank question, a reference without an element,
        an id that the study has with another content.
    """
    from ..scoring.parse import read_reference

    kept = [name for name in _names(table) if name not in RESERVED]
    rows = _Rows(table, kept)
    out: Intake[Question] = Intake(
        unused=tuple(n for n in _names(table) if n in RESERVED - set(COLUMNS["questions"][0]))
    )
    seen: dict[str, int] = {}
    for row in rows:
        question_id, question = row.id("question_id"), row.text("question")
        reference = row.value("reference")
        fields = row.fields()
        if "ordered" in fields:
            fields["ordered"] = row.flag("ordered", fields["ordered"])
        if reference is None:
            row.bad("the reference is blank")
        else:
            try:
                if not read_reference(reference).elements:
                    row.bad("the reference has no element")
            except AccordError as error:
                row.bad(f"reference: {error}")
        if question_id is not None:
            row.once("question_id", question_id, seen)
            if question is not None and texts.get(question_id, question) != question:
                row.bad(f"question_id {question_id!r} has another question in the study's pairs")
        if not row.good or question_id is None or question is None:
            continue
        record = Question(question_id, question, _plain(reference), fields)
        row.file(record, known.get(question_id), f"question_id {question_id!r}", out)
    rows.finish()
    return out


def read_responses(
    table: Table,
    known: Mapping[tuple[str, str, str], Response],
    question_ids: frozenset[str],
    strata: Sequence[str] = (),
) -> Intake[Response]:
    """Responses of a table. A blank response is an empty answer and is kept.

    Parameters
    ----------
    known
        The study's responses by (question, system, variant).
    question_ids
        The study's questions.
    strata
        Further columns to keep.

    Raises
    ------
    InputError
        With every bad row: unknown question, blank system, the same question, system and variant
        twice, a changed response, a number of tokens that is none.
    """
    _check_strata(table, strata)
    rows = _Rows(table, strata)
    out: Intake[Response] = Intake(unused=_unused(table, "responses", strata))
    seen: dict[tuple[str, str, str], int] = {}
    for row in rows:
        question_id, system = row.id("question_id"), row.id("system")
        variant = row.optional("variant") or ""
        tokens = row.count("output_tokens")
        value = row.value("response")
        if isinstance(value, list):
            try:
                for element in value:
                    Element.from_value(element)
            except AccordError as error:
                row.bad(f"response: {error}")
        elif isinstance(value, Mapping):
            row.bad("the response is an object; give text or a list")
        if question_id is not None and question_id not in question_ids:
            row.bad(f"question_id {question_id!r} is not in the study")
        if question_id is None or system is None:
            continue
        key = (question_id, system, variant)
        row.once("the response to", key, seen)
        if not row.good:
            continue
        record = Response(
            question_id=question_id,
            system=system,
            response="" if value is None else _plain(value),
            variant=variant,
            response_is_json=isinstance(value, list),
            output_tokens=tokens,
            fields=row.fields(),
        )
        row.file(record, known.get(key), f"the response of {system!r} to {question_id!r}", out)
    rows.finish()
    return out


def read_pairs(
    table: Table,
    known: Mapping[str, GivenPair],
    questions: Mapping[str, str],
    strata: Sequence[str] = (),
) -> Intake[GivenPair]:
    """Given pairs: each row one reference element beside one predicted element.

    ``reference`` may be a JSON list; its first text is shown, the others are aliases of that one
    element. A blank ``predicted`` is an empty answer. A given ``item_id`` is kept.

    Parameters
    ----------
    known
        The study's given pairs by item id.
    questions
        The texts of the study's questions by id.
    strata
        Further columns to keep.

    Raises
    ------
    InputError
        With every bad row: blank id, question or reference, doubled item id, an id that the study
        has with another content, one question id with two texts.
    """
    _check_strata(table, strata)
    rows = _Rows(table, strata)
    out: Intake[GivenPair] = Intake(unused=_unused(table, "pairs", strata))
    seen: dict[str, int] = {}
    texts = {name: (text, "in the study") for name, text in questions.items()}
    texts.update({p.question_id: (p.question, "in the study") for p in known.values()})
    equal: Counter[tuple[str, ...]] = Counter()
    given_ids = "item_id" in _names(table)
    for row in rows:
        question_id, question = row.id("question_id"), row.text("question")
        reference, aliases = row.reference()
        predicted = row.value("predicted")
        if isinstance(predicted, (list, Mapping)):
            row.bad("predicted is no text; a row is one element")
        system = row.optional("system") or NO_SYSTEM
        variant = row.optional("variant") or ""
        n_reference, n_predicted = row.count("n_reference"), row.count("n_predicted")
        identity = row.id("item_id") if given_ids else ""
        if identity:
            row.once("item_id", identity, seen)
        if question_id is not None and question is not None:
            text, where = texts.setdefault(question_id, (question, f"on line {row.line}"))
            if text != question:
                row.bad(f"question_id {question_id!r} has another question {where}")
        if not row.good or question_id is None or question is None or reference is None:
            continue
        predicted = "" if predicted is None else _plain(predicted)
        if not identity:
            key = (question_id, system, variant, reference, predicted)
            identity = item_id(
                unit="pair",
                question_id=question_id,
                system=f"{system}\x1f{variant}" if variant else system,
                reference_index=None,
                reference=reference,
                predicted_index=None,
                predicted=predicted,
                occurrence=equal[key],
            )
            equal[key] += 1
        record = GivenPair(
            item_id=identity,
            question_id=question_id,
            question=question,
            reference=reference,
            predicted=predicted,
            content_sha256=content_sha256(question, reference, aliases, predicted),
            aliases=aliases,
            system=system,
            variant=variant,
            n_reference=n_reference,
            n_predicted=n_predicted,
            fields=row.fields(),
        )
        row.file(record, known.get(identity), f"item_id {identity!r}", out)
    rows.finish()
    return out


class _Rows:
    """The rows of a table one after the other, and what is wrong with them."""

    def __init__(self, table: Table, kept: Sequence[str]) -> None:
        self.table = table
        self.columns = {name: table.frame[name].tolist() for name in _names(table)}
        required = {name for need, _ in COLUMNS.values() for name in need}
        self.kept = [name for name in kept if name not in required]
        self.problems: list[BadRow] = []
        self.cures: list[str] = []

    def __iter__(self) -> Iterator[_Row]:
        for place, line in enumerate(self.table.lines):
            yield _Row(self, place, line)

    def finish(self) -> None:
        if self.problems:
            raise InputError.from_rows(self.problems, cure=self.cures[0] if self.cures else _CURE)


class _Row:
    """One row: reads its cells and notes what is wrong."""

    def __init__(self, rows: _Rows, place: int, line: int) -> None:
        self._rows, self._place, self.line = rows, place, line
        self.good = True

    def bad(self, reason: str, cure: str | None = None) -> None:
        self.good = False
        self._rows.problems.append(BadRow(self._rows.table.name, self.line, reason))
        if cure:
            self._rows.cures.append(cure)

    def value(self, name: str) -> Any:
        cells = self._rows.columns.get(name)
        return None if cells is None else cells[self._place]

    def optional(self, name: str) -> str | None:
        value = self.value(name)
        return None if value is None else _plain(value)

    def text(self, name: str) -> str | None:
        """A text that must be there and be no list or object."""
        value = self.value(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            self.bad(f"{name} is blank")
        elif not isinstance(value, str):
            self.bad(f"{name} is no text")
        else:
            return storable(value)
        return None

    def id(self, name: str) -> str | None:
        """An id: a text on one line, without control characters."""
        value = self.text(name)
        if value is not None and (len(value) > 500 or not value.isprintable()):
            self.bad(f"{name} {value[:40]!r} holds a control character or is very long")
            return None
        return value and value.strip()

    def count(self, name: str) -> int | None:
        """A whole number from 0, or nothing."""
        value = self.value(name)
        if value is None:
            return None
        try:
            number = float(value)
            if number >= 0 and number == int(number) and number < 2**53:
                return int(number)
        except (TypeError, ValueError, OverflowError):
            pass
        self.bad(f"{name} {str(value)[:40]!r} is no whole number from 0")
        return None

    def flag(self, name: str, value: str) -> str:
        if value.strip().lower() not in (*_TRUE, *_FALSE):
            self.bad(f"{name} {value[:40]!r} is neither true nor false")
        return "true" if value.strip().lower() in _TRUE else "false"

    def fields(self) -> dict[str, str]:
        found = ((name, self.optional(name)) for name in self._rows.kept)
        return {name: value for name, value in found if value is not None}

    def reference(self) -> tuple[str | None, tuple[str, ...]]:
        """One element: its text and its aliases, without repetitions."""
        value, more = self.value("reference"), self.value("aliases")
        try:
            first, *others = [Element.from_value(one) for one in _list(value)] or [Element("")]
            texts = [*first.aliases]
            for element in (*others, *(Element.from_value(one) for one in _list(more))):
                texts += [element.display, *element.aliases]
        except AccordError as error:
            self.bad(f"reference: {error}")
            return None, ()
        shown = storable(first.display)
        if not shown.strip():
            self.bad("the reference is blank")
            return None, ()
        aliases = dict.fromkeys(storable(text) for text in texts if text.strip())
        return shown, tuple(alias for alias in aliases if alias != shown)

    def once(self, what: str, key: Any, seen: dict[Any, int]) -> None:
        """Note a key that stands in the file twice."""
        if key in seen:
            shown = " ".join(part for part in key if part) if isinstance(key, tuple) else repr(key)
            self.bad(f"{what} {shown} stands on line {seen[key]} already")
        else:
            seen[key] = self.line

    def file(self, record: Record, known: Record | None, what: str, out: Intake[Record]) -> None:
        """Put a record with the new ones, or count it as there already, or refuse its change."""
        if known is None:
            out.new.append(record)
        elif known == record:
            out.already += 1
        else:
            self.bad(
                f"{what} is in the study with another content ({_change(known, record)})",
                cure="what is in a study stays: give the changed one a new id, or make a new study",
            )


def _change(known: Any, record: Any) -> str:
    for name in known.__slots__:
        if getattr(known, name) != getattr(record, name):
            return f"{name} differs"
    return "it differs"


def _list(value: Any) -> list[Any]:
    """A cell as a list: JSON text of a list is one, any other value is a list of one."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            read = json.loads(value)
        except ValueError:
            return [value]
        return read if isinstance(read, list) else [value]
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return storable(value)
    return storable(json.dumps(value, ensure_ascii=False))


def _names(table: Table) -> list[str]:
    return [str(name) for name in table.frame.columns]


def _unused(table: Table, role: str, strata: Sequence[str]) -> tuple[str, ...]:
    required, optional = COLUMNS[role]
    return tuple(n for n in _names(table) if n not in (*required, *optional, *strata))


def _check_strata(table: Table, strata: Sequence[str]) -> None:
    for name in strata:
        if name in RESERVED:
            raise SettingsError(
                f"--strata names {name!r}, a column of accord's own", cure="rename it with --map"
            )
        if name not in _names(table):
            from .readers import missing_column

            raise missing_column(table.name, name, _names(table), "--strata")
