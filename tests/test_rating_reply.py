"""Ratings from 1 to 5 out of a judge's reply, and their maps to [0, 1]."""

from __future__ import annotations

import math
import time

import pytest

from accord.scoring.choice_answers import read_choice, read_truth
from accord.scoring.errors import SettingsError
from accord.scoring.graded_reply import Asked, read_graded
from accord.scoring.rating_reply import map_rating, read_rating


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Rating: 5", 5),
        ("**Rating:** 5", 5),
        ("**Rating: 4**", 4),
        ("Rating: Score 3", 3),
        ("rating = 2", 2),
        ("Rating: [4]", 4),
        ("Rating: 4/5", 4),
        ("Rating: 4 out of 5", 4),
        ("Rating: four", 4),
        ("Rating: ５", 5),
        ("Score: 1", 1),
        ("Rating (1-5): 4", 4),
        ("4", 4),
        ("4.", 4),
        ("[[3]]", 3),
        ("It covers 2 of the 3 points.\n\nRating: 4", 4),
        ("Rating: 2 would be harsh.\nRating: 4", 4),
        ('{"rating": 4, "why": "misses 1"}', 4),
        ('{"score": "5"}', 5),
        ("<think>Rating: 1?</think>Rating: 5", 5),
        ("Rating: 4.5", 4.5),
        ("Rating: 4,5", 4.5),
        ("Rating: 5.0", 5),
        ("Rating - 4", 4),
        ("Rating: <4>", 4),
        (r"Rating: \boxed{4}", 4),
        (r"\boxed{4}", 4),
        ("Rating: $4$", 4),
        ("I would rate this answer 4 out of 5.", 4),
        ("I'd give it a 4/5.", 4),
        ("评分：4", 4),
        ("rating 4", 4),
        ("Rating: 2\n\nExplanation: rating 5 would need more detail.", 2),
        ("Coherence: 4\nRelevance: 5\nRating: 3", 3),
        ("Rating: 4\nIt has 2 errors.", 4),
        ("Rating: 3\nA rating of 5 requires a source.", 3),
    ],
)
def test_the_rating_is_read(text: str, value: float) -> None:
    assert (read_rating(text).value, read_rating(text).reason) == (value, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Rating: 10", "out of range"),
        ("Rating: 0", "out of range"),
        ("Rating: 45", "out of range"),
        ("Rating: 8/10", "out of range"),
        ("Rating: 4/10", "out of range"),
        ("Rating: 3-4", "several labels"),
        ("Rating: 3 or 4", "several labels"),
        ("Rating: 3. Rating: 4", "several labels"),
        ("Rating: good", "no rating"),
        ("Rating: 4\n\nRating: 5", "several labels"),
        ("Rating: 4 5", "several labels"),
        ("It covers 4/5 of the points", "no rating"),
        ("I would rate this answer 8 out of 10.", "out of range"),
        ("Coherence: 4\nRelevance: 5", "no rating"),
        ("Rating: -4", "no rating"),
        ("The answer covers 4 points", "no rating"),
        ("I give it 4 stars", "no rating"),
        ("A rating of 5 would need more. I rate it 3.", "no rating"),
        ("", "empty"),
        (None, "empty"),
        ("<think>Rating: 4", "cut off"),
        ('{"rating": "high"}', "no rating"),
        # a field that the judge quotes, and what it says itself
        ('The answer claims "rating": 5, which is wrong.\nRating: 1', "several labels"),
        ('Rating: 1\n\nThe answer gives itself {"score": 5}.', "several labels"),
    ],
)
def test_anything_else_is_unscored(text: str | None, reason: str) -> None:
    assert (read_rating(text).value, read_rating(text).reason) == (None, reason)


def test_what_stands_beside_the_field_is_no_second_rating() -> None:
    assert read_rating('{"rating": 3, "why": "far from a rating of 5"}').value == 3
    assert read_rating('{"rating": 3}\nRating: 3/5').value == 3


@pytest.mark.parametrize(
    ("asked", "text", "label", "reason"),
    [
        ("refusal", '{"answer": "Yes"}', "Yes", None),
        ("refusal", 'It says {"answer": "No"}.\nDecision: **Yes**', None, "several labels"),
        ("refusal", 'It says {"answer": "No"}.\nDecision: no', "No", None),
        ("components", 'It holds "answer": "A".\nChoice: C', None, "several labels"),
        (
            "components",
            r"The answer is \boxed{A}, says the response." + "\nC",
            None,
            "several labels",
        ),
        ("components", '{"answer": "A"}\n\nB would have more of them.', "A", None),
    ],
)
def test_a_label_that_is_quoted_is_not_the_judges(
    asked: Asked, text: str, label: str | None, reason: str | None
) -> None:
    assert read_graded(asked, text) == (label, reason)


def test_a_run_of_backslashes_costs_no_more_than_its_length() -> None:
    text = "\\" * 200_000  # quadratic: minutes
    start = time.process_time()
    assert read_rating(text).reason == "no rating"
    assert read_truth(text).reason == "no label"
    assert read_choice(text).reason == "no label"
    assert time.process_time() - start < 10


def test_fractions_by_rule() -> None:
    assert read_rating("Rating: 4.5", fractions="unscored").reason == "fraction"
    assert read_rating("Rating: 4.5", fractions="down").value == 4
    assert read_rating("Rating: 4.5", fractions="nearest").value == 5
    assert read_rating("Rating: 3.4", fractions="nearest").value == 3
    assert read_rating("Rating: 5.5").reason == "out of range"


def test_the_two_maps() -> None:
    assert [map_rating(r) for r in (1, 2, 3, 4, 5)] == [0, 0.25, 0.5, 0.75, 1]
    assert [map_rating(r, "r/5") for r in (1, 2, 3, 4, 5)] == pytest.approx(
        [0.2, 0.4, 0.6, 0.8, 1], abs=1e-15
    )
    assert map_rating(4.5) == 0.875
    assert math.isnan(map_rating(math.nan))


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(SettingsError, match="rating_map"):
        map_rating(3, "r/4")  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(SettingsError, match="6 is no rating"):
        map_rating(6)
    with pytest.raises(SettingsError, match="fractions"):
        read_rating("4", fractions="up")  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(SettingsError, match="scale"):
        read_rating("4", low=5, high=5)


def test_hostile_replies_take_no_time() -> None:
    for text in ("Rating: " * 20_000, "1 " * 50_000, "rating 1 or 2 " * 10_000):
        assert read_rating(text).value is None
