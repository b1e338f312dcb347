"""The benchmarks of layer normalisation, forward and backward, and of its relatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ....devices.properties import sm_count
from ....devices.selection import cp
from ....errors import LessonError
from ....integers import ceil_div
from ....paths import kernel_file
from ...harness.case import Case, KernelCall, Workload, course_kernel, double, normal, torch_on_gpu
from ...harness.float_bits import from_bf16, to_bf16
from ..first_kernels.common import compiled, unchecked

CHAPTER = "07_pytorch_extensions"
EPS = 1e-5
SIZES = ((16384, 4096),)
Shape = tuple[int, int]
Calls = tuple[KernelCall, ...]
_kernel = partial(course_kernel, CHAPTER)


@dataclass(frozen=True)
class Kind:
    """A type of elements: what it is called in CUDA, its bytes, and how far the result of a
    formula in fp32 may be off once it is rounded to it."""

    c_type: str
    width: int
    rtol: float

    def made(self, numbers: Any) -> Any:
        """fp32 ``numbers`` as an array of this kind; bf16 as its bits."""
        return to_bf16(numbers) if self.width == 2 else numbers

    def exact(self, array: Any) -> Any:
        """The numbers of an ``array`` of this kind, in float64."""
        return double(from_bf16(array) if self.width == 2 else array)

    def empty(self, shape: Any) -> Any:
        """Room for an array of this kind."""
        return cp.empty(shape, np.uint16 if self.width == 2 else np.float32)

    def tensor(self, array: Any) -> Any:
        """``array`` as a torch tensor that shares its memory; only where torch_on_gpu()."""
        torch = torch_on_gpu()
        if self.width == 2:
            return torch.as_tensor(array.view(np.int16), device="cuda").view(torch.bfloat16)
        return torch.as_tensor(array, device="cuda")


FP32 = Kind("float", 4, 1e-5)
BF16 = Kind("__nv_bfloat16", 2, 2**-8)
KINDS = {"fp32": FP32, "bf16": BF16}
TEST_SIZES = {"fp32": ((1, 1), (2, 4097), (3, 31), (9, 264)), "bf16": ((3, 31), (9, 264))}


@dataclass(frozen=True)
class KindWork(Workload):
    """Work whose results are of a kind, and whose outputs may be several arrays in one."""

    kind: Kind = FP32

    def numbers(self, result: Any) -> Any:
        """fp32, from an array of the kind or a tensor."""
        if hasattr(result, "detach"):
            return cp.asarray(result.detach().float())
        return from_bf16(result) if self.kind.width == 2 else result


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


def _rows(n: Shape, kind: Kind) -> tuple[Any, Any, Any]:
    """x far from zero in part, gamma and beta, of a kind."""
    rows, columns = n
    x = normal(n) + 2 * cp.asarray(np.arange(rows, dtype=np.float32) % 3)[:, None]
    return kind.made(x), kind.made(1 + normal(columns, 1) / 4), kind.made(normal(columns, 2) / 4)


def moments_of(x: Any) -> tuple[Any, Any]:
    """Mean and 1 / sqrt(variance + EPS) of each row of ``x`` in float64, as columns."""
    mean = x.mean(axis=1, keepdims=True)
    return mean, 1 / np.sqrt(((x - mean) ** 2).mean(axis=1, keepdims=True) + EPS)


# --- forward ---

FORWARD: dict[str, Callable[[int], tuple[int, dict[str, int]]]] = {
    "layer_norm_two_pass": lambda columns: (256, {}),
    "layer_norm_welford": lambda columns: (256, {}),
    "layer_norm_registers": lambda columns: (256, {"EACH": ceil_div(columns, 256)}),
}


def _forward(name: str, kind: Kind) -> Callable[[Shape], Workload]:
    def make(n: Shape) -> Workload:
        rows, columns = n
        (x, gamma, beta), y = _rows(n, kind), kind.empty(n)
        if name in FORWARD:
            threads, defines = FORWARD[name](columns)
        else:
            defines = row_defines(columns, kind)
            threads = defines["THREADS"]
        kept = cp.empty((2, rows), np.float32)
        inner = (x, gamma, beta, y, *kept) if name != "rms_norm" else (x, gamma, y, kept[0])
        call = KernelCall(_kernel(name, **defines), rows, threads, (*inner, columns, EPS))

        def expected() -> Any:
            exact, factors, offsets = (kind.exact(each) for each in (x, gamma, beta))
            if name == "rms_norm":
                return exact / np.sqrt((exact**2).mean(axis=1, keepdims=True) + EPS) * factors
            mean, rstd = moments_of(exact)
            return (exact - mean) * rstd * factors + offsets

        function = _torch_rms_norm if name == "rms_norm" else _torch_layer_norm
        inputs = (x, gamma) if name == "rms_norm" else (x, gamma, beta)
        return KindWork(
            (call,),
            output=y,
            expected=expected,
            rtol=kind.rtol,
            atol=kind.rtol,
            libraries=_by_torch(function, kind, *inputs) if name not in FORWARD else {},
            same_bits=False,  # rsqrtf may differ in its last digit
            kind=kind,
        )

    return make


def by_torch_compile(function: Callable[..., Any], *inputs: Any) -> dict[str, Callable[[], Any]]:
    """What torch's compiler makes of ``function(*inputs)``, called directly: a CUDA graph would
    copy the inputs first, and here their bytes are all that counts."""
    return {"torch.compile": compiled(function, *inputs)["torch.compile"]}


def _torch_layer_norm(x: Any, gamma: Any, beta: Any) -> Any:
    return torch_on_gpu().nn.functional.layer_norm(x, gamma.shape, gamma, beta, EPS)


def _torch_rms_norm(x: Any, gamma: Any) -> Any:
    return torch_on_gpu().nn.functional.rms_norm(x, gamma.shape, gamma, EPS)


def _by_torch(
    function: Callable[..., Any], kind: Kind, *arrays: Any
) -> Mapping[str, Callable[[], Any]]:
    """PyTorch's own kernels for ``function``, and what its compiler makes of it."""
    if torch_on_gpu() is None:
        return {}
    tensors = [kind.tensor(array) for array in arrays]
    return {"torch eager": lambda: function(*tensors)} | by_torch_compile(function, *tensors)


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
    arrays: tuple[Any, ...], n: Shape, kind: Kind, dx: Any, sums: Any, **tried: Any
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
    second = _kernel("column_sums", ELEMENT=kind.c_type)
    return (
        KernelCall(
            _kernel("layer_norm_backward", **defines),
            parts,
            defines["THREADS"],
            (*arrays, dx, partial_sums, rows, columns),
            shared,
        ),
        KernelCall(second, ceil_div(both, 32), 256, (partial_sums, sums, parts, both)),
    )


def _split_calls(arrays: tuple[Any, ...], n: Shape, dx: Any, sums: Any) -> Calls:
    """A kernel for dx and one for dgamma and dbeta, fp32."""
    rows, columns = n
    dy, x, gamma, mean, rstd = arrays
    defines = row_defines(columns, FP32, 4, 256)
    del defines["ELEMENT"]
    by_rows = _kernel("layer_norm_backward_rows", **defines)
    by_columns = _kernel("layer_norm_backward_columns")
    return (
        KernelCall(by_rows, rows, defines["THREADS"], (dy, x, gamma, mean, rstd, dx, columns)),
        KernelCall(
            by_columns, ceil_div(columns, 32), 256, (dy, x, mean, rstd, *sums, rows, columns)
        ),
    )


def backward_inputs(n: Shape, kind: Kind) -> tuple[Any, ...]:
    """dy, x, gamma, mean and rstd."""
    x, gamma, _ = _rows(n, kind)
    mean, rstd = (each.astype(np.float32).ravel() for each in moments_of(kind.exact(x)))
    return kind.made(normal(n, 3)), x, gamma, mean, rstd


def _backward(fused: bool, kind: Kind) -> Callable[[Shape], Workload]:
    def make(n: Shape) -> Workload:
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
            libraries=_torch_backward(arrays, kind) if fused else {},
            kind=kind,
        )

    return make


def _rms_backward(kind: Kind) -> Callable[[Shape], Workload]:
    def make(n: Shape) -> Workload:
        rows, columns = n
        x, gamma, _ = _rows(n, kind)
        dy = kind.made(normal(n, 3))
        rstd = 1 / np.sqrt((kind.exact(x) ** 2).mean(axis=1) + EPS)
        rstd = rstd.astype(np.float32)
        whole = kind.empty(rows * columns + columns)  # dx, dgamma
        dx, sums = whole[: rows * columns].reshape(n), whole[rows * columns :].reshape(1, columns)
        unread = rstd  # in place of the means

        def expected() -> Any:
            exact, gradient = kind.exact(x), kind.exact(dy) * kind.exact(gamma)
            scale = 1 / np.sqrt((exact**2).mean(axis=1, keepdims=True) + EPS)
            normed = exact * scale
            dx = scale * (gradient - normed * (gradient * normed).mean(axis=1, keepdims=True))
            return np.concatenate([dx.ravel(), (kind.exact(dy) * normed).sum(axis=0)])

        return KindWork(
            backward_calls((dy, x, gamma, unread, rstd), n, kind, dx, sums),
            output=whole,
            expected=expected,
            rtol=kind.rtol,
            atol=1e-5 * rows**0.5,
            libraries=_torch_rms_backward(dy, x, gamma, rstd, kind),
            kind=kind,
        )

    return make


def _torch_rms_backward(
    dy: Any, x: Any, gamma: Any, rstd: Any, kind: Kind
) -> dict[str, Callable[[], Any]]:
    """What PyTorch's autograd runs for both gradients, and what its compiler makes of the formula;
    timed, not checked: they give two arrays."""
    torch = torch_on_gpu()
    if torch is None:
        return {}
    dy, x, gamma = (kind.tensor(each) for each in (dy, x, gamma))
    scale = torch.as_tensor(rstd, device="cuda")[:, None]
    leaves = [each.detach().requires_grad_() for each in (x, gamma)]
    y = _torch_rms_norm(*leaves)

    def by_formula(dy: Any, x: Any, gamma: Any, scale: Any) -> Any:
        normed, gradient = x.float() * scale, dy.float() * gamma.float()
        product = (gradient * normed).mean(-1, keepdim=True)
        dx = scale * (gradient - normed * product)
        return dx.to(x.dtype), (dy.float() * normed).sum(0).to(x.dtype)

    runs = {
        "torch eager": lambda: torch.autograd.grad(y, leaves, dy, retain_graph=True)
    } | by_torch_compile(by_formula, dy, x, gamma, scale)
    return unchecked(runs)


def _torch_backward(arrays: tuple[Any, ...], kind: Kind) -> dict[str, Callable[[], Any]]:
    """PyTorch's kernels for the three gradients, and what its compiler makes of the formula; timed,
    not checked: they give three arrays."""
    torch = torch_on_gpu()
    if torch is None:
        return {}
    dy, x, gamma = (kind.tensor(each) for each in arrays[:3])
    mean, rstd = (torch.as_tensor(each, device="cuda")[:, None] for each in arrays[3:])
    inputs = dy, x, gamma, mean, rstd
    runs = {"torch eager": lambda: _aten_backward(*inputs)} | by_torch_compile(
        _aten_backward, *inputs
    )
    return unchecked(runs)


def _aten_backward(dy: Any, x: Any, gamma: Any, mean: Any, rstd: Any) -> Any:
    """PyTorch's operator for dx, dgamma and dbeta; its compiler takes it apart into formulas."""
    backward = torch_on_gpu().ops.aten.native_layer_norm_backward
    return backward(dy, x, gamma.shape, mean, rstd, gamma, gamma, [True, True, True])


def _case(
    name: str,
    what: str,
    make: Callable[[Shape], Workload],
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
        tuple(kernel_file(each, CHAPTER) for each in files or (name,)),
        make,
        bytes=lambda n: arrays * KINDS[kind].width * n[0] * n[1],
        flops=lambda n: flops * n[0] * n[1],
        **{"gpu_sizes": SIZES, "test_sizes": TEST_SIZES[kind]} | other,
    )


GRADIENTS = "gradients of layer normalisation"
CASES = (
    *(
        _case(name, "layer normalisation", _forward(name, FP32), 2, 8)
        for name in (*FORWARD, "layer_norm_vector")
    ),
    _case(
        "layer_norm_vector",
        "layer normalisation",
        _forward("layer_norm_vector", BF16),
        2,
        8,
        "bf16",
    ),
    *(
        _case("rms_norm", "RMS normalisation", _forward("rms_norm", KINDS[kind]), 2, 4, kind)
        for kind in KINDS
    ),
    _case(
        "layer_norm_backward_split",
        GRADIENTS,
        _backward(False, FP32),
        3,
        14,
        files=("layer_norm_backward_rows", "layer_norm_backward_columns"),
    ),
    *(
        _case(
            "layer_norm_backward",
            GRADIENTS,
            _backward(True, KINDS[kind]),
            3,
            14,
            kind,
            ("layer_norm_backward", "column_sums"),
            test_sizes=(*TEST_SIZES[kind], (300, 24)),  # more rows than blocks
        )
        for kind in KINDS
    ),
    *(
        _case(
            "rms_norm_backward",
            "gradients of RMS normalisation",
            _rms_backward(KINDS[kind]),
            3,
            10,
            kind,
            ("layer_norm_backward", "column_sums"),
            test_sizes=(*TEST_SIZES[kind], (300, 24)),
        )
        for kind in KINDS
    ),
)
