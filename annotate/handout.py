"""What of a sample a template asks about: its items, or the responses or questions they belong to.

A sample of whole questions is a sample of their responses and gold answers too, with the same
probabilities; a sample of single items says with which probability a response is looked at only
for itself, so it can't be handed out by response.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..scoring.errors import SettingsError, StudyError
from ..scoring.records import Item
from ..scoring.study_recipes import list_recipe
from ..study.identity import system_label
from .disputes import disputed, mixed
from .question_sample import QUESTION, gold_id
from .tasks import Graded, graded_pair
from .template import Template
from .units import graded

if TYPE_CHECKING:
    from ..study import Study
    from ..study.records import Sample

__all__ = ["of_sample", "whole_questions"]


def of_sample(study: Study, sample: Sample, page: Template, items: Sequence[Item]) -> list[Graded]:
    """What the sample's tasks of a template are, in the order they are handed out.

    Parameters
    ----------
    items
        The sample's items as they are in the study, in its order.

    Raises
    ------
    SettingsError
        When the template is for whole responses or questions and the sample has only some of the
        items of a question; when it shows an alignment, and the study's recipe makes none.
    StudyError
        When there is nothing to hand out.
    """
    if page.unit == "pair":
        found = (
            [one.task for one in disputed(study, sample, items)]
            if page.kind == "adjudicated"
            else [graded_pair(item) for item in items]
        )
        if not items:
            raise StudyError(
                f"sample {sample.sample_id!r} has no items, only questions",
                cure="name a sample of items, or draw one"
                if page.kind == "adjudicated"
                else "use a template for whole responses or gold answers, or draw items",
            )
        if not found:
            raise StudyError(
                f"people left no item of sample {sample.sample_id!r} open",
                cure="import the labels of two or more people first",
            )
        return found
    if page.unit == "pairs":
        # Its page shows an alignment, and a benchmark's own recipe makes none.
        list_recipe(study.settings.recipe(), f"the template {page.name}")
    chances = whole_questions(study, sample, page)
    systems = _systems(sample)
    found = [
        one
        for one in graded(study, page, set(chances))
        if page.unit == "gold" or not systems or one.system in systems
    ]
    if not found:
        needs = "pairs that name a system, or responses" if page.unit == "pairs" else "responses"
        raise StudyError(
            f"sample {sample.sample_id!r} has nothing for the template {page.name}",
            cure=f"it is for {needs}: accord add {study.path} FILE --as responses",
        )
    # Another order than that of the study, and always the same one.
    return sorted(found, key=lambda one: mixed(sample, one.item_id))


def whole_questions(study: Study, sample: Sample, page: Template) -> dict[str, float]:
    """Question → probability with which it is in the sample, with all of its items.

    Raises
    ------
    SettingsError
        When the sample has a part of a question's items, or items of one question with different
        probabilities; or is one of questions alone, for a page of items.
    StudyError
        When questions of it are gone.
    """
    drawn = dict(sample.items)
    if sample.settings.get("unit") == QUESTION:
        if page.unit == "pairs":
            raise SettingsError(
                f"sample {sample.sample_id!r} is one of questions, and the template {page.name}"
                " grades items",
                cure=f"draw questions with their items: accord sample {study.path} --questions N",
            )
        questions = {gold_id(one): one.question_id for one in study.ledger.questions()}
        gone = [item for item in drawn if item not in questions]
        if gone:
            raise StudyError(
                f"{len(gone)} of {len(drawn)} questions of sample {sample.sample_id!r} are no"
                " longer in the study, or have another reference",
                cure="draw a new sample",
            )
        return {questions[item]: chance for item, chance in drawn.items()}
    frame = study.pairs()
    frame = frame[frame["item_id"].notna()]
    systems = _systems(sample)
    if systems:
        labels = map(system_label, frame["system"], frame["variant"])
        frame = frame[[label in systems for label in labels]]
    chances: dict[str, float] = {}
    for item_id, question_id in zip(frame["item_id"], frame["question_id"], strict=True):
        if item_id in drawn:
            chances.setdefault(question_id, drawn[item_id])
    for item_id, question_id in zip(frame["item_id"], frame["question_id"], strict=True):
        if question_id in chances and drawn.get(item_id) != chances[question_id]:
            raise SettingsError(
                f"sample {sample.sample_id!r} is one of single items, and the template"
                f" {page.name} asks about whole {_WHOLE.get(page.unit, 'responses')}",
                cure="draw whole questions: accord sample "
                f"{study.path} {'--questions N' if page.unit == 'pairs' else '--unit question'}",
            )
    return chances


_WHOLE = {"gold": "questions"}


def _systems(sample: Sample) -> frozenset[str]:
    """The systems whose items the sample was drawn from, as people read them; empty for all."""
    return frozenset(sample.settings.get("systems") or ())
