"""List blocks: which marked lines are elements, which their attributes, what stands around them.

The lines are walked once. Each marked line either opens a block, is a further item of the open
block, or an attribute of the item above; unmarked lines wait until the next marked line (or the
end) shows whether they continue the item, head the next block, or belong to neither.
"""

from __future__ import annotations

from dataclasses import dataclass

from .parse_courtesy import closes
from .parse_elements import (
    Block,
    Sub,
    Top,
    comments,
    element_of,
    is_label,
    settle_asides,
    settle_sections,
)
from .parse_lines import Line
from .parse_table import read_table
from .parse_text import clean, key_value

__all__ = ["Lists", "read_blocks"]


@dataclass(slots=True)
class Lists:
    """All blocks of an answer, and the text before and after them."""

    blocks: list[Block]
    preamble: list[str]
    trailer: list[str]


def read_blocks(lines: list[Line]) -> Lists | None:
    """The list blocks of an answer; None where no line is an item."""
    if not any([line.kind == "marked" or line.kind == "row" or line.style for line in lines]):
        return None
    walk = _Walk(lines)
    walk.run()
    blocks = [block for block in walk.blocks if block.tops or block.elements]
    if not blocks:
        return None
    settle_sections(blocks, walk.preamble)
    for block in blocks:
        if not block.elements:
            for top in block.tops:
                element = element_of(top, block.section)
                if element is not None:
                    block.elements.append(element)
                    block.starts.append(top.line.content_start)
    blocks = [block for block in blocks if block.elements]
    if not blocks:
        return None
    settle_asides(blocks)
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
        self.heading: Line | None = None
        self.between: list[str] = []  # texts since the last block that head nothing so far
        self.gap = False
        self.follower: dict[int, bool] | None = None

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
                self._set_aside()
                self.heading = line
                self.gap = False
            elif line.kind == "marked":
                self._marked(line)
                self.gap = False
            else:
                self.pending.append((line, self.gap))
                self.gap = False
            at += 1
        self._finish()

    # What a marked line is

    def _marked(self, line: Line) -> None:
        item = self.item
        if self.block is None or item is None or not self.block.tops:
            self._open(line)
            return
        if self._is_sub(line, item):
            self._continue()
            self._add_sub(line, item)
        elif self._is_next(line, item):
            self._continue()
            self._add_top(line)
        else:
            self._close()
            self._open(line)

    def _is_sub(self, line: Line, item: Top) -> bool:
        above = item.line
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
        direct = not self.gap and not any([gap for _, gap in self.pending])
        if above.number is not None:
            return direct or self._goes_on(item) or self._usual_below(line)
        if line.number is None:
            return direct and (
                self._goes_on(item) or self._usual_below(line)
            )  # another bullet sign below this one
        return False

    def _usual_below(self, line: Line) -> bool:
        """Whether an earlier item of the block has lines of this style below it."""
        tops = self.block.tops if self.block and not self.pending else []
        return any(sub.line.style == line.style for top in tops[-3:] for sub in top.subs)

    def _headed(self, line: Line) -> bool:
        """Whether a line with a colon, not indented under the item, stands directly above."""
        if not self.pending:
            return False
        above = self.pending[-1][0]
        shallow = above.indent < (self.item.line.indent if self.item is not None else 0) + 2
        return shallow and _is_colon_line(above)

    def _sectioned(self, line: Line) -> bool:
        """Whether the line with a colon above heads a further section ("4. Sam", "Men:", "5. …").

        A long one only between a blank line and the item: else it belongs to the item above.
        """
        if not self._headed(line):
            return False
        lead, apart = self.pending[-1]
        if is_label(clean(lead.text)):
            return apart or not self.gap
        return apart and not self.gap

    def _goes_on(self, item: Top) -> bool:
        """Whether the numbering (or the bullets) of the item above goes on further below."""
        if self.follower is None:
            self.follower = _followers(self.lines)
        return self.follower.get(id(item.line), False)

    def _is_next(self, line: Line, item: Top) -> bool:
        above = item.line
        if line.style == above.style and line.number is not None:
            if self._sectioned(line):
                return False
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

    def _open(self, line: Line) -> None:
        block = Block(_marker(line), _rule(line))
        self._head(block)
        self.block = block
        self._add_top(line)

    def _head(self, block: Block) -> None:
        """Start a block below what waited: its heading, its line with a colon, other text."""
        if self.heading is not None:
            block.section = clean(self.heading.text.strip().strip("# "))
        elif self.pending and _is_colon_line(self.pending[-1][0]):
            block.lead = self.pending.pop()[0]
        elif self.pending and (above := self.pending[-1][0].text.strip())[-1:] in "?？":
            block.asked = comments(above)
        if not self.blocks:
            self.preamble = self.between
            if self.heading is None or not self.between:
                # Else the text below the heading only leads in to its section.
                self.preamble += [line.text for line, _ in self.pending]
        self.blocks.append(block)
        self.between, self.pending, self.heading = [], [], None

    def _set_aside(self) -> None:
        """Keep what waited, in its order, as text that heads no block."""
        if self.heading is not None:
            self.between.append(self.heading.text)
        self.between += [line.text for line, _ in self.pending]
        self.heading, self.pending = None, []

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
                elif len(texts) == len(self.pending):
                    self.item.apart = len(texts)
        self.pending = []

    def _close(self) -> None:
        """The block ends: lines that still belong to its last item go there."""
        item, block = self.item, self.block
        if self.pending and item is not None and block is not None and block.tops:
            usual = max((top.continued for top in block.tops[:-1]), default=0)
            apart = min((top.apart for top in block.tops[:-1]), default=0)
            taken = 0
            for line, gap in self.pending:
                if line.kind != "plain":
                    break
                under = line.indent > item.line.indent + (1 if gap else 0)
                comma = taken == 0 and not gap and item.content[-1].rstrip().endswith((",", "，"))
                if not (under or comma or taken < (apart if gap else usual)):
                    break
                if not under and closes(line.text.strip()):
                    break
                target = item.subs[-1].content if item.subs else item.content
                target.append(line.text.strip())
                taken += 1
            self.pending = self.pending[taken:]
        self.block = None
        self.item = None

    def _finish(self) -> None:
        self._close()
        self._set_aside()
        if self.blocks:
            self.trailer = [text.strip() for text in self.between if text.strip()]
        self.preamble = [text.strip() for text in self.preamble if text.strip()]

    # Other blocks

    def _table(self, start: int) -> int:
        end = start
        while end < len(self.lines) and self.lines[end].kind == "row":
            end += 1
        found = read_table([line.text for line in self.lines[start:end]])
        if found is None:
            for line in self.lines[start:end]:
                line.kind = "plain"
            return start
        self._close()
        starts: list[int | None] = [self.lines[start + at].start + by for at, by in found[1]]
        self._head(Block("table", "table", elements=found[0], starts=starts))
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
            self._set_aside()
            self.block = Block("numbered", "numbered headings")
            self._head(self.block)
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
    numbered = [at for at, line in enumerate(lines) if line.style == "#1"]
    if len(numbered) < 2:
        return {}
    heads = [at for at, line in enumerate(lines) if line.kind == "heading"]
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
        if end and line.kind == "plain" and not key_value(clean(line.content))[0]:
            if gap or closes(line.text.strip()):
                break
        end = at + 1
        gap = False
    return end


def _marker(line: Line) -> str:
    return "bullet" if line.number is None else "numbered"


_RULES = {"label": "running label", "emoji": "emoji"}


def _rule(line: Line) -> str:
    if line.style in _RULES:
        return _RULES[line.style]
    if line.number is None:
        return "bullets"
    if line.style[0] in "IiⅠⅰ":
        return "Roman numerals"
    return "letters" if line.style[0] in "Aa" else "numbers"


def _is_colon_line(line: Line) -> bool:
    return line.kind == "plain" and line.text.rstrip().rstrip("*_ ").endswith((":", "："))
