"""What reading an answer gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .records import Element

__all__ = ["Parsed"]


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
        Where each element (its marker included) begins in the answer, in characters; None where
        it is not to be found there as it was read (escapes in JSON). Empty for a list that came as
        data.
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
