"""The recipes that a study can have: list questions, and benchmarks with rules of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import SettingsError
from .recipes import FILE_RECIPES, RECIPES, Recipe, recipe

if TYPE_CHECKING:
    from .sciknoweval import SciKnowEvalRecipe
    from .universe import UniverseRecipe

    AnyRecipe = Recipe | UniverseRecipe | SciKnowEvalRecipe

__all__ = ["list_recipe", "study_recipe"]


def study_recipe(name: str = "listqa", **overrides: Any) -> AnyRecipe:
    """A study's recipe by name, with some of its conventions changed.

    Raises
    ------
    SettingsError
        When the name, a convention or its value is unknown.

    Examples
    --------
    >>> study_recipe("knowledgeberg", articles="keep").block()["articles"]
    'keep'
    """
    if name == "knowledgeberg":
        from .universe import UniverseRecipe

        return _changed(UniverseRecipe, overrides)
    if name == "sciknoweval":
        from .sciknoweval import SciKnowEvalRecipe

        return _changed(SciKnowEvalRecipe, overrides)
    if name not in RECIPES:
        known = ", ".join(sorted({*RECIPES, *FILE_RECIPES}))
        raise SettingsError(f"recipe {name!r} is unknown", cure=f"use one of {known}")
    return recipe(name, **overrides)


def list_recipe(found: AnyRecipe, what: str) -> Recipe:
    """The recipe, where it is one of list questions.

    Parameters
    ----------
    what
        What needs one, for the message.

    Raises
    ------
    SettingsError
        When it is a benchmark's own.
    """
    if isinstance(found, Recipe):
        return found
    raise SettingsError(
        f"{what} is for list questions, and the study's recipe is {found.name!r}",
        cure="leave it out, or make a study with recipe listqa",
    )


Made = TypeVar("Made")


def _changed(kind: type[Made], settings: Mapping[str, Any]) -> Made:
    """A recipe of a kind with some conventions changed.

    Raises
    ------
    SettingsError
        When a convention or its value is unknown.
    """
    known = [one.name for one in dataclasses.fields(kind) if one.name != "name"]  # type: ignore[arg-type]  # every kind is a dataclass
    for name in settings:
        if name not in known:
            raise SettingsError(
                f"the recipe has no convention {name!r}", cure=f"known are {', '.join(known)}"
            )
    return kind(**settings)
