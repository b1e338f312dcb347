"""The benchmarks of chapter 08: attention on wgmma, rung by rung, beside cuDNN and the others.

A size is (sequences, heads, tokens of a sequence). bf16 arrays carry bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ...devices.properties import sm_count
from ...devices.selection import ON_GPU, cp
from ...integers import ceil_div
from ...launching.tensor_maps import tensor_map
from ..harness.arrays import normal
from ..harness.case import Case
from ..harness.chapter_kernels import ChapterKernels
from ..harness.float_bits import to_bf16
from ..harness.torch_runs import Runs, torch_on_gpu
from ..harness.workload import KernelCall, Workload
from ..libraries import rivals
from .pytorch_extensions.attention import (
    BF16_LIBRARIES,
    BF16_SIZES,
    WIDTH,
    AttentionWork,
    HeadsSize,
    attention_flops,
    backward_work,
    bf16_tensors,
    exact_heads,
    rounding_error,
    sdpa_libraries,
)

CHAPTER = ChapterKernels("08_cute_tma_blackwell")
EMULATED_MULTIPROCESSORS = 3  # of a grid whose blocks stay
GROUP_ROWS = 64  # queries of a warpgroup
RUNGS = {  # (consumer warpgroups, threads, keys of a tile)
    "attention_wgmma": (1, 128, 64),
    "attention_producer": (1, 256, 128),
    "attention_two_groups": (2, 384, 128),
    "attention_overlap": (2, 384, 128),
    "attention_turns": (2, 384, 128),
    "attention_hopper": (2, 384, 128),
}
STAGES = 2  # of keys, and of values
BAND_BYTES = 8 << 20  # of keys and values of the heads that are visited together: they stay in L2
BAND_TOKENS = 8192  # of the heads visited together where nothing is masked
CAUSAL_BAND_TOKENS = 16384  # and where a mask makes the works of a head unequal
BAND_HEADS = 8  # of them at least: with few, long works begin as late as the last band


def attention_call(
    name: str, q: Any, k: Any, v: Any, o: Any, lse: Any, causal: bool = False, **defines: int
) -> KernelCall:
    """The call of the rung ``name``: q, k, v and o (sequences, tokens, heads, d) in bf16, lse
    (sequences, heads, tokens). Only ``attention_hopper`` can be ``causal``. The arrays have to live
    as long as it is used."""
    sequences, tokens, heads, d = q.shape
    groups, threads, keys = RUNGS[name]
    keys, stages = defines.get("BN", keys), 1 if name == "attention_wgmma" else STAGES
    last = name == "attention_hopper"
    boxes = (q, GROUP_ROWS), (k, keys), (v, keys), *(((o, 16),) if last else ())
    maps = [tensor_map(x, (1, rows, 1, 64), swizzle=128) for x, rows in boxes]
    own = {"CAUSAL": int(causal)} if last else {}
    kernel = CHAPTER.kernel(name, "sm_90a", D=d, **own, **defines)
    down, scale = ceil_div(tokens, groups * GROUP_ROWS), np.float32(d**-0.5)
    shared = 2 * d * ((2 if last else 1) * groups * GROUP_ROWS + 2 * stages * keys)
    if not last:
        arguments = *maps, o, lse, heads, tokens, scale
        return KernelCall(kernel, (down, heads, sequences), threads, arguments, shared)
    together = max(1, (CAUSAL_BAND_TOKENS if causal else BAND_TOKENS) // tokens)
    taken = cp.zeros(1, cp.int32)
    arguments = *maps, lse, taken, sequences, heads, tokens, together, scale
    works = down * heads * sequences
    return KernelCall(kernel, min(works, _multiprocessors()), threads, arguments, shared)


def _multiprocessors() -> int:
    return sm_count() if ON_GPU else EMULATED_MULTIPROCESSORS


def _heads_together(tokens: int, d: int) -> int:
    """Heads of a band, whose longest works come first."""
    return max(BAND_HEADS, BAND_BYTES // (2 * 2 * tokens * d))


BACKWARD = "attention_rows", "attention_backward", "attention_gradient"
QUERIES, KEYS = 80, 128  # of a tile and of a work of attention_backward


def dq_sums(shape: tuple[int, ...]) -> Any:
    """Room for the sums of dQ (sequences, tokens, heads, d) in fp32. The first kernel sets them to
    zero."""
    sequences, tokens, heads, d = shape
    return cp.empty((sequences, heads, ceil_div(tokens, QUERIES), QUERIES * d), cp.float32)


def backward_calls(
    given: tuple[Any, ...], sums: Any, gradients: tuple[Any, ...], causal: bool = False
) -> tuple[KernelCall, ...]:
    """The three kernels of the backward pass. ``given`` is q, k, v, o, their gradient dO and lse,
    ``gradients`` are dq, dk and dv, ``sums`` is from :func:`dq_sums`; shapes as in
    :func:`attention_call`. The arrays have to live as long as it is used."""
    q, k, v, o, do, lse = given
    dq, dk, dv = gradients
    sequences, tokens, heads, d = q.shape
    tiles, scale = ceil_div(tokens, QUERIES), np.float32(d**-0.5)
    padded = tiles * QUERIES
    rows, taken = cp.empty((sequences, heads, padded, 2), cp.float32), cp.zeros(1, cp.int32)
    boxes = (q, QUERIES), (k, KEYS), (v, KEYS), (do, QUERIES), (dk, 16), (dv, 16)
    maps = [tensor_map(x, (1, box, 1, 64), swizzle=128) for x, box in boxes]
    first, second, third = (
        CHAPTER.kernel(name, "sm_90a", D=d, **defines)
        for name, defines in zip(BACKWARD, ({}, {"CAUSAL": int(causal)}, {}), strict=True)
    )
    together = _heads_together(tokens, d) if causal else max(1, BAND_TOKENS // tokens)
    works = ceil_div(tokens, KEYS) * heads * sequences
    return (
        KernelCall(
            first,
            ceil_div(sequences * heads * padded * d, 2048),
            256,
            (o, do, lse, rows, sums, sequences, heads, tokens, padded),
        ),
        KernelCall(
            second,
            min(works, _multiprocessors()),
            384,
            (*maps, rows, sums, taken, sequences, heads, tokens, together, scale),
            1408 * d + 50432,
        ),
        KernelCall(third, (tiles, heads, sequences), 256, (sums, dq, heads, tokens, scale)),
    )


def _forward(name: str, causal: bool) -> Callable[[HeadsSize], Workload]:
    def make(size: HeadsSize) -> Workload:
        sequences, heads, n = size
        q, k, v = (to_bf16(normal((sequences * n, heads, WIDTH), seed)) for seed in range(3))
        o, lse = cp.empty_like(q), cp.empty((sequences, heads, n), cp.float32)
        shape = sequences, n, heads, WIDTH
        q4, k4, v4, o4 = (x.reshape(shape) for x in (q, k, v, o))

        return AttentionWork(
            (attention_call(name, q4, k4, v4, o4, lse, causal),),
            output=o,
            expected=partial(exact_heads, q, k, v, sequences, causal),
            rtol=2**-7,
            atol=rounding_error(n, causal),
            libraries=sdpa_libraries(sequences, (q, k, v), causal, BF16_LIBRARIES)
            | _flex_attention(sequences, (q, k, v), causal)
            | _flash_attention(sequences, (q, k, v), causal),
            same_bits=False,
        )

    return make


def _backward(causal: bool) -> Callable[[HeadsSize], Workload]:
    def make(size: HeadsSize) -> Workload:
        sequences, heads, n = size
        q, k, v, do = (to_bf16(normal((sequences * n, heads, WIDTH), seed)) for seed in range(4))
        o, lse = cp.empty_like(q), cp.empty((sequences, heads, n), cp.float32)
        found = cp.empty((3, *q.shape), np.uint16)
        shape = sequences, n, heads, WIDTH
        q4, k4, v4, o4 = (x.reshape(shape) for x in (q, k, v, o))
        attention_call("attention_hopper", q4, k4, v4, o4, lse, causal)()
        sums = dq_sums(shape)
        gradients = tuple(x.reshape(shape) for x in found)
        calls = backward_calls((q4, k4, v4, o4, do.reshape(shape), lse), sums, gradients, causal)
        return backward_work(calls, found, None, size, (q, k, v, do), causal)

    return make


@cache
def _compiled_flex_attention() -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    return torch_on_gpu().compile(flex_attention, dynamic=False, mode="max-autotune-no-cudagraphs")


def _flex_attention(
    sequences: int, arrays: tuple[Any, ...], causal: bool
) -> dict[str, Callable[[], Any]]:
    """PyTorch's own generator of attention kernels, compiled for this shape."""
    if torch_on_gpu() is None:
        return {}
    q, k, v = bf16_tensors(sequences, arrays)
    n = q.shape[2]

    @cache
    def mask() -> Any:
        from torch.nn.attention.flex_attention import create_block_mask

        return create_block_mask(lambda _b, _h, i, j: i >= j, None, None, n, n) if causal else None

    return {"flex_attention": lambda: _compiled_flex_attention()(q, k, v, block_mask=mask())}


def _flash_attention(sequences: int, arrays: tuple[Any, ...], causal: bool) -> Runs:
    if torch_on_gpu() is None:
        return {}
    q, k, v = bf16_tensors(sequences, arrays)
    return rivals.attention(q, k, v, causal)


def _case(name: str, causal: bool = False, **settings: Any) -> Case:
    return Case(
        f"{name}_causal" if causal else name,
        f"{'causal ' if causal else ''}attention on wgmma, bf16",
        CHAPTER.files(name),
        _forward(name, causal),
        bytes=lambda n: 2 * 4 * n[0] * n[1] * n[2] * WIDTH,
        flops=partial(attention_flops, causal=causal),
        gpu_sizes=settings.pop("gpu_sizes", BF16_SIZES[1:]),
        test_sizes=((1, 2, 1),),
        peak="bf16",
        **settings,
    )


def _backward_case(causal: bool) -> Case:
    return Case(
        "attention_backward_causal" if causal else "attention_backward",
        f"gradient of {'causal ' if causal else ''}attention on wgmma, bf16",
        CHAPTER.files(*BACKWARD),
        _backward(causal),
        bytes=lambda n: 2 * 8 * n[0] * n[1] * n[2] * WIDTH,
        flops=partial(attention_flops, products=5, causal=causal),
        gpu_sizes=BF16_SIZES,
        sustained_sizes=BF16_SIZES[1:],
        test_sizes=((1, 1, 70),),
        peak="bf16",
    )


CASES = (
    *(_case(name) for name in RUNGS if name != "attention_hopper"),
    _case("attention_hopper", gpu_sizes=BF16_SIZES, sustained_sizes=BF16_SIZES[1:]),
    _case("attention_hopper", causal=True, gpu_sizes=BF16_SIZES, sustained_sizes=BF16_SIZES[1:]),
    _backward_case(False),
    _backward_case(True),
)
