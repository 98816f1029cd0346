"""Asking a model judge again although it answered before: afresh, or for its self-consistency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..scoring.replies import Reply, ReplyKey, ReplyStore

__all__ = ["FreshReplies", "RepeatedReplies"]


class FreshReplies:
    """A reply store that knows only what was saved through it; everything goes on to the other.

    The old replies stay, so that drift can be measured; a run that is broken off and started again
    asks everything again.
    """

    def __init__(self, kept: ReplyStore) -> None:
        self._kept = kept
        self._asked: dict[ReplyKey, Reply] = {}

    def find(self, keys: Sequence[ReplyKey]) -> dict[ReplyKey, Reply]:
        """The replies of this run."""
        return {key: self._asked[key] for key in keys if key in self._asked}

    def save(self, replies: Sequence[Reply]) -> None:
        """Keep replies, here and in the other store."""
        self._kept.save(replies)
        self._asked.update((reply.key, reply) for reply in replies)


class RepeatedReplies:
    """A reply store that keeps what it is given as one of several repetitions."""

    def __init__(self, kept: ReplyStore, repeat: int) -> None:
        self._kept = kept
        self._repeat = repeat

    def find(self, keys: Sequence[ReplyKey]) -> dict[ReplyKey, Reply]:
        """The replies of this repetition, under the keys that were asked for."""
        inner = {replace(key, repeat=self._repeat): key for key in keys}
        found = self._kept.find(list(inner))
        return {inner[key]: replace(reply, key=inner[key]) for key, reply in found.items()}

    def save(self, replies: Sequence[Reply]) -> None:
        """Keep replies as this repetition's."""
        self._kept.save(
            [replace(reply, key=replace(reply.key, repeat=self._repeat)) for reply in replies]
        )
