"""Checks questions, responses and given pairs before anything of them is kept.

Each ``read_…`` takes a table and what the study already has, and returns the records that are new.
Every bad row is found and listed; a table with one bad row is refused whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..scoring.errors import AccordError, SettingsError
from ..scoring.records import NO_SYSTEM, content_sha256, item_id
from .intake_rows import Row, Rows, plain
from .ratings import OWN_MARKS
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

RESERVED = OWN_MARKS | frozenset(
    "item_id question_id question system variant response response_id rater kind rating status "
    "weight reference predicted aliases reference_index predicted_index similarity how alignment "
    "n_reference n_predicted content_sha256 reasons contested_predicted contested_reference".split()
)
"""Columns of accord's own tables: no stratum can have one of these names."""

Record = TypeVar("Record", Question, Response, GivenPair)


@dataclass(slots=True)
class Intake(Generic[Record]):
    """What a table holds: records that are new, how many were there already, unused columns."""

    new: list[Record] = field(default_factory=list)
    already: int = 0
    unused: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    def take(self, row: Row, record: Record, known: Record | None, what: str) -> None:
        """Put a record with the new ones, or count it as there already, or refuse its change."""
        if known is None:
            self.new.append(record)
        elif known == record or _stripped(known) == record:
            self.already += 1
        else:
            row.bad(
                f"{what} is in the study with another content ({_change(known, record)})",
                cure="what is in a study stays: give the changed one a new id, or make a new study",
            )


def _stripped(known: Record) -> Record:
    """A record of an earlier accord, which kept the blanks around the texts of its fields."""
    return replace(known, fields={name: text.strip() for name, text in known.fields.items()})


def _change(known: Any, record: Any) -> str:
    for name in known.__slots__:
        if getattr(known, name) != getattr(record, name):
            return f"{name} differs"
    return "it differs"


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
    rows = Rows(table, kept)
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
                if all(element.aside for element in read_reference(reference).elements):
                    row.bad("the reference has no element")
            except AccordError as error:
                row.bad(f"reference: {error}")
        if question_id is not None:
            row.once("question_id", question_id, seen)
            if question is not None and texts.get(question_id, question) != question:
                row.bad(f"question_id {question_id!r} has another question in the study's pairs")
        if not row.good or question_id is None or question is None:
            continue
        record = Question(question_id, question, plain(reference), fields)
        out.take(row, record, known.get(question_id), f"question_id {question_id!r}")
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
        twice, a changed response, a list that no run can read, a number of tokens that is none.
    """
    from ..scoring.answers import without_blanks
    from ..scoring.parse import read_reference

    _check_strata(table, strata)
    rows = Rows(table, strata)
    out: Intake[Response] = Intake(unused=_unused(table, "responses", strata))
    seen: dict[tuple[str, str, str], int] = {}
    blanks = 0
    for row in rows:
        question_id, system = row.id("question_id"), row.id("system")
        variant = row.name("variant")
        tokens = row.count("output_tokens")
        value = row.value("response")
        if isinstance(value, list):
            kept = without_blanks(value)
            blanks += len(value) - len(kept)
            value = kept
            try:
                read_reference(value)
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
            response="" if value is None else plain(value),
            variant=variant,
            response_is_json=isinstance(value, list),
            output_tokens=tokens,
            fields=row.fields(),
        )
        out.take(row, record, known.get(key), f"the response of {system!r} to {question_id!r}")
    if blanks:
        out.notes.append(f"{blanks} blank element{'s' * (blanks > 1)} of answers left out")
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
    rows = Rows(table, strata)
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
        system = row.name("system") or NO_SYSTEM
        variant = row.name("variant")
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
        predicted = "" if predicted is None else plain(predicted)
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
        out.take(row, record, known.get(identity), f"item_id {identity!r}")
    rows.finish()
    return out


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
