"""Lint of labelling configurations: mistakes that Label Studio takes and people then meet.

The server accepts a mistyped tag (the page shows a red box and nothing to label), two choices
with one key, and a configuration without anything to grade. It gives every choice without a key
one of its own: in a list that is folded up, or in one row of many, that is a key which changes
what nobody looks at.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Collection, Iterator

from ..study.labelling_page import parsed

__all__ = ["KNOWN_TAGS", "lint", "variables"]

_CONTROLS = frozenset(
    """bitmask bitmasklabels brush brushlabels choices datetime ellipse ellipselabels
    hypertextlabels keypoint keypointlabels labels magicwand number pairwise paragraphlabels polygon
    polygonlabels ranker rating reactcode rectangle rectanglelabels taxonomy textarea timelinelabels
    timeserieslabels vector vectorlabels videorectangle""".split()
)
_OBJECTS = frozenset(
    """audio audioplus chat hypertext image list paragraphs pdf table text timeseries
    video""".split()
)
_OTHER = frozenset(
    """bucket channel choice collapse dialog filter header label markdown multichannel pagedview
    panel relation relations repeater shortcut style view""".split()
)
KNOWN_TAGS = _CONTROLS | _OBJECTS | _OTHER
"""The tags of Label Studio 1.23, in lower case: it does not look at the case."""

_ONE_KEY = ("choice", "label", "shortcut")
_OPTIONS = {"choices": "choice"}


def lint(config: str, fields: Collection[str] | None = None) -> list[str]:
    """What is wrong with a labelling configuration, one sentence each; empty when nothing is.

    Parameters
    ----------
    config
        The XML text.
    fields
        The keys of a task's ``data``. When they are given, every ``$variable`` must be among them.

    Examples
    --------
    >>> lint('<View><Text name="t" value="$t"/><Chioces name="c" toName="t"/></View>')[0]
    'unknown tag <Chioces>'
    """
    try:
        root = parsed(config)
    except ValueError as error:
        return [str(error)]
    problems = [f"unknown tag <{tag}>" for tag in _unknown(root)]
    problems += _names(root)
    problems += _choices(root)
    problems += _hidden_keys(root)
    problems += _conditions(root)
    keys = Counter(
        element.get("hotkey", "") for element in root.iter() if element.tag.lower() in _ONE_KEY
    )
    problems += [
        f"the key {key!r} is given to {count} choices"
        for key, count in keys.items()
        if key and count > 1
    ]
    if not any(element.tag.lower() in _CONTROLS for element in root.iter()):
        problems.append("there is nothing to grade with: no control such as <Choices>")
    for element in root.iter():
        if element.tag.lower() in _OBJECTS and not element.get("value", "").startswith("$"):
            problems.append(f"<{element.tag}> has a fixed value, not a $variable of the task")
    if fields is not None:
        problems += [f"the task has no ${name}" for name in variables(root) if name not in fields]
    return problems


def variables(root: ElementTree.Element) -> list[str]:
    """The names after ``$`` in the attributes, in order: what a task's data must hold."""
    found: dict[str, None] = {}
    for element in root.iter():
        if element.tag.lower() == "style":
            continue
        for text in element.attrib.values():
            found.update(dict.fromkeys(re.findall(r"\$([A-Za-z_]\w*)", text)))
    return list(found)


def _unknown(root: ElementTree.Element) -> Iterator[str]:
    for tag in dict.fromkeys(element.tag for element in root.iter()):
        if tag.lower() not in KNOWN_TAGS:
            yield tag


def _names(root: ElementTree.Element) -> Iterator[str]:
    """Names that stand twice, and controls that point at nothing."""
    named = Counter(name for element in root.iter() if (name := element.get("name")))
    yield from (
        f"the name {name!r} stands {count} times" for name, count in named.items() if count > 1
    )
    for element in root.iter():
        tag = element.tag.lower()
        if tag not in _CONTROLS | _OBJECTS:
            continue
        if not element.get("name"):
            yield f"<{element.tag}> has no name"
        if tag in _CONTROLS:
            for target in (element.get("toName") or "").split(","):
                if target not in named:
                    control = f"<{element.tag} name={element.get('name')!r}>"
                    yield f"{control} grades {target!r}, which is not there"


def _hidden_keys(root: ElementTree.Element) -> Iterator[str]:
    """Choices that the page would give a key that can't be seen, or that acts on another row."""
    rows = {id(e) for r in root.iter() if r.tag.lower() == "repeater" for e in r.iter()}
    for element in root.iter():
        if element.tag.lower() != "choices":
            continue
        folded = element.get("layout") == "select"
        if not folded and id(element) not in rows:
            continue
        options = [child for child in element.iter() if child.tag.lower() == "choice"]
        if not options or not all(child.get("hotkey") for child in options):
            where = "a folded list" if folded else "a Repeater"
            yield (
                f"<{element.tag} name={element.get('name')!r}> stands in {where} and has choices"
                ' without a key, which the page gives one of its own; give them hotkey="f13" and on'
            )


def _conditions(root: ElementTree.Element) -> Iterator[str]:
    """What is shown only when a control says something, and that control is not there."""
    named = {element.get("name") for element in root.iter() if element.get("name")}
    for element in root.iter():
        tag = element.get("whenTagName")
        if tag and tag not in named:
            yield f"<{element.tag}> is shown when {tag!r} is chosen, which is not there"
        if element.tag.lower() == "repeater" and not element.get("on", "").startswith("$"):
            yield "<Repeater> runs over no $variable of the task"


def _choices(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        option = _OPTIONS.get(element.tag.lower())
        if option is None:
            continue
        name = element.get("name")
        values = [
            child.get("alias") or child.get("value") or ""
            for child in element.iter()
            if child.tag.lower() == option
        ]
        # Choices may also come from the task: <Choices value="$options">.
        if len(values) < 2 and not element.get("value", "").startswith("$"):
            yield f"<{element.tag} name={name!r}> has fewer than two choices"
        for value, count in Counter(values).items():
            if count > 1:
                yield f"<{element.tag} name={name!r}> has the choice {value!r} {count} times"
            if not value:
                yield f"<{element.tag} name={name!r}> has a choice without a value"
