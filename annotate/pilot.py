"""What a pilot's labels say about the strata: where the verdicts vary, and need more labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..scoring.errors import SettingsError
from ..scoring.records import INCORRECT
from .allocation import spread
from .designs import Stratum

if TYPE_CHECKING:
    import pandas as pd

    from ..study import Study

__all__ = ["pilot_shares"]

_WRONG = frozenset({INCORRECT, "ERROR"})


def pilot_shares(
    study: Study,
    pilot: str,
    of: Mapping[str, Stratum],
    sizes: Mapping[Stratum, int],
    *,
    judge: str | None = None,
    purpose: str = "agreement",
) -> dict[Stratum, float]:
    """Neyman's shares: stratum → its size times the standard deviation that the pilot shows.

    Parameters
    ----------
    pilot
        The sample whose labels are read.
    of
        Item → stratum, for the pilot's items too.
    sizes
        Stratum → its items in the frame that is drawn from.
    judge
        The judge whose agreement with people is to be measured; needed where there are several.
    purpose
        ``audit``: the value is whether people found an error. Otherwise it is whether the judge
        says what people say; without a judge, whether people found an error.

    Raises
    ------
    SettingsError
        No labels of the pilot, an unknown judge, several and none named.
    """
    frame = study.ratings(pilot).frame
    rated = frame[frame["status"] == "rated"]
    truth: dict[str, str] = {}
    for kind in ("annotator", "adjudicated"):
        own = rated[rated["kind"] == kind]
        for item, labels in own.groupby("item_id", sort=False)["rating"]:
            counts = Counter(labels).most_common(2)
            if len(counts) == 1 or counts[0][1] > counts[1][1]:
                truth[item] = counts[0][0]
            else:
                truth.pop(item, None)
    if not truth:
        raise SettingsError(
            f"--pilot {pilot} has no label by a person yet",
            cure=f"grade it first: accord export {study.path} {pilot}",
        )
    said = _judged(rated[rated["kind"] == "judge"], judge, purpose)
    right, labelled = dict.fromkeys(sizes, 0), dict.fromkeys(sizes, 0)
    for item, label in truth.items():
        stratum = of.get(item)
        if stratum not in labelled or (said is not None and item not in said):
            continue
        labelled[stratum] += 1
        right[stratum] += label in _WRONG if said is None else said[item] == label
    sds = spread(list(right.values()), list(labelled.values()))
    return {stratum: sizes[stratum] * sd for stratum, sd in zip(sizes, sds, strict=True)}


def _judged(rows: pd.DataFrame, judge: str | None, purpose: str) -> dict[str, str] | None:
    """The verdicts that people's labels are compared with; None where errors are counted."""
    there = list(dict.fromkeys(rows["rater"]))
    if judge is not None and judge not in there:
        raise SettingsError(
            f"--judges names {judge!r}, which gave no verdict on the pilot",
            cure=f"there are {', '.join(there) or 'none'}",
        )
    if purpose == "audit" or not there:
        return None
    if judge is None and len(there) > 1:
        raise SettingsError(
            f"{len(there)} judges graded the pilot ({', '.join(there)})",
            cure="name the one whose agreement is to be measured with --judges",
        )
    own = rows[rows["rater"] == (judge or there[0])]
    return dict(zip(own["item_id"], own["rating"], strict=True))
