r"""An agreement panel as LaTeX: one table of judges against people, one of people among themselves.

The tables need ``\usepackage{booktabs}`` and nothing else; their captions say how the figures were
made. Figures and digits are those of the text and the page.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .agreement_methods import compared, interval_sentence, methods_paragraph, short_name
from .agreement_report import AgreementReport
from .figures import count, defined, estimate, heading, interval, label
from .latex_text import LATEX_CHAR, latex_comment, latex_text
from .reading import HUMAN_HUMAN, JUDGE_HUMAN, SHORT, comparison, leading

__all__ = ["agreement_latex"]

MOST_ROWS = 40
"""Rows of one table; it breaks between comparisons, since a float does not break by itself."""

_AMONG_PEOPLE = (*SHORT, "fleiss_kappa", "conger_kappa")
_LEVELS = {"element": "labels", "response": "scores of responses"}

Result = Mapping[str, Any]
Group = tuple[str, list[Result]]


def agreement_latex(report: AgreementReport) -> str:
    r"""The tables as a file for ``\input``; at its end a methods paragraph in comments.

    Judges stand beside the final label where there is one on which people settled, else beside
    each annotator. The figures are those of the short table; an undefined one has its reason below
    the table. System means are not among them.
    """
    from .. import __version__

    results = [one for one in report.main_dicts() if one["level"] in _LEVELS]
    leads = leading(results, report.kinds)
    judges = [
        one
        for one in results
        if comparison(one, report.kinds) == JUDGE_HUMAN and one["name"] in SHORT and leads(one)
    ]
    people = [
        one
        for one in results
        if comparison(one, report.kinds) == HUMAN_HUMAN and one["name"] in _AMONG_PEOPLE
    ]
    shown = [*judges, *people]
    parts = [
        f"% Agreement tables, made by accord {__version__}.\n"
        "% In the preamble: \\usepackage{booktabs}\n"
        f"{LATEX_CHAR}"
    ]
    for found, name, title in (
        (judges, "judges", "Agreement of judges with people"),
        (people, "people", "Agreement of people with one another"),
    ):
        parts += _tables(report, found, name, title)
    paragraph = latex_text(methods_paragraph(report, shown))
    parts.append(latex_comment("\n".join(["Methods, for the text:", "", *_filled(paragraph)])))
    return "\n\n".join(parts) + "\n"


def _tables(
    report: AgreementReport, results: Sequence[Result], name: str, title: str
) -> Iterable[str]:
    """One or more floats, each of whole comparisons."""
    pages = _paged(list(_groups(results)))
    for at, page in enumerate(pages):
        shown = [one for _, rows in page for one in rows]
        part = f" (part {at + 1} of {len(pages)})" if len(pages) > 1 else ""
        caption = f"{title}{part}: {compared(report)}. {interval_sentence(report, shown)}"
        tail = f"-{at + 1}" if len(pages) > 1 else ""
        yield _table(page, caption=caption, tag=f"tab:agreement-{name}{tail}")


def _groups(results: Sequence[Result]) -> Iterable[Group]:
    """The figures of each level and comparison, under what is compared."""
    for level, words in _LEVELS.items():
        found = [one for one in results if one["level"] == level]
        if not any(defined(one["estimate"]) for one in found):
            continue
        for raters in dict.fromkeys(tuple(one["raters"]) for one in found):
            rows = [one for one in found if tuple(one["raters"]) == raters]
            rows.sort(key=lambda one: _place(str(one["name"])))
            who = " – ".join(raters) if len(raters) <= 3 else f"{len(raters)} annotators together"
            yield f"{who}, {words}", rows


def _place(name: str) -> int:
    return _AMONG_PEOPLE.index(name)


def _paged(groups: list[Group]) -> list[list[Group]]:
    pages: list[list[Group]] = []
    for group in groups:
        held = sum(len(rows) + 1 for _, rows in pages[-1]) if pages else MOST_ROWS
        if held + len(group[1]) + 1 > MOST_ROWS:
            pages.append([])
        pages[-1].append(group)
    return pages


def _table(groups: Sequence[Group], *, caption: str, tag: str) -> str:
    confidence = groups[0][1][0]["confidence"]
    notes: list[str] = []
    lines = [
        r"\begin{table}",
        r"  \centering\small",
        *(f"  {line}" for line in _filled(f"\\caption{{{latex_text(caption)}}}")),
        rf"  \label{{{tag}}}",
        # standard classes leave no room between a caption and the table below it
        r"  \par\smallskip",
        r"  \begin{tabular}{@{}lrrrr@{}}",
        r"    \toprule",
        rf"    Figure & Estimate & {latex_text(f'{100 * confidence:g} %')} interval & $n$"
        r" & Clusters \\",
    ]
    for title, rows in groups:
        lines += [
            r"    \midrule",
            rf"    \multicolumn{{5}}{{@{{}}l}}{{\emph{{{latex_text(title)}}}}} \\",
        ]
        lines += [f"    {_row(result, notes)}" for result in rows]
    lines += [r"    \bottomrule", r"  \end{tabular}"]
    for at, note in enumerate(notes):
        start = r"\par\smallskip\footnotesize\raggedright" if not at else r"\par"
        lines.append(f"  {start} $^{{{at + 1}}}$ {latex_text(note)}")
    return "\n".join([*lines, r"\end{table}"])


def _row(result: Result, notes: list[str]) -> str:
    plain, whole = label(result["name"]), heading({"name": result["name"]})
    cells = [
        latex_text(short_name(result)) + (_mark(whole, notes) if whole != plain else ""),
        latex_text(estimate(result)) + _mark(result.get("reason"), notes),
        latex_text(interval(result) or "–").removeprefix("{}"),
        latex_text(count(result["n"])),
        latex_text(count(result["clusters"])),
    ]
    return " & ".join(cells) + r" \\"


def _mark(note: str | None, notes: list[str]) -> str:
    """The number of a note below the table; the same note has one number."""
    if not note:
        return ""
    if note not in notes:
        notes.append(note)
    return f"$^{{{notes.index(note) + 1}}}$"


def _filled(text: str) -> list[str]:
    """Lines of at most 100 columns, broken at blanks only."""
    return textwrap.wrap(text, 98, break_long_words=False, break_on_hyphens=False)
