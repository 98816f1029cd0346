"""The same items to the same person again: handed out, graded, back as repeats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
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
from accord.study import Ratings, Study
from accord.study.records import RatingRow
from accord.study.weights import OF_RETEST
from accord.validate import agreement
from small_study import write

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


@pytest.mark.parametrize("of_repeats", [False, True])
def test_reasons_may_stand_beside_first_labels_or_repeats_alone(
    study: Study, tmp_path: Path, of_repeats: bool
) -> None:
    graded(study, tmp_path, "s1", "CORRECT", 1)
    draw_retest(study, "s1", n=4, sample_id="again")
    graded(study, tmp_path, "again", "INCORRECT", 2)
    for row in study.ledger.rating_rows():
        if (row.source == OF_RETEST) == of_repeats:
            study.ledger.add_ratings([replace(row, reasons=("unverifiable",))])
    ratings = study.ratings()
    assert ratings.repeats is not None
    assert set(ratings.repeats.columns) == {*ratings.frame.columns, "repeat"}
    with_reason = ratings.repeats if of_repeats else ratings.frame
    assert set(with_reason["reasons"]) == {("unverifiable",)}
    assert own_figures(ratings) == [(0.0, 3), (0.0, 1)]


def test_an_unmatched_element_among_the_first_makes_none_of_the_repeats(tmp_path: Path) -> None:
    """Else a CORRECT that is said again would count as one without a reference element."""
    asked = [{"question_id": f"q{n}", "question": "Which?", "reference": "yes"} for n in range(4)]
    given = [{"question_id": f"q{n}", "system": "s", "response": "1. yes"} for n in range(3)]
    given.append({"question_id": "q3", "system": "s", "response": "1. yes\n2. no"})
    with Study.create(tmp_path / "listed") as study:
        study.add_questions(write(tmp_path / "questions.jsonl", asked))
        study.add_responses(write(tmp_path / "responses.jsonl", given))
        items = study.items()
        study.ledger.add_ratings(
            [RatingRow(item.item_id, "ann", "annotator", "CORRECT") for item in items]
            + [
                RatingRow(item.item_id, "ann#2", "annotator", "CORRECT", source=OF_RETEST)
                for item in items
                if item.reference is not None
            ]
        )
        ratings = study.ratings()
        assert ratings.frame["unmatched"].sum() == 1
        assert own_figures(ratings) == [(1.0, 4)]


def own_figures(ratings: Ratings) -> list[tuple[float, int]]:
    """The agreement of each person with themselves, and its items."""
    report = agreement(ratings, extra="incorrect", resamples=0)
    (part,) = [one for one in report.sections if one.name == "rater-quality"]
    found = [one for one in part.results if one.details.get("side") == "self"]
    return [(one.estimate, one.n) for one in found if one.name == "agreement"]
