"""How a run of a model judge gets on: what it reports, and a bar that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Protocol

__all__ = ["ProgressCallback", "progress_bar"]


class ProgressCallback(Protocol):
    """Called from the thread that called the judge, at most ten times a second, and at the end.

    Parameters
    ----------
    done, total
        Questions to the model: settled so far (answered or given up), and in all. Known replies
        are not among them.
    rate
        Questions settled a second since the start.
    errors
        Questions given up so far.
    tokens
        Tokens of prompts and replies so far, as the endpoint counts them.
    """

    def __call__(self, done: int, total: int, rate: float, errors: int, tokens: int) -> None: ...


@contextmanager
def progress_bar(description: str, *, file: IO[str] | None = None) -> Iterator[ProgressCallback]:
    """A progress bar with rate, errors, tokens and time left; on standard error by default.

    Where the output is no terminal nothing is drawn.

    Examples
    --------
    >>> import io
    >>> with progress_bar("judge gpt", file=io.StringIO()) as progress:
    ...     progress(3, 10, 1.5, 0, 840)
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(file=file, stderr=file is None)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.1f}/s  {task.fields[errors]} errors"),
        TextColumn("{task.fields[tokens]:,} tokens"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(escape(description), total=None, rate=0.0, errors=0, tokens=0)

        def report(done: int, total: int, rate: float, errors: int, tokens: int) -> None:
            bar.update(task, completed=done, total=total, rate=rate, errors=errors, tokens=tokens)

        yield report
