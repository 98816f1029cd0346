"""The sample files of the format profiles, written for this project."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from accord.study import Study

SAMPLES = Path(__file__).parent / "profiles"
Role = Literal["questions", "responses", "pairs", "ratings"]

FILES: dict[str, tuple[str, str]] = {
    "listqa-text": ("listqa-text.jsonl", "listqa-text.responses.jsonl"),
    "qampari": ("qampari.jsonl", "qampari.jsonl"),
    "alce": ("alce.json", "alce.json"),
    "romqa": ("romqa.json", "romqa.responses.json"),
    "quest": ("quest.jsonl", "quest.responses.jsonl"),
    "loft-allof": ("loft-allof.jsonl", "loft-allof.responses.jsonl"),
    "bioasq": ("bioasq.json", "bioasq.responses.json"),
    "multispanqa": ("multispanqa.json", "multispanqa.responses.json"),
    "tlqa": ("tlqa.json", "tlqa.responses.jsonl"),
    "lmkbc": ("lmkbc.jsonl", "lmkbc.responses.jsonl"),
    "widesearch": ("widesearch.jsonl", "widesearch.responses.jsonl"),
    "sciknoweval": ("sciknoweval.jsonl", "sciknoweval.jsonl"),
    "knowledgeberg-csv": ("knowledgeberg-csv.csv", "knowledgeberg-csv.responses.csv"),
    "loft-anyof": ("loft-anyof.jsonl", "loft-anyof.jsonl"),
    "truthfulqa": ("truthfulqa.jsonl", "truthfulqa.jsonl"),
    "simpleqa": ("simpleqa.csv", "simpleqa.responses.csv"),
    "deepsearchqa": ("deepsearchqa.csv", "deepsearchqa.responses.jsonl"),
    "factscore": ("factscore.jsonl", "factscore.jsonl"),
    "mapping.toml": ("mapping.jsonl", "mapping.jsonl"),
    "mapping-anyof.json": ("mapping-anyof.csv", "mapping-anyof.csv"),
}
"""Each format's file of questions (or pairs) and of responses; mapping files by their name."""

MAPS: dict[str, dict[Role, dict[str, str]]] = {
    "knowledgeberg-csv": {
        "questions": {"question": "Frage", "reference": "Antwort", "language": "Sprache"},
        "responses": {"question": "Frage", "response": "Ausgabe"},
    }
}


def add(study: Study, name: str, role: Role, path: Path | None = None, **options: Any) -> Any:
    """Bring a sample (or the file in its place) in as the format ``name`` says."""
    if path is None:
        path = SAMPLES / FILES[name][0 if role in ("questions", "pairs", "ratings") else 1]
    form = str(SAMPLES / name) if name.startswith("mapping") else name
    options.setdefault("mapping", MAPS.get(name, {}).get(role))
    if role != "questions" and name != "mapping.toml":
        options.setdefault("system", "alpha")
    return study.add_outside(path, form, role, **options)
