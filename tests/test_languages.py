"""Names compared by the rules of their language: what is equal, and what must not be."""

from __future__ import annotations

import pytest

from accord.scoring.errors import SettingsError
from accord.scoring.languages import LANGUAGES, language_code, normalise_name


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("Arabic", "القاهرة", "القاهره"),
        ("Arabic", "أحمد", "احمد"),
        ("Arabic", "مُحَمَّد", "محمد"),
        ("Arabic", "مـحـمـد", "محمد"),
        ("Arabic", "مصطفى", "مصطفي"),
        ("Arabic", "١٩٩٩", "1999"),
        ("Bengali", "ঢাকা।", "ঢাকা"),
        ("Bengali", "২০২০", "2020"),
        ("Bengali", "চাঁদপুর", "চাংদপুর"),
        ("Bengali", "বাড়ি", "বাড়ি"),
        ("Chinese", "北京 市", "北京市"),
        ("Chinese", "（北京）", "(北京)"),
        ("Chinese", "约翰·史密斯", "约翰史密斯"),
        ("Chinese", "２０２０年", "2020年"),
        ("Dutch", "De Nederlanden", "nederlanden"),
        ("Dutch", "België", "Belgie"),
        ("English", "The Who", "who"),
        ("English", "Washington, D.C.", "Washington DC"),
        ("English", "Beyoncé", "Beyonce"),
        ("English", "Jean-Luc Godard", "Jean Luc Godard"),
        ("French", "L’Île-de-France", "ile de france"),
        ("French", "La Réunion", "Reunion"),
        ("German", "München", "Muenchen"),
        ("German", "Die Straße", "strasse"),
        ("Hindi", "दिल्ली।", "दिल्ली"),
        ("Hindi", "चाँद", "चांद"),
        ("Hindi", "ख़ान", "खान"),
        ("Hindi", "१९४७", "1947"),
        ("Italian", "L'Aquila", "Aquila"),
        ("Italian", "Forlì", "Forli"),
        ("Japanese", "ﾄｳｷｮｳ", "トウキョウ"),
        ("Japanese", "ジョン・スミス", "ジョン スミス"),
        ("Japanese", "東京 都", "東京都"),
        ("Russian", "Королёв", "Королев"),
        ("Spanish", "El Salvador", "salvador"),
        ("Spanish", "Perú", "Peru"),
        ("Thai", "๒๕๖๓", "2563"),
        ("Korean", "서울.", "서울"),
    ],
)
def test_equal_names(language: str, one: str, other: str) -> None:
    assert normalise_name(one, language) == normalise_name(other, language)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("Spanish", "año", "ano"),
        ("Russian", "мой", "мои"),
        ("English", "C#", "C"),
        ("English", "3.5", "35"),
        ("English", "A", "The"),
        ("Japanese", "はし", "ばし"),
        ("Chinese", "北京", "南京"),
        ("Thai", "Beyoncé", "Beyonce"),
        ("Hindi", "कमल", "कमला"),
        ("English", "!!!", "???"),
    ],
)
def test_different_names_stay_different(language: str, one: str, other: str) -> None:
    assert normalise_name(one, language) != normalise_name(other, language)


def test_normalising_twice_changes_nothing() -> None:
    texts = ["The The", "L'Aquila", "Die Straße", "北京 · 市", "مُحَمَّد", "a.b.c", "The", "ñandú"]
    for language in [*LANGUAGES, "Thai"]:
        for text in texts:
            once = normalise_name(text, language, articles="keep")
            assert normalise_name(once, language, articles="keep") == once, (language, text)


def test_articles_by_setting() -> None:
    assert normalise_name("The Who", "en", articles="keep") == "the who"
    assert normalise_name("La Paz", "en") == "la paz"
    with pytest.raises(SettingsError, match="articles"):
        normalise_name("x", "en", articles="some")  # type: ignore[arg-type]  # the mistake


def test_codes_and_names() -> None:
    assert all(language_code(name) == code for name, code in LANGUAGES.items())
    assert language_code("zh-Hant") == "zh"
    assert language_code(None) == language_code("Klingon") == "und"


def test_a_sign_at_an_end_is_part_of_the_name() -> None:
    for one, other in (("-5", "5"), ("Cl-", "Cl"), (".5", "5"), ("10^-3", "10^3"), ("A-", "A")):
        assert normalise_name(one, "English") != normalise_name(other, "English")
    assert normalise_name("−5", "English") == normalise_name("-5", "English")
    assert normalise_name("Jean-Paul", "French") == normalise_name("Jean Paul", "French")
    assert normalise_name("दिल्ली-मुंबई", "Hindi") == normalise_name("दिल्ली मुंबई", "Hindi")
    assert normalise_name("x - y", "English") == normalise_name("x-y", "English")


def test_a_letter_before_a_hyphen_is_no_article() -> None:
    assert normalise_name("A-ha", "English") == normalise_name("A-Ha", "English") == "a ha"
    assert normalise_name("La-Z-Boy", "Spanish") == "la z boy"
    assert normalise_name("A hat", "English") == "hat"
