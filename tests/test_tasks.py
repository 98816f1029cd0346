"""What a task shows, and that it shows nothing else."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord import cli
from accord.annotate.connection import connect
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.tasks import batches, blind_task, names, shown_sha256, visible
from accord.annotate.template import load_template
from accord.examples import files
from accord.scoring.errors import InputError
from accord.scoring.records import Item
from accord.study import Study

PAGE = load_template()
SIGNS = (
    "ARABIC NUMBER",
    "ARABIC SIGN",
    "ARABIC FOOTNOTE",
    "ARABIC END OF",
    "ARABIC DISPUTED",
    "ARABIC POUND",
    "ARABIC PIASTRE",
    "SYRIAC ABBREVIATION",
    "KAITHI NUMBER",
)
"""How the names of the format characters begin that are drawn, around or over numbers."""


def item(**fields: Any) -> Item:
    values: dict[str, Any] = {
        "item_id": "i1",
        "question_id": "q-secret",
        "question": "Which metals?",
        "reference": "copper",
        "predicted": "Copper",
        "system": "gpt-4",
    }
    return Item(**{**values, **fields})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain = \u00e9\u4e2d\u6587 \u0645\u0631\u062d\u0628\u0627", None),
        ("a\r\nb\rc\td", "a\nb\nc\td"),
        ("abc\u202edef\u202c", "abc[U+202E]def[U+202C]"),
        ("\u2066x\u2069\u200e\u200f\u061c", "[U+2066]x[U+2069][U+200E][U+200F][U+061C]"),
        ("zero\u200bwidth\ufeff\u2060\u00ad", "zero[U+200B]width[U+FEFF][U+2060][U+00AD]"),
        ("nul\x00 bell\x07 c1\x9b", "nul[U+0000] bell[U+0007] c1[U+009B]"),
        ("\u2028\u2029", "[U+2028][U+2029]"),
        ("tag\U000e0041", "tag[U+E0041]"),
        ("half\ud83d", "half[U+D83D]"),
        ("\u3164hangul\u115f\u2800", "[U+3164]hangul[U+115F][U+2800]"),
        # A joiner belongs into a Persian word and a joined emoji, not between Latin letters.
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", None),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", None),
        ("\u2764\ufe0f\u200d\U0001f525", None),
        ("pay\u200dpal \u200c", "pay[U+200D]pal [U+200C]"),
        ("\u2764\ufe0f 1\ufe0f\u20e3", None),
        ("a\ufe0f", "a[U+FE0F]"),
        ("\u0600\u06dd", None),
        ("a\u00a0b\u2003c", None),
    ],
)
def test_what_cannot_be_seen_is_an_escape(text: str, shown: str | None) -> None:
    assert visible(text) == (text if shown is None else shown)


@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=30))
def test_shown_text_steers_nothing(text: str) -> None:
    out = visible(text)
    assert visible(out) == out
    out.encode("utf-8")
    for char in out:
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            assert char in "\n\t\u200c\u200d" or unicodedata.name(char, "").startswith(SIGNS), char


def test_a_task_holds_what_is_shown_and_its_identity() -> None:
    one = item(aliases=("Cu", "cuprum\u202e"))
    data = blind_task(one, PAGE, "s1")["data"]
    assert tuple(data) == PAGE.fields
    assert data == {
        "item_id": "i1",
        "content_sha256": one.content_sha256,
        "shown_sha256": shown_sha256(data, PAGE.shown),
        "template": "pair",
        "template_version": PAGE.version,
        "sample_id": "s1",
        "question": "Which metals?",
        "reference": "copper",
        "also_accepted": "Also accepted:\n• Cu\n• cuprum[U+202E]",
        "reference_note": "",
        "predicted": "Copper",
        "predicted_note": "",
    }
    assert "gpt-4" not in json.dumps(data) and "q-secret" not in json.dumps(data)
    # The system is in no part of a task: two systems' same answers look the same.
    other = blind_task(item(aliases=one.aliases, system="llama"), PAGE, "s1")["data"]
    assert other == data


@pytest.mark.parametrize(
    ("reference", "predicted", "notes"),
    [
        (None, "Zinc", ("(no reference element was matched)", "")),
        ("", "Zinc", ("(empty)", "")),
        ("copper", " \n", ("", "(empty)")),
    ],
)
def test_what_is_not_there_is_said(
    reference: str | None, predicted: str, notes: tuple[str, str]
) -> None:
    data = blind_task(item(reference=reference, predicted=predicted), PAGE, "s")["data"]
    assert (data["reference_note"], data["predicted_note"]) == notes
    assert None not in data.values(), "Label Studio refuses null"


def test_hashes_notice_any_change() -> None:
    data = blind_task(item(), PAGE, "s")["data"]
    for name in PAGE.shown:
        assert shown_sha256({**data, name: data[name] + " "}, PAGE.shown) != data["shown_sha256"]


def test_batches_hold_at_most_a_thousand_tasks_and_twenty_megabytes() -> None:
    tasks: list[Mapping[str, Any]] = [{"data": {"n": n}} for n in range(2_500)]
    found = list(batches(tasks))
    assert [len(batch) for batch in found] == [1_000, 1_000, 500]
    assert [task for batch in found for task in batch] == tasks
    heavy: list[Mapping[str, Any]] = [{"data": {"text": "x" * 7_000_000}} for _ in range(5)]
    assert [len(batch) for batch in batches(heavy)] == [2, 2, 1]
    assert list(batches([])) == []
    assert [len(b) for b in batches([{"data": {"text": "x" * 30_000_000}}])] == [1]


def test_a_system_s_name_is_found_as_a_word() -> None:
    assert names("q1/GPT-4/0", "gpt-4") and names("I am gpt-4.", "gpt-4")
    assert not names("q1-gpt-45", "gpt-4") and not names("alpha", "alp")
    assert not names("-", "-") and not names("a b", "a")


# Over everything that is handed out

SYSTEMS = ("alder", "birch", "cedar")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example study with three systems and the verdicts of two judges."""
    path = tmp_path_factory.mktemp("blind") / "study"
    with Study.create(path) as study:
        study.add_questions(Path(str(files() / "questions.jsonl")))
        study.add_responses(Path(str(files() / "responses.jsonl")))
        study.score(["exact", "rouge"])
        draw_sample(study, n=300, sample_id="s1")
    return path


def middles(order: list[str], group_of: Mapping[str, object]) -> dict[object, float]:
    """How far each group's mean place is from the middle, in standard errors."""
    n = len(order)
    groups: dict[object, list[int]] = {}
    for place, one in enumerate(order):
        groups.setdefault(group_of[one], []).append(place)
    # Places drawn without replacement: variance (n^2 - 1)/12 * (1 - m/n) / m * n/(n - 1).
    return {
        group: (sum(places) / len(places) - (n - 1) / 2)
        / math.sqrt((n + 1) * (n - len(places)) / (12 * len(places)))
        for group, places in groups.items()
    }


def check_blind(study: Study, tasks: list[dict[str, Any]], about: str) -> None:
    """No system, judge, verdict or order in the tasks or in the texts about them."""
    items = {one.item_id: one for one in study.items()}
    judges = [rater for rater, kind in study.ledger.raters().items() if kind == "judge"]
    assert set(judges) == {"exact", "rouge"} and len(tasks) == 300
    secret = [*SYSTEMS, *judges]
    assert not [word for word in secret if names(about, word)]
    verdicts: dict[str, dict[str, str | None]] = {}
    for row in study.ledger.rating_rows():
        verdicts.setdefault(row.item_id, {})[row.rater] = row.rating
    for task in tasks:
        data = task["data"]
        assert tuple(sorted(data)) == tuple(sorted(PAGE.fields))
        one = items[data["item_id"]]
        # Everything but the three texts of the item is the same for every system and verdict.
        allowed = {"question", "reference", "also_accepted", "predicted"}
        rest = json.dumps({k: v for k, v in data.items() if k not in allowed})
        assert not [word for word in secret if names(rest, word)], rest
        assert not any(word in rest for word in ("CORRECT", one.question_id))
        assert data["predicted"] == visible(one.predicted)
    order = [task["data"]["item_id"] for task in tasks]
    early = {one.item_id: place < len(items) / 2 for place, one in enumerate(study.items())}
    for group_of in (
        {one.item_id: one.system for one in items.values()},
        {one: ratings["exact"] for one, ratings in verdicts.items()},
        early,
    ):
        found = middles(order, group_of)
        assert len(found) > 1 and all(abs(z) < 4 for z in found.values()), found


def test_a_file_is_blind(scored: Path, tmp_path: Path) -> None:
    target = tmp_path / "tasks.json"
    assert cli.main(["export", str(scored), "s1", "--to", str(target)]) == 0
    tasks = json.loads(target.read_text(encoding="utf-8"))
    assert all(task.keys() == {"data"} for task in tasks)
    about = "".join(
        target.with_suffix(end).read_text(encoding="utf-8")
        for end in (".config.xml", ".instructions.html")
    )
    with Study.open(scored) as study:
        check_blind(study, tasks, about)
        assert [t["data"]["item_id"] for t in tasks] == [
            i for i, _ in study.ledger.sample("s1").items
        ]


@pytest.mark.label_studio
def test_a_project_is_blind(scored: Path, on_label_studio: PrivateServer) -> None:
    assert cli.main(["export", str(scored), "s1"]) == 0
    with Study.open(scored) as study, connect() as connection:
        project_id = next(r.project_id for r in study.ledger.exported("s1") if r.project_id)
        project = connection.client.projects.get(id=project_id)
        tasks: Any = connection.client.projects.exports.as_json(project_id)
        about = json.dumps(project.model_dump(mode="json"))
        check_blind(study, tasks, about)
    assert project.title == "Grading pairs s1"
    assert project.show_collab_predictions is False and project.maximum_annotations == 1
    assert not any(task["predictions"] or task["annotations"] or task["meta"] for task in tasks)
    assert [task["id"] for task in tasks] == sorted(task["id"] for task in tasks)


def test_ids_and_names_that_tell_the_system_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text(
        "item_id,question_id,question,reference,predicted,system\n"
        "q1-gpt4-0,q1,Which?,a,b,gpt4\nq1-other,q1,Which?,a,c,llama\n",
        encoding="utf-8",
    )
    with Study.create(tmp_path / "study") as study:
        study.add_pairs(table)
        draw_sample(study, sample_id="s1")
        with pytest.raises(InputError, match=r"1 item ids tell the system: 'q1-gpt4-0' names"):
            from accord.annotate.export import export_to_file

            export_to_file(study, "s1", tmp_path / "t.json")
        assert not (tmp_path / "t.json").exists() and study.ledger.exported() == []


def test_a_sample_s_name_may_not_name_a_system(tmp_path: Path) -> None:
    from accord.annotate.export import export_to_file

    table = tmp_path / "pairs.csv"
    table.write_text(
        "question_id,question,reference,predicted,system\nq1,Which?,a,I am llama,llama\n",
        encoding="utf-8",
    )
    with Study.create(tmp_path / "study") as study:
        study.add_pairs(table)
        draw_sample(study, sample_id="Llama-first")
        with pytest.raises(InputError, match="names the system 'llama'"):
            export_to_file(study, "Llama-first", tmp_path / "t.json")
        draw_sample(study, sample_id="s2")
        report = export_to_file(study, "s2", tmp_path / "t.json")
        assert report.notes == (
            "1 predicted texts name a system themselves; blinding can't take that away",
        )


@pytest.mark.parametrize("beside", ["t.config.xml", "t.instructions.html"])
def test_an_export_replaces_no_file_that_is_somebody_s_own(tmp_path: Path, beside: str) -> None:
    from accord.annotate.export import export_to_file

    table = tmp_path / "pairs.csv"
    table.write_text("question_id,question,reference,predicted\nq1,Which?,a,b\n", encoding="utf-8")
    own = tmp_path / beside
    own.write_text("mine", encoding="utf-8")
    with Study.create(tmp_path / "study") as study:
        study.add_pairs(table)
        draw_sample(study, sample_id="s1")
        with pytest.raises(InputError, match=r"is there already and belongs to no t\.json"):
            export_to_file(study, "s1", tmp_path / "t.json")
        assert own.read_text(encoding="utf-8") == "mine" and study.ledger.exported() == []
        own.unlink()
        export_to_file(study, "s1", tmp_path / "t.json")
        # what an export that broke off before its last file leaves
        (tmp_path / "t.json").unlink()
        assert export_to_file(study, "s1", tmp_path / "t.json").total == 1
