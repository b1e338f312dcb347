"""Attention, forward and backward, beside FlashAttention-2 and cuDNN as PyTorch calls them.

A size is (sequences, heads, tokens of a sequence). bf16 arrays carry bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ....devices.selection import cp
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.float_bits import from_bf16, to_bf16
from ...harness.torch_runs import Runs, as_tensors, torch_on_gpu
from ...harness.workload import KernelCall, Workload
from ...libraries import rivals
from ..matmul import sms_for_tiles
from .operators import CHAPTER

HeadsSize = tuple[int, int, int]  # sequences, heads, tokens of a sequence
WIDTH = 128  # numbers of a query, a key and a value, in bf16
WIDTH_FP32 = 64  # the same in fp32
QUERIES = {"flash_mma": 64, "flash_pipeline": 256}  # of a block
THREADS = {"flash_mma": 128, "flash_pipeline": 256}
KEYS = 128  # of a block of flash_backward
TILE = 64  # queries of its tiles


def shared_bytes(name: str, d: int) -> int:
    """Dynamic shared memory of a kernel for rows of ``d`` numbers."""
    if name == "flash_pipeline":
        return 2 * d * (QUERIES[name] + 4 * 2 * TILE)  # queries; stages of keys and values
    if name == "flash_backward":
        rows = 2 * KEYS + 3 * 2 * TILE  # keys and values; stages of queries and gradients
        return 2 * d * rows + 4 * 2 * KEYS * TILE + 3 * 8 * TILE  # weights; numbers of rows
    return 0


def starts_of(lengths: Sequence[int]) -> np.ndarray:
    """Where each sequence begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def forward_call(
    name: str, q: Any, k: Any, v: Any, o: Any, lse: Any, lengths: Sequence[int], causal: bool
) -> KernelCall:
    """One of the forward kernels on packed sequences: q and o (tokens, heads, d), k and v (tokens,
    kv_heads, d) in bf16, lse (heads, tokens)."""
    tokens, heads, d = q.shape
    kernel = CHAPTER.kernel(name, D=d, CAUSAL=int(causal))
    scale = np.float32(d**-0.5)
    starts = cp.asarray(starts_of(lengths))
    arguments = q, k, v, o, lse, starts, heads, k.shape[1], tokens, scale
    grid = ceil_div(max(lengths), QUERIES[name]), heads, len(lengths)
    return KernelCall(kernel, grid, THREADS[name], arguments, shared_bytes(name, d))


def dq_sums(tokens: int, heads: int, sequences: int, d: int) -> Any:
    """Room for the sums of dQ in fp32, a tile of 64 queries after the other: zeros."""
    return cp.zeros((tokens // TILE + sequences, heads, TILE * d), cp.float32)


def backward_calls(
    given: tuple[Any, ...],
    sums: Any,
    gradients: tuple[Any, ...],
    lengths: Sequence[int],
    causal: bool,
) -> tuple[KernelCall, ...]:
    """The three kernels of the backward pass. ``given`` is q, k, v, o, their gradient dO and lse,
    ``gradients`` are dq, dk and dv; shapes as in :func:`forward_call`."""
    q, k, v, o, do, lse = given
    dq, dk, dv = gradients
    tokens, heads, d = q.shape
    kv_heads, scale, starts = k.shape[1], np.float32(d**-0.5), cp.asarray(starts_of(lengths))
    rows = cp.empty((heads, tokens, 2), cp.float32)
    tiles = ceil_div(max(lengths), TILE), heads, len(lengths)
    return (
        KernelCall(
            CHAPTER.kernel("attention_row_dots", D=d),
            ceil_div(tokens * heads, 8),
            256,
            (o, do, lse, rows, heads, tokens),
        ),
        KernelCall(
            CHAPTER.kernel("flash_backward", D=d, CAUSAL=int(causal)),
            (ceil_div(max(lengths), KEYS), kv_heads, len(lengths)),
            256,
            (q, k, v, do, rows, sums, dk, dv, starts, heads, kv_heads, tokens, scale),
            shared_bytes("flash_backward", d),
        ),
        KernelCall(
            CHAPTER.kernel("flash_backward_finish", D=d),
            tiles,
            256,
            (sums, dq, starts, heads, scale),
        ),
    )


def attention(q: Any, k: Any, v: Any, causal: bool) -> tuple[Any, Any]:
    """(O, lse) of one head in float64: q, k and v are (tokens, d), O too, lse (tokens)."""
    scores = q @ k.T * q.shape[1] ** -0.5
    if causal:
        place = cp.arange(len(q))
        scores[place[:, None] < place[None, :]] = -np.inf
    largest = scores.max(axis=1, keepdims=True)
    scores -= largest
    np.exp(scores, out=scores)
    sums = scores.sum(axis=1, keepdims=True)
    scores /= sums
    return scores @ v, (largest + np.log(sums))[:, 0]


def gradients_of(q: Any, k: Any, v: Any, do: Any, causal: bool) -> tuple[Any, Any, Any]:
    """(dQ, dK, dV) of one head in float64, all (tokens, d)."""
    o, lse = attention(q, k, v, causal)
    scale = q.shape[1] ** -0.5
    weights = np.exp(q @ k.T * scale - lse[:, None])
    if causal:
        place = cp.arange(len(q))
        weights[place[:, None] < place[None, :]] = 0
    dv = weights.T @ do
    weights *= do @ v.T - (do * o).sum(axis=1, keepdims=True)
    return weights @ k * scale, weights.T @ q * scale, dv


def each_head(
    found: Callable[..., Any],
    sequences: int,
    arrays: tuple[Any, ...],
    outputs: tuple[Any, ...],
) -> None:
    """Fill ``outputs`` (tokens, heads, d) with what ``found`` gives for each sequence and head."""
    tokens, heads, _ = outputs[0].shape
    n = tokens // sequences
    for first in range(0, tokens, n):
        for head in range(heads):
            parts = found(*(double(x[first : first + n, head]) for x in arrays))
            for output, part in zip(outputs, parts, strict=False):
                output[first : first + n, head] = part


# --- forward ---


def _definition(size: HeadsSize) -> Workload:
    """Three kernels for a sequence, in fp32."""
    _, heads, n = size
    q, k, v = (normal((n, heads, WIDTH_FP32), seed) for seed in range(3))
    o, scores = cp.empty_like(q), cp.empty((heads, n, n), cp.float32)
    scale, side = np.float32(WIDTH_FP32**-0.5), ceil_div(n, 16)
    launches = (
        KernelCall(
            CHAPTER.kernel("attention_scores", D=WIDTH_FP32),
            (side, side, heads),
            (16, 16),
            (q, k, scores, n, scale),
        ),
        KernelCall(CHAPTER.kernel("attention_softmax"), heads * n, 256, (scores, n)),
        KernelCall(
            CHAPTER.kernel("attention_values", D=WIDTH_FP32),
            (ceil_div(WIDTH_FP32, 32), ceil_div(n, 8), heads),
            (32, 8),
            (scores, v, o, n),
        ),
    )
    return _fp32_work(launches, q, k, v, o)


def _tiles(size: HeadsSize) -> Workload:
    _, heads, n = size
    q, k, v = (normal((n, heads, WIDTH_FP32), seed) for seed in range(3))
    o, scale = cp.empty_like(q), np.float32(WIDTH_FP32**-0.5)
    kernel = CHAPTER.kernel("flash_tiles", D=WIDTH_FP32)
    call = KernelCall(kernel, (ceil_div(n, 32), heads), 128, (q, k, v, o, n, scale))
    return _fp32_work((call,), q, k, v, o)


def pairs_call(q: Any, k: Any, v: Any, o: Any, **defines: int) -> KernelCall:
    """``flash_pairs`` on arrays (n, heads, d): blocks of 8 warps, or of 4 where those are too few
    for the GPU."""
    n, heads, d = q.shape
    warps = 8 if ceil_div(n, 256) * heads >= sms_for_tiles() else 4
    kernel = CHAPTER.kernel("flash_pairs", D=d, WARPS=warps, **defines)
    arguments = q, k, v, o, n, np.float32(d**-0.5)
    return KernelCall(kernel, (ceil_div(n, 32 * warps), heads), 32 * warps, arguments, 512 * d)


def _pairs(size: HeadsSize) -> Workload:
    _, heads, n = size
    q, k, v = (normal((n, heads, WIDTH_FP32), seed) for seed in range(3))
    o = cp.empty_like(q)
    return _fp32_work((pairs_call(q, k, v, o),), q, k, v, o)


def _fp32_work(launches: tuple[KernelCall, ...], q: Any, k: Any, v: Any, o: Any) -> Workload:
    def expected() -> Any:
        found = cp.empty(q.shape, cp.float64)
        each_head(partial(attention, causal=False), 1, (q, k, v), (found,))
        return found

    return AttentionWork(
        launches,
        output=o,
        expected=expected,
        rtol=1e-4,
        atol=1e-5,
        libraries=sdpa_libraries(1, (q, k, v), False, {"torch SDPA, fp32": "EFFICIENT_ATTENTION"}),
        same_bits=False,
    )


def exact_heads(q: Any, k: Any, v: Any, sequences: int, causal: bool) -> Any:
    """The attention of each head of these bits of bf16, in float64."""
    found = cp.empty(q.shape, cp.float64)
    arrays = tuple(map(from_bf16, (q, k, v)))
    each_head(partial(attention, causal=causal), sequences, arrays, (found,))
    return found


BF16_LIBRARIES = {"FlashAttention-2": "FLASH_ATTENTION", "cuDNN": "CUDNN_ATTENTION"}


def _bf16(name: str, causal: bool) -> Callable[[HeadsSize], Workload]:
    def make(size: HeadsSize) -> Workload:
        sequences, heads, n = size
        q, k, v = (to_bf16(normal((sequences * n, heads, WIDTH), seed)) for seed in range(3))
        o, lse = cp.empty_like(q), cp.empty((heads, sequences * n), cp.float32)

        return AttentionWork(
            (forward_call(name, q, k, v, o, lse, [n] * sequences, causal),),
            output=o,
            expected=partial(exact_heads, q, k, v, sequences, causal),
            rtol=2**-7,
            atol=rounding_error(n, causal),
            libraries=sdpa_libraries(sequences, (q, k, v), causal, BF16_LIBRARIES),
            same_bits=False,
        )

    return make


def rounding_error(n: int, causal: bool) -> float:
    """What rounding weights to bf16 does to means of ``n`` values, or of one and more."""
    return 2**-5 / math.sqrt(1 if causal else n)


def bf16_tensors(sequences: int, arrays: tuple[Any, ...]) -> list[Any]:
    """(tokens, heads, d) as PyTorch's (sequences, heads, tokens, d), the memory shared."""
    return [x.unflatten(0, (sequences, -1)).transpose(1, 2) for x in as_tensors(*arrays)]


class AttentionWork(Workload):
    """Work whose results are the bits of bf16 numbers, or PyTorch's tensors."""

    def numbers(self, result: Any) -> Any:
        """fp32 (tokens, heads, d)."""
        if hasattr(result, "unflatten"):
            return cp.asarray(result.transpose(1, 2).flatten(0, 1).float().contiguous())
        return from_bf16(result) if result.dtype == np.uint16 else result


def sdpa_libraries(
    sequences: int, arrays: tuple[Any, ...], causal: bool, backends: dict[str, str]
) -> dict[str, Callable[[], Any]]:
    """PyTorch's attention of the ``arrays`` q, k and v (tokens, heads, d) by name, for each name
    and backend in ``backends``. None without PyTorch on a GPU."""
    torch = torch_on_gpu()
    if torch is None:
        return {}
    q, k, v = bf16_tensors(sequences, arrays)

    def run(backend: str) -> Any:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        with sdpa_kernel(getattr(SDPBackend, backend)):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return {name: partial(run, backend) for name, backend in backends.items()}


# --- backward ---


def _backward(causal: bool) -> Callable[[HeadsSize], Workload]:
    def make(size: HeadsSize) -> Workload:
        sequences, heads, n = size
        shape, lengths = (sequences * n, heads, WIDTH), [n] * sequences
        q, k, v, do = (to_bf16(normal(shape, seed)) for seed in range(4))
        o, lse = cp.empty_like(q), cp.empty((heads, sequences * n), cp.float32)
        forward_call("flash_pipeline", q, k, v, o, lse, lengths, causal)()
        sums = dq_sums(sequences * n, heads, sequences, WIDTH)
        found = cp.empty((3, *shape), np.uint16)
        calls = backward_calls((q, k, v, o, do, lse), sums, tuple(found), lengths, causal)
        return backward_work(calls, found, sums, size, (q, k, v, do), causal)

    return make


def backward_work(
    calls: tuple[KernelCall, ...],
    found: Any,
    sums: Any,
    size: HeadsSize,
    arrays: tuple[Any, ...],
    causal: bool,
) -> AttentionWork:
    """The work of ``calls``, which leave dQ, dK and dV in ``found`` (3, tokens, heads, d), in bf16
    as the ``arrays`` q, k, v and dO are, beside float64; ``sums`` are set to zero before, if the
    calls don't do that."""
    sequences, _, n = size
    q, k, v, do = arrays

    def expected() -> Any:
        exact = cp.empty((3, *q.shape), cp.float64)
        numbers = tuple(map(from_bf16, arrays))
        each_head(partial(gradients_of, causal=causal), sequences, numbers, tuple(exact))
        return exact

    return AttentionWork(
        calls,
        output=found,
        expected=expected,
        rtol=2**-6,
        atol=2 * rounding_error(n, causal),
        libraries=backward_libraries(sequences, (q, k, v), do, causal),
        cleared=() if sums is None else (sums,),
        same_bits=False,  # blocks add to dQ in any order
    )


def backward_libraries(
    sequences: int, arrays: tuple[Any, ...], do: Any, causal: bool
) -> dict[str, Callable[[], Any]]:
    """The backward passes of PyTorch, FlashAttention-3 and FlashAttention-4 by name, timed without
    a check: the gradients of the ``arrays`` q, k and v for ``do``. None without torch_on_gpu()."""
    torch = torch_on_gpu()
    if torch is None:
        return {}
    inputs = [x.detach().requires_grad_() for x in bf16_tensors(sequences, arrays)]
    (gradient,) = bf16_tensors(sequences, (do,))
    outputs = {}

    def run(name: str) -> None:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        if name not in outputs:  # the forward pass is not timed
            with sdpa_kernel(getattr(SDPBackend, BF16_LIBRARIES[name])):
                outputs[name] = torch.nn.functional.scaled_dot_product_attention(
                    *inputs, is_causal=causal
                )
        torch.autograd.grad(outputs[name], inputs, gradient, retain_graph=True)

    theirs: Runs = {name: partial(run, name) for name in BF16_LIBRARIES}
    q, k, v = inputs
    return theirs | rivals.attention_backward(q, k, v, gradient, causal)


def _case(name: str, make: Callable[[HeadsSize], Workload], *kernels: str, **other: Any) -> Case:
    settings: dict[str, Any] = {
        "bytes": lambda n: 2 * 4 * n[0] * n[1] * n[2] * WIDTH,
        "peak": "bf16",
        **other,
    }
    return Case(
        name,
        files=CHAPTER.files(*(kernels or (name,))),
        make=make,
        test_sizes=settings.pop("test_sizes", ((1, 2, 1), (2, 1, 70))),
        **settings,
    )


def attention_flops(
    size: HeadsSize, width: int = WIDTH, causal: bool = False, products: int = 2
) -> int:
    """Of the products that are needed: a causal mask leaves half of each."""
    sequences, heads, n = size
    return products * 2 * sequences * heads * n * n * width // (2 if causal else 1)


FP32_SIZES = ((1, 16, 1024), (1, 16, 4096))
BF16_SIZES = ((16, 16, 1024), (2, 16, 8192))
_fp32 = {
    "what": "attention, fp32",
    "bytes": lambda n: 4 * 4 * n[0] * n[1] * n[2] * WIDTH_FP32,
    "flops": partial(attention_flops, width=WIDTH_FP32),
    "peak": "fp32",
    "gpu_sizes": FP32_SIZES,
    "test_sizes": ((1, 2, 1), (1, 1, 70)),
}
_forward = {"what": "attention, bf16", "flops": attention_flops, "gpu_sizes": BF16_SIZES}
_causal = {
    "what": "causal attention, bf16",
    "flops": partial(attention_flops, causal=True),
    "gpu_sizes": BF16_SIZES,
}
BACKWARD = "attention_row_dots", "flash_backward", "flash_backward_finish"

CASES = (
    _case(
        "attention_definition",
        _definition,
        "attention_scores",
        "attention_softmax",
        "attention_values",
        **_fp32,
    ),
    _case("flash_tiles", _tiles, **_fp32),
    _case("flash_pairs", _pairs, **_fp32),
    _case("flash_mma", _bf16("flash_mma", False), **_forward),
    _case("flash_pipeline", _bf16("flash_pipeline", False), **_forward),
    _case("flash_mma_causal", _bf16("flash_mma", True), "flash_mma", **_causal),
    _case("flash_pipeline_causal", _bf16("flash_pipeline", True), "flash_pipeline", **_causal),
    _case(
        "flash_backward",
        _backward(False),
        *BACKWARD,
        what="gradient of attention, bf16",
        flops=partial(attention_flops, products=5),
        bytes=lambda n: 2 * 8 * n[0] * n[1] * n[2] * WIDTH,
        gpu_sizes=BF16_SIZES,
    ),
    _case(
        "flash_backward_causal",
        _backward(True),
        *BACKWARD,
        what="gradient of causal attention, bf16",
        flops=partial(attention_flops, products=5, causal=True),
        bytes=lambda n: 2 * 8 * n[0] * n[1] * n[2] * WIDTH,
        gpu_sizes=BF16_SIZES,
    ),
)
