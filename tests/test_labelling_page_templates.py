"""Every template in a browser: graded by keyboard as a person would, and back as it was clicked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from labelled_study import labelled_study
from labelling_desk import Desk, chromium, log_in

from accord.annotate.connection import connect
from accord.annotate.export import export_to_server
from accord.annotate.importing import ImportReport, import_from_server
from accord.annotate.label_tables import audit_table
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template, template_names
from accord.study import Study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Request

pytestmark = [pytest.mark.label_studio, pytest.mark.browser]

HOSTILE = "<img src=x onerror=\"document.title='stolen'\"><style>body{display:none}</style>"
TEXTS = {
    "hostile": HOSTILE + "</div><b>bold</b>" + "x" * 600,
    "arabic": "القاهرة (Cairo) 2024، مصر",
    "hebrew": "ירושלים (Jerusalem) 3000",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def study(label_studio: PrivateServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    folder = tmp_path_factory.mktemp("templates")
    with labelled_study(folder) as made:
        url, token = str(label_studio.status().url), label_studio.login().token
        with connect(url, token) as connection:
            for name in template_names():
                of_items = load_template(name).unit in ("pair", "pairs")
                sample = "example" if of_items else "questions"
                export_to_server(made, sample, connection, template=name)
        yield made


@pytest.fixture
def desk(browser: Browser, study: Study, label_studio: PrivateServer) -> Iterator[Desk]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    url = log_in(page, label_studio)
    rows = [row for row in study.ledger.exported() if row.project_id]
    with connect(url, label_studio.login().token) as connection:
        texts = {
            (row.template, str(connection.client.tasks.get(id=str(row.task_id)).data)): int(
                row.task_id or 0
            )
            for row in rows
        }
    yield Desk(page, url, {row.template: int(row.project_id or 0) for row in rows}, texts)
    context.close()


def fetch(study: Study, server: PrivateServer) -> ImportReport:
    with connect(str(server.status().url), server.login().token) as connection:
        return import_from_server(study, connection)


def test_what_is_clicked_is_what_comes_back(
    desk: Desk,
    study: Study,
    label_studio: PrivateServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    page = desk.page
    items = {item.predicted.split("\n")[0]: item.item_id for item in study.items()}

    # A page of pairs, with Tab and Space alone.
    desk.open("response")
    assert page.locator(".accord-row").count() == 4
    page.locator(".accord-row input").first.focus()
    desk.press("Space")
    desk.press("1", "5", "q", "w")  # no key grades a row that nobody looks at
    desk.choose(1, "INCORRECT")  # its fields appear
    desk.walk(1, "belongs_1")
    page.keyboard.type("3")  # where it stands already
    desk.choose(1, "unverifiable")
    desk.walk(1, "comment_1")
    page.keyboard.type("the second")
    desk.choose(2, "UNSURE")
    desk.walk(2, "belongs_2")
    page.keyboard.type("0")
    desk.choose(3, "GIVEN")
    desk.click("Submit")
    report = fetch(study, label_studio)
    assert report.annotations["labelled"] == 1 and report.new_ratings == 4 and not report.notes
    rows = {row.item_id: row for row in study.ledger.rating_rows() if row.source == "label-studio"}
    (given,) = (row.rating for item, row in rows.items() if item.startswith("missing:"))
    assert given == "GIVEN"
    second, third = rows[items["Ganymedes (III)"]], rows[items["Titan"]]
    assert rows[items["Io"]].rating == "CORRECT"
    assert (second.rating, second.reasons) == ("INCORRECT", ("unverifiable",))
    assert second.comment == "the second"
    assert (third.rating, third.reasons, third.comment) == ("UNSURE", ("misaligned",), None)

    # The same key twice takes the verdict back, and nothing can be submitted without one.
    desk.open("pair", "'predicted': 'Io")
    desk.first("1", "CORRECT")
    desk.press("1")
    assert page.get_by_role("button").filter(has_text="Submit").is_disabled()
    desk.press("4", "Control+Enter")
    page.get_by_text("Choose a verdict: 1 CORRECT").wait_for(timeout=10_000)
    page.get_by_role("button", name="OK", exact=True).click()
    page.wait_for_timeout(500)
    desk.press("2", "1")
    desk.submit()
    # Submitted, and changed afterwards.
    desk.open("pair", "Ganymedes (III)")
    desk.first("2", "INCORRECT")
    desk.submit()
    desk.open("pair", "Ganymedes (III)")
    desk.first("1", "CORRECT")
    desk.click("Update", "PATCH")
    desk.open("pair", "Titan")
    desk.first("2", "INCORRECT")
    desk.press("5", "0")
    page.locator("textarea").fill("a moon of <b>Saturn</b>")
    desk.click("Submit")

    desk.open("gold_audit", "Jupiter")
    desk.first("2", "ERROR")
    desk.press("4")
    page.locator("input[name=wrong]").nth(2).focus()
    desk.press("Space")
    corrected = page.locator("textarea").nth(1)
    assert "3. Ganymede\n   - number: III" in corrected.input_value()
    corrected.fill(corrected.input_value().replace(" III", " Jupiter III"))
    page.locator("textarea").nth(2).fill("the linked page")
    desk.click("Submit")
    # Begun, and left: a draft.
    desk.open("gold_audit", "walk on the Moon")
    with page.expect_response(re.compile("/drafts"), timeout=60_000):
        desk.first("1", "OK")

    desk.open("rating", "Jupiter")
    desk.first("3", "3")
    desk.submit()
    page.goto(f"{desk.url}/projects/{desk.projects['rating']}/data?labeling=1")
    page.get_by_text("Close this window with Esc").wait_for(timeout=60_000)
    page.wait_for_timeout(500)
    desk.press("Escape")
    desk.ready()
    desk.first("5", "5")
    desk.click("Skip")

    desk.open("choice", "walk on the Moon")
    desk.first("1", "CORRECT")
    desk.submit()
    # "Yes" and "A" are what a judge says; the page has words for them.
    desk.open("refusal", "walk on the Moon")
    assert page.get_by_text("YES, it declines").is_visible()
    desk.first("1", "Yes")
    desk.press("2")
    desk.submit()
    desk.open("components", "Jupiter")
    for place, words in enumerate(("a part of it", "all of it, and more", "the same", "almost")):
        label = "ABCD"[place]
        assert page.get_by_text(f"{label}: {words}").first.is_visible()
    desk.first("4", "D")
    desk.press("1")
    page.locator("textarea").fill("Titan")
    desk.click("Submit")
    desk.open("parse", "Jupiter")
    desk.first("2", "MISSED")
    desk.press("1")
    desk.submit()
    desk.open("adjudication")
    desk.first("2", "INCORRECT")
    desk.press("0")
    page.locator("textarea").fill("final")
    desk.click("Submit")

    report = fetch(study, label_studio)
    found = {rule: count for rule, count in report.annotations.items() if count}
    assert found == {"labelled": 11, "skipped": 1} and report.drafts == 1
    ledger = {}
    for row in study.ledger.rating_rows():
        if row.source == "label-studio":
            page_name = str(row.guideline).split("@")[0]
            ledger[page_name, row.item_id.partition(":")[0]] = row
            ledger[page_name, row.item_id] = row
    expected: dict[tuple[str, str], tuple[str | None, tuple[str, ...], str | None]] = {
        ("pair", items["Io"]): ("CORRECT", (), None),
        ("pair", items["Ganymedes (III)"]): ("CORRECT", (), None),
        ("pair", items["Titan"]): (
            "INCORRECT",
            ("unverifiable", "misaligned"),
            "a moon of <b>Saturn</b>",
        ),
        ("adjudication", items["Titan"]): ("INCORRECT", ("unverifiable",), "final"),
        ("choice", "response"): ("CORRECT", (), None),
        ("refusal", "response"): ("No", (), None),
        ("components", "response"): ("A", (), "Titan"),
        ("parse", "parse"): ("RIGHT", (), None),
        ("gold_audit", "gold"): ("ERROR", ("wrong_value",), "the linked page"),
    }
    assert {
        key: (ledger[key].rating, ledger[key].reasons, ledger[key].comment) for key in expected
    } == expected
    rated = [row for row in study.ledger.rating_rows() if str(row.guideline).startswith("rating@")]
    assert sorted((row.status, row.rating) for row in rated) == [("rated", "3"), ("skipped", None)]
    (audit,) = audit_table(study).frame.to_dict("records")
    assert (audit["marks"], audit["missing"]) == ("3 wrong", None)
    assert '"Jupiter III"' in audit["corrected"] and '"Ganymedes"' in audit["corrected"]


def changed(value: Any, text: str) -> Any:
    """A field of a task with every text in it replaced."""
    if isinstance(value, str):
        return value and text
    if isinstance(value, list):
        return [changed(part, text) for part in value]
    return {key: part if key == "label" else changed(part, text) for key, part in value.items()}


@pytest.mark.parametrize("name", template_names())
def test_any_text_is_shown_as_text(
    name: str, browser: Browser, label_studio: PrivateServer
) -> None:
    from accord.annotate.template import example

    template = load_template(name)
    data = example(name)[0]["data"]
    tasks: list[Any] = [
        {
            "data": {
                **data,
                **{f: changed(data[f], text) for f in template.shown if f != "source_html"},
            }
        }
        for text in TEXTS.values()
    ]
    url, token = str(label_studio.status().url), label_studio.login().token
    with connect(url, token) as connection:
        projects = connection.client.projects
        project = projects.create(title=f"any text {name}", label_config=template.config)
        made: Any = projects.import_tasks(
            id=int(project.id or 0), request=tasks, return_task_ids=True
        )
    context = browser.new_context(viewport={"width": 1024, "height": 900})
    page = context.new_page()
    log_in(page, label_studio)
    outside: list[str] = []

    def noted(sent: Request) -> None:
        if not sent.url.startswith((url, "data:", "blob:")):
            outside.append(sent.url)

    page.on("request", noted)
    for kind, task in zip(TEXTS, made.task_ids, strict=True):
        page.goto(f"{url}/projects/{project.id}/data?task={task}")
        lines = page.locator(".lsf-richtext__line:not(:empty)")
        lines.first.wait_for(timeout=60_000)
        page.wait_for_timeout(1_000)  # the page is laid out twice
        assert lines.count() >= min(3, sum(bool(data[field]) for field in template.shown))
        assert all(text == TEXTS[kind] for text in lines.all_inner_texts() if "Source:" not in text)
        assert page.title() == "Label Studio" and outside == []
        assert page.locator(".lsf-richtext :is(img, style, script, b, iframe)").count() == 0
        over = page.locator(".accord-page, .accord-pair").first.evaluate(
            "e => e.scrollWidth - e.clientWidth"
        )
        assert over <= 1
        # Right-to-left text begins at the right, whatever the page's own direction.
        if kind != "hostile":
            left, right = lines.first.evaluate(
                """line => {
                    const range = document.createRange();
                    range.selectNodeContents(line);
                    const text = range.getBoundingClientRect(), box = line.getBoundingClientRect();
                    return [text.left - box.left, box.right - text.right];
                }"""
            )
            assert right < 5 < left, (kind, left, right)
    context.close()
