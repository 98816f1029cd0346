"""Labelling templates: each renders, parses and round-trips; lint finds what servers accept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from accord.annotate.lint import lint
from accord.annotate.tasks import shown_sha256
from accord.annotate.template import (
    Answer,
    Unreadable,
    example,
    load_template,
    read_template,
    template_names,
)
from accord.scoring.errors import SettingsError

GOOD = """<View><Text name="t" value="$text"/>
<Choices name="c" toName="t"><Choice value="A" hotkey="1"/><Choice value="B" hotkey="2"/></Choices>
</View>"""


def choice(name: str, *values: str) -> dict[str, Any]:
    return {
        "from_name": name,
        "to_name": "predicted",
        "type": "choices",
        "value": {"choices": list(values)},
    }


@pytest.mark.parametrize("name", template_names())
def test_template_and_its_example_fit(name: str) -> None:
    page = load_template(name)
    task, annotation = example(name)
    assert sorted(task["data"]) == sorted(page.fields)
    assert lint(page.config, task["data"]) == []
    assert task["data"]["shown_sha256"] == shown_sha256(task["data"], page.shown)
    assert (task["data"]["template"], task["data"]["template_version"]) == (name, page.version)
    assert "<" not in page.instructions and "<br>" in page.instructions_html
    # What annotators ask about first has a worked example in every guideline.
    for word in ("alias|name", "date", "attribute|part", "spell", "detail"):
        assert re.search(word, page.instructions.lower()), word
    lengths = {field: len(task["data"][field]) for field in page.repeated}
    reading = page.read_rows(annotation["result"], lengths)
    assert reading.open == 0
    if reading.answer is not None and not page.repeated:
        answer = reading.answer
        reasons = [reason for reason in answer.reasons if reason != "misaligned"]
        assert annotation["result"] == page.answer(
            answer.verdict, alignment=answer.alignment, reasons=reasons, comment=answer.comment
        )


@pytest.mark.parametrize("name", template_names())
def test_label_studio_s_own_parser_takes_the_template(name: str) -> None:
    from label_studio_sdk import label_interface

    task, annotation = example(name)
    interface: Any = label_interface
    page = interface.LabelInterface(load_template(name).config)
    page.validate()
    if not load_template(name).repeated:
        # Of a Repeater it knows names and fields only as they stand in the configuration.
        assert page.validate_task(task)
        assert page.validate_annotation(annotation)


def test_the_templates_are_there() -> None:
    names = ["adjudication", "choice", "components", "gold_audit", "pair", "parse", "rating"]
    assert template_names() == [*names, "refusal", "response"]
    assert "Gorbatschow" in load_template("pair", language="de").instructions
    with pytest.raises(SettingsError, match="no instructions in 'fr'; it has English, de"):
        load_template("pair", language="fr")


def test_unknown_template_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"no labelling template 'nope'; use .*pair, parse"):
        load_template("nope")


def test_all_that_is_wrong_with_a_template_is_said_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "config.xml").write_text(GOOD, encoding="utf-8")
    (folder / "instructions.md").write_text("Grade.", encoding="utf-8")

    def refused(toml: str) -> str:
        (folder / "template.toml").write_text(toml, encoding="utf-8")
        with pytest.raises(SettingsError) as error:
            read_template(folder)
        return str(error.value)

    said = refused('name = "bad"\ncolour = "red"\n')
    for word in ("unknown key 'colour'", "'version'", "'title'", "'shown'", "'controls'", "'unit'"):
        assert word in said
    said = refused(
        'name = "Bad!"\nversion = "1/2"\ntitle = " "\nunit = "page"\nscale = "stars"\n'
        'kind = "judge"\nshown = "question"\ncontrols = {verdict = 1}\n'
    )
    for word in ("'Bad!'", "'1/2'", "'title' is no text", "unit is 'page'", "scale is 'stars'"):
        assert word in said
    for word in ("kind is 'judge'", "'shown' is no list", "'controls' is no table"):
        assert word in said
    head = 'name = "bad"\nversion = "1"\ntitle = "x"\nunit = "pair"\nscale = "verdict"\n'
    assert "'more' is no field of the unit" in refused(
        head + 'shown = ["more"]\n[controls]\nverdict = "c"\n'
    )
    (folder / "config.xml").write_text(GOOD.replace("$text", "$question"), encoding="utf-8")
    said = refused(
        head + 'shown = ["question", "reference"]\n[controls]\nverdict = "c"\ncolour = "d"\n'
    )
    for word in ("'reference' is shown nowhere", "role 'colour'", "no control 'd'"):
        assert word in said
    assert "the verdicts are not CORRECT" in said
    said = refused(head + 'shown = ["question"]\n[controls]\ncomment = "c"\n')
    assert "no control has the role 'verdict'" in said
    nominal = head.replace("verdict", "nominal")
    (folder / "template.toml").write_text(
        nominal + 'shown = ["question"]\n[controls]\nverdict = "c"\n', encoding="utf-8"
    )
    assert read_template(folder).controls["verdict"].values == ("A", "B")
    assert load_template(folder) == load_template(folder / "template.toml")
    with pytest.raises(SettingsError, match="no instructions in 'xx'"):
        read_template(folder, language="xx")
    markup = GOOD.replace("$text", "$question").replace("<Text", "<HyperText")
    (folder / "config.xml").write_text(markup, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"<HyperText> shows '\$question' as markup"):
        read_template(folder)
    (folder / "template.toml").write_text(
        'name = "pair"\nversion = "9"\ntitle = "x"\nunit = "pair"\nscale = "nominal"\n'
        'shown = ["question"]\n[controls]\nverdict = "c"\n',
        encoding="utf-8",
    )
    (folder / "config.xml").write_text(GOOD.replace("$text", "$question"), encoding="utf-8")
    with pytest.raises(SettingsError, match="'pair' is the name of a template of accord"):
        load_template(folder)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("<View><Text", "no well-formed XML"),
        ("<View>a & b</View>", "no well-formed XML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><View>&a;</View>', "document type"),
        (GOOD.replace("Choices", "Chioces"), "unknown tag <Chioces>"),
        (GOOD.replace('value="B"', 'value="A"'), "the choice 'A' 2 times"),
        (GOOD.replace('hotkey="2"', 'hotkey="1"'), "the key '1' is given to 2 choices"),
        (GOOD.replace('<Choice value="B" hotkey="2"/>', ""), "fewer than two choices"),
        (GOOD.replace('value="B"', 'value=""'), "a choice without a value"),
        (GOOD.replace('toName="t"', 'toName="u"'), "grades 'u', which is not there"),
        (GOOD.replace('name="c"', 'name="t"'), "the name 't' stands 2 times"),
        (GOOD.replace('name="t" ', ""), "<Text> has no name"),
        (GOOD.replace("$text", "fixed"), "fixed value"),
        (GOOD.replace("$text", "$other"), "the task has no $other"),
        ('<View><Text name="t" value="$text"/></View>', "nothing to grade with"),
        (
            f'<View><Repeater on="$text" indexFlag="{{{{i}}}}">{GOOD.replace(" hotkey", " hint")}'
            "</Repeater></View>",
            "stands in a Repeater and has choices without a key",
        ),
        (
            GOOD.replace(' hotkey="1"', "").replace('toName="t"', 'toName="t" layout="select"'),
            "stands in a folded list",
        ),
        (GOOD.replace("<Text", '<Style/><Repeater on="rows"/><Text'), "over no $variable"),
        (
            GOOD.replace("<View>", '<View visibleWhen="choice-selected" whenTagName="nope">'),
            "shown when 'nope' is chosen",
        ),
    ],
)
def test_lint_names_the_mistake(config: str, said: str) -> None:
    problems = lint(config, ["text"])
    assert any(said in problem for problem in problems), problems


def test_lint_is_silent_about_sound_configurations() -> None:
    assert lint(GOOD, ["text"]) == []
    from_task = (
        '<View><Text name="t" value="$text"/><Choices name="c" toName="t" value="$o"/></View>'
    )
    assert lint(from_task, ["text", "o"]) == []
    alias = GOOD.replace('value="B"', 'value="A" alias="other"')
    assert lint(alias, ["text"]) == []
    # The case of a tag is nothing to Label Studio.
    assert lint(GOOD.replace("<Text", "<text"), ["text"]) == []


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ([], "no verdict"),
        ([choice("verdict")], "no verdict"),
        ([choice("alignment", "YES")], "no verdict"),
        ([choice("verdict", "CORRECT", "INCORRECT")], "several verdicts"),
        ([choice("verdict", "CORRECT"), choice("verdict", "INCORRECT")], "several verdicts"),
        ([choice("verdict", "MAYBE")], "unknown verdict"),
        ([choice("verdict", "correct")], "unknown verdict"),
        ([choice("verdict", "CORRECT"), choice("alignment", "YES", "NO")], "unreadable"),
        ([choice("verdict", "CORRECT"), choice("reasons", "sleepy")], "unreadable"),
        ([choice("verdict", "CORRECT"), choice("quality", "5")], "unreadable"),
        ([{"from_name": "verdict", "value": {"choices": "CORRECT"}}], "unreadable"),
        ([{"from_name": "verdict", "value": {"choices": [1]}}], "unreadable"),
        ([{"from_name": "verdict"}], "unreadable"),
        (["CORRECT"], "unreadable"),
        ({"verdict": "CORRECT"}, "unreadable"),
        (None, "unreadable"),
    ],
)
def test_what_is_no_answer_is_refused_with_its_reason(result: Any, reason: str) -> None:
    with pytest.raises(Unreadable) as error:
        load_template().read(result)
    assert error.value.reason == reason


def test_answers_are_read() -> None:
    page = load_template()
    assert page.read([choice("verdict", "UNSURE")]) == Answer("UNSURE")
    # The same verdict twice is one verdict.
    assert page.read([choice("verdict", "CORRECT")] * 2) == Answer("CORRECT")
    no = page.answer("INCORRECT", alignment="NO", reasons=["parse_error"])
    assert page.read(no) == Answer("INCORRECT", "NO", ("parse_error", "misaligned"))
    both = page.answer("INCORRECT", alignment="NO", reasons=["misaligned"])
    assert page.read(both).reasons == ("misaligned",)
    texts = [" one ", "", "two"]
    comment = {"from_name": "comment", "type": "textarea", "value": {"text": texts}}
    assert page.read([choice("verdict", "CORRECT"), comment]).comment == "one\ntwo"
    single = {"from_name": "comment", "type": "textarea", "value": {"text": "as a string"}}
    assert page.read([choice("verdict", "CORRECT"), single]).comment == "as a string"
    wrong: list[dict[str, Any]] = [
        {"verdict": "RIGHT"},
        {"verdict": "CORRECT", "reasons": ["sleepy"]},
        {"verdict": "CORRECT", "alignment": "PERHAPS"},
    ]
    for values in wrong:
        with pytest.raises(SettingsError, match="can't be"):
            page.answer(**values)


def test_the_result_is_label_studio_s(tmp_path: Path) -> None:
    (part,) = load_template().answer("CORRECT")
    assert json.dumps(part) == (
        '{"from_name": "verdict", "to_name": "predicted", "type": "choices", '
        '"value": {"choices": ["CORRECT"]}}'
    )
