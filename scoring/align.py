"""Puts the elements of a reference and of a response side by side, one to one.

Exact matches are fixed first; the rest is one linear sum assignment on ROUGE-1 F1. This is a
convention, not a shortcut: on rare lists the assignment over everything has the larger total.
Variants: ``greedy`` takes the best remaining pair instead of the best total, ``embedding`` assigns
on cosines of sentence embeddings (:mod:`.embedding`), ``positional`` pairs by place alone.

1. *Exact.* Two elements match exactly when their normalised compared texts are equal, or that of
   the predicted element equals an alias. As many as possible are matched; among equals the lowest
   position comes first.
2. *Assignment.* Over the elements that are left, the largest total ROUGE-1 F1 (the best over the
   aliases). Of several assignments with that total the lowest is taken: the first predicted
   element gets the first reference element it has in any of them, and so on down the list; being
   matched comes before being left over.
3. *Nothing in common* (no token; for ``embedding``, no cosine above 0). What is left over on both
   sides is paired in order (``zero_overlap = "judge"``: "USA" beside "United States" is for a
   judge to decide) or stays unmatched (``"incorrect"``).

``align`` handles one response; :func:`accord.scoring.align_frame.align_frame` gives the same pairs
for many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from .assignment import Cell, assign, greedy
from .errors import SettingsError
from .records import Element, How, Pair
from .tokens import Bag, Forms, Tokenizer, bag_f1, forms

if TYPE_CHECKING:
    from .embedding import Embeddings

__all__ = [
    "ALIGNERS",
    "COMPARED",
    "Alignment",
    "Aligner",
    "Compared",
    "ZeroOverlap",
    "align",
    "compared_text",
    "reference_texts",
]

Aligner = Literal["optimal", "greedy", "positional", "embedding"]
ALIGNERS: tuple[Aligner, ...] = get_args(Aligner)
ZeroOverlap = Literal["judge", "incorrect"]
ZERO_OVERLAPS: tuple[ZeroOverlap, ...] = ("judge", "incorrect")
Compared = Literal["text", "head"]
COMPARED: tuple[Compared, ...] = ("text", "head")


Form = tuple[str, Bag]
"""A text normalised, and the bag of its tokens."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The pairs of one response.

    Parameters
    ----------
    pairs
        One for each predicted element, in the order of the response, then one for each reference
        element without a partner, in the order of the reference.
    ties
        How many predicted elements have another partner (or none, or one instead of none) in some
        other assignment with the same total: 0 when the assignment of step 2 is the only best
        one. For ``greedy``, how many pairs had an equal one to take instead. Exact matches and
        pairs made in order are not counted.
    """

    pairs: tuple[Pair, ...]
    ties: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The alignment as JSON values."""
        return {
            "pairs": [
                {
                    "reference": pair.reference,
                    "predicted": pair.predicted,
                    "similarity": pair.similarity,
                    "how": pair.how,
                }
                for pair in self.pairs
            ],
            "ties": self.ties,
        }


def align(
    reference: Sequence[Element],
    predicted: Sequence[Element],
    *,
    tokenizer: Tokenizer = "rouge",
    stem: bool = False,
    zero_overlap: ZeroOverlap = "judge",
    method: Aligner = "optimal",
    compared: Compared = "text",
    encoder: Embeddings | None = None,
) -> Alignment:
    """Put the predicted elements beside the reference elements, one to one.

    Parameters
    ----------
    reference, predicted
        The two lists; either may be empty.
    tokenizer, stem
        What ROUGE-1 counts, see :mod:`accord.scoring.tokens`.
    zero_overlap
        ``judge``: left-over elements are paired in order with similarity 0 and ``how = "order"``;
        ``incorrect``: they stay unmatched.
    method
        ``optimal`` (see the module); ``greedy``: instead of step 2 the best remaining pair again
        and again, of equal ones the lowest; ``embedding``: step 2 on the cosines of the compared
        texts' embeddings, after which hardly anything is left for step 3, since texts that have
        nothing to do with each other have a cosine above 0 too; or ``positional``: first with
        first, second with second, whatever their texts; ``zero_overlap`` then has no effect.
    compared
        ``text``: the whole element and its attribute values; ``head``: the part before an
        explanation, where there is one, and the attribute values.
    encoder
        For ``embedding``: vectors of an encoder other than the recipe's.

    Returns
    -------
    Alignment
        Every element of both sides stands in exactly one pair. Its similarity is ROUGE-1 F1
        whatever the method, so that ROUGE-F1 stays what it is.

    Raises
    ------
    SettingsError
        When a setting is unknown, or the encoder is not installed.
    """
    check_settings(zero_overlap=zero_overlap, method=method, compared=compared)
    found = forms(tokenizer, stem)
    ours = _forms(predicted, found, compared)
    aliased = any([element.aliases for element in reference])
    golds: list[Form] = []
    sides: Sequence[Sequence[Form]]
    if aliased:
        sides = [[found.of(text) for text in reference_texts(e, compared)] for e in reference]
    else:
        golds = _forms(reference, found, compared)
        sides = [(gold,) for gold in golds]
    if method == "positional":
        return _positional(sides, ours)
    if not aliased:
        partner = _match_equal(golds, ours)
        taken = set(partner.values())
        columns = [(r, bag, len(bag)) for r, (_, bag) in enumerate(golds) if r not in taken]
    else:
        partner = match_exact([[key for key, _ in side] for side in sides], [k for k, _ in ours])
        taken = set(partner.values())
        columns = [
            (r, bag, len(bag)) for r, side in enumerate(sides) if r not in taken for _, bag in side
        ]
    waiting = [p for p in range(len(ours)) if p not in partner]
    in_order = zero_overlap == "judge"
    if method != "embedding":
        cells = _cells(ours, waiting, columns)
        assigned, ties = greedy(cells) if method == "greedy" else assign(cells)
        pairs = collect(len(sides), len(ours), partner, taken, assigned, in_order)
        return Alignment(pairs, ties)
    from .embedding import cosine_cells, embeddings

    open_texts = [
        (r, text)
        for r, element in enumerate(reference)
        if r not in taken
        for text in reference_texts(element, compared)
    ]
    our_texts = [(p, compared_text(predicted[p], compared)) for p in waiting]
    assigned, ties = assign(cosine_cells(encoder or embeddings(), our_texts, open_texts))
    pairs = collect(len(sides), len(ours), partner, taken, assigned, in_order, "embedding")
    return Alignment(tuple(_by_rouge(pair, sides, ours) for pair in pairs), ties)


def _by_rouge(pair: Pair, sides: Sequence[Sequence[Form]], ours: Sequence[Form]) -> Pair:
    """The pair with ROUGE-1 F1 for its similarity."""
    if pair.how == "exact" or pair.reference is None or pair.predicted is None:
        return pair
    bag = ours[pair.predicted][1]
    return replace(pair, similarity=max(bag_f1(other, bag) for _, other in sides[pair.reference]))


def _cells(
    ours: Sequence[Form], waiting: Iterable[int], columns: Sequence[tuple[int, Bag, int]]
) -> list[Cell]:
    """ROUGE-1 F1 above 0 of the predicted elements that wait, with what is left to take."""
    cells: list[Cell] = []
    if not columns:
        return cells
    seen: dict[Bag, list[tuple[int, float]]] = {}
    for p in waiting:
        bag = ours[p][1]
        row = seen.get(bag)
        if row is None:
            row = seen[bag] = rouge_row(bag, columns)
        for r, f1 in row:
            cells.append((p, r, f1))
    return cells


def _forms(elements: Sequence[Element], found: Forms, compared: Compared) -> list[Form]:
    known, of = found.known, found.of
    if compared == "text":
        texts = [e.text if not e.attributes else e.compared for e in elements]
    else:
        texts = [compared_text(element, compared) for element in elements]
    return [known.get(text) or of(text) for text in texts]


def check_settings(*, zero_overlap: str, method: str, compared: str) -> None:
    """Refuse an unknown setting (SettingsError)."""
    if zero_overlap in ZERO_OVERLAPS and method in ALIGNERS and compared in COMPARED:
        return
    for name, value, known in (
        ("zero_overlap", zero_overlap, ZERO_OVERLAPS),
        ("aligner", method, ALIGNERS),
        ("compared", compared, COMPARED),
    ):
        if value not in known:
            raise SettingsError(
                f"{name} {value!r} is unknown", cure=f"use one of {', '.join(known)}"
            )


def compared_text(element: Element, compared: Compared) -> str:
    """What the aligner compares of an element: text or head, and the attribute values."""
    if compared == "text" and not element.attributes:
        return element.text
    if compared == "head" and element.head is not None:
        return element.compared_as(element.head)
    return element.compared


def reference_texts(element: Element, compared: Compared) -> list[str]:
    """All texts that stand for a reference element: its own, then one an alias."""
    texts = [compared_text(element, compared)]
    if element.aliases:
        texts += [element.compared_as(alias) for alias in element.aliases]
    return texts


def rouge_row(found: Bag, columns: Iterable[tuple[int, Bag, int]]) -> list[tuple[int, float]]:
    """The cells above 0 of one predicted element; of a reference's aliases the best counts."""
    row: list[tuple[int, float]] = []
    size = len(found)
    for r, other, other_size in columns:
        if found.isdisjoint(other):
            continue
        f1 = 2 * len(found & other) / (size + other_size)
        if row and row[-1][0] == r:
            row[-1] = (r, max(f1, row[-1][1]))
        else:
            row.append((r, f1))
    return row


def _positional(sides: Sequence[Sequence[Form]], ours: Sequence[Form]) -> Alignment:
    pairs = []
    for position in range(max(len(sides), len(ours))):
        if position >= len(sides):
            pairs.append(Pair(None, position, 0.0, "unmatched"))
        elif position >= len(ours):
            pairs.append(Pair(position, None, 0.0, "unmatched"))
        else:
            key, found = ours[position]
            side = sides[position]
            exact = any(one == key for one, _ in side)
            similarity = 1.0 if exact else max(bag_f1(other, found) for _, other in side)
            pairs.append(Pair(position, position, similarity, "position"))
    return Alignment(tuple(pairs))


def _match_equal(golds: Sequence[Form], ours: Sequence[Form]) -> dict[int, int]:
    """:func:`match_exact` without aliases: the k-th of equal texts gets the k-th of its equals."""
    options: dict[str, list[int]] = {}
    for r in range(len(golds) - 1, -1, -1):
        options.setdefault(golds[r][0], []).append(r)
    partner: dict[int, int] = {}
    for p, (key, _) in enumerate(ours):
        wanted = options.get(key)
        if wanted:
            partner[p] = wanted.pop()
    return partner


def match_exact(sides: Sequence[Sequence[str]], keys: Sequence[str]) -> dict[int, int]:
    """Predicted position → reference position of the exact matches, as many as there can be.

    ``sides`` holds the normalised texts of each reference element, ``keys`` the normalised text of
    each predicted element. Aliases can overlap, so a predicted element moves on to another
    reference element that it equals if that makes room for one more match (Kuhn's algorithm).
    """
    options: dict[str, list[int]] = {}
    for r, side in enumerate(sides):
        for key in side if len(side) == 1 else dict.fromkeys(side):
            options.setdefault(key, []).append(r)
    partner: dict[int, int] = {}
    owner: dict[int, int] = {}
    hopeless: set[str] = set()
    for p, key in enumerate(keys):
        wanted = options.get(key)
        if wanted is None or key in hopeless:
            continue
        for r in wanted:
            if r not in owner:
                partner[p], owner[r] = r, p
                break
        else:
            if not _make_room(p, keys, options, partner, owner):
                hopeless.add(key)  # matches only grow: what found no room never will
    return partner


def _make_room(
    start: int,
    keys: Sequence[str],
    options: Mapping[str, Sequence[int]],
    partner: dict[int, int],
    owner: dict[int, int],
) -> bool:
    """Find a chain of moves that frees a reference element for ``start``; breadth first."""
    came_from: dict[int, int] = {}  # reference position → predicted position that asks for it
    queue = [start]
    asked: set[str] = set()
    for p in queue:
        if keys[p] in asked:
            continue
        asked.add(keys[p])
        for r in options[keys[p]]:
            if r in came_from:
                continue
            came_from[r] = p
            if r in owner:
                queue.append(owner[r])
                continue
            while True:  # free: everybody on the way moves up
                p = came_from[r]
                before = partner.get(p)
                partner[p], owner[r] = r, p
                if before is None:
                    return True
                r = before
    return False


def collect(
    n_reference: int,
    n_predicted: int,
    exact: Mapping[int, int],
    taken: set[int],
    assigned: Mapping[int, tuple[int, float]],
    in_order: bool,
    how: How = "rouge",
) -> tuple[Pair, ...]:
    """The pairs in their order, with what is left over."""
    if assigned:
        taken = taken.union([r for r, _ in assigned.values()])
    left = [r for r in range(n_reference) if r not in taken]
    waiting = iter(left if in_order else ())
    pairs = []
    used = 0
    for p in range(n_predicted):
        if p in exact:
            pairs.append(Pair(exact[p], p, 1.0, "exact"))
        elif p in assigned:
            r, f1 = assigned[p]
            pairs.append(Pair(r, p, f1, how))
        else:
            partner = next(waiting, None)
            if partner is None:
                pairs.append(Pair(None, p, 0.0, "unmatched"))
            else:
                used += 1
                pairs.append(Pair(partner, p, 0.0, "order"))
    pairs += [Pair(r, None, 0.0, "unmatched") for r in left[used:]]
    return tuple(pairs)
