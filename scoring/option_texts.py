"""The texts of a question's options, found in an answer that names no label.

Texts are compared in the form of :func:`accord.scoring.tokens.normalise`. A letter that begins a
name ("C. difficile", "D-glucose", "B cells") belongs to the name and is no option.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .tokens import normalise

__all__ = ["OptionTexts", "without_names"]

_NAME = re.compile(r"(?<![^\W_])([A-Z])(\.\s+|\s+|-)([a-z]{2,})\b")
_NAME_FORM = re.compile(r"(?<![^\W_])(?:([b-z])(?:\. | |-)|(a)(?:\. |-))(?=[a-z]{2})")
_POINT_FIVE = re.compile(r"(?<![\d.,])\.(?=\d)")
# Words that may follow a label in a sentence that is about the option.
_AFTER_LABEL = frozenset(
    # English
    "and as at because best better but by can clearly could definitely due each fits follows for "
    "from given has have here however if in instead is it its looks makes may mentions might most "
    "must nor not of on only option or over rather says seems should since so states than that the "
    "then there therefore these they this though through thus to too until very was were when "
    "where which while will with without would yes although also are alone again correct correctly "
    "right wrong incorrect true false either both being does do did "
    # how other languages go on
    "weil denn da und oder nicht ist wäre aber porque pues ya y o no es pero car puisque parce et "
    "ou est non pas mais perché poiché in quanto e è ma pois ou já omdat want en of niet maar "
    "karena sebab adalah dan çünkü bo ponieważ och är eftersom".split()
)
# What may follow an option's text in a sentence that says it; anything else could go on naming
# something longer: "15" in "the answer is 15 mg".
_OVER = re.compile(
    r"\s*(?:$|[.!?。！？।][\s\"'”)]*(?:$|\s)|[;:(\[（，；]|,(?!\d)|[-–—]\s|"
    r"\b(?:because|since|which|as|due|for|porque|weil|denn|car|perché|omdat|потому)\b|"
    r"(?:です|である|だ|입니다|이다|है|হয়)[。.।\s]*$)"
)
_JOINS = re.compile(
    r"\s*[,;/]?\s*(?:\b(?:or|and|oder|und|ou|et|o|y|e|of|en|или|и)\b|[/&,、]|或|和|と|か)\s*", re.I
)
_IS = re.compile(
    r"(?:\b(?:is|are|was|were|es|son|ist|sind|est|sont|è|é)\b|['’]s\b|=|是|は)\s*"
    r"(?:(?:the|a|an|el|la|le|der|die|das|il|lo)\s+)?",
    re.I,
)
_RIGHT = re.compile(
    r"\W*(?:(?:so|thus|hence|therefore|option)\b,?\s+)?(.{1,300}?)\s+(?:is|are|would be)\s+"
    r"(?:the\s+)?(?:correct|right|best)\b",
    re.I,
)
_CONTRAST = re.compile(
    r"(.{1,300}?),?\s+(?:and\s+|but\s+)?(?:not|rather than|instead of|nicht|pas|non|niet)\s+(.+)",
    re.I,
)
_DENIES = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|isn['’]?t|aren['’]?t|wasn['’]?t|nicht|kein\w*|pas|niet|"
    r"geen|не|нет|false|wrong|incorrect|except|unlike)\b|不|ない",
    re.I,
)
_SENTENCE = re.compile(r"(?<=[.!?。])\s+(?=\S)")


class OptionTexts:
    """The texts of the options of one question; two that are equal choose neither."""

    def __init__(self, options: Mapping[str, str], labels: Mapping[str, str]) -> None:
        forms: dict[str, list[str]] = {}
        for label, text in options.items():
            forms.setdefault(_form(text), []).append(label)
        # An option whose text is a label ("A" among blood groups) is chosen by its label alone.
        own = {_form(label) for label in labels.values()}
        self._of = {
            form: of[0] for form, of in forms.items() if form and len(of) == 1 and form not in own
        }
        self._longest_first = sorted(self._of, key=len, reverse=True)
        self._reach = 2 * max(map(len, self._of), default=0) + 80

    def exact(self, text: str) -> str | None:
        """The label whose option's text is all of ``text``, or its head in "X, not Y"."""
        if not self._of or len(text) > 2 * self._reach:
            return None
        found = self._of.get(_form(text))
        if found is None and (match := _CONTRAST.fullmatch(text.strip())):
            return self._of.get(_form(match[1])) if _form(match[2]) in self._of else None
        return found

    def after(self, text: str) -> list[str]:
        """The labels of the option texts that ``text`` begins with: one, or those joined to it."""
        if not self._of:
            return []
        # A sign after the text keeps what would be taken off its end.
        rest = _form(f"{text[: self._reach].strip()} |").removesuffix("|").strip("\"'([{“‘「 ")
        labels: list[str] = []
        while form := next((form for form in self._longest_first if rest.startswith(form)), None):
            tail = rest[len(form) :].lstrip("\"')]}”’」")
            if tail[:1].isascii() and tail[:1].isalnum():
                break
            joined = _JOINS.match(tail)
            following = tail[joined.end() :] if joined else ""
            more = any(following.startswith(other) for other in self._longest_first)
            if more or _OVER.match(tail):
                labels.append(self._of[form])
            if not more:
                break
            rest = following
        return labels

    def said(self, line: str) -> str | None:
        """The label whose option's text the last sentence ends with: "The capital is Berlin".

        Not where that sentence denies anything or holds another option's text. "X is correct" says
        X as well.
        """
        if not self._of:
            return None
        right = _RIGHT.match(line)
        if right and (label := self._of.get(_form(right[1]))):
            return label
        joined = _NAME.sub(_together, line.strip()[-2 * self._reach :])
        sentence = _SENTENCE.split(joined)[-1]
        contrast = _CONTRAST.fullmatch(sentence.strip())
        if contrast and _form(contrast[2]) in self._of:
            sentence = contrast[1]
        if _DENIES.search(sentence):
            return None
        whole = _form(sentence)
        for ending in ("です", "입니다", "である"):
            whole = whole.removesuffix(ending)
        form = next((form for form in self._longest_first if whole.endswith(form)), None)
        if form is None:
            return None
        before = whole[: -len(form)]
        if any(other in before for other in self._of if other != form):
            return None
        ends = [match.end() for match in _IS.finditer(before)]
        return self._of[form] if not before or ends[-1:] == [len(before)] else None


def without_names(text: str, labels: Mapping[str, str], options: Mapping[str, str]) -> str:
    """The text with "C. difficile", "D-glucose" and "B cells" in one word each.

    The letter means the option where the word after it is one that goes on about an option, or
    stands in that option's text. Without the options nothing can be told and nothing is changed.
    """
    if not options:
        return text

    def joined(match: re.Match[str]) -> str:
        label, word = labels.get(match[1].casefold()), match[3]
        if label is None or (match[1] == "A" and match[2].isspace()):
            return match[0]
        about = word in _AFTER_LABEL or word in re.findall(
            r"\w+", options.get(label, "").casefold()
        )
        return match[0] if about else _together(match)

    return _NAME.sub(joined, text)


def _together(match: re.Match[str]) -> str:
    return match[0] if match[1] == "A" and match[2].isspace() else match[1] + match[3]


def _form(text: str) -> str:
    return _NAME_FORM.sub(r"\1\2", normalise(_POINT_FIVE.sub("0.", text)))
