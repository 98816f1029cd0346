"""The error rate of a stratified audit: by hand, its coverage, and what it refuses."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, gamma

from accord import cli
from accord.annotate.allocation import allocate
from accord.scoring.errors import InputError, SettingsError
from accord.study import read_table
from accord.validate.audit_strata import StrataSums, gamma_limits, stratified_rate
from accord.validate.audit_table import audit

REPLICATIONS = 2_000
BAR = int(binom.ppf(0.0005, REPLICATIONS, 0.95))


def test_by_hand() -> None:
    # Shares 3/4 and 1/4; p = 3/4 * 2/10 + 1/4 * 4/20 = .2;
    # v = 9/16 * (1 - 10/300) * .16/9 + 1/16 * (1 - 20/100) * .16/19
    found = stratified_rate([2, 4], [10, 20], [300, 100])
    variance = 9 / 16 * (29 / 30) * 0.16 / 9 + 1 / 16 * 0.8 * 0.16 / 19
    added = 3 / 4 * 3 / 40 + 1 / 4 * 1 / 80
    assert found.estimate == pytest.approx(0.2, abs=1e-15)
    low = gamma.ppf(0.025, 0.04 / variance, scale=variance / 0.2)
    mean, spread = 0.2 + added, variance + added**2
    high = gamma.ppf(0.975, mean**2 / spread, scale=spread / mean)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-12)
    assert found.details["largest_to_added"] == pytest.approx(3 / 40 / added, abs=1e-12)
    wide = stratified_rate([2, 4], [10, 20], [300, 100], largest=True)
    assert wide.high == pytest.approx(gamma_limits(0.2, variance, 3 / 40)[1], abs=1e-15)
    assert wide.high > found.high and wide.low == found.low
    assert [row["rate"] for row in found.details["strata"]] == [0.2, 0.2]


def test_no_error_gives_a_bound_and_not_0() -> None:
    found = stratified_rate([0, 0], [50, 50], [9_000, 1_000])
    added = 0.9 * 0.9 / 50 + 0.1 * 0.1 / 50
    assert (found.estimate, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(-math.log(0.025) * added, rel=1e-12)
    assert found.details["one_sided_upper"] == pytest.approx(-math.log(0.05) * added, rel=1e-12)
    assert "fewer than 5" in found.warnings[0]


def test_what_was_read_whole_is_known() -> None:
    found = stratified_rate([1, 3], [10, 30], [10, 30])
    assert found.low == found.estimate == found.high == found.details["one_sided_upper"] == 0.1
    assert found.method == "all answers were checked"
    # A stratum that was read whole adds neither variance nor an unseen error.
    part = StrataSums.of(np.array([1.0, 3.0]), np.array([10.0, 30.0]), np.array([10.0, 90.0]))
    assert part.added == pytest.approx(0.9 * 0.9 / 30, abs=1e-15)
    assert part.variance == pytest.approx(0.81 * (2 / 3) * 0.09 / 29, abs=1e-15)


def test_errors_in_every_answer_of_a_stratum_still_vary() -> None:
    found = stratified_rate([2, 0], [2, 50], [100, 900])
    assert found.estimate == pytest.approx(0.1, abs=1e-15)
    assert 0 < found.low < found.estimate < found.high


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (([0, 0], [1, 50], [100, 900]), "stratum '1' has 1 checked answers, and one shows"),
        (([0, 0], [0, 50], [1, 900]), "stratum '1' has 0 checked"),
        (([3, 0], [2, 50], [100, 900]), "3 errors in 2 checked of 100"),
        (([0, 0], [20, 50], [10, 900]), "0 errors in 20 checked of 10"),
        (([0], [20, 50], [10, 900]), "other shapes"),
    ],
)
def test_refused(counts: tuple[list[int], list[int], list[int]], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        stratified_rate(*counts)


def test_one_answer_that_is_the_whole_stratum_is_enough() -> None:
    assert stratified_rate([1, 0], [1, 50], [1, 99]).estimate == pytest.approx(0.01)


# Coverage: eight strata of 9,045 answers, 481 checked


FLAGGED = np.array([2700, 2300, 1900, 1240, 330, 260, 195, 120])
RATES = np.array([0.006, 0.008, 0.005, 0.01, 0.15, 0.12, 0.20, 0.10])
HALF = np.array([*allocate(FLAGGED[:4].tolist(), 241), *allocate(FLAGGED[4:].tolist(), 240)])
SIZES = np.array([3000, 2000, 1500, 1000, 700, 445, 250, 150])


@pytest.mark.parametrize(
    ("sizes", "rates", "checked"),
    [
        (FLAGGED, RATES, HALF),
        (SIZES, np.full(8, 0.002), np.array(allocate(SIZES.tolist(), 481))),
    ],
    ids=["half on flagged", "rare"],
)
def test_coverage(sizes: Any, rates: Any, checked: Any) -> None:
    wrong = np.rint(sizes * rates).astype(int)
    truth = wrong.sum() / sizes.sum()
    rng = np.random.default_rng(20261130)
    found = rng.hypergeometric(wrong, sizes - wrong, checked, size=(REPLICATIONS, 8))
    hits = normal = 0
    for errors in found:
        sums = StrataSums.of(errors.astype(float), checked.astype(float), sizes.astype(float))
        low, high = gamma_limits(sums.rate, sums.variance, sums.added)
        hits += low <= truth <= high
        normal += abs(sums.rate - truth) <= 1.96 * math.sqrt(sums.variance)
    assert hits >= BAR
    assert normal < BAR, "the control must miss the bar"


# From a table


def write(folder: Path, rows: list[str]) -> Path:
    path = folder / "audit.csv"
    path.write_text("item_id,verdict,weight,type\n" + "\n".join(rows) + "\n")
    return path


def rows_of(errors: int, checked: int, weight: float, stratum: str) -> list[str]:
    return [
        f"{stratum}-{k},{'ERROR' if k < errors else 'OK'},{weight},{stratum}"
        for k in range(checked)
    ]


def test_a_table_with_strata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, [*rows_of(2, 10, 30, "a"), *rows_of(4, 20, 5, "b"), "b-20,unsure,5,b"])
    report = audit(read_table(path), strata=["type"])
    # The open answer of b is one of its 105, and not one of the 20 that are counted.
    expected = stratified_rate([2, 4], [10, 20], [300, 105])
    assert report.result.low == expected.low and report.result.high == expected.high
    assert report.beside is not None and report.largest is None
    assert report.result.dropped == {"cannot verify": 1}
    assert cli.main(["audit", str(path), "--strata", "type"]) == 0
    out = capsys.readouterr().out
    assert "  a: 2 in 10 of 300, 20.00 % [" in out and "stratified gamma interval" in out


def test_the_largest_weight_is_offered_where_errors_could_hide(tmp_path: Path) -> None:
    many = [line for k in range(12) for line in rows_of(1, 40, 2, f"s{k}")]
    path = write(tmp_path, [*many, *rows_of(0, 2, 60, "rare")])
    report = audit(read_table(path), strata=["type"])
    assert report.largest is not None and report.result.details["largest_to_added"] > 5
    assert report.largest.high > report.result.high
    assert report.largest in report.results()


def test_strata_that_do_not_fit(tmp_path: Path) -> None:
    path = write(tmp_path, [*rows_of(1, 10, 30, "a"), "a10,OK,31,a"])
    with pytest.raises(InputError, match="line 12: the stratum 'a' has another weight above"):
        audit(read_table(path), strata=["type"])
    with pytest.raises(SettingsError, match="there are strata"):
        audit(read_table(write(tmp_path, rows_of(1, 10, 3, "a"))), strata=["type"], population=30)
    bare = tmp_path / "bare.csv"
    bare.write_text("item_id,verdict,type\ni1,OK,a\n")
    with pytest.raises(InputError, match="no column 'weight'"):
        audit(read_table(bare), strata=["type"])
    clustered = tmp_path / "clustered.csv"
    clustered.write_text(
        "item_id,question_id,verdict,weight,type\n"
        + "".join(f"i{k},q{k // 2},OK,2,a\n" for k in range(20))
    )
    with pytest.raises(SettingsError, match="add --unit item if they were drawn one by one"):
        audit(read_table(clustered), strata=["type"])
    report = audit(read_table(clustered), strata=["type"], unit="item")
    assert report.result.estimate == 0
