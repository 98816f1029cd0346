"""Items that a sample may hold more of: judges disagree, gave one verdict, or confidence is low."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..scoring.errors import SettingsError
from ..study.benchmark_run import RULE
from .frame import Frame

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["CONFIDENCE", "classes_of", "shares_of"]

DISAGREEMENTS, LOW_CONFIDENCE, JUDGED = "disagreements", "low-confidence", "judged:"
CONFIDENCE = "confidence"
"""The column that says how sure a judge, or whoever made the item, is."""
_LOWEST = 0.25
"""Low is what lies at or under this quantile."""


def shares_of(text: Mapping[str, str]) -> dict[str, float]:
    """Class → its share of the sample.

    Raises
    ------
    SettingsError
        A share that is no number in (0, 1), shares that leave nothing for the rest.
    """
    shares: dict[str, float] = {}
    for name, value in text.items():
        try:
            shares[name] = float(value)
        except ValueError:
            shares[name] = math.nan
        if not 0 < shares[name] < 1:
            raise SettingsError(
                f"--oversample gives {name!r} the share {value!r}",
                cure="give a number between 0 and 1, as in disagreements=0.5",
            )
    if sum(shares.values()) >= 1:
        raise SettingsError(
            f"the shares of --oversample sum to {sum(shares.values()):g}",
            cure="leave some of the sample for the other items: without them no figure holds",
        )
    return shares


def classes_of(
    study: Study, frame: Frame, names: Sequence[str], judges: Sequence[str] = ()
) -> dict[str, str]:
    """The class of each item that is in one; of several classes the first named.

    Parameters
    ----------
    names
        ``disagreements``: two judges gave different verdicts (replies that could not be read are
        no verdicts). ``judged:VERDICT``: a judge gave that verdict. ``low-confidence``: the column
        ``confidence`` is in its lowest quarter. ``COLUMN:VALUE``: the column has that value.
    judges
        The judges that are meant; all of the study by default, without a recipe's own rules.

    Raises
    ------
    SettingsError
        An unknown class, fewer than two judges, no confidence.
    """
    found: dict[str, str] = {}
    for name in names:
        if name == DISAGREEMENTS:
            members = _disputed(study, judges)
        elif name == LOW_CONFIDENCE:
            members = _unsure(frame)
        elif name.startswith(JUDGED):
            members = _judged(study, frame, name.removeprefix(JUDGED), judges)
        elif ":" in name:
            members = _with_value(frame, name)
        else:
            raise SettingsError(
                f"--oversample names {name!r}",
                cure=f"use {DISAGREEMENTS}, {JUDGED}VERDICT, {LOW_CONFIDENCE} or COLUMN:VALUE",
            )
        for item in frame.items:
            if item in members:
                found.setdefault(item, name)
    return found


def _disputed(study: Study, judges: Sequence[str]) -> set[str]:
    given, here = _verdicts(study, judges)
    compared = len(judges or here)
    if compared < 2:
        raise SettingsError(
            f"--oversample {DISAGREEMENTS} compares judges, and there "
            f"{'is 1' if compared else 'are none'}",
            cure=f"run another, for instance accord score {study.path} --judge exact --judge rouge",
        )
    return {item for item, verdicts in given.items() if len(set(verdicts.values())) > 1}


def _judged(study: Study, frame: Frame, verdict: str, judges: Sequence[str]) -> set[str]:
    given, here = _verdicts(study, judges)
    if not here:
        raise SettingsError(
            f"--oversample {JUDGED}{verdict} takes judges' verdicts, and there are none",
            cure=f"run one: accord score {study.path}",
        )
    members = {item for item in frame.items if verdict in given.get(item, {}).values()}
    if not members:
        known = {said for item in frame.items for said in given.get(item, {}).values()}
        raise SettingsError(
            f"no judge's verdict on an item that can be drawn is {verdict!r}",
            cure=f"there are {', '.join(sorted(known)) or 'none'}",
        )
    return members


def _verdicts(study: Study, judges: Sequence[str]) -> tuple[dict[str, dict[str, str]], set[str]]:
    """Item → judge → the latest verdict that could be read; and the judges that gave any."""
    given: dict[str, dict[str, str]] = {}
    here: set[str] = set()
    for row in study.ledger.rating_rows():
        own = row.rater in judges if judges else row.rater != RULE
        if row.kind != "judge" or row.rating is None:
            continue
        if row.rater != RULE or judges:
            here.add(row.rater)
        if own:
            given.setdefault(row.item_id, {})[row.rater] = row.rating
    for name in judges:
        if name not in here:
            raise SettingsError(
                f"--judges names {name!r}, which gave no verdict here",
                cure=f"there are {', '.join(sorted(here)) or 'none'}",
            )
    return given, here


def _unsure(frame: Frame) -> set[str]:
    if CONFIDENCE not in frame.columns:
        raise SettingsError(
            f"--oversample {LOW_CONFIDENCE} reads the column {CONFIDENCE!r}, which the study's "
            "files do not have",
            cure=f"bring it in as a stratum (accord add … --strata {CONFIDENCE}), or use "
            f"{DISAGREEMENTS}",
        )
    values: dict[str, float] = {}
    for item, cell in zip(frame.items, frame.columns[CONFIDENCE], strict=True):
        if cell is None or not cell.strip():
            continue
        try:
            values[item] = float(cell)
        except ValueError:
            values[item] = math.nan
        if math.isnan(values[item]):
            raise SettingsError(
                f"the {CONFIDENCE} of item {item!r} is {cell!r}",
                cure="give numbers, or leave blank",
            )
    ordered = sorted(values.values())
    limit = ordered[max(0, math.ceil(_LOWEST * len(ordered)) - 1)] if ordered else -math.inf
    return {item for item, value in values.items() if value <= limit}


def _with_value(frame: Frame, name: str) -> set[str]:
    column, _, value = name.partition(":")
    if column not in frame.columns:
        raise SettingsError(
            f"--oversample names the column {column!r}, which is not there",
            cure=f"use {', '.join(sorted(frame.columns))}",
        )
    cells = zip(frame.items, frame.columns[column], strict=True)
    return {item for item, cell in cells if cell == value}
