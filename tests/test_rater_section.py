"""The panel's part on annotators: figures, flags that are worth a look, and when it is silent."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_ratings import draw
from numpy.typing import NDArray

from accord.study import Ratings
from accord.validate import (
    Estimate,
    agreement,
    cohen_kappa,
    dawid_skene,
    krippendorff_alpha,
    mad,
    pearson,
    raw_agreement,
)
from accord.validate.others import majority_without, mean_without
from accord.validate.section import Section

WORDS = ("CORRECT", "INCORRECT", "PARTLY")
NUMBERS = ("0", "0.5", "1")
Codes = NDArray[np.int64]


def long(
    people: Codes,
    clusters: Codes,
    *,
    words: tuple[str, ...] = WORDS,
    judge: Codes | None = None,
    seconds: NDArray[np.float64] | None = None,
    in_time: bool = False,
    again: dict[int, Codes] | None = None,
) -> Ratings:
    """Ratings in long form; ``again``: annotator → second codes, -1 where there is none."""

    def row(item: int, rater: str, kind: str, code: int) -> dict[str, Any]:
        return {
            "item_id": f"i{item:05d}",
            "question_id": f"q{clusters[item]:04d}",
            "system": "-",
            "response_id": None,
            "rater": rater,
            "kind": kind,
            "rating": words[code],
            "status": "rated",
            "weight": 1.0,
        }

    rows = []
    for item in range(len(people)):
        for c in range(people.shape[1]):
            if people[item, c] < 0:
                continue
            one = row(item, f"person {c}", "annotator", people[item, c])
            if seconds is not None:
                one["seconds"] = seconds[item, c]
            if in_time:
                at = pd.Timestamp("2026-01-01T00:00:00Z") + pd.Timedelta(minutes=item)
                one["rated_at"] = at.isoformat()
            rows.append(one)
        if judge is not None:
            rows.append(row(item, "gpt", "judge", judge[item]))
    texts = {name: object for name in ("item_id", "question_id", "response_id", "rater", "rating")}
    frame = pd.DataFrame(rows).astype(texts)
    if in_time:
        frame["rated_at"] = frame["rated_at"].astype(object).where(frame["rated_at"].notna(), None)
    out = Ratings(frame)
    if again is None:
        return out
    repeated = [
        {**row(item, f"person {c}", "annotator", codes[item]), "repeat": 1}
        for c, codes in again.items()
        for item in range(len(people))
        if codes[item] >= 0 and people[item, c] >= 0
    ]
    return replace(out, repeats=pd.DataFrame(repeated).astype(texts))


def section(of: Ratings, **options: Any) -> Section | None:
    report = agreement(of, resamples=0, **options)
    json.dumps(report.to_dict(), allow_nan=False)
    return next((part for part in report.sections if part.name == "rater-quality"), None)


def there(of: Ratings, **options: Any) -> Section:
    part = section(of, **options)
    assert part is not None
    assert all(len(line) <= 98 for line in part.lines)
    for one in part.results:
        assert one.details["comparison"] == "rater-quality" and one.details["rater"]
    return part


def get(part: Section, name: str, rater: str, side: str) -> Estimate:
    found = [
        one
        for one in part.results
        if (one.name, one.details["rater"], one.details["side"]) == (name, rater, side)
    ]
    assert len(found) == 1
    return found[0]


def same(one: Estimate, other: Estimate) -> None:
    for name in ("estimate", "low", "high", "n"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-12, nan_ok=True)


def test_agreement_with_the_others_is_that_with_their_majority() -> None:
    clusters, people, _ = draw(np.random.default_rng(71), 25, "balanced")
    part = there(long(people, clusters))
    others, _ = majority_without(people, 3)
    for c in range(3):
        both = (people[:, c] >= 0) & (others[:, c] >= 0)
        pair = np.stack([people[both, c], others[both, c]], axis=1)
        shared: dict[str, Any] = {"n_categories": 3, "clusters": clusters[both]}
        same(get(part, "agreement", f"person {c}", "others"), raw_agreement(pair, **shared))
        kappa = cohen_kappa(pair[:, 0], pair[:, 1], **shared)
        same(get(part, "cohen_kappa", f"person {c}", "others"), kappa)


def test_on_a_numeric_scale_it_is_distance_from_their_mean() -> None:
    clusters, people, _ = draw(np.random.default_rng(72), 25, "balanced")
    part = there(long(people, clusters, words=NUMBERS), scale="interval")
    numbers = np.array([0.0, 0.5, 1.0, math.nan])[people]
    rest = mean_without(numbers)[:, 1]
    both = ~(np.isnan(numbers[:, 1]) | np.isnan(rest))
    given, other, where = numbers[both, 1], rest[both], clusters[both]
    same(get(part, "mad", "person 1", "others"), mad(given, other, clusters=where))
    plain = pearson(given, other, clusters=where, rng=0, resamples=0)
    same(get(part, "pearson", "person 1", "others"), plain)
    assert get(part, "mad_difference", "person 1", "rest").details["p"] > 0
    assert "mean of the others" in part.notes[0]


def test_the_model_is_fitted_to_the_annotators_alone() -> None:
    clusters, people, judge = draw(np.random.default_rng(73), 40, "balanced")
    part = there(long(people, clusters, judge=judge))
    (row,) = [row for row in part.rows if row.get("model") == "dawid_skene"]
    assert row["classes"] == ["CORRECT", "INCORRECT", "PARTLY"] and row["converged"]
    there_are = (people >= 0).any(axis=1)
    plain = dawid_skene(people[there_are], n_categories=3)
    assert [one["rater"] for one in row["raters"]] == ["person 0", "person 1", "person 2"]
    assert row["raters"][1]["confusion"] == pytest.approx(plain.confusion[1], abs=1e-6)
    numbers = there(long(people, clusters, words=NUMBERS), scale="interval")
    assert not any("model" in row for row in numbers.rows)
    two = there(long(people[:, :2], clusters))
    assert not any("model" in row for row in two.rows)


def test_who_guesses_is_worth_a_look_and_equal_people_are_not() -> None:
    rng = np.random.default_rng(74)
    clusters, people, _ = draw(rng, 60, "balanced")
    clean = there(long(people, clusters))
    assert not any("worth a look" in line for line in clean.lines)
    guesses = rng.integers(0, 3, len(people))
    people[:, 1] = np.where(
        (people[:, 1] >= 0) & (rng.random(len(people)) < 0.4), guesses, people[:, 1]
    )
    part = there(long(people, clusters))
    look = [line for line in part.lines if line.startswith("worth a look")]
    assert len(look) == 1 and "person 1: agrees less than the others (Holm p" in look[0]
    rest = get(part, "agreement_difference", "person 1", "rest")
    assert rest.high < 0 and rest.details["p_holm"] == pytest.approx(3 * rest.details["p"])
    (row,) = [row for row in part.rows if row.get("rater") == "person 1"]
    assert row["worth_a_look"] and row["holm_p"] == rest.details["p_holm"]


def test_time_and_haste_are_seen() -> None:
    rng = np.random.default_rng(75)
    truth = rng.integers(0, 2, 300)
    people = np.stack([truth] * 3, axis=1)
    tired = rng.random(300) < np.linspace(0, 0.5, 300)
    people[tired, 2] = 1 - people[tired, 2]
    seconds = np.full((300, 3), 30.0)
    seconds[:, 0] = 4.0
    part = there(long(people, np.arange(300) // 5, seconds=seconds, in_time=True))
    drift = get(part, "drift_per_100_items", "person 2", "drift")
    assert drift.estimate < -0.1 and drift.high < 0 and drift.details["p_holm"] < 0.001
    text = " ".join(part.lines)
    assert "person 0: 100 % of the items took less than a third of the common median" in text
    assert "person 2: agreement changes with time" in text
    (row,) = [row for row in part.rows if row.get("rater") == "person 0"]
    assert row["median_seconds"] == 4 and row["fast_share"] == 1
    assert any("may be that of the others" in note for note in part.notes)


def test_a_retest_is_agreement_with_oneself() -> None:
    rng = np.random.default_rng(76)
    clusters, people, _ = draw(rng, 25, "balanced")
    second = np.where(rng.random(len(people)) < 0.85, people[:, 0], rng.integers(0, 3, len(people)))
    second[rng.random(len(people)) < 0.5] = -1
    part = there(long(people, clusters, again={0: second}))
    both = (people[:, 0] >= 0) & (second >= 0)
    pair = np.stack([people[both, 0], second[both]], axis=1)
    shared: dict[str, Any] = {"n_categories": 3, "clusters": clusters[both]}
    mine = get(part, "agreement", "person 0", "self")
    same(mine, raw_agreement(pair, **shared))
    assert mine.details["intra"] and mine.raters == ("person 0", "person 0")
    alpha = get(part, "krippendorff_alpha_nominal", "person 0", "self")
    same(alpha, krippendorff_alpha(pair, level="nominal", **shared))
    assert any("person 0 again (intra-annotator): Raw agreement" in line for line in part.lines)
    assert not any(
        one.details["side"] == "self" for one in part.results if one.raters[0] != "person 0"
    )


def test_a_few_repeats_with_other_labels_are_no_other_scale() -> None:
    people = np.tile([[0, 0], [1, 1], [2, 2]], (8, 1))
    second = np.full(24, -1)
    second[0] = 2  # the only repeat says what no first rating of that item says
    part = there(long(people, np.arange(24) // 2, again={0: second}))
    mine = get(part, "agreement", "person 0", "self")
    assert mine.estimate == 0 and mine.n == 1


@pytest.mark.parametrize("with_judge", [True, False])
def test_of_one_annotator_the_retest_is_the_ceiling(with_judge: bool) -> None:
    rng = np.random.default_rng(77)
    clusters, people, judge = draw(rng, 25, "balanced")
    alone = people[:, :1]
    second = np.where(rng.random(len(people)) < 0.9, alone[:, 0], rng.integers(0, 3, len(people)))
    made = long(alone, clusters, judge=judge if with_judge else None, again={0: second})
    part = there(made)
    assert any(note.startswith("one annotator: agreement with themselves") for note in part.notes)
    assert math.isfinite(get(part, "agreement", "person 0", "self").low)


def test_silent_where_there_is_nothing_to_tell_it_by() -> None:
    clusters, people, judge = draw(np.random.default_rng(78), 12, "balanced")
    assert section(long(people[:, :1], clusters, judge=judge)) is None
    apart = people[:, :2].copy()
    apart[::2, 0] = -1
    apart[1::2, 1] = -1
    assert section(long(apart, clusters, judge=judge)) is None


def test_two_annotators_are_not_told_apart() -> None:
    clusters, people, _ = draw(np.random.default_rng(79), 25, "balanced")
    part = there(long(people[:, :2], clusters))
    rest = get(part, "agreement_difference", "person 0", "rest")
    assert math.isnan(rest.estimate) and rest.reason
    assert any("as much the one's as the other's" in note for note in part.notes)


def test_names_can_not_break_the_table() -> None:
    clusters, people, _ = draw(np.random.default_rng(80), 12, "balanced")
    made = long(people, clusters)
    made.frame["rater"] = made.frame["rater"].replace("person 0", "a\u202e" + "long name " * 9)
    part = there(made)
    assert not any("\u202e" in line for line in part.lines)
