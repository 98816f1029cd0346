"""A small KnowledgeBerg study whose figures are derived by hand, and a model that judges its names.

Enumerations (gold elements; what is there by rule is marked =):

* ``e1`` Rhine, Alpha River, Beta River. m1: =Rhine, River A, River B. The model says that River A
  is Alpha River and Beta River, River B is Alpha River. Greedy: River A takes Alpha River, River B
  nothing: 2 of 3 and 3, F1 2/3. Optimal: River A takes Beta River: 3 of 3, F1 1. m2 declines: 0.
* ``e2`` Schwarzwald, Jura. m1: =Schwarzwald, =Jura, Jura again: 2 of 3 and 2, F1 4/5; nothing is
  left for the repetition. m2: =Schwarzwald: 1 of 1 and 2, F1 2/3.

Multiple choice: ``k1`` (from e1, needs Rhine and Beta River): m1 wrong and without Beta River in
the greedy match, m2 right. ``k2`` (from e2, needs Jura): m1 wrong with Jura there; m2 names two
options, without Jura. ``k3`` (from e1, needs Rhine): m1 right; m2 declines, and e1 is empty.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rating_model import RatingModel, rating_model, shown

QUESTIONS: list[dict[str, str]] = [
    {
        "id": "e1",
        "Frage": "Which rivers are in the atlas?",
        "Antwort": json.dumps(["Rhine", "Alpha River", "Beta River"]),
        "Sprache": "English",
        "Gebiet": "Geography",
    },
    {
        "id": "e2",
        "Frage": "Welche Gebirge gibt es?",
        "Antwort": json.dumps(["Schwarzwald", "Jura"]),
        "Sprache": "German",
        "Gebiet": "History",
    },
    {
        "id": "k1",
        "Frage": "Which river is longest?",
        "Loesung": "B",
        "Optionen": json.dumps({"A": "Alpha River", "B": "Beta River", "C": "Rhine"}),
        "Ursprung": "e1",
        "Braucht": json.dumps(["Rhine", "Beta River"]),
        "Sprache": "English",
        "Gebiet": "Geography",
    },
    {
        "id": "k2",
        "Frage": "Welches ist das kleinere?",
        "Loesung": "A",
        "Optionen": json.dumps({"A": "Jura", "B": "Schwarzwald", "C": "keines"}),
        "Ursprung": "e2",
        "Braucht": json.dumps(["Jura"]),
        "Sprache": "German",
        "Gebiet": "History",
    },
    {
        "id": "k3",
        "Frage": "Which river is in Basel?",
        "Loesung": "C",
        "Optionen": json.dumps({"A": "Alpha River", "B": "Beta River", "C": "Rhine"}),
        "Ursprung": "e1",
        "Braucht": json.dumps(["Rhine"]),
        "Sprache": "English",
        "Gebiet": "Geography",
    },
]
ANSWERS = {
    ("m1", "e1"): "1. Rhine\n2. River A\n3. River B",
    ("m2", "e1"): "I'm sorry, but I can't help with that.",
    ("m1", "e2"): "1. Schwarzwald\n2. Jura\n3. Jura",
    ("m2", "e2"): "1. Schwarzwald",
    ("m1", "k1"): "The answer is A",
    ("m2", "k1"): "**B**",
    ("m1", "k2"): "C",
    ("m2", "k2"): "A or B",
    ("m1", "k3"): "C",
    ("m2", "k3"): "I'm sorry, but I can't help with that.",
}
NAMES = (
    "question_id=id,question=Frage,reference=Antwort,language=Sprache,domain=Gebiet,key=Loesung,"
    "options=Optionen,seed_id=Ursprung,needed=Braucht"
)
"""What ``--map`` says of the questions."""

FIGURES = {
    "m1": {
        "universe_f1": (2 / 3 + 4 / 5) / 2,
        "universe_precision": (2 / 3 + 2 / 3) / 2,
        "universe_recall": (2 / 3 + 1) / 2,
        "universe_f1_optimal": (1 + 4 / 5) / 2,
        "optimal_minus_greedy": (1 / 3 + 0) / 2,
        "krq_accuracy": 1 / 3,
        "missing_knowledge": 1 / 2,
        "not_applied": 1 / 2,
    },
    "m2": {
        "universe_f1": (0 + 2 / 3) / 2,
        "universe_precision": (0 + 1) / 2,
        "universe_recall": (0 + 1 / 2) / 2,
        "universe_f1_optimal": (0 + 2 / 3) / 2,
        "optimal_minus_greedy": 0.0,
        "krq_accuracy": 1 / 3,
        "missing_knowledge": 1.0,
        "not_applied": 0.0,
    },
}
SAME = {("Alpha River", "River A"), ("Beta River", "River A"), ("Alpha River", "River B")}
"""(gold, predicted) that the model calls the same."""


def write_questions(path: Path) -> Path:
    names = list(dict.fromkeys(name for row in QUESTIONS for name in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        writer.writerows(QUESTIONS)
    return path


def write_answers(path: Path) -> Path:
    rows = [(question, system, text) for (system, question), text in ANSWERS.items()]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "system", "response"), *rows])
    return path


def write_flat(path: Path) -> Path:
    """Questions and answers as one row an answer, for ``accord score FILE --recipe``."""
    by_id = {row["id"]: row for row in QUESTIONS}
    ours = {name: theirs for name, _, theirs in (p.partition("=") for p in NAMES.split(","))}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*ours, "system", "response"], restval="")
        writer.writeheader()
        for (system, question), text in ANSWERS.items():
            cells = {name: by_id[question].get(theirs, "") for name, theirs in ours.items()}
            writer.writerow({**cells, "system": system, "response": text})
    return path


def _same_names(body: dict[str, Any]) -> str:
    texts = re.findall(r"<text \w+>\n(.*?)\n</text", shown(body), re.S)
    return json.dumps({"verdict": "CORRECT" if tuple(texts[1:]) in SAME else "INCORRECT"})


@contextmanager
def model_of_names() -> Iterator[RatingModel]:
    """A model that calls two names the same where they are."""
    with rating_model(_same_names) as model:
        yield model
