"""A mixture of experts: routing, sorting by expert, grouped GEMMs, beside PyTorch's grouped mm.

The size of a grouped product is (rows, experts, N, K, skewed), where skewed is 0 or 1. The size of
a layer is (tokens, experts, top, width, hidden). bf16 arrays carry bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....devices.selection import cp
from ....integers import ceil_div
from ....launching.tensor_maps import tensor_map
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.float_bits import from_bf16, to_bf16
from ...harness.torch_runs import as_tensors, compiled_whole, torch_on_gpu
from ...harness.workload import KernelCall, Workload
from ..hopper import multiprocessors
from ..matmul import SUM_ERROR, Bf16Work
from .operators import CHAPTER

ROWS = 128  # of a tile
CHUNK = 1024  # assignments that a block counts or places
STAGES = 4
SHARED = STAGES * 49152 + (1 << 15)  # of grouped_hopper: stages, and boxes of C
MMA_SHARED = 3 * 32768  # of grouped_loop and grouped_table
GroupsSize = tuple[int, int, int, int, int]  # rows, experts, N, K, skewed
LayerSize = tuple[int, int, int, int, int]  # tokens, experts, top, width, hidden


def group_sizes(rows: int, experts: int, skewed: bool) -> Any:
    """How many rows each expert has: all the same, or as 1, 1/2, 1/3... in a mixed order, and the
    last one none."""
    shares = np.ones(experts)
    if skewed:
        shares = 1 / (1 + np.random.default_rng(experts).permutation(experts))
        shares[-1] = 0
    sizes = np.floor(rows * shares / shares.sum()).astype(int)
    sizes[np.argmax(shares)] += rows - sizes.sum()
    return sizes


@dataclass(frozen=True)
class Groups:
    """Where the rows of each expert are, as scan_experts leaves it on the device."""

    offsets: Any
    table: Any
    tiles: Any
    sizes: Any = None


def groups_of(sizes: Any) -> Groups:
    """The offsets and the table of row tiles for experts with these numbers of rows."""
    ends = np.cumsum(sizes)
    table = [
        (expert, first, end, 0)
        for expert, (size, end) in enumerate(zip(sizes, ends, strict=True))
        for first in range(end - size, end, ROWS)
    ]
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    rows = np.array(table or [(0, 0, 0, 0)], np.int32)
    tiles = cp.asarray([len(table)], np.int32)
    return Groups(cp.asarray(offsets), cp.asarray(rows), tiles, sizes)


def grouped_calls(name: str, a: Any, b: Any, c: Any, groups: Groups) -> tuple[KernelCall, ...]:
    """The kernel ``name`` on ``a`` (rows, K) sorted by expert, weights ``b`` (experts, N, K) and
    the result ``c`` (rows, N). For grouped_swiglu the weights have 2 N rows. The arrays have to
    live as long as it is used."""
    (rows, k), (experts, _, _), n = a.shape, b.shape, c.shape[1]
    if name == "grouped_loop":
        ends = np.cumsum(groups.sizes)
        return tuple(
            KernelCall(
                CHAPTER.kernel(name),
                (ceil_div(n, ROWS), ceil_div(size, ROWS)),
                256,
                (a[end - size : end], b[expert], c[end - size : end], int(size), n, k),
                MMA_SHARED,
            )
            for expert, (size, end) in enumerate(zip(groups.sizes, ends, strict=True))
            if size
        )
    most = rows // ROWS + experts  # row tiles that there can be
    if name == "grouped_table":
        arguments = a, b, c, groups.table, groups.tiles, n, k
        return (
            KernelCall(CHAPTER.kernel(name), (ceil_div(n, ROWS), most), 256, arguments, MMA_SHARED),
        )
    maps = (
        tensor_map(x, (box, 64), swizzle=128)
        for x, box in ((a, ROWS), (b.reshape(-1, k), ROWS), (c, 16))
    )
    kernel = CHAPTER.kernel(name, "sm_90a")
    width = 128 if name == "grouped_swiglu" else 256
    grid = min(multiprocessors(), most * ceil_div(n, width))
    return (KernelCall(kernel, grid, 384, (*maps, c, groups.table, groups.tiles, n, k), SHARED),)


def grouped_product(a: Any, b: Any, sizes: Any) -> Any:
    """The reference in float64: the rows of each expert times its weights."""
    found, begin = cp.zeros((len(a), b.shape[1]), np.float64), 0
    for expert, size in enumerate(sizes):
        rows = slice(begin, begin := begin + int(size))
        found[rows] = double(from_bf16(a[rows])) @ double(from_bf16(b[expert])).T
    return found


def swiglu(both: Any) -> Any:
    """silu(gate) * up, where a row of ``both`` has the gate and then the other factor."""
    gate, up = both[:, : both.shape[1] // 2], both[:, both.shape[1] // 2 :]
    return gate / (1 + np.exp(-gate)) * up


def work_on(name: str, sizes: Any, n: int, k: int, seed: int = 0) -> Workload:
    """The kernel ``name`` on experts with these numbers of rows. Weights are scaled so that results
    have a variance of one."""
    gated = name == "grouped_swiglu"
    rows, experts = int(sum(sizes)), len(sizes)
    a = to_bf16(normal((rows, k), seed))
    b = to_bf16(k**-0.5 * normal((experts, 2 * n if gated else n, k), seed + 1))
    c = cp.empty((rows, n), np.uint16)

    def expected() -> Any:
        whole = grouped_product(a, b, sizes)
        return swiglu(whole) if gated else whole

    return Bf16Work(
        grouped_calls(name, a, b, c, groups_of(sizes)),
        output=c,
        expected=expected,
        rtol=2**-6 if gated else 2**-8,
        atol=2**-6 if gated else 4 * k**0.5 * SUM_ERROR,
        libraries=_torch_products(a, b, sizes, gated),
        same_bits=False,
        as_a_graph=name == "grouped_loop",
    )


def grouped_mm(torch: Any) -> Callable[..., Any]:
    """PyTorch's grouped product, by its public name where it has one."""
    public = getattr(torch.nn.functional, "grouped_mm", None)
    return public or torch._grouped_mm  # type: ignore[no-any-return]


def _torch_products(a: Any, b: Any, sizes: Any, gated: bool) -> dict[str, Callable[[], Any]]:
    torch = torch_on_gpu()
    if torch is None:
        return {}
    rows, weights = as_tensors(a, b)
    ends = torch.as_tensor(np.cumsum(sizes), dtype=torch.int32, device="cuda")
    multiply, across = grouped_mm(torch), weights.transpose(1, 2)

    def product() -> Any:
        return multiply(rows, across, offs=ends)

    def with_gate() -> Any:
        gate, up = product().chunk(2, dim=-1)
        return torch.nn.functional.silu(gate) * up

    if gated:
        fused = compiled_whole(_gate(torch))
        return {
            "torch grouped_mm and silu": _bits(torch, with_gate),
            "torch grouped_mm and compiled silu": _bits(torch, lambda: fused(product())),
        }
    return {"torch grouped_mm": _bits(torch, product)}


def _gate(torch: Any) -> Callable[[Any], Any]:
    def gate(both: Any) -> Any:
        first, up = both.chunk(2, dim=-1)
        return torch.nn.functional.silu(first) * up

    return gate


def _bits(torch: Any, call: Callable[[], Any]) -> Callable[[], Any]:
    """The call, with its bf16 result as bits that CuPy can look at."""

    def run() -> Any:
        return cp.asarray(call().view(torch.int16)).view(np.uint16)

    return run


# --- a whole layer ---


def layer_calls(
    x: Any, logits: Any, up: Any, down: Any, y: Any, top: int
) -> tuple[KernelCall, ...]:
    """The eight launches of a layer: ``x`` (tokens, width) and ``logits`` (tokens, experts) give
    ``y`` (tokens, width). ``up`` is (experts, 2 hidden, width), ``down`` (experts, width, hidden).
    No launch needs a number from the host that another one finds."""
    (tokens, width), (_, experts), hidden = x.shape, logits.shape, down.shape[2]
    n = tokens * top
    chunks, most = ceil_div(n, CHUNK), n // ROWS + experts
    chosen, weights = cp.empty((tokens, top), np.int32), cp.empty((tokens, top), np.float32)
    counts, before = (cp.empty((chunks, experts), np.int32) for _ in range(2))
    places = cp.empty(n, np.int32)
    groups = Groups(
        cp.empty(experts + 1, np.int32), cp.zeros((most, 4), np.int32), cp.empty(1, np.int32)
    )
    rows, results = cp.empty((n, width), np.uint16), cp.empty((n, width), np.uint16)
    inner = cp.empty((n, hidden), np.uint16)
    route = CHAPTER.kernel("route_top_k", EXPERTS=experts, TOP=top)
    count, place = (CHAPTER.kernel(f, EXPERTS=experts) for f in ("count_experts", "place_tokens"))
    scan = CHAPTER.kernel("scan_experts", EXPERTS=experts)
    gather, combine = (CHAPTER.kernel(f, TOP=top) for f in ("gather_rows", "combine_rows"))
    scanned = counts, before, groups.offsets, groups.table, groups.tiles, chunks
    return (
        KernelCall(route, ceil_div(tokens, 8), 256, (logits, chosen, weights, tokens)),
        KernelCall(count, chunks, CHUNK, (chosen, counts, n)),
        KernelCall(scan, 1, 256, scanned),
        KernelCall(place, chunks, CHUNK, (chosen, groups.offsets, before, places, n)),
        KernelCall(gather, tokens, 128, (x, places, rows, width)),
        *grouped_calls("grouped_swiglu", rows, up, inner, groups),
        *grouped_calls("grouped_hopper", inner, down, results, groups),
        KernelCall(combine, tokens, 128, (results, places, weights, y, width)),
    )


def layer_of(x: Any, logits: Any, up: Any, down: Any, top: int) -> Any:
    """The reference in float64, for bits of bf16."""
    order = cp.argsort(-logits, axis=1, kind="stable")[:, :top]
    best = double(cp.take_along_axis(logits, order, axis=1))
    weights = np.exp(best - best[:, :1])
    weights /= weights.sum(axis=1, keepdims=True)
    y = cp.zeros(x.shape, np.float64)
    for expert in range(logits.shape[1]):
        token, choice = cp.nonzero(order == expert)
        if len(token):
            both = double(from_bf16(x[token])) @ double(from_bf16(up[expert])).T
            result = swiglu(both) @ double(from_bf16(down[expert])).T
            y[token] += weights[token, choice][:, None] * result
    return y


def layer_work(n: LayerSize) -> Workload:
    """A layer with random logits."""
    tokens, experts, top, width, hidden = n
    x, logits = to_bf16(normal((tokens, width))), normal((tokens, experts), 1)
    up = to_bf16(width**-0.5 * normal((experts, 2 * hidden, width), 2))
    down = to_bf16(hidden**-0.5 * normal((experts, width, hidden), 3))
    y = cp.empty((tokens, width), np.uint16)
    return Bf16Work(
        layer_calls(x, logits, up, down, y, top),
        output=y,
        expected=lambda: layer_of(x, logits, up, down, top),
        rtol=2**-6,
        atol=2**-6,
        libraries=_torch_layer(x, logits, up, down, top),
        same_bits=False,
    )


def _torch_layer(x: Any, logits: Any, up: Any, down: Any, top: int) -> dict[str, Callable[[], Any]]:
    torch = torch_on_gpu()
    if torch is None:
        return {}
    rows, first, second, scores = as_tensors(x, up, down, logits)
    multiply, each = grouped_mm(torch), torch.arange(len(up), device="cuda")

    def combine(results: Any, weights: Any) -> Any:
        return (results * weights[..., None]).sum(1).bfloat16()

    def layer(gate: Callable[[Any], Any], combine: Callable[[Any, Any], Any]) -> Any:
        best, chosen = scores.topk(top, dim=-1)
        order = chosen.view(-1).argsort(stable=True)
        ends = (chosen.view(-1, 1) == each).sum(0).cumsum(0, dtype=torch.int32)
        inner = gate(multiply(rows[order // top], first.transpose(1, 2), offs=ends))
        results = multiply(inner, second.transpose(1, 2), offs=ends)
        home = torch.empty_like(results)
        home[order] = results
        return combine(home.view(-1, top, home.shape[1]), best.softmax(-1))

    # No CUDA graph: a captured grouped_mm may read freed memory (PyTorch's issue 169970).
    fused = [compiled_whole(part) for part in (_gate(torch), combine)]
    return {
        "torch with grouped_mm": _bits(torch, lambda: layer(_gate(torch), combine)),
        "torch with grouped_mm, compiled parts": _bits(torch, lambda: layer(*fused)),
    }


# --- cases ---

GROUPED_SIZES: tuple[GroupsSize, ...] = (
    (16384, 8, 4096, 4096, 0),
    (16384, 8, 4096, 4096, 1),
    (32768, 64, 2048, 2048, 0),
    (32768, 64, 2048, 2048, 1),
    (512, 64, 2048, 2048, 0),
)


def _grouped(
    name: str, what: str, *, sustained: tuple[GroupsSize, ...] = (), halves: int = 1
) -> Case:
    def make(n: GroupsSize) -> Workload:
        rows, experts, columns, k, skewed = n
        return work_on(name, group_sizes(rows, experts, bool(skewed)), columns, k)

    return Case(
        name,
        what,
        CHAPTER.files(name),
        make,
        bytes=lambda n: 2 * (n[0] * n[3] + halves * n[1] * n[2] * n[3] + n[0] * n[2]),
        flops=lambda n: 2 * halves * n[0] * n[2] * n[3],
        gpu_sizes=GROUPED_SIZES,
        test_sizes=((5, 2, 8, 16, 0), (150, 3, 136, 72, 1), (40, 5, 24, 136, 1)),
        ceiling="read",
        peak="bf16",
        sustained_sizes=sustained,
    )


def _layer_flops(n: LayerSize) -> int:
    tokens, _, top, width, hidden = n
    return 6 * tokens * top * width * hidden


CASES = (
    _grouped("grouped_loop", "grouped GEMM, bf16"),
    _grouped("grouped_table", "grouped GEMM, bf16"),
    _grouped("grouped_hopper", "grouped GEMM, bf16", sustained=GROUPED_SIZES[0:4:3]),
    _grouped("grouped_swiglu", "grouped GEMM with SwiGLU, bf16", halves=2),
    Case(
        "moe_layer",
        "a layer of experts, bf16",
        CHAPTER.files(
            "route_top_k",
            "count_experts",
            "scan_experts",
            "place_tokens",
            "gather_rows",
            "grouped_swiglu",
            "grouped_hopper",
            "combine_rows",
        ),
        layer_work,
        bytes=lambda n: 2 * (2 * n[0] * n[3] + 3 * n[1] * n[3] * n[4]),
        flops=_layer_flops,
        gpu_sizes=((8192, 8, 2, 4096, 4096), (8192, 64, 4, 2048, 1024)),
        test_sizes=((1, 4, 2, 64, 64), (33, 40, 4, 72, 40)),
        ceiling="read",
        peak="bf16",
    ),
)
