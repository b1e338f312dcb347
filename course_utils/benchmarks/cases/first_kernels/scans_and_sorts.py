"""Running sums, the selection of elements, and radix sorts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....devices.selection import ON_GPU, cp
from ...baselines import cub
from ...case import Case, KernelCall, Work, blocks, double, normal, torch_on_gpu
from .common import as_tensors, files_of, kernel_named, resident_grid

SCAN_TILE = 8192  # elements of a block of scan_look_back and select_look_back
SORT_THREADS, SORT_ITEMS = 384, 16
DIGITS, PASSES = 256, 4


def _look_back(kernel: Any, tiles: int, *args: Any) -> tuple[KernelCall, Any]:
    """A launch whose blocks look back, and its words and ticket, to be cleared."""
    state = cp.zeros(tiles + 1, cp.uint64)
    words, ticket = state[:tiles], state[tiles:].view(cp.uint32)
    *first, n = args
    return KernelCall(kernel, tiles, 512, (*first, words, ticket, n)), state


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
    sums = cp.empty(blocks(n, tile), cp.float32)
    calls = [KernelCall(kernel_named(name), sums.size, threads, (x, out, sums, n))]
    if sums.size > 1:
        upto = cp.empty_like(sums)
        calls += _in_three_launches(name, sums, upto)
        add = kernel_named("add_offsets")
        calls.append(KernelCall(add, blocks(n, 256), 256, (out, upto, tile, n)))
    return calls


def _scan(name: str) -> Callable[[int], Work]:
    def make(n: int) -> Work:
        x, out = normal(n), cp.empty(n, cp.float32)
        if name == "scan_look_back":
            call, state = _look_back(kernel_named(name), blocks(n, SCAN_TILE), x, out, n)
            calls, cleared = [call], (state,)
        else:
            calls, cleared = _in_three_launches(name, x, out), ()
        libraries = cub.scan_fp32(x)
        if torch := torch_on_gpu():
            (tensor,) = as_tensors(x)
            libraries["torch.cumsum"] = lambda: torch.cumsum(tensor, 0)
        return Work(
            tuple(calls),
            output=out,
            expected=lambda: cp.cumsum(double(x)),
            # The sum goes up and down like sqrt(n), and may be handed on tile by tile.
            atol=2**-22 * (n * (64 + n / SCAN_TILE)) ** 0.5,
            libraries=libraries,
            cleared=cleared,
            same_bits=name != "scan_look_back",
        )

    return make


def _select(limit: float) -> Callable[[int], Work]:
    def make(n: int) -> Work:
        x, out, count = normal(n), cp.empty(n, cp.float32), cp.empty(1, cp.uint32)
        kept = int((x > limit).sum())
        kernel = kernel_named("select_look_back")
        call, state = _look_back(kernel, blocks(n, SCAN_TILE), x, limit, out, count, n)
        libraries = cub.select_above(x, limit, kept)
        return Work(
            (call,),
            output=out[:kept],
            expected=lambda: double(x[x > limit]),
            libraries=libraries,
            cleared=(state,),
        )

    return make


def _keys(n: int) -> Any:
    return cp.asarray(np.random.default_rng(0).integers(0, 2**32, n, dtype=np.uint32))


def _sort(pairs: bool) -> Callable[[int], Work]:
    def make(n: int) -> Work:
        tile = SORT_THREADS * SORT_ITEMS
        tiles = blocks(n, tile)
        keys, values = _keys(n), cp.arange(n, dtype=cp.uint32)
        one, other = (cp.empty((1 + pairs, n), cp.uint32) for _ in range(2))
        state = cp.zeros(PASSES * (DIGITS + 1 + tiles * DIGITS), cp.uint32)
        counts, tickets, words = (
            part.reshape(PASSES, -1)
            for part in np.split(state, (PASSES * DIGITS, PASSES * DIGITS + PASSES))
        )
        kernel = kernel_named("sort_pass", THREADS=SORT_THREADS, ITEMS=SORT_ITEMS, PAIRS=int(pairs))
        grid = resident_grid(n, 512, 16)
        launches = [KernelCall(kernel_named("digit_counts"), grid, 512, (keys, counts, n))]
        source = keys, values
        for number in range(PASSES):
            target = one if number % 2 else other
            arrays = source[0], target[0], source[-1], target[-1]
            args = *arrays, counts[number], words[number], tickets[number], number, n
            launches.append(KernelCall(kernel, tiles, SORT_THREADS, args))
            source = target

        def expected():
            if not pairs:
                return cp.sort(keys)
            order = np.argsort(keys.get() if ON_GPU else keys, kind="stable")
            return cp.asarray(np.stack([(keys.get() if ON_GPU else keys)[order], order]))

        return Work(
            tuple(launches),
            output=one if pairs else one[0],
            expected=expected,
            libraries=cub.sort_pairs(keys, values) if pairs else cub.sort_keys(keys),
            cleared=(state,),
        )

    return make


LARGE = 1 << 28
CASES = (
    *(
        Case(
            name,
            "scan, fp32",
            files_of(name) if name == "scan_look_back" else files_of(name, "add_offsets"),
            _scan(name),
            bytes=lambda n: 8 * n,
            flops=lambda n: n,
            gpu_sizes=(LARGE,),
            test_sizes=(1, 8193, 40001) if name == "scan_look_back" else (1, 700, 9001),
        )
        for name in (*SCANS, "scan_look_back")
    ),
    *(
        Case(
            f"select_look_back_{percent}",
            f"select, {percent} % kept",
            files_of("select_look_back"),
            _select(limit),
            bytes=lambda n, share=percent / 100: 4 * n + int(4 * n * share),
            flops=lambda n: 0,
            gpu_sizes=(LARGE,),
            test_sizes=(8193, 20001),
        )
        for percent, limit in ((1, 2.3263), (50, 0.0), (99, -2.3263))
    ),
    *(
        Case(
            name,
            what,
            files_of("digit_counts", "sort_pass"),
            _sort(pairs),
            # One reading for the counts; each pass reads and writes all.
            bytes=lambda n, each=4 + 4 * pairs: (4 + PASSES * 2 * each) * n,
            flops=lambda n: 0,
            gpu_sizes=(LARGE,),
            test_sizes=(1, 6145, 15001),
        )
        for name, what, pairs in (
            ("radix_sort", "sort of 32-bit keys", False),
            ("radix_sort_pairs", "sort of keys with values", True),
        )
    ),
)
