"""Each folder of the package says what it's for and where to start. Every file and command that a
page names is there."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from course_utils import install
from course_utils.__main__ import COMMANDS
from course_utils.paths import ROOT

PACKAGE = ROOT / "course_utils"
FOLDERS = [PACKAGE, *sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))]
PAGES = [
    *(folder / "README.md" for folder in FOLDERS),
    *(
        ROOT / name
        for name in ("README.md", "INSTALL.md", "RECORDS.md", "CONTRIBUTING.md", "CHANGELOG.md")
    ),
    *(ROOT / name for name in ("kernels/README.md", "site/README.md")),
    *(ROOT / name for name in ("tests/README.md", "course_utils/exercises/AUTHORING.md")),
    ROOT / "course_utils/benchmarks/cases/README.md",
    ROOT / "assets/benchmarks/TRIALS.md",
    PACKAGE / "emulator/HOW_IT_WORKS.md",
    PACKAGE / "emulator/machine/README.md",
    PACKAGE / "emulator/checks/races/README.md",
]
ONE_SCREEN = 50  # lines
MANUALS = {PACKAGE / "emulator", PACKAGE / "notebooks", PACKAGE / "kernel_tool"}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_a_folder_of_the_package_has_a_readme_of_one_screen(folder):
    page = folder / "README.md"
    assert page.is_file(), f"write {name(page)}: its purpose, where to start, one example"
    if folder not in MANUALS:
        assert len(text(page).splitlines()) <= ONE_SCREEN


@cache
def modules() -> list[str]:
    """The end of every module's path, as a page may name it."""
    folders = ("chapters", "course_utils", "site", "tests")
    return [f"/{name(path)}" for folder in folders for path in (ROOT / folder).rglob("*.py")]


def missing(page: Path) -> list[str]:
    """What ``page`` links to or names as a module, and isn't there."""
    prose = re.sub(r"(?ms)^```.*?^```", "", text(page))
    # `kernel[grid](x)` is no link
    unquoted = re.sub(r"`[^`\n]*`", lambda m: m[0].replace("](", ""), prose)
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", unquoted)
    named = re.findall(r"`((?:\w+/)*\w+\.py)`", prose)
    return sorted(
        {target for target in links if not (page.parent / target).exists()}
        | {n for n in named if "NN" not in n and not any(m.endswith(f"/{n}") for m in modules())}
    )


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_file_that_a_page_names_is_there(page):
    assert missing(page) == []


def test_a_file_that_is_gone_is_named(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("[`a.py`](a.py) and [b](b/README.md#b) and `nowhere.py`, `tests/conftest.py`")
    assert missing(page) == ["a.py", "b/README.md", "nowhere.py"]


# --- commands ---

CODE = re.compile(r"(?ms)^```\w*\n(.*?)^```|`([^`\n]+)`")


def commands(page: Path) -> str:
    """The code of a page, a piece a line."""
    return "\n".join(block or inline for block, inline in CODE.findall(text(page)))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_that_a_page_names_is_there(page):
    code = commands(page)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {*re.findall(r"(?m)^([\w-]+):", makefile)}
    assert {*re.findall(r"(?m)^make ([\w-]+)(?!=)\b", code)} <= targets
    assert {*re.findall(r"-m course_utils ([\w-]+)", code)} <= COMMANDS.keys()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for listed in re.findall(r"-e '\.\[([\w,]+)\]'", code):
        assert {*listed.split(",")} <= extras.keys()
    assert {*re.findall(r"COURSE_EXTRA=(\w+)", code)} <= install.EXTRAS.keys()


def test_the_sizes_of_set_up_are_those_that_set_up_says():
    (small,) = re.findall(r"[\d.]+ GB", install.EXTRAS["cpu"])
    (large,) = re.findall(r"about [\d.]+ GB", install.EXTRAS["gpu13"])
    assert small in text(ROOT / "README.md")
    assert small in text(ROOT / "INSTALL.md") and large in text(ROOT / "INSTALL.md")


def test_the_driver_for_cuda_13_is_the_one_that_set_up_asks_for():
    page = text(ROOT / "INSTALL.md")
    assert f"your driver is {install.DRIVER_13} or later" in page
    assert f"compute capability {install.CAPABILITY_13} or later" in page


EXAMPLES = {
    name(page): block
    for page in PAGES
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", text(page) if page.is_file() else "")
    if "course_utils" in block and "pytest" not in block and page.parent.parent == PACKAGE
    if page.parent not in MANUALS
} | {"course_utils": re.search(r"(?ms)^```python\n(.*?)^```", text(PACKAGE / "README.md"))[1]}


@pytest.mark.emulator
@pytest.mark.parametrize("place", EXAMPLES)
def test_the_example_of_a_readme_runs(place, capsys):
    exec(compile(EXAMPLES[place], place, "exec"), {})
