"""The command line: one module a command, each parses, calls one library function, renders.

Exit status: 0 done (or YES), 1 NO, 2 the user's mistake (one line and the cure), 3 INCONCLUSIVE,
70 a bug (the traceback is kept), 130 interrupted.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import typer

__all__ = ["COMMANDS", "build", "main"]

COMMANDS = (
    "demo",
    "init",
    "add",
    "profiles",
    "parse",
    "score",
    "sample",
    "export",
    "import_",
    "adjudicate",
    "labels",
    "agree",
    "audit",
    "report",
    "status",
    "label_studio",
    "doctor",
)
"""The command modules, in the order of the help page."""

OK, USER_ERROR, BUG, INTERRUPTED = 0, 2, 70, 130
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)

# ClickException, by way of typer: newer versions carry a click of their own, and the installed
# click's classes are then others.
_USAGE: Any = typer.BadParameter.__mro__[2]


def build() -> typer.Typer:
    """The command-line application with every command registered."""
    app = typer.Typer(
        name="accord",
        help="Can this evaluation number be trusted? Gold audits and judge-versus-human agreement.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name in COMMANDS:
        importlib.import_module(f".{name}", __name__).register(app)
    return app


def _version(value: bool) -> None:
    if value:
        from .. import __version__

        typer.echo(f"accord {__version__}")
        raise typer.Exit()


def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and stop."
    ),
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    A traceback would otherwise leave with status 1, which means NO here.
    """
    from ..scoring.errors import AccordError, one_line

    command = typer.main.get_command(build())
    try:
        result = command.main(
            args=list(sys.argv[1:] if arguments is None else arguments),
            prog_name="accord",
            standalone_mode=False,
        )
        sys.stdout.flush()  # what can't be written is told here, and not at the interpreter's end
    except _USAGE as error:
        context = getattr(error, "ctx", None)
        if type(error).__name__ == "NoArgsIsHelpError":
            print(context.get_help() if context else error.format_message(), file=sys.stderr)
            return USER_ERROR
        path = context.command_path if context else "accord"
        message = one_line(error.format_message()).rstrip(".")
        print(f"accord: {message}; see {path} --help", file=sys.stderr)
        return USER_ERROR
    except (typer.Abort, KeyboardInterrupt):
        print("accord: interrupted", file=sys.stderr)
        return INTERRUPTED
    except AccordError as error:
        print(f"accord: {error}", file=sys.stderr)
        return USER_ERROR
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except OSError as error:
        if error.filename is not None or error.errno not in _FULL:
            return _bug()
        print(f"accord: the output can't be written: {error.strerror}", file=sys.stderr)
        _drop_output()
        return USER_ERROR
    except Exception:
        return _bug()
    return result if isinstance(result, int) else OK


def _bug() -> int:
    """Keep the traceback of what is raised now."""
    import traceback

    traceback.print_exc()
    print("accord: this is a bug in accord; please report the lines above", file=sys.stderr)
    return BUG


def _drop_output() -> None:
    """What is left of the output would be written at the interpreter's end, and fail again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
