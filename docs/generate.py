"""Write docs/commands.md from the commands' own help, or check that it is up to date.

python docs/generate.py            writes docs/commands.md
python docs/generate.py --check    leaves with 1 when it would change
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path

import typer

from accord import cli

TARGET = Path(__file__).with_name("commands.md")


def help_text(*arguments: str) -> str:
    """What ``accord ARGUMENTS --help`` prints, without blanks at the line ends."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        cli.main([*arguments, "--help"])
    return "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())


def page() -> str:
    """The whole page."""
    group = typer.main.get_command(cli.build())
    parts = [
        "# Commands",
        "Generated from the commands' own help by `python docs/generate.py`.",
        f"```\n{help_text()}\n```",
    ]
    for name, command in group.commands.items():  # type: ignore[attr-defined]  # it is a group
        parts += [f"## accord {name}", f"```\n{help_text(name)}\n```"]
        for sub in getattr(command, "commands", {}):
            parts += [f"### accord {name} {sub}", f"```\n{help_text(name, sub)}\n```"]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    """Write or check; the width of the help is fixed so that any terminal gives the same page."""
    os.environ["COLUMNS"] = os.environ["TERMINAL_WIDTH"] = "100"
    text = page()
    if "--check" in sys.argv:
        return int(not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
