"""A page of 40 pairs in a browser: graded by keyboard alone, in sight of the list, back by id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from labelling_desk import Desk, chromium, log_in
from long_response import CAPITALS, EXTRA, MISSING, PAIRS, long_study

from accord.annotate.connection import connect
from accord.annotate.export import export_to_server
from accord.annotate.importing import import_from_server
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.annotate.units import graded
from accord.study import Study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = [pytest.mark.label_studio, pytest.mark.browser]

LOOKED_AT, GRADED = "looked-at", "graded"
"""Samples of the same answer."""
ROWS = PAIRS + len(EXTRA) + len(MISSING)
FIRST, TWENTIETH, ALONE, FORTIETH = 0, 19, 20, 42
"""Rows of the 1st and 20th pair, of the first element without a partner, and of the 40th pair."""
LONDON = ROWS - 1

# What is chosen in each row that is not CORRECT, and the fields that appear there.
CHOSEN = {
    TWENTIETH: "INCORRECT",
    ALONE: "INCORRECT",
    ALONE + 1: "INCORRECT",
    ALONE + 2: "INCORRECT",
    FORTIETH: "UNSURE",
    FORTIETH + 1: "MISSING",
    FORTIETH + 2: "GIVEN",
    FORTIETH + 3: "UNSURE",
}
REASONS = ("missing_from_reference", "reference_wrong", "parse_error", "unverifiable")
TYPED = {(TWENTIETH, "belongs_19"): "21", (TWENTIETH, "comment_19"): "not this one"}
TICKED = {(TWENTIETH, "unverifiable"), (ALONE, "missing_from_reference")}

# Where the focus is, and whether something lies over it.
FOCUS = """() => {
    const at = document.activeElement, box = at.getBoundingClientRect();
    const rows = [...document.querySelectorAll('.accord-row')];
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const seen = top !== null && (at.contains(top) || at.closest('label, form')?.contains(top));
    return [rows.indexOf(at.closest('.accord-row')), at.name || '', Boolean(seen)];
}"""
# What stands out of the page to a side, and how much wider each scrolled box is than it shows.
WIDER = """() => {
    const page = document.querySelector('.accord-page'), edge = page.getBoundingClientRect();
    const out = [...page.querySelectorAll('*')].filter(one => {
        const box = one.getBoundingClientRect();
        return box.width > 0 && (box.right > edge.right + 1 || box.left < edge.left - 1);
    });
    const boxes = [page, document.documentElement, document.querySelector('.lsf-main-content')];
    const within = page.querySelectorAll('.accord-box, .accord-row, .accord-cell');
    return [
        out.map(one => one.className),
        Math.max(...[...boxes, ...within].map(one => one.scrollWidth - one.clientWidth)),
    ];
}"""
# Brightness (0 to 1) of a colour of an element, and of what is behind it.
INK = """([css, what]) => {
    const value = (node, what) => {
        const found = getComputedStyle(node)[what].match(/[\\d.]+/g).map(Number);
        const opaque = found.length < 4 || found[3] > 0.5;
        return opaque ? (0.299 * found[0] + 0.587 * found[1] + 0.114 * found[2]) / 255 : null;
    };
    const node = document.querySelector(css), ink = value(node, what);
    let behind = node.parentElement;
    while (behind && value(behind, 'backgroundColor') === null) behind = behind.parentElement;
    return [ink, behind ? value(behind, 'backgroundColor') : 1];
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def study(label_studio: PrivateServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    url, token = str(label_studio.status().url), label_studio.login().token
    with long_study(tmp_path_factory.mktemp("long")) as made:
        with connect(url, token) as connection:
            # The server keeps what somebody began: each test has a page of its own.
            for sample in (LOOKED_AT, GRADED):
                draw_sample(made, sample_id=sample)
                out = export_to_server(made, sample, connection, template="response")
                assert (out.total, out.added) == (1, 1)
        yield made


def desk_at(
    browser: Browser, study: Study, server: PrivateServer, sample: str, width: int, scheme: str
) -> tuple[BrowserContext, Desk]:
    """A browser of that width and theme, logged in, for the one page of a sample."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    context.add_init_script(f"localStorage.setItem('preferred-color-scheme', '{scheme}')")
    page = context.new_page()
    (task,) = study.ledger.exported(sample)
    url = log_in(page, server)
    tasks = {("response", ""): int(task.task_id or 0)}
    return context, Desk(page, url, {"response": int(task.project_id or 0)}, tasks)


def scrolled_to(page: Page, row: int) -> None:
    page.locator(".accord-row").nth(row).scroll_into_view_if_needed()
    page.wait_for_timeout(300)


def rows_left(page: Page) -> str:
    """The line at the bottom as a screen reader has it: a counter of CSS is in no text."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    named = {node["nodeId"]: str(node.get("name", {}).get("value", "")) for node in nodes}
    texts = ("".join(named.get(child, "") for child in node.get("childIds", ())) for node in nodes)
    (line,) = {text for text in texts if re.fullmatch(r"Rows without a verdict: \d+", text)}
    return line


@pytest.mark.parametrize("scheme", ["Light", "Dark"])
@pytest.mark.parametrize("width", [1400, 1024])
def test_the_page_is_in_order_at_any_width_and_theme(
    browser: Browser, study: Study, label_studio: PrivateServer, width: int, scheme: str
) -> None:
    context, desk = desk_at(browser, study, label_studio, LOOKED_AT, width, scheme)
    page = desk.page
    desk.open("response")
    assert page.locator(".accord-row").count() == ROWS == 47
    labels = page.locator(".accord-row .accord-name").all_inner_texts()
    pairs = PAIRS + len(EXTRA)
    assert [label.partition(",")[0] for label in labels[:pairs]] == [
        f"{place} of {pairs}" for place in range(1, pairs + 1)
    ]
    assert [label.split()[2].rstrip(":") for label in labels[pairs:]] == ["41", "42", "43", "44"]

    # Nothing is wider than the page, with the fields of a row open too.
    assert page.evaluate(WIDER) == [[], 0]
    for row, name in ((3, "INCORRECT"), (ALONE, "UNSURE")):
        scrolled_to(page, row)
        page.locator(".accord-row").nth(row).locator(f"input[name='{name}']").check()
        page.locator(".accord-row").nth(row).locator(f"input[name='belongs_{row}']").wait_for()
    assert page.evaluate(WIDER) == [[], 0]

    # The whole list of the reference stays in sight at any row, and covers what is behind it.
    scrolled_to(page, LONDON)
    listed = page.locator(".accord-list").bounding_box()
    first = page.locator(".accord-list .lsf-richtext__line").first.bounding_box()
    bottom = page.locator(".lsf-main-content").bounding_box()
    assert listed and first and bottom
    assert bottom["y"] - 1 <= listed["y"] and first["y"] < listed["y"] + 40
    assert listed["height"] <= 0.26 * 900 + 1, "most of the height is for the rows"
    shown = page.locator(".accord-list .lsf-richtext__line").all_inner_texts()
    assert [text.strip() for text in shown if text.strip() != "since: 1871"] == [
        f"{number}. {text}" for number, text in enumerate(CAPITALS, 1)
    ]
    middle = [listed["x"] + listed["width"] / 2, listed["y"] + listed["height"] - 4]
    covers = page.evaluate(
        "([x, y]) => document.elementFromPoint(x, y).closest('.accord-list') !== null", middle
    )
    assert covers
    # At least 30 of the 44 can be read without scrolling in the list.
    inside = page.locator(".accord-list .lsf-richtext__line").evaluate_all(
        "lines => lines.filter(e => e.getBoundingClientRect().bottom <="
        " e.closest('.accord-list').getBoundingClientRect().bottom).length"
    )
    assert inside >= 30

    # Text, and the circles that are not chosen, stand out from what is behind them.
    for css, what, least in (
        (".accord-list .lsf-richtext__line", "color", 0.5),
        (".accord-row .lsf-richtext__line", "color", 0.5),
        (".accord-row .ant-checkbox-inner", "borderTopColor", 0.25),
    ):
        ink, paper = page.evaluate(INK, [css, what])
        assert abs(ink - paper) > least, (css, ink, paper)
        assert (paper < 0.5) == (scheme == "Dark")

    # A page that a person gets through: its height, and what the browser has to hold of it.
    height = page.locator(".accord-page").evaluate("e => e.scrollHeight")
    assert height < ROWS * 130
    nodes = page.locator(".accord-page").evaluate("e => e.querySelectorAll('*').length")
    assert nodes < ROWS * 150
    context.close()


def stops(row: int, chosen: str | None) -> list[str]:
    """The controls of a row in the order of Tab, with the fields that a verdict opens."""
    if row > FORTIETH:
        return ["MISSING", "GIVEN", "UNSURE"]
    more = [f"belongs_{row}", *REASONS, f"comment_{row}"]
    return ["CORRECT", "INCORRECT", "UNSURE", *(more if chosen in ("INCORRECT", "UNSURE") else [])]


def test_forty_pairs_by_keyboard_alone_and_every_label_comes_back_by_its_id(
    browser: Browser,
    study: Study,
    label_studio: PrivateServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    context, desk = desk_at(browser, study, label_studio, GRADED, 1400, "Light")
    page = desk.page
    page.goto(f"{desk.url}/projects/{desk.projects['response']}/data?labeling=1")
    page.get_by_text("Close this window with Esc").wait_for(timeout=60_000)
    page.wait_for_timeout(500)
    desk.press("Escape")
    desk.ready()
    assert rows_left(page) == f"Rows without a verdict: {ROWS}"

    # From opening the page to the first label: a dozen keys.
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUS)[:2] == [FIRST, "CORRECT"]:
            break
    # And on through the whole page, every control in its turn and nothing over it.
    at_first = True
    for row in range(ROWS):
        chosen = CHOSEN.get(row, "CORRECT") if row != LONDON else None
        for name in stops(row, chosen):
            if not at_first:
                page.keyboard.press("Tab")
            at_first = False
            assert page.evaluate(FOCUS) == [row, name, True], (row, name)
            if name == chosen or (row, name) in TICKED:
                page.keyboard.press("Space")
                box = page.locator(".accord-row").nth(row).locator(f"input[name='{name}']")
                box.and_(page.locator(":checked")).wait_for(state="attached", timeout=10_000)
                # Label Studio draws the row's controls anew: the next Tab comes back to this one.
                page.keyboard.press("Tab")
                assert page.evaluate(FOCUS) == [row, name, True], (row, name)
            if (row, name) in TYPED:
                page.keyboard.type(TYPED[row, name])
    assert rows_left(page) == "Rows without a verdict: 1"

    # One row is open: the page is not sent, and says how to find it.
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent").strip() == "Submit":
            break
    page.keyboard.press("Space")
    page.get_by_text("one that is open has a violet edge").wait_for(timeout=10_000)
    desk.press("Space")
    page.get_by_role("button", name="OK", exact=True).wait_for(state="hidden", timeout=10_000)
    scrolled_to(page, LONDON)
    edges = page.locator(".accord-row").evaluate_all(
        "rows => rows.map(row => getComputedStyle(row).borderLeftColor)"
    )
    assert len(set(edges[:LONDON])) == 1 and edges[LONDON] not in edges[:LONDON]
    page.locator(".accord-row").nth(LONDON).locator("input[name='MISSING']").check()
    assert rows_left(page) == "Rows without a verdict: 0"
    desk.submit()
    context.close()

    with connect(desk.url, label_studio.login().token) as connection:
        report = import_from_server(study, connection)
    assert (report.annotations["labelled"], report.new_ratings, report.notes) == (1, ROWS, ())
    (whole,) = graded(study, load_template("response"))
    ids = [*whole.rows["pairs"], *whole.rows["missing"]]
    ratings = {row.item_id: row for row in study.ledger.rating_rows()}
    expected = ["CORRECT"] * ROWS
    for row, verdict in {**CHOSEN, LONDON: "MISSING"}.items():
        expected[row] = verdict
    assert [ratings[item].rating for item in ids] == expected
    of = {item.predicted: item for item in study.items()}
    first, twentieth, fortieth = (
        of[text] for text in ("Albania: Tirana", "Rome is the capital of Italy", "Spain: Madrid")
    )
    assert (first.reference, fortieth.reference) == (CAPITALS[0], CAPITALS[39])
    alone = of[EXTRA[0]]
    assert alone.reference is None
    marks = {
        item.predicted: (one.rating, one.reasons, one.comment)
        for item in (first, twentieth, alone, fortieth)
        for one in [ratings[item.item_id]]
    }
    assert marks == {
        "Albania: Tirana": ("CORRECT", (), None),
        "Rome is the capital of Italy": (
            "INCORRECT",
            ("unverifiable", "misaligned"),
            "not this one",
        ),
        "Tiraspol": ("INCORRECT", ("missing_from_reference",), None),
        "Spain: Madrid": ("UNSURE", (), None),
    }
