"""The scores of a study beside what is known of its questions and responses, for slices of them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from ..scoring.errors import SettingsError
from .identity import system_label
from .joined import strata

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from .study import Study

__all__ = ["LIST_LENGTH", "OWN_SLICES", "check_fields", "score_frame"]

LIST_LENGTH = "list_length"
OWN_SLICES = (LIST_LENGTH, "output_tokens", "variant", "state")
"""Slices that every study has, besides the fields of its questions and responses."""


def check_fields(study: Study, fields: Sequence[str]) -> None:
    """Refuse a field that nothing in the study has, or a value that no field of that name has.

    Raises
    ------
    SettingsError
        The message names the fields, or the values, that there are.
    """
    ledger = study.ledger
    rows = list(chain[Any](ledger.questions(), ledger.responses(), ledger.pairs()))
    known = dict.fromkeys([*OWN_SLICES, *chain.from_iterable(row.fields for row in rows)])
    for asked in fields:
        name, sign, value = asked.partition("=")
        if sign and name in OWN_SLICES:
            raise SettingsError(
                f"--by {asked}: {name} is made by accord and takes no value", cure=f"--by {name}"
            )
        if name not in known:
            raise SettingsError(
                f"--by names {name!r}, which no question or response has",
                cure=f"there are {', '.join(known)}; --strata keeps others when a file is added",
            )
        there = dict.fromkeys(row.fields[name] for row in rows if name in row.fields)
        if sign and value not in there:
            shown = ", ".join(list(there)[:12]) + (", …" if len(there) > 12 else "")
            raise SettingsError(f"--by {asked}: no {name} is {value!r}", cure=f"there are {shown}")


def _of_pairs(study: Study, facts: pd.DataFrame) -> dict[str, list[str | None]]:
    """Fields of pairs that came paired: a response has what all its pairs have alike."""
    held: dict[tuple[str, str, str], list[Mapping[str, str]]] = {}
    for pair in study.ledger.pairs():
        held.setdefault((pair.question_id, pair.system, pair.variant), []).append(pair.fields)
    names = dict.fromkeys(name for of in held.values() for fields in of for name in fields)
    found: dict[str, list[str | None]] = {name: [] for name in names}
    for key in facts.itertuples(index=False, name=None):
        for name, cells in found.items():
            values = {fields.get(name) for fields in held.get(key, ())}
            cells.append(values.pop() if len(values) == 1 else None)
    return found


def score_frame(study: Study, fields: Sequence[str] = ()) -> pd.DataFrame:
    """A row a judge and response, with the fields that are asked for.

    Parameters
    ----------
    fields
        Fields of the study's questions, responses or pairs, or of :data:`OWN_SLICES`; or
        ``FIELD=VALUE`` for two slices, ``VALUE`` and ``not VALUE``.

    Returns
    -------
    pandas.DataFrame
        The columns of ``Study.scores()`` and: ``base`` (the system's own name), ``system`` (with
        its variant), ``list_length`` (reference elements) and ``output_tokens`` as floats, NaN
        where they are not known, and each field, None where a response has none, or where the pairs
        that it came in differ.

    Raises
    ------
    StudyError
        When the study has no scores of what it holds now.
    SettingsError
        A field that nothing in the study has.
    """
    import pandas as pd

    check_fields(study, fields)
    frame = study.scores()
    ids = ["question_id", "system", "variant"]
    facts = frame[ids].drop_duplicates().reset_index(drop=True)
    nothing: list[str | None] = [None] * len(facts)
    known = strata(study.ledger, facts)
    for name, of_pairs in _of_pairs(study, facts).items():
        beside = zip(of_pairs, known.get(name, nothing), strict=True)
        known[name] = [other if own is None else own for own, other in beside]
    wanted = [name for name in fields if name not in OWN_SLICES]
    for asked in wanted:
        name, sign, value = asked.partition("=")
        cells = known.get(name, nothing)
        if sign:
            cells = [c if c in (None, value) else f"not {value}" for c in cells]
        facts[f"field {asked}"] = pd.Series(cells, dtype=object)
    frame = frame.merge(facts, on=ids, how="left", validate="many_to_one")
    frame = frame.drop(columns=[name for name in wanted if name in frame.columns])
    frame = frame.rename(columns={f"field {name}": name for name in wanted})
    frame["base"] = frame["system"]
    frame["system"] = [
        system_label(system, variant)
        for system, variant in zip(frame["base"], frame["variant"], strict=True)
    ]
    frame[LIST_LENGTH] = frame["n_reference"].astype("float64")
    frame["output_tokens"] = frame["output_tokens"].astype("float64")
    return frame
