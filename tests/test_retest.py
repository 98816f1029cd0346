"""The same items to the same person again: handed out, graded, back as repeats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from accord.annotate.annotators import Annotator
from accord.annotate.export import export_to_file
from accord.annotate.importing import import_files
from accord.annotate.pseudonym import Pseudonyms
from accord.annotate.retest import draw_retest
from accord.annotate.sample import draw_sample
from accord.annotate.sharing import share_to_files
from accord.annotate.template import load_template
from accord.scoring.errors import SettingsError, StudyError
from accord.study import Study
from accord.study.records import RatingRow
from accord.study.weights import OF_RETEST

PAGE = load_template()
TWO = [Annotator("ann@x.example", {}), Annotator("bob@x.example", {})]


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    lines = ["item_id,question_id,question,reference,predicted,system"]
    lines += [f"i{n},q{n // 3},Which {n // 3}?,ref {n},pred {n},sys" for n in range(30)]
    (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
    with Study.create(tmp_path / "study") as made:
        made.add_pairs(tmp_path / "pairs.csv")
        draw_sample(made, n=20, sample_id="s1")
        yield made


def graded(study: Study, folder: Path, sample: str, verdict: str, day: int) -> list[list[str]]:
    """Everybody gives the same verdict to all of their tasks; returns each person's items."""
    share_to_files(study, sample, folder / f"{sample}.json", TWO, per_item=1)
    exports, own, at = [], [], f"2026-01-{day:02d}T00:00:00Z"
    for k in (1, 2):
        tasks = json.loads((folder / f"{sample}-{k}.json").read_text())
        own.append([task["data"]["item_id"] for task in tasks])
        for number, task in enumerate(tasks, start=1_000 * k + 10_000 * day):
            task |= {"id": number, "project": k + 10 * day, "annotations": [
                {"id": number, "completed_by": k, "result": PAGE.answer(verdict),
                 "was_cancelled": False, "updated_at": at}]}  # fmt: skip
        exports.append(folder / f"{sample}-back-{k}.json")
        exports[-1].write_text(json.dumps(tasks))
    people = {k: person.email for k, person in enumerate(TWO, start=1)}
    assert import_files(study, exports, people=people).annotations["labelled"] == len(sum(own, []))
    return own


def test_repeats_never_take_the_place_of_first_labels(study: Study, tmp_path: Path) -> None:
    first = graded(study, tmp_path, "s1", "CORRECT", 1)
    before = study.ratings()
    assert len(before.frame) == 20 and before.repeats is None
    drawn = draw_retest(study, "s1", n=4, by_annotator=True, sample_id="again")
    names = [Pseudonyms().of(person.email) for person in TWO]
    again = graded(study, tmp_path, "again", "INCORRECT", 2)
    for k in (0, 1):
        assert set(again[k]) == set(drawn.settings["assigned"][names[k]]) <= set(first[k])
        assert len(again[k]) == 4

    after = study.ratings()
    assert after.frame.equals(before.frame), "the later labels are no first labels"
    assert after.repeats is not None
    assert set(zip(after.repeats["item_id"], after.repeats["rater"], strict=True)) == {
        (item, names[k]) for k in (0, 1) for item in again[k]
    }
    assert set(after.repeats["rating"]) == {"INCORRECT"} and set(after.repeats["repeat"]) == {2}
    assert list(after.repeats.columns) == [*before.frame.columns, "repeat"]
    assert any("8 ratings repeat an item for the same person" in note for note in after.notes)
    named = study.ratings("again")
    assert len(named.frame) == 8 and named.repeats is not None and len(named.repeats) == 8

    # Importing the first labels once more changes nothing, and a second retest is a third time.
    draw_retest(study, "s1", n=10, sample_id="third")
    third = graded(study, tmp_path, "third", "CORRECT", 3)
    repeats = study.ratings().repeats
    assert repeats is not None
    assert repeats["repeat"].tolist().count(3) == len(sum(third, []))
    assert study.ratings().frame.equals(before.frame)


def test_a_retest_goes_to_exactly_those_who_graded(study: Study, tmp_path: Path) -> None:
    graded(study, tmp_path, "s1", "CORRECT", 1)
    draw_retest(study, "s1", n=4, sample_id="again")
    with pytest.raises(StudyError, match="graded these items before; name exactly the 2 people"):
        share_to_files(study, "again", tmp_path / "t.json", TWO[:1], per_item=1)
    with pytest.raises(StudyError, match="graded none of them; name exactly"):
        stranger = [*TWO, Annotator("cyd@x.example", {})]
        share_to_files(study, "again", tmp_path / "t.json", stranger, per_item=1)
    with pytest.raises(SettingsError, match="each of 2 people their own items; name those people"):
        export_to_file(study, "again", tmp_path / "t.json")
    report = share_to_files(study, "again", tmp_path / "t.json", TWO, per_item=1)
    assert report.sentence.startswith("2 people grade again what was drawn for each: ")


def test_a_repeat_of_nothing_is_counted_and_left_out(study: Study) -> None:
    study.ledger.add_ratings(
        [
            RatingRow("i1", "ann", "annotator", "CORRECT"),
            RatingRow("i1", "ann#2", "annotator", "INCORRECT", source=OF_RETEST),
            RatingRow("i2", "ann#2", "annotator", "INCORRECT", source=OF_RETEST),
            # A person who is called so in somebody's table is a person.
            RatingRow("i3", "bob#2", "annotator", "CORRECT"),
        ]
    )
    ratings = study.ratings()
    assert set(ratings.frame["rater"]) == {"ann", "bob#2"}
    assert ratings.repeats is not None and ratings.repeats["item_id"].tolist() == ["i1"]
    assert ratings.dropped == {"retest without a first rating": 1}
