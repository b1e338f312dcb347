"""The tables of kernels beside libraries, drawn from the records of the course's reference GPU: a
row a task in the README, and every record on a page of its own."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from ..paths import BENCHMARKS, README
from ..text_tables import between_marks, markdown_table, size_in_words
from ..whole_files import write_whole
from .kernel_records import NAME
from .measured_files import REFERENCE, measurements

MARKS = "<!-- benchmarks -->\n", "<!-- end of benchmarks -->"
PAGE = BENCHMARKS / "README.md"

HOW = """\
Our kernels and each library run in turn within one process, in ten short turns and changing order:
who comes first may be faster. A time is the median of all runs, each between two CUDA events and
with a cold L2 cache: 256 MB are written before it and another 256 MB read. Then the GPU is kept
busy for 0.3 ms, so that the host, where it needs less than that to issue the work, is not timed.
Rows marked ¹ are older: two turns, the second in reverse order, and no 0.3 ms; rows marked ² had
ten turns and no 0.3 ms. The **spread** is the distance from the first to the third quartile, over
the median. The **floor** is the least possible time: the bytes that have to be moved at the rate of
a large copy (or of a pure read, where little is written), or the operations over the peak of the
data sheet, whichever takes longer. A kernel that reads twice as much as it writes may come out a
little above 1: half of a copy's bytes are written, and a pure read is faster. Inputs are random,
floats from a normal distribution, unless the task says otherwise, and every result of ours is
checked against float64 after its last run.

**NN** is the product A B, **NT** is A times B transposed, for matrices stored row by row. "cuBLAS"
is `cublasGemmEx` with the types of our kernel; "cuBLASLt" is the fastest algorithm of its whole
heuristic list, with 256 MB of workspace.
"""
BACK_TO_BACK = """\
Ours and the library that was fastest in the burst run in turn, each for seconds, with no pause
between runs and no cold cache. The clock of the SMs and the power are those that NVIDIA's driver
reports: a GPU at its limit of power lowers its clock.
"""

# Records from before the minute when a method came into use, and their marks.
OLDER = (("2026-11-28T17:00", " ¹"), ("2026-11-28T17:09", " ²"))


def draw() -> None:
    """Write both tables, from the file of :data:`REFERENCE` and of no other GPU."""
    content = measurements(NAME, REFERENCE)
    text = README.read_text(encoding="utf-8")
    write_whole(README, with_table(text, content))
    write_whole(PAGE, page(content))


def with_table(readme: str, content: dict[str, Any]) -> str:
    """``readme`` with the table between its marks drawn from the records of one device.

    A row is one task at the largest size that was measured beside a library, done by the fastest of
    our kernels for it. Fastest is who is furthest ahead of the library that ran in turn with it:
    kernels may have been measured on different days, and one day's GPU may be slower for all.
    """
    compared = [record for record in content["records"] if record["baseline"]]
    rows = []
    for _, records in by_task(compared):
        largest = max(map(_extent, records))
        at_once = [record for record in records if _extent(record) == largest]
        rows.append(_row(max(at_once, key=lambda record: record["ratio"])))
    lines = [
        f"{_measured(content)}, the largest size of each task. A burst is the median of single "
        "runs with a cold cache; for seconds, the same work ran back to back. ¹ and ²: measured "
        "by an older method, which the page of all records explains.",
        "",
        markdown_table(
            "task|size:|our fastest kernel|its time:|fastest library|its time:|"
            "ours is, in a burst:|for seconds:",
            rows,
        ),
    ]
    return between_marks(readme, MARKS, "\n".join(lines) + "\n", README.name)


def page(content: dict[str, Any]) -> str:
    """Every record of one device, a table a task, and what was measured for seconds."""
    lines = [
        "# Every kernel that is measured",
        "",
        f"{_measured(content)}. `python -m course_utils bench --readme` draws this page.",
        "",
        HOW,
    ]
    for what, records in by_task(content["records"]):
        rows = [_full_row(record) for record in records]
        heads = "kernel|size:|time:|spread:|TB/s:|TFLOP/s:|of the floor:|times as fast as"
        lines += [f"## {what[:1].upper()}{what[1:]}", "", markdown_table(heads, rows), ""]
    if rows := [_row_for_seconds(r) for r in content["records"] if r.get("sustained")]:
        heads = "kernel|size:|time:|clock:|power:|library|time:|clock:|power:|ours is:"
        lines += ["## For seconds, back to back", "", BACK_TO_BACK, markdown_table(heads, rows), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def by_task(records: Iterable[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The records by what is computed, tasks in the order in which they first appear."""
    tasks = list(dict.fromkeys(record["what"] for record in records))
    ordered = sorted(records, key=lambda record: tasks.index(record["what"]))
    return [(what, list(each)) for what, each in groupby(ordered, lambda record: record["what"])]


def _extent(record: dict[str, Any]) -> tuple[int, int]:
    """How large a task is: its bytes and, of tasks with as many, its operations."""
    return record["bytes"], record["flops"] or 0


def _measured(content: dict[str, Any]) -> str:
    last = max(record["measured"] for record in content["records"])[:10]
    return f"Measured on one {content['device']}, last on {last}"


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    base, seconds = record["baseline"], record.get("sustained")
    return (
        record["what"],
        _size(record),
        record["kernel"],
        _ms(record["ours"]["median_ms"]) + _mark(record),
        base["name"],
        _ms(base["median_ms"]),
        f"{record['ratio']:.2f}× as fast",
        f"{seconds['ratio']:.2f}× as fast" if seconds else "",
    )


def _full_row(record: dict[str, Any]) -> tuple[str, ...]:
    ours, fraction = record["ours"], record["roofline_fraction"]
    ratios = ((name, ms / ours["median_ms"]) for name, ms in record["libraries"].items())
    return (
        record["kernel"],
        _size(record),
        _ms(ours["median_ms"]) + _mark(record),
        f"{100 * ours['spread']:.1f} %",
        f"{record['bytes'] / ours['median_ms'] / 1e9:.3g}",
        f"{record['flops'] / ours['median_ms'] / 1e9:.3g}" if record["flops"] else "",
        "" if fraction is None else f"{fraction:.2f}",
        ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios),
    )


def _row_for_seconds(record: dict[str, Any]) -> tuple[str, ...]:
    seconds = record["sustained"]

    def side(name: str) -> tuple[str, str, str]:
        clock, power = (seconds.get(f"{name}_{unit}") for unit in ("mhz", "watts"))
        shown = f"{clock:,} MHz" if clock else "", f"{power} W" if power else ""
        return _ms(seconds[f"{name}_ms"]), *shown

    return (
        record["kernel"],
        _size(record),
        *side("ours"),
        record["baseline"]["name"],
        *side("library"),
        f"{seconds['ratio']:.3f}× as fast",
    )


def _size(record: dict[str, Any]) -> str:
    return size_in_words(record["size"], ",", " × ")


def _mark(record: dict[str, Any]) -> str:
    return next((mark for before, mark in OLDER if record["measured"] < before), "")


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.3g} ms"
