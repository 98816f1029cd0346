"""The documents say what the program does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from accord import cli, validate

ROOT = Path(__file__).parent.parent


def test_the_page_of_commands_is_up_to_date() -> None:
    run = subprocess.run([sys.executable, str(ROOT / "docs" / "generate.py"), "--check"])
    assert run.returncode == 0, "run: python docs/generate.py"


def test_every_command_that_a_document_shows_exists() -> None:
    group = typer.main.get_command(cli.build())
    known: dict[str, set[str]] = {
        name: set(getattr(command, "commands", {}))
        for name, command in group.commands.items()  # type: ignore[attr-defined]
    }
    shown = 0
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = path.read_text(encoding="utf-8")
        blocks = re.findall(r"```(?:sh|console)?\n(.*?)```", text, re.S)
        for line in "\n".join(blocks).splitlines():
            found = re.match(r"(?:\$ )?accord ([a-z][a-z-]*)(?: ([a-z]+))?", line)
            if found and not line.startswith("accord:"):
                shown += 1
                assert found[1] in known, f"{path.name}: {line}"
                if known[found[1]]:
                    assert found[2] in known[found[1]], f"{path.name}: {line}"
    assert shown >= 10


def test_the_python_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Word for word, in a folder that holds a table like the one the README speaks of."""
    answer = ("Yes", "No")
    rows = [
        f"i{k},q{k // 3},{answer[k % 2]},{answer[k % 7 % 2]},{answer[k % 2]},{answer[k % 5 % 2]}"
        for k in range(60)
    ]
    header = "item_id,question_id,annotator1,annotator2,human,judge_gpt4"
    (tmp_path / "items.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {"__name__": "__main__"})
    assert "<cohen_kappa judge_gpt4 ~ human: 0." in capsys.readouterr().out
    assert (tmp_path / "agreement.csv").read_text(encoding="utf-8").startswith("name,level,")


def test_the_python_of_the_page_of_figures_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "statistics.md", "exec"), {"__name__": "__main__"})
    shown = capsys.readouterr().out
    assert "linear" in shown and "quadratic" in shown and "gpt ~ majority" in shown


def test_links_between_documents_lead_somewhere() -> None:
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_every_setting_of_a_judge_is_explained() -> None:
    from accord.scoring import openai_settings

    text = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    section = text[text.index("## Judges") :]
    shown = set(re.findall(r"^\|[^|]*\| `([a-z_]+)`", section, re.M))
    others = {"threshold", "tokenizer", "stem", "path"}
    assert shown == set(openai_settings._KEYS) - {"type"} | others
    for kind in ("exact", "rouge", "file", "openai"):
        assert re.search(rf"^\| `{kind}` \|", section, re.M), kind


def test_every_public_statistic_is_in_the_page() -> None:
    text = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([A-Za-z_0-9]+)`", text))
    assert set(validate.__all__) - named == set()
