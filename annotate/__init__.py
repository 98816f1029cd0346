"""Work for people: samples, blind tasks in Label Studio, labels back.

Public names are resolved on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {
    "Connection": ".connection",
    "ExportReport": ".export",
    "ImportReport": ".importing",
    "Login": ".server",
    "PrivateServer": ".server",
    "Pseudonyms": ".pseudonym",
    "ServerStatus": ".server",
    "Template": ".template",
    "adjudicate_by_file": ".adjudication",
    "adjudicate_on_server": ".adjudication",
    "alignment_answers": ".alignment_labels",
    "audit_table": ".label_tables",
    "blind_task": ".tasks",
    "connect": ".connection",
    "draw_retest": ".retest",
    "draw_questions": ".question_sample",
    "draw_sample": ".sample",
    "export_to_file": ".export",
    "export_to_server": ".export",
    "extend_sample": ".extension",
    "import_files": ".importing",
    "import_from_server": ".importing",
    "load_template": ".template",
    "unit_labels": ".label_tables",
    "visible": ".tasks",
}

__all__ = [*sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
