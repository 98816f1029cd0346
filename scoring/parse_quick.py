"""The commonest answers, read by one pattern: one list, one line an item, nothing below.

Most answers are "1. …", "2. …" or bullets of one sign, below one line at most. One pattern for each
length gives their items. Whatever is not exactly of this form, longer lists and those with markup
are left to :mod:`accord.scoring.parse_flat` and the walk, which read these answers the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from .parse_inline import is_bare_name, names_in_a_row
from .parse_result import Parsed, parsed_later, quick_element, quick_parsed
from .parse_source import find_in_order
from .records import Element

__all__ = ["plain_elements", "read_quick"]

# An item that holds none of these has nothing to be taken off, and no head (hyphens are looked for
# by themselves).
_SPECIAL = re.compile(
    r"[*_`\[\]<>&\\~\"'“‘«„‚「『《〈【|#;:：；؛，،、–—\x00-\x09\x0b-\x1f\x85\xa0\u1680\u2000-\u200b\u2028"
    r"\u2029\u202f\u205f\u2060\u3000\ufeff\ud800-\udfff☐☑☒]"
)
# These may make another list of it, or another text.
_OTHER = re.compile(
    r"[<>`|#\\\x00-\x09\x0b-\x1f\x85\u200b\u2028\u2029\u2060\ufeff\ud800-\udfff☐☑☒]"
)
_INNER = re.compile(r"\*{0,2}1[.)]")
_SEVERAL = re.compile(r"[.)]\s|[、①-⑳•·●▪]")  # several items may stand on one line


def _harmless(signs: re.Pattern[str], unsure: bytes) -> bytes:
    """The bytes of UTF-8 that no sign begins with: whatever is left without them may be one.

    ASCII signs leave themselves; others the first byte they share with harmless ones.
    """
    found = signs.findall("".join(map(chr, range(128))))
    return bytes(set(range(256)).difference("".join(found).encode(), unsure))


# An apostrophe matters only at the front of an item: looked for by itself.
HARMLESS = _harmless(_SPECIAL, b"\xc2\xd8\xe1\xe2\xe3\xed\xef") + b"'"
HARMLESS_ABOVE = _harmless(_OTHER, b"\xc2\xe2\xed\xef")


class _Patterns(dict[tuple[str, int], Callable[[str, int], "re.Match[str] | None"]]):
    """For a form of list and its length, the one pattern that gives its items."""

    def __missing__(self, key: tuple[str, int]) -> Callable[[str, int], re.Match[str] | None]:
        form, n = key
        opening, item = (form[:2], r"\*\*([^*\n]*[^ ,*\n])\*\*") if "**" in form else (form, _ITEM)
        markers = [f"{number}{opening[1]}" for number in range(1, n + 1)]
        if opening[0] != "1":
            markers = [opening[0]] * n
        found = re.compile("\n".join([f"{re.escape(marker)} {item}" for marker in markers]) + r"\Z")
        match: Callable[[str, int], re.Match[str] | None] = found.match
        self[key] = match
        return match


_ITEM = r"(.*[^ ,\n])"
_PATTERNS = _Patterns()
_MOST = 40  # items: longer lists are read line by line
# What the markers themselves leave of an item, by the form of the list.
_OWN = {"1.": b"", "1)": b"", "- ": b"", "+ ": b"", "* ": b"*", "• ": b"\xe2"}


class _Elements(dict[str, Element]):
    """Elements without more than a text, made once: systems that answer alike share them.

    Elements can't be changed, so one stands for all that are equal.
    """

    def __missing__(self, text: str) -> Element:
        if len(self) > 20_000:
            self.clear()
        element = self[text] = quick_element(text)
        return element


_element = _Elements().__getitem__


def plain_elements(texts: Iterable[str]) -> tuple[Element, ...]:
    """``Element(text)`` for each text."""
    return tuple(map(_element, texts))


def read_quick(text: str) -> Parsed | None:
    """The answer as read; None where it is of another form."""
    text = text.rstrip()
    start = 0
    form = text[:2]
    if form not in _OWN and form.isalpha():  # a line leads in
        start = text.find("\n") + 1
        if start == 0:
            return _names(text)
        if text[start : start + 1] == "\n":
            start += 1
        form = text[start : start + 2]
    if form in _OWN:
        read = _in_one_match(text, start, form)
        if read is not None:
            return read
    return _names(text) if "\n" not in text else None


def _in_one_match(text: str, start: int, form: str) -> Parsed | None:
    """One item a line, each as it stands or bold as a whole, without a line between or below."""
    n = text.count("\n", start) + 1
    if n > _MOST:
        return None
    # Whatever fails, fails in time linear in the text: an item ends at the line break only.
    bold = text[-2:] == "**" and form == "1." and text.startswith(" **", start + 2)
    found = _PATTERNS["1.**" if bold else form, n](text, start)
    if found is None:
        return None
    lead, body = "", text
    if start:
        above = _lead_of(text[:start])
        if above is None:
            return None
        lead, body = above, text[start:]
    left = body.encode("utf-8", "surrogatepass").translate(None, HARMLESS)
    if left != (b"****" if bold else _OWN[form]) * n:
        return None
    # Blanks that go, an explanation, a rule, quotes.
    if "  " in body or " - " in body or "- -" in body:
        return None
    if "'" in body and (" '" in body or "*'" in body):
        return None
    words = found.groups()
    if form[1] == " ":
        if _INNER.match(words[0]) is not None:
            return None  # "- 1. …": both may be the marker
        marker, rule = "bullet", "bullets"
    else:
        marker, rule = "numbered", "numbers"
    if n == 1 and _SEVERAL.search(words[0]) is not None:
        return None
    return parsed_later(tuple(map(_element, words)), lead, marker, rule, found, -2 if bold else 0)


@lru_cache(maxsize=500)  # systems have their habits
def _lead_of(lines: str) -> str | None:
    """The line above a list; None where it may be more than that."""
    lead = lines.rstrip()
    if not 1 < len(lead) < 500 or not (lead[:2].isascii() and lead[:2].isalpha()):
        return None
    left = lead.encode("utf-8", "surrogatepass").translate(None, HARMLESS_ABOVE)
    return lead if not left or _OTHER.search(lead) is None else None


def _names(line: str) -> Parsed | None:
    """One line of names between commas, or one bare name."""
    names = names_in_a_row(line) if line.count(", ") > 1 else None
    if names is None:
        if not is_bare_name(line):
            return None
        return quick_parsed((_element(line),), "", "", "none", "bare answer", (0,))
    starts = tuple(find_in_order(names, line))
    return quick_parsed(tuple(map(_element, names)), "", "", "delimiter", "one line, ,", starts)
