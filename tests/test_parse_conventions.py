"""How a list answer is read, rule by rule: hand-made answers in some thirty languages.

Each row of ``golden/list_conventions.jsonl`` (short texts, each for one case of a rule) and
``golden/list_realistic.jsonl`` (whole answers, sentences) names the rule, the text and its
elements, which were written down from the conventions before the parser had read the text; where a
rule is about heads, sections, attributes, asides, preamble, trailer or marker, these are given too.
"""

from __future__ import annotations

import dataclasses
import json
import pickle
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.scoring.parse import Parsed, _parse, parse
from accord.scoring.parse_flat import read_flat
from accord.scoring.parse_lead import _VERB, _VERBS, _last_verb
from accord.scoring.parse_prose import last_match
from accord.scoring.parse_quick import _OTHER, _SPECIAL, HARMLESS, HARMLESS_ABOVE
from accord.scoring.refusal import _REFUSAL, is_refusal, refuses

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for name in ("list_conventions", "list_realistic")
    for line in (Path(__file__).parent / "golden" / f"{name}.jsonl").read_text("utf-8").split("\n")
    if line
]


@pytest.mark.parametrize("row", ROWS, ids=[f"{n} {row['rule']}" for n, row in enumerate(ROWS)])
def test_each_convention(row: dict[str, Any]) -> None:
    parsed = parse(row["text"])
    elements = parsed.elements
    found: dict[str, Any] = {
        "elements": [element.text for element in elements],
        "heads": [element.head for element in elements],
        "sections": [element.section for element in elements],
        "attrs": [[list(pair) for pair in element.attributes] for element in elements],
        "aside": [element.aside for element in elements],
        "preamble": parsed.preamble,
        "trailer": parsed.trailer,
        "marker": parsed.marker,
    }
    wanted = {name: value for name, value in row.items() if name in found}
    assert {name: found[name] for name in wanted} == wanted
    assert len(parsed.starts) == len(elements)
    assert parsed == (_parse(row["text"]) if row["text"].strip() else Parsed())


# The same answer, packaged otherwise

MARK = re.compile(r"^([ \t]*(?:[-*+•·●▪–]|\d+[.)]|[A-Za-z][.)]|[IVXivx]+[.)])) ", re.M)
MUTATIONS: dict[str, Callable[[str], str]] = {
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "old line ends": lambda text: text.replace("\n", "\r"),
    "blanks at the ends": lambda text: "\n".join(line + "   " for line in text.split("\n")),
    "non-breaking blanks": lambda text: text.replace(" ", "\u00a0"),
    "tabs behind markers": lambda text: MARK.sub(r"\1\t", text),
    "byte order mark": lambda text: "\ufeff" + text,
    "zero-width blanks": lambda text: text.replace("\n", "\u200b\n"),
    "blank lines around": lambda text: f"\n\n{text}\n\n",
    "deeper": lambda text: re.sub(r"^(?=.*\S)", "  ", text, flags=re.M),
    "end token": lambda text: text + "<|endoftext|>",
    "reasoning": lambda text: f"<think>\nOkay: 1. list them\n- a\n</think>\n\n{text}",
}
WRAPPINGS: dict[str, Callable[[str], str]] = {
    "fence": "```markdown\n{}\n```".format,
    "quotation": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
    "courtesy before": "Sure! Here is the list:\n\n{}".format,
    "courtesy after": "{}\n\nLet me know if you need more.".format,
}
# Cut off, so nothing can follow; or with a part of the packaging already.
WHOLE = re.compile(r"</?think|```|~~~|^\s*[\[{].*[^\]}]\s*$|^Let's", re.S)


@pytest.mark.parametrize("how", MUTATIONS)
def test_unseen_signs_change_nothing(how: str) -> None:
    for row in ROWS:
        written, mutated = parse(row["text"]), parse(MUTATIONS[how](row["text"]))
        assert mutated.elements == written.elements, row["text"]
        assert mutated.marker == written.marker, row["text"]


@pytest.mark.parametrize("how", WRAPPINGS)
def test_packaging_changes_no_element(how: str) -> None:
    tried = 0
    for row in ROWS:
        if row["elements"] and WHOLE.search(row["text"]) is None:
            wrapped = parse(WRAPPINGS[how](row["text"]))
            assert [element.text for element in wrapped.elements] == row["elements"], row["text"]
            tried += 1
    assert tried > 700


REFUSALS = [
    row for row in ROWS if row["rule"].startswith(("r ", "11 refusal")) and not row["elements"]
]


@pytest.mark.parametrize("row", REFUSALS, ids=[row["rule"] for row in REFUSALS])
def test_refusals_in_many_languages(row: dict[str, Any]) -> None:
    parsed = parse(row["text"])
    assert is_refusal(row["text"], parsed.elements, parsed.marker)


PHRASES = [
    *("I'm sorry, but no.", "I am so sorry to say", "I’m afraid", "I am unable", "I'm not able"),
    *("i'm not sure", "I can't", "I cannot", "I can not", "I cant", "I couldn't", "I could not"),
    *("I won't", "I will not", "I must decline", "I don't know", "I do not have", "I don’t recall"),
    *("I have no information", "I possess no knowledge", "As an AI", "as a language model"),
    *("as an artificial", "Sorry, but", "Not enough information", "Insufficient data"),
    *("No information is available", "No answer found", "no data given", "Lo siento", "No puedo"),
    *(
        "Je ne peux",
        "Je ne sais",
        "Leider kann",
        "leider liegen",
        "Het spijt me",
        "Ik kan dat niet",
    ),
    *("Bilmiyorum", "Przepraszam, ale", "Nie wiem", "Non lo so", "Non posso", "Es tut mir leid"),
    *("Ich kann das nicht", "Mi dispiace", "Desculpe", "Leider habe", "As a AI", "as an ai"),
]


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_refusal_escapes_the_first_look(phrase: str) -> None:
    assert _REFUSAL.search(phrase) is not None
    assert refuses(phrase)


PLACED = [
    "Here:\n1. **Mars** – red\n2. Venus",
    "- Mars\n- Venus\n\nBye.",
    "**1. Mars**\n**2. Venus**",
    "<think>1. no\n2. none</think>\r\n1. Mars\r\n2. Venus",
    "The answer: Mars, Venus, Earth",
    '{"x": ["Mars", "Venus"]}',
    '```json\n[\n  "Mars",\n  "Venus"\n]\n```',
    "<ul><li>Mars</li><li><b>Venus</b></li></ul>",
    "| # | Planet |\n|--|--|\n| 1 | Mars |\n| 2 | Venus |",
    "1. Mars 2. Venus 3. Earth",
    "Mars\nVenus\nEarth",
    "> - Mars\n> - Venus",
    "```\n1. Mars\n2. Venus\n```",
]


@pytest.mark.parametrize("text", PLACED)
def test_each_element_says_where_it_begins(text: str) -> None:
    parsed = parse(text)
    for element, start in zip(parsed.elements, parsed.starts, strict=True):
        assert start is not None
        rest = text[start:].lstrip("*<b>")
        assert rest.startswith(element.text.split(" – ")[0]), (element, rest[:20])


def test_a_place_that_is_not_there_is_none() -> None:
    assert parse(r'["\u0041B", "C"]').starts == (None, 13)


# The quick ways read as the whole way does

TITLES = st.sampled_from(
    "Mars/The Kids Are All Right/Romeo And Juliet/When Harry Met Sally/It/Jean-Luc Picard/C. Ray/"
    "Heat (1995)/1999/Saint Étienne/What Is Love/north of Rome/A, B/x: y/Dr. No/Anna - sings/"
    "Paris, France/July 4/and Bob/the Nile/Texas/Apple Inc./etc/a and b/made of clay/It's here/Ω/"
    "is red/Rome./Don't/Who/but not/e Roma/**bold**/Canada".split("/")
)


@given(
    st.lists(TITLES, min_size=1, max_size=11),
    st.sampled_from([", ", "; ", " | ", "\n", "\n- ", "\n* ", "\n\n- ", "\n+ "]),
    st.sampled_from(["", "Here you are:\n", "The list is: ", "My favourites are ", "- ", "* "]),
    st.sampled_from(["", ".", "\n", "\n\nThat was all of it.", ", etc.", " and Zoe", ", or Zoe."]),
)
@settings(max_examples=1500, deadline=None)
def test_quick_and_whole_agree(items: list[str], between: str, lead: str, end: str) -> None:
    text = lead + between.join(items) + end
    assert parse(text) == _parse(text)


def test_quick_and_whole_agree_on_thousands_of_answers() -> None:
    rng = random.Random(7)
    words = "Rome Oslo Bern Big Red Of The a in (1990) River's Old-Town X. 12 **Y** Æ".split()
    for _ in range(4000):
        items = [
            " ".join(rng.choice(words) for _ in range(rng.randint(1, 5)))
            for _ in range(rng.randint(1, 12))
        ]
        form = rng.randrange(6)
        if form == 0:
            body = "\n".join(f"{n}. {item}" for n, item in enumerate(items, 1))
        elif form == 1:
            body = "\n\n".join(f"{n}) {item}" for n, item in enumerate(items, 1))
        elif form == 2:
            body = "\n".join(f"{n}. **{item}**" for n, item in enumerate(items, 1))
        elif form == 3:
            body = "\n".join(f"{rng.choice('-*')} {item}" for item in items)
        elif form == 4:
            body = ", ".join(items)
        else:
            sign = rng.choice("-*+•")
            body = "\n".join(f"{sign} {item}" for item in items)
        lead = rng.choice(["", "", "Here:\n", "Here they are\n\n", "Sure! "])
        text = lead + body + rng.choice(["", "\n", ".", "\n\nHope this helps!"])
        assert parse(text) == _parse(text), text


LINES = (
    "Ingredients:/Here are some of them:/### Fruit/### 1. Fruit/**Nuts**/**Nuts:**/*Note this.*/"
    "---/It is good./Why these?/Key notes:/Is it?/Day 1: rest/Step 2/A. one/II. two/o round/"
    "Final answer:/(see below)/- rest,/“Quoted”/第一，好。/Ünder/1999. A year/2,5/-5/Let me know."
).split("/")


def test_quick_and_whole_agree_on_lists_below_lists() -> None:
    """Headings, lines with a colon, rules and sentences anywhere around the items."""
    rng = random.Random(11)
    words = (
        "Rome Oslo:red **Bern** – big “X” a in (1990) River's Q? 3 1. [x] *it* y; z, é 《书》"
    ).split()
    flat = 0
    for _ in range(12_000):
        lines: list[str] = []
        for _ in range(rng.randint(1, 4)):
            lines += rng.sample(LINES, rng.choice([0, 0, 1, 1, 2]))
            sign = rng.choice(["1.", "1)", "1、", "-", "*", "•", "–", "+", "・"])
            number = rng.choice([1, 1, 1, 2, 5])
            for at in range(rng.randint(1, 4)):
                item = " ".join(rng.choices(words, k=rng.randint(1, 3)))
                mark = f"{number + at}{sign[1]}" if sign[0] == "1" else sign
                lines.append(mark + rng.choice([" ", " ", " ", "", "\t", "  "]) + item)
                lines += [""] * rng.choice([0, 0, 0, 1])
            lines += [""] * rng.choice([0, 1])
        text = "\n".join([*lines, *rng.sample(LINES, rng.choice([0, 0, 1, 2]))])
        assert parse(text) == _parse(text), text
        flat += read_flat(text) is not None
    assert flat > 1000


def test_the_last_verb_is_the_last_match() -> None:
    rng = random.Random(3)
    words = (
        sorted(_VERBS)
        + "used made led A the Rome of in as like by (are) red 'is _was no-is".split()
    )
    for _ in range(20_000):
        text = " ".join(rng.choices(words, k=rng.randint(1, 7)))
        wanted, found = last_match(_VERB, text), _last_verb(text)
        assert (found and found.end()) == (wanted and wanted.end()), text


def test_places_told_later_stay_with_the_answer() -> None:
    """They are worked out when somebody asks: in copies and in another process too."""
    parsed = parse("Here:\n1. **Mars**\n2. **Venus**")
    assert dataclasses.replace(parsed, rule="x").starts == (9, 21)
    assert pickle.loads(pickle.dumps(parse("- Mars\n- Venus"))).starts == (2, 9)
    with pytest.raises(AttributeError, match="no attribute 'ends'"):
        getattr(parsed, "ends")  # noqa: B009


@pytest.mark.parametrize(
    ("signs", "harmless"), [(_SPECIAL, HARMLESS), (_OTHER, HARMLESS_ABOVE)], ids=["item", "lead"]
)
def test_no_sign_passes_as_harmless(signs: re.Pattern[str], harmless: bytes) -> None:
    every = "".join(map(chr, range(0x110000)))
    for sign in signs.findall(every):
        left = sign.encode("utf-8", "surrogatepass").translate(None, harmless)
        assert left or sign == "'", hex(ord(sign))
