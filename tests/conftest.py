"""Fixtures that several test modules share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from accord.cli import main
from accord.study import Study
from small_study import ANSWERS, PAIRS, QUESTIONS, RESPONSES, write

if TYPE_CHECKING:
    from accord.annotate.server import PrivateServer


@pytest.fixture(autouse=True)
def numpy_global_state_is_left_alone() -> Iterator[None]:
    """No code may draw from numpy's global generator: a figure would depend on what ran before."""
    before = np.random.get_state(legacy=False)  # noqa: NPY002 (reads the state it guards)
    yield
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    same = before["state"]["pos"] == after["state"]["pos"] and np.array_equal(
        before["state"]["key"], after["state"]["key"]
    )
    assert same, "numpy's global random state was moved"


@pytest.fixture
def accord(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command: its exit status, what it printed, and what it said of errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def run_json(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """Runs a command that must succeed, and returns its JSON."""

    def run(*arguments: object) -> dict[str, Any]:
        status = main([*(str(argument) for argument in arguments), "--json"])
        out, err = capsys.readouterr()
        assert status == 0, err
        answer: dict[str, Any] = json.loads(out)
        return answer

    return run


@pytest.fixture
def openai_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up key, and none of the machine's own settings of a model's endpoint."""
    for name in ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of reference data that is not part of the project."""
    name = os.environ.get("ACCORD_SHARED_DATA")
    if name and Path(name).is_dir():
        return Path(name)
    pytest.skip("ACCORD_SHARED_DATA names no folder: the reference data is not on this machine")


@pytest.fixture
def read_only() -> Iterator[Callable[[Path], None]]:
    """Takes away the right to write to a folder and what is in it."""
    folders: list[Path] = []

    def take(folder: Path) -> None:
        folders.append(folder)
        for path in folder.iterdir():
            path.chmod(0o555 if path.is_dir() else 0o444)
        folder.chmod(0o555)

    yield take
    for folder in folders:
        folder.chmod(0o755)


# Root may write everywhere by two capabilities; a program that is started without them may not.
WITHOUT_RIGHTS = (
    "import ctypes, os, sys\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "for capability in (1, 2):\n"  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    "    if libc.prctl(24, capability, 0, 0, 0):\n"  # PR_CAPBSET_DROP
    "        raise OSError(ctypes.get_errno(), 'the right can not be given up')\n"
    "os.execv(sys.executable, [sys.executable, '-c', *sys.argv[1:]])\n"
)


@pytest.fixture
def as_user() -> Callable[..., str]:
    """Runs code without root's special rights."""

    def run(code: str, *arguments: str) -> str:
        start = [WITHOUT_RIGHTS, code] if os.geteuid() == 0 else [code]
        done = subprocess.run(
            [sys.executable, "-c", *start, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def label_studio() -> Iterator[PrivateServer]:
    """A private Label Studio with a data folder of its own, for all tests of the session."""
    from accord.annotate.server import PrivateServer

    # SQLite is several times faster where it need not wait for a disk.
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="accord-test-", dir=place) as folder:
        server = PrivateServer(Path(folder) / "data")
        server.up(0)
        try:
            yield server
        finally:
            server.down()


@pytest.fixture
def on_label_studio(
    label_studio: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> PrivateServer:
    """The server, and an environment in which commands find it; pseudonyms are the test's own."""
    monkeypatch.setenv("LABEL_STUDIO_URL", str(label_studio.status().url))
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", label_studio.login().token)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return label_studio


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The full counts run only when they are asked for."""
    if os.environ.get("ACCORD_SOAK"):
        return
    for item in list(items):
        if item.get_closest_marker("soak"):
            items.remove(item)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """With CI=true a skipped test has failed: nothing may be left out unnoticed."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]  # pluggy's wrapper protocol
    if report.skipped and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"skipped with CI=true: {report.longrepr}"


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Study]:
    with Study.create(tmp_path / "study") as made:
        yield made


@pytest.fixture
def study(empty: Study, tmp_path: Path) -> Study:
    empty.add_questions(write(tmp_path / "questions.jsonl", QUESTIONS))
    empty.add_responses(write(tmp_path / "responses.jsonl", RESPONSES))
    return empty


@pytest.fixture
def paired(empty: Study, tmp_path: Path) -> Study:
    rows = [{**row, "predicted": answer} for row, answer in zip(PAIRS, ANSWERS, strict=True)]
    empty.add_pairs(write(tmp_path / "pairs.jsonl", rows), mapping={"reference": "gold"})
    return empty
