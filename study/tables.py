"""The tables of a study: Parquet files that can be recomputed, and so are safe to delete.

A table is a set of parts, each with whole questions. ``tables/manifest.json`` names the parts that
count; new parts are written aside and come into force when the manifest is replaced, so a crash
leaves the former tables in force.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.errors import StudyError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Manifest", "Tables", "TablesWriter"]

MANIFEST = "manifest.json"
_ASIDE = ".new"
_PART = re.compile(r"(elements|pairs|scores-.+)\.\d+\.\d{4,}\.parquet")


@dataclass(frozen=True, slots=True)
class Manifest:
    """Which parts count, and what they were made from.

    Parameters
    ----------
    generation
        Counts the times the tables were written; part of the file names.
    state
        Hash of what the tables were made from. Another state means that they are stale.
    parts
        Table name → file names. ``scores/NAME`` is the scores table of the judge NAME.
    about
        Table name → what its metadata says: recipe block, judge settings.
    """

    generation: int
    state: str
    parts: Mapping[str, tuple[str, ...]]
    about: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "generation": self.generation,
            "state": self.state,
            "parts": {name: list(files) for name, files in self.parts.items()},
            "about": {name: dict(about) for name, about in self.about.items()},
        }


class Tables:
    """The folder ``tables/`` of a study; it need not exist."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def manifest(self) -> Manifest | None:
        """The manifest, or None when there are no tables (or none that can be used)."""
        try:
            raw = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
            found = Manifest(
                generation=int(raw["generation"]),
                state=str(raw["state"]),
                parts={name: tuple(files) for name, files in raw["parts"].items()},
                about=raw["about"],
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        files = [file for parts in found.parts.values() for file in parts]
        return found if all((self.folder / file).is_file() for file in files) else None

    def read(self, name: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """A whole table as a frame: text as objects with None, whole numbers as Int64.

        Raises
        ------
        StudyError
            When the table is not there or a part of it is damaged.
        """
        import pyarrow as pa

        chosen = None if columns is None else [*columns]
        parts: list[pa.Table] = []
        for last in (False, True):
            manifest = self.manifest()
            if manifest is None or name not in manifest.parts:
                raise StudyError(f"the study has no table {name}", cure="run accord score STUDY")
            try:
                parts = [_read(self.folder / file, chosen) for file in manifest.parts[name]]
                break
            except (OSError, pa.ArrowException) as error:
                # Another process may have replaced the tables since the manifest was read.
                if last or not isinstance(error, FileNotFoundError):
                    raise StudyError(
                        f"the table {name} can't be read: {error}",
                        cure="delete the folder tables/ and run accord score STUDY again",
                    ) from None
        return _frame(pa.concat_tables(parts))

    @contextmanager
    def writing(self, state: str) -> Iterator[TablesWriter]:
        """Write tables aside; they come into force when the block ends without an error.

        Tables of the same state that are not written again stay in force.
        """
        former = self.manifest()
        aside = self.folder / _ASIDE
        writer = TablesWriter(aside, state, former)
        try:
            with _explained(self.folder):
                shutil.rmtree(aside, ignore_errors=True)
                aside.mkdir(parents=True)
            yield writer
            manifest = writer.manifest()
            with _explained(self.folder):
                for parts in writer.parts.values():
                    for file in parts:
                        os.replace(aside / file, self.folder / file)
                _replace_text(self.folder / MANIFEST, json.dumps(manifest.to_dict(), indent=1))
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        self._tidy(manifest)

    def _tidy(self, manifest: Manifest) -> None:
        """Remove parts that no longer count; whatever else lies there is not ours."""
        kept = {file for parts in manifest.parts.values() for file in parts}
        for path in self.folder.glob("*.parquet"):
            if path.name not in kept and _PART.fullmatch(path.name):
                with contextlib.suppress(OSError):
                    path.unlink()


class TablesWriter:
    """Takes parts of tables; see :meth:`Tables.writing`."""

    def __init__(self, aside: Path, state: str, former: Manifest | None) -> None:
        self._aside = aside
        self._state = state
        self._former = former
        self._generation = former.generation + 1 if former else 1
        self.parts: dict[str, list[str]] = {}
        self._about: dict[str, Mapping[str, Any]] = {}

    def begin(self, name: str, about: Mapping[str, Any]) -> None:
        """Announce a table that may turn out to have no part; ``about`` goes in its metadata."""
        self.parts[name] = []
        self._about[name] = about

    def add(self, name: str, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> None:
        """Write rows as one part of a table that was announced."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        about = json.dumps(self._about[name], sort_keys=True, ensure_ascii=False)
        columns = {column: [row.get(column) for row in rows] for column in schema.names}
        table = pa.table(columns, schema=schema.with_metadata({"accord": about}))
        number = len(self.parts[name])
        file = f"{name.replace('/', '-')}.{self._generation}.{number:04d}.parquet"
        with _explained(self._aside.parent):
            pq.write_table(table, self._aside / file, compression="zstd")
        self.parts[name].append(file)

    def drop(self, name: str) -> None:
        """Take back a table that was announced; a former one of the same state stays in force."""
        for file in self.parts.pop(name):
            (self._aside / file).unlink(missing_ok=True)
        del self._about[name]

    def manifest(self) -> Manifest:
        """The manifest that puts the written parts into force."""
        parts = {name: tuple(files) for name, files in self.parts.items()}
        about = dict(self._about)
        if self._former is not None and self._former.state == self._state:
            parts = {**self._former.parts, **parts}
            about = {**self._former.about, **about}
        return Manifest(self._generation, self._state, parts, about)


def _read(file: Path, columns: list[str] | None) -> pa.Table:
    import pyarrow.parquet as pq

    # pq.read_table loads Arrow's datasets, which one file has no use for
    with pq.ParquetFile(file) as opened:
        return opened.read(columns=columns)


def _frame(table: pa.Table) -> pd.DataFrame:
    """Text and lists as objects with None, whole numbers as Int64, figures as floats with NaN."""
    import pandas as pd
    import pyarrow as pa

    columns: dict[str, pd.Series[Any]] = {}
    for name in table.schema.names:
        column = table.column(name)
        if pa.types.is_integer(column.type):
            values = column.fill_null(0).to_numpy().astype("int64")
            absent = column.is_null().to_numpy()
            columns[name] = pd.Series(pd.arrays.IntegerArray(values, absent))
        elif pa.types.is_floating(column.type):
            columns[name] = pd.Series(column.to_numpy(), dtype="float64")
        elif pa.types.is_string(column.type):
            columns[name] = pd.Series(column.to_numpy(), dtype=object)
        else:
            columns[name] = pd.Series(column.to_pylist(), dtype=object)
    return pd.DataFrame(columns)


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """A write that fails says so; errors of what comes between the writes are left alone."""
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"{folder.parent.name}/tables can't be written: {error.strerror or error}",
            cure="make room or make the folder writable; the former tables are in force",
        ) from error


def _replace_text(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
