"""Labelling templates: the page people grade on, its instructions, and how its answers are read.

A template is a folder of package data: ``config.xml`` (Label Studio's labelling configuration),
``instructions.md``, ``template.toml``, and ``task.json`` with ``annotation.json`` as an example.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal

from ..scoring.errors import SettingsError
from ..scoring.records import REASONS, VERDICTS
from ..templates import labelling
from .lint import lint, parsed, variables

__all__ = ["Answer", "Control", "Template", "Unreadable", "load_template", "template_names"]

_KEYS = {"name", "version", "title", "shown", "controls"}
_ROLES = ("verdict", "alignment", "reasons", "comment")
_IDENTITY = (
    "item_id",
    "content_sha256",
    "shown_sha256",
    "template",
    "template_version",
    "sample_id",
)
_MISALIGNED = "misaligned"


@dataclass(frozen=True, slots=True)
class Control:
    """One control of the page: its name, what it grades, and what may be chosen."""

    name: str
    kind: Literal["choices", "textarea"]
    to_name: str
    values: tuple[str, ...] = ()
    multiple: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What one annotation says."""

    verdict: str
    alignment: str | None = None
    reasons: tuple[str, ...] = ()
    comment: str | None = None


class Unreadable(Exception):
    """An annotation that is no answer; ``reason`` is the name of the rule, for counting."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Template:
    """A labelling template.

    Attributes
    ----------
    name, version
        Go into every task and every rating.
    title
        What the project's title begins with.
    config
        The labelling configuration, XML.
    instructions
        Markdown.
    shown
        The fields of a task's data that a person sees.
    controls
        By role: ``verdict``, ``alignment``, ``reasons``, ``comment``.
    """

    name: str
    version: str
    title: str
    config: str = field(repr=False)
    instructions: str = field(repr=False)
    shown: tuple[str, ...]
    controls: Mapping[str, Control] = field(repr=False)

    @property
    def guideline(self) -> str:
        """``pair@1``: what a rating made with this template is marked with."""
        return f"{self.name}@{self.version}"

    @property
    def fields(self) -> tuple[str, ...]:
        """All keys of a task's data."""
        return (*_IDENTITY, *self.shown)

    @property
    def instructions_html(self) -> str:
        """The instructions as the HTML that Label Studio shows."""
        from markdown_it import MarkdownIt

        html = str(MarkdownIt("commonmark", {"html": False}).render(self.instructions)).strip()
        # Label Studio takes styles away, and its page has neither margins nor list marks.
        html = html.replace("<li>", "<li>• ")
        for end in ("</p>", "</ul>"):
            html = html.replace(f"{end}\n", f"{end}\n<br>\n")
        return html

    def answer(
        self,
        verdict: str,
        *,
        alignment: str | None = None,
        reasons: Sequence[str] = (),
        comment: str | None = None,
    ) -> list[dict[str, Any]]:
        """The ``result`` of an annotation that says this, as Label Studio stores it.

        Raises
        ------
        SettingsError
            When a value is not among the choices of the page.
        """
        given: dict[str, list[str]] = {
            "verdict": [verdict],
            "alignment": [] if alignment is None else [alignment],
            "reasons": list(reasons),
            "comment": [] if comment is None else [comment],
        }
        result = []
        for role, values in given.items():
            if not values:
                continue
            control = self.controls[role]
            wrong = [v for v in values if control.values and v not in control.values]
            if wrong:
                raise SettingsError(
                    f"{role} can't be {wrong[0]!r}", cure=f"use {', '.join(control.values)}"
                )
            key = "text" if control.kind == "textarea" else "choices"
            result.append(
                {
                    "from_name": control.name,
                    "to_name": control.to_name,
                    "type": control.kind,
                    "value": {key: values},
                }
            )
        return result

    def read(self, result: Any) -> Answer:
        """What an annotation's ``result`` says; the server checks nothing of it.

        Raises
        ------
        Unreadable
            With the reason ``no verdict``, ``several verdicts``, ``unknown verdict``, or
            ``unreadable`` for anything of another shape, a choice that the page does not have, or
            an answer to a control that it does not have.
        """
        found: dict[str, list[str]] = {role: [] for role in _ROLES}
        roles = {control.name: role for role, control in self.controls.items()}
        if not isinstance(result, list):
            raise Unreadable("unreadable")
        for part in result:
            if not isinstance(part, dict) or part.get("from_name") not in roles:
                raise Unreadable("unreadable")
            role = roles[part["from_name"]]
            control = self.controls[role]
            value = part.get("value")
            key = "text" if control.kind == "textarea" else "choices"
            texts = value.get(key) if isinstance(value, dict) else None
            if key == "text" and isinstance(texts, str):
                texts = [texts]
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise Unreadable("unreadable")
            found[role] += texts
        for role, values in found.items():
            found[role] = values = list(dict.fromkeys(values))
            allowed = self.controls[role].values
            if allowed and not set(values) <= set(allowed):
                raise Unreadable("unknown verdict" if role == "verdict" else "unreadable")
        if len(found["verdict"]) != 1:
            raise Unreadable("several verdicts" if found["verdict"] else "no verdict")
        if len(found["alignment"]) > 1:
            raise Unreadable("unreadable")
        alignment = found["alignment"][0] if found["alignment"] else None
        reasons = found["reasons"]
        if alignment == "NO" and _MISALIGNED not in reasons:
            reasons = [*reasons, _MISALIGNED]
        comment = "\n".join(text.strip() for text in found["comment"] if text.strip())
        return Answer(found["verdict"][0], alignment, tuple(reasons), comment or None)


def template_names() -> list[str]:
    """The names of the templates that come with accord."""
    return sorted(
        entry.name
        for entry in files(labelling).iterdir()
        if entry.is_dir() and entry.joinpath("template.toml").is_file()
    )


def load_template(name: str = "pair") -> Template:
    """A template of the package by name.

    Raises
    ------
    SettingsError
        When there is none of that name, or its files are wrong; all that is wrong is named.
    """
    if name not in template_names():
        raise SettingsError(
            f"there is no labelling template {name!r}", cure=f"use {', '.join(template_names())}"
        )
    return read_template(files(labelling).joinpath(name))


def read_template(folder: Traversable) -> Template:
    """A template from its folder; checks every file of it."""
    about = folder.name
    try:
        values = tomllib.loads(folder.joinpath("template.toml").read_text("utf-8"))
        config = folder.joinpath("config.xml").read_text("utf-8")
        instructions = folder.joinpath("instructions.md").read_text("utf-8")
    except (OSError, ValueError) as error:
        raise SettingsError(f"template {about}: {error}", cure="restore its files") from None
    problems = [f"unknown key {key!r}" for key in values if key not in _KEYS]
    problems += [f"missing key {key!r}" for key in sorted(_KEYS - set(values))]
    if not problems:
        problems = lint(config, (*_IDENTITY, *values["shown"]))
    if not problems:
        problems = list(_mismatches(config, values))
    if problems:
        raise SettingsError(f"template {about}: {'; '.join(problems)}", cure="correct its files")
    return Template(
        name=values["name"],
        version=values["version"],
        title=values["title"],
        config=config,
        instructions=instructions,
        shown=tuple(values["shown"]),
        controls={
            role: control
            for role, name in values["controls"].items()
            for control in [_controls(config)[name]]
        },
    )


def _mismatches(config: str, values: Mapping[str, Any]) -> Iterable[str]:
    """Where ``template.toml`` and ``config.xml`` do not speak of the same page."""
    used = variables(parsed(config))
    yield from (f"{name!r} is shown nowhere" for name in values["shown"] if name not in used)
    controls = _controls(config)
    yield from (f"unknown role {role!r}" for role in values["controls"] if role not in _ROLES)
    yield from (f"no control has the role {r!r}" for r in _ROLES if r not in values["controls"])
    for role, name in values["controls"].items():
        if name not in controls:
            yield f"config.xml has no control {name!r}"
        elif role == "verdict" and controls[name].values != VERDICTS:
            yield f"the verdicts are not {', '.join(VERDICTS)}"
        elif role == "reasons" and not set(controls[name].values) <= set(REASONS):
            yield f"the reasons are not among {', '.join(REASONS)}"


def _controls(config: str) -> dict[str, Control]:
    controls = {}
    for element in parsed(config).iter():
        tag, name = element.tag.lower(), element.get("name", "")
        if tag == "choices":
            controls[name] = Control(
                name,
                "choices",
                element.get("toName", ""),
                tuple(
                    choice.get("alias") or choice.get("value") or ""
                    for choice in element.iter()
                    if choice.tag.lower() == "choice"
                ),
                multiple=element.get("choice") == "multiple",
            )
        elif tag == "textarea":
            controls[name] = Control(name, "textarea", element.get("toName", ""))
    return controls


def example(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The example task and its annotation that come with a template."""
    folder = files(labelling).joinpath(name)
    task, annotation = (
        json.loads(folder.joinpath(file).read_text("utf-8"))
        for file in ("task.json", "annotation.json")
    )
    return task, annotation
