"""The columns of the study's tables, and the rows that go in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ..scoring.records import NO_SYSTEM, Element, Pair
from .identity import response_id
from .records import GivenPair, Question, Response

if TYPE_CHECKING:
    import pyarrow as pa

    from ..scoring.score import Prepared

__all__ = [
    "element_rows",
    "elements_of",
    "elements_schema",
    "given_rows",
    "pair_rows",
    "pairs_schema",
    "scores_schema",
    "table_schema",
]

_SCORE_TEXT = (
    "judge",
    "question_id",
    "system",
    "variant",
    "response_id",
    "unit",
    "state",
    "marker",
    "recipe",
    "recipe_sha256",
    "judge_sha256",
)
_SCORE_COUNTS = (
    "n_reference",
    "n_predicted",
    "n_collapsed",
    "n_pairs",
    "ties",
    "contested_predicted",
    "contested_reference",
    "unscored",
    "unsure",
    "extra",
    "output_tokens",
)
_FIGURES = (
    "correct",
    "usable",
    "share_correct",
    "llm_judge_f1",
    "llm_judge_precision",
    "llm_judge_recall",
    "llm_judge_f1_ordered",
    "rouge_f1",
    "rouge_precision",
    "rouge_recall",
    "relaxed_recall",
    "relaxed_precision",
    "format_correctness",
)


@cache
def elements_schema() -> pa.Schema:
    """One row an element. ``side`` is ``reference`` (then system is null) or ``predicted``."""
    import pyarrow as pa

    text, texts = pa.string(), pa.list_(pa.string())
    return pa.schema(
        [
            ("question_id", text),
            ("system", text),
            ("variant", text),
            ("response_id", text),
            ("side", text),
            ("index", pa.int64()),
            ("text", text),
            ("head", text),
            ("section", text),
            ("aside", pa.bool_()),
            ("aliases", texts),
            ("attribute_keys", texts),
            ("attribute_values", texts),
        ]
    )


@cache
def pairs_schema() -> pa.Schema:
    """One row a pair. ``item_id`` is null where no predicted element is there to be graded.

    ``alignment`` is ``main``; ``ordered`` for a pair that only the positional alignment of an
    ordered question has; the name of an aligner for one that only it makes. An element of a main
    pair is ``contested`` if its best match has another partner.
    """
    import pyarrow as pa

    text, whole = pa.string(), pa.int64()
    return pa.schema(
        [
            ("item_id", text),
            ("question_id", text),
            ("system", text),
            ("variant", text),
            ("response_id", text),
            ("question", text),
            ("reference", text),
            ("aliases", pa.list_(text)),
            ("predicted", text),
            ("reference_index", whole),
            ("predicted_index", whole),
            ("similarity", pa.float64()),
            ("how", text),
            ("alignment", text),
            ("contested_predicted", pa.bool_()),
            ("contested_reference", pa.bool_()),
            ("n_reference", whole),
            ("n_predicted", whole),
            ("content_sha256", text),
        ]
    )


@cache
def scores_schema() -> pa.Schema:
    """One row a response and judge: names, counts, then the figures (null where undefined).

    ``unit`` is ``response``, or ``pairs`` where the pairs came paired: then ``share_correct`` is
    the figure, and F1 is there only if the numbers of elements are known.
    """
    return table_schema(_SCORE_TEXT, _SCORE_COUNTS, _FIGURES)


def table_schema(text: Sequence[str], counts: Sequence[str], figures: Sequence[str]) -> pa.Schema:
    """A scores table's columns: names, then whole numbers, then figures (null where undefined)."""
    import pyarrow as pa

    return pa.schema(
        [
            *((name, pa.string()) for name in text),
            *((name, pa.int64()) for name in counts),
            *((name, pa.float64()) for name in figures),
        ]
    )


def element_rows(
    question: Question, reference: Sequence[Element], prepared: Sequence[tuple[Response, Prepared]]
) -> Iterator[dict[str, Any]]:
    """The elements of a question's reference and of its responses, asides included."""
    yield from elements_of(reference, question_id=question.question_id, side="reference")
    for response, one in prepared:
        yield from elements_of(
            one.parsed.elements,
            question_id=question.question_id,
            system=response.system,
            variant=response.variant,
            response_id=response_id(question.question_id, response.system, response.variant),
            side="predicted",
        )


def elements_of(elements: Sequence[Element], **names: Any) -> Iterator[dict[str, Any]]:
    """Elements as rows of their table; ``names`` say whose they are."""
    for index, element in enumerate(elements):
        yield {
            **names,
            "index": index,
            "text": element.text,
            "head": element.head,
            "section": element.section,
            "aside": element.aside,
            "aliases": list(element.aliases),
            "attribute_keys": [key for key, _ in element.attributes],
            "attribute_values": [value for _, value in element.attributes],
        }


def pair_rows(question: Question, response: Response, one: Prepared) -> Iterator[dict[str, Any]]:
    """The pairs of a response: the recipe's alignment, then what only the others have."""
    items = {item.item_id: item for item in one.items}
    common = {
        "question_id": question.question_id,
        "system": response.system,
        "variant": response.variant,
        "response_id": response_id(question.question_id, response.system, response.variant),
        "question": question.question,
        "n_reference": len(one.reference),
        "n_predicted": len(one.predicted),
    }
    seen: set[str] = set()
    predicted, reference = one.contested
    alignments = [("main", one.pairs), ("ordered", _ordered(one))]
    alignments += [(name, other.pairs) for name, other in one.others.items()]
    for alignment, pairs in alignments:
        main = alignment == "main"
        for pair in pairs:
            identity = one.item_id(pair)
            if identity is None:
                if not main or pair.reference is None:
                    continue
                gold = one.reference[pair.reference]
                shown: dict[str, Any] = {
                    "reference": gold.display,
                    "aliases": list(gold.aliases),
                }
            elif identity in seen:
                continue
            else:
                seen.add(identity)
                item = items[identity]
                shown = {
                    "item_id": identity,
                    "reference": item.reference,
                    "aliases": list(item.aliases),
                    "predicted": item.predicted,
                    "content_sha256": item.content_sha256,
                }
            yield {
                **common,
                "aliases": [],
                **shown,
                "reference_index": pair.reference,
                "predicted_index": pair.predicted,
                "similarity": pair.similarity,
                "how": pair.how,
                "alignment": alignment,
                "contested_predicted": pair.predicted in predicted if main else None,
                "contested_reference": pair.reference in reference if main else None,
            }


def _ordered(one: Prepared) -> tuple[Pair, ...]:
    return () if one.ordered is None else one.ordered.pairs


def given_rows(
    pairs: Sequence[GivenPair], similarities: Sequence[float]
) -> Iterator[Mapping[str, Any]]:
    """Pairs that came paired, as rows of the same table."""
    for pair, similarity in zip(pairs, similarities, strict=True):
        system = pair.system or NO_SYSTEM
        yield {
            "item_id": pair.item_id,
            "question_id": pair.question_id,
            "system": system,
            "variant": pair.variant,
            "response_id": None
            if system == NO_SYSTEM
            else response_id(pair.question_id, system, pair.variant),
            "question": pair.question,
            "reference": pair.reference,
            "aliases": list(pair.aliases),
            "predicted": pair.predicted,
            "similarity": similarity,
            "how": "given",
            "alignment": "main",
            "n_reference": pair.n_reference,
            "n_predicted": pair.n_predicted,
            "content_sha256": pair.content_sha256,
        }
