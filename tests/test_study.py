"""A study on disk: making, opening, scoring, deleting its tables."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from accord.scoring.errors import AccordError, InputError, SettingsError, StudyError
from accord.study import Study, scoring_run
from accord.study.schema import SCHEMA_VERSION
from small_study import QUESTIONS, RESPONSES, snapshot, write

# Making and opening


def test_a_new_study_is_there_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(StudyError, match="No space left"):
            Study.create(tmp_path / "s")
    assert list(tmp_path.iterdir()) == []
    with Study.create(tmp_path / "deep" / "er" / "s") as made:
        assert made.settings.recipe_name == "listqa"
    (tmp_path / "there").mkdir()
    Study.create(tmp_path / "there", seed=5).close()
    with Study.open(tmp_path / "there") as opened:
        assert opened.settings.seed == 5
        assert opened.ledger.provenance()[0].detail == {"recipe": "listqa", "seed": 5}


def test_a_study_in_the_folder_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Study.create(".") as made:
        assert made.ledger.writable
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.sqlite", "study.toml"]
    Study.open(tmp_path).close()


def test_a_name_that_no_address_would_like(tmp_path: Path) -> None:
    with Study.create(tmp_path / "a b?#%é") as made:
        made.ledger.add_provenance("x", {})
    with Study.open(tmp_path / "a b?#%é") as opened:
        assert [row.action for row in opened.ledger.provenance()] == ["init", "x"]


def test_settings_saved_by_another_editor(empty: Study) -> None:
    path = empty.path / "study.toml"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    Study.open(empty.path).close()


def test_create_touches_nothing_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StudyError, match="is not empty"):
        Study.create(tmp_path)
    with pytest.raises(StudyError, match="is a file"):
        Study.create(tmp_path / "notes.txt")
    with pytest.raises(SettingsError, match="recipe 'nope'"):
        Study.create(tmp_path / "s", recipe="nope")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_what_is_no_study_is_refused_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for name, why in (("none", "no folder"), ("file", "is a file"), ("folder", "no study.toml")):
        with pytest.raises(StudyError, match=why) as caught:
            Study.open(tmp_path / name)
        assert caught.value.cure is not None and "accord init" in caught.value.cure
    Study.create(tmp_path / "s").close()
    (tmp_path / "s" / "ledger.sqlite").unlink()
    with pytest.raises(StudyError, match="no ledger.sqlite"):
        Study.open(tmp_path / "s")


def test_damaged_and_newer_studies_are_refused(empty: Study) -> None:
    empty.close()
    path = empty.path / "ledger.sqlite"
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    raw.close()
    with pytest.raises(StudyError, match="newer accord"):
        Study.open(empty.path)
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    with pytest.raises(StudyError, match="damaged"):
        Study.open(empty.path)
    (empty.path / "study.toml").write_text("recipe = [\n!")
    with pytest.raises(SettingsError, match=r"study\.toml is no TOML.*line 2"):
        Study.open(empty.path)


# Scoring


def test_scores_are_the_figures_of_the_scoring_core(study: Study) -> None:
    report = study.score()
    rows = {(row["system"], row["variant"]): row for row in report.rows}
    alpha = rows[("alpha", "")]
    # q1: both right, one by an alias: 1. q2: the three letters are there: 1; in place is A: 1/3.
    assert alpha["figures"]["llm_judge_f1"] == pytest.approx(1.0)
    assert alpha["figures"]["llm_judge_f1_ordered"] == pytest.approx(1 / 3)
    beta = rows[("beta", "")]
    assert beta["figures"]["llm_judge_f1"] == 0.0  # 0 for the wrong list, 0 for the empty answer
    assert (beta["given"], beta["empty"], beta["responses"]) == (1, 1, 2)
    thinking = rows[("alpha", "thinking")]
    assert thinking["figures"]["llm_judge_f1_ordered"] == 1.0
    scores = study.scores()
    assert len(scores) == 5
    assert set(scores["recipe_sha256"]) == {report.recipe_sha256}
    assert set(scores["recipe"]) == {"listqa"}
    assert scores["judge_sha256"].nunique() == 1
    mean = scores[scores["system"] == "beta"]["llm_judge_f1"].mean()
    assert mean == beta["figures"]["llm_judge_f1"]


def test_pairs_keep_unmatched_elements_of_both_sides(study: Study) -> None:
    pairs = study.pairs()
    beta = pairs[(pairs["system"] == "beta") & (pairs["question_id"] == "q1")]
    assert len(beta) == 3 and beta["n_predicted"].tolist() == [3, 3, 3]
    blank = pairs[(pairs["system"] == "beta") & (pairs["question_id"] == "q2")]
    assert blank["reference"].tolist() == ["A", "B", "C"]
    assert set(blank["how"]) == {"unmatched"} and blank["item_id"].isna().all()
    assert len(study.items()) == 11
    assert {item.system for item in study.items()} == {"alpha", "beta", "alpha (thinking)"}
    unmatched = [item for item in study.items() if item.reference is None]
    assert len(unmatched) == 1


def test_given_pairs_have_a_share_and_no_f1(paired: Study) -> None:
    (row,) = paired.score().rows
    assert row["unit"] == "pairs" and row["pairs"] == 3
    # "paname" is an alias of Paris: right. "London" and "The Seine" are not.
    # A response's share is 1/2 or 0, and the recipe takes the mean over responses.
    assert row["figures"] == {"share_correct": 0.25} and row["n"] == {"share_correct": 2}
    scores = paired.scores()
    assert scores["share_correct"].tolist() == [0.5, 0.0]
    assert scores["llm_judge_f1"].isna().all()


def test_given_pairs_with_counts_have_f1(empty: Study, tmp_path: Path) -> None:
    pair = {"question_id": "q1", "question": "Which?", "reference": "A", "system": "s"}
    rows = [{**pair, "predicted": text, "n_reference": 4, "n_predicted": 2} for text in ("A", "B")]
    empty.add_pairs(write(tmp_path / "p.jsonl", rows))
    empty.score()
    (f1,) = empty.scores()["llm_judge_f1"]
    assert f1 == pytest.approx(2 * 1 / (2 + 4))  # one right of 2 given, 4 wanted


def test_nothing_to_score_says_what_to_do(empty: Study, tmp_path: Path) -> None:
    for call in (empty.score, empty.pairs, empty.ratings, empty.items):
        with pytest.raises(StudyError, match="no responses and no pairs.*--as responses"):
            call()
    with pytest.raises(StudyError, match="no scores.*accord score"):
        empty.scores()
    empty.add_questions(write(tmp_path / "q.jsonl", QUESTIONS))
    with pytest.raises(StudyError, match="no responses"):
        empty.score()


def test_deleted_tables_come_back_the_same(study: Study) -> None:
    study.score()
    before, frame = snapshot(study)["files"], study.scores()
    ratings = study.ledger.rating_rows(history=True)
    shutil.rmtree(study.path / "tables")
    study.score()
    assert snapshot(study)["files"] == before  # byte for byte
    assert study.scores().equals(frame)
    assert study.ledger.rating_rows(history=True) == ratings  # and no verdict came twice


def test_pairs_and_ratings_need_no_tables(study: Study) -> None:
    study.score()
    pairs, items = study.pairs(), study.items()
    shutil.rmtree(study.path / "tables")
    assert study.pairs().equals(pairs)
    shutil.rmtree(study.path / "tables")
    assert study.items() == items
    assert len(study.ratings().frame) == 11
    with pytest.raises(StudyError, match="no scores"):
        study.scores()


@pytest.mark.parametrize("change", ["delete a part", "cut a part", "cut the manifest"])
def test_damaged_tables_are_noticed_and_made_again(study: Study, change: str) -> None:
    study.score()
    frame = study.pairs()
    (part,) = (study.path / "tables").glob("pairs.*")
    if change == "delete a part":
        part.unlink()
        assert study.pairs().equals(frame)
    elif change == "cut the manifest":
        manifest = study.path / "tables" / "manifest.json"
        manifest.write_text(manifest.read_text()[:50])
        assert study.pairs().equals(frame)
    else:
        part.write_bytes(part.read_bytes()[:100])
        with pytest.raises(StudyError, match=r"can't be read.*delete the folder tables"):
            study.pairs()
        study.score()
        assert study.pairs().equals(frame)


def test_tables_are_stale_after_an_addition(study: Study, tmp_path: Path) -> None:
    study.score()
    more = {**RESPONSES[0], "system": "gamma"}
    study.add_responses(write(tmp_path / "more.jsonl", [more]))
    with pytest.raises(StudyError, match="older than"):
        study.scores()
    assert "gamma" in set(study.pairs()["system"])
    study.score()
    assert "gamma" in set(study.scores()["system"])


def test_what_another_process_scored_meanwhile_stays_in_force(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for the writer's lock, a reader must not put older tables in place of newer ones."""
    real: Callable[[], AbstractContextManager[None]] = study.ledger.writing

    def after_another() -> AbstractContextManager[None]:
        monkeypatch.undo()
        with Study.open(study.path) as other:
            more = {**QUESTIONS[0], "question_id": "q9"}
            other.add_questions(write(tmp_path / "more.jsonl", [more]))
            other.score(["exact"])
        return real()

    monkeypatch.setattr(study.ledger, "writing", after_another)
    study.pairs()
    assert set(study.scores()["judge"]) == {"exact"}


def test_other_conventions_make_the_scores_stale(study: Study) -> None:
    study.score()
    text = (study.path / "study.toml").read_text()
    (study.path / "study.toml").write_text(text + '\n[conventions]\nzero_overlap = "incorrect"\n')
    with Study.open(study.path) as again:
        with pytest.raises(StudyError, match="older than"):
            again.scores()
        again.score()
        assert again.scores()["recipe_sha256"].iloc[0] == again.settings.recipe().sha256


def test_many_chunks_and_processes_give_the_same_tables(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = study.score().rows
    pairs, scores = study.pairs(), study.scores()
    monkeypatch.setattr(scoring_run, "CHUNK", 1)
    assert study.score().rows == rows
    assert len(list((study.path / "tables").glob("pairs.*"))) == 2
    assert study.pairs().equals(pairs) and study.scores().equals(scores)
    assert study.score(jobs=2).rows == rows
    assert study.pairs().equals(pairs) and study.scores().equals(scores)


def test_what_lies_in_the_tables_folder_and_is_not_ours_stays(study: Study) -> None:
    study.score()
    for name in ("mine.parquet", "pairs.parquet", "notes.txt"):
        (study.path / "tables" / name).write_text("mine")
    study.score()
    assert {path.name for path in (study.path / "tables").iterdir()} == {
        "elements.2.0000.parquet",
        "pairs.2.0000.parquet",
        "scores-exact.2.0000.parquet",
        "manifest.json",
        "mine.parquet",
        "pairs.parquet",
        "notes.txt",
    }


def test_two_judges_and_one_run_again(study: Study) -> None:
    study.score(["exact"])
    exact = study.scores()
    study.score(["rouge"])
    both = study.scores()
    assert list(dict.fromkeys(both["judge"])) == ["exact", "rouge"]
    assert both[both["judge"] == "exact"].reset_index(drop=True).equals(exact)
    assert study.ledger.raters() == {"exact": "judge", "rouge": "judge"}
    with pytest.raises(SettingsError, match="no judge 'gpt'"):
        study.score(["gpt"])


def test_progress_counts_responses_and_pairs(paired: Study) -> None:
    seen: list[tuple[int, int]] = []
    paired.score(progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (3, 3)


# Provenance


def test_provenance_says_what_the_figures_rest_on_and_nothing_private(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-private-indeed")
    study.score()
    found = study.provenance()
    text = json.dumps(found, allow_nan=False)
    assert found["versions"]["accord"] and found["versions"]["pandas"]
    assert [file["name"] for file in found["inputs"]] == ["questions.jsonl", "responses.jsonl"]
    assert all(len(file["sha256"]) == 64 for file in found["inputs"])
    assert found["recipe"] == study.settings.recipe().block()
    assert found["judges"]["exact"]["type"] == "exact"
    assert [step["action"] for step in found["steps"]] == ["init", "add", "add", "score"]
    assert str(study.path) not in text and str(Path.home()) not in text
    assert "very-private" not in text


def test_a_judge_s_absolute_path_is_shown_as_a_file_name(empty: Study) -> None:
    text = (empty.path / "study.toml").read_text()
    judge = '\n[judge.f]\ntype = "file"\npath = "/elsewhere/verdicts.csv"\n'
    (empty.path / "study.toml").write_text(text + judge)
    with Study.open(empty.path) as again:
        assert again.provenance()["judges"]["f"]["path"] == "verdicts.csv"


# A folder that can't be written

READ_ONLY = (
    "import sys\n"
    "from accord.scoring.errors import StudyError\n"
    "from accord.study import Study\n"
    "with Study.open(sys.argv[1]) as study:\n"
    "    print(len(study.items()), len(study.ratings().frame))\n"
    "    for call in (study.score, lambda: study.add_questions(sys.argv[2])):\n"
    "        try:\n"
    "            call()\n"
    "        except StudyError as error:\n"
    "            print(error)\n"
)


@pytest.mark.parametrize("tables", [True, False])
def test_a_study_that_cant_be_written_can_be_read(
    study: Study,
    tmp_path: Path,
    read_only: Callable[[Path], None],
    as_user: Callable[..., str],
    tables: bool,
) -> None:
    study.score()
    study.close()
    if not tables:
        shutil.rmtree(study.path / "tables")
    else:
        read_only(study.path / "tables")
    (study.path / "ledger.lock").unlink(missing_ok=True)
    read_only(study.path)
    lines = as_user(READ_ONLY, str(study.path), str(tmp_path / "questions.jsonl")).splitlines()
    assert lines[0] == "11 11"
    assert len(lines) == 3 and all("can't be written" in line for line in lines[1:])


def test_all_errors_are_the_user_s(tmp_path: Path) -> None:
    for error in (InputError, SettingsError, StudyError):
        assert issubclass(error, AccordError)
