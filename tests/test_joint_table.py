"""Scores of people by scores of the judge: counts by hand, when it is made, what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from accord.study import Ratings
from accord.validate.coding import code_ratings
from accord.validate.joint_table import joint_section, joint_table
from accord.validate.panel_builder import PanelBuilder
from accord.validate.panel_settings import PanelSettings
from accord.validate.section import View
from small_table import make

KINDS = {"person": "annotator", "gpt": "judge"}


def view_of(ratings: Ratings, **options: Any) -> View:
    settings = PanelSettings(resamples=0, **options)
    return PanelBuilder(ratings, code_ratings(ratings, settings), settings).fill()


def test_counts_by_hand() -> None:
    people: Any = np.array([0, 0, 0.5, 1, 1, 1.0])
    judge = np.array([0, 1, 0.5, 1, 1, 0.5])
    table = joint_table(judge, people)
    assert table is not None
    assert table.rows == table.columns == ("0", "0.5", "1")
    assert table.counts.tolist() == [[1, 0, 1], [0, 1, 0], [0, 1, 2]]
    assert table.distinct == (3, 3) and table.commonest == (1.0, 1.0)
    assert table.share == (0.5, 0.5)
    assert table.equal == pytest.approx(4 / 6)


def test_people_are_rows() -> None:
    table = joint_table(np.array([2.0, 2.0]), np.array([1.0, 3.0]))
    assert table is not None and table.rows == ("1", "3") and table.columns == ("2",)


def test_made_only_where_the_scale_is_coarse_or_skewed() -> None:
    fine: Any = np.linspace(0, 1, 50)
    assert joint_table(fine, fine[::-1].copy()) is None
    assert joint_table(np.array([]), np.array([])) is None
    # 12 distinct scores on one side are few, 13 are not
    dozen: Any = np.tile(np.arange(12.0), 4)
    more: Any = np.tile(np.arange(13.0), 3)
    assert joint_table(fine[:48], dozen) is not None
    assert joint_table(np.concatenate([fine[:39]]), more) is None
    # one score with more than 40 %
    skewed: Any = np.where(np.arange(50) < 20, 1.0, fine)  # 20 + the last one, 42 %
    assert joint_table(skewed, fine) is not None
    skewed[0] = skewed[1] = 0.001  # 38 %
    assert joint_table(skewed, fine) is None


def test_a_long_side_is_cut_into_bands_and_its_ends_stand_alone() -> None:
    people: Any = np.concatenate([np.zeros(30), np.linspace(0.01, 0.99, 49), np.ones(41)])
    judge = (people > 0.5).astype(float)
    table = joint_table(judge, people)
    assert table is not None
    assert table.rows == ("0", "0–0.2", "0.2–0.4", "0.4–0.6", "0.6–0.8", "0.8–1", "1")
    assert table.counts.sum() == people.size
    assert table.counts[0].sum() == 30 and table.counts[-1].sum() == 41
    inner = np.histogram(people[30:79], np.linspace(0, 1, 6))[0]
    assert table.counts[1:-1].sum(axis=1).tolist() == inner.tolist()


def test_rounding_makes_no_new_score() -> None:
    people = np.array([0.1 + 0.2, 0.3, -0.0, 0.0])
    table = joint_table(people, people[::-1].copy())
    assert table is not None and table.rows == ("0", "0.3")


def numbers(n: int = 60, seed: int = 1) -> Ratings:
    rng = np.random.default_rng(seed)
    true = rng.integers(1, 6, n)
    near = np.clip(true + rng.integers(-1, 2, n), 1, 5)
    return make({"person": [str(x) for x in true], "gpt": [str(x) for x in near]}, KINDS)


def test_beside_a_coarse_numeric_scale() -> None:
    section = joint_section(view_of(numbers(), scale="interval"))
    assert section is not None
    (row,) = section.rows
    assert row["rows"] == ["1", "2", "3", "4", "5"] and row["n"] == 60
    assert row["comparison"] == "judge-final" and row["level"] == "element"
    assert section.notes[0].startswith("gpt: mean gives 5 distinct scores and gpt gives 5")
    assert "both give the same score to" in section.notes[0]
    assert all(len(line) <= 98 for line in section.lines)


def test_labels_have_their_confusion_already() -> None:
    rng = np.random.default_rng(2)
    words = np.array(["CORRECT", "INCORRECT"])
    labels = {name: words[rng.integers(0, 2, 40)].tolist() for name in KINDS}
    assert joint_section(view_of(make(labels, KINDS))) is None
    each = make(labels, KINDS, response_id=[f"r{i}" for i in range(40)])
    assert joint_section(view_of(each)) is None
    # responses of several verdicts have scores between
    pairs = make(labels, KINDS, response_id=[f"r{i // 2}" for i in range(40)])
    section = joint_section(view_of(pairs))
    assert section is not None and section.rows[0]["measure"] == "share_correct"
    assert section.rows[0]["n"] == 20


def test_wide_tables_and_hostile_names() -> None:
    rng = np.random.default_rng(3)
    evil = "g\u202e\x1b[31m\n" + "x" * 90
    scores = [f"{x:.7f}" for x in rng.random(12) * 1e6]
    picks = {name: [scores[i] for i in rng.integers(0, 12, 60)] for name in ("person", evil)}
    kinds = {"person": "annotator", evil: "judge"}
    section = joint_section(view_of(make(picks, kinds), scale="interval"))
    assert section is not None
    assert all(len(line) <= 98 for line in section.lines)
    assert not any(c in line for line in section.lines for c in "\u202e\x1b\n")
    assert len(section.rows[0]["counts"]) == 12
