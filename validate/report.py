"""The report: one self-contained HTML page without network, and the same content as JSON.

:func:`build_report` takes plain values, so that anything that has figures can make a report;
:func:`accord.validate.report_study.study_report` gathers them from a study. All text is escaped by
the templates' autoescaping, nothing is marked as safe, and the page's own policy forbids scripts
and requests.
"""

from __future__ import annotations

import functools
import importlib
import importlib.resources
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .figures import plain
from .report_words import conclusions

if TYPE_CHECKING:
    import jinja2

__all__ = ["Report", "build_report", "template"]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a report says, as plain JSON values; made by :func:`build_report`.

    ``conclusions`` holds three sentences: may the judge be trusted, how close to people, is the
    gold right. The other fields are described at :func:`build_report`.
    """

    title: str
    conclusions: tuple[str, str, str]
    agreement: Mapping[str, Any]
    response_scores: tuple[Mapping[str, Any], ...] = ()
    disagreements: tuple[Mapping[str, Any], ...] = ()
    systems: tuple[Mapping[str, Any], ...] = ()
    slices: tuple[Mapping[str, Any], ...] = ()
    audit: Mapping[str, Any] | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The report as strict JSON values: no NaN, and an undefined figure has its reason.

        ``results`` holds all figures, the audit's too; what else the comparison says (notes,
        confusion tables, kinds of raters) is in ``agreement``.
        """
        from .. import __version__

        results = list(self.agreement.get("results") or ())
        rest = {key: value for key, value in self.agreement.items() if key != "results"}
        return {
            "accord": __version__,
            "command": "report",
            "input": rest.pop("input", {}),
            "settings": rest.pop("settings", {}),
            "title": self.title,
            "conclusions": list(self.conclusions),
            "results": [*results, *([self.audit] if self.audit else [])],
            "agreement": rest,
            "response_scores": [dict(row) for row in self.response_scores],
            "disagreements": [dict(row) for row in self.disagreements],
            "systems": [dict(row) for row in self.systems],
            "slices": [dict(one) for one in self.slices],
            "audit": dict(self.audit) if self.audit else None,
            "recipe": dict(self.recipe),
            "provenance": dict(self.provenance),
            "verdict": None,
        }

    def to_html(self) -> str:
        """The page: no script, no request, readable on paper, in the dark and on a phone."""
        from .. import __version__
        from .report_view import view

        return template("report.html.j2").render(report=self, view=view(self), version=__version__)


def build_report(
    *,
    title: str,
    agreement: Mapping[str, Any] | None = None,
    response_scores: Sequence[Mapping[str, Any]] = (),
    disagreements: Sequence[Mapping[str, Any]] = (),
    systems: Sequence[Mapping[str, Any]] = (),
    slices: Sequence[Mapping[str, Any]] = (),
    audit: Mapping[str, Any] | None = None,
    recipe: Mapping[str, Any] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Report:
    """A report from plain values. What is missing is said to be missing.

    Parameters
    ----------
    title
        Of the page.
    agreement
        ``AgreementReport.to_dict()``: ``results`` (dictionaries of
        :class:`~accord.validate.result.Estimate`), and where known ``kinds`` (rater → kind; or a
        ``comparison`` in each result), ``confusion`` (a list of ``{raters: [judge, person],
        categories, counts}``, ``counts[i][j]`` the items that the person put into category i and
        the judge into j), ``notes``.
    response_scores
        One row a response: ``question_id, system, judge, human`` (scores; None where there is
        none), and ``rater`` where there are several judges.
    disagreements
        One row an item on which ratings differ: ``item_id, question_id, system, question,
        reference, predicted, judges`` (name → verdict), ``people`` (name → verdict), ``final``
        (or None), ``comments`` (list of texts).
    systems
        One row a judge and system: ``judge`` (its name), ``system``, ``responses``, and its mean
        figures (``llm_judge_f1``, …); further columns are shown as they come.
    slices
        One entry for each thing the scores are sliced by: ``by`` (its name), ``results``
        (dictionaries of Estimate) and ``tables``
        (:meth:`~accord.validate.study_slices.SliceTable.to_dict`), which the page shows.
    audit
        The error rate of the gold answers (an Estimate's dictionary), None without an audit.
    recipe, provenance
        The recipe block; hashes, versions and seeds.
    """
    content: dict[str, Any] = plain(agreement or {})
    rate = plain(audit) if audit else None
    return Report(
        title=plain(title) or "Report",
        conclusions=conclusions(content, rate),
        agreement=content,
        response_scores=tuple(plain(row) for row in response_scores),
        disagreements=tuple(plain(row) for row in disagreements),
        systems=tuple(plain(row) for row in systems),
        slices=tuple(plain(one) for one in slices),
        audit=rate,
        recipe=plain(recipe or {}),
        provenance=plain(provenance or {}),
    )


def template(name: str) -> jinja2.Template:
    """A page's template, which escapes whatever is printed."""
    return _templates().get_template(name)


@functools.cache
def _templates() -> jinja2.Environment:
    import jinja2

    from .figures import count, moment, visible

    folder = importlib.resources.files(importlib.import_module("..templates.report", __package__))

    def load(name: str) -> str:
        return folder.joinpath(name).read_text(encoding="utf-8")

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(load),
        autoescape=True,
        # Whatever is printed, from wherever it came: nothing unseen gets on the page.
        finalize=lambda x: visible(x) if isinstance(x, str) and not hasattr(x, "__html__") else x,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(count=count, moment=moment)
    return environment
