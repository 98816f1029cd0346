"""Drawing questions themselves: for audits of gold answers, and for labels of whole responses.

A question is drawn whether or not its answers could be read into elements, so an audit needs no
response at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..scoring.errors import SettingsError, StudyError
from ..study.records import FrameItem, Sample
from ..study.unit_items import gold_id
from .designs import Design, stratified
from .sample_names import check_seed, new_name, stream

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["QUESTION", "draw_questions", "gold_id"]

QUESTION = "question"
"""What ``settings["unit"]`` of such a sample says."""


def draw_questions(
    study: Study,
    *,
    n: int | None = None,
    by: Sequence[str] = (),
    only: Mapping[str, str] | None = None,
    purpose: str = "audit",
    seed: int | None = None,
    sample_id: str | None = None,
) -> Sample:
    """Draw questions without replacement and keep them as a sample of gold answers.

    Parameters
    ----------
    n
        Questions to draw; all by default.
    by
        Fields of the questions that make the strata (allocation in proportion to size).
    only
        Field → the value that a question must have to be drawn; the sample stands for these.
    purpose, seed, sample_id
        As for :func:`~accord.annotate.draw_sample`.

    Returns
    -------
    Sample
        Its items are the questions' gold answers, each with its inclusion probability.

    Raises
    ------
    SettingsError
        When more is asked for than there is, or a column is unknown.
    StudyError
        When the study has no questions, or the name is taken.
    """
    if purpose not in ("audit", "agreement"):
        raise SettingsError(
            f"--for {purpose} draws items, not questions", cure="leave --unit question out"
        )
    questions = study.ledger.questions()
    if not questions:
        raise StudyError(
            "the study has no questions",
            cure=f"add some: accord add {study.path} FILE --as questions",
        )
    fields = {name for question in questions for name in question.fields}
    for option, columns in (("--by", by), ("--only", only or ())):
        for column in columns:
            if column not in fields:
                raise SettingsError(
                    f"{option} names {column!r}, which is no column of the questions",
                    cure=f"use {', '.join(sorted(fields)) or 'no column'}",
                )
    for column, value in (only or {}).items():
        there = sorted({question.fields.get(column, "") for question in questions} - {""})
        questions = [one for one in questions if one.fields.get(column) == value]
        if not questions:
            raise SettingsError(
                f"--only {column}={value}: no question (left) has that value",
                cure=f"there are {', '.join(there[:12])}",
            )
    name = new_name(study, sample_id)
    chosen = check_seed(study, seed)
    of = {
        gold_id(question): tuple(question.fields.get(column) or "-" for column in by)
        for question in questions
    }
    design = stratified(of, len(of) if n is None else n, what="questions")
    drawn = design.draw(np.random.default_rng(stream(chosen, name, "draw")))
    order = list(drawn)
    np.random.default_rng(stream(chosen, name, "order")).shuffle(order)
    sample = Sample(
        sample_id=name,
        purpose=purpose,
        design=_sentence(design, by, only or {}, chosen),
        seed=chosen,
        settings={
            "unit": QUESTION,
            "n": n,
            "by": list(by),
            **({"only": dict(only)} if only else {}),
        },
        items=tuple((item, drawn[item]) for item in order),
    )
    chances = design.probabilities()
    study.ledger.add_sample(sample, [FrameItem(item, of[item], chances[item]) for item in of])
    return sample


def _sentence(design: Design, by: Sequence[str], only: Mapping[str, str], seed: int) -> str:
    which = "questions"
    if only:
        which += f" with {', '.join(f'{column} {value}' for column, value in only.items())}"
    if design.size == design.population:
        return f"All {design.population} {which} were taken, in an order shuffled with seed {seed}."
    how = (
        f"stratified by {', '.join(by)} ({len(design.strata)} strata, allocated in proportion to"
        " their sizes)"
        if by
        else "as a simple random sample"
    )
    return (
        f"{design.size} of {design.population} {which} were drawn without replacement {how}, with"
        f" seed {seed}."
    )
