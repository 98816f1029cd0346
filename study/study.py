"""A study on disk: one folder with settings, ledger, tables and reports."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..scoring.errors import AccordError, SettingsError, StudyError
from ..scoring.records import Item
from . import adding
from .adding import Added
from .identity import state_of
from .ledger import Ledger
from .provenance import collect
from .ratings import Ratings, RatingsOptions
from .readers import Table
from .settings import FILE_NAME, Settings, write_new
from .tables import Tables

if TYPE_CHECKING:
    import pandas as pd

    from ..scoring.judge_progress import ProgressCallback
    from ..scoring.judges import Judge
    from ..scoring.recipes import Recipe
    from ..scoring.sciknoweval import SciKnowEvalRecipe
    from ..scoring.universe import UniverseRecipe
    from .aligner_scores import AlignerScores
    from .benchmark_run import Figures
    from .profile_shape import Profile
    from .scoring_run import Progress

__all__ = ["LEDGER", "ScoreReport", "Study"]

LEDGER = "ledger.sqlite"


class Study:
    """An open study; :meth:`create` makes one and :meth:`open` opens one.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "mystudy"
    ...     with Study.create(path) as study:
    ...         study.settings.recipe_name
    'listqa'
    """

    def __init__(self, path: Path, settings: Settings, ledger: Ledger) -> None:
        self.path = path
        self.settings = settings
        self.ledger = ledger
        self.tables = Tables(path / "tables")

    @classmethod
    def create(cls, path: Path | str, *, recipe: str = "listqa", seed: int = 1) -> Study:
        """Make a new study in a folder that does not exist or is empty, and open it.

        Raises
        ------
        StudyError
            When there is something in the folder or it can't be written.
        SettingsError
            When the recipe is unknown.
        """
        folder = Path(path)
        # os.path, since a name that is too long raises in pathlib before Python 3.12.
        there = os.path.exists(folder)
        if there and not os.path.isdir(folder):
            raise StudyError(f"{folder} is a file", cure="name a new folder")
        try:
            if there and any(folder.iterdir()):
                raise StudyError(f"{folder} is not empty", cure="name a new folder")
            new = not there
            place = folder.parent if new else folder
            place.mkdir(parents=True, exist_ok=True)
            aside = Path(tempfile.mkdtemp(prefix=".accord-", dir=place))
        except OSError as error:
            raise _unwritable(folder, error) from None
        try:
            aside.chmod(0o777 & ~_umask())
            write_new(aside / FILE_NAME, recipe=recipe, seed=seed)
            with Ledger.create(aside / LEDGER) as ledger:
                ledger.add_provenance("init", {"recipe": recipe, "seed": seed})
            (aside / "ledger.lock").unlink(missing_ok=True)
            if new:
                os.replace(aside, folder)
            else:
                # A folder that someone stands in is filled, not replaced; what makes it a study
                # comes last.
                for name in (LEDGER, FILE_NAME):
                    os.replace(aside / name, folder / name)
        except OSError as error:
            raise _unwritable(folder, error) from None
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return cls.open(folder)

    @classmethod
    def open(cls, path: Path | str) -> Study:
        """Open a study.

        Raises
        ------
        StudyError
            When the folder is no study, or its ledger is damaged or of a newer accord.
        SettingsError
            When ``study.toml`` holds something that can't be used.
        """
        folder = Path(path)
        make = "make one with: accord init STUDY --recipe listqa"
        if not os.path.exists(folder):
            raise StudyError(f"there is no folder {folder}", cure=f"check the name, or {make}")
        if not os.path.isdir(folder):
            raise StudyError(f"{folder} is a file, not a study", cure=f"name a folder, or {make}")
        for name in (FILE_NAME, LEDGER):
            if not os.path.isfile(folder / name):
                raise StudyError(f"{folder} is no study: it has no {name}", cure=make)
        settings = Settings.read(folder / FILE_NAME)
        return cls(folder, settings, Ledger(folder / LEDGER))

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<study {self.path.name!r}, recipe {self.settings.recipe_name}>"

    # Bringing in

    def add_questions(
        self, source: Table | Path | str, *, mapping: Mapping[str, str] | None = None
    ) -> Added:
        """Bring questions in: ``question_id, question, reference``; other columns are kept.

        In a study of KnowledgeBerg a multiple-choice question has a ``key`` instead of a reference
        (:mod:`accord.study.knowledgeberg_questions`); in one of SciKnowEval questions are the
        benchmark's rows, as :meth:`add_outside` reads them.
        """
        from ..scoring.sciknoweval import SciKnowEvalRecipe
        from ..scoring.universe import UniverseRecipe
        from .knowledgeberg_questions import knowledgeberg_table
        from .sciknoweval_run import check_questions

        recipe = self.settings.recipe()
        if isinstance(recipe, SciKnowEvalRecipe):
            check_questions(source)
        if isinstance(recipe, UniverseRecipe):
            source = knowledgeberg_table(
                source, self.ledger.questions(), recipe.articles, mapping=mapping
            )
        return adding.add_questions(self.ledger, source, mapping=mapping, recipe=recipe.name)

    def add_outside(
        self,
        source: Path | str,
        format: str | Profile,
        role: Literal["questions", "responses", "pairs", "ratings"],
        *,
        mapping: Mapping[str, str] | None = None,
        system: str | None = None,
        variant: str | None = None,
        strata: Sequence[str] = (),
    ) -> Added:
        """Bring a file in that is in another benchmark's format.

        Parameters
        ----------
        format
            A name that ``accord profiles`` lists, or a mapping file (``.toml``, ``.json``).
        role
            What is taken from the file; a file that holds gold and answers is brought in twice.
        mapping
            The format's field name → the file's; ``question_id`` names a field of ids.
        system, variant
            Who answered, where the rows do not say it.
        strata
            Further fields to keep with responses and pairs.

        Raises
        ------
        SettingsError
            An unknown format, or one that this can't be taken from.
        InputError
            With every bad row; nothing is added then.
        """
        from .knowledgeberg_questions import refuse_choices
        from .profile_read import read_outside
        from .profiles import find_profile

        answers = role == "responses"
        table = read_outside(
            source,
            find_profile(format) if isinstance(format, str) else format,
            role,
            mapping=mapping,
            system=system,
            variant=variant,
            strata=strata,
            question_ids=frozenset(q.question_id for q in self.ledger.questions() if answers),
            left_ids=frozenset(
                name
                for file in self.ledger.inputs()
                if answers
                for name in file.options.get("left_out", ())
            ),
        )
        if role == "questions":
            refuse_choices(self.settings.recipe(), table)
            return self.add_questions(table)
        if role == "responses":
            return self.add_responses(table, strata=strata)
        if role == "pairs":
            return self.add_pairs(table, strata=strata)
        return self.add_ratings(table)

    def add_responses(
        self,
        source: Table | Path | str,
        *,
        mapping: Mapping[str, str] | None = None,
        strata: Sequence[str] = (),
    ) -> Added:
        """Bring responses in: ``question_id, system, response``, and columns named as strata.

        In a study of SciKnowEval those that were asked for with examples are refused.
        """
        from ..scoring.sciknoweval import SciKnowEvalRecipe
        from .sciknoweval_run import refuse_examples

        zero_shot = isinstance(self.settings.recipe(), SciKnowEvalRecipe)
        return adding.add_responses(
            self.ledger,
            source,
            mapping=mapping,
            strata=strata,
            check=refuse_examples if zero_shot else None,
        )

    def add_pairs(
        self,
        source: Table | Path | str,
        *,
        mapping: Mapping[str, str] | None = None,
        strata: Sequence[str] = (),
    ) -> Added:
        """Bring pairs in: each row one reference element beside one predicted element."""
        from ..scoring.study_recipes import list_recipe

        list_recipe(self.settings.recipe(), "a table of pairs")

        def made() -> frozenset[str]:
            if not self.ledger.query("SELECT 1 FROM response LIMIT 1"):
                return frozenset()
            frame = self._pairs()
            return frozenset(frame.loc[frame["how"] != "given", "item_id"].dropna())

        return adding.add_pairs(self.ledger, source, made, mapping=mapping, strata=strata)

    def add_ratings(
        self,
        source: Table | Path | str,
        options: RatingsOptions | None = None,
        *,
        on: Sequence[str] = (),
    ) -> Added:
        """Bring ratings in, from a long or a wide table.

        ``on`` names the columns by which labels without accord's ids find their items.
        """
        return adding.add_ratings(self.ledger, source, self._pairs, options, on=on)

    # Scoring

    def score(
        self,
        judges: Sequence[str] = (),
        *,
        jobs: int = 1,
        repeat: int = 1,
        fresh: bool = False,
        retry_unscored: bool = False,
        aligners: Sequence[str] = (),
        progress: Progress | None = None,
        judge_progress: Callable[[str], ProgressCallback] | None = None,
    ) -> ScoreReport:
        """Parse, align, judge, count; write the tables and keep the verdicts.

        Parameters
        ----------
        judges
            Names of judges; all of ``study.toml`` by default, ``exact`` when it has none.
        jobs
            Processes that parse and align list questions; other recipes read in one. More than 1
            needs ``if __name__ == "__main__":`` in a script.
        repeat
            Ask each model judge so many times; the second time is the rater ``NAME#2``, and so on,
            so that a judge can be compared with itself. Other judges say the same each time and are
            not repeated.
        fresh
            Ask model judges again, whatever they answered before.
        retry_unscored
            Ask model judges again where the reply that is kept could not be read.
        aligners
            Names of two or more aligners to compare: ``rouge`` (the optimal assignment),
            ``greedy``, ``positional``, ``embedding``. Pairs that only they make are judged too;
            they are in no score.
        progress
            Called with how many responses are done, and of how many.
        judge_progress
            Given a judge's name, returns what is told how the judge gets on.

        Returns
        -------
        ScoreReport
            A judge whose endpoint can't be used is in ``failed``; the others are scored.

        Raises
        ------
        StudyError
            When there is nothing to score, or another accord is writing.
        SettingsError
            When a judge or aligner is unknown or can't be used, or questions came in that the
            recipe would read as something else.
        ServiceError
            When the endpoint of no judge can be used.
        """
        from ..scoring.judges import make_judge
        from ..scoring.recipes import Recipe
        from ..scoring.study_recipes import list_recipe
        from .aligner_scores import named_aligners
        from .benchmark_run import BenchmarkRun, for_recipe, run_benchmark
        from .recipe_fit import refuse_other_recipes
        from .scoring_run import Outcome, Run, run

        compared = named_aligners(aligners)
        if compared and not self.ledger.query("SELECT 1 FROM response LIMIT 1"):
            raise SettingsError(
                "--aligners compares how responses are aligned, and the study has none",
                cure="bring some in: accord add STUDY FILE --as responses",
            )
        for option, number in (("--jobs", jobs), ("--repeat", repeat)):
            if number < 1:
                raise SettingsError(f"{option} can't be {number}", cure="use 1 or more")
        recipe = self.settings.recipe()
        refuse_other_recipes(self.ledger, recipe)
        if compared:
            list_recipe(recipe, "--aligners")
        if jobs > 1:
            list_recipe(recipe, "--jobs")
        made: list[Judge] = []
        for name, table in self.settings.judge_settings(judges).items():
            table = for_recipe(recipe, table)
            for time in range(repeat if table.get("type") == "openai" else 1):
                label = name if time == 0 else f"{name}#{time + 1}"
                with _naming_the_file():
                    judge = make_judge(
                        label,
                        table,
                        replies=self.ledger,
                        progress=judge_progress(label) if judge_progress else None,
                        folder=self.path,
                        fresh=fresh,
                        retry_unscored=retry_unscored,
                        repeat=time,
                    )
                made.append(judge)
        with self.ledger.writing():
            state = state_of(self.ledger, recipe)
            shared: dict[str, Any] = {
                "ledger": self.ledger,
                "tables": self.tables,
                "state": state,
                "judges": made,
                "progress": progress,
            }
            outcome = (
                run(Run(recipe=recipe, jobs=jobs, aligners=compared, **shared))
                if isinstance(recipe, Recipe)
                else run_benchmark(BenchmarkRun(recipe=recipe, **shared))
            )
            self.ledger.add_provenance(
                "score",
                {
                    "judges": [judge.name for judge in made],
                    "recipe_sha256": recipe.sha256,
                    "state": state,
                    "fresh": fresh,
                    **({"aligners": list(compared)} if compared else {}),
                    "work": outcome.work,
                    "failed": {name: error.message for name, error in outcome.failed.items()},
                },
            )
        return ScoreReport(
            tuple(outcome.rows),
            recipe.block(),
            recipe.sha256,
            state,
            outcome.work,
            outcome.failed,
            outcome.aligned if compared and isinstance(outcome, Outcome) else None,
            {} if isinstance(outcome, Outcome) else outcome.figures,
            tuple(outcome.notes) if isinstance(outcome, Outcome) else (),
        )

    def _pairs(self) -> pd.DataFrame:
        """The pairs table, made again when it is stale or gone.

        Without those that only a compared aligner makes: no person's label can mean them.
        """
        recipe = self.settings.recipe()
        state = state_of(self.ledger, recipe)
        manifest = self.tables.manifest()
        if manifest is not None and manifest.state == state:
            return _own(self.tables)
        if not self.ledger.writable:
            with tempfile.TemporaryDirectory() as folder:
                tables = Tables(Path(folder) / "tables")
                self._align(tables, recipe, state)
                return _own(tables)
        with self.ledger.writing():
            # Another process may have added, aligned and scored while this one waited.
            state = state_of(self.ledger, recipe)
            manifest = self.tables.manifest()
            if manifest is None or manifest.state != state:
                self._align(self.tables, recipe, state)
        return _own(self.tables)

    def _align(
        self, tables: Tables, recipe: Recipe | UniverseRecipe | SciKnowEvalRecipe, state: str
    ) -> None:
        """Make elements and pairs, without a judge."""
        from ..scoring.recipes import Recipe
        from .benchmark_run import BenchmarkRun, run_benchmark
        from .recipe_fit import refuse_other_recipes
        from .scoring_run import Run, run

        refuse_other_recipes(self.ledger, recipe)
        if isinstance(recipe, Recipe):
            run(Run(self.ledger, tables, recipe, state))
        else:
            run_benchmark(BenchmarkRun(self.ledger, tables, recipe, state))

    # Reading

    def pairs(self) -> pd.DataFrame:
        """The pairs of the recipe's alignment, one row each; made again when they are stale.

        Unmatched elements of both sides are among them; a reference element without a partner has
        no ``item_id`` and nothing predicted. ``aliases`` holds lists; counts and indices are Int64.
        """
        frame = self._pairs()
        return frame[frame["alignment"] == "main"].drop(columns="alignment").reset_index(drop=True)

    def items(self) -> list[Item]:
        """What people and judges grade, in the order of questions and responses."""
        from .joined import items_of

        return items_of(self.pairs())

    def ratings(
        self,
        sample_id: str | None = None,
        *,
        anchored: bool = False,
        template: str | None = None,
    ) -> Ratings:
        """People's and judges' ratings, the latest of each item and rater, of all or one sample.

        Those of pairs where people graded any; else those of the one labelling template that was
        used (whole responses, parses, gold answers), on its own scale. ``template`` names one.

        Labels that people gave with a judge's verdict in sight are not blind and are left out, with
        a note; ``anchored`` takes them in.
        """
        from .joined import join_ratings
        from .unit_ratings import join_unit_ratings, template_of_ratings

        other = template_of_ratings(self.ledger, sample_id, template)
        if other is not None:
            return join_unit_ratings(
                self.ledger, self.path, other, self._pairs, sample_id, anchored=anchored
            )
        frame = self._pairs()
        main = frame["alignment"] == "main"
        aside = frozenset(frame.loc[~main, "item_id"].dropna())
        return join_ratings(self.ledger, frame[main], aside, sample_id, anchored=anchored)

    def scores(self) -> pd.DataFrame:
        """The scores of all judges that were run, one row a response and judge.

        Raises
        ------
        StudyError
            When there are none, or they are older than what the study holds now.
        """
        import pandas as pd

        manifest = self.tables.manifest()
        names = [] if manifest is None else [n for n in manifest.parts if n.startswith("scores/")]
        current = state_of(self.ledger, self.settings.recipe())
        if manifest is None or not names:
            raise StudyError("the study has no scores", cure=f"run accord score {self.path}")
        if manifest.state != current:
            raise StudyError(
                "the scores are older than the study's inputs, settings or accord",
                cure=f"run accord score {self.path}; no judge is asked twice",
            )
        return pd.concat([self.tables.read(name) for name in names], ignore_index=True)

    def provenance(self) -> dict[str, Any]:
        """What the study's figures rest on, as JSON values; no absolute path and no secret."""
        return collect(self.ledger, self.settings, self.tables)


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """The mean figures of a scoring run: one row a judge and system, and the recipe block.

    ``state`` is the hash of what the study held; ``work`` says for each model judge how many
    questions were asked, asked again, known already and left without a reply, the calls (what was
    put to the model in this run), the items left unscored, and the tokens; ``failed`` names the
    judges that could not be used to the end, and why; ``aligned`` holds the scores under each of
    the aligners that were compared; ``figures`` maps judge and system to the whole figures of a
    benchmark's own recipe; ``notes`` are sentences worth reading.
    """

    rows: tuple[dict[str, Any], ...]
    recipe: Mapping[str, Any]
    recipe_sha256: str
    state: str
    work: Mapping[str, Mapping[str, int]]
    failed: Mapping[str, AccordError] = field(default_factory=dict)
    aligned: AlignerScores | None = None
    figures: Mapping[tuple[str, str], Figures] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "results": [dict(row) for row in self.rows],
            "settings": {"recipe": dict(self.recipe), "recipe_sha256": self.recipe_sha256},
            "work": {name: dict(counts) for name, counts in self.work.items()},
            "failed": {name: str(error) for name, error in self.failed.items()},
            "notes": list(self.notes),
        }


@contextmanager
def _naming_the_file() -> Iterator[None]:
    """Messages about a table of ``study.toml`` name the file too."""
    try:
        yield
    except SettingsError as error:
        if not error.message.startswith("[judge"):
            raise
        raise SettingsError(f"{FILE_NAME}, {error.message}", cure=error.cure) from None


def _own(tables: Tables) -> pd.DataFrame:
    pairs = tables.read("pairs")
    return pairs[pairs["alignment"].isin(("main", "ordered"))].reset_index(drop=True)


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value


def _unwritable(folder: Path, error: OSError) -> AccordError:
    return StudyError(
        f"{folder} can't be made: {error.strerror or error}",
        cure="name a folder in a place that can be written",
    )
