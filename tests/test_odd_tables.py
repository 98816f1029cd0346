"""Tables at the edge: many names, nothing but errors, ratings left out: what is told of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from accord import cli
from accord.scoring.errors import InputError
from accord.study import RatingsOptions, read_table
from accord.validate import (
    AgreementReport,
    agreement,
    cluster_codes,
    conclusions,
    stratified_rate,
)
from accord.validate.agreement_text import agreement_lines
from accord.validate.audit_table import AuditReport, audit
from accord.validate.figures import interval, percent

KINDS = {"ann": "annotator", "bob": "annotator", "gold": "adjudicated", "gpt": "judge"}


def ratings_of(
    columns: Mapping[str, Sequence[Any]], each: int = 3, **about: Sequence[Any]
) -> pd.DataFrame:
    """Long ratings of columns by rater, ``each`` items a question; None is no rating."""
    return pd.DataFrame(
        [
            {
                "item_id": f"i{at:04d}",
                "question_id": f"q{at // each:04d}",
                "rater": rater,
                "kind": KINDS[rater],
                "rating": str(cell),
                **{name: cells[at] for name, cells in about.items()},
            }
            for rater, column in columns.items()
            for at, cell in enumerate(column)
            if cell is not None
        ]
    )


def named(report: AgreementReport, name: str, *raters: str) -> dict[str, Any]:
    (found,) = (
        one
        for one in report.result_dicts()
        if one["name"] == name and tuple(one["raters"]) == raters and "section" not in one
    )
    return dict(found)


def test_sixty_names_are_labels_and_no_numbers() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 60, 300)

    def rated(wrong: float) -> list[str]:
        other = rng.integers(0, 60, truth.size)
        return [f"c{x}" for x in np.where(rng.random(truth.size) < wrong, other, truth)]

    columns = {"ann": rated(0.1), "bob": rated(0.1), "gpt": rated(0.2)}
    part = ["odd" if at % 2 else "even" for at in range(300)]
    names = [f"c{at}" for at in range(60)]
    report = agreement(
        ratings_of(columns, part=part), categories=names, strata=("part",), resamples=0
    )
    same = [a == b for a, b in zip(columns["gpt"], columns["ann"], strict=True)]
    assert named(report, "agreement", "gpt", "ann")["estimate"] == pytest.approx(np.mean(same))
    for name in ("cohen_kappa", "krippendorff_alpha_nominal", "gwet_ac1", "macro_f1"):
        assert 0.6 < named(report, name, "gpt", "ann")["estimate"] < 0.95
    by_part = {one["name"] for one in report.result_dicts() if one.get("section") == "strata"}
    # a distance between names says nothing
    assert by_part == {"agreement", "cohen_kappa", "gwet_ac1", "agreement_difference"}
    sections = {one.get("section") for one in report.result_dicts()}
    assert {"ceiling", "rater-quality"} <= sections


def test_many_numbers_against_a_final_label_are_distances() -> None:
    rng = np.random.default_rng(6)
    gold, judge = rng.random(120), rng.random(120)
    given: list[float | None] = [None if at % 10 == 0 else x for at, x in enumerate(judge)]
    split = ["dev" if at % 2 == 0 else "test" for at in range(120)]
    frame = ratings_of({"gold": gold.tolist(), "gpt": given}, split=split)
    report = agreement(frame, scale="interval", split="split", resamples=0)
    found = [one for one in report.result_dicts() if one.get("section") == "tuning"]
    assert {one["name"] for one in found} == {"mad", "bias", "mad_difference", "bias_difference"}
    # the items that the judge did not rate have even numbers: all are of the part tuned on
    left = {one["split"]: one["dropped"] for one in found}
    assert left == {
        "tuned on": {"missing": 12},
        "held out": {},
        "difference": {"missing": 12},
    }


def test_a_stratum_against_the_rest_says_what_it_leaves_out() -> None:
    rng = np.random.default_rng(7)
    ann, bob, judge = (rng.choice(["CORRECT", "INCORRECT"], 90).tolist() for _ in range(3))
    for at in (0, 7, 50):
        judge[at] = None
    for at in (3, 4):
        bob[at] = None
    part = ["odd" if at % 2 else "even" for at in range(90)]
    frame = ratings_of({"ann": ann, "bob": bob, "gpt": judge}, part=part)
    report = agreement(frame, strata=("part",), aggregate="majority", resamples=0)
    gaps = [one for one in report.result_dicts() if one["name"] == "agreement_difference"]
    by_who = {tuple(one["raters"]): one for one in gaps if one.get("section") == "strata"}
    judged = by_who["gpt", "majority"]
    assert judged["dropped"]["missing"] == 3
    assert sum(judged["dropped"].values()) + judged["n"] == 90
    people = by_who["ann", "bob"]
    assert people["dropped"] == {"fewer than two ratings": 2} and people["n"] == 88


def systems(missing: Sequence[int]) -> pd.DataFrame:
    """Twelve questions, two systems, three elements a response; ``gpt`` skips some items."""
    rng = np.random.default_rng(8)
    ann, judge = (rng.choice(["CORRECT", "INCORRECT"], 72).tolist() for _ in range(2))
    for at in missing:
        judge[at] = None
    system = ["AB"[at // 3 % 2] for at in range(72)]
    return ratings_of({"ann": ann, "gpt": judge}, each=6, system=system)


def test_a_system_counts_its_own_responses_that_are_left_out() -> None:
    options = RatingsOptions(response=("question_id", "system"))
    report = agreement(systems([0, 1, 6, 30]), options=options, resamples=0)
    left = {
        (one["name"], one["system"]): (one["n"], one["dropped"])
        for one in report.result_dicts()
        if one["level"] == "system" and len(one["raters"]) == 2
    }
    assert left == {
        ("bias", "A"): (9, {"partly rated": 3}),
        ("bias", "B"): (12, {}),
    }


@pytest.mark.parametrize(
    ("blank", "said"),
    [(3, "Left out of the input: 3 missing"), (5, "Left out: B: 1 partly rated (responses)")],
)
def test_what_is_left_out_of_one_raters_table_is_not_nothing(blank: int, said: str) -> None:
    frame = systems(range(72))
    wide = frame[frame["rater"] == "ann"].rename(columns={"rating": "ann"})
    wide.loc[wide.index[:blank], "ann"] = ""
    options = RatingsOptions(wide=True, annotators=("ann",), response=("question_id", "system"))
    report = agreement(wide.drop(columns=["rater", "kind"]), options=options)
    lines = agreement_lines(report)
    assert said in lines and lines[0].startswith(f"Note: {blank} items that nobody rated take no")
    assert "Left out: nothing" not in lines


@pytest.mark.parametrize(("unit", "noun"), [("question", "page"), ("item", "item")])
def test_what_is_undefined_names_the_unit_as_the_rest_does(unit: Any, noun: str) -> None:
    frame = systems([]).rename(columns={"question_id": "page"})
    options = RatingsOptions(cluster=("page",))
    chosen: dict[str, Any] = {"options": options, "unit": unit, "resamples": 0}
    families = agreement(frame, family={"gpt": "x", "A": "y"}, **chosen).result_dicts()
    (alone,) = (one for one in families if one["name"] == "bias_difference")
    assert alone["estimate"] is None and alone["unit"] == noun
    without = agreement(frame.drop(columns="system"), **chosen).result_dicts()
    undefined = [one for one in without if one["level"] == "response"]
    assert undefined and {one["unit"] for one in undefined} == {noun}


def test_one_tie_is_one_item() -> None:
    frame = ratings_of(
        {
            "ann": ["CORRECT", "INCORRECT"] * 20,
            "bob": ["INCORRECT", "INCORRECT"] + ["CORRECT", "INCORRECT"] * 19,
            "gpt": ["CORRECT", "INCORRECT"] * 20,
        }
    )
    notes = agreement(frame, resamples=0).notes
    assert any(note.startswith("majority: one item is tied and has no majority") for note in notes)


def test_a_cluster_that_pandas_calls_missing_is_blank() -> None:
    for blank in (pd.NA, None, "", float("nan")):
        with pytest.raises(InputError, match="row 2 has no cluster"):
            cluster_codes(["a", blank])


# -- audits -----------------------------------------------------------------------------------


def audited(tmp_path: Path, text: str, **options: Any) -> AuditReport:
    path = tmp_path / "checked.csv"
    path.write_text(text, encoding="utf-8")
    return audit(read_table(path), **options)


def test_where_all_answers_are_wrong_the_interval_is_that_of_none_mirrored(tmp_path: Path) -> None:
    none = stratified_rate([0, 0], [500, 500], [10_000, 5_000])
    every = stratified_rate([500, 500], [500, 500], [10_000, 5_000])
    assert 0.99 < every.low < 1 == every.high
    assert every.low == pytest.approx(1 - none.high, abs=1e-12)

    def of(word: str) -> AuditReport:
        rows = "".join(f"i{at},q{at // 4},{word}\n" for at in range(400))
        return audited(tmp_path, f"item_id,question_id,verdict\n{rows}")

    right, wrong = of("OK").result, of("ERROR").result
    assert right.low == 0 and 0 < right.high < 0.1
    assert (wrong.low, wrong.high) == pytest.approx((1 - right.high, 1), abs=1e-12)


def test_an_answer_has_one_adjudicated_verdict(tmp_path: Path) -> None:
    text = "item_id,rater,kind,verdict\n"
    text += "".join(f"i{at},ann,annotator,OK\n" for at in range(9))
    twice = "i0,eve,adjudicated,ERROR\ni0,max,adjudicated,OK\n"
    with pytest.raises(InputError, match="line 12: 'i0' is adjudicated as OK, and as ERROR on"):
        audited(tmp_path, text + twice)
    assert audited(tmp_path, text + twice.replace("OK", "ERROR")).errors == ("i0",)


def test_reviewers_agreement_has_no_adjudicated_verdict(tmp_path: Path) -> None:
    text = "item_id,rater,kind,verdict\n"
    for at in range(20):
        text += f"i{at},ann,annotator,OK\ni{at},bob,annotator,OK\n"
    # eve reviews some answers and settles others
    text += "".join(f"i{at},eve,annotator,OK\n" for at in range(10, 20))
    text += "".join(f"i{at},eve,adjudicated,ERROR\n" for at in range(10))
    report = audited(tmp_path, text)
    assert report.result.details["errors"] == 10
    assert report.reviewers is not None and report.reviewers.estimate == 1.0


def test_strata_of_equal_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "checked.csv"
    rows = "".join(
        f"i{at},{'AB'[at % 2]},{'ERROR' if at % 9 == 0 else 'OK'},50000\n" for at in range(200)
    )
    path.write_text(f"item_id,type,verdict,weight\n{rows}", encoding="utf-8")
    assert cli.main(["audit", str(path), "--strata", "type"]) == 0
    out = capsys.readouterr().out
    assert "  A: 12 in 100 of 5,000,000, 12.00 %" in out
    assert "several to a question" not in out
    assert "knows how many answers each stratum has" in out


# -- words and digits -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0, "0.00 %"),
        (1.0, "100.00 %"),
        (2e-5, "0.0020 %"),
        (1e-9, "1.0e−07 %"),
        (1 - 1e-9, "99.9999999 %"),
    ],
)
def test_a_share_is_0_or_100_only_where_it_is(share: float, shown: str) -> None:
    assert percent(share) == shown
    limits = interval({"name": "agreement", "low": share, "high": 1.0})
    assert limits == f"[{shown.removesuffix(' %')}, 100.00]"


def test_the_confidence_is_told_as_it_was_asked_for() -> None:
    def pair(first: str, second: str, comparison: str) -> dict[str, Any]:
        return {
            "name": "cohen_kappa",
            "level": "element",
            "raters": [first, second],
            "comparison": comparison,
            "estimate": 0.5,
            "low": 0.4,
            "high": 0.6,
            "confidence": 0.975,
            "details": {"disagreements": 50},
        }

    results = [pair("ann", "bob", "people"), pair("gpt", "ann", "judge-annotator")]
    rate = {
        "estimate": 0.0,
        "n": 100,
        "confidence": 0.975,
        "details": {"errors": 0, "one_sided_upper": 0.04},
    }
    trust, _, gold = conclusions({"results": results}, rate)
    assert "(97.5 % intervals)" in trust
    assert gold.endswith("the rate is at most 4.00 % at 97.5 %.")
