"""Ratings of files come into a study: labels, raters, repeats, and what is told of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from accord.scoring.errors import InputError, SettingsError
from accord.scoring.records import INCORRECT
from accord.study import RatingsOptions, Study
from accord.study.intake import RESERVED
from accord.study.ledger import RatingRow, Sample
from small_study import QUESTIONS, write


def test_ratings_long_with_remarks(study: Study, tmp_path: Path) -> None:
    first, second = (item.item_id for item in study.items()[:2])
    rows = [
        {
            "item_id": first,
            "rater": "ann",
            "kind": "annotator",
            "rating": "CORRECT",
            "reasons": ["parse error"],
            "comment": "hm",
            "guideline": "v2",
        },
        {"item_id": second, "rater": "j", "kind": "judge", "rating": None},
    ]
    path = write(tmp_path / "ratings.jsonl", rows)
    assert study.add_ratings(path).new == 2
    assert study.ledger.rating_rows() == [
        RatingRow(
            first,
            "ann",
            "annotator",
            "CORRECT",
            "rated",
            ("parse error",),
            "hm",
            "v2",
            "file:ratings.jsonl",
        ),
        RatingRow(second, "j", "judge", None, "unscored", source="file:ratings.jsonl"),
    ]
    again = study.add_ratings(path)
    assert (again.new, again.already) == (0, 2)


def test_no_field_of_a_question_replaces_what_figures_read(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text "false" in a column of accord's own would be taken as true."""
    from accord.study import intake
    from accord.study.ratings import OWN_MARKS
    from accord.study.tuned import MARK
    from accord.study.universe_places import PLACES

    assert {"unmatched", MARK, *PLACES} | OWN_MARKS <= RESERVED
    item = study.items()[0].item_id
    study.ledger.add_ratings([RatingRow(item, "ann", "annotator", "CORRECT")])
    row = {**QUESTIONS[0], "question_id": "q9", "unmatched": "false", "region": "FR"}
    answer = {"question_id": "q9", "system": "alpha", "response": "1. Lennon"}
    monkeypatch.setattr(intake, "RESERVED", RESERVED - OWN_MARKS)  # as studies of before have it
    study.add_questions(write(tmp_path / "more.jsonl", [row]))
    study.add_responses(write(tmp_path / "answer.jsonl", [answer]))
    (new,) = (one.item_id for one in study.items() if one.question_id == "q9")
    study.ledger.add_ratings([RatingRow(new, "ann", "annotator", "CORRECT")])
    frame = study.ratings().frame
    assert "unmatched" not in frame.columns and frame["region"].tolist() == ["UK", "FR"]


def test_repeats_and_unused_columns_of_ratings_are_told(paired: Study, tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text(
        "item_id,rater,kind,rating,repeat,comment,weight\n"
        "p1,ann,annotator,CORRECT,0,sure,3\np1,ann,annotator,INCORRECT,1,on second thoughts,3\n"
        "p2,ann,annotator,,0,lunch,3\np2,ann,annotator,CORRECT,1,back,3\n"
    )
    added = paired.add_ratings(path)
    assert (added.rows, added.new, added.unused) == (4, 2, ("weight",))
    assert any("1 ratings repeat an item" in n and "left out" in n for n in added.notes)
    assert not any("count only" in note for note in added.notes)
    kept = [(row.item_id, row.rating, row.comment) for row in paired.ledger.rating_rows()]
    assert kept == [("p1", "CORRECT", "sure"), ("p2", "CORRECT", "back")]


@pytest.mark.parametrize(
    ("rater", "kind", "says"),
    [
        ("adjudicated", "annotator", "is known as adjudicated and can't be annotator"),
        ("ground-truth", "judge", "is known as adjudicated and can't be judge"),
        ("rule", "annotator", "is known as judge and can't be annotator"),
        ("ann#2", "annotator", "is what accord calls further ratings of a person"),
        ("ann+judge", "annotator", "is what accord calls further ratings of a person"),
        ("a\x1b[2Jn", "annotator", "holds a control character"),
    ],
)
def test_no_rater_takes_a_name_of_accords_own(
    paired: Study, tmp_path: Path, rater: str, kind: str, says: str
) -> None:
    """Rows are never changed: the import or the run that needs the name could never add its own."""
    paired.ledger.add_ratings([RatingRow("p1", "ann", "annotator", "CORRECT")])
    path = write(
        tmp_path / "names.jsonl",
        [{"item_id": "p2", "rater": rater, "kind": kind, "rating": "CORRECT"}],
    )
    with pytest.raises(InputError) as caught:
        paired.add_ratings(path)
    assert says in str(caught.value) and "another name" in str(caught.value)
    assert len(paired.ledger.rating_rows()) == 1
    judges = [
        {"item_id": "p1", "rater": name, "kind": "judge", "rating": "CORRECT"}
        for name in ("m", "m#2", "rule")
    ]
    assert paired.add_ratings(write(tmp_path / "judges.jsonl", judges)).new == 3


def test_a_slip_in_label_words_is_not_kept(paired: Study, tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("item_id,rater,kind,rating\np1,ann,annotator,yes\n")
    with pytest.raises(SettingsError, match="turns 'yes' into 'CORECT'"):
        paired.add_ratings(path, RatingsOptions(labels={"yes": "CORECT"}))
    assert paired.ledger.rating_rows() == []


def test_ratings_wide_with_label_words(paired: Study, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("item_id,a,b,gpt,final\np1,Yes,No,Yes,Yes\np2,No,,,No\np3,Yes,Yes,No,Yes\n")
    options = RatingsOptions(
        wide=True,
        annotators=("a", "b"),
        judges=("gpt",),
        final="final",
        labels={"Yes": "CORRECT", "No": "INCORRECT"},
    )
    added = paired.add_ratings(path, options)
    assert added.new == 11  # 12 cells, the blank one of a person is no rating
    ratings = paired.ratings()
    kinds = dict(ratings.frame.groupby("rater")["kind"].first())
    assert kinds == {"a": "annotator", "b": "annotator", "gpt": "judge", "final": "adjudicated"}
    unscored = ratings.frame[ratings.frame["status"] == "unscored"]
    assert unscored[["item_id", "rater"]].to_numpy().tolist() == [["p2", "gpt"]]
    assert ratings.frame["question_id"].tolist()[:2] == ["q1", "q1"]
    with pytest.raises(InputError, match="rater 'a' is known as annotator"):
        paired.add_ratings(path, replace(options, annotators=("b",), judges=("a",)))


def test_the_ratings_of_a_study_have_what_the_figures_need(study: Study) -> None:
    study.score()
    ratings = study.ratings()
    frame = ratings.frame
    assert set(frame["kind"]) == {"judge"} and set(frame["rater"]) == {"exact"}
    # q1 alpha 2, beta 3; q2 alpha 3, beta 0 (empty answer), alpha thinking 3: one row an item.
    assert len(frame) == 11 and frame["item_id"].is_unique
    counts = frame.groupby(["question_id", "system", "variant"])[["n_predicted", "n_reference"]]
    assert counts.first().to_dict("index") == {
        ("q1", "alpha", ""): {"n_predicted": 2, "n_reference": 2},
        ("q1", "beta", ""): {"n_predicted": 3, "n_reference": 2},
        ("q2", "alpha", ""): {"n_predicted": 3, "n_reference": 3},
        ("q2", "alpha", "thinking"): {"n_predicted": 3, "n_reference": 3},
    }
    assert frame["response_id"].nunique() == 4
    regions = frame.set_index("question_id")["region"]
    assert set(regions["q1"]) == {"UK"} and set(regions["q2"]) == {None}
    assert (frame["weight"] == 1.0).all()
    # A predicted element without a partner is an item too, and wrong whatever it says.
    unmatched = {item.item_id for item in study.items() if item.reference is None}
    assert len(unmatched) == 1
    assert set(frame[frame["item_id"].isin(unmatched)]["rating"]) == {INCORRECT}


def test_the_latest_rating_is_the_one_that_is_read(paired: Study) -> None:
    for value in ("CORRECT", "INCORRECT"):
        paired.ledger.add_ratings([RatingRow("p1", "ann", "annotator", value)])
    paired.ledger.add_ratings(
        [
            RatingRow("p2", "ann", "annotator", None, "skipped"),
            RatingRow("gone", "ann", "annotator", "CORRECT"),
        ]
    )
    ratings = paired.ratings()
    assert ratings.frame["rating"].tolist() == ["INCORRECT"]
    assert ratings.dropped["skipped"] == 1 and sum(ratings.dropped.values()) == 2


def test_samples_give_weights(paired: Study) -> None:
    for item in ("p1", "p2", "p3"):
        paired.ledger.add_ratings([RatingRow(item, "ann", "annotator", "CORRECT")])
    paired.ledger.add_sample(Sample("s", "agreement", "x", 1, {}, (("p1", 0.25), ("p2", 0.5))))
    paired.ledger.add_sample(Sample("t", "agreement", "x", 1, {}, (("p2", 0.1),)))
    everything = paired.ratings()
    # p2 is in either with probability 1 - (1 - .5)(1 - .1) = .55; t has no item of its own.
    assert everything.frame["weight"].tolist() == pytest.approx([4.0, 1 / 0.55, 1.0], rel=1e-12)
    assert any("2 samples are used together" in note for note in everything.notes)
    assert any("1 items that people rated are in no sample" in note for note in everything.notes)
    one = paired.ratings("t")
    assert one.frame[["item_id", "weight"]].to_numpy().tolist() == [["p2", 10.0]]
    assert one.notes == ()
