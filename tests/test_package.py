"""The package as it is built: layout, lazy imports, exit statuses, data, docstring examples."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.resources
import pkgutil
import re
import subprocess
import sys
import tomllib
import types
import zipfile
from pathlib import Path

import pytest

import accord
from accord import cli

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OWN = re.compile(r"accord(\.|$)").match
FOLDERS = ("annotate", "cli", "scoring", "study", "templates", "validate")
HEAVY = {
    "aiohttp",
    "httpx",
    "jinja2",
    "krippendorff",
    "label_studio_sdk",
    "matplotlib",
    "nltk",
    "numpy",
    "openai",
    "pandas",
    "pyarrow",
    "scipy",
    "statsmodels",
}


def packages_on_disk() -> set[str]:
    ignored = {"tests", "docs", "benchmarks", "build", "dist"}
    found = {"accord"}
    for init in ROOT.glob("*/**/__init__.py"):
        parts = init.relative_to(ROOT).parts[:-1]
        if parts[0] not in ignored and not any(part.startswith(".") for part in parts):
            found.add(".".join(("accord", *parts)))
    return found


def test_declared_packages_are_the_folders_on_disk() -> None:
    assert set(SETTINGS["tool"]["setuptools"]["packages"]) == packages_on_disk()


def test_root_holds_no_module_that_would_ship() -> None:
    assert [path.name for path in ROOT.glob("*.py")] == ["__init__.py"]


def test_the_package_imports_itself_relatively_and_one_way() -> None:
    # cli -> annotate, validate -> study -> scoring; anyone reads templates. A lint rule on the name
    # accord would also hit relative imports where the checkout's folder is called accord.
    below = {
        "scoring": {"scoring", "templates"},
        "study": {"study", "scoring", "templates"},
        "annotate": {"annotate", "study", "scoring", "templates"},
        "validate": {"validate", "study", "scoring", "templates"},
        "templates": {"templates"},
        "examples": {"examples", "scoring"},
        "cli": {"cli", "annotate", "validate", "study", "scoring", "templates", "examples"},
    }
    wrong = []
    for folder, allowed in below.items():
        for path in (ROOT / folder).rglob("*.py"):
            inside = path.relative_to(ROOT).parts[:-1]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module or ""]
                elif isinstance(node, ast.ImportFrom):
                    base = inside[: len(inside) - node.level + 1]
                    whole = [*base, *(node.module or "").split(".")]
                    target = whole[0] or (node.names[0].name if node.module is None else "")
                    if target and target != "__version__" and target not in allowed:
                        wrong.append(f"{path.relative_to(ROOT)}: {target}")
                wrong += [f"{path.relative_to(ROOT)}: {name}" for name in names if OWN(name)]
    assert wrong == []


def test_no_module_is_longer_than_600_lines() -> None:
    long = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("*/**/*.py")
        if not any(part.startswith(".") or part == "build" for part in path.parts)
        and len(path.read_text(encoding="utf-8").splitlines()) > 600
    ]
    assert long == []


def modules() -> list[str]:
    names = ["accord"]
    for name in FOLDERS:
        package = importlib.import_module(f"accord.{name}")
        names.append(package.__name__)
        names += [
            info.name
            for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
            if not info.name.endswith("__main__")
        ]
    return names


@pytest.mark.parametrize("name", modules())
def test_docstring_examples_and_exports(name: str) -> None:
    module = importlib.import_module(name)
    assert (module.__doc__ or "").strip(), f"{name} has no docstring"
    for public in getattr(module, "__all__", []):
        assert getattr(module, public) is not None
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.parametrize("name", ["accord", *(f"accord.{folder}" for folder in FOLDERS)])
def test_no_module_hides_a_public_function(name: str) -> None:
    package = importlib.import_module(name)
    for info in pkgutil.iter_modules(package.__path__, f"{name}."):
        if not info.name.endswith(("__main__", ".tests", ".docs", ".benchmarks")):
            importlib.import_module(info.name)
    for public in getattr(package, "__all__", []):
        found = getattr(package, public)
        assert not isinstance(found, types.ModuleType), f"{name}.{public} is a module"


def test_public_names_resolve_and_unknown_ones_do_not() -> None:
    for name in accord.__all__:
        assert getattr(accord, name) is not None
    with pytest.raises(AttributeError):
        accord.no_such_name  # noqa: B018 (the access is the test)


def test_help_and_import_load_nothing_heavy() -> None:
    code = (
        "import sys, accord.cli\n"
        "try: accord.cli.main(['--help'])\n"
        "finally: print('\\n'.join(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "typer" in loaded, "the help page did not run"
    assert loaded & HEAVY == set()


def test_every_command_has_help_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    import typer

    group = typer.main.get_command(cli.build())
    commands = group.commands  # type: ignore[attr-defined]  # a typer app with commands is a group
    assert len(commands) >= len(cli.COMMANDS)
    for name, command in commands.items():
        assert cli.main([name, "--help"]) == 0
        text = capsys.readouterr().out
        text = " ".join(text.split())  # the usage line is one, the example another
        assert text.count(f"accord {name}") >= 2, f"accord {name} --help shows no example"
        assert command.help, name


def test_exit_statuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text("1. Io", encoding="utf-8")
    assert cli.main(["parse", str(answer)]) == 0
    capsys.readouterr()
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"accord {accord.__version__}\n"
    for arguments in (["no-such-command"], ["agree"], ["agree", "x", "--no-such-option"], []):
        assert cli.main(arguments) == 2, arguments
        error = capsys.readouterr().err
        if arguments:
            assert error.startswith("accord: ") and error.count("\n") == 1, error

    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("accord.scoring.parse.parse", broken)
    assert cli.main(["parse", str(answer)]) == 70
    error = capsys.readouterr().err
    assert "RuntimeError: a bug" in error and "this is a bug in accord" in error
    monkeypatch.setattr("accord.scoring.parse.parse", interrupted)
    assert cli.main(["parse", str(answer)]) == 130


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy of the files that git knows."""
    copy = tmp_path_factory.mktemp("source")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    subprocess.run(
        [*command, "--no-build-isolation", "--wheel-dir", str(out), str(copy)], check=True
    )
    return zipfile.ZipFile(next(out.glob("*.whl")))


def test_wheel_holds_every_data_file_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert all(name.startswith("accord/") for name in held)
    assert not any(
        name.startswith(f"accord/{folder}/")
        for folder in ("tests", "docs", "benchmarks")
        for name in held
    )
    for folder in ("templates", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(ROOT).as_posix()
                assert f"accord/{name}" in held, f"{name} is not in the wheel"
                parts = name.split("/")
                found = importlib.resources.files("accord").joinpath(*parts)
                assert found.is_file(), f"{name} is not found through importlib.resources"
    assert "accord/py.typed" in held


def test_constraints_pin_every_dependency_and_name_no_registry() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0].lower() for line in lines if "==" in line}
    needed = [
        *SETTINGS["project"]["dependencies"],
        *SETTINGS["dependency-groups"]["dev"],
        *SETTINGS["dependency-groups"]["llm"],
    ]
    for requirement in needed:
        name = requirement.split("[")[0].split(">")[0].split("=")[0].strip().lower()
        assert name in pinned, f"{name} is not in constraints.txt"
    assert not any("://" in line or line.startswith("-") for line in lines)
