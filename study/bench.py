"""The judges of a scoring run: who is there, and who could not go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..scoring.errors import AccordError, ServiceError, SettingsError

if TYPE_CHECKING:
    from .judging import Source
    from .tables import TablesWriter

__all__ = ["Bench"]


class Bench:
    """The judges of a run; one that can't go on leaves, and the repeats of it go with it.

    ``forget`` is told the name of each that leaves: what it gave so far is no whole figure.
    """

    def __init__(self, sources: Sequence[Source], forget: Callable[[str], None]) -> None:
        self._sources = list(sources)
        self._forget = forget
        self.failed: dict[str, AccordError] = {}

    def present(self) -> Iterator[Source]:
        """Those who are there, in order; whoever has left meanwhile is passed over."""
        for source in list(self._sources):
            if source in self._sources:
                yield source

    @contextmanager
    def watching(self, source: Source, writer: TablesWriter) -> Iterator[None]:
        """What a judge can't do ends its own part, unless it is the last one."""
        try:
            yield
        except (ServiceError, SettingsError) as error:
            name = source.judge.name
            for other in list(self._sources):
                # NAME#2 asks where NAME does; what NAME has said is whole without NAME#2
                if other is not source and not other.judge.name.startswith(f"{name}#"):
                    continue
                self._sources.remove(other)
                self.failed[other.judge.name] = error
                self._forget(other.judge.name)
                writer.drop(f"scores/{other.judge.name}")
            if not self._sources:
                raise
