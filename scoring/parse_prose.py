"""Whether what commas part are items or clauses: prose is no list.

Each predicate looks at the parts of one sentence; :mod:`accord.scoring.parse_lead` asks them on its
way to the word that opens an enumeration.
"""

from __future__ import annotations

import re

__all__ = [
    "ACTED",
    "ARTICLE",
    "CLAUSE",
    "CLAUSE_FIRST",
    "COUNTED",
    "GOES_ON",
    "SAYS",
    "are_clauses",
    "is_cjk_prose",
    "is_date",
    "is_place_or_date",
    "is_sentence_cjk",
    "last_match",
    "masked",
    "says_more",
    "titled",
]

COUNTED = re.compile(
    r"\s(?:has|have|had|are|were)\s"
    r"(?:two|three|four|five|six|seven|eight|nine|ten|\d+)\s[a-z][a-z ]{0,40}$"
)
GOES_ON = re.compile(
    r"\S—[a-z]|\s[–—-]\s[a-z]|\s(?:he|she|it|they|we)\s[a-z]|"
    r"^(?:[A-Z][\w.'’-]{0,30}\s){1,4}(?:are|were|went|have|had|has|did|do|will|would|can|could|may|"
    r"sang|won|lost|met|[a-z]{2,20}ed)\b|"
    r"^(?:[A-Z][\w.'’-]{0,30}\s){1,4}(?!(?:in|on|at|to|from|by|with|for|of|and|the|de|van|von|as|or|"
    r"during|after|before|between|over|under|near|into|through|about|against|without)\b)"
    r"[a-z]{3,20} (?:in|on|at|to|from|by|with|for|the|as|into|together)\b"
)
_ACTS = re.compile(
    r"(?:[a-z]{2,20}ed|grew|went|became|was|were|is|are|has|had|won|took|made|lives?|led|left|wrote|"
    r"began|sang|met|fell)\s"
)
_PARTICIPLE = re.compile(
    r"(?:[a-z]{3,}ed|driven|led|made|known|born|written|given|held|set|built|seen|found) "
    r"(?:by|in|on|for|at|with|from|to|as) "
)
_IS_NAMED = re.compile(r"(?:is|was|named|called)$")
ACTED = re.compile(
    r"(?:came|bought|ate|drank|saw|ran|told|gave|got|found|felt|kept|said|sold|sent|spent|taught|"
    r"thought|threw|rode|rose|spoke|swam|slept|fought|flew|drove|drew|broke|brought|caught|chose|"
    r"lost|stood|took|went|met|became|began|[a-z]{2,20}ed(?= (?:the|a|an|his|her|their|its|some|to|"
    r"at|over|back|up|out|down|into|for|that)\b))\s"
)
_AUXILIARY_FIRST = re.compile(
    r"(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|does|do|did)\s"
)
SAYS = re.compile(r"(?<!that)(?<!which)(?<!who)\s(?:is|are|was|were|can|could|will|would) [a-z]")
_DONE = re.compile(r"[a-z]{3,}ed")
_HAS_VERB = re.compile(r"\S (?:is|are|was|were) \S")
_WHERE = re.compile(r"(?:from|on|in|at|to|by|for|through|during|under|over)\s")
_PRONOUN = re.compile(r"(?:Er|Sie|Es|Il|Elle|Ils|On|Él|Ella|Lui|Lei|Он|Она|Hij|Zij)\s[a-zà-ÿа-я]")
_SAID_CJK = re.compile(".*(?:ました|ます|った|した|いる|いた|[았었했였됐]다)$")
_APPOSED = re.compile(r"(?:an?|the|his|her|their|its|one of)\s[a-z]")
_APPOSITION = re.compile(r"(?:an?|the|his|her|their|its|one of)\s")
_CLAUSE_CJK = re.compile(
    "(?:是|在|有|被|把|让|就|都|也|将|并|但|而|因|所以|如果|后来|曾|毕业|出生|现在|每|他|她|它|我|你|这|那|从|使|导致|可以|同时|其中)|.*[了是]"
)
_IS_CJK = re.compile("[是为在有はが]")
_SHARED_CJK = re.compile("(?:中心|之一|作用|功能|意义|价值|特点|特征|部分|国家|城市|地区)$")
# Japanese clauses: "第一に、", "予定を立てて、", "振り返りを行い、".
_CLAUSE_JA = re.compile(
    "[ぁ-ん一-龯](?:に|から|ので|まず|また|次に|そして|しかし)$|^(?:まず|また|次に|そして|しかし)$"
)
_ACTS_JA = re.compile(".+を.{0,12}[ぁ-ん一-龯](?:い|し|て|で|り|き|み|え|け|れ|せ|る|こと)")
_SECOND_TOPIC = re.compile(r".*[一-龯ァ-ヶー](?:は|が|も).")
_PREDICATE_CJK = re.compile(".+?(?:都|均|皆|全)(?:是|为|有|在|属)")
_HAN = re.compile("[一-鿿]")
ARTICLE = re.compile(r"(?:the|a|an)\s+", re.I)
_CLAUSES = (
    r"(?:which|who|whom|whose|where|when|while|although|though|because|but|so|if|as|it|he|she|they|"
    r"we|you|there|this|that|these|those|however|then|thus|making|including|with|after|before|"
    r"since|until|such)\b"
)
# A sentence may begin so; a later part that does, with a capital, is a title.
CLAUSE_FIRST = re.compile(_CLAUSES, re.I)
CLAUSE = re.compile(_CLAUSES)
_DISTRICT = re.compile(r"\b(?:County|Province|District|Region|Parish|Prefecture|State)\b")
# Where other places lie. New York, Washington and Singapore stand in lists of cities as well.
_PLACES = frozenset(
    """usa u.s. u.s.a. us uk canada australia england scotland wales ireland france germany italy
    spain india china japan mexico brazil russia portugal austria switzerland netherlands belgium
    sweden norway denmark finland poland greece turkey egypt israel argentina chile colombia peru
    indonesia thailand vietnam philippines malaysia pakistan nigeria kenya ukraine
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii
    idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan
    minnesota mississippi missouri montana nebraska nevada ohio oklahoma oregon pennsylvania
    tennessee texas utah vermont virginia wisconsin wyoming d.c. ontario quebec
    deutschland österreich schweiz españa italia""".split()
    + ["united states", "united kingdom", "new zealand", "south africa", "south korea"]
    + ["new jersey", "new mexico", "north carolina", "south carolina", "north dakota"]
    + ["south dakota", "west virginia", "rhode island", "new hampshire", "british columbia"]
)
_DATE = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:st|nd|rd|th)?$", re.I
)
_ORDINAL = frozenset(["st", "nd", "rd", "th", "ST", "ND", "RD", "TH"])
_BRACKETED = re.compile(r"\([^()]*\)|（[^（）]*）|\"[^\"]*\"|“[^“”]*”|《[^《》]*》")


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text):
        found = match
    return found


def masked(text: str) -> str:
    """The text with what stands in brackets or quotes blotted out, places kept."""
    if not any([sign in text for sign in '("“（《']):
        return text
    return _BRACKETED.sub(lambda match: "_" * len(match[0]), text)


def titled(parts: list[str]) -> bool:
    """Whether three parts at least all begin with a capital or a number."""
    return len(parts) > 2 and all(
        [first.isupper() or first.isdigit() for first in [part[:1] for part in parts]]
    )


def are_clauses(items: list[str], verb: str, stopped: bool) -> bool:
    """Whether what follows a verb are parts of a sentence rather than items."""
    if len(items) < 3:
        return False
    named = ARTICLE.sub("", items[0])[:1].isupper()
    if stopped and (ACTED.match(items[-1]) or (named and _ACTS.match(items[-1]))):
        return True  # "born in Hamburg, Germany, and grew up in London"
    if _IS_NAMED.search(verb) and named and _APPOSED.match(items[1]):
        if not _APPOSED.match(items[2]):
            return True  # "is Whiskers, a fluffy, playful, and curious kitten"
    small = [item for item in items[1:] if item[:1].islower()]
    if any(map(_PARTICIPLE.match, small)) and not _PARTICIPLE.match(items[0]):
        return True  # "rose by 10%, driven by sales in Europe, Asia, and Africa"
    if _DONE.fullmatch(items[0]) and any(len(item.split()) > 3 for item in items[1:]):
        return True  # "was divided, one half awarded to …"
    if stopped and any(map(_AUXILIARY_FIRST.match, small)):
        return True  # "rises in the east, sets in the west, and is highest at noon"
    return stopped and all(_HAS_VERB.search(masked(item)) for item in items[1:])


def is_sentence_cjk(parts: list[str], ended: bool) -> bool:
    """Whether a Chinese or Japanese sentence that nothing opens is no list.

    "材料は、卵、牛乳です": fewer than three items. "讲述了关于友情、爱情和成长的故事": the first
    part holds more than an item.
    """
    if parts[0].endswith(("は", "が")) or (ended and len(parts) < 3):
        return True
    if any("，" in part for part in parts):
        return True
    return len(parts[0]) > max(8, 2 * max(map(len, parts[1:])) + 2)


def says_more(parts: list[str], joined: bool, stopped: bool) -> bool:
    """Whether a sentence says something about its items, or about the first of them."""
    if not stopped:
        return False
    if COUNTED.search(parts[0]) and len(parts) == 3 and parts[1][:1].isupper():
        return True  # "has two sons, Al and Bob": fewer than three items
    if GOES_ON.search(masked(parts[-1])) or _PRONOUN.match(parts[0]):
        return True
    if len(parts) == 2 and len(parts[0].split()) > 3:
        return True
    if joined:
        return False
    if any(_WHERE.match(part) for part in parts[1:]):
        return True
    if len(parts) == 3 and parts[1][:1].isupper() and parts[2][:1].islower():
        return len(parts[2].split()) > 2
    return (
        len(parts) == 3
        and parts[0][:1].isupper()
        and _APPOSITION.match(parts[1]) is not None
        and parts[2][:1].islower()
        and _APPOSITION.match(parts[2]) is None
    )


def is_cjk_prose(parts: list[str], separator: str, stopped: bool) -> bool:
    """Whether Chinese or Japanese parts are clauses of a sentence."""
    if not stopped:
        return False
    if len(parts) > 2 and not parts[-1].isascii() and _SAID_CJK.match(parts[-1]):
        return True
    if parts[0].isascii() or not _HAN.search(parts[0]):
        return False
    if separator == "、":
        if _PREDICATE_CJK.match(parts[-1]) or any(_SECOND_TOPIC.match(part) for part in parts[1:]):
            return True
        if _CLAUSE_JA.search(parts[0]) or any(map(_ACTS_JA.fullmatch, parts[1:-1])):
            return not all(map(_ACTS_JA.fullmatch, parts))
        # "…，是政治、经济和文化中心。": the last word belongs to all.
        return ("，" in parts[0] or _IS_CJK.search(parts[0]) is not None) and (
            len(parts) < 3 or _SHARED_CJK.search(parts[-1]) is not None
        )
    return any(_CLAUSE_CJK.match(part) for part in parts[1:])


def is_place_or_date(parts: list[str]) -> bool:
    """ "Vancouver, British Columbia, Canada" and "July 4, 1776" name one thing."""
    if is_date(parts):
        return True
    names = [part.casefold().rstrip(".") for part in parts]
    places = [name in _PLACES or f"{name}." in _PLACES for name in names]
    if len(parts) == 4 and not (places[-2] or any(map(_DISTRICT.search, parts[1:-1]))):
        return False
    return len(parts) <= 4 and places[-1] and not places[0]


def is_date(parts: list[str]) -> bool:
    """ "July 4, 1776" and "Thursday, November 12, 2020"."""
    if len(parts) > 3:
        return False
    dated = [part for part in parts if part[-1:].isdecimal() or part[-2:] in _ORDINAL]
    return any(map(_DATE.search, dated))
