"""The outside formats by name, and the one that a mapping file describes."""

from __future__ import annotations

import difflib

from ..scoring.errors import SettingsError
from .profile_answers import ANSWER_PROFILES
from .profile_knowledgeberg import KNOWLEDGEBERG
from .profile_lists import LIST_PROFILES
from .profile_mapping import is_mapping, read_mapping
from .profile_sciknoweval import SCIKNOWEVAL
from .profile_shape import Profile
from .profile_widesearch import WIDESEARCH

__all__ = ["MAPPING", "PROFILES", "find_profile", "known_profile"]

MAPPING = Profile(
    name="mapping",
    about="any CSV, JSON lines, JSON or Parquet file, described in a mapping file (TOML or JSON): "
    "--format my-format.toml",
    rule='as the mapping file says: list = "all-of", "any-of" (one element with aliases) or '
    '"text" (list text)',
    examples={
        "my-format.toml": {
            "list": "all-of",
            "questions": {"question_id": "id", "question": "q", "reference": "gold.answers"},
            "element": {"text": "name", "aliases": "also", "attributes": ["year"]},
            "responses": {"question_id": "id", "system": "model", "response": "output"},
        }
    },
    becomes={
        "questions": "as [questions] and [element] say; separator cuts a text into a list",
        "responses": "as [responses] says; a list is taken as parsed",
    },
)
"""How mapping files are listed."""

PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (*LIST_PROFILES, WIDESEARCH, SCIKNOWEVAL, KNOWLEDGEBERG, *ANSWER_PROFILES)
}
"""The formats that come with accord, by name, in the order they are listed."""


def known_profile(name: str) -> Profile:
    """A format by its name, ``mapping`` among them.

    Raises
    ------
    SettingsError
        When there is none; the message names the nearest.
    """
    known = {**PROFILES, MAPPING.name: MAPPING}
    wanted = name.strip().lower()
    if wanted in known:
        return known[wanted]
    near = [one for one in known if wanted and (one.startswith(wanted) or wanted.startswith(one))]
    near = near or difflib.get_close_matches(wanted, known, n=1, cutoff=0.5)
    cure = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise SettingsError(
        f"format {name!r} is unknown",
        cure=f"{cure}accord profiles lists the formats; a mapping file ends in .toml or .json",
    )


def find_profile(name: str) -> Profile:
    """What ``--format`` names: a format, or a mapping file.

    Raises
    ------
    SettingsError
        When there is no such format, or the mapping file can't be used.

    Examples
    --------
    >>> find_profile("qampari").roles
    ('questions', 'responses')
    """
    if is_mapping(name):
        return read_mapping(name)
    profile = known_profile(name)
    if profile is MAPPING:
        raise SettingsError(
            "--format mapping names no file", cure="give the mapping file: --format my-format.toml"
        )
    return profile
