"""The form two names are compared in, by the rules of their language.

All languages share the Unicode rules: :func:`accord.scoring.tokens.normalise` (compatibility forms,
case, quotes, dashes, blanks), digits of every script as 0-9, dots and commas that stand between no
digits taken out, hyphens, middle dots, underscores and slashes between words as blanks. On top of
them:

==========================================  ======================================================
Arabic                                      vowel signs and tatweel out; one form of alef, of yeh
                                            and alef maqsura, of heh and teh marbuta
Bengali, Hindi                              nukta out; candrabindu as anusvara
Chinese, Japanese                           no blanks between characters
Dutch, English, French, Italian, Spanish    accents off (ñ stays); the article at the beginning off
German                                      ä, ö, ü as ae, oe, ue; other accents and the article off
Russian                                     ё as е; stress marks out
==========================================  ======================================================

Traditional and simplified characters, transliteration, inflection and translation are no rules but
knowledge: they are left to a judge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, get_args

from .errors import SettingsError
from .tokens import fold_accents, normalise

__all__ = ["LANGUAGES", "Articles", "language_code", "normalise_name"]

Articles = Literal["drop", "keep"]

LANGUAGES: Mapping[str, str] = {
    "arabic": "ar",
    "bengali": "bn",
    "chinese": "zh",
    "dutch": "nl",
    "english": "en",
    "french": "fr",
    "german": "de",
    "hindi": "hi",
    "italian": "it",
    "japanese": "ja",
    "russian": "ru",
    "spanish": "es",
}
"""The languages that have rules of their own, and their codes."""

_CODES = frozenset(LANGUAGES.values())
_LATIN = frozenset({"nl", "en", "fr", "it", "es"})

_ARTICLES: Mapping[str, str] = {
    "en": r"(?:the|an?)\s+",
    "nl": r"(?:de|het|een)\s+|['’]t\s+",
    "fr": r"(?:les?|la|une?|des|du)\s+|l['’]\s*",
    "it": r"(?:il|lo|la|gli|i|le|una?|uno)\s+|(?:l|un)['’]\s*",
    "es": r"(?:el|los|las?|un[ao]?s?)\s+",
    "de": r"(?:der|die|das|dem|den|des|eine?)\s+",
}
_ARTICLE = {code: re.compile(pattern) for code, pattern in _ARTICLES.items()}

_DOT = re.compile(r"(?<!\d)[.,،、](?=\s|\w|$)|(?<=\d)[.,،、](?!\d)")
# Between two words, or between blanks. At an end it is a sign: -5 is not 5, Cl- is not Cl.
_JOINT = re.compile(r"(?<=[^\s(\[{<=>≤≥~^])[-·・‧•_/]+(?=\S)|(?<=\s)[-·・‧•_/]+(?=\s)")
_ARABIC_MARKS = re.compile("[\u064b-\u065f\u0670\u06d6-\u06ed\u0640]")
_ARABIC = str.maketrans("أإآٱىیةکۀە", "ااااييهكهه")
_INDIC = {
    "hi": str.maketrans({"\u093c": None, "\u0901": "\u0902", "\u0964": " "}),
    "bn": str.maketrans({"\u09bc": None, "\u0981": "\u0982", "\u0964": " "}),
}
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_UNSPACED = r"[\u2e80-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff]"
_BLANK = re.compile(rf"(?<={_UNSPACED})\s+(?={_UNSPACED})")


def language_code(name: str | None) -> str:
    """The code of a language that has rules of its own, ``und`` for any other.

    Examples
    --------
    >>> language_code("Bengali"), language_code("ZH-Hant"), language_code("Thai")
    ('bn', 'zh', 'und')
    """
    plain = (name or "").strip().casefold()
    code = LANGUAGES.get(plain) or re.split(r"[-_]", plain)[0]
    return code if code in _CODES else "und"


def normalise_name(text: str, language: str | None = None, *, articles: Articles = "drop") -> str:
    """A name in the form in which two names of one language are compared.

    Parameters
    ----------
    language
        A language's English name or code; one without own rules gets the Unicode rules alone.
    articles
        Whether an article at the beginning is dropped or kept. A name that is nothing but an
        article keeps it.

    Raises
    ------
    SettingsError
        When ``articles`` is unknown.

    Examples
    --------
    >>> normalise_name("The Côte d'Azur", "English")
    "cote d'azur"
    >>> normalise_name("L’Aquila", "it") == normalise_name("Aquila", "it")
    True
    """
    if articles not in get_args(Articles):
        raise SettingsError(f"articles can't be {articles!r}", cure="use drop or keep")
    return _normalised(text, language_code(language), articles == "drop")


@lru_cache(maxsize=65536)
def _normalised(text: str, code: str, drop: bool) -> str:
    form = normalise(_digits(text))
    plain = _JOINT.sub(" ", form)
    plain = _DOT.sub("", plain)
    if code == "ar":
        plain = _ARABIC_MARKS.sub("", plain).translate(_ARABIC)
    elif code in _INDIC:
        apart = unicodedata.normalize("NFD", plain).translate(_INDIC[code])
        plain = unicodedata.normalize("NFC", apart)
    elif code in ("zh", "ja"):
        plain = _BLANK.sub("", " ".join(plain.split()))
    elif code == "de":
        plain = fold_accents(plain.translate(_UMLAUTS))
    elif code == "ru":
        plain = plain.replace("ё", "е").replace("\u0301", "")
    elif code in _LATIN:
        # A tilde makes ñ a letter of its own in Spanish, año and ano being different words.
        plain = fold_accents(plain.replace("ñ", "\ue000")).replace("\ue000", "ñ")
    plain = " ".join(plain.split())
    # "A-ha" has a hyphen after its A: that is no article.
    if drop and code in _ARTICLE and _begins(code, plain) and _begins(code, form):
        plain = _ARTICLE[code].sub("", plain, count=1)
    plain = normalise(plain)
    # A name of nothing but signs keeps them: two of them are equal only if they are the same.
    return plain if any(char.isalnum() for char in plain) else form


def _begins(code: str, text: str) -> bool:
    found = _ARTICLE[code].match(text)
    return found is not None and found.end() < len(text)


def _digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
