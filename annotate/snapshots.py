"""What Label Studio gives back: tasks with annotations, from the API or from a JSON export.

Nothing is decided here. People become pseudonyms before anything is kept.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..scoring.errors import InputError, ServiceError
from ..scoring.files import read_whole
from ..study.readers import unpacked
from .connection import Connection
from .pseudonym import EMAIL, Pseudonyms

__all__ = [
    "NOBODY",
    "Snapshot",
    "drafts_of",
    "edited_by_another",
    "fetch",
    "keys_of",
    "load_json",
    "number",
    "numbers_of",
    "person_of",
    "read_file",
    "scrubbed",
]

NOBODY = "unknown"
"""Stands for an annotator whose account was deleted."""

_PERSONAL = frozenset(
    {"email", "first_name", "last_name", "username", "created_username", "avatar", "initials"}
)
_PLAIN = (int, float, bool, type(None))
"""What can't name anybody."""
_TOO_LARGE = 2**63
"""No number of a server is, and the ledger keeps none."""
_PATIENCE = 300.0
_SNAPSHOT_TITLE = "accord import"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tasks of one project or one file, with the way to name their annotators.

    ``people`` maps the server's user ids to e-mail addresses, where they are known. ``server`` is
    its address, None for a file. ``owner`` is the person whose project it is, None where everybody
    grades.
    """

    name: str
    tasks: tuple[Mapping[str, Any], ...] = field(repr=False)
    sha256: str | None = None
    people: Mapping[int, str] = field(default_factory=dict, repr=False)
    server: str | None = None
    owner: str | None = None


def fetch(connection: Connection, project_id: int) -> Snapshot:
    """All tasks of a project, with the annotators' e-mail addresses.

    A snapshot export takes half the time of the plain one and names people; where a server has
    none, the plain export and the list of users do.
    """
    try:
        tasks = _snapshot(connection, project_id)
        people: dict[int, str] = {}
    except _NoSnapshot:
        with connection.calling("to export a project") as client:
            tasks = client.projects.exports.as_json(project_id)
            # An account that was taken out of the organisation is listed as "Deleted".
            people = {
                int(user.id): email
                for user in client.users.list()
                if user.id is not None and "@" in (email := user.email or "")
            }
    where = f"project {project_id}"
    try:
        _check(tasks, where)
    except InputError as error:
        raise ServiceError(
            f"Label Studio at {connection.url} gave no export: {error.message}",
            cure="run this again, or look at the server's log",
        ) from None
    return Snapshot(where, tuple(tasks), people=people)


class _NoSnapshot(Exception):
    """The server makes no snapshots."""


def _snapshot(connection: Connection, project_id: int) -> Any:
    from label_studio_sdk.core.api_error import ApiError

    persons: Any = {
        "annotations__completed_by": {"only_id": False},
        "drafts": {"only_id": False},
    }
    with connection.calling("to export a project") as client:
        exports = client.projects.exports
        try:
            _remove_leftovers(exports, project_id)
            made: Any = exports.create(
                project_id, title=_SNAPSHOT_TITLE, serialization_options=persons
            )
        except ApiError as error:
            if error.status_code in (404, 405):
                client.projects.get(id=project_id)  # a project that is gone is another matter
                raise _NoSnapshot from None
            raise
        if made.id is None:
            raise _NoSnapshot
        try:
            deadline = time.monotonic() + _PATIENCE
            while made.status not in ("completed", "failed") and time.monotonic() < deadline:
                time.sleep(0.5)
                made = exports.get(project_id, export_pk=int(made.id or 0))
            if made.status != "completed":
                raise _NoSnapshot
            return json.loads(b"".join(exports.download(project_id, export_pk=int(made.id or 0))))
        finally:
            # The server keeps each as a file with people's addresses in it.
            exports.delete(project_id, export_pk=int(made.id or 0))


def _remove_leftovers(exports: Any, project_id: int) -> None:
    """Snapshots of imports that broke off: the server keeps each as a file with addresses in it."""
    for left in exports.list(project_id):
        if left.title == _SNAPSHOT_TITLE and left.id is not None:
            exports.delete(project_id, export_pk=int(left.id))


def read_file(path: Path) -> Snapshot:
    """A JSON export of Label Studio.

    Raises
    ------
    InputError
        When the file is missing, cut off, no JSON, or no JSON export with annotations.
    """
    tasks, sha256 = load_json(path)
    _check(tasks, str(path))
    return Snapshot(path.name, tuple(tasks), sha256=sha256)


def load_json(path: Path) -> tuple[Any, str]:
    """What a JSON file holds, and the file's SHA-256.

    Raises
    ------
    InputError
        When the file is missing, cut off, or no JSON.
    """
    cure = "in Label Studio choose Export, format JSON"
    try:
        content = read_whole(path)
        packed = path.name.lower().endswith(".gz")
        text = (unpacked(content, path.name) if packed else content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start})", cure=cure) from None
    try:
        tasks = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        cut = text.lstrip()[:1] in ("[", "{") and error.pos >= len(text.rstrip()) - 1
        said = "is cut off" if cut else "is no JSON"
        raise InputError(f"{path} {said} ({where}: {error.msg})", cure=cure) from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is no JSON export of Label Studio", cure=cure) from None
    return tasks, hashlib.sha256(content).hexdigest()


def _check(tasks: Any, where: str) -> None:
    """Refuse what is no list of tasks with annotations, and say what it seems to be."""
    cure = "in Label Studio choose Export, format JSON"
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise InputError(f"{where} is no JSON export of Label Studio: no list of tasks", cure=cure)
    for place, task in enumerate(tasks, start=1):
        if not isinstance(task.get("data"), dict):
            if "annotation_id" in task or "annotator" in task:
                raise InputError(f"{where} is a JSON_MIN export, which has no skips", cure=cure)
            raise InputError(f"{where}, task {place} has no data: no export", cure=cure)
        annotations = task.get("annotations")
        if annotations is None:
            raise InputError(
                f"{where}, task {place} has no annotations: these are tasks, not labels", cure=cure
            )
        if not isinstance(annotations, list) or not all(isinstance(a, dict) for a in annotations):
            raise InputError(f"{where}, task {place}: annotations is no list of objects", cure=cure)


def numbers_of(tasks: Iterable[Mapping[str, Any]]) -> set[int]:
    """The user numbers of those who made the tasks' annotations."""
    found = set()
    for task in tasks:
        for annotation in task["annotations"]:
            who = annotation.get("completed_by")
            user = number(who.get("id") if isinstance(who, dict) else who)
            if user is not None:
                found.add(user)
    return found


def person_of(annotation: Mapping[str, Any], people: Mapping[int, str]) -> str | None:
    """Who made an annotation: an e-mail address, ``user 3`` when only the number is known, None.

    A deleted account leaves null; one that left the organisation may be called "Deleted".
    """
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        email = who.get("email")
        if isinstance(email, str) and "@" in email:
            return email.strip().lower()
        who = who.get("id")
    if isinstance(who, str) and "@" in who:
        return who.strip().lower()
    user = number(who)
    return None if user is None else people.get(user, f"user {user}").strip().lower()


def edited_by_another(annotation: Mapping[str, Any]) -> bool:
    """Whether somebody else than its annotator changed an annotation last."""
    who, changed = annotation.get("completed_by"), number(annotation.get("updated_by"))
    who = number(who.get("id") if isinstance(who, dict) else who)
    return changed is not None and who not in (None, changed)


def scrubbed(annotation: Mapping[str, Any], pseudonym: str, names: Pseudonyms) -> dict[str, Any]:
    """The annotation with every person in it as a pseudonym; what the person wrote is kept."""
    out = {
        key: value if key == "result" or isinstance(value, _PLAIN) else _scrub(value, names)
        for key, value in annotation.items()
        if key not in _PERSONAL
    }
    out["completed_by"] = pseudonym
    return out


def _scrub(value: Any, names: Pseudonyms) -> Any:
    if isinstance(value, dict):
        return {key: _scrub(part, names) for key, part in value.items() if key not in _PERSONAL}
    if isinstance(value, list):
        return [_scrub(part, names) for part in value]
    if isinstance(value, str) and "@" in value:
        return EMAIL.sub(lambda found: names.of(found[0]), value)
    return value


def keys_of(annotation: Mapping[str, Any], project_id: int | None) -> tuple[str, str]:
    """``(unique_id, updated_at)``: what names one version of an annotation."""
    made = annotation.get("created_at") or ""
    # Numbers repeat from server to server; JSON_MIN and CSV do not even name the project.
    place = made if project_id is None else project_id
    unique = annotation.get("unique_id") or f"{place}:{annotation.get('id')}"
    updated = annotation.get("updated_at") or made
    return str(unique), str(updated)


def number(value: Any) -> int | None:
    """A server's id; None for what is none. A table's way of writing it, ``2.0``, is 2."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) < _TOO_LARGE else None


def drafts_of(task: Mapping[str, Any]) -> int:
    """How many drafts a task has that were not submitted."""
    drafts = task.get("drafts")
    return len(drafts) if isinstance(drafts, list) else 0
