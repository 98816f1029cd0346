"""A sample shared out among people: a project each on a real server, or a file each."""

from __future__ import annotations

import errno
import itertools
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from typer.testing import CliRunner

import accord
from accord.annotate.annotators import Annotator
from accord.annotate.connection import Connection, connect
from accord.annotate.export import export_to_file
from accord.annotate.importing import import_files, import_from_server
from accord.annotate.people import Account, sign_up
from accord.annotate.progress import progress_of
from accord.annotate.pseudonym import Pseudonyms
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.sharing import Share, share_to_files, share_to_server
from accord.annotate.template import load_template
from accord.cli import build
from accord.scoring.errors import AccordError, InputError, SettingsError, StudyError
from accord.study import Study
from small_study import QUESTIONS, RESPONSES, write

PAGE = load_template()
VERDICTS = ("CORRECT", "INCORRECT", "UNSURE")


def study_of(folder: Path, count: int) -> Study:
    lines = ["item_id,question_id,question,reference,predicted,author,language"]
    lines += [
        f"i{n},q{n // 4},Which {n // 4}?,ref {n},pred {n},"
        f"{'ann@share.example' if n % 5 == 0 else ''},{'de' if n % 3 else 'fr'}"
        for n in range(count)
    ]
    table = folder / "pairs.csv"
    table.write_text("\n".join(lines) + "\n")
    made = Study.create(folder / "study")
    made.add_pairs(table, strata=("author", "language"))
    draw_sample(made, sample_id="s1")
    return made


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with study_of(tmp_path, 60) as made:
        yield made


def people(*names: str, **fields: str) -> list[Annotator]:
    return [Annotator(f"{name}@share.example", fields) for name in names]


FOUR = people("ann", "bob", "cyd", "dee")


def tasks_in(path: Path) -> list[dict[str, Any]]:
    return [task["data"] for task in json.loads(path.read_text())]


def test_a_file_a_person(study: Study, tmp_path: Path) -> None:
    report = share_to_files(study, "s1", tmp_path / "t.json", FOUR, per_item=2, not_by="author")
    assert report.sentence.startswith("60 items, each to 2 people of 4; 30 items a person")
    assert [share.files[0] for share in report.shares] == [f"t-{k}.json" for k in range(1, 5)]
    files = [[task["item_id"] for task in tasks_in(tmp_path / f"t-{k}.json")] for k in range(1, 5)]
    assert sorted(itertools.chain(*files)) == sorted([f"i{n}" for n in range(60)] * 2)
    assert not {f"i{n}" for n in range(0, 60, 5)} & set(files[0]), "ann wrote these"
    both = set(files[1]) & set(files[2])
    order = [[item for item in file if item in both] for file in files[1:3]]
    assert order[0] != order[1], "each has an order of their own"
    shown = json.dumps(report.to_dict()) + "".join(
        (tmp_path / f"t-{k}.json").read_text() for k in range(1, 5)
    )
    assert "share.example" not in shown
    # the same again is the same: nothing new, the same people
    again = share_to_files(study, "s1", tmp_path / "t.json", FOUR, per_item=2, not_by="author")
    assert [share.added for share in again.shares] == [0] * 4
    assert [share.total for share in again.shares] == [share.total for share in report.shares]


def test_another_plan_for_a_shared_sample_is_refused(study: Study, tmp_path: Path) -> None:
    share_to_files(study, "s1", tmp_path / "t.json", FOUR, per_item=2)
    for folk, wish in ((FOUR[:3], {}), (FOUR, {"not_by": "author"})):
        with pytest.raises(StudyError, match="'s1' was shared out before among 4 people"):
            share_to_files(study, "s1", tmp_path / "t.json", folk, per_item=2, **wish)  # type: ignore[arg-type]


def test_the_refusal_says_how_it_was_shared(study: Study, tmp_path: Path) -> None:
    wish: dict[str, Any] = {"per_item": 2, "not_by": "author"}
    share_to_files(study, "s1", tmp_path / "t.json", FOUR, **wish)
    with pytest.raises(StudyError) as refused:
        share_to_files(study, "s1", tmp_path / "t.json", FOUR[:2], per_item=1)
    names = ", ".join(Pseudonyms().of(person.email) for person in FOUR)
    assert f"({names}; --per-item 2 --not-by author; 60 items)" in str(refused.value)


def test_nothing_is_kept_of_a_plan_that_can_not_be(study: Study, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="--per-item 3, and there are 2 annotators"):
        share_to_files(study, "s1", tmp_path / "t.json", FOUR[:2], per_item=3)
    with pytest.raises(SettingsError, match="--not-by names 'who'"):
        share_to_files(study, "s1", tmp_path / "t.json", FOUR, per_item=1, not_by="who")
    with pytest.raises(SettingsError, match="use label-studio, or the name of a .json file"):
        share_to_files(study, "s1", tmp_path / "t.txt", FOUR, per_item=1)
    assert not [row for row in study.ledger.provenance() if row.action == "assignment"]
    assert not list(tmp_path.glob("t-*"))


def test_languages(study: Study, tmp_path: Path) -> None:
    folk = [
        Annotator("ann@share.example", {"language": "de"}),
        Annotator("bob@share.example", {"language": "fr; de"}),
        Annotator("cyd@share.example", {"language": "fr"}),
    ]
    share_to_files(study, "s1", tmp_path / "t.json", folk, per_item=2, match=["language"])
    german = {f"i{n}" for n in range(60) if n % 3}
    assert {task["item_id"] for task in tasks_in(tmp_path / "t-1.json")} == german
    assert len(tasks_in(tmp_path / "t-2.json")) == 60
    assert len(tasks_in(tmp_path / "t-3.json")) == 20


def test_unmatched_elements_can_be_hidden(
    empty: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    empty.add_questions(write(tmp_path / "questions.jsonl", QUESTIONS))
    empty.add_responses(write(tmp_path / "responses.jsonl", RESPONSES))
    draw_sample(empty, sample_id="s1")
    items = empty.items()
    alone = sum(item.reference is None for item in items)
    assert 0 < alone < len(items)
    report = share_to_files(empty, "s1", tmp_path / "t.json", FOUR, per_item=1, unmatched="hide")
    assert sum(share.total for share in report.shares) == len(items) - alone
    assert f"{alone} predicted elements without a reference element are not shown" in report.notes


def test_labels_come_back_from_files(study: Study, tmp_path: Path) -> None:
    share_to_files(study, "s1", tmp_path / "t.json", FOUR, per_item=2)
    exports = []
    for k in range(1, 5):
        tasks = json.loads((tmp_path / f"t-{k}.json").read_text())
        for number, task in enumerate(tasks, start=1000 * k):
            task |= {"id": number, "project": k, "annotations": [
                {"id": number, "completed_by": k, "result": PAGE.answer("CORRECT"),
                 "was_cancelled": False, "updated_at": "2026-01-01T00:00:00Z"}]}  # fmt: skip
        exports.append(tmp_path / f"export-{k}.json")
        exports[-1].write_text(json.dumps(tasks))
    report = import_files(
        study, exports, people={k + 1: person.email for k, person in enumerate(FOUR)}
    )
    assert report.annotations["labelled"] == 120 and report.new_ratings == 120
    assert len({(row.item_id, row.rater) for row in study.ledger.rating_rows()}) == 120


def verdict(item: str, person: int) -> str:
    return VERDICTS[(int(item[1:]) * 7 + person) % 3]


def bulk(connection: Connection, project: int, person: int, account: Account) -> None:
    """Every task of a project anew, in another order and with a label: ids and order all change."""
    client = connection.client
    listed: list[Any] = list(client.tasks.list(project=project, page_size=1000))
    tasks = [dict(task.data or {}) for task in listed]
    client.tasks.delete_all_tasks(id=project)
    np.random.default_rng(person).shuffle(tasks)  # type: ignore[arg-type]
    request = [graded(data, account, person) for data in tasks]
    client.projects.import_tasks(id=project, request=request)


def graded(data: Any, account: Account, person: int) -> Any:
    """A task with a label, as an import takes it."""
    answer = PAGE.answer(verdict(data["item_id"], person))
    # The server takes what comes with a task as ground truth unless it says otherwise.
    label = {"completed_by": account.user_id, "result": answer, "ground_truth": False}
    return {"data": data, "annotations": [label]}


@pytest.mark.label_studio
def test_four_people_on_a_thousand_items(on_label_studio: PrivateServer, tmp_path: Path) -> None:
    url, token = str(on_label_studio.status().url), on_label_studio.login().token
    with study_of(tmp_path, 1_000) as study, connect() as connection:
        out = share_to_server(study, "s1", connection, FOUR, per_item=2, not_by="author")
        assert [share.added for share in out.shares] == [share.total for share in out.shares]
        assert sum(share.total for share in out.shares) == 2_000
        accounts = [sign_up(url, token, person.email) for person in FOUR]
        for place, (share, account) in enumerate(zip(out.shares, accounts, strict=True)):
            bulk(connection, int(share.project_id or 0), place, account)
        disturbed = _disturb(connection, out.shares, accounts)
        client = connection.client
        for share, account in zip(out.shares, accounts, strict=True):
            seen = client.projects.exports.as_json(int(share.project_id or 0))
            graders = {a["completed_by"] for task in seen for a in task["annotations"]}
            strangers = graders - {account.user_id}
            assert strangers <= ({accounts[3].user_id} if share is out.shares[2] else set())

        report = import_from_server(study, connection)
        names = [Pseudonyms().of(person.email) for person in FOUR]
        rated = {
            (row.item_id, names.index(row.rater)): row.rating
            for row in study.ledger.rating_rows()
            if row.status == "rated"
        }
        plan = next(r.detail["of"] for r in study.ledger.provenance() if r.action == "assignment")
        expected = {(i, p): verdict(i, p) for i, chosen in plan.items() for p in chosen}
        for pair in disturbed["gone"] + disturbed["changed"]:
            del expected[pair]
        expected[disturbed["stranger"], 3] = "CORRECT"
        assert rated == expected
        assert report.tasks["twice"] == 1
        assert report.tasks["changed text"] == 1 == report.annotations["changed text"]
        assert report.by_others == 1
        assert report.annotations["superseded"] == 1, "the doubled task was graded twice"

        # A task that somebody made there is none of the sample's.
        strange = {**_any_data(connection, out.shares[0]), "item_id": "no-such"}
        stranger: list[Any] = [{"data": strange}]
        client.projects.import_tasks(id=int(out.shares[0].project_id or 0), request=stranger)
        # What is missing there is added again, nothing else.
        again = share_to_server(study, "s1", connection, FOUR, per_item=2, not_by="author")
        assert [share.added for share in again.shares] == [1, 0, 0, 0]
        assert any("1 tasks are on the server twice" in note for note in again.notes)
        assert any("1 tasks show a text" in note for note in again.notes)
        assert any("1 tasks of the project are not of this" in note for note in again.notes)
        (progress,) = progress_of(study)
        assert (progress.tasks, progress.wanted) == (1_000, 2_000)
        second = import_from_server(study, connection)
        assert (second.new_annotations, second.new_ratings) == (0, 0)


def _any_data(connection: Connection, share: Share) -> Any:
    tasks: Any = connection.client.tasks.list(project=int(share.project_id or 0), page_size=10)
    return next(iter(tasks)).data


def _disturb(
    connection: Connection, shares: tuple[Share, ...], accounts: list[Account]
) -> Mapping[str, Any]:
    """A task deleted, one changed, one doubled, and one graded by somebody else."""
    client = connection.client
    first, second, third = (int(share.project_id or 0) for share in shares[:3])

    def of(project: int) -> list[Any]:
        return sorted(client.tasks.list(project=project, page_size=1000), key=lambda t: t.id)

    away, edited = of(first)[:2]
    client.tasks.delete(id=str(away.id))
    client.tasks.update(id=str(edited.id), data={**edited.data, "predicted": "another text"})
    double = of(second)[0]
    client.projects.import_tasks(id=second, request=[graded(double.data, accounts[1], 1)])
    mine = {task.data["item_id"] for task in of(int(shares[3].project_id or 0))}
    strange = next(task for task in of(third) if task.data["item_id"] not in mine)
    httpx.post(
        f"{connection.url}/api/tasks/{strange.id}/annotations/",
        json={"result": PAGE.answer("CORRECT")},
        headers={"Authorization": f"Token {accounts[3].token}"},
        trust_env=False,
        timeout=60,
    ).raise_for_status()
    return {
        "gone": [(away.data["item_id"], 0)],
        "changed": [(edited.data["item_id"], 0)],
        "stranger": strange.data["item_id"],
    }


def test_the_command(study: Study, tmp_path: Path) -> None:
    study.close()
    table = tmp_path / "people.csv"
    table.write_text("email\nann@share.example\nbob@share.example\n")

    def run(*words: str) -> Any:
        command = ["export", str(study.path), "s1", "--to", str(tmp_path / "t.json"), *words]
        return CliRunner().invoke(build(), command, catch_exceptions=False)

    done = run("--annotators", str(table), "--per-item", "1")
    assert done.exit_code == 0
    assert "60 items, each to 1 person of 2; 30 items a person" in done.stdout
    assert "ann@share.example (annotator-" in done.stdout
    shown = run("--annotators", str(table), "--per-item", "1", "--json").stdout
    assert "share.example" not in shown and len(json.loads(shown)["shares"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--not-by", "author"), "--not-by chooses among people, and none are named"),
        (("--match", "language"), "--match chooses among people"),
        (("--unmatched", "some"), "use show or hide"),
        (("--annotators", "FILE", "--assign", "random"), "use balanced"),
        (("--assign", "random"), "use balanced"),
        (("--annotators", "FILE", "--per-item", "9"), "there are 2 annotators"),
        (
            (
                "--annotators",
                "no-such.csv",
            ),
            "no-such.csv",
        ),
    ],
)
def test_slips(study: Study, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    from accord.cli import main

    study.close()
    table = tmp_path / "people.csv"
    table.write_text("email\nann@share.example\nbob@share.example\n")
    command = ["export", str(study.path), "s1", "--to", str(tmp_path / "t.json")]
    command += [str(table) if word == "FILE" else word for word in words]
    done = CliRunner().invoke(build(), command)
    assert isinstance(done.exception, (InputError, SettingsError)), done.output
    assert said in str(done.exception)
    assert main(command) == 2


def whole(study: Study, folder: Path) -> tuple[dict[str, bytes], Any]:
    """The files that an export may write, and what the ledger has of exports."""
    places = [path for path in (*folder.glob("*"), *study.path.rglob("*")) if path.is_file()]
    files = {str(p): p.read_bytes() for p in places if not p.name.startswith("ledger.")}
    return files, (study.ledger.provenance(), study.ledger.exported())


IN_THE_WAY: list[tuple[str, str, str]] = [
    ("t-2.json", "[]", ""),
    ("t-2.json", '{"my": "notes"}', "t-2.json is there already and is no export of accord"),
    ("t-4.json", '[{"data": {"item_id": "i1"}, "annotations": []}]', "t-4.json is there already"),
    ("t-3.config.xml", "<View/>", "t-3.config.xml is there already and belongs to no t-3.json"),
    ("t-4.instructions.html", "mine", "belongs to no t-4.json"),
    ("t-4.json", "DIRECTORY", "t-4.json is there already"),
    ("t-4.config.xml", "READ-ONLY", "t-4.config.xml can't be written: it is read-only"),
]


@pytest.mark.parametrize(("name", "content", "said"), IN_THE_WAY)
def test_everybody_gets_a_file_or_nobody(
    study: Study, tmp_path: Path, name: str, content: str, said: str
) -> None:
    target = tmp_path / name
    if content == "DIRECTORY":
        target.mkdir()
    elif content == "READ-ONLY":
        target.write_text(PAGE.config, encoding="utf-8")
        target.chmod(0o444)
    else:
        target.write_text(content, encoding="utf-8")
    before = whole(study, tmp_path)
    if not said:  # an export without a task is one of accord's own, and is replaced
        assert len(share_to_files(study, "s1", tmp_path / "t.json", FOUR, per_item=2).shares) == 4
        return
    with pytest.raises(AccordError, match=said):
        share_to_files(study, "s1", tmp_path / "t.json", FOUR, per_item=2)
    assert whole(study, tmp_path) == before, "no file, no plan and no task"
    # what stood in the way is gone, and other people may be named
    if target.is_dir():
        target.rmdir()
    else:
        target.unlink()
    again = share_to_files(study, "s1", tmp_path / "t.json", FOUR[:3], per_item=2)
    assert [share.added for share in again.shares] == [40, 40, 40]


def test_a_disk_that_is_full_at_the_last_file_leaves_none(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_text, written = Path.write_text, []

    def failing(self: Path, *arguments: Any, **more: Any) -> int:
        written.append(self)
        if len(written) == 12:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_text(self, *arguments, **more)

    monkeypatch.setattr(Path, "write_text", failing)
    with pytest.raises(AccordError, match=r"t-4\.json can't be written: No space left on device"):
        share_to_files(study, "s1", tmp_path / "t.json", FOUR, per_item=2)
    assert len({path.name for path in written}) == 12
    assert not list(tmp_path.glob("t-*")) and not list(tmp_path.glob(".accord-*"))
    assert study.ledger.exported("s1") == []
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    again = share_to_files(study, "s1", tmp_path / "t.json", FOUR, per_item=2)
    assert [share.added for share in again.shares] == [30] * 4


def test_a_template_of_ones_own_is_not_kept_of_an_export_that_was_refused(
    study: Study, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    shutil.copytree(Path(accord.__file__).parent / "templates" / "labelling" / "pair", own)
    text = (own / "template.toml").read_text(encoding="utf-8")
    (own / "template.toml").write_text(text.replace('"pair"', '"mine"', 1), encoding="utf-8")
    (tmp_path / "t-2.json").write_text("mine", encoding="utf-8")
    (tmp_path / "t.json").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="t-2.json is there already"):
        share_to_files(study, "s1", tmp_path / "t.json", FOUR, per_item=2, template=own)
    with pytest.raises(InputError, match="t.json is there already"):
        export_to_file(study, "s1", tmp_path / "t.json", template=own)
    assert not (study.path / "templates").exists()
    export_to_file(study, "s1", tmp_path / "u.json", template=own)
    assert [path.name for path in (study.path / "templates").iterdir()] == ["mine@3"]
