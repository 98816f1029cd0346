"""Reads an answer's text as a list of elements, and says which rule fired.

A parser sees the text only, never the question. In this order: JSON, HTML, marked lines (numbers,
letters, bullets, tables, with attributes below), plain lines, a one-line enumeration, one bare
answer, prose (no elements). Each step is one pass over the text, so the time is linear in it.

===============  ================================================================================
``marker``       kind of the first block that is not aside
===============  ================================================================================
``numbered``     numbers, letters, Roman numerals, running labels ("Day 1:"), numbered headings
``bullet``       bullets, check boxes, emoji
``nested``       numbered or bulleted elements of which at least one has attributes
``table``        a Markdown table
``delimiter``    a one-line enumeration
``json``         a JSON or Python list, or a list that came as data
``html``         ``<li>`` elements
``none``         plain lines, one bare answer, or nothing
``prose``        sentences: no elements
===============  ================================================================================
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InputError
from .parse_blocks import read_blocks
from .parse_data import DataList, read_html, read_json, read_json_in_text
from .parse_inline import first_sentence, read_enumeration
from .parse_lines import Line
from .parse_quick import read_quick
from .parse_runs import read_lines
from .parse_text import clean, head_of, plain
from .records import Element
from .refusal import refuses

__all__ = ["PARSER", "Parsed", "parse", "plain", "read_reference"]

PARSER = "accord-list-1"
"""Name and version of the list parser; another number means that answers may be read otherwise."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """An answer as read.

    Parameters
    ----------
    elements
        In the order of the answer; those of blocks that comment on it are marked ``aside``.
    preamble, trailer
        What stands before the first element and after the last one, without blank lines.
    marker
        The kind of list (see the module).
    rule
        The rule that fired, in words: ``numbers``, ``letters``, ``bullets``, ``json in a fence``, …
    """

    elements: tuple[Element, ...] = ()
    preamble: str = ""
    trailer: str = ""
    marker: str = "none"
    rule: str = "nothing"

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON values."""
        return {
            "elements": [element.to_dict() for element in self.elements],
            "preamble": self.preamble,
            "trailer": self.trailer,
            "marker": self.marker,
            "rule": self.rule,
        }


def parse(text: str) -> Parsed:
    """Read an answer's text as a list of elements.

    Parameters
    ----------
    text
        The answer, verbatim. Reasoning blocks (``<think>``) and control tokens are left out.

    Returns
    -------
    Parsed
        Without elements where the text is blank (rule ``nothing``) or prose.

    Examples
    --------
    >>> [element.text for element in parse("1. Mars\\n2. **Venus**").elements]
    ['Mars', 'Venus']
    """
    text = _prepare(text)
    if not text.strip():
        return Parsed()
    quick = read_quick(text)
    if quick is not None:
        elements, preamble, marker, rule = quick
        return Parsed(elements, preamble, "", marker, rule)
    return _parse(text)


def _parse(text: str) -> Parsed:
    """The whole way, for any text."""
    found = read_json(text)
    if found is not None:
        return _from_data(found, "json")
    if "<li" in text.lower():
        found = read_html(text)
        if found is not None:
            return _from_data(found, "html")
    if "\n" not in text.strip():
        text = _on_lines(text)
    lines = read_lines(text)
    lists = read_blocks(lines)
    if lists is not None:
        first = next((block for block in lists.blocks if not block.aside), lists.blocks[0])
        placed = []
        for block in lists.blocks:
            for element in block.elements:
                if block.section is not None or block.aside:
                    element = _placed(element, block.section, block.aside)
                placed.append(element)
        return Parsed(
            tuple(placed),
            "\n".join(lists.preamble),
            "\n".join(lists.trailer),
            _marker(first.marker, placed),
            first.rule,
        )
    found = read_json_in_text(text)
    if found is not None and found.elements:
        return _from_data(found, "json")
    return _plain_lines([line for line in lines if line.kind not in ("blank", "rule")])


def read_reference(value: Any) -> Parsed:
    """A reference: list text, a JSON list, or the JSON text of one.

    Parameters
    ----------
    value
        Text (read as an answer is, blocks that comment on it left out); or a list of strings,
        numbers, :class:`Element` or objects ``{text, aliases, attributes}``; or the JSON text of
        such a list.

    Raises
    ------
    InputError
        When the value is of another form, or an element of it is.
    """
    if isinstance(value, Parsed):
        return value
    if isinstance(value, str):
        data = None
        if value.lstrip().startswith("["):
            try:
                data = json.loads(value)
            except (ValueError, RecursionError):
                data = None
        if not isinstance(data, list):
            parsed = parse(value)
            elements = tuple(element for element in parsed.elements if not element.aside)
            return dataclasses.replace(parsed, elements=elements)
        value = data
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        elements = tuple(
            item if isinstance(item, Element) else Element.from_value(item) for item in value
        )
        for place, element in enumerate(elements, 1):
            if not element.text.strip():
                raise InputError(f"element {place} has no text", cure="give it one or leave it out")
        return Parsed(elements, marker="json", rule="given as data")
    raise InputError(
        f"a list can't be {type(value).__name__} {str(value)[:40]!r}",
        cure="give list text or a JSON list",
    )


_THINK = re.compile(r"<(/?)(think|thinking|reasoning)>", re.I)
_CONTROL = re.compile(r"<\|[\w ]{1,40}\|>")
_LITERAL_BREAK = re.compile(r"\\n(?=[ \t]*(?:\d{1,3}[.)、]|[-*•]\s|\\n|$))")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x85\u200b\u2028\u2029\u2060\ufeff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def _prepare(text: str) -> str:
    """The text to read: reasoning and control tokens out, one kind of line break."""
    if _UNSEEN.search(text):
        text = _UNSEEN.sub("", _BREAKS.sub("\n", text))
    if _SURROGATE.search(text):
        text = _SURROGATE.sub("\ufffd", text)  # half a character: no file or database can hold it
    if "<" in text:
        text = _CONTROL.sub("", _without_reasoning(text))
    if "\\n" in text:
        text = _LITERAL_BREAK.sub("\n", text)
    return text


def _without_reasoning(text: str) -> str:
    """Without reasoning blocks, those that lack their opening or closing tag included."""
    kept: list[str] = []
    start = 0
    depth = 0
    for tag in _THINK.finditer(text):
        if tag[1]:
            if depth == 0:
                kept.clear()  # closed without an opening: all before it was reasoning
            depth = max(0, depth - 1)
            if depth == 0:
                start = tag.end()
        else:
            if depth == 0:
                kept.append(text[start : tag.start()])
            depth += 1
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept)


def _marker(first: str, elements: Sequence[Element]) -> str:
    """The kind of the first block; marked elements with attributes anywhere make it nested."""
    if first in ("numbered", "bullet") and any(e.attributes and not e.aside for e in elements):
        return "nested"
    return first


_RUNNING = re.compile(r"(?:(?<=\s)|^)[(]?(\d{1,2})[.)]\s")
_DOTS = re.compile(r"\s[•·●▪]\s")


def _on_lines(text: str) -> str:
    """A list written on one line, "1. A 2. B 3. C" or "• A • B", with a line for each item."""
    starts: list[int] = []
    for match in _RUNNING.finditer(text):
        if int(match[1]) == len(starts) + 1:
            starts.append(match.start())
    if len(starts) < 3:
        if len(_DOTS.findall(text)) < 2 and not text.lstrip().startswith(("•", "●", "▪")):
            return text
        starts = [match.start() + 1 for match in _DOTS.finditer(text)]
    bounds = [0, *starts, len(text)]
    return "\n".join(text[a:b].strip() for a, b in zip(bounds, bounds[1:], strict=False))


def _from_data(found: DataList, marker: str) -> Parsed:
    return Parsed(found.elements, found.preamble, found.trailer, marker, found.rule)


def _placed(element: Element, section: str | None, aside: bool) -> Element:
    return Element(element.text, element.aliases, element.attributes, element.head, section, aside)


# Answers without a marked line

_SENTENCE = re.compile(r"[.!?。！？।]$")
_WRAPPED = re.compile(
    r"(?:\*\*[^*]+\*\*|\"[^\"]+\"|“[^“”]+”|「[^「」]+」|《[^《》]+》|«[^«»]+»)[,;.]?$"
)


def _plain_lines(lines: list[Line]) -> Parsed:
    """Lines without markers: each an element if they look like a list, else one line or prose."""
    texts = [line.text.strip() for line in lines]
    if not texts:
        return Parsed()
    if any(line.kind == "code" for line in lines) or refuses("\n".join(texts[:3])):
        return _prose()
    if len(texts) > 1:
        several = _several(texts)
        if several is not None:
            return several
    for at, text in enumerate(texts[:2]):
        if at and not texts[0].endswith((":", "：")):
            break
        found = read_enumeration(text)
        if found is not None:
            preamble = [*texts[:at], *([found.preamble] if found.preamble else [])]
            trailer = [*([found.trailer] if found.trailer else []), *texts[at + 1 :]]
            return Parsed(
                tuple(Element(item) for item in found.items),
                "\n".join(preamble),
                "\n".join(trailer),
                "delimiter",
                f"one line, {found.separator}",
            )
    if len(texts) == 1 and _is_bare(texts[0]) and clean(texts[0]):
        return Parsed((_bare(texts[0]),), rule="bare answer")
    return _prose()


def _prose() -> Parsed:
    return Parsed(marker="prose", rule="prose")


def _several(texts: list[str]) -> Parsed | None:
    """Plain lines that are a list: under a line with a colon, all quoted or bold, or all short."""
    preamble: list[str] = []
    rest = texts
    if texts[0].rstrip("*_ ").endswith((":", "：")) and not _WRAPPED.match(texts[0]):
        preamble, rest = texts[:1], texts[1:]
    count = 0
    for text in rest:
        if not _is_short(text):
            break
        count += 1
    if all(_WRAPPED.match(text) for text in rest) and len(rest) > 1:
        rule = "quoted or bold lines"
    elif count == len(rest) and count > 1:
        rule = "lines below a colon" if preamble else "short lines"
    elif preamble and count > 1:
        rule = "lines below a colon"
    elif count > 2 and len(rest[count].split()) > 6 and _SENTENCE.search(rest[count]):
        rule = "short lines"
    else:
        return None
    if rule != "quoted or bold lines" and count < len(rest):
        rest, trailer = rest[:count], rest[count:]
    else:
        trailer = []
    elements = tuple(_bare(text) for text in rest if clean(text))
    if len(elements) < 2:
        return None
    return Parsed(elements, "\n".join(preamble), "\n".join(trailer), "none", rule)


def _bare(text: str) -> Element:
    cleaned = clean(text)
    return Element(cleaned, head=head_of(text, cleaned))


def _is_short(text: str) -> bool:
    if len(text) > 80 or len(text.split()) > 10:
        return False
    if _SENTENCE.search(text) and len(text.split()) > 3:
        return False
    return first_sentence(text) >= len(text.rstrip(".!?。！？। "))


def _is_bare(text: str) -> bool:
    """Whether one line is an answer by itself rather than a sentence."""
    words = len(text.split())
    if len(text) > 100 or words > 12 or text.rstrip().endswith((":", "：")):
        return False
    if words == 1 and len(text) > 30 and not text.isascii():
        return False
    end = first_sentence(text)
    whole = end >= len(text.rstrip(".!?。！？। "))
    return whole and not (end < len(text) and words > 4)
