"""What reading an answer gives."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from .records import Element

__all__ = ["Parsed", "parsed_later", "quick_element", "quick_parsed"]


class _Later:
    """Holds the match that tells where elements begin until somebody asks.

    Scoring never does, and the places cost a fifth of reading the commonest lists.
    """

    __slots__ = ("_found",)
    _found: tuple[re.Match[str], int]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> tuple[int, ...]:
            """``starts`` of a list read by one pattern; a slot that is set never gets here."""
            if name != "starts":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            found, shift = self._found
            starts: tuple[int, ...] = next(zip(*found.regs, strict=True))[1:]
            if shift:
                starts = tuple([start + shift for start in starts])
            _starts(self, starts)
            return starts


@dataclass(frozen=True, slots=True)
class Parsed(_Later):
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
    starts
        Where the text of each element, with its markup, begins in the answer, in characters; None
        where it does not stand there as it was read (escapes in JSON). Empty for a list that came
        as data.
    """

    elements: tuple[Element, ...] = ()
    preamble: str = ""
    trailer: str = ""
    marker: str = "none"
    rule: str = "nothing"
    starts: tuple[int | None, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON values."""
        return {
            "elements": [element.to_dict() for element in self.elements],
            "preamble": self.preamble,
            "trailer": self.trailer,
            "marker": self.marker,
            "rule": self.rule,
            "starts": list(self.starts),
        }


# A frozen dataclass sets its fields one by one through object.__setattr__; the slots' own setters
# take half the time.
_new = Parsed.__new__
_set = [Parsed.__dict__[field.name].__set__ for field in fields(Parsed)]
_elements, _preamble, _trailer, _marker, _rule, _starts = _set
_later = _Later.__dict__["_found"].__set__


def quick_parsed(
    elements: tuple[Element, ...],
    preamble: str,
    trailer: str,
    marker: str,
    rule: str,
    starts: tuple[int | None, ...],
) -> Parsed:
    """``Parsed(elements, …)``."""
    parsed = _new(Parsed)
    _elements(parsed, elements)
    _preamble(parsed, preamble)
    _trailer(parsed, trailer)
    _marker(parsed, marker)
    _rule(parsed, rule)
    _starts(parsed, starts)
    return parsed


def parsed_later(
    elements: tuple[Element, ...],
    preamble: str,
    marker: str,
    rule: str,
    found: re.Match[str],
    shift: int,
) -> Parsed:
    """``Parsed(elements, …)`` whose elements are the groups of a match; no text follows.

    Each begins ``shift`` characters behind its group.
    """
    parsed = _new(Parsed)
    _elements(parsed, elements)
    _preamble(parsed, preamble)
    _trailer(parsed, "")
    _marker(parsed, marker)
    _rule(parsed, rule)
    _later(parsed, (found, shift))
    return parsed


_new_element = Element.__new__
_element_set = [Element.__dict__[field.name].__set__ for field in fields(Element)]
_text, _aliases, _attributes, _head, _section, _aside = _element_set


def quick_element(
    text: str,
    head: str | None = None,
    section: str | None = None,
    attributes: tuple[tuple[str, str], ...] = (),
) -> Element:
    """``Element(text, …)``, no alias, not aside."""
    element = _new_element(Element)
    _text(element, text)
    _aliases(element, ())
    _attributes(element, attributes)
    _head(element, head)
    _section(element, section)
    _aside(element, False)
    return element
