"""List blocks: which marked lines are elements, which their attributes, what stands around them.

The lines are walked once. Each marked line either opens a block, is a further item of the open
block, or an attribute of the item above; unmarked lines wait until the next marked line (or the
end) shows whether they continue the item, head the next block, or belong to neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .parse_lines import Line
from .parse_table import read_table
from .parse_text import clean, head_of, key_value, strip_quotes
from .records import Element

__all__ = ["Block", "Lists", "read_blocks"]


@dataclass(slots=True)
class Sub:
    """A line under an item: ``deep`` if it hangs below another one."""

    line: Line
    content: list[str]
    deep: bool = False


@dataclass(slots=True)
class Top:
    """One item: its marked line, the lines that continue it, the lines under it."""

    line: Line
    content: list[str]
    subs: list[Sub] = field(default_factory=list)
    continued: int = 0


@dataclass(slots=True)
class Block:
    """Items without a break, the line that heads them, and what they are."""

    marker: str
    rule: str
    tops: list[Top] = field(default_factory=list)
    section: str | None = None
    lead: Line | None = None
    elements: list[Element] = field(default_factory=list)
    aside: bool = False


@dataclass(slots=True)
class Lists:
    """All blocks of an answer, and the text before and after them."""

    blocks: list[Block]
    preamble: list[str]
    trailer: list[str]


def read_blocks(lines: list[Line]) -> Lists | None:
    """The list blocks of an answer; None where no line is an item."""
    walk = _Walk(lines)
    walk.run()
    blocks = [block for block in walk.blocks if block.tops or block.elements]
    if not blocks:
        return None
    _settle_sections(blocks, walk.preamble)
    for block in blocks:
        if not block.elements:
            block.elements = [e for top in block.tops if (e := _element(top)) is not None]
            if any(element.attributes for element in block.elements):
                block.marker = "nested"
    blocks = [block for block in blocks if block.elements]
    if not blocks:
        return None
    _settle_asides(blocks)
    return Lists(blocks, walk.preamble, walk.trailer)


class _Walk:
    """One pass over the lines."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self.blocks: list[Block] = []
        self.preamble: list[str] = []
        self.trailer: list[str] = []
        self.block: Block | None = None
        self.item: Top | None = None
        self.pending: list[tuple[Line, bool]] = []  # unmarked lines, with "a blank stood before"
        self.headings: list[Line] = []
        self.gap = False
        self.follower = _followers(lines)

    def run(self) -> None:
        lines = self.lines
        numbered_headings = _numbered_headings(lines)
        at = 0
        while at < len(lines):
            line = lines[at]
            if line.kind == "blank":
                self.gap = True
            elif line.kind == "rule":
                self.gap = True
            elif line.kind == "row":
                at = self._table(at)
                continue
            elif line.kind == "heading" and at in numbered_headings:
                at = self._heading_item(at, numbered_headings[at])
                continue
            elif line.kind == "heading":
                self._close()
                self.headings.append(line)
                self.gap = False
            elif line.kind == "marked":
                self._marked(at, line)
                self.gap = False
            else:
                if self.headings:
                    # Prose below a heading: the heading still names the block that follows.
                    self.pending.append((line, True))
                else:
                    self.pending.append((line, self.gap))
                self.gap = False
            at += 1
        self._finish()

    # What a marked line is

    def _marked(self, at: int, line: Line) -> None:
        item = self.item
        if self.block is None or item is None or not self.block.tops:
            self._open(at, line)
            return
        if self._is_sub(line, item):
            self._continue()
            self._add_sub(line, item)
        elif self._is_next(line, item):
            self._continue()
            self._add_top(line)
        else:
            self._close()
            self._open(at, line)

    def _is_sub(self, line: Line, item: Top) -> bool:
        above = item.line
        direct = not self.gap and not any(gap for _, gap in self.pending)
        deeper = line.indent >= above.indent + 2
        last = item.subs[-1].line if item.subs else None
        if self._headed(line) and not self._goes_on(item):
            return False
        if line.style == "1.1":
            return above.number is not None
        if line.style == above.style:
            if line.number is None:
                return deeper
            if not deeper:
                return False
            follows = line.number == (above.number or 0) + 1
            among = last is not None and last.style == line.style
            return among or not follows
        if deeper:
            return True
        if last is not None and last.style == line.style and not self.pending:
            return True
        if above.number is not None:
            return direct or self._goes_on(item)
        if line.number is None:
            return direct and self._goes_on(item)  # another bullet sign below this one
        return False

    def _headed(self, line: Line) -> bool:
        """Whether an unindented line with a colon stands directly above."""
        if not self.pending:
            return False
        above = self.pending[-1][0]
        return above.indent < 2 and _is_colon_line(above)

    def _goes_on(self, item: Top) -> bool:
        """Whether the numbering (or the bullets) of the item above goes on further below."""
        return self.follower.get(id(item.line), False)

    def _is_next(self, line: Line, item: Top) -> bool:
        above = item.line
        if line.style == above.style and line.number is not None:
            if not self.pending or line.number in (above.number, (above.number or 0) + 1):
                return True
            return False  # starts again below some text
        if line.number is not None or above.number is not None:
            return False
        if not self.pending:
            return True
        if self._headed(line):
            return False
        if not self.pending[0][1] or self.pending[0][0].indent > above.indent:
            return True
        tops = self.block.tops if self.block else []
        return len(tops) == 1 or any(top.continued for top in tops[:-1])

    # Building

    def _open(self, at: int, line: Line) -> None:
        block = Block(_marker(line), _rule(line))
        lead = self.pending[-1][0] if self.pending and _is_colon_line(self.pending[-1][0]) else None
        if lead is not None and not self.headings:
            self.pending.pop()
            block.lead = lead
        if self.headings:
            block.section = clean(self.headings[-1].text.strip().lstrip("#").strip("# "))
        self._spill([heading.text for heading in self.headings[:-1]])
        self.blocks.append(block)
        self.block = block
        self._add_top(line)

    def _spill(self, headings: list[str]) -> None:
        """What waited and belongs to no block: preamble before the first, else dropped."""
        if not self.blocks:
            self.preamble += headings
            self.preamble += [line.text for line, _ in self.pending]
        self.pending = []
        self.headings = []

    def _add_top(self, line: Line) -> None:
        if self.block is None:
            return
        self.item = Top(line, [line.content])
        self.block.tops.append(self.item)

    def _add_sub(self, line: Line, item: Top) -> None:
        shallow = next((sub for sub in reversed(item.subs) if not sub.deep), None)
        deep = shallow is not None and line.indent >= shallow.line.indent + 2
        item.subs.append(Sub(line, [line.content], deep))

    def _continue(self) -> None:
        """The waiting lines stand between two lines of one block: they continue the upper one."""
        if self.item is not None and self.pending:
            texts = [line.text.strip() for line, _ in self.pending if line.kind == "plain"]
            if self.item.subs:
                self.item.subs[-1].content += texts
            else:
                self.item.content += texts
                if not self.pending[0][1]:
                    self.item.continued = len(texts)
        self.pending = []

    def _close(self) -> None:
        """The block ends: lines that still belong to its last item go there."""
        item, block = self.item, self.block
        if item is not None and block is not None and block.tops:
            usual = max((top.continued for top in block.tops[:-1]), default=0)
            taken = 0
            for line, gap in self.pending:
                if line.kind != "plain":
                    break
                under = line.indent > item.line.indent + (1 if gap else 0)
                comma = taken == 0 and not gap and item.content[-1].rstrip().endswith((",", "，"))
                if not (under or comma or (not gap and taken < usual)):
                    break
                target = item.subs[-1].content if item.subs else item.content
                target.append(line.text.strip())
                taken += 1
            self.pending = self.pending[taken:]
        self.block = None
        self.item = None

    def _finish(self) -> None:
        self._close()
        rest = [line.text for line in self.headings] + [line.text for line, _ in self.pending]
        if self.blocks:
            self.trailer = [text.strip() for text in rest if text.strip()]
        else:
            self.preamble += rest
        self.preamble = [text.strip() for text in self.preamble if text.strip()]

    # Other blocks

    def _table(self, start: int) -> int:
        end = start
        while end < len(self.lines) and self.lines[end].kind == "row":
            end += 1
        elements = read_table([line.text for line in self.lines[start:end]])
        if elements is None:
            for line in self.lines[start:end]:
                line.kind = "plain"
            return start
        self._close()
        block = Block("table", "table", elements=elements)
        if self.headings:
            block.section = clean(self.headings[-1].text.strip().lstrip("#").strip("# "))
        elif self.pending and _is_colon_line(self.pending[-1][0]):
            block.lead = self.pending.pop()[0]
        self._spill([heading.text for heading in self.headings[:-1]])
        self.blocks.append(block)
        self.gap = False
        return end

    def _heading_item(self, start: int, end: int) -> int:
        """A numbered heading that is an element: what hangs below it are its attributes."""
        heading = self.lines[start]
        item = Top(heading, [heading.content])
        for line in self.lines[start + 1 : end]:
            if line.kind not in ("marked", "plain"):
                continue
            content = line.content if line.kind == "marked" else line.text.strip()
            if line.kind == "marked" or key_value(clean(content))[0]:
                item.subs.append(Sub(line, [content], bool(item.subs) and line.indent >= 2))
            elif item.subs:
                item.subs[-1].content.append(content)
            else:
                item.content.append(content)
        if self.block is None or not self.block.tops or self.block.tops[-1].line.style != "#1":
            self._close()
            self._spill([line.text for line in self.headings])
            self.block = Block("numbered", "numbered headings")
            self.blocks.append(self.block)
        self.block.tops.append(item)
        self.item = None
        self.pending = []
        self.gap = False
        return end


def _followers(lines: list[Line]) -> dict[int, bool]:
    """For each marked line, whether its list goes on below it, before the next heading."""
    next_number: dict[str, int] = {}
    seen: set[tuple[str, int]] = set()
    out: dict[int, bool] = {}
    for line in reversed(lines):
        if line.kind == "heading":
            next_number.clear()
            seen.clear()
        if line.kind != "marked":
            continue
        if line.number is None:
            out[id(line)] = (line.style, line.indent) in seen
            seen.add((line.style, line.indent))
        else:
            following = next_number.get(line.style)
            out[id(line)] = following is not None and following in (line.number, line.number + 1)
            next_number[line.style] = line.number
    return out


def _numbered_headings(lines: list[Line]) -> dict[int, int]:
    """Numbered headings that are elements, with the line where what hangs below them ends.

    They are if there are two at least and what hangs below is ``key: value`` or prose; plain items
    below make them sections.
    """
    heads = [at for at, line in enumerate(lines) if line.kind == "heading"]
    numbered = [at for at in heads if lines[at].style == "#1"]
    if len(numbered) < 2:
        return {}
    ends = dict(zip(heads, [*heads[1:], len(lines)], strict=True))
    found: dict[int, int] = {}
    plain_items = 0
    for at in numbered:
        end = ends[at]
        below = lines[at + 1 : end]
        if end == len(lines):
            end = at + 1 + _hanging(below)
            below = lines[at + 1 : end]
        marked = [line for line in below if line.kind == "marked"]
        keyed = [line for line in marked if key_value(clean(line.content))[0]]
        plain_items += bool(marked) and 2 * len(keyed) < len(marked)
        found[at] = end
    return {} if 2 * plain_items > len(numbered) else found


def _hanging(below: list[Line]) -> int:
    """How many lines after the last numbered heading still hang below it: one run of text."""
    end = 0
    gap = False
    for at, line in enumerate(below):
        if line.kind == "blank" or line.kind == "rule":
            gap = True
            continue
        if gap and end and line.kind == "plain" and not key_value(clean(line.content))[0]:
            break
        end = at + 1
        gap = False
    return end


def _marker(line: Line) -> str:
    return "bullet" if line.number is None else "numbered"


_RULES = {"label": "running label", "emoji": "emoji", "keycap": "numbers", "①": "numbers"}


def _rule(line: Line) -> str:
    if line.style in _RULES:
        return _RULES[line.style]
    if line.number is None:
        return "bullets"
    if line.style[0] in "Ii":
        return "Roman numerals"
    return "letters" if line.style[0] in "Aa" else "numbers"


def _is_colon_line(line: Line) -> bool:
    return line.kind == "plain" and line.text.rstrip().rstrip("*_ ").endswith((":", "："))


# Sections

_SENTENCE_END = re.compile(
    r"\b(?:are|is|were|was|be|includ\w+|as|follow\w*|of|by|for|here|below|list|sind|ist|son|sont|"
    r"sono|like|contain\w*|have|has|example)\W*$",
    re.I,
)


def _settle_sections(blocks: list[Block], preamble: list[str]) -> None:
    """A line with a colon above a block: section or preamble."""
    for at, block in enumerate(blocks):
        lead = block.lead
        if lead is None:
            continue
        label = clean(lead.text)
        short = len(label) <= 60 and len(label.split()) <= 6 and not re.search(r"[,.!?，。]", label)
        if at == 0 and (len(blocks) == 1 or not short or _SENTENCE_END.search(label)):
            preamble.append(lead.text.strip())
        else:
            block.section = label


# Asides

_COMMENT = re.compile(
    r"(?:why\b|how (?:to|these|this)|what to do|what this means|(?:key|important|additional|other)?"
    r" ?(?:notes?|takeaways?|tips?|points? to (?:note|remember))\b|nota bene|summary|conclusion|"
    r"disclaimer|sources?\b|references?\b|reasoning|explanations?\b|next steps|further reading|"
    r"advice|warum|hinweise?\b|tipps\b|zusammenfassung|quellen|pourquoi|remarques?\b|conseils\b|"
    r"por qué|notas?\b|consejos\b|resumen|примечани|为什么|注意|说明|小贴士|総括|注意点)",
    re.I,
)
_ANSWER = re.compile(
    r"(?:(?:my |the )?final (?:answer|list)|answers?|antwort|réponse|respuesta|risposta|ответ|答案|"
    r"最终答案|回答)\b",
    re.I,
)


def _settle_asides(blocks: list[Block]) -> None:
    """Mark the blocks that comment on the answer, as long as one block is left."""
    if len(blocks) < 2:
        return
    answers = [b for b in blocks if b.section is not None and _ANSWER.match(b.section)]
    if answers:
        found = [block for block in blocks if block not in answers]
    else:
        found = [
            block
            for at, block in enumerate(blocks)
            if (at > 0 and block.section is not None and _COMMENT.match(block.section))
            or all(element.text.rstrip().endswith(("?", "？")) for element in block.elements)
        ]
    if len(found) < len(blocks):
        for block in found:
            block.aside = True


# Elements


def _element(top: Top) -> Element | None:
    raw = " ".join(part for part in top.content if part)
    text = clean(raw)
    attributes = _attributes(top.subs)
    if not text:
        return None
    if top.line.style == "label":
        text = clean(" ".join([top.line.text.strip(), *top.content[1:]]))
        head: str | None = head_of(top.line.text, text)
    elif len(top.content) > 1:
        head = head_of(top.content[0], clean(top.content[0])) or clean(top.content[0])
    else:
        head = head_of(top.content[0], text)
    return Element(text, attributes=attributes, head=head)


def _attributes(subs: list[Sub]) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    parent = ""
    for at, sub in enumerate(subs):
        raw = " ".join(sub.content)
        text = clean(raw)
        if not text:
            continue
        if sub.deep:
            pairs.append((parent, strip_quotes(text)))
            continue
        key, value = key_value(text)
        bare = raw.rstrip().rstrip("*_ ").endswith((":", "："))
        has_deep = at + 1 < len(subs) and subs[at + 1].deep
        parent = key or text
        if has_deep and bare and not key:
            continue
        if bare and not key:
            pairs.append((text, ""))
        else:
            pairs.append((key, value))
    return tuple(pairs)
