"""Opens every page of the built website in this machine's browser, and reports what is wrong there.

Looked for: links that lead nowhere, files that do not load, errors of scripts, pages that take more
than a second, and what axe calls a serious or critical barrier for readers who do not see the page
as others do. `make site-check` runs it.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlparse

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SLOWEST = 1000  # ms, from the request to the page's load event
AGAIN = 2  # how often a page that took longer gets another chance
SERIOUS = ("serious", "critical")


class Addresses(HTMLParser):
    """Where a page can be left for, and where it can be entered."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def pages_of(folder: Path) -> list[Path]:
    skipped = {"_static", "_downloads"}  # a template, offered as a file, is no page
    return [page for page in sorted(folder.rglob("*.html")) if not skipped & {*page.parts}]


def dead_links(folder: Path) -> list[str]:
    """Links between the files of the site that lead to no file, or to no place in it."""
    pages = {path: Addresses(path.read_text("utf-8")) for path in pages_of(folder)}
    found = []
    for path, page in pages.items():
        for link in sorted(page.links):
            address = urlparse(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            if not target.is_file():
                found.append(f"{path.relative_to(folder)}: {link} leads to no file")
                continue
            anchors = pages[target].anchors if target in pages else ()
            if address.fragment and target in pages and unquote(address.fragment) not in anchors:
                found.append(f"{path.relative_to(folder)}: {link} leads to no place there")
    return found


def barriers(page: Page, address: str) -> list[str]:
    """What is wrong with one page as a browser shows it."""
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(f"a script failed: {error}"))
    page.on("requestfailed", lambda request: found.append(f"did not load: {request.url}"))
    took = _loaded(page, address)
    for _ in range(AGAIN):  # the machine may have been busy with something else
        if took > SLOWEST:
            took = _loaded(page, address)
    if took > SLOWEST:
        found.append(f"took {took:.0f} ms to load")
    for each in Axe().run(page).response["violations"]:
        if each["impact"] in SERIOUS:
            where = each["nodes"][0]["html"][:120]
            found.append(f"{each['impact']}: {each['help']} ({len(each['nodes'])} times): {where}")
    return found


def _loaded(page: Page, address: str) -> float:
    """Milliseconds from the request for a page to its load event."""
    page.goto(address, wait_until="load")
    return page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="pages with this in their address")
    given = parser.parse_args()
    folder = given.folder.resolve()
    found = dead_links(folder)
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit("There is no Chromium or Chrome on this machine to open the pages with.")
    pages = [path for path in pages_of(folder) if given.only in path.as_posix()]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        for path in pages:
            name = path.relative_to(folder).as_posix()
            page = browser.new_page()
            base = f"http://127.0.0.1:{server.server_port}/"
            found += [f"{name}: {what}" for what in barriers(page, urljoin(base, name))]
            page.close()
        browser.close()
    print(*found, sep="\n")
    print(f"{len(pages)} pages, {len(found)} findings")
    return bool(found)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    sys.exit(main())
