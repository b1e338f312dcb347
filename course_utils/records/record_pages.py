"""Pages of kernels beside libraries, drawn from the records of the course's reference GPU: a few
tasks in README.md, every task in RECORDS.md, and every record on a page below ``assets``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from ..errors import LessonError
from ..paths import BENCHMARKS, CHAPTERS, README, ROOT, chapter_title, shown
from ..text_tables import between_marks, markdown_table, size_in_words
from ..whole_files import write_whole
from .axes import AXES, axes, with_axes
from .kernel_records import NAME
from .measured_files import REFERENCE, file_of, measurements

MARKS = "<!-- benchmarks -->\n", "<!-- end of benchmarks -->"
TASKS = ROOT / "RECORDS.md"
PAGE = BENCHMARKS / "README.md"
TRIALS = BENCHMARKS / "TRIALS.md"  # written by hand

# The tasks that README.md shows: wins, draws and losses.
HEADLINES = (
    "the k largest of each row, fp32",
    "softmax of rows, fp32",
    "scan, fp32",
    "GEMM, fp32",
    "attention on wgmma, bf16",
    "sort of 32-bit keys",
    "RMS normalisation, bf16",
    "GEMM, fp16",
)
HEADS = "task|speedup:|times"
LEVEL = 0.02  # a speedup this near to 1 is neither won nor lost
# The last rungs of ladders that were measured at many sizes, of elements or of a square's side.
BY_SIZE = (
    "sum_single_pass",
    "histogram_lanes",
    "scan_specialized",
    "radix_sort",
    "radix_sort_pairs",
    "sgemm_stream_k",
    "hgemm_swizzle",
    "gemm_bf16_specialized",
    "gemm_tf32_specialized",
    "gemm_int8_specialized",
    "gemm_hopper",
    "gemm_fp8",
    "gemm_int8",
)

HOW = """\
Our kernels and the libraries take turns within one process. There are ten short turns, in changing
order, because the first to run may be faster. A time is the median of all runs, each between two
CUDA events and with a cold L2 cache: before a run, 256 MB are written and another 256 MB read. Then
the GPU is kept busy for 0.3 ms, so that the time the host needs to issue the work isn't measured if
it's shorter than that.

The **spread** is the distance from the first to the third quartile, over the median. The **floor**
is the least possible time, the longer of two. Memory needs the time to move the bytes at the rate
of a large copy, or of a pure read if little is written. Arithmetic needs the operations over the
peak of the data sheet. A kernel that reads twice as much as it writes may end a little above 1:
half of a copy's bytes are written, and a pure read is faster.

Inputs are random, floats from a normal distribution, unless the task says otherwise. Each result of
ours is checked against float64 after its last run.

**NN** is the product A B, **NT** is A times B transposed, for matrices stored row by row. "cuBLAS"
is `cublasGemmEx` with the types of our kernel. "cuBLASLt" is the fastest algorithm of its whole
heuristic list, with 256 MB of workspace.
"""
BACK_TO_BACK = """\
Our kernel and the library that was fastest in the burst take turns, each for seconds, with no pause
between runs and no cold cache. The clock of the SMs and the power come from NVIDIA's driver. A GPU
at its power limit lowers its clock, and a kernel that counts it may find a tenth less than the
driver.
"""


def draw(chapters: Mapping[str, str]) -> None:
    """Write the three pages, from the file of :data:`REFERENCE` and of no other GPU.

    ``chapters`` has the chapter of each kernel, as its folder is called. Raises LessonError for a
    record of another kernel, and for a kernel of :data:`BY_SIZE` without a record.
    """
    content = measurements(NAME, REFERENCE)
    _check_kernels(content, chapters)
    text = README.read_text(encoding="utf-8")
    write_whole(README, with_headlines(text, content))
    write_whole(TASKS, tasks_page(content, chapters))
    write_whole(PAGE, page(content))


def _check_kernels(content: dict[str, Any], chapters: Mapping[str, str]) -> None:
    strays = {record["kernel"] for record in content["records"]} - chapters.keys()
    if strays:
        raise LessonError(
            f"{shown(file_of(NAME, REFERENCE))} has records of {', '.join(sorted(strays))}, and no "
            "benchmark case has that name. Delete the records, or give the case its name back."
        )
    compared = {record["kernel"] for record in content["records"] if record["baseline"]}
    if absent := [kernel for kernel in BY_SIZE if kernel not in compared]:
        raise LessonError(
            f"BY_SIZE of {shown(Path(__file__))} names {', '.join(absent)}, and no record compares "
            "that kernel with a library. Correct the name, or measure the kernel."
        )


def with_headlines(readme: str, content: dict[str, Any]) -> str:
    """``readme`` with its few tasks between the marks drawn from the records of one device."""
    best = fastest(content)
    chosen = [record for record in best if record["what"] in HEADLINES]
    chosen.sort(key=lambda record: -record["ratio"])
    table = markdown_table(HEADS.replace(":", ",<br>sustained:"), map(_short_row, chosen))
    lines = [f"{_score(best, content)} For example:", "", table]
    return between_marks(readme, MARKS, "\n".join(lines) + "\n", README.name)


def tasks_page(content: dict[str, Any], chapters: Mapping[str, str]) -> str:
    """Every task that a library does too, by chapter, at the largest size that was measured."""
    best, trials = fastest(content), PAGE.with_name(TRIALS.name)
    lines = [
        "# Our kernels beside the libraries",
        "",
        f"{_score(best, content)} Each row is a task at its largest size, with our fastest kernel. "
        "The notebooks climb to it from the simplest that works, one idea a rung. A size of one "
        "number counts elements, and of a GEMM it's the side of its square matrices.",
        "",
        "The speedup is the library's time over ours, so above 1 we are faster. A time is the "
        "median of single runs with a cold cache. If a row has a second speedup, both also ran "
        "back to back for seconds, and the smaller one counts.",
        "",
        f"[Every kernel at every size]({PAGE.relative_to(ROOT).as_posix()}) has a page, with the "
        f"methods, and [ideas that were dropped]({trials.relative_to(ROOT).as_posix()}) have "
        f"another. {_measured(content)}. `python -m course_utils bench --draw` draws this page.",
    ]
    by_chapter = sorted(best, key=lambda record: chapters[record["kernel"]])
    for chapter, records in groupby(by_chapter, lambda r: chapters[r["kernel"]]):
        table = markdown_table(HEADS, map(_row, records))
        lines += ["", f"## {chapter_title(CHAPTERS / chapter)}", "", table]
    if rows := list(filter(None, (_range(content, kernel) for kernel in BY_SIZE))):
        table = markdown_table("kernel|sizes|speedup|sustained", rows)
        lines += ["", "## From the smallest size to the largest", "", table]
    return "\n".join(lines) + "\n"


def page(content: dict[str, Any]) -> str:
    """Every record of one device, a table a task, and the sustained runs."""
    lines = [
        "# Every kernel that is measured",
        "",
        f"{_measured(content)}. `python -m course_utils bench --draw` draws this page.",
        "",
        HOW,
    ]
    for what, records in by_task(content["records"]):
        rows = [_full_row(record) for record in records]
        heads = "kernel|size:|time:|spread:|TB/s:|TFLOP/s:|of the floor:|speedup over"
        lines += [f"## {what[:1].upper()}{what[1:]}", ""]
        if what in AXES:
            lines += [f"A size is {axes(what)}.", ""]
        lines += [markdown_table(heads, rows), ""]
    if rows := [_sustained_row(r) for r in content["records"] if r.get("sustained")]:
        heads = "kernel|size:|time:|clock:|power:|library|time:|clock:|power:|speedup:"
        lines += ["## Sustained, back to back", "", BACK_TO_BACK, markdown_table(heads, rows), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def fastest(content: dict[str, Any]) -> list[dict[str, Any]]:
    """A record for each task at the largest size that was measured beside a library, by our
    fastest kernel.

    Fastest is the kernel that is furthest ahead of the library that ran in turn with it: kernels
    may have been measured on different days, and one day's GPU may be slower for all.
    """
    compared = [record for record in content["records"] if record["baseline"]]
    best = []
    for _, records in by_task(compared):
        most = max(map(_extent, records))
        largest = [record["size"] for record in records if _extent(record) == most]
        at_once = [record for record in records if record["size"] in largest]
        best.append(max(at_once, key=lambda record: record["ratio"]))
    return best


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


def _score(best: list[dict[str, Any]], content: dict[str, Any]) -> str:
    """How many tasks are won and lost, in a sentence: by the smaller speedup if there are two."""
    speedups = [min(r["ratio"], (r.get("sustained") or r)["ratio"]) for r in best]
    ahead = sum(speedup > 1 + LEVEL for speedup in speedups)
    after = sum(speedup < 1 - LEVEL for speedup in speedups)
    return (
        f"On one {content['device']}, our fastest kernel beats the fastest library in {ahead} of "
        f"{len(best)} tasks, is within {100 * LEVEL:.0f} % of it in {len(best) - ahead - after} "
        f"and slower in {after}."
    )


def _row(record: dict[str, Any]) -> tuple[str, str, str]:
    """A task in three columns of two lines, which fit a phone."""
    what, speedup, times = _short_row(record)
    size = with_axes(what, record["size"])
    return f"{what}: {size}<br>{_narrow(record['kernel'])}", speedup, times


def _short_row(record: dict[str, Any]) -> tuple[str, str, str]:
    ours, base = _ms(record["ours"]["median_ms"]), record["baseline"]
    seconds = record.get("sustained")
    return (
        record["what"],
        f"{record['ratio']:.2f}×" + (f"<br>{seconds['ratio']:.2f}×" if seconds else ""),
        f"{ours} ours<br>{_ms(base['median_ms'])} {_narrow(base['name'])}",
    )


def _narrow(name: str) -> str:
    """A name that a browser may wrap at its joints."""
    return name.replace("::", "::<wbr>").replace("_", "_<wbr>")


def _range(content: dict[str, Any], kernel: str) -> tuple[str, ...] | None:
    """From the least to the most at all sizes of one kernel, or None where it wasn't measured."""
    records = [r for r in content["records"] if r["kernel"] == kernel and r["baseline"]]
    if not records:
        return None
    seconds = [r["sustained"]["ratio"] for r in records if r.get("sustained")]
    return (
        f"{_narrow(kernel)}<br>{records[0]['what']}",
        _from_to([r["size"] for r in records], ","),
        _from_to([r["ratio"] for r in records], ".2f") + "×",
        _from_to(seconds, ".2f") + "×" if seconds else "",
    )


def _from_to(values: list[Any], spec: str) -> str:
    ends = dict.fromkeys(format(end, spec) for end in (min(values), max(values)))
    return " to ".join(ends)


def _full_row(record: dict[str, Any]) -> tuple[str, ...]:
    ours, fraction = record["ours"], record["roofline_fraction"]
    ratios = ((name, ms / ours["median_ms"]) for name, ms in record["libraries"].items())
    return (
        record["kernel"],
        _size(record),
        _ms(ours["median_ms"]),
        f"{100 * ours['spread']:.1f} %",
        f"{record['bytes'] / ours['median_ms'] / 1e9:.3g}",
        f"{record['flops'] / ours['median_ms'] / 1e9:.3g}" if record["flops"] else "",
        "" if fraction is None else f"{fraction:.2f}",
        ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios),
    )


def _sustained_row(record: dict[str, Any]) -> tuple[str, ...]:
    seconds = record["sustained"]

    def side(name: str) -> tuple[str, str, str]:
        clock, power = (seconds.get(f"{name}_{unit}") for unit in ("mhz", "watts"))
        drawn = f"{clock:,} MHz" if clock else "", f"{power} W" if power else ""
        return _ms(seconds[f"{name}_ms"]), *drawn

    return (
        record["kernel"],
        _size(record),
        *side("ours"),
        record["baseline"]["name"],
        *side("library"),
        f"{seconds['ratio']:.3f}×",
    )


def _size(record: dict[str, Any]) -> str:
    return size_in_words(record["size"], ",", " × ")


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.3g} ms"
