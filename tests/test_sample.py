"""Samples: who is drawn, with what probability, and that it is written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from accord import cli
from accord.annotate.extension import extend_sample
from accord.annotate.retest import draw_retest
from accord.annotate.sample import draw_sample
from accord.scoring.errors import SettingsError, StudyError
from accord.study import Study
from accord.study.records import RatingRow, Sample, StoredAnnotation
from accord.study.weights import weights_of


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """12 questions with 1 to 3 given pairs each in two categories: 24 items."""
    rows = ["question_id,question,reference,predicted,system,category"]
    for q in range(12):
        for k in range(1 + q % 3):
            category = "rare" if q < 3 else "common"
            rows.append(f"q{q},Question {q}?,ref {q} {k},pred {q} {k},sys{k},{category}")
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    study = Study.create(tmp_path / "study")
    study.add_pairs(tmp_path / "pairs.csv", strata=["category"])
    return study


def test_a_sample_is_seeded_recorded_and_in_shuffled_order(study: Study) -> None:
    first = draw_sample(study, n=10, seed=3, sample_id="a")
    assert study.ledger.sample("a") == first
    assert len(first.items) == len({item for item, _ in first.items}) == 10
    assert {pi for _, pi in first.items} == {10 / 24}
    assert first.design == (
        "10 of 24 items were drawn without replacement as a simple random sample, with seed 3."
    )
    order = [item.item_id for item in study.items()]
    places = [order.index(item) for item, _ in first.items]
    assert places != sorted(places), "the order tells the order of the study"
    assert draw_sample(study, n=10, seed=4, sample_id="b").items != first.items


def test_stratified_sample(study: Study) -> None:
    sample = draw_sample(study, n=8, by=["category"])
    category = dict(
        zip([i.item_id for i in study.items()], ["rare"] * 6 + ["common"] * 18, strict=True)
    )
    counts = {
        name: [pi for i, pi in sample.items if category[i] == name] for name in ("rare", "common")
    }
    assert counts == {"rare": [2 / 6] * 2, "common": [6 / 18] * 6}
    assert "stratified by category (2 strata" in sample.design


def test_whole_questions(study: Study) -> None:
    sample = draw_sample(study, questions=5)
    question = {item.item_id: item.question_id for item in study.items()}
    drawn = {question[item] for item, _ in sample.items}
    assert len(drawn) == 5
    assert {item for item, q in question.items() if q in drawn} == {i for i, _ in sample.items}
    assert {pi for _, pi in sample.items} == {5 / 12}
    assert sample.design.startswith("5 of 12 questions, with all of their ")


def test_all_items_are_the_default(study: Study) -> None:
    sample = draw_sample(study)
    assert len(sample.items) == 24 and {pi for _, pi in sample.items} == {1.0}
    assert draw_sample(study).sample_id == "s2"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 25}, "the frame has 24 items"),
        ({"n": 0}, "give --n from 1 to 24"),
        ({"questions": 13}, "the frame has 12 questions"),
        ({"n": 3, "questions": 3}, "give one of them"),
        ({"n": 5, "by": ["colour"]}, "'colour', which is no column; use category, how, "),
        ({"n": 2, "by": ["question_id"]}, "draw at least 20 items"),
        ({"questions": 4, "by": ["system"]}, "differs within question"),
        ({"per_question": 0}, "--per-question is 0; give 1 or more"),
        ({"n": 4, "per_question": 2}, "--n and --per-question are both given"),
        ({"n": 4, "paired": True}, "--paired is for whole questions; give --questions"),
        ({"n": 4, "allocate": "equal"}, "name them with --by"),
        ({"n": 4, "allocate": "best"}, "use proportional, equal, neyman"),
        ({"n": 4, "by": ["category"], "allocate": "neyman"}, "belong together; draw and grade"),
        ({"n": 4, "merge_small": True}, "--merge-small merges strata; name them with --by"),
        ({"questions": 4, "oversample": {"disagreements": "0.5"}}, "draws items, not questions"),
        ({"oversample": {"disagreements": "0.5"}}, "takes all items; give --n"),
        ({"n": 4, "oversample": {"disagreements": "50%"}}, "'50%'; give a number between 0 and 1"),
        ({"n": 4, "oversample": {"system:sys0": "0.5", "system:sys1": "0.5"}}, "sum to 1"),
        ({"n": 4, "oversample": {"hard": "0.5"}}, "use disagreements, judged:VERDICT, "),
        ({"n": 4, "oversample": {"disagreements": "0.5"}}, "there are none; run another"),
        ({"n": 4, "oversample": {"low-confidence": "0.5"}}, "reads the column 'confidence'"),
        ({"n": 4, "oversample": {"colour:red": "0.5"}}, "the column 'colour', which is not there"),
        ({"n": 4, "judges": ["main"]}, "--judges is for --oversample disagreements or"),
        ({"n": 4, "systems": ["sys9"]}, "names 'sys9', which is no system; use sys0, sys1, sys2"),
        ({"questions": 2, "paired": True, "systems": ["sys0"]}, "--paired needs two systems"),
        ({"questions": 9, "paired": True}, "the frame has 4 questions"),
        ({"n": 4, "purpose": "retest"}, "name their sample with --of"),
    ],
)
def test_what_cannot_be_drawn(study: Study, options: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=None) as caught:
        draw_sample(study, **options)  # type: ignore[arg-type]  # a table of keyword arguments
    assert words in str(caught.value)
    assert study.ledger.samples() == []


def test_names_are_not_used_twice_and_an_empty_study_has_no_sample(
    study: Study, tmp_path: Path
) -> None:
    draw_sample(study, sample_id="mine")
    with pytest.raises(StudyError, match="there is a sample 'mine' already"):
        draw_sample(study, sample_id="mine")
    with (
        Study.create(tmp_path / "empty") as empty,
        pytest.raises(StudyError, match="no responses and no pairs"),
    ):
        draw_sample(empty)


def test_command(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    study.close()
    assert cli.main(["sample", str(study.path), "--n", "6", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["results"][0]
    assert result["sample"] == "s1" and result["items"] == 6
    assert cli.main(["sample", str(study.path), "--n", "99"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_it_is_for_is_kept(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sample", str(study.path), "--for", "audit", "--n", "6"]) == 0
    assert study.ledger.sample("s1").purpose == "audit"
    capsys.readouterr()
    assert cli.main(["sample", str(study.path), "--for", "fun"]) == 2
    assert "use agreement, audit, pilot, retest" in capsys.readouterr().err


# Frames and designs


def test_the_frame_is_kept_with_strata_and_probabilities(study: Study) -> None:
    sample = draw_sample(study, n=8, by=["category"])
    frame = {row.item_id: row for row in study.ledger.frame("s1")}
    assert len(frame) == 24 and {row.stratum for row in frame.values()} == {("rare",), ("common",)}
    assert all(frame[item].probability == pi for item, pi in sample.items)
    assert sum(row.probability for row in frame.values()) == pytest.approx(8, abs=1e-12)
    assert sample.settings["strata"] == [
        {"stratum": ["rare"], "units": 6, "drawn": 2},
        {"stratum": ["common"], "units": 18, "drawn": 6},
    ]


def test_equal_allocation(study: Study) -> None:
    sample = draw_sample(study, n=8, by=["category"], allocate="equal")
    assert sorted(pi for _, pi in sample.items) == [4 / 18] * 4 + [4 / 6] * 4
    assert "(2 strata, equal allocation, at least two a stratum)" in sample.design


def test_two_stages(study: Study) -> None:
    sample = draw_sample(study, questions=6, per_question=2)
    question = {item.item_id: item.question_id for item in study.items()}
    size = {q: list(question.values()).count(q) for q in question.values()}
    for item, pi in sample.items:
        m = size[question[item]]
        assert pi == pytest.approx(6 / 12 * min(2, m) / m, abs=1e-15)
    assert max(list(map(question.get, dict(sample.items))).count(q) for q in size) == 2
    assert sample.design.startswith("6 of 12 questions, with at most 2 items of each, drawn at ")
    everywhere = draw_sample(study, per_question=1)
    assert len(everywhere.items) == 12 and "at most 1 item of each," in everywhere.design


def test_the_same_questions_for_every_system(study: Study) -> None:
    # Every third question has all three systems: q2, q5, q8, q11.
    sample = draw_sample(study, questions=3, paired=True)
    about = {item.item_id: (item.question_id, item.system) for item in study.items()}
    drawn = [about[item] for item, _ in sample.items]
    questions = {q for q, _ in drawn}
    assert len(questions) == 3 and questions <= {"q2", "q5", "q8", "q11"}
    assert sorted(drawn) == sorted((q, s) for q in questions for s in ("sys0", "sys1", "sys2"))
    assert {pi for _, pi in sample.items} == {3 / 4}
    assert sample.design == (
        "3 of 4 questions, with all of their 9 items of the same 3 systems, were drawn without "
        "replacement as a simple random sample, with seed 1. 8 questions that not all 3 systems "
        "answered are not in the frame."
    )
    two = draw_sample(study, questions=8, paired=True, systems=["sys0", "sys1"])
    assert len(two.items) == 16 and "Figures hold for sys0, sys1 alone." in two.design


def test_small_strata_are_merged_when_asked(study: Study) -> None:
    with pytest.raises(SettingsError, match="or add --merge-small"):
        draw_sample(study, n=12, by=["question_id"])
    sample = draw_sample(study, n=12, by=["question_id"], merge_small=True)
    assert sample.settings["strata"][0]["stratum"] == ["(small strata)"]
    assert len(sample.items) == 12


# Oversampling


def _judged(study: Study, **verdicts: str) -> list[str]:
    """Judges' verdicts, a letter an item: C, I, and - for a reply that can't be read."""
    items = [item.item_id for item in study.items()]
    words = {"C": "CORRECT", "I": "INCORRECT"}
    for judge, letters in verdicts.items():
        study.ledger.add_ratings(
            [
                RatingRow(
                    item,
                    judge,
                    "judge",
                    words.get(letter),
                    "rated" if letter != "-" else "unscored",
                )
                for item, letter in zip(items, letters, strict=True)
            ]
        )
    return items


def test_more_where_judges_disagree(study: Study) -> None:
    items = _judged(study, main="C" * 24, exact="I" * 5 + "-" + "C" * 18, rouge="C" * 23 + "I")
    sample = draw_sample(study, n=8, oversample={"disagreements": "0.5"})
    # The first five and the last; the unreadable reply contradicts nobody.
    disputed = {*items[:5], items[-1]}
    drawn = dict(sample.items)
    assert {pi for item, pi in drawn.items() if item in disputed} == {4 / 6}
    assert {pi for item, pi in drawn.items() if item not in disputed} == {4 / 18}
    assert "with 4 (50 %) among items on which judges disagree, at random" in sample.design
    two = draw_sample(
        study, n=8, oversample={"disagreements": "0.5"}, judges=["main", "exact"], by=["category"]
    )
    strata = {tuple(row["stratum"]): row["units"] for row in two.settings["strata"]}
    assert strata == {
        ("disagreements", "rare"): 5,
        ("(other)", "rare"): 1,
        ("(other)", "common"): 18,
    }
    assert "items on which the judges main, exact disagree, stratified by category" in two.design
    with pytest.raises(SettingsError, match="'other', which gave no verdict here; there are exact"):
        draw_sample(study, n=8, oversample={"disagreements": "0.5"}, judges=["other"])
    with pytest.raises(SettingsError, match="give it a share of at most 0.3"):
        draw_sample(study, n=20, oversample={"disagreements": "0.5"})


def test_more_where_confidence_is_low(tmp_path: Path) -> None:
    rows = ["question_id,question,reference,predicted,system,confidence"]
    rows += [f"q{k},Q{k}?,r{k},p{k},sys,{0.5 + k / 100 if k else ''}" for k in range(21)]
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    with Study.create(tmp_path / "sure") as study:
        study.add_pairs(tmp_path / "pairs.csv", strata=["confidence"])
        sample = draw_sample(study, n=8, oversample={"low-confidence": "0.25"})
        # 20 items have one: the lowest five of them; the blank is not low.
        strata = {tuple(row["stratum"]): row for row in sample.settings["strata"]}
        assert strata["low-confidence",]["units"] == 5 and strata["low-confidence",]["drawn"] == 2
        assert strata["(other)",]["units"] == 16


def test_more_of_a_column_s_value(study: Study) -> None:
    sample = draw_sample(study, n=8, oversample={"category:rare": "0.5"})
    assert sorted(pi for _, pi in sample.items) == [4 / 18] * 4 + [4 / 6] * 4
    assert "4 (50 %) among items with category rare" in sample.design


# A pilot


def _label(
    study: Study, items: Iterable[str], label: str | Callable[[str], str], who: str = "ann"
) -> None:
    study.ledger.add_ratings(
        [
            RatingRow(item, who, "annotator", label if isinstance(label, str) else label(item))
            for item in items
        ]
    )


def test_neyman_takes_more_where_the_pilot_s_labels_vary(study: Study) -> None:
    items = _judged(study, main="C" * 24)
    rare = set(items[:6])
    pilot = draw_sample(
        study, n=8, by=["category"], allocate="equal", purpose="pilot", sample_id="p"
    )
    drawn = [item for item, _ in pilot.items]
    with pytest.raises(SettingsError, match="--pilot p has no label by a person yet"):
        draw_sample(study, n=8, by=["category"], allocate="neyman", pilot="p")
    # People contradict the judge on half of the rare ones and on none of the others.
    wrong = sorted(item for item in drawn if item in rare)[::2]
    _label(study, drawn, lambda item: "INCORRECT" if item in wrong else "CORRECT")
    sample = draw_sample(study, n=8, by=["category"], allocate="neyman", pilot="p")
    # Agreement 2/4 and 4/4, pooled (6 + 1)/(8 + 2): (2 + 1.4)/6 = .567 and (4 + 1.4)/6 = .9.
    # 6 sd .4955 = 2.97 beside 18 sd .3 = 5.4: 8 in these proportions is 2.84 and 5.16.
    strata = {tuple(row["stratum"]): row["drawn"] for row in sample.settings["strata"]}
    assert strata == {("rare",): 3, ("common",): 5}
    assert "Neyman allocation from the labels of sample p" in sample.design
    # Without the pilot's own items, which still say where labels vary: 2 rare and 14 common left.
    rest = draw_sample(study, n=6, by=["category"], allocate="neyman", pilot="p", exclude=["p"])
    assert {len(own) for own in (drawn, set(drawn) & rare)} == {8, 4}
    assert [row["units"] for row in rest.settings["strata"]] == [2, 14]
    assert not {item for item, _ in rest.items} & set(drawn)
    assert "The 8 items of sample p are not in the frame" in rest.design


def test_a_pilot_of_several_judges_needs_the_judge_s_name(study: Study) -> None:
    _judged(study, main="C" * 24, other="I" * 24)
    draw_sample(study, n=12, purpose="pilot", sample_id="p")
    _label(study, [item.item_id for item in study.items()], "CORRECT")
    with pytest.raises(SettingsError, match=r"2 judges graded the pilot \(main, other\)"):
        draw_sample(study, n=8, by=["category"], allocate="neyman", pilot="p")
    for judge in ("main", "other"):
        draw_sample(study, n=8, by=["category"], allocate="neyman", pilot="p", judges=[judge])
    draw_sample(study, n=8, by=["category"], allocate="neyman", pilot="p", purpose="audit")


def test_a_pilot_s_labels_enter_no_estimate(study: Study) -> None:
    pilot = [i for i, _ in draw_sample(study, n=6, purpose="pilot", sample_id="p").items]
    _label(study, pilot, "CORRECT")
    _judged(study, main="C" * 24)
    frame = study.ratings().frame
    assert set(frame["kind"]) == {"judge"} and len(frame) == 24
    assert study.ratings().dropped == {"rating of a pilot": 6}
    assert any("6 ratings of a pilot (p) are left out" in note for note in study.ratings().notes)
    named = study.ratings("p")
    assert set(named.frame["kind"]) == {"annotator", "judge"} and not named.dropped

    main = [i for i, _ in draw_sample(study, n=20, sample_id="m").items]
    both = [item for item in pilot if item in main]
    assert both
    # A label in a file of an item that the main sample holds too is a label of the main sample.
    kept = study.ratings().frame
    assert set(kept.loc[kept["kind"] == "annotator", "item_id"]) == set(both)
    # One that is known to be given in the pilot's tasks is not.
    study.ledger.add_annotations([_annotation(both[0], "p")])
    kept = study.ratings().frame
    assert set(kept.loc[kept["kind"] == "annotator", "item_id"]) == set(both[1:])
    study.ledger.add_annotations([_annotation(both[0], "m")])
    kept = study.ratings().frame
    assert set(kept.loc[kept["kind"] == "annotator", "item_id"]) == set(both)


def _annotation(item: str, sample: str, who: str = "ann") -> StoredAnnotation:
    return StoredAnnotation(f"{item}{sample}", "2026-01-01T00:00:00Z", item, "", sample, who, {})


# Several samples, extensions


def test_a_sample_without_labels_changes_no_weight(study: Study) -> None:
    first = dict(draw_sample(study, n=6).items)
    second = dict(draw_sample(study, questions=6).items)
    _label(study, first.keys() - second.keys(), "CORRECT")
    weights = study.ratings().frame["weight"]
    assert set(weights) == {24 / 6}
    assert any("no label of sample s2 is here yet" in note for note in study.ratings().notes)
    _label(study, [*first, *second], "CORRECT")
    ratings = study.ratings()
    either = 1 - (1 - 6 / 24) * (1 - 6 / 12)
    assert ratings.frame["weight"].to_numpy() == pytest.approx(1 / either, abs=1e-12)
    assert any("2 samples are used together" in note for note in ratings.notes)


def test_an_extension_and_its_sample_are_one(study: Study) -> None:
    first = draw_sample(study, n=8, by=["category"])
    more = extend_sample(study, "s1", n=6)
    last = extend_sample(study, "s2", n=4)
    assert last.settings["extends"] == ["s1", "s2"]
    items = [dict(sample.items) for sample in (first, more, last)]
    assert len({**items[0], **items[1], **items[2]}) == 18
    assert more.design == (
        "6 further of 24 items were drawn without replacement stratified by category (2 strata, "
        "each growing at the rate of the first draw), with seed 1. None is in sample s1, with "
        "which they form one sample of the same design."
    )
    for sample in items:
        _label(study, sample, "CORRECT")
    frame = study.ratings().frame.set_index("item_id")
    category = frame["category"]
    for name, size in (("rare", 6), ("common", 18)):
        own = frame[category == name]
        assert own["weight"].to_numpy() == pytest.approx(size / len(own), abs=1e-12)
    alone = study.ratings("s2")
    assert any("s2 extends s1: use them together" in note for note in alone.notes)


@pytest.mark.parametrize("options", [{}, {"per_question": 2}, {"paired": True}])
def test_questions_are_extended_by_questions(study: Study, options: dict[str, Any]) -> None:
    first = draw_sample(study, questions=2, **options)
    with pytest.raises(SettingsError, match="was drawn by questions; give --questions"):
        extend_sample(study, "s1", n=3)
    more = extend_sample(study, "s1", questions=2)
    question = {item.item_id: item.question_id for item in study.items()}
    asked = [{question[item] for item, _ in sample.items} for sample in (first, more)]
    assert len(asked[0]) == len(asked[1]) == 2 and not asked[0] & asked[1]
    ours = dict(more.items)
    assert all(
        pi == pytest.approx(ours[i])
        for i, pi in draw_sample(study, questions=2, sample_id="again", **options).items
        if i in ours
    )


def test_what_can_t_be_extended(study: Study, tmp_path: Path) -> None:
    draw_sample(study, n=20)
    with pytest.raises(SettingsError, match="4 items are left; give --n from 1 to 4"):
        extend_sample(study, "s1", n=5)
    with pytest.raises(SettingsError, match="was drawn by items; give --n"):
        extend_sample(study, "s1", questions=5)
    with pytest.raises(SettingsError, match="does not say by how many; give --n"):
        extend_sample(study, "s1")
    with pytest.raises(StudyError, match="there is no sample 's9'"):
        extend_sample(study, "s9", n=1)
    study.ledger.add_sample(Sample("old", "agreement", "x", 1, {}, (("i", 0.5),)))
    with pytest.raises(StudyError, match="does not say what it was drawn from"):
        extend_sample(study, "old", n=1)
    draw_sample(study, n=2, exclude=["s1"])
    with pytest.raises(SettingsError, match="left out the items of 's1', which can't grow now"):
        extend_sample(study, "s1", n=1)
    assert len(study.ledger.samples()) == 3


def test_later_items_are_not_in_the_extension_s_frame(study: Study, tmp_path: Path) -> None:
    draw_sample(study, n=20)
    (tmp_path / "more.csv").write_text(
        "question_id,question,reference,predicted,system,category\nz,Z?,r,p,sys0,rare\n"
    )
    study.add_pairs(tmp_path / "more.csv", strata=["category"])
    more = extend_sample(study, "s1", n=4)
    assert {pi for _, pi in more.items} == {4 / 24}
    assert more.design.endswith("1 item of the study was not in the frame of sample s1.")


def test_gold_answers_are_drawn_extended_and_change_no_weight(tmp_path: Path) -> None:
    lines = ["question_id,question,reference,category"]
    lines += [f"q{k},Which {k}?,ref {k},{'ab'[k % 2]}" for k in range(20)]
    (tmp_path / "questions.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Study.create(tmp_path / "gold") as study:
        study.add_questions(tmp_path / "questions.csv")
        command = ["sample", str(study.path), "--unit", "question", "--n", "6", "--by", "category"]
        assert cli.main(command) == 0
        assert cli.main(["sample", str(study.path), "--extend", "s1", "--n", "4"]) == 0
        first, more = study.ledger.samples()
        assert first.purpose == more.purpose == "audit"
        assert more.design.startswith("4 further of 20 questions were drawn without replacement")
        assert not dict(first.items).keys() & dict(more.items).keys()
        assert {pi for _, pi in more.items} == {2 / 10}
        found = weights_of(study.ledger, {item for item, _ in first.items})
        assert not found.of and not found.notes, "they weigh no item"


# A retest


def test_a_retest_is_drawn_from_what_each_person_graded(study: Study) -> None:
    items = [i for i, _ in draw_sample(study, n=12).items]
    with pytest.raises(SettingsError, match="sample 's1' has no label by a person yet"):
        draw_retest(study, "s1", n=3)
    _label(study, items[:8], "CORRECT", "ann")
    _label(study, items[6:11], "CORRECT", "bob")
    sample = draw_retest(study, "s1", n=6, by_annotator=True)
    assigned = sample.settings["assigned"]
    assert len(assigned["ann"]) == 6 and set(assigned["ann"]) <= set(items[:8])
    assert set(assigned["bob"]) == set(items[6:11])
    places = [items.index(item) for item in assigned["bob"]]
    assert places != sorted(places)
    chance = dict(sample.items)
    # Both had items 6 and 7; bob gets all of his five.
    assert all(chance[item] == 1.0 for item in items[6:11])
    assert all(chance[item] == 6 / 8 for item in chance if item in items[:6])
    same = draw_retest(study, "s1", n=4, sample_id="same")
    assert {pi for _, pi in same.items} == {4 / 11}
    assert "4 of the 11 labelled items of sample s1" in same.design
    for who, own in same.settings["assigned"].items():
        graded = items[:8] if who == "ann" else items[6:11]
        assert set(own) == {item for item, _ in same.items if item in graded}
    with pytest.raises(SettingsError, match="give --n from 1 to 11"):
        draw_retest(study, "s1", n=12)
    with pytest.raises(SettingsError, match="itself a retest"):
        draw_retest(study, "same", n=1)
    with pytest.raises(SettingsError, match="is a retest; draw another one"):
        extend_sample(study, "same", n=1)
    with pytest.raises(SettingsError, match="names 'same', a retest"):
        draw_sample(study, n=1, exclude=["same"])


def test_a_retest_changes_no_weight(study: Study) -> None:
    items = [i for i, _ in draw_sample(study, n=12).items]
    _label(study, items, "CORRECT")
    before = study.ratings()
    draw_retest(study, "s1", n=6)
    after = study.ratings()
    assert before.frame.equals(after.frame) and before.notes == after.notes


# The command


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--extend", "s1", "--n", "2", "--by", "category"], "--by does not go with --extend"),
        (["--extend", "s1", "--n", "2", "--for", "audit"], "--for does not go with --extend"),
        (["--of", "s1"], "are for a retest; add --for retest"),
        (["--for", "retest"], "name their sample with --of"),
        (["--for", "retest", "--of", "s1", "--questions", "2"], "--questions does not go with"),
        (["--per-question", "0"], "--per-question is 0"),
        (["--unit", "page"], "--unit is 'page'; use item or question"),
        (["--unit", "question", "--n", "2", "--paired"], "--paired does not go with --unit"),
        (["--oversample", "disagreements"], "write --oversample name=value"),
        (["--exclude", "s7"], "there is no sample 's7'"),
    ],
)
def test_options_that_do_not_go_together(
    study: Study, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    draw_sample(study, n=4)
    assert cli.main(["sample", str(study.path), *arguments]) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1
    assert len(study.ledger.samples()) == 1


def test_the_command_draws_each_kind(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> str:
        assert cli.main(["sample", str(study.path), *arguments]) == 0
        return capsys.readouterr().out

    out = run("--n", "8", "--by", "category", "--allocate", "equal")
    assert "  rare: 4 of 6\n  common: 4 of 18\n" in out
    assert "next: accord export" in out
    assert "None is in sample s1" in run("--extend", "s1", "--n", "4")
    assert "enter no estimate" in run("--for", "pilot", "--n", "4", "--exclude", "s1")
    assert "of the same 3 systems" in run("--questions", "2", "--paired", "--per-question", "1")
    _label(study, [i for i, _ in study.ledger.sample("s1").items], "CORRECT")
    out = run("--for", "retest", "--of", "s1", "--n", "3", "--by-annotator")
    assert "  ann: 3 items\n" in out and out.endswith(f"accord export {study.path} s5\n")
    assert [s.purpose for s in study.ledger.samples()] == [
        "agreement",
        "agreement",
        "pilot",
        "agreement",
        "retest",
    ]


def test_the_next_command_is_one_that_works(
    study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Questions need a template of theirs, a retest of several people their list."""
    (tmp_path / "more.jsonl").write_text('{"question_id": "q", "question": "?", "reference": "a"}')
    study.add_questions(tmp_path / "more.jsonl")
    items = [item for item, _ in draw_sample(study, sample_id="first").items]
    _label(study, items[:4], "CORRECT")
    _label(study, items[:2], "CORRECT", "bob")
    for arguments, name, more in (
        (["--unit", "question", "--n", "1"], "gold", " --template gold_audit"),
        (["--for", "retest", "--of", "first"], "again", " --annotators FILE"),
        (["--n", "2"], "plain", ""),
    ):
        assert cli.main(["sample", str(study.path), *arguments, "--name", name]) == 0
        out = capsys.readouterr().out
        assert out.endswith(f"next: accord export {study.path} {name}{more}\n")
