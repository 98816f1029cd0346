"""Words of a text: the tokenizers that ROUGE-1 counts on, and the form exact matches compare.

``rouge``
    What the rouge_score package does: lower case, runs of ``a-z0-9``, optionally Porter's stemmer
    for tokens longer than three characters. Every other character separates, so an answer in
    another script has no tokens at all.
``unicode``
    NFKC and case folding, runs of ``\\w`` and combining marks; a character of a script that is
    written without blanks (Chinese, Japanese, Thai, Lao, Khmer, Burmese) is its own token.
``unicode-folded``
    The same with the accents of Latin, Greek and Cyrillic letters taken off.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, cast, get_args

from .errors import SettingsError

__all__ = [
    "TOKENIZERS",
    "Bag",
    "Forms",
    "Tokenizer",
    "bag",
    "bag_f1",
    "forms",
    "normalise",
    "rouge1_f1",
    "tokenise",
    "tokeniser",
]

Tokenizer = Literal["rouge", "unicode", "unicode-folded"]
TOKENIZERS: tuple[Tokenizer, ...] = get_args(Tokenizer)

Bag = frozenset[object]
"""A multiset of tokens as a set: the k-th copy of a token is a member of its own."""

_POINT = re.compile(r"(?<!\.)\.\d")
_WORD = re.compile(r"[a-z0-9]+")

_EDGE = " \"'‘’“”«»„‚「」『』《》〈〉*_`.,;:!?¡¿…。，、；：！？।؛،؟"

# Typographic forms of the same sign; a model writes either.
_PLAIN = {
    ord(char): plain
    for plain, chars in {"'": "‘’‚‛ʼ′´", '"': "“”„‟″", "-": "‐‑‒–—―−﹣－"}.items()
    for char in chars
}
# Characters without a shape of their own: zero-width marks, bidirectional controls, soft hyphen.
_PLAIN.update(
    {
        code: ""
        for code in (
            0x00AD,
            0x061C,
            0x180E,
            0xFEFF,
            *range(0x200B, 0x2010),
            *range(0x202A, 0x202F),
            *range(0x2060, 0x2065),
            *range(0x2066, 0x2070),
            *range(0xFE00, 0xFE10),
        )
    }
)


def normalise(text: str) -> str:
    """The form two texts are compared in for an exact match.

    NFKC, case folding, typographic quotes and dashes made plain, invisible characters taken out,
    runs of blanks made one, and blanks and punctuation taken off both ends. Brackets and signs such
    as ``#`` and ``+`` stay (``C#`` is not ``C``), and ``.5`` is 0.5, not 5. A text of nothing but
    punctuation stays as it is, so that two of them are equal only if they are the same.
    """
    return _normalise(text) if len(text) > 200 else _normalise_cached(text)


def _normalise(text: str) -> str:
    if text.isascii():
        plain = text.casefold()
    else:
        folded = unicodedata.normalize("NFKC", text).casefold().translate(_PLAIN)
        plain = unicodedata.normalize("NFKC", folded)
    plain = " ".join(plain.split())
    bare = plain.strip(_EDGE)
    if bare.isdecimal() and _POINT.search(plain):
        return f"0.{bare}"
    return bare or plain


_normalise_cached = lru_cache(maxsize=65536)(_normalise)  # long texts would fill the memory


def tokenise(text: str, *, tokenizer: Tokenizer = "rouge", stem: bool = False) -> list[str]:
    """The tokens of a text, in order.

    Parameters
    ----------
    tokenizer
        ``rouge``, ``unicode`` or ``unicode-folded`` (see the module).
    stem
        Whether tokens of more than three letters are stemmed with Porter's algorithm (English
        only: tokens with other letters stay).

    Raises
    ------
    SettingsError
        When the tokenizer is unknown.
    """
    return tokeniser(tokenizer, stem)(text)


def tokeniser(tokenizer: Tokenizer, stem: bool = False) -> Callable[[str], list[str]]:
    """The function ``text -> tokens`` for these settings; see :func:`tokenise`."""
    if tokenizer == "rouge":
        words = _rouge
    elif tokenizer == "unicode":
        words = _unicode
    elif tokenizer == "unicode-folded":
        words = _unicode_folded
    else:
        raise SettingsError(
            f"tokenizer {tokenizer!r} is unknown", cure=f"use one of {', '.join(TOKENIZERS)}"
        )
    if not stem:
        return words
    porter = stemmer()

    def stemmed(text: str) -> list[str]:
        return [porter(token) for token in words(text)]

    return stemmed


@lru_cache(maxsize=1)
def stemmer() -> Callable[[str], str]:
    """Porter's stemmer as rouge_score applies it: to tokens of more than three characters."""
    from nltk.stem.porter import PorterStemmer

    stem = cast(Callable[[str], str], PorterStemmer().stem)

    @lru_cache(maxsize=65536)
    def porter(token: str) -> str:
        return stem(token) if len(token) > 3 and token.isascii() else token

    return porter


def bag(tokens: Sequence[str]) -> Bag:
    """A multiset as a set: the size of an intersection is then ROUGE's clipped overlap."""
    once = frozenset(tokens)
    if len(once) == len(tokens):
        return cast(Bag, once)
    seen: dict[str, int] = {}
    members: list[object] = []
    for token in tokens:
        count = seen.get(token, 0)
        seen[token] = count + 1
        members.append((token, count) if count else token)
    return frozenset(members)


def bag_f1(one: Bag, other: Bag) -> float:
    """ROUGE-1 F1 of two bags, ``2 * overlap / (size + size)``; 0 where both are empty."""
    overlap = len(one & other)
    return 2 * overlap / (len(one) + len(other)) if overlap else 0.0


def rouge1_f1(
    reference: str, predicted: str, *, tokenizer: Tokenizer = "rouge", stem: bool = False
) -> float:
    """ROUGE-1 F1 of two texts, in [0, 1].

    With the tokenizer ``rouge`` it equals ``rouge1.fmeasure`` of the rouge_score package (to the
    last digits of a float); 0 where no token is shared, two empty texts included.
    """
    words = tokeniser(tokenizer, stem)
    return bag_f1(bag(words(reference)), bag(words(predicted)))


class Forms:
    """What the aligner needs of a text: its normalised form and its bag of tokens.

    Short texts are remembered, as the systems of a study repeat each other; ``known`` is that
    memory.
    """

    def __init__(self, tokenizer: Tokenizer, stem: bool) -> None:
        self._words = tokeniser(tokenizer, stem)
        self.known: dict[str, tuple[str, Bag]] = {}

    def of(self, text: str) -> tuple[str, Bag]:
        form = self.known.get(text)
        if form is None:
            form = _normalise(text), bag(self._words(text))
            if len(text) <= 200:
                if len(self.known) > 16_384:
                    self.known.clear()
                self.known[text] = form
        return form


@lru_cache(maxsize=16)
def forms(tokenizer: Tokenizer, stem: bool) -> Forms:
    """The forms for these settings, one memory for all calls."""
    return Forms(tokenizer, stem)


def _rouge(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _unicode(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_CLASSES).split()


def _unicode_folded(text: str) -> list[str]:
    return _unicode(fold_accents(text))


def fold_accents(text: str) -> str:
    """A text without the accents of Latin, Greek and Cyrillic letters (U+0300 to U+036F)."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFD", text).translate(_ACCENTS)
    return unicodedata.normalize("NFC", apart)


_ACCENTS: dict[int, str | None] = {
    **dict.fromkeys(range(0x300, 0x370)),
    **{ord(char): plain for char, plain in zip("øØłŁđĐħĦ", "oOlLdDhH", strict=True)},
    **{ord(char): plain for char, plain in zip("æÆœŒ", ("ae", "AE", "oe", "OE"), strict=True)},
}


# Scripts written without blanks between words: (first, last) code point.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # CJK radicals
    (0x3005, 0x3007),
    (0x3040, 0x30FF),  # kana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


class _Classes(dict[int, str]):
    """What becomes of a character: itself in a word, a blank, or a token of its own."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        unspaced = any(first <= code <= last for first, last in _UNSPACED)
        if category == "Cf":
            result = ""  # a joiner or a bidirectional control separates no words
        elif not (char.isalnum() or char == "_" or category[0] == "M"):
            result = " "
        else:
            result = f" {char} " if unspaced else char
        self[code] = result
        return result


_CLASSES = _Classes()
