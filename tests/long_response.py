"""A study with one long answer: 40 pairs, and elements of both sides that stand beside none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from accord.study import Study
from small_study import write

QUESTION = "Which towns are the capitals of the states of Europe? Give each with its state."
CAPITALS = (
    *("Tirana, Albania", "Andorra la Vella, Andorra", "Vienna, Austria", "Minsk, Belarus"),
    *("Brussels, Belgium", "Sarajevo, Bosnia and Herzegovina", "Sofia, Bulgaria"),
    *("Zagreb, Croatia", "Nicosia, Cyprus", "Prague, Czechia", "Copenhagen, Denmark"),
    *("Tallinn, Estonia", "Helsinki, Finland", "Paris, France", "Berlin, Germany"),
    *("Athens, Greece", "Budapest, Hungary", "Reykjavik, Iceland", "Dublin, Ireland"),
    *("Rome, Italy", "Pristina, Kosovo", "Riga, Latvia", "Vaduz, Liechtenstein"),
    *("Vilnius, Lithuania", "Luxembourg, Luxembourg", "Valletta, Malta", "Chișinău, Moldova"),
    *("Monaco, Monaco", "Podgorica, Montenegro", "Amsterdam, Netherlands"),
    *("Skopje, North Macedonia", "Oslo, Norway", "Warsaw, Poland", "Lisbon, Portugal"),
    *("Bucharest, Romania", "San Marino, San Marino", "Belgrade, Serbia"),
    *("Bratislava, Slovakia", "Ljubljana, Slovenia", "Madrid, Spain", "Stockholm, Sweden"),
    *("Bern, Switzerland", "Kyiv, Ukraine", "London, United Kingdom"),
)
PAIRS = 40
MISSING = CAPITALS[PAIRS:]
"""Reference elements that the answer does not give: Stockholm, Bern, Kyiv and London."""
EXTRA = ("Tiraspol", "Ankara", "Tórshavn")
"""Predicted elements that share no word with any reference element."""
WORDY = (
    "Minsk, Belarus (since 1991; before that it was the capital of the Byelorussian Soviet"
    " Socialist Republic, one of the republics that founded the Soviet Union in December 1922)"
)


def _said(number: int, capital: str) -> str:
    """How the answer writes a capital: as it is, with the state first, or in a sentence."""
    town, _, state = capital.partition(", ")
    if number == 4:
        return WORDY
    return (capital, f"{state}: {town}", f"{town} is the capital of {state}")[number % 3]


def _reference() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"text": text} for text in CAPITALS]
    rows[4] |= {"aliases": ["Bruxelles, Belgium", "Brussel, Belgium"]}
    rows[19] |= {"attributes": [["since", "1871"]]}
    return rows


def long_study(folder: Path) -> Study:
    """The study of one question and one system."""
    study = Study.create(folder / "study")
    # What shares no word stays without a partner, so that both sides have some.
    study.close()
    with (folder / "study" / "study.toml").open("a", encoding="utf-8") as file:
        file.write('\n[conventions]\nzero_overlap = "incorrect"\n')
    study = Study.open(folder / "study")
    said = [_said(number, text) for number, text in enumerate(CAPITALS[:PAIRS], 1)]
    said[20:20] = EXTRA
    lines = "\n".join(f"{number}. {text}" for number, text in enumerate(said, 1))
    question = {"question_id": "capitals", "question": QUESTION, "reference": _reference()}
    answer = {"question_id": "capitals", "system": "alder", "response": lines}
    study.add_questions(write(folder / "questions.jsonl", [question]))
    study.add_responses(write(folder / "responses.jsonl", [answer]))
    return study
