"""From a cell to a label: label words, blanks, words for 'missing', the declared set, numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..scoring.errors import BadRow, InputError, SettingsError
from ..scoring.records import UNSURE, VERDICTS
from .ratings import LARGEST_RATING, RatingsOptions

__all__ = ["LabelReader"]

MISSING_WORDS = frozenset(
    ["NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NAN", "NaT", "null", "NULL", "None"]
)
"""What R, pandas, spreadsheets and databases write where there is no value."""


class LabelReader:
    """Reads rating cells by the options; keeps what was odd for one report at the end."""

    def __init__(self, file: str, options: RatingsOptions) -> None:
        self.file = file
        self.words = dict(options.labels)
        self.numeric = options.scale in ("interval", "ratio")
        self.declared = set(options.categories)
        if self.words and not self.declared:
            targets = set(self.words.values())
            self.declared = targets | (set(VERDICTS) if targets <= set(VERDICTS) else set())
        self.numbers = (
            {_float(label) for label in self.declared} if self.numeric else set[float | None]()
        )
        for word, label in self.words.items():
            if self._label(label)[0] is None:
                named = ", ".join(options.categories) or "numbers"
                raise SettingsError(
                    f"--labels turns {word!r} into {label!r}, which is no label here",
                    cure=f"labels are {named}: correct it, or add it to --categories",
                )
        self.missing_words: Counter[str] = Counter()
        self.bad: list[BadRow] = []
        self._seen: dict[str, tuple[str | None, str | None]] = {}

    def read(self, cells: Sequence[Any], lines: Sequence[int], rater: str) -> list[str | None]:
        """The labels of cells, None for a blank one; bad ones are noted with their line."""
        out: list[str | None] = []
        for position, cell in enumerate(cells):
            if cell is None:
                out.append(None)
                continue
            if not isinstance(cell, str):
                self._refuse(lines[position], rater, "a list or an object is no rating")
                out.append(None)
                continue
            known = self._seen.get(cell)
            if known is None:
                word = cell.strip()
                known = self._label(word) if word not in self.words else (self.words[word], None)
                self._seen[cell] = known
            label, problem = known
            if problem is not None:
                self._refuse(lines[position], rater, problem)
            elif label is None:
                self.missing_words[cell.strip()] += 1
            out.append(label)
        return out

    def finish(self) -> list[str]:
        """Raise for all bad cells at once; else return the notes."""
        if self.bad:
            if self.numeric:
                cure = "leave the cell blank where there is no rating, or choose --scale nominal"
            elif self.words:
                cure = "add the word to --labels, or to --categories"
            elif not self.declared:
                cure = "a rating is one label or number"
            else:
                cure = f"labels are {', '.join(sorted(self.declared))}: add it to --categories"
            raise InputError.from_rows(self.bad, cure=cure)
        words = {cell.strip() for cell in self._seen}
        for word in self.words:
            if word not in words:
                seen = sorted(words)
                raise InputError(
                    f"--labels names {word!r}, which is no rating in {self.file}",
                    cure=f"its ratings are {', '.join(seen[:12])}",
                )
        return [
            f"{count} rating{'s' if count > 1 else ''} written {word!r} read as missing"
            f" (declare it in --categories to make it a label)"
            for word, count in sorted(self.missing_words.items())
        ]

    def _label(self, text: str) -> tuple[str | None, str | None]:
        """(label, None), (None, None) for a word that means missing, or (None, problem)."""
        if text in MISSING_WORDS and text not in self.declared:
            return None, None
        if text == UNSURE:
            return text, None
        if self.numeric:
            value = _float(text)
            if value is None:
                return None, f"{text[:40]!r} is no number"
            if abs(value) > LARGEST_RATING:
                return None, f"{text[:40]!r} is beyond {LARGEST_RATING:g}"
            if self.declared and value not in self.numbers:
                return None, f"{text[:40]!r} is not among the declared categories"
            return text, None
        if self.declared and text not in self.declared:
            return None, f"unknown label {text[:40]!r}"
        return text, None

    def _refuse(self, line: int, rater: str, problem: str) -> None:
        self.bad.append(BadRow(self.file, line, f"{problem} (rater {rater!r})"))


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None
