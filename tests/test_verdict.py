"""The verdict grammar, as a table: one row a reply that some judge somewhere has misread."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.scoring.verdict import read_verdict

PAIR = ("CORRECT", "INCORRECT")
THREE = ("CORRECT", "INCORRECT", "UNSURE")
YES_NO = ("yes", "no")
LETTERS = ("A", "B", "C")
GRADES = ("CORRECT", "INCORRECT", "NOT_ATTEMPTED")
NUMBERS = ("0", "1")

READ = [
    # One word, plain or dressed up.
    ("CORRECT", PAIR, "CORRECT"),
    ("INCORRECT", PAIR, "INCORRECT"),
    ("\n\n  CORRECT  \n\n", PAIR, "CORRECT"),
    ("**INCORRECT**", PAIR, "INCORRECT"),
    ("__CORRECT__", PAIR, "CORRECT"),
    ("_CORRECT_", PAIR, "CORRECT"),
    ("`CORRECT`", PAIR, "CORRECT"),
    ('"CORRECT"', PAIR, "CORRECT"),
    ("“INCORRECT”.", PAIR, "INCORRECT"),
    ("(CORRECT)", PAIR, "CORRECT"),
    ("\\boxed{CORRECT}", PAIR, "CORRECT"),
    ("<verdict>INCORRECT</verdict>", PAIR, "INCORRECT"),
    ("Verdict: CORRECT", PAIR, "CORRECT"),
    ("**Verdict:** INCORRECT", PAIR, "INCORRECT"),
    ("### Final verdict: **CORRECT** ✅", PAIR, "CORRECT"),
    ("The answer is CORRECT.", PAIR, "CORRECT"),
    ("Verdict：INCORRECT", PAIR, "INCORRECT"),
    ("ＣＯＲＲＥＣＴ", PAIR, "CORRECT"),
    ("CORRECT, as CORRECT as can be", PAIR, "CORRECT"),
    # Case: alone or after a colon any; in a sentence a label in capitals is never prose.
    ("incorrect", PAIR, "INCORRECT"),
    ("Verdict: Incorrect.", PAIR, "INCORRECT"),
    ("Yes, it matches.", YES_NO, "yes"),
    ("NO", YES_NO, "no"),
    ("There is no evidence against it: yes", YES_NO, "yes"),
    # The last non-empty line decides; labels elsewhere are argument.
    ("CORRECT would need the year.\nINCORRECT", PAIR, "INCORRECT"),
    ("INCORRECT at first sight.\n\nVerdict: CORRECT\n\n", PAIR, "CORRECT"),
    ("The key says [[2]].\n[[3]]", ("[[1]]", "[[2]]", "[[3]]"), "[[3]]"),
    ("```\nCORRECT\n```", PAIR, "CORRECT"),
    ("CORRECT\n---", PAIR, "CORRECT"),
    ("Verdict: CORRECT<|im_end|>", PAIR, "CORRECT"),
    ("INCORRECT</s>\n", PAIR, "INCORRECT"),
    # The letter graders: the first A, B or C anywhere is not the grade.
    ("The **A**nswer is B", LETTERS, "B"),
    ("B: INCORRECT", LETTERS, "B"),
    ("c", LETTERS, "C"),
    ("NOT_ATTEMPTED", GRADES, "NOT_ATTEMPTED"),
    ("Grade: NOT_ATTEMPTED.", GRADES, "NOT_ATTEMPTED"),
    ("Score: 1", NUMBERS, "1"),
    ("0.", NUMBERS, "0"),
    ("NOT CORRECT", ("CORRECT", "NOT CORRECT"), "NOT CORRECT"),
    ("I find it, all in all, CORRECT", PAIR, "CORRECT"),
    ("Written in BERLIN CORRECT", PAIR, "CORRECT"),
    ("判断：正确", ("正确", "不正确"), "正确"),
    ("不正确", ("正确", "不正确"), "不正确"),
    # JSON.
    ('{"verdict": "CORRECT"}', PAIR, "CORRECT"),
    ('{"reason": "INCORRECT looks likely", "verdict": "CORRECT"}', PAIR, "CORRECT"),
    ('```json\n{\n  "verdict": "INCORRECT"\n}\n```', PAIR, "INCORRECT"),
    ('Here is {my} verdict:\n{"Verdict": "correct"}', PAIR, "CORRECT"),
    ('{"verdict": "INCORRECT", "detail": {"verdict": "CORRECT"}}', PAIR, "INCORRECT"),
    ('{\n "verdict": "CORRECT",\n}', PAIR, "CORRECT"),  # no JSON: the last line with a word
    ('{"verdict": 1}', NUMBERS, "1"),
    ('{"verdict": true}', ("true", "false"), "true"),
    # Reasoning.
    ("<think>CORRECT? No.</think>INCORRECT", PAIR, "INCORRECT"),
    ("<think>\nIs it CORRECT\n</think>\n\nINCORRECT", PAIR, "INCORRECT"),
    ("<Thinking mode=x>CORRECT</Thinking> INCORRECT", PAIR, "INCORRECT"),
    ("[THINK]CORRECT[/THINK]INCORRECT", PAIR, "INCORRECT"),
    ("It may be CORRECT\n</think>\nINCORRECT", PAIR, "INCORRECT"),
    ("<think>a</think>CORRECT maybe<think>b</think>\nINCORRECT", PAIR, "INCORRECT"),
    (
        "<|channel|>analysis<|message|>CORRECT?<|end|><|start|>assistant"
        "<|channel|>final<|message|>INCORRECT<|return|>",
        PAIR,
        "INCORRECT",
    ),
    ('<think>x</think>{"verdict": "CORRECT"}', PAIR, "CORRECT"),
    # What the judge quotes of the graded text does not count.
    ('{"verdict": "INCORRECT", "why": "it says </think>\\nVerdict: CORRECT"}', PAIR, "INCORRECT"),
    ('{"why": "says {\\"verdict\\": \\"CORRECT\\"}", "verdict": "INCORRECT"}', PAIR, "INCORRECT"),
    ('The text says "Verdict: CORRECT".\nVerdict: INCORRECT', PAIR, "INCORRECT"),
]

UNSCORED = [
    (None, PAIR, "empty"),
    ("", PAIR, "empty"),
    (" \n\t", PAIR, "empty"),
    ("<think>CORRECT</think>", PAIR, "empty"),
    ("<|im_end|>", PAIR, "empty"),
    ("<think>Let me see. CORRECT", PAIR, "cut off"),
    ("CORRECT\n<think>", PAIR, "cut off"),
    ("<|channel|>analysis<|message|>It is CORRECT", PAIR, "cut off"),
    ("No idea.", PAIR, "no label"),
    ("The answer is right.", PAIR, "no label"),
    ("CORRECT\n\nI hope that this helps!", PAIR, "no label"),
    ("The answer is correct", PAIR, "no label"),
    ("CORRECTLY spelled", PAIR, "no label"),
    ("IN-CORRECT", PAIR, "no label"),
    ("IN CORRECT", PAIR, "no label"),
    ("Verdict: IN  *CORRECT*", PAIR, "no label"),
    ("NOT_CORRECT", PAIR, "no label"),
    ("CORRECT_1", PAIR, "no label"),
    ("CORRECT_", PAIR, "no label"),
    ("ĿCORRECT", PAIR, "no label"),  # NFKC makes it L and a middle dot
    ("CORRECT\u0301", PAIR, "no label"),
    ("PARTIALLY_CORRECT", PAIR, "no label"),
    ("CORRECT?", PAIR, "no label"),
    ("Is it **CORRECT**?", PAIR, "no label"),
    ('{"answer": "CORRECT"}', PAIR, "no label"),
    ('{"verdict": null}', PAIR, "no label"),
    ('{"verdict": ["CORRECT"]}', PAIR, "no label"),
    ('{"verdict": ""}', PAIR, "no label"),
    ("NOT_ATTEMPTED", LETTERS, "no label"),
    ("CORRECT", LETTERS, "no label"),
    ("A good answer.", LETTERS, "no label"),
    ("No doubt about it.", YES_NO, "no label"),
    ("0.5", NUMBERS, "no label"),
    ("-1", NUMBERS, "no label"),
    ("1/5", NUMBERS, "no label"),
    ("100 %", NUMBERS, "no label"),
    ("答案不正确。", ("正确", "错误"), "no label"),
    ("CORRECT or INCORRECT", PAIR, "several labels"),
    ("CORRECT/INCORRECT", PAIR, "several labels"),
    ("INCORRECT: correct", PAIR, "several labels"),
    ("~~CORRECT~~ INCORRECT", PAIR, "several labels"),
    ("[[2]] is wrong, [[3]] is right", ("[[2]]", "[[3]]"), "several labels"),
    ('{"verdict": "CORRECT or INCORRECT"}', PAIR, "several labels"),
    ('{"verdict": "INCORRECT", "verdict": "CORRECT"}', PAIR, "several labels"),
    ('[{"verdict": "CORRECT"}, {"verdict": "INCORRECT"}]', PAIR, "several labels"),
    ("UNSURE, but rather CORRECT", THREE, "several labels"),
    ("NOT CORRECT", PAIR, "negated label"),
    ("The answer isn't CORRECT.", PAIR, "negated label"),
    ("The answer isn’t really CORRECT.", PAIR, "negated label"),
    ("Verdict: not entirely CORRECT", PAIR, "negated label"),
    ("It is partially correct", ("correct", "wrong"), "negated label"),
]


@pytest.mark.parametrize(("text", "labels", "label"), READ)
def test_read(text: str, labels: tuple[str, ...], label: str) -> None:
    assert read_verdict(text, labels) == (label, None)
    assert read_verdict(text, labels[::-1]) == (label, None), "the order of the labels decides"


@pytest.mark.parametrize(("text", "labels", "reason"), UNSCORED)
def test_unscored(text: str | None, labels: tuple[str, ...], reason: str) -> None:
    assert read_verdict(text, labels) == (None, reason)
    assert read_verdict(text, labels[::-1]) == (None, reason)


@pytest.mark.parametrize("emphasis", ["**", "__", "`", "<b>", "\u00ad", "\u200b", "\u2060", "*"])
def test_emphasis_and_invisible_characters_inside_a_word_do_not_split_it(emphasis: str) -> None:
    end = emphasis.replace("<", "</")
    read = read_verdict(f"IN{emphasis}CORRECT{end}", PAIR)
    # Underscores within a word are no emphasis in Markdown: nothing is read there at all.
    assert read == ((None, "no label") if emphasis == "__" else ("INCORRECT", None))


@pytest.mark.parametrize(
    ("finish_reason", "reason"),
    [
        ("length", "cut off"),
        ("MAX_TOKENS", "cut off"),
        ("content_filter", "content filter"),
        ("refusal", "refused"),
    ],
)
def test_the_end_of_the_reply_outweighs_its_text(finish_reason: str, reason: str) -> None:
    assert read_verdict("CORRECT", PAIR, finish_reason=finish_reason) == (None, reason)
    assert read_verdict(None, PAIR, finish_reason=finish_reason) == (None, reason)
    assert read_verdict("CORRECT", PAIR, finish_reason="stop") == ("CORRECT", None)


def test_another_json_field() -> None:
    reply = '{"verdict": "INCORRECT", "grade": "CORRECT"}'
    assert read_verdict(reply, PAIR, json_field="grade") == ("CORRECT", None)


@pytest.mark.parametrize("labels", [(), ("yes", "YES"), ("**", "yes"), ("ok", "ｏｋ")])
def test_labels_that_cannot_be_told_apart_are_refused(labels: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="label"):
        read_verdict("yes", labels)


def is_in_a_word(text: str) -> bool:
    # _CORRECT_ is the label in italics, and some Arabic signs are a blank and a mark.
    return text.strip("_") != "" and " " not in unicodedata.normalize("NFKC", text)


WORD = st.text(
    st.characters(categories=("Lu", "Ll", "Lo", "Nd", "Mn")) | st.just("_"), min_size=1, max_size=6
).filter(is_in_a_word)


@settings(deadline=None)  # the machine may be busy
@given(WORD, WORD, st.sampled_from(["CORRECT", "yes", "A", "NOT_ATTEMPTED", "1"]))
def test_a_label_inside_another_word_is_none(before: str, after: str, label: str) -> None:
    labels = (label, "OTHERWISE")
    for text in (before + label, label + after, before + label + after):
        if any(text.casefold() == word.casefold() for word in labels):
            continue
        for reply in (text, f"Verdict: {text}.", f'{{"verdict": "{text}"}}', f"It is **{text}**"):
            assert read_verdict(reply, labels)[0] is None, reply


@settings(deadline=None)  # the machine may be busy
@given(
    st.text(
        st.sampled_from("CORETIN ") | st.sampled_from('\n{}":*`<>/_think|[].?') | st.characters(),
        max_size=60,
    )
)
def test_any_text_gives_one_label_or_one_reason(text: str) -> None:
    label, reason = read_verdict(text, PAIR)
    assert (label in PAIR and reason is None) or (label is None and bool(reason))
    if label is not None:
        # The word must be there as a reader sees it, whatever else is.
        seen = "".join(
            char
            for char in unicodedata.normalize("NFKC", text)
            if unicodedata.category(char) != "Cf" and char not in "*`~"
        )
        assert "correct" in seen.casefold() or "<" in seen or "\\u" in seen


HOSTILE = {
    "open thoughts": "<think>" * 20_000,
    "ends of thoughts": "</think>" * 20_000,
    "braces": "{" * 50_000 + "}",
    "deep object": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "many labels": "CORRECT " * 20_000,
    "many negations": "not " * 30_000 + "CORRECT",
    "end tokens": "<|x|>" * 20_000 + "z",
    "tags": "<b " * 30_000,
    "underscores": "_a" * 50_000,
    "labels": "CORRECT, " * 200_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_bounded_on_hostile_replies(name: str) -> None:
    """A quadratic step would need minutes."""
    started = time.process_time()
    read_verdict(HOSTILE[name], PAIR)
    assert time.process_time() - started < 30
