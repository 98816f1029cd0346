"""The text of one item: markup, citation marks, wrapping quotes and list separators taken off.

Every pattern here is linear: none can scan the same stretch twice, however long a line is.
"""

from __future__ import annotations

import html
import re

__all__ = ["clean", "head_of", "key_value", "plain", "strip_quotes"]

# Most items hold none of these and are taken as they are.
_SPECIAL = re.compile(r"[*_`\[<&\\~【\t\xa0\u2002-\u200a\u202f\u3000]")
_ENDS = frozenset(";；؛,，،、:：")
_MARKUP = re.compile(r"[*_`\[<&\\~【]")
_LINK = re.compile(
    r"!?\[([^\[\]]*)\]\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?"
    r"(?:\s\"[^\"()]{0,200}\")?\)"
)
_COMMAND = re.compile(
    r"\\(?:textbf|textit|texttt|text|emph|underline|mathrm|mathbf)\{([^{}]{0,2000})\}"
)
_BOXED = re.compile(r"\$?\\boxed\{([^{}]{0,2000})\}\$?")
_CITATION = re.compile(
    r"\s*(?:\[\^?\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,20}\^?\]|【\d{1,4}(?:[:†][^【】]{0,60})?】)"
)
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|br|cite|code|del|div|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|q|s|small|"
    r"span|strike|strong|sub|sup|t[dhr]|table|tbody|thead|tt|u|ul|var)(?:\s[^<>]{0,300})?/?>",
    re.I,
)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^\s<>]{1,500})>")
_CODE = re.compile(r"(`+)([^`]+)\1")
_STAR = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]*[^\s*\\])\*(?![\w*])")
_UNDERSCORE = re.compile(r"(?<![\w\\])_(?=[^\s_])([^_\n]*[^\s_\\])_(?!\w)")
_DOUBLE = re.compile(r"(?<!\\)(?:\*\*|(?<!\w)__(?=\S)|(?<=\S)__(?!\w)|~~)")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")

_QUOTES = {
    '"': '"',
    "'": "'",
    "“": "”",
    "‘": "’",
    "«": "»",
    "„": "“”",
    "‚": "‘’",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
}


def plain(text: str) -> str:
    """A text without Markdown's and HTML's inline markup; links keep their text.

    What stands between code ticks is kept to the letter.
    """
    if not _MARKUP.search(text):
        return text
    if "`" in text:
        out = []
        end = 0
        for match in _CODE.finditer(text):
            out += [_unmarked(text[end : match.start()]), match[2]]
            end = match.end()
        out.append(_unmarked(text[end:]))
        return "".join(out)
    return _unmarked(text)


def _unmarked(text: str) -> str:
    if "[" in text or "【" in text:
        text = _LINK.sub(r"\1", text)
    if "<" in text:
        text = _AUTOLINK.sub(r"\1", _TAG.sub("", text))
    if "*" in text or "__" in text or "~~" in text:
        if "__" in text or "~~" in text or "\\" in text:
            text = _DOUBLE.sub("", text)
        else:
            text = text.replace("**", "")
        if "*" in text:
            text = _STAR.sub(r"\1", text)
    if "_" in text:
        text = _UNDERSCORE.sub(r"\1", text)
    if "\\" in text:
        text = _BOXED.sub(r"\1", _COMMAND.sub(r"\1", text))
        text = _ESCAPED.sub(r"\1", text)
    return html.unescape(text) if "&" in text else text


def clean(text: str) -> str:
    """The text of an item: :func:`plain`, without citation marks, wrapping quotes, end separators.

    Runs of blanks become one. Case, spelling and a final full stop stay.
    """
    if not text or not (
        _SPECIAL.search(text)
        or "  " in text
        or text[-1] in _ENDS
        or text[0] in _QUOTES
        or text[-1].isspace()
        or text[0].isspace()
    ):
        return text
    text = plain(text)
    if "[" in text or "【" in text:
        text = _CITATION.sub("", text)
    text = _without_end(" ".join(text.split()))
    if text and text[0] in _QUOTES:
        text = strip_quotes(text)
    return text


def _without_end(text: str) -> str:
    """Without a list separator or a colon at the end."""
    while text and text[-1] in _ENDS:
        text = text[:-1].rstrip()
    return text


def strip_quotes(text: str) -> str:
    """Without quotation or title marks around the whole text; those around a part stay."""
    while len(text) > 2 and text[0] in _QUOTES and text[-1] in _QUOTES[text[0]]:
        opening, inside = text[0], text[1:-1]
        if opening in "'‘":
            # An apostrophe stands before a letter; a closing quote does not.
            closers = "'" if opening == "'" else "’"
            if any(
                char in closers and not inside[at + 1 : at + 2].isalpha()
                for at, char in enumerate(inside)
            ):
                break
        elif opening == '"':
            if '"' in inside:
                break
        elif not _balanced(inside, opening, _QUOTES[opening]):
            break
        text = inside.strip()
    return text


def _balanced(inside: str, opening: str, closing: str) -> bool:
    depth = 0
    for char in inside:
        if char == opening:
            depth += 1
        elif char in closing:
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


_BOLD_LEAD = re.compile(
    r"^\s*(?:(\*\*|__)(?P<bold>[^*_]+)\1|(\*\*)(?P<wide>(?:[^*]|\*(?!\*))+)\*\*)"
    r"\s*(?P<after>[-–—:：(（])?"
)
_HEAD_SIGNS = (": ", "：", " - ", " – ", " — ")
_HEAD_END = re.compile(r": |：| [-–—] |[(（\[「『《]|[)）\]」』》]")
_PAIRS = re.compile(r"[^;；:：]{1,80}[;；]\s*[^\s;；:：,.][^;；:：,.]{0,29}[:：]\s*\S")
_OPENING = "(（[「『《"
_OPEN = frozenset(_OPENING)
_CLOSE = frozenset(")）]」』》")


def head_of(raw: str, text: str) -> str | None:
    """The part of an item before an explanation, or None.

    Parameters
    ----------
    raw
        The item's first line with its markup: a bold lead before a dash, a colon or an opening
        parenthesis is the head.
    text
        The cleaned item: else the head is what stands before the earliest of ``": "``, ``"："``,
        ``" - "``, ``" – "``, ``" — "`` outside brackets.
    """
    if "**" in raw or "__" in raw:
        lead = _BOLD_LEAD.match(raw)
        if lead is not None:
            inside = (lead["bold"] or lead["wide"]).strip()
            closed = inside.endswith((":", "："))
            if (lead["after"] or closed) and raw[lead.end() :].strip():
                head = clean(inside)
                return head if head and head != text else None
    places = [place for sign in _HEAD_SIGNS if (place := text.find(sign)) >= 0]
    if not places:
        return None
    start = min(places)
    if any([sign in text[:start] for sign in _OPENING]):
        start = _outside_brackets(text)
        if start < 0:
            return None
    colon = text[start] in ":："
    end = start + (1 if text[start] == "：" else 2 if colon else 3)
    head = text[:start].strip()
    if not head or not text[end:].strip():
        return None
    if colon and (";" in text or "；" in text) and _PAIRS.match(text, end):
        return None  # "Song: Hurt; Year: 1994": attributes, no explanation
    return strip_quotes(head)


def _outside_brackets(text: str) -> int:
    """Where the first sign before an explanation stands that no bracket holds; else -1."""
    depth = 0
    for match in _HEAD_END.finditer(text):
        found = match[0]
        if found in _OPEN:
            depth += 1
        elif found in _CLOSE:
            depth = max(0, depth - 1)
        elif depth == 0:
            return match.start()
    return -1


_KEY = re.compile(r"^([^:：,，、;；.!?。！？]{1,30}?)\s*(?::(?=\s|$)|：)\s*")


def key_value(text: str) -> tuple[str, str]:
    """``key: value`` of a cleaned line; the key is ``""`` where there is no short one.

    A key has at most 30 characters and no comma or sentence mark.
    """
    match = _KEY.match(text)
    if match is None:
        return "", text
    return strip_quotes(match[1].strip()), strip_quotes(text[match.end() :].strip())
