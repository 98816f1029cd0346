"""How far the grading is: counts, pace, disputes and the expected finish."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from labelled_study import labelled_study, tasks_of
from typer.testing import CliRunner

from accord.annotate.annotators import Annotator
from accord.annotate.export import export_to_file
from accord.annotate.importing import import_files
from accord.annotate.people import sign_up
from accord.annotate.progress import SampleProgress, progress_of
from accord.annotate.retest import draw_retest
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.sharing import share_to_files
from accord.annotate.template import load_template
from accord.cli import build
from accord.scoring.errors import ServiceError
from accord.study import Study

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
PAGE = load_template()


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    rows = "".join(f"i{n},q{n // 2},Which {n // 2}?,ref {n},pred {n}\n" for n in range(20))
    table = tmp_path / "pairs.csv"
    table.write_text(f"item_id,question_id,question,reference,predicted\n{rows}")
    made = Study.create(tmp_path / "study")
    made.add_pairs(table)
    draw_sample(made, sample_id="s1")
    return made


def graded(
    tasks: Path,
    labels: Sequence[tuple[int, int, str | None]],
    seconds: float = 60.0,
    project: int = 1,
) -> Path:
    """An export with labels (place of the task, user, verdict; None: skipped), a minute apart."""
    found = json.loads(tasks.read_text())
    for place, task in enumerate(found):
        task |= {"id": place + 1, "project": project, "annotations": []}
    for number, (place, user, verdict) in enumerate(labels):
        at = (START + timedelta(minutes=number)).isoformat()
        found[place]["annotations"].append(
            {
                "id": 1_000 * (project - 1) + number + 1,
                "completed_by": user,
                "result": PAGE.answer(verdict) if verdict else [],
                "was_cancelled": verdict is None,
                "created_at": at,
                "updated_at": at,
                "lead_time": seconds,
            }
        )
    path = tasks.with_name("export.json")
    path.write_text(json.dumps(found))
    return path


def one(study: Study, **more: Any) -> SampleProgress:
    (found,) = progress_of(study, **more)
    return found


def test_before_and_after_the_first_labels(study: Study, tmp_path: Path) -> None:
    found = one(study)
    assert (found.tasks, found.labels, found.wanted, found.exported) == (20, 0, 20, False)
    assert found.people == () and found.finish is None and found.hours_left is None
    export_to_file(study, "s1", tmp_path / "t.json")
    labels = [(k, 1, "CORRECT") for k in range(8)] + [(8, 1, None), (0, 2, "INCORRECT")]
    labels += [(1, 2, "CORRECT"), (2, 2, "UNSURE")]
    import_files(study, [graded(tmp_path / "t.json", labels, 90.0)])
    found = one(study, at=START + timedelta(minutes=40))
    assert (found.labels, found.wanted) == (8, 20), "one label an item is wanted"
    assert found.by_count == {0: 12, 1: 5, 2: 3}
    first, second = found.people
    assert (first.done, first.skipped, first.left) == (8, 1, None)
    assert (second.done, second.skipped) == (3, 0)
    assert first.minutes_per_item == 1.5
    order = [item for item, _ in study.ledger.sample("s1").items]
    assert found.to_adjudicate == (order[0], order[2]), "one differs, one is unsure"
    assert found.hours_left == pytest.approx(12 * 1.5 / 60)
    # 12 annotations in 40 minutes, 12 labels are missing
    assert found.finish == START + timedelta(minutes=80)


def test_a_plan_says_what_is_left_of_each(study: Study, tmp_path: Path) -> None:
    folk = [Annotator(f"{name}@x.org") for name in ("ann", "bob", "cyd")]
    share_to_files(study, "s1", tmp_path / "t.json", folk, per_item=2)
    found = one(study)
    assert found.wanted == 40
    assert sorted(person.share or 0 for person in found.people) == [13, 13, 14]
    assert [person.left for person in found.people] == [p.share for p in found.people]
    labels = [(k, 1, "CORRECT" if k else None) for k in range(6)]
    import_files(study, [graded(tmp_path / "t-1.json", labels)], people={1: "ann@x.org"})
    ann = one(study).people[0]
    assert (ann.done, ann.skipped, ann.left) == (5, 1, (ann.share or 0) - 6)
    assert one(study).labels == 5


def test_each_template_of_a_sample_by_itself(study: Study, tmp_path: Path) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    import_files(study, [graded(tmp_path / "t.json", [(0, 1, "CORRECT"), (1, 1, "CORRECT")])])
    draw_sample(study, sample_id="s2")
    export_to_file(study, "s2", tmp_path / "u.json")
    draw_sample(study, sample_id="s3")
    first, second, third = progress_of(study)
    assert (first.template, first.labels) == ("pair", 2)
    assert (second.template, second.labels) == ("pair", 0), "labels of another sample's tasks"
    assert (third.template, third.labels, third.exported) == (None, 0, False)


def test_a_page_that_stood_open_is_a_pause(study: Study, tmp_path: Path) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    import_files(study, [graded(tmp_path / "t.json", [(0, 1, "CORRECT")], 80_000.0)])
    assert one(study).people[0].minutes_per_item == 30


def test_the_command(study: Study, tmp_path: Path) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    labels = [(k, user, "CORRECT") for k in range(14) for user in (1, 2)]
    labels[5] = (2, 2, "INCORRECT")
    import_files(study, [graded(tmp_path / "t.json", labels)])
    study.close()
    done = CliRunner().invoke(build(), ["status", str(study.path)], catch_exceptions=False)
    assert "s1 (agreement, pair): 20 tasks, 14 of 20 labels (70 %)" in done.stdout
    assert "14 done, 0 skipped, 1.0 min an item" in done.stdout
    assert "1 items worth adjudicating" in done.stdout
    assert "people agree on 92.9 % of 14 items [" in done.stdout
    found = json.loads(CliRunner().invoke(build(), ["status", str(study.path), "--json"]).stdout)
    (sample,) = found["samples"]
    assert sample["agreement"]["estimate"] == pytest.approx(13 / 14)
    assert sample["tasks_by_labels"] == {"0": 6, "2": 14}


def test_no_sample(tmp_path: Path) -> None:
    Study.create(tmp_path / "study").close()
    done = CliRunner().invoke(build(), ["status", str(tmp_path / "study")], catch_exceptions=False)
    assert done.exit_code == 0 and "no sample yet; draw one with accord sample" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", "file"), "use --from label-studio"),
        (("--watch", "--every", "0"), "give 1 to 86,400 seconds"),
        (("--watch", "--json"), "leave one out"),
    ],
)
def test_slips(study: Study, words: tuple[str, ...], said: str) -> None:
    study.close()
    done = CliRunner().invoke(build(), ["status", str(study.path), *words])
    assert done.exit_code != 0 and said in str(getattr(done.exception, "cure", ""))


@pytest.mark.label_studio
def test_watching_a_server(
    study: Study, on_label_studio: PrivateServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from accord.annotate.connection import connect
    from accord.annotate.export import export_to_server
    from accord.annotate.people import post_annotations

    url, token = str(on_label_studio.status().url), on_label_studio.login().token
    with connect() as connection:
        export_to_server(study, "s1", connection, per_item=2)
    tasks = [int(row.task_id or 0) for row in study.ledger.exported("s1")]
    ann = sign_up(url, token, "ann@progress.example")
    study.close()
    looks: list[float] = []

    def look(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 2:
            raise KeyboardInterrupt
        post_annotations(url, ann, [(task, PAGE.answer("CORRECT"), 6.0) for task in tasks[:3]])

    monkeypatch.setattr("accord.cli.status.time.sleep", look)
    done = CliRunner().invoke(build(), ["status", str(study.path), "--watch", "--every", "7"])
    assert looks == [7, 7]
    assert "0 of 40 labels (0 %)" in done.stdout and "3 of 40 labels (8 %)" in done.stdout
    assert "3 done, 0 skipped, 0.1 min an item" in done.stdout


def test_watching_outlives_a_restart(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is away for a while is said; one that was never there ends the command."""
    answers = iter([None, ServiceError("the server is away"), None])
    looks: list[int] = []

    def fetch(path: Path) -> list[str]:
        answer = next(answers)
        if answer is not None:
            raise answer
        return ["project 7 is not there"]

    def sleep(seconds: int) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("accord.cli.status._fetch", fetch)
    monkeypatch.setattr("accord.cli.status.time.sleep", sleep)
    done = CliRunner().invoke(build(), ["status", str(study.path), "--watch", "--every", "7"])
    assert looks == [7, 7, 7]
    assert done.output.count("the server is away; asking again in 7 s") == 1
    assert done.output.count("project 7 is not there") == 3
    answers = iter([ServiceError("the server is away")])
    done = CliRunner().invoke(build(), ["status", str(study.path), "--watch"])
    assert isinstance(done.exception, ServiceError) and len(looks) == 3


def test_only_labels_that_count_are_done(study: Study, tmp_path: Path) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    file = graded(tmp_path / "t.json", [(k, 1, "CORRECT") for k in range(3)])
    tasks = json.loads(file.read_text())
    tasks[1]["annotations"][0]["result"] = []  # submitted without a verdict
    tasks[2]["data"]["predicted"] = "changed on the server"
    file.write_text(json.dumps(tasks))
    import_files(study, [file])
    found = one(study)
    (person,) = found.people
    assert (person.done, person.skipped, found.labels, found.wanted) == (1, 0, 1, 20)


def test_figures_are_of_the_template_s_own_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What people differ on in the pairs of a sample says nothing of their ratings of answers."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    study = labelled_study(tmp_path)
    page = load_template("rating")
    tasks_of(study, "pair", tmp_path)
    export_to_file(study, "example", tmp_path / "rated.json", template="rating")
    rated = json.loads((tmp_path / "rated.json").read_text())
    (task,) = rated
    task["annotations"] = [
        {"id": user, "completed_by": user, "result": page.answer(value)}
        for user, value in ((1, "5"), (2, "4"))
    ]
    (tmp_path / "rated.json").write_text(json.dumps(rated))
    import_files(study, [tmp_path / "rated.json"])
    study.close()
    done = CliRunner().invoke(
        build(), ["status", str(study.path), "--json"], catch_exceptions=False
    )
    found = {(one["sample"], one["template"]): one for one in json.loads(done.stdout)["samples"]}
    pairs, answers = found["example", "pair"], found["example", "rating"]
    assert len(pairs["to_adjudicate"]) == 1 and answers["to_adjudicate"] == []
    assert (answers["agreement"]["estimate"], answers["agreement"]["n"]) == (0.0, 1)
    assert pairs["agreement"] is None, "one said UNSURE"


def test_only_what_can_still_come_is_left(study: Study, tmp_path: Path) -> None:
    """A skip of somebody's own share brings no label, and each has a pace of their own."""
    folk = [Annotator(f"{name}@x.org") for name in ("ann", "bob")]
    share_to_files(study, "s1", tmp_path / "t.json", folk, per_item=1)
    labels = [(k, 1, "CORRECT" if k < 7 else None) for k in range(10)]
    import_files(study, [graded(tmp_path / "t-1.json", labels, 600.0)], people={1: "ann@x.org"})
    bob = [(k, 2, "CORRECT") for k in range(4)]
    import_files(study, [graded(tmp_path / "t-2.json", bob, 60.0, 2)], people={2: "bob@x.org"})
    found = one(study, at=START + timedelta(minutes=28))
    assert (found.labels, found.wanted) == (11, 20)
    assert {person.left for person in found.people} == {0, 6}
    assert found.hours_left == pytest.approx(6 * 1 / 60), "Bob's six at his minute each"
    assert found.finish == START + timedelta(minutes=28 + 6 * 2), "14 were done in 28 minutes"
    assert "  about 6 minutes of grading left" in found.lines()
    rest = [(k, 2, "CORRECT") for k in range(10)]
    import_files(study, [graded(tmp_path / "t-2.json", rest, 60.0, 2)], people={2: "bob@x.org"})
    found = one(study)
    assert (found.labels, found.wanted) == (17, 20)
    assert found.hours_left == 0 and found.finish is None, "nobody has anything left"
    assert not any("left" in line or "finish" in line for line in list(found.lines())[3:])


def test_an_annotation_that_was_changed_is_one(study: Study, tmp_path: Path) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    file = graded(tmp_path / "t.json", [(k, 1, "CORRECT") for k in range(5)], 60.0)
    tasks = json.loads(file.read_text())
    for number in range(20):
        for task in tasks:
            for annotation in task["annotations"]:
                annotation["unique_id"] = f"u{annotation['id']}"
                if annotation["id"] == 1:
                    changed = START + timedelta(hours=1, minutes=number)
                    annotation["updated_at"] = changed.isoformat()
                    annotation["lead_time"] = 1200.0
        file.write_text(json.dumps(tasks))
        import_files(study, [file])
    found = one(study, at=START + timedelta(minutes=50))
    assert found.people[0].minutes_per_item == 1
    assert found.finish == START + timedelta(minutes=50 + 15 * 10), "five labels in 50 minutes"


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -5, True, "60", None])
def test_a_time_that_is_none_is_no_pace(study: Study, tmp_path: Path, odd: Any) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    file = graded(tmp_path / "t.json", [(0, 1, "CORRECT"), (1, 1, "CORRECT")], 60.0)
    tasks = json.loads(file.read_text())
    tasks[1]["annotations"][0]["lead_time"] = odd
    file.write_text(json.dumps(tasks))
    import_files(study, [file])
    assert one(study).people[0].minutes_per_item == 1


def test_a_retest_says_how_people_agree_with_themselves(study: Study, tmp_path: Path) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    first = [(k, user, "CORRECT") for k in range(20) for user in (1, 2)]
    import_files(
        study,
        [graded(tmp_path / "t.json", first)],
        people={1: "ann@x.org", 2: "bob@x.org"},
    )
    draw_retest(study, "s1", n=20, sample_id="r1")
    folk = [Annotator(f"{name}@x.org") for name in ("ann", "bob")]
    share_to_files(study, "r1", tmp_path / "r.json", folk, per_item=1)
    for user, name in ((1, "ann"), (2, "bob")):
        again = [(k, user, "CORRECT" if k % 4 else "INCORRECT") for k in range(20)]
        file = graded(tmp_path / f"r-{user}.json", again, project=10 + user)
        import_files(study, [file], people={user: f"{name}@x.org"})
    study.close()
    done = CliRunner().invoke(build(), ["status", str(study.path)], catch_exceptions=False)
    before, after = done.stdout.split("r1 (retest")
    assert "people agree on 100.0 % of 20 items [" in before
    assert after.count(" repeats their label on 75.0 % of 20 items [") == 2
    assert "people agree" not in after


def test_a_figure_without_an_interval_says_why(study: Study, tmp_path: Path) -> None:
    export_to_file(study, "s1", tmp_path / "t.json")
    labels = [(k, user, "CORRECT") for k in range(2) for user in (1, 2)]
    import_files(study, [graded(tmp_path / "t.json", labels)])
    study.close()
    done = CliRunner().invoke(build(), ["status", str(study.path)], catch_exceptions=False)
    assert "  people agree on 100.0 % of 2 items (no interval: " in done.stdout
