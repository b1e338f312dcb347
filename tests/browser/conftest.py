"""One server, one browser and one page for all browser tests; a clear reason where they cannot run.

COURSE_SCREENSHOTS names a folder for the pictures that the tests take of the page.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.server import Server

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# For one step on a machine whose cores are all busy with other tests.
PATIENCE_MS = 120_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if shutil.which("make") is None:
        pytest.skip("there is no `make` here, which starts the course in JupyterLab")
    running = Server(tmp_path_factory.mktemp("learn"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    named = os.environ.get("COURSE_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser of this machine, under Playwright."""
    api = pytest.importorskip(
        "playwright.sync_api",
        reason="playwright, which drives the browser, is missing: pip install playwright",
    )
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"no browser was found (looked for {', '.join(BROWSERS)})")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser)
        yield running
        running.close()


@pytest.fixture(scope="module")
def lab(request: pytest.FixtureRequest, screenshots: Path):
    chromium = request.getfixturevalue("chromium")
    server = request.getfixturevalue("server")  # only now: it takes seconds to start
    from tests.browser.lab import Lab

    page = chromium.new_page(viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(PATIENCE_MS)
    lab = Lab(page, screenshots)
    page.goto(server.address)
    page.wait_for_function("window.jupyterapp !== undefined")
    yield lab
    lab.screenshot("at_the_end")
