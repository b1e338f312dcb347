"""cuDNN through ctypes: the file found and opened, the status of a call in words, descriptors.

The numbers come from ``cudnn_graph.h`` of cuDNN 9, which calls the enumerations
cudnnBackendDescriptorType_t, cudnnBackendAttributeName_t and cudnnBackendAttributeType_t.
"""

from __future__ import annotations

import ctypes
import weakref
from ctypes import byref, c_bool, c_double, c_float, c_int, c_int64, c_size_t, c_void_p
from functools import cache
from typing import Any

from ...devices.selection import ON_GPU, cp
from ...errors import LessonError
from ..harness.torch_runs import torch_on_gpu
from .cublas_library import opened, stream

DESCRIPTORS = {
    "pointwise": 0,
    "convolution": 1,
    "engine": 2,
    "engine configuration": 3,
    "heuristic": 4,
    "execution plan": 5,
    "convolution forward": 10,
    "pointwise operation": 13,
    "operation graph": 15,
    "variant pack": 16,
    "tensor": 17,
    "matmul": 18,
    "matmul operation": 19,
    "reduction": 21,
    "reduction operation": 22,
}
TYPES = {  # of attributes: a number, and the C type
    "handle": (0, c_void_p),
    "data type": (1, c_int),
    "boolean": (2, c_bool),
    "int64": (3, c_int64),
    "float": (4, c_float),
    "double": (5, c_double),
    "pointer": (6, c_void_p),
    "convolution mode": (7, c_int),
    "heuristic mode": (8, c_int),
    "numerical note": (11, c_int),
    "pointwise mode": (14, c_int),
    "descriptor": (15, c_void_p),
    "reduction mode": (18, c_int),
    "behavior note": (19, c_int),
}
ATTRIBUTES = {
    "POINTWISE_MODE": (0, "pointwise mode"),
    "POINTWISE_MATH_PREC": (1, "data type"),
    "CONVOLUTION_COMP_TYPE": (100, "data type"),
    "CONVOLUTION_CONV_MODE": (101, "convolution mode"),
    "CONVOLUTION_DILATIONS": (102, "int64"),
    "CONVOLUTION_FILTER_STRIDES": (103, "int64"),
    "CONVOLUTION_POST_PADDINGS": (104, "int64"),
    "CONVOLUTION_PRE_PADDINGS": (105, "int64"),
    "CONVOLUTION_SPATIAL_DIMS": (106, "int64"),
    "ENGINEHEUR_MODE": (200, "heuristic mode"),
    "ENGINEHEUR_OPERATION_GRAPH": (201, "descriptor"),
    "ENGINEHEUR_RESULTS": (202, "descriptor"),
    "ENGINECFG_ENGINE": (300, "descriptor"),
    "EXECUTION_PLAN_HANDLE": (400, "handle"),
    "EXECUTION_PLAN_ENGINE_CONFIG": (401, "descriptor"),
    "EXECUTION_PLAN_WORKSPACE_SIZE": (402, "int64"),
    "OPERATION_CONVOLUTION_FORWARD_ALPHA": (700, "float"),
    "OPERATION_CONVOLUTION_FORWARD_BETA": (701, "float"),
    "OPERATION_CONVOLUTION_FORWARD_CONV_DESC": (702, "descriptor"),
    "OPERATION_CONVOLUTION_FORWARD_W": (703, "descriptor"),
    "OPERATION_CONVOLUTION_FORWARD_X": (704, "descriptor"),
    "OPERATION_CONVOLUTION_FORWARD_Y": (705, "descriptor"),
    "OPERATION_POINTWISE_PW_DESCRIPTOR": (750, "descriptor"),
    "OPERATION_POINTWISE_XDESC": (751, "descriptor"),
    "OPERATION_POINTWISE_BDESC": (752, "descriptor"),
    "OPERATION_POINTWISE_YDESC": (753, "descriptor"),
    "OPERATIONGRAPH_HANDLE": (800, "handle"),
    "OPERATIONGRAPH_OPS": (801, "descriptor"),
    "OPERATIONGRAPH_ENGINE_GLOBAL_COUNT": (802, "int64"),
    "TENSOR_BYTE_ALIGNMENT": (900, "int64"),
    "TENSOR_DATA_TYPE": (901, "data type"),
    "TENSOR_DIMENSIONS": (902, "int64"),
    "TENSOR_STRIDES": (903, "int64"),
    "TENSOR_UNIQUE_ID": (906, "int64"),
    "TENSOR_IS_VIRTUAL": (907, "boolean"),
    "TENSOR_IS_BY_VALUE": (908, "boolean"),
    "VARIANT_PACK_UNIQUE_IDS": (1000, "int64"),
    "VARIANT_PACK_DATA_POINTERS": (1001, "pointer"),
    "VARIANT_PACK_WORKSPACE": (1003, "pointer"),
    "ENGINE_OPERATION_GRAPH": (1300, "descriptor"),
    "ENGINE_GLOBAL_INDEX": (1301, "int64"),
    "ENGINE_NUMERICAL_NOTE": (1303, "numerical note"),
    "ENGINE_BEHAVIOR_NOTE": (1305, "behavior note"),
    "MATMUL_COMP_TYPE": (1500, "data type"),
    "OPERATION_MATMUL_ADESC": (1520, "descriptor"),
    "OPERATION_MATMUL_BDESC": (1521, "descriptor"),
    "OPERATION_MATMUL_CDESC": (1522, "descriptor"),
    "OPERATION_MATMUL_DESC": (1523, "descriptor"),
    "REDUCTION_OPERATOR": (1600, "reduction mode"),
    "REDUCTION_COMP_TYPE": (1601, "data type"),
    "OPERATION_REDUCTION_XDESC": (1610, "descriptor"),
    "OPERATION_REDUCTION_YDESC": (1611, "descriptor"),
    "OPERATION_REDUCTION_DESC": (1612, "descriptor"),
}
DETAIL_BYTES = 4096


@cache
def cudnn_library() -> ctypes.CDLL:
    """libcudnn.so.9, the one that PyTorch has loaded where it has.

    Its functions take integers for C's int. Those that take an address or a count of 64
    bits have ``argtypes`` where the course calls them. Elsewhere wrap such a value: ``c_void_p``.
    Raises LessonError where there is no GPU, or no such file.
    """
    if not ON_GPU:
        raise LessonError("cuDNN runs on a GPU: without one there is nothing to call.")
    torch_on_gpu()  # loads its own
    dnn = opened("libcudnn.so.9")
    dnn.cudnnGetVersion.restype = c_size_t
    dnn.cudnnGetErrorString.restype = ctypes.c_char_p
    dnn.cudnnGetLastErrorString.argtypes = [c_void_p, c_size_t]
    dnn.cudnnGetLastErrorString.restype = None
    dnn.cudnnCreate.argtypes = dnn.cudnnDestroy.argtypes = [c_void_p]
    dnn.cudnnSetStream.argtypes = [c_void_p, c_void_p]
    dnn.cudnnBackendCreateDescriptor.argtypes = [c_int, c_void_p]
    dnn.cudnnBackendDestroyDescriptor.argtypes = [c_void_p]
    dnn.cudnnBackendFinalize.argtypes = [c_void_p]
    dnn.cudnnBackendSetAttribute.argtypes = [c_void_p, c_int, c_int, c_int64, c_void_p]
    dnn.cudnnBackendGetAttribute.argtypes = [c_void_p, c_int, c_int, c_int64, c_void_p, c_void_p]
    dnn.cudnnBackendExecute.argtypes = [c_void_p, c_void_p, c_void_p]
    return dnn


def checked(status: int, what: str) -> None:
    """Raise a LessonError with the ``status`` of ``what`` in words, unless it is success."""
    if status:
        raise LessonError(f"{what}: {in_words(status)}")


def in_words(status: int) -> str:
    """The name of a status, its number, and the library's text on the last error."""
    dnn, detail = cudnn_library(), ctypes.create_string_buffer(DETAIL_BYTES)
    name: str = dnn.cudnnGetErrorString(status).decode()
    if not status:
        return name
    dnn.cudnnGetLastErrorString(detail, DETAIL_BYTES)
    lines = detail.value.decode(errors="replace").splitlines()
    return f"{name} ({status}) {lines[0] if lines else ''}".rstrip()


@cache
def handle() -> c_void_p:
    """The course's one handle of cuDNN, for the stream that was current at its making."""
    made = c_void_p()
    checked(cudnn_library().cudnnCreate(byref(made)), "cudnnCreate")
    checked(cudnn_library().cudnnSetStream(made, stream()), "cudnnSetStream")
    return made


class Descriptor:
    """An opaque thing of the graph API: created, filled one attribute at a time, finalized.

    ``kind`` is a key of DESCRIPTORS, and each of ``attributes`` one of ATTRIBUTES with a value or a
    tuple of them. Without any the descriptor stays open, for the library to write to.
    """

    def __init__(self, kind: str, **attributes: Any) -> None:
        self.kind, self.pointer = kind, c_void_p()
        self._kept = attributes  # descriptors live as long as those that refer to them
        dnn = cudnn_library()
        made = dnn.cudnnBackendCreateDescriptor(DESCRIPTORS[kind], byref(self.pointer))
        checked(made, f"a descriptor of kind {kind}")
        destroy = weakref.finalize(self, dnn.cudnnBackendDestroyDescriptor, self.pointer)
        destroy.atexit = False
        for name, value in attributes.items():
            self.set(name, *(value if isinstance(value, tuple) else (value,)))
        if attributes:
            checked(dnn.cudnnBackendFinalize(self.pointer), f"finalize: {kind}")

    def set(self, name: str, *values: Any) -> None:
        """Set the attribute ``name`` to ``values``, numbers or descriptors. Raises LessonError
        where cuDNN refuses them."""
        number, kind = ATTRIBUTES[name]
        type_number, c_type = TYPES[kind]
        plain = [v.pointer if isinstance(v, Descriptor) else v for v in values]
        array = (c_type * len(plain))(*(getattr(v, "value", v) for v in plain))
        status = cudnn_library().cudnnBackendSetAttribute(
            self.pointer, number, type_number, len(plain), array
        )
        checked(status, f"{self.kind}, {name}")

    def get(self, name: str, most: int = 1) -> list[Any]:
        """The values of an attribute, at most so many."""
        number, kind = ATTRIBUTES[name]
        type_number, c_type = TYPES[kind]
        array, count = (c_type * most)(), c_int64()
        status = cudnn_library().cudnnBackendGetAttribute(
            self.pointer, number, type_number, most, byref(count), array
        )
        checked(status, f"{self.kind}, {name}")
        return list(array[: min(count.value, most)])

    def fill(self, name: str, empty: list[Descriptor]) -> int:
        """Let the library write an attribute's descriptors into ``empty``. Returns how many."""
        number, kind = ATTRIBUTES[name]
        array, count = (c_void_p * len(empty))(*(d.pointer.value for d in empty)), c_int64()
        status = cudnn_library().cudnnBackendGetAttribute(
            self.pointer, number, TYPES[kind][0], len(empty), byref(count), array
        )
        checked(status, f"{self.kind}, {name}")
        return min(count.value, len(empty))


def version() -> int | None:
    """cuDNN's version, such as 91002, None where there is no GPU or no cuDNN."""
    try:
        return cudnn_library().cudnnGetVersion() if ON_GPU else None
    except LessonError:
        return None


def scratch(size: int) -> Any:
    """``size`` bytes of the device, at least one."""
    return cp.empty(max(size, 1), cp.uint8)
