"""The benchmarks run at any size: the small ones are what somebody tries first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("alignment.py --questions 3 --systems 4 --rounds 1", "12 responses to 3 questions"),
        ("alignment.py --questions 20 --systems 17 --rounds 1", "340 responses to 20 questions"),
        ("agreement.py --items 40 --rounds 1", "items"),
    ],
)
def test_a_small_run(arguments: str, said: str) -> None:
    script, *options = arguments.split()
    done = subprocess.run(
        [sys.executable, FOLDER / script, *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
