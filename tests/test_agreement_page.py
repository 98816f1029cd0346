"""A panel as a page: complete, inert, small, without a conclusion; the command that writes it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_report import CSP, HOSTILE, Page, figure

from accord import cli
from accord.study import Ratings
from accord.validate import AgreementReport, agreement
from accord.validate.agreement_methods import method_rows, methods_paragraph
from accord.validate.figures import estimate, interval
from accord.validate.panel_page import agreement_page
from accord.validate.reading import SHORT
from accord.validate.report import build_report
from accord.validate.report_panels import Notes
from accord.validate.report_sections import MOST_FIGURES, make_parts
from accord.validate.report_view import MOST_COMPARISONS
from small_table import make

VOID = ("script", "img", "iframe", "object", "embed", "base", "form", "video", "a[href^=http]")


def busy(n: int = 240, names: tuple[str, ...] = ("ann", "bob", "cyd", "gpt")) -> Ratings:
    """Three people and a judge in questions, systems, strata, with lengths and families."""
    rng = np.random.default_rng(3)
    truth = rng.random(n) < 0.6
    kinds = ("annotator", "annotator", "annotator", "judge")
    rows = {
        name: np.where(truth ^ (rng.random(n) < wrong), "CORRECT", "INCORRECT").tolist()
        for name, wrong in zip(names, (0.05, 0.1, 0.2, 0.1), strict=True)
    }
    return make(
        rows,
        dict(zip(names, kinds, strict=True)),
        question_id=[f"q{i // 6}" for i in range(n)],
        system=[f"s{i % 3}" for i in range(n)],
        response_id=[f"q{i // 6}-s{i % 3}" for i in range(n)],
        topic=["river" if i < n // 2 else "lake" for i in range(n)],
    )


@pytest.fixture(scope="module")
def report() -> AgreementReport:
    family = {"gpt": "g", "s0": "g", "s1": "h", "s2": "h"}
    return agreement(
        busy(), positive="CORRECT", strata=("topic", "system"), family=family, resamples=199
    )


def test_every_part_and_no_conclusion(report: AgreementReport) -> None:
    html = agreement_page(report, title="The panel")
    page = Page(html)
    assert not page.open and "<h1>The panel</h1>" in html
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    wanted = {"agreement", "scores", "confusion", "systems", "parts", "methods", "provenance"}
    assert wanted <= set(ids)
    for link in page.tags("a"):
        assert str(link["href"]).removeprefix("#") in ids
    assert "May the judge be trusted" not in html and "Gold audit" not in html
    assert {section.name for section in report.sections} >= {"strata", "family", "ceiling"}
    for section in report.sections:
        assert page.says(section.title)
        for note in section.notes:
            assert page.says(" ".join(note.split()))
    assert page.says("240 items in 40 questions") and page.says("ann, bob, cyd")


def test_the_page_has_the_reports_numbers(report: AgreementReport) -> None:
    page = Page(agreement_page(report))
    for one in report.result_dicts():
        if one["level"] != "system" and one["estimate"] is not None:
            assert page.says(estimate(one)) and page.says(interval(one)), one["name"]
    joint = next((s for s in report.sections if s.name == "joint_table"), None)
    assert joint is not None
    for cells in joint.rows[0]["counts"]:
        assert all(page.says(str(number)) for number in cells)


def test_methods_are_named_once(report: AgreementReport) -> None:
    page = Page(agreement_page(report))
    assert page.says(" ".join(methods_paragraph(report, report.main_dicts()).split()))
    rows = method_rows(report.result_dicts())
    assert len({(row.method, row.unit) for row in rows}) == len(rows) > 3
    assert all(page.says(row.method) for row in rows)


def test_it_loads_nothing(report: AgreementReport) -> None:
    html = agreement_page(report)
    page = Page(html)
    policies = [tag["content"] for tag in page.tags("meta") if "http-equiv" in tag]
    assert policies == [CSP]
    assert not any(page.tags(tag) for tag in VOID) and "http://" not in html
    assert "@import" not in html and "url(" not in html
    assert "prefers-color-scheme: dark" in html and "@media print" in html


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_text(text: str) -> None:
    ratings = busy(60, (f"{text}1", f"{text}2", f"{text}3", f"{text}4"))
    ratings.frame["topic"] = text
    ratings.frame["rating"] = ratings.frame["rating"].map(lambda label: f"{label}{text}")
    found = agreement(ratings, strata=("topic",), positive=f"CORRECT{text}", resamples=0)
    page = Page(agreement_page(found, title=text))
    assert not page.open and not any(page.tags(tag) for tag in VOID)
    plain = Page(agreement_page(agreement(busy(60), positive="CORRECT", resamples=0)))
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in plain.elements} | {"small"}
    for _, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes)
    shown = "".join(page.text)
    assert "\u202e" not in shown and "7819" not in shown


def test_long_parts_are_closed_and_short_ones_open(report: AgreementReport) -> None:
    parts = make_parts(report.to_dict())
    sizes = {part.title: part.size for part in parts}
    html = agreement_page(report)
    opened = html.count("<details open><summary>The figures")
    closed = html.count("<details><summary>Show the figures")
    assert opened == sum(part.is_open and bool(part.panels or part.tables) for part in parts)
    assert closed == sum(not part.is_open for part in parts) > 0
    assert sizes["By stratum"] > 12


def test_a_study_report_has_the_parts_too(report: AgreementReport) -> None:
    page = Page(build_report(title="x", agreement=report.to_dict()).to_html())
    assert not page.open
    for section in report.sections:
        assert page.says(section.title)
    assert page.says("Further parts") and page.says("Show the figures")


def test_a_part_beyond_the_limit_says_so(report: AgreementReport) -> None:
    content = report.to_dict()
    one = next(r for r in content["results"] if r.get("section") == "strata")
    content["results"] += [one] * MOST_FIGURES
    part = next(part for part in make_parts(content) if part.title == "By stratum")
    before = next(part for part in make_parts(report.to_dict()) if part.title == "By stratum")
    assert part.left == part.size - MOST_FIGURES - len(before.tables[0].rows)
    page = Page(build_report(title="x", agreement=content).to_html())
    assert page.says(f"{part.left} more are in the JSON and the CSV files")


def test_warnings_that_differ_in_numbers_share_a_mark() -> None:
    notes = Notes()
    texts = ["rests on 7 items (12.5)", "rests on 3 items (9)", "rests on v2 items"]
    assert [notes.mark("warning", text) for text in texts] == ["a", "a", "b"]
    assert notes.all("warning") == (
        ("a", "rests on 3 to 7 items (9 to 12.5)"),
        ("b", "rests on v2 items"),
    )
    assert [notes.mark("method", f"over {k}") for k in (1, 2)] == ["1", "2"]


def test_a_large_table_with_many_people_stays_small() -> None:
    ratings = busy(3313)
    names = [f"person_with_a_name_{k}" for k in range(60)]
    rng = np.random.default_rng(1)
    frame = ratings.frame
    few = frame[frame["rater"] == "ann"]
    more = [few[rng.random(len(few)) < 0.3].assign(rater=name) for name in names]
    large = Ratings(pd.concat([frame, *more], ignore_index=True))
    found = agreement(large, positive="CORRECT", figures="main", resamples=0, method="default")
    html = agreement_page(found)
    assert len(html.encode()) <= 600 * 1024


def test_hundreds_of_comparisons_are_cut_and_said() -> None:
    results = [
        figure(name, ("gpt", f"p{k}"), 0.5, level=level, comparison="judge-annotator")
        for k in range(200)
        for level, names in (("element", SHORT[:12]), ("response", SHORT[12:]))
        for name in names
    ]
    kinds: dict[str, str] = {f"p{k}": "annotator" for k in range(200)} | {"gpt": "judge"}
    html = build_report(title="x", agreement={"results": results, "kinds": kinds}).to_html()
    assert f"{MOST_COMPARISONS} of 200 comparisons are shown" in html
    page = Page(html)
    assert page.says(f"gpt – p{MOST_COMPARISONS - 1}") and not page.says("gpt – p24")
    assert len(html.encode()) <= 600 * 1024


def table(folder: Path) -> Path:
    frame = busy(60).frame
    path = folder / "labels.csv"
    frame[["item_id", "question_id", "rater", "kind", "rating"]].to_csv(path, index=False)
    return path


def run(*arguments: str | Path) -> int:
    return cli.main([str(argument) for argument in arguments])


def test_the_command_writes_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, html, tex = table(tmp_path), tmp_path / "panel.html", tmp_path / "panel.tex"
    assert run("agree", path, "--html", html, "--latex", tex) == 0
    assert "60 items rated by people" in capsys.readouterr().out
    first = html.read_text(encoding="utf-8")
    assert "Agreement: labels.csv" in first and r"\toprule" in tex.read_text(encoding="utf-8")
    assert run("agree", path, "--json", "--html", html, "--latex", tex) == 0
    payload = json.loads(capsys.readouterr().out)
    kappa = next(one for one in payload["results"] if one["name"] == "cohen_kappa")
    assert Page(html.read_text(encoding="utf-8")).says(estimate(kappa))
    # the same figures whether or not JSON is asked for
    moment = re.compile(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC")
    assert moment.sub("", html.read_text(encoding="utf-8")) == moment.sub("", first)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *("labels.csv", "panel.html", "panel.tex")
    ]


@pytest.mark.parametrize("option", ["--html", "--latex"])
def test_nothing_is_half_written(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path)
    (tmp_path / "folder").mkdir()
    for target, says in (
        (tmp_path / "folder", "can't be written"),
        (tmp_path / "nowhere" / "x", "can't be written"),
        (tmp_path / "study" / "ledger.sqlite", "belongs to a study"),
        (tmp_path / "study" / "study.toml", "belongs to a study"),
    ):
        if target.parent.name == "study":
            target.parent.mkdir(exist_ok=True)
            (target.parent / "ledger.sqlite").write_text("kept")
            target.write_text("kept")
        beside = tmp_path / "beside.csv"
        assert run("agree", path, "--csv", beside, option, target) == 2
        assert not beside.exists(), "all that was asked for, or nothing"
        out, err = capsys.readouterr()
        assert out == "" and says in err and err.count("\n") == 1
        assert not list(tmp_path.rglob("*.part"))
        assert not target.is_file() or target.read_text() == "kept"


def test_two_outputs_are_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = table(tmp_path), tmp_path / "x"
    assert run("agree", path, "--html", out, "--latex", tmp_path / "." / "x") == 2
    assert "named for two outputs" in capsys.readouterr().err and not out.exists()


def test_p_values_are_never_a_power_of_ten() -> None:
    content = {
        "sections": [
            {"name": "rater-quality", "title": "t", "rows": [{"rater": "a", "holm_p": 1.4e-26}]},
        ],
        "results": [
            figure("agreement_difference", ("a", "b"), -0.1, section="rater-quality")
            | {"details": {"p_holm": 2e-9}}
        ],
    }
    (part,) = make_parts(content)
    assert part.tables[0].rows == (("a", "< 0.001"),)
    assert part.panels[0].tested and part.panels[0].groups[0][1][0].p == "< 0.001 (Holm)"
