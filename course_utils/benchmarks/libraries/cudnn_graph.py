"""Graphs of operations put to cuDNN: described, its engines listed, a plan made and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import addressof, c_float
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from ...errors import LessonError
from .cudnn_descriptors import Descriptor, checked, cudnn_library, handle, scratch

DATA_TYPES = {"fp32": 0, "fp16": 2, "bf16": 9}  # cudnnDataType_t
POINTWISE = {  # cudnnPointwiseMode_t
    "add": 0,
    "mul": 1,
    "max": 3,
    "div": 6,
    "sub": 9,
    "exp": 13,
    "log": 15,
    "relu": 100,
    "gelu": 104,
}
REDUCTIONS = {"add": 0, "max": 3}  # cudnnReduceTensorOp_t
CROSS_CORRELATION = 1  # cudnnConvolutionMode_t
MODES = {"instant": 0, "B": 1, "fallback": 2, "A": 3}  # cudnnBackendHeurMode_t
NUMERICAL_NOTES = (  # cudnnBackendNumericalNote_t, in its order
    "tensor cores",
    "inputs rounded",
    "sums rounded",
    "FFT",
    "not deterministic",
    "Winograd",
    "Winograd 4x4",
    "Winograd 6x6",
    "Winograd 13x13",
    "strict about NaN",
)
BEHAVIOR_NOTES = (  # cudnnBackendBehaviorNote_t, in its order
    "compiled at run time",
    "filters reordered",
    "bias reordered",
    "CUDA graphs",
    "by cuBLASLt",
)
ALIGNMENT_BYTES = 16
MOST = 64  # configurations asked for: the lists are shorter


@dataclass(frozen=True, eq=False)
class Tensor:
    """Data between operations: its extents and strides in elements, its type.

    A virtual one never reaches memory. ``value`` holds a number that is passed by itself.
    """

    number: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: str
    virtual: bool
    descriptor: Descriptor
    value: c_float | None = None


def strides_of(shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """Strides in elements of a tensor without gaps. ``order`` names the axes, slowest first.

    With the order (0, 2, 3, 1) N C H W has its channels last.
    """
    order = order or tuple(range(len(shape)))
    strides = [0] * len(shape)
    step = 1
    for axis in reversed(order):
        strides[axis], step = step, step * shape[axis]
    return tuple(strides)


class CudnnGraph:
    """Operations of cuDNN over tensors, with sums in fp32.

    An operation without ``out`` gives a virtual tensor. After the last one the graph is used by
    ``engines``, ``every_engine`` and ``plan``.
    """

    def __init__(self) -> None:
        self._operations: list[Descriptor] = []
        self._tensors: list[Tensor] = []

    def tensor(
        self,
        shape: tuple[int, ...],
        kind: str = "fp32",
        *,
        order: tuple[int, ...] | None = None,
        strides: tuple[int, ...] | None = None,
        virtual: bool = False,
        value: float | None = None,
    ) -> Tensor:
        """A tensor of ``shape``. ``kind`` is a key of DATA_TYPES, ``order`` as for strides_of."""
        number, strides = len(self._tensors) + 1, strides or strides_of(shape, order)
        descriptor = Descriptor(
            "tensor",
            TENSOR_DATA_TYPE=DATA_TYPES[kind],
            TENSOR_DIMENSIONS=shape,
            TENSOR_STRIDES=strides,
            TENSOR_UNIQUE_ID=number,
            TENSOR_BYTE_ALIGNMENT=ALIGNMENT_BYTES if value is None else 4,
            TENSOR_IS_VIRTUAL=virtual,
            TENSOR_IS_BY_VALUE=value is not None,
        )
        held = None if value is None else c_float(value)
        made = Tensor(number, shape, strides, kind, virtual, descriptor, held)
        self._tensors.append(made)
        return made

    def scalar(self, value: float, axes: int = 4) -> Tensor:
        """A number in fp32, handed over by itself."""
        return self.tensor((1,) * axes, value=value)

    def virtual_like(self, shape: tuple[int, ...], like: Tensor, kind: str = "fp32") -> Tensor:
        """A virtual tensor whose axes have the order in memory of those in ``like``."""
        order = tuple(sorted(range(len(shape)), key=lambda axis: (-like.strides[axis], axis)))
        return self.tensor(shape, kind, order=order, virtual=True)

    def convolution(
        self,
        x: Tensor,
        w: Tensor,
        *,
        pad: int = 0,
        stride: int = 1,
        dilation: int = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """x (N, C, H, W) under the filters w (K, C / groups, R, S)."""
        extents = zip(x.shape[2:], w.shape[2:], strict=True)
        sides = ((n + 2 * pad - dilation * (r - 1) - 1) // stride + 1 for n, r in extents)
        out = out or self.virtual_like((x.shape[0], w.shape[0], *sides), x)
        how = Descriptor(
            "convolution",
            CONVOLUTION_COMP_TYPE=DATA_TYPES["fp32"],
            CONVOLUTION_CONV_MODE=CROSS_CORRELATION,
            CONVOLUTION_SPATIAL_DIMS=2,
            CONVOLUTION_PRE_PADDINGS=(pad, pad),
            CONVOLUTION_POST_PADDINGS=(pad, pad),
            CONVOLUTION_FILTER_STRIDES=(stride, stride),
            CONVOLUTION_DILATIONS=(dilation, dilation),
        )
        return self._operation(
            out,
            "convolution forward",
            OPERATION_CONVOLUTION_FORWARD_CONV_DESC=how,
            OPERATION_CONVOLUTION_FORWARD_X=x.descriptor,
            OPERATION_CONVOLUTION_FORWARD_W=w.descriptor,
            OPERATION_CONVOLUTION_FORWARD_Y=out.descriptor,
            OPERATION_CONVOLUTION_FORWARD_ALPHA=1.0,
            OPERATION_CONVOLUTION_FORWARD_BETA=0.0,
        )

    def pointwise(
        self, mode: str, x: Tensor, b: Tensor | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """Each element by itself. ``mode`` is a key of POINTWISE. Axes of 1 in ``b`` are
        repeated."""
        out = out or self.virtual_like(x.shape, x)
        how = Descriptor(
            "pointwise",
            POINTWISE_MODE=POINTWISE[mode],
            POINTWISE_MATH_PREC=DATA_TYPES["fp32"],
        )
        second = {} if b is None else {"OPERATION_POINTWISE_BDESC": b.descriptor}
        return self._operation(
            out,
            "pointwise operation",
            OPERATION_POINTWISE_PW_DESCRIPTOR=how,
            OPERATION_POINTWISE_XDESC=x.descriptor,
            OPERATION_POINTWISE_YDESC=out.descriptor,
            **second,
        )

    def matmul(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Products of the matrices in the last two axes."""
        out = out or self.tensor((*a.shape[:-1], b.shape[-1]), virtual=True)
        return self._operation(
            out,
            "matmul operation",
            OPERATION_MATMUL_DESC=Descriptor("matmul", MATMUL_COMP_TYPE=DATA_TYPES["fp32"]),
            OPERATION_MATMUL_ADESC=a.descriptor,
            OPERATION_MATMUL_BDESC=b.descriptor,
            OPERATION_MATMUL_CDESC=out.descriptor,
        )

    def reduction(self, mode: str, x: Tensor) -> Tensor:
        """The rows of the last axis made one number each. ``mode`` is a key of REDUCTIONS."""
        out = self.tensor((*x.shape[:-1], 1), virtual=True)
        how = Descriptor(
            "reduction",
            REDUCTION_OPERATOR=REDUCTIONS[mode],
            REDUCTION_COMP_TYPE=DATA_TYPES["fp32"],
        )
        return self._operation(
            out,
            "reduction operation",
            OPERATION_REDUCTION_DESC=how,
            OPERATION_REDUCTION_XDESC=x.descriptor,
            OPERATION_REDUCTION_YDESC=out.descriptor,
        )

    def engines(self, mode: str = "A") -> list[Engine]:
        """The engines that a heuristic offers, its best guess first. ``mode`` is a key of MODES."""
        asked = Descriptor(
            "heuristic",
            ENGINEHEUR_OPERATION_GRAPH=self.descriptor,
            ENGINEHEUR_MODE=MODES[mode],
        )
        empty = [Descriptor("engine configuration") for _ in range(MOST)]
        return [Engine(self, each) for each in empty[: asked.fill("ENGINEHEUR_RESULTS", empty)]]

    def every_engine(self) -> Iterator[Engine]:
        """All that can compute the graph, in the library's order, each as it is by default."""
        (count,) = self.descriptor.get("OPERATIONGRAPH_ENGINE_GLOBAL_COUNT")
        for number in range(count):
            try:
                engine = Descriptor(
                    "engine", ENGINE_OPERATION_GRAPH=self.descriptor, ENGINE_GLOBAL_INDEX=number
                )
                yield Engine(self, Descriptor("engine configuration", ENGINECFG_ENGINE=engine))
            except LessonError:  # not for this graph
                continue

    @cached_property
    def descriptor(self) -> Descriptor:
        """The finalized graph."""
        return Descriptor(
            "operation graph",
            OPERATIONGRAPH_HANDLE=handle(),
            OPERATIONGRAPH_OPS=tuple(self._operations),
        )

    @property
    def scalars(self) -> dict[Tensor, c_float]:
        """The tensors that are numbers passed by themselves, with their values."""
        return {each: each.value for each in self._tensors if each.value is not None}

    def _operation(self, out: Tensor, kind: str, **attributes: Any) -> Tensor:
        self._operations.append(Descriptor(kind, **attributes))
        return out


class Engine:
    """One way to compute a graph: an engine with its knobs set."""

    def __init__(self, graph: CudnnGraph, configuration: Descriptor) -> None:
        self.graph, self.configuration = graph, configuration
        engine = Descriptor("engine")
        configuration.fill("ENGINECFG_ENGINE", [engine])
        (self.number,) = engine.get("ENGINE_GLOBAL_INDEX")
        numerical = engine.get("ENGINE_NUMERICAL_NOTE", len(NUMERICAL_NOTES))
        behavior = engine.get("ENGINE_BEHAVIOR_NOTE", len(BEHAVIOR_NOTES))
        self.notes = tuple(NUMERICAL_NOTES[note] for note in numerical)
        self.behavior = tuple(BEHAVIOR_NOTES[note] for note in behavior)

    def plan(self) -> ExecutionPlan:
        """Ready to run, compiled where it has to be. Raises LessonError where it cannot be."""
        return ExecutionPlan(self)


class ExecutionPlan:
    """An engine made ready for its graph: ``workspace_bytes``, and ``run``."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._descriptor = Descriptor(
            "execution plan",
            EXECUTION_PLAN_HANDLE=handle(),
            EXECUTION_PLAN_ENGINE_CONFIG=engine.configuration,
        )
        (self.workspace_bytes,) = self._descriptor.get("EXECUTION_PLAN_WORKSPACE_SIZE")

    def bound(self, arrays: dict[Tensor, Any]) -> Callable[[], None]:
        """A function that runs the plan on arrays of CuPy or tensors of PyTorch, one for each
        tensor in memory.

        Raises LessonError for an array that is too small for its tensor.
        """
        pointers = {each: addressof(value) for each, value in self.engine.graph.scalars.items()}
        for tensor, array in arrays.items():
            pointers[tensor], elements = _held(array)
            if elements < prod(tensor.shape):
                raise LessonError(f"{elements} elements for a tensor of {tensor.shape}.")
        workspace = scratch(self.workspace_bytes)
        pack = Descriptor(
            "variant pack",
            VARIANT_PACK_UNIQUE_IDS=tuple(each.number for each in pointers),
            VARIANT_PACK_DATA_POINTERS=tuple(pointers.values()),
            VARIANT_PACK_WORKSPACE=workspace.data.ptr,
        )
        execute, kept = cudnn_library().cudnnBackendExecute, (pack, workspace, arrays)

        def run() -> None:
            status = execute(handle(), self._descriptor.pointer, kept[0].pointer)
            if status:
                checked(status, "cudnnBackendExecute")

        return run


def _held(array: Any) -> tuple[int, int]:
    """The address of an array on the device, and its number of elements."""
    if hasattr(array, "data_ptr"):  # PyTorch's
        return array.data_ptr(), array.numel()
    return array.data.ptr, array.size
