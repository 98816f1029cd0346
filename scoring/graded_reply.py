"""What a judge says of a whole response: a rating, whether it declines, or how it compares.

==============  ===================  ==============================================================
asked           label                read by
==============  ===================  ==============================================================
``rating``      ``1`` to ``5``       :func:`~accord.scoring.rating_reply.read_rating`; ``4.5`` is
                                     kept, and the recipe says what becomes of it
``refusal``     ``Yes``, ``No``      :func:`~accord.scoring.choice_answers.read_truth`
``components``  ``A`` to ``E``       :func:`~accord.scoring.choice_answers.read_choice`
==============  ===================  ==============================================================

A judge may quote what it grades ("the answer says {"answer": "No"}") before it concludes; where the
last line is another label than the one that was read, the reply has several.

A label is itself a reply that is read as that label, so labels can stand where replies are wanted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

from . import verdict
from .choice_answers import read_choice, read_truth
from .rating_reply import NO_RATING, OUT_OF_RANGE, read_rating

__all__ = ["ASKED", "ASK_AGAIN", "FIELDS", "LABELS", "Asked", "read_graded"]

Asked = Literal["rating", "refusal", "components"]
ASKED: tuple[Asked, ...] = get_args(Asked)

LABELS: Mapping[Asked, tuple[str, ...]] = {
    "rating": ("1", "2", "3", "4", "5"),
    "refusal": ("Yes", "No"),
    "components": ("A", "B", "C", "D", "E"),
}
"""The labels that a judge is offered."""

FIELDS: Mapping[Asked, str] = {"rating": "rating", "refusal": "answer", "components": "answer"}
"""The key of the label in a JSON reply."""

ASK_AGAIN = verdict.ASK_AGAIN | {NO_RATING, OUT_OF_RANGE}
"""Replies that could not be read and are asked for once more."""


def read_graded(
    asked: Asked, text: str | None, *, finish_reason: str | None = None
) -> tuple[str | None, str | None]:
    """The label that a reply gives, or the reason why it gives none.

    Parameters
    ----------
    asked
        What the judge was asked.
    text
        The reply as it came.
    finish_reason
        Why the model stopped, as its endpoint says it.

    Examples
    --------
    >>> read_graded("rating", "**Rating:** 5")
    ('5', None)
    >>> read_graded("rating", "Rating: 10")
    (None, 'out of range')
    >>> read_graded("refusal", '{"answer": "Yes"}')
    ('Yes', None)
    """
    stopped = verdict.stopped_early(finish_reason)
    if stopped is not None:
        return None, stopped
    if asked == "rating":
        rating = read_rating(text)
        return (None, rating.reason) if rating.value is None else (f"{rating.value:.12g}", None)
    choice = read_truth(text) if asked == "refusal" else read_choice(text, LABELS[asked])
    if choice.label is not None and _concludes(text or "", LABELS[asked]) not in (
        None,
        choice.label,
    ):
        return None, verdict.SEVERAL
    return choice.label, choice.reason


_LAST_WORD = re.compile(r"(?:[^:=：]{0,60}[:=：])?[\W_]*([^\W_]+)[\W_]*")


def _concludes(text: str, labels: tuple[str, ...]) -> str | None:
    """The label that is all of the last line, or all that its colon announces; None without."""
    answer = verdict.as_seen(verdict.without_reasoning(text) or "")
    lines = [line for line in answer.splitlines() if any(map(str.isalnum, line))]
    word = _LAST_WORD.fullmatch(lines[-1]) if lines else None
    known = {label.casefold(): label for label in labels}
    return known.get(word[1].casefold()) if word else None
