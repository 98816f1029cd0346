"""What a hostile text can't do to the list parser: cost more than its length."""

from __future__ import annotations

import json
import sys
import time

import pytest

from accord.scoring.parse import parse

HOSTILE = {
    "deep JSON": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "open brackets": "(" * 500_000 + "a, b, c" + "[" * 500_000,
    "quotes": '"' * 1_000_001,
    "stars": "*" * 1_000_000,
    "spaced stars": "* " * 500_000,
    "bold openers": "**a " * 250_000,
    "italic openers": "*a " * 333_000,
    "underscores": "_a " * 333_000,
    "links": "[a](" * 250_000,
    "citations": "[1," * 333_000,
    "tags": "<b " * 333_000,
    "list tags": "<li>" * 200_000,
    "ticks": "`a``b" * 200_000,
    "escapes": "\\n" * 500_000,
    "blanks": "1. a" + " " * 1_000_000 + "b",
    "leading blanks": " " * 1_000_000 + "x",
    "heading blanks": "# a" + " " * 1_000_000 + "b",
    "pipes": "|" * 1_000_000,
    "pipe rows": "|a|b|\n" * 100_000,
    "dashes": "- " * 500_000 + "x",
    "commas": "a, " * 333_000,
    "stops": "a. " * 333_000,
    "ands": "a, b " + "and c " * 160_000,
    "one word": "a" * 1_000_000,
    "colons": ": " * 500_000,
    "think": "<think>" * 140_000,
    "fences": "```json\n" * 120_000,
    "headings": "### 1. a\n" * 100_000,
    "colon lines": "a:\n" * 300_000,
    "newlines": "\n" * 1_000_000,
    "letters": "a. x\n" * 200_000,
    "days": "Day 1: x\n" * 100_000,
    "deeper and deeper": "\n".join(" " * (k % 2000) + "- x" for k in range(2000)),
    "emoji": "🍎 x\n" * 100_000,
    "surrogates": "\ud800 a, \udfff b, and c",
    "surrogates in JSON": r'["\ud800 a", {"b\udfff": "\u0000c"}]',
    "bidi": "1. \u202ea\u202c\n2. \u2066b\u2069",
    "nul": "1. a\0b\n2. \0",
}


HOSTILE |= {
    name: unit * (600_000 // len(unit))
    for name, unit in {
        "top headings": "# a\n",
        "boxes": "[ ] a\n",
        "LaTeX items": "\\item a\n",
        "LaTeX commands": "\\textbf{",
        "objects a line": '{"a":1}\n',
        "open JSON": '["a",',
        "escaped quotes": '"\\\\',
        "open rows": "a | b\n",
        "borders": "+--",
        "dashes in words": "a – ",
        "pairs": "a: b; c: d; ",
        "dots": "a • ",
        "circled": "①②",
        "lettered": "a) x b) y ",
        "thousands": "1,000, ",
        "prefixed and": "، وا",
        "verbs": "x are a, ",
        "Chinese verbs": "有、",
        "double markers": "- 1. a\n",
        "break tags": "<br>",
        "paragraph tags": "<p>a",
        "open fences": "```\na\n",
        "second levels": "1.1 a\n",
        "lines apart": "1. a\n\nb\n\n",
        "quoted names": "“a”, ",
        "mixed directions": "\u200fa ب, ",
        "verbs that open": "He won a, ",
        "clauses": "他在，",
        "topics": "京も、",
        "commas inside quotes": '"a," ',
        "pairs in a row": "a: b, ",
        "starred numbers": "**1**. a\n",
        "measures": "are held in a, and ",
        "questions above": "- a\n\nWhy b?\n",
        "numbers without end": "1. a,\n",
        "empty markers": "1.\n",
        "answer labels": "Answer: a\n",
        "bracketed in a row": "；（1）",
        "thin rules": "|-|-|\n",
        "names that go on": "Ann Bob sang, ",
        "verbs in later parts": "Rome is Big, and grew up, ",
        "ways to a name": "are known for a in b ",
        "he and she": "it is a, it was b. ",
        "said in Japanese": "京都、行きました、",
        "pairs that belong together": "a and b, ",
        "counted": "It has two a has two 1, b, c ",
        "Chinese places": "京、位，",
        "bold without end": "1. **a\n",
    }.items()
}


def calls_of(text: str) -> int:
    """How many functions are called to read a text, Python's own included."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        parse(text)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_text_takes_twice_the_steps(name: str) -> None:
    """Counted, so that a busy machine changes nothing; what one call costs, the CPU limits hold."""
    text = HOSTILE[name]
    once, twice = (calls_of(text[:length]) for length in (9_000, 18_000))
    assert twice <= 2.2 * once + 300, (once, twice)


def read_in_time(text: str) -> None:
    """Far more than a linear walk needs, far less than a quadratic one."""
    start = time.process_time()
    parsed = parse(text)
    seconds = time.process_time() - start
    assert seconds < 30, f"{seconds:.1f} s"
    json.dumps(parsed.to_dict(), ensure_ascii=False).encode()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_read_in_linear_time(name: str) -> None:
    """A sixth of a megabyte of each; a quadratic step would need minutes."""
    read_in_time(HOSTILE[name][: len(HOSTILE[name]) // 6])


@pytest.mark.soak
@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_of_it_is_too(name: str) -> None:
    read_in_time(HOSTILE[name])


def test_a_hundred_thousand_items() -> None:
    parsed = parse("\n".join(f"{n}. item {n}" for n in range(1, 100_001)))
    assert len(parsed.elements) == 100_000
    assert parsed.elements[-1].text == "item 100000"
