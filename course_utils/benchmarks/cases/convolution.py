"""The convolutions of chapter 06 beside cuDNN.

A size is (images, channels, filters, height, width, side of the filter); the stride is 1 and half a
filter of zeros lies around an image, so that a result is as large as its image.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...checking.tolerance import tolerance_for, unit_roundoff
from ...devices.selection import cp
from ...integers import ceil_div
from ...launching.tensor_maps import tensor_map
from ..harness.arrays import double, normal
from ..harness.case import Case, Size
from ..harness.chapter_kernels import ChapterKernels
from ..harness.float_bits import from_bf16, to_bf16
from ..harness.workload import KernelCall, Workload
from ..libraries import cudnn
from .matmul import Bf16Work, sms_for_tiles

CHAPTER = ChapterKernels("06_matmul_and_fft")
RESNET = (256, 64, 64, 56, 56, 3)  # of the second stage of a ResNet, the batch aside
FIRST = tuple((n, 1, 16, 28, 28, 3) for n in (64, 256, 1024))  # the layers of chapter 09's network
SECOND = tuple((n, 16, 32, 14, 14, 3) for n in (64, 256, 1024))
SIDES = tuple((64, 64, 64, 56, 56, side) for side in (3, 5, 7, 9, 11))
ROW_TILES: dict[
    tuple[int, ...], dict[str, int]
] = {  # what differs from the values in the file; those won a search on an H200
    FIRST[0][1:3]: {"CC": 1, "BF": 16, "TN": 4, "SEG": 7, "BSEG": 32, "BLOCKS": 4},
    SECOND[0][1:3]: {"CC": 4, "BF": 32, "TN": 4, "SEG": 14, "BSEG": 16, "BLOCKS": 4},
}
ONE_CHANNEL: dict[tuple[int, ...], dict[str, int]] = {
    FIRST[0]: {"FILTERS": 4, "QUADS": 32, "GROUPS": 4},
    FIRST[2]: {"FILTERS": 16, "QUADS": 32, "GROUPS": 1},
}
FEW: dict[tuple[int, ...], dict[str, int]] = {SECOND[1]: {"TILES": 16, "UNROLL": 4}}
# Bytes of dynamic shared memory.
PIPELINE_SHARED = 3 * 8 * (64 + 4 + 256) * 4
WINOGRAD_SHARED = 2 * 8 * 16 * (32 + 64) * 4  # and WINOGRAD_SUMS more, where the GPU has them
WINOGRAD_SUMS = 16 * 64 * 32 * 4
BF16_SHARED = 4 * (128 + 64) * 128
HALO_SHARED = 9 * 64 * 128 + 2 * 4 * 13 * 1024
WGMMA_SHARED = 4 * 3 * 16 * 1024 + 2 * 14 * 1024
FEW_BLOCKS = 2  # of conv_winograd_few on a multiprocessor
Layer = tuple[int, ...]  # images, channels, filters, height, width, side of a filter
Launch = Callable[[Any, Any, Any, Layer], tuple[KernelCall, ...]]


# --- fp32, channels first ---


def _work(size: Layer, launches: Launch) -> Workload:
    """``launches(x, w, y, size)`` computes y = x * w."""
    images, channels, filters, height, width, side = size
    x = normal((images, channels, height, width))
    w = normal((filters, channels, side, side), 1)
    y = cp.empty((images, filters, height, width), cp.float32)
    libraries = cudnn.convolutions(x, w, side // 2)
    if size in SIDES:
        libraries |= cudnn.fourier(x, w, side // 2)
    depth = channels * side**2
    # A result adds up `depth` products of normal numbers, and so its rms is the root of that.
    within = tolerance_for(np.full(1, depth**0.5), unit_roundoff(x.dtype), depth)
    return Workload(
        launches(x, w, y, size),
        output=y,
        expected=lambda: convolved(x, w, side // 2),
        rtol=within.rtol,
        atol=within.atol,
        libraries=libraries,
    )


def convolved(x: Any, w: Any, pad: int, stride: int = 1) -> Any:
    """x * w in float64, for x (N, C, H, W) and w (K, C, R, S)."""
    height, width = x.shape[2:]
    rows, columns = w.shape[2:]
    padded = cp.pad(double(x), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    total: Any = 0.0
    for r in range(rows):
        for s in range(columns):
            last_row = height + 2 * pad - rows + r + 1
            last_column = width + 2 * pad - columns + s + 1
            part = padded[:, :, r:last_row:stride, s:last_column:stride]
            total = total + cp.einsum("nchw,kc->nkhw", part, double(w[:, :, r, s]))
    return total


def _whole_filter(size: Layer) -> tuple[int, ...]:
    """What a kernel for any filter takes: the stride is 1, the padding half a filter."""
    images, channels, filters, height, width, side = size
    return images, channels, height, width, filters, side, side, 1, side // 2


def _small_filter(size: Layer) -> tuple[int, ...]:
    images, channels, filters, height, width, _ = size
    return images, channels, height, width, filters


def _direct(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    grid = ceil_div(size[0] * size[3] * size[4], 256), size[2]
    return (KernelCall(CHAPTER.kernel("conv_direct"), grid, 256, (x, w, y, *_whole_filter(size))),)


def _shared_tile(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    images, _, filters, height, width, _ = size
    grid = ceil_div(width, 32), ceil_div(height, 8), images * filters
    arguments = x, w, y, *_small_filter(size)
    return (KernelCall(CHAPTER.kernel("conv_shared_tile"), grid, (32, 8), arguments),)


def _register_tile(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    images, _, filters, height, width, _ = size
    grid = ceil_div(width, 32), ceil_div(height, 16), images * ceil_div(filters, 8)
    arguments = x, w, y, *_small_filter(size)
    return (KernelCall(CHAPTER.kernel("conv_register_tile"), grid, (32, 4), arguments),)


def _implicit_gemm(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    grid = ceil_div(size[0] * size[3] * size[4], 64), ceil_div(size[2], 64)
    arguments = x, w, y, *_whole_filter(size)
    return (KernelCall(CHAPTER.kernel("conv_implicit_gemm"), grid, 256, arguments),)


def _pipeline(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    grid = ceil_div(size[0] * size[3] * size[4], 256), ceil_div(size[2], 64)
    arguments = x, w, y, *_whole_filter(size)
    return (KernelCall(CHAPTER.kernel("conv_pipeline"), grid, 256, arguments, PIPELINE_SHARED),)


def row_tile_shared(SEG: int, TN: int, BSEG: int, BF: int, CC: int) -> int:
    """Bytes of dynamic shared memory of ``conv_row_tile.cu``: two stages, or a part of y."""
    columns = ceil_div(SEG + 2, 4) * 4
    pitch = columns + 4 if columns % 8 == 0 else columns
    stages = 2 * CC * 3 * (BSEG * pitch + 3 * (BF + 4))
    results = BF // TN * 4 * (BSEG * SEG + 4)
    return 4 * max(stages, results)


def _row_tile(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    images, channels, filters, height, width, _ = size
    defines = ROW_TILES.get((channels, filters), {})
    tile = {"SEG": 14, "TN": 8, "BSEG": 16, "BF": 64, "CC": 4} | defines
    tile.pop("BLOCKS", None)
    segments = images * height * ceil_div(width, tile["SEG"])
    grid = ceil_div(segments, tile["BSEG"]), ceil_div(filters, tile["BF"])
    threads = tile["BSEG"] * tile["BF"] // tile["TN"]
    arguments = x, w, y, *_small_filter(size)
    kernel = CHAPTER.kernel("conv_row_tile", **defines)
    return (KernelCall(kernel, grid, threads, arguments, row_tile_shared(**tile)),)


def _tiles(size: Layer) -> int:
    """Of 2 x 2 results."""
    return size[0] * ceil_div(size[3], 2) * ceil_div(size[4], 2)


def _winograd(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    _, channels, filters, *_ = size
    transformed = cp.empty((channels, 16, filters), cp.float32)
    first = w, transformed, channels, filters
    then = x, transformed, y, *_small_filter(size)
    columns = filters // 64
    grid = min(ceil_div(_tiles(size), 32), max(sms_for_tiles() // columns, 1)), columns
    most = cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
    at_once = most >= WINOGRAD_SHARED + WINOGRAD_SUMS
    kernel = CHAPTER.kernel("conv_winograd", PARTS=1 if at_once else 4)
    shared = WINOGRAD_SHARED + (WINOGRAD_SUMS if at_once else 0)
    return (
        KernelCall(
            CHAPTER.kernel("winograd_filters"), ceil_div(filters * channels, 256), 256, first
        ),
        KernelCall(kernel, grid, 256, then, shared),
    )


def _winograd_few(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    defines = FEW.get(size, {})
    tile = {"TILES": 32} | defines
    resident = FEW_BLOCKS * sms_for_tiles()
    grid = min(ceil_div(_tiles(size), tile["TILES"]), resident), ceil_div(size[2], 32)
    shared = 4 * (16 * (16 * 32 + 4) + 16 * 16 * tile["TILES"] + 8 * 32 * tile["TILES"])
    arguments = x, w, y, *_small_filter(size)
    kernel = CHAPTER.kernel("conv_winograd_few", **defines)
    return (KernelCall(kernel, grid, 128, arguments, shared),)


def _split_halves(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    images, _, filters, height, width, _ = size
    grid = min(images * ceil_div(height, 7), 2 * sms_for_tiles()), filters // 32
    kernel = CHAPTER.kernel("conv_split_halves", "sm_90a")
    return (KernelCall(kernel, grid, 128, (x, w, y, images, height, width, filters)),)


def _one_channel(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    images, _, filters, height, width, _ = size
    defines = ONE_CHANNEL.get(size, {})
    tile = {"FILTERS": 8, "QUADS": 32, "GROUPS": 2} | defines
    block = tile["QUADS"], tile["GROUPS"]
    quads = images * height * width // 4
    grid = ceil_div(quads, block[0]), ceil_div(filters, tile["FILTERS"] * block[1])
    arguments = x, w, y, images, height, width, filters
    return (KernelCall(CHAPTER.kernel("conv_one_channel", **defines), grid, block, arguments),)


# --- bf16, channels last ---


class _Images(Bf16Work):
    """Work whose results are bits of bf16, or tensors of PyTorch (N, K, H, W)."""

    def numbers(self, result: Any) -> Any:
        return (
            result.permute(0, 2, 3, 1).float() if hasattr(result, "permute") else from_bf16(result)
        )


def _bf16_work(size: Layer, launches: Launch) -> Workload:
    """``launches(x, w, y, size)`` computes y = x * w, all three with channels last."""
    images, channels, filters, height, width, side = size
    x = to_bf16(normal((images, height, width, channels)))
    w = to_bf16(normal((filters, side, side, channels), 1))
    y = cp.empty((images, height, width, filters), np.uint16)

    def expected() -> Any:
        images, filters = (from_bf16(each).transpose(0, 3, 1, 2) for each in (x, w))
        return convolved(images, filters, side // 2).transpose(0, 2, 3, 1)

    return _Images(
        launches(x, w, y, size),
        output=y,
        expected=expected,
        rtol=2**-8,  # a result is rounded to bf16
        atol=channels * side**2 * 2**-20,  # and tensor cores cut off what does not fit into a sum
        libraries=cudnn.convolutions(x, w, side // 2),
    )


def _bf16(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    grid = ceil_div(size[0] * size[3] * size[4], 128), ceil_div(size[2], 64)
    arguments = x, w, y, *_whole_filter(size)
    return (KernelCall(CHAPTER.kernel("conv_bf16"), grid, 128, arguments, BF16_SHARED),)


def _bf16_halo(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    images, _, filters, height, width, _ = size
    kernel = CHAPTER.kernel("conv_bf16_halo", "sm_90a")
    columns = filters // 64
    groups = ceil_div(images * ceil_div(height, 8) * ceil_div(width, 8), 4)
    grid = min(max(sms_for_tiles() // columns, 1), groups), columns
    maps = (
        tensor_map(x, (1, 10, 10, 64), swizzle=128),
        tensor_map(w.reshape(filters, 9, 64), (64, 1, 64), swizzle=128),
    )
    arguments = *maps, y, images, height, width, filters
    return (KernelCall(kernel, grid, 160, arguments, HALO_SHARED),)


def _bf16_wgmma(x: Any, w: Any, y: Any, size: Layer) -> tuple[KernelCall, ...]:
    images, _, filters, height, width, _ = size
    kernel = CHAPTER.kernel("conv_bf16_wgmma", "sm_90a")
    columns = filters // 64
    tiles = images * ceil_div(height, 14) * ceil_div(width, 8)
    grid = min(max(sms_for_tiles() // columns, 1), tiles), columns
    from_x, to_y = (tensor_map(a, (1, rows, 8, 64), swizzle=128) for a, rows in ((x, 16), (y, 14)))
    arguments = from_x, w, to_y, images, height, width, filters
    return (KernelCall(kernel, grid, 384, arguments, WGMMA_SHARED),)


# --- the cases ---


def _case(
    name: str,
    launches: Launch,
    gpu_sizes: tuple[Size, ...] = (RESNET,),
    work: Callable[[Any, Launch], Workload] | None = None,
    **other: Any,
) -> Case:
    bf16 = name.startswith("conv_bf16")
    bytes_each = 2 if bf16 else 4
    work = work or (_bf16_work if bf16 else _work)

    def moved(size: Layer) -> int:
        images, channels, filters, height, width, side = size
        pixels = images * height * width
        return bytes_each * (pixels * (channels + filters) + filters * channels * side**2)

    def flops(size: Layer) -> int:
        images, channels, filters, height, width, side = size
        return 2 * images * height * width * channels * filters * side**2

    files = [name] if name != "conv_winograd" else ["winograd_filters", name]
    return Case(
        name,
        "convolution, bf16" if bf16 else "convolution, fp32",
        CHAPTER.files(*files),
        lambda size: work(size, launches),
        bytes=moved,
        flops=flops,
        gpu_sizes=gpu_sizes,
        peak="bf16" if bf16 else "fp32",
        **other,
    )


ANY = (1, 1, 1, 1, 1, 1), (2, 5, 9, 7, 11, 3), (1, 3, 66, 6, 9, 5)
SMALL = (1, 1, 1, 1, 1, 3), (1, 9, 65, 5, 35, 3), (2, 5, 9, 17, 30, 3)
WHOLE = (1, 1, 64, 1, 1, 3), (1, 9, 128, 8, 10, 3), (2, 17, 64, 7, 9, 3)
CASES = (
    _case("conv_direct", _direct, test_sizes=ANY),
    _case("conv_shared_tile", _shared_tile, test_sizes=SMALL),
    _case("conv_register_tile", _register_tile, test_sizes=SMALL),
    _case("conv_implicit_gemm", _implicit_gemm, test_sizes=ANY),
    _case("conv_pipeline", _pipeline, (RESNET, *SIDES), test_sizes=ANY),
    _case(
        "conv_row_tile",
        _row_tile,
        (RESNET, *FIRST, *SECOND),
        test_sizes=(*SMALL, (3, 1, 16, 28, 28, 3), (2, 16, 32, 14, 14, 3)),
    ),
    _case("conv_winograd", _winograd, test_sizes=WHOLE, sustained_sizes=(RESNET,)),
    _case(
        "conv_winograd_few",
        _winograd_few,
        SECOND,
        test_sizes=((1, 1, 1, 1, 1, 3), (2, 7, 40, 7, 9, 3), (3, 16, 32, 14, 14, 3)),
    ),
    _case(
        "conv_one_channel",
        _one_channel,
        FIRST,
        test_sizes=((1, 1, 8, 1, 4, 3), (1, 1, 40, 5, 12, 3), (2, 1, 16, 28, 28, 3)),
    ),
    _case(
        "conv_split_halves",
        _split_halves,
        SECOND,
        test_sizes=((1, 16, 32, 1, 1, 3), (2, 16, 64, 8, 13, 3), (3, 16, 32, 14, 14, 3)),
    ),
    _case("conv_bf16", _bf16, test_sizes=((1, 8, 8, 1, 1, 1), (2, 72, 72, 7, 9, 3))),
    _case(
        "conv_bf16_halo",
        _bf16_halo,
        test_sizes=((1, 64, 64, 1, 1, 3), (1, 64, 128, 20, 10, 3), (2, 64, 64, 9, 17, 3)),
        sustained_sizes=(RESNET,),
    ),
    _case(
        "conv_bf16_wgmma",
        _bf16_wgmma,
        test_sizes=((1, 64, 64, 1, 1, 3), (1, 64, 128, 20, 10, 3), (3, 64, 64, 15, 17, 3)),
        sustained_sizes=(RESNET,),
    ),
)
