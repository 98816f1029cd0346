"""A person's browser at a private Label Studio, for the tests of labelling pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from accord.annotate.server import PrivateServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Chromium without a window; the test is skipped where there is none."""
    from playwright.sync_api import sync_playwright

    if not Path(CHROMIUM).exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}; name one with CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


def log_in(page: Page, server: PrivateServer) -> str:
    """Log the owner in, and return the server's address."""
    url, login = str(server.status().url), server.login()
    page.goto(f"{url}/user/login/")
    page.fill("input[name=email]", login.email)
    page.fill("input[name=password]", login.password)
    page.click("button[type=submit]")
    page.wait_for_load_state()
    return url


@dataclass
class Desk:
    """A person's browser, and where the tasks of each template are."""

    page: Page
    url: str
    projects: dict[str, int]
    tasks: dict[tuple[str, str], int]

    def open(self, template: str, about: str = "") -> None:
        """Open the task of a template whose text holds some words."""
        (task,) = [
            number
            for (name, text), number in self.tasks.items()
            if name == template and about in text
        ]
        self.page.goto(f"{self.url}/projects/{self.projects[template]}/data?task={task}")
        self.ready()

    def ready(self) -> None:
        self.page.locator(".lsf-richtext__line").first.wait_for(timeout=60_000)
        self.page.wait_for_timeout(1_000)

    def first(self, key: str, name: str) -> None:
        """The first key on a page; it acts once the page has come to rest."""
        for _ in range(20):
            self.press(key)
            self.page.wait_for_timeout(400)
            if self.page.locator(f"input[name='{name}']").first.is_checked():
                return
        raise AssertionError(f"the key {key} does not choose {name}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(150)

    def walk(self, row: int, name: str) -> None:
        """Tab on to a control of a row of the page."""
        where = """name => {
            const at = document.activeElement;
            const row = at.closest('.accord-row');
            return [[...document.querySelectorAll('.accord-row')].indexOf(row), at.name];
        }"""
        for _ in range(30):
            self.press("Tab")
            if self.page.evaluate(where) == [row, name]:
                return
        raise AssertionError(f"no way by Tab to {name!r} of row {row}")

    def choose(self, row: int, name: str) -> None:
        self.walk(row, name)
        self.press("Space")

    def sent(self, act: Callable[[], None], method: str = "POST") -> None:
        """What is done sends an annotation, and the server takes it."""
        with self.page.expect_response(
            lambda answer: "/annotations" in answer.url and answer.request.method == method
        ) as answer:
            act()
        assert answer.value.status in (200, 201)

    def submit(self) -> None:
        self.sent(lambda: self.press("Control+Enter"))

    def click(self, name: str, method: str = "POST") -> None:
        self.sent(
            lambda: self.page.get_by_role("button").filter(has_text=name).last.click(), method
        )
