"""The controls of a labelling configuration: what a page asks, and what may be chosen.

Whoever writes an annotation, reads one, or asks on which scale it is, reads the page here.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Control", "controls_of", "parsed"]


@dataclass(frozen=True, slots=True)
class Control:
    """One control of the page: its name, what it grades, and what may be chosen.

    Attributes
    ----------
    over, flag
        Inside a ``<Repeater>``: the field of the task whose entries are the rows, and what stands
        in ``name`` and ``to_name`` for the row's number (from 0). Else empty.
    """

    name: str
    kind: Literal["choices", "textarea", "number"]
    to_name: str
    values: tuple[str, ...] = ()
    multiple: bool = False
    over: str = ""
    flag: str = ""

    def row_of(self, from_name: str) -> int | None:
        """The row that an answered control stands in, or None when it is another control."""
        before, _, after = self.name.partition(self.flag)
        found = re.fullmatch(f"{re.escape(before)}([0-9]{{1,6}}){re.escape(after)}", from_name)
        return int(found[1]) if found else None


def parsed(config: str) -> ElementTree.Element:
    """The root element.

    Raises
    ------
    ValueError
        When the text is no XML, or brings a document type (which Label Studio does not read).
    """
    if "<!DOCTYPE" in config or "<!ENTITY" in config:
        raise ValueError("a document type has no place in a labelling configuration")
    try:
        return ElementTree.fromstring(config)
    except ElementTree.ParseError as error:
        raise ValueError(f"no well-formed XML: {error}") from None


def controls_of(config: str) -> dict[str, Control]:
    """The controls of a labelling configuration that accord can read, by name."""
    found: dict[str, Control] = {}

    def walk(element: Any, over: str, flag: str) -> None:
        tag, name = element.tag.lower(), element.get("name", "")
        if tag == "repeater":
            over = element.get("on", "").removeprefix("$")
            flag = element.get("indexFlag", "{{idx}}")
        target = element.get("toName", "")
        if tag == "choices":
            values = tuple(
                choice.get("alias") or choice.get("value") or ""
                for choice in element.iter()
                if choice.tag.lower() == "choice"
            )
            several = element.get("choice") == "multiple"
            found[name] = Control(name, "choices", target, values, several, over, flag)
        elif tag in ("textarea", "number"):
            kind: Literal["textarea", "number"] = "number" if tag == "number" else "textarea"
            found[name] = Control(name, kind, target, over=over, flag=flag)
        for child in element:
            walk(child, over, flag)

    walk(parsed(config), "", "")
    return found
