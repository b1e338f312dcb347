"""A small repository in a temporary folder, with one good notebook to spoil."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_utils.notebooks.canonical import canonical, dumps
from course_utils.notebooks.stamp import stamp
from tests.pictures import PNG


@pytest.fixture
def good() -> NotebookNode:
    """A notebook, not yet canonical or stamped, that keeps every rule in `repository`."""
    return new_notebook(
        cells=[
            new_markdown_cell(
                "# Vector add\n\nBack to [the start](../00_start/01_start.ipynb#Set-up)."
            ),
            new_code_cell(
                'from course_utils import figures\nmodule = load("01_first/add.cu")',
                outputs=[new_output("stream", text="PASS\n")],
            ),
            new_code_cell("draw()", outputs=[new_output("display_data", {"image/png": PNG})]),
            new_markdown_cell("Each block writes its own part."),
            new_code_cell("%%exercise 01.add\n// TODO"),
            new_markdown_cell("Next: [the start](../00_start/01_start.ipynb)"),
        ]
    )


class Repository:
    """Folders `chapters` and `kernels` under ``root``, and the notebook that a test looks at."""

    def __init__(self, root: Path):
        self.root = root
        self.path = root / "chapters/01_first/01_add.ipynb"
        self.write(
            "kernels/01_first/add.cu", '#include "../common/tile.cuh"\n__global__ void add();'
        )
        self.write("kernels/common/tile.cuh", '#pragma once\n#include "more.cuh"\n')
        self.write("kernels/common/more.cuh", "// more\n")
        start = new_notebook(cells=[new_markdown_cell("# Start\n\n## Set up")])
        self.write("chapters/00_start/01_start.ipynb", dumps(canonical(start)))
        later = new_notebook(cells=[new_markdown_cell("# Later")])
        self.write("chapters/01_first/02_later.ipynb", dumps(canonical(later)))

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, nb: NotebookNode, device: str = "NVIDIA H200") -> Path:
        """Write ``nb`` as the notebook, canonical and freshly stamped."""
        nb = canonical(nb)
        stamp(nb, device, "12.9", self.root)
        return self.write("chapters/01_first/01_add.ipynb", dumps(nb))


@pytest.fixture
def repository(tmp_path) -> Repository:
    return Repository(tmp_path)
