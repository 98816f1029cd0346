"""Did the aligner put the right elements side by side, and what does it cost where it did not?

People say of an element beside which reference element it belongs. From that follow the share that
the aligner placed right, and a matching of their own, under which a response can be scored again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..scoring.errors import InputError
from .clusters import FloatArray, Unit
from .methods import Method
from .proportions import clustered_proportion
from .resampling import Source
from .result import Estimate

__all__ = ["Rematched", "alignment_accuracy", "rematch"]

Moved = Literal["right", "as-said"]


def alignment_accuracy(
    aligned: ArrayLike,
    *,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    unit: Unit = "question",
    method: Method = "default",
    rng: Source | None = None,
    resamples: int = 1999,
) -> Estimate:
    """What share of predicted elements stands where people would have put it?

    Parameters
    ----------
    aligned
        ``(n,)`` of each element that was looked at: whether it stands beside the right reference
        element, or rightly beside none.
    clusters, weights, confidence, unit, method, rng, resamples
        As :func:`~accord.validate.proportions.clustered_proportion`.

    Returns
    -------
    Estimate
        In [0, 1], Wilson's interval on the effective n. NaN with a reason without elements. *Do not
        read* it as the quality of the matching where most pairs are exact matches: those can't be
        wrong, so give it beside the share of pairs that were not exact.
    """
    found = clustered_proportion(
        np.asarray(aligned, dtype=float),
        clusters=clusters,
        weights=weights,
        confidence=confidence,
        unit=unit,
        method=method,
        rng=rng,
        resamples=resamples,
    )
    return replace(found, name="alignment_accuracy")


@dataclass(frozen=True, slots=True, eq=False)
class Rematched:
    """Elements under people's matching, one to one.

    Parameters
    ----------
    worth
        ``(n,)`` what each counts there: its verdict's worth, 0 without a partner.
    matched
        ``(n,)`` whether it has a reference element there.
    moved
        ``(n,)`` whether it stands elsewhere than the aligner put it: beside another reference
        element, or beside none, or beside one instead of none.
    twice
        Elements that lost their reference element to another one that claims it too.
    """

    worth: FloatArray
    matched: NDArray[np.bool_]
    moved: NDArray[np.bool_]
    twice: int


def rematch(
    worth: ArrayLike,
    *,
    response: ArrayLike,
    beside: ArrayLike,
    belongs: ArrayLike,
    moved: Moved = "right",
) -> Rematched:
    """The elements of responses beside the reference elements where a person puts them.

    Parameters
    ----------
    worth
        ``(n,)`` in [0, 1]: what the person's verdict on the pair as shown is worth (1 CORRECT, 0
        INCORRECT; for a verdict that is left out, such as UNSURE, any value between).
    response
        ``(n,)`` the response of each element.
    beside, belongs
        ``(n,)`` numbers of the reference element within the response, 0 for none: where the
        aligner put the element and where the person does.
    moved
        A page that shows a pair asks for a verdict on that pair, not on the one that should have
        been shown. ``right``: an element that is put beside another reference element counts as
        right there, since the person says that it is that one; the most that the people's matching
        can give. ``as-said``: it keeps its verdict there.

    Returns
    -------
    Rematched
        A reference element that several claim goes to the one that is worth most there, of equals
        to one that stood there, then to the first; the others have none and count nothing. So it
        counts once, and nobody is right about more reference elements than there are.

    Raises
    ------
    InputError
        Arrays of different lengths, a worth outside [0, 1], or a number below 0.
    """
    value = np.asarray(worth, dtype=float).copy()
    whole, old, new = (np.asarray(one, dtype=np.int64) for one in (response, beside, belongs))
    if not value.shape == whole.shape == old.shape == new.shape or value.ndim != 1:
        raise InputError("arrays of different lengths", cure="give each element one entry in each")
    if not np.all((value >= 0) & (value <= 1)):
        raise InputError("a worth outside [0, 1]", cure="give 1 for right and 0 for wrong")
    if np.any(old < 0) or np.any(new < 0):
        raise InputError("a reference element below 0", cure="count from 1, and give 0 for none")
    elsewhere = old != new
    if moved == "right":
        value[elsewhere & (new > 0)] = 1.0
    order = np.lexsort((np.arange(value.size), elsewhere, -value, new, whole))
    same = np.zeros(value.size, dtype=bool)
    before, after = order[:-1], order[1:]
    same[1:] = (whole[before] == whole[after]) & (new[before] == new[after])
    first = np.empty(value.size, dtype=bool)
    first[order] = ~same
    matched = first & (new > 0)
    value[~matched] = 0.0
    return Rematched(value, matched, elsewhere, int(((new > 0) & ~matched).sum()))
