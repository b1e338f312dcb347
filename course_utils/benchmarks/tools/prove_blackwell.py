"""``python -m course_utils prove-blackwell``: the kernels for sm_100a, run on a GPU that has it.

No such GPU was at hand when the course was written, so nothing in ``assets/benchmarks`` is theirs.
Each kernel is run many times at awkward sizes and compared with float64, then timed, those for bf16
beside cuBLAS.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from ...devices.properties import device_name
from ...needs import lacking
from ...observing.timing import bench
from ...text_tables import Column, Columns
from ..cases.blackwell import ARCH, RUNGS, product_work, tile_work
from ..cases.block_scaled import FORMATS, scaled_tile_work, scaled_work
from ..cases.matmul import ProductSize
from ..harness.workload import Workload

SHAPES = ((1, 8, 8), (128, 256, 64), (127, 248, 72), (256, 512, 4096), (1000, 1032, 1048))
SCALED_SHAPES = ((1, 4, 32), (128, 128, 256), (127, 252, 96), (256, 512, 4096), (1000, 1028, 1056))
REPEATS = 20  # of each shape: a missing fence shows now and then only
SIZES = (2048, 4096, 8192)  # that are timed
WIDEST = 40  # of a kernel with its shape, and a space
TILES: dict[str, Callable[[int], Workload]] = {
    "umma_tile": tile_work,
    **{f"{form}_tile": partial(scaled_tile_work, form) for form in FORMATS},
}
SCALED = {
    f"{name}, {form}": partial(scaled_work, form, pair=name == "scaled_pair")
    for name in ("scaled_gemm", "scaled_pair")
    for form in FORMATS
}


def faults(work: Workload, repeats: int) -> str:
    """How the result differs, in the first of ``repeats`` runs that is wrong, "" if none is."""
    for turn in range(1, repeats + 1):
        work.poison()
        work()
        if wrong := work.wrong():
            return f"run {turn} of {repeats}: {wrong}"
    return ""


def all_right(
    shapes: tuple[ProductSize, ...] = SHAPES,
    scaled_shapes: tuple[ProductSize, ...] = SCALED_SHAPES,
    repeats: int = REPEATS,
    **launch: int,
) -> bool:
    """Run every kernel at every shape, print a line for each, and say whether all are right."""
    works = {
        f"{name}, {columns} columns": partial(work, columns)
        for name, work in TILES.items()
        for columns in (32, 64, 128)
    }
    for name in RUNGS:
        for seed, shape in enumerate(shapes):
            works[_label(name, shape)] = partial(product_work, name, shape, seed, **launch)
    few = {key: value for key, value in launch.items() if key != "pairs"}
    for name, scaled in SCALED.items():
        for seed, shape in enumerate(scaled_shapes):
            works[_label(name, shape)] = partial(scaled, shape, seed, **few)
    found = [_printed(label, work(), repeats) for label, work in works.items()]
    return not any(found)


def _label(name: str, shape: ProductSize) -> str:
    return f"{name}, {' x '.join(map(str, shape))}"


def _printed(label: str, work: Workload, repeats: int) -> str:
    wrong = faults(work, repeats)
    print(f"{label:<{WIDEST}}{wrong or f'right in {repeats} runs'}", flush=True)
    return wrong


def print_times() -> None:
    """Time every rung at n x n x n, those for bf16 in turn with the faster of cuBLAS and cuBLASLt's
    best."""
    table = Columns(
        Column("kernel", 20, left=True),
        Column("n", 6),
        Column("ms", 9, ".4f"),
        Column("TFLOP/s", 8, ".0f"),
        Column("library", 24, left=True),
        Column("times its speed"),
    )
    print(table.headings)
    rungs = {name: partial(product_work, name) for name in RUNGS}
    for n in SIZES:
        for name, make in (rungs | SCALED).items():
            work = make((n, n, n))
            (call,) = work.launches
            turns = {"": call.ready(), **work.libraries}
            times = {each: bench(run).median_ms for each, run in turns.items()}
            ours = times.pop("")
            best = min(times, key=lambda each: times[each], default="")
            gain = f"{times[best] / ours:.3f}" if best else ""
            print(table.row(name, n, ours, 2 * n**3 / ours / 1e9, best, gain), flush=True)


def run(args: argparse.Namespace) -> int:
    """Prove all kernels that run here. Returns the exit status."""
    if missing := lacking(ARCH):
        print(
            f"prove-blackwell needs {missing} (a B200), and this machine has none: the kernels are "
            f"compiled for that target alone. On the emulator they run in chapter 08."
        )
        return 2
    print(f"on {device_name()}")
    if not all_right():
        print("Not proved: see the lines above. compute-sanitizer may tell more.")
        return 1
    print_times()
    return 0


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register ``prove-blackwell``."""
    parser = subparsers.add_parser("prove-blackwell")
    parser.set_defaults(func=run)
