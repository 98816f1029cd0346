"""The commonest answers, read without the walk: one list, one line an item, nothing below.

Most answers are "1. …", "2. …" or bullets of one sign, below one line at most. Their lines are
split and compared with the markers they must have; whatever is not exactly of this form is left to
the walk, which reads these answers the same way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from .parse_text import clean, head_of, holds_head
from .records import Element

__all__ = ["Quick", "plain_elements", "read_quick"]

Quick = tuple[tuple[Element, ...], str, str, str, str, tuple[int | None, ...]]
"""Elements, preamble, trailer, marker, rule, where each element starts (its marker)."""

# One look at the whole text: it holds none of these if nothing in it is to be taken off.
_SPECIAL = re.compile(
    r"[_`\[\]<>&\\~\"'“‘«„‚「『《〈【|#\x00-\x09\x0b-\x1f\x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f"
    r"\u205f\u2060\u3000\ufeff\ud800-\udfff☐☑☒]"
)
# These may make another list of it, or another text.
_OTHER = re.compile(
    r"[<>`|#\\\x00-\x09\x0b-\x1f\x85\u200b\u2028\u2029\u2060\ufeff\ud800-\udfff☐☑☒]"
)
_WORD = re.compile(r"[A-Za-z]{2}")
_WORDS = re.compile(r"[A-Za-z]{2,20},? [A-Za-z]")
_ENDS = frozenset(";；؛,，،、:： ")
_LONGEST = 400
_NUMBERED = {
    sign: tuple(f"{number}{sign} " for number in range(1, _LONGEST + 1)) for sign in (".", ")")
}
_BULLETS = ("- ", "* ", "+ ", "• ")

# A frozen dataclass sets its fields one by one through object.__setattr__; the slots' own setters
# are twice as fast, and there are millions of elements.
_new = Element.__new__
_set_text, _set_aliases, _set_attributes, _set_head, _set_section, _set_aside = (
    Element.__dict__[name].__set__
    for name in ("text", "aliases", "attributes", "head", "section", "aside")
)


def plain_elements(texts: Sequence[str]) -> tuple[Element, ...]:
    """``Element(text)`` for each text."""
    elements = []
    for text in texts:
        element = _new(Element)
        _set_text(element, text)
        _set_aliases(element, ())
        _set_attributes(element, ())
        _set_head(element, None)
        _set_section(element, None)
        _set_aside(element, False)
        elements.append(element)
    return tuple(elements)


def read_quick(text: str) -> Quick | None:
    """The answer's elements and what goes with them; None where it is of another form."""
    special = _SPECIAL.search(text) is not None
    if special and _OTHER.search(text) is not None:
        return None
    lines = text.split("\n")
    first, last = 0, len(lines)
    while first < last and not lines[first]:
        first += 1
    while last > first and not lines[last - 1]:
        last -= 1
    if last - first < 2 or last > _LONGEST:
        return None
    preamble = trailer = ""
    if _WORD.match(lines[first]):
        preamble = lines[first].rstrip()
        first += 1 if lines[first + 1] else 2
    if not lines[last - 2] and _WORDS.match(lines[last - 1]):
        trailer = lines[last - 1].rstrip()
        last -= 2
    items = lines[first:last]
    step = 1
    if "" in items:
        if any(items[1::2]):
            return None
        step = 2  # a blank line between every two
        items = items[::2]
    n = len(items)
    if n < 2:
        return None
    sign = items[0][:2]
    if sign in _BULLETS:
        if [item[:2] for item in items] != [sign] * n:
            return None
        words = [item[2:] for item in items]
        marker, rule = "bullet", "bullets"
    else:
        markers = _NUMBERED.get(items[0][1:2])
        if markers is None or not all(map(str.startswith, items, markers)):
            return None
        words = [item[3:] for item in items[:9]]
        if n > 9:
            words += [item[4:] for item in items[9:99]]
            words += [item[5:] for item in items[99:]]
        sign, marker, rule = "", "numbered", "numbers"
    elements = _elements(words, sign, text, special)
    if elements is None:
        return None
    starts = list(accumulate([len(line) + 1 for line in lines[: last - 1]], initial=0))
    return elements, preamble, trailer, marker, rule, tuple(starts[first::step])


def _elements(words: list[str], sign: str, text: str, special: bool) -> tuple[Element, ...] | None:
    """The elements of items without their markers; None where one is empty, or may be a rule."""
    stars = text.count("*") - (len(words) if sign == "* " else 0)
    bare = words
    if stars and stars == 4 * len(words):
        bare = [word[2:-2] for word in words if word[:2] == word[-2:] == "**"]
    if (
        not special
        and (not stars or len(bare) == len(words) and bare is not words)
        and "  " not in text
        and all(bare)
        and _ENDS.isdisjoint([word[0] for word in bare])
        and _ENDS.isdisjoint([word[-1] for word in bare])
        and not (sign and sign[0] in [word[0] for word in bare])
        and not holds_head(text)
    ):
        return plain_elements(bare)
    if any([not word.strip(sign) or word[0].isspace() or word[0] in "[]" for word in words]):
        return None
    texts = [clean(word) for word in words]
    if not all(texts):
        return None
    return tuple(
        [Element(text, head=head_of(word, text)) for word, text in zip(words, texts, strict=True)]
    )
