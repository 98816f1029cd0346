"""What becomes of a list block: its elements, its section, whether it comments on the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .parse_lines import Line
from .parse_result import quick_element
from .parse_text import clean, head_of, key_value, strip_quotes
from .records import Element

__all__ = [
    "Block",
    "Sub",
    "Top",
    "comments",
    "element_of",
    "is_label",
    "settle_asides",
    "settle_sections",
]


@dataclass(slots=True)
class Sub:
    """A line under an item: ``deep`` if it hangs below another one."""

    line: Line
    content: list[str]
    deep: bool = False


@dataclass(slots=True)
class Top:
    """One item: its marked line, the lines that continue it, the lines under it.

    ``continued`` lines follow directly, ``apart`` ones behind a blank line.
    """

    line: Line
    content: list[str]
    subs: list[Sub] = field(default_factory=list)
    continued: int = 0
    apart: int = 0


@dataclass(slots=True)
class Block:
    """Items without a break, the line that heads them, and what they are."""

    marker: str
    rule: str
    tops: list[Top] = field(default_factory=list)
    section: str | None = None
    lead: Line | None = None
    elements: list[Element] = field(default_factory=list)
    starts: list[int | None] = field(default_factory=list)
    aside: bool = False
    asked: bool = False  # a plain line above it asks: "Why these tracks?"


# Sections

_SENTENCE_END = re.compile(
    r"\b(?:are|is|were|was|be|includ\w+|as|follow\w*|of|by|for|here|below|list|sind|ist|son|sont|"
    r"sono|like|contain\w*|have|has|example)\W*$",
    re.I,
)


def settle_sections(blocks: list[Block], preamble: list[str]) -> None:
    """A line with a colon above a block: section or preamble."""
    for at, block in enumerate(blocks):
        lead = block.lead
        if lead is None:
            continue
        label = clean(lead.text)
        if at == 0 and (len(blocks) == 1 or not is_label(label) or _SENTENCE_END.search(label)):
            preamble.append(lead.text.strip())
        else:
            block.section = label


def is_label(text: str) -> bool:
    """Whether a line that heads items is a short label rather than a sentence."""
    return len(text) <= 60 and len(text.split()) <= 6 and not re.search(r"[,.!?，。]", text)


# Asides

_COMMENT = re.compile(
    r"(?:why\b|how (?:to|these|this)|what to do|what this means|(?:key|important|additional|other)?"
    r" ?(?:notes?|takeaways?|tips?|points? to (?:note|remember))\b|nota bene|summary|conclusion|"
    r"disclaimer|sources?\b|references?\b|reasoning|explanations?\b|next steps|further reading|"
    r"advice|(?:here are )?(?:some|a few) (?:tips|notes)\b|"
    r"warum|hinweise?\b|tipps\b|zusammenfassung|quellen|pourquoi|remarques?\b|conseils\b|"
    r"por qué|notas?\b|consejos\b|resumen|примечани|为什么|注意|说明|小贴士|総括|注意点)",
    re.I,
)
_ANSWER = re.compile(
    r"(?:(?:my |the )?final (?:answer|list)|answers?|antwort|réponse|respuesta|risposta|ответ|答案|"
    r"最终答案|回答)\b",
    re.I,
)


def comments(line: str) -> bool:
    """Whether a line above a block says that it comments on the answer."""
    return _COMMENT.match(line) is not None


def settle_asides(blocks: list[Block]) -> None:
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
            if (at > 0 and block.asked)
            or (at > 0 and block.section is not None and _COMMENT.match(block.section))
            or all(element.text.rstrip().endswith(("?", "？")) for element in block.elements)
        ]
    if len(found) < len(blocks):
        for block in found:
            block.aside = True


# Elements


def element_of(top: Top, section: str | None) -> Element | None:
    """The element of an item; None where nothing is left of it."""
    content = top.content
    text = clean(content[0] if len(content) == 1 else " ".join([part for part in content if part]))
    attributes = _attributes(top.subs) if top.subs else ()
    if not text:
        return None
    if top.line.style == "label":
        text = clean(" ".join([top.line.text.strip(), *top.content[1:]]))
        head: str | None = head_of(top.line.text, text)
    elif len(top.content) > 1:
        head = head_of(top.content[0], clean(top.content[0])) or clean(top.content[0])
    else:
        head = head_of(top.content[0], text)
    return quick_element(text, head, section, attributes)


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
