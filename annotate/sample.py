"""Drawing the items that people will grade, with the probability with which each was drawn.

The probabilities are kept with the sample: without them a figure from the sample would say
nothing about the whole (Hájek 1971; Särndal, Swensson & Wretman 1992, ch. 2-3).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..scoring.errors import SettingsError, StudyError, one_line
from ..study.records import Sample

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["PURPOSES", "allocate", "draw", "draw_sample"]

PURPOSES = ("agreement", "audit", "pilot")
"""What a sample's labels are for: judges beside people, wrong gold answers, planning."""
_LONGEST_NAME = 80
"""Of a sample; the server's project has it in its title."""


def allocate(sizes: Sequence[int], n: int) -> list[int]:
    """How many to draw from each stratum: in proportion to its size, at least one.

    Parameters
    ----------
    sizes
        Units in each stratum, all positive.
    n
        Units to draw, from ``len(sizes)`` to ``sum(sizes)``.

    Returns
    -------
    list of int
        Sums to ``n``. One a stratum first, the rest by largest remainder (ties: the earlier
        stratum), never more than a stratum has.

    Examples
    --------
    >>> allocate([60, 30, 10], 10)
    [6, 3, 1]
    >>> allocate([98, 1, 1], 10)
    [8, 1, 1]
    """
    total = sum(sizes)
    shares = [n * size / total for size in sizes]
    counts = [min(size, max(1, int(share))) for size, share in zip(sizes, shares, strict=True)]
    while sum(counts) != n:
        step = 1 if sum(counts) < n else -1
        movable = [
            h for h in range(len(sizes)) if (counts[h] < sizes[h] if step > 0 else counts[h] > 1)
        ]
        best = max(movable, key=lambda h: (step * (shares[h] - counts[h]), -h))
        counts[best] += step
    return counts


def draw(
    strata: Mapping[str, tuple[str, ...]], n: int, rng: np.random.Generator
) -> dict[str, float]:
    """Draw ``n`` units without replacement, stratified in proportion.

    Parameters
    ----------
    strata
        Unit → its stratum; one stratum for all gives a simple random sample.
    n
        Units to draw.
    rng
        The source of randomness.

    Returns
    -------
    dict
        The drawn units and their inclusion probability n_h / N_h, in the order of ``strata``.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for unit, stratum in strata.items():
        groups.setdefault(stratum, []).append(unit)
    counts = allocate([len(group) for group in groups.values()], n)
    drawn: dict[str, float] = {}
    for group, count in zip(groups.values(), counts, strict=True):
        chosen = np.sort(rng.choice(len(group), size=count, replace=False))
        drawn.update((group[place], count / len(group)) for place in chosen)
    return {unit: drawn[unit] for unit in strata if unit in drawn}


def draw_sample(
    study: Study,
    *,
    n: int | None = None,
    questions: int | None = None,
    by: Sequence[str] = (),
    purpose: str = "agreement",
    seed: int | None = None,
    sample_id: str | None = None,
) -> Sample:
    """Draw a sample of the study's items and keep it in the ledger.

    Parameters
    ----------
    n
        Items to draw. Neither ``n`` nor ``questions`` takes all items.
    questions
        Questions to draw, each with all its items and all its systems (a cluster sample): whole
        responses are graded, so that response-level figures exist.
    by
        Columns that make the strata: ``system``, ``variant``, ``question_id``, or a field of the
        questions, responses or pairs.
    purpose
        What the labels are for (:data:`PURPOSES`); kept with the sample.
    seed
        The study's own by default. The same seed draws the same sample.
    sample_id
        The name to keep it under; ``s1``, ``s2``, … by default.

    Raises
    ------
    SettingsError
        When more is asked for than there is, a column is unknown, or there are fewer units than
        strata.
    StudyError
        When the study has no items, or the name is taken.
    """
    from ..study.joined import strata as fields_of

    if purpose not in PURPOSES:
        raise SettingsError(f"--for is {purpose!r}", cure=f"use {', '.join(PURPOSES)}")
    if n is not None and questions is not None:
        raise SettingsError("--n and --questions are both given", cure="give one of them")
    frame = study.pairs()
    frame = frame[frame["item_id"].notna()].set_index("item_id")
    if frame.empty:
        raise StudyError("the study has no items", cure=f"add some with accord add {study.path}")
    taken = [sample.sample_id for sample in study.ledger.samples()]
    if sample_id in taken:
        raise StudyError(f"there is a sample {sample_id!r} already", cure="give another --name")
    name = sample_id or _free_name(taken)
    if len(name) > _LONGEST_NAME or one_line(name) != name or "," in name:
        raise SettingsError(
            f"--name is '{one_line(name[:_LONGEST_NAME])}'",
            cure=f"give a name of at most {_LONGEST_NAME} characters, without commas or controls",
        )
    chosen_seed = study.settings.seed if seed is None else seed
    if not 0 <= chosen_seed < 2**63:
        raise SettingsError(f"--seed is {chosen_seed}", cure="give one from 0 to 2**63 - 1")

    columns = fields_of(study.ledger, frame)
    for column in ("system", "variant", "question_id"):
        columns[column] = [None if value == "" else value for value in frame[column]]
    for column in by:
        if column not in columns:
            known = ", ".join(sorted(columns))
            raise SettingsError(f"--by names {column!r}, which is no column", cure=f"use {known}")
    of_item = {
        item: tuple(
            "-" if columns[column][row] is None else str(columns[column][row]) for column in by
        )
        for row, item in enumerate(frame.index)
    }
    question_of = dict(zip(frame.index, frame["question_id"], strict=True))

    # Named streams: a longer sample or another name does not shift the order of this one.
    rng = np.random.default_rng(_stream(chosen_seed, name, "draw"))
    if questions is not None:
        units = _of_questions(of_item, question_of, by)
        _check(questions, units, by, "questions", "--questions")
        picked = draw(units, questions, rng)
        drawn = {item: picked[q] for item, q in question_of.items() if q in picked}
    else:
        wanted = len(of_item) if n is None else n
        _check(wanted, of_item, by, "items", "--n")
        drawn = draw(of_item, wanted, rng)

    order = list(drawn)
    np.random.default_rng(_stream(chosen_seed, name, "order")).shuffle(order)
    sample = Sample(
        sample_id=name,
        purpose=purpose,
        design=_sentence(
            len(drawn), len(of_item), questions, question_of, by, of_item, chosen_seed
        ),
        seed=chosen_seed,
        settings={"n": n, "questions": questions, "by": list(by)},
        items=tuple((item, drawn[item]) for item in order),
    )
    study.ledger.add_sample(sample)
    return sample


def _of_questions(
    of_item: Mapping[str, tuple[str, ...]], question_of: Mapping[str, str], by: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """The stratum of each question; it must be the same for all of the question's items."""
    units: dict[str, tuple[str, ...]] = {}
    for item, stratum in of_item.items():
        question = question_of[item]
        if units.setdefault(question, stratum) != stratum:
            raise SettingsError(
                f"--by {','.join(by)} differs within question {question!r}",
                cure="with --questions, name columns of the questions",
            )
    return units


def _check(
    n: int, units: Mapping[str, tuple[str, ...]], by: Sequence[str], what: str, option: str
) -> None:
    strata = len(set(units.values()))
    if not 1 <= n <= len(units):
        raise SettingsError(
            f"{option} is {n} and the study has {len(units)} {what}",
            cure=f"give {option} from 1 to {len(units)}",
        )
    if n < strata:
        raise SettingsError(
            f"{option} is {n} and --by {','.join(by)} makes {strata} strata",
            cure=f"draw at least {strata} {what}, or use fewer strata",
        )


def _sentence(
    drawn: int,
    items: int,
    questions: int | None,
    question_of: Mapping[str, str],
    by: Sequence[str],
    of_item: Mapping[str, tuple[str, ...]],
    seed: int,
) -> str:
    """The design in words that can stand in a methods section."""
    asked = len(set(question_of.values()))
    if questions is not None:
        unit = f"{questions} of {asked} questions, with all of their {drawn} items,"
    elif drawn == items:
        return (
            f"All {items} items of {asked} questions were taken, in an order shuffled with "
            f"seed {seed}."
        )
    else:
        unit = f"{drawn} of {items} items"
    strata = len(set(of_item.values()))
    how = (
        f"stratified by {', '.join(by)} ({strata} strata, allocation in proportion to size, "
        "at least one a stratum)"
        if by
        else "as a simple random sample"
    )
    return f"{unit} were drawn without replacement {how}, with seed {seed}."


def _free_name(taken: Sequence[str]) -> str:
    number = 1
    while f"s{number}" in taken:
        number += 1
    return f"s{number}"


def _stream(seed: int, *names: str) -> list[int]:
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return [seed % 2**64, int.from_bytes(digest[:8], "big")]
