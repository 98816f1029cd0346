"""What an agreement panel is asked for, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..scoring.errors import SettingsError
from ..study.ratings import SCALES, Ratings, Scale
from .clusters import Unit, check_confidence, check_unit
from .methods import METHODS, PROPORTION_METHODS, Method, check_drawing
from .resampling import Draws

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["AGGREGATES", "Aggregate", "Extra", "PanelSettings", "Unscored", "Unsure", "options_of"]

Aggregate = Literal["majority", "mean", "adjudicated", "unanimous", "ground-truth", "dawid-skene"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)
Unsure = Literal["missing", "incorrect", "half", "category"]
Unscored = str
"""``missing``, ``incorrect``, ``category``, or the label that such a reply counts as."""
Extra = Literal["incorrect", "ignore", "credit"]


@dataclass(frozen=True, slots=True)
class PanelSettings:
    """What an agreement panel is asked for; the fields are the command's options.

    Parameters
    ----------
    scale
        Of the ratings.
    positive
        The label that counts as right (or found); default CORRECT where that is a label.
    categories
        The declared labels in order; default those that occur.
    unit
        ``question`` (the clusters) or ``item``, which takes items as independent.
    confidence, method, resamples, seed
        Of the intervals. A method other than ``default`` is that of every main figure that has it.
    final
        The rater whose label is final; by default people are aggregated.
    aggregate
        How: ``majority`` (a tie gives no label), ``mean`` (numbers only), ``adjudicated`` (the
        adjudicated label where there is one, else the majority), ``unanimous`` (only where two or
        more annotators all gave the same label), ``ground-truth`` (only labels flagged so in Label
        Studio), ``dawid-skene`` (labels only: the likeliest by a model of three or more
        annotators' errors, :func:`~accord.validate.latent_classes.dawid_skene`).
    unsure
        UNSURE is left out (``missing``), counted as wrong, as half right in a response's score and
        as a category of its own beside labels (``half``), or only as a category.
    unscored
        A judge's unreadable reply is left out (``missing``), counted as wrong, as a category of its
        own, or as the label named here.
    extra
        A verdict with the reason "correct but missing from the reference" counts as wrong, is left
        out (``ignore``), or counts as right (``credit``).
    ignore
        Labels of elements that do not count, such as irrelevant ones: left out of every figure, and
        no element of the response.
    strata
        Columns by whose values agreement is also given.
    family
        Judge or system → family of models, for a judge's bias towards its own.
    tuned_on, split
        What said which labels the judge's prompt was tuned on; those stand apart, marked in the
        ratings (:func:`~accord.study.tuned.mark_tuned`). For the record only.
    """

    scale: Scale = "nominal"
    positive: str | None = None
    categories: tuple[str, ...] = ()
    unit: Unit = "question"
    confidence: float = 0.95
    method: Method = "default"
    resamples: int = 1999
    seed: int = 0
    final: str | None = None
    aggregate: Aggregate | None = None
    unsure: Unsure = "missing"
    unscored: Unscored = "missing"
    extra: Extra = "incorrect"
    ignore: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    family: Mapping[str, str] = field(default_factory=dict)
    tuned_on: str | None = None
    split: str | None = None
    draws: Draws = field(init=False, repr=False, compare=False)
    """One resampling for all figures."""

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        check_unit(self.unit)
        for option, value, known in (
            ("scale", self.scale, SCALES),
            ("method", self.method, (*METHODS, "korn-graubard")),
            ("aggregate", self.aggregate, (None, *AGGREGATES)),
            ("unsure", self.unsure, ("missing", "incorrect", "half", "category")),
            ("extra", self.extra, ("incorrect", "ignore", "credit")),
        ):
            if value not in known:
                words = ", ".join(word for word in known if word)
                raise SettingsError(f"--{option} {value!r} is not known", cure=f"one of {words}")
        if self.resamples and not 199 <= self.resamples <= 100_000:
            raise SettingsError(
                f"--resamples {self.resamples} is not between 199 and 100,000",
                cure="1999, or 0 for intervals without resampling",
            )
        check_drawing(self.method, self.resamples)
        if len(set(self.strata)) < len(self.strata):
            raise SettingsError("--strata names a column twice", cure="name it once")
        if self.seed < 0:
            raise SettingsError(f"--seed {self.seed} is negative", cure="e.g. 0")
        if self.aggregate == "mean" and not self.numeric:
            raise SettingsError(
                "--aggregate mean needs numbers", cure="add --scale interval, or take majority"
            )
        if self.aggregate == "dawid-skene" and self.numeric:
            raise SettingsError(
                "--aggregate dawid-skene needs labels, and these are numbers", cure="take mean"
            )
        object.__setattr__(self, "draws", Draws(self.seed, self.resamples))

    @property
    def numeric(self) -> bool:
        """Whether differences of ratings mean something."""
        return self.scale in ("interval", "ratio")

    @property
    def interval(self) -> dict[str, Any]:
        """The method that coefficients are given, and what it draws from."""
        method = self.method if self.method in METHODS else "default"
        return {"method": method, "rng": self.draws}

    @property
    def interval_of_share(self) -> dict[str, Any]:
        """The same for proportions."""
        method = self.method if self.method in PROPORTION_METHODS else "default"
        return {"method": method, "rng": self.draws}

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON values, for the output."""
        names = [name for name, one in self.__dataclass_fields__.items() if one.init]
        out = {name: getattr(self, name) for name in names}
        lists = {name: list(getattr(self, name)) for name in ("categories", "strata", "ignore")}
        return {**out, **lists, "family": dict(self.family)}


def options_of(
    study: Study, given: Mapping[str, Any], ratings: Ratings | None = None
) -> dict[str, Any]:
    """Options for a study's panel: what is not given (or None) is as the study and its recipe say.

    So UNSURE, unreadable replies and elements that are correct but missing from the reference count
    in an agreement as they do in the study's scores. ``ratings`` of a labelling template bring its
    scale and its categories; on an order of numbers a judge's own number (4.5) has its place among
    them.
    """
    recipe = study.settings.recipe()
    own: dict[str, Any] = {"confidence": study.settings.confidence, "seed": study.settings.seed}
    if ratings is not None and ratings.scale is not None:
        own |= {"scale": ratings.scale, "categories": _offered(ratings)}
    else:
        own |= {name: getattr(recipe, name) for name in _OF_RECIPE if hasattr(recipe, name)}
    left = {*own, *_OF_RECIPE, "scale"}
    # what is given may be a table, which can't be compared with a value
    chosen = {
        name: value
        for name, value in given.items()
        if name not in left or not (value is None or (isinstance(value, tuple) and not value))
    }
    return {**own, **chosen}


_OF_RECIPE = ("unsure", "unscored", "extra")


def _offered(ratings: Ratings) -> tuple[str, ...]:
    """The page's categories; where all are numbers, with the other numbers that were given."""
    offered = ratings.categories
    try:
        known = {float(label): label for label in offered}
        given = {float(label): label for label in ratings.frame["rating"].dropna()}
    except ValueError:
        return offered
    return tuple(label for _, label in sorted((given | known).items()))
