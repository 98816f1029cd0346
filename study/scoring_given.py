"""Scoring of pairs that came paired: one row is one reference and one predicted element.

Nothing says how many elements the answer had, so the figure of a response is the share of its
pairs that are correct, and is F1 only where the file brought the numbers of elements.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..scoring.align import align
from ..scoring.metrics import precision_recall_f1, verdict_counts
from ..scoring.records import Element, Item, Pair
from . import columns
from .identity import response_id
from .judging import Source, judged, rating
from .means import MeansTable
from .records import GivenPair

if TYPE_CHECKING:
    from ..scoring.recipes import Recipe
    from .ledger import Ledger
    from .tables import TablesWriter

__all__ = ["given_chunks", "score_given", "similarity"]

CHUNK = 10_000


def given_chunks(given: Sequence[GivenPair]) -> Iterator[list[GivenPair]]:
    by_question: dict[str, list[GivenPair]] = defaultdict(list)
    for pair in given:
        by_question[pair.question_id].append(pair)
    chunk: list[GivenPair] = []
    for pairs in by_question.values():
        if chunk and len(chunk) + len(pairs) > CHUNK:
            yield chunk
            chunk = []
        chunk += pairs
    if chunk:
        yield chunk


def similarity(pair: GivenPair, recipe: Recipe) -> float:
    alignment = align(
        [Element(pair.reference or "", aliases=pair.aliases)],
        [Element(pair.predicted)],
        tokenizer=recipe.tokenizer,
        stem=recipe.stem,
        method="positional",
    )
    return alignment.pairs[0].similarity


def score_given(
    ledger: Ledger,
    recipe: Recipe,
    writer: TablesWriter,
    source: Source,
    pairs: Sequence[GivenPair],
    similarities: Sequence[float],
    means: MeansTable,
) -> None:
    items = [
        Item(
            item_id=pair.item_id,
            question_id=pair.question_id,
            question=pair.question,
            reference=pair.reference,
            predicted=pair.predicted,
            aliases=pair.aliases,
            system=pair.system,
            content_sha256=pair.content_sha256,
        )
        for pair in pairs
    ]
    verdicts = judged(source, items)
    groups: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        groups[(pair.question_id, pair.system, pair.variant)].append(place)
    rows = []
    for (question_id, system, variant), places in groups.items():
        members = [pairs[place] for place in places]
        row: dict[str, Any] = {
            "judge": source.judge.name,
            "question_id": question_id,
            "system": system,
            "variant": variant,
            "response_id": response_id(question_id, system, variant),
            "unit": "pairs",
            "state": "given" if any(pair.predicted.strip() for pair in members) else "empty",
            "n_pairs": len(members),
            "recipe": recipe.name,
            "recipe_sha256": recipe.sha256,
            "judge_sha256": source.sha256,
            **_given_figures(
                recipe,
                members,
                [verdicts[place].verdict for place in places],
                [similarities[place] for place in places],
            ),
        }
        rows.append(row)
        means.add_given(source.judge.name, row)
    ledger.add_ratings([rating(source, verdict) for verdict in verdicts])
    writer.add(f"scores/{source.judge.name}", rows, columns.scores_schema())


def _given_figures(
    recipe: Recipe,
    pairs: Sequence[GivenPair],
    verdicts: Sequence[str | None],
    similarities: Sequence[float],
) -> dict[str, Any]:
    """The share correct; precision, recall and F1 only where the numbers of elements are known."""
    shown = [Pair(0, 0, similarity, "given") for similarity in similarities]
    counts = verdict_counts(shown, verdicts, recipe)
    figures: dict[str, Any] = {
        "correct": counts.correct,
        "usable": counts.n_predicted,
        "unscored": counts.unscored,
        "unsure": counts.unsure,
        "share_correct": counts.correct / counts.n_predicted if counts.n_predicted else None,
    }
    known = {(pair.n_predicted, pair.n_reference) for pair in pairs}
    n_predicted, n_reference = next(iter(known))
    if len(known) == 1 and n_predicted is not None and n_reference is not None:
        figures["n_predicted"], figures["n_reference"] = n_predicted, n_reference
        missing = len(pairs) - counts.n_predicted
        if min(n_predicted, n_reference) >= len(pairs):
            prf = precision_recall_f1(counts.correct, n_predicted - missing, n_reference - missing)
            figures["llm_judge_precision"] = prf.precision
            figures["llm_judge_recall"] = prf.recall
            figures["llm_judge_f1"] = prf.f1
    return figures
