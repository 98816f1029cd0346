"""A format that the user describes: a mapping file (TOML or JSON) for any table or JSON lines.

::

    list = "all-of"                # or "any-of", "text"
    [questions]                    # our columns = the file's fields; a dot goes into an object
    question_id = "id"
    question = "q"
    reference = "gold.answers"
    strata = ["domain"]
    [element]                      # where the list holds objects instead of texts
    text = "name"
    aliases = "also"
    attributes = ["year", "club"]
    [responses]
    question_id = "id"
    system = "model"
    response = "output"

``all-of``: each text of the list is an element. ``any-of``: the texts are names of one answer: one
element with aliases. ``text``: list text, read as an answer is.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..scoring.errors import SettingsError
from ..scoring.files import read_whole
from .profile_fields import FieldError, Fields, Outside, shown
from .profile_shape import ALL_OF, ANY_OF, TEXT, Convert, Profile, Role, element

__all__ = ["is_mapping", "read_mapping"]

_RULES = {"all-of": ALL_OF, "any-of": ANY_OF, "text": TEXT}
_QUESTIONS = ("question_id", "question", "reference", "ordered", "as_of", "type", "category")
_RESPONSES = ("question_id", "question", "system", "variant", "response", "output_tokens")
_TABLES = {
    "": ("name", "list", "separator", "questions", "element", "responses"),
    "questions": (*_QUESTIONS, "source_url", "strata"),
    "element": ("text", "aliases", "attributes"),
    "responses": _RESPONSES,
}


def is_mapping(name: str) -> bool:
    """Whether ``--format`` names a mapping file and not a format."""
    return name.lower().endswith((".toml", ".json"))


def read_mapping(path: Path | str) -> Profile:
    """The format that a mapping file describes.

    Raises
    ------
    SettingsError
        When it is no TOML or JSON, has an unknown or missing key, or a value of another form.
    """
    file = Path(path)
    raw = read_whole(file, cure="name a mapping file, or a format of accord profiles")
    try:
        text = raw.decode("utf-8-sig")
        data = tomllib.loads(text) if file.suffix.lower() == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "TOML" if file.suffix.lower() == ".toml" else "JSON"
        raise SettingsError(
            f"{file.name} is no {kind}: {str(error).splitlines()[0]}",
            cure="accord profiles mapping shows an example",
        ) from None
    if not isinstance(data, dict):
        raise SettingsError(
            f"{file.name} holds no table", cure="accord profiles mapping shows an example"
        )
    return replace(_profile(file.name, data), sha256=hashlib.sha256(raw).hexdigest())


def _profile(file: str, data: Mapping[str, Any]) -> Profile:
    tables = {name: _table(file, data, name) for name in _TABLES}
    rule = data.get("list")
    if rule not in _RULES:
        raise SettingsError(
            f"{file}: list is {shown(rule)}",
            cure='say what several texts mean: list = "all-of", "any-of" or "text"',
        )
    separator = data.get("separator")
    if separator is not None and (not isinstance(separator, str) or not separator):
        raise SettingsError(
            f"{file}: separator is {shown(separator)}", cure='write it as separator = "|"'
        )
    convert: dict[Role, Convert] = {}
    fields: dict[Role, tuple[str, ...]] = {}
    questions, responses = tables["questions"], tables["responses"]
    if questions:
        _needs(file, "questions", questions, ("question", "reference"))
        convert["questions"] = _questions_of(questions, tables["element"], rule, separator)
        fields["questions"] = _named(questions)
    if responses:
        _needs(file, "responses", responses, ("response",))
        if not ("question_id" in responses or "question" in responses):
            raise SettingsError(
                f"{file}: [responses] names neither question_id nor question",
                cure="name the field that says which question is answered",
            )
        convert["responses"] = _responses_of(responses)
        fields["responses"] = _named(responses)
    if not convert:
        raise SettingsError(
            f"{file} has neither [questions] nor [responses]",
            cure="accord profiles mapping shows an example",
        )
    return Profile(
        name=str(data.get("name") or file),
        about=f"described in {file}",
        rule=_RULES[rule],
        convert=convert,
        fields=fields,
    )


def _table(file: str, data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """One table of the file, its keys known and its values names of fields."""
    table = data if not name else data.get(name, {})
    where = f"[{name}]" if name else "the file"
    if not isinstance(table, Mapping):
        raise SettingsError(f"{file}: {name} is no table", cure=f"write it as [{name}]")
    for key, value in table.items():
        if key not in _TABLES[name]:
            raise SettingsError(
                f"{file}: {where} has an unknown key {key!r}",
                cure=f"known are {', '.join(_TABLES[name])}",
            )
        if not name:
            continue
        several = key in ("strata", "attributes")
        good = isinstance(value, list) if several else isinstance(value, str) and value
        if not good or (several and not all(isinstance(one, str) for one in value)):
            form = '["a", "b"]' if several else '"field"'
            raise SettingsError(
                f"{file}: {where} {key} is {shown(value)}", cure=f"write {key} = {form}"
            )
    return table


def _needs(file: str, name: str, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in keys:
        if key not in table:
            raise SettingsError(
                f"{file}: [{name}] names no {key}", cure=f'write {key} = "field of the file"'
            )


def _named(table: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields that must be there: all that the mapping file names."""
    one = [value for value in table.values() if isinstance(value, str)]
    return tuple(dict.fromkeys([*one, *table.get("strata", ())]))


def _questions_of(
    table: Mapping[str, Any], parts: Mapping[str, Any], rule: str, separator: str | None
) -> Convert:
    def convert(row: Fields) -> Iterator[Outside]:
        question = row.text(table["question"])
        cells = {
            "question": question,
            "reference": _reference(row, table["reference"], parts, rule, separator),
            **row.strata(*table.get("strata", ())),
        }
        for ours in ("ordered", "as_of", "type", "category", "source_url"):
            if ours in table:
                cells |= row.strata(**{ours: table[ours]})
        identity = row.text(table["question_id"]) if "question_id" in table else None
        yield Outside(cells, id=identity, key=(question,))

    return convert


def _responses_of(table: Mapping[str, Any]) -> Convert:
    def convert(row: Fields) -> Iterator[Outside]:
        name = table["response"]
        value = row.get(name)
        cells: dict[str, Any] = {
            "response": row.answered(name) if isinstance(value, list) else row.answer(name)
        }
        for ours in ("system", "variant", "output_tokens"):
            if ours in table:
                cells |= row.strata(**{ours: table[ours]})
        identity = row.text(table["question_id"]) if "question_id" in table else None
        key = (row.text(table["question"]),) if "question" in table else ()
        yield Outside(cells, id=identity, key=key)

    return convert


def _reference(
    row: Fields, name: str, parts: Mapping[str, Any], rule: str, separator: str | None
) -> Any:
    if rule == "text":
        return row.text(name)
    value = row.get(name)
    if separator is not None and isinstance(value, str):
        texts = [part.strip() for part in value.split(separator) if part.strip()]
        row = Fields({name: texts})
    elif isinstance(value, str) and not value.lstrip().startswith("["):
        raise FieldError(
            f"{name} {shown(value)} is no list",
            'give a JSON list, or say separator = "…" or list = "text" in the mapping file',
        )
    if not parts:
        elements = list(row.texts(name))
    else:
        elements = [_element(one, where, parts) for where, one in row.objects(name)]
    if rule == "all-of" or not elements:
        return elements
    names = [text for one in elements for text in _names(one)]
    return [element(names[0], names[1:])]


def _names(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [value["text"], *value.get("aliases", ())]


def _element(one: Fields, where: str, parts: Mapping[str, Any]) -> Any:
    aliases = one.inner_texts(where, parts["aliases"]) if "aliases" in parts else []
    attributes = [(name, text) for name, text in one.strata(*parts.get("attributes", ())).items()]
    return element(one.inner(where, parts.get("text", "text")), aliases, attributes)
