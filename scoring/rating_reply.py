"""The rating a judge gives, read by a grammar; and what a rating is worth between 0 and 1.

A reply carries a rating when exactly one number of the scale stands in a JSON field, after the word
"Rating" (or "Score"), or alone on the last line. A number beyond the scale, two numbers (one in a
field and another outside of JSON too), or a number inside a text is *unscored* with a reason: the
first character after "Rating:" would make 1 of 10 and 4 of 4.5.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from .errors import SettingsError
from .verdict import CUT_OFF, EMPTY, SEVERAL, as_seen, without_reasoning

__all__ = [
    "FRACTIONS",
    "NO_RATING",
    "OUT_OF_RANGE",
    "RATING_MAPS",
    "Fractions",
    "Rating",
    "RatingMap",
    "map_rating",
    "read_rating",
]

NO_RATING = "no rating"
OUT_OF_RANGE = "out of range"
FRACTION = "fraction"

Fractions = Literal["keep", "unscored", "down", "nearest"]
FRACTIONS: tuple[Fractions, ...] = get_args(Fractions)
RatingMap = Literal["(r-1)/4", "r/5"]
RATING_MAPS: tuple[RatingMap, ...] = get_args(RatingMap)


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating, or None and the reason: ``empty``, ``cut off``, ``no rating``, ``several labels``,
    ``out of range`` or ``fraction``.
    """

    value: float | None
    reason: str | None = None


_WORDS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}
_NUMBER = (
    r"(?<![\w.,+−-])(?P<number>\d{1,9}(?:[.,]\d{1,9})?|one|two|three|four|five)(?![\w]|[.,]\d)"
)
_OF = r"(?:\s*(?:/|out\s+of|of)\s*(?P<of>\d{1,9})(?![\w]|[.,]\d))?"
_NAMED = re.compile(
    r"(?:(?:rating|score|grade)\b|评分|評分|得分)\s*(?:\]|\))*\s*(?:\([^()\n]{0,40}\)\s*)?"
    rf"(?P<sign>[:：=]|\bis\b|\bof\b|[-–—](?=\s))?\s*[\[(\"'<]*\s*{_NUMBER}{_OF}",
    re.I,
)
_GIVEN = re.compile(rf"\b(?:give|rate|assign|award)\b[^\n.!?]{{0,40}}?{_NUMBER}{_OF}", re.I)
# A run of backslashes is entered at its first one only, or a long run would take quadratic time.
_LATEX = re.compile(r"(?<!\\)\\+(?:boxed|text|mathbf)\s*\{([^{}\n]{0,40})\}|\$")
_ALONE = re.compile(rf"[\s\[(\"']*{_NUMBER}{_OF}[\s\])\"'.!]*", re.I)
_FIELD = re.compile(r"[\"'](?:rating|score|grade)[\"']\s*:\s*[\"']?([^\"'\n,}]{1,40})", re.I)
_IF = re.compile(
    r"[\"'\])]*\s+(?:would|could|should|might|needs?|requires?|means|is\s+(?:for|reserved))\b", re.I
)
_OBJECT = re.compile(r"\{[^{}]*\}")
_NEXT = re.compile(r"\s*(?:-|–|—|/|,|;|\bto\b|\bor\b|\band\b|(?<=\d) )\s*\d(?![\w]|[.,]\d)", re.I)


def read_rating(
    text: str | None, *, low: int = 1, high: int = 5, fractions: Fractions = "keep"
) -> Rating:
    """The rating that a judge's reply gives.

    Parameters
    ----------
    text
        The reply as it came; Markdown and reasoning blocks are taken off.
    low, high
        The ends of the scale, which belong to it.
    fractions
        What becomes of 4.5: ``keep`` takes it as it is, ``unscored`` refuses it, ``down`` and
        ``nearest`` make it a whole number (halves go up).

    Returns
    -------
    Rating
        From ``low`` to ``high``, or None with the reason.

    Raises
    ------
    SettingsError
        When the scale has no two ends or ``fractions`` is unknown.

    Examples
    --------
    >>> read_rating("**Rating:** 5").value
    5.0
    >>> read_rating("Rating: 10").reason
    'out of range'
    """
    if not low < high:
        raise SettingsError(f"a scale can't go from {low} to {high}", cure="give low below high")
    if fractions not in FRACTIONS:
        raise SettingsError(
            f"fractions can't be {fractions!r}", cure=f"use one of {', '.join(FRACTIONS)}"
        )
    if text is None or not text.strip():
        return Rating(None, EMPTY)
    answer = without_reasoning(text)
    if answer is None:
        return Rating(None, CUT_OFF)
    answer = _LATEX.sub(lambda match: match[1] or "", _digits(as_seen(answer)))
    if not answer.strip():
        return Rating(None, EMPTY)
    fields = [_ALONE.fullmatch(value.strip()) for value in _FIELD.findall(answer)]
    if fields:
        found = [_value(match, high) for match in fields if match is not None]
        # The field may be one that the judge quotes: what it says outside of JSON must not differ.
        found += _concluded(_lines(_OBJECT.sub("", answer)), high) if found else ()
        return _settled(found, low, high, fractions)
    lines = _lines(answer)
    whole = _concluded(lines, high)
    if len(whole) > 1:
        return Rating(None, SEVERAL)
    for line in reversed(lines):
        matches = _named(line)
        if matches:
            if any(_NEXT.match(line, match.end()) for match in matches):
                return Rating(None, SEVERAL)
            return _settled([_value(match, high) for match in matches], low, high, fractions)
    alone = _ALONE.fullmatch(lines[-1]) if lines else None
    if alone is not None:
        return _settled([_value(alone, high)], low, high, fractions)
    given = [match for line in lines for match in _GIVEN.finditer(line) if match["of"]]
    return _settled([_value(match, high) for match in given], low, high, fractions)


def _lines(text: str) -> list[str]:
    """The lines that say anything."""
    return [line for line in text.splitlines() if any(char.isalnum() for char in line)]


def _concluded(lines: Sequence[str], high: int) -> set[float]:
    """The ratings with which a line ends."""
    return {_value(match, high) for line in lines for match in _named(line) if _ends(line, match)}


def _named(line: str) -> list[re.Match[str]]:
    """The ratings that a line names; "a rating of 5 would need more" names none."""
    return [
        match
        for match in _NAMED.finditer(line)
        if _ends(line, match) or (match["sign"] and not _is_supposed(line, match))
    ]


def _is_supposed(line: str, match: re.Match[str]) -> bool:
    """Whether a line says what a rating would take instead of giving it."""
    return match["sign"].casefold() == "of" and _IF.match(line, match.end()) is not None


def _ends(line: str, match: re.Match[str]) -> bool:
    return not any(char.isalnum() for char in line[match.end() : match.end() + 40])


def _digits(text: str) -> str:
    """Digits of every script as 0-9."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def _value(match: re.Match[str], high: int) -> float:
    """The number; NaN where it is given out of another total than the scale's."""
    written = match["number"].casefold()
    value = float(_WORDS.get(written, written).replace(",", "."))
    return value if match["of"] is None or int(match["of"]) == high else math.nan


def _settled(found: Sequence[float], low: int, high: int, fractions: Fractions) -> Rating:
    if not found:
        return Rating(None, NO_RATING)
    if len(set(found)) > 1:
        return Rating(None, SEVERAL)
    value = found[0]
    if not low <= value <= high:
        return Rating(None, OUT_OF_RANGE)
    if value != int(value):
        if fractions == "unscored":
            return Rating(None, FRACTION)
        if fractions == "down":
            value = float(math.floor(value))
        elif fractions == "nearest":
            value = float(math.floor(value + 0.5))
    return Rating(value)


def map_rating(rating: float, rating_map: RatingMap = "(r-1)/4") -> float:
    """What a rating from 1 to 5 is worth between 0 and 1.

    ``(r-1)/4`` uses the whole range; ``r/5`` gives the worst answer 0.2. The two move a mean by up
    to 0.2, so scores under different maps can't be compared. NaN stays NaN.

    Raises
    ------
    SettingsError
        When the map is unknown or the rating is beyond the scale.

    Examples
    --------
    >>> map_rating(4), map_rating(4, "r/5")
    (0.75, 0.8)
    """
    if rating_map not in RATING_MAPS:
        raise SettingsError(
            f"rating_map can't be {rating_map!r}", cure=f"use one of {', '.join(RATING_MAPS)}"
        )
    if not math.isnan(rating) and not 1 <= rating <= 5:
        raise SettingsError(f"{rating:g} is no rating from 1 to 5", cure="check the judge's scale")
    return (rating - 1) / 4 if rating_map == "(r-1)/4" else rating / 5
