"""Launches that may begin while the kernel before them still runs."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..devices.selection import cp


def launch_early(
    raw: Any, grid: tuple[int, ...], block: tuple[int, ...], values: Any, shared: int
) -> None:
    """Launch a kernel of CuPy with programmatic stream serialization, which CuPy doesn't offer.

    ``grid`` and ``block`` are (x, y, z), ``values`` device arrays and NumPy scalars of the exact
    types, ``shared`` bytes of dynamic shared memory. The kernel waits for the one before it with
    ``griddepcontrol.wait``. Needs a GPU of sm_90 or newer. Raises RuntimeError where the driver
    refuses. Source: CUDA C++ Programming Guide, "Programmatic Dependent Launch".
    """
    from cuda.bindings import driver

    config, attribute = driver.CUlaunchConfig(), driver.CUlaunchAttribute()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = shared
    config.hStream = driver.CUstream(cp.cuda.get_current_stream().ptr)
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value.programmaticStreamSerializationAllowed = 1
    config.attrs, config.numAttrs = [attribute], 1
    arrays = [hasattr(value, "data") and hasattr(value.data, "ptr") for value in values]
    pairs = list(zip(values, arrays, strict=True))
    numbers = tuple(value.data.ptr if array else value.item() for value, array in pairs)
    types = tuple(
        ctypes.c_void_p if array else np.ctypeslib.as_ctypes_type(value.dtype)
        for value, array in pairs
    )
    (error,) = driver.cuLaunchKernelEx(
        config, driver.CUfunction(raw.kernel.ptr), (numbers, types), 0
    )
    if error:
        raise RuntimeError(f"cuLaunchKernelEx: {error.name}")
