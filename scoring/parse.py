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
from typing import Any

from .errors import InputError
from .parse_blocks import Lists, read_blocks
from .parse_data import DataList, read_html, read_json, read_json_in_text
from .parse_flat import read_flat
from .parse_lines import Line
from .parse_plain import read_plain
from .parse_quick import read_quick
from .parse_result import Parsed
from .parse_runs import read_lines
from .parse_source import holds_odd_signs, on_lines, source_of
from .parse_text import plain
from .records import Element

__all__ = ["PARSER", "Parsed", "parse", "plain", "read_reference"]

PARSER = "accord-list-3"
"""Name and version of the list parser; another number means that answers may be read otherwise."""


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
    quick = read_quick(text)
    if quick is not None:
        return quick
    odd = holds_odd_signs(text)
    return (read_flat(text) if not odd and "\n" in text else None) or _parse(text, odd=odd)


def _parse(answer: str, *, odd: bool = True) -> Parsed:
    """The whole way, for any text; ``odd`` unless it surely holds no sign that is left out."""
    source = source_of(answer, odd=odd)
    if not source.text.strip():
        return Parsed()
    parsed = _from_markup(source.text)
    if parsed is None:
        source = on_lines(source)
        parsed = _from_lines(source.text)
    if isinstance(source.places, range):
        return parsed
    starts = tuple([None if start is None else source.places[start] for start in parsed.starts])
    return dataclasses.replace(parsed, starts=starts)


def _from_markup(text: str) -> Parsed | None:
    """The list of a text that is JSON or HTML."""
    found = read_json(text)
    if found is not None:
        return _from_data(found, "json")
    if "<" in text and "<li" in text.lower() and not _quotes_code(text):
        found = read_html(text)
        if found is not None:
            return _from_data(found, "html")
    return None


_IN_TICKS = re.compile(r"`[^`\n]+`")
_IN_FENCES = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.M | re.S)
_MARKED = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])\s", re.M)


def _quotes_code(text: str) -> bool:
    """Whether ``<li>`` stands only in code that the answer, which has a list besides, quotes."""
    if "`" not in text and "~~~" not in text:
        return False
    outside = _IN_FENCES.sub("", _IN_TICKS.sub("", text))
    return "<li" not in outside.lower() and len(_MARKED.findall(outside)) > 1


def _from_lines(text: str) -> Parsed:
    """Marked lines; else JSON behind some words; else plain lines, one line, prose."""
    lines = read_lines(text)
    lists = read_blocks(lines)
    if lists is not None:
        return _from_blocks(lists)
    found = read_json_in_text(text)
    if found is not None and found.elements:
        return _from_data(found, "json")
    return read_plain([line for line in lines if not _is_empty(line)])


def _is_empty(line: Line) -> bool:
    """A blank line, a rule, a marker without an item."""
    return line.kind in ("blank", "rule") or (line.kind == "marked" and not line.content)


def _from_blocks(lists: Lists) -> Parsed:
    first = next((block for block in lists.blocks if not block.aside), lists.blocks[0])
    elements: list[Element] = []
    starts: list[int | None] = []
    for block in lists.blocks:
        starts += block.starts
        for element in block.elements:
            if block.aside or (block.section is not None and element.section is None):
                element = _placed(element, block.section, block.aside)
            elements.append(element)
    return Parsed(
        tuple(elements),
        "\n".join(lists.preamble),
        "\n".join(lists.trailer),
        _marker(first.marker, elements),
        first.rule,
        tuple(starts),
    )


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
            kept = [at for at, element in enumerate(parsed.elements) if not element.aside]
            return dataclasses.replace(
                parsed,
                elements=tuple([parsed.elements[at] for at in kept]),
                starts=tuple([parsed.starts[at] for at in kept]),
            )
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


def _marker(first: str, elements: Sequence[Element]) -> str:
    """The kind of the first block; marked elements with attributes anywhere make it nested."""
    if first in ("numbered", "bullet") and any(e.attributes and not e.aside for e in elements):
        return "nested"
    return first


def _from_data(found: DataList, marker: str) -> Parsed:
    preamble, trailer = found.preamble, found.trailer
    return Parsed(found.elements, preamble, trailer, marker, found.rule, found.starts)


def _placed(element: Element, section: str | None, aside: bool) -> Element:
    return Element(element.text, element.aliases, element.attributes, element.head, section, aside)
