"""Statistics on the labels: agreement, audit, reports. Every figure is an :class:`Estimate`.

Public names are resolved on first use. No module here bears the name of a public function: the
module would take its place once it is imported.
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {
    "AgreementReport": ".agreement_report",
    "AuditReport": ".audit_table",
    "Report": ".report",
    "Estimate": ".result",
    "adjust": ".multiplicity",
    "agreement": ".agreement_report",
    "agresti_coull": ".proportions",
    "audit": ".audit_table",
    "audit_counts": ".error_rate",
    "bias": ".differences",
    "brennan_prediger": ".weighted",
    "build_report": ".report",
    "clopper_pearson": ".proportions",
    "cluster_codes": ".clusters",
    "clustered_proportion": ".proportions",
    "conclusions": ".report_words",
    "ccc": ".concordance",
    "ceiling_difference": ".ceiling",
    "cohen_kappa": ".chance",
    "conger_kappa": ".many_raters",
    "fleiss_kappa": ".many_raters",
    "gwet_ac1": ".chance",
    "gwet_ac2": ".weighted",
    "icc": ".concordance",
    "jeffreys": ".proportions",
    "kendall_tau_b": ".rank_correlation",
    "krippendorff_alpha": ".chance",
    "limits_of_agreement": ".differences",
    "mad": ".differences",
    "mcc": ".chance",
    "mcnemar": ".asymmetry",
    "pearson": ".correlation",
    "raw_agreement": ".beyond_chance",
    "rmse": ".differences",
    "simultaneous_confidence": ".multiplicity",
    "spearman": ".correlation",
    "study_report": ".report_study",
    "weighted_kappa": ".weighted",
    "wilson": ".proportions",
    "write_report": ".report_study",
}

__all__ = [*sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
