"""Judge prompts: templates with named variables, and the messages they become for one item.

A prompt is Markdown with variables in double braces. The texts that are graded are *fenced*: each
stands between two lines with a code that occurs in none of them, so that no text can end its own
fence and speak as the prompt. A prompt may begin with the heading ``# System`` and continue under
``# User``; otherwise all of it is the user's message.

==================  ==============================================================================
variable            what it becomes
==================  ==============================================================================
``{{question}}``    the question, fenced
``{{reference}}``   the reference element and its aliases, each fenced, with "or" between them
``{{predicted}}``   the predicted element, fenced; of a response, the whole answer
``{{labels}}``      the label words: "CORRECT or INCORRECT"
``{{field}}``       the key of the JSON object that holds the verdict
``{{CORRECT}}``     the word for this verdict; so for ``{{INCORRECT}}`` and ``{{UNSURE}}``
==================  ==============================================================================

A prompt about a whole response always shows the question, and no worked examples: the benchmarks
that are graded so are zero-shot, their judges too.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..templates import judging
from .errors import InputError, SettingsError
from .files import read_whole
from .records import VERDICTS, Item

__all__ = ["Message", "Prompt", "PromptTemplate", "built_in", "built_in_names", "load_template"]

Message = dict[str, str]

_TEXTS = ("question", "reference", "predicted")
_REQUIRED: Mapping[str, frozenset[str]] = {
    "verdict": frozenset({"reference", "predicted"}),
    "rating": frozenset({"question", "reference", "predicted"}),
    "components": frozenset({"question", "reference", "predicted"}),
    "refusal": frozenset({"question", "predicted"}),
}
_EXAMPLE = re.compile(
    r"^\W*(?:worked\s+)?(?:examples?|demonstrations?|shots?)\b\W*(?:\d+\W*)?$"
    r"|^\W*(?:example|demonstration|shot)\s*#?\d",
    re.IGNORECASE | re.MULTILINE,
)
_GRADED = re.compile(
    r"^\W*(?:rating|score|grade|decision|choice)\s*[:=][ \t]*[\"'\[(]*(?:[1-5]|[A-E]|yes|no)\b",
    re.IGNORECASE | re.MULTILINE,
)
_VARIABLES = frozenset({*_TEXTS, "field", "labels", *VERDICTS})
_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z_0-9]*)\s*\}\}")
_REMINDER = (
    "That could not be read as a verdict. Answer with exactly one of these words "
    "and nothing else: {{labels}}."
)


_NOUN: Mapping[str, str] = {
    "verdict": "verdict",
    "rating": "rating",
    "refusal": "decision",
    "components": "choice",
}


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """The text of a prompt before label words and items are filled in.

    Parameters
    ----------
    name
        Of a built-in template, or the file name of an own prompt, or ``text`` for a prompt that
        stands in the settings.
    version
        Goes up when the text changes; 0 for own prompts, whose hash tells them apart.
    unit
        What is graded: ``element`` or ``response``.
    asks
        What is asked: ``verdict``; of a response ``rating``, ``refusal`` or ``components``.
    system, user
        The two messages; ``system`` may be empty.
    variables
        The variables that the text uses. A built-in template declares them, and they are compared.
    reminder
        What is said after a reply that could not be read.

    Raises
    ------
    SettingsError
        When a variable is unknown or one that is needed is missing, all at once; or when a prompt
        about whole responses holds worked examples.
    """

    name: str
    user: str
    system: str = ""
    version: int = 0
    description: str = ""
    unit: str = "element"
    asks: str = "verdict"
    reminder: str = _REMINDER
    variables: frozenset[str] = field(default=frozenset())

    def __post_init__(self) -> None:
        used = frozenset(_VARIABLE.findall(self.system + self.user))
        unknown = sorted((used | frozenset(_VARIABLE.findall(self.reminder))) - _VARIABLES)
        if unknown:
            raise SettingsError(
                f"the prompt {self.name!r} uses unknown variables: {_braced(unknown)}",
                cure=f"known are {_braced(sorted(_VARIABLES))}",
            )
        missing = sorted(_REQUIRED[self.asks] - used)
        if missing:
            raise SettingsError(
                f"the prompt {self.name!r} has no {' and no '.join(map(_brace, missing))}",
                cure="without them the judge does not see what it grades; "
                "write each where its text belongs",
            )
        if self.variables and self.variables != used:
            odd = sorted(self.variables ^ used)
            raise SettingsError(
                f"the prompt {self.name!r} and its declared variables differ: {_braced(odd)}",
                cure="declare exactly the variables of the text",
            )
        text = f"{self.system}\n{self.user}"
        if self.unit == "response" and (_EXAMPLE.search(text) or len(_GRADED.findall(text)) > 1):
            raise SettingsError(
                f"the prompt {self.name!r} holds worked examples, and judges are asked without",
                cure="describe the scale in words, and leave the examples out",
            )
        object.__setattr__(self, "variables", used)

    @classmethod
    def from_toml(cls, text: str, table: str) -> PromptTemplate:
        """A built-in template from its two files; unknown and missing keys are refused at once."""
        values = tomllib.loads(table)
        allowed = {item.name for item in fields(cls)} - {"user", "system"}
        unknown, missing = sorted(set(values) - allowed), sorted(allowed - set(values))
        if unknown or missing:
            raise SettingsError(
                f"the prompt template {values.get('name', '?')!r} has "
                f"unknown keys {unknown} and lacks {missing}",
                cure=f"its keys are {', '.join(sorted(allowed))}",
            )
        values["variables"] = frozenset(values["variables"])
        system, user = _parts(text)
        return cls(system=system, user=user, **values)


def built_in_names() -> list[str]:
    """The names of the prompts that come with accord."""
    folder = importlib.resources.files(judging)
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    )


@lru_cache(maxsize=16)
def built_in(name: str) -> PromptTemplate:
    """The built-in prompt of this name."""
    if name not in built_in_names():
        raise SettingsError(
            f"there is no prompt named {name!r}", cure=f"built in: {', '.join(built_in_names())}"
        )
    folder = importlib.resources.files(judging)
    text = (folder / f"{name}.md").read_text(encoding="utf-8")
    return PromptTemplate.from_toml(text, (folder / f"{name}.toml").read_text(encoding="utf-8"))


def load_template(
    value: str, folder: Path | None = None, *, asks: str = "verdict"
) -> PromptTemplate:
    """The template that a judge's ``prompt`` setting means.

    Parameters
    ----------
    value
        The name of a built-in prompt, the name of a file, or the text itself (told by a variable in
        double braces or a second line).
    folder
        Where file names count from; the working directory if None.
    asks
        What the prompt must ask (see :class:`PromptTemplate`).

    Raises
    ------
    SettingsError
        When there is no such prompt or file, it can't be read, lacks a variable or asks something
        else.
    """
    own: dict[str, Any] = {"asks": asks}
    if asks != "verdict":
        own |= {"unit": "response", "reminder": _REMINDER.replace("a verdict", f"a {_NOUN[asks]}")}
    if "{{" in value or "\n" in value:
        system, user = _parts(value)
        return PromptTemplate(name="text", system=system, user=user, **own)
    if value in built_in_names():
        template = built_in(value)
        if template.asks != asks:
            raise SettingsError(
                f"the prompt {value!r} asks for a {_NOUN[template.asks]} of one {template.unit},"
                f" and a {_NOUN[asks]} is wanted",
                cure=f'write unit = "{template.unit}", or leave prompt out',
            )
        return template
    path = Path(value) if folder is None else folder / value
    try:
        text = read_whole(path).decode("utf-8-sig")
    except (InputError, UnicodeDecodeError) as error:
        why = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else "can't be read"
        raise SettingsError(
            f"the prompt {value!r} is no built-in prompt, and the file {why}",
            cure=f"name a file of the study folder, or one of {', '.join(built_in_names())}",
        ) from error
    system, user = _parts(text)
    return PromptTemplate(name=path.name, system=system, user=user, **own)


def _parts(text: str) -> tuple[str, str]:
    """System and user text. The headings count only as the first line and once thereafter."""
    text = text.replace("\r\n", "\n").strip()
    if text.startswith("# System\n"):
        system, heading, user = text.removeprefix("# System\n").partition("\n# User\n")
        if heading:
            return system.strip(), user.strip()
    return "", text


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template with its label words: ready to be filled with items.

    Parameters
    ----------
    template
        The text.
    words
        Verdict → label word, in the order offered.
    json_field
        The key that holds the verdict in a JSON reply.

    Raises
    ------
    SettingsError
        When the text never says one of the label words: the judge could not know them.
    """

    template: PromptTemplate
    words: Mapping[str, str]
    json_field: str = "verdict"
    system: str = field(init=False)
    user: str = field(init=False)
    reminder: str = field(init=False)
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        labels = _listed(list(self.words.values()))
        values = {**self.words, "labels": labels, "field": self.json_field}
        for name in ("system", "user", "reminder"):
            text = _fill(getattr(self.template, name), values, keep=_TEXTS, name=self.template.name)
            object.__setattr__(self, name, text)
        said = f"{self.system}\n{self.user}".casefold()
        unsaid = [
            word
            for word in self.words.values()
            if not re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", said)
        ]
        if unsaid:
            raise SettingsError(
                f"the prompt {self.template.name!r} never says the label words "
                f"{', '.join(map(repr, unsaid))}",
                cure="write {{labels}} into it, or give its own words: labels = "
                '{ CORRECT = "yes", INCORRECT = "no" }',
            )
        # The template with its words, not a rendering: the fences differ from item to item.
        parts = ["accord-prompt-1", self.system, self.user, self.reminder]
        digest = hashlib.sha256(json.dumps(parts).encode("utf-8")).hexdigest()
        object.__setattr__(self, "sha256", digest)

    def messages(self, item: Item) -> list[Message]:
        """What is sent for one item, which has a reference."""
        code = fence_code(item)
        texts = {
            "question": _fenced([item.question], code),
            "reference": _fenced([item.reference or "", *item.aliases], code),
            "predicted": _fenced([item.predicted], code),
        }
        user = _fill(self.user, texts, name=self.template.name)
        if not self.system:
            return [{"role": "user", "content": user}]
        return [{"role": "system", "content": self.system}, {"role": "user", "content": user}]

    def reminded(self, messages: Sequence[Message], reply: str | None) -> list[Message]:
        """The same question after a reply that could not be read."""
        again = list(messages)
        if reply and reply.strip():
            again.append({"role": "assistant", "content": _sendable(reply)})
            return [*again, {"role": "user", "content": self.reminder}]
        return again


def fence_code(item: Item) -> str:
    """The code of an item's fences, 12 hex digits that occur in none of its texts.

    Derived from the texts, so that the same item is the same request on every run (a server can
    cache it, a reply can be traced). It can't be forged all the same: whoever writes a text with a
    guessed code in it changes the hash and with it the code, and a code that occurs in a text by
    whatever luck or labour is passed over for the next one.
    """
    texts = (item.question, item.reference or "", *item.aliases, item.predicted)
    joined = "\n".join(texts).casefold()
    counter = 0
    while True:
        parts = json.dumps(["accord-fence-1", counter, *texts]).encode("ascii")
        code = hashlib.sha256(parts).hexdigest()[:12]
        if code not in joined:
            return code
        counter += 1


def _fenced(texts: Sequence[str], code: str) -> str:
    return "\nor\n".join(f"<text {code}>\n{_sendable(text)}\n</text {code}>" for text in texts)


def _sendable(text: str) -> str:
    """Text that UTF-8 can carry: half of a character that was cut in two becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _fill(text: str, values: Mapping[str, str], *, name: str, keep: Sequence[str] = ()) -> str:
    """Put the values in, in one pass: braces inside a value stay text."""
    missing = sorted(set(_VARIABLE.findall(text)) - set(values) - set(keep))
    if missing:
        raise SettingsError(
            f"the prompt {name!r} needs values for {_braced(missing)}",
            cure="offer a label word for each of them",
        )
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _brace(name: str) -> str:
    return "{{" + name + "}}"


def _braced(names: Sequence[str]) -> str:
    return ", ".join(map(_brace, names))
