"""The questions of a study with their responses, some at a time; a question is never split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .records import Question, Response

if TYPE_CHECKING:
    from .ledger import Ledger

__all__ = ["Work", "chunks"]

Work = list[tuple[Question, list[Response]]]


def chunks(ledger: Ledger, size: int) -> Iterator[Work]:
    """The questions in order, with their responses, about ``size`` responses at a time."""
    counts = dict(ledger.query("SELECT question_id, count(*) FROM response GROUP BY question_id"))
    chunk: list[Question] = []
    held = 0
    for question in ledger.questions():
        count = counts.get(question.question_id, 0)
        if chunk and held + count > size:
            yield _with_responses(ledger, chunk)
            chunk, held = [], 0
        chunk.append(question)
        # A question without responses has a reference to write, so it is not free.
        held += max(count, 1)
    if chunk:
        yield _with_responses(ledger, chunk)


def _with_responses(ledger: Ledger, questions: Sequence[Question]) -> Work:
    found: dict[str, list[Response]] = defaultdict(list)
    for response in ledger.responses([question.question_id for question in questions]):
        found[response.question_id].append(response)
    return [(question, found[question.question_id]) for question in questions]
