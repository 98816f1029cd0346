"""The commonest answer, read without the walk: one list, one line an item, nothing below.

Most answers are "1. …", "2. …" or bullets of one sign, below one line at most. They are recognised
by one pattern over the whole text; whatever is not exactly of this form is left to the walk, which
reads these answers the same way.
"""

from __future__ import annotations

import re

from .parse_text import clean, head_of
from .records import Element

__all__ = ["Quick", "read_quick"]

Quick = tuple[tuple[Element, ...], str, str, str]
"""Elements, preamble, marker, rule."""

_ITEM = re.compile(r"^(?:(\d{1,3})([.)])|([-*+•])) (?=[^\s\[\]|☐☑☒])(.*)$", re.M)
_LEAD = re.compile(r"[A-Za-z]{2}[^\n]*\n\n?(?=[-*+•\d])")
_OTHER = re.compile(r"[<>`|#\\\t]")
_RULES = ("---", "***", "* *", "- -", "\n ")
_NUMBERS = [str(number) for number in range(1, 1000)]


def read_quick(text: str) -> Quick | None:
    """The answer's elements, preamble, marker and rule; None where it is of another form."""
    text = text.strip()
    if _OTHER.search(text) or any([sign in text for sign in _RULES]):
        return None
    lead = _LEAD.match(text)
    start = lead.end() if lead is not None else 0
    found = _ITEM.findall(text, start)
    n = len(found)
    body = text[start:] if start else text
    if n < 2 or body.count("\n") + 1 - body.count("\n\n") != n or "\n\n\n" in body:
        return None
    sign = found[0][2]
    if sign:
        if any([item[2] != sign for item in found]):
            return None
    else:
        dot = found[0][1]
        if [item[0] for item in found] != _NUMBERS[:n] or any([i[1] != dot for i in found]):
            return None
    elements = []
    for item in found:
        raw = item[3]
        words = clean(raw)
        if not words:
            return None
        elements.append(Element(words, head=head_of(raw, words)))
    preamble = text[:start].strip()
    if sign:
        return tuple(elements), preamble, "bullet", "bullets"
    return tuple(elements), preamble, "numbered", "numbers"
