"""A person's browser at a private Label Studio, for the tests of labelling pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
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
