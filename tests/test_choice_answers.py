"""Which option an answer chooses, and what is read as none."""

from __future__ import annotations

import pytest

from accord.scoring.choice_answers import read_choice, read_truth
from accord.scoring.errors import SettingsError

OPTIONS = {"A": "Nucleus", "B": "Mitochondrion", "C": "Vitamin C", "D": "Ribosome"}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("B", "alone"),
        ("b", "alone"),
        ("B.", "alone"),
        ("**B**", "alone"),
        ("(B)", "alone"),
        ("[b]", "alone"),
        ("Ｂ", "alone"),
        ("（Ｂ）", "alone"),
        ("`B`", "alone"),
        ("Option B", "alone"),
        ("```\nB\n```", "alone"),
        ("<think>A or C? It must be B.</think>\nB", "alone"),
        ("B\n\nThe mitochondrion makes ATP; A does not.", "alone"),
        ("Let me think. Both A and C are out.\n\nB", "alone"),
        (r"\boxed{B}", "boxed"),
        (r"So the answer is $\boxed{\text{B}}$.", "boxed"),
        (r"\boxed{(B)}", "boxed"),
        (r"\boxed{\text{B. Mitochondrion}}", "boxed"),
        ('{"answer": "B", "why": "A is the nucleus"}', "json"),
        ("The answer is B", "phrase"),
        ("the answer is b.", "phrase"),
        ("The answer is B because A is the nucleus.", "phrase"),
        ("The correct answer is: **B. Mitochondrion**", "phrase"),
        ("Answer: B", "phrase"),
        ("**Answer:** B", "phrase"),
        ("Final answer: (B) Mitochondrion", "phrase"),
        ("The answer to this question is option B.", "phrase"),
        ("B is the correct answer.", "phrase"),
        ("The best choice is B.", "phrase"),
        ("Answer: A\n\nWait, the nucleus makes no ATP.\n\nFinal answer: B", "phrase"),
        ("The answer is B, A is the nucleus.", "phrase"),
        ("答案是B", "phrase"),
        ("答案：Ｂ", "phrase"),
        ("正解はBです。", "phrase"),
        ("Respuesta: B", "phrase"),
        ("La respuesta correcta es la B.", "phrase"),
        ("Réponse : B", "phrase"),
        ("Die richtige Antwort ist B.", "phrase"),
        ("Risposta: B", "phrase"),
        ("Het juiste antwoord is B.", "phrase"),
        ("Ответ: B", "phrase"),
        ("الإجابة: B", "phrase"),
        ("उत्तर: B", "phrase"),
        ("উত্তর: B", "phrase"),
        ("### Answer\n**B**\n\nBecause the nucleus (A) makes no ATP.", "alone"),
        ("A: the nucleus.\nB: the mitochondrion.\nC: a vitamin.\nSo B.", "phrase"),
        ("Ans: B", "phrase"),
        ("Ans. B", "phrase"),
        ("Q: Which organelle? A: B", "phrase"),
        ("La réponse est donc B", "phrase"),
        ("Die Antwort lautet B", "phrase"),
        ("Option A is wrong, the answer is B.", "phrase"),
        (r"$\boxed{\textbf{(B)}}$", "boxed"),
        ("<answer>B</answer>", "tag"),
        ('{"answer": "Mitochondrion"}', "json"),
        ("B - Mitochondrion", "option"),
        ("B, mitochondrion", "option"),
        ("B. Mitochondrion", "lead"),
        ("B) Mitochondrion", "lead"),
        ("b) mitochondrion", "lead"),
        ("**B.** Mitochondrion", "lead"),
        ("mitochondrion.", "option"),
        ("I would go with B here.", "pick"),
        ("Option A is wrong, so I choose option B here.", "pick"),
        ("It has to be (B) since it makes ATP.", "pick"),
    ],
)
def test_the_label_is_read(text: str, rule: str) -> None:
    found = read_choice(text, options=OPTIONS)
    assert (found.label, found.rule, found.reason) == ("B", rule, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n", "empty"),
        (None, "empty"),
        ("<think>It may be B", "cut off"),
        ("A or B", "several labels"),
        ("A or B.", "several labels"),
        ("A, B", "several labels"),
        ("A/B", "several labels"),
        ("A and B", "several labels"),
        ("The answer is A or B.", "several labels"),
        ("Answer: B, C and D", "several labels"),
        ("Answer: A / B", "several labels"),
        (r"\boxed{A} or \boxed{B}", "several labels"),
        ("A. Nucleus\nB. Mitochondrion", "several labels"),
        ("(A) Nucleus (B) Mitochondrion (C) Vitamin C", "several labels"),
        ("答案是A或B", "several labels"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ("I don't know.", "refused"),
        ("抱歉，我不知道", "refused"),
        ("The answer is not B.", "negated label"),
        ("Neither A nor B", "negated label"),
        ("A good answer needs the whole text.", "no label"),
        ("The answer is a protein.", "no label"),
        ("Because mitochondria make ATP.", "no label"),
        ("E", "no label"),
        ("Option A is wrong, and so is option C.", "negated label"),
        ("Both A and C", "several labels"),
        ("None of the above", "no label"),
        ("The nucleus is no power plant.\nOption A is wrong.", "negated label"),
        ("It has no cell wall.\nThe cell (A) is small.", "no label"),
        ("A. B. Smith found it", "no label"),
        ("ABBA", "no label"),
        ("В", "no label"),  # Cyrillic: looks like B, third of its own alphabet
        ("Vitamin B12", "no label"),
        ("A's reasoning", "no label"),
    ],
)
def test_what_is_no_choice_is_unread(text: str | None, reason: str) -> None:
    found = read_choice(text, options=OPTIONS)
    assert (found.label, found.reason) == (None, reason)


def test_an_option_that_looks_like_a_label_is_read_as_the_option() -> None:
    assert read_choice("Vitamin C", options=OPTIONS).rule == "option"
    assert read_choice("Vitamin C", options=OPTIONS).label == "C"
    # Without the options nothing says that the C is a label.
    assert read_choice("Vitamin C").label is None


def test_labels_of_another_script() -> None:
    assert read_choice("Ответ: В", labels=("А", "Б", "В", "Г")).label == "В"
    assert read_choice("क", labels=("क", "ख")).label == "क"
    assert read_choice("2", labels=("1", "2", "3")).label == "2"
    assert read_choice("Answer: 12", labels=("1", "2", "3")).label is None


def test_labels_that_cannot_be_told_apart_are_refused() -> None:
    for labels in ((), ("A", "a"), ("A", "")):
        with pytest.raises(SettingsError, match="told apart"):
            read_choice("A", labels=labels)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Yes", "Yes"),
        ("no.", "No"),
        ("**No**", "No"),
        ("True", "Yes"),
        ("FALSE", "No"),
        ("No, it inhibits the enzyme.", "No"),
        ("Yes. There is no evidence against it.", "Yes"),
        ("Yes\n\nIt has no side effect.", "Yes"),
        ("The answer is no.", "No"),
        ("Answer: Yes", "Yes"),
        ("The statement is false.", "No"),
        (r"\boxed{\text{No}}", "No"),
        ("The enzyme is inhibited.\n\nNo", "No"),
        ("The hypothesis is supported. Yes.", "Yes"),
        ("The statement is correct.", "Yes"),
        ("It is false.", "No"),
        ("I would say no.", "No"),
        ("No - it does not.", "No"),
        ("No it does not", "No"),
        ("Incorrect", "No"),
        ("<answer>No</answer>", "No"),
        ("The claim is false because it isn't true.", "No"),
        ("Yes it does", "Yes"),
        ("Definitely yes", "Yes"),
        ("Thus, no.", "No"),
        ("Yes (with high confidence)", "Yes"),
        ("Yes, no side effects were found.", "Yes"),
        ("I would answer yes.", "Yes"),
        ("A: Yes", "Yes"),
        ("答案：Yes", "Yes"),
        ("Réponse : No", "No"),
        ('{"answer": true}', "Yes"),
        ('{"answer": false, "why": "no true effect"}', "No"),
        ("Yes.\nWait, actually no. The answer is no.", "No"),
    ],
)
def test_yes_and_no(text: str, label: str) -> None:
    assert read_truth(text).label == label


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I do not know", "refused"),
        ("Another reason", "no label"),
        ("Yes or no", "several labels"),
        ("Yes/No", "several labels"),
        ("The answer is yes or no.", "several labels"),
        ("Yes.\n\nOn second thought, there is more.\n\nNo.", "several labels"),
        ("The statement is not true.", "negated label"),
        ("No evidence was found", "no label"),
        ("Nothing known", "no label"),
        ("True positives are rare", "no label"),
        ("Correct answers need the text", "no label"),
        ("It is true that some are", "no label"),
        ("No, the drug fails.\nIt is true.", "several labels"),
        ("The answer is: no evidence", "no label"),
        ("No.1 is the enzyme", "no label"),
        ("No. 5 is the enzyme", "no label"),
        ("Yes, no", "several labels"),
        ("The statement is neither true nor false.", "no label"),
        ("Probably not", "no label"),
        ("It is not correct.", "negated label"),
        ("", "empty"),
    ],
)
def test_no_inside_other_words_is_none(text: str, reason: str) -> None:
    assert (read_truth(text).label, read_truth(text).reason) == (None, reason)


def test_hostile_text_takes_no_time() -> None:
    for text in ("answer " * 20_000, "(" * 50_000, "A or " * 20_000 + "B", r"\boxed{" * 20_000):
        assert read_choice(text).label is None
        read_truth(text)
