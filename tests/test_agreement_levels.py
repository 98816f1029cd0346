"""Agreement at response and system level: one score a response and rater, by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from accord.scoring.errors import InputError
from accord.scoring.metrics import verdict_counts
from accord.scoring.recipes import recipe
from accord.scoring.records import Pair
from accord.study import Ratings, Study
from accord.study.records import RatingRow
from accord.validate import agreement
from accord.validate.number_figures import NUMBERS
from small_table import find, make

C, X, U = "CORRECT", "INCORRECT", "UNSURE"
Labels = dict[str, list[str | None]]
Verdicts = dict[str, dict[str, str]]
PAIR = {"a": "annotator", "b": "annotator", "j": "judge"}


RESPONSES: Labels = {
    # two responses a system; r0: i0 i1, r1: i2 i3, r2: i4 i5, r3: i6 i7
    "a": [C, C, C, X, X, C, C, None],
    "j": [C, X, C, C, X, C, X, C],
}
COLUMNS: dict[str, Sequence[Any]] = {
    "response_id": ["r0", "r0", "r1", "r1", "r2", "r2", "r3", "r3"],
    "system": ["x", "x", "y", "y", "x", "x", "y", "y"],
}


def test_share_correct_where_the_lengths_are_unknown() -> None:
    report = agreement(make(RESPONSES, PAIR, **COLUMNS))
    # a: r0 1, r1 ½, r2 ½; j: ½, 1, ½; r3 is partly rated by a
    mad = find(report, "mad", "j", "a", level="response")
    assert (mad.n, mad.estimate) == (3, pytest.approx(1 / 3))
    assert mad.dropped == {"partly rated": 1} and mad.details["measure"] == "share_correct"
    assert find(report, "bias", "j", "a", level="response").estimate == pytest.approx(0)
    assert find(report, "pearson", "j", "a", level="response").estimate == pytest.approx(-0.5)
    rows = {row["response_id"]: (row["judge"], row["human"]) for row in report.responses}
    assert rows == {"r0": (0.5, 1.0), "r1": (1.0, 0.5), "r2": (0.5, 0.5), "r3": (0.5, None)}


def test_f1_where_they_are_known() -> None:
    counts = {"n_reference": [4, 4, 2, 2, 3, 3, 2, 2], "n_predicted": [2, 2, 2, 2, 3, 3, 2, 2]}
    report = agreement(make(RESPONSES, PAIR, **COLUMNS, **counts))
    rows = {row["response_id"]: (row["judge"], row["human"]) for row in report.responses}
    # F1 = 2c/(predicted + reference); r2 has 3 predicted elements and only 2 in the table
    assert rows["r0"] == (pytest.approx(2 / 6), pytest.approx(4 / 6))
    assert rows["r1"] == (pytest.approx(4 / 4), pytest.approx(2 / 4))
    assert rows["r2"] == (None, None)
    bias = find(report, "bias", "j", "a", level="response")
    assert bias.details["measure"] == "F1" and bias.n == 2
    assert bias.dropped == {"not all of its items in the table": 1, "partly rated": 1}
    assert bias.estimate == pytest.approx((2 / 6 - 4 / 6 + 1 - 0.5) / 2)


def test_system_means_of_the_same_responses() -> None:
    report = agreement(make(RESPONSES, PAIR, **COLUMNS))
    means: dict[Any, Any] = {
        (one.details["system"], one.raters): (one.estimate, one.n)
        for one in report.results
        if one.level == "system"
    }
    assert means == {
        ("x", ("j",)): (pytest.approx(0.5), 2),
        ("x", ("a",)): (pytest.approx(0.75), 2),
        ("x", ("j", "a")): (pytest.approx(-0.25), 2),
        ("y", ("j",)): (pytest.approx(1.0), 1),  # r3 is not counted for the judge either
        ("y", ("a",)): (pytest.approx(0.5), 1),
        ("y", ("j", "a")): (pytest.approx(0.5), 1),
    }


def test_half_right_counts_half_in_a_response() -> None:
    table: Labels = {"a": [U, C, C, X, X, C, C, C], "j": RESPONSES["j"]}
    half = agreement(make(table, PAIR, **COLUMNS), unsure="half")
    rows = {row["response_id"]: row["human"] for row in half.responses}
    assert rows["r0"] == 0.75
    left_out = agreement(make(table, PAIR, **COLUMNS))
    assert {row["response_id"]: row["human"] for row in left_out.responses}["r0"] is None


def test_the_response_level_says_what_is_missing() -> None:
    report = agreement(make(RESPONSES, PAIR))
    undefined = [one for one in report.results if one.level == "response"]
    assert {one.name for one in undefined} == set(NUMBERS)
    for one in undefined:
        assert math.isnan(one.estimate) and "--response" in (one.reason or "")
    words = {C: "good", X: "bad"}
    table = {k: [words[x or C] for x in v] for k, v in RESPONSES.items()}
    plain = agreement(make(table, PAIR, **COLUMNS))
    reasons = {one.reason for one in plain.results if one.level == "response"}
    assert reasons == {"no label counts as right: name one with --positive LABEL"}


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"n_reference": [4, 3] * 4, "n_predicted": [2] * 8}, "differ in n_reference"),
        ({"n_reference": [1] * 8, "n_predicted": [2] * 8}, "2 elements are rated correct, but"),
        ({"question_id": ["q0", "q1"] * 4}, "response 'r0' differ in question"),
    ],
)
def test_impossible_responses_are_refused(columns: dict[str, Any], says: str) -> None:
    table = {"a": [C] * 8, "j": [C] * 8}
    with pytest.raises(InputError) as caught:
        agreement(make(table, PAIR, **COLUMNS, **columns))
    assert says in str(caught.value)


def test_an_empty_reference_is_left_out_and_counted() -> None:
    counts = {"n_reference": [0, 0, 2, 2, 3, 3, 2, 2], "n_predicted": [2] * 8}
    table = {"a": [X, X, *RESPONSES["a"][2:]], "j": [X, X, *RESPONSES["j"][2:]]}
    report = agreement(make(table, PAIR, **COLUMNS, **counts))
    mad = find(report, "mad", "j", "a", level="response")
    assert mad.dropped == {"empty reference": 1, "partly rated": 1} and mad.n == 2


def test_a_variant_is_a_system_of_its_own() -> None:
    columns = {**COLUMNS, "variant": ["", "", "", "", "think", "think", "", ""]}
    report = agreement(make(RESPONSES, PAIR, **columns))
    assert {one.details["system"] for one in report.results if one.level == "system"} == {
        "x",
        "x (think)",
        "y",
    }


def _people_call_everything(tmp_path: Path, seed: int) -> tuple[Ratings, pd.DataFrame, Verdicts]:
    """A study of 8 questions whose answers leave elements of both sides without a partner."""
    rng = np.random.default_rng(seed)
    gold = {f"q{q}": [f"{name}{q}" for name in ("oak", "elm", "ash")] for q in range(8)}
    answers = {"short": 1, "equal": 3, "long": 5}
    questions = [{"question_id": q, "question": "?", "reference": r} for q, r in gold.items()]
    responses = [
        {"question_id": q, "system": system, "response": (r + [f"yew{q}", f"fir{q}"])[:size]}
        for q, r in gold.items()
        for system, size in answers.items()
    ]
    with Study.create(tmp_path / f"study{seed}") as study:
        for name, rows, add in (
            ("questions", questions, study.add_questions),
            ("responses", responses, study.add_responses),
        ):
            file = tmp_path / f"{name}{seed}.jsonl"
            file.write_text("".join(json.dumps(row) + "\n" for row in rows))
            add(file)
        items = [item.item_id for item in study.items()]
        said: Verdicts = {"ann": {}, "j": {}}
        for rater, verdicts in said.items():
            drawn = rng.choice([C, X, U], size=len(items), p=[0.7, 0.2, 0.1])
            verdicts.update(zip(items, drawn.tolist(), strict=True))
            kind: Any = "judge" if rater == "j" else "annotator"
            study.ledger.add_ratings(
                [
                    RatingRow(item, rater, kind, verdict, "rated", (), "", "", "file:test")
                    for item, verdict in verdicts.items()
                ]
            )
        return study.ratings(), study.pairs(), said


@pytest.mark.parametrize("extra", ["incorrect", "ignore", "credit"])
@pytest.mark.parametrize("unsure", ["incorrect", "half", "missing"])
def test_people_and_judge_are_scored_as_in_a_scoring_run(
    tmp_path: Path, extra: Any, unsure: Any
) -> None:
    # CORRECT for an element without a reference element is 'correct but missing from the
    # reference': counted as a hit, a response would have more hits than its reference elements
    ratings, pairs, said = _people_call_everything(tmp_path, 3)
    rule = recipe("listqa", extra=extra, unsure=unsure)
    expected: dict[tuple[str, str], float] = {}
    for response, rows in pairs.groupby("response_id"):
        records = rows.to_dict("records")
        sides = [
            Pair(
                None if row["reference"] is None else 0,
                None if row["item_id"] is None else 0,
                0.0,
                "rouge",
            )
            for row in records
        ]
        for rater, verdicts in said.items():
            found = [verdicts.get(row["item_id"]) for row in records]
            expected[str(response), rater] = verdict_counts(sides, found, rule).prf().f1
    report = agreement(ratings, extra=extra, unsure=unsure)
    assert len(set(expected.values())) > 6
    assert any(f"(--extra {extra})" in note for note in report.notes)
    assert {row["measure"] for row in report.result_dicts() if row["level"] == "response"} == {"F1"}
    assert len(report.responses) == 24
    for row in report.responses:
        for who, rater in (("human", "ann"), ("judge", "j")):
            scored = math.nan if row[who] is None else row[who]
            score = expected[row["response_id"], rater]
            assert scored == pytest.approx(score, abs=1e-12, nan_ok=True)


def test_most_of_those_who_call_it_right_say_what_a_majority_meant(tmp_path: Path) -> None:
    ratings, _, _ = _people_call_everything(tmp_path, 4)
    same = ratings.frame[ratings.frame["rater"] == "ann"]
    three = pd.concat([ratings.frame, same.assign(rater="bob"), same.assign(rater="cyd")])
    alone = agreement(ratings, extra="credit", unsure="incorrect").responses
    both = agreement(
        replace(ratings, frame=three.reset_index(drop=True)), extra="credit", unsure="incorrect"
    )
    assert both.people == "majority" and both.responses == alone


def test_a_doubted_pair_leaves_both_counts_in_a_study_and_its_response_in_a_table(
    tmp_path: Path,
) -> None:
    ratings, _, said = _people_call_everything(tmp_path, 3)
    about = ratings.frame.set_index(["rater", "item_id"])
    doubted = {
        about.loc[(rater, item), "response_id"]
        for rater, verdicts in said.items()
        for item, verdict in verdicts.items()
        if verdict == U and not about.loc[(rater, item), "unmatched"]
    }
    assert 0 < len(doubted) < 24
    of_study = agreement(ratings)  # UNSURE is left out
    mad = find(of_study, "mad", "j", "ann", level="response")
    assert mad.n > 24 - len(doubted)
    # a table does not say which elements have a partner
    table = agreement(replace(ratings, source={"name": "t.csv"}))
    mad = find(table, "mad", "j", "ann", level="response")
    assert (mad.n, dict(mad.dropped)) == (24 - len(doubted), {"partly rated": len(doubted)})
    whole = [row for row in of_study.responses if row["response_id"] not in doubted]
    kept = [row for row in table.responses if row["response_id"] not in doubted]
    assert whole == kept


def test_responses_rated_as_a_whole_are_the_short_ones_where_items_were_drawn(
    tmp_path: Path,
) -> None:
    ratings, _, _ = _people_call_everything(tmp_path, 3)
    frame = ratings.frame
    about = frame.drop_duplicates("item_id")
    drawn = set(about["item_id"][about["n_predicted"] == 1])  # of the long ones, one item each
    drawn |= set(about[about["n_predicted"] > 1].drop_duplicates("response_id")["item_id"])
    some = frame[(frame["kind"] == "judge") | frame["item_id"].isin(drawn)].reset_index(drop=True)
    said = find(
        agreement(replace(ratings, frame=some), unsure="incorrect"),
        *("mad", "j", "ann"),
        level="response",
    )
    assert said.n == 8 and any("8 of 24 responses" in text for text in said.warnings)
    assert any("short ones (1.0 items, the others 4.0)" in text for text in said.warnings)
    whole = find(agreement(ratings, unsure="incorrect"), "mad", "j", "ann", level="response")
    assert not any("short ones" in text for text in whole.warnings)
