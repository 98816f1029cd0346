"""The demo: the whole loop as a stranger runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from accord import cli
from accord.scoring.errors import AccordError

pytestmark = pytest.mark.label_studio


def demo(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the demo in a process of its own, with its own configuration folder."""
    return subprocess.run(
        [sys.executable, "-m", "accord.cli", "demo", *options],
        cwd=folder,
        env={**os.environ, "XDG_CONFIG_HOME": str(folder / "config")},
        capture_output=True,
        text=True,
    )


def servers() -> set[str]:
    """Data folders of the demo servers that run on this machine."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        for word in words:
            if word.startswith(b"LABEL_STUDIO_BASE_DATA_DIR=") and b"accord-demo-" in word:
                found.add(word.decode())
    return found


def test_the_loop_runs_twice_and_leaves_nothing_behind(tmp_path: Path) -> None:
    before = servers()
    for run in (1, 2):
        done = demo(tmp_path)
        assert done.returncode == 0, done.stderr
        assert servers() <= before, "a server was left running"
        lines = done.stdout.splitlines()
        assert "428 blind tasks in http://127.0.0.1:" in done.stdout
        assert "856 annotations posted by two accounts" in lines
        assert any(line.strip().startswith("new: 856 annotations, 856 ratings") for line in lines)
        report = tmp_path / "accord-demo" / "reports" / "report.html"
        assert f"report: {report.relative_to(tmp_path)}" in lines
        page = json.loads(report.with_suffix(".json").read_text(encoding="utf-8"))
        sentences = page["conclusions"]
        assert len(sentences) == 3 and all(sentence in lines for sentence in sentences)
        assert all(judge in sentences[0] for judge in ("exact", "rouge"))
        assert "7 of 76 audited are wrong" in sentences[2]
        people = [
            result
            for result in page["results"]
            if result["name"] == "agreement" and result["comparison"] == "people"
        ]
        # Both example annotators graded the same 428 items; 4 pairs hold an UNSURE.
        assert [result["n"] for result in people] == [424], run
    assert not (tmp_path / "config").exists(), "the demo's people do not belong in the user's list"


def test_a_folder_that_is_not_the_demos_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    assert cli.main(["demo", "--study", str(tmp_path)]) == 2
    assert "was not made by the demo" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "mine"


def test_a_server_that_can_not_start_is_cleared_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from accord.annotate.server import PrivateServer
    from accord.cli.demo import run

    seen: list[Path] = []

    def fails(self: PrivateServer, *_: object, **__: object) -> None:
        seen.append(self.data)
        raise AccordError("no port is free", cure="stop something")

    monkeypatch.setattr(PrivateServer, "up", fails)
    with pytest.raises(AccordError, match="no port is free"):
        run(tmp_path / "study")
    assert len(seen) == 1 and not seen[0].exists()
