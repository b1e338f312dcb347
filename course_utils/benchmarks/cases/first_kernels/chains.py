"""A chain of element-wise kernels, apart and fused, and the gradient of its dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....devices.selection import cp
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.torch_runs import Runs, as_tensors, by_torch, compiled, torch_on_gpu, unchecked
from ...harness.workload import KernelCall, Workload
from .common import CHAPTER, UP_TO_2_26

SCALE, SHIFT, SEED, KEEP = 0.7, -0.1, 2024, 0.9  # of the chain of element-wise kernels
RTOL, ATOL = 1e-5, 1e-6


def kept(n: int) -> Any:
    """What kernels/common/dropout.cuh decides for elements 0 ... n - 1, as booleans."""
    bits = cp.arange(n, dtype=cp.uint32) ^ cp.uint32(SEED)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        bits = (bits ^ bits >> cp.uint32(shift)) * cp.uint32(factor)
    bits = (bits ^ bits >> cp.uint32(16)) >> cp.uint32(8)
    return bits.astype(cp.float32) < cp.float32(KEEP) * cp.float32(2**24)


def exact_chain(x: Any) -> Any:
    """What the chain makes of the fp32 vector ``x``, in float64."""
    value = SCALE * double(x) + SHIFT
    return double(x) + cp.where(kept(x.size), value / (1 + cp.exp(-value)) / KEEP, 0.0)


def _chain(*names: str) -> Callable[[int], Workload]:
    def make(n: int) -> Workload:
        x, y = normal(n), cp.empty(n, cp.float32)
        arguments = {
            "chain_affine": (x, y, SCALE, SHIFT, n),
            "chain_silu": (y, n),
            "chain_dropout": (y, SEED, KEEP, n),
            "chain_residual": (y, x, n),
        }
        whole = (x, y, SCALE, SHIFT, SEED, KEEP, n)
        fused = len(names) == 1
        per_thread = 4 if "chain_fused_vector" in names else 1
        grid = ceil_div(n, 256 * per_thread)
        return Workload(
            tuple(KernelCall(CHAPTER.kernel(k), grid, 256, arguments.get(k, whole)) for k in names),
            output=y,
            expected=lambda: exact_chain(x),
            rtol=RTOL,
            atol=ATOL,
            libraries=_by_torch(x) if fused else {},
            same_bits=False,  # a GPU's fast exponential is not the emulator's
        )

    return make


def _by_torch(x: Any) -> Runs:
    """The chain with torch's own random mask, timed and not checked, and compiled with ours."""
    if torch_on_gpu() is None:
        return {}
    same = compiled(_torch_chain_by_hash, *as_tensors(x), name="torch.compile, our hash")
    return unchecked(by_torch(_torch_chain, x, graph=True)) | same


def _torch_chain(x: Any) -> Any:
    functional = torch_on_gpu().nn.functional
    return x + functional.dropout(functional.silu(SCALE * x + SHIFT), 1 - KEEP)


def _torch_chain_by_hash(x: Any) -> Any:
    torch = torch_on_gpu()
    value = torch.nn.functional.silu(SCALE * x + SHIFT) / KEEP
    return x + torch.where(torch_kept(torch, x), value, 0.0)


def torch_kept(torch: Any, x: Any) -> Any:
    """The booleans of :func:`kept`, by int32, as Triton multiplies it."""

    def shifted(bits: Any, shift: int) -> Any:
        return bits >> shift & (1 << 32 - shift) - 1  # >> keeps the sign

    bits = torch.arange(x.numel(), dtype=torch.int32, device=x.device) ^ SEED
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        bits = (bits ^ shifted(bits, shift)) * (factor - (1 << 32))
    bits = shifted(bits ^ shifted(bits, 16), 8)
    return bits.to(torch.float32) < KEEP * 2**24


def _chain_case(name: str, *files: str, **more: Any) -> Case:
    settings = {"gpu_sizes": (1 << 26,), "test_sizes": (1, 61, 1009)} | more
    return Case(
        name,
        "affine, SiLU, dropout, add",
        CHAPTER.files(*files),
        _chain(*files),
        bytes=lambda n: 8 * n,
        flops=lambda n: 8 * n,
        **settings,
    )


def _dropout_backward(stored: bool) -> Callable[[int], Workload]:
    def make(n: int) -> Workload:
        dy, dx, mask = normal(n), cp.empty(n, cp.float32), kept(n)
        name, arguments = (
            ("dropout_backward_stored", (dy, mask, dx, KEEP, n))
            if stored
            else ("dropout_backward_recomputed", (dy, dx, SEED, KEEP, n))
        )
        launch = KernelCall(CHAPTER.kernel(name), ceil_div(n, 1024), 256, arguments)
        return Workload((launch,), dx, lambda: cp.where(mask, double(dy) / KEEP, 0.0), rtol=1e-6)

    return make


def _dropout_case(name: str) -> Case:
    stored = name.endswith("stored")
    return Case(
        name,
        "gradient of dropout",
        CHAPTER.files(name),
        _dropout_backward(stored),
        bytes=lambda n: 8 * n,
        flops=lambda n: n,
        gpu_sizes=(1 << 26,),
        test_sizes=(4, 260, 1012),
    )


CASES = (
    _chain_case("chain_separate", "chain_affine", "chain_silu", "chain_dropout", "chain_residual"),
    _chain_case("chain_fused", "chain_fused"),
    _chain_case(
        "chain_fused_vector",
        "chain_fused_vector",
        gpu_sizes=UP_TO_2_26,
        test_sizes=(4, 260, 1012),
    ),
    _dropout_case("dropout_backward_stored"),
    _dropout_case("dropout_backward_recomputed"),
)
