"""Lists without anything below their items, read line by line without the walk.

Many answers are a few sentences, items marked alike without a line between them, and sentences
again; or several such lists, each below a heading or a line with a colon. Whatever might be more (a
table, an indented line, text between items, signs that another step reads) is left to the walk,
which reads these answers the same way.
"""

from __future__ import annotations

import re

from .parse_elements import Block, is_label, settle_asides, settle_sections
from .parse_lines import Line, read_line
from .parse_result import Parsed, quick_element, quick_parsed
from .parse_runs import label_of
from .parse_text import clean, head_of
from .records import Element

__all__ = ["read_flat"]

_END = "<|endoftext|>"
_NUMBER = re.compile(r"(\d{1,3})([.)、])(?:[ \t]+|(?=[^\s\d.)、。-]))(?=\S)")
_SIGN = re.compile(
    r"([-–•·・●▪])(?:([ \t]+)|(?=[^\W\d_]|[\"'“‘「『《]))(?=[^\s\[☐☑☒])|([*+])[ \t]+(?=[^\s\[☐☑☒])"
)
_SIGNS = frozenset("-–•·・●▪*+")
_OPENING = frozenset("\"'“‘«„(（¿¡「『《【")
_UNSURE = re.compile(r"[IVXLCivxlc]{1,7}[.)]|o\s|.[.)]|[一二三四五六七八九十百]")
_INNER = re.compile(r"\*{0,2}\d{1,3}[.)]")


class _Flat:
    """The lists so far, and the lines around them."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.words: list[list[str]] = []  # what each block's items say
        self.style = ""
        self.number = 0
        self.spaced = True
        self.open = False
        self.heading: str | None = None
        self.pending: list[str] = []
        self.between: list[str] = []
        self.preamble: list[str] = []
        self.gap = False
        self.lead_apart = False  # whether a blank line stood before the last pending one
        self.labels = 0

    def marked(self, line: str, start: int) -> bool:
        """Take a line that begins as a marked one does; False where it may be another thing."""
        numbered = line[0] not in _SIGNS
        match = (_NUMBER if numbered else _SIGN).match(line)
        if match is None:
            return not numbered and self._unmarked(line)
        if numbered:
            style, number = match[2], int(match[1])
        else:
            style, number = line[0], 0
            if match[2] is None and match[3] is None:
                self.spaced = False
        if not self.open or self.pending or self.heading is not None or style != self.style:
            if self.open and not self._opens(style, number, numbered):
                return False
            self._open("numbered" if numbered else "bullet")
        self.style, self.number = style, number
        self.words[-1].append(line[match.end() :].rstrip())
        self.blocks[-1].starts.append(start + match.end())
        self.gap = False
        return True

    def _opens(self, style: str, number: int, numbered: bool) -> bool:
        """Whether a marked line below another list surely opens a new one."""
        if self.heading is not None:
            return True
        if not self.pending or self.pending[-1][-1] not in ":：":
            return False
        if style != self.style:
            return numbered and self.style in _SIGNS
        if not numbered or number not in (self.number, self.number + 1):
            return True
        if is_label(clean(self.pending[-1])):
            return self.lead_apart or not self.gap
        return self.lead_apart and not self.gap

    def _open(self, marker: str) -> None:
        block = Block(marker, "numbers" if marker == "numbered" else "bullets")
        if self.heading is not None:
            block.section = clean(self.heading.strip().strip("# "))
        elif self.pending and self.pending[-1][-1] in ":：":
            block.lead = Line("plain", self.pending.pop())
        if not self.blocks:
            self.preamble = self.between
            if self.heading is None or not self.between:
                self.preamble = self.between + self.pending
        self.blocks.append(block)
        self.words.append([])
        self.between, self.pending, self.heading = [], [], None
        self.open = True

    def _unmarked(self, line: str) -> bool:
        """Take a heading, a rule, or text in italics."""
        read = read_line(line)
        if read.kind == "rule":
            self.gap = True
            return True
        if read.kind == "plain" and line[0] in "*_":
            return self._text(line)
        if read.kind != "heading" or read.style == "#1":
            return False
        self.set_aside()
        self.heading = line.strip()
        self.gap = False
        self.open = False
        return True

    def plain(self, line: str) -> bool:
        """Take a line of text, or a heading; False where it may be another thing."""
        first = line.lstrip()[0]
        if first in "#_":
            return self._unmarked(line)
        if first.isalpha():
            return _UNSURE.match(line.lstrip()) is None and self._text(line)
        return first in _OPENING and read_line(line).kind == "plain" and self._text(line)

    def _text(self, line: str) -> bool:
        """Take a line of text."""
        bare = line.strip()
        if self.open:
            if line[0].isspace():
                return False
            if not self.gap and not self.pending and self.words[-1][-1][-1] in ",，":
                return False
        if bare[-1] in "*_ " and bare.rstrip("*_ ")[-1:] in (":", "："):
            return False
        self.labels += label_of(bare) is not None
        self.pending.append(bare)
        self.lead_apart = self.gap
        self.gap = False
        return True

    def set_aside(self) -> None:
        """Keep what waited as text that heads no list."""
        if self.heading is not None:
            self.between.append(self.heading)
        self.between += self.pending
        self.heading, self.pending = None, []


def read_flat(answer: str) -> Parsed | None:
    """The answer, which holds no odd sign, as read; None where it may be of another form."""
    text = answer[: -len(_END)] if answer.endswith(_END) else answer
    if "<" in text or "|" in text or "\\" in text or "```" in text or "~~~" in text:
        return None
    flat = _Flat()
    start = 0
    for line in text.split("\n"):
        first = line[:1]
        if first.isdecimal() or first in _SIGNS:
            taken = flat.marked(line, start)
        elif not first or not line.strip():
            flat.gap = True
            taken = True
        else:
            taken = flat.plain(line)
        if not taken:
            return None
        start += len(line) + 1
    if sum(map(len, flat.words)) < 2 or flat.labels > 1:
        return None
    if len(flat.blocks) > 1 and not flat.spaced:
        return None
    return _parsed(flat)


def _parsed(flat: _Flat) -> Parsed | None:
    blocks, preamble = flat.blocks, flat.preamble
    flat.set_aside()
    settle_sections(blocks, preamble)
    elements: list[Element] = []
    starts: list[int | None] = []
    doubled = 0
    for block, words in zip(blocks, flat.words, strict=True):
        doubled += block.marker == "bullet" and _INNER.match(words[0]) is not None
        for word in words:
            text = clean(word)
            if not text:
                return None
            block.elements.append(quick_element(text, head_of(word, text), block.section))
        starts += block.starts
    if doubled:
        return None  # "- 1. …": both may be the marker
    settle_asides(blocks)
    for block in blocks:
        if block.aside:
            block.elements = [
                Element(one.text, (), (), one.head, one.section, True) for one in block.elements
            ]
        elements += block.elements
    first = next(block for block in blocks if not block.aside)
    return quick_parsed(
        tuple(elements),
        "\n".join(preamble),
        "\n".join(flat.between),
        first.marker,
        first.rule,
        tuple(starts),
    )
