"""Items of a table that nobody rated: kept, counted and named, and their response has no score."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from accord.study import RatingsOptions, read_ratings
from accord.study.ratings import Ratings
from accord.study.tuned import MARK, mark_tuned
from accord.validate import agreement

Run = Callable[..., tuple[int, str, str]]
BLANK = ("q2a1", "q5b0")
"""One item of three in two of the twenty responses."""
SAID = "2 items that nobody rated take no part, and their responses have no score: q2a1, q5b0"


def cells() -> list[dict[str, str]]:
    """Ten questions, two systems, three items each; the raters differ on every seventh."""
    rows = []
    for number in range(60):
        q, s, k = number // 6, "ab"[number // 3 % 2], number % 3
        item = f"q{q}{s}{k}"
        first = "CORRECT" if number % 3 or number % 4 == 0 else "INCORRECT"
        other = "INCORRECT" if number % 7 == 0 else first
        if item in BLANK:
            first = other = ""
        rows.append(
            {"item_id": item, "question_id": f"q{q}", "system": s, "ann": first, "bob": other}
        )
    return rows


def write(path: Path, rows: Sequence[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)
    return path


def long(rows: Sequence[dict[str, str]], blank_status: str | None = None) -> list[dict[str, str]]:
    out = []
    for row in rows:
        for rater in ("ann", "bob"):
            line = {key: row[key] for key in ("item_id", "question_id", "system")}
            line |= {"rater": rater, "kind": "annotator", "rating": row[rater]}
            if blank_status is not None:
                line["status"] = "rated" if row[rater] else blank_status
            out.append(line)
    return out


WIDE = RatingsOptions(wide=True, annotators=("ann", "bob"))


def shares(report: Any, rater: str) -> dict[str, float]:
    """System → mean share correct of one rater's responses."""
    return {
        one.details["system"]: one.estimate
        for one in report.results
        if one.name == "mean_score" and one.raters == (rater,)
    }


def by_hand(rows: Sequence[dict[str, str]], rater: str) -> dict[str, tuple[float, int]]:
    """Mean share correct of whole responses, and how many there are: no blank cell in them."""
    responses: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        responses.setdefault((row["system"], row["question_id"]), []).append(row[rater])
    out = {}
    for system in "ab":
        whole = [v for (s, _), v in responses.items() if s == system and all(v)]
        share = [sum(x == "CORRECT" for x in v) / len(v) for v in whole]
        out[system] = (sum(share) / len(share), len(share))
    return out


def test_a_wide_table_of_people(tmp_path: Path) -> None:
    ratings = read_ratings(write(tmp_path / "wide.csv", cells()), WIDE)
    assert ratings.unrated is not None and list(ratings.unrated.columns) == [*ratings.frame.columns]
    assert tuple(ratings.unrated["item_id"]) == BLANK
    assert set(ratings.unrated["status"]) == {"unrated"}
    assert ratings.unrated[["rater", "kind", "rating"]].isna().all(axis=None)
    assert not set(BLANK) & set(ratings.frame["item_id"])
    report = agreement(ratings, resamples=0)
    assert SAID in report.notes
    element = next(r for r in report.results if r.name == "agreement" and r.level == "element")
    assert (element.n, dict(element.dropped)) == (58, {}), "missing is no category and no rating"
    level = [r for r in report.results if r.level == "response"]
    assert level and all(r.n == 18 for r in level)
    assert all(dict(r.dropped) == {"partly rated": 2} for r in level)


@pytest.mark.parametrize("rater", ["ann", "bob"])
def test_a_score_is_not_taken_of_the_rest(tmp_path: Path, rater: str) -> None:
    path = write(tmp_path / "wide.csv", cells())
    options = RatingsOptions(wide=True, annotators=(rater,))
    report = agreement(read_ratings(path, options), resamples=0)
    found = [r for r in report.results if r.name == "mean_score"]
    assert {r.details["system"]: (r.estimate, r.n) for r in found} == {
        system: (pytest.approx(mean, abs=1e-12), n)
        for system, (mean, n) in by_hand(cells(), rater).items()
    }
    assert [r.n for r in found] == [9, 9]


@pytest.mark.parametrize("status", [None, "skipped", "unscored"])
def test_a_long_table_gives_the_same(tmp_path: Path, status: str | None) -> None:
    wide = agreement(read_ratings(write(tmp_path / "w.csv", cells()), WIDE), resamples=0)
    ratings = read_ratings(write(tmp_path / "l.csv", long(cells(), status)))
    found = agreement(ratings, resamples=0)
    assert [r.to_dict() for r in found.results] == [r.to_dict() for r in wide.results]
    assert SAID in found.notes


def test_a_judge_of_the_same_items_changes_nothing_for_people(tmp_path: Path) -> None:
    """With a judge the items stay by the judge's ratings; people's scores must be the same."""
    rows = [{**row, "judge": "CORRECT"} for row in cells()]
    path = write(tmp_path / "wide.csv", rows)
    both = RatingsOptions(wide=True, annotators=("ann", "bob"), judges=("judge",))
    with_judge = agreement(read_ratings(path, both), resamples=0)
    alone = agreement(read_ratings(path, WIDE), resamples=0)

    def people(report: Any) -> list[dict[str, Any]]:
        found = [r.to_dict() for r in report.results if r.details.get("comparison") == "people"]
        return [r for r in found if r["level"] in ("element", "response")]

    assert people(with_judge) == people(alone)
    assert "2 items have no label by people and take no part" in with_judge.notes


def test_who_is_left_out_leaves_items_behind(tmp_path: Path) -> None:
    rows = cells()
    for row in rows:
        row["cyd"] = "CORRECT"
    options = RatingsOptions(wide=True, annotators=("ann", "bob", "cyd"))
    ratings = read_ratings(write(tmp_path / "wide.csv", rows), options)
    assert ratings.unrated is None
    chosen = ratings.select(annotators=("ann", "bob"))
    assert chosen.unrated is not None and tuple(chosen.unrated["item_id"]) == BLANK
    report = agreement(chosen, resamples=0)
    assert SAID in report.notes
    same = agreement(read_ratings(write(tmp_path / "two.csv", cells()), WIDE), resamples=0)
    assert [r.to_dict() for r in report.results] == [r.to_dict() for r in same.results]
    # a long table that names its raters leaves the others out as well
    more = [{**row, "rater": "cyd", "rating": "CORRECT"} for row in long(cells())[::2]]
    named = RatingsOptions(annotators=("ann", "bob"))
    table = read_ratings(write(tmp_path / "long.csv", [*long(cells()), *more]), named)
    assert table.unrated is not None and tuple(table.unrated["item_id"]) == BLANK


def test_many_are_counted_and_the_first_named(tmp_path: Path) -> None:
    rows = cells()
    for row in rows[:21]:
        row["ann"] = row["bob"] = ""
    report = agreement(read_ratings(write(tmp_path / "wide.csv", rows), WIDE), resamples=0)
    assert (
        "22 items that nobody rated take no part, and their responses have no score:"
        " q0a0, q0a1, q0a2, q0b0, q0b1 and 17 more"
    ) in report.notes
    bare = [{key: row[key] for key in ("item_id", "ann", "bob")} for row in rows[20:23]]
    report = agreement(read_ratings(write(tmp_path / "bare.csv", bare), WIDE), resamples=0)
    assert "one item that nobody rated takes no part: q3a2" in report.notes


def test_numbers(tmp_path: Path) -> None:
    rows = cells()
    for number, row in enumerate(rows):
        for rater in ("ann", "bob"):
            row[rater] = row[rater] and str(1 + (number + (rater == "bob") * (number % 5 == 0)) % 5)
    options = RatingsOptions(wide=True, annotators=("ann", "bob"), scale="interval")
    report = agreement(
        read_ratings(write(tmp_path / "wide.csv", rows), options), scale="interval", resamples=0
    )
    level = [r for r in report.results if r.level == "response"]
    assert level and {r.n for r in level} == {18}
    assert SAID in report.notes


def test_marks_of_tuned_items_reach_them(tmp_path: Path) -> None:
    rows = [
        {**row, "judge": "" if row["item_id"] in BLANK else "CORRECT", "split": split}
        for row, split in zip(cells(), ["train"] * 30 + ["test"] * 30, strict=True)
    ]
    options = RatingsOptions(wide=True, annotators=("ann", "bob"), strata=("split",))
    ratings = read_ratings(write(tmp_path / "wide.csv", rows), options)
    marked = mark_tuned(ratings, split="split")
    assert marked.unrated is not None
    by_item = dict(zip(marked.unrated["item_id"], marked.unrated[MARK], strict=True))
    assert by_item == {"q2a1": True, "q5b0": False}
    listed = mark_tuned(ratings, tuned_on=["q2a1", "q0a0"])
    assert listed.unrated is not None and listed.unrated[MARK].tolist() == [True, False]
    judged = RatingsOptions(wide=True, annotators=("ann",), judges=("judge",), strata=("split",))
    report = agreement(read_ratings(tmp_path / "wide.csv", judged), split="split", resamples=0)
    assert any(r.level == "response" for r in report.results)


@pytest.mark.parametrize("counts", [False, True])
def test_a_study_of_such_a_table(tmp_path: Path, accord: Run, counts: bool) -> None:
    given = [
        {
            **{key: row[key] for key in ("item_id", "question_id", "system")},
            "question": f"Which {row['question_id']}?",
            "reference": f"ref {row['item_id']}",
            "predicted": f"pred {row['item_id']}",
            **({"n_reference": "3", "n_predicted": "3"} if counts else {}),
        }
        for row in cells()
    ]
    pairs, wide = write(tmp_path / "pairs.csv", given), write(tmp_path / "wide.csv", cells())
    study = tmp_path / "study"
    assert accord("init", study)[0] == 0 and accord("add", study, pairs, "--as", "pairs")[0] == 0
    people = ("--wide", "--annotators", "ann,bob")
    status, out, said = accord("add", study, wide, "--as", "ratings", *people)
    assert status == 0 and "note: 2 items of it have no rating: q2a1, q5b0" in out, said
    status, out, said = accord("agree", study, "--json")
    found = json.loads(out)
    level = [r for r in found["results"] if r["level"] == "response"]
    assert status == 0 and {r["n"] for r in level} == {18}
    assert all(sum(r["dropped"].values()) == 2 for r in level)
    assert (SAID in found["notes"]) is not counts, "the counts of elements tell it as well"


def test_an_audit_names_answers_without_a_verdict(tmp_path: Path, accord: Run) -> None:
    rows = [{"item_id": f"g{n}", "verdict": "" if n in (3, 8) else "OK"} for n in range(20)]
    status, out, _ = accord("audit", write(tmp_path / "audit.csv", rows))
    assert status == 0 and out.startswith("0 errors in 18 checked answers")
    assert "Left out: 2 answers, no verdict" in out and "Note: no verdict: g3, g8" in out


def test_ratings_without_gaps_have_none(tmp_path: Path) -> None:
    rows = [row for row in cells() if row["item_id"] not in BLANK]
    ratings = read_ratings(write(tmp_path / "wide.csv", rows), WIDE)
    assert isinstance(ratings, Ratings) and ratings.unrated is None
    assert not any("nobody" in note for note in agreement(ratings, resamples=0).notes)
