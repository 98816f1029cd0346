"""Ratings: every value that any rater ever gave; the latest of an item and a rater counts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from ..scoring.errors import InputError
from .database import Database, storable
from .records import RatingRow, now

__all__ = ["RatingLog"]


class RatingLog(Database):
    """Ratings and raters."""

    def add_ratings(self, ratings: Sequence[RatingRow]) -> int:
        """Add ratings; one that says what the latest of its item and rater says is not added.

        Returns
        -------
        int
            How many were added.

        Raises
        ------
        InputError
            When a rater is known under another kind, or a rating and its status contradict.
        """
        with self.transaction() as connection:
            raters = _raters(connection, ratings)
            latest = _latest(connection, ratings, raters)
            rows, at = [], now()
            for rating in ratings:
                key = (rating.item_id, raters[rating.rater])
                value = _rating_values(rating)
                if latest.get(key) != value:
                    latest[key] = value
                    rows.append((*key, *value, at))
            connection.executemany(
                "INSERT INTO rating VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )
        return len(rows)

    def rating_rows(self, *, history: bool = False) -> list[RatingRow]:
        """The latest row of each item and rater, or with ``history`` every row, in order."""
        chosen = (
            ""
            if history
            else "WHERE r.rating_key IN (SELECT max(rating_key) FROM rating "
            "GROUP BY item_id, rater_key)"
        )
        rows = self.query(
            "SELECT r.item_id, p.rater, p.kind, r.rating, r.status, r.reasons, r.comment, "
            "r.guideline, r.source FROM rating AS r JOIN rater AS p USING (rater_key) "
            f"{chosen} ORDER BY r.rating_key"
        )
        return [
            RatingRow(
                item_id=row[0],
                rater=row[1],
                kind=row[2],
                rating=row[3],
                status=row[4],
                reasons=tuple(json.loads(row[5])) if row[5] else (),
                comment=row[6],
                guideline=row[7],
                source=row[8],
            )
            for row in rows
        ]

    def raters(self) -> dict[str, str]:
        """Each rater's kind, in the order they came."""
        return dict(self.query("SELECT rater, kind FROM rater ORDER BY rater_key"))


def _raters(connection: sqlite3.Connection, ratings: Sequence[RatingRow]) -> dict[str, int]:
    known = {
        rater: (key, kind)
        for key, rater, kind in connection.execute("SELECT rater_key, rater, kind FROM rater")
    }
    for rating in ratings:
        if rating.rater not in known:
            row = connection.execute(
                "INSERT INTO rater VALUES (NULL, ?, ?)", (rating.rater, rating.kind)
            )
            known[rating.rater] = (row.lastrowid, rating.kind)
        elif known[rating.rater][1] != rating.kind:
            raise InputError(
                f"rater {rating.rater!r} is known as {known[rating.rater][1]} and can't be "
                f"{rating.kind} too",
                cure="give the other one another name",
            )
    return {rater: int(key) for rater, (key, _) in known.items()}


def _rating_values(rating: RatingRow) -> tuple[Any, ...]:
    if (rating.status == "rated") != (rating.rating is not None):
        raise InputError(
            f"item {rating.item_id!r}, rater {rating.rater!r}: status {rating.status!r} with "
            f"rating {rating.rating!r}",
            cure="a rated row has a rating, any other has none",
        )
    reasons = json.dumps(rating.reasons, ensure_ascii=True) if rating.reasons else None
    return (
        rating.rating,
        rating.status,
        reasons,
        None if rating.comment is None else storable(rating.comment),
        rating.guideline,
        storable(rating.source),  # the name of a file need not be UTF-8
    )


def _latest(
    connection: sqlite3.Connection, ratings: Sequence[RatingRow], raters: Mapping[str, int]
) -> dict[tuple[str, int], tuple[Any, ...]]:
    connection.execute(
        "CREATE TEMP TABLE IF NOT EXISTS wanted_rating (item_id TEXT, rater_key INTEGER)"
    )
    connection.execute("DELETE FROM wanted_rating")
    connection.executemany(
        "INSERT INTO wanted_rating VALUES (?, ?)",
        {(rating.item_id, raters[rating.rater]) for rating in ratings},
    )
    rows = connection.execute(
        "SELECT r.item_id, r.rater_key, r.rating, r.status, r.reasons, r.comment, r.guideline, "
        "r.source FROM wanted_rating AS w JOIN rating AS r ON r.rating_key = ("
        "SELECT max(l.rating_key) FROM rating AS l "
        "WHERE l.item_id = w.item_id AND l.rater_key = w.rater_key)"
    ).fetchall()
    connection.execute("DELETE FROM wanted_rating")
    return {(row[0], row[1]): tuple(row[2:]) for row in rows}
