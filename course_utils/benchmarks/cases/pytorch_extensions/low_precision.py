"""Weights of 16 and of 4 bits times a vector, beside cuBLAS and PyTorch.

A size is (matrices, rows, columns): so many products with one vector, each with a matrix of its
own, one launch after the other, as a token goes through layers. More than one are measured as one
CUDA graph, ours alone; there the kernels in EARLY_IN_A_ROW may begin while the one before still
runs, and read weights until its result is there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ....checking import difference
from ....devices.properties import sm_count
from ....devices.selection import cp
from ....errors import LessonError
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.torch_runs import as_tensors, compiled, torch_on_gpu
from ...harness.workload import KernelCall, Workload
from ...libraries import cublas
from .operators import CHAPTER

GROUP = 128  # columns that share a scale
COLUMNS_OF_A_PIECE = {"gemv_fp16": 8}  # of 16 bytes; 32 for the others
STREAMS = {  # of row_stream.cuh; gemv_fp16's and gemv_int4's are the best of some on an H200
    "gemv_fp16": {"ROWS": 2, "STAGES": 2, "BLOCKS": 2},
    "gemv_int4_converted": {"ROWS": 8, "STAGES": 2, "BLOCKS": 2},
    "gemv_int4": {"ROWS": 8, "STAGES": 2, "BLOCKS": 2},
    "gemv_int4_bytes": {"ROWS": 8, "STAGES": 2, "BLOCKS": 2},
}
EARLY_IN_A_ROW = "gemv_fp16", "gemv_int4_bulk"  # gemv_int4_bytes was faster without
MOST_SHARED = 226 * 1024  # bytes that a block of gemv_int4_bulk takes, and room for its mbarriers
WeightsSize = tuple[int, int, int]  # matrices, rows, columns


def stream_bytes(defines: dict[str, int], rows: int) -> int:
    """Dynamic shared memory of ``stream_rows`` for ``rows`` rows a block."""
    threads, at_once = defines["THREADS"], defines["STAGES"] * defines["ROWS"]
    return at_once * threads * (16 + 2) + rows * (threads // 32) * 4


def stream_call(
    name: str, w: Any, scales: Any, x: Any, y: Any, grid: int | None = None, **tried: int
) -> KernelCall:
    """The call of ``name`` for y (M,) = W x: ``w`` holds W in the kernel's format, ``scales`` (K /
    128, M) in fp16 (any fp16 array for ``gemv_fp16``), ``x`` (K,) in fp16. ``tried`` are defines in
    place of ours, ``grid`` is how many blocks there are at the most.

    Raises LessonError where M is no multiple of 8, K of the columns that a piece or a group has, or
    K is too large for a block.
    """
    (rows,), (columns,) = y.shape, x.shape
    width = COLUMNS_OF_A_PIECE.get(name, 32)
    multiple = 8 if name == "gemv_fp16" else GROUP
    if rows % 8 or columns % multiple or columns > 1024 * width:
        raise LessonError(
            f"{name} takes rows in multiples of 8 and columns in multiples of {multiple}, at most "
            f"{1024 * width}: not {rows} x {columns}."
        )
    defines = STREAMS[name] | {"THREADS": 32 * ceil_div(columns, 32 * width)} | tried
    each = 8 * ceil_div(rows, 8 * (grid or defines["BLOCKS"] * sm_count()))  # rows of a block
    arguments = w, scales, x, y, rows, columns, each
    launch = ceil_div(rows, each), defines["THREADS"], arguments
    early = bool(tried.get("EARLY"))
    kernel = CHAPTER.kernel(name, "sm_90" if early else None, **defines)
    return KernelCall(kernel, *launch, stream_bytes(defines, each), early=early)


def bulk_bytes(defines: dict[str, int], columns: int, pieces: int) -> int:
    """Dynamic shared memory of ``gemv_int4_bulk`` for up to so many ``pieces`` of rows a block."""
    rows, warps = defines["ROWS"], defines["THREADS"] // 32
    scales = columns // GROUP * (pieces + 1) * 2 * rows
    return defines["STAGES"] * rows * columns // 2 + scales + pieces * rows * warps * 4


def bulk_call(
    w: Any, scales: Any, x: Any, y: Any, grid: int | None = None, **tried: int
) -> KernelCall:
    """The call of ``gemv_int4_bulk`` with arguments as for :func:`stream_call`. Without ``grid``,
    and as an H200 was fastest: a block a multiprocessor where it is launched early, otherwise the
    fewest blocks whose longest run is no longer.

    Raises LessonError where M is no multiple of the rows of a piece, K of the columns of a group,
    or a block has no room for K.
    """
    (rows,), (columns,) = y.shape, x.shape
    defines = {"ROWS": 4, "GROUPS": 2, "THREADS": 32 * ceil_div(columns, 1024)} | tried
    each, groups = defines["ROWS"], defines["GROUPS"]
    all_pieces = rows // each
    most = min(grid or sm_count(), max(1, all_pieces))
    pieces = ceil_div(all_pieces, most)
    even = not grid and not defines.get("EARLY")
    grid = max(1, ceil_div(all_pieces, max(1, pieces))) if even else most
    room = MOST_SHARED - bulk_bytes(defines | {"STAGES": 0}, columns, pieces)
    rounds = min(ceil_div(pieces, groups), room // max(1, each * columns // 2 * groups))
    threads = groups * defines["THREADS"] + 32
    if not rows or rows % each or columns % GROUP or rounds < 1 or threads > 1024:
        raise LessonError(
            f"gemv_int4_bulk takes rows in multiples of {each} and columns in multiples of {GROUP} "
            f"that a block has room for: not {rows} x {columns}."
        )
    defines = {"STAGES": rounds * groups} | defines
    kernel = CHAPTER.kernel("gemv_int4_bulk", "sm_90a", **defines)
    shared = bulk_bytes(defines, columns, pieces)
    arguments = w, scales, x, y, rows, columns
    return KernelCall(kernel, grid, threads, arguments, shared, early=bool(tried.get("EARLY")))


def random_weights(n: WeightsSize) -> tuple[Any, Any]:
    """Nibbles (matrices, rows, columns / 8) in uint32, and fp16 scales (matrices, columns / 128,
    rows): no two matrices, and no two rows, have the same."""
    matrices, rows, columns = n
    rng = np.random.default_rng(5)
    words = rng.integers(0, 1 << 32, (matrices, rows, columns // 8), dtype=np.uint32)
    scales = rng.uniform(0.005, 0.015, (matrices, columns // GROUP, rows)).astype(np.float16)
    return cp.asarray(words), cp.asarray(scales)


def weights_of(words: Any, scales: Any, dtype: Any = np.float64) -> Any:
    """The matrix (rows, columns) that nibbles and scales stand for, rounded to ``dtype``."""
    rows = len(words)
    whole = words[:, :, None] >> cp.arange(0, 32, 4, dtype=np.uint32) & np.uint32(15)
    groups = whole.reshape(rows, -1, GROUP).astype(np.float32) - np.float32(8)
    return (groups * scales.T[:, :, None].astype(np.float32)).astype(dtype).reshape(rows, -1)


def _work(name: str, beside: bool, off: float) -> Callable[[WeightsSize], Workload]:
    def make(n: WeightsSize) -> Workload:
        words, scales = random_weights(n)
        x = normal(n[2], 1).astype(np.float16)
        y = cp.empty(n[:2], np.float32)
        pairs = list(zip(words, scales, strict=True))
        halves = [weights_of(*pair, np.float16) for pair in pairs]
        stored = halves if name == "gemv_fp16" else words
        call = bulk_call if name == "gemv_int4_bulk" else partial(stream_call, name)
        early = {"EARLY": 1} if n[0] > 1 and name in EARLY_IN_A_ROW else {}
        calls = [
            call(w, s, x, result, **early) for w, s, result in zip(stored, scales, y, strict=True)
        ]

        def expected() -> Any:
            exact = halves if name == "gemv_fp16" else (weights_of(*pair) for pair in pairs)
            return cp.stack([double(w) @ double(x) for w in exact])

        libraries = _libraries(halves, pairs, x) if beside and n[0] == 1 else {}
        atol = off * n[2] ** 0.5  # the errors of K products add up like steps of a random walk
        return Workload(
            tuple(calls),
            y,
            expected,
            1e-3,
            atol,
            libraries,
            same_bits=False,
            as_a_graph=n[0] > 1,
        )

    return make


def _libraries(halves: list[Any], pairs: list[Any], x: Any) -> dict[str, Callable[[], Any]]:
    """The same weights in fp16, by ``gemv_fp16.cu``, cuBLAS and PyTorch, and in 4 bits by PyTorch,
    which takes x in bf16. Their first products are checked here, once.

    Raises LessonError where one of them is wrong.
    """
    torch = torch_on_gpu()
    if torch is None:
        return {}
    vector, *matrices = as_tensors(x, *halves)
    narrow = vector.to(torch.bfloat16)[None]
    out = cp.empty((1, len(halves[0])), np.float32)
    own = [stream_call("gemv_fp16", w, x, x, out[0]).ready() for w in halves]
    by_cublas = [cublas.products("fp16", x[None], w, lambda: out) for w in halves]
    multiply = torch._weight_int4pack_mm
    packed = [_packed_by_torch(torch, *pair) for pair in pairs]
    runs: dict[str, list[Callable[[], Any]]] = {
        "gemv_fp16": own,
        "torch.mv, fp16": [partial(torch.mv, w, vector) for w in matrices],
        "torch.compile, fp16": [compiled(_product, w, vector)["torch.compile"] for w in matrices],
        **{name: [one[name] for one in by_cublas] for name in by_cublas[0]},
        "torch, 4 bits": [partial(multiply, narrow, w, GROUP, scale) for w, scale in packed],
    }
    want = double(halves[0]) @ double(x)
    for name, each in runs.items():
        found = each[0]()
        result = double(_as_array(out if found is None else found)).ravel()
        if wrong := difference(result, want, 0.0, 0.15):  # bf16 has three digits
            raise LessonError(f"{name}: {wrong}.")
    return {name: partial(_all, each) for name, each in runs.items()}


def _as_array(found: Any) -> Any:
    """A tensor or an array as an array of fp32."""
    return found if isinstance(found, cp.ndarray) else cp.asarray(found.float())


def _product(w: Any, x: Any) -> Any:
    return w @ x


def _all(runs: list[Callable[[], Any]]) -> None:
    for run in runs:
        run()


def _packed_by_torch(torch: Any, words: Any, scales: Any) -> tuple[Any, Any]:
    """Weights and scales as ``torch._weight_int4pack_mm`` wants them."""
    codes = words.view(np.uint8)
    (swapped,) = as_tensors((codes & 15) << 4 | codes >> 4)
    (steps,) = as_tensors(scales.astype(np.float32))
    both = torch.stack([steps, torch.zeros_like(steps)], dim=-1).to(torch.bfloat16)
    return torch._convert_weight_to_int4pack(swapped, 8), both.contiguous()


def _case(name: str, bits: float, beside: bool = False, off: float = 2e-4) -> Case:
    one, in_a_row = (1, 8192, 8192), (12, 8192, 8192)

    def least(n: WeightsSize) -> int:
        matrices, rows, columns = n
        return int(matrices * (rows * columns * bits / 8 + 2 * columns + 4 * rows))

    return Case(
        name,
        "weights of few bits times a vector",
        CHAPTER.files(name),
        _work(name, beside, off),
        bytes=least,
        flops=lambda n: 2 * n[0] * n[1] * n[2],
        ceiling="read",
        gpu_sizes=(one, in_a_row),
        test_sizes=((1, 8, 128), (2, 24, 1280), (1, 72, 2176)),
    )


PACKED = 4 + 16 / GROUP  # bits of a weight and its part of a scale
CASES = (
    _case("gemv_fp16", 16),
    _case("gemv_int4_converted", PACKED),
    _case("gemv_int4", PACKED, off=2e-4),
    _case("gemv_int4_bytes", PACKED, off=2e-3),
    _case("gemv_int4_bulk", PACKED, beside=True, off=2e-3),
)
