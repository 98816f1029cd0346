"""The ratings of what is no pair (responses, parses, gold answers) beside what they rate.

A study can hold labels of several kinds. Those of one template make one table of ratings, with the
judges' ratings of the same items; they are never mixed with others, whose labels mean other things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..scoring.errors import SettingsError
from .identity import is_other_unit
from .joined import NOT_THERE, OF_PILOT, PilotLabels, ratings_of
from .ratings import Ratings
from .records import RatingRow, Sample
from .unit_items import UNITS, declared_scale, gold_id, graded_of
from .weights import ASIDE, Weights, union_probabilities

if TYPE_CHECKING:
    import pandas as pd

    from .ledger import Ledger

__all__ = ["join_unit_ratings", "template_of_ratings"]


def template_of_ratings(
    ledger: Ledger, sample_id: str | None = None, template: str | None = None
) -> str | None:
    """The template whose labels are meant; None for those of pairs.

    Without a name: pairs where people graded any, else the one template that they used.

    Parameters
    ----------
    sample_id
        Only the tasks of this sample.
    template
        The template that is asked for.

    Raises
    ------
    SettingsError
        When no task was made with the template that is asked for, or people's labels are of
        several templates and none is named.
    """
    handed = ledger.exported(sample_id)
    others = {row.template for row in handed if _is_unit(row.item_id)}
    if template is not None:
        known = {row.template for row in handed}
        if template not in known:
            where = f"of the sample {sample_id!r}" if sample_id else "of the study"
            raise SettingsError(
                f"no task {where} was made with the template {template!r}",
                cure=f"use one of {', '.join(sorted(known))}" if known else "export some first",
            )
        return template if template in others else None
    if not others:
        return None
    if {row.template for row in handed} == others and len(others) == 1 and sample_id is not None:
        return others.pop()
    rated = {row.item_id for row in ledger.rating_rows() if row.kind != "judge"}
    used = sorted({row.template for row in handed if row.item_id in rated} & others)
    members = None if sample_id is None else {item for item, _ in ledger.sample(sample_id).items}
    graded = rated if members is None else rated & members
    pairs = any(not is_other_unit(item) for item in graded)
    if pairs or not used:
        return None
    if len(used) > 1:
        raise SettingsError(
            f"people's labels were made with {', '.join(used[:-1])} and {used[-1]}, and each is a"
            " scale of its own",
            cure=f"name one: --template {used[0]}, or a sample of it: --sample NAME",
        )
    return used[0]


def join_unit_ratings(
    ledger: Ledger,
    study: Path,
    template: str,
    pairs: Callable[[], pd.DataFrame],
    sample_id: str | None = None,
    *,
    anchored: bool = False,
) -> Ratings:
    """The latest rating of each item and rater, of the items of one template, in long form.

    Parameters
    ----------
    study
        The study's folder.
    template
        Its name.
    pairs
        Gives the study's pairs, which say to which questions the items of a sample belong.
    sample_id
        Only the tasks of this sample. Otherwise the labels of pilots are left out.
    anchored
        As for :func:`~accord.study.joined.join_ratings`.

    Returns
    -------
    Ratings
        With the scale and the categories of the template's page. ``weight`` is 1 / the probability
        with which the item's question is in the sample, or in any of the samples that were labelled
        with the template.
    """
    import pandas as pd

    handed = [row for row in ledger.exported(sample_id) if row.template == template]
    items = {row.item_id for row in handed if _is_unit(row.item_id)}
    facts = graded_of(ledger, template, items)
    about = pd.DataFrame(
        {
            "question_id": [one.question_id for one in facts.values()],
            "system": [one.system for one in facts.values()],
            "variant": [one.variant for one in facts.values()],
            "response_id": [one.response_id for one in facts.values()],
            "reference": [one.reference or "" for one in facts.values()],
            "n_reference": None,
            "n_predicted": None,
        },
        index=list(facts),
        dtype=object,
    )
    pilots = PilotLabels(ledger, ((row.sample_id, row.item_id) for row in handed))
    dropped: dict[str, int] = {}
    rows: list[RatingRow] = []
    for row in ledger.rating_rows():
        if row.item_id not in items:
            continue
        reason = None
        if row.item_id not in facts:
            reason = NOT_THERE
        elif row.status == "skipped":
            reason = "skipped"
        elif sample_id is None and pilots.holds(row):
            reason = OF_PILOT
        if reason:
            dropped[reason] = dropped.get(reason, 0) + 1
        else:
            rows.append(row)
    question_of = {item: one.question_id for item, one in facts.items()}
    used = {row.sample_id for row in handed}
    found = ratings_of(
        ledger,
        about,
        rows,
        dropped,
        weigh=lambda rated: _weights(ledger, pairs, question_of, rated, used, sample_id),
        pilots=pilots.samples,
        anchored=anchored,
    )
    scale, categories = declared_scale(study, template, handed[-1].template_version)
    return replace(found, scale=scale, categories=categories, template=template)


def _is_unit(item_id: str) -> bool:
    return is_other_unit(item_id) and item_id.partition(":")[0] in UNITS


def _weights(
    ledger: Ledger,
    pairs: Callable[[], pd.DataFrame],
    question_of: Mapping[str, str],
    rated: set[str],
    used: set[str],
    sample_id: str | None,
) -> Weights:
    """1 / the probability of an item's question in the samples that were labelled."""
    samples = [
        sample
        for sample in ledger.samples()
        if sample.sample_id in used and (sample_id is not None or sample.purpose not in ASIDE)
    ]
    asked = {question_of[item] for item in rated}
    of = {gold_id(question): question.question_id for question in ledger.questions()}
    if any(sample.settings.get("unit") != "question" for sample in samples):
        frame = pairs()
        frame = frame[frame["item_id"].notna()]
        of |= dict(zip(frame["item_id"], frame["question_id"], strict=True))
    drawn: list[Sample] = []
    chances: dict[str, Mapping[str, float]] = {}
    for sample in samples:
        members = {of[item]: chance for item, chance in sample.items if item in of}
        if sample_id is None and not members.keys() & asked:
            continue
        could = {
            of[one.item_id]: one.probability
            for one in ledger.frame(sample.sample_id)
            if one.item_id in of
        }
        drawn.append(replace(sample, items=tuple(members.items())))
        chances[sample.sample_id] = {**could, **members}
    if len(drawn) == 1:
        (one,) = drawn
        by_question = dict(one.items)
    else:
        members_of_any = {question for sample in drawn for question, _ in sample.items}
        union = union_probabilities(drawn, chances)
        by_question = {question: union[question] for question in members_of_any}
    notes: tuple[str, ...] = ()
    if len(drawn) > 1:
        notes = (
            f"{len(drawn)} samples are used together: an item is weighted by 1 / the probability of"
            " its question being in any of them; name one with --sample for weights of one design",
        )
    weights = {
        item: 1 / by_question[question]
        for item, question in question_of.items()
        if question in by_question
    }
    return Weights(weights, set(weights), notes)
