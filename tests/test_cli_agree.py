"""``accord agree``: figures computed by others, a mistake in one line, nothing half-written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accord import cli
from accord.study import read_table

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """The command through ``main``, which maps exit statuses."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        status = cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return call


LONG = "item_id,question_id,rater,kind,rating\n" + "".join(
    f"i{k},q{k // 3},{rater},{kind},{'CORRECT' if (k * step) % 7 < 4 else 'INCORRECT'}\n"
    for k in range(60)
    for rater, kind, step in (("ann", "annotator", 1), ("bob", "annotator", 3), ("gpt", "judge", 5))
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(LONG)
    return path


OPENQA = (
    *("--wide", "--item", "item_id", "--cluster", "question_id"),
    *("--annotators", "annotator1,annotator2"),
    *("--judges", "judge_gpt4,judge_davinci003,judge_bem"),
    *("--final", "human", "--positive", "Yes", "--json"),
)


def _one(payload: dict[str, Any], name: str, *raters: str) -> dict[str, Any]:
    found = [
        result
        for result in payload["results"]
        if result["name"] == name and result["raters"] == list(raters)
    ]
    assert len(found) == 1
    return dict(found[0])


@pytest.mark.shared_data
def test_openqa_eval(run: Run, shared_data: Path) -> None:
    """Figures: reference.json of the data set (scipy, statsmodels); intervals: the defaults."""
    path = shared_data / "openqa_eval" / "items.csv"
    status, out, err = run("agree", path, *OPENQA)
    assert (status, err) == (0, "")
    payload = json.loads(out)
    assert payload["command"] == "agree" and payload["input"]["rows"] == 1490
    reference = json.loads((shared_data / "openqa_eval" / "reference.json").read_text())

    people = _one(payload, "agreement", "annotator1", "annotator2")
    assert (people["n"], people["dropped"], people["comparison"]) == (
        1483,
        {"missing": 7},
        "people",
    )
    assert people["estimate"] == pytest.approx(reference["pct_agree_a1_a2"], abs=1e-9)
    kappa = _one(payload, "cohen_kappa", "annotator1", "annotator2")
    assert kappa["estimate"] == pytest.approx(reference["kappa_a1_a2"], abs=1e-9)
    alpha = _one(payload, "krippendorff_alpha_nominal", "annotator1", "annotator2")
    assert alpha["estimate"] == pytest.approx(reference["alpha_nominal_a1_a2"], abs=1e-9)

    gpt4 = _one(payload, "agreement", "judge_gpt4", "human")
    assert (gpt4["n"], gpt4["dropped"], gpt4["clusters"]) == (1488, {"unscored": 2}, 301)
    assert gpt4["comparison"] == "judge-final" and gpt4["unit"] == "question"
    assert (round(gpt4["low"], 4), round(gpt4["high"], 4)) == (0.8224, 0.8707)
    assert round(gpt4["design_effect"], 2) == 1.74
    for judge in ("judge_gpt4", "judge_davinci003", "judge_bem"):
        expected = reference[judge]
        counts = _one(payload, "confusion", judge, "human")
        assert [counts[key] for key in ("tp", "fp", "fn", "tn")] == [
            expected[key] for key in ("tp", "fp", "fn", "tn")
        ]
        assert counts["labels"] == ["Yes", "No"] and counts["n"] == expected["n"]
        # people in rows, the judge in columns
        assert counts["counts"] == [
            [expected["tp"], expected["fn"]],
            [expected["fp"], expected["tn"]],
        ]
        for name, key in (
            ("agreement", "agreement"),
            ("cohen_kappa", "kappa"),
            ("precision", "precision_yes"),
            ("sensitivity", "recall_yes"),
            ("f1", "f1_yes"),
        ):
            found = _one(payload, name, judge, "human")
            assert found["estimate"] == pytest.approx(expected[key], abs=1e-9)
    kappas = [
        round(_one(payload, "cohen_kappa", judge, "human")["estimate"], 4)
        for judge in ("judge_gpt4", "judge_davinci003", "judge_bem")
    ]
    assert kappas == [0.6953, 0.6745, 0.6157]
    undefined = [result for result in payload["results"] if result["level"] == "response"]
    assert all(r["estimate"] is None and "--response" in r["reason"] for r in undefined)

    status, out, _ = run("agree", path, *OPENQA, "--unit", "item")
    item = _one(json.loads(out), "agreement", "judge_gpt4", "human")
    assert (round(item["low"], 4), round(item["high"], 4)) == (0.8290, 0.8655)
    assert item["low"] == pytest.approx(reference["judge_gpt4"]["agreement_wilson95"][0], abs=1e-9)


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["newsroom", "dices350"])
def test_ragged_sets_with_many_raters(run: Run, shared_data: Path, name: str) -> None:
    folder = shared_data / "judgebench_ratings"
    scale = "ordinal" if name == "newsroom" else "nominal"
    status, out, err = run(
        "agree",
        folder / f"{name}.csv",
        *("--wide", "--item", "item,metric", "--annotators", "s[0-9]*"),
        *("--scale", scale, "--json"),
    )
    assert (status, err) == (0, "")
    results = json.loads(out)["results"]
    alpha = next(r for r in results if r["name"] == f"krippendorff_alpha_{scale}")
    assert alpha["level"] == "element" and alpha["comparison"] == "people"
    assert len(alpha["raters"]) == (3 if name == "newsroom" else 123)


def test_json_envelope(run: Run, table: Path) -> None:
    status, out, err = run("agree", table, "--json", "--resamples", "199", "--seed", "4")
    assert (status, err) == (0, "")
    payload = json.loads(out)
    assert set(payload) >= {"accord", "command", "input", "settings", "results", "verdict"}
    assert payload["verdict"] is None and payload["settings"]["seed"] == 4
    keys = {"name", "level", "raters", "estimate", "low", "high", "confidence", "method", "unit"}
    keys |= {"n", "clusters", "design_effect", "dropped", "reason"}
    for result in payload["results"]:
        assert result["name"] == "confusion" or keys <= set(result)
    assert payload["kinds"] == {"ann": "annotator", "bob": "annotator", "gpt": "judge"}
    assert run("agree", table, "--json", "--resamples", "199", "--seed", "4")[1] == out


def test_text_and_csv(run: Run, table: Path, tmp_path: Path) -> None:
    target = tmp_path / "figures.csv"
    status, out, err = run("agree", table, "--csv", target)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert "60 items rated by people in 20 questions" in lines and max(map(len, lines)) <= 100
    assert any("people" in line and "ann ~ bob" in line for line in lines)
    frame = read_table(target).frame
    assert {"name", "comparison", "raters", "estimate", "low", "high", "reason"} <= set(frame)
    main = frame[frame["section"].isna()]
    assert main["name"].tolist().count("cohen_kappa") == 4
    assert sorted(file.name for file in tmp_path.iterdir()) == ["figures.csv", "labels.csv"]


def test_a_table_without_questions_says_so_first(run: Run, table: Path) -> None:
    table.write_text(LONG.replace("question_id", "topic"))
    _, out, _ = run("agree", table)
    assert out.splitlines()[0] == (
        "Note: no question column: each item is its own cluster (name one with --cluster)"
    )
    _, out, _ = run("agree", table, "--cluster", "topic")
    assert "60 items rated by people in 20 topics" in out.splitlines()


def test_map_labels_and_other_column_names(run: Run, table: Path) -> None:
    before = json.loads(run("agree", table, "--json")[1])["results"]
    text = LONG.replace("INCORRECT", "bad").replace("CORRECT", "good")
    header, _, rows = text.partition("\n")
    names = {"item_id": "id", "rater": "who", "kind": "role", "rating": "mark"}
    for ours, theirs in names.items():
        header = header.replace(ours, theirs)
    table.write_text(header + "\n" + rows)
    labels = ("--labels", "good=CORRECT,bad=INCORRECT")
    by_option = run(
        *("agree", table, "--json", *labels, "--item", "id"),
        *("--rater", "who", "--kind", "role", "--rating", "mark"),
    )
    mapped = ",".join(f"{ours}={theirs}" for ours, theirs in names.items())
    by_map = run("agree", table, "--json", *labels, "--map", mapped)
    for status, out, err in (by_option, by_map):
        assert (status, err) == (0, "")
        assert json.loads(out)["results"] == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Missing argument 'STUDY|TABLE'"),
        (("none.csv",), "none.csv does not exist"),
        (("{folder}",), "is a folder and no study (it has no study.toml)"),
        (("{table}", "--wide"), "--wide needs the rater columns"),
        (("{table}", "--scale", "x"), "--scale 'x' is not known"),
        (("{table}", "--confidence", "2"), "confidence 2.0 is not between 0 and 1"),
        (("{table}", "--confidence", "x"), "Invalid value for '--confidence'"),
        (("{table}", "--cluster", "zz"), "has no column 'zz' (--cluster)"),
        (("{table}", "--positive", "Yes"), "--positive 'Yes' is no label here"),
        (("{table}", "--judges", "ann"), "'ann' is of kind annotator"),
        (("{table}", "--annotators", "gpt"), "'gpt' is of kind judge"),
        (("{table}", "--final", "gpt"), "'gpt' is of kind judge"),
        (("{table}", "--map", "rating"), "--map has the part 'rating'"),
        (("{table}", "--map", "rating=zz"), "no column 'zz' (--map rating=zz)"),
        (("{table}", "--labels", "x=y,x=z"), "--labels names 'x' twice"),
        (("{table}", "--categories", "CORRECT"), "unknown label 'INCORRECT'"),
        (("{table}", "--csv", "{folder}"), "can't be written"),
        (("{table}", "--unknown"), "No such option"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    run: Run, table: Path, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    before = sorted(tmp_path.rglob("*"))
    filled = [a.format(table=table, folder=folder) for a in arguments]
    status, out, err = run("agree", *filled)
    assert (status, out) == (2, "")
    assert says in err and err.startswith("accord: ") and err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_study_gives_the_figures_of_the_table(run: Run, table: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(
        "item_id,question_id,question,reference,predicted\n"
        + "".join(f"i{k},q{k // 3},which?,gold {k},said {k}\n" for k in range(60))
    )
    study = tmp_path / "study"
    for step in (
        ("init", study, "--recipe", "listqa"),
        ("add", study, pairs, "--as", "pairs"),
        ("add", study, table, "--as", "ratings"),
    ):
        status, _, err = run(*step)
        assert status == 0, err
    (tmp_path / "study" / "study.toml").write_text(
        re.sub(
            r"(?m)^confidence = .*$",
            "confidence = 0.9",
            (tmp_path / "study" / "study.toml").read_text(),
        )
    )
    status, out, err = run("agree", study, "--json")
    assert (status, err) == (0, "")
    of_study = json.loads(out)
    of_table = json.loads(run("agree", table, "--json", "--confidence", "0.9")[1])

    def figures(payload: dict[str, Any]) -> list[Any]:
        keys = ("name", "raters", "estimate", "low", "high", "confidence", "n", "dropped", "counts")
        return [[result.get(key) for key in keys] for result in payload["results"]]

    by_element = [r for r in of_table["results"] if r["level"] == "element"]
    assert figures({"results": by_element}) == figures(
        {"results": [r for r in of_study["results"] if r["level"] == "element"]}
    )
    assert of_study["settings"]["confidence"] == 0.9
    assert len(of_study["input"]["sha256"]) == 64
    chosen = json.loads(run("agree", study, "--json", "--annotators", "ann")[1])
    assert "bob" not in chosen["kinds"]
    status, _, err = run("agree", study, "--annotators", "gpt")
    assert status == 2 and "no annotator 'gpt' is here" in err


def test_table_options_are_refused_for_a_study(run: Run, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("")
    status, _, err = run("agree", tmp_path, "--wide", "--annotators", "a")
    assert status == 2 and "--wide is for tables, and this is a study" in err


def test_control_characters_in_a_file_do_not_reach_the_terminal(run: Run, table: Path) -> None:
    table.write_text(LONG.replace(",gpt,", ",gpt\x1b[31m\u202e,"))
    _, out, _ = run("agree", table)
    assert "\x1b" not in out and "\u202e" not in out and "\\u001b" in out
    table.write_text(LONG.replace("i5,q1,ann,annotator", "i5,q1,ann,\x1b[31mannotator"))
    _, _, err = run("agree", table)
    assert "\x1b" not in err and "is not known" in err
