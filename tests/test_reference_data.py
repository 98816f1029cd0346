"""Figures of the reference data sets, which other people's software computed, met by ours."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accord import cli
from accord.validate import (
    Estimate,
    audit_counts,
    brennan_prediger,
    clopper_pearson,
    cluster_codes,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    kendall_tau_b,
    krippendorff_alpha,
    macro_f1,
    mcc,
    raw_agreement,
    spearman,
    wilson,
)
from golden_cases import Codes, coded, column

pytestmark = pytest.mark.shared_data
Run = Callable[..., dict[str, Any]]


@cache
def _rows(path: Path) -> tuple[dict[str, str], ...]:
    with path.open(encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))


def _reference(folder: Path, name: str = "reference.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    return found


def _labels(
    rows: Iterable[dict[str, str]], names: list[str], labels: list[str] | None = None
) -> tuple[Codes, list[str]]:
    """Columns of labels as codes, blank = missing, and the labels in order."""
    cells = [[row[name] for name in names] for row in rows]
    seen = labels or sorted({cell for line in cells for cell in line if cell})
    place = {label: code for code, label in enumerate(seen)}
    return np.array([[place.get(cell, -1) for cell in line] for line in cells]), seen


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str | Path) -> dict[str, Any]:
        status = cli.main([*map(str, arguments), "--json"])
        out, err = capsys.readouterr()
        assert (status, err) == (0, "")
        payload: dict[str, Any] = json.loads(out)
        return payload

    return call


def _one(payload: dict[str, Any], name: str, *raters: str) -> dict[str, Any]:
    found = [
        result
        for result in payload["results"]
        if result["name"] == name and (not raters or result["raters"] == list(raters))
    ]
    assert len(found) == 1, [(r["name"], r["raters"]) for r in payload["results"]]
    return dict(found[0])


# -- alpha of 2 to 123 people, ragged, negative too --------------------------------------------

PUBLISHED = [
    *(("newsroom", m) for m in ("Informativeness", "Relevance", "Fluency", "Coherence")),
    *(("recipe", m) for m in ("grammar", "fluency", "verbosity", "structure")),
    *(("recipe", m) for m in ("success", "overall")),
    ("dices350", "safety"),
    ("dices990", "safety"),
    ("inferential", "Sound Reasoning"),
]


def test_every_published_alpha_has_a_test(shared_data: Path) -> None:
    published = _reference(shared_data / "judgebench_ratings", "published.json")
    there = [(file, metric) for file, metrics in published.items() for metric in metrics]
    assert sorted(there) == sorted(PUBLISHED)


@pytest.mark.parametrize(("file", "metric"), PUBLISHED)
def test_published_alpha(shared_data: Path, file: str, metric: str) -> None:
    folder = shared_data / "judgebench_ratings"
    rows = [row for row in _rows(folder / f"{file}.csv") if row["metric"] == metric]
    raters = [name for name in rows[0] if name[0] == "s" and name[1:].isdigit()]
    x, seen = _labels(rows, raters)
    level: Any = "ordinal" if file in ("newsroom", "recipe") else "nominal"
    out = krippendorff_alpha(x, level=level, n_categories=len(seen), clusters=np.arange(len(x)))
    published = _reference(folder, "published.json")[file][metric]
    assert out.estimate == pytest.approx(published, rel=0, abs=1e-12)
    reference = _reference(folder)[f"{file}/{metric}"]
    assert int((x >= 0).sum()) == reference["labels"]
    if file.startswith("dices"):
        # not sure is an answer here, as people gave it
        assert seen == ["No", "Unsure", "Yes"]


@pytest.mark.parametrize(
    ("file", "scale", "name"),
    [
        ("dices350", "nominal", "safety"),
        ("inferential", "nominal", "Sound Reasoning"),
        ("dices990", "nominal", "safety"),
    ],
)
def test_published_alpha_from_the_command_line(
    run: Run, shared_data: Path, file: str, scale: str, name: str
) -> None:
    folder = shared_data / "judgebench_ratings"
    payload = run(
        "agree",
        folder / f"{file}.csv",
        *("--wide", "--item", "item,metric", "--annotators", "s[0-9]*"),
        *("--scale", scale, "--resamples", "0"),
    )
    alpha = _one(payload, f"krippendorff_alpha_{scale}")
    published = _reference(folder, "published.json")[file][name]
    assert alpha["estimate"] == pytest.approx(published, rel=0, abs=1e-12)


@pytest.mark.parametrize("metric", ["Fluency", "Relevance"])
def test_an_alpha_on_an_ordered_scale_from_the_command_line(
    run: Run, shared_data: Path, tmp_path: Path, metric: str
) -> None:
    folder = shared_data / "judgebench_ratings"
    lines = (folder / "newsroom.csv").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "one.csv"
    path.write_text("\n".join([lines[0], *(line for line in lines if f",{metric}," in line)]))
    payload = run(
        "agree",
        path,
        *("--wide", "--item", "item", "--annotators", "s[0-9]*"),
        *("--scale", "ordinal", "--resamples", "0"),
    )
    alpha = _one(payload, "krippendorff_alpha_ordinal", "s1", "s2", "s3")
    published = _reference(folder, "published.json")["newsroom"][metric]
    assert alpha["estimate"] == pytest.approx(published, rel=0, abs=1e-12)
    assert (metric == "Fluency") == (alpha["estimate"] < 0)


# -- three classes, a judge whose output could not always be read ------------------------------


def _pandalm(shared_data: Path) -> tuple[Codes, dict[str, Codes], Codes, dict[str, Any]]:
    rows = _rows(shared_data / "pandalm" / "items.csv")
    people, _ = _labels(rows, [f"annotator{k}" for k in (1, 2, 3)], ["0", "1", "2"])
    judges = {
        name: _labels(rows, [name], ["0", "1", "2"])[0][:, 0]
        for name in ("judge_gpt35", "judge_pandalm7b")
    }
    majority = np.array([np.bincount(row, minlength=3).argmax() for row in people])
    return people, judges, majority, _reference(shared_data / "pandalm")


def test_pandalm_people(shared_data: Path) -> None:
    people, _, majority, reference = _pandalm(shared_data)
    own: dict[str, Any] = {"n_categories": 3, "clusters": np.arange(len(people))}
    for one, two in ((0, 1), (0, 2), (1, 2)):
        pair = f"annotator{one + 1}_annotator{two + 1}"
        kappa = cohen_kappa(people[:, one], people[:, two], **own)
        raw = raw_agreement(people[:, [one, two]], **own)
        assert kappa.estimate == pytest.approx(reference[f"kappa_{pair}"], abs=1e-9)
        assert raw.estimate == pytest.approx(reference[f"agree_{pair}"], abs=1e-9)
    alpha = krippendorff_alpha(people, level="nominal", **own)
    fleiss = fleiss_kappa(people, **own)
    assert alpha.estimate == pytest.approx(reference["alpha_nominal"], abs=1e-9)
    assert fleiss.estimate == pytest.approx(reference["fleiss_kappa"], abs=1e-9)
    # with complete ratings they differ by 1 / (number of ratings) of what is left to 1
    assert alpha.estimate - fleiss.estimate == pytest.approx(
        (1 - fleiss.estimate) / people.size, abs=1e-9
    )
    shares = np.bincount(majority, minlength=3)
    assert {str(k): int(c) for k, c in enumerate(shares)} == reference["majority_distribution"]


@pytest.mark.parametrize("judge", ["judge_gpt35", "judge_pandalm7b"])
def test_pandalm_judges(shared_data: Path, judge: str) -> None:
    _, judges, majority, reference = _pandalm(shared_data)
    own: dict[str, Any] = {"n_categories": 3, "clusters": np.arange(len(majority))}
    expected, codes = reference[judge], judges[judge]
    f1 = macro_f1(codes, majority, **own)
    assert f1.n == expected["n"] and sum(f1.dropped.values()) == 999 - expected["n"]
    assert f1.estimate == pytest.approx(expected["f1_macro"], abs=1e-9)
    kappa = cohen_kappa(codes, majority, **own)
    assert kappa.estimate == pytest.approx(expected["kappa"], abs=1e-9)
    raw = raw_agreement(np.column_stack([codes, majority]), **own)
    assert raw.estimate == pytest.approx(expected["accuracy"], abs=1e-9)


def test_what_could_not_be_read_moves_the_macro_f1_by_four_points(shared_data: Path) -> None:
    _, judges, majority, reference = _pandalm(shared_data)
    codes, own = judges["judge_gpt35"], {"n_categories": 3, "clusters": np.arange(999)}
    left_out = macro_f1(codes, majority, **own)
    as_ties = macro_f1(np.where(codes < 0, 0, codes), majority, **own)
    assert round(100 * left_out.estimate, 2) == 53.31
    assert left_out.dropped == {"a rating is missing": 25}
    assert round(100 * as_ties.estimate, 2) == 57.55 and as_ties.n == 999
    expected = reference["judge_gpt35_unparsed_as_tie"]
    assert as_ties.estimate == pytest.approx(expected["f1_macro"], abs=1e-9)
    kappa = cohen_kappa(np.where(codes < 0, 0, codes), majority, **own)
    assert kappa.estimate == pytest.approx(expected["kappa"], abs=1e-9)


# -- graded answers: two people, an adjudicator, three judges, twelve systems ------------------


@pytest.mark.parametrize("judge", ["judge_gpt4", "judge_davinci003", "judge_bem"])
def test_openqa_judges(shared_data: Path, judge: str) -> None:
    folder = shared_data / "openqa_eval"
    rows, expected = _rows(folder / "items.csv"), _reference(folder)[judge]
    x, _ = _labels(rows, [judge, "human"], ["No", "Yes"])
    own: dict[str, Any] = {
        "n_categories": 2,
        "clusters": cluster_codes([row["question_id"] for row in rows]),
    }
    both = x[(x >= 0).all(axis=1)]
    counts = [int((both == cell).all(axis=1).sum()) for cell in ([1, 1], [1, 0], [0, 1], [0, 0])]
    assert counts == [expected[key] for key in ("tp", "fp", "fn", "tn")]
    raw = raw_agreement(x, unit="item", **own)
    assert (raw.n, raw.estimate) == (expected["n"], pytest.approx(expected["agreement"], abs=1e-9))
    assert [raw.low, raw.high] == pytest.approx(expected["agreement_wilson95"], abs=1e-9)
    # the default is by question, and wider
    default = raw_agreement(x, **own)
    assert default.high - default.low > raw.high - raw.low
    for call, key in ((cohen_kappa, "kappa"), (macro_f1, "macro_f1"), (mcc, "mcc")):
        out: Estimate = call(x[:, 0], x[:, 1], **own)
        assert out.estimate == pytest.approx(expected[key], abs=1e-9)


def test_openqa_people(shared_data: Path) -> None:
    folder = shared_data / "openqa_eval"
    rows, reference = _rows(folder / "items.csv"), _reference(folder)
    x, _ = _labels(rows, ["annotator1", "annotator2", "annotator3"], ["No", "Yes"])
    own: dict[str, Any] = {
        "n_categories": 2,
        "clusters": cluster_codes([row["question_id"] for row in rows]),
    }
    raw = raw_agreement(x[:, :2], **own)
    assert (raw.n, raw.clusters) == (reference["n_double"], reference["n_questions"])
    assert raw.estimate == pytest.approx(reference["pct_agree_a1_a2"], abs=1e-9)
    kappa = cohen_kappa(x[:, 0], x[:, 1], **own)
    assert kappa.estimate == pytest.approx(reference["kappa_a1_a2"], abs=1e-9)
    for table, key in ((x[:, :2], "alpha_nominal_a1_a2"), (x, "alpha_nominal_3cols")):
        alpha = krippendorff_alpha(table, level="nominal", **own)
        assert alpha.estimate == pytest.approx(reference[key], abs=1e-9)


@pytest.mark.parametrize(
    ("judge", "tau"),
    [("em", 0.233), ("f1", 0.339), ("judge_gpt4", 0.781), ("judge_davinci003", 0.760)]
    + [("judge_bem", 0.688)],
)
def test_openqa_ranking_of_systems(shared_data: Path, judge: str, tau: float) -> None:
    """People's score is on all 301 answers, a judge's on the annotated ones that it graded."""
    folder = shared_data / "openqa_eval"
    items = {row["item_id"]: row for row in _rows(folder / "items.csv")}
    rows = _rows(folder / "systems.csv")
    systems = list(dict.fromkeys(row["system"] for row in rows))
    people, judged = [], []
    for system in systems:
        here = [row for row in rows if row["system"] == system]
        graded = [items[row["item_id"]] for row in here if row["item_id"]]
        people.append(sum(item["human"] == "Yes" for item in graded) / len(here))
        if judge in ("em", "f1"):
            judged.append(float(np.mean([float(row[judge]) for row in here])))
        else:
            said = [item[judge] == "Yes" for item in graded if item[judge]]
            judged.append(sum(said) / len(said))
    own: dict[str, Any] = {"clusters": np.arange(len(systems))}
    expected = _reference(folder)[f"system_rank_{judge}"]
    out = kendall_tau_b(people, judged, **own)
    assert out.estimate == pytest.approx(expected["kendall"], abs=1e-9)
    assert round(out.estimate, 3) == tau and out.n == 12
    rho = spearman(people, judged, rng=0, resamples=0, **own)
    assert rho.estimate == pytest.approx(expected["spearman"], abs=1e-9)


# -- audited gold labels -----------------------------------------------------------------------

AUDITED = ["20news", "imdb", "amazon", "mnist", "cifar10", "cifar100", "caltech256", "imagenet"]
AUDITED += ["quickdraw"]


def _votes(shared_data: Path, dataset: str) -> list[dict[str, str]]:
    rows = _rows(shared_data / "gold_audit_label_errors" / "votes.csv")
    return [row for row in rows if row["dataset"] == dataset]


@pytest.mark.parametrize("dataset", AUDITED)
def test_audited_gold_labels(run: Run, shared_data: Path, tmp_path: Path, dataset: str) -> None:
    votes = _votes(shared_data, dataset)
    expected = _reference(shared_data / "gold_audit_label_errors")[dataset]
    path = tmp_path / "checked.csv"
    path.write_text(
        "item_id,verdict\n"
        + "".join(
            f"{k},{'ERROR' if int(vote['for_given']) < 3 else 'OK'}\n"
            for k, vote in enumerate(votes)
        )
    )
    rate = _one(run("audit", path), "error_rate")
    assert (rate["details"]["errors"], rate["n"]) == (expected["errors"], expected["audited"])
    assert [rate["low"], rate["high"]] == pytest.approx(expected["wilson95"], abs=1e-9)
    exact = _one(run("audit", path, "--method", "clopper_pearson"), "error_rate")
    assert [exact["low"], exact["high"]] == pytest.approx(expected["clopper_pearson95"], abs=1e-9)
    same = audit_counts(expected["errors"], expected["audited"])
    assert (same.low, same.high) == (rate["low"], rate["high"])
    for call, key in ((wilson, "wilson95"), (clopper_pearson, "clopper_pearson95")):
        plain = call(expected["errors"], expected["audited"])
        assert [plain.low, plain.high] == pytest.approx(expected[key], abs=1e-9)


@pytest.mark.parametrize("dataset", [name for name in AUDITED if name != "mnist"])
def test_five_votes_on_each_gold_label(shared_data: Path, dataset: str) -> None:
    """Whether the given label holds; mnist has 9 or 10 votes on some, which Fleiss did not have."""
    votes = _votes(shared_data, dataset)
    x = np.array([[1] * int(v["for_given"]) + [0] * (5 - int(v["for_given"])) for v in votes])
    out = fleiss_kappa(x, n_categories=2, clusters=np.arange(len(x)))
    expected = _reference(shared_data / "gold_audit_label_errors")[dataset]
    assert out.estimate == pytest.approx(expected["fleiss_kappa_confirm_or_not"], abs=1e-9)


# -- the synthetic sets ------------------------------------------------------------------------

SYNTHETIC: dict[str, dict[str, float]] = {
    "d300": {
        "nominal": 0.5535405,
        "ordinal": 0.5598469,
        "interval": 0.5683018,
        "gwet_ac1": 0.7906661,
        "fleiss": 0.5463361,
        "conger": 0.5585891,
        "brennan_prediger": 0.7448630,
    },
    "d5000": {
        "nominal": 0.6085364,
        "ordinal": 0.6306662,
        "interval": 0.6421475,
        "gwet_ac1": 0.7989326,
    },
}


@pytest.mark.parametrize("name", sorted(SYNTHETIC))
def test_coefficients_of_three_annotators(shared_data: Path, name: str) -> None:
    rows = _rows(shared_data / "synthetic" / f"{name}.csv")
    x, seen = coded(np.column_stack([column(rows, a) for a in ("ann1", "ann2", "ann3")]))
    own: dict[str, Any] = {
        "n_categories": 3,
        "clusters": cluster_codes([row["question_id"] for row in rows]),
    }
    alphas = {
        level: krippendorff_alpha(x, level=level, values=seen, **own)
        for level in ("nominal", "ordinal", "interval")
    }
    found = {
        **alphas,
        "gwet_ac1": gwet_ac1(x, **own),
        "fleiss": fleiss_kappa(x, **own),
        "conger": conger_kappa(x, **own),
        "brennan_prediger": brennan_prediger(x, **own),
    }
    for key, value in SYNTHETIC[name].items():
        assert found[key].estimate == pytest.approx(value, abs=1e-6)
        assert math.isfinite(found[key].low) and found[key].unit == "question"


PANDALM = ("--wide", "--annotators", "annotator*", "--judges", "judge_gpt35", "--resamples", "0")


@pytest.mark.parametrize(
    ("unscored", "value", "n", "said"),
    [
        ("missing", 53.31, 974, ""),
        ("0", 57.55, 999, "25 replies of a judge that could not be read count as '0'"),
    ],
)
def test_both_macro_f1s_from_the_command_line(
    run: Run, shared_data: Path, unscored: str, value: float, n: int, said: str
) -> None:
    path = shared_data / "pandalm" / "items.csv"
    payload = run("agree", path, *PANDALM, "--unscored", unscored)
    found = _one(payload, "macro_f1", "judge_gpt35", "majority")
    assert (round(100 * found["estimate"], 2), found["n"]) == (value, n)
    assert found["dropped"] == ({"unscored": 25} if unscored == "missing" else {})
    assert payload["settings"]["unscored"] == unscored
    assert any(said in note for note in payload["notes"])


def test_an_instruction_and_its_input_make_170_clusters(run: Run, shared_data: Path) -> None:
    """Most instructions come without an input: the blank is not a missing cluster."""
    path = shared_data / "pandalm" / "items.csv"
    payload = run("agree", path, *PANDALM, "--cluster", "instruction,input")
    people = _one(payload, "agreement", "annotator1", "annotator2", "annotator3")
    assert (people["n"], people["clusters"]) == (999, 170)
    assert people["unit"] == "instruction, input"
    rows = _rows(path)
    blank = sum(not row["input"].strip() for row in rows)
    assert f"blank 'input' of {blank} rows" in " ".join(payload["notes"])
    default = _one(run("agree", path, *PANDALM), "agreement", *people["raters"])
    assert default["clusters"] == 999
    assert default["estimate"] == pytest.approx(people["estimate"], abs=1e-12)


def test_a_row_whose_cluster_is_blank_altogether_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("item_id,a,b,one,two\ni1,x,,1,1\ni2,,y,1,2\ni3,,,2,2\n")
    arguments = ["agree", str(path), "--wide", "--annotators", "one,two", "--cluster"]
    assert cli.main([*arguments, "a,b"]) == 2
    assert "line 4: a, b are all blank" in capsys.readouterr().err
    # one column alone has no blank cell
    assert cli.main([*arguments, "a"]) == 2
    assert "'a' is blank" in capsys.readouterr().err
