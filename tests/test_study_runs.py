"""Scoring runs: no judge is asked twice, and a run that is broken off costs nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import accord.scoring.judges
from accord.scoring.errors import ServiceError, SettingsError, StudyError
from accord.scoring.records import CORRECT, INCORRECT, Item, Judgement
from accord.scoring.replies import Reply, ReplyKey, ReplyStore
from accord.study import Study, scoring_run
from small_study import RESPONSES, snapshot, write


class AskingJudge:
    """Answers from the reply store and asks for what is not in it, as a model judge does."""

    labels = (CORRECT, INCORRECT)

    def __init__(
        self, name: str, replies: ReplyStore, state: dict[str, Any], fresh: bool, repeat: int
    ) -> None:
        self.name, self._replies, self._state = name, replies, state
        self._fresh, self._repeat = fresh, repeat

    def settings(self) -> dict[str, Any]:
        return {"type": "asking", "prompt": "p"}

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        asked = self._state["asked"]
        keys = [ReplyKey("e", "m", "p", "{}", i.content_sha256, self._repeat) for i in items]
        found = {} if self._fresh else self._replies.find(keys)
        for item, key in zip(items, keys, strict=True):
            if key not in found:
                if len(asked) >= self._state["fail_after"]:
                    raise RuntimeError("the endpoint fell over")
                asked.append(item.content_sha256)
                found[key] = Reply(key, None if item.predicted == "B" else CORRECT)
                self._replies.save([found[key]])
        return [
            Judgement(item.item_id, found[key].text, None if found[key].text else "empty")
            for item, key in zip(items, keys, strict=True)
        ]


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Makes every judge an asking one; ``asked`` lists the contents it had to ask about."""
    state: dict[str, Any] = {"asked": [], "fail_after": 10**9}

    def make(
        name: str, table: Any, *, replies: ReplyStore, fresh: bool, repeat: int, **_: Any
    ) -> AskingJudge:
        return AskingJudge(name, replies, state, fresh, repeat)

    monkeypatch.setattr(accord.scoring.judges, "make_judge", make)
    return state


def test_no_judge_is_asked_twice(study: Study, asking: dict[str, Any], tmp_path: Path) -> None:
    study.score()
    first = list(asking["asked"])
    # Equal contents (q2 of alpha, thinking or not) have one reply.
    assert {item.content_sha256 for item in study.items()} <= set(first)
    assert len(first) == len(set(first))
    study.score()
    shutil.rmtree(study.path / "tables")
    study.score()
    assert asking["asked"] == first
    study.add_responses(write(tmp_path / "m.jsonl", [{**RESPONSES[0], "system": "n"}]))
    study.score()
    assert asking["asked"] == first  # the same answers of another system: the same contents


def test_an_unreadable_reply_is_unscored_and_no_class(study: Study, asking: Any) -> None:
    report = study.score()
    frame = study.ratings().frame
    unscored = frame[frame["status"] == "unscored"]
    assert len(unscored) == 2 and unscored["rating"].isna().all()  # the two elements B
    assert {reason for cell in unscored["reasons"] for reason in cell} == {"empty"}
    assert sum(row["unscored"] for row in report.rows) == 2


def test_fresh_asks_again_and_keeps_the_old_replies(study: Study, asking: Any) -> None:
    study.score()
    first = len(asking["asked"])
    study.score(fresh=True)
    assert len(asking["asked"]) == 2 * first
    ((count,),) = study.ledger.query("SELECT count(*) FROM reply")
    assert count == 2 * first


@pytest.fixture
def modelled(study: Study) -> Iterator[Study]:
    """The study with two model judges beside ``exact``."""
    toml = study.path / "study.toml"
    tables = "".join(f'[judge.{n}]\ntype = "openai"\nmodel = "{n}"\n' for n in ("m", "dead"))
    toml.write_text(toml.read_text() + tables + '[judge.exact]\ntype = "exact"\n')
    study.close()
    with Study.open(study.path) as opened:
        yield opened


def test_repeat_asks_each_time_and_remembers_each(modelled: Study, asking: Any) -> None:
    study = modelled
    study.score(["m"], repeat=2)
    assert study.ledger.raters() == {"m": "judge", "m#2": "judge"}
    asked = len(asking["asked"])
    assert study.ledger.query("SELECT repeat, count(*) FROM reply GROUP BY repeat") == [
        (0, asked // 2),
        (1, asked // 2),
    ]
    study.score(["m"], repeat=2)
    assert len(asking["asked"]) == asked
    for bad in ({"repeat": 0}, {"jobs": 0}):
        with pytest.raises(SettingsError, match="can't be 0"):
            study.score(**bad)


def test_only_model_judges_are_repeated(study: Study, tmp_path: Path) -> None:
    study.score(["exact", "rouge"], repeat=3)
    assert set(study.ledger.raters()) == {"exact", "rouge"}


@pytest.mark.parametrize("order", [["dead", "m"], ["m", "dead"]])
def test_a_dead_judge_does_not_hide_the_others(
    modelled: Study, asking: Any, monkeypatch: pytest.MonkeyPatch, order: list[str]
) -> None:
    monkeypatch.setattr(scoring_run, "CHUNK", 1)  # it falls silent after the first question
    made = accord.scoring.judges.make_judge

    class Falling:
        labels = (CORRECT, INCORRECT)

        def __init__(self, name: str) -> None:
            self.name, self.calls = name, 0

        def settings(self) -> dict[str, Any]:
            return {"type": "falling"}

        def judge(self, items: Sequence[Item]) -> list[Judgement]:
            self.calls += 1
            if self.calls > 1:
                raise ServiceError(f"judge {self.name}: can't be reached", cure="start it")
            return [Judgement(item.item_id, CORRECT) for item in items]

    def make(name: str, table: Any, **options: Any) -> Any:
        return Falling(name) if name.startswith("dead") else made(name, table, **options)

    monkeypatch.setattr(accord.scoring.judges, "make_judge", make)
    report = modelled.score(order, repeat=2)
    assert {row["judge"] for row in report.rows} == {"m", "m#2"}
    assert {name: str(error) for name, error in report.failed.items()} == {
        "dead": "judge dead: can't be reached; start it",
        "dead#2": "judge dead: can't be reached; start it",
    }
    assert set(modelled.scores()["judge"]) == {"m", "m#2"}
    assert {row["judge"] for row in report.rows} == set(modelled.scores()["judge"])
    assert modelled.ledger.raters()["dead"] == "judge"  # its first verdicts are kept
    with pytest.raises(ServiceError, match="can't be reached"):
        modelled.score(["dead"])
    assert set(modelled.scores()["judge"]) == {"m", "m#2"}  # the former tables are in force


def test_a_crash_while_scoring_keeps_the_tables_and_what_was_paid_for(
    study: Study, asking: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scoring_run, "CHUNK", 1)
    study.score()
    files, asked = snapshot(study)["files"], len(asking["asked"])
    rows = [
        {**RESPONSES[0], "system": "gamma", "response": "1. Ringo Starr\n2. Pete Best"},
        {**RESPONSES[2], "system": "gamma", "response": "1. X\n2. Y\n3. Z"},
    ]
    study.add_responses(write(tmp_path / "more.jsonl", rows))
    asking["fail_after"] = asked + 3  # the first chunk is judged, the second falls over
    with pytest.raises(RuntimeError, match="fell over"):
        study.score()
    assert snapshot(study)["files"] == files  # the former tables are in force
    assert not (study.path / "tables" / ".new").exists()
    assert study.ledger.damage() == []
    asking["fail_after"] = 10**9
    study.score()
    assert len(asking["asked"]) == len(set(asking["asked"]))  # nothing was asked twice
    assert set(study.scores()["system"]) == {"alpha", "beta", "gamma"}


def test_a_crash_while_the_tables_are_put_in_force(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest is the last thing to change: with the old one, the old parts are all there."""
    study.score()
    frame, pairs = study.scores(), study.pairs()
    real, calls = os.replace, 0

    def fail(source: Any, target: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(KeyboardInterrupt):
            study.score()
    assert study.scores().equals(frame) and study.pairs().equals(pairs)
    study.score()
    assert study.scores().equals(frame)
    names = [path.name for path in (study.path / "tables").iterdir()]
    assert len(names) == 4, names  # elements, pairs, scores, manifest: no orphan is left


def test_a_judge_s_own_error_is_not_taken_for_one_of_the_tables(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        name, labels = "broken", (CORRECT,)

        def settings(self) -> dict[str, Any]:
            return {}

        def judge(self, items: Sequence[Item]) -> list[Judgement]:
            raise ConnectionResetError("by the peer")

    monkeypatch.setattr(accord.scoring.judges, "make_judge", lambda *_, **__: Broken())
    with pytest.raises(ConnectionResetError):
        study.score()


def test_a_full_disk_while_tables_are_written(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    study.score()
    frame = study.scores()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(pq, "write_table", fail)
        with pytest.raises(StudyError, match="tables can't be written: No space left"):
            study.score()
    assert study.scores().equals(frame)


class Deadly:
    """Work that ends the process that takes it up: no race with what it might finish before."""

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return os._exit, (9,)


def test_a_process_that_is_killed_is_said_and_nothing_hangs(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring_run, "prepare_questions", Deadly())
    with pytest.raises(StudyError, match=r"ended from outside.*fewer --jobs"):
        study.score(jobs=1 + 1)


def test_a_judge_that_answers_other_items_is_a_bug(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrong:
        name, labels = "wrong", (CORRECT,)

        def settings(self) -> dict[str, Any]:
            return {}

        def judge(self, items: Sequence[Item]) -> list[Judgement]:
            return [Judgement(item.item_id, CORRECT) for item in reversed(items)]

    monkeypatch.setattr(accord.scoring.judges, "make_judge", lambda *_, **__: Wrong())
    with pytest.raises(RuntimeError, match="other items"):
        study.score()
