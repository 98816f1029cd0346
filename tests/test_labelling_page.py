"""The labelling page in a browser: hostile text is inert, keys work, nothing is fetched outside."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from labelling_desk import chromium, log_in

from accord.annotate.connection import connect
from accord.annotate.export import export_to_server
from accord.annotate.importing import import_from_server
from accord.annotate.sample import draw_sample
from accord.annotate.server import PrivateServer
from accord.annotate.template import load_template
from accord.study import Study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

pytestmark = [pytest.mark.label_studio, pytest.mark.browser]

HOSTILE = {
    "question": "<script>document.title='stolen'</script>Which <b>one</b>? $predicted {{idx}}",
    "reference": "<img src=http://outside.example/x.png onerror=\"document.title='stolen'\">",
    "alias": "</div><iframe src=http://outside.example/></iframe>",
    "predicted": '=HYPERLINK("http://outside.example","click") \u202efdp.exe\u202c zero\u200bwidth '
    "javascript:alert(1) http://outside.example/y",
}
SHOWN = {
    "question": HOSTILE["question"],
    "reference": HOSTILE["reference"],
    "also": f"Also accepted:\n• {HOSTILE['alias']}",
    "predicted": HOSTILE["predicted"]
    .replace("\u202e", "[U+202E]")
    .replace("\u202c", "[U+202C]")
    .replace("\u200b", "[U+200B]"),
}
ARABIC = "القاهرة (Cairo) 2024"


@dataclass
class Desk:
    """A person's browser at the project."""

    page: Page
    server: str
    project: int
    tasks: dict[str, int]
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def open(self, item: str) -> None:
        self.page.goto(f"{self.server}/projects/{self.project}/data?task={self.tasks[item]}")
        self.page.get_by_text("INCORRECT[2]").wait_for(timeout=60_000)
        self.page.locator(".accord-predicted .lsf-richtext__line").first.wait_for(timeout=60_000)
        self.page.wait_for_timeout(1_000)  # the page is laid out twice

    def text(self, css: str) -> str:
        lines = self.page.locator(f"{css} .lsf-richtext__line").all_inner_texts()
        return "\n".join(lines)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def study(label_studio: PrivateServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """A study with a hostile pair, a right-to-left one and an unmatched one, exported."""
    folder = tmp_path_factory.mktemp("page")
    pairs: list[dict[str, Any]] = [
        {
            "item_id": "hostile",
            "question_id": "q1",
            "question": HOSTILE["question"],
            "reference": [HOSTILE["reference"], HOSTILE["alias"]],
            "predicted": HOSTILE["predicted"],
        },
        {
            "item_id": "arabic",
            "question_id": "q2",
            "question": "ما هي عاصمة مصر؟",
            "reference": "القاهرة",
            "predicted": ARABIC,
        },
        {
            "item_id": "plain",
            "question_id": "q3",
            "question": "Which metals?",
            "reference": "copper",
            "predicted": "  Cu\n\n\tsecond paragraph " + "x" * 2_000,
        },
    ]
    table = folder / "pairs.json"
    table.write_text(json.dumps(pairs), encoding="utf-8")
    with Study.create(folder / "study") as study:
        study.add_pairs(table)
        draw_sample(study, sample_id="s1")
        url, token = str(label_studio.status().url), label_studio.login().token
        with connect(url, token) as connection:
            export_to_server(study, "s1", connection)
        yield study


@pytest.fixture(params=["Light", "Dark"])
def desk(
    request: pytest.FixtureRequest, study: Study, browser: Browser, label_studio: PrivateServer
) -> Iterator[Desk]:
    url = str(label_studio.status().url)
    rows = study.ledger.exported("s1")
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.add_init_script(f"localStorage.setItem('preferred-color-scheme', '{request.param}')")
    page = context.new_page()
    tasks = {row.item_id: int(row.task_id or 0) for row in rows}
    desk = Desk(page, url, int(rows[0].project_id or 0), tasks)
    page.on("request", lambda sent: desk.requests.append(sent.url))

    def dismissed(box: Dialog) -> None:
        desk.dialogs.append(box.message)
        box.dismiss()

    page.on("dialog", dismissed)
    log_in(page, label_studio)
    yield desk
    context.close()


def brightness(page: Page, css: str, what: str) -> float:
    """The brightness (0 to 1) of a computed colour, looking through what is transparent."""
    script = """([css, what]) => {
        let node = document.querySelector(css);
        while (node) {
            const found = getComputedStyle(node)[what].match(/[\\d.]+/g).map(Number);
            if (found.length < 4 || found[3] > 0.5) {
                return (0.299 * found[0] + 0.587 * found[1] + 0.114 * found[2]) / 255;
            }
            node = node.parentElement;
        }
        return 1;
    }"""
    return float(page.evaluate(script, [css, what]))


def test_hostile_text_is_text(desk: Desk, request: pytest.FixtureRequest) -> None:
    desk.open("hostile")
    assert desk.text(".accord-question") == SHOWN["question"]
    assert desk.text(".accord-reference .accord-also") == SHOWN["also"]
    assert SHOWN["reference"] in desk.text(".accord-reference")
    assert desk.text(".accord-predicted").rstrip() == SHOWN["predicted"]
    desk.page.wait_for_timeout(500)
    assert desk.page.title() == "Label Studio" and desk.dialogs == []
    inside = ".accord-box :is(script, img, iframe, a, b)"
    assert desk.page.locator(inside).count() == 0
    outside = [url for url in desk.requests if not url.startswith((desk.server, "data:", "blob:"))]
    assert outside == []
    # Readable in this theme: text and what is behind it are far apart.
    for box in (".accord-reference", ".accord-predicted", ".accord-question"):
        ink = brightness(desk.page, f"{box} .lsf-richtext__line", "color")
        paper = brightness(desk.page, box, "backgroundColor")
        assert abs(ink - paper) > 0.5, (box, ink, paper)
        assert (paper < 0.5) == ("Dark" in request.node.name)


def test_right_to_left_text_stands_right(desk: Desk) -> None:
    desk.open("arabic")
    assert desk.text(".accord-predicted").rstrip() == ARABIC
    script = """css => {
        const line = document.querySelector(css), box = line.closest('.accord-box');
        const range = document.createRange();
        range.selectNodeContents(line);
        const text = range.getBoundingClientRect(), frame = box.getBoundingClientRect();
        return [text.left - frame.left, frame.right - text.right];
    }"""
    for box in (".accord-question", ".accord-reference", ".accord-predicted"):
        left, right = desk.page.evaluate(script, f"{box} .lsf-richtext__line")
        assert right < 40 < left, (box, left, right)


@pytest.mark.parametrize("width", [1400, 1024])
def test_columns_are_equal_and_nothing_overflows(desk: Desk, width: int) -> None:
    desk.page.set_viewport_size({"width": width, "height": 900})
    desk.open("plain")
    reference, predicted = (
        desk.page.locator(css).bounding_box() for css in (".accord-reference", ".accord-predicted")
    )
    assert reference and predicted
    assert abs(reference["width"] - predicted["width"]) < 2
    assert abs(reference["y"] - predicted["y"]) < 2 and reference["x"] < predicted["x"]
    over = "css => { const e = document.querySelector(css); return e.scrollWidth - e.clientWidth }"
    for css in (".accord-pair", ".accord-predicted", ".accord-question"):
        assert desk.page.evaluate(over, css) <= 1, css
    # Blanks and line breaks are as they were given, and no note is shown where there is text.
    assert desk.text(".accord-predicted").startswith("  Cu\n\n\tsecond paragraph x")
    assert not desk.page.locator(".accord-note .lsf-richtext").first.is_visible()


@pytest.mark.parametrize("desk", ["Light"], indirect=True)
def test_keys_grade_and_the_label_comes_back(
    desk: Desk,
    study: Study,
    label_studio: PrivateServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    desk.open("arabic")
    for key in ("2", "5", "6", "0"):
        desk.page.keyboard.press(key)
        desk.page.wait_for_timeout(150)
    desk.page.locator("textarea").fill("ein Wort <b>x</b>")
    with desk.page.expect_response(
        lambda answer: "/annotations" in answer.url and answer.request.method == "POST"
    ) as answer:
        desk.page.get_by_role("button", name="Submit").click()
    assert answer.value.status == 201
    with connect(desk.server, label_studio.login().token) as connection:
        report = import_from_server(study, connection)
    assert report.annotations["labelled"] == 1
    (row,) = study.ledger.rating_rows()
    assert (row.item_id, row.rating) == ("arabic", "INCORRECT")
    assert set(row.reasons) == {"missing_from_reference", "unverifiable", "misaligned"}
    assert row.comment == "ein Wort <b>x</b>"


@pytest.mark.parametrize("desk", ["Light"], indirect=True)
def test_the_keys_that_the_instructions_name(desk: Desk) -> None:
    page = desk.page
    page.goto(f"{desk.server}/projects/{desk.project}/data?labeling=1")
    first = page.get_by_text("Close this window with Esc before you grade.")
    first.wait_for(timeout=60_000)
    assert page.get_by_text("Small slips of spelling are CORRECT").is_visible()
    page.wait_for_timeout(500)  # it slides in
    page.keyboard.press("Escape")
    first.wait_for(state="hidden", timeout=10_000)
    page.locator(".accord-predicted .lsf-richtext__line").first.wait_for(timeout=60_000)
    named = re.search(r"The button \*(.+?)\* opens it again", load_template().instructions)
    assert named is not None
    page.get_by_role("button", name=named[1], exact=True).click()
    first.wait_for(timeout=10_000)
    page.wait_for_timeout(500)
    page.keyboard.press("Escape")
    first.wait_for(state="hidden", timeout=10_000)
    page.keyboard.press("1")
    page.wait_for_timeout(500)
    with page.expect_response(
        lambda answer: "/annotations" in answer.url and answer.request.method == "POST"
    ) as answer:
        page.keyboard.press("Control+Enter")
    assert answer.value.status == 201
    assert '"CORRECT"' in (answer.value.request.post_data or "")
