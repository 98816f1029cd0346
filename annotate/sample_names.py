"""The name, the seed and the random streams of a sample."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ..scoring.errors import SettingsError, StudyError, one_line

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["check_seed", "new_name", "stream"]

_LONGEST = 80
"""Characters of a name; the server's project has it in its title."""


def new_name(study: Study, sample_id: str | None) -> str:
    """The name to keep a sample under: the given one, or the next free number.

    Raises
    ------
    StudyError
        When it is taken.
    SettingsError
        When it is too long or holds a comma or a control character.
    """
    taken = {sample.sample_id for sample in study.ledger.samples()}
    if sample_id in taken:
        raise StudyError(f"there is a sample {sample_id!r} already", cure="give another --name")
    number = 1
    while f"s{number}" in taken:
        number += 1
    name = sample_id or f"s{number}"
    if len(name) > _LONGEST or one_line(name) != name or "," in name:
        raise SettingsError(
            f"--name is '{one_line(name[:_LONGEST])}'",
            cure=f"give a name of at most {_LONGEST} characters, without commas or controls",
        )
    return name


def check_seed(study: Study, seed: int | None) -> int:
    """The seed, or the study's own.

    Raises
    ------
    SettingsError
        When it is negative or does not fit the ledger.
    """
    chosen = study.settings.seed if seed is None else seed
    if not 0 <= chosen < 2**63:
        raise SettingsError(f"--seed is {chosen}", cure="give one from 0 to 2**63 - 1")
    return chosen


def stream(seed: int, *names: str) -> list[int]:
    """The seed of a named stream of random numbers."""
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return [seed % 2**64, int.from_bytes(digest[:8], "big")]
