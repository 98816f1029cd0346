"""The ratings of a study beside what they rate: question, system, counts, strata, weight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..scoring.records import NO_SYSTEM, Item
from .anchored import SUFFIX, take_anchored
from .identity import is_other_unit, system_label
from .judging import OF_ALIGNER
from .rating_times import add_times
from .ratings import COLUMNS, OF_STUDY, OWN_MARKS, Ratings, unrated_items
from .records import RatingRow
from .universe_places import PLACES, with_places
from .weights import ASIDE, OF_RETEST, PILOT, Weights, weights_of

if TYPE_CHECKING:
    import pandas as pd

    from .ledger import Ledger

__all__ = [
    "NOT_THERE",
    "OF_PILOT",
    "PilotLabels",
    "items_of",
    "join_ratings",
    "ratings_of",
    "strata",
]

_NO_FIRST = "retest without a first rating"
OF_PILOT = "rating of a pilot"
NOT_THERE = "item is not in the study (made with other settings or another accord)"


_SHOWN = (
    *("item_id", "question_id", "question", "reference", "predicted"),
    *("aliases", "system", "variant", "content_sha256"),
)
"""What an item takes from a pair."""


def items_of(pairs: pd.DataFrame) -> list[Item]:
    """The items of a pairs table: its rows with a predicted element."""
    found = pairs[pairs["item_id"].notna()].drop_duplicates("item_id")
    return [
        Item(
            item_id=item,
            question_id=question_id,
            question=question,
            reference=reference,
            predicted=predicted,
            aliases=tuple(aliases),
            system=system_label(system, variant),
            content_sha256=sha,
        )
        for item, question_id, question, reference, predicted, aliases, system, variant, sha in (
            zip(*(found[name].tolist() for name in _SHOWN), strict=True)
        )
    ]


def join_ratings(
    ledger: Ledger,
    pairs: pd.DataFrame,
    aside: frozenset[str],
    sample_id: str | None = None,
    *,
    anchored: bool = False,
) -> Ratings:
    """The latest rating of each item and rater, in long form.

    Parameters
    ----------
    pairs
        The pairs of the recipe's alignment.
    aside
        Items that only the positional alignment of an ordered question has, or an aligner that the
        recipe's is compared with: their ratings are left out here without a word.
    sample_id
        Only the items of this sample. Otherwise the labels of pilots are left out.

    anchored
        Whether labels count that people gave with a judge's verdict in sight; a person's own blind
        label of an item comes before.

    Returns
    -------
    Ratings
        With ``weight`` 1 / inclusion probability for items of a sample, else 1; of several samples
        together as in :mod:`.weights`. Labels of retests are in ``repeats``; labels from Label
        Studio have ``rated_at`` and ``seconds``.
    """
    about = pairs[pairs["item_id"].notna()].set_index("item_id")
    about = with_places(about[~about.index.duplicated()], pairs)
    members = ((s.sample_id, item) for s in ledger.samples() for item, _ in s.items)
    pilots = PilotLabels(ledger, members)
    named = None if sample_id is None else {item for item, _ in ledger.sample(sample_id).items}
    dropped: dict[str, int] = {}
    rows: list[RatingRow] = []
    known = set(about.index)
    for row in ledger.rating_rows():
        if named is not None and row.item_id not in named:
            continue
        reason = None
        if row.item_id not in known:
            compared = row.source == OF_ALIGNER
            elsewhere = row.item_id in aside or compared or is_other_unit(row.item_id)
            reason = None if elsewhere else NOT_THERE
        elif row.status == "skipped":
            reason = "skipped"
        elif sample_id is None and pilots.holds(row):
            reason = OF_PILOT
        else:
            rows.append(row)
        if reason:
            dropped[reason] = dropped.get(reason, 0) + 1
    return ratings_of(
        ledger,
        about,
        rows,
        dropped,
        weigh=lambda rated: weights_of(ledger, rated, sample_id),
        pilots=pilots.samples,
        anchored=anchored,
    )


def ratings_of(
    ledger: Ledger,
    about: pd.DataFrame,
    rows: Sequence[RatingRow],
    dropped: dict[str, int],
    *,
    weigh: Callable[[set[str]], Weights],
    pilots: Sequence[str],
    anchored: bool,
) -> Ratings:
    """Ratings that were chosen, as a table: blind ones, each weighted, retests apart.

    Parameters
    ----------
    about
        What the items are, by item id, in the columns of a pairs table.
    dropped
        What was left out already; what is left out here is added.
    weigh
        Gives the weights, of the items that people rated.
    pilots
        The samples whose labels were left out.
    anchored
        Whether labels count that people gave with a judge's verdict in sight.
    """
    rows, not_blind = take_anchored(rows, anchored=anchored, dropped=dropped)
    rated = {row.item_id for row in rows if row.kind != "judge" and row.source != OF_RETEST}
    found = weigh(rated)
    weights, notes = found.of, list(found.notes)
    notes += [not_blind] if not_blind else []
    if dropped.get(OF_PILOT):
        notes.append(
            f"{dropped[OF_PILOT]} ratings of a pilot ({', '.join(pilots)}) are left out of all "
            "figures; name it with --sample to see them"
        )
    first = [row for row in rows if row.source != OF_RETEST]
    blank = [RatingRow(item, "", "annotator", None) for item in _unrated(about, first)]
    both = _table(ledger, about, [*first, *blank], weights)
    frame = both.iloc[: len(first)].copy()
    unrated = unrated_items(both.iloc[len(first) :], frame)
    add_times(frame, first, ledger)
    again = _repeats([row for row in rows if row.source == OF_RETEST], first, dropped)
    repeats = None
    if again:
        asked = [row for _, row in again]
        repeats = _table(ledger, about, asked, weights)
        add_times(repeats, asked, ledger, [time for time, _ in again])
        _alike(frame, repeats)
        repeats["repeat"] = [time for time, _ in again]
        notes.append(
            f"{len(repeats)} ratings repeat an item for the same person: they count only as that"
            " person's agreement with themselves"
        )
    notes += _mixed(rated, weights)
    ratings = Ratings(frame=frame, notes=tuple(notes), dropped=dropped)
    source = {"name": OF_STUDY, "rows": len(frame), "sha256": ratings.digest()}
    return Ratings(
        frame=frame,
        notes=tuple(notes),
        dropped=dropped,
        source=source,
        repeats=repeats,
        unrated=unrated,
    )


def _unrated(about: pd.DataFrame, rows: Sequence[RatingRow]) -> list[str]:
    """Items without a rating in responses of which others have one, and no number of elements.

    Without those numbers nothing else says that the response was not rated as a whole. Pairs of an
    enumeration know their places, and not all of them need a rating.
    """
    if PLACES[-1] in about.columns:
        return []
    rated = about.index.isin([row.item_id for row in rows])
    known = about[["n_reference", "n_predicted"]].notna().all(axis=1)
    if known[rated].all():
        return []
    here = about["response_id"].isin(about.loc[rated & ~known, "response_id"])
    return [str(item) for item in about.index[here & ~rated]]


def _table(
    ledger: Ledger, about: pd.DataFrame, rows: Sequence[RatingRow], weights: Mapping[str, float]
) -> pd.DataFrame:
    """Ratings beside what is known of their items."""
    import pandas as pd

    ids = [row.item_id for row in rows]
    facts = about.loc[ids] if ids else about.iloc[:0]
    columns: dict[str, Any] = {
        "item_id": ids,
        "question_id": facts["question_id"].tolist(),
        "system": facts["system"].tolist(),
        "response_id": facts["response_id"].tolist(),
        "rater": [row.rater for row in rows],
        "kind": [row.kind for row in rows],
        "rating": [row.rating for row in rows],
        "status": [row.status for row in rows],
    }
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    frame["weight"] = pd.Series([weights.get(item, 1.0) for item in ids], dtype=float)
    frame = frame[list(COLUMNS)]
    for name in ("n_reference", "n_predicted"):
        counts = facts[name]
        if counts.notna().all():
            frame[name] = counts.astype("int64").to_numpy()
        elif counts.notna().any():
            frame[name] = counts.astype("float64").to_numpy()
    for name in PLACES if PLACES[-1] in facts.columns else ():
        frame[name] = facts[name].tolist()
    unmatched = facts["reference"].isna()
    if unmatched.any():
        frame["unmatched"] = unmatched.to_numpy(dtype=bool)
    if any(row.reasons for row in rows):
        frame["reasons"] = pd.Series([row.reasons for row in rows], dtype=object)
    if (facts["variant"] != "").any():
        frame["variant"] = facts["variant"].tolist()
    for name, cells in strata(ledger, facts).items():
        if name not in OWN_MARKS:
            frame[name] = pd.Series(cells, dtype=object)
    tokens = {
        (one.question_id, one.system, one.variant): str(one.output_tokens)
        for one in ledger.responses()
        if one.output_tokens is not None
    }
    if tokens and "output_tokens" not in frame.columns:
        keys = zip(facts["question_id"], facts["system"], facts["variant"], strict=True)
        given = [tokens.get((question, system or NO_SYSTEM, v)) for question, system, v in keys]
        frame["output_tokens"] = pd.Series(given, dtype=object)
    return frame


def _alike(frame: pd.DataFrame, repeats: pd.DataFrame) -> None:
    """Put in what one table leaves out because no row of it has any.

    Put below the other it would be blank there, and a blank is not known to be no.
    """
    import pandas as pd

    blanks: tuple[tuple[str, Any, str], ...] = (
        ("reasons", (), "object"),
        ("unmatched", False, "bool"),
    )
    for one, other in ((frame, repeats), (repeats, frame)):
        for name, blank, dtype in blanks:
            if name in other.columns and name not in one.columns:
                one[name] = pd.Series([blank] * len(one), index=one.index, dtype=dtype)


def _repeats(
    rows: Sequence[RatingRow], first: Sequence[RatingRow], dropped: dict[str, int]
) -> list[tuple[int, RatingRow]]:
    """Labels of retests as ratings of the person, each with the time it was asked: 2 or more."""
    known = {(row.item_id, row.rater) for row in first}
    found = []
    for row in rows:
        rater, _, time = row.rater.rpartition("#")
        if (row.item_id, rater) in known:
            found.append((int(time), replace(row, rater=rater)))
        else:
            dropped[_NO_FIRST] = dropped.get(_NO_FIRST, 0) + 1
    return found


def strata(ledger: Ledger, facts: pd.DataFrame) -> dict[str, list[str | None]]:
    """Fields of questions, responses and given pairs, a column each."""
    by_question = {question.question_id: question.fields for question in ledger.questions()}
    by_response = {
        (response.question_id, response.system, response.variant): response.fields
        for response in ledger.responses()
        if response.fields
    }
    by_item = {pair.item_id: pair.fields for pair in ledger.pairs() if pair.fields}
    nothing: Mapping[str, str] = {}
    found: list[Mapping[str, str]] = []
    for item, question, system, variant in zip(
        facts.index, facts["question_id"], facts["system"], facts["variant"], strict=True
    ):
        found.append(
            {
                **by_question.get(question, nothing),
                **by_response.get((question, system or NO_SYSTEM, variant), nothing),
                **by_item.get(item, nothing),
            }
        )
    names = dict.fromkeys(name for fields in found for name in fields)
    return {name: [fields.get(name) for fields in found] for name in names}


class PilotLabels:
    """Which labels by people belong to a pilot alone.

    Parameters
    ----------
    members
        (sample, item): what each sample asked people about.
    """

    def __init__(self, ledger: Ledger, members: Iterable[tuple[str, str]]) -> None:
        purpose = {sample.sample_id: sample.purpose for sample in ledger.samples()}
        self.samples = tuple(name for name, what in purpose.items() if what == PILOT)
        self._of_pilot: set[str] = set()
        self._elsewhere: set[str] = set()
        self._where: Mapping[tuple[str, str], frozenset[str | None]] = {}
        if not self.samples:
            return
        for name, item in members:
            if purpose.get(name) == PILOT:
                self._of_pilot.add(item)
            elif purpose.get(name) not in ASIDE:
                self._elsewhere.add(item)
        if self._of_pilot & self._elsewhere:
            self._where = ledger.annotated_in()

    def holds(self, row: RatingRow) -> bool:
        """A label given in a pilot's tasks, or of an item that no other sample holds."""
        if row.kind == "judge" or row.item_id not in self._of_pilot:
            return False
        if row.item_id not in self._elsewhere:
            return True
        where = self._where.get((row.item_id, row.rater.removesuffix(SUFFIX)), frozenset())
        return bool(where) and where <= set(self.samples)


def _mixed(rated: set[str], weights: Mapping[str, float]) -> list[str]:
    """What people rated beside the samples has no known probability; that is said."""
    drawn = {item for item in rated if item in weights}
    outside = len(rated) - len(drawn)
    if not outside or not any(weights[item] != 1 for item in drawn):
        return []
    return [
        f"{outside} items that people rated are in no sample; they count with weight 1 beside"
        f" {len(drawn)} that stand for others too, and no figure holds for all items"
    ]
