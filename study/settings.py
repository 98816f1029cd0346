"""``study.toml``: what a person decides about a study. Read, checked, never rewritten."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from .. import templates
from ..scoring.errors import SettingsError, StudyError
from ..scoring.redaction import refuse_secrets

if TYPE_CHECKING:
    from ..scoring.recipes import Recipe
    from ..scoring.sciknoweval import SciKnowEvalRecipe
    from ..scoring.universe import UniverseRecipe

__all__ = ["FILE_NAME", "Settings", "write_new"]

FILE_NAME = "study.toml"

_KEYS = ("recipe", "confidence", "seed", "conventions", "judge")
_BUILT_IN = ("exact", "rouge")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a study, checked.

    ``judges`` maps a name to its ``[judge.NAME]`` table as written; the judges themselves check
    their keys when they are made.
    """

    recipe_name: str = "listqa"
    conventions: Mapping[str, Any] = field(default_factory=dict)
    confidence: float = 0.95
    seed: int = 1
    judges: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Settings:
        """Read and check a file.

        Raises
        ------
        StudyError
            When there is no such file or it can't be read.
        SettingsError
            When it is no TOML or holds something that can't be used; the message names the key.
        """
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            raise StudyError(
                f"{path} does not exist",
                cure="name a study folder, or make one with: accord init STUDY --recipe listqa",
            ) from None
        except UnicodeDecodeError as error:
            raise SettingsError(
                f"{path.name} is not UTF-8 (byte {error.start})", cure="save it as UTF-8"
            ) from None
        except OSError as error:
            raise StudyError(
                f"{path} can't be read: {error.strerror}", cure="make it readable"
            ) from None
        return cls.parse(text, name=path.name)

    @classmethod
    def parse(cls, text: str, *, name: str = FILE_NAME) -> Settings:
        """Settings from the text of a file; ``name`` is used in messages."""
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(f"{name} is no TOML: {error}", cure="correct that line") from None
        _known(values, name)
        settings = cls(
            recipe_name=_text(values.get("recipe", "listqa"), name, "recipe"),
            conventions=_table(values.get("conventions", {}), name, "conventions"),
            confidence=_fraction(values.get("confidence", 0.95), name, "confidence"),
            seed=_seed(values.get("seed", 1), name),
            judges=_judges(_table(values.get("judge", {}), name, "judge"), name),
        )
        try:
            settings.recipe()
        except SettingsError as error:
            raise SettingsError(f"{name}: {error.message}", cure=error.cure) from None
        return settings

    def recipe(self) -> Recipe | UniverseRecipe | SciKnowEvalRecipe:
        """The recipe with the study's own conventions."""
        from ..scoring.study_recipes import study_recipe

        return study_recipe(self.recipe_name, **self.conventions)

    def judge_settings(self, names: Sequence[str] = ()) -> dict[str, Mapping[str, Any]]:
        """The tables of the judges asked for; of all, or of ``exact`` alone, when none is named.

        Raises
        ------
        SettingsError
            When a name is in no table and is no offline judge.
        """
        if not names:
            return dict(self.judges) or {"exact": {"type": "exact"}}
        chosen: dict[str, Mapping[str, Any]] = {}
        for name in names:
            if name in self.judges:
                chosen[name] = self.judges[name]
            elif name in _BUILT_IN:
                chosen[name] = {"type": name}
            else:
                known = ", ".join(dict.fromkeys([*self.judges, *_BUILT_IN]))
                raise SettingsError(
                    f"there is no judge {name!r}",
                    cure=f"add [judge.{name}] to {FILE_NAME}, or use one of {known}",
                )
        return chosen


def write_new(path: Path, *, recipe: str = "listqa", seed: int = 1) -> None:
    """Write a commented ``study.toml``; ``path`` must not exist.

    Raises
    ------
    SettingsError
        When the recipe is unknown.
    """
    from ..scoring.study_recipes import study_recipe

    study_recipe(recipe)
    template = files(templates).joinpath("study.toml").read_text(encoding="utf-8")
    with path.open("x", encoding="utf-8") as file:
        file.write(Template(template).substitute(recipe=recipe, seed=seed))


def _known(table: Mapping[str, Any], name: str) -> None:
    for key in table:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1)
            guess = f"did you mean {near[0]}? " if near else ""
            refuse_secrets({key: table[key]}, where=name)
            raise SettingsError(
                f"{name} has an unknown key {key!r}", cure=f"{guess}known are {', '.join(_KEYS)}"
            )


def _text(value: Any, name: str, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{name}: {key} can't be {value!r}", cure=f'write {key} = "…"')
    return value


def _table(value: Any, name: str, key: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SettingsError(f"{name}: {key} can't be {value!r}", cure=f"write a table [{key}]")
    return value


def _fraction(value: Any, name: str, key: str) -> float:
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not good or not 0 < value < 1:
        raise SettingsError(
            f"{name}: {key} can't be {value!r}", cure="write a number above 0 and below 1"
        )
    return float(value)


def _seed(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise SettingsError(
            f"{name}: seed can't be {value!r}", cure="write a whole number from 0 to 2**63 - 1"
        )
    return value


def _judges(tables: Mapping[str, Any], name: str) -> dict[str, Mapping[str, Any]]:
    out: dict[str, Mapping[str, Any]] = {}
    for judge, table in tables.items():
        where = f"{name}, [judge.{judge}]"
        if not _NAME.fullmatch(judge):
            raise SettingsError(
                f"{name} has a judge named {judge!r}",
                cure="use letters, digits, '.', '_' and '-', at most 64",
            )
        if not isinstance(table, Mapping):
            raise SettingsError(
                f"{where} is no table", cure=f'write [judge.{judge}] and below it type = "…"'
            )
        refuse_secrets(table, where=where)
        if not isinstance(table.get("type"), str):
            raise SettingsError(
                f"{where} has no type", cure='write type = "exact", "rouge", "openai" or "file"'
            )
        out[judge] = table
    return out
