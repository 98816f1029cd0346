"""What each judge's F1 is under other aligners, a response a row, and which pairs differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..scoring.align import ALIGNERS, Aligner
from ..scoring.errors import SettingsError
from ..scoring.score import Prepared, ResponseScore
from .identity import system_label
from .records import Response

if TYPE_CHECKING:
    import pandas as pd

    from ..scoring.align import Alignment

__all__ = ["AlignerScores", "named_aligners"]

ROUGE: Aligner = "optimal"
"""What ``rouge`` stands for: the best total of ROUGE-1 F1."""

Partners = dict[int, int | None]


class AlignerScores:
    """Collects scores and pairs during a run in which several aligners are compared."""

    def __init__(self, aligners: Sequence[Aligner]) -> None:
        self.aligners: tuple[Aligner, ...] = tuple(aligners)
        self._scores: dict[str, list[tuple[str, str, dict[Aligner, float]]]] = {}
        self._pairs: list[tuple[str, str, str, int, int]] = []

    def add_pairs(self, question_id: str, responses: Sequence[tuple[Response, Prepared]]) -> None:
        """Take the alignments of a question's responses; the first aligner is what others meet."""
        if not self.aligners:
            return
        for response, one in responses:
            system = system_label(response.system, response.variant)
            first, *others = ((name, one.others[name]) for name in self.aligners)
            partner = _partners(first[1])
            for name, other in others:
                differing = sum(partner[p] != r for p, r in _partners(other).items())
                self._pairs.append((question_id, system, name, len(partner), differing))

    def add_scores(self, judge: str, response: Response, score: ResponseScore) -> None:
        """Take a judge's F1 of one response under each aligner; NaN where it is undefined."""
        if self.aligners:
            system = system_label(response.system, response.variant)
            figures: dict[Aligner, float] = {name: score.others[name].f1 for name in self.aligners}
            self._scores.setdefault(judge, []).append((response.question_id, system, figures))

    def drop(self, judge: str) -> None:
        """Forget a judge that did not get to the end."""
        self._scores.pop(judge, None)

    def scores(self) -> pd.DataFrame:
        """Columns judge, question_id, system, then F1 under each aligner, by its name."""
        import pandas as pd

        rows = [
            (judge, question, system, *(figures[name] for name in self.aligners))
            for judge, found in self._scores.items()
            for question, system, figures in found
        ]
        return pd.DataFrame(rows, columns=["judge", "question_id", "system", *self.aligners])

    def pairs(self) -> pd.DataFrame:
        """Columns question_id, system, aligner, elements, differing: a row a response and aligner.

        ``differing`` counts the predicted elements that have another partner than under the first
        aligner, of ``elements``.
        """
        import pandas as pd

        names = ["question_id", "system", "aligner", "elements", "differing"]
        return pd.DataFrame(self._pairs, columns=names)


def _partners(alignment: Alignment) -> Partners:
    return {p.predicted: p.reference for p in alignment.pairs if p.predicted is not None}


def named_aligners(names: Sequence[str]) -> tuple[Aligner, ...]:
    """Aligners by the names a user writes: ``rouge`` is the optimal assignment on ROUGE-1 F1.

    Raises
    ------
    SettingsError
        When a name is unknown or stands twice, or there is only one.
    """
    known: dict[str, Aligner] = {"rouge": ROUGE}
    known.update({name: name for name in ALIGNERS})
    listed = ", ".join(name for name in known if name != ROUGE)
    for name in names:
        if name not in known:
            raise SettingsError(f"there is no aligner {name!r}", cure=f"use some of {listed}")
    found: list[Aligner] = [known[name] for name in names]
    for name, aligner in zip(names, found, strict=True):
        if found.count(aligner) > 1:
            raise SettingsError(f"--aligners names {name!r} twice", cure="name each aligner once")
    if len(found) == 1:
        raise SettingsError(
            f"--aligners has nothing to compare {names[0]} with",
            cure=f"name two or more of {listed}",
        )
    return tuple(found)
