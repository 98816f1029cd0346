"""Whether the recipe in study.toml can score what came into the study under another one.

A multiple-choice question's key is kept where a list question has its reference, so a recipe that
was changed afterwards would read one as the other, and no figure would show it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..scoring.errors import InputError, SettingsError
from ..scoring.sciknoweval_rows import METRICS, metric_of
from .knowledgeberg_questions import CHOICE, is_choice
from .sciknoweval_run import row_of

if TYPE_CHECKING:
    from ..scoring.study_recipes import AnyRecipe
    from .ledger import Ledger
    from .records import Question

__all__ = ["refuse_other_recipes"]

_BERG, _SCIENCE = "knowledgeberg", "sciknoweval"


def refuse_other_recipes(ledger: Ledger, recipe: AnyRecipe) -> None:
    """Refuse a recipe that reads questions or pairs of the study as what they are not.

    Raises
    ------
    SettingsError
        Naming the recipe, the questions and what to do; how many there are and the first one.
    """
    questions = ledger.questions()
    if recipe.name == _BERG:
        _refuse(recipe, questions, _of_science, _SCIENCE, "rows of SciKnowEval")
        _refuse(recipe, questions, _no_choice, "listqa", "list questions with a key or options")
    elif recipe.name == _SCIENCE:
        _refuse(recipe, questions, is_choice, _BERG, "multiple choice with a key")
        _refuse(recipe, questions, _no_row, "listqa", "no rows of SciKnowEval")
    else:
        _refuse(recipe, questions, _with_key, _BERG, "multiple choice with a key")
        if any(file.options.get("recipe") == _SCIENCE for file in ledger.inputs()):
            # In a study of lists such rows are lists, and came in as such.
            _refuse(recipe, questions, _no_list, _SCIENCE, "rows of SciKnowEval with one answer")
        return
    pairs = ledger.pairs()
    if pairs:
        raise SettingsError(
            f"study.toml has recipe {recipe.name!r}, which scores no pairs that came paired, and"
            f" the study has {len(pairs)} ({pairs[0].item_id!r} first)",
            cure='write recipe = "listqa" for them, or make a new study',
        )


def _refuse(
    recipe: AnyRecipe,
    questions: Sequence[Question],
    unfit: Callable[[Question], bool],
    made_for: str,
    what: str,
) -> None:
    found = [question.question_id for question in questions if unfit(question)]
    if found:
        some = "all" if len(found) == len(questions) else str(len(found))
        raise SettingsError(
            f"study.toml has recipe {recipe.name!r}, and {some} of the study's {len(questions)}"
            f" questions are {what} ({found[0]!r} first)",
            cure=f'write recipe = "{made_for}" again, or bring questions of recipe'
            f" {recipe.name!r} into a study of their own",
        )


def _with_key(question: Question) -> bool:
    return is_choice(question) and question.fields.get("metric") == CHOICE


def _no_choice(question: Question) -> bool:
    """A list question that would be read as multiple choice, or whose options be overlooked."""
    fields = question.fields
    asks = is_choice(question) or bool(fields.get("options"))
    return asks and not _with_key(question)


def _of_science(question: Question) -> bool:
    return question.fields.get("metric") in METRICS and not is_choice(question)


def _no_list(question: Question) -> bool:
    return _of_science(question) and question.fields["metric"] != "relations"


def _no_row(question: Question) -> bool:
    try:
        metric_of(row_of(question))
    except InputError:
        return True
    return False
