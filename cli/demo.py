"""``accord demo``: the whole loop on the example study, with a private Label Studio."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..scoring.errors import StudyError, one_line
from .common import warn

if TYPE_CHECKING:
    from ..annotate.connection import Connection
    from ..annotate.server import PrivateServer
    from ..study import Study

__all__ = ["register", "run"]

QUESTIONS = 30
"""Questions whose items the two example annotators grade."""

_FOLDER = typer.Option(
    Path("accord-demo"), "--study", metavar="FOLDER", help="Where the study is made."
)
_MARK = ".made-by-accord-demo"
_TEMPLATE = "pair"


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "demo",
        help="The whole loop on the example study: score, hand out blind tasks in a private Label "
        "Studio, post the example annotators' labels, bring them back, write the report. "
        "Everything it starts is stopped. Example: accord demo --keep",
    )
    def demo_command(
        study: Path = _FOLDER,
        keep: bool = typer.Option(
            False, "--keep", help="Leave Label Studio running and show the address and log-in."
        ),
    ) -> None:
        run(study, keep=keep)


def run(folder: Path, *, keep: bool = False) -> None:
    """Run the demo in ``folder``, which is made anew when an earlier demo made it."""
    from ..study import Study

    began = time.monotonic()
    _clear(folder)
    with Study.create(folder) as study:
        (folder / _MARK).touch()
        _score(study)
        with _server(keep) as server:
            _label(study, server)
        _conclude(study)
    took = time.monotonic() - began
    typer.echo(f"\nThe whole loop took {took:.0f} s. The study is in {folder}.")
    if keep:
        login = server.login()
        typer.echo(f"Label Studio is still at {server.status().url}")
        typer.echo(f"log in as {login.email} with the password {login.password}")
        typer.echo(f"stop it with: accord label-studio down --data {server.data}")


def _clear(folder: Path) -> None:
    """Remove what an earlier demo made; refuse anything else."""
    if not folder.exists():
        return
    if not (folder / _MARK).is_file():
        if folder.is_dir() and not any(folder.iterdir()):
            return
        raise StudyError(
            f"{folder} is there and was not made by the demo",
            cure="name another folder: accord demo --study FOLDER",
        )
    shutil.rmtree(folder)


def _step(text: str) -> None:
    typer.echo(f"\n== {text}")


def _score(study: Study) -> None:
    from ..examples import files

    _step("Elements: what three made-up systems answered to 76 list questions, parsed and aligned")
    for name, add in (("questions", study.add_questions), ("responses", study.add_responses)):
        added = add(Path(str(files() / f"{name}.jsonl")))
        typer.echo(f"{name}: {added.rows} rows")
    report = study.score(["exact", "rouge"])
    _show_pairs(study)
    typer.echo("mean scores (judge exact: equal or an alias; judge rouge: words in common)")
    for row in report.rows:
        figures = row["figures"]
        typer.echo(
            f"  {row['judge']:6}  {row['system']:8} judge-F1 {figures['llm_judge_f1']:.3f}"
            f"  ROUGE-F1 {figures['rouge_f1']:.3f}  format {figures['format_correctness']:.3f}"
        )


def _show_pairs(study: Study) -> None:
    """One aligned response, so that a reader sees what the figures are made of."""
    frame = study.pairs()
    kinds = frame.groupby(["question_id", "system"])["how"].nunique()
    question, system = kinds.idxmax()
    rows = frame[(frame["question_id"] == question) & (frame["system"] == system)]
    typer.echo(f"for example, {system} to: {one_line(rows['question'].iloc[0])}")
    for reference, predicted, how in zip(
        rows["reference"], rows["predicted"], rows["how"], strict=True
    ):
        typer.echo(f"  {_cell(reference)} | {_cell(predicted)} | {how}")


def _cell(text: Any) -> str:
    shown = one_line(text) if isinstance(text, str) else "–"
    return (shown if len(shown) <= 34 else shown[:33] + "…").ljust(34)


@contextmanager
def _server(keep: bool) -> Iterator[PrivateServer]:
    """A private Label Studio of its own, in memory where the system has a place for that."""
    from ..annotate.server import PrivateServer

    _step("People: a private Label Studio on this machine")
    memory = Path("/dev/shm")
    parent = memory if memory.is_dir() and shutil.disk_usage(memory).free > 2**30 else None
    data = Path(tempfile.mkdtemp(prefix="accord-demo-", dir=parent))
    server = PrivateServer(data)
    kept = False
    try:
        status = server.up(0, progress=warn)
        typer.echo(f"Label Studio {status.version} answers at {status.url}")
        yield server
        kept = keep
    finally:
        if not kept:
            with suppress(FileNotFoundError):
                server.down()
            shutil.rmtree(data, ignore_errors=True)


def _label(study: Study, server: PrivateServer) -> None:
    """Blind tasks out, the example labels posted by two accounts, labels back."""
    from ..annotate.connection import connect
    from ..annotate.export import export_to_server
    from ..annotate.importing import import_from_server
    from ..annotate.pseudonym import Pseudonyms
    from ..annotate.sample import draw_sample

    sample = draw_sample(study, questions=QUESTIONS)
    typer.echo(sample.design)
    url, login = str(server.status().url), server.login()
    with connect(url, login.token) as connection:
        report = export_to_server(study, sample.sample_id, connection, per_item=2)
        typer.echo(f"{report.added} blind tasks in {report.url}")
        posted = _post(study, connection, int(report.project_id or 0), url, login.token)
        typer.echo(f"{posted} annotations posted by two accounts")
        back = import_from_server(study, connection, names=Pseudonyms(server.data / "people"))
    typer.echo("labels back:")
    for line in back.lines():
        typer.echo(f"  {line}")


def _post(study: Study, connection: Connection, project: int, url: str, token: str) -> int:
    from ..annotate.people import post_annotations, sign_up
    from ..annotate.projects import Project, list_tasks
    from ..annotate.template import load_template
    from ..examples import labels_of

    page = load_template(_TEMPLATE)
    tasks = list_tasks(connection, Project(project, url, 2))
    task_of = {task.item_id: task.task_id for task in tasks}
    labels: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for label in labels_of(study.items()):
        if label["item_id"] in task_of:
            labels[label["rater"]].append(label)
    posted = 0
    for rater, rows in sorted(labels.items()):
        account = sign_up(url, token, f"{rater}@example.org")
        answers = []
        for row in rows:
            result = page.answer(
                row["rating"], reasons=row["reasons"], comment=row["comment"] or None
            )
            answers.append((task_of[row["item_id"]], result, None))
        posted += post_annotations(url, account, answers)
    return posted


def _conclude(study: Study) -> None:
    from ..examples import files
    from ..study.readers import read_table
    from ..validate.audit_table import audit
    from ..validate.report_study import write_report

    _step("Figures: judges beside people, and the gold answers")
    table = read_table(Path(str(files() / "gold_audit.csv")), required=("question_id", "verdict"))
    gold = replace(audit(table).result, warnings=())
    written = write_report(study, title="The example study of accord", audit=gold.to_dict())
    for sentence in written.report.conclusions:
        typer.echo(sentence)
    typer.echo(f"\nreport: {written.html}")
