"""Files read and written whole: nothing waits for a pipe, nothing is half-written or lost."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from .errors import AccordError, InputError

__all__ = ["read_whole", "write_whole"]

_OF_A_STUDY = ("study.toml", "ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm")


def read_whole(path: Path | str, *, cure: str = "name a readable file") -> bytes:
    """The bytes of a file.

    Raises
    ------
    InputError
        When it is missing, can't be read, or is a folder or a device; a named pipe too, since
        reading would wait for a writer that may never come.
    """
    file = Path(path)
    try:
        # What a shell passes as <(command) is a pipe as well, but one that has its writer.
        if stat.S_ISFIFO(os.stat(file).st_mode) and not str(file).startswith(("/dev/", "/proc/")):
            raise InputError(
                f"{file} is a named pipe, not a file", cure="write what comes out of it to a file"
            )
        return file.read_bytes()
    except FileNotFoundError:
        raise InputError(
            f"{file} does not exist", cure="check the name and the folder you are in"
        ) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{file} can't be read: {why}", cure=cure) from None


def write_whole(path: Path | str, text: str) -> None:
    """Write a file as UTF-8, whole or not at all; what was there before is replaced at the end.

    A link is followed, and the file's permissions stay. Half of a surrogate pair, which UTF-8 can't
    hold, becomes ``?``.

    Raises
    ------
    AccordError
        When the file can't be written, is read-only, a folder or a device (which the new file would
        push aside), or is a study's own ledger or settings, which no report may replace.
    """
    file = Path(os.path.realpath(path)) if "\0" not in str(path) else Path(path)
    partial: Path | None = None
    try:
        if os.path.lexists(file) and not stat.S_ISREG(os.lstat(file).st_mode):
            raise AccordError(
                f"{path} can't be written: it is a folder or a device", cure="name an ordinary file"
            )
        # replacing asks the folder only, and would undo what its owner protected
        if os.path.lexists(file) and not os.lstat(file).st_mode & 0o222:
            raise AccordError(f"{path} can't be written: it is read-only", cure="name another file")
        if file.name in _OF_A_STUDY and os.path.lexists(file.with_name("ledger.sqlite")):
            raise AccordError(
                f"{path} belongs to a study and is not replaced", cure="name another file"
            )
        # Not the file's name and an ending: that could be longer than a name may be.
        partial = file.with_name(f".accord-{os.getpid()}.part")
        with partial.open("w", encoding="utf-8", errors="replace", newline="") as out:
            if os.path.lexists(file):  # what others may not read they may not read afterwards
                os.chmod(partial, stat.S_IMODE(os.lstat(file).st_mode))
            out.write(text)
        os.replace(partial, file)
        partial = None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise AccordError(
            f"{path} can't be written: {why}", cure="name a file in a folder that can be written"
        ) from None
    finally:
        if partial is not None:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
