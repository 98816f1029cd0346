"""A panel's page in a browser: inert, nothing wider than the page, dark, printed whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_agreement_page import busy
from test_report_page import HOSTILE, contrast, luminance, opened
from test_report_page import browser as browser  # a fixture, used by its name

from accord.validate import agreement
from accord.validate.panel_page import agreement_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

OPEN_ALL = "document.querySelectorAll('details').forEach(d => d.open = true)"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every part, of raters with long and hostile names."""
    names = (HOSTILE[0], HOSTILE[3], "W" * 40, "a_judge_with_a_rather_long_name_for_a_column")
    ratings = busy(240, names)
    ratings.frame["topic"] = ratings.frame["topic"] + HOSTILE[1]
    report = agreement(
        ratings,
        positive="CORRECT",
        strata=("topic", "system"),
        family={names[3]: HOSTILE[2], "s0": HOSTILE[2], "s1": "h", "s2": "h"},
        resamples=0,
    )
    file = tmp_path_factory.mktemp("page") / "panel.html"
    file.write_text(agreement_page(report, title=" ".join(HOSTILE)), encoding="utf-8")
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 1024, 400])
def test_nothing_is_wider_and_nothing_happens(
    browser: Browser, page_file: Path, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 900}
    with opened(browser, page_file, viewport=size, color_scheme=scheme) as (page, did):
        page.evaluate(OPEN_ALL)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        too_wide = page.evaluate(
            "[...document.querySelectorAll('.wide')]"
            ".filter(e => e.scrollWidth > e.clientWidth).map(e => e.firstChild.className)"
        )
        assert too_wide == []
        assert did == []
        counted = page.evaluate(
            "['script','img','iframe','object','embed','base','form','video']"
            ".map(tag => document.querySelectorAll(tag).length)"
        )
        assert counted == [0] * 8
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (luminance(paper) < 0.05) == (scheme == "dark")
        for selector in (".facts dt", ".facts dd", ".part h3", ".part li", ".methods td"):
            ink = page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).color")
            assert contrast(ink, paper) >= 4.5, selector


def test_closed_parts_are_printed(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file, viewport={"width": 688, "height": 1000}) as (page, did):
        closed = "document.querySelector('.part details:not([open]) table').checkVisibility()"
        assert page.evaluate(closed) is False
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth") <= 688
        table = "document.querySelector('.part details:not([open]) table')"
        height = page.evaluate(f"{table}.getBoundingClientRect().height")
        assert height > 100 and did == []
