"""A further part of the panel reaches every output, and is no yardstick for a judge."""

from __future__ import annotations

from typing import Any

import pytest

from accord.validate import Estimate, agreement, conclusions
from accord.validate import sections as listed
from accord.validate.agreement_text import agreement_lines
from accord.validate.section import Section, View
from small_table import make

KINDS = {"ann": "annotator", "bob": "annotator", "gpt": "judge"}
WORDS = ("CORRECT", "INCORRECT")
TABLE = {
    "ann": [WORDS[k % 2] for k in range(60)],
    "bob": [WORDS[k % 7 % 2] for k in range(60)],
    "gpt": [WORDS[k % 5 % 2] for k in range(60)],
}


def hard_items(view: View) -> Section | None:
    """A part with one figure about some of the items, a table, a line and a note."""
    if len(view.coded.items) < 10:
        return None
    figure = Estimate(
        "agreement",
        0.25,
        0.1,
        0.5,
        raters=("ann", "bob"),
        n=8,
        clusters=4,
        details={"comparison": "people", "stratum": "hard", "strata": "difficulty"},
    )
    return Section(
        name="strata",
        title="By difficulty",
        results=(figure,),
        lines=("hard  25 %",),
        notes=("one of two strata is shown",),
        rows=({"stratum": "hard", "share": float("nan")},),
    )


@pytest.fixture
def with_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed, "MAKERS", (("fake", "maker"), ("fake", "none")))
    makers: dict[str, Any] = {"maker": hard_items, "none": lambda view: None}
    monkeypatch.setattr(listed, "_maker", lambda module, name: makers[name])


def test_a_part_is_in_every_output(with_part: None) -> None:
    report = agreement(make(TABLE, KINDS), resamples=0)
    (section,) = report.sections
    (row,) = [one for one in report.result_dicts() if one.get("section")]
    assert (row["section"], row["stratum"], row["strata"]) == ("strata", "hard", "difficulty")
    assert (row["comparison"], row["estimate"]) == ("people", 0.25)
    frame = report.to_frame()
    assert frame.loc[frame["stratum"] == "hard", "section"].tolist() == ["strata"]
    assert frame.loc[frame["stratum"] != "hard", "section"].isna().all()
    assert report.to_dict()["sections"] == [
        {
            "name": "strata",
            "title": "By difficulty",
            "notes": ["one of two strata is shown"],
            "rows": [{"stratum": "hard", "share": None}],
        }
    ]
    lines = agreement_lines(report)
    at = lines.index("By difficulty")
    assert lines[at - 1] == ""
    assert lines[at + 1 :] == ["  hard  25 %", "  Note: one of two strata is shown"]


def test_a_part_changes_no_main_figure_and_no_conclusion(
    with_part: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratings = make(TABLE, KINDS)
    report = agreement(ratings, resamples=0)
    monkeypatch.setattr(listed, "MAKERS", ())
    plain = agreement(ratings, resamples=0)
    assert plain.sections == ()
    assert report.main_dicts() == plain.result_dicts()
    assert conclusions(report.to_dict()) == conclusions(plain.to_dict())
    end = agreement_lines(report).index("By difficulty") - 1
    assert agreement_lines(report)[:end] == agreement_lines(plain)


def test_every_listed_maker_is_there() -> None:
    for module, name in listed.MAKERS:
        assert callable(listed._maker(module, name))
