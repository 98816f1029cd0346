"""The documents say what the program does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import typer

from accord import cli

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


def test_links_between_documents_lead_somewhere() -> None:
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{path.name} links to {target}"
