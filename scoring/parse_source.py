"""The text to read, and where its characters stand in the answer.

Reasoning blocks, control tokens and unseen characters are left out, every line break becomes one
kind; a list written on one line gets a line for each item. Each step keeps the way back, so that an
element can be shown in its place.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .parse_courtesy import closes

__all__ = [
    "PROGRAM",
    "TEXTS",
    "Source",
    "find_in_order",
    "holds_odd_signs",
    "on_lines",
    "source_of",
]


@dataclass(frozen=True, slots=True)
class Source:
    """A text, and for each of its characters (and its end) the place in the answer."""

    text: str
    places: Sequence[int]

    def replace(self, pattern: re.Pattern[str], by: str) -> Source:
        """With every match replaced by a text of one character at most."""
        spans = [match.span() for match in pattern.finditer(self.text)]
        if not spans:
            return self
        starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), None]
        pieces = zip(starts, ends, strict=True)
        return self.keep(pieces, by)

    def keep(self, pieces: Iterable[tuple[int, int | None]], between: str = "") -> Source:
        """Only these stretches, with one character or none between them."""
        texts: list[str] = []
        places = array("q")
        for start, end in pieces:
            if texts and between:
                places.append(self.places[start])
            stop = len(self.text) if end is None else end
            texts.append(self.text[start:stop])
            places.extend(self.places[start:stop])
        places.append(self.places[-1])
        return Source(between.join(texts), places)


_THINK = re.compile(r"<(/?)(think|thinking|reasoning)>", re.I)
_CONTROL = re.compile(r"<\|[\w ]{1,40}\|>")
_LITERAL_BREAK = re.compile(r"\\n(?=[ \t]*(?:\d{1,3}[.)、]|[-*•]\s|\\n|$))")
_BLANK = re.compile(r"[\xa0\u1680\u2000-\u200a\u202f\u205f]")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x85\u200b\u2028\u2029\u2060\ufeff]")
_BREAK_TAG = re.compile(r"<br\s{0,3}/?>", re.I)
_BLOCK_TAG = re.compile(r"</?(?:p|div)(?:\s[^<>]{0,300})?>", re.I)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


# Any of these.
_ODD = re.compile(
    r"[\x00-\x08\x0b-\x1f\x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\ufeff"
    r"\ud800-\udfff]"
)


def holds_odd_signs(answer: str) -> bool:
    """Whether an answer holds signs that nobody sees, odd blanks or odd line breaks."""
    return _ODD.search(answer) is not None


def source_of(answer: str, *, odd: bool = True) -> Source:
    """The text of an answer to read; without ``odd`` signs fewer steps."""
    source = Source(answer, range(len(answer) + 1))
    if odd:
        source = Source(_BLANK.sub(" ", answer), source.places)
        source = source.replace(_BREAKS, "\n").replace(_UNSEEN, "")
        # Half a character: no file or database can hold it.
        source = Source(_SURROGATE.sub("\ufffd", source.text), source.places)
    if "<" in answer:
        source = _without_reasoning(source).replace(_CONTROL, "")
        if "<br" in answer and "|" not in source.text:
            source = source.replace(_BREAK_TAG, "\n")
        if "<p" in answer or "<div" in answer:
            source = source.replace(_BLOCK_TAG, "\n")
    if "\\n" in answer:
        source = source.replace(_LITERAL_BREAK, "\n")
    return _unwrapped(source)


TEXTS = frozenset(["markdown", "md", "text", "txt", "plaintext", "list", "yaml", "yml", "csv"])
"""The languages of fences that hold text."""
PROGRAM = re.compile(r"[{}=<>]|\$[A-Za-z_(]|\w\(|;\s*$", re.M)
"""What text in a fence without a language doesn't hold."""
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([\w+#.-]*)[ \t]*")
_QUOTED = re.compile(r"[ \t]*>[ \t]?")


_HEADED = re.compile(r"^[ \t]*(?:#{1,6} |\*\*|[A-Z][a-z]+ \d{1,3}[:.])", re.M)


def _is_text(language: str, inside: str) -> bool:
    """Whether a fence of this language holds text rather than a program or JSON."""
    if language in TEXTS:
        return True
    if language or inside.lstrip()[:1] in ("[", "{"):
        return False
    return PROGRAM.search(inside) is None or len(_HEADED.findall(inside)) > 1


def _unwrapped(source: Source) -> Source:
    """Without the fence or the quotation marks of Markdown around the whole answer."""
    text = source.text
    first = text.lstrip()[:1]
    if first in ("`", "~"):
        begin = text.find("\n", text.index(first)) + 1
        end = text.rstrip().rfind("\n")
        fence = _FENCE.fullmatch(text[:begin].strip())
        if fence is not None and begin <= end and text[end:].strip() == fence[1]:
            inside = text[begin:end]
            if fence[1] not in inside and _is_text(fence[2].lower(), inside):
                return source.keep([(begin, end)])
    elif first == ">":
        pieces: list[tuple[int, int | None]] = []
        start = 0
        for line in text.split("\n"):
            mark = _QUOTED.match(line)
            if mark is None and line.strip():
                return source
            pieces.append((start + (mark.end() if mark is not None else 0), start + len(line)))
            start += len(line) + 1
        return source.keep(pieces, "\n")
    elif text[:1].isspace():
        return _dedented(source)
    return source


def _dedented(source: Source) -> Source:
    """Without the blanks before every line, if all have some."""
    lines = source.text.split("\n")
    margin = min([len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()], default=0)
    if margin == 0:
        return source
    pieces: list[tuple[int, int | None]] = []
    start = 0
    for line in lines:
        pieces.append((start + min(margin, len(line)), start + len(line)))
        start += len(line) + 1
    return source.keep(pieces, "\n")


def _without_reasoning(source: Source) -> Source:
    """Without reasoning blocks, those that lack their opening or closing tag included."""
    kept: list[tuple[int, int | None]] = []
    start = depth = 0
    for tag in _THINK.finditer(source.text):
        if tag[1]:
            if depth == 0:
                kept.clear()  # closed without an opening: all before it was reasoning
            depth = max(0, depth - 1)
            if depth == 0:
                start = tag.end()
        else:
            if depth == 0:
                kept.append((start, tag.start()))
            depth += 1
    if depth == 0:
        kept.append((start, None))
    return source if kept == [(0, None)] else source.keep(kept)


_RUNNING = re.compile(
    r"(?:(?<=\s)|^)[(]?(\d{1,2})(?:[.)]\s|、)|(?:(?<=[；，、。：])|^)（(\d{1,2})）|"
    r"(?:(?<=[；;，、。：])|^)(\d{1,2})[.．)）、](?=[一-鿿ぁ-んァ-ヶ《「“])"
)
_CIRCLED = re.compile("[①-⑳]")
_LETTERED = re.compile(r"(?:(?<=\s)|^)[(]?([a-z])\)\s")
_LINKING = re.compile(r"\s*[,;，；、]?\s*(?:\b(?:and|or|und|oder|et|y|e|и)|和|以及)$|[,;，；、]$")
_DOTS = re.compile(r"\s[•·●▪]\s")
# An item that ends in a colon, "1. Fruit:", is no line that leads in.
_MARKED = re.compile(r"[-–*+•·●▪]\s|[(（]?(?:\d{1,3}|[A-Za-z])[.)、）]|[①-⑳]")


def on_lines(source: Source) -> Source:
    """A list written on one line, "1. A 2. B 3. C" or "• A • B", with a line for each item.

    A line with a colon may stand above it, and a sentence that closes the answer below.
    """
    text = source.text
    if not _may_hold_items(text):
        return source
    end = len(text.rstrip())
    begin = end - len(text.strip())
    if text.count("\n", begin, end):
        if text.count("\n", begin, end) > 4:
            return source
        spans: list[tuple[int, int]] = []
        start = 0
        for line in text.split("\n"):
            bare = line.strip()
            leads = bare.endswith((":", "：")) and _MARKED.match(bare) is None
            if bare and not leads and not closes(bare):
                spans.append((start, start + len(line)))
            start += len(line) + 1
        if len(spans) != 1:
            return source
        begin, end = spans[0]
    starts = _items_on_a_line(text[begin:end])
    if not starts:
        return source
    bounds = [begin, *[begin + start for start in starts], end]
    led = bool(text[begin : bounds[1]].strip())
    stopped = text[bounds[1] : bounds[2]].rstrip().endswith(".")  # every item is a sentence
    pieces: list[tuple[int, int | None]] = [(0, begin - 1)] if text[:begin].strip() else []
    for at, (start, stop) in enumerate(zip(bounds, bounds[1:], strict=False)):
        piece = text[start:stop]
        start += len(piece) - len(piece.lstrip())
        piece = piece.strip()
        if led and at:  # a sentence around the items: "(1) Rome, (2) Oslo, and (3) Bern."
            piece = _LINKING.sub("", piece)
            if at == len(bounds) - 2 and piece.count(".", 3) == 1 and not stopped:
                piece = piece.removesuffix(".")
        pieces.append((start, start + len(piece)))
    if end < len(text):
        pieces.append((end + 1, None))
    return source.keep(pieces, "\n")


def _may_hold_items(text: str) -> bool:
    """Whether there is what three items on one line need; most texts hold none of it."""
    return (
        ("2" in text and "3" in text)
        or "③" in text
        or "c)" in text
        or any([sign in text for sign in "•·●▪"])
        or not text.isascii()
        and any(map(str.isdecimal, text))
    )


def _items_on_a_line(line: str) -> list[int]:
    """Where the items of a line begin; none where they don't count up from the first one."""
    starts: list[int] = []
    for match in _RUNNING.finditer(line):
        if int(match[match.lastindex or 1]) == len(starts) + 1:
            starts.append(match.start())
    if len(starts) > 2:
        return starts
    for pattern, first in ((_CIRCLED, "①"), (_LETTERED, "a")):
        starts = []
        for match in pattern.finditer(line):
            if ord(match[match.lastindex or 0]) == ord(first) + len(starts):
                starts.append(match.start())
        if len(starts) > 2:
            return starts
    lead = _DOTS.split(line, maxsplit=1)[0].strip()
    if not lead.startswith(("•", "●", "▪")) and not (
        lead.endswith((":", "：")) and len(_DOTS.findall(line)) > 1
    ):
        return []
    return [match.start() + 1 for match in _DOTS.finditer(line)]


def find_in_order(items: Iterable[str], text: str, start: int = 0) -> list[int | None]:
    """Where each item begins in the text, behind the one before it; None where it isn't found."""
    places: list[int | None] = []
    for item in items:
        place = text.find(item, start)
        places.append(None if place < 0 else place)
        start = start if place < 0 else place + len(item)
    return places
