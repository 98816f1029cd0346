"""A benchmark's own file of answers, scored as it is: no study, one figure set a system.

SciKnowEval's prediction files are its rows with a key ``response``; what a judge said of a row is
in ``judge_reply``. A KnowledgeBerg table has one answer a row: an enumeration where the row has a
``reference``, a multiple-choice answer where it has a ``key``. A column ``system`` tells several
systems apart; one ``variant``, in SciKnowEval's rows, those of a system.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.errors import AccordError, BadRow, InputError, SettingsError
from ..scoring.records import NO_SYSTEM, Item
from .benchmark_run import for_recipe
from .identity import hashed_system, system_label
from .json_cells import json_object
from .judging import Source, judged
from .knowledgeberg_questions import ALL, choice_question
from .writers import write_csv

if TYPE_CHECKING:
    from ..scoring.judges import Judge
    from ..scoring.knowledgeberg import KnowledgeBergScores, Reasoned
    from ..scoring.sciknoweval import SciKnowEvalRecipe, SciKnowEvalScores
    from ..scoring.study_recipes import AnyRecipe
    from ..scoring.universe import Universe, UniverseRecipe
    from .readers import Table

__all__ = [
    "KNOWLEDGEBERG_COLUMNS",
    "SCIKNOWEVAL_COLUMNS",
    "KnowledgeBergFile",
    "SciKnowEvalFile",
    "judge_of_study",
    "read_judge_replies",
    "score_knowledgeberg_file",
    "score_sciknoweval_file",
    "unused_columns",
]

SCIKNOWEVAL_COLUMNS = (
    ("question", "type", "domain", "details", "response"),
    ("answer", "answerKey", "choices", "prompt", "judge_reply", "system", "variant", "id"),
)
KNOWLEDGEBERG_COLUMNS = (
    ("question_id", "response"),
    (
        "question",
        "reference",
        "key",
        "options",
        "seed_id",
        "needed",
        "domain",
        "language",
        "system",
    ),
)
"""Required and optional columns."""


def unused_columns(table: Table, known: tuple[Sequence[str], Sequence[str]]) -> tuple[str, ...]:
    """The table's columns that no figure is made from, given the required and optional ones.

    Raises
    ------
    SettingsError
        When one is ``weight``: everywhere else it is 1 / inclusion probability, and here each
        answer counts once.
    """
    names = [str(name) for name in table.frame.columns]
    if "weight" in names:
        raise SettingsError(
            f"{table.name} has a column 'weight', and a file's figures count each answer once",
            cure="leave the column out; figures of a sample, by weight, are those of a study's "
            "labels (accord sample, accord agree)",
        )
    return tuple(name for name in names if name not in (*known[0], *known[1]))


@dataclass(frozen=True, slots=True)
class SciKnowEvalFile:
    """System → figures, and the answers that wait for a judge's reply, each with its metric."""

    scores: Mapping[str, SciKnowEvalScores]
    open_items: Sequence[tuple[Item, str]]

    def write_open(self, path: Path) -> None:
        """Write the open answers as a CSV whose column ``judge_reply`` waits.

        Raises
        ------
        AccordError
            When the file exists or can't be written.
        """
        head = ("item_id", "metric", "question", "reference", "predicted", "judge_reply")
        rows = [
            (item.item_id, metric, item.question, item.reference or "", item.predicted, "")
            for item, metric in self.open_items
        ]
        _write_new(path, head, rows)


def read_judge_replies(table: Table) -> dict[str, str]:
    """Item id → judge's reply, of a table with these two columns; blank replies are left out.

    Raises
    ------
    InputError
        When a row has no id, or an id stands twice.
    """
    replies: dict[str, str] = {}
    seen: set[str] = set()
    bad: list[BadRow] = []
    for line, row in _rows(table):
        identity, reply = _text(row["item_id"]), _text(row["judge_reply"])
        if not identity or identity in seen:
            why = "item_id is blank" if not identity else f"item_id {identity!r} stands twice"
            why += "; take the file that --open wrote, one row an answer"
            bad.append(BadRow(table.name, line, why))
        seen.add(identity)
        if reply:
            replies[identity] = reply
    _refuse(bad)
    return replies


def score_sciknoweval_file(
    table: Table, recipe: SciKnowEvalRecipe, replies: Mapping[str, str] | None = None
) -> SciKnowEvalFile:
    """Score SciKnowEval's rows with responses.

    Parameters
    ----------
    replies
        Item id → a judge's reply, for rows that have none in the table.

    Raises
    ------
    InputError
        With every row that can't be scored, by file and line; for rows asked with examples.
    """
    from ..scoring.sciknoweval import judge_items, sciknoweval_scores
    from ..scoring.sciknoweval_rows import metric_of

    of: dict[tuple[str, str], list[dict[str, Any]]] = {}
    lines: dict[tuple[str, str], list[int]] = {}
    bad: list[BadRow] = []
    for line, row in _rows(table):
        try:
            for name in ("details", "choices", "prompt"):
                row[name] = _prompt(row.get(name), name)
            metric = metric_of(row)
            listed = metric == "relations" and isinstance(row.get("response"), list)
            row["response"] = (
                json.dumps(row["response"], ensure_ascii=False)
                if listed
                else _answer(row, "response")
            )
            reply = row.get("judge_reply")
            row["judge_reply"] = None if reply is None else _answer(row, "judge_reply")
        except InputError as error:
            bad.append(BadRow.of(table.name, line, error))
            continue
        whose = (_text(row.get("system")) or NO_SYSTEM, _text(row.get("variant")))
        of.setdefault(whose, []).append(row)
        lines.setdefault(whose, []).append(line)
    scores: dict[str, SciKnowEvalScores] = {}
    waiting: list[tuple[Item, str]] = []
    unused = set(replies or ())
    for whose, rows in of.items():
        try:
            answers = [row["response"] for row in rows]
            items = judge_items(rows, answers, system=hashed_system(*whose))
            for place, item in items.items():
                unused.discard(item.item_id)
                row = rows[place]
                row["judge_reply"] = row["judge_reply"] or (replies or {}).get(item.item_id)
                if row["judge_reply"] is None:
                    waiting.append((item, metric_of(row)))
            said = {place: row["judge_reply"] for place, row in enumerate(rows)}
            scores[system_label(*whose)] = sciknoweval_scores(
                rows, judge_replies=said, recipe=recipe
            )
        except InputError as error:
            if not error.rows:
                raise
            bad += [
                BadRow(table.name, lines[whose][(row.line or 1) - 1], row.reason)
                for row in error.rows
            ]
    _refuse(sorted(bad, key=lambda row: row.line or 0))
    if unused:
        raise InputError(
            f"{len(unused)} replies belong to no answer of {table.name}, such as {min(unused)!r}",
            cure="take the replies to this file's own open answers",
        )
    return SciKnowEvalFile(scores, tuple(waiting))


@dataclass(frozen=True, slots=True)
class KnowledgeBergFile:
    """System → figures, and the pairs that no rule settled and no verdict was found for.

    ``work`` says what a model judge had to do, as in a scoring run; it is empty for other judges.
    """

    scores: Mapping[str, KnowledgeBergScores]
    open_pairs: Sequence[Item]
    work: Mapping[str, int]

    def write_open(self, path: Path) -> None:
        """Write the open pairs as a CSV whose column ``verdict`` waits for CORRECT or INCORRECT.

        Raises
        ------
        AccordError
            When the file exists or can't be written.
        """
        head = ("item_id", "question_id", "question", "predicted", "reference", "verdict")
        rows = [
            (i.item_id, i.question_id, i.question, i.predicted, i.reference or "", "")
            for i in self.open_pairs
        ]
        _write_new(path, head, rows)


@contextmanager
def judge_of_study(study: Path, name: str, recipe: AnyRecipe) -> Iterator[Judge]:
    """A judge by the name it has in a study's settings; a model's replies are kept in its ledger.

    What a model is asked where the settings name no prompt is the recipe's, not the study's.

    Raises
    ------
    StudyError
        When there is no such study, or another accord is writing.
    SettingsError
        When it has no such judge, or the judge's settings can't be used.
    """
    from ..scoring.judges import make_judge
    from .study import Study

    with Study.open(study) as opened, opened.ledger.writing():
        (table,) = opened.settings.judge_settings([name]).values()
        table = for_recipe(recipe, table)
        yield make_judge(name, table, replies=opened.ledger, folder=opened.path)


def score_knowledgeberg_file(
    table: Table, recipe: UniverseRecipe, judge: Judge
) -> KnowledgeBergFile:
    """Score a KnowledgeBerg table.

    Parameters
    ----------
    judge
        Gives the verdicts for pairs that the rules leave open: ``exact`` equates nothing more,
        ``file`` has the verdicts of a file.

    Raises
    ------
    InputError
        With every row that can't be scored, by file and line.
    """
    from ..scoring.knowledgeberg import (
        Enumerated,
        knowledgeberg_scores,
        read_reasoned,
    )
    from ..scoring.universe import judge_universes, prepare_universe

    universes: dict[str, list[tuple[Universe, str, str]]] = {}
    reasoned: dict[str, list[Reasoned]] = {}
    answered: list[tuple[int, Reasoned]] = []
    seen: set[tuple[str, ...]] = set()
    bad: list[BadRow] = []
    for line, row in _rows(table):
        system = _text(row.get("system")) or NO_SYSTEM
        try:
            question_id = _text(row.get("question_id"))
            domain, language = _place(row, "domain"), _place(row, "language")
            once = (question_id, system, domain, language)
            if not question_id:
                raise InputError("question_id is blank", cure="give each question an id")
            if once in seen:
                raise InputError(
                    f"question_id {question_id!r} stands twice for {system!r}",
                    cure="keep one answer of a system to a question",
                )
            seen.add(once)
            reference, key = row.get("reference"), _text(row.get("key"))
            if (reference is None) == (not key):
                both = "neither a reference nor a key" if not key else "a reference and a key"
                raise InputError(
                    f"question {question_id!r} has {both}",
                    cure="give a reference (an enumeration) or a key (multiple choice)",
                )
            if reference is not None:
                one = prepare_universe(
                    question_id=question_id,
                    question=_text(row.get("question")),
                    reference=reference,
                    response=row.get("response"),
                    language=language,
                    system=system,
                    recipe=recipe,
                )
                universes.setdefault(system, []).append((one, domain, language))
                continue
            asked = choice_question(row)
            answer = read_reasoned(
                question_id=question_id,
                response=_answer(row, "response"),
                key=key,
                labels=asked.labels,
                options=asked.options,
                seed_id=asked.seed_id,
                domain=domain,
                language=language,
                needed=asked.needed,
                system=system,
            )
            reasoned.setdefault(system, []).append(answer)
            answered.append((line, answer))
        except AccordError as error:
            bad.append(BadRow.of(table.name, line, error))
    if not bad:
        bad += _unknown_elements(table.name, universes, answered)
    _refuse(bad)
    source = Source.of(judge)
    block = source.block
    everyone = [one for found in universes.values() for one, _, _ in found]
    said = dict(
        zip(
            map(id, everyone),
            judge_universes(everyone, lambda items: judged(source, items)),
            strict=True,
        )
    )
    scores: dict[str, KnowledgeBergScores] = {}
    open_pairs: list[Item] = []
    for system in dict.fromkeys([*universes, *reasoned]):
        enumerated = []
        for one, domain, language in universes.get(system, []):
            own = said[id(one)]
            settled = {judgement.item_id for judgement in own if judgement.verdict is not None}
            if block.get("type") == "exact":
                settled = set()  # the rules have said all that equality can
            put = {judgement.item_id for judgement in own}
            open_pairs += [i for i in one.items if i.item_id in put and i.item_id not in settled]
            enumerated.append(Enumerated(one.score(own, judge=block), domain, language))
        scores[system] = knowledgeberg_scores(enumerated, reasoned.get(system, []))
    return KnowledgeBergFile(scores, tuple(open_pairs), source.work)


def _write_new(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table for people to fill in: its texts are a model's, and a spreadsheet opens it."""
    import pandas as pd

    if path.exists() or path.is_symlink():
        raise InputError(f"{path} is there already", cure="name a new file, or move that one")
    write_csv(path, pd.DataFrame(rows, columns=list(head), dtype=object))


def _rows(table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    names = [str(name) for name in table.frame.columns]
    for line, row in zip(table.lines, table.frame.itertuples(index=False, name=None), strict=True):
        yield line, dict(zip(names, row, strict=True))


def _refuse(bad: Sequence[BadRow]) -> None:
    if bad:
        raise InputError.from_rows(bad)


def _unknown_elements(
    name: str,
    universes: Mapping[str, Sequence[tuple[Universe, str, str]]],
    answered: Sequence[tuple[int, Reasoned]],
) -> Iterator[BadRow]:
    """Needed elements that the enumeration which the system gave too does not have."""
    from ..scoring.knowledgeberg import element_of, element_places

    places = {
        (one.system, one.question_id, language): (one, language)
        for found in universes.values()
        for one, _, language in found
    }
    known: dict[tuple[str, str, str], Mapping[str, int]] = {}
    for line, answer in answered:
        where = (answer.system, answer.seed_id, answer.language)
        if not answer.needed or where not in places:
            continue
        one, language = places[where]
        if where not in known:
            known[where] = element_places(one.reference, language, one.recipe.articles)
        for text in answer.needed:
            try:
                element_of(text, answer, known[where], one.recipe.articles)
            except InputError as error:
                yield BadRow.of(name, line, error)


def _answer(row: Mapping[str, Any], name: str) -> str:
    """An answer as text; an object is the JSON that a model wrote.

    Raises
    ------
    InputError
        When it is a list: several answers, of which none is the answer.
    """
    value = row.get(name)
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        raise InputError(
            f"{name} is a list of {len(value)}: {json.dumps(value, ensure_ascii=False)[:40]}",
            cure="give one text",
        )
    return _text(value)


def _place(row: Mapping[str, Any], name: str) -> str:
    if name not in row:
        return ALL
    value = _text(row[name])
    if not value:
        raise InputError(f"{name} is blank", cure="fill it in, or leave the column out")
    return value


def _prompt(value: Any, name: str) -> dict[str, Any]:
    """An object; a prompt may be a text too."""
    if isinstance(value, str) and name == "prompt" and not value.lstrip().startswith("{"):
        return {"default": value} if value else {}
    return json_object(value, name, cure=_OBJECTS[name])


_OBJECTS = {
    "details": 'write {"level": "L1", "task": "…"}',
    "choices": 'write {"text": ["…", "…"], "label": ["A", "B"]}',
    "prompt": 'write {"default": "…"}',
}


def _text(value: Any) -> str:
    return "" if value is None else value.strip() if isinstance(value, str) else str(value)
