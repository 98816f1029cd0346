"""``accord sample``: draw items for people, with known inclusion probabilities."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..scoring.errors import SettingsError
from .common import JSON, STUDY, columns, emit, envelope, parse_map

if TYPE_CHECKING:
    from ..study.records import Sample

__all__ = ["register"]

_SHOWN = 12
"""Strata that are listed for a person; all are in the JSON."""


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "sample",
        help="Draw a sample of items for people and keep its design and inclusion probabilities. "
        "Examples: accord sample mystudy --n 300 --by system; "
        "accord sample mystudy --questions 200 --paired (whole questions, the same for every "
        "system); accord sample mystudy --n 300 --oversample disagreements=0.5; "
        "accord sample mystudy --extend s1 --n 100; "
        "accord sample mystudy --for retest --of s1 --n 50 --by-annotator; "
        "accord sample mystudy --unit question --for audit --n 400 --by category",
    )
    def sample_command(
        study: Path = STUDY,
        n: int = typer.Option(None, "--n", help="Items to draw; all when left out."),
        questions: int = typer.Option(
            None, "--questions", help="Questions to draw, each with all its items."
        ),
        per_question: int = typer.Option(
            None,
            "--per-question",
            metavar="M",
            help="Only M items of each question (with --paired: of each system's answer).",
        ),
        by: str = typer.Option(None, "--by", metavar="COL,…", help="Columns that make strata."),
        allocate: str = typer.Option(
            None,
            "--allocate",
            metavar="HOW",
            help="Among strata: proportional (default), equal, or neyman (more where the labels "
            "of a --pilot vary).",
        ),
        pilot: str = typer.Option(
            None, "--pilot", metavar="SAMPLE", help="The graded pilot for --allocate neyman."
        ),
        merge_small: bool = typer.Option(
            False, "--merge-small", help="Put strata together that are too small for two items."
        ),
        paired: bool = typer.Option(
            False, "--paired", help="Only questions that every system answered."
        ),
        systems: str = typer.Option(
            None, "--systems", metavar="A,B,…", help="Only the items of these systems."
        ),
        oversample: str = typer.Option(
            None,
            "--oversample",
            metavar="WHAT=SHARE,…",
            help="The share of the sample that comes from disagreements (two judges differ), "
            "judged:VERDICT (a judge gave it), low-confidence (the lowest quarter of the column "
            "confidence) or COLUMN:VALUE.",
        ),
        judges: str = typer.Option(
            None,
            "--judges",
            metavar="A,B,…",
            help="Whose disagreements or verdicts (default: all); the judge that neyman is for.",
        ),
        exclude: str = typer.Option(
            None, "--exclude", metavar="SAMPLE,…", help="Leave these samples' items out."
        ),
        extend: str = typer.Option(
            None,
            "--extend",
            metavar="SAMPLE",
            help="Add --n items (or --questions) to this sample, by its own design.",
        ),
        unit: str = typer.Option(
            "item",
            "--unit",
            metavar="UNIT",
            help="item, or question: gold answers, drawn whether or not anybody answered.",
        ),
        only: str = typer.Option(
            None,
            "--only",
            metavar="COL=VALUE,…",
            help="With --unit question: only questions with these values, as metric=rating.",
        ),
        purpose: str = typer.Option(
            None,
            "--for",
            metavar="PURPOSE",
            help="agreement (default), audit, pilot (labels enter no estimate), retest.",
        ),
        of: str = typer.Option(
            None, "--of", metavar="SAMPLE", help="A retest: the sample that people graded."
        ),
        by_annotator: bool = typer.Option(
            False, "--by-annotator", help="A retest: draw for each person among their own items."
        ),
        seed: int = typer.Option(None, "--seed", help="The study's seed when left out."),
        name: str = typer.Option(None, "--name", help="Of the sample; s1, s2, … when left out."),
        as_json: bool = JSON,
    ) -> None:
        from ..study import Study

        keep: dict[str, Any] = {"seed": seed, "sample_id": name}
        design = {
            "--per-question": ("per_question", per_question),
            "--by": ("by", columns(by)),
            "--allocate": ("allocate", allocate),
            "--pilot": ("pilot", pilot),
            "--merge-small": ("merge_small", merge_small),
            "--paired": ("paired", paired),
            "--systems": ("systems", columns(systems)),
            "--oversample": ("oversample", parse_map(oversample, "--oversample")),
            "--judges": ("judges", columns(judges)),
            "--exclude": ("exclude", columns(exclude)),
        }
        if unit not in ("item", "question"):
            raise SettingsError(f"--unit is {unit!r}", cure="use item or question")
        given = {
            option: pair
            for option, pair in design.items()
            if pair[1] is not None and pair[1] is not False and pair[1] not in ((), {})
        }
        if only is not None and unit != "question":
            raise SettingsError(
                "--only is for drawing questions", cure="add --unit question, or use --oversample"
            )
        if of is not None or by_annotator or purpose == "retest":
            others = [*given, *(["--questions"] if questions is not None else [])]
            _only("--for retest", [*others, *(["--extend"] if extend else [])])
            _retest(purpose, of)
        elif extend is not None:
            _only("--extend", [*given, *(["--for"] if purpose else [])])
        elif unit == "question":
            others = [*given, *(["--questions"] if questions is not None else [])]
            _only("--unit question", [option for option in others if option != "--by"])
        with Study.open(study) as opened:
            if purpose == "retest":
                from ..annotate.retest import draw_retest

                sample = draw_retest(opened, of, n=n, by_annotator=by_annotator, **keep)
            elif extend is not None:
                from ..annotate.extension import extend_sample

                sample = extend_sample(opened, extend, n=n, questions=questions, **keep)
            elif unit == "question":
                from ..annotate.question_sample import draw_questions

                sample = draw_questions(
                    opened,
                    n=n,
                    by=columns(by),
                    only=parse_map(only, "--only"),
                    purpose=purpose or "audit",
                    **keep,
                )
            else:
                from ..annotate.sample import draw_sample

                chosen = dict(given.values())
                sample = draw_sample(
                    opened,
                    n=n,
                    questions=questions,
                    purpose=purpose or "agreement",
                    **chosen,
                    **keep,
                )
        result = {
            "sample": sample.sample_id,
            "purpose": sample.purpose,
            "items": len(sample.items),
            "design": sample.design,
            "seed": sample.seed,
            "settings": dict(sample.settings),
        }
        emit(envelope("sample", results=[result]), as_json, _lines(study, sample))


def _only(what: str, others: list[str]) -> None:
    if others:
        cure = "the design of the sample is kept" if what == "--extend" else "leave it out"
        raise SettingsError(f"{others[0]} does not go with {what}", cure=cure)


def _retest(purpose: str | None, of: str | None) -> None:
    if purpose != "retest":
        raise SettingsError(
            "--of and --by-annotator are for a retest", cure="add --for retest, or leave them out"
        )
    if of is None:
        raise SettingsError(
            "--for retest draws from items that were graded", cure="name their sample with --of"
        )


def _lines(study: Path, sample: Sample) -> Iterator[str]:
    from ..annotate.units import METRIC_OF

    yield f"sample {sample.sample_id}: {sample.design}"
    strata = sample.settings.get("strata") or []
    if len(strata) > 1:
        for row in strata[:_SHOWN]:
            yield f"  {', '.join(row['stratum'])}: {row['drawn']} of {row['units']}"
        if len(strata) > _SHOWN:
            yield f"  … and {len(strata) - _SHOWN} more strata (--json lists them)"
    for who, items in (sample.settings.get("assigned") or {}).items():
        yield f"  {who}: {len(items)} items"
    if sample.purpose == "pilot":
        yield "its labels enter no estimate: draw the main sample with --exclude, or with --pilot"
    more = ""
    if sample.settings.get("unit") == "question":
        metric = (sample.settings.get("only") or {}).get("metric")
        page = next((page for page, of in METRIC_OF.items() if of == metric), "gold_audit")
        more = f" --template {page}"
    elif sum(map(bool, (sample.settings.get("assigned") or {}).values())) > 1:
        more = " --annotators FILE"  # each has items of their own
    yield f"next: accord export {shlex.quote(str(study))} {shlex.quote(sample.sample_id)}{more}"
