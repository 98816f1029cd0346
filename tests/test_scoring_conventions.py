"""Where published scorers of lists differ, and what every scorer here does.

Each test runs over the list scorers: ``listqa`` (alignment and judge), ``universe`` (KnowledgeBerg)
and ``relations`` (SciKnowEval). A gold or predicted element is a letter; relations have a fixed
second element. The comments name the scorers that do otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from accord.scoring.errors import InputError
from accord.scoring.judges import ExactJudge
from accord.scoring.metrics import PRF
from accord.scoring.recipes import recipe
from accord.scoring.score import score_response
from accord.scoring.tuples import relation_score
from accord.scoring.universe import universe_score

Scorer = Callable[[Sequence[str], Sequence[str]], PRF]


def listqa(gold: Sequence[str], predicted: Sequence[str]) -> PRF:
    return score_response(
        question_id="q",
        question="?",
        reference=list(gold),
        response=numbered(predicted),
        recipe=recipe("listqa"),
        verdicts=ExactJudge().judge,
    ).scores.judge


def universe(gold: Sequence[str], predicted: Sequence[str]) -> PRF:
    return universe_score(
        question_id="q",
        question="?",
        reference=list(gold),
        response=numbered(predicted),
        verdicts=ExactJudge().judge,
    ).greedy


def relations(gold: Sequence[str], predicted: Sequence[str]) -> PRF:
    def text(elements: Sequence[str]) -> str:
        return ", ".join(f'["{element}", "x"]' for element in elements)

    return relation_score(text(gold), text(predicted), size=2).prf


def numbered(elements: Sequence[str]) -> str:
    return "\n".join(f"{place}. {text}" for place, text in enumerate(elements, start=1))


every = pytest.mark.parametrize("score", [listqa, universe, relations])


@every
def test_an_empty_prediction_is_zero(score: Scorer) -> None:
    # LM-KBC gives it precision 1, QAMPARI divides by zero, FActScore leaves it out.
    found = score(["a", "b"], [])
    assert (found.precision, found.recall, found.f1) == (0, 0, 0)


@every
def test_an_empty_gold_is_refused(score: Scorer) -> None:
    # LM-KBC gives it recall 1, MultiSpanQA calls two empty sides right, RoMQA skips it.
    with pytest.raises(InputError):
        score([], ["a"])


@every
def test_a_duplicate_is_no_second_hit(score: Scorer) -> None:
    # ALCE counts each as correct: precision would stay 1. QAMPARI, RoMQA, QUEST make a set.
    # 1 of 3 predicted and 1 of 2 gold: 2/5.
    found = score(["a", "b"], ["a", "a", "A"])
    assert found.precision == pytest.approx(1 / 3, abs=1e-12)
    assert found.f1 == pytest.approx(2 / 5, abs=1e-12)


@every
def test_case_variants_and_quotes_are_equal(score: Scorer) -> None:
    # RoMQA and BioASQ compare exact strings; QAMPARI keeps curly quotes and full-width forms.
    assert score(["Tokyo", "“Gobi”"], ["ＴＯＫＹＯ", "gobi"]).f1 == 1


@every
def test_a_part_of_a_name_is_not_the_name(score: Scorer) -> None:
    # LOFT takes a substring in either direction.
    assert score(["New York"], ["York"]).f1 == 0
    assert score(["York"], ["New York"]).f1 == 0


@every
def test_one_of_several_counts_in_part(score: Scorer) -> None:
    # LOFT scores a list all or nothing. 1 of 2 and 2.
    assert score(["a", "b"], ["a", "c"]).f1 == pytest.approx(1 / 2, abs=1e-12)


@every
def test_neither_side_is_exceeded(score: Scorer) -> None:
    # MoNaCo caps recall and not the numerator of precision; recall above 1 is known elsewhere.
    found = score(["a"], ["a", "a", "a"])
    assert found.correct == 1
    assert found.recall == 1
    assert found.precision == pytest.approx(1 / 3, abs=1e-12)


@every
def test_the_order_of_a_list_does_not_matter(score: Scorer) -> None:
    assert score(["a", "b", "c"], ["c", "a", "b"]).f1 == 1


@every
def test_scripts_without_ascii_letters_match(score: Scorer) -> None:
    # A tokenizer of a-z and 0-9 gives 0 to 東京 against itself.
    assert score(["東京", "Київ", "القاهرة"], ["القاهرة", "東京", "Київ"]).f1 == 1


@every
def test_commas_inside_an_element_are_kept(score: Scorer) -> None:
    # ALCE splits at each comma, and keeps only the first line of an answer.
    names = ["Washington, D.C.", "Tyler, the Creator", "Echoes, Silence, Patience & Grace"]
    assert score(names, names).f1 == 1
