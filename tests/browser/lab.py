"""What a student does in JupyterLab: open a document, follow a link, write in a cell, run it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Locator, Page, Response, Route, TimeoutError

from tests.browser.server import GIVEN_UP

CURRENT = ".lm-DockPanel-widget:not(.lm-mod-hidden)"
POLLING = 50  # milliseconds between two looks; without it the page is searched for each frame


class Lab:
    """A page that shows JupyterLab; documents are named by their paths from the course's root."""

    def __init__(self, page: Page, screenshots: Path) -> None:
        self.page = page
        self.failed: list[str] = []
        self._screenshots = screenshots
        page.on("response", self._note)
        self.with_kernel = ["00_start_here"]  # in the paths of notebooks that get a kernel
        page.route("**/api/sessions*", self._only_where_a_kernel_is_wanted)

    @property
    def view(self) -> Locator:
        """The document in front."""
        return self.page.locator(CURRENT)

    def wait_for(self, path: str) -> None:
        """Until ``path`` is the document in front and its content is there."""
        self.page.wait_for_function(
            """path => {
                const context = jupyterapp.shell.currentWidget?.context;
                return context?.path === path && context.isReady;
            }""",
            arg=path,
            polling=POLLING,
        )

    def open(self, path: str) -> None:
        """As a double click in the file browser does."""
        self.page.evaluate(
            "path => { void jupyterapp.commands.execute('docmanager:open', { path }) }", path
        )
        self.wait_for(path)

    def links(self, expected: Iterable[str] = ()) -> dict[str, str]:
        """The files that the document in front links to, each with the link's address in the page.

        Cells are drawn one after the other: it waits until links to all of ``expected`` are there.
        """
        self.page.wait_for_function(
            """([view, paths]) => {
                const links = [...document.querySelectorAll(`${view} a[href*="/files/"]`)];
                const found = new Set(links.map(a => decodeURIComponent(a.pathname)));
                return paths.every(path => found.has(`/files/${path}`));
            }""",
            arg=[CURRENT, sorted(expected)],
            polling=POLLING,
        )
        local = self.view.locator("a[href]").evaluate_all(
            """links => links.filter(a => !a.getAttribute("href").startsWith("#"))
                .filter(a => a.origin === location.origin).map(a => a.href)"""
        )
        return {unquote(urlsplit(href).path).removeprefix("/files/"): href for href in local}

    def follow(self, address: str, path: str) -> None:
        """Click the link with that address, which leads to ``path``, unfolding what hides it."""
        link = self.view.locator(f'a[href="{address}"]').first
        link.evaluate(
            """link => {
                let fold = link.closest("details");
                for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
            }"""
        )
        link.click()
        self.wait_for(path)

    def close(self) -> None:
        """Close the document in front, unsaved: it draws all its cells, even when out of sight."""
        self.page.evaluate("() => jupyterapp.shell.currentWidget.dispose()")

    def show_cell(self, number: int) -> None:
        """Scroll to a cell of the notebook in front; -1 is the last."""
        self.page.evaluate(
            """number => {
                const book = jupyterapp.shell.currentWidget.content;
                book.activeCellIndex = number < 0 ? book.widgets.length + number : number;
                void book.scrollToItem(book.activeCellIndex);
            }""",
            number,
        )

    def pictures(self, least: int) -> list[int]:
        """The widths in pixels of the loaded pictures in front, once there are ``least``.

        A picture that cannot be loaded has width 0.
        """
        self.page.wait_for_function(
            """([view, least]) => {
                const all = [...document.querySelectorAll(`${view} img`)];
                return all.length >= least && all.every(picture => picture.complete);
            }""",
            arg=[CURRENT, least],
            polling=POLLING,
        )
        return self.view.locator("img").evaluate_all("all => all.map(x => x.naturalWidth)")

    def languages(self, expected: list[str]) -> list[str]:
        """The type of each code cell in front, by which it is coloured; waits for ``expected``."""
        script = """() => [...jupyterapp.shell.currentWidget.content.model.cells]
            .filter(cell => cell.type === "code").map(cell => cell.mimeType)"""
        with suppress(TimeoutError):
            self.page.wait_for_function(
                f"expected => ({script})().join() === expected.join()",
                arg=expected,
                polling=POLLING,
                timeout=20_000,
            )
        return self.page.evaluate(script)

    def cell(self, text: str) -> Locator:
        """The code cell of the notebook in front that holds ``text``, with its output."""
        return self.view.locator(".jp-CodeCell").filter(has_text=text)

    def run(self, cell: Locator) -> None:
        self.page.wait_for_function(
            """() => {
                const { session } = jupyterapp.shell.currentWidget.sessionContext;
                return ["idle", "busy"].includes(session?.kernel?.status);
            }"""
        )
        cell.locator(".cm-line").first.click()
        self.page.keyboard.press("Shift+Enter")

    def rewrite(self, cell: Locator, old: str, new: str) -> None:
        """Type ``new`` over the line that holds ``old``; its indentation stays."""
        cell.locator(".cm-line").filter(has_text=old).click()
        self.page.keyboard.press("End")
        self.page.keyboard.press("Shift+Home")
        self.page.keyboard.type(new)

    def wait_for_output(self, cell: Locator, text: str) -> None:
        """Until the cell's output holds ``text``, in capitals or not."""
        cell.locator(".jp-OutputArea-output").filter(has_text=text).first.wait_for()

    def print_at_the_end(self, text: str) -> Locator:
        """The element of a printed text, put below the notebook in front as an output is."""
        self.page.evaluate(
            """text => {
                const output = document.createElement("div");
                output.className = "jp-OutputArea-output jp-RenderedText course-test";
                output.append(Object.assign(document.createElement("pre"), { textContent: text }));
                jupyterapp.shell.currentWidget.content.node.append(output);
            }""",
            text,
        )
        return self.view.locator(".course-test pre").last

    def is_seen(self, heading: str, seconds: float) -> bool:
        """Whether the heading lies inside the window before that many seconds are over."""
        with suppress(TimeoutError):
            self._wait_until_seen(heading, 1000 * seconds)
            return True
        return False

    def _wait_until_seen(self, heading: str, milliseconds: float) -> None:
        self.page.wait_for_function(
            """([view, heading]) => {
                const all = [...document.querySelectorAll(`${view} :is(h1, h2, h3)`)];
                const wanted = all.find(x => x.textContent.startsWith(heading));
                const box = wanted?.getBoundingClientRect();
                return box && box.height > 0 && box.top >= 0 && box.bottom <= innerHeight;
            }""",
            arg=[CURRENT, heading],
            polling=POLLING,
            timeout=milliseconds,
        )

    def questions(self) -> list[str]:
        """What JupyterLab asks or announces: dialogs, and notes at the window's edge."""
        return self.page.locator(".jp-Dialog, .Toastify__toast").all_inner_texts()

    def screenshot(self, name: str) -> None:
        self.page.screenshot(path=self._screenshots / f"{name}.png")

    def _note(self, response: Response) -> None:
        line = f"{response.status} {response.url}"
        if response.status >= 400 and not GIVEN_UP.search(line):
            self.failed.append(line)

    def _only_where_a_kernel_is_wanted(self, route: Route) -> None:
        """Forty kernels would start: a request for another one is left without an answer."""
        request = route.request
        sent = request.post_data or ""
        if request.method == "POST" and not any(part in sent for part in self.with_kernel):
            return
        route.continue_()

    def draw(self, canvas: Locator, *strokes: Iterable[tuple[float, float]]) -> None:
        """Strokes of the mouse, each through points given as shares of the width and height."""
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        for stroke in strokes:
            for number, (x, y) in enumerate(stroke):
                at = box["x"] + x * box["width"], box["y"] + y * box["height"]
                self.page.mouse.move(*at, steps=1 if number == 0 else 4)
                if number == 0:
                    self.page.mouse.down()
            self.page.mouse.up()
