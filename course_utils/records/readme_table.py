"""The README's table, drawn from the records of the course's reference GPU."""

from __future__ import annotations

from typing import Any

from ..paths import README
from .kernel_records import NAME
from .measured_files import REFERENCE, measurements

MARKS = "<!-- benchmarks -->\n", "<!-- end of benchmarks -->"


def draw() -> None:
    """Write the table into the README, from the file of :data:`REFERENCE` and of no other GPU."""
    text = README.read_text(encoding="utf-8")
    README.write_text(with_table(text, measurements(NAME, REFERENCE)), encoding="utf-8")


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
    fastest: dict[tuple[str, str], dict[str, Any]] = {}
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
