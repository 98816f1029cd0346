"""``study.toml``: what is read, what is refused and how, and that no secret gets through."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from accord.scoring.errors import SettingsError, StudyError
from accord.study import Settings
from accord.study.settings import write_new


def test_a_new_file_is_read_back_with_the_defaults(tmp_path: Path) -> None:
    write_new(tmp_path / "study.toml", recipe="listqa", seed=7)
    settings = Settings.read(tmp_path / "study.toml")
    assert settings == Settings(recipe_name="listqa", confidence=0.95, seed=7)
    assert settings.judge_settings() == {"exact": {"type": "exact"}}


def test_the_explaining_comments_are_settings_that_can_be_used(tmp_path: Path) -> None:
    """Whoever takes the comment signs away gets what the comment says, not an error."""
    write_new(tmp_path / "study.toml")
    lines = (tmp_path / "study.toml").read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("# [conventions]"))
    used = [line[2:] for line in lines[start:] if line.startswith("# ") and _is_toml(line[2:])]
    settings = Settings.parse("\n".join([*lines[:start], *used]))
    assert settings.recipe().zero_overlap == "incorrect"
    assert settings.judges["my-model"]["type"] == "openai"


def _is_toml(line: str) -> bool:
    try:
        return bool(tomllib.loads(line))
    except tomllib.TOMLDecodeError:
        return False


def test_a_new_file_never_overwrites_one(tmp_path: Path) -> None:
    write_new(tmp_path / "study.toml")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "study.toml")


def test_an_unknown_recipe_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="recipe 'nope' is unknown"):
        write_new(tmp_path / "study.toml", recipe="nope")
    assert not (tmp_path / "study.toml").exists()


def test_everything_that_can_be_set_is_read() -> None:
    settings = Settings.parse(
        """
        recipe = "listqa"
        confidence = 0.9
        seed = 12
        [conventions]
        zero_overlap = "incorrect"
        [judge.exact]
        type = "exact"
        [judge."gpt-4.1"]
        type = "openai"
        model = "m"
        max_tokens = 20
        """
    )
    assert settings.confidence == 0.9 and settings.seed == 12
    assert settings.recipe().block()["zero_overlap"] == "incorrect"
    assert list(settings.judge_settings()) == ["exact", "gpt-4.1"]
    assert settings.judge_settings(["gpt-4.1"])["gpt-4.1"]["max_tokens"] == 20
    assert settings.judge_settings(["rouge"]) == {"rouge": {"type": "rouge"}}


@pytest.mark.parametrize(
    ("text", "message", "cure"),
    [
        ("recipe = ", "is no TOML", "correct that line"),
        ('recpie = "listqa"', "unknown key 'recpie'", "did you mean recipe"),
        ('recipe = "nope"', "recipe 'nope' is unknown", "listqa"),
        ("recipe = 3", "recipe can't be 3", "recipe ="),
        ("confidence = 95", "confidence can't be 95", "below 1"),
        ("confidence = true", "confidence can't be True", "below 1"),
        ("confidence = nan", "confidence can't be nan", "below 1"),
        ("confidence = 0", "confidence can't be 0", "above 0"),
        ("seed = -1", "seed can't be -1", "whole number"),
        ("seed = 1.5", "seed can't be 1.5", "whole number"),
        ("seed = true", "seed can't be True", "whole number"),
        ("[conventions]\ncolour = 1", "no convention 'colour'", "known are"),
        ('[conventions]\nzero_overlap = "x"', "zero_overlap can't be 'x'", "judge"),
        ("conventions = 3", "conventions can't be 3", "[conventions]"),
        ("judge = 3", "judge can't be 3", "[judge]"),
        ("[judge]\nexact = 3", "[judge.exact] is no table", "type"),
        ("[judge.exact]\nlabels = []", "[judge.exact] has no type", "type ="),
        ('[judge."a/b"]\ntype = "exact"', "a judge named 'a/b'", "letters"),
        ('[judge."../../x"]\ntype = "exact"', "a judge named '../../x'", "letters"),
        ("[replacement]\nmargin = 0.05", "unknown key 'replacement'", "known are recipe"),
    ],
)
def test_what_cant_be_used_is_named_with_its_cure(text: str, message: str, cure: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.parse(text)
    assert "study.toml" in caught.value.message
    assert message in caught.value.message
    assert caught.value.cure is not None and cure in caught.value.cure
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "table",
    [
        'api_key = "abc"',
        'API_KEY = "abc"',
        'apikey = "abc"',
        'openai-api-key = "abc"',
        'token = "abc"',
        'password = "abc"',
        'secret = "abc"',
        'parameters = { headers = { Authorization = "abc" } }',
        'model = "sk-proj-abcdefghijklmnop"',
        'prompt = "hf_abcdefghijklmnopqrstuv"',
        'extra = ["x", "sk-abcdefghijklmnopqrstuvwxyz"]',
    ],
)
def test_a_key_in_the_file_is_refused_and_never_shown(table: str) -> None:
    with pytest.raises(SettingsError, match="holds a key") as caught:
        Settings.parse(f'[judge.m]\ntype = "openai"\n{table}')
    assert "OPENAI_API_KEY" in str(caught.value)
    for part in ("abc", "abcdefgh"):
        assert part not in str(caught.value)


def test_a_key_outside_of_a_judge_is_refused_too() -> None:
    with pytest.raises(SettingsError, match="holds a key"):
        Settings.parse('api_key = "abc"')


@pytest.mark.parametrize(
    "table",
    [
        'api_key_env = "MY_API_KEY"',
        "parameters = { max_tokens = 5, max_completion_tokens = 3 }",
        'prompt = "Basic knowledge of the bearer of news; see //a@b"',
        'endpoint = "http://127.0.0.1:8000/v1"',
        'labels = { CORRECT = "key", INCORRECT = "token" }',
    ],
)
def test_what_only_looks_like_a_key_is_let_through(table: str) -> None:
    assert "m" in Settings.parse(f'[judge.m]\ntype = "openai"\n{table}').judges


def test_an_unknown_judge_is_refused_with_those_there_are() -> None:
    settings = Settings.parse('[judge.mine]\ntype = "exact"')
    with pytest.raises(SettingsError, match=r"no judge 'other'.*mine, exact, rouge"):
        settings.judge_settings(["other"])


def test_missing_and_wrongly_encoded_files(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="does not exist"):
        Settings.read(tmp_path / "study.toml")
    (tmp_path / "study.toml").write_bytes(b'recipe = "\xff"')
    with pytest.raises(SettingsError, match="not UTF-8"):
        Settings.read(tmp_path / "study.toml")
