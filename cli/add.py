"""``accord add``: bring data in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..scoring.errors import InputError, SettingsError, one_line
from .common import JSON, STUDY, columns, emit, list_rows, parse_map, with_all_rows

if TYPE_CHECKING:
    from ..study import Added

__all__ = ["register"]


class Role(StrEnum):
    """What a file holds."""

    questions = "questions"
    responses = "responses"
    pairs = "pairs"
    ratings = "ratings"


FILE = typer.Argument(..., metavar="FILE", help="CSV, TSV, JSONL, JSON, Parquet or xlsx.")
AS = typer.Option(..., "--as", help="What the file holds.")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "add",
        help="Bring questions, responses, pairs or ratings into a study. "
        "Examples: accord add mystudy gold.csv --as questions --map reference=answer; "
        "accord add mystudy labels.csv --as ratings --on question_id,system,element; "
        "accord add mystudy dev.jsonl.gz --as questions --format qampari (accord profiles lists "
        "the formats)",
    )
    def add_command(
        study: Path = STUDY,
        file: Path = FILE,
        role: Role = AS,
        format_: str = typer.Option(
            None,
            "--format",
            metavar="PROFILE",
            help="Another benchmark's format, or a mapping file (.toml, .json).",
        ),
        system: str = typer.Option(
            None, "--system", metavar="NAME", help="With --format: who answered."
        ),
        variant: str = typer.Option(
            None, "--variant", metavar="NAME", help="With --format: the variant of the system."
        ),
        map_: str = typer.Option(
            None, "--map", metavar="OURS=COLUMN,…", help="Our column name = the file's."
        ),
        strata: str = typer.Option(
            None, "--strata", metavar="COL,…", help="Further columns to keep (responses, pairs)."
        ),
        wide: bool = typer.Option(False, "--wide", help="Ratings: one column a rater."),
        annotators: str = typer.Option(
            None, "--annotators", metavar="COL,…", help="Ratings by people."
        ),
        judges: str = typer.Option(None, "--judges", metavar="COL,…", help="Ratings by judges."),
        final: str = typer.Option(None, "--final", metavar="COL", help="The adjudicated rating."),
        labels: str = typer.Option(
            None, "--labels", metavar="WORD=LABEL,…", help="Ratings: yes=CORRECT,no=INCORRECT."
        ),
        categories: str = typer.Option(
            None, "--categories", metavar="A,B", help="Labels, if not CORRECT, INCORRECT, UNSURE."
        ),
        on: str = typer.Option(
            None,
            "--on",
            metavar="COL,…",
            help="Ratings without accord's ids: a column that the items have too, or "
            "question_id,system,element[,variant][,position].",
        ),
        show_all: bool = typer.Option(False, "--show-all", help="List every bad row."),
        as_json: bool = JSON,
    ) -> None:
        from ..study import RatingsOptions, Study

        mapping = parse_map(map_, "--map")
        kept = columns(strata)
        only_ratings = {
            "--wide": wide,
            "--annotators": annotators,
            "--judges": judges,
            "--final": final,
            "--labels": labels,
            "--categories": categories,
            "--on": on,
        }
        if format_ is None:
            for name, value in (("--system", system), ("--variant", variant)):
                if value:
                    raise SettingsError(
                        f"{name} goes with --format only",
                        cure=f"give the file a column {name[2:]}",
                    )
        elif role is Role.questions:
            who = [n for n, value in (("--system", system), ("--variant", variant)) if value]
            if who:
                raise SettingsError(
                    f"{who[0]} does not go with --as questions: nobody answered yet",
                    cure="leave it out",
                )
        elif any(only_ratings.values()):
            name = next(name for name, value in only_ratings.items() if value)
            raise SettingsError(
                f"{name} does not go with --format: the format says what is what",
                cure="leave it out",
            )
        if role is not Role.ratings:
            _refuse([name for name, value in only_ratings.items() if value], role)
        if role in (Role.ratings, Role.questions):
            _refuse(["--strata"] if kept else [], role)
        with Study.open(study) as opened:
            try:
                if format_ is not None:
                    added = opened.add_outside(
                        file,
                        format_,
                        role.value,
                        mapping=mapping,
                        system=system,
                        variant=variant,
                        strata=kept,
                    )
                elif role is Role.questions:
                    added = opened.add_questions(file, mapping=mapping)
                elif role is Role.responses:
                    added = opened.add_responses(file, mapping=mapping, strata=kept)
                elif role is Role.pairs:
                    added = opened.add_pairs(file, mapping=mapping, strata=kept)
                else:
                    options = RatingsOptions(
                        wide=wide,
                        annotators=columns(annotators),
                        judges=columns(judges),
                        final=final,
                        labels=parse_map(labels, "--labels"),
                        categories=columns(categories),
                        mapping=mapping,
                    )
                    added = opened.add_ratings(file, options, on=columns(on))
            except InputError as raised:
                error = _mapped(raised) if role is Role.ratings else raised
                raise with_all_rows(error, show_all) from None
        if show_all:
            list_rows(added.left_out)
        lines = [*_lines(added)]
        if len(added.left_out) > 1 and not show_all:
            lines.append(f"note: --show-all lists the {len(added.left_out)} rows that are left out")
        emit(added.to_dict(), as_json, map(one_line, lines))


def _mapped(error: InputError) -> InputError:
    """The same error for a command that names columns with ``--map``."""
    named = r"--(item|rater|kind|rating)\b"
    cure = re.sub(rf"{named} COLUMN", r"--map \1=COLUMN", error.cure or "")
    if "(--item)" in error.message:
        cure = (
            "name it with --map item_id=COLUMN, or match without it: --on"
            f" question_id,system,element; {cure}"
        )
    message = re.sub(rf" \({named}\)", "", error.message)
    return InputError(message, cure=cure or None, rows=error.rows)


def _refuse(options: list[str], role: Role) -> None:
    if options:
        why = {
            Role.ratings: "every column of an item is known already",
            Role.questions: "all columns of questions are kept",
        }.get(role, "it is for --as ratings")
        raise SettingsError(
            f"{options[0]} does not go with --as {role.value}: {why}", cure="leave it out"
        )


def _lines(added: Added) -> Iterator[str]:
    what = added.role
    if added.new:
        there = f", {added.already} already there" if added.already else ""
        yield f"{added.name}: {added.new} {what} added{there}"
    else:
        yield f"{added.name}: already there, nothing added ({added.already} {what})"
    if added.unused:
        yield f"columns not used: {', '.join(added.unused)}"
    for note in added.notes:
        yield f"note: {note}"
