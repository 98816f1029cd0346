"""Three overall figures that differ by known amounts, and tables of two columns."""

from __future__ import annotations

import json
import math

import pytest

from accord.scoring.breakdown import Mean, Sample, aggregate, two_way
from accord.scoring.errors import InputError, SettingsError

SAMPLES = [
    *[Sample("Biology", "L1", "a", value) for value in (1, 1, 1, 1, 1, 1)],
    *[Sample("Biology", "L1", "b", value) for value in (0, 1)],
    *[Sample("Chemistry", "L2", "c", value) for value in (0, 0, 0, 0.5)],
]


def test_the_three_figures_by_hand() -> None:
    """Tasks: a 1, b 1/2, c 1/8. Levels: L1 3/4, L2 1/8.

    Over levels (3/4 + 1/8) / 2 = 7/16; over tasks 13/24; over samples 7.5/12 = 5/8.
    """
    found = aggregate(SAMPLES)
    assert found.figures["task-level-overall"].value == pytest.approx(7 / 16, abs=1e-12)
    assert found.figures["task-macro"].value == pytest.approx(13 / 24, abs=1e-12)
    assert found.figures["sample-micro"].value == pytest.approx(5 / 8, abs=1e-12)
    assert [mean.n for mean in found.figures.values()] == [2, 3, 12]
    assert found.overall == found.figures["task-level-overall"]
    assert aggregate(SAMPLES, primary="sample-micro").overall.value == pytest.approx(5 / 8)
    assert found.levels["L1"].value == pytest.approx(3 / 4, abs=1e-12)
    assert found.tasks[("Chemistry", "L2", "c")].value == pytest.approx(1 / 8, abs=1e-12)
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_order_of_the_samples_changes_nothing() -> None:
    assert aggregate(SAMPLES[::-1]) == aggregate(SAMPLES)


def test_one_task_name_in_two_domains_is_two_tasks() -> None:
    samples = [Sample("Biology", "L1", "a", 1), *[Sample("Physics", "L1", "a", 0)] * 3]
    assert aggregate(samples).figures["task-macro"].value == 0.5
    assert aggregate(samples).figures["sample-micro"].value == 0.25


def test_domain_by_level_counts_each_task_once() -> None:
    table = aggregate(SAMPLES).by_domain_and_level
    # a and b, whatever their sizes.
    assert table.cells[("Biology", "L1")] == Mean(0.75, 2)
    empty = table.cells[("Biology", "L2")]
    assert math.isnan(empty.value) and empty.reason == "nothing to average"
    rows = table.to_rows(("domain", "level"))
    assert {"domain": "Biology", "level": "L2"}.items() <= rows[1].items()
    assert rows[1]["value"] is None
    assert len(rows) == 4 + 2 + 2 + 1


def test_undefined_values_are_left_out_and_counted() -> None:
    found = aggregate([*SAMPLES, Sample("Chemistry", "L2", "c", math.nan)])
    assert found.tasks[("Chemistry", "L2", "c")] == Mean(0.125, 4, left_out=1)
    only = aggregate([Sample("Physics", "L5", "d", math.nan)])
    assert math.isnan(only.overall.value)
    assert only.overall.reason == "no value is defined"


def test_a_pooled_task_has_no_value_a_sample() -> None:
    found = aggregate(SAMPLES, pooled={("Chemistry", "L2", "c"): 0.5})
    # (3/4 + 1/2) / 2 and (1 + 1/2 + 1/2) / 3.
    assert found.figures["task-level-overall"].value == pytest.approx(5 / 8, abs=1e-12)
    assert found.figures["task-macro"].value == pytest.approx(2 / 3, abs=1e-12)
    assert math.isnan(found.figures["sample-micro"].value)
    assert found.figures["sample-micro"].reason == "a pooled task has no value a sample"


def test_what_cannot_be_averaged_is_refused() -> None:
    with pytest.raises(SettingsError, match="aggregate can't be 'mean'"):
        aggregate(SAMPLES, primary="mean")  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(InputError, match="no sample"):
        aggregate([])
    with pytest.raises(InputError, match="has no sample"):
        aggregate(SAMPLES, pooled={("x", "y", "z"): 1})
    with pytest.raises(InputError, match="value 2 has a blank group"):
        two_way([("a", "b", 1), ("a", "", 1)])


def test_an_empty_table() -> None:
    found = two_way([])
    assert (found.rows, found.cells) == ((), {})
    assert found.overall.reason == "nothing to average"
