"""Where published scorers of lists differ, and what every scorer here does.

Most tests run over the list scorers: ``listqa`` (alignment and judge), ``universe`` (KnowledgeBerg)
and ``relations`` (SciKnowEval). A gold or predicted element is a letter; relations have a fixed
second element. The comments name the scorers that do otherwise; ``HELD`` says for each of twelve
scorers, and each thing that they settle, which test holds ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from accord.scoring.averages import mean_scores
from accord.scoring.errors import InputError
from accord.scoring.judges import ExactJudge
from accord.scoring.metrics import PRF
from accord.scoring.recipes import recipe
from accord.scoring.score import ResponseScore, score_response
from accord.scoring.tuples import pooled_relations, relation_score
from accord.scoring.universe import UniverseRecipe, universe_score

Scorer = Callable[[Sequence[str], Sequence[str]], PRF]


def listqa(gold: Sequence[str], predicted: Sequence[str]) -> PRF:
    return response_score(gold, predicted).scores.judge


def response_score(
    gold: Sequence[object], predicted: Sequence[str] | str, **settings: object
) -> ResponseScore:
    return score_response(
        question_id="q",
        question="?",
        reference=list(gold),
        response=predicted if isinstance(predicted, str) else numbered(predicted),
        recipe=recipe("listqa", **settings),
        verdicts=ExactJudge().judge,
    )


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


# Aliases


def test_any_name_of_an_element_is_the_element() -> None:
    # RoMQA and QUEST know one label only; BioASQ and QAMPARI take any synonym, as we do.
    gold = [{"text": "Rhine", "aliases": ["Rhein", "Rijn"]}, {"text": "Birs"}]
    found = response_score(gold, ["RHEIN", "birs"]).scores.judge
    assert found.f1 == 1
    one = universe_score(
        question_id="q",
        question="?",
        reference=gold,
        response=["RHEIN", "birs"],
        verdicts=ExactJudge().judge,
    )
    assert one.greedy.f1 == 1


def test_two_names_of_one_element_are_one_hit() -> None:
    # BioASQ takes a gold element away once it is matched, as we do; ALCE counts both.
    gold = [{"text": "Rhine", "aliases": ["Rhein"]}, {"text": "Birs"}]
    found = response_score(gold, ["Rhine", "Rhein"]).scores.judge
    # 1 of 2 predicted and 1 of 2 gold.
    assert (found.correct, found.f1) == (1, 0.5)


# Duplicates by setting


def test_duplicates_are_counted_and_can_be_collapsed() -> None:
    # QAMPARI, RoMQA, QUEST and LM-KBC make sets, in which "a" and "A" may be two.
    counted = response_score(["a", "b"], ["a", "A", "b"])
    # 2 of 3 predicted and 2 gold: 4/5.
    assert counted.scores.judge.f1 == pytest.approx(4 / 5, abs=1e-12)
    collapsed = response_score(["a", "b"], ["a", "A", "b"], duplicates="collapse")
    assert (collapsed.scores.judge.f1, collapsed.to_row()["n_collapsed"]) == (1, 1)
    one = universe_score(
        question_id="q",
        question="?",
        reference=["a", "b"],
        response=["a", "A", "b"],
        verdicts=ExactJudge().judge,
        recipe=UniverseRecipe(duplicates="collapse", articles="keep"),
    )
    assert one.greedy.f1 == 1


# Tables


def test_a_table_s_row_is_an_element_with_all_its_cells() -> None:
    # WideSearch scores rows and cells after it dropped rows with one key; a row counts once here.
    gold = [
        {"text": "Azalea", "attributes": [["launch", "1996"]]},
        {"text": "Ortensia", "attributes": [["launch", "1988"]]},
    ]
    table = (
        "| name | launch |\n|---|---|\n| Azalea | 1996 |\n| Ortensia | 1987 |\n| Azalea | 1996 |"
    )
    found = response_score(gold, table).scores.judge
    # The first row is right, the second has a wrong cell, the third repeats: 1 of 3, 1 of 2.
    assert (found.correct, found.n_predicted, found.n_reference) == (1, 3, 2)
    assert found.f1 == pytest.approx(2 / 5, abs=1e-12)


# Averages over questions


def test_the_mean_is_over_questions_and_keeps_empty_answers() -> None:
    # FActScore leaves an answer that declines out; MultiSpanQA and LM-KBC's micro pool counts.
    scores = [
        response_score(["a"], ["a"]),
        response_score(["a", "b", "c", "d"], ["a", "x"]),
        response_score(["a", "b"], []),
        response_score(["a", "b"], "I don't know."),
    ]
    # F1 1, 2 * 1 / (2 + 4) = 1/3, 0, 0.
    means = mean_scores(scores)
    assert means.figures["llm_judge_f1"] == pytest.approx((1 + 1 / 3) / 4, abs=1e-12)
    assert means.when_given["llm_judge_f1"] == pytest.approx((1 + 1 / 3) / 2, abs=1e-12)
    assert means.rates == {"given": 0.5, "empty": 0.25, "abstained": 0.25, "unreadable": 0}


def test_pooled_counts_are_another_figure_by_name() -> None:
    pooled = [
        response_score(["a"], ["a"], averaging="pooled"),
        response_score(["a", "b", "c", "d"], ["a", "x"], averaging="pooled"),
        response_score(["a", "b"], [], averaging="pooled"),
    ]
    # 2 right of 3 predicted and 7 gold: 2 * 2 / 10.
    means = mean_scores(pooled)
    assert means.figures["llm_judge_f1"] == pytest.approx(2 / 5, abs=1e-12)
    assert means.block["recipe"]["averaging"] == "pooled"
    golds, answers = ('["a", "x"]', '["b", "x"], ["c", "x"]'), ('["a", "x"]', '["b", "x"]')
    found = [relation_score(g, p, size=2) for g, p in zip(golds, answers, strict=True)]
    # 2 of 2 predicted and 3 gold.
    assert pooled_relations(found).f1 == pytest.approx(4 / 5, abs=1e-12)


@every
def test_recall_is_of_all_gold_elements(score: Scorer) -> None:
    # ALCE caps recall at its fifth hit; MoNaCo at the gold; neither is needed.
    gold = [f"n{at}" for at in range(20)]
    assert score(gold, gold[:5]).recall == pytest.approx(5 / 20, abs=1e-12)


@every
def test_a_short_answer_has_no_penalty_of_its_own(score: Scorer) -> None:
    # FActScore multiplies precision by exp(1 - 10 / n) for up to ten facts.
    found = score(["a", "b", "c"], ["a"])
    assert found.precision == 1
    assert found.recall == pytest.approx(1 / 3, abs=1e-12)


EMPTY, GOLD, TWICE, MATCH, MEAN = "empty prediction", "empty gold", "duplicates", "match", "average"
Test = Callable[..., None]
HELD: dict[str, dict[str, Test]] = {
    "ListQA": {
        EMPTY: test_an_empty_prediction_is_zero,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_a_duplicate_is_no_second_hit,
        MATCH: test_case_variants_and_quotes_are_equal,
        MEAN: test_the_mean_is_over_questions_and_keeps_empty_answers,
    },
    "QAMPARI": {
        EMPTY: test_an_empty_prediction_is_zero,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_duplicates_are_counted_and_can_be_collapsed,
        MATCH: test_any_name_of_an_element_is_the_element,
        MEAN: test_the_mean_is_over_questions_and_keeps_empty_answers,
    },
    "ALCE": {
        EMPTY: test_an_empty_prediction_is_zero,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_two_names_of_one_element_are_one_hit,
        MATCH: test_commas_inside_an_element_are_kept,
        MEAN: test_recall_is_of_all_gold_elements,
    },
    "RoMQA": {
        EMPTY: test_an_empty_prediction_is_zero,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_duplicates_are_counted_and_can_be_collapsed,
        MATCH: test_any_name_of_an_element_is_the_element,
        MEAN: test_the_mean_is_over_questions_and_keeps_empty_answers,
    },
    "QUEST": {
        EMPTY: test_an_empty_prediction_is_zero,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_duplicates_are_counted_and_can_be_collapsed,
        MATCH: test_case_variants_and_quotes_are_equal,
        MEAN: test_the_mean_is_over_questions_and_keeps_empty_answers,
    },
    "LOFT": {
        EMPTY: test_an_empty_prediction_is_zero,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_neither_side_is_exceeded,
        MATCH: test_a_part_of_a_name_is_not_the_name,
        MEAN: test_one_of_several_counts_in_part,
    },
    "LM-KBC": {
        EMPTY: test_an_empty_prediction_is_zero,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_duplicates_are_counted_and_can_be_collapsed,
        MATCH: test_any_name_of_an_element_is_the_element,
        MEAN: test_pooled_counts_are_another_figure_by_name,
    },
    "MultiSpanQA": {
        EMPTY: test_an_empty_prediction_is_zero,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_a_duplicate_is_no_second_hit,
        MATCH: test_a_part_of_a_name_is_not_the_name,
        MEAN: test_pooled_counts_are_another_figure_by_name,
    },
    "BioASQ": {
        EMPTY: test_an_empty_prediction_is_zero,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_two_names_of_one_element_are_one_hit,
        MATCH: test_any_name_of_an_element_is_the_element,
        MEAN: test_the_mean_is_over_questions_and_keeps_empty_answers,
    },
    "WideSearch": {
        EMPTY: test_an_empty_prediction_is_zero,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_a_table_s_row_is_an_element_with_all_its_cells,
        MATCH: test_a_table_s_row_is_an_element_with_all_its_cells,
        MEAN: test_the_mean_is_over_questions_and_keeps_empty_answers,
    },
    "MoNaCo": {
        EMPTY: test_an_empty_prediction_is_zero,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_neither_side_is_exceeded,
        MATCH: test_neither_side_is_exceeded,
        MEAN: test_recall_is_of_all_gold_elements,
    },
    "FActScore": {
        EMPTY: test_the_mean_is_over_questions_and_keeps_empty_answers,
        GOLD: test_an_empty_gold_is_refused,
        TWICE: test_a_duplicate_is_no_second_hit,
        MATCH: test_a_short_answer_has_no_penalty_of_its_own,
        MEAN: test_the_mean_is_over_questions_and_keeps_empty_answers,
    },
}


def test_each_thing_that_each_scorer_settles_is_held() -> None:
    assert len(HELD) == 12
    for scorer, tests in HELD.items():
        assert set(tests) == {EMPTY, GOLD, TWICE, MATCH, MEAN}, scorer
