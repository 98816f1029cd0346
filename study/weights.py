"""What an item counts that people graded: 1 / the probability that it is in the samples used.

Samples that were drawn independently of each other hold an item with probability
1 - product of (1 - p) over the samples. A sample that extends another holds none of its items, so
the two together hold an item with the sum of both probabilities; and one that left out another's
items stands for the rest alone, beside which the left-out items count for themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .records import Sample

if TYPE_CHECKING:
    from .ledger import Ledger

__all__ = ["ASIDE", "OF_RETEST", "PILOT", "RETEST", "Weights", "union_probabilities", "weights_of"]

PILOT, RETEST = "pilot", "retest"
ASIDE = (PILOT, RETEST)
"""Purposes of samples whose labels enter no estimate."""
OF_RETEST = "label-studio:retest"
"""The source of a rating that repeats a first one; its rater is called ``NAME#2`` and so on."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a set of samples.

    Parameters
    ----------
    of
        Item → weight, for every item of the samples that are used.
    members
        The items of the samples that were asked for.
    notes
        What the reader must be told.
    """

    of: Mapping[str, float]
    members: Set[str]
    notes: tuple[str, ...]


def weights_of(ledger: Ledger, rated: Set[str], sample_id: str | None = None) -> Weights:
    """The weights of one sample's items, or of all samples' that serve estimates.

    Parameters
    ----------
    rated
        Items that people graded. A sample of which no label has come in yet changes no weight:
        its items are not among those that the figures rest on.
    sample_id
        One sample alone, whatever it is for.
    """
    if sample_id is not None:
        sample = ledger.sample(sample_id)
        notes = []
        extends = sample.settings.get("extends")
        if extends:
            notes.append(
                f"sample {sample_id} extends {', '.join(extends)}: use them together, without "
                "--sample"
            )
        chances = dict(sample.items)
        weights = {item: 1 / chance for item, chance in chances.items()}
        return Weights(weights, set(weights), tuple(notes))
    samples = [
        sample
        for sample in ledger.samples()
        if sample.purpose not in ASIDE and sample.settings.get("unit", "item") == "item"
    ]
    used = [sample for sample in samples if _in_use(sample, samples, rated)]
    members = {item for sample in used for item, _ in sample.items}
    notes = []
    waiting = [sample.sample_id for sample in samples if sample not in used]
    if waiting and used:
        notes.append(f"no label of {_named(waiting)} is here yet; its items change no weight")
    if len(used) == 1:
        return Weights({i: 1 / p for i, p in used[0].items}, members, tuple(notes))
    chances_of: dict[str, Mapping[str, float]] = {}
    for sample in used:
        frame = ledger.frame(sample.sample_id)
        if frame:
            chances_of[sample.sample_id] = {f.item_id: f.probability for f in frame}
        else:
            chances_of[sample.sample_id] = dict(sample.items)
            notes.append(
                f"{_named([sample.sample_id])} does not say how likely the items were that it did "
                "not draw: they are taken as impossible in it"
            )
    union = union_probabilities(used, chances_of)
    if used:
        notes.append(
            f"{len(used)} samples are used together: an item is weighted by 1 / its probability of "
            "being in any of them; name one with --sample for weights of one design"
        )
    return Weights({item: 1 / union[item] for item in members}, members, tuple(notes))


def union_probabilities(
    samples: Sequence[Sample], chances: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """Item → the probability of being in any of the samples.

    Parameters
    ----------
    samples
        In the order in which they were drawn. ``settings`` may name the samples that one
        ``extends``, and those whose items it ``excludes``.
    chances
        Sample → item → inclusion probability, for every item of its frame.

    Notes
    -----
    For a sample that excludes others the probability is the one given those others, in which their
    items are certain; the total of the rest is estimated by the later sample, and the estimate of
    the whole is as unbiased as that.
    """
    there = {sample.sample_id for sample in samples}
    certain: set[str] = set()
    excluded: set[str] = set()
    for sample in samples:
        excluded |= there & set(sample.settings.get("excludes") or ())
    family: dict[str, str] = {}
    for sample in samples:
        if sample.sample_id in excluded:
            certain |= {item for item, _ in sample.items}
            continue
        earlier = (sample.settings.get("extends") or [sample.sample_id])[0]
        family[sample.sample_id] = str(earlier)
    outside: dict[str, float] = {}
    for root in dict.fromkeys(family.values()):
        together: dict[str, float] = {}
        for sample_id, of in family.items():
            if of == root:
                for item, chance in chances[sample_id].items():
                    together[item] = together.get(item, 0.0) + chance
        for item, chance in together.items():
            outside[item] = outside.get(item, 1.0) * (1.0 - min(chance, 1.0))
    union = {item: 1.0 - missed for item, missed in outside.items()}
    return {**union, **dict.fromkeys(certain, 1.0)}


def _in_use(sample: Sample, samples: Iterable[Sample], rated: Set[str]) -> bool:
    """Whether labels of the sample are here: one of an item of its own, or else of every item."""
    items = {item for item, _ in sample.items}
    elsewhere = {
        item for other in samples if other is not sample for item, _ in other.items if item in items
    }
    own = items - elsewhere
    return bool(own & rated) if own else items <= rated


def _named(sample_ids: Sequence[str]) -> str:
    return f"sample{'s' if len(sample_ids) > 1 else ''} {', '.join(sample_ids)}"
