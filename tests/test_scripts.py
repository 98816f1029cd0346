"""Lists in scripts that ROUGE's own tokenizer does not know, from answer to score."""

from __future__ import annotations

import itertools

import pytest

from accord.scoring.recipes import recipe
from accord.scoring.score import Prepared, prepare, score_response
from accord.scoring.tokens import rouge1_f1, tokenise

LISTS = {
    "Arabic": (
        ["نهر النيل", "جبال الأطلس", "صحراء سيناء"],
        "١. صحراء سيناء المصرية\n٢. نهر النيل الأزرق\n٣. جبال الأطلس الكبير",
    ),
    "Hindi": (
        ["गंगा नदी", "नंदा देवी पर्वत", "थार मरुस्थल"],
        "१. राजस्थान का थार मरुस्थल\n२. पवित्र गंगा नदी\n३. नंदा देवी",
    ),
    "Bengali": (
        ["পদ্মা নদী", "সুন্দরবন বনভূমি", "কক্সবাজার সৈকত"],
        "১. কক্সবাজার সমুদ্র সৈকত\n২. পদ্মা\n৩. সুন্দরবন",
    ),
    "Thai": (
        ["แม่น้ำเจ้าพระยา", "ดอยอินทนนท์", "เกาะภูเก็ต"],
        "๑. ภูเก็ต\n๒. แม่น้ำเจ้าพระยาในกรุงเทพ\n๓. ดอยอินทนนท์ จังหวัดเชียงใหม่",
    ),
    "Japanese": (
        ["富士山", "琵琶湖", "東京タワー"],
        "・東京のタワー\n・富士の山\n・琵琶の湖",
    ),
    "Chinese": (
        ["长江", "黄河", "泰山"],
        "１．泰山风景区\n２．长江三峡\n３．黄河流域",
    ),
    "Korean": (
        ["한라산 국립공원", "낙동강 하구", "경복궁 근정전"],
        "1) 서울 경복궁\n2) 제주 한라산\n3) 부산 낙동강",
    ),
    "Greek": (
        ["όρος Όλυμπος", "νησί Κρήτη", "ποταμός Αξιός"],
        "- ο ποταμός ΑΞΙΌΣ\n- ο Όλυμπος\n- η Κρήτη",
    ),
}
RIGHT = {0: 2, 1: 0, 2: 1}
"""Every answer names the last element first."""


def prepared(language: str, **conventions: object) -> Prepared:
    reference, response = LISTS[language]
    return prepare(
        question_id="q",
        question="Which?",
        reference=reference,
        response=response,
        recipe=recipe("listqa", **conventions),
    )


def partners(one: Prepared) -> dict[int | None, int | None]:
    return {pair.predicted: pair.reference for pair in one.pairs}


@pytest.mark.parametrize("language", LISTS)
def test_lists_are_aligned_right_where_rouge_sees_nothing(language: str) -> None:
    reference, _ = LISTS[language]
    blind = prepared(language)
    texts = [element.text for element in blind.predicted]
    assert len(texts) == 3
    assert [rouge1_f1(r, p) for r, p in itertools.product(reference, texts)] == [0.0] * 9
    assert {pair.how for pair in blind.pairs} == {"order"}
    assert partners(blind) != RIGHT
    seeing = prepared(language, tokenizer="unicode")
    assert partners(seeing) == RIGHT
    assert {pair.how for pair in seeing.pairs} == {"rouge"}
    assert all(pair.similarity > 0 for pair in seeing.pairs)
    assert partners(prepared(language, tokenizer="unicode", aligner="greedy")) == RIGHT
    without = prepared(language, zero_overlap="incorrect")
    assert {pair.how for pair in without.pairs} == {"unmatched"}


@pytest.mark.parametrize("language", ["Arabic", "Thai", "Japanese", "Chinese", "Korean"])
def test_the_encoder_aligns_the_languages_it_was_trained_on(language: str) -> None:
    assert partners(prepared(language, aligner="embedding")) == RIGHT


@pytest.mark.parametrize("language", LISTS)
def test_rouge_f1_of_a_study_follows_its_tokenizer(language: str) -> None:
    reference, response = LISTS[language]

    def rouge_f1(tokenizer: str) -> float:
        score = score_response(
            question_id="q",
            question="Which?",
            reference=reference,
            response=response,
            recipe=recipe("listqa", tokenizer=tokenizer),
            verdicts=lambda items: [],
        )
        return score.scores.rouge.f1

    assert rouge_f1("rouge") == 0.0
    assert rouge_f1("unicode") >= 2 / 3


def test_one_name_in_one_script_is_one() -> None:
    assert rouge1_f1("東京", "東京") == 0.0
    assert rouge1_f1("東京", "東京", tokenizer="unicode") == 1.0
    assert rouge1_f1("東京", "東京都", tokenizer="unicode") == pytest.approx(4 / 5, abs=1e-12)
    # full-width and half-width forms, and composed and decomposed letters, are the same text
    assert rouge1_f1("ＡＢＣ １２", "abc 12", tokenizer="unicode") == 1.0
    assert rouge1_f1("ﾄｳｷｮｳ", "トウキョウ", tokenizer="unicode") == 1.0
    assert rouge1_f1("Beyonce\u0301", "Beyoncé", tokenizer="unicode") == 1.0
    # vowel signs belong to their words
    assert tokenise("हिन्दी में", tokenizer="unicode") == ["हिन्दी", "में"]


@pytest.mark.parametrize(
    ("tokenizer", "same", "how"),
    [("rouge", 0.0, "order"), ("unicode", 0.0, "order"), ("unicode-folded", 1.0, "rouge")],
)
def test_accents_count_by_setting(tokenizer: str, same: float, how: str) -> None:
    assert rouge1_f1("Beyoncé", "Beyonce", tokenizer=tokenizer) == same  # type: ignore[arg-type]  # a test's word
    one = prepare(
        question_id="q",
        question="Which?",
        reference=["Adele", "Beyoncé"],
        response="1. Beyonce\n2. Adele",
        recipe=recipe("listqa", tokenizer=tokenizer),
    )
    assert {pair.predicted: pair.how for pair in one.pairs} == {0: how, 1: "exact"}
