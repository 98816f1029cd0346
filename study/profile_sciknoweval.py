"""SciKnowEval: options, yes or no, relations and free text in one record, without an id."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..scoring.errors import InputError
from ..scoring.sciknoweval_rows import ZERO_SHOT, few_shot_rows, metric_of, question_of, row_ids
from .profile_fields import FieldError, Fields, Outside, shown
from .profile_shape import Profile, element

__all__ = ["SCIKNOWEVAL", "tuples"]

_TYPES = (
    "mcq-4-choices",
    "mcq-2-choices",
    "true_or_false",
    "relation_extraction",
    "filling",
    "open-ended-qa",
)
_OPEN, _CLOSE = "([", ")]"


def tuples(text: str) -> list[str] | None:
    """What stands in the outer brackets of a gold answer: one text a tuple.

    A tuple is not taken apart: names hold commas and brackets, so where a part ends can't be known.
    Returns None where the text is no run of bracketed tuples.

    Examples
    --------
    >>> tuples("(levodopa,dyskinesias), (1,25(OH)2D3, pain)")
    ['levodopa,dyskinesias', '1,25(OH)2D3, pain']
    >>> tuples("There is none.") is None
    True
    """
    found: list[str] = []
    start = depth = 0
    for at, char in enumerate(text):
        if char in _OPEN:
            if depth == 0:
                start = at + 1
            depth += 1
        elif char in _CLOSE:
            depth -= 1
            if depth < 0:
                return None
            if depth == 0:
                found.append(text[start:at].strip())
        elif depth == 0 and char not in ",; \n\t":
            return None
    return found if found and depth == 0 and all(found) else None


def _options(row: Fields) -> list[tuple[str, str]]:
    choices = row.get("choices")
    if not isinstance(choices, dict):
        raise FieldError(
            f"choices is no object but {shown(choices)}", 'give {"text": […], "label": […]}'
        )
    inner = Fields({f"choices.{name}": choices.get(name) for name in ("text", "label")})
    texts, labels = inner.texts("choices.text"), inner.texts("choices.label")
    if len(texts) != len(labels):
        raise FieldError(
            f"choices has {len(texts)} texts and {len(labels)} labels", "give one label a text"
        )
    return list(zip(labels, texts, strict=True))


def _reference(row: Fields, kind: str, options: list[tuple[str, str]]) -> list[Any]:
    if kind.startswith("mcq"):
        letter = row.text("answerKey")
        texts = [text for label, text in options if label == letter]
        if len(texts) != 1:
            raise FieldError(
                f"answerKey {shown(letter)} is none of the choices",
                f"it is one of {', '.join(label for label, _ in options) or '(no choices)'}",
            )
        return [element(letter, texts)]
    answer = row.text("answer")
    if kind != "relation_extraction":
        return [answer]
    found = tuples(answer)
    if found is None:
        row.note("an answer of relation_extraction is no run of tuples (kept as one element)")
        return [answer]
    return found


def _question(row: Fields) -> Iterator[Outside]:
    kind = row.text("type")
    if kind not in _TYPES:
        raise FieldError(f"type {shown(kind)} is unknown", f"types are {', '.join(_TYPES)}")
    options = _options(row)
    row.text("question")
    for name in ("prompt.default", "prompt"):
        value = row.get(name)
        if value is not None and not isinstance(value, (str, dict)):
            raise FieldError(f"{name} is no text but {shown(value)}", 'give {"default": "…"}')
    if isinstance(row.get("prompt.default"), dict):
        raise FieldError("prompt.default is an object", "give it the instruction as a text")
    _refuse_few_shot(row)
    cells: dict[str, Any] = {
        "question": question_of({name: row.get(name) for name in ("prompt", "question")}),
        "reference": _reference(row, kind, options),
        "type": kind,
        **({"options": json.dumps(dict(options), ensure_ascii=False)} if options else {}),
        **({"answer": row.text("answer")} if kind == "relation_extraction" else {}),
        **_metric(row),
        **row.strata(
            "domain",
            level="details.level",
            task="details.task",
            subtask="details.subtask",
            origin="details.source",
        ),
    }
    yield _named(row, cells)


def _metric(row: Fields) -> dict[str, str]:
    """What scores the row, as a column to draw and to part by; nothing for a task unknown."""
    try:
        return {"metric": metric_of({name: row.get(name) for name in _HASHED})}
    except InputError:
        return {}


def _refuse_few_shot(row: Fields) -> None:
    shots = few_shot_rows([row.row])
    if shots:
        raise FieldError(shots[0].reason, ZERO_SHOT)


def _response(row: Fields) -> Iterator[Outside]:
    _refuse_few_shot(row)
    yield _named(row, {"response": row.answer("response")})


def _named(row: Fields, cells: Mapping[str, Any]) -> Outside:
    """The row under the id that the benchmark's own figures give it, too."""
    own = next((name for name in _IDS if row.get(name) is not None), None)
    if own is not None:
        return Outside(cells, id=row.text(own))
    _options(row)  # an id is made of the options: they must be some
    return Outside(cells, record=row_ids([{name: row.get(name) for name in _HASHED}])[0])


_IDS = ("question_id", "id")
_HASHED = ("domain", "details", "type", "question", "answerKey", "answer", "choices")
_RECORD = ("question", "choices", "answerKey", "type", "domain", "details", "answer")
_EXAMPLE = {
    "prompt": {"default": "Choose the right option."},
    "question": "Which river flows through Basel?",
    "choices": {"text": ["Rhine", "Rhone"], "label": ["A", "B"]},
    "answerKey": "A",
    "type": "mcq-2-choices",
    "domain": "Physics",
    "details": {"level": "L1", "task": "sample", "subtask": "rivers", "source": "made up"},
    "answer": "",
}

SCIKNOWEVAL = Profile(
    name="sciknoweval",
    about="SciKnowEval: the rows of raw_data; a prediction is the same row with response",
    rule="one answer, except relation_extraction: all-of, each tuple is an element",
    convert={"questions": _question, "responses": _response},
    fields={"questions": _RECORD, "responses": (*_RECORD, "response")},
    optional=("prompt.default", "id"),
    examples={"questions": _EXAMPLE, "responses": {**_EXAMPLE, "response": "A"}},
    becomes={
        "questions": "options: the letter, the option's text an alias; each tuple as one text; "
        "else the answer as one element. The benchmark's own figures: a study of recipe "
        "sciknoweval",
        "responses": "the text as written; joined by the whole record. Figures without a study: "
        "accord score FILE --recipe sciknoweval, which gives rows the same ids",
    },
)
"""The format; list figures are meant for its relation extraction only."""
