"""Precision, recall, F1 and the six ListQA figures; derivations beside the numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.scoring.errors import InputError, SettingsError
from accord.scoring.metrics import (
    Counts,
    Share,
    f1_array,
    format_correctness,
    precision_recall_f1,
    relaxed_precision,
    relaxed_recall,
    rouge_counts,
    verdict_counts,
)
from accord.scoring.parse import parse
from accord.scoring.recipes import PARSER, RECIPES, Recipe, recipe
from accord.scoring.records import CORRECT, INCORRECT, UNSURE, Element, Pair

LISTQA = recipe("listqa")


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((3, 4, 4), (3 / 4, 3 / 4, 3 / 4)),  # page, case 1: one of four is made up
        ((2, 2, 4), (1, 1 / 2, 2 / 3)),  # page, case 3: 2 * 1 * (1/2) / (3/2) = 2/3
        ((0, 3, 4), (0, 0, 0)),
        ((0, 0, 4), (0, 0, 0)),  # nothing predicted
        ((4, 4, 4), (1, 1, 1)),
        ((1, 3, 2), (1 / 3, 1 / 2, 2 / 5)),  # 2 * 1 / (3 + 2)
        ((0.5, 1, 1), (1 / 2, 1 / 2, 1 / 2)),
    ],
)
def test_precision_recall_f1(
    counts: tuple[float, float, float], expected: tuple[float, float, float]
) -> None:
    found = precision_recall_f1(*counts)
    assert (found.precision, found.recall, found.f1) == pytest.approx(expected, abs=1e-15)
    assert found.reason is None


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 30))
def test_f1_is_the_harmonic_mean(correct: int, predicted: int, reference: int) -> None:
    correct = min(correct, predicted, reference)
    found = precision_recall_f1(correct, predicted, reference)
    if correct:
        assert found.f1 == pytest.approx(2 / (1 / found.precision + 1 / found.recall), abs=1e-14)
    else:
        assert found.f1 == 0
    assert 0 <= found.f1 <= 1
    assert f1_array([correct], [predicted], [reference])[0] == found.f1


def test_without_a_reference_f1_is_undefined() -> None:
    found = precision_recall_f1(0, 3, 0)
    assert math.isnan(found.f1)
    assert found.reason == "no reference element"
    assert found.to_dict()["f1"] is None
    assert np.isnan(f1_array([0], [3], [0]))[0]


def test_impossible_counts_are_refused() -> None:
    for counts in ((3, 2, 4), (3, 4, 2), (-1, 2, 2)):
        with pytest.raises(InputError, match="check the counts"):
            precision_recall_f1(*counts)
    with pytest.raises(InputError, match="row 2: 3 correct of 2 predicted"):
        f1_array([1, 3], [2, 2], [2, 4])
    assert np.isnan(f1_array([math.nan], [2], [2]))[0]
    assert f1_array([], [], []).shape == (0,)


def pairs() -> list[Pair]:
    """Three pairs, one predicted element too many, one reference element too many."""
    return [
        Pair(0, 0, 1.0, "exact"),
        Pair(1, 1, 0.5, "rouge"),
        Pair(2, 2, 0.0, "order"),
        Pair(None, 3, 0.0, "unmatched"),
        Pair(3, None, 0.0, "unmatched"),
    ]


def counts(verdicts: list[str | None], **overrides: object) -> Counts:
    return verdict_counts(pairs(), [*verdicts, None], recipe("listqa", **overrides))


def test_verdicts_are_counted() -> None:
    assert counts([CORRECT, INCORRECT, CORRECT, None]) == Counts(2, 4, 4)


def test_an_unscored_verdict_leaves_both_counts_or_is_wrong() -> None:
    assert counts([CORRECT, None, CORRECT, None]) == Counts(2, 3, 3, unscored=1)
    assert counts([CORRECT, None, CORRECT, None], unscored="incorrect") == Counts(
        2, 4, 4, unscored=1
    )


def test_unsure_is_missing_wrong_or_half() -> None:
    verdicts = [CORRECT, UNSURE, INCORRECT, None]
    assert counts(verdicts) == Counts(1, 3, 3, unsure=1)
    assert counts(verdicts, unsure="incorrect") == Counts(1, 4, 4, unsure=1)
    assert counts(verdicts, unsure="half") == Counts(1.5, 4, 4, unsure=1)


def test_correct_but_missing_from_the_reference() -> None:
    verdicts: list[str | None] = [CORRECT, INCORRECT, CORRECT, CORRECT]
    assert counts(verdicts) == Counts(2, 4, 4, extra=1)
    assert counts(verdicts, extra="ignore") == Counts(2, 3, 4, extra=1)
    assert counts(verdicts, extra="credit") == Counts(3, 4, 5, extra=1)


def test_without_any_usable_verdict_f1_is_undefined() -> None:
    only = [Pair(0, 0, 1.0, "exact"), Pair(1, None, 0.0, "unmatched")]
    found = verdict_counts(only, [None, None], LISTQA)
    assert found == Counts(0, 0, 1, unscored=1)
    assert found.prf().reason == "no usable verdict"
    assert math.isnan(found.prf().f1)


def test_a_foreign_verdict_is_refused() -> None:
    with pytest.raises(InputError, match="'yes' is none of CORRECT, INCORRECT, UNSURE"):
        verdict_counts(pairs(), ["yes", None, None, None, None], LISTQA)
    with pytest.raises(ValueError, match="shorter"):
        verdict_counts(pairs(), [None], LISTQA)


def test_rouge_counts_from_the_threshold_on() -> None:
    # Similarities 1, 0.5, 0: two reach one half, one is above it.
    assert rouge_counts(pairs(), 0.5) == Counts(2, 4, 4)
    assert rouge_counts(pairs(), 0.51) == Counts(1, 4, 4)


def elements(*texts: str) -> list[Element]:
    return [Element(text) for text in texts]


REFERENCE = [
    Element("Mars", aliases=("the Red Planet",)),
    Element("Venus", attributes=(("moons", "0"), ("type", "rocky"))),
]


def test_relaxed_recall_counts_elements_and_values() -> None:
    # Four things: Mars, Venus, 0, rocky.
    def recall(text: str, **overrides: object) -> Share:
        return relaxed_recall(REFERENCE, text, recipe("listqa", **overrides))

    assert recall("mars and VENUS") == Share(2, 4)
    assert recall("The **Red** Planet") == Share(1, 4)
    assert recall("1. Venus\n   - type: rocky\n   - moons: 0") == Share(3, 4)
    assert recall("Marsh, 100 moons") == Share(2, 4)
    assert recall("Marsh, 100 moons", relaxed="words") == Share(0, 4)
    assert recall("") == Share(0, 4)


def test_relaxed_precision_either_way() -> None:
    def precision(*texts: str, **overrides: object) -> Share:
        return relaxed_precision(REFERENCE, elements(*texts), recipe("listqa", **overrides))

    assert precision("mars", "Jupiter") == Share(1, 2)
    assert precision("The planet Venus") == Share(1, 1)
    assert precision("The planet Venus", relaxed_precision="in-reference") == Share(0, 1)
    assert precision("rocky") == Share(1, 1)
    assert precision() == Share(0, 0)
    assert Share(0, 0).value == 0
    headed = [Element("Mars – fourth from the sun", head="Mars")]
    assert relaxed_precision(REFERENCE, headed, recipe(relaxed_precision="in-reference")).hits == 1


@pytest.mark.parametrize(
    ("text", "multi_faceted", "share"),
    [
        ("1. a\n2. b\n3. c", False, Share(3, 3)),
        ("1. a\n2. b\n3. c", True, Share(0, 3)),
        ("1. a\n   - x: 1\n2. b\n   - x: 2\n3. c", True, Share(2, 3)),
        ("1. a\n   - x: 1\n2. b\n   - x: 2\n3. c", False, Share(1, 3)),
        ("1. a\n2. b", False, Share(0, 2)),  # fewer than three
        ("a, b, and c", False, Share(0, 3)),  # no list structure
        ("No list here, sorry to say.", False, Share(0, 0)),
    ],
)
def test_format_correctness(text: str, multi_faceted: bool, share: Share) -> None:
    found = format_correctness(parse(text), multi_faceted=multi_faceted, minimum=3)
    assert found == share


# Recipes


def test_the_block_holds_every_convention() -> None:
    block = LISTQA.block()
    assert set(block) == set(Recipe.__dataclass_fields__) - {"encoder"}  # only where it is used
    assert block["parser"] == PARSER
    assert recipe().sha256 == LISTQA.sha256 == RECIPES["listqa"].sha256
    assert len(LISTQA.sha256) == 64


CHANGED = {
    "compared": "head",
    "tokenizer": "unicode",
    "stem": True,
    "aligner": "positional",
    "zero_overlap": "incorrect",
    "duplicates": "collapse",
    "aside": "keep",
    "rouge_threshold": 0.6,
    "unscored": "incorrect",
    "unsure": "half",
    "extra": "credit",
    "relaxed": "words",
    "relaxed_precision": "in-reference",
    "format_min_elements": 2,
    "averaging": "pooled",
}


@pytest.mark.parametrize("name", CHANGED)
def test_each_convention_changes_the_block(name: str) -> None:
    changed = recipe("listqa", **{name: CHANGED[name]})
    assert changed.sha256 != LISTQA.sha256
    assert changed.block()[name] == CHANGED[name]


def test_every_convention_can_be_changed_here() -> None:
    assert set(CHANGED) | {"name", "parser", "encoder"} == set(Recipe.__dataclass_fields__)


@pytest.mark.parametrize(
    "wrong",
    [
        {"zero_overlap": "maybe"},
        {"stem": "yes"},
        {"rouge_threshold": 0},
        {"rouge_threshold": "0.5"},
        {"rouge_threshold": True},
        {"rouge_threshold": math.nan},
        {"format_min_elements": -1},
        {"format_min_elements": 2.5},
        {"parser": "accord-list-0"},
        {"colour": "red"},
        {"tokenizer": ["rouge"]},
    ],
)
def test_wrong_conventions_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        recipe("listqa", **wrong)


def test_a_recipe_of_files_is_refused_with_its_command() -> None:
    with pytest.raises(SettingsError, match="accord init STUDY --recipe sciknoweval"):
        recipe("sciknoweval")


def test_an_unknown_recipe_is_refused() -> None:
    with pytest.raises(SettingsError, match="use one of listqa"):
        recipe("listqua")
