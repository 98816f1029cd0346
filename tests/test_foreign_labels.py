"""Labels of projects that accord did not make: every annotation falls under one rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from accord.annotate.foreign import read_labels
from accord.annotate.pseudonym import Pseudonyms
from accord.cli import build
from accord.scoring.errors import InputError, SettingsError


@pytest.fixture
def names(tmp_path: Path) -> Pseudonyms:
    return Pseudonyms(tmp_path / "config")


def choice(name: str, *values: str, kind: str = "choices", **value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "t", "type": kind, "value": {kind: [*values], **value}}


def annotation(
    number: int, who: Any, *result: Any, at: str = "2026-01-01T10:00:00Z", **more: Any
) -> dict[str, Any]:
    return {
        "id": number,
        "completed_by": who,
        "result": [*result],
        "was_cancelled": False,
        "updated_at": at,
        "lead_time": 2.5,
        **more,
    }


def task(number: int, *annotations: Any, **data: Any) -> dict[str, Any]:
    return {"id": number, "data": data, "annotations": [*annotations], "drafts": []}


def written(tmp_path: Path, tasks: Any) -> Path:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    return path


def test_every_rule(tmp_path: Path, names: Pseudonyms) -> None:
    good = choice("verdict", "yes")
    tasks = [
        task(
            1,
            annotation(1, {"id": 1, "email": "Ann@x.org"}, good),
            annotation(2, 2, choice("verdict", "no"), at="2026-01-01T10:00:00Z"),
            annotation(3, 2, good, at="2026-01-01T11:00:00Z"),
            annotation(4, None, good),
            key="a",
        ),
        task(
            2,
            annotation(5, 1, good, was_cancelled=True),
            annotation(6, 2, choice("other", "x")),
            annotation(7, 3, good, choice("verdict", "no")),
            annotation(8, 4, {"from_name": "verdict", "type": "choices", "value": "yes"}),
            key="b",
        ),
        task(3, annotation(9, 1, {**good, "origin": "prediction"}, updated_by=7)),
    ]
    tasks[0]["drafts"] = [{"id": 1}]
    frame, report = read_labels(
        written(tmp_path, tasks),
        item="data.key",
        controls=["verdict"],
        several="invalid",
        names=names,
    )
    assert report.annotations == {
        "labelled": 2,
        "no item key": 1,
        "skipped": 1,
        "unknown annotator": 1,
        "superseded": 1,
        "no value": 1,
        "several values": 1,
        "unreadable": 1,
    }
    assert sum(report.annotations.values()) == 9
    assert (report.tasks, report.drafts, report.edited_by_others, report.prefilled) == (3, 1, 1, 1)
    assert frame[["item_id", "rating"]].values.tolist() == [["a", "yes"], ["a", "yes"]]
    assert set(frame["kind"]) == {"annotator"}
    assert all(who.startswith("annotator-") for who in frame["rater"])
    assert "x.org" not in frame.to_csv()
    assert frame["source"].iloc[0] == "label-studio:export.json, text not verified"
    assert frame["seconds"].iloc[0] == 2.5


def test_a_person_is_one_person_whatever_the_case(tmp_path: Path, names: Pseudonyms) -> None:
    tasks = [
        task(1, annotation(1, {"email": "Ann@x.org"}, choice("v", "a")), key=1),
        task(2, annotation(2, {"email": "ann@X.org"}, choice("v", "a")), key=2),
    ]
    frame, _ = read_labels(written(tmp_path, tasks), item="data.key", controls=["v"], names=names)
    assert frame["rater"].nunique() == 1


def test_several_values(tmp_path: Path, names: Pseudonyms) -> None:
    tasks = [
        task(1, annotation(1, 1, choice("v", "b", "a")), annotation(2, 2, choice("v", "a")), key=1),
        task(2, annotation(3, 1, choice("v", "c")), key=2),
    ]
    path = written(tmp_path, tasks)
    with pytest.raises(InputError, match="1 of 3 answers hold several values of 'v'; --several"):
        read_labels(path, item="data.key", controls=["v"], names=names)
    joined, _ = read_labels(path, item="data.key", controls=["v"], several="join", names=names)
    assert joined["rating"].tolist() == ["a; b", "a", "c"]
    each, report = read_labels(path, item="data.key", controls=["v"], several="each", names=names)
    assert each[["item_id", "rating"]].values.tolist() == [
        *[["1#a", "YES"], ["1#b", "YES"], ["1#c", "NO"]],
        *[["1#a", "YES"], ["1#b", "NO"], ["1#c", "NO"]],
        *[["2#a", "NO"], ["2#b", "NO"], ["2#c", "YES"]],
    ]
    assert set(each["question_id"]) == {"1", "2"}
    assert report.annotations["labelled"] == 3
    with pytest.raises(SettingsError, match="--several is 'some'"):
        read_labels(path, item="data.key", controls=["v"], several="some", names=names)  # type: ignore[arg-type]


def test_a_repeater_gives_an_item_a_part(tmp_path: Path, names: Pseudonyms) -> None:
    result = [choice("verdict_0", "yes"), choice("verdict_10", "no"), choice("verdict_2", "yes")]
    tasks = [task(1, annotation(1, 1, *result, choice("note", "all", kind="choices")), key="q")]
    frame, _ = read_labels(
        written(tmp_path, tasks), item="data.key", controls=["verdict", "note"], names=names
    )
    assert frame["item_id"].tolist() == ["q#0", "q#2", "q#10"]
    assert frame["rating"].tolist() == ["yes", "yes", "no"]
    assert frame["note"].tolist() == ["all"] * 3


@pytest.mark.parametrize(
    ("part", "rating"),
    [
        ({"type": "rating", "value": {"rating": 4}}, "4"),
        ({"type": "number", "value": {"number": 7.5}}, "7.5"),
        ({"type": "pairwise", "value": {"selected": "left"}}, "left"),
        ({"type": "taxonomy", "value": {"taxonomy": [["A", "B"]]}}, "A > B"),
        ({"type": "textarea", "value": {"text": ["one", "two"]}}, "one\ntwo"),
    ],
)
def test_every_kind_of_control(
    tmp_path: Path, names: Pseudonyms, part: dict[str, Any], rating: str
) -> None:
    tasks = [task(1, annotation(1, 1, {"from_name": "v", **part}), key="q")]
    frame, _ = read_labels(written(tmp_path, tasks), item="data.key", controls=["v"], names=names)
    assert frame["rating"].tolist() == [rating]


def test_a_path_into_the_data_and_kept_fields(tmp_path: Path, names: Pseudonyms) -> None:
    tasks = [task(1, annotation(1, 1, choice("v", "a")), **{"a": {"b": 5}, "c.d": "x"})]
    path = written(tmp_path, tasks)
    frame, _ = read_labels(path, item="data.a.b", controls=["v"], keep=["data.c.d"], names=names)
    assert frame[["item_id", "c.d"]].values.tolist() == [["5", "x"]]
    frame, _ = read_labels(path, item="id", controls=["v"], names=names)
    assert frame["item_id"].tolist() == ["1"]
    with pytest.raises(InputError, match=r"no task has data\.key; name where .* id, data\.a"):
        read_labels(path, item="data.key", controls=["v"], names=names)


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ({"a": 1}, "no list of tasks"),
        ([], "has no task"),
        ([{"id": 1, "data": {"k": 1}}], "task 1 has no annotations"),
        ([{"id": 1, "data": {"k": 1}, "completions": []}], "before 1.0"),
        ([{"id": 1, "annotations": []}], "task 1 has no data"),
        (
            [task(1, annotation(1, 1, choice("v", "a", kind="labels", start=0, end=3)), k=1)],
            "'v' marks regions or spans",
        ),
        (
            [task(1, annotation(1, 1, choice("v", "a", x=0.5)), k=1)],
            "'v' marks regions or spans",
        ),
        ([task(1, annotation(1, 1, choice("w", "a")), k=1)], "has the control 'v'; there are w"),
    ],
)
def test_refused(tmp_path: Path, names: Pseudonyms, tasks: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_labels(written(tmp_path, tasks), item="data.k", controls=["v"], names=names)


def test_json_min_and_csv(tmp_path: Path, names: Pseudonyms) -> None:
    rows = [
        {"id": 1, "key": "a", "annotator": 2, "annotation_id": 9, "verdict": "yes",
         "updated_at": "2026-01-02T00:00:00Z", "lead_time": 3.5},
        {"id": 1, "key": "a", "annotator": 2, "annotation_id": 8, "verdict": "no",
         "updated_at": "2026-01-01T00:00:00Z"},
        {"id": 2, "key": "b", "annotator": 3, "annotation_id": 7,
         "verdict": {"choices": ["yes", "no"]}, "updated_at": "2026-01-01T00:00:00Z"},
        {"id": 3, "key": "c", "annotator": 3, "annotation_id": 6, "verdict": [{"number": 7}],
         "updated_at": "2026-01-01T00:00:00Z"},
    ]  # fmt: skip
    frame, report = read_labels(
        written(tmp_path, rows), item="key", controls=["verdict"], several="join", names=names
    )
    assert report.format == "JSON_MIN" and report.tasks == 3
    assert frame["rating"].tolist() == ["7", "no; yes", "yes"] or frame["rating"].tolist() == [
        "no; yes",
        "7",
        "yes",
    ]
    assert report.annotations["superseded"] == 1
    assert any("skips are not in JSON_MIN" in note for note in report.notes)
    csv = tmp_path / "export.csv"
    csv.write_text(
        "annotation_id,annotator,id,key,lead_time,updated_at,verdict\n"
        "9,2.0,1,a,3.5,2026-01-02T00:00:00Z,yes\n"
        '7,3.0,2,b,,2026-01-01T00:00:00Z,"{""choices"": [""yes"", ""no""]}"\n'
    )
    frame, report = read_labels(
        csv, item="data.key", controls=["verdict"], several="join", names=names
    )
    assert report.format == "CSV"
    assert sorted(frame["rating"]) == ["no; yes", "yes"]
    # the same person by number in both formats
    assert set(frame["rater"]) == {names.name("user 2"), names.name("user 3")}


def test_the_command(tmp_path: Path) -> None:
    tasks = [
        task(k, annotation(2 * k, 1, choice("v", "a")), annotation(2 * k + 1, 2, choice("v", "a")),
             key=f"i{k}")
        for k in range(12)
    ]  # fmt: skip
    path = written(tmp_path, tasks)
    env = {"XDG_CONFIG_HOME": str(tmp_path / "home")}
    run = CliRunner().invoke(
        build(), ["labels", str(path), "--item", "data.key", "--control", "v"],
        env=env, catch_exceptions=False,
    )  # fmt: skip
    assert run.exit_code == 0
    assert run.stdout.startswith("item_id,question_id,rater,kind,rating,rated_at,seconds,source\n")
    table = tmp_path / "labels.csv"
    run = CliRunner().invoke(
        build(), ["labels", str(path), "--item", "data.key", "--control", "v", "--to", str(table),
                  "--json"],
        env=env, catch_exceptions=False,
    )  # fmt: skip
    assert json.loads(run.stdout)["annotations"]["labelled"] == 24
    run = CliRunner().invoke(
        build(), ["agree", str(table), "--json"], env=env, catch_exceptions=False
    )
    raw = json.loads(run.stdout)["results"][0]
    assert (raw["name"], raw["estimate"], raw["n"]) == ("agreement", 1.0, 12)


TEAMS = {
    2: {"tasks": 32, "annotations": 96, "skipped": 2, "superseded": 0, "shared": 32},
    8: {"tasks": 31, "annotations": 92, "skipped": 2, "superseded": 2, "shared": 30},
}


@pytest.mark.shared_data
@pytest.mark.parametrize("team", TEAMS)
def test_real_coders(tmp_path: Path, names: Pseudonyms, shared_data: Path, team: int) -> None:
    """Counts by hand: three coders, cancelled, repeated and missing annotations."""
    path = shared_data / "label_studio_exports" / f"leoka_team_{team}.json"
    frame, report = read_labels(
        path, item="data.id.num", controls=["Category"], several="each", names=names
    )
    found = report.annotations
    assert report.tasks == TEAMS[team]["tasks"]
    assert sum(found.values()) == TEAMS[team]["annotations"]
    assert found["skipped"] == TEAMS[team]["skipped"]
    assert found["superseded"] == TEAMS[team]["superseded"]
    table = tmp_path / "labels.csv"
    frame.to_csv(table, index=False)
    run = CliRunner().invoke(build(), ["agree", str(table), "--json"], catch_exceptions=False)
    results = json.loads(run.stdout)["results"]
    three = next(r for r in results if r["name"] == "agreement" and len(r["raters"]) == 3)
    assert three["n"] > 400 and three["clusters"] == TEAMS[team]["shared"]
    assert 0.5 < three["estimate"] < 1


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "control", "said"),
    [
        ("csv_csv_test", "label", "rectanglelabels"),
        ("csv_csv_test2", "uri_selection", None),
        ("csv_csv_test_history", "sentiment", None),
        ("json_min_data", "label", "polygonlabels"),
        ("json_min_data_repeater", "categories", "taxonomy of a region"),
    ],
)
def test_fixtures_of_other_makers(
    names: Pseudonyms, shared_data: Path, name: str, control: str, said: str | None
) -> None:
    path = shared_data / "label_studio_exports" / f"fixture_test_export_{name}.json"
    if said is not None:
        with pytest.raises(InputError, match=said):
            read_labels(path, item="id", controls=[control], names=names)
        return
    frame, report = read_labels(path, item="id", controls=[control], names=names)
    assert (len(frame), report.annotations["labelled"]) == (1, 1)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "item", "control", "counts"),
    [
        ("export_api_made", "data.pair_id", "verdict", (17, 12)),
        ("snapshot_full", "data.pair_id", "verdict", (17, 12)),
        ("export_ui_made_pair", "data.pair_id", "verdict", (6, 2)),
        ("export_ui_made_repeater", "id", "verdict", (1, 1)),
        ("export_ui_made_rating", "id", "quality", (1, 1)),
        ("export_ui_made_audit", "id", "gold_ok", (1, 1)),
    ],
)
def test_real_exports(
    names: Pseudonyms,
    shared_data: Path,
    name: str,
    item: str,
    control: str,
    counts: tuple[int, int],
) -> None:
    path = shared_data.parent / "label-studio" / "samples" / f"{name}.json"
    _, report = read_labels(path, item=item, controls=[control], several="invalid", names=names)
    assert (report.tasks, sum(report.annotations.values())) == counts
    assert report.annotations["labelled"] >= 1
