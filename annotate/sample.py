"""Drawing the items that people will grade, with the probability with which each was drawn.

The probabilities are kept with the sample, for the items it could have drawn as well: without them
a figure would say nothing about the whole (Hájek 1971; Särndal, Swensson & Wretman 1992, ch. 2-3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring.errors import SettingsError
from ..study.records import FrameItem, Sample
from ..study.weights import PILOT, RETEST
from .allocation import ALLOCATIONS
from .classes import DISAGREEMENTS, JUDGED, classes_of, shares_of
from .design_words import Wanted, sentence
from .designs import Design, Stratum, in_questions, merged, oversampled, stratified
from .frame import Frame, frame_of
from .pilot import pilot_shares
from .sample_names import check_seed, new_name, stream

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["PURPOSES", "draw_sample"]

PURPOSES = ("agreement", "audit", PILOT, RETEST)
"""What a sample's labels are for: judges beside people, wrong gold answers, planning, the same
person twice. Labels of the last two enter no estimate."""


def draw_sample(
    study: Study,
    *,
    n: int | None = None,
    questions: int | None = None,
    per_question: int | None = None,
    by: Sequence[str] = (),
    allocate: str = "proportional",
    pilot: str | None = None,
    judges: Sequence[str] = (),
    paired: bool = False,
    systems: Sequence[str] = (),
    oversample: Mapping[str, str] | None = None,
    exclude: Sequence[str] = (),
    merge_small: bool = False,
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
    per_question
        Items to draw in each drawn question (of each system's answer, when ``paired``).
    by
        Columns that make the strata: ``system``, ``variant``, ``question_id``, or a field of the
        questions, responses or pairs.
    allocate
        How the sample is divided among strata: ``proportional``, ``equal``, ``neyman``.
    pilot
        The sample whose labels show the spread in each stratum, for ``neyman``.
    judges
        The judges whose disagreements or verdicts are oversampled; the judge that Neyman's
        allocation is for.
    paired
        Only questions that every system answered.
    systems
        Only these systems' items.
    oversample
        Class → share of the sample (:func:`~accord.annotate.classes.classes_of`).
    exclude
        Samples whose items are left out of the frame.
    merge_small
        Strata too small for two items are put together.
    purpose
        What the labels are for: ``agreement``, ``audit`` or ``pilot``; kept with the sample.
    seed
        The study's own by default. The same seed draws the same sample.
    sample_id
        The name to keep it under; ``s1``, ``s2``, … by default.

    Raises
    ------
    SettingsError
        When more is asked for than there is, a column is unknown, a stratum would get fewer than
        two units, or options contradict each other.
    StudyError
        When the study has no items, or the name is taken.
    """
    shares = tuple(shares_of(oversample or {}).items())
    wanted = Wanted(
        n=n,
        questions=questions,
        per_question=per_question,
        by=tuple(by),
        allocate=allocate,
        pilot=pilot,
        judges=tuple(judges),
        paired=paired,
        systems=tuple(systems),
        oversample=shares,
        merge_small=merge_small,
    )
    _check(wanted, purpose)
    left_out = _excluded(study, exclude)
    options: dict[str, Any] = {"systems": wanted.systems, "paired": paired}
    frame = frame_of(study, without=left_out, whole=wanted.of_questions, **options)
    name = new_name(study, sample_id)
    chosen_seed = check_seed(study, seed)
    design = _design(study, wanted, frame, purpose, left_out)
    return keep(
        study,
        name=name,
        purpose=purpose,
        seed=chosen_seed,
        design=design,
        frame=frame,
        wanted=wanted,
        settings={"excludes": list(left_out)} if left_out else {},
    )


def keep(
    study: Study,
    *,
    name: str,
    purpose: str,
    seed: int,
    design: Design,
    frame: Frame,
    wanted: Wanted,
    settings: Mapping[str, Any],
) -> Sample:
    """Draw from a design, shuffle, and keep the sample with its frame."""
    # Named streams: a longer sample or another name does not shift the order of this one.
    drawn = design.draw(np.random.default_rng(stream(seed, name, "draw")))
    order = list(drawn)
    np.random.default_rng(stream(seed, name, "order")).shuffle(order)
    extends = settings.get("extends") or ()
    sample = Sample(
        sample_id=name,
        purpose=purpose,
        design=sentence(wanted, design, frame, len(drawn), seed, extends=extends),
        seed=seed,
        settings={**_settings(wanted), **settings, "strata": _table(design)},
        items=tuple((item, drawn[item]) for item in order),
    )
    chances = design.probabilities()
    stratum_of = {
        item: stratum
        for stratum, units in design.strata.items()
        for unit in units
        for item in (
            (unit,) if design.cells is None else (i for cell in design.cells[unit] for i in cell)
        )
    }
    study.ledger.add_sample(
        sample, [FrameItem(item, stratum_of[item], chances[item]) for item in frame.items]
    )
    return sample


def _check(wanted: Wanted, purpose: str) -> None:
    """Refuse options that contradict each other, before anything is read."""
    if purpose == RETEST:
        raise SettingsError(
            "--for retest draws from items that were graded", cure="name their sample with --of"
        )
    if purpose not in PURPOSES:
        raise SettingsError(f"--for is {purpose!r}", cure=f"use {', '.join(PURPOSES)}")
    if wanted.allocate not in ALLOCATIONS:
        raise SettingsError(
            f"--allocate is {wanted.allocate!r}", cure=f"use {', '.join(ALLOCATIONS)}"
        )
    if wanted.n is not None and wanted.of_questions:
        other = "--questions" if wanted.questions is not None else "--per-question"
        raise SettingsError(f"--n and {other} are both given", cure="give one of them")
    if wanted.per_question is not None and wanted.per_question < 1:
        raise SettingsError(f"--per-question is {wanted.per_question}", cure="give 1 or more")
    if wanted.paired and not wanted.of_questions:
        raise SettingsError("--paired is for whole questions", cure="give --questions, and no --n")
    if wanted.allocate != "proportional" and not wanted.by:
        raise SettingsError(
            f"--allocate {wanted.allocate} divides a sample among strata",
            cure="name them with --by",
        )
    if wanted.merge_small and not wanted.by:
        raise SettingsError("--merge-small merges strata", cure="name them with --by")
    if (wanted.allocate == "neyman") != (wanted.pilot is not None):
        raise SettingsError(
            "--allocate neyman and --pilot belong together",
            cure="draw and grade a small sample first (--for pilot), then name it with --pilot"
            if wanted.pilot is None
            else "add --allocate neyman, or use --exclude to leave the pilot's items out",
        )
    if wanted.of_questions and (wanted.allocate == "neyman" or wanted.oversample):
        option = "--oversample" if wanted.oversample else "--allocate neyman"
        raise SettingsError(f"{option} draws items, not questions", cure="give --n instead")
    if wanted.oversample and wanted.n is None:
        raise SettingsError("--oversample without --n takes all items", cure="give --n")
    of_judges = any(k == DISAGREEMENTS or k.startswith(JUDGED) for k, _ in wanted.oversample)
    needs = wanted.allocate == "neyman" or of_judges
    if wanted.judges and not needs:
        raise SettingsError(
            "--judges is for --oversample disagreements or judged:VERDICT, and --allocate neyman",
            cure="leave it out",
        )
    if wanted.allocate == "neyman" and len(wanted.judges) > 1:
        raise SettingsError("--allocate neyman is for one judge", cure="name one with --judges")


def _design(
    study: Study,
    wanted: Wanted,
    frame: Frame,
    purpose: str,
    left_out: Mapping[str, Sequence[str]],
) -> Design:
    if wanted.of_questions:
        of = frame.question_strata(wanted.by)
        number, what, option = wanted.questions, "questions", "--questions"
    else:
        of = frame.strata(wanted.by)
        number, what, option = wanted.n, "items", "--n"
    number = len(of) if number is None else number
    if wanted.merge_small:
        of = merged(of, number)
    sizes = Counter(of.values())
    shares: dict[Stratum, float] | None = None
    if wanted.allocate == "equal":
        shares = dict.fromkeys(sizes, 1.0)
    elif wanted.pilot is not None:
        # The pilot's own items may be left out of the frame, and its labels still count here.
        everything = frame_of(study, systems=wanted.systems) if left_out else frame
        key_of = dict(zip(frame.strata(wanted.by).values(), of.values(), strict=True))
        where = {
            item: key_of.get(stratum, stratum)
            for item, stratum in everything.strata(wanted.by).items()
        }
        judge = wanted.judges[0] if wanted.judges else None
        shares = pilot_shares(study, wanted.pilot, where, sizes, judge=judge, purpose=purpose)
    if wanted.oversample:
        names = [name for name, _ in wanted.oversample]
        classes = classes_of(study, frame, names, () if wanted.pilot else wanted.judges)
        return oversampled(of, classes, dict(wanted.oversample), number, shares=shares)
    design = stratified(of, number, shares=shares, what=what, option=option)
    if wanted.of_questions:
        cells = frame.cells(of_systems=wanted.paired)
        return in_questions(design, cells, wanted.per_question)
    return design


def _excluded(study: Study, exclude: Sequence[str]) -> dict[str, list[str]]:
    """The items of the excluded samples; one that was extended goes with its extensions."""
    samples = {sample.sample_id: sample for sample in study.ledger.samples()}
    for name in exclude:
        if study.ledger.sample(name).purpose == RETEST:
            raise SettingsError(
                f"--exclude names {name!r}, a retest", cure="name the sample that it is of"
            )
    roots = {_root(samples[name]) for name in exclude}
    return {
        name: [item for item, _ in sample.items]
        for name, sample in samples.items()
        if sample.purpose != RETEST and _root(sample) in roots
    }


def _root(sample: Sample) -> str:
    return str((sample.settings.get("extends") or [sample.sample_id])[0])


def _settings(wanted: Wanted) -> dict[str, Any]:
    return {
        "n": wanted.n,
        "questions": wanted.questions,
        "per_question": wanted.per_question,
        "by": list(wanted.by),
        "allocate": wanted.allocate,
        "pilot": wanted.pilot,
        "judges": list(wanted.judges),
        "paired": wanted.paired,
        "systems": list(wanted.systems),
        "oversample": dict(wanted.oversample),
        "merge_small": wanted.merge_small,
    }


def _table(design: Design) -> list[dict[str, Any]]:
    return [
        {"stratum": list(stratum), "units": len(units), "drawn": design.counts[stratum]}
        for stratum, units in design.strata.items()
    ]
