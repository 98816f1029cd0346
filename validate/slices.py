"""Scores by slice: where a system is good, how its length pays, what it leaves unanswered.

All figures are of responses, with the question as the cluster. A score is bounded and often 0 or 1
but no proportion, so its mean has the linearised interval with t that other signed figures have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..scoring.errors import InputError
from .cautions import data_warnings, too_few
from .clusters import (
    Clusters,
    FloatArray,
    IntArray,
    Sums,
    check_confidence,
    cluster_codes,
    effective_size,
)
from .contrast import contrast
from .correlation import pearson, spearman
from .differences import mean_difference
from .intervals import t_quantile
from .multiplicity import adjust
from .proportions import clustered_proportion
from .result import Estimate

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "answer_states",
    "bands",
    "mean_score",
    "slice_scores",
    "token_efficiency",
    "variant_differences",
    "verbosity",
]

_LEAST = 6
_STATES = ("given", "empty", "abstained", "unreadable")
_WHOLE = 6
"""So many different numbers are slices of their own; more are cut at the quartiles."""
_UNKNOWN = "output tokens are not known"


def mean_score(
    scores: ArrayLike,
    *,
    clusters: ArrayLike,
    per: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """The mean of scores, or their sum for each unit of something, with an interval by question.

    Parameters
    ----------
    scores
        ``(n,)`` in [0, 1]; no NaN (the caller drops and counts).
    clusters
        ``(n,)`` integer codes of the responses' questions.
    per
        ``(n,)`` above 0, what each response cost; the figure is sum of scores / sum of costs, the
        ratio of the two means. None for the mean.
    confidence
        Of the interval, in (0, 1).

    Returns
    -------
    Estimate
        ``mean_score``, in [0, 1] without ``per``. The interval is the linearised one by question
        with t, the variance enlarged by one pair of pseudo-questions at plus and minus the largest
        residual seen (rare failures make the plain one too short), cut at the ends of the scale.
        NaN with a reason without responses; no interval below 6 questions, nor where all responses
        say the same. ``details``: ``se`` (without the pair), ``df``, ``effective_n``.

    Raises
    ------
    InputError
        Scores outside [0, 1] or not a number, costs that are not above 0, other lengths.

    References
    ----------
    Linearised variance of a ratio: Cochran 1977, Sampling Techniques, ch. 6 and 11.
    """
    check_confidence(confidence)
    values = np.asarray(scores, dtype=float)
    if not bool(np.all((values >= 0) & (values <= 1))):
        raise InputError("a score lies outside [0, 1] or is no number")
    cost = np.ones(values.size) if per is None else np.asarray(per, dtype=float)
    if cost.shape != values.shape:
        raise InputError(f"there are {values.size} scores and {cost.size} costs")
    if not bool(np.all((cost > 0) & np.isfinite(cost))):
        raise InputError("a cost is not above 0")
    if not values.size:
        return Estimate("mean_score", math.nan, confidence=confidence, reason="no responses")
    groups = Clusters.of(clusters, values.size)
    sums = Sums(np.column_stack([values, cost]), groups)
    mean = sums.value(_ratio)
    se, design = sums.linearised(_ratio)
    n, g, df = values.size, groups.count, groups.df
    reason = too_few(g, _LEAST, "question")
    residual = values - mean * cost
    largest = float(np.abs(residual).max())
    if reason is None and largest <= 1e-12 * max(float(cost.max()) * mean, 1.0):
        reason = "no interval: all responses say the same"
    low = high = math.nan
    if reason is None:
        by = sums.by("question")
        rest = by[:, 0] - mean * by[:, 1]
        error = math.sqrt(g / (g - 1) * (rest @ rest + 2 * largest**2)) / float(cost.sum())
        reach = t_quantile(confidence, df) * error
        low, high = max(mean - reach, 0.0), mean + reach
        high = min(high, 1.0) if per is None else high
    return Estimate(
        "mean_score",
        mean,
        low,
        high,
        level="system",
        confidence=confidence,
        method="linearised t with one pair of pseudo-questions",
        n=n,
        clusters=g,
        design_effect=design,
        reason=reason,
        warnings=tuple(data_warnings(groups, np.ones(n), df=df, unit="question")),
        details={"se": se, "df": df, "effective_n": effective_size(n, design)},
    )


def slice_scores(
    scores: pd.DataFrame, by: str, *, figure: str, confidence: float = 0.95
) -> list[Estimate]:
    """The mean of a figure in each slice of the responses, of each judge and system.

    Parameters
    ----------
    scores
        A row a judge and response: ``judge, question_id, system``, the figure (NaN where it is
        undefined) and the slice (None where the response is in none).
    by
        The column of the slices.
    figure
        A column with values in [0, 1].
    confidence
        Of the intervals, in (0, 1).

    Returns
    -------
    list of Estimate
        Named as the figure, level ``system``, the judge as rater: :func:`mean_score` of each slice,
        in the order of the slices. ``details``: ``system``, ``by``, ``slice``; ``rest`` (an
        Estimate: the slice less all other slices of that judge and system,
        :func:`~accord.validate.contrast.contrast`) and ``p_adjusted`` (Holm, over the slices of
        that judge and system; None without a test). ``dropped`` counts responses without the
        figure and without a slice; they are the same in every row of a judge and system. One
        without any usable response has one row, NaN with a reason, whose ``slice`` and ``rest``
        are None.

    Raises
    ------
    InputError
        A column that is not there.
    """
    _need(scores, "judge", "question_id", "system", figure, by)
    order = _order(scores[by].tolist())
    found: list[Estimate] = []
    for judge, system, part in _parts(scores):
        known, dropped = part, {}
        for column, why in ((figure, f"no {figure}"), (by, f"no {by}")):
            absent = known[column].isna()
            if absent.any():
                dropped[why] = int(absent.sum())
            known = known[~absent]
        if not len(known):
            none = mean_score((), clusters=(), confidence=confidence)
            empty = {"slice": None, "rest": None, "p_adjusted": None}
            found.append(
                _named(none, figure, judge, dropped, {"system": system, "by": by, **empty})
            )
            continue
        values = known[figure].to_numpy(dtype=float)
        codes = cluster_codes(known["question_id"].tolist())
        cells = np.array(known[by].tolist(), dtype=object)
        there = [name for name in order if (cells == name).any()]
        rests = [
            replace(
                contrast(
                    f"{figure}_rest", values, cells == name, clusters=codes, confidence=confidence
                ),
                level="system",
                raters=(judge,),
            )
            for name in there
        ]
        adjusted = _holm([one.details.get("p_value") for one in rests])
        for name, rest, p in zip(there, rests, adjusted, strict=True):
            chosen = cells == name
            one = mean_score(values[chosen], clusters=_again(codes[chosen]), confidence=confidence)
            about = {"system": system, "by": by, "slice": name, "rest": rest, "p_adjusted": p}
            found.append(_named(one, figure, judge, dropped, about))
    return found


def answer_states(scores: pd.DataFrame, *, figure: str, confidence: float = 0.95) -> list[Estimate]:
    """How often each system answers, says nothing or declines, and its score when it answers.

    Parameters
    ----------
    scores
        A row a judge and response: ``judge, question_id, system, state``, the figure.

    Returns
    -------
    list of Estimate
        For each system ``rate_given``, ``rate_empty``, ``rate_abstained`` and ``rate_unreadable``
        (:func:`~accord.validate.proportions.clustered_proportion`; no judge has a part in them),
        and for each judge ``FIGURE_when_given`` (:func:`mean_score`). ``details``: ``system``,
        ``count``.

    Raises
    ------
    InputError
        A column that is not there.
    """
    _need(scores, "judge", "question_id", "system", "state", figure)
    found: list[Estimate] = []
    told: set[str] = set()
    for judge, system, part in _parts(scores):
        if system not in told:
            told.add(system)
            codes = cluster_codes(part["question_id"].tolist())
            for state in _STATES:
                is_so = (part["state"] == state).to_numpy(dtype=float)
                one = clustered_proportion(is_so, clusters=codes, confidence=confidence)
                about = {"system": system, "count": int(is_so.sum())}
                rate = replace(one, level="system", details={**about, **one.details})
                found.append(replace(rate, name=f"rate_{state}"))
        given = part[(part["state"] == "given") & part[figure].notna()]
        undefined = int(((part["state"] == "given") & part[figure].isna()).sum())
        one = mean_score(
            given[figure].to_numpy(dtype=float),
            clusters=cluster_codes(given["question_id"].tolist()),
            confidence=confidence,
        )
        dropped = {f"no {figure}": undefined} if undefined else {}
        about = {"system": system, "count": len(given)}
        found.append(_named(one, f"{figure}_when_given", judge, dropped, about))
    return found


def token_efficiency(
    scores: pd.DataFrame, *, figure: str, confidence: float = 0.95
) -> list[Estimate]:
    """The score for each 1,000 output tokens, of each judge and system.

    Parameters
    ----------
    scores
        A row a judge and response: ``judge, question_id, system, output_tokens`` (NaN where they
        are not known), the figure.

    Returns
    -------
    list of Estimate
        ``score_per_1000_tokens``, above 0 and without an upper end: mean score / mean tokens ×
        1,000 over the responses with both (:func:`mean_score`). NaN with a reason where no response
        has tokens. ``details``: ``system``, ``mean_tokens``. ``dropped`` counts the others.

    Raises
    ------
    InputError
        A column that is not there.
    """
    found: list[Estimate] = []
    for judge, system, values, tokens, codes, dropped in _with_tokens(scores, figure):
        one = mean_score(values, clusters=codes, per=tokens / 1000, confidence=confidence)
        if not tokens.size:
            one = replace(one, reason=_UNKNOWN)
        mean = float(tokens.mean()) if tokens.size else math.nan
        about = {"system": system, "mean_tokens": mean}
        found.append(_named(one, "score_per_1000_tokens", judge, dropped, about))
    return found


def verbosity(
    scores: pd.DataFrame,
    *,
    figure: str,
    seed: int,
    confidence: float = 0.95,
    resamples: int = 1999,
) -> list[Estimate]:
    """Do longer answers of a system score higher? Correlations of output tokens with the score.

    Parameters
    ----------
    scores
        As for :func:`token_efficiency`.
    seed
        Of the resampling.
    resamples
        199 or more; 0 for the jackknife.

    Returns
    -------
    list of Estimate
        For each judge and system ``verbosity_spearman`` and ``verbosity_pearson`` (of the logarithm
        of the tokens), each with its own interval by question; within a system, since systems
        differ in both. NaN with a reason where tokens are not known or do not vary.

    Raises
    ------
    InputError
        A column that is not there.
    """
    found: list[Estimate] = []
    for judge, system, values, tokens, codes, dropped in _with_tokens(scores, figure):
        shared: dict[str, Any] = {
            "clusters": codes,
            "rng": seed,
            "resamples": resamples,
            "confidence": confidence,
        }
        for name, one in (
            ("verbosity_spearman", spearman(tokens, values, **shared)),
            ("verbosity_pearson", pearson(np.log(tokens), values, **shared)),
        ):
            told = one if tokens.size else replace(one, reason=_UNKNOWN)
            found.append(_named(told, name, judge, dropped, {"system": system}))
    return found


def variant_differences(
    scores: pd.DataFrame, *, figure: str, confidence: float = 0.95
) -> list[Estimate]:
    """What a variant of a system changes: paired differences on the questions that both answered.

    Parameters
    ----------
    scores
        A row a judge and response: ``judge, question_id, base`` (the system), ``variant`` (blank
        for the plain one), the figure. At most one response of a variant to a question.

    Returns
    -------
    list of Estimate
        ``variant_difference`` for each judge, system and variant but its first: mean of the variant
        less mean of the first (the blank one, where there is one), with the interval by question of
        :func:`~accord.validate.differences.mean_difference`. ``details``: ``system``, ``variant``,
        ``first``, ``mean``, ``mean_first``. ``dropped`` counts responses that only one of the
        two has.

    Raises
    ------
    InputError
        A column that is not there.
    """
    _need(scores, "judge", "question_id", "base", "variant", figure)
    found: list[Estimate] = []
    for (judge, system), part in scores.groupby(["judge", "base"], sort=False):
        variants = sorted(set(part["variant"].tolist()))
        if len(variants) < 2:
            continue
        of = {v: part[part["variant"] == v].set_index("question_id")[figure] for v in variants}
        first, *others = variants
        for other in others:
            before, after = of[first].align(of[other], join="outer")
            both = (before.notna() & after.notna()).to_numpy()
            one = mean_difference(
                after.to_numpy(dtype=float)[both],
                before.to_numpy(dtype=float)[both],
                clusters=cluster_codes(after.index[both].tolist()),
                confidence=confidence,
            )
            about = {
                "system": str(system),
                "variant": other,
                "first": first,
                "mean": float(after[both].mean()),
                "mean_first": float(before[both].mean()),
            }
            lone = int((~both).sum())
            dropped = {"only one of the two has a score": lone} if lone else {}
            found.append(_named(one, "variant_difference", str(judge), dropped, about))
    return found


def bands(values: Sequence[float | None]) -> list[str | None]:
    """Numbers as the names of slices: each number where they are few, else the four quarters.

    Parameters
    ----------
    values
        Whole numbers, None or NaN where there is none.

    Returns
    -------
    list
        ``5``, or ``12 to 40`` with both ends in it; None where there is no number. The quarters
        are of the numbers that are there, ties in the lower one.

    Examples
    --------
    >>> bands([3, 4, None, 3])
    ['3', '4', None, '3']
    >>> bands([1, 2, 3, 4, 5, 6, 7, 8])[:4]
    ['1 to 2', '1 to 2', '3 to 4', '3 to 4']
    """
    known = [value for value in values if value is not None and value == value]
    if len(set(known)) <= _WHOLE:
        return [None if value is None or value != value else f"{value:g}" for value in values]
    cuts = np.quantile(known, [0.25, 0.5, 0.75], method="inverted_cdf")
    place = [
        None if value is None or value != value else int(np.searchsorted(cuts, value))
        for value in values
    ]
    ends: dict[int, str] = {}
    for quarter in range(4):
        own = [v for v, p in zip(values, place, strict=True) if p == quarter and v is not None]
        if own:
            low, high = min(own), max(own)
            ends[quarter] = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    return [None if p is None else ends[p] for p in place]


def _need(scores: pd.DataFrame, *names: str) -> None:
    for name in names:
        if name not in scores.columns:
            there = ", ".join(map(str, scores.columns))
            raise InputError(f"the scores have no column {name!r}", cure=f"there are {there}")


def _parts(scores: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    for (judge, system), part in scores.groupby(["judge", "system"], sort=False):
        yield str(judge), str(system), part


def _with_tokens(
    scores: pd.DataFrame, figure: str
) -> Iterator[tuple[str, str, FloatArray, FloatArray, IntArray, dict[str, int]]]:
    """Of each judge and system: figures and tokens of the responses with both, their questions'
    codes, and how many have not.
    """
    _need(scores, "judge", "question_id", "system", "output_tokens", figure)
    for judge, system, part in _parts(scores):
        counted = part["output_tokens"].notna() & (part["output_tokens"].fillna(0) > 0)
        scored = part[figure].notna()
        dropped = {
            f"no {figure}": int((~scored).sum()),
            "no output tokens": int((~counted & scored).sum()),
        }
        known = part[counted & scored]
        yield (
            judge,
            system,
            known[figure].to_numpy(dtype=float),
            known["output_tokens"].to_numpy(dtype=float),
            cluster_codes(known["question_id"].tolist()),
            {why: k for why, k in dropped.items() if k},
        )


def _named(
    one: Estimate, name: str, judge: str, dropped: dict[str, int], about: dict[str, Any]
) -> Estimate:
    return replace(
        one,
        name=name,
        level="system",
        raters=(judge,),
        dropped={**one.dropped, **dropped},
        details={**about, **one.details},
    )


def _holm(p_values: Sequence[float | None]) -> list[float | None]:
    known = [p for p in p_values if p is not None]
    if not known:
        return [None] * len(p_values)
    adjusted = iter(adjust(known, method="holm").tolist())
    return [None if p is None else next(adjusted) for p in p_values]


def _again(codes: IntArray) -> IntArray:
    """Codes without holes."""
    return cluster_codes(codes.tolist())


def _order(cells: Sequence[Any]) -> list[Any]:
    """The slices: numbers by size, other names in the order in which they come."""
    names = list(dict.fromkeys(cell for cell in cells if cell is not None and cell == cell))
    try:
        return sorted(names, key=lambda name: float(str(name).split(" to ")[0]))
    except ValueError:
        return names


def _ratio(totals: FloatArray) -> FloatArray:
    return totals[..., 0] / totals[..., 1]
