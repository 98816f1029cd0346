"""The commonest answer, read without the walk: one list, one line an item, nothing below.

Most answers are "1. …", "2. …" or bullets of one sign, below one line at most. They are recognised
by one pattern over the whole text; whatever is not exactly of this form is left to the walk, which
reads these answers the same way.
"""

from __future__ import annotations

import re

from .parse_text import clean, head_of, holds_head, holds_markup
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
        if len({item[2] for item in found}) > 1:
            return None
    elif [item[0] for item in found] != _NUMBERS[:n] or len({item[1] for item in found}) > 1:
        return None
    raws = [item[3] for item in found]
    # Most lists hold nothing to clean and no explanation: one look at the whole tells.
    marked = holds_markup(body)
    words = [clean(raw) for raw in raws] if marked else raws
    if not all(words):
        return None
    if marked or holds_head(body):
        elements = [
            Element(word, head=head_of(raw, word)) for word, raw in zip(words, raws, strict=True)
        ]
    else:
        elements = [Element(word) for word in words]
    preamble = text[:start].strip()
    if sign:
        return tuple(elements), preamble, "bullet", "bullets"
    return tuple(elements), preamble, "numbered", "numbers"
