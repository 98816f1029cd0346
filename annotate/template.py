"""Labelling templates: the page people grade on, its instructions, and how its answers are read.

A template is a folder: ``config.xml`` (Label Studio's labelling configuration), ``template.toml``,
``instructions.md`` with a translation ``instructions.LANGUAGE.md`` where there is one, and
``task.json`` with ``annotation.json`` as an example. Those of the package are package data; a
user's own may lie anywhere.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from ..scoring.errors import SettingsError
from ..scoring.records import REASONS, VERDICTS, Kind
from ..study.labelling_page import Control, controls_of, parsed
from ..templates import labelling
from .controls import ROLES, Answer, Reading, Unreadable, part, read
from .lint import lint, variables

__all__ = [
    "AUDIT",
    "FIELDS",
    "Answer",
    "Control",
    "Template",
    "Unit",
    "Unreadable",
    "example",
    "is_named",
    "load_template",
    "read_template",
    "template_names",
]

Unit = Literal["pair", "pairs", "response", "gold", "parse"]
"""What one task is: an item, all items of a response on one page, a response as a whole, the gold
answer of a question, a response as it was parsed."""

Scale = Literal["verdict", "audit", "ordinal", "nominal"]

AUDIT = ("OK", "ERROR", "CANNOT VERIFY")

FIELDS: Mapping[str, tuple[str, ...]] = {
    "pair": (
        "question",
        "reference",
        "also_accepted",
        "reference_note",
        "predicted",
        "predicted_note",
        "labels",
    ),
    "pairs": ("question", "references", "pairs", "missing"),
    "response": ("question", "options", "reference", "response", "response_note"),
    "gold": ("question", "about", "source_html", "gold", "gold_text"),
    "parse": ("question", "response", "response_note", "elements", "elements_note"),
}
"""Unit → what a page can show of it, each a key of the task's data."""

_KEYS = {"name", "version", "title", "unit", "scale", "shown", "controls"}
_OPTIONAL = {"kind"}
_IDENTITY = (
    "item_id",
    "content_sha256",
    "shown_sha256",
    "template",
    "template_version",
    "sample_id",
)
# Name and version are parts of ids, of a folder's name and of every rating's guideline.
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_VERSION = re.compile(r"[0-9A-Za-z.]{1,20}")
_SCALES: Mapping[str, tuple[str, ...]] = {"verdict": VERDICTS, "audit": AUDIT}


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
        By role (:data:`accord.annotate.controls.ROLES`); there is always a ``verdict``.
    unit
        What one task is.
    scale
        What the verdict is: ``verdict`` (CORRECT, INCORRECT, UNSURE), ``audit`` (OK, ERROR,
        CANNOT VERIFY), or the page's own categories, ``ordinal`` (in the page's order) or
        ``nominal``.
    kind
        The kind of rater that its labels make: ``annotator`` or ``adjudicated``.
    """

    name: str
    version: str
    title: str
    config: str = field(repr=False)
    instructions: str = field(repr=False)
    shown: tuple[str, ...]
    controls: Mapping[str, Control] = field(repr=False)
    unit: Unit = "pair"
    scale: Scale = "verdict"
    kind: Kind = "annotator"

    @property
    def guideline(self) -> str:
        """``pair@1``: what a rating made with this template is marked with."""
        return f"{self.name}@{self.version}"

    @property
    def repeated(self) -> tuple[str, ...]:
        """The fields whose entries are rows of the page."""
        return tuple(dict.fromkeys(c.over for c in self.controls.values() if c.over))

    @property
    def fields(self) -> tuple[str, ...]:
        """All keys of a task's data."""
        rows = ("rows",) if self.unit == "pairs" else ()
        return (*_IDENTITY, *rows, *self.shown)

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
        self, verdict: str, *, row: int | None = None, **more: str | Sequence[str] | int | None
    ) -> list[dict[str, Any]]:
        """The ``result`` of an annotation that says this, as Label Studio stores it.

        Parameters
        ----------
        verdict
            The verdict.
        row
            The row it stands in, on a page with a verdict a row.
        more
            What else is said, by role: ``alignment``, ``reasons``, ``comment``, …

        Raises
        ------
        SettingsError
            When a value is not among the choices of the page, or the page has no such control.
        """
        result = []
        for role, given in {"verdict": verdict, **more}.items():
            if given is None or given == () or given == []:
                continue
            if role not in self.controls:
                raise SettingsError(
                    f"the template {self.name} has no control for {role!r}",
                    cure=f"it has {', '.join(self.controls)}",
                )
            values = [str(given)] if isinstance(given, (str, int)) else list(given)
            result.append(part(role, self.controls[role], values, row))
        return result

    def read(self, result: Any) -> Answer:
        """What an annotation's ``result`` says of its task.

        Raises
        ------
        Unreadable
            As :func:`accord.annotate.controls.read`; also for a page with a verdict a row.
        """
        answer = self.read_rows(result, {}).answer
        if answer is None:
            raise Unreadable("unreadable")
        return answer

    def read_rows(self, result: Any, rows: Mapping[str, int]) -> Reading:
        """What it says of its task and of each row; ``rows``: field → how many there are.

        Raises
        ------
        Unreadable
            As :func:`accord.annotate.controls.read`.
        """
        return read(self.controls, result, rows)


def template_names() -> list[str]:
    """The names of the templates that come with accord."""
    return sorted(
        entry.name
        for entry in files(labelling).iterdir()
        if entry.is_dir() and entry.joinpath("template.toml").is_file()
    )


def is_named(name: str, version: str) -> bool:
    """Whether a template can have that name and version; a task may claim any."""
    return bool(_NAME.fullmatch(name) and _VERSION.fullmatch(version))


def load_template(name: str | Path = "pair", *, language: str | None = None) -> Template:
    """A template of the package by name, or a user's own by the path of its folder.

    Parameters
    ----------
    language
        Of the instructions: ``de`` takes ``instructions.de.md``.

    Raises
    ------
    SettingsError
        When there is none of that name, or its files are wrong; all that is wrong is named.
    """
    names = template_names()
    if str(name) in names:
        return read_template(files(labelling).joinpath(str(name)), language=language)
    folder = Path(name)
    if folder.name == "template.toml":
        folder = folder.parent
    if not folder.joinpath("template.toml").is_file():
        raise SettingsError(
            f"there is no labelling template {str(name)!r}",
            cure=f"use {', '.join(names)}, or the folder of your own",
        )
    own = read_template(folder, language=language)
    if own.name in names:
        raise SettingsError(
            f"template {folder.name}: {own.name!r} is the name of a template of accord",
            cure="give it another name in template.toml",
        )
    return own


def read_template(folder: Traversable, *, language: str | None = None) -> Template:
    """A template from its folder; checks every file of it."""
    about = folder.name
    guide = "instructions.md" if language is None else f"instructions.{language}.md"
    if language is not None and not folder.joinpath(guide).is_file():
        there = sorted(
            found[1]
            for entry in folder.iterdir()
            if (found := re.fullmatch(r"instructions\.(.+)\.md", entry.name))
        )
        raise SettingsError(
            f"template {about} has no instructions in {language!r}",
            cure=f"it has English, {', '.join(there)}" if there else "leave --language out",
        )
    try:
        values = tomllib.loads(folder.joinpath("template.toml").read_text("utf-8"))
        config = folder.joinpath("config.xml").read_text("utf-8")
        instructions = folder.joinpath(guide).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise SettingsError(f"template {about}: {error}", cure="restore its files") from None
    problems = [f"unknown key {key!r}" for key in values if key not in _KEYS | _OPTIONAL]
    problems += [f"missing key {key!r}" for key in sorted(_KEYS - set(values))]
    problems = problems or list(_wrong_values(values))
    if not problems:
        rows = ("rows",) if values["unit"] == "pairs" else ()
        problems = lint(config, (*_IDENTITY, *rows, *values["shown"]))
    if not problems:
        problems = list(_mismatches(config, values))
    if problems:
        raise SettingsError(f"template {about}: {'; '.join(problems)}", cure="correct its files")
    controls = controls_of(config)
    return Template(
        name=values["name"],
        version=values["version"],
        title=values["title"],
        config=config,
        instructions=instructions,
        shown=tuple(values["shown"]),
        controls={role: controls[name] for role, name in values["controls"].items()},
        unit=values["unit"],
        scale=values["scale"],
        kind=values.get("kind", "annotator"),
    )


def _wrong_values(values: Mapping[str, Any]) -> Iterable[str]:
    """Values of ``template.toml`` that can't be."""
    for key in ("name", "version", "title"):
        if not isinstance(values[key], str) or not values[key].strip():
            yield f"{key!r} is no text"
    if not _NAME.fullmatch(str(values["name"])):
        yield f"the name {values['name']!r} is not small letters, digits and _"
    if not _VERSION.fullmatch(str(values["version"])):
        yield f"the version {values['version']!r} is not letters, digits and points"
    choices = {"unit": tuple(FIELDS), "scale": (*_SCALES, "ordinal", "nominal")}
    for key, allowed in choices.items():
        if values[key] not in allowed:
            yield f"{key} is {values[key]!r} and can be {', '.join(allowed)}"
    if values.get("kind", "annotator") not in ("annotator", "adjudicated"):
        yield f"kind is {values['kind']!r} and can be annotator or adjudicated"
    shown, controls = values["shown"], values["controls"]
    if not isinstance(shown, list) or not all(isinstance(name, str) for name in shown):
        yield "'shown' is no list of texts"
    else:
        fields = FIELDS.get(values["unit"], ())
        known = f"has {', '.join(fields)}"
        yield from (
            f"{name!r} is no field of the unit, which {known}"
            for name in shown
            if fields and name not in fields
        )
    if not isinstance(controls, dict) or not all(isinstance(n, str) for n in controls.values()):
        yield "'controls' is no table of texts"


def _mismatches(config: str, values: Mapping[str, Any]) -> Iterable[str]:
    """Where ``template.toml`` and ``config.xml`` do not speak of the same page."""
    used = variables(parsed(config))
    yield from (f"{name!r} is shown nowhere" for name in values["shown"] if name not in used)
    controls = controls_of(config)
    roles: Mapping[str, str] = values["controls"]
    yield from (f"unknown role {role!r}" for role in roles if role not in ROLES)
    if "verdict" not in roles:
        yield "no control has the role 'verdict'"
    expected = _SCALES.get(values["scale"])
    for role, name in roles.items():
        if name not in controls:
            yield f"config.xml has no control {name!r}"
            continue
        control = controls[name]
        if role == "verdict":
            if control.kind != "choices" or control.multiple:
                yield f"the verdict {name!r} is no single choice"
            elif expected and control.values != expected:
                yield f"the verdicts are not {', '.join(expected)}"
            if bool(control.over) != (values["unit"] == "pairs"):
                yield "a verdict a row is for the unit pairs, and that unit for a verdict a row"
        elif role == "reasons" and values["scale"] == "verdict":
            if not set(control.values) <= set(REASONS):
                yield f"the reasons are not among {', '.join(REASONS)}"
    for element in parsed(config).iter():
        # Only source_html is markup of ours; any other text in it would be read as markup too.
        if element.tag.lower() == "hypertext" and element.get("value") != "$source_html":
            yield f"<HyperText> shows {element.get('value')!r} as markup; use <Text>"
    spoken = set(roles.values())
    yield from (f"the control {name!r} has no role" for name in controls if name not in spoken)


def example(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The example task and its annotation that come with a template."""
    folder = files(labelling).joinpath(name)
    task, annotation = (
        json.loads(folder.joinpath(file).read_text("utf-8"))
        for file in ("task.json", "annotation.json")
    )
    return task, annotation
