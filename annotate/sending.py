"""Tasks on their way to a server, a batch a request, and what arrived kept in the ledger."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from ..scoring.errors import ServiceError
from ..study.records import ExportedTask, Sample
from .connection import Connection
from .projects import Listed, Project, list_tasks
from .tasks import batches
from .template import Template

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["Sending", "exported_task", "in_turn"]

Input = TypeVar("Input")
Output = TypeVar("Output")


class Sending:
    """Sends tasks to one project and keeps in the ledger what arrived."""

    def __init__(
        self,
        study: Study,
        sample: Sample,
        template: Template,
        connection: Connection,
        project: Project,
        handed_out: Collection[str] | None = None,
    ) -> None:
        """``handed_out``: the item ids that a task of the project can have; None: any."""
        self._study, self._sample, self._template = study, sample, template
        self._handed_out = handed_out
        self._connection, self._project = connection, project
        self._recorded = {
            (row.project_id, row.task_id)
            for row in study.ledger.exported(sample.sample_id)
            if row.target == connection.url
        }

    def record(self, tasks: Sequence[Listed]) -> set[str]:
        """Keep tasks that are on the server and not yet in the ledger; return their item ids.

        A task that somebody made or changed there is none of the sample's.
        """
        project = self._project.project_id
        if self._handed_out is not None:
            tasks = [task for task in tasks if task.item_id in self._handed_out]
        new = [
            exported_task(
                self._sample,
                self._template,
                task.item_id,
                task.content_sha256,
                self._connection.url,
                project,
                task.task_id,
            )
            for task in tasks
            if (project, task.task_id) not in self._recorded
        ]
        self._study.ledger.add_exported(new)
        self._recorded |= {(project, task.task_id) for task in tasks}
        return {task.item_id for task in tasks}

    def send(self, tasks: Iterable[Mapping[str, Any]]) -> Iterator[int]:
        """Send tasks in batches; yields after each how many tasks it had.

        Raises
        ------
        ServiceError
            When a request fails. Nothing is sent after it, and what the server took of it is looked
            up and kept.
        """
        try:
            for batch, ids in in_turn(self._request, batches(tasks)):
                if len(ids) != len(batch):
                    self.record(list_tasks(self._connection, self._project))
                else:
                    self.record(
                        [
                            Listed(
                                task_id,
                                data["item_id"],
                                data["content_sha256"],
                                data["shown_sha256"],
                            )
                            for task_id, data in zip(ids, (t["data"] for t in batch), strict=True)
                        ]
                    )
                yield len(batch)
        except ServiceError as error:
            # Label Studio's import is not atomic: some tasks of a failed request may be there.
            with contextlib.suppress(ServiceError):
                self.record(list_tasks(self._connection, self._project))
            raise ServiceError(
                f"{error.message}; the export is not complete",
                cure="run the same command again: it adds what is missing",
            ) from None

    def _request(self, batch: Sequence[Mapping[str, Any]]) -> list[int]:
        """One request; the numbers that the server gave the tasks."""
        with self._connection.calling("to take tasks") as client:
            request: list[Any] = list(batch)
            answer = client.projects.import_tasks(
                id=self._project.project_id, request=request, return_task_ids=True
            )
            return [int(task_id) for task_id in getattr(answer, "task_ids", None) or ()]


def exported_task(
    sample: Sample,
    template: Template,
    item_id: str,
    content_sha256: str,
    target: str,
    project_id: int | None = None,
    task_id: int | None = None,
) -> ExportedTask:
    """The ledger's row of a task that was handed out."""
    return ExportedTask(
        sample_id=sample.sample_id,
        item_id=item_id,
        content_sha256=content_sha256,
        template=template.name,
        template_version=template.version,
        target=target,
        project_id=project_id,
        task_id=task_id,
    )


def in_turn(
    call: Callable[[Input], Output], inputs: Iterable[Input]
) -> Generator[tuple[Input, Output]]:
    """Each input with what the call gave for it, in order: one call at a time, made ahead.

    The calls wait for a server; meanwhile the caller takes in the answer before and makes the input
    after. An error of a call comes up in its turn, and no call is made after it, nor after the
    caller has left.

    Examples
    --------
    >>> list(in_turn(len, ["a", "bc"]))
    [('a', 1), ('bc', 2)]
    """
    todo: SimpleQueue[Input | None] = SimpleQueue()
    done: SimpleQueue[Output | _Failed] = SimpleQueue()
    over = Event()

    def work() -> None:
        while (one := todo.get()) is not None and not over.is_set():
            try:
                done.put(call(one))
            except BaseException as error:
                done.put(_Failed(error))
                return

    def answer() -> Output:
        found = done.get()
        if isinstance(found, _Failed):
            raise found.error
        return found

    # A daemon: who leaves with Ctrl-C does not wait for a server that says nothing.
    Thread(target=work, daemon=True, name="accord sends").start()
    sent: deque[Input] = deque()
    try:
        for one in inputs:
            todo.put(one)
            sent.append(one)
            if len(sent) > 1:
                yield sent.popleft(), answer()
        while sent:
            yield sent.popleft(), answer()
    finally:
        over.set()
        todo.put(None)


@dataclass(frozen=True, slots=True)
class _Failed:
    error: BaseException
