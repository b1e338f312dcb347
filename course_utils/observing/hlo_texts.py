"""The text of a module of XLA's HLO, taken apart into its computations."""

from __future__ import annotations

import re

ENTRY = "ENTRY"
BEGINS = re.compile(r"^(ENTRY )?%?([\w.-]+)( \(.*\) -> .*)? \{$")
NOTES = re.compile(r", (metadata|backend_config)=.*")


def hlo_computations(text: str) -> dict[str, str]:
    """The computations of a module, by name. The one that is run has the name ``"ENTRY"``.

    Takes the text as JAX gives it before and after optimisation, for a CPU or a GPU, with ``%``
    before names or without, with the types of a computation in its first line or without. Left out
    are the notes at the ends of lines: metadata and a backend's settings. A text in which no
    computation that is run is recognised is ``"ENTRY"`` as a whole.
    """
    parts: dict[str, str] = {}
    name = ""
    lines: list[str] = []
    for line in text.splitlines():
        if begins := BEGINS.match(line):
            name, lines = ENTRY if begins[1] else begins[2], []
        lines.append(NOTES.sub("", line))
        if name and line.startswith("}"):
            parts[name] = "\n".join(lines)
            name = ""
    return parts if ENTRY in parts else {**parts, ENTRY: text}
