"""``python -m course_utils bench``: how fast the emulator runs, or the course's kernels on a GPU.

On the emulator a figure is million thread-instructions per second of wall time, memcheck on, and
how many times as long a run takes with the whole sanitizer; the instruction counts themselves never
change from run to run. On a GPU each kernel is timed beside
the libraries that do the same work, in turn within one process, and the records go to
``assets/benchmarks/<device>.json``; the README's table is drawn from that file. Each chapter has a
module of cases here.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..devices.properties import description, device_name
from ..devices.selection import EMULATOR, ON_GPU, cp, device
from ..errors import LessonError
from ..paths import ROOT
from ..records.readme_table import stored, write
from . import autotune, hardware, overlap, triton
from .case import Case, KernelCall, Work
from .cases import first_kernels, matmul
from .cases import gpu_introduction as introduction
from .measure import ceilings, emulate, measure

__all__ = ["CASES", "Case", "KernelCall", "Work", "add_parser", "run", "stored"]

# Measurements of the machine rather than of a kernel; each writes a file of its own.
OTHERS = {"hardware": hardware.write, "overlap": overlap.write, "triton": triton.write}
ON_REQUEST = {"autotune": autotune.write}  # takes minutes, most of them for compiling

CASES: tuple[Case, ...] = introduction.CASES + first_kernels.CASES + matmul.CASES


def run(args: argparse.Namespace) -> int:
    """Measure the cases that the arguments ask for; the command's exit status."""
    if args.merge:
        file = write(json.loads(args.merge.read_text(encoding="utf-8")), _names())
        print(f"merged into {file.name}; the table of README.md is drawn from it")
        return 0
    cases = [case for case in CASES if _asked_for(case, args.only)]
    files = {**OTHERS, **ON_REQUEST}
    others = [files[name] for name in (args.only or OTHERS) if name in files]
    if not cases and not others:
        names = ", ".join([*_names(), *files])
        print(f"No benchmark is called {' or '.join(args.only)}. There are: {names}")
        return 2
    if (args.device or device()) == EMULATOR:
        return _run_emulator(cases)
    if not ON_GPU:
        print("bench --device cuda needs an NVIDIA GPU; this machine has none.")
        return 2
    for write_other in others:
        try:
            print(f"written to {write_other().relative_to(ROOT)}")
        except LessonError as error:
            print(f"not recorded: {error}")
    return _run_gpu(cases) if cases else 0


def _names() -> list[str]:
    return [case.name for case in CASES]


def _asked_for(case: Case, words: list[str] | None) -> bool:
    return not words or any(word in case.name or word in case.chapter for word in words)


def _run_emulator(cases: list[Case]) -> int:
    print("The emulator, memcheck on (best of three runs); then with every check of the sanitizer")
    print(
        f"{'kernel':<22}{'size':>11}{'million thread-instr.':>23}{'seconds':>9}{'M/s':>7}"
        f"{'sanitizer on':>14}{'times as long':>15}"
    )
    for case in cases:
        if case.emulator_size is None:
            continue
        count, seconds, checked = emulate(case)
        print(
            f"{case.name:<22}{_size(case.emulator_size):>11}{count / 1e6:>23,.1f}"
            f"{seconds:>9.3f}{count / seconds / 1e6:>7,.0f}{checked:>14.3f}"
            f"{checked / seconds:>15.1f}",
            flush=True,
        )
    return 0


def _run_gpu(cases: list[Case]) -> int:
    bandwidth = ceilings()
    rates = ", ".join(f"a large {key} {rate / 1e12:.2f} TB/s" for key, rate in bandwidth.items())
    print(f"{device_name()}: {rates}")
    print(f"{'kernel':<26}{'size':>15}{'ms':>10}{'TB/s':>7}{'TFLOP/s':>9}{'of floor':>10}", end="")
    print(f"{'spread':>8}{'registers':>11}  ratio to each library")
    records, failures = [], 0
    for case, n in ((each, size) for each in cases for size in each.gpu_sizes):
        try:
            records.append(measure(case, n, bandwidth))
            _print(records[-1], _size(n))
        except LessonError as error:
            failures += 1
            print(f"not recorded: {error}")
        cp.get_default_memory_pool().free_all_blocks()
    content = {
        **description(),
        "copy_bytes_per_second": round(bandwidth["copy"]),
        "read_bytes_per_second": round(bandwidth["read"]),
        "records": records,
    }
    file = write(content, _names())
    print(f"written to {file.name}; the table of README.md is drawn from it")
    return 1 if failures else 0


def _print(record: dict, size: str) -> None:
    milliseconds = record["ours"]["median_ms"]
    ratios = ", ".join(f"{k} {v / milliseconds:.3f}" for k, v in record["libraries"].items())
    print(
        f"{record['kernel']:<26}{size:>15}{milliseconds:>10.4f}"
        f"{record['bytes'] / milliseconds / 1e9:>7.2f}{record['flops'] / milliseconds / 1e9:>9.2f}"
        f"{record['floor_fraction']:>10.3f}{record['ours']['spread']:>8.3f}"
        f"{record['registers']:>11}  {ratios}",
        flush=True,
    )


def _size(n: int | tuple[int, ...]) -> str:
    return "x".join(f"{x:,}" for x in n) if isinstance(n, tuple) else f"{n:,}"


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser("bench", help="measure the emulator, or the kernels on a GPU")
    parser.add_argument("--device", choices=("emulator", "cuda"), help="default: this machine's")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="WORD",
        help="measure kernels with one of these words in their name or chapter; keep the others",
    )
    parser.add_argument(
        "--merge",
        type=Path,
        metavar="FILE",
        help="measure nothing: take the newer records of another copy of the file",
    )
    parser.set_defaults(func=run)
