"""The report in a browser: inert, nothing loaded, nothing wider than the page, dark and printed."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from accord.validate import Estimate
from accord.validate.report import Report, build_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request

pytestmark = pytest.mark.browser

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

HOSTILE = (
    "<script>alert(1)</script>",
    '<img src="http://evil.test/x.png" onerror="alert(2)">',
    "</style></title></svg></textarea></td></table></details><script>alert(3)</script>",
    '" onmouseover="alert(4)" style="background:url(http://evil.test/y)" x="',
    "');}@import 'http://evil.test/z.css';*{color:red",
    "{{1117*7}}",
    '=HYPERLINK("http://evil.test/","win")',
    "<iframe srcdoc='<script>alert(5)</script>'></iframe><base href=http://evil.test/>",
    "<svg/onload=alert(6)><a href=javascript:alert(7)>x</a>",
    "\u202egnp.exe\u2069\u200f",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium: the system's, else playwright's own."""
    from playwright.sync_api import Error, sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if (found := shutil.which(name))), None)
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        except Error as error:
            pytest.skip(f"no Chromium can be started: {error.message.splitlines()[0]}")
        yield started
        started.close()


@contextmanager
def opened(browser: Browser, file: Path, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """The page, and everything it did besides being shown."""
    context = browser.new_context(**options)
    page = context.new_page()
    did: list[str] = []

    def dismissed(dialog: Dialog) -> None:
        did.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def requested(request: Request) -> None:
        if request.url != file.as_uri():
            did.append(f"request {request.url[:60]}")

    page.on("dialog", dismissed)
    page.on("request", requested)
    page.on("console", lambda message: did.append(f"console {message.text}"))
    page.on("pageerror", lambda error: did.append(f"error {error}"))
    page.on("popup", lambda _: did.append("popup"))
    page.goto(file.as_uri())
    yield page, did
    context.close()


def figure(name: str, raters: tuple[str, ...], point: float, **more: Any) -> dict[str, Any]:
    made = Estimate(
        name,
        point,
        low=point - 0.05,
        high=point + 0.04,
        raters=raters,
        n=1490,
        clusters=301,
        design_effect=1.74,
        method="question jackknife t on Fisher z, one disagreement added",
        dropped={"missing": 7},
    )
    return {**made.to_dict(), **more}


def busy(rows: int = 40) -> Report:
    """A report with everything in it: several judges, long names, long and unbroken texts."""
    judges = ("judge_davinci003", "gemma3-270m-q4-k-m", "W" * 40)
    people = ("annotator1", "annotator2", "annotator3")
    kinds = dict.fromkeys(people, "annotator") | dict.fromkeys(judges, "judge")
    pairs = [("annotator1", "annotator2"), *((judge, "final") for judge in judges)]
    results = [
        figure(name, pair, 0.9 - 0.1 * i, level=level, warnings=["rests on 7 disagreements " * 6])
        for level, names in (
            ("element", ("agreement", "cohen_kappa", "gwet_ac1")),
            ("response", ("pearson", "mad", "bias")),
        )
        for name in names
        for i, pair in enumerate(pairs)
    ]
    results.append(figure("spearman", pairs[1], math.nan, level="response", reason="constant " * 9))
    for system in ("a system with a rather long name", "beta"):
        both = {"level": "system", "system": system}
        results += [figure("mean_score", (name,), 0.6, **both) for name in pairs[1]]
        results.append(figure("bias", pairs[1], -0.05, **both))
    verdicts = ("CORRECT", "INCORRECT")
    return build_report(
        title="Three judges and three people on open questions with short answers",
        agreement={
            "results": results,
            "kinds": {**kinds, "final": "adjudicated"},
            "confusion": [
                {
                    "raters": [judge, "final"],
                    "categories": ["CORRECT", "INCORRECT", "UNSURE"],
                    "counts": [[679, 137, 3], [89, 583, 12], [1, 0, 4]],
                }
                for judge in judges
            ],
        },
        response_scores=[
            {"rater": judge, "judge": i % 9 / 8, "human": i % 7 / 6}
            for judge in judges
            for i in range(200)
        ],
        disagreements=[
            {
                "question_id": f"q{i // 4}",
                "system": "beta",
                "question": "Which of these? " * 8,
                "reference": "x" * 200 if i == 3 else "Apollo 12\nyear: 1969",
                "predicted": "commander: Pete Conrad " * (1 + i % 4),
                "judges": dict.fromkeys(judges, verdicts[i % 2]),
                "people": dict.fromkeys(people, verdicts[i // 2 % 2]),
                "final": "INCORRECT",
                "comments": ["annotator1: not the same commander"],
            }
            for i in range(rows)
        ],
        systems=[
            {"judge": "exact", "system": "beta", "responses": 76}
            | {f"figure_number_{i}": 0.5 for i in range(9)}
        ],
        audit=figure("error_rate", (), 0.0166, level="dataset", details={"errors": 8}),
        recipe={"name": "listqa", "judges": {"a": {"model": "m", "parameters": {"x": {"y": 1}}}}},
        provenance={
            "inputs": [
                {"name": "items.csv", "sha256": "ab" * 32, "at": "2025-06-01T09:30:00+00:00"}
                | {"options": {"map": {"reference": "gold_answers", "predicted": "answer"}}}
            ]
        },
    )


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(busy().to_html(), encoding="utf-8")
    return file


def test_hostile_text_does_nothing(browser: Browser, tmp_path: Path) -> None:
    rows = [
        {
            "question_id": text,
            "question": text,
            "system": text,
            "reference": text,
            "predicted": text,
            "judges": {text: text},
            "people": {text: text, "bob": "no"},
            "final": text,
            "comments": [text],
        }
        for text in HOSTILE
    ]
    results = [
        one
        for text in HOSTILE
        for one in (
            figure("cohen_kappa", (text, "bob"), 0.7, warnings=[text], method=text),
            figure("mad", (text, "bob"), math.nan, reason=text, dropped={text: 3}),
            figure(text, (text, "bob"), 0.5),
        )
    ]
    report = build_report(
        title=" ".join(HOSTILE),
        agreement={
            "results": results,
            "kinds": dict.fromkeys(HOSTILE, "judge") | {"bob": "annotator"},
            "confusion": [{"raters": HOSTILE[:2], "categories": HOSTILE[:1], "counts": [[1]]}],
            "notes": HOSTILE,
        },
        response_scores=[{"rater": text, "judge": 1.0, "human": 0.5} for text in HOSTILE],
        disagreements=rows[:6],
        systems=[{text: text for text in HOSTILE}],
        audit=figure("error_rate", HOSTILE[:1], 0.1, warnings=HOSTILE),
        recipe={text: {text: [text]} for text in HOSTILE},
        provenance={"inputs": [{text: text} for text in HOSTILE]},
    )
    file = tmp_path / "hostile.html"
    file.write_text(report.to_html(), encoding="utf-8")
    for width in (1400, 400):
        with opened(browser, file, viewport={"width": width, "height": 900}) as (page, did):
            page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            for handle in page.query_selector_all("td, dd, summary")[:60]:
                handle.dispatch_event("mouseover")
            page.wait_for_timeout(100)
            assert did == []
            counted = page.evaluate(
                "['script','img','iframe','object','embed','base','form','textarea','video']"
                ".map(tag => document.querySelectorAll(tag).length)"
            )
            assert counted == [0] * 9
            assert page.evaluate("document.querySelectorAll('style').length") == 1
            assert page.evaluate(
                "[...document.querySelectorAll('a')].every(a => a.hash && a.href.startsWith("
                "location.href.split('#')[0]))"
            )
            handlers = page.evaluate(
                "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes])"
                ".filter(a => a.name.startsWith('on')).length"
            )
            assert handlers == 0
            text = page.evaluate("document.body.innerText")
            for hostile in HOSTILE[:-1]:
                assert text.count(hostile) >= 10, hostile
            assert text.count("\\u202egnp.exe\\u2069\\u200f") >= 10
            assert "7819" not in text
            assert not {"\u202e", "\u2069", "\u200f"} & set(page.content())
            assert "<script>alert(1)</script>" in page.title()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 1024, 400])
def test_nothing_is_wider_than_the_page(
    browser: Browser, page_file: Path, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 900}
    with opened(browser, page_file, viewport=size, color_scheme=scheme) as (page, did):
        for open_all in (False, True):
            if open_all:
                page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            too_wide = page.evaluate(
                "[...document.querySelectorAll('.wide')]"
                ".filter(e => e.scrollWidth > e.clientWidth).map(e => e.firstChild.className)"
            )
            assert too_wide == []
        assert did == []


def luminance(colour: str) -> float:
    """Relative luminance of ``rgb(r, g, b)`` (WCAG 2)."""
    parts = [float(x) / 255 for x in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(browser: Browser, page_file: Path, scheme: str) -> None:
    with opened(browser, page_file, color_scheme=scheme) as (page, _):

        def colour(selector: str, name: str = "color") -> str:
            found = page.evaluate(
                "([s, n]) => getComputedStyle(document.querySelector(s))[n]", [selector, name]
            )
            return str(found)

        paper = colour("body", "backgroundColor")
        assert (luminance(paper) < 0.05) == (scheme == "dark")
        assert contrast(colour("body"), paper) >= 7
        for selector in (".soft", ".by", "thead th", ".notes li", ".reason", ".caution"):
            assert contrast(colour(selector), paper) >= 4.5, selector
        assert contrast(colour(".items td b"), paper) >= 4.5
        for name in ("fill", "stroke"):
            for selector in (".judge svg .point", ".people svg .point", "svg .dots"):
                drawn = colour(selector, name)
                if drawn.startswith("rgb") and not (name == "fill" and ".people" in selector):
                    assert contrast(drawn, paper) >= 3, (selector, name)


def test_print_is_light_and_fits_paper(browser: Browser, page_file: Path) -> None:
    # 182 mm between the margins of A4 at 96 dots an inch
    size = {"width": 688, "height": 1000}
    with opened(browser, page_file, viewport=size, color_scheme="dark") as (page, did):
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("document.documentElement.scrollWidth") <= 688
        assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) == 1.0
        assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
        assert page.evaluate("getComputedStyle(document.querySelector('.panel tr')).display") == (
            "table-row"
        )
        assert did == []


def test_narrow_rows_carry_their_columns_names(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file, viewport={"width": 400, "height": 900}) as (page, _):
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        names = page.evaluate(
            "[...document.querySelector('.items td').parentNode.children]"
            ".map(e => getComputedStyle(e, '::before').content)"
        )
        assert names[:5] == [
            '"Reference"',
            '"Predicted"',
            '"System"',
            '"judge_davinci003"',
            '"gemma3-270m-q4-k-m"',
        ]
        label = page.evaluate(
            "getComputedStyle(document.querySelector('.panel td.estimate'), '::before').content"
        )
        assert "Estimate" in label


def test_many_disagreements_cost_nothing_until_opened(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "long.html"
    file.write_text(busy(rows=3313).to_html(), encoding="utf-8")
    with opened(browser, file) as (page, _):
        closed = page.evaluate("document.querySelector('.items').checkVisibility()")
        assert closed is False
        height = page.evaluate("document.documentElement.scrollHeight")
        page.evaluate("document.querySelector('#disagreements details').open = true")
        assert page.evaluate("document.querySelectorAll('.items td:first-child').length") == 3313
        assert page.evaluate("document.documentElement.scrollHeight") > 10 * height
