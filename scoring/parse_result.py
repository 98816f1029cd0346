"""What reading an answer gives."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from .records import Element

__all__ = ["Parsed", "quick_parsed"]


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
