"""The strongest public kernels for single tasks, where they are installed: FlashAttention-3, in
CUTLASS for Hopper, FlashAttention-4 and QuACK, both written in CUTLASS's Python DSL for Hopper and
newer GPUs, FlashInfer for decoding, sampling and top k, and Liger, in Triton.

Each function returns calls by name, and a name has the package's version. Without the package, or a
GPU, there are none. Arrays of uint16 carry the bits of bf16.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ...devices.selection import cp
from ..harness.torch_runs import Runs, as_tensors, torch_on_gpu, unchecked

PACKAGES = {
    "FlashAttention-3": "flash-attn-3",
    "FlashAttention-4": "flash-attn-4",
    "QuACK": "quack-kernels",
    "FlashInfer": "flashinfer-python",
    "Liger": "liger-kernel",
}
SINCE = 9  # of a GPU's compute capability
LAST = {"FlashAttention-3": 9}  # wgmma is Hopper's alone
FLASH_ATTENTION = {  # where its flash_attn_func is
    "FlashAttention-3": "flash_attn_interface",
    "FlashAttention-4": "flash_attn.cute.interface",
}
ROOM = 256 << 20  # bytes that FlashInfer works in


@cache
def versioned(rival: str) -> str:
    """The name of ``rival``, one of PACKAGES, with its version, or "" unless it can run here."""
    torch = torch_on_gpu()
    if torch is None:
        return ""
    major = torch.cuda.get_device_capability()[0]
    if not SINCE <= major <= LAST.get(rival, major):
        return ""
    try:
        return f"{rival} {version(PACKAGES[rival])}"
    except PackageNotFoundError:
        return ""


def missing() -> list[str]:
    """A line for each rival that isn't among the libraries here."""
    return [
        f"{rival} is not among the libraries: it needs the package {package}, and a Hopper GPU."
        for rival, package in PACKAGES.items()
        if not versioned(rival)
    ]


def _flash_attention() -> dict[str, Callable[..., Any]]:
    """Attention of tensors (sequences, tokens, heads, d) by name: FlashAttention-4 returns the sums
    of its rows too, FlashAttention-3 where it's asked to."""

    def first(module: str, *given: Any, **settings: Any) -> Any:
        found = import_module(module).flash_attn_func(*given, **settings)
        return found[0] if isinstance(found, tuple) else found

    named = {versioned(rival): module for rival, module in FLASH_ATTENTION.items()}
    return {name: partial(first, module) for name, module in named.items() if name}


def attention(q: Any, k: Any, v: Any, causal: bool) -> Runs:
    """Attention of torch tensors (sequences, heads, tokens, d) in bf16, in the same shape."""
    by_tokens = [x.transpose(1, 2) for x in (q, k, v)]

    def run(forward: Callable[..., Any]) -> Any:
        return forward(*by_tokens, causal=causal).transpose(1, 2)

    return {name: partial(run, forward) for name, forward in _flash_attention().items()}


def attention_backward(q: Any, k: Any, v: Any, do: Any, causal: bool) -> Runs:
    """The gradients of :func:`attention` for its output's, ``do``, not checked."""
    leaves = [x.transpose(1, 2).detach().requires_grad_() for x in (q, k, v)]
    gradient = do.transpose(1, 2)

    @cache  # the forward pass is not timed
    def output(forward: Callable[..., Any]) -> Any:
        return forward(*leaves, causal=causal)

    def run(forward: Callable[..., Any]) -> Any:
        return torch_on_gpu().autograd.grad(output(forward), leaves, gradient, retain_graph=True)

    return unchecked({name: partial(run, each) for name, each in _flash_attention().items()})


def decoding(q: Any, k: Any, v: Any, lengths: Any, table: Any) -> Runs:
    """Attention of one new token of each sequence, ``q`` (sequences, heads, d), with ``k`` and
    ``v`` in pages (pages, kv_heads, tokens of one, d) and at least one token in each sequence.
    FlashInfer has three ways. The first call of each builds it, and plans two of them."""
    if not (name := versioned("FlashInfer")):
        return {}
    torch = torch_on_gpu()
    tq, tk, tv, ends, pages = as_tensors(q, k, v, lengths, table)
    page, out = tk.shape[2], torch.empty_like(tq)

    @cache
    def room() -> Any:
        return torch.zeros(ROOM, dtype=torch.uint8, device=tq.device)

    @cache
    def planned(tensor_cores: bool) -> Any:
        wrapper = import_module("flashinfer.decode").BatchDecodeWithPagedKVCacheWrapper
        used = (ends + page - 1) // page
        rows = zip(pages, used.tolist(), strict=True)
        indices = torch.cat([row[:count] for row, count in rows])
        first = torch.nn.functional.pad(used.cumsum(0, dtype=torch.int32), (1, 0))
        last = ends - (used - 1) * page
        shape = tq.shape[1], tk.shape[1], tq.shape[2], page
        plan = wrapper(room().clone(), "HND", use_tensor_cores=tensor_cores)
        plan.plan(first, indices, last, *shape, q_data_type=tq.dtype, kv_data_type=tk.dtype)
        return plan

    def run(tensor_cores: bool) -> Any:
        return planned(tensor_cores).run(tq, (tk, tv), out=out)[:, :, None]

    @cache
    def longest() -> int:
        return int(ends.max())

    def xqa() -> Any:
        decode = import_module("flashinfer.decode").xqa_batch_decode_with_kv_cache
        place = room(), pages, ends.view(torch.uint32), longest(), tq.shape[2] ** -0.5
        return decode(tq, (tk, tv), *place, out=out, kv_layout="HND")[:, :, None]

    return {
        name: lambda: run(False),
        f"{name}, tensor cores": lambda: run(True),
        f"{name}, XQA": xqa,
    }


def sampling(logits: Any, temperature: float, seed: int) -> Runs:
    """A token of each row of fp32 ``logits``, not checked: FlashInfer has other random numbers. Its
    race takes no ``temperature``, which is a product less for each logit; its softmax does."""
    if not (name := versioned("FlashInfer")):
        return {}
    (rows,) = as_tensors(logits)
    numbers = {"seed": seed, "offset": 0}

    def race() -> Any:
        return import_module("flashinfer.sampling").sampling_from_logits(rows, **numbers)

    def from_softmax() -> Any:
        library = import_module("flashinfer.sampling")
        return library.sampling_from_probs(library.softmax(rows, temperature), **numbers)

    return unchecked({f"{name}, no temperature": race, f"{name}, softmax": from_softmax})


def nucleus_sampling(logits: Any, k: int, p: float, temperature: float, seed: int) -> Runs:
    """A token from the nucleus ``p`` of the ``k`` largest of each row of fp32 ``logits``, not
    checked. The division by the ``temperature`` is not timed: FlashInfer leaves it to others."""
    if not (name := versioned("FlashInfer")):
        return {}
    (rows,) = as_tensors(logits)
    scaled = cache(lambda: rows / temperature)
    settings = {"filter_apply_order": "top_k_first", "seed": seed, "offset": 0}

    def run() -> Any:
        library = import_module("flashinfer.sampling")
        return library.top_k_top_p_sampling_from_logits(scaled(), k, p, **settings)

    return unchecked({name: run})


def top_k(x: Any, k: int) -> Runs:
    """The ``k`` largest of each row of fp32 ``x``: values, in order, and indices. Unsorted ones are
    not checked."""
    if not (name := versioned("FlashInfer")):
        return {}
    (rows,) = as_tensors(x)

    def run(in_order: bool) -> Any:
        return tuple(import_module("flashinfer.topk").top_k(rows, k, sorted=in_order))

    unsorted = unchecked({f"{name}, unsorted": partial(run, False)})
    return {name: partial(run, True)} | unsorted


def product(a: Any, b: Any) -> Runs:
    """C = A B^T of bf16 matrices ``a`` (M, K) and ``b`` (N, K), with the fastest of QuACK's
    configurations, which its first call tries."""
    if not (name := versioned("QuACK")):
        return {}
    gemm = import_module("quack.gemm_interface").gemm
    c = cp.empty((len(a), len(b)), a.dtype)
    x, across, z = as_tensors(a, b, c)

    def run() -> Any:
        gemm(x, across.T, out=z)
        return c

    return {name: run}


def softmax(x: Any) -> Runs:
    """The softmax of each row of ``x``."""
    if not (name := versioned("QuACK")):
        return {}
    forward = import_module("quack.softmax").softmax_fwd
    (rows,) = as_tensors(x)
    return {name: lambda: forward(rows)}


def rms_norm(x: Any, gamma: Any, eps: float) -> Runs:
    """The RMS normalisation of each row of ``x``."""
    found: Runs = {}
    if name := versioned("QuACK"):
        by_quack = import_module("quack.rmsnorm").rmsnorm_fwd
        rows, factors = as_tensors(x, gamma)
        found[name] = lambda: by_quack(rows, factors, eps=eps)[0]
    if name := versioned("Liger"):
        by_liger, given = _liger("rms_norm", "rms_norm_forward"), as_tensors(x, gamma)
        found[name] = lambda: by_liger(*given, eps, 0.0, "gemma", None)[0]  # all of it in fp32
    return found


def layer_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Runs:
    """The normalisation of each row of ``x``. QuACK takes ``gamma`` and ``beta`` in fp32 alone."""
    found: Runs = {}
    if name := versioned("QuACK"):
        by_quack = import_module("quack.rmsnorm").layernorm_fwd
        rows, *others = as_tensors(x, gamma, beta)
        factors, offsets = (each.float() for each in others)
        found[name] = lambda: by_quack(rows, factors, offsets, eps=eps)
    if name := versioned("Liger"):
        by_liger, given = _liger("layer_norm", "layer_norm_forward"), as_tensors(x, gamma, beta)
        found[name] = lambda: by_liger(*given, eps)[0]
    return found


def rms_norm_backward(dy: Any, x: Any, gamma: Any, rstd: Any) -> Runs:
    """The gradients of :func:`rms_norm`, not checked. Liger's dx takes the place of dy, here of a
    copy."""
    found: Runs = {}
    if name := versioned("QuACK"):
        by_quack = import_module("quack.rmsnorm").rmsnorm_bwd
        d, rows, factors, scales = as_tensors(dy, x, gamma, rstd)
        found[name] = lambda: by_quack(rows, factors, d, scales)
    if name := versioned("Liger"):
        by_liger, mode = _liger("rms_norm", "rms_norm_backward"), 1  # gemma's: all of it in fp32
        gradient, *given = as_tensors(dy, x, gamma, rstd)
        copied, shape = cache(gradient.clone), _liger("utils", "calculate_settings")(x.shape[1])
        found[name] = lambda: by_liger(copied(), *given, 0.0, mode, *shape, True, None)
    return unchecked(found)


def layer_norm_backward(dy: Any, x: Any, gamma: Any, mean: Any, rstd: Any) -> Runs:
    """The gradients of :func:`layer_norm`, not checked."""
    found: Runs = {}
    if name := versioned("QuACK"):
        by_quack = import_module("quack.rmsnorm").layernorm_bwd
        d, rows, factors, means, scales = as_tensors(dy, x, gamma, mean, rstd)
        wide = factors.float()
        found[name] = lambda: by_quack(rows, wide, d, scales, means)
    if name := versioned("Liger"):
        by_liger = _liger("layer_norm", "layer_norm_backward")
        given = as_tensors(dy, x, gamma, gamma, mean, rstd)
        found[name] = lambda: by_liger(*given)
    return unchecked(found)


def _liger(module: str, name: str) -> Any:
    return getattr(import_module(f"liger_kernel.ops.{module}"), name)


def cross_entropy(x: Any, target: Any, ignored: int) -> Runs:
    """The losses of the rows of ``x`` and the gradient, in one kernel each, not checked. QuACK's is
    of the sum: without the division by the rows that count, which is a small kernel more. Liger's
    takes the place of the logits, here of a copy."""
    found: Runs = {}
    if name := versioned("QuACK"):
        by_quack = import_module("quack.cross_entropy").cross_entropy_fwd
        rows, wanted = as_tensors(x, target)
        both = {"ignore_index": ignored, "return_dx": True}
        found[f"{name}, gradient of the sum"] = lambda: by_quack(rows, wanted, **both)
    if name := versioned("Liger"):
        by_liger = _liger("cross_entropy", "cross_entropy_forward")
        logits, classes = as_tensors(x, target)
        copied = cache(lambda: logits.detach().clone().requires_grad_())
        more = None, ignored, 0.0, 0.0, "mean", None, False
        found[name] = lambda: by_liger(copied(), classes, *more)
    return unchecked(found)
