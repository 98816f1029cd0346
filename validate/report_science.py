"""SciKnowEval's overall figures for a report, from the scores that a study keeps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..scoring.breakdown import Sample, aggregate
from ..scoring.metrics import precision_recall_f1
from ..scoring.records import NO_SYSTEM

if TYPE_CHECKING:
    import pandas as pd

    from ..scoring.sciknoweval import SciKnowEvalRecipe

__all__ = ["science_systems"]

_COUNTS = ["relation_matched", "relation_predicted", "relation_reference"]


def science_systems(scores: pd.DataFrame, recipe: SciKnowEvalRecipe) -> Iterator[dict[str, Any]]:
    """The three overall figures of each judge and system, the one that is the score first.

    Parameters
    ----------
    scores
        As :meth:`accord.study.Study.scores` gives them.
    recipe
        Says which figure is the score, and whether relations are pooled.
    """
    keys = ["judge", "system", "variant"]
    for (judge, system, variant), part in scores.groupby(keys, sort=False, dropna=False):
        pooled: dict[tuple[str, str, str], float] = {}
        if recipe.relations == "pooled":
            relations = part[part["metric"] == "relations"]
            for (domain, level, task), of_task in relations.groupby(["domain", "level", "task"]):
                counts = [int(of_task[name].sum()) for name in _COUNTS]
                pooled[str(domain), str(level), str(task)] = precision_recall_f1(*counts).f1
        samples = [
            Sample(*row)
            for row in part[["domain", "level", "task", "score"]].itertuples(index=False, name=None)
        ]
        found = aggregate(samples, primary=recipe.aggregate, pooled=pooled)
        figures = {name: mean.value for name, mean in found.figures.items()}
        ordered = {found.primary: figures[found.primary], **figures}
        yield {
            "judge": judge,
            "system": "–" if system in (None, NO_SYSTEM) else system,
            **({"variant": variant} if variant else {}),
            "responses": len(part),
            "unscored": int(part["unscored"].sum()),
            **{name: value if math.isfinite(value) else None for name, value in ordered.items()},
        }
