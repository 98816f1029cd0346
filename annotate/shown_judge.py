"""A judge's verdicts on people's pages, on explicit request: as predictions, and marked as such.

The mark stands in the version of each task's template, so it comes back with every format, and a
task that lost it is of no version that the study knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..scoring.errors import SettingsError
from ..scoring.records import VERDICTS
from ..study.anchored import MARK
from ..study.weights import RETEST
from .tasks import Graded
from .template import Template

if TYPE_CHECKING:
    from ..study import Study
    from ..study.records import Sample

__all__ = ["ShownJudge", "marked", "show_judge", "split_version"]


@dataclass(frozen=True, slots=True)
class ShownJudge:
    """The judge that a page shows, and its verdict on each item it has one of."""

    name: str
    page: Template
    verdicts: Mapping[str, str] = field(repr=False)

    def add_to(self, task: dict[str, Any]) -> dict[str, Any]:
        """The task with its prediction, where the judge has a verdict on its item."""
        verdict = self.verdicts.get(task["data"]["item_id"])
        if verdict is None:
            return task
        result = self.page.answer(verdict)
        return {**task, "predictions": [{"model_version": self.name, "result": result}]}

    def notes(self, items: Sequence[Graded]) -> list[str]:
        """What whoever hands the items out must know."""
        said = [
            f"people see the verdicts of {self.name}, which draw them towards it: their labels are"
            f" marked {self.page.guideline}, are not blind and enter no figure unless accord agree"
            " --anchored asks for them"
        ]
        without = sum(item.item_id not in self.verdicts for item in items)
        if without:
            said.append(f"{self.name} has no verdict on {without} items; they are shown without")
        return said


def show_judge(study: Study, sample: Sample, page: Template, judge: str) -> ShownJudge:
    """The verdicts of a judge for the pages of a template, which is marked.

    Raises
    ------
    SettingsError
        When the template does not grade items one at a time, the sample is a retest, or there is
        no such judge.
    """
    if page.unit != "pair" or page.scale != "verdict" or page.kind != "annotator":
        raise SettingsError(
            f"--show-judge shows verdicts on items, and the template {page.name} does not grade"
            " them one at a time",
            cure="use --template pair",
        )
    if sample.purpose == RETEST:
        raise SettingsError(
            f"{sample.sample_id!r} is a retest, which asks the same again",
            cure="leave --show-judge out",
        )
    judges: dict[str, dict[str, str]] = {}
    for row in study.ledger.rating_rows():
        if row.kind == "judge":
            given = judges.setdefault(row.rater, {})
            if row.rating in VERDICTS:
                given[row.item_id] = row.rating
    wanted = {item for item, _ in sample.items}
    if judge not in judges or not wanted & set(judges[judge]):
        there = sorted(name for name, given in judges.items() if wanted & set(given))
        raise SettingsError(
            f"--show-judge names {judge!r}, which has no verdict on an item of sample"
            f" {sample.sample_id!r}",
            cure=f"use {', '.join(there)}" if there else f"run accord score {study.path} first",
        )
    return ShownJudge(judge, marked(page, judge), judges[judge])


def marked(page: Template, judge: str) -> Template:
    """The template as one that shows the judge."""
    return replace(page, version=f"{page.version}{MARK}{judge}")


def split_version(version: str) -> tuple[str, str | None]:
    """A template's own version, and the judge that its page shows."""
    own, mark, judge = version.partition(MARK)
    return own, judge if mark else None
