"""Means of scores in groups: a table of two columns, and three ways to one overall figure.

A mean over samples, over tasks and over levels of tasks are three estimands, not three estimates of
one: tasks differ in size by a factor of forty. All are computed; a report names its primary one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from .errors import InputError, SettingsError

__all__ = [
    "AGGREGATES",
    "Aggregate",
    "Aggregates",
    "Mean",
    "Sample",
    "TwoWay",
    "aggregate",
    "two_way",
]

Aggregate = Literal["task-level-overall", "task-macro", "sample-micro"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean of ``n`` values in [0, 1]; NaN with a reason where there are none.

    ``left_out`` counts values that are undefined (NaN) and in no mean.
    """

    value: float
    n: int
    left_out: int = 0
    reason: str | None = None

    @classmethod
    def of(cls, values: Iterable[float], *, nothing: str = "nothing to average") -> Mean:
        """The mean of the values that are numbers."""
        listed = list(values)
        known = [value for value in listed if not math.isnan(value)]
        left_out = len(listed) - len(known)
        if not known:
            return cls(math.nan, 0, left_out, "no value is defined" if listed else nothing)
        return cls(math.fsum(known) / len(known), len(known), left_out)

    def to_dict(self) -> dict[str, Any]:
        """The mean as JSON values; NaN becomes None."""
        value = self.value if math.isfinite(self.value) else None
        return {"value": value, "n": self.n, "left_out": self.left_out, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class TwoWay:
    """Means by two columns, such as domain and language.

    ``cells`` holds every combination of ``rows`` and ``columns``; one without values is NaN with a
    reason. ``row_means``, ``column_means`` and ``overall`` are over the values, not over the cells.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Mean]
    row_means: Mapping[str, Mean]
    column_means: Mapping[str, Mean]
    overall: Mean

    def to_rows(self, names: tuple[str, str] = ("row", "column")) -> list[dict[str, Any]]:
        """One flat row a cell; a margin has None in the column it runs over."""
        one, other = names
        out = [{one: r, other: c, **mean.to_dict()} for (r, c), mean in self.cells.items()]
        out += [{one: r, other: None, **mean.to_dict()} for r, mean in self.row_means.items()]
        out += [{one: None, other: c, **mean.to_dict()} for c, mean in self.column_means.items()]
        return [*out, {one: None, other: None, **self.overall.to_dict()}]


def two_way(values: Iterable[tuple[str, str, float]]) -> TwoWay:
    """The means of ``(row, column, value)`` triples by both; the names in alphabetical order.

    Raises
    ------
    InputError
        When a name is blank: a value that belongs nowhere would be in the margins alone.
    """
    listed = list(values)
    for place, (row, column, _) in enumerate(listed):
        if not row.strip() or not column.strip():
            raise InputError(
                f"value {place + 1} has a blank group ({row!r}, {column!r})",
                cure="name both groups of every value",
            )
    rows = tuple(sorted({row for row, _, _ in listed}))
    columns = tuple(sorted({column for _, column, _ in listed}))

    def mean(keep: Callable[[str, str], bool]) -> Mean:
        return Mean.of(value for row, column, value in listed if keep(row, column))

    of: dict[tuple[str, str], list[float]] = {(r, c): [] for r in rows for c in columns}
    for row, column, value in listed:
        of[(row, column)].append(value)
    return TwoWay(
        rows=rows,
        columns=columns,
        cells={key: Mean.of(found) for key, found in of.items()},
        row_means={r: mean(lambda row, _, r=r: row == r) for r in rows},  # type: ignore[misc]
        column_means={c: mean(lambda _, column, c=c: column == c) for c in columns},  # type: ignore[misc]
        overall=mean(lambda *_: True),
    )


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample's score in [0, 1] with its place; NaN where it has none."""

    domain: str
    level: str
    task: str
    value: float


TaskKey = tuple[str, str, str]
"""Domain, level, task."""


@dataclass(frozen=True, slots=True)
class Aggregates:
    """Three overall figures of one set of samples, and what they are made of.

    ``task-level-overall``: the mean of the levels' means of their tasks' means. ``task-macro``: the
    mean of the tasks' means. ``sample-micro``: the mean of the samples. ``primary`` names the one
    that is reported as the score.
    """

    figures: Mapping[Aggregate, Mean]
    primary: Aggregate
    tasks: Mapping[TaskKey, Mean]
    levels: Mapping[str, Mean]
    by_domain_and_level: TwoWay

    @property
    def overall(self) -> Mean:
        """The primary figure."""
        return self.figures[self.primary]

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return {
            "primary": self.primary,
            "figures": {name: mean.to_dict() for name, mean in self.figures.items()},
            "levels": {name: mean.to_dict() for name, mean in self.levels.items()},
            "tasks": [
                {"domain": domain, "level": level, "task": task, **mean.to_dict()}
                for (domain, level, task), mean in self.tasks.items()
            ],
            "domain_by_level": self.by_domain_and_level.to_rows(("domain", "level")),
        }


def aggregate(
    samples: Sequence[Sample],
    *,
    primary: Aggregate = "task-level-overall",
    pooled: Mapping[TaskKey, float] | None = None,
) -> Aggregates:
    """Average samples over tasks, levels and all.

    Parameters
    ----------
    samples
        A task is told by domain, level and name. NaN values are in no mean and counted.
    primary
        Which of the three is the score.
    pooled
        Tasks whose figure comes from their samples' summed counts instead of their mean. Such a
        task has no value a sample, so the mean of the samples is then undefined.

    Returns
    -------
    Aggregates
        In the table of domain and level each task counts once.

    Raises
    ------
    SettingsError
        When ``primary`` is unknown.
    InputError
        When there is no sample, or a pooled task has none.
    """
    if primary not in AGGREGATES:
        raise SettingsError(
            f"aggregate can't be {primary!r}", cure=f"use one of {', '.join(AGGREGATES)}"
        )
    if not samples:
        raise InputError("there is no sample to average", cure="score some responses first")
    of: dict[TaskKey, list[float]] = {}
    for sample in samples:
        of.setdefault((sample.domain, sample.level, sample.task), []).append(sample.value)
    tasks = {key: Mean.of(values) for key, values in sorted(of.items())}
    for key, value in (pooled or {}).items():
        if key not in tasks:
            raise InputError(f"the pooled task {key!r} has no sample", cure="name a task it has")
        tasks[key] = Mean(value, tasks[key].n, tasks[key].left_out)
    levels = {
        level: Mean.of(mean.value for (_, one, _), mean in tasks.items() if one == level)
        for level in sorted({level for _, level, _ in tasks})
    }
    micro = Mean.of(sample.value for sample in samples)
    if pooled:
        micro = Mean(math.nan, 0, micro.left_out, "a pooled task has no value a sample")
    return Aggregates(
        figures={
            "task-level-overall": Mean.of(mean.value for mean in levels.values()),
            "task-macro": Mean.of(mean.value for mean in tasks.values()),
            "sample-micro": micro,
        },
        primary=primary,
        tasks=tasks,
        levels=levels,
        by_domain_and_level=two_way(
            (d, level, mean.value) for (d, level, _), mean in tasks.items()
        ),
    )
