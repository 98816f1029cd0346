"""Lists in JSON (or Python's notation) and in HTML."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .parse_source import find_in_order
from .parse_text import clean, key_value, plain
from .records import Element

__all__ = ["DataList", "read_html", "read_json", "read_json_in_text"]

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*(\w*)[ \t]*$")
_LANGUAGES = ("", "json", "json5", "python", "py", "javascript", "js")
_IN_TEXT = re.compile(r"\[\s*[\"'{]|\{\s*[\"']|^\(\s*[\"']", re.M)
_TUPLE = re.compile(r"\(\s*[\"']")
_CLOSING = {"[": "]", "{": "}", "(": ")"}
_LONGEST_PYTHON = 100_000  # ast builds a tree: what is longer must be JSON


@dataclass(frozen=True, slots=True)
class DataList:
    """Elements read from data, the text around them, the rule, and where each element begins."""

    elements: tuple[Element, ...]
    preamble: str
    trailer: str
    rule: str
    starts: tuple[int | None, ...]


def read_json(text: str) -> DataList | None:
    """The list of an answer that is JSON, or holds it in a fence; None where there is none."""
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] in ("[", "{"):
        return (
            _between(text, start, "json")
            or _json_lines(text, start)
            or _cut_off(text, start, "json")
        )
    if text[start : start + 1] == "(" and _TUPLE.match(text, start) is not None:
        return _between(text, start, "json")
    if "```" in text or "~~~" in text:
        return _fenced(text.split("\n"))
    return None


def read_json_in_text(text: str) -> DataList | None:
    """The list of an answer in which words stand before a JSON list; None where there is none."""
    opening = _IN_TEXT.search(text)
    if opening is None:
        return None
    start = opening.start()
    found = _between(text, start, "json in text")
    if found is None and not text[text.rfind("\n", 0, start) + 1 : start].strip():
        found = _json_lines(text, start) or _cut_off(text, start, "json in text")
    return found


def _between(text: str, start: int, rule: str) -> DataList | None:
    """The list from ``start`` to the last closing bracket."""
    end = text.rfind(_CLOSING[text[start]]) + 1
    elements = _elements(_load(text[start:end])) if end > start else None
    if elements is None:
        return None
    starts = _places(elements, text, start)
    return DataList(elements, _lines(text[:start]), _lines(text[end:]), rule, starts)


def _fenced(lines: list[str]) -> DataList | None:
    start: int | None = None
    language = ""
    for at, line in enumerate(lines):
        fence = _FENCE.match(line) if "`" in line or "~" in line else None
        if fence is None:
            continue
        if start is None:
            start, language = at, fence[2].lower()
            continue
        if fence[2]:
            continue
        body = "\n".join(lines[start + 1 : at]).strip() if language in _LANGUAGES else ""
        elements = _elements(_load(body)) if body[:1] in ("[", "{") else None
        if elements is None and body[:1] == "{" and (rows := _json_lines(body, 0)) is not None:
            elements = None if rows.trailer else rows.elements
        if elements is not None:
            before, after = "\n".join(lines[:start]), "\n".join(lines[at + 1 :])
            starts = _places(elements, "\n".join(lines), len(before))
            return DataList(elements, _lines(before), _lines(after), "json in a fence", starts)
        start = None
    if start is not None and language in _LANGUAGES:
        before = "\n".join(lines[:start])
        text = "\n".join(lines)
        begin = len(before) + len(lines[start]) + 1
        opening = text[begin:].lstrip()[:1]
        if opening in ("[", "{") and opening:
            cut = _cut_off(text, text.index(opening, begin), "json in a fence")
            return None if cut is None else replace(cut, preamble=_lines(before))
    return None


def _json_lines(text: str, start: int) -> DataList | None:
    """One object a line, from ``start``; other lines may follow."""
    objects: list[Any] = []
    end = start
    for line in text[start:].split("\n"):
        bare = line.strip()
        if bare[:1] + bare[-1:] == "{}":
            objects.append(_load(bare))
        elif bare:
            break
        end += len(line) + 1
    elements = _elements(objects)
    if len(objects) < 2 or elements is None or len(elements) != len(objects):
        return None
    places = _places(elements, text, start)
    return DataList(elements, _lines(text[:start]), _lines(text[end:]), "json lines", places)


_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*(\"?)|[\[\]{}]", re.S)
_LOOSE = re.compile(r"[\s,:]+$")


def _cut_off(text: str, start: int, rule: str) -> DataList | None:
    """A list whose end the token limit cut off: what is open is closed."""
    closing: list[str] = []
    quoted = False
    for token in _TOKEN.finditer(text, start):
        if token[0] in "[{":
            closing.append("]" if token[0] == "[" else "}")
        elif token[0] in "]}":
            if not closing or closing.pop() != token[0]:
                return None
            if not closing:
                return None
        elif not token[1]:
            quoted = True
    if not closing or len(closing) > 50:
        return None
    end = "".join(reversed(closing))
    whole = text[start:].rstrip() + ('"' if quoted else "")
    bare = _LOOSE.sub("", whole)
    for candidate in (whole, bare, f"{bare}: null"):
        try:
            elements = _elements(json.loads(candidate + end))
        except (ValueError, RecursionError):
            continue
        if elements:
            return DataList(
                elements, _lines(text[:start]), "", rule, _places(elements, text, start)
            )
    return None


def _places(elements: tuple[Element, ...], text: str, start: int) -> tuple[int | None, ...]:
    return tuple(find_in_order([element.text for element in elements], text, start))


def _load(text: str) -> Any:
    """The value of JSON or of a Python literal; None where it is neither."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if len(text) > _LONGEST_PYTHON or "\0" in text:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _elements(value: Any) -> tuple[Element, ...] | None:
    if isinstance(value, Mapping):
        lists = [item for item in value.values() if isinstance(item, (list, tuple))]
        if not lists and len(value) == 1:
            return _elements(next(iter(value.values())))  # {"result": {"items": […]}}
        if len(lists) != 1:
            return None
        value = lists[0]
    if not isinstance(value, (list, tuple)):
        return None
    elements = [element for item in value if (element := _element(item)) is not None]
    return tuple(elements) if elements or not value else None


def _element(item: Any) -> Element | None:
    if isinstance(item, Mapping):
        pairs = [(_text(key), _text(value)) for key, value in item.items()]
        while pairs and not clean(pairs[0][1]):
            del pairs[0]
        return Element(clean(pairs[0][1]), attributes=tuple(pairs[1:])) if pairs else None
    if item is None:
        return None
    text = clean(_text(item))
    return Element(text) if text else None


def _text(value: Any) -> str:
    if isinstance(value, str):
        whole = value.encode("utf-8", "replace").decode() if not value.isascii() else value
        return " ".join(whole.replace("\0", "").split())
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(item)}" for key, item in value.items())
    return str(value)


def _lines(text: str) -> str:
    return "\n".join(stripped for line in text.split("\n") if (stripped := line.strip()))


_LIST_TAG = re.compile(r"<(/?)(ul|ol|li)(?:\s[^<>]{0,500})?>", re.I)


def read_html(text: str) -> DataList | None:
    """The list of an answer in HTML: each ``<li>`` is an element; None where there is none."""
    items: list[tuple[list[str], list[list[str]]]] = []
    places: list[int] = []
    before: list[str] = []
    after: list[str] = []
    depth = 0
    target = before
    end = 0
    for tag in _LIST_TAG.finditer(text):
        target.append(text[end : tag.start()])
        end = tag.end()
        closing, name = bool(tag[1]), tag[2].lower()
        if name == "li" and not closing:
            if depth > 1 and items:
                items[-1][1].append([])
                target = items[-1][1][-1]
            else:
                items.append(([], []))
                places.append(end)
                target = items[-1][0]
            after.clear()
        elif name == "li":
            target = [] if depth > 1 else after
        else:
            depth = max(0, depth - 1) if closing else depth + 1
            target = (after if depth == 0 else []) if items else before
    target.append(text[end:])
    elements: list[Element] = []
    starts: list[int | None] = []
    for (parts, subs), place in zip(items, places, strict=True):
        raw = clean("".join(parts))
        if raw:
            pairs = tuple(key_value(sub) for one in subs if (sub := clean("".join(one))))
            elements.append(Element(raw, attributes=pairs))
            starts.append(place)
    if not elements:
        return None
    around = _lines(plain("".join(before))), _lines(plain("".join(after)))
    return DataList(tuple(elements), *around, "html", tuple(starts))
