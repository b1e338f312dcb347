"""What cells gave on the course's GPU machine, for readers whose machine cannot run them.

``assets/outputs/<chapter>/<notebook>.json`` holds the GPU's name and, by :func:`key` of a cell's
source, its outputs in their order: each a dictionary from a MIME type to the lines of a text, or to
a picture in base64. :mod:`.notebooks.output_store` writes these files.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from .paths import ASSETS
from .shell import running_shell
from .whole_files import read_json

FOLDER = ASSETS / "outputs"
TEXT = "text/plain"
EMULATOR = "emulator"  # instead of a GPU's name: the same on every machine


@dataclass(frozen=True)
class StoredOutputs:
    """A cell's outputs, and the name of the GPU of the machine that made them, or EMULATOR."""

    device: str
    outputs: list[dict[str, str]]

    def show(self) -> None:
        """Print the texts and, in a notebook, show pictures and tables, in their order."""
        for output in self.outputs:
            if output.keys() == {TEXT}:
                print(output[TEXT].rstrip("\n"))
            elif running_shell() is not None:
                from IPython.display import publish_display_data

                publish_display_data(output)
            elif TEXT in output:
                print(output[TEXT])


def key(source: str) -> str:
    """Sixteen digits that change with a cell's ``source``; blank lines around it do not count."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:16]


def file_of(notebook: Path) -> Path:
    """Where the outputs of a notebook's cells are stored."""
    return FOLDER / notebook.parent.name / f"{notebook.stem}.json"


def find(digits: str) -> StoredOutputs | None:
    """The outputs of the cell with that :func:`key`; None where it was changed, or gave none."""
    for file in sorted(FOLDER.glob("*/*.json")):
        content = read_json(file)
        if digits in content["cells"]:
            outputs = [
                {kind: "".join(value) for kind, value in output.items()}
                for output in content["cells"][digits]
            ]
            return StoredOutputs(content["device"], outputs)
    return None
