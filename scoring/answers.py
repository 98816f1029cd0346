"""An answer and its reference as they are read: elements, state, what the recipe leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import InputError
from .metrics import State
from .parse import Parsed, parse, read_reference
from .recipes import Recipe
from .records import Element
from .refusal import is_refusal
from .tokens import normalise

__all__ = ["answer_state", "as_text", "read_both", "scored_elements", "without_blanks"]


def read_both(
    question_id: str, reference: Any, response: Any
) -> tuple[tuple[Element, ...], Parsed]:
    """The reference's elements without asides, and the response as it is read.

    Either may be text, a list, or parsed already; a response of None is an empty one.

    Raises
    ------
    InputError
        When the reference has no element or a value can't be read; the question is named.
    """
    try:
        gold = reference if isinstance(reference, Parsed) else read_reference(reference)
        if isinstance(response, Parsed):
            parsed = response
        elif isinstance(response, str) or response is None:
            parsed = parse(response or "")
        else:
            parsed = read_reference(without_blanks(response))
    except InputError as error:
        raise InputError(f"question {question_id!r}: {error.message}", cure=error.cure) from None
    golds = tuple(element for element in gold.elements if not element.aside)
    if not golds:
        raise InputError(
            f"question {question_id!r} has no reference element",
            cure="give it at least one, or leave the question out",
        )
    return golds, parsed


def without_blanks(answer: Any) -> Any:
    """A list that a system answered without what is blank in it; anything else as it is."""
    if not isinstance(answer, (list, tuple)):
        return answer
    return [one for one in answer if not _is_blank(one)]


def _is_blank(value: Any) -> bool:
    text = value.get("text") if isinstance(value, Mapping) else value
    return isinstance(text, str) and not text.strip()


def scored_elements(
    parsed: Parsed, response: str, recipe: Recipe
) -> tuple[State, tuple[Element, ...], int]:
    """The state of an answer, the elements that the recipe scores, how many it collapsed.

    A refusal has none; asides and repetitions are left out where the recipe says so.
    """
    state = answer_state(response, parsed)
    elements = [] if state == "abstained" else list(parsed.elements)
    if recipe.aside == "drop":
        elements = [element for element in elements if not element.aside]
    if recipe.duplicates == "count":
        return state, tuple(elements), 0
    first: dict[tuple[str, ...], Element] = {}
    for element in elements:
        values = (normalise(value) for _, value in element.attributes)
        first.setdefault((normalise(element.text), *values), element)
    return state, tuple(first.values()), len(elements) - len(first)


def answer_state(response: str, parsed: Parsed) -> State:
    """Whether an answer was given, is blank, is a refusal, or holds no elements to read."""
    if not response.strip() and not parsed.elements:
        return "empty"
    if is_refusal(response, parsed.elements, parsed.marker):
        return "abstained"
    return "given" if any(not element.aside for element in parsed.elements) else "unreadable"


def as_text(parsed: Parsed) -> str:
    """A list that came already read, as text for Relaxed-Recall; a bar between two elements.

    A blank between them would let the end of one and the beginning of the next make a third.
    """
    return "\n|\n".join(element.display for element in parsed.elements)
