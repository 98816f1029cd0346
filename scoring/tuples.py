"""Tuples in an answer's text: relations such as ``(levodopa, dyskinesias)``, and their F1.

The reader knows brackets and quotes: a comma inside either separates nothing, so that
``("1,25(OH)2D3", hypercalcemia)`` has two elements. Round, square and full-width brackets are
tuples alike; a list around tuples, a code fence, words before and after are no part of them.

Where an element came without quotes and holds a comma, a tuple has more parts than it should. A
comma between digits then separates nothing, and a part that begins with "and" or "or" goes with the
one before. What is left ambiguous is kept with all its parts: it equals any tuple of the same parts
however they are grouped. Nothing is lost, and gold scored against gold is 1.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .align import match_exact
from .errors import InputError, SettingsError
from .metrics import PRF, precision_recall_f1
from .tokens import normalise
from .verdict import without_reasoning

__all__ = ["Relation", "RelationScore", "pooled_relations", "read_tuples", "relation_score"]


@dataclass(frozen=True, slots=True)
class Relation:
    """One tuple as read; ``ambiguous`` when its parts could not be grouped into its elements."""

    elements: tuple[str, ...]
    ambiguous: bool = False

    def forms(self, size: int) -> tuple[tuple[str, ...], ...]:
        """All groupings of the parts into ``size`` elements, normalised."""
        if not self.ambiguous:
            return (tuple(normalise(element) for element in self.elements),)
        cuts = itertools.combinations(range(1, len(self.elements)), size - 1)
        return tuple(
            tuple(
                normalise(", ".join(self.elements[start:end]))
                for start, end in zip((0, *cut), (*cut, len(self.elements)), strict=True)
            )
            for cut in cuts
        )


_OPENING = frozenset("([（［【")
_CLOSING = {"(": ")", "[": "]", "（": "）", "［": "］", "【": "】"}
_CLOSES = frozenset(_CLOSING.values())
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`"}
_COMMAS = frozenset(",，、،;；")
_FENCE = re.compile(r"^\s*(?:```|~~~)[^\n]*$", re.M)
_LATEX_BRACKET = re.compile(r"\\([\[\]()])")
_OBJECT = re.compile(r"\{[^{}]{0,2000}\}")
_ARROW = re.compile(r"\s+(?:->|→|=>|—>)\s+")
_ITEM = re.compile(r"^(?:[-*+•–]|\d{1,3}[.)])\s+")
_MOST_PARTS = 12
_LONGEST_QUOTE = 400
_DEEPEST = 5


def read_tuples(text: str | None, *, size: int) -> tuple[Relation, ...]:
    """The tuples of a text, in order.

    Parameters
    ----------
    text
        A list of tuples in brackets, with or without a list around them; one tuple is enough. A
        line ``a, b`` or ``a -> b`` or a table's row is a tuple where the whole text has no
        brackets; so is a JSON object whose values are its elements. Where tuples stand in a list,
        brackets outside of it are none.
    size
        How many elements a tuple has. One with fewer is none and is left out.

    Raises
    ------
    SettingsError
        When the size is below 2.

    Examples
    --------
    >>> [r.elements for r in read_tuples('[["levodopa", "dyskinesias"]]', size=2)]
    [('levodopa', 'dyskinesias')]
    """
    if size < 2:
        raise SettingsError(f"a tuple of {size} is none", cure="use a size of at least 2")
    answer = without_reasoning(text or "")
    if answer is None:
        return ()
    answer = _LATEX_BRACKET.sub(r"\1", _FENCE.sub("", answer))
    objects = _objects(answer, size)
    if objects:
        return objects
    brackets = list(_groups(answer))
    # Beside a list of tuples, brackets of the words around it are none: "(see Smith, 2019)".
    listed = [group for group, depth in brackets if depth and len(_parts(group)) >= size]
    groups = listed or [group for group, _ in brackets]
    if not groups and not any(char in answer for char in _OPENING):
        groups = [line for line in _plain_lines(answer) if len(_parts(line)) == size]
    found = []
    for group in groups:
        parts = _parts(group)
        if len(parts) >= size:
            found.append(_relation(parts, size))
    return tuple(found)


def _objects(text: str, size: int) -> tuple[Relation, ...]:
    """JSON objects with one text for each element, in the order of their keys."""
    found = []
    for match in _OBJECT.finditer(text):
        try:
            read = json.loads(match[0])
        except ValueError:
            continue
        values = [value.strip() for value in read.values() if isinstance(value, str)]
        if len(values) == len(read) == size and all(values):
            found.append(Relation(tuple(values)))
    return tuple(found)


def _plain_lines(text: str) -> Iterable[str]:
    """Lines without brackets that may be tuples: list items and table rows; no sentences."""
    lines = [line.strip() for line in text.splitlines()]
    for line, following in zip(lines, [*lines, ""][1:], strict=True):
        if line.startswith("|"):
            if not _is_rule(line) and not _is_rule(following):
                yield ", ".join(f'"{cell.strip()}"' for cell in line.strip("|").split("|"))
        elif not line.startswith("{") and not line.endswith((".", "!", "?", ":")):
            line = _ITEM.sub("", line)
            yield line if any(char in _COMMAS for char in line) else _ARROW.sub(", ", line)


def _is_rule(line: str) -> bool:
    """Whether a line is the one below a table's header."""
    return "-" in line and not set(line) - set("|:- \t")


def _groups(text: str, depth: int = 0) -> Iterable[tuple[str, int]]:
    """The inside of each bracket that holds a tuple, and how many lists stand around it.

    That is the outermost bracket whose parts are no brackets.
    """
    for start, end in _top_brackets(text):
        inside = text[start + 1 : end]
        inner = list(_top_brackets(inside))
        # A list of tuples: nothing but brackets, commas and line ends beside the inner brackets.
        rest = _without(inside, inner)
        if (
            depth < _DEEPEST
            and inner
            and all(char.isspace() or char in _COMMAS or char in ".…" for char in rest)
        ):
            yield from _groups(inside, depth + 1)
        else:
            yield inside, depth


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    kept, position = [], 0
    for start, end in spans:
        kept.append(text[position:start])
        position = end + 1
    return "".join([*kept, text[position:]])


def _top_brackets(text: str) -> Iterable[tuple[int, int]]:
    """Where the outermost brackets begin and end; one that never ends is opened and begun anew."""
    stack: list[tuple[str, int]] = []
    quote = ""
    spans: list[tuple[int, int]] = []
    for place, char in enumerate(text):
        if quote:
            if char == quote and _ends_quote(text, place):
                quote = ""
        elif char in _QUOTES and stack and _begins_quote(text, place):
            quote = _QUOTES[char]
        elif char in _OPENING:
            stack.append((char, place))
        elif stack and char in _CLOSES:
            while stack and _CLOSING[stack[-1][0]] != char:
                stack.pop()
            if stack:
                _, start = stack.pop()
                while spans and spans[-1][0] > start:
                    spans.pop()
                spans.append((start, place))
    return spans


def _begins_quote(text: str, place: int) -> bool:
    """A quote begins after a bracket, a comma or nothing: the prime of 5'-AMP begins none.

    It must end as well: the apostrophes of ('on-off' phenomena) are part of the name.
    """
    before = text[max(0, place - 40) : place].rstrip()[-1:]
    if before and before not in _COMMAS and before not in _OPENING:
        return False
    wanted = _QUOTES[text[place]]
    for end in range(place + 1, min(len(text), place + _LONGEST_QUOTE)):
        if text[end] == wanted and _ends_quote(text, end):
            return True
        if wanted in "'’" and text[end] in _CLOSES and _ends_quote(text, end):
            return False  # the tuple is over before an apostrophe ends anything
    return False


def _ends_quote(text: str, place: int) -> bool:
    """A quote ends before a bracket, a comma or the end: the one of Crohn's ends none."""
    after = text[place + 1 : place + 2]
    if after.isspace():
        after = text[place + 1 : place + 40].lstrip()[:1]
    return not after or after in _COMMAS or after in _CLOSES


def _parts(text: str) -> list[tuple[str, bool]]:
    """The parts between commas outside of brackets and quotes, and whether each was quoted."""
    parts: list[tuple[str, bool]] = []
    depth = 0
    quote = ""
    quoted = False
    blank = True  # nothing of the part has been seen yet
    start = 0
    for place, char in enumerate(text):
        if quote:
            if char == quote and _ends_quote(text, place):
                quote = ""
        elif char in _QUOTES and blank and _begins_quote(text, place):
            quote, quoted = _QUOTES[char], True
        elif char in _OPENING:
            depth += 1
        elif char in _CLOSES:
            depth = max(0, depth - 1)
        elif char in _COMMAS and not depth:
            parts.append((_bare(text[start:place]), quoted))
            start, quoted, blank = place + 1, False, True
            continue
        blank = blank and char.isspace()
    parts.append((_bare(text[start:]), quoted))
    if len(parts) > 1 and not parts[-1][0]:
        parts.pop()
    return parts if any(part for part, _ in parts) else []


def _bare(text: str) -> str:
    """A part without the quotes and emphasis around it."""
    text = text.strip().strip("*").strip()
    while len(text) > 1 and text[0] in _QUOTES and text[-1] == _QUOTES[text[0]]:
        text = text[1:-1].strip()
    return text


def _relation(parts: Sequence[tuple[str, bool]], size: int) -> Relation:
    texts = [part for part, _ in parts]
    for joins in (_in_number, _in_phrase):
        place = 1
        while len(texts) > size and place < len(texts):
            if joins(texts[place - 1], texts[place]) and not parts[0][1]:
                glue = "," if joins is _in_number else ", "
                texts[place - 1 : place + 1] = [texts[place - 1] + glue + texts[place]]
            else:
                place += 1
    if len(texts) > size and len(texts) > _MOST_PARTS:
        texts[size - 1 :] = [", ".join(texts[size - 1 :])]
    return Relation(tuple(texts), ambiguous=len(texts) > size)


def _in_number(before: str, after: str) -> bool:
    """Whether a comma stood inside a name such as 1,25(OH)2D3."""
    return re.search(r"(?:^|[\s(-])\d{1,3}$", before) is not None and after[:1].isdigit()


def _in_phrase(before: str, after: str) -> bool:
    return bool(before) and after.casefold().startswith(("and ", "or "))


@dataclass(frozen=True, slots=True)
class RelationScore:
    """Precision, recall and F1 of one document's relations.

    ``pairs`` are (gold, predicted) positions that match; ``duplicates`` says how many predicted
    relations repeat an earlier one.
    """

    prf: PRF
    gold: tuple[Relation, ...]
    predicted: tuple[Relation, ...]
    pairs: tuple[tuple[int, int], ...]
    duplicates: int


def relation_score(
    gold: str | Sequence[Relation], predicted: str | Sequence[Relation] | None, *, size: int
) -> RelationScore:
    """One-to-one F1 of a document's relations: equal after normalisation, element by element.

    Parameters
    ----------
    gold, predicted
        Texts, read by :func:`read_tuples`, or relations. The order of a tuple's elements counts,
        the order of the tuples does not.
    size
        Elements of a tuple.

    Returns
    -------
    RelationScore
        0 where nothing was predicted. A repeated prediction finds its gold taken and costs
        precision.

    Raises
    ------
    InputError
        When the gold has no tuple: there is nothing to recall.
    """
    golds = _read(gold, size)
    ours = _read(predicted, size)
    if not golds:
        raise InputError(
            f"the gold answer {str(gold)[:60]!r} has no tuple of {size}",
            cure="correct it, or leave the row out",
        )
    sides = [[_key(form) for form in relation.forms(size)] for relation in golds]
    readings = [{_key(form) for form in relation.forms(size)} for relation in ours]
    keys = []
    for reading in readings:
        # Of an ambiguous prediction's groupings the one that the gold has.
        known = [key for side in sides for key in side if key in reading]
        keys.append(known[0] if known else min(reading))
    partner = match_exact(sides, keys)
    return RelationScore(
        prf=precision_recall_f1(len(partner), len(ours), len(golds)),
        gold=golds,
        predicted=ours,
        pairs=tuple((r, p) for p, r in sorted(partner.items())),
        duplicates=len(keys) - len(set(keys)),
    )


def pooled_relations(scores: Iterable[RelationScore]) -> PRF:
    """One F1 from the counts of many documents; each document's matches stay its own."""
    counts = [score.prf for score in scores]
    return precision_recall_f1(
        sum(prf.correct for prf in counts),
        sum(prf.n_predicted for prf in counts),
        sum(prf.n_reference for prf in counts),
    )


def _read(value: str | Sequence[Relation] | None, size: int) -> tuple[Relation, ...]:
    if value is None or isinstance(value, str):
        return read_tuples(value, size=size)
    for relation in value:
        if len(relation.elements) < size:
            raise InputError(
                f"the relation {relation.elements!r} has fewer than {size} elements",
                cure="give tuples of one size",
            )
    return tuple(value)


def _key(form: tuple[str, ...]) -> str:
    return "\x1f".join(form)
