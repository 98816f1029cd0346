"""Labels back from export files: every rule, every bad file, and what stays unchanged."""

from __future__ import annotations

import copy
import gzip
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accord import cli
from accord.annotate.importing import ImportReport, import_files
from accord.annotate.pseudonym import Pseudonyms
from accord.annotate.rules import RULES
from accord.annotate.sample import draw_sample
from accord.annotate.tasks import blind_task
from accord.annotate.template import load_template
from accord.scoring.errors import AccordError, InputError
from accord.study import Study

PAGE = load_template()


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    rows = "".join(f"i{n},q{n // 2},Which {n // 2}?,ref {n},pred {n}\n" for n in range(8))
    table = tmp_path / "pairs.csv"
    table.write_text(f"item_id,question_id,question,reference,predicted\n{rows}", encoding="utf-8")
    with Study.create(tmp_path / "study") as study:
        study.add_pairs(table)
        draw_sample(study, sample_id="s1")
        yield study


class Export:
    """An export as Label Studio writes it, built task by task."""

    def __init__(self, study: Study, folder: Path) -> None:
        self._items = {item.item_id: item for item in study.items()}
        self._folder = folder
        self._next = 100
        self.tasks: dict[str, dict[str, Any]] = {}

    def task(self, item: str, key: str | None = None, **data: Any) -> dict[str, Any]:
        """The task of an item, made when it is not there yet; ``data`` overrides."""
        task = self.tasks.get(key or item)
        if task is None:
            number = len(self.tasks) + 1
            task = {
                "id": number,
                "project": 7,
                "drafts": [],
                "predictions": [],
                "annotations": [],
                "data": {**blind_task(self._items[item], PAGE, "s1")["data"], **data},
            }
            self.tasks[key or item] = task
        return task

    def label(
        self, item: str, person: Any, verdict: str | None = None, *, at: int = 0, **more: Any
    ) -> dict[str, Any]:
        """Add an annotation; ``at`` is the minute."""
        self._next += 1
        annotation = {
            "id": self._next,
            "completed_by": {"id": 2, "email": person} if isinstance(person, str) else person,
            "result": PAGE.answer(verdict) if verdict else [],
            "was_cancelled": False,
            "created_at": "2026-11-30T09:00:00.000000Z",
            "updated_at": f"2026-11-30T09:{at:02d}:00.123456Z",
            "unique_id": f"00000000-0000-4000-8000-{self._next:012d}",
            **more,
        }
        self.task(item)["annotations"].append(annotation)
        return annotation

    def write(self, name: str = "export.json") -> Path:
        path = self._folder / name
        path.write_text(json.dumps(list(self.tasks.values())), encoding="utf-8")
        return path


@pytest.fixture
def export(study: Study, tmp_path: Path) -> Export:
    return Export(study, tmp_path)


def found(report: ImportReport) -> dict[str, int]:
    """The rules that found something."""
    assert report.annotations.keys() == RULES.keys()
    return {rule: count for rule, count in report.annotations.items() if count}


def verdicts(study: Study) -> dict[tuple[str, str], str | None]:
    people = Pseudonyms()
    known = {people.of(f"{name}@x.org"): name for name in ("ann", "bob")}
    out: dict[tuple[str, str], str | None] = {}
    for row in study.ledger.rating_rows():
        out[row.item_id, str(known.get(row.rater, row.rater))] = row.rating
    return out


def test_labels_reasons_and_comment_arrive(study: Study, export: Export) -> None:
    note = export.label("i0", "ann@x.org", "CORRECT")
    note["result"] = PAGE.answer(
        "INCORRECT", alignment="NO", reasons=["reference_wrong"], comment="see ann@x.org"
    )
    report = import_files(study, [export.write()])
    assert found(report) == {"labelled": 1} and report.new_ratings == 1
    (row,) = study.ledger.rating_rows()
    assert row.kind == "annotator" and row.source == "label-studio"
    assert (row.rating, row.status, row.guideline) == ("INCORRECT", "rated", "pair@3")
    assert row.reasons == ("reference_wrong", "misaligned")
    assert row.comment == "see ann@x.org", "what people write is theirs"
    (stored,) = study.ledger.annotations()
    assert (stored.project_id, stored.task_id, stored.sample_id) == (7, 1, "s1")
    assert stored.source == "file:export.json"


def test_every_rule_is_counted_once(study: Study, export: Export) -> None:
    export.label("i0", "ann@x.org", "CORRECT", at=1)
    # A skip never counts, whatever was chosen before; the real one does.
    export.label("i0", "bob@x.org", "INCORRECT", at=2)
    export.label("i0", "bob@x.org", "CORRECT", at=3, was_cancelled=True)
    # Several by one person: the latest, not the last in the file.
    export.label("i1", "ann@x.org", "UNSURE", at=9)
    export.label("i1", "Ann@X.org ", "CORRECT", at=5)
    # The latest is no answer: it is refused, and the older one does not step in.
    export.label("i2", "ann@x.org", "CORRECT", at=1)
    export.label("i2", "ann@x.org", at=2)
    two = export.label("i3", "ann@x.org", "CORRECT")
    two["result"] += PAGE.answer("INCORRECT")
    odd = export.label("i3", "bob@x.org", "CORRECT")
    odd["result"][0]["value"]["choices"] = ["MAYBE"]
    junk = export.label("i4", "bob@x.org", "CORRECT")
    junk["result"] = {"verdict": "CORRECT"}
    export.label("i4", None, "CORRECT")
    export.task("i4")["drafts"] = [{"id": 1, "user": "bob@x.org"}]
    export.task("i5", predicted="another text")
    export.label("i5", "ann@x.org", "CORRECT")
    export.task("i6", template_version="0")
    export.label("i6", "ann@x.org", "CORRECT")
    export.label("i7", "bob@x.org", "CORRECT", was_cancelled=True)
    export.task("i7", key="foreign", item_id="elsewhere")["annotations"] = [
        dict(export.label("i7", "ann@x.org", "CORRECT"), unique_id="f")
    ]
    del export.task("i7")["annotations"][-1]
    report = import_files(study, [export.write()])
    assert found(report) == {
        "labelled": 3,
        "superseded": 2,
        "skipped": 2,
        "no verdict": 1,
        "several verdicts": 1,
        "unknown verdict": 1,
        "unreadable": 1,
        "unknown annotator": 1,
        "changed text": 1,
        "other template": 1,
        "unknown item": 1,
    }
    assert report.drafts == 1
    assert report.tasks == {
        "seen": 9,
        "without item id": 0,
        "unknown item": 1,
        "changed text": 1,
        "other template": 1,
        "twice": 0,
    }
    assert verdicts(study) == {
        ("i0", "ann"): "CORRECT",
        ("i0", "bob"): "INCORRECT",
        ("i1", "ann"): "UNSURE",
        ("i7", "bob"): None,
    }
    lines = list(report.lines())
    assert lines[0] == "9 tasks, 15 annotations (export.json)"
    assert all(any(line.split("  ")[1:2] == [rule] for line in lines) for rule in found(report))
    # Raw first: all annotations are in the ledger, whatever their rule.
    assert len(study.ledger.annotations()) == 15


def test_a_repeated_import_changes_nothing(study: Study, export: Export) -> None:
    export.label("i0", "ann@x.org", "CORRECT")
    export.label("i1", "ann@x.org", "CORRECT", was_cancelled=True)
    first = import_files(study, [export.write()])
    before = study.ledger.query("SELECT count(*) FROM provenance")
    second = import_files(study, [export.write("renamed.json")])
    assert (second.new_annotations, second.new_ratings) == (0, 0)
    assert second.annotations == first.annotations
    assert study.ledger.query("SELECT count(*) FROM provenance") == before


def test_an_edit_is_a_new_version_and_the_old_one_stays(study: Study, export: Export) -> None:
    annotation = export.label("i0", "ann@x.org", "CORRECT", at=1)
    import_files(study, [export.write("old.json")])
    annotation.update(result=PAGE.answer("INCORRECT"), updated_at="2026-11-30T10:00:00Z")
    annotation["updated_by"] = 9
    report = import_files(study, [export.write("new.json")])
    assert (report.new_annotations, report.new_ratings) == (1, 1)
    assert report.edited_by_others == 1
    assert verdicts(study) == {("i0", "ann"): "INCORRECT"}
    assert len(study.ledger.annotations()) == 2
    assert len(study.ledger.rating_rows(history=True)) == 2
    # The older file once more: what it holds is known to be superseded.
    again = import_files(study, [study.path.parent / "old.json"])
    assert found(again) == {"superseded": 1} and again.new_ratings == 0
    assert verdicts(study) == {("i0", "ann"): "INCORRECT"}


@pytest.mark.parametrize("how", ["skip", "empty"])
def test_a_withdrawn_verdict_no_longer_counts(study: Study, export: Export, how: str) -> None:
    annotation = export.label("i0", "ann@x.org", "CORRECT")
    import_files(study, [export.write()])
    annotation["updated_at"] = "2026-11-30T10:00:00Z"
    withdrawn: dict[str, Any] = {"was_cancelled": True} if how == "skip" else {"result": []}
    annotation.update(withdrawn)
    import_files(study, [export.write()])
    (row,) = study.ledger.rating_rows()
    assert (row.rating, row.status) == (None, "skipped")


def test_duplicate_tasks_are_one_item(study: Study, export: Export) -> None:
    export.label("i0", "ann@x.org", "CORRECT", at=1)
    twin = copy.deepcopy(export.task("i0"))
    twin["id"] = 99
    twin["annotations"][0].update(
        result=PAGE.answer("UNSURE"), unique_id="twin", updated_at="2026-11-30T09:30:00Z"
    )
    export.tasks["twin"] = twin
    report = import_files(study, [export.write()])
    assert report.tasks["twice"] == 1
    assert found(report) == {"labelled": 1, "superseded": 1}
    assert verdicts(study) == {("i0", "ann"): "UNSURE"}


def test_the_study_s_text_changed_since_the_export(study: Study, export: Export) -> None:
    export.task("i0", content_sha256="0" * 64)
    export.label("i0", "ann@x.org", "CORRECT")
    export.label("i1", "ann@x.org", "CORRECT")
    report = import_files(study, [export.write()])
    assert found(report) == {"labelled": 1, "changed text": 1}
    assert verdicts(study) == {("i1", "ann"): "CORRECT"}


def test_no_address_reaches_the_study(study: Study, export: Export) -> None:
    annotation = export.label("i0", "ann@x.org", "CORRECT")
    annotation["completed_by"].update(first_name="Anna", last_name="Smith", username="anna")
    annotation["created_username"] = " ann@x.org, 2"
    annotation["reviews"] = [
        {"created_by": {"email": "chief@x.org", "id": 1}, "note": "chief@x.org"}
    ]
    import_files(study, [export.write()])
    study.close()
    content = b"".join(path.read_bytes() for path in study.path.rglob("*") if path.is_file())
    for secret in (b"ann@", b"chief@", b"Anna", b"Smith", b"x.org"):
        assert secret not in content
    config = study.path.parent / "config" / "accord"
    people = (config / "people.csv").read_text(encoding="utf-8")
    assert f"{Pseudonyms().of('ann@x.org')},ann@x.org" in people
    for path in (config / "people.csv", config / "pseudonym.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_pseudonyms_depend_on_the_key_alone(tmp_path: Path) -> None:
    one, other = Pseudonyms(tmp_path / "a"), Pseudonyms(tmp_path / "b")
    assert one.of("Ann@x.org") == one.of(" ann@X.ORG") == Pseudonyms(tmp_path / "a").of("ann@x.org")
    assert one.of("ann@x.org") != other.of("ann@x.org")
    (tmp_path / "a" / "pseudonym.key").write_text("short", encoding="ascii")
    with pytest.raises(AccordError, match="is damaged"):
        Pseudonyms(tmp_path / "a")
    assert os.listdir(tmp_path / "b") == ["pseudonym.key"]


def test_people_known_by_number(study: Study, export: Export) -> None:
    export.label("i0", 2, "CORRECT")
    export.label("i1", 3, "CORRECT")
    report = import_files(study, [export.write()])
    assert len(report.annotators) == 2
    (note,) = report.notes
    assert note.startswith("known by number only: ")
    assert all(f"{Pseudonyms().of(f'user {n}')} is user {n}" in note for n in (2, 3))
    assert "--annotators 2=ann@example.org" in note
    # Naming one later renames nothing that is stored, and says so.
    report = import_files(study, [export.write()], people={2: "ann@x.org"})
    assert (report.new_annotations, report.new_ratings) == (0, 0)
    assert any("were here before under that name" in note for note in report.notes)


def test_a_number_that_is_in_no_file_is_refused(study: Study, export: Export) -> None:
    export.label("i0", 2, "CORRECT")
    with pytest.raises(InputError, match=r"names user 99.*the numbers in them: 2"):
        import_files(study, [export.write()], people={99: "ann@x.org"})
    assert not study.ledger.annotations()


def test_numbers_can_be_named(study: Study, export: Export) -> None:
    export.label("i0", 2, "CORRECT")
    report = import_files(study, [export.write()], people={2: "ann@x.org"})
    assert verdicts(study) == {("i0", "ann"): "CORRECT"} and not report.notes


def test_one_person_by_number_and_by_address_is_one(study: Study, export: Export) -> None:
    export.label("i0", 2, "CORRECT")
    import_files(study, [export.write("numbers.json")])
    for task in export.tasks.values():
        task["annotations"][0]["completed_by"] = {"id": 2, "email": "ann@x.org"}
    export.label("i1", "ann@x.org", "UNSURE")
    report = import_files(study, [export.write("addresses.json")])
    assert report.new_annotations == 1
    assert len(study.ledger.raters()) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no JSON"),
        (b"item,label\n1,2\n", "is no JSON"),
        (b'[{"id": 1, "data": {"item_id": "i0"', "is cut off"),
        (b'[{"id": 1, "annotations": [', "is cut off"),
        (b'{"a": 1}', "no list of tasks"),
        (b"[1, 2]", "no list of tasks"),
        (b'[{"a": 1}]', "task 1 has no data"),
        (
            b'[{"annotation_id": 3, "annotator": 1, "verdict": "CORRECT"}]',
            "no row of it has an item_id",
        ),
        (b'[{"data": {"item_id": "i0"}}]', "these are tasks, not labels"),
        (b'[{"data": {"item_id": "i0"}, "annotations": {}}]', "no list of objects"),
        (b'[{"data": {"x": 1}, "annotations": []}]', "was not exported by accord"),
        (b'[{"data": {"item_id": "zz"}, "annotations": []}]', "none of its items is in the study"),
        ("[]".encode("utf-16"), "is not UTF-8"),
        (b"[" * 100_000, "is no JSON export"),
        (b"[" + b"9" * 5_000 + b"]", "is no JSON export"),
    ],
)
def test_bad_files_are_one_line_and_change_nothing(
    study: Study, tmp_path: Path, content: bytes, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    good = tmp_path / "good.json"
    export = Export(study, tmp_path)
    export.label("i0", "ann@x.org", "CORRECT")
    export.write("good.json")
    bad = tmp_path / "bad.json"
    bad.write_bytes(content)
    study.close()
    before = (study.path / "ledger.sqlite").read_bytes()
    assert cli.main(["import", str(study.path), str(good), str(bad)]) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1 and "bad.json" in error
    assert said in error
    assert (study.path / "ledger.sqlite").read_bytes() == before


def test_an_empty_export_is_no_mistake(study: Study, tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.write_bytes(b"\xef\xbb\xbf[]")
    report = import_files(study, [empty])
    assert report.tasks["seen"] == 0 and found(report) == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name files or a server"),
        (["x.json", "--from", "label-studio"], "files and --from are both given"),
        (["--from", "elsewhere"], "use --from label-studio"),
        (["missing.json"], "missing.json does not exist"),
        (["x.json", "--annotators", "ann=2"], "write NUMBER=EMAIL"),
        (["x.json", "--sample", "s1"], "--sample goes with --from label-studio"),
        (["--from", "label-studio", "--annotators", "2=a@x.org"], "--annotators goes with files"),
    ],
)
def test_wrong_options(
    study: Study, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    study.close()
    assert cli.main(["import", str(study.path), *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_foreign_exports_are_refused_with_the_reason(study: Study, shared_samples: Path) -> None:
    files = sorted(shared_samples.glob("*.json"))
    assert files
    for file in files:
        with pytest.raises(InputError, match="no task of it has an item_id|JSON_MIN"):
            import_files(study, [file])
    assert study.ledger.annotations() == []


@pytest.fixture
def shared_samples(shared_data: Path) -> Path:
    """Real exports of other projects."""
    return shared_data / "label_studio_exports"


@pytest.mark.parametrize("name", ["x" * 5_000, "../tables", "pair\0", "Pair"])
def test_a_template_s_name_in_a_file_is_only_a_name(
    study: Study, export: Export, name: str
) -> None:
    (study.path / "templates").mkdir()
    (study.path / "tables@3").mkdir()
    export.task("i0")["data"]["template"] = name
    export.label("i0", "ann@x.org", "CORRECT")
    assert found(import_files(study, [export.write()])) == {"other template": 1}


@pytest.mark.parametrize(
    ("where", "key", "odd"),
    [
        ("task", "drafts", 5),
        ("task", "id", 2**70),
        ("task", "project", 2**70),
        ("annotation", "id", 2**70),
        ("data", "sample_id", ["s1"]),
        ("data", "sample_id", {}),
    ],
)
def test_an_odd_number_or_name_costs_no_label(
    study: Study, export: Export, where: str, key: str, odd: object
) -> None:
    note = export.label("i0", "ann@x.org", "CORRECT")
    task = export.task("i0")
    {"task": task, "annotation": note, "data": task["data"]}[where][key] = odd
    assert found(import_files(study, [export.write()])) == {"labelled": 1}
    assert verdicts(study) == {("i0", "ann"): "CORRECT"}


@pytest.mark.parametrize("key", ["template", "template_version"])
def test_a_template_s_name_that_is_no_text(study: Study, export: Export, key: str) -> None:
    export.label("i0", "ann@x.org", "CORRECT")
    export.task("i0")["data"][key] = ["pair"]
    assert found(import_files(study, [export.write()])) == {"other template": 1}


def test_a_number_as_a_table_writes_it_is_the_same_person(study: Study, export: Export) -> None:
    export.label("i0", 2.0, "CORRECT")
    export.label("i1", 2, "CORRECT")
    import_files(study, [export.write()], people={2: "ann@x.org"})
    assert verdicts(study) == {("i0", "ann"): "CORRECT", ("i1", "ann"): "CORRECT"}


def test_a_label_that_is_in_two_files_counts_once(study: Study, export: Export) -> None:
    export.label("i0", "ann@x.org", "CORRECT")
    export.label("i0", "bob@x.org", "CORRECT", was_cancelled=True)["updated_by"] = 9
    older = export.write("older.json")
    export.label("i1", "ann@x.org", "UNSURE")
    report = import_files(study, [older, export.write("newer.json")])
    assert found(report) == {"labelled": 2, "skipped": 1} and report.edited_by_others == 1
    assert [sum(who.values()) for who in report.annotators.values()] in ([1, 2], [2, 1])
    assert "2 annotations came more than once; each counts once" in report.notes
    assert not import_files(study, [older]).notes


def test_a_label_stays_with_the_item_that_its_task_named_first(
    study: Study, export: Export
) -> None:
    """Somebody edits a task on the server so that it names another item."""
    export.label("i0", "ann@x.org", "CORRECT")
    import_files(study, [export.write()])
    for other in ("i1", "elsewhere"):
        export.task("i2")  # one that is the study's
        export.task("i0")["data"]["item_id"] = other
        report = import_files(study, [export.write()])
        assert (report.new_annotations, report.new_ratings) == (0, 0)
        assert found(report) == {"labelled": 1}
        assert any("name another item than when they were imported" in n for n in report.notes)
        assert verdicts(study) == {("i0", "ann"): "CORRECT"}


def test_a_number_that_was_resolved_is_not_called_unknown(study: Study, export: Export) -> None:
    export.label("i0", "ann@x.org", "CORRECT")
    import_files(study, [export.write()])
    export.tasks["i0"]["annotations"][0]["completed_by"] = 2
    export.label("i1", 2, "UNSURE")
    report = import_files(study, [export.write()])
    assert verdicts(study) == {("i0", "ann"): "CORRECT", ("i1", "ann"): "UNSURE"}
    assert not report.notes


def test_a_packed_export(study: Study, export: Export, tmp_path: Path) -> None:
    export.label("i0", "ann@x.org", "CORRECT")
    packed = tmp_path / "export.json.gz"
    packed.write_bytes(gzip.compress(export.write().read_bytes()))
    assert import_files(study, [packed]).new_ratings == 1
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"export.json.gz ends in the middle"):
        import_files(study, [packed])
