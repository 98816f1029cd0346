"""The judge that asks a language model at an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .graded_reply import ASK_AGAIN
from .judge_progress import ProgressCallback
from .openai_client import RetryPolicy
from .openai_run import Question, Run, RunSummary, read_reply
from .openai_settings import OpenAISettings
from .records import INCORRECT, Item, Judgement
from .replies import Reply, ReplyKey, ReplyStore

__all__ = ["OpenAIJudge"]

_CHUNK = 20_000  # keys looked up at a time


class OpenAIJudge:
    """A language model as judge, with every reply kept and nothing asked twice.

    An element without a reference is INCORRECT without being asked: there is nothing to compare it
    with. Items that show the same texts share one question and one reply.

    Parameters
    ----------
    settings
        Checked settings; :meth:`from_table` checks them.
    replies
        Where replies are kept, before anything is computed from them.
    progress
        Told how a run gets on.
    fresh
        Ask again though replies are there. The new ones are added, and count from then on.
    retry_unscored
        Ask again where the reply that is kept could not be read.
    repeat
        Which repetition of the questions this is, from 0 (self-consistency).
    retry
        How long to insist on a reply.

    Attributes
    ----------
    summary
        What the last call of :meth:`judge` did; None before the first.
    """

    def __init__(
        self,
        settings: OpenAISettings,
        *,
        replies: ReplyStore,
        progress: ProgressCallback | None = None,
        fresh: bool = False,
        retry_unscored: bool = False,
        repeat: int = 0,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.name = settings.name
        self.labels = tuple(settings.words)
        self.summary: RunSummary | None = None
        self._settings = settings
        self._verdict_of = {word: verdict for verdict, word in settings.words.items()}
        self._replies = replies
        self._progress = progress
        self._fresh = fresh
        self._retry_unscored = retry_unscored
        self._repeat = repeat
        self._retry = retry
        self._parameters = settings.parameters_json

    @classmethod
    def from_table(
        cls, name: str, table: Mapping[str, Any], *, folder: Path | None = None, **options: Any
    ) -> OpenAIJudge:
        """A judge from its table in study.toml; ``options`` as for the class."""
        return cls(OpenAISettings.from_table(name, table, folder=folder), **options)

    def settings(self) -> dict[str, Any]:
        """What shapes the verdicts, for the recipe block: no key, no user name, no password."""
        return self._settings.block()

    def key(self, item: Item) -> ReplyKey:
        """What decides whether this has been asked before."""
        settings = self._settings
        return ReplyKey(
            endpoint=settings.endpoint,
            model=settings.model,
            prompt_sha256=settings.prompt.sha256,
            parameters=self._parameters,
            content_sha256=item.content_sha256,
            repeat=self._repeat,
        )

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """A verdict, or the reason why there is none, for each item, in order.

        Blocks until all questions are settled; may be called where an event loop is running.

        Raises
        ------
        SettingsError
            When the key's variable is not set.
        ServiceError
            When the endpoint can't be used (any more): unreachable, refused key, unknown model,
            exhausted quota, too many failures in a row. What was answered has been saved.
        KeyboardInterrupt
            After what was answered has been saved.
        """
        whole = self._settings.asked is not None
        keys = [self.key(item) if whole or item.reference is not None else None for item in items]
        wanted: dict[ReplyKey, Item] = {}
        for key, item in zip(keys, items, strict=True):
            if key is not None:
                wanted.setdefault(key, item)
        read: dict[ReplyKey, tuple[str | None, str | None]] = {}
        questions = self._questions(wanted, read)
        self.summary = RunSummary(known=len(wanted) - len(questions))
        failures: dict[ReplyKey, str] = {}
        if questions:

            def on_saved(batch: Sequence[Reply]) -> None:
                for reply in batch:
                    read[reply.key] = read_reply(reply, self._settings)

            run = Run(
                self._settings,
                questions,
                store=self._replies,
                on_saved=on_saved,
                progress=self._progress,
                retry=self._retry,
            )
            run.summary.known = self.summary.known
            self.summary = run.summary
            run()
            failures = run.failures
        return [
            self._judgement(item, key, read, failures)
            for key, item in zip(keys, items, strict=True)
        ]

    def _questions(
        self,
        wanted: Mapping[ReplyKey, Item],
        read: dict[ReplyKey, tuple[str | None, str | None]],
    ) -> list[Question]:
        """What has to be asked; what is known goes into ``read``."""
        if self._fresh:
            return [Question(key, item) for key, item in wanted.items()]
        questions = []
        keys = list(wanted)
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            found = self._replies.find(chunk)
            for key in chunk:
                reply = found.get(key)
                if reply is None:
                    questions.append(Question(key, wanted[key]))
                    continue
                read[key] = label, reason = read_reply(reply, self._settings)
                if label is None and self._retry_unscored:
                    questions.append(Question(key, wanted[key]))
                elif reason in ASK_AGAIN and reply.attempt == 0:
                    # The run was interrupted between an unreadable reply and its one retry.
                    questions.append(Question(key, wanted[key], before=reply))
        return questions

    def _judgement(
        self,
        item: Item,
        key: ReplyKey | None,
        read: Mapping[ReplyKey, tuple[str | None, str | None]],
        failures: Mapping[ReplyKey, str],
    ) -> Judgement:
        if key is None:
            return Judgement(item.item_id, INCORRECT, None)
        if key not in read:
            return Judgement(item.item_id, None, f"no reply: {failures[key]}")
        label, reason = read[key]
        # a rating may lie between the labels that are offered
        verdict = None if label is None else self._verdict_of.get(label, label)
        return Judgement(item.item_id, verdict, reason)
