"""An open ledger file: transactions, the writer's lock, errors with a cure."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from . import schema
from .lock import WriterLock

__all__ = ["Database", "json_text", "storable"]


class Database:
    """The file under a ledger.

    Parameters
    ----------
    path
        The file. :meth:`create` makes one.
    patience
        Seconds to wait while another process writes.

    Raises
    ------
    StudyError
        When the file is missing, damaged, no ledger, or of a newer accord.
    """

    def __init__(self, path: Path | str, *, patience: float = 3.0) -> None:
        self.path = Path(path)
        self._connection, self.writable = schema.connect(self.path)
        self._lock = WriterLock(self.path.with_suffix(".lock"), patience=patience)
        # Judges save replies from a thread of their own.
        self._mutex = threading.RLock()

    @classmethod
    def create(cls, path: Path | str) -> Self:
        """Make an empty ledger and open it."""
        schema.create_database(Path(path))
        return cls(path)

    def close(self) -> None:
        """Close the file; what was written is already safe."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the writer's lock over many batches (a scoring run)."""
        if not self.writable:
            raise schema.explained(sqlite3.OperationalError("readonly"), self.path)
        with self._mutex:
            self._lock.acquire()
        try:
            yield
        finally:
            with self._mutex:
                self._lock.release()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or, whatever happens, none of it. Nests into one."""
        with self._mutex:
            if self._connection.in_transaction:
                yield self._connection
                return
            with self.writing():
                try:
                    self._connection.execute("BEGIN IMMEDIATE")
                    yield self._connection
                    self._connection.execute("COMMIT")
                except sqlite3.Error as error:
                    self._rollback()
                    raise schema.explained(error, self.path) from error
                except BaseException:
                    self._rollback()
                    raise

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a SELECT."""
        with self._mutex:
            try:
                return self._connection.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise schema.explained(error, self.path) from error

    def damage(self) -> list[str]:
        """What SQLite's integrity and foreign key checks find, one line each."""
        with self._mutex:
            return schema.damage(self._connection)


def json_text(value: Mapping[str, Any]) -> str:
    """A mapping as canonical JSON (sorted keys, ASCII), so that equal values are equal text."""
    return json.dumps(dict(value), ensure_ascii=True, sort_keys=True)


def storable(text: str) -> str:
    """Text that UTF-8 can carry: halves of a character that was cut in two become U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
