"""The ledger of a study: what costs money or people's time and can never be recomputed.

One SQLite file (WAL, foreign keys on). Each ``add_…`` is one transaction; rows are added and never
changed, and where two speak of the same thing the later one counts. One process writes at a time.
"""

from __future__ import annotations

from .material_log import MaterialLog
from .rating_log import RatingLog
from .records import (
    ExportedTask,
    FrameItem,
    GivenPair,
    InputFile,
    ProvenanceRow,
    Question,
    RatingRow,
    Response,
    Role,
    Sample,
    Status,
    StoredAnnotation,
)
from .reply_log import ReplyLog
from .sample_log import SampleLog

__all__ = [
    "ExportedTask",
    "FrameItem",
    "GivenPair",
    "InputFile",
    "Ledger",
    "ProvenanceRow",
    "Question",
    "RatingRow",
    "Response",
    "Role",
    "Sample",
    "Status",
    "StoredAnnotation",
]


class Ledger(MaterialLog, RatingLog, SampleLog, ReplyLog):
    """An open ledger; also the :class:`~accord.scoring.replies.ReplyStore` of model judges.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Ledger.create(pathlib.Path(folder) / "ledger.sqlite") as ledger:
    ...         ledger.add_ratings([RatingRow("i1", "ann", "annotator", "CORRECT")])
    1
    """
