"""The report of a study: what is gathered for it, and the three files it is written to."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scoring.errors import AccordError, StudyError
from ..scoring.files import expect_writable, write_together
from ..scoring.records import NO_SYSTEM, REASONS
from ..scoring.sciknoweval import SciKnowEvalRecipe
from ..study.records import GROUND_TRUTH
from .report import Report, build_report

if TYPE_CHECKING:
    import pandas as pd

    from ..study import Ratings, Study

__all__ = ["Written", "study_report", "write_report"]

_FIGURES = (
    "llm_judge_f1",
    "llm_judge_precision",
    "llm_judge_recall",
    "llm_judge_f1_ordered",
    "rouge_f1",
    "relaxed_recall",
    "relaxed_precision",
    "format_correctness",
    "share_correct",
    "universe_f1",
    "universe_precision",
    "universe_recall",
    "universe_f1_optimal",
    "optimal_minus_greedy",
    "krq_accuracy",
)
"""The score columns whose mean is shown, in this order."""


def study_report(
    study: Study,
    *,
    title: str | None = None,
    audit: Mapping[str, Any] | None = None,
    sample_id: str | None = None,
    template: str | None = None,
    annotators: Sequence[str] = (),
    judges: Sequence[str] = (),
    by: Sequence[str] = (),
    **options: Any,
) -> Report:
    """Gather a report from a study: agreement, scores, disagreements, recipe, provenance.

    A study without people's labels, without judges or without anything gives a report that says
    so.

    Parameters
    ----------
    study
        Open.
    title
        Default: the study's name.
    audit
        The gold answers' error rate (an Estimate's dictionary), None without an audit.
    sample_id
        Only the items of this sample.
    template
        The labelling template whose labels are meant, as for :meth:`accord.study.Study.ratings`.
    annotators, judges
        Only these; default all.
    by
        What the scores are sliced by, as for ``accord score --by``.
    **options
        As :func:`~accord.validate.agreement`; confidence, seed, and how UNSURE, unscored and extra
        ratings count, are the study's and its recipe's unless given.

    Raises
    ------
    AccordError
        What :func:`~accord.validate.agreement` refuses; with ``by`` a field that nothing has, or a
        study without scores of what it holds now.
    """
    from ..study.records import now
    from .study_slices import check_slices, slice_tables, slices_of

    check_slices(study, by)
    slices = [
        {
            "by": name,
            "results": [one.to_dict() for one in figures],
            "tables": [table.to_dict() for table in slice_tables({name: figures})],
        }
        for name, figures in (slices_of(study, by).items() if by else ())
    ]

    final = options.get("final")
    ratings = study.ratings(sample_id, template=template)
    ratings = ratings.select(annotators=annotators, judges=judges, final=final)
    if ratings.template is not None:
        options.pop("alignment", None)
    panel, scores = _agreement(ratings, study, options)
    systems, notes = _systems(study)
    panel["notes"] = [*panel.get("notes", ()), *notes]
    about = study.provenance()
    recipe = {**about.pop("recipe"), "sha256": about.pop("recipe_sha256")}
    if about.get("judges"):
        recipe["judges"] = about.pop("judges")
    about["steps"] = [
        {"at": step.pop("at"), "action": step.pop("action"), "detail": step}
        for step in map(dict, about.get("steps") or ())
    ]
    return build_report(
        title=title or study.path.resolve().name,
        agreement=panel,
        response_scores=scores,
        disagreements=list(_disagreements(study, ratings, final)),
        systems=systems,
        slices=slices,
        audit=audit,
        recipe=recipe,
        provenance={
            "generated_at": now(),
            "settings": panel.get("settings") or {},
            "ratings": dict(ratings.source),
            **{key: entry for key, entry in about.items() if entry not in (None, [], {})},
        },
    )


def _agreement(
    ratings: Ratings, study: Study, options: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Mapping[str, Any]]]:
    """The panel and the response scores; without anything to compare, a panel without results."""
    from .agreement_report import agreement
    from .panel_settings import options_of

    frame = ratings.frame
    kinds = dict(zip(frame["rater"], frame["kind"], strict=True))
    by_kind: dict[str, set[str]] = defaultdict(set)
    for rater, kind in kinds.items():
        by_kind[kind].add(rater)
    people = by_kind["annotator"] | by_kind["adjudicated"]
    if not (people and by_kind["judge"]) and len(by_kind["annotator"]) < 2:
        dropped = [f"left out: {reason}: {n}" for reason, n in ratings.dropped.items()]
        return {"kinds": kinds, "notes": [*ratings.notes, *dropped]}, []
    found = agreement(ratings, **options_of(study, options, ratings))
    panel = found.to_dict()
    panel["notes"] += [f"left out: {reason}: {n}" for reason, n in found.dropped.items()]
    return panel, list(found.responses)


def _systems(study: Study) -> tuple[list[dict[str, Any]], list[str]]:
    """Mean scores by judge and system over all responses; why there are none, if so."""
    try:
        frame = study.scores()
    except StudyError as error:
        return [], [f"No mean scores: {error.message}."]
    recipe = study.settings.recipe()
    if isinstance(recipe, SciKnowEvalRecipe):
        from .report_science import science_systems

        note = f"The score is {recipe.aggregate}; ratings as {recipe.rating_map}."
        return list(science_systems(frame, recipe)), [note]
    if getattr(recipe, "averaging", "response") != "response":
        return [], ["The recipe pools its averages: accord score prints them."]
    figures = [name for name in _FIGURES if name in frame and frame[name].notna().any()]
    rows = []
    keys = ["judge", "system", "variant"]
    for (judge, system, variant), part in frame.groupby(keys, sort=False, dropna=False):
        row = {"judge": judge, "system": "–" if system in (None, NO_SYSTEM) else system}
        row |= {"variant": variant} if variant else {}
        row |= {"responses": len(part), "unscored": int(part["unscored"].fillna(0).sum())}
        means = part[figures].astype(float).mean()
        rows.append({**row, **{name: float(means[name]) for name in figures}})
    return rows, []


def _disagreements(study: Study, ratings: Ratings, final: str | None) -> Iterator[dict[str, Any]]:
    """The items on which a judge differs from a person, or people from one another."""
    from ..study.identity import system_label

    by_item: dict[str, dict[str, dict[str, str | None]]] = {}
    frame = ratings.frame
    for item_id, rater, kind, rating in zip(
        frame["item_id"], frame["rater"], frame["kind"], frame["rating"], strict=True
    ):
        by_item.setdefault(item_id, defaultdict(dict))[kind][rater] = rating
    comments = _comments(study)
    graded = _graded(study.pairs()) if ratings.template is None else _units(study, ratings)
    for pair in graded:
        kinds = by_item.get(pair["item_id"])
        if kinds is None:
            continue
        judges, people, settled = kinds["judge"], kinds["annotator"], kinds["adjudicated"]
        human = {text for text in (*people.values(), *settled.values()) if text is not None}
        judged = {text for text in judges.values() if text is not None}
        if not human or (len(human) == 1 and judged <= human):
            continue
        decided = (rating for rater, rating in settled.items() if rater != GROUND_TRUTH)
        last = (settled | people).get(final) if final else next(decided, None)
        yield {
            "item_id": pair["item_id"],
            "question_id": pair["question_id"],
            "system": system_label(pair["system"], pair["variant"]),
            "question": pair["question"],
            "reference": pair["reference"],
            "predicted": pair["predicted"],
            "judges": dict(judges),
            "people": dict(people),
            "final": last,
            "comments": comments.get(pair["item_id"], []),
        }


def _units(study: Study, ratings: Ratings) -> list[dict[str, Any]]:
    """What people graded that is no pair, in the order of the study."""
    from ..study.unit_items import graded_of

    found = graded_of(study.ledger, str(ratings.template), ratings.frame["item_id"].unique())
    return [asdict(one) for one in found.values()]


def _graded(pairs: pd.DataFrame) -> list[dict[str, Any]]:
    names = ["item_id", "question_id", "system", "variant", "question", "reference", "predicted"]
    graded = pairs.loc[pairs["item_id"].notna(), names].astype(object)
    cells = graded.where(graded.notna(), None)
    return [dict(zip(names, row, strict=True)) for row in cells.itertuples(index=False)]


def _comments(study: Study) -> dict[str, list[str]]:
    """What people wrote on each item, reasons first; the latest of each person."""
    latest: dict[tuple[str, str], str] = {}
    for row in study.ledger.rating_rows():
        said = "; ".join(
            [
                *(REASONS.get(word, word) for word in row.reasons),
                *([row.comment] if row.comment else []),
            ]
        )
        if row.kind != "judge" and said:
            latest[(row.item_id, row.rater)] = f"{row.rater}: {said}"
    out: dict[str, list[str]] = defaultdict(list)
    for (item_id, _), text in latest.items():
        out[item_id].append(text)
    return out


@dataclass(frozen=True, slots=True)
class Written:
    """A report and the files it was written to."""

    report: Report
    html: Path
    json: Path
    csv: Path


def write_report(study: Study, html: Path | str | None = None, **options: Any) -> Written:
    """Write the report of a study: a page, the same as JSON, and the disagreements as CSV.

    Parameters
    ----------
    study
        Open.
    html
        Where the page goes; default ``reports/report.html`` in the study. ``report.json`` and
        ``disagreements.csv`` always go to ``reports/``.
    **options
        As :func:`study_report`.

    Raises
    ------
    AccordError
        When a file can't be written; what was there before is kept.
    """
    from ..study.writers import csv_text

    report = study_report(study, **options)
    folder = study.path / "reports"
    page = Path(html) if html is not None else folder / "report.html"
    plain, table = folder / "report.json", folder / "disagreements.csv"
    content = json.dumps(report.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
    texts: dict[Path, str] = {
        page: report.to_html(),
        plain: content + "\n",
        table: csv_text(disagreement_table(report)),
    }
    if html is not None:
        expect_writable(page)
    _make(folder)
    write_together(texts)
    return Written(report, page, plain, table)


def disagreement_table(report: Report) -> pd.DataFrame:
    """The disagreements as a frame: one row an item, one column a rater."""
    import pandas as pd

    kept = ("item_id", "question_id", "system", "question", "reference", "predicted")
    rows = []
    for one in report.disagreements:
        row = {name: one.get(name) for name in kept}
        row |= {f"judge {name}": text for name, text in (one.get("judges") or {}).items()}
        row |= {f"annotator {name}": text for name, text in (one.get("people") or {}).items()}
        row |= {"final": one.get("final"), "comments": "\n".join(one.get("comments") or ())}
        rows.append(row)
    names = list(dict.fromkeys(name for row in rows for name in row)) or list(kept)
    tail = [name for name in ("final", "comments") if name in names]
    return pd.DataFrame(rows, columns=[*(name for name in names if name not in tail), *tail])


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise AccordError(
            f"{folder} can't be written: {error.strerror}", cure="make the study's folder writable"
        ) from None
