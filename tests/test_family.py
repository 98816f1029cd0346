"""A judge and its own family: by hand, coverage, what is undefined, a judge that grades itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

from accord.scoring.errors import InputError, SettingsError
from accord.study import Ratings
from accord.validate.coding import code_ratings
from accord.validate.contrast import contrast
from accord.validate.family import family_section, same_model
from accord.validate.panel_builder import PanelBuilder
from accord.validate.panel_settings import PanelSettings
from accord.validate.result import Estimate
from accord.validate.section import Section, View
from small_table import make

KINDS = {"person": "annotator", "gpt": "judge"}
FAMILY = {"gpt": "openai", "o1": "openai", "o2": "openai", "m1": "meta", "g1": "google"}
SYSTEMS = ["o1", "o2", "m1", "g1"]


def view_of(ratings: Ratings, **options: Any) -> View:
    settings = PanelSettings(resamples=0, **options)
    return PanelBuilder(ratings, code_ratings(ratings, settings), settings).fill()


def graded(
    errors: Mapping[str, float],
    questions: int = 30,
    seed: int = 1,
    responses: bool = True,
    **columns: Any,
) -> Ratings:
    """Two elements a system and question; how often the judge calls a wrong one right."""
    rng = np.random.default_rng(seed)
    person, judge, about = [], [], []
    for question in range(questions):
        for system, rate in errors.items():
            for _ in range(2):
                right = rng.random() < 0.5
                person.append("CORRECT" if right else "INCORRECT")
                judge.append("CORRECT" if right or rng.random() < rate else "INCORRECT")
                about.append((f"q{question}", system, f"q{question} / {system}"))
    more = {name: [of[one[1]] for one in about] for name, of in columns.items()}
    return make(
        {"person": person, "gpt": judge},
        KINDS,
        question_id=[one[0] for one in about],
        system=[one[1] for one in about],
        response_id=[one[2] if responses else None for one in about],
        **more,
    )


def section_of(ratings: Ratings, **options: Any) -> Section:
    found = family_section(view_of(ratings, **options))
    assert found is not None
    return found


def difference(section: Section) -> Estimate:
    return next(one for one in section.results if one.name == "bias_difference")


def test_by_hand() -> None:
    ratings = graded({"o1": 0.8, "o2": 0.8, "m1": 0.1, "g1": 0.1})
    section = section_of(ratings, family=FAMILY)
    frame = ratings.frame
    value = (frame["rating"] == "CORRECT").astype(float)
    mean = value.groupby([frame["rater"], frame["system"].isin(["o1", "o2"])]).mean()
    own = mean["gpt", True] - mean["person", True]
    others = mean["gpt", False] - mean["person", False]
    one = difference(section)
    assert one.level == "response" and one.details["measure"] == "share_correct"
    assert one.estimate == pytest.approx(own - others, abs=1e-12)
    assert one.details["first"] == pytest.approx(own)
    assert one.details["family"] == "openai" and one.details["comparison"] == "judge-annotator"
    assert one.details["systems_own"] == ["o1", "o2"]
    assert one.details["systems_others"] == ["g1", "m1"]
    assert (one.n, one.clusters) == (120, 30) and one.low > 0
    assert [x.details["of"] for x in section.results if x.name == "bias"] == ["own", "others"]
    assert section.notes[0].startswith(
        "gpt scores systems of its own family (openai) higher than others, against people, by"
    )


def test_no_difference_is_said_with_its_bound() -> None:
    section = section_of(graded(dict.fromkeys(SYSTEMS, 0.2)), family=FAMILY)
    one = difference(section)
    assert one.low < 0 < one.high
    assert "no difference between its own family (openai) and others is shown" in section.notes[0]
    assert f"up to {max(-one.low, one.high):.3f} either way" in section.notes[0]


def test_only_questions_with_both_kinds_count() -> None:
    ratings = graded({"o1": 0.5, "m1": 0.1})
    alone = ratings.frame["question_id"].isin(["q0", "q1"]) & (ratings.frame["system"] == "m1")
    part = Ratings(ratings.frame[~alone].reset_index(drop=True))
    one = difference(section_of(part, family={"gpt": "openai", "o1": "openai", "m1": "meta"}))
    assert one.dropped == {"question without systems of both kinds": 2}
    assert (one.n, one.clusters) == (56, 28)
    assert (
        "its family is one system here (o1)"
        in section_of(part, family={"gpt": "openai", "o1": "openai", "m1": "meta"}).notes[0]
    )
    # nobody answered what the others did
    even = ratings.frame["question_id"].isin([f"q{i}" for i in range(0, 30, 2)])
    apart = ratings.frame[even == (ratings.frame["system"] == "o1")].reset_index(drop=True)
    none = difference(
        section_of(Ratings(apart), family={"gpt": "openai", "o1": "openai", "m1": "meta"})
    )
    assert math.isnan(none.estimate) and none.reason == "no question has systems of both kinds"


def test_hard_questions_that_one_side_answered_more_often_are_no_bias() -> None:
    """The judge is kinder in every other question, to all alike; o2 answered only those."""
    person, judge, about = [], [], []
    for question in range(24):
        kind = question % 2 == 0
        for system in ("o1", "o2", "m1") if kind else ("o1", "m1"):
            person.append("INCORRECT")
            judge.append("CORRECT" if kind else "INCORRECT")
            about.append((f"q{question}", system, f"q{question} / {system}"))
    ratings = make(
        {"person": person, "gpt": judge},
        KINDS,
        question_id=[one[0] for one in about],
        system=[one[1] for one in about],
        response_id=[one[2] for one in about],
    )
    families = {name: of for name, of in FAMILY.items() if name != "g1"}
    one = difference(section_of(ratings, family=families))
    # plain means differ: 24 / 36 of the own, 12 / 24 of the others
    assert one.estimate == pytest.approx(0, abs=1e-12)
    assert one.details["first"] == pytest.approx(one.details["rest"])


def test_columns_say_the_same_as_the_option() -> None:
    errors = {"o1": 0.8, "o2": 0.6, "m1": 0.1, "g1": 0.1}
    by_option = difference(section_of(graded(errors), family=FAMILY))
    columns = graded(errors, family=FAMILY, judge_family=dict.fromkeys(SYSTEMS, "openai"))
    assert difference(section_of(columns)).estimate == by_option.estimate
    # a system without a family is left out and counted
    partly = graded(errors, family=FAMILY | {"g1": None}, judge_family=dict.fromkeys(SYSTEMS, "x"))
    left = difference(section_of(partly, family={"gpt": "openai"}))
    assert left.dropped == {"system without a family": 30}


def test_elements_where_there_are_no_responses() -> None:
    ratings = graded({"o1": 0.8, "o2": 0.8, "m1": 0.1, "g1": 0.1}, responses=False)
    one = difference(section_of(ratings, family=FAMILY))
    assert one.level == "element" and one.n == 240 and one.low > 0


@pytest.mark.parametrize(
    ("family", "reason"),
    [
        ({"gpt": "openai", "o1": "openai", "o2": "openai"}, "no system of another family"),
        ({"gpt": "openai", "m1": "meta"}, "no system of its own family (openai)"),
    ],
)
def test_what_is_undefined(family: dict[str, str], reason: str) -> None:
    section = section_of(graded(dict.fromkeys(SYSTEMS, 0.2), questions=8), family=family)
    one = difference(section)
    assert math.isnan(one.estimate) and one.reason == reason and one.details["p_value"] is None
    assert any(reason in line for line in section.lines)


def test_nothing_known_and_names_that_are_not_there() -> None:
    ratings = graded(dict.fromkeys(SYSTEMS, 0.2), questions=8)
    assert family_section(view_of(ratings)) is None
    with pytest.raises(SettingsError, match="'gtp', which is no judge and no system here"):
        family_section(view_of(ratings, family={"gtp": "openai"}))
    two = graded({"o1": 0.5, "m1": 0.1}, questions=8, family={"o1": "openai", "m1": "meta"})
    two.frame.loc[0, "family"] = "meta"
    with pytest.raises(InputError, match="the system 'o1' is of the families"):
        family_section(view_of(two))
    few = difference(
        section_of(
            graded({"o1": 0.5, "m1": 0.1}, questions=3),
            family={"gpt": "openai", "o1": "openai", "m1": "meta"},
        )
    )
    assert math.isfinite(few.estimate) and math.isnan(few.low) and few.reason is not None


def test_a_judge_that_grades_itself_is_named() -> None:
    section = section_of(graded({"GPT": 0.8, "m1": 0.1}, questions=8))
    assert section.results == ()
    assert "gpt seems to be one of the systems it grades (GPT)" in section.notes[0]


@pytest.mark.parametrize(
    ("judge", "system", "same"),
    [
        ("gpt-4o", "GPT-4o", True),
        ("openai/gpt-4o", "gpt_4o", True),
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4o-judge", "gpt-4o", True),
        ("gemini-1.5-pro", "gemini-1.5-pro-latest", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4", "gpt-4o", False),
        ("gpt-4", "gpt-4.1", False),
        ("judge", "judge", False),
        ("llama-3", "mistral", False),
        ("", "", False),
    ],
)
def test_names_of_one_model(judge: str, system: str, same: bool) -> None:
    assert same_model(judge, system) is same
    assert same_model(system, judge) is same


def test_hostile_names_are_written_out() -> None:
    evil = "o\u202e\x1b[31m\n" + "x" * 60
    section = section_of(
        graded({evil: 0.5, "m1": 0.1}), family={"gpt": "open\nai", evil: "open\nai", "m1": "meta"}
    )
    assert all(len(line) <= 98 for line in section.lines)
    assert not any(c in line for line in section.lines for c in "\u202e\x1b\n")


def bias_study(rng: np.random.Generator, questions: int) -> tuple[Any, Any, Any]:
    """d = judge - people of 2 own and 3 other systems; most are 0, and a question shifts all."""
    shift = rng.normal(0, 0.1, (questions, 1))
    own = np.array([True, True, False, False, False])
    noise = rng.normal(0, 0.2, (questions, 5)) + shift + np.where(own, 0.06, 0.0)
    d = noise * (rng.random((questions, 5)) < 0.4)  # 0.4 * 0.06 is the difference
    return d.ravel(), np.tile(own, questions), np.repeat(np.arange(questions), 5)


# Measured with 2,000 studies each: 99.2 % (20 questions), 97.8 % (60)
@pytest.mark.parametrize("questions", [20, 60])
def test_the_interval_of_the_difference_covers(questions: int) -> None:
    rng = np.random.default_rng([410, questions])
    truth, hits = 0.4 * 0.06, 0
    widths = []
    for _ in range(400):
        d, own, g = bias_study(rng, questions)
        one = contrast("bias_difference", d, own, clusters=g)
        hits += one.low <= truth <= one.high
        widths.append(one.high - one.low)
    assert hits >= stats.binom.ppf(0.0005, 400, 0.95)
    assert np.median(widths) < 0.2


def test_the_unpaired_interval_without_questions_is_wider_where_questions_shift_all() -> None:
    """The control: pairing is what the clusters buy; items as independent miss it."""
    rng = np.random.default_rng(411)
    d, own, g = bias_study(rng, 400)
    d = d + np.repeat(rng.normal(0, 1, 400), 5)
    paired = contrast("bias_difference", d, own, clusters=g)
    alone = contrast("bias_difference", d, own, clusters=g, unit="item")
    assert paired.high - paired.low < 0.5 * (alone.high - alone.low)
    assert paired.design_effect < 0.25
