"""The flat form of many responses: numbered texts, exact matches and ROUGE-1 F1, in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .align import Alignment, Compared, compared_text, reference_texts
from .records import Element, How
from .tokens import Tokenizer, normalise, stemmer, tokeniser

__all__ = ["HOWS", "Batch", "Floats", "Found", "Ints", "Words", "ragged", "ranks"]

HOWS: tuple[How, ...] = ("exact", "rouge", "position", "order", "unmatched", "embedding")
EXACT, ROUGE, POSITION, ORDER, UNMATCHED = range(5)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

T = TypeVar("T")


def numbered(values: Sequence[T]) -> dict[T, int]:
    """The different values, numbered in the order of their first appearance."""
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


def ragged(starts: Ints, counts: Ints) -> Ints:
    """The numbers ``start … start + count - 1`` of every row, end to end."""
    ends = np.cumsum(counts)
    steps: Ints = np.arange(int(counts.sum())) + np.repeat(starts - (ends - counts), counts)
    return steps


def ranks(group: Ints) -> Ints:
    """How many earlier members of its group each member has."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    sizes = np.diff(np.concatenate((first, [len(group)])))
    out: Ints = np.empty(len(group), np.int64)
    out[order] = np.arange(len(group)) - np.repeat(first, sizes)
    return out


_KEEP = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789\n" else 32 for byte in range(256)
)


class Words:
    """Tokens of many texts as ids, in the form of :func:`accord.scoring.tokens.bag`."""

    def __init__(self, tokenizer: Tokenizer, stem: bool) -> None:
        self.words = tokeniser(tokenizer)
        self.stem = stemmer() if stem else None
        self.ascii = tokenizer == "rouge"

    def ids(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """Where the tokens of each text start, and the id of each token copy."""
        rows: Sequence[Sequence[bytes | str]]
        if self.ascii:
            # Lower case as text, then one table on bytes: every byte of a letter beyond a-z
            # becomes a blank, as in the regular expression of rouge_score.
            joined = "\n".join([t.replace("\n", " ") if "\n" in t else t for t in texts]).lower()
            lines = joined.encode("utf-8", "surrogatepass").translate(_KEEP).split(b"\n")
            rows = [line.split() for line in lines]
        else:
            rows = [self.words(text) for text in texts]
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        flat = list(itertools.chain.from_iterable(rows))
        vocabulary = numbered(flat)
        ids = np.fromiter(map(vocabulary.__getitem__, flat), np.int64, len(flat))
        if self.stem is not None and vocabulary:
            plain = [t.decode() if isinstance(t, bytes) else t for t in vocabulary]
            stems = [self.stem(token) for token in plain]
            number = numbered(stems)
            ids = np.array([number[stem] for stem in stems], dtype=np.int64)[ids]
        if len(ids):
            row = np.repeat(np.arange(len(rows)), lengths)
            size = int(ids.max()) + 1
            ids = ids + size * ranks(row * size + ids)
        return np.concatenate(([0], np.cumsum(lengths))), ids


class Found:
    """The pairs of a batch while they are being made: one entry a predicted element."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        n = len(batch.response)
        self.reference = np.full(n, -1, np.int64)
        self.similarity = np.zeros(n)
        self.how = np.full(n, UNMATCHED, np.int8)
        self.ties = np.zeros(batch.n, np.int64)
        self.taken = np.zeros(int(batch.slot_start[-1]), bool)  # one slot a (response, reference)

    def match(self, at: Ints, reference: Ints, similarity: Floats | float, how: int) -> None:
        self.reference[at] = reference
        self.similarity[at] = similarity
        self.how[at] = how
        self.taken[self.batch.slot_start[self.batch.response[at]] + reference] = True

    def replace(self, k: int, alignment: Alignment) -> None:
        batch = self.batch
        self.taken[batch.slot_start[k] : batch.slot_start[k + 1]] = False
        for pair in alignment.pairs:
            if pair.predicted is None:
                continue
            at = int(batch.start[k]) + pair.predicted
            self.reference[at] = -1 if pair.reference is None else pair.reference
            self.similarity[at] = pair.similarity
            self.how[at] = HOWS.index(pair.how)
            if pair.reference is not None:
                self.taken[batch.slot_start[k] + pair.reference] = True
        self.ties[k] = alignment.ties

    def pair_in_order(self) -> None:
        """Left-over elements of both sides, first with first."""
        batch = self.batch
        left = np.flatnonzero(self.reference < 0)
        free = np.flatnonzero(~self.taken)
        if not len(left) or not len(free):
            return
        owner = batch.slot_response[free]
        counts = np.bincount(owner, minlength=batch.n)
        first = np.concatenate(([0], np.cumsum(counts)))
        response = batch.response[left]
        rank = ranks(response)
        ok = rank < counts[response]
        left, response, rank = left[ok], response[ok], rank[ok]
        slot = free[first[response] + rank]
        self.match(left, slot - batch.slot_start[response], 0.0, ORDER)

    def columns(self, offset: int) -> tuple[Ints, Ints, Ints, Floats, NDArray[np.int8], Ints]:
        """All pairs in their order: predicted elements, then references left over."""
        batch = self.batch
        free = np.flatnonzero(~self.taken)
        owner = batch.slot_response[free]
        extra = np.full(len(free), -1, np.int64)
        response = np.concatenate((batch.response, owner))
        order = np.argsort(response, kind="stable")
        reference = np.concatenate((self.reference, free - batch.slot_start[owner]))
        predicted = np.concatenate((batch.position, extra))
        similarity = np.concatenate((self.similarity, np.zeros(len(free))))
        how = np.concatenate((self.how, np.full(len(free), UNMATCHED, np.int8)))
        return (
            response[order] + offset,
            reference[order],
            predicted[order],
            similarity[order],
            how[order],
            self.ties,
        )


class Batch:
    """The texts of some responses and of their references, flat and numbered."""

    def __init__(
        self,
        references: Sequence[Sequence[Element]],
        responses: Sequence[tuple[int, Sequence[Element]]],
        compared: Compared,
    ) -> None:
        self.n = len(responses)
        wanted = np.array([question for question, _ in responses], dtype=np.int64)
        used, self.question = np.unique(wanted, return_inverse=True)
        golds = [references[q] for q in used.tolist()]

        # Reference side: an element has one variant for each text that stands for it.
        self.n_reference = np.array([len(gold) for gold in golds], dtype=np.int64)
        self.reference_start = np.concatenate(([0], np.cumsum(self.n_reference)))
        sides = [reference_texts(element, compared) for gold in golds for element in gold]
        per_side = np.fromiter(map(len, sides), np.int64, len(sides))
        self.variant_element = np.repeat(np.arange(len(sides)), per_side)
        self.element_question = np.repeat(np.arange(len(golds)), self.n_reference)

        # Predicted side.
        counts = np.array([len(elements) for _, elements in responses], dtype=np.int64)
        self.start = np.concatenate(([0], np.cumsum(counts)))
        self.response = np.repeat(np.arange(self.n), counts)
        self.position = np.arange(int(self.start[-1])) - np.repeat(self.start[:-1], counts)
        whole = compared == "text"
        texts = [text for side in sides for text in side]
        n_variants = len(texts)
        texts += [
            e.text if whole and not e.attributes else compared_text(e, compared)
            for _, elements in responses
            for e in elements
        ]
        table = numbered(texts)
        numbers = np.fromiter(map(table.__getitem__, texts), np.int64, len(texts))
        self.variant_text, text = numbers[:n_variants], numbers[n_variants:]
        self.texts = list(table)
        normal = [normalise(text) for text in self.texts]
        keys = numbered(normal)
        self.key = np.fromiter(map(keys.__getitem__, normal), np.int64, len(normal))
        self.n_keys = len(keys)

        # Rows: distinct (question, text).
        size = max(len(self.texts), 1)
        rows, self.row = np.unique(self.question[self.response] * size + text, return_inverse=True)
        self.row_question, self.row_text = np.divmod(rows, size)

        # Slots: one for each reference element of each response.
        slots = self.n_reference[self.question]
        self.slot_start = np.concatenate(([0], np.cumsum(slots)))
        self.slot_response = np.repeat(np.arange(self.n), slots)
        self._group_keys()

    def _group_keys(self) -> None:
        """Groups of reference elements that the same predicted texts match exactly.

        Without aliases a group is the elements with one key. Aliases join keys; where that joins
        elements that do not match the same texts, the question is irregular.
        """
        size = max(self.n_keys, 1)
        question = self.element_question[self.variant_element]
        pair = question * size + self.key[self.variant_text]
        order = np.lexsort((self.variant_element, pair))
        pair, element = pair[order], self.variant_element[order]
        if len(pair):
            fresh = np.concatenate(
                ([True], (pair[1:] != pair[:-1]) | (element[1:] != element[:-1]))
            )
            pair, element = pair[fresh], element[fresh]
        self.group_pair, first = np.unique(pair, return_index=True)
        self.group_start = first
        self.group_size = np.diff(np.concatenate((first, [len(pair)])))
        self.group_element = element
        # Which groups share their elements: the first group of an element stands for all.
        self.group_name = np.arange(len(first))
        irregular: set[int] = set()
        if len(pair) > len(np.unique(element)):
            group_of = np.repeat(np.arange(len(first)), self.group_size)
            members: dict[int, list[int]] = {}
            for group, member in zip(group_of.tolist(), element.tolist(), strict=True):
                members.setdefault(group, []).append(member)
            leader: dict[int, int] = {}
            for group, ours in members.items():
                leaders = {leader.setdefault(member, group) for member in ours}
                chief = min(leaders)
                self.group_name[group] = chief
                if len(leaders) > 1 or members[chief] != ours:
                    irregular.add(int(self.element_question[ours[0]]))
        bad = np.isin(self.question, np.array(sorted(irregular), dtype=np.int64))
        self.irregular: list[int] = np.flatnonzero(bad).tolist() if irregular else []
        self.regular = ~bad[self.response]

    def exact(self, found: Found) -> None:
        """Exact matches: the k-th predicted element of a group gets the group's k-th element."""
        if not len(self.group_pair):
            return
        pair = self.row_question * max(self.n_keys, 1) + self.key[self.row_text]
        at = np.minimum(np.searchsorted(self.group_pair, pair), len(self.group_pair) - 1)
        row_group = np.where(self.group_pair[at] == pair, at, -1)
        group = row_group[self.row]
        some = np.flatnonzero((group >= 0) & self.regular)
        if not len(some):
            return
        group = group[some]
        rank = ranks(self.response[some] * len(self.group_pair) + self.group_name[group])
        ok = rank < self.group_size[group]
        some, group, rank = some[ok], group[ok], rank[ok]
        element = self.group_element[self.group_start[group] + rank]
        question = self.element_question[element]
        found.match(some, element - self.reference_start[question], 1.0, EXACT)

    def cells(self, words: Words, rows: Ints) -> tuple[Ints, Ints, Floats]:
        """ROUGE-1 F1 above 0: where the cells of each row start, their reference, their F1."""
        empty = np.zeros(0, np.int64)
        start, ids = words.ids(self.texts)
        lengths = np.diff(start)
        if not len(rows) or not lengths[self.variant_text].any():
            return np.zeros(len(self.row_text) + 1, np.int64), empty, np.zeros(0)
        vocabulary = int(ids.max()) + 1
        n = lengths[self.variant_text]
        question = self.element_question[self.variant_element]
        key = np.repeat(question, n) * vocabulary + ids[ragged(start[self.variant_text], n)]
        variant = np.repeat(np.arange(len(self.variant_text)), n)
        order = np.argsort(key, kind="stable")
        key, variant = key[order], variant[order]
        n = lengths[self.row_text[rows]]
        wanted = np.repeat(self.row_question[rows], n) * vocabulary
        wanted += ids[ragged(start[self.row_text[rows]], n)]
        low = np.searchsorted(key, wanted, "left")
        hit = np.flatnonzero(key[np.minimum(low, len(key) - 1)] == wanted)
        low = low[hit]
        counts = np.searchsorted(key, wanted[hit], "right") - low
        row = np.repeat(np.repeat(rows, n)[hit], counts)
        cell = row * len(self.variant_text) + variant[ragged(low, counts)]
        cell, overlap = np.unique(cell, return_counts=True)
        row, variant = np.divmod(cell, len(self.variant_text))
        total = lengths[self.row_text[row]] + lengths[self.variant_text[variant]]
        f1 = 2.0 * overlap / total
        element = self.variant_element[variant]
        if len(self.variant_text) > len(self.element_question):  # the best over the aliases
            fresh = np.concatenate(([True], (element[1:] != element[:-1]) | (row[1:] != row[:-1])))
            first = np.flatnonzero(fresh[: len(row)])
            if len(first):
                f1 = np.maximum.reduceat(f1, first)
            row, element = row[first], element[first]
        reference = element - self.reference_start[self.element_question[element]]
        return np.searchsorted(row, np.arange(len(self.row_text) + 1)), reference, f1

    def positional(self, words: Words) -> Found:
        found = Found(self)
        reference = self.position
        some = np.flatnonzero(reference < self.n_reference[self.question[self.response]])
        start, cell_reference, cell_f1 = self.cells(words, np.unique(self.row[some]))
        row = np.repeat(np.arange(len(self.row_text)), np.diff(start))
        width = int(self.n_reference.max(initial=0)) + 1
        key = row * width + cell_reference
        wanted = self.row[some] * width + reference[some]
        at = np.searchsorted(key, wanted)
        hit = np.flatnonzero(at < len(key))
        hit = hit[key[at[hit]] == wanted[hit]]
        similarity = np.zeros(len(some))
        similarity[hit] = cell_f1[at[hit]]
        # A text that matches exactly has similarity 1 even where it has no token.
        element = self.reference_start[self.question[self.response[some]]] + reference[some]
        pair = np.unique(self.variant_element * max(self.n_keys, 1) + self.key[self.variant_text])
        same = np.isin(
            element * max(self.n_keys, 1) + self.key[self.row_text[self.row[some]]], pair
        )
        similarity[same] = 1.0
        found.match(some, reference[some], similarity, POSITION)
        return found
