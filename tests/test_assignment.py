"""Who grades what: loads, pairs of people, authors and languages."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from accord.annotate.annotators import Annotator, barred, read_annotators
from accord.annotate.assignment import Assignment, assign
from accord.scoring.errors import InputError, SettingsError

ITEMS = [f"item-{k}" for k in range(1_000)]


def people(count: int) -> list[str]:
    return [f"p{k}" for k in range(count)]


def shared(plan: Assignment) -> list[int]:
    return [plan.pairs[i][j] for i, j in itertools.combinations(range(len(plan.people)), 2)]


@pytest.mark.parametrize(
    ("count", "per_item", "items"),
    [(2, 2, 10), (3, 2, 100), (4, 2, 1000), (4, 2, 7), (5, 2, 1000), (7, 2, 333), (9, 1, 100)],
)
def test_loads_and_pairs_are_equal(count: int, per_item: int, items: int) -> None:
    plan = assign(ITEMS[:items], people(count), per_item, rng=np.random.default_rng(3))
    assert sum(plan.loads) == items * per_item
    assert max(plan.loads) - min(plan.loads) <= 1
    if per_item == 2:
        assert sum(shared(plan)) == items
        assert max(shared(plan)) - min(shared(plan)) <= 2
    assert all(len(set(chosen)) == per_item for chosen in plan.of_item.values())


@pytest.mark.parametrize(("count", "per_item"), [(5, 3), (6, 3), (8, 3), (12, 4), (40, 5)])
def test_bigger_groups(count: int, per_item: int) -> None:
    plan = assign(ITEMS, people(count), per_item, rng=np.random.default_rng(3))
    assert max(plan.loads) - min(plan.loads) <= 1
    mean = sum(shared(plan)) / len(shared(plan))
    assert max(abs(n - mean) for n in shared(plan)) <= 2


def test_counts_are_those_of_the_plan() -> None:
    plan = assign(ITEMS[:50], people(4), 2, rng=np.random.default_rng(0))
    for person in range(4):
        assert len(plan.items_of(person)) == plan.loads[person]
    for i, j in itertools.combinations(range(4), 2):
        both = [item for item, chosen in plan.of_item.items() if {i, j} <= set(chosen)]
        assert len(both) == plan.pairs[i][j] == plan.pairs[j][i]
    assert (
        plan.sentence == "50 items, each to 2 people of 4; 25 items a person, 8 to 9 items"
        " shared by each two"
    )


def test_the_seed_says_it_all() -> None:
    first, again, other = (
        assign(ITEMS[:200], people(5), 2, rng=np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert first == again
    assert first.of_item != other.of_item


def test_nobody_gets_his_own_and_the_rest_evens_it_out() -> None:
    closed = {item: {k % 3} for k, item in enumerate(ITEMS[:300])}
    plan = assign(ITEMS[:300], people(4), 2, rng=np.random.default_rng(0), barred=closed)
    assert all(not set(plan.of_item[item]) & closed[item] for item in closed)
    assert max(plan.loads) - min(plan.loads) <= 2


def test_too_few_people() -> None:
    with pytest.raises(SettingsError, match="--per-item 3, and there are 2 annotators"):
        assign(ITEMS[:5], people(2), 3, rng=np.random.default_rng(0))
    with pytest.raises(SettingsError, match="1 items have fewer than 2 people .*'item-1' has 1"):
        assign(ITEMS[:5], people(2), 2, rng=np.random.default_rng(0), barred={"item-1": {0}})
    with pytest.raises(SettingsError, match="'a' is named twice"):
        assign(ITEMS[:5], ["a", "a"], 1, rng=np.random.default_rng(0))


def test_annotators_are_read(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("email,name,language\nAnn@example.org,Ann,de; fr\nbo@example.org,,fr\n")
    ann, bo = read_annotators(file)
    assert ann == Annotator("ann@example.org", {"name": "Ann", "language": "de; fr"})
    assert ann.has("language", "FR") and ann.has("language", "de") and not bo.has("language", "de")
    assert ann.is_called("ann") and ann.is_called("ANN@example.org") and not ann.is_called("")
    assert not bo.is_called("ann")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("email\nann\n", "line 2: 'ann' is no e-mail address"),
        ("email,name\n,x\n", "line 2: .*blank cell.* is no e-mail address"),
        ("email\na@x.org\nA@x.org\n", "line 3: a@x.org stands in line 2 already"),
        ("name\nann\n", "no column 'email'; its columns are name; give a first line"),
        ("Email\na@x.org\n", "no column 'email'.*; rename 'Email' to email$"),
        ("E-Mail,name\na@x.org,Ann\n", "; rename 'E-Mail' to email$"),
        ("a@x.org\nb@x.org\n", "give a first line with the column email$"),
        ("email\n", "nobody|no rows|no data"),
    ],
)
def test_bad_lists_of_people(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "people.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=said):
        read_annotators(file)


def test_whom_an_item_must_not_go_to() -> None:
    folk = [
        Annotator("ann@x.org", {"name": "Ann", "language": "de;fr"}),
        Annotator("bo@x.org", {"language": "fr"}),
    ]
    items: dict[str, dict[str, str | None]] = {
        "a": {"author": "Ann", "language": "fr"},
        "b": {"author": "bo@x.org; ann@x.org", "language": None},
        "c": {"author": None, "language": "de"},
        "d": {"author": "somebody", "language": "it"},
    }
    assert barred(folk, items, not_by="author") == {"a": {0}, "b": {0, 1}}
    assert barred(folk, items, match=["language"]) == {"c": {1}, "d": {0, 1}}
    assert barred(folk, items) == {}
    with pytest.raises(SettingsError, match="--not-by names 'by', which is no column of the items"):
        barred(folk, items, not_by="by")
    with pytest.raises(SettingsError, match="no column of the annotators"):
        barred([Annotator("a@x.org")], items, match=["language"])
