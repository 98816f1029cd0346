"""Statistics on the labels: agreement, audit, reports. Every figure is an :class:`Estimate`.

Public names are resolved on first use. :func:`accord.agreement` and :func:`accord.audit` bear the
names of modules here and are exported from the root.
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {
    "AgreementReport": ".agreement",
    "AuditReport": ".audit_table",
    "Report": ".report",
    "Estimate": ".result",
    "agresti_coull": ".proportions",
    "audit_counts": ".audit",
    "bias": ".differences",
    "build_report": ".report",
    "clopper_pearson": ".proportions",
    "cluster_codes": ".clusters",
    "clustered_proportion": ".proportions",
    "conclusions": ".report_words",
    "cohen_kappa": ".chance",
    "gwet_ac1": ".chance",
    "jeffreys": ".proportions",
    "krippendorff_alpha": ".chance",
    "mad": ".differences",
    "pearson": ".correlation",
    "raw_agreement": ".chance",
    "spearman": ".correlation",
    "study_report": ".report_study",
    "wilson": ".proportions",
    "write_report": ".report_study",
}

__all__ = [*sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
