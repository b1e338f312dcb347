"""Running sums, the selection of elements, and radix sorts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ....devices.properties import sm_count
from ....devices.selection import cp
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.torch_runs import as_tensors, torch_on_gpu
from ...harness.workload import KernelCall, Workload
from ...libraries import cub
from .common import CHAPTER, FROM_SMALL_TO_LARGE

SCAN_THREADS, SCAN_TILE, LOOK_BACK_TILE, SELECT_TILE = (
    512,
    8192,
    16384,
    8192,
)  # of a block: threads, and elements
FEW = 1 << 18  # keys: fewer are sorted in small tiles, so that more blocks have one
SORT = {  # threads of a block, keys of a thread, blocks that an SM has room for: from a search
    False: {"THREADS": 384, "ITEMS": 34, "BLOCKS": 3},
    True: {"THREADS": 512, "ITEMS": 24, "BLOCKS": 2},  # with a value for each key
}
SORT_FEW = {"THREADS": 256, "ITEMS": 12, "BLOCKS": 4}
COPIES = 32  # of each counter of a digit, in shared memory
STAGES = 5  # tiles in shared memory, of scan_specialized
DIGITS, PASSES = 256, 4


def _look_back(kernel: Any, tiles: int, *args: Any) -> tuple[KernelCall, Any]:
    """A launch whose tiles look back, and their words, which are to be cleared."""
    words = cp.zeros(tiles + 1, cp.uint64)
    *first, n = args
    return KernelCall(kernel, tiles, SCAN_THREADS, (*first, words, n)), words


SCANS = {  # threads of a block, and elements
    "scan_hillis_steele": (256, 256),
    "scan_blelloch": (256, 512),
    "scan_warps": (256, 256),
    "scan_tiles": (512, SCAN_TILE),
}


def _in_three_launches(name: str, x: Any, out: Any) -> list[KernelCall]:
    """Scans the tiles, then their sums in the same way, and adds those to the tiles."""
    threads, tile = SCANS[name]
    n = x.size
    sums = cp.empty(ceil_div(n, tile), cp.float32)
    calls = [KernelCall(CHAPTER.kernel(name), sums.size, threads, (x, out, sums, n))]
    if sums.size > 1:
        upto = cp.empty_like(sums)
        calls += _in_three_launches(name, sums, upto)
        add = CHAPTER.kernel("add_offsets")
        calls.append(KernelCall(add, ceil_div(n, 256), 256, (out, upto, tile, n)))
    return calls


def _scan(name: str) -> Callable[[int], Workload]:
    def make(n: int) -> Workload:
        x, out = normal(n), cp.empty(n, cp.float32)
        cleared: tuple[Any, ...] = ()
        if name == "scan_look_back":
            call, words = _look_back(CHAPTER.kernel(name), ceil_div(n, LOOK_BACK_TILE), x, out, n)
            calls, cleared = [call], (words,)
        elif name == "scan_specialized":
            tiles = ceil_div(n, SCAN_TILE)
            words, grid = cp.zeros(tiles + 1, cp.uint64), min(tiles, sm_count())
            args, shared = (x, out, words, tiles, n), 4 * SCAN_TILE * STAGES
            kernel = CHAPTER.kernel(name, STAGES=STAGES)
            calls, cleared = [KernelCall(kernel, grid, 704, args, shared)], (words,)
        else:
            calls = _in_three_launches(name, x, out)
        libraries = cub.scan_fp32(x)
        if torch := torch_on_gpu():
            (tensor,) = as_tensors(x)
            libraries["torch.cumsum"] = lambda: torch.cumsum(tensor, 0)
        return Workload(
            tuple(calls),
            output=out,
            expected=lambda: cp.cumsum(double(x)),
            # The sum goes up and down like sqrt(n), and may be handed on tile by tile.
            atol=2**-22 * (n * (64 + n / SCAN_TILE)) ** 0.5,
            libraries=libraries,
            cleared=cleared,
            same_bits=name in SCANS,
        )

    return make


def _select(limit: float) -> Callable[[int], Workload]:
    def make(n: int) -> Workload:
        x = normal(n)
        kept = int((x > limit).sum())
        out, count = cp.empty(kept, cp.float32), cp.empty(1, cp.uint32)  # no room for more
        kernel = CHAPTER.kernel("select_look_back")
        call, words = _look_back(kernel, ceil_div(n, SELECT_TILE), x, limit, out, count, n)
        return Workload(
            (call,),
            output=out,
            expected=lambda: double(x[x > limit]),
            libraries=cub.select_above(x, limit, kept),
            cleared=(words,),
        )

    return make


def _keys(n: int) -> Any:
    return cp.asarray(np.random.default_rng(0).integers(0, 2**32, n, dtype=np.uint32))


def _sort(pairs: bool) -> Callable[[int], Workload]:
    def make(n: int) -> Workload:
        shape = SORT_FEW if n < FEW else SORT[pairs]
        threads, items, _ = shape.values()
        tiles = ceil_div(n, threads * items)
        keys, values = _keys(n), cp.arange(n, dtype=cp.uint32)
        state = cp.zeros(PASSES * (DIGITS + tiles * DIGITS + 1), cp.uint32)  # cleared as one
        of_digits = PASSES * DIGITS
        counts, tickets, words = state[:of_digits], state[-PASSES:], state[of_digits:-PASSES]
        one, other = ([cp.empty(n, cp.uint32) for _ in range(1 + pairs)] for _ in range(2))
        kernel = CHAPTER.kernel("sort_pass", PAIRS=int(pairs), **shape)
        count = CHAPTER.kernel("digit_counts", COPIES=COPIES)
        grid = min(sm_count(), ceil_div(n, 1024 * 16))
        calls = [KernelCall(count, grid, 1024, (keys, counts, n), 4096 * COPIES)]
        source = [keys, values][: 1 + pairs]
        for number in range(PASSES):
            target = one if number % 2 else other
            arrays = source[0], target[0], source[-1], target[-1]
            args = *arrays, counts, words, tickets, number, n
            calls.append(KernelCall(kernel, tiles, threads, args, 4 * threads * items))
            source = target

        def expected() -> Any:
            if not pairs:
                return cp.sort(keys)
            both = keys.astype(cp.uint64) << 32 | values  # equal keys in the order they had
            return (cp.sort(both) & 0xFFFFFFFF).astype(cp.uint32)

        libraries = cub.sort_pairs(keys, values) if pairs else cub.sort_keys(keys)
        return Workload(
            tuple(calls),
            output=one[-1],
            expected=expected,
            libraries=libraries,
            cleared=(state,),
        )

    return make


LARGE = 1 << 28


def _select_bytes(kept: float, n: int) -> int:
    """``kept`` is the fraction of the n elements that is written."""
    return 4 * n + int(4 * n * kept)


def _sort_bytes(pairs: bool, n: int) -> int:
    """One reading for the counts; each pass reads and writes all."""
    return (4 + PASSES * 2 * (4 + 4 * pairs)) * n


CASES = (
    *(
        Case(
            name,
            "scan, fp32",
            CHAPTER.files(name, "add_offsets") if name in SCANS else CHAPTER.files(name),
            _scan(name),
            bytes=lambda n: 8 * n,
            flops=lambda n: n,
            gpu_sizes=(LARGE,) if name in SCANS else FROM_SMALL_TO_LARGE,
            test_sizes={"scan_look_back": (1, 16385, 40001), "scan_specialized": (16384,)}.get(
                name, (1, 700, 9001)
            ),
        )
        for name in (*SCANS, "scan_look_back", "scan_specialized")
    ),
    *(
        Case(
            f"select_look_back_{percent}",
            f"select, {percent} % kept",
            CHAPTER.files("select_look_back"),
            _select(limit),
            bytes=partial(_select_bytes, percent / 100),
            flops=lambda n: 0,
            gpu_sizes=FROM_SMALL_TO_LARGE,
            test_sizes=(8193, 20001),
        )
        for percent, limit in ((1, 2.3263), (50, 0.0), (99, -2.3263))
    ),
    *(
        Case(
            name,
            what,
            CHAPTER.files("digit_counts", "sort_pass"),
            _sort(pairs),
            bytes=partial(_sort_bytes, pairs),
            flops=lambda n: 0,
            gpu_sizes=FROM_SMALL_TO_LARGE,
            test_sizes=(1, 6145, 15001),
        )
        for name, what, pairs in (
            ("radix_sort", "sort of 32-bit keys", False),
            ("radix_sort_pairs", "sort of keys with values", True),
        )
    ),
)
