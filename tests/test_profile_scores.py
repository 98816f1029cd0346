"""From the files of other benchmarks to scores: the samples' figures by hand, and sanity."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from profile_samples import FILES, add

from accord.scoring.parse import read_reference
from accord.study import Study

NO_LIST = ("loft-anyof", "truthfulqa", "factscore")
LISTS = [name for name in FILES if name not in NO_LIST]

# Precision and recall of each sample response in the file's order, under exact matching.
BY_HAND: dict[str, list[tuple[float, float]]] = {
    # Ortensia and Camelia of three; an empty answer.
    "listqa-text": [(1, 2 / 3), (0, 0)],
    # "rhein" is a name of the Rhine, Wiese is wrong; nothing predicted.
    "qampari": [(1 / 2, 1 / 2), (0, 0)],
    # "Rhine, Wiese." without its citations, cut at the comma.
    "alce": [(1 / 2, 1 / 2), (0, 0)],
    "romqa": [(1 / 2, 1 / 2), (0, 0)],
    # Old Lady is right, Ortensia is not of this question.
    "quest": [(1 / 2, 1), (0, 0)],
    "loft-allof": [(1, 1 / 2), (0, 0)],
    # "retinol" is a synonym of vitamin A.
    "bioasq": [(1 / 2, 1 / 2), (0, 0)],
    # Rhine of three spans; "Nile" is not "Blue Nile".
    "multispanqa": [(1 / 2, 1 / 3), (1, 1)],
    # "Mayor" is not "Mayor (of Basel)": the bracket holds no years and is part of the name.
    "tlqa": [(0, 0)],
    # An id of two; one name of two.
    "lmkbc": [(1, 1 / 2), (1, 1 / 2)],
    "knowledgeberg-csv": [(1, 1 / 2)],
    "deepsearchqa": [(1, 2 / 3)],
    "mapping.toml": [(1, 1 / 2), (1, 1)],
    # "The Rhine" is one of the names of one element.
    "mapping-anyof.json": [(1, 1)],
}


def scored(study: Study, system: str | None = None) -> pd.DataFrame:
    """The scores in the order of the responses, of one system or of all."""
    study.score(["exact"])
    order = [
        (response.question_id, response.system)
        for response in study.ledger.responses()
        if system in (None, response.system)
    ]
    found: pd.DataFrame = study.scores().set_index(["question_id", "system"]).loc[order]
    return found


@pytest.mark.parametrize("name", BY_HAND)
def test_a_sample_has_its_scores(empty: Study, name: str) -> None:
    add(empty, name, "questions")
    add(empty, name, "responses")
    found = scored(empty)
    assert len(found) == len(BY_HAND[name])
    for row, (precision, recall) in zip(found.to_dict("records"), BY_HAND[name], strict=True):
        f1 = 2 * precision * recall / (precision + recall) if precision else 0
        figures = (row["llm_judge_precision"], row["llm_judge_recall"], row["llm_judge_f1"])
        assert figures == pytest.approx((precision, recall, f1), abs=1e-12)


@pytest.mark.parametrize("name", LISTS)
def test_gold_nothing_and_the_answers_of_other_questions(
    empty: Study, tmp_path: Path, name: str
) -> None:
    """Gold against gold is 1, nothing is 0, answers moved to other questions score lower."""
    add(empty, name, "questions")
    questions = empty.ledger.questions()
    gold = [
        [element.display for element in read_reference(question.reference).elements]
        for question in questions
    ]
    moved = [*gold[1:], gold[0]]
    rows = [
        {"question_id": question.question_id, "system": system, "response": answer}
        for system, answers in (("gold", gold), ("moved", moved), ("empty", [[]] * len(gold)))
        for question, answer in zip(questions, answers, strict=True)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    empty.add_responses(path)
    found = {system: scored(empty, system) for system in ("gold", "moved", "empty")}
    figures = ["llm_judge_precision", "llm_judge_recall", "llm_judge_f1"]
    assert (found["gold"][figures] == 1).all(axis=None)
    assert (found["empty"][figures] == 0).all(axis=None)
    assert set(found["empty"]["state"]) == {"empty"}
    for scores in found.values():
        fewer = scores[["n_reference", "n_predicted"]].min(axis=1)
        assert (scores["correct"] <= fewer).all()
    # The sample of SciKnowEval has a record twice, whose answers are each other's.
    if len({tuple(one) for one in gold}) > 1:
        assert found["moved"]["llm_judge_f1"].mean() < 1


def test_every_list_format_has_its_scores_by_hand() -> None:
    # WideSearch's and SimpleQA's answers are no matter of exact matching; SciKnowEval has its own
    # figures.
    assert set(LISTS) - set(BY_HAND) == {"widesearch", "simpleqa", "sciknoweval"}
