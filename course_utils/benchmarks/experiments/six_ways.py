"""One softmax in six ways, from a Python loop to CUDA C++: the times of chapter 01.

The first two run on the CPU beside the GPU, the others on the GPU, where the array already lies.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...checking import difference
from ...devices.selection import cp
from ...errors import LessonError
from ...integers import ceil_div
from ...launching.modules import load
from ...observing.timing import bench
from ..harness.arrays import softmax_of
from ..harness.chapter_kernels import program
from ..harness.torch_runs import need_torch, torch_on_gpu
from ..libraries.triton_comparison import MODE, softmax_by_triton

FOLDER = "01_ecosystem/softmax"
TRITON = "04_first_kernels/triton/softmax_row.py"
ONE_READ = f"{FOLDER}/softmax_block.cu"
THREE_READS = {  # CUDA C++ that reads each row three times
    "a block a row": "03_gpu_introduction/roofline/softmax_rows.cu",
    "a warp a row": f"{FOLDER}/softmax_warps.cu",
}
SOURCES = (
    *(f"{FOLDER}/{name}" for name in ("loop.py", "with_numpy.py", "with_pytorch.py")),
    TRITON,
    ONE_READ,
    *THREE_READS.values(),
)
ROWS, COLUMNS = 8192, 4096
CPU_ROWS = 64  # of the results of the CPU's ways, as many are compared
NUMPY_RUNS = 7


def way(name: str) -> Callable[[Any], Any]:
    """The function ``softmax`` of ``kernels/01_ecosystem/softmax/NAME.py``."""
    softmax: Callable[[Any], Any] = program(f"{FOLDER}/{name}.py", "softmax")
    return softmax


def seconds(run: Callable[[], Any], runs: int = 1) -> tuple[float, Any]:
    """The median time of ``runs`` calls on the CPU, and what the last one returned."""
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        result = run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), result


def on_the_cpu(x: np.ndarray) -> dict[str, float]:
    """Milliseconds of the loop, run once, and of NumPy for ``x``, rows x columns of fp32.

    Raises LessonError where a result is wrong.
    """
    rows = x.astype(np.float64).tolist()
    loop_s, loop = seconds(lambda: way("loop")(rows))
    numpy_s, by_numpy = seconds(lambda: way("with_numpy")(x), NUMPY_RUNS)
    some = slice(0, CPU_ROWS)
    expected = softmax_of(x[some])
    for name, result in (("the loop", np.array(loop[some])), ("NumPy", by_numpy[some])):
        if wrong := difference(result, expected, rtol=1e-5, atol=1e-7):
            raise LessonError(f"{name}: {wrong}.")
    return {"Python loop": round(1e3 * loop_s, 1), "NumPy": round(1e3 * numpy_s, 2)}


def on_the_gpu(x: np.ndarray) -> dict[str, Any]:
    """Times on the GPU: of each way, of torch.compile with a longer search, of ``torch.softmax``,
    of CUDA C++ that reads more, and of the first call of torch.compile with nothing in its cache;
    and how often the code of that call names a load of ``x``.

    Raises LessonError where a result is wrong.
    """
    torch = torch_on_gpu()
    from torch._inductor.utils import run_and_get_code

    rows, columns = x.shape
    given, y = cp.asarray(x), cp.empty(x.shape, cp.float32)
    tx, ty = (torch.as_tensor(array, device="cuda") for array in (given, y))
    eager = way("with_pytorch")
    compiled = torch.compile(eager, dynamic=False)
    generated: list[str] = []
    first_call = first_call_s(lambda: generated.extend(run_and_get_code(compiled, tx)[1]))
    searched = torch.compile(eager, dynamic=False, mode=MODE)

    def cuda_run(source: str, grid: int, *sizes: int) -> Callable[[], Any]:
        kernel = load(source).kernel.raw

        def run() -> Any:
            kernel((grid,), (256,), (given, y, *map(np.int32, sizes)))
            return y

        return run

    by_block, by_warp = THREE_READS
    runs = {
        "PyTorch": lambda: eager(tx),
        "torch.compile": lambda: compiled(tx),
        "Triton": softmax_by_triton(tx, ty, y),
        "CUDA C++": cuda_run(ONE_READ, rows, columns),
        "max-autotune": lambda: searched(tx),
        "torch.softmax": lambda: torch.softmax(tx, dim=1),
        by_block: cuda_run(THREE_READS[by_block], rows, columns),
        by_warp: cuda_run(THREE_READS[by_warp], ceil_div(rows, 8), rows, columns),
    }
    expected = softmax_of(given)
    for name, run in runs.items():
        if wrong := difference(run(), expected, rtol=1e-5, atol=1e-7):
            raise LessonError(f"{name}: {wrong}.")
    del expected
    times = {name: round(bench(run).median_ms, 5) for name, run in runs.items()}
    return {
        "three_reads_ms": {name: times.pop(name) for name in THREE_READS},
        "median_ms": times,
        "loads_of_compile": sum(text.count("tl.load(in_ptr0") for text in generated),
        "first_call_of_compile_s": first_call,
    }


def first_call_s(run: Callable[[], Any]) -> float:
    """Seconds of ``run``, which compiles, with the compiler's cache in an empty folder."""
    torch = torch_on_gpu()
    names = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
    before = {name: os.environ.get(name) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update({name: str(Path(folder) / name.lower()) for name in names})
        try:
            start = time.perf_counter()
            run()
            torch.cuda.synchronize()
            return round(time.perf_counter() - start, 2)
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def measure() -> dict[str, Any]:
    """Every time on this machine. Raises LessonError where PyTorch or Triton is missing."""
    torch = need_torch("six_ways", and_triton=True)
    import triton

    x = np.random.default_rng(1).standard_normal((ROWS, COLUMNS), dtype=np.float32)
    gpu = on_the_gpu(x)
    gpu["median_ms"] = on_the_cpu(x) | gpu["median_ms"]
    return {
        "cpu": cpu_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "rows": ROWS,
        "columns": COLUMNS,
        **gpu,
    }


def cpu_name() -> str:
    """The processor's name as Linux has it, or "a CPU"."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return "a CPU"
    lines = (line.partition(":") for line in text.splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == "model name"), "a CPU")
