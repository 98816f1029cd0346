"""What a model judge was asked and what it answered, and where such replies are kept.

The scoring core knows only this protocol; the study's ledger implements it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["MemoryReplies", "Reply", "ReplyKey", "ReplyStore"]


@dataclass(frozen=True, slots=True)
class ReplyKey:
    """What decides whether a question has been asked before. Equal keys are never asked twice.

    ``endpoint`` is the base URL without user name, password or query. ``parameters`` is canonical
    JSON (sorted keys) of everything sent besides the messages. ``repeat`` numbers repetitions that
    measure self-consistency, from 0.
    """

    endpoint: str
    model: str
    prompt_sha256: str
    parameters: str
    content_sha256: str
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """One raw answer of a model, kept before anything is computed from it.

    ``text`` is None when the answer held none. ``attempt`` is 0, or 1 for the one retry after an
    unreadable reply. ``latency`` is in seconds, ``created_at`` UTC in ISO 8601. Parameters that the
    endpoint refused, and that were left out of the request, are in ``omitted``.
    """

    key: ReplyKey
    text: str | None
    served_model: str | None = None
    fingerprint: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency: float | None = None
    created_at: str = ""
    attempt: int = 0
    omitted: tuple[str, ...] = ()


class ReplyStore(Protocol):
    """Keeps replies. ``save`` is one transaction; ``find`` returns the last reply of each key."""

    def find(self, keys: Sequence[ReplyKey]) -> dict[ReplyKey, Reply]: ...

    def save(self, replies: Sequence[Reply]) -> None: ...


class MemoryReplies:
    """A store that lasts as long as the process (flat files, tests)."""

    def __init__(self) -> None:
        self._replies: dict[ReplyKey, Reply] = {}

    def find(self, keys: Sequence[ReplyKey]) -> dict[ReplyKey, Reply]:
        return {key: self._replies[key] for key in keys if key in self._replies}

    def save(self, replies: Sequence[Reply]) -> None:
        self._replies.update((reply.key, reply) for reply in replies)
