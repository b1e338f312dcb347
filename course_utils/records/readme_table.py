"""Measured records on disk: merged, looked up by notebooks, and drawn into the README."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..benchmarks.case import Size
from ..errors import LessonError
from ..paths import ROOT
from .store import file_in, store

FOLDER = ROOT / "assets" / "benchmarks"
README = ROOT / "README.md"
MARKS = "<!-- benchmarks -->\n", "<!-- end of benchmarks -->"


def merged(old: list[dict], new: list[dict], order: Iterable[str]) -> list[dict]:
    """The newer record of each kernel and size, in the order of the kernels' names ``order``.

    Kernels that ``order`` does not name are dropped.
    """
    places = {name: place for place, name in enumerate(order)}
    newest: dict[tuple, dict] = {}
    for record in (*old, *new):
        key = record["kernel"], str(record["size"])
        if record["kernel"] not in places:
            continue
        if key not in newest or record["measured"] >= newest[key]["measured"]:
            newest[key] = record
    return sorted(newest.values(), key=lambda r: (places[r["kernel"]], r["bytes"]))


def write(content: dict[str, Any], order: Iterable[str]) -> Path:
    """Merge one device's records into its file, draw the README's table, return the file."""
    file = file_in(FOLDER, content["device"])
    old = json.loads(file.read_text(encoding="utf-8"))["records"] if file.is_file() else []
    content = content | {"records": merged(old, content["records"], order)}
    store(FOLDER, content)
    README.write_text(with_table(README.read_text(encoding="utf-8"), content), encoding="utf-8")
    return file


def with_table(readme: str, content: dict[str, Any]) -> str:
    """``readme`` with the table between its marks drawn from the records of one device.

    A row is one task at one size, done by the fastest of our kernels for it.
    """
    before, rest = readme.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    last = max(record["measured"] for record in content["records"])[:10]
    lines = [
        f"Measured on one {content['device']}, last on {last}, median of cold-cache runs:",
        "",
        "| task | size | our fastest kernel | its time | fastest library | its time | ours is |",
        "|---|--:|---|--:|---|--:|--:|",
    ]
    fastest: dict[tuple, dict] = {}
    for record in content["records"]:
        key = record["what"], str(record["size"])
        other = fastest.setdefault(key, record)
        if record["ours"]["median_ms"] < other["ours"]["median_ms"]:
            fastest[key] = record
    lines += [_row(record) for record in fastest.values() if record["baseline"]]
    return before + MARKS[0] + "\n".join(lines) + "\n" + MARKS[1] + after


def _row(record: dict[str, Any]) -> str:
    size = record["size"]
    text = " × ".join(f"{x:,}" for x in (size if isinstance(size, list) else [size]))
    base = record["baseline"]
    return (
        f"| {record['what']} | {text} | {record['kernel']} "
        f"| {record['ours']['median_ms']:.3g} ms | {base['name']} | {base['median_ms']:.3g} ms "
        f"| {record['ratio']:.2f}× as fast |"
    )


def stored(
    kernels: list[str], size: Size, what: str = "flops"
) -> tuple[dict[str, float], tuple[str, float] | None, str]:
    """Measured figures that come with the course, for machines that cannot measure.

    ``what`` is "flops" for GFLOP/s or "bytes" for GB/s, from the least that has to be computed or
    moved. Returns the rate by kernel, (the last kernel's fastest library, its rate) or None where
    no library was measured, and the name of the GPU they come from. Raises LessonError for a kernel
    or size that was not measured.
    """
    (file,) = FOLDER.glob("*.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    wanted = list(size) if isinstance(size, tuple) else size
    found = {r["kernel"]: r for r in content["records"] if r["size"] == wanted}
    if missing := [name for name in kernels if name not in found]:
        raise LessonError(f"{', '.join(missing)} at size {size} is not in {file.name}.")

    def rate(record: dict, milliseconds: float) -> float:
        return record[what] / milliseconds / 1e6

    bars = {name: rate(found[name], found[name]["ours"]["median_ms"]) for name in kernels}
    last = found[kernels[-1]]
    library = last["baseline"]
    line = (library["name"], rate(last, library["median_ms"])) if library else None
    return bars, line, content["device"]
