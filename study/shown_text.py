"""Texts as people are shown them: nothing in them that can't be seen or steers the reading."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence

from ..scoring.parse import read_reference
from ..scoring.records import Element
from .records import Question, Response

__all__ = ["answer_text", "as_list", "reference_text", "visible"]

_JOINERS = "\u200c\u200d"
# Letters that show nothing although Unicode counts them among the letters or symbols.
_BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_ODD = re.compile(f"[\ufe00-\ufe0f\U000e0100-\U000e01ef{''.join(sorted(_BLANK_LETTERS))}]")
# Format characters that are drawn: Arabic and other number signs.
_DRAWN = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)


def visible(text: str) -> str:
    r"""The text with everything that can't be seen, or steers the reading order, as an escape.

    Kept as they are: line breaks (``\r\n`` becomes ``\n``), tabs, joiners inside words of scripts
    that need them, and variation selectors after a character that takes them.

    Examples
    --------
    >>> visible("abc\u202edef\r\n")
    'abc[U+202E]def\n'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # Nearly every text: of what Python calls printable only these may still have to be shown.
    if not _ODD.search(text) and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    out = []
    for position, char in enumerate(text):
        shown = _is_shown(char, text[position - 1 : position], text[position + 1 : position + 2])
        out.append(char if shown else f"[U+{ord(char):04X}]")
    return "".join(out)


def _is_shown(char: str, before: str, after: str) -> bool:
    if char in "\n\t":
        return True
    if char in _JOINERS:
        # Persian and Indic words and joined emoji need them; between Latin letters they only hide.
        return _takes_joiner(before) and _takes_joiner(after)
    if "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef":
        return bool(before) and (before in "0123456789#*" or before > "\x7f")
    if char in _BLANK_LETTERS:
        return False
    if char in _DRAWN:
        return True
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _takes_joiner(char: str) -> bool:
    return (
        char > "\u024f" and unicodedata.category(char)[0] in "LMSN" or "\ufe00" <= char <= "\ufe0f"
    )


def as_list(elements: Sequence[Element], *, aliases: bool = False) -> str:
    """Elements as numbered lines, attributes below their element; every text made visible."""
    lines = []
    for number, element in enumerate(elements, 1):
        lines.append(f"{number}. {visible(element.text)}")
        lines += [
            f"   - {visible(key)}: {visible(value)}" if key else f"   - {visible(value)}"
            for key, value in element.attributes
        ]
        if aliases and element.aliases:
            lines.append(f"   (also accepted: {'; '.join(map(visible, element.aliases))})")
    return "\n".join(lines)


def answer_text(response: Response) -> str:
    """A response as text: as it was given, or its elements as a list where it came as data."""
    if not response.response_is_json:
        return response.response
    return as_list([Element.from_value(value) for value in json.loads(response.response)])


def reference_text(question: Question) -> str:
    """A reference as people are shown it: one element as it is, several as a list; all visible."""
    elements = read_reference(question.reference).elements
    if len(elements) == 1 and not elements[0].aliases:
        return visible(elements[0].display)
    return as_list(elements, aliases=True)
