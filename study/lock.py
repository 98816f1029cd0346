"""One writer at a time: a lock file beside the ledger, freed by the system with its holder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path

from ..scoring.errors import StudyError

__all__ = ["WriterLock"]


class WriterLock:
    """An exclusive lock on a file, counted, so that a long run may hold it over many batches.

    Parameters
    ----------
    path
        The lock file. It is left in place: removing it would let two holders in.
    patience
        Seconds to wait for another writer before giving up.
    """

    def __init__(self, path: Path, *, patience: float = 3.0) -> None:
        self._path = path
        self._patience = patience
        self._file: int | None = None
        self._depth = 0

    def acquire(self) -> None:
        """Take the lock, or count one more holder in this object.

        Raises
        ------
        StudyError
            When another process has it, naming its process id.
        """
        if self._depth == 0:
            self._file = self._locked()
        self._depth += 1

    def release(self) -> None:
        """Give back one hold; the last one frees the lock."""
        self._depth -= 1
        if self._depth == 0 and self._file is not None:
            os.close(self._file)
            self._file = None

    def _locked(self) -> int:
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise StudyError(
                f"{self._path.parent.name}/{self._path.name} can't be written: {error.strerror}",
                cure="make the study's folder writable",
            ) from None
        deadline = time.monotonic() + self._patience
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() < deadline:
                    time.sleep(0.05)
                    continue
                holder = _holder(file)
                os.close(file)
                raise StudyError(
                    f"another accord is writing to {self._path.parent.name}, {holder}",
                    cure="wait for it to end, or stop it",
                ) from None
            except OSError as error:
                os.close(file)
                raise StudyError(
                    f"{self._path.parent.name} can't be locked: {error.strerror}",
                    cure="keep the study on a disk that supports file locks",
                ) from None
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        return file


def _holder(file: int) -> str:
    with contextlib.suppress(OSError, ValueError):
        return f"pid {int(os.pread(file, 32, 0))}"
    return "pid unknown"
