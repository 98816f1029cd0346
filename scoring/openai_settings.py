"""The settings of a model judge: the table ``[judge.NAME]`` with ``type = "openai"``.

``model``
    The model's name at the endpoint. Must be given.
``endpoint``
    Base URL, such as ``http://127.0.0.1:8000/v1``. Default: ``OPENAI_BASE_URL``, else OpenAI's.
``prompt``
    A built-in prompt (default ``pair``), a file of the study folder, or the text itself. With
    ``unit = "response"``: ``rating``, ``refusal`` or ``components`` for a judge that is asked this
    alone (default: whichever of the three a response needs), or a table
    ``{ rating = "FILE.md" }`` with own prompts.
``labels``
    Verdict → label word. Default CORRECT and INCORRECT. Only for elements.
``output``
    ``json`` (default): a JSON schema that allows only a label, where the endpoint has schemas.
    ``text``: the prompt decides, and the last line is read; for prompts that argue first.
``json_field``
    The key of the verdict in a JSON reply. Default ``verdict``. Only for elements.
``parameters``
    Sent with each request. Default ``temperature = 0``, ``max_tokens = 2048``.
``unit``
    What is graded: ``element`` (default) or ``response``, a whole answer.
``in_flight``
    Requests at a time. Default 16.
``timeout``
    Seconds to wait for a reply. Default 300.
``stop_after``
    Failed requests in a row that end the run. Default 10.
``api_key_env``
    The environment variable with the key. Default ``OPENAI_API_KEY``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import unquote, urlsplit

from .errors import SettingsError
from .graded_reply import ASKED, FIELDS, LABELS, Asked
from .prompts import Prompt, load_template
from .records import CORRECT, INCORRECT, VERDICTS
from .redaction import redact, refuse_secrets
from .verdict import read_verdict

__all__ = [
    "DEFAULT_ENDPOINT",
    "OpenAISettings",
    "prompts_of_response",
    "read_labels",
    "refuse_unknown",
]

DEFAULT_ENDPOINT = "https://api.openai.com/v1"

_KEYS = frozenset(
    "type model endpoint prompt labels output json_field parameters unit in_flight timeout "
    "stop_after api_key_env".split()
)
# What accord itself decides, and what would carry a key.
_OWN_PARAMETERS = frozenset(
    "model messages stream stream_options n tools tool_choice functions function_call "
    "response_format extra_headers extra_query extra_body headers".split()
)
_KEY_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")


@dataclass(frozen=True, slots=True)
class OpenAISettings:
    """Settings that have been checked. The key itself is not among them: :meth:`api_key` reads it.

    Parameters
    ----------
    endpoint
        Base URL without user name and password, as it stands in keys and reports.
    base_url
        The same with them, as requests need it; never shown.
    parameters
        Everything that is sent besides model and messages.
    asked
        What is asked of a whole response; None for a verdict on an element.
    """

    name: str
    model: str
    endpoint: str
    prompt: Prompt
    words: Mapping[str, str]
    parameters: Mapping[str, Any]
    output: Literal["json", "text"] = "json"
    json_field: str = "verdict"
    asked: Asked | None = None
    in_flight: int = 16
    timeout: float = 300.0
    stop_after: int = 10
    api_key_env: str | None = None
    base_url: str = field(default="", repr=False)

    @classmethod
    def from_table(
        cls,
        name: str,
        table: Mapping[str, Any],
        *,
        folder: Path | None = None,
        asked: Asked | None = None,
    ) -> OpenAISettings:
        """Check the table of a judge.

        Parameters
        ----------
        name
            The judge's name.
        table
            Its settings.
        folder
            Where file names count from.
        asked
            What is asked of a whole response; by default the first that the judge can be asked,
            and nothing of an element.

        Raises
        ------
        SettingsError
            Naming the setting, its value (unless it may be a key) and the cure.
        """
        where = f"[judge.{name}]"
        refuse_secrets(table, where=where)
        refuse_unknown(table, _KEYS, where=where, own_parameters=True)
        model = table.get("model")
        if not isinstance(model, str) or not model.strip():
            raise SettingsError(f"{where} names no model", cure='write model = "NAME"')
        if table.get("unit", "element") not in ("element", "response"):
            raise SettingsError(
                f"{where}: unit {table['unit']!r} is not known",
                cure='write unit = "element" or unit = "response"',
            )
        if asked is None and table.get("unit") == "response":
            asked = next(iter(prompts_of_response(table, where=where)))
        output = table.get("output", "json")
        if output not in ("json", "text"):
            raise SettingsError(
                f"{where}: output {output!r} is not known", cure='write output = "json" or "text"'
            )
        if asked is None:
            json_field = _text(table, "json_field", "verdict", where)
            words = read_labels(table, where=where)
            template = load_template(_text(table, "prompt", "pair", where), folder)
        else:
            json_field, words = FIELDS[asked], {label: label for label in LABELS[asked]}
            prompts = prompts_of_response(table, where=where)
            template = load_template(prompts[asked], folder, asks=asked)
        base_url, endpoint = _endpoint(table.get("endpoint"), where)
        return cls(
            name=name,
            model=model,
            endpoint=endpoint,
            base_url=base_url,
            prompt=Prompt(template, words, json_field),
            words=words,
            parameters=_parameters(table.get("parameters", {}), where)
            | ({"response_format": _schema(words, json_field, asked)} if output == "json" else {}),
            output=cast(Literal["json", "text"], output),
            json_field=json_field,
            asked=asked,
            in_flight=int(_number(table, "in_flight", 16, where, least=1, whole=True)),
            timeout=_number(table, "timeout", 300, where, least=0.001),
            stop_after=int(_number(table, "stop_after", 10, where, least=1, whole=True)),
            api_key_env=_key_variable(table.get("api_key_env"), where),
        )

    @property
    def parameters_json(self) -> str:
        """The parameters as canonical JSON, the form they have in the key of a reply."""
        return json.dumps(dict(self.parameters), sort_keys=True, separators=(",", ":"))

    def api_key(self) -> str | None:
        """The key, from the environment; None where there is none and none may be needed.

        Raises
        ------
        SettingsError
            When the variable that is named, or that OpenAI needs, is not set, or holds something
            that can't be a key.
        """
        variable = self.api_key_env or "OPENAI_API_KEY"
        key = os.environ.get(variable, "").strip()
        if not key:
            host = urlsplit(self.endpoint).hostname or ""
            if self.api_key_env or host.endswith("openai.com"):
                raise SettingsError(
                    f"judge {self.name}: the environment variable {variable} with the key for "
                    f"{self.endpoint} is not set",
                    cure=f"export {variable}=…",
                )
            return None
        if not key.isascii() or not key.isprintable() or " " in key:
            raise SettingsError(
                f"judge {self.name}: {variable} holds characters that no key has",
                cure="set it again, without quotes and blanks",
            )
        return key

    def credentials(self) -> tuple[str, str] | None:
        """User name and password of the base URL, or None."""
        parts = urlsplit(self.base_url)
        if parts.username is None:
            return None
        return unquote(parts.username), unquote(parts.password or "")

    def block(self) -> dict[str, Any]:
        """What shapes the verdicts, for the recipe block. Holds no key."""
        template = self.prompt.template
        return {
            "type": "openai",
            "model": self.model,
            "endpoint": self.endpoint,
            "prompt": template.name,
            "prompt_version": template.version,
            "prompt_sha256": self.prompt.sha256,
            "labels": dict(self.words),
            "output": self.output,
            "json_field": self.json_field,
            "parameters": dict(self.parameters),
            "unit": template.unit,
        }


def refuse_unknown(
    table: Mapping[str, Any], known: frozenset[str], *, where: str, own_parameters: bool = False
) -> None:
    """Refuse unknown keys of a settings table, all at once."""
    unknown = sorted(set(table) - known)
    if unknown:
        hint = "; what goes to the model belongs under parameters" if own_parameters else ""
        raise SettingsError(
            f"{where} has unknown settings: {', '.join(unknown)}",
            cure=f"known are {', '.join(sorted(known))}{hint}",
        )


def read_labels(table: Mapping[str, Any], *, where: str) -> dict[str, str]:
    """Verdict → label word, from the setting ``labels``; CORRECT and INCORRECT by default.

    Raises
    ------
    SettingsError
        When a verdict is unknown or missing, or two words can't be told apart.
    """
    labels = table.get("labels", {CORRECT: CORRECT, INCORRECT: INCORRECT})
    cure = 'write labels = { CORRECT = "yes", INCORRECT = "no" }, UNSURE if it is offered'
    if not isinstance(labels, Mapping):
        raise SettingsError(f"{where}: labels must be a table", cure=cure)
    words = {verdict: labels[verdict] for verdict in VERDICTS if verdict in labels}
    unknown = sorted(set(labels) - set(VERDICTS))
    if unknown or CORRECT not in words or INCORRECT not in words:
        what = f"unknown verdicts {unknown}" if unknown else "it needs CORRECT and INCORRECT"
        raise SettingsError(f"{where}: labels: {what}", cure=cure)
    for verdict, word in words.items():
        if not isinstance(word, str) or word != " ".join(word.split()) or not word:
            raise SettingsError(f"{where}: the label word of {verdict} is {word!r}", cure=cure)
    try:
        read_verdict(None, list(words.values()))
    except ValueError as error:
        raise SettingsError(f"{where}: {error}", cure="use words that differ") from error
    return words


def _text(table: Mapping[str, Any], key: str, default: str, where: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or not value.strip():
        raise SettingsError(f"{where}: {key} is {value!r}", cure=f'write {key} = "{default}"')
    return value


def _number(
    table: Mapping[str, Any],
    key: str,
    default: float,
    where: str,
    *,
    least: float,
    whole: bool = False,
) -> float:
    value = table.get(key, default)
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= 1e6:
        raise SettingsError(
            f"{where}: {key} is {value!r}",
            cure=f"write a {'whole ' if whole else ''}number, {least} or more",
        )
    return value


def _endpoint(value: Any, where: str) -> tuple[str, str]:
    """The base URL for requests, and without user name and password."""
    given = value is not None
    url = value if given else (os.environ.get("OPENAI_BASE_URL", "").strip() or DEFAULT_ENDPOINT)
    origin = f"{where}: endpoint" if given else "OPENAI_BASE_URL"
    cure = 'write a base URL such as "http://127.0.0.1:8000/v1"'
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        port = parts.port
    except ValueError:
        raise SettingsError(f"{origin} is no URL: {_shown(url)!r}", cure=cure) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(f"{origin} is no URL: {_shown(url)!r}", cure=cure)
    if parts.query or parts.fragment:
        raise SettingsError(f"{origin} has a part after ? or #", cure=cure)
    if given and parts.username is not None:
        raise SettingsError(
            f"{origin} holds a user name or password; settings are no place for it",
            cure="put the whole URL into the environment variable OPENAI_BASE_URL",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    bare = f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"
    return str(url), bare


def _shown(url: Any) -> str:
    """What may be shown of something that is no URL: nothing before an @, it may be a password."""
    _, at, after = redact(str(url)).rpartition("@")
    return f"…@{after}" if at else after


def _parameters(value: Any, where: str) -> dict[str, Any]:
    cure = "write parameters = { temperature = 0, max_tokens = 2048 }"
    if not isinstance(value, Mapping):
        raise SettingsError(f"{where}: parameters must be a table", cure=cure)
    taken = sorted(_OWN_PARAMETERS & set(value))
    if taken:
        raise SettingsError(
            f"{where}: parameters can't hold {', '.join(taken)}",
            cure="accord sets these itself; output chooses the response format",
        )
    given = dict(value)
    given.setdefault("temperature", 0)
    if not {"max_tokens", "max_completion_tokens"} & set(given):
        given["max_tokens"] = 2048
    try:
        json.dumps(given, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{where}: parameters: {error}", cure=cure) from error
    return given


def prompts_of_response(table: Mapping[str, Any], *, where: str) -> dict[Asked, str]:
    """What a judge of whole responses can be asked, each with its prompt.

    Raises
    ------
    SettingsError
        When ``prompt`` can't be used, or a setting is there that only judges of elements have.
    """
    for key in ("labels", "json_field"):
        if key in table:
            raise SettingsError(
                f"{where}: {key} is for judges of elements", cure="leave it out, the scale is fixed"
            )
    cure = (
        f"leave prompt out, name one of {', '.join(ASKED)}, or give own ones: "
        'prompt = { rating = "FILE.md" }'
    )
    given = table.get("prompt", {name: name for name in ASKED})
    if isinstance(given, str) and given in ASKED:
        given = {given: given}
    if not isinstance(given, Mapping) or not given:
        raise SettingsError(f"{where}: prompt can't be {str(given)[:60]!r}", cure=cure)
    unknown = sorted(set(map(str, given)) - set(ASKED))
    texts = [text for text in given.values() if isinstance(text, str) and text.strip()]
    if unknown or len(texts) < len(given):
        what = f"{unknown[0]!r} is nothing to ask" if unknown else "a prompt is no text"
        raise SettingsError(f"{where}: prompt: {what}", cure=cure)
    return {name: given[name] for name in ASKED if name in given}


def _schema(words: Mapping[str, str], json_field: str, asked: Asked | None) -> dict[str, Any]:
    """The structured-output format that allows nothing but one of the label words."""
    allowed: dict[str, Any] = {"type": "string", "enum": list(words.values())}
    if asked == "rating":
        allowed = {"type": "integer", "enum": [int(word) for word in words.values()]}
    return {
        "type": "json_schema",
        "json_schema": {
            "name": asked or "verdict",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {json_field: allowed},
                "required": [json_field],
                "additionalProperties": False,
            },
        },
    }


def _key_variable(value: Any, where: str) -> str | None:
    if value is None:
        return None
    # Settings can come from elsewhere and name the endpoint too: they must not be able to send
    # just any secret of the environment to it. The value may be a key itself: it is not shown.
    if not isinstance(value, str) or not _KEY_VARIABLE.fullmatch(value):
        raise SettingsError(
            f"{where}: api_key_env names no variable that ends in _API_KEY",
            cure='write api_key_env = "NAME_API_KEY" and export NAME_API_KEY=…',
        )
    if value == "LABEL_STUDIO_API_KEY":
        raise SettingsError(
            f"{where}: api_key_env names the key of Label Studio",
            cure="name the variable with the key of the model endpoint",
        )
    return value
