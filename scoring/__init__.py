"""The scoring core: records, parsing, alignment, judges, metrics, recipes.

``parse -> align -> judge -> metrics``, each a pure function over plain records. The F1 that a judge
gives and the F1 that people give come from the same function; only the verdicts differ.
Imports none of the other folders. Public names are resolved on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {
    "AccordError": ".errors",
    "CORRECT": ".records",
    "Element": ".records",
    "INCORRECT": ".records",
    "Item": ".records",
    "Judgement": ".records",
    "Pair": ".records",
    "UNSURE": ".records",
}

__all__ = [*sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
