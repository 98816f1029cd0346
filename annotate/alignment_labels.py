"""What people said of the alignment: whether an element stands beside the right reference element.

A rating keeps the verdict, the reasons and the comment; where an element belongs is read again from
the stored annotations, by the template of each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..study.anchored import is_first_blind
from .catalogue import Catalogue
from .controls import Answer
from .rules import decide, retest_times
from .template import load_template
from .units import graded

if TYPE_CHECKING:
    import pandas as pd

    from ..study import Study

__all__ = ["alignment_answers"]

_COLUMNS = ("item_id", "rater", "aligned", "beside", "belongs")


def alignment_answers(study: Study, sample_id: str | None = None) -> pd.DataFrame | None:
    """People's answers on the alignment, as :func:`accord.validate.agreement` takes them.

    Parameters
    ----------
    sample_id
        Only the items of this sample.

    Returns
    -------
    DataFrame
        One row an item and annotator who answered: ``item_id, rater, aligned`` (bool), ``beside``
        (the number, from 1, of the reference element that the alignment put it beside, 0 for none)
        and ``belongs`` (the number of the one that the person puts it beside, 0 for none, NaN where
        the person only said that the pair is wrong). None where nobody answered. On a page of pairs
        whoever gives a verdict and names no other reference element leaves it where it is. Answers
        of a retest, or given with a judge's verdict in sight, are left out.
    """
    import pandas as pd

    wanted = None
    if sample_id is not None:
        wanted = {item for item, _ in study.ledger.sample(sample_id).items}
    stored = study.ledger.annotations()
    if not stored:
        return None
    catalogue = Catalogue(study)
    decision = decide(stored, catalogue, retests=retest_times(study.ledger.samples()))
    numbers: Mapping[str, int] = {}
    rows: list[tuple[Any, ...]] = []
    for row in decision.ratings:
        answer = decision.answers.get((row.item_id, row.rater))
        if (
            answer is None
            or not is_first_blind(row)
            or (wanted is not None and row.item_id not in wanted)
        ):
            continue
        page = catalogue.template(*(row.guideline or "").split("@")[:2])
        if page is None or not {"alignment", "belongs"} & set(page.controls):
            continue
        numbers = numbers or _numbers(study)
        beside = numbers.get(row.item_id)
        if beside is None:
            continue
        belongs = _belongs(answer, beside, names_it="belongs" in page.controls)
        if belongs is not None:
            rows.append((row.item_id, row.rater, belongs == beside, beside, belongs))
    if not rows:
        return None
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    return frame.astype({"aligned": bool, "beside": "int64", "belongs": float})


def _belongs(answer: Answer, beside: int, *, names_it: bool) -> float | None:
    """The number of the reference element, NaN where not this one but none is named, None where
    nothing is said."""
    if answer.belongs is not None:
        return float(answer.belongs)
    if answer.alignment is not None:
        return float(beside) if answer.alignment == "YES" else math.nan
    return float(beside) if names_it else None


def _numbers(study: Study) -> dict[str, int]:
    """Item → the number of its reference element among its response's, 0 for none."""
    return {
        item_id: number
        for page in graded(study, load_template("response"))
        for item_id, number in zip(page.rows["pairs"], page.beside, strict=True)
    }
