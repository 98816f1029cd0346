"""The named rules by which one label stands for people, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from accord.scoring.errors import InputError, SettingsError
from accord.validate import AgreementReport, agreement
from accord.validate.coding import ALONE, DIFFER, MISSING, UNSURE_LEFT_OUT
from accord.validate.people import unanimous
from accord.validate.reading import MADE, leading
from small_table import find, make

C, X, U = "CORRECT", "INCORRECT", "UNSURE"
Labels = dict[str, list[str | None]]
#     i0 i1 i2    i3    i4    i5 i6 i7
TABLE: Labels = {
    "a": [C, C, X, None, U, C, X, C],
    "b": [C, X, X, None, C, U, X, C],
    "c": [C, C, X, C, None, U, X, None],
    "j": [C, C, C, C, C, C, X, X],
}
KINDS = dict.fromkeys("abc", "annotator") | {"j": "judge"}


def made_of(report: AgreementReport) -> set[str]:
    final = (one for one in report.results if one.details["comparison"] == "judge-final")
    return {one.details["people"] for one in final if "people" in one.details}


def test_unanimous_by_hand() -> None:
    u = UNSURE_LEFT_OUT
    codes = np.array(
        [[0, 0, 0], [0, 1, 0], [0, u, MISSING], [u, u, MISSING], [MISSING, 1, MISSING]]
    )
    assert unanimous(codes).tolist() == [0, DIFFER, DIFFER, u, ALONE]
    assert unanimous(np.full((1, 2), MISSING)).tolist() == [MISSING]


def test_only_what_all_agree_on_has_a_label() -> None:
    report = agreement(make(TABLE, KINDS), aggregate="unanimous", resamples=0)
    assert report.people == "unanimous"
    # unanimous: i0 C, i2 X, i6 X, i7 C (two of two); the judge is right on i0 and i6
    raw = find(report, "agreement", "j", "unanimous")
    assert (raw.estimate, raw.n) == (0.5, 4)
    assert raw.dropped == {"annotators not unanimous": 3, "label of one annotator only": 1}
    assert made_of(report) == {"unanimous labels of a, b, c"}
    assert [note for note in report.notes if note.startswith("unanimous")] == [
        "unanimous: 4 items on which two or more annotators all agree; 3 on which they differ have"
        " no label, so what people find hard is left out, which flatters a judge; 1 with the label"
        " of one annotator only have none either"
    ]


def test_being_unsure_is_a_label_of_its_own_where_it_is_a_category() -> None:
    table: Labels = {"a": [U, U, C], "b": [U, C, C], "j": [U, C, C]}
    kinds = {"a": "annotator", "b": "annotator", "j": "judge"}
    report = agreement(make(table, kinds), aggregate="unanimous", unsure="category", resamples=0)
    raw = find(report, "agreement", "j", "unanimous")
    assert (raw.estimate, raw.n) == (1.0, 2)


def test_ground_truth_stands_for_people_only_where_asked_for() -> None:
    table = {**TABLE, "ground-truth": [X, None, C, None, None, None, None, None]}
    kinds = {**KINDS, "ground-truth": "adjudicated"}
    assert agreement(make(table, kinds), resamples=0).people == "majority"
    report = agreement(make(table, kinds), aggregate="ground-truth", resamples=0)
    raw = find(report, "agreement", "j", "ground-truth")
    assert (raw.estimate, raw.n, raw.dropped) == (0.5, 2, {"missing": 6})
    assert made_of(report) == {"labels flagged as ground truth"}
    assert any("ground-truth: 2 items flagged as ground truth; 6 other" in n for n in report.notes)
    # beside an adjudicator the adjudicated label is the default, as before
    both = agreement(
        make({**table, "fin": TABLE["a"]}, {**kinds, "fin": "adjudicated"}), resamples=0
    )
    assert both.people == "fin"
    alone = agreement(make({n: table[n] for n in ("ground-truth", "j")}, {**kinds}), resamples=0)
    assert alone.people == "ground-truth"


def test_the_models_label_says_that_it_is_one() -> None:
    rng = np.random.default_rng(3)
    true = rng.integers(0, 2, 120)
    table: Labels = {}
    for name, error in zip("abcd", (0.02, 0.05, 0.4, 0.45), strict=True):
        said = np.where(rng.random(120) < error, 1 - true, true)
        table[name] = [(X, C)[code] for code in said]
    table["j"] = [(X, C)[code] for code in true]
    kinds = dict.fromkeys("abcd", "annotator") | {"j": "judge"}
    report = agreement(make(table, kinds), aggregate="dawid-skene", resamples=0)
    by_model = find(report, "agreement", "j", "dawid-skene")
    by_votes = find(agreement(make(table, kinds), resamples=0), "agreement", "j", "majority")
    # four votes tie where two careful people meet two careless ones; the model weighs them
    assert by_model.n == 120 and by_votes.n < 120 and by_votes.dropped
    assert by_model.estimate > 0.94
    (note,) = [note for note in report.notes if note.startswith("dawid-skene")]
    tied = by_votes.dropped["tie of the annotators"]
    assert "a model's labels and nobody's verdict; of 120 items it decided" in note
    assert f"decided {tied} on which the annotators are tied" in note
    assert made_of(report) == {"likeliest label by Dawid and Skene's model of a, b, c, d"}


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"aggregate": "ground-truth"}, SettingsError, "no label is flagged as ground truth"),
        ({"aggregate": "unanimous", "final": "a"}, SettingsError, "contradict each other"),
        ({"aggregate": "best"}, SettingsError, "unanimous, ground-truth, dawid-skene"),
        ({"aggregate": "dawid-skene", "scale": "interval"}, SettingsError, "needs labels"),
    ],
)
def test_what_can_not_be(options: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        agreement(make(TABLE, KINDS), resamples=0, **options)


def test_a_model_of_two_people_is_refused() -> None:
    table = {name: TABLE[name] for name in "abj"}
    with pytest.raises(InputError, match="needs three at least"):
        agreement(make(table, KINDS), aggregate="dawid-skene", resamples=0)


@pytest.mark.parametrize("how", ["unanimous", "dawid-skene"])
def test_a_label_that_nobody_gave_is_not_read_before_the_people(how: Any) -> None:
    report = agreement(make(TABLE, KINDS), aggregate=how, resamples=0)
    results = report.result_dicts()
    leads = leading(results, report.kinds)
    judged = {str(one["comparison"]) for one in results if leads(one) and "j" in one["raters"]}
    assert "judge-annotator" in judged and "judge-final" not in judged
    assert how in MADE
