"""Universe F1: rules, then a judge on what they left open, one gold element a prediction."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.scoring.errors import InputError, SettingsError
from accord.scoring.recipes import Recipe, recipe
from accord.scoring.records import CORRECT, INCORRECT, UNSURE, Item, Judgement
from accord.scoring.universe import (
    UniverseRecipe,
    UniverseScore,
    judge_universes,
    prepare_universe,
    universe_score,
)

Verdicts = Callable[[Sequence[Item]], list[Judgement]]


def same(*pairs: tuple[str, str]) -> Verdicts:
    """A judge for whom exactly these (predicted, reference) names mean the same."""

    def judge(items: Sequence[Item]) -> list[Judgement]:
        return [
            Judgement(i.item_id, CORRECT if (i.predicted, i.reference) in pairs else INCORRECT)
            for i in items
        ]

    return judge


def everything(items: Sequence[Item]) -> list[Judgement]:
    """The judge that equates all: the worst case for the number of matches."""
    return [Judgement(item.item_id, CORRECT) for item in items]


def score(
    reference: object,
    response: object,
    verdicts: Verdicts = same(),  # noqa: B008 (a function without state)
    **settings: object,
) -> UniverseScore:
    language = settings.pop("language", "English")
    return universe_score(
        question_id="q1",
        question="Which?",
        reference=reference,
        response=response,
        language=language,
        verdicts=verdicts,
        recipe=UniverseRecipe(**settings),  # type: ignore[arg-type]  # settings by name
    )


GOLD = ["Sahara", "Gobi", "Kalahari", "Namib"]


def test_gold_against_gold_is_one_and_nothing_is_zero() -> None:
    assert score(GOLD, GOLD).greedy.f1 == 1
    assert score(GOLD, list(reversed(GOLD))).greedy.f1 == 1
    refusals = ("I don't know.", "I'm sorry, I can't help with that.")
    answers: tuple[object, ...] = ("", None, [], *refusals)
    for empty in answers:
        found = score(GOLD, empty, everything)
        assert (found.greedy.precision, found.greedy.recall, found.greedy.f1) == (0, 0, 0)
        assert found.universe.items == ()
    assert score(GOLD, "").universe.state == "empty"
    assert score(GOLD, "I don't know.").universe.state == "abstained"


def test_f1_by_hand() -> None:
    # By rule: Sahara, The Gobi. By the judge: Kgalagadi. 3 of 5 predicted, 3 of 4 gold:
    # P 3/5, R 3/4, F1 2 * 3 / 9 = 2/3.
    found = score(
        GOLD,
        "1. sahara\n2. The Gobi\n3. Kgalagadi\n4. Atacama\n5. Mojave",
        same(("Kgalagadi", "Kalahari")),
    )
    assert found.greedy.precision == pytest.approx(3 / 5, abs=1e-12)
    assert found.greedy.recall == pytest.approx(3 / 4, abs=1e-12)
    assert found.greedy.f1 == pytest.approx(2 / 3, abs=1e-12)
    assert found.matched == ((0, 0, "rule"), (1, 1, "rule"), (2, 2, "judge"))
    assert found.universe.missing(found.matched) == {3}
    assert json.loads(json.dumps(found.to_row(), allow_nan=False))["by_judge"] == 1


def test_greedy_below_optimal_by_a_known_amount() -> None:
    # x may be g1 or g2, y only g1. In order x takes g1 and y is left: m 1 of 2 and 2, F1 1/2.
    # The optimum gives x g2 and y g1: F1 1. The greedy order costs exactly 1/2.
    judge = same(("x", "g1"), ("x", "g2"), ("y", "g1"))
    found = score(["g1", "g2"], ["x", "y"], judge)
    assert found.greedy.f1 == pytest.approx(1 / 2, abs=1e-12)
    assert found.optimal.f1 == pytest.approx(1, abs=1e-12)
    assert found.difference == pytest.approx(1 / 2, abs=1e-12)
    # Stated the other way round nothing is lost.
    other = score(["g1", "g2"], ["y", "x"], judge)
    assert (other.greedy.f1, other.difference) == (1, 0)
    # With a third element that nobody names: 2/5 against 4/5.
    third = score(["g1", "g2", "g3"], ["x", "y"], judge)
    assert third.greedy.f1 == pytest.approx(2 / 5, abs=1e-12)
    assert third.difference == pytest.approx(2 / 5, abs=1e-12)


def test_only_what_the_rules_left_open_is_judged() -> None:
    one = prepare_universe(
        question_id="q", question="?", reference=GOLD, response=["Gobi", "Atacama", "Mojave"]
    )
    asked = [(item.predicted, item.reference) for item in one.items]
    # Gobi is settled on both sides: 2 predictions beside 3 free gold elements.
    assert asked == [(p, r) for p in ("Atacama", "Mojave") for r in ("Sahara", "Kalahari", "Namib")]
    assert len({item.item_id for item in one.items}) == 6


def test_a_judge_that_equates_everything_never_gets_more_than_there_is() -> None:
    # Asked whether a prediction is in the gold set as a whole, it would say 5 of 2: recall 2.5.
    found = score(["a", "b"], ["v", "w", "x", "y", "z"], everything)
    assert found.greedy.correct == 2
    assert found.greedy.recall == 1
    assert found.greedy.precision == pytest.approx(2 / 5, abs=1e-12)


NAMES = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=6)


@given(NAMES, NAMES, st.sets(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg"))))
def test_matches_never_exceed_either_side(
    reference: list[str], predicted: list[str], pairs: set[tuple[str, str]]
) -> None:
    found = score(reference, predicted, same(*pairs), articles="keep")
    m, best = found.greedy.correct, found.optimal.correct
    assert m <= best <= min(len(predicted), len(reference))
    # A maximal matching is at least half of a maximum one.
    assert 2 * m >= best
    references = [r for r, _, _ in found.matched]
    assert len(set(references)) == len(references) == m
    # "needed" asks less and gives the same greedy figure.
    needed = score(reference, predicted, same(*pairs), articles="keep", asked="needed")
    assert needed.greedy.f1 == found.greedy.f1
    assert needed.judged <= found.judged
    assert math.isnan(needed.optimal.f1) and math.isnan(needed.difference)


def test_duplicates_are_reported_and_count_or_collapse() -> None:
    # 2 of 3 predicted and 2 gold: 4/5. Collapsed: 1.
    counted = score(["Sahara", "Gobi"], ["Sahara", "the sahara", "Gobi"])
    assert counted.greedy.f1 == pytest.approx(4 / 5, abs=1e-12)
    collapsed = score(["Sahara", "Gobi"], ["Sahara", "the sahara", "Gobi"], duplicates="collapse")
    assert collapsed.greedy.f1 == 1
    assert counted.universe.duplicates == collapsed.universe.duplicates == 1
    assert len(collapsed.universe.predicted) == 2


def test_a_second_name_of_the_same_thing_finds_its_gold_taken() -> None:
    judge = same(("Kgalagadi", "Kalahari"), ("The Kgalagadi Desert", "Kalahari"))
    found = score(["Kalahari", "Gobi"], ["Kgalagadi", "The Kgalagadi Desert"], judge)
    assert found.greedy.correct == 1
    assert found.optimal.correct == 1


def test_answers_of_other_questions_score_lower() -> None:
    golds = [["a1", "a2"], ["b1", "b2"], ["c1", "c2"]]
    own = [score(gold, gold).greedy.f1 for gold in golds]
    others = [*golds[1:], golds[0]]
    moved = [score(gold, other).greedy.f1 for gold, other in zip(golds, others, strict=True)]
    assert own == [1, 1, 1]
    assert moved == [0, 0, 0]


@pytest.mark.parametrize(
    ("language", "gold", "response"),
    [
        ("Arabic", ["القاهرة", "الإسكندرية", "الجيزة"], "القاهره، الاسكندرية، الجيزة"),
        ("Bengali", ["ঢাকা", "খুলনা", "সিলেট"], "১. ঢাকা\n২. খুলনা\n৩. সিলেট"),
        ("Chinese", ["北京", "上海", "广州"], "北京、上海、广州"),
        ("Dutch", ["België", "Nederland"], "1. Belgie\n2. Nederland"),
        ("English", ["The Hague", "Rome"], "1. Hague\n2. Rome"),
        ("French", ["L'Île-de-France", "La Réunion"], "- Ile de France\n- Réunion"),
        ("German", ["München", "Köln"], "1. Muenchen\n2. Koeln"),
        ("Hindi", ["दिल्ली", "मुंबई", "चेन्नई"], "दिल्ली, मुंबई, चेन्नई"),
        ("Italian", ["L'Aquila", "Forlì"], "* Aquila\n* Forli"),
        ("Japanese", ["東京", "大阪", "京都"], "１．東京\n２．大阪\n３．京都"),
        ("Russian", ["Королёв", "Москва"], "1) Королев\n2) Москва"),
        ("Spanish", ["Perú", "El Salvador"], "1. Peru\n2. Salvador"),
        ("Korean", ["서울", "부산"], "1. 서울\n2. 부산"),
    ],
)
def test_languages_match_by_rule(language: str, gold: list[str], response: str) -> None:
    found = score(gold, response, language=language)
    assert found.greedy.f1 == 1
    assert {how for _, _, how in found.matched} == {"rule"}


def test_aliases_are_rules() -> None:
    gold = [{"text": "Kalahari", "aliases": ["Kgalagadi"]}, {"text": "Gobi"}]
    assert score(gold, ["kgalagadi", "gobi"]).greedy.f1 == 1


def test_unread_and_unsure_verdicts_match_nothing_and_are_counted() -> None:
    def judge(items: Sequence[Item]) -> list[Judgement]:
        words = [None, UNSURE, CORRECT, INCORRECT]
        return [Judgement(i.item_id, word) for i, word in zip(items, words, strict=True)]

    found = score(["a1", "b1"], ["x", "y"], judge)
    # x: unread, unsure; y equals a1. 1 of 2 and 2.
    assert found.greedy.f1 == 0.5
    assert (found.unscored, found.unsure, found.judged) == (1, 1, 4)
    silent = score(["a1", "b1"], ["x", "y"], lambda items: [])
    assert (silent.unscored, silent.greedy.f1) == (4, 0)


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(InputError, match="question 'q1' has no reference element"):
        score([], ["x"])
    one = prepare_universe(question_id="q", question="?", reference=["a"], response=["x"])
    identity = one.items[0].item_id
    with pytest.raises(InputError, match="no open pair"):
        one.score([Judgement("zzz", CORRECT)])
    with pytest.raises(InputError, match="two verdicts"):
        one.score([Judgement(identity, CORRECT), Judgement(identity, CORRECT)])
    with pytest.raises(SettingsError, match="asked can't be 'some'"):
        UniverseRecipe(asked="some")  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize("asked", ["all", "needed"])
def test_many_answers_are_judged_in_few_batches(asked: str) -> None:
    recipe = UniverseRecipe(asked=asked)  # type: ignore[arg-type]  # by name
    universes = [
        prepare_universe(
            question_id=f"q{k}",
            question="?",
            reference=["g1", "g2", "g3"],
            response=["x", "y"],
            recipe=recipe,
        )
        for k in range(5)
    ]
    sizes: list[int] = []

    def judge(items: Sequence[Item]) -> list[Judgement]:
        sizes.append(len(items))
        return same(("x", "g1"), ("y", "g1"), ("y", "g3"))(items)

    said = judge_universes(universes, judge)
    scores = [one.score(own) for one, own in zip(universes, said, strict=True)]
    # y finds g1 taken and gets g3: 2 of 2 predicted, 2 of 3 gold.
    assert [score.greedy.f1 for score in scores] == pytest.approx([4 / 5] * 5, abs=1e-12)
    # All: 5 answers of 2 x 3 pairs. Needed: x beside three, then y beside the two that are free.
    assert sizes == ([30] if asked == "all" else [15, 10])
    with pytest.raises(InputError, match="'zzz', which was not asked"):
        judge_universes(universes, lambda items: [Judgement("zzz", CORRECT)])


def test_many_answers_are_read_by_one_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its checks take a millisecond, which is more than an answer takes."""
    made: list[str] = []

    def counted(**conventions: Any) -> Recipe:
        made.append(conventions["aside"])
        return recipe(**conventions)

    monkeypatch.setattr("accord.scoring.universe.recipe", counted)
    for aside in ("drop", "keep", "drop"):
        for number in range(3):
            prepare_universe(
                question_id=str(number),
                question="?",
                reference=["Mars"],
                response="1. Mars",
                recipe=UniverseRecipe(aside=aside),
            )
    assert len(made) <= 2


def test_the_block_travels() -> None:
    found = score(["a"], ["a"], duplicates="collapse")
    assert found.block["recipe"]["duplicates"] == "collapse"
    assert UniverseRecipe().sha256 != UniverseRecipe(articles="keep").sha256


def test_an_alias_goes_with_the_attributes_of_its_element() -> None:
    gold = [{"text": "New York", "aliases": ["The Big Apple"], "attributes": {"year": "1898"}}]
    right = [{"text": "The Big Apple", "attributes": {"year": "1898"}}]
    wrong = [{"text": "The Big Apple", "attributes": {"year": "1998"}}]
    assert score(gold, right).greedy.f1 == 1
    assert score(gold, wrong).greedy.f1 == 0
    assert score(gold, ["The Big Apple"]).greedy.f1 == score(gold, ["New York"]).greedy.f1 == 0
