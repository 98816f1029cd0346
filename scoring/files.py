"""Files read and written whole: nothing waits for a pipe, nothing is half-written or lost."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from .errors import AccordError, InputError

__all__ = ["expect_writable", "read_whole", "write_together", "write_whole"]

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

    As :func:`write_together` with one file.
    """
    write_together({Path(path): text})


def write_together(texts: Mapping[Path, str]) -> None:
    """Write files as UTF-8, all of them or none; what was there before is replaced at the end.

    A link is followed, and a file's permissions stay. Half of a surrogate pair, which UTF-8 can't
    hold, becomes ``?``.

    Raises
    ------
    AccordError
        As :func:`expect_writable` of the first file that can't be written; also when a disk is
        full. Nothing of any file is there then, and what was there before is.
    """
    files = {path: expect_writable(path) for path in texts}
    made: dict[Path, Path] = {}
    path = Path()
    try:
        for path, file in files.items():
            # Not the file's name and an ending: that could be longer than a name may be.
            made[path] = file.with_name(f".accord-{os.getpid()}-{len(made)}.part")
            if os.path.lexists(file):  # what others may not read they may not read afterwards
                made[path].touch()
                os.chmod(made[path], stat.S_IMODE(os.lstat(file).st_mode))
            made[path].write_text(texts[path], encoding="utf-8", errors="replace", newline="")
        for path, file in files.items():
            os.replace(made[path], file)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    finally:
        for partial in made.values():
            with contextlib.suppress(OSError, ValueError):
                partial.unlink(missing_ok=True)


def expect_writable(path: Path | str) -> Path:
    """The file that a path names, links followed, before anything is written.

    Raises
    ------
    AccordError
        When it can't be written, is read-only, a folder or a device (which the new file would push
        aside), or is a study's own ledger or settings, which no report may replace.
    """
    try:
        file = Path(os.path.realpath(path))
        there = os.path.lexists(file)
        if there and not stat.S_ISREG(os.lstat(file).st_mode):
            raise AccordError(
                f"{path} can't be written: it is a folder or a device", cure="name an ordinary file"
            )
        # replacing asks the folder only, and would undo what its owner protected
        if there and not os.lstat(file).st_mode & 0o222:
            raise AccordError(f"{path} can't be written: it is read-only", cure="name another file")
        if file.name in _OF_A_STUDY and os.path.lexists(file.with_name("ledger.sqlite")):
            raise AccordError(
                f"{path} belongs to a study and is not replaced", cure="name another file"
            )
        if not there:
            # the system says what is wrong with a folder, or a name that is too long
            os.stat(file.parent)
            with contextlib.suppress(FileNotFoundError):
                os.stat(file)
        if not os.access(file.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    return file


def _unwritable(path: Path | str, error: Exception) -> AccordError:
    why = getattr(error, "strerror", None) or str(error)
    return AccordError(
        f"{path} can't be written: {why}", cure="name a file in a folder that can be written"
    )
