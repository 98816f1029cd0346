"""What the ledger keeps, one frozen record a kind of row; plain values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from ..scoring.records import NO_SYSTEM, Kind

__all__ = [
    "ADJUDICATED",
    "GROUND_TRUTH",
    "ExportedTask",
    "FrameItem",
    "GivenPair",
    "InputFile",
    "ProvenanceRow",
    "Question",
    "RatingRow",
    "Response",
    "Role",
    "Sample",
    "Status",
    "StoredAnnotation",
    "now",
]

Status = Literal["rated", "unscored", "skipped"]
Role = Literal["questions", "responses", "pairs", "ratings", "annotations"]

ADJUDICATED = "adjudicated"
"""The rater of labels that settle what people left open; who gave each is in its annotation."""
GROUND_TRUTH = "ground-truth"
"""The rater of labels that are flagged as ground truth in Label Studio, of kind ``adjudicated``."""


def now() -> str:
    """The time, UTC, ISO 8601, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that was brought in: its name without a folder, what it held, its hash and rows."""

    name: str
    role: Role
    sha256: str
    rows: int
    added_at: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt with its reference.

    ``reference`` is list text, or JSON text of a list. ``fields`` holds what else was in the file:
    ``ordered`` (``true`` or ``false``), ``type``, ``category``, any strata, as text.
    """

    question_id: str
    question: str
    reference: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """What one system answered to one question. ``response`` may be empty; never None.

    ``response_is_json``: the text is a JSON list that is taken as parsed.
    """

    question_id: str
    system: str
    response: str
    variant: str = ""
    response_is_json: bool = False
    output_tokens: int | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GivenPair:
    """One reference element beside one predicted element, as a file gave it."""

    item_id: str
    question_id: str
    question: str
    reference: str | None
    predicted: str
    content_sha256: str
    aliases: tuple[str, ...] = ()
    system: str = NO_SYSTEM
    variant: str = ""
    n_reference: int | None = None
    n_predicted: int | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RatingRow:
    """One rater's value for one item.

    ``rating`` is None exactly when ``status`` is not ``rated``. ``guideline`` names the version of
    the instructions a person followed, or of a judge's settings. ``source`` says where the row
    came from: ``label-studio``, ``file:NAME``, ``judge``.
    """

    item_id: str
    rater: str
    kind: Kind
    rating: str | None
    status: Status = "rated"
    reasons: tuple[str, ...] = ()
    comment: str | None = None
    guideline: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """A set of items drawn for annotation.

    ``items`` are ``(item_id, inclusion probability in (0, 1])`` in the order they are presented.
    """

    sample_id: str
    purpose: str
    design: str
    seed: int
    settings: Mapping[str, Any]
    items: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class FrameItem:
    """An item that a sample could have drawn: its stratum, and the probability of being drawn.

    The probability is 0 where an extension of an earlier sample found nothing left to draw.
    """

    item_id: str
    stratum: tuple[str, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class ExportedTask:
    """One task that was handed out. ``target`` is a server's URL without credentials, or a file.

    ``project_id`` and ``task_id`` are None for files.
    """

    sample_id: str
    item_id: str
    content_sha256: str
    template: str
    template_version: str
    target: str
    project_id: int | None = None
    task_id: int | None = None


@dataclass(frozen=True, slots=True)
class StoredAnnotation:
    """One annotation as Label Studio gave it, with the e-mail replaced by its pseudonym.

    ``unique_id`` and ``updated_at`` are Label Studio's; together they name one version.
    """

    unique_id: str
    updated_at: str
    item_id: str
    content_sha256: str
    sample_id: str | None
    annotator: str
    raw: Mapping[str, Any]
    project_id: int | None = None
    task_id: int | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class ProvenanceRow:
    """One thing that was done to the study: when (UTC), what, with which settings."""

    action: str
    detail: Mapping[str, Any]
    at: str = ""
