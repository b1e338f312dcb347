"""Tensor maps for TMA copies (``cp.async.bulk.tensor``): one call for a GPU and the emulator."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..devices import emulated_cupy
from ..devices.emulated_arrays import plain
from ..devices.selection import ON_GPU
from ..errors import LessonError

MAX_BOX = 256  # elements along one side
MAX_SIDE = 1 << 32  # elements of the tensor along one side
DRIVER_KINDS = {
    "u8": "UINT8",
    "u16": "UINT16",
    "u32": "UINT32",
    "s32": "INT32",
    "u64": "UINT64",
    "s64": "INT64",
    "f16": "FLOAT16",
    "f32": "FLOAT32",
    "f64": "FLOAT64",
    "bf16": "BFLOAT16",
}
_DTYPES = {  # of each kind
    "u8": ("uint8", "int8", "bool", "float8_e4m3fn", "float8_e5m2"),
    "u16": ("uint16", "int16"),
    "u32": ("uint32",),
    "s32": ("int32",),
    "u64": ("uint64",),
    "s64": ("int64",),
    "f16": ("float16",),
    "f32": ("float32",),
    "f64": ("float64",),
    "bf16": ("bfloat16",),
}
KINDS = {dtype: kind for kind, dtypes in _DTYPES.items() for dtype in dtypes}


class TensorMapError(LessonError):
    """A tensor map that TMA cannot use."""


class TensorMap(np.ndarray):
    """The 128 bytes of a tensor map. It keeps the ``array`` that it describes. One for a GPU also
    has the ``settings`` of :func:`tensor_map`, so that the emulator can have one of a copy."""

    array: Any = None
    settings: dict[str, Any] | None = None

    def of(self, array: Any) -> TensorMap:
        """The same for another ``array`` of equal shape and strides."""
        return tensor_map(array, **(self.settings or {}))


def tensor_map(
    array: Any,
    box: tuple[int, ...],
    *,
    swizzle: int | None = None,
    interleave: int | None = None,
    element_strides: tuple[int, ...] | None = None,
    fill: str = "zero",
    tf32: bool = False,
) -> TensorMap:
    """Describe ``array`` and the ``box`` that one copy moves, for a parameter of the kernel.

    ``array``: a cp array of 1 to 5 dimensions, its last axis contiguous. ``box``: elements along
    each axis, in the order of ``array.shape``. A kernel names coordinates the other way round, the
    last axis first, and that one a multiple of 16 bytes. ``swizzle``: span in bytes of the pattern
    in shared memory, 32, 64 or 128. ``interleave``: 16 or 32 bytes (on a GPU only).
    ``element_strides``: copy every n-th element along each axis, but for the last: TMA
    ignores it. ``fill``: the value of elements outside the array, "zero" or "nan". ``tf32``: round
    the float32 elements of a load to TF32, to nearest even.

    Returns 128 bytes as an array of shape (1,) and dtype ``V128`` on a 64-byte boundary, for a
    parameter ``const __grid_constant__ CUtensorMap``. It keeps ``array`` alive.
    Raises TensorMapError, saying which rule is broken.
    Source: CUDA Driver API, "cuTensorMapEncodeTiled".
    """
    box = tuple(int(n) for n in box)
    steps = tuple(int(n) for n in element_strides or (1,) * array.ndim)
    kind = KINDS.get(array.dtype.name)
    on_gpu = ON_GPU and not isinstance(array, (np.ndarray, emulated_cupy.ndarray))
    address = _address(array, on_gpu)
    _check(array, box, steps, kind, address, swizzle, interleave, fill, tf32)
    sizes, strides = array.shape[::-1], array.strides[::-1]
    storage = np.zeros(128 + 64, np.uint8)
    start = -storage.__array_interface__["data"][0] % 64
    result = storage[start : start + 128].view("V128").view(TensorMap)
    encode = _encode_for_driver if on_gpu else _encode_for_emulator
    options = swizzle or 0, fill == "nan", tf32
    parts = (address, kind, sizes, strides, box[::-1], steps[::-1], *options)
    storage[start : start + 128] = np.frombuffer(encode(parts, interleave), np.uint8)
    result.array = array
    if on_gpu:
        result.settings = {
            "box": box,
            "swizzle": swizzle,
            "interleave": interleave,
            "element_strides": element_strides,
            "fill": fill,
            "tf32": tf32,
        }
    return result


def _address(array: Any, on_gpu: bool) -> int:
    if on_gpu:
        return int(array.data.ptr)
    from ..emulator import GLOBAL

    return GLOBAL.pointer(plain(array))


def _check(
    array: Any,
    box: tuple[int, ...],
    steps: tuple[int, ...],
    kind: str | None,
    address: int,
    swizzle: int | None,
    interleave: int | None,
    fill: str,
    tf32: bool,
) -> None:
    def refuse(text: str) -> NoReturn:
        raise TensorMapError(f"tensor_map: {text}")

    rank, size = array.ndim, array.dtype.itemsize
    if kind is None:
        refuse(f"TMA has no elements of type {array.dtype.name}.")
    if not 1 <= rank <= 5:
        refuse(f"an array has 1 to 5 dimensions, not {rank}. Reshape it.")
    if len(box) != rank or len(steps) != rank:
        refuse(
            f"the array has {rank} dimensions; box {box} and element_strides {steps} need as many "
            "entries."
        )
    if any(not 1 <= n <= MAX_SIDE for n in array.shape):
        refuse(f"every side of the array must be 1 to {MAX_SIDE:,} elements, not {array.shape}.")
    if any(not 1 <= n <= MAX_BOX for n in box):
        refuse(f"every side of the box must be 1 to {MAX_BOX} elements, not {box}.")
    if any(not 1 <= n <= 8 for n in steps):
        refuse(f"element_strides must be 1 to 8, not {steps}.")
    if array.strides[-1] != size and array.shape[-1] > 1:
        refuse("the last axis of the array must be contiguous: cp.ascontiguousarray(...).")
    if address % 16:
        refuse(f"the array must start at a multiple of 16 bytes, not at {address:#x}.")
    for axis, stride in enumerate(array.strides[:-1]):
        if stride % 16 or not 0 < stride < 1 << 40:
            refuse(
                f"from one entry of axis {axis} to the next must be a positive multiple of 16 "
                f"bytes, not {stride}. Pad the rows."
            )
    if interleave not in (None, 16, 32):
        refuse(f"interleave is None, 16 or 32 bytes, not {interleave!r}.")
    if interleave and rank < 3:
        refuse("interleave needs at least 3 dimensions.")
    if swizzle not in (None, 32, 64, 128):
        refuse(f"swizzle is None, 32, 64 or 128 bytes, not {swizzle!r}.")
    if interleave is None and box[-1] * size % 16:
        refuse(f"a row of the box must be a multiple of 16 bytes, not {box[-1] * size}.")
    if swizzle and interleave is None and box[-1] * size > swizzle:
        refuse(
            f"a row of the box is {box[-1] * size} bytes, more than the {swizzle} of the "
            f"swizzle: use at most {swizzle // size} elements, and several copies."
        )
    if fill not in ("zero", "nan"):
        refuse(f'fill is "zero" or "nan", not {fill!r}.')
    if fill == "nan" and kind[0] not in "fb":
        refuse(f'fill="nan" needs floating-point elements, not {array.dtype.name}.')
    if tf32 and kind != "f32":
        refuse(f"tf32=True rounds float32 elements, not {array.dtype.name}.")


def _encode_for_emulator(parts: tuple[Any, ...], interleave: int | None) -> bytes:
    from ..emulator import Box

    if interleave:
        raise TensorMapError("tensor_map: the emulator knows no interleaved layouts.")
    return Box(*parts).encode()


def _encode_for_driver(parts: tuple[Any, ...], interleave: int | None) -> bytes:
    from cuda.bindings import driver

    address, kind, sizes, strides, box, steps, swizzle, nan, tf32 = parts
    kind = "TFLOAT32" if tf32 else DRIVER_KINDS[kind]
    fill = driver.CUtensorMapFloatOOBfill
    status, encoded = driver.cuTensorMapEncodeTiled(
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{kind}"),
        len(sizes),
        address,
        [driver.cuuint64_t(n) for n in sizes],
        [driver.cuuint64_t(n) for n in strides[1:]],
        [driver.cuuint32_t(n) for n in box],
        [driver.cuuint32_t(n) for n in steps],
        getattr(
            driver.CUtensorMapInterleave,
            f"CU_TENSOR_MAP_INTERLEAVE_{f'{interleave}B' if interleave else 'NONE'}",
        ),
        getattr(
            driver.CUtensorMapSwizzle,
            f"CU_TENSOR_MAP_SWIZZLE_{f'{swizzle}B' if swizzle else 'NONE'}",
        ),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
        if nan
        else fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    if int(status):
        raise TensorMapError(f"tensor_map: the driver refused the map ({status!r}).")
    return np.array([int(word) for word in encoded.opaque], np.uint64).tobytes()
