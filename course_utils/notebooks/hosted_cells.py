"""Two cells below each notebook's title, for who opens it in Colab or on Kaggle: badges, and a cell
that fetches the course there. `python -m course_utils run --format` writes them once pyproject.toml
names the repository's address, and takes them out where it names none.

Elsewhere they are hidden or do nothing, and no outputs depend on them. HOSTED.md has more.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..paths import ROOT
from .cells import HOSTED, is_hosted

BRANCH = "main"
# The tags for "leave this cell out" of nbval, of nbclient (and with it `run`), and of the website.
LEFT_OUT = ("nbval-skip", "remove-cell", "skip-execution")

BADGES = """\
[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]\
(https://colab.research.google.com/github/{repository}/blob/{branch}/{path})
[![Open in Kaggle](https://kaggle.com/static/images/open-in-kaggle.svg)]\
(https://kaggle.com/kernels/welcome?src={address}/blob/{branch}/{path})"""

SET_UP = """\
# Fetches the course, in Colab and on Kaggle. Anywhere else this cell does nothing.
import os
import sys

if {{"COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE"}} & set(os.environ):
    course = os.path.expanduser("~/cuda-course")
    !test -d {{course}} || git clone --quiet --depth 1 {address} {{course}}
    !cd {{course}} && {{sys.executable}} -I course_utils/install.py hosted
    os.chdir(course + "/{folder}")
    sys.path.insert(0, course)
    os.environ["PYTHONPATH"] = course"""


def repository_address(root: Path = ROOT) -> str:
    """``https://github.com/owner/name`` as pyproject.toml has it in ``[project.urls]``, or ""."""
    project = root / "pyproject.toml"
    if not project.is_file():
        return ""
    urls = tomllib.loads(project.read_text(encoding="utf-8"))["project"].get("urls", {})
    address: str = urls.get("Repository", "")
    return address.removesuffix("/")


def with_hosted_cells(nb: NotebookNode, path: Path, root: Path = ROOT) -> NotebookNode:
    """A copy of ``nb``, the notebook at ``path``, with the two cells as they should be: below its
    title, or without them where there is no address or no code, or it isn't the course's."""
    nb = nbformat.from_dict(nb)
    nb.cells = [cell for cell in nb.cells if not is_hosted(cell)]
    address = repository_address(root)
    code = any(cell.cell_type == "code" for cell in nb.cells)
    if address and code and path.resolve().is_relative_to(root.resolve()):
        nb.cells[1:1] = _cells(address, path.resolve().relative_to(root.resolve()))
    return nb


def _cells(address: str, path: Path) -> list[NotebookNode]:
    repository = "/".join(address.split("/")[-2:])
    words = {"repository": repository, "branch": BRANCH, "path": path.as_posix()}
    return [
        nbformat.v4.new_markdown_cell(
            BADGES.format(address=address, **words),
            id=f"{HOSTED}-badges",
            metadata={"tags": [HOSTED, "remove-cell"]},
        ),
        nbformat.v4.new_code_cell(
            SET_UP.format(address=address, folder=path.parent.as_posix()),
            id=f"{HOSTED}-set-up",
            metadata={"tags": sorted([HOSTED, *LEFT_OUT]), "jupyter": {"source_hidden": True}},
        ),
    ]
