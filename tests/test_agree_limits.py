"""What ``accord agree`` does at the limits: numbers, texts and tables that nobody expects."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import accord.validate
from accord.cli import main
from accord.scoring.errors import InputError, SettingsError
from accord.study import RatingsOptions, read_ratings
from accord.validate.clusters import unit_mean_weights
from accord.validate.label_sets import number_of
from accord.validate.text_cells import pad, right, width


def table(folder: Path, ratings: list[tuple[str, str, str]], *, weight: str | None = None) -> Path:
    path = folder / "ratings.csv"
    lines = ["item_id,question_id,a,b,j" + (",weight" if weight else "")]
    for at, row in enumerate(ratings):
        more = f",{weight if at % 2 else 1}" if weight else ""
        lines.append(f"i{at},q{at // 2},{','.join(row)}{more}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def agree(path: Path, *more: str) -> int:
    wide = ("--wide", "--annotators", "a,b", "--judges", "j", "--resamples", "199")
    return main(["agree", str(path), *wide, *more])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", ["interval", "ratio"])
def test_ratings_whose_difference_is_no_number_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scale: str
) -> None:
    path = table(tmp_path, [("1e308", "-1e308", "1"), ("-1e308", "1e308", "2")])
    assert agree(path, "--scale", scale) == 2
    said = capsys.readouterr().err
    assert "line 2: '1e308' is beyond 1e+302 (rater 'a')" in said
    assert len(said.splitlines()) == 1


def test_large_ratings_within_the_limit_are_taken(tmp_path: Path) -> None:
    path = table(tmp_path, [("1e302", "-1e302", "1"), ("-1e302", "1e302", "2"), ("1", "2", "3")])
    assert agree(path, "--scale", "interval") == 0
    assert number_of("-1e302") == -1e302
    with pytest.raises(InputError, match="beyond 1e\\+302"):
        number_of("-1.1e302")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", ["1e308", "1e-308"])
def test_weights_beyond_any_design_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], weight: str
) -> None:
    path = table(tmp_path, [("x", "y", "x"), ("y", "y", "x"), ("x", "x", "y")], weight=weight)
    assert agree(path) == 2
    said = capsys.readouterr().err
    assert f"line 3: the weight '{weight}' is not between 1e-50 and 1e+50" in said
    assert len(said.splitlines()) == 1


@pytest.mark.filterwarnings("error")
def test_weights_are_scaled_whatever_their_size() -> None:
    for size in (1e-300, 1.0, 1e308):
        np.testing.assert_allclose(
            unit_mean_weights(np.array([0.5, 1.0, 1.5]) * size, 3), [0.5, 1.0, 1.5]
        )


@pytest.mark.parametrize("text", ["x" * 2_000_000, "字" * 1_000_000])
def test_a_text_of_any_length_is_cut_at_once(text: str) -> None:
    """One pass up to the cut: cutting a character at a time would take days."""
    assert pad(text, 10) == (text[:9] if text[0] == "x" else text[:4]) + "…" + (
        "" if text[0] == "x" else " "
    )
    assert width(right(text, 12)) == 12


@pytest.mark.parametrize(
    ("text", "size", "cut"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("字字字", 6, "字字字"),
        ("字字字a", 6, "字字… "),
        ("abcde\u0301f", 6, "abcde\u0301f"),
        ("abcde\u0301fg", 6, "abcde\u0301…"),
        ("", 3, "   "),
    ],
)
def test_where_a_text_is_cut(text: str, size: int, cut: str) -> None:
    assert pad(text, size) == cut


@pytest.mark.parametrize("column", [r"\input{x}", r"\1", r"\g<0>", "a.b*", "question"])
def test_a_cluster_column_of_any_name_is_called_by_it(tmp_path: Path, column: str) -> None:
    """Its name stands in methods and warnings as it is."""
    path = table(tmp_path, [("x", "x", "x"), ("x", "y", "y")] * 6)
    text = path.read_text(encoding="utf-8").replace("question_id", column)
    path.write_text(text, encoding="utf-8")
    csv = tmp_path / "figures.csv"
    assert agree(path, "--cluster", column, "--csv", str(csv)) == 0
    frame = pd.read_csv(csv)
    kappas = frame[(frame["name"] == "cohen_kappa") & frame["method"].notna()]
    assert set(kappas["unit"]) == {column}
    assert kappas["method"].str.startswith(f"{column} jackknife").all()


@pytest.mark.parametrize("option", ["--csv", "--html", "--latex"])
@pytest.mark.parametrize("through", ["itself", "a link"])
def test_no_output_replaces_the_table_it_is_made_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, through: str
) -> None:
    path = table(tmp_path, [("x", "x", "x"), ("x", "y", "y")] * 6)
    before = path.read_bytes()
    out = path
    if through == "a link":
        out = tmp_path / "link.csv"
        os.symlink(path, out)
    assert agree(path, option, str(out)) == 2
    assert "is read and would be replaced" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_no_output_replaces_the_list_of_items_a_prompt_was_tuned_on(tmp_path: Path) -> None:
    path = table(tmp_path, [("x", "x", "x"), ("x", "y", "y")] * 6)
    items = tmp_path / "tuned.txt"
    items.write_text("i0\ni1\n", encoding="utf-8")
    assert agree(path, "--tuned-on", str(items), "--csv", str(items)) == 2
    assert items.read_text(encoding="utf-8") == "i0\ni1\n"


def test_the_rows_with_errors_do_not_replace_an_audited_table(tmp_path: Path) -> None:
    path = tmp_path / "audit.csv"
    text = "item_id,question_id,rater,verdict\n" + "".join(
        f"i{at},q{at},ann,{'INCORRECT' if at % 4 else 'CORRECT'}\n" for at in range(12)
    )
    path.write_text(text, encoding="utf-8")
    assert main(["audit", str(path), "--csv", str(path)]) == 2
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("seconds", "1e308", "is no duration"),
        ("rated_at", "0001-01-01T00:00:00+14:00", "is no ISO time"),
        ("rated_at", "9999-12-31T23:59:59-12:00", "is no ISO time"),
    ],
)
def test_times_that_no_calendar_holds_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], column: str, value: str, said: str
) -> None:
    path = tmp_path / "long.csv"
    rows = [
        f"i{at},{rater},{kind},x,{value}"
        for at in range(4)
        for rater, kind in (("a", "annotator"), ("j", "judge"))
    ]
    header = f"item_id,rater,kind,rating,{column}"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    assert main(["agree", str(path), "--resamples", "0"]) == 2
    err = capsys.readouterr().err
    assert f"line 2: {column} {value!r} {said}" in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("option", ["rater", "kind", "rating"])
def test_what_is_said_of_long_tables_contradicts_wide(tmp_path: Path, option: str) -> None:
    path = table(tmp_path, [("x", "x", "x"), ("x", "y", "y")] * 6)
    assert agree(path, f"--{option}", "a") == 2
    wide = RatingsOptions(wide=True, annotators=("a", "b"), **{option: "j"})
    with pytest.raises(SettingsError, match=f"--{option} is for long tables"):
        read_ratings(path, wide)


@pytest.mark.parametrize("split", ["question_id=", "question_id=,", "question_id= "])
def test_a_split_without_a_value_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], split: str
) -> None:
    path = table(tmp_path, [("x", "x", "x"), ("x", "y", "y")] * 6)
    assert agree(path, "--split", split) == 2
    assert "names no value" in capsys.readouterr().err


def test_a_full_disk_is_told_in_one_line(tmp_path: Path) -> None:
    path = table(tmp_path, [("x", "x", "x"), ("x", "y", "y")] * 6)
    command = [sys.executable, "-m", "accord.cli", "agree", str(path), "--wide"]
    command += ["--annotators", "a,b", "--judges", "j", "--resamples", "0", "--json"]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "accord: the output can't be written: No space left on device"
    ]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall_tau_b", "ccc", "mad", "bias"])
@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (["a", "b", "c"], "no numbers"),
        ([1j, 2, 3], "no numbers"),
        ([10**400, 1, 2], "no numbers"),
        ([1e308, -1e308, 3.0], "beyond 1e\\+302"),
        ([np.nan, 1.0, 2.0], "missing or infinite"),
    ],
)
def test_scores_that_can_t_be_compared_are_refused(name: str, scores: Any, said: str) -> None:
    coefficient: Any = getattr(accord.validate, name)
    with pytest.raises(InputError, match=said):
        coefficient(scores, [1.0, 5.0, 3.0], clusters=np.arange(3), rng=np.random.default_rng(0))


@pytest.mark.parametrize("option", ["--csv", "--html", "--latex"])
def test_a_read_only_file_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    path = table(tmp_path, [("x", "x", "x"), ("x", "y", "y")] * 6)
    kept = tmp_path / "kept"
    kept.write_text("mine", encoding="utf-8")
    kept.chmod(0o444)
    assert agree(path, option, str(kept)) == 2
    assert "read-only" in capsys.readouterr().err
    assert kept.read_text(encoding="utf-8") == "mine"
    assert not list(tmp_path.glob(".accord-*"))
