"""The list parser: what each convention makes of a text."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from accord.scoring.errors import InputError
from accord.scoring.parse import Parsed, _parse, parse, read_reference
from accord.scoring.records import Element
from accord.scoring.refusal import is_refusal, refuses


def texts(text: str) -> list[str]:
    return [element.text for element in parse(text).elements]


PLANETS = ["Mercury", "Venus", "Earth"]

MARKERS = [
    "1. Mercury\n2. Venus\n3. Earth",
    "1.Mercury\n2.Venus\n3.Earth",
    "1) Mercury\n2) Venus\n3) Earth",
    "(1) Mercury\n(2) Venus\n(3) Earth",
    "1、Mercury\n2、Venus\n3、Earth",
    "１．Mercury\n２．Venus\n３．Earth",
    "١. Mercury\n٢. Venus\n٣. Earth",
    "१. Mercury\n२. Venus\n३. Earth",
    "① Mercury\n② Venus\n③ Earth",
    "1️⃣ Mercury\n2️⃣ Venus\n3️⃣ Earth",
    "一、Mercury\n二、Venus\n三、Earth",
    "a. Mercury\nb. Venus\nc. Earth",
    "a) Mercury\nb) Venus\nc) Earth",
    "(a) Mercury\n(b) Venus\n(c) Earth",
    "A. Mercury\nB. Venus\nC. Earth",
    "I. Mercury\nII. Venus\nIII. Earth",
    "i) Mercury\nii) Venus\niii) Earth",
    "1\\. Mercury\n2\\. Venus\n3\\. Earth",
    "**1.** Mercury\n**2.** Venus\n**3.** Earth",
    "**1. Mercury**\n**2. Venus**\n**3. Earth**",
    "1. **Mercury**\n2. *Venus*\n3. `Earth`",
    "1. Mercury\n1. Venus\n1. Earth",
    "1. Mercury\n\n2. Venus\n\n\n3. Earth",
    "  1. Mercury\n   2. Venus\n  3. Earth",
    "1. Mercury;\n2. Venus;\n3. Earth",
    '1. "Mercury"\n2. “Venus”\n3. «Earth»',
    "1. Mercury[1]\n2. Venus [1][2]\n3. Earth [2, 3]",
    "- Mercury\n- Venus\n- Earth",
    "* Mercury\n* Venus\n* Earth",
    "+ Mercury\n+ Venus\n+ Earth",
    "• Mercury\n• Venus\n• Earth",
    "・Mercury\n・Venus\n・Earth",
    "– Mercury\n– Venus\n– Earth",
    "● Mercury\n● Venus\n● Earth",
    "▪ Mercury\n▪ Venus\n▪ Earth",
    "-Mercury\n-Venus\n-Earth",
    "•\tMercury\n•\tVenus\n•\tEarth",
    "\t- Mercury\n\t- Venus\n\t- Earth",
    "- [x] Mercury\n- [ ] Venus\n- [X] Earth",
    "🪐 Mercury\n🌋 Venus\n🌍 Earth",
    "1. Mercury\\n2. Venus\\n3. Earth",
    "1. Mercury\r\n2. Venus\r\n3. Earth\r\n",
    "```\n1. Mercury\n2. Venus\n3. Earth\n```",
    "```markdown\n- Mercury\n- Venus\n- Earth\n```",
    "<think>\n1. Moon\n2. Sun\n</think>\n1. Mercury\n2. Venus\n3. Earth<|endoftext|>",
    "The moon is none.</think>\n- Mercury\n- Venus\n- Earth",
    "Mercury, Venus, and Earth",
    "Mercury, Venus and Earth.",
    "Mercury | Venus | Earth",
    "| Mercury | Venus | Earth |",
    "Mercury; Venus; Earth",
    "Mercury、Venus、Earth",
    "The first planets are Mercury, Venus, and Earth.",
    "The first planets: Mercury, Venus, Earth.",
    "The first planets include Mercury, Venus and Earth, among others.",
    '"Mercury"\n"Venus"\n"Earth"',
    "**Mercury**\n**Venus**\n**Earth**",
    "Mercury\nVenus\nEarth",
    "The first planets:\nMercury\nVenus\nEarth",
    '["Mercury", "Venus", "Earth"]',
    "['Mercury', 'Venus', 'Earth']",
    'Here you are: ["Mercury", "Venus", "Earth"]',
    '```json\n["Mercury", "Venus", "Earth"]\n```',
    '{"planets": ["Mercury", "Venus", "Earth"], "count": 3}',
    "<ul><li>Mercury</li><li><b>Venus</b></li><li>Earth</li></ul>",
    "<ol>\n<li>Mercury\n<li>Venus\n<li>Earth\n</ol>",
    "| Planet |\n|---|\n| Mercury |\n| Venus |\n| Earth |",
    "| # | Planet |\n|---|---|\n| 1 | Mercury |\n| 2 | Venus |\n| 3 | Earth |",
]


@pytest.mark.parametrize("text", MARKERS)
def test_each_way_to_write_three_planets(text: str) -> None:
    assert texts(text) == PLANETS


NOT_SPLIT = [
    "It opened in\n1999. Then it closed in 2004.",
    "About\n1.5 million people live there, and 2.5 million work there.",
    "She met\nDr. Smith and\nMt. Etna was quiet that day, they said.",
    "The series was filmed in Vancouver, British Columbia, Canada.",
    "It was signed on Thursday, July 4, 1776 in Philadelphia by the delegates.",
    "I'm sorry, but I can't help with that.",
    "When he was young, he lived in Rome, which he loved, and then he moved to Paris with friends.",
]


@pytest.mark.parametrize("text", NOT_SPLIT)
def test_prose_has_no_elements(text: str) -> None:
    assert parse(text) == Parsed(marker="prose", rule="prose")


BARE = ["Washington, D.C.", "Lennon and McCartney", "None", "Paris", "St. Louis", "U.S. Open"]


@pytest.mark.parametrize("text", BARE)
def test_one_bare_answer_is_one_element(text: str) -> None:
    assert texts(text) == [text]
    assert parse(text).marker == "none"


KEPT = [
    ("1. 802.11a Standard: fast\n2. No. 1 hit\n3. 2 oz. of gin", None),
    ('- "Help!" by The Beatles\n- Stephen "tWitch" Boss\n- 《教父》（The Godfather）', None),
    ("- -H. R. Haldeman\n- 1.5 million\n- 1984", None),
    ("1. 1984\n2. 300\n3. 21 Grams", ["1984", "300", "21 Grams"]),
    ("1. 'Don't Stop'\n2. “A” and “B”", ["Don't Stop", "“A” and “B”"]),
    (
        "1. [Paris](https://e.org/a_(b)) now\n2. a*b*c\n3. snake_case_name",
        ["Paris now", "a*b*c", "snake_case_name"],
    ),
    (
        "1. <vector>\n2. <b>map</b>\n3. <script>x</script>",
        ["<vector>", "map", "<script>x</script>"],
    ),
    ("1. R&amp;D\n2. a &lt; b", ["R&D", "a < b"]),
    ("1. Tokyo, Japan\n2. Washington, D.C.\n3. Tyler, the Creator", None),
    ("1. x\n2. x\n3. x", ["x", "x", "x"]),
    ("1. one\n2. two\n3.", ["one", "two"]),
]


@pytest.mark.parametrize(("text", "expected"), KEPT)
def test_items_stay_as_they_are(text: str, expected: list[str] | None) -> None:
    if expected is None:
        expected = [line.split(" ", 1)[1] for line in text.split("\n")]
    assert texts(text) == expected


def attributes(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(element.text, list(element.attributes)) for element in parse(text).elements]


def test_sub_bullets_are_attributes() -> None:
    listqa = (
        "Here is the list:\n\n1. “The Rising”\n   * year: 2003\n   * label: Columbia\n"
        "2. “Radio Nowhere”\n   - year: 2008\n\nThat was all."
    )
    parsed = parse(listqa)
    assert attributes(listqa) == [
        ("The Rising", [("year", "2003"), ("label", "Columbia")]),
        ("Radio Nowhere", [("year", "2008")]),
    ]
    assert (parsed.preamble, parsed.trailer) == ("Here is the list:", "That was all.")
    assert (parsed.marker, parsed.rule) == ("nested", "numbers")


def test_unindented_bullets_between_running_numbers_are_attributes() -> None:
    assert attributes("1. A\n- year: 1967\n\n2. B\n\n- year: 1968\n\n3. C\n- x") == [
        ("A", [("year", "1967")]),
        ("B", [("year", "1968")]),
        ("C", [("", "x")]),
    ]


def test_letters_under_roman_numerals_and_second_level_numbers() -> None:
    assert attributes("I. A\nA. one\nB. two\nII. B\nA. three") == [
        ("A", [("", "one"), ("", "two")]),
        ("B", [("", "three")]),
    ]
    assert attributes("1. A\n1.1 one\n1.2 two\n2. B\n2.1 three") == [
        ("A", [("", "one"), ("", "two")]),
        ("B", [("", "three")]),
    ]


def test_the_third_level_takes_its_parent_as_key() -> None:
    text = "1. A\n   - Uses:\n     - x\n     - y\n   - Made of wood\n     - oak"
    assert attributes(text) == [
        ("A", [("Uses", "x"), ("Uses", "y"), ("", "Made of wood"), ("Made of wood", "oak")])
    ]


def test_a_long_key_or_one_with_a_comma_is_no_key() -> None:
    text = "1. A\n   - Before sleeping, say: this\n   - see https://e.org\n   - year: "
    assert attributes(text) == [
        ("A", [("", "Before sleeping, say: this"), ("", "see https://e.org"), ("year", "")])
    ]


def test_key_value_lines_at_the_top_are_elements_with_a_head() -> None:
    parsed = parse("- Name: Ann\n- Town: Rome\n- Note:")
    assert [(e.text, e.head) for e in parsed.elements] == [
        ("Name: Ann", "Name"),
        ("Town: Rome", "Town"),
        ("Note", None),
    ]
    assert parsed.marker == "bullet"


HEADS = [
    ("1. **Snow** – a song", "Snow"),
    ("1. **Duolingo** (App) – good", "Duolingo"),
    ("1. Tokyo, Japan - 38,140,000", "Tokyo, Japan"),
    ("1. Exodus 20:2-17 - the first time", "Exodus 20:2-17"),
    ("1. 爵士（Jazz）：音乐", "爵士（Jazz）"),
    ('1. "Tik Tok" by Kesha - Key: C minor', '"Tik Tok" by Kesha'),
    ("1. A (b: c) d", None),
    ("1. Barcelona (2010–11, 2012–13)", None),
    ("1. Title\nwith its explanation\n2. Other\nwith another", "Title"),
]


@pytest.mark.parametrize(("text", "head"), HEADS)
def test_the_head_is_the_part_before_an_explanation(text: str, head: str | None) -> None:
    assert parse(text).elements[0].head == head


def test_sections_preamble_and_trailer() -> None:
    parsed = parse(
        "Sure, here they are.\n\nCurrent members:\n1. Ann\n2. Bob\n\nFormer members:\n1. Cid\n"
        "Note: not complete."
    )
    assert [(e.text, e.section) for e in parsed.elements] == [
        ("Ann", "Current members"),
        ("Bob", "Current members"),
        ("Cid", "Former members"),
    ]
    assert parsed.preamble == "Sure, here they are."
    assert parsed.trailer == "Note: not complete."


def test_trailing_text_keeps_its_order() -> None:
    parsed = parse("- a\n- b\n\nFirst.\n\n## Second\nThird.")
    assert parsed.trailer == "First.\n## Second\nThird."


def test_a_line_between_two_items_continues_the_upper_one() -> None:
    assert texts("1. A\ngoes on\n2. B\ngoes on too\nThe end.") == ["A goes on", "B goes on too"]
    assert texts("1. A,\n2. B,\nand C") == ["A", "B, and C"]
    assert texts("- A\n  deep\n- B\n  deeper\nEnd") == ["A deep", "B deeper"]


def test_numbered_headings_are_elements_or_sections() -> None:
    keyed = "### 1. Ann\nAge: 30\nTown: Rome\n\n### 2. Bob\nAge: 31\nTown: Oslo"
    assert attributes(keyed) == [
        ("Ann", [("Age", "30"), ("Town", "Rome")]),
        ("Bob", [("Age", "31"), ("Town", "Oslo")]),
    ]
    plain = "### 1. Dogs\n- Rex\n- Bello\n\n### 2. Cats\n- Tom"
    assert texts(plain) == ["Rex", "Bello", "Tom"]
    assert parse(plain).elements[2].section == "2. Cats"


def test_blocks_that_comment_are_aside() -> None:
    parsed = parse("1. Mars\n2. Venus\n\n### Why these?\n- They are near.\n- They are bright.")
    assert [e.aside for e in parsed.elements] == [False, False, True, True]
    parsed = parse("1. 4 is even.\n2. 5 is odd.\n\nFinal answer:\n- 5")
    assert [(e.text, e.aside) for e in parsed.elements if not e.aside] == [("5", False)]
    assert parsed.marker == "bullet"


def test_tables() -> None:
    text = "| Bridge | City |\n|:--|--:|\n| Golden Gate | San Francisco |\n| A\\|B | x<br>y |"
    assert attributes(text) == [
        ("Golden Gate", [("City", "San Francisco")]),
        ("A|B", [("City", "x"), ("City", "y")]),
    ]
    short = "| City |\n|---|---|\n| a | 1 |\n| b | 2 |"
    assert attributes(short) == [("a", [("City", "1")]), ("b", [("City", "2")])]


def test_json_objects_give_attributes() -> None:
    text = '[{"prize": "Physics", "year": 1903, "with": ["Pierre", "Henri"]}, null, 7]'
    assert attributes(text) == [
        ("Physics", [("year", "1903"), ("with", "Pierre, Henri")]),
        ("7", []),
    ]


def test_one_line_enumerations_respect_quotes_and_brackets() -> None:
    assert texts('"Hello, Goodbye", "Help!", and "She Loves You"') == [
        "Hello, Goodbye",
        "Help!",
        "She Loves You",
    ]
    assert texts("Heat (Pacino, De Niro), Ronin (De Niro, Reno), Léon (Reno, Portman)") == [
        "Heat (Pacino, De Niro)",
        "Ronin (De Niro, Reno)",
        "Léon (Reno, Portman)",
    ]


def test_the_lead_in_of_a_sentence_is_preamble() -> None:
    parsed = parse("He played for the Lakers, Heat, and Cavaliers. He retired.")
    assert [e.text for e in parsed.elements] == ["Lakers", "Heat", "Cavaliers"]
    assert (parsed.preamble, parsed.trailer) == ("He played for the", "He retired.")
    parsed = parse("The chambers are the right atrium, the left atrium, and the right ventricle.")
    assert parsed.elements[0].text == "the right atrium"
    assert parsed.preamble == "The chambers are"


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I do not have access to that data. Please ask somebody else about it.", True),
        ("As an AI language model, I cannot answer.", True),
        ("Es tut mir leid, das weiß ich nicht so genau, tut mir wirklich leid.", True),
        ("抱歉，我无法回答这个问题。", True),
        ("I don't know", True),
        ("I'm sorry.", True),
        ("I'm Sorry", False),
        ("I Can't Help Myself, I'm Sorry, and Stop!", False),
        ("Unknown", True),
        ("None", False),
        ("1. I don't know why you say goodbye\n2. Help!", False),
        ("The band was founded in 1960 in Liverpool and broke up in 1970.", False),
    ],
)
def test_refusals(text: str, refused: bool) -> None:
    parsed = parse(text)
    assert is_refusal(text, parsed.elements, parsed.marker) is refused


@pytest.mark.parametrize(
    "text",
    """I'm sorry, but no.|I am truly sorry that I have none.|I'm afraid not.|I am unable to say.
    I'm not able to.|I am not sure.|I can't say.|I cant say.|I cannot say.|I can not say.
    I couldn't find it.|I could not find it.|I won't say.|I wont say.|I will not.|I must decline.
    I don't know.|I do not recall.|I have no idea.|I possess no data.|As an AI, no.
    as a language model|As an artificial mind|Sorry, but no.|Not enough data.
    Insufficient information.|No information is available.|No answer given.|no data found
    Lo siento.|No puedo decirlo.
    Je ne sais pas.|Je ne peux pas.|Leider habe ich keine.|Het spijt me.|Ik weet het echt niet.
    Ik kan dat (niet).|Bilmiyorum.|Przepraszam, ale nie.|Nie wiem.|Non lo so.|Non posso.
    Es tut mir leid.|Ich kann das hier (nicht).|Mi dispiace.|Desculpe.""".replace("\n", "|").split(
        "|"
    ),
)
def test_a_refusal_in_ascii_is_one_beside_other_letters(text: str) -> None:
    """ASCII texts are looked through for a sign of refusal first; others are not."""
    text = text.strip()
    assert text.isascii() and refuses(text) and refuses(f"{text} é")


def test_references_as_data() -> None:
    parsed = read_reference(["Mars", {"text": "Venus", "aliases": ["Evening star"]}, 7])
    assert parsed.elements == (Element("Mars"), Element("Venus", ("Evening star",)), Element("7"))
    assert read_reference('["Mars", "Venus"]').elements == (Element("Mars"), Element("Venus"))
    assert [e.text for e in read_reference("1. Mars\n2. Venus").elements] == ["Mars", "Venus"]
    assert read_reference(parsed) is parsed


@pytest.mark.parametrize("value", [None, 3, {"a": 1}, [None], [" "], [{"txt": "x"}], b"x", [True]])
def test_other_references_are_refused(value: object) -> None:
    with pytest.raises(InputError):
        read_reference(value)


def test_empty_texts_have_no_elements() -> None:
    for text in ("", " \n\t", "<think>hm", "<|endoftext|>", "\0", "\ufeff\n"):
        assert parse(text).elements == (), text


def test_a_number_above_999_out_of_order_is_text() -> None:
    assert texts("1. born in\n1999. Then\n2. died") == ["born in 1999. Then", "died"]


LINES = st.lists(
    st.sampled_from(
        "1. a/2. b/- c/  - d: e/* f/A. g/B. h/Head:/## i/**j**//k, l, and m/| n | o |/|---|---|/```"
        "/p./  q/[1]/<li>r/1.1 s/---/Day 1: t/Day 2: u/3: v/> w/🍎 x/### 1. y/### 2. z".split("/")
    ),
    max_size=14,
)


@given(LINES)
@settings(max_examples=300, deadline=None)
def test_any_mixture_of_lines_is_read(lines: list[str]) -> None:
    parsed = parse("\n".join(lines))
    assert parse("\n".join(lines)) == parsed
    assert all(element.text.strip() == element.text != "" for element in parsed.elements)
    assert bool(parsed.elements) or parsed.marker in ("prose", "none", "json")


SIMPLE = st.lists(
    st.tuples(
        st.sampled_from(["1. ", "2. ", "3. ", "1) ", "2) ", "- ", "* ", "Here:", "So, these", ""]),
        st.sampled_from(
            "a/b c/**d** e/*f*/A: b/g - h/i,/j:/[1] k/k [1]/"
            '"l"/1. m/- n/* o/_p_/2/x 2. y 3. z/**/p; q/[ ] r/(s)/a. t/  /1.5 u'.split("/")
        ),
    ).map("".join),
    min_size=1,
    max_size=6,
)


@given(SIMPLE, st.sampled_from(["\n", "\n\n"]))
@example(["1. x 2. y 3. z", "1) j:"], "\n")
@example(["1. j:", "1. x 2. y 3. z"], "\n")
@settings(max_examples=800, deadline=None)
def test_the_quick_way_reads_as_the_whole_way(lines: list[str], between: str) -> None:
    text = between.join(lines)
    assert parse(text) == (_parse(text) if text.strip() else Parsed())
    numbered = between.join(f"{n}. {line}" for n, line in enumerate(lines, 1))
    assert parse(f"Items:\n{numbered}") == _parse(f"Items:\n{numbered}")
    assert parse(numbered) == _parse(numbered)
    bullets = between.join(f"- {line}" for line in lines)
    assert parse(bullets) == _parse(bullets)


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read(text: str) -> None:
    parsed = parse(text)
    json.dumps(parsed.to_dict(), ensure_ascii=False).encode()
    assert all(element.text for element in parsed.elements)


@given(st.lists(st.text("abcdefgh XYZ-", min_size=1, max_size=20), min_size=1, max_size=9))
@settings(max_examples=200, deadline=None)
def test_a_list_that_was_written_is_read_back(items: list[str]) -> None:
    items = [f"x{' '.join(item.split())}z" for item in items]
    assert texts("\n".join(f"{n}. {item}" for n, item in enumerate(items, 1))) == items
    assert texts("\n".join(f"- {item}" for item in items)) == items
    assert texts(json.dumps(items)) == items


# The command


def run(*arguments: str, stdin: str | bytes = "") -> tuple[int, list[dict[str, Any]], str]:
    """``accord parse`` in a process of its own: status, rows, what went to standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "accord.cli", "parse", *arguments],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
    )
    rows = [json.loads(line) for line in done.stdout.decode().splitlines()]
    return done.returncode, rows, done.stderr.decode()


def test_the_command_reads_text_from_standard_input() -> None:
    status, rows, _ = run("-", stdin="Here:\n1. **Mars** – red\n2. Venus")
    assert status == 0
    assert rows == [
        {
            "id": 1,
            "elements": [{"text": "Mars – red", "head": "Mars"}, {"text": "Venus"}],
            "preamble": "Here:",
            "trailer": "",
            "marker": "numbered",
            "rule": "numbers",
            "starts": [9, 27],
        }
    ]


def test_the_command_reads_json_lines_and_tables(tmp_path: Path) -> None:
    lines = '{"id": "x", "text": "1. a"}\n{"id": "y", "text": ["b", "c"]}\n'
    status, rows, _ = run("-", stdin=lines)
    assert (status, [(row["id"], len(row["elements"])) for row in rows]) == (
        0,
        [("x", 1), ("y", 2)],
    )
    # JSON may hold line separators that are no end of a line, and numbers
    lines = '{"text": "1. a\u2028b\\n2. c\x85"}\r\n\n{"text": 5}\n'
    status, rows, err = run("-", stdin=lines)
    assert (status, [len(row["elements"]) for row in rows]) == (0, [2, 1]), err
    assert rows[1]["elements"] == [{"text": "5"}]
    status, _, err = run("-", stdin='{"text": {"a": 1}}\n')
    assert status == 2 and "the answer of 1 is an object" in err
    marked = tmp_path / "marked.txt"
    marked.write_text("\ufeff1. a\n2. b", encoding="utf-8")
    assert run(str(marked))[1][0]["starts"] == [3, 8]
    table = tmp_path / "answers.csv"
    table.write_text('item_id,reply\nr1,"a, b, and c"\nr2,\n', encoding="utf-8")
    status, rows, _ = run(str(table), "--field", "reply", "--recipe", "listqa")
    assert status == 0
    assert [(row["id"], row["state"], len(row["elements"])) for row in rows] == [
        ("r1", "given", 3),
        ("r2", "empty", 0),
    ]
    page = tmp_path / "answer.md"
    page.write_text("- a\n- b", encoding="utf-8")
    assert run(str(page))[1][0]["id"] == "answer.md"


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["gone.csv"], "", "gone.csv"),
        (["gone.txt"], "", "gone.txt does not exist"),
        (["-", "--field", "x"], '{"y": 1}', "has no field 'x'; name one with --field: y"),
        (["-", "--field", "x"], "plain", "line 1: no JSON object"),
        (["-"], b"\xff", "not UTF-8 (byte 1)"),
        (["-", "--recipe", "mine"], "a", "recipe 'mine' is unknown"),
    ],
)
def test_the_command_names_what_is_wrong(
    arguments: list[str], stdin: str | bytes, message: str
) -> None:
    status, rows, error = run(*arguments, stdin=stdin)
    assert (status, rows) == (2, [])
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.shared_data
def test_the_development_set_is_read_well(shared_data: Path, tmp_path: Path) -> None:
    """Real answers with the right parse written down by reading; the rate is measured, not met."""
    folder = shared_data / "list_answers"
    predictions = tmp_path / "predictions.jsonl"
    cases = [json.loads(line) for line in (folder / "dev.jsonl").read_text("utf-8").splitlines()]
    with predictions.open("w", encoding="utf-8") as file:
        for case in cases:
            row = {"id": case["id"], **parse(case["text"]).to_dict()}
            file.write(json.dumps(row) + "\n")
    run = subprocess.run(
        [sys.executable, str(folder / "score.py"), str(folder / "dev.jsonl"), str(predictions)],
        capture_output=True,
        text=True,
        check=True,
    )
    line = next(line for line in run.stdout.splitlines() if line.startswith("all"))
    exact = float(line.split("strict exact")[1].split()[0])
    assert exact >= 95, run.stdout


def test_what_a_reference_as_data_may_hold() -> None:
    """Missing is missing: no word ``None``, and no text "false" that counts as true."""
    value = {"text": "a", "attributes": {"year": None, "club": "x"}, "aside": "false"}
    (element,) = read_reference([value]).elements
    assert element.attributes == (("club", "x"),) and not element.aside
    assert read_reference([{"text": "a", "aside": True}]).elements[0].aside
    for name, wrong in (("head", 5), ("section", ["x"]), ("aside", "perhaps"), ("aside", [])):
        with pytest.raises(InputError, match=f"{name} must be"):
            read_reference([{"text": "a", name: wrong}])
