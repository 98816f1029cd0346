"""Precision, recall and F1, and the six figures of ListQA.

One function, :func:`precision_recall_f1`, serves the judge's F1, the people's F1 and ROUGE-F1; only
the source of the verdicts differs. Definitions follow the ListQA project page (Kulkarni and
Vaideeswaran 2026); what the page leaves open is a convention of the recipe.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .errors import InputError
from .parse import Parsed, plain
from .recipes import Recipe
from .records import CORRECT, INCORRECT, UNSURE, Element, Pair
from .tokens import normalise, tokeniser

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "PRF",
    "STATES",
    "Counts",
    "ListQAScores",
    "Share",
    "State",
    "f1_array",
    "format_correctness",
    "listqa_scores",
    "precision_recall_f1",
    "relaxed_precision",
    "relaxed_recall",
    "rouge_counts",
    "verdict_counts",
]

State = Literal["given", "empty", "abstained", "unreadable"]
STATES: tuple[State, ...] = ("given", "empty", "abstained", "unreadable")


@dataclass(frozen=True, slots=True)
class PRF:
    """Precision, recall and F1 with the counts they come from; NaN and a reason where undefined."""

    correct: float
    n_predicted: float
    n_reference: float
    precision: float
    recall: float
    f1: float
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values; NaN becomes None."""
        return {
            "correct": self.correct,
            "n_predicted": self.n_predicted,
            "n_reference": self.n_reference,
            "precision": _number(self.precision),
            "recall": _number(self.recall),
            "f1": _number(self.f1),
            "reason": self.reason,
        }


def precision_recall_f1(correct: float, n_predicted: float, n_reference: float) -> PRF:
    """P = correct / predicted, R = correct / reference, F1 their harmonic mean, in [0, 1].

    Parameters
    ----------
    correct
        Pairs that are right; one half counts where a recipe says so.
    n_predicted, n_reference
        Elements of the response and of the reference.

    Returns
    -------
    PRF
        All 0 where nothing was predicted, F1 0 where P + R is 0. NaN with a reason where the
        reference has no element: there is nothing to recall.

    Raises
    ------
    InputError
        When a count is negative or more is correct than there is.

    Examples
    --------
    >>> precision_recall_f1(2, 2, 4).f1  # P = 1, R = 1/2, F1 = 2/3
    0.6666666666666666
    """
    if not 0 <= correct <= min(n_predicted, n_reference):
        raise InputError(
            f"{correct} correct of {n_predicted} predicted and {n_reference} reference elements "
            "can't be",
            cure="check the counts of elements",
        )
    if n_reference == 0:
        nan = math.nan
        return PRF(correct, n_predicted, n_reference, nan, nan, nan, "no reference element")
    precision = correct / n_predicted if n_predicted else 0.0
    f1 = 2 * correct / (n_predicted + n_reference)
    return PRF(correct, n_predicted, n_reference, precision, correct / n_reference, f1)


def f1_array(
    correct: ArrayLike, n_predicted: ArrayLike, n_reference: ArrayLike
) -> NDArray[np.float64]:
    """F1 of many responses at once, as :func:`precision_recall_f1` gives it.

    Parameters
    ----------
    correct, n_predicted, n_reference
        Counts of shape (n_responses,). NaN in ``correct`` gives NaN.

    Returns
    -------
    ndarray, shape (n_responses,)
        NaN where the reference has no element.

    Raises
    ------
    InputError
        When a count is negative or more is correct than there is; the first place is named.
    """
    import numpy as np

    c, p, r = np.broadcast_arrays(
        np.asarray(correct, dtype=float),
        np.asarray(n_predicted, dtype=float),
        np.asarray(n_reference, dtype=float),
    )
    bad = (c < 0) | (c > np.minimum(p, r))
    if bad.any():
        k = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"row {k + 1}: {c.flat[k]:g} correct of {p.flat[k]:g} predicted and {r.flat[k]:g} "
            "reference elements can't be",
            cure="check the counts of elements",
        )
    f1 = np.full(c.shape, np.nan)
    np.divide(2 * c, p + r, out=f1, where=r > 0)
    return f1


@dataclass(frozen=True, slots=True)
class Counts:
    """What the verdicts of one response add up to, and what was set aside.

    ``unscored`` and ``unsure`` count pairs with both sides, whatever became of them; ``extra``
    counts predicted elements that are correct but missing from the reference.
    """

    correct: float
    n_predicted: float
    n_reference: float
    unscored: int = 0
    unsure: int = 0
    extra: int = 0

    def prf(self) -> PRF:
        """Precision, recall and F1; undefined if the verdicts leave no element on one side."""
        nothing_left = self.n_predicted == 0 or self.n_reference == 0
        if nothing_left and (self.unscored or self.unsure):
            nan, p, r = math.nan, self.n_predicted, self.n_reference
            return PRF(self.correct, p, r, nan, nan, nan, "no usable verdict")
        return precision_recall_f1(self.correct, self.n_predicted, self.n_reference)


def verdict_counts(pairs: Sequence[Pair], verdicts: Sequence[str | None], recipe: Recipe) -> Counts:
    """Count the verdicts of one response's pairs, by the recipe's conventions.

    Parameters
    ----------
    pairs
        All pairs of the response, unmatched elements of both sides included.
    verdicts
        One for each pair: CORRECT, INCORRECT, UNSURE, or None. None is *unscored* for a pair with
        both sides; a predicted element without a reference element is wrong without a verdict.
    recipe
        ``unscored``, ``unsure`` and ``extra`` are read. A missing pair leaves both counts.

    Raises
    ------
    InputError
        When a verdict is none of the three words.
    """
    correct = predicted = reference = 0.0
    unscored = unsure = extra = 0
    for pair, verdict in zip(pairs, verdicts, strict=True):
        if verdict not in (CORRECT, INCORRECT, UNSURE, None):
            raise InputError(
                f"the verdict {verdict!r} is none of CORRECT, INCORRECT, UNSURE",
                cure="map the label words with --labels",
            )
        if pair.predicted is None:
            reference += 1
            continue
        if pair.reference is None:
            predicted += 1
            if verdict == CORRECT:
                extra += 1
                if recipe.extra == "ignore":
                    predicted -= 1
                elif recipe.extra == "credit":
                    correct += 1
                    reference += 1
            continue
        if verdict is None:
            unscored += 1
            if recipe.unscored == "missing":
                continue
        elif verdict == UNSURE:
            unsure += 1
            if recipe.unsure == "missing":
                continue
            if recipe.unsure == "half":
                correct += 0.5
        elif verdict == CORRECT:
            correct += 1
        predicted += 1
        reference += 1
    return Counts(correct, predicted, reference, unscored, unsure, extra)


def rouge_counts(pairs: Sequence[Pair], threshold: float) -> Counts:
    """The same counts with "ROUGE-1 F1 is at least the threshold" as the verdict."""
    return Counts(
        sum(
            pair.similarity >= threshold
            for pair in pairs
            if pair.reference is not None and pair.predicted is not None
        ),
        sum(pair.predicted is not None for pair in pairs),
        sum(pair.reference is not None for pair in pairs),
    )


@dataclass(frozen=True, slots=True)
class Share:
    """``hits`` of ``total``, as counts, so that the shares of many responses can be pooled."""

    hits: int
    total: int

    @property
    def value(self) -> float:
        """The share in [0, 1]; 0 of nothing is 0: nothing was produced."""
        return self.hits / self.total if self.total else 0.0


def relaxed_recall(reference: Sequence[Element], response: str, recipe: Recipe) -> Share:
    """Share of reference elements and attribute values that stand anywhere in the raw response.

    An element is found by its text or an alias. Both texts are compared in the form of
    :func:`accord.scoring.tokens.normalise`, without Markdown's emphasis marks.
    """
    form = _form_of(recipe)
    whole = form(response)
    found = [any(_holds(whole, form(text)) for text in (e.text, *e.aliases)) for e in reference]
    found += [
        _holds(whole, form(value)) for e in reference for _, value in e.attributes if value.strip()
    ]
    return Share(sum(found), len(found))


def relaxed_precision(
    reference: Sequence[Element], predicted: Sequence[Element], recipe: Recipe
) -> Share:
    """Share of predicted elements whose text string-matches the reference.

    An element counts when its text, or its part before an explanation, stands in a reference
    element (text, aliases, attribute values); by the convention ``either`` also when a reference
    element's text or alias stands in it.
    """
    form = _form_of(recipe)
    texts = [form(text) for e in reference for text in (e.text, *e.aliases)]
    whole = [*texts, *(form(value) for e in reference for _, value in e.attributes)]
    hits = 0
    for element in predicted:
        own = form(element.text)
        hit = any(_holds(one, own) for one in whole)
        if not hit and element.head is not None:
            head = form(element.head)
            hit = any(_holds(one, head) for one in whole)
        if not hit and recipe.relaxed_precision == "either":
            hit = any(_holds(own, text) for text in texts)
        hits += hit
    return Share(hits, len(predicted))


def _form_of(recipe: Recipe) -> Callable[[str], str]:
    """The form in which texts are looked for in others."""
    if recipe.relaxed == "words":
        words = tokeniser("unicode")
        return lambda text: f" {' '.join(words(normalise(plain(text))))} "
    return lambda text: normalise(plain(text))


def _holds(whole: str, form: str) -> bool:
    """Whether a form stands in another; one of nothing stands in none."""
    return form in whole and bool(form.strip())


_STRUCTURED = frozenset({"numbered", "bullet", "nested"})


def format_correctness(parsed: Parsed, *, multi_faceted: bool, minimum: int) -> Share:
    """Share of the elements that have the structure asked for.

    A flat list (numbered or bulleted, no attributes) for a single-faceted question, an attribute
    under each element for a multi-faceted one. 0 below ``minimum`` elements. Facts play no part.
    """
    elements = [element for element in parsed.elements if not element.aside]
    if len(elements) < max(minimum, 1) or parsed.marker not in _STRUCTURED:
        return Share(0, len(elements))
    right = sum(bool(element.attributes) == multi_faceted for element in elements)
    return Share(right, len(elements))


@dataclass(frozen=True, slots=True)
class ListQAScores:
    """The six figures of one response; ``ordered`` is None for a question without order."""

    judge: PRF
    ordered: PRF | None
    rouge: PRF
    relaxed_recall: Share
    relaxed_precision: Share
    format_correctness: Share

    def to_dict(self) -> dict[str, float | None]:
        """The figures by name; NaN becomes None."""
        return {name: _number(value) for name, value in self.figures().items()}

    def figures(self) -> dict[str, float]:
        """The figures by name, NaN where undefined or not asked for."""
        return {
            "llm_judge_f1": self.judge.f1,
            "llm_judge_precision": self.judge.precision,
            "llm_judge_recall": self.judge.recall,
            "llm_judge_f1_ordered": math.nan if self.ordered is None else self.ordered.f1,
            "rouge_f1": self.rouge.f1,
            "rouge_precision": self.rouge.precision,
            "rouge_recall": self.rouge.recall,
            "relaxed_recall": self.relaxed_recall.value,
            "relaxed_precision": self.relaxed_precision.value,
            "format_correctness": self.format_correctness.value,
        }


def listqa_scores(
    *,
    reference: Sequence[Element],
    parsed: Parsed,
    predicted: Sequence[Element],
    response: str,
    pairs: Sequence[Pair],
    verdicts: Sequence[str | None],
    recipe: Recipe,
    ordered_pairs: Sequence[Pair] | None = None,
    ordered_verdicts: Sequence[str | None] = (),
    multi_faceted: bool | None = None,
) -> ListQAScores:
    """The six ListQA figures of one response.

    Parameters
    ----------
    reference
        At least one element.
    parsed, predicted
        The response as read, and the elements of it that were aligned (without asides, and
        collapsed if the recipe says so).
    response
        The raw text, for Relaxed-Recall.
    pairs, verdicts
        The alignment and one verdict for each pair; see :func:`verdict_counts`.
    ordered_pairs, ordered_verdicts
        The same by position, for an ordered question.
    multi_faceted
        Whether sub-bullets are wanted; None: if a reference element has attributes.
    """
    if multi_faceted is None:
        multi_faceted = any(element.attributes for element in reference)
    return ListQAScores(
        judge=verdict_counts(pairs, verdicts, recipe).prf(),
        ordered=None
        if ordered_pairs is None
        else verdict_counts(ordered_pairs, ordered_verdicts, recipe).prf(),
        rouge=rouge_counts(pairs, recipe.rouge_threshold).prf(),
        relaxed_recall=relaxed_recall(reference, response, recipe),
        relaxed_precision=relaxed_precision(reference, predicted, recipe),
        format_correctness=format_correctness(
            parsed, multi_faceted=multi_faceted, minimum=recipe.format_min_elements
        ),
    )


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
