"""The panel on terminals of 100 and 80 columns: no row is broken, no figure is lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_agreement_page import busy

from accord.study import RatingsOptions
from accord.validate import AgreementReport, agreement
from accord.validate.agreement_text import NARROW, WIDTH, agreement_lines
from accord.validate.figures import interval
from accord.validate.text_cells import squeezed, width
from small_table import make

FIGURE = re.compile(r"^  (people|judge )  .* \d")


@pytest.fixture(scope="module")
def report() -> AgreementReport:
    family = {"gpt": "g", "s0": "g", "s1": "h", "s2": "h"}
    return agreement(
        busy(), positive="CORRECT", strata=("topic", "system"), family=family, resamples=0
    )


def figures(lines: list[str]) -> list[str]:
    """Every number that is printed with a point."""
    return re.findall(r"−?\d+\.\d+", "\n".join(lines))


@pytest.mark.parametrize("columns", [1, NARROW, 90, WIDTH, 200])
def test_no_line_is_wider(report: AgreementReport, columns: int) -> None:
    lines = agreement_lines(report, columns=columns, every=True)
    assert max(map(width, lines)) <= min(max(columns, NARROW), WIDTH)
    rows = [line for line in lines if FIGURE.match(line)]
    assert len(rows) > 40
    limits = {interval(one) for one in report.main_dicts() if one["level"] == "element"} - {""}
    assert all(any(one in row for row in rows) for one in limits)


def test_narrow_leaves_out_only_the_design(report: AgreementReport) -> None:
    wide, narrow = (agreement_lines(report, columns=columns) for columns in (WIDTH, NARROW))
    head = next(line for line in narrow if line.startswith("Element level"))
    assert head.split() == ["Element", "level:", "labels", "estimate", "95", "%", "interval", "n"]
    assert next(line for line in wide if line.startswith("Element level")).endswith(" deff")
    rows = [
        [re.sub(r" +\d+ +(\d+\.\d\d|–)$", "", line) for line in wide if FIGURE.match(line)],
        [line for line in narrow if FIGURE.match(line)],
    ]
    assert [line.split() for line in rows[0]] == [line.split() for line in rows[1]]
    at = [next(i for i, x in enumerate(found) if x == "By stratum") for found in (wide, narrow)]
    assert figures(wide[at[0] :]) == figures(narrow[at[1] :])


def test_three_people_with_long_names_are_counted() -> None:
    people = {f"a_long_name_of_person_{k}": ["x", "y", "x", "x"] * 6 for k in range(3)}
    lines = agreement_lines(agreement(make(people, dict.fromkeys(people, "annotator"))))
    assert any(line.startswith("  people  3 annotators together ") for line in lines)


def test_clusters_of_two_columns_have_no_name() -> None:
    ratings = make(
        {"a": ["x", "y"] * 20, "b": ["x", "y", "y", "y"] * 10},
        dict.fromkeys(("a", "b"), "annotator"),
        part=[f"p{i // 8}" for i in range(40)],
        page=[f"g{i // 4}" for i in range(40)],
    )
    lines = agreement_lines(agreement(ratings.select(cluster=("part", "page"))))
    assert lines[0] == "40 items rated by people in 10 clusters"


def test_squeezed() -> None:
    table = ["name           n    value", "abc           12      0.5", "longer     1,234       10"]
    assert squeezed(table, 99) == table
    assert squeezed(table, 20) == [
        "name        n  value",
        "abc        12    0.5",
        "longer  1,234     10",
    ]
    out = squeezed([*table, "a sentence that goes on and on"], 18)
    assert out[:3] == ["name       n value", "abc       12   0.5", "longer 1,234    10"]
    assert out[3:] == ["a sentence that", "  goes on and on"]
    assert squeezed(table, 17) == [
        *("name", "        n   value"),
        *("abc", "       12     0.5"),
        *("longer", "    1,234      10"),
    ]
    assert squeezed([], 10) == [] and squeezed([""], 10) == [""]


@pytest.mark.shared_data
@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", ["openqa_eval", "pandalm", "d300"])
def test_real_tables(shared_data: Path, name: str, columns: int) -> None:
    path, scale, options = {
        "openqa_eval": (
            shared_data / "openqa_eval" / "items.csv",
            "nominal",
            RatingsOptions(
                wide=True,
                cluster=("question_id",),
                annotators=("annotator1", "annotator2"),
                judges=("judge_gpt4", "judge_davinci003", "judge_bem"),
                final="human",
            ),
        ),
        "pandalm": (
            shared_data / "pandalm" / "items.csv",
            "nominal",
            RatingsOptions(
                wide=True,
                cluster=("instruction", "input"),
                annotators=("annotator[123]",),
                judges=("judge_*",),
            ),
        ),
        "d300": (
            shared_data / "synthetic" / "d300.csv",
            "ordinal",
            RatingsOptions(
                wide=True,
                cluster=("question_id",),
                annotators=("ann1", "ann2", "ann3"),
                judges=("judge",),
                strata=("domain",),
            ),
        ),
    }[name]
    strata = ("domain",) if name == "d300" else ()
    report = agreement(
        path, options=options, scale=scale, strata=strata, figures="main", resamples=0
    )
    lines = agreement_lines(report, columns=columns)
    assert max(map(width, lines)) <= columns
    assert not any("…" in line for line in lines if columns == 100)


def test_a_terminal_of_80_columns(tmp_path: Path) -> None:
    import fcntl
    import pty
    import struct
    import termios

    path = tmp_path / "labels.csv"
    frame = busy(60).frame[["item_id", "question_id", "rater", "kind", "rating"]]
    frame.to_csv(path, index=False)
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    command = [sys.executable, "-m", "accord.cli", "agree", str(path)]
    with subprocess.Popen(command, stdout=other, stderr=other, env=environment) as started:
        os.close(other)
        out = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # Linux says so when the last writer has closed
                break
            if not part:
                break
            out += part
        assert started.wait(timeout=60) == 0, out
    os.close(main)
    lines = out.decode("utf-8").splitlines()
    assert any("60 items rated by people" in line for line in lines)
    assert max(map(width, lines)) <= 80
