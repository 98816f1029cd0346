"""The same items to the same person again: how far does a person agree with themselves?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..scoring.errors import SettingsError
from ..study.anchored import is_first_blind
from ..study.records import FrameItem, Sample
from ..study.weights import RETEST
from .sample_names import check_seed, new_name, stream

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["draw_retest"]


def draw_retest(
    study: Study,
    of: str,
    *,
    n: int | None = None,
    by_annotator: bool = False,
    seed: int | None = None,
    sample_id: str | None = None,
) -> Sample:
    """Draw items that people have graded already, to be graded by the same people again.

    Parameters
    ----------
    of
        The sample that they graded.
    n
        Items to draw from those with a label; all by default.
    by_annotator
        Draw ``n`` items for each person, among those that he or she graded (all of them where
        there are fewer), instead of the same ``n`` for everybody.
    seed, sample_id
        As for :func:`~accord.annotate.draw_sample`.

    Returns
    -------
    Sample
        Its purpose is ``retest``, and ``settings["assigned"]`` says person → items, in an order
        shuffled for each, so that it tells nothing of the first time. Its labels are repeats:
        they enter no estimate, and never take the place of a first label.

    Raises
    ------
    SettingsError
        When the sample has no label by a person, or fewer labelled items than ``n``.
    """
    graded_first = study.ledger.sample(of)
    if graded_first.purpose == RETEST:
        raise SettingsError(f"--of names {of!r}, itself a retest", cure="name the first sample")
    there = {item for item, _ in graded_first.items} & {item.item_id for item in study.items()}
    graded: dict[str, set[str]] = {}
    for row in study.ledger.rating_rows():
        if is_first_blind(row) and row.status == "rated" and row.item_id in there:
            graded.setdefault(row.rater, set()).add(row.item_id)
    frame = [item for item, _ in graded_first.items if any(item in own for own in graded.values())]
    if not frame:
        raise SettingsError(
            f"sample {of!r} has no label by a person yet",
            cure=f"grade it first: accord export {study.path} {of}",
        )
    most = max(map(len, graded.values())) if by_annotator else len(frame)
    number = most if n is None else n
    if not 1 <= number <= most:
        whose = "by any one person" if by_annotator else "of the sample"
        raise SettingsError(
            f"--n is {number} and at most {most} items {whose} have a label",
            cure=f"give --n from 1 to {most}",
        )
    name, chosen_seed = new_name(study, sample_id), check_seed(study, seed)
    people = sorted(graded)
    own = {who: [item for item in frame if item in graded[who]] for who in people}
    picked: dict[str, set[str]] = {}
    chances = dict.fromkeys(frame, number / len(frame))
    if by_annotator:
        missed = dict.fromkeys(frame, 1.0)
        for who, items in own.items():
            count = min(number, len(items))
            rng = np.random.default_rng(stream(chosen_seed, name, "draw", who))
            picked[who] = {items[k] for k in rng.choice(len(items), count, replace=False)}
            for item in items:
                missed[item] *= 1 - count / len(items)
        chances = {item: 1 - chance for item, chance in missed.items()}
    else:
        rng = np.random.default_rng(stream(chosen_seed, name, "draw"))
        some = {frame[k] for k in rng.choice(len(frame), number, replace=False)}
        picked = {who: some & graded[who] for who in people}
    assigned: dict[str, list[str]] = {}
    for who in people:
        order = [item for item in own[who] if item in picked[who]]
        np.random.default_rng(stream(chosen_seed, name, "order", who)).shuffle(order)
        assigned[who] = order
    drawn = [item for item in frame if any(item in items for items in picked.values())]
    np.random.default_rng(stream(chosen_seed, name, "order")).shuffle(drawn)
    sample = Sample(
        sample_id=name,
        purpose=RETEST,
        design=_sentence(of, number, len(frame), own, by_annotator, chosen_seed),
        seed=chosen_seed,
        settings={"of": of, "n": n, "by_annotator": by_annotator, "assigned": assigned},
        items=tuple((item, chances[item]) for item in drawn),
    )
    study.ledger.add_sample(sample, [FrameItem(item, (), chances[item]) for item in frame])
    return sample


def _sentence(
    of: str, number: int, labelled: int, own: dict[str, list[str]], by_annotator: bool, seed: int
) -> str:
    if not by_annotator:
        return (
            f"{number} of the {labelled} labelled items of sample {of} were drawn at random, "
            f"without replacement, to be graded again by whoever graded them, in a new order, with "
            f"seed {seed}."
        )
    people = ", ".join(f"{min(number, len(items))} of {len(items)}" for items in own.values())
    return (
        f"Of the items of sample {of} that each of {len(own)} people had graded, {people} were "
        "drawn at random, without replacement, to be graded again by the same person, in a new "
        f"order, with seed {seed}."
    )
