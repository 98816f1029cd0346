"""Further items for a sample that turned out too small."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..scoring.errors import SettingsError, StudyError
from ..study.records import Sample
from ..study.weights import RETEST
from .design_words import Wanted
from .designs import Design, Stratum, extended, in_questions
from .frame import Frame, frame_of
from .question_sample import gold_id
from .sample import keep
from .sample_names import check_seed, new_name

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["extend_sample"]


def extend_sample(
    study: Study,
    of: str,
    *,
    n: int | None = None,
    questions: int | None = None,
    seed: int | None = None,
    sample_id: str | None = None,
) -> Sample:
    """Draw further items for a sample, none of which it has, by the same design.

    Each stratum grows at the rate at which it was drawn, so both together are one stratified
    sample: an item is in either with the sum of both probabilities, exactly. What decides how many
    are added must not be the labels: a sample that is extended until a figure looks right is biased
    whatever its weights.

    Parameters
    ----------
    of
        The sample; one that is an extension stands for all that it extends.
    n, questions
        Items or questions to add, as the sample was drawn.
    seed, sample_id
        As for :func:`~accord.annotate.draw_sample`.

    Raises
    ------
    SettingsError
        When there are not so many left, or the sample was drawn otherwise.
    StudyError
        When items of its frame are no longer in the study.
    """
    samples = study.ledger.samples()
    named = study.ledger.sample(of)
    if named.purpose == RETEST:
        raise SettingsError(f"{of!r} is a retest", cure="draw another one with --for retest")
    root = str((named.settings.get("extends") or [of])[0])
    chain = [
        sample
        for sample in samples
        if root in (sample.sample_id, *(sample.settings.get("extends") or ())[:1])
    ]
    first = chain[0]
    for sample in samples:
        if root in (sample.settings.get("excludes") or ()) and sample not in chain:
            raise SettingsError(
                f"sample {sample.sample_id!r} left out the items of {root!r}, which can't grow now",
                cure=f"extend {sample.sample_id} instead",
            )
    wanted = _wanted(first, n, questions)
    design, frame = _design(study, first, chain, wanted)
    number = questions if wanted.of_questions else n
    what = "questions" if wanted.of_questions else f"{wanted.unit}s"
    option = "--questions" if wanted.of_questions else "--n"
    if number is None:
        raise SettingsError(f"--extend {of} does not say by how many", cure=f"give {option}")
    before = _drawn_units(design, chain, frame)
    grown = extended(design, before, number, what=what, option=option)
    settings: dict[str, object] = {"extends": [sample.sample_id for sample in chain]}
    if wanted.unit != "item":
        settings["unit"] = wanted.unit
    if first.settings.get("excludes"):
        settings["excludes"] = first.settings["excludes"]
    return keep(
        study,
        name=new_name(study, sample_id),
        purpose=first.purpose,
        seed=check_seed(study, seed),
        design=grown,
        frame=frame,
        wanted=wanted,
        settings=settings,
    )


def _wanted(first: Sample, n: int | None, questions: int | None) -> Wanted:
    """The options of the first sample, with other numbers."""
    old = first.settings
    wanted = Wanted(
        unit=str(old.get("unit", "item")),
        n=n,
        questions=questions,
        per_question=old.get("per_question"),
        by=tuple(old.get("by") or ()),
        allocate=str(old.get("allocate", "proportional")),
        pilot=old.get("pilot"),
        judges=tuple(old.get("judges") or ()),
        paired=bool(old.get("paired")),
        systems=tuple(old.get("systems") or ()),
        oversample=tuple((old.get("oversample") or {}).items()),
        merge_small=bool(old.get("merge_small")),
    )
    was_questions = old.get("questions") is not None or old.get("per_question") is not None
    if n is not None and was_questions:
        raise SettingsError(
            f"sample {first.sample_id!r} was drawn by questions", cure="give --questions, not --n"
        )
    if questions is not None and not was_questions:
        raise SettingsError(
            f"sample {first.sample_id!r} was drawn by items", cure="give --n, not --questions"
        )
    return wanted


def _design(
    study: Study, first: Sample, chain: list[Sample], wanted: Wanted
) -> tuple[Design, Frame]:
    """The design of the chain so far, from the frame that was kept with its first sample."""
    kept = {row.item_id: row.stratum for row in study.ledger.frame(first.sample_id)}
    if not kept:
        raise StudyError(
            f"sample {first.sample_id!r} does not say what it was drawn from",
            cure="draw a new sample, with --exclude to leave its items out",
        )
    now = frame_of(study) if wanted.unit == "item" else _gold(study)
    gone = [item for item in kept if item not in now.question_of]
    if gone:
        raise StudyError(
            f"{len(gone)} of {len(kept)} items that sample {first.sample_id!r} was drawn from are "
            f"no longer in the study, {gone[0]!r} first",
            cure="restore the study's settings, or draw a new sample",
        )
    items = tuple(item for item in now.items if item in kept)
    new = len(now.items) - len(items)
    late = f"{'was' if new == 1 else 'were'} not in the frame of sample {first.sample_id}"
    frame = Frame(
        items=items,
        question_of={item: now.question_of[item] for item in items},
        system_of={item: now.system_of[item] for item in items},
        columns={},
        systems=tuple(dict.fromkeys(now.system_of[item] for item in items)),
        left_out=(f"{new} {wanted.unit}{'s' if new > 1 else ''} of the study {late}.",)
        if new
        else (),
    )
    unit_of = frame.question_of if wanted.of_questions else {item: item for item in items}
    groups: dict[Stratum, dict[str, None]] = {}
    for item in items:
        groups.setdefault(kept[item], {})[unit_of[item]] = None
    drawn = {unit_of[item] for sample in chain for item, _ in sample.items}
    strata = {stratum: tuple(units) for stratum, units in groups.items()}
    counts = {stratum: sum(unit in drawn for unit in units) for stratum, units in strata.items()}
    design = Design(strata, counts)
    if wanted.of_questions:
        cells = frame.cells(of_systems=wanted.paired)
        design = in_questions(design, cells, wanted.per_question)
    return design, frame


def _gold(study: Study) -> Frame:
    """The gold answers of the study's questions."""
    of = {gold_id(question): question.question_id for question in study.ledger.questions()}
    return Frame(
        items=tuple(of),
        question_of=of,
        system_of=dict.fromkeys(of, ""),
        columns={},
        systems=(),
        left_out=(),
    )


def _drawn_units(design: Design, chain: list[Sample], frame: Frame) -> frozenset[str]:
    items = {item for sample in chain for item, _ in sample.items}
    if design.cells is None:
        return frozenset(items)
    return frozenset(frame.question_of[item] for item in items)
