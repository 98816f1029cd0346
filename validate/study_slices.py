"""Scores by slice of a study: the figures, and the tables that a terminal and a report show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .result import Estimate
from .slices import (
    answer_states,
    bands,
    slice_scores,
    token_efficiency,
    variant_differences,
    verbosity,
)

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["SliceTable", "check_slices", "slice_tables", "slices_of"]

_FEW = 20
_FIGURE = {"llm_judge_f1": "F1", "share_correct": "share correct"}


@dataclass(frozen=True, slots=True)
class SliceTable:
    """Figures of one kind, as texts.

    Parameters
    ----------
    title
        What the table is of; all there is to say where it has no rows.
    columns, texts
        Their names, and those of them that hold words.
    notes
        What is to be read below it.
    """

    title: str
    columns: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The table as JSON values."""
        return {
            "title": self.title,
            "columns": list(self.columns),
            "texts": list(self.texts),
            "rows": [list(row) for row in self.rows],
            "notes": list(self.notes),
        }


def check_slices(study: Study, names: Sequence[str]) -> None:
    """Refuse what the study can't be sliced by, before any judge is asked.

    Raises
    ------
    SettingsError
        When nothing in the study has a field of that name, or its recipe is not for lists.
    """
    from ..scoring.study_recipes import list_recipe
    from ..study.score_frame import check_fields

    if names:
        list_recipe(study.settings.recipe(), "--by")
        check_fields(study, names)


def slices_of(study: Study, names: Sequence[str]) -> dict[str, list[Estimate]]:
    """The figures of each slice that was asked for.

    Raises
    ------
    StudyError
        When the study has no scores of what it holds now.
    """
    from ..study.score_frame import LIST_LENGTH, score_frame

    frame = score_frame(study, names)
    figure = "llm_judge_f1" if frame["llm_judge_f1"].notna().any() else "share_correct"
    shared: dict[str, Any] = {"figure": figure, "confidence": study.settings.confidence}
    found: dict[str, list[Estimate]] = {}
    for name in names:
        if name == "state":
            found[name] = answer_states(frame, **shared)
        elif name == "variant":
            found[name] = variant_differences(frame, **shared)
        elif name in (LIST_LENGTH, "output_tokens"):
            cut = frame.copy()
            cut[name] = bands(frame[name].tolist())
            found[name] = slice_scores(cut, name, **shared)
            if name == "output_tokens":
                found[name] += token_efficiency(frame, **shared)
                found[name] += verbosity(frame, seed=study.settings.seed, **shared)
        else:
            found[name] = slice_scores(frame, name, **shared)
    return found


def slice_tables(found: Mapping[str, Sequence[Estimate]]) -> Iterator[SliceTable]:
    """The figures of :func:`slices_of` as tables, one for each slice and judge."""
    for name, figures in found.items():
        if name == "state":
            yield _states(figures)
        elif name == "variant":
            yield _variants(figures)
        else:
            yield from _slices(name, [one for one in figures if "slice" in one.details])
            yield from _tokens([one for one in figures if "slice" not in one.details])


def _slices(name: str, figures: Sequence[Estimate]) -> Iterator[SliceTable]:
    for judge in dict.fromkeys(one.raters for one in figures):
        ours = [one for one in figures if one.raters == judge]
        what = _FIGURE.get(ours[0].name, ours[0].name)
        rows = []
        for one in ours:
            rest, p = one.details["rest"], one.details["p_adjusted"]
            rows.append(
                (
                    one.details["system"],
                    "" if one.details["slice"] is None else str(one.details["slice"]),
                    _figure(one),
                    f"{one.clusters:,}",
                    f"{one.n:,}",
                    "" if rest is None else _figure(rest, sign="+"),
                    "" if p is None else f"{p:.3f}",
                )
            )
        tested = any(one.details["p_adjusted"] is not None for one in ours)
        said = "p: no difference from the rest of that system, adjusted over its slices (Holm)"
        yield SliceTable(
            f"judge {judge[0]}: mean {what} by {name}",
            ("system", name, f"mean {what}", "questions", "answers", "less the rest", "p"),
            ("system", name),
            tuple(rows),
            (*([said] if tested else []), *_notes(ours)),
        )


def _tokens(figures: Sequence[Estimate]) -> Iterator[SliceTable]:
    if not figures:
        return
    rows = []
    keys = dict.fromkeys((one.details["system"], one.raters) for one in figures)
    for system, judge in keys:
        of = {
            one.name: one
            for one in figures
            if (one.details["system"], one.raters) == (system, judge)
        }
        pay = of["score_per_1000_tokens"]
        mean = pay.details["mean_tokens"]
        rows.append(
            (
                system,
                judge[0],
                "" if math.isnan(mean) else f"{mean:,.0f}",
                _figure(pay),
                _figure(of["verbosity_spearman"], sign="+"),
                _figure(of["verbosity_pearson"], sign="+"),
            )
        )
    yield SliceTable(
        "length of the answers in output tokens",
        ("system", "judge", "mean tokens", "score a 1,000", "Spearman", "Pearson (log)"),
        ("system", "judge"),
        tuple(rows),
        ("correlations of tokens with the score, within each system", *_notes(figures)),
    )


def _states(figures: Sequence[Estimate]) -> SliceTable:
    rates = [one for one in figures if one.name.startswith("rate_")]
    given = [one for one in figures if not one.name.startswith("rate_")]
    states = list(dict.fromkeys(one.name.removeprefix("rate_") for one in rates))
    judges = list(dict.fromkeys(one.raters[0] for one in given))
    rows = []
    for system in dict.fromkeys(one.details["system"] for one in rates):
        ours = [_share(one) for one in rates if one.details["system"] == system]
        theirs = {one.raters[0]: one for one in given if one.details["system"] == system}
        rows.append((system, *ours, *(_figure(theirs[j]) if j in theirs else "" for j in judges)))
    return SliceTable(
        "states of the answers: share of all, and the mean score of those given",
        ("system", *states, *(f"when given, {judge}" for judge in judges)),
        ("system",),
        tuple(rows),
        tuple(_notes(figures)),
    )


def _variants(figures: Sequence[Estimate]) -> SliceTable:
    if not figures:
        return SliceTable("no system has several variants")
    rows = []
    for one in figures:
        about = one.details
        rows.append(
            (
                about["system"],
                one.raters[0],
                about["variant"] or "(plain)",
                f"{about['mean']:.4f}",
                about["first"] or "(plain)",
                f"{about['mean_first']:.4f}",
                _figure(one, sign="+"),
                f"{one.n:,}",
            )
        )
    return SliceTable(
        "variants of a system, on the questions that both answered",
        ("system", "judge", "variant", "mean", "against", "mean", "difference", "questions"),
        ("system", "judge", "variant", "against"),
        tuple(rows),
        tuple(_notes(figures)),
    )


def _figure(one: Estimate, sign: str = "") -> str:
    if math.isnan(one.estimate):
        return "undefined"
    if math.isnan(one.low):
        return f"{one.estimate:{sign}.4f}"
    return f"{one.estimate:{sign}.4f} [{one.low:{sign}.4f}, {one.high:{sign}.4f}]"


def _share(one: Estimate) -> str:
    if math.isnan(one.estimate):
        return "undefined"
    limits = "" if math.isnan(one.low) else f" [{100 * one.low:.1f}, {100 * one.high:.1f}]"
    return f"{100 * one.estimate:.1f} %{limits}"


def _notes(figures: Sequence[Estimate]) -> Iterator[str]:
    """What was left out, and why there is no figure or interval: each said once."""
    notes: dict[str, None] = {}
    if any(one.clusters < _FEW and not math.isnan(one.low) for one in figures):
        notes[f"intervals from fewer than {_FEW} questions are approximate and wide"] = None
    for one in figures:
        if one.reason is not None:
            kind = "undefined" if math.isnan(one.estimate) else "no interval"
            notes[f"{kind}: {one.reason.removeprefix('no interval: ')}"] = None
        for reason, count in one.dropped.items():
            notes[f"left out: {count:,} answers of {one.details['system']} ({reason})"] = None
    yield from notes
