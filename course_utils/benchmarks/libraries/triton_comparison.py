"""Triton beside CUDA: the times of both on this GPU, and the PTX that Triton wrote for it.

``measure()`` needs both, and PyTorch. It also stores Triton's own text in
``assets/transcripts/triton_*.txt``, for machines that have no GPU.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...checking import difference
from ...compiling.nvrtc import compile_cubin
from ...devices.properties import device_name
from ...devices.selection import cp
from ...errors import LessonError
from ...integers import ceil_div
from ...launching.modules import load
from ...observing.timing import Bench, bench
from ...paths import ASSETS
from ..harness.arrays import double, normal, softmax_of
from ..harness.chapter_kernels import program
from ..harness.torch_runs import need_torch, torch_on_gpu

TRANSCRIPTS = ASSETS / "transcripts"
CHAPTER = "04_first_kernels"
THREE_PASSES = "03_gpu_introduction/roofline/softmax_rows.cu"
ONE_PASS = f"{CHAPTER}/reductions/softmax_row.cu"
VEC_ADD, VEC_ADD_VECTOR = (f"{CHAPTER}/threads/{name}.cu" for name in ("vec_add", "vec_add_vector"))
SOURCES = (
    THREE_PASSES,
    ONE_PASS,
    VEC_ADD,
    VEC_ADD_VECTOR,
    *(f"{CHAPTER}/triton/{name}.py" for name in ("vec_add", "softmax_row")),
)
MODE = "max-autotune-no-cudagraphs"  # of torch.compile: the strongest without a graph
VECTOR = 1 << 28
ROWS, COLUMNS = 16384, 4096
BLOCKS, WARPS = (256, 512, 1024, 2048, 4096, 8192), (1, 2, 4, 8)
ROW_WARPS = (1, 2, 4, 8, 16, 32)

Run = Callable[[], Any]


def triton_function(name: str) -> Any:
    """The Triton function of ``kernels/04_first_kernels/triton/NAME.py``, not yet compiled."""
    return program(f"{CHAPTER}/triton/{name}.py", name)


# --- the two operations, each way ---


def vec_add_runs(n: int) -> tuple[dict[str, Run], Callable[[], Any]]:
    """Each way to add two vectors of n floats, by name, and the right result in float64."""
    torch = torch_on_gpu()
    a, b, c = normal(n), normal(n, 1), cp.empty(n, cp.float32)
    x, y, z = (torch.as_tensor(array, device="cuda") for array in (a, b, c))
    triton_add = triton_function("vec_add")
    plain = load(VEC_ADD).kernel.raw
    vector = load(VEC_ADD_VECTOR).kernel.raw
    compiled = torch.compile(lambda x, y: x + y, dynamic=False, mode=MODE)
    count, groups = np.int32(n), np.int32(n // 4)

    def by_triton() -> Any:
        triton_add[(ceil_div(n, 1024),)](x, y, z, n, BLOCK=1024)
        return c

    runs: dict[str, Run] = {
        "vec_add.cu": lambda: (plain((ceil_div(n, 256),), (256,), (a, b, c, count)), c)[1],
        "vec_add_vector.cu": lambda: (
            vector((ceil_div(n, 1024),), (256,), (a, b, c, groups)),
            c,
        )[1],
        "Triton": by_triton,
        "torch.add": lambda: torch.add(x, y, out=z),
        "torch.compile": lambda: compiled(x, y),
    }
    if n % 4:
        del runs["vec_add_vector.cu"]
    return runs, lambda: double(a) + double(b)


def softmax_runs(rows: int, columns: int) -> tuple[dict[str, Run], Callable[[], Any]]:
    """Each way to the softmax of rows, by name, and the right result in float64."""
    torch = torch_on_gpu()
    x, y = normal((rows, columns)), cp.empty((rows, columns), cp.float32)
    tx, ty = (torch.as_tensor(array, device="cuda") for array in (x, y))
    three_passes = load(THREE_PASSES).kernel.raw
    one_pass = load(ONE_PASS).kernel.raw
    compiled = torch.compile(lambda x: torch.softmax(x, dim=1), dynamic=False, mode=MODE)
    count = np.int32(columns)
    runs: dict[str, Run] = {
        "softmax_rows.cu": lambda: (three_passes((rows,), (256,), (x, y, count)), y)[1],
        "softmax_row.cu": lambda: (one_pass((rows,), (256,), (x, y, count)), y)[1],
        "Triton": softmax_by_triton(tx, ty, y),
        "torch.softmax": lambda: torch.softmax(tx, dim=1),
        "torch.compile": lambda: compiled(tx),
    }
    if columns % 4:
        del runs["softmax_row.cu"]

    return runs, lambda: softmax_of(x)


def softmax_by_triton(tx: Any, ty: Any, y: Any) -> Run:
    """The course's kernel in Triton, on the tensors ``tx`` and ``ty``. Returns ``y``, which shares
    its memory with ``ty``."""
    (rows, columns), kernel = tx.shape, triton_function("softmax_row")

    def run() -> Any:
        kernel[(rows,)](tx, ty, columns, BLOCK=next_power(columns), num_warps=8)
        return y

    return run


def next_power(n: int) -> int:
    """The least power of two that is not below n."""
    return 1 << (n - 1).bit_length()


def times(runs: dict[str, Run], expected: Callable[[], Any]) -> dict[str, dict[str, float]]:
    """Milliseconds of each, in turn and twice over: the median of all runs, and the distance
    between the quartiles over it.

    Raises LessonError where a result is wrong.
    """
    right = expected()
    for name, run in runs.items():
        if wrong := difference(run(), right, rtol=1e-5, atol=1e-7):
            raise LessonError(f"{name}: {wrong}.")
    del right
    taken: dict[str, tuple[float, ...]] = dict.fromkeys(runs, ())
    for _ in range(2):
        for name, run in runs.items():
            taken[name] += bench(run).times_ms
    of_all = {name: Bench(both) for name, both in taken.items()}
    return {
        name: {
            "median_ms": round(each.median_ms, 5),
            "spread": round(each.spread_ms / each.median_ms, 4),
        }
        for name, each in of_all.items()
    }


# --- the choices, and the cost of beginning ---


def vec_add_sweep(n: int = VECTOR) -> list[dict[str, float]]:
    """Milliseconds of Triton's vec_add for each size of program and number of warps."""
    torch = torch_on_gpu()
    x, y, z = (torch.as_tensor(normal(n, seed), device="cuda") for seed in range(3))
    add, found = triton_function("vec_add"), []
    for block in BLOCKS:
        for warps in WARPS:
            run = _configured(add, ceil_div(n, block), (x, y, z, n), block, warps)
            found.append({"BLOCK": block, "num_warps": warps, **run})
    return found


def softmax_sweep(rows: int = ROWS, columns: int = COLUMNS) -> list[dict[str, float]]:
    """Milliseconds of Triton's softmax for each number of warps."""
    torch = torch_on_gpu()
    x = torch.as_tensor(normal((rows, columns)), device="cuda")
    y, softmax = torch.empty_like(x), triton_function("softmax_row")
    return [
        {"num_warps": warps, **_configured(softmax, rows, (x, y, columns), columns, warps)}
        for warps in ROW_WARPS
    ]


def _configured(
    function: Any, grid: int, args: tuple[Any, ...], block: int, warps: int
) -> dict[str, Any]:
    compiled = function[(grid,)](*args, BLOCK=block, num_warps=warps)
    took = bench(lambda: function[(grid,)](*args, BLOCK=block, num_warps=warps), repeats=10)
    return {
        "median_ms": round(took.median_ms, 5),
        "registers": compiled.n_regs,
        "spills": compiled.n_spills,
    }


def first_call_ms() -> dict[str, float]:
    """Milliseconds from the source of vec_add to its first result, with nothing in any cache."""
    torch = torch_on_gpu()
    x = torch.zeros(1024, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("TRITON_CACHE_DIR")
        os.environ["TRITON_CACHE_DIR"] = folder
        start = time.perf_counter()
        triton_function("vec_add")[(1,)](x, x, x, 1024, BLOCK=1024)
        torch.cuda.synchronize()
        by_triton = time.perf_counter() - start
        del os.environ["TRITON_CACHE_DIR"]
        if before is not None:
            os.environ["TRITON_CACHE_DIR"] = before
    source = load(VEC_ADD).source + f"// {time.time()}\n"
    start = time.perf_counter()
    compile_cubin(source, filename="vec_add.cu")
    by_nvrtc = time.perf_counter() - start
    return {"Triton": round(1e3 * by_triton, 1), "NVRTC": round(1e3 * by_nvrtc, 1)}


def launch_us(n: int = 1024, count: int = 2000) -> dict[str, float]:
    """Microseconds of the host for one launch that does hardly any work, without waiting for it."""
    runs, _ = vec_add_runs(n)
    found = {}
    for name, run in runs.items():
        best = float("inf")
        for _ in range(5):
            cp.cuda.Device().synchronize()
            start = time.perf_counter()
            for _ in range(count):
                run()
            best = min(best, (time.perf_counter() - start) / count)
        found[name] = round(1e6 * best, 2)
    return found


# --- what Triton wrote ---


def transcripts() -> dict[str, str]:
    """Triton's texts by file name: PTX of both kernels at two sizes, and TTGIR of one.

    In "divides" n is a multiple of 16, in "any" it is not.
    """
    torch = torch_on_gpu()
    x = torch.zeros(1 << 16, device="cuda")
    add, softmax, found = triton_function("vec_add"), triton_function("softmax_row"), {}
    for size, n, columns in (("divides", 10_000, 4000), ("any", 10_007, 3999)):
        by_name = {
            "vec_add": add[(ceil_div(n, 1024),)](x, x, x, n, BLOCK=1024),
            "softmax_row": softmax[(3,)](x, x, columns, BLOCK=4096, num_warps=8),
        }
        for name, compiled in by_name.items():
            found[f"triton_{name}_{size}.ptx.txt"] = with_heading(compiled, "ptx", "//")
            found[f"triton_{name}_{size}.ttgir.txt"] = with_heading(compiled, "ttgir", "//")
    return found


def with_heading(compiled: Any, stage: str, comment: str) -> str:
    """One stage of a compiled kernel without its tables for debuggers, and its origin."""
    import triton

    meta = compiled.metadata
    heading = [
        f"What Triton {triton.__version__} wrote for {meta.name} on an {device_name()}: "
        f"{stage.upper()}, num_warps {meta.num_warps}, shared {meta.shared}.",
        "Left out: tables for debuggers, and the folders of files. The rest is as Triton wrote it.",
    ]
    text = shortened_ptx if stage == "ptx" else shortened_ir
    lines = [f"{comment} {line}" for line in heading]
    return "\n".join([*lines, text(compiled.asm[stage])]) + "\n"


def shortened_ptx(text: str) -> str:
    """PTX without its debug sections. Files are named from the repository's root, or Triton's."""
    text = re.sub(r"\t\.section\t\S+\s*\{.*?\}\n?", "", text, flags=re.S)
    return _without_folders(text).rstrip()


def shortened_ir(text: str) -> str:
    """TTIR or TTGIR without the places in the source."""
    text = re.sub(r"^#loc.*\n", "", text, flags=re.M)
    text = re.sub(r" loc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "", text)
    return _without_folders(text).rstrip()


def _without_folders(text: str) -> str:
    text = re.sub(r'"[^"]*?/(kernels/[^"]*)"', r'"\1"', text)
    return re.sub(r'"[^"]*?/(triton/language/[^"]*)"', r'"\1"', text)


def measure(texts: Path = TRANSCRIPTS) -> dict[str, Any]:
    """Every time on this GPU. Triton's texts go to the folder ``texts``.

    Raises LessonError where PyTorch or Triton is missing.
    """
    torch = need_torch("triton", and_triton=True)
    import triton

    texts.mkdir(parents=True, exist_ok=True)
    for name, text in transcripts().items():
        (texts / name).write_text(text, encoding="utf-8")
    return {
        "triton": triton.__version__,
        "torch": torch.__version__,
        "vec_add": {str(n): times(*vec_add_runs(n)) for n in (VECTOR, VECTOR + 1)},
        "softmax": {
            f"{ROWS} x {columns}": times(*softmax_runs(ROWS, columns))
            for columns in (COLUMNS, COLUMNS - 1)
        },
        "vec_add_sweep": vec_add_sweep(),
        "softmax_sweep": softmax_sweep(),
        "first_call_ms": first_call_ms(),
        "launch_us": launch_us(),
    }
