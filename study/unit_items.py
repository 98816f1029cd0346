"""What people grade besides pairs: whole responses, parses, gold answers; their ids and facts.

The id of such an item is made from the template it was asked with and the texts it shows
(:func:`~accord.study.identity.unit_id`), so what it belongs to is found by making the ids again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..scoring.records import NO_SYSTEM
from ..templates import labelling
from .anchored import MARK
from .identity import hashed_system, response_id, unit_id
from .labelling_page import controls_of
from .ratings import Scale
from .records import Question, Response
from .shown_text import answer_text, reference_text

if TYPE_CHECKING:
    from .ledger import Ledger

__all__ = ["UNITS", "Graded", "declared_scale", "gold_id", "graded_of", "response_item_id"]

UNITS = ("response", "parse", "gold")
"""Units whose labels are ratings of their own, by the word their ids begin with."""


def gold_id(question: Question) -> str:
    """The id of a question's gold answer: another one when the reference changes."""
    return unit_id("gold", question.question_id, question.reference)


def response_item_id(unit: Literal["response", "parse"], template: str, response: Response) -> str:
    """The id under which a template asks about a response, or about how it was parsed."""
    whose = hashed_system(response.system, response.variant)
    text = answer_text(response) if unit == "response" else response.response
    return unit_id(unit, template, response.question_id, whose, text)


@dataclass(frozen=True, slots=True)
class Graded:
    """A graded item: what it belongs to, and the texts that are graded.

    ``reference`` is None where none is shown.
    """

    item_id: str
    question_id: str
    system: str
    variant: str
    response_id: str | None
    question: str
    reference: str | None
    predicted: str


def graded_of(ledger: Ledger, template: str, item_ids: Iterable[str]) -> dict[str, Graded]:
    """The items among ``item_ids`` that a template asks about and that are still in the study."""
    wanted = set(item_ids)
    units = {item.partition(":")[0] for item in wanted}
    questions = {question.question_id: question for question in ledger.questions()}
    found: dict[str, Graded] = {}
    if "gold" in units:
        for question in questions.values():
            item = gold_id(question)
            if item in wanted:
                found[item] = Graded(
                    item,
                    question.question_id,
                    NO_SYSTEM,
                    "",
                    None,
                    question.question,
                    None,
                    reference_text(question),
                )
    named: tuple[Literal["response", "parse"], ...] = ("response", "parse")
    kinds: list[Literal["response", "parse"]] = [unit for unit in named if unit in units]
    if not kinds:
        return found
    for response in ledger.responses(list(questions)):
        question = questions[response.question_id]
        for unit in kinds:
            item = response_item_id(unit, template, response)
            if item in wanted:
                found[item] = Graded(
                    item,
                    question.question_id,
                    response.system or NO_SYSTEM,
                    response.variant,
                    response_id(question.question_id, response.system, response.variant),
                    question.question,
                    reference_text(question) if unit == "response" else None,
                    answer_text(response),
                )
    return found


def declared_scale(study: Path, template: str, version: str) -> tuple[Scale, tuple[str, ...]]:
    """The scale of a template's verdict and its values in the page's order.

    An order of numbers (1 to 5) is an interval scale: a score is the mean of ratings, so their
    distances count, and the panel of numbers holds that of an order.

    Parameters
    ----------
    study
        The study's folder, which keeps people's own templates.
    template, version
        As tasks carry them.

    Returns
    -------
    tuple
        ``("nominal", ())`` where the template is not there any more.
    """
    folder: Traversable = files(labelling) / template
    if not folder.is_dir():
        folder = study / "templates" / f"{template}@{version.partition(MARK)[0]}"
    try:
        table = tomllib.loads((folder / "template.toml").read_text(encoding="utf-8"))
        controls = controls_of((folder / "config.xml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "nominal", ()
    roles = table.get("controls")
    name = roles.get("verdict") if isinstance(roles, Mapping) else None
    values = controls[name].values if name in controls else ()
    if table.get("scale") != "ordinal":
        return "nominal", values
    return "interval" if values and all(map(_is_number, values)) else "ordinal", values


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
