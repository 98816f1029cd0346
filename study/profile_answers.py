"""Formats whose gold is not a plain list: one answer, interchangeable answers, labelled facts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .profile_fields import FieldError, Fields, LeftOut, Outside, shown
from .profile_shape import ANY_OF, ONE, TEXT, Profile

__all__ = ["ANSWER_PROFILES"]

_ONE_ELEMENT = 'describe the file in a mapping file with list = "any-of": one element with aliases'
_FACTS = {"S": "CORRECT", "NS": "INCORRECT"}


def _simpleqa_question(row: Fields) -> Iterator[Outside]:
    problem = row.text("problem")
    cells: dict[str, Any] = {"question": problem, "reference": [row.text("answer")]}
    metadata = row.get("metadata")
    if isinstance(metadata, str):
        try:  # the published CSV holds a Python dictionary as text
            metadata = ast.literal_eval(metadata) if len(metadata) < 100_000 else None
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise FieldError(
                f"metadata {shown(metadata)} is no dictionary", "leave it as it was published"
            ) from None
    if isinstance(metadata, dict):
        cells |= Fields(metadata).strata("topic", "answer_type")
    yield Outside(cells, key=(problem,))


def _problem_response(row: Fields) -> Iterator[Outside]:
    yield Outside({"response": row.answer("response")}, key=(row.text("problem"),))


def _deepsearch_question(row: Fields) -> Iterator[Outside]:
    from ..scoring.parse import read_reference

    problem, answer, kind = row.text("problem"), row.text("answer"), row.text("answer_type")
    if kind not in ("Single Answer", "Set Answer"):
        raise FieldError(
            f"answer_type is {shown(kind)}", "answer_type is 'Single Answer' or 'Set Answer'"
        )
    if kind == "Set Answer" and len(read_reference(answer).elements) == 1:
        row.note("a Set Answer was read as one element (a mapping file may say separator)")
    cells: dict[str, Any] = {
        "question": problem,
        "reference": answer if kind == "Set Answer" else [answer],
        "type": kind,
        **row.strata(category="problem_category"),
    }
    yield Outside(cells, key=(problem,))


def _facts(row: Fields) -> Iterator[tuple[str, str, Any]]:
    """Place, text and label of each fact that people wrote down and labelled."""
    if row.get("annotations") is None:
        raise LeftOut("annotations is null: the answer was not labelled")
    for where, sentence in row.objects("annotations"):
        if sentence.get("human-atomic-facts") is None:
            continue
        for at, (_, fact) in enumerate(sentence.objects("human-atomic-facts")):
            place = f"{where}.human-atomic-facts[{at}]"
            label = fact.get("label")
            if label not in ("S", "NS", "IR"):
                raise FieldError(
                    f"{place}.label is {shown(label)}", "a fact's label is S, NS or IR"
                )
            number = where[where.index("[") + 1 : -1]
            yield f"{number}.{at}", fact.inner(place, "text"), label


def _factscore_pairs(row: Fields) -> Iterator[Outside]:
    topic, question = row.text("topic"), row.text("input")
    for place, text, _ in _facts(row):
        cells = {
            "question": question,
            "reference": topic,
            "predicted": text,
            "place": place,
        }
        yield Outside(cells, key=(question, topic))


def _factscore_ratings(row: Fields) -> Iterator[Outside]:
    topic, question = row.text("topic"), row.text("input")
    for place, _, label in _facts(row):
        if label == "IR":
            row.note("a fact is irrelevant (IR) and has no verdict")
            continue
        cells = {"rater": "factscore", "kind": "annotator", "rating": _FACTS[label]}
        yield Outside({**cells, "place": place}, key=(question, topic))


ANSWER_PROFILES = (
    Profile(
        name="loft-anyof",
        about="LOFT's NQ and the like: answers are names of one answer",
        rule=ANY_OF,
        fields={"questions": ("qid", "query_text", "answers")},
        examples={
            "questions": {
                "qid": "7002",
                "query_text": "Which river flows through Basel?",
                "answers": ["Rhine", "the Rhine", "Rhein"],
            }
        },
        refused=(
            "its answers are interchangeable (any-of), and a list score would want all of them",
            _ONE_ELEMENT,
        ),
    ),
    Profile(
        name="truthfulqa",
        about="TruthfulQA: correct_answers and incorrect_answers to one question",
        rule=ANY_OF,
        fields={"questions": ("question", "best_answer", "correct_answers")},
        examples={
            "questions": {
                "question": "What happens if you swallow a cherry stone?",
                "best_answer": "It passes through you",
                "correct_answers": ["It passes through you", "Nothing in particular"],
                "incorrect_answers": ["A tree grows in you"],
            }
        },
        refused=(
            "any one of its correct_answers is right (any-of), and a list score would want all "
            "of them",
            _ONE_ELEMENT,
        ),
    ),
    Profile(
        name="simpleqa",
        about="SimpleQA: CSV with problem, answer and metadata",
        rule=ONE,
        convert={"questions": _simpleqa_question, "responses": _problem_response},
        fields={"questions": ("problem", "answer"), "responses": ("problem", "response")},
        optional=("metadata",),
        examples={
            "questions": {
                "metadata": "{'topic': 'Geography', 'answer_type': 'Place'}",
                "problem": "Which river flows through Basel?",
                "answer": "Rhine",
            },
            "responses": {"problem": "Which river flows through Basel?", "response": "The Rhine."},
        },
        becomes={
            "questions": "answer: the only element; topic and answer_type are strata",
            "responses": "the text as written",
        },
        unconfirmed="a file of predictions: none is published, so problem and response",
    ),
    Profile(
        name="deepsearchqa",
        about="DeepSearchQA: CSV with problem, problem_category, answer and answer_type",
        rule=f"{TEXT} where answer_type is Set Answer; one element where it is Single Answer",
        convert={"questions": _deepsearch_question, "responses": _problem_response},
        fields={
            "questions": ("problem", "answer", "answer_type"),
            "responses": ("problem", "response"),
        },
        optional=("problem_category",),
        examples={
            "questions": {
                "problem": "Which rivers flow through Basel?",
                "problem_category": "Geography",
                "answer": "Rhine, Birs, Wiese",
                "answer_type": "Set Answer",
            },
            "responses": {
                "problem": "Which rivers flow through Basel?",
                "response": "- Rhine\n- Wiese",
            },
        },
        becomes={
            "questions": "a Set Answer is read as list text, a Single Answer is one element",
            "responses": "the text as written",
        },
        unconfirmed="how the answers of a Set Answer are separated (check with accord parse), "
        "and a file of predictions",
    ),
    Profile(
        name="factscore",
        about="FActScore: labelled JSON lines with the facts that people took from an answer",
        rule="no list: each fact is judged alone, beside the topic whose article is the source",
        convert={"pairs": _factscore_pairs, "ratings": _factscore_ratings},
        fields={
            "pairs": ("input", "topic", "annotations"),
            "ratings": ("input", "topic", "annotations"),
        },
        examples={
            "pairs": {
                "input": "Tell me about Ada Muster.",
                "output": "Ada Muster is a rower from Basel.",
                "topic": "Ada Muster",
                "annotations": [
                    {
                        "text": "Ada Muster is a rower from Basel.",
                        "is-relevant": True,
                        "human-atomic-facts": [
                            {"text": "Ada Muster is a rower.", "label": "S"},
                            {"text": "Ada Muster is from Basel.", "label": "NS"},
                        ],
                    }
                ],
            }
        },
        becomes={
            "pairs": "each fact is an item, the topic beside it",
            "ratings": "S is CORRECT, NS is INCORRECT, by the annotator 'factscore'; IR has no "
            "verdict and is counted; the pairs of the same file and system come first",
        },
        refused=(
            "it has no list of wanted answers, so neither questions nor responses can be made",
            "bring it in --as pairs, then --as ratings",
        ),
    ),
)
"""The formats, in the order they are listed."""
