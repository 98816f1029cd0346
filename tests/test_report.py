"""The report's page and its JSON: complete, inert, undefined never 0, small enough."""

from __future__ import annotations

import importlib.resources
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accord.validate import Estimate, plots
from accord.validate.report import Report, build_report
from accord.validate.report_rows import CLOSED_FROM, MOST_ROWS

CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

HOSTILE = (
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "</style><script>window.hit=1</script>",
    "</title></svg></td></table></details><b id=out>out</b>",
    "{{1117*7}}{% raw %}${1117*7}",
    '" onmouseover="window.hit=1" x="',
    "' autofocus onfocus='window.hit=1",
    '=HYPERLINK("http://evil.test/","x")',
    "javascript:window.hit=1",
    "]]><!--<![CDATA[&lt;script&gt;&#60;",
    "url(http://evil.test/a.png);} * {color:red",
    "\u202egnp.exe\u2066",
)
"""Texts that must be shown as they are."""


class Page(HTMLParser):
    """What a page holds: its elements with their attributes, and its text."""

    VOID = frozenset({"meta", "link", "line", "circle", "path", "rect", "wbr", "br"})
    OPTIONAL = frozenset({"td", "th", "tr", "thead", "tbody", "li"})

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID | self.OPTIONAL:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.OPTIONAL:
            assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def tags(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def says(self, text: str) -> bool:
        return text in " ".join("".join(self.text).split())


def figure(name: str, raters: tuple[str, ...], point: float, **more: Any) -> dict[str, Any]:
    made = Estimate(name, point, low=point - 0.05, high=point + 0.04, raters=raters, n=1490)
    return {**made.to_dict(), "clusters": 301, "method": "question jackknife t", **more}


def disagreement(i: int, **more: Any) -> dict[str, Any]:
    return {
        "item_id": f"i{i}",
        "question_id": f"q{i // 5}",
        "system": "alder",
        "question": f"Which rivers flow through city {i // 5}?",
        "reference": f"river {i}",
        "predicted": f"stream {i}",
        "judges": {"gpt": "CORRECT"},
        "people": {"a1": "INCORRECT", "a2": "INCORRECT"},
        "final": None,
        "comments": [],
        **more,
    }


def full(**more: Any) -> Report:
    content: dict[str, Any] = {
        "title": "Judges against people",
        "agreement": {
            "results": [
                figure("cohen_kappa", ("a1", "a2"), 0.735, dropped={"missing": 7}),
                figure("cohen_kappa", ("gpt", "final"), 0.695, warnings=["rests on 7 items"]),
                figure("pearson", ("gpt", "final"), 0.9, level="response"),
                figure("mad", ("gpt", "final"), 0.03, level="response"),
            ],
            "kinds": {"a1": "annotator", "a2": "annotator", "final": "adjudicated", "gpt": "judge"},
            "confusion": [
                {
                    "raters": ["gpt", "final"],
                    "categories": ["CORRECT", "INCORRECT"],
                    "counts": [[679, 137], [89, 583]],
                }
            ],
            "notes": ["2 replies are unscored"],
        },
        "response_scores": [
            {"question_id": "q1", "system": "alder", "judge": 1.0, "human": 0.5},
            {"question_id": "q2", "system": "alder", "judge": 0.5, "human": 0.5},
            {"question_id": "q3", "system": "alder", "judge": 0.5, "human": 0.5},
            {"question_id": "q4", "system": "alder", "judge": None, "human": 0.5},
        ],
        "disagreements": [disagreement(i) for i in range(3)],
        "systems": [{"judge": "gpt", "system": "alder", "responses": 4, "llm_judge_f1": 0.61}],
        "audit": Estimate(
            "error_rate", 0.0166, 0.00845, 0.0325, n=481, details={"errors": 8}
        ).to_dict(),
        "recipe": {"name": "listqa", "stem": False, "judges": {"gpt": {"model": "gpt-4"}}},
        "provenance": {"seed": 7, "inputs": [{"name": "items.csv", "sha256": "ab" * 32}]},
    }
    return build_report(**{**content, **more})


def test_the_page_holds_every_part() -> None:
    page = Page(full().to_html())
    assert not page.open
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for name in ("agreement", "scores", "confusion", "disagreements", "systems", "audit"):
        assert name in ids
    for link in page.tags("a"):
        assert (link["href"] or "").removeprefix("#") in ids
    for text in (
        "0.735",
        "[0.685, 0.775]",
        "0.695",
        "Cohen’s κ",
        "1,490",
        "question jackknife t",
        "rests on 7 items",
        "Dropped: missing",
        "679",
        "83 %",
        "river 2",
        "stream 2",
        "0.610",
        "1.66 %",
        "8 of 481",
        "listqa",
        "gpt-4",
        "ab" * 32,
        "2 replies are unscored",
        "mean absolute difference",
    ):
        assert page.says(text), text


def test_conclusion_comes_first_in_three_sentences() -> None:
    report = full()
    html = report.to_html()
    places = [html.index(sentence.replace("'", "&#39;")) for sentence in report.conclusions]
    assert len(places) == 3
    assert places == sorted(places)
    assert places[-1] < html.index("<section")


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    html = full().to_html()
    page = Page(html)
    assert {"http-equiv": "Content-Security-Policy", "content": CSP} in page.tags("meta")
    for tag in ("script", "img", "iframe", "object", "embed", "form", "base", "video"):
        assert not page.tags(tag)
    assert page.tags("link") == [{"rel": "icon", "href": "data:,"}]
    for tag, attributes in page.elements:
        for name, text in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "src", "xlink:href", "action", "srcset", "poster"):
                assert text and text.startswith(("#", "data:")), (tag, name, text)
    css = html[html.index("<style>") : html.index("</style>")]
    assert not re.search(r"@import|@font-face|url\(", css)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text(text: str) -> None:
    row = disagreement(0, question=text, reference=text, predicted=text, comments=[text])
    row |= {"question_id": text, "system": text, "judges": {text: text}, "people": {text: text}}
    report = build_report(
        title=text,
        agreement={
            "results": [
                figure("cohen_kappa", (text, "a2"), 0.7, warnings=[text], method=text),
                figure("mad", (text, "a2"), math.nan, reason=text, dropped={text: 3}),
                figure("mean_score", (text,), 0.5, level="system", system=text),
                figure("bias", (text, "a2"), 0.1, level="system", system=text),
            ],
            "kinds": {text: "judge", "a2": "annotator"},
            "confusion": [{"raters": [text, text], "categories": [text], "counts": [[3]]}],
            "notes": [text],
        },
        response_scores=[{"rater": text, "judge": 1.0, "human": 1.0}],
        disagreements=[row],
        systems=[{"judge": text, "system": text, text: text}],
        audit=figure("error_rate", (), 0.1, warnings=[text], level="dataset"),
        recipe={text: {text: [text, {text: text}]}, "name": text},
        provenance={"inputs": [{text: text}], "generated_at": text},
    )
    html = report.to_html()
    page = Page(html)
    assert not page.open
    plain = Page(full().to_html())
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in plain.elements} | {"details"}
    names = {name for _, attributes in page.elements for name in attributes}
    assert not any(name.startswith("on") or name in ("autofocus", "src") for name in names)
    assert not any(attributes.get("id") == "out" for _, attributes in page.elements)
    shown = text.replace("\u202e", "\\u202e").replace("\u2066", "\\u2066")
    assert "".join(page.text).count(shown) >= 15
    assert "7819" not in html
    assert not {"\u202e", "\u2066"} & set(html)
    json.dumps(report.to_dict(), allow_nan=False)


def test_templates_escape_everything() -> None:
    folder = importlib.resources.files("accord.templates.report")
    templates = [file for file in folder.iterdir() if file.name.endswith((".j2", ".css"))]
    assert len(templates) >= 5
    for file in templates:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe|autoescape|Markup|<script", text), file.name
    package = importlib.resources.files("accord.validate")
    for name in ("report", "report_view", "report_rows", "plots", "figures"):
        text = package.joinpath(f"{name}.py").read_text(encoding="utf-8")
        assert "Markup" not in text


def test_undefined_shows_its_reason_and_not_0() -> None:
    nan = figure("cohen_kappa", ("gpt", "final"), math.nan, reason="every rating is CORRECT")
    bare = figure("gwet_ac1", ("gpt", "final"), 0.5, low=None, high=None, reason="9 questions")
    report = full(agreement={"results": [nan, bare], "kinds": full().agreement["kinds"]})
    page = Page(report.to_html())
    assert page.says("undefined: every rating is CORRECT")
    assert page.says("no interval: 9 questions")
    assert not re.search(r"0\.000|\bnan\b", "".join(page.text), re.IGNORECASE)
    assert report.to_dict()["results"][0]["estimate"] is None
    silent = full(agreement={"results": [figure("pearson", ("x",), math.nan)]}).to_html()
    assert "undefined: no reason given" in silent


def test_json_is_strict_and_whole() -> None:
    report = full(
        provenance={
            "nan": math.nan,
            "numbers": np.array([1.5, np.inf]),
            "integer": np.int64(3),
            "flag": np.bool_(True),
            "half": "a\ud800b",
            "set": {"x"},
            3: Path("a"),
        }
    )
    text = json.dumps(report.to_dict(), allow_nan=False, ensure_ascii=False)
    text.encode("utf-8")
    content = json.loads(text)
    assert content["provenance"] == {
        "nan": None,
        "numbers": [1.5, None],
        "integer": 3,
        "flag": True,
        "half": "a\ufffdb",
        "set": ["x"],
        "3": "a",
    }
    assert content["command"] == "report" and content["verdict"] is None
    assert content["input"] == {} and content["settings"] == {}
    assert [result["name"] for result in content["results"]] == [
        "cohen_kappa",
        "cohen_kappa",
        "pearson",
        "mad",
        "error_rate",
    ]
    assert content["results"][0]["estimate"] == 0.735
    assert content["agreement"]["confusion"][0]["counts"] == [[679, 137], [89, 583]]
    assert len(content["disagreements"]) == 3
    report.to_html().encode("utf-8")


def test_an_empty_report_says_what_is_missing() -> None:
    report = build_report(title="Nothing yet")
    page = Page(report.to_html())
    for text in (
        "not known",
        "No item has been graded by people and a judge, or by two people.",
        "No response has a score by a judge and by people.",
        "No item has a verdict by a judge and by people.",
        "Nothing to compare",
        "No system has been scored.",
        "have not been audited",
        "No recipe was used",
        "No provenance was recorded.",
    ):
        assert page.says(text), text
    assert not page.tags("table") and not page.tags("svg")


def test_people_alone_and_judges_alone() -> None:
    kinds = full().agreement["kinds"]
    people = {"results": [figure("cohen_kappa", ("a1", "a2"), 0.7)], "kinds": kinds}
    assert Page(full(agreement=people).to_html()).says("No judge has graded the items")
    judge = {"results": [figure("cohen_kappa", ("gpt", "a1"), 0.7)], "kinds": kinds}
    assert Page(full(agreement=judge).to_html()).says("No two people graded the same items")


def test_few_disagreements_are_open_and_many_are_closed() -> None:
    def details(n: int) -> dict[str, str | None]:
        rows = [disagreement(i) for i in range(n)]
        return Page(full(disagreements=rows).to_html()).tags("details")[-1]

    assert "open" in details(CLOSED_FROM - 1)
    assert "open" not in details(CLOSED_FROM)


def test_beyond_the_limit_the_page_says_so_and_the_json_has_all() -> None:
    rows = [disagreement(i) for i in range(MOST_ROWS + 2)]
    report = full(disagreements=rows)
    html = report.to_html()
    assert f"The first {MOST_ROWS:,} are shown" in html
    assert f"stream {MOST_ROWS - 1}<" in html and f"stream {MOST_ROWS}<" not in html
    assert len(report.to_dict()["disagreements"]) == MOST_ROWS + 2


def test_disagreements_tell_judge_from_people() -> None:
    rows = [
        disagreement(0),
        disagreement(1, people={"a1": "CORRECT", "a2": "INCORRECT"}, reference=None),
        disagreement(2, judges={"gpt": None}, people={"a1": "CORRECT", "a2": "INCORRECT"}),
    ]
    html = full(disagreements=rows).to_html()
    page = Page(html)
    assert page.says("On 1 of them the people are at one and a judge differs")
    assert page.says("on 2 the people differ from one another")
    assert page.says("unscored") and page.says("(none: not in the reference)")
    assert html.count("<td><b>CORRECT</b>") == 1


def test_many_raters_share_a_column() -> None:
    people = {f"s{i}": "CORRECT" if i < 12 else "INCORRECT" for i in range(20)}
    page = Page(full(disagreements=[disagreement(0, people=people)]).to_html())
    assert page.says("CORRECT 12, INCORRECT 8")


def test_scatter_draws_every_response_once() -> None:
    people = [0.5, 0.5, 0.5, 1.0, None, math.nan, 0.0]
    judge = [0.5, 0.5, 1.0, 1.0, 0.5, 0.5, 0.25]
    plot = plots.scatter(people, judge, title="t", measure="F1")
    assert (plot.n, plot.left_out, plot.places) == (5, 2, 4)
    assert (plot.equal, plot.above, plot.below) == (3, 2, 0)
    assert sum(dots.path.count("h0") for dots in plot.dots) == plot.places
    # The axes run from 50 to 404 and, upwards, from 370 to 16.
    assert any("M227 193h0" in dots.path for dots in plot.dots)
    assert any("M404 16h0" in dots.path for dots in plot.dots)
    widths = [dots.width for dots in plot.dots]
    assert widths == sorted(widths, reverse=True), "large dots lie behind small ones"
    empty = plots.scatter([], [], title="t", measure="F1")
    assert empty.n == 0 and not empty.dots
    with pytest.raises(ValueError, match="beside"):
        plots.scatter([1.0], [], title="t", measure="F1")


def test_plots_speak() -> None:
    page = Page(full().to_html())
    images = [svg for svg in page.tags("svg") if svg.get("role") == "img"]
    assert len(images) == len(page.tags("title")) - 1  # the page has one as well
    hidden = [svg for svg in page.tags("svg") if svg.get("aria-hidden") == "true"]
    assert len(images) + len(hidden) == len(page.tags("svg"))
    assert page.says("the judge’s F1 equals people’s in 2, is higher in 1 and lower in 0.")
    assert page.says("1 without both scores is not drawn")
    for _, attributes in page.elements:
        assert not {"fill", "stroke"} & set(attributes), "colours belong to the style sheet"


@pytest.mark.parametrize(
    ("lowest", "low"), [(0.96, 0.75), (0.556, 0.5), (0.1, 0.0), (-0.06, -0.25), (-0.9, -1.0)]
)
def test_strips_share_an_axis_that_holds_them(lowest: float, low: float) -> None:
    results = [figure("cohen_kappa", ("a", "b"), 0.97, low=lowest), figure("mad", ("a",), -5.0)]
    axis = plots.strip_axis(results)
    assert (axis.low, axis.high) == (low, 1.0)
    drawn = plots.strip(results[0], axis)
    assert drawn is not None and drawn.low is not None and drawn.high is not None
    assert plots.STRIP[0] <= drawn.low <= drawn.point <= drawn.high <= plots.STRIP[1]
    assert plots.strip(results[1], axis) is None


def test_worst_case_is_small() -> None:
    """3,313 disagreements: at most 600 KiB (the time to render is in benchmarks/report.py)."""
    verdicts = ("CORRECT", "INCORRECT")
    rows = [
        disagreement(
            i,
            question_id=f"q{i // 17}",
            question="List the songs and years in which it won the award between 2000 and 2024.",
            judges={"judge": verdicts[i % 2]},
            people={"annotator1": verdicts[i // 2 % 2], "annotator2": verdicts[i // 3 % 2]},
            final=verdicts[i % 2],
            comments=["a1: year differs"] if i % 9 == 0 else [],
        )
        for i in range(3313)
    ]
    scores = [{"judge": i % 9 / 8, "human": i % 7 / 6} for i in range(571)]
    report = full(disagreements=rows, response_scores=scores)
    html = report.to_html()
    assert len(html.encode()) <= 600 * 1024
    assert html.count("<tr><td>stream") == 0 and html.count("<td>stream ") == 3313
