"""What people can be asked about besides a pair: pages of pairs, responses, gold answers, parses.

Each is built from the study alone and has an id and a content hash of its own, so that a label is
joined by id and a text that changed is noticed.
"""

from __future__ import annotations

import hashlib
import html
import json
import urllib.parse
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..scoring.parse import parse, read_reference
from ..scoring.records import NO_SYSTEM
from ..scoring.universe import UniverseRecipe
from ..study.identity import hashed_system, system_label, unit_id
from ..study.knowledgeberg_questions import is_choice
from ..study.shown_text import answer_text, as_list, reference_text, visible
from ..study.unit_items import response_item_id
from .question_sample import gold_id
from .tasks import EMPTY, NO_REFERENCE, Graded, also_accepted
from .template import Template

if TYPE_CHECKING:
    from ..study import Study
    from ..study.records import Question, Response

__all__ = ["METRIC_OF", "as_list", "graded", "link"]

METRIC_OF = {
    "rating": "rating",
    "choice": "choice",
    "refusal": "refusal",
    "components": "grade",
    "parse": "list",
}
"""Template → the metric of SciKnowEval's questions that it is for; none has a list to parse."""


def _by_metric(study: Study) -> bool:
    return bool(study.settings.recipe_name == "sciknoweval")


def graded(
    study: Study, template: Template, questions: Collection[str] | None = None
) -> Iterator[Graded]:
    """Everything in the study that a template can be used on, of all questions or of some.

    Parameters
    ----------
    template
        Its unit is ``pairs``, ``response``, ``gold`` or ``parse``.
    questions
        Question ids.
    """
    kinds = isinstance(study.settings.recipe(), UniverseRecipe)
    if template.unit == "pairs":
        yield from _pages(study, questions)
        return
    wanted = [
        question
        for question in study.ledger.questions()
        if questions is None or question.question_id in questions
    ]
    if template.unit == "gold":
        yield from (_gold(question) for question in wanted)
        return
    metric = METRIC_OF.get(template.name) if _by_metric(study) else None
    if metric is not None:
        wanted = [one for one in wanted if one.fields.get("metric", metric) == metric]
    by_id = {question.question_id: question for question in wanted}
    for response in study.ledger.responses(list(by_id)):
        question = by_id[response.question_id]
        if kinds and not _is_asked(question, template):
            continue
        if template.unit == "response":
            yield _response(question, response, template)
        elif not response.response_is_json:
            # What was given as data was never parsed.
            yield _parse(question, response, template)


def _is_asked(question: Question, template: Template) -> bool:
    """Of KnowledgeBerg's two kinds of question, only a choice is chosen and only a list parsed."""
    if template.name == "choice":
        return is_choice(question)
    return template.unit != "parse" or not is_choice(question)


def link(url: str) -> str:
    """A source as HTML: a link where it is an http(s) address, else its text; all escaped.

    Examples
    --------
    >>> link("javascript:alert(1)")
    'Source: javascript:alert(1)'
    >>> link("https://example.org/?a=1&b=2")[:46]
    'Source: <a href="https://example.org/?a=1&amp;'
    """
    url = url.strip()
    if not url:
        return ""
    text = html.escape(visible(url))
    try:
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname
    except ValueError:
        return f"Source: {text}"
    plain = host and not any(char.isspace() or ord(char) < 33 for char in url)
    if not plain or parts.scheme.lower() not in ("http", "https") or "@" in parts.netloc:
        return f"Source: {text}"
    address = html.escape(url, quote=True)
    return f'Source: <a href="{address}" target="_blank" rel="noopener noreferrer">{text}</a>'


def _sha256(*parts: object) -> str:
    text = json.dumps(["accord-content-2", *parts], ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


# All pairs of a response on one page


def _pages(study: Study, questions: Collection[str] | None) -> Iterator[Graded]:
    frame = study.pairs()
    if questions is not None:
        frame = frame[frame["question_id"].isin(questions)]
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in frame.to_dict("records"):
        key = (row["question_id"], row["system"], row["variant"])
        groups.setdefault(key, []).append({str(name): value for name, value in row.items()})
    for (question_id, system, variant), rows in groups.items():
        # A response without elements has nothing on it to grade.
        if any(_there(row["item_id"]) for row in rows):
            yield _page(question_id, system, variant, rows)


def _page(question_id: str, system: str, variant: str, rows: list[dict[str, Any]]) -> Graded:
    references, number_of = _references(rows)
    pairs, missing, content = [], [], []
    ids: list[str] = []
    absent: list[str] = []
    beside: list[int] = []
    graded_rows = sorted((r for r in rows if _there(r["item_id"])), key=_place)
    for place, row in enumerate(graded_rows, 1):
        number = number_of.get(id(row), 0)
        ids.append(row["item_id"])
        beside.append(number)
        content.append([row["item_id"], row["content_sha256"], number])
        text = row["reference"] if number else None
        pairs.append(
            {
                "label": f"{place} of {len(graded_rows)}"
                + (f", beside reference element {number}" if number else ""),
                "reference": visible(text or ""),
                "reference_note": NO_REFERENCE if text is None else ("" if text.strip() else EMPTY),
                "also_accepted": also_accepted(row["aliases"]),
                "predicted": visible(row["predicted"]),
                "predicted_note": "" if row["predicted"].strip() else EMPTY,
            }
        )
    whose = hashed_system(system, variant)
    for row in rows:
        if not _there(row["item_id"]):
            number = number_of[id(row)]
            absent.append(unit_id("missing", question_id, whose, number, row["reference"]))
            content.append([number, row["reference"]])
            missing.append(
                {
                    "label": f"reference element {number}: no element of the answer was matched",
                    "reference": visible(row["reference"]),
                }
            )
    question = rows[0]["question"]
    digest = _sha256("pairs", question, references, content)
    return Graded(
        item_id=unit_id("pairs", question_id, whose, ids),
        question_id=question_id,
        system=system_label(system, variant),
        content_sha256=digest,
        shown={
            "question": visible(question),
            "references": "\n".join(
                f"{number}. {_indented(text)}" for number, text in enumerate(references, 1)
            ),
            "pairs": pairs,
            "missing": missing,
        },
        said=tuple(row["predicted"] for row in graded_rows),
        rows={"pairs": tuple(ids), "missing": tuple(absent)},
        beside=tuple(beside),
        n_reference=len(references),
    )


def _references(rows: list[dict[str, Any]]) -> tuple[list[str], dict[int, int]]:
    """The reference elements of a response, and the number (from 1) of each row's own one."""
    with_one = [row for row in rows if row["reference"] is not None]
    if all(_there(row["reference_index"]) for row in with_one):
        indices = {int(row["reference_index"]): row["reference"] for row in with_one}
        order = sorted(indices)
        numbers = {index: place for place, index in enumerate(order, 1)}
        return [indices[index] for index in order], {
            id(row): numbers[int(row["reference_index"])] for row in with_one
        }
    texts = list(dict.fromkeys(row["reference"] for row in with_one))
    return texts, {id(row): texts.index(row["reference"]) + 1 for row in with_one}


def _indented(text: str) -> str:
    return visible(text).replace("\n", "\n   ")


def _place(row: Mapping[str, Any]) -> int:
    return int(row["predicted_index"]) if _there(row["predicted_index"]) else 0


def _there(value: Any) -> bool:
    """Whether a cell of a table holds something; a missing number is not None there."""
    import pandas as pd

    return value is not None and value is not pd.NA and value == value


# A whole response


def _response(question: Question, response: Response, template: Template) -> Graded:
    text = answer_text(response)
    options = question.fields.get("options") or question.fields.get("choices") or ""
    return Graded(
        item_id=response_item_id("response", template.name, response),
        question_id=question.question_id,
        system=system_label(response.system or NO_SYSTEM, response.variant),
        content_sha256=_sha256("response", question.question, options, question.reference, text),
        shown={
            "question": visible(question.question),
            "options": visible(_listed(options)),
            "reference": reference_text(question),
            "response": visible(text),
            "response_note": "" if text.strip() else EMPTY,
        },
        said=(text,),
    )


def _listed(options: str) -> str:
    """Options a line each, where they came as a JSON object of labels and texts."""
    try:
        found = json.loads(options)
    except ValueError:
        return options
    if not isinstance(found, dict):
        return options
    return "\n".join(f"{label}. {text}" for label, text in found.items())


# A gold answer


def _gold(question: Question) -> Graded:
    elements = read_reference(question.reference).elements
    date = question.fields.get("as_of", "")
    source = question.fields.get("source_url", "")
    ordered = question.fields.get("ordered") == "true"
    about = [f"As of {visible(date)}"] if date.strip() else []
    about += ["The order counts."] if ordered else []
    listed = [
        as_list([element], aliases=True).replace("1.", f"{number}.", 1)
        for number, element in enumerate(elements, 1)
    ]
    return Graded(
        item_id=gold_id(question),
        question_id=question.question_id,
        system=NO_SYSTEM,
        content_sha256=_sha256(
            "gold", question.question, question.reference, date, source, ordered
        ),
        shown={
            "question": visible(question.question),
            "about": "\n".join(about),
            "source_html": link(source),
            "gold": [{"element": text} for text in listed],
            "gold_text": as_list(elements),
        },
    )


# A parse


def _parse(question: Question, response: Response, template: Template) -> Graded:
    parsed = parse(response.response)
    used = [element for element in parsed.elements if not element.aside]
    asides = [element for element in parsed.elements if element.aside]
    lines = as_list(used)
    if asides:
        lines += "\n\nTaken as remarks, not as elements:\n" + as_list(asides)
    text = response.response
    return Graded(
        item_id=response_item_id("parse", template.name, response),
        question_id=question.question_id,
        system=system_label(response.system or NO_SYSTEM, response.variant),
        content_sha256=_sha256("parse", question.question, text, lines),
        shown={
            "question": visible(question.question),
            "response": visible(text),
            "response_note": "" if text.strip() else EMPTY,
            "elements": lines,
            "elements_note": "" if parsed.elements else "(no element was found)",
        },
        said=(text,),
    )
