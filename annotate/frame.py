"""What a sample can be drawn from: the study's items, with what divides them into strata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..scoring.errors import SettingsError, StudyError
from ..study.identity import system_label
from .designs import Stratum

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["Frame", "frame_of"]


@dataclass(frozen=True, slots=True)
class Frame:
    """The items that can be drawn.

    Parameters
    ----------
    items
        In the study's order.
    question_of, system_of
        Item → its question; its system with the variant.
    columns
        Column → its value for each of ``items``; None where there is none.
    systems
        The systems whose items these are.
    left_out
        Sentences on what is not in the frame, for which no figure will hold.
    """

    items: tuple[str, ...]
    question_of: Mapping[str, str]
    system_of: Mapping[str, str]
    columns: Mapping[str, Sequence[str | None]]
    systems: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions of the items, in order."""
        return tuple(dict.fromkeys(self.question_of[item] for item in self.items))

    def strata(self, by: Sequence[str]) -> dict[str, Stratum]:
        """The stratum of each item; a value that is missing is a stratum of its own, ``-``.

        Raises
        ------
        SettingsError
            A column that is not there.
        """
        for column in by:
            if column not in self.columns:
                known = ", ".join(sorted(self.columns))
                raise SettingsError(
                    f"--by names {column!r}, which is no column", cure=f"use {known}"
                )
        cells = [self.columns[column] for column in by]
        return {
            item: tuple("-" if cell[row] is None else str(cell[row]) for cell in cells)
            for row, item in enumerate(self.items)
        }

    def question_strata(self, by: Sequence[str]) -> dict[str, Stratum]:
        """The stratum of each question.

        Raises
        ------
        SettingsError
            When the items of a question lie in different strata.
        """
        units: dict[str, Stratum] = {}
        for item, stratum in self.strata(by).items():
            question = self.question_of[item]
            if units.setdefault(question, stratum) != stratum:
                raise SettingsError(
                    f"--by {','.join(by)} differs within question {question!r}",
                    cure="with --questions, name columns of the questions",
                )
        return units

    def cells(self, *, of_systems: bool) -> dict[str, list[list[str]]]:
        """Question → its items in one group, or in one group a system."""
        groups: dict[str, dict[str, list[str]]] = {}
        for item in self.items:
            system = self.system_of[item] if of_systems else ""
            groups.setdefault(self.question_of[item], {}).setdefault(system, []).append(item)
        return {question: list(cells.values()) for question, cells in groups.items()}


def frame_of(
    study: Study,
    *,
    systems: Sequence[str] = (),
    paired: bool = False,
    without: Mapping[str, Sequence[str]] | None = None,
    whole: bool = False,
) -> Frame:
    """The frame of a study.

    Parameters
    ----------
    systems
        Only these; all by default.
    paired
        Only the questions that every one of the systems answered. An answer without an element to
        grade is an answer.
    without
        Sample → items that are left out.
    whole
        Leave out whole questions, when one of their items is.

    Raises
    ------
    StudyError
        When the study has no items, or none is left.
    SettingsError
        An unknown system, or fewer than two to be paired.
    """
    from ..study.joined import strata as fields_of

    pairs = study.pairs()
    pairs = pairs.assign(
        label=[system_label(s, v) for s, v in zip(pairs["system"], pairs["variant"], strict=True)]
    )
    if not pairs["item_id"].notna().any():
        raise StudyError(
            "the study has no items",
            cure=f"add some with accord add {study.path}, or draw questions, whose whole responses"
            " people can grade: --unit question",
        )
    there = list(dict.fromkeys(pairs["label"]))
    for name in systems:
        if name not in there:
            raise SettingsError(
                f"--systems names {name!r}, which is no system", cure=f"use {', '.join(there)}"
            )
    chosen = [name for name in there if not systems or name in systems]
    pairs = pairs[pairs["label"].isin(chosen)]
    left_out = []
    if len(chosen) < len(there):
        left_out.append(f"Figures hold for {_listed(chosen)} alone.")
    if paired:
        if len(chosen) < 2:
            raise SettingsError(
                f"--paired needs two systems, and there is {_listed(chosen) or 'none'}",
                cure="leave out --paired",
            )
        answered = pairs.groupby("question_id", sort=False)["label"].nunique()
        common = set(answered.index[answered == len(chosen)])
        missing = len(answered) - len(common)
        if not common:
            raise SettingsError(
                f"no question was answered by all of {_listed(chosen)}",
                cure="name fewer with --systems, or leave out --paired",
            )
        if missing:
            left_out.append(
                f"{_count(missing, 'question')} that not all {len(chosen)} systems answered "
                f"{'is' if missing == 1 else 'are'} not in the frame."
            )
        pairs = pairs[pairs["question_id"].isin(common)]
    pairs = pairs[pairs["item_id"].notna()].drop_duplicates("item_id")
    if without:
        gone = {item for items in without.values() for item in items}
        away = pairs["item_id"].isin(gone)
        if whole:
            away = pairs["question_id"].isin(set(pairs.loc[away, "question_id"]))
        if away.any():
            name = f"sample{'s' if len(without) > 1 else ''} {', '.join(without)}"
            what = "items of the questions" if whole else "items"
            left_out.append(
                f"The {int(away.sum())} {what} of {name} are not in the frame: figures hold for "
                "the others."
            )
        pairs = pairs[~away]
    if pairs.empty:
        raise StudyError("no item is left to draw", cure="leave out --exclude or --systems")
    pairs = pairs.set_index("item_id")
    columns: dict[str, Sequence[str | None]] = dict(fields_of(study.ledger, pairs))
    for column in ("system", "variant", "question_id", "how"):
        columns[column] = [None if value == "" else value for value in pairs[column]]
    return Frame(
        items=tuple(pairs.index),
        question_of=dict(zip(pairs.index, pairs["question_id"], strict=True)),
        system_of=dict(zip(pairs.index, pairs["label"], strict=True)),
        columns=columns,
        systems=tuple(chosen),
        left_out=tuple(left_out),
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
