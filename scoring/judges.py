"""Judges: whatever gives verdicts for items. All share one protocol.

==========  ======================================================================================
type        where the verdicts come from
==========  ======================================================================================
``exact``   equality after normalisation, aliases included; offline, the default
``rouge``   ROUGE-1 F1 at or above a threshold
``openai``  a language model (:mod:`accord.scoring.openai_judge`)
``file``    a file of verdicts that were made elsewhere
==========  ======================================================================================

The last two can judge whole responses instead of elements (``unit = "response"``,
:mod:`accord.scoring.response_judge`).

An item without a reference (a predicted element that found no partner) is INCORRECT for every judge
but ``file``, which says what its file says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast, get_args

from .errors import BadRow, InputError, SettingsError
from .judge_progress import ProgressCallback
from .openai_settings import read_labels, refuse_unknown
from .records import CORRECT, INCORRECT, VERDICTS, Item, Judgement
from .redaction import refuse_secrets
from .replies import ReplyStore
from .reply_files import Row, read_rows
from .tokens import Tokenizer, normalise, rouge1_f1

__all__ = ["JUDGE_TYPES", "ExactJudge", "FileJudge", "Judge", "RougeJudge", "make_judge"]

JUDGE_TYPES = ("exact", "rouge", "openai", "file")


class Judge(Protocol):
    """Gives a verdict, or a reason why there is none, for each item."""

    @property
    def name(self) -> str:
        """How the judge is called in tables and reports."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The verdicts it can give, of CORRECT, INCORRECT and UNSURE."""
        ...

    def settings(self) -> dict[str, Any]:
        """What shapes the verdicts, for the recipe block. Never a key."""
        ...

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement an item, in the same order."""
        ...


class ExactJudge:
    """CORRECT where the predicted text equals the reference or an alias after normalisation.

    See :func:`accord.scoring.tokens.normalise` for what is made equal: the whole texts, or, for an
    element with attributes, part by part its text and each attribute's name and value. An alias
    stands for the text alone: the attributes must be right beside it, too.
    """

    labels = (CORRECT, INCORRECT)

    def __init__(self, name: str = "exact") -> None:
        self.name = name

    def settings(self) -> dict[str, Any]:
        """The recipe block's part."""
        return {"type": "exact"}

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement an item, in order."""
        return [
            Judgement(item.item_id, CORRECT if _is_equal(item) else INCORRECT) for item in items
        ]


def _is_equal(item: Item) -> bool:
    whole, parts = normalise(item.predicted), _parts(item.predicted)
    return any(whole == normalise(text) or parts == _parts(text) for text in _names(item))


def _names(item: Item) -> list[str]:
    """The reference element as it is shown under each of its names.

    An alias stands for the element's text, so the attributes go with it, unless it brings its own.
    A line that is no ``name: value`` may belong to the text itself: then the alias also stands
    alone.
    """
    if item.reference is None:
        return []
    _, *attributes = item.reference.split("\n")
    attributes = [line for line in attributes if line.strip()]
    names = [item.reference]
    for alias in item.aliases:
        if attributes and "\n" not in alias:
            names.append("\n".join([alias, *attributes]))
        if not attributes or "\n" in alias or not all(": " in line for line in attributes):
            names.append(alias)
    return names


def _parts(shown: str) -> list[str]:
    """The normalised text of an element as it is shown, and those of its attributes below it."""
    text, *attributes = shown.split("\n")
    pairs = [line.partition(": ") for line in attributes]
    return [
        normalise(text),
        *(normalise(part) for name, _, value in pairs for part in (name, value)),
    ]


class RougeJudge:
    """CORRECT where ROUGE-1 F1 with the reference, or with an alias, reaches the threshold.

    What is shown is compared, the names of attributes included; the metric ROUGE-F1 leaves them
    out, so the two differ for elements with attributes.

    Parameters
    ----------
    threshold
        In (0, 1]; ListQA's ROUGE-F1 uses 0.5.
    tokenizer, stem
        As for :func:`accord.scoring.tokens.tokenise`. With ``rouge`` a text in another script than
        Latin has no tokens, and such an item is INCORRECT.

    Raises
    ------
    SettingsError
        When the threshold or the tokenizer can't be used.
    """

    labels = (CORRECT, INCORRECT)

    def __init__(
        self,
        threshold: float = 0.5,
        *,
        name: str = "rouge",
        tokenizer: Tokenizer = "rouge",
        stem: bool = False,
    ) -> None:
        if (
            isinstance(threshold, bool)
            or not isinstance(threshold, (int, float))
            or not 0 < threshold <= 1
        ):
            raise SettingsError(
                f"judge {name}: threshold is {threshold!r}",
                cure="write a number above 0 and up to 1",
            )
        if tokenizer not in get_args(Tokenizer):
            raise SettingsError(
                f"judge {name}: tokenizer {tokenizer!r} is unknown",
                cure=f"use one of {', '.join(get_args(Tokenizer))}",
            )
        if not isinstance(stem, bool):
            raise SettingsError(f"judge {name}: stem is {stem!r}", cure="write true or false")
        self.name = name
        self._threshold = float(threshold)
        self._tokenizer: Tokenizer = tokenizer
        self._stem = stem

    def settings(self) -> dict[str, Any]:
        """The recipe block's part."""
        return {
            "type": "rouge",
            "threshold": self._threshold,
            "tokenizer": self._tokenizer,
            "stem": self._stem,
        }

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement an item, in order."""
        return [
            Judgement(item.item_id, CORRECT if self._is_near(item) else INCORRECT) for item in items
        ]

    def _is_near(self, item: Item) -> bool:
        return any(
            rouge1_f1(text, item.predicted, tokenizer=self._tokenizer, stem=self._stem)
            >= self._threshold
            for text in _names(item)
        )


class FileJudge:
    """Verdicts from a CSV or JSONL file with the columns ``item_id`` and ``verdict``.

    A blank verdict is unscored, with the file's ``reason`` if it has that column. An item that is
    not in the file is unscored too.

    Parameters
    ----------
    path
        ``.jsonl`` is read as one JSON object a line, anything else as CSV with a header. UTF-8.
    labels
        Verdict → the file's word for it; by default CORRECT, INCORRECT and UNSURE themselves.
        Capitals make no difference.

    Raises
    ------
    InputError
        When the file can't be read, lacks a column, or has unknown verdicts or repeated items: all
        such rows, with their lines.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        name: str = "file",
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._words = dict(labels) if labels else {verdict: verdict for verdict in VERDICTS}
        self.labels = tuple(self._words)
        self._path = Path(path)
        content, rows = read_rows(self._path, "verdict", where=f"judge {name}")
        self._sha256 = hashlib.sha256(content).hexdigest()
        self._verdicts = self._read(rows)

    def settings(self) -> dict[str, Any]:
        """The recipe block's part."""
        return {
            "type": "file",
            "file": self._path.name,
            "sha256": self._sha256,
            "labels": dict(self._words),
        }

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement an item, in order."""
        absent = (None, "not in the file")
        return [
            Judgement(item.item_id, *self._verdicts.get(item.item_id, absent)) for item in items
        ]

    def _read(self, rows: Iterator[tuple[int, Row]]) -> dict[str, tuple[str | None, str | None]]:
        of_word = {word.casefold(): verdict for verdict, word in self._words.items()}
        bad: list[BadRow] = []
        verdicts: dict[str, tuple[str | None, str | None]] = {}
        lines: dict[str, int] = {}
        for line, row in rows:
            item_id, word = row.get("item_id") or "", row.get("verdict") or ""
            if not item_id:
                bad.append(BadRow(str(self._path), line, "item_id is blank"))
            elif item_id in lines:
                again = f"item_id {item_id!r} stands in line {lines[item_id]} already"
                bad.append(BadRow(str(self._path), line, again))
            elif word and word.casefold() not in of_word:
                bad.append(BadRow(str(self._path), line, f"unknown verdict {word[:40]!r}"))
            elif word:
                verdicts[item_id] = (of_word[word.casefold()], None)
            else:
                verdicts[item_id] = (None, row.get("reason") or "blank")
            lines.setdefault(item_id, line)
        if bad:
            words = ", ".join(self._words.values())
            raise InputError.from_rows(
                bad, cure=f"give each item one row with one of {words}, or a blank verdict"
            )
        return verdicts


def make_judge(
    name: str,
    settings: Mapping[str, Any],
    *,
    replies: ReplyStore,
    progress: ProgressCallback | None = None,
    folder: Path | None = None,
    fresh: bool = False,
    retry_unscored: bool = False,
    repeat: int = 0,
) -> Judge:
    """The judge that a table ``[judge.NAME]`` of study.toml describes.

    Parameters
    ----------
    name
        The judge's name.
    settings
        Its table. ``type`` is ``exact``; ``rouge`` with ``threshold``, ``tokenizer``, ``stem``;
        ``file`` with ``path`` and ``labels``; or ``openai`` (see
        :mod:`accord.scoring.openai_settings`). With ``unit = "response"``: a judge of whole
        responses.
    replies
        Where the replies of a model are kept.
    progress
        Told how a run of a model gets on.
    folder
        Where file names in the settings count from: the study's folder.
    fresh, retry_unscored, repeat
        For models; see :class:`~accord.scoring.openai_judge.OpenAIJudge`.

    Raises
    ------
    SettingsError
        When a setting is unknown, missing or can't be used, or holds a key.
    InputError
        When a file of verdicts can't be used.

    Examples
    --------
    >>> from accord.scoring.replies import MemoryReplies
    >>> judge = make_judge("exact", {"type": "exact"}, replies=MemoryReplies())
    >>> judge.judge([Item("i1", "q1", "Capital of France?", "Paris", "PARIS.")])
    [Judgement(item_id='i1', verdict='CORRECT', reason=None)]
    """
    where = f"[judge.{name}]"
    refuse_secrets(settings, where=where)
    kind = settings.get("type")
    models: dict[str, Any] = {
        "replies": replies,
        "progress": progress,
        "fresh": fresh,
        "retry_unscored": retry_unscored,
        "repeat": repeat,
    }
    if kind in JUDGE_TYPES and settings.get("unit") == "response":
        from .response_judge import response_judge

        return response_judge(name, settings, folder=folder, **models)
    if kind == "exact":
        refuse_unknown(settings, frozenset({"type"}), where=where)
        return ExactJudge(name)
    if kind == "rouge":
        known = frozenset({"type", "threshold", "tokenizer", "stem"})
        refuse_unknown(settings, known, where=where)
        return RougeJudge(
            settings.get("threshold", 0.5),
            name=name,
            tokenizer=cast(Tokenizer, settings.get("tokenizer", "rouge")),
            stem=settings.get("stem", False),
        )
    if kind == "file":
        refuse_unknown(settings, frozenset({"type", "path", "labels"}), where=where)
        path = settings.get("path")
        if not isinstance(path, str) or not path:
            raise SettingsError(f"{where} names no file", cure='write path = "verdicts.csv"')
        labels = read_labels(settings, where=where) if "labels" in settings else None
        return FileJudge((folder or Path()) / path, name=name, labels=labels)
    if kind == "openai":
        from .openai_judge import OpenAIJudge

        return OpenAIJudge.from_table(name, settings, folder=folder, **models)
    raise SettingsError(
        f"{where}: type is {kind!r}", cure=f"write one of {', '.join(map(repr, JUDGE_TYPES))}"
    )
