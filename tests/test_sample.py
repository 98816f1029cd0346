"""Samples: who is drawn, with what probability, and that it is written down."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from accord import cli
from accord.annotate.sample import allocate, draw, draw_sample
from accord.scoring.errors import SettingsError, StudyError
from accord.study import Study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """12 questions with 1 to 3 given pairs each in two categories: 24 items."""
    rows = ["question_id,question,reference,predicted,system,category"]
    for q in range(12):
        for k in range(1 + q % 3):
            category = "rare" if q < 3 else "common"
            rows.append(f"q{q},Question {q}?,ref {q} {k},pred {q} {k},sys{k},{category}")
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    study = Study.create(tmp_path / "study")
    study.add_pairs(tmp_path / "pairs.csv", strata=["category"])
    return study


def test_allocation_sums_is_bounded_and_leaves_no_stratum_out() -> None:
    rng = np.random.default_rng(1)
    for _ in range(500):
        sizes = [int(size) for size in rng.integers(1, 40, size=rng.integers(1, 9))]
        n = int(rng.integers(len(sizes), sum(sizes) + 1))
        counts = allocate(sizes, n)
        assert sum(counts) == n
        assert all(1 <= count <= size for count, size in zip(counts, sizes, strict=True))
        for count, size in zip(counts, sizes, strict=True):
            share = n * size / sum(sizes)
            # Beyond the forced ones nobody is more than one away from the exact share, unless the
            # forced ones had to be taken from it.
            forced = sum(n * s / sum(sizes) < 1 for s in sizes)
            assert abs(count - share) <= 1 + forced


@pytest.mark.parametrize("by", [(), ("category",)])
def test_recorded_probabilities_are_the_frequencies(by: tuple[str, ...]) -> None:
    strata = {f"i{k}": (("a",) if k < 4 else ("b",)) if by else () for k in range(20)}
    draws = 2_000
    hits = dict.fromkeys(strata, 0)
    for seed in range(draws):
        drawn = draw(strata, 7, np.random.default_rng(seed))
        assert len(drawn) == 7
        for unit in drawn:
            hits[unit] += 1
    probability = draw(strata, 20, np.random.default_rng(0)) and {
        # 7 of 20; by stratum 7 * 4/20 = 1.4 -> 1 of 4, and 6 of 16.
        unit: 0.35 if not by else (1 / 4 if stratum == ("a",) else 6 / 16)
        for unit, stratum in strata.items()
    }
    for seed in range(20):
        for unit, pi in draw(strata, 7, np.random.default_rng(seed)).items():
            assert pi == pytest.approx(probability[unit], abs=1e-15)
    # 20 units at once: 0.0005 / 20 on either side.
    for unit, count in hits.items():
        low, high = (float(binom.ppf(q, draws, probability[unit])) for q in (2.5e-5, 1 - 2.5e-5))
        assert low <= count <= high, (unit, count)


def test_a_sample_is_seeded_recorded_and_in_shuffled_order(study: Study) -> None:
    first = draw_sample(study, n=10, seed=3, sample_id="a")
    assert study.ledger.sample("a") == first
    assert len(first.items) == len({item for item, _ in first.items}) == 10
    assert {pi for _, pi in first.items} == {10 / 24}
    assert first.design == (
        "10 of 24 items were drawn without replacement as a simple random sample, with seed 3."
    )
    order = [item.item_id for item in study.items()]
    places = [order.index(item) for item, _ in first.items]
    assert places != sorted(places), "the order tells the order of the study"
    assert draw_sample(study, n=10, seed=4, sample_id="b").items != first.items


def test_stratified_sample(study: Study) -> None:
    sample = draw_sample(study, n=8, by=["category"])
    category = dict(
        zip([i.item_id for i in study.items()], ["rare"] * 6 + ["common"] * 18, strict=True)
    )
    counts = {
        name: [pi for i, pi in sample.items if category[i] == name] for name in ("rare", "common")
    }
    assert counts == {"rare": [2 / 6] * 2, "common": [6 / 18] * 6}
    assert "stratified by category (2 strata" in sample.design


def test_whole_questions(study: Study) -> None:
    sample = draw_sample(study, questions=5)
    question = {item.item_id: item.question_id for item in study.items()}
    drawn = {question[item] for item, _ in sample.items}
    assert len(drawn) == 5
    assert {item for item, q in question.items() if q in drawn} == {i for i, _ in sample.items}
    assert {pi for _, pi in sample.items} == {5 / 12}
    assert sample.design.startswith("5 of 12 questions, with all of their ")


def test_all_items_are_the_default(study: Study) -> None:
    sample = draw_sample(study)
    assert len(sample.items) == 24 and {pi for _, pi in sample.items} == {1.0}
    assert draw_sample(study).sample_id == "s2"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 25}, "the study has 24 items"),
        ({"n": 0}, "give --n from 1 to 24"),
        ({"questions": 13}, "the study has 12 questions"),
        ({"n": 3, "questions": 3}, "give one of them"),
        ({"n": 5, "by": ["colour"]}, "'colour', which is no column; use category, question_id"),
        ({"n": 2, "by": ["question_id"]}, "makes 12 strata; draw at least 12"),
        ({"questions": 4, "by": ["system"]}, "differs within question"),
    ],
)
def test_what_cannot_be_drawn(study: Study, options: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=None) as caught:
        draw_sample(study, **options)  # type: ignore[arg-type]  # a table of keyword arguments
    assert words in str(caught.value)
    assert study.ledger.samples() == []


def test_names_are_not_used_twice_and_an_empty_study_has_no_sample(
    study: Study, tmp_path: Path
) -> None:
    draw_sample(study, sample_id="mine")
    with pytest.raises(StudyError, match="there is a sample 'mine' already"):
        draw_sample(study, sample_id="mine")
    with (
        Study.create(tmp_path / "empty") as empty,
        pytest.raises(StudyError, match="no responses and no pairs"),
    ):
        draw_sample(empty)


def test_command(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    study.close()
    assert cli.main(["sample", str(study.path), "--n", "6", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["results"][0]
    assert result["sample"] == "s1" and result["items"] == 6
    assert cli.main(["sample", str(study.path), "--n", "99"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_it_is_for_is_kept(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sample", str(study.path), "--for", "audit", "--n", "6"]) == 0
    assert study.ledger.sample("s1").purpose == "audit"
    capsys.readouterr()
    assert cli.main(["sample", str(study.path), "--for", "fun"]) == 2
    assert "use agreement, audit, pilot" in capsys.readouterr().err
