"""SciKnowEval's rows: task and metric, ids for rows that have none, and few-shot refused."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from .breakdown import TaskKey
from .errors import BadRow, InputError
from .graded_reply import Asked

__all__ = [
    "ASKED_OF",
    "JUDGED",
    "METRICS",
    "TUPLE_SIZES",
    "ZERO_SHOT",
    "Metric",
    "few_shot_rows",
    "is_missing",
    "listed_texts",
    "metric_of",
    "question_of",
    "refuse_few_shot",
    "row_ids",
    "task_of",
    "text_of",
]

Metric = Literal["choice", "truth", "exact", "relations", "rating", "grade", "refusal"]
METRICS: tuple[Metric, ...] = get_args(Metric)
JUDGED: frozenset[Metric] = frozenset({"rating", "grade", "refusal"})
"""Metrics that need a judge's reply to each row."""
ASKED_OF: Mapping[Metric, Asked] = {
    "rating": "rating",
    "grade": "components",
    "refusal": "refusal",
}
"""What a judge is asked for each of them."""

_BY_TASK: Mapping[str, Metric] = {
    "drug_drug_relation_extraction": "relations",
    "gene_disease_relation_extraction": "relations",
    "compound_disease_relation_extraction": "relations",
    "extract_doping": "grade",
    "material_component_extraction": "grade",
    "harmful_QA": "refusal",
    "chemical_harmful_QA": "refusal",
    "biological_harmful_QA": "refusal",
}
_BY_TYPE: Mapping[str, Metric] = {
    "mcq-4-choices": "choice",
    "mcq-2-choices": "choice",
    "true_or_false": "truth",
    "filling": "exact",
    "open-ended-qa": "rating",
}
TUPLE_SIZES: Mapping[str, int] = {
    "drug_drug_relation_extraction": 3,
    "gene_disease_relation_extraction": 3,
    "compound_disease_relation_extraction": 2,
}


def task_of(row: Mapping[str, Any]) -> TaskKey:
    """Domain, level and task of a row, as the row itself says.

    Rows of level 2 have their task in ``details.subtask``, ``details.task`` being the domain's
    collective name. Formula derivation in physics is filed under L3 and says L5: the row is
    believed.

    Raises
    ------
    InputError
        When one of the three is missing.
    """
    details = row.get("details")
    details = details if isinstance(details, Mapping) else {}
    task, subtask = text_of(details.get("task")), text_of(details.get("subtask"))
    if not task or (re.fullmatch(r"L\d.*", task) and subtask):
        task = subtask
    domain, level = text_of(row.get("domain")), text_of(details.get("level"))
    for name, value in (("domain", domain), ("details.level", level), ("details.task", task)):
        if not value:
            raise InputError(
                f"a row has no {name}: {text_of(row.get('question'))[:60]!r}",
                cure="give the benchmark's rows with all their keys",
            )
    return domain, level, task


def metric_of(row: Mapping[str, Any]) -> Metric:
    """The metric of a row, by its task and else by its type.

    Raises
    ------
    InputError
        When neither is known.
    """
    _, _, task = task_of(row)
    kind = text_of(row.get("type"))
    found = _BY_TASK.get(task) or _BY_TYPE.get(kind)
    if found is None:
        raise InputError(
            f"there is no metric for the type {kind!r} and the task {task!r}",
            cure=f"known types are {', '.join(_BY_TYPE)}; leave the row out or correct it",
        )
    return found


def question_of(row: Mapping[str, Any]) -> str:
    """What was asked: the instruction where the row has one, and below it the question."""
    prompt = row.get("prompt")
    prompt = prompt.get("default") if isinstance(prompt, Mapping) else prompt
    return "\n".join(text for text in (text_of(prompt), text_of(row.get("question"))) if text)


def row_ids(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Ids for rows that come without: the same in every order, with and without responses.

    20 hex digits of a hash over domain, level, task, question, options, key and answer; equal rows
    are numbered in their order. A row's own ``question_id`` or ``id`` is kept.

    Raises
    ------
    InputError
        When two rows have one id of their own.
    """
    seen: Counter[str] = Counter()
    own: set[str] = set()
    out = []
    bad: list[BadRow] = []
    for place, row in enumerate(rows, start=1):
        given = text_of(row.get("question_id")) or text_of(row.get("id"))
        if given:
            if given in own:
                bad.append(
                    BadRow("rows", place, f"the id {given!r} stands twice; give each row its own")
                )
            own.add(given)
            out.append(given)
            continue
        choices = row.get("choices")
        choices = choices if isinstance(choices, Mapping) else {}
        parts = [
            "sciknoweval-row-1",
            *task_of(row),
            *(text_of(row.get(name)) for name in ("type", "question", "answerKey", "answer")),
            listed_texts(choices.get("text")),
            listed_texts(choices.get("label")),
        ]
        plain = json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(plain).hexdigest()[:20]
        number = seen[digest]
        seen[digest] += 1
        out.append(f"{digest}-{number}" if number else digest)
    if bad:
        raise InputError.from_rows(bad)
    return out


def listed_texts(value: Any) -> list[str]:
    """The texts of a list as a row has it; what is no list, or holds something else, has none."""
    if not isinstance(value, (list, tuple)) or any(
        one is None or isinstance(one, (bool, Mapping, list, tuple)) for one in value
    ):
        return []
    return [str(one) for one in value]


_SHOTS = re.compile(r"\b(?:few|one|two|three|four|five|[1-9]\d*)[-_ ]?shots?\b", re.I)
_EXAMPLE = re.compile(r"^\W*(?:example|demonstration|beispiel)\s*#?\d", re.I | re.M)
_TURN = re.compile(r"^\W*(?:answer|a|output|assistant|response)\s*:\s*\S", re.I | re.M)


ZERO_SHOT = "ask without examples: SciKnowEval is zero-shot"


def refuse_few_shot(rows: Sequence[Mapping[str, Any]]) -> None:
    """Refuse rows that were not asked zero-shot: the benchmark is zero-shot by definition.

    Looked at are a number of shots (``num_fewshot``, ``n_shot``, ``shots``), a variant or setting
    that is named so, and a prompt that holds worked examples.

    Raises
    ------
    InputError
        With every such row.
    """
    bad = few_shot_rows(rows)
    if bad:
        raise InputError.from_rows(bad, cure=ZERO_SHOT)


def few_shot_rows(rows: Sequence[Mapping[str, Any]]) -> list[BadRow]:
    """The rows that :func:`refuse_few_shot` refuses, numbered from 1, and why."""
    return [
        BadRow("rows", place, why)
        for place, row in enumerate(rows, start=1)
        if (why := _shots(row)) is not None
    ]


def _shots(row: Mapping[str, Any]) -> str | None:
    for name in ("num_fewshot", "n_shot", "num_shots", "shots", "fewshot"):
        value = row.get(name)
        if not is_missing(value) and value not in ("", 0, "0", False):
            return f"{name} is {value!r}"
    for name in ("variant", "setting", "mode"):
        value = text_of(row.get(name))
        if _SHOTS.search(value):
            return f"{name} is {value!r}"
    prompt = row.get("prompt")
    texts = prompt.values() if isinstance(prompt, Mapping) else [prompt]
    for text in map(text_of, texts):
        if len(_EXAMPLE.findall(text)) or len(_TURN.findall(text)) > 1:
            return "the prompt holds worked examples"
    return None


def is_missing(value: Any) -> bool:
    """Whether there is no value: None, or the NaN that a data frame has for it."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def text_of(value: Any) -> str:
    """A value as text without blanks around it; a missing one is an empty text."""
    return value.strip() if isinstance(value, str) else "" if is_missing(value) else str(value)
