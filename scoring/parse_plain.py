"""Answers without a marked line: plain lines, a one-line enumeration, one bare answer, or prose."""

from __future__ import annotations

import dataclasses
import re

from .parse_courtesy import closes
from .parse_inline import first_sentence, read_enumeration, read_second_sentence
from .parse_lines import Line
from .parse_quick import plain_elements
from .parse_result import Parsed
from .parse_source import find_in_order
from .parse_text import clean, head_of
from .records import Element
from .refusal import refuses

__all__ = ["read_plain"]

_SENTENCE = re.compile(r"[.!?。！？।]$")
_POLITE = re.compile(
    r"(?:sure|certainly|of course|absolutely|great question|okay|ok|yes|gladly|gerne|natürlich|"
    r"klar|claro|por supuesto|bien sûr|certo|конечно|当然|好的|"
    r"もちろん)(?: thing)?[!.。！]\s*(?=\S)",
    re.I,
)
_VERB = re.compile(
    r"\s(?:is|are|was|were|est|sont|était|ist|sind|war|waren|es|son|fue|è|sono|é|são)\s.*[.!?]$"
)
_SAID = re.compile(
    r"(?:(?:Yes|No), )?(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Ww]e|I|[Yy]ou|[Tt]h(?:ere|is|at|ese|ose)) "
    r"[a-z].*[.!]$"
)
_PREDICATE = re.compile("[是为在有]|[はが]|です|ます")
_WRAPPED = re.compile(
    r"(?:\*\*[^*]+\*\*|\"[^\"]+\"|“[^“”]+”|「[^「」]+」|《[^《》]+》|«[^«»]+»)[,;.]?$"
)


def read_plain(lines: list[Line]) -> Parsed:
    """Lines without markers: each an element if they look like a list, else one line or prose."""
    headings = [line for line in lines if line.kind == "heading" and line.style[0] == "#"]
    if len(headings) == 1 and headings[0] is lines[0] and len(lines) > 2:
        return _below(clean(headings[0].content), read_plain(lines[1:]))
    if headings and len(lines) > 1:
        return _prose()
    texts = [line.text.strip() for line in lines]
    if not texts:
        return Parsed()
    end = len(texts)
    while end > 1 and closes(texts[end - 1]):
        end -= 1
    if end < len(texts):
        return _with_trailer(read_plain(lines[:end]), texts[end:])
    if any(line.kind == "code" for line in lines) or refuses("\n".join(texts[:3])):
        return _prose()
    answer = _labelled(lines, texts)
    if answer is not None:
        return answer
    if len(texts) > 2 and all(map(_leads, texts[:2])) and not any(map(_leads, texts[2:])):
        if len(texts[0].split()) > 2 or not texts[0].isascii():
            # "Sure! Here you are:", "The planets are:"
            return _with_preamble(texts[0], read_plain(lines[1:]))
    if len(texts) == 2 and _leads(texts[0]) and not _leads(texts[1]):
        below = read_plain(lines[1:])
        if below.elements:
            return _with_preamble(texts[0], below)
    if len(texts) > 1:
        several = _several(lines, texts)
        if several is not None:
            return several
    for at, text in enumerate(texts[:2]):
        led = texts[0].endswith((":", "："))
        if at and not (led or _opens(texts)):
            break
        polite = _POLITE.match(text)
        begin = polite.end() if polite is not None else 0
        found = read_enumeration(text[begin:])
        if found is None and len(texts) == 1:
            found = read_second_sentence(text[begin:])
        if at and not led and found is not None and found.preamble:
            break  # another sentence, no list below the first one
        if found is not None:
            lead = f"{text[:begin]}{found.preamble}".strip()
            preamble = [*texts[:at], *([lead] if lead else [])]
            trailer = [*([found.trailer] if found.trailer else []), *texts[at + 1 :]]
            places = find_in_order(found.items, text, len(lead))
            return Parsed(
                plain_elements(found.items),
                "\n".join(preamble),
                "\n".join(trailer),
                "delimiter",
                f"one line, {found.separator}",
                tuple([None if place is None else lines[at].start + place for place in places]),
            )
    if len(texts) == 1 and _is_bare(texts[0]) and clean(texts[0]):
        return Parsed((_bare(texts[0]),), rule="bare answer", starts=(lines[0].start,))
    return _prose()


# What only names the answer; any other label is part of it.
_LABEL = re.compile(
    r"(?:\*\*)?(?:(?:(?:the|my) )?final answer|answer|antwort|réponse|respuesta|risposta|ответ|"
    r"最终答案|答案|回答)(?: is)?(?:\*\*)?[:：](?:\*\*)?\s*(?=\S)",
    re.I,
)


def _opens(texts: list[str]) -> bool:
    """Whether the first of two lines is a few words that open the answer: "Let me see."."""
    return (
        len(texts) == 2
        and len(texts[0].split()) in (2, 3, 4, 5, 6)
        and _SENTENCE.search(texts[0]) is not None
        and "," not in texts[0]
        and len(texts[1]) < 2000
    )


def _labelled(lines: list[Line], texts: list[str]) -> Parsed | None:
    """ "Answer: …" below other words, or before one bare answer."""
    if len(texts) > 1 and _LABEL.match(texts[0]):
        return None
    for at, text in enumerate(texts):
        label = _LABEL.match(text)
        if label is None:
            continue
        if at == len(texts) - 1 > 0 and (found := read_enumeration(text)) is not None:
            places = find_in_order(found.items, text, len(label[0]))
            return Parsed(
                plain_elements(found.items),
                "\n".join([*texts[:at], found.preamble]),
                found.trailer,
                "delimiter",
                f"one line, {found.separator}",
                tuple([None if place is None else lines[at].start + place for place in places]),
            )
        rest = text[label.end() :]
        if at == len(texts) - 1 and read_enumeration(text) is None and _is_bare(rest):
            preamble = "\n".join([*texts[:at], clean(label[0]) + label[0].strip("* \t")[-1]])
            start = lines[at].start + label.end()
            return Parsed((_bare(rest),), preamble, rule="bare answer", starts=(start,))
    return None


def _below(section: str, parsed: Parsed) -> Parsed:
    """With the heading above as the section of every element."""
    elements = [dataclasses.replace(element, section=section) for element in parsed.elements]
    return dataclasses.replace(parsed, elements=tuple(elements))


def _with_preamble(lead: str, parsed: Parsed) -> Parsed:
    """With a line that leads in above it; a text that holds no list is prose as a whole."""
    if not parsed.elements:
        return parsed
    preamble = f"{lead}\n{parsed.preamble}" if parsed.preamble else lead
    return dataclasses.replace(parsed, preamble=preamble)


def _with_trailer(parsed: Parsed, closing: list[str]) -> Parsed:
    """With closing sentences behind it; a text that holds no list is prose as a whole."""
    if not parsed.elements:
        return parsed
    trailer = "\n".join([*([parsed.trailer] if parsed.trailer else []), *closing])
    return dataclasses.replace(parsed, trailer=trailer)


def _leads(text: str) -> bool:
    """Whether a line ends in a colon."""
    return text.rstrip("*_ ").endswith((":", "："))


def _prose() -> Parsed:
    return Parsed(marker="prose", rule="prose")


def _several(lines: list[Line], texts: list[str]) -> Parsed | None:
    """Plain lines that are a list: under a line with a colon, all quoted or bold, or all short."""
    preamble: list[str] = []
    rest = texts
    if _leads(texts[0]) and not _WRAPPED.match(texts[0]):
        preamble, rest = texts[:1], texts[1:]
    if _opens(texts):
        found = read_enumeration(texts[1])
        if found is not None and len(found.items) > 2 and not found.preamble:
            return None
    if preamble and len(rest) > 1 and len(rest[0]) < 2000:
        if all(_SENTENCE.search(text) and "," not in text for text in rest[1:]):
            found = read_enumeration(rest[0])
            if found is not None and len(found.items) > 2:
                return None  # the items stand on one line, what follows closes the answer
    count = 0
    for text in rest:
        if not _is_short(text):
            break
        count += 1
    if all(_WRAPPED.match(text) for text in rest) and len(rest) > 1:
        rule = "quoted or bold lines"
    elif count == len(rest) and count > 1:
        rule = "lines below a colon" if preamble else "short lines"
    elif preamble and count > 1:
        rule = "lines below a colon"
    elif len(rest) > 2 and all(map(_is_one_sentence, rest)):
        rule, count = "short lines", len(rest)
    elif count > 2 and len(rest[count].split()) > 6 and _SENTENCE.search(rest[count]):
        rule = "short lines"
    else:
        return None
    if rule != "quoted or bold lines" and count < len(rest):
        rest, trailer = rest[:count], rest[count:]
    else:
        trailer = []
    read = [
        (_bare(text), line.start)
        for text, line in zip(rest, lines[len(preamble) :], strict=False)
        if clean(text)
    ]
    if len(read) < 2:
        return None
    elements, starts = zip(*read, strict=True)
    return Parsed(elements, "\n".join(preamble), "\n".join(trailer), "none", rule, starts)


def _bare(text: str) -> Element:
    cleaned = clean(text)
    return Element(cleaned, head=head_of(text, cleaned))


def _is_short(text: str) -> bool:
    if len(text) > 80 or len(text.split()) > 10:
        return False
    if _SENTENCE.search(text) and len(text.split()) > 3:
        return False
    return first_sentence(text) >= len(text.rstrip(".!?。！？। "))


def _is_one_sentence(text: str) -> bool:
    """Whether a line is one short sentence: a list may be made of them, or of questions."""
    if len(text) > 100 or len(text.split()) > (15 if text.endswith("?") else 10):
        return False
    return _SENTENCE.search(text) is not None and first_sentence(text) >= len(text) - 1


def _is_bare(text: str) -> bool:
    """Whether one line is an answer by itself rather than a sentence."""
    words = len(text.split())
    if len(text) > 100 or words > 12 or text.rstrip().endswith((":", "：")):
        return False
    if words == 1 and len(text) > 30 and not text.isascii():
        return False
    if len(text) > 6 and text.endswith(("。", "！")) and _PREDICATE.search(text):
        return False
    if _VERB.search(text) or _SAID.match(text):
        return False
    end = first_sentence(text)
    whole = end >= len(text.rstrip(".!?。！？। "))
    return whole and not (end < len(text) and words > 4)
