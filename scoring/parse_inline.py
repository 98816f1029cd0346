"""One-line enumerations: "The colours are red, green, and blue."

Only where nothing is marked. The strongest separator splits (``|``, then semicolons, ``、``,
commas), outside quotes and brackets; the lead-in goes up to a colon, or to the verb or preposition
that opens the enumeration. Prose with commas in it is not an enumeration.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .parse_lead import ENDING_CJK, lead_in
from .parse_prose import CLAUSE, is_date, is_place_or_date, last_match, masked, titled
from .parse_text import clean, plain

__all__ = [
    "Enumeration",
    "first_sentence",
    "is_bare_name",
    "names_in_a_row",
    "read_enumeration",
    "read_second_sentence",
]


@dataclass(frozen=True, slots=True)
class Enumeration:
    """The items of one line, what leads in to them, what follows, and the separator."""

    items: tuple[str, ...]
    preamble: str
    trailer: str
    separator: str


_SEPARATORS = (("|", "|"), ("•·●▪", "•"), (";；؛", ";"), ("、", "、"), (",，،", ","))
_STRUCTURE = re.compile(r"[\"“”«»「」『』《》()（）\[\]{}|;；؛、,，،:：•·●▪.。！？!?।]")
_OPEN = {"“": "”", "«": "»", "「": "」", "『": "』", "《": "》", "(": ")", "（": "）", "[": "]"}
_OPEN.update({"{": "}"})
_CLOSE = frozenset(_OPEN.values())

_AND = (
    r"(?:and|or|und|oder|sowie|et|ou|y|e|o|и|или|та|й|och|og|en|of|i|oraz|és|și|şi|ve|và|dan|ja|και|"
    r"&|और|या|এবং|اور|او|그리고|및)"
)
# Connectives are written small: "And" with a capital stands in titles.
_LEADING_AND = re.compile(
    rf"(?:{_AND}\s+|(?:以及|和|及び|及|与|與|还有|還有|或|および|ならびに|そして|または)|و\s+)(?=\S)(?![=+*/<>-])"
)
_INNER_AND = re.compile(rf"\s+(?!of\s)(?:{_AND}|و)\s+")
_INNER_AND_CJK = re.compile(
    r"(?:以及|和(?!平|谐|服)|及び|及(?![时格其早])|与(?!其)|與|および|そして)"
)
_HAN = re.compile("[一-鿿]")
_SLAVIC = re.compile("[ěščřžýůťďňľ]", re.I)
_INNER_A = re.compile(r"\s+a\s+")
# Dutch "of" is "or"; elsewhere it stands inside names.
_DUTCH = re.compile(r"\b(?:het|een|zijn|kunt|je|wit|rood|zwart|geen|ook|voor)\b")
# "en" is "and" in Dutch, "in" in Spanish and French.
_ROMANCE = re.compile(
    r"\b(?:el|la|los|las|le|les|des|est|fue|du|et|una?|une|del|à|dans|por|que|se|su|ses|y|ganó|de)\b"
)
_EN = re.compile(r"en\b")
_INNER_OF = re.compile(r"\s+of\s+")
_AND_SO_ON = re.compile(
    r"(?:[,，、]?\s*\b(?:among(?:st)? (?:many )?others|and (?:so (?:on|forth)|(?:many )?more|"
    r"(?:many )?others)|et al\.?|etc\.?|etcetera|usw\.?|u\. ?a\.|u\. ?v\. ?m\.|entre otr[oa]s|"
    r"und (?:andere|weitere|viele mehr)|y otr[oa]s|et autres|entre autres|e altri|entre outr[oa]s|"
    r"и т\. ?д\.?|и др\.?|и другие)\s*|[،,]?\s*(?:وغيرها|وغيرهم|إلخ)|"
    r"\s*(?:等等|等|など|आदि|इत्यादि)|\s+등)[.。।]?$",
    re.I,
)

# How it ends in ASCII.
_LAST_WORDS = (
    *("others", "on", "forth", "more", "al", "etc", "etcetera", "usw", "a", "m", "otros", "otras"),
    *("andere", "weitere", "mehr", "autres", "altri", "outros", "outras"),
)

_IN_SENTENCE = re.compile(
    r"(?:which|who|whom|whose|where|when|while|although|though|because|but|so|if|as|it|he|she|"
    r"they|we|you|there|this|that|these|those|however|then|thus|making|including|after|before|"
    r"since|until|especially|particularly|usually|often|mainly|mostly|also|not|known|located|held|"
    r"based|born|followed|depending|according|meaning|with)\s"
)
_ASIDE = re.compile(r"(?:[a-z]+(?:ly|ing|ed)|set|made|led|seen|given|taken|written) ")
_RELATIVE = re.compile(r"(?:which|who|whom|whose|where|although|though|because|but)\b")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Za-z]|St|Dr|Mr|Mrs|Ms|Mt|Mts|Jr|Sr|No|Nr|vs|Lt|Sgt|Col|Gen|Capt|Prof|Rev|Inc|Ltd|"
    r"Co|Corp|Bros|ft|feat|etc|e\.g|i\.e|z\.B|ca|approx|Vol|Ch|Fig|dept|est)|\.[A-Za-z])$",
    re.I,
)
_DOTTED = re.compile(r"\b(?:[A-Za-z]\.[A-Za-z]|Jr|Sr|Inc|Ltd|Co|Corp|Bros)$")
_CLOSING = re.compile(r"\b(?:etc|jr|sr|inc|co)$", re.I)


# American printers put a separator before the closing quote: "Hey Jude," and "Help!".
_COMMA_INSIDE = re.compile(r"([,;])([\"”])(?=\s+(?:(?:and|or|&)\s+)?[\"“])")
_STOP_INSIDE = re.compile(r"(\.)([\"”])(?=\s*$)")
_AFTERWARDS = re.compile(
    r"(?:in (?:that|this|no particular|alphabetical|chronological|order)\b|respectively|to name|"
    r"for (?:example|instance)|(?:as well|too)$)"
)


def read_enumeration(line: str) -> Enumeration | None:
    """The enumeration in one line, or None where there is none."""
    line = plain(" ".join(line.split()))
    if line[:1] == "[" and line[-1:] == "]" and "[" not in line[1:]:
        line = line[1:-1]
    if line.count('"') > 3 or line.count("”") > 1:
        line = _outside_quotes(line)
    tokens = _structure(line)
    stripped = line.strip()
    if stripped.startswith("|") and stripped.count("|") > 2:
        return _pipes(line)
    end = first_sentence(line, tokens)
    for at, sign in tokens:  # "…, and francium; they are all soft": another sentence
        if sign in ";；" and at < end and CLAUSE.match(line[at + 1 :].lstrip()):
            end = at
            break
    colon = _colon(line, tokens, end)
    if colon is not None and _all_pairs(line):
        colon = None  # "First: Rome, Second: Oslo": each has its own
    start = 0 if colon is None else colon
    for signs, name in _SEPARATORS:
        cuts = [at for at, sign in tokens if sign in signs and start <= at < end]
        if name == ",":
            cuts = [at for at in cuts if not _THOUSANDS.match(line, at - 1)]
        if not cuts:
            continue
        found = _split(line, start, end, cuts, name, led=colon is not None)
        if found is not None:
            return found
        if colon is not None:
            # No list after the colon: the whole sentence may be one.
            cuts = [at for at, sign in tokens if sign in signs and at < end]
            found = _split(line, 0, end, cuts, name, led=False)
            if found is not None:
                return found
    return None


_PAIR = re.compile(r":(?=\s)|：")


def _outside_quotes(line: str) -> str:
    """With separators that stand before a closing quote behind it, and then the last full stop."""
    moved = _COMMA_INSIDE.sub(r"\2\1", line)
    return line if moved == line else _STOP_INSIDE.sub(r"\2\1", moved)


def _all_pairs(line: str) -> bool:
    """Whether every part between semicolons, else commas, has a colon of its own."""
    sign = next((sign for sign in ";；" if sign in line), None)
    parts = line.split(sign) if sign is not None else re.split("[,，]", line)
    return len(parts) > 1 and all(len(_PAIR.findall(part)) == 1 for part in parts)


_LISTING = re.compile(
    r"(?:\b(?:are|were|includ(?:e|es|ed|ing)|such as|(?:consists?|composed|made up) of|"
    r"compris(?:e|es)|[a-z]{3,}ed by|written by|starring|featuring|sind|waren|son|fueron|sont|"
    r"sono|erano|são|eram|zijn)(?: the)?|[:：])$"
)


def read_second_sentence(line: str) -> Enumeration | None:
    """The enumeration that ends an answer of two sentences: "There are three. These are …"."""
    line = plain(" ".join(line.split()))
    end = first_sentence(line)
    while end < len(line) and line[end] in ".!。！":
        end += 1
    if end > 200 or not line[end:].strip() or "," in line[:end]:
        return None
    found = read_enumeration(line[end:].lstrip())
    if found is None or found.trailer or len(found.items) < 3:
        return None
    if _LISTING.search(found.preamble) is None:
        return None
    return replace(found, preamble=f"{line[:end]} {found.preamble}")


_NAME = r"[A-Z0-9][A-Za-z0-9À-ɏ]*(?:-[A-Z0-9][A-Za-z0-9À-ɏ]*)*"
_NAMES = rf"(?:[A-Z]\. )?{_NAME}(?: (?:[A-Z]\.(?= )|\(\d{{4}}\)|{_NAME}|of|the|de|van))*"
_IN_A_ROW = re.compile(rf"{_NAMES}(?:, {_NAMES}){{2,}}")
_ONE_OR_TWO = re.compile(rf"(?![A-Z]\. ){_NAMES}(?:, {_NAMES})?")
_SO_ON = frozenset(
    "others on forth more al etc etcetera usw otros otras andere weitere mehr autres altri outros "
    "outras altre a m".split()
)
_NO_NAMES = re.compile(
    "Sorry|Désolé|Desculpe|Üzgünüm|Bilmiyorum|Including|Starring|Featuring|Namely|Such"
)


_ENDS_NAME = re.compile(r", (?:Jr|Sr|Inc|Ltd|LLC|Corp|Esq)\b")
# A date, or numbers behind the first item; a foreign sentence.
_BEFORE_NUMBER = re.compile(r"[a-z.] \d")
_PERHAPS_NOT = re.compile(
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d|\bof \d"
)
_FOREIGN = re.compile(r"(?:Er|Sie|Es|Il|Elle|Ils|On|Lui|Lei|Hij|Zij)\s")


def names_in_a_row(line: str) -> list[str] | None:
    """The items of "Ann Lee, Bob Ray, and Cid Poe."; None where a rule about sentences may apply.

    Capitalised words and numbers between commas, nothing to be taken off: what
    :func:`read_enumeration` finds in such a line, without looking for what it can't hold.
    """
    if line[-1:] == ".":
        line = line[:-1]
        if _DOTTED.search(line[-12:]) is not None:
            return None
    if " and " in line:
        before, _, last = line.rpartition(" and ")
        if "," in last:
            return None
        line = f"{before.removesuffix(',')}, {last}"
    if _IN_A_ROW.fullmatch(line) is None:
        return None
    parts = line.split(", ")
    if max([part.count(" ") for part in parts]) > 11 or max(map(len, parts)) > 120:
        return None
    if len(parts) < 5 and is_place_or_date(parts) or _ENDS_NAME.search(line) is not None:
        return None
    if _FOREIGN.match(line) is not None:
        return None
    if _BEFORE_NUMBER.search(line) is not None and _PERHAPS_NOT.search(line) is not None:
        return None
    if parts[-1].rpartition(" ")[2].casefold() in _SO_ON or _NO_NAMES.search(line) is not None:
        return None
    return parts


def is_bare_name(line: str) -> bool:
    """Whether a line is one name, or two between which there is a comma: one bare answer."""
    if len(line) > 100 or line.count(" ") > 11 or _ONE_OR_TWO.fullmatch(line) is None:
        return False
    return line.rpartition(" ")[2].casefold() not in _SO_ON and _NO_NAMES.search(line) is None


def _structure(line: str) -> list[tuple[int, str]]:
    """Separators, colons and sentence ends outside quotes and brackets, with their places."""
    found: list[tuple[int, str]] = []
    inside: list[tuple[int, str, int]] = []  # place, closing sign, tokens found before it
    straight: tuple[int, int] | None = None
    held: list[tuple[int, str]] = []
    for match in _STRUCTURE.finditer(line):
        sign, at = match[0], match.start()
        if sign in ".!?" or sign in "•·●▪":  # count before a blank only, dots between two
            if not line[at + 1 : at + 2].isspace() and (sign in "•·●▪" or at + 1 < len(line)):
                continue
            if sign in "•·●▪" and not line[at - 1 : at].isspace():
                continue
        if sign == '"':
            if straight is None:
                straight = (at, len(inside))
            else:
                straight = None
                held.clear() if not inside else None
        elif sign in _OPEN:
            inside.append((at, _OPEN[sign], len(held)))
        elif sign in _CLOSE:
            if inside and inside[-1][1] == sign:
                kept = inside.pop()[2]
                del held[kept:]
        elif inside or straight is not None:
            held.append((at, sign))
        else:
            found.append((at, sign))
    # What was opened and never closed (a cut-off answer) holds nothing back.
    return sorted([*found, *held]) if held else found


def first_sentence(line: str, tokens: list[tuple[int, str]] | None = None) -> int:
    """Where the first sentence ends: the place behind its text, before the full stop."""
    for at, sign in tokens if tokens is not None else _structure(line):
        if sign in "。！？।":
            return at
        if sign in ".!?":
            following = line[at + 1 : at + 3].lstrip()[:1]
            before = line[max(0, at - 12) : at]
            if not following and sign == "." and _DOTTED.search(before):
                return len(line)
            if sign == "." and _ABBREVIATION.search(before):
                # Only after some abbreviations can a sentence start.
                if following and not (following.isupper() and _CLOSING.search(before)):
                    continue
            elif following.isalpha() and not following.isupper():
                continue
            return at
    return len(line)


def _colon(line: str, tokens: list[tuple[int, str]], end: int) -> int | None:
    """Behind the colon that opens the list, if there is one."""
    comma = -1
    for at, sign in tokens:
        if at >= end:
            return None
        if sign in ",;":
            comma = at
        if sign == ":" and comma >= 0 and line[comma + 1 : at].strip().isupper():
            continue  # "in Suits, CSI: NY, and Castle"
        if sign == "：" or (sign == ":" and line[at + 1 : at + 2] in ("", " ")):
            return at + 1
    return None


def _pipes(line: str) -> Enumeration | None:
    items = [item for part in line.split("|") if (item := clean(part.strip()))]
    return Enumeration(tuple(items), "", "", "|") if len(items) > 1 else None


def _split(
    line: str, start: int, end: int, cuts: list[int], separator: str, *, led: bool
) -> Enumeration | None:
    bounds = [start - 1, *cuts, end]
    parts = [line[a + 1 : b].strip() for a, b in zip(bounds, bounds[1:], strict=False)]
    if separator == ",":
        if any([part[:1] in "JSILCEPM" and _SUFFIX.fullmatch(part) for part in parts]):
            parts = _with_suffixes(parts)
        if any([part[:1].isdecimal() for part in parts]) and _MONTH_DAY.search(line):
            parts = _with_years(parts)
    rest = line[end:].lstrip(".。！？!?।;； ").strip()
    parts, clause = _without_clause(parts, separator)
    last = parts[-1]
    so_on = None
    if not last.isascii() or last.rstrip(". ").casefold().endswith(_LAST_WORDS):
        so_on = _AND_SO_ON.search(last)
    if so_on is not None:
        parts[-1] = parts[-1][: so_on.start()].strip()
    parts = [part for part in parts if part]
    if len(parts) < 2 and not (so_on and parts):
        return None
    ended = so_on is not None
    if len(parts) > 1 and not parts[-1].isascii():
        shorter = ENDING_CJK.sub("", parts[-1])
        if shorter and shorter != parts[-1]:
            parts[-1], ended = shorter, True
    if len(parts) == 2 and separator == "," and _ASIDE.match(parts[1]):
        return None  # "…, primarily in Oxfordshire and Gloucestershire"
    parts, joined = _last(parts, separator)
    parts = _without_waw(parts) if separator == "," else parts
    preamble = line[:start].strip() if led else ""
    if not led:
        opened = lead_in(
            parts, joined or so_on is not None, separator, ended=ended, stopped=end < len(line)
        )
        if opened is None:
            return None
        preamble, parts = opened
    elif separator == "," and (len(parts) < 3 and not joined and so_on is None or is_date(parts)):
        return None
    longest = 12 if titled(parts) else 8
    if separator == "," and any(len(part.split()) > longest or len(part) > 120 for part in parts):
        return None
    if separator == "," and any(_IN_SENTENCE.match(part) for part in parts[1:]):
        return None
    items = tuple(item for part in parts if (item := clean(part)))
    if len(items) < 2:
        return None
    return Enumeration(items, preamble, " ".join(filter(None, [clause, rest])), separator)


_MONTH_DAY = re.compile(
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2}"
    r"(?:st|nd|rd|th)?\s*(?=,|$)"
)
_YEAR = re.compile(r"\d{4}(?=$|\D)")


def _with_years(parts: list[str]) -> list[str]:
    """ "on November 22, 2019, by …": the year belongs to its date."""
    out: list[str] = []
    for part in parts:
        if out and _YEAR.match(part) and (day := _MONTH_DAY.search(out[-1])):
            if day.end() == len(out[-1]):
                out[-1] += f", {part}"
                continue
        out.append(part)
    return out


_SUFFIX = re.compile(r"(?:Jr|Sr|Inc|Ltd|LLC|Corp|Esq|Ph\. ?D|M\.D)\.?")


def _with_suffixes(parts: list[str]) -> list[str]:
    """ "Sammy Davis, Jr." and "Monsters, Inc." are one name each."""
    out: list[str] = []
    for part in parts:
        if out and _SUFFIX.fullmatch(part):
            out[-1] += f", {part}"
        else:
            out.append(part)
    return out


def _without_clause(parts: list[str], separator: str) -> tuple[list[str], str]:
    """Without a clause that follows the items: "…, and Ringo; they split", "…, which I like"."""
    clause: list[str] = []
    if separator == "、" and "，" in parts[-1] and not any("，" in part for part in parts[:-1]):
        last, _, after = parts[-1].partition("，")
        return [*parts[:-1], last], after
    if separator == ",":
        last, sign, after = parts[-1].partition("; ")
        if sign:
            parts, clause = [*parts[:-1], last.strip()], [after]
        while len(parts) > 3 and (CLAUSE.match(parts[-1]) or _AFTERWARDS.match(parts[-1])):
            clause.insert(0, parts[-1])
            parts = parts[:-1]
        if len(parts) == 3 and (
            _RELATIVE.match(parts[-1]) or (_INNER_AND.search(parts[1]) and CLAUSE.match(parts[-1]))
        ):
            clause.insert(0, parts[-1])
            parts = parts[:-1]
    return parts, ", ".join(clause)


def _last(parts: list[str], separator: str) -> tuple[list[str], bool]:
    """Without the connective before the last item; whether there was one."""
    last = parts[-1]
    leading = _LEADING_AND.match(last)
    romance = separator == "," and " en " in f" {last}" and _ROMANCE.search(" ".join(parts))
    if leading is not None and romance and _EN.match(last):
        leading = None
    if leading is not None:
        return [*parts[:-1], last[leading.end() :].strip()], True
    if separator == "," and last.startswith("و") and len(last) > 3 and not _WAW.match(last):
        return [*parts[:-1], last[1:].strip()], True
    if separator == "," and " " not in last and last.isascii():
        return parts, False
    if separator in (",", "、"):
        pattern = _INNER_AND_CJK if separator == "、" else _INNER_AND
        inner = last_match(pattern, masked(last))
        if inner is not None and romance and inner[0].strip() == "en":
            inner = None
        if inner is not None and all(pattern.search(part) for part in parts[:-1]):
            return parts, False  # "salt and pepper, bread and butter"
        if inner is None and separator == "," and len(parts) > 1 and _HAN.search(last):
            inner = last_match(_INNER_AND_CJK, masked(last))
        if inner is None and _SLAVIC.search(" ".join(parts)):
            inner = last_match(_INNER_A, masked(last))  # Czech and Slovak
        if inner is None and " of " in last and _DUTCH.search(" ".join(parts)):
            inner = last_match(_INNER_OF, masked(last))
        if inner is not None and last[: inner.start()].strip() and last[inner.end() :].strip():
            return [*parts[:-1], last[: inner.start()].strip(), last[inner.end() :].strip()], True
    return parts, False


_WAW = re.compile("(?:واشنطن|وارسو|وهران|وجدة|ويلز|ويلينغتون|والت|وليام|ويليام|وردة?)(?!\\w)")
_THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")


def _without_waw(parts: list[str]) -> list[str]:
    """Without the Arabic "and" that is written at the front of every further item."""
    between = parts[1:-1]
    if not between or not all(part.startswith("و") and len(part) > 3 for part in between):
        return parts
    return [parts[0], *[part[1:] for part in between], parts[-1]]
