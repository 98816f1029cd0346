"""How wrong is the gold, from a table of checked gold answers, one verdict a row.

Answers that were drawn one by one, all as likely: Wilson's interval. Answers that came in whole
questions, several to a question, or with unequal weights: the gamma interval with the variance
between questions, to which one erroneous question has been added, since an error not yet found
would come with the others of its question, and with its weight.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scoring.errors import BadRow, InputError, SettingsError
from ..study.ratings import first_of
from ..study.readers import Table
from .audit_rows import (
    CANNOT_VERIFY,
    DISAGREE,
    ERROR,
    OK,
    AuditRows,
    filled,
    read_rows,
    stratum_counts,
    weights,
)
from .audit_strata import HEAVY, gamma_limits, stratified_rate
from .cautions import data_warnings, too_few
from .clusters import ASSUMED_ICC, FADE, Clusters, FloatArray, Unit, cluster_codes
from .error_rate import FEW_ERRORS, AuditMethod, audit_counts, few_errors
from .result import Estimate

__all__ = ["AuditReport", "audit", "gamma_limits"]

_LEAST = 6


@dataclass(frozen=True, slots=True)
class AuditReport:
    """An audit of gold answers.

    Parameters
    ----------
    result
        ``error_rate``; ``details`` hold ``errors``, ``ok``, the one-sided bound, and the rates if
        all or none of the answers that can't be verified were wrong.
    beside
        The same rate with Wilson's interval, where ``result`` has the gamma interval.
    largest
        With strata, where an unseen error of some stratum would weigh far more than the others:
        the wider interval that allows for it.
    reviewers
        Raw agreement of the reviewers, where answers were reviewed twice.
    errors, error_rows
        The answers found wrong, and the position of each one's first row in the table.
    error_types
        Type → count, where the table has them.
    notes
        What the reader must be told.
    source
        ``rows`` and ``sha256`` of the table.
    """

    result: Estimate
    beside: Estimate | None
    reviewers: Estimate | None
    errors: tuple[str, ...]
    error_rows: tuple[int, ...]
    error_types: Mapping[str, int]
    notes: tuple[str, ...]
    source: Mapping[str, Any]
    largest: Estimate | None = None

    def results(self) -> list[Estimate]:
        """All figures, the default first."""
        return [one for one in self._all() if one is not None]

    def _all(self) -> tuple[Estimate | None, ...]:
        return self.result, self.largest, self.beside, self.reviewers

    def to_dict(self) -> dict[str, Any]:
        """The audit as JSON values."""
        return {
            "results": [one.to_dict() for one in self.results()],
            "errors": list(self.errors),
            "error_types": dict(self.error_types),
            "notes": list(self.notes),
            "input": dict(self.source),
        }


def audit(
    table: Table,
    *,
    verdict: str = "verdict",
    rater: str = "rater",
    item: Sequence[str] = (),
    cluster: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    unit: Unit = "question",
    confidence: float = 0.95,
    method: AuditMethod = "wilson",
    population: int | None = None,
    strata: Sequence[str] = (),
) -> AuditReport:
    """The error rate of a table of checked gold answers.

    Parameters
    ----------
    table
        One row an answer and reviewer: the verdict ``OK``, ``ERROR`` or ``CANNOT VERIFY`` (blanks,
        case and underscores do not matter). With a column of reviewers an answer may have several
        rows: the adjudicated one counts, else what all reviewers say. A column ``weight`` is
        1 / inclusion probability.
    verdict, rater
        The columns of the verdict and of the reviewer; the table may lack ``rater``.
    item
        The column(s) that name an answer; default ``item_id``, else ``question_id``.
    cluster
        The column(s) of the sampled unit; default ``question_id`` where answers are elements of
        questions.
    labels
        Word in the table → verdict.
    unit
        ``item`` takes the answers as drawn one by one.
    confidence, method, population
        As :func:`~accord.validate.audit_counts`; method and population only where answers
        were drawn one by one.
    strata
        The columns of the strata, of answers drawn one by one at another rate in each. The column
        ``weight`` then says how many answers each stratum has.

    Returns
    -------
    AuditReport
        Answers that can't be verified, or on which reviewers disagree, are left out and counted.

    Raises
    ------
    InputError
        A missing column, an unknown verdict, an answer that is checked twice or lies in two
        questions, a weight that is no positive number (all with lines).
    SettingsError
        A method or population that does not fit answers in questions or with unequal weights.

    References
    ----------
    Wilson 1927; gamma interval: Fay & Feuer 1997, Stat. Med. 16; the added question is accord's,
    chosen by measured coverage. Without ``strata`` the variance is that of a draw with
    replacement, which is not smaller.
    """
    rows = read_rows(table, verdict, item, labels or {}, rater=rater)
    there = set(table.frame.columns)
    names = tuple(cluster)
    if not names and rows.unit_column != "question_id" and "question_id" in there:
        names = ("question_id",)
    final = rows.final()
    counted = [answer for answer, said in final.items() if said in (OK, ERROR)]
    if not counted:
        raise InputError(f"{table.name} has no verdict {OK} or {ERROR}", cure="audit some answers")
    wrong = np.array([final[answer] == ERROR for answer in counted])
    groups = _groups(table, names, rows, counted)
    weight_of = weights(table, rows)
    w = np.array([weight_of[answer] for answer in counted])
    weighted = not np.all(w == w[0])
    in_questions = groups is not None and groups.count < len(counted) and unit == "question"
    notes: list[str] = []
    beside = largest = None
    if in_questions or weighted or strata:
        if method != "wilson" or population is not None:
            raise SettingsError(
                "--method and --population are for answers drawn one by one, all as likely, and"
                + (
                    f" these lie in {' and '.join(names)}"
                    if in_questions
                    else " there are strata"
                    if strata
                    else " the weights differ"
                ),
                cure="add --unit item if they were drawn one by one"
                if in_questions
                else "leave them out",
            )
        if groups is None or not in_questions:
            groups = Clusters.each_item(len(counted))
        noun = ", ".join(names) if in_questions else "item"
        if strata:
            if in_questions:
                raise SettingsError(
                    f"--strata is for answers drawn one by one, and these lie in {noun}",
                    cure="add --unit item if they were drawn one by one, or leave --strata out",
                )
            counts = stratum_counts(table, rows, strata, weight_of, counted, wrong)
            result = stratified_rate(**counts, confidence=confidence)
            if result.details["largest_to_added"] > HEAVY:
                largest = stratified_rate(**counts, confidence=confidence, largest=True)
        else:
            result = _gamma(wrong, groups, w, confidence, noun)
        beside = audit_counts(int(wrong.sum()), len(counted), confidence=confidence)
        if weighted:
            notes.append(
                "the weights differ: the rate is that of all answers, by weight; Wilson's is that"
                " of the checked answers, each counted once"
            )
        elif in_questions:
            notes.append(
                "Wilson's interval takes the answers as drawn one by one; the gamma interval knows"
                " that errors come several to a question"
            )
        else:
            notes.append(
                "Wilson's interval takes the answers as drawn from all at once; the gamma interval"
                " knows how many answers each stratum has"
            )
    else:
        result = audit_counts(
            int(wrong.sum()),
            len(counted),
            confidence=confidence,
            method=method,
            population=population,
        )
    said = Counter(final.values())
    dropped = {
        reason: said[word]
        for word, reason in ((CANNOT_VERIFY, "cannot verify"), (DISAGREE, DISAGREE))
        if said[word]
    }
    if blank := rows.blank:
        dropped["no verdict"] = len(blank)
        notes.append(f"no verdict: {first_of(blank)}")
    details = {**result.details, "ok": int((~wrong).sum())}
    open_answers = said[CANNOT_VERIFY] + said[DISAGREE]
    if open_answers:
        bad = float(w[wrong].sum())
        unknown = sum(
            weight_of[a] for a, word in final.items() if word in (CANNOT_VERIFY, DISAGREE)
        )
        whole = float(w.sum()) + unknown
        details["if_all_open_are_errors"] = (bad + unknown) / whole
        details["if_no_open_is_an_error"] = bad / whole
        one = open_answers == 1
        notes.append(
            f"{open_answers} open {'answer is' if one else 'answers are'} left out; were"
            f" {'it' if one else 'they all'} wrong the rate would be"
            f" {100 * details['if_all_open_are_errors']:.2f} %, were {'it not' if one else 'none'}"
            f" {100 * details['if_no_open_is_an_error']:.2f} %"
        )
    if said[DISAGREE]:
        one = said[DISAGREE] == 1
        notes.append(
            f"reviewers disagree on {said[DISAGREE]} {'answer' if one else 'answers'}, left out."
            " To settle one, add a row for it with the final verdict and 'adjudicated' in"
            " the column 'kind' ('annotator' in the rows of reviewers)"
        )
    result = replace(result, dropped=dropped, details=details)
    errors = tuple(answer for answer in counted if final[answer] == ERROR)
    return AuditReport(
        result=result,
        beside=beside,
        reviewers=rows.agreement(confidence),
        errors=errors,
        error_rows=tuple(rows.answers.index(answer) for answer in errors),
        error_types=rows.types(table, set(errors)),
        notes=tuple(notes),
        source={"name": table.name, "rows": len(table.frame), "sha256": table.sha256},
        largest=largest,
    )


def _gamma(
    wrong: NDArray[np.bool_], groups: Clusters, w: FloatArray, confidence: float, noun: str
) -> Estimate:
    """The gamma interval for questions (or answers) drawn at random, weighted by 1 / probability.

    Whole questions were drawn, all their answers checked; or each answer is its own question.
    """
    n, g = wrong.size, groups.count
    w = w / w.mean()
    by = groups.sums(np.column_stack([w * wrong, w, wrong]))
    errors, sizes, found = by[:, 0], by[:, 1], by[:, 2]
    x = float(found.sum())
    p = float(errors.sum()) / n if 0 < x < n else x / n
    z = (errors - p * sizes) / n
    variance = g / (g - 1) * float(((z - z.mean()) ** 2).sum()) if g > 1 else math.nan
    # above one half what is rare is an answer that is right
    rarer = found if p <= 0.5 else groups.sizes - found
    added = float(w @ w) / n**2 * _added(rarer, groups)
    unit: Unit = "item" if noun == "item" else "question"
    reason = too_few(g, _LEAST, unit)
    low = high = math.nan
    details: dict[str, Any] = {"errors": int(x)}
    if unit == "question":
        details["questions_with_errors"] = int((found > 0).sum())
    if reason is None:
        if variance <= 0:
            # every question errs alike; where all answers are wrong no right one was seen to vary
            seen = errors if p <= 0.5 else sizes - errors
            variance = float(seen @ seen) / n**2
        low, high = gamma_limits(p, variance, added, confidence=confidence)
        bound = None
        if confidence > 0.5:  # below, it would lie under the estimate
            bound = min(gamma_limits(p, variance, added, confidence=2 * confidence - 1)[1], high)
        named = None if bound is None else "gamma"
        details |= {"one_sided_upper": bound, "one_sided_method": named}
    warned = data_warnings(groups, w, df=groups.df, unit=unit)
    if x < FEW_ERRORS:
        warned.append(few_errors(int(x), details.get("one_sided_upper"), confidence))
    independent = p * (1 - p) / n
    between = "questions, one erroneous question" if unit == "question" else "answers, one error"
    weighted = "" if np.all(w == w[0]) else "weighted "
    return Estimate(
        "error_rate",
        p,
        low,
        high,
        level="dataset",
        confidence=confidence,
        method=f"{weighted}gamma interval, variance between {between} added",
        unit="question" if noun == "question_id" else noun,
        n=n,
        clusters=g,
        design_effect=variance / independent if independent > 0 and g > 1 else math.nan,
        reason=reason,
        warnings=tuple(warned),
        details=details,
    )


def _added(errors: FloatArray, groups: Clusters) -> float:
    """Errors in an erroneous question, shrunken to what ICC 0.2 would give."""
    usual = 1 + ASSUMED_ICC * (groups.mean_size - 1)
    return float((errors @ errors + FADE * usual) / (errors.sum() + FADE))


def _groups(
    table: Table, names: Sequence[str], rows: AuditRows, counted: Sequence[str]
) -> Clusters | None:
    if not names:
        return None
    columns = [filled(table, name, "--cluster") for name in names]
    bad: list[BadRow] = []
    of: dict[str, tuple[str, ...]] = {}
    for answer, cells, line in zip(
        rows.answers, zip(*columns, strict=True), table.lines, strict=True
    ):
        if of.setdefault(answer, cells) != cells:
            reason = f"{answer!r} lies in {' / '.join(of[answer])!r} above"
            bad.append(BadRow(table.name, line, reason))
    if bad:
        raise InputError.from_rows(bad, cure=f"an answer has one {' and '.join(names)}")
    codes = cluster_codes(*zip(*(of[answer] for answer in counted), strict=True))
    return Clusters.of(codes, len(counted))
