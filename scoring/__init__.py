"""The scoring core: records, parsing, alignment, judges, metrics, recipes.

``parse -> align -> judge -> metrics``, each a pure function over plain records. The F1 that a judge
gives and the F1 that people give come from the same function; only the verdicts differ.
Imports none of the other folders. Public names are resolved on first use. Functions that are named
like their module are imported from it: ``from accord.scoring.parse import parse`` (likewise
``align`` and ``align_frame``), or from ``accord`` itself.
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {
    "AccordError": ".errors",
    "Aggregates": ".breakdown",
    "Alignment": ".align",
    "CORRECT": ".records",
    "Choice": ".choice_answers",
    "Counts": ".metrics",
    "Element": ".records",
    "Enumerated": ".knowledgeberg",
    "ExactJudge": ".judges",
    "FileJudge": ".judges",
    "INCORRECT": ".records",
    "Item": ".records",
    "Judge": ".judges",
    "Judgement": ".records",
    "ListQAScores": ".metrics",
    "MeanScores": ".averages",
    "MemoryReplies": ".replies",
    "OpenAIJudge": ".openai_judge",
    "PRF": ".metrics",
    "Pair": ".records",
    "Parsed": ".parse",
    "Prepared": ".score",
    "Rating": ".rating_reply",
    "Reasoned": ".knowledgeberg",
    "Recipe": ".recipes",
    "Relation": ".tuples",
    "RelationScore": ".tuples",
    "Reply": ".replies",
    "ReplyKey": ".replies",
    "ReplyStore": ".replies",
    "ResponseScore": ".score",
    "RougeJudge": ".judges",
    "RowScore": ".sciknoweval",
    "Sample": ".breakdown",
    "SciKnowEvalRecipe": ".sciknoweval",
    "SciKnowEvalScores": ".sciknoweval",
    "UNSURE": ".records",
    "Universe": ".universe",
    "UniverseRecipe": ".universe",
    "UniverseScore": ".universe",
    "aggregate": ".breakdown",
    "choice_accuracy": ".knowledgeberg",
    "f1_array": ".metrics",
    "judge_items": ".sciknoweval",
    "judge_universes": ".universe",
    "knowledge_of_wrong_answers": ".knowledgeberg",
    "knowledgeberg_scores": ".knowledgeberg",
    "listqa_scores": ".metrics",
    "make_judge": ".judges",
    "map_rating": ".rating_reply",
    "mean_scores": ".averages",
    "metric_of": ".sciknoweval_rows",
    "normalise": ".tokens",
    "normalise_name": ".languages",
    "pooled_relations": ".tuples",
    "precision_recall_f1": ".metrics",
    "prepare": ".score",
    "prepare_many": ".score",
    "prepare_universe": ".universe",
    "progress_bar": ".judge_progress",
    "read_choice": ".choice_answers",
    "read_rating": ".rating_reply",
    "read_reasoned": ".knowledgeberg",
    "read_reference": ".parse",
    "read_truth": ".choice_answers",
    "read_tuples": ".tuples",
    "read_verdict": ".verdict",
    "recipe": ".recipes",
    "refuse_few_shot": ".sciknoweval_rows",
    "relation_score": ".tuples",
    "rouge1_f1": ".tokens",
    "row_ids": ".sciknoweval_rows",
    "sciknoweval_figures": ".sciknoweval",
    "sciknoweval_scores": ".sciknoweval",
    "score_response": ".score",
    "score_row": ".sciknoweval",
    "tokenise": ".tokens",
    "two_way": ".breakdown",
    "universe_score": ".universe",
    "verdict_counts": ".metrics",
}

__all__ = [*sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
