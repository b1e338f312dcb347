"""The benchmarks of layer normalisation, forward and backward, and of its relatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ....devices.properties import sm_count
from ....devices.selection import cp
from ....errors import LessonError
from ....integers import ceil_div
from ...harness.arrays import normal
from ...harness.case import Case
from ...harness.torch_runs import Runs, as_tensors, by_torch, compiled, torch_on_gpu, unchecked
from ...harness.workload import Calls, KernelCall, Workload
from ...libraries import rivals
from .operators import BF16, CHAPTER, FP32, KINDS, TEST_SIZES, Kind, KindWork, Rows

EPS = 1e-5
SIZES = ((16384, 4096),)


def row_defines(
    columns: int, kind: Kind, most_groups: int = 8, threads: int = 128
) -> dict[str, Any]:
    """ELEMENT, THREADS and GROUPS for a row of ``columns`` in the registers of one block.

    Blocks as small as the row allows, from ``threads`` on; a thread keeps up to ``most_groups``
    groups of 16 bytes, half as many of bf16, which take the same registers.
    Raises LessonError where the row is longer than a block holds.
    """
    most = max(1, most_groups * kind.width // 4)
    groups = ceil_div(columns * kind.width, 16)
    while threads < 1024 and threads * most < groups:
        threads *= 2
    if threads * most < groups:
        raise LessonError(f"A row of {columns} numbers is too long for the registers of a block.")
    return {"ELEMENT": kind.c_type, "THREADS": threads, "GROUPS": ceil_div(groups, threads)}


def _rows(n: Rows, kind: Kind) -> tuple[Any, Any, Any]:
    """x far from zero in part, gamma and beta, of a kind."""
    rows, columns = n
    x = normal(n) + 2 * cp.asarray(np.arange(rows, dtype=np.float32) % 3)[:, None]
    return kind.made(x), kind.made(1 + normal(columns, 1) / 4), kind.made(normal(columns, 2) / 4)


def moments_of(x: Any) -> tuple[Any, Any]:
    """Mean and 1 / sqrt(variance + EPS) of each row of ``x`` in float64, as columns."""
    mean = x.mean(axis=1, keepdims=True)
    return mean, 1 / np.sqrt(((x - mean) ** 2).mean(axis=1, keepdims=True) + EPS)


# --- forward ---

Shares = Callable[[int, Kind], tuple[int, dict[str, Any]]]  # of a row: threads, and defines


SEARCHED = SIZES[0][1]  # columns
# Least threads of a block, and blocks for which an SM has room in rows of up to SEARCHED columns,
# by the bytes of an element: from a search on an H200.
SHAPES = {
    "layer_norm_vector": {2: (128, 8), 4: (256, 1)},
    "rms_norm": {2: (256, 8), 4: (512, 4)},
}


def _in_registers(name: str, columns: int, kind: Kind) -> tuple[int, dict[str, Any]]:
    least, blocks = SHAPES[name][kind.width]
    defines = row_defines(columns, kind, threads=least)
    return defines["THREADS"], defines | {"BLOCKS": blocks if columns <= SEARCHED else 1}


LAYER_NORMS: dict[str, Shares] = {
    "layer_norm_two_pass": lambda columns, kind: (256, {}),
    "layer_norm_welford": lambda columns, kind: (256, {}),
    "layer_norm_registers": lambda columns, kind: (256, {"EACH": ceil_div(columns, 256)}),
    "layer_norm_vector": partial(_in_registers, "layer_norm_vector"),
}


def _layer_norm(name: str, kind: Kind = FP32) -> Callable[[Rows], Workload]:
    def make(n: Rows) -> Workload:
        rows, columns = n
        (x, gamma, beta), y = _rows(n, kind), kind.empty(n)
        threads, defines = LAYER_NORMS[name](columns, kind)
        arguments = x, gamma, beta, y, *cp.empty((2, rows), np.float32), columns, EPS

        def expected() -> Any:
            exact, factors, offsets = (kind.exact(each) for each in (x, gamma, beta))
            mean, rstd = moments_of(exact)
            return (exact - mean) * rstd * factors + offsets

        call = KernelCall(CHAPTER.kernel(name, **defines), rows, threads, arguments)
        last_rung = name == "layer_norm_vector"
        libraries: Runs = {}
        if last_rung:
            libraries = by_torch(_torch_layer_norm, x, gamma, beta)
            libraries |= rivals.layer_norm(x, gamma, beta, EPS)
        return _forward_work(call, y, expected, kind, libraries)

    return make


def _rms_norm(kind: Kind) -> Callable[[Rows], Workload]:
    def make(n: Rows) -> Workload:
        rows, columns = n
        (x, gamma, _), y = _rows(n, kind), kind.empty(n)
        threads, defines = _in_registers("rms_norm", columns, kind)
        arguments = x, gamma, y, cp.empty(rows, np.float32), columns, EPS

        def expected() -> Any:
            exact = kind.exact(x)
            return exact * _rms_scale(exact) * kind.exact(gamma)

        call = KernelCall(CHAPTER.kernel("rms_norm", **defines), rows, threads, arguments)
        libraries = by_torch(_torch_rms_norm, x, gamma) | rivals.rms_norm(x, gamma, EPS)
        return _forward_work(call, y, expected, kind, libraries)

    return make


def _rms_scale(exact: Any) -> Any:
    """1 / sqrt(mean of squares + EPS) of each row in float64, as a column."""
    return 1 / np.sqrt((exact**2).mean(axis=1, keepdims=True) + EPS)


def _forward_work(
    call: KernelCall, y: Any, expected: Callable[[], Any], kind: Kind, libraries: Runs
) -> Workload:
    return KindWork(
        (call,),
        output=y,
        expected=expected,
        rtol=kind.rtol,
        atol=kind.rtol,
        libraries=libraries,
        same_bits=False,  # rsqrtf may differ in its last digit
        kind=kind,
    )


def _torch_layer_norm(x: Any, gamma: Any, beta: Any) -> Any:
    return torch_on_gpu().nn.functional.layer_norm(x, gamma.shape, gamma, beta, EPS)


def _torch_rms_norm(x: Any, gamma: Any) -> Any:
    return torch_on_gpu().nn.functional.rms_norm(x, gamma.shape, gamma, EPS)


# --- backward ---

MOST_THREADS = 512  # of a block of layer_norm_backward.cu


def backward_defines(columns: int, kind: Kind) -> dict[str, Any]:
    """How ``layer_norm_backward.cu`` divides a row of ``columns``: a thread keeps two arrays, and
    sums besides. The rest from a search on an H200. Raises LessonError where the row is too long.
    """
    defines = row_defines(columns, kind, most_groups=2)
    defines |= {"STAGES": 3, "RESIDENT": 1 if kind.width == 4 else 2}
    if defines["THREADS"] > MOST_THREADS:
        defines |= {"THREADS": MOST_THREADS, "STAGES": 2}
        defines["GROUPS"] = ceil_div(columns * kind.width, 16 * MOST_THREADS)
    return defines


def backward_calls(
    arrays: tuple[Any, ...], n: Rows, kind: Kind, dx: Any, sums: Any, **tried: Any
) -> Calls:
    """Both stages for ``arrays``, which are dy, x, gamma, mean and rstd: ``dx``, and dgamma and
    dbeta in the two rows of ``sums``; where it has one row, dx and dgamma of an RMS normalisation.
    ``tried`` are defines in place of ours."""
    rows, columns = n
    defines = backward_defines(columns, kind) | {"CENTERED": len(sums) - 1} | tried
    parts = min(rows, sm_count() * defines["RESIDENT"])
    partial_sums = cp.empty((parts, *sums.shape), np.float32)
    shared = defines["STAGES"] * 2 * defines["GROUPS"] * defines["THREADS"] * 16
    both = sums.size
    second = CHAPTER.kernel("column_sums", ELEMENT=kind.c_type)
    return (
        KernelCall(
            CHAPTER.kernel("layer_norm_backward", **defines),
            parts,
            defines["THREADS"],
            (*arrays, dx, partial_sums, rows, columns),
            shared,
        ),
        KernelCall(second, ceil_div(both, 32), 256, (partial_sums, sums, parts, both)),
    )


def _split_calls(arrays: tuple[Any, ...], n: Rows, dx: Any, sums: Any) -> Calls:
    """A kernel for dx and one for dgamma and dbeta, fp32."""
    rows, columns = n
    dy, x, gamma, mean, rstd = arrays
    defines = row_defines(columns, FP32, 4, 256)
    del defines["ELEMENT"]
    by_rows = CHAPTER.kernel("layer_norm_backward_rows", **defines)
    by_columns = CHAPTER.kernel("layer_norm_backward_columns")
    return (
        KernelCall(by_rows, rows, defines["THREADS"], (dy, x, gamma, mean, rstd, dx, columns)),
        KernelCall(
            by_columns, ceil_div(columns, 32), 256, (dy, x, mean, rstd, *sums, rows, columns)
        ),
    )


def backward_inputs(n: Rows, kind: Kind) -> tuple[Any, ...]:
    """dy, x, gamma, mean and rstd."""
    x, gamma, _ = _rows(n, kind)
    mean, rstd = (each.astype(np.float32).ravel() for each in moments_of(kind.exact(x)))
    return kind.made(normal(n, 3)), x, gamma, mean, rstd


def _backward(fused: bool, kind: Kind) -> Callable[[Rows], Workload]:
    def make(n: Rows) -> Workload:
        rows, columns = n
        arrays = backward_inputs(n, kind)
        whole = kind.empty(rows * columns + 2 * columns)  # dx, dgamma, dbeta
        dx, sums = whole[: rows * columns].reshape(n), whole[rows * columns :].reshape(2, columns)
        calls = (
            backward_calls(arrays, n, kind, dx, sums)
            if fused
            else _split_calls(arrays, n, dx, sums)
        )

        def expected() -> Any:
            dy, x, gamma = (kind.exact(each) for each in arrays[:3])
            mean, rstd = moments_of(x)
            normed, gradient = (x - mean) * rstd, dy * gamma
            dx = gradient - gradient.mean(axis=1, keepdims=True)
            dx = rstd * (dx - normed * (gradient * normed).mean(axis=1, keepdims=True))
            parts = dx.ravel(), (dy * normed).sum(axis=0), dy.sum(axis=0)
            return np.concatenate([each.ravel() for each in parts])

        return KindWork(
            calls,
            output=whole,
            expected=expected,
            rtol=kind.rtol,
            atol=1e-5 * rows**0.5,
            libraries=_torch_backward(*arrays) | rivals.layer_norm_backward(*arrays)
            if fused
            else {},
            kind=kind,
        )

    return make


def _rms_backward(kind: Kind) -> Callable[[Rows], Workload]:
    def make(n: Rows) -> Workload:
        rows, columns = n
        x, gamma, _ = _rows(n, kind)
        dy = kind.made(normal(n, 3))
        rstd = _rms_scale(kind.exact(x)).astype(np.float32).ravel()
        whole = kind.empty(rows * columns + columns)  # dx, dgamma
        dx, sums = whole[: rows * columns].reshape(n), whole[rows * columns :].reshape(1, columns)
        unread = rstd  # in place of the means

        def expected() -> Any:
            exact, gradient = kind.exact(x), kind.exact(dy) * kind.exact(gamma)
            scale = _rms_scale(exact)
            normed = exact * scale
            dx = scale * (gradient - normed * (gradient * normed).mean(axis=1, keepdims=True))
            return np.concatenate([dx.ravel(), (kind.exact(dy) * normed).sum(axis=0)])

        return KindWork(
            backward_calls((dy, x, gamma, unread, rstd), n, kind, dx, sums),
            output=whole,
            expected=expected,
            rtol=kind.rtol,
            atol=1e-5 * rows**0.5,
            libraries=_torch_rms_backward(dy, x, gamma, rstd)
            | rivals.rms_norm_backward(dy, x, gamma, rstd),
            kind=kind,
        )

    return make


def _torch_rms_backward(dy: Any, x: Any, gamma: Any, rstd: Any) -> Runs:
    """What PyTorch's autograd runs for both gradients, and what its compiler makes of the formula;
    timed, not checked: they give two arrays."""
    torch = torch_on_gpu()
    if torch is None:
        return {}
    dy, x, gamma, scale = as_tensors(dy, x, gamma, rstd[:, None])
    leaves = [each.detach().requires_grad_() for each in (x, gamma)]
    y = _torch_rms_norm(*leaves)

    def by_formula(dy: Any, x: Any, gamma: Any, scale: Any) -> Any:
        normed, gradient = x.float() * scale, dy.float() * gamma.float()
        product = (gradient * normed).mean(-1, keepdim=True)
        dx = scale * (gradient - normed * product)
        return dx.to(x.dtype), (dy.float() * normed).sum(0).to(x.dtype)

    def by_autograd() -> Any:
        return torch.autograd.grad(y, leaves, dy, retain_graph=True)

    formula = compiled(by_formula, dy, x, gamma, scale)
    return unchecked({"torch eager": by_autograd} | formula)


def _torch_backward(dy: Any, x: Any, gamma: Any, mean: Any, rstd: Any) -> Runs:
    """PyTorch's kernels for the three gradients, and what its compiler makes of the formula; timed,
    not checked: they give three arrays."""
    return unchecked(by_torch(_aten_backward, dy, x, gamma, mean[:, None], rstd[:, None]))


def _aten_backward(dy: Any, x: Any, gamma: Any, mean: Any, rstd: Any) -> Any:
    """PyTorch's operator for dx, dgamma and dbeta; its compiler takes it apart into formulas."""
    backward = torch_on_gpu().ops.aten.native_layer_norm_backward
    return backward(dy, x, gamma.shape, mean, rstd, gamma, gamma, [True, True, True])


def _case(
    name: str,
    what: str,
    make: Callable[[Rows], Workload],
    *,
    arrays: int,
    flops: int,
    kind: str = "fp32",
    files: tuple[str, ...] = (),
    **other: Any,
) -> Case:
    """The case of the kernels ``files``, or of ``name``, which move ``arrays`` as large as x."""
    return Case(
        name if kind == "fp32" else f"{name}_{kind}",
        f"{what}, {kind}",
        CHAPTER.files(*(files or (name,))),
        make,
        bytes=lambda n: arrays * KINDS[kind].width * n[0] * n[1],
        flops=lambda n: flops * n[0] * n[1],
        **{"gpu_sizes": SIZES, "test_sizes": TEST_SIZES[kind]} | other,
    )


GRADIENTS = "gradients of layer normalisation"
CASES = (
    *(
        _case(name, "layer normalisation", _layer_norm(name), arrays=2, flops=8)
        for name in LAYER_NORMS
    ),
    _case(
        "layer_norm_vector",
        "layer normalisation",
        _layer_norm("layer_norm_vector", BF16),
        arrays=2,
        flops=8,
        kind="bf16",
    ),
    *(
        _case("rms_norm", "RMS normalisation", _rms_norm(of), arrays=2, flops=4, kind=kind)
        for kind, of in KINDS.items()
    ),
    _case(
        "layer_norm_backward_split",
        GRADIENTS,
        _backward(False, FP32),
        arrays=3,
        flops=14,
        files=("layer_norm_backward_rows", "layer_norm_backward_columns"),
    ),
    *(
        _case(
            "layer_norm_backward",
            GRADIENTS,
            _backward(True, of),
            arrays=3,
            flops=14,
            kind=kind,
            files=("layer_norm_backward", "column_sums"),
            test_sizes=(*TEST_SIZES[kind], (300, 24)),  # more rows than blocks
        )
        for kind, of in KINDS.items()
    ),
    *(
        _case(
            "rms_norm_backward",
            "gradients of RMS normalisation",
            _rms_backward(of),
            arrays=3,
            flops=10,
            kind=kind,
            files=("layer_norm_backward", "column_sums"),
            test_sizes=(*TEST_SIZES[kind], (300, 24)),
        )
        for kind, of in KINDS.items()
    ),
)
