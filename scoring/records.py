"""The records everything else is built on: elements, pairs, items, judgements, and their identity.

All are frozen and hold plain values, so one implementation serves one response, a frame and a
partition of a larger table.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .errors import InputError

__all__ = [
    "CORRECT",
    "INCORRECT",
    "KINDS",
    "MISSING_FROM_REFERENCE",
    "NO_SYSTEM",
    "REASONS",
    "UNSURE",
    "VERDICTS",
    "Element",
    "Item",
    "Judgement",
    "Kind",
    "Pair",
    "content_sha256",
    "item_id",
]

CORRECT = "CORRECT"
INCORRECT = "INCORRECT"
UNSURE = "UNSURE"
VERDICTS = (CORRECT, INCORRECT, UNSURE)

MISSING_FROM_REFERENCE = "missing_from_reference"
REASONS: Mapping[str, str] = {
    MISSING_FROM_REFERENCE: "correct, but missing from the reference",
    "reference_wrong": "the reference is wrong",
    "misaligned": "these two do not belong together",
    "parse_error": "not one whole element",
    "unverifiable": "can't be verified",
}
"""What a person can report beside a verdict: the value that is kept, and what it says."""

Kind = Literal["annotator", "adjudicated", "judge"]
KINDS: tuple[Kind, ...] = ("annotator", "adjudicated", "judge")

NO_SYSTEM = "-"
"""Stands for the system where a table names none."""

How = Literal["exact", "rouge", "embedding", "position", "order", "given", "unmatched"]

_QUOTES = " \"'‘’“”«»„‚「」『』《》〈〉*_`"


@dataclass(frozen=True, slots=True)
class Element:
    """One parsed item of a reference or a response.

    Parameters
    ----------
    text
        The whole item without its marker.
    aliases
        Other texts that are as good as ``text`` (any of). Only reference elements have them.
    attributes
        Ordered ``(key, value)`` pairs; keys may repeat, a key may be ``""``.
    head
        The part of ``text`` before an explanation, or None where there is none.
    section
        The heading directly above the block the element stands in, if any.
    aside
        Whether the element stands in a block that comments on the answer instead of giving it.
    """

    text: str
    aliases: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    head: str | None = None
    section: str | None = None
    aside: bool = False

    @property
    def display(self) -> str:
        """What people and judges are shown: the text, then a line ``key: value`` an attribute."""
        lines = [self.text]
        lines += [f"{key}: {value}" if key else value for key, value in self.attributes]
        return "\n".join(lines)

    @property
    def compared(self) -> str:
        """What the aligner compares: text and attribute values, without the keys (ListQA)."""
        return self.compared_as(self.text)

    def compared_as(self, name: str) -> str:
        """Another name of the element with its attribute values, as the aligner compares it.

        Quotes around a name or a value are no part of it; without attributes they are left to the
        comparison, which takes them off both ends.
        """
        if not self.attributes:
            return name
        parts = (name, *(value for _, value in self.attributes))
        return " ".join(part.strip(_QUOTES) or part for part in parts)

    def to_dict(self) -> dict[str, Any]:
        """The element as JSON values; empty fields are left out."""
        out: dict[str, Any] = {"text": self.text}
        if self.aliases:
            out["aliases"] = list(self.aliases)
        if self.attributes:
            out["attributes"] = [list(pair) for pair in self.attributes]
        if self.head is not None:
            out["head"] = self.head
        if self.section is not None:
            out["section"] = self.section
        if self.aside:
            out["aside"] = True
        return out

    @classmethod
    def from_value(cls, value: Any) -> Element:
        """An element from a JSON value: a string, a number, or ``{text, aliases, attributes}``.

        An attribute without a value (null, NaN) and a blank alias are left out, as if they were not
        there.

        Raises
        ------
        InputError
            When the value is of another form, or is null or no finite number.
        """
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, bool) or value is None or _is_no_number(value):
            raise InputError(f"an element can't be {json.dumps(value)}", cure="give its text")
        if isinstance(value, (int, float)):
            return cls(str(value))
        if isinstance(value, Mapping) and isinstance(value.get("text"), str):
            unknown = set(value) - {"text", "aliases", "attributes", "head", "section", "aside"}
            if unknown:
                raise InputError(
                    f"an element has an unknown key {min(map(str, unknown))!r}",
                    cure="known keys are text, aliases, attributes, head, section, aside",
                )
            return cls(
                text=value["text"],
                aliases=tuple(
                    a for a in _texts(value.get("aliases") or (), "aliases") if a.strip()
                ),
                attributes=_attributes(value.get("attributes") or ()),
                head=_text_or_none(value.get("head"), "head"),
                section=_text_or_none(value.get("section"), "section"),
                aside=_flag(value.get("aside"), "aside"),
            )
        shown = json.dumps(value, ensure_ascii=False, default=str)[:60]  # a table may hold dates
        raise InputError(
            f"an element can't be {shown}",
            cure="give a string or an object with the key text",
        )


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        if all(isinstance(text, str) for text in value):
            return tuple(value)
    raise InputError(f"{name} must be a list of strings", cure=f'write "{name}": ["…"]')


def _text_or_none(value: Any, name: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise InputError(f"{name} must be a text", cure=f'write "{name}": "…"')


def _flag(value: Any, name: str) -> bool:
    """True or false; a table's ``"false"`` is a text that Python would take as true."""
    word = value.strip().lower() if isinstance(value, str) else value
    if word in (None, False, "", "false"):
        return False
    if word in (True, "true"):
        return True
    raise InputError(f"{name} must be true or false", cure=f'write "{name}": true, or leave it out')


def _is_no_number(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _attributes(value: Any) -> tuple[tuple[str, str], ...]:
    """Keys with their values as text; null or NaN is no value, so there is no attribute."""
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    whole = isinstance(pairs, Sequence) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs
    )
    if not whole or isinstance(pairs, str):
        raise InputError(
            "attributes must be an object or a list of [key, value] pairs",
            cure='write "attributes": [["year", "1994"]]',
        )
    found = []
    for key, text in pairs:
        if text is None or (isinstance(text, float) and math.isnan(text)):
            continue
        if not isinstance(text, (str, int, float)) or not isinstance(key, (str, int, float)):
            raise InputError(
                f"the attribute {key!r} can't be {json.dumps(text, ensure_ascii=False)[:40]}",
                cure="give one text or number, or several attributes of that name",
            )
        found.append((str(key), str(text)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Pair:
    """A reference element and a predicted element side by side; one side may be missing.

    Parameters
    ----------
    reference, predicted
        Positions in the two lists (0-based); None for the missing side. Never both None.
    similarity
        ROUGE-1 F1 of the two compared texts in [0, 1]; 1 where they match exactly, 0 if unmatched.
    how
        ``exact`` (normalised, alias-aware), ``rouge`` or ``embedding`` (assigned by ROUGE-1 F1 or
        by cosine), ``order`` (nothing in common, paired in order), ``position``, ``given`` (came
        paired), ``unmatched``.
    """

    reference: int | None
    predicted: int | None
    similarity: float
    how: How


@dataclass(frozen=True, slots=True)
class Item:
    """The unit that people and judges grade: a predicted element beside its reference element.

    ``reference`` is None for an unmatched predicted element. ``content_sha256`` covers exactly
    what is shown (question, reference, aliases, predicted), so a changed text is noticed.
    """

    item_id: str
    question_id: str
    question: str
    reference: str | None
    predicted: str
    aliases: tuple[str, ...] = ()
    system: str = NO_SYSTEM
    content_sha256: str = field(default="")

    def __post_init__(self) -> None:
        if not self.content_sha256:
            digest = content_sha256(self.question, self.reference, self.aliases, self.predicted)
            object.__setattr__(self, "content_sha256", digest)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's verdict for one item.

    ``verdict`` is None when the reply could not be read; ``reason`` then says why (``empty``,
    ``cut off``, ``no label``, ``several labels``, …). An unscored reply is never a class.
    """

    item_id: str
    verdict: str | None
    reason: str | None = None


def _digest(*parts: Any) -> str:
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate can come out of a JSON escape; it must not stop the hash.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def content_sha256(
    question: str, reference: str | None, aliases: Sequence[str], predicted: str
) -> str:
    """SHA-256 (64 hex digits) of what is shown of an item; changes with any shown character."""
    return _digest("accord-content-1", question, reference, list(aliases), predicted)


def item_id(
    *,
    unit: str,
    question_id: str,
    system: str,
    reference_index: int | None,
    reference: str | None,
    predicted_index: int | None,
    predicted: str | None,
    occurrence: int,
) -> str:
    """The stable id of an item that came without one: 20 hex digits.

    ``occurrence`` numbers items that are equal in all else, from 0, so that two identical answers
    stay two items.
    """
    digest = _digest(
        "accord-item-1",
        unit,
        question_id,
        system or NO_SYSTEM,
        reference_index,
        reference,
        predicted_index,
        predicted,
        occurrence,
    )
    return digest[:20]
