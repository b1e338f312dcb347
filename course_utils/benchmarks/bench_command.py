"""``python -m course_utils bench``: how fast the emulator runs, or the course's kernels on a GPU.

On the emulator a figure is million thread-instructions per second of wall time, memcheck on, and
how many times as long a run takes with the whole sanitizer; the instruction counts themselves never
change from run to run. On a GPU each kernel is timed beside the libraries that do the same work, in
turn within one process. What is measured goes to this GPU's own files in ``assets/benchmarks``;
the pages that show records are drawn only by ``--draw``, and only from the reference GPU's.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..devices.properties import description, device_name, own_gpu
from ..devices.selection import EMULATOR, ON_GPU, cp, device
from ..errors import LessonError
from ..paths import shown
from ..records import kernel_records, ladders, record_pages
from ..records.measured_files import REFERENCE, file_of
from ..text_tables import Column, Columns, size_in_words
from .cases import CASES
from .harness.case import Case, Size
from .harness.measure import ceilings, emulate, measure
from .libraries import cub, cublas_library, rivals
from .tools.producers import PRODUCERS, Producer, stale

SIZES = {case.name: case.gpu_sizes for case in CASES}
ON_EMULATOR = Columns(
    Column("kernel", 20, left=True),
    Column("size", 11),
    Column("million thread-instr.", spec=",.2f"),
    Column("seconds", spec=".4f"),
    Column("M/s", 5, ",.0f"),
    Column("sanitizer on", spec=".4f"),
    Column("times as long", spec=".1f"),
)
ON_THIS_GPU = Columns(
    Column("kernel", 26, left=True),
    Column("size", 15),
    Column("ms", 8, ".4f"),
    Column("TB/s", 5, ".2f"),
    Column("TFLOP/s", spec=".2f"),
    Column("of roofline"),
    Column("spread", spec=".3f"),
    Column("registers"),
    Column("ratio to each library", left=True),
)


def run(args: argparse.Namespace) -> int:
    """Run as the arguments ask. Returns the exit status."""
    if args.list or args.merge or args.draw:
        return _run_without_measuring(args)
    if unknown := [word for word in args.only or () if not _is_known(word)]:
        print(f"No benchmark is called {' or '.join(unknown)}; --list names them all.")
        return 2
    cases, producers = _chosen(args.only, args.stale)
    if args.stalest:
        producers = []
    if args.stale and (not ON_GPU or not (cases or producers)):
        return _print_stale(cases, producers)
    if (args.device or device()) == EMULATOR:
        return _run_emulator(cases, producers)
    if not ON_GPU:
        print("bench --device cuda needs an NVIDIA GPU; this machine has none.")
        return 2
    written = [_write(producer) for producer in producers]
    sizes = [(case, size) for case in cases for size in case.gpu_sizes]
    if args.stalest:
        sizes = oldest_first(sizes)
    measured = _run_gpu(sizes) if sizes else True
    return 0 if measured and all(written) else 1


def _run_without_measuring(args: argparse.Namespace) -> int:
    if args.list:
        print(f"{kernel_records.NAME:<12}every kernel below, beside libraries")
        for producer in PRODUCERS:
            only = " (only when asked for by name)" if producer.on_request else ""
            print(f"{producer.name:<12}{producer.what}{only}")
        print("kernels:", *SIZES)
    if args.merge:
        merged = kernel_records.write_merged(_records_in(args.merge), SIZES)
        print(f"merged into {shown(merged)}")
    if args.draw:
        record_pages.draw({case.name: case.chapter for case in CASES})
        ladders.draw()
        pages = f"{shown(record_pages.TASKS)} and {shown(record_pages.PAGE)}"
        print(f"README.md's records, {pages} are drawn from the records of the {REFERENCE}")
    return 0


def _records_in(file: Path) -> dict[str, Any]:
    """The content of a kernels file. Raises LessonError if ``file`` isn't one."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        problem = error.strerror or str(error)
    except ValueError as error:
        problem = f"not JSON: {error}"
    else:
        if isinstance(content, dict) and {"device", "records"} <= content.keys():
            return content
        problem = "it has no device and no records"
    raise LessonError(
        f"--merge can't take {file}: {problem}.\nGive it the kernels file of another copy of the "
        f"course, such as {shown(file_of(kernel_records.NAME, REFERENCE))}."
    )


def _is_known(word: str) -> bool:
    """Whether ``word`` asks for a producer, for all kernels, or for some of them."""
    whole = {kernel_records.NAME, *(producer.name for producer in PRODUCERS)}
    return word in whole or any(word in case.name or word in case.chapter for case in CASES)


def _chosen(words: list[str] | None, only_stale: bool) -> tuple[list[Case], list[Producer]]:
    """The cases and producers that words ask for or, without words, all but those on request."""

    cases = list(CASES)
    if words and kernel_records.NAME not in words:
        parts = set(words) - {producer.name for producer in PRODUCERS}
        cases = [c for c in CASES if any(part in c.name or part in c.chapter for part in parts)]
    if not only_stale:
        default = [producer for producer in PRODUCERS if not producer.on_request]
        return cases, [p for p in PRODUCERS if p.name in words] if words else default
    gpu = own_gpu() or REFERENCE
    kernels = stale(kernel_records.NAME, {case.name: case.source_hash for case in CASES}, gpu)
    return (
        [case for case in cases if case.name in kernels],
        [
            producer
            for producer in PRODUCERS
            if (not words or producer.name in words)
            and stale(producer.name, producer.sources(), gpu)
        ],
    )


def _print_stale(cases: list[Case], producers: list[Producer]) -> int:
    names = [*(each.name for each in producers), *(each.name for each in cases)]
    gpu = own_gpu() or REFERENCE
    if names:
        print(f"Measured on an {gpu} before their sources changed:", *names)
        print("`python -m course_utils bench --stale` measures them again on that GPU.")
    else:
        print(f"All that was measured on an {gpu} is of today's sources.")
    return 0


def _run_emulator(cases: list[Case], producers: list[Producer]) -> int:
    if not any(case.emulator_sizes for case in cases):
        names = ", ".join([*(each.name for each in producers), *(each.name for each in cases)])
        print(f"To measure {names} you need an NVIDIA GPU.")
        return 2
    print("The emulator, memcheck on (best of three runs); then with every check of the sanitizer")
    print(ON_EMULATOR.headings)
    for case, size in ((each, size) for each in cases for size in each.emulator_sizes):
        count, seconds, checked = emulate(case, size)
        million = count / 1e6
        row = million, seconds, million / seconds, checked, checked / seconds
        print(ON_EMULATOR.row(case.name, _size(size), *row), flush=True)
    return 0


def _write(producer: Producer) -> bool:
    try:
        print(f"{producer.name}: written to {shown(producer.write())}", flush=True)
    except LessonError as error:
        print(f"{producer.name}: not recorded: {error}", flush=True)
        return False
    return True


def oldest_first(sizes: list[tuple[Case, Size]]) -> list[tuple[Case, Size]]:
    """The cases' ``sizes`` by the age of their records on this GPU, first those without one."""
    gpu = own_gpu() or REFERENCE
    records = kernel_records.records_of(gpu)
    measured = {(each["kernel"], json.dumps(each["size"])): each["measured"] for each in records}
    return sorted(sizes, key=lambda pair: measured.get((pair[0].name, json.dumps(pair[1])), ""))


def _run_gpu(sizes: list[tuple[Case, Size]]) -> bool:
    """Measure them into this GPU's file, each when it is done. Returns whether all were right."""
    bandwidth = ceilings()
    rates = ", ".join(f"a large {key} {rate / 1e12:.2f} TB/s" for key, rate in bandwidth.items())
    print(f"{device_name()}: {rates}; cuBLAS {cublas_library.version() or 'not found'}")
    if not cub.available():
        print("CUB itself is not among the libraries: that needs nvcc on the PATH.")
    for line in rivals.missing():
        print(line)
    print(ON_THIS_GPU.headings)
    content = {
        **description(),
        "cublas": cublas_library.version(),
        "copy_bytes_per_second": round(bandwidth["copy"]),
        "read_bytes_per_second": round(bandwidth["read"]),
    }
    file, failures = None, 0
    for case, n in sizes:
        try:
            record = measure(case, n, bandwidth)
            _print(record, _size(n))
            file = kernel_records.write_merged(content | {"records": [record]}, SIZES)
        except LessonError as error:
            failures += 1
            print(f"not recorded: {error}")
        cp.get_default_memory_pool().free_all_blocks()
    print(f"written to {shown(file)}" if file else "nothing was written")
    return not failures


def _print(record: dict[str, Any], size: str) -> None:
    milliseconds = record["ours"]["median_ms"]
    fraction = record["roofline_fraction"]
    of_roofline = "unknown" if fraction is None else f"{fraction:.3f}"
    ratios = ", ".join(f"{k} {v / milliseconds:.3f}" for k, v in record["libraries"].items())
    rates = (record[what] / milliseconds / 1e9 for what in ("bytes", "flops"))
    facts = of_roofline, record["ours"]["spread"], record["registers"], ratios
    print(ON_THIS_GPU.row(record["kernel"], size, milliseconds, *rates, *facts), flush=True)
    if seconds := record["sustained"]:
        sides = (
            f"{side} {seconds[f'{side}_ms']:.4f} ms at {seconds.get(f'{side}_mhz', '?')} MHz and "
            f"{seconds.get(f'{side}_watts', '?')} W"
            for side in ("ours", "library")
        )
        print(f"{'':<28}sustained: {', '.join(sides)}; ratio {seconds['ratio']:.3f}", flush=True)


def _size(n: int | tuple[int, ...]) -> str:
    return size_in_words(n, ",", "x")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``bench``, whose ``func`` returns an exit status."""
    parser = subparsers.add_parser("bench")
    parser.add_argument("--device", choices=("emulator", "cuda"), help="default: this machine's")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="WORD",
        help="measure kernels with one of these words in their name or chapter, and what --list "
        "calls so; keep the other records",
    )
    parser.add_argument(
        "--stale",
        action="store_true",
        help="measure only what was measured before its sources changed; without a GPU, name it",
    )
    parser.add_argument(
        "--stalest",
        action="store_true",
        help="measure kernels, those with the oldest records first, until you stop it: each "
        "record is written at once, and the next call goes on from there",
    )
    parser.add_argument("--list", action="store_true", help="name all that can be measured")
    parser.add_argument(
        "--draw",
        action="store_true",
        help="measure nothing: draw README.md's records, RECORDS.md and the page of every kernel "
        f"from the records of the {REFERENCE}",
    )
    parser.add_argument(
        "--merge",
        type=Path,
        metavar="FILE",
        help="measure nothing: take the newer records of another copy of a kernels file",
    )
    parser.set_defaults(func=run)
