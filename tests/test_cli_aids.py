"""The reading aids of ``accord agree`` at the command line: strata, families, tuned labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accord import cli
from accord.study import Study
from small_study import write

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """The command through ``main``, which maps exit statuses."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        status = cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return call


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two systems' answers to 40 questions, two elements each, by two people and a judge."""
    rng = np.random.default_rng(1)
    rows = ["item_id,question_id,system,category,split,family,judge_family,rater,kind,rating\n"]
    for question in range(40):
        area, split = ("law" if question % 4 == 0 else "art"), ("dev" if question < 8 else "test")
        for system, family in (("gpt-4", "openai"), ("llama", "meta")):
            for part in range(2):
                right = rng.random() < 0.6
                for rater in ("ann", "bob", "gpt-4"):
                    wrong = rng.random() < (0.2 if rater == "gpt-4" else 0.05)
                    kind = "judge,{}" if rater == "gpt-4" else "annotator,{}"
                    label = kind.format("CORRECT" if right != wrong else "INCORRECT")
                    own = "openai" if rater == "gpt-4" else ""
                    item = f"{question}{system}{part},q{question},{system},{area},{split}"
                    rows.append(f"{item},{family},{own},{rater},{label}\n")
    path = tmp_path / "labels.csv"
    path.write_text("".join(rows))
    return path


def section(payload: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = [one for one in payload["sections"] if one["name"] == name]
    return found


def test_strata(run: Run, table: Path) -> None:
    status, out, err = run("agree", table, "--strata", "category,system")
    assert (status, err) == (0, "")
    assert "By stratum" in out and "gpt-4, by category" in out and "gpt-4, by system" in out
    assert "no stratum of category is shown to be worse" in out
    assert all(len(line) <= 100 for line in out.splitlines())
    payload = json.loads(run("agree", table, "--strata", "category", "--json")[1])
    assert payload["settings"]["strata"] == ["category"]
    strata = [one for one in payload["results"] if one.get("section") == "strata"]
    assert {one["stratum"] for one in strata} == {"art", "law"}
    gap = next(one for one in strata if one["name"] == "agreement_difference")
    assert gap["strata"] == "category"
    judged = [one for one in strata if one["comparison"] == "judge-final"]
    assert any("p_holm" in one["details"] for one in judged)


def test_families_by_columns_and_by_option(run: Run, table: Path) -> None:
    by_column = run("agree", table, "--json")
    payload = json.loads(by_column[1])
    gap = next(one for one in payload["results"] if one["name"] == "bias_difference")
    assert gap["family"] == "openai" and gap["n"] > 40 and gap["level"] == "response"
    notes = section(payload, "family")["notes"]
    assert any("gpt-4 seems to be one of the systems it grades (gpt-4)" in x for x in notes)
    given = ("--family", "gpt-4=openai,llama=meta")
    again = json.loads(run("agree", table, *given, "--json")[1])
    assert next(x for x in again["results"] if x["name"] == "bias_difference") == gap
    assert "A judge's own family of models" in run("agree", table, *given)[1]


def test_tuned_on_a_file_and_a_split(run: Run, table: Path, tmp_path: Path) -> None:
    status, out, err = run("agree", table, "--split", "split")
    assert (status, err) == (0, "")
    assert "128 items rated by people in 32 questions" in out
    assert "labels the prompt was tuned on" in out
    ids = tmp_path / "ids.txt"
    ids.write_text(
        "".join(f"{q}{s}{p}\n" for q in range(8) for s in ("gpt-4", "llama") for p in (0, 1))
    )
    by_file = json.loads(run("agree", table, "--tuned-on", ids, "--json")[1])
    by_split = json.loads(run("agree", table, "--split", "split=dev", "--json")[1])
    assert by_file["results"] == by_split["results"]
    assert by_file["settings"]["tuned_on"] == str(ids)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--strata", "area"), "no column 'area' (--strata)"),
        (("--strata", "category,category"), "--strata names a column twice"),
        (("--family", "gtp=openai"), "'gtp', which is no judge and no system here"),
        (("--family", "openai"), "--family has the part 'openai'"),
        (("--split", "part"), "no column 'part' (--tuned-on or --split)"),
        (("--split", "category"), "'law', which is neither tuned on nor held out"),
        (("--tuned-on", "nowhere.txt"), "nowhere.txt"),
        (("--split", "split", "--tuned-on", "split"), "two ways"),
    ],
)
def test_mistakes_are_told_in_a_line(
    run: Run, table: Path, options: tuple[str, ...], said: str
) -> None:
    status, out, err = run("agree", table, *options)
    assert (status, out) == (2, "") and said in err and len(err.splitlines()) == 1


def test_hostile_cells_are_written_out(run: Run, table: Path) -> None:
    evil = table.read_text().replace(",law,", ",l\u202ea\x1b[31mw,")
    table.write_text(evil)
    status, out, _ = run("agree", table, "--strata", "category")
    assert status == 0 and "\u202e" not in out and "\x1b" not in out


def test_a_study_knows_strata_tokens_and_samples(run: Run, empty: Study, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    questions, responses, ratings = [], [], ["item_id,rater,kind,rating\n"]
    for at in range(24):
        area = "law" if at % 2 else "art"
        questions.append(
            {"question_id": f"q{at}", "question": "?", "reference": "x\ny\nz", "category": area}
        )
        for system in ("gpt-4", "llama"):
            text = "\n".join(
                f"- {word}" for word in ("x", "y", "w", "v")[: int(rng.integers(2, 5))]
            )
            tokens = int(rng.integers(5, 90))
            row = {"question_id": f"q{at}", "system": system, "response": text}
            responses.append(row | {"output_tokens": tokens})
    empty.add_questions(write(tmp_path / "questions.jsonl", questions))
    empty.add_responses(write(tmp_path / "responses.jsonl", responses))
    assert run("score", empty.path, "--judge", "exact")[0] == 0
    status, _, err = run(
        "sample", empty.path, "--questions", "6", "--for", "pilot", "--name", "pil"
    )
    assert status == 0, err
    items = [item.item_id for item in empty.items()]
    for item in items:
        for rater in ("ann", "bob", "cat"):
            label = "CORRECT" if rng.random() < 0.6 else "INCORRECT"
            ratings.append(f"{item},{rater},annotator,{label}\n")
    (tmp_path / "ratings.csv").write_text("".join(ratings))
    assert run("add", empty.path, tmp_path / "ratings.csv", "--as", "ratings")[0] == 0
    options = ("--strata", "category", "--family", "exact=a,gpt-4=a,llama=b")
    status, out, err = run("agree", empty.path, *options, "--json")
    assert (status, err) == (0, "")
    payload = json.loads(out)
    assert "Bias by length of the response (tokens)" == section(payload, "length")["title"]
    found = [one for one in payload["results"] if one["name"] == "bias_difference"]
    assert [one["family"] for one in found] == ["a"]
    assert {row["stratum"] for row in section(payload, "strata")["rows"]} == {"art", "law"}
    # a sample of the study tells which labels the prompt was tuned on
    status, out, err = run("agree", empty.path, "--tuned-on", "pil", "--json")
    assert (status, err) == (0, "")
    assert section(json.loads(out), "tuning")["notes"]


def test_why_kappa_and_ac1_part_with_three_labels(run: Run, tmp_path: Path) -> None:
    """90 % of the labels are A: AC1 is high, κ is not, and the text says which label it is."""
    rng = np.random.default_rng(4)
    rows = ["item_id,question_id,ann,bob\n"]
    for item in range(200):
        labels = [str(rng.choice(["A", "B", "C"], p=[0.9, 0.05, 0.05])) for _ in range(2)]
        rows.append(f"i{item},q{item // 2},{','.join(labels)}\n")
    path = tmp_path / "wide.csv"
    path.write_text("".join(rows))
    status, out, err = run("agree", path, "--wide", "--annotators", "ann,bob")
    assert (status, err) == (0, "")
    text = " ".join(out.split())
    assert "AC1" in text and "part over what chance would give" in text
    table = [line.split(",")[2:] for line in rows[1:]]
    shares = [100 * np.mean([row[at].strip() == "A" for row in table]) for at in (0, 1)]
    said = f"The commonest label, A, has {shares[0]:.1f} % and {shares[1]:.1f} % of their ratings"
    assert said in text
