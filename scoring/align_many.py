"""Alignment of the responses of a study: as :func:`accord.scoring.align.align` gives it, in one go.

Embeddings are made for all texts together; the methods that have a form for many are computed in
it. The pairs are the same either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .align import Aligner, Alignment, Compared, align, compared_text, reference_texts
from .records import Element
from .tokens import normalise

__all__ = ["align_many"]

MANY = 64
"""From so many responses on the form for many pays."""

Lists = Sequence[tuple[Sequence[Element], Sequence[Element]]]


def align_many(
    lists: Lists, *, method: Aligner, compared: Compared = "text", **settings: Any
) -> list[Alignment]:
    """The alignment of each response.

    Parameters
    ----------
    lists
        Reference and predicted elements of each response; one object for the reference of
        responses that share it.
    method, compared, settings
        As for :func:`accord.scoring.align.align`.
    """
    if method == "embedding":
        from .embedding import embeddings

        embeddings().begin(_texts(lists, compared))
    elif method in ("optimal", "positional") and len(lists) >= MANY:
        from .align_frame import align_frame

        places = {id(gold): k for k, gold in enumerate({id(g): g for g, _ in lists}.values())}
        golds = list({id(gold): gold for gold, _ in lists}.values())
        found = align_frame(
            golds,
            [(places[id(gold)], predicted) for gold, predicted in lists],
            method=method,
            compared=compared,
            **settings,
        )
        return list(found.alignments())
    return [
        align(gold, predicted, method=method, compared=compared, **settings)
        for gold, predicted in lists
    ]


def _texts(lists: Lists, compared: Compared) -> Iterator[str]:
    """What the aligner will ask for: texts without an equal in their reference, and references."""
    for gold, predicted in lists:
        theirs = [text for element in gold for text in reference_texts(element, compared)]
        equal = {normalise(text) for text in theirs}
        ours = [compared_text(element, compared) for element in predicted]
        other = [text for text in ours if normalise(text) not in equal]
        if other:
            yield from theirs
            yield from other
