"""People's own alignment: how often the aligner's is theirs, and the score under it, by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled_study import labelled_study, tasks_of
from typer.testing import CliRunner

from accord import cli
from accord.annotate.alignment_labels import alignment_answers
from accord.annotate.importing import import_files
from accord.annotate.pseudonym import Pseudonyms
from accord.annotate.template import load_template
from accord.scoring.errors import InputError
from accord.study import Ratings
from accord.validate import AgreementReport, agreement
from accord.validate.agreement_text import agreement_lines
from accord.validate.alignment import alignment_accuracy, rematch
from accord.validate.result import Estimate
from small_table import make

C, X, U = "CORRECT", "INCORRECT", "UNSURE"

# -- one response by hand ----------------------------------------------------------------------


def one(worth: list[float], beside: list[int], belongs: list[int], **more: Any) -> list[float]:
    found = rematch(worth, response=[0] * len(worth), beside=beside, belongs=belongs, **more)
    return [float(x) for x in found.worth]


def test_a_swap_is_undone() -> None:
    assert one([0, 0, 1], [1, 2, 3], [2, 1, 3]) == [1, 1, 1]
    assert one([0, 0, 1], [1, 2, 3], [2, 1, 3], moved="as-said") == [0, 0, 1]
    # a person who says CORRECT and another place means the verdict for that place
    assert one([1, 1], [1, 2], [2, 1], moved="as-said") == [1, 1]


def test_a_reference_element_that_two_claim_counts_once() -> None:
    found = rematch([1, 0], response=[0, 0], beside=[1, 0], belongs=[1, 1])
    assert found.worth.tolist() == [1, 0] and found.matched.tolist() == [True, False]
    assert found.twice == 1
    # the one that moved there is right and the one that stood there is not: it takes the place
    found = rematch([0, 0], response=[0, 0], beside=[1, 0], belongs=[1, 1])
    assert found.worth.tolist() == [0, 1] and found.matched.tolist() == [False, True]
    # equals: the one that stood there, then the first
    assert one([1, 1], [0, 1], [1, 1]) == [0, 1]
    assert one([0, 0], [0, 0], [1, 1]) == [1, 0]


def test_what_belongs_beside_none_frees_its_place_and_counts_nothing() -> None:
    found = rematch([1, 0], response=[0, 0], beside=[1, 2], belongs=[0, 1])
    assert found.worth.tolist() == [0, 1]
    assert found.matched.tolist() == [False, True] and found.moved.tolist() == [True, True]
    assert found.twice == 0


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2), st.integers(0, 3), st.integers(0, 3), st.sampled_from([0, 0.25, 1])
        ),
        max_size=12,
    ),
    st.sampled_from(["right", "as-said"]),
)
def test_the_matching_is_one_to_one_and_no_reference_element_could_be_worth_more(
    elements: list[tuple[int, int, int, float]], moved: Any
) -> None:
    response, beside, belongs, worth = (
        (list(x) for x in zip(*elements, strict=True)) if elements else ([], [], [], [])
    )
    found = rematch(worth, response=response, beside=beside, belongs=belongs, moved=moved)
    claims: dict[tuple[int, int], list[float]] = {}
    for r, old, new, said in elements:
        claim = 1.0 if moved == "right" and old != new else said
        if new:
            claims.setdefault((r, new), []).append(claim)
    held = [(r, n) for r, n, there in zip(response, belongs, found.matched, strict=True) if there]
    assert sorted(held) == sorted(claims)
    assert found.worth.sum() == sum(max(claim) for claim in claims.values())


def test_what_can_not_be() -> None:
    with pytest.raises(InputError, match="different lengths"):
        rematch([1], response=[0, 0], beside=[1], belongs=[1])
    with pytest.raises(InputError, match="outside"):
        rematch([2], response=[0], beside=[1], belongs=[1])
    with pytest.raises(InputError, match="below 0"):
        rematch([1], response=[0], beside=[1], belongs=[-1])


# -- the panel ---------------------------------------------------------------------------------

N = 8
"""Responses, each of three elements to three; the aligner swaps two in the first."""


def table() -> tuple[Ratings, pd.DataFrame]:
    labels: dict[str, list[str | None]] = {
        "ann": [C, X, X, *[C] * (3 * N - 3)],
        "bob": [C, X, X, *[C] * (3 * N - 3)],
        "j": [C, C, X, *[C] * (3 * N - 3)],
    }
    kinds = {"ann": "annotator", "bob": "annotator", "j": "judge"}
    size = 3 * N
    ratings = make(
        labels,
        kinds,
        n_reference=[3] * size,
        n_predicted=[3] * size,
        unmatched=[False] * size,
    )
    frame = ratings.frame
    item = frame["item_id"].str.removeprefix("i").astype(int)
    frame["question_id"] = [f"q{k // 3}" for k in item]
    frame["response_id"] = [f"r{k // 3}" for k in item]
    for name in ("n_reference", "n_predicted"):
        frame[name] = frame[name].astype(int)
    frame["unmatched"] = frame["unmatched"].astype(bool)
    rows = []
    for rater in ("ann", "bob"):
        for k in range(size):
            beside = k % 3 + 1
            belongs = {1: 3, 2: 2}.get(k, beside)  # i1 and i2 stand in each other's place
            rows.append((f"i{k}", rater, beside == belongs, beside, float(belongs)))
    answers = pd.DataFrame(rows, columns=["item_id", "rater", "aligned", "beside", "belongs"])
    return ratings, answers


def figures(report: AgreementReport, name: str) -> Mapping[tuple[str, ...], Estimate]:
    (section,) = [part for part in report.sections if part.name == "alignment"]
    return {one.raters: one for one in section.results if one.name == name}


def test_the_alignment_error_and_the_grading_error_by_hand() -> None:
    ratings, answers = table()
    report = agreement(ratings, alignment=answers, resamples=0)
    found = figures(report, "alignment_accuracy")
    assert set(found) == {("ann",), ("bob",), ("majority",)}
    assert {one.estimate for one in found.values()} == {22 / 24}
    assert found[("ann",)].to_dict()["low"] < 22 / 24
    assert figures(report, "agreement")[("ann", "bob")].estimate == 1.0
    # as aligned r0 has 1 of 3 right, F1 1/3; under people's alignment 3 of 3; the others have 1
    error = figures(report, "alignment_error")[("ann",)]
    assert error.estimate == pytest.approx((2 / 3) / N)
    assert error.details["f1_given_alignment"] == pytest.approx(1 - (2 / 3) / N)
    assert error.details["f1_own_alignment"] == 1.0
    assert error.details["least"] == 0.0, "with the verdicts as they were said nothing changes"
    # the judge has 2 of 3 right in r0: + 1/3 beside people as aligned, - 1/3 in all
    grading = figures(report, "grading_error")[("j", "majority")]
    total = figures(report, "score_error")[("j", "majority")]
    assert grading.estimate == pytest.approx((1 / 3) / N)
    assert total.estimate == pytest.approx(-(1 / 3) / N)
    assert total.estimate == pytest.approx(grading.estimate - grading.details["alignment_error"])
    (row, *_) = [part for part in report.sections if part.name == "alignment"][0].rows
    assert (row["elements"], row["in_place"], row["other_reference"]) == (24, 22, 2)
    text = "\n".join(agreement_lines(report))
    assert "Alignment: did the right elements stand side by side?" in text
    json.dumps(report.to_dict(), allow_nan=False)


def test_two_people_who_put_an_element_elsewhere_leave_it_where_it_was() -> None:
    ratings, answers = table()
    mine = answers["rater"] == "bob"
    answers.loc[mine, "belongs"] = answers.loc[mine, "beside"].astype(float)
    answers.loc[mine, "aligned"] = True
    report = agreement(ratings, alignment=answers, resamples=0)
    accuracy = figures(report, "alignment_accuracy")
    assert accuracy[("bob",)].estimate == 1.0
    assert accuracy[("majority",)].n == 22
    assert accuracy[("majority",)].dropped == {"tie of the annotators": 2}
    assert figures(report, "agreement")[("ann", "bob")].estimate == 22 / 24
    errors = figures(report, "alignment_error")
    assert errors[("bob",)].estimate == errors[("majority",)].estimate == 0
    assert errors[("ann",)].estimate > 0
    (section,) = [part for part in report.sections if part.name == "alignment"]
    assert any("2 elements that as many people put elsewhere stay" in n for n in section.notes)


@pytest.mark.parametrize(
    ("said", "aligned", "place"),
    [
        # where ann, bob and cyd put i0, which stands beside 1 of 3; None: not here, and no more
        ((1, 1, 2), True, 1),
        ((1, 2, 2), False, 2),
        ((None, 2, 1), False, 2),
        # most say that it does not belong here: the one who leaves it does not keep it here
        ((None, None, 1), False, None),
        ((2, 3, 1), False, None),
        ((2, 0, 0), False, 0),
    ],
)
def test_the_majoritys_place_is_one_that_most_of_those_who_moved_it_name(
    said: tuple[int | None, ...], aligned: bool, place: int | None
) -> None:
    # i0 is wrong beside 1, and all else is right where it stands
    people = ("ann", "bob", "cyd")
    labels: dict[str, list[str | None]] = {name: [X, *[C] * 5] for name in (*people, "j")}
    kinds = {**dict.fromkeys(people, "annotator"), "j": "judge"}
    ratings = make(labels, kinds, n_reference=[3] * 6, n_predicted=[3] * 6, unmatched=[False] * 6)
    frame = ratings.frame
    item = frame["item_id"].str.removeprefix("i").astype(int)
    frame["question_id"] = frame["response_id"] = [f"r{k // 3}" for k in item]
    rows = []
    for name, own in zip(people, said, strict=True):
        for k in range(6):
            beside = k % 3 + 1
            where = own if k == 0 else beside
            rows.append(
                (f"i{k}", name, where == beside, beside, math.nan if where is None else where)
            )
    answers = pd.DataFrame(rows, columns=["item_id", "rater", "aligned", "beside", "belongs"])
    answers["belongs"] = answers["belongs"].astype(float)
    report = agreement(ratings, alignment=answers, resamples=0)
    accuracy = figures(report, "alignment_accuracy")[("majority",)]
    assert accuracy.estimate == pytest.approx(1.0 if aligned else 5 / 6)
    error = figures(report, "alignment_error")[("majority",)]
    (section,) = [part for part in report.sections if part.name == "alignment"]
    (row,) = [dict(row) for row in section.rows if row["rater"] == "majority"]
    moved = (row["other_reference"], row["no_reference"], row["place_not_named"])
    if place is None:
        assert moved == (0, 0, 1) and error.n == 1
        assert any("1 element put elsewhere by most people" in note for note in section.notes)
    else:
        # beside 2 or 3 stands a right one already, so that i0 counts nothing there either
        assert moved == (int(place > 1), int(place == 0), 0) and error.n == 2
        assert error.details["f1_own_alignment"] == pytest.approx((2 / 3 + 1) / 2)


def test_a_place_that_is_not_named_leaves_the_response_without_a_score() -> None:
    ratings, answers = table()
    answers = answers[answers["rater"] == "ann"].reset_index(drop=True)
    answers.loc[answers["aligned"].eq(False), "belongs"] = math.nan
    report = agreement(ratings, alignment=answers, resamples=0)
    assert set(figures(report, "alignment_accuracy")) == {("ann",)}
    error = figures(report, "alignment_error")[("ann",)]
    assert (error.estimate, error.n) == (0.0, N - 1)
    (section,) = [part for part in report.sections if part.name == "alignment"]
    assert section.rows[0]["place_not_named"] == 2


def test_without_answers_there_is_no_such_part() -> None:
    ratings, answers = table()
    assert all(part.name != "alignment" for part in agreement(ratings, resamples=0).sections)
    none = answers.iloc[:0]
    report = agreement(ratings, alignment=none, resamples=0)
    assert all(part.name != "alignment" for part in report.sections)


def test_an_unsure_element_that_loses_its_place_takes_nothing_out_of_the_counts() -> None:
    ratings, answers = table()
    frame = ratings.frame
    at = frame.index[(frame["item_id"] == "i0") & (frame["rater"] == "ann")][0]
    frame.loc[at, "rating"] = U
    # i0 is unsure beside 1, where i1 belongs; i2 is beside 3 and wrong there
    answers = answers[answers["rater"] == "ann"].reset_index(drop=True)
    answers.loc[answers["item_id"] == "i1", "belongs"] = 1.0
    answers.loc[answers["item_id"] == "i2", "belongs"] = 3.0
    answers["aligned"] = answers["belongs"] == answers["beside"]
    of_study = replace(ratings, source={"name": "study"})
    report = agreement(of_study, alignment=answers, resamples=0, final="ann")
    error = figures(report, "alignment_error")[("ann",)]
    # as aligned i0 leaves both counts, 0 of 2 and 2; then i1 is right, 1 of 3 and 3
    assert error.n == N and error.estimate == pytest.approx((1 / 3) / N)
    assert error.details["claimed_twice"] == 1


def test_accuracy_is_the_clustered_share() -> None:
    found = alignment_accuracy([1, 1, 0, 1], clusters=[0, 0, 1, 1], unit="item")
    # Wilson with z, 3 of 4
    assert found.name == "alignment_accuracy" and found.estimate == 0.75
    z = 1.959963984540054
    middle = (0.75 + z * z / 8) / (1 + z * z / 4)
    assert (found.low + found.high) / 2 == pytest.approx(middle)
    assert math.isnan(alignment_accuracy(np.array([]), clusters=[]).estimate)


# -- through a page ----------------------------------------------------------------------------


def test_what_is_clicked_on_a_page_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    page, single = load_template("response"), load_template("pair")
    with labelled_study(tmp_path) as study:
        assert alignment_answers(study) is None
        moons = next(
            task for task in tasks_of(study, "response", tmp_path) if "Jupiter" in str(task["data"])
        )
        ids = moons["data"]["rows"]["pairs"]
        # Io stays, Ganymede would belong beside 2, Titan beside none
        result = [
            *page.answer(C, row=0),
            *page.answer(X, row=1, belongs=2),
            *page.answer(X, row=2, belongs=0),
        ]
        pair = next(t for t in tasks_of(study, "pair", tmp_path) if t["data"]["item_id"] == ids[2])
        export = []
        for number, (who, task, said) in enumerate(
            [
                ("cleo", moons, result),
                ("dov", pair, single.answer(X, alignment="NO")),
                ("eva", pair, single.answer(X, alignment="YES")),
                ("finn", pair, single.answer(X)),
            ]
        ):
            annotation = {
                "id": number,
                "unique_id": f"u{number}",
                "completed_by": {"id": number, "email": f"{who}@x.org"},
                "result": said,
                "updated_at": "2026-01-05T10:00:00Z",
            }
            export.append({**task, "id": number, "annotations": [annotation]})
        (tmp_path / "back.json").write_text(json.dumps(export))
        import_files(study, [tmp_path / "back.json"])
        frame = alignment_answers(study, "example")
        assert frame is not None
        said_of = {
            (row["item_id"], row["rater"]): (row["aligned"], row["beside"], row["belongs"])
            for row in frame.to_dict("records")
        }
        cleo, dov, eva = (Pseudonyms().of(f"{who}@x.org") for who in ("cleo", "dov", "eva"))
        assert said_of[ids[0], cleo] == (True, 1, 1.0)
        assert said_of[ids[1], cleo] == (False, 3, 2.0)
        assert said_of[ids[2], cleo] == (False, 2, 0.0)
        assert said_of[ids[2], eva] == (True, 2, 2.0)
        aligned, beside, belongs = said_of[ids[2], dov]
        assert (aligned, beside) == (False, 2) and math.isnan(belongs)
        assert len(said_of) == 5, "who left the question open said nothing"
        report = agreement(study.ratings(), alignment=frame, resamples=0)
        # as aligned 1 of 3 predicted and 4 reference elements is right, then Ganymede's is too
        error = figures(report, "alignment_error")[(cleo,)]
        assert error.estimate == pytest.approx(2 * 2 / 7 - 2 * 1 / 7)
        assert alignment_answers(study, "questions") is None
        path = str(study.path)
    for command in (["agree", path, "--resamples", "0"], ["report", path]):
        done = CliRunner().invoke(cli.build(), [*command, "--json"], catch_exceptions=False)
        results = json.loads(done.stdout)["results"]
        asked = [one for one in results if one["name"] == "alignment_accuracy"]
        assert {one["section"] for one in asked} == {"alignment"} and len(asked) == 4
    html = (Path(path) / "reports" / "report.html").read_text(encoding="utf-8")
    assert "Alignment: did the right elements stand side by side?" in html


# -- a slow twin of the score under people's alignment -------------------------------------------


def slow_f1(rows: list[tuple[str, int, int]], n_reference: int, *, own: bool) -> float:
    """One response, element by element: (verdict, beside, belongs); a study's rule for UNSURE."""
    partner: dict[int, tuple[str, int]] = {}  # reference element -> verdict there, element
    order = {C: 0, U: 1, X: 2}
    for at, (verdict, beside, belongs) in enumerate(rows):
        place = belongs if own else beside
        said = C if own and beside != belongs and belongs else verdict
        moved = own and beside != belongs
        if not place:
            continue
        if place in partner:
            other, holder = partner[place]
            held_by_mover = own and rows[holder][1] != rows[holder][2]
            if (order[other], held_by_mover) <= (order[said], moved):
                continue
        partner[place] = (said, at)
    verdicts = [said for said, _ in partner.values()]
    unsure = verdicts.count(U)
    predicted, reference = len(rows) - unsure, n_reference - unsure
    if not reference or (unsure and not predicted):
        return math.nan
    right = verdicts.count(C)
    return 2 * right / (predicted + reference)


@pytest.mark.parametrize("seed", range(25))
def test_the_slow_twin_finds_the_same_f1(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    answers: list[tuple[str, str, bool, int, float]] = []
    given_f1, own_f1 = [], []
    for response in range(10):
        n_reference, n_predicted = (int(n) for n in rng.integers(1, 6, 2))
        places = [*range(1, n_reference + 1), *[0] * n_predicted]
        beside = rng.permutation(places)[:n_predicted].tolist()
        belongs = [
            place if rng.random() < 0.6 else int(rng.integers(0, n_reference + 1))
            for place in beside
        ]
        said = [str(rng.choice([C, X, U], p=[0.5, 0.35, 0.15])) for _ in beside]
        # a right element without a partner is an extra one, which is another rule
        said = [X if place == 0 and s == C else s for s, place in zip(said, beside, strict=True)]
        for at, place in enumerate(beside):
            item = f"i{response}-{at}"
            row = {
                "item_id": item,
                "question_id": f"q{response}",
                "response_id": f"r{response}",
                "system": "-",
                "status": "rated",
                "weight": 1.0,
                "n_reference": n_reference,
                "n_predicted": n_predicted,
                "unmatched": place == 0,
            }
            rows.append(row | {"rater": "ann", "kind": "annotator", "rating": said[at]})
            rows.append(row | {"rater": "j", "kind": "judge", "rating": C if place else X})
            answers.append((item, "ann", place == belongs[at], place, float(belongs[at])))
        elements = list(zip(said, beside, belongs, strict=True))
        given_f1.append(slow_f1(elements, n_reference, own=False))
        own_f1.append(slow_f1(elements, n_reference, own=True))
    frame = pd.DataFrame(answers, columns=["item_id", "rater", "aligned", "beside", "belongs"])
    ratings = Ratings(pd.DataFrame(rows), source={"name": "study"})
    error = figures(agreement(ratings, alignment=frame, resamples=0), "alignment_error")[("ann",)]
    both = ~(np.isnan(given_f1) | np.isnan(own_f1))
    assert error.n == both.sum()
    assert error.details["f1_given_alignment"] == pytest.approx(np.array(given_f1)[both].mean())
    assert error.details["f1_own_alignment"] == pytest.approx(np.array(own_f1)[both].mean())


@pytest.mark.parametrize("extra", ["incorrect", "ignore", "credit"])
@pytest.mark.parametrize("unsure", ["missing", "incorrect", "half", "category"])
def test_where_people_move_nothing_the_score_is_the_same(extra: Any, unsure: Any) -> None:
    rng = np.random.default_rng(7)
    rows: list[dict[str, Any]] = []
    answers: list[tuple[str, str, bool, int, float]] = []
    for k in range(60):
        place = k % 5  # one element of each response has no partner
        row = {
            "item_id": f"i{k}",
            "question_id": f"q{k // 5}",
            "response_id": f"r{k // 5}",
            "system": "-",
            "status": "rated",
            "weight": 1.0,
            "n_reference": 4,
            "n_predicted": 5,
            "unmatched": place == 0,
            "reasons": ("missing_from_reference",) if rng.random() < 0.3 else (),
        }
        rows.append(
            row | {"rater": "ann", "kind": "annotator", "rating": str(rng.choice([C, X, U]))}
        )
        rows.append(row | {"rater": "j", "kind": "judge", "rating": C if k % 3 else X})
        answers.append((f"i{k}", "ann", True, place, float(place)))
    frame = pd.DataFrame(answers, columns=["item_id", "rater", "aligned", "beside", "belongs"])
    ratings = Ratings(pd.DataFrame(rows), source={"name": "study"})
    report = agreement(ratings, alignment=frame, extra=extra, unsure=unsure, resamples=0)
    error = figures(report, "alignment_error")[("ann",)]
    assert error.n == 12 and error.details["f1_own_alignment"] < 1
    assert error.estimate == 0 and error.details["least"] == 0
    grading = figures(report, "grading_error")[("j", "ann")]
    assert grading.estimate == figures(report, "score_error")[("j", "ann")].estimate
