"""Markers that count only in a run of lines.

Single letters, Roman numerals, running labels ("Day 1:"), numbers above 999, second-level numbers,
dashes without a blank and emoji are markers only beside others of their kind.
"""

from __future__ import annotations

import re
import unicodedata

from .parse_lines import ALPHABETS, Line, chinese_number, each_alone

__all__ = ["label_of", "read_lines"]

# "Day 1:", "**Q1.**", "Weeks 3-4 –", "Part II:", "Tip #2:", "第一天：", "步骤2："
_LABEL = re.compile(
    r"[ \t]*(?:\*\*)?(?:(?P<name>[^\W\d_]{2,20}+) (?:\# ?|№ ?)?|"
    r"(?P<near>[^\W\d_一二三四五六七八九十]{1,20}+)|제 )"
    r"(?:(?P<number>\d{1,3})(?: ?[-–] ?(?P<to>\d{1,3}))?|(?P<han>[一二三四五六七八九十]{1,3})|"
    r"(?<= )(?:(?P<word>[A-Z][a-z]{2,4}|[a-z]{3,5})|(?P<roman>[IVX]{1,5})))"
    r" ?(?P<counter>[一-鿿가-힣]{1,3})?(?:\*\*)?[ ]?(?:[:.)–—-](?=[\s*])|：)(?=[\s*]*[^\s*])"
)
_WORDS = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)
}
_NUMBER = re.compile(r"[ \t]*(?:#?(\d{1,3}) ?[:：/\-–—][ \t]+|#(\d{1,3})[ \t]+)(\S.*)$")
_INNER = re.compile(r"(?:\*\*)?(\d{1,3})[.)](?:\*\*)?[ \t]+(?=\S)")
_ROUND = re.compile(r"[ \t]*o[ \t]+(\S.*)$")


def read_lines(text: str) -> list[Line]:
    """The lines of an answer, each with its marker settled."""
    lines = each_alone(text)
    _settle_letters(lines)
    _settle_rest(lines)
    return lines


_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def _roman(label: str) -> int | None:
    if any(char not in _ROMAN for char in label):
        return None
    values = [_ROMAN[char] for char in label]
    total = 0
    for value, following in zip(values, [*values[1:], 0], strict=True):
        total += -value if value < following else value
    return total


def _settle_letters(lines: list[Line]) -> None:
    """Letters and Roman numerals count in a run: "a." then "b.", "I." then "II."."""
    lettered = [line for line in lines if line.style[:6] == "letter"]
    if not lettered:
        return
    open_runs: dict[str, tuple[int, Line]] = {}
    counted: set[int] = set()
    candidates: list[tuple[Line, list[tuple[str, int]]]] = []
    for line in lettered:
        mark, label = line.style[len("letter") :].split("?", 1)
        case = "A" if label.isupper() else "a"
        readings = []
        roman = _roman(label.lower())
        if roman is not None:
            readings.append((("I" if case == "A" else "i") + mark, roman))
        if len(label) == 1:
            for at, order in enumerate(ALPHABETS):
                number = order.find(label.lower()) + 1
                if number:
                    readings.append((f"{case}{at or ''}{mark}", number))
        candidates.append((line, readings))
        for style, number in readings:
            before = open_runs.get(style)
            if before is not None and before[0] == number - 1:
                for member, value in ((before[1], number - 1), (line, number)):
                    if id(member) not in counted:
                        counted.add(id(member))
                        member.style, member.number = style, value
            if before is None or before[0] == number - 1 or number == 1:
                open_runs[style] = (number, line)
    styles = {line.style for line, _ in candidates if id(line) in counted}
    for line, readings in candidates:
        if id(line) in counted:
            continue
        again = next((style for style, number in readings if number == 1 and style in styles), None)
        if again is None:
            _make_plain(line)
        else:
            line.style, line.number = again, 1  # "A." alone below a later Roman numeral


def _settle_rest(lines: list[Line]) -> None:
    """The other markers that need a run; what is in none becomes plain text."""
    styles = {line.style for line in lines}
    for sign in "-*+–":
        if f"{sign}?" not in styles:
            continue
        unspaced = [line for line in lines if line.style == f"{sign}?"]
        alone = len(unspaced) == 1 and all(line.style != sign for line in lines)
        for line in unspaced:
            if alone:
                _make_plain(line)
            else:
                line.style = sign
    marked = [line for line in lines if line.kind == "marked"]
    if marked:
        _settle_round(lines)
        _settle_double(lines)
        marked = [line for line in lines if line.kind == "marked"]
    if any([style[:4] == "1.1?" for style in styles]):
        _settle_second_level(lines)
        marked = [line for line in lines if line.kind == "marked"]
    last = 0
    if len(marked) == 1 and (marked[0].number or 0) > 1:
        _make_plain(marked[0])  # "3. 97 degrees" by itself is a number
    for line in marked:
        if line.kind != "marked" or line.number is None:
            continue
        if line.style.endswith("?"):  # a number above 999
            if line.number - last not in (0, 1):
                _make_plain(line)
                continue
            line.style = line.style[:-1]
        last = line.number
    if len(lines) - len(marked) > 1:
        _settle_labels(lines)
        _settle_emoji(lines)


def _settle_round(lines: list[Line]) -> None:
    """ "o …" below other bullets is what a word processor makes of a hollow bullet."""
    found = [
        (line, match[1])
        for line in lines
        if line.content[:1] == "o" and line.kind == "plain" and (match := _ROUND.match(line.text))
    ]
    if len(found) > 1:
        for line, content in found:
            line.kind, line.style, line.number, line.content = "marked", "o", None, content


def _settle_double(lines: list[Line]) -> None:
    """ "- 1. …", "- 2. …": both are the marker."""
    bullets = [line for line in lines if line.kind == "marked" and line.number is None]
    found = [_INNER.match(line.content) for line in bullets]
    numbers = [int(match[1]) if match is not None else 0 for match in found]
    if len(found) < 2 or numbers != list(range(1, len(found) + 1)):
        return
    for line, match in zip(bullets, found, strict=True):
        if match is not None:
            line.content = line.content[match.end() :]


def _settle_second_level(lines: list[Line]) -> None:
    """ "1.1" counts below "1." and in a run; else "1.5 million" is a number."""
    counted: set[int] = set()
    last = 0
    before: tuple[int, int, Line] | None = None
    for line in lines:
        if line.kind != "marked" or line.number is None:
            continue
        if not line.style.startswith("1.1?"):
            last = line.number
            continue
        second = int(line.style[4:])
        if before is not None and before[:2] == (line.number, second - 1):
            counted.update((id(before[2]), id(line)))
        elif line.number == last and second == 1:
            counted.add(id(line))
        before = (line.number, second, line)
    below = any(line.number is not None and not line.style.startswith("1.1") for line in lines)
    for line in lines:
        if line.style.startswith("1.1?"):
            if id(line) in counted and below:
                line.style = "1.1"
            elif id(line) in counted:
                line.style, line.number = "1.", int(line.style[4:])  # nothing stands above them
            else:
                _make_plain(line)


def _make_plain(line: Line) -> None:
    line.kind, line.style, line.number = "plain", "", None
    line.content = line.text.strip()


def _settle_labels(lines: list[Line]) -> None:
    """ "Day 1: …", "Day 2: …" (the label stays in the text), "1: …", "2: …" (the number goes)."""
    before: tuple[str, int, Line, str] | None = None
    for line in lines:
        if line.kind != "plain":
            continue
        found = label_of(line.text)
        if found is not None:
            (name, number, last), content = found, line.content
        else:
            match = _NUMBER.match(line.text)
            if match is None:
                continue
            name, number, content = "", int(match[1] or match[2]), match[3]
            last = number
        if before is not None and before[0] == name and number == before[1] + 1:
            for member, value, text in ((before[2], before[1], before[3]), (line, number, content)):
                member.kind, member.style, member.number = (
                    "marked",
                    "label" if name else "1:",
                    value,
                )
                member.content = text
        before = (name, last, line, content)


def label_of(line: str) -> tuple[str, int, int] | None:
    """The name of the label a line begins with, its number, and the number up to which it goes."""
    match = _LABEL.match(line)
    if match is None:
        return None
    if match["number"]:
        number = int(match["number"])
    elif match["han"]:
        number = chinese_number(match["han"])
    elif match["roman"]:
        number = _roman(match["roman"].lower()) or 0
    else:
        number = _WORDS.get(match["word"].lower(), 0)
    if not number:
        return None
    name = f"{match['name'] or match['near'] or '第'} {match['counter'] or ''}".casefold()
    return name.rstrip(), number, int(match["to"] or number)


def _emoji(text: str) -> int:
    """Length of the emoji at the start of a text, 0 if there is none."""
    if text[:1] < "\u2190" or unicodedata.category(text[0]) != "So":
        return 0
    if 0x2190 <= ord(text[0]) < 0x2300:
        return 0  # arrows and mathematics
    end = 1
    while end < len(text) and (
        text[end] in "\ufe0f\u200d\u20e3"
        or 0x1F3FB <= ord(text[end]) <= 0x1F3FF
        or (text[end - 1] == "\u200d")
        or (0x1F1E6 <= ord(text[end]) <= 0x1F1FF and end < 2)
    ):
        end += 1
    return end


def _settle_emoji(lines: list[Line]) -> None:
    """An emoji at the start of every line of a run of plain lines is the marker."""
    run: list[tuple[Line, int]] = []
    for line in [*lines, Line("rule", "")]:
        length = _emoji(line.content) if line.kind == "plain" else 0
        if length and line.content[length:].strip():
            run.append((line, length))
            continue
        if line.kind == "blank" and run:
            continue
        if len(run) > 1:
            for member, size in run:
                member.kind, member.style, member.number = "marked", "emoji", None
                member.content = member.content[size:].strip()
        run = []
