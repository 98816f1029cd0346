"""What a study can have asked people about, by item id, and the templates it was asked with.

Built a unit at a time and only when something of that unit is looked up: an import of pairs reads
no gold answer.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..scoring.errors import SettingsError
from ..scoring.records import NO_SYSTEM
from ..study.anchored import TASK
from ..study.identity import is_other_unit
from .shown_judge import marked, split_version
from .tasks import Graded
from .template import Template, is_named, load_template, read_template, template_names
from .units import graded

if TYPE_CHECKING:
    from ..study import Study
    from ..study.records import StoredAnnotation

__all__ = ["TASK", "Catalogue", "keep_template"]

_FILES = ("config.xml", "template.toml", "instructions.md")


class Catalogue:
    """Looks up items and templates of one study."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._pairs: dict[str, Graded] | None = None
        self._exported: set[str] | None = None
        self._units: dict[str, dict[str, Graded]] = {}
        self._templates: dict[tuple[str, str], Template | None] = {}

    def template(self, name: object, version: object) -> Template | None:
        """The template that a task was made with, None where that version is not there."""
        if not isinstance(name, str) or not isinstance(version, str):
            return None
        key = (name, version)
        if key not in self._templates:
            self._templates[key] = self._load(name, version)
        return self._templates[key]

    def _load(self, name: str, version: str) -> Template | None:
        own, judge = split_version(version)
        if not is_named(name, own):
            return None
        page: Template | None
        if name in template_names():
            page = load_template(name)
            page = page if page.version == own else None
        else:
            folder = _folder(self._study.path, name, own)
            page = read_template(folder) if folder.is_dir() else None
        return page if page is None or judge is None else marked(page, judge)

    def find(self, item_id: str, page: Template | None) -> Graded | None:
        """What a task with that item id asks about; None where the study does not have it."""
        if page is not None and page.unit != "pair":
            if page.name not in self._units:
                self._units[page.name] = {one.item_id: one for one in graded(self._study, page)}
            return self._units[page.name].get(item_id)
        if page is None and is_other_unit(item_id):
            return self._handed_out(item_id)
        if self._pairs is None:
            # What an item shows is not needed to join its labels.
            self._pairs = {
                item.item_id: Graded(
                    item.item_id, item.question_id, item.system, item.content_sha256, {}
                )
                for item in self._study.items()
            }
        return self._pairs.get(item_id)

    def _handed_out(self, item_id: str) -> Graded | None:
        """Something that was exported, of which only the id is known without its template."""
        if self._exported is None:
            self._exported = {row.item_id for row in self._study.ledger.exported()}
        return Graded(item_id, "", NO_SYSTEM, "", {}) if item_id in self._exported else None

    def about(self, annotation: StoredAnnotation) -> tuple[Template | None, Graded | None]:
        """The template and the item of a stored annotation."""
        task: Mapping[str, object] = annotation.raw.get(TASK) or {}
        page = self.template(task.get("template"), task.get("version"))
        return page, self.find(annotation.item_id, page)

    def targets(self, annotation: StoredAnnotation) -> set[str]:
        """The items that an annotation can have a rating of."""
        _, one = self.about(annotation)
        if one is None or not one.rows:
            return {annotation.item_id}
        return {annotation.item_id, *(item for ids in one.rows.values() for item in ids)}


def keep_template(study_path: Path, source: str | Path, page: Template) -> None:
    """Keep a copy of a user's own template with the study, by which its labels are read later.

    Raises
    ------
    SettingsError
        When there is another one of that name and version already.
    """
    if page.name in template_names():
        return
    origin = Path(source)
    origin = origin.parent if origin.name == "template.toml" else origin
    folder = _folder(study_path, page.name, page.version)
    if folder.is_dir():
        if any((folder / name).read_bytes() != (origin / name).read_bytes() for name in _FILES):
            raise SettingsError(
                f"template {page.name}, version {page.version}, was used in this study before and"
                " was another one",
                cure="give it another version in template.toml",
            )
        return
    partial = folder.with_name(f".{folder.name}.part")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name in _FILES:
            shutil.copyfile(origin / name, partial / name)
        partial.rename(folder)
    except OSError as error:
        raise SettingsError(
            f"the template can't be kept in {folder.parent}: {error.strerror or error}",
            cure="make the study's folder writable",
        ) from None


def _folder(study_path: Path, name: str, version: str) -> Path:
    return study_path / "templates" / f"{name}@{version}"
