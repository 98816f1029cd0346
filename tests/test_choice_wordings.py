"""Answers to multiple-choice questions as models write them, each with the right reading.

``choice_wordings.jsonl`` holds one answer a line: the options it was given to, and the label it
chooses or the reason why it chooses none.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from accord.scoring.choice_answers import read_choice

FILE = Path(__file__).with_name("choice_wordings.jsonl")
WORDINGS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
OPTIONS = {
    "capitals": {"A": "Paris", "B": "Berlin", "C": "Madrid", "D": "None of the above"},
    "rates": {
        "A": "It increases",
        "B": "It decreases",
        "C": "It remains unchanged",
        "D": "It first increases, then decreases",
    },
    "molarity": {"A": "0.05 mol/L", "B": "0.5 mol/L", "C": "5 mol/L", "D": "50 mol/L"},
    "genes": {"A": "TP53", "B": "BRCA1", "C": "A and B", "D": "None"},
    "germs": {"A": "E. coli", "B": "B. subtilis", "C": "C. difficile", "D": "S. aureus"},
    "cell": {"A": "Nucleus", "B": "Mitochondrion", "C": "Golgi apparatus", "D": "Ribosome"},
    "numbers": {"A": "12", "B": "15", "C": "18", "D": "None of the above"},
    "cities": {"A": "Paris", "B": "Berlin", "C": "Madrid", "D": "Rome"},
    "rivers": {"A": "长江", "B": "黄河", "C": "珠江", "D": "淮河"},
    "japan": {"A": "東京", "B": "大阪", "C": "京都", "D": "名古屋"},
    "india": {"A": "दिल्ली", "B": "मुंबई", "C": "चेन्नई", "D": "कोलकाता"},
    "statements": {
        "A": "Only statement I",
        "B": "Only statement II",
        "C": "Both I and II",
        "D": "Neither I nor II",
    },
    "metals": {"A": "Iron", "B": "Copper", "C": "Zinc", "D": "All of the above"},
    "vitamins": {"A": "Vitamin A", "B": "Vitamin B", "C": "Vitamin C", "D": "Vitamin D"},
    "germs_moved": {"A": "B. subtilis", "B": "E. coli", "C": "S. aureus", "D": "C. difficile"},
    "catalyst": {
        "A": "It increases the rate of reaction",
        "B": "It lowers the activation energy",
        "C": "It changes the equilibrium constant",
        "D": "It is consumed in the reaction",
    },
    "signs": {"A": "-5", "B": "5", "C": "0.5", "D": "50"},
    "truth": {"A": "Yes", "B": "No"},
}


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording["text"][:30])
def test_each_wording_is_read_as_it_is_meant(wording: dict[str, str]) -> None:
    found = read_choice(wording["text"], options=OPTIONS[wording["options"]])
    assert (found.label, found.reason) == (wording.get("label"), wording.get("reason"))


def test_the_wordings_are_many_and_of_both_kinds() -> None:
    counts = Counter("label" in wording for wording in WORDINGS)
    assert counts[True] > 200 and counts[False] > 70
    assert len({(wording["options"], wording["text"]) for wording in WORDINGS}) == len(WORDINGS)


def test_the_order_of_the_options_does_not_matter() -> None:
    """Labels are read by their letter and texts by their words, not by their place."""
    for wording in WORDINGS:
        options = OPTIONS[wording["options"]]
        turned = dict(reversed(options.items()))
        found = read_choice(wording["text"], tuple(turned), options=turned)
        assert found.label == wording.get("label"), wording


def test_a_text_moved_to_another_label_is_chosen_under_that() -> None:
    cities = ("Paris", "Berlin", "Madrid", "Rome")
    said = ("Berlin", "The answer is Berlin.", "I choose Berlin.", "It is Berlin, not Rome.")
    for place, label in enumerate("ABCD"):
        moved = {one: cities[(at - place + 1) % 4] for at, one in enumerate("ABCD")}
        for text in said:
            assert read_choice(text, options=moved).label == label, (text, moved)


def test_options_that_are_equal_choose_neither() -> None:
    options = {"A": "5 mM", "B": "5 MM", "C": "7 mM", "D": "9 mM"}
    assert read_choice("5 mM", options=options).label is None
    assert read_choice("The answer is 7 mM.", options=options).label == "C"


@pytest.mark.parametrize(
    "text",
    [
        "A, " * 20_000,
        "answer is Berlin and " * 5_000,
        "wait, " * 20_000,
        "Wait.\n" * 10_000,
        " " * 200_000 + "x",
        "x" + " \n" * 50_000 + "y",
        "C. difficile " * 5_000,
        '"answer": ' * 10_000,
        "not A but " * 10_000,
        "it's " * 10_000,
    ],
    ids=lambda text: text[:8],
)
def test_hostile_answers_are_read_to_the_end(text: str) -> None:
    found = read_choice(text, options=OPTIONS["cities"])
    assert found.label is None or "Berlin" in text
