"""Samples with their inclusion probabilities, tasks handed out, annotations brought back."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..scoring.errors import StudyError
from . import schema
from .database import Database, json_text
from .records import ExportedTask, FrameItem, Sample, StoredAnnotation, now

__all__ = ["SampleLog"]


class SampleLog(Database):
    """Samples, exported tasks and annotations."""

    def add_sample(self, sample: Sample, frame: Sequence[FrameItem] = ()) -> None:
        """Keep a sample under its id.

        Parameters
        ----------
        frame
            Every item that could have been drawn, the drawn ones too. Without it no figure can use
            the sample together with another one.

        Raises
        ------
        StudyError
            When the id is taken by another sample.
        """
        with self.transaction() as connection:
            known = self._sample(sample.sample_id)
            if known is not None:
                if known == sample:
                    return
                raise StudyError(
                    f"there is another sample {sample.sample_id!r} already",
                    cure="give the new one another name",
                )
            row = connection.execute(
                "INSERT INTO sample VALUES (NULL, ?, ?, ?, ?, ?, ?)",
                (
                    sample.sample_id,
                    sample.purpose,
                    sample.design,
                    sample.seed,
                    json_text(sample.settings),
                    now(),
                ),
            )
            connection.executemany(
                "INSERT INTO sample_item VALUES (?, ?, ?, ?)",
                (
                    (row.lastrowid, position, item_id, probability)
                    for position, (item_id, probability) in enumerate(sample.items)
                ),
            )
            if frame:
                for statement in schema.FRAME_TABLE:
                    connection.execute(statement)
                connection.executemany(
                    "INSERT INTO sample_frame VALUES (?, ?, ?, ?)",
                    (
                        (row.lastrowid, f.item_id, json.dumps(f.stratum), f.probability)
                        for f in frame
                    ),
                )

    def sample(self, sample_id: str) -> Sample:
        """The sample of that id.

        Raises
        ------
        StudyError
            When there is none; the message names those that are there.
        """
        found = self._sample(sample_id)
        if found is None:
            names = [row[0] for row in self.query("SELECT sample_id FROM sample")]
            there = f"the study has {', '.join(names)}" if names else "the study has none yet"
            raise StudyError(
                f"there is no sample {sample_id!r}", cure=f"{there}; draw one with accord sample"
            )
        return found

    def samples(self) -> list[Sample]:
        """All samples, in the order they were drawn."""
        names = self.query("SELECT sample_id FROM sample ORDER BY sample_key")
        return [self.sample(name) for (name,) in names]

    def frame(self, sample_id: str) -> list[FrameItem]:
        """Every item that the sample could have drawn; empty where that is not known."""
        if not self.query("SELECT 1 FROM sqlite_schema WHERE name = 'sample_frame'"):
            return []
        rows = self.query(
            "SELECT f.item_id, f.stratum, f.probability FROM sample_frame AS f "
            "JOIN sample AS s USING (sample_key) WHERE s.sample_id = ? ORDER BY f.item_id",
            (sample_id,),
        )
        return [FrameItem(item, tuple(json.loads(s)), p) for item, s, p in rows]

    def _sample(self, sample_id: str) -> Sample | None:
        rows = self.query(
            "SELECT sample_key, purpose, design, seed, settings FROM sample WHERE sample_id = ?",
            (sample_id,),
        )
        if not rows:
            return None
        key, purpose, design, seed, settings = rows[0]
        items = self.query(
            "SELECT item_id, probability FROM sample_item WHERE sample_key = ? ORDER BY position",
            (key,),
        )
        return Sample(
            sample_id,
            purpose,
            design,
            seed,
            json.loads(settings),
            tuple((item_id, probability) for item_id, probability in items),
        )

    def add_exported(self, tasks: Sequence[ExportedTask]) -> None:
        """Keep tasks that were handed out."""
        at = now()
        with self.transaction() as connection:
            connection.executemany(
                "INSERT INTO exported VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        t.sample_id,
                        t.item_id,
                        t.content_sha256,
                        t.template,
                        t.template_version,
                        t.target,
                        t.project_id,
                        t.task_id,
                        at,
                    )
                    for t in tasks
                ),
            )

    def exported(self, sample_id: str | None = None) -> list[ExportedTask]:
        """Tasks that were handed out, of all samples or of one, in order."""
        rows = self.query(
            "SELECT sample_id, item_id, content_sha256, template, template_version, target, "
            "project_id, task_id FROM exported WHERE ? IS NULL OR sample_id = ? "
            "ORDER BY exported_key",
            (sample_id, sample_id),
        )
        return [ExportedTask(*row) for row in rows]

    def add_annotations(self, annotations: Sequence[StoredAnnotation]) -> int:
        """Keep annotations; a version that is there already is left alone.

        Returns
        -------
        int
            How many were new.
        """
        at = now()
        with self.transaction() as connection:
            (before,) = connection.execute("SELECT count(*) FROM annotation").fetchone()
            connection.executemany(
                "INSERT INTO annotation VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (unique_id, updated_at) DO NOTHING",
                (
                    (
                        a.unique_id,
                        a.updated_at,
                        a.item_id,
                        a.content_sha256,
                        a.sample_id,
                        a.annotator,
                        json.dumps(a.raw),
                        a.project_id,
                        a.task_id,
                        a.source,
                        at,
                    )
                    for a in annotations
                ),
            )
            (after,) = connection.execute("SELECT count(*) FROM annotation").fetchone()
        return int(after - before)

    def annotated_in(self) -> dict[tuple[str, str], frozenset[str | None]]:
        """``(item, annotator)`` → the samples in whose tasks that person graded the item."""
        found: dict[tuple[str, str], set[str | None]] = {}
        for item, annotator, sample in self.query(
            "SELECT DISTINCT item_id, annotator, sample_id FROM annotation"
        ):
            found.setdefault((item, annotator), set()).add(sample)
        return {key: frozenset(samples) for key, samples in found.items()}

    def annotations(self, sample_id: str | None = None) -> list[StoredAnnotation]:
        """Every annotation version ever imported, of all samples or of one, in order."""
        rows = self.query(
            "SELECT unique_id, updated_at, item_id, content_sha256, sample_id, annotator, raw, "
            "project_id, task_id, source FROM annotation "
            "WHERE ? IS NULL OR sample_id = ? ORDER BY annotation_key",
            (sample_id, sample_id),
        )
        return [
            StoredAnnotation(
                unique_id=row[0],
                updated_at=row[1],
                item_id=row[2],
                content_sha256=row[3],
                sample_id=row[4],
                annotator=row[5],
                raw=json.loads(row[6]),
                project_id=row[7],
                task_id=row[8],
                source=row[9],
            )
            for row in rows
        ]
