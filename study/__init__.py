"""A study on disk: settings, ledger (SQLite), tables (Parquet), provenance, outside files.

Public names are resolved on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {
    "Added": ".adding",
    "Ledger": ".ledger",
    "Profile": ".profile_shape",
    "Ratings": ".ratings",
    "RatingsOptions": ".ratings",
    "ScoreReport": ".study",
    "Settings": ".settings",
    "Study": ".study",
    "Table": ".readers",
    "find_profile": ".profiles",
    "mark_tuned": ".tuned",
    "read_ratings": ".ratings",
    "read_table": ".readers",
}

__all__ = [*sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
