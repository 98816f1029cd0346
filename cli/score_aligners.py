"""How ``accord score --aligners`` shows what other aligners would change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..scoring.encoder import ENCODER
from ..scoring.errors import SettingsError
from .common import columns, grid

if TYPE_CHECKING:
    from ..study.aligner_scores import AlignerScores
    from ..validate.result import Estimate

__all__ = ["aligner_lines", "aligner_settings", "effects", "read_aligners"]


def read_aligners(value: str | None) -> tuple[str, ...]:
    """The names of ``--aligners``; none where it is not given.

    Raises
    ------
    SettingsError
        When it is given and names nothing.
    """
    names = columns(value)
    if value is not None and not names:
        raise SettingsError("--aligners names none", cure="e.g. --aligners rouge,embedding")
    return names


def effects(aligned: AlignerScores, confidence: float) -> list[Estimate]:
    """What each aligner changes against the first."""
    from ..validate import aligner_effects

    found: list[Estimate] = aligner_effects(
        aligned.scores(), aligned.pairs(), aligners=aligned.aligners, confidence=confidence
    )
    return found


def aligner_settings(aligned: AlignerScores | None) -> dict[str, Any]:
    """What was compared, for the settings of the output: the aligners, and the encoder if used."""
    if aligned is None:
        return {}
    encoder = {"encoder": ENCODER} if "embedding" in aligned.aligners else {}
    return {"aligners": list(aligned.aligners), **encoder}


def aligner_lines(found: Sequence[Estimate]) -> Iterator[str]:
    """The effects as tables, one an aligner and judge."""
    for aligner in dict.fromkeys(one.details["aligner"] for one in found):
        of = [one for one in found if one.details["aligner"] == aligner]
        first = _shown(of[0].details["first"])
        pairs = {one.details["system"]: one for one in of if one.name == "pairs_that_differ"}
        changes = [one for one in of if one.name == "aligner_difference"]
        yield ""
        by = f" ({ENCODER})" if aligner == "embedding" else ""
        yield f"aligner {_shown(aligner)}{by} against {first}"
        for judge in dict.fromkeys(one.raters for one in changes):
            ours = [one for one in changes if one.raters == judge]
            yield f"judge {judge[0]}: mean F1"
            yield from grid(
                [
                    ["system", first, _shown(aligner), "difference", "responses", "elements moved"],
                    *(_row(one, pairs[one.details["system"]]) for one in ours),
                ]
            )
            yield from _notes(ours)
            of_systems = [one for one in ours if not math.isnan(one.estimate)]
            named = [one for one in of_systems if one.details["system"] is not None]
            if len(named) > 1:
                most = max(named, key=lambda one: abs(one.estimate))
                yield (
                    f"largest change of a system's F1: {abs(most.estimate):.4f} "
                    f"({most.details['system']})"
                )


def _row(one: Estimate, pairs: Estimate) -> list[str]:
    if math.isnan(one.estimate):
        change = "undefined"
    elif math.isnan(one.low):
        change = f"{one.estimate:+.4f}"
    else:
        change = f"{one.estimate:+.4f} [{one.low:+.4f}, {one.high:+.4f}]"
    system = one.details["system"]
    moved = "none to move"
    if pairs.n:
        share = f"{100 * pairs.estimate:.1f} %"
        if not math.isnan(pairs.low):
            share += f" [{100 * pairs.low:.1f}, {100 * pairs.high:.1f}]"
        moved = f"{share} ({pairs.details['count']:,} of {pairs.n:,})"
    return [
        "all systems" if system is None else system,
        _mean(one.details["mean_first"]),
        _mean(one.details["mean"]),
        change,
        f"{one.details.get('differing', 0):,} of {one.n:,} differ",
        moved,
    ]


def _notes(found: Sequence[Estimate]) -> Iterator[str]:
    """Why there is no interval, what was left out, and what to mind: each said once."""
    notes: dict[str, None] = {}
    for one in found:
        if one.reason is not None:
            notes[f"no interval: {one.reason.removeprefix('no interval: ')}"] = None
        for reason, count in one.dropped.items():
            if one.level == "dataset" or len(found) == 1:
                notes[f"left out: {count:,} responses ({reason})"] = None
        if one.level == "dataset" or len(found) == 1:
            notes.update(dict.fromkeys(one.warnings))
    yield from notes


def _mean(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4f}"


def _shown(aligner: str) -> str:
    return "rouge" if aligner == "optimal" else aligner
