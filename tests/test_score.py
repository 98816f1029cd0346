"""One response from text to figures, and averages of them."""

from __future__ import annotations

import datetime
import json
import math
import random
import re
from collections.abc import Callable, Sequence

import pytest

from accord.scoring.averages import mean_scores
from accord.scoring.errors import InputError, SettingsError
from accord.scoring.parse import parse
from accord.scoring.recipes import recipe
from accord.scoring.records import CORRECT, INCORRECT, UNSURE, Element, Item, Judgement
from accord.scoring.score import ResponseScore, prepare, score_response
from accord.scoring.tokens import normalise

Verdicts = Callable[[Sequence[Item]], list[Judgement]]


def right(*texts: str) -> Verdicts:
    """A verdict source for which exactly these predicted elements are right."""

    def judge(items: Sequence[Item]) -> list[Judgement]:
        return [
            Judgement(item.item_id, CORRECT if item.predicted in texts else INCORRECT)
            for item in items
        ]

    return judge


def equality(items: Sequence[Item]) -> list[Judgement]:
    """Right when equal to the reference or an alias, normalised."""
    return [
        Judgement(
            item.item_id,
            CORRECT
            if normalise(item.predicted)
            in [normalise(text) for text in (item.reference or "", *item.aliases)]
            else INCORRECT,
        )
        for item in items
    ]


def score(reference: object, response: object, verdicts: Verdicts = equality, **more: object):  # type: ignore[no-untyped-def]  # settings by name
    given = {"question_id": "q1", "question": "Which?", "recipe": recipe("listqa"), **more}
    return score_response(reference=reference, response=response, verdicts=verdicts, **given)  # type: ignore[arg-type]  # settings by name


# The three worked cases of the ListQA project page


def test_page_case_1_one_of_four_is_made_up() -> None:
    # 3 of 4 predicted and 3 of 4 reference elements: P = R = F1 = 3/4.
    found = score(["a", "b", "c", "d"], "1. a\n2. b\n3. c\n4. made up", right("a", "b", "c"))
    judge = found.scores.judge
    assert (judge.precision, judge.recall, judge.f1) == (0.75, 0.75, 0.75)


def test_page_case_2_future() -> None:
    reference = (
        "1. Best Rap Performance\n2. Best Rap Song\n3. Best Melodic Rap Performance\n"
        "4. Best Rap Album"
    )
    response = (
        "1. Best Rap Album\n2. Melodic Rap Performance\n3. Best Rap Performance\n4. Best R&B Song"
    )
    found = score(
        reference,
        response,
        right("Best Rap Album", "Melodic Rap Performance", "Best Rap Performance"),
    )
    judge = found.scores.judge
    assert (judge.precision, judge.recall, judge.f1) == (0.75, 0.75, 0.75)
    assert found.scores.format_correctness.value == 1
    # Equal twice, 6/7 and 4/7: all four reach 0.5.
    assert found.scores.rouge.f1 == 1
    # "Best Rap Performance" and "Best Rap Album" stand in the answer: 2 of 4.
    assert found.scores.relaxed_recall.value == 0.5
    # Album and Performance are equal, "Melodic Rap Performance" stands in a reference: 3 of 4.
    assert found.scores.relaxed_precision.value == 0.75


def test_page_case_3_dua_lipa() -> None:
    # Four reference elements, two predicted, both right: P = 1, R = 2/4, F1 = 2 * 2 / (2 + 4).
    reference = [
        {"text": work, "attributes": [["year", year]]}
        for work, year in (
            ("Best New Artist", "2019"),
            ("Electricity", "2019"),
            ("Future Nostalgia", "2021"),
            ("Barbie", "2024"),
        )
    ]
    response = "1. Electricity\n   - year: 2019\n2. Future Nostalgia\n   - year: 2021"
    found = score(
        reference, response, right("Electricity\nyear: 2019", "Future Nostalgia\nyear: 2021")
    )
    judge = found.scores.judge
    assert (judge.precision, judge.recall) == (1.0, 0.5)
    assert judge.f1 == pytest.approx(2 / 3, abs=1e-15)
    assert found.scores.format_correctness.value == 0  # fewer than three elements


# Sanity: the three tests that a published scorer failed

GOLD = {
    "q1": "1. Mars\n2. Venus\n3. Earth",
    "q2": "1. Rome\n   - river: Tiber\n2. Paris\n   - river: Seine\n3. London\n   - river: Thames",
    "q3": "1. 東京\n2. 大阪\n3. 京都",
}


def run(answers: dict[str, str], **overrides: object) -> list[ResponseScore]:
    conventions = recipe("listqa", **overrides)
    return [
        score(GOLD[q], answers[q], question_id=q, question=q, recipe=conventions, ordered=True)
        for q in GOLD
    ]


def test_gold_against_gold_is_one() -> None:
    for found in run(GOLD):
        assert all(figure == 1 for figure in found.scores.figures().values()), found.question_id


def test_the_order_of_a_list_does_not_matter_except_for_the_ordered_figure() -> None:
    rng = random.Random(3)
    for found in run(
        {q: "\n".join(rng.sample(text.split("\n"), 3)) for q, text in GOLD.items() if q != "q2"}
        | {"q2": GOLD["q2"]}
    ):
        assert found.scores.judge.f1 == 1
    swapped = score("1. a\n2. b\n3. c", "1. b\n2. a\n3. c", ordered=True).scores
    assert (swapped.judge.f1, swapped.figures()["llm_judge_f1_ordered"]) == (1, 1 / 3)


def test_an_empty_answer_is_zero() -> None:
    for found in run(dict.fromkeys(GOLD, "")):
        assert found.state == "empty"
        assert all(figure == 0 for figure in found.scores.figures().values())


def test_answers_shuffled_across_questions_score_lower() -> None:
    shuffled = dict(zip(GOLD, [GOLD["q2"], GOLD["q3"], GOLD["q1"]], strict=True))
    assert mean_scores(run(shuffled)).figures["llm_judge_f1"] == 0
    assert mean_scores(run(GOLD)).figures["llm_judge_f1"] == 1


# Traps


def test_usa_and_united_states_both_ways() -> None:
    judged = score(
        ["United States", "France", "Peru"], "USA, France, and Peru", right("USA", "France", "Peru")
    )
    assert judged.scores.judge.f1 == 1
    assert sorted(item.predicted for item in judged.prepared.to_judge()) == [
        "France",
        "Peru",
        "USA",
    ]
    strict = score(
        ["United States", "France", "Peru"],
        "USA, France, and Peru",
        right("USA", "France", "Peru"),
        recipe=recipe("listqa", zero_overlap="incorrect"),
    )
    assert strict.scores.judge.f1 == pytest.approx(2 / 3)
    assert sorted(item.predicted for item in strict.prepared.to_judge()) == ["France", "Peru"]
    assert len(strict.items) == 3


def test_duplicates_count_or_collapse() -> None:
    text = "1. Mars\n2. mars.\n3. Venus"
    counted = score(["Mars", "Venus"], text)
    # 2 right of 3 predicted and 2 reference elements: 2 * 2 / 5.
    assert counted.scores.judge.f1 == 0.8
    collapsed = score(["Mars", "Venus"], text, recipe=recipe(duplicates="collapse"))
    assert collapsed.scores.judge.f1 == 1
    assert collapsed.to_row()["n_collapsed"] == 1


def test_asides_are_left_out_or_kept() -> None:
    text = "1. Mars\n2. Venus\n\n### Why these?\n- They are near.\n- They shine."
    assert score(["Mars", "Venus"], text).scores.judge.f1 == 1
    # 2 * 2 / (4 + 2)
    kept = score(["Mars", "Venus"], text, recipe=recipe(aside="keep"))
    assert kept.scores.judge.f1 == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("response", "state"),
    [
        ("1. Mars", "given"),
        ("", "empty"),
        (" \n", "empty"),
        (None, "empty"),
        ([], "empty"),
        ("I'm sorry, but I can't help with that.", "abstained"),
        ("Unknown", "abstained"),
        ("Mars was first seen long ago. It is red.", "unreadable"),
        ("None", "given"),
    ],
)
def test_states(response: object, state: str) -> None:
    found = score(["Mars"], response)
    assert found.state == state
    if state != "given":
        assert found.scores.judge.f1 == 0
        assert found.items == ()


def test_an_empty_reference_is_refused_and_named() -> None:
    empty: tuple[object, ...] = ([], "", "Prose without a list, as can be seen. And more of it.")
    for reference in empty:
        with pytest.raises(InputError, match="question 'q1' has no reference element"):
            score(reference, "1. a")
    with pytest.raises(InputError, match="question 'q1': an element can't be null"):
        score([None], "1. a")


def test_an_attribute_without_a_value_is_not_there() -> None:
    for nothing in (None, math.nan):
        found = Element.from_value({"text": "x", "attributes": {"year": nothing, "by": "z"}})
        assert found.attributes == (("by", "z"),)


def test_a_blank_alias_is_none() -> None:
    """A judge would be shown an empty text as one that is as good as the reference."""
    value = {"text": "x", "aliases": ["", "y", " \u00a0"]}
    assert Element.from_value(value) == Element("x", aliases=("y",))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "an element can't be NaN"),
        (-math.inf, "an element can't be -Infinity"),
        (datetime.date(2020, 1, 31), 'an element can\'t be "2020-01-31"'),
        ({"txt": datetime.date(2020, 1, 31)}, 'an element can\'t be {"txt": "2020-01-31"}'),
        ({"text": "x", "year": 1, 5: 2}, "unknown key '5'"),
        ({"text": "x", "attributes": ["ab"]}, "attributes must be"),
        ({"text": "x", "head": 5}, "head must be a text"),
        ({"text": "x", "aside": "no"}, "aside must be true or false"),
    ],
)
def test_what_is_no_element_is_refused(value: object, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        Element.from_value(value)


# Items


def test_items_are_shown_whole_and_identified() -> None:
    reference = [Element("Venus", aliases=("Evening star",), attributes=(("moons", "0"),))]
    found = score(reference, "1. venus\n   - Moons: none\n2. Mars", system="s1")
    assert [(i.reference, i.predicted, i.aliases, i.system) for i in found.items] == [
        ("Venus\nmoons: 0", "venus\nMoons: none", ("Evening star",), "s1"),
        (None, "Mars", (), "s1"),
    ]
    assert len({item.item_id for item in found.items}) == 2
    again = score(reference, "1. venus\n   - Moons: none\n2. Mars", system="s1")
    assert [i.item_id for i in again.items] == [i.item_id for i in found.items]
    other = score(reference, "1. venus\n   - Moons: none\n2. Mars", system="s2")
    assert not {i.item_id for i in other.items} & {i.item_id for i in found.items}
    second = score(reference, "1. venus\n   - Moons: none\n2. Mars", system="s1", occurrence=1)
    assert not {i.item_id for i in second.items} & {i.item_id for i in found.items}


def test_two_identical_answers_stay_two_items() -> None:
    found = score(["Mars", "Mars"], "1. Mars\n2. Mars")
    assert len({item.item_id for item in found.items}) == 2


def test_an_ordered_question_asks_each_pair_once() -> None:
    asked: list[str] = []

    def judge(items: Sequence[Item]) -> list[Judgement]:
        asked.extend(item.item_id for item in items)
        return equality(items)

    found = score(["a x", "b x", "c x"], "1. a x\n2. c x\n3. b x", judge, ordered=True)
    # Three pairs by text; by position the first again and two others.
    assert len(asked) == len(set(asked)) == 5
    assert found.scores.judge.f1 == 1
    assert found.scores.ordered is not None
    assert found.scores.ordered.f1 == pytest.approx(1 / 3)


def test_ordered_lists_of_unequal_length() -> None:
    found = score(["a", "b"], "1. a\n2. b\n3. c", ordered=True)
    # 2 right of 3 predicted, 2 reference elements.
    assert found.scores.ordered is not None
    assert found.scores.ordered.f1 == 0.8


def test_judge_and_people_go_through_one_function() -> None:
    prepared = prepare(
        question_id="q",
        question="?",
        reference=["a", "b"],
        response="1. a\n2. b",
        recipe=recipe(),
    )
    items = prepared.to_judge()
    judge = prepared.score(equality(items), judge={"name": "exact"})
    people = prepared.score(
        [Judgement(items[0].item_id, CORRECT), Judgement(items[1].item_id, INCORRECT)],
        judge={"name": "people"},
    )
    assert judge.scores.judge.f1 == 1
    assert people.scores.judge.f1 == 0.5
    assert people.block["judge"] == {"name": "people"}


def test_unscored_and_unsure_verdicts_are_counted() -> None:
    def judge(items: Sequence[Item]) -> list[Judgement]:
        words = [CORRECT, None, UNSURE]
        return [Judgement(i.item_id, w) for i, w in zip(items, words, strict=True)]

    found = score(["a", "b", "c"], "1. a\n2. b\n3. c", judge)
    assert (found.counts.unscored, found.counts.unsure) == (1, 1)
    assert found.scores.judge.f1 == 1  # the one pair with a verdict is right
    strict = score(
        ["a", "b", "c"],
        "1. a\n2. b\n3. c",
        judge,
        recipe=recipe(unscored="incorrect", unsure="incorrect"),
    )
    assert strict.scores.judge.f1 == pytest.approx(1 / 3)


def test_foreign_and_doubled_verdicts_are_refused() -> None:
    prepared = prepare(
        question_id="q", question="?", reference=["a"], response="1. a", recipe=recipe()
    )
    identity = prepared.items[0].item_id
    with pytest.raises(InputError, match="not of this response"):
        prepared.score([Judgement("zzz", CORRECT)])
    with pytest.raises(InputError, match="two verdicts"):
        prepared.score([Judgement(identity, CORRECT), Judgement(identity, CORRECT)])


def test_a_response_that_came_as_data_is_taken_as_read() -> None:
    found = score(["a, b", "c"], ["a, b", "c"])
    assert found.scores.judge.f1 == 1
    assert found.scores.relaxed_recall.value == 1
    assert score(["a"], parse("1. a")).scores.judge.f1 == 1


def test_blank_elements_of_an_answer_and_attributes_of_null_are_none() -> None:
    found = score(["a", "b"], ["", " ", {"text": ""}, "a"])
    assert (found.scores.judge.n_predicted, found.scores.judge.f1) == (1, pytest.approx(2 / 3))
    assert score(["a"], [{"text": "a", "attributes": {"year": None}}]).scores.judge.f1 == 1


def test_elements_that_came_as_data_do_not_run_together_for_relaxed_recall() -> None:
    found = score(["Blue Nile", "Nile Delta"], ["The Blue", "Nile", "Nile Delta"])
    assert found.scores.relaxed_recall.value == 0.5


# Averages


def test_means_keep_empty_answers_and_show_their_rate() -> None:
    scores = run({"q1": GOLD["q1"], "q2": "", "q3": "I don't know."})
    mean = mean_scores(scores)
    assert mean.figures["llm_judge_f1"] == pytest.approx(1 / 3)
    assert mean.when_given["llm_judge_f1"] == 1
    assert mean.rates == {
        "given": pytest.approx(1 / 3),
        "empty": pytest.approx(1 / 3),
        "abstained": pytest.approx(1 / 3),
        "unreadable": 0,
    }
    assert mean.responses == 3
    json.dumps(mean.to_dict())


def test_pooled_means_add_the_counts() -> None:
    def scores(averaging: str) -> list[ResponseScore]:
        conventions = recipe(averaging=averaging)
        return [
            score(["a"], "1. a", recipe=conventions),
            score(["a", "b", "c"], "1. a\n2. x\n3. y", recipe=conventions),
        ]

    # (1 + 1/3) / 2, and 2 * 2 / (4 + 4).
    assert mean_scores(scores("response")).figures["llm_judge_f1"] == pytest.approx(2 / 3)
    assert mean_scores(scores("pooled")).figures["llm_judge_f1"] == 0.5
    # No question has an order.
    assert math.isnan(mean_scores(scores("pooled")).figures["llm_judge_f1_ordered"])


def test_scores_with_different_blocks_are_not_averaged() -> None:
    one = score(["a"], "1. a")
    other = score(["a"], "1. a", recipe=recipe(zero_overlap="incorrect"))
    with pytest.raises(
        SettingsError, match="recipe.zero_overlap is 'judge' in one and 'incorrect'"
    ):
        mean_scores([one, other])
    with pytest.raises(SettingsError, match="judge.name"):
        mean_scores([score(["a"], "1. a", judge={"name": n}) for n in ("exact", "rouge")])
    with pytest.raises(InputError, match="no score"):
        mean_scores([])


def test_an_undefined_figure_is_left_out_of_the_mean_and_counted() -> None:
    def nothing(items: Sequence[Item]) -> list[Judgement]:
        return [Judgement(item.item_id, None, "empty") for item in items]

    scores = [score(["a"], "1. a"), score(["a"], "1. a", nothing)]
    mean = mean_scores(scores)
    assert mean.figures["llm_judge_f1"] == 1
    assert mean.n["llm_judge_f1"] == 1
    assert mean.n["rouge_f1"] == 2
    assert mean.unscored == 1


def test_a_score_as_json_values() -> None:
    found = score(["a", "b"], "1. a\n2. \u202eb\ud800\n3. <script>", ordered=True)
    row = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [pair["how"] for pair in row["pairs"]] == ["exact", "rouge", "unmatched"]
    assert row["pairs"][2]["item_id"] == found.items[2].item_id
    assert found.items[2].predicted == "<script>"
    assert row["block"]["recipe"]["name"] == "listqa"
    assert "\n" not in repr(found)


def test_a_note_below_the_reference_is_no_element() -> None:
    found = score("1. Mars\n2. Venus\n\n**Notes:**\n- both are near\n- both are bright", "Mars")
    assert [element.text for element in found.prepared.reference] == ["Mars", "Venus"]
