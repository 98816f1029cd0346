"""Who is compared with whom: kinds, several judges and people, ragged pools, what is left out."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accord.scoring.errors import InputError
from accord.study import Ratings, RatingsOptions, read_ratings
from accord.validate import AgreementReport, agreement
from accord.validate.agreement_text import agreement_lines
from small_table import find, make

C, X, U = "CORRECT", "INCORRECT", "UNSURE"
RNG = np.random.default_rng(5)
N = 60


def drawn(labels: tuple[str, ...] = (C, C, X)) -> list[str | None]:
    return [str(label) for label in RNG.choice(labels, N)]


def kinds_of(report: AgreementReport) -> set[tuple[str, tuple[str, ...]]]:
    return {
        (one.details["comparison"], tuple(report.kinds.get(rater, "-") for rater in one.raters))
        for one in report.results
        if one.raters
    }


# -- kinds -------------------------------------------------------------------------------------


def long_table(folder: Path, *rows: str) -> Path:
    path = folder / "t.csv"
    base = [
        f"i{item},{rater},{kind},{C if (item + at) % 3 else X}"
        for item in range(30)
        for at, (rater, kind) in enumerate(
            {"ann": "annotator", "bob": "annotator", "gpt": "judge"}.items()
        )
    ]
    path.write_text("\n".join(["item_id,rater,kind,rating", *base, *rows]) + "\n")
    return path


def test_a_judge_that_is_named_as_an_annotator_is_refused(tmp_path: Path) -> None:
    path = long_table(tmp_path)
    for options in (
        RatingsOptions(annotators=("ann", "gpt")),
        RatingsOptions(annotators=("ann", "bob"), final="gpt"),
    ):
        with pytest.raises(InputError, match="'gpt' is of kind judge, and the options name it"):
            agreement(path, options=options)


def test_a_rater_of_two_kinds_is_refused(tmp_path: Path) -> None:
    path = long_table(tmp_path, "i30,gpt,annotator,CORRECT")
    with pytest.raises(InputError, match="'gpt' is annotator here and judge on line"):
        agreement(path)
    ratings = read_ratings(long_table(tmp_path))
    frame = ratings.frame.copy()
    at = frame.index[frame["rater"] == "gpt"][0]
    frame.loc[at, "kind"] = "annotator"
    with pytest.raises(InputError, match="a rater has one kind"):
        agreement(Ratings(frame))


def test_no_judge_is_in_a_figure_among_people() -> None:
    table = {name: drawn() for name in ("ann", "bob", "cat", "fin", "gpt", "bem")}
    kinds = dict.fromkeys(("ann", "bob", "cat"), "annotator")
    kinds |= {"fin": "adjudicated", "gpt": "judge", "bem": "judge"}
    for options in ({}, {"aggregate": "majority"}, {"final": "ann"}):
        report = agreement(make(table, kinds), resamples=0, **options)
        among = {raters for which, raters in kinds_of(report) if which == "people"}
        assert among and all(set(raters) == {"annotator"} for raters in among)
        judged = {raters for which, raters in kinds_of(report) if which == "judge-annotator"}
        assert judged == {("judge", "annotator")}


# -- whose label stands for people -------------------------------------------------------------


def test_an_aggregate_with_an_adjudicator_says_so_in_a_note_and_in_its_figures() -> None:
    table = {name: drawn() for name in ("ann", "bob", "cat", "fin", "gpt")}
    table["fin"] = [label if item < 20 else None for item, label in enumerate(table["fin"])]
    kinds = dict.fromkeys(("ann", "bob", "cat"), "annotator")
    kinds |= {"fin": "adjudicated", "gpt": "judge"}
    report = agreement(make(table, kinds), resamples=0)
    assert any(
        "fin: 20 adjudicated labels, and the annotators' majority" in n for n in report.notes
    )
    final = [one for one in report.results if one.details["comparison"] == "judge-final"]
    said = {one.details["people"] for one in final}
    assert said == {"adjudicated labels of fin, elsewhere the majority of ann, bob, cat"}
    others = [one for one in report.results if one.details["comparison"] != "judge-final"]
    assert others and not any("people" in one.details for one in others)


@pytest.mark.parametrize(
    ("options", "made_of"),
    [
        ({"aggregate": "majority"}, "majority of ann, bob, cat"),
        ({"final": "fin"}, "adjudicated labels of fin"),
        ({"final": "ann"}, "adjudicated labels of ann"),
    ],
)
def test_each_aggregate_is_told(options: Any, made_of: str) -> None:
    table = {name: drawn() for name in ("ann", "bob", "cat", "fin", "gpt")}
    kinds = dict.fromkeys(("ann", "bob", "cat"), "annotator")
    kinds |= {"fin": "adjudicated", "gpt": "judge"}
    report = agreement(make(table, kinds), resamples=0, **options)
    final = [one for one in report.results if one.details["comparison"] == "judge-final"]
    assert {one.details["people"] for one in final} == {made_of}


# -- several judges and people, ragged ---------------------------------------------------------


def ragged() -> tuple[dict[str, list[str | None]], dict[str, str]]:
    """Each item has two of four people; two judges, one with replies that can't be read."""
    table: dict[str, list[str | None]] = {name: drawn() for name in ("a", "b", "c", "d")}
    pairs = list(itertools.combinations(table, 2))
    for item in range(N):
        for name in set(table) - set(pairs[item % len(pairs)]):
            table[name][item] = None
    table |= {"gpt": drawn(), "bem": drawn((C, X))}
    table["bem"][:6] = [None] * 6  # unscored
    kinds = dict.fromkeys("abcd", "annotator") | {"gpt": "judge", "bem": "judge"}
    return table, kinds


def test_every_pair_is_compared_on_the_items_that_both_rated() -> None:
    table, kinds = ragged()
    report = agreement(make(table, kinds), resamples=0)
    assert {one.raters for one in report.results if one.name == "mcc"} == {
        *itertools.combinations("abcd", 2),
        *itertools.product(("gpt", "bem"), ("a", "b", "c", "d", "majority")),
    }
    of_judge = {"missing": 26, "unscored": 4}
    for first, second in (*itertools.combinations("abcd", 2), ("gpt", "a"), ("bem", "c")):
        both = [
            (x, y)
            for x, y in zip(table[first], table[second], strict=True)
            if x is not None and y is not None
        ]
        for name in ("agreement", "cohen_kappa", "mcc", "brennan_prediger", "gwet_ac1"):
            assert find(report, name, first, second).n == len(both), (name, first, second)
        differ = sum(x != y for x, y in both)
        assert find(report, "mcnemar", first, second).n == differ
        raw = find(report, "agreement", first, second)
        assert raw.estimate == pytest.approx(1 - differ / len(both))
        assert sum(raw.dropped.values()) == N - len(both)
    assert set(find(report, "mcc", "bem", "c").dropped) == set(of_judge)
    together = ("a", "b", "c", "d")
    for name in ("fleiss_kappa", "conger_kappa", "brennan_prediger", "gwet_ac1"):
        one = find(report, name, *together)
        assert one.n == N and one.estimate == one.estimate


def test_a_missing_or_unscored_rating_is_no_category_of_any_figure() -> None:
    table, kinds = ragged()
    report = agreement(make(table, kinds), resamples=0)
    without = {name: column for name, column in table.items() if name in ("gpt", "a")}
    rated = [item for item in range(N) if table["a"][item] is not None]
    short = {name: [column[item] for item in rated] for name, column in without.items()}
    alone = agreement(
        make(short, kinds, question_id=[f"q{item // 2}" for item in rated]), resamples=0
    )
    for name in ("mcc", "brennan_prediger", "cohen_kappa", "gwet_ac1", "mcnemar", "agreement"):
        one, other = find(report, name, "gpt", "a"), find(alone, name, "gpt", "a")
        assert (one.estimate, one.low, one.high) == pytest.approx(
            (other.estimate, other.low, other.high), nan_ok=True
        )


@pytest.mark.parametrize(
    ("unsure", "labels", "dropped"),
    [
        ("missing", 2, {"unsure": 12}),
        ("incorrect", 2, {}),
        ("half", 3, {}),
        ("category", 3, {}),
    ],
)
def test_unsure_counts_in_the_new_figures_as_it_does_in_the_old(
    unsure: Any, labels: int, dropped: dict[str, int]
) -> None:
    table = {"ann": drawn(), "bob": drawn(), "gpt": drawn()}
    table["ann"][::5] = [U] * 12
    kinds = {"ann": "annotator", "bob": "annotator", "gpt": "judge"}
    report = agreement(make(table, kinds), unsure=unsure, resamples=0)
    for name in ("agreement", "mcc", "brennan_prediger"):
        one = find(report, name, "gpt", "ann")
        assert (one.n, dict(one.dropped)) == (N - sum(dropped.values()), dropped)
    raw = find(report, "agreement", "gpt", "ann").estimate
    by_chance = find(report, "brennan_prediger", "gpt", "ann").estimate
    assert by_chance == pytest.approx((raw - 1 / labels) / (1 - 1 / labels))
    tested = [one for one in report.results if one.name == "mcnemar" and "ann" in one.raters]
    assert len(tested) == (2 if labels == 2 else 0)


@pytest.mark.parametrize("unscored", ["missing", "incorrect"])
def test_a_reply_that_cant_be_read_is_left_out_or_wrong_in_every_figure(unscored: Any) -> None:
    table, kinds = ragged()
    report = agreement(make(table, kinds), unscored=unscored, resamples=0)
    told = "unscored" in find(report, "mcc", "bem", "a").dropped
    assert told == (unscored == "missing")
    if unscored == "incorrect":
        table["bem"][:6] = [X] * 6
        other = agreement(make(table, kinds), resamples=0)
        for name in ("mcc", "mcnemar", "brennan_prediger"):
            one = find(report, name, "bem", "a")
            assert one.estimate == find(other, name, "bem", "a").estimate


@pytest.mark.parametrize(("extra", "n"), [("incorrect", N), ("credit", N), ("ignore", N - 15)])
def test_correct_but_missing_from_the_reference_in_every_figure(extra: Any, n: int) -> None:
    table = {"ann": drawn(), "gpt": drawn()}
    table["ann"][::4] = [C] * 15
    kinds = {"ann": "annotator", "gpt": "judge"}
    ratings = make(table, kinds)
    said = ["correct but missing from the reference"]
    marked = (ratings.frame["rater"] == "ann") & (
        ratings.frame["item_id"].isin([f"i{item}" for item in range(0, N, 4)])
    )
    frame = ratings.frame.assign(reasons=[said if one else [] for one in marked])
    report = agreement(Ratings(frame), extra=extra, resamples=0)
    counted = {"credit": C, "incorrect": X}.get(extra)
    person = [counted if item % 4 == 0 else label for item, label in enumerate(table["ann"])]
    pairs = [(x, y) for x, y in zip(table["gpt"], person, strict=True) if y is not None]
    assert find(report, "mcc", "gpt", "ann").n == len(pairs) == n
    tested = find(report, "mcnemar", "gpt", "ann").details
    assert tested["only_first"] == sum(x == C and y == X for x, y in pairs)
    assert tested["only_second"] == sum(x == X and y == C for x, y in pairs)


def test_many_people_are_compared_together_in_the_whole_table_too() -> None:
    table = {f"s{number:02}": drawn() for number in range(12)} | {"gpt": drawn()}
    kinds = dict.fromkeys(table, "annotator") | {"gpt": "judge"}
    report = agreement(make(table, kinds), resamples=0)
    assert {len(one.raters) for one in report.results if one.details["comparison"] == "people"} == {
        12
    }
    final = [one for one in report.results if one.details["comparison"] == "judge-final"]
    assert {one.details.get("people") for one in final} == {"majority of 12 annotators"}
    lines = agreement_lines(report, every=True)
    assert any(line.startswith("Fleiss’ κ") for line in lines)
