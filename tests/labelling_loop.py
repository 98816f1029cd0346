"""A study's commands, and people with accounts on a private Label Studio who grade what it sends.

For the tests that go the whole way from files to a report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from accord.annotate.connection import connect
from accord.annotate.people import Account, post_annotations, sign_up
from accord.annotate.pseudonym import Pseudonyms
from accord.annotate.server import PrivateServer

Run = Callable[..., dict[str, Any]]
"""Runs a command that must succeed, and returns its JSON: the fixture ``run_json``."""
Answers = Mapping[str, Sequence[Mapping[str, Any]]]
"""Item of a task → what one person's annotation of it says."""


class Desk:
    """People with accounts on the server, who grade what a study hands out.

    ``names`` has each one's pseudonym.
    """

    def __init__(
        self, server: PrivateServer, run: Run, study: Path, people: Sequence[str], domain: str
    ) -> None:
        self.run, self.study = run, study
        self.url, token = str(server.status().url), server.login().token
        # Accounts stay on the server: the people of each test have a domain of their own.
        addresses = {name: f"{name}@{domain}" for name in people}
        self.people: dict[str, Account] = {
            name: sign_up(self.url, token, address) for name, address in addresses.items()
        }
        self.names = {name: Pseudonyms().of(address) for name, address in addresses.items()}
        self._tasks: dict[str, int] = {}

    def hand_out(self, sample: str, template: str) -> dict[str, dict[str, Any]]:
        """Export a sample for all of the people: item of each task → the data that it shows."""
        out = self.run(
            *("export", self.study, sample, "--template", template),
            *("--per-item", len(self.people)),
        )
        assert (out["present"], out["per_item"]) == (0, len(self.people))
        with connect() as connection:
            tasks: list[Any] = [
                *connection.client.tasks.list(project=out["project_id"], fields="all")
            ]
        found = {task.data["item_id"]: dict(task.data) for task in tasks}
        assert len(found) == len(tasks) == out["added"] == out["total"]
        assert all(data["template"] == template for data in found.values())
        self._tasks |= {task.data["item_id"]: int(task.id) for task in tasks}
        return found

    def label(self, person: str, answers: Answers) -> None:
        """Post a person's annotations of tasks that were handed out."""
        own = [(self._tasks[item], result, 3.0) for item, result in answers.items()]
        assert post_annotations(self.url, self.people[person], own) == len(answers)

    def bring_back(self, *, labels: int, ratings: int) -> dict[str, Any]:
        """Import so many new annotations and ratings, each one of them a readable label."""
        back = self.run("import", self.study, "--from", "label-studio")
        assert (back["new_annotations"], back["new_ratings"]) == (labels, ratings)
        assert {rule for rule, count in back["annotations"].items() if count} == {"labelled"}
        assert (back["edited_by_others"], back["prefilled"], back["drafts"]) == (0, 0, 0)
        return back


def figures(
    results: Sequence[Mapping[str, Any]], level: str, section: str | None = None
) -> dict[tuple[str, frozenset[str]], Mapping[str, Any]]:
    """The figures of a level by name and raters: the main ones, or those of a section."""
    own = [one for one in results if (one["level"], one.get("section")) == (level, section)]
    found = {(one["name"], frozenset(one["raters"])): one for one in own}
    return found
