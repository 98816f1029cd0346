"""Where the items of a sentence begin: "The colours are | red, green, and blue."

The lead-in goes up to the verb or the preposition that opens the enumeration. A sentence is an
enumeration only if three items at least stand in a row at its end.
"""

from __future__ import annotations

import re

from .parse_prose import (
    ACTED,
    ARTICLE,
    CLAUSE,
    CLAUSE_FIRST,
    COUNTED,
    GOES_ON,
    SAYS,
    are_clauses,
    is_cjk_prose,
    is_place_or_date,
    is_sentence_cjk,
    last_match,
    masked,
    says_more,
    titled,
)
from .parse_text import plain

__all__ = ["ENDING_CJK", "lead_in", "names_begin"]

# Small letters only: in titles these words have a capital ("What Is Love").
_VERB = re.compile(
    r"(?:\b(?:are|is|were|was|includ(?:e|es|ed|ing)|compris(?:e|es|ed|ing)(?: of)?|namely|such as|"
    r"(?:consist(?:s|ed|ing)?|composed|made up)(?: [a-z]+ly)? of|starr(?:ed|ing)|stars(?= [A-Z])|"
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
# The first words of what _VERB finds, but for those in "-ed".
_VERBS = frozenset(
    """are is were was include includes including comprise comprises comprising namely such consist
    consists consisting made starring stars features featuring stands contain contains has have had
    been being be means meaning written won known like sind waren gehören zählen umfasst umfassen
    lauten heißen besteht bestehen son eran fueron incluye incluyen comprende comprenden tales como
    sont étaient comprennent comprend incluent inclut tels telles comme sono erano includono
    comprendono são eram foram incluem inclui zijn är включают включает являются входят هي هم تشمل
    تضم مثل Including Starring Featuring Namely Such Это""".split()
)
_WORD = re.compile(r"\w+")


def _last_verb(part: str) -> re.Match[str] | None:
    """The last match of :data:`_VERB`, looked for only where one of its words stands."""
    words = _WORD.findall(part)
    if _VERBS.isdisjoint(words) and not any([word[-2:] == "ed" for word in words]):
        return None
    end = len(part)
    for word in reversed(words):
        end = part.rindex(word, 0, end)
        if word in _VERBS or word[-2:] == "ed":
            verb = _VERB.match(part, end)
            if verb is not None:
                return verb
    return None


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
_DASH = re.compile(r"^\w\S* \S.*?(?: [–—-] |—)(?=\w)")
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
_CAPITAL = re.compile(r"(?:(?:[Tt]he|[Aa]n?) )?[A-Z0-9\"“‘_À-Þ]")
_NUMBER = re.compile(r"\d[\d.,]*(?: ?(?:AD|BC|BCE|CE))?")
_LAST_NUMBER = re.compile(
    r"(.*\b(?:in|on|at|by|of|from|for|during|since|are|were|is|was)) "
    r"(\d[\d.,]*(?: ?(?:AD|BC|BCE|CE))?)$"
)
# Behind the last item a sentence goes on: "…, and Mars are the inner planets".
_PREDICATE = re.compile(r"(?<=re)\s+[a-z]|\s+[a-z]\S*\s+\S")
_ANSWER_IS = re.compile(r"\b[Aa]nswers?(?: is| are)$")
_WHETHER = re.compile(r"\bwhether\b")
_RELATIVE = re.compile(r"(?:and )?(?:who|whom|whose|which|where|when)\b")
# What opens a list in a relative clause as well: "the Great Lakes, which are …".
_LISTS = re.compile(r"(?:are|were|includ|compris|consist|namely|such as|composed|made up|contain)")
# What stands before a comma at the beginning of a sentence.
_INTRODUCES = re.compile(
    r"(?:In|On|At|For|During|With|As|By|From|To|Unlike|Like|After|Before|When|While|If|Although|"
    r"Since|Because|According to|Due to|Along with|Besides|Despite|Among|Under|Throughout|Within|"
    r"Today|Yes|No|However|Also|Currently|Overall|Instead|Still|Thus|Therefore)\b.*|[A-Z][a-z]+ly"
)
# The words that names as items follow.
_OPENING = frozenset(
    "through in of across with by for from to into on at between among and against like as over "
    "includes include including are were is was".split()
)
# A sentence whose verb needs a preposition: "This recipe calls for butter, …".
_CALLS_FOR = re.compile(
    r"(?:This|That|The|An?|My|Our|Your|His|Her|Its|Their|It|He|She|They|We|I)\s(?:\S+\s){0,6}"
    r"[a-z]{2,}(?:s|ed|ing)\s(?:for|on|upon|in|with|about|from|as|into|through|to)\s\S+(?:\s\S+)?$"
)
_SUBORDINATE = re.compile(r"(?:If|When|While|Although|Because|After|Before|Since|Though|To)\s")
_PREPOSITION = re.compile(
    r"\b(?:played for|written by|directed by|won by|produced by|performed by|starring|for|by|with|"
    r"between|from|in|to|of|on|upon|about|against|among|into|through|across|as|without|via)\b",
    re.I,
)
_CONNECTING = frozenset(
    "of the and de del della la le les du des van von der den di da y in on to for at with a an & "
    "'s e el al bin ibn".split()
)
_PARTICLES = frozenset("the a an de van von der da di al el bin ibn la le du".split())


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
    if separator in ",、" and is_cjk_prose(parts, separator, stopped):
        return None
    for at in range(len(parts) - 1, -1, -1):
        part = parts[at]
        if " " not in part:
            continue
        blotted = masked(plain(part)) if "*" in part or "_" in part else masked(part)
        verb = _last_verb(blotted) if len(blotted) == len(part) else None
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
            [ARTICLE.sub("", item) for item in [items[-1], *items[1:], items[-1]]]
        ):
            # "He was known for his roles in Jaws, …": names begin behind the preposition.
            cut = names_begin(blotted, cut)
            items[0] = part[cut:].strip()
        if are_clauses(items, verb[0], stopped):
            return None
        if at and stopped and _RELATIVE.match(part) and not _LISTS.match(verb[0]):
            return None  # "…, who lived with her parents, her brother, and her dog"
        in_a_row = len(items) > 2 and (joined or (len(items) > 3 and titled(items)))
        if len(items) > 2 and _ANSWER_IS.search(part, 0, cut) and not is_place_or_date(items):
            in_a_row = True
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
        if stopped and len(parts) > 3 and _INTRODUCES.fullmatch(parts[0]):
            if parts[1][:1].islower() or parts[1].startswith("I "):
                return _introduced(parts, joined)
        opened = _after_verb(parts, joined, stopped)
        if opened is not None:
            return opened
        if says_more(parts, joined, stopped):
            return None
        opened = _before_names(parts, joined) if stopped else None
        if opened is not None:
            return opened
    if separator == "," and stopped and _CALLS_FOR.match(parts[0]):
        return _after_preposition(parts, joined)
    words = [len(part.split()) for part in parts]
    if separator == "、" and stopped and is_sentence_cjk(parts, ended):
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
    if not capital and CLAUSE_FIRST.match(parts[0]) or any(CLAUSE.match(part) for part in parts):
        return None
    return "", parts


def names_begin(text: str, start: int) -> int:
    """Where the name at the end of a text begins, behind ``start``: "in the movies | Jaws".

    Capitalised words, numbers and quoted ones, with small words between them.
    """
    found = end = len(text.rstrip())
    while end > start:
        at = max(text.rfind(" ", start, end) + 1, start)
        word = text[at:end]
        if any(map(str.isupper, word)) or word[:1].isdigit() or "_" in word:
            found = at
        elif word not in _CONNECTING and word[:1] not in '"“‘(&–-':
            break
        end = at - 1
    if found == len(text.rstrip()):
        return start
    before = text[start:found].rstrip()
    particle = before.rpartition(" ")[2]
    if particle in _PARTICLES:
        return found - len(particle) - 1
    return found


def _introduced(parts: list[str], joined: bool) -> tuple[str, list[str]] | None:
    """ "To make a salad, you need lettuce, tomatoes, and cress.": the sentence begins behind it."""
    rest = [parts[1][:1].upper() + parts[1][1:], *parts[2:]]
    opened = _after_verb(rest, joined, True)
    if opened is None and not says_more(rest, joined, True):
        opened = _before_names(rest, joined) or _after_preposition(rest, joined)
    if opened is None:
        return None
    return f"{parts[0]}, {parts[1][: len(opened[0])]}", opened[1]


def _before_names(parts: list[str], joined: bool) -> tuple[str, list[str]] | None:
    """ "The Andes run through Peru, Chile, and Bolivia.": the names at the end are the items."""
    others = [ARTICLE.sub("", part.lstrip('"“‘')) for part in parts[1:]]
    if len(parts) < 3 or not (joined or len(parts) > 3):
        return None
    if not all(other[:1].isupper() for other in others):
        return None
    cut = names_begin(masked(parts[0]), 0)
    lead = parts[0][:cut].rstrip()
    if len(lead.split()) < 3 or lead.rpartition(" ")[2] not in _OPENING:
        return None
    return _shared_article(lead, [parts[0][cut:], *parts[1:]])


def _after_verb(parts: list[str], joined: bool, stopped: bool) -> tuple[str, list[str]] | None:
    """ "Brazil borders Peru, Chile, and Bolivia.": in a sentence the verb opens the list.

    Where the items are names, everything up to the first name behind the verb leads in.
    """
    first = parts[0]
    capital = titled([first, *[ARTICLE.sub("", part.lstrip('"“‘')) for part in parts[1:]]])
    if stopped and (ACTED.match(parts[-1]) or SAYS.search(masked(parts[-1]))):
        return None  # "He ran to the store, bought some milk, and came back home."
    if not stopped or len(parts) < 3 or not (joined or (capital and len(parts) > 3)):
        return None
    if _SUBORDINATE.match(first):
        return None
    if not first[:1].isupper() or max([len(part.split()) for part in parts[1:]]) > 8:
        return None
    blotted = masked(first)
    if COUNTED.search(first) and all(part[:1].isupper() for part in parts[1:]):
        return (f"{first},", parts[1:]) if len(parts) > 3 else None  # "has three sons, Al, …"
    verb = _TRANSITIVE.search(blotted)
    while verb is not None and _AUXILIARY.search(f" {verb[0]}"):
        verb = _TRANSITIVE.search(blotted, verb.end())
    if verb is None:
        return None
    cut = verb.end() + 1
    if capital:
        cut = names_begin(blotted, cut)
        if not _CAPITAL.match(blotted, cut):
            return None
        honour = _HONOUR.match(first, cut)  # "three Oscars for Jaws, Alien, and Heat"
        cut = cut if honour is None else honour.end()
    rest = first[cut:].strip()
    return _shared_article(first[:cut].rstrip(), [rest, *parts[1:]]) if rest else None


def _after_sign(parts: list[str], joined: bool) -> tuple[str, list[str]] | None:
    """ "The flag has three colours – white, blue, and red": the dash opens the list."""
    if not joined or len(parts) < 3:
        return None
    dash = _DASH.search(masked(parts[0]))
    if dash is None or (dash[0][-1] != "—" and any(part[:1].isupper() for part in parts[1:])):
        return None
    if dash[0][-1] == "—":
        if GOES_ON.search(parts[-1]):
            return None
    elif not parts[0][dash.end() :][:1].islower():
        return None
    return parts[0][: dash.end()].rstrip(), [parts[0][dash.end() :], *parts[1:]]


def _after_particle(parts: list[str], separator: str, ended: bool) -> tuple[str, list[str]] | None:
    """The lead-in of a Chinese, Japanese or Korean sentence."""
    if separator not in "、,":
        return None
    if parts[0].isascii():
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
    article = ARTICLE.match(items[0])
    if (
        article is not None
        and article[0][0] in "tT"
        and not any(ARTICLE.match(item) for item in items[1:])
    ):
        return f"{lead} {article[0].strip()}", [items[0][article.end() :], *items[1:]]
    return lead, items
