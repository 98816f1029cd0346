"""Cells of a table for a terminal: cut, filled and aligned by the width that is seen."""

from __future__ import annotations

import unicodedata

__all__ = ["pad", "right", "width"]


def width(text: str) -> int:
    """Columns of a terminal that a text takes: two for a wide character, none for a combining."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def pad(text: str, size: int) -> str:
    """On one line, cut to ``size`` columns or filled up to them on the right."""
    text = _cut(_one_line(text), size)
    return text + " " * (size - width(text))


def right(text: str, size: int) -> str:
    """On one line, cut to ``size - 2`` columns and filled up to ``size`` on the left."""
    text = _cut(_one_line(text), size - 2)
    return " " * (size - width(text)) + text


def _one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")


def _cut(text: str, size: int) -> str:
    if width(text) <= size:
        return text
    while width(text) >= size:
        text = text[:-1]
    return f"{text}…"
