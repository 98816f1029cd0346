"""A part of an agreement panel beyond its main figures: strata, ceiling, rater quality, ….

Each part is made by one function from one :class:`View` of the ratings, so that all parts count
the same items and call people's label by the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..study.ratings import Ratings
from .clusters import FloatArray
from .coding import Coded
from .panel_settings import PanelSettings
from .people import People
from .result import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from .responses import Responses

__all__ = ["Section", "SectionMaker", "View"]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What a part of the panel is made from.

    Parameters
    ----------
    ratings, coded, settings
        The ratings in long form, the same as codes ``(n_items, n_raters)``, and the options.
    people
        Whose label stands for people; None where there is none.
    responses
        The responses, or the reason why there are none.
    scores
        Rater (and ``people.name``) → ``(n_responses,)`` scores, NaN where not rated as a whole;
        empty without responses.
    tuned
        The items whose labels the judge's prompt was tuned on, which are in nothing else here;
        None where none are known.
    alignment
        What people said of the alignment, one row an item and annotator: ``item_id, rater,
        aligned, beside, belongs``; None where nobody was asked.
    """

    ratings: Ratings
    coded: Coded
    settings: PanelSettings
    people: People | None
    responses: Responses | str
    scores: Mapping[str, FloatArray] = field(default_factory=dict)
    tuned: Coded | None = None
    alignment: pd.DataFrame | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """One part.

    Parameters
    ----------
    name, title
        What JSON calls it, and a heading in words.
    results
        Its figures; ``details["comparison"]`` says what is compared, and ``details`` may have
        ``stratum``, ``strata``, ``rater``, ``system`` or ``measure``, which go beside the name.
    lines
        What a terminal prints below the heading.
    notes
        What the reader must be told with it.
    rows
        A table for JSON that is no figure (a confusion, a curve); one mapping a row.
    """

    name: str
    title: str
    results: tuple[Estimate, ...] = ()
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()


SectionMaker = Callable[[View], "Section | None"]
"""Makes a part, or None where the ratings have nothing for it."""
