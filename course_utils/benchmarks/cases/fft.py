"""The benchmarks of chapter 06: Fourier transforms beside cuFFT.

A size is (rows, points of a row): as many rows as make 2^24 complex points, 134 MB in one array,
more than an L2 cache holds. Complex numbers are pairs of float32 along an array's last axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ...devices.properties import sm_count
from ...devices.selection import ON_GPU, cp
from ...integers import ceil_div
from ..harness.arrays import double, normal
from ..harness.case import Case
from ..harness.chapter_kernels import ChapterKernels
from ..harness.workload import KernelCall, Workload
from ..libraries import cufft

CHAPTER = ChapterKernels("06_matmul_and_fft")
POINTS = 1 << 24  # of all rows
ERROR = 5e-6  # of one number, in units of the results' root mean square


@dataclass(frozen=True)
class Split:
    """How a block transforms rows: three radices, points a thread, rows a block, and how many
    blocks are to fit on a multiprocessor, which caps the registers."""

    radices: tuple[int, int, int]
    held: int = 16
    rows: int = 1
    blocks: int = 1

    @property
    def points(self) -> int:
        """Of one row."""
        return prod(self.radices)

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.points // self.held * self.rows

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block."""
        return 8 * (self.points + self.points // 16) * self.rows

    @property
    def defines(self) -> dict[str, int]:
        """The macros that the kernels take it from."""
        radices = {f"R{i}": radix for i, radix in enumerate(self.radices)}
        return radices | {"HELD": self.held, "TRANSFORMS": self.rows, "BLOCKS": self.blocks}


# The fastest of those that a search on an H200 tried.
SPLITS = {
    split.points: split
    for split in (
        Split((8, 8, 4), held=8, rows=4, blocks=16),
        Split((8, 8, 8), held=8, blocks=21),
        Split((16, 4, 16), rows=4, blocks=4),
        Split((16, 8, 16), blocks=8),
        Split((32, 4, 32), held=32, blocks=4),
        Split((32, 8, 32), held=32, blocks=2),
        Split((32, 16, 32), held=32),
    )
}


def in_pairs(numbers: Any) -> Any:
    """Complex numbers as pairs of float64 along a new last axis."""
    return cp.get_array_module(numbers).stack((numbers.real, numbers.imag), axis=-1)


def from_pairs(pairs: Any) -> Any:
    """The complex128 numbers that pairs along the last axis stand for."""
    pairs = double(pairs)
    return pairs[..., 0] + 1j * pairs[..., 1]


def expected(x: Any, axes: tuple[int, ...] = (-1,)) -> Any:
    """The transforms of pairs ``x`` in float64, as pairs; on a GPU, by cuFFT."""
    if ON_GPU:
        return in_pairs(cp.fft.fftn(from_pairs(x), axes=axes))
    return in_pairs(np.fft.fftn(from_pairs(x.get()), axes=axes))


def transform_work(
    shape: tuple[int, ...],
    launches: Callable[..., tuple[KernelCall, ...]],
    axes: tuple[int, ...] = (-1,),
    error: float = ERROR,
    cleared: tuple[Any, ...] = (),
) -> Workload:
    """The transforms of ``shape`` complex points; ``launches(x, out)`` calls the kernels."""
    x, out = normal((*shape, 2)), cp.empty((*shape, 2), cp.float32)
    return Workload(
        launches(x, out),
        output=out,
        expected=lambda: expected(x, axes),
        rtol=error,
        atol=error * prod(shape[axis] for axis in axes) ** 0.5,
        libraries=cufft.transforms(x, axes),
        cleared=cleared,
        same_bits=False,  # sines and cosines: the special function unit is not emulated bit by bit
    )


def _dft(size: tuple[int, int]) -> Workload:
    kernel = CHAPTER.kernel("fft_dft")
    rows, n = size
    grid = rows, ceil_div(n, 256)
    # The errors of n additions go up and down, in each of two parts.
    error = max(ERROR, 4e-7 * n**0.5)
    return transform_work(
        size, lambda x, out: (KernelCall(kernel, grid, 256, (x, out, n)),), error=error
    )


def stage_launches(kernel: Any, radix: int, block: int, x: Any, out: Any) -> tuple[KernelCall, ...]:
    """A launch for each stage, from ``x`` by way of scratch arrays to ``out``."""
    rows, n, _ = out.shape
    done = [1]
    while done[-1] * radix < n:
        done.append(done[-1] * radix)
    scratch = cp.empty_like(out)
    written = [out if i % 2 == 0 else scratch for i in range(len(done))][::-1]
    grid = rows, ceil_div(n // radix, block)
    return tuple(
        KernelCall(kernel, grid, block, (source, target, n, each))
        for source, target, each in zip([x, *written], written, done, strict=False)
    )


def _stages(name: str, radix: int) -> Callable[[tuple[int, int]], Workload]:
    def make(size: tuple[int, int]) -> Workload:
        defines = {} if name == "fft_radix2" else {"RADIX": radix}
        kernel = CHAPTER.kernel(name, **defines)
        block = 256 if name == "fft_radix2" else 128
        return transform_work(size, lambda x, out: stage_launches(kernel, radix, block, x, out))

    return make


def _shared(name: str, **defines: int) -> Callable[[tuple[int, int]], Workload]:
    """A block of 16 points a thread for each row."""

    def make(size: tuple[int, int]) -> Workload:
        rows, n = size
        kernel = CHAPTER.kernel(name, **{"POINTS": n} | defines)
        more = (roots(n),) if name == "fft_twiddles" else ()
        return transform_work(
            size, lambda x, out: (KernelCall(kernel, rows, n // 16, (x, out, *more)),)
        )

    return make


def roots(n: int) -> Any:
    """exp(-2 pi i k / n) for k < n, as pairs of float32."""
    return cp.asarray(in_pairs(np.exp(-2j * np.pi * np.arange(n) / n)).astype(np.float32))


def batched_call(x: Any, out: Any, split: Split, **defines: int) -> KernelCall:
    """``fft_batched`` on rows of ``split.points`` points, whatever axes lie before."""
    kernel = CHAPTER.kernel("fft_batched", **split.defines | defines)
    rows = x.size // 2 // split.points
    grid = ceil_div(rows, split.rows)
    return KernelCall(kernel, grid, split.threads, (x, out, rows), split.shared_bytes)


def _batched(size: tuple[int, int]) -> Workload:
    return transform_work(size, lambda x, out: (batched_call(x, out, SPLITS[size[1]]),))


def prefetch_call(x: Any, out: Any, ahead: int | None = None) -> KernelCall:
    """``fft_prefetch`` on rows of 8192 or 16384 points; by default half as many rows ahead as
    blocks run at once, which a search on an H200 found to be best."""
    rows, n, _ = x.shape
    split = SPLITS[n]
    radices = {f"R{i}": radix for i, radix in enumerate(split.radices)}
    at_once = split.blocks * (sm_count() if ON_GPU else 2)
    defines = radices | {"BLOCKS": split.blocks, "AHEAD": ahead or at_once // 2}
    kernel = CHAPTER.kernel("fft_prefetch", **defines)
    return KernelCall(kernel, rows, split.threads, (x, out, rows), split.shared_bytes)


def _prefetch(size: tuple[int, int]) -> Workload:
    return transform_work(size, lambda x, out: (prefetch_call(x, out),))


def cluster_call(x: Any, out: Any, across: tuple[int, int], size: int) -> KernelCall:
    """``fft_cluster`` on rows seen as matrices of ``across`` points, ``size`` blocks a cluster."""
    n1, n2 = across
    defines = {"N1": n1, "N2": n2, "BLOCKS": size}
    kernel = CHAPTER.kernel("fft_cluster", "sm_90a", **defines)
    threads, shared = n1 * n2 // 16 // size, 8 * (n1 // size) * (n2 + 1)
    return KernelCall(kernel, len(x) * size, threads, (x, out), shared)


def _cluster(size: tuple[int, int]) -> Workload:
    n1 = 128 if size[1] < 65536 else 256
    across = n1, size[1] // n1
    return transform_work(size, lambda x, out: (cluster_call(x, out, across, 8),))


def _ring(size: tuple[int, int]) -> Workload:
    """On a GPU four blocks run on each multiprocessor, and the rows of 512 KB between the two steps
    take 16 MB of the L2 cache: the fastest of those tried on an H200."""
    rows, n = size
    grid, lag, ring = (4 * sm_count(), 16, 32) if ON_GPU else (3, 1, 2)
    kernel = CHAPTER.kernel("fft_ring")
    counters = cp.zeros(2 * rows, cp.int32)
    middle = cp.empty((ring, n, 2), cp.float32)
    shared = 8 * 16 * (256 + 256 // 16 + 1)

    def launch(x: Any, out: Any) -> tuple[KernelCall, ...]:
        arguments = x, out, middle, counters, rows, lag, ring
        return (KernelCall(kernel, grid, 256, arguments, shared),)

    return transform_work(size, launch, cleared=(counters,))


def _real(size: tuple[int, int]) -> Workload:
    rows, n = size
    split = SPLITS[n // 2]
    radices = {f"R{i}": radix for i, radix in enumerate(split.radices)}
    kernel = CHAPTER.kernel("fft_real", **radices)
    x, out = normal(size), cp.empty((rows, n // 2 + 1, 2), cp.float32)

    def half_of_all() -> Any:
        given = double(x) if ON_GPU else double(x.get())
        return in_pairs(cp.get_array_module(given).fft.rfft(given))

    return Workload(
        (KernelCall(kernel, rows, n // 32, (x, out), split.shared_bytes),),
        output=out,
        expected=half_of_all,
        rtol=ERROR,
        atol=ERROR * n**0.5,
        libraries=cufft.transforms(x),
        same_bits=False,
    )


def _both_axes(size: tuple[int, int, int]) -> Workload:
    """Along the rows into a scratch array, then along the columns."""
    matrices, rows, columns = size
    kernel = CHAPTER.kernel("fft_columns", ROWS=rows)

    def launch(x: Any, out: Any) -> tuple[KernelCall, ...]:
        between = cp.empty_like(out)
        grid, shared = matrices * columns // 16, 8 * 16 * rows
        return (
            batched_call(x, between, SPLITS[columns]),
            KernelCall(kernel, grid, rows, (between, out, columns), shared),
        )

    return transform_work(size, launch, axes=(-2, -1))


def _flops(size: tuple[int, ...]) -> int:
    """5 n log2(n) for n points, as transforms are counted by custom."""
    return int(5 * prod(size) * np.log2(size[-1]))


def _case(
    name: str, make: Callable[[Any], Workload], points: tuple[int, ...], **other: Any
) -> Case:
    return Case(
        name,
        "FFT, complex fp32",
        CHAPTER.files(other.pop("file", name)),
        make,
        bytes=lambda size: 16 * prod(size),
        flops=_flops,
        gpu_sizes=tuple((POINTS // n, n) for n in points),
        **other,
    )


CASES = (
    _case("fft_dft", _dft, (4096,), test_sizes=((1, 1), (2, 300), (3, 61))),
    _case("fft_radix2", _stages("fft_radix2", 2), (4096,), test_sizes=((1, 2), (2, 1024), (3, 64))),
    *(
        _case(
            f"fft_radix_{radix}",
            _stages("fft_radix", radix),
            (4096,),
            file="fft_radix",
            test_sizes=((2, radix), (3, radix**2)),
        )
        for radix in (4, 8, 16)
    ),
    _case("fft_shared", _shared("fft_shared"), (256, 4096), test_sizes=((1, 4096), (3, 256))),
    _case("fft_padded", _shared("fft_padded"), (256, 4096), test_sizes=((1, 4096), (3, 256))),
    *(
        _case(
            f"fft_twiddles_{way}",
            _shared("fft_twiddles", TWIDDLES=number),
            (256, 4096),
            file="fft_twiddles",
            test_sizes=((1, 4096), (3, 256)),
        )
        for way, number in (("fast", 1), ("table", 2))
    ),
    _case(
        "fft_batched",
        _batched,
        tuple(SPLITS),
        test_sizes=((1, 512), (5, 1024), (2, 2048), (1, 4096), (1, 16384), (3, 256)),
    ),
    _case("fft_prefetch", _prefetch, (8192, 16384), test_sizes=((1, 16384), (2, 8192))),
    _case("fft_cluster", _cluster, (32768, 65536), test_sizes=((1, 16384),)),
    _case("fft_ring", _ring, (65536,), test_sizes=((3, 65536),)),
    Case(
        "fft_real",
        "FFT, real fp32",
        CHAPTER.files("fft_real"),
        _real,
        bytes=lambda size: size[0] * (4 * size[1] + 8 * (size[1] // 2 + 1)),
        flops=lambda size: _flops(size) // 2,
        gpu_sizes=((2 * POINTS // 4096, 4096),),
        test_sizes=((3, 2048),),
    ),
    Case(
        "fft_2d",
        "FFT, complex fp32, two dimensions",
        CHAPTER.files("fft_columns", "fft_batched"),
        _both_axes,
        bytes=lambda size: 16 * prod(size),
        flops=lambda size: int(5 * prod(size) * np.log2(size[1] * size[2])),
        gpu_sizes=((POINTS // 65536, 256, 256),),
        test_sizes=((2, 128, 256), (1, 256, 256)),
    ),
)
