"""What each line of an answer is: a marked item, a heading, a blank, a rule, code, or plain text.

Here each line is read by itself; :mod:`accord.scoring.parse_runs` then settles the markers that
count only in a run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from .parse_source import PROGRAM, TEXTS
from .parse_table import is_row, is_rule

__all__ = ["ALPHABETS", "Line", "chinese_number", "each_alone", "read_line"]

Kind = Literal["marked", "heading", "row", "blank", "rule", "code", "plain"]


@dataclass(slots=True)
class Line:
    """One line.

    Parameters
    ----------
    kind
        What it is.
    text
        The line as it stands.
    indent
        Columns before it (a tab counts four).
    style
        Of a marked line: ``1.``, ``1)``, ``(1)``, ``a.``, ``I.``, ``一、``, ``1.1``, ``label`` or
        the bullet sign; ``#`` plus that for a numbered heading.
    number
        Its number where the style has one.
    content
        What follows the marker, with its inline markup.
    start
        Where its first character that is no blank stands in the text.
    """

    kind: Kind
    text: str
    indent: int = 0
    style: str = ""
    number: int | None = None
    content: str = ""
    start: int = 0

    @property
    def bullet(self) -> bool:
        return self.number is None

    @property
    def content_start(self) -> int:
        """Where the content stands in the text."""
        text = self.text.strip()
        if text.endswith(self.content):
            return self.start + len(text) - len(self.content)
        return self.start + max(0, text.find(self.content.lstrip("*_")))  # "**1. Name**"


_BULLETS = "-*+•·・–—●○◦▪▫■□‣⁃∙‐‑−"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзиклмнопрстуфхцчшщэюя",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "אבגדהוזחטיכלמנסעפצקרשת",
    "أبجدهوزحطيكلمنسعفصقرشت",
    "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "কখগঘঙচছজঝঞ",
    "कखगघङचछजझञ",
    "กขคงจฉช",
    "가나다라마바사아자차카타파하",
    "アイウエオカキクケコ",
)
"""Letters as they number items; where two orders share a letter, the run tells."""
# One character that is a number, by the first of each row: "①", "⑴", "⒈", "❶", "➀", "➊", "Ⅰ", "㈠".
_CIRCLED = "①-⑳⑴-⒛❶-❿➀-➓Ⅰ-Ⅻⅰ-ⅻ㈠-㈩"
_ROWS = "①⑴⒈❶➀➊Ⅰⅰ㈠"
_LETTERS = "".join(sorted({c for order in ALPHABETS[1:] for c in order + order.upper()}))
_MARKER = re.compile(
    rf"""[ \t\xa0\u3000{_BIDI}]*
    (?:
      (?P<bullet>--(?=[ ])|[{_BULLETS}])(?:[ \t\xa0\u3000]+|(?=[^\s\-*+–—>_=.]))
    | (?P<bold>\*\*|__)?
      (?:
        (?P<second>\d{{1,3}}\.\d{{1,3}})\.?[ \t]+(?=\S)
      | (?P<number>\d{{1,7}})(?P<dot>\\?(?:\.\)|\.-(?=[ ])|[.)．）、。]))(?P<same>\2)?
        (?:[ \t\xa0\u3000]+|(?=[^\s\d])|$)
      | [(（](?P<bracketed>\d{{1,3}})[)）]\.?[ \t\xa0\u3000]*
      | (?P<keycap>\d{{1,2}})\ufe0f?\u20e3[ \t\xa0.:]*
      | \*\*(?P<starred>\d{{1,3}})\*\*\\?[.)][ \t]+
      | (?P<ten>🔟)[ \t\xa0.:]*
      | (?P<circled>[{_CIRCLED}])[.、．]?[ \t\xa0\u3000]*
      | (?P<chinese>[一二三四五六七八九十百]{{1,4}})、[ \t\u3000]*
      | [(（](?P<inner_chinese>[一二三四五六七八九十百]{{1,4}})[)）]、?[ \t\u3000]*
      | (?P<letter>[A-Za-z{_LETTERS}]|[IVXLC]{{1,7}}|[ivxlc]{{1,7}})(?P<mark>[.)])[ \t\xa0]+
      | [(（](?P<inner>[A-Za-z{_LETTERS}]|[IVXLC]{{1,7}}|[ivxlc]{{1,7}})[)）][ \t\xa0\u3000]*
      )
    )
    (?P<content>\S.*)?$""",
    re.X,
)
# Most markers; the pattern above knows them as well.
_COMMON = re.compile(r"(?:(\d{1,3})([.)])[ ]+(?=\S)|([-*•])[ ]+(?=[^\s\[☐☑☒]))")
# What begins with a letter and may be a marker: "a.", "IV)", "一、".
_LETTERED = re.compile(r".[.)]|[IVXLCivxlc]{2,7}[.)]|[一二三四五六七八九十百]")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[ \t]*$")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(\S.*)$")
_BOLD_LINE = re.compile(r"(\*\*|__)([^*_].*?)\1[:：]?$")
_RULE = re.compile(r"[ \t]*([-*_=—])(?:[ \t]*\1){2,}[ \t]*$")
_ITEM = re.compile(r"\\item\b(?:[ \t]*\[[^\[\]]{0,40}\])?[ \t]*")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{\w{1,20}\*?\}(?:\[[^\[\]]{0,80}\])?$")
_BOX = re.compile(r"\[[ xX✓✔]\][ \t]+|[☐☑☒][ \t]*")
_SIGNED = re.compile(r"\d[\d.,]*\s*(?:$|[°%]|degrees?\b)")
_QUOTED = re.compile(r"[ \t]*(?:>[ \t]?)+")
_CHINESE = {char: value for value, char in enumerate("一二三四五六七八九", 1)}


def each_alone(text: str) -> list[Line]:
    """The first reading: every line as it could be by itself."""
    raw_lines = text.split("\n")
    ends = list(accumulate([len(raw) + 1 for raw in raw_lines]))
    if ">" in text and any([raw[:1] == ">" for raw in raw_lines]):  # a block quotation is packaging
        raw_lines = [_QUOTED.sub("", raw, count=1) for raw in raw_lines]
    lines: list[Line] = []
    fences = _fences(raw_lines) if "```" in text or "~~~" in text else {}
    code = False
    for at, raw in enumerate(raw_lines):
        role = fences.get(at)
        if role == "packaging":
            continue
        if role is not None:
            code = role == "open"
            line = Line("code", raw)
        elif code:
            line = Line("code", raw)
        else:
            line = read_line(raw)
        line.start = ends[at] - 1 - len(raw.lstrip())
        lines.append(line)
    if "|" in text:
        _settle_rows(lines)
    return lines


def _settle_rows(lines: list[Line]) -> None:
    """Rows of a table without outer pipes: around a rule line such as ``---|---``."""
    row = False
    for at, line in enumerate(lines):
        if is_rule(line.text) and at and "|" in lines[at - 1].text:
            row = True
            lines[at - 1].kind = "row"
        if row and "|" in line.text:
            line.kind = "row"
        else:
            row = False
    _settle_open_rows(lines)


def _settle_open_rows(lines: list[Line]) -> None:
    """Rows without outer pipes and without a rule: three lines at least with as many cells."""
    run: list[Line] = []
    width = 0
    for line in [*lines, Line("rule", "")]:
        cells = line.text.count(" | ") if line.kind == "plain" else 0
        if cells and (not run or cells == width):
            run.append(line)
            width = cells
            continue
        if len(run) > 2:
            for member in run:
                member.kind = "row"
        run = [line] if cells else []
        width = cells


def _fences(raw_lines: list[str]) -> dict[int, str]:
    """Lines that fence code; a fence around a list is packaging and its lines are left out."""
    marks = [
        (at, match)
        for at, raw in enumerate(raw_lines)
        if ("```" in raw or "~~~" in raw) and (match := _FENCE.match(raw))
    ]
    roles: dict[int, str] = {}
    at = 0
    while at < len(marks):
        start, opening = marks[at]
        closing = at + 1
        while closing < len(marks) and (
            marks[closing][1][2] or marks[closing][1][1][0] != opening[1][0]
        ):
            closing += 1
        end = marks[closing][0] if closing < len(marks) else len(raw_lines)
        inside = raw_lines[start + 1 : end]
        listed = opening[2].lower() in _TEXTS and (
            any(read_line(raw).kind in ("marked", "row") for raw in inside)
            or (len(marks) < 3 and _packaged(raw_lines, start, end))
        )
        roles[start] = "packaging" if listed else "open"
        if end < len(raw_lines):
            roles[end] = "packaging" if listed else "close"
        at = closing + 1
    return roles


_TEXTS = TEXTS | {"", "latex", "tex"}


def _packaged(raw_lines: list[str], start: int, end: int) -> bool:
    """Whether a fence stands around the whole answer, or around what a line with a colon opens."""
    before = [raw for raw in raw_lines[:start] if raw.strip()]
    if len(before) > 2 or not all(raw.rstrip("*_ ").endswith((":", "：")) for raw in before):
        return False
    return not any(PROGRAM.search(raw) for raw in raw_lines[start + 1 : end])


def read_line(raw: str) -> Line:
    """One line by itself; markers that need a run keep a style that says so (``?`` at the end)."""
    stripped = raw.strip()
    if not stripped:
        return Line("blank", raw)
    indent = _indent(raw) if raw[0] != stripped[0] else 0
    first = stripped[0]
    if first.isalpha() and _LETTERED.match(stripped) is None:
        return Line("plain", raw, indent, content=stripped)
    if first in "-*_=—" and stripped[-1] == first and _RULE.match(raw):
        return Line("rule", raw)
    common = _COMMON.match(stripped)
    if common is not None:
        number, dot, sign = common.groups()
        content = stripped[common.end() :]
        if sign is None:
            return Line("marked", raw, indent, f"1{dot}", int(number), content)
        return Line("marked", raw, indent, sign, None, content)
    if first == "#":
        heading = _HEADING.match(raw)
        if heading is not None:
            return _heading(raw, heading[1].rstrip("# \t"))
    if first == "\\":
        item = _ITEM.match(stripped)
        if item is not None:
            return Line("marked", raw, indent, "\\item", None, stripped[item.end() :])
        if _ENVIRONMENT.match(stripped):
            return Line("rule", raw)
    if first == "[" and (box := _BOX.match(stripped)) is not None and len(stripped) > box.end():
        return Line("marked", raw, indent, "[]", None, stripped[box.end() :])
    if (first == "|" and is_row(stripped)) or (first == "+" and is_rule(stripped)):
        return Line("row", raw, indent, content=stripped)
    match = _MARKER.match(raw)
    if match is not None:
        line = _marked(raw, indent, match)
        if line is not None:
            return line
    if indent == 0 and first in "*_" and (bold := _BOLD_LINE.match(stripped)) is not None:
        if "**" not in bold[2] and "__" not in bold[2]:
            return Line("heading", raw, 0, "bold", None, bold[2])
    return Line("plain", raw, indent, content=stripped)


def _indent(raw: str) -> int:
    indent = 0
    for char in raw:
        if char == "\t":
            indent += 4
        elif char == "\u3000":
            indent += 2
        elif char in " \xa0":
            indent += 1
        else:
            break
    return indent


def _heading(raw: str, content: str) -> Line:
    bare = content
    for mark in ("**", "__"):
        if bare.startswith(mark) and bare.endswith(mark) and len(bare) > 4:
            bare = bare[2:-2].strip()
    line = Line("heading", raw, 0, "#", None, content)
    numbered = _MARKER.match(bare)
    if numbered is not None and (numbered["number"] or numbered["keycap"]) and numbered["content"]:
        line.style = "#1"
        line.number = int(numbered["number"] or numbered["keycap"])
        line.text = raw
        line.content = numbered["content"]
    return line


def _marked(raw: str, indent: int, match: re.Match[str]) -> Line | None:
    content = (match["content"] or "").rstrip()
    if match["bullet"]:
        sign = match["bullet"]
        spaced = match.start("content") < 0 or raw[match.end("bullet")].isspace()
        if not spaced:
            # "**bold**" and "*italic paragraph*" are no bullets; "-5" and "-3 °C" are numbers.
            if sign == "—" or _SIGNED.match(content) or (sign == "*" and "*" in content):
                return None
            if sign in "-*+–":
                sign = f"{sign}?"
        box = _BOX.match(content)
        if box is not None:
            content = content[box.end() :]
        return Line("marked", raw, indent, sign, None, content)
    bold = match["bold"] or ""
    if match["second"]:
        first, second = match["second"].split(".")
        return Line("marked", raw, indent, f"1.1?{second}", int(first), content)
    if match["number"]:
        number = int(match["number"])
        dot = match["dot"][-1]
        style = {"．": ".", "）": ")", "-": "."}.get(dot, dot)
        style = f"1{style}" + ("?" if number > 999 else "")
    elif match["bracketed"]:
        number, style = int(match["bracketed"]), "(1)"
    elif match["keycap"]:
        number, style = int(match["keycap"]), "keycap"
    elif match["starred"]:  # "**1**. Name"
        number, style = int(match["starred"]), "1."
    elif match["ten"]:
        number, style = 10, "keycap"
    elif match["circled"]:
        number, style = circled_number(match["circled"])
    elif match["chinese"]:
        number, style = chinese_number(match["chinese"]), "一、"
    elif match["inner_chinese"]:
        number, style = chinese_number(match["inner_chinese"]), "（一）"
    else:
        label = match["letter"] or match["inner"]
        mark = match["mark"] or "()"
        return Line("marked", raw, indent, f"letter{mark}?{label}", 0, bold + content)
    if bold and not match["same"]:
        content = bold + content  # "**1. Name**": the mark belongs to the name
    return Line("marked", raw, indent, style, number, content)


def circled_number(sign: str) -> tuple[int, str]:
    """The value of a sign that is a number by itself, and the first of its row."""
    first = max(start for start in _ROWS if start <= sign)
    return ord(sign) - ord(first) + 1, first


def chinese_number(text: str) -> int:
    """The value of a Chinese number below 100."""
    tens, sign, ones = text.partition("十")
    if not sign:
        return _CHINESE.get(text[-1], 0)
    return _CHINESE.get(tens, 1) * 10 + _CHINESE.get(ones, 0)
