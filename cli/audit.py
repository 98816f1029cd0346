"""``accord audit``: how wrong are the gold answers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..scoring.errors import SettingsError, one_line
from .common import JSON, columns, emit, envelope, expect_apart, parse_map

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..validate.audit_table import AuditReport
    from ..validate.result import Estimate

__all__ = ["register"]

_SHOWN = 20
TABLE = typer.Argument(
    None,
    metavar="[STUDY|TABLE]",
    help="A study with imported labels of gold answers, or a table: one row a checked answer (and "
    "reviewer).",
)
CSV = typer.Option(None, "--csv", metavar="FILE", help="Also write the wrong answers as CSV.")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "audit",
        help="How wrong are the gold answers? An error rate with an honest interval, from counts "
        "or from a table of checked answers (verdict OK, ERROR or CANNOT VERIFY). "
        "Examples: accord audit --errors 8 --n 481; accord audit checked.csv --csv errors.csv",
    )
    def audit_command(
        table: Path | None = TABLE,
        errors: int = typer.Option(None, "--errors", help="Instead of a table: wrong answers."),
        n: int = typer.Option(None, "--n", help="Instead of a table: answers checked."),
        population: int = typer.Option(
            None, "--population", metavar="N", help="Answers that the sample was drawn from."
        ),
        method: str = typer.Option(
            "wilson",
            "--method",
            help="wilson, clopper_pearson, jeffreys, agresti_coull or hypergeometric.",
        ),
        confidence: float = typer.Option(0.95, "--confidence", help="Of the interval."),
        rating: str = typer.Option("verdict", "--rating", metavar="COL", help="The verdict."),
        rater: str = typer.Option(
            "rater", "--rater", metavar="COL", help="Who checked it, with several reviewers."
        ),
        item: str = typer.Option(
            None, "--item", metavar="COL,…", help="What names an answer (item_id or question_id)."
        ),
        cluster: str = typer.Option(
            None, "--cluster", metavar="COL,…", help="What was drawn, if whole questions were."
        ),
        strata: str = typer.Option(
            None,
            "--strata",
            metavar="COL,…",
            help="The strata that answers were drawn from, with a column weight.",
        ),
        unit: str = typer.Option(
            "question", "--unit", metavar="UNIT", help="item: answers were drawn one by one."
        ),
        labels: str = typer.Option(
            None, "--labels", metavar="WORD=VERDICT,…", help="good=OK,bad=ERROR."
        ),
        map_: str = typer.Option(
            None, "--map", metavar="OURS=COLUMN,…", help="Our column name = the file's."
        ),
        as_json: bool = JSON,
        csv_file: Path | None = CSV,
    ) -> None:
        from ..validate.error_rate import audit_counts

        chosen: dict[str, Any] = {
            "confidence": confidence,
            "method": method,
            "population": population,
        }
        if table is None:
            if errors is None or n is None:
                raise SettingsError(
                    "nothing to audit", cure="give a TABLE, or both --errors X and --n N"
                )
            _refuse_with_counts(
                {
                    "--item": item,
                    "--cluster": cluster,
                    "--strata": strata,
                    "--labels": labels,
                    "--map": map_,
                    "--csv": csv_file,
                    "--rating": rating != "verdict",
                    "--rater": rater != "rater",
                    "--unit": unit != "question",
                }
            )
            result = audit_counts(errors, n, **chosen)
            payload = envelope(
                "audit", settings=chosen, input={"rows": n}, results=[result.to_dict()]
            )
            emit(payload, as_json, _rate(result))
            return
        if errors is not None or n is not None:
            raise SettingsError(
                "--errors and --n stand for a table, and there is one", cure="leave one of them out"
            )
        _audit_table(
            table,
            chosen,
            as_json=as_json,
            csv_file=csv_file,
            verdict=rating,
            rater=rater,
            item=columns(item),
            cluster=columns(cluster),
            strata=columns(strata),
            unit=unit,
            labels=parse_map(labels, "--labels"),
            mapping=parse_map(map_, "--map"),
        )


def _refuse_with_counts(given: dict[str, object]) -> None:
    for option, value in given.items():
        if value:
            raise SettingsError(
                f"{option} is for a table, and --errors and --n were given", cure="leave it out"
            )


def _audit_table(
    path: Path,
    chosen: dict[str, Any],
    *,
    as_json: bool,
    csv_file: Path | None,
    mapping: dict[str, str],
    **options: Any,
) -> None:
    from ..study.readers import read_table
    from ..study.writers import write_csv
    from ..validate.audit_rows import audit_columns
    from ..validate.audit_table import audit
    from ..validate.clusters import check_unit

    check_unit(options["unit"])
    expect_apart([csv_file], [path])
    if os.path.isdir(path):
        if mapping:
            raise SettingsError("--map is for a table, and this is a study", cure="leave it out")
        from ..annotate.label_tables import audit_table
        from ..study import Study

        with Study.open(path) as study:
            table = audit_table(study)
    else:
        table = read_table(path, mapping=mapping, optional=audit_columns(**options))
    report = audit(table, **options, **chosen)
    if csv_file is not None:
        write_csv(csv_file, table.frame.iloc[list(report.error_rows)])
    payload = envelope(
        "audit",
        settings={**chosen, **options, "map": mapping},
        input=report.source,
        results=[one.to_dict() for one in report.results()],
        errors=list(report.errors),
        error_types=dict(report.error_types),
        notes=list(report.notes),
    )
    emit(payload, as_json, _lines(report))


def _rate(result: Estimate) -> Iterable[str]:
    from ..validate.figures import defined, percent

    wrong = result.details.get("errors")
    yield f"{_number(wrong, 'error')} in {_number(result.n, 'checked answer')}"
    if defined(result.low) and defined(result.high):
        limits = f"[{100 * result.low:.3f}, {100 * result.high:.3f}]"
        yield f"error rate {percent(result.estimate)} {limits}"
        answers = _number(result.n, "answer")
        inside = f" in {_number(result.clusters, result.unit)}" if result.unit != "item" else ""
        yield f"{100 * result.confidence:g} % {result.method}; {answers}{inside}"
    else:
        yield f"error rate {percent(result.estimate)} ({result.reason})"
    bound = result.details.get("one_sided_upper")
    if defined(bound):
        named = result.details["one_sided_method"]
        yield f"at most {percent(bound)} ({100 * result.confidence:g} % one-sided bound, {named})"
    for text in result.warnings:
        yield f"Caution: {text}"


def _number(n: Any, noun: str) -> str:
    from ..validate.figures import count

    return f"{count(n)} {noun}" if n == 1 else f"{count(n)} {noun}s"


def _lines(report: AuditReport) -> Iterable[str]:
    from ..validate.figures import count, interval, percent, with_interval

    result = report.result
    yield from _rate(result)
    if report.largest is not None:
        shown = with_interval(report.largest.to_dict())
        yield (
            f"were errors hidden where fewest answers were drawn: {shown} ({report.largest.method})"
        )
    for row in result.details.get("strata", ()):
        yield (
            f"  {row['stratum']}: {row['errors']} in {row['checked']} of"
            f" {count(row['population'])}, {percent(row['rate'])}"
            f" {interval({'name': 'error_rate', **row})}"
        )
    if report.beside is not None:
        yield f"beside it: {with_interval(report.beside.to_dict())} ({report.beside.method})"
    for reason, number in result.dropped.items():
        yield f"Left out: {_number(number, 'answer')}, {reason}"
    if report.reviewers is not None:
        shown = percent(report.reviewers.estimate)
        yield f"Reviewers agree on {shown} of {_number(report.reviewers.n, 'answer')}"
    if report.error_types:
        yield "Error types: " + one_line(
            ", ".join(f"{kind} {number}" for kind, number in report.error_types.items())
        )
    if report.errors:
        more = len(report.errors) - _SHOWN
        yield (
            "Wrong: "
            + one_line(", ".join(report.errors[:_SHOWN]))
            + (f", and {more} more (--csv FILE has them)" if more > 0 else "")
        )
    for note in report.notes:
        yield f"Note: {one_line(note)}"
