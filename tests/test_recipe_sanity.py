"""What every recipe must hold, on generated questions.

Gold against gold is 1, nothing is 0, no more is right than either side has, and answers moved to
other questions score lower. Published scorers failed each of these.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.scoring.judges import ExactJudge
from accord.scoring.knowledgeberg import choice_accuracy, read_reasoned
from accord.scoring.metrics import PRF
from accord.scoring.recipes import recipe
from accord.scoring.records import CORRECT, Item, Judgement
from accord.scoring.sciknoweval import SciKnowEvalRecipe, sciknoweval_scores, score_row
from accord.scoring.score import score_response
from accord.scoring.universe import universe_score

# Names as gold answers have them: commas, brackets, quotes, signs, digits, several scripts; words
# that no vector file knows; and names that share all their letters or all but one.
NAMES = (
    *("Washington, D.C.", "Tyler, the Creator", "1,25(OH)2D3", "5'-AMP", "Crohn's disease", "C#"),
    *("C++", "AC/DC", "Guns N' Roses", "“Heroes”", "Sgt. Pepper", "2 Fast 2 Furious", "U.S.", "7"),
    *(
        "1999",
        "São Paulo",
        "Beyoncé",
        "東京",
        "京都",
        "大阪",
        "Київ",
        "القاهرة",
        "दिल्ली",
        "서울",
        "ไทย",
    ),
    *(
        "levodopa",
        "dopalevo",
        "xqzzt",
        "qxzzt",
        "New York",
        "York",
        "Future Nostalgia",
        "Nostalgia",
    ),
    *("declines in working memory, and verbal memory", "Mayor (of Basel)", "A+B → C", "-5", "5"),
)
Documents = list[list[str]]


@st.composite
def documents(draw: st.DrawFn) -> Documents:
    """The gold names of two to five questions; no name stands twice."""
    names = draw(st.permutations(NAMES))
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=5))
    starts = [sum(sizes[:at]) for at in range(len(sizes))]
    return [list(names[start : start + size]) for start, size in zip(starts, sizes, strict=True)]


# Each recipe: the figures of answers, which are lists of names, to questions with gold names.


def rank(name: str) -> str:
    return f"“{NAMES.index(name)}”"


def _listqa(
    gold: Documents, answers: Documents, *, attributes: bool = False, ordered: bool = False
) -> list[tuple[PRF, float]]:
    found = []
    for at, (names, answer) in enumerate(zip(gold, answers, strict=True)):
        reference = [
            {"text": name, "attributes": [["“rank”", rank(name)]]} if attributes else {"text": name}
            for name in names
        ]
        lines = [
            f"{n}. {name}" + (f"\n   - rank: {rank(name)}" if attributes else "")
            for n, name in enumerate(answer, start=1)
        ]
        scores = score_response(
            question_id=str(at),
            question="?",
            reference=reference,
            response="\n".join(lines),
            recipe=recipe("listqa"),
            verdicts=ExactJudge().judge,
            ordered=ordered,
        ).scores
        figure = scores.figures()["llm_judge_f1_ordered"] if ordered else scores.judge.f1
        found.append((scores.judge, figure))
    return found


def flat(gold: Documents, answers: Documents) -> list[tuple[PRF, float]]:
    return _listqa(gold, answers)


def with_attributes(gold: Documents, answers: Documents) -> list[tuple[PRF, float]]:
    return _listqa(gold, answers, attributes=True)


def in_order(gold: Documents, answers: Documents) -> list[tuple[PRF, float]]:
    return _listqa(gold, answers, ordered=True)


def _universes(
    gold: Documents, answers: Documents, judge: Callable[[Sequence[Item]], list[Judgement]]
) -> list[PRF]:
    return [
        universe_score(
            question_id=str(at),
            question="?",
            reference=names,
            response=answer,
            verdicts=judge,
        ).greedy
        for at, (names, answer) in enumerate(zip(gold, answers, strict=True))
    ]


def enumeration(gold: Documents, answers: Documents) -> list[tuple[PRF, float]]:
    return [(prf, prf.f1) for prf in _universes(gold, answers, ExactJudge().judge)]


def relations(gold: Documents, answers: Documents) -> list[tuple[PRF, float]]:
    def text(names: Sequence[str]) -> str:
        return ", ".join(f'["{name}", "effect", "{name} too"]' for name in names)

    rows = [
        {
            "prompt": {"default": "?"},
            "question": f"text {at}",
            "choices": {"text": [], "label": []},
            "answerKey": "",
            "answer": text(names),
            "type": "relation_extraction",
            "domain": "Biology",
            "details": {
                "level": "L2",
                "task": "drug_drug_relation_extraction",
                "subtask": "drug_drug_relation_extraction",
                "source": "made up",
            },
        }
        for at, names in enumerate(gold)
    ]
    found = [score_row(row, text(answer)) for row, answer in zip(rows, answers, strict=True)]
    prfs = [one.relations.prf for one in found if one.relations is not None]
    assert [one.value for one in found] == [prf.f1 for prf in prfs]
    # One F1 from all counts moves as the documents' own do.
    pooled = sciknoweval_scores(
        rows, [text(answer) for answer in answers], recipe=SciKnowEvalRecipe(relations="pooled")
    )
    if all(prf.f1 == prfs[0].f1 for prf in prfs):
        assert pooled.aggregates.overall.value == pytest.approx(prfs[0].f1, abs=1e-12)
    return [(prf, prf.f1) for prf in prfs]


LISTS = [flat, with_attributes, in_order, enumeration, relations]
lists = pytest.mark.parametrize("figures", LISTS, ids=lambda figures: figures.__name__)
few = settings(max_examples=30, deadline=None)


def mean(found: Sequence[tuple[PRF, float]]) -> float:
    return sum(value for _, value in found) / len(found)


@lists
@few
@given(gold=documents())
def test_gold_against_gold_is_one(
    figures: Callable[[Documents, Documents], list[tuple[PRF, float]]], gold: Documents
) -> None:
    for prf, value in figures(gold, gold):
        assert (prf.precision, prf.recall, prf.f1, value) == (1, 1, 1, 1)


@lists
@few
@given(gold=documents())
def test_nothing_is_zero(
    figures: Callable[[Documents, Documents], list[tuple[PRF, float]]], gold: Documents
) -> None:
    for prf, value in figures(gold, [[] for _ in gold]):
        assert (prf.precision, prf.recall, prf.f1, value) == (0, 0, 0, 0)


@lists
@few
@given(gold=documents(), data=st.data())
def test_no_more_is_right_than_either_side_has(
    figures: Callable[[Documents, Documents], list[tuple[PRF, float]]],
    gold: Documents,
    data: st.DataObject,
) -> None:
    """Answers with repetitions and names of other questions."""
    names = [name for one in gold for name in one]
    answers = [data.draw(st.lists(st.sampled_from(names), max_size=7)) for _ in gold]
    for (prf, value), own, answer in zip(figures(gold, answers), gold, answers, strict=True):
        right = len(set(own) & set(answer))
        assert prf.correct == right <= min(len(own), len(answer))
        assert 0 <= value <= 1
        if figures is not in_order:
            expected = 2 * right / (len(own) + len(answer))
            assert value == pytest.approx(expected, abs=1e-12)


@lists
@few
@given(gold=documents(), turn=st.integers(1, 4))
def test_answers_moved_to_other_questions_score_lower(
    figures: Callable[[Documents, Documents], list[tuple[PRF, float]]], gold: Documents, turn: int
) -> None:
    by = 1 + turn % (len(gold) - 1) if len(gold) > 2 else 1
    moved = [gold[(at + by) % len(gold)] for at in range(len(gold))]
    assert mean(figures(gold, moved)) == 0 < mean(figures(gold, gold))


@few
@given(gold=documents(), data=st.data())
def test_a_judge_that_equates_everything_gets_no_more(gold: Documents, data: st.DataObject) -> None:
    """Asked of the whole gold set, such a judge would call all predictions right."""
    answers = [data.draw(st.lists(st.sampled_from(NAMES), max_size=7)) for _ in gold]

    def everything(items: Sequence[Item]) -> list[Judgement]:
        return [Judgement(item.item_id, CORRECT) for item in items]

    for prf, own, answer in zip(_universes(gold, answers, everything), gold, answers, strict=True):
        assert prf.correct == min(len(own), len(answer))
        assert max(prf.precision, prf.recall, prf.f1) <= 1


# Multiple choice, and the tasks of SciKnowEval that have one answer

WORDINGS = ("{}", "The answer is {}.", "**{}**", r"\boxed{{{}}}", "So, option {}", "({})")
keys = st.lists(st.sampled_from("ABCD"), min_size=2, max_size=8)


@few
@given(keys=keys, wording=st.sampled_from(WORDINGS), turn=st.integers(1, 3))
def test_multiple_choice_is_one_zero_and_lower(keys: list[str], wording: str, turn: int) -> None:
    def accuracy(answers: Sequence[str]) -> float:
        read = [
            read_reasoned(question_id=str(at), response=answer, key=key)
            for at, (answer, key) in enumerate(zip(answers, keys, strict=True))
        ]
        found = choice_accuracy([one.choice for one in read], keys)
        assert found.n == len(keys) and found.correct <= found.n - sum(found.unread.values())
        return found.accuracy

    said = [wording.format(key) for key in keys]
    moved = [*said[turn % len(said) :], *said[: turn % len(said)]]
    same = sum(one == other for one, other in zip(said, moved, strict=True)) / len(said)
    assert accuracy(said) == 1
    assert accuracy([""] * len(keys)) == 0
    assert accuracy(moved) == pytest.approx(same, abs=1e-12)
    # Naming every option is choosing none.
    assert accuracy(["A, B, C or D"] * len(keys)) == 0


@dataclasses.dataclass(frozen=True)
class Task:
    """A task of SciKnowEval, and what a judge says of a right and a wrong answer."""

    kind: str
    name: str
    right: str | None = None
    wrong: str | None = None


TASKS = [
    Task("mcq-4-choices", "literature_QA"),
    Task("true_or_false", "hypothesis"),
    Task("filling", "balancing_chemical_equation"),
    Task("open-ended-qa", "text_summary", "Rating: 5", "Rating: 1"),
    Task("relation_extraction", "extract_doping", "(C)", "(E)"),
    Task("open-ended-qa", "harmful_QA", "Yes", "No"),
]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
@pytest.mark.parametrize("rating_map", ["(r-1)/4", "r/5"])
@few
@given(data=st.data())
def test_tasks_of_one_answer_are_one_zero_and_lower(
    task: Task, rating_map: str, data: st.DataObject
) -> None:
    pool = {
        "mcq-4-choices": list("ABCD"),
        "true_or_false": ["Yes", "No"],
    }.get(task.kind, [f"answer {at}" for at in range(9)])
    unique = len(pool) > 4
    gold = data.draw(st.lists(st.sampled_from(pool), min_size=2, max_size=8, unique=unique))
    options = list("ABCD") if task.kind.startswith("mcq") else []
    rows = [
        {
            "prompt": {"default": "?"},
            "question": f"question {at}",
            "choices": {"text": [f"text {one}" for one in options], "label": options},
            "answerKey": one if options else "",
            "answer": "" if options else one,
            "type": task.kind,
            "domain": "Chemistry",
            "details": {"level": "L3", "task": task.name, "subtask": task.name, "source": "-"},
        }
        for at, one in enumerate(gold)
    ]

    def figure(answers: Sequence[str]) -> float:
        replies = {
            at: task.right if answer == own else task.wrong
            for at, (answer, own) in enumerate(zip(answers, gold, strict=True))
        }
        found = sciknoweval_scores(
            rows,
            list(answers),
            judge_replies=replies if task.right else None,
            recipe=SciKnowEvalRecipe(rating_map=rating_map),  # type: ignore[arg-type]  # by name
        )
        assert sum(mean.n for mean in found.aggregates.tasks.values()) == len(rows)
        values = {mean.value for mean in found.aggregates.figures.values()}
        assert len(values) == 1  # one task in one level: the three figures are one
        return values.pop()

    assert figure(gold) == pytest.approx(1, abs=1e-12)
    assert figure([""] * len(gold)) == 0
    moved = [*gold[1:], gold[0]]
    same = sum(one == other for one, other in zip(gold, moved, strict=True)) / len(gold)
    floor = 0.2 if task.right == "Rating: 5" and rating_map == "r/5" else 0.0
    assert figure(moved) == pytest.approx(same + (1 - same) * floor, abs=1e-12)
