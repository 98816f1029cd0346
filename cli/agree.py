"""``accord agree``: how close are judges to people, and people to one another."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..scoring.errors import InputError, SettingsError
from .common import (
    EXTRA,
    JSON,
    UNSCORED,
    UNSURE,
    columns,
    emit,
    envelope,
    expect_apart,
    parse_map,
)

if TYPE_CHECKING:
    from ..study import Ratings, Study
    from ..validate import AgreementReport

__all__ = ["register"]

TABLE_ONLY = "Tables: "
WIDE = 100
SOURCE = typer.Argument(
    ..., metavar="STUDY|TABLE", help="A study folder, or CSV, TSV, JSONL, Parquet, xlsx."
)
CSV = typer.Option(None, "--csv", metavar="FILE", help="Also write every figure as CSV.")
HTML = typer.Option(
    None, "--html", metavar="FILE", help="Also write a page with every figure, which loads nothing."
)
LATEX = typer.Option(
    None,
    "--latex",
    metavar="FILE",
    help="Also write tables for a paper (booktabs), their captions saying how they were made.",
)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "agree",
        help="How close are judges to people, and people to one another? Raw agreement, Cohen κ, "
        "weighted κ, Krippendorff α, Gwet AC1, correlation, concordance, distance and bias (--all: "
        "every coefficient), each with an interval that "
        "knows which items share a question. Takes a study or any table of ratings. Example: "
        "accord agree labels.csv --wide --annotators ann1,ann2 --judges gpt --positive Yes. "
        "For a paper: accord agree mystudy --html panel.html --latex panel.tex",
    )
    def agree_command(
        source: Path = SOURCE,
        wide: bool = typer.Option(
            False, "--wide", help=f"{TABLE_ONLY}one row an item, one column a rater."
        ),
        annotators: str = typer.Option(
            None, "--annotators", metavar="NAME,…", help="People (wide tables: columns, globs)."
        ),
        judges: str = typer.Option(
            None, "--judges", metavar="NAME,…", help="Judges (wide tables: columns, globs)."
        ),
        final: str = typer.Option(
            None, "--final", metavar="NAME", help="The adjudicated or consensus label."
        ),
        item: str = typer.Option(
            None, "--item", metavar="COL,…", help=f"{TABLE_ONLY}what names an item (item_id)."
        ),
        rater: str = typer.Option("rater", "--rater", metavar="COL", help="Long tables: who."),
        kind: str = typer.Option(
            "kind", "--kind", metavar="COL", help="Long tables: annotator, adjudicated or judge."
        ),
        rating: str = typer.Option(
            "rating", "--rating", metavar="COL", help="Long tables: the rating."
        ),
        cluster: str = typer.Option(
            None, "--cluster", metavar="COL,…", help="The resampling unit (question_id)."
        ),
        system: str = typer.Option(
            None, "--system", metavar="COL", help=f"{TABLE_ONLY}the system (system)."
        ),
        response: str = typer.Option(
            None,
            "--response",
            metavar="COL,…",
            help=f"{TABLE_ONLY}what names a response (question and system).",
        ),
        weight: str = typer.Option(
            None, "--weight", metavar="COL", help=f"{TABLE_ONLY}1 / inclusion probability."
        ),
        scale: str = typer.Option(
            None,
            "--scale",
            metavar="SCALE",
            help="nominal, ordinal, interval or ratio (tables: nominal; a study: its template's).",
        ),
        positive: str = typer.Option(
            None, "--positive", metavar="LABEL", help="The label that counts as right (CORRECT)."
        ),
        categories: str = typer.Option(
            None, "--categories", metavar="A,B,…", help="The declared labels, in order."
        ),
        labels: str = typer.Option(
            None,
            "--labels",
            metavar="WORD=LABEL,…",
            help=f"{TABLE_ONLY}yes=CORRECT,no=INCORRECT.",
        ),
        aggregate: str = typer.Option(
            None,
            "--aggregate",
            metavar="HOW",
            help="People's label: majority, mean, adjudicated, unanimous, ground-truth (flagged in "
            "Label Studio), dawid-skene (a model).",
        ),
        unsure: str = UNSURE,
        unscored: str = UNSCORED,
        extra: str = EXTRA,
        ignore: str = typer.Option(
            None,
            "--ignore",
            metavar="LABEL,…",
            help="Labels of elements that do not count (irrelevant ones).",
        ),
        strata: str = typer.Option(
            None, "--strata", metavar="COL,…", help="Agreement by category, system, …, too."
        ),
        family: str = typer.Option(
            None,
            "--family",
            metavar="NAME=FAMILY,…",
            help="Families of judges and systems, for a judge's bias towards its own "
            "(else columns family and judge_family).",
        ),
        tuned_on: str = typer.Option(
            None,
            "--tuned-on",
            metavar="FILE|COL|SAMPLE",
            help="Labels the judge's prompt was tuned on: item ids, a column, a study's sample; "
            "the panel is of the others.",
        ),
        split: str = typer.Option(
            None,
            "--split",
            metavar="COL[=VALUE,…]",
            help="As --tuned-on, by a column of splits (train, dev … against test).",
        ),
        sample: str = typer.Option(
            None, "--sample", metavar="NAME", help="A study: only the items of this sample."
        ),
        template: str = typer.Option(
            None,
            "--template",
            metavar="NAME",
            help="A study: labels made with this template, as rating, choice, refusal or parse.",
        ),
        anchored: bool = typer.Option(
            False,
            "--anchored",
            help="A study: count labels that people gave with a judge's verdict in sight, too.",
        ),
        unit: str = typer.Option(
            "question", "--unit", metavar="UNIT", help="question, or item (taken as independent)."
        ),
        confidence: float = typer.Option(
            None, "--confidence", help="Of the intervals (0.95, or the study's)."
        ),
        method: str = typer.Option(
            "default",
            "--method",
            metavar="METHOD",
            help="Of the intervals: default, percentile, bca, jackknife, bootstrap-t, "
            "grouped-jackknife, or (shares) korn-graubard.",
        ),
        resamples: int = typer.Option(
            1999, "--resamples", help="Of the intervals that are resampled; 0 for none."
        ),
        seed: int = typer.Option(None, "--seed", help="Of the bootstrap (0, or the study's)."),
        map_: str = typer.Option(
            None, "--map", metavar="OURS=COLUMN,…", help=f"{TABLE_ONLY}our column = the file's."
        ),
        every: bool = typer.Option(False, "--all", help="Print every figure, not the short table."),
        as_json: bool = JSON,
        csv_file: Path | None = CSV,
        html: Path | None = HTML,
        latex: Path | None = LATEX,
    ) -> None:
        from ..study.ratings import RatingsOptions, read_ratings
        from ..study.tuned import columns_for
        from ..validate.agreement_report import agreement
        from ..validate.agreement_text import agreement_lines
        from ..validate.panel_settings import PanelSettings, options_of

        panel: dict[str, Any] = {
            "scale": scale,
            "positive": positive,
            "categories": columns(categories),
            "unit": unit,
            "confidence": confidence,
            "method": method,
            "resamples": resamples,
            "seed": seed,
            "final": final,
            "aggregate": aggregate,
            "unsure": unsure,
            "unscored": unscored,
            "extra": extra,
            "ignore": columns(ignore),
            "strata": columns(strata),
            "family": parse_map(family, "--family"),
            "tuned_on": tuned_on,
            "split": split,
        }
        defaults = {name: value for name, value in panel.items() if value is not None}
        PanelSettings(**defaults)  # a slip in an option is told before a large file is read
        expect_apart([csv_file, html, latex], [source, tuned_on])
        if os.path.isdir(source):
            _expect_study(source)
            _refuse_table_options(
                {
                    "--wide": wide,
                    "--item": item,
                    "--rater": rater != "rater",
                    "--kind": kind != "kind",
                    "--rating": rating != "rating",
                    "--system": system,
                    "--response": response,
                    "--weight": weight,
                    "--labels": labels,
                    "--map": map_,
                }
            )
            from ..annotate.alignment_labels import alignment_answers

            with _open(source) as study:
                ratings = study.ratings(sample, anchored=anchored, template=template)
                panel = options_of(study, panel, ratings)
                if ratings.template is None:
                    panel["alignment"] = alignment_answers(study, sample)
                panel["tuned_on"] = _tuned(study, tuned_on)
            _expect_people(source, ratings, sample, template)
            ratings = ratings.select(
                annotators=columns(annotators),
                judges=columns(judges),
                final=final,
                cluster=columns(cluster),
            )
        else:
            panel = defaults
            if anchored:
                raise SettingsError(
                    "--anchored is for a study, and this is a table", cure="leave it out"
                )
            for option, named in (("--sample", sample), ("--template", template)):
                if named is not None:
                    raise SettingsError(
                        f"{option} is for a study, and this is a table", cure="name a study folder"
                    )
            options = RatingsOptions(
                item=columns(item),
                rater=rater,
                kind=kind,
                rating=rating,
                cluster=columns(cluster),
                system=system,
                weight=weight,
                response=columns(response),
                wide=wide,
                annotators=columns(annotators),
                judges=columns(judges),
                final=final,
                strata=columns(strata),
                marks=columns_for(tuned_on, split),
                labels=parse_map(labels, "--labels"),
                categories=columns(categories),
                scale=scale or "nominal",  # type: ignore[arg-type]  # PanelSettings has checked it
                mapping=parse_map(map_, "--map"),
            )
            ratings = read_ratings(source, options)
            if wide and final is not None:
                adjudicated = ratings.frame.loc[ratings.frame["kind"] == "adjudicated", "rater"]
                panel["final"] = adjudicated.iloc[0] if len(adjudicated) else final
        # what nobody reads is not computed
        whole = every or as_json or csv_file is not None or html is not None
        report = agreement(ratings, **panel, figures="all" if whole else "main")
        # a study's ratings have no file whose name could head the page
        name = source.resolve().name if os.path.isdir(source) else ""
        _write(report, name, csv_file=csv_file, html=html, latex=latex)
        payload = envelope(
            "agree",
            settings=report.settings,
            input=report.source,
            results=[*report.result_dicts(), *(table.to_dict() for table in report.confusion)],
            notes=list(report.notes),
            kinds=dict(report.kinds),
            people=report.people,
            dropped=dict(report.dropped),
            sections=report.section_dicts(),
        )
        emit(payload, as_json, agreement_lines(report, every=every, columns=_columns()))


def _columns() -> int:
    """Of the terminal; a file or a pipe gets the whole table."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDE


def _write(
    report: AgreementReport,
    name: str,
    *,
    csv_file: Path | None,
    html: Path | None,
    latex: Path | None,
) -> None:
    """Write the files that were asked for, all of them or none."""
    from ..scoring.files import write_together
    from ..study.writers import csv_text

    made: dict[Path, str] = {}
    if csv_file is not None:
        made[csv_file] = csv_text(report.to_frame())
    if html is not None:
        from ..study.records import now
        from ..validate.panel_page import agreement_page

        title = f"Agreement: {name}" if name else ""
        made[html] = agreement_page(report, title=title, generated_at=now())
    if latex is not None:
        from ..validate.panel_latex import agreement_latex

        made[latex] = agreement_latex(report)
    write_together(made)


def _expect_people(
    source: Path, ratings: Ratings, sample: str | None, template: str | None
) -> None:
    """A study whose items nobody has rated yet has no agreement: say how labels come in."""
    if ratings.frame["kind"].isin(["annotator", "adjudicated"]).any():
        return
    here = f"the sample {sample!r}" if sample else "the study"
    here += f" (template {template})" if template else ""
    raise InputError(
        f"{here} has no labels by people yet",
        cure=f"import labels first: accord import {source} --from label-studio, or from a file"
        f" accord import {source} EXPORT.json, or accord add {source} LABELS.csv --as ratings",
    )


def _tuned(study: Study, tuned_on: str | None) -> str | frozenset[str] | None:
    """The items of a sample of that name; else what it is, a file or a column."""
    if tuned_on is not None:
        for sample in study.ledger.samples():
            if sample.sample_id == tuned_on:
                return frozenset(item for item, _ in sample.items)
    return tuned_on


def _refuse_table_options(given: Mapping[str, object]) -> None:
    for option, value in given.items():
        if value:
            raise SettingsError(
                f"{option} is for tables, and this is a study",
                cure="leave it out: a study knows its columns",
            )


def _expect_study(folder: Path) -> None:
    if not (folder / "study.toml").is_file():
        raise InputError(
            f"{folder} is a folder and no study (it has no study.toml)",
            cure="name a study folder or a table",
        )


def _open(folder: Path) -> Study:
    from ..study import Study

    opened: Study = Study.open(folder)
    return opened
