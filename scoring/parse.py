"""Reads an answer's text as a list of elements."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .errors import InputError
from .records import Element

__all__ = ["PARSER", "Parsed", "is_refusal", "parse", "plain", "read_reference"]

PARSER = "accord-list-1"
"""Name and version of the list parser; another number means that answers may be read otherwise."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """An answer as read: its elements, what stands around them, and the rule that fired."""

    elements: tuple[Element, ...] = ()
    preamble: str = ""
    trailer: str = ""
    marker: str = "none"
    rule: str = "none"

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON values."""
        return {
            "elements": [element.to_dict() for element in self.elements],
            "preamble": self.preamble,
            "trailer": self.trailer,
            "marker": self.marker,
            "rule": self.rule,
        }


_MARKED = re.compile(r"^([ \t]*)(?:(\d{1,3}[.)](?!\d))|([-*+•])(?=\s))[ \t]*(\S.*)$")


def parse(text: str) -> Parsed:
    """Read an answer's text."""
    found: list[dict[str, Any]] = []
    preamble = []
    marker = "none"
    for line in text.splitlines():
        match = _MARKED.match(line)
        if match is None:
            if line.strip() and not found:
                preamble.append(line.strip())
            continue
        item = plain(match[4]).strip()
        if match[3] and found and (match[1] or marker == "numbered"):
            key, sign, value = item.partition(": ")
            found[-1]["attributes"].append((key, value) if sign else ("", item))
            marker = "nested"
            continue
        if not found:
            marker = "numbered" if match[2] else "bullet"
        found.append({"text": item, "attributes": []})
    if not found and text.strip() and "\n" not in text.strip() and "," in text:
        found = [{"text": part.strip(), "attributes": []} for part in text.split(",")]
        preamble, marker = [], "delimiter"
    elements = tuple(Element(e["text"], attributes=tuple(e["attributes"])) for e in found)
    return Parsed(elements, "\n".join(preamble), "", marker, marker)


def plain(text: str) -> str:
    """A text without Markdown's emphasis marks."""
    return re.sub(r"\*\*|__|`", "", text)


def is_refusal(text: str, parsed: Parsed) -> bool:
    """Whether an answer without elements refuses."""
    return not parsed.elements and bool(re.search(r"(?i)\bI (?:can't|cannot|don't know)\b", text))


def read_reference(value: Any) -> Parsed:
    """A reference: list text, a JSON list, or the JSON text of one."""
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                value = json.loads(value)
            except ValueError:
                return parse(value)
        else:
            return parse(value)
    if isinstance(value, (list, tuple)):
        elements = tuple(e if isinstance(e, Element) else Element.from_value(e) for e in value)
        return Parsed(elements, marker="json", rule="given")
    raise InputError(f"a reference can't be {value!r:.60}", cure="give list text or a JSON list")
