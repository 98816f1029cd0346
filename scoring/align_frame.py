"""Alignment of many responses at once, in NumPy: the same pairs as :func:`accord.scoring.align`.

What the systems repeat is computed once: a *row* is a distinct (question, predicted text), and each
row meets the reference of its question once. A multiset of tokens is a set in which the k-th copy
of a token has an id of its own, so ROUGE's clipped overlap is a join. Only what ties or competes
goes to the assignment of :mod:`accord.scoring.assignment`, one response at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .align import (
    Aligner,
    Alignment,
    Compared,
    ZeroOverlap,
    align,
    check_settings,
    compared_text,
    reference_texts,
)
from .assignment import TOLERANCE, Cell, assign
from .records import Element, How, Pair
from .tokens import Tokenizer, normalise, stemmer, tokeniser

__all__ = ["HOWS", "FrameAlignment", "align_frame"]

HOWS: tuple[How, ...] = ("exact", "rouge", "position", "order", "unmatched")
_EXACT, _ROUGE, _POSITION, _ORDER, _UNMATCHED = range(5)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CHUNK = 4_000
"""Responses worked on together: more do not fit the processor's caches."""


@dataclass(frozen=True, slots=True)
class FrameAlignment:
    """The pairs of many responses as columns, in the order of the responses.

    Parameters
    ----------
    response
        Position of the response, shape (n_pairs,).
    reference, predicted
        Positions in the two lists, −1 for the missing side.
    similarity
        ROUGE-1 F1, 1 for an exact match, 0 for an unmatched element.
    how
        Position in :data:`HOWS`.
    ties
        Ties of each response, shape (n_responses,); see :class:`accord.scoring.align.Alignment`.
    """

    response: Ints
    reference: Ints
    predicted: Ints
    similarity: Floats
    how: NDArray[np.int8]
    ties: Ints

    def alignments(self) -> Iterator[Alignment]:
        """The pairs of each response as records."""
        bounds = np.searchsorted(self.response, np.arange(len(self.ties) + 1)).tolist()
        columns = (self.reference, self.predicted, self.similarity, self.how)
        for k, (start, end) in enumerate(zip(bounds, bounds[1:], strict=False)):
            rows = zip(*(column[start:end].tolist() for column in columns), strict=True)
            pairs = tuple(
                Pair(None if r < 0 else r, None if p < 0 else p, similarity, HOWS[how])
                for r, p, similarity, how in rows
            )
            yield Alignment(pairs, int(self.ties[k]))


def align_frame(
    references: Sequence[Sequence[Element | str]],
    responses: Sequence[tuple[int, Sequence[Element | str]]],
    *,
    tokenizer: Tokenizer = "rouge",
    stem: bool = False,
    zero_overlap: ZeroOverlap = "judge",
    method: Aligner = "optimal",
    compared: Compared = "text",
) -> FrameAlignment:
    """Align many responses; settings as in :func:`accord.scoring.align.align`.

    Parameters
    ----------
    references
        The reference of each question; an element may be given as its text.
    responses
        For each response its question's position in ``references``, and its elements. Responses of
        one question that stand together are fastest.

    Raises
    ------
    SettingsError
        When a setting is unknown.
    """
    check_settings(zero_overlap=zero_overlap, method=method, compared=compared)
    words = _Words(tokenizer, stem)
    parts = []
    for start in range(0, len(responses), CHUNK):
        part = responses[start : start + CHUNK]
        batch = _Batch(references, part, compared)
        if method == "positional":
            parts.append((start, batch.positional(words)))
        else:
            found = batch.optimal(words, zero_overlap)
            for k in batch.irregular:  # overlapping aliases: one response at a time
                question, elements = part[k]
                found.replace(
                    k,
                    align(
                        [_element(e) for e in references[question]],
                        [_element(e) for e in elements],
                        tokenizer=tokenizer,
                        stem=stem,
                        zero_overlap=zero_overlap,
                        compared=compared,
                    ),
                )
            parts.append((start, found))
    columns = [found.columns(start) for start, found in parts]
    if not columns:
        none = np.zeros(0, np.int64)
        return FrameAlignment(none, none, none, np.zeros(0), np.zeros(0, np.int8), none)
    joined = [np.concatenate(column) for column in zip(*columns, strict=True)]
    response, reference, predicted, similarity, how, ties = joined
    return FrameAlignment(response, reference, predicted, similarity, how, ties)


def _element(element: Element | str) -> Element:
    return Element(element) if isinstance(element, str) else element


def _ragged(starts: Ints, counts: Ints) -> Ints:
    """The numbers ``start … start + count - 1`` of every row, end to end."""
    ends = np.cumsum(counts)
    steps: Ints = np.arange(int(counts.sum())) + np.repeat(starts - (ends - counts), counts)
    return steps


def _ranks(group: Ints) -> Ints:
    """How many earlier members of its group each member has."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    sizes = np.diff(np.concatenate((first, [len(group)])))
    ranks = np.empty(len(group), np.int64)
    ranks[order] = np.arange(len(group)) - np.repeat(first, sizes)
    return ranks


_KEEP = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789\n" else 32 for byte in range(256)
)


class _Words:
    """Tokens of many texts as ids, in the form of :func:`accord.scoring.tokens.bag`."""

    def __init__(self, tokenizer: Tokenizer, stem: bool) -> None:
        self.words = tokeniser(tokenizer)
        self.stem = stemmer() if stem else None
        self.ascii = tokenizer == "rouge"

    def ids(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """Where the tokens of each text start, and the id of each token copy."""
        rows: list[list[bytes]] | list[list[str]]
        if self.ascii:
            # Lower case as text, then one table on bytes: every byte of a letter beyond a-z
            # becomes a blank, as in the regular expression of rouge_score.
            joined = "\n".join([t.replace("\n", " ") if "\n" in t else t for t in texts]).lower()
            lines = joined.encode("utf-8", "surrogatepass").translate(_KEEP).split(b"\n")
            rows = [line.split() for line in lines]
        else:
            rows = [self.words(text) for text in texts]
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        vocabulary: dict[bytes | str, int] = {}
        number = vocabulary.setdefault
        flat = [number(token, len(vocabulary)) for row in rows for token in row]
        ids = np.array(flat, dtype=np.int64)
        if self.stem is not None:
            stems: dict[str, int] = {}
            number_stem = stems.setdefault
            plain = (t.decode() if isinstance(t, bytes) else t for t in vocabulary)
            to = [number_stem(self.stem(token), len(stems)) for token in plain]
            ids = np.array(to, dtype=np.int64)[ids] if len(to) else ids
        if len(ids):
            row = np.repeat(np.arange(len(rows)), lengths)
            size = int(ids.max()) + 1
            ids = ids + size * _ranks(row * size + ids)
        return np.concatenate(([0], np.cumsum(lengths))), ids


class _Found:
    """The pairs of a batch while they are being made: one entry a predicted element."""

    def __init__(self, batch: _Batch) -> None:
        self.batch = batch
        n = len(batch.response)
        self.reference = np.full(n, -1, np.int64)
        self.similarity = np.zeros(n)
        self.how = np.full(n, _UNMATCHED, np.int8)
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
        rank = _ranks(response)
        ok = rank < counts[response]
        left, response, rank = left[ok], response[ok], rank[ok]
        slot = free[first[response] + rank]
        self.match(left, slot - batch.slot_start[response], 0.0, _ORDER)

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
        how = np.concatenate((self.how, np.full(len(free), _UNMATCHED, np.int8)))
        return (
            response[order] + offset,
            reference[order],
            predicted[order],
            similarity[order],
            how[order],
            self.ties,
        )


class _Batch:
    """The texts of some responses and of their references, flat and numbered."""

    def __init__(
        self,
        references: Sequence[Sequence[Element | str]],
        responses: Sequence[tuple[int, Sequence[Element | str]]],
        compared: Compared,
    ) -> None:
        self.n = len(responses)
        wanted = np.array([question for question, _ in responses], dtype=np.int64)
        used, self.question = np.unique(wanted, return_inverse=True)
        golds = [references[q] for q in used.tolist()]
        table: dict[str, int] = {}
        number = table.setdefault

        # Reference side: an element has one variant for each text that stands for it.
        self.n_reference = np.array([len(gold) for gold in golds], dtype=np.int64)
        self.reference_start = np.concatenate(([0], np.cumsum(self.n_reference)))
        sides = [
            [element] if isinstance(element, str) else reference_texts(element, compared)
            for gold in golds
            for element in gold
        ]
        per_side = np.fromiter(map(len, sides), np.int64, len(sides))
        self.variant_element = np.repeat(np.arange(len(sides)), per_side)
        self.variant_text = np.array(
            [number(text, len(table)) for side in sides for text in side], dtype=np.int64
        )
        self.element_question = np.repeat(np.arange(len(golds)), self.n_reference)

        # Predicted side.
        counts = np.array([len(elements) for _, elements in responses], dtype=np.int64)
        self.start = np.concatenate(([0], np.cumsum(counts)))
        self.response = np.repeat(np.arange(self.n), counts)
        self.position = np.arange(int(self.start[-1])) - np.repeat(self.start[:-1], counts)
        whole = compared == "text"
        texts = [
            number(
                e
                if isinstance(e, str)
                else e.text
                if whole and not e.attributes
                else compared_text(e, compared),
                len(table),
            )
            for _, elements in responses
            for e in elements
        ]
        text = np.array(texts, dtype=np.int64)
        self.texts = list(table)
        keys: dict[str, int] = {}
        number_key = keys.setdefault
        self.key = np.array(
            [number_key(normalise(text), len(keys)) for text in self.texts], dtype=np.int64
        )
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

    def _exact(self, found: _Found) -> None:
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
        rank = _ranks(self.response[some] * len(self.group_pair) + self.group_name[group])
        ok = rank < self.group_size[group]
        some, group, rank = some[ok], group[ok], rank[ok]
        element = self.group_element[self.group_start[group] + rank]
        question = self.element_question[element]
        found.match(some, element - self.reference_start[question], 1.0, _EXACT)

    def _cells(self, words: _Words, rows: Ints) -> tuple[Ints, Ints, Floats]:
        """ROUGE-1 F1 above 0: where the cells of each row start, their reference, their F1."""
        empty = np.zeros(0, np.int64)
        start, ids = words.ids(self.texts)
        lengths = np.diff(start)
        if not len(rows) or not lengths[self.variant_text].any():
            return np.zeros(len(self.row_text) + 1, np.int64), empty, np.zeros(0)
        vocabulary = int(ids.max()) + 1
        n = lengths[self.variant_text]
        question = self.element_question[self.variant_element]
        key = np.repeat(question, n) * vocabulary + ids[_ragged(start[self.variant_text], n)]
        variant = np.repeat(np.arange(len(self.variant_text)), n)
        order = np.argsort(key, kind="stable")
        key, variant = key[order], variant[order]
        n = lengths[self.row_text[rows]]
        wanted = np.repeat(self.row_question[rows], n) * vocabulary
        wanted += ids[_ragged(start[self.row_text[rows]], n)]
        low = np.searchsorted(key, wanted, "left")
        hit = np.flatnonzero(key[np.minimum(low, len(key) - 1)] == wanted)
        low = low[hit]
        counts = np.searchsorted(key, wanted[hit], "right") - low
        row = np.repeat(np.repeat(rows, n)[hit], counts)
        cell = row * len(self.variant_text) + variant[_ragged(low, counts)]
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

    def optimal(self, words: _Words, zero_overlap: ZeroOverlap) -> _Found:
        found = _Found(self)
        self._exact(found)
        free = np.flatnonzero((found.reference < 0) & self.regular)
        start, reference, f1 = self._cells(words, np.unique(self.row[free]))
        rows = self.row[free]
        counts = start[rows + 1] - start[rows]
        at = _ragged(start[rows], counts)
        predicted = np.repeat(free, counts)
        slot = self.slot_start[self.response[predicted]] + reference[at]
        keep = ~found.taken[slot]
        cells = _Cells(self, found, predicted[keep], slot[keep], f1[at][keep])
        cells.stars()
        cells.distinct_best(by_row=True)
        cells.distinct_best(by_row=False)
        cells.rest()
        if zero_overlap == "judge":
            found.pair_in_order()
        return found

    def positional(self, words: _Words) -> _Found:
        found = _Found(self)
        reference = self.position
        some = np.flatnonzero(reference < self.n_reference[self.question[self.response]])
        start, cell_reference, cell_f1 = self._cells(words, np.unique(self.row[some]))
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
        found.match(some, reference[some], similarity, _POSITION)
        return found


class _Cells:
    """The cells that are still open; each step settles some and keeps the others."""

    def __init__(
        self, batch: _Batch, found: _Found, predicted: Ints, slot: Ints, f1: Floats
    ) -> None:
        self.batch, self.found = batch, found
        self.predicted, self.slot, self.f1 = predicted, slot, f1

    def _take(self, at: Ints) -> None:
        predicted = self.predicted[at]
        start = self.batch.slot_start[self.batch.response[predicted]]
        self.found.match(predicted, self.slot[at] - start, self.f1[at], _ROUGE)

    def _keep(self, keep: NDArray[np.bool_]) -> None:
        self.predicted, self.slot, self.f1 = self.predicted[keep], self.slot[keep], self.f1[keep]

    def _best(self, line: Ints, other: Ints) -> tuple[Ints, Ints]:
        """Of each line the best cell, the lowest of equals, and how many are equal."""
        order = np.lexsort((other, -self.f1, line))
        ordered = line[order]
        head = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        best = order[head]
        top = np.repeat(self.f1[best], np.diff(np.concatenate((head, [len(line)]))))
        equal = np.add.reduceat((self.f1[order] > top - TOLERANCE).astype(np.int64), head)
        return best, equal

    def stars(self) -> None:
        """A row whose columns nobody else wants takes its best, and the other way round."""
        if not len(self.predicted):
            return
        n_row = np.bincount(self.predicted, minlength=len(self.batch.response))
        n_column = np.bincount(self.slot, minlength=len(self.found.taken))
        lonely = (n_column[self.slot] == 1).astype(float)
        row_star = np.bincount(self.predicted, weights=lonely, minlength=len(n_row)) == n_row
        alone = (n_row[self.predicted] == 1).astype(float)
        column_star = np.bincount(self.slot, weights=alone, minlength=len(n_column)) == n_column
        in_row, in_column = row_star[self.predicted], column_star[self.slot]
        star = in_row | in_column
        if not star.any():
            return
        rest = ~star
        others = self.predicted[rest], self.slot[rest], self.f1[rest]
        by_row = in_row[star]
        self._keep(star)
        line = np.where(by_row, self.predicted, len(self.batch.response) + self.slot)
        other = np.where(by_row, self.slot, self.predicted)
        best, equal = self._best(line, other)
        # One row with equal columns is one tied element; a column ties all its equal rows.
        tied = np.where(equal > 1, np.where(by_row[best], 1, equal), 0)
        np.add.at(self.found.ties, self.batch.response[self.predicted[best]], tied)
        self._take(best)
        self.predicted, self.slot, self.f1 = others

    def distinct_best(self, *, by_row: bool) -> None:
        """Responses in which each line has one best cell and no two want the same: no tie."""
        if not len(self.predicted):
            return
        line, other = (self.predicted, self.slot) if by_row else (self.slot, self.predicted)
        best, equal = self._best(line, other)
        response = self.batch.response[self.predicted]
        open_ = np.zeros(self.batch.n, bool)
        open_[response[best[equal > 1]]] = True
        order = np.argsort(other[best], kind="stable")
        ordered = other[best][order]
        twice = order[1:][ordered[1:] == ordered[:-1]]
        open_[response[best[twice]]] = True
        self._take(best[~open_[response[best]]])
        self._keep(open_[response])

    def rest(self) -> None:
        """What competes or ties: one assignment a response."""
        if not len(self.predicted):
            return
        order = np.lexsort((self.slot, self.predicted))
        predicted, slot, f1 = self.predicted[order], self.slot[order], self.f1[order]
        response = self.batch.response[predicted]
        cut = np.flatnonzero(np.concatenate(([True], response[1:] != response[:-1], [True])))
        cells: list[Cell] = list(zip(predicted.tolist(), slot.tolist(), f1.tolist(), strict=True))
        at, where, value = [], [], []
        for start, end in zip(cut[:-1].tolist(), cut[1:].tolist(), strict=True):
            assigned, ties = assign(cells[start:end])
            self.found.ties[response[start]] += ties
            for p, (s, f) in assigned.items():
                at.append(p)
                where.append(s)
                value.append(f)
        if at:
            chosen = np.array(at)
            begin = self.batch.slot_start[self.batch.response[chosen]]
            self.found.match(chosen, np.array(where) - begin, np.array(value), _ROUGE)
