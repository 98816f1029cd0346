"""Tokenizers against the rouge_score package, and the form that exact matches compare."""

from __future__ import annotations

import random
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import tokenize
from rouge_score.rouge_scorer import RougeScorer

from accord.scoring.align import align
from accord.scoring.align_frame import align_frame
from accord.scoring.errors import SettingsError
from accord.scoring.records import Element
from accord.scoring.tokens import (
    TOKENIZERS,
    bag,
    bag_f1,
    fold_accents,
    normalise,
    rouge1_f1,
    stemmer,
    tokenise,
)

# Words that have told tokenizers apart: case folding that grows, compatibility forms, blanks that
# are not blanks, stems, repetitions, separators of every kind.
AWKWARD = (
    "the the running runs generalization generally sky dying ponies café İstanbul \u212aelvin 1.5 "
    "U.S. naïve ß Σίσυφος 東京 ﬁne ² re-run 0 00 a A _ a_b x\ry \x0b \u2028 \u00a0 ÉÉÉ don't "
    "rock'n'roll"
).split(" ") + ["a\nb", "x\r\ny", "", " ", "\x00", "\ud800", "\u0130i", "ⅷ", "𝒜", "e\u0301"]
TEXT = st.one_of(
    st.lists(st.sampled_from(AWKWARD), max_size=8).map(" ".join),
    st.text(max_size=40),
    st.text("abcdeiknrsty 019-.", max_size=60),
)


@given(TEXT, TEXT, st.booleans())
@settings(max_examples=600, deadline=None)
def test_rouge_equals_the_rouge_score_package(one: str, other: str, stem: bool) -> None:
    expected = RougeScorer(["rouge1"], use_stemmer=stem).score(one, other)["rouge1"].fmeasure
    assert rouge1_f1(one, other, stem=stem) == pytest.approx(expected, abs=1e-12)


@given(TEXT, st.booleans())
@settings(max_examples=400, deadline=None)
def test_the_tokens_are_those_of_the_rouge_score_package(text: str, stem: bool) -> None:
    porter = RougeScorer(["rouge1"], use_stemmer=True)._tokenizer._stemmer if stem else None
    assert tokenise(text, stem=stem) == tokenize.tokenize(text, porter)


@given(st.lists(TEXT, min_size=1, max_size=5), st.lists(TEXT, min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_similarities_of_both_forms_equal_the_rouge_score_package(
    golds: list[str], found: list[str]
) -> None:
    scorer = RougeScorer(["rouge1"], use_stemmer=True)
    reference, predicted = [Element(t) for t in golds], [Element(t) for t in found]
    frame = next(align_frame([reference], [(0, predicted)], stem=True).alignments())
    for pair in (*align(reference, predicted, stem=True).pairs, *frame.pairs):
        if pair.how == "rouge":
            expected = scorer.score(golds[pair.reference or 0], found[pair.predicted or 0])
            assert pair.similarity == pytest.approx(expected["rouge1"].fmeasure, abs=1e-12)


def test_only_tokens_above_three_characters_are_stemmed() -> None:
    # Porter alone makes "his" to "hi"; rouge_score leaves three characters as they are.
    assert tokenise("his this running", stem=True) == ["his", "thi", "run"]
    assert stemmer()("his") == "his"


@given(TEXT, TEXT)
def test_a_bag_is_a_multiset(one: str, other: str) -> None:
    a, b = tokenise(one), tokenise(other)
    shared = sum(min(a.count(token), b.count(token)) for token in set(a))
    assert len(bag(a) & bag(b)) == shared
    assert len(bag(a)) == len(a)
    assert bag_f1(bag(a), bag(b)) == bag_f1(bag(b), bag(a))


UNICODE = [
    ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
    ("Tokyo東京1964", ["tokyo", "東", "京", "1964"]),
    ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
    ("ﬁne ＣＡＴ", ["fine", "cat"]),
    ("Straße STRASSE", ["strasse", "strasse"]),
    ("Μάϊος ΜΆΪΟΣ", ["μάϊοσ", "μάϊοσ"]),
    ("مرحبا، عالم", ["مرحبا", "عالم"]),
    ("naïve—café", ["naïve", "café"]),
    ("e\u0301t\u00e9", ["été"]),
    ("a\u200bb \u202ec", ["ab", "c"]),
    ("a_b", ["a_b"]),
    ("!!!", []),
]


@pytest.mark.parametrize(("text", "tokens"), UNICODE)
def test_the_unicode_tokenizer(text: str, tokens: list[str]) -> None:
    assert tokenise(text, tokenizer="unicode") == [unicodedata.normalize("NFKC", t) for t in tokens]


def test_thai_is_cut_into_characters() -> None:
    tokens = tokenise("มะม่วง", tokenizer="unicode")
    assert "".join(tokens) == "มะม่วง"
    assert len(tokens) == 6


def test_accents_are_folded_on_request() -> None:
    assert tokenise("Beyoncé Łódź Øre Ægir", tokenizer="unicode-folded") == [
        "beyonce",
        "lodz",
        "ore",
        "aegir",
    ]
    # A voicing mark in Japanese and a vowel sign in Hindi are no accents.
    assert fold_accents("がぎ हिन्दी") == "がぎ हिन्दी"


def test_the_traps_of_the_default_tokenizer_are_documented_facts() -> None:
    assert rouge1_f1("東京", "東京") == 0.0
    assert rouge1_f1("Beyoncé", "Beyonce") == 0.0
    assert rouge1_f1("São Paulo", "Sao Paulo") == pytest.approx(0.4)
    assert rouge1_f1("Nominations", "Nomination") == 0.0
    assert rouge1_f1("Nominations", "Nomination", stem=True) == 1.0
    assert rouge1_f1("東京", "東京", tokenizer="unicode") == 1.0
    assert rouge1_f1("São Paulo", "Sao Paulo", tokenizer="unicode-folded") == 1.0


SAME = [
    ("The Rising", "the rising"),
    ("“The Rising”", "The Rising."),
    ("Rock ’n’ Roll", "rock 'n' roll"),
    ("1990–1995", "1990-1995"),
    ("Ｔｏｋｙｏ", "tokyo"),
    ("a  b\u00a0c", "a b c"),
    ("Caf\u00e9", "cafe\u0301"),
    ("**Mars**", "Mars"),
    ("a\u200bb", "ab"),
    ("STRASSE", "straße"),
    ("«Война и мир»", "война и мир"),
]
DIFFERENT = [
    ("C", "C#"),
    ("C", "C++"),
    ("Café", "Cafe"),
    ("!!!", "?"),
    ("1.5", "15"),
    ("A", "(A)"),
    ("The Rising", "Rising"),
    ("", "!"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_normalise_makes_equal(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_normalise_keeps_apart(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@given(st.one_of(TEXT, st.text(max_size=300)))
@settings(max_examples=400, deadline=None)
def test_normalise_is_stable(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(SettingsError, match="use one of rouge, unicode, unicode-folded"):
        tokenise("a", tokenizer="words")  # type: ignore[arg-type]  # wrong on purpose


def test_a_megabyte_is_tokenised_in_linear_time() -> None:
    rng = random.Random(0)
    text = " ".join(rng.choices(AWKWARD, k=200_000))
    start = time.process_time()
    for name in TOKENIZERS:
        assert tokenise(text, tokenizer=name)
    normalise(text)
    assert time.process_time() - start < 60  # a quadratic step would need hours


def test_a_number_keeps_its_point() -> None:
    assert normalise(".5") == normalise("0.5") == normalise("“.5”") == "0.5"
    assert normalise("5.") == normalise("...5") == normalise("5") == "5"
    assert normalise(".30-06 Springfield") == normalise("30-06 Springfield")
