"""Held-out labels beside those a prompt was tuned on: by hand, coverage, what is left."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from accord.scoring.errors import SettingsError
from accord.study import Ratings
from accord.validate import AgreementReport, Estimate, agreement, cohen_kappa
from accord.validate.tuning import kappa_difference
from small_table import make

KINDS = {"ann1": "annotator", "ann2": "annotator", "gpt": "judge"}


def tuned_table(
    questions: int = 60, tuned: int = 20, errors: tuple[float, float] = (0.02, 0.25), seed: int = 1
) -> tuple[Ratings, list[str]]:
    """Two items a question; the judge errs less on the first questions, which are split ``dev``."""
    rng = np.random.default_rng(seed)
    labels: dict[str, list[str]] = {name: [] for name in KINDS}
    split = []
    for question in range(questions):
        mine = "dev" if question < tuned else "test"
        for _ in range(2):
            right = rng.random() < 0.5
            split.append(mine)
            for rater in KINDS:
                rate = errors[mine == "test"] if rater == "gpt" else 0.0
                wrong = rng.random() < rate
                labels[rater].append("CORRECT" if right != wrong else "INCORRECT")
    return make(labels, KINDS, split=split), split


def of(report: AgreementReport, name: str, split: str) -> Estimate:
    (section,) = [one for one in report.sections if one.name == "tuning"]
    (found,) = [
        one for one in section.results if one.name == name and one.details["split"] == split
    ]
    return found


def test_the_panel_is_of_what_was_held_out() -> None:
    ratings, split = tuned_table()
    report = agreement(ratings, split="split", resamples=0)
    # people say the same, so people's label is ann1's
    frame = ratings.frame.assign(same=0.0)
    wide = frame.pivot(index="item_id", columns="rater", values="rating")
    same = wide["gpt"] == wide["ann1"]
    where = frame.drop_duplicates("item_id").set_index("item_id")["split"]
    held, tuned = same[where[same.index] == "test"], same[where[same.index] == "dev"]
    main = next(
        one
        for one in report.results
        if one.name == "agreement" and one.raters == ("gpt", "majority")
    )
    assert main.n == report.items == 80
    assert main.estimate == pytest.approx(held.mean())
    assert of(report, "agreement", "held out").estimate == main.estimate
    assert of(report, "agreement", "held out").low == main.low
    one = of(report, "agreement", "tuned on")
    assert one.estimate == pytest.approx(tuned.mean()) and one.n == 40
    gap = of(report, "agreement_difference", "difference")
    assert gap.estimate == pytest.approx(held.mean() - tuned.mean())
    assert gap.high < 0 and gap.details["comparison"] == "judge-final"
    kappa = of(report, "kappa_difference", "difference")
    assert kappa.estimate == pytest.approx(
        of(report, "cohen_kappa", "held out").estimate
        - of(report, "cohen_kappa", "tuned on").estimate
    )
    (section,) = [one for one in report.sections if one.name == "tuning"]
    assert "all other figures are of the 80 held-out items" in section.notes[0]
    assert len(section.notes) == 1 and all(len(line) <= 98 for line in section.lines)
    assert report.settings["split"] == "split" and report.settings["tuned_on"] is None
    plain = report.result_dicts()
    assert {"tuned on", "held out", "difference"} <= {one.get("split") for one in plain}


def test_questions_in_both_are_told_and_no_label_tuned_on() -> None:
    ratings, _ = tuned_table()
    one_of_each = {f"i{2 * question}" for question in range(20)}
    report = agreement(ratings, tuned_on=one_of_each, resamples=0)
    (section,) = [one for one in report.sections if one.name == "tuning"]
    assert "20 questions have items of both" in section.notes[1]
    assert report.settings["tuned_on"] == "20 items"
    # only the judge rated what the prompt was tuned on
    frame = ratings.frame
    people = frame["kind"] == "annotator"
    unseen = Ratings(frame[~(people & (frame["split"] == "dev"))].reset_index(drop=True))
    none = agreement(unseen, split="split", resamples=0)
    (section,) = [one for one in none.sections if one.name == "tuning"]
    assert "no label by people is one that the prompt was tuned on" in section.notes
    assert math.isnan(of(none, "agreement", "tuned on").estimate)
    assert of(none, "agreement_difference", "difference").reason == "nothing to compare with"


def test_nothing_held_out_is_refused() -> None:
    ratings, _ = tuned_table()
    with pytest.raises(SettingsError, match="nothing is held out"):
        agreement(ratings, split="split=dev,test", resamples=0)


def test_without_the_option_nothing_is_set_apart() -> None:
    ratings, _ = tuned_table()
    report = agreement(ratings, resamples=0)
    assert report.items == 120 and "tuning" not in {one.name for one in report.sections}


def test_a_frame_is_read_with_its_columns() -> None:
    ratings, _ = tuned_table()
    names = ["item_id", "question_id", "rater", "kind", "rating", "split"]
    frame: pd.DataFrame = ratings.frame[names]
    read = agreement(frame, split="split", strata=("split",), resamples=0)
    assert of(read, "agreement", "held out").n == 80
    assert {one.details["stratum"] for one in read.sections[0].results} == {"test"}


def test_numbers() -> None:
    rng = np.random.default_rng(3)
    true = rng.uniform(1, 5, 120)
    wide = np.where(np.arange(120) < 40, 0.1, 0.8)
    scores = {
        "ann1": [f"{x:.3f}" for x in true],
        "gpt": [f"{x:.3f}" for x in true + rng.normal(0, 1, 120) * wide],
    }
    split = ["dev"] * 40 + ["test"] * 80
    ratings = make(scores, KINDS, split=split)
    report = agreement(ratings, split="split", scale="interval", resamples=0)
    assert of(report, "mad_difference", "difference").low > 0.2
    assert of(report, "bias", "tuned on").n == 40
    assert of(report, "bias_difference", "difference").n == 120


def test_kappa_by_hand() -> None:
    # first part 12 items: agree on 5 + 5, differ on 2 (one each way): po 5/6, pe 1/2, κ 2/3
    # second part 12: agree on 3 + 3, differ on 6 (three each way): po 1/2, pe 1/2, κ 0
    a = np.array([0] * 5 + [1] * 5 + [0, 1] + [0] * 3 + [1] * 3 + [0] * 3 + [1] * 3)
    b = np.array([0] * 5 + [1] * 5 + [1, 0] + [0] * 3 + [1] * 3 + [1] * 3 + [0] * 3)
    first = np.arange(24) < 12
    one = kappa_difference(a, b, first, n_categories=2, clusters=np.arange(24))
    assert one.estimate == pytest.approx(2 / 3, abs=1e-12)
    assert one.details["first"] == pytest.approx(2 / 3) and one.details["rest"] == pytest.approx(0)
    assert one.low < one.estimate < one.high <= 2
    assert "a part rests on 2 disagreeing items (fewer than 10)" in one.warnings
    turned = kappa_difference(a, b, ~first, n_categories=2, clusters=np.arange(24))
    assert turned.estimate == pytest.approx(-2 / 3)
    assert turned.high == pytest.approx(-one.low)


def test_kappa_as_the_two_kappas_with_weights_and_shared_questions() -> None:
    rng = np.random.default_rng(5)
    a, g = rng.integers(0, 3, 150), rng.integers(0, 30, 150)
    b = np.where(rng.random(150) < 0.7, a, rng.integers(0, 3, 150))
    first, w = rng.random(150) < 0.4, rng.uniform(1, 3, 150)
    one = kappa_difference(a, b, first, n_categories=3, clusters=g, weights=w)
    parts = [
        cohen_kappa(a[part], b[part], n_categories=3, clusters=g[part], weights=w[part]).estimate
        for part in (first, ~first)
    ]
    assert one.estimate == pytest.approx(parts[0] - parts[1], abs=1e-12)


def test_kappa_undefined() -> None:
    g = np.arange(24)
    zero = np.zeros(24, dtype=int)
    half = g < 12
    flat = kappa_difference(zero, zero, half, n_categories=2, clusters=g)
    assert math.isnan(flat.estimate)
    assert flat.reason == "one category only in a part: κ is undefined"
    alone = kappa_difference(zero, zero, g >= 0, n_categories=2, clusters=g)
    assert alone.reason == "nothing to compare with"
    nothing: Any = np.empty(0, dtype=int)
    assert kappa_difference(nothing, nothing, nothing, n_categories=2, clusters=nothing).reason == (
        "no items"
    )
    few = kappa_difference(g % 2, g // 2 % 2, half, n_categories=2, clusters=g // 2)
    assert math.isnan(few.low) and few.reason is not None and "in a part" in few.reason


# Measured with 1,000 studies: 94.3 %
def test_the_interval_of_the_kappa_difference_covers() -> None:
    rng = np.random.default_rng(430)
    hits = 0
    for _ in range(400):
        a, b, first, g = kappa_study(rng)
        one = kappa_difference(a, b, first, n_categories=2, clusters=g)
        hits += one.low <= 0 <= one.high
    assert hits >= stats.binom.ppf(0.0005, 400, 0.95)


def kappa_study(rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    """15 questions tuned on and 45 held out, five items each; errors come together in questions."""
    g = np.repeat(np.arange(60), 5)
    rate = rng.beta(0.12 * 4, 0.88 * 4, 60)[g]  # ICC 0.2
    truth = (rng.random(300) < 0.6).astype(int)
    judge = np.where(rng.random(300) < rate, 1 - truth, truth)
    return judge, truth, g < 15, g
