"""What was brought in: files, questions, responses, given pairs, and what was done when."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .database import Database, json_text, storable
from .records import GivenPair, InputFile, ProvenanceRow, Question, Response, now

__all__ = ["MaterialLog"]


class MaterialLog(Database):
    """Inputs, provenance, questions, responses and given pairs."""

    def add_input(self, file: InputFile) -> None:
        """Note a file that was brought in."""
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO input VALUES (NULL, ?, ?, ?, ?, ?, ?)",
                (
                    storable(file.name),
                    file.role,
                    file.sha256,
                    file.rows,
                    file.added_at or now(),
                    json_text(file.options),
                ),
            )

    def inputs(self) -> list[InputFile]:
        """The files that were brought in, in order."""
        rows = self.query(
            "SELECT name, role, sha256, rows, added_at, options FROM input ORDER BY input_key"
        )
        return [
            InputFile(name, role, sha256, count, added_at, json.loads(options))
            for name, role, sha256, count, added_at, options in rows
        ]

    def add_provenance(self, action: str, detail: Mapping[str, Any]) -> None:
        """Note something that was done."""
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO provenance VALUES (NULL, ?, ?, ?)", (now(), action, json_text(detail))
            )

    def provenance(self) -> list[ProvenanceRow]:
        """What was done, in order."""
        rows = self.query("SELECT action, detail, at FROM provenance ORDER BY provenance_key")
        return [ProvenanceRow(action, json.loads(detail), at) for action, detail, at in rows]

    def add_questions(self, questions: Sequence[Question]) -> None:
        """Add questions that are not there yet."""
        with self.transaction() as connection:
            connection.executemany(
                "INSERT INTO question VALUES (NULL, ?, ?, ?, ?)",
                (
                    (
                        q.question_id,
                        q.question,
                        q.reference,
                        json_text(q.fields),
                    )
                    for q in questions
                ),
            )

    def questions(self) -> list[Question]:
        """All questions, in the order they came."""
        rows = self.query(
            "SELECT question_id, question, reference, fields FROM question ORDER BY question_key"
        )
        return [
            Question(question_id, question, reference, json.loads(fields))
            for question_id, question, reference, fields in rows
        ]

    def add_responses(self, responses: Sequence[Response]) -> None:
        """Add responses that are not there yet."""
        with self.transaction() as connection:
            connection.executemany(
                "INSERT INTO response VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        r.question_id,
                        r.system,
                        r.variant,
                        r.response,
                        r.response_is_json,
                        r.output_tokens,
                        json_text(r.fields),
                    )
                    for r in responses
                ),
            )

    def responses(self, question_ids: Sequence[str] | None = None) -> list[Response]:
        """Responses in the order they came, of all questions or of those named."""
        select = (
            "SELECT question_id, system, response, variant, response_is_json, output_tokens, "
            "fields FROM response"
        )
        if question_ids is None:
            rows = self.query(f"{select} ORDER BY response_key")
        else:
            rows = self.query(
                f"{select} WHERE question_id IN (SELECT value FROM json_each(?)) "
                "ORDER BY response_key",
                (json.dumps(list(question_ids)),),
            )
        return [
            Response(question_id, system, text, variant, bool(is_json), tokens, json.loads(fields))
            for question_id, system, text, variant, is_json, tokens, fields in rows
        ]

    def add_pairs(self, pairs: Sequence[GivenPair]) -> None:
        """Add given pairs that are not there yet."""
        with self.transaction() as connection:
            connection.executemany(
                "INSERT INTO given_pair VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        p.item_id,
                        p.question_id,
                        p.question,
                        p.reference,
                        json.dumps(p.aliases, ensure_ascii=False),
                        p.predicted,
                        p.system,
                        p.variant,
                        p.n_reference,
                        p.n_predicted,
                        p.content_sha256,
                        json_text(p.fields),
                    )
                    for p in pairs
                ),
            )

    def pairs(self) -> list[GivenPair]:
        """The given pairs, in the order they came."""
        rows = self.query(
            "SELECT item_id, question_id, question, reference, predicted, content_sha256, aliases, "
            "system, variant, n_reference, n_predicted, fields FROM given_pair ORDER BY pair_key"
        )
        return [
            GivenPair(
                item_id=row[0],
                question_id=row[1],
                question=row[2],
                reference=row[3],
                predicted=row[4],
                content_sha256=row[5],
                aliases=tuple(json.loads(row[6])),
                system=row[7],
                variant=row[8],
                n_reference=row[9],
                n_predicted=row[10],
                fields=json.loads(row[11]),
            )
            for row in rows
        ]
