"""The small study that the templates' example tasks were made from, and how each was made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from accord.annotate.export import export_to_file
from accord.annotate.question_sample import draw_questions
from accord.annotate.sample import draw_sample
from accord.annotate.template import load_template
from accord.study import Study
from accord.study.records import RatingRow

QUESTIONS: list[dict[str, Any]] = [
    {
        "question_id": "moons",
        "question": "Which four moons of Jupiter did Galileo discover? Give each with its number.",
        "reference": [
            {"text": "Io", "attributes": [["number", "Jupiter I"]]},
            {"text": "Europa", "attributes": [["number", "Jupiter II"]]},
            {"text": "Ganymede", "aliases": ["Ganymedes"], "attributes": [["number", "III"]]},
            {"text": "Callisto", "attributes": [["number", "Jupiter IV"]]},
        ],
        "ordered": True,
        "as_of": "2025-01-01",
        "source_url": "https://en.wikipedia.org/wiki/Galilean_moons",
    },
    {
        "question_id": "landing",
        "question": "In which year did people first walk on the Moon?",
        "options": "A. 1961\nB. 1969\nC. 1972",
        "reference": ["B. 1969"],
    },
]
RESPONSES: list[dict[str, Any]] = [
    {
        "question_id": "moons",
        "system": "alder",
        "response": "Galileo saw these:\n1. Io\n   - number: Jupiter I\n2. Ganymedes (III)\n"
        "3. Titan\n",
    },
    {"question_id": "landing", "system": "alder", "response": "B, the year was 1969."},
]


def labelled_study(folder: Path) -> Study:
    """The study with all items as a sample, all questions as another, and two people's labels."""
    study = Study.create(folder / "study")
    for name, rows in (("questions", QUESTIONS), ("responses", RESPONSES)):
        file = folder / f"{name}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    study.add_questions(folder / "questions.jsonl")
    study.add_responses(folder / "responses.jsonl")
    draw_sample(study, sample_id="example")
    draw_questions(study, sample_id="questions")
    titan = next(item.item_id for item in study.items() if "Titan" in item.predicted)
    study.ledger.add_ratings(
        [
            RatingRow(titan, "annotator-1", "annotator", "INCORRECT"),
            RatingRow(
                titan,
                "annotator-2",
                "annotator",
                "UNSURE",
                reasons=("unverifiable",),
                comment="It is a moon, though; ask ann@example.org.",
            ),
        ]
    )
    return study


def tasks_of(study: Study, template: str, folder: Path) -> list[dict[str, Any]]:
    """The sample's tasks of a template."""
    target = folder / f"{template}.json"
    unit = load_template(template).unit
    sample = "example" if unit in ("pair", "pairs") else "questions"
    export_to_file(study, sample, target, template=template)
    tasks: list[dict[str, Any]] = json.loads(target.read_text(encoding="utf-8"))
    return tasks


def example_task(study: Study, template: str, folder: Path) -> dict[str, Any]:
    """The task that stands in the template's folder: the one about the moons, Titan's pair."""
    about = "Moon?" if template == "choice" else "Jupiter"
    (found,) = [
        task
        for task in tasks_of(study, template, folder)
        if about in task["data"]["question"] and "Titan" in task["data"].get("predicted", "Titan")
    ]
    return found
