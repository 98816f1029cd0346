"""How large the report is, how long it takes to render, and how long a browser takes to open it.

    python benchmarks/report.py [--rows 3313] [--runs 5] [--chromium /usr/bin/chromium] [--keep DIR]

The page is a made-up study of the size of the ListQA validation: 571 responses to 200 questions,
and every one of its 3,313 elements in the table of disagreements (the worst case). Opening is the
time of a headless Chromium to load, lay out and paint the page, less that of a blank page opened
just before it; the median of the paired differences.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from accord.validate.report import Report, build_report

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1200,2400",
)

PEOPLE = ("annotator1", "annotator2")
JUDGE = "judge"


def estimate(
    name: str, level: str, raters: tuple[str, str], point: float, wide: float
) -> dict[str, Any]:
    """A figure of the panel, made up."""
    return {
        "name": name,
        "level": level,
        "raters": list(raters),
        "estimate": point,
        "low": point - wide,
        "high": point + wide,
        "confidence": 0.95,
        "method": "cluster jackknife, Fisher z, t(199), plus-one",
        "unit": "question",
        "n": 3313 if level == "element" else 571,
        "clusters": 200,
        "design_effect": 1.8,
        "dropped": {"unscored": 2} if JUDGE in raters else {},
        "reason": None,
        "warnings": [],
    }


def made_up(rows: int, seed: int = 1) -> Report:
    """A report with this many disagreements."""
    draw = random.Random(seed)
    pairs = [(JUDGE, "final"), PEOPLE]
    results = [
        estimate(name, level, raters, draw.uniform(0.6, 0.95), 0.03)
        for level, names in (
            ("element", ("agreement", "cohen_kappa", "gwet_ac1", "krippendorff_alpha_nominal")),
            ("response", ("pearson", "spearman", "mad", "bias")),
        )
        for name in names
        for raters in pairs
    ]
    words = ("north river", "Best Rap Album", "the second bridge", "Marie Curie", "1994", "Lagos")
    scores = []
    for i in range(571):
        human = draw.randint(0, 8) / 8
        judge = min(1.0, max(0.0, human + draw.choice((0, 0, 0, 0.125, -0.125, -0.25))))
        scores.append({"question_id": f"q{i // 3}", "system": f"s{i % 3}", "human": human})
        scores[-1]["judge"] = judge
    disagreements = [
        {
            "item_id": f"i{i:05d}",
            "question_id": f"q{i // 17:03d}",
            "system": f"system-{i % 3}",
            "question": "List the songs and years in which it won the award between 2000 and 2024.",
            "reference": f"{draw.choice(words)} {i}",
            "predicted": f"{draw.choice(words)} {i // 2}",
            "judges": {JUDGE: draw.choice(("CORRECT", "INCORRECT"))},
            "people": {name: draw.choice(("CORRECT", "INCORRECT")) for name in PEOPLE},
            "final": draw.choice(("CORRECT", "INCORRECT")),
            "comments": ["year differs"] if i % 9 == 0 else [],
        }
        for i in range(rows)
    ]
    return build_report(
        title="A made-up study of the size of the ListQA validation",
        agreement={
            "results": results,
            "kinds": {JUDGE: "judge", "final": "adjudicated"} | dict.fromkeys(PEOPLE, "annotator"),
            "confusion": [
                {
                    "raters": [JUDGE, "final"],
                    "categories": ["CORRECT", "INCORRECT"],
                    "counts": [[1700, 140], [90, 1383]],
                }
            ],
        },
        response_scores=scores,
        disagreements=disagreements,
        systems=[
            {"judge": JUDGE, "system": f"system-{i}", "responses": 190, "llm_judge_f1": 0.5 + i / 9}
            for i in range(3)
        ],
        recipe={"name": "listqa", "tokenizer": "rouge"},
        provenance={"seed": seed},
    )


def opening(page: Path, runs: int, chromium: str) -> tuple[float, float]:
    """Median seconds to open the page, and over a blank page opened just before (paired)."""
    blank = page.with_name("blank.html")
    blank.write_text("<!doctype html><title>blank</title>", encoding="utf-8")
    got: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as profile:
        for run in range(runs + 1):
            took = []
            for path in (blank, page):
                start = time.perf_counter()
                subprocess.run(
                    [
                        chromium,
                        *FLAGS,
                        f"--user-data-dir={profile}/{path.stem}",
                        f"--screenshot={page.parent}/{path.stem}.png",
                        path.resolve().as_uri(),
                    ],
                    check=True,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ},
                )
                took.append(time.perf_counter() - start)
            if run:  # the first of each makes its profile
                got.append((took[0], took[1]))
    return statistics.median(x[1] for x in got), statistics.median(x[1] - x[0] for x in got)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=3313)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--keep", type=Path, help="keep the page in this folder")
    options = parser.parse_args()
    content = made_up(options.rows)
    took: list[float] = []
    html = ""
    for _ in range(4):
        start = time.perf_counter()
        html = content.to_html()
        took.append(time.perf_counter() - start)
    data: dict[str, Any] = {"KiB": len(html.encode()) / 1024}
    data["gzip KiB"] = len(gzip.compress(html.encode())) / 1024
    data["first render s, with Jinja2's import"] = took[0]
    data["render s, again (median of 3)"] = statistics.median(took[1:])
    with tempfile.TemporaryDirectory() as folder:
        page = (options.keep or Path(folder)) / "report.html"
        page.write_text(html, encoding="utf-8")
        data["open s"], data["open s, over a blank page"] = opening(
            page, options.runs, options.chromium
        )
    for name, figure in data.items():
        print(f"{name}: {figure:.3f}" if figure < 10 else f"{name}: {figure:.0f}")


if __name__ == "__main__":
    main()
