"""The commonest answers, read without the walk: one list, one line an item, nothing below.

Most answers are "1. …", "2. …" or bullets of one sign, below one line at most. Their lines are
split and compared with the markers they must have; whatever is not exactly of this form is left to
the walk, which reads these answers the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate
from operator import add

from .parse_inline import names_in_a_row
from .parse_result import Parsed, quick_parsed
from .parse_text import clean, head_of
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
_MARKER = re.compile(r"(\n[^ \n]+ )")
_LEAD = re.compile(r"[A-Za-z]{2}[^\n]*\n?$")
_TRAILER = re.compile(r"[A-Za-z]{2,20},? [A-Za-z][^\n]*$")
_LONGEST = 400
_MARKERS = {
    f"\n1{sign} ": [f"\n{number}{sign} " for number in range(1, _LONGEST + 1)] for sign in ".)"
}
_BULLETS = {f"\n{sign} ": [f"\n{sign} "] * _LONGEST for sign in "-*+•"}
_MARKERS |= _BULLETS
_SIGNS = frozenset(marker[1:] for marker in _BULLETS)
_OFFSETS = [3 * k for k in range(_LONGEST + 1)]
_COUNTED = {first: [markers[:n] for n in range(30)] for first, markers in _MARKERS.items()}


class _Elements(dict[str, Element]):
    """Elements without more than a text, made once: systems that answer alike share them.

    Elements can't be changed, so one stands for all that are equal.
    """

    def __missing__(self, text: str) -> Element:
        if len(self) > 10_000:
            self.clear()
        element = self[text] = Element(text)
        return element


_element = _Elements().__getitem__


def plain_elements(texts: Iterable[str]) -> tuple[Element, ...]:
    """``Element(text)`` for each text."""
    return tuple(map(_element, texts))


def read_quick(text: str) -> Parsed | None:
    """The answer as read; None where it is of another form."""
    text = text.rstrip()
    if text[-2:] == "**" and (read := _bold(text)) is not None:
        return read
    opening = text[:2]
    if opening not in _SIGNS:
        opening = text[text.find("\n") :].lstrip("\n")[:2] if text[:1].isalpha() else ""
    if opening in _SIGNS and (read := _bulleted(text, opening)) is not None:
        return read
    parts = _MARKER.split(text)  # what leads in, "\n1. ", "one", "\n2. ", "two", …
    n = len(parts) // 2
    if n >= _LONGEST:
        return None
    lead = parts[0]
    start = len(lead)
    if n == 0 and (lead[:1].isalnum() and ", " in lead):
        return _names(lead)
    if lead[:1].isalpha():
        if n == 0:
            return None
        found = parts[1::2]
    else:  # nothing leads in: the first item stands before the first line break
        opening, blank, word = lead.partition(" ")
        parts[:1] = "", opening + blank, word
        found = ["\n" + parts[1], *parts[3::2]]
        n += 1
        start = 0
    words = parts[2::2]
    sign = found[0]
    if sign not in _MARKERS:
        return None
    if n == 1 and start == 0 and _SEVERAL.search(words[0]) is not None:
        return None
    trailer = ""
    if found != (_COUNTED[sign][n] if n < 30 else _MARKERS[sign][:n]):
        n -= 1
        trailer = found.pop()[1:] + words.pop()
        if n < 1 or found != _MARKERS[sign][:n] or words[-1][-1:] != "\n":
            return None
        if _TRAILER.match(trailer) is None:
            return None
        words[-1] = words[-1][:-1]
    if start and (_LEAD.match(lead) is None or _OTHER.search(lead) is not None):
        return None
    special = _SPECIAL.search(text, start)
    if special is not None and sign == "\n* " and text.count("*", start) == n:
        special = _SPECIAL.search(text.replace("*", "-"), start)
    if special is not None and _OTHER.search(text, special.start()) is not None:
        return None
    breaks = text.count("\n", start)
    if breaks != (n if start else n - 1):
        breaks += (0 if start else 1) - (2 if trailer else 0)
        if breaks == 2 * n - 1:  # a blank line between every two
            if any([word[-1:] != "\n" for word in words[:-1]]):
                return None
            words = [*[word[:-1] for word in words[:-1]], words[-1]]
        elif breaks != n:
            return None
    if sign in _BULLETS and _INNER.match(words[0]) is not None:
        return None  # "- 1. …": both may be the marker
    # Now every item is one line.
    elements: tuple[Element, ...] | None = None
    if special is None:
        if not ("  " in text or " \n" in text or "," in text and ",\n" in f"{text}\n"):
            if not (" - " in text or "- -" in text):  # an explanation, or a rule
                elements = tuple(map(_element, words))
    if elements is None:
        elements = _cleaned(words, sign)
        if elements is None:
            return None
    starts = tuple(accumulate(map(len, parts)))[1 : 2 * n : 2]
    if sign in _BULLETS:
        return quick_parsed(
            elements, lead.strip() if start else "", trailer, "bullet", "bullets", starts
        )
    return quick_parsed(
        elements, lead.strip() if start else "", trailer, "numbered", "numbers", starts
    )


def _names(line: str) -> Parsed | None:
    """One line of names between commas."""
    names = names_in_a_row(line)
    if names is None:
        return None
    starts = tuple(accumulate([len(name) + 2 for name in names[:-1]], initial=0))
    return quick_parsed(tuple(map(_element, names)), "", "", "delimiter", "one line, ,", starts)


def _bulleted(text: str, sign: str) -> Parsed | None:
    """Bullets of one sign, every item one line that stands as it is, below one line at most."""
    if text[0] == sign[0]:
        lead, words = "", text[2:].split(f"\n{sign}")
        start = 2
    else:
        lead, *words = text.split(f"\n{sign}")
        start = len(lead) + 3
        if _LEAD.match(lead) is None or _OTHER.search(lead) is not None:
            return None
    n = len(words)
    if n > _LONGEST or text.count("\n", start) != n - 1 or "" in words:
        return None
    if _SPECIAL.search(text.replace("*", " ") if sign == "* " else text, start) is not None:
        return None
    if sign == "* " and text.count("*") != n:
        return None
    if "  " in text or " \n" in text or " - " in text or "- -" in text:
        return None
    if n == 1 and not lead and _SEVERAL.search(text, start) is not None:
        return None
    if "," in text and ",\n" in f"{text}\n" or _INNER.match(words[0]) is not None:
        return None
    lengths = accumulate(map(len, words[:-1]), initial=start)
    starts = tuple(map(add, lengths, _OFFSETS))
    return quick_parsed(tuple(map(_element, words)), lead.rstrip(), "", "bullet", "bullets", starts)


def _bold(text: str) -> Parsed | None:
    """A list of which every item is bold as a whole, "1. **one**", without other markup."""
    parts = text.split("**")  # what leads in and "1. ", "one", "\n2. ", "two", …, ""
    words = parts[1::2]
    n = len(words)
    opening = parts[0]
    markers = _COUNTED.get(f"\n{opening[-3:]}")
    if markers is None or opening[-3:-2] != "1" or len(parts) != 2 * n + 1 or n >= 30:
        return None
    if parts[2:-1:2] != markers[n][1:]:
        return None
    lead, lines = opening[:-3], "\n".join(words)
    if lead and (lead[-1] != "\n" or _LEAD.match(lead) is None or _OTHER.search(lead) is not None):
        return None
    if _SPECIAL.search(lines) is not None or lines.count("\n") != n - 1 or "" in words:
        return None
    if "  " in lines or " \n" in lines or "\n " in lines or ",\n" in lines or " - " in lines:
        return None
    if lines[0] == " " or lines[-1] in " ,":
        return None
    lengths = accumulate(map(len, parts))
    starts = tuple([length + 4 * k for k, length in enumerate(list(lengths)[:-1:2])])
    elements = tuple(map(_element, words))
    return quick_parsed(elements, lead.rstrip(), "", "numbered", "numbers", starts)


def _cleaned(words: list[str], sign: str) -> tuple[Element, ...] | None:
    """The elements of any items, each cleaned; None where one is empty, a rule or a check box."""
    sign = sign if sign in _BULLETS else " "
    if any([not word.strip(sign) or word[0].isspace() or word[0] in "[]" for word in words]):
        return None
    texts = [clean(word) for word in words]
    if not all(texts):
        return None
    return tuple(
        [Element(text, head=head_of(word, text)) for word, text in zip(words, texts, strict=True)]
    )
