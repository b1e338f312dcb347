"""The k largest of each row, beside PyTorch and FlashInfer.

A size of a selection is (rows, columns, k).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....devices.properties import sm_count
from ....devices.selection import cp
from ....errors import LessonError
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.torch_runs import Runs, as_tensors, compiled, torch_on_gpu, unchecked
from ...harness.workload import Calls, KernelCall, Workload
from ...libraries import cub, rivals
from .operators import CHAPTER

SelectionSize = tuple[int, int, int]  # rows, columns, k
MOST_K = 2048
WARP_MOST_K, WARP_COLUMNS = 96, 1024
SEED = 2026


def orders(x: Any) -> Any:
    """An integer for each float of ``x`` that is the larger, the larger the float is; all NaNs get
    the largest. int64, as top_k.cuh has it in 32 bits."""
    bits = x.view(np.uint32).astype(np.int64)
    order = np.where(bits >> 31, 0xFFFFFFFF - bits, bits + 0x80000000)
    return np.where(np.isnan(x), 0xFFFFFFFF, order)


def largest(x: Any, k: int) -> Any:
    """The columns of the ``k`` largest of each row of ``x``, of equal ones the first, in order."""
    columns = x.shape[1]
    pairs = (orders(x) << 31) + (columns - 1 - cp.arange(columns))
    return columns - 1 - (np.sort(pairs, axis=1)[:, ::-1][:, :k] & ((1 << 31) - 1))


def stream_defines(columns: int, k: int) -> dict[str, int]:
    """What ``top_k_stream.cu`` is compiled with for rows of ``columns``.
    Raises LessonError where ``k`` is too large."""
    if not 0 < k <= min(MOST_K, columns):
        raise LessonError(
            f"k is {k}: it has to be 1 to {MOST_K}, and at most the {columns} columns."
        )
    threads = 128
    while threads < 1024 and (2 * threads < k or 16 * threads < columns):
        threads *= 2
    groups = 1
    while groups < 16 and groups * threads < 4 * k:
        groups *= 2
    stages = 2  # of four elements a thread; more than a row has would only take shared memory
    while stages < 8 and 4 * threads * stages < columns:
        stages *= 2
    defines = {"THREADS": threads, "GROUPS": groups, "SAMPLED": min(stages, 4)}
    if k > 256:
        return defines | {"STAGES": stages, "TURN": 2, "OWN": 8}
    if 12 * 4 * threads <= columns:
        return defines | {"STAGES": 12, "TURN": 4, "OWN": 4}
    return defines | {"STAGES": stages, "TURN": 2, "OWN": 4}


def shared_bytes(defines: Mapping[str, int]) -> int:
    """Dynamic shared memory of ``top_k_stream.cu`` and ``top_k_cluster.cu``: stages, candidates."""
    return (16 * defines["STAGES"] + 8 * defines["OWN"]) * defines["THREADS"]


def blocks_of_a_row(rows: int, columns: int, most: int = 8) -> int:
    """How many blocks share a row of ``columns``: 1, 2, 4 or 8, so that all of them have an SM."""
    count = 1
    while count < most and 2 * count * rows <= sm_count() and columns >= 2 * count * 4096:
        count *= 2
    return count


@dataclass(frozen=True)
class Found:
    """Room for values (rows, k) in fp32 and indices (rows, k) in int64, in one array."""

    room: Any
    rows: int
    k: int

    @classmethod
    def of(cls, rows: int, k: int) -> Found:
        """Uninitialised storage for the ``k`` largest of ``rows`` rows."""
        return cls(cp.empty(3 * rows * k, np.float32), rows, k)

    @property
    def indices(self) -> Any:
        """int64 (rows, k)."""
        return self.room[: 2 * self.rows * self.k].view(np.int64).reshape(self.rows, self.k)

    @property
    def values(self) -> Any:
        """fp32 (rows, k)."""
        return self.room[2 * self.rows * self.k :].reshape(self.rows, self.k)

    @property
    def both(self) -> tuple[Any, Any]:
        """The values and the indices, as the kernels take them."""
        return self.values, self.indices


# --- calls ---


def rounds_calls(x: Any, k: int, found: Found) -> Calls:
    """``top_k_rounds.cu`` on fp32 ``x`` (rows, columns): the ``k`` largest go into ``found``."""
    rows, columns = x.shape
    arguments = x, *found.both, columns, k
    return (KernelCall(CHAPTER.kernel("top_k_rounds"), rows, 256, arguments),)


def radix_calls(x: Any, k: int, found: Found, **tried: int) -> Calls:
    """``top_k_radix.cu``, with the defines ``tried`` instead of ours."""
    rows, columns = x.shape
    arguments = x, *found.both, columns, k
    return (KernelCall(CHAPTER.kernel("top_k_radix", **tried), rows, 512, arguments),)


def stream_calls(x: Any, k: int, found: Found, **tried: int) -> Calls:
    """``top_k_stream.cu``; ``tried`` are defines in place of ours."""
    rows, columns = x.shape
    defines = stream_defines(columns, k) | tried
    threads, arguments = defines["THREADS"], (x, *found.both, columns, k)
    kernel = CHAPTER.kernel("top_k_stream", **defines)
    return (KernelCall(kernel, rows, threads, arguments, shared_bytes(defines)),)


def merge_calls(x: Any, k: int, found: Found, parts: int | None = None, **tried: int) -> Calls:
    """``top_k_stream.cu`` on ``parts`` of each row, then ``top_k_merge.cu``. The parts divide the
    columns."""
    rows, columns = x.shape
    if parts is None:
        parts = 1
        while parts < 64 and rows * parts < sm_count() and columns % (2 * parts) == 0:
            parts *= 2
    length = columns // parts
    each = min(k, length)
    lists = Found.of(rows * parts, each)
    first = stream_calls(x.reshape(rows * parts, length), each, lists, SORTED=0, **tried)
    threads = max(128, 32 * ceil_div(k, 64))
    arguments = *lists.both, *found.both, parts, each, length, k
    return *first, KernelCall(
        CHAPTER.kernel("top_k_merge", THREADS=threads), rows, threads, arguments
    )


def cluster_calls(x: Any, k: int, found: Found, **tried: int) -> Calls:
    """``top_k_cluster.cu``, or ``top_k_stream.cu`` where a row has one block; ``tried`` are defines
    in place of ours."""
    rows, columns = x.shape
    cluster = tried.get("CLUSTER", blocks_of_a_row(rows, columns))
    if cluster == 1:
        return stream_calls(x, k, found, **{key: tried[key] for key in tried if key != "CLUSTER"})
    defines = stream_defines(max(ceil_div(columns, cluster), k), k) | {"CLUSTER": cluster} | tried
    threads, arguments = defines["THREADS"], (x, *found.both, columns, k)
    kernel = CHAPTER.kernel("top_k_cluster", **defines)
    return (KernelCall(kernel, rows * cluster, threads, arguments, shared_bytes(defines)),)


def warp_calls(x: Any, k: int, found: Found) -> Calls:
    """``top_k_warp.cu``, a warp per row. Raises LessonError for more columns, or a larger ``k``,
    than a warp selects from."""
    rows, columns = x.shape
    if not 0 < k <= min(WARP_MOST_K, columns) or columns > WARP_COLUMNS:
        limits = f"1 to {WARP_MOST_K} of {WARP_COLUMNS} columns at most"
        raise LessonError(f"k is {k} of {columns} columns: a warp selects {limits}.")
    each = ceil_div(columns, 32)
    groups = min(each, ceil_div(k + 8, 32))  # a few places more than k, so that halving ends sooner
    kernel = CHAPTER.kernel("top_k_warp", EACH=each, GROUPS=groups)
    return (KernelCall(kernel, ceil_div(rows, 8), 256, (x, *found.both, rows, columns, k)),)


# --- cases ---


@dataclass(frozen=True)
class TopKWorkload(Workload):
    """Work whose result is a Found's room, or PyTorch's values and indices of elements of ``x``."""

    x: Any = None
    rows: int = 0

    def numbers(self, result: Any) -> Any:
        """Values, then indices. PyTorch may take any of equal elements, and says so."""
        if isinstance(result, tuple):
            values, indices = (cp.asarray(tensor) for tensor in result)
            value_there = np.take_along_axis(self.x, indices, axis=1)
            wanted = largest(self.x, indices.shape[1])
            indices = np.where(value_there == values, wanted, -1)
        else:
            values, indices = Found(result, self.rows, result.size // 3 // self.rows).both
        # On the host: CuPy's kernels take subnormal numbers for zeros.
        host = [cp.asnumpy(each).astype(np.float64) for each in (values, indices)]
        return cp.asarray(np.stack(host))


def _torch_selections(x: Any, k: int) -> Runs:
    torch = torch_on_gpu()
    if torch is None:
        return {}
    (tensor,) = as_tensors(x)

    def top(x: Any) -> tuple[Any, ...]:
        return tuple(torch.topk(x, k, dim=-1))

    def top_unsorted() -> None:
        torch.topk(tensor, k, dim=-1, sorted=False)

    def top_of_sorted() -> tuple[Any, Any]:
        values, indices = torch.sort(tensor, dim=-1, descending=True)
        return values[:, :k], indices[:, :k]

    return {
        "torch.topk": lambda: top(tensor),
        "torch.topk, unsorted": top_unsorted,  # not checked: any order
        **compiled(top, tensor),
        "torch.sort": top_of_sorted,
    }


def _cub_sort(x: Any) -> Runs:
    """A row by CUB's radix sort of the orders, which are made before it is timed. Not checked: all
    columns come out, in ascending order."""
    if len(x) > 1:
        return {}
    keys, columns = orders(x[0]).astype(np.uint32), cp.arange(x.size, dtype=np.uint32)

    return unchecked(cub.sort_pairs(keys, columns))


def _work(calls: Callable[..., Calls], beside: bool) -> Callable[[SelectionSize], Workload]:
    def make(n: SelectionSize) -> Workload:
        rows, columns, k = n
        x, found = normal((rows, columns)), Found.of(rows, k)

        def expected() -> Any:
            indices = largest(x, k)
            return np.stack([double(np.take_along_axis(x, indices, axis=1)), double(indices)])

        return TopKWorkload(
            calls(x, k, found),
            output=found.room,
            expected=expected,
            libraries=_torch_selections(x, k) | _cub_sort(x) | rivals.top_k(x, k) if beside else {},
            x=x,
            rows=rows,
        )

    return make


ONE_ROW, SHORT_ROWS, LONG_ROWS = (1, 131072, 50), (4096, 1024, 50), (128, 131072, 50)
TEST_SIZES = ((1, 1, 1), (2, 1031, 50))


def _case(
    name: str, calls: Callable[..., Calls], *kernels: str, beside: bool = False, **other: Any
) -> Case:
    settings = {
        "gpu_sizes": (ONE_ROW, SHORT_ROWS, LONG_ROWS),
        "test_sizes": TEST_SIZES,
    } | other
    return Case(
        name,
        "the k largest of each row, fp32",
        CHAPTER.files(*(kernels or (name,))),
        _work(calls, beside),
        bytes=lambda n: 4 * n[0] * n[1] + 12 * n[0] * n[2],
        flops=lambda n: 0,
        ceiling="read",
        **settings,
    )


CASES = (
    _case("top_k_rounds", rounds_calls),
    _case("top_k_radix", radix_calls),
    _case("top_k_stream", stream_calls, beside=True),
    _case("top_k_merge", merge_calls, "top_k_stream", "top_k_merge"),
    _case(
        "top_k_cluster",
        cluster_calls,
        "top_k_cluster",
        "top_k_stream",
        beside=True,
        gpu_sizes=(ONE_ROW,),  # with as many rows as there are SMs it is top_k_stream
    ),
    _case(
        "top_k_warp",
        warp_calls,
        beside=True,
        gpu_sizes=(SHORT_ROWS,),
        test_sizes=((1, 1, 1), (9, 1024, 50)),
    ),
)
