"""Judges without a model, judge settings, prompts, and what keeps keys out of all of it."""

from __future__ import annotations

import csv
import importlib.resources
import json
import logging
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.scoring.errors import AccordError, InputError, SettingsError
from accord.scoring.graded_reply import ASKED, LABELS
from accord.scoring.judges import ExactJudge, FileJudge, Judge, RougeJudge, make_judge
from accord.scoring.openai_client import RetryPolicy
from accord.scoring.openai_errors import retry_after
from accord.scoring.openai_settings import OpenAISettings
from accord.scoring.prompts import (
    Prompt,
    PromptTemplate,
    built_in,
    built_in_names,
    fence_code,
    load_template,
)
from accord.scoring.records import CORRECT, INCORRECT, Item, Judgement
from accord.scoring.redaction import redact
from accord.scoring.replies import MemoryReplies

WORDS = {"CORRECT": "CORRECT", "INCORRECT": "INCORRECT"}
MODEL = {"type": "openai", "model": "m", "endpoint": "http://127.0.0.1:9/v1"}


@pytest.fixture(autouse=True)
def no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def make(name: str, table: dict[str, Any], **options: Any) -> Judge:
    return make_judge(name, table, replies=MemoryReplies(), **options)


def item(reference: str | None, predicted: str, *aliases: str, item_id: str = "i") -> Item:
    return Item(item_id, "q", "Which?", reference, predicted, aliases)


# exact


@pytest.mark.parametrize(
    ("reference", "aliases", "predicted", "verdict"),
    [
        ("Paris", (), "paris", "CORRECT"),
        ("Paris", (), " “Paris”. ", "CORRECT"),
        ("the Netherlands", ("Holland",), "HOLLAND", "CORRECT"),
        ("Paris", (), "Paris, France", "INCORRECT"),
        ("C", (), "C#", "INCORRECT"),
        ("!", (), "?", "INCORRECT"),
        ("Paris", (), "", "INCORRECT"),
        (None, (), "Paris", "INCORRECT"),
        (None, ("Paris",), "Paris", "INCORRECT"),
        # an alias stands for the text: the attributes count below it as below the text
        ("Venus\nmoons: 0", ("Evening star",), "evening star\nMoons: 0", "CORRECT"),
        ("Venus\nmoons: 0", ("Evening star",), "evening star\nmoons: 1", "INCORRECT"),
        ("Venus\nmoons: 0", ("Evening star",), "evening star", "INCORRECT"),
        ("Venus\nmoons: 0", ("Evening star\nmoons: none",), "Evening star moons: none", "CORRECT"),
        ("Paris\nFrance", ("Lutetia",), "lutetia", "CORRECT"),
    ],
)
def test_exact(
    reference: str | None, aliases: tuple[str, ...], predicted: str, verdict: str
) -> None:
    assert ExactJudge().judge([item(reference, predicted, *aliases)]) == [
        Judgement("i", verdict, None)
    ]


def test_an_alias_stands_for_the_text_of_an_element_and_not_for_its_attributes() -> None:
    shown = "New York City\nyear: 1898"
    for predicted, verdict in (
        ("The Big Apple\nyear: 1898", "CORRECT"),
        ("The Big Apple\nyear: 1998", "INCORRECT"),
        ("The Big Apple", "INCORRECT"),
        ("New York City", "INCORRECT"),
    ):
        one = item(shown, predicted, "The Big Apple")
        assert ExactJudge().judge([one])[0].verdict == verdict, predicted
    # 5 tokens against 5; without the attribute on the alias's side 3 against 5, F1 0.75.
    near = item(shown, "The Big Apple\nyear: 1898", "The Big Apple")
    assert RougeJudge(0.8).judge([near])[0].verdict == "CORRECT"
    # A further line that names nothing may be a part of the text: the alias is the whole then.
    whole = item("United States\nof America", "USA", "USA")
    assert ExactJudge().judge([whole])[0].verdict == "CORRECT"


# rouge


@pytest.mark.parametrize(
    ("threshold", "verdict"), [(0.5, "CORRECT"), (0.8, "CORRECT"), (0.81, "INCORRECT")]
)
def test_rouge_reaches_its_threshold(threshold: float, verdict: str) -> None:
    # 2 tokens against 3, 2 in common: F1 = 2 * 2 / (2 + 3) = 0.8; the alias counts, the text not.
    one = item("Big Apple", "new york city", "New York")
    assert RougeJudge(threshold).judge([one])[0].verdict == verdict
    assert RougeJudge(threshold).judge([item(None, "new york")])[0].verdict == "INCORRECT"


def test_rouge_settings() -> None:
    judge = make("r", {"type": "rouge", "threshold": 0.6, "tokenizer": "unicode", "stem": True})
    assert judge.settings() == {
        "type": "rouge", "threshold": 0.6, "tokenizer": "unicode", "stem": True
    }  # fmt: skip
    assert judge.judge([item("東京都", "東京都")])[0].verdict == "CORRECT"


# file


def verdicts(path: Path) -> list[tuple[str | None, str | None]]:
    found = FileJudge(path).judge([item("x", "x", item_id=i) for i in ("a", "b", "c", "d")])
    return [(judgement.verdict, judgement.reason) for judgement in found]


def test_file_csv_and_jsonl(tmp_path: Path) -> None:
    rows = tmp_path / "v.csv"
    rows.write_text(
        "\ufeffverdict,item_id,reason,note\r\n"
        'correct,a,,"x, y"\r\n,b,cut off,\r\n INCORRECT ,c,,\r\n',
        encoding="utf-8",
    )
    expected = [
        ("CORRECT", None),
        (None, "cut off"),
        ("INCORRECT", None),
        (None, "not in the file"),
    ]
    assert verdicts(rows) == expected
    lines = tmp_path / "v.jsonl"
    lines.write_text(
        '{"item_id": "a", "verdict": "CORRECT"}\n\n{"item_id": "b", "verdict": null, "reason": '
        '"cut off"}\n{"item_id": "c", "verdict": "INCORRECT", "x": 1}',
        encoding="utf-8",
    )
    assert verdicts(lines) == expected


def test_file_with_other_words_and_settings(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("item_id,verdict\na,ja\nb,nein\nc,\n", encoding="utf-8")
    table = {"type": "file", "path": "v.csv", "labels": {"CORRECT": "Ja", "INCORRECT": "Nein"}}
    judge = make("people", table, folder=tmp_path)
    found = judge.judge([item("x", "x", item_id=i) for i in ("b", "a", "c")])
    assert [j.verdict for j in found] == ["INCORRECT", "CORRECT", None]
    assert found[2].reason == "blank"
    assert judge.labels == ("CORRECT", "INCORRECT")
    settings = judge.settings()
    assert settings["file"] == "v.csv" and len(settings["sha256"]) == 64


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("v.csv", b"", ["no column item_id and no column verdict"]),
        ("v.csv", b"item_id,label\na,x\n", ["line 1: no column verdict"]),
        ("v.csv", b"item_id,verdict,verdict\na,x,y\n", ["column stands twice"]),
        ("v.csv", b"item_id,verdict\na\n", ["line 2: not as many fields"]),
        ("v.csv", b"item_id,verdict\na,CORRECT,x\n", ["line 2: not as many fields"]),
        ("v.csv", b"item_id,verdict\na,MAYBE\nb,NO\n", ["line 2", "'MAYBE'", "1 more bad row"]),
        ("v.csv", b"item_id,verdict\na,CORRECT\na,CORRECT\n", ["line 3", "line 2 already"]),
        ("v.csv", b"item_id,verdict\n,CORRECT\n", ["line 2", "item_id is blank"]),
        ("v.csv", b'item_id,verdict\na,CORRECT\nb,"COR\n', ["line 3", "unexpected end"]),
        ("v.csv", "item_id,verdict\né,CORRECT\n".encode("latin-1"), ["line 2", "not UTF-8"]),
        ("v.jsonl", b'{"item_id": "a", "verdict"\n', ["line 1: no JSON"]),
        ("v.jsonl", b'["a"]\n', ["line 1: no item_id and verdict"]),
        ("v.jsonl", b'{"item_id": "a", "verdict": true}\n', ["verdict is true"]),
        ("v.jsonl", b'{"item_id": "a", "verdict": ["x"]}\n', ['verdict is ["x"]']),
        ("v.jsonl", b"[" * 100_000, ["line 1: no JSON"]),
    ],
)
def test_bad_files_of_verdicts(tmp_path: Path, name: str, content: bytes, words: list[str]) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        make("f", {"type": "file", "path": name}, folder=tmp_path)
    said = str(caught.value)
    assert name in said and caught.value.cure and "\n" not in said
    assert all(word in said for word in words), said


def test_missing_file_of_verdicts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="judge f: .*none.csv does not exist"):
        make("f", {"type": "file", "path": "none.csv"}, folder=tmp_path)
    with pytest.raises(InputError, match="can't be read"):
        make("f", {"type": "file", "path": "a\0b.csv"}, folder=tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")  # nobody writes to it
    with pytest.raises(InputError, match="is a named pipe"):
        make("f", {"type": "file", "path": "pipe.csv"}, folder=tmp_path)


def test_a_long_reason_and_a_missing_verdict_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(f"item_id,verdict,reason\na,,{'x' * 200_000}\n", "utf-8")
    assert verdicts(tmp_path / "v.csv")[0] == (None, "x" * 200_000)
    (tmp_path / "v.jsonl").write_text('{"item_id": "a", "verdict": NaN, "reason": NaN}', "utf-8")
    assert verdicts(tmp_path / "v.jsonl")[0] == (None, "blank")
    assert csv.field_size_limit() == 131_072


# settings


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, ["type is None", "'exact'"]),
        ({"type": "gpt"}, ["type is 'gpt'"]),
        ({"type": "exact", "threshold": 1}, ["unknown settings: threshold"]),
        ({"type": "rouge", "threshold": 0}, ["threshold is 0"]),
        ({"type": "rouge", "threshold": True}, ["threshold is True"]),
        ({"type": "rouge", "threshold": "0.5"}, ["threshold is '0.5'"]),
        ({"type": "rouge", "tokenizer": "bert"}, ["tokenizer 'bert'", "unicode"]),
        ({"type": "rouge", "stem": "yes"}, ["stem is 'yes'"]),
        ({"type": "file"}, ["names no file"]),
        ({"type": "openai"}, ["names no model"]),
        ({**MODEL, "model": " "}, ["names no model"]),
        ({**MODEL, "temperature": 1, "top": 2}, ["temperature, top", "under parameters"]),
        ({**MODEL, "unit": "page"}, ["unit 'page'"]),
        ({**MODEL, "output": "xml"}, ["output 'xml'"]),
        ({**MODEL, "in_flight": 0}, ["in_flight is 0", "whole number, 1 or more"]),
        ({**MODEL, "in_flight": 2.5}, ["in_flight is 2.5"]),
        ({**MODEL, "timeout": "30"}, ["timeout is '30'"]),
        ({**MODEL, "timeout": float("nan")}, ["timeout is nan"]),
        ({**MODEL, "stop_after": True}, ["stop_after is True"]),
        ({**MODEL, "parameters": [1]}, ["parameters must be a table"]),
        ({**MODEL, "parameters": {"messages": [], "n": 2}}, ["can't hold messages, n"]),
        ({**MODEL, "parameters": {"temperature": float("inf")}}, ["parameters:"]),
        ({**MODEL, "json_field": 3}, ["json_field is 3"]),
        ({**MODEL, "prompt": ""}, ["prompt is ''"]),
        ({**MODEL, "prompt": "nothing.md"}, ["'nothing.md' is no built-in prompt", "pair"]),
        ({**MODEL, "prompt": "Is it right?\n"}, ["no {{predicted}} and no {{reference}}"]),
        ({**MODEL, "prompt": "{{predicted}} {{gold}} {{x}}"}, ["{{gold}}, {{x}}"]),
        (
            {**MODEL, "prompt": "{{predicted}} = {{reference}}? yes or no"},
            ["never says the label words 'CORRECT', 'INCORRECT'", "labels ="],
        ),
        ({**MODEL, "labels": "yes"}, ["labels must be a table"]),
        ({**MODEL, "labels": {"CORRECT": "yes"}}, ["needs CORRECT and INCORRECT"]),
        ({**MODEL, "labels": {**WORDS, "MAYBE": "x"}}, ["unknown verdicts ['MAYBE']"]),
        ({**MODEL, "labels": {"CORRECT": "yes", "INCORRECT": "YES"}}, ["can't be told apart"]),
        ({**MODEL, "labels": {"CORRECT": "yes", "INCORRECT": ""}}, ["INCORRECT is ''"]),
        ({**MODEL, "labels": {"CORRECT": "a\nb", "INCORRECT": "c"}}, ["label word of CORRECT"]),
        ({**MODEL, "endpoint": "localhost:8000"}, ["endpoint is no URL", "http://127.0.0.1"]),
        ({**MODEL, "endpoint": "ftp://x/v1"}, ["endpoint is no URL"]),
        ({**MODEL, "endpoint": "http://x:99999/v1"}, ["endpoint is no URL"]),
        ({**MODEL, "endpoint": 5}, ["endpoint is no URL"]),
        ({**MODEL, "endpoint": "http://x/v1?a=b"}, ["part after ? or #"]),
        (
            {**MODEL, "endpoint": "http://jane:s3cret@x/v1"},
            ["user name or password", "OPENAI_BASE"],
        ),
        ({**MODEL, "api_key": "s3cret"}, ["the setting api_key holds a key", "OPENAI_API_KEY"]),
        ({**MODEL, "token": "s3cret"}, ["the setting token holds a key"]),
        ({**MODEL, "parameters": {"apiKey": "s3cret"}}, ["parameters.apiKey"]),
        (
            {**MODEL, "parameters": {"h": {"Authorization": "s3cret"}}},
            ["parameters.h.Authorization"],
        ),
        ({**MODEL, "model": "sk-s3cret0123456789abcdef"}, ["the setting model holds a key"]),
        ({**MODEL, "api_key_env": "sk-s3cret0123456789abcdef"}, ["api_key_env holds a key"]),
        ({**MODEL, "api_key_env": "s3cret"}, ["api_key_env names no variable"]),
        ({**MODEL, "api_key_env": "AWS_SECRET_ACCESS_KEY"}, ["ends in _API_KEY"]),
        ({**MODEL, "api_key_env": "LABEL_STUDIO_API_KEY"}, ["key of Label Studio"]),
        ({"type": "exact", "password": "s3cret"}, ["the setting password holds a key"]),
    ],
    ids=lambda value: json.dumps(value, default=str)[:60] if isinstance(value, dict) else "",
)
def test_bad_settings_name_the_setting_and_the_cure(
    table: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(SettingsError) as caught:
        make("gpt", table)
    said = str(caught.value)
    assert caught.value.cure and "\n" not in said and "s3cret" not in said
    assert all(word in said for word in words), said


@pytest.mark.parametrize("name", ["max_tokens", "stop_token_ids", "prompt_cache_key", "top_k"])
def test_parameters_that_only_sound_like_secrets(name: str) -> None:
    settings = OpenAISettings.from_table("gpt", {**MODEL, "parameters": {name: 1}})
    assert settings.parameters[name] == 1


def test_defaults_and_the_given_cap() -> None:
    parameters = OpenAISettings.from_table("gpt", MODEL).parameters
    assert {k: v for k, v in parameters.items() if k != "response_format"} == {
        "temperature": 0, "max_tokens": 2048
    }  # fmt: skip
    table = {
        **MODEL,
        "output": "text",
        "parameters": {"max_completion_tokens": 9, "temperature": 1},
    }
    assert OpenAISettings.from_table("gpt", table).parameters == {
        "max_completion_tokens": 9, "temperature": 1
    }  # fmt: skip


def test_where_the_endpoint_and_the_key_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    free = {"type": "openai", "model": "m"}
    settings = OpenAISettings.from_table("gpt", free)
    assert settings.endpoint == "https://api.openai.com/v1"
    with pytest.raises(SettingsError, match="OPENAI_API_KEY .*is not set; export OPENAI_API_KEY"):
        settings.api_key()
    monkeypatch.setenv("OPENAI_BASE_URL", "HTTP://Host:8000/v1//")
    settings = OpenAISettings.from_table("gpt", free)
    assert settings.endpoint == "http://host:8000/v1"
    assert settings.api_key() is None, "a server of one's own may need none"
    named = OpenAISettings.from_table("gpt", {**free, "api_key_env": "OTHER_API_KEY"})
    with pytest.raises(SettingsError, match="OTHER_API_KEY"):
        named.api_key()
    monkeypatch.setenv("OTHER_API_KEY", "  k-1  ")
    assert named.api_key() == "k-1"
    monkeypatch.setenv("OTHER_API_KEY", "s3cret\nX-Evil: 1")
    with pytest.raises(SettingsError) as caught:
        named.api_key()
    assert "s3cret" not in str(caught.value)
    monkeypatch.setenv("OPENAI_BASE_URL", "not a url s3cret@")
    with pytest.raises(SettingsError, match="OPENAI_BASE_URL is no URL"):
        OpenAISettings.from_table("gpt", free)
    for url in ("https://me:s3c/ret@host/v1", "me:s3cret@host/v1", "https://me:s3 cret@h:99999"):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        with pytest.raises(SettingsError, match="OPENAI_BASE_URL is no URL: '…@h") as caught:
            OpenAISettings.from_table("gpt", free)
        assert "s3" not in str(caught.value) and "cret" not in str(caught.value)
    assert OpenAISettings.from_table("gpt", MODEL).endpoint == MODEL["endpoint"]
    assert OpenAISettings.from_table("g", {**MODEL, "endpoint": "http://[::1]:8/v1"}).endpoint == (
        "http://[::1]:8/v1"
    )


# prompts


@pytest.mark.parametrize("name", built_in_names())
def test_built_in_prompts(name: str) -> None:
    folder = importlib.resources.files("accord.templates.judging")
    table = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    template = built_in(name)
    assert template.name == table["name"] == name
    scales: list[dict[str, str]] = [
        WORDS,
        {"CORRECT": "yes", "INCORRECT": "no", "UNSURE": "unsure"},
    ]
    if template.asks in ASKED:
        scales = [{label: label for label in LABELS[template.asks]}]
    for labels in scales:
        prompt = Prompt(template, labels, "grade")
        messages = prompt.messages(item("Paris", "paris", "Lutetia"))
        assert [message["role"] for message in messages] == ["system", "user"]
        text = "\n".join(message["content"] for message in messages)
        assert "{{" not in text and "{{" not in prompt.reminder
        assert all(word in text for word in labels.values())
        assert '{"grade"' in text and "paris" in text
        assert ("Lutetia" in text) == ("reference" in template.variables)


def test_a_template_refuses_unknown_and_lists_missing_keys_at_once() -> None:
    table = 'name = "x"\nversion = 1\nunit = "element"\nvariables = []\ncolour = "red"\nsize = 1\n'
    with pytest.raises(SettingsError) as caught:
        PromptTemplate.from_toml("{{predicted}} {{reference}}", table)
    said = str(caught.value)
    assert "['colour', 'size']" in said and "['asks', 'description', 'reminder']" in said


def test_declared_variables_are_compared_with_the_text() -> None:
    with pytest.raises(SettingsError, match="{{labels}}, {{question}}"):
        PromptTemplate(
            "x",
            "{{predicted}} {{reference}} {{question}}",
            variables=frozenset({"predicted", "reference", "labels"}),
        )
    with pytest.raises(SettingsError, match="needs values for {{UNSURE}}"):
        Prompt(PromptTemplate("x", "{{predicted}} {{reference}} {{UNSURE}} {{labels}}"), WORDS)


def test_prompt_files(tmp_path: Path) -> None:
    text = "# System\r\nSay {{labels}}.\r\n\r\n# User\r\n{{reference}}\r\n{{ predicted }}\r\n"
    (tmp_path / "own.md").write_bytes(b"\xef\xbb\xbf" + text.encode())
    template = load_template("own.md", tmp_path)
    assert (template.name, template.system) == ("own.md", "Say {{labels}}.")
    assert template.user == "{{reference}}\n{{ predicted }}"
    (tmp_path / "bad.md").write_bytes(b"\xff{{predicted}}")
    with pytest.raises(SettingsError, match="is not UTF-8"):
        load_template("bad.md", tmp_path)
    with pytest.raises(SettingsError, match="no prompt named 'x'"):
        built_in("x")


def test_the_hash_is_of_the_template_and_its_words() -> None:
    template = PromptTemplate("x", "{{reference}} {{predicted}} {{labels}}")
    yes_no = {"CORRECT": "yes", "INCORRECT": "no"}
    one = Prompt(template, WORDS)
    before = one.sha256
    one.messages(item("a", "b"))
    assert one.sha256 == before == Prompt(template, WORDS).sha256
    assert one.sha256 != Prompt(template, yes_no).sha256


@settings(deadline=None)  # the machine may be busy
@given(st.text(), st.text(), st.lists(st.text(), max_size=2), st.text())
def test_no_text_holds_its_own_fence(
    question: str, reference: str, aliases: list[str], predicted: str
) -> None:
    one = Item("i", "q", question, reference, predicted, tuple(aliases))
    code = fence_code(one)
    assert re.fullmatch("[0-9a-f]{12}", code)
    # A text that was written to hold the code gets another code.
    forged = Item("i", "q", question, reference, predicted + code, tuple(aliases))
    assert fence_code(forged) not in (forged.predicted, code)
    user = Prompt(built_in("pair"), WORDS).messages(one)[1]["content"]
    assert user.count(f"<text {code}>") == user.count(f"</text {code}>") == 3 + len(aliases)
    assert f"<text {code}>\n{predicted}\n</text {code}>" in user


def test_a_code_that_occurs_in_a_text_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collision can't be made to order, so the hash is replaced by one that collides."""
    import hashlib

    class Fixed:
        def __init__(self, data: bytes) -> None:
            self.counter = json.loads(data)[1]

        def hexdigest(self) -> str:
            return f"{self.counter:012x}" + "0" * 48

    one = item("x", "000000000000 000000000001")
    monkeypatch.setattr(hashlib, "sha256", Fixed)
    assert fence_code(one) == "000000000002"


# keys and waiting


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-abcd1234efgh5678.",
        "Incorrect API key provided: sk-proj-*****************abcd",
        "header Authorization: Bearer abcdef123456",
        '{"api_key": "abcdef123456"}',
        "api-key=abcdef123456 is bad",
        "GET http://jane:abcdef123456@host/v1",
        "GET https://abcdef123456@host/v1",
        "GET https://jane:xyz@abcd@host/v1",
        "it was abcdef123456",
    ],
)
def test_redaction(text: str) -> None:
    shown = redact(text, ["abcdef123456", None, ""])
    assert "abcd" not in shown and "jane" not in shown
    assert redact("HTTP 404: no model 'gpt-oss:120b', token limit 8") == (
        "HTTP 404: no model 'gpt-oss:120b', token limit 8"
    )


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after": " 1.5 "}, 1.5, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0, 0),
        ({"retry-after": "Fri, 31 Dec 2199 23:59:59 GMT"}, 1e9, 1e10),
    ],
)
def test_retry_after(headers: dict[str, str], low: float, high: float) -> None:
    found = retry_after(headers)
    assert found is not None and low <= found <= high


@pytest.mark.parametrize("value", ["", "soon", "-5", "nan", "1e9", "9" * 40])
def test_retry_after_that_says_nothing(value: str) -> None:
    assert retry_after({"retry-after": value}) is None


def test_waits_double_and_have_bounds() -> None:
    policy = RetryPolicy(tries=6, base=1, longest=8, patience=120)
    for tried, most in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (50, 8)):
        waits = [policy.wait(tried, None) for _ in range(50)]
        assert most / 2 <= min(waits) and max(waits) <= most and len(set(waits)) > 1
    assert 7 <= policy.wait(1, 7) <= 7.1
    assert policy.wait(1, 1e9) <= 120.1, "an hour's wait is not honoured"


def test_every_error_of_the_settings_is_the_users(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(AccordError):
        make("gpt", {**MODEL, "api_key": "s3cret"})
    assert "s3cret" not in caplog.text


def _points(text: str) -> list[str]:
    """The items of the lists in a Markdown text, each on one line."""
    joined = re.sub(r"\n {2,}", " ", text)
    return [line[2:] for line in joined.splitlines() if line.startswith("- ")]


def test_the_model_and_the_people_are_given_the_same_rubric() -> None:
    import accord

    words = {"CORRECT": "CORRECT", "INCORRECT": "INCORRECT"}
    prompt = Prompt(built_in("pair"), words).system
    folder = importlib.resources.files(accord) / "templates" / "labelling" / "pair"
    people = (folder / "instructions.md").read_text("utf-8")
    points = _points(prompt)
    rules, _, examples = people.partition("**Worked examples.**")
    assert examples, "what follows are applications of the points, not points"
    assert points == _points(rules) and len(points) == 8
    for subject in ("language", "spelling", "More detail", "Less detail", "attributes", "Dates"):
        assert sum(subject in point for point in points) == 1, subject
    for text in (prompt, people):
        plain = " ".join(text.split())
        assert "Judge by the reference alone, even if you believe that it is wrong." in plain
        assert "says the same as the reference, as an answer to this question" in plain
    # texts that are as good as the reference, in the words of what each of them sees
    assert "each of them is equally right" in prompt
    assert "is as good as the reference itself" in people


def test_an_element_with_attributes_is_compared_part_by_part() -> None:
    """Quotes within it are no difference, as they are none around it."""

    def verdict(reference: str, predicted: str) -> str | None:
        item = Item("i", "q", "?", reference, predicted)
        (judgement,) = ExactJudge().judge([item])
        return judgement.verdict

    assert verdict("“Heroes”\nyear: “1977”", "Heroes\nyear: 1977") == CORRECT
    assert verdict("“Heroes”\nyear: 1977", "Heroes\nyear: 1978") == INCORRECT
    assert verdict("Heroes\nyear: 1977", "Heroes") == INCORRECT
    assert verdict("Title: “X”", "Title: X") == INCORRECT


@pytest.mark.parametrize(
    ("reference", "predicted", "expected"),
    [
        ("Paris", "Paris\n", CORRECT),
        ("New York", "New\nYork", CORRECT),
        ("Note: in the north\nof France", "Note: in the north of France", CORRECT),
        ("New York", "New\nJersey", INCORRECT),
    ],
)
def test_a_line_break_in_a_text_is_a_blank(reference: str, predicted: str, expected: str) -> None:
    (judgement,) = ExactJudge().judge([Item("i", "q", "?", reference, predicted)])
    assert judgement.verdict == expected
