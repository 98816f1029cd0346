"""Labels of whole responses, parses and gold answers as tables that other commands read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..scoring.errors import SettingsError, StudyError
from ..scoring.parse import read_reference
from ..scoring.records import Element
from ..study.readers import Table
from ..study.weights import OF_RETEST, weights_of
from .catalogue import Catalogue
from .controls import Answer
from .handout import whole_questions
from .question_sample import QUESTION, gold_id
from .rules import decide
from .template import Template
from .units import as_list

if TYPE_CHECKING:
    import pandas as pd

    from ..study import Study
    from ..study.records import Question, RatingRow
    from .tasks import Graded

__all__ = ["audit_table", "corrected_elements", "unit_labels"]

_COLUMNS = (
    "item_id",
    "question_id",
    "system",
    "rater",
    "kind",
    "rating",
    "weight",
    "reasons",
    "comment",
)


def unit_labels(
    study: Study, template: str = "rating", sample_id: str | None = None
) -> pd.DataFrame:
    """People's labels made with a template for whole responses, parses or gold answers.

    Parameters
    ----------
    template
        Its name; a user's own one is found in the study.
    sample_id
        Only the labels of this sample's tasks.

    Returns
    -------
    DataFrame
        Long form, one row an item and rater: ``item_id, question_id, system, rater, kind, rating,
        weight, reasons, comment``. ``rating`` is None for a skipped item; ``weight`` is 1 /
        inclusion probability of the question. Labels of retests have raters ``NAME#2``.

    Raises
    ------
    SettingsError
        When there is no such template, or it grades pairs (those are the study's own ratings).
    """
    import pandas as pd

    page = _page(study, template)
    rows = [
        {
            "item_id": one.item_id,
            "question_id": one.question_id,
            "system": one.system,
            "rater": row.rater,
            "kind": row.kind,
            "rating": row.rating,
            "weight": weight,
            "reasons": "; ".join(row.reasons) or None,
            "comment": row.comment,
        }
        for one, row, weight in _rated(study, page, sample_id)
    ]
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype({"rating": object, "weight": float})


def audit_table(study: Study, template: str = "gold_audit", sample_id: str | None = None) -> Table:
    """People's verdicts on the study's gold answers, as ``accord audit`` reads them.

    Returns
    -------
    Table
        One row a gold answer and reviewer: ``question_id, gold_id, rater, kind, verdict, weight,
        error_type`` (several parted by ``; ``), ``marks`` (as ``3 wrong``, elements from 1),
        ``missing`` (one a line), ``corrected`` (a JSON list, read by the study's parser; None where
        the answer was left as it is), ``comment``. Skipped answers and repeats are left out.

    Raises
    ------
    StudyError
        When nobody has checked a gold answer yet.
    SettingsError
        As :func:`unit_labels`; also when the template's verdicts are not those of an audit.
    """
    import pandas as pd

    page = _page(study, template)
    if page.unit != "gold" or page.scale != "audit":
        raise SettingsError(
            f"the template {template} does not audit gold answers", cure="use gold_audit"
        )
    questions = {question.question_id: question for question in study.ledger.questions()}
    answers = _answers(study, page)
    rows = []
    for one, row, weight in _rated(study, page, sample_id):
        if row.rating is None or row.source == OF_RETEST:
            continue
        answer = answers.get((one.item_id, row.rater), Answer(row.rating))
        fixed = corrected_elements(answer.corrected, questions[one.question_id])
        marks = "; ".join(f"{place + 1} {mark}" for place, mark in answer.marks)
        rows.append(
            {
                "question_id": one.question_id,
                "gold_id": one.item_id,
                "rater": row.rater,
                "kind": row.kind,
                "verdict": row.rating,
                "weight": repr(weight),
                "error_type": "; ".join(row.reasons) or None,
                "marks": marks or None,
                "missing": "\n".join(answer.missing) or None,
                "corrected": None if fixed is None else json.dumps(fixed, ensure_ascii=False),
                "comment": row.comment,
            }
        )
    if not rows:
        raise StudyError(
            f"nobody has checked a gold answer of {study.path} yet",
            cure=f"draw questions (accord sample {study.path} --for audit --unit question), hand"
            " them out (accord export … --template gold_audit), and import the labels",
        )
    frame = pd.DataFrame(rows, dtype=object)
    digest = hashlib.sha256(frame.to_json(orient="records").encode()).hexdigest()
    return Table(frame, study.path, study.path.name, digest, range(2, len(rows) + 2))


def corrected_elements(text: str | None, question: Question) -> list[Any] | None:
    """A corrected answer as a reference: JSON values of its elements.

    None where nothing was corrected: no text, or the gold answer as it stood there. Aliases, which
    a person can't edit, stay with an element whose text is unchanged.
    """
    gold = read_reference(question.reference).elements
    if text is None or _plain(text) == _plain(as_list(gold)):
        return None
    known = {element.text: element.aliases for element in gold}
    found = read_reference(text).elements
    return [
        Element(e.text, aliases=known.get(e.text, ()), attributes=e.attributes).to_dict()
        for e in found
    ] or None


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _page(study: Study, template: str) -> Template:
    """The template of that name in its newest version that the study can read."""
    versions = [row.template_version for row in study.ledger.exported() if row.template == template]
    catalogue = Catalogue(study)
    pages = [catalogue.template(template, version) for version in reversed(versions)]
    page = next((page for page in pages if page is not None), None)
    if page is None:
        raise SettingsError(
            f"no task of {study.path} was made with the template {template!r}",
            cure=f"hand some out: accord export {study.path} SAMPLE --template {template}",
        )
    if page.unit in ("pair", "pairs"):
        raise SettingsError(
            f"the template {template} grades pairs, whose labels are the study's own ratings",
            cure=f"use accord agree {study.path}",
        )
    return page


def _rated(
    study: Study, page: Template, sample_id: str | None
) -> list[tuple[Graded, RatingRow, float]]:
    """What was graded, its latest rating by each rater, and its weight."""
    catalogue = Catalogue(study)
    handed = {row.item_id for row in study.ledger.exported(sample_id) if row.template == page.name}
    found = []
    for row in study.ledger.rating_rows():
        one = catalogue.find(row.item_id, page) if row.item_id in handed else None
        if one is not None:
            found.append((one, row))
    weights = _weights(study, page, {one.question_id for one, _ in found}, sample_id)
    return [(one, row, weights.get(one.question_id, 1.0)) for one, row in found]


def _weights(
    study: Study, page: Template, questions: set[str], sample_id: str | None
) -> Mapping[str, float]:
    """Question → 1 / inclusion probability in the samples that were handed out."""
    names = {row.sample_id for row in study.ledger.exported(sample_id) if row.template == page.name}
    gold = {
        question.question_id: gold_id(question)
        for question in study.ledger.questions()
        if question.question_id in questions
    }
    of = weights_of(study.ledger, set(gold.values()), sample_id).of
    weights = {question: of[item] for question, item in gold.items() if item in of}
    for name in sorted(names):
        sample = study.ledger.sample(name)
        if sample.settings.get("unit") != QUESTION:
            for question, chance in whole_questions(study, sample, page).items():
                # In several samples: the one in which it was likeliest.
                weights[question] = min(weights.get(question, float("inf")), 1 / chance)
    return weights


def _answers(study: Study, page: Template) -> Mapping[tuple[str, str], Answer]:
    """The whole answer behind each rating made with a template."""
    catalogue = Catalogue(study)
    stored = [one for one in study.ledger.annotations() if one.item_id.startswith(f"{page.unit}:")]
    return decide(stored, catalogue).answers
