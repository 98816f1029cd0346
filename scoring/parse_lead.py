"""Where the items of a sentence begin: "The colours are | red, green, and blue."

The lead-in goes up to the verb or the preposition that opens the enumeration. A sentence is an
enumeration only if three items at least stand in a row at its end.
"""

from __future__ import annotations

import re

from .parse_text import plain

__all__ = [
    "CLAUSE",
    "ENDING_CJK",
    "is_date",
    "is_place_or_date",
    "last_match",
    "lead_in",
    "masked",
    "titled",
]

# Small letters only: in titles these words have a capital ("What Is Love").
_VERB = re.compile(
    r"(?:\b(?:are|is|were|was|includ(?:e|es|ed|ing)|compris(?:e|es|ed|ing)(?: of)?|namely|such as|"
    r"consist(?:s|ed|ing)? of|composed of|made up of|starr(?:ed|ing)|stars(?= [A-Z])|"
    r"featur(?:es|ed|ing)|stands for|contain(?:s|ed)?|(?:has|have|had)(?= (?:an? |the ))|"
    r"[a-z]{2,}ed (?:for|by|with|from|in|as|into|among|between|across|through)|"
    r"(?<=[a-z] )(?:been|being|be)|means|meaning|written by|won by|known as|called|named|like|"
    r"sind|waren|gehören|zählen|umfass(?:t|en)|lauten|heißen|besteh(?:t|en) aus|"
    r"son|eran|fueron|incluyen?|comprenden?|tales como|como|"
    r"sont|étaient|comprennent|comprend|inclu(?:ent|t)|tels que|telles que|comme|"
    r"sono|erano|includono|comprendono|são|eram|foram|incluem|inclui|zijn|är|"
    r"включают|включает|являются|входят|هي|هم|تشمل|تضم|مثل)|"
    r"^(?:Including|Starring|Featuring|Namely|Such as|Это))(?!\w)"
)
_VERB_CJK = re.compile(
    "包括|包含|分别(?:是|为)|主要(?:有|是)|有以下|例如|比如|譬如|共有|喜欢|需要|拥有|擅长|精通|"
    "(?:导演|出演|写|创作|发明|获得|演|去|学)[了过](?!.*了)|^由|(?:(?<=..)有|(?<=.)是)(?=[^、，的]{1,12}$)|"
    "(?:には|としては|では|は)、?"
)
ENDING_CJK = re.compile(
    "(?:など)?(?:です|であ(?:る|ります)|があ(?:る|ります)|が(?:挙|あ)げられます)$|"
    "(?: ?등)?(?:입니다|이다|이에요|[이가] 있습니다|[이가] 있다)$|"
    "(?:等)?(?:共同)?(?:组成|构成)(?:的)?$"
)
_TOPIC_KO = re.compile(r"\S(?:에는|로는|은|는)\s+(?=\S)")
_DASH = re.compile(r"^\w\S* \S.*? [–—-] (?=\w)")
_VERB_TAIL = re.compile(
    r"\s+(?:(?![A-Z\d]|(?:cups?|glass|pinch|slices?|pieces?|bottles?|pounds?|grams?|ounces?|"
    r"teaspoons?|tablespoons?)\b)[\w-]+\s+){0,2}?of(?=\s)|"
    r"\s+(?:held|born|set|found|made|won|built|led|spoken|written|sung|[a-z]{3,}ed)\s+"
    r"(?:in|by|at|on|from|for|to|with)(?=\s)"
)
# What opens an enumeration behind a subject. Stems that are nouns as well need an ending.
_TRANSITIVE = re.compile(
    r"(?<=\S )(?:"
    r"(?:direct|produc|releas|invent|creat|discover|found|paint|publish|record|perform|host|visit|"
    r"defeat|cover|border|us|need|requir|offer|provid|involv|receiv|support|own|conquer|join|play|"
    r"select|combin|mix|add|liv|work|lik|lov|prefer|want|attend|serv|design|develop|introduc|"
    r"affect|caus|help|reduc|improv|protect|portray|represent|replac|span|shar|explor|collect|scor|describ|"
    r"show|contribut)"
    r"(?:es|s|ed)|wr(?:ote|ites)|w(?:on|ins)|s(?:old|ells)|ma(?:de|kes)|sp(?:oke|eaks)|ate|eats|"
    r"s(?:ang|ings)|t(?:aught|eaches)|b(?:uilt|uilds|ought|uys)|g(?:ave|ives|rew|rows)|took|takes|"
    r"has|have|had|tells|told|saw|sees|led|leads|wore|wears|met|meets|beat|beats|kept|keeps|studie[sd]|carrie[sd]|"
    r"(?<=[Ii] )[a-z]{2,}|(?<=[Yy]ou )[a-z]{2,}|(?<=[Ww]e )[a-z]{2,}|(?<=[Tt]hey )[a-z]{2,}|"
    r"(?<=can )[a-z]{2,}|(?<=could )[a-z]{2,}|(?<=may )[a-z]{2,}|(?<=should )[a-z]{2,}|"
    r"(?<=will )[a-z]{2,}|(?<=would )[a-z]{2,}|(?<=must )[a-z]{2,}"
    r"|flows?|runs|ran|passes|lies|comes|goes|extends"
    r")(?: (?:in|on|at|of|with|for|from|to|into|as|by|through|across|along|between))?(?= )"
)
_AUXILIARY = re.compile(
    r" (?:can|could|may|might|should|will|would|must|also|often|usually|mainly|have|had|do|did)"
    r"(?: (?:in|on|at|of|with|for|from|to|into|as|by))?$"
)
_HONOUR = re.compile(
    r"(?:(?:[A-Z][a-z]+ )?(?:Oscars?|Emmys?|Grammys?|Tonys?|Globes?|Awards?|Prizes?|Medals?)) "
    r"(?:for|in) (?=[A-Z0-9])"
)
_COUNTED = re.compile(
    r"\s(?:has|have|had|are|were)\s"
    r"(?:two|three|four|five|six|seven|eight|nine|ten|\d+)\s[a-z][a-z ]{0,40}$"
)
_CAPITAL = re.compile(r"(?:(?:[Tt]he|[Aa]n?) )?[A-Z0-9\"“‘_À-Þ]")
_TO_A_NAME = re.compile(
    r"\s+[a-z][^A-Z0-9\"“_]*\s(?:in|for|by|with|of|on|at|from|to)(?=\s(?:the\s)?[A-Z0-9\"“_])"
)
_NUMBER = re.compile(r"\d[\d.,]*(?: ?(?:AD|BC|BCE|CE))?")
_LAST_NUMBER = re.compile(
    r"(.*\b(?:in|on|at|by|of|from|for|during|since|are|were|is|was)) "
    r"(\d[\d.,]*(?: ?(?:AD|BC|BCE|CE))?)$"
)
# Behind the last item a sentence goes on: "…, and Mars are the inner planets".
_PREDICATE = re.compile(r"(?<=re)\s+[a-z]|\s+[a-z]\S*\s+\S")
_GOES_ON = re.compile(
    r"\s[–—-]\s[a-z]|\s(?:he|she|it|they|we)\s[a-z]|"
    r"^(?:[A-Z][\w.'’-]{0,30}\s){1,4}(?:are|were|went|have|had|has|did|do|will|would|can|could|may|"
    r"sang|won|lost|met|[a-z]{2,20}ed)\b"
)
_ACTS = re.compile(
    r"(?:[a-z]{2,20}ed|grew|went|became|was|were|is|are|has|had|won|took|made|lives?|led|left|wrote|"
    r"began|sang|met|fell)\s"
)
_PARTICIPLE = re.compile(
    r"(?:[a-z]{3,}ed|driven|led|made|known|born|written|given|held|set|built|seen|found) "
    r"(?:by|in|on|for|at|with|from|to|as) "
)
_WHETHER = re.compile(r"\bwhether\b")
_WHERE = re.compile(r"(?:from|on|in|at|to|by|for|through|during|under|over)\s")
_SUBORDINATE = re.compile(r"(?:If|When|While|Although|Because|After|Before|Since|Though|To)\s")
_PRONOUN = re.compile(r"(?:Er|Sie|Es|Il|Elle|Ils|On|Él|Ella|Lui|Lei|Он|Она|Hij|Zij)\s[a-zà-ÿа-я]")
_SAID_CJK = re.compile(".*(?:ました|ます|った|した|いる|いた|[았었했였됐]다)$")
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
_PREPOSITION = re.compile(
    r"\b(?:played for|written by|directed by|won by|produced by|performed by|starring|for|by|with|"
    r"between|from|in|to|of)\b",
    re.I,
)
_ARTICLE = re.compile(r"(?:the|a|an)\s+", re.I)
_CLAUSES = (
    r"(?:which|who|whom|whose|where|when|while|although|though|because|but|so|if|as|it|he|she|they|"
    r"we|you|there|this|that|these|those|however|then|thus|making|including|with|after|before|"
    r"since|until|such)\b"
)
# A sentence may begin so; a later part that does, with a capital, is a title.
_CLAUSE_FIRST = re.compile(_CLAUSES, re.I)
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


_BRACKETED = re.compile(r"\([^()]*\)|（[^（）]*）|\"[^\"]*\"|“[^“”]*”|《[^《》]*》")


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text):
        found = match
    return found


def masked(text: str) -> str:
    """The text with what stands in brackets or quotes blotted out, places kept."""
    return _BRACKETED.sub(lambda match: "_" * len(match[0]), text)


def titled(parts: list[str]) -> bool:
    """Whether three parts at least all begin with a capital or a number."""
    return len(parts) > 2 and all(part[:1].isupper() or part[:1].isdigit() for part in parts)


def lead_in(
    parts: list[str], joined: bool, separator: str, *, ended: bool, stopped: bool
) -> tuple[str, list[str]] | None:
    """The lead-in and the items of a line without a colon; None if it is no enumeration.

    Parameters
    ----------
    parts
        What stands between the separators, the last connective taken off.
    joined
        Whether there was a connective before the last part, or "etc." behind it.
    separator
        The kind of separator.
    ended
        Whether words that end an enumeration ("…などです") were taken off.
    stopped
        Whether a full stop follows: the line is a sentence rather than a list.
    """
    found = _opened(parts, joined, separator, ended=ended, stopped=stopped)
    return found if found is None or separator != "," else _among_numbers(*found)


def _among_numbers(lead: str, items: list[str]) -> tuple[str, list[str]]:
    """ "They won the cup in 1957, 1959, and 1960": among numbers the first is one as well."""
    if len(items) > 2 and all(_NUMBER.fullmatch(item) for item in items[1:]):
        first = _LAST_NUMBER.match(items[0])
        if first is not None:
            return f"{lead} {first[1]}".strip(), [first[2], *items[1:]]
    return lead, items


def _opened(
    parts: list[str], joined: bool, separator: str, *, ended: bool, stopped: bool
) -> tuple[str, list[str]] | None:
    titles = 0
    if separator in ",、" and _is_cjk_prose(parts, separator, stopped):
        return None
    for at in range(len(parts) - 1, -1, -1):
        part = parts[at]
        blotted = masked(plain(part)) if "*" in part or "_" in part else masked(part)
        verb = last_match(_VERB, blotted) if len(blotted) == len(part) else None
        if titles > 20:
            break  # each further one would look at all the items again
        if verb is None:
            continue
        cut = verb.end()
        tail = _VERB_TAIL.match(blotted, cut)
        if tail is not None:
            cut = tail.end()
        first = part[cut:].strip()
        if not first:
            continue
        items = [first, *parts[at + 1 :]]
        if first[:1].islower() and titled(
            [_ARTICLE.sub("", item) for item in [items[-1], *items[1:], items[-1]]]
        ):
            # "He was known for his roles in Jaws, …": names begin behind the preposition.
            further = _TO_A_NAME.match(blotted, cut)
            if further is not None:
                cut = further.end()
                items[0] = part[cut:].strip()
        named = _ARTICLE.sub("", items[0])[:1].isupper()
        if stopped and len(items) > 2 and named and _ACTS.match(items[-1]):
            return None  # "born in Hamburg, Germany, and grew up in London"
        if any(map(_PARTICIPLE.match, items[1:])) and not _PARTICIPLE.match(items[0]):
            return None  # "rose by 10%, driven by sales in Europe, Asia, and Africa"
        in_a_row = len(items) > 2 and (joined or (len(items) > 3 and titled(items)))
        if at == len(parts) - 1 or not in_a_row:
            if part[:1].isupper() and at and not _PREDICATE.match(part, cut):
                titles += 1  # "…, What is Love, …" is one if an earlier part leads in
                continue
            return None
        if _WHETHER.search(part, 0, cut):
            return None
        lead = f"{separator} ".join([*parts[:at], part[:cut].strip()])
        return _shared_article(lead, items)
    opened = _after_sign(parts, joined) or _after_particle(parts, separator, ended)
    if opened is not None:
        return opened
    if separator == ",":
        opened = _after_verb(parts, joined, stopped)
        if opened is not None:
            return opened
        if _says_more(parts, joined, stopped):
            return None
    words = [len(part.split()) for part in parts]
    if separator == "、" and stopped and _is_sentence_cjk(parts, ended):
        return None
    if separator == ";" and stopped and len(parts) == 2 and words[0] > 4 and not joined:
        if parts[0][:1].isupper() and parts[1][:1].islower() and "," not in parts[0]:
            return None  # "It depends on the source; some say …": two sentences
    if separator in (";", "、"):
        return ("", parts) if max(words) <= 25 else None
    if separator in "|•":
        return "", parts
    capital = titled(parts)
    if titles and not capital:
        return None
    if max(words) > 8 and not (capital and max(words) <= 12 and (not joined or max(words[1:]) > 4)):
        return _after_preposition(parts, joined)
    if is_place_or_date(parts):
        return None
    if not joined and (len(parts) < 3 or max(words) > (12 if capital else 6)):
        return None
    if not capital and _CLAUSE_FIRST.match(parts[0]) or any(CLAUSE.match(part) for part in parts):
        return None
    return "", parts


def _is_sentence_cjk(parts: list[str], ended: bool) -> bool:
    """Whether a Chinese or Japanese sentence that nothing opens is no list.

    "材料は、卵、牛乳です": fewer than three items. "讲述了关于友情、爱情和成长的故事": the first
    part holds more than an item.
    """
    if parts[0].endswith(("は", "が")) or (ended and len(parts) < 3):
        return True
    return len(parts[0]) > max(8, 2 * max(map(len, parts[1:])) + 2)


def _after_verb(parts: list[str], joined: bool, stopped: bool) -> tuple[str, list[str]] | None:
    """ "Brazil borders Peru, Chile, and Bolivia.": in a sentence the verb opens the list.

    Where the items are names, everything up to the first name behind the verb leads in.
    """
    first = parts[0]
    capital = titled([first, *[part.lstrip('"“‘') for part in parts[1:]]])
    if not stopped or len(parts) < 3 or not (joined or (capital and len(parts) > 3)):
        return None
    if _SUBORDINATE.match(first):
        # "To make a salad, you will need lettuce, tomatoes, and cress."
        if len(parts) < 4 or not _CLAUSE_FIRST.match(parts[1]):
            return None
        rest = parts[1][:1].upper() + parts[1][1:]
        opened = _after_verb([rest, *parts[2:]], joined, stopped)
        if opened is None:
            return None
        lead = parts[1][: len(opened[0])] if opened[0].startswith(rest[:1]) else opened[0]
        return f"{first}, {lead}", opened[1]
    if not first[:1].isupper() or max([len(part.split()) for part in parts[1:]]) > 8:
        return None
    blotted = masked(first)
    if _COUNTED.search(first) and all(part[:1].isupper() for part in parts[1:]):
        return (f"{first},", parts[1:]) if len(parts) > 3 else None  # "has three sons, Al, …"
    verb = _TRANSITIVE.search(blotted)
    while verb is not None and _AUXILIARY.search(f" {verb[0]}"):
        verb = _TRANSITIVE.search(blotted, verb.end())
    if verb is None:
        return None
    cut = verb.end() + 1
    if capital:
        while not _CAPITAL.match(blotted, cut):
            cut = blotted.find(" ", cut) + 1
            if cut == 0:
                return None
        honour = _HONOUR.match(first, cut)  # "three Oscars for Jaws, Alien, and Heat"
        cut = cut if honour is None else honour.end()
    rest = first[cut:].strip()
    return _shared_article(first[:cut].rstrip(), [rest, *parts[1:]]) if rest else None


def _says_more(parts: list[str], joined: bool, stopped: bool) -> bool:
    """Whether a sentence says something about its items, or about the first of them."""
    if not stopped:
        return False
    if _COUNTED.search(parts[0]) and len(parts) == 3 and parts[1][:1].isupper():
        return True  # "has two sons, Al and Bob": fewer than three items
    if _GOES_ON.search(masked(parts[-1])) or _PRONOUN.match(parts[0]):
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


def _is_cjk_prose(parts: list[str], separator: str, stopped: bool) -> bool:
    """Whether Chinese or Japanese parts are clauses of a sentence."""
    if stopped and len(parts) > 2 and _SAID_CJK.match(parts[-1]):
        return True
    if not stopped or not _HAN.search(parts[0]):
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


def _after_sign(parts: list[str], joined: bool) -> tuple[str, list[str]] | None:
    """ "The flag has three colours – white, blue, and red": the dash opens the list."""
    if not joined or len(parts) < 3 or any(part[:1].isupper() for part in parts[1:]):
        return None
    dash = _DASH.search(masked(parts[0]))
    if dash is None or not parts[0][dash.end() :][:1].islower():
        return None
    return parts[0][: dash.end()].rstrip(), [parts[0][dash.end() :], *parts[1:]]


def _after_particle(parts: list[str], separator: str, ended: bool) -> tuple[str, list[str]] | None:
    """The lead-in of a Chinese, Japanese or Korean sentence."""
    if separator not in "、,":
        return None
    opening = last_match(_VERB_CJK, parts[0])
    if opening is not None and len(parts) > 2:
        first = parts[0][opening.end() :].strip()
        if first:
            return parts[0][: opening.end()], [first, *parts[1:]]
        # "主な色は、赤、緑、青です"
        return (f"{parts[0]}{separator}", parts[1:]) if len(parts) > 3 else None
    topic = _TOPIC_KO.search(parts[0]) if ended and len(parts) > 2 else None
    if topic is not None:
        return parts[0][: topic.end()].rstrip(), [parts[0][topic.end() :], *parts[1:]]
    return None


def _after_preposition(parts: list[str], joined: bool) -> tuple[str, list[str]] | None:
    """ "He played for the Lakers, Heat, and Cavaliers": the last preposition opens the list."""
    first = parts[0]
    if not joined or len(parts) < 3 or any(len(part.split()) > 6 for part in parts[1:]):
        return None
    found = last_match(_PREPOSITION, masked(first))
    if found is None or not first[found.end() :].strip():
        return None
    return _shared_article(first[: found.end()], [first[found.end() :].strip(), *parts[1:]])


def _shared_article(lead: str, items: list[str]) -> tuple[str, list[str]]:
    """ "the" before the first item goes to the lead-in if no other item has an article."""
    article = _ARTICLE.match(items[0])
    if (
        article is not None
        and article[0][0] in "tT"
        and not any(_ARTICLE.match(item) for item in items[1:])
    ):
        return f"{lead} {article[0].strip()}", [items[0][article.end() :], *items[1:]]
    return lead, items


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
    return len(parts) <= 3 and any(_DATE.search(part) for part in parts)
