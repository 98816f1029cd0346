"""KnowledgeBerg by hand: means over questions, accuracy, and what wrong answers lacked."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import pytest

from accord.scoring.errors import InputError, SettingsError
from accord.scoring.knowledgeberg import (
    Enumerated,
    Reasoned,
    choice_accuracy,
    knowledge_of_wrong_answers,
    knowledgeberg_scores,
    read_reasoned,
)
from accord.scoring.records import CORRECT, INCORRECT, Item, Judgement
from accord.scoring.universe import UniverseRecipe, universe_score


def strict(items: Sequence[Item]) -> list[Judgement]:
    return [Judgement(item.item_id, INCORRECT) for item in items]


def enumerated(
    question_id: str,
    reference: list[str],
    response: str | list[str],
    *,
    domain: str = "Geography",
    language: str = "English",
    recipe: UniverseRecipe | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    system: str = "s",
) -> Enumerated:
    def judge(items: Sequence[Item]) -> list[Judgement]:
        return [
            Judgement(i.item_id, CORRECT if (i.predicted, i.reference) in pairs else INCORRECT)
            for i in items
        ]

    score = universe_score(
        question_id=question_id,
        question="Which?",
        reference=reference,
        response=response,
        language=language,
        verdicts=judge,
        recipe=recipe,
        system=system,
    )
    return Enumerated(score, domain, language)


def reasoned(
    response: str,
    key: str = "A",
    needed: Sequence[str] | None = None,
    *,
    seed_id: str = "q1",
    domain: str = "Geography",
    language: str = "English",
) -> Reasoned:
    return read_reasoned(
        question_id="k",
        response=response,
        key=key,
        needed=needed,
        seed_id=seed_id,
        domain=domain,
        language=language,
        system="s",
    )


MATERIAL = [
    # 1 of 2 predicted, 1 of 2 gold: 1/2.
    enumerated("q1", ["Gobi", "Namib"], ["Gobi", "Mojave"]),
    # Greedy 1/2, optimal 1 (x may be g1 or g2, y only g1).
    enumerated(
        "q2",
        ["g1", "g2"],
        ["x", "y"],
        domain="History",
        pairs=[("x", "g1"), ("x", "g2"), ("y", "g1")],
    ),
    # All: 1.
    enumerated("q1", ["戈壁", "纳米布"], "戈壁、纳米布", language="Chinese"),
    # Nothing: 0.
    enumerated("q2", ["g1"], "", domain="History", language="Chinese"),
]


def test_means_over_questions_by_hand() -> None:
    found = knowledgeberg_scores(MATERIAL)
    # (1/2 + 1/2 + 1 + 0) / 4 and (1/2 + 1 + 1 + 0) / 4.
    assert found.universe["universe_f1"].value == pytest.approx(1 / 2, abs=1e-12)
    assert found.universe["universe_f1_optimal"].value == pytest.approx(5 / 8, abs=1e-12)
    assert found.universe["optimal_minus_greedy"].value == pytest.approx(1 / 8, abs=1e-12)
    assert found.states == {"given": 3, "empty": 1}
    assert (found.counts["by_rule"], found.counts["by_judge"]) == (3, 1)
    table = found.universe_table
    assert (table.rows, table.columns) == (("Geography", "History"), ("Chinese", "English"))
    assert table.cells[("Geography", "Chinese")].value == 1
    assert table.cells[("History", "Chinese")].value == 0
    assert table.row_means["Geography"].value == pytest.approx(3 / 4, abs=1e-12)
    assert table.column_means["English"].value == pytest.approx(1 / 2, abs=1e-12)
    assert table.overall.value == pytest.approx(1 / 2, abs=1e-12)
    json.dumps(found.to_dict(), allow_nan=False)


def test_accuracy_keeps_what_cannot_be_read_in_the_denominator() -> None:
    answers = ["A", "The answer is B", "A or B", "I don't know", "", "**A**"]
    given = [reasoned(answer) for answer in answers]
    found = choice_accuracy([r.choice for r in given], [r.key for r in given])
    # 2 right of 6; 3 chose an option.
    assert found.accuracy == pytest.approx(2 / 6, abs=1e-12)
    assert found.when_read == pytest.approx(2 / 3, abs=1e-12)
    assert found.unread == {"empty": 1, "refused": 1, "several labels": 1}
    nothing = choice_accuracy([], [])
    assert math.isnan(nothing.accuracy)
    assert nothing.reason == "no multiple-choice answer"


def test_gold_against_gold_and_nothing() -> None:
    keys = ["A", "B", "C", "D"]
    own = [reasoned(key, key) for key in keys]
    assert choice_accuracy([r.choice for r in own], keys).accuracy == 1
    empty = [reasoned("", key) for key in keys]
    assert choice_accuracy([r.choice for r in empty], keys).accuracy == 0
    moved = [reasoned(key, other) for key, other in zip(keys, "BCDA", strict=True)]
    assert choice_accuracy([r.choice for r in moved], list("BCDA")).accuracy == 0


def test_wrong_answers_lack_knowledge_or_do_not_apply_it() -> None:
    # The enumeration of q1 has the Gobi and lacks the Namib.
    answers = [
        reasoned("B", needed=["Gobi"]),  # wrong, present
        reasoned("B", needed=["the Gobi", "Namib"]),  # wrong, one is missing
        reasoned("A or B", needed=["Namib"]),  # unread is wrong, missing
        reasoned("B"),  # wrong, nobody said what is needed
        reasoned("B", needed=["Gobi"], seed_id="q9"),  # wrong, no enumeration
        reasoned("A", needed=["Namib"]),  # right all the same
        reasoned("A", needed=["Gobi"]),
    ]
    found = knowledge_of_wrong_answers(MATERIAL, answers)
    assert (found.wrong_missing, found.wrong_present, found.wrong_unknown) == (2, 1, 2)
    assert (found.right_missing, found.right_present, found.right_unknown) == (1, 1, 0)
    assert found.missing_knowledge == pytest.approx(2 / 3, abs=1e-12)
    assert found.not_applied == pytest.approx(1 / 3, abs=1e-12)


def test_the_enumeration_is_that_of_the_same_language() -> None:
    # In Chinese both are enumerated.
    answer = reasoned("B", needed=["纳米布"], language="Chinese")
    found = knowledge_of_wrong_answers(MATERIAL, [answer])
    assert (found.wrong_missing, found.wrong_present) == (0, 1)


def test_without_a_wrong_answer_the_shares_are_undefined() -> None:
    found = knowledge_of_wrong_answers(MATERIAL, [reasoned("A", needed=["Gobi"])])
    assert math.isnan(found.missing_knowledge)
    assert found.to_dict()["missing_knowledge"] is None
    assert found.reason == "no wrong answer whose needed elements are known"


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(InputError, match="needs 'Atacama', which is no element of 'q1'"):
        knowledge_of_wrong_answers(MATERIAL, [reasoned("B", needed=["Atacama"])])
    with pytest.raises(InputError, match="the key 'E' is none of A, B, C, D"):
        reasoned("A", key="E")
    with pytest.raises(InputError, match="two enumerations of 'q1'"):
        knowledge_of_wrong_answers([MATERIAL[0], MATERIAL[0]], [])
    with pytest.raises(InputError, match="2 systems in one table: s, t"):
        knowledgeberg_scores([MATERIAL[0], enumerated("q5", ["a"], ["a"], system="t")])
    with pytest.raises(InputError, match="0 systems"):
        knowledgeberg_scores([])
    other = enumerated("q5", ["a"], ["a"], recipe=UniverseRecipe(articles="keep"))
    with pytest.raises(SettingsError, match="recipe.articles is 'drop' in one and 'keep'"):
        knowledgeberg_scores([MATERIAL[0], other])
    with pytest.raises(InputError, match="blank group"):
        knowledgeberg_scores([enumerated("q5", ["a"], ["a"], domain=" ")])
