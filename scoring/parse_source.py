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

__all__ = ["Source", "find_in_order", "on_lines", "source_of"]


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
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x85\u200b\u2028\u2029\u2060\ufeff]")
_BREAK_TAG = re.compile(r"<br\s{0,3}/?>", re.I)
_BLOCK_TAG = re.compile(r"</?(?:p|div)(?:\s[^<>]{0,300})?>", re.I)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def source_of(answer: str) -> Source:
    """The text of an answer to read."""
    source = Source(answer, range(len(answer) + 1))
    if _UNSEEN.search(answer):
        source = source.replace(_BREAKS, "\n").replace(_UNSEEN, "")
    if _SURROGATE.search(answer):
        # Half a character: no file or database can hold it.
        source = Source(_SURROGATE.sub("\ufffd", source.text), source.places)
    if "<" in answer:
        source = _without_reasoning(source).replace(_CONTROL, "")
        if "<br" in answer and "|" not in answer:
            source = source.replace(_BREAK_TAG, "\n")
        if "<p" in answer or "<div" in answer:
            source = source.replace(_BLOCK_TAG, "\n")
    if "\\n" in answer:
        source = source.replace(_LITERAL_BREAK, "\n")
    return source


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
    r"(?:(?<=\s)|^)[(]?(\d{1,2})(?:[.)]\s|、)|(?:(?<=[；，、。：])|^)（(\d{1,2})）"
)
_CIRCLED = re.compile("[①-⑳]")
_LETTERED = re.compile(r"(?:(?<=\s)|^)[(]?([a-z])\)\s")
_LINKING = re.compile(r"\s*[,;，；、]?\s*(?:\b(?:and|or|und|oder|et|y|e|и)|和|以及)$|[,;，；、]$")
_DOTS = re.compile(r"\s[•·●▪]\s")


def on_lines(source: Source) -> Source:
    """A list written on one line, "1. A 2. B 3. C" or "• A • B", with a line for each item."""
    text = source.text
    starts: list[int] = []
    for match in _RUNNING.finditer(text):
        if int(match[1] or match[2]) == len(starts) + 1:
            starts.append(match.start())
    if len(starts) < 3:
        starts.clear()
        for match in _CIRCLED.finditer(text):
            if ord(match[0]) == ord("①") + len(starts):
                starts.append(match.start())
    if len(starts) < 3:
        starts.clear()
        for match in _LETTERED.finditer(text):
            if ord(match[1]) == ord("a") + len(starts):
                starts.append(match.start())
    if len(starts) < 3:
        lead = _DOTS.split(text, maxsplit=1)[0].strip()
        if not lead.startswith(("•", "●", "▪")) and not (
            lead.endswith((":", "：")) and len(_DOTS.findall(text)) > 1
        ):
            return source
        starts = [match.start() + 1 for match in _DOTS.finditer(text)]
    bounds = [0, *starts, len(text)]
    led = bool(text[: bounds[1]].strip())
    pieces: list[tuple[int, int | None]] = []
    for at, (start, end) in enumerate(zip(bounds, bounds[1:], strict=False)):
        piece = text[start:end]
        start += len(piece) - len(piece.lstrip())
        piece = piece.strip()
        if led and at:  # a sentence around the items: "(1) Rome, (2) Oslo, and (3) Bern."
            piece = _LINKING.sub("", piece)
            if at == len(bounds) - 2 and piece.count(".", 3) == 1:
                piece = piece.removesuffix(".")
        pieces.append((start, start + len(piece)))
    return source.keep(pieces, "\n")


def find_in_order(items: Iterable[str], text: str, start: int = 0) -> list[int | None]:
    """Where each item begins in the text, behind the one before it; None where it isn't found."""
    places: list[int | None] = []
    for item in items:
        place = text.find(item, start)
        places.append(None if place < 0 else place)
        start = start if place < 0 else place + len(item)
    return places
