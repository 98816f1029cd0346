"""Names that the study's tables share: responses, systems with variants, what they rest on."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from ..scoring.records import NO_SYSTEM

if TYPE_CHECKING:
    from ..scoring.study_recipes import AnyRecipe
    from .ledger import Ledger

__all__ = [
    "OTHER_UNITS",
    "hashed_system",
    "is_other_unit",
    "response_id",
    "state_of",
    "system_label",
    "unit_id",
]

OTHER_UNITS = ("pairs", "missing", "response", "gold", "parse")
"""What people grade besides pairs: their item ids begin with one of these and a colon."""


def unit_id(unit: str, *parts: object) -> str:
    """The id of something graded that is no pair: ``gold:`` and 20 hex digits of its parts."""
    text = json.dumps(["accord-unit-1", unit, *parts], ensure_ascii=True)
    return f"{unit}:{hashlib.sha256(text.encode('ascii')).hexdigest()[:20]}"


def is_other_unit(item_id: str) -> bool:
    """Whether an item id is one that :func:`unit_id` made."""
    unit, colon, rest = item_id.partition(":")
    return bool(colon) and unit in OTHER_UNITS and len(rest) == 20


def response_id(question_id: str, system: str, variant: str = "") -> str:
    """The id of a response: its parts with `` / `` between, so that different parts differ."""
    parts = [question_id, system or NO_SYSTEM, *([variant] if variant else [])]
    return " / ".join(part.replace("/", "//") for part in parts)


def hashed_system(system: str, variant: str) -> str:
    """What stands for system and variant in an item's hash; no system can be named like it."""
    return f"{system}\x1f{variant}" if variant else system


def system_label(system: str, variant: str) -> str:
    """System and variant as a person reads them."""
    return f"{system} ({variant})" if variant else system


def state_of(ledger: Ledger, recipe: AnyRecipe) -> str:
    """SHA-256 of everything the tables are made from: another value means that they are stale.

    Rows are only ever added, so their numbers say whether there are new ones.
    """
    from .. import __version__

    counts = ledger.query(
        "SELECT (SELECT count(*) FROM question), (SELECT count(*) FROM response), "
        "(SELECT count(*) FROM given_pair)"
    )[0]
    files = [
        (file.role, file.sha256)
        for file in ledger.inputs()
        if file.role in ("questions", "responses", "pairs")
    ]
    text = json.dumps([__version__, recipe.sha256, counts, files])
    return hashlib.sha256(text.encode()).hexdigest()
