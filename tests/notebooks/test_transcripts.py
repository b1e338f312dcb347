"""What tools printed on a GPU: kept with versions, without the machine it came from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRANSCRIPTS = sorted((ROOT / "assets" / "transcripts").glob("*.txt"))
NOTEBOOKS = [
    ROOT / "chapters/04_first_kernels" / name
    for name in ("09_profiling.ipynb", "10_debugging.ipynb")
]


def shown() -> list[str]:
    """The transcripts that the notebooks on profiling and debugging print, by name."""
    books = [json.loads(notebook.read_text(encoding="utf-8")) for notebook in NOTEBOOKS]
    cells = [cell for book in books for cell in book["cells"]]
    source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return re.findall(r'transcript\("(\w+)"\)', source)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_transcript_names_no_folder_of_the_machine_it_came_from(path):
    found = re.findall(
        r"(?<![\w.])/(?:home|root|tmp|work|opt|usr|mnt)/\S*", path.read_text("utf-8")
    )
    assert not found


@pytest.mark.parametrize("name", shown())
def test_a_transcript_that_is_shown_begins_with_its_device_and_its_command(name):
    text = (ROOT / "assets" / "transcripts" / f"{name}.txt").read_text(encoding="utf-8")
    first, second, *_ = text.splitlines()
    assert re.match(r"# NVIDIA \w+, driver [\d.]+", first)
    assert second.startswith("$ ")


def test_no_transcript_shows_a_planted_bug_that_is_gone():
    source = (ROOT / "kernels/04_first_kernels/host/planted_bugs.cuh").read_text(encoding="utf-8")
    kernels = set(re.findall(r"__global__ void (\w+)", source))
    text = "".join(path.read_text(encoding="utf-8") for path in TRANSCRIPTS)
    assert set(re.findall(r"\./planted_bugs (\w+)", text)) <= kernels
    assert set(re.findall(r"^(\w+): CUDA says", text, re.M)) == kernels
