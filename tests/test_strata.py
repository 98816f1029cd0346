"""Agreement by stratum: figures, tests against the rest, and no more said than they show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from accord.scoring.errors import SettingsError
from accord.study import Ratings
from accord.validate.coding import code_ratings
from accord.validate.panel_builder import PanelBuilder
from accord.validate.panel_settings import PanelSettings
from accord.validate.result import Estimate
from accord.validate.section import Section, View
from accord.validate.strata import strata_section
from small_table import make

KINDS = {"ann1": "annotator", "ann2": "annotator", "ann3": "annotator", "gpt": "judge"}


def view_of(ratings: Ratings, **options: Any) -> View:
    settings = PanelSettings(resamples=0, **options)
    return PanelBuilder(ratings, code_ratings(ratings, settings), settings).fill()


def section_of(ratings: Ratings, **options: Any) -> Section:
    found = strata_section(view_of(ratings, **options))
    assert found is not None
    return found


def table(
    parts: Sequence[tuple[str, int, float, float]], seed: int = 1, each: int = 2
) -> tuple[dict[str, list[str]], list[str]]:
    """Labels of three people and a judge: (stratum, questions, judge's errors, people's)."""
    rng = np.random.default_rng(seed)
    labels: dict[str, list[str]] = {name: [] for name in KINDS}
    strata: list[str] = []
    for name, questions, judge, people in parts:
        for _ in range(questions * each):
            truth = rng.random() < 0.6
            strata.append(name)
            for rater in KINDS:
                wrong = rng.random() < (judge if rater == "gpt" else people)
                labels[rater].append("CORRECT" if truth != wrong else "INCORRECT")
    return labels, strata


def get(section: Section, name: str, stratum: str, *, people: bool = False) -> Estimate:
    found = [
        one
        for one in section.results
        if one.name == name
        and one.details["stratum"] == stratum
        and (one.details["comparison"] == "people") == people
    ]
    assert len(found) == 1
    return found[0]


@pytest.fixture(scope="module")
def hard() -> Section:
    labels, strata = table([("law", 40, 0.4, 0.03), ("music", 60, 0.04, 0.03), ("art", 3, 0, 0)])
    return section_of(make(labels, KINDS, category=strata), strata=("category",))


def test_each_stratum_has_the_panels_figures(hard: Section) -> None:
    labels, strata = table([("law", 40, 0.4, 0.03), ("music", 60, 0.04, 0.03), ("art", 3, 0, 0)])
    people = [
        max(set(three), key=three.count)
        for three in zip(*(labels[f"ann{i}"] for i in (1, 2, 3)), strict=True)
    ]
    agree = np.array([a == b for a, b in zip(labels["gpt"], people, strict=True)])
    law = np.array(strata) == "law"
    one = get(hard, "agreement", "law")
    assert one.estimate == pytest.approx(agree[law].mean())
    assert one.low < one.estimate < one.high and one.n == 80 and one.clusters == 40
    assert one.raters == ("gpt", "majority")
    assert one.details["comparison"] == "judge-final" and one.details["strata"] == "category"
    assert get(hard, "cohen_kappa", "law").estimate < get(hard, "cohen_kappa", "music").estimate
    assert math.isfinite(get(hard, "gwet_ac1", "law").low)
    gap = get(hard, "agreement_difference", "law")
    assert gap.estimate == pytest.approx(agree[law].mean() - agree[~law].mean())
    assert gap.details["rest"] == pytest.approx(agree[~law].mean())
    # people among themselves, on the same items
    assert get(hard, "agreement", "law", people=True).raters == ("ann1", "ann2", "ann3")
    assert get(hard, "agreement_difference", "law", people=True).low < 0


def test_p_values_are_adjusted_for_the_strata(hard: Section) -> None:
    law = get(hard, "agreement_difference", "law").details
    music = get(hard, "agreement_difference", "music").details
    # two are tested (art is too small): Holm doubles the smaller p, BY times 2 * 1.5 / rank
    small, large = sorted([law["p_value"], music["p_value"]])
    assert law["tests"] == 2
    assert min(law["p_holm"], music["p_holm"]) == pytest.approx(min(2 * small, 1))
    assert max(law["p_holm"], music["p_holm"]) == pytest.approx(max(2 * small, large))
    assert law["p_by"] >= law["p_value"]
    assert law["low_simultaneous"] < get(hard, "agreement_difference", "law").low
    # people's own difference is shown, and is no test
    assert "p_holm" not in get(hard, "agreement_difference", "law", people=True).details


def test_the_worst_stratum_is_named(hard: Section) -> None:
    note = hard.notes[0]
    assert note.startswith("gpt agrees less with people than on the other items in category = law")
    assert "music" not in note and "so its items may be harder" not in note
    small = "category: too small for a figure (fewer than 6 questions): art (6 items)"
    assert small in hard.notes
    assert all(one.details["stratum"] != "art" for one in hard.results)
    assert [row["figures"] for row in hard.rows if row["stratum"] == "art"] == [False]


def test_a_stratum_that_is_hard_for_people_too_is_called_hard() -> None:
    labels, strata = table([("law", 60, 0.4, 0.3), ("music", 60, 0.04, 0.02)], seed=2)
    section = section_of(make(labels, KINDS, category=strata), strata=("category",))
    assert "where people agree less with one another too" in section.notes[0]
    assert "harder rather than the judge worse" in section.notes[0]


def test_no_stratum_is_called_worse_without_a_test_that_says_so() -> None:
    labels, strata = table([(name, 20, 0.1, 0.05) for name in "abcde"], seed=3)
    section = section_of(make(labels, KINDS, category=strata), strata=("category",))
    assert "no stratum of category is shown to be worse" in section.notes[0]
    assert "may be chance" in section.notes[0]


def test_two_strata_are_one_test() -> None:
    labels, strata = table([("a", 20, 0.3, 0.05), ("b", 20, 0.1, 0.05)], seed=4)
    section = section_of(make(labels, KINDS, category=strata), strata=("category",))
    a, b = (get(section, "agreement_difference", name) for name in "ab")
    assert a.details["tests"] == b.details["tests"] == 1
    assert a.details["p_holm"] == b.details["p_holm"] == pytest.approx(a.details["p_value"])
    assert a.estimate == pytest.approx(-b.estimate)


def test_one_stratum_small_ones_and_blanks() -> None:
    labels, strata = table([("a", 20, 0.3, 0.05)], seed=5)
    cells: list[str | None] = list(strata)
    cells[:3] = [None, None, None]
    section = section_of(make(labels, KINDS, category=cells), strata=("category",))
    gap = get(section, "agreement_difference", "a")
    assert math.isnan(gap.estimate) and gap.reason == "nothing to compare with"
    assert "category: 3 items without a value left out" in section.notes
    assert get(section, "agreement", "a").n == 37
    each = [f"s{i}" for i in range(40)]
    tiny = section_of(make(labels, KINDS, category=each), strata=("category",))
    assert tiny.results == () and "and 20 more" in tiny.notes[0]


def test_numbers_have_distances() -> None:
    rng = np.random.default_rng(6)
    scores = {"ann1": [], "ann2": [], "gpt": []}  # type: dict[str, list[str]]
    strata = []
    for i in range(120):
        true = rng.uniform(1, 5)
        strata.append("x" if i < 60 else "y")
        for rater, cells in scores.items():
            wide = 1.2 if rater == "gpt" and i < 60 else 0.2
            cells.append(f"{true + rng.normal(0, wide):.3f}")
    ratings = make(scores, KINDS, category=strata)
    section = section_of(ratings, strata=("category",), scale="interval")
    gap = get(section, "mad_difference", "x")
    assert gap.estimate > 0.4 and gap.details["p_holm"] < 0.05
    assert get(section, "bias", "x").n == 60
    assert "gpt is farther from people than on the other items in category = x" in section.notes[0]


def test_only_people() -> None:
    labels, strata = table([("a", 20, 0.3, 0.05), ("b", 20, 0.1, 0.05)], seed=4)
    del labels["gpt"]
    section = section_of(make(labels, KINDS, category=strata), strata=("category",))
    assert {one.details["comparison"] for one in section.results} == {"people"}
    assert section.lines


def test_nothing_asked_and_no_such_column() -> None:
    labels, strata = table([("a", 20, 0.3, 0.05)], seed=5)
    ratings = make(labels, KINDS, category=strata)
    assert strata_section(view_of(ratings)) is None
    with pytest.raises(SettingsError, match="no column 'kategorie' for --strata"):
        section_of(ratings, strata=("kategorie",))
    with pytest.raises(SettingsError, match="twice"):
        section_of(ratings, strata=("category", "category"))


def test_lines_fit_and_hostile_names_are_written_out() -> None:
    evil = "x\u202e\x1b[31m" + "y" * 60 + "\n"
    labels, strata = table([(evil, 20, 0.3, 0.05), ("b", 20, 0.1, 0.05)], seed=4)
    section = section_of(make(labels, KINDS, category=strata), strata=("category",))
    assert all(len(line) <= 98 and "\n" not in line for line in section.lines)
    assert not any("\u202e" in line or "\x1b" in line for line in section.lines)


def test_no_system_is_no_stratum() -> None:
    labels, _ = table([("a", 20, 0.3, 0.05)], seed=5)
    section = section_of(make(labels, KINDS), strata=("system",))
    assert section.results == () and section.rows == ()
    assert section.notes == ("system: 40 items without a value left out",)


def test_items_as_units() -> None:
    labels, strata = table([("a", 3, 0.3, 0.05), ("b", 3, 0.1, 0.05)], seed=4, each=10)
    ratings = make(labels, KINDS, category=strata)
    section = section_of(ratings, strata=("category",), unit="item")
    assert get(section, "agreement_difference", "a").details["p_value"] is not None
