"""What a format profile is: how one row of an outside file becomes rows of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .profile_fields import Fields, Outside

__all__ = ["ALL_OF", "ANY_OF", "NESTED", "ONE", "TABLE", "TEXT", "Profile", "Role", "element"]

Role = Literal["questions", "responses", "pairs", "ratings"]
Convert = Callable[[Fields], Iterable[Outside]]

ALL_OF = "all-of: each text is an element of its own"
NESTED = "all-of outside, any-of inside: each answer is an element, its further names are aliases"
ANY_OF = "any-of: the texts are interchangeable names of one answer"
ONE = "one answer: the reference is a single element"
TEXT = "list text: the answer is written as a list and read as one"
TABLE = "all-of: each row of the gold table is an element, its other columns are attributes"


@dataclass(frozen=True, slots=True)
class Profile:
    """One outside format.

    Parameters
    ----------
    name, about
        The name for ``--format``, and where the format comes from.
    rule
        Whether several gold texts are all wanted or any of them; declared, never guessed.
    convert
        For each role that the format can be brought in as: one row in, our rows out.
    fields
        For each role, the fields without which the file is not of this format.
    optional
        Fields that are read where they are there.
    examples
        For each role, one row, written for this project.
    becomes
        For each role, what a row becomes, in words.
    envelope
        The key whose list holds the rows where the file is one JSON object, if it can be.
    keyed
        For responses: a file that is one JSON object, id to value; the value's field name.
    refused
        Why the format can't be scored as a list, with the cure; None where it can.
    unconfirmed
        What could not be checked against a public file or code.
    by_mapping
        Fields of the questions that have no public name and must be named with ``--map``.
    instead
        Field → the field that makes it needless where ``--map`` names that one.
    sha256
        Of the mapping file that describes the format; None for the formats that come with accord.
    """

    name: str
    about: str
    rule: str
    convert: Mapping[Role, Convert] = field(default_factory=dict)
    fields: Mapping[Role, tuple[str, ...]] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    examples: Mapping[str, Any] = field(default_factory=dict)
    becomes: Mapping[Role, str] = field(default_factory=dict)
    envelope: str | None = None
    keyed: str | None = None
    refused: tuple[str, str] | None = None
    unconfirmed: str | None = None
    by_mapping: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)
    sha256: str | None = None

    @property
    def roles(self) -> tuple[Role, ...]:
        """What a file of this format can be brought in as."""
        return tuple(self.convert)

    def to_dict(self) -> dict[str, Any]:
        """The profile as JSON values."""
        return {
            "name": self.name,
            "about": self.about,
            "list": self.rule,
            "becomes": dict(self.becomes),
            "fields": {role: list(names) for role, names in self.fields.items()},
            "optional": list(self.optional),
            "by_mapping": list(self.by_mapping),
            "refused": None if self.refused is None else self.refused[0],
            "instead": None if self.refused is None else self.refused[1],
            "unconfirmed": self.unconfirmed,
            "examples": dict(self.examples),
        }


def element(text: str, others: Iterable[str] = (), attributes: Iterable[Any] = ()) -> Any:
    """A reference element as a JSON value; aliases without repetitions."""
    aliases = [alias for alias in dict.fromkeys(others) if alias != text]
    pairs = [list(pair) for pair in attributes]
    if not aliases and not pairs:
        return text
    out: dict[str, Any] = {"text": text}
    if aliases:
        out["aliases"] = aliases
    if pairs:
        out["attributes"] = pairs
    return out
