"""A design in words that can stand in a methods section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .designs import Design
from .frame import Frame

__all__ = ["Wanted", "sentence"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for; the fields are the options of ``accord sample``."""

    unit: str = "item"
    n: int | None = None
    questions: int | None = None
    per_question: int | None = None
    by: tuple[str, ...] = ()
    allocate: str = "proportional"
    pilot: str | None = None
    judges: tuple[str, ...] = ()
    paired: bool = False
    systems: tuple[str, ...] = ()
    oversample: tuple[tuple[str, float], ...] = ()
    merge_small: bool = False

    @property
    def of_questions(self) -> bool:
        """Whether questions are drawn, and not items."""
        return self.questions is not None or self.per_question is not None


def sentence(
    wanted: Wanted,
    design: Design,
    frame: Frame,
    drawn: int,
    seed: int,
    *,
    extends: Sequence[str] = (),
) -> str:
    """One sentence on what was drawn from what and how, and more on what it does not stand for."""
    items, asked = len(frame.items), design.population
    more = "further " if extends else ""
    if wanted.of_questions:
        unit = f"{design.size} {more}of {asked} questions, with {_inside(wanted, frame, drawn)},"
    elif design.size == items:
        unit = ""
    else:
        unit = f"{design.size} {more}of {items} {wanted.unit}s"
    if not unit:
        first = (
            f"All {items} items of {len(frame.questions)} questions were taken, in an order "
            f"shuffled with seed {seed}."
        )
    else:
        how = _how(wanted, design, bool(extends))
        first = f"{unit} were drawn without replacement {how}, with seed {seed}."
    sentences = [first]
    if extends:
        sentences.append(
            f"None is in sample {', '.join(extends)}, with which "
            f"{'they form' if len(extends) == 1 else 'all form'} one sample of the same design."
        )
    return " ".join([*sentences, *frame.left_out])


def _inside(wanted: Wanted, frame: Frame, drawn: int) -> str:
    whose = f" of the same {len(frame.systems)} systems" if wanted.paired else ""
    if wanted.per_question is None:
        return f"all of their {drawn} items{whose}"
    some = f"{wanted.per_question} item{'s' if wanted.per_question > 1 else ''}"
    each = "each system's answer" if wanted.paired else "each"
    return f"at most {some} of {each}, drawn at random ({drawn} items{whose})"


def _how(wanted: Wanted, design: Design, further: bool) -> str:
    if len(design.strata) == 1:
        return "as a simple random sample"
    parts = []
    for name, share in wanted.oversample:
        count = sum(n for key, n in design.counts.items() if key[0] == name)
        part = "" if further else f" ({100 * share:g} %)"
        parts.append(f"{count}{part} among {_class(name, wanted.judges)}")
    by = ""
    if wanted.by:
        merged = ", small ones merged" if wanted.merge_small else ""
        rule = (
            "each growing at the rate of the first draw"
            if further
            else f"{_allocation(wanted)}, at least two a stratum"
        )
        by = f"stratified by {', '.join(wanted.by)} ({len(design.strata)} strata{merged}, {rule})"
    if not parts:
        return by
    chosen = "with " + " and ".join(parts)
    return f"{chosen}, {by}" if by else f"{chosen}, at random within each group"


def _allocation(wanted: Wanted) -> str:
    if wanted.allocate == "equal":
        return "equal allocation"
    if wanted.allocate == "neyman":
        return f"Neyman allocation from the labels of sample {wanted.pilot}"
    return "allocation in proportion to size"


def _class(name: str, judges: Sequence[str]) -> str:
    if name == "disagreements":
        return (
            f"items on which {'the judges ' + ', '.join(judges) if judges else 'judges'} disagree"
        )
    if name == "low-confidence":
        return "the quarter of items with the lowest confidence"
    column, _, value = name.partition(":")
    return f"items with {column} {value}"
