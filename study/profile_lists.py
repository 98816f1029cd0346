"""Formats of list question sets: several answers to a question, all of them wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .profile_fields import FieldError, Fields, LeftOut, Outside
from .profile_shape import ALL_OF, NESTED, TEXT, Profile, element

__all__ = ["LIST_PROFILES"]

_CITATION = re.compile(r"\s{0,4}\[\d{1,4}\]")
_YEAR = re.compile(r"\d{3,4}")
_NEEDS = "and a list score needs an element"
_OBJECTS = ("ObjectEntities", "ObjectEntitiesID")


def _listqa_question(row: Fields) -> Iterator[Outside]:
    from ..scoring.parse import read_reference

    question, answer = row.text("question"), row.get("answer")
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        raise FieldError("answer is blank", "give the reference as list text")
    cells = {"question": question, "reference": answer}
    cells |= row.strata("category", "continent", "country", "ordered", "as_of", source_url="source")
    complex_ = str(row.get("complex") or "").lower()
    if complex_ in ("1", "true", "0", "false"):
        cells["type"] = "complex" if complex_ in ("1", "true") else "simple"
    cells |= {
        ours: year
        for ours, year in row.strata(year_start="yearStart", year_end="yearEnd").items()
        if year != "0"  # no year: the question holds at any time
    }
    told = row.get("nElements")
    if told is not None and str(told) != str(len(read_reference(answer).elements)):
        row.note("nElements is not the number of elements that were read")
    yield Outside(cells, key=(question,))


def _written(field: str) -> Any:
    """Responses that name their question by its text and hold what the system wrote."""

    def convert(row: Fields) -> Iterator[Outside]:
        yield Outside({"response": row.answer("response")}, key=(row.text(field),))

    return convert


def _qampari_question(row: Fields) -> Iterator[Outside]:
    reference = [
        element(one.inner(where, "answer_text"), one.inner_texts(where, "aliases"))
        for where, one in row.objects("answer_list")
    ]
    yield Outside(
        {"question": row.text("question_text"), "reference": reference}, id=row.text("qid")
    )


def _qampari_response(row: Fields) -> Iterator[Outside]:
    yield Outside({"response": row.answered("predictions")}, id=row.text("qid"))


def _alce_question(row: Fields) -> Iterator[Outside]:
    question, groups = row.text("question"), row.groups("answers")
    reference = [element(first, others) for first, *others in groups]
    yield Outside({"question": question, "reference": reference}, key=(question,))


def _alce_response(row: Fields) -> Iterator[Outside]:
    output = _CITATION.sub("", row.answer("output"))
    cut = _at_commas(output)
    if cut:
        row.note("an output that reads as one element is cut at its commas, as the format has it")
    yield Outside({"response": cut or output}, key=(row.text("question"),))


def _at_commas(output: str) -> list[str]:
    """The parts of a line that reads as one element; nothing where it reads otherwise.

    "Rhine, Wiese" could be one name; ALCE asks for answers with commas between them. Commas in
    brackets and quotes separate nothing.
    """
    from ..scoring.parse import parse

    line = output.strip().rstrip(".").rstrip()
    if "," not in line or "\n" in line:
        return []
    read = parse(output).elements
    if len(read) != 1 or read[0].text.rstrip(". ") != line or read[0].attributes:
        return []
    parts, start, depth, quoted = [], 0, 0, False
    for at, char in enumerate(line):
        depth += (char in "([") - (char in ")]")
        quoted ^= char == '"'
        if char == "," and depth <= 0 and not quoted:
            parts.append(line[start:at].strip())
            start = at + 1
    parts.append(line[start:].strip())
    return [part for part in parts if part] if len(parts) > 1 else []


def _romqa_question(row: Fields) -> Iterator[Outside]:
    reference = [
        element(one.inner(where, "text"), one.inner_texts(where, "aliases"))
        for where, one in row.objects("complete_answer")
    ]
    if not reference:
        raise LeftOut(f"complete_answer is empty, {_NEEDS}", id=row.text("id"))
    cells = {"question": row.text("question"), "reference": reference, **row.strata("cluster_id")}
    yield Outside(cells, id=row.text("id"))


def _keyed_response(row: Fields) -> Iterator[Outside]:
    yield Outside({"response": row.answered("predictions")}, id=row.text("id"))


def _quest_question(row: Fields) -> Iterator[Outside]:
    query = row.text("query")
    cells = {"question": query, "reference": row.texts("docs")}
    cells |= row.strata(template="metadata.template", domain="metadata.domain")
    yield Outside(cells, key=(query,))


def _quest_response(row: Fields) -> Iterator[Outside]:
    yield Outside({"response": row.answered("docs")}, key=(row.text("query"),))


def _loft_question(row: Fields) -> Iterator[Outside]:
    cells = {"question": row.text("query_text"), "reference": row.texts("answers")}
    yield Outside(cells, id=row.text("qid"))


def _loft_response(row: Fields) -> Iterator[Outside]:
    turns = row.values("model_outputs")
    if len(turns) != 1:
        raise FieldError(
            f"model_outputs has {len(turns)} turns where one list of answers is expected",
            "give the answers of the only turn: [[…]]",
        )
    turn = Fields({"model_outputs[0]": turns[0]}, notes=row.notes)
    yield Outside({"response": turn.answered("model_outputs[0]")}, id=row.text("qid"))


def _only_lists(row: Fields) -> None:
    kind = row.text("type")
    if kind != "list":
        raise LeftOut(f"its type is {kind!r}, not 'list'", id=row.text("id"))


def _bioasq_question(row: Fields) -> Iterator[Outside]:
    _only_lists(row)
    groups = row.groups("exact_answer")
    reference = [element(first, others) for first, *others in groups]
    yield Outside({"question": row.text("body"), "reference": reference}, id=row.text("id"))


def _bioasq_response(row: Fields) -> Iterator[Outside]:
    _only_lists(row)
    if any(isinstance(group, list) and len(group) > 1 for group in row.values("exact_answer")):
        row.note("a response gives several names of one answer; the first counts")
    firsts = [
        (group[0] if group else None) if isinstance(group, list) else group
        for group in row.values("exact_answer")
    ]
    answered = Fields({"exact_answer": firsts}, notes=row.notes)
    yield Outside({"response": answered.answered("exact_answer")}, id=row.text("id"))


def _multispan_question(row: Fields) -> Iterator[Outside]:
    question = row.get("question")
    text = question if isinstance(question, str) else " ".join(row.texts("question"))
    tokens, labels = row.values("context"), row.values("label")
    if len(tokens) != len(labels):
        raise FieldError(
            f"context and label have {len(tokens)} and {len(labels)} entries",
            "give one label a token",
        )
    spans: list[list[str]] = []
    inside = False
    for at, (token, label) in enumerate(zip(tokens, labels, strict=True)):
        if label not in ("B", "I", "O") or (label == "I" and not inside):
            raise FieldError(
                f"label[{at}] is {label!r} where B, {'I, ' if inside else ''}O may stand",
                "a span is one B and then I to its end",
            )
        if label == "B":
            spans.append([str(token)])
        elif label == "I":
            spans[-1].append(str(token))
        inside = label != "O"
    told = row.get("num_span")
    if told is not None and str(told) != str(len(spans)):
        raise FieldError(
            f"num_span is {told} and the labels mark {len(spans)} spans", "one of them is wrong"
        )
    if not spans:
        raise LeftOut(f"no span is labelled, {_NEEDS}", id=row.text("id"))
    cells = {"question": text, "reference": [" ".join(span) for span in spans]}
    yield Outside({**cells, **row.strata("type", "structure")}, id=row.text("id"))


def _tlqa_question(row: Fields) -> Iterator[Outside]:
    question = row.text("question")
    reference = []
    for text in row.texts("final_answers"):
        name, _, years = text.rstrip().removesuffix(")").rpartition("(")
        if name.strip() and text.rstrip().endswith(")") and _YEAR.search(years):
            reference.append(element(name.strip(), (), [("years", years.strip())]))
        else:
            reference.append(text)
    cells = {"question": question, "reference": reference, **row.strata("type", "subject")}
    yield Outside(cells, key=(question,))


def _lmkbc_key(row: Fields) -> tuple[str, str]:
    return row.text("SubjectEntity"), row.text("Relation")


def _lmkbc_question(row: Fields) -> Iterator[Outside]:
    subject, relation = _lmkbc_key(row)
    if all(isinstance(value, str) and not value.strip() for value in row.values("ObjectEntities")):
        raise LeftOut(f"ObjectEntities is empty, {_NEEDS}", key=(subject, relation))
    names = row.texts("ObjectEntities")
    ids = [] if row.get("ObjectEntitiesID") is None else row.texts("ObjectEntitiesID")
    if ids and len(ids) != len(names):
        row.note("ObjectEntities and ObjectEntitiesID differ in length (ids not taken)")
        ids = []
    reference = [element(name, [ids[at]] if ids else []) for at, name in enumerate(names)]
    cells = {"question": f"{relation}: {subject}", "reference": reference, "relation": relation}
    yield Outside(cells, key=(subject, relation))


def _lmkbc_response(row: Fields) -> Iterator[Outside]:
    there = [name for name in _OBJECTS if row.get(name) is not None]
    name = next((name for name in there if row.get(name)), None)
    if not there:
        raise FieldError(
            "ObjectEntities and ObjectEntitiesID are both missing", "give a list in one of them"
        )
    yield Outside({"response": row.answered(name) if name else []}, key=_lmkbc_key(row))


LIST_PROFILES = (
    Profile(
        name="listqa-text",
        about="ListQA: a question and its reference as one text, a numbered list with "
        "'- key: value' lines below its items where it is complex",
        rule=TEXT,
        convert={"questions": _listqa_question, "responses": _written("question")},
        fields={"questions": ("question", "answer"), "responses": ("question", "response")},
        optional=(
            *("category", "complex", "continent", "country", "ordered", "source"),
            *("yearStart", "yearEnd", "nElements", "as_of"),
        ),
        examples={
            "questions": {
                "question": "List the ferries of Lake Orta and their years of launch.",
                "answer": "1. Ortensia\n- year: 1988\n2. Azalea\n- year: 1996",
                "ordered": 1,
            },
            "responses": {
                "question": "List the ferries of Lake Orta and their years of launch.",
                "response": "1. Azalea\n- year: 1996",
            },
        },
        becomes={
            "questions": "reference: the text, read as a list; text before and after it is none",
            "responses": "the text as written",
        },
        unconfirmed="the field names of the released files (these are those of the project's web "
        "page): name others with --map",
    ),
    Profile(
        name="qampari",
        about="QAMPARI: JSON lines with answer_list; predictions in the same record",
        rule=NESTED,
        convert={"questions": _qampari_question, "responses": _qampari_response},
        fields={
            "questions": ("qid", "question_text", "answer_list"),
            "responses": ("qid", "predictions"),
        },
        examples={
            "questions": {
                "qid": "1__sample",
                "question_text": "Which rivers flow through Basel?",
                "answer_list": [
                    {"answer_text": "Rhine", "aliases": ["Rhine", "Rhein"]},
                    {"answer_text": "Birs", "aliases": ["Birs"]},
                ],
            },
            "responses": {"qid": "1__sample", "predictions": ["rhein", "Wiese"]},
        },
        becomes={
            "questions": "answer_list: an element each, its aliases any-of",
            "responses": "predictions: a list that is taken as parsed",
        },
    ),
    Profile(
        name="alce",
        about="ALCE on QAMPARI: a result file {data: […]} with gold and output in one record",
        rule=NESTED,
        convert={"questions": _alce_question, "responses": _alce_response},
        fields={"questions": ("question", "answers"), "responses": ("question", "output")},
        examples={
            "questions": {
                "question": "Which rivers flow through Basel?",
                "answers": [["Rhine", "Rhein"], ["Birs"]],
            },
            "responses": {
                "question": "Which rivers flow through Basel?",
                "output": "Rhine [1], Wiese [2][3].",
            },
        },
        becomes={
            "questions": "answers: an element each, its names any-of",
            "responses": "output without citations such as [1]; all its lines, not the first only; "
            "a line that reads as one element is cut at its commas (told)",
        },
        envelope="data",
    ),
    Profile(
        name="romqa",
        about="RoMQA: a JSON array (also .bz2) with complete_answer; predictions {id: [text]}",
        rule=NESTED,
        convert={"questions": _romqa_question, "responses": _keyed_response},
        fields={
            "questions": ("id", "question", "complete_answer"),
            "responses": ("id", "predictions"),
        },
        optional=("cluster_id",),
        examples={
            "questions": {
                "id": "dev-1",
                "question": "Which bridges of Basel carry trams?",
                "complete_answer": [{"text": "Wettstein Bridge", "aliases": ["Wettsteinbrücke"]}],
                "cluster_id": "c7",
            },
            "responses": {"dev-1": ["Wettstein Bridge", "Middle Bridge"]},
        },
        becomes={
            "questions": "complete_answer: an element each, its aliases any-of (RoMQA's own "
            "scorer compares the text only); rows without an answer are left out and told",
            "responses": "each id's list, taken as parsed",
        },
        keyed="predictions",
    ),
    Profile(
        name="quest",
        about="QUEST: JSON lines with query and docs (titles); predictions have the same form",
        rule=ALL_OF,
        convert={"questions": _quest_question, "responses": _quest_response},
        fields={"questions": ("query", "docs"), "responses": ("query", "docs")},
        optional=("metadata.template", "metadata.domain"),
        examples={
            "questions": {
                "query": "Alpine ferries that are not steamers",
                "docs": ["Ortensia", "Azalea"],
                "metadata": {"template": "_ that are not _", "domain": "ships"},
            },
            "responses": {
                "query": "Alpine ferries that are not steamers",
                "docs": ["Azalea"],
            },
        },
        becomes={
            "questions": "docs: an element each",
            "responses": "docs: a list that is taken as parsed; joined by the query's text",
        },
    ),
    Profile(
        name="loft-allof",
        about="LOFT's QUEST and QAMPARI: answers are all wanted; predictions in model_outputs",
        rule=ALL_OF,
        convert={"questions": _loft_question, "responses": _loft_response},
        fields={
            "questions": ("qid", "query_text", "answers"),
            "responses": ("qid", "model_outputs"),
        },
        examples={
            "questions": {
                "qid": "7001",
                "query_text": "Which rivers flow through Basel?",
                "answers": ["Rhine", "Birs"],
            },
            "responses": {"qid": "7001", "num_turns": 1, "model_outputs": [["Rhine"]]},
        },
        becomes={
            "questions": "answers: an element each",
            "responses": "the only turn of model_outputs, taken as parsed",
        },
    ),
    Profile(
        name="bioasq",
        about="BioASQ task B: {questions: […]}; questions of type list",
        rule=NESTED,
        convert={"questions": _bioasq_question, "responses": _bioasq_response},
        fields={
            "questions": ("id", "type", "body", "exact_answer"),
            "responses": ("id", "type", "exact_answer"),
        },
        examples={
            "questions": {
                "id": "b1",
                "type": "list",
                "body": "Which vitamins dissolve in fat?",
                "exact_answer": [["vitamin A", "retinol"], ["vitamin K"]],
            },
            "responses": {"id": "b1", "type": "list", "exact_answer": [["retinol"], ["vitamin C"]]},
        },
        becomes={
            "questions": "exact_answer: an element each, its synonyms any-of; other types are "
            "left out and told",
            "responses": "the first name of each answer, taken as parsed",
        },
        envelope="questions",
    ),
    Profile(
        name="multispanqa",
        about="MultiSpanQA: {data: […]} with tokens and B/I/O labels; predictions {id: [span]}",
        rule=ALL_OF,
        convert={"questions": _multispan_question, "responses": _keyed_response},
        fields={
            "questions": ("id", "question", "context", "label"),
            "responses": ("id", "predictions"),
        },
        optional=("num_span", "type", "structure"),
        examples={
            "questions": {
                "id": "m1",
                "type": "multi-span",
                "question": ["Which", "rivers", "?"],
                "context": ["The", "Rhine", "and", "the", "Blue", "Nile", "."],
                "label": ["O", "B", "O", "O", "B", "I", "O"],
                "num_span": 2,
            },
            "responses": {"m1": ["Rhine", "Nile"]},
        },
        becomes={
            "questions": "each labelled span: an element, its tokens joined by blanks; rows "
            "without a span are left out and told",
            "responses": "each id's list, taken as parsed",
        },
        envelope="data",
        keyed="predictions",
    ),
    Profile(
        name="tlqa",
        about="TLQA: a JSON array; answers with the years in which they held",
        rule=ALL_OF,
        convert={"questions": _tlqa_question, "responses": _written("question")},
        fields={"questions": ("question", "final_answers"), "responses": ("question", "response")},
        optional=("type", "subject"),
        examples={
            "questions": {
                "question": "List all teams Ada Muster played for from 2010 to 2013.",
                "final_answers": ["FC Beispiel (2010, 2011)", "SV Probe, Basel (2012, 2013)"],
                "type": "P54",
            },
            "responses": {
                "question": "List all teams Ada Muster played for from 2010 to 2013.",
                "response": "1. FC Beispiel (2010, 2011)",
            },
        },
        becomes={
            "questions": "final_answers: an element each; a last bracket with years is its "
            "attribute years",
            "responses": "the text as written",
        },
        unconfirmed="a file of predictions: none is published, so question and response",
    ),
    Profile(
        name="lmkbc",
        about="LM-KBC: JSON lines, subject and relation with their objects",
        rule=ALL_OF,
        convert={"questions": _lmkbc_question, "responses": _lmkbc_response},
        fields={
            "questions": ("SubjectEntity", "Relation", "ObjectEntities"),
            "responses": ("SubjectEntity", "Relation"),
        },
        optional=_OBJECTS,
        examples={
            "questions": {
                "SubjectEntity": "Elbonia",
                "SubjectEntityID": "Q9000001",
                "Relation": "countryLandBordersCountry",
                "ObjectEntities": ["Ruritania", "Grand Fenwick"],
                "ObjectEntitiesID": ["Q9000002", "Q9000003"],
            },
            "responses": {
                "SubjectEntity": "Elbonia",
                "Relation": "countryLandBordersCountry",
                "ObjectEntitiesID": ["Q9000003"],
            },
        },
        becomes={
            "questions": "the question is 'relation: subject'; objects: an element each, its "
            "Wikidata id an alias; rows without an object are left out and told",
            "responses": "names, else ids, taken as parsed; joined by subject and relation",
        },
    ),
)
"""The formats, in the order they are listed."""
