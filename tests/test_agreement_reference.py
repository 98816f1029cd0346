"""The agreement panel on the reference data: figures that other people's software computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from accord.study import Ratings, RatingsOptions, read_ratings
from accord.validate import AgreementReport, Estimate, agreement

GOLDEN = json.loads((Path(__file__).parent / "golden" / "cluster.json").read_text())["cases"]


def find(report: AgreementReport, name: str, *raters: str, level: str = "element") -> Estimate:
    found = [
        one
        for one in report.results
        if one.name == name and one.level == level and one.raters == raters
    ]
    assert len(found) == 1, [(one.name, one.raters, one.level) for one in report.results]
    return found[0]


def _synthetic(folder: Path, name: str, judge: str = "judge", **options: Any) -> Ratings:
    return read_ratings(
        folder / "synthetic" / f"{name}.csv",
        RatingsOptions(wide=True, annotators=("ann*",), judges=(judge,), **options),
    )


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "nominal", "ordinal", "interval", "ac1"),
    [
        ("d300", 0.5535405, 0.5598469, 0.5683018, 0.790666098),
        ("d5000", 0.6085364, 0.6306662, 0.6421475, 0.798932564),
    ],
)
def test_people_of_the_synthetic_sets(
    shared_data: Path, name: str, nominal: float, ordinal: float, interval: float, ac1: float
) -> None:
    report = agreement(
        _synthetic(shared_data, name, scale="interval"), scale="interval", resamples=0
    )
    people = ("ann1", "ann2", "ann3")
    for level, value in (("nominal", nominal), ("ordinal", ordinal), ("interval", interval)):
        found = find(report, f"krippendorff_alpha_{level}", *people)
        assert found.estimate == pytest.approx(value, abs=1e-6)
    assert find(report, "gwet_ac1", *people).estimate == pytest.approx(ac1, abs=1e-8)
    if name == "d300":
        kappa = find(report, "cohen_kappa", "ann1", "ann2")
        assert (kappa.n, kappa.estimate) == (252, pytest.approx(0.7179946, abs=1e-6))


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["d300", "d3313"])
def test_judge_against_one_annotator_meets_other_peoples_software(
    shared_data: Path, name: str
) -> None:
    expected = {
        case["id"].split("/")[1]: case["expected"]
        for case in GOLDEN
        if case["id"].startswith(f"{name}/")
    }
    labelled = agreement(_synthetic(shared_data, name), positive="1.0", resamples=0)
    scored = agreement(
        _synthetic(shared_data, name, "judge_score", scale="interval"),
        scale="interval",
        resamples=0,
    )
    names = ("agreement", "sensitivity", "specificity", "precision", "f1", "cohen_kappa")
    for report, judge, figures in (
        (labelled, "judge", names),
        (scored, "judge_score", ("mad", "bias", "pearson")),
    ):
        for figure in figures:
            found = find(report, figure, judge, "ann1")
            wanted = expected[figure]
            assert found.estimate == pytest.approx(wanted["estimate"], abs=1e-9)
            assert found.details["se"] == pytest.approx(wanted["se"], abs=1e-9)
            if "n" in wanted and figure != "f1":
                assert found.n == wanted["n"]
            if "design_effect" in wanted:
                assert found.design_effect == pytest.approx(wanted["design_effect"], abs=1e-9)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("annotators", "value"),
    [((1, 2), 0.8520), ((1, 3), 0.8789), ((2, 3), 0.8617)],
)
def test_pandalm_people_and_unparsable_judge_outputs(
    shared_data: Path, annotators: tuple[int, int], value: float
) -> None:
    ratings = read_ratings(
        shared_data / "pandalm" / "items.csv",
        RatingsOptions(wide=True, annotators=("annotator[123]",), judges=("judge_*",)),
    )
    report = agreement(ratings, resamples=0)
    assert report.notes[0].startswith("no question column: each item is its own cluster")
    pair = tuple(f"annotator{k}" for k in annotators)
    assert find(report, "cohen_kappa", *pair).estimate == pytest.approx(value, abs=5e-5)
    people = find(report, "krippendorff_alpha_nominal", "annotator1", "annotator2", "annotator3")
    assert people.estimate == pytest.approx(0.8642, abs=5e-5)
    judged = find(report, "agreement", "judge_gpt35", "annotator1")
    assert judged.dropped == {"unscored": 25} and judged.n == 999 - 25
    as_ties = agreement(ratings, resamples=0, unscored="category")
    assert find(as_ties, "agreement", "judge_gpt35", "annotator1").n == 999
