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
    "Draws": ".resampling",
    "Estimate": ".result",
    "Report": ".report",
    "adjust": ".multiplicity",
    "agreement": ".agreement_report",
    "agreement_latex": ".panel_latex",
    "agreement_page": ".panel_page",
    "agresti_coull": ".proportions",
    "aligner_effects": ".aligner_comparison",
    "alignment_accuracy": ".alignment",
    "alpha_parts": ".alpha_halves",
    "answer_states": ".slices",
    "audit": ".audit_table",
    "audit_counts": ".error_rate",
    "bands": ".slices",
    "bias": ".differences",
    "brennan_prediger": ".weighted",
    "build_report": ".report",
    "ccc": ".concordance",
    "ccc_classical": ".lin_interval",
    "ceiling_difference": ".ceiling",
    "clopper_pearson": ".proportions",
    "cluster_codes": ".clusters",
    "clustered_proportion": ".proportions",
    "cohen_kappa": ".chance",
    "cohen_kappa_classical": ".classical_kappa",
    "conclusions": ".report_words",
    "conger_kappa": ".many_raters",
    "correlation_test": ".correlation_tests",
    "dawid_skene": ".latent_classes",
    "equivalence": ".paired_tests",
    "fisher_interval": ".correlation_tests",
    "fleiss_kappa": ".many_raters",
    "fleiss_null_se": ".classical_kappa",
    "gwet_ac1": ".chance",
    "gwet_ac2": ".weighted",
    "gwet_interval": ".classical_kappa",
    "icc": ".concordance",
    "icc_form": ".icc_forms",
    "icc_missing": ".mixed_icc",
    "jeffreys": ".proportions",
    "kendall_tau_b": ".rank_correlation",
    "krippendorff_alpha": ".chance",
    "leave_one_out_ceiling": ".human_ceiling",
    "limits_of_agreement": ".differences",
    "macro_f1": ".screening",
    "mad": ".differences",
    "mcc": ".chance",
    "mcnemar": ".asymmetry",
    "mean_score": ".slices",
    "noninferiority": ".paired_tests",
    "pearson": ".correlation",
    "question_jackknife": ".leaving_out",
    "raw_agreement": ".beyond_chance",
    "rmse": ".differences",
    "simultaneous_confidence": ".multiplicity",
    "slice_scores": ".slices",
    "spearman": ".correlation",
    "stratified_rate": ".audit_strata",
    "study_report": ".report_study",
    "token_efficiency": ".slices",
    "variance_components": ".mixed_icc",
    "variant_differences": ".slices",
    "verbosity": ".slices",
    "weighted_kappa": ".weighted",
    "wilcoxon_signed_rank": ".paired_tests",
    "wilson": ".proportions",
    "write_report": ".report_study",
    "youden": ".screening",
}

__all__ = [*sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
