"""Judges of whole responses: what a model, or a file of its replies, says of an answer.

A benchmark asks different things of different answers (:mod:`~accord.scoring.graded_reply`). A
judge of responses holds one judge for each thing that it can be asked; all have its name, and
verdicts are labels of their scale: ``4``, ``Yes``, ``B``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import BadRow, InputError, SettingsError
from .graded_reply import ASKED, LABELS, Asked, read_graded
from .openai_settings import OpenAISettings, prompts_of_response, refuse_unknown
from .records import Item, Judgement
from .reply_files import read_rows

if TYPE_CHECKING:
    from .judges import Judge

__all__ = ["NOT_THERE", "FileReplies", "ReplyFile", "ResponseJudge", "response_judge"]

NOT_THERE = "not in the file"


class ResponseJudge:
    """A judge of whole responses.

    Parameters
    ----------
    name
        As in tables and reports.
    judges
        What it can be asked → who answers.
    """

    def __init__(self, name: str, judges: Mapping[Asked, Judge]) -> None:
        self.name = name
        self._judges = dict(judges)
        self.labels = tuple(label for asked in self._judges for label in LABELS[asked])

    def asking(self, asked: Asked) -> Judge | None:
        """The judge that is asked this; None where this one is not to be asked."""
        return self._judges.get(asked)

    def settings(self) -> dict[str, Any]:
        """What shapes the labels, for the recipe block: no key, no user name, no password."""
        blocks = {asked: judge.settings() for asked, judge in self._judges.items()}
        first = next(iter(blocks.values()))
        shared = {
            name: value
            for name, value in first.items()
            if all(block.get(name) == value for block in blocks.values())
        }
        return {
            **shared,
            "unit": "response",
            "asked": {
                asked: {name: value for name, value in block.items() if name not in shared}
                for asked, block in blocks.items()
            },
        }

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Refuses: elements are not what it judges.

        Raises
        ------
        SettingsError
            Always.
        """
        raise SettingsError(
            f"the judge {self.name} judges whole responses, and this recipe grades elements",
            cure='write unit = "element" in its table, or leave it out (--judge names others)',
        )


@dataclass(frozen=True, slots=True)
class ReplyFile:
    """A judge's replies by item: ``name`` and ``sha256`` of the file they came from."""

    name: str
    sha256: str
    replies: Mapping[str, str | None]

    @classmethod
    def read(cls, path: Path, *, where: str) -> ReplyFile:
        """Read a file with the columns ``item_id`` and ``judge_reply``: CSV, or JSON lines.

        Raises
        ------
        InputError
            When it can't be read, lacks a column, or names an item twice.
        """
        content, rows = read_rows(path, "judge_reply", where=where)
        replies: dict[str, str | None] = {}
        bad: list[BadRow] = []
        for line, row in rows:
            item = row.get("item_id") or ""
            if not item or item in replies:
                why = f"item_id {item!r} stands twice" if item else "item_id is blank"
                bad.append(BadRow(str(path), line, why))
            replies[item] = row.get("judge_reply") or None
        if bad:
            raise InputError.from_rows(bad, cure="give each item one row")
        return cls(path.name, hashlib.sha256(content).hexdigest(), replies)


class FileReplies:
    """What a judge said of whole responses, by the replies in a file.

    Parameters
    ----------
    name
        The judge's.
    file
        Its replies.
    asked
        By which grammar the replies are read.
    """

    def __init__(self, name: str, file: ReplyFile, asked: Asked) -> None:
        self.name = name
        self.labels = LABELS[asked]
        self._asked: Asked = asked
        self._file = file
        self._replies = file.replies

    def settings(self) -> dict[str, Any]:
        """The recipe block's part."""
        return {"type": "file", "file": self._file.name, "sha256": self._file.sha256}

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """What the replies say, in order; an item that is not in the file is unscored."""
        return [self._judgement(item.item_id) for item in items]

    def _judgement(self, item_id: str) -> Judgement:
        if item_id not in self._replies:
            return Judgement(item_id, None, NOT_THERE)
        return Judgement(item_id, *read_graded(self._asked, self._replies[item_id]))


def response_judge(
    name: str, table: Mapping[str, Any], *, folder: Path | None = None, **options: Any
) -> ResponseJudge:
    """The judge of whole responses that a table ``[judge.NAME]`` describes.

    Parameters
    ----------
    table
        With ``unit = "response"``: of type ``openai``
        (:mod:`~accord.scoring.openai_settings`), or ``file`` with ``path``.
    folder
        Where file names count from.
    **options
        As for :class:`~accord.scoring.openai_judge.OpenAIJudge`.

    Raises
    ------
    SettingsError
        When a setting is unknown or can't be used; for judges that compare texts by rule, since two
        good answers need not share a word.
    InputError
        When a file of replies can't be used.
    """
    where = f"[judge.{name}]"
    kind = table.get("type")
    if kind == "openai":
        from .openai_judge import OpenAIJudge

        return ResponseJudge(
            name,
            {
                asked: OpenAIJudge(
                    OpenAISettings.from_table(name, table, folder=folder, asked=asked), **options
                )
                for asked in prompts_of_response(table, where=where)
            },
        )
    if kind == "file":
        refuse_unknown(table, frozenset({"type", "unit", "path"}), where=where)
        path = table.get("path")
        if not isinstance(path, str) or not path:
            raise SettingsError(f"{where} names no file", cure='write path = "replies.csv"')
        file = ReplyFile.read((folder or Path()) / path, where=f"judge {name}")
        return ResponseJudge(name, {asked: FileReplies(name, file, asked) for asked in ASKED})
    raise SettingsError(
        f"{where}: {kind} compares texts, and two good answers need not share a word",
        cure='write type = "openai" (or "file") with unit = "response"',
    )
