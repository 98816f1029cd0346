"""Where each pair of an enumeration stands in its universe, for scores by people's verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .knowledgeberg_run import CANDIDATE, EQUAL

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PLACES", "with_places"]

PLACES = (
    *("how", "reference_index", "predicted_index", "universe_open", "universe_settled"),
    *("universe_reference", "universe_predicted"),
)
"""Columns of a rating of a pair: how the pair came about, its positions (-1 without one), and of
its response the open pairs, the pairs by rule, and the elements of both sides."""


def with_places(about: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """What items are, with the columns of :data:`PLACES` where the pairs are an enumeration's.

    Parameters
    ----------
    about
        Rows of ``pairs`` by item id.
    pairs
        All pairs of the study, those that can't be graded too.
    """
    kinds = pairs["how"].isin([EQUAL, CANDIDATE])
    if not kinds.any():
        return about
    grouped = pairs.assign(
        universe_open=pairs["how"] == CANDIDATE, universe_settled=pairs["how"] == EQUAL
    ).groupby("response_id", sort=False)
    sums = grouped[["universe_open", "universe_settled"]].sum().astype("int64")
    sums["universe_reference"] = grouped["reference_index"].nunique()
    sums["universe_predicted"] = grouped["predicted_index"].nunique()
    out = about.copy()
    for name in ("reference_index", "predicted_index"):
        out[name] = out[name].fillna(-1).astype("int64")
    for name in sums.columns:
        out[name] = sums[name].loc[out["response_id"]].to_numpy(dtype="int64")
    return out
