"""Answers that decline to answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .records import Element

__all__ = ["is_refusal", "refuses"]

# Only the first letter may be a capital: "I Can't Help Myself" is a song.
_REFUSAL = re.compile(
    r"""\b(?:
      [Ii](?:['’]m|\ am)\ (?:(?:so|very|really|truly)\ )?
        (?:sorry(?=[.!]|[,;]?\ (?:but|I|to|that|there|for|we)\b)|afraid|unable|not\ (?:able|sure))
    | [Ii]\ (?:can(?:['’]?t|not|\ not)|could(?:n['’]t|\ not)|won['’]?t|will\ not|must\ decline)\b
    | [Ii]\ do(?:n['’]t|\ not)\ (?:know|have|recall)
    | [Ii]\ (?:have|possess)\ no\ (?:information|knowledge|idea|data|record)
    | [Aa]s\ an?\ (?:AI|ai|artificial|language\ model)\b | [Ss]orry,\ (?:but|I)\b
    | (?:[Nn]ot\ enough|[Ii]nsufficient)\ (?:information|data)
    | [Nn]o\ (?:information|answer|data)\ (?:is\ )?(?:available|given|found)
    | [Ll]o\ siento | [Nn]o\ (?:lo\ sé|puedo)\b | [Jj]e\ (?:ne\ (?:sais|peux)|suis\ désolé)
    | (?:^|[.!]\s)[Dd]ésolée?\b | [Ll]eider\ (?:kann|weiß|habe|liegen|ist\ mir)\b
    | [Кк]\ сожалению | [Пп]ростите | [Уу]\ меня\ нет\ (?:такой\ )?информации
    | [Hh]et\ spijt\ me | [Ii]k\ (?:weet|kan)\b.{0,40}\bniet\b | [Üü]zgünüm | [Bb]ilmiyorum
    | [Pp]rzepraszam,\ (?:ale|nie) | [Nn]ie\ (?:wiem|mogę)\b | [Nn]on\ (?:lo\ so|posso)\b
    | [Ee]s\ tut\ mir\ leid | [Ii]ch\ (?:weiß|kann)\b.{0,40}\bnicht\b
    | [Dd]as\ weiß\ ich\ nicht | [Mm]i\ dispiace | [Nn]ão\ sei | [Dd]esculpe
    | [Ии]звините | [Яя]\ не\ (?:знаю|могу)
    )""",
    re.X,
)
# One of these stands in whatever ASCII text the pattern finds: most texts hold none.
_SIGNS = (
    *("orry", "afraid", "unable", "not able", "not sure", "can't", "cant", "cannot"),
    *("can not", "could", "won't", "wont", "will not", "decline", "do not", "don't"),
    *("have no ", "possess no ", " AI", " ai", "artificial", "language model"),
    *("ot enough", "nsufficient", "o information", "o answer", "o data"),
    *("o siento", "o puedo", "e ne peux", "e ne sais", "eider ", "et spijt", "niet", "ilmiyorum"),
    *("rzepraszam", "ie wiem", "on lo so", "on posso", "ut mir leid", "nicht", "i dispiace"),
    "esculpe",
)
_REFUSAL_CJK = re.compile(
    r"抱歉|对不起|對不起|我不知道|我无法|我無法|我不能|不清楚|申し訳|すみません|わかりません|"
    r"分かりません|できません|죄송|모르겠|알 수 없|عذر[اً]|آسف|لا أستطيع|لا يمكنني|لا أعرف|क्षमा करें|"
    r"मुझे नहीं पता|माफ़ कीजिए"
)
_REFUSAL_WORDS = frozenset(
    {"unknown", "no answer", "not sure", "idk", "i dont know", "n/a", "no idea", "unanswerable"}
    | {"cannot answer", "can't answer"}
)


def is_refusal(text: str, elements: Sequence[Element], marker: str) -> bool:
    """Whether an answer declines to answer.

    It does when it holds no element and its first 300 characters refuse in words of one of some
    twenty languages, or when it is nothing but "I don't know", "unknown", "N/A" and the like.
    "None" is an answer.
    """
    if not elements:
        return refuses(text.strip())
    if len(elements) == 1 and marker == "none":
        only = elements[0].text.casefold().replace("’", "'").strip(" .!")
        return only in _REFUSAL_WORDS
    return False


def refuses(text: str) -> bool:
    """Whether the first 300 characters of a text refuse."""
    start = text[:300]
    if start.isascii():
        return any([sign in start for sign in _SIGNS]) and _REFUSAL.search(start) is not None
    return bool(_REFUSAL.search(start) or _REFUSAL_CJK.search(start))
