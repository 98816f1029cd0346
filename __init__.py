"""accord: can this evaluation number be trusted?

Three questions, one scoring core:

* are the gold answers right? (:func:`accord.audit`)
* may this judge model stand in for people? (:func:`accord.agreement`)
* does a published human-correlation study hold?

The packages, each importing only from those to its right:
``cli -> annotate, validate -> study -> scoring``; anyone reads ``templates``.

Public names are resolved on first use, so that ``import accord`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "AccordError": ".scoring.errors",
    "Element": ".scoring.records",
    "Study": ".study",
    "agreement": ".validate",
    "audit": ".validate",
    "parse": ".scoring.parse",
    "align": ".scoring.align",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
