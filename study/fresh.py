"""Asking a model judge again although it answered before."""

from __future__ import annotations

from collections.abc import Sequence

from ..scoring.replies import Reply, ReplyKey, ReplyStore

__all__ = ["FreshReplies"]


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
