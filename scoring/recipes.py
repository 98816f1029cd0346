"""Recipes: named, complete sets of scoring conventions.

The papers leave many conventions open (the parser, elements without a common token, averaging), and
each of them moves the figures. A recipe fixes all of them, and its block travels with every score.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args, get_origin, get_type_hints

from .align import Aligner, Compared, ZeroOverlap
from .encoder import ENCODER
from .errors import SettingsError
from .parse import PARSER
from .tokens import Tokenizer

__all__ = ["FILE_RECIPES", "PARSER", "RECIPES", "Recipe", "recipe"]


@dataclass(frozen=True)
class Recipe:
    """All conventions that shape a score. Unknown to the papers, hence settings.

    Parameters
    ----------
    name
        The recipe this one started from.
    parser
        The list parser and its version.
    compared
        What the aligner compares: ``text`` (the whole element) or ``head`` (the part before an
        explanation, where there is one); attribute values are added, keys are not.
    tokenizer, stem
        What ROUGE-1 counts: ``rouge`` (equal to the rouge_score package), ``unicode``,
        ``unicode-folded``; Porter's stemmer or none.
    aligner
        ``optimal``, ``greedy``, ``embedding`` or ``positional``, see :mod:`accord.scoring.align`.
        Ordered questions get the positional one besides.
    encoder
        Of the aligner ``embedding``, with its version; not in the block of the others.
    zero_overlap
        Elements left over without a common token: paired in order for the judge (``judge``) or
        unmatched, hence incorrect (``incorrect``).
    duplicates
        ``count``: each predicted element stands for itself, a repetition costs precision;
        ``collapse``: of predicted elements with equal normalised text the first is kept.
    aside
        Blocks that comment on the answer instead of giving it: ``drop`` or ``keep`` their elements.
    rouge_threshold
        A pair counts for ROUGE-F1 from this ROUGE-1 F1 on.
    unscored, unsure
        A verdict that could not be read, and the verdict UNSURE: ``missing`` takes the pair out of
        both counts, ``incorrect`` leaves it wrong, ``half`` (unsure only) counts one half.
    extra
        A predicted element without a reference element whose verdict is CORRECT ("correct but
        missing from the reference"): ``incorrect``, ``ignore`` (left out of precision) or
        ``credit`` (the reference is taken to have it).
    relaxed
        String match of Relaxed-Recall and Relaxed-Precision: ``substring`` or whole ``words``.
    relaxed_precision
        A predicted element counts if it stands in the reference (``in-reference``), or if a
        reference element stands in it as well (``either``).
    format_min_elements
        Format-Correctness is 0 below so many predicted elements.
    averaging
        ``response``: the mean of the responses' figures; ``pooled``: one figure from their counts.
    """

    name: str = "listqa"
    parser: str = PARSER
    compared: Compared = "text"
    tokenizer: Tokenizer = "rouge"
    stem: bool = False
    aligner: Aligner = "optimal"
    encoder: str = ENCODER
    zero_overlap: ZeroOverlap = "judge"
    duplicates: Literal["count", "collapse"] = "count"
    aside: Literal["drop", "keep"] = "drop"
    rouge_threshold: float = 0.5
    unscored: Literal["missing", "incorrect"] = "missing"
    unsure: Literal["missing", "incorrect", "half"] = "missing"
    extra: Literal["incorrect", "ignore", "credit"] = "incorrect"
    relaxed: Literal["substring", "words"] = "substring"
    relaxed_precision: Literal["either", "in-reference"] = "either"
    format_min_elements: int = 3
    averaging: Literal["response", "pooled"] = "response"

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            if name.startswith("_") or name not in self.__dataclass_fields__:
                continue
            value = getattr(self, name)
            if get_origin(kind) is Literal and value not in get_args(kind):
                known = ", ".join(map(str, get_args(kind)))
                raise SettingsError(
                    f"the recipe's {name} can't be {value!r}", cure=f"use one of {known}"
                )
            if kind is bool and not isinstance(value, bool):
                raise SettingsError(f"the recipe's {name} can't be {value!r}", cure="true or false")
        if self.parser != PARSER:
            raise SettingsError(
                f"the recipe's parser {self.parser!r} is not in this version of accord",
                cure=f"use {PARSER}, and score again what was scored with another",
            )
        if self.encoder != ENCODER:
            raise SettingsError(
                f"the recipe's encoder {self.encoder!r} is not in this version of accord",
                cure=f"use {ENCODER}, and score again what was scored with another",
            )
        threshold, least = self.rouge_threshold, self.format_min_elements
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
            threshold = math.nan
        if not 0 < threshold <= 1:
            raise SettingsError(
                f"the recipe's rouge_threshold can't be {self.rouge_threshold!r}",
                cure="use a number above 0, at most 1",
            )
        object.__setattr__(self, "rouge_threshold", float(threshold))  # 1 and 1.0 are one recipe
        if isinstance(least, bool) or not isinstance(least, int) or least < 0:
            raise SettingsError(
                f"the recipe's format_min_elements can't be {least!r}",
                cure="use a whole number from 0",
            )

    def block(self) -> dict[str, Any]:
        """Every convention by name: what makes two scores comparable."""
        return dict(self._block)

    @cached_property
    def _block(self) -> dict[str, Any]:
        block = dataclasses.asdict(self)
        if self.aligner != "embedding":
            del block["encoder"]
        return block

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the block, 64 hex digits."""
        text = json.dumps(self.block(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


RECIPES = {"listqa": Recipe()}
"""The recipes by name."""

FILE_RECIPES = ("knowledgeberg", "sciknoweval")
"""Recipes that score a benchmark's own file, without a study."""


def recipe(name: str = "listqa", **overrides: Any) -> Recipe:
    """A recipe by name, with some of its conventions changed.

    Raises
    ------
    SettingsError
        When the name, a convention or its value is unknown.

    Examples
    --------
    >>> recipe("listqa", zero_overlap="incorrect").zero_overlap
    'incorrect'
    """
    if name in FILE_RECIPES:
        raise SettingsError(
            f"the recipe {name!r} scores answers to a benchmark's own questions, not lists",
            cure=f"make a study of it: accord init STUDY --recipe {name}",
        )
    if name not in RECIPES:
        raise SettingsError(
            f"recipe {name!r} is unknown", cure=f"use one of {', '.join(sorted(RECIPES))}"
        )
    known = {field.name for field in dataclasses.fields(Recipe)} - {"name"}
    for key in overrides:
        if key not in known:
            raise SettingsError(
                f"a recipe has no convention {key!r}", cure=f"known are {', '.join(sorted(known))}"
            )
    return dataclasses.replace(RECIPES[name], **overrides)
