"""Names for annotators that can be published: a keyed hash of the e-mail address.

Key and list of names stay with the user (``XDG_CONFIG_HOME/accord``, mode 0600), outside every
study: who has the study can't tell who graded, and the same person has one name in all of a
user's studies.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import hmac
import io
import os
import re
import secrets
from pathlib import Path

from ..scoring.errors import AccordError

__all__ = ["EMAIL", "Pseudonyms", "config_folder"]

EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
"""An e-mail address that somebody wrote into a text."""


def config_folder() -> Path:
    """``XDG_CONFIG_HOME/accord``."""
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(home).expanduser() / "accord"


class Pseudonyms:
    """The names of annotators under the user's key.

    Parameters
    ----------
    folder
        Holds ``pseudonym.key`` and ``people.csv``; both are made when they are not there.

    Raises
    ------
    AccordError
        When the folder can't be written, or the key was damaged: another key would give everybody
        a new name.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or config_folder()
        self._key = self._read_key()
        self._given: dict[str, str] = {}

    def of(self, person: str) -> str:
        """The pseudonym of an e-mail address, in any case: ``annotator-`` and 8 hex digits."""
        name = self.name(person)
        self._given[name] = person.strip().lower()
        return name

    def name(self, person: str) -> str:
        """The pseudonym that :meth:`of` would give, without noting the person."""
        address = person.strip().lower().encode("utf-8", "replace")
        return f"annotator-{hmac.new(self._key, address, hashlib.sha256).hexdigest()[:8]}"

    def save_people(self) -> None:
        """Add the people that were named since to ``people.csv`` (pseudonym, e-mail address)."""
        path = self._folder / "people.csv"
        people: dict[str, str] = {}
        with contextlib.suppress(FileNotFoundError, UnicodeDecodeError):
            rows = csv.reader(io.StringIO(path.read_text("utf-8")))
            people = {row[0]: row[1] for row in rows if len(row) == 2 and row[0] != "pseudonym"}
        if self._given.items() <= people.items():
            return
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["pseudonym", "person"])
        writer.writerows(sorted({**people, **self._given}.items()))
        self._write(path, out.getvalue())

    def _read_key(self) -> bytes:
        path = self._folder / "pseudonym.key"
        try:
            if not path.exists():
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._make_key(path)
            text = path.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise AccordError(
                f"{path} can't be read or written: {getattr(error, 'strerror', None) or 'damaged'}",
                cure="make it readable for you, or name another folder with XDG_CONFIG_HOME",
            ) from None
        if not re.fullmatch(r"[0-9a-f]{64}", text):
            raise AccordError(
                f"{path} is damaged: it should hold 64 hex digits",
                cure="restore it from a backup; without it annotators get new names",
            )
        return bytes.fromhex(text)

    def _make_key(self, path: Path) -> None:
        """Write the key whole, and never over another one that a second process just made."""
        partial = path.with_name(f".{path.name}.{os.getpid()}.part")
        partial.unlink(missing_ok=True)
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(32)}\n")
        with contextlib.suppress(FileExistsError):
            os.link(partial, path)
        partial.unlink()

    def _write(self, path: Path, text: str) -> None:
        partial = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(partial, path)
        except OSError as error:
            raise AccordError(
                f"{path} can't be written: {error.strerror}", cure="make its folder writable"
            ) from None
