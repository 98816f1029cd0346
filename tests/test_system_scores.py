"""One rater's labels alone: the score of each system, and labels that do not count."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accord import cli
from accord.validate import cluster_codes, clustered_proportion

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str | Path) -> tuple[int, str, str]:
        status = cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return call


def _systems(text: str) -> dict[str, dict[str, Any]]:
    payload = json.loads(text)
    assert {r["name"] for r in payload["results"] if r["level"] == "system"} == {"mean_score"}
    return {
        result["details"]["system"]: result
        for result in payload["results"]
        if result["level"] == "system"
    }


FACTS = (
    *("--wide", "--annotators", "label", "--item", "fact_id", "--response", "response_id"),
    *("--system", "system", "--cluster", "topic", "--positive", "S"),
)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("convention", "key", "shown", "said"),
    [
        # irrelevant facts are not supported
        ((), "factscore_published_convention", (42.57, 58.28, 71.57), "every label but 'S'"),
        # irrelevant facts are no facts
        (
            ("--ignore", "IR,IR-SENT"),
            "factscore_IR_dropped",
            (47.39, 62.33, 84.02),
            "2562 ratings are of elements that do not count (--ignore IR,IR-SENT)",
        ),
    ],
)
def test_both_conventions_of_a_fact_score(
    run: Run,
    shared_data: Path,
    convention: tuple[str, ...],
    key: str,
    shown: tuple[float, ...],
    said: str,
) -> None:
    folder = shared_data / "factscore_human"
    reference = json.loads((folder / "reference.json").read_text(encoding="utf-8"))
    status, out, err = run("agree", folder / "facts.csv", *FACTS, *convention, "--json")
    assert (status, err) == (0, "")
    found = _systems(out)
    for system, percent in zip(("InstructGPT", "ChatGPT", "PerplexityAI"), shown, strict=True):
        one = found[system]
        assert 100 * one["estimate"] == pytest.approx(reference[system][key], abs=1e-9)
        assert round(100 * one["estimate"], 2) == percent
        assert one["low"] < one["estimate"] < one["high"] and one["unit"] == "topic"
    assert any(said in note for note in json.loads(out)["notes"])
    text = run("agree", folder / "facts.csv", *FACTS, *convention)[1]
    assert "System level: share correct (no F1), mean of the responses rated by label" in text
    assert said in " ".join(text.split())


TABLE = """item_id,question_id,system,ann
i1,q1,a,yes
i2,q1,a,no
i3,q2,a,odd
i4,q2,a,yes
i5,q3,a,odd
i6,q1,b,no
i7,q2,b,yes
i8,q3,b,yes
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(TABLE)
    return path


ONE = ("--wide", "--annotators", "ann", "--positive", "yes")


def test_a_label_that_does_not_count_is_no_element(run: Run, table: Path) -> None:
    # a: (yes, no), (odd, yes), (odd) -> 1/2, 1/2, 0; with odd left out 1/2, 1, and no third
    every = _systems(run("agree", table, *ONE, "--json")[1])
    assert every["a"]["estimate"] == pytest.approx(1 / 3) and every["a"]["n"] == 3
    some = _systems(run("agree", table, *ONE, "--ignore", "odd", "--json")[1])
    assert some["a"]["estimate"] == pytest.approx(3 / 4) and some["a"]["n"] == 2
    assert some["b"]["estimate"] == every["b"]["estimate"] == pytest.approx(2 / 3)
    by_hand = clustered_proportion(
        np.array([0.5, 0.5, 0.0]), clusters=cluster_codes(["q1", "q2", "q3"])
    )
    assert every["a"]["reason"] == by_hand.reason


def test_a_label_that_does_not_count_is_in_no_agreement(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    rows = [f"i{k},{'odd' if k < 3 else 'yes' if k % 2 else 'no'},yes" for k in range(20)]
    path.write_text("\n".join(["item_id,ann,bob", *rows]) + "\n")
    arguments = ("agree", path, "--wide", "--annotators", "ann,bob", "--json", "--ignore", "odd")
    payload = json.loads(run(*arguments)[1])
    raw = next(r for r in payload["results"] if r["name"] == "agreement")
    assert raw["n"] == 17 and raw["dropped"] == {"label that does not count": 3}
    assert payload["settings"]["ignore"] == ["odd"]


def test_mistakes(run: Run, table: Path, tmp_path: Path) -> None:
    status, _, err = run("agree", table, *ONE, "--ignore", "strange")
    assert status == 2 and "--ignore 'strange' is no label here; labels are no, odd, yes" in err
    # without a system there is nothing to say of one rater
    path = tmp_path / "alone.csv"
    path.write_text("item_id,ann\ni1,yes\ni2,no\n")
    status, _, err = run("agree", path, *ONE)
    assert status == 2 and "nothing to compare: one rater" in err


def test_mean_ratings_of_systems(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rng = np.random.default_rng(0)
    rows = [f"i{k},q{k // 2},{'ab'[k % 2]},{rng.integers(1, 6)}" for k in range(40)]
    path.write_text("\n".join(["item_id,question_id,system,ann", *rows]) + "\n")
    arguments = ("agree", path, "--wide", "--annotators", "ann", "--scale", "interval", "--json")
    found = _systems(run(*arguments)[1])
    given = [int(row.rsplit(",", 1)[1]) for row in rows]
    for system, start in (("a", 0), ("b", 1)):
        one = found[system]
        assert one["estimate"] == pytest.approx(float(np.mean(given[start::2])))
        assert one["details"]["measure"] == "mean_rating" and one["low"] < one["high"]
