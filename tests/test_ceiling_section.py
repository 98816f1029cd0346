"""The panel's part on the ceiling: what is in it, when it is there, and what it must say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_ratings import draw

from accord.study import Ratings
from accord.validate import agreement, ceiling_difference, leave_one_out_ceiling
from accord.validate.section import Section

LABELS = ("CORRECT", "INCORRECT", "PARTLY")
NUMBERS = ("1", "0", "0.5")


def ratings(
    g: int = 20,
    *,
    words: tuple[str, ...] = LABELS,
    people: int = 3,
    judges: tuple[str, ...] = ("gpt",),
    seed: int = 41,
) -> tuple[Ratings, Any]:
    """Drawn ratings in long form, three items a response, and the codes they were made of."""
    clusters, given, judge = draw(np.random.default_rng(seed), g, "balanced")
    given = given[:, :people]
    rows: list[dict[str, Any]] = []
    for item in range(len(judge)):
        about = {
            "item_id": f"i{item:05d}",
            "question_id": f"q{clusters[item]:04d}",
            "system": "-",
            "response_id": f"q{clusters[item]:04d} / {item // 3}",
            "status": "rated",
            "weight": 1.0,
        }
        cells = [(f"person {c}", "annotator", given[item, c]) for c in range(people)]
        cells += [(name, "judge", judge[item]) for name in judges]
        rows += [
            {**about, "rater": rater, "kind": kind, "rating": words[code]}
            for rater, kind, code in cells
            if code >= 0
        ]
    frame = pd.DataFrame(rows).astype(
        {name: object for name in ("item_id", "question_id", "response_id", "rater", "rating")}
    )
    return Ratings(frame), (clusters, given, judge)


def section(of: Ratings, **options: Any) -> Section | None:
    report = agreement(of, resamples=0, **options)
    return next((part for part in report.sections if part.name == "ceiling"), None)


def test_figures_are_those_of_the_functions() -> None:
    made, (clusters, people, judge) = ratings()
    part = section(made)
    assert part is not None
    found = {(one.name, one.level, one.details["side"]): one for one in part.results}
    # codes are in the order of the labels' names, which changes no figure
    shared: dict[str, Any] = {"n_categories": 3, "clusters": clusters}
    for coefficient, name in (("agreement", ""), ("cohen_kappa", "_kappa")):
        plain = ceiling_difference(judge, people, coefficient=coefficient, **shared)
        one = found[f"ceiling_difference{name}", "element", "difference"]
        assert (one.estimate, one.low, one.high) == pytest.approx(
            (plain.estimate, plain.low, plain.high), abs=1e-12
        )
    for statistic in ("agreement", "cohen_kappa"):
        out = leave_one_out_ceiling(judge, people, statistic=statistic, **shared)
        for side in ("people", "judge", "difference"):
            name = f"leave_one_out_{statistic}" + ("_difference" if side == "difference" else "")
            one, plain = found[name, "element", side], getattr(out, side)
            assert (one.estimate, one.low) == pytest.approx((plain.estimate, plain.low), abs=1e-12)
    for one in part.results:
        assert one.details["comparison"] == "ceiling" and one.details["rater"] == "gpt"


def test_response_level_is_against_the_mean_of_the_others_scores() -> None:
    made, (clusters, people, judge) = ratings(30, words=NUMBERS)
    part = section(made, scale="interval")
    assert part is not None
    number = np.array([1.0, 0.0, 0.5, math.nan])
    response = np.unique(
        [f"{q:04d}/{item // 3:05d}" for item, q in enumerate(clusters)], return_inverse=True
    )[1]
    scores = np.stack(
        [
            [number[column[response == r]].mean() for r in range(response.max() + 1)]
            for column in (*people.T, judge)
        ],
        axis=1,
    )
    where = np.array([clusters[response == r][0] for r in range(response.max() + 1)])
    for statistic in ("pearson", "mad"):
        plain = leave_one_out_ceiling(
            scores[:, 3], scores[:, :3], statistic=statistic, clusters=where
        )
        (one,) = [
            one
            for one in part.results
            if one.level == "response" and one.name == f"leave_one_out_{statistic}_difference"
        ]
        assert (one.estimate, one.low, one.high) == pytest.approx(
            (plain.difference.estimate, plain.difference.low, plain.difference.high), abs=1e-9
        )
        assert one.details["measure"] == "mean_rating"


def test_numbers_are_compared_with_the_mean_and_labels_by_name_with_the_majority() -> None:
    made, _ = ratings(words=NUMBERS)
    numbers = section(made, scale="interval")
    labels = section(made, scale="interval", aggregate="majority")
    assert numbers is not None and labels is not None
    names = {one.name for one in numbers.results if one.level == "element"}
    assert {"leave_one_out_pearson", "leave_one_out_mad", "ceiling_difference"} <= names
    assert "leave_one_out_agreement" not in names
    assert "leave_one_out_agreement" in {one.name for one in labels.results}
    assert "mean of the other annotators" in numbers.notes[0]
    assert "majority of the other annotators" in labels.notes[0]


def test_a_judge_above_people_is_told_to_be_in_the_middle() -> None:
    made, (_, people, _) = ratings()
    frame = made.frame
    # a judge that says what most people say lies above the human–human line
    votes = [
        np.bincount(row[row >= 0], minlength=3) if (row >= 0).any() else None for row in people
    ]
    most = {
        f"i{item:05d}": LABELS[int(vote.argmax())]
        for item, vote in enumerate(votes)
        if vote is not None
    }
    rows = frame["kind"] == "judge"
    frame.loc[rows, "rating"] = [most.get(item, "CORRECT") for item in frame.loc[rows, "item_id"]]
    part = section(made)
    assert part is not None
    raw = next(one for one in part.results if one.name == "ceiling_difference")
    assert raw.low > 0
    assert any("middle of the people's spread" in note for note in part.notes)
    assert "no upper bound" in part.notes[0]


def test_below_people_nothing_is_said_of_the_middle() -> None:
    made, _ = ratings()
    rows = made.frame["kind"] == "judge"
    made.frame.loc[rows, "rating"] = "CORRECT"
    part = section(made)
    assert part is not None
    assert not any("middle of the people's spread" in note for note in part.notes)


def test_only_with_a_judge_and_two_annotators_of_an_item() -> None:
    alone, _ = ratings(people=1)
    assert section(alone) is None
    nobody, _ = ratings(judges=())
    assert section(nobody) is None
    two, _ = ratings(people=2)
    part = section(two)
    assert part is not None and "with two, each against the other" in part.notes[0]


def test_few_differences_are_said_to_decide_nothing() -> None:
    made, (_, people, _) = ratings(12, people=2)
    same = (people >= 0).all(axis=1) & (people[:, 0] == people[:, 1])
    keep = {f"i{item:05d}" for item in np.flatnonzero(same)}
    frame = made.frame[made.frame["item_id"].isin(keep)].reset_index(drop=True)
    first = frame[frame["kind"] == "annotator"].drop_duplicates("item_id")
    label = dict(zip(first["item_id"], first["rating"], strict=True))
    rows = frame["kind"] == "judge"
    frame.loc[rows, "rating"] = [label[item] for item in frame.loc[rows, "item_id"]]
    at = frame.index[rows][:3]
    frame.loc[at, "rating"] = [
        next(word for word in LABELS if word != label[item]) for item in frame.loc[at, "item_id"]
    ]
    part = section(Ratings(frame))
    assert part is not None
    assert any("INCONCLUSIVE: rests on 3 items" in note for note in part.notes)


def test_lines_fit_a_terminal_and_names_can_not_break_them() -> None:
    made, _ = ratings(judges=("a\u202ejudge with a name that is far too long for a column", "b"))
    part = section(made)
    assert part is not None
    assert all(len(line) <= 98 and "\u202e" not in line for line in part.lines)
    assert {row["rater"] for row in part.rows} == set(
        made.frame.loc[made.frame["kind"] == "judge", "rater"]
    )
    assert {row["left_out"] for row in part.rows} == {"person 0", "person 1", "person 2"}


def test_many_annotators_have_no_kappa() -> None:
    rng = np.random.default_rng(43)
    rows = [
        {
            "item_id": f"i{item}",
            "question_id": f"q{item // 4}",
            "system": "-",
            "response_id": None,
            "rater": name,
            "kind": "judge" if name == "gpt" else "annotator",
            "rating": LABELS[int(rng.integers(2))],
            "status": "rated",
            "weight": 1.0,
        }
        for item in range(48)
        for name in ("gpt", *(f"p{n:02d}" for n in range(11)))
    ]
    part = section(Ratings(pd.DataFrame(rows).astype({"response_id": object})))
    assert part is not None
    names = {one.name for one in part.results}
    assert "ceiling_difference" in names and "leave_one_out_agreement" in names
    assert not any("kappa" in name for name in names)
