"""What a study's figures rest on: versions, input hashes, recipe, judges, seeds."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .ledger import Ledger
    from .settings import Settings
    from .tables import Tables

__all__ = ["PACKAGES", "collect", "versions"]

PACKAGES = (
    "krippendorff",
    "label-studio-sdk",
    "nltk",
    "numpy",
    "openai",
    "pandas",
    "pyarrow",
    "scipy",
    "statsmodels",
)
"""The packages whose version can change a figure."""


def versions() -> dict[str, str | None]:
    """Versions of accord, Python and the packages that compute; None for one that is missing."""
    from importlib.metadata import PackageNotFoundError, version

    from .. import __version__

    found: dict[str, str | None] = {"accord": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def collect(ledger: Ledger, settings: Settings, tables: Tables) -> dict[str, Any]:
    """The provenance of a study as JSON values.

    Judges' settings are those of the scores that are in force, else those of ``study.toml``.
    """
    recipe = settings.recipe()
    manifest = tables.manifest()
    judges: dict[str, Any] = {name: dict(table) for name, table in settings.judges.items()}
    if manifest is not None:
        for about in manifest.about.values():
            if "judge" in about:
                block = dict(about["judge"])
                judges[str(block.get("name"))] = block
    return {
        "versions": versions(),
        "recipe": recipe.block(),
        "recipe_sha256": recipe.sha256,
        "confidence": settings.confidence,
        "seed": settings.seed,
        "judges": {name: _without_paths(block) for name, block in judges.items()},
        "inputs": [
            {
                "name": file.name,
                "role": file.role,
                "sha256": file.sha256,
                "rows": file.rows,
                "added_at": file.added_at,
                "options": dict(file.options),
            }
            for file in ledger.inputs()
        ],
        "samples": [
            {
                "sample_id": sample.sample_id,
                "purpose": sample.purpose,
                "design": sample.design,
                "seed": sample.seed,
                "items": len(sample.items),
            }
            for sample in ledger.samples()
        ],
        "raters": ledger.raters(),
        "steps": [
            {"at": row.at, "action": row.action, **row.detail} for row in ledger.provenance()
        ],
    }


def _without_paths(value: Any) -> Any:
    """The same value with file names in place of absolute paths."""
    if isinstance(value, Mapping):
        return {key: _without_paths(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_paths(inner) for inner in value]
    if isinstance(value, str) and "\n" not in value and value.startswith(("/", "~/")):
        return value.rsplit("/", 1)[-1]
    return value
