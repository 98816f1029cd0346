"""Is everything in order? Versions, disk space, and the soundness of a study."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..scoring.errors import AccordError
from .identity import state_of
from .ledger import Ledger
from .provenance import versions
from .settings import FILE_NAME, Settings
from .tables import Tables

__all__ = ["Finding", "examine_judges", "examine_machine", "examine_study"]

LOW_DISK = 2 * 2**30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. ``bad`` needs a cure; ``note`` may surprise; else ``ok``."""

    name: str
    status: Literal["ok", "note", "bad"]
    detail: str
    cure: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {
            "name": self.name,
            "status": self.status,
            "detail": self.detail,
            "cure": self.cure,
        }


def examine_machine(folder: Path) -> Iterator[Finding]:
    """Versions, and the free space where ``folder`` is."""
    found = versions()
    missing = [name for name, version in found.items() if version is None]
    shown = ", ".join(f"{name} {version}" for name, version in found.items() if version)
    yield Finding("versions", "ok", shown)
    if missing:
        yield Finding(
            "packages", "bad", f"missing: {', '.join(missing)}", "install accord again with pip"
        )
    try:
        free = shutil.disk_usage(folder if os.path.isdir(folder) else Path()).free
    except OSError as error:
        yield Finding("disk", "bad", f"can't be measured: {error.strerror}", "check the disk")
        return
    low = free < LOW_DISK
    yield Finding(
        "disk",
        "note" if low else "ok",
        f"{free / 2**30:.1f} GiB free",
        "free some" if low else None,
    )


def examine_study(folder: Path) -> Iterator[Finding]:
    """Settings, ledger and tables of a study; nothing is changed."""
    settings: Settings | None = None
    try:
        settings = Settings.read(folder / FILE_NAME)
        detail = f"recipe {settings.recipe_name}, judges {', '.join(settings.judges) or 'exact'}"
        yield Finding(FILE_NAME, "ok", detail)
    except AccordError as error:
        yield Finding(FILE_NAME, "bad", error.message, error.cure)
    try:
        ledger = Ledger(folder / "ledger.sqlite")
    except AccordError as error:
        yield Finding("ledger", "bad", error.message, error.cure)
        return
    with ledger:
        damage = ledger.damage()
        if damage:
            yield Finding(
                "ledger",
                "bad",
                "; ".join(damage[:3]),
                "stop using it and restore ledger.sqlite from a backup",
            )
            return
        yield Finding("ledger", "ok", _contents(ledger))
        if not ledger.writable:
            yield Finding("folder", "note", "can't be written: the study can only be read")
        if settings is not None:
            yield _tables(folder, ledger, settings)


def examine_judges(folder: Path) -> Iterator[Finding]:
    """The endpoint of each model judge: is it there, does it take the key, has it the model?"""
    from ..scoring.openai_check import check_endpoint
    from ..scoring.openai_settings import OpenAISettings

    try:
        tables = Settings.read(folder / FILE_NAME).judges
    except AccordError:
        return  # examine_study has said so
    for name, table in tables.items():
        if table.get("type") != "openai":
            continue
        try:
            settings = OpenAISettings.from_table(name, table, folder=folder)
        except AccordError as error:
            yield Finding(f"judge {name}", "bad", error.message, error.cure)
            continue
        found = check_endpoint(settings)
        yield Finding(f"judge {name}", found.status, found.detail, found.cure)


def _contents(ledger: Ledger) -> str:
    tables = {
        "question": "questions",
        "response": "responses",
        "given_pair": "given pairs",
        "rating JOIN rater USING (rater_key) WHERE kind <> 'judge'": "ratings by people",
        "rating JOIN rater USING (rater_key) WHERE kind = 'judge'": "ratings by judges",
        "reply": "replies",
        "sample": "samples",
        "annotation": "annotations",
    }
    counts = ", ".join(f"(SELECT count(*) FROM {table})" for table in tables)
    (row,) = ledger.query(f"SELECT {counts}")
    return "sound; " + ", ".join(
        f"{count} {name}" for count, name in zip(row, tables.values(), strict=True)
    )


def _tables(folder: Path, ledger: Ledger, settings: Settings) -> Finding:
    tables = Tables(folder / "tables")
    manifest = tables.manifest()
    if manifest is None:
        there = tables.folder.exists() and any(tables.folder.iterdir())
        state = "can't be used" if there else "not made yet"
        return Finding("tables", "note", state, f"run accord score {folder}; nothing is lost")
    if manifest.state != state_of(ledger, settings.recipe()):
        return Finding(
            "tables",
            "note",
            "older than the study's inputs, settings or accord",
            f"run accord score {folder}; no judge is asked twice",
        )
    for name in manifest.parts:
        try:
            tables.read(name)
        except AccordError as error:
            return Finding("tables", "bad", error.message, error.cure)
    judges = [name.partition("/")[2] for name in manifest.parts if name.startswith("scores/")]
    return Finding("tables", "ok", f"up to date; scores by {', '.join(judges) or 'no judge yet'}")
