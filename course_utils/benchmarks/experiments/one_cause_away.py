"""Why a kernel takes its time: each experiment takes one suspected cause away and keeps the rest.

A right result often needs it, so only times are kept. All are medians in
milliseconds.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...data.image_sets import digits
from ...devices import gpu
from ...devices.properties import need_gpu
from ...devices.selection import cp
from ...integers import ceil_div
from ...launching.modules import Module, load
from ...launching.tensor_maps import tensor_map
from ...observing.timing import bench
from ...paths import KERNELS, kernel_file
from ..cases.few_rows import split_calls
from ..cases.fft import POINTS, cluster_call, roots
from ..cases.hopper_attention import attention_call
from ..cases.pytorch_extensions.decoding import work_on
from ..harness.arrays import normal
from ..harness.float_bits import to_bf16
from ..harness.torch_runs import torch_on_gpu
from ..harness.workload import KernelCall
from .peaks import BATCHES

TRANSPOSE = kernel_file("transpose_naive", "04_first_kernels")
NAIVE = kernel_file("sgemm_naive", "06_matmul_and_fft")
TWIDDLES = kernel_file("fft_twiddles", "06_matmul_and_fft")
CLUSTER = kernel_file("fft_cluster", "06_matmul_and_fft")
SPLIT_K = tuple(
    kernel_file(name, "06_matmul_and_fft") for name in ("sgemm_split_k", "split_k_finish")
)
DECODE = tuple(
    kernel_file(name, "07_pytorch_extensions") for name in ("decode_mma", "decode_merge")
)
GEMMS = tuple(kernel_file(name, "08_cute_tma_blackwell") for name in ("gemm_wgmma", "gemm_stages"))
ATTENTION = kernel_file("attention_hopper", "08_cute_tma_blackwell")
SOURCES = (TRANSPOSE, NAIVE, TWIDDLES, CLUSTER, *SPLIT_K, *DECODE, *GEMMS, ATTENTION)

# x runs down a column of `in`, and the same loads past the L1 cache.
ALONG_X, ALONG_Y = (f"blockIdx.{d} * blockDim.{d} + threadIdx.{d}" for d in "xy")
READS_A_COLUMN = {
    f"int row = {ALONG_Y}": f"int column = {ALONG_Y}",
    f"int column = {ALONG_X}": f"int row = {ALONG_X}",
}
LOAD = "in[(size_t)row * columns + column]"
PAST_L1 = {LOAD: f"__ldcg(&{LOAD})"}
# Four rows of A share a line of 128 bytes, and each still has its own sector in it.
FOUR_ROWS_A_LINE = {"A[row * K + k]": "A[(row / 4 * (K / 8) + k / 8) * 32 + row % 4 * 8 + k % 8]"}
# Rows of A with more numbers than K: as many sectors and lines, in other banks if it isn't 32 more.
LONGER_ROWS = {extra: {"A[row * K + k]": f"A[row * (K + {extra}) + k]"} for extra in (1, 32)}
# All lanes load factor 0: the last index of a grid with one layer, which no compiler knows.
ONE_FACTOR = {"roots[k * (POINTS / n)]": "roots[k * (POINTS / n) * (gridDim.z - 1)]"}
# Each block sends its points to itself, by as many stores.
TO_ITSELF = {"m * BLOCKS / kHeld);": "cluster_rank());"}
# It stores into its own memory instead. Of the stores to one address the compiler leaves the last,
# and of the others not even the products, so this is a bound: more than the exchange is gone.
OWN_STORES = {"store_cluster_2(there, v[m].x, v[m].y);": "*here = v[m], (void)there;"}
ROOMY = '#include "roomy_softmax.cuh"'
ROOM = "kRoom = 8.0f"


def measure() -> dict[str, Any]:
    """All of them on this GPU, which has to be of compute capability 9.0. Raises LessonError where
    there is no GPU."""
    need_gpu()
    return {
        "transpose": transposes(),
        "sgemm_lines": lines(),
        "fft_factors": factors(),
        "fft_cluster": cluster_parts(),
        "split_k": split_passes(),
        "decode": decode_passes(),
        "gemm_tiles": gemm_tiles(),
        "attention_room": attention_room(),
        "mnist_host": mnist_host(),
        "sparse": sparse_products(),
        "matmul_kernels": matmul_kernels(),
    }


def time_of(*calls: Callable[[], Any]) -> float:
    """The median of 20 runs of ``calls``, one after the other, in milliseconds."""
    runs = [call.ready() if isinstance(call, KernelCall) else call for call in calls]
    return round(bench(lambda: [run() for run in runs]).median_ms, 5)


def edited(call: KernelCall, changes: Mapping[str, str]) -> KernelCall:
    """``call`` with pieces of its kernel's source exchanged, as ``Module.edited`` does it."""
    module = call.kernel.module
    assert isinstance(module, Module), "a kernel of the course's files"
    return replace(call, kernel=module.edited(changes).kernel)


def transposes(side: int = 8192) -> dict[str, float]:
    """A transpose that writes down columns, one that reads down them, and one that reads down them
    past L1."""
    module = load(TRANSPOSE)
    a, b = normal((side, side)), cp.empty((side, side), cp.float32)
    return {
        name: time_of(KernelCall(kernel, (side // 32,) * 2, (32, 32), (a, b, side, side)))
        for name, kernel in {
            "writes_a_column": module.kernel,
            "writes_a_column_reads_past_l1": module.edited(PAST_L1).kernel,
            "reads_a_column": module.edited(READS_A_COLUMN).kernel,
            "reads_a_column_past_l1": module.edited(READS_A_COLUMN | PAST_L1).kernel,
        }.items()
    }


def lines(n: int = 2048) -> dict[str, float]:
    """The naive product, whose 32 sectors of A for a warp are in 32 lines and one bank of L1, with
    rows of A longer by 1, so that the banks differ, and by 32, so that they don't; and with the
    sectors in 8 lines and four banks."""
    variants = {"K": {}, **{f"K + {x}": change for x, change in LONGER_ROWS.items()}}
    variants["8 lines"] = FOUR_ROWS_A_LINE
    b, c = normal((n, n), 1), cp.empty((n, n), cp.float32)
    found = {}
    for name, changes in variants.items():
        a = normal((n, n + int(name[4:]) if "+" in name else n))
        kernel = load(NAIVE).edited(changes).kernel
        found[name] = time_of(KernelCall(kernel, (n // 32,) * 2, (32, 32), (a, b, c, n, n, n)))
    return found


def factors() -> dict[str, dict[str, float]]:
    """The table of factors by the points of a row: with all its entries, with a single one that
    every lane loads by as many loads, and the fast factors, which load none."""
    found = {}
    for n in (256, 4096):
        x, out = normal((POINTS // n, n, 2)), cp.empty((POINTS // n, n, 2), cp.float32)
        table = load(TWIDDLES, defines={"POINTS": n, "TWIDDLES": 2})
        fast = load(TWIDDLES, defines={"POINTS": n, "TWIDDLES": 1})
        kernels = {"table": table, "one_entry": table.edited(ONE_FACTOR), "fast": fast}
        given = x, out, roots(n)
        found[str(n)] = {
            name: time_of(KernelCall(module.kernel, POINTS // n, n // 16, given))
            for name, module in kernels.items()
        }
    return found


def cluster_parts(n: int = 65536) -> dict[str, float]:
    """The transform by clusters, and the same with each block's points sent to itself. Then they
    are kept by ordinary stores, most of them left out."""
    x, out = normal((POINTS // n, n, 2)), cp.empty((POINTS // n, n, 2), cp.float32)
    call = cluster_call(x, out, (256, n // 256), 8)
    return {
        "cluster": time_of(call),
        "sent_to_itself": time_of(edited(call, TO_ITSELF)),
        "own_stores": time_of(edited(call, OWN_STORES)),
    }


def split_passes() -> dict[str, dict[str, float]]:
    """Both passes of 256 x 256 x 16384 in fp32, each alone, by the number of slices."""
    a, b, c = normal((256, 16384)), normal((16384, 256), 1), cp.empty((256, 256), cp.float32)
    kernels = load(SPLIT_K[0]).kernel, load(SPLIT_K[1]).kernel
    found = {}
    for slices in (16, 24, 32, 33, 34, 48, 64, 128):
        sums = cp.empty((slices, 256, 256), cp.float32)
        product, finish = split_calls((a, b, c), slices, sums, kernels)
        found[str(slices)] = {"product": time_of(product), "finish": time_of(finish)}
    return found


def decode_passes(tokens: int = 8192) -> dict[str, dict[str, float]]:
    """One new token after ``tokens``, both launches of ``decode_mma`` and each alone, by the number
    of parts."""
    found = {}
    for parts in (8, 16, 32, 64):
        work = work_on("decode_mma", (1, 32, 8, tokens), [tokens], parts)
        attention, merge = work.launches
        found[str(parts)] = {
            "both": time_of(attention, merge),
            "attention": time_of(attention),
            "merge": time_of(merge),
        }
    return found


def gemm_tiles(n: int = 8192) -> dict[str, float]:
    """The second and the third rung of Hopper's GEMM by the rows of a tile and its stages, at
    ``n``."""
    a, b = (to_bf16(normal((n, n), seed)) for seed in (0, 1))
    c = cp.empty((n, n), np.uint16)
    found = {}
    for rows, stages in ((64, 1), (128, 1), (128, 2), (128, 3)):
        maps = tensor_map(a, (rows, 64), swizzle=128), tensor_map(b, (128, 64), swizzle=128)
        file, defines = (GEMMS[0], {"BM": rows}) if stages == 1 else (GEMMS[1], {"STAGES": stages})
        call = KernelCall(
            load(file, defines=defines, arch="sm_90a").kernel,
            (ceil_div(n, 128), ceil_div(n, rows)),
            128,
            (*maps, c, n, n, n),
            stages * (rows + 128) * 128,
        )
        found[f"{rows} rows, {stages} of a ring"] = time_of(call)
    return found


def attention_room() -> dict[str, float]:
    """The last rung of attention at 2 x 16 x 8192 without a mask, as it is and without room above
    the largest score."""
    shape = 2, 8192, 16, 128
    q, k, v = (to_bf16(normal(shape, seed)) for seed in range(3))
    o, lse = cp.empty(shape, np.uint16), cp.empty((2, 16, 8192), cp.float32)
    header = (KERNELS / "common/roomy_softmax.cuh").read_text(encoding="utf-8")
    assert ROOM in header, "the header's constant"
    found = {}
    for name, room in (("room", ROOM), ("no_room", "kRoom = 0.0f"), ("room again", ROOM)):
        call = attention_call("attention_hopper", q, k, v, o, lse)
        changed = edited(call, {ROOMY: header.replace("#pragma once", "").replace(ROOM, room)})
        taken = changed.args[5]
        found[name] = time_of(partial(taken.fill, 0), changed)
    return found


def mnist_host(batch: int = 64, steps: int = 20) -> dict[str, float]:
    """A step of chapter 09's network on ``batch`` images by the host's clock. Then only its
    launches, on arrays that exist, these without a wait after each, and last with their arguments
    checked and converted beforehand."""
    net = SimpleNamespace(**run_path(str(KERNELS / "09_mnist_cnn/network.py")))
    kernels, network = net.layers.KERNELS, net.Network(seed=1)
    images, labels = digits()
    x, known = net.prepared(images[:batch]), cp.asarray(labels[:batch])
    network.step(x, known, 0.0)
    calls: list[KernelCall] = []
    before = dict(kernels)
    for name, kernel in before.items():
        kernels[name] = _noted(kernel, calls)
    network.step(x, known, 0.0)
    kernels.update(before)

    def all_calls() -> None:
        for call in calls:
            call()

    def without_waits() -> None:
        with gpu.without_waiting():
            all_calls()

    ready = [call.ready() for call in calls]
    return {
        "launches": len(calls),
        "step": _by_the_host(lambda: network.step(x, known, 0.0), steps),
        "launches_alone": _by_the_host(all_calls, steps),
        "without_waits": _by_the_host(without_waits, steps),
        "without_checks": _by_the_host(lambda: [run() for run in ready], steps),
    }


def _noted(kernel: Any, calls: list[KernelCall]) -> Callable[..., None]:
    """A stand-in for ``kernel`` that adds each of its calls to ``calls``."""

    def launch(grid: Any, block: Any, args: Any, shared_mem: int = 0) -> None:
        calls.append(KernelCall(kernel, grid, block, args, shared_mem))
        calls[-1]()

    return launch


def _by_the_host(run: Callable[[], Any], steps: int) -> float:
    """Milliseconds of one of ``steps`` runs, back to back, by the host's clock."""
    run()
    cp.cuda.Stream.null.synchronize()
    begin = time.perf_counter()
    for _ in range(steps):
        run()
    cp.cuda.Stream.null.synchronize()
    return round((time.perf_counter() - begin) / steps * 1e3, 4)


def sparse_products() -> dict[str, dict[str, float]] | None:
    """Dense and 2:4-sparse fp16 products by PyTorch, by M = N = K: each call, and each in a CUDA
    graph, where the host has no part. None without PyTorch."""
    torch = torch_on_gpu()
    if torch is None:
        return None
    found = {}
    for n in (1024, 4096, 8192):
        weight = torch.randn(n, n, device="cuda", dtype=torch.float16)
        weight.view(-1, 4)[:, ::2] = 0
        x = torch.randn(n, n, device="cuda", dtype=torch.float16)
        sparse = torch.sparse.to_sparse_semi_structured(weight)
        times = {}
        for name, matrix in (("dense", weight), ("sparse", sparse)):
            times[name] = time_of(partial(torch.mm, matrix, x))
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                torch.mm(matrix, x)
            times[f"{name}_graph"] = time_of(graph.replay)
        found[str(n)] = times
    return found


def matmul_kernels(n: int = 8192) -> dict[str, list[list[str]]] | None:
    """The launches of CuPy's matmul for W (n x n) times X (n x batch), for each batch of the
    roofline notebook: the kernels' names, by type. None without PyTorch, whose profiler names
    them."""
    torch = torch_on_gpu()
    if torch is None:
        return None
    found: dict[str, list[list[str]]] = {}
    for name, dtype in (("fp32", cp.float32), ("fp16", cp.float16)):
        w, found[name] = cp.ones((n, n), dtype), []
        for batch in BATCHES:
            x, y = cp.ones((n, batch), dtype), cp.empty((n, batch), dtype)
            cp.matmul(w, x, out=y)
            cp.cuda.runtime.deviceSynchronize()
            activities = [torch.profiler.ProfilerActivity.CUDA]
            with torch.profiler.profile(activities=activities) as seen:
                cp.matmul(w, x, out=y)
                cp.cuda.runtime.deviceSynchronize()
            names = [short(event.name) for event in seen.events() if event.device_time > 0]
            found[name].append(names)
    return found


def short(name: str) -> str:
    """The name of a kernel without its types: of CUTLASS's ``Kernel2`` the one that it wraps."""
    name = re.sub(r"^void |\(.*", "", name)
    wrapped = re.fullmatch(r"cutlass::Kernel2<(\w+)>", name)
    return wrapped[1] if wrapped else name.partition("<")[0].strip()
