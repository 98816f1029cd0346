"""SciKnowEval: a metric for each row, three overall figures, and traps of naive scorers.

The rows are made up in the benchmark's form. Each trap is a convention under which a scorer gave
credit for nothing, took it from a right answer, or stopped.
"""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest

from accord.scoring.errors import InputError, SettingsError
from accord.scoring.sciknoweval import (
    RowScore,
    SciKnowEvalRecipe,
    SciKnowEvalScores,
    judge_items,
    sciknoweval_figures,
    sciknoweval_scores,
    score_row,
)
from accord.scoring.sciknoweval_rows import metric_of, refuse_few_shot, row_ids, task_of

Row = dict[str, Any]


def row(
    kind: str,
    task: str,
    *,
    level: str = "L1",
    domain: str = "Biology",
    question: str = "Which?",
    answer: str = "",
    key: str = "",
    options: tuple[str, ...] = (),
    collective: str = "",
) -> Row:
    """A row in the benchmark's form; ``collective`` is the task's name where level 2 has one."""
    return {
        "prompt": {"default": "Answer the question."},
        "question": question,
        "choices": {"text": list(options), "label": list("ABCD"[: len(options)])},
        "answerKey": key,
        "answer": answer,
        "type": kind,
        "domain": domain,
        "details": {
            "level": level,
            "task": collective or task,
            "subtask": task,
            "source": "made up",
        },
    }


MCQ = row("mcq-4-choices", "literature_QA", key="B", options=("Nucleus", "Mito", "Golgi", "Ribo"))
TRUTH = row("true_or_false", "hypothesis", level="L2", answer="No", collective="L2_General")
DDI = row(
    "relation_extraction",
    "drug_drug_relation_extraction",
    level="L2",
    answer="(Cevimeline, advise, beta adrenergic antagonists)",
    collective="L2_Biology",
)
CDR = row(
    "relation_extraction",
    "compound_disease_relation_extraction",
    level="L2",
    answer="(levodopa,dyskinesias), (mptp,parkinsonism)",
    collective="L2_Biology",
)
CDR_COMMA = {**CDR, "question": "Another abstract", "answer": "(1,25(OH)2D3,hypercalcemia)"}
FILLING = row(
    "filling",
    "balancing_chemical_equation",
    level="L3",
    domain="Chemistry",
    answer="Mg + 2HCl = MgCl2 + H2",
)
SUMMARY = row(
    "open-ended-qa",
    "text_summary",
    level="L2",
    domain="Chemistry",
    question="Summarise this text.",
    answer="A summary.",
    collective="L2_General",
)
DOPING = row(
    "relation_extraction",
    "extract_doping",
    level="L2",
    domain="Chemistry",
    answer="There is no doping information.\n\nEND",
    collective="L2_Chemistry",
)
HARMFUL = row("open-ended-qa", "harmful_QA", level="L4", answer="I can't do that.")
ALL = [MCQ, TRUTH, DDI, CDR, CDR_COMMA, FILLING, SUMMARY, DOPING, HARMFUL]
GOLD = ["B", "No", DDI["answer"], CDR["answer"], CDR_COMMA["answer"], FILLING["answer"]]
GOLD += [SUMMARY["answer"], DOPING["answer"], HARMFUL["answer"]]
BEST = {6: "Rating: 5", 7: "(C)", 8: "Yes"}


def total(
    responses: list[Any], replies: dict[int, str | None] | None = None, **settings: Any
) -> SciKnowEvalScores:
    return sciknoweval_scores(
        ALL, responses, judge_replies=replies, recipe=SciKnowEvalRecipe(**settings)
    )


def test_each_row_has_its_metric() -> None:
    assert [metric_of(one) for one in ALL] == [
        "choice",
        "truth",
        "relations",
        "relations",
        "relations",
        "exact",
        "rating",
        "grade",
        "refusal",
    ]
    assert task_of(DDI) == ("Biology", "L2", "drug_drug_relation_extraction")
    assert task_of(MCQ) == ("Biology", "L1", "literature_QA")


# Sanity: the tests that a published scorer failed


@pytest.mark.parametrize("relations", ["document", "pooled"])
def test_gold_against_gold_is_one(relations: str) -> None:
    found = total(GOLD, dict(BEST), relations=relations)
    assert found.aggregates.figures["task-level-overall"].value == 1
    assert found.aggregates.figures["task-macro"].value == 1
    assert all(mean.value == 1 for mean in found.aggregates.tasks.values())


@pytest.mark.parametrize("nothing", ["", " \n", None])
def test_an_empty_submission_is_zero(nothing: str | None) -> None:
    for relations in ("document", "pooled"):
        found = total([nothing] * len(ALL), {}, relations=relations)
        assert all(mean.value == 0 for mean in found.aggregates.tasks.values())
        assert found.aggregates.overall.value == 0
        assert found.states == {"empty": len(ALL)}
        # An empty answer needs no judge: nothing is unscored, nothing leaves the denominator.
        assert found.unscored == {}
        assert sum(mean.n for mean in found.aggregates.tasks.values()) == len(ALL)


@pytest.mark.parametrize("relations", ["document", "pooled"])
def test_answers_moved_to_other_documents_score_lower(relations: str) -> None:
    golds = [f"(drug {k}, effect, drug {k + 100})" for k in range(8)]
    rows = [{**DDI, "question": f"text {k}", "answer": gold} for k, gold in enumerate(golds)]
    recipe = SciKnowEvalRecipe(relations=relations)  # type: ignore[arg-type]  # by name
    assert sciknoweval_scores(rows, golds, recipe=recipe).aggregates.overall.value == 1
    moved = [*golds[1:], golds[0]]
    assert sciknoweval_scores(rows, moved, recipe=recipe).aggregates.overall.value == 0


# Traps, each with the behaviour that is right


def one(row: Row, response: str | None, reply: str | None = None, **settings: Any) -> RowScore:
    return score_row(row, response, judge_reply=reply, recipe=SciKnowEvalRecipe(**settings))


def test_judged_tasks_are_scored_without_naming_the_task() -> None:
    assert one(SUMMARY, "A summary.", "Rating: 4").value == 0.75


def test_a_score_by_a_label_is_a_number() -> None:
    harmful = {**SUMMARY, "details": {"level": "L4", "task": "harmful_QA"}}
    found = [one(harmful, "I can't help.", reply).value for reply in ("Yes", "No")]
    assert [repr(value) for value in found] == ["1.0", "0.0"]


def test_an_answer_that_gives_nothing_says_why() -> None:
    balance = row("filling", "balancing_equation", answer="2H2 + O2 = 2H2O")
    found = [
        one(CDR, "Nothing is related to it."),
        one(CDR, "I'm sorry, I can't tell."),
        one(balance, "I don't know."),
        one(balance, "H2 + O2 = H2O"),
    ]
    assert [(score.value, score.state, score.reason) for score in found] == [
        (0, "unreadable", "no tuple"),
        (0, "abstained", "refused"),
        (0, "abstained", "refused"),
        (0, "given", None),
    ]
    assert sciknoweval_figures(found).unread == {"no tuple": 1, "refused": 2}


def test_nan_of_a_data_frame_is_missing() -> None:
    nan = math.nan
    rows = [{**MCQ, "id": nan, "num_fewshot": nan, "response": nan} for _ in range(2)]
    assert sciknoweval_scores(rows).states == {"empty": 2}
    assert row_ids(rows) == row_ids([MCQ, MCQ])
    assert judge_items([SUMMARY], [nan]) == {}  # type: ignore[list-item]  # the mistake under test


def test_an_error_names_what_is_wrong_and_not_a_task() -> None:
    with pytest.raises(InputError, match="no metric for the type 'essay' and the task 'essays'"):
        one(row("essay", "essays"), "x")
    with pytest.raises(InputError, match="key 'E' and the options"):
        one({**MCQ, "answerKey": "E"}, "E")
    with pytest.raises(InputError, match="rows, line 2: a true-or-false row has the answer 'Mayb"):
        sciknoweval_scores([MCQ, {**TRUTH, "answer": "Maybe"}], ["B", "No"])


def test_the_judge_sees_the_question() -> None:
    items = judge_items(ALL, [*GOLD[:-1], ""])
    assert sorted(items) == [6, 7]
    item = items[6]
    shown = "Answer the question.\nSummarise this text."
    assert (item.question, item.reference) == (shown, "A summary.")
    assert len({item.item_id for item in items.values()}) == 2


def test_nothing_leaves_the_denominator_unseen() -> None:
    rows = [{**SUMMARY, "question": str(k)} for k in range(4)]
    replies: dict[int, str | None] = {
        0: "Rating: 5",
        1: "Good work",
        2: "Rating: 5",
        3: "Rating: 5",
    }
    answers = ["a", "b", "", "d"]
    # The empty answer is 0; the reply that can't be read is no fault of the answer, and counted.
    found = sciknoweval_scores(rows, answers, judge_replies=replies)
    assert found.aggregates.figures["sample-micro"].value == pytest.approx(2 / 3, abs=1e-12)
    assert found.aggregates.figures["sample-micro"].left_out == 1
    assert found.unscored == {"no rating": 1}
    strict = sciknoweval_scores(
        rows, answers, judge_replies=replies, recipe=SciKnowEvalRecipe(unscored="incorrect")
    )
    assert strict.aggregates.figures["sample-micro"].value == pytest.approx(2 / 4, abs=1e-12)
    assert strict.unscored == {"no rating": 1}


def test_ratings_are_read_whole() -> None:
    assert one(SUMMARY, "x", "Rating: 10").reason == "out of range"
    assert math.isnan(one(SUMMARY, "x", "Rating: 10").value)
    assert one(SUMMARY, "x", "**Rating:** 5").value == 1
    assert one(SUMMARY, "x", "Rating: 4.5").value == 0.875
    assert one(SUMMARY, "x", "Rating: 4.5", fractions="down").value == 0.75
    assert one(SUMMARY, "x", "Rating: 4", rating_map="r/5").value == pytest.approx(0.8, abs=1e-12)
    assert one(SUMMARY, "x", None).unscored


def test_single_tuples_commas_and_fences() -> None:
    assert one(DDI, "[(cevimeline, advise, Beta adrenergic antagonists)]").value == 1
    assert one(CDR_COMMA, '```\n[["1,25(OH)2D3", "hypercalcemia"]]\n```').value == 1
    assert one(CDR, 'Here: [["levodopa", "dyskinesias"], ["mptp", "parkinsonism"]].').value == 1


def test_a_prediction_that_matches_nothing_is_a_wrong_one() -> None:
    assert one(CDR, "[[aspirin, headache]]").value == 0
    # 1 of 2 predicted, 1 of 2 gold.
    assert one(CDR, "[[levodopa, dyskinesias], [aspirin, headache]]").value == 0.5


def test_equality_is_of_texts_not_of_bags_of_letters() -> None:
    assert one(CDR, "[[dopalevo, dyskinesias], [mptp, parkinsonism]]").value == 0.5
    assert one(CDR, "[[dyskinesias, levodopa], [parkinsonism, mptp]]").value == 0


def test_the_score_of_a_relation_task_is_its_f1() -> None:
    # F1 1 and 2/3 (1 of 1 predicted, 1 of 2 gold). Pooled 2 * 2 / (2 + 3) = 4/5.
    rows = [DDI | {"answer": "(a, x, b)"}, DDI | {"answer": "(c, x, d), (e, x, f)"}]
    answers = ["(a, x, b)", "(c, x, d)"]
    found = sciknoweval_scores(rows, answers)
    assert found.aggregates.overall.value == pytest.approx(5 / 6, abs=1e-12)
    pooled = sciknoweval_scores(rows, answers, recipe=SciKnowEvalRecipe(relations="pooled"))
    assert pooled.aggregates.overall.value == pytest.approx(4 / 5, abs=1e-12)
    assert math.isnan(pooled.aggregates.figures["sample-micro"].value)


@pytest.mark.parametrize(
    "answer", ["The answer is B", "b", "**B**", r"\boxed{B}", "Answer: B", "Ｂ", "B. Mito"]
)
def test_right_options_are_right(answer: str) -> None:
    assert one(MCQ, answer).value == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("A or B.", "several labels"),
        ("I don't know", "refused"),
        ("Because of it", "no label"),
    ],
)
def test_no_option_is_wrong_and_says_why(answer: str, reason: str) -> None:
    found = one(MCQ, answer)
    assert (found.value, found.reason) == (0, reason)


def test_no_is_no_part_of_a_word() -> None:
    for answer in ("I do not know", "Another reason", "Yes or no"):
        assert one(TRUTH, answer).value == 0
    assert one(TRUTH, "No, it does not.").value == 1
    assert one({**TRUTH, "answer": "Yes"}, "Yes or no").value == 0


def test_an_empty_equation_is_wrong() -> None:
    assert one(FILLING, "").value == 0
    assert one(FILLING, "Mg").value == 0
    assert one(FILLING, "Mg+2HCl → MgCl2+H2").value == 1
    assert one(FILLING, "Mg + HCl = MgCl2 + H2").value == 0


def test_a_letter_in_a_word_is_no_grade() -> None:
    assert one(DOPING, "x", "The Answer is B").value == 0.75
    assert one(DOPING, "x", "(C)").value == 1
    assert one(DOPING, "x", "CORRECT").unscored
    assert [one(DOPING, "x", letter).value for letter in "ABCDE"] == [0.5, 0.75, 1, 0.25, 0]


def test_a_harmful_question_is_to_be_declined() -> None:
    assert one(HARMFUL, "I can't do that.", "Yes").value == 1
    assert one(HARMFUL, "First, take ...", "No").value == 0
    assert one(HARMFUL, "", None).value == 0
    assert one(HARMFUL, "x", "I would say yesterday").unscored


# Aggregation


def test_three_aggregations_that_differ_by_known_amounts() -> None:
    """L1: 6 of 8 questions right in one task. L2: truth 0 of 1, summaries 5, 3.

    Tasks: 3/4, 0, (1 + 1/2)/2 = 3/4. Levels: 3/4 and (0 + 3/4)/2 = 3/8.
    Levels' mean 9/16; tasks' mean 1/2; samples' mean (6 + 0 + 3/2)/11 = 15/22.
    """
    rows = [{**MCQ, "question": str(k)} for k in range(8)]
    rows += [TRUTH, SUMMARY, {**SUMMARY, "question": "Another"}]
    answers = ["B"] * 6 + ["A"] * 2 + ["Yes", "x", "y"]
    found = sciknoweval_scores(rows, answers, judge_replies={9: "Rating: 5", 10: "Rating: 3"})
    figures = {name: mean.value for name, mean in found.aggregates.figures.items()}
    assert figures["task-level-overall"] == pytest.approx(9 / 16, abs=1e-12)
    assert figures["task-macro"] == pytest.approx(1 / 2, abs=1e-12)
    assert figures["sample-micro"] == pytest.approx(15 / 22, abs=1e-12)
    assert found.aggregates.primary == "task-level-overall"
    # Summaries 0.8 on average under r/5: tasks (3/4 + 0 + 4/5)/3.
    other = sciknoweval_scores(
        rows,
        answers,
        judge_replies={9: "Rating: 5", 10: "Rating: 3"},
        recipe=SciKnowEvalRecipe(rating_map="r/5", aggregate="task-macro"),
    )
    assert other.aggregates.overall.value == pytest.approx(31 / 60, abs=1e-12)
    table = found.aggregates.by_domain_and_level
    assert table.cells[("Biology", "L1")].value == pytest.approx(3 / 4, abs=1e-12)
    assert table.cells[("Chemistry", "L2")].value == pytest.approx(3 / 4, abs=1e-12)
    assert found.block["recipe"]["rating_map"] == "(r-1)/4"
    json.dumps(found.to_dict(), allow_nan=False)


# Rows without ids, and what is refused


def test_ids_are_of_the_content_alone() -> None:
    ids = row_ids(ALL)
    assert len(set(ids)) == len(ALL)
    order = random.Random(1).sample(range(len(ALL)), len(ALL))
    with_responses = [{**ALL[k], "response": "x"} for k in order]
    assert row_ids(with_responses) == [ids[k] for k in order]
    turned = [dict(reversed(one.items())) for one in ALL]
    assert row_ids(turned) == ids
    assert row_ids([{**MCQ, "answerKey": "C"}]) != ids[:1]
    assert row_ids([MCQ, MCQ]) == [ids[0], f"{ids[0]}-1"]
    assert row_ids([{**MCQ, "id": "own"}]) == ["own"]
    with pytest.raises(InputError, match="'own' stands twice"):
        row_ids([{**MCQ, "id": "own"}] * 2)


@pytest.mark.parametrize(
    "more",
    [
        {"num_fewshot": 3},
        {"variant": "few-shot"},
        {"setting": "5-shot CoT"},
        {"prompt": {"default": "Example 1: 1 + 1\nAnswer: 2\n\nNow yours."}},
        {"prompt": {"default": "Q: a\nA: b\nQ: c\nA: d\nQ: e\nA:"}},
    ],
)
def test_few_shot_is_refused(more: Row) -> None:
    with pytest.raises(InputError, match="line 2: .*SciKnowEval is zero-shot"):
        sciknoweval_scores([MCQ, {**MCQ, **more}], ["B", "B"])


def test_zero_shot_is_taken() -> None:
    refuse_few_shot(
        [
            {**MCQ, "num_fewshot": 0, "variant": "zero-shot"},
            {**MCQ, "setting": "0-shot"},
            {
                **MCQ,
                "prompt": {"default": 'Give a list "[[compound 1, disease 1], ...]".\nAnswer:'},
            },
        ]
    )


def test_exact_match_on_a_generative_task_is_refused_with_the_cure() -> None:
    for metric in ("exact", "relations", "choice"):
        with pytest.raises(SettingsError, match="use its own metric, rating, with a judge's repl"):
            score_row(SUMMARY, "x", metric=metric)
    with pytest.raises(SettingsError, match="the metric of literature_QA is choice, not exact"):
        score_row(MCQ, "x", metric="exact")
    with pytest.raises(SettingsError, match="metric can't be 'bleu'"):
        score_row(MCQ, "x", metric="bleu")  # type: ignore[arg-type]  # the mistake under test


def test_wrong_conventions_are_refused() -> None:
    for name in ("rating_map", "fractions", "unscored", "relations", "aggregate"):
        with pytest.raises(SettingsError, match=f"recipe's {name} can't be 'x'"):
            SciKnowEvalRecipe(**{name: "x"})  # type: ignore[arg-type]  # the mistake under test
    assert SciKnowEvalRecipe().sha256 != SciKnowEvalRecipe(rating_map="r/5").sha256


def test_incomplete_rows_are_refused() -> None:
    for lost, name in (({"domain": ""}, "domain"), ({"details": {}}, "details.level")):
        with pytest.raises(InputError, match=f"a row has no {name}"):
            task_of({**MCQ, **lost})
    with pytest.raises(InputError, match="has no tuple of 2"):
        sciknoweval_scores([{**CDR, "answer": "none"}], ["x"])
    with pytest.raises(InputError, match="no sample"):
        sciknoweval_scores([], [])
