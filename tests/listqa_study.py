"""A small ListQA study of flat lists whose figures are derived by hand, and a model that grades it.

Seven questions, three systems, 63 reference elements, 64 predicted ones. Where each is put by the
alignment (equal texts, then ROUGE-1, then what is left in order), what the model says of it and
what three people say stands in :data:`GRADED`; everything else follows from that.

* alder lists the Baltic states in their own languages and in another order: nothing shares a word,
  so what is left is paired in order, and all three stand in the wrong place.
* birch's "The Empire in Star Wars" shares two of two words with "Star Wars" (F1 4/7) and two of
  four with "The Empire Strikes Back" (4/9), so it takes the place of "A New Hope".
* alder declines one question, joins two colours, and writes a fifth moon; birch repeats Callisto
  under its number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rating_model import RatingModel, rating_model, shown

from small_study import write

QUESTIONS: dict[str, tuple[str, str]] = {
    "rivers": ("Which three rivers meet in Passau?", "1. Danube\n2. Inn\n3. Ilz"),
    "baltic": ("Which are the three Baltic states?", "1. Estonia\n2. Latvia\n3. Lithuania"),
    "crew": (
        "Which three astronauts flew on Apollo 11?",
        "1. Neil Armstrong\n2. Buzz Aldrin\n3. Michael Collins",
    ),
    "moons": (
        "Which four moons of Jupiter did Galileo discover?",
        "1. Io\n2. Europa\n3. Ganymede\n4. Callisto",
    ),
    "films": (
        "Which three films are the original Star Wars trilogy?",
        "1. Star Wars\n2. The Empire Strikes Back\n3. Return of the Jedi",
    ),
    "light": ("What are the three primary colours of light?", "1. Red\n2. Green\n3. Blue"),
    "ring": (
        "Which three volumes make up The Lord of the Rings?",
        "1. The Fellowship of the Ring\n2. The Two Towers\n3. The Return of the King",
    ),
}
ANSWERS: dict[tuple[str, str], str] = {
    ("alder", "rivers"): "1. **Danube**\n2. Inn\n3. Ilz",
    ("alder", "baltic"): "1. Lietuva\n2. Eesti\n3. Latvija",
    ("alder", "crew"): "The crew:\n\n1. Armstrong\n2. Edwin Aldrin\n3. Collins",
    ("alder", "moons"): "- Io\n- Europa\n- Ganymedes\n- Himalia\n- Amalthea",
    ("alder", "films"): "1. The Return of the Jedi\n2. Empire Strikes Back\n3. A New Hope",
    ("alder", "light"): "1. Red and green\n2. Blue",
    ("alder", "ring"): "I'm sorry, but I can't help with that.",
    ("birch", "rivers"): "1. Inn\n2. Danube\n3. Isar",
    ("birch", "baltic"): "- Estonia\n- Latvia\n- Lithuania\n- Finland",
    ("birch", "crew"): "1. Neil A. Armstrong\n2. Michael Collins\n3. Buzz Aldrin",
    ("birch", "moons"): "1. Callisto\n2. Ganymede\n3. Europa\n4. Jupiter IV",
    ("birch", "films"): "1. The Empire in Star Wars\n2. A New Hope\n3. Return of the Jedi",
    ("birch", "light"): "* red\n* green\n* blue",
    (
        "birch",
        "ring",
    ): "1. The Fellowship of the Ring\n2. The Two Towers\n3. The Return of the King",
    ("cedar", "rivers"): "1. Danube\n2. Inn",
    ("cedar", "baltic"): "1. Eesti\n2. Lettland\n3. Litauen",
    ("cedar", "crew"): "1. Buzz Aldrin\n2. Neil Armstrong\n3. Pete Conrad",
    ("cedar", "moons"): "1. Io\n2. Europe\n3. Ganymede\n4. Callisto",
    ("cedar", "films"): (
        "1. Star Wars\n2. The Empire Strikes Back\n3. Return of the Jedi\n4. The Phantom Menace"
    ),
    ("cedar", "light"): "1. Red\n2. Green\n3. Blue",
    (
        "cedar",
        "ring",
    ): "1. The Fellowship of the Ring\n2. The Return of the King\n3. The Two Towers",
}
PEOPLE = ("ann", "bob", "cyd")


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody says of an element; ``belongs`` on a page of pairs, ``alignment`` of a pair."""

    verdict: str
    belongs: int | None = None
    alignment: str | None = None
    reason: str | None = None

    @classmethod
    def read(cls, text: str) -> Said:
        """``X>2!unverifiable``: INCORRECT, belongs beside 2, and why; ``C+`` and ``X-``: the two
        belong together, or not."""
        found = re.fullmatch(r"([CXU])(?:>(\d))?([+-]?)(?:!(\w+))?", text)
        assert found, text
        word = {"C": "CORRECT", "X": "INCORRECT", "U": "UNSURE"}[found[1]]
        alignment = {"+": "YES", "-": "NO", "": None}[found[3]]
        return cls(word, int(found[2]) if found[2] else None, alignment, found[4])


@dataclass(frozen=True, slots=True)
class Graded:
    """A predicted element: the number of the reference element beside it (0 for none), what the
    model says (None: nothing that can be read) and what each of the people says."""

    predicted: str
    beside: int
    judge: str | None
    people: tuple[Said, Said, Said]


def _graded(predicted: str, beside: int, judge: str, people: str) -> Graded:
    ann, bob, cyd = (Said.read(text) for text in people.split())
    word = {"C": "CORRECT", "X": "INCORRECT", "?": None}[judge]
    return Graded(predicted, beside, word, (ann, bob, cyd))


def _right(*elements: tuple[str, int], people: str = "C C C") -> list[Graded]:
    return [_graded(predicted, beside, "C", people) for predicted, beside in elements]


# On pages of pairs (alder and birch) a place is named where it is another one; on single pairs
# (cedar) ann and bob say of each pair whether it is one, and cyd only where it is not.
ONE_BY_ONE = "C+ C+ C"
GRADED: dict[tuple[str, str], list[Graded]] = {
    ("alder", "rivers"): _right(("Danube", 1), ("Inn", 2), ("Ilz", 3)),
    ("alder", "baltic"): [
        _graded("Lietuva", 1, "X", "X>3 X>3 X>3"),
        _graded("Eesti", 2, "X", "X>1 X>1 X>1"),
        _graded("Latvija", 3, "C", "X>2 X>2 C"),
    ],
    ("alder", "crew"): [
        _graded("Armstrong", 1, "C", "C C C"),
        _graded("Edwin Aldrin", 2, "X", "C U C"),
        _graded("Collins", 3, "C", "C C C"),
    ],
    ("alder", "moons"): [
        *_right(("Io", 1), ("Europa", 2)),
        _graded("Ganymedes", 3, "X", "C C C"),
        _graded("Himalia", 4, "X", "X>0 X X>0"),
        _graded("Amalthea", 0, "X", "X X X"),
    ],
    ("alder", "films"): [
        *_right(("The Return of the Jedi", 3), ("Empire Strikes Back", 2)),
        _graded("A New Hope", 1, "X", "C C X!unverifiable"),
    ],
    ("alder", "light"): [
        _graded("Red and green", 1, "C", "X!parse_error C X!parse_error"),
        *_right(("Blue", 3)),
    ],
    ("birch", "rivers"): [
        *_right(("Inn", 2), ("Danube", 1)),
        _graded("Isar", 3, "?", "X>0 X X"),
    ],
    ("birch", "baltic"): [
        *_right(("Estonia", 1), ("Latvia", 2), ("Lithuania", 3)),
        _graded("Finland", 0, "X", "X X X"),
    ],
    ("birch", "crew"): [
        _graded("Neil A. Armstrong", 1, "X", "C C C"),
        *_right(("Michael Collins", 3), ("Buzz Aldrin", 2)),
    ],
    ("birch", "moons"): [
        *_right(("Callisto", 4), ("Ganymede", 3), ("Europa", 2)),
        _graded("Jupiter IV", 1, "X", "X>4 X>0 X>4"),
    ],
    ("birch", "films"): [
        _graded("The Empire in Star Wars", 1, "C", "X>2 X>2 X>2"),
        _graded("A New Hope", 2, "X", "X>1 X X>1"),
        *_right(("Return of the Jedi", 3)),
    ],
    ("birch", "light"): _right(("red", 1), ("green", 2), ("blue", 3)),
    ("birch", "ring"): _right(
        ("The Fellowship of the Ring", 1), ("The Two Towers", 2), ("The Return of the King", 3)
    ),
    ("cedar", "rivers"): _right(("Danube", 1), ("Inn", 2), people=ONE_BY_ONE),
    ("cedar", "baltic"): [
        *_right(("Eesti", 1), people=ONE_BY_ONE),
        _graded("Lettland", 2, "X", ONE_BY_ONE),
        *_right(("Litauen", 3), people="C+ C+ U"),
    ],
    ("cedar", "crew"): [
        *_right(("Buzz Aldrin", 2), ("Neil Armstrong", 1), people=ONE_BY_ONE),
        _graded("Pete Conrad", 3, "X", "X- X+ X-"),
    ],
    ("cedar", "moons"): [
        *_right(("Io", 1), people=ONE_BY_ONE),
        *_right(("Europe", 2), people="C+ X+ C"),
        *_right(("Ganymede", 3), ("Callisto", 4), people=ONE_BY_ONE),
    ],
    ("cedar", "films"): [
        *_right(
            ("Star Wars", 1),
            ("The Empire Strikes Back", 2),
            ("Return of the Jedi", 3),
            people=ONE_BY_ONE,
        ),
        _graded("The Phantom Menace", 0, "X", "X!missing_from_reference X X"),
    ],
    ("cedar", "light"): _right(("Red", 1), ("Green", 2), ("Blue", 3), people=ONE_BY_ONE),
    ("cedar", "ring"): _right(
        ("The Fellowship of the Ring", 1),
        ("The Return of the King", 3),
        ("The Two Towers", 2),
        people=ONE_BY_ONE,
    ),
}
GIVEN: dict[tuple[str, str, str], tuple[str, str, str]] = {
    ("alder", "light", "Green"): ("GIVEN", "MISSING", "GIVEN"),
}
"""What the people say of a reference element without a partner on a page of pairs."""


def write_questions(path: Path) -> Path:
    return write(
        path,
        [
            {"question_id": name, "question": question, "reference": reference, "type": "flat"}
            for name, (question, reference) in QUESTIONS.items()
        ],
    )


def write_answers(path: Path) -> Path:
    return write(
        path,
        [
            {"question_id": question, "system": system, "response": text}
            for (system, question), text in ANSWERS.items()
        ],
    )


def reference_elements(question: str) -> list[str]:
    """The texts of a question's reference, in order."""
    return [line.partition(". ")[2] for line in QUESTIONS[question][1].splitlines()]


def _verdicts() -> dict[tuple[str, ...], str | None]:
    """(reference, predicted) → what the model says."""
    return {
        (reference_elements(question)[one.beside - 1], one.predicted): one.judge
        for (_, question), elements in GRADED.items()
        for one in elements
        if one.beside
    }


@contextmanager
def grading_model() -> Iterator[RatingModel]:
    """A model that says of each pair what :data:`GRADED` has; of one pair nothing readable."""
    verdicts = _verdicts()

    def grade(body: dict[str, Any]) -> str:
        texts: Sequence[str] = re.findall(r"<text \w+>\n(.*?)\n</text", shown(body), re.S)
        verdict = verdicts[tuple(texts[1:])]
        return json.dumps({"verdict": verdict}) if verdict else "That depends on the map."

    with rating_model(grade) as model:
        yield model
