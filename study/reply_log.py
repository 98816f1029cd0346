"""The raw replies of model judges in the ledger: kept before anything is computed from them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from ..scoring.replies import Reply, ReplyKey
from . import schema
from .database import Database, storable

__all__ = ["ReplyLog"]

_WANTED = """
CREATE TEMP TABLE IF NOT EXISTS wanted_reply (
    place INTEGER PRIMARY KEY, endpoint TEXT, model TEXT, prompt_sha256 TEXT, parameters TEXT,
    content_sha256 TEXT, repeat INTEGER
)
"""

_LATEST = """
SELECT w.place, r.text, r.served_model, r.fingerprint, r.finish_reason, r.prompt_tokens,
       r.completion_tokens, r.latency, r.created_at, r.attempt, r.omitted
FROM wanted_reply AS w
JOIN asked AS a ON a.endpoint = w.endpoint AND a.model = w.model
    AND a.prompt_sha256 = w.prompt_sha256 AND a.parameters = w.parameters
JOIN reply AS r ON r.reply_key = (
    SELECT max(l.reply_key) FROM reply AS l
    WHERE l.asked_key = a.asked_key AND l.content_sha256 = w.content_sha256 AND l.repeat = w.repeat
)
"""


class ReplyLog(Database):
    """The :class:`~accord.scoring.replies.ReplyStore` of a study."""

    def find(self, keys: Sequence[ReplyKey]) -> dict[ReplyKey, Reply]:
        """The last reply of each key that has one, by one join with a temporary table."""
        with self._mutex:
            try:
                return _find(self._connection, keys)
            except sqlite3.Error as error:
                raise schema.explained(error, self.path) from error

    def save(self, replies: Sequence[Reply]) -> None:
        """Keep replies, in one transaction."""
        with self.transaction() as connection:
            _save(connection, replies)


def _find(connection: sqlite3.Connection, keys: Sequence[ReplyKey]) -> dict[ReplyKey, Reply]:
    connection.execute(_WANTED)
    outer = connection.in_transaction
    if not outer:
        connection.execute("BEGIN")
    try:
        connection.execute("DELETE FROM wanted_reply")
        connection.executemany(
            "INSERT INTO wanted_reply VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    place,
                    key.endpoint,
                    key.model,
                    key.prompt_sha256,
                    key.parameters,
                    key.content_sha256,
                    key.repeat,
                )
                for place, key in enumerate(keys)
            ),
        )
        rows = connection.execute(_LATEST).fetchall()
        connection.execute("DELETE FROM wanted_reply")
    finally:
        if not outer:
            connection.execute("COMMIT")
    return {
        keys[place]: Reply(
            key=keys[place],
            text=text,
            served_model=served_model,
            fingerprint=fingerprint,
            finish_reason=finish_reason,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            latency=latency,
            created_at=created_at,
            attempt=attempt,
            omitted=tuple(json.loads(omitted)),
        )
        for (
            place,
            text,
            served_model,
            fingerprint,
            finish_reason,
            prompt_tokens,
            completion_tokens,
            latency,
            created_at,
            attempt,
            omitted,
        ) in rows
    }


def _save(connection: sqlite3.Connection, replies: Iterable[Reply]) -> None:
    """Add replies inside the caller's transaction."""
    asked: dict[tuple[str, str, str, str], int] = {}
    for reply in replies:
        key = reply.key
        what = (key.endpoint, key.model, key.prompt_sha256, key.parameters)
        if what not in asked:
            connection.execute("INSERT OR IGNORE INTO asked VALUES (NULL, ?, ?, ?, ?)", what)
            (asked[what],) = connection.execute(
                "SELECT asked_key FROM asked WHERE endpoint = ? AND model = ? "
                "AND prompt_sha256 = ? AND parameters = ?",
                what,
            ).fetchone()
        connection.execute(
            "INSERT INTO reply VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                asked[what],
                key.content_sha256,
                key.repeat,
                reply.attempt,
                _text(reply.text),
                _text(reply.served_model),
                _text(reply.fingerprint),
                _text(reply.finish_reason),
                _count(reply.prompt_tokens),
                _count(reply.completion_tokens),
                reply.latency,
                reply.created_at,
                json.dumps(list(reply.omitted)),
            ),
        )


def _text(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _count(number: int | None) -> int | None:
    """A count that a database can hold; a server may send any number."""
    return number if number is not None and abs(number) < 2**63 else None
