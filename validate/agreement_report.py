"""How close are judges to people, and people to one another? The first panel.

Element level (the labels), response level (a score a response) and system level (its mean), since
the three diverge; people's own agreement stands beside the judge's on every coefficient. A judge's
rating never enters a figure about people: columns are chosen by the kind that every rating carries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring.errors import SettingsError
from ..scoring.records import Kind
from ..study.ratings import Ratings, RatingsOptions, Scale, read_ratings
from ..study.tuned import columns_for, mark_tuned
from .clusters import Unit
from .coding import code_ratings
from .figures import plain
from .methods import Method
from .panel import Confusion, Figures
from .panel_builder import PanelBuilder
from .panel_settings import Aggregate, Extra, PanelSettings, Unscored, Unsure
from .result import Estimate
from .section import Section
from .sections import make_sections
from .tuning import hold_out

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AgreementReport", "agreement"]

_BESIDE = (
    *("comparison", "system", "measure", "weighting"),
    *("stratum", "strata", "rater", "family", "split"),
)
"""What stands beside a figure's name, not among its details."""
_COLUMNS = (
    *("name", "level", "section", "comparison", "raters", *_BESIDE[1:], "estimate", "low", "high"),
    *("confidence", "method", "unit", "n", "clusters", "design_effect", "dropped"),
    *("reason", "warnings"),
)


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """The panel.

    Parameters
    ----------
    results
        Every figure; ``details["comparison"]`` is ``people``, ``judge-annotator`` or
        ``judge-final``.
    confusion
        The tables of each judge against each person and the final label.
    kinds
        Rater → kind.
    people
        Whose label stands for people: the final rater's name, ``majority``, ``mean``, the only
        annotator, or None where there is none.
    notes
        What the reader must be told first.
    dropped
        What was in the input and is in no figure: reason → count.
    settings, source
        The options, and rows and hash of the input.
    responses
        One row a judge and response that people rated: its score by the judge and by people.
    sections
        The parts beyond the main figures; theirs join the main ones in every output.
    items, clusters, noun
        How many items people rated, in how many clusters, and what a cluster is called.
    """

    results: tuple[Estimate, ...]
    confusion: tuple[Confusion, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    people: str | None = None
    notes: tuple[str, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    responses: tuple[Mapping[str, Any], ...] = ()
    sections: tuple[Section, ...] = ()
    items: int = 0
    clusters: int = 0
    noun: str = "question"

    def result_dicts(self) -> list[dict[str, Any]]:
        """Every figure as JSON values, the main ones first; what it is about at the top level.

        ``section`` names the part of the panel where it is not a main figure.
        """
        out = self.main_dicts()
        for part in self.sections:
            out += [{**one, "section": part.name} for one in _beside(part.results)]
        return out

    def main_dicts(self) -> list[dict[str, Any]]:
        """As :meth:`result_dicts`, without the figures of the sections."""
        return _beside(self.results)

    def to_dict(self) -> dict[str, Any]:
        """The panel as JSON values; ``confusion`` lists the tables."""
        return {
            "results": self.result_dicts(),
            "confusion": [table.to_dict() for table in self.confusion],
            "kinds": dict(self.kinds),
            "people": self.people,
            "notes": list(self.notes),
            "dropped": dict(self.dropped),
            "settings": dict(self.settings),
            "input": dict(self.source),
            "sections": self.section_dicts(),
        }

    def section_dicts(self) -> list[dict[str, Any]]:
        """Name, title, notes and rows of each section; its figures are among the results."""
        return [
            {
                "name": one.name,
                "title": one.title,
                "notes": list(one.notes),
                "rows": plain(list(one.rows)),
            }
            for one in self.sections
        ]

    def to_frame(self) -> pd.DataFrame:
        """One tidy row a figure."""
        import pandas as pd

        rows = []
        for one in self.result_dicts():
            row = {name: one.get(name) for name in _COLUMNS}
            row["raters"] = " ~ ".join(one["raters"])
            row["dropped"] = "; ".join(f"{n} {why}" for why, n in one["dropped"].items())
            row["warnings"] = "; ".join(one["warnings"])
            rows.append(row)
        return pd.DataFrame(rows, columns=list(_COLUMNS))


def agreement(
    ratings: Ratings | str | Path | pd.DataFrame,
    *,
    options: RatingsOptions | None = None,
    scale: Scale = "nominal",
    positive: str | None = None,
    categories: Sequence[str] = (),
    unit: Unit = "question",
    confidence: float = 0.95,
    method: Method = "default",
    resamples: int = 1999,
    seed: int = 0,
    final: str | None = None,
    aggregate: Aggregate | None = None,
    unsure: Unsure = "missing",
    unscored: Unscored = "missing",
    extra: Extra = "incorrect",
    ignore: Sequence[str] = (),
    strata: Sequence[str] = (),
    family: Mapping[str, str] | None = None,
    tuned_on: str | Path | Collection[str] | None = None,
    split: str | None = None,
    alignment: pd.DataFrame | None = None,
    figures: Figures = "all",
) -> AgreementReport:
    """Compare people with one another and each judge with people.

    Parameters
    ----------
    ratings
        Ratings of a study, or from :func:`~accord.study.read_ratings`; or what that reads: the
        path of a table, or a frame, one row a rating with ``item_id``, ``rater``, ``kind`` and
        ``rating``.
    options
        How a path or frame is read; its labels and scale are those given here.
    scale, positive, categories, unit, confidence, method, resamples, seed, final, aggregate, \
unsure, unscored, extra, ignore, strata, family
        As the fields of :class:`~accord.validate.panel_settings.PanelSettings`.
    tuned_on, split
        Which labels the judge's prompt was tuned on, as in
        :func:`~accord.study.tuned.mark_tuned`; the panel is then of the others.
    alignment
        What people said of the alignment (:func:`accord.annotate.alignment_answers`), one row an
        item and annotator: ``item_id, rater, aligned``, and ``beside`` and ``belongs``, the numbers
        of the reference elements where it stands and where the person puts it.
    figures
        ``main``: only those of the short table, which is quicker.

    Returns
    -------
    AgreementReport
        Element level: raw agreement, Cohen κ, MCC, Brennan-Prediger, Krippendorff α (at the scale's
        level and those below) and Gwet AC1; on ordered scales weighted κ and AC2; of two labels
        McNemar's test; for judges with a positive label sensitivity, specificity, precision and F1;
        for three annotators or more together also Fleiss' and Conger's κ. On numeric scales and at
        response level: Pearson, Spearman, Kendall τ-b, CCC, ICC, MAD, RMSE, bias (judge − people)
        and limits of agreement. System level: mean scores and their difference.

    Raises
    ------
    InputError, SettingsError
        As :func:`~accord.validate.coding.code_ratings` and :func:`~accord.study.read_ratings`; also
        when there is nothing to compare.

    Examples
    --------
    >>> import pandas as pd
    >>> from accord.validate import agreement
    >>> kinds = {"ann": "annotator", "bob": "annotator", "gpt": "judge"}
    >>> frame = pd.DataFrame(
    ...     {
    ...         "item_id": f"i{item}",
    ...         "question_id": f"q{item // 3}",
    ...         "rater": rater,
    ...         "kind": kind,
    ...         "rating": "CORRECT" if item % 5 > at else "INCORRECT",
    ...     }
    ...     for item in range(60)
    ...     for at, (rater, kind) in enumerate(kinds.items())
    ... )
    >>> report = agreement(frame)
    >>> report.people
    'majority'
    >>> table = report.to_frame().set_index(["name", "raters"])
    >>> round(float(table.loc[("cohen_kappa", "ann ~ bob"), "estimate"]), 3)
    0.545
    """
    settings = PanelSettings(
        scale=scale,
        positive=positive,
        categories=tuple(categories),
        unit=unit,
        confidence=confidence,
        method=method,
        resamples=resamples,
        seed=seed,
        final=final,
        aggregate=aggregate,
        unsure=unsure,
        unscored=unscored,
        extra=extra,
        ignore=tuple(ignore),
        strata=tuple(strata),
        family=dict(family or {}),
        tuned_on=_named(tuned_on),
        split=split,
    )
    if not isinstance(ratings, Ratings):
        options = replace(options or RatingsOptions(), scale=scale)
        if settings.categories:
            options = replace(options, categories=settings.categories)
        kept = (*options.strata, *settings.strata)
        marks = (*options.marks, *columns_for(tuned_on, split))
        options = replace(options, strata=kept, marks=marks)
        ratings = read_ratings(ratings, options)
    elif options is not None:
        raise SettingsError(
            "options say how a table is read, and these ratings are read already",
            cure="give them to read_ratings",
        )
    if tuned_on is not None or split is not None:
        ratings = mark_tuned(ratings, tuned_on=tuned_on, split=split)
    ratings, coded, tuned = hold_out(ratings, code_ratings(ratings, settings))
    panel = PanelBuilder(ratings, coded, settings, figures)
    view = replace(panel.fill(), tuned=tuned, alignment=alignment)
    return AgreementReport(
        results=tuple(panel.results),
        confusion=tuple(panel.tables),
        kinds=dict(zip(coded.raters, coded.kinds, strict=True)),
        people=panel.people.name if panel.people else None,
        notes=tuple(dict.fromkeys(panel.notes)),
        dropped=dict(ratings.dropped),
        settings={**settings.to_dict(), "cluster": list(ratings.cluster)},
        source=ratings.source,
        responses=tuple(panel.rows),
        sections=make_sections(view),
        items=int(coded.labelled.sum()),
        clusters=int(np.unique(coded.clusters[coded.labelled]).size),
        noun=coded.noun,
    )


def _named(tuned_on: str | Path | Collection[str] | None) -> str | None:
    """What was tuned on, for the record."""
    if tuned_on is None or isinstance(tuned_on, (str, Path)):
        return None if tuned_on is None else str(tuned_on)
    return f"{len(set(tuned_on))} items"


def _beside(results: Iterable[Estimate]) -> list[dict[str, Any]]:
    """Figures as JSON values, with what they are about at the top level."""
    out = []
    for one in results:
        values = one.to_dict()
        out.append({**values, **{key: one.details[key] for key in _BESIDE if key in one.details}})
    return out
