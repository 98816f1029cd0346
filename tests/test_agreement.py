"""The agreement panel: figures by hand, people and judges kept apart, nothing dropped uncounted."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import accord
from accord.scoring.errors import InputError, SettingsError
from accord.study import Ratings
from accord.validate import AgreementReport, agreement
from accord.validate.agreement_text import agreement_lines
from accord.validate.coding import MISSING, TIE
from accord.validate.people import majority
from small_table import find, make

C, X, U = "CORRECT", "INCORRECT", "UNSURE"
Labels = dict[str, list[str | None]]
PAIR = {"a": "annotator", "b": "annotator", "j": "judge"}
#          i0 i1 i2 i3 i4 i5 i6 i7
TABLE: Labels = {
    "a": [C, C, C, C, X, X, X, None],
    "b": [C, C, C, X, X, X, C, C],
    "j": [C, C, X, C, X, C, None, C],
}


def test_element_figures_by_hand() -> None:
    report = agreement(make(TABLE, PAIR))
    # a with b on i0..i6: equal on i0 i1 i2 i4 i5 = 5/7
    raw = find(report, "agreement", "a", "b")
    assert (raw.estimate, raw.n, raw.clusters) == (pytest.approx(5 / 7), 7, 4)
    assert raw.dropped == {"missing": 1}
    # both say CORRECT 4 and INCORRECT 3 times: pe = (16 + 9)/49, κ = (5/7 − 25/49)/(24/49) = 10/24
    assert find(report, "cohen_kappa", "a", "b").estimate == pytest.approx(10 / 24)
    # AC1: pe = 2·(4/7)(3/7) = 24/49, (35 − 24)/(49 − 24)
    assert find(report, "gwet_ac1", "a", "b").estimate == pytest.approx(11 / 25)
    # α: n = 14, Do = 2·2/14, De = 2·8·6/(14·13)
    alpha = find(report, "krippendorff_alpha_nominal", "a", "b")
    assert alpha.estimate == pytest.approx(1 - (4 / 14) / (96 / 182))
    # j with a on i0..i5: tp i0 i1 i3, fn i2, fp i5, tn i4
    table = next(t for t in report.confusion if t.raters == ("j", "a"))
    assert (table.tp, table.fp, table.fn, table.tn) == (3, 1, 1, 1)
    assert table.labels == (C, X) and table.counts == ((3, 1), (1, 1))
    assert find(report, "sensitivity", "j", "a").estimate == pytest.approx(3 / 4)
    assert find(report, "specificity", "j", "a").estimate == pytest.approx(1 / 2)
    assert find(report, "precision", "j", "a").estimate == pytest.approx(3 / 4)
    assert find(report, "f1", "j", "a").estimate == pytest.approx(6 / 8)
    # i7: a gave none; i6: the judge's reply was unreadable
    assert find(report, "agreement", "j", "a").dropped == {"missing": 1, "unscored": 1}
    assert find(report, "agreement", "j", "b").dropped == {"unscored": 1}
    # prevalence (2 − 1)... of j and b on i0..i5, i7: both C on i0 i1 i7, both X on i4; j only C on
    # i3 i5; b only C on i2: (3 − 1)/7 and (2 − 1)/7
    details = find(report, "cohen_kappa", "j", "b").details
    assert details["prevalence_index"] == pytest.approx(2 / 7)
    assert details["bias_index"] == pytest.approx(1 / 7)


def test_majority_of_two_is_where_they_agree_and_says_so() -> None:
    report = agreement(make(TABLE, PAIR))
    # a and b differ on i3 and i6 (ties); i7 has b alone
    raw = find(report, "agreement", "j", "majority")
    assert raw.n == 6 and raw.dropped == {"unscored": 1, "tie of the annotators": 1}
    assert raw.estimate == pytest.approx(4 / 6)  # i0 i1 i4 i7 of i0 i1 i2 i4 i5 i7
    assert report.people == "majority"
    assert any("2 items are tied" in note and "flatters a judge" in note for note in report.notes)


def test_comparisons_are_named_and_a_judge_is_never_among_people() -> None:
    report = agreement(make(TABLE, PAIR))
    named = {(one["comparison"], tuple(one["raters"])) for one in report.main_dicts()}
    assert named == {
        ("people", ("a", "b")),
        ("judge-annotator", ("j", "a")),
        ("judge-annotator", ("j", "b")),
        ("judge-final", ("j", "majority")),
        ("judge-final", ()),  # the response level, undefined for all at once
    }
    without = agreement(make({k: v for k, v in TABLE.items() if k != "j"}, PAIR))
    other = agreement(make({**TABLE, "j": [X, C] * 4}, PAIR))
    for one in without.results:
        if one.level == "element":
            # As dictionaries: NaN equals nothing, not even itself.
            for same in (report, other):
                assert find(same, one.name, "a", "b").to_dict() == one.to_dict()


def test_a_final_label_by_people_is_no_annotator_and_a_judge_no_final_label() -> None:
    kinds = {**PAIR, "f": "adjudicated"}
    ratings = make({**TABLE, "f": [C, C, C, C, X, X, C, C]}, kinds)
    report = agreement(ratings, final="f")
    assert {one.raters for one in report.results if one.details["comparison"] == "people"} == {
        ("a", "b")
    }
    assert find(report, "agreement", "j", "f").estimate == pytest.approx(5 / 7)
    assert report.people == "f" and report.kinds == kinds
    # naming an annotator as final takes him out of the people
    as_final = agreement(ratings, final="a")
    assert as_final.kinds["a"] == "adjudicated"
    assert not any(one.details["comparison"] == "people" for one in as_final.results)
    with pytest.raises(SettingsError, match="--final 'j' is a judge"):
        agreement(ratings, final="j")
    with pytest.raises(SettingsError, match="contradict each other"):
        agreement(ratings, final="f", aggregate="majority")
    with pytest.raises(SettingsError, match="--final 'zz' is no rater here"):
        agreement(ratings, final="zz")


def test_adjudicated_labels_fill_up_with_the_majority() -> None:
    kinds = {**PAIR, "f": "adjudicated"}
    table = {**TABLE, "f": [None, None, None, C, None, None, C, None]}
    report = agreement(make(table, kinds))
    # adjudicated on i3 and i6, the majority on the six others (i7: b alone)
    assert find(report, "agreement", "j", "f").n == 7  # all but i6, which the judge left unread
    assert report.notes == (
        "f: 2 adjudicated labels, and the annotators' majority on 6 other items",
    )
    by_majority = agreement(make(table, kinds), aggregate="majority")
    assert by_majority.people == "majority"
    assert find(by_majority, "agreement", "j", "majority").n == 6
    two = make({**table, "g": table["f"]}, {**kinds, "g": "adjudicated"})
    with pytest.raises(SettingsError, match="several adjudicated labels \\(f, g\\)"):
        agreement(two)
    with pytest.raises(SettingsError, match="no rating is adjudicated"):
        agreement(make(TABLE, PAIR), aggregate="adjudicated")


def test_the_only_annotator_stands_for_people() -> None:
    report = agreement(make({"a": TABLE["a"], "j": TABLE["j"]}, PAIR))
    assert report.people == "a"
    assert {one.details["comparison"] for one in report.results if one.level == "element"} == {
        "judge-annotator"
    }
    with pytest.raises(InputError, match="nothing to compare: one rater"):
        agreement(make({"a": TABLE["a"]}, PAIR))
    with pytest.raises(InputError, match="no rating here is by a person"):
        agreement(make({"j": TABLE["j"]}, PAIR))


UNSURE_TABLE: Labels = {
    "a": [C, C, X, X, U, U, C, X],
    "b": [C, X, X, C, C, X, C, X],
    "j": [C, C, X, X, C, X, U, None],
}


@pytest.mark.parametrize(
    ("options", "n", "equal", "dropped"),
    [
        # i4 i5 unsure for a, i6 for j, i7 unread
        ({}, 4, 4, {"unscored": 1, "unsure": 3}),
        ({"unsure": "incorrect"}, 7, 5, {"unscored": 1}),  # i5 meets X, i4 and i6 do not meet
        ({"unsure": "category"}, 7, 4, {"unscored": 1}),
        ({"unsure": "half"}, 7, 4, {"unscored": 1}),
        ({"unscored": "incorrect"}, 5, 5, {"unsure": 3}),
        ({"unscored": "category"}, 5, 4, {"unsure": 3}),
        ({"unsure": "incorrect", "unscored": "incorrect"}, 8, 6, {}),
    ],
)
def test_unsure_and_unscored_go_where_the_options_say(
    options: dict[str, Any], n: int, equal: int, dropped: dict[str, int]
) -> None:
    report = agreement(make(UNSURE_TABLE, PAIR), **options)
    raw = find(report, "agreement", "j", "a")
    assert (raw.n, round(raw.estimate * raw.n), dict(raw.dropped)) == (n, equal, dropped)


def test_incorrect_needs_a_label_that_means_wrong() -> None:
    words = {"CORRECT": "good", "INCORRECT": "bad"}
    table = {k: [words.get(x or "", x) for x in v] for k, v in UNSURE_TABLE.items()}
    with pytest.raises(
        SettingsError, match="--unscored incorrect needs one label that means wrong"
    ):
        agreement(make(table, PAIR), unscored="incorrect")
    report = agreement(make(table, PAIR), unscored="incorrect", positive="good")
    assert find(report, "agreement", "j", "a").n == 5


@pytest.mark.parametrize(
    ("extra", "n", "equal"), [("incorrect", 7, 4), ("ignore", 5, 4), ("credit", 7, 6)]
)
def test_correct_but_missing_from_the_reference(extra: Any, n: int, equal: int) -> None:
    #     a says of i4 and of i5 (where b says CORRECT) that they are right and not in the reference
    table: Labels = {"a": [C, C, X, C, X, X, X, None], "b": [C, C, X, X, C, C, X, C]}
    table["a"][6] = C
    ratings = make(table, PAIR)
    reasons = [
        ("correct but missing from the reference",)
        if row["rater"] == "a" and row["item_id"] in ("i4", "i5")
        else ()
        for row in ratings.frame.to_dict("records")
    ]
    ratings.frame["reasons"] = pd.Series(reasons, dtype=object)
    raw = find(agreement(ratings, extra=extra), "agreement", "a", "b")
    # i0 i1 i2 are equal, i3 and i6 are not: with credit i4 and i5 are equal too
    assert (raw.n, round(raw.estimate * raw.n)) == (n, equal - 1)
    if extra == "ignore":
        assert raw.dropped == {"missing": 1, "correct but missing from the reference": 2}


# -- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["Yes", "No", "yes", "No"], "'Yes' and 'yes' differ in spelling only"),
        (["1", "0", "1.0", "0.0"], "'0' and '0.0' differ in spelling only"),
        (["good", "bad", "good\u200b", "bad"], "differ in spelling only"),
        (["Yes", "No", "CORRECT", "INCORRECT"], "'a' and 'j' have no label in common"),
    ],
)
def test_raters_with_different_label_sets_are_refused(labels: list[str], says: str) -> None:
    one, two, three, four = labels
    table = {"a": [one, two] * 6, "b": [one, two] * 6, "j": [three, four] * 6}
    with pytest.raises(InputError) as caught:
        agreement(make(table, PAIR))
    assert says in str(caught.value) and "--labels" in str(caught.value)
    report = agreement(make(table, PAIR), categories=list(dict.fromkeys(labels)))
    assert find(report, "agreement", "j", "a").n == 12


def test_free_text_is_no_label_column() -> None:
    texts = [f"answer {k}" for k in range(60)]
    with pytest.raises(InputError, match="60 different labels"):
        agreement(make({"a": texts, "b": texts}, PAIR))


def test_declared_categories_count_even_if_unused() -> None:
    table = {"a": ["x", "y"] * 6, "b": ["x", "y"] * 5 + ["x", "x"]}
    two = agreement(make(table, PAIR))
    three = agreement(make(table, PAIR), categories=("x", "y", "z"))
    # AC1's chance agreement is divided by k − 1
    assert find(three, "gwet_ac1", "a", "b").estimate > find(two, "gwet_ac1", "a", "b").estimate
    kappa = [find(report, "cohen_kappa", "a", "b").estimate for report in (two, three)]
    assert kappa[0] == pytest.approx(kappa[1])
    with pytest.raises(InputError, match="the label 'y' is not among the categories x"):
        agreement(make(table, PAIR), categories=("x",))
    with pytest.raises(SettingsError, match="--positive 'w' is no label here"):
        agreement(make(table, PAIR), positive="w")


def test_ordinal_needs_an_order_and_numbers_have_one() -> None:
    table = {"a": ["low", "high", "mid"] * 6, "b": ["low", "high", "low"] * 6}
    with pytest.raises(SettingsError, match="the order of high, low, mid can't be known"):
        agreement(make(table, PAIR), scale="ordinal")
    given_order = agreement(make(table, PAIR), scale="ordinal", categories=("low", "mid", "high"))
    coded = {"low": "1", "mid": "2", "high": "10"}
    numbers = {k: [coded[x] for x in v] for k, v in table.items()}
    by_number = agreement(make(numbers, PAIR), scale="ordinal")
    for name in ("krippendorff_alpha_ordinal", "spearman"):
        one, two = (find(report, name, "a", "b") for report in (given_order, by_number))
        assert one.estimate == pytest.approx(two.estimate) and one.n == two.n == 18
    assert "pearson" not in {one.name for one in by_number.results if one.level == "element"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"scale": "x"}, "--scale 'x' is not known"),
        ({"unsure": "x"}, "--unsure 'x' is not known"),
        ({"unscored": "half"}, "--unscored 'half' is no label here"),
        ({"extra": "x"}, "--extra 'x' is not known"),
        ({"aggregate": "x"}, "--aggregate 'x' is not known"),
        ({"aggregate": "mean"}, "--aggregate mean needs numbers"),
        ({"unit": "x"}, "unit 'x' is unknown"),
        ({"confidence": 1.0}, "confidence 1.0 is not between 0 and 1"),
        ({"resamples": 5}, "--resamples 5 is not between"),
        ({"seed": -1}, "--seed -1 is negative"),
        ({"positive": "1", "scale": "interval"}, "--positive is for labels"),
    ],
)
def test_settings_are_checked(options: dict[str, Any], says: str) -> None:
    numbers = {"a": ["1", "2"] * 3, "b": ["1", "1"] * 3}
    with pytest.raises(SettingsError) as caught:
        agreement(make(numbers, PAIR), **options)
    assert says in str(caught.value)


# -- what must not change a figure ----------------------------------------------------------------


def _random(seed: int = 3) -> tuple[dict[str, list[str | None]], dict[str, str], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    truth = rng.random(120) < 0.7
    table: dict[str, list[str | None]] = {}
    for rater in ("a", "b", "c", "j"):
        wrong = rng.random(120) < 0.15
        gone = rng.random(120) < 0.1
        table[rater] = [
            None if g else C if t != w else X for t, w, g in zip(truth, wrong, gone, strict=True)
        ]
    kinds = {**PAIR, "c": "annotator"}
    columns = {
        "question_id": [f"q{k // 4}" for k in range(120)],
        "response_id": [f"r{k // 2}" for k in range(120)],
        "system": [f"s{k // 2 % 2}" for k in range(120)],
    }
    return table, kinds, columns


def _figures(report: AgreementReport) -> list[dict[str, Any]]:
    keys = ("name", "level", "raters", "estimate", "low", "high", "n", "clusters", "dropped")
    return [{key: one[key] for key in keys} for one in report.result_dicts()]


def _same(one: AgreementReport, two: AgreementReport, rename: Mapping[str, str] = {}) -> None:
    left, right = _figures(one), _figures(two)
    assert len(left) == len(right)

    def key(row: dict[str, Any]) -> tuple[Any, ...]:
        return (row["level"], row["name"], [rename.get(r, r) for r in row["raters"]], row["n"])

    for a, b in zip(sorted(left, key=key), sorted(right, key=lambda row: key(row)), strict=True):
        for name in ("estimate", "low", "high"):
            assert a[name] == (None if b[name] is None else pytest.approx(b[name], abs=1e-9)), a
        assert (a["n"], a["clusters"], a["dropped"]) == (b["n"], b["clusters"], b["dropped"])


def test_the_order_of_rows_changes_nothing() -> None:
    table, kinds, columns = _random()
    ratings = make(table, kinds, **columns)
    shuffled = ratings.frame.sample(frac=1, random_state=1).reset_index(drop=True)
    # raters keep their order, which is only the order of the output
    order = list(table)
    shuffled = shuffled.sort_values(
        "rater", key=lambda column: column.map(order.index), kind="stable"
    ).reset_index(drop=True)
    assert shuffled["item_id"].tolist() != ratings.frame["item_id"].tolist()
    _same(agreement(ratings), agreement(Ratings(shuffled)))


def test_other_words_for_the_labels_change_nothing() -> None:
    table, kinds, columns = _random()
    words = {C: "ja", X: "nein", None: None}
    other = {rater: [words[label] for label in labels] for rater, labels in table.items()}
    _same(
        agreement(make(table, kinds, **columns)),
        agreement(make(other, kinds, **columns), positive="ja"),
    )


def test_a_common_factor_of_the_weights_changes_nothing() -> None:
    table, kinds, columns = _random()
    ratings = make(table, kinds, **columns)
    items = {f"i{k}": 1.0 + k % 3 for k in range(120)}
    per_item = ratings.frame["item_id"].map(items)
    one = Ratings(ratings.frame.assign(weight=per_item))
    ten = Ratings(ratings.frame.assign(weight=10 * per_item))
    _same(agreement(one), agreement(ten))
    plain = find(agreement(ratings), "agreement", "a", "b").estimate
    weighted = find(agreement(one), "agreement", "a", "b").estimate
    both = [
        (items[f"i{k}"], x == y)
        for k, (x, y) in enumerate(zip(table["a"], table["b"], strict=True))
        if x and y
    ]
    assert weighted == pytest.approx(sum(w * e for w, e in both) / sum(w for w, _ in both))
    assert weighted != pytest.approx(plain, abs=1e-6)


def test_the_seed_decides_and_is_in_the_result() -> None:
    table, kinds, columns = _random()
    ratings = make(table, kinds, **columns)
    one, again, other = (agreement(ratings, seed=seed, resamples=199) for seed in (1, 1, 2))
    _same(one, again)
    r1, r2 = (find(r, "pearson", "j", "a", level="response") for r in (one, other))
    assert r1.estimate == r2.estimate and r1.low != r2.low
    assert one.settings["seed"] == 1 and one.settings["resamples"] == 199


def test_clusters_are_those_that_are_named() -> None:
    table, kinds, columns = _random()
    columns["topic"] = [f"t{k // 12}" for k in range(120)]
    ratings = make(table, kinds, **columns)
    by_topic = Ratings(ratings.frame, cluster=("topic",))
    raw = find(agreement(by_topic), "agreement", "a", "b")
    assert (raw.clusters, raw.unit) == (10, "topic")
    kappa = find(agreement(by_topic), "cohen_kappa", "a", "b")
    assert kappa.method.startswith("topic jackknife") and "question" not in kappa.method
    own = Ratings(
        ratings.frame.drop(columns="response_id").assign(response_id=None), cluster=("item_id",)
    )
    raw = find(agreement(own), "agreement", "a", "b")
    assert raw.clusters == raw.n and raw.unit == "item"
    item = find(agreement(ratings, unit="item"), "agreement", "a", "b")
    assert item.unit == "item" and "independent" in item.method


def test_all_people_together_beside_the_pairs() -> None:
    table, kinds, columns = _random()
    report = agreement(make(table, kinds, **columns))
    together = find(report, "krippendorff_alpha_nominal", "a", "b", "c")
    two = sum(sum(table[r][k] is not None for r in "abc") >= 2 for k in range(120))
    assert together.n == two and together.dropped == {"fewer than two ratings": 120 - two}
    assert together.details["comparison"] == "people"
    pairs = [one.raters for one in report.results if one.name == "cohen_kappa"]
    assert pairs[:3] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_many_annotators_are_compared_together_only() -> None:
    rng = np.random.default_rng(1)
    table: dict[str, list[str | None]] = {
        f"p{k}": [C if x else X for x in rng.random(40) < 0.6] for k in range(12)
    }
    kinds = dict.fromkeys(table, "annotator") | {"j": "judge"}
    report = agreement(make({**table, "j": [C] * 40}, kinds))
    assert {len(one.raters) for one in report.results if one.details["comparison"] == "people"} == {
        12
    }
    assert not any(one.details["comparison"] == "judge-annotator" for one in report.results)
    assert find(report, "agreement", "j", "majority").n > 20
    assert any("12 annotators" in note for note in report.notes)
    assert any("12 annotators together" in line for line in agreement_lines(report))


def test_a_rater_may_be_called_majority() -> None:
    kinds = {"a": "annotator", "b": "annotator", "majority": "judge"}
    table: Labels = {"a": TABLE["a"], "b": TABLE["b"], "majority": [X] * 8}
    report = agreement(make(table, kinds))
    assert report.people == "majority of the annotators"
    assert find(report, "agreement", "majority", "majority of the annotators").n == 6


labels = st.integers(-1, 3)


@given(st.lists(st.lists(labels, min_size=3, max_size=5), min_size=1, max_size=8))
def test_majority_is_the_commonest_label(rows: list[list[int]]) -> None:
    width = max(map(len, rows))
    codes = np.array([row + [MISSING] * (width - len(row)) for row in rows])
    for row, found in zip(codes.tolist(), majority(codes, 4).tolist(), strict=True):
        votes = Counter(code for code in row if code >= 0).most_common()
        if not votes:
            assert found == MISSING
        elif len(votes) > 1 and votes[0][1] == votes[1][1]:
            assert found == TIE
        else:
            assert found == votes[0][0]


# -- output ---------------------------------------------------------------------------------------


def test_results_are_json_and_a_frame() -> None:
    table, kinds, columns = _random()
    report = agreement(make(table, kinds, **columns))
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    in_sections = sum(len(part.results) for part in report.sections)
    assert len(plain["results"]) == len(report.results) + in_sections == len(report.to_frame())
    assert {"comparison", "raters", "estimate", "low", "high", "reason"} <= set(plain["results"][0])
    assert {tuple(t["raters"]) for t in plain["confusion"]} == {
        ("j", "a"),
        ("j", "b"),
        ("j", "c"),
        ("j", "majority"),
    }
    table_of = plain["confusion"][0]
    assert table_of["rows"] == "a" and table_of["columns"] == "j"
    assert sum(map(sum, table_of["counts"])) == table_of["n"]
    assert accord.agreement is agreement


def test_the_text_fits_and_shows_hostile_names_as_escapes() -> None:
    table, kinds, columns = _random()
    bad = "j\u202e\x1b[31m" + "very long name " * 8
    kinds[bad] = "judge"
    table[bad] = table.pop("j")
    columns["system"] = [f"s\u202e{'x' * 90}{k // 2 % 2}" for k in range(120)]
    lines = agreement_lines(agreement(make(table, kinds, **columns)))
    assert max(map(len, lines)) <= 100
    text = "\n".join(lines)
    assert "\x1b" not in text and "\u202e" not in text and "\\u202e" in text
    assert "120 items rated by people in 30 questions" in lines


def test_the_text_says_why_kappa_and_ac1_part() -> None:
    # 93 of 100 items both say CORRECT, 1 both INCORRECT: high agreement, low κ, high AC1
    table = {"a": [C] * 96 + [X] * 4, "b": [C] * 93 + [X] * 4 + [C] * 3}
    lines = " ".join(agreement_lines(agreement(make(table, PAIR))))
    assert "part over what chance would give" in lines and "Prevalence index 0.92" in lines


def test_one_class_only_is_undefined_with_the_bound_of_raw_agreement() -> None:
    table = {"a": [C] * 40, "b": [C] * 40}
    report = agreement(make(table, PAIR))
    kappa = find(report, "cohen_kappa", "a", "b")
    assert math.isnan(kappa.estimate) and "one category only" in (kappa.reason or "")
    raw = find(report, "agreement", "a", "b")
    assert raw.estimate == 1 and 0.8 < raw.low < 1
    json.dumps(report.to_dict(), allow_nan=False)
    assert any("undefined" in line for line in agreement_lines(report))


def test_unsure_has_a_place_in_an_order_only_where_it_is_given_one() -> None:
    a = ["INCORRECT", "UNSURE", "CORRECT", "UNSURE", "CORRECT", "INCORRECT"]
    b = ["INCORRECT", "CORRECT", "CORRECT", "UNSURE", "UNSURE", "INCORRECT"]
    ratings = make({"a": a, "b": b}, {"a": "annotator", "b": "annotator"})
    with pytest.raises(SettingsError, match="the place of UNSURE in the order"):
        agreement(ratings, scale="ordinal", unsure="category")
    order = ("INCORRECT", "UNSURE", "CORRECT")
    found = agreement(ratings, scale="ordinal", unsure="category", categories=order)
    # coincidences: 00 4, 11 2, 22 2, 12 and 21 2 each, so each label is given 4 times of 12;
    # mid-ranks 2, 6, 10: observed 2 x 2 x 16 = 64, expected 2 x (4 x 4) x (16 + 64 + 16) = 3,072
    alpha = find(found, "krippendorff_alpha_ordinal", "a", "b")
    assert alpha.estimate == pytest.approx(1 - 11 * 64 / 3072)
    last = agreement(ratings, scale="ordinal", unsure="missing", categories=order)
    assert find(last, "krippendorff_alpha_ordinal", "a", "b").n == 3
    with pytest.raises(SettingsError, match="unscored has no place"):
        judged = make({"a": a, "j": [None, *b[1:]]}, {"a": "annotator", "j": "judge"})
        agreement(judged, scale="ordinal", unscored="category", categories=order)


def test_items_of_two_among_many_annotators_flatter_a_judge_too() -> None:
    # four annotators, two to an item: what is tied leaves only what two agree on
    table: dict[str, list[str | None]] = {
        "a": ["x", "x", None, None],
        "b": ["x", "y", None, None],
        "c": [None, None, "y", "x"],
        "d": [None, None, "y", "y"],
        "j": ["x", "x", "y", "y"],
    }
    kinds = {**dict.fromkeys("abcd", "annotator"), "j": "judge"}
    report = agreement(make(table, kinds), positive="x")
    (note,) = [note for note in report.notes if "tied" in note]
    assert "2 items are tied" in note and "where two annotators rated an item" in note
    three = {"a": ["x", "x"], "b": ["y", "x"], "c": ["z", "x"], "j": ["x", "x"]}
    kinds = {**dict.fromkeys("abc", "annotator"), "j": "judge"}
    (note,) = [note for note in agreement(make(three, kinds)).notes if "tied" in note]
    assert "flatters" not in note
