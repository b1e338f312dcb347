"""The cross entropy of a linear layer's output, and its gradients, without all of its logits.

A size is (tokens, width, words). X (tokens, width) and W (words, width) carry the bits of bf16.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from ....devices.properties import sm_count
from ....devices.selection import ON_GPU, cp
from ....integers import ceil_div
from ....launching.tensor_maps import tensor_map
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.float_bits import from_bf16, to_bf16
from ...harness.torch_runs import as_tensors, compiled_whole, torch_on_gpu
from ...harness.workload import Calls, KernelCall, Workload
from ..hopper import CHAPTER as HOPPER
from ..hopper import EMULATED_MULTIPROCESSORS, hopper_call
from .cross_entropy import IGNORED, fused_call
from .operators import CHAPTER, KINDS

LossSize = tuple[int, int, int]  # tokens, width, words
ROWS, COLUMNS, DEPTH = 128, 256, 64  # of a block's tile
SHARED_BYTES = 4 * (ROWS + COLUMNS) * 128 + (1 << 15)  # four stages, and boxes on their way out
CHUNK = 2048  # tokens whose logits exist at once


def _blocks(down: int, across: int) -> int:
    """The fewest blocks that need no more rounds for these tiles than one for each SM."""
    tiles, most = down * across, sm_count() if ON_GPU else EMULATED_MULTIPROCESSORS
    return ceil_div(tiles, ceil_div(tiles, most))


def product_call(
    name: str,
    a: Any,
    b: Any,
    c: Any,
    *more: Any,
    shape: tuple[int, int, int],
    across: tuple[bool, bool] = (False, False),
    **defines: int,
) -> KernelCall:
    """The call of a kernel on ``hopper_products.cuh``: ``shape`` is (M, N, K), ``across`` says of
    which operands a row runs along M or N. ``more`` are arguments after the maps and ``c``, which
    is an array of 2 dimensions that gets a map, or None. Arguments after the shape come in a list
    at the end of ``more``."""
    m, n, _ = shape
    boxes = (
        (DEPTH, 64) if turned else (rows, DEPTH)
        for turned, rows in zip(across, (ROWS, COLUMNS), strict=True)
    )
    maps = [tensor_map(x, box, swizzle=128) for x, box in zip((a, b), boxes, strict=True)]
    if c is not None:
        maps.append(tensor_map(c, (16, 64), swizzle=128))
    last = more[-1] if more and isinstance(more[-1], list) else []
    between = more[: len(more) - bool(last)]
    compiled_kernel = CHAPTER.kernel(name, "sm_90a", **defines)
    grid = _blocks(ceil_div(m, ROWS), ceil_div(n, COLUMNS))
    return KernelCall(compiled_kernel, grid, 384, (*maps, *between, *shape, *last), SHARED_BYTES)


def loss_calls(x: Any, w: Any, target: Any, logsumexp: Any, loss: Any) -> Calls:
    """Losses of all tokens, and no logit in memory: pairs, then the merge."""
    (tokens, width), words = x.shape, len(w)
    tiles = ceil_div(words, COLUMNS)
    pairs, wanted = cp.empty((tiles, tokens, 2), np.float32), cp.empty(tokens, np.float32)
    shape = tokens, words, width
    merge = pairs, wanted, target, logsumexp, loss, tokens, tiles, words, IGNORED
    return (
        product_call("logit_pairs", x, w, None, pairs, wanted, target, shape=shape),
        KernelCall(CHAPTER.kernel("pairs_merged"), ceil_div(tokens, 32), (32, 8), merge),
    )


def gradient_calls(g: Any, x: Any, w: Any, dx: Any, dw: Any, adds: bool) -> Calls:
    """dX = G W, and dW = G^T X or, if it ``adds``, dW += G^T X."""
    (tokens, words), width = g.shape, x.shape[1]
    numbers = dw.view(ml_dtypes.bfloat16)  # TMA adds numbers of a type
    return (
        product_call(
            "token_gradients", g, w, dx, shape=(tokens, width, words), across=(False, True)
        ),
        product_call(
            "word_gradients",
            g,
            x,
            numbers,
            shape=(words, width, tokens),
            across=(True, True),
            ADD=int(adds),
        ),
    )


@dataclass(frozen=True)
class HeadResults:
    """Where results go, parts of ``room``: ``dx``, ``dw`` in bf16 and ``loss`` in fp32."""

    room: Any
    dx: Any
    dw: Any
    loss: Any

    @classmethod
    def of(cls, n: LossSize) -> HeadResults:
        """Uninitialised results for ``n``, (tokens, width, words)."""
        tokens, width, words = n
        ends = tokens * width, (tokens + words) * width
        room = cp.empty(ends[1] + 2 * tokens, np.uint16)
        dx, dw = room[: ends[0]].reshape(-1, width), room[ends[0] : ends[1]].reshape(-1, width)
        return cls(room, dx, dw, room[ends[1] :].view(np.float32))


def _weight(target: Any) -> tuple[Any, KernelCall]:
    weight = cp.empty(1, np.float32)
    arguments = target, weight, len(target), IGNORED
    return weight, KernelCall(CHAPTER.kernel("target_weight"), 1, 256, arguments)


def chunked_calls(x: Any, w: Any, target: Any, found: HeadResults, chunk: int = CHUNK) -> Calls:
    """The logits of ``chunk`` tokens at a time: the loss, the gradient over them, and from it both
    products. The number of words is a multiple of 8."""
    weight, counting = _weight(target)
    logits = cp.empty((min(chunk, len(x)), len(w)), np.uint16)
    calls = [counting]
    for start in range(0, len(x), chunk):
        of = slice(start, start + chunk)
        some = x[of]
        g = logits[: len(some)]
        calls += [
            hopper_call("gemm_hopper", some, w, g),
            fused_call(g, target[of], g, found.loss[of], weight, KINDS["bf16"]),
            *gradient_calls(g, some, w, found.dx[of], found.dw, adds=start > 0),
        ]
    return tuple(calls)


def recomputed_calls(x: Any, w: Any, target: Any, found: HeadResults, chunk: int = CHUNK) -> Calls:
    """Losses first, without logits. Then the gradients of logits that are made again for ``chunk``
    tokens at a time. Any number of words."""
    weight, counting = _weight(target)
    (tokens, width), words = x.shape, len(w)
    logsumexp = cp.empty(tokens, np.float32)
    room = cp.empty((min(chunk, tokens), ceil_div(words, 8) * 8), np.uint16)
    calls = [counting, *loss_calls(x, w, target, logsumexp, found.loss)]
    for start in range(0, tokens, chunk):
        of = slice(start, start + chunk)
        some = x[of]
        g = room[: len(some), :words]
        more = logsumexp[of], target[of], weight
        shape = len(some), words, width
        calls += [
            product_call("logit_gradients", some, w, g, *more, [IGNORED], shape=shape),
            *gradient_calls(g, some, w, found.dx[of], found.dw, adds=start > 0),
        ]
    return tuple(calls)


# --- inputs and references ---


def inputs_of(n: LossSize) -> tuple[Any, Any, Any]:
    """X, W and targets, some of which are IGNORED. Logits have a standard deviation of 1."""
    tokens, width, words = n
    x, w = to_bf16(normal((tokens, width))), to_bf16(width**-0.5 * normal((words, width), 1))
    target = np.random.default_rng(4).integers(0, words, tokens)
    target[1::1024] = IGNORED
    return x, w, cp.asarray(target)


def exact(x: Any, w: Any, target: Any, gradients: bool = True) -> tuple[Any, Any, Any]:
    """The loss of each token and the gradients of their mean, dX and dW, in float64."""
    words, counts = double(from_bf16(w)), target != IGNORED
    loss, dx = cp.zeros(len(x)), cp.zeros(x.shape)
    dw = cp.zeros(w.shape if gradients else (0, 0))
    for start in range(0, len(x), 1024):
        of = slice(start, start + 1024)
        some, count = double(from_bf16(x[of])), counts[of]
        logits = some @ words.T
        logits -= logits.max(axis=1, keepdims=True)
        rows, there = cp.asarray(np.arange(len(some))), cp.where(count, target[of], 0)
        wanted = logits[rows, there]
        g = np.exp(logits)
        sums = g.sum(axis=1, keepdims=True)
        loss[of] = cp.where(count, np.log(sums[:, 0]) - wanted, 0)
        if gradients:
            g /= sums
            g[rows, there] -= 1
            g *= count[:, None] / max(int(counts.sum()), 1)
            dx[of] = g @ words
            dw += g.T @ some
    return loss, dx, dw


@dataclass(frozen=True)
class HeadWork(Workload):
    """Work with the results of a :class:`HeadResults`, each number brought to a size of about 1."""

    n: LossSize = (1, 8, 8)
    counted: int = 1

    def numbers(self, result: Any) -> Any:
        tokens, width, words = self.n
        gradients = (tokens + words) * width
        values = from_bf16(result[:gradients])
        return self.scaled(
            result[gradients:].view(np.float32), values[: tokens * width], values[tokens * width :]
        )

    def scaled(self, loss: Any, dx: Any, dw: Any) -> Any:
        """In one row: gradients of a sum, the tokens' divided by the size of W's numbers."""
        size = np.float32(self.counted * self.n[1] ** 0.5)
        parts = dx.ravel() * size, dw.ravel() * np.float32(self.counted), loss
        return cp.concatenate([part.astype(np.float32) for part in parts])


def work_on(
    ways: Callable[..., Calls], n: LossSize, arrays: tuple[Any, Any, Any], **more: Any
) -> HeadWork:
    """The calls that ``ways`` makes for X, W and targets, of size ``n``. The error is mostly that
    of logits and of their gradients in bf16."""
    x, w, target = arrays
    found, counted = HeadResults.of(n), max(1, int((target != IGNORED).sum()))
    scaled = HeadWork((), found.room, lambda: None, n=n, counted=counted).scaled
    return HeadWork(
        ways(x, w, target, found),
        output=found.room,
        expected=lambda: scaled(*exact(x, w, target)),
        rtol=1e-2,
        atol=2.5e-2,
        same_bits=False,  # __expf is the hardware's
        n=n,
        counted=counted,
        **more,
    )


def _chunked_work(n: LossSize) -> Workload:
    arrays = inputs_of(n)
    return work_on(chunked_calls, n, arrays, libraries=_training(*arrays, HeadResults.of(n)))


def _recomputed_work(n: LossSize) -> Workload:
    return work_on(recomputed_calls, n, inputs_of(n))  # the libraries are measured once


def _loss_work(n: LossSize) -> Workload:
    x, w, target = inputs_of(n)
    loss, kept = (cp.empty(n[0], np.float32) for _ in range(2))
    return Workload(
        loss_calls(x, w, target, kept, loss),
        output=loss,
        expected=lambda: exact(x, w, target, gradients=False)[0],
        rtol=1e-4,
        atol=1e-4,
        same_bits=False,
        libraries=_evaluation(x, w, target),
    )


# --- libraries ---


def torch_loss(x: Any, w: Any, target: Any) -> Any:
    """PyTorch's loss of a linear layer: all logits at once."""
    functional = torch_on_gpu().nn.functional
    return functional.cross_entropy(functional.linear(x, w), target, ignore_index=IGNORED)


def on_cublas(
    x: Any, w: Any, target: Any, found: HeadResults, chunk: int = CHUNK
) -> Callable[[], None]:
    """:func:`chunked_calls` with PyTorch's products, which are cuBLAS's, instead of ours."""
    torch = torch_on_gpu()
    weight, counting = _weight(target)
    room = cp.empty((min(chunk, len(x)), len(w)), np.uint16)
    losses, products = [counting.ready()], []
    words, dw, logits, tokens, dx = as_tensors(w, found.dw, room, x, found.dx)
    for start in range(0, len(x), chunk):
        of = slice(start, start + chunk)
        g = room[: len(x[of])]
        losses.append(fused_call(g, target[of], g, found.loss[of], weight, KINDS["bf16"]).ready())
        products.append((tokens[of], logits[: len(g)], dx[of]))

    def run() -> None:
        losses[0]()
        for number, (some, g, to) in enumerate(products):
            torch.mm(some, words.T, out=g)
            losses[number + 1]()
            torch.mm(g, words, out=to)
            dw.addmm_(g.T, some, beta=min(number, 1))

    return run


def _training(x: Any, w: Any, target: Any, found: HeadResults) -> dict[str, Callable[[], Any]]:
    """PyTorch's loss and gradients, eager and compiled, those in our chunks on cuBLAS, and Liger's
    if it is installed. They are timed, not checked: they give three arrays."""
    torch = torch_on_gpu()
    if torch is None:
        return {}
    ours = {"cuBLAS in our chunks": on_cublas(x, w, target, found)}
    x, w, target = as_tensors(x, w, target)
    x, w = (each.detach().requires_grad_() for each in (x, w))
    by_compiler = compiled_whole(torch_loss)
    losses = {
        "torch eager": lambda: torch_loss(x, w, target),
        "torch.compile": lambda: by_compiler(x, w, target),
    } | liger(x, w, target)

    def gradients(loss: Callable[[], Any]) -> None:
        torch.autograd.grad(loss(), (x, w))

    return ours | {name: partial(gradients, loss) for name, loss in losses.items()}


def liger(x: Any, w: Any, target: Any) -> dict[str, Callable[[], Any]]:
    """Liger's fused linear cross entropy, if it is installed."""
    if importlib.util.find_spec("liger_kernel") is None:
        return {}
    functional = importlib.import_module("liger_kernel.transformers.functional")
    loss = partial(functional.liger_fused_linear_cross_entropy, x, w, target, ignore_index=IGNORED)
    larger = max(1, CHUNK * len(w) // (len(x) * x.shape[1]))  # chunks of CHUNK tokens
    return {"Liger": loss, "Liger, our chunks": partial(loss, chunk_mem_const=larger)}


def _evaluation(x: Any, w: Any, target: Any) -> dict[str, Callable[[], Any]]:
    torch = torch_on_gpu()
    if torch is None:
        return {}
    given = as_tensors(x, w, target)
    by_compiler = compiled_whole(torch_loss)

    def timed(loss: Callable[..., Any]) -> None:
        with torch.no_grad():
            loss(*given)

    return {"torch eager": partial(timed, torch_loss), "torch.compile": partial(timed, by_compiler)}


def _case(
    name: str, make: Callable[[LossSize], Workload], products: int, files: tuple[str, ...]
) -> Case:
    sizes = ((8192, 4096, 131072),)
    what = "its loss" if products == 1 else "its loss and gradients"
    return Case(
        name,
        f"a linear layer and {what}, bf16",
        files,
        make,
        bytes=lambda n: (2 if products == 1 else 4) * n[1] * (n[0] + n[2]),
        flops=lambda n: 2 * products * n[0] * n[1] * n[2],
        gpu_sizes=sizes,
        test_sizes=((1, 8, 8),),
        ceiling="read",
        peak="bf16",
        sustained_sizes=sizes if name == "linear_loss_chunked" else (),
    )


GRADIENTS = CHAPTER.files("token_gradients", "word_gradients")
CASES = (
    _case("logit_pairs", _loss_work, 1, CHAPTER.files("logit_pairs", "pairs_merged")),
    _case(
        "linear_loss_chunked",
        _chunked_work,
        3,
        (
            *GRADIENTS,
            *HOPPER.files("gemm_hopper"),
            *CHAPTER.files("cross_entropy_fused", "target_weight"),
        ),
    ),
    _case(
        "linear_loss_recomputed",
        _recomputed_work,
        3,
        (
            *CHAPTER.files("logit_gradients", "logit_pairs", "pairs_merged"),
            *GRADIENTS,
            *CHAPTER.files("target_weight"),
        ),
    ),
)
